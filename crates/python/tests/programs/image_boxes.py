"""Boxes in images: random parts, crops, outlines, and suppression."""

import numpy as np

from programs.tools import mistakes, run, static

OBJECTS = np.float32([[[0.1, 0.2, 0.8, 0.9], [0.5, 0.5, 0.7, 0.6]]])


def _boxes(n, seed=0):
    corners = np.random.RandomState(seed).rand(n, 2, 2)
    return np.concatenate([corners.min(1), corners.max(1)], 1).astype(np.float32)


def _image(*shape):
    return np.random.RandomState(1).rand(*shape).astype(np.float32)


def random_parts(tf):
    part = tf.image.sample_distorted_bounding_box
    results = [part([50, 60, 3], OBJECTS, seed=i, seed2=j) for i in range(3) for j in (1, 5)]
    results += [part([50, 60, 3], OBJECTS, 4, 7, **options) for options in ({"min_object_covered": 0.9}, {"aspect_ratio_range": [0.2, 3.0]}, {"area_range": [0.5, 0.6]}, {"max_attempts": 1})]
    results.append(part(np.int64([299, 400, 3]), np.zeros([1, 0, 4], np.float32), 3, 3, use_image_if_no_bounding_boxes=True))
    results.append(part([7, 5, 3], [[[0.0, 0.0, 1.0, 1.0]]], 1, 1, area_range=[0.05, 1.0]))
    with tf.Session() as sess:
        return static(*results[0]), [sess.run(results) for _ in range(3)]


def random_part_of_an_image(tf):
    tf.set_random_seed(5)
    x = tf.constant(_image(20, 30, 3))
    begin, size, box = tf.image.sample_distorted_bounding_box(tf.shape(x), OBJECTS, seed=11, min_object_covered=0.1, aspect_ratio_range=[0.75, 1.33], area_range=[0.05, 1.0], max_attempts=100, use_image_if_no_bounding_boxes=True)
    part = tf.image.resize_images(tf.slice(x, begin, size), [4, 4])
    drawn = tf.image.draw_bounding_boxes(tf.expand_dims(x, 0), box)
    seedless = tf.image.sample_distorted_bounding_box(tf.shape(x), OBJECTS, seed2=4)
    with tf.Session() as sess:
        return static(part, drawn), [sess.run([part, drawn, seedless]) for _ in range(2)]


def first_version(tf):
    raw = tf.raw_ops.SampleDistortedBoundingBox
    return run(tf, [raw(image_size=[50, 60, 3], bounding_boxes=OBJECTS, seed=3, seed2=4, min_object_covered=0.5), raw(image_size=np.uint8([50, 60, 3]), bounding_boxes=OBJECTS, seed=1)])


def outlines(tf):
    draw = tf.image.draw_bounding_boxes
    boxes = np.concatenate([_boxes(12).reshape(2, 6, 4), np.float32([[[-0.5, 0.2, 1.5, 0.8], [0.9, 0.1, 0.2, 0.5]]] * 2)], 1)
    results = [draw(_image(2, 9, 11, n), boxes) for n in (1, 3, 4)]
    results += [draw(_image(2, 9, 11, 3), boxes, colors=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), draw(_image(2, 9, 11, 1), boxes, colors=[[0.5], [0.25]]), draw(_image(2, 9, 11, 3), boxes, colors=np.zeros([0, 3], np.float32))]
    return static(*results), run(tf, results)


def crops(tf):
    cut, boxes, where = tf.image.crop_and_resize, np.concatenate([_boxes(4), np.float32([[0.9, 0.1, 0.2, 0.8], [-0.2, -0.1, 1.3, 1.1]])]), [0, 1, 1, 0, 1, 0]
    results = [cut(_image(2, 7, 9, 3), boxes, where, size, method, extrapolation_value=0.5) for size in ([3, 4], [1, 1], [1, 5], [12, 2]) for method in ("bilinear", "nearest")]
    results.append(cut((_image(2, 7, 9, 3) * 255).astype(np.uint8), boxes, where, [3, 3]))
    return static(*results), run(tf, results)


def gradients_of_crops(tf):
    x, boxes = tf.constant(_image(2, 7, 9, 2)), tf.constant(_boxes(3))
    results = []
    for size in ([3, 4], [1, 1]):
        for method in ("bilinear", "nearest"):
            y = tf.image.crop_and_resize(x, boxes, [0, 1, 1], size, method)
            results += tf.gradients(y * y, [x, boxes])
    return run(tf, results)


def suppressed(tf):
    boxes, scores = _boxes(30), np.random.RandomState(2).rand(30).astype(np.float32)
    image = tf.image
    results = [image.non_max_suppression(boxes, scores, n, t) for n in (3, 30) for t in (0.0, 0.2, 0.5, 1.0)]
    results += [image.non_max_suppression(boxes, scores, 30, 0.3, 0.45), image.non_max_suppression(boxes[:, [2, 3, 0, 1]], scores, 30, 0.3)]
    results += [image.non_max_suppression_padded(boxes, scores, 12, 0.1, pad_to_max_output_size=p) for p in (False, True)]
    results += [image.non_max_suppression_with_scores(boxes, scores, 30, 0.3, 0.2, soft_nms_sigma=s) for s in (0.0, 0.5)]
    results.append(image.non_max_suppression_overlaps(np.maximum(np.eye(8), (_image(8, 8) + _image(8, 8).T) / 2).astype(np.float32), scores[:8], 8, 0.5, 0.1))
    results.append(tf.raw_ops.NonMaxSuppression(boxes=boxes, scores=scores, max_output_size=9, iou_threshold=0.4))
    results.append(tf.raw_ops.NonMaxSuppressionV2(boxes=boxes, scores=scores, max_output_size=9, iou_threshold=0.4))
    return run(tf, results)


def static_shapes(tf):
    boxes, scores = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None])
    image = tf.image
    padded = image.non_max_suppression_padded(boxes, scores, 7, pad_to_max_output_size=True)
    return static(image.non_max_suppression(boxes, scores, 7), *padded, image.crop_and_resize(tf.zeros([1, 4, 4, 3]), boxes, tf.zeros([5], tf.int32), [2, 3]))


def patches(tf):
    x = _image(2, 7, 8, 3)
    cut = tf.extract_image_patches
    results = [cut(x, [1, 2, 3, 1], [1, s, s, 1], [1, r, r, 1], padding) for s in (1, 2) for r in (1, 2) for padding in ("SAME", "VALID")]
    results += [tf.image.extract_image_patches((x * 9).astype(np.int32), [1, 2, 2, 1], [1, 3, 3, 1], [1, 1, 1, 1], "SAME"), tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")]
    return static(*results), run(tf, results)


def gradients_of_patches(tf):
    x = tf.constant(_image(2, 5, 6, 2))
    results = []
    for s, r, padding in ((1, 1, "SAME"), (2, 1, "VALID"), (1, 2, "SAME")):
        y = tf.extract_image_patches(x, [1, 2, 3, 1], [1, s, s, 1], [1, r, r, 1], padding)
        results.append(tf.gradients(y * y, x)[0])
    return run(tf, results)


def refused(tf):
    image, one = tf.image, np.float32([[0.0, 0.0, 1.0, 1.0]])

    def part(**options):
        return image.sample_distorted_bounding_box([50, 60, 3], OBJECTS, 1, 2, **options)[0]

    return mistakes(
        tf,
        no_box=lambda: image.sample_distorted_bounding_box([50, 60, 3], np.zeros([0, 0, 4], np.float32), 1, 2)[0],
        beyond=lambda: image.sample_distorted_bounding_box([50, 60, 3], OBJECTS * 2, 1, 2)[0],
        size=lambda: image.sample_distorted_bounding_box([50, 60], OBJECTS)[0],
        rank=lambda: image.sample_distorted_bounding_box([50, 60, 3], one)[0],
        ratio=lambda: part(aspect_ratio_range=[-1.0, 2.0]),
        area=lambda: part(area_range=[0.5, 2.0]),
        attempts=lambda: part(max_attempts=0),
        covered=lambda: part(min_object_covered=-0.5),
        sides=lambda: image.non_max_suppression(one[:, :3], [0.5], 3),
        scores=lambda: image.non_max_suppression(one, [0.5, 0.4], 3),
        threshold=lambda: image.non_max_suppression(one, [0.5], 3, 1.5),
        overlaps=lambda: image.non_max_suppression_overlaps([[1.0, 0.5]], [0.5], 3),
        image_of_a_box=lambda: image.crop_and_resize(tf.zeros([1, 3, 3, 1]), one, [1], [2, 2]),
        images_of_boxes=lambda: image.crop_and_resize(tf.zeros([1, 3, 3, 1]), one, [0, 0], [2, 2]),
        crop_size=lambda: image.crop_and_resize(tf.zeros([1, 3, 3, 1]), one, [0], [0, 2]),
        depth=lambda: image.draw_bounding_boxes(tf.zeros([1, 3, 3, 2]), one[None]),
        batches=lambda: image.draw_bounding_boxes(tf.zeros([2, 3, 3, 3]), one[None]),
        colours=lambda: image.draw_bounding_boxes(tf.zeros([1, 3, 3, 3]), one[None], colors=[[1.0]]),
        batch_patches=lambda: tf.extract_image_patches(tf.zeros([1, 3, 3, 2]), [2, 1, 1, 1], [1] * 4, [1] * 4, "VALID"),
    )
