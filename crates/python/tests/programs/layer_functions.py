"""`tf.layers`: dense layers, dropout, batch normalization, and the names of their variables."""

import numpy as np

from programs.tools import caught, initialize, nodes, static


def _names(tf):
    return [v.name for v in tf.global_variables()], [v.name for v in tf.trainable_variables()]


def _run(tf, fetches, feeds=None):
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(fetches, feeds)


X = np.arange(6, dtype=np.float32).reshape(2, 3)


def dense(tf):
    y = tf.layers.dense(X, 4, tf.nn.relu, kernel_initializer=tf.constant_initializer(0.5), bias_initializer=tf.ones_initializer())
    return y.name, static(y), _run(tf, y), _names(tf)


def dense_names(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    tf.layers.dense(x, 4, tf.nn.relu)
    tf.layers.dense(x, 4, name="out", use_bias=False)
    return nodes(tf)


def dense_shared(tf):
    kernel = tf.constant_initializer(0.5)
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        a = tf.layers.dense(X, 2, name="d", kernel_initializer=kernel)
        b = tf.layers.dense(X, 2, name="d", kernel_initializer=kernel)
    return a.name, b.name, _names(tf), _run(tf, [a, b])


def dense_reused(tf):
    tf.layers.dense(X, 2, name="d")
    again = tf.layers.dense(X, 2, name="d", reuse=True)
    return again.name, _names(tf), caught(lambda: tf.layers.dense(X, 2, name="d"))


def dense_object_called_twice(tf):
    layer = tf.layers.Dense(2, kernel_initializer=tf.ones_initializer(), name="twice")
    a, b = layer(X), layer(X + 1)
    kinds = [[v.name for v in vs] for vs in (layer.variables, layer.trainable_variables, layer.non_trainable_variables)]
    return a.name, b.name, layer.name, layer.built, kinds, _run(tf, [a, b])


def dense_of_rank_three(tf):
    x = tf.placeholder(tf.float32, [2, None, 3])
    y = tf.layers.dense(x, 4, kernel_initializer=tf.constant_initializer(0.5))
    return static(y), _run(tf, y, {x: np.arange(30).reshape(2, 5, 3)})


def dense_regularized(tf):
    tf.layers.dense(X, 2, kernel_initializer=tf.ones_initializer(), kernel_regularizer=tf.nn.l2_loss)
    return _run(tf, tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)), _run(tf, tf.losses.get_regularization_loss())


def dense_misused(tf):
    return (
        caught(lambda: tf.layers.dense(tf.placeholder(tf.float32, [None, None]), 3), "last dimension", "should be defined"),
        caught(lambda: tf.layers.dense(tf.ones([3]), 4), "expected min_ndim=2, found ndim=1"),
        caught(lambda: tf.layers.dense(tf.placeholder(tf.float32), 3)),
    )


def dense_gradients(tf):
    y = tf.layers.dense(X, 2, kernel_initializer=tf.constant_initializer(0.5))
    return _run(tf, tf.gradients(tf.reduce_sum(y * y), tf.trainable_variables()))


def dropout(tf):
    x = tf.ones([4, 5])
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.dropout(x, 0.4, training=training)
    kept = _run(tf, y, {training: True})
    return _run(tf, y, {training: False}), sorted(set(np.round(kept, 4).ravel().tolist())) in ([0.0, 1.6667], [1.6667], [0.0])


def dropout_at_rest(tf):
    return _run(tf, tf.layers.dropout(tf.ones([2, 2]), 0.4)), tf.layers.dropout(tf.ones([2, 2]), 0.4).name


def flatten(tf):
    x = tf.placeholder(tf.float32, [None, 3, 4])
    y = tf.layers.flatten(x)
    z = tf.layers.flatten(tf.placeholder(tf.float32, [5, None, 4]))
    return y.name, static(y), static(z), _run(tf, tf.shape(y), {x: np.zeros([2, 3, 4])})


def batch_normalization_training(tf):
    y = tf.layers.batch_normalization(X, training=True, momentum=0.9)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    moving = [v for v in tf.global_variables() if "moving" in v.name]
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(y), len(updates), sess.run(updates) and None, sess.run(moving), _names(tf)


def batch_normalization_at_rest(tf):
    y = tf.layers.batch_normalization(X, moving_mean_initializer=tf.constant_initializer(1.0), gamma_initializer=tf.constant_initializer(3.0))
    return y.name, static(y), _run(tf, y), len(tf.get_collection(tf.GraphKeys.UPDATE_OPS))


def batch_normalization_by_tensor(tf):
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.batch_normalization(X, training=training, momentum=0.5, scale=False)
    updates = tf.group(*tf.get_collection(tf.GraphKeys.UPDATE_OPS))
    moving = [v for v in tf.global_variables() if "moving" in v.name]
    with tf.Session() as sess:
        initialize(tf, sess)
        out = []
        for flag in (True, False, True):
            sess.run(updates, {training: flag})
            out.append((sess.run(y, {training: flag}), sess.run(moving)))
        return out, _names(tf)


def batch_normalization_trained(tf):
    y = tf.layers.batch_normalization(tf.layers.dense(X, 3, kernel_initializer=tf.constant_initializer(0.5)), training=True)
    loss = tf.reduce_sum(tf.square(y - 1.0))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    with tf.Session() as sess:
        initialize(tf, sess)
        for _ in range(3):
            sess.run(step)
        return sess.run(loss), sess.run([v for v in tf.global_variables() if "moving" in v.name])


def batch_normalization_over_another_axis(tf):
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    return _run(tf, tf.layers.batch_normalization(x, axis=1, training=True))


def a_layer_of_ones_own(tf):
    class Scale(tf.layers.Layer):
        def build(self, input_shape):
            self.scale = self.add_weight("scale", [int(input_shape[-1])], initializer=tf.constant_initializer(2.0))
            self.built = True

        def call(self, inputs):
            return inputs * self.scale

    layer = Scale()
    a = layer(tf.constant(X))
    return static(a), _run(tf, a), _names(tf), [v.name for v in layer.weights]
