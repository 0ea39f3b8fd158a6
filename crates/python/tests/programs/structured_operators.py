"""`tf.linalg.LinearOperatorKronecker` and its like: values, static shapes, hints, names, checks, mistakes."""

import numpy as np

from programs.tools import inside, mistakes, run, static

A = np.array([[4.0, 1.0], [2.0, 5.0]])
B = np.array([[3.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 5.0]])
U = np.array([[1.0], [2.0], [-1.0]])
CLOSE = 6


def _full(tf, matrix, **hints):
    return tf.linalg.LinearOperatorFullMatrix(np.asarray(matrix), **hints)


def _told(operator):
    hints = operator.is_non_singular, operator.is_self_adjoint, operator.is_positive_definite, operator.is_square
    return type(operator).__name__, operator.name, str(operator.shape), hints


def _of(tf, operator, solves=True):
    n = operator.domain_dimension.value
    x = np.arange(2.0 * n).reshape(n, 2).astype(operator.dtype.as_numpy_dtype) / 3.0 - 1.0
    parts = [operator.to_dense(), operator.matmul(x), operator.matmul(x.T, adjoint=True, adjoint_arg=True), operator.matvec(x[:, 0])]
    parts += [operator.determinant(), operator.log_abs_determinant(), operator.diag_part(), operator.trace(), operator.add_to_tensor(operator.to_dense())]
    if solves:
        parts += [operator.solve(x), operator.solve(x.T, adjoint=True, adjoint_arg=True)]
        parts += [operator.adjoint().to_dense(), operator.inverse().matmul(x)]
    values = run(tf, parts + [operator.shape_tensor(), operator.batch_shape_tensor()])
    return _told(operator), [static(part) for part in parts], [np.round(value, CLOSE) + 0 for value in values]


def blocks(tf):
    linalg = tf.linalg
    batch = np.stack([A, A + 1.0])
    made = [linalg.LinearOperatorBlockDiag([_full(tf, A, is_non_singular=True), linalg.LinearOperatorDiag(np.array([1.0, -2.0, 3.0]), is_non_singular=True)])]
    made.append(linalg.LinearOperatorBlockDiag([_full(tf, batch, is_non_singular=True), _full(tf, B, is_non_singular=True)], name="blocks"))
    return [_of(tf, one) for one in made], [len(one.operators) for one in made]


def compositions(tf):
    linalg = tf.linalg
    one = linalg.LinearOperatorComposition([_full(tf, B, is_non_singular=True), linalg.LinearOperatorDiag(np.array([1.0, -2.0, 3.0]), is_non_singular=True)])
    flat = linalg.LinearOperatorComposition([_full(tf, B), _full(tf, U)])
    return _of(tf, one), _told(flat), run(tf, [flat.to_dense(), flat.shape_tensor()])


def kronecker_products(tf):
    linalg = tf.linalg
    one = linalg.LinearOperatorKronecker([_full(tf, A, is_non_singular=True), _full(tf, B, is_non_singular=True)])
    three = linalg.LinearOperatorKronecker([_full(tf, np.stack([A, A * 2.0]), is_non_singular=True), linalg.LinearOperatorDiag(np.array([1.0, 2.0]), is_non_singular=True), _full(tf, A, is_non_singular=True)])
    flat = linalg.LinearOperatorKronecker([_full(tf, U), _full(tf, A)])
    definite = dict(is_positive_definite=True, is_self_adjoint=True)
    factor = linalg.LinearOperatorKronecker([_full(tf, A @ A.T, **definite), linalg.LinearOperatorDiag(np.array([4.0, 9.0]), is_positive_definite=True)]).cholesky()
    return _of(tf, one), _of(tf, three, False), _told(flat), run(tf, [flat.to_dense(), flat.matmul(A)]), np.round(run(tf, factor.to_dense()), CLOSE)


def _circulant(tf, operator):
    n = operator.domain_dimension.value
    x = (np.arange(2.0 * n).reshape(n, 2) / 3.0 - 1.0).astype(operator.dtype.as_numpy_dtype)
    parts = [operator.to_dense(), operator.matmul(x, adjoint=True), operator.solve(x), operator.determinant(), operator.log_abs_determinant()]
    parts += [operator.diag_part(), operator.trace(), operator.convolution_kernel(), operator.block_shape_tensor()]
    told = _told(operator), operator.block_depth, str(operator.block_shape), operator.spectrum.dtype.name
    return told, [static(part) for part in parts], [np.round(value, CLOSE) + 0 for value in run(tf, parts)]


def circulants(tf):
    kind = tf.linalg.LinearOperatorCirculant
    made = [kind(np.array([4.0, 1.0, 2.0, 1.0]), input_output_dtype=tf.float64), kind(np.array([4.0, 1.0 + 1j, 2.0j]), input_output_dtype=tf.complex128)]
    return [_circulant(tf, one) for one in made]


def circulants_of_images_and_volumes(tf):
    flat = tf.linalg.LinearOperatorCirculant2D(np.array([[4.0, 1.0, 1.0], [5.0, 2.0, 2.0]]), input_output_dtype=tf.complex128)
    deep = tf.linalg.LinearOperatorCirculant3D(np.arange(1.0, 9.0).reshape(2, 2, 2), input_output_dtype=tf.float64)
    return _circulant(tf, flat), _circulant(tf, deep)


def reflections(tf):
    return [_of(tf, tf.linalg.LinearOperatorHouseholder(axis)) for axis in (np.array([1.0, 2.0, -2.0]), np.array([[1.0, 1.0], [3.0, 4.0]]))]


def updates_of_low_rank(tf):
    linalg = tf.linalg
    base = linalg.LinearOperatorDiag(np.array([1.0, 2.0, 3.0]), is_positive_definite=True)
    made = [linalg.LinearOperatorLowRankUpdate(base, U), linalg.LinearOperatorLowRankUpdate(_full(tf, B, is_non_singular=True), U, v=U * 2.0, is_non_singular=True)]
    made.append(linalg.LinearOperatorLowRankUpdate(base, np.concatenate([U, U**2], 1), diag_update=np.array([0.5, -0.25]), is_non_singular=True, name="update"))
    parts = [(one.u is one.v, one.is_diag_update_positive, type(one.diag_operator).__name__, one.diag_update is None, one.base_operator is base) for one in made]
    return [_of(tf, one) for one in made], parts


def toeplitz(tf):
    made = [tf.linalg.LinearOperatorToeplitz(np.array([1.0, 2.0, 3.0]), np.array([1.0, -4.0, -9.0]), is_non_singular=True)]
    made.append(tf.linalg.LinearOperatorToeplitz(np.array([[5.0, 2.0], [6.0, 1.0]]), np.array([[5.0, 3.0], [6.0, 4.0]]), is_non_singular=True))
    return [_of(tf, one) for one in made]


def zeros(tf):
    linalg = tf.linalg
    made = [linalg.LinearOperatorZeros(2, dtype=tf.float64), linalg.LinearOperatorZeros(2, batch_shape=[3], dtype=tf.float64)]
    flat = linalg.LinearOperatorZeros(2, 3, dtype=tf.float64, is_square=False, is_self_adjoint=False)
    return _of(tf, made[0], False), _told(made[1]), _told(flat), run(tf, [flat.to_dense(), flat.matmul(B), flat.diag_part(), made[1].diag_part(), made[1].determinant()])


def products_of_operators(tf):
    linalg = tf.linalg
    others = [
        _full(tf, A, is_non_singular=True),
        linalg.LinearOperatorDiag(np.array([1.0, 4.0]), is_non_singular=True, is_positive_definite=True),
        linalg.LinearOperatorLowerTriangular(A, is_non_singular=True),
        linalg.LinearOperatorScaledIdentity(2, np.float64(4.0), is_non_singular=True),
        linalg.LinearOperatorIdentity(2, dtype=tf.float64),
        linalg.LinearOperatorZeros(2, dtype=tf.float64),
    ]
    products = [[one.matmul(other) for other in others] for one in others]
    quotients = [[one.solve(other) for other in others[:3] + others[4:]] for one in others[:-1]]
    told = [[_told(one) for one in row] for row in products + quotients]
    values = [[np.round(value, CLOSE) + 0 for value in run(tf, [one.to_dense() for one in row])] for row in products + quotients]
    turned = [_told(others[0].matmul(others[2], adjoint=True)), _told(others[0].matmul(others[2], adjoint_arg=True))]
    return told, values, turned


def checks(tf):
    linalg = tf.linalg
    run(tf, [_full(tf, B, is_self_adjoint=True).assert_positive_definite(), _full(tf, B).assert_self_adjoint(), _full(tf, B).assert_non_singular()])
    diagonal = linalg.LinearOperatorDiag(np.array([0.0, -1.0]))
    run(tf, [diagonal.assert_self_adjoint(), linalg.LinearOperatorHouseholder(U[:, 0]).assert_non_singular()])
    wrong = [
        lambda: _full(tf, A).assert_positive_definite(),
        lambda: linalg.LinearOperatorDiag(np.array([0.0, -1.0])).assert_positive_definite(),
        lambda: linalg.LinearOperatorScaledIdentity(2, -1.0).assert_positive_definite(),
        lambda: linalg.LinearOperatorHouseholder(U[:, 0]).assert_positive_definite(),
        lambda: linalg.LinearOperatorZeros(2).assert_non_singular(),
        lambda: linalg.LinearOperatorToeplitz(U[:, 0], U[:, 0] * 2.0).assert_self_adjoint(),
        lambda: linalg.LinearOperatorCirculant([1.0, -2.0]).assert_positive_definite(),
    ]
    return mistakes(tf, **{"m%d" % i: one for i, one in enumerate(wrong)})


def mistakes_of_each(tf):
    linalg = tf.linalg
    definite = dict(is_positive_definite=True, is_self_adjoint=True)
    low, zero, circle, mirror = linalg.LinearOperatorLowRankUpdate, linalg.LinearOperatorZeros, linalg.LinearOperatorCirculant, linalg.LinearOperatorHouseholder
    wrong = []
    for kind in (linalg.LinearOperatorBlockDiag, linalg.LinearOperatorComposition, linalg.LinearOperatorKronecker):
        wrong.append(lambda kind=kind: kind([]))
        wrong.append(lambda kind=kind: kind([_full(tf, A), linalg.LinearOperatorDiag([1.0])]))
        wrong.append(lambda kind=kind: kind([_full(tf, A, is_non_singular=True)] * 2, is_non_singular=False))
    wrong += [
        lambda: linalg.LinearOperatorBlockDiag([_full(tf, U), _full(tf, A)]),
        lambda: linalg.LinearOperatorComposition([_full(tf, A), _full(tf, U)]),
        lambda: linalg.LinearOperatorKronecker([_full(tf, A, **definite)] * 2, is_self_adjoint=False),
        lambda: circle([1.0, 2.0], is_square=False),
        lambda: circle([1.0, 2.0], is_self_adjoint=False),
        lambda: mirror([1.0], is_positive_definite=True),
        lambda: mirror([1.0], is_self_adjoint=False),
        lambda: low(_full(tf, A), U),
        lambda: low(_full(tf, B), U, is_diag_update_positive=False),
        lambda: low(_full(tf, B, **definite), U, is_self_adjoint=False),
        lambda: low(_full(tf, B), U, diag_update=np.ones([2])),
        lambda: linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0, 4.0]),
        lambda: linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0], is_square=False),
        lambda: zero(2, 3),
        lambda: zero(2, is_non_singular=True),
        lambda: zero(2, is_positive_definite=True),
        lambda: zero(-2),
        lambda: zero([2]),
        lambda: zero(2, batch_shape=3),
        lambda: zero(2).solve([[1.0], [2.0]]),
        lambda: _full(tf, A).matmul(_full(tf, U)),
        lambda: _full(tf, A, is_non_singular=True).solve(_full(tf, U)),
    ]
    return mistakes(tf, **{"m%d" % i: one for i, one in enumerate(wrong)})


def rules_of_ones_own(tf):
    algebra = inside("python.ops.linalg.linear_operator_algebra")

    class Plain(tf.linalg.LinearOperatorFullMatrix):
        pass

    found = []
    algebra.RegisterAdjoint(Plain)(lambda one: found.append("adjoint") or one)
    algebra.RegisterMatmul(Plain, tf.linalg.LinearOperatorDiag)(lambda a, b: found.append("product") or a)
    one = Plain(A, is_non_singular=True)
    kept = one.adjoint() is one, one.matmul(tf.linalg.LinearOperatorDiag(np.array([1.0, 2.0]))) is one
    others = [algebra.inverse(one), algebra.matmul(one, one), algebra.solve(one, one), algebra.cholesky(_full(tf, B, is_self_adjoint=True, is_positive_definite=True))]
    return found, kept, [type(other).__name__ for other in others]
