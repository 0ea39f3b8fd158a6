"""Gradients of loops and branches: nesting, captures, arrays, slices, second order, zero iterations."""

import numpy as np

from programs.tools import caught, names, run, static


def _power(tf, x, n, **arguments):
    return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, tf.ones_like(x)), **arguments)[1]


def powers(tf):
    x, n = tf.constant(2.0), tf.placeholder(tf.int32, [])
    y = _power(tf, x, n)
    g, = tf.gradients(y, x)
    with tf.Session() as sess:
        return [sess.run([y, g], {n: k}) for k in range(5)]


def powers_of_each_dtype(tf):
    out = []
    for k in (tf.float16, tf.float32, tf.float64, tf.complex64, tf.complex128):
        x = tf.constant(2, k)
        out.append(tf.gradients(_power(tf, x, 3), x, grad_ys=tf.constant(1, k))[0])
    return run(tf, out)


def powers_in_every_parallelism(tf):
    x = tf.constant([1.5, 2.0])
    return run(tf, [tf.gradients(_power(tf, x, 5, parallel_iterations=p, swap_memory=p == 5), x)[0] for p in (1, 2, 5, 32)])


def second_derivative(tf):
    x = tf.constant(2.0)
    y = x * x * x
    r = tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, z * y), (0, x))[1]
    g, = tf.gradients(r, x)
    return run(tf, [r, g])


def no_iterations(tf):
    x, c = tf.constant([1.0, 2.0]), tf.constant(3.0)
    r = tf.while_loop(lambda i, y: i < 0, lambda i, y: (i + 1, y * c), (0, x))[1]
    return run(tf, tf.gradients(r, [x, c]))


def by_the_start(tf):
    x = tf.constant([1.0, 2.0])
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y)), (0, x))[1]
    return run(tf, tf.gradients(r, x))


def by_a_captured_tensor_used_twice(tf):
    w = tf.constant([0.5, 0.25])
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w + w), (0, tf.ones([2])))[1]
    return run(tf, tf.gradients(r, w))


def by_a_tensor_captured_by_the_condition_only(tf):
    w, x = tf.constant(10.0), tf.constant(1.5)
    r = tf.while_loop(lambda y: y < w, lambda y: y * 2.0, [x])
    return tf.gradients(r, w), run(tf, tf.gradients(r, x))


def by_what_a_variable_does_not_use(tf):
    x, w = tf.constant(2.0), tf.constant(3.0)
    _, a, b = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * x, b * w), (0, x, w))
    return [g is None for g in tf.gradients(a, [x, w])], run(tf, tf.gradients(a, x) + tf.gradients(b, w) + tf.gradients([a, b], x))


def variables_that_mix(tf):
    x, w = tf.constant(2.0), tf.constant(3.0)
    _, a, b = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * b, a + b), (0, x, w))
    return run(tf, tf.gradients(a, [x, w]) + tf.gradients(b, [x, w]))


def variables_that_swap(tf):
    x, w = tf.constant(2.0), tf.constant(3.0)
    _, a, b = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, b * 2.0, a), (0, x, w))
    return run(tf, tf.gradients(a, [x, w], unconnected_gradients="zero") + tf.gradients(b, [x, w], unconnected_gradients="zero"))


def variable_that_is_replaced(tf):
    x, w = tf.constant(2.0), tf.constant(3.0)
    _, a = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, w * 2.0), (0, x))
    return run(tf, tf.gradients(a, [x, w], unconnected_gradients="zero"))


def variable_passed_through(tf):
    x = tf.constant(2.0)
    _, a = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a), (0, x))
    return run(tf, tf.gradients(a * 5.0, x))


def grad_ys_into_a_loop(tf):
    x = tf.constant([1.0, 2.0])
    y = _power(tf, x, 3)
    return run(tf, tf.gradients(y, x, grad_ys=tf.constant([10.0, 100.0])))


def stop_gradients_of_a_start(tf):
    x, w = tf.constant(2.0), tf.constant(3.0)
    y = x * w
    r = tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, z * x), (0, y))[1]
    return run(tf, [tf.gradients(r, x), tf.gradients(r, x, stop_gradients=[y])])


def stop_gradient_within(tf):
    x = tf.constant(2.0)
    r = tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, z * tf.stop_gradient(z) + x), (0, x))[1]
    return run(tf, tf.gradients(r, x))


def nested(tf):
    x = tf.constant(1.2)

    def outer(i, y):
        return i + 1, tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, z * x), (0, y))[1]

    r = tf.while_loop(lambda i, y: i < 3, outer, (0, x))[1]
    return run(tf, [r, tf.gradients(r, x)[0]])


def nested_of_changing_length(tf):
    x = tf.constant(1.1)

    def outer(i, y):
        return i + 1, tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z * x + tf.sin(z)), (0, y))[1]

    r = tf.while_loop(lambda i, y: i < 4, outer, (0, x))[1]
    return run(tf, [r, tf.gradients(r, x)[0]])


def three_deep(tf):
    x = tf.constant(1.05)

    def level(n, y):
        if n == 0:
            return y * x
        return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, level(n - 1, y)), (0, y))[1]

    r = level(3, x)
    return run(tf, [r, tf.gradients(r, x)[0]])


def inner_loop_on_a_captured_tensor(tf):
    x = tf.constant(1.3)

    def outer(i, y):
        inner = tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, z * z), (0, x))[1]
        return i + 1, y + inner

    r = tf.while_loop(lambda i, y: i < 3, outer, (0, 0.0))[1]
    return run(tf, tf.gradients(r, x))


def of_gathers_in_a_loop(tf):
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    r = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.gather(x, i) ** 2), (0, 0.0))[1]
    g, = tf.gradients(r, x)
    return run(tf, tf.convert_to_tensor(g))


def of_gathers_of_a_variable_in_a_loop(tf):
    out = []
    for resource in (False, True):
        v = tf.Variable([[1.0], [2.0], [3.0], [4.0]], use_resource=resource)
        r = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.reduce_sum(tf.gather(v, [i, 0]) ** 2)), (0, 0.0))[1]
        g, = tf.gradients(r, v)
        out.append([type(g).__name__, run(tf, tf.convert_to_tensor(g))])
    return out


def of_an_embedding_in_a_loop(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    r = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.reduce_sum(tf.nn.embedding_lookup(v, [i % 2]) ** 2)), (0, 0.0))[1]
    g, = tf.gradients(r, v)
    return run(tf, tf.convert_to_tensor(g))


def by_variables_of_both_kinds(tf):
    out = []
    for resource in (False, True):
        v = tf.Variable(1.5, use_resource=resource)
        r = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * v), (0, 1.0))[1]
        out.append(tf.gradients(r, v)[0])
    return run(tf, out)


def of_matrix_powers(tf):
    m = tf.constant([[0.5, 0.25], [0.1, 0.9]])
    r = tf.while_loop(lambda i, p: i < 3, lambda i, p: (i + 1, tf.matmul(p, m)), (0, tf.eye(2)))[1]
    return run(tf, tf.gradients(tf.reduce_sum(r), m))


def of_a_recurrence_over_rows(tf):
    x, w = tf.constant(np.linspace(-1, 1, 12).reshape(4, 3).astype(np.float32)), tf.constant(np.eye(3, dtype=np.float32) * 0.5)
    step = lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w) + tf.expand_dims(x[i], 0)))  # noqa: E731
    h = tf.while_loop(lambda i, h: i < 4, step, (0, tf.zeros([1, 3])))[1]
    return run(tf, tf.gradients(tf.reduce_sum(h), [x, w]))


def of_arrays_in_a_loop(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    given = tf.TensorArray(tf.float32, 3).unstack(x)
    out = tf.TensorArray(tf.float32, 3)
    r = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, given.read(i) ** 2)), (0, out))[1].stack()
    return run(tf, [r, tf.gradients(r, x)[0]])


def of_an_array_read_many_times(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    given = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
    r = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s + given.read(i % 3) * given.read(0)), (0, 0.0))[1]
    return run(tf, [r, tf.gradients(r, x)[0]])


def of_an_array_growing(tf):
    x = tf.constant(2.0)
    out = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    _, _, a = tf.while_loop(lambda i, y, a: i < 4, lambda i, y, a: (i + 1, y * x, a.write(i, y)), (0, x, out))
    r = a.stack()
    return run(tf, [r, tf.gradients(r, x)[0]])


def of_concatenated_parts(tf):
    x = tf.constant([1.0, 2.0])
    out = tf.TensorArray(tf.float32, 3, infer_shape=False)
    _, a = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, tf.tile(x, [i + 1]))), (0, out))
    r = a.concat()
    return run(tf, [r, tf.gradients(r, x)[0]])


def of_maximum_iterations(tf):
    x, n = tf.constant(2.0), tf.placeholder(tf.int32, [])
    y = _power(tf, x, 100, maximum_iterations=n)
    g, = tf.gradients(y, x)
    with tf.Session() as sess:
        return [sess.run([y, g], {n: k}) for k in (0, 1, 4)]


def of_growing_shapes(tf):
    x = tf.constant([1.0, 2.0])
    r = tf.while_loop(
        lambda i, y: i < 2, lambda i, y: (i + 1, tf.concat([y, y * x[0]], 0)), (0, x), shape_invariants=(tf.TensorShape([]), tf.TensorShape([None]))
    )[1]
    return run(tf, [r, tf.gradients(r, x)[0]])


def of_broadcasts_in_a_loop(tf):
    x, b = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([0.5, 0.25])
    r = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * b + b), (0, x))[1]
    return run(tf, tf.gradients(r, [x, b]))


def of_splits_and_concats_in_a_loop(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])

    def body(i, y):
        a, b = tf.split(y, 2, 1)
        return i + 1, tf.concat([b * a, a], 1)

    r = tf.while_loop(lambda i, y: i < 3, body, (0, x))[1]
    return run(tf, [r, tf.gradients(r, x)[0]])


def of_a_loop_of_a_loop(tf):
    x = tf.constant(1.1)
    a = _power(tf, x, 3)
    b = _power(tf, a, 2)
    return run(tf, tf.gradients(b, [x, a]))


def of_two_loops(tf):
    x = tf.constant(1.1)
    return run(tf, tf.gradients([_power(tf, x, 3), _power(tf, x, 2)], x))


def int_counter_is_none(tf):
    x = tf.constant(1.1)
    i, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x))
    return tf.gradients(i, x), static(*tf.gradients(y, x))


def static_shapes_of_loop_gradients(tf):
    x = tf.placeholder(tf.float32, [None, 2])
    w = tf.constant([[1.0, 0.0], [0.0, 1.0]])
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.matmul(y, w)), (0, x))[1]
    return static(*tf.gradients(r, [x, w]))


def names_of_a_loop_gradient(tf):
    x = tf.constant(2.0, name="x")
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.multiply(y, x, name="times")), (0, x))[1]
    tf.gradients(r, x)
    return names(tf)


def by_something_inside_is_refused(tf):
    kept = []

    def body(i, y):
        kept.append(y * 2.0)
        return i + 1, kept[0]

    r = tf.while_loop(lambda i, y: i < 3, body, (0, 1.0))[1]
    return caught(lambda: run(tf, tf.gradients(r, kept[0])))[0] != "nothing was raised"
