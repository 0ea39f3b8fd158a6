"""`get_weights`, `set_weights`, `get_config` and `from_config` of `tf.layers.Layer`."""

import numpy as np

from programs.tools import initialize, mistakes

X = np.array([[1, 2, 3], [4, 7, 5]], np.float32)


def weights_that_are_set(tf):
    layer = tf.layers.Dense(2, kernel_initializer=tf.constant_initializer(0.5), name="dense")
    norm = tf.layers.BatchNormalization()
    y = norm(layer(tf.constant(X)))
    with tf.Session() as sess:
        initialize(tf, sess)
        found = [layer.get_weights(), norm.get_weights(), sess.run(y)]
        layer.set_weights([np.arange(6.0).reshape(3, 2), [1, -1] * np.ones(2)])
        norm.set_weights([np.full([2], v) for v in (2, 1, 0, 4)])
        return found, layer.get_weights(), norm.get_weights(), sess.run(y), tf.layers.Flatten().get_weights()


def weights_that_were_not_initialized(tf):
    layer = tf.layers.Dense(2, kernel_initializer=tf.ones_initializer())
    layer(tf.constant(X))
    with tf.Session():
        return layer.get_weights()


def weights_set_first(tf):
    layer = tf.layers.Dense(1, use_bias=False)
    y = layer(tf.constant(X))
    with tf.Session() as sess:
        layer.set_weights([np.ones([3, 1])])
        return sess.run(y)


def weights_that_do_not_fit(tf):
    def setting(*weights):
        def go():
            layer = tf.layers.Dense(2, name="d")
            layer(tf.constant(X))
            with tf.Session():
                layer.set_weights(list(weights))

        return go

    return mistakes(tf, number=setting(1.5), none=setting(), shape=setting(np.ones([3, 3]), np.ones(2)))


def configs(tf):
    class Plain(tf.layers.Layer):
        def call(self, inputs):
            return inputs

    class Other(tf.layers.Layer):
        def __init__(self, n, **kwargs):
            super(Other, self).__init__(**kwargs)
            self.n = n

        def get_config(self):
            return dict(super(Other, self).get_config(), n=self.n)

    class Silent(tf.layers.Layer):
        def __init__(self, n, **kwargs):
            super(Silent, self).__init__(**kwargs)

    layers = [Plain(name="a", dtype=tf.float64), Other(3, name="b", trainable=False), tf.layers.Dropout(0.3, seed=1, name="c")]
    layers.append(tf.layers.Flatten(name="d"))
    found = [sorted(layer.get_config().items()) for layer in layers]
    again = [type(layer).from_config(layer.get_config()) for layer in layers]
    return found, [sorted(layer.get_config().items()) for layer in again], mistakes(tf, silent=lambda: Silent(1).get_config())
