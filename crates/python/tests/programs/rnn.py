"""Recurrent networks: cells, `dynamic_rnn`, static and bidirectional variants, `raw_rnn`, wrappers."""

import numpy as np

from programs.tools import caught, initialize, nodes, run, static


def _cell(tf, kind, **kwargs):
    return getattr(tf.nn.rnn_cell, kind)(2, **kwargs)


def _constant(tf):
    return tf.variable_scope("net", initializer=tf.constant_initializer(0.3))


def basic_rnn_cell(tf):
    with _constant(tf):
        cell = _cell(tf, "BasicRNNCell")
        out, state = cell(tf.constant([[1.0, 2.0, 3.0]]), cell.zero_state(1, tf.float32))
    return sorted(v.name for v in tf.global_variables()), run(tf, [out, state])


def gru_cell(tf):
    with _constant(tf):
        cell = _cell(tf, "GRUCell")
        out, state = cell(tf.constant([[1.0, 2.0, 3.0]]), tf.constant([[0.1, 0.2]]))
    return sorted(v.name for v in tf.global_variables()), run(tf, [out, state])


def basic_lstm_cell(tf):
    with _constant(tf):
        cell = _cell(tf, "BasicLSTMCell")
        out, state = cell(tf.constant([[1.0, 2.0, 3.0]]), cell.zero_state(1, tf.float32))
    return sorted(v.name for v in tf.global_variables()), type(state).__name__, run(tf, [out, state])


def lstm_cell(tf):
    with _constant(tf):
        cell = _cell(tf, "LSTMCell", use_peepholes=True, cell_clip=0.5, forget_bias=0.5)
        out, state = cell(tf.constant([[1.0, 2.0, 3.0]]), cell.zero_state(1, tf.float32))
    return sorted(v.name for v in tf.global_variables()), run(tf, [out, state])


def lstm_cell_with_a_projection(tf):
    with _constant(tf):
        cell = tf.nn.rnn_cell.LSTMCell(3, num_proj=2)
        out, state = cell(tf.constant([[1.0, 2.0]]), cell.zero_state(1, tf.float32))
    return str(cell.state_size), cell.output_size, run(tf, [out, state])


def sizes(tf):
    rnn, lstm = _cell(tf, "BasicRNNCell"), _cell(tf, "LSTMCell")
    return rnn.state_size, rnn.output_size, type(lstm.state_size).__name__, lstm.state_size, lstm.output_size


def zero_states(tf):
    cell = tf.nn.rnn_cell.MultiRNNCell([_cell(tf, "GRUCell"), _cell(tf, "LSTMCell")])
    return run(tf, cell.zero_state(2, tf.float32))


def dynamic(tf):
    x = tf.constant(np.arange(12.0).reshape(2, 3, 2) / 10, tf.float32)
    with _constant(tf):
        out, state = tf.nn.dynamic_rnn(_cell(tf, "LSTMCell"), x, dtype=tf.float32)
    return static(out, state.c), run(tf, [out, state])


def dynamic_with_lengths(tf):
    x = tf.constant(np.arange(12.0).reshape(2, 3, 2) / 10, tf.float32)
    with _constant(tf):
        out, state = tf.nn.dynamic_rnn(_cell(tf, "GRUCell"), x, sequence_length=[3, 1], dtype=tf.float32)
    return run(tf, [out, state])


def dynamic_time_major(tf):
    x = tf.placeholder(tf.float32, [None, None, 2])
    with _constant(tf):
        out, state = tf.nn.dynamic_rnn(_cell(tf, "BasicRNNCell"), x, dtype=tf.float32, time_major=True)
    return static(out, state), run(tf, [out, state], {x: np.ones([4, 2, 2])})


def dynamic_with_a_state(tf):
    x = tf.ones([1, 2, 2])
    with _constant(tf):
        out, state = tf.nn.dynamic_rnn(_cell(tf, "BasicRNNCell"), x, initial_state=tf.constant([[0.5, -0.5]]))
    return run(tf, [out, state])


def dynamic_gradient(tf):
    x = tf.constant(np.arange(6.0).reshape(1, 3, 2) / 10, tf.float32)
    with _constant(tf):
        out, _ = tf.nn.dynamic_rnn(_cell(tf, "LSTMCell"), x, sequence_length=[2], dtype=tf.float32)
    grads = tf.gradients(tf.reduce_sum(out), [x] + tf.trainable_variables())
    return run(tf, grads)


def dynamic_trained(tf):
    x = tf.constant(np.arange(6.0).reshape(1, 3, 2) / 10, tf.float32)
    with _constant(tf):
        out, _ = tf.nn.dynamic_rnn(_cell(tf, "GRUCell"), x, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(out - 0.2))
    train = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.Session() as sess:
        initialize(tf, sess)
        out = []
        for _ in range(5):
            out.append(sess.run([loss, train])[0])
        return out


def dynamic_without_dtype(tf):
    return caught(lambda: tf.nn.dynamic_rnn(_cell(tf, "GRUCell"), tf.ones([1, 2, 2])), "If there is no initial_state, you must give a dtype.")


def dynamic_refusals(tf):
    return caught(lambda: tf.nn.dynamic_rnn(3, tf.ones([1, 2, 2]), dtype=tf.float32))


def multi_cell(tf):
    x = tf.ones([1, 2, 2])
    with _constant(tf):
        cell = tf.nn.rnn_cell.MultiRNNCell([_cell(tf, "GRUCell"), _cell(tf, "BasicRNNCell")])
        out, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    return sorted(v.name for v in tf.global_variables()), type(state).__name__, run(tf, [out, state])


def bidirectional(tf):
    x = tf.constant(np.arange(6.0).reshape(1, 3, 2) / 10, tf.float32)
    with _constant(tf):
        outs, states = tf.nn.bidirectional_dynamic_rnn(_cell(tf, "GRUCell"), _cell(tf, "GRUCell"), x, sequence_length=[2], dtype=tf.float32)
    return run(tf, [outs, states])


def static_rnn(tf):
    x = [tf.ones([1, 2]), tf.ones([1, 2]) * 2.0]
    with _constant(tf):
        outs, state = tf.nn.static_rnn(_cell(tf, "BasicRNNCell"), x, dtype=tf.float32)
    return len(outs), run(tf, [outs, state])


def raw(tf):
    with _constant(tf):
        cell = _cell(tf, "BasicRNNCell")
        inputs = tf.TensorArray(tf.float32, 3).unstack(tf.ones([3, 1, 2]))

        def loop_fn(time, cell_output, cell_state, loop_state):
            finished = time >= 3
            state = cell.zero_state(1, tf.float32) if cell_output is None else cell_state
            return finished, tf.cond(finished, lambda: tf.zeros([1, 2]), lambda: inputs.read(time)), state, cell_output, None

        outs, state, _ = tf.nn.raw_rnn(cell, loop_fn)
    return run(tf, [outs.stack(), state])


def wrappers(tf):
    x = tf.ones([1, 2])
    c = tf.nn.rnn_cell
    with _constant(tf):
        dropped = c.DropoutWrapper(_cell(tf, "BasicRNNCell"), output_keep_prob=1.0)
        residual = c.ResidualWrapper(_cell(tf, "GRUCell"))
        a, _ = dropped(x, dropped.zero_state(1, tf.float32))
        b, _ = residual(x, residual.zero_state(1, tf.float32))
    return run(tf, [a, b])


def cell_of_ones_own(tf):
    class Counter(tf.nn.rnn_cell.RNNCell):
        @property
        def state_size(self):
            return 1

        @property
        def output_size(self):
            return 1

        def call(self, inputs, state):
            new = state + tf.reduce_sum(inputs, 1, keepdims=True)
            return new * 10.0, new

    out, state = tf.nn.dynamic_rnn(Counter(), tf.ones([2, 3, 2]), dtype=tf.float32)
    return run(tf, [out, state])


def shared_by_reuse(tf):
    with _constant(tf):
        cell = _cell(tf, "BasicRNNCell")
        a, _ = cell(tf.ones([1, 2]), cell.zero_state(1, tf.float32))
        b, _ = cell(tf.ones([1, 2]) * 2.0, cell.zero_state(1, tf.float32))
    return len(tf.global_variables()), run(tf, [a, b])
