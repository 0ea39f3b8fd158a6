"""Measures of images."""

import numpy as np

from programs.tools import mistakes, run, static


def _image(*shape, **options):
    return np.random.RandomState(options.get("seed", 1)).rand(*shape).astype(np.float32)


def _bytes(*shape, **options):
    return (_image(*shape, **options) * 255).astype(np.uint8)


def variation(tf):
    return run(tf, [tf.image.total_variation(tf.constant(_image(4, 5, 3))), tf.image.total_variation(tf.constant(_image(2, 4, 5, 3)))])


def differences(tf):
    x = tf.constant(_image(2, 4, 5, 3))
    results = [*tf.image.image_gradients(x), tf.image.sobel_edges(x), tf.image.sobel_edges(tf.placeholder_with_default(x, [None, None, None, 3]))]
    return static(*results), run(tf, results)


def noise(tf):
    a, b = tf.constant(_image(2, 4, 5, 3)), tf.constant(_image(2, 4, 5, 3, seed=2))
    results = [tf.image.psnr(a, b, 1.0), tf.image.psnr(tf.constant(_bytes(4, 5, 3)), tf.constant(_bytes(4, 5, 3, seed=2)), 255)]
    return static(*results), run(tf, results)


def alike(tf):
    a, b = tf.constant(_image(2, 13, 14, 3)), tf.constant(_image(2, 13, 14, 3, seed=2))
    results = [tf.image.ssim(a, b, 1.0), tf.image.ssim(a, a, 1.0), tf.image.ssim(tf.constant(_bytes(13, 14, 1)), tf.constant(_bytes(13, 14, 1, seed=2)), 255)]
    results += [tf.image.ssim(a, b, max_val=1.0, filter_size=5, filter_sigma=1.0, k1=0.02, k2=0.05), tf.gradients(tf.image.ssim(a, b, 1.0), a)[0]]
    return static(*results), run(tf, results)


def alike_at_scales(tf):
    a = _image(2, 45, 52, 2)
    b = np.clip(a + _image(2, 45, 52, 2, seed=2) * 0.3 - 0.15, 0, 1)
    results = [tf.image.ssim_multiscale(a, b, 1.0, power_factors=(0.3, 0.4, 0.3)), tf.image.ssim_multiscale((a * 255).astype(np.uint8), (b * 255).astype(np.uint8), 255, power_factors=(0.5, 0.5), filter_size=7)]
    return static(*results), run(tf, results)


def refused(tf):
    x = np.zeros([4, 4, 3], np.float32)
    return mistakes(
        tf,
        flat=lambda: tf.image.total_variation(tf.constant(x[0])),
        one=lambda: tf.image.image_gradients(tf.constant(x)),
        shapes=lambda: tf.image.psnr(tf.constant(x), tf.constant(x[:3]), 1.0),
        batches=lambda: tf.image.psnr(tf.zeros([2, 4, 4, 3]), tf.zeros([3, 4, 4, 3]), 1.0),
        small=lambda: tf.image.ssim(tf.constant(x), tf.constant(x), 1.0),
        rank=lambda: tf.image.ssim(tf.constant(x[0]), tf.constant(x[0]), 1.0),
    )
