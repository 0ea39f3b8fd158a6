"""Simulated quantization, data formats and positions: ops that stand in graphs for deployment."""

import numpy as np

from programs.tools import caught, run


def _values():
    return np.concatenate([np.linspace(-9, 9, 41), [0.0, -0.0, 0.5, 1e-8, 3e38, -3e38, np.nan, np.inf, -np.inf]]).astype(np.float32)


def fixed_ranges(tf):
    x = tf.constant(_values())
    made = [
        tf.fake_quant_with_min_max_args(x),
        tf.quantization.fake_quant_with_min_max_args(x, min=-1.0, max=2.5, num_bits=4),
        tf.fake_quant_with_min_max_args(x, 0.5, 3.0, narrow_range=True),
        tf.fake_quant_with_min_max_args(x, -7.0, -2.0, num_bits=3),
    ]
    return run(tf, made + [tf.gradients(y * y, x)[0] for y in made]), [y.op.type for y in made]


def learned_ranges(tf):
    x, low, high = tf.constant(_values()), tf.constant(-2.0), tf.constant(3.1)
    made = [
        tf.fake_quant_with_min_max_vars(x, low, high),
        tf.quantization.fake_quant_with_min_max_vars(x, low, high, num_bits=5, narrow_range=True),
    ]
    gradients = [g for y in made for g in tf.gradients(y, [x, low, high])]
    nothing = tf.fake_quant_with_min_max_vars(x, tf.constant(0.0), tf.constant(0.0))
    return run(tf, made + gradients + [nothing, tf.gradients(nothing, x)[0]])


def ranges_of_channels(tf):
    x = tf.constant(_values()[:45].reshape(5, 3, 3))
    low, high = tf.constant([-2.0, 0.0, 0.0]), tf.constant([3.1, 1.0, 0.0])
    y = tf.fake_quant_with_min_max_vars_per_channel(x, low, high, num_bits=6)
    back = tf.fake_quant_with_min_max_vars_per_channel_gradient(y, x, low, high, num_bits=6)
    return run(tf, [y] + list(back) + tf.gradients(y, [x, low, high]))


def wrong_ranges(tf):
    x = tf.constant([1.0, 2.0])
    return [
        caught(lambda: run(tf, tf.fake_quant_with_min_max_args(x, 1.0, 1.0)), "min has to be smaller than max, was: 1 >= 1"),
        caught(lambda: run(tf, tf.fake_quant_with_min_max_args(x, num_bits=1)), "num_bits must be between 2 and 16, inclusive"),
        caught(lambda: tf.fake_quant_with_min_max_vars(x, [1.0], 2.0), "Shape must be rank 0 but is rank 1"),
    ]


def data_formats(tf):
    to_first = dict(src_format="NHWC", dst_format="NCHW")
    return run(
        tf,
        [
            tf.raw_ops.DataFormatDimMap(x=tf.constant([0, 1, 2, 3, -1, -4]), **to_first),
            tf.raw_ops.DataFormatDimMap(x=tf.constant(3, tf.int64), src_format="NCHW", dst_format="NHWC"),
            tf.raw_ops.DataFormatVecPermute(x=tf.constant([7, 4, 9, 3]), **to_first),
            tf.raw_ops.DataFormatVecPermute(x=tf.constant([[1, 2], [3, 4], [5, 6], [7, 8]]), src_format="NCHW", dst_format="NHWC"),
        ],
    )


def positions(tf):
    made = [tf.unravel_index(tf.constant([22, 0, 5]), tf.constant([2, 3, 4])), tf.unravel_index(22, [2, 3, 4])]
    return run(tf, made), [m.op.type for m in made]


def responses_and_candidates_are_ops(tf):
    x = tf.constant(np.arange(24).reshape(1, 2, 3, 4).astype(np.float32))
    y = tf.nn.lrn(x, depth_radius=2, bias=0.5, alpha=0.2, beta=0.7, name="norm")
    dx = tf.gradients(y, x)[0]
    drawn = tf.nn.log_uniform_candidate_sampler(tf.constant([[3]], tf.int64), 1, 5, True, 100, seed=4, name="drawn")
    hits = tf.nn.compute_accidental_hits(tf.constant([[3], [0]], tf.int64), drawn[0], 1)
    types = [(op.name, op.type) for op in tf.get_default_graph().get_operations() if op.type not in ("Const", "Fill")]
    return run(tf, [y, dx] + list(drawn) + list(hits)), types
