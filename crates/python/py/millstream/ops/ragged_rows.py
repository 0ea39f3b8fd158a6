"""Rearranged rows of `RaggedTensor`s: `gather`, `concat`, `stack`, `tile`, `where` and their relatives.

They take tensors as well, as if all rows had the same length. `ragged_dispatch` calls them from `tf.concat`,
`tf.gather` and so on, if an argument is a `RaggedTensor`.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional

from millstream.framework import constant as _constant, control_dependencies, convert_to_tensor, dtypes, name_scope, nest, shapes
from millstream.framework.constant_values import constant_value as _known
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, control_flow, functional, indexing_ops, math_ops, reduction_ops, shape_ops
from millstream.ops.ragged_tensors import RaggedTensor, from_value_ranges, match_row_splits_dtypes
from millstream.ops.tensor_array import TensorArray

# Conversion -------------------------------------------------------------------------------------------------


def is_ragged(value: Any) -> bool:
    """Returns whether a value is a `RaggedTensor`."""
    return isinstance(value, RaggedTensor)


def converted(value: Any, dtype: Any = None, name: Optional[str] = None) -> Any:
    """Returns a value as a `RaggedTensor`, if it is one, else as a tensor."""
    if isinstance(value, RaggedTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError("Tensor conversion requested dtype %s for RaggedTensor with dtype %s: %r" % (dtypes.as_dtype(dtype).name, value.dtype.name, value))
        return value
    return convert_to_tensor(value, dtype, name)


def _rank_of(value: Any, what: str) -> int:
    rank = value.shape.ndims
    if rank is None:
        raise ValueError("%s: expected a known rank, found %s" % (what, value))
    return int(rank)


def _axis(axis: Any, rank: Optional[int], what: str) -> int:
    """Returns an axis counted from the front.

    Raises:
      TypeError: It is no integer.
      ValueError: It is negative and the rank is not known, or it is out of range.
    """
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise TypeError("%s must be an int; got %s" % (what, type(axis).__name__))
    if rank is None:
        if axis < 0:
            raise ValueError("%s may only be negative if ndims is statically known." % what)
        return axis
    if not -rank <= axis < rank:
        raise ValueError("%s=%d out of bounds: expected %d<=%s<%d" % (what, axis, -rank, what, rank))
    return axis % rank if rank else axis


def _as_ragged(value: Any, rank: int, dtype: Any) -> Any:
    """Returns a tensor as rows of `rank` ragged dimensions, or more dimensions of a ragged tensor as
    ragged ones.
    """
    if isinstance(value, RaggedTensor):
        missing = rank - value.ragged_rank
        return value if missing <= 0 else value.with_flat_values(RaggedTensor.from_tensor(value.flat_values, ragged_rank=missing, row_splits_dtype=value.row_splits.dtype))
    return value if rank == 0 else RaggedTensor.from_tensor(value, ragged_rank=rank, row_splits_dtype=dtype)


def _nrows(value: Any, dtype: Any = dtypes.int64) -> Any:
    return value.nrows(out_type=dtype) if isinstance(value, RaggedTensor) else array_ops.shape(value, out_type=dtype)[0]


# Rows by numbers --------------------------------------------------------------------------------------------


def gather_rows(params: Any, numbers: Any) -> Any:
    """Returns the rows of the numbers, a vector."""
    if not isinstance(params, RaggedTensor):
        return op("GatherV2")(params, numbers, 0)
    splits = params.row_splits
    return from_value_ranges(op("GatherV2")(splits[:-1], numbers, 0), op("GatherV2")(splits[1:], numbers, 0), params.values)


def gather(params: Any, indices: Any, validate_indices: Any = None, axis: Any = 0, batch_dims: int = 0, name: Optional[str] = None) -> Any:
    """Returns rows by their numbers; see `tf.gather`.

    Args:
      params: A tensor or `RaggedTensor`.
      indices: The numbers, as a tensor or `RaggedTensor` of integers.
      validate_indices: Ignored.
      axis: The axis that is indexed, 0.
      batch_dims: The number of dimensions that both have in common.
      name: The name scope of the operations.

    Raises:
      ValueError: The rank of `indices` is not known, or `axis` is another one.
    """
    if not isinstance(axis, int) or axis != batch_dims and axis != 0:
        raise ValueError("axis>0 is not supported for ragged gather yet.")
    with name_scope(name, "RaggedGather", []):
        params, indices = converted(params, name="params"), converted(indices, name="indices")
        if is_ragged(params) and is_ragged(indices):
            params, indices = match_row_splits_dtypes(params, indices)
        if batch_dims:
            return batch_gather(params, indices) if batch_dims == 1 else _deep_batch_gather(params, indices, batch_dims)
        if is_ragged(indices):
            return indices.with_values(gather(params, indices.values))
        rank = _rank_of(indices, "indices")
        if not is_ragged(params):
            return op("GatherV2")(params, indices, 0)
        if rank == 0:
            return params[indices]
        if rank == 1:
            return gather_rows(params, indices)
        rows = RaggedTensor.from_tensor(indices, ragged_rank=rank - 1, row_splits_dtype=params.row_splits.dtype)
        return rows.with_flat_values(gather_rows(params, rows.flat_values))


def _deep_batch_gather(params: Any, indices: Any, batch_dims: int) -> Any:
    params = _as_ragged(params, 1, dtypes.int64)
    indices = _as_ragged(indices, 1, params.row_splits.dtype)
    return indices.with_values(gather(params.values, indices.values, axis=batch_dims - 1, batch_dims=batch_dims - 1))


def batch_gather(params: Any, indices: Any, name: Optional[str] = None) -> Any:
    """Returns, for each row, the elements of the numbers in the same row of `indices`.

    Args:
      params: A tensor or `RaggedTensor`.
      indices: A tensor or `RaggedTensor` of integers, whose leading dimensions are those of `params`.
      name: The name scope of the operations.

    Raises:
      ValueError: The ranks are not known, or do not fit.
    """
    with name_scope(name, "RaggedBatchGather", []):
        params, indices = converted(params, name="params"), converted(indices, name="indices")
        if is_ragged(params) and is_ragged(indices):
            params, indices = match_row_splits_dtypes(params, indices)
        depth = indices.shape.ndims
        if depth is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        if depth == 0:
            raise ValueError("indices.rank must be at least 1.")
        if not is_ragged(params) and not is_ragged(indices):
            return shape_ops.batch_gather(params, indices)
        if depth == 1:
            return gather(params, indices)
        if depth == 2 and not is_ragged(indices):
            indices = RaggedTensor.from_tensor(indices, ragged_rank=1, row_splits_dtype=params.row_splits.dtype)
        if not is_ragged(params):
            if params.shape.ndims is not None and params.shape.ndims < 2:
                raise ValueError("batch shape from indices does not match params shape")
            params = RaggedTensor.from_tensor(params, ragged_rank=1, row_splits_dtype=indices.row_splits.dtype)
        if depth > 2:
            if not is_ragged(indices):
                indices = RaggedTensor.from_tensor(indices, ragged_rank=1, row_splits_dtype=params.row_splits.dtype)
            checks = [check_ops.assert_equal(params.row_splits, indices.row_splits, message="batch shape from indices does not match params shape")]
            with control_dependencies(checks):
                return params.with_values(batch_gather(params.values, indices.values))
        # The numbers within rows become numbers of values.
        starts = op("GatherV2")(params.row_starts(), indices.value_rowids(), 0)
        numbers = math_ops.cast(indices.values, starts.dtype) + starts
        return indices.with_values(gather_rows(params.values, numbers))


def batch_gather_with_default(params: Any, indices: Any, default_value: Any = "", name: Optional[str] = None) -> Any:
    """Returns, for each row, the elements of the numbers in the same row of `indices`; a default where
    there is none.

    Args:
      params: A tensor or `RaggedTensor`.
      indices: A tensor or `RaggedTensor` of integers.
      default_value: The value of missing elements.
      name: The name scope of the operations.
    """
    with name_scope(name, "RaggedBatchGatherWithDefault", []):
        params, indices = converted(params, name="params"), converted(indices, name="indices")
        fill = converted(default_value, name="default_value")
        rows, wanted = params, indices
        if not is_ragged(rows) and not is_ragged(wanted) and rows.shape.ndims == 1 and wanted.shape.ndims == 1:
            rows, wanted = array_ops.expand_dims(rows, 0), array_ops.expand_dims(wanted, 0)
        if not is_ragged(rows):
            rows = RaggedTensor.from_tensor(rows, ragged_rank=1, row_splits_dtype=indices.row_splits.dtype if is_ragged(indices) else dtypes.int64)
        if not is_ragged(wanted):
            wanted = RaggedTensor.from_tensor(wanted, ragged_rank=1, row_splits_dtype=rows.row_splits.dtype)
        # Each row gets one value more, the default, which is taken for numbers that are out of range.
        n = rows.nrows()
        pads = expand_dims(fill, 0) if is_ragged(rows.values) and is_ragged(fill) else _as_ragged(array_ops.expand_dims(fill, 0), rows.ragged_rank - 1, rows.row_splits.dtype)
        extra = RaggedTensor.from_row_lengths(gather_rows(pads, op("Fill")(array_ops.stack([n]), _constant(0, dtypes.int64))), array_ops.ones_like(rows.row_lengths()), validate=False)
        longer = concat([rows, extra], axis=1)
        lengths = op("GatherV2")(rows.row_lengths(), wanted.value_rowids(), 0)
        numbers = math_ops.cast(wanted.values, lengths.dtype)
        outside = op("LogicalOr")(numbers < 0, numbers >= lengths)
        safe = op("Select")(outside, lengths, numbers)
        found = batch_gather(longer, wanted.with_values(safe))
        if is_ragged(indices):
            return found
        return found[0] if indices.shape.ndims == 1 and rows is not params and params.shape.ndims == 1 else found.to_tensor()


def gather_nd(params: Any, indices: Any, batch_dims: int = 0, name: Optional[str] = None) -> Any:
    """Returns elements by the numbers along several axes; see `tf.gather_nd`.

    Args:
      params: A tensor or `RaggedTensor`.
      indices: A tensor or `RaggedTensor`, whose last dimension, of a known size, has the numbers of an
        element.
      batch_dims: 0.
      name: The name scope of the operations.

    Raises:
      ValueError: `batch_dims` is not 0, or the shape of `indices` is not known.
    """
    if not isinstance(batch_dims, int) or batch_dims != 0:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    if not is_ragged(params) and not is_ragged(indices):
        return indexing_ops.gather_nd(params, indices)
    with name_scope(name, "RaggedGatherNd", []):
        params, indices = converted(params, name="params"), converted(indices, name="indices")
        if is_ragged(params) and is_ragged(indices):
            params, indices = match_row_splits_dtypes(params, indices)
        rank, n = indices.shape.ndims, None if indices.shape.ndims is None else shapes.dimension_value(indices.shape[-1])
        if rank is None:
            raise ValueError("indices.shape.ndims must be known statically")
        if rank == 0:
            raise ValueError("indices.rank must be at least 1.")
        if n is None:
            raise ValueError("indices.shape[-1] must be known statically.")
        if rank > 2:
            flat = _as_ragged(indices, rank - 2, params.row_splits.dtype if is_ragged(params) else dtypes.int64)
            return flat.with_flat_values(gather_nd(params, flat.flat_values))
        if not is_ragged(params) or n == 0:
            return indexing_ops.gather_nd(params, indices) if not is_ragged(params) else _all_of(params, indices, rank)
        if rank == 1:
            return params[tuple(indices[i] for i in range(n))] if n > 1 else params[indices[0]]
        columns = [math_ops.cast(indices[:, i], params.row_splits.dtype) for i in range(n)]
        inner: Any = params
        while is_ragged(inner) and len(columns) > 1:
            starts = op("GatherV2")(inner.row_starts(), columns[0], 0)
            columns = [starts + columns[1], *columns[2:]]
            inner = inner.values
        if len(columns) == 1:
            return gather_rows(inner, columns[0])
        return indexing_ops.gather_nd(inner, array_ops.stack(columns, -1))


def _all_of(params: Any, indices: Any, rank: int) -> Any:
    whole = expand_dims(params, 0)
    return params if rank == 1 else tile(whole, array_ops.concat([array_ops.shape(indices)[:1], [1] * params.shape.ndims], 0))


# Rows of several --------------------------------------------------------------------------------------------


def concat(values: Any, axis: Any, name: Optional[str] = None) -> Any:
    """Returns the rows of several tensors, one after the other along an axis; see `tf.concat`."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    with name_scope(name, "RaggedConcat", []):
        return _joined(values, axis, stacking=False)


def stack(values: Any, axis: Any = 0, name: Optional[str] = None) -> Any:
    """Returns several tensors of rank R as one of rank R+1; the tensors may have rows of different lengths.

    Args:
      values: A list of tensors or `RaggedTensor`s of one rank.
      axis: The new axis.
      name: The name scope of the operations.

    Returns:
      A `RaggedTensor`.

    Raises:
      ValueError: The list is empty, or the ranks differ.

    Example:
      >>> both = tf.ragged.stack([tf.constant([1, 2]), tf.constant([3])])
      >>> tf.Session().run(both)
      <tf.RaggedTensorValue [[1, 2], [3]]>
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    with name_scope(name, "RaggedConcat", []):
        return _joined(values, axis, stacking=True)


def _joined(values: Any, axis: Any, stacking: bool) -> Any:
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    parts = [converted(value, name="rt_input") for value in values]
    kind = next((part.row_splits.dtype for part in parts if is_ragged(part)), dtypes.int64)
    parts = list(match_row_splits_dtypes(*parts))
    rank: Optional[int] = None
    for part in parts:
        if part.shape.ndims is not None:
            if rank is not None and rank != part.shape.ndims:
                raise ValueError("All inputs must have the same rank: found shapes %s" % [str(one.shape) for one in parts])
            rank = part.shape.ndims
    axis = _axis(axis, None if rank is None else rank + stacking, "axis")
    if rank is None and any(not is_ragged(part) for part in parts):
        raise ValueError("ragged.%s: expected known ranks, found %s" % ("stack" if stacking else "concat", parts))
    if len(parts) == 1 and not stacking:
        return parts[0]
    if not any(is_ragged(part) for part in parts) and axis == (rank or 0) - (not stacking):
        return array_ops.stack(parts, axis) if stacking else array_ops.concat(parts, axis)
    depth = max([part.ragged_rank for part in parts if is_ragged(part)] + [0 if rank == 1 else 1])
    parts = [_as_ragged(part, depth, kind) for part in parts]
    if axis == 0:
        rows = _one_after_the_other(parts)
        return RaggedTensor.from_row_lengths(rows, array_ops.stack([_nrows(part, kind) for part in parts]), validate=False) if stacking else rows
    if axis == 1:
        return _side_by_side(parts, stacking)
    checks = [check_ops.assert_equal(parts[0].row_splits, part.row_splits, message="the rows of the inputs have different lengths") for part in parts[1:]]
    with control_dependencies(checks):
        return parts[0].with_values(_joined([part.values for part in parts], axis - 1, stacking))


def _one_after_the_other(parts: List[Any]) -> Any:
    """Returns the rows of parts of one ragged rank."""
    if not is_ragged(parts[0]):
        return array_ops.concat(parts, 0)
    values = _one_after_the_other([part.values for part in parts])
    splits, last = [parts[0].row_splits], parts[0].row_splits[-1]
    for part in parts[1:]:
        splits.append(part.row_splits[1:] + last)
        last = last + part.row_splits[-1]
    return RaggedTensor.from_row_splits(values, array_ops.concat(splits, 0), validate=False)


def _side_by_side(parts: List[Any], stacking: bool) -> Any:
    """Returns rows that consist of the same rows of all parts; or rows of these rows."""
    n, k = _nrows(parts[0], dtypes.int64), len(parts)
    checks = [check_ops.assert_equal(_nrows(part, dtypes.int64), n, message="Input tensors have incompatible shapes.") for part in parts[1:]]
    with control_dependencies(checks):
        rows = _one_after_the_other(parts)
        order = op("Reshape")(array_ops.transpose(op("Reshape")(math_ops.range(n * k), array_ops.stack([_constant(k, dtypes.int64), n]))), [-1])
    ordered = gather_rows(rows, order)
    if stacking:
        kind = ordered.row_splits.dtype if is_ragged(ordered) else dtypes.int64
        return RaggedTensor.from_row_lengths(ordered, op("Fill")(op("Reshape")(n, [1]), _constant(k, kind)), validate=False)
    return RaggedTensor.from_row_splits(ordered.values, ordered.row_splits[::k], validate=False)


def expand_dims(input: Any, axis: Any, name: Optional[str] = None) -> Any:  # noqa: A002
    """Returns the value with a new dimension of size one; see `tf.expand_dims`."""
    with name_scope(name, "RaggedExpandDims", []):
        value = converted(input, name="input")
        if not is_ragged(value):
            return array_ops.expand_dims(value, axis)
        rank = value.shape.ndims
        at = _axis(axis, None if rank is None else rank + 1, "axis")
        if at == 0:
            splits = array_ops.stack([_constant(0, value.row_splits.dtype), value.nrows()])
            return RaggedTensor.from_row_splits(value, splits, validate=False)
        if at == 1:
            splits = math_ops.range(value.nrows() + 1)
            return RaggedTensor.from_row_splits(value, splits, validate=False)
        return value.with_values(expand_dims(value.values, at - 1))


def squeeze(input: Any, axis: Any = None, name: Optional[str] = None) -> Any:  # noqa: A002
    """Returns the value without dimensions of size one; see `tf.squeeze`.

    Args:
      input: A tensor or `RaggedTensor`.
      axis: The dimensions: an integer, or a list of them.
      name: The name scope of the operations.

    Raises:
      ValueError: `axis` is None for rows of different lengths, or a dimension has another size.
    """
    with name_scope(name, "RaggedSqueeze", []):
        value = converted(input)
        if not is_ragged(value):
            return array_ops.squeeze(value, axis)
        if axis is None:
            raise ValueError("Ragged.squeeze must have an axis argument.")
        if isinstance(axis, int):
            axis = [axis]
        elif not isinstance(axis, (list, tuple)) or not all(isinstance(one, int) for one in axis):
            raise TypeError("Axis must be a list or tuple of integers.")
        rank = _rank_of(value, "input")
        axes = sorted({_axis(one, rank, "axis") for one in axis})
        ragged_axes = [one for one in axes if one <= value.ragged_rank]
        dense = [one - value.ragged_rank for one in axes if one > value.ragged_rank]
        made = value.with_flat_values(array_ops.squeeze(value.flat_values, dense)) if dense else value
        for one in reversed(ragged_axes):
            made = _without(made, one)
        return made


def _without(value: Any, axis: int) -> Any:
    """Returns the value without a dimension, which must have size one."""
    if axis == 0:
        check = check_ops.assert_equal(_nrows(value), _constant(1, dtypes.int64), message="the first dimension to squeeze does not have size 1")
        with control_dependencies([check]):
            inner = value.values
            return inner.with_flat_values(array_ops.identity(inner.flat_values)) if is_ragged(inner) else array_ops.identity(inner)
    if axis == 1:
        lengths = value.row_lengths()
        check = check_ops.assert_equal(lengths, array_ops.ones_like(lengths), message="the dimension to squeeze does not have size 1 in all rows")
        with control_dependencies([check]):
            inner = value.values
            return inner.with_values(inner.values) if is_ragged(inner) else array_ops.identity(inner)
    return value.with_values(_without(value.values, axis - 1) if is_ragged(value.values) else array_ops.squeeze(value.values, [axis - 1]))


def tile(input: Any, multiples: Any, name: Optional[str] = None) -> Any:  # noqa: A002
    """Returns the value repeated along each of its dimensions; see `tf.tile`.

    Args:
      input: A tensor or `RaggedTensor`.
      multiples: A vector of integers: the number of repetitions along each dimension.
      name: The name scope of the operations.
    """
    with name_scope(name, "RaggedTile", []):
        value = converted(input, name="input")
        if not is_ragged(value):
            return op("Tile")(value, multiples)
        multiples = math_ops.cast(convert_to_tensor(multiples), value.row_splits.dtype)
        multiples.shape.assert_has_rank(1)
        known = _known(multiples)
        return _tiled(value, multiples, None if known is None else [int(n) for n in known])


def _tiled(value: Any, multiples: Any, known: Optional[List[int]]) -> Any:
    if not is_ragged(value):
        return op("Tile")(value, multiples)
    if known is None or any(n != 1 for n in known[1:]):
        inner = _tiled_inside(value, multiples[1:], None if known is None else known[1:])
    else:
        inner = value
    if known is not None and known[0] == 1:
        return inner
    n = inner.nrows()
    numbers = op("Tile")(math_ops.range(n), multiples[:1])
    return gather_rows(inner, numbers)


def _tiled_inside(value: Any, multiples: Any, known: Optional[List[int]]) -> Any:
    """Returns rows whose insides are repeated."""
    inner = value.values
    if is_ragged(inner):
        deeper = value.with_values(_tiled_inside(inner, multiples[1:], None if known is None else known[1:]))
    else:
        ones = array_ops.ones([1], multiples.dtype)
        deeper = value.with_values(op("Tile")(inner, array_ops.concat([ones, multiples[1:]], 0)))
    if known is not None and known[0] == 1:
        return deeper
    # The rows are repeated `multiples[0]` times.
    splits, n = deeper.row_splits, deeper.nrows()
    times = multiples[0]
    starts = op("Reshape")(op("Tile")(array_ops.expand_dims(splits[:-1], 1), array_ops.stack([_constant(1, times.dtype), times])), [-1])
    limits = op("Reshape")(op("Tile")(array_ops.expand_dims(splits[1:], 1), array_ops.stack([_constant(1, times.dtype), times])), [-1])
    made = from_value_ranges(starts, limits, deeper.values)
    places = math_ops.range(n + 1) * times
    return RaggedTensor.from_row_splits(made.values, op("GatherV2")(made.row_splits, places, 0), validate=False)


# Sizes ------------------------------------------------------------------------------------------------------


def size(input: Any, out_type: Any = dtypes.int32, name: Optional[str] = None) -> Any:  # noqa: A002
    """Returns the number of values; see `tf.size`."""
    value = input.flat_values if is_ragged(input) else input
    return array_ops.size(value, out_type=out_type, name=name)


def rank(input: Any, name: Optional[str] = None) -> Any:  # noqa: A002
    """Returns the number of dimensions; see `tf.rank`."""
    with name_scope(name, "RaggedRank", []):
        return array_ops.rank(input.flat_values) + input.ragged_rank if is_ragged(input) else array_ops.rank(input)


def one_hot(indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None, dtype: Any = None, name: Optional[str] = None) -> Any:
    """Returns the value with one more dimension, in which the element of the given number is on; see
    `tf.one_hot`.
    """
    with name_scope(name, "RaggedOneHot", []):
        value = converted(indices, name="indices")
        if not is_ragged(value):
            return array_ops.one_hot(value, depth, on_value, off_value, -1 if axis is None else axis, dtype)
        if axis is not None:
            at = _axis(axis, None if value.shape.ndims is None else value.shape.ndims + 1, "axis")
            if at < value.ragged_rank:
                raise ValueError("axis may not be less than indices.ragged_rank.")
            axis = at - value.ragged_rank
        return value.with_flat_values(array_ops.one_hot(value.flat_values, depth, on_value, off_value, -1 if axis is None else axis, dtype))


# Choices ----------------------------------------------------------------------------------------------------


def boolean_mask(data: Any, mask: Any, name: Optional[str] = None) -> Any:
    """Returns the elements where a mask is true, in rows of their own lengths.

    Unlike `tf.boolean_mask` it keeps the rows.

    Args:
      data: A tensor or `RaggedTensor`.
      mask: A tensor or `RaggedTensor` of bools, whose dimensions are the first ones of `data`.
      name: The name scope of the operations.

    Returns:
      A tensor if `mask` is a vector, else a `RaggedTensor`.

    Raises:
      ValueError: The rank of `mask` is not known, or 0, or greater than that of `data`.

    Example:
      >>> found = tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]])
      >>> tf.Session().run(found)
      <tf.RaggedTensorValue [[1, 3], [6]]>
    """
    with name_scope(name, "RaggedMask", []):
        mask = converted(mask, dtypes.bool, name="mask")
        data = converted(data, name="data")
        data, mask = match_row_splits_dtypes(data, mask)
        if mask.shape.ndims is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if mask.shape.ndims == 0:
            raise ValueError("mask cannot be scalar.")
        if is_ragged(mask):
            data = _as_ragged(data, 1, mask.row_splits.dtype)
            check = check_ops.assert_equal(data.row_splits, mask.row_splits, message="the rows of `data` and `mask` have different lengths")
            with control_dependencies([check]):
                inner = boolean_mask(data.values, mask.values)
            kept = _counted(mask)
            return RaggedTensor.from_row_lengths(inner, kept, validate=False)
        if mask.shape.ndims == 1:
            if is_ragged(data):
                data.shape[:1].assert_is_compatible_with(mask.shape)
                return gather_rows(data, array_ops.squeeze(array_ops.where(mask), [1]))
            return indexing_ops.boolean_mask(data, mask)
        kind = data.row_splits.dtype if is_ragged(data) else dtypes.int64
        if data.shape.ndims is not None and data.shape.ndims < mask.shape.ndims:
            raise ValueError("Shapes %s and %s are incompatible" % (data.shape, mask.shape))
        rows = RaggedTensor.from_tensor(mask, ragged_rank=1, row_splits_dtype=kind)
        if mask.shape.ndims == 2:
            return boolean_mask(data, rows)
        return boolean_mask(data, rows)


def _counted(mask: Any) -> Any:
    """Returns the number of elements of each row that a mask keeps: if it has rows of rows, of its rows."""
    if is_ragged(mask.values) or mask.values.shape.ndims != 1:
        return mask.row_lengths()
    kept = math_ops.cast(mask.values, mask.row_splits.dtype)
    return op("UnsortedSegmentSum")(kept, mask.value_rowids(), mask.nrows())


def where(condition: Any, x: Any = None, y: Any = None, name: Optional[str] = None) -> Any:
    """Returns the elements of `x` where a condition is true, and of `y` elsewhere; without them, its places.

    Args:
      condition: A tensor or `RaggedTensor` of bools.
      x: A tensor or `RaggedTensor` of the same rows; or, if the condition is a vector, of rows.
      y: One like `x`.
      name: The name scope of the operations.

    Raises:
      ValueError: Only one of `x` and `y` is given.
    """
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    with name_scope(name, "RaggedWhere", []):
        condition = converted(condition, dtypes.bool, name="condition")
        if x is None:
            return _places_where(condition)
        x, y = converted(x, name="x"), converted(y, name="y")
        condition, x, y = match_row_splits_dtypes(condition, x, y)
        if is_ragged(condition):
            if is_ragged(x) and is_ragged(y):
                return condition.with_flat_values(_selected(condition, x, y))
            raise ValueError("Input shapes do not match: `condition`, `x` and `y` must all be ragged")
        condition.shape.assert_has_rank(1)
        if condition.shape.ndims == 1:
            # Rows of both, one after the other: those of `y` come after those of `x`.
            n = array_ops.shape(condition, out_type=dtypes.int64)[0]
            both = concat([x, y], 0)
            numbers = math_ops.range(n) + op("Select")(condition, array_ops.zeros_like(math_ops.range(n)), array_ops.ones_like(math_ops.range(n)) * n)
            return gather_rows(both, numbers)
        raise ValueError("condition: expected a known rank, found %s" % condition)


def _selected(condition: Any, x: Any, y: Any) -> Any:
    checks = [check_ops.assert_equal(a, b, message="the rows of `condition`, `x` and `y` have different lengths") for other in (x, y) for a, b in zip(condition.nested_row_splits, other.nested_row_splits)]
    if x.ragged_rank != condition.ragged_rank or y.ragged_rank != condition.ragged_rank:
        raise ValueError("Input shapes do not match: ragged ranks %d, %d and %d" % (condition.ragged_rank, x.ragged_rank, y.ragged_rank))
    with control_dependencies(checks):
        return op("Select")(condition.flat_values, x.flat_values, y.flat_values)


def _places_where(condition: Any) -> Any:
    if not is_ragged(condition):
        return array_ops.where(condition)
    inner = condition.flat_values.shape.ndims
    if inner is None:
        raise ValueError("condition.flat_values: expected a known rank")
    at = array_ops.where(condition.flat_values)
    outer = op("GatherV2")(condition._places(), at[:, 0], 0)
    return outer if inner == 1 else array_ops.concat([outer, at[:, 1:]], 1)


def stack_dynamic_partitions(data: Any, partitions: Any, num_partitions: Any, name: Optional[str] = None) -> Any:
    """Returns the elements of each part, in rows: the part of an element is the number in its place.

    Args:
      data: A tensor or `RaggedTensor`.
      partitions: A tensor or `RaggedTensor` of integers below `num_partitions`, whose dimensions are the
        first
        ones of `data`.
      num_partitions: The number of rows.
      name: The name scope of the operations.

    Returns:
      A `RaggedTensor`.

    Example:
      >>> rows = tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [1, 0, 1], 3)
      >>> tf.Session().run(rows)
      <tf.RaggedTensorValue [[b'b'], [b'a', b'c'], []]>
    """
    with name_scope(name, "SegmentStack", []):
        data = converted(data, name="data")
        kind = data.row_splits.dtype if is_ragged(data) else None
        partitions = converted(partitions, kind, name="partitions") if not is_ragged(partitions) else partitions
        num = math_ops.cast(convert_to_tensor(num_partitions), partitions.dtype)
        depth = partitions.shape.ndims
        if depth is None:
            raise ValueError("partitions must have known rank.")
        num.shape.assert_has_rank(0)
        if is_ragged(partitions):
            data = _as_ragged(data, 1, partitions.row_splits.dtype)
            data, partitions = match_row_splits_dtypes(data, partitions)
            check = check_ops.assert_equal(data.row_splits, partitions.row_splits, message="the rows of `data` and `partitions` have different lengths")
            with control_dependencies([check]):
                return stack_dynamic_partitions(data.values, partitions.values, num)
        if depth == 0:
            return RaggedTensor.from_value_rowids(array_ops.stack([data]), array_ops.stack([partitions]), nrows=num, validate=False)
        if depth > 1:
            rows = RaggedTensor.from_tensor(partitions, ragged_rank=depth - 1)
            flat = _as_ragged(data, depth - 1, rows.row_splits.dtype)
            for _ in range(depth - 1):
                flat = flat.values
            return stack_dynamic_partitions(flat, rows.flat_values, num)
        order = _stable_order(partitions)
        ids = op("GatherV2")(partitions, order, 0)
        return RaggedTensor.from_value_rowids(gather_rows(data, order), ids, nrows=num, validate=False)


def _stable_order(numbers: Any) -> Any:
    """Returns the places of the numbers in the order of their sizes, equal ones in the order of their
    places.
    """
    n = array_ops.shape(numbers, out_type=dtypes.int64)[0]
    keys = math_ops.cast(numbers, dtypes.int64) * n + math_ops.range(n)
    return op("TopKV2")(-keys, math_ops.cast(n, dtypes.int32))[1]


# Functions of rows ------------------------------------------------------------------------------------------


class RaggedTensorType:
    """The type of a `RaggedTensor` that a function returns.

    Args:
      dtype: The dtype of the values.
      ragged_rank: The number of ragged dimensions.
      row_splits_dtype: The dtype of the splits.
    """

    def __init__(self, dtype: Any, ragged_rank: int, row_splits_dtype: Any = dtypes.int64) -> None:
        self._dtype, self._ragged_rank, self._row_splits_dtype = dtypes.as_dtype(dtype), ragged_rank, dtypes.as_dtype(row_splits_dtype)

    dtype = property(lambda self: self._dtype, doc="The dtype of the values.")
    ragged_rank = property(lambda self: self._ragged_rank, doc="The number of ragged dimensions.")
    row_splits_dtype = property(lambda self: self._row_splits_dtype, doc="The dtype of the splits.")


def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: Optional[int] = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: Optional[str] = None,
) -> Any:
    """Returns the results of a function of each row, stacked; see `tf.map_fn`.

    Args:
      fn: A function of a row, of the structure of `elems`.
      elems: A tensor or `RaggedTensor`, or a structure of them with equal numbers of rows.
      dtype: The dtypes of the results; a `RaggedTensorType` for results that are ragged, or are rows of
        different lengths. By default that of `elems`.
      parallel_iterations: The largest number of calls that run at the same time.
      back_prop: Whether gradients flow through the function.
      swap_memory: Ignored.
      infer_shape: Whether results must have equal shapes.
      name: The name scope of the operations.

    Raises:
      TypeError: `fn` is not callable.
      ValueError: There is nothing to call it with, or it returns another structure than `dtype`.
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    flat = [converted(one) for one in nest.flatten(elems)]
    if not flat:
        raise ValueError("elems must be a Tensor or (possibly nested) sequence of Tensors. Got: %s" % (elems,))
    if dtype is None:
        made = [RaggedTensorType(one.dtype, one.ragged_rank, one.row_splits.dtype) if is_ragged(one) else one.dtype for one in flat]
        dtype = nest.pack_sequence_as(elems, made)
    results = nest.flatten(dtype)
    with name_scope(name, "RaggedMap", []):
        n = _nrows(flat[0], dtypes.int32)
        arrays = [
            TensorArray(kind, n, clear_after_read=False, infer_shape=infer_shape and not isinstance(wanted, RaggedTensorType)) for wanted in results for kind in _kinds(wanted)
        ]

        def step(i: Any, written: Any) -> Any:
            row = nest.pack_sequence_as(elems, [one[i] for one in flat])
            found = fn(row)
            nest.assert_same_structure(dtype, found)
            parts: List[Any] = []
            for wanted, value in zip(results, nest.flatten(found)):
                if not isinstance(wanted, RaggedTensorType):
                    parts.append(convert_to_tensor(value, wanted))
                    continue
                value = converted(value)
                if wanted.ragged_rank != (value.ragged_rank if is_ragged(value) else 0) + 1:
                    raise ValueError("The declared ragged rank (%d) mismatches the result (%d)" % (wanted.ragged_rank, (value.ragged_rank if is_ragged(value) else 0) + 1))
                parts.append(value.flat_values if is_ragged(value) else value)
                parts += [math_ops.cast(lengths, wanted.row_splits_dtype) for lengths in value.nested_row_lengths()] if is_ragged(value) else []
            return i + 1, [array.write(i, part) for array, part in zip(written, parts)]

        _, written = control_flow.while_loop(
            lambda i, _: i < n, step, (_constant(0), arrays), parallel_iterations=parallel_iterations or 10, back_prop=back_prop, swap_memory=swap_memory, maximum_iterations=n
        )
        return nest.pack_sequence_as(dtype, _collected(results, list(written), n))


def _kinds(wanted: Any) -> List[Any]:
    """Returns the dtypes of the arrays of a result: the flat values of a row, and the lengths of the rows
    in it.
    """
    return [wanted.dtype, *[wanted.row_splits_dtype] * max(wanted.ragged_rank - 1, 0)] if isinstance(wanted, RaggedTensorType) else [wanted]


def _collected(results: List[Any], written: List[Any], n: Any) -> List[Any]:
    """Returns the results that arrays hold."""
    found = []
    for wanted in results:
        if not isinstance(wanted, RaggedTensorType):
            found.append(written.pop(0).stack())
            continue
        arrays = [written.pop(0) for _ in range(max(wanted.ragged_rank, 1))]
        values: Any = arrays[0].concat()
        # Lengths of inner rows, the outermost first: their number tells the length of a row of the result.
        lengths = [one.concat() for one in arrays[1:]]
        for inner in reversed(lengths):
            values = RaggedTensor.from_row_lengths(values, inner, validate=False)
        sizes = _sizes_of(arrays[1] if len(arrays) > 1 else arrays[0], n, wanted.row_splits_dtype)
        found.append(RaggedTensor.from_row_lengths(values, sizes, validate=False))
    return found


def _sizes_of(array: Any, n: Any, dtype: Any) -> Any:
    """Returns the number of rows of each element of an array."""
    return functional.map_fn(lambda i: array_ops.shape(array.read(i), out_type=dtype)[0], math_ops.range(n), dtype=dtype)


__all__ = ["boolean_mask", "stack", "stack_dynamic_partitions"]
