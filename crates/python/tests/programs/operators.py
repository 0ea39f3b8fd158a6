"""Operators, slicing and methods of tensors: types of operands, dtypes, comparison, forms of indices."""

import numpy as np

from programs.tools import WHOLE, caught, names, run, static


def with_numbers_on_both_sides(tf):
    x = tf.constant([7.0, -8.0])
    return run(tf, [x + 2, 2 + x, x - 2, 2 - x, x * 2, 2 * x, x / 2, 2 / x, x // 2, 2 // x, x % 3, 3 % x, x ** 2, -x, abs(x)])


def with_ints_of_each_dtype(tf):
    out = []
    for k in (tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8):
        x = tf.constant([7, 8], k)
        out += [x + 2, 2 + x, x - 2, x * 2, x / 2, x // 3, x < 8, x >= 8]
    return static(*out), run(tf, out)


def with_modulo_of_negative_ints(tf):
    x, f = tf.constant([7, -7]), tf.constant([7.5, -7.5])
    return run(tf, [x % 3, x % -3, x // 3, x // -3, tf.mod(x, 3), tf.truncatemod(x, 3), tf.truncatediv(x, 3), f % 3, f // 2, tf.floormod(f, -2.0), tf.floordiv(x, 2), tf.truediv(x, 2), tf.div(x, 2)])


def with_floats_of_each_dtype(tf):
    out = []
    for k in (tf.float16, tf.float32, tf.float64, tf.complex64, tf.complex128):
        x = tf.constant([1.5, 2.0], k)
        out += [x + 2, 2 * x, x / 2, 1 - x, x ** 2, -x, abs(x)]
    return static(*out), run(tf, out)


def with_numpy_on_both_sides(tf):
    x, a = tf.constant([1.0, 2.0]), np.float32([10, 20])
    out = [x + a, a + x, a - x, x - a, a * x, a / x, a // x, a % x, a ** x, x ** a, a < x, a >= x, np.float32(3) * x, np.float32(3) - x]
    return [type(o).__name__ for o in out[:2]], run(tf, out)


def with_numpy_of_another_dtype(tf):
    x = tf.constant([1.0, 2.0])
    return static(x + np.float64([1, 2])), run(tf, x + np.int32([1, 2]))


def with_lists(tf):
    x = tf.constant([1.0, 2.0])
    return run(tf, [x + [1, 2], [1, 2] + x, x * [[1], [2]], (1.5, 2.5) - x])


def with_tensors_of_other_dtypes(tf):
    f, i = tf.constant([1.0]), tf.constant([1])
    return [caught(lambda: f + i, WHOLE), caught(lambda: i + f, WHOLE), caught(lambda: i * 1.5, WHOLE), caught(lambda: i + "a", WHOLE), caught(lambda: f + None, WHOLE), caught(lambda: tf.constant(1) + tf.constant(1, tf.int64), WHOLE), caught(lambda: tf.constant("a") + 1, WHOLE)]


def with_a_number_too_large(tf):
    return caught(lambda: tf.constant(1, tf.int64) + 2 ** 64), caught(lambda: tf.constant(1) + 2 ** 64)


def with_strings(tf):
    s = tf.constant(["a", "b"])
    return run(tf, [s + "x", "x" + s, s + s, s + ["1", "2"]]), caught(lambda: s - "x"), caught(lambda: s * 2)


def with_bools(tf):
    b = tf.constant([True, False])
    return run(tf, [b & True, True & b, b | [False, True], b ^ b, ~b, b & np.array([True, True])]), caught(lambda: b + True), caught(lambda: ~tf.constant(1.0)), caught(lambda: b & 1)


def with_ints_as_bits(tf):
    x = tf.constant([6, 3])
    return caught(lambda: x & 1), caught(lambda: ~x), run(tf, [tf.bitwise.bitwise_and(x, 2), tf.bitwise.bitwise_or(x, 8), tf.bitwise.bitwise_xor(x, 1), tf.bitwise.invert(x), tf.bitwise.left_shift(x, 2), tf.bitwise.right_shift(x, 1)])


def comparisons(tf):
    x = tf.constant([1, 2, 3])
    return run(tf, [x < 2, x <= 2, x > 2, x >= 2, 2 < x, 2 >= x, tf.equal(x, 2), tf.not_equal(x, [1, 0, 3])]), static(x < 2), caught(lambda: tf.constant("a") < "b")


def equality_is_identity(tf):
    x, y = tf.constant(1), tf.constant(1)
    return x == y, x == x, x != y, x == 1, hash(x) == hash(x), len({x: 1, y: 2}), x in [y], x in [y, x], x is None


def broadcasts(tf):
    a, b = tf.ones([2, 1, 3]), tf.ones([4, 1])
    p = tf.placeholder(tf.float32, [None, 3])
    return static(a + b, p + tf.ones([3]), p + tf.ones([2, 1]), p * 2.0, p + tf.placeholder(tf.float32), p + p), caught(lambda: tf.ones([2]) + tf.ones([3]))


def matrix_products(tf):
    a, b = tf.constant([[1.0, 2.0], [3.0, 4.0]]), np.float32([[1, 0], [0, 2]])
    return run(tf, [a @ b, b @ a, a @ [[1.0], [1.0]]]), static(a @ b), caught(lambda: a @ tf.constant([1.0, 2.0])), caught(lambda: a @ tf.ones([3, 3]))


def names_of_operators(tf):
    x, b = tf.constant([1.0], name="x"), tf.constant([True], name="b")
    out = [x + 1, 1 + x, x - 1, x * 2, x / 2, x // 2, x % 2, x ** 2, -x, abs(x), x < 1, x <= 1, x > 1, x >= 1, b & b, b | b, b ^ b, ~b, x[0], x[0:1], tf.constant([[1.0]]) @ tf.constant([[1.0]])]
    return [t.name for t in out], [t.op.type for t in out]


def names_of_all_for_operators(tf):
    x, i = tf.constant([1.0], name="x"), tf.constant([1], name="i")
    _ = [x * 2 + 1, i / 2, i // 2, i - 1, x[0], x[:, tf.newaxis], -x]
    return names(tf)


def truth_of_a_tensor(tf):
    x = tf.constant(True)
    return caught(lambda: bool(x)), caught(lambda: 1 if x else 2), caught(lambda: x and True), caught(lambda: not x)


def iteration_and_length(tf):
    x = tf.constant([1, 2])
    return caught(lambda: list(x)), caught(lambda: len(x)), caught(lambda: [a for a in x]), caught(lambda: 1 in x)


def messages_of_truth_and_iteration(tf):
    x = tf.constant([1, 2])
    return caught(lambda: bool(x), WHOLE), caught(lambda: list(x), WHOLE)


def conversion_to_python(tf):
    x = tf.constant(1)
    return caught(lambda: int(x)), caught(lambda: float(x)), caught(lambda: np.zeros(3)[x]), caught(lambda: range(x))


def numpy_of_a_tensor(tf):
    return caught(lambda: np.array(tf.constant([1, 2])) + 1)[0] != "nothing was raised", caught(lambda: np.sum(tf.constant([1.0])))[0] is not None


def slices_with_numbers(tf):
    x = tf.constant(np.arange(24).reshape(2, 3, 4))
    out = [x[0], x[-1], x[0, 1], x[0, 1, 2], x[-1, -1, -1], x[:], x[1:], x[:1], x[:, 1:], x[:, :, ::2], x[:, ::-1], x[::-1, ::-1, ::-1], x[..., 0], x[0, ...], x[..., 1:3], x[:, -2:, :-1], x[0:2:1, 0], x[1:1], x[5:], x[-5:1]]
    return static(*out), run(tf, out)


def slices_with_new_axes(tf):
    x = tf.constant(np.arange(6).reshape(2, 3))
    out = [x[tf.newaxis], x[:, tf.newaxis], x[..., tf.newaxis], x[None, ..., None], x[0, tf.newaxis, 1], x[tf.newaxis, 1:, tf.newaxis, ::2]]
    return static(*out), run(tf, out)


def slices_with_tensors(tf):
    x = tf.constant(np.arange(6).reshape(2, 3))
    i, j = tf.constant(1), tf.placeholder(tf.int32, [])
    out = [x[i], x[i:], x[:, i], x[:, i - 1:i + 1], x[tf.constant(0, tf.int64)], x[0, i:tf.constant(3)]]
    fed = [x[j], x[:, j:], x[j, j]]
    return static(*(out + fed)), run(tf, out), run(tf, fed, {j: 1})


def slices_with_numpy(tf):
    x = tf.constant([1, 2, 3])
    return run(tf, [x[np.int64(1)], x[np.int32(0):np.int64(2)], x[np.array(1)]])


def slices_with_dimensions(tf):
    x = tf.constant([1, 2, 3])
    return run(tf, [x[tf.Dimension(1)], x[:tf.Dimension(2)]])


def slices_of_strings(tf):
    return run(tf, tf.constant(["a", "b", "c"])[1:])


def slices_of_unknown_shapes(tf):
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [None, 4])
    return static(x[0], x[1:], x[..., 0], y[0], y[1:], y[:, 1:3], y[..., tf.newaxis], y[::2], y[:, 0])


def slices_refused(tf):
    x = tf.constant([[1, 2], [3, 4]])
    return [caught(lambda: x[5]), caught(lambda: x[0, 0, 0]), caught(lambda: x["a"]), caught(lambda: x[1.5]), caught(lambda: x[..., ...]), caught(lambda: x[::0]), caught(lambda: x[tf.constant(1.0)])]


def slices_refused_by_message(tf):
    x = tf.constant([[1, 2], [3, 4]])
    return caught(lambda: x["a"], WHOLE), caught(lambda: x[1.5], WHOLE), caught(lambda: x[..., ...], WHOLE), caught(lambda: x[tf.constant(1.0)], WHOLE)


def slice_by_a_mask(tf):
    x = tf.constant([[1, 2], [3, 4]])
    return run(tf, [tf.boolean_mask(x, [True, False]), tf.boolean_mask(x, [[True, False], [False, True]]), tf.boolean_mask(x, [True, False], axis=1)]), caught(lambda: tf.boolean_mask(x, True)), caught(lambda: tf.boolean_mask(x, [True, False, True]))


def strided_slices_by_masks(tf):
    x = tf.constant(np.arange(12).reshape(3, 4))
    out = [tf.strided_slice(x, [0, 1], [2, 3]), tf.strided_slice(x, [1, 1], [3, 4], [1, 2]), tf.strided_slice(x, [0, 0], [3, 4], begin_mask=1, end_mask=2), tf.strided_slice(x, [1, 0], [2, 4], shrink_axis_mask=1),
           tf.strided_slice(x, [0, 0], [1, 2], new_axis_mask=1), tf.strided_slice(x, [0, 1], [0, 2], ellipsis_mask=1), tf.slice(x, [1, 0], [-1, 2]), tf.slice(x, [0, 1], [2, -1])]
    return static(*out), run(tf, out)


def tensor_properties(tf):
    x = tf.add(tf.constant([1.0]), 2.0, name="x")
    return x.name, x.op.name, x.value_index, x.dtype, str(x.shape), x.device, x.graph is tf.get_default_graph(), x.op.type, [t.name for t in x.op.inputs], x.op.outputs[0] is x


def tensor_shapes(tf):
    x = tf.placeholder(tf.float32, [None, 3])
    s = x.get_shape()
    return s.as_list(), s.ndims, [d.value for d in s.dims], s[1].value, int(s[1]), s.is_fully_defined(), x.shape.num_elements(), tf.placeholder(tf.float32).shape.ndims, str(x.shape[1:]), len(s)


def tensor_set_shape(tf):
    x = tf.placeholder(tf.float32)
    before = str(x.shape)
    x.set_shape([None, 3])
    between = str(x.shape)
    x.set_shape([2, None])
    return before, between, str(x.shape), caught(lambda: x.set_shape([2, 4]), WHOLE), caught(lambda: x.set_shape([2]), WHOLE)


def tensor_consumers(tf):
    x = tf.constant(1.0, name="x")
    tf.negative(x, name="a")
    tf.add(x, x, name="b")
    return [op.name for op in x.consumers()], tf.constant(1).consumers()


def tensor_eval(tf):
    x, p = tf.constant([1.0]), tf.placeholder(tf.float32)
    no = caught(lambda: x.eval(), WHOLE)
    with tf.Session() as sess:
        return no, x.eval(), (p * 2.0).eval({p: 3.0}), x.eval(session=sess), tf.no_op().run()


def tensor_printed(tf):
    x, p, s = tf.constant([1.0], name="x"), tf.placeholder(tf.int32, name="p"), tf.placeholder(tf.string, [None, 2], name="s")
    return str(x), repr(x), str(p), repr(p), str(s), repr(s), str(tf.Variable(1.0, name="v")._ref())


def tensor_of_operation_with_many_outputs(tf):
    r = tf.nn.top_k([1.0, 2.0], 1)
    return [t.name for t in r], [t.value_index for t in r], type(r).__name__, r._fields


def tensors_are_ordered_by_nothing(tf):
    x, y = tf.constant(1), tf.constant(2)
    return type(x < y).__name__, caught(lambda: sorted([x, y]))


def attributes_unknown(tf):
    return caught(lambda: tf.constant(1).nothing), caught(lambda: setattr(tf.constant(1), "name", "a"))


def slices_composite(tf):
    s = tf.IndexedSlices(tf.constant([[1.0, 2.0]], name="v"), tf.constant([1], name="i"), tf.constant([3, 2], name="d"))
    return s.name, s.dtype.name, s.op.name, s.device, str(s), run(tf, [s, tf.convert_to_tensor(s), (-s).values]), s.graph is tf.get_default_graph()


def slices_composite_without_shape(tf):
    s = tf.IndexedSlices(tf.constant([[1.0, 2.0]], name="v"), tf.constant([1], name="i"))
    return s.dense_shape, str(s), caught(lambda: tf.convert_to_tensor(s), WHOLE), run(tf, s)


def slices_composite_in_operations(tf):
    s = tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1, 1]), tf.constant([3, 2]))
    return run(tf, [tf.add(s, 1.0), tf.reduce_sum(s), tf.identity(tf.convert_to_tensor(s))])


def sparse_composite(tf):
    s = tf.SparseTensor([[0, 1], [1, 0]], [1, 2], [2, 3])
    return s.dtype.name, str(s.shape), s.get_shape().as_list(), static(s.indices, s.values, s.dense_shape), run(tf, s), s.op.type, s.graph is tf.get_default_graph()


def sparse_composite_names(tf):
    s = tf.SparseTensor([[0, 1], [1, 0]], [1, 2], [2, 3])
    return str(s)


def sparse_composite_refused(tf):
    return caught(lambda: tf.SparseTensor([0, 1], [1, 2], [2])), caught(lambda: tf.SparseTensor([[0], [1]], [1], [2])), caught(lambda: tf.SparseTensor([[0]], [1], [2, 2])), caught(lambda: tf.SparseTensor([[0.5]], [1], [2]))


def sparse_composite_operators(tf):
    s = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 3])
    return run(tf, [s * 2.0, s / 2.0, s * [[1.0, 10.0, 100.0]]]), caught(lambda: s + 1.0)


def sparse_composite_values(tf):
    v = tf.SparseTensorValue([[0]], [1.0], [3])
    s = tf.SparseTensor.from_value(v)
    with tf.Session():
        return v, s.eval(), caught(lambda: tf.SparseTensor.from_value(3), WHOLE)


def sparse_composite_fed(tf):
    s = tf.sparse_placeholder(tf.float32, [2, 2])
    d = tf.sparse_tensor_to_dense(s)
    with tf.Session() as sess:
        return sess.run(d, {s: tf.SparseTensorValue([[0, 1]], [5.0], [2, 2])}), sess.run(d, {s: ([[1, 1]], [6.0], [2, 2])})
