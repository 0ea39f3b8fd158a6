"""Sparse tensors: construction, slicing, reduction and multiplication; sparse segment reductions."""

from __future__ import annotations

import math
import numbers
from typing import Any, List, Optional, Tuple

from millstream._engine import Tensor
from millstream.framework import (
    IndexedSlices,
    SparseTensor,
    constant_value,
    convert_to_tensor,
    dtypes,
    name_scope,
)
from millstream.framework.deprecation import renamed
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, indexing_ops, math_ops, reduction_ops
from millstream.ops.control_flow import with_dependencies

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
    """Converts a sparse tensor to a dense one.

    Args:
      sp_input: A `SparseTensor`.
      default_value: A scalar: the value of missing elements. Defaults to zero (the empty string for
        `string`).
      validate_indices: If true, checks that indices are in order and do not repeat.
      name: A name for the operation.

    Returns:
      A `Tensor` of the same shape and dtype.

    Example:
      >>> a = tf.SparseTensor([[0], [2]], [1, 2], [4])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(a, default_value=-1)))
      [ 1 -1  2 -1]
    """
    sp = _sparse(sp_input)
    if default_value is None:
        default_value = array_ops.zeros([], sp.dtype)
    return op("SparseToDense")(sp.indices, sp.dense_shape, sp.values, default_value, validate_indices, name=name)


def sparse_to_dense(
    sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0, validate_indices: bool = True, name: Optional[str] = None
) -> Tensor:
    """Returns a dense tensor with given values at given indices.

    Args:
      sparse_indices: A matrix of indices, one per row; or, for a vector, a vector of indices or a scalar.
      output_shape: A vector: the shape of the result.
      sparse_values: A vector of values, or a scalar for all indices.
      default_value: A scalar: the value of all other elements.
      validate_indices: If true, checks that indices are in order and do not repeat.
      name: A name for the operation.

    Returns:
      A `Tensor` of the dtype of `sparse_values`.

    Example:
      >>> print(tf.Session().run(tf.sparse_to_dense([1, 3], [5], 7)))
      [0 7 0 7 0]
    """
    return op("SparseToDense")(sparse_indices, output_shape, sparse_values, default_value, validate_indices, name=name)


def sparse_reorder(sp_input: Any, name: Optional[str] = None) -> SparseTensor:
    """Returns a sparse tensor with its entries in row-major order.

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
    """Returns a sparse tensor with the same entries in another shape.

    Args:
      sp_input: A `SparseTensor`.
      shape: An integer vector: the new shape. One element can be -1, and is then computed from the others.
      name: A name for the operation.

    Returns:
      A `SparseTensor`.

    Raises:
      ValueError: The shapes are known, and have different numbers of elements.

    Example:
      >>> a = tf.SparseTensor([[0, 1], [1, 0]], [1, 2], [2, 2])
      >>> print(tf.Session().run(tf.sparse_reshape(a, [4])).indices.tolist())
      [[1], [2]]
    """
    sp = _sparse(sp_input)
    shape = math_ops.cast(shape, dtypes.int64)
    with name_scope(name, "SparseReshape", [sp]) as name:
        indices, new = op("SparseReshape")(sp.indices, sp.dense_shape, shape, name=name)
        known = _reshaped(sp.get_shape(), constant_value(shape))
        return SparseTensor(indices, array_ops.identity(sp.values), new if known is None else known)


def _reshaped(old: Any, shape: Any) -> Optional[List[int]]:
    """Returns the shape that a reshape gives, or None if it is known in the run only."""
    if shape is None or not old.is_fully_defined():
        return None
    dims, n = [int(d) for d in shape], old.num_elements()
    rest = math.prod(d for d in dims if d != -1)
    if dims.count(-1) == 1 and rest and n % rest == 0:
        dims[dims.index(-1)] = n // rest
    if math.prod(dims) != n:
        raise ValueError("Cannot reshape a tensor with %d elements to shape %s (%d elements)." % (n, dims, math.prod(dims)))
    return dims


def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """Returns a sparse tensor with the entries for which `to_retain` is true.

    Args:
      sp_input: A `SparseTensor`.
      to_retain: A boolean vector with one element per entry.

    Returns:
      A `SparseTensor` of the same shape.

    Example:
      >>> a = tf.SparseTensor([[0], [2]], [1, 2], [3])
      >>> print(tf.Session().run(tf.sparse_retain(a, [False, True])).values)
      [2]
    """
    sp = _sparse(sp_input)
    to_retain = convert_to_tensor(to_retain)
    retained = to_retain.get_shape()
    if sp.values.get_shape().dims is not None:
        retained.assert_has_rank(1)
        sp.values.get_shape().dims[0].merge_with(retained.dims[0])
    where = array_ops.reshape(op("Where")(to_retain), [-1])
    return SparseTensor(indexing_ops.gather(sp.indices, where), indexing_ops.gather(sp.values, where), array_ops.identity(sp.dense_shape))


def sparse_concat(
    axis: int, sp_inputs: Any, name: Optional[str] = None, expand_nonconcat_dim: bool = False, concat_dim: Any = None, expand_nonconcat_dims: Any = None
) -> SparseTensor:
    """Concatenates sparse tensors along an axis.

    Args:
      axis: An int: the axis to concatenate along.
      sp_inputs: A list of `SparseTensor`s of one dtype and rank.
      name: A name for the operation.
      expand_nonconcat_dim: If true, the sizes along other axes may differ, and the largest is that of the
        result. If false, they must be the same.
      concat_dim: The former name of `axis`.
      expand_nonconcat_dims: The later name of `expand_nonconcat_dim`.

    Returns:
      A `SparseTensor`.

    Raises:
      ValueError: Both `axis` and `concat_dim` are given.

    Example:
      >>> a = tf.SparseTensor([[0, 1]], [5], [1, 2])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(tf.sparse_concat(0, [a, a]))))
      [[0 5]
       [0 5]]
    """
    axis = renamed(axis, concat_dim, "axis", "concat_dim")
    sps = [_sparse(s) for s in sp_inputs]
    if len(sps) == 1:
        return sps[0]
    shapes = [s.dense_shape for s in sps]
    if expand_nonconcat_dim or expand_nonconcat_dims:
        largest = reduction_ops.reduce_max(array_ops.concat([array_ops.reshape(s, [1, -1]) for s in shapes], 0), 0)
        # Only the size along `axis` is that of each part.
        after = [] if axis == -1 else [largest[axis + 1 :]]
        shapes = [array_ops.concat([largest[:axis], s[axis:] if axis == -1 else s[axis : axis + 1], *after], 0) for s in shapes]
    indices, values, shape = op("SparseConcat")([s.indices for s in sps], [s.values for s in sps], shapes, concat_dim=axis, name=name)
    sizes = [constant_value(s) for s in shapes]
    if not (expand_nonconcat_dim or expand_nonconcat_dims) and all(s is not None for s in sizes):
        whole = [int(d) for d in sizes[0]]
        whole[axis] = sum(int(s[axis]) for s in sizes)
        shape = whole
    return SparseTensor(indices, values, shape)


def sparse_add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """Returns the sum of two tensors, of which at least one is sparse.

    Args:
      a: A `SparseTensor` or a `Tensor`.
      b: A `SparseTensor` or a `Tensor` of the same shape and dtype.
      threshold: A scalar: if both are sparse, entries of the sum with a smaller magnitude are dropped.
      thresh: The former name of `threshold`.

    Returns:
      A `SparseTensor` if both are sparse, otherwise a `Tensor`.

    Raises:
      TypeError: Neither is sparse.
      ValueError: The static shapes of two sparse tensors differ.

    Example:
      >>> a = tf.SparseTensor([[0], [2]], [1, 2], [3])
      >>> print(*tf.Session().run([tf.sparse_add(a, a).values, tf.sparse_add(a, [10, 10, 10])]))
      [2 4] [11 10 12]
    """
    limit = renamed(threshold, thresh, "threshold", "thresh") or 0
    if not hasattr(a, "dense_shape") and not hasattr(b, "dense_shape"):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if hasattr(a, "dense_shape") and hasattr(b, "dense_shape"):
        a, b = _sparse(a), _sparse(b)
        a.get_shape().assert_is_compatible_with(b.get_shape())
        limit = convert_to_tensor(limit, a.values.dtype.real_dtype, "thresh")
        indices, values, shape = op("SparseAdd")(a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, limit)
        static = array_ops.broadcast_static_shape(a.shape, b.shape)
        return SparseTensor(indices, values, static.as_list() if static.is_fully_defined() else shape)
    if hasattr(b, "dense_shape"):
        a, b = b, a
    a = _sparse(a)
    return op("SparseTensorDenseAdd")(a.indices, a.values, a.dense_shape, b)


def sparse_reduce_sum(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> Tensor:
    """Returns the sum over axes as a dense tensor.

    Args:
      sp_input: A `SparseTensor`.
      axis: An int, or a list of ints: the axes to reduce. Defaults to all.
      keepdims: If true, reduced axes stay, with length 1.
      reduction_axes: The former name of `axis`.
      keep_dims: The former name of `keepdims`.

    Returns:
      A `Tensor` of the same dtype.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 5, 3], [2, 3])
      >>> print(*tf.Session().run([tf.sparse_reduce_sum(a, 1), tf.sparse_reduce_sum(a)]))
      [6 3] 9
    """
    return _sparse_reduce("SparseReduceSum", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_max(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> Tensor:
    """Returns the maximum over axes as a dense tensor.

    Args:
      sp_input: A `SparseTensor`; missing elements are ignored.
      axis: An int, or a list of ints: the axes to reduce. Defaults to all.
      keepdims: If true, reduced axes stay, with length 1.
      reduction_axes: The former name of `axis`.
      keep_dims: The former name of `keepdims`.

    Returns:
      A `Tensor` of the same dtype.

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
    """Returns the part of a sparse tensor that starts at `start` and has shape `size`, clipped to the tensor.

    Args:
      sp_input: A `SparseTensor`.
      start: An `int64` vector: the first index of the slice.
      size: An `int64` vector: the shape of the slice.
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
    """Permutes the dimensions of a sparse tensor.

    Args:
      sp_input: A `SparseTensor`.
      perm: A vector of axes. Defaults to the reversed order.
      name: The name scope of the new operations.

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
        perm = convert_to_tensor(perm)
        if perm.get_shape().ndims == 1 and sp.dense_shape.get_shape().ndims == 1:
            perm.get_shape().dims[0].merge_with(sp.dense_shape.get_shape().dims[0])
        indices = array_ops.transpose(indexing_ops.gather(array_ops.transpose(sp.indices), perm))
        return sparse_reorder(SparseTensor(indices, sp.values, indexing_ops.gather(sp.dense_shape, perm)), name=scope)


def sparse_tensor_dense_matmul(sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: Optional[str] = None) -> Tensor:
    """Returns the matrix product of a sparse and a dense matrix.

    Args:
      sp_a: A `SparseTensor` of rank 2.
      b: A matrix of the same dtype.
      adjoint_a: If true, `sp_a` is transposed and conjugated first.
      adjoint_b: If true, `b` is transposed and conjugated first.
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
    with name_scope(name, "SparseTensorDenseMatMul", [sp.indices, sp.values, b]):
        b = convert_to_tensor(b, name="b")
        return op("SparseTensorDenseMatMul")(sp.indices, sp.values, sp.dense_shape, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)


def sparse_fill_empty_rows(sp_input: Any, default_value: Any, name: Optional[str] = None) -> Tuple[SparseTensor, Tensor]:
    """Fills the first column of empty rows with a default value.

    Args:
      sp_input: A `SparseTensor`.
      default_value: A scalar: the value to fill in.
      name: A name for the operation.

    Returns:
      A pair: the filled `SparseTensor`, and a boolean vector that is true for rows that were empty.

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
    """Returns the slices whose indices are not in `mask_indices`.

    Args:
      a: `IndexedSlices`.
      mask_indices: A vector of indices to remove.
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
    """Returns the elementwise maximum of two sparse tensors; missing elements are 0.

    Args:
      sp_a: A `SparseTensor` of numbers.
      sp_b: A `SparseTensor` of the same shape and dtype.
      name: A name for the operation.

    Returns:
      A `SparseTensor` with an entry where either argument has one.

    Example:
      >>> a, b = tf.SparseTensor([[0]], [3], [3]), tf.SparseTensor([[0], [2]], [5, -1], [3])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(tf.sparse_maximum(a, b))))
      [5 0 0]
    """
    return _extreme("SparseSparseMaximum", sp_a, sp_b, name)


def sparse_minimum(sp_a: Any, sp_b: Any, name: Optional[str] = None) -> SparseTensor:
    """Returns the elementwise minimum of two sparse tensors; missing elements are 0.

    Args:
      sp_a: A `SparseTensor` of numbers.
      sp_b: A `SparseTensor` of the same shape and dtype.
      name: A name for the operation.

    Returns:
      A `SparseTensor` with an entry where either argument has one.

    Example:
      >>> a, b = tf.SparseTensor([[0]], [3], [3]), tf.SparseTensor([[0], [2]], [5, -1], [3])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(tf.sparse_minimum(a, b))))
      [ 3  0 -1]
    """
    return _extreme("SparseSparseMinimum", sp_a, sp_b, name)


def sparse_merge(sp_ids: Any, sp_values: Any, vocab_size: Any, name: Optional[str] = None, already_sorted: bool = False) -> SparseTensor:
    """Combines ids and values into a sparse tensor whose last dimension is indexed by id.

    With a list of ids, each of them adds a dimension.

    Args:
      sp_ids: A `SparseTensor` of ids, or a list of them.
      sp_values: A `SparseTensor` of values with the same indices.
      vocab_size: An int: the size of the new dimension; or a list of ints.
      name: A name for the operation.
      already_sorted: If true, the result is not sorted.

    Returns:
      A `SparseTensor`.

    Raises:
      TypeError: A size is not an int or a tensor, or not in a list as `sp_ids` is.
      ValueError: `sp_ids` and `vocab_size` differ in length.

    Example:
      >>> ids = tf.SparseTensor([[0, 0], [0, 1]], [4, 2], [1, 2])
      >>> values = tf.SparseTensor([[0, 0], [0, 1]], [0.5, 1.5], [1, 2])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(tf.sparse_merge(ids, values, 5))))
      [[0.  0.  1.5 0.  0.5]]
    """
    several = isinstance(sp_ids, (list, tuple))

    def is_size(size: Any) -> bool:
        return isinstance(size, (Tensor, numbers.Integral)) and not isinstance(size, bool)

    if several and not (isinstance(vocab_size, (list, tuple)) and all(is_size(size) for size in vocab_size)):
        raise TypeError("vocab_size has to be a list of Tensors or Python ints. Found %s" % type(vocab_size))
    if not several and not is_size(vocab_size):
        raise TypeError("vocab_size has to be a Tensor or Python int. Found %s" % type(vocab_size))
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
    """Returns the sum over axes as a sparse tensor.

    Args:
      sp_input: A `SparseTensor`.
      axis: An int, or a list of ints: the axes to reduce. Defaults to all.
      keepdims: If true, reduced axes stay, with length 1.
      reduction_axes: The former name of `axis`.
      keep_dims: The former name of `keepdims`.

    Returns:
      A `SparseTensor`.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 5, 3], [2, 3])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(tf.sparse_reduce_sum_sparse(a, 1))))
      [6 3]
    """
    return _reduced("SparseReduceSumSparse", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_max_sparse(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> SparseTensor:
    """Returns the maximum over axes as a sparse tensor.

    Args:
      sp_input: A `SparseTensor`.
      axis: An int, or a list of ints: the axes to reduce. Defaults to all.
      keepdims: If true, reduced axes stay, with length 1.
      reduction_axes: The former name of `axis`.
      keep_dims: The former name of `keepdims`.

    Returns:
      A `SparseTensor`.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 5, 3], [2, 3])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(tf.sparse_reduce_max_sparse(a, 1))))
      [5 3]
    """
    return _reduced("SparseReduceMaxSparse", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """Returns a sparse tensor with the same entries and another dense shape of the same rank.

    Args:
      sp_input: A `SparseTensor`.
      new_shape: An `int64` vector: the new shape. Defaults to the smallest shape that contains all entries.

    Returns:
      A `SparseTensor`.

    Raises:
      ValueError: A dimension of `new_shape` is statically known to be too small.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 5, 3], [2, 3])
      >>> print(tf.Session().run(tf.sparse_reset_shape(a, [4, 4])).dense_shape)
      [4 4]
    """
    sp = _sparse(sp_input)
    sp = SparseTensor(array_ops.identity(sp.indices), array_ops.identity(sp.values), array_ops.identity(sp.dense_shape))
    if new_shape is None:
        largest = reduction_ops.reduce_max(sp.indices, 0)
        return SparseTensor(sp.indices, sp.values, op("Maximum")(convert_to_tensor(0, dtypes.int64), op("Add")(largest, array_ops.ones_like(largest))))
    new_shape = math_ops.cast(convert_to_tensor(new_shape), dtypes.int64)
    if new_shape.get_shape().ndims == 1 and sp.dense_shape.get_shape().ndims == 1:
        new_shape.get_shape().dims[0].merge_with(sp.dense_shape.get_shape().dims[0])
    known, old = constant_value(new_shape), constant_value(sp.dense_shape)
    if known is not None and old is not None:
        if (known < old).any():
            raise ValueError("Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape (%s), sp_input.shape (%s)." % (old, known))
        return SparseTensor(sp.indices, sp.values, new_shape)
    checks = [
        check_ops.assert_equal(array_ops.shape(sp.dense_shape, out_type=dtypes.int64), array_ops.shape(new_shape, out_type=dtypes.int64)),
        check_ops.assert_less_equal(sp.dense_shape, new_shape),
    ]
    return SparseTensor(sp.indices, sp.values, with_dependencies(checks, new_shape))


def sparse_softmax(sp_input: Any, name: Optional[str] = None) -> SparseTensor:
    """Applies softmax along the last dimension, to the existing entries only.

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
    """Splits a sparse tensor into `num_split` parts along an axis. All arguments are keyword-only.

    The first parts are larger if the dimension is not divisible by `num_split`.

    Args:
      keyword_required: Must not be passed.
      sp_input: A `SparseTensor`.
      num_split: An int: the number of parts.
      axis: An int: the axis to split.
      name: A name for the operation.
      split_dim: The former name of `axis`.

    Returns:
      A list of `SparseTensor`s.

    Raises:
      ValueError: An argument is missing or positional.

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
    """Returns a dense boolean tensor that is true at the ids of each row.

    Args:
      sp_input: A `SparseTensor` of `int32` or `int64` ids.
      vocab_size: An int: the size of the last dimension; ids are below it.
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
    """Serializes a sparse tensor into three strings (or variants).

    Args:
      sp_input: A `SparseTensor`.
      name: A name for the operation.
      out_type: `tf.string` or `tf.variant`.

    Returns:
      A vector of length 3.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 5, 3], [2, 3])
      >>> print(tf.Session().run(tf.serialize_sparse(a)).shape)
      (3,)
    """
    sp = _sparse(sp_input)
    return op("SerializeSparse")(sp.indices, sp.values, sp.dense_shape, out_type=out_type, name=name)


def serialize_many_sparse(sp_input: Any, name: Optional[str] = None, out_type: Any = dtypes.string) -> Tensor:
    """Serializes each entry of the first dimension of a sparse tensor into three strings (or variants).

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
    """Deserializes and concatenates the results of `serialize_many_sparse`.

    Args:
      serialized_sparse: A matrix with three columns.
      dtype: The `DType` of the entries.
      rank: An int: the rank of the result, if known.
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
  indices: An `int32` or `int64` vector: the rows of `data` to reduce.
  segment_ids: A sorted `int32` vector of the same length: the segment of each row.
  name: A name for the operation.
  num_segments: An int: the number of segments. Segments without rows are zeros.

Returns:
  A tensor of the same dtype, with one row per segment.

Example:
  >>> print(tf.Session().run(tf.{name}([1.0, 2.0, 5.0], [0, 1, 2], [0, 0, 1])).round(4))
  {value}
"""


def _segments(what: str, called: str, said: str) -> Any:
    def function(data: Any, indices: Any, segment_ids: Any, name: Optional[str] = None, num_segments: Any = None) -> Tensor:
        if num_segments is None:
            return op("SparseSegment" + what)(data, indices, segment_ids, name=name)
        return op("SparseSegment%sWithNumSegments" % what)(data, indices, segment_ids, num_segments, name=name)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _SEGMENTS.format(said=said, name=called, value={"Sum": "[3. 5.]", "Mean": "[1.5 5. ]"}.get(what, "[2.1213 5.    ]"))
    return function


def _counts(rows: Tensor, segment_ids: Any, num_segments: Any, what: str) -> Tensor:
    """Returns the divisor of each segment's sum: its number of rows (the root of it for `SqrtN`), at least 1.
    """
    segment_ids = convert_to_tensor(segment_ids)
    ones = array_ops.ones(array_ops.shape(segment_ids), rows.dtype)
    counts = op("Maximum")(op("UnsortedSegmentSum")(ones, segment_ids, num_segments), convert_to_tensor(1, rows.dtype))
    counts = op("Sqrt")(counts) if what == "SqrtN" else counts
    trailing = array_ops.rank(rows) - array_ops.rank(segment_ids)
    return array_ops.reshape(counts, array_ops.concat([array_ops.shape(counts), array_ops.fill(array_ops.reshape(trailing, [1]), 1)], 0))


sparse_segment_sum = _segments("Sum", "sparse_segment_sum", "Returns the sum of the rows of each segment.")
sparse_segment_mean = _segments("Mean", "sparse_segment_mean", "Returns the mean of the rows of each segment.")
sparse_segment_sqrt_n = _segments("SqrtN", "sparse_segment_sqrt_n", "Returns the sum of the rows of each segment divided by the square root of their number.")


def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: Optional[str] = None) -> Tensor:
    """Returns the mean of the rows of each segment, in any order; zeros for segments without rows.

    Args:
      data: A tensor of floats.
      segment_ids: An `int32` or `int64` tensor whose shape is a prefix of that of `data`: the segment of each
        row.
      num_segments: An int: the number of segments.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype, with one row per segment.

    Example:
      >>> print(tf.Session().run(tf.unsorted_segment_mean([2.0, 8.0, 4.0, 2.0, 2.0], [0, 1, 0, 0, 0], 3)))
      [2.5 8.  0. ]
    """
    return _unsorted("Mean", data, segment_ids, num_segments, name)


def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: Optional[str] = None) -> Tensor:
    """Returns the sum of the rows of each segment divided by the square root of their number, in any order.

    Segments without rows are zeros.

    Args:
      data: A tensor of floats.
      segment_ids: An `int32` or `int64` tensor whose shape is a prefix of that of `data`: the segment of each
        row.
      num_segments: An int: the number of segments.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype, with one row per segment.

    Example:
      >>> print(tf.Session().run(tf.unsorted_segment_sqrt_n([2.0, 8.0, 4.0, 2.0, 2.0], [0, 1, 0, 0, 0], 3)))
      [5. 8. 0.]
    """
    return _unsorted("SqrtN", data, segment_ids, num_segments, name)


def _unsorted(what: str, data: Any, segment_ids: Any, num_segments: Any, name: Optional[str]) -> Tensor:
    with name_scope(name, "UnsortedSegment" + what, [data, segment_ids]) as name:
        data = convert_to_tensor(data)
        sums = op("UnsortedSegmentSum")(data, segment_ids, num_segments)
        return math_ops.truediv(sums, _counts(data, segment_ids, num_segments, what), name=name)


def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True, name: Any = "edit_distance") -> Tensor:
    """Returns the Levenshtein distances between two batches of sequences.

    Args:
      hypothesis: A `SparseTensor`; its last dimension runs along the sequences.
      truth: A `SparseTensor` of the same rank and dtype.
      normalize: If true, distances are divided by the length of `truth`.
      name: A name for the operation.

    Returns:
      A `float32` tensor without the last dimension.

    Example:
      >>> a = tf.SparseTensor([[0, 0], [0, 1]], ["a", "b"], [1, 2])
      >>> b = tf.SparseTensor([[0, 0], [0, 1]], ["a", "c"], [1, 2])
      >>> print(tf.Session().run(tf.edit_distance(a, b, normalize=False)))
      [1.]
    """
    a, b = _sparse(hypothesis), _sparse(truth)
    return op("EditDistance")(a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, normalize=normalize, name=name)


# Functions that exist only in `tf.sparse`.


def from_dense(tensor: Any, name: Optional[str] = None) -> SparseTensor:
    """Converts a dense tensor to a sparse tensor of its nonzero elements.

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
    """Inserts a dimension of size 1 into the shape of a sparse tensor.

    Args:
      sp_input: A `SparseTensor`.
      axis: An int: the position of the new dimension. Defaults to the end.
      name: A name for the operation.

    Returns:
      A `SparseTensor`.

    Raises:
      ValueError: The rank is unknown, or `axis` is out of range.

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
    """Returns a sparse identity matrix.

    Args:
      num_rows: An int, or an integer scalar: the number of rows.
      num_columns: An int, or an integer scalar: the number of columns. Defaults to `num_rows`.
      dtype: The `DType` of the entries.
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


def cross(inputs: Any, name: Optional[str] = None) -> SparseTensor:
    """Crosses the features of several matrices, row by row.

    Args:
      inputs: A list of matrices, `Tensor` or `SparseTensor`, of strings or integers, with as many rows each.
      name: A name for the operation.

    Returns:
      A `SparseTensor` of strings. Its row `i` has a value for each way to take one feature from row `i` of
      every input: the features, joined by `_X_`. Sparse inputs come first.

    Raises:
      TypeError: If `inputs` is not a list of matrices.

    Example:
      >>> tf.Session().run(tf.sparse.cross([tf.constant([["a"]]), tf.constant([[1, 2]])])).values
      array([b'a_X_1', b'a_X_2'], dtype=object)
    """
    return _crossed(inputs, False, 0, None, name)


def cross_hashed(inputs: Any, num_buckets: int = 0, hash_key: Optional[int] = None, name: Optional[str] = None) -> SparseTensor:
    """Crosses the features of several matrices, row by row, as hashes.

    Args:
      inputs: A list of matrices, `Tensor` or `SparseTensor`, of strings or integers, with as many rows each.
      num_buckets: Hashes are taken modulo this number, unless it is 0.
      hash_key: Where hashes begin. TensorFlow's is the default.
      name: A name for the operation.

    Returns:
      A `SparseTensor` of `int64`, as that of `tf.sparse.cross` with a hash for each text.

    Raises:
      TypeError: If `inputs` is not a list of matrices.

    Example:
      >>> features = [tf.constant([["x"], ["yy"]]), tf.constant([[1], [2]])]
      >>> tf.Session().run(tf.sparse.cross_hashed(features, num_buckets=100)).dense_shape
      array([2, 1])
    """
    return _crossed(inputs, True, num_buckets, hash_key, name)


def _crossed(inputs: Any, hashed: bool, num_buckets: int, hash_key: Optional[int], name: Optional[str]) -> SparseTensor:
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(i, (SparseTensor, Tensor)) for i in inputs):
        raise TypeError("All inputs must be SparseTensors")
    sparse = [i for i in inputs if isinstance(i, SparseTensor)]
    dense = [i for i in inputs if not isinstance(i, SparseTensor)]
    internal = dtypes.string if all(i.dtype == dtypes.string for i in inputs) else dtypes.int64
    wide = lambda x: x if x.dtype == dtypes.string else math_ops.cast(x, dtypes.int64)  # noqa: E731
    indices, values, shape = op("SparseCross")(
        [i.indices for i in sparse],
        [wide(i.values) for i in sparse],
        [i.dense_shape for i in sparse],
        [wide(i) for i in dense],
        hashed_output=hashed,
        num_buckets=num_buckets,
        hash_key=0xDECAFCAFFE if hash_key is None else hash_key,
        out_type=dtypes.int64 if hashed else dtypes.string,
        internal_type=internal,
        name=name,
    )
    return SparseTensor(indices, values, shape)
