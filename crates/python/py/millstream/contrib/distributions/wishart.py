"""Wishart distributions: those of positive definite matrices."""

from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np

from millstream.distributions import special
from millstream.distributions.base import Distribution, FULLY_REPARAMETERIZED, checked
from millstream.framework import constant_value, convert_to_tensor, name_scope, shapes
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, linalg_ops, math_ops, random_ops, reduction_ops

_LOG_2 = math.log(2.0)


class _Wishart(Distribution):
    """The base class of Wishart distributions, by a lower triangle whose square is the scale."""

    def _build(self, arguments: Any, df: Any, tril: Any, scope: str, scale: Any = None) -> None:
        self._tril, self._given, self._cholesky = tril, scale, arguments["cholesky_input_output_matrices"]
        self._df = convert_to_tensor(df, tril.dtype, "df")
        size = shapes.dimension_value(tril.shape[-1])
        known = constant_value(self._df)
        if size is not None and known is not None and np.any(known < size):
            raise ValueError(
                "Degrees of freedom (df = [{}]) cannot be less than dimension of scale matrix (scale.dimension = {})".format(repr(np.asarray(known)), float(size))
            )
        super().__init__(
            tril.dtype, FULLY_REPARAMETERIZED, arguments["validate_args"], arguments["allow_nan_stats"], arguments, [self._df, tril], scope
        )

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self._df

    def scale(self) -> Any:
        """Returns the scale, or its lower triangle if matrices are taken and returned in this form."""
        return self._tril if self._cholesky else self._square()

    def _square(self) -> Any:
        return math_ops.matmul(self._tril, self._tril, adjoint_b=True)

    @property
    def cholesky_input_output_matrices(self) -> bool:
        """Whether matrices are taken and returned as lower triangles."""
        return self._cholesky  # type: ignore[no-any-return]

    @property
    def dimension(self) -> Any:
        """The number of rows of a matrix, as a tensor."""
        return array_ops.shape(self._tril)[-1]

    def _k(self) -> Any:
        return math_ops.cast(self.dimension, self.dtype)

    def _batch_shape(self) -> Any:
        return array_ops.broadcast_static_shape(self.df.shape, self._tril.shape[:-2])

    def _batch_shape_tensor(self) -> Any:
        return op("BroadcastArgs")(array_ops.shape(self.df), array_ops.shape(self._tril)[:-2])

    def _event_shape(self) -> Any:
        return self._tril.shape[-2:]

    def _event_shape_tensor(self) -> Any:
        return array_ops.shape(self._tril)[-2:]

    def _sequence(self, a: Any) -> Any:
        """Returns `a, a - 1/2, ..`, of which multivariate gamma functions are made."""
        return array_ops.expand_dims(a, -1) - 0.5 * math_ops.cast(math_ops.range(self.dimension), self.dtype)

    def _multi_lgamma(self, a: Any) -> Any:
        k = self._k()
        return k * (k - 1.0) / 4.0 * math.log(math.pi) + reduction_ops.reduce_sum(op("Lgamma")(self._sequence(a)), axis=-1)

    def _multi_digamma(self, a: Any) -> Any:
        return reduction_ops.reduce_sum(op("Digamma")(self._sequence(a)), axis=-1)

    def _log_root(self) -> Any:
        return reduction_ops.reduce_sum(op("Log")(linalg_ops.matrix_diag_part(self._tril)), axis=-1)

    def log_normalization(self, name: str = "log_normalization") -> Any:
        """Returns the logarithm of the density's constant factor."""
        with self._name_scope(name):
            return self.df * self._log_root() + 0.5 * self.df * self._k() * _LOG_2 + self._multi_lgamma(0.5 * self.df)

    def mean_log_det(self, name: str = "mean_log_det") -> Any:
        """Returns the mean of the logarithm of the determinant."""
        with self._name_scope(name):
            return self._multi_digamma(0.5 * self.df) + self._k() * _LOG_2 + 2 * self._log_root()

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        batch = self.batch_shape_tensor()
        rows = random_ops.random_normal(array_ops.concat([[n], batch, self.event_shape_tensor()], 0), dtype=self.dtype, seed=seed)
        ones = array_ops.ones(batch, self.dtype)
        squares = random_ops.random_gamma(
            [n], self._sequence(0.5 * self.df * ones), beta=0.5, dtype=self.dtype, seed=special.salted(seed, "wishart")
        )
        rows = linalg_ops.matrix_set_diag(op("MatrixBandPart")(rows, -1, 0), op("Sqrt")(squares))
        rows = math_ops.matmul(op("BroadcastTo")(self._tril, array_ops.shape(rows)), rows)
        return rows if self._cholesky else math_ops.matmul(rows, rows, adjoint_b=True)

    def _log_prob(self, x: Any) -> Any:
        root = x if self._cholesky else op("Cholesky")(x)
        shape = op("BroadcastArgs")(array_ops.shape(root), array_ops.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0))
        solved = op("MatrixTriangularSolve")(op("BroadcastTo")(self._tril, shape), op("BroadcastTo")(root, shape))
        trace = reduction_ops.reduce_sum(op("Square")(solved), axis=[-2, -1])
        half = reduction_ops.reduce_sum(op("Log")(linalg_ops.matrix_diag_part(root)), axis=-1)
        return -0.5 * trace + (self.df - self._k() - 1.0) * half - self.log_normalization()

    def _prob(self, x: Any) -> Any:
        return op("Exp")(self._log_prob(x))

    def _entropy(self) -> Any:
        k, half = self._k(), 0.5 * self.df
        rest = -0.5 * (self.df - k - 1.0) * self._multi_digamma(half) + half * k
        return 0.5 * k * (k + 1.0) * _LOG_2 + (k + 1.0) * self._log_root() + self._multi_lgamma(half) + rest

    def _wide(self, x: Any) -> Any:
        return array_ops.expand_dims(array_ops.expand_dims(x, -1), -1)

    def _mean(self) -> Any:
        if self._cholesky:
            return op("Sqrt")(self._wide(self.df)) * self._tril
        return self._wide(self.df) * self._square()

    def _variance(self) -> Any:
        x = op("Sqrt")(self._wide(self.df)) * self._square()
        diag = array_ops.expand_dims(linalg_ops.matrix_diag_part(x), -1)
        v = op("Square")(x) + math_ops.matmul(diag, diag, adjoint_b=True)
        return op("Cholesky")(v) if self._cholesky else v

    def _stddev(self) -> Any:
        if self._cholesky:
            raise ValueError("Computing std. dev. when is cholesky_input_output_matrices=True does not make sense.")
        # TensorFlow's: the lower triangle, not the root of each element.
        return op("Cholesky")(self._variance())

    def _mode(self) -> Any:
        s = self.df - self._k() - 1.0
        s = self._wide(array_ops.where(s < 0.0, array_ops.fill(array_ops.shape(s), convert_to_tensor(float("nan"), self.dtype)), s))
        return op("Sqrt")(s) * self._tril if self._cholesky else s * self._square()


class WishartCholesky(_Wishart):
    """The Wishart distribution of positive definite matrices, by the lower triangle of the scale.

    Args:
      df: A tensor of floats: the degrees of freedom, at least the number of rows.
      scale: A tensor of lower triangles with a positive diagonal.
      cholesky_input_output_matrices: If true, matrices are taken and returned as lower triangles.
      validate_args: If true, it is an error of the run if the diagonal is not positive.
      allow_nan_stats: If false, a statistic that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: `df` is less than the number of rows.

    Example:
      >>> d = tf.contrib.distributions.WishartCholesky(3.0, [[1.0, 0.0], [0.5, 2.0]])
      >>> print(tf.Session().run(d.mean()).ravel(), d.df.shape, d.cholesky_input_output_matrices)
      [ 3.    1.5   1.5  12.75] () False
      >>> print(*np.round(tf.Session().run([d.log_normalization(), d.mean_log_det(), d.dimension]), 3), d.scale().shape)
      4.61 2.232 2.0 (2, 2)
    """

    def __init__(
        self,
        df: Any,
        scale: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartCholesky",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            scale = convert_to_tensor(scale, name="scale")
            if validate_args:
                scale = checked([check_ops.assert_positive(linalg_ops.matrix_diag_part(scale), message="scale must be positive definite")], scale)
            tril = op("MatrixBandPart")(scale, -1, 0)
        self._build(parameters, df, tril, name)


class WishartFull(_Wishart):
    """The Wishart distribution of positive definite matrices, by the scale.

    Args:
      df: A tensor of floats: the degrees of freedom, at least the number of rows.
      scale: A tensor of positive definite matrices.
      cholesky_input_output_matrices: If true, matrices are taken and returned as lower triangles.
      validate_args: If true, it is an error of the run if the scale is not symmetric.
      allow_nan_stats: If false, a statistic that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: `df` is less than the number of rows.

    Example:
      >>> d = tf.contrib.distributions.WishartFull(3.0, [[1.0, 0.0], [0.0, 4.0]])
      >>> print(tf.Session().run(d.variance()).ravel())
      [ 6. 12. 12. 96.]
    """

    def __init__(
        self,
        df: Any,
        scale: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartFull",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            scale = convert_to_tensor(scale, name="scale")
            if validate_args:
                scale = checked([check_ops.assert_near(scale, array_ops.matrix_transpose(scale), message="scale is not symmetric")], scale)
            tril = op("Cholesky")(scale)
        self._build(parameters, df, tril, name, scale)
