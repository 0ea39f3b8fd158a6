"""Arithmetic: operators and their nodes, type combinations, reductions, comparisons."""

import numpy as np

from programs.tools import caught, nodes, run, static


def plus_is_add_v2(tf):
    a, b = tf.constant(1), tf.constant(2)
    return (a + b).op.type, tf.add(a, b).op.type, (a - b).op.type, tf.subtract(a, b).op.type


def operators(tf):
    x, y = tf.constant([7.0, -8.0]), tf.constant([2.0, 3.0])
    return run(tf, [x + y, x - y, x * y, x / y, x // y, x % y, x ** y, -x, abs(x)])


def operators_of_ints(tf):
    x, y = tf.constant([7, -8]), tf.constant([2, 3])
    results = [x + y, x - y, x * y, x / y, x // y, x % y, x ** 2, -x, abs(x)]
    return static(*results), run(tf, results), [r.op.type for r in results]


def operators_with_python_on_the_left(tf):
    x = tf.constant([2.0, 4.0])
    return run(tf, [1 + x, 1 - x, 3 * x, 8 / x, 9 // x, 9 % x, 2 ** x])


def operators_with_numpy(tf):
    x = tf.constant([2.0, 4.0])
    a = np.array([1.0, 2.0], np.float32)
    return run(tf, [x + a, a + x, a * x, x - a, a - x])


def operator_names(tf):
    x = tf.constant(1.0, name="x")
    y = (x + 1.0) * 2.0 - x
    return y.name, nodes(tf)


def logical_operators(tf):
    a, b = tf.constant([True, True, False]), tf.constant([True, False, False])
    return run(tf, [a & b, a | b, a ^ b, ~a, tf.logical_xor(a, b)])


def comparison_operators(tf):
    x, y = tf.constant([1, 2, 3]), tf.constant([3, 2, 1])
    return run(tf, [x < y, x <= y, x > y, x >= y, tf.equal(x, y), tf.not_equal(x, y)])


def equality_is_identity_of_tensors(tf):
    x = tf.constant(1)
    return x == x, x == tf.constant(1), x != tf.constant(1), len({x: 1})


def a_tensor_is_no_bool(tf):
    x = tf.constant(True)
    return caught(lambda: bool(x), "using a `tf.Tensor` as a Python `bool` is not allowed"), caught(lambda: 1 if x else 2)


def a_tensor_is_not_iterable(tf):
    x = tf.placeholder(tf.float32, [2])
    return caught(lambda: [v for v in x], "iterating over `tf.Tensor` is not allowed in Graph execution")


def a_tensor_has_no_length(tf):
    x = tf.constant([1, 2])
    return caught(lambda: len(x))


def dtypes_do_not_mix(tf):
    return caught(lambda: tf.constant(1) + tf.constant(1.0)), caught(lambda: tf.add(tf.constant(1), tf.constant(1.0)))


def dtype_error_of_an_op(tf):
    x, y = tf.constant(1, name="x"), tf.constant(1.0, name="y")
    return caught(
        lambda: tf.multiply(x, y),
        "Input 'y' of 'Mul' Op has type float32 that does not match type int32 of argument 'x'.",
    )


def python_float_to_int_tensor(tf):
    return caught(lambda: tf.constant(1) + 1.5)


def shapes_broadcast(tf):
    x, y = tf.ones([3, 1]), tf.ones([1, 4])
    z = x + y
    return static(z), run(tf, z)


def shapes_do_not_broadcast(tf):
    x, y = tf.ones([2]), tf.ones([3])
    return caught(lambda: x + y, "Dimensions must be equal, but are 2 and 3")


def shapes_do_not_broadcast_at_run_time(tf):
    x, y = tf.placeholder(tf.float32, [None], name="x"), tf.ones([3])
    z = x + y
    return static(z), caught(lambda: run(tf, z, {x: [1.0, 2.0]}), "Incompatible shapes: [2] vs. [3]")


def integer_division_by_zero(tf):
    x, y = tf.constant(1), tf.placeholder(tf.int32, [])
    z = x // y
    return caught(lambda: run(tf, z, {y: 0}), "Integer division by zero")


def float_division_by_zero(tf):
    return run(tf, tf.constant([1.0, -1.0, 0.0]) / tf.constant(0.0))


def modulo_takes_the_sign_of_the_divisor(tf):
    x = tf.constant([7, -7, 7, -7])
    return run(tf, [tf.mod(x, [3, 3, -3, -3]), tf.floormod(x, 3), tf.truncatemod(x, 3), tf.floordiv(x, 2), tf.truncatediv(x, 2)])


def division_family(tf):
    x, y = tf.constant([7, -7]), tf.constant([2, 2])
    results = [tf.divide(x, y), tf.div(x, y), tf.truediv(x, y), tf.realdiv(tf.cast(x, tf.float32), 2.0), tf.div_no_nan([1.0], [0.0])]
    return static(*results), run(tf, results)


def powers_and_roots(tf):
    x = tf.constant([1.0, 4.0, 9.0])
    return run(tf, [tf.square(x), tf.sqrt(x), tf.rsqrt(x), tf.pow(x, 1.5), tf.exp(x), tf.log(x), tf.log1p(x), tf.expm1(x)])


def trigonometry(tf):
    x = tf.constant([0.1, 0.5])
    return run(tf, [tf.sin(x), tf.cos(x), tf.tan(x), tf.asin(x), tf.acos(x), tf.atan(x), tf.sinh(x), tf.cosh(x), tf.tanh(x), tf.atan2(x, 2.0)])


def activations(tf):
    x = tf.constant([-1.0, 0.0, 2.0, 7.0])
    nn = tf.nn
    return run(tf, [nn.relu(x), nn.relu6(x), nn.elu(x), nn.selu(x), tf.sigmoid(x), nn.softplus(x), nn.softsign(x), nn.leaky_relu(x), nn.softmax(x), nn.log_softmax(x)])


def rounding(tf):
    x = tf.constant([-1.5, -0.5, 0.5, 1.5, 2.4])
    return run(tf, [tf.round(x), tf.rint(x), tf.floor(x), tf.ceil(x), tf.sign(x)])


def extremes(tf):
    x, y = tf.constant([1, 5, 3]), tf.constant([4, 2, 3])
    return run(tf, [tf.maximum(x, y), tf.minimum(x, y), tf.clip_by_value(x, 2, 4), tf.squared_difference(x, y)])


def casts(tf):
    x = tf.constant([1.7, -1.7, 0.0])
    kinds = [tf.int32, tf.int64, tf.bool, tf.float64, tf.float16, tf.complex64]
    results = [tf.cast(x, k) for k in kinds]
    return static(*results), run(tf, results)


def casts_by_name(tf):
    x = tf.constant([1, 2])
    results = [tf.to_float(x), tf.to_double(x), tf.to_int64(x), tf.to_int32(x), tf.cast(x, "uint8")]
    return static(*results), run(tf, results)


def cast_to_the_same_is_nothing(tf):
    x = tf.constant([1.0])
    return tf.cast(x, tf.float32) is x, tf.cast(1, tf.float32).dtype.name


def saturating_cast(tf):
    return run(tf, tf.saturate_cast([-5, 100, 300], tf.uint8))


def reductions(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    functions = [tf.reduce_sum, tf.reduce_mean, tf.reduce_prod, tf.reduce_max, tf.reduce_min, tf.reduce_logsumexp]
    return [run(tf, [f(x), f(x, 0), f(x, axis=[1], keepdims=True)]) for f in functions]


def reductions_of_bools(tf):
    x = tf.constant([[True, False], [True, True]])
    return run(tf, [tf.reduce_all(x), tf.reduce_any(x), tf.reduce_all(x, 0), tf.reduce_any(x, 1)])


def reduction_shapes(tf):
    x = tf.placeholder(tf.float32, [2, None, 3])
    y = tf.placeholder(tf.float32)
    return static(tf.reduce_sum(x), tf.reduce_sum(x, 1), tf.reduce_sum(x, -1, keepdims=True), tf.reduce_sum(y), tf.reduce_sum(y, 0))


def reduction_of_unknown_rank(tf):
    x = tf.placeholder(tf.float32)
    y = tf.reduce_sum(x)
    return y.name, nodes(tf), run(tf, y, {x: [[1, 2], [3, 4]]})


def reduction_axis_out_of_range(tf):
    x = tf.zeros([2])
    return caught(lambda: tf.reduce_sum(x, 2), "Invalid reduction dimension 2 for input with 1 dimension")


def reduction_with_the_older_words(tf):
    x = tf.constant([[1, 2], [3, 4]])
    return run(tf, [tf.reduce_sum(x, reduction_indices=[0]), tf.reduce_sum(x, axis=1, keep_dims=True)])


def cumulative(tf):
    x = tf.constant([1, 2, 3, 4])
    return run(tf, [tf.cumsum(x), tf.cumsum(x, exclusive=True), tf.cumsum(x, reverse=True), tf.cumprod(x)])


def arg_extremes(tf):
    x = tf.constant([[3, 1, 2], [4, 6, 5]])
    results = [tf.argmax(x), tf.argmin(x, axis=1), tf.argmax(x, 1, output_type=tf.int32)]
    return static(*results), run(tf, results)


def matrix_product(tf):
    a, b = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[5.0, 6.0], [7.0, 8.0]])
    return run(tf, [tf.matmul(a, b), tf.matmul(a, b, transpose_a=True), tf.matmul(a, b, transpose_b=True), a @ b])


def matrix_product_of_batches(tf):
    a = tf.reshape(tf.range(12.0), [2, 2, 3])
    c = tf.matmul(a, a, transpose_b=True)
    return c.op.type, static(c), run(tf, c)


def matrix_product_does_not_fit(tf):
    return caught(lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])), "Dimensions must be equal, but are 3 and 2")


def tensordot(tf):
    a, b = tf.reshape(tf.range(6.0), [2, 3]), tf.reshape(tf.range(6.0), [3, 2])
    return run(tf, [tf.tensordot(a, b, 1), tf.tensordot(a, b, [[0], [1]])])


def norms(tf):
    x = tf.constant([[3.0, 4.0], [6.0, 8.0]])
    return run(tf, [tf.norm(x), tf.norm(x, axis=1), tf.norm(x, ord=1, axis=0), tf.global_norm([x, x]), tf.nn.l2_loss(x)])


def clipping_by_norms(tf):
    x = tf.constant([3.0, 4.0])
    clipped, norm = tf.clip_by_global_norm([x, x], 5.0)
    return run(tf, [tf.clip_by_norm(x, 1.0), clipped, norm])


def sums_of_many(tf):
    x = [tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]), tf.constant([5.0, 6.0])]
    total = tf.add_n(x)
    return total.op.type, run(tf, total), tf.add_n(x[:1]).op.type, caught(lambda: tf.add_n([]))


def complex_parts(tf):
    c = tf.complex([1.0, 2.0], [3.0, -4.0])
    results = [tf.real(c), tf.imag(c), tf.conj(c), tf.abs(c), tf.angle(c), c * c]
    return static(*results), run(tf, results)


def finite_or_not(tf):
    x = tf.constant([1.0, float("inf"), float("nan")])
    return run(tf, [tf.is_finite(x), tf.is_inf(x), tf.is_nan(x)])


def checked_numerics(tf):
    x = tf.placeholder(tf.float32, [])
    y = tf.check_numerics(x, "look here")
    return run(tf, y, {x: 1.0}), caught(lambda: run(tf, y, {x: np.nan}), "look here", "NaN")


def segments(tf):
    x = tf.constant([[1, 2], [3, 4], [5, 6]])
    ids = tf.constant([0, 0, 1])
    return run(tf, [tf.segment_sum(x, ids), tf.segment_max(x, ids), tf.unsorted_segment_sum(x, [1, 0, 1], 3)])


def loss_functions(tf):
    logits = tf.constant([[2.0, 1.0], [0.5, 3.0]])
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=logits)
    dense = tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[1.0, 0.0], [0.0, 1.0]], logits=logits)
    sigmoid = tf.nn.sigmoid_cross_entropy_with_logits(labels=[[1.0, 0.0], [0.0, 1.0]], logits=logits)
    return run(tf, [sparse, dense, sigmoid])


def bits(tf):
    x, y = tf.constant([12, 10]), tf.constant([10, 3])
    b = tf.bitwise
    return run(tf, [b.bitwise_and(x, y), b.bitwise_or(x, y), b.bitwise_xor(x, y), b.left_shift(x, 1), b.right_shift(x, 1)])
