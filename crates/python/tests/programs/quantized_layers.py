"""Layers of integers that stand for floats, and convolutions that pad by themselves."""

import numpy as np

from programs.tools import caught, run

RANGES = [(-1.0, 1.0), (0.0, 255.0), (-3.0, 1.0), (0.0, 6.0), (-2.0, 8.0)]


def _bytes(*shape):
    return (np.arange(np.prod(shape)) * 37 % 256).astype(np.uint8).reshape(shape)


def _quanta(tf, values, kind="quint8"):
    return tf.bitcast(tf.constant(values), getattr(tf, kind))


def _plain(tf, outputs):
    numbers = {"quint8": tf.uint8, "qint32": tf.int32}[outputs[0].dtype.name]
    return [tf.bitcast(outputs[0], numbers), *outputs[1:]]


def activations(tf):
    wide = np.array([-(2**31), -5, 0, 5, 2**30, 2**31 - 1], np.int32)
    made = []
    for low, high in RANGES:
        for name in ("QuantizedRelu", "QuantizedRelu6"):
            act = getattr(tf.raw_ops, name)
            made.append(_plain(tf, act(features=_quanta(tf, _bytes(12)), min_features=low, max_features=high, out_type=tf.quint8)))
            made.append(_plain(tf, act(features=_quanta(tf, wide, "qint32"), min_features=low, max_features=high, out_type=tf.qint32)))
    return run(tf, made)


def products(tf):
    a, b, images, filters = _bytes(3, 4), _bytes(4, 5), _bytes(2, 5, 5, 2), _bytes(3, 3, 2, 4)
    made = []
    for low, high in RANGES:
        made.append(tf.raw_ops.QuantizedMatMul(a=_quanta(tf, a), b=_quanta(tf, b), min_a=low, max_a=high, min_b=-1.0, max_b=2.0))
        made.append(tf.raw_ops.QuantizedMatMul(a=_quanta(tf, a), b=_quanta(tf, b.T), min_a=low, max_a=high, min_b=-1.0, max_b=2.0, transpose_b=True))
        for stride, padding in ((1, "VALID"), (2, "SAME")):
            convolve = tf.raw_ops.QuantizedConv2D
            made.append(
                convolve(
                    input=_quanta(tf, images), filter=_quanta(tf, filters), min_input=low, max_input=high, min_filter=-1.0, max_filter=2.0,
                    strides=[1, stride, stride, 1], padding=padding,
                )
            )
        made.append(
            tf.raw_ops.QuantizedBiasAdd(
                input=_quanta(tf, a), bias=_quanta(tf, _bytes(4)), min_input=low, max_input=high, min_bias=-1.0, max_bias=2.0, out_type=tf.qint32
            )
        )
    return run(tf, [_plain(tf, outputs) for outputs in made]), [[t.shape for t in outputs] for outputs in made]


def pools_and_pieces(tf):
    images, a = _bytes(2, 5, 5, 2), _bytes(3, 4)
    made = []
    for size, stride, padding in ((2, 2, "SAME"), (3, 2, "VALID"), (3, 1, "SAME")):
        for name in ("QuantizedMaxPool", "QuantizedAvgPool"):
            pool = getattr(tf.raw_ops, name)
            cells = _quanta(tf, images)
            made.append(pool(input=cells, min_input=-1.0, max_input=1.0, ksize=[1, size, size, 1], strides=[1, stride, stride, 1], padding=padding))
    for low, high in RANGES:
        values = [_quanta(tf, a), _quanta(tf, a[::-1])]
        made.append(tf.quantization.quantized_concat(concat_dim=1, values=values, input_mins=[low, -1.0], input_maxes=[high, 2.0]))
        made.append(tf.raw_ops.QuantizedReshape(tensor=values[0], shape=[4, -1], input_min=low, input_max=high))
    return run(tf, [_plain(tf, outputs) for outputs in made]), [[t.shape for t in outputs] for outputs in made]


def padded_convolutions(tf):
    images = (np.arange(60) * 11 % 17 - 8.0).reshape(1, 4, 5, 3).astype(np.float32)
    filters = (np.arange(54) * 5 % 9 - 4.0).reshape(3, 3, 3, 2).astype(np.float32)
    pads, made = [[0, 0], [1, 2], [2, 1], [0, 0]], []
    for mode in ("REFLECT", "SYMMETRIC"):
        for padding in ("SAME", "VALID"):
            made.append(tf.raw_ops.FusedPadConv2D(input=images, paddings=pads, filter=filters, mode=mode, strides=[1, 2, 2, 1], padding=padding))
            made.append(
                tf.raw_ops.FusedResizeAndPadConv2D(
                    input=images,
                    size=[7, 9] if mode == "REFLECT" else [8, 10], paddings=pads, filter=filters, mode=mode, strides=[1, 1, 1, 1], padding=padding,
                    resize_align_corners=mode == "REFLECT",
                )
            )
    return run(tf, made), [t.shape for t in made]


def wrong(tf):
    raw, a = tf.raw_ops, _bytes(3, 4)
    ends = dict(min_a=0.0, max_a=1.0, min_b=0.0, max_b=1.0)
    return (
        caught(lambda: raw.QuantizedMatMul(a=_quanta(tf, a), b=_quanta(tf, a), **ends), "Dimensions must be equal, but are 4 and 3"),
        caught(lambda: run(tf, raw.QuantizedMatMul(a=_quanta(tf, a), b=_quanta(tf, a.T), **dict(ends, max_b=0.0))[1]), "max_b must be larger than min_b."),
        caught(
            lambda: raw.QuantizedBiasAdd(
                input=_quanta(tf, a), bias=_quanta(tf, a), min_input=0.0, max_input=1.0, min_bias=0.0, max_bias=1.0, out_type=tf.qint32
            ),
            "Shape must be rank 1 but is rank 2",
        ),
        caught(lambda: raw.QuantizedRelu(features=_quanta(tf, a), min_features=[0.0], max_features=1.0), "Shape must be rank 0 but is rank 1"),
    )
