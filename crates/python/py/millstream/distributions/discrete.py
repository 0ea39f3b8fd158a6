"""Distributions over classes and counts: `Bernoulli`, `Categorical`, `Multinomial`; and `Dirichlet`.

They share logits and probabilities, of which one is given and the other computed.
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from millstream.distributions import special
from millstream.distributions.base import Distribution, FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, checked
from millstream.distributions.divergence import RegisterKL
from millstream.framework import constant, convert_to_tensor, dtypes, name_scope, node_counts, shapes
from millstream.framework.op_functions import op
from millstream.nn import functions as nn
from millstream.ops import array_ops, check_ops, functional, linalg_ops, math_ops, random_ops, reduction_ops
from millstream.ops.shape_ops import where_v2


def logits_and_probs(logits: Any, probs: Any, of_classes: bool, validate_args: bool, name: str) -> Tuple[Any, Any]:
    """Returns both forms of the parameter; `of_classes` if a row is one distribution."""
    with name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = _of_floats(logits, "logits")
            if of_classes and validate_args:
                logits = with_classes(logits)
            return logits, nn.softmax(logits, name="probs") if of_classes else math_ops.sigmoid(logits, name="probs")
        probs = _of_floats(probs, "probs")
        if validate_args:
            with name_scope("validate_probs"):
                probs = _valid_probs(probs, of_classes)
        with name_scope("logits"):
            return (op("Log")(probs) if of_classes else op("Log")(probs) - op("Log1p")(-1.0 * probs)), probs


def _of_floats(value: Any, name: str) -> Any:
    value = convert_to_tensor(value, name=name)
    if not value.dtype.is_floating:
        raise TypeError("%s must having floating type." % name)  # So written in TensorFlow.
    return value


def _valid_probs(probs: Any, of_classes: bool) -> Any:
    one = constant(1.0, probs.dtype)
    checks = [check_ops.assert_non_negative(probs)]
    if of_classes:
        probs = with_classes(probs)
        total = reduction_ops.reduce_sum(probs, -1)
        checks.append(check_ops.assert_near(total, one, message="probs does not sum to 1."))
    else:
        checks.append(check_ops.assert_less_equal(probs, one, message="probs has components greater than 1."))
    return checked(checks, probs)


def with_classes(x: Any) -> Any:
    """Returns a parameter whose rows are classes, after checks of their number."""
    if x.shape.ndims == 0:
        raise ValueError("A categorical-distribution parameter must have at least 1 dimension.")
    n = None if x.shape.ndims is None else shapes.dimension_value(x.shape[-1])
    words = "A categorical-distribution parameter must have at least 2 events."
    if n is not None and n < 2:
        raise ValueError(words)
    if n is not None:
        return x
    rank = check_ops.assert_rank_at_least(x, 1, message="A categorical-distribution parameter must have at least 1 dimension.")
    return checked([rank, check_ops.assert_greater_equal(array_ops.shape(x)[-1], 2, message=words)], x)


def whole(x: Any, dtype: Any) -> Any:
    """Returns numbers after a check that they are not negative and that a cast to a dtype keeps them."""
    checks = [check_ops.assert_non_negative(x, message="Elements must be non-negative.")]
    if x.dtype.is_floating:
        there_and_back = math_ops.cast(math_ops.cast(x, dtype), x.dtype)
        words = "Elements must be %s-equivalent." % dtype.name
        checks.append(check_ops.assert_equal(x, there_and_back, message=words))
    return checked(checks, x)


class Bernoulli(Distribution):
    """The Bernoulli distribution: 1 with probability `probs`, otherwise 0.

    Args:
      logits: A tensor of floats: the logarithms of the odds of 1. Either these or `probs` are given.
      probs: A tensor of floats: the probabilities of 1.
      dtype: The dtype of samples.
      validate_args: If true, it is an error of the run if a probability is not in 0 to 1, or a value is not
        an integer.
      allow_nan_stats: If false, a statistic that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: Both or neither of `logits` and `probs` are given.
      TypeError: The parameter is not of floats.

    Example:
      >>> d = tf.distributions.Bernoulli(probs=[0.25, 0.5])
      >>> print(*tf.Session().run([d.prob(1), d.mean(), d.variance(), d.probs, d.logits]))
      [0.25 0.5 ] [0.25 0.5 ] [0.1875 0.25  ] [0.25 0.5 ] [-1.0986123  0.       ]
    """

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name:
            self._logits, self._probs = logits_and_probs(logits, probs, False, validate_args, name)
        parents = [self._logits, self._probs]
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name)

    @staticmethod
    def _param_shapes(sample_shape: Any) -> Any:
        return {"logits": convert_to_tensor(sample_shape, dtype=dtypes.int32)}

    @property
    def logits(self) -> Any:
        """The logarithms of the odds of 1."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probabilities of 1."""
        return self._probs

    def _batch_shape_tensor(self) -> Any:
        return array_ops.shape(self.logits)

    def _batch_shape(self) -> Any:
        return self.logits.shape

    def _event_shape_tensor(self) -> Any:
        return constant([], dtypes.int32)

    def _event_shape(self) -> Any:
        return shapes.TensorShape([])

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
        uniform = random_ops.random_uniform(shape, seed=seed, dtype=self.probs.dtype)
        return math_ops.cast(uniform < self.probs, self.dtype)

    def _log_prob(self, event: Any) -> Any:
        if self.validate_args:
            event = whole(event, dtypes.bool)
        event, logits = math_ops.cast(event, self.logits.dtype), self.logits
        if not (event.shape.is_fully_defined() and event.shape == logits.shape):
            logits, event = array_ops.ones_like(event) * logits, array_ops.ones_like(logits) * event
        return -nn.sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self) -> Any:
        return -self.logits * (math_ops.sigmoid(self.logits) - 1.0) + op("Softplus")(-self.logits)

    def _mean(self) -> Any:
        return array_ops.identity(self.probs)

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Any:
        return math_ops.cast(self.probs > 0.5, self.dtype)


class WithLogits(Distribution):
    """The base class of distributions whose parameter is a row of classes, in two forms."""

    _logits: Any
    _probs: Any

    @property
    def logits(self) -> Any:
        """The logarithms of the classes' probabilities, up to a constant in each row."""
        return self._logits

    @property
    def probs(self) -> Any:
        """The probabilities of the classes."""
        return self._probs


class OfClasses(WithLogits):
    """The base class of distributions with one draw of a class for each row of the parameter."""

    @property
    def event_size(self) -> Any:
        """The number of classes, an int32 tensor."""
        return self._event_size

    def _set_sizes(self) -> None:
        """Sets the number of classes and the batch's rank, as tensors."""
        self._logits.shape.with_rank_at_least(1)
        shape = array_ops.shape(self._logits, name="logits_shape")
        rank = self._logits.shape.ndims
        known = None if rank is None else shapes.dimension_value(self._logits.shape[-1])
        self._batch_rank = array_ops.rank(self._logits) - 1 if rank is None else constant(rank - 1, dtypes.int32, name="batch_rank")
        self._event_size = shape[-1] if known is None else constant(known, dtypes.int32, name="event_size")

    def _batch_shape_tensor(self) -> Any:
        return array_ops.shape(self.logits)[:-1]

    def _batch_shape(self) -> Any:
        return self.logits.shape[:-1]

    def _rows(self) -> Any:
        """Returns the logits as a matrix."""
        return self.logits if self.logits.shape.ndims == 2 else array_ops.reshape(self.logits, [-1, self.event_size])

    def _entropy(self) -> Any:
        return -reduction_ops.reduce_sum(nn.log_softmax(self.logits) * self.probs, axis=-1)


class Categorical(OfClasses):
    """A distribution over classes, which are numbered from 0.

    Args:
      logits: A tensor of floats of shape `[.., n]`: the logarithms of the classes' probabilities, up to a
        constant in each row. Either these or `probs` are given.
      probs: A tensor of floats of shape `[.., n]`: the probabilities, which sum to 1 in each row.
      dtype: The dtype of samples.
      validate_args: If true, it is an error of the run if the probabilities do not sum to 1, or a value is
        not an integer.
      allow_nan_stats: If false, a statistic that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: Both or neither of `logits` and `probs` are given; or `validate_args` is true and there are
        fewer than two classes.
      TypeError: The parameter is not of floats.

    Example:
      >>> d = tf.distributions.Categorical(probs=[0.25, 0.25, 0.5])
      >>> print(*tf.Session().run([d.prob([0, 2]), d.mode(), d.cdf(2), d.event_size, d.entropy()]))
      [0.25 0.5 ] 2 0.5 3 1.0397208
      >>> d.logits.shape, d.probs.shape
      (TensorShape([Dimension(3)]), TensorShape([Dimension(3)]))
    """

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args, name)
            self._set_sizes()
            # TensorFlow makes the shape of the batch.
            node_counts.also(1 if self._logits.shape[:-1].is_fully_defined() else 4)
        parents = [self._logits, self._probs]
        super().__init__(dtypes.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name)

    def _event_shape_tensor(self) -> Any:
        return constant([], dtypes.int32)

    def _event_shape(self) -> Any:
        return shapes.TensorShape([])

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        kind = dtypes.int64 if self.dtype.size > 4 else dtypes.int32
        draws = random_ops.multinomial(self._rows(), n, seed=seed, output_dtype=kind)
        node_counts.also(0 if self.batch_shape.is_fully_defined() else -4)  # The shape of the batch is there.
        shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
        return math_ops.cast(array_ops.reshape(array_ops.transpose(draws), shape), self.dtype)

    def _broadcast(self, k: Any, parameter: Any) -> Tuple[Any, Any]:
        """Returns classes and rows of a parameter, one for each other."""
        k = convert_to_tensor(k, name="k")
        if self.validate_args:
            k = whole(k, dtypes.int32)
        if k.dtype.is_floating:
            k = math_ops.cast(k, dtypes.int32)
        elif not k.dtype.is_integer:
            raise TypeError("`value` should have integer `dtype` or `self.dtype` (%s)" % self.dtype)
        batch = parameter.shape[:-1]
        if not (batch.is_fully_defined() and batch == k.shape):
            node_counts.also(2)
            parameter = parameter * array_ops.ones_like(array_ops.expand_dims(k, -1), dtype=parameter.dtype)
            k = k * array_ops.ones(array_ops.shape(parameter)[:-1], k.dtype)
            k.set_shape(parameter.shape[:-1])
        return k, parameter

    def _cdf(self, k: Any) -> Any:
        # The sum of the probabilities of the classes before k: TensorFlow leaves out k itself.
        k, probs = self._broadcast(k, self.probs)
        flat = array_ops.reshape(probs, [-1, self.event_size])
        before = array_ops.sequence_mask(array_ops.reshape(k, [-1]), self.event_size)
        total = reduction_ops.reduce_sum(where_v2(before, flat, array_ops.zeros_like(flat)), axis=-1)
        return array_ops.reshape(total, array_ops.shape(k))

    def _log_prob(self, k: Any) -> Any:
        k, logits = self._broadcast(k, self.logits)
        return -nn.sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _mode(self) -> Any:
        mode = math_ops.cast(reduction_ops.argmax(self.logits, axis=self._batch_rank), self.dtype)
        mode.set_shape(self.batch_shape)
        return mode


class Vector(Distribution):
    """The base class of distributions of vectors, with a row of a parameter for each element of the batch."""

    def _parameter(self) -> Any:
        """Returns a tensor of the shape of the batch and the event."""
        raise NotImplementedError()

    def _batch_shape_tensor(self) -> Any:
        return array_ops.shape(self._parameter())[:-1]

    def _batch_shape(self) -> Any:
        return self._parameter().shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Any:
        return array_ops.shape(self._parameter())[-1:]

    def _event_shape(self) -> Any:
        return self._parameter().shape.with_rank_at_least(1)[-1:]

    def _from_product(self, x: Any, y: Any) -> Any:
        """Returns the covariance of elements whose products of pairs it is, negated, with the variances."""
        product = math_ops.matmul(array_ops.expand_dims(x, -1), array_ops.expand_dims(y, -2))
        return linalg_ops.matrix_set_diag(-product, self._variance())


class Multinomial(WithLogits, Vector):
    """The multinomial distribution: how often each class comes in `total_count` draws.

    Args:
      total_count: A tensor of floats of the batch's shape: the number of draws.
      logits: A tensor of floats of shape `[.., n]`: the logarithms of the classes' probabilities, up to a
        constant in each row. Either these or `probs` are given.
      probs: A tensor of floats of shape `[.., n]`: the probabilities.
      validate_args: If true, it is an error of the run if counts are not whole or do not sum to
        `total_count`.
      allow_nan_stats: If false, a statistic that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Raises:
      ValueError: Both or neither of `logits` and `probs` are given.
      TypeError: The parameter is not of floats.

    Example:
      >>> d = tf.distributions.Multinomial(total_count=4.0, probs=[0.25, 0.75])
      >>> print(*tf.Session().run([d.mean(), d.total_count, d.probs, d.logits[0]]))
      [1. 3.] 4.0 [0.25 0.75] -1.3862944
    """

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._total_count = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = whole(self._total_count, dtypes.int32)
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args, name)
            self._mean_val = array_ops.expand_dims(self._total_count, -1) * self._probs
        parents = [self._total_count, self._logits, self._probs]
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name)

    @property
    def total_count(self) -> Any:
        """The number of draws."""
        return self._total_count

    def _parameter(self) -> Any:
        return self._mean_val

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        k = self.event_shape_tensor()[0]
        counts = array_ops.ones_like(self.logits[..., 0], dtype=dtypes.int32) * math_ops.cast(self.total_count, dtypes.int32)
        logits = array_ops.ones_like(array_ops.expand_dims(counts, -1), dtype=self.logits.dtype) * self.logits

        def draw(row: Any) -> Any:
            drawn = random_ops.multinomial(array_ops.expand_dims(row[0], 0), row[1], seed)
            return reduction_ops.reduce_sum(array_ops.one_hot(array_ops.reshape(drawn, [n, -1]), k, dtype=self.dtype), axis=-2)

        rows = [array_ops.reshape(logits, [-1, k]), n * array_ops.reshape(counts, [-1])]
        found = array_ops.transpose(functional.map_fn(draw, rows, dtype=self.dtype), [1, 0, 2])
        return array_ops.reshape(found, array_ops.concat([[n], self.batch_shape_tensor(), [k]], 0))

    def _valid(self, counts: Any) -> Any:
        if not self.validate_args:
            return counts
        counts = whole(counts, dtypes.int32)
        total = reduction_ops.reduce_sum(counts, -1)
        return checked([check_ops.assert_equal(self.total_count, total, message="counts must sum to `self.total_count`")], counts)

    def _log_prob(self, counts: Any) -> Any:
        counts = self._valid(counts)
        ways = op("Lgamma")(self.total_count + 1.0) - reduction_ops.reduce_sum(op("Lgamma")(counts + 1.0), -1)
        return reduction_ops.reduce_sum(counts * nn.log_softmax(self.logits), -1) + ways

    def _wide_probs(self) -> Any:
        return self.probs * array_ops.expand_dims(array_ops.ones_like(self.total_count), -1)

    def _mean(self) -> Any:
        return array_ops.identity(self._mean_val)

    def _variance(self) -> Any:
        return self._mean_val - self._mean_val * self._wide_probs()

    def _covariance(self) -> Any:
        return self._from_product(self._mean_val, self._wide_probs())


class Dirichlet(Vector):
    """The Dirichlet distribution: of probabilities of classes.

    Args:
      concentration: A tensor of floats of shape `[.., n]`.
      validate_args: If true, it is an error of the run if a concentration is not positive, or a value is not
        a row of probabilities.
      allow_nan_stats: If false, a mode that does not exist is an error of the run instead of NaN.
      name: The name scope of the operations.

    Example:
      >>> d = tf.distributions.Dirichlet([1.0, 3.0])
      >>> print(*tf.Session().run([d.mean(), d.concentration, d.total_concentration]))
      [0.25 0.75] [1. 3.] 4.0
    """

    def __init__(self, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Dirichlet") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration]) as name:
            self._concentration = convert_to_tensor(concentration, name="concentration")
            if validate_args:
                self._concentration = checked(_of_concentration(self._concentration), self._concentration)
            self._total_concentration = reduction_ops.reduce_sum(self._concentration, -1)
        parents = [self._concentration, self._total_concentration]
        super().__init__(self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name)

    @property
    def concentration(self) -> Any:
        """The concentrations."""
        return self._concentration

    @property
    def total_concentration(self) -> Any:
        """The sum of the concentrations of each row."""
        return self._total_concentration

    def _parameter(self) -> Any:
        return self.concentration

    def _total(self) -> Any:
        return array_ops.expand_dims(self.total_concentration, -1)

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        gamma = random_ops.random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        return gamma / reduction_ops.reduce_sum(gamma, -1, keepdims=True)

    def _log_prob(self, x: Any) -> Any:
        if self.validate_args:
            positive = check_ops.assert_positive(x, message="samples must be positive")
            one, total = array_ops.ones([], self.dtype), reduction_ops.reduce_sum(x, -1)
            x = checked([positive, check_ops.assert_near(one, total, message="sample last-dimension must sum to `1`")], x)
        return reduction_ops.reduce_sum(op("Xlogy")(self.concentration - 1.0, x), -1) - reduction_ops.lbeta(self.concentration)

    def _n_classes(self) -> Any:
        return math_ops.cast(self.event_shape_tensor()[0], self.dtype)

    def _entropy(self) -> Any:
        total = (self.total_concentration - self._n_classes()) * op("Digamma")(self.total_concentration)
        parts = reduction_ops.reduce_sum((self.concentration - 1.0) * op("Digamma")(self.concentration), axis=-1)
        return reduction_ops.lbeta(self.concentration) + total - parts

    def _mean(self) -> Any:
        return self.concentration / self._total()

    def _scaled_mean(self, scale: Any) -> Any:
        return scale * self._mean()

    def _scale(self) -> Any:
        return op("Rsqrt")(1.0 + self._total())

    def _variance(self) -> Any:
        x = self._scaled_mean(self._scale())
        return x * (self._scale() - x)

    def _covariance(self) -> Any:
        x = self._scaled_mean(self._scale())
        return self._from_product(x, x)

    def _mode(self) -> Any:
        mode = (self.concentration - 1.0) / (self._total() - self._n_classes())
        if self.allow_nan_stats:
            defined = reduction_ops.reduce_all(self.concentration > 1.0, axis=-1, keepdims=True)
            return where_v2(defined, mode, array_ops.fill(array_ops.shape(mode), np.array(np.nan, self.dtype.as_numpy_dtype), name="nan"))
        words = "Mode undefined when any concentration <= 1"
        return checked([check_ops.assert_less(array_ops.ones([], self.dtype), self.concentration, message=words)], mode)


def _of_concentration(concentration: Any) -> List[Any]:
    """Returns the assertions on the parameter of a `Dirichlet`."""
    return [
        check_ops.assert_positive(concentration, message="Concentration parameter must be positive."),
        check_ops.assert_rank_at_least(concentration, 1, message="Concentration parameter must have >=1 dimensions."),
        check_ops.assert_less(1, array_ops.shape(concentration)[-1], message="Concentration parameter must have event_size >= 2."),
    ]


@RegisterKL(Bernoulli, Bernoulli)
def _bernoullis(a: Any, b: Any, name: Optional[str] = None) -> Any:
    with name_scope(name, "kl_bernoulli_bernoulli", [a.logits, b.logits]):
        of_zero, of_one = (op("Softplus")(sign * b.logits) - op("Softplus")(sign * a.logits) for sign in (-1.0, 1.0))
        return math_ops.sigmoid(a.logits) * of_zero + math_ops.sigmoid(-a.logits) * of_one


def kl_of_logits(a: Any, b: Any, name: Optional[str] = None) -> Any:
    """Returns the divergence of two distributions over classes."""
    with name_scope(name, "kl_categorical_categorical", [a.logits, b.logits]):
        difference = nn.log_softmax(a.logits) - nn.log_softmax(b.logits)
        return reduction_ops.reduce_sum(nn.softmax(a.logits) * difference, axis=-1)


RegisterKL(Categorical, Categorical)(kl_of_logits)


@RegisterKL(Dirichlet, Dirichlet)
def _dirichlets(a: Any, b: Any, name: Optional[str] = None) -> Any:
    with name_scope(name, "kl_dirichlet_dirichlet", [a.concentration, b.concentration]):
        total = op("Digamma")(reduction_ops.reduce_sum(a.concentration, axis=-1, keepdims=True))
        logs = op("Digamma")(a.concentration) - total
        distance = reduction_ops.reduce_sum((a.concentration - b.concentration) * logs, axis=-1)
        return distance - reduction_ops.lbeta(a.concentration) + reduction_ops.lbeta(b.concentration)
