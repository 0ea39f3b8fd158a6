"""Flips, rotations, crops and borders of images."""

import numpy as np

from programs.tools import mistakes, nodes, run, static


def _image(*shape):
    return np.arange(np.prod(shape)).reshape(shape).astype(np.float32)


def _unknown(tf, value, shape=None):
    return tf.placeholder_with_default(value, shape)


def flips(tf):
    x, batch = _image(2, 3, 2), _image(2, 3, 2, 2)
    results = [flip(v) for flip in (tf.image.flip_left_right, tf.image.flip_up_down) for v in (x, batch, _unknown(tf, x), _unknown(tf, batch, [None] * 4))]
    return static(*results), [r.name for r in results], run(tf, results)


def flips_by_chance(tf):
    tf.set_random_seed(11)
    x = tf.constant(_image(2, 3, 2))
    results = [flip(x, seed=seed) for seed in range(4) for flip in (tf.image.random_flip_left_right, tf.image.random_flip_up_down)]
    results.append(tf.image.random_flip_left_right(x))
    with tf.Session() as sess:
        return static(*results), [sess.run(results) for _ in range(3)]


def flips_of_a_batch_by_chance(tf):
    tf.set_random_seed(5)
    x = tf.constant(_image(6, 2, 3, 1))
    results = [tf.image.random_flip_left_right(x, seed=3), tf.image.random_flip_up_down(x)]
    with tf.Session() as sess:
        return static(*results), [sess.run(results) for _ in range(2)]


def turns(tf):
    x, batch = _image(2, 3, 2), _image(2, 2, 3, 1)
    results = [tf.image.rot90(v, k) for v in (x, batch) for k in (0, 1, 2, 3, 5, -1)]
    results.append(tf.image.rot90(x, tf.placeholder_with_default(2, [])))
    return static(*results), run(tf, results)


def transposed(tf):
    results = [tf.image.transpose_image(_image(2, 3, 2)), tf.image.transpose(_image(2, 2, 3, 1))]
    return static(*results), run(tf, results)


def central(tf):
    x, batch = _image(7, 10, 2), _image(2, 8, 5, 1)
    results = [tf.image.central_crop(v, f) for v in (x, batch) for f in (0.1, 0.5, 0.875, 1.0)]
    results += [tf.image.central_crop(_unknown(tf, x, [None, None, 2]), 0.5), tf.image.central_crop(_unknown(tf, batch, [None, None, 5, 1]), 0.3)]
    return static(*results), run(tf, results)


def bordered(tf):
    x = _image(2, 3, 2)
    results = [tf.image.pad_to_bounding_box(x, 1, 2, 4, 6), tf.image.pad_to_bounding_box(x[None], 0, 0, 2, 3)]
    results.append(tf.image.pad_to_bounding_box(_unknown(tf, x, [None, None, 2]), 1, 0, 5, 5))
    results.append(tf.image.pad_to_bounding_box(x, tf.placeholder_with_default(1, []), 0, 5, 5))
    return static(*results), run(tf, results)


def cropped(tf):
    x = _image(5, 6, 2)
    results = [tf.image.crop_to_bounding_box(x, 1, 2, 3, 4), tf.image.crop_to_bounding_box(x[None], 0, 0, 5, 1)]
    results.append(tf.image.crop_to_bounding_box(_unknown(tf, x), 1, 1, 2, 2))
    results.append(tf.image.crop_to_bounding_box(x, 0, 1, tf.placeholder_with_default(2, []), 2))
    return static(*results), run(tf, results)


def cropped_or_bordered(tf):
    x = _image(5, 6, 2)
    results = [tf.image.resize_image_with_crop_or_pad(x, height, width) for height in (3, 5, 8) for width in (3, 6, 9)]
    results.append(tf.image.resize_image_with_crop_or_pad(x[None], 4, 7))
    results.append(tf.image.resize_with_crop_or_pad(_unknown(tf, x, [None, None, 2]), 4, 7))
    results.append(tf.image.resize_image_with_crop_or_pad(_unknown(tf, x, [None, None, 2]), tf.placeholder_with_default(7, []), 2))
    return static(*results), run(tf, results)


def random_parts(tf):
    tf.set_random_seed(3)
    x = tf.constant(_image(8, 8, 1))
    results = [tf.image.random_crop(x, [2, 3, 1]), tf.random_crop(x, [2, 3, 1], seed=4)]
    with tf.Session() as sess:
        return [sess.run(results) for _ in range(2)]


def prepared(tf):
    tf.set_random_seed(7)
    x = tf.placeholder(tf.float32, [32, 32, 3])
    padded = tf.image.resize_image_with_crop_or_pad(x, 40, 40)
    part = tf.image.random_flip_left_right(tf.random_crop(padded, [24, 24, 3]))
    batch = tf.map_fn(lambda v: tf.image.resize_images(v, [8, 8]), tf.expand_dims(part, 0))
    value = np.random.RandomState(0).rand(32, 32, 3).astype(np.float32)
    with tf.Session() as sess:
        return static(part, batch), [sess.run([part, batch], {x: value}) for _ in range(2)]


def gradients_through(tf):
    x = tf.constant(_image(4, 5, 2))
    parts = [tf.image.flip_left_right(x), tf.image.central_crop(x, 0.5), tf.image.pad_to_bounding_box(x, 1, 1, 6, 7), tf.image.rot90(x), tf.image.resize_image_with_crop_or_pad(x, 3, 7)]
    return run(tf, [tf.gradients(p * p * p, x)[0] for p in parts])


def nodes_made(tf):
    x = tf.placeholder(tf.float32, [None, None, 3], name="x")
    tf.image.flip_left_right(x)
    tf.image.random_flip_up_down(x)
    tf.image.resize_image_with_crop_or_pad(x, 4, 4)
    tf.image.central_crop(x, 0.5)
    tf.image.transpose_image(x)
    return sorted(nodes(tf))


def refused(tf):
    def x():
        return tf.zeros([5, 5, 3])

    return mistakes(
        tf,
        flat=lambda: tf.image.flip_left_right(tf.zeros([5, 5])),
        deep=lambda: tf.image.flip_up_down(tf.zeros([1, 1, 5, 5, 3])),
        empty=lambda: tf.image.random_flip_left_right(tf.zeros([0, 5, 3])),
        flat_in_the_run=lambda: tf.image.flip_left_right(tf.placeholder_with_default(tf.zeros([5, 5]), None)),
        fraction=lambda: tf.image.central_crop(x(), 1.5),
        offset=lambda: tf.image.pad_to_bounding_box(x(), -1, 0, 9, 9),
        too_small=lambda: tf.image.pad_to_bounding_box(x(), 0, 0, 4, 9),
        too_narrow=lambda: tf.image.pad_to_bounding_box(x(), 0, 3, 9, 7),
        too_large=lambda: tf.image.crop_to_bounding_box(x(), 2, 0, 4, 4),
        no_size=lambda: tf.image.crop_to_bounding_box(x(), 0, 0, 0, 4),
        beyond_in_the_run=lambda: tf.image.crop_to_bounding_box(tf.placeholder_with_default(x(), [None, None, 3]), 2, 0, 4, 4),
        target=lambda: tf.image.resize_image_with_crop_or_pad(x(), 0, 4),
        turn=lambda: tf.image.rot90(x(), [1, 2]),
    )
