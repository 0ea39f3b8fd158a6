"""`tf.RaggedTensor` and `tf.ragged`, and strings that are split into them."""

import numpy as np

from programs.tools import mistakes


def _value(value):
    return value.to_list() if hasattr(value, "to_list") else value


def _run(tf, made):
    with tf.Session() as sess:
        return [_value(v) for v in sess.run(list(made))]


def constants(tf):
    made = [
        tf.ragged.constant([[1, 2], [], [3]]),
        tf.ragged.constant([["a"], [], ["b", "c"]]),
        tf.ragged.constant([[], [1.5]], dtype=tf.float64),
        tf.ragged.constant([[[1, 2], [3]], [], [[], [4]]]),
        tf.ragged.constant([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1),
        tf.ragged.constant([[[1, 2], [3, 4]], [], [[5, 6]]], inner_shape=(2,)),
        tf.ragged.constant([[], []]),
        tf.ragged.constant([[1], [2, 3]], row_splits_dtype=tf.int32),
    ]
    return _run(tf, made), [(r.shape, r.dtype, r.ragged_rank, r.row_splits.dtype) for r in made], repr(made[0]), tf.ragged.constant([1, 2]).shape


def parts(tf):
    r = tf.ragged.constant([[1, 2], [], [3]])
    n = tf.ragged.constant([[[1, 2], [3]], [], [[], [4]]])
    found = [r.values, r.row_splits, r.row_starts(), r.row_limits(), r.row_lengths(), r.value_rowids(), r.nrows(), r.bounding_shape(), r.flat_values]
    found += [n.values, n.flat_values, n.row_lengths(), n.row_lengths(axis=2), n.bounding_shape(), n.bounding_shape(axis=1), *n.nested_row_splits, *n.nested_row_lengths()]
    return _run(tf, found)


def makers(tf):
    t = tf.RaggedTensor
    made = [
        t.from_row_splits([1, 2, 3], [0, 2, 2, 3]),
        t.from_row_lengths([1, 2, 3], [2, 0, 1]),
        t.from_row_starts([1, 2, 3], [0, 2, 2]),
        t.from_row_limits([1, 2, 3], [2, 2, 3]),
        t.from_value_rowids([1, 2, 3], [0, 0, 2]),
        t.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=5),
        t.from_nested_row_splits([1, 2, 3], [[0, 1, 2], [0, 2, 3]]),
        t.from_tensor([[1, 2, 0], [3, 0, 0]]),
        t.from_tensor([[1, 2, 0], [0, 0, 0], [3, 0, 4]], padding=0),
        t.from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[2, 1]),
        t.from_sparse(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [5, 6, 7], [4, 3])),
    ]
    return _run(tf, made), [r.row_splits.dtype for r in made]


def other_forms(tf):
    r, n = tf.ragged.constant([[1, 2], [], [3]]), tf.ragged.constant([[[1, 2], [3]], [], [[], [4]]])
    s, w = tf.ragged.constant([["a"], [], ["b", "c"]]), tf.ragged.constant([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1)
    found = [r.to_tensor(), r.to_tensor(default_value=-1), n.to_tensor(), s.to_tensor(), s.to_tensor("none"), w.to_tensor()]
    with tf.Session() as sess:
        return sess.run(found), sess.run([r.to_sparse(), n.to_sparse(), s.to_sparse()]), r.to_tensor().dtype


def rows(tf):
    r, n = tf.ragged.constant([[1, 2], [], [3]]), tf.ragged.constant([[[1, 2], [3]], [], [[], [4]]])
    return _run(tf, [r[0], r[1], r[-1], r[-3], r[0, 1], n[0], n[2, 1], n[0, 0, 1], r[0, :1], r[1:], r[:2], r[1:1], n[1:], r[0:9]])


def flat_values(tf):
    r, n = tf.ragged.constant([[1, 2], [], [3]]), tf.ragged.constant([[[1, 2], [3]], []])
    made = [tf.ragged.map_flat_values(tf.square, r), tf.ragged.map_flat_values(tf.add, n, 1), tf.ragged.map_flat_values(tf.multiply, r, r), r.with_values(tf.constant([4, 5, 6])), n.with_flat_values(tf.constant([7, 8, 9]))]
    return _run(tf, made), _run(tf, [tf.ragged.map_flat_values(tf.square, tf.constant([2]))])


def segments(tf):
    return _run(tf, [tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3]), tf.ragged.segment_ids_to_row_splits([0, 0, 2]), tf.ragged.segment_ids_to_row_splits([0, 0, 2], 5)])


def values(tf):
    value = tf.ragged.RaggedTensorValue(np.array([1, 2, 3]), np.array([0, 2, 2, 3]))
    r = tf.ragged.constant([[1, 2], [], [3]])
    with tf.Session() as sess:
        fetched = sess.run(r)
        fed = sess.run(r.flat_values + 1, {r: tf.ragged.RaggedTensorValue(np.array([5, 6, 7], np.int32), np.array([0, 1, 1, 3]))})
        nested = sess.run({"a": [r, tf.ragged.constant([[[1]], []])]})
    return str(value), value.to_list(), value.shape, value.ragged_rank, fetched.values, fetched.row_splits, type(fetched).__name__, fed, [v.to_list() for v in nested["a"]]


def split_strings(tf):
    made = [
        tf.strings.bytes_split(["ab", "", "c"]),
        tf.strings.bytes_split("abc"),
        tf.strings.bytes_split(tf.ragged.constant([["ab"], [], ["c", "de"]])),
        tf.strings.split(["a b", "", "c"], result_type="RaggedTensor"),
        tf.strings.split(["a,b", "c,,d"], sep=",", result_type="RaggedTensor"),
        tf.string_split(["a b", "c"], result_type="RaggedTensor"),
        tf.strings.split(["a b", "c d e"], result_type="RaggedTensor").to_tensor("pad"),
    ]
    return _run(tf, made)


def what_cannot_be(tf):
    return mistakes(
        tf,
        depths=lambda: tf.ragged.constant([[1], 2]),
        rank=lambda: tf.ragged.constant([[1]], ragged_rank=3),
        both=lambda: tf.RaggedTensor.from_tensor([[1]], lengths=[1], padding=0),
        kind=lambda: tf.strings.split(["a"], result_type="list"),
        scalar=lambda: tf.RaggedTensor.from_row_splits([1], 0),
        empty=lambda: tf.RaggedTensor.from_row_splits([1], []),
        private=lambda: tf.RaggedTensor([1], [0, 1]),
        lists=lambda: tf.ragged.constant([[1]]).to_list(),
    )
