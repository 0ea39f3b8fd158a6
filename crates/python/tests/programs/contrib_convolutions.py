"""`tf.contrib.layers`: convolutions and pools: values, names, scopes and training."""

import numpy as np

from programs.tools import initialize, mistakes, nodes, static

IMAGES = (np.arange(2 * 5 * 6 * 3, dtype=np.float32).reshape(2, 5, 6, 3) * 7 % 13) / 5
ROWS = (np.arange(2 * 7 * 3, dtype=np.float32).reshape(2, 7, 3) * 5 % 11) / 3


def _names(tf):
    kinds = tf.global_variables(), tf.trainable_variables(), tf.model_variables()
    return [[v.name for v in kind] for kind in kinds]


def _ramp(tf, shape):
    return tf.constant_initializer(np.linspace(-1, 1, int(np.prod(shape))).reshape(shape))


def _run(tf, fetches):
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(fetches)


def images(tf):
    layers = tf.contrib.layers
    x = tf.constant(IMAGES)
    ys = [
        layers.conv2d(x, 4, [3, 3], weights_initializer=_ramp(tf, [3, 3, 3, 4])),
        layers.conv2d(x, 4, 3, stride=2, padding="VALID", activation_fn=None, weights_initializer=_ramp(tf, [3, 3, 3, 4]), scope="b"),
        layers.convolution2d(x, 2, [2, 3], rate=2, biases_initializer=None, weights_initializer=_ramp(tf, [2, 3, 3, 2])),
        layers.convolution(x, 2, 1, stride=[2, 1], biases_initializer=tf.ones_initializer(), weights_initializer=_ramp(tf, [1, 1, 3, 2])),
    ]
    return [(y.name, static(y)) for y in ys], _run(tf, ys), _names(tf)


def images_enlarged(tf):
    layers = tf.contrib.layers
    x = tf.constant(IMAGES)
    ys = [
        layers.conv2d_transpose(x, 4, [3, 3], stride=2, weights_initializer=_ramp(tf, [3, 3, 4, 3])),
        layers.convolution2d_transpose(x, 2, 2, padding="VALID", activation_fn=None, weights_initializer=_ramp(tf, [2, 2, 2, 3]), scope="up"),
    ]
    return [(y.name, static(y)) for y in ys], _run(tf, ys), _names(tf)


def sequences(tf):
    layers = tf.contrib.layers
    ys = [
        layers.conv1d(tf.constant(ROWS), 4, 3, weights_initializer=_ramp(tf, [3, 3, 4])),
        layers.convolution1d(tf.constant(ROWS), 4, 3, stride=2, padding="VALID", weights_initializer=_ramp(tf, [3, 3, 4]), scope="b"),
    ]
    return [(y.name, static(y)) for y in ys], _run(tf, ys), _names(tf)


def pools(tf):
    layers = tf.contrib.layers
    x = tf.constant(IMAGES)
    ys = [
        layers.max_pool2d(x, [2, 2]),
        layers.max_pool2d(x, 3, stride=1, padding="SAME", scope="m"),
        layers.avg_pool2d(x, [2, 3]),
        layers.avg_pool2d(x, 2, [2, 1], "SAME", scope="a", outputs_collections="outs"),
    ]
    return [(y.name, static(y)) for y in ys], tf.get_collection("outs")[0].aliases, _run(tf, ys)


def nodes_of_a_convolution(tf):
    layers = tf.contrib.layers
    x = tf.placeholder(tf.float32, [None, 5, 6, 3], name="x")
    y = layers.conv2d(x, 4, 3, weights_regularizer=layers.l2_regularizer(0.1), biases_regularizer=layers.l1_regularizer(0.5))
    layers.max_pool2d(y, 2)
    return [n for n in nodes(tf) if "dilation" not in n], [t.name for t in tf.get_collection("regularization_losses")]


def reused(tf):
    layers = tf.contrib.layers
    x = tf.constant(IMAGES)
    y = layers.conv2d(x, 3, 3, scope="c", weights_regularizer=layers.l2_regularizer(0.1), variables_collections=["mine"], outputs_collections="outs")
    z = layers.conv2d(y, 3, 3, scope="c", reuse=True, weights_regularizer=layers.l2_regularizer(0.1))
    u = layers.repeat(z, 2, layers.conv2d, 3, [3, 3], scope="r")
    v = layers.stack(u, layers.conv2d, [(2, [1, 1]), (3, [3, 3])], scope="s")
    kinds = [[t.name for t in tf.get_collection(key)] for key in ("mine", "outs", "regularization_losses")]
    return [t.name for t in (y, z, u, v)], kinds, _names(tf)


def normalized(tf):
    layers = tf.contrib.layers
    params = {"decay": 0.9, "scale": True, "updates_collections": None}
    y = layers.conv2d(tf.constant(IMAGES), 4, 3, normalizer_fn=layers.batch_norm, normalizer_params=params, weights_initializer=_ramp(tf, [3, 3, 3, 4]))
    with tf.Session() as sess:
        initialize(tf, sess)
        found = [sess.run(y) for _ in range(2)]
        return found, sess.run(tf.get_collection("model_variables")), _names(tf)


def mistaken(tf):
    layers = tf.contrib.layers
    x = tf.constant(IMAGES)
    return mistakes(
        tf,
        data_format=lambda: layers.conv2d(IMAGES, 2, 3, data_format="N"),
        rank=lambda: layers.conv2d(ROWS, 2, 3),
        rank_1=lambda: layers.conv1d(IMAGES, 2, 3),
        matrix=lambda: layers.convolution(ROWS[0], 2, 3),
        transposed=lambda: layers.conv2d_transpose(IMAGES, 2, 3, data_format="NC"),
        pooled=lambda: layers.max_pool2d(IMAGES, 2, data_format="N"),
        kernel=lambda: layers.conv2d(IMAGES, 2, [3]),
    ), x.shape


def trained(tf):
    """Returns the losses of a small network for digits, with slim's scopes."""
    slim = tf.contrib.slim
    rng = np.random.RandomState(1)
    x = tf.constant(rng.rand(6, 12, 12, 1), tf.float32)
    labels = tf.constant(rng.randint(0, 3, [6]))
    training = tf.placeholder_with_default(True, [])
    weights = {"activation_fn": tf.nn.relu, "weights_regularizer": slim.l2_regularizer(0.0005)}
    with slim.arg_scope([slim.conv2d, slim.fully_connected], **weights):
        with slim.arg_scope([slim.conv2d], padding="SAME", normalizer_fn=slim.batch_norm, normalizer_params={"is_training": training, "decay": 0.8}):
            net = slim.conv2d(x, 4, [3, 3], weights_initializer=_ramp(tf, [3, 3, 1, 4]), scope="conv1")
            net = slim.max_pool2d(net, [2, 2], scope="pool1")
            net = slim.conv2d(net, 6, [3, 3], stride=2, weights_initializer=_ramp(tf, [3, 3, 4, 6]), scope="conv2")
            net = slim.avg_pool2d(net, [3, 3], stride=3, scope="pool2")
        net = slim.flatten(net)
        logits = slim.fully_connected(net, 3, activation_fn=None, weights_initializer=_ramp(tf, [6, 3]), scope="logits")
    tf.losses.sparse_softmax_cross_entropy(labels, logits)
    loss = tf.losses.get_total_loss()
    train = slim.learning.create_train_op(loss, tf.train.MomentumOptimizer(0.05, 0.9))
    losses = []
    with tf.Session() as sess:
        initialize(tf, sess)
        for _ in range(6):
            losses.append(sess.run(train))
        return np.float32(losses), sess.run(logits, {training: False}), _names(tf)


def separable(tf):
    slim = tf.contrib.slim
    x = tf.constant(np.linspace(-1, 1, 2 * 6 * 5 * 3).reshape(2, 6, 5, 3).astype(np.float32))
    ones, third = tf.constant_initializer(0.5), tf.constant_initializer(0.25)
    terms = tf.contrib.layers.l2_regularizer(0.1)
    made = [
        slim.separable_conv2d(x, 4, [3, 3], depth_multiplier=2, weights_initializer=ones, pointwise_initializer=third, weights_regularizer=terms),
        slim.separable_conv2d(x, 2, 3, 1, stride=2, weights_initializer=ones, activation_fn=None, scope="strided", padding="VALID"),
        slim.separable_conv2d(x, None, [3, 2], 2, weights_initializer=ones, biases_initializer=tf.ones_initializer(), scope="deep"),
        slim.separable_conv2d(x, None, 3, 1, rate=2, weights_initializer=ones, normalizer_fn=slim.batch_norm, scope="normal", variables_collections={"weights": ["w"]}),
    ]
    losses = tf.losses.get_regularization_losses()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values = sess.run(made + losses)
    names = [v.name for v in tf.global_variables()], [v.name for v in tf.contrib.slim.get_model_variables()], [v.name for v in tf.get_collection("w")]
    return values, names, [t.name for t in losses]


def separable_in_a_scope(tf):
    slim = tf.contrib.slim
    with slim.arg_scope([slim.separable_conv2d], padding="VALID", depth_multiplier=1) as scope:
        y = slim.separable_conv2d(tf.ones([1, 4, 4, 2]), 3, [2, 2], scope="s")
        z = slim.separable_convolution2d(tf.ones([1, 4, 4, 2]), 3, [2, 2], scope="s", reuse=True)
    return y.shape, z.shape, len(tf.global_variables()), scope[slim.arg_scope_func_key(slim.separable_conv2d)]
