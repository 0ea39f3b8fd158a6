"""`tf.signal`: frames, windows, short-time transforms, mel scales, cosine transforms."""

import numpy as np

from programs.raised import WHOLE, caught

X = np.random.RandomState(5).normal(size=(2, 37)).astype(np.float32)


def _run(tf, *fetches):
    with tf.Session() as sess:
        return sess.run(list(fetches))


def frames(tf):
    frame, x = tf.signal.frame, tf.range(10)
    made = [frame(x, 4, 3), frame(x, 4, 3, pad_end=True, pad_value=-1), frame(tf.reshape(x, [2, 5]), 2, 2), frame(tf.reshape(x, [5, 2]), 2, 2, axis=0), frame(x, 11, 1), frame(tf.constant(X), 8, 5, pad_end=True)]
    fed = tf.placeholder(tf.float32, [None, None])
    with tf.Session() as sess:
        return sess.run(made), [t.shape for t in made], sess.run(frame(fed, 6, 4), {fed: X}), sess.run(frame(fed, 6, 4, pad_end=True), {fed: X})


def frames_added(tf):
    add = tf.signal.overlap_and_add
    rows = tf.reshape(tf.range(24.0), [2, 3, 4])
    made = [add(rows, n) for n in (1, 2, 3, 4, 5)]
    return _run(tf, *made), [t.shape for t in made], _run(tf, tf.gradients(made[1] * made[1], rows))


def windows(tf):
    s = tf.signal
    made = [f(n, periodic=p) for f in (s.hann_window, s.hamming_window) for n in (1, 2, 5, 8) for p in (True, False)]
    inverse = [s.inverse_stft_window_fn(2)(5, tf.float32), s.inverse_stft_window_fn(3, s.hamming_window)(8, tf.float32)]
    n = tf.placeholder(tf.int32, [])
    with tf.Session() as sess:
        return [np.round(a + 1.0, 5) for a in sess.run(made + inverse)], sess.run(s.hann_window(n), {n: 6}) + 1, made[3].shape, s.hann_window(3, dtype=tf.float64).dtype


def spectra(tf):
    s = tf.signal
    made = [s.stft(X, 8, 4), s.stft(X, 6, 3, fft_length=7), s.stft(X, 8, 4, window_fn=None, pad_end=True), s.stft(X, 16, 8, fft_length=8)]
    values = [np.round(np.stack([a.real, a.imag]), 3) + 8.0 for a in _run(tf, *made)]
    return values, [t.shape for t in made], [t.dtype for t in made]


def there_and_back(tf):
    s = tf.signal
    back = s.inverse_stft(s.stft(X, 8, 4), 8, 4, window_fn=s.inverse_stft_window_fn(4))
    other = s.inverse_stft(s.stft(X, 10, 5, fft_length=16), 10, 5, fft_length=16)
    values = _run(tf, back, other)
    return [np.round(v, 3) + 8.0 for v in values], [t.shape for t in (back, other)]


def mel_scales(tf):
    s = tf.signal
    made = [s.linear_to_mel_weight_matrix(4, 8, 8000.0, 100.0, 3000.0), s.linear_to_mel_weight_matrix(), s.linear_to_mel_weight_matrix(3, 9, 16000, 0.0, 8000.0, tf.float64)]
    return [np.round(v, 4) + 1.0 for v in _run(tf, *made)], [t.shape for t in made]


def cosine_transforms(tf):
    s = tf.signal
    kinds = [(2, None), (2, "ortho"), (3, None), (3, "ortho"), (1, None)]
    made = [s.dct(X[:, :6], type=t, norm=norm) for t, norm in kinds] + [s.idct(X[:, :6], type=t, norm=norm) for t, norm in kinds]
    made += [s.dct(X[:, :6], n=4), s.dct(X[:, :6], n=9), s.mfccs_from_log_mel_spectrograms(X)]
    return [np.round(v, 3) + 32.0 for v in _run(tf, *made)]


def refusals(tf):
    s = tf.signal
    m = s.linear_to_mel_weight_matrix
    return [
        caught(lambda: s.frame(tf.constant(1), 1, 1), WHOLE),
        caught(lambda: s.frame(tf.range(3), [1], 1), WHOLE),
        caught(lambda: s.overlap_and_add(tf.ones([3]), 1), WHOLE),
        caught(lambda: m(0, 8, 8000.0, 1.0, 2.0), WHOLE),
        caught(lambda: m(4, 8, 8000.0, 100.0, 5000.0), WHOLE),
        caught(lambda: m(4, 8, 8000.0, 200.0, 100.0), WHOLE),
        caught(lambda: m(4, 8, -1.0, 100.0, 200.0), WHOLE),
        caught(lambda: m(4, 8, 8000.0, -1.0, 100.0), WHOLE),
        caught(lambda: s.hann_window(5, dtype=tf.int32), "dtype must be a floating point type"),
        caught(lambda: s.hann_window([5]), WHOLE),
        caught(lambda: s.dct(X, type=7)),
        caught(lambda: s.dct(X, norm="other")),
    ]


def speech_features_for_a_network(tf):
    """Tones become spectra, mel spectra and coefficients; a recurrent network learns which tone it hears."""
    rng = np.random.RandomState(1)
    rate, n = 4000, 400
    time = np.arange(n) / float(rate)
    tones, labels = [], []
    for i in range(12):
        pitch = (300.0, 700.0, 1300.0)[i % 3]
        tones.append(np.sin(2 * np.pi * pitch * time + rng.uniform(0, 6)) * rng.uniform(0.5, 1.5))
        labels.append(i % 3)
    audio = tf.placeholder(tf.float32, [None, n], name="audio")
    target = tf.placeholder(tf.int32, [None], name="target")
    spectrum = tf.abs(tf.signal.stft(audio, frame_length=64, frame_step=32, fft_length=64))
    to_mel = tf.signal.linear_to_mel_weight_matrix(10, spectrum.shape[-1].value, rate, 100.0, 1900.0)
    mel = tf.tensordot(spectrum, to_mel, 1)
    mel.set_shape(spectrum.shape[:-1].concatenate(to_mel.shape[-1:]))
    features = tf.signal.mfccs_from_log_mel_spectrograms(tf.log(mel + 1e-2))[..., :6]
    scale = tf.reduce_max(tf.abs(features), axis=[0, 1], keepdims=True)
    cell = tf.nn.rnn_cell.GRUCell(4, kernel_initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=3))
    _, state = tf.nn.dynamic_rnn(cell, features / scale, dtype=tf.float32)
    logits = tf.layers.dense(state, 3, kernel_initializer=tf.constant_initializer(np.linspace(-1, 1, 12).reshape(4, 3)))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits))
    optimizer = tf.train.GradientDescentOptimizer(0.2)
    grads, variables = zip(*optimizer.compute_gradients(loss))
    clipped, norm = tf.clip_by_global_norm(grads, 1.0)
    train = optimizer.apply_gradients(list(zip(clipped, variables)))
    accuracy, count = tf.metrics.accuracy(target, tf.argmax(logits, 1))
    feeds = {audio: np.array(tones, np.float32), target: np.array(labels, np.int32)}
    losses = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for _ in range(6):
            losses.append([np.round(v, 3) for v in sess.run([loss, norm, train], feeds)[:2]])
        sess.run(count, feeds)
        return losses, sess.run(accuracy), features.shape, sorted(v.name for v in variables)
