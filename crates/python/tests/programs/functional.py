"""`scan`, `map_fn`, `foldl`, `foldr`: Python functions applied to rows."""

import collections

import numpy as np

from programs.tools import caught, names, run, static

AB = collections.namedtuple("AB", "a, b")


def scan_sums(tf):
    r = tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3, 4]))
    return static(r), run(tf, r)


def scan_with_an_initializer(tf):
    r = tf.scan(lambda a, x: a * 2.0 + x, tf.constant([1.0, 2.0, 3.0]), initializer=tf.constant(10.0))
    return static(r), run(tf, r)


def scan_of_several(tf):
    elems = (tf.constant([1, 2, 3]), tf.constant([-1, 1, -1]))
    r = tf.scan(lambda a, x: a + x[0] * x[1], elems, initializer=0)
    return run(tf, r)


def scan_with_another_structure(tf):
    r = tf.scan(lambda a, x: (a[1], a[0] + a[1]), tf.range(8), initializer=(0, 1))
    return type(r).__name__, run(tf, r)


def scan_of_a_namedtuple(tf):
    elems = AB(tf.constant([1.0, 2.0]), tf.constant([[1.0], [2.0]]))
    r = tf.scan(lambda acc, x: AB(acc.a + x.a, acc.b * x.b), elems)
    return type(r).__name__, run(tf, r)


def scan_reversed(tf):
    return run(tf, tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3]), reverse=True))


def scan_of_matrices(tf):
    x = tf.constant(np.arange(12.0).reshape(3, 2, 2))
    r = tf.scan(lambda a, m: tf.matmul(a, m), x)
    return static(r), run(tf, r)


def scan_gradient(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    r = tf.scan(lambda a, v: a * v, x)
    return run(tf, [r, tf.gradients(r, x)[0]])


def scan_gradient_by_a_captured_tensor(tf):
    x, w = tf.constant([1.0, 2.0, 3.0]), tf.constant(0.5)
    r = tf.scan(lambda a, v: a * w + v, x, initializer=0.0)
    return run(tf, tf.gradients(r, [x, w]))


def scan_without_shapes(tf):
    x = tf.placeholder(tf.float32, [None])
    r = tf.scan(lambda a, v: a + v, x, infer_shape=False)
    return static(r), run(tf, r, {x: [1, 2, 3]})


def scan_names(tf):
    tf.scan(lambda a, x: a + x, tf.constant([1, 2]), name="sums")
    return names(tf)


def scan_refusals(tf):
    return caught(lambda: tf.scan(3, tf.constant([1])), "fn must be callable.")


def map_fn(tf):
    r = tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3]))
    return static(r), run(tf, r)


def map_fn_of_several(tf):
    elems = (tf.constant([1, 2, 3]), tf.constant([-1, 1, -1]))
    return run(tf, tf.map_fn(lambda x: x[0] * x[1], elems, dtype=tf.int32))


def map_fn_to_another_structure(tf):
    r = tf.map_fn(lambda x: (x, -x), tf.constant([1, 2, 3]), dtype=(tf.int32, tf.int32))
    d = tf.map_fn(lambda x: {"a": tf.cast(x, tf.float32), "b": x > 1}, tf.constant([1, 2]), dtype={"a": tf.float32, "b": tf.bool})
    return type(r).__name__, run(tf, r), run(tf, d)


def map_fn_with_another_dtype(tf):
    return run(tf, tf.map_fn(lambda x: tf.cast(x, tf.float64) / 2.0, tf.constant([1, 2]), dtype=tf.float64))


def map_fn_of_rows(tf):
    x = tf.placeholder(tf.float32, [None, 3])
    r = tf.map_fn(lambda row: tf.reduce_sum(row), x)
    return static(r), run(tf, r, {x: np.ones([4, 3])})


def map_fn_of_nothing(tf):
    x = tf.placeholder(tf.float32, [None, 2])
    r = tf.map_fn(lambda row: row * 2.0, x)
    return run(tf, r, {x: np.zeros([0, 2])})


def map_fn_gradient(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    return run(tf, tf.gradients(tf.map_fn(lambda v: v ** 3, x), x))


def map_fn_with_the_wrong_dtype(tf):
    return caught(lambda: tf.map_fn(lambda x: (x, x), tf.constant([1, 2])))


def map_fn_refusals(tf):
    return caught(lambda: tf.map_fn(3, tf.constant([1])), "fn must be callable."), caught(lambda: tf.map_fn(lambda x: x, tf.constant(1)), "must be a 1+ dimensional Tensor, not a scalar")


def map_fn_names(tf):
    tf.map_fn(lambda x: x + 1, tf.constant([1, 2]))
    return names(tf)


def map_fn_strings(tf):
    return run(tf, tf.map_fn(lambda s: tf.string_join([s, s]), tf.constant(["a", "b"]))).tolist()


def foldl(tf):
    x = tf.constant([1, 2, 3, 4])
    return run(tf, [tf.foldl(lambda a, v: a + v, x), tf.foldl(lambda a, v: a * 10 + v, x, initializer=9)])


def foldr(tf):
    x = tf.constant([1, 2, 3, 4])
    return run(tf, [tf.foldr(lambda a, v: a + v, x), tf.foldr(lambda a, v: a * 10 + v, x, initializer=9)])


def foldl_of_vectors(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    r = tf.foldl(lambda a, v: a * v, x)
    return static(r), run(tf, r)


def fold_gradients(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    return run(tf, tf.gradients(tf.foldl(lambda a, v: a * v, x), x) + tf.gradients(tf.foldr(lambda a, v: a + v * v, x, initializer=0.0), x))


def fold_structures(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    return run(tf, tf.foldl(lambda a, v: (a[0] + v, a[1] * v), x, initializer=(0.0, 1.0)))


def nested_maps(tf):
    x = tf.constant([[1, 2], [3, 4]])
    return run(tf, tf.map_fn(lambda row: tf.map_fn(lambda v: v * v, row), x))


def map_in_a_loop(tf):
    x = tf.constant([1.0, 2.0])
    r = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.map_fn(lambda u: u * 2.0, v)), [0, x])
    return run(tf, r[1])


def parallel_iterations(tf):
    x = tf.range(50)
    return run(tf, [tf.reduce_sum(tf.map_fn(lambda v: v * 2, x, parallel_iterations=n)) for n in (1, 4, 64)])
