"""Sets of integers or strings: the last dimension of a tensor holds the elements of a set."""

from __future__ import annotations

from typing import Any, Tuple

from millstream._engine import Tensor
from millstream.framework import SparseTensor, convert_to_tensor_or_sparse_tensor, dtypes
from millstream.framework.op_functions import op

__all__ = ["difference", "intersection", "set_difference", "set_intersection", "set_size", "set_union", "size", "union"]

_DTYPES = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.string)


def _operands(a: Any, b: Any) -> Tuple[Any, Any, bool]:
    """Returns the operands as tensors, a dense one first, and whether they changed places.

    Raises:
      TypeError: The dtypes differ, or sets have no such elements.
    """
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if a.dtype.base_dtype not in _DTYPES:
        raise TypeError("'a' invalid dtype %s." % a.dtype)
    b = convert_to_tensor_or_sparse_tensor(b, name="b")
    if b.dtype.base_dtype != a.dtype.base_dtype:
        raise TypeError("Types don't match, %s vs %s." % (a.dtype, b.dtype))
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        return b, a, True
    return a, b, False


def _operate(a: Any, b: Any, operation: str, validate_indices: bool) -> SparseTensor:
    parts = []
    for x in (a, b):
        parts += [x.indices, x.values, x.dense_shape] if isinstance(x, SparseTensor) else [x]
    name = "%sTo%sSetOperation" % tuple("Sparse" if isinstance(x, SparseTensor) else "Dense" for x in (a, b))
    return SparseTensor(*op(name)(*parts, set_operation=operation, validate_indices=validate_indices))


def set_size(a: Any, validate_indices: bool = True) -> Tensor:
    """Returns the number of distinct elements of each set.

    Args:
      a: A `SparseTensor` of integers or strings: the last dimension holds the elements of a set.
      validate_indices: Indices must be in row-major order, whether it is true or not.

    Returns:
      An `int32` tensor without the last dimension.

    Raises:
      TypeError: `a` is not sparse, or not of integers or strings.

    Example:
      >>> sets = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [7, 7, 5], [3, 2])
      >>> print(tf.Session().run(tf.sets.size(sets)))
      [1 0 1]
    """
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not isinstance(a, SparseTensor):
        raise TypeError("Expected `SparseTensor`, got %s." % (a,))
    if a.values.dtype.base_dtype not in _DTYPES:
        raise TypeError("Invalid dtype %s." % a.values.dtype)
    return op("SetSize")(a.indices, a.values, a.dense_shape, validate_indices)


def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """Returns the intersections of sets.

    Args:
      a: A tensor of integers or strings, or a `SparseTensor`: the last dimension holds the elements of a set.
      b: The same. All dimensions but the last must be equal.
      validate_indices: Indices must be in row-major order, whether it is true or not.

    Returns:
      A `SparseTensor`; the elements of a set are sorted.

    Raises:
      TypeError: The dtypes differ, or are not those of integers or strings.

    Example:
      >>> print(tf.Session().run(tf.sets.intersection([[1, 2, 2, 3]], [[3, 2, 9]])).values)
      [2 3]
    """
    a, b, _ = _operands(a, b)
    return _operate(a, b, "intersection", validate_indices)


def set_difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """Returns the differences of sets.

    Args:
      a: A tensor of integers or strings, or a `SparseTensor`: the last dimension holds the elements of a set.
      b: The same. All dimensions but the last must be equal.
      aminusb: If true, elements of `a` that are not in `b`; otherwise the reverse.
      validate_indices: Indices must be in row-major order, whether it is true or not.

    Returns:
      A `SparseTensor`; the elements of a set are sorted.

    Raises:
      TypeError: The dtypes differ, or are not those of integers or strings.

    Example:
      >>> print(tf.Session().run(tf.sets.difference([[1, 2, 2, 3]], [[3, 2, 9]])).values)
      [1]
    """
    a, b, swapped = _operands(a, b)
    return _operate(a, b, "a-b" if aminusb != swapped else "b-a", validate_indices)


def set_union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """Returns the unions of sets.

    Args:
      a: A tensor of integers or strings, or a `SparseTensor`: the last dimension holds the elements of a set.
      b: The same. All dimensions but the last must be equal.
      validate_indices: Indices must be in row-major order, whether it is true or not.

    Returns:
      A `SparseTensor`; the elements of a set are sorted.

    Raises:
      TypeError: The dtypes differ, or are not those of integers or strings.

    Example:
      >>> print(tf.Session().run(tf.sets.union([[1, 2, 2, 3]], [[3, 2, 9]])).values)
      [1 2 3 9]
    """
    a, b, _ = _operands(a, b)
    return _operate(a, b, "union", validate_indices)


difference, intersection, size, union = set_difference, set_intersection, set_size, set_union
