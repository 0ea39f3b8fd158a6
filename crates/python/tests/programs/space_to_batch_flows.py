"""Functions that are applied to cells which are some distance apart."""

import numpy as np

from programs.raised import caught
from programs.tools import run, static


def pools_of_distant_cells(tf):
    x = tf.constant(np.arange(60).reshape([1, 6, 5, 2]) % 17, tf.float32)
    seen = []

    def largest(moved, n, padding):
        seen.append((moved.shape.as_list(), n, padding))
        return tf.nn.pool(moved, [2] * n, "MAX", padding)

    ways = [
        tf.nn.with_space_to_batch(x, [2, 2], "VALID", largest),
        tf.nn.with_space_to_batch(x, [2, 1], "VALID", largest),
        tf.nn.with_space_to_batch(x, [2, 3], "SAME", largest, filter_shape=[2, 2, 2, 2]),
        tf.nn.with_space_to_batch(x, [1, 1], "SAME", largest),
        tf.nn.with_space_to_batch(x, tf.constant([3, 2]), "SAME", largest, filter_shape=tf.constant([2, 2])),
    ]
    return seen, static(*ways), run(tf, ways)


def axes_of_distant_cells(tf):
    x = tf.constant(np.arange(2 * 3 * 4 * 5).reshape([2, 3, 4, 5]) % 13, tf.float32)
    seen = []

    def as_it_is(moved, n, padding):
        seen.append((moved.shape.as_list(), n, padding))
        return moved * 2.0

    ways = [
        tf.nn.with_space_to_batch(x, [2, 2], "VALID", as_it_is, data_format="NCHW"),
        tf.nn.with_space_to_batch(x, [2], "VALID", as_it_is, spatial_dims=[2]),
        tf.nn.with_space_to_batch(x, [3, 2], "VALID", as_it_is, spatial_dims=[1, 3]),
        tf.nn.with_space_to_batch(x, [2], "SAME", as_it_is, filter_shape=[4, 1], spatial_dims=[2]),
    ]
    return seen, static(*ways), run(tf, ways), run(tf, tf.gradients(ways[1], x)), tf.get_seed(None)


def sizes_that_a_run_knows(tf):
    x = tf.placeholder_with_default(np.arange(14).reshape([1, 7, 2]).astype(np.float32), [None, None, 2])
    pairs = lambda moved, n, padding: tf.nn.pool(moved, [2], "MAX", padding)  # noqa: E731
    y = tf.nn.with_space_to_batch(x, [2], "VALID", pairs)
    z = tf.nn.with_space_to_batch(x, [3], "SAME", pairs, filter_shape=[2])
    return static(y, z), run(tf, [y, z]), tf.gradients(y, x)[0].dtype


def refusals_of_distant_cells(tf):
    x, f = tf.ones([1, 4, 4, 1]), lambda moved, n, padding: moved
    to = tf.nn.with_space_to_batch
    return [
        caught(lambda: to(x, [2, 2], "SAME", f), "filter_shape must be specified for SAME padding"),
        caught(lambda: to(x, [2, 0], "SAME", f), "dilation_rate must be positive"),
        caught(lambda: to(x, [[2, 2]], "SAME", f), "rate must be rank 1"),
        caught(lambda: to(x, [2, 2], "ODD", f), "Invalid padding method 'ODD'"),
        caught(lambda: to(x, [2, 2], "VALID", f, spatial_dims=[1]), "Shapes (1,) and [2] are incompatible"),
        caught(lambda: to(x, [2, 2], "VALID", f, spatial_dims=[2, 1]), "spatial_dims must be"),
        caught(lambda: to(x, [2, 2], "VALID", f, spatial_dims=[0, 1]), "spatial_dims must be"),
        caught(lambda: to(tf.ones([4, 4]), [2, 2], "VALID", f), "input tensor must have rank 3 at least"),
    ]
