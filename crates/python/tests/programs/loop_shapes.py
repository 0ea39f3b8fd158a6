"""Shapes of loop variables: invariants, allowed changes, and errors."""

import numpy as np

from programs.tools import caught, run, static


def grows_with_an_invariant(tf):
    i0, m0 = tf.constant(0), tf.ones([2, 2])
    r = tf.while_loop(
        lambda i, m: i < 10,
        lambda i, m: [i + 1, tf.concat([m, m], axis=0)],
        loop_vars=[i0, m0],
        shape_invariants=[i0.get_shape(), tf.TensorShape([None, 2])],
    )
    return static(*r), run(tf, r)[1].shape


def grows_without_an_invariant(tf):
    i0, m0 = tf.constant(0), tf.ones([2, 2])
    body = lambda i, m: [i + 1, tf.concat([m, m], axis=0)]
    return caught(
        lambda: tf.while_loop(lambda i, m: i < 10, body, [i0, m0]),
        "enters the loop with shape (2, 2), but has shape (4, 2) after one iteration",
        "shape_invariants",
    )


def becomes_unknown(tf):
    n = tf.placeholder(tf.int32, [])
    body = lambda i, x: (i + 1, tf.zeros([n]))
    return caught(lambda: tf.while_loop(lambda i, x: i < 2, body, [0, tf.zeros([3])]), "but has shape (?,) after one iteration")


def unknown_rank_allows_anything(tf):
    body = lambda i, x: (i + 1, tf.expand_dims(x, 0))
    r = tf.while_loop(
        lambda i, x: i < 3, body, [0, tf.zeros([2])], shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)]
    )
    return static(*r), run(tf, r)[1].shape


def invariant_not_compatible_with_the_start(tf):
    return caught(
        lambda: tf.while_loop(
            lambda i, x: i < 3,
            lambda i, x: (i + 1, x),
            [0, tf.zeros([2])],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([3])],
        ),
        "is not compatible with the initial shape",
    )


def invariant_more_special_than_the_start(tf):
    x = tf.placeholder(tf.float32, [None])
    return caught(
        lambda: tf.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, y),
            [0, x],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([3])],
        ),
        "is not compatible with the initial shape",
    )


def invariants_of_another_structure(tf):
    return caught(
        lambda: tf.while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, x), [0, tf.zeros([2])], shape_invariants=[tf.TensorShape([])]
        )
    )


def invariants_of_a_nest(tf):
    start = (0, (tf.zeros([1]), {"a": tf.zeros([1, 2])}))
    invariants = (tf.TensorShape([]), (tf.TensorShape([None]), {"a": tf.TensorShape([None, 2])}))
    body = lambda i, n: (i + 1, (tf.concat([n[0], [1.0]], 0), {"a": tf.concat([n[1]["a"], [[1.0, 2.0]]], 0)}))
    r = tf.while_loop(lambda i, n: i < 3, body, start, shape_invariants=invariants)
    return static(r[1][0], r[1][1]["a"]), run(tf, r)


def set_shape_in_the_body(tf):
    x = tf.placeholder(tf.float32, [None])

    def body(i, y):
        y = tf.concat([y[1:], x], 0)
        y.set_shape([2])
        return i + 1, y

    r = tf.while_loop(lambda i, y: i < 3, body, [0, tf.zeros([2])])
    return static(*r), run(tf, r, {x: [7.0]})


def body_sees_the_invariant(tf):
    seen = []

    def body(i, x):
        seen.append(str(x.get_shape()))
        return i + 1, tf.concat([x, x], 0)

    tf.while_loop(
        lambda i, x: i < 2, body, [0, tf.zeros([1, 3])], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 3])]
    )
    return seen


def start_of_unknown_shape(tf):
    x = tf.placeholder(tf.float32)
    r = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y + 1.0), [0, x])
    return static(*r), run(tf, r, {x: [[1.0, 2.0]]})


def partial_dimension_stays(tf):
    x = tf.placeholder(tf.float32, [None, 3])
    r = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * 2.0), [0, x])
    return static(*r), run(tf, r, {x: np.ones([2, 3])})


def broadcast_in_the_body(tf):
    body = lambda i, x: (i + 1, x + tf.ones([3, 1]))
    return caught(lambda: tf.while_loop(lambda i, x: i < 2, body, [0, tf.zeros([1, 2])]), "but has shape (3, 2) after one iteration")


def counter_of_another_rank(tf):
    return caught(lambda: tf.while_loop(lambda i: tf.reduce_sum(i) < 3, lambda i: tf.expand_dims(i, 0), [0]))


def invariants_as_specs_of_a_sparse_tensor(tf):
    sp = tf.SparseTensor([[0, 0]], [1.0], [1, 2])

    def body(i, s):
        return i + 1, tf.sparse_concat(0, [s, sp])

    r = tf.while_loop(lambda i, s: i < 2, body, [0, sp], shape_invariants=[tf.TensorShape([]), tf.TensorShape([2])])
    value = run(tf, r[1])
    return static(r[1].indices, r[1].values), value.dense_shape, value.indices


def invariants_of_indexed_slices(tf):
    s = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]), tf.constant([3, 2]))

    def body(i, s):
        return i + 1, tf.IndexedSlices(tf.concat([s.values, s.values], 0), tf.concat([s.indices, s.indices], 0), s.dense_shape)

    r = tf.while_loop(lambda i, s: i < 2, body, [0, s], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])])
    return static(r[1].values, r[1].indices, r[1].dense_shape), run(tf, [r[1].values, r[1].indices])


def scan_of_growing_rows_is_refused(tf):
    return caught(lambda: tf.scan(lambda a, x: tf.concat([a, [x]], 0), tf.constant([1.0, 2.0]), initializer=tf.zeros([1])))
