"""`get_variable` and `variable_scope`: initializers, reuse, getters, regularizers, partitioners, errors."""

import numpy as np

from programs.tools import WHOLE, caught, initialize, names, run, static


def initializers_of_each_kind(tf):
    makers = [
        tf.zeros_initializer(), tf.ones_initializer(), tf.constant_initializer(3), tf.constant_initializer([[1, 2], [3, 4]]), tf.zeros_initializer, tf.initializers.identity(2.0),
        tf.initializers.zeros(), tf.initializers.constant(2.5), np.float32([[1, 2], [3, 4]]), lambda *a, **k: tf.ones([2, 2]) * 7.0,
    ]
    out = []
    for i, m in enumerate(makers):
        out.append(tf.get_variable("v%d" % i, None if isinstance(m, np.ndarray) else [2, 2], initializer=m))
    return run(tf, out)


def initializers_by_default(tf):
    kinds = [tf.float32, tf.float64, tf.int32, tf.int64, tf.bool, tf.uint8]
    v = [tf.get_variable("v%d" % i, [2, 3], k) for i, k in enumerate(kinds)]
    values = run(tf, v)
    return [x.dtype.name for x in v], [np.any(x != 0) for x in values], bool(np.all(np.abs(values[0]) <= np.sqrt(6.0 / 5.0)))


def initializer_by_default_of_strings(tf):
    return run(tf, tf.get_variable("v", [2], tf.string))


def initializers_by_dtype(tf):
    out = [tf.get_variable("v%d" % i, [2], k, initializer=m()) for i, (k, m) in enumerate(
        [(tf.float64, tf.ones_initializer), (tf.int64, tf.zeros_initializer), (tf.bool, tf.zeros_initializer), (tf.complex64, tf.ones_initializer), (tf.string, tf.zeros_initializer)])]
    return [v.dtype.name for v in out], run(tf, out)


def initializer_of_a_tensor(tf):
    v = tf.get_variable("v", initializer=tf.constant([1.0, 2.0]))
    w = tf.get_variable("w", initializer=5)
    return static(v.value(), w.value()), run(tf, [v, w])


def initializer_of_a_tensor_with_a_shape(tf):
    return caught(lambda: tf.get_variable("v", [2], initializer=tf.constant([1.0, 2.0])), WHOLE)


def initializer_of_nothing(tf):
    return caught(lambda: tf.get_variable("v"), WHOLE)


def initializer_of_unknown_shape(tf):
    return caught(lambda: tf.get_variable("v", [None, 2]), WHOLE), caught(lambda: tf.get_variable("w", [None, 2], initializer=tf.zeros_initializer()))


def initializer_of_another_dtype(tf):
    return caught(lambda: tf.get_variable("v", initializer=tf.constant([1, 2]), dtype=tf.float32))


def shapes_given_in_each_form(tf):
    out = [tf.get_variable("v%d" % i, s) for i, s in enumerate([2, [2], (2, 3), tf.TensorShape([4]), [], [tf.Dimension(5)]])]
    return [str(v.shape) for v in out]


def existing_is_refused(tf):
    tf.get_variable("v", [1])
    return caught(lambda: tf.get_variable("v", [1]), WHOLE)


def reuse_of_what_is_missing(tf):
    with tf.variable_scope("s", reuse=True):
        return caught(lambda: tf.get_variable("v", [1]), WHOLE)


def reuse_with_another_shape_or_dtype(tf):
    with tf.variable_scope("s"):
        tf.get_variable("v", [1])
    with tf.variable_scope("s", reuse=True):
        return caught(lambda: tf.get_variable("v", [2]), WHOLE), caught(lambda: tf.get_variable("v", [1], tf.int32), WHOLE)


def reuse_automatically(tf):
    out = []
    for _ in range(2):
        with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
            out.append(tf.get_variable("v", [1]))
    return out[0] is out[1], out[0].name


def reuse_given_to_none(tf):
    with tf.variable_scope("s"):
        v = tf.get_variable("v", [1])
        tf.get_variable_scope().reuse_variables()
        return tf.get_variable("v") is v, tf.get_variable_scope().reuse


def reuse_is_inherited(tf):
    with tf.variable_scope("a"):
        with tf.variable_scope("b"):
            v = tf.get_variable("v", [1])
    with tf.variable_scope("a", reuse=True):
        with tf.variable_scope("b") as scope:
            return tf.get_variable("v", [1]) is v, scope.reuse
    return None


def reuse_misused(tf):
    return caught(lambda: tf.variable_scope("s", reuse="yes").__enter__(), WHOLE), caught(lambda: tf.variable_scope(None).__enter__(), WHOLE), caught(lambda: tf.variable_scope(3).__enter__())


def names_in_scopes(tf):
    out = []
    with tf.variable_scope("a") as a:
        out += [tf.get_variable("v", [1]).name, tf.Variable(1, name="w").name, tf.constant(1, name="c").name, a.name, a.original_name_scope]
        with tf.variable_scope("b") as b:
            out += [tf.get_variable("v", [1]).name, b.name, tf.get_variable_scope().name]
    with tf.variable_scope("a") as again:
        out += [tf.get_variable("u", [1]).name, tf.constant(1, name="c").name, again.original_name_scope]
    return out


def names_of_scopes_by_default(tf):
    out = []
    for _ in range(2):
        with tf.variable_scope(None, default_name="d") as s:
            out += [s.name, tf.get_variable("v", [1]).name]
    return out


def names_in_name_scopes(tf):
    with tf.name_scope("n"):
        v = tf.get_variable("v", [1])
        with tf.variable_scope("s"):
            w, c = tf.get_variable("w", [1]), tf.constant(1, name="c")
    return v.name, w.name, c.name, (v + 1.0).name


def scope_entered_by_its_object(tf):
    with tf.variable_scope("a") as a:
        v = tf.get_variable("v", [1])
    with tf.variable_scope("b"):
        with tf.variable_scope(a, reuse=True) as again:
            return tf.get_variable("v") is v, again.name, tf.constant(1, name="c").name
    return None


def scope_without_a_name_scope(tf):
    with tf.variable_scope("a", auxiliary_name_scope=False):
        return tf.get_variable("v", [1]).name, tf.constant(1, name="c").name


def scope_settings(tf):
    with tf.variable_scope("a", initializer=tf.constant_initializer(4.0), dtype=tf.float64, use_resource=True, constraint=tf.identity) as s:
        v = tf.get_variable("v", [2])
        with tf.variable_scope("b"):
            w = tf.get_variable("w", [1])
            x = tf.get_variable("x", [1], tf.float32, initializer=tf.ones_initializer(), use_resource=False)
        return s.dtype.name, s.use_resource, [(u.dtype.name, u.op.type) for u in (v, w, x)], run(tf, [v, w, x]), v.constraint is tf.identity


def scope_setters(tf):
    with tf.variable_scope("a") as s:
        s.set_initializer(tf.constant_initializer(2.0))
        s.set_dtype(tf.float64)
        s.set_use_resource(True)
        v = tf.get_variable("v", [2])
        return v.dtype.name, v.op.type, run(tf, v)


def regularizers(tf):
    with tf.variable_scope("a", regularizer=lambda w: tf.reduce_sum(w) * 0.5):
        tf.get_variable("v", initializer=[2.0, 4.0])
        tf.get_variable("w", initializer=[1.0], regularizer=tf.no_regularizer)
        tf.get_variable("x", initializer=[1.0], regularizer=lambda w: tf.reduce_sum(w * w, name="square"))
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    return [t.name for t in losses], run(tf, losses), run(tf, tf.losses.get_regularization_loss())


def regularizer_runs_once(tf):
    calls = []

    def regularizer(w):
        calls.append(w.name)
        return tf.reduce_sum(w)

    for _ in range(2):
        with tf.variable_scope("s", reuse=tf.AUTO_REUSE, regularizer=regularizer):
            tf.get_variable("v", [2])
    return calls, len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))


def custom_getters(tf):
    seen = []

    def outer(getter, name, *args, **kwargs):
        seen.append("outer " + name)
        return getter(name, *args, **kwargs)

    def inner(getter, name, *args, **kwargs):
        seen.append("inner " + name)
        kwargs["initializer"] = tf.constant_initializer(9.0)
        return getter(name + "_too", *args, **kwargs) * 2.0

    with tf.variable_scope("a", custom_getter=outer):
        with tf.variable_scope("b", custom_getter=inner):
            v = tf.get_variable("v", [1])
    return seen, run(tf, v), [x.name for x in tf.global_variables()]


def custom_getter_of_one_call(tf):
    v = tf.get_variable("v", [1], initializer=tf.ones_initializer(), custom_getter=lambda getter, *a, **k: tf.identity(getter(*a, **k), name="copy"))
    return v.name, run(tf, v)


def custom_getter_sees(tf):
    seen = {}

    def getter(getter, name, shape=None, dtype=None, initializer=None, regularizer=None, reuse=None, trainable=None, collections=None, **rest):
        seen.update(name=name, shape=str(shape), dtype=dtype.name, reuse=reuse, trainable=trainable, rest=sorted(rest))
        return getter(name, shape=shape, dtype=dtype, initializer=initializer, trainable=trainable, collections=collections)

    with tf.variable_scope("s", custom_getter=getter):
        tf.get_variable("v", [1, 2])
    return seen


def variable_creators(tf):
    def creator(next_creator, **kwargs):
        kwargs["name"] = "made"
        return next_creator(**kwargs)

    with tf.variable_creator_scope(creator):
        return tf.Variable(1.0, name="v").name


def partitioned(tf):
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        v = tf.get_variable("v", [4, 2], initializer=tf.ones_initializer())
    return type(v).__name__, v.name, [p.name for p in v], run(tf, tf.convert_to_tensor(v)), [x.name for x in tf.global_variables()]


def partitioned_of_unequal_parts(tf):
    v = tf.get_variable("v", [5], initializer=tf.zeros_initializer(), partitioner=tf.fixed_size_partitioner(3))
    return [str(p.shape) for p in v], str(v.get_shape()), v.dtype.name


def partitioned_reused(tf):
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        tf.get_variable("v", [4])
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2), reuse=True):
        return [p.name for p in tf.get_variable("v", [4])]


def partitioned_in_an_embedding(tf):
    v = tf.get_variable("v", initializer=tf.ones_initializer(), shape=[4, 2], partitioner=tf.fixed_size_partitioner(2))
    return run(tf, tf.nn.embedding_lookup(v, [0, 3], partition_strategy="div"))


def partitioner_by_bytes(tf):
    p = tf.variable_axis_size_partitioner(max_shard_bytes=32)
    q = tf.min_max_variable_partitioner(max_partitions=4, min_slice_size=16)
    return p(shape=tf.TensorShape([8, 4]), dtype=tf.float32), q(shape=tf.TensorShape([8, 4]), dtype=tf.float32), tf.fixed_size_partitioner(3, axis=1)(shape=tf.TensorShape([8, 4]), dtype=tf.float32)


def collections_and_trainable(tf):
    a, b = tf.get_variable("a", [1], trainable=False), tf.get_variable("b", [1], collections=["mine"])
    c = tf.get_local_variable("c", [1])
    return [v.name for v in tf.trainable_variables()], [v.name for v in tf.global_variables()], [v.name for v in tf.local_variables()], a.trainable, b.trainable, c.trainable


def global_variables_of_a_scope(tf):
    with tf.variable_scope("a") as a:
        v = tf.get_variable("v", [1])
        u = tf.get_variable("u", [1], trainable=False)
    tf.get_variable("w", [1])
    return [x.name for x in a.global_variables()], [x.name for x in a.trainable_variables()], [x.name for x in tf.global_variables("a")], v.name, u.name


def names_of_nodes(tf):
    with tf.variable_scope("s"):
        tf.get_variable("v", [2, 3])
    return names(tf)


def names_of_nodes_of_uniform(tf):
    tf.get_variable("v", [2, 3], initializer=tf.random_uniform_initializer(-1.0, 1.0, seed=1), use_resource=True)
    return names(tf)


def made_in_a_branch(tf):
    p = tf.placeholder(tf.bool, [])
    r = tf.cond(p, lambda: tf.get_variable("v", [], initializer=tf.ones_initializer()) + 1.0, lambda: tf.constant(0.0))
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r, {p: True}), sess.run(r, {p: False})


def variable_op_scopes(tf):
    with tf.variable_op_scope([], "s", "d"):
        a = tf.get_variable("v", [1])
    with tf.variable_op_scope([], None, "d"):
        b = tf.get_variable("v", [1])
    return a.name, b.name


def caching(tf):
    with tf.variable_scope("s", caching_device="/cpu:0"):
        v = tf.get_variable("v", initializer=[1.0])
    return run(tf, v * 2.0)


def templates(tf):
    line = tf.make_template("line", lambda x: x * tf.get_variable("w", [], initializer=tf.constant_initializer(3.0)))
    a, b = line(tf.constant(1.0)), line(tf.constant(2.0))
    return run(tf, [a, b]), [v.name for v in tf.global_variables()]
