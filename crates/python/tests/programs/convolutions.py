"""Convolutions and pools of `tf.nn`, with gradients of gradients."""

import numpy as np

from programs.tools import late, mistakes, nodes, run, static


def _whole(*shape):
    """Returns small integers, whose sums are exact in every order."""
    return ((np.arange(np.prod(shape)) * 7 + 3) % 11 - 5).reshape(shape).astype(np.float32)


def _grown(tf, f, *arrays):
    """Returns the value, the gradients, and the gradients of the sum of squares of these."""
    xs = [tf.constant(a) for a in arrays]
    y = f(*xs)
    first = tf.gradients(y * y, xs)
    second = tf.gradients([g * g for g in first], xs)
    return static(y), run(tf, [y, first, second])


def images(tf):
    x, f = _whole(2, 5, 6, 2), _whole(3, 2, 2, 3)
    return [
        _grown(tf, lambda x, f, s=strides, p=padding: tf.nn.conv2d(x, f, s, p), x, f)
        for strides, padding in (([1, 1, 1, 1], "SAME"), ([1, 2, 2, 1], "VALID"), ([1, 2, 1, 1], "SAME"))
    ]


def cells(tf):
    return _grown(tf, lambda x, f: tf.nn.conv2d(x, f, [1, 1, 1, 1], "VALID"), _whole(2, 3, 3, 4), _whole(1, 1, 4, 2))


def strides_of_all_forms(tf):
    x, f = _whole(1, 5, 5, 1), _whole(2, 2, 1, 1)
    return run(tf, [tf.nn.conv2d(x, f, s, "VALID") for s in (2, [2], [2, 1], [1, 2, 2, 1])] + [tf.nn.conv2d(x, filters=f, strides=1, padding="SAME", dilations=2)])


def explicit_padding(tf):
    x, f = _whole(1, 3, 4, 2), _whole(2, 3, 2, 2)
    padding = [[0, 0], [1, 0], [2, 1], [0, 0]]
    return _grown(tf, lambda x, f: tf.nn.conv2d(x, f, [1, 1, 2, 1], padding), x, f)


def double(tf):
    x, f = _whole(1, 4, 4, 2).astype(np.float64), _whole(2, 2, 2, 1).astype(np.float64)
    return _grown(tf, lambda x, f: tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME"), x, f)


def half(tf):
    x, f = _whole(1, 4, 4, 2).astype(np.float16), _whole(2, 2, 2, 1).astype(np.float16)
    y = tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME")
    return static(y), run(tf, y)


def of_unknown_shape(tf):
    x, f = late(tf, _whole(1, 4, 4, 2)), late(tf, _whole(2, 2, 2, 1))
    y = tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME")
    partly = tf.nn.conv2d(tf.placeholder(tf.float32, [None, None, 8, 2]), tf.zeros([3, 3, 2, 5]), [1, 2, 2, 1], "VALID")
    return static(y, partly), run(tf, [y, tf.gradients(y * y, [x, f])])


def of_no_images(tf):
    y = tf.nn.conv2d(np.zeros([0, 4, 4, 2], np.float32), _whole(2, 2, 2, 3), [1, 1, 1, 1], "SAME")
    return static(y), run(tf, y)


def gradients_by_name(tf):
    x, f = _whole(1, 5, 5, 2), _whole(3, 3, 2, 2)
    dy = _whole(1, 3, 3, 2)
    return run(
        tf,
        [
            tf.nn.conv2d_backprop_input([1, 5, 5, 2], f, dy, [1, 1, 1, 1], "VALID"),
            tf.nn.conv2d_backprop_filter(x, [3, 3, 2, 2], dy, [1, 2, 2, 1], "SAME"),
        ],
    )


def transposed(tf):
    x, f = _whole(2, 3, 3, 2), _whole(3, 3, 4, 2)
    shape = [2, 6, 6, 4]
    known = _grown(tf, lambda x, f: tf.nn.conv2d_transpose(x, f, shape, [1, 2, 2, 1]), x, f)
    y = tf.nn.conv2d_transpose(x, f, tf.stack([tf.shape(x)[0], 7, 7, 4]), 2, "VALID")
    return known, static(y), run(tf, y)


def sequences(tf):
    x, f = _whole(2, 7, 2), _whole(3, 2, 3)
    return (
        _grown(tf, lambda x, f: tf.nn.conv1d(x, f, 2, "SAME"), x, f),
        run(tf, [tf.nn.conv1d(x, f, [1, 1, 1], "VALID"), tf.nn.conv1d(x, f, 1, "VALID", dilations=2), tf.nn.conv1d(input=x, filters=f, stride=1, padding="SAME", data_format="NWC")]),
    )


def sequences_transposed(tf):
    x, f = _whole(2, 3, 2), _whole(3, 4, 2)
    return _grown(tf, lambda x, f: tf.nn.conv1d_transpose(x, f, [2, 6, 4], 2), x, f)


def apart(tf):
    x, f = _whole(1, 7, 7, 2), _whole(2, 3, 2, 2)
    y = [tf.nn.atrous_conv2d(x, f, rate, padding) for rate in (1, 2) for padding in ("SAME", "VALID")]
    return static(*y), run(tf, [y, tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME", dilations=[1, 2, 3, 1])])


def apart_transposed(tf):
    x, f = _whole(1, 3, 4, 2), _whole(2, 2, 3, 2)
    return run(tf, [tf.nn.atrous_conv2d_transpose(x, f, [1, 5, 6, 3], 2, "VALID"), tf.nn.atrous_conv2d_transpose(x, f, [1, 3, 4, 3], 2, "SAME")])


def of_any_rank(tf):
    x, f = _whole(1, 9, 2), _whole(2, 2, 2)
    u, g = _whole(1, 6, 6, 2), _whole(2, 2, 2, 2)
    conv = tf.nn.convolution
    return run(
        tf,
        [
            conv(x, f, "SAME"),
            conv(x, f, "VALID", strides=[2]),
            conv(x, f, "VALID", dilation_rate=[3]),
            conv(u, g, "SAME", strides=[2, 1]),
            conv(u, g, "SAME", dilation_rate=[2, 2]),
            tf.nn.conv_transpose(x, f, [1, 18, 2], 2),
        ],
    )


def pools(tf):
    x = _whole(2, 5, 6, 3)
    # Which of equal cells gets the gradient depends on their order alone.
    return [
        _grown(tf, lambda x, k=ksize, s=strides, p=padding, f=f: f(x, k, s, p), x)
        for f in (tf.nn.max_pool, tf.nn.avg_pool)
        for ksize, strides, padding in (([1, 2, 2, 1], [1, 2, 2, 1], "VALID"), ([1, 3, 2, 1], [1, 1, 2, 1], "SAME"))
    ]


def pools_of_all_forms(tf):
    x = _whole(1, 4, 4, 2)
    return run(
        tf,
        [
            tf.nn.max_pool(x, 2, 2, "VALID"),
            tf.nn.avg_pool(x, [2], [1, 2], "SAME"),
            tf.nn.max_pool2d(x, [2, 1], 1, "VALID"),
            tf.nn.avg_pool2d(x, 3, 1, "SAME"),
            tf.nn.max_pool_v2(x, 2, 2, "VALID"),
            tf.nn.avg_pool_v2(x, 2, 2, "VALID"),
            tf.nn.max_pool1d(x[0], 2, 1, "SAME"),
            tf.nn.avg_pool1d(x[0], 2, 2, "VALID"),
            tf.nn.pool(x, [2, 2], "MAX", "SAME"),
            tf.nn.pool(x[0], [3], "AVG", "VALID", strides=[1]),
            tf.nn.max_pool(x, [1, 1, 1, 2], [1, 1, 1, 2], "VALID"),
        ],
    )


def pools_of_other_types(tf):
    x = _whole(1, 4, 4, 1)
    kinds = tf.int32, tf.float64, tf.float16, tf.uint8, tf.int64
    return run(tf, [tf.nn.max_pool(tf.cast(x + 5, kind), 2, 2, "VALID") for kind in kinds])


def pools_of_no_numbers(tf):
    nan, inf = np.nan, np.inf
    x = np.array([[1, nan, nan, 1], [2, 3, nan, nan], [-inf, -inf, inf, 1], [-inf, -inf, nan, nan]], np.float32).reshape(1, 4, 4, 1)
    x = tf.constant(x)
    y = tf.nn.max_pool(x, 2, 2, "VALID")
    return run(tf, [y, tf.gradients(y, x)])


def sizes(tf):
    x = tf.placeholder(tf.float32, [None, 7, None, 3])
    ys = [tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], p) for p in ("SAME", "VALID")]
    ys.append(tf.nn.avg_pool(tf.placeholder(tf.float32), [1, 3, 3, 1], [1, 2, 2, 1], "SAME"))
    ys.append(tf.nn.conv2d(x, tf.placeholder(tf.float32, [3, 3, None, None]), [1, 2, 2, 1], "SAME"))
    ys.append(tf.nn.conv2d_transpose(x, tf.zeros([3, 3, 5, 3]), [4, 14, 14, 5], 2))
    return static(*ys)


def nodes_made(tf):
    x, f = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x"), tf.placeholder(tf.float32, [2, 2, 2, 2], name="f")
    y = tf.nn.conv2d(x, f, 1, "SAME")
    tf.nn.max_pool(y, 2, 2, "VALID")
    tf.nn.avg_pool(y, 2, 2, "VALID", name="mean")
    tf.nn.conv2d_transpose(y, f, [1, 4, 4, 2], 1)
    tf.nn.conv1d(x[0], f[0], 1, "SAME")
    tf.nn.max_pool1d(x[0], 2, 1, "SAME")
    tf.nn.convolution(x, f, "VALID")
    return nodes(tf)


def _drawn_after(tf, make):
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        make()
        drawn = tf.random_uniform([])
        with tf.Session() as sess:
            return sess.run(drawn)


def dilated_nodes_made(tf):
    """TensorFlow makes more nodes where it does not know all sizes; draws after them have its seeds."""
    found = []
    for shape in ([2, 12, 3], [None, None, 3], [2, 12, 12, 3], [2, None, 12, 3], [2, 12, None, 12, 3]):
        spatial = len(shape) - 2
        layer = [tf.layers.conv1d, tf.layers.conv2d, tf.layers.conv3d][spatial - 1]
        for padding in ("SAME", "VALID"):
            for rates in ([2] * spatial, [2] + [1] * (spatial - 1)):
                x, kernel = (lambda: tf.placeholder(tf.float32, shape)), (lambda: tf.placeholder(tf.float32, [3] * spatial + [3, 4]))
                found.append(_drawn_after(tf, lambda: tf.nn.convolution(x(), kernel(), padding, dilation_rate=rates)))
                found.append(_drawn_after(tf, lambda: layer(x(), 4, 3, padding=padding, dilation_rate=rates)))
                if spatial == 2:
                    found.append(_drawn_after(tf, lambda: tf.nn.depthwise_conv2d(x(), kernel(), [1, 1, 1, 1], padding, rates)))
                    found.append(_drawn_after(tf, lambda: tf.layers.separable_conv2d(x(), 4, 3, padding=padding, dilation_rate=rates)))
    return found


def refused(tf):
    def x(shape=(1, 5, 5, 3)):
        return tf.zeros(shape)

    conv, pool = tf.nn.conv2d, tf.nn.max_pool
    return mistakes(
        tf,
        depths=lambda: conv(x(), tf.zeros([3, 3, 2, 1]), 1, "SAME"),
        ranks=lambda: conv(x((5, 5, 3)), tf.zeros([3, 3, 3, 1]), 1, "SAME"),
        filters_of_rank_three=lambda: conv(x(), tf.zeros([3, 3, 3]), 1, "SAME"),
        too_small=lambda: conv(x(), tf.zeros([7, 3, 3, 1]), 1, "VALID"),
        three_strides=lambda: conv(x(), tf.zeros([3, 3, 3, 1]), [1, 1, 1], "VALID"),
        no_strides=lambda: conv(x(), tf.zeros([3, 3, 3, 1]), [1, 0, 1, 1], "VALID"),
        strides_of_channels=lambda: conv(x(), tf.zeros([3, 3, 3, 1]), [1, 1, 1, 2], "VALID"),
        dilations=lambda: conv(x(), tf.zeros([3, 3, 3, 1]), 1, "VALID", dilations=[1, 0, 0, 1]),
        padding_word=lambda: conv(x(), tf.zeros([3, 3, 3, 1]), 1, "EXPLICIT"),
        three_paddings=lambda: conv(x(), tf.zeros([3, 3, 3, 1]), 1, [[0, 0], [1, 1], [1, 1]]),
        padding_of_batches=lambda: conv(x(), tf.zeros([3, 3, 3, 1]), 1, [[1, 0], [1, 1], [1, 1], [0, 0]]),
        both_filters=lambda: conv(x(), tf.zeros([3, 3, 3, 1]), 1, "SAME", filters=tf.zeros([3, 3, 3, 1])),
        order=lambda: tf.nn.conv1d(x((5, 5, 3)), tf.zeros([3, 3, 1]), 1, "SAME", data_format="WNC"),
        pool_too_small=lambda: pool(x(), 6, 1, "VALID"),
        pool_of_batches=lambda: pool(x(), [2, 2, 2, 1], 1, "VALID"),
        pool_of_channels=lambda: pool(x(), [1, 1, 1, 2], [1, 1, 1, 2], "VALID"),
        mean_of_channels=lambda: tf.nn.avg_pool(x(), [1, 1, 1, 3], [1, 1, 1, 3], "VALID"),
        pool_of_nothing=lambda: pool(x(), [1, 0, 2, 1], 1, "VALID"),
        pooling_type=lambda: tf.nn.pool(x(), [2, 2], "MIN", "VALID"),
        gradient=lambda: tf.nn.conv2d_backprop_input([1, 6, 5, 3], tf.zeros([3, 3, 3, 1]), tf.zeros([1, 3, 3, 1]), [1, 1, 1, 1], "VALID"),
    )
