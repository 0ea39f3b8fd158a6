"""`tf.contrib`: splines, divisive normalization, scaled gradients, orthogonal kernels and others."""

import numpy as np

from programs.tools import WHOLE, caught


def _run(tf, value, digits=4):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return [np.round(v, digits) for v in sess.run(value)]


def splines(tf):
    points = np.array([[[0.0, 0.0], [1.0, 0.5], [2.0, 1.0], [0.5, 2.0], [1.5, 0.0]]], np.float32)
    values = np.array([[[0.0, 1.0], [1.0, 0.0], [4.0, 2.0], [2.0, 2.0], [1.0, -1.0]]], np.float32)
    asked = np.array([[[0.0, 0.0], [0.5, 0.75], [1.7, 1.1]]], np.float32)
    with tf.Graph().as_default():
        found = []
        for order, weight in ((1, 0.0), (2, 0.0), (2, 0.1), (3, 0.0), (4, 0.0), (5, 0.0), (6, 0.0)):
            x = tf.constant(values)
            y = tf.contrib.image.interpolate_spline(points, x, asked, order, weight)
            found += [y, tf.gradients(y, x)[0]]
        unknown = tf.placeholder(tf.float32, [1, 5, None])
        refused = [caught(lambda: tf.contrib.image.interpolate_spline(*given, order=1), WHOLE) for given in ((unknown, values, asked), (points, unknown, asked))]
        return _run(tf, found), refused


def warps(tf):
    image = np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2)
    sources = np.array([[[1.0, 1.0], [2.0, 2.0], [0.0, 3.0], [3.0, 0.0]]], np.float32)
    places = np.array([[[1.5, 1.0], [2.0, 2.5], [0.5, 2.0], [2.5, 0.5]]], np.float32)
    with tf.Graph().as_default():
        found = []
        for order, weight, still in ((2, 0.0, 0), (1, 0.0, 1), (2, 0.05, 2), (3, 0.0, 3)):
            found += tf.contrib.image.sparse_image_warp(image, sources, places, order, weight, still)
        return _run(tf, found, 2)


def divided(tf):
    layers = tf.contrib.layers
    found = []
    for shape, form, inverse in (([2, 3, 2], "channels_last", False), ([1, 2, 2, 3], "channels_last", True), ([1, 2, 1, 2, 2], "channels_last", False)):
        with tf.Graph().as_default():
            x = tf.constant(np.linspace(-1.0, 2.0, np.prod(shape)).reshape(shape), tf.float32)
            y = layers.gdn(x, inverse, gamma_init=0.5, data_format=form, name="n")
            variables = tf.trainable_variables()
            found.append((_run(tf, [y, *variables, *tf.gradients(y, [x, *variables])]), [v.name for v in variables]))
    with tf.Graph().as_default():
        x = tf.ones([1, 2, 2, 3])
        layers.gdn(x, name="n")
        layers.gdn(x, name="n", reuse=True)
        found.append([v.name for v in tf.global_variables()])
        found.append(caught(lambda: layers.GDN(data_format="NHWC"), WHOLE))
        found.append(caught(lambda: layers.gdn(tf.placeholder(tf.float32, [1, 2, None])), WHOLE))
    return found


def scaled_gradients(tf):
    with tf.Graph().as_default():
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        y = tf.contrib.layers.scale_gradient(x, tf.constant([[0.5, 2.0], [1.0, 0.0]]))
        return _run(tf, [y, tf.gradients(y * y, x)[0]]), y.shape.as_list()


def columns_of_images(tf):
    layers = tf.contrib.layers
    with tf.Graph().as_default():
        x = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 2, 3, 2))
        sequence, other = layers.images_to_sequence(x), layers.images_to_sequence(tf.transpose(x, [0, 3, 1, 2]), "NCHW", "c")
        back = [layers.sequence_to_images(sequence, 2), layers.sequence_to_images(sequence, 2, "channels_first", "c")]
        shapes = [t.shape.as_list() for t in (sequence, other, *back)]
        refused = caught(lambda: layers.images_to_sequence(x, "NHCW"), WHOLE)
        return _run(tf, [sequence, other, *back]), shapes, refused, len(tf.get_collection("c"))


def orthogonal_kernels(tf):
    f = tf.contrib.framework
    kinds = ((f.convolutional_orthogonal_1d, 1), (f.convolutional_orthogonal_2d, 2), (f.convolutional_orthogonal_3d, 3))
    found = []
    for make, axes in kinds:
        for size in (1, 2, 3):
            with tf.Graph().as_default(), tf.Session() as sess:
                kernel = make(gain=2.0, seed=3)([size] * axes + [2, 3])
                value = sess.run(kernel)
                # The rows of a kernel that keeps norms are orthogonal.
                rows = np.moveaxis(value, -2, 0).reshape(2, -1)
                found.append((kernel.shape.as_list(), np.round(rows.dot(rows.T), 3) + 0.0, np.round(value, 3) + 0.0))
    for shape in ([3, 2, 3], [4, 3, 1, 1], [2, 3, 3, 2, 2]):
        with tf.Graph().as_default(), tf.Session() as sess:
            value = sess.run(f.convolutional_delta_orthogonal(gain=2.0, seed=1)(shape))
            found.append([np.round(value, 3) + 0.0, f.convolutional_delta_orthogonal(seed=1).get_config()])
    with tf.Graph().as_default():
        for make, shape in (
            (f.convolutional_orthogonal_1d, [3, 2, 2, 2]),
            (f.convolutional_orthogonal_2d, [3, 2, 2]),
            (f.convolutional_orthogonal_2d, [3, 3, 4, 2]),
            (f.convolutional_orthogonal_2d, [3, 2, 2, 4]),
            (f.convolutional_orthogonal_3d, [3, 2, 2]),
            (f.convolutional_delta_orthogonal, [3, 2]),
            (f.convolutional_delta_orthogonal, [3, 4, 2]),
        ):
            found.append(caught(lambda: make()(shape), WHOLE))
        found.append(caught(lambda: f.convolutional_orthogonal_1d(dtype=tf.int32), WHOLE))
    return found


def concatenated_runs(tf):
    found = []
    for axis, limit in ((0, None), (1, None), (-1, 5), (0, 3)):
        with tf.Graph().as_default(), tf.Session() as sess:
            fed = tf.placeholder(tf.float32, [None, 2] if axis == 0 else [2, None])
            value, update = tf.contrib.metrics.streaming_concat(fed, axis, limit, metrics_collections=["m"], name="c")
            sess.run(tf.local_variables_initializer())
            for n in (2, 1, 3, 4):
                batch = np.arange(n * 2, dtype=np.float32).reshape((n, 2) if axis == 0 else (2, n)) + n
                found += [sess.run(update, {fed: batch}), sess.run(value)]
            found.append((value.shape.as_list(), [v.name for v in tf.local_variables()], len(tf.get_collection("m"))))
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, None])
        found += [caught(lambda: tf.contrib.metrics.streaming_concat(x, axis), WHOLE) for axis in (0, 2)]
        found.append(caught(lambda: tf.contrib.metrics.streaming_concat(tf.placeholder(tf.float32)), WHOLE))
    return found


def equal_thresholds(tf):
    found = []
    for weights in (None, [[1.0], [2.0], [0.5]]):
        with tf.Graph().as_default(), tf.Session() as sess:
            labels = tf.constant([[True, False], [True, True], [False, False]])
            predictions = tf.constant([[0.9, 0.1], [0.5, 1.0], [0.0, 0.75]])
            weights = weights if weights is None else tf.constant(weights)
            data, update = tf.contrib.metrics.precision_recall_at_equal_thresholds(labels, predictions, weights, 5)
            sess.run(tf.local_variables_initializer())
            sess.run(update)
            sess.run(update)
            found.append({k: np.round(v, 4) for k, v in sess.run(data)._asdict().items()})
            found.append([v.name for v in tf.local_variables()])
    return found
