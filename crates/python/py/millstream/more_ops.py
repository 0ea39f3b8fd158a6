"""What stands at the top of TensorFlow's names and is no family of its own: sparse tensors, strings, tables, assertions."""

from __future__ import annotations

from typing import Any, List, Optional

from millstream import array_ops, dtypes, math_ops
from millstream._engine import Operation, Tensor
from millstream._ops import op
from millstream.check_ops import assert_less, assert_non_negative
from millstream.control_flow import group, no_op
from millstream.framework import SparseTensor, constant_value, control_dependencies, convert_to_tensor, get_collection, name_scope
from millstream.graph_keys import GraphKeys

__all__ = [
    "angle",
    "argsort",
    "bincount",
    "broadcast_dynamic_shape",
    "confusion_matrix",
    "decode_raw",
    "ensure_shape",
    "get_seed",
    "get_static_value",
    "initialize_all_tables",
    "norm",
    "reduce_join",
    "regex_replace",
    "setdiff1d",
    "sort",
    "sparse_add",
    "sparse_concat",
    "sparse_reduce_max",
    "sparse_reduce_sum",
    "sparse_reorder",
    "sparse_reshape",
    "sparse_retain",
    "sparse_slice",
    "sparse_tensor_dense_matmul",
    "sparse_tensor_to_dense",
    "sparse_to_dense",
    "sparse_transpose",
    "string_split",
    "string_to_hash_bucket",
    "string_to_number",
    "substr",
    "tables_initializer",
    "tensordot",
]


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """Fills all tables of the graph."""
    initializers = get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*initializers, name=name) if initializers else no_op(name=name)


initialize_all_tables = tables_initializer


def get_seed(op_seed: Optional[int]) -> Any:
    """The two seeds that a random operation with this seed gets."""
    from millstream import random_ops

    return random_ops.get_seed(op_seed)


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as an array, if it is known without running anything. What is no tensor is known as it is."""
    return constant_value(tensor) if isinstance(tensor, Tensor) or hasattr(tensor, "_as_tensor") else tensor


def angle(input: Any, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """The argument of complex numbers."""
    with name_scope(name, "Angle", [input]) as name:
        x = convert_to_tensor(input, name="input")
        if x.dtype.is_complex:
            return op("Angle")(x, Tout=x.dtype.real_dtype, name=name)
        return array_ops.where(x < 0, array_ops.ones_like(x) * 3.141592653589793, array_ops.zeros_like(x))


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None, name: Optional[str] = None, keep_dims: Any = None) -> Tensor:  # noqa: A002
    """The norm of vectors (over one axis, or over all elements), or with two axes of matrices: `fro`, 1 (columns), `inf` (rows)."""
    import numpy as np

    keep = bool(math_ops.deprecated(keepdims, keep_dims, "keepdims", "keep_dims"))
    pair = isinstance(axis, (tuple, list, np.ndarray))
    if pair:
        axis = tuple(int(i) for i in axis)
        if len(axis) != 2 or axis[0] == axis[1]:
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError("'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got %s" % ord)
        if ord == 2:
            raise NotImplementedError("the 2-norm of matrices needs their singular values: the op Svd, which the engine lacks")
    elif ord not in ("fro", "euclidean", 1, 2, np.inf) and not (isinstance(ord, (int, float)) and 0 < ord):
        raise ValueError("'ord' must be a supported vector norm, got %s" % ord)
    with name_scope(name, "norm", [tensor]):
        x = convert_to_tensor(tensor)
        if ord in ("fro", "euclidean", 2):
            return op("Sqrt")(math_ops.reduce_sum(x * math_ops.conj(x), axis, keepdims=keep))
        size = math_ops.abs(x)
        if pair:
            # The largest sum along a column, or along a row.
            sums = math_ops.reduce_sum(size, axis[0] if ord == 1 else axis[1], keepdims=True)
            largest = math_ops.reduce_max(sums, axis[1] if ord == 1 else axis[0], keepdims=True)
            return largest if keep else array_ops.squeeze(largest, axis)
        if ord == 1:
            return math_ops.reduce_sum(size, axis, keepdims=keep)
        if ord == np.inf:
            return math_ops.reduce_max(size, axis, keepdims=keep)
        return math_ops.pow(math_ops.reduce_sum(math_ops.pow(size, ord), axis, keepdims=keep), 1.0 / ord)


def ensure_shape(x: Any, shape: Any, name: Optional[str] = None) -> Tensor:
    """`x`, checked to be of this shape when it runs."""
    from millstream.shapes import TensorShape

    return op("EnsureShape")(x, shape=TensorShape(shape), name=name)


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape that both broadcast to, as a tensor."""
    return op("BroadcastArgs")(shape_x, shape_y)


def setdiff1d(x: Any, y: Any, index_dtype: Any = dtypes.int32, name: Optional[str] = None) -> Any:
    """The elements of `x` that `y` does not have, and where they are."""
    return op("ListDiff")(x, y, out_idx=index_dtype, name=name)


def tensordot(a: Any, b: Any, axes: Any, name: Optional[str] = None) -> Tensor:
    """The product over these axes of both."""
    with name_scope(name, "Tensordot", [a, b, axes]) as name:
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        n, m = (len(t._shape_as_list()) for t in (a, b))
        if isinstance(axes, int):
            first, second = list(range(n - axes, n)), list(range(axes))
        else:
            first, second = ([x] if isinstance(x, int) else list(x) for x in axes)
        first, second = [i % n for i in first], [i % m for i in second]
        if len(first) != len(second):
            raise ValueError("Different number of contraction axes 'a' and 'b', %s != %s." % (len(first), len(second)))
        free_a, free_b = [i for i in range(n) if i not in first], [i for i in range(m) if i not in second]
        shape_a, shape_b = a.shape.as_list(), b.shape.as_list()

        def dims(t: Tensor, known: List[Any], which: List[int]) -> List[Any]:
            return [known[i] if known[i] is not None else op("Shape")(t)[i] for i in which]

        inner = dims(a, shape_a, first)
        count = 1
        for d in inner:
            count = count * d
        x = array_ops.reshape(array_ops.transpose(a, free_a + first), [-1, count])
        y = array_ops.reshape(array_ops.transpose(b, second + free_b), [count, -1])
        result = math_ops.matmul(x, y)
        return array_ops.reshape(result, dims(a, shape_a, free_a) + dims(b, shape_b, free_b), name=name)


# Sparse tensors.


def _sparse(value: Any) -> SparseTensor:
    if isinstance(value, SparseTensor):
        return value
    if hasattr(value, "indices") and hasattr(value, "dense_shape"):
        return SparseTensor.from_value(value)
    raise TypeError("Input must be a SparseTensor.")


def sparse_tensor_to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: Optional[str] = None) -> Tensor:
    """All elements, the missing ones as `default_value`."""
    sp = _sparse(sp_input)
    if default_value is None:
        default_value = "" if sp.dtype == dtypes.string else False if sp.dtype == dtypes.bool else 0
    return op("SparseToDense")(sp.indices, sp.dense_shape, sp.values, convert_to_tensor(default_value, sp.dtype), validate_indices, name=name)


def sparse_to_dense(
    sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0, validate_indices: bool = True, name: Optional[str] = None
) -> Tensor:
    """A tensor of elements at indices."""
    values = convert_to_tensor(sparse_values)
    return op("SparseToDense")(sparse_indices, output_shape, values, convert_to_tensor(default_value, values.dtype), validate_indices, name=name)


def sparse_reorder(sp_input: Any, name: Optional[str] = None) -> SparseTensor:
    """The entries in row-major order."""
    sp = _sparse(sp_input)
    indices, values = op("SparseReorder")(sp.indices, sp.values, sp.dense_shape, name=name)
    return SparseTensor(indices, values, sp.dense_shape)


def sparse_reshape(sp_input: Any, shape: Any, name: Optional[str] = None) -> SparseTensor:
    """The same entries in another shape."""
    sp = _sparse(sp_input)
    with name_scope(name, "SparseReshape", []) as name:
        indices, new = op("SparseReshape")(sp.indices, sp.dense_shape, convert_to_tensor(shape, dtypes.int64), name=name)
        return SparseTensor(indices, sp.values, new)


def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The entries for which `to_retain` holds."""
    sp = _sparse(sp_input)
    where = array_ops.reshape(op("Where")(convert_to_tensor(to_retain)), [-1])
    return SparseTensor(array_ops.gather(sp.indices, where), array_ops.gather(sp.values, where), array_ops.identity(sp.dense_shape))


def sparse_concat(
    axis: int, sp_inputs: Any, name: Optional[str] = None, expand_nonconcat_dim: bool = False, concat_dim: Any = None, expand_nonconcat_dims: Any = None
) -> SparseTensor:
    """Sparse tensors one after the other."""
    sps = [_sparse(s) for s in sp_inputs]
    if len(sps) == 1:
        return sps[0]
    shapes = [s.dense_shape for s in sps]
    if expand_nonconcat_dim or expand_nonconcat_dims:
        raise NotImplementedError("sparse_concat that widens the other dimensions is not supported yet")
    made = op("SparseConcat")([s.indices for s in sps], [s.values for s in sps], shapes, concat_dim=axis, name=name)
    return SparseTensor(*made)


def sparse_add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """The sum; sparse if both are."""
    limit = math_ops.deprecated(threshold, thresh, "threshold", "thresh") or 0
    if hasattr(a, "dense_shape") and hasattr(b, "dense_shape"):
        a, b = _sparse(a), _sparse(b)
        limit = convert_to_tensor(limit, a.values.dtype.real_dtype, "thresh")
        return SparseTensor(*op("SparseAdd")(a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, limit))
    if hasattr(b, "dense_shape"):
        a, b = b, a
    a = _sparse(a)
    return op("SparseTensorDenseAdd")(a.indices, a.values, a.dense_shape, b)


def sparse_reduce_sum(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> Tensor:
    """The sum over axes, as a dense tensor."""
    return _sparse_reduce("SparseReduceSum", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_max(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> Tensor:
    """The largest over axes, as a dense tensor."""
    return _sparse_reduce("SparseReduceMax", sp_input, axis, keepdims, reduction_axes, keep_dims)


def _sparse_reduce(op_type: str, sp_input: Any, axis: Any, keepdims: Any, reduction_axes: Any, keep_dims: Any) -> Tensor:
    sp = _sparse(sp_input)
    axis = math_ops.deprecated(axis, reduction_axes, "axis", "reduction_axes")
    keep = bool(math_ops.deprecated(keepdims, keep_dims, "keepdims", "keep_dims"))
    if axis is None:
        axis = math_ops.range(array_ops.rank(sp))
    return op(op_type)(sp.indices, sp.values, sp.dense_shape, axis, keep)


def sparse_slice(sp_input: Any, start: Any, size: Any, name: Optional[str] = None) -> SparseTensor:
    """The box that starts at `start` and has this size, as far as it lies inside."""
    sp = _sparse(sp_input)
    start, size = convert_to_tensor(start, dtypes.int64), convert_to_tensor(size, dtypes.int64)
    return SparseTensor(*op("SparseSlice")(sp.indices, sp.values, sp.dense_shape, start, size, name=name))


def sparse_transpose(sp_input: Any, perm: Any = None, name: Optional[str] = None) -> SparseTensor:
    """The dimensions in another order; without one, backwards."""
    with name_scope(name, "SparseTranspose") as scope:
        sp = _sparse(sp_input)
        if perm is None:
            perm = math_ops.range(array_ops.rank(sp) - 1, -1, -1)
        indices = array_ops.transpose(array_ops.gather(array_ops.transpose(sp.indices), perm))
        return sparse_reorder(SparseTensor(indices, sp.values, array_ops.gather(sp.dense_shape, perm)), name=scope)


def sparse_tensor_dense_matmul(sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: Optional[str] = None) -> Tensor:
    """The matrix product with a sparse tensor."""
    sp = _sparse(sp_a)
    return op("SparseTensorDenseMatMul")(sp.indices, sp.values, sp.dense_shape, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b, name=name)


# Strings.


def string_split(source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = None) -> SparseTensor:
    """The words of each string."""
    sep = math_ops.deprecated(sep, delimiter, "sep", "delimiter")
    indices, values, shape = op("StringSplit")(source, " " if sep is None else sep, skip_empty=skip_empty)
    indices.set_shape([None, 2]), values.set_shape([None]), shape.set_shape([2])
    return SparseTensor(indices, values, shape)


def string_to_number(string_tensor: Any = None, out_type: Any = dtypes.float32, name: Optional[str] = None, input: Any = None) -> Tensor:  # noqa: A002
    """The numbers that strings say."""
    return op("StringToNumber")(string_tensor if string_tensor is not None else input, out_type=out_type, name=name)


def string_to_hash_bucket(string_tensor: Any = None, num_buckets: Any = None, name: Optional[str] = None, input: Any = None) -> Tensor:  # noqa: A002
    """Strings by the number of a bucket."""
    return op("StringToHashBucket")(string_tensor if string_tensor is not None else input, num_buckets=num_buckets, name=name)


def regex_replace(source: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: Optional[str] = None, input: Any = None) -> Tensor:  # noqa: A002
    """Strings with what matches the pattern written anew; only the first match unless `replace_global`."""
    source = input if source is None else source
    if isinstance(pattern, str) and isinstance(rewrite, str):
        return op("StaticRegexReplace")(source, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name)
    return op("RegexReplace")(source, pattern, rewrite, replace_global=replace_global, name=name)


def reduce_join(
    inputs: Any, axis: Any = None, keep_dims: Any = None, separator: str = "", name: Optional[str] = None, reduction_indices: Any = None, keepdims: Any = None
) -> Tensor:
    """Strings along axes put together; all of them, if none are named."""
    keep = bool(math_ops.deprecated(keepdims, keep_dims, "keepdims", "keep_dims"))
    axis = math_ops.deprecated(axis, reduction_indices, "axis", "reduction_indices")
    inputs = convert_to_tensor(inputs)
    if axis is None:
        # All axes, the last first: so the strings come in their order.
        axis = math_ops.range(array_ops.rank(inputs) - 1, -1, -1) if inputs.shape.ndims is None else list(range(inputs.shape.ndims - 1, -1, -1))
        axis = convert_to_tensor(axis, dtypes.int32)
    return op("ReduceJoin")(inputs, axis, keep_dims=keep, separator=separator, name=name)


def substr(input: Any, pos: Any, len: Any, name: Optional[str] = None, unit: str = "BYTE") -> Tensor:  # noqa: A002
    """Parts of strings."""
    return op("Substr")(input, pos, len, unit=unit, name=name)


def decode_raw(input_bytes: Any = None, out_type: Any = None, little_endian: bool = True, name: Optional[str] = None, bytes: Any = None) -> Tensor:  # noqa: A002
    """Bytes as numbers."""
    return op("DecodeRaw")(input_bytes if input_bytes is not None else bytes, out_type=out_type, little_endian=little_endian, name=name)


# Orders and counts.


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: Optional[str] = None) -> Tensor:
    """The values along an axis, from the smallest, or with `DESCENDING` from the largest."""
    with name_scope(name, "sort"):
        return _top(values, axis, direction)[0]


def argsort(values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: Optional[str] = None) -> Tensor:
    """The places along an axis that would sort the values; equal ones stay in their order."""
    del stable
    with name_scope(name, "argsort"):
        return _top(values, axis, direction)[1]


def _top(values: Any, axis: Any, direction: str) -> Any:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError("Unknown direction: %s; it must be ASCENDING or DESCENDING" % direction)
    values = convert_to_tensor(values)
    rank = values.shape.ndims
    known = constant_value(convert_to_tensor(axis))
    if known is None or rank is None:
        raise ValueError("`axis` and the rank of the values must be known")
    axis = int(known)
    if not -rank <= axis < rank:
        raise ValueError("`axis` is %d, but the values have rank %d" % (axis, rank))
    axis %= rank
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    last = values if axis == rank - 1 else array_ops.transpose(values, order)
    # The op gives the largest first.
    turned = direction == "ASCENDING"
    found, places = op("TopKV2")(_reversed_order(last) if turned else last, array_ops.shape(last)[-1])
    found = _reversed_order(found) if turned else found
    return [v if axis == rank - 1 else array_ops.transpose(v, order) for v in (found, places)]


def _reversed_order(values: Tensor) -> Tensor:
    """The values so that the smallest is the largest; twice gives them back. The smallest integer has no negative, so those are complemented."""
    if values.dtype.is_unsigned:
        return values.dtype.max - values
    return -1 - values if values.dtype.is_integer else -values


def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any = None, dtype: Any = dtypes.int32, name: Optional[str] = None, weights: Any = None
) -> Tensor:
    """How often each label (row) was predicted as each class (column)."""
    with name_scope(name, "confusion_matrix"):
        labels = math_ops.cast(convert_to_tensor(labels), dtypes.int64)
        predictions = math_ops.cast(convert_to_tensor(predictions), dtypes.int64)
        if num_classes is None:
            num_classes = op("Maximum")(math_ops.reduce_max(labels), math_ops.reduce_max(predictions)) + 1
        n = math_ops.cast(num_classes, dtypes.int64)
        checks = [
            assert_less(labels, n, message="`labels` out of bound"),
            assert_non_negative(labels, message="`labels` contains negative values"),
            assert_less(predictions, n, message="`predictions` out of bound"),
            assert_non_negative(predictions, message="`predictions` contains negative values"),
        ]
        with control_dependencies(checks):
            places = array_ops.stack([labels, predictions], axis=1)
        ones = array_ops.ones_like(predictions, dtype) if weights is None else math_ops.cast(weights, dtype)
        return op("ScatterNd")(places, ones, array_ops.stack([n, n]))


def bincount(
    arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = dtypes.int32, name: Optional[str] = None
) -> Tensor:
    """How often each number from 0 on occurs; with weights, the sums of those."""
    with name_scope(name, "bincount"):
        arr = convert_to_tensor(arr, dtypes.int32)
        is_empty = math_ops.reduce_prod(array_ops.shape(arr)) <= 0
        size = array_ops.where(is_empty, 0, math_ops.reduce_max(arr) + 1)
        if minlength is not None:
            size = op("Maximum")(convert_to_tensor(minlength, dtypes.int32), size)
        if maxlength is not None:
            size = op("Minimum")(convert_to_tensor(maxlength, dtypes.int32), size)
        weights = convert_to_tensor([], dtype) if weights is None else convert_to_tensor(weights)
        return op("Bincount")(arr, size, weights)
