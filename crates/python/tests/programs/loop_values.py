"""Loop variables of all types: dtypes, structures, sparse tensors, slices, arrays, handles; shapes."""

import collections

import numpy as np

from programs.tools import WHOLE, caught, initialize, run, static

Point = collections.namedtuple("Point", "x, y")


def _twice(tf, start, step, **arguments):
    return tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, step(x)), (tf.constant(0), start), **arguments)[1]


def numbers_of_each_dtype(tf):
    kinds = [tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.float16, tf.float32, tf.float64, tf.complex64, tf.complex128]
    return run(tf, [_twice(tf, tf.constant(3, k), lambda x: x * tf.constant(2, x.dtype)) for k in kinds])


def passed_through_of_each_dtype(tf):
    kinds = [tf.bool, tf.int8, tf.uint8, tf.uint16, tf.uint32, tf.uint64, tf.float16, tf.bfloat16, tf.string]
    return static(*[_twice(tf, tf.zeros([2], k), lambda x: x) for k in kinds])


def bool_flips(tf):
    return run(tf, _twice(tf, tf.constant([True, False]), tf.logical_not))


def strings_grow(tf):
    return run(tf, _twice(tf, tf.constant(["a", "b"]), lambda x: x + "!"))


def string_lengths(tf):
    return run(tf, tf.while_loop(lambda s: tf.strings.length(s) < 9, lambda s: s + s, [tf.constant("ab")]))


def empty_tensors(tf):
    return run(tf, _twice(tf, tf.zeros([0, 3]), lambda x: x + 1.0))


def large_tensor(tf):
    return run(tf, tf.reduce_sum(_twice(tf, tf.ones([100, 100]), lambda x: x * 2.0)))


def complex_rotation(tf):
    return run(tf, tf.while_loop(lambda i, z: i < 4, lambda i, z: (i + 1, z * tf.constant(1j, tf.complex64)), (0, tf.constant(1 + 2j, tf.complex64))))


def int8_wraps(tf):
    return run(tf, _twice(tf, tf.constant(100, tf.int8), lambda x: x + tf.constant(50, tf.int8)))


def uint8_wraps(tf):
    return run(tf, _twice(tf, tf.constant(200, tf.uint8), lambda x: x + tf.constant(50, tf.uint8)))


def sparse_variable(tf):
    s = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 3])
    r = _twice(tf, s, lambda s: tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape))
    return type(r).__name__, run(tf, r)


def sparse_variable_growing(tf):
    s = tf.SparseTensor([[0]], [1.0], [10])

    def step(s):
        return tf.SparseTensor(tf.concat([s.indices, s.indices + 1], 0), tf.concat([s.values, s.values], 0), s.dense_shape)

    return run(tf, _twice(tf, s, step, shape_invariants=(tf.TensorShape([]), tf.TensorShape([None]))))


def sparse_variable_static_shapes(tf):
    s = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 3])
    r = _twice(tf, s, lambda s: s)
    return static(r.indices, r.values, r.dense_shape), str(r.get_shape())


def sparse_returned_as_dense(tf):
    s = tf.SparseTensor([[0]], [1.0], [10])
    return caught(lambda: _twice(tf, s, lambda s: s.values))


def slices_variable(tf):
    s = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([3]), tf.constant([5, 2]))
    r = _twice(tf, s, lambda s: tf.IndexedSlices(s.values * 3.0, s.indices, s.dense_shape))
    return type(r).__name__, run(tf, r)


def slices_variable_without_shape(tf):
    s = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([3]))
    r = _twice(tf, s, lambda s: tf.IndexedSlices(s.values * 3.0, s.indices))
    return r.dense_shape is None, run(tf, [r.values, r.indices])


def slices_variable_growing(tf):
    s = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([3]), tf.constant([5, 2]))

    def step(s):
        return tf.IndexedSlices(tf.concat([s.values, s.values], 0), tf.concat([s.indices, s.indices], 0), s.dense_shape)

    r = _twice(tf, s, step, shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 2])))
    return static(r.values, r.indices, r.dense_shape), run(tf, r)


def tensor_array_variable(tf):
    a = tf.TensorArray(tf.float32, 3)
    _, r = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, tf.cast(i, tf.float32))), (0, a))
    return type(r).__name__, run(tf, r.stack())


def tensor_array_alone(tf):
    a = tf.TensorArray(tf.float32, 3, element_shape=[]).unstack([1.0, 2.0, 3.0])
    r = tf.while_loop(lambda a: tf.constant(False), lambda a: a, [a])
    return type(r).__name__, run(tf, r.stack())


def tensor_array_with_an_invariant(tf):
    a = tf.TensorArray(tf.float32, 3)
    _, r = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, 1.0)), (0, a), shape_invariants=(tf.TensorShape([]), tf.TensorShape(None)))
    return run(tf, r.stack())


def resource_handle(tf):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    i, h = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, h), (0, v.handle))
    return h.dtype.name, run(tf, tf.raw_ops.ReadVariableOp(resource=h, dtype=tf.float32))


def queue_handle(tf):
    q = tf.FIFOQueue(3, tf.int32, [])
    _, h = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, h), (0, q.queue_ref))
    with tf.Session() as sess:
        sess.run(q.enqueue_many([[1, 2]]))
        return h.dtype.name, sess.run(tf.raw_ops.QueueSizeV2(handle=h))


def dict_of_structures(tf):
    start = {"p": Point(0, [1.0, 2.0]), "n": (np.int64(3),)}
    r = tf.while_loop(lambda d: d["p"].x < 3, lambda d: [{"p": Point(d["p"].x + 1, d["p"].y), "n": (d["n"][0] * 2,)}], [start])
    return run(tf, r)


def ordered_dict(tf):
    start = collections.OrderedDict([("b", tf.constant(0)), ("a", tf.constant(1.0))])
    r = tf.while_loop(lambda d: d["b"] < 3, lambda d: [collections.OrderedDict([("b", d["b"] + 1), ("a", d["a"] * 2.0)])], [start])
    return type(r).__name__, len(r), run(tf, r[0]["b"])


def several_dicts(tf):
    r = tf.while_loop(lambda a, b: a["i"] < 3, lambda a, b: ({"i": a["i"] + 1}, {"j": b["j"] + a["i"]}), ({"i": 0}, {"j": 10}))
    return run(tf, r)


def dict_with_other_keys(tf):
    return caught(lambda: tf.while_loop(lambda d: d["a"] < 3, lambda d: {"b": d["a"]}, [{"a": 0}]), WHOLE)


def a_list_for_a_namedtuple(tf):
    return caught(lambda: tf.while_loop(lambda p, q: p.x < 3, lambda p, q: ([p.x, p.y], q), (Point(0, 1), 0)), WHOLE)


def namedtuple_alone(tf):
    r = tf.while_loop(lambda x, y: x < 3, lambda x, y: Point(x + 1, y), Point(0, 1))
    return type(r).__name__, run(tf, r)


def reference_as_a_variable(tf):
    v = tf.Variable(0, name="v")
    r = tf.while_loop(lambda x: x < 3, lambda x: x + 1, [v])
    return static(r), run(tf, [r, v])


def reference_itself_as_a_variable(tf):
    v = tf.Variable(0, name="v")
    r = tf.while_loop(lambda x: x < 3, lambda x: tf.assign_add(x, 1), [v._ref()])
    with tf.Session() as sess:
        initialize(tf, sess)
        return [op.type for op in tf.get_default_graph().get_operations() if op.type.startswith("Ref")], r.dtype.name, sess.run(r), sess.run(v)


def resource_variable_as_a_variable(tf):
    v = tf.Variable(0, name="v", use_resource=True)
    r = tf.while_loop(lambda x: x < 3, lambda x: x + 1, [v])
    return static(r), run(tf, [r, v])


def invariant_of_none(tf):
    x = tf.ones([1])
    r = _twice(tf, x, lambda x: tf.concat([x, x], 0), shape_invariants=(tf.TensorShape([]), tf.TensorShape(None)))
    return static(r), run(tf, r)


def invariant_as_a_list(tf):
    x = tf.ones([1])
    return caught(lambda: _twice(tf, x, lambda x: tf.concat([x, x], 0), shape_invariants=(tf.TensorShape([]), [None])))


def invariant_in_a_dict(tf):
    start = {"a": tf.constant(0), "x": tf.ones([1])}
    shapes = {"a": tf.TensorShape([]), "x": tf.TensorShape([None])}
    r = tf.while_loop(lambda d: d["a"] < 2, lambda d: [{"a": d["a"] + 1, "x": tf.concat([d["x"], d["x"]], 0)}], [start], shape_invariants=[shapes])
    return type(r).__name__, static(r[0]["x"]), run(tf, r)


def invariant_missing(tf):
    return caught(lambda: _twice(tf, tf.ones([1]), lambda x: x, shape_invariants=(tf.TensorShape([]),)), WHOLE)


def invariant_of_a_smaller_rank(tf):
    return caught(lambda: _twice(tf, tf.ones([1]), lambda x: x, shape_invariants=(tf.TensorShape([]), tf.TensorShape([]))), WHOLE)


def invariant_of_another_size(tf):
    return caught(lambda: _twice(tf, tf.ones([2]), lambda x: x, shape_invariants=(tf.TensorShape([]), tf.TensorShape([3]))), WHOLE)


def shape_changes_in_the_body(tf):
    return caught(lambda: _twice(tf, tf.ones([1], name="x"), lambda x: tf.concat([x, x], 0)), WHOLE)


def arrays_from_the_body(tf):
    """A loop of one variable, whose body returns an array."""
    made = tf.while_loop(lambda x: tf.reduce_sum(x) < 3.0, lambda x: np.float32([[1.0, 3.0]]), [tf.constant([[1.0, 1.0]])])
    return run(tf, made), static(made)


def shape_becomes_less_known(tf):
    p = tf.placeholder(tf.float32)
    return caught(lambda: _twice(tf, tf.ones([1], name="x"), lambda x: p), WHOLE)


def rank_changes_in_the_body(tf):
    return caught(lambda: _twice(tf, tf.ones([1], name="x"), lambda x: tf.expand_dims(x, 0)), WHOLE)


def invariants_seen_in_the_body(tf):
    seen = []

    def step(x):
        seen.append(str(x.get_shape()))
        return tf.concat([x, x], 0)

    _twice(tf, tf.ones([2, 3]), step, shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 3])))
    return seen


def sizes_swap(tf):
    a, b = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 2])
    r = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, b, a), (0, a, b))
    return static(*r), run(tf, r[1:], {a: [[1, 2]], b: [[3, 4], [5, 6]]})


def set_shape_afterwards(tf):
    x = tf.ones([1])
    r = _twice(tf, x, lambda x: tf.concat([x, x], 0), shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))
    r.set_shape([4])
    return static(r), caught(lambda: r.set_shape([5]))
