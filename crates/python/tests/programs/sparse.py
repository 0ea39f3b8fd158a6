"""`SparseTensor` and `IndexedSlices`: construction, feeds, fetches, computation, loop variables."""

import numpy as np

from programs.tools import caught, run, static


def make(tf):
    sp = tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4])
    return static(sp.indices, sp.values, sp.dense_shape), str(sp.get_shape()), sp.dtype.name, sp.op.type


def fetch(tf):
    sp = tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [3, 4])
    value = run(tf, sp)
    return type(value).__name__, value


def feed(tf):
    sp = tf.sparse_placeholder(tf.float32)
    value = tf.SparseTensorValue(np.array([[0, 1]]), np.array([5.0]), np.array([2, 2]))
    dense = tf.sparse_tensor_to_dense(sp)
    return run(tf, dense, {sp: value}), run(tf, dense, {sp: ([[1, 0]], [7.0], [2, 2])})


def placeholder_shapes(tf):
    a, b = tf.sparse_placeholder(tf.int32), tf.sparse_placeholder(tf.int32, [None, 3])
    return static(a.indices, a.values, a.dense_shape), str(a.get_shape()), static(b.indices), str(b.get_shape())


def bad_shapes(tf):
    return caught(lambda: tf.SparseTensor([[0]], [1, 2], [3])), caught(lambda: tf.SparseTensor([0], [1], [3]))


def value_tuple(tf):
    v = tf.SparseTensorValue([[0]], [1.0], [2])
    return v._fields, v.values, tf.convert_to_tensor_or_sparse_tensor(v).values.dtype.name


def from_value(tf):
    sp = tf.SparseTensor.from_value(tf.SparseTensorValue([[0, 1]], [3], [1, 2]))
    return run(tf, sp)


def to_dense(tf):
    sp = tf.SparseTensor([[0, 1], [2, 0]], [1.5, 2.5], [3, 2])
    return run(tf, [tf.sparse_tensor_to_dense(sp), tf.sparse.to_dense(sp, default_value=-1.0)])


def to_dense_not_in_order(tf):
    sp = tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2])
    return caught(lambda: run(tf, tf.sparse_tensor_to_dense(sp)), "out of order"), run(tf, tf.sparse_tensor_to_dense(sp, validate_indices=False)), run(tf, tf.sparse_reorder(sp))


def add(tf):
    a = tf.SparseTensor([[0, 0], [1, 1]], [1.0, 2.0], [2, 2])
    b = tf.SparseTensor([[0, 1], [1, 1]], [3.0, 4.0], [2, 2])
    return run(tf, tf.sparse_add(a, b)), run(tf, tf.sparse_add(a, tf.ones([2, 2])))


def multiply_by_a_dense(tf):
    a = tf.SparseTensor([[0, 0], [1, 1]], [1.0, 2.0], [2, 2])
    return run(tf, a * [[10.0, 20.0], [30.0, 40.0]]), run(tf, a / 2.0), run(tf, tf.sparse_tensor_dense_matmul(a, [[1.0, 2.0], [3.0, 4.0]]))


def reductions(tf):
    a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 5, 2], [2, 3])
    return run(tf, [tf.sparse_reduce_sum(a), tf.sparse_reduce_sum(a, 1), tf.sparse_reduce_max(a, [0])])


def reshaping(tf):
    a = tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [2, 3])
    return run(tf, [tf.sparse_reshape(a, [6]), tf.sparse_transpose(a), tf.sparse_concat(1, [a, a]), tf.sparse_slice(a, [1, 0], [1, 3])])


def retained(tf):
    a = tf.SparseTensor([[0], [1], [2]], [1, 2, 3], [3])
    return run(tf, tf.sparse_retain(a, [True, False, True]))


def in_a_loop(tf):
    a = tf.SparseTensor([[0, 0], [1, 1]], [1.0, 2.0], [2, 2])
    r = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape)), [0, a])
    return type(r[1]).__name__, run(tf, r[1])


def in_a_cond(tf):
    p = tf.placeholder(tf.bool, [])
    a = tf.SparseTensor([[0]], [1], [2])
    b = tf.SparseTensor([[1]], [2], [2])
    r = tf.cond(p, lambda: a, lambda: b)
    with tf.Session() as sess:
        return type(r).__name__, sess.run(r, {p: True}), sess.run(r, {p: False})


def cast(tf):
    a = tf.SparseTensor([[0]], [1], [2])
    return run(tf, [tf.cast(a, tf.float32)])


def slices_make(tf):
    s = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([3]), tf.constant([5, 2]))
    return s.name, s.dtype.name, s.op.type, s.graph is tf.get_default_graph(), str(s.values.shape), s.device


def slices_fetch(tf):
    s = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([3]), tf.constant([5, 2]))
    t = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([3]))
    a, b = run(tf, [s, t])
    return type(a).__name__, a, b


def slices_to_dense(tf):
    s = tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1, 1]), tf.constant([3, 2]))
    return run(tf, tf.convert_to_tensor(s))


def slices_without_a_shape_to_dense(tf):
    s = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]))
    return caught(lambda: tf.convert_to_tensor(s), "Tensor conversion requested for IndexedSlices without dense_shape")


def slices_negated(tf):
    s = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2]))
    return type(-s).__name__, run(tf, -s)


def slices_in_a_loop(tf):
    s = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2]))
    body = lambda i, s: (i + 1, tf.IndexedSlices(s.values * 2.0, s.indices, s.dense_shape))
    r = tf.while_loop(lambda i, s: i < 3, body, [0, s])
    return type(r[1]).__name__, run(tf, r[1])


def slices_in_a_cond(tf):
    p = tf.placeholder(tf.bool, [])
    s = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([1]))
    t = tf.IndexedSlices(tf.constant([[2.0]]), tf.constant([2]))
    r = tf.cond(p, lambda: s, lambda: t)
    with tf.Session() as sess:
        return type(r).__name__, sess.run(r, {p: True}).values, sess.run(r, {p: False}).indices


def embeddings(tf):
    table = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([0, 2, 1], tf.int64), [2, 2])
    return run(tf, [tf.nn.embedding_lookup(table, [2, 0]), tf.nn.embedding_lookup_sparse(table, ids, None, combiner="sum")])
