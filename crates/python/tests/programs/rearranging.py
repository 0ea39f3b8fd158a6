"""Permuting, repeating, searching and random cropping of arrays; functions composed of several ops."""

import numpy as np

from programs.tools import caught, run, static


def blocks(tf):
    x = tf.reshape(tf.range(16), [1, 4, 4, 1])
    deep = tf.space_to_depth(x, 2)
    batch = tf.space_to_batch(x, [[0, 0], [0, 0]], 2)
    return static(deep, batch), run(tf, [deep, tf.depth_to_space(deep, 2), batch, tf.batch_to_space(batch, [[0, 0], [1, 0]], 2), tf.nn.space_to_depth(x, 4)])


def blocks_required(tf):
    return run(tf, [tf.required_space_to_batch_paddings([5, 7], [2, 3]), tf.required_space_to_batch_paddings([5, 7], [2, 3], [[1, 0], [0, 0]])])


def rolled(tf):
    x = tf.reshape(tf.range(6), [2, 3])
    return run(tf, [tf.roll([1, 2, 3], 1, 0), tf.roll(x, [1, -1], [0, 1])])


def gathered_by_rows(tf):
    p = tf.constant([[1, 2], [3, 4]])
    return run(tf, [tf.batch_gather(p, [[1], [0]]), tf.batch_gather(p, [[1, 1], [0, 1]])])


def repeated(tf):
    x = tf.constant([[1, 2], [3, 4]])
    ways = [tf.repeat([1, 2, 3], [2, 0, 1], axis=0), tf.repeat(x, 2), tf.repeat(x, [1, 2], axis=1), tf.repeat(x, 3, axis=-1), tf.repeat("a", 2)]
    return run(tf, ways)


def searched(tf):
    rows = [[1.0, 3.0, 5.0], [2.0, 2.0, 2.0]]
    wanted = [[0.0, 3.0, 6.0], [2.0, 1.0, 3.0]]
    return run(tf, [tf.searchsorted([1, 3, 5], [0, 3, 6]), tf.searchsorted(rows, wanted, side="right"), tf.searchsorted(rows, wanted, out_type=tf.int64)]) + [
        caught(lambda: tf.searchsorted(rows, wanted, side="up"), "side must be either 'right' or 'left'")
    ]


def unravelled(tf):
    return run(tf, [tf.unravel_index([5, 3], [2, 3]), tf.unravel_index(tf.constant([23], tf.int64), tf.constant([2, 3, 4], tf.int64)), tf.unravel_index(5, [2, 3])])


def histograms(tf):
    v = [1.0, 2.0, 3.0, -1.0, 7.0, 4.999]
    return run(tf, [tf.histogram_fixed_width(v, [0.0, 5.0], 5), tf.histogram_fixed_width_bins(v, [0.0, 5.0], 5), tf.histogram_fixed_width(v, [0.0, 5.0], 2, dtype=tf.int64)])


def cropped(tf):
    x = tf.reshape(tf.range(12), [3, 4])
    return run(tf, [tf.random_crop(x, [2, 2], seed=3), tf.random_crop(x, [3, 4], seed=3)]) + [
        caught(lambda: run(tf, tf.random_crop(x, [4, 2], seed=3)), "assertion failed: [Need value.shape >= size, got ] [3 4] [4 2]")
    ]


def scaled(tf):
    x = tf.constant([1.0, 2.0])
    slices = tf.scalar_mul(2.0, tf.IndexedSlices(x, tf.constant([0, 1])))
    return run(tf, [tf.scalar_mul(2, x), slices]), caught(lambda: tf.scalar_mul([2.0], x), "Only scalar multiply works, got shape (1,)")


def beta_functions(tf):
    return run(tf, [tf.lbeta([[1.0, 2.0], [3.0, 4.0]]), tf.lbeta([1.0, 1.0])])


def clipped_by_average(tf):
    return run(tf, [tf.clip_by_average_norm([3.0, 4.0], 1.0), tf.clip_by_average_norm([0.3, 0.4], 1.0)])


def chosen_with_broadcasting(tf):
    return run(tf, [tf.where_v2([True, False], 1, [5, 6]), tf.where_v2([[True], [False]], [1.0, 2.0], 0.0), tf.where_v2([True, False])])


def tensors_or_not(tf):
    v = tf.Variable(1.0)
    things = [tf.constant(1), v, 3, np.zeros(2), tf.SparseTensor([[0]], [1], [2]), tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])), "a"]
    return [tf.is_tensor(t) for t in things]


def random_of_other_distributions(tf):
    ways = [
        tf.random_gamma([3], [1.0, 2.0], beta=2.0, seed=3),
        tf.random_gamma([2], 2.0, seed=3, dtype=tf.float64),
        tf.random_poisson([1.0, 20.0], [3], seed=3),
        tf.random.categorical([[1.0, 2.0], [3.0, 0.0]], 4, seed=1),
        tf.random.gamma([2], 0.5, seed=8),
        tf.random.poisson(4.0, [2, 2], dtype=tf.int32, seed=9),
    ]
    return static(*ways), run(tf, ways)


def stateless(tf):
    r = tf.random
    ways = [
        r.stateless_uniform([2], [1, 2]),
        r.stateless_uniform([2, 2], [1, 2], 5.0, 6.0, tf.float64),
        r.stateless_normal([3], [1, 2], 1.0, 2.0),
        r.stateless_truncated_normal([3], [3, 4]),
        r.stateless_uniform([3], [1, 2], 0, 10, tf.int32),
        r.stateless_categorical([[1.0, 2.0]], 3, [1, 2]),
        r.stateless_multinomial([[1.0, 2.0]], 3, [5, 6], output_dtype=tf.int32),
    ]
    return static(*ways), run(tf, ways), caught(lambda: r.stateless_uniform([3], [1, 2], dtype=tf.int32), "Must specify maxval for integer dtype")


def more_of_math(tf):
    m = tf.math
    return run(
        tf,
        [
            m.polyval([1.0, 2.0, 3.0], 2.0),
            m.multiply_no_nan([1.0, 2.0], [np.inf, 0.0]),
            m.multiply_no_nan([np.inf, np.nan], [0.0, 0.0]),
            m.reciprocal_no_nan([0.0, 2.0]),
            m.reduce_std([1.0, 2.0, 4.0]),
            m.reduce_variance([[1.0, 2.0], [4.0, 5.0]], 0, keepdims=True),
            m.reduce_euclidean_norm([[3.0, 4.0], [6.0, 8.0]], 1),
            m.reduce_euclidean_norm([3.0, 4.0]),
            m.bessel_i0([1.0, 2.0]),
            m.bessel_i1([1.0, 2.0]),
            m.cumulative_logsumexp([1.0, 2.0, 3.0]),
            m.top_k([1, 3, 2], 2),
            m.in_top_k([[0.1, 0.9]], [1], 1),
            m.zero_fraction([0.0, 1.0]),
            m.softmax([1.0, 2.0]),
            m.log_softmax([1.0, 2.0]),
            m.l2_normalize([3.0, 4.0]),
        ],
    )


def strings_matched_split_and_formatted(tf):
    s = tf.strings
    words = s.split(["a  b", "c", ""])
    return (
        static(words.values),
        run(tf, [s.regex_full_match(["ab", "abc"], "ab+"), words, s.split(["a,b,", "c"], ",", maxsplit=1), s.substr(["hello", "world"], 1, 3)]),
        run(tf, [s.format("x {} y {}", (tf.constant([1, 2]), tf.constant("q"))), s.format("% of %", [tf.constant(1), tf.constant(2.5)], placeholder="%")]),
        caught(lambda: s.format("x {} {}", tf.constant([1])), "2 placeholder(s) in template does not match 1 tensor(s) provided as input"),
    )
