"""An op without a seed derives one from the number of nodes before it: numbers drawn after constructs."""

import numpy as np


def _drawn(tf, **constructs):
    found = {}
    for name, construct in sorted(constructs.items()):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            construct(tf.placeholder(tf.float32, [4, 5, 3]))
            drawn = tf.random_uniform([])
            with tf.Session() as sess:
                found[name] = sess.run(drawn)
    return found


def losses(tf):
    return _drawn(
        tf,
        softmax=lambda x: tf.nn.softmax_cross_entropy_with_logits(labels=x[:, 0], logits=x[:, 0]),
        softmax_v2=lambda x: tf.nn.softmax_cross_entropy_with_logits_v2(labels=x, logits=x),
        sparse=lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.zeros([4, 5], tf.int32), logits=x),
        of_losses=lambda x: tf.losses.softmax_cross_entropy(x[:, 0], x[:, 0]),
        sparse_of_losses=lambda x: tf.losses.sparse_softmax_cross_entropy(tf.zeros([4], tf.int32), x[:, 0]),
        squares=lambda x: tf.losses.mean_squared_error(x, x),
        ctc=lambda x: tf.nn.ctc_loss(tf.SparseTensor([[0, 0]], [1], [5, 2]), x, [4] * 5),
        zeros=lambda x: tf.nn.zero_fraction(x),
        norm=lambda x: tf.norm(x),
    )


def layers(tf):
    return _drawn(
        tf,
        matrix=lambda x: tf.layers.batch_normalization(x, training=True),
        images=lambda x: tf.layers.batch_normalization(x[..., None], training=True),
        images_later=lambda x: tf.layers.batch_normalization(x[..., None], training=False),
        asked=lambda x: tf.layers.batch_normalization(x, training=tf.placeholder(tf.bool, [])),
        images_asked=lambda x: tf.layers.batch_normalization(x[..., None], training=tf.placeholder(tf.bool, [])),
        transposed=lambda x: tf.layers.conv2d_transpose(x[..., None], 3, 2),
        dilated=lambda x: tf.layers.conv2d(x[..., None], 3, 2, dilation_rate=2),
        atrous=lambda x: tf.nn.atrous_conv2d(x[..., None], tf.ones([2, 2, 1, 1]), 2, "SAME"),
        slim=lambda x: tf.contrib.slim.conv2d(x[..., None], 3, 2, normalizer_fn=tf.contrib.slim.batch_norm),
    )


def others(tf):
    def average(x):
        tf.train.ExponentialMovingAverage(0.9).apply([tf.get_variable("w", [3])])

    return _drawn(
        tf,
        average=average,
        mean=lambda x: tf.metrics.mean(x),
        accuracy=lambda x: tf.metrics.accuracy(x, x),
        slices=lambda x: tf.strided_slice(x, [0, tf.constant(1) * 2, 0], [4, 5, 3]),
        slices_known=lambda x: tf.strided_slice(x, [0, 0, 0], [4, 5, 3]),
        tree=lambda x: tf.contrib.seq2seq.gather_tree(tf.zeros([3, 2, 2], tf.int32), tf.zeros([3, 2, 2], tf.int32), [3, 3], 1),
        lstm=lambda x: tf.contrib.rnn.LSTMBlockCell(3)(x[:, 0], (tf.zeros([4, 3]), tf.zeros([4, 3]))),
        gru=lambda x: tf.contrib.rnn.GRUBlockCell(3)(x[:, 0], tf.zeros([4, 3])),
        responses=lambda x: tf.nn.lrn(x[..., None]),
        candidates=lambda x: tf.nn.log_uniform_candidate_sampler(tf.constant(np.array([[1]])), 1, 3, True, 9),
    )


def static_nets_of_lengths(tf):
    """A net whose sequences end makes a branch for each step, before the cell's variables."""

    def net(x, rows, cell, **kwargs):
        x.set_shape([rows, 5, 3]) if rows else None
        x = x if rows else tf.placeholder(tf.float32, [None, 5, 3])
        outputs, _ = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32, **kwargs)
        return tf.layers.dense(outputs[-1], 2)

    lengths = [5, 2, 0, 3]
    return _drawn(
        tf,
        known=lambda x: net(x, 4, tf.nn.rnn_cell.BasicLSTMCell(3), sequence_length=lengths),
        unknown=lambda x: net(x, None, tf.nn.rnn_cell.LSTMCell(3), sequence_length=tf.placeholder(tf.int32, [None])),
        gated=lambda x: net(x, None, tf.nn.rnn_cell.GRUCell(3), sequence_length=tf.placeholder(tf.int64, [None])),
    )


def trained_static_net_of_lengths(tf):
    """Only a graph seed is set: initial values follow from the number of nodes before."""
    tf.set_random_seed(3)
    x, lengths = tf.placeholder(tf.float32, [None, 6, 2]), tf.placeholder(tf.int32, [None])
    cell = tf.nn.rnn_cell.BasicLSTMCell(4)
    outputs, state = tf.nn.static_rnn(cell, tf.unstack(x, 6, 1), dtype=tf.float32, sequence_length=lengths)
    rows = tf.range(tf.shape(x)[0]) * 6 + lengths - 1
    last = tf.gather(tf.reshape(tf.stack(outputs, 1), [-1, 4]), rows)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(last, 1) - 1.0)) + tf.reduce_mean(state.h)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    feed = {x: np.sin(np.arange(36.0)).reshape(3, 6, 2), lengths: [6, 2, 4]}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run([loss, train], feed)[0] for _ in range(8)], sess.run([outputs[0], outputs[5], state], feed)


def states_of_cells_and_given_gradients(tf):
    def given(x):
        w = tf.ones([3, 2])
        y = tf.tanh(tf.matmul(x[:, 0], w))
        tf.gradients(y, w, grad_ys=tf.placeholder(tf.float32, [4, 2]))

    return _drawn(tf, given=given, whole=lambda x: tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(2)], state_is_tuple=False).zero_state(3, x.dtype))
