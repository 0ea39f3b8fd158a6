"""Convolutions and pools of `tf.layers`."""

import numpy as np

from programs.convolutions import _whole
from programs.tools import mistakes, nodes, run, static


def _made(tf, y):
    return y.name, static(y), [v.name for v in tf.global_variables()], static(*tf.global_variables()), run(tf, y)


def images(tf):
    kernel = tf.constant_initializer(_whole(3, 3, 2, 4))
    y = tf.layers.conv2d(_whole(1, 5, 5, 2), 4, 3, strides=2, padding="same", activation=tf.nn.relu, kernel_initializer=kernel, bias_initializer=tf.ones_initializer())
    return _made(tf, y)


def sequences(tf):
    y = tf.layers.conv1d(_whole(2, 6, 2), 3, 2, dilation_rate=2, kernel_initializer=tf.constant_initializer(_whole(2, 2, 3)))
    return _made(tf, y)


def transposed(tf):
    kernel = tf.constant_initializer(_whole(3, 3, 4, 2))
    y = tf.layers.conv2d_transpose(_whole(1, 3, 3, 2), 4, 3, strides=(2, 2), kernel_initializer=kernel)
    z = tf.layers.conv2d_transpose(tf.placeholder(tf.float32, [None, 3, None, 2]), 4, 3, strides=2, padding="same")
    return _made(tf, y), z.name, static(z)


def pools(tf):
    x = _whole(1, 5, 5, 2)
    ys = [
        tf.layers.max_pooling2d(x, 2, 2),
        tf.layers.average_pooling2d(x, (2, 3), 1, padding="SAME"),
        tf.layers.max_pooling1d(x[0], 2, 2),
        tf.layers.average_pooling1d(x[0], 2, 1, padding="same", name="mean"),
    ]
    return [y.name for y in ys], static(*ys), run(tf, ys)


def classes(tf):
    layer = tf.layers.Conv2D(2, (2, 2), kernel_initializer=tf.ones_initializer(), name="twice")
    x = tf.constant(_whole(1, 3, 3, 1))
    a, b = layer(x), layer(x + 1)
    more = [
        tf.layers.Conv1D(2, 2, kernel_initializer=tf.ones_initializer())(x[0]),
        tf.layers.Conv2DTranspose(1, 2, kernel_initializer=tf.ones_initializer())(x),
        tf.layers.MaxPooling2D(2, 1)(x),
        tf.layers.MaxPooling1D(2, 1)(x[0]),
        tf.layers.AveragePooling2D(2, 1)(x),
        tf.layers.AveragePooling1D(2, 1)(x[0]),
    ]
    return layer.name, [v.name for v in layer.variables], [y.name for y in [a, b, *more]], run(tf, [a, b, *more])


def nodes_made(tf):
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    y = tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu, use_bias=True)
    y = tf.layers.max_pooling2d(y, 2, 2)
    y = tf.layers.conv2d(y, 4, 1, use_bias=False, name="last")
    tf.layers.conv1d(y[:, 0], 2, 2)
    return nodes(tf)


def trained(tf):
    np.random.seed(0)
    x, wanted = _whole(4, 6, 6, 1) / 5, np.float32([[0], [1], [1], [0]])
    kernel = tf.constant_initializer(_whole(3, 3, 1, 4) / 10)
    y = tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu, kernel_initializer=kernel)
    y = tf.layers.flatten(tf.layers.max_pooling2d(y, 2, 2))
    y = tf.layers.dense(y, 1, kernel_initializer=tf.constant_initializer(0.1))
    loss = tf.reduce_mean(tf.square(y - wanted))
    step = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [float(np.round(sess.run([loss, step])[0], 4)) for _ in range(10)]


def refused(tf):
    def x(shape=(1, 5, 5, 3)):
        return tf.zeros(shape)

    layers = tf.layers
    return mistakes(
        tf,
        rank=lambda: layers.conv2d(x((5, 5, 3)), 2, 3, name="named"),
        channels=lambda: layers.conv2d(tf.placeholder(tf.float32, [1, 5, 5, None]), 2, 3),
        kernel_size=lambda: layers.conv2d(x(), 2, (1, 2, 3)),
        strides=lambda: layers.conv2d(x(), 2, 3, strides=(1,)),
        padding=lambda: layers.conv2d(x(), 2, 3, padding="wide"),
        order=lambda: layers.conv2d(x(), 2, 3, data_format="channels"),
        pool_rank=lambda: layers.max_pooling2d(x((5, 5, 3)), 2, 2, name="named"),
        pool_size=lambda: layers.max_pooling2d(x(), (1, 2, 3), 2),
    )
