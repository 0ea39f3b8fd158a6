"""Shapes and slices: operations that move elements without arithmetic."""

import numpy as np

from programs.tools import caught, nodes, run, static


def indexing(tf):
    x = tf.constant(np.arange(24).reshape(2, 3, 4))
    parts = [x[0], x[1, 2], x[..., 1], x[:, 1:], x[0, ::2, -1], x[:, tf.newaxis, 0], x[-1, -1, -1], x[:, ::-1]]
    return static(*parts), run(tf, parts)


def indexing_with_tensors(tf):
    x = tf.constant([10, 20, 30, 40])
    i = tf.placeholder(tf.int32, [])
    return static(x[i], x[i:], x[:i]), run(tf, [x[i], x[i:], x[:i]], {i: 2})


def indexing_names(tf):
    x = tf.constant([10, 20, 30], name="x")
    y = x[1]
    return y.name, y.op.type, nodes(tf)


def index_out_of_range(tf):
    x = tf.constant([1, 2, 3])
    return caught(lambda: x[3], "slice index 3 of dimension 0 out of bounds")


def index_out_of_range_at_run_time(tf):
    x = tf.constant([1, 2, 3])
    i = tf.placeholder(tf.int32, [])
    return caught(lambda: run(tf, x[i], {i: 5}), "out of bounds")


def too_many_indices(tf):
    x = tf.constant([1, 2, 3])
    return caught(lambda: x[0, 0])


def boolean_mask(tf):
    x = tf.constant([[1, 2], [3, 4], [5, 6]])
    m = tf.boolean_mask(x, [True, False, True])
    return static(m), run(tf, m)


def slice_op(tf):
    x = tf.constant([[1, 2, 3], [4, 5, 6]])
    size = tf.placeholder(tf.int32, [2])
    s, t = tf.slice(x, [0, 1], [2, -1]), tf.slice(x, [0, 1], size)
    return static(s), run(tf, s), run(tf, t, {size: [1, 1]}), caught(lambda: run(tf, t, {size: [2, 5]}))


def strided_slice_op(tf):
    x = tf.constant([[1, 2, 3], [4, 5, 6]])
    return run(tf, [tf.strided_slice(x, [0, 0], [2, 3], [1, 2]), tf.strided_slice(x, [1], [2], shrink_axis_mask=1)])


def reshape(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    a, b, c = tf.reshape(x, [-1]), tf.reshape(x, [-1, 2]), tf.reshape(x, [2, 2, 2])
    return static(a, b, c), run(tf, [a, b, c], {x: np.arange(8).reshape(2, 4)})


def reshape_that_does_not_fit(tf):
    x = tf.placeholder(tf.float32, [None])
    y = tf.reshape(x, [3])
    return (
        caught(lambda: tf.reshape(tf.zeros([4]), [3]), "Cannot reshape a tensor with 4 elements to shape [3] (3 elements)"),
        caught(lambda: run(tf, y, {x: [1, 2]}), "Input to reshape is a tensor with 2 values, but the requested shape has 3"),
    )


def shapes_as_tensors(tf):
    x = tf.placeholder(tf.float32, [2, None])
    results = [tf.shape(x), tf.size(x), tf.rank(x), tf.shape(x, out_type=tf.int64)]
    return static(*results), run(tf, results, {x: [[1, 2, 3], [4, 5, 6]]})


def static_shapes_are_folded(tf):
    x = tf.zeros([2, 3])
    return [t.op.type for t in (tf.shape(x), tf.size(x), tf.rank(x))], run(tf, [tf.shape(x), tf.size(x), tf.rank(x)])


def shape_n(tf):
    return run(tf, tf.shape_n([tf.zeros([2]), tf.zeros([3, 1])]))


def set_shape(tf):
    x = tf.placeholder(tf.float32)
    before = str(x.get_shape())
    x.set_shape([None, 3])
    middle = str(x.shape)
    x.set_shape([2, None])
    return before, middle, str(x.shape), caught(lambda: x.set_shape([4, 3]))


def expand_and_squeeze(tf):
    x = tf.zeros([2, 3])
    e = [tf.expand_dims(x, 0), tf.expand_dims(x, -1), tf.expand_dims(x, axis=1)]
    y = tf.zeros([1, 2, 1])
    s = [tf.squeeze(y), tf.squeeze(y, [0]), tf.squeeze(y, axis=2)]
    return static(*(e + s))


def squeeze_of_what_is_not_one(tf):
    return caught(lambda: tf.squeeze(tf.zeros([2, 1]), [0]), "Can not squeeze dim[0], expected a dimension of 1, got 2")


def concat(tf):
    a, b = tf.constant([[1, 2]]), tf.constant([[3, 4], [5, 6]])
    c = tf.concat([a, b], 0)
    return static(c), run(tf, c), nodes(tf)


def concat_partly_known(tf):
    a, b = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [3, None])
    return static(tf.concat([a, b], 0), tf.concat([a, a], axis=1))


def concat_of_one(tf):
    a = tf.constant([1, 2])
    c = tf.concat([a], 0)
    return c.op.type, run(tf, c)


def concat_that_does_not_fit(tf):
    return (
        caught(lambda: tf.concat([tf.zeros([2, 2]), tf.zeros([2, 3])], 0)),
        caught(lambda: tf.concat([tf.zeros([2]), tf.zeros([2])], 1)),
    )


def stack_and_unstack(tf):
    a, b = tf.constant([1, 2]), tf.constant([3, 4])
    s, t = tf.stack([a, b]), tf.stack([a, b], axis=1)
    parts = tf.unstack(s, axis=1)
    return s.op.type, static(s, t), len(parts), run(tf, [s, t] + parts)


def stack_of_different_shapes(tf):
    return caught(lambda: tf.stack([tf.zeros([2]), tf.zeros([3])]), "must be equal")


def unstack_of_unknown_length(tf):
    x = tf.placeholder(tf.float32, [None])
    return caught(lambda: tf.unstack(x), "Cannot infer num from shape (?,)"), len(tf.unstack(x, 3))


def split(tf):
    x = tf.constant([[1, 2, 3, 4], [5, 6, 7, 8]])
    a = tf.split(x, 2, axis=1)
    b = tf.split(x, [1, 3], 1)
    return static(*(a + b)), run(tf, a + b)


def split_unevenly(tf):
    return caught(lambda: tf.split(tf.zeros([3]), 2), "evenly divi")


def gather(tf):
    x = tf.constant([[1, 2], [3, 4], [5, 6]])
    g = [tf.gather(x, [2, 0]), tf.gather(x, 1), tf.gather(x, [[0], [1]]), tf.gather(x, [1, 0], axis=1)]
    return g[0].op.type, static(*g), run(tf, g)


def gather_out_of_range(tf):
    i = tf.placeholder(tf.int32, [])
    g = tf.gather([1, 2], i)
    return caught(lambda: run(tf, g, {i: 5}), "= 5 is not in [0, 2)")


def gather_nd_and_scatter_nd(tf):
    x = tf.constant([[1, 2], [3, 4]])
    return run(tf, [tf.gather_nd(x, [[0, 0], [1, 1]]), tf.scatter_nd([[1], [3], [1]], [9, 8, 1], [5])])


def tile_and_repeat(tf):
    x = tf.constant([[1, 2]])
    t = tf.tile(x, [2, 3])
    return static(t), run(tf, [t, tf.tile(["a"], [3])])


def transpose(tf):
    x = tf.constant(np.arange(6).reshape(1, 2, 3))
    t = [tf.transpose(x), tf.transpose(x, [1, 0, 2]), tf.matrix_transpose(x)]
    return static(*t), run(tf, t)


def reverse(tf):
    x = tf.constant([[1, 2, 3], [4, 5, 6]])
    return run(tf, [tf.reverse(x, [0]), tf.reverse(x, [-1]), tf.reverse_sequence(x, [2, 3], seq_axis=1)])


def pad(tf):
    x = tf.constant([[1, 2], [3, 4]])
    p = [tf.pad(x, [[1, 0], [0, 2]]), tf.pad(x, [[0, 1], [1, 0]], constant_values=9), tf.pad(x, [[1, 1], [1, 1]], "REFLECT"), tf.pad(x, [[1, 1], [1, 1]], "SYMMETRIC")]
    return static(*p), run(tf, p)


def where_and_select(tf):
    c = tf.constant([True, False, True])
    return run(tf, [tf.where(c), tf.where(c, [1, 2, 3], [4, 5, 6]), tf.where(c, tf.ones([3, 2]), tf.zeros([3, 2]))])


def sequence_mask(tf):
    m = tf.sequence_mask([1, 3, 0], 4)
    return static(m), run(tf, [m, tf.sequence_mask([2, 1]), tf.sequence_mask([1, 2], dtype=tf.float32)])


def dynamic_partition_and_stitch(tf):
    x = tf.constant([10, 20, 30, 40])
    parts = tf.dynamic_partition(x, [0, 1, 0, 1], 2)
    whole = tf.dynamic_stitch([[0, 2], [1, 3]], parts)
    return static(*parts), run(tf, parts + [whole])


def top_k_and_sort(tf):
    x = tf.constant([3.0, 1.0, 2.0])
    values, indices = tf.nn.top_k(x, 2)
    return run(tf, [values, indices, tf.sort(x), tf.argsort(x), tf.nn.in_top_k([[0.1, 0.9]], [1], 1)])


def unique(tf):
    values, indices = tf.unique([1, 1, 2, 4, 4])
    _, _, counts = tf.unique_with_counts([1, 1, 2])
    return static(values, indices), run(tf, [values, indices, counts])


def set_difference(tf):
    out, index = tf.setdiff1d([1, 2, 3, 4], [2, 4])
    return run(tf, [out, index])


def broadcasting_by_name(tf):
    x = tf.broadcast_to([1, 2], [2, 2])
    shape = tf.broadcast_dynamic_shape([2, 1], [1, 3])
    return static(x), run(tf, [x, shape]), str(tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([1, 3])))


def bitcast(tf):
    return run(tf, tf.bitcast(tf.constant([1.0]), tf.int32))


def meshgrid(tf):
    return run(tf, tf.meshgrid([1, 2], [3, 4, 5]))


def confusion_and_histogram(tf):
    return run(tf, [tf.confusion_matrix([0, 1, 1], [0, 1, 0]), tf.bincount([1, 1, 2])])


def counted_within_bounds(tf):
    x, none = tf.constant([1, 1, 2, 0]), tf.zeros([0], tf.int32)
    asked = ({}, {"minlength": 5}, {"maxlength": 2}, {"minlength": 5, "maxlength": 4}, {"dtype": tf.float32})
    return run(tf, [[tf.bincount(x, **kw), tf.bincount(none, **kw)] for kw in asked] + [tf.bincount(x, weights=[0.5, 0.25, 1.0, 2.0])])


def counted_weights_have_a_gradient(tf):
    weights = tf.constant([0.5, 0.25, 1.0, 2.0])
    sums = tf.bincount([1, 1, 2, 0], weights=weights, minlength=5)
    return run(tf, [sums, tf.bincount([0, -1], weights=[3, 4]), tf.gradients(sums * sums, weights)[0]])


def confusion_with_weights(tf):
    labels, found = [0, 1, 1], [0, 1, 0]
    return run(tf, [tf.confusion_matrix(labels, found, num_classes=3), tf.confusion_matrix(labels, found, weights=[1, 2, 3])])


def sorted_along_axes(tf):
    x = tf.constant([[3, 1, 2], [-5, 4, -5]])
    ways = [(axis, way) for axis in (0, 1, -1) for way in ("ASCENDING", "DESCENDING")]
    return run(tf, [[tf.sort(x, axis=axis, direction=way), tf.argsort(x, axis=axis, direction=way)] for axis, way in ways])


def tensor_attributes(tf):
    x = tf.constant([1.0], name="x")
    return x.name, x.op.name, x.dtype.name, x.value_index, str(x.shape), x.graph is tf.get_default_graph(), repr(x), str(x)


def ensured_shape(tf):
    x = tf.placeholder(tf.float32, [None])
    y = tf.ensure_shape(x, [2])
    return static(y), run(tf, y, {x: [1, 2]}), caught(lambda: run(tf, y, {x: [1]}), "is not compatible with expected shape")


def boolean_mask_nodes(tf):
    x, m = tf.placeholder(tf.float32, [None, 3], name="x"), tf.placeholder(tf.bool, [None], name="m")
    a = tf.boolean_mask(x, m)
    b = tf.boolean_mask(tf.zeros([2, 3, 4]), tf.constant([[True, False, True]] * 2))
    c = tf.boolean_mask(x, tf.constant([True, False, True]), axis=1)
    return nodes(tf), static(a, b, c)
