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
    """Fills all tables of the graph.

    Args:
      name: A name for the operation.

    Returns:
      An `Operation`.

    Example:
      >>> table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), default_value=-1)
      >>> value = table.lookup(tf.constant(["b", "c"]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(value))
      [ 2 -1]
    """
    initializers = get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*initializers, name=name) if initializers else no_op(name=name)


initialize_all_tables = tables_initializer


def get_seed(op_seed: Optional[int]) -> Any:
    """The two seeds that a random operation with this seed gets.

    Args:
      op_seed: The operation's own seed, or None.

    Returns:
      A pair of ints, or of None if there is neither a seed of the graph nor one of the operation.

    Example:
      >>> tf.get_seed(5), tf.get_seed(None)
      ((87654321, 5), (None, None))
    """
    from millstream import random_ops

    return random_ops.get_seed(op_seed)


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as an array, if it is known without running anything. What is no tensor is known as it is.

    Args:
      tensor: A tensor.
      partial: Accepted; what is known in part is not known.

    Returns:
      An array, or None.

    Example:
      >>> tf.get_static_value(tf.constant([1, 2]) + 1), tf.get_static_value(tf.placeholder(tf.int32)) is None
      (array([2, 3], dtype=int32), True)
    """
    return constant_value(tensor) if isinstance(tensor, Tensor) or hasattr(tensor, "_as_tensor") else tensor


def angle(input: Any, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """The argument of complex numbers.

    Args:
      input: A tensor of numbers.
      name: A name for the operation.

    Returns:
      A tensor of floats of the same shape.

    Example:
      >>> print(tf.Session().run(tf.angle(tf.constant([1j, -1.0]))).round(4))
      [1.5708 3.1416]
    """
    with name_scope(name, "Angle", [input]) as name:
        x = convert_to_tensor(input, name="input")
        if x.dtype.is_complex:
            return op("Angle")(x, Tout=x.dtype.real_dtype, name=name)
        return array_ops.where(x < 0, array_ops.ones_like(x) * 3.141592653589793, array_ops.zeros_like(x))


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None, name: Optional[str] = None, keep_dims: Any = None) -> Tensor:  # noqa: A002
    """The norm of vectors (over one axis, or over all elements), or with two axes of matrices.

    Args:
      tensor: A tensor of numbers.
      ord: For vectors `"euclidean"`, a positive number, or `np.inf`; for matrices `"fro"` (as `"euclidean"`), 1
        (columns) or `np.inf` (rows).
      axis: None for all elements, an int, or a pair of ints.
      keepdims: Whether these axes stay, with size 1.
      name: The name scope of what is made.
      keep_dims: What `keepdims` was called once.

    Returns:
      A tensor of real numbers.

    Raises:
      ValueError: Another `ord` or `axis`.
      NotImplementedError: The 2-norm of matrices, which needs their singular values.

    Example:
      >>> x = tf.constant([[3.0, 4.0], [6.0, 8.0]])
      >>> print(*tf.Session().run([tf.norm(x[0]), tf.norm(x, axis=1), tf.norm(x, 1, axis=[0, 1])]))
      5.0 [ 5. 10.] 12.0
    """
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
    from millstream.shapes import TensorShape

    return op("EnsureShape")(x, shape=TensorShape(shape), name=name)


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


def tensordot(a: Any, b: Any, axes: Any, name: Optional[str] = None) -> Tensor:
    """The product over these axes of both.

    Args:
      a: A tensor of numbers.
      b: A tensor of the same dtype.
      axes: How many last axes of `a` and first ones of `b`; or a pair of lists of axes.
      name: The name scope of what is made.

    Returns:
      A tensor: the other axes of `a`, then those of `b`.

    Raises:
      ValueError: The lists differ in length, or the sizes do not fit.

    Example:
      >>> a, b = tf.constant([[1, 2], [3, 4]]), tf.constant([[1, 10], [100, 1000]])
      >>> print(*tf.Session().run([tf.tensordot(a, b, 1), tf.tensordot(a, b, 2)]))
      [[ 201 2010]
       [ 403 4030]] 4321
    """
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
    return SparseTensor(array_ops.gather(sp.indices, where), array_ops.gather(sp.values, where), array_ops.identity(sp.dense_shape))


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
    axis = math_ops.deprecated(axis, reduction_axes, "axis", "reduction_axes")
    keep = bool(math_ops.deprecated(keepdims, keep_dims, "keepdims", "keep_dims"))
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
        indices = array_ops.transpose(array_ops.gather(array_ops.transpose(sp.indices), perm))
        return sparse_reorder(SparseTensor(indices, sp.values, array_ops.gather(sp.dense_shape, perm)), name=scope)


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


# Strings.


def string_split(source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = None) -> SparseTensor:
    """The words of each string, as a sparse matrix with a row for each string.

    Args:
      source: A vector of strings.
      sep: The separator, each of whose characters separates; a space if not given.
      skip_empty: Whether empty words are left out.
      delimiter: What `sep` was called once.

    Returns:
      A `SparseTensor` of strings, of rank 2.

    Example:
      >>> words = tf.string_split(["to be", "or"])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(words, default_value="")))
      [[b'to' b'be']
       [b'or' b'']]
    """
    sep = math_ops.deprecated(sep, delimiter, "sep", "delimiter")
    indices, values, shape = op("StringSplit")(source, " " if sep is None else sep, skip_empty=skip_empty)
    indices.set_shape([None, 2]), values.set_shape([None]), shape.set_shape([2])
    return SparseTensor(indices, values, shape)


def string_to_number(string_tensor: Any = None, out_type: Any = dtypes.float32, name: Optional[str] = None, input: Any = None) -> Tensor:  # noqa: A002
    """The numbers that strings say.

    Args:
      string_tensor: A tensor of strings.
      out_type: float32, float64, int32 or int64.
      name: A name for the operation.
      input: What `string_tensor` is called later.

    Returns:
      A tensor of `out_type` of the same shape.

    Raises:
      tf.errors.InvalidArgumentError: When run: a string says no number.

    Example:
      >>> print(tf.Session().run(tf.string_to_number(["1.5", "-2e3"])))
      [ 1.5e+00 -2.0e+03]
    """
    return op("StringToNumber")(string_tensor if string_tensor is not None else input, out_type=out_type, name=name)


def string_to_hash_bucket(string_tensor: Any = None, num_buckets: Any = None, name: Optional[str] = None, input: Any = None) -> Tensor:  # noqa: A002
    """Strings by the number of a bucket.

    Args:
      string_tensor: A tensor of strings.
      num_buckets: How many buckets there are: an int.
      name: A name for the operation.
      input: What `string_tensor` is called later.

    Returns:
      An int64 tensor of the same shape.

    Example:
      >>> a, b = tf.Session().run(tf.string_to_hash_bucket(["x", "x"], 10))
      >>> print(a == b, 0 <= a < 10)
      True True
    """
    return op("StringToHashBucket")(string_tensor if string_tensor is not None else input, num_buckets=num_buckets, name=name)


def regex_replace(source: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: Optional[str] = None, input: Any = None) -> Tensor:  # noqa: A002
    r"""Strings with what matches the pattern written anew; only the first match unless `replace_global`.

    Args:
      source: A tensor of strings.
      pattern: A regular expression, in RE2's form.
      rewrite: What stands there then; `\\1` is the first group.
      replace_global: Whether all matches are replaced.
      name: A name for the operation.
      input: What `source` is called later.

    Returns:
      A tensor of strings of the same shape.

    Example:
      >>> print(tf.Session().run(tf.regex_replace(["banana"], "an", "AN")))
      [b'bANANa']
    """
    source = input if source is None else source
    if isinstance(pattern, str) and isinstance(rewrite, str):
        return op("StaticRegexReplace")(source, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name)
    return op("RegexReplace")(source, pattern, rewrite, replace_global=replace_global, name=name)


def reduce_join(
    inputs: Any, axis: Any = None, keep_dims: Any = None, separator: str = "", name: Optional[str] = None, reduction_indices: Any = None, keepdims: Any = None
) -> Tensor:
    """Strings along axes put together; all of them, if none are named.

    Args:
      inputs: A tensor of strings.
      axis: The axis, or a list of them; all if not given.
      keep_dims: What `keepdims` was called once.
      separator: What stands between them.
      name: A name for the operation.
      reduction_indices: What `axis` was called once.
      keepdims: Whether these axes stay, with size 1.

    Returns:
      A tensor of strings, without these axes.

    Example:
      >>> print(tf.Session().run(tf.reduce_join([["a", "b"], ["c", "d"]], axis=1, separator="-")))
      [b'a-b' b'c-d']
    """
    keep = bool(math_ops.deprecated(keepdims, keep_dims, "keepdims", "keep_dims"))
    axis = math_ops.deprecated(axis, reduction_indices, "axis", "reduction_indices")
    inputs = convert_to_tensor(inputs)
    if axis is None:
        # All axes, the last first: so the strings come in their order.
        axis = math_ops.range(array_ops.rank(inputs) - 1, -1, -1) if inputs.shape.ndims is None else list(range(inputs.shape.ndims - 1, -1, -1))
        axis = convert_to_tensor(axis, dtypes.int32)
    return op("ReduceJoin")(inputs, axis, keep_dims=keep, separator=separator, name=name)


def substr(input: Any, pos: Any, len: Any, name: Optional[str] = None, unit: str = "BYTE") -> Tensor:  # noqa: A002
    """Parts of strings.

    Args:
      input: A tensor of strings.
      pos: An integer tensor: where each part begins; a negative number counts from the end.
      len: An integer tensor of the same shape: how long it is.
      name: A name for the operation.
      unit: `"BYTE"` or `"UTF8_CHAR"`: what is counted.

    Returns:
      A tensor of strings.

    Raises:
      tf.errors.InvalidArgumentError: When run: a part begins outside.

    Example:
      >>> print(tf.Session().run(tf.substr(["graph", "session"], 1, 3)))
      [b'rap' b'ess']
    """
    return op("Substr")(input, pos, len, unit=unit, name=name)


def decode_raw(input_bytes: Any = None, out_type: Any = None, little_endian: bool = True, name: Optional[str] = None, bytes: Any = None) -> Tensor:  # noqa: A002
    r"""Bytes as numbers.

    Args:
      input_bytes: A tensor of strings of one length.
      out_type: The dtype of the numbers.
      little_endian: Whether the lowest byte comes first.
      name: A name for the operation.
      bytes: What `input_bytes` was called once.

    Returns:
      A tensor of `out_type` with an axis more.

    Example:
      >>> print(tf.Session().run(tf.decode_raw(b"\x01\x00\x02\x00", tf.int16)))
      [1 2]
    """
    return op("DecodeRaw")(input_bytes if input_bytes is not None else bytes, out_type=out_type, little_endian=little_endian, name=name)


# Orders and counts.


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: Optional[str] = None) -> Tensor:
    """The values along an axis, from the smallest, or with `DESCENDING` from the largest.

    Args:
      values: A tensor of numbers.
      axis: The axis.
      direction: `"ASCENDING"` or `"DESCENDING"`.
      name: The name scope of what is made.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(*tf.Session().run([tf.sort([30, 10, 20]), tf.sort([30, 10, 20], direction="DESCENDING")]))
      [10 20 30] [30 20 10]
    """
    with name_scope(name, "sort"):
        return _top(values, axis, direction)[0]


def argsort(values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: Optional[str] = None) -> Tensor:
    """The places along an axis that would sort the values; equal ones stay in their order.

    Args:
      values: A tensor of numbers.
      axis: The axis.
      direction: `"ASCENDING"` or `"DESCENDING"`.
      stable: Accepted: it always is.
      name: The name scope of what is made.

    Returns:
      An int32 tensor of the same shape.

    Example:
      >>> print(tf.Session().run(tf.argsort([30, 10, 20])))
      [1 2 0]
    """
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
    """How often each label (row) was predicted as each class (column).

    Args:
      labels: An integer vector.
      predictions: An integer vector of the same length.
      num_classes: How many classes there are; one more than the greatest number if not given.
      dtype: The dtype of the result.
      name: The name scope of what is made.
      weights: A vector: how much each counts.

    Returns:
      A matrix of shape `[num_classes, num_classes]`.

    Example:
      >>> print(tf.Session().run(tf.confusion_matrix([0, 1, 1], [0, 1, 0])))
      [[1 0]
       [1 1]]
    """
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
    """How often each number from 0 on occurs; with weights, the sums of those.

    Args:
      arr: An int32 tensor, of 0 or more.
      weights: A tensor of the same shape.
      minlength: The least length of the result.
      maxlength: The greatest; numbers from there on are left out.
      dtype: The dtype of the result without weights.
      name: Accepted.

    Returns:
      A vector.

    Example:
      >>> print(tf.Session().run(tf.bincount([1, 3, 1])))
      [0 2 0 1]
    """
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
