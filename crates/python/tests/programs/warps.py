"""`tf.contrib.image`: projective transforms and warps by offsets."""

import numpy as np

from programs.raised import WHOLE, caught
from programs.tools import run, static


def _images(*shape):
    return (np.sin(np.arange(int(np.prod(shape))) * 1.7) * 10).reshape(shape).astype(np.float32)


def transforms(tf):
    make = tf.contrib.image.transform
    x = _images(2, 5, 4, 3)
    shear = [1.0, 0.3, -0.4, -0.2, 0.9, 0.6, 0.0, 0.0]
    far = [0.9, 0.1, 0.3, 0.05, 1.1, -0.7, 0.01, 0.02]
    made = [make(x, shear), make(x, far, "BILINEAR"), make(x, [shear, far], "BILINEAR"), make(x[0], far), make(x[0, :, :, 0], shear, "BILINEAR"), make((x * 10).astype(np.int32), far)]
    return static(*made), [np.round(v, 3) + 0 for v in run(tf, made)]


def turns_and_moves(tf):
    image = tf.contrib.image
    x = _images(2, 5, 6, 1)
    made = [image.rotate(x, 0.4), image.rotate(x, [0.4, -1.2], "BILINEAR"), image.rotate(x[0, :, :, 0], np.pi / 3), image.translate(x, [1.0, -2.0]), image.translate(x, [[0.5, 1.25], [-1.5, 0.25]], "BILINEAR")]
    rows = [image.angles_to_projective_transforms([0.3, -0.2], 5.0, 7.0), image.translations_to_projective_transforms([[1.0, 2.0], [3.0, 4.0]])]
    return static(*made), [np.round(v, 3) + 0 for v in run(tf, made)], [np.round(v, 4) + 0 for v in run(tf, rows)]


def warps(tf):
    x, flow = tf.constant(_images(2, 4, 5, 2)), tf.constant(_images(2, 4, 5, 2)[::-1] * 0.2)
    y = tf.contrib.image.dense_image_warp(x, flow)
    grads = tf.gradients(tf.reduce_sum(y * _images(2, 4, 5, 2)), [x, flow])
    return static(y), [np.round(v, 2) + 0 for v in run(tf, [y] + grads)]


def their_mistakes(tf):
    image = tf.contrib.image
    unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    return [
        caught(lambda: image.transform(tf.constant(["a"]), unit), WHOLE),
        caught(lambda: image.transform(tf.zeros([1]), unit), WHOLE),
        caught(lambda: image.transform(tf.zeros([2, 2]), [[unit]]), WHOLE),
        caught(lambda: image.angles_to_projective_transforms([[1.0]], 1.0, 1.0), WHOLE),
        caught(lambda: image.translations_to_projective_transforms(1.0), WHOLE),
    ]
