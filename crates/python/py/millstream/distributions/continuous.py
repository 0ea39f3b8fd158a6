"""Distributions of floats: `Normal`, `Uniform`, `Laplace`, `StudentT`, `Gamma`, `Exponential` and `Beta`."""

from __future__ import annotations

import math
from typing import Any, Optional, Tuple

import numpy as np

from millstream.distributions import special
from millstream.distributions.base import Univariate, checked
from millstream.distributions.divergence import RegisterKL
from millstream.framework import constant, convert_to_tensor, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, math_ops, random_ops, reduction_ops
from millstream.ops.shape_ops import where_v2


class LocationScale(Univariate):
    """The base class of distributions that are one of `loc` 0 and `scale` 1, stretched and moved."""

    PARAMETERS: Tuple[str, ...] = ("loc", "scale")
    _loc: Any
    _scale: Any

    @property
    def loc(self) -> Any:
        """The location: the mean, if there is one."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The scale: of the normal distribution, the standard deviation."""
        return self._scale

    def _z(self, x: Any) -> Any:
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale


class Normal(LocationScale):
    """The normal distribution.

    Args:
      loc: A tensor of floats: the mean.
      scale: A tensor of floats: the standard deviation.
      validate_args: If true, it is an error of the run if `scale` is not positive.
      allow_nan_stats: If false, a statistic that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: The parameters are not floats of one dtype.

    Example:
      >>> d = tf.distributions.Normal(loc=[0.0, 1.0], scale=2.0)
      >>> print(tf.Session().run(d.log_prob([0.0, 0.0])), d.loc.name, d.scale.name)
      [-1.6120857 -1.7370857] Normal/loc:0 Normal/scale:0
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Normal") -> None:
        self._build(dict(locals()), lambda: check_ops.assert_positive(scale))

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        return random_ops.random_normal(self._shape_of(n), dtype=self.loc.dtype, seed=seed) * self.scale + self.loc

    def _log_cdf(self, x: Any) -> Any:
        return special.log_ndtr(self._z(x))

    def _cdf(self, x: Any) -> Any:
        return special.ndtr(self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return special.log_ndtr(-self._z(x))

    def _survival_function(self, x: Any) -> Any:
        return special.ndtr(-self._z(x))

    def _log_unnormalized_prob(self, x: Any) -> Any:
        return -0.5 * op("Square")(self._z(x))

    def _log_normalization(self) -> Any:
        return 0.5 * math.log(2.0 * math.pi) + op("Log")(self.scale)

    def _entropy(self) -> Any:
        return 0.5 * math.log(2.0 * math.pi * math.e) + op("Log")(self._stddev())

    def _mean(self) -> Any:
        return self.loc * array_ops.ones_like(self.scale)

    def _quantile(self, p: Any) -> Any:
        z = special.ndtri(p)
        with name_scope("reconstruct", values=[z]):
            return z * self.scale + self.loc

    def _stddev(self) -> Any:
        return self.scale * array_ops.ones_like(self.loc)

    _mode = _mean


class Uniform(Univariate):
    """The uniform distribution on the interval from `low` to `high`, without `high`.

    Args:
      low: A tensor of floats.
      high: A tensor of floats.
      validate_args: If true, it is an error of the run if `low` is not less than `high`.
      allow_nan_stats: If false, a statistic that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: The parameters are not floats of one dtype.

    Example:
      >>> d = tf.distributions.Uniform(low=1.0, high=[3.0, 5.0])
      >>> print(*tf.Session().run([d.prob(2.0), d.range(), d.low, d.high]))
      [0.5  0.25] [2. 4.] 1.0 [3. 5.]
    """

    PARAMETERS = ("low", "high")

    def __init__(self, low: Any = 0.0, high: Any = 1.0, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Uniform") -> None:
        self._build(dict(locals()), lambda: check_ops.assert_less(low, high, message="uniform not defined when low >= high."))

    @property
    def low(self) -> Any:
        """The lower bound."""
        return self._low  # type: ignore[attr-defined]

    @property
    def high(self) -> Any:
        """The upper bound."""
        return self._high  # type: ignore[attr-defined]

    def range(self, name: str = "range") -> Any:
        """Returns `high - low`."""
        with self._name_scope(name):
            return self.high - self.low

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        return self.low + self.range() * random_ops.random_uniform(self._shape_of(n), dtype=self.dtype, seed=seed)

    # The density is 1 / range, and its logarithm is not a difference of two.
    def _log_prob(self, x: Any) -> Any:
        raise self._lacks("log_prob")

    def _prob(self, x: Any) -> Any:
        x = x * array_ops.ones(self.batch_shape_tensor(), x.dtype)
        outside = op("LogicalOr")(x < self.low, x >= self.high)
        density = where_v2(outside, array_ops.zeros_like(x), array_ops.ones_like(x) / self.range())
        return where_v2(op("IsNan")(x), x, density)

    def _cdf(self, x: Any) -> Any:
        ones = array_ops.ones_like(x * array_ops.ones(self.batch_shape_tensor(), x.dtype))
        below_high = where_v2(x < self.low, array_ops.zeros_like(ones), (x * ones - self.low) / self.range())
        return where_v2(x >= self.high, ones, below_high)

    def _entropy(self) -> Any:
        return op("Log")(self.range())

    def _mean(self) -> Any:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Any:
        return op("Square")(self.range()) / 12.0

    def _stddev(self) -> Any:
        return self.range() / math.sqrt(12.0)


class Laplace(LocationScale):
    """The Laplace distribution, of density `exp(-|x - loc| / scale) / (2 scale)`.

    Args:
      loc: A tensor of floats: the mean.
      scale: A tensor of floats.
      validate_args: If true, it is an error of the run if `scale` is not positive.
      allow_nan_stats: If false, a statistic that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: The parameters are not floats of one dtype.

    Example:
      >>> d = tf.distributions.Laplace(loc=0.0, scale=0.5)
      >>> print(*tf.Session().run([d.prob(0.0), d.loc, d.scale]))
      1.0 0.0 0.5
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Laplace") -> None:
        self._build(dict(locals()), lambda: check_ops.assert_positive(scale))

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        # Without -1, whose logarithm below is infinite.
        number = self.dtype.as_numpy_dtype
        low = np.nextafter(number(-1.0), number(0.0))
        uniform = random_ops.random_uniform(self._shape_of(n), low, 1.0, self.dtype, seed)
        return self.loc - self.scale * op("Sign")(uniform) * op("Log1p")(-math_ops.abs(uniform))

    def _log_cdf(self, x: Any) -> Any:
        return special.log_cdf_laplace(self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return special.log_cdf_laplace(-self._z(x))

    def _cdf(self, x: Any) -> Any:
        z = self._z(x)
        return 0.5 + 0.5 * op("Sign")(z) * (1.0 - op("Exp")(-math_ops.abs(z)))

    def _log_unnormalized_prob(self, x: Any) -> Any:
        return -math_ops.abs(self._z(x))

    def _log_normalization(self) -> Any:
        return math.log(2.0) + op("Log")(self.scale)

    def _entropy(self) -> Any:
        return math.log(2.0) + 1.0 + op("Log")(self.scale + array_ops.zeros_like(self.loc))

    def _mean(self) -> Any:
        return self.loc + array_ops.zeros_like(self.scale)

    def _stddev(self) -> Any:
        return math.sqrt(2.0) * self.scale + array_ops.zeros_like(self.loc)

    _mode = _mean


class StudentT(LocationScale):
    """Student's t-distribution, moved by `loc` and stretched by `scale`.

    Args:
      df: A tensor of floats: the degrees of freedom.
      loc: A tensor of floats.
      scale: A tensor of floats. Only its magnitude counts.
      validate_args: If true, it is an error of the run if `df` is not positive.
      allow_nan_stats: If false, a statistic that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: The parameters are not floats of one dtype.

    Example:
      >>> d = tf.distributions.StudentT(df=[1.0, 3.0], loc=0.0, scale=1.0)
      >>> print(*tf.Session().run([d.mean(), d.variance(), d.df, d.loc, d.scale]))
      [nan  0.] [nan  3.] [1. 3.] 0.0 1.0
    """

    PARAMETERS = ("df", "loc", "scale")

    def __init__(self, df: Any, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "StudentT") -> None:
        self._build(dict(locals()), lambda: check_ops.assert_positive(df))

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self._df  # type: ignore[attr-defined]

    def _ones(self) -> Any:
        return array_ops.ones(self.batch_shape_tensor(), self.dtype)

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        normal = random_ops.random_normal(self._shape_of(n), dtype=self.dtype, seed=seed)
        df = self.df * self._ones()
        gamma = random_ops.random_gamma([n], 0.5 * df, 0.5, self.dtype, special.salted(seed, "student_t"))
        return normal * op("Rsqrt")(gamma / df) * self.scale + self.loc

    def _log_unnormalized_prob(self, x: Any) -> Any:
        y = self._z(x)
        return -0.5 * (self.df + 1.0) * op("Log1p")(y**2.0 / self.df)

    def _log_scales(self) -> Any:
        return op("Log")(math_ops.abs(self.scale)) + 0.5 * op("Log")(self.df)

    def _log_normalization(self) -> Any:
        gammas = op("Lgamma")(0.5 * self.df) - op("Lgamma")(0.5 * (self.df + 1.0))
        return self._log_scales() + 0.5 * np.log(np.pi) + gammas

    def _cdf(self, x: Any) -> Any:
        y = (x - self.loc) / math_ops.abs(self.scale)
        half_df, x_t, half = (
            t * array_ops.ones_like(y * self.df) for t in (0.5 * self.df, self.df / (y**2.0 + self.df), constant(0.5, self.dtype))
        )
        tail = 0.5 * op("Betainc")(half_df, half, x_t)
        return where_v2(y < 0.0, tail, 1.0 - tail)

    def _entropy(self) -> Any:
        ones = array_ops.expand_dims(self._ones(), -1)
        both = array_ops.concat([ones * array_ops.expand_dims(self.df, -1), ones], -1) / 2.0
        half = 0.5 * (self.df + 1.0)
        return self._log_scales() + reduction_ops.lbeta(both) + half * (op("Digamma")(half) - op("Digamma")(0.5 * self.df))

    def _if_over_one(self, value: Any, what: str) -> Any:
        """Returns a statistic that exists for more than one degree of freedom."""
        if self.allow_nan_stats:
            return special.nan_unless(self.df > self._ones(), value, self.batch_shape_tensor())
        words = what + " not defined for components of df <= 1"
        return checked([check_ops.assert_less(array_ops.ones([], self.dtype), self.df, message=words)], value)

    def _mean(self) -> Any:
        return self._if_over_one(self.loc * self._ones(), "mean")

    def _variance(self) -> Any:
        below = where_v2(self.df > 2.0, self.df - 2.0, array_ops.ones_like(self.df))
        finite = self._ones() * op("Square")(self.scale) * self.df / below
        infinity = array_ops.fill(self.batch_shape_tensor(), np.array(np.inf, self.dtype.as_numpy_dtype), name="inf")
        return self._if_over_one(where_v2(self.df > 2.0, finite, infinity), "variance")

    def _mode(self) -> Any:
        return array_ops.identity(self.loc)


class Gamma(Univariate):
    """The gamma distribution, of density `rate^c x^(c - 1) exp(-rate x) / gamma(c)` with c the concentration.

    Args:
      concentration: A tensor of floats: the shape parameter.
      rate: A tensor of floats: the inverse scale.
      validate_args: If true, it is an error of the run if a parameter or a value is not positive.
      allow_nan_stats: If false, a mode that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: The parameters are not floats of one dtype.

    Example:
      >>> d = tf.distributions.Gamma(concentration=[0.5, 3.0], rate=2.0)
      >>> print(*tf.Session().run([d.mean(), d.mode(), d.concentration, d.rate]))
      [0.25 1.5 ] [nan  1.] [0.5 3. ] 2.0
    """

    PARAMETERS = ("concentration", "rate")

    def __init__(self, concentration: Any, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Gamma") -> None:
        self._build(dict(locals()), lambda: check_ops.assert_positive(concentration), lambda: check_ops.assert_positive(rate))

    @property
    def concentration(self) -> Any:
        """The shape parameter."""
        return self._concentration  # type: ignore[attr-defined]

    @property
    def rate(self) -> Any:
        """The inverse scale."""
        return self._rate  # type: ignore[attr-defined]

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        return random_ops.random_gamma([n], self.concentration, self.rate, self.dtype, seed)

    def _valid(self, x: Any) -> Any:
        check_ops.assert_same_float_dtype([x], self.dtype)
        return checked([check_ops.assert_positive(x)], x) if self.validate_args else x

    def _cdf(self, x: Any) -> Any:
        x = self._valid(x)
        return op("Igamma")(self.concentration, self.rate * x)

    def _log_unnormalized_prob(self, x: Any) -> Any:
        x = self._valid(x)
        return op("Xlogy")(self.concentration - 1.0, x) - self.rate * x

    def _log_normalization(self) -> Any:
        return op("Lgamma")(self.concentration) - self.concentration * op("Log")(self.rate)

    def _entropy(self) -> Any:
        c = self.concentration
        return c - op("Log")(self.rate) + op("Lgamma")(c) + (1.0 - c) * op("Digamma")(c)

    def _mean(self) -> Any:
        return self.concentration / self.rate

    def _variance(self) -> Any:
        return self.concentration / op("Square")(self.rate)

    def _stddev(self) -> Any:
        return op("Sqrt")(self.concentration) / self.rate

    def _mode(self) -> Any:
        mode = (self.concentration - 1.0) / self.rate
        if self.allow_nan_stats:
            return special.nan_unless(self.concentration > 1.0, mode, self.batch_shape_tensor())
        words = "mode not defined when any concentration <= 1"
        return checked([check_ops.assert_less(array_ops.ones([], self.dtype), self.concentration, message=words)], mode)


class Exponential(Gamma):
    """The exponential distribution, of density `rate exp(-rate x)`.

    Args:
      rate: A tensor of floats: the inverse of the mean.
      validate_args: If true, it is an error of the run if `rate` or a value is not positive.
      allow_nan_stats: If false, a mode that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Example:
      >>> d = tf.distributions.Exponential(rate=[1.0, 4.0])
      >>> print(*tf.Session().run([d.mean(), d.prob(0.5), d.rate]))
      [1.   0.25] [0.60653067 0.5413411 ] [1. 4.]
    """

    def __init__(self, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Exponential") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            given = convert_to_tensor(rate, name="rate")
        super().__init__(array_ops.ones([], given.dtype), given, validate_args, allow_nan_stats, name)
        self._parameters = parameters

    @classmethod
    def param_shapes(cls, sample_shape: Any, name: str = "DistributionParamShapes") -> Any:
        """Returns the shapes of parameters for samples of a shape, as tensors by name."""
        return {"rate": super().param_shapes(sample_shape, name)["rate"]}

    def _log_survival_function(self, x: Any) -> Any:
        return self._log_prob(x) - op("Log")(self.rate)

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        # Without 0, whose logarithm is infinite.
        low = np.finfo(self.dtype.as_numpy_dtype).tiny
        shape = array_ops.concat([[n], array_ops.shape(self.rate)], 0)
        return -op("Log")(random_ops.random_uniform(shape, low, 1.0, self.dtype, seed)) / self.rate


class Beta(Univariate):
    """The beta distribution, of a density proportional to `x^(c1 - 1) (1 - x)^(c0 - 1)`.

    Args:
      concentration1: A tensor of floats.
      concentration0: A tensor of floats.
      validate_args: If true, it is an error of the run if a parameter is not positive, or a value not between
        0 and 1.
      allow_nan_stats: If false, a mode that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: The parameters are not floats of one dtype.

    Example:
      >>> d = tf.distributions.Beta(concentration1=3.0, concentration0=[1.0, 2.0])
      >>> print(*tf.Session().run([d.mean(), d.concentration1, d.concentration0, d.total_concentration]))
      [0.75 0.6 ] 3.0 [1. 2.] [4. 5.]
    """

    PARAMETERS = ("concentration1", "concentration0")

    def __init__(
        self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Beta"
    ) -> None:
        arguments = dict(locals())
        words = "Concentration parameter must be positive."
        self._build(arguments, *(lambda c=c: check_ops.assert_positive(c, message=words) for c in (concentration1, concentration0)))  # type: ignore[misc]
        with name_scope(self.name):
            self._total_concentration = self.concentration1 + self.concentration0
        self._graph_parents = [*self._graph_parents, self._total_concentration]

    @property
    def concentration1(self) -> Any:
        """The concentration at one."""
        return self._concentration1  # type: ignore[attr-defined]

    @property
    def concentration0(self) -> Any:
        """The concentration at zero."""
        return self._concentration0  # type: ignore[attr-defined]

    @property
    def total_concentration(self) -> Any:
        """The sum of both concentrations."""
        return self._total_concentration

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        ones = array_ops.ones_like(self.total_concentration, dtype=self.dtype)
        first = random_ops.random_gamma([n], ones * self.concentration1, dtype=self.dtype, seed=seed)
        other = special.salted(seed, "beta")
        second = random_ops.random_gamma([n], ones * self.concentration0, dtype=self.dtype, seed=other)
        return first / (first + second)

    def _valid(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        low = check_ops.assert_positive(x, message="sample must be positive")
        high = check_ops.assert_less(x, array_ops.ones([], self.dtype), message="sample must be less than `1`.")
        return checked([low, high], x)

    def _cdf(self, x: Any) -> Any:
        # The op broadcasts scalars only.
        ones = array_ops.ones_like(x * self.total_concentration)
        return op("Betainc")(self.concentration1 * ones, self.concentration0 * ones, x * ones)

    def _log_unnormalized_prob(self, x: Any) -> Any:
        x = self._valid(x)
        return op("Xlogy")(self.concentration1 - 1.0, x) + (self.concentration0 - 1.0) * op("Log1p")(-x)

    def _log_normalization(self) -> Any:
        first, second, total = (op("Lgamma")(c) for c in (self.concentration1, self.concentration0, self.total_concentration))
        return first + second - total

    def _entropy(self) -> Any:
        first, second, total = self.concentration1, self.concentration0, self.total_concentration
        parts = (first - 1.0) * op("Digamma")(first), (second - 1.0) * op("Digamma")(second)
        return self._log_normalization() - parts[0] - parts[1] + (total - 2.0) * op("Digamma")(total)

    def _mean(self) -> Any:
        return self.concentration1 / self.total_concentration

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self) -> Any:
        mode = (self.concentration1 - 1.0) / (self.total_concentration - 2.0)
        if self.allow_nan_stats:
            defined = op("LogicalAnd")(self.concentration1 > 1.0, self.concentration0 > 1.0)
            return special.nan_unless(defined, mode, self.batch_shape_tensor())
        one, parameters = array_ops.ones([], self.dtype), (self.concentration1, self.concentration0)
        words = "Mode undefined for concentration%d <= 1."
        return checked([check_ops.assert_less(one, c, message=words % (1 - i)) for i, c in enumerate(parameters)], mode)


@RegisterKL(Normal, Normal)
def _normals(a: Any, b: Any, name: Optional[str] = None) -> Any:
    with name_scope(name, "kl_normal_normal", [a.loc, b.loc]):
        square_a, square_b = op("Square")(a.scale), op("Square")(b.scale)
        ratio = square_a / square_b
        distance = op("SquaredDifference")(a.loc, b.loc)
        return distance / (2.0 * square_b) + 0.5 * (ratio - 1.0 - op("Log")(ratio))


@RegisterKL(Gamma, Gamma)
def _gammas(a: Any, b: Any, name: Optional[str] = None) -> Any:
    with name_scope(name, "kl_gamma_gamma", [a.concentration, a.rate, b.concentration, b.rate]):
        shapes = (a.concentration - b.concentration) * op("Digamma")(a.concentration)
        gammas = op("Lgamma")(b.concentration) - op("Lgamma")(a.concentration)
        rates = b.concentration * (op("Log")(a.rate) - op("Log")(b.rate))
        return shapes + gammas + rates + a.concentration * (b.rate / a.rate - 1.0)


@RegisterKL(Beta, Beta)
def _betas(a: Any, b: Any, name: Optional[str] = None) -> Any:
    with name_scope(name, "kl_beta_beta", [a.total_concentration, b.total_concentration]):

        def part(which: str) -> Any:
            of_a, of_b = getattr(a, which), getattr(b, which)
            return op("Digamma")(of_a) * (of_b - of_a)

        rest = b._log_normalization() - a._log_normalization()
        return rest - part("concentration1") - part("concentration0") + part("total_concentration")
