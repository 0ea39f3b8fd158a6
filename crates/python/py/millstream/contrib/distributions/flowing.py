"""`TransformedDistribution`, and distributions that are made of others."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from millstream.contrib.distributions import bijectors
from millstream.contrib.distributions.multivariate import MultivariateNormalDiag
from millstream.contrib.distributions.others import RelaxedOneHotCategorical
from millstream.contrib.distributions.univariate import InverseGamma, Logistic
from millstream.distributions.base import NOT_REPARAMETERIZED, Distribution, _as_vector, checked
from millstream.distributions.discrete import logits_and_probs
from millstream.framework import constant_value, control_dependencies, convert_to_tensor, dtypes, name_scope, node_counts, shapes
from millstream.framework.op_functions import op
from millstream.nn import functions as nn
from millstream.ops import array_ops, check_ops, math_ops, random_ops, reduction_ops


def _override(value: Any, name: str) -> Any:
    """Returns a shape that takes the place of a scalar one, as a list; None if there is none.

    Raises:
      ValueError: It is no vector of positive ints, or not known while the graph is built.
    """
    if value is None:
        return None
    tensor = convert_to_tensor(value, dtype=dtypes.int32, name=name)
    if tensor.shape.ndims not in (None, 1):
        raise ValueError("shape override must be a vector")
    known = constant_value(tensor)
    if known is None:
        raise ValueError("TransformedDistribution: `%s` must be known while the graph is built, found %s" % (name, tensor))
    if any(n <= 0 for n in known):
        raise ValueError("shape override must have positive elements")
    return [int(n) for n in known] or None


class TransformedDistribution(Distribution):
    """The distribution of `y = bijector.forward(x)`, where `x` has another distribution.

    Args:
      distribution: The distribution of `x`.
      bijector: A bijector; None is the identity.
      batch_shape: A batch shape for a distribution whose own is that of a scalar.
      event_shape: An event shape for a distribution whose own is that of a scalar.
      validate_args: If true, values are checked when the graph is run.
      name: The name scope of the operations; by default the names of both.

    Raises:
      ValueError: A shape is given, and the distribution's own is not a scalar's; or a rank is not known.

    Example:
      >>> tfd = tf.contrib.distributions
      >>> log_normal = tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), tfd.bijectors.Exp())
      >>> print(*np.round(tf.Session().run([log_normal.prob(1.0), log_normal.quantile(0.5)]), 4))
      0.3989 1.0
      >>> rows = tfd.TransformedDistribution(
      ...     tfd.Normal(0.0, 1.0), tfd.bijectors.Affine(shift=[1.0, 2.0]), event_shape=[2])
      >>> rows.sample(3).shape, rows.event_shape, rows.distribution.event_shape, rows.bijector.name
      (TensorShape([Dimension(3), Dimension(2)]), TensorShape([Dimension(2)]), TensorShape([]), 'affine')
    """

    def __init__(
        self,
        distribution: Distribution,
        bijector: Any = None,
        batch_shape: Any = None,
        event_shape: Any = None,
        validate_args: bool = False,
        name: Optional[str] = None,
    ) -> None:
        parameters = dict(locals())
        name = name or ("" if bijector is None else bijector.name) + distribution.name
        with name_scope(name, values=[event_shape, batch_shape]) as name:
            if bijector is None:
                bijector = bijectors.Identity(validate_args=validate_args)
            self._batch_override = _override(batch_shape, "batch_shape")
            self._event_override = _override(event_shape, "event_shape")
            ranks = distribution.batch_shape.ndims, distribution.event_shape.ndims
            if None in ranks:
                raise ValueError("TransformedDistribution: the ranks of the batch and the event of %s must be known" % distribution)
            for given, rank in ((self._batch_override, ranks[0]), (self._event_override, ranks[1])):
                if given and rank:
                    raise ValueError("base distribution not scalar")
            # Samples of the base distribution have the event in front of a batch that it has itself.
            self._rotated = len(self._event_override) if self._event_override and not self._batch_override and ranks[0] else 0
        self._distribution, self._bijector = distribution, bijector
        super().__init__(
            distribution.dtype,
            distribution.reparameterization_type,
            validate_args,
            distribution.allow_nan_stats,
            parameters,
            distribution._graph_parents + bijector.graph_parents,
            name,
        )

    @property
    def distribution(self) -> Distribution:
        """The distribution of `x`."""
        return self._distribution

    @property
    def bijector(self) -> Any:
        """The bijector."""
        return self._bijector

    def _event_shape_tensor(self) -> Any:
        inner = self.distribution.event_shape_tensor() if self._event_override is None else self._event_override
        return self.bijector.forward_event_shape_tensor(inner)

    def _event_shape(self) -> Any:
        inner = self.distribution.event_shape if self._event_override is None else self._event_override
        return self.bijector.forward_event_shape(inner)

    def _batch_shape_tensor(self) -> Any:
        return self.distribution.batch_shape_tensor() if self._batch_override is None else convert_to_tensor(self._batch_override, dtypes.int32)

    def _batch_shape(self) -> Any:
        return self.distribution.batch_shape if self._batch_override is None else shapes.TensorShape(self._batch_override)

    def _call_sample_n(self, sample_shape: Any, seed: Optional[int], name: str, **kwargs: Any) -> Any:
        with self._name_scope(name, [sample_shape]):
            sample_shape, n = _as_vector(convert_to_tensor(sample_shape, dtypes.int32, name="sample_shape"))
            more = [np.array(part, np.int32) for part in (self._batch_override, self._event_override) if part]
            count = array_ops.reshape(n, [1])
            inner = array_ops.concat([*more, count] if self._rotated else [count, *more], 0) if more else count
            x = self._turned(self.distribution.sample(inner, seed=seed))
            x = array_ops.reshape(x, array_ops.concat([sample_shape, array_ops.shape(x)[1:]], 0))
            return self._with_static_shape(self.bijector._call_forward(x, "forward", **kwargs), sample_shape)

    def _turned(self, x: Any, back: bool = False) -> Any:
        """Moves the dimensions of an event to the end, or back to the front."""
        if not self._rotated:
            return x
        rank = array_ops.rank(x)
        n = rank - self._rotated if back else self._rotated
        return array_ops.transpose(x, array_ops.concat([math_ops.range(n, rank), math_ops.range(0, n)], 0))

    def _reduced(self, reduce: Callable[..., Any], values: Any) -> Any:
        """Returns the sum or product over the dimensions of `event_shape`, if it was given."""
        if self._event_override is None:
            return values
        n = len(self._event_override)
        return reduce(values, axis=[i + self._rotated - n for i in range(n)])

    def _points(self, y: Any, **kwargs: Any) -> Any:
        """Returns pairs: a point whose value is `y`, and the logarithm of the inverse's determinant there."""
        if self.event_shape.ndims is None:
            raise ValueError("TransformedDistribution: the rank of the event of %s must be known" % self.bijector.name)
        x = self.bijector._call_inverse(y, "inverse", **kwargs)
        log = self.bijector._call_inverse_log_det_jacobian(y, self.event_shape.ndims, "inverse_log_det_jacobian", **kwargs)
        pairs = [(x, log)] if self.bijector._is_injective else list(zip(x, log))
        return [(self._turned(point, back=True), part) for point, part in pairs]

    def _log_prob(self, y: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        found = []
        for x, log in self._points(y, **kwargs):
            value = self._reduced(reduction_ops.reduce_sum, self.distribution.log_prob(x))
            found.append(value + math_ops.cast(log, value.dtype))
        return found[0] if len(found) == 1 else reduction_ops.reduce_logsumexp(array_ops.stack(found), axis=0)

    def _prob(self, y: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        found = []
        for x, log in self._points(y, **kwargs):
            value = self._reduced(reduction_ops.reduce_prod, self.distribution.prob(x))
            found.append(value * op("Exp")(math_ops.cast(log, value.dtype)))
        return sum(found[1:], found[0])

    def _of_numbers(self, what: str) -> None:
        if self._event_override is not None:
            raise NotImplementedError("%s is not implemented when overriding event_shape" % what)
        if not self.bijector._is_injective:
            raise NotImplementedError("%s is not implemented when bijector is not injective." % what)

    def _log_cdf(self, y: Any) -> Any:
        self._of_numbers("log_cdf")
        return self.distribution.log_cdf(self.bijector.inverse(y))

    def _cdf(self, y: Any) -> Any:
        self._of_numbers("cdf")
        return self.distribution.cdf(self.bijector.inverse(y))

    def _log_survival_function(self, y: Any) -> Any:
        self._of_numbers("log_survival_function")
        return self.distribution.log_survival_function(self.bijector.inverse(y))

    def _survival_function(self, y: Any) -> Any:
        self._of_numbers("survival_function")
        return self.distribution.survival_function(self.bijector.inverse(y))

    def _quantile(self, value: Any) -> Any:
        self._of_numbers("quantile")
        return self.bijector.forward(self.distribution.quantile(value))

    def _entropy(self) -> Any:
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        if not self.bijector._is_injective:
            raise NotImplementedError("entropy is not implemented when bijector is not injective.")
        entropy = self.distribution.entropy()
        if self._event_override is not None:
            entropy *= math_ops.cast(float(np.prod(self._event_override)), entropy.dtype.base_dtype)
        if self._batch_override is not None:
            entropy = op("Tile")(array_ops.reshape(entropy, [1] * len(self._batch_override)), self._batch_override)
        dummy = array_ops.zeros(array_ops.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), self.dtype)
        log = self.bijector.inverse_log_det_jacobian(dummy, event_ndims=self.event_shape.ndims)
        entropy -= math_ops.cast(log, entropy.dtype)
        entropy.set_shape(self.batch_shape)
        return entropy


class RelaxedBernoulli(TransformedDistribution):
    """The distribution of numbers between 0 and 1 that are near to one of them at low temperatures.

    Gradients flow through its samples.

    Args:
      temperature: A tensor of floats, positive.
      logits: A tensor of floats: the logarithms of the odds of 1. Either these or `probs` are given.
      probs: A tensor of floats: the probabilities of 1.
      validate_args: If true, it is an error of the run if the temperature is not positive.
      allow_nan_stats: As in `Logistic`.
      name: The name scope of the operations.

    Raises:
      ValueError: Both or neither of `logits` and `probs` are given.

    Example:
      >>> d = tf.contrib.distributions.RelaxedBernoulli(0.5, probs=[0.25, 0.5])
      >>> print(*np.round(tf.Session().run([d.prob([0.5, 0.5]), d.probs, d.logits]), 4))
      [0.375 0.5  ] [0.25 0.5 ] [-1.0986  0.    ]
      >>> d.temperature.shape
      TensorShape([])
    """

    def __init__(
        self, temperature: Any, logits: Any = None, probs: Any = None, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "RelaxedBernoulli"
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            with control_dependencies([check_ops.assert_positive(temperature)] if validate_args else []):
                self._temperature = array_ops.identity(temperature, name="temperature")
            self._logits, self._probs = logits_and_probs(logits, probs, False, validate_args, name)
            inner = Logistic(self._logits / self._temperature, 1.0 / self._temperature, validate_args, allow_nan_stats, name=name + "/Logistic")
            super().__init__(inner, bijectors.Sigmoid(validate_args=validate_args), validate_args=validate_args, name=name)
        self._parameters = parameters

    @property
    def temperature(self) -> Any:
        """The temperature."""
        return self._temperature

    @property
    def logits(self) -> Any:
        """The logarithms of the odds of 1."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probabilities of 1."""
        return self._probs


class ExpRelaxedOneHotCategorical(RelaxedOneHotCategorical):
    """The distribution of the logarithms of `RelaxedOneHotCategorical`'s rows.

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
      >>> d = tf.contrib.distributions.ExpRelaxedOneHotCategorical(0.5, logits=[1.0, 2.0])
      >>> print(np.round(tf.Session().run(d.prob(tf.log([0.25, 0.75]))), 4))
      0.1189
    """

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExpRelaxedOneHotCategorical",
    ) -> None:
        super().__init__(temperature, logits, probs, dtype, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        shape = array_ops.concat([[n], array_ops.shape(self.logits)], 0)
        flat = array_ops.reshape(self.logits * array_ops.ones(shape, self.dtype), [-1, self.event_size])
        low = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = random_ops.random_uniform(array_ops.shape(flat), low, 1.0, self.dtype, seed)
        gumbel = -op("Log")(-op("Log")(uniform))
        return array_ops.reshape(nn.log_softmax((gumbel + flat) / self._column()), shape)

    def _log_prob(self, x: Any) -> Any:
        if self.validate_args:
            total = reduction_ops.reduce_logsumexp(x, axis=[-1])
            x = checked([check_ops.assert_non_positive(x), check_ops.assert_near(array_ops.zeros([], self.dtype), total)], x)
        logs, logits, shape = self._both(x)
        k = math_ops.cast(self.event_size, self.dtype)
        front = op("Lgamma")(k) + (k - 1.0) * op("Log")(self._temperature)
        return array_ops.reshape(front + reduction_ops.reduce_sum(nn.log_softmax(logits - logs * self._column()), -1), shape)


class MixtureSameFamily(Distribution):
    """A mixture of the distributions of a batch: a number is drawn, and the value from that row of the batch.

    Args:
      mixture_distribution: A `Categorical`: the distribution of the number.
      components_distribution: A distribution whose last batch dimension has an element for each number.
      validate_args: Ignored: shapes are checked while the graph is built.
      allow_nan_stats: As in the components.
      name: The name scope of the operations.

    Raises:
      ValueError: The numbers are not of integers, or the shapes do not fit.

    Example:
      >>> tfd = tf.contrib.distributions
      >>> d = tfd.MixtureSameFamily(tfd.Categorical(probs=[0.25, 0.75]), tfd.Normal([0.0, 4.0], [1.0, 1.0]))
      >>> print(*np.round(tf.Session().run([d.mean(), d.stddev(), d.prob(0.0)]), 4))
      3.0 2.0 0.0998
      >>> d.batch_shape, d.mixture_distribution.batch_shape, d.components_distribution.batch_shape
      (TensorShape([]), TensorShape([]), TensorShape([Dimension(2)]))
    """

    def __init__(
        self,
        mixture_distribution: Any,
        components_distribution: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MixtureSameFamily",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name:
            self._mixture, self._components = mixture_distribution, components_distribution
            if not mixture_distribution.dtype.is_integer:
                raise ValueError("`mixture_distribution.dtype` ({}) is not over integers".format(mixture_distribution.dtype.name))
            if mixture_distribution.event_shape.ndims not in (None, 0):
                raise ValueError("`mixture_distribution` must have scalar `event_dim`s")
            own, rows = mixture_distribution.batch_shape, components_distribution.batch_shape.with_rank_at_least(1)
            if own.is_fully_defined() and rows[:-1].is_fully_defined() and own.ndims != 0 and own != rows[:-1]:
                raise ValueError(
                    "`mixture_distribution.batch_shape` (`{}`) is not compatible with `components_distribution.batch_shape` (`{}`)".format(
                        own.as_list(), rows[:-1].as_list()
                    )
                )
            km = shapes.dimension_value(mixture_distribution.logits.shape.with_rank_at_least(1)[-1])
            kc = shapes.dimension_value(rows[-1])
            if km is not None and kc is not None and km != kc:
                words = "`mixture_distribution components` ({}) does not equal `components_distribution.batch_shape[-1]` ({})"
                raise ValueError(words.format(km, kc))
            self._event_ndims = components_distribution.event_shape.ndims
            if self._event_ndims is None:
                raise ValueError("MixtureSameFamily: the rank of the event of %s must be known" % components_distribution)
            self._k = array_ops.shape(mixture_distribution.logits)[-1] if km is None else km
            node_counts.also(1)
        parents = mixture_distribution._graph_parents + components_distribution._graph_parents
        super().__init__(components_distribution.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name)

    @property
    def mixture_distribution(self) -> Any:
        """The distribution of the number."""
        return self._mixture

    @property
    def components_distribution(self) -> Any:
        """The distributions of the values."""
        return self._components

    def _batch_shape_tensor(self) -> Any:
        return self._components.batch_shape_tensor()[:-1]

    def _batch_shape(self) -> Any:
        return self._components.batch_shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Any:
        return self._components.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self._components.event_shape

    def _padded(self, weights: Any, front: int, more: int = 0) -> Any:
        """Returns weights with dimensions of size 1 for the batch, if it has none, and for the event."""
        if self._mixture.batch_shape.ndims == 0:
            for _ in range(self.batch_shape.ndims or 0):
                weights = array_ops.expand_dims(weights, front)
        for _ in range(self._event_ndims + more):
            weights = array_ops.expand_dims(weights, -1)
        return weights

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        # As in TensorFlow, which does not pass the seed on.
        x = self._components.sample(n)
        mask = array_ops.one_hot(self._mixture.sample(n), self._k, dtype=x.dtype)
        node_counts.also(24)  # Shapes that TensorFlow computes in the graph.
        return reduction_ops.reduce_sum(x * self._padded(mask, 1), axis=-1 - self._event_ndims)

    def _rows(self, x: Any) -> Any:
        return array_ops.expand_dims(x, -1 - self._event_ndims)

    def _mixed(self, logs: Any) -> Any:
        return reduction_ops.reduce_logsumexp(logs + nn.log_softmax(self._mixture.logits), axis=-1)

    def _log_prob(self, x: Any) -> Any:
        node_counts.also(11)
        return self._mixed(self._components.log_prob(self._rows(x)))

    def _log_cdf(self, x: Any) -> Any:
        return self._mixed(self._components.log_cdf(self._rows(x)))

    def _averaged(self, values: Any, more: int = 0) -> Any:
        return reduction_ops.reduce_sum(self._padded(self._mixture.probs, 0, more) * values, axis=-1 - self._event_ndims - more)

    def _mean(self) -> Any:
        return self._averaged(self._components.mean())

    def _variance(self) -> Any:
        apart = op("Square")(self._components.mean() - self._rows(self._mean()))
        return self._averaged(self._components.variance()) + self._averaged(apart)

    def _covariance(self) -> Any:
        if self._event_ndims != 1:
            raise NotImplementedError("covariance is not implemented")
        apart = self._components.mean() - self._rows(self._mean())
        products = array_ops.expand_dims(apart, -1) * array_ops.expand_dims(apart, -2)
        return self._averaged(self._components.covariance(), 1) + self._averaged(products, 1)


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """`MultivariateNormalDiag` whose diagonal is `softplus(scale_diag)`.

    Args:
      loc: A tensor of vectors: the mean.
      scale_diag: A tensor of vectors.
      validate_args: As in `MultivariateNormalDiag`.
      allow_nan_stats: As in `MultivariateNormalDiag`.
      name: The name scope of the operations.

    Example:
      >>> d = tf.contrib.distributions.MultivariateNormalDiagWithSoftplusScale([0.0], [0.0])
      >>> print(np.round(tf.Session().run(d.stddev()), 4))
      [0.6931]
    """

    def __init__(
        self,
        loc: Any,
        scale_diag: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale_diag]) as name:
            scale = op("Softplus")(convert_to_tensor(scale_diag))
            super().__init__(loc=loc, scale_diag=scale, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """`InverseGamma` with `softplus` of both parameters.

    Args:
      concentration: A tensor of floats.
      rate: A tensor of floats of the same dtype.
      validate_args: As in `InverseGamma`.
      allow_nan_stats: As in `InverseGamma`.
      name: The name scope of the operations.

    Example:
      >>> d = tf.contrib.distributions.InverseGammaWithSoftplusConcentrationRate(3.0, 0.0)
      >>> print(*np.round(tf.Session().run([d.concentration, d.rate]), 4))
      3.0486 0.6931
    """

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGammaWithSoftplusConcentrationRate",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            both = op("Softplus")(convert_to_tensor(concentration)), op("Softplus")(convert_to_tensor(rate))
            super().__init__(*both, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters
