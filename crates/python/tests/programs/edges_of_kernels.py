"""Messages of kernels and shape functions for parts, pieces and places that do not fit."""

import numpy as np

from programs.raised import WHOLE, caught, mistakes


def later(tf, x, dtype=None):
    """A tensor of which nothing is known before the run."""
    return tf.placeholder_with_default(tf.constant(x, dtype), None)


def parts_assigned(tf):
    record = {}
    for kept in (False, True):
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.get_variable("v", initializer=np.arange(6).reshape(2, 3), use_resource=kept)
            sess.run(v.initializer)
            for name, part, value in (("a number", v[0], 9), ("a row", v[:, 1], [[1, 2]]), ("nothing", v[1:1], 7), ("as it is", v[0], [7, 8, 9])):
                record[name, kept] = caught(lambda: sess.run(part.assign(value)), WHOLE)
            record["now", kept] = sess.run(v)
    return sorted(record.items())


def scattered(tf):
    return mistakes(
        tf,
        into_nothing=lambda: tf.scatter_nd([[0]], [1], [0]),
        into_nothing_later=lambda: tf.scatter_nd(later(tf, [[0]]), later(tf, [1]), later(tf, [0])),
        of_nothing=lambda: tf.gather_nd(tf.zeros([0, 2]), [[0, 0]]),
        by_a_scalar=lambda: tf.gather_nd([[1, 2]], 1),
    )


def scattered_in_variables(tf):
    record = []
    for kept in (False, True):
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.get_variable("v", initializer=[[4.0, 6.0]], use_resource=kept)
            sess.run(v.initializer)
            record.append(caught(lambda: sess.run(tf.scatter_nd_update(v, later(tf, [[0]]), later(tf, [[2.0, 3.0], [1.0, 2.0]]))), WHOLE))
            record.append(caught(lambda: sess.run(tf.scatter_nd_add(v, later(tf, [[0]]), later(tf, [[2.0, 3.0, 5.0]]))), WHOLE))
    return record


def moved(tf):
    return mistakes(
        tf,
        roll_axis=lambda: tf.roll([1], 1, 1),
        roll_scalar=lambda: tf.roll(1, 1, 0),
        roll_matrix=lambda: tf.roll([1, 2], [[1]], 0),
        roll_lengths=lambda: tf.roll([1], [1], [0, 0]),
        roll_lengths_later=lambda: tf.roll([1], later(tf, [1]), later(tf, [0, 0])),
        blocks=lambda: tf.space_to_depth(np.zeros([1, 3, 3, 1]), 2),
        blocks_later=lambda: tf.space_to_depth(later(tf, np.zeros([1, 3, 3, 1])), 2),
        depth=lambda: tf.depth_to_space(np.zeros([1, 2, 2, 3]), 2),
        depth_later=lambda: tf.depth_to_space(later(tf, np.zeros([1, 2, 2, 3])), 2),
        format=lambda: tf.space_to_depth(np.zeros([1, 4, 4, 1]), 2, data_format="other"),
        bits=lambda: tf.bitcast(np.array([1, 2, 3], np.uint8), tf.int32),
        bits_later=lambda: tf.bitcast(later(tf, np.array([1, 2, 3], np.uint8)), tf.int32),
        unique=lambda: tf.unique(later(tf, [[1]])),
        where=lambda: tf.where(later(tf, [True]), later(tf, [1, 2]), later(tf, [3, 4])),
        where_rows=lambda: tf.where(later(tf, [True]), later(tf, [[1], [2]]), later(tf, [[3], [4]])),
        axis=lambda: tf.one_hot([0], 3, axis=-2),
        dims=lambda: tf.expand_dims([1], [0, 1]),
        sequence=lambda: tf.reverse_sequence([[1, 2, 3]], [2], seq_axis=3),
        batch=lambda: tf.reverse_sequence([[1, 2, 3]], [2], seq_axis=1, batch_axis=3),
        padding=lambda: tf.extract_image_patches(np.zeros([1, 4, 4, 1]), [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "OTHER"),
    )


def gathered_gradients(tf):
    def fails(shape, *gradient):
        accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=shape)
        with tf.Session() as sess:
            return caught(lambda: sess.run(accumulator.apply_grad(*[np.array(x, np.float32 if i == 1 else np.int64) for i, x in enumerate(gradient)])), WHOLE)

    return fails(None, [[0]], [[1]]), fails(None, [0, 1], [[1]]), fails(None, [0], 1)
