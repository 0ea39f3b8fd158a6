"""Tensors rearranged, repeated and cut at random, sets of their elements: what is made of several ops."""

from __future__ import annotations

from typing import Any, List, Optional

import numpy as np

from millstream import array_ops, dtypes, indexing_ops, math_ops, reduction_ops, shapes
from millstream._engine import Tensor
from millstream._ops import op
from millstream.control_flow import assert_, with_dependencies
from millstream.framework import IndexedSlices, constant_value, convert_to_tensor, name_scope

__all__ = [
    "batch_gather",
    "batch_to_space",
    "broadcast_dynamic_shape",
    "depth_to_space",
    "ensure_shape",
    "is_tensor",
    "parallel_stack",
    "random_crop",
    "repeat",
    "required_space_to_batch_paddings",
    "roll",
    "setdiff1d",
    "space_to_batch",
    "space_to_depth",
    "unravel_index",
    "where_v2",
]


def ensure_shape(x: Any, shape: Any, name: Optional[str] = None) -> Tensor:
    """`x`, checked to be of this shape when it runs.

    Args:
      x: A tensor.
      shape: A `TensorShape`, or what becomes one.
      name: A name for the operation.

    Returns:
      A tensor of the same value, of which this shape is known.

    Raises:
      ValueError: The shape is known to be another.
      tf.errors.InvalidArgumentError: When run: it is another.

    Example:
      >>> x = tf.placeholder(tf.float32)
      >>> tf.ensure_shape(x, [None, 3]).shape
      TensorShape([Dimension(None), Dimension(3)])
    """
    return op("EnsureShape")(x, shape=shapes.TensorShape(shape), name=name)


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape that both broadcast to, as a tensor.

    Args:
      shape_x: An integer vector.
      shape_y: Another.

    Returns:
      An integer vector.

    Example:
      >>> print(tf.Session().run(tf.broadcast_dynamic_shape([3, 1], [2, 1, 4])))
      [2 3 4]
    """
    return op("BroadcastArgs")(shape_x, shape_y)


def setdiff1d(x: Any, y: Any, index_dtype: Any = dtypes.int32, name: Optional[str] = None) -> Any:
    """The elements of `x` that `y` does not have, and where they are.

    Args:
      x: A vector.
      y: A vector of the same dtype.
      index_dtype: `tf.int32` or `tf.int64`.
      name: A name for the operation.

    Returns:
      A pair `(out, idx)`.

    Example:
      >>> print(*tf.Session().run(tf.setdiff1d([1, 2, 3, 4], [2, 4])))
      [1 3] [0 2]
    """
    return op("ListDiff")(x, y, out_idx=index_dtype, name=name)


def space_to_depth(input: Any, block_size: int, name: Optional[str] = None, data_format: str = "NHWC") -> Tensor:  # noqa: A002
    """Blocks of `block_size` squared pixels as the channels of one.

    Args:
      input: A tensor of rank 4, `[batch, height, width, depth]`.
      block_size: The size of a block.
      name: A name for the operation.
      data_format: `"NHWC"`.

    Returns:
      A tensor of the same dtype, of shape `[batch, height / block_size, width / block_size, depth * block_size **
      2]`.

    Example:
      >>> x = tf.reshape([1, 2, 3, 4], [1, 2, 2, 1])
      >>> print(tf.Session().run(tf.space_to_depth(x, 2)))
      [[[[1 2 3 4]]]]
    """
    return op("SpaceToDepth")(input, block_size, data_format, name=name)


def depth_to_space(input: Any, block_size: int, name: Optional[str] = None, data_format: str = "NHWC") -> Tensor:  # noqa: A002
    """The channels of a pixel as a block of `block_size` squared pixels.

    Args:
      input: A tensor of rank 4, `[batch, height, width, depth]`.
      block_size: The size of a block.
      name: A name for the operation.
      data_format: `"NHWC"`.

    Returns:
      A tensor of the same dtype, of shape `[batch, height * block_size, width * block_size, depth / block_size **
      2]`.

    Example:
      >>> print(tf.Session().run(tf.depth_to_space([[[[1, 2, 3, 4]]]], 2))[0, :, :, 0])
      [[1 2]
       [3 4]]
    """
    return op("DepthToSpace")(input, block_size, data_format, name=name)


def _blocks(block_size: Any, block_shape: Any) -> Any:
    if block_size is None and block_shape is None:
        raise ValueError("block_size or block_shape must be given")
    return block_shape if block_shape is not None else np.array([block_size, block_size], np.int64)


def space_to_batch(input: Any, paddings: Any, block_size: Any = None, name: Optional[str] = None, block_shape: Any = None) -> Tensor:  # noqa: A002
    """Every n-th pixel of the padded images as an image of its own, in the batch.

    Args:
      input: A tensor of rank 4, `[batch, height, width, depth]`.
      paddings: An integer tensor of shape `[2, 2]`: how many zeros to put before and after, in height and width.
      block_size: n.
      name: A name for the operation.
      block_shape: What `block_size` is called later.

    Returns:
      A tensor of the same dtype, of shape `[batch * n * n, height / n, width / n, depth]`.

    Example:
      >>> x = tf.reshape([1, 2, 3, 4], [1, 2, 2, 1])
      >>> print(tf.Session().run(tf.space_to_batch(x, [[0, 0], [0, 0]], 2)).ravel())
      [1 2 3 4]
    """
    return op("SpaceToBatchND")(input, block_shape=_blocks(block_size, block_shape), paddings=paddings, name=name)


def batch_to_space(input: Any, crops: Any, block_size: Any, name: Optional[str] = None, block_shape: Any = None) -> Tensor:  # noqa: A002
    """What `space_to_batch` took apart, together again, and cropped.

    Args:
      input: A tensor of rank 4, `[batch, height, width, depth]`.
      crops: An integer tensor of shape `[2, 2]`: how much to cut off before and after, of height and width.
      block_size: The size of a block.
      name: A name for the operation.
      block_shape: What `block_size` is called later.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> x = tf.reshape([1, 2, 3, 4], [4, 1, 1, 1])
      >>> print(tf.Session().run(tf.batch_to_space(x, [[0, 0], [0, 0]], 2))[0, :, :, 0])
      [[1 2]
       [3 4]]
    """
    return op("BatchToSpaceND")(input, block_shape=_blocks(block_size, block_shape), crops=crops, name=name)


def required_space_to_batch_paddings(input_shape: Any, block_shape: Any, base_paddings: Any = None, name: Optional[str] = None) -> Any:
    """The paddings that make a shape a multiple of the blocks, and the crops that take them off again.

    Args:
      input_shape: An int32 vector.
      block_shape: An int32 vector of the same length.
      base_paddings: Paddings that there must be at least, of shape `[n, 2]`.
      name: The name scope of what is made.

    Returns:
      A pair: paddings and crops, each of shape `[n, 2]`.

    Example:
      >>> print(*tf.Session().run(tf.required_space_to_batch_paddings([5, 6], [2, 2])))
      [[0 1]
       [0 0]] [[0 1]
       [0 0]]
    """
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        shape, blocks = convert_to_tensor(input_shape, dtypes.int32), convert_to_tensor(block_shape, dtypes.int32)
        if base_paddings is None:
            base_paddings = array_ops.zeros([len(blocks._shape_as_list()) and blocks.shape.as_list()[0], 2], dtypes.int32)
        base = convert_to_tensor(base_paddings, dtypes.int32)
        start, end = base[:, 0], base[:, 1]
        more = _up_to(shape + start + end, blocks)
        return array_ops.stack([start, end + more], axis=1), array_ops.stack([array_ops.zeros_like(more), more], axis=1)


def _up_to(size: Tensor, block: Tensor) -> Tensor:
    """What is lacking to the next multiple."""
    return op("FloorMod")(block - op("FloorMod")(size, block), block)


def roll(input: Any, shift: Any, axis: Any, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """Elements moved along axes; those that fall off come in again at the other end.

    Args:
      input: A tensor.
      shift: An int, or a vector of them.
      axis: An int, or a vector of them.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.roll([1, 2, 3, 4], shift=1, axis=0)))
      [4 1 2 3]
    """
    return op("Roll")(input, shift, axis, name=name)


def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """Tensors of one shape in a row along a new first axis.

    Args:
      values: A list of tensors of one dtype and shape, which is known.
      name: A name for the operation.

    Returns:
      A tensor with a rank greater by 1.

    Example:
      >>> print(tf.Session().run(tf.parallel_stack([[1, 2], [3, 4]])))
      [[1 2]
       [3 4]]
    """
    with name_scope(name):
        return array_ops.stack([convert_to_tensor(v) for v in values])


def batch_gather(params: Any, indices: Any, name: Optional[str] = None) -> Tensor:
    """For each row of indices, the elements of the same row of `params`.

    Args:
      params: A tensor of shape `[batch, n, ..]`.
      indices: An int32 or int64 tensor of shape `[batch, k]`.
      name: The name scope of what is made.

    Returns:
      A tensor of the dtype of `params`, of shape `[batch, k, ..]`.

    Raises:
      ValueError: The rank of `indices` is unknown.

    Example:
      >>> print(tf.Session().run(tf.batch_gather([[1, 2, 3], [4, 5, 6]], [[2, 0], [1, 1]])))
      [[3 1]
       [5 5]]
    """
    with name_scope(name, "BatchGather", [params, indices]):
        indices, params = convert_to_tensor(indices, name="indices"), convert_to_tensor(params, name="params")
        if indices.shape.ndims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        return indexing_ops.gather(params, indices, batch_dims=indices.shape.ndims - 1)


def repeat(input: Any, repeats: Any, axis: Any = None, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """Each element along an axis as often as `repeats` says: one number for all, or one for each. Without an axis, of
    the elements in a row.

    Args:
      input: A tensor.
      repeats: An int, or an integer vector.
      axis: An int.
      name: The name scope of what is made.

    Returns:
      A tensor of the same dtype.

    Raises:
      ValueError: A rank is unknown.

    Example:
      >>> print(*tf.Session().run([tf.repeat([1, 2], 2), tf.repeat([[1, 2], [3, 4]], [1, 2], axis=0)]))
      [1 1 2 2] [[1 2]
       [3 4]
       [3 4]]
    """
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="input")
        if axis is None:
            data, axis = array_ops.reshape(data, [-1]), 0
        repeats = math_ops.cast(convert_to_tensor(repeats, name="repeats"), dtypes.int32)
        if data.shape.ndims is None or repeats.shape.ndims is None:
            raise ValueError("repeat: the ranks of `input` and `repeats` must be known")
        axis = axis + data.shape.ndims if axis < 0 else axis
        n = array_ops.shape(data)[axis]
        counts = array_ops.fill(array_ops.reshape(n, [1]), array_ops.reshape(repeats, [])) if repeats.shape.as_list() in ([], [1]) else repeats
        # Which element each of the repeated ones is: rows of a mask, as long as the longest repetition.
        most = op("Maximum")(convert_to_tensor(0), reduction_ops.reduce_max(array_ops.concat([counts, [0]], 0)))
        mask = array_ops.sequence_mask(counts, most)
        places = indexing_ops.boolean_mask(_rows(n, most), mask)
        result = indexing_ops.gather(data, places, axis=axis)
        known = constant_value(counts)
        if known is not None:
            dims: List[Any] = data.shape.as_list()
            dims[axis] = int(known.sum())
            result.set_shape(dims)
        return result


def _rows(n: Tensor, columns: Tensor) -> Tensor:
    return op("Tile")(array_ops.expand_dims(math_ops.range(n), 1), array_ops.stack([convert_to_tensor(1), columns]))


def unravel_index(indices: Any, dims: Any, name: Optional[str] = None) -> Tensor:
    """Flat indices as indices along each dimension, one row per dimension.

    Args:
      indices: An int32 or int64 scalar or vector.
      dims: A vector of the same dtype: the shape.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype, of shape `[len(dims)]` or `[len(dims), len(indices)]`.

    Example:
      >>> print(tf.Session().run(tf.unravel_index([2, 5], [2, 3])))
      [[0 1]
       [2 2]]
    """
    with name_scope(name, "UnravelIndex", [indices, dims]) as name:
        indices, dims = convert_to_tensor(indices, name="indices"), convert_to_tensor(dims, name="dims")
        size = reduction_ops.reduce_prod(dims)
        check = assert_(reduction_ops.reduce_all(op("Less")(indices, size)), ["index is out of bound as with dims"])
        with_check = with_dependencies([check], indices)
        # The stride of each dimension: the product of those after it.
        strides = reduction_ops.cumprod(dims, exclusive=True, reverse=True)
        column = array_ops.reshape(strides, [-1] + [1] * indices.shape.ndims)
        wide = array_ops.reshape(dims, [-1] + [1] * indices.shape.ndims)
        return op("FloorMod")(op("FloorDiv")(array_ops.expand_dims(with_check, 0), column), wide, name=name)


def random_crop(value: Any, size: Any, seed: Optional[int] = None, name: Optional[str] = None) -> Tensor:
    """A box of this size from a random place.

    Args:
      value: A tensor.
      size: An int32 vector: how much of each axis.
      seed: A seed; see `tf.set_random_seed`.
      name: The name scope of what is made.

    Returns:
      A tensor of the same dtype, of shape `size`.

    Raises:
      tf.errors.InvalidArgumentError: When run: the box is larger than the tensor.

    Example:
      >>> print(tf.Session().run(tf.random_crop([[1, 2, 3], [4, 5, 6]], [1, 2])).shape)
      (1, 2)
    """
    from millstream.random_ops import random_uniform

    with name_scope(name, "random_crop", [value, size]) as name:
        value, size = convert_to_tensor(value, name="value"), convert_to_tensor(size, dtypes.int32, "size")
        shape = array_ops.shape(value)
        fits = reduction_ops.reduce_all(op("GreaterEqual")(shape, size))
        check = assert_(fits, ["Need value.shape >= size, got ", shape, size], summarize=1000)
        limit = with_dependencies([check], shape) - size + 1
        start = random_uniform(array_ops.shape(limit), dtype=size.dtype, maxval=size.dtype.max, seed=seed)
        return indexing_ops.slice(value, op("FloorMod")(start, limit), size, name=name)


def where_v2(condition: Any, x: Any = None, y: Any = None, name: Optional[str] = None) -> Tensor:
    """Where `condition` holds; or, with `x` and `y`, `x` there and `y` elsewhere, all three broadcast.

    Args:
      condition: A boolean tensor.
      x: A tensor.
      y: A tensor of the same dtype.
      name: A name for the operation.

    Returns:
      Without `x` and `y` an int64 matrix: a row of indices for each element that holds. Else a tensor of their dtype.

    Raises:
      ValueError: Just one of `x` and `y` is given.

    Example:
      >>> print(tf.Session().run(tf.where_v2([[True], [False]], [1, 2], 0)))
      [[1 2]
       [0 0]]
    """
    if x is None and y is None:
        return array_ops.where(condition, name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return op("SelectV2")(condition, x, y, name=name)


def is_tensor(x: Any) -> bool:
    """Whether `x` is what a graph holds or stands for: a tensor, a sparse one, slices, a variable.

    Example:
      >>> tf.is_tensor(tf.constant(1)), tf.is_tensor(tf.Variable(1)), tf.is_tensor(1), tf.is_tensor(np.zeros(2))
      (True, True, False, False)
    """
    return isinstance(x, (Tensor, IndexedSlices)) or hasattr(x, "_as_graph_element") or (hasattr(x, "dense_shape") and hasattr(x, "graph"))
