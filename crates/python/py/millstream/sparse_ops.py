"""Sparse tensors: made, put in order, cut, put together, reduced, multiplied; segments of rows, too."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from millstream import array_ops, dtypes, indexing_ops, math_ops, reduction_ops
from millstream._engine import Tensor
from millstream._ops import op
from millstream.control_flow import with_dependencies
from millstream.deprecation import renamed
from millstream.framework import IndexedSlices, SparseTensor, constant_value, convert_to_tensor, name_scope

__all__ = [
    "deserialize_many_sparse",
    "edit_distance",
    "serialize_many_sparse",
    "serialize_sparse",
    "sparse_add",
    "sparse_concat",
    "sparse_fill_empty_rows",
    "sparse_mask",
    "sparse_maximum",
    "sparse_merge",
    "sparse_minimum",
    "sparse_reduce_max",
    "sparse_reduce_max_sparse",
    "sparse_reduce_sum",
    "sparse_reduce_sum_sparse",
    "sparse_reorder",
    "sparse_reset_shape",
    "sparse_reshape",
    "sparse_retain",
    "sparse_segment_mean",
    "sparse_segment_sqrt_n",
    "sparse_segment_sum",
    "sparse_slice",
    "sparse_softmax",
    "sparse_split",
    "sparse_tensor_dense_matmul",
    "sparse_tensor_to_dense",
    "sparse_to_dense",
    "sparse_to_indicator",
    "sparse_transpose",
    "unsorted_segment_mean",
    "unsorted_segment_sqrt_n",
]


def _sparse(value: Any) -> SparseTensor:
    if isinstance(value, SparseTensor):
        return value
    if hasattr(value, "indices") and hasattr(value, "dense_shape"):
        return SparseTensor.from_value(value)
    raise TypeError("Input must be a SparseTensor.")


def sparse_tensor_to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: Optional[str] = None) -> Tensor:
    """All elements, the missing ones as `default_value`.

    Args:
      sp_input: A `SparseTensor`.
      default_value: A scalar; zero, or empty text, if not given.
      validate_indices: Whether they must be in order and without repetition.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> a = tf.SparseTensor([[0], [2]], [1, 2], [4])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(a, default_value=-1)))
      [ 1 -1  2 -1]
    """
    sp = _sparse(sp_input)
    if default_value is None:
        default_value = "" if sp.dtype == dtypes.string else False if sp.dtype == dtypes.bool else 0
    return op("SparseToDense")(sp.indices, sp.dense_shape, sp.values, convert_to_tensor(default_value, sp.dtype), validate_indices, name=name)


def sparse_to_dense(
    sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0, validate_indices: bool = True, name: Optional[str] = None
) -> Tensor:
    """A tensor of elements at indices.

    Args:
      sparse_indices: A matrix of indices, in rows; or a vector of them, or a scalar.
      output_shape: A vector.
      sparse_values: A vector of values, or a scalar for all.
      default_value: A scalar: what stands elsewhere.
      validate_indices: Whether indices must be in order and without repetition.
      name: A name for the operation.

    Returns:
      A tensor of the dtype of `sparse_values`.

    Example:
      >>> print(tf.Session().run(tf.sparse_to_dense([1, 3], [5], 7)))
      [0 7 0 7 0]
    """
    values = convert_to_tensor(sparse_values)
    return op("SparseToDense")(sparse_indices, output_shape, values, convert_to_tensor(default_value, values.dtype), validate_indices, name=name)


def sparse_reorder(sp_input: Any, name: Optional[str] = None) -> SparseTensor:
    """The entries in row-major order.

    Args:
      sp_input: A `SparseTensor`.
      name: A name for the operation.

    Returns:
      A `SparseTensor` of the same shape.

    Example:
      >>> a = tf.SparseTensor([[1, 0], [0, 1]], ["b", "a"], [2, 2])
      >>> print(tf.Session().run(tf.sparse_reorder(a)).values)
      [b'a' b'b']
    """
    sp = _sparse(sp_input)
    indices, values = op("SparseReorder")(sp.indices, sp.values, sp.dense_shape, name=name)
    return SparseTensor(indices, values, sp.dense_shape)


def sparse_reshape(sp_input: Any, shape: Any, name: Optional[str] = None) -> SparseTensor:
    """The same entries in another shape.

    Args:
      sp_input: A `SparseTensor`.
      shape: An int64 vector; one -1 stands for whatever is left.
      name: A name for the operation.

    Returns:
      A `SparseTensor`.

    Example:
      >>> a = tf.SparseTensor([[0, 1], [1, 0]], [1, 2], [2, 2])
      >>> print(tf.Session().run(tf.sparse_reshape(a, [4])).indices.tolist())
      [[1], [2]]
    """
    sp = _sparse(sp_input)
    with name_scope(name, "SparseReshape", []) as name:
        indices, new = op("SparseReshape")(sp.indices, sp.dense_shape, convert_to_tensor(shape, dtypes.int64), name=name)
        return SparseTensor(indices, sp.values, new)


def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The entries for which `to_retain` holds.

    Args:
      sp_input: A `SparseTensor`.
      to_retain: A boolean vector, as long as there are entries.

    Returns:
      A `SparseTensor` of the same shape.

    Example:
      >>> a = tf.SparseTensor([[0], [2]], [1, 2], [3])
      >>> print(tf.Session().run(tf.sparse_retain(a, [False, True])).values)
      [2]
    """
    sp = _sparse(sp_input)
    where = array_ops.reshape(op("Where")(convert_to_tensor(to_retain)), [-1])
    return SparseTensor(indexing_ops.gather(sp.indices, where), indexing_ops.gather(sp.values, where), array_ops.identity(sp.dense_shape))


def sparse_concat(
    axis: int, sp_inputs: Any, name: Optional[str] = None, expand_nonconcat_dim: bool = False, concat_dim: Any = None, expand_nonconcat_dims: Any = None
) -> SparseTensor:
    """Sparse tensors one after the other.

    Args:
      axis: The axis.
      sp_inputs: A list of `SparseTensor`s of one dtype and rank.
      name: A name for the operation.
      expand_nonconcat_dim: False.
      concat_dim: What `axis` was called once.
      expand_nonconcat_dims: False.

    Returns:
      A `SparseTensor`.

    Raises:
      NotImplementedError: The other dimensions are to be widened.

    Example:
      >>> a = tf.SparseTensor([[0, 1]], [5], [1, 2])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(tf.sparse_concat(0, [a, a]))))
      [[0 5]
       [0 5]]
    """
    sps = [_sparse(s) for s in sp_inputs]
    if len(sps) == 1:
        return sps[0]
    shapes = [s.dense_shape for s in sps]
    if expand_nonconcat_dim or expand_nonconcat_dims:
        raise NotImplementedError("sparse_concat that widens the other dimensions is not supported yet")
    made = op("SparseConcat")([s.indices for s in sps], [s.values for s in sps], shapes, concat_dim=axis, name=name)
    return SparseTensor(*made)


def sparse_add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """The sum of two tensors; sparse if both are.

    Args:
      a: A `SparseTensor` or a tensor.
      b: Another, of the same shape and dtype; one of both is sparse.
      threshold: With two sparse ones: entries whose magnitude is less are left out.
      thresh: What `threshold` was called once.

    Returns:
      A `SparseTensor`, or a tensor.

    Example:
      >>> a = tf.SparseTensor([[0], [2]], [1, 2], [3])
      >>> print(*tf.Session().run([tf.sparse_add(a, a).values, tf.sparse_add(a, [10, 10, 10])]))
      [2 4] [11 10 12]
    """
    limit = renamed(threshold, thresh, "threshold", "thresh") or 0
    if hasattr(a, "dense_shape") and hasattr(b, "dense_shape"):
        a, b = _sparse(a), _sparse(b)
        limit = convert_to_tensor(limit, a.values.dtype.real_dtype, "thresh")
        return SparseTensor(*op("SparseAdd")(a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, limit))
    if hasattr(b, "dense_shape"):
        a, b = b, a
    a = _sparse(a)
    return op("SparseTensorDenseAdd")(a.indices, a.values, a.dense_shape, b)


def sparse_reduce_sum(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> Tensor:
    """The sum over axes, as a dense tensor.

    Args:
      sp_input: A `SparseTensor`.
      axis: The axis, or a list of them; all if not given.
      keepdims: Whether these axes stay, with size 1.
      reduction_axes: What `axis` was called once.
      keep_dims: What `keepdims` was called once.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 5, 3], [2, 3])
      >>> print(*tf.Session().run([tf.sparse_reduce_sum(a, 1), tf.sparse_reduce_sum(a)]))
      [6 3] 9
    """
    return _sparse_reduce("SparseReduceSum", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_max(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> Tensor:
    """The largest over axes, as a dense tensor.

    Args:
      sp_input: A `SparseTensor`; what it does not have does not count.
      axis: The axis, or a list of them; all if not given.
      keepdims: Whether these axes stay, with size 1.
      reduction_axes: What `axis` was called once.
      keep_dims: What `keepdims` was called once.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 5, 3], [2, 3])
      >>> print(tf.Session().run(tf.sparse_reduce_max(a, 1)))
      [5 3]
    """
    return _sparse_reduce("SparseReduceMax", sp_input, axis, keepdims, reduction_axes, keep_dims)


def _sparse_reduce(op_type: str, sp_input: Any, axis: Any, keepdims: Any, reduction_axes: Any, keep_dims: Any) -> Tensor:
    sp = _sparse(sp_input)
    axis = renamed(axis, reduction_axes, "axis", "reduction_axes")
    keep = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
    if axis is None:
        axis = math_ops.range(array_ops.rank(sp))
    return op(op_type)(sp.indices, sp.values, sp.dense_shape, axis, keep)


def sparse_slice(sp_input: Any, start: Any, size: Any, name: Optional[str] = None) -> SparseTensor:
    """The box that starts at `start` and has this size, as far as it lies inside.

    Args:
      sp_input: A `SparseTensor`.
      start: An int64 vector.
      size: An int64 vector.
      name: A name for the operation.

    Returns:
      A `SparseTensor`.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [2, 3])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(tf.sparse_slice(a, [0, 1], [2, 2]))))
      [[0 0]
       [0 2]]
    """
    sp = _sparse(sp_input)
    start, size = convert_to_tensor(start, dtypes.int64), convert_to_tensor(size, dtypes.int64)
    return SparseTensor(*op("SparseSlice")(sp.indices, sp.values, sp.dense_shape, start, size, name=name))


def sparse_transpose(sp_input: Any, perm: Any = None, name: Optional[str] = None) -> SparseTensor:
    """The dimensions in another order; without one, backwards.

    Args:
      sp_input: A `SparseTensor`.
      perm: A vector of axes.
      name: The name scope of what is made.

    Returns:
      A `SparseTensor`.

    Example:
      >>> a = tf.SparseTensor([[0, 2]], [5], [2, 3])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(tf.sparse_transpose(a))))
      [[0 0]
       [0 0]
       [5 0]]
    """
    with name_scope(name, "SparseTranspose") as scope:
        sp = _sparse(sp_input)
        if perm is None:
            perm = math_ops.range(array_ops.rank(sp) - 1, -1, -1)
        indices = array_ops.transpose(indexing_ops.gather(array_ops.transpose(sp.indices), perm))
        return sparse_reorder(SparseTensor(indices, sp.values, indexing_ops.gather(sp.dense_shape, perm)), name=scope)


def sparse_tensor_dense_matmul(sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: Optional[str] = None) -> Tensor:
    """The matrix product with a sparse tensor.

    Args:
      sp_a: A `SparseTensor` of rank 2.
      b: A matrix of the same dtype.
      adjoint_a: Whether `sp_a` is transposed and conjugated first.
      adjoint_b: Whether `b` is.
      name: A name for the operation.

    Returns:
      A matrix of the same dtype.

    Example:
      >>> a = tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
      >>> print(tf.Session().run(tf.sparse_tensor_dense_matmul(a, [[1.0], [10.0]])))
      [[20.]
       [ 3.]]
    """
    sp = _sparse(sp_a)
    return op("SparseTensorDenseMatMul")(sp.indices, sp.values, sp.dense_shape, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b, name=name)


def sparse_fill_empty_rows(sp_input: Any, default_value: Any, name: Optional[str] = None) -> Tuple[SparseTensor, Tensor]:
    """The tensor with `default_value` in the first column of each empty row, and which rows were empty.

    Args:
      sp_input: A `SparseTensor`.
      default_value: A scalar.
      name: A name for the operation.

    Returns:
      A pair: a `SparseTensor`, and a boolean vector.

    Example:
      >>> a = tf.SparseTensor([[0, 1]], [5], [2, 2])
      >>> filled, empty = tf.sparse_fill_empty_rows(a, -1)
      >>> print(*tf.Session().run([tf.sparse_tensor_to_dense(filled), empty]))
      [[ 0  5]
       [-1  0]] [False  True]
    """
    sp = _sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp]):
        default_value = convert_to_tensor(default_value, sp.values.dtype)
        indices, values, empty, _ = op("SparseFillEmptyRows")(sp.indices, sp.values, sp.dense_shape, default_value)
        return SparseTensor(indices, values, sp.dense_shape), empty


def sparse_mask(a: IndexedSlices, mask_indices: Any, name: Optional[str] = None) -> IndexedSlices:
    """The slices whose indices are not in `mask_indices`.

    Args:
      a: `IndexedSlices`.
      mask_indices: A vector of indices.
      name: A name for the operation.

    Returns:
      `IndexedSlices`.

    Example:
      >>> a = tf.IndexedSlices(tf.constant([1.0, 2.0, 3.0]), tf.constant([7, 8, 9]))
      >>> print(tf.Session().run(tf.sparse_mask(a, [8])).values)
      [1. 3.]
    """
    with name_scope(name, "sparse_mask", [a, mask_indices]) as name:
        rest, places = op("ListDiff")(a.indices, mask_indices)
        return IndexedSlices(indexing_ops.gather(a.values, places, name=name), rest, a.dense_shape)


def _extreme(op_name: str, sp_a: Any, sp_b: Any, name: Optional[str]) -> SparseTensor:
    a, b = _sparse(sp_a), _sparse(sp_b)
    with name_scope(name, op_name, [a.indices, a.values, b.indices, b.values]) as name:
        indices, values = op(op_name)(a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, name=name)
        return SparseTensor(indices, values, a.dense_shape)


def sparse_maximum(sp_a: Any, sp_b: Any, name: Optional[str] = None) -> SparseTensor:
    """The larger of two elements at each place where either tensor has one; missing ones are 0.

    Args:
      sp_a: A `SparseTensor` of numbers.
      sp_b: Another, of the same shape and dtype.
      name: A name for the operation.

    Returns:
      A `SparseTensor`.

    Example:
      >>> a, b = tf.SparseTensor([[0]], [3], [3]), tf.SparseTensor([[0], [2]], [5, -1], [3])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(tf.sparse_maximum(a, b))))
      [5 0 0]
    """
    return _extreme("SparseSparseMaximum", sp_a, sp_b, name)


def sparse_minimum(sp_a: Any, sp_b: Any, name: Optional[str] = None) -> SparseTensor:
    """The smaller of two elements at each place where either tensor has one; missing ones are 0.

    Args:
      sp_a: A `SparseTensor` of numbers.
      sp_b: Another, of the same shape and dtype.
      name: A name for the operation.

    Returns:
      A `SparseTensor`.

    Example:
      >>> a, b = tf.SparseTensor([[0]], [3], [3]), tf.SparseTensor([[0], [2]], [5, -1], [3])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(tf.sparse_minimum(a, b))))
      [ 3  0 -1]
    """
    return _extreme("SparseSparseMinimum", sp_a, sp_b, name)


def sparse_merge(sp_ids: Any, sp_values: Any, vocab_size: Any, name: Optional[str] = None, already_sorted: bool = False) -> SparseTensor:
    """`sp_values` with the ids as the last dimension (or dimensions, if there are several) in place of the position.

    Args:
      sp_ids: A `SparseTensor` of ids, or a list of them.
      sp_values: A `SparseTensor` with entries at the same places.
      vocab_size: The size of that dimension, or a list of sizes.
      name: A name for the operation.
      already_sorted: Whether the result is in order without sorting.

    Returns:
      A `SparseTensor`.

    Raises:
      ValueError: There are other numbers of sizes than of ids.

    Example:
      >>> ids, values = tf.SparseTensor([[0, 0], [0, 1]], [4, 2], [1, 2]), tf.SparseTensor([[0, 0], [0, 1]], [0.5, 1.5], [1, 2])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(tf.sparse_merge(ids, values, 5))))
      [[0.  0.  1.5 0.  0.5]]
    """
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
    axis = renamed(axis, reduction_axes, "axis", "reduction_axes")
    keep = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
    axis = math_ops.range(array_ops.rank(sp)) if axis is None else axis
    return SparseTensor(*op(op_name)(sp.indices, sp.values, sp.dense_shape, axis, keep))


def sparse_reduce_sum_sparse(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> SparseTensor:
    """The sum over axes, as a sparse tensor.

    Args:
      sp_input: A `SparseTensor`.
      axis: The axis, or a list of them; all if not given.
      keepdims: Whether these axes stay, with size 1.
      reduction_axes: What `axis` was called once.
      keep_dims: What `keepdims` was called once.

    Returns:
      A `SparseTensor`.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 5, 3], [2, 3])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(tf.sparse_reduce_sum_sparse(a, 1))))
      [6 3]
    """
    return _reduced("SparseReduceSumSparse", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_max_sparse(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> SparseTensor:
    """The largest over axes, as a sparse tensor.

    Args:
      sp_input: A `SparseTensor`.
      axis: The axis, or a list of them; all if not given.
      keepdims: Whether these axes stay, with size 1.
      reduction_axes: What `axis` was called once.
      keep_dims: What `keepdims` was called once.

    Returns:
      A `SparseTensor`.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 5, 3], [2, 3])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(tf.sparse_reduce_max_sparse(a, 1))))
      [5 3]
    """
    return _reduced("SparseReduceMaxSparse", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same entries with another shape of the same rank that holds them; without one, with the smallest.

    Args:
      sp_input: A `SparseTensor`.
      new_shape: An int64 vector.

    Returns:
      A `SparseTensor`.

    Raises:
      ValueError: A dimension is known to be too small.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 5, 3], [2, 3])
      >>> print(tf.Session().run(tf.sparse_reset_shape(a, [4, 4])).dense_shape)
      [4 4]
    """
    sp = _sparse(sp_input)
    if new_shape is None:
        largest = reduction_ops.reduce_max(sp.indices, 0)
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
    """The softmax of each row (along the last dimension) of the entries that are there.

    Args:
      sp_input: A `SparseTensor`.
      name: A name for the operation.

    Returns:
      A `SparseTensor`.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1.0, 1.0, 3.0], [2, 3])
      >>> print(tf.Session().run(tf.sparse_softmax(a)).values)
      [0.5 0.5 1. ]
    """
    with name_scope(name, "SparseSoftmax", [sp_input]):
        sp = _sparse(sp_input)
        return SparseTensor(sp.indices, op("SparseSoftmax")(sp.indices, sp.values, sp.dense_shape), sp.dense_shape)


def sparse_split(
    keyword_required: Any = None, sp_input: Any = None, num_split: Any = None, axis: Any = None, name: Optional[str] = None, split_dim: Any = None
) -> List[SparseTensor]:
    """The tensor cut into `num_split` along `axis`; the first ones are longer if it does not divide. By name only.

    Args:
      keyword_required: Not to be given.
      sp_input: A `SparseTensor`.
      num_split: How many parts.
      axis: An int.
      name: A name for the operation.
      split_dim: What `axis` was called once.

    Returns:
      A list of `SparseTensor`s.

    Raises:
      ValueError: An argument is missing, or not given by name.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 5, 3], [2, 3])
      >>> left, right = tf.sparse_split(sp_input=a, num_split=2, axis=1)
      >>> print(*tf.Session().run([left.dense_shape, right.values]))
      [2 2] [5]
    """
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    for what, value in (("sp_input", sp_input), ("num_split", num_split)):
        if value is None:
            raise ValueError("%s is required" % what)
    axis = renamed(axis, split_dim, "axis", "split_dim")
    if axis is None:
        raise ValueError("axis is required")
    sp = _sparse(sp_input)
    axis = convert_to_tensor(axis, dtypes.int64)
    parts = op("SparseSplit")(axis, sp.indices, sp.values, sp.dense_shape, num_split, name=name)
    return [SparseTensor(*part) for part in zip(*parts)]


def sparse_to_indicator(sp_input: Any, vocab_size: Any, name: Optional[str] = None) -> Tensor:
    """A dense bool tensor that says which ids below `vocab_size` each row has.

    Args:
      sp_input: A `SparseTensor` of int32 or int64.
      vocab_size: The size of the last dimension.
      name: A name for the operation.

    Returns:
      A boolean tensor of shape `[.., vocab_size]`.

    Example:
      >>> ids = tf.SparseTensor([[0, 0], [0, 1]], [2, 0], [1, 2])
      >>> print(tf.Session().run(tf.sparse_to_indicator(ids, 4)))
      [[ True False  True False]]
    """
    sp = _sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp]) as name:
        true = SparseTensor(sp.indices, array_ops.fill(array_ops.expand_dims(array_ops.shape(sp.indices)[0], 0), True), sp.dense_shape)
        return sparse_tensor_to_dense(sparse_merge(sp, true, vocab_size), default_value=False, validate_indices=False, name=name)


def serialize_sparse(sp_input: Any, name: Optional[str] = None, out_type: Any = dtypes.string) -> Tensor:
    """Three strings (or variants) that hold the tensor.

    Args:
      sp_input: A `SparseTensor`.
      name: A name for the operation.
      out_type: `tf.string` or `tf.variant`.

    Returns:
      A vector of three.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 5, 3], [2, 3])
      >>> print(tf.Session().run(tf.serialize_sparse(a)).shape)
      (3,)
    """
    sp = _sparse(sp_input)
    return op("SerializeSparse")(sp.indices, sp.values, sp.dense_shape, out_type=out_type, name=name)


def serialize_many_sparse(sp_input: Any, name: Optional[str] = None, out_type: Any = dtypes.string) -> Tensor:
    """For each entry of the first dimension, three strings (or variants) that hold it.

    Args:
      sp_input: A `SparseTensor`.
      name: A name for the operation.
      out_type: `tf.string` or `tf.variant`.

    Returns:
      A matrix with three columns.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 5, 3], [2, 3])
      >>> print(tf.Session().run(tf.serialize_many_sparse(a)).shape)
      (2, 3)
    """
    sp = _sparse(sp_input)
    return op("SerializeManySparse")(sp.indices, sp.values, sp.dense_shape, out_type=out_type, name=name)


def deserialize_many_sparse(serialized_sparse: Any, dtype: Any, rank: Optional[int] = None, name: Optional[str] = None) -> SparseTensor:
    """What `serialize_many_sparse` made, together again, or put together of several.

    Args:
      serialized_sparse: A matrix with three columns.
      dtype: The dtype of the entries.
      rank: The rank, if it is known.
      name: A name for the operation.

    Returns:
      A `SparseTensor`.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 5, 3], [2, 3])
      >>> b = tf.deserialize_many_sparse(tf.serialize_many_sparse(a), tf.int32, rank=2)
      >>> print(tf.Session().run(b).values)
      [1 5 3]
    """
    indices, values, shape = op("DeserializeManySparse")(serialized_sparse, dtype, name=name)
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


_SEGMENTS = """{said}

Args:
  data: A tensor of numbers, of rank 1 or more.
  indices: An int32 or int64 vector: which rows.
  segment_ids: An int32 vector of the same length, sorted: the segment of each.
  name: A name for the operation.
  num_segments: How many segments there are; those without rows are zeros.

Returns:
  A tensor of the same dtype, with a row for each segment.

Example:
  >>> print(tf.Session().run(tf.{name}([1.0, 2.0, 5.0], [0, 1, 2], [0, 0, 1])).round(4))
  {value}
"""


def _segments(what: str, called: str, said: str) -> Any:
    def function(data: Any, indices: Any, segment_ids: Any, name: Optional[str] = None, num_segments: Any = None) -> Tensor:
        if num_segments is None:
            return op("SparseSegment" + what)(data, indices, segment_ids, name=name)
        with name_scope(name, "SparseSegment%sWithNumSegments" % what, [data, indices, segment_ids]) as name:
            rows = indexing_ops.gather(data, indices)
            sums = op("UnsortedSegmentSum")(rows, segment_ids, num_segments, name=name if what == "Sum" else None)
            if what == "Sum":
                return sums
            return op("RealDiv")(sums, _counts(rows, segment_ids, num_segments, what), name=name)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _SEGMENTS.format(said=said, name=called, value={"Sum": "[3. 5.]", "Mean": "[1.5 5. ]"}.get(what, "[2.1213 5.    ]"))
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
    """The means of the rows of each segment, in any order; zeros where there are none.

    Args:
      data: A tensor of floats.
      segment_ids: An int32 or int64 tensor, whose shape begins that of `data`.
      num_segments: How many segments there are.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype, with a row for each segment.

    Example:
      >>> print(tf.Session().run(tf.unsorted_segment_mean([2.0, 8.0, 4.0, 2.0, 2.0], [0, 1, 0, 0, 0], 3)))
      [2.5 8.  0. ]
    """
    return _unsorted("Mean", data, segment_ids, num_segments, name)


def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: Optional[str] = None) -> Tensor:
    """The sums of the rows of each segment over the root of their number, in any order; zeros where there are none.

    Args:
      data: A tensor of floats.
      segment_ids: An int32 or int64 tensor, whose shape begins that of `data`.
      num_segments: How many segments there are.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype, with a row for each segment.

    Example:
      >>> print(tf.Session().run(tf.unsorted_segment_sqrt_n([2.0, 8.0, 4.0, 2.0, 2.0], [0, 1, 0, 0, 0], 3)))
      [5. 8. 0.]
    """
    return _unsorted("SqrtN", data, segment_ids, num_segments, name)


def _unsorted(what: str, data: Any, segment_ids: Any, num_segments: Any, name: Optional[str]) -> Tensor:
    with name_scope(name, "UnsortedSegment" + what, [data, segment_ids]) as name:
        data = convert_to_tensor(data)
        sums = op("UnsortedSegmentSum")(data, segment_ids, num_segments)
        return op("RealDiv")(sums, _counts(data, segment_ids, num_segments, what), name=name)


def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True, name: Any = "edit_distance") -> Tensor:
    """How many insertions, deletions and replacements make each sequence of `hypothesis` that of `truth`.

    Args:
      hypothesis: A `SparseTensor`; its last dimension is that of the sequences.
      truth: A `SparseTensor` of the same rank and dtype.
      normalize: Whether that is over the length of `truth`.
      name: A name for the operation.

    Returns:
      A tensor of float32, without the last dimension.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 1]], ["a", "b"], [1, 2])
      >>> b = tf.SparseTensor([[0, 0], [0, 1]], ["a", "c"], [1, 2])
      >>> print(tf.Session().run(tf.edit_distance(a, b, normalize=False)))
      [1.]
    """
    a, b = _sparse(hypothesis), _sparse(truth)
    return op("EditDistance")(a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, normalize=normalize, name=name)


# What stands only under `tf.sparse`.


def from_dense(tensor: Any, name: Optional[str] = None) -> SparseTensor:
    """The entries that are not zero.

    Args:
      tensor: A tensor.
      name: A name for the operation.

    Returns:
      A `SparseTensor`.

    Example:
      >>> print(tf.Session().run(tf.sparse.from_dense([0, 5, 0, 6])).values)
      [5 6]
    """
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        zero = "" if tensor.dtype == dtypes.string else False if tensor.dtype == dtypes.bool else 0
        places = op("Where")(op("NotEqual")(tensor, convert_to_tensor(zero, tensor.dtype)))
        return SparseTensor(places, indexing_ops.gather_nd(tensor, places), array_ops.shape(tensor, out_type=dtypes.int64))


def expand_dims(sp_input: Any, axis: Any = None, name: Optional[str] = None) -> SparseTensor:
    """A dimension of size 1 more, before `axis`; at the end if none is given.

    Args:
      sp_input: A `SparseTensor`.
      axis: An int.
      name: A name for the operation.

    Returns:
      A `SparseTensor`.

    Raises:
      ValueError: The rank is unknown, or the axis out of range.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 5, 3], [2, 3])
      >>> print(tf.Session().run(tf.sparse.expand_dims(a, 0)).dense_shape)
      [1 2 3]
    """
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
    """The identity matrix.

    Args:
      num_rows: An int, or an integer scalar.
      num_columns: As many as rows if not given.
      dtype: The dtype.
      name: A name for the operation.

    Returns:
      A `SparseTensor`.

    Example:
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(tf.sparse.eye(2, 3))))
      [[1. 0. 0.]
       [0. 1. 0.]]
    """
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = math_ops.cast(num_rows, dtypes.int64)
        columns = rows if num_columns is None else math_ops.cast(num_columns, dtypes.int64)
        places = math_ops.range(op("Minimum")(rows, columns))
        ones = array_ops.ones(array_ops.shape(places), dtype)
        return SparseTensor(array_ops.stack([places, places], axis=1), ones, array_ops.stack([rows, columns]))
