"""`DirichletMultinomial`: counts of draws with probabilities that are drawn themselves."""

from __future__ import annotations

from typing import Any, Optional

from millstream.distributions.base import NOT_REPARAMETERIZED, checked
from millstream.distributions.discrete import Vector, whole, with_classes
from millstream.distributions.special import salted
from millstream.framework import convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, math_ops, random_ops, reduction_ops


class DirichletMultinomial(Vector):
    """The distribution of a multinomial's counts if its probabilities have a Dirichlet distribution.

    Args:
      total_count: A tensor of floats: the number of draws.
      concentration: A tensor of positive floats of shape `[.., n]`, the Dirichlet distribution's parameter.
      validate_args: If true, parameters and values are checked when the graph is run.
      allow_nan_stats: Ignored: all statistics exist.
      name: The name scope of the operations.

    Example:
      >>> d = tf.distributions.DirichletMultinomial(total_count=4.0, concentration=[1.0, 3.0])
      >>> print(*tf.Session().run([d.mean(), d.total_count, d.concentration, d.total_concentration]))
      [1. 3.] 4.0 [1. 3.] 4.0
    """

    def __init__(
        self,
        total_count: Any,
        concentration: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DirichletMultinomial",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[total_count, concentration]) as name:
            self._total_count = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = whole(self._total_count, dtypes.int32)
            self._concentration = convert_to_tensor(concentration, name="concentration")
            if validate_args:
                words = "Concentration parameter must be positive."
                positive = check_ops.assert_positive(self._concentration, message=words)
                self._concentration = checked([positive], with_classes(self._concentration))
            self._total_concentration = reduction_ops.reduce_sum(self._concentration, -1)
        parents = [self._total_count, self._concentration]
        super().__init__(self._concentration.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name)

    @property
    def total_count(self) -> Any:
        """The number of draws."""
        return self._total_count

    @property
    def concentration(self) -> Any:
        """The parameter of the Dirichlet distribution."""
        return self._concentration

    @property
    def total_concentration(self) -> Any:
        """The sum of `concentration` over the classes."""
        return self._total_concentration

    def _parameter(self) -> Any:
        return self.concentration

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        draws, k = math_ops.cast(self.total_count, dtypes.int32), self.event_shape_tensor()[0]
        weights = random_ops.random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        logits = array_ops.reshape(op("Log")(weights), [-1, k])
        drawn = random_ops.multinomial(logits, draws, seed=salted(seed, "dirichlet_multinomial"))
        counts = reduction_ops.reduce_sum(array_ops.one_hot(drawn, k), -2)
        return math_ops.cast(array_ops.reshape(counts, array_ops.concat([[n], self.batch_shape_tensor(), [k]], 0)), self.dtype)

    def _valid(self, counts: Any) -> Any:
        if not self.validate_args:
            return counts
        counts = whole(counts, dtypes.int32)
        words = "counts last-dimension must sum to `self.total_count`"
        return checked([check_ops.assert_equal(self.total_count, reduction_ops.reduce_sum(counts, -1), message=words)], counts)

    def _log_prob(self, counts: Any) -> Any:
        counts = self._valid(counts)
        ways = op("Lgamma")(self.total_count + 1.0) - reduction_ops.reduce_sum(op("Lgamma")(counts + 1.0), -1)
        return reduction_ops.lbeta(self.concentration + counts) - reduction_ops.lbeta(self.concentration) + ways

    def _mean(self) -> Any:
        return self.total_count * (self.concentration / array_ops.expand_dims(self.total_concentration, -1))

    def _scale(self) -> Any:
        c0 = array_ops.expand_dims(self.total_concentration, -1)
        return op("Sqrt")((1.0 + c0 / self.total_count) / (1.0 + c0))

    def _variance(self) -> Any:
        scale = self._scale()
        x = scale * self._mean()
        return x * (self.total_count * scale - x)

    def _covariance(self) -> Any:
        x = self._scale() * self._mean()
        return self._from_product(x, x)
