"""`map_fn`, `scan`, `foldl`, `foldr`: dtypes, structures, nesting, arguments, static shapes, errors."""

import collections

import numpy as np

from programs.tools import WHOLE, caught, names, run, static

Pair = collections.namedtuple("Pair", "a, b")


def map_each_dtype(tf):
    kinds = [tf.bool, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.float16, tf.float32, tf.float64, tf.complex64, tf.string]
    return run(tf, [tf.map_fn(tf.identity, tf.zeros([2, 1], k)) for k in kinds])


def map_of_numpy(tf):
    r = tf.map_fn(lambda x: x * 2, np.arange(4))
    return static(r), run(tf, r)


def map_of_a_list(tf):
    r = tf.map_fn(lambda x: x[0] + x[1], [tf.constant([1, 2]), tf.constant([3, 4])], dtype=tf.int32)
    return static(r), run(tf, r)


def map_of_a_python_list(tf):
    return caught(lambda: run(tf, tf.map_fn(lambda x: x * 2, [1, 2, 3])))


def map_of_a_tuple_to_a_tuple(tf):
    r = tf.map_fn(lambda x: (x[1], x[0]), (tf.constant([1, 2]), tf.constant([3, 4])))
    return type(r).__name__, run(tf, r)


def map_of_a_namedtuple(tf):
    r = tf.map_fn(lambda p: Pair(p.b, p.a), Pair(tf.constant([1, 2]), tf.constant([3, 4])))
    return run(tf, r)


def map_of_a_dict(tf):
    r = tf.map_fn(lambda d: {"s": d["x"] + d["y"]}, {"x": tf.constant([1, 2]), "y": tf.constant([3, 4])}, dtype={"s": tf.int32})
    return run(tf, r)


def map_to_several_dtypes(tf):
    r = tf.map_fn(lambda x: (x, tf.cast(x, tf.float32), tf.as_string(x)), tf.constant([1, 2]), dtype=(tf.int32, tf.float32, tf.string))
    return static(*r), run(tf, r)


def map_to_another_shape(tf):
    r = tf.map_fn(lambda x: tf.stack([x, x * x]), tf.constant([1, 2, 3]))
    return static(r), run(tf, r)


def map_of_unknown_length(tf):
    x = tf.placeholder(tf.float32, [None, 2])
    r = tf.map_fn(tf.reduce_sum, x)
    with tf.Session() as sess:
        return static(r), sess.run(r, {x: np.ones([3, 2])}), sess.run(r, {x: np.ones([0, 2])})


def map_of_unknown_rank(tf):
    x = tf.placeholder(tf.float32)
    r = tf.map_fn(lambda y: y * 2.0, x)
    return static(r), run(tf, r, {x: [[1.0], [2.0]]})


def map_with_infer_shape_off(tf):
    x = tf.constant([1, 2, 3])
    r = tf.map_fn(lambda n: tf.ones([2]), x, dtype=tf.float32, infer_shape=False)
    return static(r), run(tf, r)


def map_of_different_shapes_is_refused(tf):
    x = tf.constant([1, 2, 3])
    r = tf.map_fn(lambda n: tf.range(n), x, infer_shape=False)
    return caught(lambda: run(tf, r))


def map_parallel_iterations(tf):
    x = tf.range(20)
    return run(tf, [tf.map_fn(lambda n: n * n, x, parallel_iterations=p, swap_memory=True, back_prop=False) for p in (1, 3, 50)])


def map_named(tf):
    with tf.name_scope("s"):
        return tf.map_fn(lambda n: n, tf.constant([1, 2])).name, tf.map_fn(lambda n: n, tf.constant([1, 2]), name="mine").name


def map_names(tf):
    tf.map_fn(lambda n: tf.add(n, 1, name="plus"), tf.constant([1, 2], name="x"))
    return names(tf)


def map_in_a_map(tf):
    x = tf.constant([[1, 2], [3, 4]])
    return run(tf, tf.map_fn(lambda row: tf.map_fn(lambda n: n * n + row[0], row), x))


def map_captures(tf):
    w = tf.placeholder(tf.float32, [])
    return run(tf, tf.map_fn(lambda n: n * w, tf.constant([1.0, 2.0])), {w: 3.0})


def map_with_a_cond(tf):
    return run(tf, tf.map_fn(lambda n: tf.cond(n > 2, lambda: n * 10, lambda: n), tf.constant([1, 2, 3, 4])))


def map_with_a_variable(tf):
    v = tf.Variable(2.0)
    return run(tf, tf.map_fn(lambda n: n * v, tf.constant([1.0, 2.0])))


def map_gradients(tf):
    x, w = tf.constant([1.0, 2.0]), tf.constant(3.0)
    return run(tf, tf.gradients(tf.map_fn(lambda n: n * n * w, x), [x, w]))


def map_of_a_scalar(tf):
    return caught(lambda: tf.map_fn(lambda n: n, tf.constant(1)), WHOLE), caught(lambda: tf.map_fn(lambda n: n, (tf.constant([1]), tf.constant(1))))


def map_of_other_lengths(tf):
    return caught(lambda: run(tf, tf.map_fn(lambda n: n[0] + n[1], (tf.constant([1, 2]), tf.constant([1, 2, 3])), dtype=tf.int32)))


def map_not_callable(tf):
    return caught(lambda: tf.map_fn(3, tf.constant([1])), WHOLE)


def map_of_another_structure(tf):
    return caught(lambda: tf.map_fn(lambda n: (n, n), tf.constant([1]))), caught(lambda: tf.map_fn(lambda n: n[0], (tf.constant([1]), tf.constant([1]))))


def map_of_a_sparse_tensor(tf):
    return caught(lambda: tf.map_fn(lambda n: n, tf.SparseTensor([[0]], [1], [3])))


def map_that_raises(tf):
    def bad(n):
        raise KeyError("mine")

    return caught(lambda: tf.map_fn(bad, tf.constant([1])), WHOLE)


def scan_each_direction(tf):
    x = tf.constant([1, 2, 3, 4])
    return run(tf, [tf.scan(lambda a, b: a * 10 + b, x), tf.scan(lambda a, b: a * 10 + b, x, reverse=True)])


def scan_with_initializer_each_direction(tf):
    x = tf.constant([1, 2, 3, 4])
    return run(tf, [tf.scan(lambda a, b: a * 10 + b, x, initializer=7, reverse=r) for r in (False, True)])


def scan_with_an_initializer_of_another_shape(tf):
    r = tf.scan(lambda a, b: a + tf.cast(b, tf.float32), tf.constant([1, 2]), initializer=np.float32([0.0, 10.0]))
    return static(r), run(tf, r)


def scan_of_structures(tf):
    x = (tf.constant([1, 2, 3]), tf.constant([10, 20, 30]))
    r = tf.scan(lambda a, b: (a[0] + b[0], a[1] - b[1]), x)
    s = tf.scan(lambda a, b: a + b[0] * b[1], x, initializer=0)
    t = tf.scan(lambda a, b: (a[1], b), x[0], initializer=(0, 0))
    return run(tf, [r, s, t])


def scan_of_a_dict(tf):
    r = tf.scan(lambda a, b: {"s": a["s"] + b["x"]}, {"x": tf.constant([1, 2, 3])}, initializer={"s": 0})
    return run(tf, r)


def scan_fibonacci(tf):
    r = tf.scan(lambda a, _: (a[1], a[0] + a[1]), tf.range(6), initializer=(0, 1))
    return run(tf, r)


def scan_static_shapes(tf):
    x = tf.placeholder(tf.float32, [None, 2])
    r = tf.scan(lambda a, b: a + b, x)
    s = tf.scan(lambda a, b: a + tf.reduce_sum(b), x, initializer=0.0)
    return static(r, s, tf.scan(lambda a, b: a, tf.zeros([3, 4])))


def scan_of_one_and_none(tf):
    x = tf.placeholder(tf.float32, [None])
    r, s = tf.scan(lambda a, b: a + b, x), tf.scan(lambda a, b: a + b, x, initializer=1.0)
    with tf.Session() as sess:
        return sess.run([r, s], {x: [5.0]}), sess.run(s, {x: []}), caught(lambda: sess.run(r, {x: []}))


def scan_without_inference(tf):
    r = tf.scan(lambda a, b: a + b, tf.constant([1.0, 2.0]), infer_shape=False)
    return static(r), run(tf, r)


def scan_parallel_and_swap(tf):
    return run(tf, [tf.scan(lambda a, b: a + b, tf.range(10), parallel_iterations=p, swap_memory=True) for p in (1, 10)])


def scan_gradients(tf):
    x, w = tf.constant([1.0, 2.0, 3.0]), tf.constant(0.5)
    r = tf.scan(lambda a, b: a * w + b, x)
    s = tf.scan(lambda a, b: a * w + b, x, initializer=1.0, reverse=True)
    return run(tf, [tf.gradients(r, [x, w]), tf.gradients(s, [x, w])])


def scan_in_a_scan(tf):
    x = tf.constant([[1, 2], [3, 4]])
    return run(tf, tf.scan(lambda a, row: tf.scan(lambda c, d: c + d, row) + a, x, initializer=tf.zeros([2], tf.int32)))


def scan_names(tf):
    tf.scan(lambda a, b: tf.add(a, b, name="plus"), tf.constant([1, 2], name="x"))
    return names(tf)


def scan_refused(tf):
    x = tf.constant([1, 2])
    return [
        caught(lambda: tf.scan(1, x), WHOLE),
        caught(lambda: tf.scan(lambda a, b: (a, b), x)),
        caught(lambda: tf.scan(lambda a: a, x)),
    ]


def folds(tf):
    x = tf.constant([1, 2, 3, 4])
    return run(tf, [tf.foldl(lambda a, b: a * 10 + b, x), tf.foldr(lambda a, b: a * 10 + b, x), tf.foldl(lambda a, b: a * 10 + b, x, initializer=9), tf.foldr(lambda a, b: a * 10 + b, x, initializer=9)])


def folds_of_matrices(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    l, r = tf.foldl(lambda a, b: a + b, x), tf.foldr(lambda a, b: a - b, x)
    return static(l, r), run(tf, [l, r])


def folds_with_another_dtype(tf):
    return run(tf, [f(lambda a, b: a + tf.strings.as_string(b), tf.constant([1, 2, 3]), initializer="x") for f in (tf.foldl, tf.foldr)])


def folds_of_structures(tf):
    x = (tf.constant([1, 2, 3]), tf.constant([10, 20, 30]))
    return run(tf, [f(lambda a, b: a + b[0] * b[1], x, initializer=0) for f in (tf.foldl, tf.foldr)] + [f(lambda a, b: [a[0] + b[0], a[1] - b[1]], list(x)) for f in (tf.foldl, tf.foldr)])


def folds_of_none(tf):
    x = tf.placeholder(tf.int32, [None])
    l, r = tf.foldl(lambda a, b: a + b, x, initializer=5), tf.foldr(lambda a, b: a + b, x, initializer=5)
    bad = tf.foldl(lambda a, b: a + b, x)
    with tf.Session() as sess:
        return sess.run([l, r], {x: []}), caught(lambda: sess.run(bad, {x: []}))


def folds_named(tf):
    x = tf.constant([1, 2])
    return [f(lambda a, b: a + b, x, name=n).name for f in (tf.foldl, tf.foldr) for n in (None, "mine")]


def folds_names(tf):
    tf.foldl(lambda a, b: tf.add(a, b, name="plus"), tf.constant([1, 2], name="x"))
    return names(tf)


def folds_right_names(tf):
    tf.foldr(lambda a, b: tf.add(a, b, name="plus"), tf.constant([1, 2], name="x"))
    return names(tf)


def folds_gradients(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    return run(tf, [tf.gradients(f(lambda a, b: a * b + b, x), x) for f in (tf.foldl, tf.foldr)])


def folds_refused(tf):
    x = tf.constant([1, 2])
    return [caught(lambda: f(1, x), WHOLE) for f in (tf.foldl, tf.foldr)]


def vectorized_horner(tf):
    coefficients = tf.constant([1.0, -2.0, 3.0])
    return run(tf, tf.foldl(lambda a, c: a * tf.constant([0.0, 1.0, 2.0]) + c, coefficients, initializer=tf.zeros([3])))


def running_maximum(tf):
    return run(tf, tf.scan(tf.maximum, tf.constant([3, 1, 4, 1, 5, 9, 2])))
