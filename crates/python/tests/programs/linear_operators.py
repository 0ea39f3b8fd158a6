"""`tf.linalg.LinearOperator`: what operators do, in dense, diagonal, triangular and scaled form."""

import numpy as np

from programs.raised import WHOLE, caught
from programs.tools import run, static


def _matrix(*shape):
    return (np.sin(np.arange(int(np.prod(shape))) * 1.7) + 0.5).reshape(shape).astype(np.float32)


def _answers(tf, operator, square=True):
    n = operator.domain_dimension.value
    x, y = _matrix(n, 2), _matrix(2, n)
    batch = operator.batch_shape.as_list()
    x, y, v = (np.broadcast_to(z, batch + list(z.shape)).copy() for z in (x, y, _matrix(n)))
    made = [operator.matmul(x), operator.matmul(x, adjoint=square), operator.matmul(y, adjoint_arg=True), operator.matvec(v), operator.to_dense(), operator.diag_part(), operator.trace()]
    if square:
        made += [operator.solve(x), operator.solve(x, adjoint=True), operator.solve(y, adjoint_arg=True), operator.solvevec(v), operator.determinant(), operator.log_abs_determinant(), operator.add_to_tensor(np.ones(operator.shape.as_list(), np.float32))]
    sizes = [operator.shape_tensor(), operator.batch_shape_tensor(), operator.domain_dimension_tensor(), operator.range_dimension_tensor(), operator.tensor_rank_tensor()]
    hints = operator.is_square, operator.is_self_adjoint, operator.is_non_singular, operator.is_positive_definite
    known = operator.name, operator.dtype.name, str(operator.shape), str(operator.batch_shape), operator.tensor_rank, str(operator.range_dimension), len(operator.graph_parents)
    return known, hints, static(*made), [np.asarray(np.round(v, 4) + 0, np.float32) for v in run(tf, made)], run(tf, sizes)


def full_ones(tf):
    make = tf.linalg.LinearOperatorFullMatrix
    return _answers(tf, make(_matrix(3, 3) + 2 * np.eye(3, dtype=np.float32))), _answers(tf, make(_matrix(2, 3, 3) + 2 * np.eye(3, dtype=np.float32), is_non_singular=True, name="m")), _answers(tf, make(_matrix(2, 3)), False)


def diagonal_ones(tf):
    make = tf.linalg.LinearOperatorDiag
    return _answers(tf, make(_matrix(3))), _answers(tf, make(_matrix(2, 3), is_positive_definite=True))


def triangular_ones(tf):
    make = tf.linalg.LinearOperatorLowerTriangular
    return _answers(tf, make(_matrix(3, 3))), _answers(tf, make(_matrix(2, 3, 3), is_non_singular=True))


def identities(tf):
    return (
        _answers(tf, tf.linalg.LinearOperatorScaledIdentity(3, 2.5)),
        _answers(tf, tf.linalg.LinearOperatorScaledIdentity(3, _matrix(2), is_positive_definite=True)),
        _answers(tf, tf.linalg.LinearOperatorIdentity(3)),
    )


def their_mistakes(tf):
    linalg = tf.linalg
    return [
        caught(lambda: linalg.LinearOperatorFullMatrix([1.0]), "must have at least 2 dimensions"),
        caught(lambda: linalg.LinearOperatorDiag([1.0], is_self_adjoint=False), WHOLE),
        caught(lambda: linalg.LinearOperatorDiag([1.0], is_square=False), WHOLE),
        caught(lambda: linalg.LinearOperatorFullMatrix([[1.0]], is_positive_definite=True, is_non_singular=False), WHOLE),
        caught(lambda: linalg.LinearOperatorFullMatrix([[1.0]], is_non_singular=True, is_square=False), WHOLE),
        caught(lambda: linalg.LinearOperatorIdentity(2, is_self_adjoint=False), WHOLE),
        caught(lambda: linalg.LinearOperatorScaledIdentity(2, 1.0, is_square=False), WHOLE),
        caught(lambda: linalg.LinearOperatorDiag([1.0]).matmul(np.ones([1, 1])), "Expected argument to have dtype"),
        caught(lambda: linalg.LinearOperatorDiag([1.0, 2.0]).matmul(np.ones([3, 1], np.float32)), "are not compatible"),
        caught(lambda: linalg.LinearOperatorFullMatrix(_matrix(2, 3)).solve(np.ones([2, 1], np.float32)), WHOLE),
        caught(lambda: linalg.LinearOperatorFullMatrix(_matrix(2, 3)).determinant(), WHOLE),
        caught(lambda: run(tf, linalg.LinearOperatorDiag([1.0, 0.0]).assert_non_singular()), "Singular operator:  Diagonal contained zero values."),
    ]
