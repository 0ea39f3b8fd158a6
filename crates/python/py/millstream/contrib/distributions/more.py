"""More distributions: quantized, reshaped, autoregressive, and transformed ones with moments of their own."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from millstream.contrib.distributions import bijectors
from millstream.contrib.distributions.flowing import TransformedDistribution
from millstream.contrib.distributions.multivariate import _MultivariateNormal
from millstream.contrib.distributions.univariate import Deterministic
from millstream.distributions import special
from millstream.distributions.base import Distribution, NOT_REPARAMETERIZED, checked
from millstream.distributions.continuous import Exponential, Laplace, Normal, Uniform
from millstream.framework import constant_value, convert_to_tensor, dtypes, name_scope, shapes
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, linalg_ops, math_ops, reduction_ops


def _digamma_of_next(x: Any) -> Any:
    """Returns the harmonic number of x."""
    return op("Digamma")(x + 1.0) - op("Digamma")(array_ops.ones([], x.dtype))


class Kumaraswamy(TransformedDistribution):
    """The Kumaraswamy distribution of numbers between 0 and 1, with a cumulative distribution in closed form.

    Args:
      concentration1: A positive tensor of floats.
      concentration0: A positive tensor of floats.
      validate_args: If true, it is an error of the run if a concentration is not positive.
      allow_nan_stats: If false, a mode that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Example:
      >>> d = tf.contrib.distributions.Kumaraswamy(2.0, 3.0)
      >>> print(*np.round(tf.Session().run([d.cdf(0.5), d.mean(), d.concentration1, d.concentration0]), 4))
      0.5781 0.4571 2.0 3.0
    """

    def __init__(
        self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Kumaraswamy"
    ) -> None:
        with name_scope(name, values=[concentration1, concentration0]) as name:
            concentration1 = convert_to_tensor(concentration1, name="concentration1")
            concentration0 = convert_to_tensor(concentration0, name="concentration0")
        zeros = array_ops.zeros_like(concentration1 + concentration0)
        bijector = bijectors.Kumaraswamy(concentration1, concentration0, validate_args=validate_args)
        base = Uniform(low=zeros, high=array_ops.ones([], zeros.dtype), allow_nan_stats=allow_nan_stats)
        super().__init__(base, bijector, validate_args=validate_args, name=name)

    @property
    def concentration1(self) -> Any:
        """The first concentration."""
        return self.bijector.concentration1

    @property
    def concentration0(self) -> Any:
        """The second concentration."""
        return self.bijector.concentration0

    def _entropy(self) -> Any:
        # TensorFlow's terms; the second one should have the harmonic number alone.
        a, b = self.concentration1, self.concentration0
        return (1 - 1.0 / a) + (1 - 1.0 / b) * _digamma_of_next(b) + op("Log")(a) + op("Log")(b)

    def _moment(self, n: int) -> Any:
        a, b = self.concentration1, self.concentration0
        beta = op("Lgamma")(1.0 + n / a) + op("Lgamma")(b) - op("Lgamma")(1.0 + n / a + b)
        return op("Exp")(op("Log")(b) + beta)

    def _mean(self) -> Any:
        return self._moment(1)

    def _variance(self) -> Any:
        return self._moment(2) - op("Square")(self._moment(1))

    def _mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        mode = op("Exp")(op("Log")((a - 1) / (a * b - 1)) / a)
        if self.allow_nan_stats:
            return special.nan_unless(op("LogicalAnd")(a > 1.0, b > 1.0), mode, self.batch_shape_tensor())
        one = array_ops.ones([], self.dtype)
        checks = [
            check_ops.assert_less(one, a, message="Mode undefined for concentration1 <= 1."),
            check_ops.assert_less(one, b, message="Mode undefined for concentration0 <= 1."),
        ]
        return checked(checks, mode)


def _stretch(tailweight: Any) -> Any:
    """Returns the factor with which the transformed distribution keeps its width."""
    two = convert_to_tensor(2.0, tailweight.dtype)
    return 2.0 / bijectors.SinhArcsinh(tailweight=tailweight).forward(two)


def _shape_parameters(skewness: Any, tailweight: Any, dtype: Any) -> Any:
    skewness = convert_to_tensor(0.0 if skewness is None else skewness, dtype, "skewness")
    return skewness, convert_to_tensor(1.0 if tailweight is None else tailweight, dtype, "tailweight")


class SinhArcsinh(TransformedDistribution):
    """The distribution of `loc + scale * f(z)`, with `f` the bijector `SinhArcsinh` and z standard normal.

    Args:
      loc: A tensor of floats.
      scale: A tensor of floats.
      skewness: A tensor of floats: the distribution is skewed to the right if it is positive; by default 0.
      tailweight: A positive tensor of floats: tails are heavier if it is more than 1; by default 1.
      distribution: The distribution of z, a batch of numbers; by default the standard normal one.
      validate_args: If true, parameters are checked when the graph is run.
      allow_nan_stats: As in `Normal`.
      name: The name scope of the operations.

    Example:
      >>> d = tf.contrib.distributions.SinhArcsinh(loc=1.0, scale=2.0)
      >>> print(*tf.Session().run([d.cdf(1.0), d.loc, d.scale, d.skewness, d.tailweight]))
      0.5 1.0 2.0 0.0 1.0
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        skewness: Any = None,
        tailweight: Any = None,
        distribution: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "SinhArcsinh",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale, skewness, tailweight]) as name:
            self._loc = convert_to_tensor(loc, name="loc")
            dtype = self._loc.dtype
            self._scale = convert_to_tensor(scale, dtype, "scale")
            self._skewness, self._tailweight = _shape_parameters(skewness, tailweight, dtype)
            batch = array_ops.zeros_like(self._loc + self._scale + self._skewness + self._tailweight)
            if distribution is None:
                distribution = Normal(loc=batch, scale=array_ops.ones([], dtype), allow_nan_stats=allow_nan_stats)
            factor = self._scale * _stretch(self._tailweight)
            affine = bijectors.AffineScalar(shift=self._loc, scale=factor, validate_args=validate_args)
            curve = bijectors.SinhArcsinh(skewness=self._skewness, tailweight=self._tailweight)
        super().__init__(distribution, bijectors.Chain([affine, curve]), validate_args=validate_args, name=name)
        self._parameters = parameters

    loc = property(lambda self: self._loc, doc="The location.")
    scale = property(lambda self: self._scale, doc="The scale.")
    skewness = property(lambda self: self._skewness, doc="The skewness.")
    tailweight = property(lambda self: self._tailweight, doc="The weight of the tails.")


class _OfVectors(TransformedDistribution):
    """The distribution of `scale @ x + shift`, with vectors x of independent numbers."""

    def _make(self, base: Callable[[Any], Any], loc: Any, diag: Any, factor: Any, validate_args: bool, name: str, inner: Any = None) -> None:
        """Makes the distribution; `base` is a function of a dtype, and `inner` a bijector of the numbers."""
        affine = bijectors.Affine(shift=loc, scale_identity_multiplier=factor, scale_diag=diag, validate_args=validate_args)
        given = [convert_to_tensor(x) for x in (loc, diag) if x is not None]
        if not given:
            raise ValueError("Cannot infer `event_shape` unless `loc` or `shape_hint` is specified.")
        size = next((n for n in (shapes.dimension_value(x.shape[-1]) for x in given) if n not in (None, 1)), shapes.dimension_value(given[0].shape[-1]))
        batch = shapes.TensorShape([])
        for x in given:
            batch = array_ops.broadcast_static_shape(batch, x.shape[:-1])
        if factor is not None:
            batch = array_ops.broadcast_static_shape(batch, convert_to_tensor(factor).shape)
        self._affine = affine
        bijector = affine if inner is None else bijectors.Chain([affine, inner])
        TransformedDistribution.__init__(
            self, base(given[0].dtype), bijector, batch_shape=batch.as_list(), event_shape=[size], validate_args=validate_args, name=name
        )

    @property
    def loc(self) -> Any:
        """What is added to the vectors, or None."""
        return self._affine.shift

    @property
    def scale(self) -> Any:
        """The matrix by which the vectors are multiplied."""
        return self._affine.scale

    def _matrix(self) -> Any:
        """Returns the scale as a matrix, which may be a scalar or a diagonal to the bijector."""
        size, n = self.event_shape.as_list()[0], self.batch_shape.ndims or 0
        columns = linalg_ops.matrix_diag(array_ops.ones([size], self.dtype))
        columns = self._affine.forward(array_ops.reshape(columns, [size] + [1] * n + [size]))
        moved = columns if self.loc is None else columns - self.loc
        return array_ops.transpose(moved, [*range(1, n + 2), 0])

    def _full(self, value: Any) -> Any:
        shape = array_ops.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        return value + array_ops.zeros(shape, self.dtype)


class _WithMoments(_OfVectors):
    """The base class for elements whose mean, mode and variance are known."""

    MEAN, MODE, VARIANCE = 0.0, 0.0, 1.0

    def _moved(self, number: float) -> Any:
        size = self.event_shape.as_list()[0]
        return self._full(self._affine.forward(array_ops.fill([size], convert_to_tensor(number, self.dtype))))

    def _mean(self) -> Any:
        return self._moved(self.MEAN)

    def _mode(self) -> Any:
        return self._moved(self.MODE)

    def _covariance(self) -> Any:
        matrix = self._matrix()
        return self.VARIANCE * math_ops.matmul(matrix, matrix, adjoint_b=True)

    def _variance(self) -> Any:
        return self.VARIANCE * reduction_ops.reduce_sum(op("Square")(self._matrix()), axis=-1)


class VectorLaplaceDiag(_WithMoments):
    """The distribution of vectors `scale * x + loc`, with the elements of x independent and Laplacian.

    Args:
      loc: A tensor of floats of shape `[.., k]`; by default zeros.
      scale_diag: A tensor of floats of shape `[.., k]`; by default ones.
      scale_identity_multiplier: A tensor of floats of shape `[..]`, added to `scale_diag`, or instead of it.
      validate_args: If true, parameters are checked when the graph is run.
      allow_nan_stats: As in `Laplace`.
      name: The name scope of the operations.

    Raises:
      ValueError: Neither `loc` nor `scale_diag` is given.

    Example:
      >>> d = tf.contrib.distributions.VectorLaplaceDiag([0.0, 1.0], [1.0, 2.0])
      >>> print(*tf.Session().run([d.mean(), d.variance(), d.loc]), d.scale.shape)
      [0. 1.] [2. 8.] [0. 1.] (2, 2)
    """

    MEAN, MODE, VARIANCE = 0.0, 0.0, 2.0

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceDiag",
    ) -> None:
        parameters = dict(locals())

        def base(dtype: Any) -> Any:
            return Laplace(loc=array_ops.zeros([], dtype), scale=array_ops.ones([], dtype), allow_nan_stats=allow_nan_stats)

        self._make(base, loc, scale_diag, scale_identity_multiplier, validate_args, name)
        self._parameters = parameters


class VectorExponentialDiag(_WithMoments):
    """The distribution of vectors `scale * x + loc`, with the elements of x independent and exponential.

    Args:
      loc: A tensor of floats of shape `[.., k]`; by default zeros.
      scale_diag: A tensor of floats of shape `[.., k]`; by default ones.
      scale_identity_multiplier: A tensor of floats of shape `[..]`, added to `scale_diag`, or instead of it.
      validate_args: If true, parameters are checked when the graph is run.
      allow_nan_stats: As in `Exponential`.
      name: The name scope of the operations.

    Raises:
      ValueError: Neither `loc` nor `scale_diag` is given.

    Example:
      >>> d = tf.contrib.distributions.VectorExponentialDiag([0.0, 1.0], [1.0, 2.0])
      >>> print(*tf.Session().run([d.mean(), d.mode(), d.stddev(), d.loc]), d.scale.shape)
      [1. 3.] [0. 1.] [1. 2.] [0. 1.] (2, 2)
    """

    MEAN, MODE, VARIANCE = 1.0, 0.0, 1.0

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorExponentialDiag",
    ) -> None:
        parameters = dict(locals())

        def base(dtype: Any) -> Any:
            return Exponential(rate=array_ops.ones([], dtype), allow_nan_stats=allow_nan_stats)

        self._make(base, loc, scale_diag, scale_identity_multiplier, validate_args, name)
        self._parameters = parameters


class VectorSinhArcsinhDiag(_OfVectors):
    """The distribution of vectors `scale * f(z) + loc`, with `f` the bijector `SinhArcsinh` and normal z.

    Args:
      loc: A tensor of floats of shape `[.., k]`; by default zeros.
      scale_diag: A tensor of floats of shape `[.., k]`; by default ones.
      scale_identity_multiplier: A tensor of floats of shape `[..]`, added to `scale_diag`, or instead of it.
      skewness: A tensor of floats that broadcasts to the vectors; by default 0.
      tailweight: A positive tensor of floats that broadcasts to the vectors; by default 1.
      distribution: The distribution of the elements of z; by default the standard normal one.
      validate_args: If true, parameters are checked when the graph is run.
      allow_nan_stats: As in `Normal`.
      name: The name scope of the operations.

    Raises:
      ValueError: Neither `loc` nor `scale_diag` is given.

    Example:
      >>> d = tf.contrib.distributions.VectorSinhArcsinhDiag([0.0, 1.0], [1.0, 2.0])
      >>> print(*np.round(tf.Session().run([d.prob([0.0, 1.0]), d.skewness, d.tailweight]), 4))
      0.0796 0.0 1.0
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        skewness: Any = None,
        tailweight: Any = None,
        distribution: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier, skewness, tailweight]) as name:
            given = next((x for x in (loc, scale_diag) if x is not None), 1.0)
            loc = convert_to_tensor(array_ops.zeros_like(scale_diag) if loc is None else loc, name="loc")
            dtype = convert_to_tensor(given).dtype
            self._skewness, self._tailweight = _shape_parameters(skewness, tailweight, dtype)
            diag = array_ops.ones_like(loc) if scale_diag is None else convert_to_tensor(scale_diag, name="scale_diag")
            if scale_identity_multiplier is not None:
                extra = array_ops.expand_dims(convert_to_tensor(scale_identity_multiplier, dtype), -1)
                diag = extra * array_ops.ones_like(loc) if scale_diag is None else diag + extra
            diag = diag * _stretch(self._tailweight)
            curve = bijectors.SinhArcsinh(skewness=self._skewness, tailweight=self._tailweight, validate_args=validate_args)

        def base(dtype: Any) -> Any:
            one = array_ops.ones([], dtype)
            return distribution or Normal(loc=array_ops.zeros([], dtype), scale=one, allow_nan_stats=allow_nan_stats)

        self._make(base, loc, diag, None, validate_args, name, curve)
        self._parameters = parameters

    skewness = property(lambda self: self._skewness, doc="The skewness.")
    tailweight = property(lambda self: self._tailweight, doc="The weight of the tails.")


class MultivariateNormalDiagPlusLowRank(_MultivariateNormal):
    """The normal distribution of vectors by a scale that is a diagonal and a product of rank r.

    The scale is `diag(scale_diag) + factor @ diag(perturb_diag) @ transpose(factor)`.

    Args:
      loc: A tensor of floats of shape `[.., k]`: the mean; by default zeros.
      scale_diag: A tensor of floats of shape `[.., k]`; by default ones.
      scale_identity_multiplier: A tensor of floats of shape `[..]`, added to `scale_diag`, or instead of it.
      scale_perturb_factor: A tensor of floats of shape `[.., k, r]`.
      scale_perturb_diag: A tensor of floats of shape `[.., r]`; by default ones.
      validate_args: Ignored.
      allow_nan_stats: As in `MultivariateNormalDiag`.
      name: The name scope of the operations.

    Raises:
      ValueError: The size of vectors is not known from any argument.

    Example:
      >>> normal = tf.contrib.distributions.MultivariateNormalDiagPlusLowRank
      >>> d = normal([0.0, 1.0], [1.0, 2.0], scale_perturb_factor=[[1.0], [1.0]])
      >>> print(tf.Session().run(d.covariance()))
      [[ 5.  5.]
       [ 5. 10.]]
    """

    _is_triangular = False

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagPlusLowRank",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier, scale_perturb_factor, scale_perturb_diag]) as name:

            def made(value: Any, word: str) -> Any:
                return None if value is None else convert_to_tensor(value, name=word)

            loc, diag, multiplier = made(loc, "loc"), made(scale_diag, "scale_diag"), made(scale_identity_multiplier, "scale_identity_multiplier")
            factor, middle = made(scale_perturb_factor, "scale_perturb_factor"), made(scale_perturb_diag, "scale_perturb_diag")
            if middle is not None and factor is None:
                raise ValueError("When scale_perturb_diag is specified, scale_perturb_factor must be specified.")
            known = [x for x in (loc, diag) if x is not None] + ([] if factor is None else [factor[..., 0]])
            if not known:
                raise ValueError("Cannot infer `event_shape` unless `loc` or `shape_hint` is specified.")
            if diag is None:
                ones = array_ops.ones(array_ops.shape(known[0])[-1:], known[0].dtype)
                diag = ones if multiplier is None else ones * array_ops.expand_dims(multiplier, -1)
            elif multiplier is not None:
                diag = diag + array_ops.expand_dims(multiplier, -1)
            matrix = linalg_ops.matrix_diag(diag)
            if factor is not None:
                left = factor if middle is None else factor * array_ops.expand_dims(middle, -2)
                matrix = matrix + math_ops.matmul(left, factor, adjoint_b=True)
        self._build(parameters, loc, None, matrix, name)

    def _solved(self, x: Any) -> Any:
        shape = array_ops.shape(x)
        matrices = op("BroadcastTo")(self._tril, array_ops.concat([shape, shape[-1:]], 0))
        return array_ops.squeeze(op("MatrixSolve")(matrices, array_ops.expand_dims(x, -1)), [-1])

    def _log_abs_determinant(self) -> Any:
        return op("LogMatrixDeterminant")(self._tril)[1]


class VectorDeterministic(Deterministic):
    """The distribution of one vector.

    Args:
      loc: A tensor of shape `[.., k]`: the vector.
      atol: The distance of elements within which a vector has probability 1; by default 0.
      rtol: That distance as a factor of `loc`; by default 0.
      validate_args: If true, parameters are checked when the graph is run.
      allow_nan_stats: Ignored.
      name: The name scope of the operations.

    Raises:
      ValueError: The arguments are checked, and `loc` is a scalar.

    Example:
      >>> d = tf.contrib.distributions.VectorDeterministic([1.0, 2.0])
      >>> print(tf.Session().run(d.prob([[1.0, 2.0], [1.0, 3.0]])))
      [1. 0.]
    """

    def __init__(
        self, loc: Any, atol: Any = None, rtol: Any = None, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "VectorDeterministic"
    ) -> None:
        if validate_args and convert_to_tensor(loc).shape.ndims == 0:
            raise ValueError("Argument loc must be at least rank 1.")
        super().__init__(loc, atol, rtol, validate_args, allow_nan_stats, name)

    def _batch_shape_tensor(self) -> Any:
        return array_ops.shape(self.loc)[:-1]

    def _batch_shape(self) -> Any:
        return self.loc.shape[:-1]

    def _event_shape_tensor(self) -> Any:
        return array_ops.shape(self.loc)[-1:]

    def _event_shape(self) -> Any:
        return self.loc.shape[-1:]

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        return self.loc * array_ops.ones(array_ops.concat([[n], array_ops.shape(self.loc)], 0), dtype=self.dtype)

    def _prob(self, x: Any) -> Any:
        near = op("Abs")(x - self.loc) <= self._slack
        return math_ops.cast(reduction_ops.reduce_all(near, axis=-1) if x.shape.ndims else near, self.dtype)

    def _cdf(self, x: Any) -> Any:
        raise self._lacks("cdf")


class QuantizedDistribution(Distribution):
    """The distribution of the draws of another one, rounded up to whole numbers.

    Args:
      distribution: A distribution of numbers.
      low: The least value, to which lower draws are raised; None for none.
      high: The greatest value, to which higher draws are lowered; None for none.
      validate_args: If true, parameters and values are checked when the graph is run.
      name: The name scope of the operations.

    Example:
      >>> tfd = tf.contrib.distributions
      >>> d = tfd.QuantizedDistribution(tfd.Uniform(0.0, 4.0), low=2.0)
      >>> print(*tf.Session().run([d.prob(2.0), d.prob(3.0), d.cdf(3.5), d.low]), d.high, d.distribution.dtype)
      0.5 0.25 0.75 2.0 None <dtype: 'float32'>
    """

    def __init__(
        self, distribution: Distribution, low: Any = None, high: Any = None, validate_args: bool = False, name: str = "QuantizedDistribution"
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[low, high]) as name:
            dtype = distribution.dtype
            self._low = None if low is None else convert_to_tensor(low, dtype, "low")
            self._high = None if high is None else convert_to_tensor(high, dtype, "high")
            check_ops.assert_same_float_dtype([x for x in (self._low, self._high) if x is not None])
            checks = []
            if validate_args and None not in (low, high):
                checks.append(check_ops.assert_less(self._low, self._high, message="low must be strictly less than high."))
            if validate_args:
                for value, word in ((self._low, "low"), (self._high, "high")):
                    if value is not None:
                        checks.append(check_ops.assert_equal(value, op("Floor")(value), message="%s has non-integer components." % word))
            if checks:
                if self._low is not None:
                    self._low = checked(checks, self._low)
                if self._high is not None:
                    self._high = checked(checks, self._high)
        self._distribution = distribution
        parents = distribution._graph_parents + [x for x in (self._low, self._high) if x is not None]
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, distribution.allow_nan_stats, parameters, parents, name)

    distribution = property(lambda self: self._distribution, doc="The distribution of the draws.")
    low = property(lambda self: self._low, doc="The least value, or None.")
    high = property(lambda self: self._high, doc="The greatest value, or None.")

    def _batch_shape_tensor(self) -> Any:
        return self.distribution.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self.distribution.batch_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        draws = op("Ceil")(self.distribution.sample(sample_shape=n, seed=seed))
        ones = array_ops.ones_like(draws)
        if self.low is not None:
            draws = array_ops.where(draws < self.low, self.low * ones, draws)
        if self.high is not None:
            draws = array_ops.where(draws > self.high, self.high * ones, draws)
        return draws

    def _bounded(self, y: Any, value: Any, below: float, above: float) -> Any:
        """Returns values of the cumulative distribution at `y`, with those outside of the bounds."""
        ones = array_ops.ones_like(value)
        y = y * ones
        if self.low is not None:
            value = array_ops.where(y < self.low, below * ones, value)
        if self.high is not None:
            value = array_ops.where(y >= self.high, above * ones, value)
        return value

    def _whole(self, y: Any) -> Any:
        if not self.validate_args:
            return y
        return checked([check_ops.assert_equal(y, op("Floor")(y), message="value has non-integer components.")], y)

    def _cdf(self, y: Any) -> Any:
        return self._bounded(y, self.distribution.cdf(op("Floor")(y)), 0.0, 1.0)

    def _log_cdf(self, y: Any) -> Any:
        return self._bounded(y, self.distribution.log_cdf(op("Floor")(y)), -np.inf, 0.0)

    def _survival_function(self, y: Any) -> Any:
        return self._bounded(y, self.distribution.survival_function(op("Ceil")(y)), 1.0, 0.0)

    def _log_survival_function(self, y: Any) -> Any:
        return self._bounded(y, self.distribution.log_survival_function(op("Ceil")(y)), 0.0, -np.inf)

    def _prob(self, y: Any) -> Any:
        y = self._whole(y)
        cdf, survival = self.cdf(y), self.survival_function(y)
        # The tail that is smaller has the more exact difference.
        return array_ops.where(survival < cdf, self.survival_function(y - 1.0) - survival, cdf - self.cdf(y - 1.0))

    def _log_prob(self, y: Any) -> Any:
        y = self._whole(y)
        log_cdf, log_survival = self.log_cdf(y), self.log_survival_function(y)
        is_above = log_survival < log_cdf
        big = array_ops.where(is_above, self.log_survival_function(y - 1.0), log_cdf)
        small = array_ops.where(is_above, log_survival, self.log_cdf(y - 1.0))
        return big + op("Log")(-op("Expm1")(small - big))


class BatchReshape(Distribution):
    """A distribution whose batch has another shape.

    Args:
      distribution: A distribution.
      batch_shape: The new shape of the batch, of as many elements; one of them may be -1.
      validate_args: If true, shapes are checked when the graph is run.
      allow_nan_stats: Ignored.
      name: The name scope of the operations.

    Raises:
      ValueError: The sizes of the batches differ.

    Example:
      >>> tfd = tf.contrib.distributions
      >>> d = tfd.BatchReshape(tfd.Normal([0.0, 1.0], 1.0), [2, 1])
      >>> d.batch_shape, d.sample(3).shape, d.distribution.batch_shape
      (TensorShape([Dimension(2), Dimension(1)]), TensorShape([Dimension(3), Dimension(2), Dimension(1)]), TensorShape([Dimension(2)]))
    """

    def __init__(
        self, distribution: Distribution, batch_shape: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: Optional[str] = None
    ) -> None:
        parameters = dict(locals())
        name = name or "BatchReshape" + distribution.name
        with name_scope(name, values=[batch_shape]) as name:
            wanted = constant_value(convert_to_tensor(batch_shape, dtypes.int32, name="batch_shape"))
            if wanted is None or not distribution.batch_shape.is_fully_defined():
                raise ValueError("BatchReshape: both batch shapes must be known while the graph is built")
            if wanted.ndim != 1:
                raise ValueError("`batch_shape` must be a vector.")
            size = distribution.batch_shape.num_elements() or 0
            known = int(np.prod([n for n in wanted if n != -1]))
            if sum(n == -1 for n in wanted) == 1 and known and size % known == 0:
                wanted = np.where(wanted == -1, size // known, wanted)
            if (wanted < 0).any():
                raise ValueError("`batch_shape` elements must be >=-1.")
            if int(np.prod(wanted)) != size:
                raise ValueError("`batch_shape` size ({}) must match `distribution.batch_shape` size ({}).".format(int(np.prod(wanted)), size))
        self._distribution, self._shape = distribution, [int(n) for n in wanted]
        super().__init__(
            distribution.dtype, distribution.reparameterization_type, validate_args, allow_nan_stats, parameters, distribution._graph_parents, name
        )

    distribution = property(lambda self: self._distribution, doc="The distribution with the former batch.")

    def _batch_shape_tensor(self) -> Any:
        return convert_to_tensor(self._shape, dtypes.int32)

    def _batch_shape(self) -> Any:
        return shapes.TensorShape(self._shape)

    def _event_shape_tensor(self) -> Any:
        return self.distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        draws = self.distribution.sample(sample_shape=n, seed=seed)
        return array_ops.reshape(draws, array_ops.concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0))

    def _of(self, function: Callable[[Any], Any], x: Any) -> Any:
        """Returns the values of a function of events."""
        event = self.event_shape.ndims
        if event is None or x.shape.ndims is None:
            raise ValueError("BatchReshape: the ranks of the events and the value must be known")
        least = len(self._shape) + event
        if x.shape.ndims < least:
            words = "Broadcasting is not supported; too few batch and event dims (expected at least %d, saw %d)."
            raise NotImplementedError(words % (least, x.shape.ndims))
        front = array_ops.shape(x)[: x.shape.ndims - least]
        former = self.distribution.batch_shape_tensor()
        y = function(array_ops.reshape(x, array_ops.concat([front, former, self.event_shape_tensor()], 0)))
        result = array_ops.reshape(y, array_ops.concat([front, self.batch_shape_tensor()], 0))
        if x.shape.ndims == least:
            result.set_shape(self.batch_shape)
        return result

    def _log_prob(self, x: Any) -> Any:
        return self._of(self.distribution.log_prob, x)

    def _prob(self, x: Any) -> Any:
        return self._of(self.distribution.prob, x)

    def _log_cdf(self, x: Any) -> Any:
        return self._of(self.distribution.log_cdf, x)

    def _cdf(self, x: Any) -> Any:
        return self._of(self.distribution.cdf, x)

    def _log_survival_function(self, x: Any) -> Any:
        return self._of(self.distribution.log_survival_function, x)

    def _survival_function(self, x: Any) -> Any:
        return self._of(self.distribution.survival_function, x)

    def _reshaped(self, value: Any, is_scalar: bool = False, twice: bool = False) -> Any:
        event = [] if is_scalar else [self.event_shape_tensor()] * (2 if twice else 1)
        result = array_ops.reshape(value, array_ops.concat([self.batch_shape_tensor(), *event], 0))
        known = shapes.TensorShape([]) if is_scalar else self.event_shape
        result.set_shape(self.batch_shape.concatenate(known).concatenate(known if twice else []))
        return result

    def _entropy(self) -> Any:
        return self._reshaped(self.distribution.entropy(), is_scalar=True)

    def _mean(self) -> Any:
        return self._reshaped(self.distribution.mean())

    def _mode(self) -> Any:
        return self._reshaped(self.distribution.mode())

    def _stddev(self) -> Any:
        return self._reshaped(self.distribution.stddev())

    def _variance(self) -> Any:
        return self._reshaped(self.distribution.variance())

    def _covariance(self) -> Any:
        return self._reshaped(self.distribution.covariance(), twice=True)


class Autoregressive(Distribution):
    """The distribution of events whose elements depend on those before them, drawn one step after another.

    Args:
      distribution_fn: A function from events to a distribution of events.
      sample0: An event to begin with; by default `distribution_fn` is called without an argument.
      num_steps: The number of steps of a draw; by default the number of elements of an event.
      validate_args: Ignored.
      allow_nan_stats: Ignored.
      name: The name scope of the operations.

    Raises:
      ValueError: `num_steps` is not given, and the shape of an event is not known.

    Example:
      >>> tfd = tf.contrib.distributions
      >>> d = tfd.Autoregressive(lambda x: tfd.Normal(0.5 * x, 1.0), sample0=tf.zeros([]), num_steps=2)
      >>> print(tf.Session().run(d.prob(0.0)).round(4), d.num_steps, d.sample0.shape, d.distribution0.mean().shape)
      0.3989 2 () ()
      >>> d.distribution_fn(tf.ones([])).mean().shape
      TensorShape([])
    """

    def __init__(
        self,
        distribution_fn: Callable[..., Any],
        sample0: Any = None,
        num_steps: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Autoregressive",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[sample0]) as name:
            self._distribution_fn, self._sample0 = distribution_fn, sample0
            self._distribution0 = distribution_fn() if sample0 is None else distribution_fn(sample0)
            if num_steps is None:
                num_steps = self._distribution0.event_shape.num_elements()
                if num_steps is None:
                    raise ValueError("distribution_fn must generate a distribution with fully known `event_shape`.")
            self._num_steps = num_steps
        first = self._distribution0
        super().__init__(first.dtype, first.reparameterization_type, validate_args, allow_nan_stats, parameters, first._graph_parents, name)

    distribution_fn = property(lambda self: self._distribution_fn, doc="The function from events to a distribution.")
    sample0 = property(lambda self: self._sample0, doc="The first event, or None.")
    num_steps = property(lambda self: self._num_steps, doc="The number of steps.")
    distribution0 = property(lambda self: self._distribution0, doc="The distribution of the first step.")

    def _batch_shape(self) -> Any:
        return self.distribution0.batch_shape

    def _batch_shape_tensor(self) -> Any:
        return self.distribution0.batch_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution0.event_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution0.event_shape_tensor()

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        draws = self.distribution0.sample(n, seed=seed)
        for _ in range(int(self.num_steps)):
            draws = self.distribution_fn(draws).sample(seed=seed)
        return draws

    def _log_prob(self, value: Any) -> Any:
        return self.distribution_fn(value).log_prob(value)

    def _prob(self, value: Any) -> Any:
        return self.distribution_fn(value).prob(value)


class ConditionalDistribution(Distribution):
    """A base class of distributions whose methods take named arguments, which they hand on to the subclass.

    Example:
      >>> issubclass(tf.contrib.distributions.ConditionalTransformedDistribution, tf.contrib.distributions.ConditionalDistribution)
      True
    """

    def sample(self, sample_shape: Any = (), seed: Optional[int] = None, name: str = "sample", **condition_kwargs: Any) -> Any:
        """Returns samples, given named arguments."""
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    def log_prob(self, value: Any, name: str = "log_prob", **condition_kwargs: Any) -> Any:
        """Returns the logarithm of the density or probability of a value, given named arguments."""
        return self._call_log_prob(value, name, **condition_kwargs)

    def prob(self, value: Any, name: str = "prob", **condition_kwargs: Any) -> Any:
        """Returns the density or probability of a value, given named arguments."""
        return self._call_prob(value, name, **condition_kwargs)


class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """`TransformedDistribution` whose methods take named arguments, which they hand on to the bijector.

    Example:
      >>> tfd = tf.contrib.distributions
      >>> d = tfd.ConditionalTransformedDistribution(tfd.Normal(0.0, 1.0), tfd.bijectors.Exp())
      >>> print(tf.Session().run(d.prob(1.0)).round(4))
      0.3989
    """
