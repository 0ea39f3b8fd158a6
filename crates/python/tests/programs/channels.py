"""Depthwise and separable convolutions, and batch normalization of images."""

import numpy as np

from programs.convolutions import _grown, _whole
from programs.tools import initialize, mistakes, nodes, run, static


def each_alone(tf):
    x, f = _whole(2, 5, 4, 3), _whole(2, 3, 3, 2)
    dc = tf.nn.depthwise_conv2d
    return [_grown(tf, lambda x, f, s=strides, p=padding: dc(x, f, s, p), x, f) for strides, padding in (([1, 1, 1, 1], "SAME"), ([1, 2, 2, 1], "VALID"))]


def each_alone_of_one_filter(tf):
    x, f = _whole(1, 4, 4, 2).astype(np.float64), _whole(3, 3, 2, 1).astype(np.float64)
    native = tf.nn.depthwise_conv2d_native
    return _grown(tf, lambda x, f: native(x, f, [1, 1, 1, 1], "SAME"), x, f)


def each_apart(tf):
    x, f = _whole(1, 7, 7, 2), _whole(2, 3, 2, 2)
    dc = tf.nn.depthwise_conv2d
    return run(tf, [dc(x, f, [1, 1, 1, 1], padding, rate=rate) for padding in ("SAME", "VALID") for rate in ([2, 1], [2, 2], None)])


def gradients_by_name(tf):
    x, f, dy = _whole(1, 5, 5, 2), _whole(2, 2, 2, 3), _whole(1, 4, 4, 6)
    return run(
        tf,
        [
            tf.nn.depthwise_conv2d_native_backprop_input([1, 5, 5, 2], f, dy, [1, 1, 1, 1], "VALID"),
            tf.nn.depthwise_conv2d_native_backprop_filter(x, [2, 2, 2, 3], dy, [1, 1, 1, 1], "VALID"),
        ],
    )


def separated(tf):
    x, f, g = _whole(2, 4, 4, 2), _whole(2, 2, 2, 2), _whole(1, 1, 4, 3)
    return (
        _grown(tf, lambda x, f, g: tf.nn.separable_conv2d(x, f, g, [1, 1, 1, 1], "SAME"), x, f, g),
        run(tf, tf.nn.separable_conv2d(x, f, g, [1, 1, 1, 1], "VALID", rate=[2, 2])),
    )


def separated_layer(tf):
    ones = tf.ones_initializer()
    y = tf.layers.separable_conv2d(_whole(1, 4, 4, 2), 3, 2, depth_multiplier=2, depthwise_initializer=ones, pointwise_initializer=ones, bias_initializer=ones, activation=tf.nn.relu)
    z = tf.layers.SeparableConv2D(2, 3, strides=2, padding="same", depthwise_initializer=ones, pointwise_initializer=ones, name="s")(tf.constant(_whole(1, 4, 4, 2)))
    return y.name, z.name, static(y, z), [v.name for v in tf.global_variables()], run(tf, [y, z])


def separated_sequences(tf):
    ones, half = tf.ones_initializer(), tf.constant_initializer(0.5)
    x = tf.constant(_whole(2, 6, 2))
    y = tf.layers.separable_conv1d(x, 3, 2, depth_multiplier=2, depthwise_initializer=ones, pointwise_initializer=half, bias_initializer=ones, activation=tf.nn.relu)
    z = tf.layers.SeparableConv1D(2, 3, strides=2, padding="same", depthwise_initializer=half, pointwise_initializer=ones, name="s")(x)
    w = tf.layers.separable_conv1d(x, 1, 2, dilation_rate=2, use_bias=False, depthwise_initializer=ones, pointwise_initializer=ones, name="far")
    grads = tf.gradients(tf.reduce_sum(y * y), tf.trainable_variables()[:3])
    shapes = [v.shape.as_list() for v in tf.global_variables()]
    return y.name, z.name, static(y, z, w), [v.name for v in tf.global_variables()], shapes, run(tf, [y, z, w, grads])


def mistakes_of_separated_sequences(tf):
    made = lambda *args, **kwargs: tf.layers.separable_conv1d(*args, **kwargs)  # noqa: E731
    return mistakes(tf, depth=lambda: made(tf.placeholder(tf.float32, [1, 4, None]), 3, 2), size=lambda: made(tf.zeros([1, 4, 2]), 3, (2, 2)), padding=lambda: made(tf.zeros([1, 4, 2]), 3, 2, padding="odd"))


def nodes_made(tf):
    x = tf.placeholder(tf.float32, [1, 8, 8, 3], name="x")
    tf.nn.depthwise_conv2d(x, np.ones([2, 2, 3, 1], np.float32), [1, 1, 1, 1], "SAME")
    tf.nn.separable_conv2d(x, np.ones([2, 2, 3, 1], np.float32), np.ones([1, 1, 3, 2], np.float32), [1, 1, 1, 1], "SAME")
    tf.nn.fused_batch_norm(x, [1.0, 1.0, 1.0], [0.0, 0.0, 0.0])
    return nodes(tf)


def _rounded(values):
    """Returns values to about five digits: sums are in another order than in TensorFlow."""
    return [np.round(v / (1 + np.abs(v).max()), 5) for v in values]


def normalized(tf):
    x, scale, offset = tf.constant(_whole(2, 2, 3, 2)), tf.constant([1.0, 2.0]), tf.constant([0.5, -1.0])
    y, mean, variance = tf.nn.fused_batch_norm(x, scale, offset, epsilon=0.1)
    first = tf.gradients(y * y * y, [x, scale, offset])
    second = tf.gradients([g * g for g in first], [x, scale, offset])
    return static(y, mean, variance), _rounded(run(tf, [y, mean, variance])), _rounded(run(tf, first)), _rounded(run(tf, second))


def normalized_by_given(tf):
    x, scale, offset = tf.constant(_whole(2, 2, 3, 2)), tf.constant([1.0, 2.0]), tf.constant([0.5, -1.0])
    y = tf.nn.fused_batch_norm(x, scale, offset, mean=tf.constant([0.5, 1.0]), variance=tf.constant([4.0, 9.0]), is_training=False)[0]
    first = tf.gradients(y * y * y, [x, scale, offset])
    second = tf.gradients([g * g for g in first], [x, scale])
    return static(y), _rounded(run(tf, [y])), _rounded(run(tf, first)), _rounded(run(tf, second))


def normalized_halves(tf):
    x = tf.constant(_whole(1, 2, 3, 2).astype(np.float16))
    y, mean, variance = tf.nn.fused_batch_norm(x, [1.0, 2.0], [0.5, -1.0])
    g = tf.gradients(y * y, x)[0]
    return static(y, mean, variance, g), [np.round(v.astype(np.float32), 1) for v in run(tf, [y, mean, variance, g])]


def _trained(tf, y):
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.Session() as sess:
        initialize(tf, sess)
        value = sess.run(y)
        sess.run(updates)
        sess.run(updates)
        return [v.name for v in tf.global_variables()], len(updates), _rounded([value]), _rounded(sess.run(tf.global_variables()))


def layer_in_training(tf):
    return _trained(tf, tf.layers.batch_normalization(_whole(2, 2, 3, 2), training=True))


def layer_in_use(tf):
    return _trained(tf, tf.layers.batch_normalization(_whole(2, 2, 3, 2), training=False, momentum=0.5))


def layer_asked_in_the_run(tf):
    training = tf.placeholder_with_default(True, [])
    return _trained(tf, tf.layers.batch_normalization(_whole(2, 2, 3, 2), training=training, center=False, momentum=0.5))


def layer_of_many_operations(tf):
    return _trained(tf, tf.layers.batch_normalization(_whole(2, 2, 3, 2), training=True, fused=False, scale=False))


def layer_trained(tf):
    x, wanted = _whole(4, 6, 6, 1) / 5, np.float32([[0], [1], [1], [0]])
    kernel = tf.constant_initializer(_whole(3, 3, 1, 4) / 10)
    y = tf.layers.conv2d(x, 4, 3, use_bias=False, kernel_initializer=kernel)
    y = tf.nn.relu(tf.layers.batch_normalization(y, training=True))
    y = tf.layers.dense(tf.layers.flatten(y), 1, kernel_initializer=tf.constant_initializer(0.1))
    loss = tf.reduce_mean(tf.square(y - wanted))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        step = tf.train.GradientDescentOptimizer(0.005).minimize(loss)
    with tf.Session() as sess:
        initialize(tf, sess)
        return [float(np.round(sess.run([loss, step])[0], 3)) for _ in range(10)]


def refused(tf):
    def x():
        return tf.zeros([1, 5, 5, 3])

    ones = np.ones(3, np.float32)
    return mistakes(
        tf,
        depths=lambda: tf.nn.depthwise_conv2d(x(), tf.zeros([2, 2, 2, 1]), [1, 1, 1, 1], "SAME"),
        too_small=lambda: tf.nn.depthwise_conv2d(x(), tf.zeros([6, 2, 3, 1]), [1, 1, 1, 1], "VALID"),
        both_rates=lambda: tf.nn.depthwise_conv2d(x(), tf.zeros([2, 2, 3, 1]), [1, 1, 1, 1], "SAME", rate=[1, 1], dilations=[1, 1]),
        pointwise=lambda: tf.nn.separable_conv2d(x(), tf.zeros([2, 2, 3, 1]), tf.zeros([2, 1, 3, 1]), [1, 1, 1, 1], "SAME"),
        given_in_training=lambda: tf.nn.fused_batch_norm(x(), ones, ones, mean=ones, variance=ones),
        scale=lambda: tf.nn.fused_batch_norm(x(), ones[:2], ones),
        rank=lambda: tf.nn.fused_batch_norm(tf.zeros([5, 5, 3]), ones, ones),
    )
