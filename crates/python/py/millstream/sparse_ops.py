"""Sparse tensors: what is built of several ops, or of one with more outputs than its public function gives. See `more_ops.py` for the rest."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from millstream import array_ops, dtypes, math_ops
from millstream._engine import Tensor
from millstream._ops import op
from millstream.control_flow import with_dependencies
from millstream.framework import IndexedSlices, SparseTensor, constant_value, convert_to_tensor, name_scope
from millstream.more_ops import _sparse, sparse_reorder, sparse_tensor_to_dense

__all__ = [
    "deserialize_many_sparse",
    "edit_distance",
    "serialize_many_sparse",
    "serialize_sparse",
    "sparse_fill_empty_rows",
    "sparse_mask",
    "sparse_maximum",
    "sparse_merge",
    "sparse_minimum",
    "sparse_reduce_max_sparse",
    "sparse_reduce_sum_sparse",
    "sparse_reset_shape",
    "sparse_segment_mean",
    "sparse_segment_sqrt_n",
    "sparse_segment_sum",
    "sparse_softmax",
    "sparse_split",
    "sparse_to_indicator",
    "unsorted_segment_mean",
    "unsorted_segment_sqrt_n",
]


def sparse_fill_empty_rows(sp_input: Any, default_value: Any, name: Optional[str] = None) -> Tuple[SparseTensor, Tensor]:
    """The tensor with `default_value` in the first column of each empty row, and which rows were empty."""
    sp = _sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp]):
        default_value = convert_to_tensor(default_value, sp.values.dtype)
        indices, values, empty, _ = op("SparseFillEmptyRows")(sp.indices, sp.values, sp.dense_shape, default_value)
        return SparseTensor(indices, values, sp.dense_shape), empty


def sparse_mask(a: IndexedSlices, mask_indices: Any, name: Optional[str] = None) -> IndexedSlices:
    """The slices whose indices are not in `mask_indices`."""
    with name_scope(name, "sparse_mask", [a, mask_indices]) as name:
        rest, places = op("ListDiff")(a.indices, mask_indices)
        return IndexedSlices(array_ops.gather(a.values, places, name=name), rest, a.dense_shape)


def _extreme(op_name: str, sp_a: Any, sp_b: Any, name: Optional[str]) -> SparseTensor:
    a, b = _sparse(sp_a), _sparse(sp_b)
    with name_scope(name, op_name, [a.indices, a.values, b.indices, b.values]) as name:
        indices, values = op(op_name)(a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, name=name)
        return SparseTensor(indices, values, a.dense_shape)


def sparse_maximum(sp_a: Any, sp_b: Any, name: Optional[str] = None) -> SparseTensor:
    """The larger of two elements at each place where either tensor has one; missing ones are 0."""
    return _extreme("SparseSparseMaximum", sp_a, sp_b, name)


def sparse_minimum(sp_a: Any, sp_b: Any, name: Optional[str] = None) -> SparseTensor:
    """The smaller of two elements at each place where either tensor has one; missing ones are 0."""
    return _extreme("SparseSparseMinimum", sp_a, sp_b, name)


def sparse_merge(sp_ids: Any, sp_values: Any, vocab_size: Any, name: Optional[str] = None, already_sorted: bool = False) -> SparseTensor:
    """`sp_values` with the ids as the last dimension (or dimensions, if there are several) in place of the position."""
    several = isinstance(sp_ids, (list, tuple))
    ids = [_sparse(s) for s in (sp_ids if several else [sp_ids])]
    sizes = list(vocab_size) if isinstance(vocab_size, (list, tuple)) else [vocab_size]
    if len(sizes) != len(ids):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    values = _sparse(sp_values)
    with name_scope(name, "SparseMerge", [ids, values]):
        columns = [values.indices[:, :-1]] + [array_ops.expand_dims(math_ops.cast(s.values, dtypes.int64), 1) for s in ids]
        sizes = [array_ops.reshape(math_ops.cast(convert_to_tensor(s), dtypes.int64), [1]) for s in sizes]
        merged = SparseTensor(array_ops.concat(columns, 1), values.values, array_ops.concat([values.dense_shape[:-1]] + sizes, 0))
        return merged if already_sorted else sparse_reorder(merged)


def _reduced(op_name: str, sp_input: Any, axis: Any, keepdims: Any, reduction_axes: Any, keep_dims: Any) -> SparseTensor:
    sp = _sparse(sp_input)
    axis = math_ops.deprecated(axis, reduction_axes, "axis", "reduction_axes")
    keep = bool(math_ops.deprecated(keepdims, keep_dims, "keepdims", "keep_dims"))
    axis = math_ops.range(array_ops.rank(sp)) if axis is None else axis
    return SparseTensor(*op(op_name)(sp.indices, sp.values, sp.dense_shape, axis, keep))


def sparse_reduce_sum_sparse(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> SparseTensor:
    """The sum over axes, as a sparse tensor."""
    return _reduced("SparseReduceSumSparse", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_max_sparse(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> SparseTensor:
    """The largest over axes, as a sparse tensor."""
    return _reduced("SparseReduceMaxSparse", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same entries with another shape of the same rank that holds them; without one, with the smallest."""
    sp = _sparse(sp_input)
    if new_shape is None:
        largest = math_ops.reduce_max(sp.indices, 0)
        return SparseTensor(sp.indices, sp.values, op("Maximum")(convert_to_tensor(0, dtypes.int64), largest + array_ops.ones_like(largest)))
    new_shape = math_ops.cast(convert_to_tensor(new_shape), dtypes.int64)
    new_shape.set_shape([sp.dense_shape.shape.as_list()[0]] if sp.dense_shape.shape.ndims is not None else [None])
    known, old = constant_value(new_shape), constant_value(sp.dense_shape)
    if known is not None and old is not None:
        if (known < old).any():
            raise ValueError("Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape (%s), sp_input.shape (%s)." % (old, known))
        return SparseTensor(sp.indices, sp.values, new_shape)
    from millstream import check_ops

    checks = [
        check_ops.assert_equal(array_ops.shape(sp.dense_shape, out_type=dtypes.int64), array_ops.shape(new_shape, out_type=dtypes.int64)),
        check_ops.assert_less_equal(sp.dense_shape, new_shape),
    ]
    return SparseTensor(sp.indices, sp.values, with_dependencies(checks, new_shape))


def sparse_softmax(sp_input: Any, name: Optional[str] = None) -> SparseTensor:
    """The softmax of each row (along the last dimension) of the entries that are there."""
    with name_scope(name, "SparseSoftmax", [sp_input]):
        sp = _sparse(sp_input)
        return SparseTensor(sp.indices, op("SparseSoftmax")(sp.indices, sp.values, sp.dense_shape), sp.dense_shape)


def sparse_split(
    keyword_required: Any = None, sp_input: Any = None, num_split: Any = None, axis: Any = None, name: Optional[str] = None, split_dim: Any = None
) -> List[SparseTensor]:
    """The tensor cut into `num_split` along `axis`; the first ones are longer if it does not divide. By name only."""
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    for what, value in (("sp_input", sp_input), ("num_split", num_split)):
        if value is None:
            raise ValueError("%s is required" % what)
    axis = math_ops.deprecated(axis, split_dim, "axis", "split_dim")
    if axis is None:
        raise ValueError("axis is required")
    sp = _sparse(sp_input)
    axis = convert_to_tensor(axis, dtypes.int64)
    parts = op("SparseSplit")(axis, sp.indices, sp.values, sp.dense_shape, num_split, name=name)
    return [SparseTensor(*part) for part in zip(*parts)]


def sparse_to_indicator(sp_input: Any, vocab_size: Any, name: Optional[str] = None) -> Tensor:
    """A dense bool tensor that says which ids below `vocab_size` each row has."""
    sp = _sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp]) as name:
        true = SparseTensor(sp.indices, array_ops.fill(array_ops.expand_dims(array_ops.shape(sp.indices)[0], 0), True), sp.dense_shape)
        return sparse_tensor_to_dense(sparse_merge(sp, true, vocab_size), default_value=False, validate_indices=False, name=name)


def serialize_sparse(sp_input: Any, name: Optional[str] = None, out_type: Any = dtypes.string) -> Tensor:
    """Three strings (or variants) that hold the tensor."""
    sp = _sparse(sp_input)
    return op("SerializeSparse")(sp.indices, sp.values, sp.dense_shape, out_type=out_type, name=name)


def serialize_many_sparse(sp_input: Any, name: Optional[str] = None, out_type: Any = dtypes.string) -> Tensor:
    """For each entry of the first dimension, three strings (or variants) that hold it."""
    sp = _sparse(sp_input)
    return op("SerializeManySparse")(sp.indices, sp.values, sp.dense_shape, out_type=out_type, name=name)


def deserialize_many_sparse(serialized_sparse: Any, dtype: Any, rank: Optional[int] = None, name: Optional[str] = None) -> SparseTensor:
    """What `serialize_many_sparse` made, together again, or put together of several."""
    indices, values, shape = op("DeserializeManySparse")(serialized_sparse, dtype, name=name)
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


def _segments(what: str, called: str, said: str) -> Any:
    def function(data: Any, indices: Any, segment_ids: Any, name: Optional[str] = None, num_segments: Any = None) -> Tensor:
        if num_segments is None:
            return op("SparseSegment" + what)(data, indices, segment_ids, name=name)
        with name_scope(name, "SparseSegment%sWithNumSegments" % what, [data, indices, segment_ids]) as name:
            rows = array_ops.gather(data, indices)
            sums = op("UnsortedSegmentSum")(rows, segment_ids, num_segments, name=name if what == "Sum" else None)
            if what == "Sum":
                return sums
            return op("RealDiv")(sums, _counts(rows, segment_ids, num_segments, what), name=name)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = said + " `num_segments` says how many segments there are; those without rows are zeros."
    return function


def _counts(rows: Tensor, segment_ids: Any, num_segments: Any, what: str) -> Tensor:
    """How many rows each segment has (for `SqrtN` the root of that), at least 1, to divide sums by."""
    segment_ids = convert_to_tensor(segment_ids)
    ones = array_ops.ones(array_ops.shape(segment_ids), rows.dtype)
    counts = op("Maximum")(op("UnsortedSegmentSum")(ones, segment_ids, num_segments), convert_to_tensor(1, rows.dtype))
    counts = op("Sqrt")(counts) if what == "SqrtN" else counts
    trailing = array_ops.rank(rows) - array_ops.rank(segment_ids)
    return array_ops.reshape(counts, array_ops.concat([array_ops.shape(counts), array_ops.fill(array_ops.reshape(trailing, [1]), 1)], 0))


sparse_segment_sum = _segments("Sum", "sparse_segment_sum", "The sums of the rows that `indices` name, by segment.")
sparse_segment_mean = _segments("Mean", "sparse_segment_mean", "The means of the rows that `indices` name, by segment.")
sparse_segment_sqrt_n = _segments("SqrtN", "sparse_segment_sqrt_n", "The sums of the rows that `indices` name over the root of their number, by segment.")


def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: Optional[str] = None) -> Tensor:
    """The means of the rows of each segment, in any order; zeros where there are none."""
    return _unsorted("Mean", data, segment_ids, num_segments, name)


def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: Optional[str] = None) -> Tensor:
    """The sums of the rows of each segment over the root of their number, in any order; zeros where there are none."""
    return _unsorted("SqrtN", data, segment_ids, num_segments, name)


def _unsorted(what: str, data: Any, segment_ids: Any, num_segments: Any, name: Optional[str]) -> Tensor:
    with name_scope(name, "UnsortedSegment" + what, [data, segment_ids]) as name:
        data = convert_to_tensor(data)
        sums = op("UnsortedSegmentSum")(data, segment_ids, num_segments)
        return op("RealDiv")(sums, _counts(data, segment_ids, num_segments, what), name=name)


def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True, name: Any = "edit_distance") -> Tensor:
    """How many insertions, deletions and replacements make each sequence of `hypothesis` that of `truth`; normalized, over the latter's length."""
    a, b = _sparse(hypothesis), _sparse(truth)
    return op("EditDistance")(a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, normalize=normalize, name=name)


# What stands only under `tf.sparse`.


def from_dense(tensor: Any, name: Optional[str] = None) -> SparseTensor:
    """The entries that are not zero."""
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        zero = "" if tensor.dtype == dtypes.string else False if tensor.dtype == dtypes.bool else 0
        places = op("Where")(op("NotEqual")(tensor, convert_to_tensor(zero, tensor.dtype)))
        return SparseTensor(places, array_ops.gather_nd(tensor, places), array_ops.shape(tensor, out_type=dtypes.int64))


def expand_dims(sp_input: Any, axis: Any = None, name: Optional[str] = None) -> SparseTensor:
    """A dimension of size 1 more, before `axis`; at the end if none is given."""
    sp = _sparse(sp_input)
    with name_scope(name, "expand_dims", [sp]):
        rank = sp.dense_shape.shape.as_list()[0]
        if rank is None:
            raise ValueError("expand_dims: the rank of the sparse tensor must be known")
        at = -1 if axis is None else int(constant_value(convert_to_tensor(axis)))
        if not -rank - 1 <= at <= rank:
            raise ValueError("axis %d is not in -%d..%d" % (at, rank + 1, rank))
        at = at + rank + 1 if at < 0 else at
        column = array_ops.zeros_like(sp.indices[:, :1])
        indices = array_ops.concat([sp.indices[:, :at], column, sp.indices[:, at:]], 1)
        shape = array_ops.concat([sp.dense_shape[:at], [1], sp.dense_shape[at:]], 0)
        return SparseTensor(indices, sp.values, shape)


def eye(num_rows: Any, num_columns: Any = None, dtype: Any = dtypes.float32, name: Optional[str] = None) -> SparseTensor:
    """The identity matrix."""
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = math_ops.cast(num_rows, dtypes.int64)
        columns = rows if num_columns is None else math_ops.cast(num_columns, dtypes.int64)
        places = math_ops.range(op("Minimum")(rows, columns))
        ones = array_ops.ones(array_ops.shape(places), dtype)
        return SparseTensor(array_ops.stack([places, places], axis=1), ones, array_ops.stack([rows, columns]))
