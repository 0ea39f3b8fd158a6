"""Matrices: diagonals, einsum, norms, linear systems."""

import numpy as np

from programs.tools import WHOLE, caught, run, static

A = np.arange(6.0).reshape(2, 3).astype(np.float32)
B = np.arange(12.0).reshape(3, 4).astype(np.float32)
C = np.arange(24.0).reshape(2, 3, 4).astype(np.float32)


def _einsum(tf, equation, *arrays):
    return tf.einsum(equation, *[tf.constant(a) for a in arrays])


def einsum_of_two(tf):
    ones = np.ones
    cases = [
        ("ij,jk->ik", A, B),
        ("ij,jk", A, B),
        ("ij,jk->ki", A, B),
        ("ij,ij->ij", A, A),
        ("ij,ij->", A, A),
        ("bij,bj->bi", C, ones((2, 4), np.float32)),
        ("i,j->ij", A[0], A[1]),
        ("i,i->", A[0], A[1]),
        ("ij,k->ijk", A, A[0]),
        ("abc,dc->abd", C, ones((5, 4), np.float32)),
        ("abc,acd->abd", C, ones((2, 4, 2), np.float32)),
        ("...ij,jk->...ik", C, ones((4, 2), np.float32)),
        ("i j, j k -> i k", A, B),
    ]
    made = [_einsum(tf, *case) for case in cases]
    return static(*made), run(tf, made)


def einsum_of_one_and_of_three(tf):
    square = A[:, :2]
    made = [
        _einsum(tf, "ij->ji", A),
        _einsum(tf, "ij->", A),
        _einsum(tf, "ij->i", A),
        _einsum(tf, "ijk->kj", C),
        _einsum(tf, "ii", square),
        _einsum(tf, "ij,jk,kl->il", A, B, np.ones((4, 2), np.float32)),
        _einsum(tf, "i,ij,j->", A[:, 0], A, A[0]),
    ]
    return static(*made), run(tf, made)


def einsum_of_unknown_sizes(tf):
    x, y = tf.placeholder(tf.float32, [None, None, 3]), tf.placeholder(tf.float32, [3, None])
    z = tf.einsum("bti,ij->btj", x, y)
    return str(z.shape), run(tf, z, {x: A.reshape(1, 2, 3), y: B})


def einsum_misused(tf):
    return (
        caught(lambda: _einsum(tf, "ij,jk->im", A, B), "Invalid equation: ij,jk->im"),
        caught(lambda: _einsum(tf, "ij", A, B), 'Got 2 arguments for equation "ij", expecting 1'),
        caught(lambda: _einsum(tf, "ij;jk", A, B), "Indices have incorrect format: ij;jk"),
        caught(lambda: _einsum(tf, "ii->i", A[:, :2]), "Subscript not supported: an axis appears more than once: ii"),
    )


def einsum_gradients(tf):
    a, b = tf.constant(A), tf.constant(B)
    return run(tf, tf.gradients(tf.einsum("ij,jk->ik", a, b) ** 2, [a, b]))


def diagonals(tf):
    m = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    made = [tf.matrix_diag([[1, 2], [3, 4]]), tf.matrix_diag_part(m), tf.matrix_set_diag(m, [8.0, 9.0]), tf.trace(m), tf.trace(tf.stack([m, m * 2])), tf.linalg.diag([5.0]), tf.linalg.trace(m)]
    return [t.name for t in made], run(tf, made)


def norms(tf):
    m = [[3.0, -4.0], [1.0, 2.0]]
    return (
        run(
            tf,
            [
                tf.norm(m),
                tf.norm(m, ord="fro", axis=[-2, -1]),
                tf.norm(m, ord=1, axis=[0, 1]),
                tf.norm(m, ord=np.inf, axis=(0, 1)),
                tf.norm(m, ord=1, axis=[0, 1], keepdims=True),
                tf.norm([3.0, 4.0], ord=3),
                tf.norm(m, axis=1, keepdims=True),
                tf.norm(m, ord=np.inf, axis=0),
                tf.linalg.normalize([3.0, 4.0]),
            ],
        ),
        caught(lambda: tf.norm(m, ord="x"), "'ord' must be a supported vector norm, got x"),
        caught(lambda: tf.norm(m, axis=[0, 0]), "'axis' must be None, an integer, or a tuple of 2 unique integers"),
        caught(lambda: tf.norm(m, ord=3, axis=[0, 1]), "'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got 3"),
    )


def systems(tf):
    spd = tf.constant([[4.0, 1.0], [1.0, 3.0]], tf.float64)
    tall, wide = tf.constant([[4.0, 1.0], [1.0, 3.0], [2.0, 2.0]], tf.float64), tf.constant([[4.0, 1.0, 2.0], [1.0, 3.0, 2.0]], tf.float64)
    two, three = tf.constant([[1.0], [2.0]], tf.float64), tf.constant([[1.0], [2.0], [3.0]], tf.float64)
    return run(
        tf,
        [
            tf.cholesky_solve(tf.cholesky(spd), two),
            tf.matrix_solve_ls(tall, three),
            tf.matrix_solve_ls(tall, three, l2_regularizer=0.1),
            tf.matrix_solve_ls(wide, two),
            tf.linalg.logdet(spd),
            tf.linalg.slogdet(spd),
            tf.linalg.expm(tf.constant([[0.1, 0.2], [0.3, 0.4]], tf.float64)),
            tf.linalg.expm(tf.constant([[[10.0, 2.0], [3.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]], tf.float64)),
        ],
    )


def of_linalg(tf):
    c = tf.constant([[1 + 2j, 3], [4, 5j]], tf.complex64)
    diagonals = tf.constant([[1.0, 2.0, 0.0], [3.0, 4.0, 5.0], [0.0, 6.0, 7.0]])
    return run(
        tf,
        [
            tf.linalg.adjoint(c),
            tf.linalg.matvec(A, [1.0, 2.0, 3.0]),
            tf.linalg.matvec(A, [1.0, 2.0], transpose_a=True),
            tf.linalg.transpose(A),
            tf.linalg.tridiagonal_matmul(diagonals, [[1.0], [2.0], [3.0]]),
            tf.linalg.l2_normalize([3.0, 4.0]),
        ],
    )


def other_dtypes(tf):
    """Neither side of a product is converted to the dtype of the other."""
    a, b = tf.constant([[1.0, 2.0]]), np.ones((2, 2))
    return [
        caught(lambda: tf.matmul(a, b), WHOLE),
        caught(lambda: tf.matmul(b, np.float32(b)), WHOLE),
        caught(lambda: tf.matmul(a, [[1], [2]]), WHOLE),
        run(tf, tf.matmul(a, [[1.0], [2.0]])),
        run(tf, tf.transpose(a @ np.float32(b))),
    ]
