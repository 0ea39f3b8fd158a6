"""Distributions whose parameters are functions of the arguments, such as the softplus of a scale."""

from __future__ import annotations

from typing import Any

from millstream.contrib.distributions.univariate import Chi2
from millstream.distributions.continuous import Beta, Exponential, Gamma, Laplace, Normal, StudentT
from millstream.framework import name_scope
from millstream.framework.op_functions import op
from millstream.ops import math_ops


def _softplus(value: Any, name: str) -> Any:
    return op("Softplus")(value, name="softplus_" + name)


class BetaWithSoftplusConcentration(Beta):
    """The beta distribution, of the softplus of both concentrations. Arguments are those of `Beta`.

    Example:
      >>> d = tf.contrib.distributions.BetaWithSoftplusConcentration(1.0, 0.0)
      >>> print(*np.round(tf.Session().run([d.concentration1, d.concentration0]), 4))
      1.3133 0.6931
    """

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "BetaWithSoftplusConcentration"
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            one, zero = _softplus(concentration1, "concentration1"), _softplus(concentration0, "concentration0")
            super().__init__(one, zero, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class Chi2WithAbsDf(Chi2):
    """The chi-squared distribution, of degrees of freedom `floor(abs(df))`. Arguments are those of `Chi2`.

    Example:
      >>> d = tf.contrib.distributions.Chi2WithAbsDf(-3.5)
      >>> print(tf.Session().run(d.mean()))
      3.0
    """

    def __init__(self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2WithAbsDf") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            whole = op("Floor")(math_ops.abs(df, name="abs_df"), name="floor_abs_df")
            super().__init__(whole, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class ExponentialWithSoftplusRate(Exponential):
    """The exponential distribution, of the softplus of `rate`. Arguments are those of `Exponential`.

    Example:
      >>> d = tf.contrib.distributions.ExponentialWithSoftplusRate(0.0)
      >>> print(tf.Session().run(d.rate).round(4))
      0.6931
    """

    def __init__(self, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "ExponentialWithSoftplusRate") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            super().__init__(_softplus(rate, "rate"), validate_args, allow_nan_stats, name)
        self._parameters = parameters


class GammaWithSoftplusConcentrationRate(Gamma):
    """The gamma distribution, of the softplus of both arguments, which are those of `Gamma`.

    Example:
      >>> d = tf.contrib.distributions.GammaWithSoftplusConcentrationRate(1.0, 0.0)
      >>> print(*np.round(tf.Session().run([d.concentration, d.rate]), 4))
      1.3133 0.6931
    """

    def __init__(
        self, concentration: Any, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "GammaWithSoftplusConcentrationRate"
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            concentration, rate = _softplus(concentration, "concentration"), _softplus(rate, "rate")
            super().__init__(concentration, rate, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class LaplaceWithSoftplusScale(Laplace):
    """The Laplace distribution, of the softplus of `scale`. Arguments are those of `Laplace`.

    Example:
      >>> d = tf.contrib.distributions.LaplaceWithSoftplusScale(0.0, 0.0)
      >>> print(tf.Session().run(d.scale).round(4))
      0.6931
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "LaplaceWithSoftplusScale") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            super().__init__(loc, _softplus(scale, "scale"), validate_args, allow_nan_stats, name)
        self._parameters = parameters


class NormalWithSoftplusScale(Normal):
    """The normal distribution, of the softplus of `scale`. Arguments are those of `Normal`.

    Example:
      >>> d = tf.contrib.distributions.NormalWithSoftplusScale(0.0, 0.0)
      >>> print(tf.Session().run(d.stddev()).round(4))
      0.6931
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "NormalWithSoftplusScale") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            super().__init__(loc, _softplus(scale, "scale"), validate_args, allow_nan_stats, name)
        self._parameters = parameters


class StudentTWithAbsDfSoftplusScale(StudentT):
    """Student's t-distribution, of `floor(abs(df))` and the softplus of `scale`; see `StudentT`.

    Example:
      >>> d = tf.contrib.distributions.StudentTWithAbsDfSoftplusScale(-3.5, 0.0, 0.0)
      >>> print(*np.round(tf.Session().run([d.df, d.scale]), 4))
      3.0 0.6931
    """

    def __init__(
        self, df: Any, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "StudentTWithAbsDfSoftplusScale"
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df, scale]) as name:
            super().__init__(op("Floor")(math_ops.abs(df)), loc, _softplus(scale, "scale"), validate_args, allow_nan_stats, name)
        self._parameters = parameters
