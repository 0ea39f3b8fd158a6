"""Glimpses, boxes of many classes, images scaled and moved, fractional pools, and quantized numbers."""

import numpy as np

from programs.tools import WHOLE, caught, run


def _images(tf):
    return tf.constant((np.arange(2 * 5 * 6 * 2) * 7 % 23).reshape(2, 5, 6, 2) / 2.0, tf.float32)


def glimpses(tf):
    x = _images(tf)
    inside = tf.image.extract_glimpse(x, [2, 3], [[0.1, -0.2], [0.0, 0.3]])
    made = [
        inside,
        tf.image.extract_glimpse(x, [2, 2], [[2.0, 1.0], [3.0, 4.0]], centered=False, normalized=False),
        tf.image.extract_glimpse(x, [3, 2], [[0.5, 0.5]] * 2, centered=False, uniform_noise=False, name="middle"),
        tf.raw_ops.ExtractGlimpse(input=x, size=[4, 4], offsets=[[1.0, 1.0], [-1.0, 0.5]], uniform_noise=False, noise="zero"),
    ]
    beyond = run(tf, tf.image.extract_glimpse(x, [9, 9], [[0.5, 0.5]] * 2))
    size = tf.placeholder(tf.int32, [2])
    return (
        run(tf, made),
        [y.op.name for y in made],
        [y.shape.as_list() for y in made],
        tf.image.extract_glimpse(x, size, [[0.0, 0.0]] * 2).shape.as_list(),
        beyond.shape,
        bool(beyond.min() >= 0.0 and beyond.max() <= 11.0),
        tf.gradients(inside, x),
    )


def scaled_and_moved(tf):
    x = _images(tf)
    made = [
        tf.raw_ops.ScaleAndTranslate(images=x, size=[4, 3], scale=[0.75, 0.5], translation=[0.5, 0.0], kernel_type=kind, antialias=antialias)
        for kind, antialias in (("triangle", True), ("keyscubic", False), ("box", True), ("mitchellcubic", True))
    ]
    return run(tf, made + [tf.gradients(y * y, x)[0] for y in made]), [y.shape.as_list() for y in made], made[0].op.name


def boxes_of_classes(tf):
    boxes = tf.constant([[[[0.0, 0.0, 1.0, 1.0]], [[0.0, 0.0, 1.0, 0.9]], [[0.5, 0.5, 0.6, 1.4]]]])
    scores = tf.constant([[[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]])
    made = [
        tf.image.combined_non_max_suppression(boxes, scores, 2, 3),
        tf.image.combined_non_max_suppression(boxes, scores, 1, 5, 0.3, 0.25, pad_per_class=True, clip_boxes=False, name="each"),
        tf.image.combined_non_max_suppression(tf.tile(boxes, [1, 1, 2, 1]), scores, 3, 9, 0.95, 0.15),
    ]
    total = tf.placeholder(tf.int32, [])
    unknown = tf.image.combined_non_max_suppression(boxes, scores, 1, total)
    return run(tf, made), made[0]._fields, [t.op.name for t in made[1]], [t.shape.as_list() for t in made[1]], unknown.nmsed_boxes.shape.as_list()


def fractional_pools(tf):
    x = _images(tf)
    made = []
    for pool in (tf.nn.fractional_avg_pool, tf.nn.fractional_max_pool):
        made.append(pool(x, [1.0, 1.5, 1.4, 1.0], deterministic=True, seed=3, seed2=4))
        made.append(pool(x, [1.0, 2.1, 1.7, 1.0], True, True, True, 5, name="slow"))
        made.append(pool(tf.cast(x, tf.int64), [1.0, 1.0, 2.5, 1.0], deterministic=True, seed=1))
    slopes = [tf.gradients(y.output * y.output, x)[0] for y in made if y.output.dtype == tf.float32]
    free = tf.nn.fractional_max_pool(x, [1.0, 1.5, 1.5, 1.0])
    again = [run(tf, free.row_pooling_sequence)[[0, -1]] for _ in range(2)]
    shapes = [[t.shape.as_list() for t in y] for y in made]
    return run(tf, [list(y) for y in made]), run(tf, slopes), [y.output.op.name for y in made], shapes[0][0], made[0]._fields, again


def quantized(tf):
    x = tf.constant([-3.5, -1.25, -0.5, 0.3, 0.5, 1.5, 2.5, 7.75, np.nan, np.inf])
    found = []
    for kind, plain in ((tf.quint8, tf.uint8), (tf.qint8, tf.int8), (tf.quint16, tf.uint16), (tf.qint16, tf.int16), (tf.qint32, tf.int32)):
        for low, high in ((-4.0, 3.0), (0.0, 6.0), (1.0, 2.0), (-3.0, -1.0), (0.0, 0.0)):
            for mode, rounds in (("MIN_COMBINED", "HALF_AWAY_FROM_ZERO"), ("MIN_FIRST", "HALF_AWAY_FROM_ZERO"), ("SCALED", "HALF_AWAY_FROM_ZERO"), ("SCALED", "HALF_TO_EVEN")):
                y = tf.quantization.quantize(x, low, high, kind, mode, rounds)
                found.append([tf.bitcast(y.output, plain), y.output_min, y.output_max, tf.quantization.dequantize(*y, mode=mode)])
    return run(tf, found)


def requantized(tf):
    rng = np.random.RandomState(0)
    x = tf.bitcast(tf.constant(np.concatenate([rng.randint(-(2**31), 2**31, 30), rng.randint(-(2**20), 2**20, 10), [0, 1, -1, 2**31 - 1, -(2**31)]]), tf.int32), tf.qint32)
    r, found = tf.raw_ops, []
    for low, high, least, most in ((-1.0, 1.0, -0.5, 0.5), (-3.25, 2.75, -1.0, 4.0), (-1000.0, 1000.0, -0.25, 7.75), (0.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 1e-3)):
        for kind, plain in ((tf.quint8, tf.uint8), (tf.qint8, tf.int8)):
            y = r.Requantize(input=x, input_min=low, input_max=high, requested_output_min=least, requested_output_max=most, out_type=kind)
            found.append([tf.bitcast(y.output, plain), y.output_min, y.output_max])
        y = r.QuantizeDownAndShrinkRange(input=x[30:40], input_min=low, input_max=high, out_type=tf.quint8)
        found.append([tf.bitcast(y.output, tf.uint8), y.output_min, y.output_max])
        found += [list(r.RequantizationRange(input=part, input_min=low, input_max=high)) for part in (x, x[:5], x[:0])]
    return run(tf, found)


def names(tf):
    x = tf.constant([0.0, 1.0])
    y, z = tf.quantize_v2(x, 0.0, 1.0, tf.quint16, "SCALED", "mine", "HALF_TO_EVEN"), tf.quantize(x, 0.0, 1.0, tf.qint8)
    return y.output.op.name, y._fields, z.output.op.name, z.output.dtype.name, tf.dequantize(*z).op.name, z.output.shape.as_list()


def mistakes(tf):
    x = _images(tf)
    return [
        caught(lambda: tf.image.extract_glimpse(x, [2, 2], [[0.0, 0.0]])),
        caught(lambda: tf.raw_ops.ExtractGlimpse(input=x, size=[2, 2], offsets=[[0.0, 0.0]] * 2, noise="zero"), "The uniform_noise and noise should not be specified at the same time"),
        caught(lambda: tf.nn.fractional_max_pool(x, [1.0, 1.5, 1.5])),
        caught(lambda: run(tf, tf.nn.fractional_avg_pool(x, [1.0, 1.5, 1.5, 1.0], seed=1)), "Both seed and seed2 should be 0 if deterministic is false."),
        caught(lambda: run(tf, tf.nn.fractional_avg_pool(x, [2.0, 1.5, 1.5, 2.0])), "Fractional average pooling is not yet supported on the batch nor channel dimension."),
        caught(lambda: run(tf, tf.quantization.quantize([1.0], 2.0, 1.0, tf.quint8)), "input_max_range must be larger than input_min_range."),
        caught(lambda: tf.quantization.quantize([1.0], [2.0], 1.0, tf.quint8)),
        caught(lambda: tf.image.combined_non_max_suppression([[[[0.0, 0.0, 1.0]]]], [[[0.5]]], 1, 1)),
        caught(lambda: tf.gradients(tf.quantization.dequantize(tf.quantization.quantize(x, 0.0, 1.0, tf.quint8)[0], 0.0, x[0, 0, 0, 0]), x), "No gradient defined for operation"),
    ]
