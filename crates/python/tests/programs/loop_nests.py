"""Nested loops and branches, loops with feeds, small algorithms."""

import numpy as np

from programs.tools import names, run, static


def loop_in_each_branch(tf):
    p = tf.placeholder(tf.bool, [])
    up = lambda: tf.while_loop(lambda i: i < 10, lambda i: i + 3, [0])  # noqa: E731
    down = lambda: tf.while_loop(lambda i: i > 0, lambda i: i - 3, [10])  # noqa: E731
    r = tf.cond(p, up, down)
    with tf.Session() as sess:
        return sess.run(r, {p: True}), sess.run(r, {p: False})


def loop_in_a_branch_of_a_cond_in_a_loop(tf):
    def body(i, s):
        inner = lambda: tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + j), (0, s))[1]  # noqa: E731
        return i + 1, tf.cond(tf.equal(i % 2, 1), inner, lambda: s)

    return run(tf, tf.while_loop(lambda i, s: i < 6, body, (0, 0)))


def case_in_a_loop(tf):
    def body(i, s):
        s = tf.case([(tf.equal(i % 3, 0), lambda: s + 100), (tf.equal(i % 3, 1), lambda: s * 2)], default=lambda: s - 1)
        return i + 1, s

    return run(tf, tf.while_loop(lambda i, s: i < 7, body, (0, 0)))


def switch_case_in_a_loop(tf):
    def body(i, s):
        return i + 1, tf.switch_case(i % 3, [lambda: s + 1, lambda: s + 10, lambda: s + 100])

    return run(tf, tf.while_loop(lambda i, s: i < 7, body, (0, 0)))


def four_deep(tf):
    def level(n, s):
        if n == 0:
            return s + 1
        return tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, level(n - 1, s)), (0, s))[1]

    return run(tf, level(4, tf.constant(0)))


def triangle(tf):
    def body(i, s):
        return i + 1, tf.while_loop(lambda j, s: j <= i, lambda j, s: (j + 1, s + j), (0, s))[1]

    return run(tf, tf.while_loop(lambda i, s: i < 10, body, (0, 0)))


def inner_loop_of_no_iterations(tf):
    def body(i, s):
        return i + 1, tf.while_loop(lambda j, s: j < 0, lambda j, s: (j + 1, s + 100), (0, s))[1] + 1

    return run(tf, tf.while_loop(lambda i, s: i < 3, body, (0, 0)))


def inner_loop_in_the_condition(tf):
    def more(i):
        return tf.while_loop(lambda j: j < i, lambda j: j + 1, [0]) < 4

    return run(tf, tf.while_loop(more, lambda i: i + 1, [0]))


def cond_in_the_condition(tf):
    return run(tf, tf.while_loop(lambda i: tf.cond(i < 3, lambda: True, lambda: False), lambda i: i + 1, [0]))


def two_loops_one_after_the_other(tf):
    a = tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0])
    b = tf.while_loop(lambda i: i < 20, lambda i: i + a, [a])
    return b.name, run(tf, [a, b])


def two_loops_share_an_invariant(tf):
    n = tf.placeholder(tf.int32, [])
    a = tf.while_loop(lambda i: i < n, lambda i: i + 1, [0])
    b = tf.while_loop(lambda i: i < n * 2, lambda i: i + 1, [n])
    return run(tf, [a, b], {n: 4})


def result_fed(tf):
    r = tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0])
    return run(tf, r + 1, {r: 100})


def start_fed(tf):
    start = tf.constant(0)
    r = tf.while_loop(lambda i: i < 5, lambda i: i + 1, [start])
    return run(tf, r, {start: 50})


def captured_tensor_fed(tf):
    step = tf.constant(1)
    r = tf.while_loop(lambda i: i < 5, lambda i: i + step, [0])
    return run(tf, r, {step: 3})


def the_same_loop_run_many_times(tf):
    n = tf.placeholder(tf.int32, [])
    r = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), (0, 0))
    with tf.Session() as sess:
        return [sess.run(r[1], {n: k}) for k in range(8)]


def loop_to_an_operation(tf):
    r = tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0])
    with tf.Session() as sess:
        return sess.run(r.op)


def matmul_in_a_loop(tf):
    m = tf.constant([[1, 1], [1, 0]])
    return run(tf, tf.while_loop(lambda i, p: i < 10, lambda i, p: (i + 1, tf.matmul(p, m)), (0, tf.eye(2, dtype=tf.int32))))


def sieve(tf):
    def body(i, p):
        multiples = tf.logical_and(tf.equal(tf.range(30) % i, 0), tf.range(30) > i)
        return i + 1, tf.logical_and(p, tf.logical_not(multiples))

    _, p = tf.while_loop(lambda i, p: i < 6, body, (2, tf.range(30) > 1))
    return run(tf, tf.boolean_mask(tf.range(30), p))


def gcd(tf):
    return run(tf, tf.while_loop(lambda a, b: tf.not_equal(b, 0), lambda a, b: (b, a % b), (tf.constant(252), tf.constant(105))))


def bubble_sort(tf):
    def swap(a, j):
        x, y = a[j], a[j + 1]
        lower = tf.stack([tf.minimum(x, y), tf.maximum(x, y)])
        return tf.concat([a[:j], lower, a[j + 2:]], 0)

    def outer(i, a):
        inner = tf.while_loop(
            lambda j, a: j < 4, lambda j, a: (j + 1, tf.reshape(swap(a, j), [5])), (0, a), shape_invariants=(tf.TensorShape([]), tf.TensorShape([5]))
        )
        return i + 1, inner[1]

    return run(tf, tf.while_loop(lambda i, a: i < 5, outer, (0, tf.constant([5, 1, 4, 2, 3]))))


def growing_by_slices(tf):
    r = tf.while_loop(
        lambda x: tf.shape(x)[0] < 6, lambda x: tf.concat([x, x[-2:-1] + x[-1:]], 0), [tf.constant([1, 1])], shape_invariants=[tf.TensorShape([None])]
    )
    return static(r), run(tf, r)


def where_in_a_loop(tf):
    x = np.int32([7, 27, 1, 6])
    r = tf.while_loop(
        lambda x, n: tf.reduce_any(x > 1),
        lambda x, n: (tf.where(x > 1, tf.where(tf.equal(x % 2, 0), x // 2, 3 * x + 1), x), tf.where(x > 1, n + 1, n)),
        (x, np.zeros(4, np.int32)),
    )
    return run(tf, r)


def nodes_of_a_cond_in_a_loop(tf):
    n = tf.constant(3, name="n")
    tf.while_loop(lambda i: i < n, lambda i: tf.cond(i > 1, lambda: i + n, lambda: i + 1), [tf.constant(0, name="start")])
    return names(tf)
