"""Indices, parts and pieces at their limits: what is refused, when, and in which words."""

import importlib

import numpy as np

from programs.raised import caught, mistakes
from programs.tools import run


def later(tf, x, dtype=None):
    """A tensor of which nothing is known before the run."""
    return tf.placeholder_with_default(tf.constant(x, dtype), None)


def indices(tf):
    x = lambda: tf.reshape(tf.range(24), [2, 3, 4])
    return mistakes(
        tf,
        far_beyond=lambda: x()[2**40],
        far_below=lambda: x()[:, -(2**40)],
        of_rank_one=lambda: x()[tf.constant([1])],
        of_unknown_size=lambda: x()[tf.Dimension(None)],
        a_bool=lambda: x()[True],
        a_scalar_begin=lambda: tf.strided_slice(x(), 0, 1),
        an_int64=lambda: x()[2**33 :],
    )


def transposes(tf):
    return run(tf, [tf.matrix_transpose(later(tf, [[[1, 2]], [[3, 4]]])), tf.linalg.adjoint(later(tf, [[1 + 2j, 3]]))]), mistakes(
        tf, of_a_vector=lambda: tf.matrix_transpose([1])
    )


def stacks(tf):
    return run(tf, tf.stack(tf.constant([1, 2]))), tf.unstack(np.zeros([0, 2])), mistakes(tf, along_another_axis=lambda: tf.unstack(tf.constant([1]), axis=1))


def sums_of_many(tf):
    return mistakes(
        tf,
        none=lambda: tf.accumulate_n([]),
        dtypes=lambda: tf.accumulate_n([tf.constant(1), tf.constant(2.0)]),
        shape=lambda: tf.accumulate_n([[1]], shape=[2]),
        shapes=lambda: tf.accumulate_n([[1], [2, 3]]),
        dtype=lambda: tf.accumulate_n([[1]], tensor_dtype=tf.float32),
        fits=lambda: tf.accumulate_n([[1], [2]], shape=[1], tensor_dtype=tf.int32),
    )


def one_hots(tf):
    return mistakes(
        tf,
        an_int_for_a_float=lambda: tf.one_hot([0], 3, 1, dtype=tf.float32),
        a_float_for_an_int=lambda: tf.one_hot([0], 3, 5.0, dtype=tf.int32),
        off=lambda: tf.one_hot([0], 3, 5, 1.0, dtype=tf.int32),
        rows=lambda: tf.eye(2.5),
    )


def no_condition_holds(tf):
    no = tf.placeholder_with_default(False, [])
    result = tf.case([(no, lambda: tf.constant(1)), (no, lambda: tf.constant(2))])
    with tf.Session() as sess:
        return caught(lambda: sess.run(result), "assertion failed: [Input error: None of conditions evaluated as True:]")


def contractions(tf):
    a, b = later(tf, [[1.0, 2.0]]), later(tf, [[3.0], [4.0]])
    row = tf.constant([[5.0, 6.0]])
    results = [
        tf.tensordot(a, b, 1),
        tf.tensordot(a, b, [[-1], [0]]),
        tf.tensordot(row, a, 0),
        tf.tensordot(row, row, tf.constant([[0, 1], [0, 1]])),
        tf.gradients(tf.tensordot(a, b, 1), a)[0],
    ]
    products = [tf.matmul(tf.ones([2, 1, 2]), b), tf.matmul([[[1.0, 2.0]]], tf.constant([[3.0], [4.0]])), tf.matmul(a, tf.constant([[1.0], [2.0]]))]
    return [product.op.type for product in products], run(tf, results + products)


def wires_by_hand(tf):
    path = "python.ops.control_flow_ops"
    if tf.__name__ == "tensorflow":
        inner = lambda name: getattr(importlib.import_module("tensorflow." + path), name)  # noqa: E731
    else:
        inner = lambda name: importlib.import_module("millstream.programs.modules").attribute(path, name)  # noqa: E731
    sparse = tf.SparseTensor([[1]], [5], [3])
    rows = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2]))
    yes = tf.placeholder_with_default(True, [])
    no, taken = inner("switch")(sparse, yes)
    merged, which = inner("merge")([no, taken])
    merged_rows, _ = inner("merge")(list(inner("switch")(rows, yes, name="rows")))
    as_float = inner("switch")(3, yes, dtype=tf.float32)[1]
    names = [t.name for t in (no.indices, taken.dense_shape, merged.values, merged_rows.values, merged_rows.indices, as_float)]
    entered = inner("_Enter")(sparse, "frame", is_constant=True)
    wrong = mistakes(tf, none=lambda: inner("merge")([tf.constant(1), None]), dtypes=lambda: inner("merge")([tf.constant(1), tf.constant(2.0)]))
    with tf.Session() as sess:
        return names, sess.run([merged, which, merged_rows, as_float]), [t.op.type for t in (entered.indices, entered.values)], wrong
