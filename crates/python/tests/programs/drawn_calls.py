"""Calls with arguments drawn at random that once answered otherwise than TensorFlow does."""

import numpy as np

from programs.raised import WHOLE, caught


def _run(tf, *fetches):
    with tf.Session() as sess:
        return [sess.run(fetch) for fetch in fetches]


def functions_of_sparse_values(tf):
    """Functions that keep zeros work on the values of a sparse tensor."""
    x = tf.SparseTensor([[0, 1], [1, 0]], [-2.25, 4.0], [2, 2])
    made = [f(x) for f in (tf.negative, tf.sign, tf.square, tf.sqrt, tf.erf, tf.tanh, tf.abs)]
    return _run(tf, *made), [value.values.op.type for value in made], [value.shape.as_list() for value in made]


def phase_of_real_numbers(tf):
    """Real numbers have the phase zero, negative ones too."""
    x = tf.constant([-1.0, 2.0])
    return _run(tf, tf.angle(x), tf.angle(tf.constant([-3, 3], tf.int16)), tf.imag(x, name="none")), tf.imag(x).name


def numbers_where_strings_are_asked_for(tf):
    """An array of numbers is not taken for strings."""
    return [
        caught(lambda: tf.constant(np.array([1, 2]), tf.string), WHOLE),
        caught(lambda: tf.constant(np.array([1, 2]), tf.string, shape=[2]), WHOLE),
        caught(lambda: tf.convert_to_tensor(np.float32(2.5), tf.string), WHOLE),
        caught(lambda: tf.constant(np.array([True]), tf.string), WHOLE),
    ]


def masks_of_lengths_of_unknown_rank(tf):
    """The longest sequence is found over all axes, also when their number is not known."""
    x = tf.placeholder(tf.int32)
    y = tf.sequence_mask(x, dtype=tf.int32)
    with tf.Session() as sess:
        return sess.run(y, {x: [[1, 2], [3, 0]]}), sess.run(y, {x: 2}), sess.run(y, {x: [2, 1]})


def names_of_a_quotient_and_a_softmax(tf):
    """The name that is given is the name of the result."""
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    made = [tf.divide(x, x, name="q"), tf.nn.softmax(x, 0, name="s"), tf.nn.log_softmax(x, axis=0, name="l"), tf.nn.softmax(x, 0)]
    return [value.name for value in made], _run(tf, *made)


def images_of_the_right_size_with_a_border(tf):
    """Integers become floats, also if no image changes its size."""
    x = tf.constant(np.arange(24).reshape(2, 4, 3), tf.uint8)
    y, z = tf.image.resize_image_with_pad(x, 2, 6), tf.image.resize_image_with_pad(x, 4, 4, method=1)
    return y.dtype.name, z.dtype.name, y.shape.as_list(), _run(tf, y, z)


def identity_matrices(tf):
    """Square matrices are made of a diagonal, others are zeros with a diagonal, as in TensorFlow."""
    n = tf.placeholder_with_default(2, [])
    made = [tf.eye(2), tf.eye(2, 3, dtype=tf.int32), tf.eye(3, 2, [2], tf.bool), tf.eye(n), tf.eye(n, 3, batch_shape=[1])]
    made += [tf.eye(2, batch_shape=tf.constant([2, 1])), tf.eye(0), tf.eye(2, batch_shape=[], dtype=tf.complex64)]
    return [(value.name, value.op.type, value.shape.as_list()) for value in made], _run(tf, *made)
