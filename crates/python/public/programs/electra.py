"""ELECTRA (google-research): pretraining from `tf.data` of a generator that samples and a discriminator."""

import os

URL = "https://github.com/google-research/electra"
COMMIT = "8a46635f32083ada044d7e9ad09604742600ee7b"
TOLERANCE = 1e-4


def prepare(data):
    import numpy as np
    import tensorflow as tf
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + ["w%d" % n for n in range(35)]
    with open(os.path.join(data, "vocab.txt"), "w") as file:
        file.write("\n".join(words))
    os.mkdir(os.path.join(data, "pretrain_tfrecords"))
    with tf.python_io.TFRecordWriter(os.path.join(data, "pretrain_tfrecords", "pretrain_data.tfrecord-0")) as writer:
        for _ in range(40):
            n = np.random.randint(6, 13)
            example = tf.train.Example()
            ids = [2] + np.random.randint(5, 40, size=n - 2).tolist() + [3] + [0] * (12 - n)
            for name, values in (
                    ("input_ids", ids), ("input_mask", [1] * n + [0] * (12 - n)),
                    ("segment_ids", [0] * 4 + [1] * (n - 4) + [0] * (12 - n))):
                example.features.feature[name].int64_list.value.extend(values)
            writer.write(example.SerializeToString())


def drive(data, records):
    import tensorflow as tf
    import configure_pretraining
    import run_pretraining
    from model import optimization
    from pretrain import pretrain_data
    import tensorflow.compat.v1 as v1
    for kind in (tf.data.Dataset, v1.data.Dataset):
        kind.shuffle = lambda dataset, *sizes, **named: dataset
    size = {"num_hidden_layers": 2, "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 12}
    variants = [{}, {"electric_objective": True, "electra_objective": False}, {"uniform_generator": True}]
    for at, variant in enumerate(variants):
        tf.reset_default_graph()
        config = configure_pretraining.PretrainingConfig(
            "m%d" % at, data, model_hparam_overrides=size, vocab_size=40, max_seq_length=12, train_batch_size=4, mask_prob=0.2,
            generator_hidden_size=0.5, **variant)
        config.embedding_size = 6
        features = pretrain_data.get_input_fn(config, True)({"batch_size": 4})
        if not isinstance(features, dict):
            features = features.make_one_shot_iterator().get_next()
        model = run_pretraining.PretrainingModel(config, features, True)
        # Its optimizer reads the number of the step while another operation sets it: one rate from step 1 on.
        step = optimization.create_optimizer(model.total_loss, 1e-2, 10**9, weight_decay_rate=0.01, warmup_steps=1)
        begin = tf.train.get_global_step().assign(1)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(begin)
            for _ in range(6):
                sess.run([model.total_loss, model.mlm_output.loss, step])
            # Attention does not depend on the bias of its keys, whose gradient is a rounding error.
            kept = [variable for variable in tf.trainable_variables() if not variable.op.name.endswith("key/bias")]
            records.add("variables", sess.run(kept))
