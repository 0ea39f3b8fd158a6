"""`gradients` and `hessians`: all arguments, combinations, names, dtypes, gradients of many operations."""

import numpy as np

from programs.tools import WHOLE, caught, names, run, static


def of_each_float(tf):
    out = []
    for k in (tf.float16, tf.float32, tf.float64, tf.complex64, tf.complex128):
        x = tf.constant([2, 3], k)
        out.append(tf.gradients(x * x * x, x, grad_ys=tf.constant([1, 10], k))[0])
    return static(*out), run(tf, out)


def of_ints_is_none(tf):
    x = tf.constant(2)
    return tf.gradients(x * x, [x])


def by_an_int_of_a_float(tf):
    x = tf.constant(2)
    return tf.gradients(tf.cast(x, tf.float32) * 2.0, [x])


def by_strings_and_bools(tf):
    s, b, x = tf.constant("a"), tf.constant(True), tf.constant(1.0)
    return tf.gradients(tf.where(b, x, x * 2.0), [s, b])


def by_nested_lists(tf):
    x = tf.constant(1.0)
    return caught(lambda: tf.gradients(x * 2.0, [[x]]))


def by_a_number(tf):
    x = tf.constant(1.0)
    return tf.gradients(x * 2.0, [3.0])


def of_a_number(tf):
    x = tf.constant(1.0)
    return tf.gradients(3.0, [x])


def of_a_list_is_summed(tf):
    x = tf.constant([1.0, 2.0])
    return run(tf, tf.gradients([x * 2.0, tf.reduce_sum(x) * 3.0, x], x))


def of_the_same_twice(tf):
    x = tf.constant(2.0)
    y = x * x
    return run(tf, tf.gradients([y, y], x))


def by_the_same_twice(tf):
    x = tf.constant(2.0)
    return run(tf, tf.gradients(x * x, [x, x]))


def by_what_lies_between(tf):
    x = tf.constant(2.0)
    y = x * x
    z = y * 3.0
    return run(tf, tf.gradients(z, [x, y, z]))


def of_an_outer_by_a_later(tf):
    x = tf.constant(2.0)
    y = x * x
    return tf.gradients(x, [y])


def grad_ys_of_a_list(tf):
    x = tf.constant([1.0, 2.0])
    return run(tf, tf.gradients([x * x, x], x, grad_ys=[[10.0, 100.0], None]))


def grad_ys_as_tensors(tf):
    x = tf.constant([1.0, 2.0])
    g = tf.placeholder(tf.float32, [2])
    return run(tf, tf.gradients(x * x, x, grad_ys=g), {g: [3.0, 4.0]})


def grad_ys_of_another_shape(tf):
    x = tf.constant([1.0, 2.0])
    return caught(lambda: run(tf, tf.gradients(x * x, x, grad_ys=[1.0, 2.0, 3.0])))


def grad_ys_of_another_dtype(tf):
    x = tf.constant([1.0, 2.0])
    return caught(lambda: tf.gradients(x * x, x, grad_ys=tf.constant([1, 2])))


def grad_ys_of_another_number(tf):
    x = tf.constant([1.0, 2.0])
    return caught(lambda: tf.gradients([x * x, x], x, grad_ys=[x]), WHOLE)


def grad_ys_in_a_chain(tf):
    x = tf.constant([1.0, 2.0])
    y = x * x
    z = tf.sin(y)
    return run(tf, [tf.gradients(z, x), tf.gradients(y, x, grad_ys=tf.gradients(z, y))])


def stop_gradients_at_several(tf):
    x = tf.constant(2.0)
    y = x * x
    z = x * y
    return run(tf, [tf.gradients(z, x), tf.gradients(z, x, stop_gradients=y), tf.gradients(z, [x, y], stop_gradients=[x, y])])


def stop_gradients_at_all_is_none(tf):
    x = tf.constant(2.0)
    y = x * x
    return tf.gradients(tf.sin(y), x, stop_gradients=[y])


def unconnected_words(tf):
    x, z = tf.constant([1.0, 2.0]), tf.constant([[1.0], [2.0]])
    a = tf.gradients(x * 2.0, [x, z], unconnected_gradients="zero")
    b = tf.gradients(x * 2.0, [x, z], unconnected_gradients=tf.UnconnectedGradients.NONE)
    c = tf.gradients(x * 2.0, [x, z], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return run(tf, a), b[1] is None, run(tf, c[1])


def unconnected_of_another_word(tf):
    x = tf.constant(1.0)
    return caught(lambda: tf.gradients(x, x, unconnected_gradients="nonsense"), WHOLE)


def unconnected_of_a_variable(tf):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0], use_resource=True)
    x = tf.constant(1.0)
    return run(tf, tf.gradients(x * 2.0, [v, w], unconnected_gradients="zero"))


def aggregation_of_each_method(tf):
    x = tf.constant([1.0, 2.0])
    y = x * x + tf.sin(x) + x
    methods = [None, tf.AggregationMethod.ADD_N, tf.AggregationMethod.DEFAULT, tf.AggregationMethod.EXPERIMENTAL_TREE, tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N]
    return run(tf, [tf.gradients(y, x, aggregation_method=m)[0] for m in methods])


def aggregation_of_no_such_method(tf):
    x = tf.constant([1.0, 2.0])
    return caught(lambda: tf.gradients(x * x, x, aggregation_method=10), WHOLE)


def gate_and_colocate(tf):
    x = tf.constant([1.0, 2.0])
    y = x * x
    return run(tf, [tf.gradients(y, x, gate_gradients=g, colocate_gradients_with_ops=c)[0] for g in (False, True) for c in (False, True)])


def names_by_default(tf):
    x = tf.constant(2.0, name="x")
    y = tf.multiply(x, 3.0, name="y")
    return [t.name for t in tf.gradients(y, x) + tf.gradients(y, x) + tf.gradients(y, x, name="mine")]


def names_of_nodes_of_a_square(tf):
    x = tf.constant(2.0, name="x")
    tf.gradients(tf.square(x, name="y"), x)
    return names(tf)


def names_of_nodes_of_a_product(tf):
    x, w = tf.constant([[2.0]], name="x"), tf.constant([[3.0]], name="w")
    tf.gradients(tf.matmul(x, w, name="y"), [x, w])
    return names(tf)


def names_of_nodes_of_a_sum(tf):
    x = tf.constant([[2.0, 1.0]], name="x")
    tf.gradients(tf.reduce_sum(tf.add(x, x, name="double"), name="total"), x)
    return names(tf)


def names_of_nodes_of_elementwise(tf):
    x = tf.constant([2.0, 1.0], name="x")
    tf.gradients(tf.exp(tf.tanh(tf.negative(x, name="n"), name="t"), name="e"), x)
    return names(tf)


def names_of_nodes_of_a_loss(tf):
    x, w = tf.placeholder(tf.float32, [None, 3], name="x"), tf.constant([[1.0], [2.0], [3.0]], name="w")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w, name="p"), name="s"), name="loss")
    tf.gradients(loss, w)
    return names(tf)


def by_variables_of_both_kinds(tf):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0], use_resource=True)
    return run(tf, tf.gradients(v * w * w, [v, w]))


def by_the_value_of_a_variable(tf):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0], use_resource=True)
    y = v * w * w
    return [g is None for g in tf.gradients(y, [v.value(), v._ref(), w.handle])], [g is None for g in tf.gradients(y, [v.read_value(), w.value()])]


def by_a_gathered_variable(tf):
    out = []
    for resource in (False, True):
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], use_resource=resource)
        g = tf.gradients(tf.gather(v, [0, 2, 0]) * [[1.0], [2.0], [3.0]], v)[0]
        out.append([type(g).__name__, run(tf, g), static(g.values, g.indices)])
    return out


def by_an_embedding(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    g = tf.gradients(tf.reduce_sum(tf.nn.embedding_lookup(v, [[0, 2], [2, 2]]) ** 2), v)[0]
    return type(g).__name__, run(tf, tf.convert_to_tensor(g))


def slices_and_dense_added(tf):
    v = tf.Variable([[1.0], [3.0], [5.0]])
    y = tf.reduce_sum(tf.gather(v, [0, 2])) + tf.reduce_sum(v * 10.0)
    g = tf.gradients(y, v)[0]
    return type(g).__name__, run(tf, g)


def two_slices_added(tf):
    v = tf.Variable([[1.0], [3.0], [5.0]])
    y = tf.reduce_sum(tf.gather(v, [0, 2])) + 2.0 * tf.reduce_sum(tf.gather(v, [1, 2]))
    g = tf.gradients(y, v)[0]
    return type(g).__name__, run(tf, tf.convert_to_tensor(g))


def by_the_values_of_slices(tf):
    s = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([1]), tf.constant([3, 1]))
    return run(tf, tf.gradients(tf.reduce_sum(tf.convert_to_tensor(s) * 3.0), s.values))


def hessian_of_a_vector(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    return run(tf, tf.hessians(tf.reduce_sum(x ** 3) + x[0] * x[1], x))


def hessian_of_several(tf):
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0])
    return run(tf, tf.hessians(tf.reduce_sum(x * x) * tf.reduce_sum(y * y), [x, y]))


def hessian_of_a_matrix(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    h = tf.hessians(tf.reduce_sum(tf.matmul(x, x)), x)[0]
    return static(h), run(tf, h)


def hessian_of_a_scalar(tf):
    x = tf.constant(2.0)
    return run(tf, tf.hessians(x ** 4, x))


def third_derivative(tf):
    x = tf.constant([1.0, 2.0])
    y = tf.sin(x) * x ** 3
    for _ in range(3):
        y, = tf.gradients(y, x)
    return run(tf, y)


def product_with_a_vector(tf):
    x, v = tf.constant([1.0, 2.0]), tf.constant([0.5, -1.0])
    g, = tf.gradients(tf.reduce_prod(x) ** 2, x)
    return run(tf, tf.gradients(tf.reduce_sum(g * tf.stop_gradient(v)), x))


def jacobian_by_rows(tf):
    x = tf.constant([1.0, 2.0])
    y = tf.stack([x[0] * x[1], tf.sin(x[0]), x[1] ** 2])
    return run(tf, tf.stack([tf.gradients(r, x)[0] for r in tf.unstack(y)]))


def forward_mode_by_two_reverses(tf):
    x, u = tf.constant([1.0, 2.0]), tf.constant([1.0, 3.0])
    y = tf.stack([x[0] * x[1], tf.exp(x[0])])
    dummy = tf.zeros_like(y)
    g, = tf.gradients(y, x, grad_ys=dummy)
    return run(tf, tf.gradients(g, dummy, grad_ys=u))


def static_shapes(tf):
    x = tf.placeholder(tf.float32, [None, 3])
    w = tf.constant(np.ones([3, 2], np.float32))
    return static(*tf.gradients(tf.matmul(x, w) + [1.0, 2.0], [x, w]))


def of_elementwise_functions(tf):
    x = tf.constant([0.3, 0.7])
    functions = [
        tf.sin, tf.cos, tf.tan, tf.exp, tf.log, tf.sqrt, tf.rsqrt, tf.square, tf.tanh, tf.sigmoid, tf.abs, tf.negative, tf.reciprocal, tf.asin, tf.acos, tf.atan,
        tf.sinh, tf.cosh, tf.asinh, tf.atanh, tf.log1p, tf.expm1, tf.erf, tf.erfc, tf.lgamma, tf.digamma, tf.sign, tf.floor, tf.ceil, tf.round,
        tf.nn.relu, tf.nn.relu6, tf.nn.elu, tf.nn.selu, tf.nn.softplus, tf.nn.softsign, tf.nn.softmax, tf.nn.log_softmax, tf.nn.leaky_relu, tf.cumsum, tf.cumprod,
    ]
    return run(tf, [tf.gradients(f(x), x, grad_ys=tf.constant([1.0, 2.0]), unconnected_gradients="zero")[0] for f in functions])


def of_binary_functions(tf):
    x, y = tf.constant([0.3, 2.0]), tf.constant([[0.5], [1.5]])
    functions = [tf.add, tf.subtract, tf.multiply, tf.divide, tf.pow, tf.maximum, tf.minimum, tf.squared_difference, tf.floordiv, tf.floormod, tf.realdiv]
    return run(tf, [tf.gradients(f(x, y), [x, y], unconnected_gradients="zero") for f in functions])


def of_reductions(tf):
    x = tf.constant([[0.3, 2.0, 1.0], [4.0, 5.0, 0.5]])
    functions = [tf.reduce_sum, tf.reduce_mean, tf.reduce_prod, tf.reduce_max, tf.reduce_min, tf.reduce_logsumexp, tf.norm]
    return run(tf, [[tf.gradients(f(x), x)[0], tf.gradients(f(x, axis=1) * [1.0, 2.0], x)[0]] for f in functions])


def of_shapes(tf):
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    w = tf.constant(np.arange(6, dtype=np.float32) + 1)
    flat = lambda y: tf.reshape(y, [-1])  # noqa: E731
    results = [
        tf.transpose(x), tf.reverse(x, [0]), tf.tile(x, [1, 1]), tf.expand_dims(x, 0), tf.roll(x, 1, 1), tf.concat([x[:, 1:], x[:, :1]], 1), tf.stack(tf.unstack(x)),
        tf.pad(x[:, :2], [[0, 0], [1, 0]]), tf.gather(x, [1, 0]), tf.gather(x, [2, 1, 0], axis=1), tf.strided_slice(x, [1, 2], [-3, -4], [-1, -1]), tf.slice(x, [0, 0], [2, 3]),
        tf.split(x, 3, 1)[0] * tf.ones([1, 3]), tf.where(x > 2.0, x, -x), tf.matrix_transpose(x), tf.gather_nd(x, [[0, 0], [1, 2], [0, 0], [0, 1], [1, 0], [1, 1]]),
    ]
    return run(tf, [tf.gradients(flat(r), x, grad_ys=w)[0] for r in results])


def of_segments_and_scatters(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    results = [
        tf.segment_sum(x, [0, 0, 1]), tf.segment_mean(x, [0, 0, 1]), tf.unsorted_segment_sum(x, [1, 0, 1], 2), tf.segment_max(x, [0, 0, 1]),
        tf.dynamic_stitch([[0, 2], [1]], [x[:2], x[2:]]), tf.dynamic_partition(x, [0, 1, 0], 2)[0], tf.scatter_nd([[2], [0], [1]], x, [4, 2]),
        tf.sparse_segment_sum(x, [0, 2], [0, 1]),
    ]
    grads = [tf.gradients(r * r, x)[0] for r in results]
    return run(tf, [tf.convert_to_tensor(g) for g in grads])


def of_selected_rows_is_dense(tf):
    x = tf.placeholder(tf.float32, [None, 2])
    results = [
        tf.sparse_segment_sum(x, [0, 2, 2], [0, 1, 1]), tf.sparse_segment_mean(x, [3, 0, 2], [0, 0, 1]), tf.sparse_segment_sqrt_n(x, [1, 1, 0], [0, 1, 1]),
        tf.sparse_segment_sum(x, [1, 1], [0, 2], num_segments=4),
    ]
    grads = [tf.gradients(r * r, x)[0] for r in results]
    return [isinstance(g, tf.Tensor) for g in grads], run(tf, grads, {x: np.arange(8.0).reshape(4, 2)})


def of_matrices(tf):
    a = tf.constant([[2.0, 0.5], [0.5, 3.0]])
    b = tf.constant([[1.0], [2.0]])
    results = [tf.matmul(a, b), tf.matmul(a, b, transpose_a=True), tf.matrix_inverse(a), tf.cholesky(a), tf.matrix_determinant(a), tf.matrix_solve(a, b), tf.trace(a), tf.diag_part(a),
               tf.matrix_band_part(a, 0, -1), tf.tensordot(a, b, 1), tf.einsum("ij,jk->ik", a, b)]
    return run(tf, [tf.gradients(r, a)[0] for r in results])


def through_a_cast(tf):
    x = tf.constant([1.5, 2.5])
    return run(tf, [tf.gradients(tf.cast(x, tf.float64) ** 2, x)[0], tf.gradients(tf.cast(tf.cast(x, tf.int32), tf.float32) * x, x)[0]])


def through_stop_and_prevent(tf):
    x = tf.constant([1.5, 2.5])
    stopped = tf.gradients(tf.stop_gradient(x * x) * x, x)[0]
    return run(tf, stopped), caught(lambda: tf.gradients(tf.raw_ops.PreventGradient(input=x, message="no"), x))


def where_no_gradient_is_defined(tf):
    x = tf.constant([1.5, 2.5])
    return [g is None for g in tf.gradients(tf.cast(tf.argmax(x), tf.float32) * 2.0, [x])]


def nan_in_the_side_not_taken(tf):
    x = tf.constant([0.0, 4.0])
    return run(tf, tf.gradients(tf.where(x > 0.0, tf.sqrt(x), tf.zeros_like(x)), x))


def clipped(tf):
    x = tf.constant([-2.0, 0.5, 3.0])
    return run(tf, [tf.gradients(tf.clip_by_value(x, -1.0, 1.0), x)[0], tf.gradients(tf.clip_by_norm(x, 1.0), x)[0]])


def of_another_graph(tf):
    with tf.Graph().as_default():
        x = tf.constant(1.0)
        y = x * x
    g, = tf.gradients(y, x)
    return g is None or g.graph is x.graph


def of_complex_without_grad_ys(tf):
    x = tf.constant(1j, tf.complex64)
    return caught(lambda: tf.gradients(x * x, x), WHOLE)


def of_the_angle(tf):
    x, y = tf.constant([0.3, 2.0]), tf.constant([0.5, 1.5])
    return run(tf, tf.gradients(tf.atan2(x, y), [x, y]))


def of_ints_beside_floats(tf):
    """Integers end no other gradient, and have one by themselves."""
    x, i = tf.constant(3.0), tf.constant([4, 5])
    mixed = tf.gradients([tf.cast(x, tf.int32), x * x], x) + tf.gradients([x * x, i], [x, i])
    own = tf.gradients([i, i], i) + tf.gradients(i, i, grad_ys=[tf.constant([7, 8])])
    none = tf.gradients(i * i, i) + tf.gradients([tf.floor(x), tf.cast(x, tf.int64)], [x])
    return static(*mixed, *own), run(tf, mixed + own), none


def of_bools_and_strings(tf):
    x = tf.constant(2.0)
    ys = {"bool": [x > 1, x * 2], "alone": [x > 1], "string": [tf.constant("a"), x]}
    return {name: caught(lambda: tf.gradients(y, x), WHOLE) for name, y in ys.items()}
