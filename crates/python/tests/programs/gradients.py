"""`tf.gradients`: with respect to various values, through branches and loops, with all arguments."""

import numpy as np

from programs.tools import caught, initialize, nodes, run, static


def of_a_square(tf):
    x = tf.constant(3.0)
    (g,) = tf.gradients(x * x, [x])
    return g.name, run(tf, g)


def by_several(tf):
    x, y = tf.constant(3.0), tf.constant(4.0)
    return run(tf, tf.gradients(x * x * y, [x, y]))


def by_a_single_tensor(tf):
    x = tf.constant(3.0)
    g = tf.gradients(x * x, x)
    return type(g).__name__, len(g), run(tf, g)


def of_several(tf):
    x = tf.constant(3.0)
    return run(tf, tf.gradients([x * x, 2.0 * x], x))


def unconnected_is_none(tf):
    x, y = tf.constant(3.0), tf.constant(4.0)
    return tf.gradients(x * x, [y])


def unconnected_is_zero_on_request(tf):
    x, y = tf.constant(3.0), tf.constant([4.0, 5.0])
    return run(tf, tf.gradients(x * x, [y], unconnected_gradients="zero"))


def unconnected_of_another_word(tf):
    x = tf.constant(3.0)
    return caught(lambda: tf.gradients(x, [x], unconnected_gradients="some"))


def with_grad_ys(tf):
    x = tf.constant([1.0, 2.0])
    return run(tf, tf.gradients(x * x, x, grad_ys=tf.constant([10.0, 100.0])))


def grad_ys_of_another_length(tf):
    x = tf.constant([1.0, 2.0])
    return caught(lambda: tf.gradients([x * x], x, grad_ys=[x, x]), "Passed 2 grad_ys for 1 ys")


def stop_gradients(tf):
    a = tf.constant(2.0)
    b = a * 3.0
    return run(tf, tf.gradients(a + b, [a, b], stop_gradients=[a, b])), run(tf, tf.gradients(a + b, [a, b]))


def stop_gradient_op(tf):
    x = tf.constant(3.0)
    return run(tf, tf.gradients(x * tf.stop_gradient(x), x))


def of_an_integer(tf):
    x = tf.constant(3)
    return tf.gradients(x * x, x)


def of_itself(tf):
    x = tf.constant([3.0, 4.0])
    return run(tf, tf.gradients(x, x))


def second_derivative(tf):
    x = tf.constant(2.0)
    (g,) = tf.gradients(x ** 3, x)
    return run(tf, [g, tf.gradients(g, x)[0]])


def hessian(tf):
    x = tf.constant([1.0, 2.0])
    return run(tf, tf.hessians(tf.reduce_sum(x ** 3), x))


def through_broadcast(tf):
    x, y = tf.constant([[1.0], [2.0]]), tf.constant([10.0, 20.0, 30.0])
    return run(tf, tf.gradients(x * y, [x, y]))


def through_elementwise_functions(tf):
    x = tf.constant([0.5, 1.5])
    functions = [tf.exp, tf.log, tf.sin, tf.cos, tf.tanh, tf.sigmoid, tf.sqrt, tf.square, tf.rsqrt, tf.reciprocal, tf.abs, tf.nn.relu, tf.nn.softplus, tf.log1p, tf.atan]
    return run(tf, [tf.gradients(f(x), x)[0] for f in functions])


def through_reductions(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    functions = [tf.reduce_sum, tf.reduce_mean, tf.reduce_prod, tf.reduce_max, tf.reduce_min, tf.reduce_logsumexp, tf.norm]
    return run(tf, [tf.gradients(f(x), x)[0] for f in functions])


def through_shapes(tf):
    x = tf.constant(np.arange(6.0).reshape(2, 3), tf.float32)
    w = tf.range(6.0)
    outs = [tf.reshape(x, [-1]) * w, tf.transpose(x), x[0], x[:, 1:], tf.tile(x, [1, 2]), tf.pad(x, [[1, 0], [0, 0]]), tf.expand_dims(x, 0) ** 2]
    return run(tf, [tf.gradients(o, x)[0] for o in outs])


def through_concat_stack_split(tf):
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    c = tf.concat([x, y], 0) * [1.0, 2.0, 3.0, 4.0]
    s = tf.stack([x, y]) ** 2
    a, b = tf.split(x * y, 2)
    return run(tf, tf.gradients(c, [x, y]) + tf.gradients(s, [x, y]) + tf.gradients(a * 2.0 + b, [x, y]))


def through_matmul(tf):
    a, b = tf.constant([[1.0, 2.0]]), tf.constant([[3.0], [4.0]])
    return run(tf, tf.gradients(tf.matmul(a, b), [a, b]))


def through_gather_is_indexed_slices(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    (g,) = tf.gradients(tf.gather(x, [0, 2, 0]), x)
    return type(g).__name__, run(tf, [g.values, g.indices, g.dense_shape]), run(tf, tf.convert_to_tensor(g))


def through_gather_of_a_variable(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], use_resource=True)
    (g,) = tf.gradients(tf.gather(v, [1, 1]) ** 2, v)
    value = run(tf, g)
    return type(g).__name__, type(value).__name__, value


def through_where_and_maximum(tf):
    x, y = tf.constant([1.0, 5.0]), tf.constant([3.0, 2.0])
    return run(tf, tf.gradients(tf.maximum(x, y), [x, y]) + tf.gradients(tf.where(x > y, x, y * 2.0), [x, y]))


def through_cast(tf):
    x = tf.constant(2.0)
    return run(tf, tf.gradients(tf.cast(x, tf.float64) ** 2, x)), tf.gradients(tf.cast(tf.cast(x, tf.int32), tf.float32), x)


def through_softmax_loss(tf):
    logits = tf.constant([[1.0, 2.0, 3.0]])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=logits)
    return run(tf, tf.gradients(loss, logits))


def through_cond(tf):
    p, x = tf.placeholder(tf.bool, []), tf.constant(3.0)
    r = tf.cond(p, lambda: x * x, lambda: x * 10.0)
    g = tf.gradients(r, x)
    with tf.Session() as sess:
        return sess.run(g, {p: True}), sess.run(g, {p: False})


def through_cond_where_one_side_does_not_use_it(tf):
    p, x, y = tf.placeholder(tf.bool, []), tf.constant(3.0), tf.constant(4.0)
    g = tf.gradients(tf.cond(p, lambda: x * x, lambda: y), [x, y])
    with tf.Session() as sess:
        return sess.run(g, {p: True}), sess.run(g, {p: False})


def through_case(tf):
    i, x = tf.placeholder(tf.int32, []), tf.constant(3.0)
    r = tf.case([(tf.equal(i, 0), lambda: x), (tf.equal(i, 1), lambda: x * x)], default=lambda: x ** 3)
    (g,) = tf.gradients(r, x)
    with tf.Session() as sess:
        return [sess.run(g, {i: k}) for k in range(3)]


def through_a_loop(tf):
    x = tf.constant(2.0)
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y), [0, x])
    return run(tf, tf.gradients(r[1], x))


def through_a_loop_by_a_captured_tensor(tf):
    x, w = tf.constant(2.0), tf.constant(3.0)
    r = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * w), [0, x])
    return run(tf, tf.gradients(r[1], [x, w]))


def through_a_loop_of_dynamic_length(tf):
    n, x = tf.placeholder(tf.int32, []), tf.constant(2.0)
    r = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), [0, 1.0])
    (g,) = tf.gradients(r[1], x)
    with tf.Session() as sess:
        return [sess.run(g, {n: k}) for k in (0, 1, 5)]


def through_a_loop_node_names(tf):
    x = tf.constant(2.0, name="x")
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y), [0, x])
    (g,) = tf.gradients(r[1], x)
    return g.name


def through_a_loop_of_matrices(tf):
    w = tf.constant([[0.5, 0.1], [0.2, 0.4]])
    h = tf.constant([[1.0, -1.0]])
    r = tf.while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), [0, h])
    return run(tf, tf.gradients(r[1], [w, h]))


def through_two_variables(tf):
    a, b = tf.constant(1.5), tf.constant(0.5)
    r = tf.while_loop(lambda i, x, y: i < 3, lambda i, x, y: (i + 1, x * y, x + y), [0, a, b])
    return run(tf, tf.gradients(r[1] + r[2], [a, b]))


def through_one_of_two_variables(tf):
    a, b = tf.constant(1.5), tf.constant(0.5)
    r = tf.while_loop(lambda i, x, y: i < 3, lambda i, x, y: (i + 1, x * 2.0, y * 3.0), [0, a, b])
    grads = tf.gradients(r[1], [a, b])
    return [None if g is None else run(tf, g) for g in grads]


def through_nested_loops(tf):
    x = tf.constant(1.1)
    inner = lambda s: tf.while_loop(lambda j, s: j < 2, lambda j, s: (j + 1, s * x), [0, s])[1]
    r = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, inner(s) + s), [0, x])
    return run(tf, tf.gradients(r[1], x))


def through_a_cond_in_a_loop(tf):
    x = tf.constant(1.5)
    body = lambda i, s: (i + 1, tf.cond(tf.equal(i % 2, 0), lambda: s * x, lambda: s + x))
    r = tf.while_loop(lambda i, s: i < 5, body, [0, x])
    return run(tf, tf.gradients(r[1], x))


def through_a_loop_in_a_cond(tf):
    p, x = tf.placeholder(tf.bool, []), tf.constant(1.5)
    up = lambda: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]
    g = tf.gradients(tf.cond(p, up, lambda: x), x)
    with tf.Session() as sess:
        return sess.run(g, {p: True}), sess.run(g, {p: False})


def through_a_loop_of_slices(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    r = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + x[i] ** 2), [0, 0.0])
    return run(tf, tf.gradients(r[1], x))


def through_a_loop_by_gather(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    r = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s * tf.gather(x, i % 3)), [0, 1.0])
    (g,) = tf.gradients(r[1], x)
    return run(tf, tf.convert_to_tensor(g))


def through_a_loop_by_a_variable(tf):
    v = tf.Variable(2.0, use_resource=True)
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v), [0, 1.0])
    return run(tf, tf.gradients(r[1], v))


def through_a_loop_by_a_reference_variable(tf):
    v = tf.Variable(2.0)
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v), [0, 1.0])
    return run(tf, tf.gradients(r[1], v))


def through_a_loop_with_growing_shape(tf):
    x = tf.constant([[1.0, 2.0]])
    r = tf.while_loop(
        lambda i, m: i < 2,
        lambda i, m: (i + 1, tf.concat([m, m * 2.0], 0)),
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])],
    )
    return run(tf, tf.gradients(r[1], x))


def through_a_loop_of_squares(tf):
    x = tf.constant(2.0)
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y), [0, x])[1]
    (g,) = tf.gradients(r, x)
    return run(tf, g)


def stop_gradient_in_a_loop(tf):
    x = tf.constant(2.0)
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.stop_gradient(y) * x), [0, x])
    return run(tf, tf.gradients(r[1], x))


def with_maximum_iterations(tf):
    x = tf.constant(2.0)
    r = tf.while_loop(lambda i, y: i < 100, lambda i, y: [i + 1, y * x], [0, 1.0], maximum_iterations=3)
    return run(tf, tf.gradients(r[1], x))


def parallel_iterations_make_no_difference(tf):
    x = tf.constant(1.01)

    def gradient(n):
        r = tf.while_loop(lambda i, y: i < 40, lambda i, y: (i + 1, y * x), [0, 1.0], parallel_iterations=n)
        return tf.gradients(r[1], x)[0]

    return run(tf, [gradient(n) for n in (1, 2, 50)])


def aggregation_methods(tf):
    x = tf.constant([1.0, 2.0])
    y = x * 2.0 + x * x + tf.sin(x)
    methods = [tf.AggregationMethod.ADD_N, tf.AggregationMethod.EXPERIMENTAL_TREE, tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N]
    return run(tf, [tf.gradients(y, x, aggregation_method=m)[0] for m in methods])


def names_of_gradients(tf):
    x = tf.constant(3.0, name="x")
    tf.gradients(x * x + x, x, name="grads")
    return nodes(tf)


def by_a_variable_of_each_kind(tf):
    a, b = tf.Variable(3.0), tf.Variable(4.0, use_resource=True)
    return run(tf, tf.gradients(a * b * b, [a, b]))


def overridden(tf):
    graph = tf.get_default_graph()

    @tf.RegisterGradient("TimesTen" + str(id(graph)))
    def times_ten(op, grad):
        return grad * 10.0

    x = tf.constant(3.0)
    with graph.gradient_override_map({"Identity": "TimesTen" + str(id(graph))}):
        y = tf.identity(x)
    return run(tf, tf.gradients(y, x))


def custom_gradient(tf):
    @tf.custom_gradient
    def clipped(x):
        return x * 2.0, lambda dy: tf.clip_by_value(dy, -0.1, 0.1)

    x = tf.constant(3.0)
    y = clipped(x)
    return run(tf, [y, tf.gradients(y * 5.0, x)[0]])


def gate_words(tf):
    opt = tf.train.GradientDescentOptimizer
    return opt.GATE_NONE, opt.GATE_OP, opt.GATE_GRAPH


def of_no_tensor(tf):
    x = tf.constant(1.0)
    return caught(lambda: tf.gradients(x, [object()])), tf.gradients([], [x])


def missing_for_an_op(tf):
    x = tf.constant([1.0, 2.0])
    y = tf.py_func(lambda a: a * 2, [x], tf.float32)
    return tf.gradients(y, x)
