"""Rearranging, repeating, random crops and set difference: functions made of several ops."""

from __future__ import annotations

from typing import Any, List, Optional

import numpy as np

from millstream._engine import Tensor
from millstream.framework import IndexedSlices, constant_value, convert_to_tensor, dtypes, get_static_value, name_scope, node_counts, shapes
from millstream.framework.op_functions import op
from millstream.ops import array_ops, indexing_ops, math_ops, reduction_ops
from millstream.ops.control_flow import assert_, with_dependencies
from millstream.ops.random_ops import random_uniform

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
    "where_v2",
]


def ensure_shape(x: Any, shape: Any, name: Optional[str] = None) -> Tensor:
    """Returns `x`, with a check of its shape at run time.

    Args:
      x: A tensor.
      shape: A `TensorShape`, or a value that converts to one.
      name: A name for the operation.

    Returns:
      A tensor of the same value, with this static shape.

    Raises:
      ValueError: The static shape of `x` is incompatible.
      tf.errors.InvalidArgumentError: When run: the shape of `x` is incompatible.

    Example:
      >>> x = tf.placeholder(tf.float32)
      >>> tf.ensure_shape(x, [None, 3]).shape
      TensorShape([Dimension(None), Dimension(3)])
    """
    return op("EnsureShape")(x, shape=shapes.TensorShape(shape), name=name)


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """Returns the shape that two shapes broadcast to, as a tensor.

    Args:
      shape_x: An integer vector.
      shape_y: An integer vector.

    Returns:
      An integer vector.

    Example:
      >>> print(tf.Session().run(tf.broadcast_dynamic_shape([3, 1], [2, 1, 4])))
      [2 3 4]
    """
    return op("BroadcastArgs")(shape_x, shape_y)


def setdiff1d(x: Any, y: Any, index_dtype: Any = dtypes.int32, name: Optional[str] = None) -> Any:
    """Returns the elements of `x` that are not in `y`, with their indices.

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
    """Moves blocks of `block_size` by `block_size` pixels into the depth dimension.

    Args:
      input: A tensor of rank 4, `[batch, height, width, depth]`.
      block_size: An int: the side of a block.
      name: A name for the operation.
      data_format: `"NHWC"`.

    Returns:
      A tensor of the same dtype, of shape
        `[batch, height / block_size, width / block_size, depth * block_size ** 2]`.

    Example:
      >>> x = tf.reshape([1, 2, 3, 4], [1, 2, 2, 1])
      >>> print(tf.Session().run(tf.space_to_depth(x, 2)))
      [[[[1 2 3 4]]]]
    """
    return op("SpaceToDepth")(input, block_size, data_format, name=name)


def depth_to_space(input: Any, block_size: int, name: Optional[str] = None, data_format: str = "NHWC") -> Tensor:  # noqa: A002
    """Moves the depth dimension into blocks of `block_size` by `block_size` pixels.

    Args:
      input: A tensor of rank 4, `[batch, height, width, depth]`.
      block_size: An int: the side of a block.
      name: A name for the operation.
      data_format: `"NHWC"`.

    Returns:
      A tensor of the same dtype, of shape
        `[batch, height * block_size, width * block_size, depth / block_size ** 2]`.

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
    """Moves every n-th pixel of the padded images into an image of its own in the batch.

    Args:
      input: A tensor of rank 4, `[batch, height, width, depth]`.
      paddings: An integer tensor of shape `[2, 2]`: the number of zeros to add before and after, in height
        and width.
      block_size: An int: n.
      name: A name for the operation.
      block_shape: The later name of `block_size`.

    Returns:
      A tensor of the same dtype, of shape `[batch * n * n, height / n, width / n, depth]`.

    Example:
      >>> x = tf.reshape([1, 2, 3, 4], [1, 2, 2, 1])
      >>> print(tf.Session().run(tf.space_to_batch(x, [[0, 0], [0, 0]], 2)).ravel())
      [1 2 3 4]
    """
    result = op("SpaceToBatchND")(input, block_shape=_blocks(block_size, block_shape), paddings=paddings, name=name)
    result.set_shape(result.shape.with_rank(4))
    return result


def batch_to_space(input: Any, crops: Any, block_size: Any, name: Optional[str] = None, block_shape: Any = None) -> Tensor:  # noqa: A002
    """Reverses `space_to_batch`, and crops the images.

    Args:
      input: A tensor of rank 4, `[batch, height, width, depth]`.
      crops: An integer tensor of shape `[2, 2]`: the number of pixels to remove before and after, in height
        and width.
      block_size: An int: the side of a block.
      name: A name for the operation.
      block_shape: The later name of `block_size`.

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
    """Returns the paddings that make a shape a multiple of the blocks, and the crops that undo them.

    Args:
      input_shape: An `int32` vector.
      block_shape: An `int32` vector of the same length.
      base_paddings: The smallest paddings, of shape `[n, 2]`.
      name: The name scope of the new operations.

    Returns:
      A pair: paddings and crops, each of shape `[n, 2]`.

    Example:
      >>> print(*tf.Session().run(tf.required_space_to_batch_paddings([5, 6], [2, 2])))
      [[0 1]
       [0 0]] [[0 1]
       [0 0]]
    """
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        shape = convert_to_tensor(input_shape, dtypes.int32, name="input_shape")
        blocks = convert_to_tensor(block_shape, dtypes.int32, name="block_shape")
        blocks.shape.assert_is_fully_defined()
        blocks.shape.assert_has_rank(1)
        n = blocks.shape.as_list()[0]
        shape.shape.assert_is_compatible_with([n])
        if base_paddings is None:
            base = array_ops.zeros([n, 2], dtypes.int32)
        else:
            base = convert_to_tensor(base_paddings, dtypes.int32, name="base_paddings")
            base.shape.assert_is_compatible_with([n, 2])
        values = [get_static_value(t) for t in (shape, blocks, base)]
        if all(value is not None for value in values):
            sizes, steps, least = values
            with np.errstate(divide="ignore"):
                extra = -(sizes + least.sum(1)) % steps
            known = np.stack([least[:, 0], least[:, 1] + extra], axis=1), np.stack([np.zeros_like(extra), extra], axis=1)
            return convert_to_tensor(known[0], dtypes.int32, name="paddings"), convert_to_tensor(known[1], dtypes.int32, name="crops")
        start, end = base[:, 0], base[:, 1]
        size = shape + start + end
        more = (blocks - size % blocks) % blocks
        end += more
        # TensorFlow packs cell by cell. With as many nodes, later random operations have the same seeds.
        paddings = array_ops.stack([[start[i], end[i]] for i in range(n)], name="paddings")
        return paddings, array_ops.stack([[0, more[i]] for i in range(n)], name="crops")


def roll(input: Any, shift: Any, axis: Any, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """Rolls elements along axes: those shifted past the end reappear at the start.

    Args:
      input: A tensor.
      shift: An int, or a vector of ints.
      axis: An int, or a vector of ints.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.roll([1, 2, 3, 4], shift=1, axis=0)))
      [4 1 2 3]
    """
    return op("Roll")(input, shift, axis, name=name)


def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """Stacks tensors of one shape along a new first axis.

    Args:
      values: A list of tensors of the same dtype and static shape.
      name: A name for the operation.

    Returns:
      A tensor with a rank greater by 1.

    Raises:
      ValueError: The static shape of the values is unknown.

    Example:
      >>> print(tf.Session().run(tf.parallel_stack([[1, 2], [3, 4]])))
      [[1 2]
       [3 4]]
    """
    with name_scope(name):
        rows = [convert_to_tensor(v) for v in values]
        shape = rows[0].shape
        if not shape.is_fully_defined():
            raise ValueError("shape attr must be fully defined.\n  parallel_stack: the shape of the values must be known, but it is %s" % shape)
        return op("ParallelConcat")([array_ops.expand_dims(row, 0) for row in rows], shape=[len(rows), *shape.as_list()])


def batch_gather(params: Any, indices: Any, name: Optional[str] = None) -> Tensor:
    """Gathers elements of each row of `params` at the indices in the same row of `indices`.

    Args:
      params: A tensor of shape `[batch, n, ..]`.
      indices: An int32 or int64 tensor of shape `[batch, k]`.
      name: The name scope of the new operations.

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
        if indices.shape.ndims == 0:
            raise ValueError("batch_dims = -1 must be less than rank(indices) = 0")
        rank = indices.shape.ndims
        node_counts.also(8 + rank * (14 + rank))  # TensorFlow computes the indices into the flattened axes.
        return indexing_ops.gather(params, indices, batch_dims=rank - 1)


def repeat(input: Any, repeats: Any, axis: Any = None, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """Repeats each element along an axis; without an axis, flattens first.

    Args:
      input: A tensor.
      repeats: An int, or an integer vector with an entry for each element.
      axis: An int.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same dtype.

    Raises:
      ValueError: The rank of `input` or `repeats` is unknown.

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
        if repeats.shape.ndims is None or (data.shape.ndims is None and axis < 0):
            raise ValueError("repeat: the ranks of `input` and `repeats` must be known")
        axis = axis + len(data.shape.as_list()) if axis < 0 else axis
        n = array_ops.shape(data)[axis]
        counts = array_ops.fill(array_ops.reshape(n, [1]), array_ops.reshape(repeats, [])) if repeats.shape.as_list() in ([], [1]) else repeats
        # The source index of each repeated element: rows of a mask as long as the longest repetition.
        most = op("Maximum")(convert_to_tensor(0), reduction_ops.reduce_max(array_ops.concat([counts, [0]], 0)))
        mask = array_ops.sequence_mask(counts, most)
        places = indexing_ops.boolean_mask(_rows(n, most), mask)
        result = indexing_ops.gather(data, places, axis=axis)
        known = constant_value(counts)
        if known is not None and data.shape.ndims is not None:
            dims: List[Any] = data.shape.as_list()
            dims[axis] = int(known.sum())
            result.set_shape(dims)
        return result


def _rows(n: Tensor, columns: Tensor) -> Tensor:
    return op("Tile")(array_ops.expand_dims(math_ops.range(n), 1), array_ops.stack([convert_to_tensor(1), columns]))


def random_crop(value: Any, size: Any, seed: Optional[int] = None, name: Optional[str] = None) -> Tensor:
    """Returns a slice of the given size at a random position.

    Args:
      value: A tensor.
      size: An `int32` vector: the size along each axis.
      seed: A seed; see `tf.set_random_seed`.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same dtype, of shape `size`.

    Raises:
      tf.errors.InvalidArgumentError: When run: the slice is larger than the tensor.

    Example:
      >>> print(tf.Session().run(tf.random_crop([[1, 2, 3], [4, 5, 6]], [1, 2])).shape)
      (1, 2)
    """
    with name_scope(name, "random_crop", [value, size]) as name:
        value, size = convert_to_tensor(value, name="value"), convert_to_tensor(size, dtypes.int32, "size")
        shape = array_ops.shape(value)
        fits = reduction_ops.reduce_all(op("GreaterEqual")(shape, size))
        check = assert_(fits, ["Need value.shape >= size, got ", shape, size], summarize=1000)
        limit = with_dependencies([check], shape) - size + 1
        start = random_uniform(array_ops.shape(limit), dtype=size.dtype, maxval=size.dtype.max, seed=seed)
        return indexing_ops.slice(value, start % limit, size, name=name)


def where_v2(condition: Any, x: Any = None, y: Any = None, name: Optional[str] = None) -> Tensor:
    """As `where`, with `condition`, `x` and `y` broadcast.

    Args:
      condition: A boolean tensor.
      x: A tensor.
      y: A tensor of the same dtype.
      name: A name for the operation.

    Returns:
      Without `x` and `y`, an `int64` matrix with a row of indices for each true element; otherwise a tensor
        of their dtype.

    Raises:
      ValueError: Only one of `x` and `y` is given.

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
    """Returns whether `x` is a tensor, a `SparseTensor`, an `IndexedSlices` or a variable.

    Example:
      >>> (tf.is_tensor(tf.constant(1)), tf.is_tensor(tf.Variable(1)), tf.is_tensor(1),
      ...  tf.is_tensor(np.zeros(2)))
      (True, True, False, False)
    """
    return isinstance(x, (Tensor, IndexedSlices)) or hasattr(x, "_as_graph_element") or (hasattr(x, "dense_shape") and hasattr(x, "graph"))
