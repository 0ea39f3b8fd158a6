"""XLNet (zihangdai): pretraining with two streams of attention and memories, by its own optimizer."""

import os

URL = "https://github.com/zihangdai/xlnet"
COMMIT = "bbaa3a6fa0b3a2ee694e8cf66167434f9eca9660"
NEEDS = ["sentencepiece", "absl-py"]


def prepare(data):
    pass


def drive(data, records):
    import argparse
    import numpy as np
    import tensorflow as tf
    import function_builder
    import model_utils
    flags = argparse.Namespace(
        n_layer=2, d_model=16, n_head=2, d_head=8, d_inner=32, ff_activation="gelu", untie_r=True, n_token=50, use_tpu=False,
        use_bfloat16=False, dropout=0.1, dropatt=0.1, init="normal", init_range=0.1, init_std=0.02, clamp_len=-1, mem_len=6, reuse_len=3,
        bi_data=False, same_length=False, num_predict=3, model_dir=data)
    n, length = 2, 8
    features = {
        "input_k": tf.placeholder(tf.int32, [n, length]), "input_q": tf.placeholder(tf.float32, [n, length]),
        "seg_id": tf.placeholder(tf.int32, [n, length]), "perm_mask": tf.placeholder(tf.float32, [n, length, length]),
        "target_mapping": tf.placeholder(tf.float32, [n, 3, length]), "target": tf.placeholder(tf.int32, [n, 3]),
        "target_mask": tf.placeholder(tf.float32, [n, 3])}
    mems = [tf.placeholder(tf.float32, [6, n, 16]) for _ in range(2)]
    tf.train.create_global_step()
    loss, new, _ = function_builder.get_loss(flags, features, None, {"mems": mems}, True)
    # Its own function reads the global step while it is assigned, in either order.
    optimizer = model_utils.AdamWeightDecayOptimizer(1e-3, weight_decay_rate=0.01, epsilon=1e-8, include_in_weight_decay=["weight"])
    grads, variables = zip(*optimizer.compute_gradients(loss))
    clipped, norm = tf.clip_by_global_norm(grads, 0.25)
    train = optimizer.apply_gradients(zip(clipped, variables))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = [np.zeros([6, n, 16], np.float32)] * 2
        for _ in range(8):
            values = {
                "input_k": np.random.randint(0, 50, [n, length]), "input_q": np.random.randint(0, 2, [n, length]),
                "seg_id": np.random.randint(0, 2, [n, length]), "perm_mask": np.random.randint(0, 2, [n, length, length]),
                "target_mapping": np.eye(length)[np.random.randint(0, length, [n, 3])], "target": np.random.randint(0, 50, [n, 3]),
                "target_mask": np.ones([n, 3])}
            feeds = {features[key]: value for key, value in values.items()}
            feeds.update(zip(mems, before))
            before = sess.run([train, loss, norm, new], feeds)[-1]["mems"]
