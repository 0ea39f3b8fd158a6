"""`Bijector`: a differentiable function with an inverse, which turns one distribution into another."""

from __future__ import annotations

import contextlib
import re
from typing import Any, Callable, Dict, Iterator, List, Optional

from millstream._engine import Tensor
from millstream.framework import constant_value, convert_to_tensor, dtypes, name_scope, shapes
from millstream.ops import array_ops, reduction_ops, shape_ops


class Bijector:
    """The base class of bijectors: `y = forward(x)`, `x = inverse(y)` and the logarithms of both derivatives.

    A subclass implements `_forward`, `_inverse`, and one of `_forward_log_det_jacobian(x)` and
    `_inverse_log_det_jacobian(y)`: the logarithm of the derivative's determinant, for the last
    `forward_min_event_ndims` or `inverse_min_event_ndims` dimensions. A value is computed once: `inverse` of
    what `forward` returned is the tensor that `forward` was given.

    Args:
      graph_parents: A list of the tensors that the bijector is made of.
      is_constant_jacobian: Whether the derivative is the same everywhere.
      validate_args: If true, values are checked when the graph is run.
      dtype: The dtype of values; None is any.
      forward_min_event_ndims: The number of dimensions that `forward` takes together.
      inverse_min_event_ndims: The number of dimensions that `inverse` takes together; by default the same.
      name: The name scope of the operations; by default that of the class, with underscores.

    Raises:
      TypeError: A number of dimensions is no int.
      ValueError: Both are missing, or one is negative; an item of `graph_parents` is not a tensor.

    Example:
      >>> class Twice(tf.contrib.distributions.bijectors.Bijector):
      ...     def __init__(self):
      ...         super().__init__(forward_min_event_ndims=0)
      ...     def _forward(self, x):
      ...         return 2.0 * x
      ...     def _inverse(self, y):
      ...         return y / 2.0
      ...     def _forward_log_det_jacobian(self, x):
      ...         return tf.constant(np.log(2.0), tf.float32)
      >>> twice = Twice()
      >>> print(*tf.Session().run([twice.forward(3.0), twice.inverse(8.0)]))
      6.0 4.0
      >>> both = twice.forward_log_det_jacobian([1.0, 2.0], 1), twice.inverse_log_det_jacobian([1.0, 2.0], 1)
      >>> print(*np.round(tf.Session().run(both), 4))
      1.3863 -1.3863
      >>> twice.name, twice.dtype, twice.validate_args, twice.is_constant_jacobian, twice.graph_parents
      ('twice', None, False, False, [])
      >>> twice.forward_min_event_ndims, twice.inverse_min_event_ndims, twice.forward_event_shape([3]).as_list()
      (0, 0, [3])
      >>> twice.inverse_event_shape([3]).as_list(), twice.forward_event_shape_tensor([3]).dtype
      ([3], tf.int32)
      >>> twice.inverse_event_shape_tensor([3]).dtype
      tf.int32
    """

    # Whether every value comes of one point alone. Otherwise `inverse` returns a tuple of points.
    _is_injective = True

    def __init__(
        self,
        graph_parents: Optional[List[Any]] = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        dtype: Any = None,
        forward_min_event_ndims: Optional[int] = None,
        inverse_min_event_ndims: Optional[int] = None,
        name: Optional[str] = None,
    ) -> None:
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError("Must specify at least one of `forward_min_event_ndims` and `inverse_min_event_ndims`.")
        given = {
            "forward": inverse_min_event_ndims if forward_min_event_ndims is None else forward_min_event_ndims,
            "inverse": forward_min_event_ndims if inverse_min_event_ndims is None else inverse_min_event_ndims,
        }
        for word, n in given.items():
            if not isinstance(n, int):
                raise TypeError("Expected %s_min_event_ndims to be of type int, got %s" % (word, type(n).__name__))
            if n < 0:
                raise ValueError("%s_min_event_ndims must be a non-negative integer." % word)
        self._graph_parents = graph_parents or []
        for i, parent in enumerate(self._graph_parents):
            if not shape_ops.is_tensor(parent):
                raise ValueError("Graph parent item %d is not a Tensor; %s." % (i, parent))
        self._forward_min_event_ndims, self._inverse_min_event_ndims = given["forward"], given["inverse"]
        self._is_constant_jacobian, self._validate_args, self._dtype = is_constant_jacobian, validate_args, dtype
        self._name = name or _words(type(self).__name__.lstrip("_"))
        # What was computed: `y` by `x`, `x` by `y`, and the inverse's logarithms by both, by what follows.
        self._known: Dict[Any, Any] = {}

    @property
    def name(self) -> str:
        """The name scope of the operations."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of values, or None for any."""
        return self._dtype

    @property
    def validate_args(self) -> bool:
        """Whether values are checked when the graph is run."""
        return self._validate_args

    @property
    def graph_parents(self) -> List[Any]:
        """The tensors that the bijector is made of."""
        return self._graph_parents

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the derivative is the same everywhere."""
        return self._is_constant_jacobian

    @property
    def forward_min_event_ndims(self) -> int:
        """The number of dimensions that `forward` takes together."""
        return self._forward_min_event_ndims  # type: ignore[return-value]

    @property
    def inverse_min_event_ndims(self) -> int:
        """The number of dimensions that `inverse` takes together."""
        return self._inverse_min_event_ndims  # type: ignore[return-value]

    # Shapes.

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return input_shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return output_shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return output_shape

    def forward_event_shape(self, input_shape: Any) -> shapes.TensorShape:
        """Returns the static shape of `forward`'s events, for those of this shape."""
        return self._forward_event_shape(shapes.TensorShape(input_shape))  # type: ignore[no-any-return]

    def inverse_event_shape(self, output_shape: Any) -> shapes.TensorShape:
        """Returns the static shape of `inverse`'s events, for those of this shape."""
        return self._inverse_event_shape(shapes.TensorShape(output_shape))  # type: ignore[no-any-return]

    def forward_event_shape_tensor(self, input_shape: Any, name: str = "forward_event_shape_tensor") -> Tensor:
        """Returns the shape of `forward`'s events as an int32 tensor."""
        with self._name_scope(name, [input_shape]):
            return self._forward_event_shape_tensor(convert_to_tensor(input_shape, dtypes.int32, name="input_shape"))

    def inverse_event_shape_tensor(self, output_shape: Any, name: str = "inverse_event_shape_tensor") -> Tensor:
        """Returns the shape of `inverse`'s events as an int32 tensor."""
        with self._name_scope(name, [output_shape]):
            return self._inverse_event_shape_tensor(convert_to_tensor(output_shape, dtypes.int32, name="output_shape"))

    # Values.

    def _forward(self, x: Any) -> Any:
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError("inverse not implemented")

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def forward(self, x: Any, name: str = "forward") -> Tensor:
        """Returns the value of the function at `x`."""
        return self._call_forward(x, name)

    def inverse(self, y: Any, name: str = "inverse") -> Any:
        """Returns the point whose value is `y`; a tuple of points if there are several."""
        return self._call_inverse(y, name)

    def forward_log_det_jacobian(self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian") -> Tensor:
        """Returns the logarithm of the absolute value of the derivative's determinant at `x`.

        Args:
          x: A tensor.
          event_ndims: The number of last dimensions that are one event.
          name: The name scope of the operations.
        """
        return self._call_forward_log_det_jacobian(x, event_ndims, name)

    def inverse_log_det_jacobian(self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian") -> Any:
        """Returns the logarithm of the absolute value of the inverse's determinant at `y`.

        Args:
          y: A tensor.
          event_ndims: The number of last dimensions that are one event.
          name: The name scope of the operations.
        """
        return self._call_inverse_log_det_jacobian(y, event_ndims, name)

    def _call_forward(self, x: Any, name: str, **kwargs: Any) -> Any:
        with self._name_scope(name, [x]):
            x = self._value(x, "x")
            if not self._is_injective:
                return self._forward(x, **kwargs)
            key = _key("y", x, kwargs)
            if key not in self._known:
                y = self._known[key] = self._forward(x, **kwargs)
                self._known.setdefault(_key("x", y, kwargs), x)
            return self._known[key]

    def _call_inverse(self, y: Any, name: str, **kwargs: Any) -> Any:
        with self._name_scope(name, [y]):
            y = self._value(y, "y")
            if not self._is_injective:
                return self._inverse(y, **kwargs)
            key = _key("x", y, kwargs)
            if key not in self._known:
                x = self._known[key] = self._inverse(y, **kwargs)
                self._known.setdefault(_key("y", x, kwargs), y)
            return self._known[key]

    def _call_inverse_log_det_jacobian(self, y: Any, event_ndims: Any, name: str, **kwargs: Any) -> Any:
        with self._name_scope(name, [y]):
            known = "constant", event_ndims if isinstance(event_ndims, int) else id(event_ndims)
            if known in self._known:
                return self._known[known]
            y = self._value(y, "y")
            n = _checked(event_ndims, self.inverse_min_event_ndims)
            key = _key("log %s" % known[1], y, kwargs)
            if key not in self._known:
                self._known[key] = self._ildj_of(y, n, **kwargs)
                if self._is_constant_jacobian:
                    self._known[known] = self._known[key]
            return self._known[key]

    def _ildj_of(self, y: Any, n: Any, **kwargs: Any) -> Any:
        def first() -> Any:
            return self._summed(y, self._inverse_log_det_jacobian(y, **kwargs), self.inverse_min_event_ndims, n)

        def second() -> Any:
            x = self._known.get(_key("x", y, kwargs))
            x = self._inverse(y, **kwargs) if x is None else x
            return _negative(self._summed(x, self._forward_log_det_jacobian(x, **kwargs), self.forward_min_event_ndims, self._moved(n, -1)))

        return _either(first, second)

    def _call_forward_log_det_jacobian(self, x: Any, event_ndims: Any, name: str, **kwargs: Any) -> Any:
        if not self._is_injective:
            raise NotImplementedError("forward_log_det_jacobian cannot be implemented for non-injective transforms.")
        with self._name_scope(name, [x]):
            n = _checked(event_ndims, self.forward_min_event_ndims)
            known = "constant", event_ndims if isinstance(event_ndims, int) else id(event_ndims)
            if known in self._known:
                return -1.0 * self._known[known]
            x = self._value(x, "x")
            key = _key("flog %s" % known[1], x, kwargs)
            if key not in self._known:
                self._known[key] = self._fldj_of(x, n, **kwargs)
                if self._is_constant_jacobian:
                    self._known[known] = -self._known[key]
            return self._known[key]

    def _fldj_of(self, x: Any, n: Any, **kwargs: Any) -> Any:
        def first() -> Any:
            return self._summed(x, self._forward_log_det_jacobian(x, **kwargs), self.forward_min_event_ndims, n)

        def second() -> Any:
            y = self._known.get(_key("y", x, kwargs))
            y = self._forward(x, **kwargs) if y is None else y
            return _negative(self._summed(y, self._inverse_log_det_jacobian(y, **kwargs), self.inverse_min_event_ndims, self._moved(n, 1)))

        return _either(first, second)

    def _moved(self, n: Any, sign: int) -> Any:
        """Returns the number of dimensions of an event on the other side."""
        return n + sign * (self.inverse_min_event_ndims - self.forward_min_event_ndims)

    def _summed(self, value: Any, log: Any, least: int, n: Any) -> Any:
        """Returns logarithms for `least` dimensions, summed over the others of an event."""
        if isinstance(log, tuple):
            return tuple(self._summed(value, part, least, n) for part in log)
        log = convert_to_tensor(log)
        rank = value.shape.ndims if value.shape.ndims is not None else array_ops.rank(value)
        ones = array_ops.ones(array_ops.shape(value)[rank - n : rank - least], log.dtype)
        summed = reduction_ops.reduce_sum(ones * log, [-1 - i for i in range(n - least)])
        if value.shape.ndims is not None and log.shape.ndims is not None:
            wide = array_ops.broadcast_static_shape(log.shape, value.shape[value.shape.ndims - n : value.shape.ndims - least])
            summed.set_shape(wide[: wide.ndims - (n - least)])  # type: ignore[operator]
        return summed

    def _value(self, value: Any, name: str) -> Any:
        value = convert_to_tensor(value, name=name)
        if self.dtype is not None and dtypes.as_dtype(self.dtype).base_dtype != value.dtype.base_dtype:
            raise TypeError("Input had dtype %s but expected %s." % (self.dtype, value.dtype))
        return value

    @contextlib.contextmanager
    def _name_scope(self, name: Optional[str] = None, values: Optional[List[Any]] = None) -> Iterator[Any]:
        with name_scope(self.name), name_scope(name, values=(values or []) + self.graph_parents) as scope:
            yield scope


def _words(name: str) -> str:
    return re.sub("([a-z0-9])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)).lower()


def _key(what: str, value: Any, kwargs: Dict[str, Any]) -> Any:
    return what, value, tuple(sorted((k, repr(v)) for k, v in kwargs.items()))


def _negative(value: Any) -> Any:
    return tuple(-v for v in value) if isinstance(value, tuple) else -value


def _either(first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    """Returns the result of the first function that is implemented, or raises the first one's error."""
    try:
        return first()
    except NotImplementedError as error:
        try:
            return second()
        except NotImplementedError:
            raise error from None


def _checked(event_ndims: Any, least: int) -> int:
    """Returns a number of dimensions as an int.

    Raises:
      ValueError: It is less than `least`, no scalar of integers, or not known while the graph is built.
    """
    tensor = convert_to_tensor(event_ndims, name="event_ndims")
    if not tensor.dtype.is_integer:
        raise ValueError("Expected integer dtype, got dtype {}".format(tensor.dtype))
    known = constant_value(tensor)
    if known is None:
        raise ValueError("event_ndims must be known while the graph is built, found %s" % (event_ndims,))
    if tensor.shape.ndims != 0:
        raise ValueError("Expected scalar event_ndims, got shape {}".format(tensor.shape))
    if least > known:
        raise ValueError("event_ndims ({}) must be larger than min_event_ndims ({})".format(known, least))
    return int(known)
