"""`tf.contrib.layers`: normalizations, their moving averages and collections; `optimize_loss`; summaries."""

import numpy as np

from programs.tools import caught, initialize, mistakes, static

X = np.array([[1, 2, 3], [4, 7, 5], [0, 5, 1], [3, 3, 3]], np.float32)
CUBE = (np.arange(48, dtype=np.float32).reshape(2, 2, 3, 4) * 7 % 11) / 3


def _names(tf):
    kinds = tf.global_variables(), tf.trainable_variables(), tf.model_variables()
    return [[v.name for v in kind] for kind in kinds]


def _steps(tf, fetches, steps=3, feeds=None):
    """Runs fetches several times; updates of averages belong to them."""
    with tf.Session() as sess:
        initialize(tf, sess)
        return [sess.run(fetches, feeds) for _ in range(steps)], sess.run(tf.global_variables())


def _updated(tf, y):
    with tf.control_dependencies(tf.get_collection("update_ops")):
        return tf.identity(y)


def batch_of_rank_two(tf):
    y = tf.contrib.layers.batch_norm(tf.constant(X))
    count = len(tf.get_collection("update_ops"))
    return y.name, static(y), count, _steps(tf, _updated(tf, y)), _names(tf)


def batch_scaled(tf):
    layers = tf.contrib.layers
    initial = {"gamma": tf.constant_initializer(2.0), "beta": tf.ones_initializer(), "moving_mean": tf.constant_initializer(0.5)}
    terms = {"beta": layers.l2_regularizer(0.5), "gamma": layers.l1_regularizer(0.5)}
    y = layers.batch_norm(tf.constant(X), 0.9, scale=True, activation_fn=tf.nn.relu, param_initializers=initial, param_regularizers=terms, scope="bn")
    losses = tf.get_collection("regularization_losses")
    return y.name, [t.name for t in losses], _steps(tf, [_updated(tf, y)] + losses), _names(tf)


def batch_in_place(tf):
    y = tf.contrib.layers.batch_norm(tf.constant(X), 0.8, updates_collections=None, scope="a")
    z = tf.contrib.layers.batch_norm(tf.constant(X), 0.8, updates_collections=None, zero_debias_moving_mean=True, scope="b")
    return len(tf.get_collection("update_ops")), _steps(tf, [y, z]), _names(tf)


def batch_elsewhere(tf):
    y = tf.contrib.layers.batch_norm(tf.constant(X), 0.8, updates_collections="mine", outputs_collections="outs", variables_collections={"beta": ["b"]})
    kinds = [len(tf.get_collection(key)) for key in ("mine", "update_ops", "outs", "b")]
    with tf.control_dependencies(tf.get_collection("mine")):
        y = tf.identity(y)
    return kinds, tf.get_collection("outs")[0].aliases, _steps(tf, y)


def batch_not_training(tf):
    layers = tf.contrib.layers
    y = layers.batch_norm(tf.constant(X), is_training=False, scale=True)
    z = layers.batch_norm(tf.constant(CUBE), is_training=False, epsilon=1e-9)
    u = layers.batch_norm(tf.constant(CUBE[0]), is_training=False, updates_collections=None)
    return len(tf.get_collection("update_ops")), _steps(tf, [y, z, u], 1), _names(tf)


def batch_asked_each_time(tf):
    layers = tf.contrib.layers
    training = tf.placeholder(tf.bool, [])
    ys = [
        layers.batch_norm(tf.constant(X), 0.7, is_training=training),
        layers.batch_norm(tf.constant(X), 0.7, is_training=training, updates_collections=None),
        layers.batch_norm(tf.constant(CUBE[0]), 0.7, is_training=training),
        layers.batch_norm(tf.constant(CUBE), 0.7, is_training=training),
        layers.batch_norm(tf.constant(X), 0.7, is_training=training, batch_weights=[1.0, 2.0, 0.0, 1.0]),
        layers.batch_norm(tf.constant(X), 0.7, is_training=training, fused=False, updates_collections=None),
    ]
    ys[0] = _updated(tf, ys[0])
    found = []
    with tf.Session() as sess:
        initialize(tf, sess)
        for value in (True, True, False, True, False):
            found.append(sess.run(ys, {training: value}))
        return found, sess.run(tf.global_variables()), _names(tf)


def batch_of_rank_four(tf):
    layers = tf.contrib.layers
    y = layers.batch_norm(tf.constant(CUBE), 0.9, scale=True, scope="a")
    z = layers.batch_norm(tf.constant(CUBE), 0.9, scale=True, scope="b", updates_collections=None)
    return static(y), _steps(tf, [_updated(tf, y), z]), _names(tf)


def batch_of_other_ranks(tf):
    layers = tf.contrib.layers
    terms = {"gamma": layers.l2_regularizer(0.5)}
    y = layers.batch_norm(tf.constant(CUBE[0]), 0.9, scale=True, scope="a", param_regularizers=terms)
    z = layers.batch_norm(tf.constant(X), 0.9, fused=False, scale=True, scope="b", variables_collections=["v"])
    u = layers.batch_norm(tf.constant(CUBE), 0.9, fused=False, scope="c", data_format="NCHW")
    v = layers.batch_norm(tf.constant(CUBE), 0.9, fused=False, scope="d", data_format="NCHW", updates_collections=None, scale=True)
    found = [t.name for t in tf.get_collection("v")], [t.name for t in tf.get_collection("regularization_losses")]
    return y.name, found, _steps(tf, [_updated(tf, y), z, u, v]), _names(tf)


def batch_weighted(tf):
    y = tf.contrib.layers.batch_norm(tf.constant(X), 0.9, scale=True, batch_weights=[1.0, 2.0, 0.0, 1.0])
    z = tf.contrib.layers.batch_norm(tf.constant(CUBE), 0.9, batch_weights=tf.constant([1.0, 2.0]), updates_collections=None)
    return _steps(tf, [_updated(tf, y), z]), _names(tf)


def batch_reused(tf):
    layers = tf.contrib.layers
    y = layers.batch_norm(tf.constant(X), scope="bn")
    z = layers.batch_norm(tf.constant(X), scope="bn", reuse=True)
    u = layers.batch_norm(tf.constant(CUBE[0]), scope="c")
    v = layers.batch_norm(tf.constant(CUBE[0]), scope="c", reuse=True)
    return [t.name for t in (y, z)], len(tf.get_collection("update_ops")), _names(tf), u.shape == v.shape


def batch_of_one_row(tf):
    y = tf.contrib.layers.batch_norm(tf.constant(X[:1]), 0.5, updates_collections=None)
    return _steps(tf, y, 1)


def batch_of_half_floats(tf):
    y = tf.contrib.layers.batch_norm(tf.constant(X, tf.float16), 0.5, updates_collections=None, fused=False)
    return y.dtype, [v.dtype.base_dtype for v in tf.global_variables()], _names(tf)


def batch_mistakes(tf):
    norm = tf.contrib.layers.batch_norm
    return mistakes(
        tf,
        data_format=lambda: norm(tf.constant(X), data_format="NC"),
        channels=lambda: norm(tf.placeholder(tf.float32, [2, None])),
        rank=lambda: norm(tf.placeholder(tf.float32), updates_collections=None, fused=False),
        channels_fused=lambda: norm(tf.placeholder(tf.float32, [2, 2, 2, None]), updates_collections=None),
        channels_unfused=lambda: norm(tf.placeholder(tf.float32, [2, None]), updates_collections=None, fused=False),
        weights=lambda: norm(tf.constant(X), batch_weights=[1.0]),
        twice=lambda: [norm(tf.constant(X), scope="a") for _ in range(2)][1],
    )


def batch_trained(tf):
    """Returns losses, and what the network gives outside of training."""
    layers = tf.contrib.layers
    training = tf.placeholder(tf.bool, [])
    target = tf.constant([[1.0], [0.0], [2.0], [1.0]])
    first = tf.constant_initializer(np.linspace(-1, 1, 12).reshape(3, 4))
    params = {"is_training": training, "decay": 0.9, "scale": True}
    with tf.contrib.framework.arg_scope([layers.fully_connected], normalizer_fn=layers.batch_norm, normalizer_params=params):
        hidden = layers.fully_connected(tf.constant(X), 4, weights_initializer=first)
        hidden = layers.fully_connected(hidden, 3, weights_initializer=tf.constant_initializer(np.linspace(1, -1, 12).reshape(4, 3)))
    y = layers.linear(hidden, 1, weights_initializer=tf.constant_initializer(0.5))
    loss = tf.losses.mean_squared_error(target, y)
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    with tf.control_dependencies(tf.get_collection("update_ops")):
        train = optimizer.minimize(loss)
    losses = []
    with tf.Session() as sess:
        initialize(tf, sess)
        for _ in range(8):
            losses.append(sess.run([loss, train], {training: True})[0])
        return losses, sess.run([loss, y], {training: False}), [v.name for v in tf.trainable_variables()]


def layer(tf):
    layers = tf.contrib.layers
    y = layers.layer_norm(tf.constant(X))
    z = layers.layer_norm(tf.constant(CUBE), begin_norm_axis=2, begin_params_axis=2, activation_fn=tf.nn.relu, scope="z")
    u = layers.layer_norm(tf.constant(CUBE), center=False, begin_norm_axis=-1, outputs_collections="o", variables_collections=["v"])
    v = layers.layer_norm(tf.placeholder(tf.float32, [None, 3]), scale=False, trainable=False)
    found = tf.get_collection("o")[0].aliases, [t.name for t in tf.get_collection("v")]
    return [t.name for t in (y, z, u, v)], static(v), found, _steps(tf, [y, z, u], 1), _names(tf)


def layer_mistakes(tf):
    norm = tf.contrib.layers.layer_norm
    return mistakes(
        tf,
        rank=lambda: norm(tf.placeholder(tf.float32)),
        axis=lambda: norm(tf.constant(X), begin_norm_axis=2),
        params=lambda: norm(tf.constant(X), begin_params_axis=2),
        unknown=lambda: norm(tf.placeholder(tf.float32, [2, None])),
    )


def layer_gradients(tf):
    x = tf.constant(X)
    y = tf.contrib.layers.layer_norm(x)
    loss = tf.reduce_sum(y * tf.constant(X[::-1].copy()))
    return _steps(tf, tf.gradients(loss, [x] + tf.trainable_variables()), 1)[0]


def instance(tf):
    layers = tf.contrib.layers
    y = layers.instance_norm(tf.constant(CUBE))
    z = layers.instance_norm(tf.constant(CUBE), data_format="NCHW", scope="z", param_initializers={"gamma": tf.constant_initializer(3.0)})
    u = layers.instance_norm(tf.constant(CUBE[0]), center=False, activation_fn=tf.nn.relu)
    return [t.name for t in (y, z, u)], _steps(tf, [y, z, u], 1), _names(tf)


def group(tf):
    layers = tf.contrib.layers
    y = layers.group_norm(tf.constant(CUBE), 2)
    z = layers.group_norm(tf.constant(CUBE), 1, channels_axis=1, reduction_axes=[2, 3], scope="z")
    u = layers.group_norm(tf.placeholder_with_default(CUBE, [None, 2, 3, 4]), 4, center=False, mean_close_to_zero=True)
    return [static(t) for t in (y, z, u)], _steps(tf, [y, z, u], 1), _names(tf)


def instance_and_group_mistakes(tf):
    layers = tf.contrib.layers
    x = tf.placeholder(tf.float32, [None, 2, None, None])
    return mistakes(
        tf,
        rank=lambda: layers.instance_norm(tf.placeholder(tf.float32)),
        data_format=lambda: layers.instance_norm(tf.constant(CUBE), data_format="N"),
        channels=lambda: layers.instance_norm(tf.placeholder(tf.float32, [2, 2, None])),
        group_rank=lambda: layers.group_norm(tf.placeholder(tf.float32)),
        axis=lambda: layers.group_norm(tf.constant(CUBE), channels_axis=4),
        none=lambda: layers.group_norm(tf.placeholder(tf.float32, [2, 2, None])),
        unknown=lambda: layers.group_norm(tf.placeholder(tf.float32, [None, 2, None, 4]), 2),
        same=lambda: layers.group_norm(tf.constant(CUBE), 2, reduction_axes=[-1]),
        many=lambda: layers.group_norm(tf.constant(CUBE), 5),
        parts=lambda: layers.group_norm(tf.constant(CUBE), 3),
    ), x.shape


def _model(tf):
    w = tf.get_variable("w", initializer=[[1.0], [2.0], [0.5]])
    b = tf.get_variable("b", initializer=[0.5])
    return tf.reduce_mean(tf.square(tf.matmul(tf.constant(X), w) + b - 1.0))


def _trained(tf, **options):
    """Losses, variables, and the tags of summaries after three steps of `optimize_loss`."""
    step = tf.train.get_or_create_global_step()
    options.setdefault("global_step", step)
    train = tf.contrib.layers.optimize_loss(_model(tf), **options)
    names = [v.name for v in tf.global_variables()], [t.name for t in tf.get_collection("summaries")]
    with tf.Session() as sess:
        initialize(tf, sess)
        losses = [sess.run(train) for _ in range(3)]
        return train.name, names, losses, sess.run([step] + tf.trainable_variables())


def optimized_by_name(tf):
    found = {}
    for name in ("SGD", "Adam", "Adagrad", "Momentum", "RMSProp", "Ftrl"):
        with tf.Graph().as_default():
            found[name] = _trained(tf, learning_rate=0.01, optimizer=name)
    return found, sorted(tf.contrib.layers.OPTIMIZER_CLS_NAMES), tf.contrib.layers.OPTIMIZER_SUMMARIES


def optimized_with_options(tf):
    found = []
    every = ["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"]
    for options in (
        dict(learning_rate=0.01, optimizer=tf.train.AdamOptimizer, clip_gradients=1.0, name="opt"),
        dict(learning_rate=0.01, optimizer=lambda lr: tf.train.GradientDescentOptimizer(lr), summaries=every, clip_gradients=2.0),
        dict(learning_rate=None, optimizer=lambda: tf.train.GradientDescentOptimizer(0.02), summaries=[]),
        dict(learning_rate=None, optimizer=tf.train.GradientDescentOptimizer(0.02), increment_global_step=False),
        dict(learning_rate=0.01, optimizer="SGD", gradient_multipliers={"w:0": 0.5, "b:0": 2.0}),
        dict(learning_rate=0.01, optimizer="SGD", clip_gradients=lambda pairs: [(g * 0.5, v) for g, v in pairs]),
        dict(learning_rate=0.1, optimizer="SGD", learning_rate_decay_fn=lambda lr, step: tf.train.exponential_decay(lr, step, 1, 0.5)),
        dict(learning_rate=0.01, optimizer="SGD", global_step=None),
    ):
        with tf.Graph().as_default():
            found.append(_trained(tf, **options))
    return found


def optimized_tensor_rate(tf):
    return _trained(tf, learning_rate=tf.constant(0.01), optimizer="SGD", summaries=["learning_rate", "loss"])


def optimized_after_updates(tf):
    n = tf.get_variable("n", initializer=0.0, trainable=False)
    tf.add_to_collection("update_ops", tf.assign_add(n, 1.0))
    found = _trained(tf, learning_rate=0.01, optimizer="SGD")
    m = tf.get_variable("m", initializer=0.0, trainable=False)
    train = tf.contrib.layers.optimize_loss(tf.square(m), None, None, tf.train.GradientDescentOptimizer(0.1), update_ops=[tf.assign_add(m, 1.0).op], variables=[m])
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(train)
        return found, sess.run(n)


def optimized_with_noise(tf):
    tf.set_random_seed(1)
    train = tf.contrib.layers.optimize_loss(_model(tf), None, 0.01, "SGD", gradient_noise_scale=0.0)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(train), sess.run(tf.trainable_variables())


def optimized_mistakes(tf):
    optimize = tf.contrib.layers.optimize_loss
    sgd = tf.train.GradientDescentOptimizer

    def loss():
        return tf.square(tf.get_variable("v", initializer=1.0))

    return mistakes(
        tf,
        vector=lambda: optimize(tf.constant([1.0, 2.0]), None, 0.1, "SGD"),
        step=lambda: optimize(loss(), tf.constant(1.0), 0.1, "SGD"),
        rate=lambda: optimize(loss(), None, 1, "SGD"),
        negative=lambda: optimize(loss(), None, -0.1, "SGD"),
        summary=lambda: optimize(loss(), None, 0.1, "SGD", summaries=["grad"]),
        decay=lambda: optimize(loss(), None, 0.1, "SGD", learning_rate_decay_fn=lambda lr, step: lr),
        name=lambda: optimize(loss(), None, 0.1, "SG"),
        name_without_rate=lambda: optimize(loss(), None, None, "SGD"),
        kind=lambda: optimize(loss(), None, 0.1, 3),
        made=lambda: optimize(loss(), None, 0.1, lambda lr: 3),
        clip=lambda: optimize(loss(), None, 0.1, "SGD", clip_gradients=1),
        nothing=lambda: optimize(tf.constant(1.0), None, 0.1, "SGD"),
    ), caught(lambda: optimize(loss(), None, None, sgd), "Learning rate is None, but should be specified if optimizer is class")


def summaries(tf):
    layers = tf.contrib.layers
    relu = tf.nn.relu(tf.constant([-1.0, 2.0, 9.0]), name="r")
    relu6 = tf.nn.relu6(tf.constant([-1.0, 2.0, 9.0]), name="r6")
    scalar = tf.constant(1.5, name="c")
    found = [layers.summarize_activation(t) for t in (relu, relu6, tf.tanh(scalar, name="t"))]
    found += layers.summarize_tensors([scalar, relu]) + [layers.summarize_tensor(scalar, "mine")]
    none = layers.summarize_tensor(tf.constant("a")), layers.summarize_tensor(tf.constant(True))
    tf.add_to_collection("activations", relu)
    tf.add_to_collection("activations", scalar)
    found += layers.summarize_activations("^r") + layers.summarize_collection("activations", "c")
    tf.get_variable("v", [2])
    found += layers.summaries.summarize_variables() + layers.summaries.summarize_weights() + layers.summaries.summarize_biases()
    values = []
    with tf.Session() as sess:
        initialize(tf, sess)
        for s in tf.get_collection("summaries"):
            if s.op.type == "ScalarSummary":
                values.append([(v.tag, v.simple_value) for v in tf.Summary.FromString(sess.run(s)).value])
    return [(s.op.name, s.op.type) for s in found], none, [s.op.name for s in tf.get_collection("summaries")], values
