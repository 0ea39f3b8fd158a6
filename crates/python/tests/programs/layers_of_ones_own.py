"""Layers of one's own: arguments, structures of inputs, losses, updates, and what inputs must be."""

import numpy as np

from programs.tools import caught, initialize, run


def _layer(tf, **spec):
    class Mine(tf.layers.Layer):
        def __init__(self, n, **kwargs):
            super(Mine, self).__init__(**kwargs)
            self.n = n

        def build(self, shape):
            self.seen = shape
            self.w = self.add_variable("w", [3, self.n], initializer=tf.ones_initializer(), regularizer=tf.reduce_sum)
            self.u = self.add_weight("u", shape=[2], trainable=False, initializer=tf.zeros_initializer())
            if spec:
                self.input_spec = tf.layers.InputSpec(**spec)
            super(Mine, self).build(shape)

        def call(self, x, factor=1.0, training=False):
            if isinstance(x, (list, tuple)):
                x = x[0] + x[1]
            x = x * factor if training else x
            self.add_loss(tf.reduce_sum(x), inputs=True)
            self.add_update(tf.assign(self.u, [1.0, 2.0]), inputs=True)
            return tf.matmul(x, self.w)

    return Mine


def arguments(tf):
    layer = _layer(tf)(2, name="a")
    made = [layer(tf.ones([2, 3]), 5.0), layer(np.ones([2, 3], np.float32), training=True, factor=3.0), layer.apply(tf.ones([1, 3]), 2.0, True)]
    with tf.Session() as sess:
        initialize(tf, sess)
        values = sess.run(made + layer.losses[:2])
        sess.run(tf.get_collection("update_ops"))
        return values, sess.run(layer.u), len(layer.losses), [op.name for op in layer.updates], [t.name for t in made]


def structures(tf):
    first, second = _layer(tf)(2, name="a"), _layer(tf)(2, name="b")
    made = first([tf.ones([2, 3]), tf.ones([2, 3])]), second((tf.ones([2, 3]), tf.zeros([1, 3])))
    shapes = [[s.as_list() for s in layer.seen] for layer in (first, second)]
    return run(tf, made), type(first.seen).__name__, type(second.seen).__name__, shapes


def collections(tf):
    layer = _layer(tf)(2, name="a")
    layer(tf.ones([2, 3]))
    kinds = "regularization_losses", "update_ops"
    names = [[t.name for t in tf.get_collection(kind)] for kind in kinds]
    return names, layer.count_params(), layer.scope_name, len(layer.get_losses_for(None)), caught(_layer(tf)(2).count_params, "You tried to call `count_params` on")


def activity(tf):
    def penalty(y):
        return tf.reduce_sum(tf.abs(y))

    ones = tf.ones_initializer()
    dense = tf.layers.Dense(2, kernel_initializer=ones, activity_regularizer=penalty)
    images = tf.layers.Conv2D(2, 1, kernel_initializer=ones, activity_regularizer=penalty, name="c")
    dense(tf.ones([4, 3]))
    images(tf.ones([5, 2, 2, 1]))
    tf.layers.dense(tf.ones([2, 2]), 3, kernel_initializer=ones, activity_regularizer=penalty, name="f")
    losses = tf.losses.get_regularization_losses()
    return run(tf, losses), [t.name for t in losses], [t.name for t in dense.losses]


def updates_of_normalization(tf):
    layer = tf.layers.BatchNormalization(name="n")
    layer(tf.ones([4, 3]), training=True)
    return len(layer.updates), [op in tf.get_collection("update_ops") for op in layer.updates]


def specifications(tf):
    found = {}
    inputs = {"matrix": [2, 3], "wide": [2, 4], "vector": [2], "cube": [2, 3, 4], "unknown": None, "open": [None, None]}
    for key, spec in (("ndim", dict(ndim=2)), ("least", dict(min_ndim=2)), ("most", dict(max_ndim=2)), ("axes", dict(axes={-1: 3})), ("shape", dict(shape=(None, 3)))):
        for name, shape in inputs.items():
            if (key, name) == ("axes", "unknown"):
                continue
            layer = _spec_layer(tf, spec)
            with tf.Graph().as_default():
                x = tf.placeholder(tf.float32, shape)
                one = layer(name="q")
                one(tf.ones([2, 3]))
                try:
                    one(x)
                    found[key + " " + name] = "fine"
                except ValueError as error:
                    found[key + " " + name] = str(error)
    return found, [str(tf.layers.InputSpec(**s)) for s in (dict(ndim=2), dict(min_ndim=1, axes={-1: 3}), dict(shape=(None, 3), dtype=tf.float32))]


def _spec_layer(tf, spec):
    class Mine(tf.layers.Layer):
        def build(self, shape):
            self.input_spec = tf.layers.InputSpec(**spec)
            super(Mine, self).build(shape)

        def call(self, x):
            return x

    return Mine
