"""Adaptive computation time (DeNeutoy): its language model, whose cell runs a loop a step, trained."""

URL = "https://github.com/DeNeutoy/act-tensorflow"
COMMIT = "07f19f0a0707b02339402a1fde9d3252978c5aac"


def prepare(data):
    pass


def drive(data, records):
    import os
    import sys
    import types
    import numpy as np
    import tensorflow as tf
    # It imports this module of older versions and uses nothing of it.
    name = "tensorflow.contrib.rnn.python.ops.core_rnn_cell_impl"
    import tensorflow.contrib.rnn.python.ops as home
    sys.modules[name] = home.core_rnn_cell_impl = types.ModuleType(name)
    sys.path.insert(0, os.path.join(os.getcwd(), "src"))
    import config
    from adaptive_computation_time import ACTModel
    small = config.SmallConfig
    small.num_steps, small.hidden_size, small.batch_size, small.vocab_size, small.max_computation = 5, 12, 4, 30, 6
    with tf.Session() as sess:
        with tf.variable_scope("model", initializer=tf.random_uniform_initializer(-0.3, 0.3)):
            model = ACTModel(small, is_training=True)
        tf.global_variables_initializer().run()
        for _ in range(10):
            feed = {tensor: np.random.randint(0, 30, size=(4, 5)) for tensor in (model.input_data, model.targets)}
            sess.run([model.cost, model.final_state, model.train_op], feed)
        records.add("variables", sess.run(tf.trainable_variables()))
