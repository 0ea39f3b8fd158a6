"""Variables: constructor arguments, methods, assignment, order of reads, operators, slices, messages."""

import numpy as np

from programs.tools import WHOLE, caught, initialize, names, run, static

KINDS = (False, True)


def _of_both(tf, initial, do, **arguments):
    """Returns the results of `do(variable)` for each kind of variable, and the values afterwards."""
    out = []
    for resource in KINDS:
        v = tf.Variable(initial, use_resource=resource, **arguments)
        r = do(v)
        with tf.Session() as sess:
            initialize(tf, sess)
            out.append([sess.run(r), sess.run(v)])
    return out


def each_dtype(tf):
    kinds = [tf.bool, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.float16, tf.float32, tf.float64, tf.complex64, tf.complex128, tf.string]
    out = [tf.Variable(tf.zeros([2], k), use_resource=r) for k in kinds for r in KINDS]
    return [(v.dtype.name, str(v.shape)) for v in out], run(tf, out)


def dtype_given(tf):
    v = [tf.Variable(1, dtype=tf.float64), tf.Variable([1, 2], dtype=tf.int64), tf.Variable(1.5, dtype="float16"), tf.Variable(True, dtype=tf.bool)]
    return [x.dtype.name for x in v], run(tf, v)


def dtype_that_does_not_fit(tf):
    return caught(lambda: tf.Variable(1.5, dtype=tf.int32)), caught(lambda: tf.Variable(tf.constant(1), dtype=tf.float32)), caught(lambda: tf.Variable("a", dtype=tf.int32))


def of_python_values(tf):
    values = [1, 1.5, True, "a", [1, 2], [[1.0], [2.0]], (1, 2), np.float64([1.0]), np.int8(3)]
    out = [tf.Variable(x) for x in values]
    return [(v.dtype.name, str(v.shape)) for v in out], run(tf, out)


def names_of_variables(tf):
    a, b, c = tf.Variable(1), tf.Variable(1), tf.Variable(1, name="v")
    with tf.name_scope("s"):
        d, e = tf.Variable(1), tf.Variable(1, name="v", use_resource=True)
    return [x.name for x in (a, b, c, d, e)], [x.op.name for x in (a, e)], [x.op.type for x in (a, e)]


def names_of_nodes(tf):
    tf.Variable([1.0], name="v")
    return names(tf)


def names_of_nodes_of_a_resource(tf):
    tf.Variable([1.0], name="v", use_resource=True)
    return names(tf)


def names_of_nodes_of_an_initializer(tf):
    tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    tf.get_variable("w", [2], initializer=tf.ones_initializer(), use_resource=True)
    return names(tf)


def names_of_nodes_of_a_callable(tf):
    tf.Variable(lambda: tf.ones([2]), name="v")
    tf.Variable(lambda: tf.ones([2]), name="w", use_resource=True)
    return names(tf)


def names_of_nodes_of_assignments(tf):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w", use_resource=True)
    for x in (v, w):
        x.assign(2.0)
        x.assign_add(2.0)
        x.assign_sub(2.0)
        x.read_value()
    tf.assign(v, 3.0, name="named")
    tf.assign(w, 3.0, name="named_too")
    return names(tf)


def names_of_nodes_of_initializers(tf):
    tf.Variable(1.0, name="v")
    return tf.global_variables_initializer().name, tf.local_variables_initializer().name, tf.variables_initializer([], name="mine").name, tf.global_variables_initializer().name


def initial_value_callable(tf):
    return _of_both(tf, lambda: tf.constant([1.0, 2.0]), lambda v: v * 2.0)


def initial_value_callable_with_dtype(tf):
    return _of_both(tf, lambda: [1, 2], lambda v: v * 2.0, dtype=tf.float32)


def initial_value_missing(tf):
    return caught(lambda: tf.Variable(), WHOLE), caught(lambda: tf.Variable(use_resource=True), WHOLE)


def initial_value_of_unknown_shape(tf):
    p = tf.placeholder(tf.float32)
    return caught(lambda: tf.Variable(p), WHOLE), str(tf.Variable(p, validate_shape=False).get_shape()), str(tf.Variable(p, use_resource=True, validate_shape=False).get_shape())


def initial_value_of_a_placeholder(tf):
    p = tf.placeholder(tf.float32, [2])
    v = tf.Variable(p)
    with tf.Session() as sess:
        sess.run(v.initializer, {p: [1.0, 2.0]})
        return sess.run(v)


def initial_value_property(tf):
    v, w = tf.Variable([1.0]), tf.Variable([1.0], use_resource=True)
    return static(v.initial_value, w.initial_value), run(tf, [v.initial_value, w.initial_value])


def initialized_value(tf):
    out = []
    for resource in KINDS:
        v = tf.Variable([1.0, 2.0], use_resource=resource)
        w = tf.Variable(v.initialized_value() * 2.0, use_resource=resource)
        with tf.Session() as sess:
            sess.run(w.initializer)
            out.append(sess.run(w))
            sess.run(v.initializer)
            sess.run(v.assign([5.0, 6.0]))
            out.append(sess.run(v.initialized_value()))
    return out


def trainable_and_collections(tf):
    a, b = tf.Variable(1, trainable=False, name="a"), tf.Variable(1, collections=["mine"], name="b")
    c = tf.Variable(1, collections=["mine", tf.GraphKeys.LOCAL_VARIABLES], trainable=False, name="c")
    keys = (tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.TRAINABLE_VARIABLES, tf.GraphKeys.LOCAL_VARIABLES, "mine")
    return [a.trainable, b.trainable, c.trainable], [[v.name for v in tf.get_collection(k)] for k in keys]


def collections_misused(tf):
    return caught(lambda: tf.Variable(1, collections="mine"), WHOLE)


def constraint(tf):
    double = lambda x: x * 2.0  # noqa: E731
    v = tf.Variable([1.0], constraint=double)
    return v.constraint is double, tf.Variable(1).constraint, caught(lambda: tf.Variable(1.0, constraint=3), WHOLE)


def caching_device(tf):
    v = tf.Variable([1.0, 2.0], caching_device="/cpu:0")
    return run(tf, v + 1.0)


def validate_shape_off(tf):
    v = tf.Variable([1.0, 2.0], validate_shape=False)
    with tf.Session() as sess:
        initialize(tf, sess)
        return str(v.shape), sess.run(tf.assign(v, [[1.0]], validate_shape=False)), sess.run(v)


def expected_shape(tf):
    return str(tf.Variable([1.0, 2.0], expected_shape=[2]).shape)


def shape_methods(tf):
    out = []
    for resource in KINDS:
        v = tf.Variable([[1.0, 2.0]], use_resource=resource)
        out.append([str(v.shape), v.get_shape().as_list(), v.shape.ndims, run(tf, [tf.shape(v), tf.rank(v), tf.size(v)])])
    return out


def uninitialized(tf):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w", use_resource=True)
    with tf.Session() as sess:
        return [caught(lambda: sess.run(v), WHOLE), caught(lambda: sess.run(w)), caught(lambda: sess.run(v.assign_add(1.0))), caught(lambda: sess.run(w.assign_add(1.0)))]


def is_initialized(tf):
    v, w = tf.Variable(1.0), tf.Variable(1.0, use_resource=True)
    flags = [tf.is_variable_initialized(v), tf.is_variable_initialized(w), w.is_initialized()]
    with tf.Session() as sess:
        before = sess.run(flags)
        initialize(tf, sess)
        return static(*flags), before, sess.run(flags)


def report_uninitialized(tf):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w", use_resource=True)
    all_of, some = tf.report_uninitialized_variables(), tf.report_uninitialized_variables([w])
    with tf.Session() as sess:
        before = sess.run([all_of, some])
        sess.run(v.initializer)
        between = sess.run([all_of, some])
        sess.run(w.initializer)
        return static(all_of), before, between, sess.run([all_of, some])


def report_uninitialized_of_none(tf):
    return run(tf, tf.report_uninitialized_variables()), run(tf, tf.report_uninitialized_variables([]))


def operators_on_both_sides(tf):
    out = []
    for resource in KINDS:
        v = tf.Variable([7.0, 8.0], use_resource=resource)
        w = tf.Variable([7, 8], use_resource=resource)
        out += [v + 1, 1 + v, v - 1, 1 - v, v * 2, 2 * v, v / 2, 2 / v, v // 2, 2 // v, v % 3, 3 % v, v ** 2, 2 ** v, -v, abs(v), v < 8, v <= 8, v > 7, v >= 7,
                w // 3, w % 3, w / 2, v + np.float32([1, 2]), np.float32([1, 2]) + v, v * v, v + tf.constant([1.0, 1.0])]
    return run(tf, out)


def logical_operators(tf):
    out = []
    for resource in KINDS:
        v = tf.Variable([True, False], use_resource=resource)
        out += [v & True, True & v, v | [False, True], v ^ v, ~v]
    return run(tf, out)


def matrix_operator(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    return run(tf, [v @ v, v @ [[1.0], [1.0]], np.float32([[1, 1]]) @ v])


def compared_by_identity(tf):
    v, w = tf.Variable(1), tf.Variable(1)
    return v == w, v == v, v != w, len({v, w, v}), v in [w], v in [w, v]


def slices_of_a_variable(tf):
    out = []
    for resource in KINDS:
        v = tf.Variable(np.arange(12).reshape(3, 4), use_resource=resource)
        out += [v[0], v[-1], v[1:], v[:, 1], v[::2, ::-1], v[..., 0], v[tf.newaxis], v[1, 2], v[tf.constant(1)], v[:2, 1:3]]
    return static(*out), run(tf, out)


def slice_of_a_tensor_is_not_assigned(tf):
    x = tf.constant([1, 2, 3])
    return caught(lambda: x[1:].assign([1, 2]), WHOLE)


def iterated(tf):
    v = tf.Variable([1, 2])
    return caught(lambda: list(v), WHOLE), caught(lambda: iter(tf.Variable([1, 2], use_resource=True)), WHOLE)


def gathered(tf):
    out = []
    for resource in KINDS:
        v = tf.Variable([[1, 2], [3, 4], [5, 6]], use_resource=resource)
        out += [tf.gather(v, [2, 0]), tf.gather(v, 1), tf.gather_nd(v, [[0, 1], [2, 0]])]
    out.append(v.sparse_read([1, 1]))
    return run(tf, out)


def reference_and_value(tf):
    v = tf.Variable([1.0])
    return v._ref().dtype.name, v.value().dtype.name, v.value().name, v.read_value().name, v.dtype.name, v.dtype.base_dtype.name, v.value() is v.value()


def handle_of_a_resource(tf):
    v = tf.Variable([1.0], use_resource=True)
    return v.handle.dtype.name, v.handle.name, v.dtype.name, static(v.handle), v.value().name, v.read_value().name, v.op.name


def printed(tf):
    return repr(tf.Variable([1.0], name="v")), repr(tf.Variable([1.0], name="w", use_resource=True)), str(tf.Variable(True, name="b"))


def as_messages(tf):
    out = []
    for resource in KINDS:
        v = tf.Variable([1.0], name="v", use_resource=resource, trainable=not resource)
        m = v.to_proto()
        w = tf.Variable.from_proto(m)
        out.append([m.variable_name, m.initializer_name, m.snapshot_name, m.initial_value_name, m.is_resource, m.trainable, w.name, w.trainable, w.op.name])
    return out


def as_messages_in_a_scope(tf):
    with tf.name_scope("s"):
        v = tf.Variable([1.0], name="v")
    m = v.to_proto(export_scope="s")
    return m.variable_name, m.initializer_name, v.to_proto(export_scope="other"), tf.Variable.from_proto(m, import_scope="s").name


def made_from_both_definition_and_value(tf):
    v = tf.Variable([1.0])
    return caught(lambda: tf.Variable([1.0], variable_def=v.to_proto()), WHOLE)


def fetched_by_name(tf):
    tf.Variable([1.0], name="v")
    tf.Variable([2.0], name="w", use_resource=True)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(["v:0", "v/read:0", "w/Read/ReadVariableOp:0"])


def fed(tf):
    v, w = tf.Variable([1.0]), tf.Variable([1.0], use_resource=True)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(v * 2.0, {v: [5.0]}), sess.run(w, {w: [5.0]})


def device(tf):
    with tf.device("/cpu:0"):
        v, w = tf.Variable(1), tf.Variable(1, use_resource=True)
    return v.device, w.device


def under_control_dependencies(tf):
    with tf.control_dependencies([tf.no_op(name="first")]):
        v = tf.Variable(1)
    return v.initializer.control_inputs, v.op.control_inputs


def enabled_resources(tf):
    tf.enable_resource_variables()
    try:
        v, w = tf.Variable(1), tf.get_variable("w", [])
        x = tf.Variable(1, use_resource=False)
        return tf.resource_variables_enabled(), [a.op.type for a in (v, w, x)]
    finally:
        tf.disable_resource_variables()


def assertion_of_initialization(tf):
    v = tf.Variable(1)
    a = tf.assert_variables_initialized([v])
    with tf.Session() as sess:
        before = caught(lambda: sess.run(a))
        initialize(tf, sess)
        return before, sess.run(a)


def local_and_model_variables(tf):
    v = tf.Variable(1, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="l", trainable=False)
    w = tf.Variable(1, collections=[tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.MODEL_VARIABLES], name="m")
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        return [x.name for x in tf.local_variables()], [x.name for x in tf.model_variables()], [x.name for x in tf.trainable_variables("m")], sess.run(v), w.name


def set_shape(tf):
    v = tf.Variable(tf.placeholder(tf.float32), validate_shape=False)
    v.set_shape([2])
    return str(v.get_shape()), caught(lambda: tf.Variable([1.0]).set_shape([2]))


def of_another_dtype_in_an_op(tf):
    """The op says which arguments disagree."""
    out = []
    for resource in KINDS:
        a = tf.Variable([[1.0]], name="a", use_resource=resource)
        b = tf.Variable([[1]], name="b", use_resource=resource)
        out.append([caught(f, WHOLE) for f in (lambda: tf.matmul(a, b), lambda: a + b, lambda: tf.multiply(a, b), lambda: tf.constant([[1.0]]) - b)])
    return out
