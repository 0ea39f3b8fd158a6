"""`LSTMBlockCell`, `GRUBlockCell`, `LSTMBlockFusedCell`: variables, values and training as in TensorFlow.

TensorFlow seeds random ops by the number of nodes before them, so that the initial values of weights show
whether a layer makes as many nodes as TensorFlow's.
"""

import numpy as np

from programs.tools import caught, initialize, mistakes, run, static


def _inputs(tf):
    return tf.constant(np.sin(np.arange(24.0)).reshape(2, 4, 3), tf.float32)


def _seeded(tf):
    return tf.variable_scope("net", initializer=tf.random_uniform_initializer(-0.8, 0.8, seed=3))


def _trained(tf, outputs, state, cell):
    loss = tf.reduce_mean(tf.square(outputs - 0.3)) + sum(tf.reduce_mean(s) for s in tf.contrib.framework.nest.flatten(state))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    named = [[v.name, str(v.shape)] for v in tf.global_variables()], [v.name for v in cell.variables]
    with tf.Session() as sess:
        initialize(tf, sess)
        return named, static(outputs), sess.run([outputs, state]), [sess.run([loss, train])[0] for _ in range(4)]


def _dynamic(tf, cell, lengths=None):
    with _seeded(tf):
        outputs, state = tf.nn.dynamic_rnn(cell, _inputs(tf), lengths, dtype=tf.float32)
    return [cell.state_size, cell.output_size], _trained(tf, outputs, state, cell)


def lstm(tf):
    return _dynamic(tf, tf.contrib.rnn.LSTMBlockCell(4))


def lstm_with_peepholes(tf):
    return _dynamic(tf, tf.contrib.rnn.LSTMBlockCell(4, forget_bias=0.5, use_peephole=True, name="mine"), [4, 2])


def lstm_clipped(tf):
    return _dynamic(tf, tf.contrib.rnn.LSTMBlockCell(4, cell_clip=0.2, use_peephole=True))


def lstm_stacked(tf):
    return _dynamic(tf, tf.nn.rnn_cell.MultiRNNCell([tf.contrib.rnn.LSTMBlockCell(2) for _ in range(2)]))


def gru(tf):
    return _dynamic(tf, tf.contrib.rnn.GRUBlockCell(4))


def gru_of_version_2(tf):
    return _dynamic(tf, tf.contrib.rnn.GRUBlockCellV2(num_units=4), [1, 4])


def gru_by_its_old_argument(tf):
    return _dynamic(tf, tf.contrib.rnn.GRUBlockCell(cell_size=3))


def _fused(tf, lengths=None, start=None, **kwargs):
    cell = tf.contrib.rnn.LSTMBlockFusedCell(4, **kwargs)
    with _seeded(tf):
        outputs, state = cell(tf.transpose(_inputs(tf), [1, 0, 2]), start, None if start else tf.float32, lengths)
    return cell.num_units, type(state).__name__, _trained(tf, outputs, state, cell)


def fused(tf):
    return _fused(tf)


def fused_with_lengths(tf):
    return _fused(tf, lengths=[3, 1])


def fused_with_everything(tf):
    start = tf.fill([2, 4], 0.5), tf.fill([2, 4], -0.5)
    return _fused(tf, lengths=tf.constant([0, 4]), start=start, forget_bias=0.0, cell_clip=0.4, use_peephole=True, name="mine")


def fused_again(tf):
    cell = tf.contrib.rnn.LSTMBlockFusedCell(4)
    x = tf.transpose(_inputs(tf), [1, 0, 2])
    with _seeded(tf):
        outputs, state = cell(x, dtype=tf.float32)
        again, _ = cell(x * 2.0, dtype=tf.float32)
    back = tf.contrib.rnn.TimeReversedFusedRNN(cell)
    turned, _ = back(x, dtype=tf.float32, sequence_length=[2, 4])
    return [v.name for v in tf.global_variables()], run(tf, [outputs, state, again, turned])


def checkpoints_of_plain_cells(tf):
    """Both kinds of LSTM have the same variables and outputs."""
    with tf.variable_scope("net", initializer=tf.random_uniform_initializer(-0.8, 0.8, seed=3)):
        first, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(4), _inputs(tf), dtype=tf.float32)
    with tf.variable_scope("net", reuse=True):
        second, _ = tf.nn.dynamic_rnn(tf.contrib.rnn.LSTMBlockCell(4), _inputs(tf), dtype=tf.float32)
    with tf.Session() as sess:
        initialize(tf, sess)
        a, b = sess.run([first, second])
        return bool(abs(a - b).max() < 1e-6), [v.name for v in tf.global_variables()]


def _drawn_after(tf, shape, lengths, use_peephole):
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        cell = tf.contrib.rnn.LSTMBlockFusedCell(4, use_peephole=use_peephole)
        for _ in range(2):
            cell(tf.placeholder(tf.float32, shape), dtype=tf.float32, sequence_length=None if lengths is None else tf.constant(lengths))
        drawn = tf.random_uniform([])
        with tf.Session() as sess:
            initialize(tf, sess)
            return sess.run([cell.variables[0], drawn])


def fused_makes_tensorflows_nodes(tf):
    """The weights, and a random number after the layers, have TensorFlow's seeds."""
    shapes = [5, 2, 3], [5, None, 3], [None, 2, 3], [None, None, 3]
    return [_drawn_after(tf, shape, lengths, peephole) for shape in shapes for lengths in (None, [5, 2]) for peephole in (False, True)]


def refusals(tf):
    rnn = tf.contrib.rnn
    x = tf.placeholder(tf.float32, [2, None])
    inside = [
        caught(lambda: rnn.LSTMBlockCell(4)(x, (tf.ones([2, 4]), tf.ones([2, 4]))), "Expecting inputs_shape[1] to be set: (2, ?)"),
        caught(lambda: rnn.GRUBlockCell(4)(x, tf.ones([2, 4])), "Expecting input_size to be set."),
        caught(lambda: rnn.GRUBlockCell(4)(tf.ones([2, 3]), tf.ones([2, 5])), "Shape of h_prev[1] incorrect: cell_size 4 vs 5"),
        caught(lambda: rnn.LSTMBlockFusedCell(4)(tf.ones([5, 2, 3])), "Either initial_state or dtype needs to be specified"),
        caught(lambda: rnn.LSTMBlockFusedCell(4)(tf.ones([5, 2, 3]), (1, 2, 3)), "Expecting initial_state to be a tuple with length 2 or None"),
    ]
    return inside, mistakes(tf, neither=lambda: rnn.GRUBlockCell(), both=lambda: rnn.GRUBlockCell(3, 4))
