"""`tf.linalg`: `pinv`, `matrix_rank` and `tridiagonal_solve`."""

import numpy as np

from programs.tools import late, mistakes, run, static

TALL = np.array([[1, 2], [3, 4], [5, 7]], np.float64)
FLAT = np.array([[[1, 2, 3], [2, 4, 6]], [[1, 0, 2], [0, 3, 1]]], np.float64)
DIAGONALS = np.array([[3, 2, 1, 9, 0], [1, 4, 0, 2, 5], [0, 4, 1, 3, 7]], np.float64)


def pseudo_inverses(tf):
    found = [tf.linalg.pinv(x) for x in (TALL, FLAT, np.zeros([2, 3]), np.eye(3), TALL[:1])]
    return static(*found), [np.round(x, 9) + 0.0 for x in run(tf, found)]


def pseudo_inverse_of_single_precision(tf):
    y = tf.linalg.pinv(tf.constant(TALL, tf.float32), name="inverse")
    return y.name, static(y), np.round(run(tf, y), 4) + 0.0


def pseudo_inverses_with_cutoffs(tf):
    a = np.diag([4.0, 1.0, 0.1])
    found = [tf.linalg.pinv(a, rcond) for rcond in (0.01, 0.1, 0.5, 1.0)]
    found.append(tf.linalg.pinv(np.stack([a, a]), [0.01, 0.5]))
    return [np.round(x, 9) + 0.0 for x in run(tf, found)]


def pseudo_inverses_of_unknown_shape(tf):
    unknown, part = late(tf, TALL), tf.placeholder(tf.float64, [None, 2])
    found = [tf.linalg.pinv(unknown), tf.linalg.pinv(unknown, validate_args=True), tf.linalg.pinv(part)]
    return static(*found), [np.round(x, 9) + 0.0 for x in run(tf, found, {part: TALL})]


def pseudo_inverse_differentiated(tf):
    a = tf.constant(TALL)
    y = tf.reduce_sum(tf.linalg.pinv(a) * tf.constant(np.arange(6.0).reshape(2, 3)))
    return [np.round(g, 7) + 0.0 for g in run(tf, tf.gradients(y, a))]


def ranks(tf):
    found = [tf.linalg.matrix_rank(x) for x in (TALL, FLAT, np.zeros([2, 3]), np.eye(4, dtype=np.float32), np.ones([2, 2, 5, 3], np.float32))]
    found += [tf.linalg.matrix_rank(np.diag([4.0, 1.0, 0.1]), tol) for tol in (0.01, 0.5, 2.0, 5.0)]
    found += [tf.linalg.matrix_rank([[1, 2], [2, 4]])]
    found += [tf.linalg.matrix_rank(late(tf, FLAT), validate_args=True, name="rank")]
    return static(*found), run(tf, found), found[-1].name


def not_matrices(tf):
    return mistakes(
        tf,
        vector=lambda: tf.linalg.pinv([1.0, 2.0]),
        vector_rank=lambda: tf.linalg.matrix_rank([1.0, 2.0]),
        ints=lambda: tf.linalg.pinv([[1, 2]]),
        complex_numbers=lambda: tf.linalg.matrix_rank(tf.eye(2, dtype=tf.complex64)),
    )


def tridiagonal_systems(tf):
    rhs = np.arange(10.0).reshape(5, 2) + 1
    solve = tf.linalg.tridiagonal_solve
    matrix = np.diag(DIAGONALS[1]) + np.diag(DIAGONALS[0, :4], 1) + np.diag(DIAGONALS[2, 1:], -1)
    found = [
        solve(tf.constant(DIAGONALS), tf.constant(rhs)),
        solve(tf.constant(DIAGONALS), tf.constant(rhs[:, 0])),
        solve(tf.constant(DIAGONALS), tf.constant(rhs.T), transpose_rhs=True),
        solve([tf.constant(d) for d in DIAGONALS], tf.constant(rhs), diagonals_format="sequence"),
        solve([tf.constant(d) for d in (DIAGONALS[0, :4], DIAGONALS[1], DIAGONALS[2, 1:])], tf.constant(rhs), "sequence"),
        solve(tf.constant(matrix), tf.constant(rhs), "matrix"),
        solve(tf.constant(DIAGONALS[:, :2]), tf.constant(rhs[:2])),
        solve(tf.constant(DIAGONALS[:, 4:]), tf.constant(rhs[4:])),
    ]
    return static(*found), [np.round(x, 9) + 0.0 for x in run(tf, found)]


def tridiagonal_batches(tf):
    diagonals = np.stack([DIAGONALS, DIAGONALS[:, ::-1] + [[0], [9], [0]]])
    rhs = np.arange(20.0).reshape(2, 5, 2) % 7
    numbers = diagonals + 1j * diagonals[::-1]
    found = [
        tf.linalg.tridiagonal_solve(tf.constant(diagonals), tf.constant(rhs)),
        tf.linalg.tridiagonal_solve(tf.constant(diagonals[1:]), tf.constant(rhs[1:]), partial_pivoting=False),
        tf.linalg.tridiagonal_solve(tf.constant(numbers), tf.constant(rhs + 1j), conjugate_rhs=True),
    ]
    return static(*found), [np.round(x, 8) + 0.0 for x in run(tf, found)]


def tridiagonal_systems_differentiated(tf):
    diagonals, rhs = tf.constant(DIAGONALS), tf.constant(np.arange(10.0).reshape(5, 2) % 4)
    x = tf.linalg.tridiagonal_solve(diagonals, rhs)
    gradients = tf.gradients(tf.reduce_sum(x * x), [diagonals, rhs])
    return [np.round(g, 7) + 0.0 for g in run(tf, gradients)]


def not_tridiagonal(tf):
    solve = tf.linalg.tridiagonal_solve
    diagonals, rhs = tf.constant(DIAGONALS), tf.constant(np.ones([5, 1]))
    rows = [tf.constant(d) for d in DIAGONALS]
    return mistakes(
        tf,
        other_format=lambda: solve(diagonals, rhs, "full"),
        two_of_three=lambda: solve(rows[:2], rhs, "sequence"),
        short=lambda: solve([rows[0][:2], rows[1], rows[2]], rhs, "sequence"),
        not_square=lambda: solve(tf.zeros([2, 3]), tf.zeros([2, 1]), "matrix"),
        vector=lambda: solve(rows[0], rhs),
        rank=lambda: solve(diagonals, tf.zeros([5, 1, 1, 1], tf.float64)),
        four=lambda: solve(tf.zeros([4, 5], tf.float64), rhs),
        batches=lambda: solve(tf.zeros([2, 3, 5], tf.float64), tf.zeros([3, 5, 1], tf.float64)),
        rows=lambda: solve(diagonals, tf.ones([4, 1], tf.float64)),
    )
