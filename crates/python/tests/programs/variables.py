"""Variables of both kinds, `get_variable` and its scopes, assignments, initializers, collections."""

import numpy as np

from programs.tools import caught, initialize, nodes, run, static


def reference(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    return v.name, v.dtype.name, v.op.type, str(v.get_shape()), v.value().name, v.initializer.name, run(tf, v)


def resource(tf):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=True)
    return v.name, v.dtype.name, v.op.type, str(v.shape), v.handle.dtype.name, v.initializer.name, run(tf, v)


def reference_nodes(tf):
    v = tf.Variable(1.0, name="v")
    v + 1.0
    return nodes(tf)


def resource_nodes(tf):
    v = tf.Variable(1.0, name="v", use_resource=True)
    v + 1.0
    return nodes(tf)


def uninitialized_reference(tf):
    v = tf.Variable(1.0, name="v")
    with tf.Session() as sess:
        return caught(lambda: sess.run(v), "Attempting to use uninitialized value v")


def uninitialized_resource(tf):
    v = tf.Variable(1.0, name="v", use_resource=True)
    with tf.Session() as sess:
        return caught(lambda: sess.run(v), "v")


def assign_both(tf):
    out = []
    for use_resource in (False, True):
        v = tf.Variable(1.0, use_resource=use_resource)
        ops = [v.assign(5.0), v.assign_add(2.0), v.assign_sub(1.0), tf.assign(v, 9.0), tf.assign_add(v, 1.0), tf.assign_sub(v, 2.0)]
        with tf.Session() as sess:
            initialize(tf, sess)
            for op in ops:
                sess.run(op)
                out.append(float(sess.run(v)))
    return out


def assign_returns(tf):
    v, w = tf.Variable(1.0), tf.Variable(1.0, use_resource=True)
    a, b = v.assign(5.0), w.assign(5.0)
    with tf.Session() as sess:
        initialize(tf, sess)
        return a.dtype.name, sess.run(a), sess.run(b)


def assign_of_another_shape(tf):
    v = tf.Variable([1.0, 2.0])
    return caught(lambda: v.assign([1.0, 2.0, 3.0])), caught(lambda: tf.Variable([1.0, 2.0], use_resource=True).assign([1.0]))


def assign_without_validation(tf):
    v = tf.Variable([1.0, 2.0], validate_shape=False)
    op = tf.assign(v, [1.0, 2.0, 3.0], validate_shape=False)
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(op)
        return str(v.get_shape()), sess.run(v)


def assign_of_another_dtype(tf):
    v = tf.Variable(1.0)
    return caught(lambda: v.assign(tf.constant(1))), caught(lambda: tf.Variable(1.0, use_resource=True).assign(tf.constant(1)))


def operators(tf):
    v, w = tf.Variable([4.0, 9.0]), tf.Variable([2.0, 3.0], use_resource=True)
    return run(tf, [v + w, v - 1.0, 2.0 * w, v / w, v[0], w[1:], -v, v > w, v ** 2.0])


def read_value(tf):
    v, w = tf.Variable(3), tf.Variable(4, use_resource=True)
    return run(tf, [v.read_value(), w.read_value(), v.value(), w.value(), v.initialized_value(), w.initialized_value()])


def from_a_function(tf):
    v = tf.Variable(lambda: tf.ones([2]) * 3.0, dtype=tf.float32)
    return run(tf, v)


def from_another_variable(tf):
    v = tf.Variable(2.0)
    w = tf.Variable(v.initialized_value() * 3.0)
    return run(tf, w)


def initial_values(tf):
    v = tf.Variable(np.arange(3), dtype=tf.float64, trainable=False, name="v")
    return v.dtype.name, v.initial_value.dtype.name, v.trainable, [x.name for x in tf.global_variables()], tf.trainable_variables()


def without_initial_value(tf):
    return caught(lambda: tf.Variable(None), "initial_value must be specified.")


def collections(tf):
    a = tf.Variable(1.0, name="a")
    b = tf.Variable(1.0, name="b", trainable=False)
    c = tf.Variable(1.0, name="c", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    names = lambda vs: [v.name for v in vs]
    return names(tf.global_variables()), names(tf.trainable_variables()), names(tf.local_variables()), names(tf.all_variables())


def initializers_of_collections(tf):
    a, c = tf.Variable(1.0), tf.Variable(2.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        first = caught(lambda: sess.run(c))
        sess.run(tf.local_variables_initializer())
        return first, sess.run([a, c]), tf.variables_initializer([a], name="mine").name


def older_initializers(tf):
    a, c = tf.Variable(1.0), tf.Variable(2.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    with tf.Session() as sess:
        sess.run(tf.initialize_all_variables())
        sess.run(tf.initialize_local_variables())
        return sess.run([a, c])


def no_variables_to_initialize(tf):
    return tf.global_variables_initializer().type, tf.global_variables_initializer().name


def is_initialized(tf):
    v, w = tf.Variable(1.0), tf.Variable(1.0, use_resource=True)
    flags = [tf.is_variable_initialized(v), w.is_initialized()]
    with tf.Session() as sess:
        before = sess.run(flags)
        initialize(tf, sess)
        return before, sess.run(flags)


def report_uninitialized(tf):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w", use_resource=True)
    report = tf.report_uninitialized_variables()
    with tf.Session() as sess:
        first = sess.run(report).tolist()
        sess.run(v.initializer)
        return first, sess.run(report).tolist()


def assert_initialized(tf):
    v = tf.Variable(1.0, name="v")
    check = tf.assert_variables_initialized()
    with tf.Session() as sess:
        return caught(lambda: sess.run(check), "uninitialized value")


def count_up_to(tf):
    out = []
    for use_resource in (False, True):
        n = tf.Variable(0, use_resource=use_resource).count_up_to(3)
        with tf.Session() as sess:
            initialize(tf, sess)
            out += [[sess.run(n).tolist() for _ in range(3)], caught(lambda: sess.run(n), "Reached limit of 3")]
    return out


def scatter(tf):
    out = []
    for use_resource in (False, True):
        v = tf.Variable([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], use_resource=use_resource)
        ops = [tf.scatter_update(v, [0], [[9.0, 9.0]]), tf.scatter_add(v, [1, 1], [[1.0, 2.0], [3.0, 4.0]]), tf.scatter_sub(v, 2, [1.0, 1.0])]
        with tf.Session() as sess:
            initialize(tf, sess)
            for op in ops:
                sess.run(op)
                out.append(sess.run(v))
    return out


def scatter_out_of_range(tf):
    v = tf.Variable([1.0, 2.0])
    i = tf.placeholder(tf.int32, [])
    op = tf.scatter_update(v, i, 1.0)
    with tf.Session() as sess:
        initialize(tf, sess)
        return caught(lambda: sess.run(op, {i: 5}), "= 5 is not in [0, 2)")


def gather_from_both(tf):
    v, w = tf.Variable([1.0, 2.0, 3.0]), tf.Variable([1.0, 2.0, 3.0], use_resource=True)
    g, h = tf.gather(v, [2, 0]), tf.gather(w, [2, 0])
    return g.op.type, h.op.type, run(tf, [g, h]), run(tf, w.sparse_read([1]))


def eval_and_load(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.Session() as sess:
        initialize(tf, sess)
        before = v.eval()
        v.load([5.0, 6.0], sess)
        return before, v.eval(sess)


def fed(tf):
    v = tf.Variable(1.0)
    y = v * 2.0
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(y, {v: 10.0}), sess.run(y)


def get_variable(tf):
    v = tf.get_variable("v", [2, 3])
    return v.name, v.dtype.name, str(v.shape), v.trainable, run(tf, tf.shape(v))


def get_variable_with_initializers(tf):
    make = lambda name, i, **k: tf.get_variable(name, initializer=i, **k)
    vs = [
        make("a", tf.zeros_initializer(), shape=[2]),
        make("b", tf.ones_initializer(), shape=[2], dtype=tf.int32),
        make("c", tf.constant_initializer(7.0), shape=[2]),
        make("d", tf.constant_initializer([[1, 2], [3, 4]]), shape=[2, 2], dtype=tf.int64),
        make("e", tf.constant([5.0, 6.0])),
        make("f", 3.5),
        make("g", tf.zeros_initializer, shape=[1]),
        make("h", lambda shape, dtype, partition_info: tf.fill(shape, tf.cast(2, dtype)), shape=[2]),
        make("i", tf.initializers.identity(), shape=[2, 2]),
    ]
    return run(tf, vs)


def get_variable_twice(tf):
    tf.get_variable("v", [2])
    return caught(lambda: tf.get_variable("v", [2]), "Variable v already exists, disallowed. Did you mean to set reuse=True")


def get_variable_without_shape(tf):
    return caught(lambda: tf.get_variable("v"), "`shape` should be fully defined")


def get_variable_reused(tf):
    with tf.variable_scope("s"):
        a = tf.get_variable("v", [2])
    with tf.variable_scope("s", reuse=True):
        b = tf.get_variable("v", [2])
    return a is b, a.name


def get_variable_reused_but_missing(tf):
    def missing():
        with tf.variable_scope("s", reuse=True):
            tf.get_variable("v", [2])

    return caught(missing, "Variable s/v does not exist, or was not created with tf.get_variable()")


def get_variable_reused_with_another_shape(tf):
    def other():
        with tf.variable_scope("s", reuse=True):
            tf.get_variable("v", [3])

    with tf.variable_scope("s"):
        tf.get_variable("v", [2])
    return caught(other, "Trying to share variable s/v, but specified shape (3,) and found shape (2,).")


def auto_reuse(tf):
    def make():
        with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
            return tf.get_variable("v", [2])

    return make() is make(), len(tf.global_variables())


def reuse_variables_in_a_scope(tf):
    with tf.variable_scope("s") as scope:
        a = tf.get_variable("v", [2])
        scope.reuse_variables()
        b = tf.get_variable("v", [2])
    return a is b, scope.reuse, scope.name, scope.original_name_scope


def nested_scopes(tf):
    with tf.variable_scope("a"):
        with tf.variable_scope("b"):
            v = tf.get_variable("v", [1])
            x = tf.constant(1, name="x")
        with tf.variable_scope("b"):
            w = tf.get_variable("w", [1])
            y = tf.constant(1, name="y")
    return v.name, x.name, w.name, y.name, tf.get_variable_scope().name


def default_names_of_scopes(tf):
    names = []
    for _ in range(2):
        with tf.variable_scope(None, "layer"):
            names.append(tf.get_variable("v", [1]).name)
    return names


def scope_with_settings(tf):
    with tf.variable_scope("s", initializer=tf.constant_initializer(4.0), dtype=tf.float64, use_resource=True):
        v = tf.get_variable("v", [2])
        w = tf.get_variable("w", [1], initializer=tf.zeros_initializer())
    return v.op.type, v.dtype.name, run(tf, [v, w])


def scope_with_a_regularizer(tf):
    with tf.variable_scope("s", regularizer=lambda t: tf.reduce_sum(t) * 0.5):
        tf.get_variable("v", initializer=[2.0, 4.0])
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    return len(losses), run(tf, losses)


def custom_getter(tf):
    def getter(getter, name, *args, **kwargs):
        return getter(name + "_mine", *args, **kwargs)

    with tf.variable_scope("s", custom_getter=getter):
        return tf.get_variable("v", [1]).name


def scope_reopened_by_object(tf):
    with tf.variable_scope("s") as scope:
        a = tf.get_variable("a", [1])
    with tf.variable_scope(scope):
        b = tf.get_variable("b", [1])
        x = tf.constant(1, name="x")
    return a.name, b.name, x.name


def name_scope_does_not_touch_get_variable(tf):
    with tf.name_scope("n"):
        v, w = tf.get_variable("v", [1]), tf.Variable(1.0, name="w")
    return v.name, w.name


def local_variables(tf):
    v = tf.get_local_variable("v", [2])
    return v.name, [x.name for x in tf.local_variables()], tf.trainable_variables()


def random_initializers_are_seeded(tf):
    tf.set_random_seed(5)
    v = tf.get_variable("v", [2, 2], initializer=tf.random_normal_initializer(seed=1))
    w = tf.get_variable("w", [2, 2], initializer=tf.random_uniform_initializer(-1.0, 1.0, seed=2))
    u = tf.get_variable("u", [2, 2], initializer=tf.truncated_normal_initializer(seed=3))
    return run(tf, [v, w, u])


def glorot_is_the_default(tf):
    tf.set_random_seed(5)
    v = tf.get_variable("v", [20, 30])
    limit = float(np.sqrt(6.0 / 50))
    value = run(tf, v)
    return bool(np.all(np.abs(value) <= limit)), bool(np.std(value) > limit / 3)


def to_proto_and_back(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    d = v.to_proto()
    return d.variable_name, d.initializer_name, d.snapshot_name, d.is_resource, tf.Variable.from_proto(d).name


def assigned_under_control_dependencies(tf):
    v = tf.Variable(1.0, use_resource=True)
    with tf.control_dependencies([v.assign(5.0)]):
        later = v.read_value()
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(later)


def sharing_between_runs(tf):
    v = tf.Variable(0)
    up = tf.assign_add(v, 1)
    with tf.Session() as sess:
        initialize(tf, sess)
        return [sess.run(up).tolist() for _ in range(3)]


def each_session_has_its_own(tf):
    v = tf.Variable(0)
    up = tf.assign_add(v, 1)
    with tf.Session() as a, tf.Session() as b:
        a.run(v.initializer)
        b.run(v.initializer)
        a.run(up)
        return a.run(v), b.run(v)


def strings_and_bools(tf):
    s, b = tf.Variable("a"), tf.Variable([True, False])
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run([s.assign("bc"), b.assign([False, False])])
        return sess.run(s), sess.run(b)


def moving_average(tf):
    v = tf.Variable(0.0)
    ema = tf.train.ExponentialMovingAverage(0.9)
    update, change = ema.apply([v]), v.assign(10.0)
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(change)
        sess.run(update)
        return ema.average_name(v), sess.run(ema.average(v))
