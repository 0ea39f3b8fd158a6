"""Singular values, eigenvalues and Fourier transforms, with their gradients."""

import numpy as np

from programs.tools import late, mistakes, run, static


def _matrix(*shape):
    n = int(np.prod(shape))
    return (np.sin(np.arange(n) * 1.3) + np.cos(np.arange(n) ** 2)).reshape(shape)


def _rounded(x, digits=4):
    return np.round(np.asarray(x), digits) + 0


def singular_values(tf):
    found = []
    for shape in ((3, 3), (4, 2), (2, 5), (2, 3, 2)):
        for dtype in (np.float32, np.float64, np.complex64):
            x = _matrix(*shape).astype(dtype)
            s, u, v = tf.svd(x)
            only = tf.svd(x, compute_uv=False)
            again = tf.matmul(u, tf.matmul(tf.matrix_diag(tf.cast(s, dtype)), v, adjoint_b=True))
            unit = tf.matmul(u, u, adjoint_a=True)
            full = tf.svd(x, full_matrices=True)
            values = run(tf, [s, only, again, unit])
            found.append((static(s, u, v, only, *full), [_rounded(v, 3) for v in values], np.allclose(values[2], x, atol=1e-4)))
    return found


def gradients_of_singular_values(tf):
    found = []
    for shape in ((3, 3), (4, 2), (2, 4)):
        x = tf.constant(_matrix(*shape))
        s, u, v = tf.svd(x)
        only = tf.svd(x, compute_uv=False)
        w = tf.constant(_matrix(min(shape), min(shape)))
        # Products of pairs of vectors do not depend on their signs.
        mixed = tf.reduce_sum(tf.matmul(u * tf.reshape(s, [1, -1]), v, transpose_b=True) * _matrix(*shape)) + tf.reduce_sum(tf.square(u) * 0.3) + tf.reduce_sum(tf.square(v[:1]))
        losses = [tf.reduce_sum(s * w[0]), tf.reduce_sum(tf.square(only)), mixed]
        found.append([_rounded(g) for g in run(tf, [tf.gradients(loss, x)[0] for loss in losses])])
    return found


def eigenvalues(tf):
    found = []
    for dtype in (np.float32, np.float64, np.complex64):
        a = _matrix(2, 3, 3).astype(dtype)
        if dtype == np.complex64:
            a = a + 1j * _matrix(2, 3, 3)[:, ::-1]
        a = (a + np.conj(np.swapaxes(a, 1, 2))).astype(dtype)
        e, v = tf.self_adjoint_eig(a)
        only = tf.self_adjoint_eigvals(a)
        same = tf.matmul(a, v) - v * tf.expand_dims(e, 1)
        values = run(tf, [e, only, tf.abs(same)])
        found.append((static(e, v, only), _rounded(values[0], 3), _rounded(values[1], 3), bool((values[2] < 1e-4).all())))
    names = e.name, only.name, [tf.linalg.eigh is tf.self_adjoint_eig, tf.linalg.eigvalsh is tf.self_adjoint_eigvals, tf.linalg.svd is tf.svd]
    return found, names


def gradients_of_eigenvalues(tf):
    x = tf.constant(_matrix(3, 3))
    e, v = tf.self_adjoint_eig(x)
    only = tf.self_adjoint_eigvals(x)
    losses = [tf.reduce_sum(e * [1.0, 2.0, -1.0]), tf.reduce_sum(only * only), tf.reduce_sum(tf.square(v) * _matrix(3, 3))]
    return [_rounded(g) for g in run(tf, [tf.gradients(loss, x)[0] for loss in losses])]


def factors(tf):
    lu, p = tf.linalg.lu(_matrix(2, 3, 3))
    other = tf.linalg.lu(_matrix(2, 2), output_idx_type=tf.int64)
    return static(lu, p, *other), [_rounded(v) for v in run(tf, [lu, p, other[0], other[1]])]


def transforms(tf):
    x = (_matrix(2, 3, 4) + 1j * _matrix(2, 3, 4)[::-1]).astype(np.complex64)
    made = [f(x) for f in (tf.fft, tf.ifft, tf.fft2d, tf.ifft2d, tf.fft3d, tf.ifft3d)] + [tf.signal.fft(x.astype(np.complex128)), tf.spectral.ifft2d(x)]
    return [y.name for y in made], static(*made), [_rounded(v, 3) for v in run(tf, made)]


def transforms_of_real_numbers(tf):
    x = _matrix(2, 4, 5).astype(np.float32)
    y = (_matrix(2, 4, 3) + 1j * _matrix(2, 4, 3)[::-1]).astype(np.complex64)
    made = [f(x) for f in (tf.signal.rfft, tf.signal.rfft2d, tf.signal.rfft3d)] + [f(y) for f in (tf.signal.irfft, tf.signal.irfft2d, tf.signal.irfft3d)]
    made += [tf.signal.rfft(x, [8]), tf.signal.rfft(x, [3]), tf.signal.rfft2d(x, [2, 6]), tf.signal.irfft(y, [5]), tf.signal.irfft(y, [8]), tf.signal.irfft2d(y, [3, 4])]
    made += [tf.spectral.rfft(late(tf, x)), tf.spectral.irfft(tf.placeholder_with_default(y, [None, None, None])), tf.signal.rfft(tf.placeholder_with_default(x, [None, 4, None]), [8])]
    return [t.name for t in made], static(*made), [_rounded(v, 3) for v in run(tf, made)]


def gradients_of_transforms(tf):
    x = tf.constant(_matrix(3, 4).astype(np.float32))
    w = tf.complex(tf.constant(_matrix(3, 4).astype(np.float32)), x)
    found = []
    for f in (tf.fft, tf.ifft, tf.fft2d, tf.ifft2d):
        y = f(tf.complex(x, 0.5 * x))
        found.append(tf.gradients(tf.reduce_sum(tf.real(y * w)), x)[0])
    for f, shape in ((tf.signal.rfft, (3, 3)), (tf.signal.rfft2d, (3, 3))):
        y = f(x)
        weights = tf.complex(tf.constant(_matrix(*shape).astype(np.float32)), tf.ones(shape))
        found.append(tf.gradients(tf.reduce_sum(tf.real(y * weights)), x)[0])
    for f, length in ((tf.signal.irfft, [6]), (tf.signal.irfft, [7]), (tf.signal.irfft2d, [3, 6])):
        z = tf.complex(x, 2 * x)
        y = f(z, length)
        found.append(tf.gradients(tf.reduce_sum(tf.square(y)), x)[0])
    return [_rounded(g, 3) for g in run(tf, found)]


def shifts(tf):
    x = np.arange(12).reshape(3, 4)
    made = [tf.signal.fftshift(x), tf.signal.ifftshift(x), tf.signal.fftshift(x, 1), tf.signal.ifftshift(x, [0]), tf.signal.fftshift(x, (0, 1))]
    return run(tf, made)


def their_mistakes(tf):
    return mistakes(
        tf,
        rank=lambda: tf.svd(tf.ones([2])),
        square=lambda: tf.self_adjoint_eig(tf.ones([2, 3])),
        singular=lambda: tf.linalg.lu(tf.zeros([2, 2])),
        real=lambda: tf.fft(tf.ones([3], tf.complex64), name="f") + tf.signal.rfft(tf.ones([])),
        axes=lambda: tf.fft2d(tf.ones([3], tf.complex64)),
        short=lambda: tf.raw_ops.RFFT(input=tf.ones([3]), fft_length=[4]),
        lengths=lambda: tf.raw_ops.RFFT(input=tf.ones([3]), fft_length=[2, 2]),
    )
