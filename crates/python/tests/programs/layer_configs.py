"""`get_config` and `from_config` of `tf.layers`, and activations and initializers given by name."""

import functools

import numpy as np

from programs.tools import mistakes, run

X = np.array([[1, -2, 3], [4, 7, 5]], np.float32)


def _layers(tf):
    layers = tf.layers
    return [
        layers.Dense(3, name="a"),
        layers.Dense(3, activation=tf.nn.relu, use_bias=False, kernel_initializer=tf.constant_initializer(2.0), name="b"),
        layers.Dense(2, bias_initializer=tf.random_normal_initializer(stddev=0.1, seed=3), trainable=False, name="c"),
        layers.BatchNormalization(name="d"),
        layers.BatchNormalization(axis=[1], momentum=0.9, scale=False, renorm=True, renorm_clipping={"rmax": 2.0}, name="e"),
        layers.BatchNormalization(virtual_batch_size=2, fused=False, gamma_initializer=tf.zeros_initializer(), name="f"),
        layers.Conv1D(3, 2, name="g"),
        layers.Conv2D(3, (2, 1), strides=2, padding="SAME", activation=tf.nn.softplus, name="h"),
        layers.Conv3D(3, 2, dilation_rate=2, data_format="channels_first", name="i"),
        layers.SeparableConv1D(3, 2, name="j"),
        layers.SeparableConv2D(3, 2, depth_multiplier=2, pointwise_initializer=tf.orthogonal_initializer(), name="k"),
        layers.Conv2DTranspose(3, 2, 2, activation=tf.tanh, name="l"),
        layers.Conv3DTranspose(3, 2, name="m"),
        layers.MaxPooling1D(2, 1, name="n"),
        layers.MaxPooling2D(2, 2, "same", name="o"),
        layers.AveragePooling3D(2, (1, 2, 1), data_format="channels_first", name="p"),
    ]


def _sorted(config):
    return sorted((key, sorted(value.items()) if isinstance(value, dict) else value) for key, value in config.items())


def configs(tf):
    return [(type(layer).__name__, _sorted(layer.get_config())) for layer in _layers(tf)]


def config_of_a_constraint(tf):
    config = tf.layers.Dense(2, kernel_constraint=tf.identity, bias_regularizer=tf.nn.l2_loss, name="a").get_config()
    return _sorted(config), mistakes(tf, again=lambda: tf.layers.Dense.from_config(dict(config, bias_regularizer=None)))


def names_of_layers(tf):
    x, layers = tf.ones([1, 2]), tf.layers
    first, second, named, other = layers.Dense(2), layers.Dense(2), layers.Dense(2, name="n"), layers.Dense(2, name="n")
    found = [layer.name for layer in (first, second, named, other)]
    for layer in (second, first, named, other):
        layer(x)
        found.append((layer.name, layer.scope_name, layer.variables[0].name))
    found.append((layers.dense(x, 2).name, layers.Dense(2).name))
    with tf.variable_scope("s"):
        inner = layers.Dense(2)
        inner(x)
        found.append((inner.name, inner.scope_name))
    found += [tf.nn.rnn_cell.BasicLSTMCell(2).name, tf.nn.rnn_cell.GRUCell(2, name="g").name, layers.Conv2D(2, 2).name]
    with tf.Graph().as_default():
        found.append(layers.Dense(2).name)
    return found


def layers_of_configs(tf):
    found = []
    for layer in _layers(tf):
        again = type(layer).from_config(layer.get_config())
        found.append((layer.name, again.name, again.get_config() == layer.get_config() or _sorted(again.get_config())))
    return found


def layers_of_configs_compute_the_same(tf):
    layer = tf.layers.Dense(2, activation=tf.nn.relu, kernel_initializer=tf.constant_initializer(0.5), name="one")
    again = tf.layers.Dense.from_config(layer.get_config())
    image = np.arange(16, dtype=np.float32).reshape([1, 4, 4, 1])
    conv = tf.layers.Conv2D(1, 2, kernel_initializer=tf.ones_initializer(), activation=tf.nn.sigmoid, name="two")
    norm = tf.layers.BatchNormalization.from_config(tf.layers.BatchNormalization(epsilon=0.5, name="three").get_config())
    return run(tf, [layer(X), again(X), tf.layers.Conv2D.from_config(conv.get_config())(image), norm(X, training=True)]), again.name


def configs_of_activations(tf):
    functions = [None, "relu", "linear", "softmax", lambda x: x, tf.nn.softmax, tf.nn.softplus, tf.identity, tf.nn.relu6, tf.sigmoid, tf.nn.sigmoid]
    functions += [tf.nn.leaky_relu, tf.nn.elu, tf.nn.log_softmax, tf.abs, tf.tanh, tf.nn.tanh, tf.nn.softsign, tf.nn.selu]
    return [tf.layers.Dense(2, activation=function).get_config()["activation"] for function in functions]


def activations_by_name(tf):
    ones = tf.ones_initializer()
    names = "linear relu tanh sigmoid softmax elu selu softplus softsign exponential hard_sigmoid".split()
    found = [tf.layers.dense(X, 2, activation=name, kernel_initializer=ones) for name in names]
    found.append(tf.layers.dense(X[:, None], 2, activation="softmax", kernel_initializer="zeros"))
    found.append(tf.layers.conv1d(X[:, :, None], 2, 2, activation="relu", kernel_initializer="ones"))
    return [np.round(v.astype(np.float64), 5) for v in run(tf, found)]


def initializers_by_name(tf):
    names = "zeros ones glorot_uniform glorot_normal he_normal he_uniform lecun_normal lecun_uniform uniform normal orthogonal".split()
    names += "truncated_normal random_uniform random_normal identity constant Zeros RandomNormal GlorotUniform VarianceScaling Orthogonal".split()
    names += [{"class_name": "Constant", "config": {"value": 2.0}}, {"class_name": "RandomUniform", "config": {"minval": 0.0, "seed": 3}}]
    return [sorted(tf.layers.Dense(2, kernel_initializer=name).get_config()["kernel_initializer"].items()) for name in names]


def values_by_the_name_of_an_initializer(tf):
    tf.set_random_seed(3)
    names = "glorot_uniform he_normal lecun_uniform uniform normal truncated_normal identity".split()
    layers = [tf.layers.Dense(3, kernel_initializer=name) for name in names]
    for layer in layers:
        layer(X)
    return run(tf, [layer.kernel for layer in layers])


def configs_of_initializers(tf):
    found = [tf.constant_initializer(3), tf.glorot_uniform_initializer(), tf.glorot_normal_initializer(seed=2), tf.variance_scaling_initializer()]
    found += [tf.uniform_unit_scaling_initializer(), tf.orthogonal_initializer(2.0), tf.random_uniform_initializer(dtype=tf.float64)]
    return [sorted(one.get_config().items(), key=str) for one in found]


def no_such_arguments(tf):
    dense = tf.layers.Dense
    return mistakes(
        tf,
        activation=lambda: dense(2, activation="nope"),
        activation_number=lambda: dense(2, activation=3),
        initializer=lambda: dense(2, kernel_initializer="nope"),
        initializer_number=lambda: tf.layers.Conv2D(2, 2, kernel_initializer=3),
        initializer_class=lambda: dense(2, kernel_initializer={"class_name": "Nope", "config": {}}),
        initializer_dict=lambda: dense(2, bias_initializer={}),
        partial=lambda: dense(2, activation=functools.partial(tf.nn.leaky_relu, alpha=0.1)).get_config(),
    )
