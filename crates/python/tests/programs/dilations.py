"""Dilations and erosions, patches of volumes, and quantized numbers."""

import numpy as np

from programs.tools import WHOLE, caught, run


def _images(tf):
    return tf.constant((np.arange(2 * 4 * 5 * 2) * 7 % 23).reshape(2, 4, 5, 2) / 2.0), tf.constant((np.arange(12) * 5 % 7).reshape(2, 3, 2) / 4.0)


def dilated(tf):
    x, kernel = _images(tf)
    made = [
        tf.nn.dilation2d(x, kernel, [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
        tf.nn.dilation2d(x, filters=kernel, strides=[1, 2, 1, 1], dilations=[1, 1, 2, 1], padding="VALID"),
        tf.nn.erosion2d(x, kernel, [1, 1, 2, 1], [1, 2, 1, 1], "SAME"),
    ]
    slopes = [tf.gradients(y * y, [x, kernel]) for y in made]
    return run(tf, [made, slopes]), [y.shape.as_list() for y in made], [y.op.type for y in made]


def draws_after_dilated_pools(tf):
    """A number that is drawn after them: its seed is the number of nodes before it."""

    def after(build):
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.set_random_seed(3)
            build()
            return sess.run(tf.random_uniform([]))

    def pooled(sizes, kind, padding="VALID"):
        return after(lambda: tf.nn.pool(tf.placeholder(tf.float32, [2] + sizes + [3]), [2] * len(sizes), kind, padding, dilation_rate=[2] * len(sizes)))

    def moved(rate, sizes, padding):
        def build():
            rates = tf.placeholder(tf.int32, [2]) if rate is None else rate
            tf.nn.with_space_to_batch(tf.placeholder(tf.float32, [2] + sizes + [3]), rates, padding, lambda x, _, __: x, [3, 3])

        return after(build)

    shapes = [[12], [None], [12, 12], [None, 12], [None, None], [None] * 3]
    pools = [pooled(sizes, kind) for sizes in shapes for kind in ("MAX", "AVG")]
    return pools, [moved(rate, sizes, padding) for rate in ([2, 1], None) for sizes in ([8, 8], [None, 8]) for padding in ("SAME", "VALID")]


def paddings_of_blocks(tf):
    sizes = tf.placeholder_with_default([5, 6], [2])
    made = [tf.required_space_to_batch_paddings([5, 6], [2, 4], [[1, 1], [0, 1]]), tf.required_space_to_batch_paddings(sizes, [2, 4])]
    refused = [
        caught(lambda: tf.required_space_to_batch_paddings([5], [2, 2]), WHOLE),
        caught(lambda: tf.required_space_to_batch_paddings([5], [2], [[1, 1], [1, 1]]), WHOLE),
    ]
    return run(tf, made), [[t.name for t in pair] for pair in made], refused


def patches_of_volumes(tf):
    x = tf.constant((np.arange(48.0) * 5 % 11).reshape(1, 3, 4, 2, 2))
    made = [tf.extract_volume_patches(x, [1, 2, 2, 2, 1], [1, 1, 2, 1, 1], padding) for padding in ("SAME", "VALID")]
    return run(tf, made + [tf.gradients(y * y, x)[0] for y in made]), [y.shape.as_list() for y in made]


def quantized(tf):
    x = tf.constant([-3.5, -1.25, -0.5, 0.3, 0.5, 1.5, 2.5, 7.75])
    q = tf.quantization.quantize_and_dequantize
    made = [
        q(x, 0.0, 0.0),
        q(x, -1.0, 2.0, num_bits=3, range_given=True),
        q(x, 0.0, 3.0, signed_input=False, num_bits=2, range_given=True, round_mode="HALF_UP"),
        q(x, -1.0, 1.0, num_bits=4, range_given=True, narrow_range=True),
    ]
    return run(tf, made + [tf.gradients(made[1] * x, x)[0]]), [y.op.type for y in made]


def mistakes(tf):
    x, kernel = _images(tf)
    return [
        caught(lambda: tf.nn.dilation2d(x, kernel, [1, 1, 1, 1], [1, 1, 1, 1], "VALID", filters=kernel), WHOLE),
        caught(lambda: run(tf, tf.quantization.quantize_and_dequantize([1.0], 2.0, 1.0, range_given=True)), "Invalid range: input_min 2 > input_max 1"),
    ]
