"""Gradients of branches, and gradients computed inside branches and loops."""

from programs.tools import names, run


def cond_in_a_loop(tf):
    x = tf.constant(1.3)
    body = lambda i, y: (i + 1, tf.cond(tf.equal(i % 2, 0), lambda: y * x, lambda: y + x))  # noqa: E731
    r = tf.while_loop(lambda i, y: i < 5, body, (0, x))[1]
    return run(tf, [r, tf.gradients(r, x)[0]])


def cond_in_a_loop_by_its_value(tf):
    x = tf.constant(1.3)
    body = lambda i, y: (i + 1, tf.cond(y > 2.0, lambda: y / x, lambda: y * y))  # noqa: E731
    r = tf.while_loop(lambda i, y: i < 5, body, (0, x))[1]
    return run(tf, [r, tf.gradients(r, x)[0]])


def cond_in_a_loop_with_an_unused_side(tf):
    x = tf.constant(1.3)
    body = lambda i, y: (i + 1, tf.cond(tf.equal(i % 2, 0), lambda: y * x, lambda: y))  # noqa: E731
    r = tf.while_loop(lambda i, y: i < 4, body, (0, 1.0))[1]
    return run(tf, tf.gradients(r, x))


def loop_in_a_cond(tf):
    p, x = tf.placeholder(tf.bool, []), tf.constant(1.3)
    r = tf.cond(p, lambda: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, tf.ones_like(x)))[1], lambda: x * 10.0)
    g, = tf.gradients(r, x)
    with tf.Session() as sess:
        return sess.run([r, g], {p: True}), sess.run([r, g], {p: False})


def gradient_in_a_loop(tf):
    body = lambda i, y: (i + 1, y - 0.1 * tf.gradients((y - 3.0) ** 2, y)[0])  # noqa: E731
    return run(tf, tf.while_loop(lambda i, y: i < 20, body, (0, 0.0)))


def gradient_in_a_loop_by_a_captured_tensor(tf):
    w = tf.constant(2.0)
    body = lambda i, s: (i + 1, s + tf.gradients(w * w * tf.cast(i, tf.float32), w)[0])  # noqa: E731
    return run(tf, tf.while_loop(lambda i, s: i < 4, body, (0, 0.0)))


def gradient_in_a_branch(tf):
    x = tf.constant(2.0)
    return run(tf, tf.cond(tf.constant(True), lambda: tf.gradients(x * x * x, x)[0], lambda: x))


def gradient_of_a_gradient_in_a_loop(tf):
    x = tf.constant(2.0)

    def body(i, s):
        g, = tf.gradients(s ** 3, s)
        return i + 1, g / 4.0

    r = tf.while_loop(lambda i, s: i < 2, body, (0, x))[1]
    return run(tf, [r, tf.gradients(r, x)[0]])


def of_a_cond(tf):
    p, x, w = tf.placeholder(tf.bool, []), tf.constant(2.0), tf.constant(3.0)
    r = tf.cond(p, lambda: x * w, lambda: x * x)
    gs = tf.gradients(r, [x, w])
    with tf.Session() as sess:
        return sess.run(gs, {p: True}), sess.run(gs, {p: False})


def second_derivative_of_a_cond(tf):
    p, x = tf.placeholder(tf.bool, []), tf.constant(2.0)
    r = tf.cond(p, lambda: x ** 3, lambda: tf.sin(x))
    g, = tf.gradients(tf.gradients(r, x), x)
    with tf.Session() as sess:
        return sess.run(g, {p: True}), sess.run(g, {p: False})


def of_a_nested_cond(tf):
    x = tf.placeholder(tf.float32, [])
    r = tf.cond(x > 0.0, lambda: tf.cond(x > 1.0, lambda: x * x, lambda: x * 5.0), lambda: -x)
    g, = tf.gradients(r, x)
    with tf.Session() as sess:
        return [sess.run(g, {x: v}) for v in (3.0, 0.5, -2.0)]


def of_a_case(tf):
    x = tf.placeholder(tf.float32, [])
    r = tf.case([(x < 0.0, lambda: x * x), (x < 1.0, lambda: x * 3.0)], default=lambda: tf.exp(x))
    g, = tf.gradients(r, x)
    with tf.Session() as sess:
        return [sess.run(g, {x: v}) for v in (-3.0, 0.5, 2.0)]


def of_a_switch_case(tf):
    i, x = tf.placeholder(tf.int32, []), tf.constant(2.0)
    r = tf.switch_case(i, [lambda: x * x, lambda: x * 3.0, lambda: tf.exp(x)])
    g, = tf.gradients(r, x)
    with tf.Session() as sess:
        return [sess.run(g, {i: k}) for k in range(3)]


def of_a_cond_of_several(tf):
    p, x, w = tf.placeholder(tf.bool, []), tf.constant(2.0), tf.constant([3.0, 4.0])
    a, b = tf.cond(p, lambda: (x * w, x), lambda: (w, x * x))
    gs = tf.gradients([a, b], [x, w])
    with tf.Session() as sess:
        return sess.run(gs, {p: True}), sess.run(gs, {p: False})


def of_a_gather_in_a_cond(tf):
    p = tf.placeholder(tf.bool, [])
    v = tf.Variable([[1.0], [2.0], [3.0]])
    r = tf.cond(p, lambda: tf.gather(v, [0, 2]), lambda: tf.gather(v, [1]))
    g, = tf.gradients(r, v)
    g = tf.convert_to_tensor(g)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(g, {p: True}), sess.run(g, {p: False})


def names_of_a_cond_gradient(tf):
    p, x = tf.placeholder(tf.bool, [], name="p"), tf.constant(2.0, name="x")
    r = tf.cond(p, lambda: tf.multiply(x, 3.0, name="times"), lambda: tf.negative(x, name="minus"))
    tf.gradients(r, x)
    return names(tf)
