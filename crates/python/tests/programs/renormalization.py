"""Batch normalization with `renorm`, `virtual_batch_size`, `adjustment` or several axes."""

import numpy as np

from programs.tools import initialize, mistakes, static

X = np.array([[1, 2, 3], [4, 7, 5], [0, 5, 1], [3, 3, 3]], np.float32)
CUBE = (np.arange(48, dtype=np.float32).reshape(2, 2, 3, 4) * 7 % 11) / 3
BOUNDS = {"rmax": 1.5, "rmin": 0.7, "dmax": 0.4}


def _names(tf):
    return [[v.name for v in kind] for kind in (tf.global_variables(), tf.trainable_variables())]


def _steps(tf, y, feeds=({},) * 3):
    """Runs `y` and then the updates, several times; the updates change what `y` reads."""
    found = []
    updates = tf.get_collection("update_ops")
    with tf.Session() as sess:
        initialize(tf, sess)
        for feed in feeds:
            found.append(sess.run(y, feed))
            sess.run(updates, feed)
        return len(updates), found, sess.run(tf.global_variables())


def renormalized(tf):
    y = tf.layers.batch_normalization(tf.constant(X), momentum=0.8, training=True, renorm=True, renorm_momentum=0.7)
    return static(y), _steps(tf, y), _names(tf)


def renormalized_within_bounds(tf):
    y = tf.layers.batch_normalization(tf.constant(X), training=True, renorm=True, renorm_clipping=BOUNDS, renorm_momentum=0.5)
    z = tf.layers.batch_normalization(tf.constant(X), training=True, renorm=True, renorm_clipping={"rmax": tf.constant(2.0)}, scale=False)
    u = tf.layers.batch_normalization(tf.constant(X), training=True, renorm=True, renorm_clipping={"dmax": 0.1}, center=False)
    return _steps(tf, [y, z, u]), _names(tf)


def renormalized_images(tf):
    y = tf.layers.batch_normalization(tf.constant(CUBE), training=True, renorm=True, momentum=0.9, fused=True)
    z = tf.layers.batch_normalization(tf.constant(CUBE), axis=1, training=True, renorm=True, momentum=0.9)
    return static(y), static(z), _steps(tf, [y, z]), _names(tf)


def renormalized_when_asked(tf):
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.batch_normalization(tf.constant(X), momentum=0.7, training=training, renorm=True, renorm_clipping=BOUNDS, renorm_momentum=0.6)
    return _steps(tf, y, [{training: t} for t in (True, True, False, True, False)])


def renormalized_at_rest(tf):
    initial = dict(moving_mean_initializer=tf.constant_initializer(0.5), moving_variance_initializer=tf.constant_initializer(4.0))
    y = tf.layers.batch_normalization(tf.constant(X), renorm=True, **initial)
    return _steps(tf, y, [{}]), _names(tf)


def renormalized_and_trained(tf):
    layer = tf.layers.BatchNormalization(renorm=True, renorm_clipping=BOUNDS, momentum=0.8, renorm_momentum=0.8, name="bn")
    w = tf.Variable(tf.ones([3, 3]) + tf.linalg.diag([1.0, 2.0, 3.0]))
    y = layer(tf.matmul(tf.constant(X), w), training=True)
    loss = tf.reduce_sum(y * y * tf.constant(X))
    with tf.control_dependencies(layer.updates):
        step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    found = []
    with tf.Session() as sess:
        initialize(tf, sess)
        for _ in range(5):
            found.append(sess.run([loss, step])[0])
        return found, sess.run(tf.global_variables()), [v.name for v in layer.variables]


def virtual_batches(tf):
    y = tf.layers.batch_normalization(tf.constant(X), momentum=0.8, training=True, virtual_batch_size=2)
    z = tf.layers.batch_normalization(tf.constant(CUBE), momentum=0.8, training=True, virtual_batch_size=1, axis=2)
    u = tf.layers.batch_normalization(tf.constant(X), virtual_batch_size=2)
    shapes = [v.shape.as_list() for v in tf.global_variables()]
    return static(y), static(z), shapes, _steps(tf, [y, z, u]), _names(tf)


def virtual_batches_of_unknown_size(tf):
    x = tf.placeholder(tf.float32, [None, 3])
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.batch_normalization(x, momentum=0.6, training=training, virtual_batch_size=2, renorm=True)
    feeds = [{x: X, training: True}, {x: np.concatenate([X, X[:2]]), training: True}, {x: X[1:3], training: False}]
    return static(y), _steps(tf, y, feeds)


def adjusted(tf):
    def adjustment(shape):
        return tf.linspace(0.9, 1.1, shape[-1]), tf.cast(tf.range(shape[-1]), tf.float32) / 10

    training = tf.placeholder(tf.bool, [])
    y = tf.layers.batch_normalization(tf.constant(X), training=True, adjustment=adjustment)
    z = tf.layers.batch_normalization(tf.constant(X), training=training, adjustment=adjustment, scale=False, renorm=True)
    u = tf.layers.batch_normalization(tf.constant(X), training=False, adjustment=adjustment)
    return _steps(tf, [y, z, u], [{training: t} for t in (True, False, True)]), _names(tf)


def several_axes(tf):
    y = tf.layers.batch_normalization(tf.constant(CUBE), axis=[1, 3], momentum=0.8, training=True)
    z = tf.layers.batch_normalization(tf.constant(CUBE), axis=[-1], momentum=0.8, training=True)
    u = tf.layers.batch_normalization(tf.constant(CUBE[0]), axis=[0, 1], renorm=True, momentum=0.8, training=True)
    shapes = [v.shape.as_list() for v in tf.global_variables()]
    return static(y), shapes, _steps(tf, [y, z, u])


def half_precision(tf):
    y = tf.layers.batch_normalization(tf.constant(X, tf.float16), momentum=0.8, training=True)
    z = tf.layers.batch_normalization(tf.constant(X, tf.float16), momentum=0.8, training=True, renorm=True)
    kinds = [v.dtype.base_dtype.name for v in tf.global_variables()]
    return static(y), static(z), kinds, _steps(tf, [y, z])


def renormalized_by_contrib(tf):
    layers = tf.contrib.layers
    y = layers.batch_norm(tf.constant(X), 0.8, renorm=True, renorm_clipping=BOUNDS, renorm_decay=0.6, scale=True, scope="a")
    z = layers.batch_norm(tf.constant(CUBE), 0.8, data_format="NCHW", renorm=True, scope="b")
    u = layers.batch_norm(tf.constant(X), 0.8, adjustment=lambda shape: (tf.fill(shape[-1:], 1.5), tf.fill(shape[-1:], 0.5)), scope="c")
    return _steps(tf, [y, z, u]), _names(tf), [v.name for v in tf.model_variables()]


def not_renormalized(tf):
    def layer(**options):
        return lambda: tf.layers.batch_normalization(tf.constant(X), training=True, **options)

    def contrib(**options):
        return lambda: tf.contrib.layers.batch_norm(tf.constant(X), renorm=True, **options)

    return mistakes(
        tf,
        other_bound=layer(renorm=True, renorm_clipping={"rmax": 1.0, "mmax": 2.0}),
        kind_of_axis=layer(axis=1.0),
        far_axis=layer(axis=[0, 2]),
        axis_twice=layer(axis=[1, -1]),
        no_virtual_batch=layer(virtual_batch_size=0),
        virtual_batch_axis=layer(axis=0, virtual_batch_size=2),
        virtual_and_adjusted=layer(virtual_batch_size=2, adjustment=lambda shape: (1.0, 0.0)),
        weights=contrib(batch_weights=[1.0, 2.0, 0.0, 1.0]),
        collection=contrib(updates_collections=None),
        debiased=contrib(zero_debias_moving_mean=True),
    )
