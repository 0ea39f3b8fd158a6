"""Conversion to tensors: `convert_to_tensor`, registered conversions, constants and placeholders."""

from __future__ import annotations

import functools
import math
import threading
from typing import Any, Callable, List, Optional, Tuple

import numpy as np

from millstream import _engine
from millstream._engine import Tensor
from millstream.framework import dtypes, shapes
from millstream.framework.graph import register_conversion
from millstream.framework.name_scopes import name_scope
from millstream.framework.op_functions import op

# Sorted by priority, then by time of registration. Replaced as a whole: other threads may be iterating over
# the old list.
_conversions: List[Tuple[int, Any, Callable[..., Any]]] = []
_registering = threading.Lock()


def register_tensor_conversion_function(base_type: Any, conversion_func: Callable[..., Any], priority: int = 100) -> None:
    """Registers a conversion function `conversion_func(value, dtype=, name=, as_ref=)` for classes.

    Args:
      base_type: A class, or a tuple of classes.
      conversion_func: A function that returns a tensor, or `NotImplemented`.
      priority: Functions with lower numbers are tried first.

    Raises:
      TypeError: `base_type` is not a class, or one of Python's or NumPy's numbers; or the function is not
        callable.

    Example:
      >>> class Metres:
      ...     def __init__(self, n):
      ...         self.n = n
      >>> tf.register_tensor_conversion_function(
      ...     Metres,
      ...     lambda value, dtype=None, name=None, as_ref=False: tf.constant(value.n, dtype, name=name))
      >>> print(tf.Session().run(tf.constant(1.0) + Metres(2.0)))
      3.0
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(t, type) for t in types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if any(issubclass(t, (int, float, complex, np.generic, np.ndarray)) for t in types):
        raise TypeError("Cannot register conversions for Python numeric types and NumPy scalars and arrays.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    global _conversions
    with _registering:
        _conversions = sorted([*_conversions, (priority, base_type, conversion_func)], key=lambda c: c[0])


def _registered(value: Any, dtype: Any, name: Optional[str], as_ref: bool) -> Any:
    for _, base, function in _conversions:
        if isinstance(value, base):
            result = function(value, dtype=dtype, name=name, as_ref=as_ref)
            if result is NotImplemented:
                continue
            said = "%sConversion function %r for type %s returned " % (name + ": " if name else "", function, base)
            if not isinstance(result, Tensor):
                raise RuntimeError(said + "non-Tensor: %r" % (result,))
            if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(result.dtype):
                raise RuntimeError(said + "incompatible dtype: requested = %s, actual = %s" % (dtypes.as_dtype(dtype).name, result.dtype.name))
            return result
    return NotImplemented


def convert_for_engine(value: Any, dtype: Any, name: Optional[str], as_ref: bool) -> Tensor:
    """Converts a value for the engine that is not a number, string, array or list of them."""
    result: Any = NotImplemented
    convert = getattr(value, "_as_tensor", None)
    if convert is not None:
        result = convert(dtype=dtype, name=name, as_ref=as_ref)
    if result is NotImplemented and _conversions:
        result = _registered(value, dtype, name, as_ref)
    if result is NotImplemented and isinstance(value, shapes.TensorShape):
        result = _shape_tensor(value, dtype, name)
    if result is NotImplemented and isinstance(value, shapes.Dimension):
        if value.value is None:
            raise ValueError("Cannot convert an unknown Dimension to a Tensor: %s\n  help: `tf.shape(x)[i]` is the size as a tensor, which every run knows" % value)
        result = _engine.constant(value.value, dtype or dtypes.int32, name)
    if result is NotImplemented and isinstance(value, (list, tuple)):
        result = _packed(value, dtype, name)
    if result is NotImplemented:
        result = _engine.convert(value, dtype, name)
    if result is None and (hasattr(value, "__array__") or hasattr(value, "__dlpack__")):
        result = _engine.convert(_engine.asarray(value), dtype, name)
    if result is None:
        if value is None:
            raise ValueError("None values not supported.")
        raise TypeError(
            "Failed to convert object of type %s to Tensor. Contents: %s. Consider casting elements to a supported type." % (type(value), value)
        )
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(result.dtype.base_dtype):
        raise ValueError(
            "Tensor conversion requested dtype %s for Tensor with dtype %s: %r" % (dtypes.as_dtype(dtype).name, result.dtype.name, result)
        )
    return result


def convert_argument(value: Any, dtype: Any, name: Optional[str], as_ref: bool) -> Tensor:
    """Converts an argument of an op.

    A variable of another dtype is converted to its value: the op says which arguments disagree.
    """
    try:
        return convert_for_engine(value, dtype, name, as_ref)
    except ValueError:
        if dtype is None or not hasattr(value, "_as_tensor"):
            raise
    return convert_for_engine(value, None, name, as_ref)


def _shape_tensor(shape: shapes.TensorShape, dtype: Any, name: Optional[str]) -> Tensor:
    if not shape.is_fully_defined():
        raise ValueError("Cannot convert a partially known TensorShape to a Tensor: %s" % shape)
    if dtype is not None and dtypes.as_dtype(dtype) not in (dtypes.int32, dtypes.int64):
        raise TypeError("Cannot convert a TensorShape to dtype: %s" % dtype)
    large = next((n for n in shape.as_list() if n >= 2**31), None)
    if large is not None and dtype == dtypes.int32:
        raise ValueError("Cannot convert a TensorShape to dtype int32; a dimension is too large (%s)" % large)
    values = np.array(shape.as_list(), np.int32 if large is None and dtype != dtypes.int64 else np.int64)
    return _engine.constant(values, None, name or "shape_as_tensor")


def _packed(values: Any, dtype: Any, name: Optional[str]) -> Any:
    """Packs a list that holds tensors; other elements are converted to their dtype."""
    if dtype is None:
        dtype = _dtype_within(values)
    if dtype is None:
        flat = [v.value if isinstance(v, shapes.Dimension) else v for v in values]
        return _engine.convert(np.array(flat), None, name) if any(isinstance(v, shapes.Dimension) for v in values) else NotImplemented
    for value in _flat(values):
        if isinstance(value, Tensor) and value.dtype.base_dtype != dtype:
            raise TypeError("Cannot convert a list containing a tensor of dtype %s to %s (Tensor is: %r)" % (value.dtype.base_dtype, dtypes.as_dtype(dtype), value))
    with name_scope(name or "packed") as scope:
        elements = [_packed(v, dtype, str(i)) if _has_tensors(v) else convert_to_tensor(v, dtype, str(i)) for i, v in enumerate(values)]
        return op("Pack")(elements, name=scope)


def _has_tensors(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(v, (Tensor, shapes.Dimension)) for v in _flat(value))


def _flat(values: Any) -> Any:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        else:
            yield value


def _dtype_within(values: Any) -> Any:
    for value in values:
        if isinstance(value, (list, tuple)):
            found = _dtype_within(value)
            if found is not None:
                return found
        elif isinstance(value, Tensor) or hasattr(value, "_as_tensor"):
            return value.dtype.base_dtype
    return None


def _refuse_numbers(value: Any, dtype: Any) -> None:
    """Raises what TensorFlow raises for an array of numbers where strings are asked for."""
    if dtype is not None and isinstance(value, (np.ndarray, np.generic)) and value.size and np.asarray(value).dtype.kind in "biufc":
        if dtypes.as_dtype(dtype) == dtypes.string:
            raise TypeError("Expected binary or unicode string, got %r" % np.ravel(value)[0].item())


def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: Optional[str] = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
    as_ref: bool = False,
) -> Tensor:
    """Converts a value to a tensor: values become constants, variables are read, tensors stay.

    Args:
      value: A number, string, array, variable or tensor, a list of them, or an object of a registered class.
      dtype: The required dtype.
      name: A name for the new operations.
      preferred_dtype: The former name of `dtype_hint`.
      dtype_hint: The preferred dtype, used if possible.
      as_ref: If true, a variable is converted to its reference.

    Returns:
      A tensor.

    Raises:
      TypeError: The value does not convert to a tensor, or not to this dtype.
      ValueError: A tensor has a different dtype, or the value is None.

    Example:
      >>> x = tf.constant(1.5)
      >>> (tf.convert_to_tensor(x) is x, tf.convert_to_tensor([x, 2.0]).shape,
      ...  tf.convert_to_tensor([1, 2], dtype_hint=tf.float32).dtype)
      (True, TensorShape([Dimension(2)]), tf.float32)
    """
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and not dtype.is_compatible_with(value.dtype):
            raise ValueError("Tensor conversion requested dtype %s for Tensor with dtype %s: %r" % (dtype.name, value.dtype.name, value))
        return value
    hint = preferred_dtype if dtype_hint is None else dtype_hint
    if dtype is None and hint is not None:
        try:
            return convert_to_tensor(value, hint, name, as_ref=as_ref)
        except (TypeError, ValueError):
            pass
    if as_ref:
        return convert_for_engine(value, dtype, name, True)
    _refuse_numbers(value, dtype)
    made = _engine.convert(value, dtype, name)
    return convert_for_engine(value, dtype, name, False) if made is None else made


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const", verify_shape: bool = False) -> Tensor:
    """Returns a constant tensor.

    Args:
      value: A number or string, or nested lists or an array of them.
      dtype: The dtype; by default int32, float32, bool, string or complex128 for Python values, and an
        array's own.
      shape: The shape. A value with fewer elements is extended by repeating its last one.
      name: A name for the operation.
      verify_shape: If true, the value must have exactly this shape.

    Returns:
      A tensor.

    Raises:
      TypeError: The value does not convert to this dtype, or with `verify_shape` has another shape.
      ValueError: The value has too many elements for `shape`, or is None.

    Example:
      >>> sess = tf.Session()
      >>> print(sess.run(tf.constant([[1, 2], [3, 4]])), sess.run(tf.constant(7.0, shape=[3])))
      [[1 2]
       [3 4]] [7. 7. 7.]
      >>> (tf.constant("text").dtype, tf.constant(1.5).dtype, tf.constant(np.float64(1.5)).dtype,
      ...  tf.constant([1, 2], tf.uint8).dtype)
      (tf.string, tf.float32, tf.float64, tf.uint8)
    """
    if isinstance(value, Tensor):
        raise TypeError("Failed to convert object of type %s to Tensor. Contents: %s. Consider casting elements to a supported type." % (type(value), value))
    if shape is None:
        if isinstance(value, (shapes.TensorShape, shapes.Dimension)):
            return convert_for_engine(value, dtype, name, False)
        _refuse_numbers(value, dtype)
        return _engine.constant(value, dtype, name)
    shape = shapes.TensorShape(shape)._known_dims()
    _refuse_numbers(value, dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)  # A plain array: an `np.matrix` keeps two dimensions whatever its new shape.
        kind = None if dtype is None else dtypes.as_dtype(dtype).as_numpy_dtype
        if kind is not None and kind is not np.object_ and kind is not object:
            array = array.astype(kind)
    elif 0 in shape and not verify_shape:
        # As in TensorFlow, no element is asked for, and the value is not looked at.
        array = np.empty(shape, np.float32 if dtype is None else dtypes.as_dtype(dtype).as_numpy_dtype)
    else:
        array = _array_of(value, dtype)
    if verify_shape and array.shape != tuple(shape):
        raise TypeError("Expected Tensor's shape: %s, got %s." % (tuple(shape), array.shape))
    n = math.prod(shape)
    if n * max(array.itemsize, 1) >= 2**63:
        raise ValueError("array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.")
    if array.size > n:
        raise ValueError("Too many elements provided. Needed at most %d, but received %d" % (n, array.size))
    flat = array.ravel()
    if not flat.size:
        flat = np.zeros([n], flat.dtype)
    elif flat.size < n:
        flat = np.concatenate([flat, np.repeat(flat[-1:], n - flat.size)])
    return _engine.constant(flat.reshape(shape), dtype, name)


def _array_of(value: Any, dtype: Any) -> np.ndarray:
    """Returns a Python value as an array of the dtype that a constant of it has; raises the same errors.

    The constant is made in a graph of its own, so that there is one set of rules.
    """
    graph = _engine.Graph()
    _engine.push_graph(graph)
    try:
        known = graph._known_value(_engine.constant(value, dtype, None))
    finally:
        _engine.pop_graph(graph)
    return np.array(known, object) if isinstance(known, bytes) else np.asarray(known)


def placeholder(dtype: Any, shape: Any = None, name: Optional[str] = None) -> Tensor:
    """Returns a placeholder: a tensor that must be fed in every run that needs it.

    Args:
      dtype: The dtype.
      shape: A `TensorShape`, or a value that converts to one: the shape of feeds. None for any shape.
      name: A name for the operation.

    Returns:
      A tensor.

    Raises:
      TypeError: `dtype` is not a dtype.
      ValueError: `shape` does not convert to a shape.

    Example:
      >>> x = tf.placeholder(tf.float32, [None, 2], name="x")
      >>> print(x.shape, tf.Session().run(tf.reduce_sum(x, 0), {x: [[1, 2], [3, 4], [5, 6]]}))
      (?, 2) [ 9. 12.]
    """
    if not isinstance(shape, shapes.TensorShape):
        try:
            shape = shapes.TensorShape(shape)
        except ValueError as error:
            raise ValueError("Error converting shape to a TensorShape: %s." % error) from None
    try:
        dtype = dtypes.as_dtype(dtype)
    except TypeError:
        raise TypeError("Expected DataType for argument 'dtype' not %r." % (dtype,)) from None
    return op("Placeholder")(dtype=dtype, shape=shapes.TensorShape(shape), name=name)


register_conversion(functools.partial(convert_to_tensor, as_ref=True))
