"""Distributions of counts: `Binomial` and `NegativeBinomial`."""

from __future__ import annotations

from typing import Any, Optional

from millstream.distributions import special
from millstream.distributions.base import Distribution, NOT_REPARAMETERIZED, checked
from millstream.distributions.discrete import logits_and_probs, whole
from millstream.framework import control_dependencies, convert_to_tensor, dtypes, name_scope, shapes
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, math_ops, random_ops, shape_ops


class _Trials(Distribution):
    """The base class of the distributions of counts in trials, each a success with probability `probs`."""

    def _made(self, parameters: Any, total_count: Any, logits: Any, probs: Any, *checks: Any) -> None:
        validate_args, name = parameters["validate_args"], parameters["name"]
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._logits, self._probs = logits_and_probs(logits, probs, False, validate_args, name)
            with control_dependencies([check(total_count) for check in checks] if validate_args else []):
                self._total_count = array_ops.identity(convert_to_tensor(total_count, dtype=self._probs.dtype, name="total_count"))
        parents = [self._total_count, self._probs, self._logits]
        Distribution.__init__(self, self._probs.dtype, NOT_REPARAMETERIZED, validate_args, parameters["allow_nan_stats"], parameters, parents, name)

    @property
    def total_count(self) -> Any:
        """The number of trials of `Binomial`, of failures of `NegativeBinomial`."""
        return self._total_count

    @property
    def logits(self) -> Any:
        """The log-odds of a success."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probability of a success."""
        return self._probs

    def _batch_shape_tensor(self) -> Any:
        return shape_ops.broadcast_dynamic_shape(array_ops.shape(self.total_count), array_ops.shape(self.probs))

    def _batch_shape(self) -> Any:
        return array_ops.broadcast_static_shape(self.total_count.shape, self.probs.shape)

    def _event_shape(self) -> Any:
        return shapes.TensorShape([])


class Binomial(_Trials):
    """The number of successes in `total_count` trials.

    Args:
      total_count: A tensor of floats: the number of trials.
      logits: A tensor of floats: the log-odds of a success. Either this or `probs` is given.
      probs: A tensor of floats: the probability of a success.
      validate_args: If true, it is an error of the run if `total_count` is negative, or a value is not whole,
        or greater than it.
      allow_nan_stats: Ignored: all statistics exist.
      name: The name scope of the operations.

    Raises:
      ValueError: Both or neither of `logits` and `probs` are given.
      NotImplementedError: `sample` is called: as in TensorFlow, there are no samples.

    Example:
      >>> d = tf.contrib.distributions.Binomial(total_count=4.0, probs=0.25)
      >>> print(*np.round(tf.Session().run([d.prob(1.0), d.cdf(1.0), d.mean(), d.mode(), d.probs, d.logits, d.total_count]), 4))
      0.4219 0.7383 1.0 1.0 0.25 -1.0986 4.0
    """

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Binomial",
    ) -> None:
        self._made(dict(locals()), total_count, logits, probs, check_ops.assert_non_negative)

    def _valid(self, counts: Any) -> Any:
        if not self.validate_args:
            return counts
        counts = whole(counts, dtypes.int32)
        return checked([check_ops.assert_less_equal(counts, self.total_count, message="counts are not less than or equal to n.")], counts)

    def _log_prob(self, counts: Any) -> Any:
        counts = self._valid(counts)
        failures = self.total_count - counts
        ways = op("Lgamma")(1.0 + self.total_count) - op("Lgamma")(1.0 + failures) - op("Lgamma")(1.0 + counts)
        return counts * op("Log")(self.probs) + failures * op("Log1p")(-self.probs) + ways

    def _cdf(self, counts: Any) -> Any:
        counts, n = self._valid(counts), self.total_count
        ones = array_ops.ones_like(counts - n + self.probs)
        counts, n, failure = ones * counts, ones * n, ones * (1.0 - self.probs)
        # Of all trials, the arguments are not those of an incomplete beta function.
        return array_ops.where(counts < n, op("Betainc")(op("Maximum")(n - counts, ones), counts + 1.0, failure), ones)

    def _mean(self) -> Any:
        return self.total_count * self.probs

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Any:
        return op("Floor")((1.0 + self.total_count) * self.probs)


class NegativeBinomial(_Trials):
    """The number of successes before `total_count` failures.

    Args:
      total_count: A tensor of positive floats: the number of failures.
      logits: A tensor of floats: the log-odds of a success. Either this or `probs` is given.
      probs: A tensor of floats: the probability of a success.
      validate_args: If true, it is an error of the run if `total_count` is not positive, or a value is not
        whole.
      allow_nan_stats: Ignored: all statistics exist.
      name: The name scope of the operations.

    Raises:
      ValueError: Both or neither of `logits` and `probs` are given.

    Example:
      >>> d = tf.contrib.distributions.NegativeBinomial(total_count=2.0, probs=0.5)
      >>> print(*np.round(tf.Session().run([d.prob(1.0), d.cdf(1.0), d.mean(), d.variance(), d.mode()]), 4))
      0.25 0.5 2.0 4.0 1.0
    """

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NegativeBinomial",
    ) -> None:
        self._made(dict(locals()), total_count, logits, probs, check_ops.assert_positive)

    def _valid(self, x: Any) -> Any:
        return whole(x, dtypes.int32) if self.validate_args else x

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        # Poisson numbers whose rates have a gamma distribution.
        rate = random_ops.random_gamma([n], self.total_count, op("Exp")(-self.logits), self.dtype, seed)
        return random_ops.random_poisson(rate, [], self.dtype, special.salted(seed, "negative_binom"))

    def _cdf(self, x: Any) -> Any:
        x = self._valid(x)
        ones = array_ops.ones_like(x + self.total_count + self.logits)
        return op("Betainc")(self.total_count * ones, (1.0 + x) * ones, math_ops.sigmoid(-self.logits) * ones)

    def _log_prob(self, x: Any) -> Any:
        x, failures = self._valid(x), self.total_count
        ways = op("Lgamma")(failures + x) - op("Lgamma")(1.0 + x) - op("Lgamma")(failures)
        return failures * math_ops.log_sigmoid(-self.logits) + x * math_ops.log_sigmoid(self.logits) + ways

    def _mean(self) -> Any:
        return self.total_count * op("Exp")(self.logits)

    def _mode(self) -> Any:
        mode = op("Floor")((self.total_count - 1.0) * op("Exp")(self.logits))
        return array_ops.where(self.total_count * array_ops.ones_like(mode) > 1.0, mode, array_ops.zeros_like(mode))

    def _variance(self) -> Any:
        return self._mean() / math_ops.sigmoid(-self.logits)
