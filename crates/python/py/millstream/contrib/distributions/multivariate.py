"""Multivariate normal distributions: by a diagonal, a triangular matrix, or the covariance.

All are `loc + scale @ z` with z standard normal; `scale` is a diagonal or a lower triangular matrix.
"""

from __future__ import annotations

import math
from typing import Any, Dict, Optional

from millstream._engine import Tensor
from millstream.distributions.base import Distribution, FULLY_REPARAMETERIZED, checked
from millstream.distributions.divergence import RegisterKL
from millstream.framework import convert_to_tensor, name_scope, shapes
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, linalg_ops, math_ops, random_ops, reduction_ops, shape_ops


def _converted(value: Any, name: str) -> Any:
    return None if value is None else convert_to_tensor(value, name=name)


def _column(x: Any) -> Any:
    return array_ops.expand_dims(x, -1)


def _wide(x: Any, shape: Any) -> Tensor:
    return op("BroadcastTo")(x, shape)


class _MultivariateNormal(Distribution):
    """The base class: a distribution of vectors by `loc` and by a scale, which is `diag` or `tril`."""

    _is_triangular = True

    def _build(self, arguments: Dict[str, Any], loc: Any, diag: Any, tril: Any, scope: str) -> None:
        self._loc, self._diag, self._tril = loc, diag, tril
        given = diag if tril is None else tril
        size = shapes.dimension_value(given.shape[-1])
        other = None if loc is None else shapes.dimension_value(loc.shape[-1])
        if None not in (size, other) and other not in (1, size):
            words = "Event size of 'scale' (%d) could not be broadcast up to that of 'loc' (%d)."
            raise ValueError(words % (size, other))
        parents = [t for t in (loc, given) if t is not None]
        common = (arguments["validate_args"], arguments["allow_nan_stats"], arguments, parents, scope)
        super().__init__(given.dtype, FULLY_REPARAMETERIZED, *common)

    @property
    def loc(self) -> Any:
        """The mean, or None for zeros."""
        return self._loc

    def _rows(self) -> Any:
        """Returns the scale's static shape, its rows only."""
        return self._diag.shape if self._tril is None else self._tril.shape[:-1]

    def _event_shape(self) -> Any:
        return self._rows()[-1:]

    def _batch_shape(self) -> Any:
        batch = self._rows()[:-1]
        return batch if self.loc is None else array_ops.broadcast_static_shape(batch, self.loc.shape[:-1])

    def _rows_tensor(self) -> Any:
        return array_ops.shape(self._diag) if self._tril is None else array_ops.shape(self._tril)[:-1]

    def _event_shape_tensor(self) -> Any:
        return self._rows_tensor()[-1:]

    def _batch_shape_tensor(self) -> Any:
        batch = self._rows_tensor()[:-1]
        return batch if self.loc is None else shape_ops.broadcast_dynamic_shape(batch, array_ops.shape(self.loc)[:-1])

    def _full_shape(self) -> Any:
        return array_ops.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        z = random_ops.random_normal(array_ops.concat([[n], self._full_shape()], 0), dtype=self.dtype, seed=seed)
        if self._tril is None:
            scaled = self._diag * z
        else:
            scaled = array_ops.squeeze(math_ops.matmul(_matrix_like(self._tril, z), _column(z)), [-1])
        return scaled if self.loc is None else scaled + self.loc

    def _solved(self, x: Any) -> Any:
        """Returns the vector whose product with the scale is x."""
        if self._tril is None:
            return x / self._diag
        return array_ops.squeeze(op("MatrixTriangularSolve")(_matrix_like(self._tril, x), _column(x)), [-1])

    def _log_abs_determinant(self) -> Any:
        diag = self._diag if self._tril is None else linalg_ops.matrix_diag_part(self._tril)
        return reduction_ops.reduce_sum(op("Log")(math_ops.abs(diag)), axis=-1)

    def _log_prob(self, x: Any) -> Any:
        x = x + array_ops.zeros(self._full_shape(), self.dtype)
        z = self._solved(x if self.loc is None else x - self.loc)
        parts = -0.5 * op("Square")(z) - 0.5 * math.log(2.0 * math.pi)
        return reduction_ops.reduce_sum(parts, axis=-1) - self._log_abs_determinant()

    def _entropy(self) -> Any:
        k = math_ops.cast(self.event_shape_tensor()[0], self.dtype)
        value = k * (0.5 * math.log(2.0 * math.pi * math.e)) + self._log_abs_determinant()
        return _wide(value, self.batch_shape_tensor())

    def _mean(self) -> Any:
        zeros = array_ops.zeros(self._full_shape(), self.dtype)
        return zeros if self.loc is None else self.loc + zeros

    _mode = _mean

    # As in TensorFlow, these have the batch of the scale, without that of `loc`.

    def _variance(self) -> Any:
        if self._tril is None:
            return op("Square")(self._diag)
        return reduction_ops.reduce_sum(op("Square")(self._tril), axis=-1)

    def _stddev(self) -> Any:
        return math_ops.abs(self._diag) if self._tril is None else op("Sqrt")(self._variance())

    def _covariance(self) -> Any:
        if self._tril is None:
            return linalg_ops.matrix_diag(self._variance())
        return math_ops.matmul(self._tril, self._tril, adjoint_b=True)

    # The words of TensorFlow, whose distributions are transformed ones of single numbers.

    def _cdf(self, value: Any) -> Any:
        raise NotImplementedError("cdf is not implemented when overriding event_shape")

    def _log_cdf(self, value: Any) -> Any:
        raise NotImplementedError("log_cdf is not implemented when overriding event_shape")

    def _survival_function(self, value: Any) -> Any:
        raise NotImplementedError("survival_function is not implemented when overriding event_shape")

    def _log_survival_function(self, value: Any) -> Any:
        raise NotImplementedError("log_survival_function is not implemented when overriding event_shape")

    def _dense(self) -> Any:
        return linalg_ops.matrix_diag(self._diag) if self._tril is None else self._tril


def _matrix_like(matrix: Any, vectors: Any) -> Any:
    """Returns a matrix for each of the vectors."""
    shape = array_ops.shape(vectors)
    return _wide(matrix, array_ops.concat([shape, shape[-1:]], 0))


class MultivariateNormalDiag(_MultivariateNormal):
    """The normal distribution of vectors whose elements are independent.

    Args:
      loc: A tensor of floats of shape `[.., k]`: the mean; by default zeros.
      scale_diag: A tensor of floats of shape `[.., k]`: the standard deviations; by default ones.
      scale_identity_multiplier: A tensor of floats of shape `[..]`, added to `scale_diag`, or instead of it.
      validate_args: If true, parameters are checked when the graph is run.
      allow_nan_stats: If false, a statistic that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: The sizes of `loc` and `scale_diag` differ, or `k` is not known from either.

    Example:
      >>> d = tf.contrib.distributions.MultivariateNormalDiag(loc=[1.0, -1.0], scale_diag=[1.0, 2.0])
      >>> print(*tf.Session().run([d.log_prob([0.0, 0.0]), d.stddev(), d.mean(), d.loc]))
      -3.1560242 [1. 2.] [ 1. -1.] [ 1. -1.]
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:
        arguments = dict(locals())
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier]) as scope:
            loc, diag = _converted(loc, "loc"), _converted(scale_diag, "scale_diag")
            factor = _converted(scale_identity_multiplier, "scale_identity_multiplier")
            if diag is None and loc is None:
                raise ValueError("Cannot infer `event_shape` unless `loc` or `shape_hint` is specified.")
            if diag is None:
                diag = array_ops.ones(array_ops.shape(loc)[-1:], loc.dtype)
                diag = diag if factor is None else diag * _column(factor)
            elif factor is not None:
                diag = diag + _column(factor)
        self._build(arguments, loc, diag, None, scope)


class MultivariateNormalTriL(_MultivariateNormal):
    """The normal distribution of vectors whose covariance is `scale_tril @ transpose(scale_tril)`.

    Args:
      loc: A tensor of floats of shape `[.., k]`: the mean; by default zeros.
      scale_tril: A tensor of floats of shape `[.., k, k]`, of which the lower triangles count; by default the
        identity.
      validate_args: If true, parameters are checked when the graph is run.
      allow_nan_stats: If false, a statistic that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: Neither `loc` nor `scale_tril` is given, or their sizes differ.

    Example:
      >>> d = tf.contrib.distributions.MultivariateNormalTriL(scale_tril=[[1.0, 0.0], [1.0, 2.0]])
      >>> print(tf.Session().run(d.covariance()))
      [[1. 1.]
       [1. 5.]]
    """

    def __init__(
        self, loc: Any = None, scale_tril: Any = None, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "MultivariateNormalTriL"
    ) -> None:
        arguments = dict(locals())
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with name_scope(name, values=[loc, scale_tril]) as scope:
            loc, tril = _converted(loc, "loc"), _converted(scale_tril, "scale_tril")
            diag = array_ops.ones(array_ops.shape(loc)[-1:], loc.dtype) if tril is None else None
            tril = None if tril is None else op("MatrixBandPart")(tril, -1, 0)
        self._build(arguments, loc, diag, tril, scope)


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The normal distribution of vectors, by its covariance.

    Args:
      loc: A tensor of floats of shape `[.., k]`: the mean; by default zeros.
      covariance_matrix: A tensor of floats of shape `[.., k, k]`, symmetric and positive definite; by default
        the identity.
      validate_args: If true, it is an error of the run if the matrix is not symmetric.
      allow_nan_stats: If false, a statistic that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: Neither `loc` nor `covariance_matrix` is given, or their sizes differ.

    Example:
      >>> normal = tf.contrib.distributions.MultivariateNormalFullCovariance
      >>> print(tf.Session().run(normal(covariance_matrix=[[4.0, 0.0], [0.0, 9.0]]).stddev()))
      [2. 3.]
    """

    def __init__(
        self,
        loc: Any = None,
        covariance_matrix: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ) -> None:
        arguments = dict(locals())
        with name_scope(name, values=[loc, covariance_matrix]) as scope:
            matrix = _converted(covariance_matrix, "covariance_matrix")
            if matrix is not None and validate_args:
                words = "Matrix was not symmetric"
                matrix = checked([check_ops.assert_near(matrix, array_ops.matrix_transpose(matrix), message=words)], matrix)
            tril = None if matrix is None else op("Cholesky")(matrix)
        super().__init__(loc, tril, validate_args, allow_nan_stats, scope)
        self._parameters = arguments


@RegisterKL(_MultivariateNormal, _MultivariateNormal)
def _normals(a: Any, b: Any, name: Optional[str] = None) -> Any:
    with name_scope(name, "kl_mvn", [*a._graph_parents, *b._graph_parents]):
        if a._tril is None and b._tril is None:
            ratio = reduction_ops.reduce_sum(op("Square")(a._diag / b._diag), axis=-1)
        else:
            both = array_ops.concat([shape_ops.broadcast_dynamic_shape(a._rows_tensor(), b._rows_tensor()), a.event_shape_tensor()], 0)
            kind = "MatrixTriangularSolve" if b._is_triangular else "MatrixSolve"
            solved = op(kind)(_wide(b._dense(), both), _wide(a._dense(), both))
            ratio = reduction_ops.reduce_sum(op("Square")(solved), axis=[-2, -1])
        distance = reduction_ops.reduce_sum(op("Square")(b._solved(b.mean() - a.mean())), axis=-1)
        k = math_ops.cast(a.event_shape_tensor()[0], a.dtype)
        return b._log_abs_determinant() - a._log_abs_determinant() + 0.5 * (ratio + distance - k)
