"""`tf.contrib.layers`: layers as functions, the names of their variables, scopes and collections."""

import numpy as np

from programs.tools import caught, initialize, mistakes, nodes, static

X = np.arange(6, dtype=np.float32).reshape(2, 3)
IMAGE = np.arange(48, dtype=np.float32).reshape(2, 2, 3, 4) / 7


def _names(tf):
    kinds = tf.global_variables(), tf.trainable_variables(), tf.model_variables()
    return [[v.name for v in kind] for kind in kinds]


def _run(tf, fetches, feeds=None):
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(fetches, feeds)


def _losses(tf):
    return [t.name for t in tf.get_collection("regularization_losses")]


def _two(tf):
    return tf.constant_initializer(2.0)


def dense(tf):
    layers = tf.contrib.layers
    y = layers.fully_connected(X, 4, weights_initializer=_two(tf), biases_initializer=tf.ones_initializer())
    z = layers.fully_connected(y, 2, activation_fn=None, weights_initializer=_two(tf), scope="out")
    return y.name, z.name, static(z), _run(tf, [y, z]), _names(tf)


def dense_nodes(tf):
    layers = tf.contrib.layers
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    layers.fully_connected(x, 4, weights_regularizer=layers.l2_regularizer(0.1), biases_regularizer=layers.l1_regularizer(0.2))
    return nodes(tf), _losses(tf)


def dense_of_rank_three(tf):
    x = tf.placeholder(tf.float32, [2, None, 3])
    y = tf.contrib.layers.fully_connected(x, 4, weights_initializer=_two(tf))
    return static(y), _run(tf, y, {x: np.arange(30).reshape(2, 5, 3)})


def dense_without_biases(tf):
    layers = tf.contrib.layers
    layers.fully_connected(X, 4, biases_initializer=None, scope="a")
    layers.fully_connected(X, 4, normalizer_fn=layers.layer_norm, normalizer_params={"center": False}, scope="b")
    layers.linear(X, 4)
    layers.relu(X, 4)
    layers.elu(X, 4, scope="e")
    return layers.relu6(X, 4).op.type, _names(tf)


def dense_collections(tf):
    layers = tf.contrib.layers
    layers.fully_connected(X, 4, variables_collections=["mine"], outputs_collections="outs", scope="a")
    layers.fully_connected(X, 4, variables_collections={"weights": ["w"]}, outputs_collections=["outs", "more"], scope="a", reuse=True)
    found = {key: [v.name for v in tf.get_collection(key)] for key in ("mine", "outs", "more", "w")}
    return found, [t.aliases for t in tf.get_collection("outs")], _names(tf)


def dense_reused(tf):
    layers = tf.contrib.layers
    layers.fully_connected(X, 4, scope="a", weights_regularizer=layers.l2_regularizer(0.1))
    with tf.variable_scope("a") as scope:
        pass
    y = layers.fully_connected(X, 4, scope="a", reuse=True, weights_regularizer=layers.l2_regularizer(0.1))
    z = layers.fully_connected(X, 4, scope=scope, reuse=True)
    return y.name, z.name, _names(tf), _losses(tf)


def dense_getter(tf):
    seen = []

    def getter(inner, name, *args, **options):
        seen.append((name, sorted(options)))
        return inner(name, *args, **options)

    def normal(x, scope=None):
        return x * tf.get_variable("bias", [])

    with tf.variable_scope("outer", custom_getter=getter):
        tf.contrib.layers.fully_connected(X, 4, normalizer_fn=normal)
    return [name for name, _ in seen], _names(tf)


def dense_scopes_regularizer(tf):
    layers = tf.contrib.layers
    with tf.variable_scope("s", regularizer=layers.l2_regularizer(0.5)):
        layers.fully_connected(X, 4)
        layers.layer_norm(X)
    return _losses(tf)


def dense_mistakes(tf):
    layers = tf.contrib.layers
    return mistakes(
        tf,
        units=lambda: layers.fully_connected(X, 2.5),
        rank=lambda: layers.fully_connected(np.float32([1, 2]), 2),
        unknown=lambda: layers.fully_connected(tf.placeholder(tf.float32), 2),
        last=lambda: layers.fully_connected(tf.placeholder(tf.float32, [2, None]), 2),
        twice=lambda: [layers.fully_connected(X, 2, scope="a") for _ in range(2)][1],
        reuse=lambda: layers.fully_connected(X, 2, reuse=True),
        reuse_missing=lambda: layers.fully_connected(X, 2, scope="b", reuse=True),
        shapes=lambda: [layers.fully_connected(X, n, scope="a", reuse=tf.AUTO_REUSE) for n in (2, 3)],
    )


def dense_is_trained(tf):
    layers = tf.contrib.layers
    tf.set_random_seed(3)
    x, t = tf.constant(X), tf.constant([[1.0], [0.0]])
    hidden = layers.fully_connected(x, 5, weights_regularizer=layers.l2_regularizer(0.01))
    y = layers.fully_connected(hidden, 1, activation_fn=None, scope="y")
    loss = tf.losses.mean_squared_error(t, y) + tf.add_n(tf.get_collection("regularization_losses"))
    train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
    losses = []
    with tf.Session() as sess:
        initialize(tf, sess)
        for _ in range(6):
            losses.append(sess.run([loss, train])[0])
    return losses


def legacy_dense(tf):
    layers = tf.contrib.layers
    x = tf.placeholder(tf.float32, [2, None, 3])
    y = layers.legacy_fully_connected(x, 4, weight_init=_two(tf), bias_init=tf.ones_initializer(), name="a")
    z = layers.legacy_relu(X, 4, bias_init=None, weight_init=_two(tf))
    layers.legacy_linear(X, 2, weight_regularizer=layers.l2_regularizer(0.1))
    keys = "weights", "biases", "activations"
    found = {key: [v.name for v in tf.get_collection(key)] for key in keys}
    values = _run(tf, [y, z], {x: np.arange(12).reshape(2, 2, 3)})
    return static(y), values, found, _names(tf), _losses(tf)


def legacy_mistakes(tf):
    dense = tf.contrib.layers.legacy_fully_connected
    return mistakes(
        tf,
        unknown=lambda: dense(tf.placeholder(tf.float32), 2),
        rank=lambda: dense(np.float32([1]), 2),
        last=lambda: dense(tf.placeholder(tf.float32, [2, None]), 2),
    )


def biases(tf):
    layers = tf.contrib.layers
    y = layers.bias_add(X, tf.nn.relu, initializer=_two(tf), regularizer=layers.l2_regularizer(0.1))
    z = layers.bias_add(IMAGE, initializer=tf.ones_initializer(), scope="b", outputs_collections="out")
    return y.name, z.name, _run(tf, [y, z]), _names(tf), _losses(tf), [t.aliases for t in tf.get_collection("out")]


def biases_mistakes(tf):
    bias_add = tf.contrib.layers.bias_add
    return mistakes(
        tf,
        data_format=lambda: bias_add(X, data_format="NC"),
        rank=lambda: bias_add(X, data_format="NCHW"),
        unknown=lambda: bias_add(tf.placeholder(tf.float32)),
        channels=lambda: bias_add(tf.placeholder(tf.float32, [2, None])),
    )


def dropouts(tf):
    layers = tf.contrib.layers
    training = tf.placeholder_with_default(False, [])
    x = tf.ones([20])
    outs = [
        layers.dropout(x, is_training=False),
        layers.dropout(x, 0.5, is_training=training, scope="d"),
        layers.dropout(x, 1.0, seed=1),
        layers.dropout(x, 0.25, seed=7, outputs_collections="o"),
    ]
    found = [t.name for t in outs], tf.get_collection("o")[0].aliases
    return found, _run(tf, outs), sorted(set(_run(tf, outs[1], {training: True})))


def dropouts_seeded(tf):
    tf.set_random_seed(5)
    layers = tf.contrib.layers
    hidden = layers.fully_connected(X, 4, weights_initializer=_two(tf))
    return _run(tf, layers.dropout(hidden, 0.5))


def flattened(tf):
    layers = tf.contrib.layers
    x = tf.placeholder(tf.float32, [None, 2, 3])
    ys = [layers.flatten(IMAGE), layers.flatten(x, scope="f", outputs_collections="o")]
    return [(y.name, static(y)) for y in ys], tf.get_collection("o")[0].aliases, _run(tf, ys, {x: np.ones([2, 2, 3])})


def one_hot(tf):
    layers = tf.contrib.layers
    ys = [
        layers.one_hot_encoding([1, 0, 2], 3),
        layers.one_hot_encoding(tf.constant([1, 5], tf.int64), 3, on_value=2.0, off_value=-1.0, scope="s"),
    ]
    return [(y.name, static(y)) for y in ys], _run(tf, ys)


def sparse_from_dense(tf):
    sparse = tf.contrib.layers.dense_to_sparse(tf.constant([[1, 0, 2], [7, 7, 0]]), eos_token=7)
    return _run(tf, sparse), sparse.values.name


def repeated(tf):
    layers = tf.contrib.layers
    y = layers.repeat(X, 2, layers.fully_connected, 4, scope="fc")
    z = layers.repeat(y, 2, layers.fully_connected, 3, activation_fn=None)
    u = layers.stack(z, layers.fully_connected, [5, 2], scope="st")
    v = layers.stack(u, layers.linear, [(3,), [1]])
    wrong = caught(lambda: layers.stack(X, layers.linear, 3), "stack_args need to be a list or tuple")
    return [t.name for t in (y, z, u, v)], _names(tf), wrong


def softmaxes(tf):
    layers = tf.contrib.layers
    y = layers.softmax(tf.constant(IMAGE))
    wrong = mistakes(
        tf,
        rank=lambda: layers.softmax(tf.constant([1.0])),
        last=lambda: layers.softmax(tf.placeholder(tf.float32, [2, None])),
        unknown=lambda: layers.softmax(tf.placeholder(tf.float32)),
    )
    return y.name, static(y), _run(tf, y), wrong


def points_of_features(tf):
    layers = tf.contrib.layers
    ys = [
        layers.spatial_softmax(IMAGE),
        layers.spatial_softmax(IMAGE, temperature=0.5, name="half", trainable=False),
        layers.spatial_softmax(np.transpose(IMAGE, [0, 3, 1, 2]), data_format="NCHW", variables_collections=["t"]),
    ]
    wrong = caught(lambda: layers.spatial_softmax(tf.placeholder(tf.float32, [1, 2, 2, None])), "num_channels dimension")
    return [static(y) for y in ys], _run(tf, ys), _names(tf), [v.name for v in tf.get_collection("t")], wrong


def units(tf):
    layers = tf.contrib.layers
    x = tf.constant(IMAGE)
    ys = [layers.unit_norm(x, axis) for axis in (0, 2, 3)]
    y = layers.maxout(x, 2)
    z = layers.maxout(tf.placeholder_with_default(X, [None, 3]), 1)
    wrong = mistakes(
        tf,
        axis=lambda: layers.unit_norm(tf.constant(X), 2),
        negative=lambda: layers.unit_norm(tf.constant(X), -1),
        groups=lambda: layers.maxout(tf.constant(X), 2),
    )
    return [t.name for t in ys], y.name, static(z), _run(tf, ys + [y, z]), wrong


def regularizers(tf):
    layers = tf.contrib.layers
    w = tf.constant([1.0, -2.0, 3.0])
    both = [layers.l1_regularizer(0.5), layers.l2_regularizer(0.5), layers.l1_l2_regularizer(0.1, 0.2), layers.l1_l2_regularizer(0.0, 0.2)]
    both += [layers.l1_l2_regularizer(0.3, 0.0), layers.sum_regularizer([layers.l1_regularizer(1.0), None, layers.l2_regularizer(1.0)], scope="s")]
    both += [layers.l1_regularizer(tf.constant(0.5), scope="mine")]
    terms = [r(w) for r in both]
    none = [layers.l1_regularizer(0.0)(w), layers.sum_regularizer([]), layers.sum_regularizer([layers.l2_regularizer(0.0)])(w)]
    return [t.name for t in terms], _run(tf, terms), none


def regularizers_mistakes(tf):
    layers = tf.contrib.layers
    return mistakes(
        tf,
        integer=lambda: layers.l1_regularizer(1),
        integer_2=lambda: layers.l2_regularizer(0),
        negative=lambda: layers.l1_regularizer(-0.5),
        negative_2=lambda: layers.l2_regularizer(-0.5),
        both=lambda: layers.l1_l2_regularizer(1, 0.5),
        both_2=lambda: layers.l1_l2_regularizer(0.5, 1),
        none=lambda: layers.apply_regularization(layers.l2_regularizer(0.5)),
        rank=lambda: layers.apply_regularization(lambda w: w, [tf.constant([1.0])]),
    )


def regularization_applied(tf):
    layers = tf.contrib.layers
    w, v = tf.get_variable("w", initializer=[1.0, 2.0]), tf.get_variable("v", initializer=[3.0])
    total = layers.apply_regularization(layers.l2_regularizer(0.5), [w, v])
    tf.add_to_collection("weights", v)
    other = layers.apply_regularization(layers.l1_regularizer(0.0))
    return total.name, other.name, _run(tf, [total, other]), _losses(tf)


def initializers(tf):
    layers = tf.contrib.layers
    makers = [
        layers.xavier_initializer(seed=1),
        layers.xavier_initializer(uniform=False, seed=2),
        layers.xavier_initializer_conv2d(seed=3),
        layers.variance_scaling_initializer(seed=4),
        layers.variance_scaling_initializer(1.0, "FAN_OUT", True, seed=5),
        layers.variance_scaling_initializer(mode="FAN_AVG", seed=6, dtype=tf.float64),
    ]
    values = [tf.get_variable("v%d" % i, [2, 3], initializer=m) for i, m in enumerate(makers[:5])]
    values += [makers[0]([4]), makers[2]([2, 2, 3, 5]), makers[5]([2, 2]), makers[3]([], tf.float32)]
    return _run(tf, values)


def initializers_mistakes(tf):
    make = tf.contrib.layers.variance_scaling_initializer
    return mistakes(tf, dtype=lambda: make(dtype=tf.int32), mode=lambda: make(mode="FAN"), call=lambda: make()([2], dtype=tf.int32))


def embedded(tf):
    layers = tf.contrib.layers
    ids = tf.constant([[1, 2, 0], [3, 1, 1]])
    table = tf.constant_initializer(np.arange(12, dtype=np.float32))
    y = layers.embed_sequence(ids, 4, 3, initializer=table, scope="e")
    z = layers.embed_sequence(ids, 4, 3, scope="e", reuse=True, unique=True)
    u = layers.embed_sequence(ids, scope="e", reuse=True)
    v = layers.bow_encoder(ids, 4, 3, initializer=table)
    w = layers.bow_encoder(ids, 4, 3, sparse_lookup=False, initializer=table, scope="w")
    names = [t.name for t in (y, z, u, v, w)]
    return [static(t) for t in (y, z, u, v, w)], names[:3], _run(tf, [y, z, u, v, w]), _names(tf)


def embedded_mistakes(tf):
    layers = tf.contrib.layers
    ids = tf.SparseTensor([[0, 0]], [1], [1, 1])
    return mistakes(
        tf,
        size=lambda: layers.embed_sequence([1]),
        bow=lambda: layers.bow_encoder([1], 0, 2),
        sparse=lambda: tf.cast(layers.bow_encoder(ids, 2, 2, sparse_lookup=False), tf.int32),
    )["size"], caught(lambda: layers.bow_encoder([1], 0, 2), "Must specify vocab size and embedding dimension")


def lookups(tf):
    layers = tf.contrib.layers
    table = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3))
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 3, -1], tf.int64), [3, 2])
    weights = tf.SparseTensor(ids.indices, [1.0, 3.0, 1.0], ids.dense_shape)
    safe = layers.safe_embedding_lookup_sparse
    out = [
        layers.embedding_lookup_unique(table, [[1, 1], [3, 0]]),
        safe(table, ids, combiner="sum"),
        safe([table], ids, weights, combiner="mean"),
        safe(table, ids, combiner="sqrtn", default_id=2),
    ]
    return [static(t) for t in out[:1]], _run(tf, out)
