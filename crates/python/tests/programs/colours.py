"""Colours of images."""

import numpy as np

from programs.tools import mistakes, nodes, run, static


def _rows(*shape):
    return np.random.RandomState(3).rand(*shape).astype(np.float32)


def _bytes(*shape):
    return np.random.RandomState(4).randint(0, 256, shape).astype(np.uint8)


def dtypes_converted(tf):
    convert, x, b = tf.image.convert_image_dtype, _rows(2, 3) * 1.2 - 0.1, _bytes(2, 3)
    clipped = np.clip(x, 0, 1)
    results = [convert(clipped, d) for d in (tf.uint8, tf.int16, tf.uint16, tf.float16, tf.float64, tf.float32)]
    results += [convert(x, d, saturate=True) for d in (tf.uint8, tf.int16)]
    results += [convert(b, d) for d in (tf.float32, tf.float16, tf.int16, tf.uint16, tf.int32, tf.uint8)]
    results += [convert(b.astype(np.int32) * 8000000, tf.uint8), convert(b.astype(np.int32) * 9000000 - 1000, tf.uint8, saturate=True)]
    return static(*results), [r.name for r in results], run(tf, results)


def brightness(tf):
    results = [tf.image.adjust_brightness(v, d) for v in (_rows(2, 3, 3), _bytes(2, 3, 3), _rows(2, 3).astype(np.float16)) for d in (0.2, -0.5)]
    return static(*results), run(tf, results)


def contrast(tf):
    results = [tf.image.adjust_contrast(v, f) for v in (_rows(4, 5, 3), _bytes(4, 5, 3), _rows(2, 4, 3, 2), _rows(2, 1, 4, 3, 2)) for f in (0.5, 2.0, 0.0)]
    return static(*results), run(tf, results)


def hue(tf):
    results = [tf.image.adjust_hue(v, d) for v in (_rows(4, 5, 3), _rows(2, 4, 5, 3)) for d in (0.0, 0.1, -0.3, 0.5, 1.0, -1.0)]
    results.append(tf.image.adjust_hue(_bytes(4, 5, 3), 0.2))
    return static(*results), run(tf, results)


def saturation(tf):
    results = [tf.image.adjust_saturation(v, f) for v in (_rows(4, 5, 3), _rows(2, 4, 5, 3)) for f in (0.0, 0.5, 1.0, 3.0)]
    results.append(tf.image.adjust_saturation(_bytes(4, 5, 3), 1.5))
    return static(*results), run(tf, results)


def by_chance(tf):
    tf.set_random_seed(9)
    x, b = tf.constant(_rows(3, 4, 3)), tf.constant(_bytes(3, 4, 3))
    image, results = tf.image, []
    for v in (x, b):
        results += [image.random_brightness(v, 0.3), image.random_contrast(v, 0.5, 1.5), image.random_hue(v, 0.2), image.random_saturation(v, 0.5, 1.5)]
        results += [image.random_brightness(v, 0.3, seed=1), image.random_contrast(v, 0.5, 1.5, 2), image.random_hue(v, 0.2, 3), image.random_saturation(v, 0.5, 1.5, seed=4)]
    with tf.Session() as sess:
        return static(*results), [sess.run(results) for _ in range(2)]


def distorted(tf):
    tf.set_random_seed(2)
    x = tf.placeholder(tf.uint8, [None, None, 3])
    y = tf.image.convert_image_dtype(x, tf.float32)
    y = tf.image.random_flip_left_right(tf.image.resize_images(y, [6, 6]))
    y = tf.image.random_brightness(y, max_delta=32.0 / 255.0)
    y = tf.image.random_saturation(y, lower=0.5, upper=1.5)
    y = tf.image.random_hue(y, max_delta=0.2)
    y = tf.image.random_contrast(y, lower=0.5, upper=1.5)
    y = tf.multiply(tf.subtract(tf.clip_by_value(y, 0.0, 1.0), 0.5), 2.0)
    with tf.Session() as sess:
        return static(y), [sess.run(y, {x: _bytes(9, 8, 3)}) for _ in range(3)]


def spaces(tf):
    x = _rows(3, 4, 3)
    image = tf.image
    results = [image.rgb_to_hsv(x), image.hsv_to_rgb(x), image.rgb_to_yiq(x), image.yiq_to_rgb(x), image.rgb_to_yuv(x), image.yuv_to_rgb(x)]
    results += [image.hsv_to_rgb(image.rgb_to_hsv(tf.constant(x.astype(np.float64)))), image.rgb_to_hsv([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.5, 0.0, 0.0]])]
    return static(*results), run(tf, results)


def gradient_of_hsv(tf):
    x = tf.constant(np.concatenate([_rows(20, 3), np.float32([[0.2, 0.2, 0.9], [0.5, 0.4, 0.3]])]))
    return run(tf, tf.gradients(tf.image.rgb_to_hsv(x) * _rows(22, 3), x))


def grays(tf):
    results = [tf.image.rgb_to_grayscale(_rows(2, 3, 3)), tf.image.rgb_to_grayscale(_bytes(2, 2, 3, 3)), tf.image.grayscale_to_rgb(tf.constant(_rows(2, 3, 1)))]
    results.append(tf.image.grayscale_to_rgb(tf.placeholder_with_default(_bytes(2, 3, 1), [None, None, 1])))
    return static(*results), run(tf, results)


def standardized(tf):
    results = [tf.image.per_image_standardization(v) for v in (_rows(4, 5, 3), _rows(2, 4, 5, 3), np.ones([3, 3, 1], np.float32))]
    results.append(tf.image.per_image_standardization(_bytes(4, 5, 3)))
    return static(*results), run(tf, results)


def gamma(tf):
    results = [tf.image.adjust_gamma(_rows(2, 3, 1), 0.5), tf.image.adjust_gamma(_bytes(2, 3, 1), 2, 0.5), tf.image.adjust_gamma(_rows(2, 3, 1), tf.constant(1.5))]
    return static(*results), run(tf, results)


def nodes_made(tf):
    x = tf.placeholder(tf.uint8, [4, 4, 3], name="x")
    image = tf.image
    image.random_brightness(x, 0.2)
    image.random_contrast(x, 0.5, 1.0)
    image.random_hue(x, 0.2)
    image.random_saturation(x, 0.5, 1.0)
    image.per_image_standardization(x)
    image.rgb_to_grayscale(x)
    image.grayscale_to_rgb(tf.zeros([2, 2, 1]))
    image.adjust_gamma(x, 2)
    return nodes(tf)


def refused(tf):
    def x():
        return tf.zeros([4, 4, 3])

    image = tf.image
    return mistakes(
        tf,
        brightness=lambda: image.random_brightness(x(), -0.1),
        contrast=lambda: image.random_contrast(x(), 0.5, 0.5),
        negative=lambda: image.random_saturation(x(), -0.5, 0.5),
        hue=lambda: image.random_hue(x(), 0.7),
        hue_below=lambda: image.random_hue(x(), -0.7),
        dtype=lambda: image.convert_image_dtype(x(), tf.string),
        gray=lambda: image.grayscale_to_rgb(x()),
        gamma=lambda: image.adjust_gamma(x(), -1),
        channels=lambda: image.rgb_to_hsv(tf.zeros([4, 2])),
        channels_of_hue=lambda: image.adjust_hue(tf.zeros([4, 4, 2]), 0.1),
        flat=lambda: image.adjust_contrast(tf.zeros([4, 4]), 0.1),
        factor=lambda: image.adjust_contrast(x(), [0.1]),
    )
