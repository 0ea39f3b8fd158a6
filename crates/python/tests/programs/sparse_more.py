"""Sparse tensors: filling rows, masks, merging, splitting, shapes; segments."""

from programs.tools import caught, run, static


def _a(tf):
    return tf.SparseTensor([[0, 0], [0, 2], [2, 1]], [1.0, 2.0, 3.0], [4, 3])


def _b(tf):
    return tf.SparseTensor([[0, 0], [1, 2], [2, 1]], [5.0, -2.0, 1.0], [4, 3])


def _ids(tf):
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([3, 1, 2], tf.int64), [2, 2])


def empty_rows(tf):
    filled, empty = tf.sparse_fill_empty_rows(_a(tf), 9.0)
    return str(filled.get_shape()), run(tf, [filled, empty])


def masked(tf):
    slices = tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([4, 5, 6]), tf.constant([9, 1]))
    return run(tf, tf.sparse_mask(slices, [5]))


def extremes(tf):
    return run(tf, [tf.sparse_maximum(_a(tf), _b(tf)), tf.sparse_minimum(_a(tf), _b(tf)), tf.sparse.maximum(_b(tf), _a(tf))])


def merged(tf):
    values = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0.5, 0.6, 0.7], [2, 2])
    return (
        run(tf, [tf.sparse_merge(_ids(tf), values, 5), tf.sparse_merge([_ids(tf), _ids(tf)], values, [5, 6]), tf.sparse_merge(_ids(tf), values, 5, already_sorted=True)]),
        caught(lambda: tf.sparse_merge([_ids(tf)], values, [5, 6]), "sp_ids and vocab_size have to have equal lengths."),
    )


def reduced(tf):
    return run(tf, [tf.sparse_reduce_sum_sparse(_a(tf), 1), tf.sparse_reduce_max_sparse(_a(tf), 1), tf.sparse_reduce_sum_sparse(_a(tf), 0, keepdims=True)])


def shapes_reset(tf):
    return (
        run(tf, [tf.sparse_reset_shape(_a(tf)), tf.sparse_reset_shape(_a(tf), [5, 5])]),
        caught(lambda: tf.sparse_reset_shape(_a(tf), [1, 5]), "Requested new_shape should have dimension sizes >= sp_input.shape."),
        caught(lambda: tf.sparse_reset_shape(_a(tf), [1, 5, 5])),
    )


def softmax_and_split(tf):
    return (
        run(tf, [tf.sparse_softmax(_a(tf)), tf.sparse_split(sp_input=_a(tf), num_split=2, axis=0), tf.sparse_split(sp_input=_a(tf), num_split=2, axis=1)]),
        caught(lambda: tf.sparse_split(3, _a(tf), 2, 0), "Keyword arguments are required for this function."),
        caught(lambda: tf.sparse_split(sp_input=_a(tf), axis=0), "num_split is required"),
    )


def indicators(tf):
    return run(tf, tf.sparse_to_indicator(_ids(tf), 5))


def made(tf):
    return run(
        tf,
        [tf.sparse.eye(2, 3), tf.sparse.eye(2, dtype=tf.int32), tf.sparse.from_dense([[1, 0], [0, 2]]), tf.sparse.expand_dims(_a(tf), 1), tf.sparse.expand_dims(_a(tf)), tf.sparse.expand_dims(_a(tf), 0)],
    )


def serialized(tf):
    whole = tf.deserialize_many_sparse(tf.serialize_many_sparse(_a(tf)), tf.float32)
    several = tf.deserialize_many_sparse(tf.stack([tf.serialize_sparse(_a(tf)), tf.serialize_sparse(_b(tf))]), tf.float32, rank=2)
    return static(whole.values), run(tf, [whole, several])


def segments_of_rows(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    ways = []
    for f in (tf.sparse_segment_sum, tf.sparse_segment_mean, tf.sparse_segment_sqrt_n):
        ways += [f(x, [0, 1, 2], [0, 0, 1]), f(x, [0, 1, 2], [0, 0, 3], num_segments=5)]
    ways += [tf.unsorted_segment_mean(x, [0, 2, 0], 4), tf.unsorted_segment_sqrt_n(x, [0, 2, 0], 4), tf.math.unsorted_segment_mean([1.0, 2.0, 6.0], [1, 1, 0], 2)]
    return static(*ways), run(tf, ways)


def segments_gradients(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    y = tf.unsorted_segment_mean(x, [0, 2, 0], 4) ** 2
    z = tf.sparse_segment_mean(x, [0, 1, 2], [0, 0, 1]) ** 2
    return run(tf, tf.gradients([y, z], x))
