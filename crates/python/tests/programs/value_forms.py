"""Constants and conversions: all dtypes and Python types, shapes, names, static values, errors."""

import decimal
import fractions

import numpy as np

from programs.tools import WHOLE, caught, names, run, static

NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128")


def numbers_of_each_dtype(tf):
    out = [tf.constant(x, getattr(tf, k)) for k in NUMBERS for x in (3, [1, 2], [[1], [2]])]
    return static(*out), run(tf, out)


def numpy_of_each_dtype(tf):
    kinds = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128", "S3", "U3"]
    out = [tf.constant(np.array([0, 1]).astype(k)) for k in kinds]
    return static(*out), run(tf, out)


def numpy_scalars(tf):
    out = [tf.constant(t(1)) for t in (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.float16, np.float32, np.float64, np.complex64, np.complex128, np.str_)]
    return static(*out), run(tf, out)


def numpy_of_any_layout(tf):
    a = np.arange(12, dtype=np.int32).reshape(3, 4)
    return run(tf, [tf.constant(x) for x in (a.T, a[::-1], a[:, ::2], np.asfortranarray(a), a[:0], np.broadcast_to(a[0], (2, 4)))])


def numpy_of_objects(tf):
    return run(tf, tf.constant(np.array(["a", b"b"], object))), caught(lambda: tf.constant(np.array([1, "a"], object))), caught(lambda: tf.constant(np.array([None])))


def numpy_of_dates(tf):
    return caught(lambda: tf.constant(np.array(["2020-01-01"], "datetime64[D]")))


def limits_of_ints(tf):
    good = [tf.constant(x, k) for x, k in ((127, tf.int8), (-128, tf.int8), (255, tf.uint8), (2 ** 31 - 1, tf.int32), (2 ** 63 - 1, tf.int64), (-(2 ** 63), tf.int64), (2 ** 64 - 1, tf.uint64), (2 ** 32 - 1, tf.uint32))]
    return run(tf, good), caught(lambda: tf.constant(2 ** 63, tf.int64)), caught(lambda: tf.constant(2 ** 70))


def infinities(tf):
    return run(tf, [tf.constant(float("inf")), tf.constant([float("-inf"), float("nan")]), tf.constant(1e39), tf.constant(1e39, tf.float64), tf.constant(1e10, tf.float16)])


def mixed_lists(tf):
    return run(tf, [tf.constant([1, 2.5]), tf.constant([1.5, 2]), tf.constant([[1], [2.5]]), tf.constant([True, 1]), tf.constant([1, True])]), [caught(lambda: tf.constant(x)) for x in ([1, "a"], [1.5, "a"], ["a", 1], [None], [1, None])]


def bools_as_numbers(tf):
    return run(tf, [tf.constant(True, tf.int32), tf.constant([True], tf.float32)]), caught(lambda: tf.constant(1, tf.bool)), caught(lambda: tf.constant([0, 1], tf.bool))


def messages_of_wrong_values(tf):
    return [
        caught(lambda: tf.constant(1.5, tf.int32), WHOLE), caught(lambda: tf.constant("a", tf.float32), WHOLE), caught(lambda: tf.constant(1, tf.string), WHOLE), caught(lambda: tf.constant(1, tf.bool), WHOLE),
        caught(lambda: tf.constant([1, 2.5], tf.int64), WHOLE), caught(lambda: tf.constant(1j, tf.float32), WHOLE), caught(lambda: tf.constant(None), WHOLE), caught(lambda: tf.constant(([1, 2], [3])), WHOLE),
        caught(lambda: tf.constant([1, "a"]), WHOLE), caught(lambda: tf.constant(["a", 1.5]), WHOLE), caught(lambda: tf.constant([1, None]), WHOLE),
    ]


def texts(tf):
    return run(tf, [tf.constant("abc"), tf.constant(b"\xff\x00"), tf.constant(u"\u00e9\u4e2d"), tf.constant(["", "a", "abc"]), tf.constant([["a"], ["b"]]), tf.constant("a\0b")])


def tuples_of_numbers(tf):
    return run(tf, [tf.constant((1, 2)), tf.constant([(1, 2), (3, 4)])])


def generators_and_sets(tf):
    return caught(lambda: tf.constant(x for x in [1])), caught(lambda: tf.constant({1, 2})), caught(lambda: tf.constant({"a": 1})), caught(lambda: tf.constant(object()))


def decimals_and_fractions(tf):
    return caught(lambda: tf.constant(decimal.Decimal("1.5"))), caught(lambda: tf.constant(fractions.Fraction(1, 2)))


def shape_argument(tf):
    out = [tf.constant(7, shape=[2, 3]), tf.constant([1, 2], shape=[2, 2]), tf.constant([1, 2, 3, 4], shape=[2, 2]), tf.constant(1.5, shape=[]), tf.constant("a", shape=[2]), tf.constant(True, shape=[1, 1]), tf.constant(1, tf.float64, [2])]
    return static(*out), run(tf, out)


def shape_argument_misused(tf):
    return caught(lambda: tf.constant([1, 2, 3], shape=[2]), WHOLE), caught(lambda: tf.constant(1, shape=[None])), caught(lambda: tf.constant([1, 2], shape=[3], verify_shape=True), WHOLE), run(tf, tf.constant([], shape=[2]))


def empty(tf):
    out = [tf.constant([]), tf.constant([], tf.int32), tf.constant([[]]), tf.constant([[], []], tf.string), tf.constant(np.zeros([0, 3])), tf.constant([], shape=[0, 2])]
    return static(*out), run(tf, out)


def of_a_tensor_is_refused(tf):
    return caught(lambda: tf.constant(tf.constant(1))), caught(lambda: tf.constant([tf.constant(1), 2]))


def names_of_constants(tf):
    with tf.name_scope("s"):
        a = tf.constant(1)
    return a.name, tf.constant(1).name, tf.constant(1).name, tf.constant(1, name="c").name, tf.constant(1, name="c").name, a.op.type


def attributes_of_a_constant(tf):
    op = tf.constant([[1.0, 2.0]]).op
    return op.get_attr("dtype"), op.get_attr("value").tensor_shape.dim[1].size, caught(lambda: op.get_attr("nothing"))


def known_values(tf):
    known = tf.get_static_value if hasattr(tf, "get_static_value") else tf.contrib.util.constant_value
    c = tf.constant([[1, 2], [3, 4]])
    p = tf.placeholder(tf.int32, [2, 3])
    tensors = [c, tf.shape(p), tf.size(p), tf.rank(p), tf.range(3), tf.fill([2], 7), tf.zeros([2]), tf.cast(c, tf.float32), tf.concat([c, c], 0), tf.stack([1, 2]), tf.equal(c, c), tf.not_equal(1, 2),
               p, tf.random_uniform([1]), tf.constant("a"), tf.ones([2, 2]), tf.zeros_like(c)]
    return [known(t) for t in tensors]


def known_values_of_no_tensor(tf):
    return tf.get_static_value(3), tf.get_static_value("a")


def conversions(tf):
    c = tf.constant([1.0])
    values = [1, 1.5, True, "a", [1, 2], np.int64(3), np.zeros([2]), tf.TensorShape([2, 3]), tf.Dimension(4), [tf.constant(1), 2], [[tf.constant(1.0)], [2]], [np.float64(1), 2], (1, tf.constant(2))]
    out = [tf.convert_to_tensor(v) for v in values]
    return tf.convert_to_tensor(c) is c, static(*out), run(tf, out)


def conversions_with_a_dtype(tf):
    out = [tf.convert_to_tensor(1, tf.float32), tf.convert_to_tensor([1, 2], tf.int64), tf.convert_to_tensor(np.float64([1.0]), tf.float32), tf.convert_to_tensor(np.int32(1), "int64"), tf.convert_to_tensor([tf.constant(1.0), 2], tf.float32)]
    return static(*out), run(tf, out)


def conversions_by_preference(tf):
    return static(tf.convert_to_tensor(1, preferred_dtype=tf.float32), tf.convert_to_tensor(1.5, preferred_dtype=tf.int32), tf.convert_to_tensor("a", preferred_dtype=tf.int32), tf.convert_to_tensor(1, dtype_hint=tf.int64))


def conversions_refused(tf):
    c = tf.constant([1.0])
    return [
        caught(lambda: tf.convert_to_tensor(c, tf.int32), WHOLE), caught(lambda: tf.convert_to_tensor(None), WHOLE), caught(lambda: tf.convert_to_tensor(object())), caught(lambda: tf.convert_to_tensor({"a": 1})),
        caught(lambda: tf.convert_to_tensor(tf.TensorShape([None, 2])), WHOLE), caught(lambda: tf.convert_to_tensor(tf.TensorShape(None)), WHOLE), caught(lambda: tf.convert_to_tensor(tf.Dimension(None)), WHOLE), caught(lambda: tf.convert_to_tensor([c, "a"])),
        caught(lambda: tf.convert_to_tensor(tf.no_op())), caught(lambda: tf.convert_to_tensor([tf.constant(1), tf.constant(1.0)])), caught(lambda: tf.convert_to_tensor(lambda: 1)),
    ]


def conversion_names(tf):
    return tf.convert_to_tensor(1, name="n").name, tf.convert_to_tensor([tf.constant(1), 2], name="m").name, tf.convert_to_tensor(tf.TensorShape([1]), name="s").name


def packed_names(tf):
    a = tf.constant(1, name="a")
    tf.convert_to_tensor([[a, 2], [3, a]], name="m")
    return names(tf)


def own_conversion(tf):
    class Celsius(object):
        def __init__(self, degrees):
            self.degrees = degrees

    tf.register_tensor_conversion_function(Celsius, lambda v, dtype=None, name=None, as_ref=False: tf.constant(v.degrees, dtype, name=name))
    return run(tf, [tf.convert_to_tensor(Celsius(3.5)), tf.add(Celsius(1.0), 2.0), tf.constant(1.0) + Celsius(2.0)])


def own_conversion_misused(tf):
    return caught(lambda: tf.register_tensor_conversion_function("a", lambda: 1), WHOLE), caught(lambda: tf.register_tensor_conversion_function(int, 3), WHOLE)


def array_protocol(tf):
    class Two(object):
        def __array__(self, *a, **k):
            return np.float32([1, 2])

    return run(tf, [tf.convert_to_tensor(Two()), tf.constant(1.0) + Two()])


def fills(tf):
    out = [tf.fill([2, 3], 7), tf.fill([], 1.5), tf.fill([2], "a"), tf.fill([0], True), tf.fill(tf.constant([1, 2], tf.int64), np.int8(3)), tf.fill(tf.TensorShape([2]), 1j)]
    return static(*out), run(tf, out)


def fills_of_fed_dims(tf):
    d = tf.placeholder(tf.int32, [2])
    f = tf.fill(d, 1)
    return static(f), run(tf, f, {d: [1, 2]}), caught(lambda: run(tf, f, {d: [-1, 2]}))


def fills_refused(tf):
    return caught(lambda: tf.fill([2], [1, 2])), caught(lambda: tf.fill([[2]], 1)), caught(lambda: tf.fill([1.5], 1))


def zeros_and_ones_of_each_dtype(tf):
    kinds = [getattr(tf, k) for k in NUMBERS] + [tf.bool]
    out = [f([2], k) for k in kinds for f in (tf.zeros, tf.ones)] + [tf.zeros([2], tf.string)]
    return static(*out), run(tf, out)


def zeros_of_each_kind_of_shape(tf):
    p = tf.placeholder(tf.int32, [None])
    out = [tf.zeros(s) for s in ([], 2, [2], (1, 2), np.array([2, 1]), tf.TensorShape([3]), tf.constant([2, 2]), [tf.Dimension(2), 1], [tf.constant(2), 1], tf.constant([1], tf.int64))]
    q = tf.zeros(p)
    return static(q, *out), run(tf, out), run(tf, q, {p: [1, 2]})


def zeros_of_many_elements(tf):
    z = tf.zeros([100, 100])
    return z.op.type, static(z), run(tf, tf.reduce_sum(z))


def zeros_refused(tf):
    return caught(lambda: tf.zeros([-1])), caught(lambda: tf.zeros("a")), caught(lambda: tf.zeros(None)), caught(lambda: tf.ones([2], tf.string)), caught(lambda: tf.zeros([None]))


def likes(tf):
    p = tf.placeholder(tf.float32, [None, 2])
    c = tf.constant([1, 2])
    out = [tf.zeros_like(c), tf.ones_like(c), tf.zeros_like(c, tf.float64), tf.ones_like(c, tf.bool), tf.zeros_like([1.5]), tf.zeros_like(["a"]), tf.ones_like(np.int8([3]))]
    q = [tf.zeros_like(p), tf.ones_like(p), tf.zeros_like(p, tf.int32)]
    return static(*(out + q)), run(tf, out), run(tf, q, {p: [[1, 2]]})


def ranges_of_each_dtype(tf):
    out = [tf.range(3), tf.range(1, 4), tf.range(0, 10, 3), tf.range(3, 0, -1), tf.range(2.0), tf.range(0, 1, 0.25), tf.range(3, dtype=tf.float64), tf.range(np.int64(3)), tf.range(0), tf.range(start=1, limit=3, delta=1), tf.range(limit=2, start=0)]
    return static(*out), run(tf, out)


def ranges_refused(tf):
    return caught(lambda: tf.range(5, 2)), caught(lambda: tf.range(0, 3, 0)), caught(lambda: tf.range([1, 2]))


def ranges_of_fed_limits(tf):
    n = tf.placeholder(tf.int32, [])
    return static(tf.range(n)), run(tf, tf.range(1, n), {n: 4})


def linspaces(tf):
    out = [tf.linspace(0.0, 1.0, 5), tf.linspace(np.float64(1), np.float64(0), 3), tf.linspace(2.0, 3.0, 1), tf.lin_space(0.0, 2.0, 3)]
    return static(*out), run(tf, out), caught(lambda: run(tf, tf.linspace(0.0, 1.0, 0))), caught(lambda: tf.linspace(0, 1, 3))


def identities_of_matrices(tf):
    out = [tf.eye(2), tf.eye(2, 3), tf.eye(3, 2, dtype=tf.int32), tf.eye(2, batch_shape=[2]), tf.eye(tf.constant(2), dtype=tf.float64)]
    return static(*out), run(tf, out)


def placeholders(tf):
    out = [tf.placeholder(tf.float32), tf.placeholder("int32", [2, None]), tf.placeholder(tf.string, 3), tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, (None,)), tf.placeholder(tf.float32, tf.TensorShape(None), name="p")]
    return static(*out), [t.name for t in out]


def placeholders_fed_in_each_form(tf):
    p = tf.placeholder(tf.float32, [None])
    with tf.Session() as sess:
        return [sess.run(p, {p: v}) for v in ([1, 2], (1.5,), np.float64([2.5]), np.arange(3), [True], [])]


def placeholders_fed_wrongly(tf):
    p, i, s = tf.placeholder(tf.float32, [2], name="p"), tf.placeholder(tf.int32, [], name="i"), tf.placeholder(tf.string, [], name="s")
    with tf.Session() as sess:
        return [
            caught(lambda: sess.run(p, {p: [1, 2, 3]}), WHOLE), caught(lambda: sess.run(p, {p: [[1, 2]]}), WHOLE), caught(lambda: sess.run(p, {p: "a"})), sess.run(i, {i: 2.5}), caught(lambda: sess.run(p, {p: tf.constant(1)})),
            caught(lambda: sess.run(p, {p: None})), caught(lambda: sess.run(i, {i: 2 ** 40})), caught(lambda: sess.run(p), WHOLE), sess.run(s, {s: "x"}), caught(lambda: sess.run(s, {s: 1})),
        ]


def placeholders_with_a_default(tf):
    p = tf.placeholder_with_default([1, 2], [None])
    return static(p), run(tf, p), run(tf, p, {p: [5]}), caught(lambda: tf.placeholder_with_default([1, 2], [3]))
