"""`tf.linalg.LinearOperator`: `adjoint`, `inverse` and `cholesky`, and the operators they return."""

import numpy as np

from programs.tools import mistakes, run, static

A = np.array([[4.0, 1.0, 0.0], [2.0, 5.0, 1.0], [0.0, 1.0, 3.0]])
S = A @ A.T
FLAT = np.arange(6.0).reshape(2, 3)
X = np.array([[1.0, 2.0], [0.0, 3.0], [-1.0, 1.0]])


def _operators(tf):
    linalg = tf.linalg
    return [
        linalg.LinearOperatorFullMatrix(A, is_non_singular=True),
        linalg.LinearOperatorLowerTriangular(A, is_non_singular=True),
        linalg.LinearOperatorDiag(np.array([1.0, 4.0, 9.0]), is_non_singular=True, is_positive_definite=True),
        linalg.LinearOperatorScaledIdentity(3, np.float64(4.0), is_non_singular=True, is_positive_definite=True),
        linalg.LinearOperatorIdentity(3, dtype=tf.float64),
    ]


def _told(operator):
    hints = operator.is_non_singular, operator.is_self_adjoint, operator.is_positive_definite, operator.is_square
    return type(operator).__name__, operator.name, str(operator.shape), hints


def _of(tf, operator):
    parts = [operator.to_dense(), operator.matmul(X), operator.determinant(), operator.log_abs_determinant(), operator.diag_part()]
    parts += [operator.matmul(X, adjoint=True), operator.shape_tensor(), operator.trace()]
    return [np.round(value, 9) + 0 for value in run(tf, parts)]


def adjoints(tf):
    return [(_told(one.adjoint()), _told(one.H), _of(tf, one.adjoint()), one.adjoint().adjoint() is one) for one in _operators(tf)]


def inverses(tf):
    found = []
    for one in _operators(tf):
        inverse = one.inverse()
        found.append((_told(inverse), _of(tf, inverse), np.round(run(tf, inverse.solve(X)), 9) + 0.0))
    return found


def adjoints_that_solve(tf):
    return [np.round(run(tf, [one.adjoint().solve(X), one.inverse().adjoint().matmul(X)]), 9) + 0.0 for one in _operators(tf)]


def adjoint_of_a_flat_matrix(tf):
    operator = tf.linalg.LinearOperatorFullMatrix(np.stack([FLAT, FLAT + 1]))
    adjoint = operator.adjoint()
    return _told(adjoint), static(adjoint.to_dense()), run(tf, [adjoint.to_dense(), adjoint.matmul(FLAT[:, :1] + np.zeros([2, 2, 1])), adjoint.shape_tensor()])


def adjoint_of_complex_numbers(tf):
    matrix = tf.linalg.LinearOperatorFullMatrix(A + 1j * np.arange(9.0).reshape(3, 3))
    diagonal = tf.linalg.LinearOperatorDiag(np.array([1 + 2j, 3 - 1j]))
    multiple = tf.linalg.LinearOperatorScaledIdentity(2, np.complex128(2 + 1j))
    found = [[one.adjoint().to_dense(), one.adjoint().diag_part()] for one in (matrix, diagonal, multiple)]
    return [_told(one.adjoint()) for one in (matrix, diagonal, multiple)], [[np.round(v, 9) + 0.0 for v in values] for values in run(tf, found)]


def cholesky_factors(tf):
    hints = dict(is_self_adjoint=True, is_positive_definite=True)
    operators = [
        tf.linalg.LinearOperatorFullMatrix(S, **hints),
        tf.linalg.LinearOperatorDiag(np.array([1.0, 4.0, 9.0]), **hints),
        tf.linalg.LinearOperatorScaledIdentity(3, np.float64(4.0), is_positive_definite=True),
        tf.linalg.LinearOperatorIdentity(3, dtype=tf.float64),
    ]
    return [(_told(one.cholesky()), np.round(run(tf, one.cholesky().to_dense()), 9) + 0.0) for one in operators]


def no_such_operators(tf):
    linalg = tf.linalg
    singular = lambda: linalg.LinearOperatorFullMatrix(A, is_non_singular=False)
    return mistakes(
        tf,
        flat=lambda: linalg.LinearOperatorFullMatrix(FLAT).inverse(),
        singular=lambda: singular().inverse(),
        inversion=lambda: linalg.LinearOperatorInversion(singular()),
        inversion_of_flat=lambda: linalg.LinearOperatorInversion(linalg.LinearOperatorFullMatrix(FLAT)),
        cholesky=lambda: linalg.LinearOperatorFullMatrix(S).cholesky(),
        hint=lambda: linalg.LinearOperatorAdjoint(singular(), is_non_singular=True),
    )
