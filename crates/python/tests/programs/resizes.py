"""Resizing of images, and its gradients."""

import numpy as np

from programs.tools import mistakes, nodes, run, static

SIZES = ([3, 5], [7, 4], [4, 6], [1, 1], [9, 13], [2, 11])


def _image(*shape, **options):
    return np.random.RandomState(options.get("seed", 1)).randint(0, 256, shape)


def _every(tf, resize, dtype, **rules):
    x = _image(2, 4, 6, 3).astype(dtype)
    return run(tf, [resize(x, size, **rules) for size in SIZES])


RULES = ({}, {"align_corners": True}, {"half_pixel_centers": True})


def bilinear(tf):
    return [_every(tf, tf.image.resize_bilinear, dtype, **rules) for rules in RULES for dtype in (np.float32, np.uint8)]


def nearest(tf):
    return [_every(tf, tf.image.resize_nearest_neighbor, dtype, **rules) for rules in RULES for dtype in (np.float32, np.uint8)]


def bicubic(tf):
    return [_every(tf, tf.image.resize_bicubic, dtype, **rules) for rules in RULES for dtype in (np.float32, np.uint8)]


def area(tf):
    return [_every(tf, tf.image.resize_area, dtype, **rules) for rules in RULES[:2] for dtype in (np.float32, np.uint8)]


def other_dtypes(tf):
    x = _image(1, 5, 4, 2)
    dtypes = (np.int16, np.int32, np.int64, np.float16, np.float64)
    image = tf.image
    return [run(tf, [r((x / 3).astype(d), [3, 7]) for r in (image.resize_bilinear, image.resize_nearest_neighbor, image.resize_bicubic, image.resize_area)]) for d in dtypes]


def _gradients(tf, resize, dtype=np.float32):
    results = []
    for rules in RULES:
        for size in SIZES:
            x = tf.constant(_image(2, 4, 6, 3).astype(dtype) / 100)
            dy = tf.constant(_image(2, size[0], size[1], 3, seed=2).astype(np.float32) / 100)
            y = tf.cast(resize(x, size, **rules), tf.float32)
            results.append(tf.gradients(y * y, x, dy)[0])
    return run(tf, results)


def bilinear_gradients(tf):
    return _gradients(tf, tf.image.resize_bilinear), _gradients(tf, tf.image.resize_bilinear, np.float64)


def nearest_gradients(tf):
    return _gradients(tf, tf.image.resize_nearest_neighbor), _gradients(tf, tf.image.resize_nearest_neighbor, np.float64)


def bicubic_gradients(tf):
    return _gradients(tf, tf.image.resize_bicubic), _gradients(tf, tf.image.resize_bicubic, np.float64)


def gradient_ops(tf):
    grads, image = _image(1, 3, 4, 2).astype(np.float32), np.zeros([1, 5, 6, 2], np.float32)
    raw = tf.raw_ops
    return run(
        tf,
        [
            raw.ResizeBilinearGrad(grads=grads, original_image=image),
            raw.ResizeBicubicGrad(grads=grads, original_image=image, align_corners=True),
            raw.ResizeNearestNeighborGrad(grads=grads, size=[5, 6], half_pixel_centers=True),
        ],
    )


def methods(tf):
    x = tf.constant(_image(4, 6, 3).astype(np.uint8))
    m = tf.image.ResizeMethod
    results = [tf.image.resize_images(x, [3, 5], method, align_corners=align) for method in (m.BILINEAR, m.NEAREST_NEIGHBOR, m.BICUBIC, m.AREA) for align in (False, True)]
    results += [tf.image.resize(x, [3, 5], method) for method in ("bilinear", "nearest", "bicubic", "area")]
    return static(*results), [r.name for r in results], run(tf, results)


def same_size(tf):
    x = tf.constant(_image(2, 4, 6, 3).astype(np.uint8))
    same, batch = tf.image.resize_images(x[0], [4, 6]), tf.image.resize_images(x, [4, 6])
    other = tf.image.resize_images(x, tf.placeholder_with_default([4, 6], [2]))
    return static(same, batch, other), run(tf, [same, batch, other])


def ratio_kept(tf):
    x = tf.constant(_image(2, 4, 6, 3).astype(np.float32))
    results = [tf.image.resize_images(x, size, preserve_aspect_ratio=True) for size in ([3, 3], [20, 9], [2, 6])]
    y = tf.placeholder_with_default(x, [None, None, None, 3])
    results.append(tf.image.resize_images(y, [5, 5], preserve_aspect_ratio=True))
    return static(*results), run(tf, results)


def shapes_of_the_run(tf):
    x = tf.placeholder(tf.uint8, [None, None, 3])
    size = tf.placeholder(tf.int32, [2])
    results = [tf.image.resize_images(x, [5, 4]), tf.image.resize_images(x, size), tf.image.resize_bilinear(tf.expand_dims(x, 0), [tf.shape(x)[0] * 2, 7])]
    with tf.Session() as sess:
        return static(*results), sess.run(results, {x: _image(4, 6, 3).astype(np.uint8), size: [3, 3]})


def padded(tf):
    x = tf.constant(_image(4, 6, 2).astype(np.float32))
    results = [tf.image.resize_image_with_pad(x, height, width) for height, width in ((8, 8), (3, 9), (5, 2))]
    results.append(tf.image.resize_image_with_pad(tf.expand_dims(x, 0), 7, 8, tf.image.ResizeMethod.NEAREST_NEIGHBOR, align_corners=True))
    return static(*results), run(tf, results)


def constants(tf):
    m = tf.image.ResizeMethod
    return m.BILINEAR, m.NEAREST_NEIGHBOR, m.BICUBIC, m.AREA


def nodes_made(tf):
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    tf.image.resize_images(x, [4, 4])
    tf.image.resize_images(tf.zeros([8, 8, 3]), [4, 4], preserve_aspect_ratio=True)
    return nodes(tf)


def refused(tf):
    def x():
        return tf.zeros([1, 5, 5, 3])

    return mistakes(
        tf,
        rank=lambda: tf.image.resize_images(tf.zeros([5, 5]), [2, 2]),
        no_shape=lambda: tf.image.resize_images(tf.placeholder(tf.float32), [2, 2]),
        three_sizes=lambda: tf.image.resize_images(x(), [2, 2, 2]),
        text=lambda: tf.image.resize_images(x(), ["a", "b"]),
        method=lambda: tf.image.resize_images(x(), [2, 2], 7),
        both_rules=lambda: tf.image.resize_bilinear(x(), [2, 2], align_corners=True, half_pixel_centers=True),
        nothing=lambda: tf.image.resize_bilinear(x(), [0, 2]),
        less=lambda: tf.image.resize_nearest_neighbor(x(), tf.placeholder_with_default([-1, 2], [2])),
        empty=lambda: tf.image.resize_bicubic(tf.zeros([1, 0, 5, 3]), [2, 2]),
        flat=lambda: tf.image.resize_area(tf.zeros([5, 5]), [2, 2]),
        one_size=lambda: tf.image.resize_bilinear(x(), [2]),
        no_gradient=lambda: tf.gradients(tf.image.resize_area(x(), [2, 2]), [x()]),
    )
