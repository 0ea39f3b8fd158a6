"""`Distribution`, the base class of all distributions, and `Univariate`, that of distributions of numbers.

A subclass gives what it knows in methods that start with an underscore (`_sample_n`, `_log_prob`, `_mean`).
The public methods convert arguments, open name scopes and derive one quantity from another, such as `prob`
from `_log_prob`.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import numpy as np

from millstream._engine import Tensor
from millstream.distributions import divergence
from millstream.framework import constant, constant_value, control_dependencies, convert_to_tensor, dtypes, name_scope, shapes
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, control_flow, math_ops, reduction_ops, shape_ops


class ReparameterizationType:
    """Whether gradients flow through samples of a distribution to its parameters.

    Args:
      rep_type: The type's name.

    Example:
      >>> normal = tf.distributions.Normal(0.0, 1.0)
      >>> normal.reparameterization_type is tf.distributions.FULLY_REPARAMETERIZED
      True
    """

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return "<Reparameteriation Type: %s>" % self._rep_type  # So written in TensorFlow.


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


def checked(assertions: List[Any], x: Any) -> Any:
    """Returns `x`, computed after the assertions."""
    return control_flow.with_dependencies(assertions, x)


class Distribution:
    """The base class of distributions.

    A distribution's *event* is one draw, a number or a vector; its *batch* is the shape of its parameters, of
    which each element is a distribution of its own. A sample's shape is that of the samples asked for, then
    the batch's, then the event's.

    A subclass implements what it has of `_batch_shape`, `_batch_shape_tensor`, `_event_shape`,
    `_event_shape_tensor`, `_sample_n`, `_log_prob` or `_prob`, `_log_cdf` or `_cdf`, `_entropy`, `_mean`,
    `_variance` or `_stddev`, `_mode` and `_quantile`.

    Args:
      dtype: The dtype of samples.
      reparameterization_type: A `ReparameterizationType`.
      validate_args: If true, parameters and values are checked when the graph is run.
      allow_nan_stats: If true, a statistic that does not exist, such as a mode, is NaN. Otherwise it is an
        error when the graph is run.
      parameters: A dict of the arguments of the subclass, for `copy`.
      graph_parents: A list of the tensors that the distribution is made of.
      name: The name scope of its operations.

    Raises:
      ValueError: An item of `graph_parents` is not a tensor.

    Example:
      >>> d = tf.distributions.Normal(loc=[0.0, 10.0], scale=2.0)
      >>> d.sample(3).shape, d.batch_shape, d.event_shape, d.dtype, d.name
      (TensorShape([Dimension(3), Dimension(2)]), TensorShape([Dimension(2)]), TensorShape([]), tf.float32, 'Normal/')
      >>> with tf.Session() as sess:
      ...     print(*sess.run([d.mean(), d.variance(), d.stddev(), d.mode(), d.entropy()[:1]]))
      ...     print(*sess.run([d.prob(0.0)[:1], d.log_prob(0.0)[:1], d.cdf(0.0)[:1], d.log_cdf(0.0)[:1]]))
      ...     print(*sess.run([d.survival_function(0.0)[:1], d.log_survival_function(0.0)[:1], d.quantile(0.5)]))
      ...     print(*sess.run([d.batch_shape_tensor(), d.event_shape_tensor()]))
      ...     print(*sess.run([d.is_scalar_batch(), d.is_scalar_event()]))
      ...     print(*sess.run([d.kl_divergence(d), d.cross_entropy(d)[:1]]))
      [ 0. 10.] [4. 4.] [2. 2.] [ 0. 10.] [2.1120858]
      [0.19947115] [-1.6120857] [0.5] [-0.6931472]
      [0.5] [-0.6931472] [ 0. 10.]
      [2] []
      False True
      [0. 0.] [2.1120858]
      >>> d.copy(loc=0.0).batch_shape, sorted(d.parameters)
      (TensorShape([]), ['allow_nan_stats', 'loc', 'name', 'scale', 'validate_args'])
      >>> d.validate_args, d.allow_nan_stats, d.reparameterization_type
      (False, True, <Reparameteriation Type: FULLY_REPARAMETERIZED>)
      >>> tf.distributions.Normal.param_static_shapes([2])["loc"], sorted(tf.distributions.Normal.param_shapes([2]))
      (TensorShape([Dimension(2)]), ['loc', 'scale'])
      >>> tf.contrib.distributions.MultivariateNormalDiag([0.0, 0.0], [1.0, 2.0]).covariance().shape
      TensorShape([Dimension(2), Dimension(2)])
    """

    def __init__(
        self,
        dtype: Any,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: Optional[Dict[str, Any]] = None,
        graph_parents: Optional[List[Any]] = None,
        name: Optional[str] = None,
    ) -> None:
        parents = [] if graph_parents is None else graph_parents
        for i, parent in enumerate(parents):
            if not shape_ops.is_tensor(parent):
                raise ValueError("Graph parent item %d is not a Tensor; %s." % (i, parent))
        if not name or not name.endswith("/"):
            with name_scope(name or type(self).__name__) as name:
                pass
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._allow_nan_stats = allow_nan_stats
        self._validate_args = validate_args
        self._graph_parents = parents
        self._name = name
        self._parameters = dict(parameters or {})

    @property
    def name(self) -> str:
        """The name scope, which ends in `/`."""
        return self._name  # type: ignore[return-value]

    @property
    def dtype(self) -> Any:
        """The dtype of samples."""
        return self._dtype

    @property
    def parameters(self) -> Dict[str, Any]:
        """A dict of the arguments that the distribution was made of."""
        return {k: v for k, v in self._parameters.items() if not k.startswith("__") and k != "self"}

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        """Whether gradients flow through samples."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        """Whether a statistic that does not exist is NaN."""
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        """Whether parameters and values are checked when the graph is run."""
        return self._validate_args

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """Returns a distribution of the same class with other arguments."""
        return type(self)(**dict(self.parameters, **override_parameters_kwargs))

    # Shapes.

    @classmethod
    def param_shapes(cls, sample_shape: Any, name: str = "DistributionParamShapes") -> Dict[str, Any]:
        """Returns the shapes of parameters for samples of a shape, as tensors by name."""
        with name_scope(name, values=[sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape: Any) -> Dict[str, shapes.TensorShape]:
        """Returns the static shapes of parameters for samples of a shape, by name.

        Raises:
          ValueError: The shape is not fully known.
        """
        if isinstance(sample_shape, shapes.TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError("TensorShape sample_shape must be fully defined")
            sample_shape = sample_shape.as_list()
        known = {}
        for name, shape in cls.param_shapes(sample_shape).items():
            value = constant_value(shape)
            if value is None:
                raise ValueError("sample_shape must be a fully-defined TensorShape or list/tuple")
            known[name] = shapes.TensorShape(value)
        return known

    @staticmethod
    def _param_shapes(sample_shape: Any) -> Dict[str, Any]:
        raise NotImplementedError("_param_shapes not implemented")

    def _lacks(self, what: str) -> NotImplementedError:
        return NotImplementedError("%s is not implemented: %s" % (what, type(self).__name__))

    def _batch_shape_tensor(self) -> Any:
        raise self._lacks("batch_shape_tensor")

    def _batch_shape(self) -> Any:
        return shapes.TensorShape(None)

    def _event_shape_tensor(self) -> Any:
        raise self._lacks("event_shape_tensor")

    def _event_shape(self) -> Any:
        return shapes.TensorShape(None)

    @property
    def batch_shape(self) -> shapes.TensorShape:
        """The static shape of the batch."""
        return shapes.as_shape(self._batch_shape())

    @property
    def event_shape(self) -> shapes.TensorShape:
        """The static shape of an event."""
        return shapes.as_shape(self._event_shape())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """Returns the shape of the batch as an int32 tensor."""
        return self._as_tensor(self.batch_shape, self._batch_shape_tensor, name, "batch_shape")

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """Returns the shape of an event as an int32 tensor."""
        return self._as_tensor(self.event_shape, self._event_shape_tensor, name, "event_shape")

    def _as_tensor(self, shape: shapes.TensorShape, otherwise: Callable[[], Any], scope: str, name: str) -> Any:
        with self._name_scope(scope):
            if shape.is_fully_defined():
                return convert_to_tensor(shape.as_list(), dtypes.int32, name=name)
            return otherwise()

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        """Returns a scalar bool tensor: whether events are scalars."""
        with self._name_scope(name):
            return convert_to_tensor(_is_scalar(self.event_shape, self.event_shape_tensor), name="is_scalar_event")

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        """Returns a scalar bool tensor: whether the batch is a scalar."""
        with self._name_scope(name):
            return convert_to_tensor(_is_scalar(self.batch_shape, self.batch_shape_tensor), name="is_scalar_batch")

    # Samples.

    def _sample_n(self, n: Any, seed: Optional[int] = None) -> Any:
        raise self._lacks("sample_n")

    def sample(self, sample_shape: Any = (), seed: Optional[int] = None, name: str = "sample") -> Tensor:
        """Returns samples.

        Args:
          sample_shape: An int, a list of ints or an int32 tensor: the shape of the samples.
          seed: An int; see `tf.set_random_seed`.
          name: The name scope of the operations.

        Returns:
          A tensor of shape `sample_shape + batch_shape + event_shape`.
        """
        return self._call_sample_n(sample_shape, seed, name)

    def _call_sample_n(self, sample_shape: Any, seed: Optional[int], name: str, **kwargs: Any) -> Tensor:
        with self._name_scope(name, [sample_shape]):
            sample_shape = convert_to_tensor(sample_shape, dtypes.int32, name="sample_shape")
            sample_shape, n = _as_vector(sample_shape)
            samples = self._sample_n(n, seed, **kwargs)
            shape = array_ops.concat([sample_shape, array_ops.shape(samples)[1:]], 0)
            return self._with_static_shape(array_ops.reshape(samples, shape), sample_shape)

    def _with_static_shape(self, samples: Tensor, sample_shape: Any) -> Tensor:
        """Returns samples with all that is known about their shape."""
        front = shapes.TensorShape(constant_value(sample_shape))
        batch, event = self.batch_shape, self.event_shape
        rank = samples.shape.ndims
        if None not in (front.ndims, batch.ndims, event.ndims):
            samples.set_shape(front.concatenate(batch).concatenate(event))
        elif rank is not None:
            # Each part is at a known place if the ranks of the parts on one of its sides are known.
            if front.ndims is not None:
                samples.set_shape(front.concatenate([None] * (rank - front.ndims)))
            if event.ndims is not None:
                samples.set_shape(shapes.TensorShape([None] * (rank - event.ndims)).concatenate(event))
                if batch.ndims is not None:
                    before = [None] * (rank - event.ndims - batch.ndims)
                    samples.set_shape(shapes.TensorShape(before).concatenate(batch).concatenate(event))
            elif front.ndims is not None and batch.ndims is not None:
                samples.set_shape(front.concatenate(batch).concatenate([None] * (rank - front.ndims - batch.ndims)))
        return samples

    # Functions of a value.

    def _log_prob(self, value: Any) -> Any:
        raise self._lacks("log_prob")

    def _prob(self, value: Any) -> Any:
        raise self._lacks("prob")

    def _log_cdf(self, value: Any) -> Any:
        raise self._lacks("log_cdf")

    def _cdf(self, value: Any) -> Any:
        raise self._lacks("cdf")

    def _log_survival_function(self, value: Any) -> Any:
        raise self._lacks("log_survival_function")

    def _survival_function(self, value: Any) -> Any:
        raise self._lacks("survival_function")

    def _quantile(self, value: Any) -> Any:
        raise self._lacks("quantile")

    def _of_value(self, value: Any, name: str, first: Callable[..., Any], second: Any = None, **kwargs: Any) -> Any:
        """Returns `first(value)`, or `second(value)` if the class does not implement `first`."""
        with self._name_scope(name, [value]):
            value = convert_to_tensor(value, name="value", preferred_dtype=self.dtype)
            return _first_of(lambda: first(value, **kwargs), second and (lambda: second(value, **kwargs)))

    def log_prob(self, value: Any, name: str = "log_prob") -> Tensor:
        """Returns the logarithm of the density or probability of a value."""
        return self._call_log_prob(value, name)

    def _call_log_prob(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        return self._of_value(value, name, self._log_prob, lambda x, **more: op("Log")(self._prob(x, **more)), **kwargs)

    def prob(self, value: Any, name: str = "prob") -> Tensor:
        """Returns the density or probability of a value."""
        return self._call_prob(value, name)

    def _call_prob(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        return self._of_value(value, name, self._prob, lambda x, **more: op("Exp")(self._log_prob(x, **more)), **kwargs)

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Tensor:
        """Returns the logarithm of `cdf`."""
        return self._of_value(value, name, self._log_cdf, lambda x: op("Log")(self._cdf(x)))

    def cdf(self, value: Any, name: str = "cdf") -> Tensor:
        """Returns the probability of a draw that is at most `value`."""
        return self._of_value(value, name, self._cdf, lambda x: op("Exp")(self._log_cdf(x)))

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Tensor:
        """Returns the logarithm of `survival_function`."""
        return self._of_value(value, name, self._log_survival_function, lambda x: op("Log1p")(-self.cdf(x)))

    def survival_function(self, value: Any, name: str = "survival_function") -> Tensor:
        """Returns the probability of a draw that is greater than `value`."""
        return self._of_value(value, name, self._survival_function, lambda x: 1.0 - self.cdf(x))

    def quantile(self, value: Any, name: str = "quantile") -> Tensor:
        """Returns the value whose `cdf` is `value`."""
        return self._of_value(value, name, self._quantile)

    # Statistics.

    def _entropy(self) -> Any:
        raise self._lacks("entropy")

    def _mean(self) -> Any:
        raise self._lacks("mean")

    def _variance(self) -> Any:
        raise self._lacks("variance")

    def _stddev(self) -> Any:
        raise self._lacks("stddev")

    def _covariance(self) -> Any:
        raise self._lacks("covariance")

    def _mode(self) -> Any:
        raise self._lacks("mode")

    def entropy(self, name: str = "entropy") -> Tensor:
        """Returns the entropy, in nats."""
        with self._name_scope(name):
            return self._entropy()

    def mean(self, name: str = "mean") -> Tensor:
        """Returns the mean."""
        with self._name_scope(name):
            return self._mean()

    def variance(self, name: str = "variance") -> Tensor:
        """Returns the variance."""
        with self._name_scope(name):
            return _first_of(self._variance, lambda: op("Square")(self._stddev()))

    def stddev(self, name: str = "stddev") -> Tensor:
        """Returns the standard deviation."""
        with self._name_scope(name):
            return _first_of(self._stddev, lambda: op("Sqrt")(self._variance()))

    def covariance(self, name: str = "covariance") -> Tensor:
        """Returns the covariance matrix of events that are vectors."""
        with self._name_scope(name):
            return self._covariance()

    def mode(self, name: str = "mode") -> Tensor:
        """Returns the most probable value."""
        with self._name_scope(name):
            return self._mode()

    def _cross_entropy(self, other: Any) -> Any:
        return divergence.cross_entropy(self, other, allow_nan_stats=self.allow_nan_stats)

    def cross_entropy(self, other: Any, name: str = "cross_entropy") -> Tensor:
        """Returns the cross entropy of this distribution and another one."""
        with self._name_scope(name):
            return self._cross_entropy(other)

    def _kl_divergence(self, other: Any) -> Any:
        return divergence.kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    def kl_divergence(self, other: Any, name: str = "kl_divergence") -> Tensor:
        """Returns the Kullback-Leibler divergence from this distribution to another one."""
        with self._name_scope(name):
            return self._kl_divergence(other)

    @contextlib.contextmanager
    def _name_scope(self, name: Optional[str] = None, values: Any = None) -> Iterator[Any]:
        with name_scope(self.name), name_scope(name, values=[*(values or []), *self._graph_parents]) as scope:
            yield scope

    def __str__(self) -> str:
        parts = [("batch_shape", self.batch_shape), ("event_shape", self.event_shape)]
        known = "".join(", %s=%s" % part for part in parts if part[1].ndims is not None)
        return 'tfp.distributions.%s("%s"%s, dtype=%s)' % (type(self).__name__, self.name, known, self.dtype.name)

    def __repr__(self) -> str:
        return "<tfp.distributions.%s '%s' batch_shape=%s event_shape=%s dtype=%s>" % (
            type(self).__name__,
            self.name,
            self.batch_shape,
            self.event_shape,
            self.dtype.name,
        )


def _first_of(first: Callable[[], Any], second: Optional[Callable[[], Any]]) -> Any:
    """Returns the result of the first function that is implemented; else raises the first one's error."""
    try:
        return first()
    except NotImplementedError as error:
        if second is None:
            raise
        try:
            return second()
        except NotImplementedError:
            raise error from None


def _as_vector(sample_shape: Tensor) -> Tuple[Any, Any]:
    """Returns a sample shape, a scalar or a vector, as a vector, and the number of samples."""
    known, rank = constant_value(sample_shape), sample_shape.shape.ndims
    n = reduction_ops.reduce_prod(sample_shape) if known is None else np.prod(known, dtype=np.int32)
    if rank == 1:
        return sample_shape, n
    if rank == 0 and known is not None:
        return convert_to_tensor(np.array([known], np.int32), name="sample_shape"), n
    if rank is not None and rank > 1:
        raise ValueError("Input is neither scalar nor vector.")
    return array_ops.reshape(sample_shape, [1] if rank == 0 else [-1]), n


def _is_scalar(shape: shapes.TensorShape, as_tensor: Callable[[], Any]) -> Any:
    if shape.ndims is not None:
        return shape.ndims == 0
    return math_ops.equal(array_ops.size(as_tensor()), 0)


class Univariate(Distribution):
    """The base class of distributions of single numbers, whose parameters broadcast against each other."""

    # The names of the properties that are the parameters.
    PARAMETERS: Tuple[str, ...] = ()
    REPARAMETERIZATION = FULLY_REPARAMETERIZED

    @classmethod
    def param_shapes(cls, sample_shape: Any, name: str = "DistributionParamShapes") -> Dict[str, Any]:
        """Returns the shapes of parameters for samples of a shape, as tensors by name."""
        with name_scope(name, values=[sample_shape]):
            return dict.fromkeys(cls.PARAMETERS, convert_to_tensor(sample_shape, dtype=dtypes.int32))

    def _build(self, arguments: Dict[str, Any], *assertions: Callable[[], Any]) -> None:
        """Sets the parameters from the arguments of a subclass, its `locals()`, and calls the base class."""
        values = {name: arguments[name] for name in self.PARAMETERS}
        with name_scope(arguments["name"], values=list(values.values())) as scope:
            with control_dependencies([make() for make in assertions] if arguments["validate_args"] else []):
                tensors = [array_ops.identity(value, name=name) for name, value in values.items()]
                check_ops.assert_same_float_dtype(tensors)
        for name, tensor in zip(values, tensors):
            setattr(self, "_" + name, tensor)
        Distribution.__init__(
            self,
            dtype=tensors[-1].dtype,
            reparameterization_type=self.REPARAMETERIZATION,
            validate_args=arguments["validate_args"],
            allow_nan_stats=arguments["allow_nan_stats"],
            parameters=arguments,
            graph_parents=tensors,
            name=scope,
        )

    def _tensors(self) -> List[Any]:
        return [getattr(self, name) for name in self.PARAMETERS]

    def _batch_shape_tensor(self) -> Any:
        found = [array_ops.shape(t) for t in self._tensors()]
        while 1 < len(found):
            found[-2:] = [shape_ops.broadcast_dynamic_shape(*found[-2:])]
        return found[0]

    def _batch_shape(self) -> Any:
        found = shapes.TensorShape([])
        for tensor in self._tensors():
            found = array_ops.broadcast_static_shape(found, tensor.shape)
        return found

    def _event_shape_tensor(self) -> Any:
        return constant([], dtypes.int32)

    def _event_shape(self) -> Any:
        return shapes.TensorShape([])

    def _shape_of(self, n: Any) -> Any:
        """Returns the shape of n samples."""
        return array_ops.concat([[n], self.batch_shape_tensor()], 0)

    def _log_prob(self, value: Any) -> Any:
        return self._log_unnormalized_prob(value) - self._log_normalization()

    def _log_unnormalized_prob(self, value: Any) -> Any:
        raise self._lacks("log_prob")

    def _log_normalization(self) -> Any:
        raise self._lacks("log_prob")
