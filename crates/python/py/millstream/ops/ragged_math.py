"""Reductions and ranges of `RaggedTensor`s: `tf.ragged.range`, and what `tf.reduce_sum` and its like do
with rows.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional

from millstream.framework import constant as _constant, control_dependencies, convert_to_tensor, dtypes, get_static_value, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, math_ops, reduction_ops, shape_ops
from millstream.ops.ragged_rows import _axis, converted, is_ragged
from millstream.ops.ragged_tensors import RaggedTensor, match_row_splits_dtypes, row_splits_to_segment_ids

__all__ = ["range"]

_ORDER = (dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64)


def range(  # noqa: A001
    starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, name: Optional[str] = None, row_splits_dtype: Any = dtypes.int64
) -> Any:
    """Returns a row for each start, limit and step, as `tf.range` returns it.

    Args:
      starts: The first values, a vector or a scalar; without `limits`, the limits, and the rows begin at 0.
      limits: The values before which rows end.
      deltas: The steps.
      dtype: The dtype of the values.
      name: The name scope of the operations.
      row_splits_dtype: The dtype of the splits.

    Returns:
      A `RaggedTensor`.

    Raises:
      ValueError: An argument is known to have more than one axis, or their sizes differ.
      tf.errors.InvalidArgumentError: When run: a step is 0.

    Example:
      >>> tf.Session().run(tf.ragged.range([3, 5, 2], [5, 8, 5]))
      <tf.RaggedTensorValue [[3, 4], [5, 6, 7], [2, 3, 4]]>
    """
    kind = dtypes.as_dtype(row_splits_dtype)
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange", [starts, limits, deltas]):
        parts = [convert_to_tensor(starts, dtype, name="starts"), convert_to_tensor(limits, dtype, name="limits"), convert_to_tensor(deltas, dtype, name="deltas")]
        if dtype is None:
            widest = max((part.dtype for part in parts), key=_ORDER.index)
            parts = [math_ops.cast(part, widest) for part in parts]
        for part, word in zip(parts, ("starts", "limits", "deltas")):
            if part.shape.ndims is not None and part.shape.ndims > 1:
                raise ValueError("%s must be a scalar or vector" % word)
        sizes = {part.shape[0].value for part in parts if part.shape.ndims == 1 and part.shape[0].value is not None}
        if len(sizes) > 1:
            raise ValueError("starts, limits, and deltas must have the same shape: found %s" % [str(part.shape) for part in parts])
        start, limit, delta = parts
        checks = [check_ops.assert_none_equal(delta, array_ops.zeros_like(delta), message="Requires delta != 0")]
        with control_dependencies(checks):
            away = limit - start
        if away.dtype.is_integer:
            size = op("Maximum")((away + delta - op("Sign")(delta)) // delta, array_ops.zeros_like(away))
        else:
            size = op("Maximum")(op("Ceil")(away / delta), array_ops.zeros_like(away))
        shape = shape_ops.broadcast_dynamic_shape(array_ops.shape(size), array_ops.shape(delta))
        size = op("BroadcastTo")(size, array_ops.concat([shape, array_ops.ones([1 - array_ops.size(shape)], dtypes.int32)], 0) if size.shape.ndims == 0 and delta.shape.ndims == 0 else shape)
        lengths = math_ops.cast(op("Reshape")(size, [-1]), kind)
        start, delta = (op("BroadcastTo")(op("Reshape")(one, [-1]), array_ops.shape(lengths)) for one in (start, delta))
        splits = array_ops.concat([array_ops.zeros([1], kind), op("Cumsum")(lengths, 0)], 0)
        ids = row_splits_to_segment_ids(splits)
        within = math_ops.cast(math_ops.range(splits[-1]) - op("GatherV2")(splits, ids, 0), start.dtype)
        values = op("GatherV2")(start, ids, 0) + within * op("GatherV2")(delta, ids, 0)
        return RaggedTensor(values, splits, internal=True)


# Segments ---------------------------------------------------------------------------------------------------


def _aggregated(segment: Callable[..., Any], data: Any, segment_ids: Any, num_segments: Any, name: Optional[str] = None) -> Any:
    """Returns, for each segment, what an op makes of the rows in it: values in equal places are combined."""
    if not (is_ragged(data) or is_ragged(segment_ids)):
        return segment(data, segment_ids, num_segments, name=name)
    with name_scope(name, "RaggedSegment", []):
        data, ids = converted(data, name="data"), converted(segment_ids, name="segment_ids")
        data, ids = match_row_splits_dtypes(data, ids)
        if ids.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("segment_ids must have dtype int32 or int64.")
        if is_ragged(ids):
            if not is_ragged(data):
                raise ValueError("segment_ids.shape must be a prefix of data.shape, but segment_ids is ragged and data is not.")
            check = check_ops.assert_equal(ids.row_splits, data.row_splits, message="segment_ids.shape must be a prefix of data.shape")
            with control_dependencies([check]):
                return _aggregated(segment, data.values, ids.values, num_segments)
        n = math_ops.cast(convert_to_tensor(num_segments), data.row_splits.dtype)
        ids = math_ops.cast(ids, data.row_splits.dtype)
        # A segment is as long as the longest of its rows; a value goes to its place within the row.
        lengths = op("Maximum")(op("UnsortedSegmentMax")(data.row_lengths(), ids, n), _constant(0, n.dtype))
        splits = array_ops.concat([array_ops.zeros([1], n.dtype), op("Cumsum")(lengths, 0)], 0)
        row = data.value_rowids()
        within = math_ops.range(array_ops.shape(row, out_type=n.dtype)[0]) - op("GatherV2")(data.row_splits, row, 0)
        places = op("GatherV2")(op("GatherV2")(splits, ids, 0), row, 0) + within
        return RaggedTensor(_aggregated(segment, data.values, places, splits[-1]), splits, internal=True)


def segment_sum(data: Any, segment_ids: Any, num_segments: Any, name: Optional[str] = None) -> Any:
    """Returns the sums of the rows of each segment; see `tf.unsorted_segment_sum`."""
    return _aggregated(op("UnsortedSegmentSum"), data, segment_ids, num_segments, name or "RaggedSegmentSum")


def segment_prod(data: Any, segment_ids: Any, num_segments: Any, name: Optional[str] = None) -> Any:
    """Returns the products of the rows of each segment; see `tf.unsorted_segment_prod`."""
    return _aggregated(op("UnsortedSegmentProd"), data, segment_ids, num_segments, name or "RaggedSegmentProd")


def segment_min(data: Any, segment_ids: Any, num_segments: Any, name: Optional[str] = None) -> Any:
    """Returns the least values of the rows of each segment; see `tf.unsorted_segment_min`."""
    return _aggregated(op("UnsortedSegmentMin"), data, segment_ids, num_segments, name or "RaggedSegmentMin")


def segment_max(data: Any, segment_ids: Any, num_segments: Any, name: Optional[str] = None) -> Any:
    """Returns the greatest values of the rows of each segment; see `tf.unsorted_segment_max`."""
    return _aggregated(op("UnsortedSegmentMax"), data, segment_ids, num_segments, name or "RaggedSegmentMax")


def _averaged(data: Any, segment_ids: Any, num_segments: Any, name: str, count: Callable[[Any], Any]) -> Any:
    with name_scope(name, "RaggedSegmentMean", []):
        total = segment_sum(data, segment_ids, num_segments)
        ones = data.with_flat_values(array_ops.ones_like(data.flat_values)) if is_ragged(data) else array_ops.ones_like(convert_to_tensor(data))
        n = segment_sum(ones, segment_ids, num_segments)
        if is_ragged(total):
            return total.with_flat_values(total.flat_values / count(n.flat_values))
        return total / count(n)


def segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: Optional[str] = None) -> Any:
    """Returns the means of the rows of each segment; see `tf.unsorted_segment_mean`."""
    return _averaged(data, segment_ids, num_segments, name or "RaggedSegmentMean", lambda n: n)


def segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: Optional[str] = None) -> Any:
    """Returns the sums of the rows of each segment by the roots of their numbers; see
    `tf.unsorted_segment_sqrt_n`.
    """
    return _averaged(data, segment_ids, num_segments, name or "RaggedSegmentSqrtN", math_ops.sqrt)


# Reductions -------------------------------------------------------------------------------------------------


def _reduced(reduce: Callable[..., Any], segment: Callable[..., Any], rt_input: Any, axis: Any, keepdims: Any = None, name: Optional[str] = None) -> Any:
    """Returns what a reduction makes of a ragged tensor along axes."""
    if not is_ragged(rt_input):
        return reduce(rt_input, axis, name=name)
    if keepdims:
        raise ValueError("keepdims=True is not supported for RaggedTensors.")
    if isinstance(axis, RaggedTensor):
        raise TypeError("axis must be an int; got RaggedTensor")
    if hasattr(axis, "op"):
        known = get_static_value(axis)
        if known is None:
            raise ValueError("axis must be known at graph construction time.")
        axis = known.tolist()
    with name_scope(name, "RaggedReduce", []):
        if axis is None:
            return reduce(rt_input.flat_values, None)
        if isinstance(axis, (tuple, list)):
            if not axis:
                return rt_input
            if len(axis) > 1:
                rank = rt_input.shape.ndims
                if rank is None and any(one < 0 for one in axis):
                    raise ValueError("axis may only be negative if ndims is statically known.")
                axes: List[int] = sorted(_axis(one, rank, "axis[%d]" % i) for i, one in enumerate(axis))
                # The last axis first: the numbers of the others stay.
                inner = _reduced(reduce, segment, rt_input, axes[-1])
                return _reduced(reduce, segment, inner, axes[:-1] if len(axes) > 2 else axes[0])
            axis = axis[0]
        axis = _axis(axis, rt_input.shape.ndims, "axis")
        if axis == 0:
            # Values in equal places of all rows.
            row = rt_input.value_rowids()
            within = math_ops.range(array_ops.shape(row, out_type=row.dtype)[0]) - op("GatherV2")(rt_input.row_splits, row, 0)
            longest = reduction_ops.reduce_max(array_ops.concat([rt_input.row_lengths(), array_ops.zeros([1], row.dtype)], 0))
            return segment(rt_input.values, within, longest)
        if axis == 1:
            return segment(rt_input.values, rt_input.value_rowids(), rt_input.nrows())
        inner = rt_input.values
        return rt_input.with_values(_reduced(reduce, segment, inner, axis - 1) if is_ragged(inner) else reduce(inner, axis - 1))


def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: Optional[str] = None) -> Any:
    """Returns sums along axes; see `tf.reduce_sum`."""
    return _reduced(reduction_ops.reduce_sum, segment_sum, input_tensor, axis, keepdims, name or "RaggedReduceSum")


def reduce_prod(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: Optional[str] = None) -> Any:
    """Returns products along axes; see `tf.reduce_prod`."""
    return _reduced(reduction_ops.reduce_prod, segment_prod, input_tensor, axis, keepdims, name or "RaggedReduceProd")


def reduce_min(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: Optional[str] = None) -> Any:
    """Returns the least values along axes; see `tf.reduce_min`."""
    return _reduced(reduction_ops.reduce_min, segment_min, input_tensor, axis, keepdims, name or "RaggedReduceMin")


def reduce_max(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: Optional[str] = None) -> Any:
    """Returns the greatest values along axes; see `tf.reduce_max`."""
    return _reduced(reduction_ops.reduce_max, segment_max, input_tensor, axis, keepdims, name or "RaggedReduceMax")


def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: Optional[str] = None) -> Any:
    """Returns means along axes; see `tf.reduce_mean`."""
    with name_scope(name, "RaggedReduceMean", []):
        total = reduce_sum(input_tensor, axis, keepdims)
        if is_ragged(input_tensor):
            ones = input_tensor.with_flat_values(array_ops.ones_like(input_tensor.flat_values))
        else:
            ones = array_ops.ones_like(convert_to_tensor(input_tensor))
        n = reduce_sum(ones, axis, keepdims)
        return total.with_flat_values(total.flat_values / n.flat_values) if is_ragged(total) else total / n


def _as_integers(value: Any) -> Any:
    value = converted(value)
    return value.with_flat_values(math_ops.cast(value.flat_values, dtypes.int32)) if is_ragged(value) else math_ops.cast(value, dtypes.int32)


def _as_bools(value: Any) -> Any:
    return value.with_flat_values(math_ops.cast(value.flat_values, dtypes.bool)) if is_ragged(value) else math_ops.cast(value, dtypes.bool)


def reduce_all(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: Optional[str] = None) -> Any:
    """Returns whether all values along axes are true; see `tf.reduce_all`."""
    with name_scope(name, "RaggedReduceAll", []):
        return _as_bools(reduce_prod(_as_integers(input_tensor), axis, keepdims))


def reduce_any(input_tensor: Any, axis: Any = None, keepdims: Any = None, name: Optional[str] = None) -> Any:
    """Returns whether a value along axes is true; see `tf.reduce_any`."""
    with name_scope(name, "RaggedReduceAny", []):
        return _as_bools(reduce_sum(_as_integers(input_tensor), axis, keepdims))
