"""The programs in TensorFlow's documentation of `while_loop`, unchanged except for the import."""

import collections

from programs.tools import run


def counter_body_returns_a_tensor(tf):
    i = tf.constant(0)
    c = lambda i: tf.less(i, 10)
    b = lambda i: tf.add(i, 1)
    r = tf.while_loop(c, b, [i])
    return r.name, run(tf, r)


def counter_body_returns_a_tuple(tf):
    i = tf.constant(0)
    c = lambda i: tf.less(i, 10)
    b = lambda i: (tf.add(i, 1), )
    r = tf.while_loop(c, b, [i])
    return r.name, run(tf, r)


def nesting_and_a_namedtuple(tf):
    Pair = collections.namedtuple('Pair', 'j, k')
    ijk_0 = (tf.constant(0), Pair(tf.constant(1), tf.constant(2)))
    c = lambda i, p: i < 10
    b = lambda i, p: (i + 1, Pair((p.j + p.k), (p.j - p.k)))
    ijk_final = tf.while_loop(c, b, ijk_0)
    return run(tf, ijk_final)


def using_shape_invariants(tf):
    i0 = tf.constant(0)
    m0 = tf.ones([2, 2])
    c = lambda i, m: i < 10
    b = lambda i, m: [i+1, tf.concat([m, m], axis=0)]
    r = tf.while_loop(
        c, b, loop_vars=[i0, m0],
        shape_invariants=[i0.get_shape(), tf.TensorShape([None, 2])])
    i, m = run(tf, r)
    return i, m.shape, m.sum()


def non_strict_semantics(tf):
    n = 10000
    x = tf.constant(list(range(n)))
    c = lambda i, x: i < n
    b = lambda i, x: (tf.compat.v1.Print(i + 1, [i]), tf.compat.v1.Print(x + 1,
    [i], "x:"))
    i, out = tf.while_loop(c, b, (0, x))
    with tf.compat.v1.Session() as sess:
        first = sess.run(i)
        return first, sess.run(out).shape


def variable_enters_the_loop(tf):
    i = tf.get_variable("i", dtype=tf.int32, shape=[], initializer=tf.ones_initializer())
    n = tf.constant(10)

    def cond(a, n):
        return  a< n
    def body(a, n):
        a = a + 2
        return a, n

    ii, nn = tf.while_loop(cond, body, [i, n])
    v1=ii+3
    v2=nn+4

    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        res = sess.run([v1, v2])
        return res
