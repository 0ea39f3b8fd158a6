"""Parts of tensors: `x[i, a:b]`, slices, gathers and masks."""

from __future__ import annotations

import builtins
import functools
import sys
from typing import Any, List, Optional

import numpy as np

from millstream import _engine
from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes, get_static_value, name_scope, node_counts, shapes, traced
from millstream.framework.op_functions import op
from millstream.ops import array_ops
from millstream.ops.math_ops import cast

__all__ = [
    "boolean_mask",
    "gather",
    "gather_nd",
    "slice",
    "strided_slice",
]


def slice(input_: Any, begin: Any, size: Any, name: Optional[str] = None) -> Tensor:  # noqa: A001
    """Returns the slice that starts at `begin` and has this size, as `input_[1:3]` in Python's notation.

    Args:
      input_: A tensor of any dtype.
      begin: An `int32` or `int64` vector: the start along each axis.
      size: A vector of the same length: the size along each axis; -1 for the rest of the axis.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype and rank.

    Example:
      >>> print(tf.Session().run(tf.slice([[1, 2, 3], [4, 5, 6]], begin=[0, 1], size=[-1, 2])))
      [[2 3]
       [5 6]]
    """
    return op("Slice")(input_, begin, size, name=name)


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: Optional[str] = None,
) -> Tensor:
    """Returns the slice from `begin` to `end` by `strides`, as Python's `x[a:b:c]`.

    Args:
      input_: A tensor of any dtype.
      begin: An `int32` or `int64` vector.
      end: A vector of the same length.
      strides: A vector of the same length; by default ones.
      begin_mask: If bit `i` is set, `begin[i]` is ignored: the slice starts at the first element.
      end_mask: If bit `i` is set, `end[i]` is ignored: the slice ends with the last element.
      ellipsis_mask: If bit `i` is set, entry `i` is an ellipsis for all axes that are not named.
      new_axis_mask: If bit `i` is set, entry `i` inserts an axis of size 1.
      shrink_axis_mask: If bit `i` is set, entry `i` is an index, and its axis is removed.
      var: Ignored.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> x = tf.constant([[1, 2, 3], [4, 5, 6]])
      >>> print(tf.Session().run(tf.strided_slice(x, [1, 0], [2, 3], [1, 2], shrink_axis_mask=1)))
      [4 6]
      >>> print(tf.Session().run(x[1, 0:3:2]))
      [4 6]
    """
    if strides is None:
        node_counts.also(_nodes_of_ones(begin))
        if isinstance(begin, Tensor):
            strides = op("OnesLike")(convert_to_tensor(begin))
        else:
            strides = [1] * len(begin) if hasattr(begin, "__len__") else 1
    masks = dict(
        begin_mask=begin_mask, end_mask=end_mask, ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask, shrink_axis_mask=shrink_axis_mask
    )
    return op("StridedSlice")(input_, begin, end, strides, name=name, **masks)


newaxis = None


def _nodes_of_ones(begin: Any) -> int:
    """Returns how many nodes more TensorFlow makes for strides of ones like `begin`."""
    if isinstance(begin, Tensor):
        return 2
    parts = list(begin) if isinstance(begin, (list, tuple)) else []
    fixed = sum(not isinstance(part, Tensor) for part in parts)
    return 3 + (fixed if fixed < len(parts) else 0)


_INDICES = "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid indices, got %r"


def _index(value: Any) -> Any:
    if isinstance(value, (int, np.integer, Tensor)) and not isinstance(value, bool):
        if isinstance(value, Tensor) and not (value.dtype.is_integer and value.shape.ndims in (None, 0)):
            raise TypeError(_INDICES % (value,))
        return value
    if isinstance(value, shapes.Dimension):
        if value.value is None:
            raise ValueError("Cannot convert an unknown Dimension to a Tensor: ?")
        return value.value
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iu":
        return int(value)
    if hasattr(value, "_as_tensor"):
        return convert_to_tensor(value)
    raise TypeError(_INDICES % (value,))


def _is_wide(value: Any) -> bool:
    """Whether an index is an int64, by its dtype or its size."""
    if isinstance(value, Tensor):
        return bool(value.dtype.base_dtype == dtypes.int64)
    return not -(1 << 31) <= value < 1 << 31


def _getitem(tensor: Tensor, key: Any, var: Any = None) -> Tensor:
    """Returns `tensor[key]` as one strided slice."""
    if isinstance(key, (bool, np.bool_)) or isinstance(key, Tensor) and key.dtype == dtypes.bool or isinstance(key, np.ndarray) and key.dtype == bool:
        return boolean_mask(tensor, key)
    for handler in traced.indexing:
        found = handler(tensor, key, sys._getframe(1))
        if found is not NotImplemented:
            return found
    keys = key if isinstance(key, tuple) else (list(key) if isinstance(key, list) else [key])
    begin: List[Any] = []
    end: List[Any] = []
    strides: List[Any] = []
    masks = dict(begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0)
    for i, k in enumerate(keys):
        if isinstance(k, builtins.slice):
            if k.start is not None:
                begin.append(_index(k.start))
            else:
                begin.append(0)
                masks["begin_mask"] |= 1 << i
            if k.stop is not None:
                end.append(_index(k.stop))
            else:
                end.append(0)
                masks["end_mask"] |= 1 << i
            strides.append(1 if k.step is None else _index(k.step))
        elif k is Ellipsis:
            begin, end, strides = [*begin, 0], [*end, 0], [*strides, 1]
            masks["ellipsis_mask"] |= 1 << i
        elif k is None:
            begin, end, strides = [*begin, 0], [*end, 0], [*strides, 1]
            masks["new_axis_mask"] |= 1 << i
        else:
            k = _index(k)
            begin, end, strides = [*begin, k], [*end, k + 1], [*strides, 1]
            masks["shrink_axis_mask"] |= 1 << i
    # Indices share one dtype: int64 if any of them is.
    kind = dtypes.int64 if any(map(_is_wide, begin + end + strides)) else dtypes.int32
    with name_scope(None, "strided_slice", [tensor]) as name:
        if not begin:
            begin = end = strides = np.zeros([0], np.int32)  # type: ignore[assignment]
        elif any(isinstance(v, Tensor) for v in begin + end + strides):
            begin, end, strides = (_indices(part, kind) for part in (begin, end, strides))  # type: ignore[assignment]
        else:
            begin, end, strides = (_engine.constant(v, kind, "stack") for v in (begin, end, strides))  # type: ignore[assignment]
        taken = op("StridedSlice")(tensor, begin, end, strides, name=name, **masks)
        taken.assign = functools.partial(assign_slice, taken.op, var)
        return taken


def sliced(variable: Any, key: Any) -> Tensor:
    """Returns `variable[key]`, with a method `assign`."""
    return _getitem(variable.value(), key, variable)


def assign_slice(node: Any, variable: Any, value: Any, name: Optional[str] = None) -> Any:
    """Assigns to the slice of the variable that `node` reads."""
    if variable is None:
        raise ValueError("Sliced assignment is only supported for variables")
    _, begin, end, strides = node.inputs
    masks = {mask: node.get_attr(mask) for mask in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    return variable._assign_slice(begin, end, strides, value, node.name + "/_assign" if name is None else name, masks)


def _indices(part: List[Any], kind: Any) -> Any:
    if not any(isinstance(v, Tensor) for v in part):
        return _engine.constant(part, kind, "stack")
    return array_ops.stack([_as_index(v, kind) for v in part])


def _as_index(value: Any, kind: Any) -> Any:
    return cast(value, kind) if isinstance(value, Tensor) and value.dtype.base_dtype != kind and value.dtype.is_integer else value


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: Optional[str] = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Tensor:
    """Gathers the slices of `params` at `indices`.

    Args:
      params: A tensor or variable of any dtype.
      indices: An `int32` or `int64` tensor of any shape, with values below the size of the axis.
      validate_indices: Ignored; indices are always checked.
      name: A name for the operation.
      axis: An `int32` scalar: the axis to gather from; by default `batch_dims`.
      batch_dims: The number of leading axes that `params` and `indices` share.

    Returns:
      A tensor of the dtype of `params`, of shape `params.shape[:axis] + indices.shape[batch_dims:] +
      params.shape[axis + 1:]`.

    Raises:
      tf.errors.InvalidArgumentError: When run: an index is out of range.

    Example:
      >>> x = tf.constant([[1, 2, 3], [4, 5, 6]])
      >>> print(*tf.Session().run([tf.gather(x, [1, 0, 1]), tf.gather(x, 2, axis=1)]))
      [[4 5 6]
       [1 2 3]
       [4 5 6]] [3 6]
    """
    if axis is None:
        axis = batch_dims
    read = params.sparse_read if hasattr(params, "handle") else None
    if read is not None and isinstance(axis, int) and axis == 0 and not batch_dims:
        return read(indices, name=name)
    return op("GatherV2")(params, indices, axis, batch_dims=batch_dims, name=name) if batch_dims else op("GatherV2")(params, indices, axis, name=name)


def gather_nd(params: Any, indices: Any, name: Optional[str] = None, batch_dims: int = 0) -> Tensor:
    """Gathers the slices of `params` at the rows of `indices`.

    Args:
      params: A tensor of any dtype.
      indices: An `int32` or `int64` tensor; each of its rows along the last axis is an index into the first
        axes of `params`.
      name: A name for the operation.
      batch_dims: The number of leading axes that `params` and `indices` have in common; each index is then
        one into the axes after them.

    Returns:
      A tensor of the dtype of `params`, of shape
        `indices.shape[:-1] + params.shape[batch_dims + indices.shape[-1]:]`.

    Raises:
      ValueError: `batch_dims` is negative, or not less than a rank.
      tf.errors.InvalidArgumentError: When run: an index is out of range.

    Example:
      >>> x = tf.constant([[1, 2], [3, 4]])
      >>> print(*tf.Session().run([tf.gather_nd(x, [[0, 0], [1, 1]]), tf.gather_nd(x, [[1]])]))
      [1 4] [[3 4]]
    """
    if isinstance(batch_dims, Tensor):
        batch_dims = get_static_value(batch_dims)
    if not batch_dims:
        return op("GatherNd")(params, indices, name=name)
    if batch_dims < 0:
        raise ValueError("tf.gather_nd does not allow negative batch_dims.")
    with name_scope(name):
        params, indices = convert_to_tensor(params, name="params"), convert_to_tensor(indices, name="indices")
        for word, value in (("params", params), ("indices", indices)):
            if value.shape.ndims is not None and value.shape.ndims <= batch_dims:
                raise ValueError("batch_dims = %d must be less than rank(%s) = %d" % (batch_dims, word, value.shape.ndims))
        # Each index, preceded by its place in the batch.
        sizes, wide = array_ops.shape(indices), array_ops.zeros_like(indices[..., :1])
        parts = []
        for i in range(batch_dims):
            place = cast(op("Range")(0, sizes[i], 1), indices.dtype)
            after = op("Rank")(indices) - (i + 1)
            parts.append(wide + array_ops.reshape(place, array_ops.concat([sizes[i : i + 1], op("Fill")(array_ops.reshape(after, [1]), 1)], 0)))
        return op("GatherNd")(params, array_ops.concat([*parts, indices], -1))


def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: Any = None) -> Tensor:
    """Returns the slices where `mask` is true.

    Args:
      tensor: A tensor of any dtype.
      mask: A boolean tensor of known rank, 1 or more; its shape is that of `tensor` from `axis` on.
      name: The name scope of the new operations.
      axis: The first axis that the mask applies to; by default 0.

    Returns:
      A tensor of the dtype of `tensor`. The masked axes become one, whose length is the number of true
        elements.

    Raises:
      ValueError: The mask is a scalar, its rank is unknown, or its shape does not match.

    Example:
      >>> x = tf.constant([[1, 2], [3, 4], [5, 6]])
      >>> print(tf.Session().run(tf.boolean_mask(x, [True, False, True])))
      [[1 2]
       [5 6]]
    """
    with name_scope(name, values=[tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        shape_mask, shape_tensor = mask._shape_as_list(), tensor.shape
        if shape_mask is None:
            raise ValueError("Number of mask dimensions must be specified, even if some dimensions are None.  E.g. shape=[None] is ok, but shape=None is not.")
        if not shape_mask:
            raise ValueError("mask cannot be scalar.")
        axis, n = axis or 0, len(shape_mask)
        shape_tensor[axis : axis + n].assert_is_compatible_with(mask.shape)
        leading = op("Prod")(array_ops.shape(tensor)[axis : axis + n], [0])
        sizes = array_ops.concat([array_ops.shape(tensor)[:axis], [leading], array_ops.shape(tensor)[axis + n :]], 0)
        rows = shape_tensor[axis : axis + n].num_elements()
        known = shape_tensor[:axis].concatenate([rows]).concatenate(shape_tensor[axis + n :])
        tensor = array_ops.reshape(tensor, sizes)
        tensor.set_shape(known)
        return op("GatherV2")(tensor, array_ops.squeeze(op("Where")(array_ops.reshape(mask, [-1])), axis=[1]), axis)
