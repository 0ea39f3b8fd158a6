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
