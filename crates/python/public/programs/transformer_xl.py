"""Transformer-XL (kimiyoung): its model for one processor, with memories and an adaptive softmax, trained."""

import os

URL = "https://github.com/kimiyoung/transformer-xl"
COMMIT = "44781ed21dbaec88b280f74d9ae2877f52b492a5"
TOLERANCE = 1e-4


def prepare(data):
    pass


def drive(data, records):
    import sys
    import numpy as np
    import tensorflow as tf
    sys.path.insert(0, os.path.join(os.getcwd(), "tf"))
    import model
    inputs, targets = (tf.placeholder(tf.int32, [6, 3]) for _ in range(2))
    memories = [tf.placeholder(tf.float32, [5, 3, 8]) for _ in range(2)]
    initializer = tf.initializers.random_normal(stddev=0.1)
    loss, new = model.transformer(
        dec_inp=inputs, target=targets, mems=memories, n_token=40, n_layer=2, d_model=8, d_embed=8, n_head=2, d_head=4, d_inner=12,
        dropout=0.1, dropatt=0.1, initializer=initializer, proj_initializer=initializer, is_training=True, mem_len=5,
        cutoffs=[10, 20], div_val=2, tie_projs=[False, True, True], same_length=False, clamp_len=-1, use_tpu=False,
        untie_r=True, proj_same_dim=False)
    variables = tf.trainable_variables()
    grads = tf.gradients(loss, variables)
    clipped, norm = tf.clip_by_global_norm(grads, 0.25)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.cosine_decay(0.01, global_step=step, decay_steps=20, alpha=0.004)
    train = tf.train.AdamOptimizer(rate).apply_gradients(zip(clipped, variables), step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        kept = [np.zeros([5, 3, 8], np.float32)] * 2
        for _ in range(12):
            feed = dict(zip(memories, kept))
            feed.update({inputs: np.random.randint(0, 40, size=(6, 3)), targets: np.random.randint(0, 40, size=(6, 3))})
            _, _, _, kept = sess.run([train, loss, norm, new], feed)
        records.add("variables", sess.run(variables))
