"""The distributions of `tf.contrib.distributions` alone, without the multivariate normal ones."""

from __future__ import annotations

import math
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from millstream._engine import Tensor
from millstream.distributions import special
from millstream.distributions.base import (
    Distribution,
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    checked,
)
from millstream.distributions.continuous import LocationScale
from millstream.distributions.discrete import Categorical, OfClasses, kl_of_logits, logits_and_probs, whole
from millstream.distributions.divergence import RegisterKL, kl_divergence
from millstream.framework import constant_value, convert_to_tensor, dtypes, name_scope, shapes
from millstream.framework.op_functions import op
from millstream.nn import functions as nn
from millstream.ops import array_ops, check_ops, linalg_ops, math_ops, random_ops, reduction_ops


class Cauchy(LocationScale):
    """The Cauchy distribution, which has neither mean nor variance.

    Args:
      loc: A tensor of floats: the mode.
      scale: A tensor of floats: half the width at half of the density's height.
      validate_args: If true, it is an error of the run if `scale` is not positive.
      allow_nan_stats: If false, the mean and the standard deviation are errors instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: The parameters are not floats of one dtype.

    Example:
      >>> d = tf.contrib.distributions.Cauchy(loc=1.0, scale=2.0)
      >>> print(*tf.Session().run([d.cdf(3.0), d.mode(), d.mean(), d.loc, d.scale]))
      0.75 1.0 nan 1.0 2.0
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Cauchy") -> None:
        self._build(dict(locals()), lambda: check_ops.assert_positive(scale))

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        return self._quantile(random_ops.random_uniform(self._shape_of(n), 0.0, 1.0, self.dtype, seed))

    def _cdf(self, x: Any) -> Any:
        return op("Atan")(self._z(x)) / math.pi + 0.5

    def _log_cdf(self, x: Any) -> Any:
        return op("Log1p")(2.0 / math.pi * op("Atan")(self._z(x))) - math.log(2.0)

    def _log_unnormalized_prob(self, x: Any) -> Any:
        return -op("Log1p")(op("Square")(self._z(x)))

    def _log_normalization(self) -> Any:
        return math.log(math.pi) + op("Log")(self.scale)

    def _entropy(self) -> Any:
        return (math.log(4.0 * math.pi) + op("Log")(self.scale)) * array_ops.ones_like(self.loc)

    def _quantile(self, p: Any) -> Any:
        return self.loc + self.scale * op("Tan")(math.pi * (p - 0.5))

    def _mode(self) -> Any:
        return self.loc * array_ops.ones_like(self.scale)

    def _undefined(self, what: str) -> Any:
        if not self.allow_nan_stats:
            raise ValueError("`%s` is undefined for Cauchy distribution." % what)
        return array_ops.fill(self.batch_shape_tensor(), self.dtype.as_numpy_dtype(np.nan))

    def _mean(self) -> Any:
        return self._undefined("mean")

    def _stddev(self) -> Any:
        return self._undefined("stddev")


class Poisson(Distribution):
    """The Poisson distribution: the number of events in a unit of time.

    Args:
      rate: A tensor of floats: the mean. Either this or `log_rate` is given.
      log_rate: A tensor of floats: its logarithm.
      validate_args: If true, it is an error of the run if `rate` is not positive, or a value not whole.
      allow_nan_stats: If false, a statistic that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: Both or neither of `rate` and `log_rate` are given.

    Example:
      >>> d = tf.contrib.distributions.Poisson(rate=2.0)
      >>> print(*np.round(tf.Session().run([d.prob(2.0), d.variance(), d.rate, d.log_rate]), 4))
      0.2707 2.0 2.0 0.6931
    """

    def __init__(
        self, rate: Any = None, log_rate: Any = None, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Poisson"
    ) -> None:
        parameters = dict(locals())
        if (rate is None) == (log_rate is None):
            raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
        with name_scope(name, values=[rate, log_rate]) as name:
            if log_rate is None:
                self._rate = convert_to_tensor(rate, name="rate")
                if validate_args:
                    self._rate = checked([check_ops.assert_positive(self._rate)], self._rate)
                self._log_rate = op("Log")(self._rate)
            else:
                self._log_rate = convert_to_tensor(log_rate, name="log_rate")
                self._rate = op("Exp")(self._log_rate)
        super().__init__(self._rate.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [self._rate], name)

    @property
    def rate(self) -> Any:
        """The mean."""
        return self._rate

    @property
    def log_rate(self) -> Any:
        """The mean's logarithm."""
        return self._log_rate

    def _batch_shape_tensor(self) -> Any:
        return array_ops.shape(self.rate)

    def _batch_shape(self) -> Any:
        return self.rate.shape

    def _event_shape(self) -> Any:
        return shapes.TensorShape([])

    def _valid(self, x: Any) -> Any:
        return whole(x, dtypes.int32) if self.validate_args else x

    def _log_prob(self, x: Any) -> Any:
        x = self._valid(x)
        return x * self.log_rate - op("Lgamma")(1.0 + x) - self.rate

    def _cdf(self, x: Any) -> Any:
        return op("Igammac")(1.0 + self._valid(x), self.rate)

    def _mean(self) -> Any:
        return array_ops.identity(self.rate)

    _variance = _mean

    def _mode(self) -> Any:
        return op("Floor")(self.rate)

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        return random_ops.random_poisson(self.rate, [n], dtype=self.dtype, seed=seed)


class _Rows(OfClasses):
    """The base class of distributions whose events are rows with an element for each class."""

    def _event_shape_tensor(self) -> Any:
        return array_ops.shape(self.logits)[-1:]

    def _event_shape(self) -> Any:
        return self.logits.shape.with_rank_at_least(1)[-1:]

    def _both(self, x: Any) -> Tuple[Any, Any, Any]:
        """Returns values and logits as matrices, and the shape of the result."""
        logits = self.logits
        if not (x.shape.is_fully_defined() and x.shape == logits.shape):
            logits = array_ops.ones_like(x, dtype=logits.dtype) * logits
            x = array_ops.ones_like(logits, dtype=x.dtype) * x
        flat = (array_ops.reshape(t, [-1, self.event_size]) for t in (x, logits))
        return (*flat, array_ops.shape(logits)[:-1])  # type: ignore[return-value]


class OneHotCategorical(_Rows):
    """A distribution over classes, whose samples are rows with a one at the class's place.

    Args:
      logits: A tensor of floats of shape `[.., n]`: the logarithms of the classes' probabilities, up to a
        constant in each row. Either these or `probs` are given.
      probs: A tensor of floats of shape `[.., n]`: the probabilities.
      dtype: The dtype of samples.
      validate_args: If true, parameters are checked when the graph is run.
      allow_nan_stats: If false, a statistic that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: Both or neither of `logits` and `probs` are given.

    Example:
      >>> d = tf.contrib.distributions.OneHotCategorical(probs=[0.25, 0.25, 0.5])
      >>> print(*tf.Session().run([d.mode(), d.prob([1.0, 0.0, 0.0])]))
      [0 0 1] 0.25
    """

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "OneHotCategorical",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args, name)
            self._set_sizes()
        parents = [self._logits, self._probs]
        super().__init__(dtypes.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name)

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        draws = array_ops.transpose(random_ops.multinomial(self._rows(), n, seed=seed))
        shape = array_ops.concat([[n], array_ops.shape(self.logits)], 0)
        return array_ops.reshape(array_ops.one_hot(draws, self.event_size, dtype=self.dtype), shape)

    def _log_prob(self, x: Any) -> Any:
        x, logits, shape = self._both(math_ops.cast(x, self.logits.dtype))
        return array_ops.reshape(-nn.softmax_cross_entropy_with_logits_v2(labels=x, logits=logits), shape)

    def _mode(self) -> Any:
        place = reduction_ops.argmax(self.logits, axis=self._batch_rank)
        return array_ops.one_hot(place, self.event_size, dtype=self.dtype)

    def _variance(self) -> Any:
        return self.probs * (1.0 - self.probs)

    def _covariance(self) -> Any:
        p = self.probs
        products = -math_ops.matmul(array_ops.expand_dims(p, -1), array_ops.expand_dims(p, -2))
        return linalg_ops.matrix_set_diag(products, self._variance())


class RelaxedOneHotCategorical(_Rows):
    """The Gumbel-softmax distribution: of rows of probabilities, near to one class at low temperatures.

    Gradients flow through its samples.

    Args:
      temperature: A tensor of floats, positive.
      logits: A tensor of floats of shape `[.., n]`: the logarithms of the classes' probabilities, up to a
        constant in each row. Either these or `probs` are given.
      probs: A tensor of floats of shape `[.., n]`: the probabilities.
      dtype: The dtype of samples; by default that of the parameter.
      validate_args: If true, it is an error of the run if the temperature is not positive.
      allow_nan_stats: If false, a statistic that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: Both or neither of `logits` and `probs` are given.

    Example:
      >>> d = tf.contrib.distributions.RelaxedOneHotCategorical(temperature=0.5, logits=[1.0, 2.0])
      >>> print(d.sample(3).shape, *np.round(tf.Session().run([d.prob([0.25, 0.75]), d.temperature]), 4))
      (3, 2) 0.6339 0.5
    """

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args, name)
            self._temperature = math_ops.cast(convert_to_tensor(temperature, name="temperature"), self._logits.dtype)
            if validate_args:
                self._temperature = checked([check_ops.assert_positive(self._temperature)], self._temperature)
            self._set_sizes()
        parents = [self._logits, self._probs, self._temperature]
        kind = self._logits.dtype if dtype is None else dtypes.as_dtype(dtype)
        super().__init__(kind, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name)

    @property
    def temperature(self) -> Any:
        """The temperature."""
        return self._temperature

    def _column(self) -> Any:
        return array_ops.reshape(self._temperature, [-1, 1])

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        shape = array_ops.concat([[n], array_ops.shape(self.logits)], 0)
        flat = array_ops.reshape(self.logits * array_ops.ones(shape, self.dtype), [-1, self.event_size])
        # Without 0, whose logarithm is infinite.
        low = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = random_ops.random_uniform(array_ops.shape(flat), low, 1.0, self.dtype, seed)
        gumbel = -op("Log")(-op("Log")(uniform))
        return array_ops.reshape(op("Exp")(nn.log_softmax((gumbel + flat) / self._column())), shape)

    def _log_prob(self, x: Any) -> Any:
        logs, logits, shape = self._both(op("Log")(x))
        k = math_ops.cast(self.event_size, self.dtype)
        constant = op("Lgamma")(k) + (k - 1.0) * op("Log")(self._temperature)
        rows = reduction_ops.reduce_sum(nn.log_softmax(logits - logs * self._column()), -1)
        slope = reduction_ops.reduce_sum(logs, -1)  # That of the exponential function, which samples come from.
        return array_ops.reshape(constant + rows - slope, shape)

    def _entropy(self) -> Any:
        raise self._lacks("entropy")


class Independent(Distribution):
    """A distribution whose last batch dimensions count as dimensions of the event.

    Args:
      distribution: A distribution.
      reinterpreted_batch_ndims: An int: the number of dimensions; by default all but the first.
      validate_args: If true, parameters are checked when the graph is run.
      name: The name scope of the operations.

    Raises:
      ValueError: The batch has fewer dimensions, or its rank is not known.

    Example:
      >>> d = tf.contrib.distributions.Independent(tf.distributions.Normal([0.0, 0.0], 1.0), 1)
      >>> print(d.batch_shape, d.event_shape, tf.Session().run(d.log_prob([0.0, 0.0])))
      () (2,) -1.837877
      >>> d.distribution.batch_shape, d.reinterpreted_batch_ndims
      (TensorShape([Dimension(2)]), 1)
    """

    def __init__(self, distribution: Any, reinterpreted_batch_ndims: Any = None, validate_args: bool = False, name: Optional[str] = None) -> None:
        parameters = dict(locals())
        rank = distribution.batch_shape.ndims
        if rank is None:
            raise ValueError("Independent: the rank of the batch of %s must be known" % distribution)
        n = reinterpreted_batch_ndims
        given = max(0, rank - 1) if n is None else constant_value(convert_to_tensor(n)) if isinstance(n, Tensor) else n
        if given is None or rank < given:
            words = "reinterpreted_batch_ndims(%s) cannot exceed distribution.batch_ndims(%d)"
            raise ValueError(words % (given, rank))
        self._distribution, self._n = distribution, int(given)
        kind = distribution.reparameterization_type
        common = (distribution.allow_nan_stats, parameters, distribution._graph_parents)
        super().__init__(distribution.dtype, kind, validate_args, *common, name or "Independent" + distribution.name)

    @property
    def distribution(self) -> Any:
        """The distribution of the parts."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self) -> int:
        """The number of batch dimensions that count as dimensions of the event."""
        return self._n

    def _kept(self) -> int:
        return self.distribution.batch_shape.ndims - self._n

    def _batch_shape_tensor(self) -> Any:
        return self.distribution.batch_shape_tensor()[: self._kept()]

    def _batch_shape(self) -> Any:
        return self.distribution.batch_shape[: self._kept()]

    def _event_shape_tensor(self) -> Any:
        rest = self.distribution.batch_shape_tensor()[self._kept() :]
        return array_ops.concat([rest, self.distribution.event_shape_tensor()], 0)

    def _event_shape(self) -> Any:
        return self.distribution.batch_shape[self._kept() :].concatenate(self.distribution.event_shape)

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        return self.distribution.sample(n, seed=seed)

    def _summed(self, x: Any) -> Any:
        return reduction_ops.reduce_sum(x, axis=[-1 - i for i in range(self._n)])

    def _log_prob(self, x: Any) -> Any:
        return self._summed(self.distribution.log_prob(x))

    def _entropy(self) -> Any:
        return self._summed(self.distribution.entropy())

    def _mean(self) -> Any:
        return self.distribution.mean()

    def _variance(self) -> Any:
        return self.distribution.variance()

    def _stddev(self) -> Any:
        return self.distribution.stddev()

    def _mode(self) -> Any:
        return self.distribution.mode()


class Mixture(Distribution):
    """A mixture: a class is drawn, and the value from the class's distribution.

    Args:
      cat: A `Categorical`: the distribution of the class.
      components: A list with a distribution for each class, all of one dtype, batch shape and event shape.
      validate_args: If true, it is an error of the run if the batch shapes differ.
      allow_nan_stats: If false, a statistic that does not exist is an error of the run instead of NaN.
      use_static_graph: If true, a sample is drawn of each component and all but one are dropped.
      name: The name scope of the operations.

    Raises:
      TypeError: An argument is of another type, or the components' dtypes differ.
      ValueError: The number of components is not that of the classes, or their shapes differ.

    Example:
      >>> d = tf.contrib.distributions.Mixture(
      ...     cat=tf.distributions.Categorical(probs=[0.25, 0.75]),
      ...     components=[tf.distributions.Normal(0.0, 1.0), tf.distributions.Normal(4.0, 1.0)])
      >>> print(*np.round(tf.Session().run([d.mean(), d.stddev(), d.entropy_lower_bound()]), 4))
      3.0 2.0 1.4189
      >>> d.num_components, len(d.components), d.cat.event_size.dtype
      (2, 2, tf.int32)
    """

    def __init__(
        self,
        cat: Any,
        components: Sequence[Any],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        use_static_graph: bool = False,
        name: str = "Mixture",
    ) -> None:
        parameters = dict(locals())
        self._event, self._batch = _shapes_of_mixture(cat, components)
        with name_scope(name, values=[cat.logits]) as name:
            self._assertions: List[Any] = []
            if validate_args:
                words = "components[%d] batch shape must match cat batch shape"
                wanted = cat.batch_shape_tensor()
                self._assertions = [
                    check_ops.assert_equal(wanted, d.batch_shape_tensor(), message=words % i) for i, d in enumerate(components)
                ]
        self._cat, self._components, self._static = cat, list(components), use_static_graph
        parents = [t for d in (cat, *components) for t in d._graph_parents]
        super().__init__(components[0].dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name)

    @property
    def cat(self) -> Any:
        """The distribution of the class."""
        return self._cat

    @property
    def components(self) -> List[Any]:
        """The distributions of the classes."""
        return self._components

    @property
    def num_components(self) -> int:
        """The number of classes."""
        return len(self._components)

    def _batch_shape_tensor(self) -> Any:
        return self.cat.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self._batch

    def _event_shape_tensor(self) -> Any:
        return self.components[0].event_shape_tensor()

    def _event_shape(self) -> Any:
        return self._event

    def _after(self, x: Any) -> Any:
        return checked(self._assertions, x) if self._assertions else x

    def _weights(self) -> List[Any]:
        """Returns the probabilities of the classes, with dimensions of size 1 for the event's."""
        probs = array_ops.unstack(nn.softmax(self._after(self.cat.logits)), num=self.num_components, axis=-1)
        for _ in range(self.event_shape.ndims or 0):
            probs = [array_ops.expand_dims(p, -1) for p in probs]
        return probs

    def _mean(self) -> Any:
        return math_ops.add_n([p * d.mean() for p, d in zip(self._weights(), self.components)])

    def _stddev(self) -> Any:
        # The variance within the components, and that of their means.
        mean, weights = self._mean(), self._weights()
        parts = [(op("Square")(d.stddev()) + op("Square")(d.mean() - mean)) for d in self.components]
        return op("Sqrt")(math_ops.add_n([p * part for p, part in zip(weights, parts)]))

    def _mixed(self, logs: List[Any]) -> Any:
        weights = array_ops.unstack(nn.log_softmax(self._after(self.cat.logits)), num=self.num_components, axis=-1)
        return reduction_ops.reduce_logsumexp(array_ops.stack([w + x for w, x in zip(weights, logs)], 0), [0])

    def _log_prob(self, x: Any) -> Any:
        return self._mixed([d.log_prob(x) for d in self.components])

    def _log_cdf(self, x: Any) -> Any:
        return self._mixed([d.log_cdf(x) for d in self.components])

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Tensor:
        """Returns the mean of the components' entropies, which is at most the entropy."""
        with self._name_scope(name):
            probs = array_ops.unstack(nn.softmax(self._after(self.cat.logits)), num=self.num_components, axis=-1)
            return math_ops.add_n([p * d.entropy() for p, d in zip(probs, self.components)])

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        classes = self._after(self.cat.sample(n, seed=seed))
        return self._sample_all(classes, n, seed) if self._static else self._sample_drawn(classes, n, seed)

    def _sample_all(self, classes: Any, n: Any, seed: Optional[int]) -> Any:
        samples = []
        for component in self.components:
            seed = special.salted(seed, "mixture")
            samples.append(component.sample(n, seed=seed))
        rank = self.event_shape.ndims or 0
        mask = array_ops.one_hot(classes, self.num_components, dtype=samples[0].dtype)
        for _ in range(rank):
            mask = array_ops.expand_dims(mask, -1)
        return reduction_ops.reduce_sum(array_ops.stack(samples, -rank - 1) * mask, axis=-rank - 1)

    def _sample_drawn(self, classes: Any, n: Any, seed: Optional[int]) -> Any:
        """Draws, from each component, as many samples as it has places, each for the whole batch."""
        shape, event = array_ops.shape(classes), self.event_shape_tensor()
        batch_size = array_ops.size(classes) // convert_to_tensor(n, dtypes.int32)
        places = array_ops.reshape(math_ops.range(array_ops.size(classes)), shape)
        of_classes = op("DynamicPartition")(places, math_ops.cast(classes, dtypes.int32), num_partitions=self.num_components)
        found = []
        for component, here in zip(self.components, of_classes):
            seed = special.salted(seed, "mixture")
            count = array_ops.size(here)
            samples = array_ops.reshape(component.sample(count, seed=seed), array_ops.concat([[count * batch_size], event], 0))
            # The sample's element for the place's element of the batch.
            found.append(op("GatherV2")(samples, batch_size * math_ops.range(count) + here % batch_size, 0))
        return array_ops.reshape(op("DynamicStitch")(of_classes, found), array_ops.concat([shape, event], 0))


def _shapes_of_mixture(cat: Any, components: Sequence[Any]) -> Tuple[Any, Any]:
    """Returns the event's and the batch's static shape, after checks of the arguments."""
    if not isinstance(cat, Categorical):
        raise TypeError("cat must be a Categorical distribution, but saw: %s" % cat)
    if not components:
        raise ValueError("components must be a non-empty list or tuple")
    if not isinstance(components, (list, tuple)):
        raise TypeError("components must be a list or tuple, but saw: %s" % components)
    if not all(isinstance(c, Distribution) for c in components):
        raise TypeError("all entries in components must be Distribution instances but saw: %s" % (components,))
    if any(d.dtype != components[0].dtype for d in components):
        found = [(d.name, d.dtype) for d in components]
        raise TypeError("All components must have the same dtype, but saw dtypes: %s" % found)
    event, batch = components[0].event_shape, cat.batch_shape
    for d in components:
        event, batch = event.merge_with(d.event_shape), batch.merge_with(d.batch_shape)
    if event.ndims is None:
        raise ValueError(
            "Expected to know rank(event_shape) from components, but none of the components provide a static number of ndims"
        )
    n_classes = constant_value(cat.event_size)
    if n_classes is None:
        raise ValueError(
            "Could not infer number of classes from cat and unable to compare this value to the number of components passed in."
        )
    if int(n_classes) != len(components):
        raise ValueError("cat.num_classes != len(components): %d vs. %d" % (n_classes, len(components)))
    return event, batch


RegisterKL(OneHotCategorical, OneHotCategorical)(kl_of_logits)


@RegisterKL(Independent, Independent)
def _independents(a: Any, b: Any, name: Optional[str] = "kl_independent") -> Any:
    p, q = a.distribution, b.distribution
    if not a.event_shape.is_compatible_with(b.event_shape):
        raise ValueError("Event shapes do not match.")
    if p.event_shape.ndims != q.event_shape.ndims:
        raise NotImplementedError("KL between Independents with different event shapes not supported.")
    return a._summed(kl_divergence(p, q, name=name))
