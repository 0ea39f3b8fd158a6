"""`ConvLSTMCell` over one and two axes: variables, values, training and seeds."""

import numpy as np

from programs.tools import caught, initialize, mistakes, run, static


def _trained(tf, cell, shape, lengths=None):
    tf.set_random_seed(5)
    x = tf.constant(np.sin(np.arange(1.0 * np.prod(shape))).reshape(shape), tf.float32)
    outputs, state = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
    drawn = tf.random_normal([2])
    loss = tf.reduce_mean(tf.square(outputs - 0.3))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    named = [[v.name, str(v.shape)] for v in tf.global_variables()], [v.name for v in cell.variables]
    with tf.Session() as sess:
        initialize(tf, sess)
        first = sess.run([outputs, state, drawn])
        return named, str(cell.state_size), str(cell.output_size), static(outputs, state.c), first, [sess.run([loss, train])[0] for _ in range(3)]


def images(tf):
    return _trained(tf, tf.contrib.rnn.Conv2DLSTMCell(input_shape=[3, 4, 2], output_channels=2, kernel_shape=[3, 3]), [2, 3, 3, 4, 2])


def images_of_the_base(tf):
    cell = tf.contrib.rnn.ConvLSTMCell(2, [4, 3, 1], 3, [2, 1], use_bias=False, forget_bias=0.5)
    return _trained(tf, cell, [1, 4, 4, 3, 1], [2])


def sequences(tf):
    return _trained(tf, tf.contrib.rnn.Conv1DLSTMCell(input_shape=[5, 3], output_channels=2, kernel_shape=[3], name="mine"), [2, 3, 5, 3])


def skips(tf):
    cell = tf.contrib.rnn.Conv2DLSTMCell(input_shape=[3, 3, 2], output_channels=2, kernel_shape=[2, 2], skip_connection=True)
    x = tf.constant(np.sin(np.arange(36.0)).reshape(2, 3, 3, 2), tf.float32)
    with tf.variable_scope("net", initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=1)):
        output, state = cell(x, cell.zero_state(2, tf.float32))
    return str(cell.output_size), static(output, state.c, state.h), [v.name for v in tf.global_variables()], run(tf, [output, state])


def refusals(tf):
    cell = tf.contrib.rnn.ConvLSTMCell(1, [4, 3], 2, [3])
    inside = caught(lambda: cell(tf.ones([2, 3]), (tf.ones([2, 4, 2]), tf.ones([2, 4, 2]))), "Conv Linear expects 3D, 4D or 5D arguments: [[2, 3], [2, 4, 2]]")
    other = caught(lambda: cell(tf.ones([2, 4, 4, 3]), (tf.ones([2, 4, 2]), tf.ones([2, 4, 2]))), "Conv Linear expects all args to be of same Dimension: ")
    return inside, other, mistakes(tf, shape=lambda: tf.contrib.rnn.ConvLSTMCell(2, [4, 3], 2, [3, 3]))
