"""Signals, matrices and rows whose lengths only the run knows, and dtypes beside the usual ones."""

import numpy as np

from programs.raised import caught


def later(tf, x, dtype=None):
    """A tensor of which nothing is known before the run."""
    return tf.placeholder_with_default(tf.constant(x, dtype), None)


def waves(*shape):
    """Numbers between -1 and 1."""
    return np.sin(np.arange(1, 1 + np.prod(shape)) * 1.7).reshape(shape).astype(np.float32)


def signals_of_unknown_lengths(tf):
    x, z = later(tf, waves(2, 20)), later(tf, (waves(3, 5) * (1 + 2j)).astype(np.complex64))
    made = [
        tf.signal.frame(x, 6, 4),
        tf.signal.frame(x, 6, 4, pad_end=True, pad_value=9.0),
        tf.signal.frame(x, 1, 1, axis=-2),
        tf.signal.stft(x, 8, 4),
        tf.signal.inverse_stft(z, 8, 4),
        tf.signal.mfccs_from_log_mel_spectrograms(x),
    ]
    made += [tf.signal.dct(x, type=t, norm=n) for t, n in ((1, None), (2, None), (2, "ortho"), (3, None), (3, "ortho"))]
    made += [tf.signal.idct(x), tf.signal.idct(x, norm="ortho")]
    made.append(tf.signal.dct(tf.placeholder_with_default(waves(2, 6), [None, None])))
    with tf.Session() as sess:
        return [(str(t.shape), v) for t, v in zip(made, sess.run(made))]


def gradient_of_frames(tf):
    x = tf.constant(waves(9))
    with tf.Session() as sess:
        return sess.run(tf.gradients(tf.reduce_sum(tf.square(tf.signal.frame(x, 4, 2))), x))


def means_of_integers(tf):
    x, ids = tf.constant([[1, 2], [4, 5], [6, 7]]), [2, 0, 2]
    made = [tf.unsorted_segment_mean(x, ids, 4), tf.math.reduce_variance(x, 0), tf.math.reduce_variance(tf.constant([1 + 2j, 3 - 1j]))]
    with tf.Session() as sess:
        return [(t.dtype.name, str(t.shape), v) for t, v in zip(made, sess.run(made))] + [caught(lambda: tf.unsorted_segment_sqrt_n(x, ids, 4))]


def normalized_doubles(tf):
    x = tf.constant(waves(2, 3).astype(np.float64))
    made = [tf.nn.batch_normalization(x, 0.5, 2.0, None, None, 1e-3), tf.nn.batch_normalization(x, 0.5, 2.0, 1.5, 0.25, 1e-3)]
    with tf.Session() as sess:
        return sess.run(made)


def repeated_rows_of_unknown_rank(tf):
    x = later(tf, [[1, 2], [3, 4]])
    made = [tf.repeat(x, 2, axis=0), tf.imag(tf.constant([1.5], tf.float16))]
    with tf.Session() as sess:
        return [str(made[0].shape), sess.run(made[0]), sess.run(tf.cast(made[1], tf.float32))]


def least_squares_of_unknown_shapes(tf):
    made = [tf.linalg.lstsq(later(tf, waves(n, 3)), later(tf, waves(n, 2)), l2_regularizer=0.1) for n in (2, 4)]
    with tf.Session() as sess:
        return [str(t.shape) for t in made] + sess.run(made) + sess.run(tf.gradients(made[0], tf.get_default_graph().get_tensor_by_name("Const:0")))
