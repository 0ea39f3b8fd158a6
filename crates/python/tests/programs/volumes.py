"""Convolutions and pools of volumes, and pools with the indices of the largest cells."""

import numpy as np

from programs.convolutions import _grown, _whole
from programs.tools import late, mistakes, nodes, run, static


def _perm(*shape):
    """Returns different integers in no order."""
    n = int(np.prod(shape))
    return (np.arange(n) * 37 % (n + 1 if n % 37 == 0 else n)).reshape(shape).astype(np.float32)


def convolved(tf):
    x, f = _whole(2, 3, 4, 5, 2), _whole(2, 2, 3, 2, 3)
    return [
        _grown(tf, lambda x, f, s=strides, p=padding: tf.nn.conv3d(x, f, s, p), x, f)
        for strides, padding in (([1, 1, 1, 1, 1], "SAME"), ([1, 2, 1, 2, 1], "VALID"), ([1, 1, 2, 3, 1], "SAME"))
    ]


def convolved_in_other_floats(tf):
    x, f = _whole(1, 3, 3, 3, 2), _whole(2, 2, 2, 2, 1)
    wide = _grown(tf, lambda x, f: tf.nn.conv3d(x, f, [1] * 5, "SAME"), x.astype(np.float64), f.astype(np.float64))
    half = tf.nn.conv3d(x.astype(np.float16), filters=f.astype(np.float16), strides=[1] * 5, padding="VALID")
    return wide, static(half), run(tf, half)


def of_unknown_shape(tf):
    x, f = late(tf, _whole(1, 3, 4, 4, 2)), late(tf, _whole(2, 2, 2, 2, 1))
    y = tf.nn.conv3d(x, f, [1] * 5, "SAME")
    partly = tf.nn.conv3d(tf.placeholder(tf.float32, [None, 7, None, 8, 2]), tf.zeros([3, 3, 3, 2, 5]), [1, 2, 2, 1, 1], "VALID")
    pooled = tf.nn.max_pool3d(tf.placeholder(tf.float32, [None, 7, None, 8, 2]), 3, 2, "VALID")
    return static(y, partly, pooled), run(tf, [y, tf.gradients(y * y, [x, f])])


def transposed(tf):
    x, f = _whole(1, 2, 3, 2, 2), _whole(2, 3, 2, 3, 2)
    of = tf.nn.conv3d_transpose
    return [
        _grown(tf, lambda x, f: of(x, f, [1, 4, 5, 2, 3], [1, 2, 2, 1, 1], "SAME"), x, f),
        _grown(tf, lambda x, f: of(x, f, [1, 3, 5, 3, 3], 1, "VALID"), x, f),
        _grown(tf, lambda x, f: of(input=x, value=None, filters=f, output_shape=tf.constant([1, 2, 6, 2, 3], tf.int64), strides=[1, 2, 1]), x, f),
        _grown(tf, lambda x, f: tf.nn.conv_transpose(x, f, [1, 4, 6, 4, 3], 2), x, f),
    ]


def gradient_by_the_filter(tf):
    x, dy = tf.constant(_whole(1, 3, 3, 3, 2)), tf.constant(_whole(1, 2, 2, 2, 1))
    df = tf.nn.conv3d_backprop_filter_v2(x, [2, 2, 2, 2, 1], dy, [1] * 5, "VALID")
    same = tf.nn.conv3d_backprop_filter(x, [2, 2, 2, 2, 1], dy, [1] * 5, "VALID")
    return static(df), run(tf, [df, same, tf.gradients(df * df, [x, dy])])


def convolution(tf):
    x, f = _whole(1, 5, 4, 5, 2), _whole(2, 2, 2, 2, 1)
    ys = [tf.nn.convolution(x, f, "VALID"), tf.nn.convolution(x, f, "SAME", strides=[2, 1, 2]), tf.nn.convolution(x, f, "VALID", dilation_rate=[2, 1, 3])]
    return static(*ys), run(tf, [ys, tf.gradients(ys[0] * ys[0], ys[0])])


def largest(tf):
    x = _perm(2, 4, 5, 3, 2)
    return [
        _grown(tf, lambda x, k=ksize, s=strides, p=padding: tf.nn.max_pool3d(x, k, s, p), x)
        for ksize, strides, padding in ((2, 1, "SAME"), ([1, 2, 3, 2, 1], [1, 2, 1, 1, 1], "VALID"), ([3, 1, 2], [2, 2, 1], "SAME"))
    ]


def means(tf):
    x = _whole(2, 4, 5, 3, 2)
    return [
        _grown(tf, lambda x, k=ksize, s=strides, p=padding: tf.nn.avg_pool3d(x, k, s, p), x)
        for ksize, strides, padding in ((2, 2, "VALID"), ([2, 1, 1], 1, "VALID"), (2, [1, 2, 2, 1, 1], "SAME"))
    ]


def pools_by_rank(tf):
    x = _perm(1, 4, 4, 4, 1)
    ys = [
        tf.nn.max_pool_v2(x, 2, 2, "SAME"),
        tf.nn.avg_pool_v2(x, [2, 2, 2], 2, "VALID", name="mean"),
        tf.nn.pool(x, [2, 1, 2], "MAX", "VALID"),
        tf.nn.pool(x, [2, 2, 2], "AVG", "VALID", strides=[1, 2, 1]),
    ]
    return [y.name for y in ys], static(*ys), run(tf, ys)


def with_argmax(tf):
    x = tf.constant(_perm(2, 4, 5, 3))
    made = []
    for options in ({}, {"include_batch_in_index": True}):
        found = tf.nn.max_pool_with_argmax(x, [1, 2, 3, 1], [1, 1, 2, 1], "SAME", **options)
        made.append([static(*found), found._fields, found, tf.gradients(found.output * found.output, x)])
    return [run(tf, m[2:]) for m in made], [m[:2] for m in made]


def argmax_of_others(tf):
    doubles = tf.nn.max_pool_with_argmax(_perm(1, 3, 3, 1).astype(np.float64), [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
    ties = tf.nn.max_pool_with_argmax(np.ones([1, 3, 3, 2], np.float32), [1, 2, 2, 1], [1, 1, 1, 1], "SAME")
    return run(tf, [doubles, ties])


def argmax_of_int32(tf):
    found = tf.nn.max_pool_with_argmax(np.ones([1, 3, 3, 2], np.float32), [1, 2, 2, 1], [1, 1, 1, 1], "SAME", output_dtype=tf.int32)
    return static(*found)  # TensorFlow has no kernel of it.


def unpooled(tf):
    """The largest cells go back to their places, as in networks for segmentation."""
    x = tf.constant(_perm(2, 4, 4, 2))
    y, at = tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME", include_batch_in_index=True)
    flat = tf.scatter_nd(tf.reshape(at, [-1, 1]), tf.reshape(y, [-1]), tf.constant([2 * 4 * 4 * 2], tf.int64))
    z = tf.reshape(flat, tf.shape(x))
    return run(tf, [z, tf.gradients(z * z, x)])


def nodes_made(tf):
    x, f = tf.placeholder(tf.float32, [1, 4, 4, 4, 2], name="x"), tf.placeholder(tf.float32, [2, 2, 2, 2, 2], name="f")
    y = tf.nn.conv3d(x, f, [1] * 5, "SAME")
    tf.nn.max_pool3d(y, 2, 2, "VALID")
    tf.nn.avg_pool3d(y, 2, 2, "VALID", name="mean")
    tf.nn.conv3d_transpose(y, f, [1, 4, 4, 4, 2], 1)
    tf.nn.convolution(x, f, "VALID")
    tf.nn.max_pool_with_argmax(x[0], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
    return nodes(tf)


def layers(tf):
    x, tall = _whole(1, 4, 5, 4, 2), tf.placeholder(tf.float32, [None, None, 3, None, 2])
    kernel = tf.constant_initializer(_whole(2, 2, 2, 2, 3))
    ys = [
        tf.layers.conv3d(x, 3, 2, strides=(1, 2, 1), padding="same", activation=tf.nn.relu, kernel_initializer=kernel, bias_initializer=tf.ones_initializer()),
        tf.layers.conv3d(x, 3, 2, dilation_rate=2, kernel_initializer=kernel, name="dilated"),
        tf.layers.conv3d_transpose(x, 3, 2, 2, kernel_initializer=tf.constant_initializer(_whole(2, 2, 2, 3, 2))),
        tf.layers.conv3d_transpose(x, 3, (1, 2, 1), padding="same", use_bias=False, kernel_initializer=tf.constant_initializer(_whole(1, 2, 1, 3, 2))),
        tf.layers.max_pooling3d(x, 2, 2),
        tf.layers.average_pooling3d(x, (2, 1, 2), 1, padding="same", name="means"),
    ]
    z = tf.layers.conv3d_transpose(tall, 4, 3, strides=2, padding="same")
    variables = tf.global_variables()
    return [y.name for y in ys], static(*ys, z), [v.name for v in variables], static(*variables), run(tf, ys)


def layer_classes(tf):
    x, ones = tf.constant(_whole(1, 3, 3, 3, 1)), tf.ones_initializer()
    made = [tf.layers.Conv3D(2, 2, kernel_initializer=ones), tf.layers.Conv3DTranspose(1, 2, kernel_initializer=ones), tf.layers.MaxPooling3D(2, 1), tf.layers.AveragePooling3D(2, 1)]
    ys = [layer(x) for layer in made]
    return [v.name for v in tf.trainable_variables()], [y.name for y in ys], run(tf, ys)


def contrib_layers(tf):
    x = tf.constant(_whole(1, 4, 4, 4, 2))
    layers = tf.contrib.layers
    weights = {"weights_initializer": tf.constant_initializer(_whole(2, 2, 2, 2, 3))}
    ys = [
        layers.conv3d(x, 3, 2, **weights),
        layers.convolution3d(x, 3, [2, 2, 2], stride=2, padding="VALID", activation_fn=None, scope="second", **weights),
        layers.convolution(x, 3, 2, conv_dims=3, scope="third", **weights),
        layers.conv3d_transpose(x, 2, 2, 2, weights_initializer=tf.constant_initializer(_whole(2, 2, 2, 2, 2))),
        layers.convolution3d_transpose(x, 2, 2, padding="VALID", scope="wide", weights_initializer=tf.constant_initializer(_whole(2, 2, 2, 2, 2))),
        layers.max_pool3d(x, 2),
        layers.avg_pool3d(x, [2, 1, 2], 1, "SAME", scope="means"),
    ]
    return [y.name for y in ys], static(*ys), [v.name for v in tf.contrib.framework.get_model_variables()], run(tf, ys)


def trained(tf):
    """A small network on volumes, whose loss falls."""
    x, wanted = tf.constant(_perm(4, 4, 4, 4, 1) / 100 - 1), tf.constant([[1.0], [-1.0], [0.5], [2.0]])
    h = tf.layers.conv3d(x, 3, 2, padding="same", activation=tf.nn.tanh, kernel_initializer=tf.constant_initializer(_whole(2, 2, 2, 1, 3) / 10))
    h = tf.layers.max_pooling3d(h, 2, 2)
    h = tf.layers.average_pooling3d(h, 2, 1)
    y = tf.layers.dense(tf.layers.flatten(h), 1, kernel_initializer=tf.constant_initializer(_whole(3, 1) / 10))
    loss = tf.losses.mean_squared_error(wanted, y)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run([loss, step])[0] for _ in range(5)]


def refused(tf):
    def x(shape=(1, 5, 5, 5, 3)):
        return tf.zeros(shape)

    conv, pool, ones = tf.nn.conv3d, tf.nn.max_pool3d, [1] * 5
    return mistakes(
        tf,
        depths=lambda: conv(x(), tf.zeros([3, 3, 3, 2, 1]), ones, "SAME"),
        ranks=lambda: conv(x((5, 5, 5, 3)), tf.zeros([3, 3, 3, 3, 1]), ones, "SAME"),
        too_small=lambda: conv(x(), tf.zeros([7, 3, 3, 3, 1]), ones, "VALID"),
        one_stride=lambda: conv(x(), tf.zeros([3, 3, 3, 3, 1]), 1, "SAME"),
        three_strides=lambda: conv(x(), tf.zeros([3, 3, 3, 3, 1]), [1, 1, 1], "SAME"),
        four_sizes=lambda: tf.nn.conv3d_transpose(x(), tf.zeros([3, 3, 3, 1, 3]), [1, 5, 5, 1], 1),
        pool_of_two=lambda: pool(x(), [1, 2], 1, "VALID"),
        pool_too_small=lambda: pool(x(), 6, 1, "VALID"),
        pool_of_batches=lambda: pool(x(), [2, 2, 2, 2, 1], 1, "VALID"),
        pool_of_channels=lambda: pool(x(), [1, 1, 1, 1, 3], [1, 1, 1, 1, 3], "VALID"),
        argmax_of_channels_first=lambda: tf.nn.max_pool_with_argmax(x()[0], [1, 1, 2, 2], [1, 1, 1, 1], "VALID", data_format="NCHW"),
        layer_of_images=lambda: tf.layers.conv3d(x()[0], 3, 2, name="c"),
        contrib_of_images=lambda: tf.contrib.layers.conv3d(x()[0], 3, 2),
        contrib_order=lambda: tf.contrib.layers.max_pool3d(x(), 2, data_format="NHWC"),
        contrib_transposed_order=lambda: tf.contrib.layers.conv3d_transpose(x(), 2, 2, data_format="NHWC"),
    )
