"""Structures of tensors: `tf.nest` and `tf.contrib.framework.nest`."""

import collections

import numpy as np

from programs.tools import caught, run

AB = collections.namedtuple("AB", "a, b")


def flatten_and_pack(tf):
    x, y = tf.constant(1), tf.constant(2)
    structure = {"b": [x, (y,)], "a": AB(y, x)}
    flat = tf.nest.flatten(structure)
    back = tf.nest.pack_sequence_as(structure, flat)
    return [t.name for t in flat], back["a"].a is y, back["b"][1][0] is y


def map_over_tensors(tf):
    r = tf.nest.map_structure(lambda a, b: a + b, {"x": tf.constant(1), "y": [tf.constant(2)]}, {"x": 10, "y": [20]})
    return run(tf, r)


def tensors_are_leaves(tf):
    x = tf.constant([1, 2])
    return tf.nest.is_nested(x), tf.nest.flatten(x) == [x], len(tf.nest.flatten([x, np.zeros(2), "ab", None]))


def sparse_tensors_are_leaves(tf):
    sp = tf.SparseTensor([[0]], [1], [2])
    return len(tf.nest.flatten([sp, sp])), len(tf.nest.flatten([sp, sp], expand_composites=True))


def sparse_tensors_packed_again(tf):
    sp = tf.SparseTensor([[0]], [1], [2])
    flat = tf.nest.flatten({"s": sp}, expand_composites=True)
    back = tf.nest.pack_sequence_as({"s": sp}, flat, expand_composites=True)
    doubled = tf.nest.map_structure(lambda t: t * 2, [sp], expand_composites=True)
    return [t.dtype.name for t in flat], type(back["s"]).__name__, run(tf, doubled[0].values)


def indexed_slices_are_leaves(tf):
    s = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    return len(tf.nest.flatten([s])), len(tf.nest.flatten([s], expand_composites=True))


def shapes_are_structures_or_not(tf):
    return tf.nest.is_nested(tf.TensorShape([1, 2])), len(tf.nest.flatten([tf.TensorShape([1, 2])]))


def same_structure_of_tensors(tf):
    x = tf.constant(1)
    return tf.nest.assert_same_structure([x, {"a": x}], [1, {"a": 2}]), caught(lambda: tf.nest.assert_same_structure([x], [[x]]))


def contrib_is_there(tf):
    nest = tf.contrib.framework.nest
    return nest.flatten_with_joined_string_paths({"a": [1, 2]}), list(nest.yield_flat_paths(AB(1, [2]))), nest.map_structure_up_to([0, 0], lambda x: x, [[1], (2,)])


def structures_come_back_as_they_went_in(tf):
    start = {"n": AB(tf.constant(0), [tf.constant(1.0)])}
    r = tf.while_loop(lambda s: s["n"].a < 3, lambda s: [{"n": AB(s["n"].a + 1, [s["n"].b[0] * 2.0])}], [start])
    r = r[0] if isinstance(r, list) else r
    return type(r).__name__, type(r["n"]).__name__, run(tf, r)
