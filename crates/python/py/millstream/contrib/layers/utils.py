"""What the layers of `tf.contrib.layers` share: names of outputs in collections, static conditions."""

from __future__ import annotations

import collections
from typing import Any, Callable, Dict, List, Optional, Tuple

from millstream._engine import Tensor
from millstream.framework import add_to_collections, get_collection, get_default_graph, get_static_value
from millstream.framework.shapes import TensorShape
from millstream.ops import control_flow
from millstream.variables.variable import Variable

__all__ = [
    "append_tensor_alias",
    "channel_dimension",
    "collect_named_outputs",
    "constant_value",
    "convert_collection_to_dict",
    "gather_tensors_aliases",
    "get_tensor_aliases",
    "get_variable_collections",
    "last_dimension",
    "n_positive_integers",
    "smart_cond",
    "static_cond",
    "two_element_tuple",
]


def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:  # noqa: F811
    """Adds a tensor to collections under a name, and returns it."""
    if collections:
        append_tensor_alias(outputs, alias)
        add_to_collections(collections, outputs)
    return outputs


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """Adds a name to `tensor.aliases`, and returns the tensor."""
    alias = alias[:-1] if alias.endswith("/") else alias
    if hasattr(tensor, "aliases"):
        tensor.aliases.append(alias)
    else:
        tensor.aliases = [alias]
    return tensor


def gather_tensors_aliases(tensors: Any) -> List[str]:
    """Returns the names of several tensors."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def get_tensor_aliases(tensor: Any) -> List[str]:
    """Returns the names that a tensor was given, or its own."""
    if hasattr(tensor, "aliases"):
        return list(tensor.aliases)
    return [tensor.op.name if tensor.name.endswith(":0") else tensor.name]


def convert_collection_to_dict(collection: str, clear_collection: bool = False) -> Dict[str, Any]:
    """Returns a dict from names to the tensors of a collection, which can be emptied."""
    found = collections.OrderedDict((alias, t) for t in get_collection(collection) for alias in get_tensor_aliases(t))
    if clear_collection:
        get_default_graph().clear_collection(collection)
    return found


def constant_value(value_or_tensor_or_var: Any, dtype: Any = None) -> Any:
    """Returns the value if it is known while the graph is built, otherwise None.

    Raises:
      ValueError: The argument is None, or has another dtype.
    """
    value = value_or_tensor_or_var
    if value is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    if not isinstance(value, (Tensor, Variable)):
        return value
    if dtype and value.dtype != dtype:
        raise ValueError("It has the wrong type %s instead of %s" % (value.dtype, dtype))
    return None if isinstance(value, Variable) else get_static_value(value)


def static_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any]) -> Any:
    """Returns the result of one of two functions.

    Raises:
      TypeError: One of them is not callable.
    """
    for function, called in ((fn1, "fn1"), (fn2, "fn2")):
        if not callable(function):
            raise TypeError("%s must be callable." % called)
    return fn1() if pred else fn2()


def smart_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any], name: Optional[str] = None) -> Any:
    """As `tf.cond`, but calls only one function if the predicate is known."""
    known = constant_value(pred)
    return control_flow.cond(pred, fn1, fn2, name=name) if known is None else static_cond(known, fn1, fn2)


def get_variable_collections(variables_collections: Any, name: str) -> Any:
    """Returns the collections of a variable: a list for all variables, or a dict of lists by name."""
    return variables_collections.get(name, None) if isinstance(variables_collections, dict) else variables_collections


def _get_dimension(shape: Any, dim: int, min_rank: int = 1) -> int:
    dims = shape.dims
    if dims is None:
        raise ValueError("dims of shape must be known but is None")
    if len(dims) < min_rank:
        raise ValueError("rank of shape must be at least %d not: %d" % (min_rank, len(dims)))
    value = dims[dim].value
    if value is None:
        raise ValueError("dimension %d of shape must be known but is None: %s" % (dim, shape))
    return int(value)


def channel_dimension(shape: Any, data_format: str, min_rank: int = 1) -> int:
    """Returns the number of channels of a shape, which must be known."""
    return _get_dimension(shape, 1 if data_format == "channels_first" else -1, min_rank)


def last_dimension(shape: Any, min_rank: int = 1) -> int:
    """Returns the last dimension of a shape, which must be known."""
    return _get_dimension(shape, -1, min_rank)


def two_element_tuple(int_or_tuple: Any) -> Tuple[int, int]:
    """Returns two ints: a pair, or one int twice.

    Raises:
      ValueError: The argument is neither.
    """
    if isinstance(int_or_tuple, (list, tuple)):
        if len(int_or_tuple) != 2:
            raise ValueError("Must be a list with 2 elements: %s" % (int_or_tuple,))
        return int(int_or_tuple[0]), int(int_or_tuple[1])
    if isinstance(int_or_tuple, int):
        return int_or_tuple, int_or_tuple
    if isinstance(int_or_tuple, TensorShape) and len(int_or_tuple) == 2:
        return int_or_tuple[0], int_or_tuple[1]
    raise ValueError("Must be an int, a list with 2 elements or a TensorShape of length 2")


def n_positive_integers(n: int, value: Any) -> Tuple[int, ...]:
    """Returns `n` positive ints: a sequence of them, or one int `n` times.

    Raises:
      ValueError: The arguments are neither.
    """
    if int(n) < 1 or int(n) != n:
        raise ValueError("n must be a positive integer")
    try:
        values = (int(value),) * int(n)
    except (TypeError, ValueError):
        try:
            values = tuple(int(x) for x in value)
        except (TypeError, ValueError):
            values = ()
        if len(values) != n:
            raise ValueError("Expected sequence of %d positive integers, but received %r" % (n, value)) from None
    for x in values:
        if x < 1:
            raise ValueError("expected positive integer, but received %d" % x)
    return values
