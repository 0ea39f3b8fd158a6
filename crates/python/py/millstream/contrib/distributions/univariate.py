"""Distributions of single numbers: `Chi2`, `Geometric`, `HalfNormal`, `Logistic` and others."""

from __future__ import annotations

import math
from typing import Any, Dict, Optional

import numpy as np

from millstream.distributions import special
from millstream.distributions.base import Distribution, NOT_REPARAMETERIZED, Univariate, checked
from millstream.distributions.continuous import Gamma, LocationScale
from millstream.distributions.discrete import logits_and_probs, whole
from millstream.framework import constant, control_dependencies, convert_to_tensor, dtypes, name_scope, shapes
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, math_ops, random_ops


class Chi2(Gamma):
    """The chi-squared distribution: the sum of the squares of `df` standard normal numbers.

    Args:
      df: A tensor of floats: the degrees of freedom.
      validate_args: If true, it is an error of the run if `df` or a value is not positive.
      allow_nan_stats: If false, a mode that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Example:
      >>> d = tf.contrib.distributions.Chi2(df=[3.0, 4.0])
      >>> print(*tf.Session().run([d.mean(), d.df]))
      [3. 4.] [3. 4.]
    """

    def __init__(self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            with control_dependencies([check_ops.assert_positive(df)] if validate_args else []):
                self._df = array_ops.identity(df, name="df")
            super().__init__(0.5 * self._df, constant(0.5, self._df.dtype), validate_args, allow_nan_stats, name)
        self._parameters = parameters

    @classmethod
    def param_shapes(cls, sample_shape: Any, name: str = "DistributionParamShapes") -> Dict[str, Any]:
        """Returns the shapes of parameters for samples of a shape, as tensors by name."""
        return {"df": super().param_shapes(sample_shape, name)["rate"]}

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self._df


class HalfNormal(Univariate):
    """The distribution of the magnitude of a normal number of mean 0.

    Args:
      scale: A tensor of floats: the standard deviation of the normal number.
      validate_args: If true, it is an error of the run if `scale` is not positive.
      allow_nan_stats: Ignored: all statistics exist.
      name: The name scope of the operations.

    Example:
      >>> d = tf.contrib.distributions.HalfNormal(scale=2.0)
      >>> print(*np.round(tf.Session().run([d.mean(), d.cdf(2.0), d.scale]), 4))
      1.5958 0.6827 2.0
    """

    PARAMETERS = ("scale",)

    def __init__(self, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "HalfNormal") -> None:
        self._build(dict(locals()), lambda: check_ops.assert_positive(scale))

    @property
    def scale(self) -> Any:
        """The scale."""
        return self._scale  # type: ignore[attr-defined]

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        return math_ops.abs(random_ops.random_normal(self._shape_of(n), dtype=self.dtype, seed=seed) * self.scale)

    def _log_prob(self, x: Any) -> Any:
        # The base class takes the logarithm of the density, which is 0 below 0.
        return op("Log")(self._prob(x))

    def _prob(self, x: Any) -> Any:
        density = np.sqrt(2) / self.scale / np.sqrt(np.pi) * op("Exp")(-0.5 * (x / self.scale) ** 2)
        return density * math_ops.cast(x >= 0, self.dtype)

    def _cdf(self, x: Any) -> Any:
        return math_ops.erf(op("Relu")(x) / self.scale / np.sqrt(2.0))

    def _entropy(self) -> Any:
        return 0.5 * op("Log")(np.pi * self.scale**2.0 / 2.0) + 0.5

    def _mean(self) -> Any:
        return self.scale * np.sqrt(2.0) / np.sqrt(np.pi)

    def _quantile(self, p: Any) -> Any:
        return self.scale * special.ndtri((p + 1.0) / 2.0)

    def _mode(self) -> Any:
        return array_ops.zeros(self.batch_shape_tensor())

    def _variance(self) -> Any:
        return self.scale**2.0 * (1.0 - 2.0 / np.pi)


class Logistic(LocationScale):
    """The logistic distribution, whose cumulative distribution function is a sigmoid.

    Args:
      loc: A tensor of floats: the mean.
      scale: A tensor of floats.
      validate_args: If true, it is an error of the run if `scale` is not positive.
      allow_nan_stats: Ignored: all statistics exist.
      name: The name scope of the operations.

    Raises:
      ValueError: The parameters are not floats of one dtype.

    Example:
      >>> d = tf.contrib.distributions.Logistic(loc=1.0, scale=2.0)
      >>> print(*np.round(tf.Session().run([d.prob(1.0), d.cdf(1.0), d.stddev(), d.loc, d.scale]), 4))
      0.125 0.5 3.6276 1.0 2.0
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Logistic") -> None:
        self._build(dict(locals()), lambda: check_ops.assert_positive(scale))

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        # Without 0, whose logarithm is infinite.
        low = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = random_ops.random_uniform(self._shape_of(n), low, 1.0, self.dtype, seed)
        return (op("Log")(uniform) - op("Log1p")(-1.0 * uniform)) * self.scale + self.loc

    def _log_cdf(self, x: Any) -> Any:
        return -op("Softplus")(-self._z(x))

    def _cdf(self, x: Any) -> Any:
        return math_ops.sigmoid(self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return -op("Softplus")(self._z(x))

    def _survival_function(self, x: Any) -> Any:
        return math_ops.sigmoid(-self._z(x))

    def _log_unnormalized_prob(self, x: Any) -> Any:
        z = self._z(x)
        return -z - 2.0 * op("Softplus")(-z)

    def _log_normalization(self) -> Any:
        return op("Log")(self.scale)

    def _entropy(self) -> Any:
        return 2 + op("Log")(self.scale * array_ops.ones_like(self.loc))

    def _mean(self) -> Any:
        return self.loc * array_ops.ones_like(self.scale)

    def _stddev(self) -> Any:
        return self.scale * array_ops.ones_like(self.loc) * math.pi / math.sqrt(3)

    _mode = _mean


class Geometric(Distribution):
    """The number of failures before the first success, each trial being a success with probability `probs`.

    Args:
      logits: A tensor of floats: the log-odds of a success. Either this or `probs` is given.
      probs: A tensor of floats: the probability of a success.
      validate_args: If true, it is an error of the run if `probs` is not positive, or a value not whole.
      allow_nan_stats: Ignored: all statistics exist.
      name: The name scope of the operations.

    Raises:
      ValueError: Both or neither of `logits` and `probs` are given.

    Example:
      >>> d = tf.contrib.distributions.Geometric(probs=0.25)
      >>> print(*np.round(tf.Session().run([d.prob(1.0), d.mean(), d.probs, d.logits]), 4))
      0.1875 3.0 0.25 -1.0986
    """

    def __init__(
        self, logits: Any = None, probs: Any = None, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Geometric"
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = logits_and_probs(logits, probs, False, validate_args, name)
            with control_dependencies([check_ops.assert_positive(self._probs)] if validate_args else []):
                self._probs = array_ops.identity(self._probs, name="probs")
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [self._probs, self._logits], name)

    @property
    def logits(self) -> Any:
        """The log-odds of a success."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probability of a success."""
        return self._probs

    def _batch_shape_tensor(self) -> Any:
        return array_ops.shape(self.probs)

    def _batch_shape(self) -> Any:
        return self.probs.shape

    def _event_shape_tensor(self) -> Any:
        return constant([], dtypes.int32)

    def _event_shape(self) -> Any:
        return shapes.TensorShape([])

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        # Without 0, whose logarithm is infinite.
        low = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = random_ops.random_uniform(array_ops.concat([[n], array_ops.shape(self.probs)], 0), low, 1.0, self.dtype, seed)
        return op("Floor")(op("Log")(uniform) / op("Log1p")(-self.probs))

    def _valid(self, x: Any) -> Any:
        """Whole numbers of the shape of the result."""
        return (whole(x, dtypes.int32) if self.validate_args else op("Floor")(x)) * array_ops.ones_like(self.probs)

    def _cdf(self, x: Any) -> Any:
        x = self._valid(x)
        return array_ops.where(x < 0.0, array_ops.zeros_like(x), -op("Expm1")((1.0 + x) * op("Log1p")(-self.probs)))

    def _log_prob(self, x: Any) -> Any:
        x = self._valid(x)
        probs = self.probs * array_ops.ones_like(x)
        # 0 * log(0) is 0 here.
        failures = array_ops.where(math_ops.equal(x, 0.0), array_ops.zeros_like(probs), probs)
        return x * op("Log1p")(-failures) + op("Log")(probs)

    def _entropy(self) -> Any:
        probs = self.probs
        if self.validate_args:
            words = "Entropy is undefined when logits = inf or probs = 1."
            probs = checked([check_ops.assert_less(probs, constant(1.0, probs.dtype), message=words)], probs)
        return op("Softplus")(self.logits) / probs - self.logits

    def _mean(self) -> Any:
        return op("Exp")(-self.logits)

    def _variance(self) -> Any:
        return self._mean() / self.probs

    def _mode(self) -> Any:
        return array_ops.zeros(self.batch_shape_tensor(), self.dtype)


class InverseGamma(Univariate):
    """The distribution of `1 / x` for x of a gamma distribution.

    Its density is `rate^c x^(-c - 1) exp(-rate / x) / gamma(c)`, with c the concentration.

    Args:
      concentration: A tensor of floats: the shape parameter.
      rate: A tensor of floats: the scale.
      validate_args: If true, it is an error of the run if a parameter or a value is not positive.
      allow_nan_stats: If false, a mean or variance that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: The parameters are not floats of one dtype.

    Example:
      >>> d = tf.contrib.distributions.InverseGamma(concentration=[0.5, 3.0], rate=2.0)
      >>> print(*tf.Session().run([d.mean(), d.mode(), d.concentration, d.rate]))
      [nan  1.] [1.3333334 0.5      ] [0.5 3. ] 2.0
    """

    PARAMETERS = ("concentration", "rate")
    REPARAMETERIZATION = NOT_REPARAMETERIZED

    def __init__(
        self, concentration: Any, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "InverseGamma"
    ) -> None:
        self._build(dict(locals()), lambda: check_ops.assert_positive(concentration), lambda: check_ops.assert_positive(rate))

    @property
    def concentration(self) -> Any:
        """The shape parameter."""
        return self._concentration  # type: ignore[attr-defined]

    @property
    def rate(self) -> Any:
        """The scale."""
        return self._rate  # type: ignore[attr-defined]

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        return 1.0 / random_ops.random_gamma([n], self.concentration, self.rate, self.dtype, seed)

    def _valid(self, x: Any) -> Any:
        return checked([check_ops.assert_positive(x)], x) if self.validate_args else x

    def _cdf(self, x: Any) -> Any:
        return op("Igammac")(self.concentration, self.rate / self._valid(x))

    def _log_unnormalized_prob(self, x: Any) -> Any:
        x = self._valid(x)
        return -(1.0 + self.concentration) * op("Log")(x) - self.rate / x

    def _log_normalization(self) -> Any:
        return op("Lgamma")(self.concentration) - self.concentration * op("Log")(self.rate)

    def _entropy(self) -> Any:
        c = self.concentration
        return c + op("Log")(self.rate) + op("Lgamma")(c) - (1.0 + c) * op("Digamma")(c)

    def _existing(self, value: Any, least: float, what: str) -> Any:
        """Returns a statistic that exists where the concentration is greater than `least`."""
        if self.allow_nan_stats:
            return special.nan_unless(self.concentration > least, value, self.batch_shape_tensor())
        words = f"{what} undefined when any concentration <= {least:g}"
        return checked([check_ops.assert_less(constant(least, self.dtype), self.concentration, message=words)], value)

    def _mean(self) -> Any:
        return self._existing(self.rate / (self.concentration - 1.0), 1.0, "mean")

    def _variance(self) -> Any:
        variance = op("Square")(self.rate) / op("Square")(self.concentration - 1.0) / (self.concentration - 2.0)
        return self._existing(variance, 2.0, "variance")

    def _mode(self) -> Any:
        return self.rate / (1.0 + self.concentration)


class Deterministic(Distribution):
    """The distribution of a number that is always the same.

    Args:
      loc: A tensor: the number.
      atol: A number or tensor: values that are no further from `loc` have probability 1; by default 0.
      rtol: As `atol`, but a factor of the magnitude of `loc`.
      validate_args: If true, it is an error of the run if `atol` or `rtol` is negative.
      allow_nan_stats: Ignored: all statistics exist.
      name: The name scope of the operations.

    Example:
      >>> d = tf.contrib.distributions.Deterministic(2.0, atol=0.5)
      >>> print(*tf.Session().run([d.prob([1.0, 2.25]), d.mean(), d.loc, d.atol, d.rtol]))
      [0. 1.] 2.0 2.0 0.5 0.0
    """

    def __init__(
        self, loc: Any, atol: Any = None, rtol: Any = None, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Deterministic"
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, atol, rtol]) as name:
            self._loc = convert_to_tensor(loc, name="loc")
            self._atol, self._rtol = (self._tolerance(value, word, validate_args) for value, word in ((atol, "atol"), (rtol, "rtol")))
            self._slack = self._atol if rtol is None else self._atol + self._rtol * op("Abs")(self._loc)
        super().__init__(self._loc.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [self._loc, self._atol, self._rtol], name)

    def _tolerance(self, value: Any, word: str, validate_args: bool) -> Any:
        tolerance = convert_to_tensor(0 if value is None else value, self._loc.dtype, word)
        if value is None or not validate_args:
            return tolerance
        return checked([check_ops.assert_non_negative(tolerance, message=f"Argument '{word}' must be non-negative")], tolerance)

    @property
    def loc(self) -> Any:
        """The number."""
        return self._loc

    @property
    def atol(self) -> Any:
        """The distance within which values have probability 1."""
        return self._atol

    @property
    def rtol(self) -> Any:
        """That distance as a factor of the number's magnitude."""
        return self._rtol

    def _batch_shape_tensor(self) -> Any:
        return array_ops.shape(self.loc)

    def _batch_shape(self) -> Any:
        return self.loc.shape

    def _event_shape(self) -> Any:
        return shapes.TensorShape([])

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
        return self.loc * array_ops.ones(shape, dtype=self.dtype)

    def _prob(self, x: Any) -> Any:
        return math_ops.cast(op("Abs")(x - self.loc) <= self._slack, self.dtype)

    def _log_prob(self, x: Any) -> Any:
        return op("Log")(self._prob(x))

    def _cdf(self, x: Any) -> Any:
        return math_ops.cast(x >= self.loc - self._slack, self.dtype)

    def _entropy(self) -> Any:
        return array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _mean(self) -> Any:
        return array_ops.identity(self.loc)

    def _variance(self) -> Any:
        return array_ops.zeros_like(self.loc)

    _mode = _mean
