"""ALBERT (google-research): its unit tests, and twenty steps of its shared layers with AdamW and LAMB."""

import os

URL = "https://github.com/google-research/albert"
COMMIT = "b772393d3dae115b493258ce8e37c17b2cc62100"
NEEDS = ["six", "sentencepiece"]
# For two variables under AdamW (4e-4). TensorFlow differs from itself by more in one of them when its
# numbers are moved by 1e-7. Other variables agree within 5e-5, losses within 1e-6.
TOLERANCE = 1e-3


def prepare(data):
    pass


def drive(data, records):
    import sys
    import unittest.mock
    import numpy as np
    import tensorflow as tf
    import watch
    sys.path.insert(0, os.path.dirname(os.getcwd()))
    sys.modules["tensorflow_hub"] = unittest.mock.MagicMock()
    watch.run_tests(records, ["albert." + name for name in ("modeling_test", "optimization_test", "tokenization_test")])
    from albert import modeling, optimization
    generator = np.random.RandomState(4)
    for kind, groups in (("adamw", 1), ("lamb", 2)):
        tf.reset_default_graph()
        config = modeling.AlbertConfig(
            vocab_size=30, embedding_size=6, hidden_size=8, num_hidden_layers=4, num_hidden_groups=groups, num_attention_heads=2,
            intermediate_size=12, inner_group_num=2 if groups == 1 else 1, down_scale_factor=1, hidden_dropout_prob=0.1,
            attention_probs_dropout_prob=0.1, max_position_embeddings=16)
        ids, mask = (tf.placeholder(tf.int32, [3, 9]) for _ in range(2))
        model = modeling.AlbertModel(config=config, is_training=True, input_ids=ids, input_mask=mask)
        # Smooth: the gradient of `abs` changes its sign at zero, and one of 216 outputs is that near.
        wanted = tf.constant(generator.uniform(-1, 1, size=(3, 9, 8)), tf.float32)
        loss = tf.reduce_mean(tf.square(model.get_pooled_output())) + tf.reduce_mean(tf.square(model.get_sequence_output() - wanted))
        # Its optimizer reads the number of the step while another operation sets it: a rate without it.
        step = optimization.create_optimizer(loss, 1e-2, 10**9, 0, False, kind)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(20):
                there = {ids: generator.randint(0, 30, size=(3, 9)), mask: np.arange(9) < generator.randint(4, 10, size=(3, 1))}
                sess.run([loss, step], there)
            # A softmax takes no note of the biases of keys: their gradients are rounding errors.
            kept = [v for v in tf.trainable_variables() if not v.op.name.endswith("key/bias")]
            sess.run(kept)
