"""Sets of integers: the last dimension of a tensor holds the elements of a set.

TensorFlow has ops for them. Here they are compositions: each element becomes one number, its row and its rank
among all distinct elements. Sorted and without duplicates, these numbers are compared by binary search.
"""

from __future__ import annotations

from typing import Any, Tuple

from millstream._engine import Tensor
from millstream.framework import SparseTensor, control_dependencies, convert_to_tensor_or_sparse_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, counting_ops, indexing_ops, math_ops, reduction_ops

__all__ = ["difference", "intersection", "set_difference", "set_intersection", "set_size", "set_union", "size", "union"]

_DTYPES = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.string)


def _checked(dtype: Any, text: str) -> None:
    if dtype.base_dtype not in _DTYPES:
        raise TypeError(text)
    if dtype.base_dtype == dtypes.string:
        raise NotImplementedError("sets of strings are not part of Millstream yet: look the strings up in a table first")


def _elements(values: Any) -> Tuple[Tensor, Tensor, Tensor]:
    """Returns the row of each element, the elements, and the sizes of all dimensions but the last."""
    if isinstance(values, SparseTensor):
        lead = values.dense_shape[:-1]
        strides = op("Cumprod")(lead, 0, exclusive=True, reverse=True)
        rows = reduction_ops.reduce_sum(values.indices[:, :-1] * strides, 1)
        return rows, math_ops.cast(values.values, dtypes.int64), lead
    shape = array_ops.shape(values, out_type=dtypes.int64)
    lead, width = shape[:-1], shape[-1]
    rows = array_ops.reshape(op("Range")(math_ops.cast(0, dtypes.int64), reduction_ops.reduce_prod(lead), math_ops.cast(1, dtypes.int64)), [-1, 1])
    rows = array_ops.reshape(op("Tile")(rows, array_ops.stack([math_ops.cast(1, dtypes.int64), width])), [-1])
    return rows, math_ops.cast(array_ops.reshape(values, [-1]), dtypes.int64), lead


def _distinct(values: Tensor) -> Tensor:
    return counting_ops.sort(op("Unique")(values)[0])


def _contains(sorted_values: Tensor, values: Tensor) -> Tensor:
    """Returns which values are among others, which are sorted and not negative."""
    places = counting_ops.searchsorted(sorted_values, values)
    return math_ops.equal(indexing_ops.gather(array_ops.concat([sorted_values, math_ops.cast([-1], dtypes.int64)], 0), places), values)


def _operate(a: Any, b: Any, operation: str, name: str) -> SparseTensor:
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    _checked(a.dtype, "'a' invalid dtype %s." % a.dtype)
    b = convert_to_tensor_or_sparse_tensor(b, name="b")
    if b.dtype.base_dtype != a.dtype.base_dtype:
        raise TypeError("Types don't match, %s vs %s." % (a.dtype, b.dtype))
    with name_scope(None, name):
        (rows_a, of_a, lead), (rows_b, of_b, lead_b) = _elements(a), _elements(b)
        with control_dependencies([check_ops.assert_equal(lead, lead_b, message="All dimensions but the last must be equal.")]):
            values = _distinct(array_ops.concat([of_a, of_b], 0))
        # A number for each element: the rank of its value in its row.
        count = op("Maximum")(op("Size")(values, out_type="int64"), math_ops.cast(1, dtypes.int64))
        keys = []
        for rows, elements in ((rows_a, of_a), (rows_b, of_b)):
            keys.append(_distinct(rows * count + counting_ops.searchsorted(values, elements, out_type=dtypes.int64)))
        if operation == "intersection":
            found = indexing_ops.boolean_mask(keys[0], _contains(keys[1], keys[0]))
        elif operation == "a-b":
            found = indexing_ops.boolean_mask(keys[0], op("LogicalNot")(_contains(keys[1], keys[0])))
        elif operation == "b-a":
            found = indexing_ops.boolean_mask(keys[1], op("LogicalNot")(_contains(keys[0], keys[1])))
        else:
            found = _distinct(array_ops.concat(keys, 0))
        return _result(found, count, values, lead, a.dtype.base_dtype, a.shape.ndims)


def _result(keys: Tensor, count: Tensor, values: Tensor, lead: Tensor, dtype: Any, rank: Any) -> SparseTensor:
    """Returns the sets of sorted numbers: each element at its place in its row."""
    rows = op("FloorDiv")(keys, count)
    elements = math_ops.cast(indexing_ops.gather(values, op("FloorMod")(keys, count)), dtype)
    begins = counting_ops.searchsorted(rows, rows, out_type=dtypes.int64)
    one = math_ops.cast(1, dtypes.int64)
    places = op("Range")(math_ops.cast(0, dtypes.int64), op("Size")(rows, out_type="int64"), one) - begins
    strides = op("Cumprod")(lead, 0, exclusive=True, reverse=True)
    outer = op("FloorMod")(op("FloorDiv")(array_ops.expand_dims(rows, 1), strides), lead)
    indices = array_ops.concat([outer, array_ops.expand_dims(places, 1)], 1)
    width = reduction_ops.reduce_max(array_ops.concat([places + 1, math_ops.cast([0], dtypes.int64)], 0))
    shape = array_ops.concat([lead, array_ops.reshape(width, [1])], 0)
    if rank is not None:
        indices.set_shape([None, rank])
        shape.set_shape([rank])
    return SparseTensor(indices, elements, shape)


def set_size(a: Any, validate_indices: bool = True) -> Tensor:
    """Returns the number of distinct elements of each set.

    Args:
      a: A `SparseTensor` of integers: the last dimension holds the elements of a set.
      validate_indices: Ignored: indices need not be sorted.

    Returns:
      An `int32` tensor without the last dimension.

    Raises:
      TypeError: `a` is not sparse, or not of integers.

    Example:
      >>> sets = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [7, 7, 5], [3, 2])
      >>> print(tf.Session().run(tf.sets.size(sets)))
      [1 0 1]
    """
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not isinstance(a, SparseTensor):
        raise TypeError("Expected `SparseTensor`, got %s." % (a,))
    _checked(a.values.dtype, "Invalid dtype %s." % a.values.dtype)
    with name_scope(None, "SetSize"):
        rows, elements, lead = _elements(a)
        values = _distinct(elements)
        count = op("Maximum")(op("Size")(values, out_type="int64"), math_ops.cast(1, dtypes.int64))
        keys = _distinct(rows * count + counting_ops.searchsorted(values, elements, out_type=dtypes.int64))
        rows = op("FloorDiv")(keys, count)
        ones = array_ops.ones_like(rows, dtypes.int32)
        sizes = op("UnsortedSegmentSum")(ones, rows, reduction_ops.reduce_prod(lead))
        return array_ops.reshape(sizes, lead)


def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """Returns the intersections of sets.

    Args:
      a: A tensor of integers, or a `SparseTensor`: the last dimension holds the elements of a set.
      b: The same. All dimensions but the last must be equal.
      validate_indices: Ignored: indices need not be sorted.

    Returns:
      A `SparseTensor`; the elements of a set are sorted.

    Raises:
      TypeError: The dtypes differ, or are not integers.

    Example:
      >>> print(tf.Session().run(tf.sets.intersection([[1, 2, 2, 3]], [[3, 2, 9]])).values)
      [2 3]
    """
    return _operate(a, b, "intersection", "SetIntersection")


def set_difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """Returns the differences of sets.

    Args:
      a: A tensor of integers, or a `SparseTensor`: the last dimension holds the elements of a set.
      b: The same. All dimensions but the last must be equal.
      aminusb: If true, elements of `a` that are not in `b`; otherwise the reverse.
      validate_indices: Ignored: indices need not be sorted.

    Returns:
      A `SparseTensor`; the elements of a set are sorted.

    Raises:
      TypeError: The dtypes differ, or are not integers.

    Example:
      >>> print(tf.Session().run(tf.sets.difference([[1, 2, 2, 3]], [[3, 2, 9]])).values)
      [1]
    """
    return _operate(a, b, "a-b" if aminusb else "b-a", "SetDifference")


def set_union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """Returns the unions of sets.

    Args:
      a: A tensor of integers, or a `SparseTensor`: the last dimension holds the elements of a set.
      b: The same. All dimensions but the last must be equal.
      validate_indices: Ignored: indices need not be sorted.

    Returns:
      A `SparseTensor`; the elements of a set are sorted.

    Raises:
      TypeError: The dtypes differ, or are not integers.

    Example:
      >>> print(tf.Session().run(tf.sets.union([[1, 2, 2, 3]], [[3, 2, 9]])).values)
      [1 2 3 9]
    """
    return _operate(a, b, "union", "SetUnion")


difference, intersection, size, union = set_difference, set_intersection, set_size, set_union
