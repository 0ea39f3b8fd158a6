"""Shapes, slices, joining and splitting."""

from __future__ import annotations

import builtins
import functools
from typing import TYPE_CHECKING, Any, List, Optional

import numpy as np

from millstream import _engine, dtypes, shapes
from millstream._engine import Tensor
from millstream._ops import op
from millstream.framework import SparseTensor, constant, convert_to_tensor, name_scope
from millstream.deprecation import renamed
from millstream.math_ops import cast

if TYPE_CHECKING:
    from millstream._typing import Filled

__all__ = [
    "boolean_mask",
    "broadcast_static_shape",
    "concat",
    "expand_dims",
    "eye",
    "fill",
    "gather",
    "gather_nd",
    "identity",
    "matrix_transpose",
    "meshgrid",
    "one_hot",
    "ones",
    "ones_like",
    "pad",
    "placeholder_with_default",
    "rank",
    "reshape",
    "reverse_sequence",
    "sequence_mask",
    "shape",
    "shape_n",
    "size",
    "slice",
    "split",
    "squeeze",
    "stack",
    "strided_slice",
    "transpose",
    "unique",
    "unique_with_counts",
    "unstack",
    "where",
    "zeros",
    "zeros_like",
]

def identity(input: Any, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """The value as it is, as a tensor of its own.

    Args:
      input: A tensor of any dtype, or what becomes one.
      name: A name for the operation.

    Returns:
      A tensor of the same value, shape and dtype: after what the current control dependencies say, and on the current
        device.

    Example:
      >>> v = tf.Variable(1)
      >>> with tf.control_dependencies([v.assign_add(1)]):
      ...     after = tf.identity(v)
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     print(sess.run(after))
      2
    """
    return op("Identity")(input, name=name)


def placeholder_with_default(input: Any, shape: Any, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """A tensor that may be fed, and is `input` where it is not.

    Args:
      input: A tensor, or what becomes one.
      shape: A `TensorShape` that `input` fits: what may be fed; None for anything.
      name: A name for the operation.

    Returns:
      A tensor of the dtype of `input`.

    Example:
      >>> x = tf.placeholder_with_default([1, 2], shape=[None])
      >>> sess = tf.Session()
      >>> print(sess.run(x), sess.run(x, {x: [5]}))
      [1 2] [5]
    """
    return op("PlaceholderWithDefault")(input, shape=shapes.TensorShape(shape), name=name)


def shape(input: Any, name: Optional[str] = None, out_type: Any = dtypes.int32) -> Tensor:  # noqa: A002
    """The shape, as a tensor.

    Args:
      input: A tensor of any dtype, or a `SparseTensor`.
      name: A name for the operation.
      out_type: `tf.int32` or `tf.int64`.

    Returns:
      A vector of that dtype: a constant, where the shape is known. (`input.shape` is what is known while the graph is
        built.)

    Example:
      >>> x = tf.placeholder(tf.float32, [None, 2])
      >>> print(x.shape, tf.Session().run(tf.shape(x), {x: [[1.0, 2.0]]}))
      (?, 2) [1 2]
    """
    with name_scope(name, "Shape", [input]) as name:
        if isinstance(input, SparseTensor):
            return cast(input.dense_shape, out_type)
        input = convert_to_tensor(input)
        known = input._shape_as_list()
        if known is not None and None not in known:
            return constant(np.array(known, dtypes.as_dtype(out_type).as_numpy_dtype), out_type, name=name)
        return op("Shape")(input, out_type=out_type, name=name)


def shape_n(input: Any, out_type: Any = dtypes.int32, name: Optional[str] = None) -> List[Tensor]:  # noqa: A002
    """The shapes of several tensors.

    Args:
      input: A list of tensors.
      out_type: `tf.int32` or `tf.int64`.
      name: A name for the operation.

    Returns:
      A list of vectors of that dtype.

    Example:
      >>> print(*tf.Session().run(tf.shape_n([tf.zeros([2, 3]), tf.zeros([4])])))
      [2 3] [4]
    """
    return op("ShapeN")(input, out_type=out_type, name=name)


def size(input: Any, name: Optional[str] = None, out_type: Any = dtypes.int32) -> Tensor:  # noqa: A002
    """How many elements there are, as a tensor.

    Args:
      input: A tensor of any dtype, or a `SparseTensor`.
      name: A name for the operation.
      out_type: `tf.int32` or `tf.int64`.

    Returns:
      A scalar of that dtype: a constant, where the shape is known.

    Example:
      >>> print(tf.Session().run(tf.size([[1, 2, 3], [4, 5, 6]])))
      6
    """
    with name_scope(name, "Size", [input]) as name:
        if isinstance(input, SparseTensor):
            return op("Prod")(cast(input.dense_shape, out_type), 0, name=name)
        input = convert_to_tensor(input)
        known = input._shape_as_list()
        if known is not None and None not in known:
            return constant(int(np.prod(known, dtype=np.int64)), out_type, name=name)
        return op("Size")(input, out_type=out_type, name=name)


def rank(input: Any, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """The number of dimensions, as a tensor.

    Args:
      input: A tensor of any dtype.
      name: A name for the operation.

    Returns:
      An int32 scalar: a constant, where it is known.

    Example:
      >>> x = tf.placeholder(tf.float32)
      >>> print(tf.Session().run(tf.rank(x), {x: [[1.0, 2.0]]}))
      2
    """
    with name_scope(name, "Rank", [input]) as name:
        if isinstance(input, SparseTensor):
            return op("Size")(input.dense_shape, name=name)
        input = convert_to_tensor(input)
        known = input._shape_as_list()
        return op("Rank")(input, name=name) if known is None else constant(len(known), dtypes.int32, name=name)


def _shape_tensor(shape: Any) -> Any:
    if isinstance(shape, shapes.TensorShape):
        return shape
    if isinstance(shape, (list, tuple)):
        return [d.value if isinstance(d, shapes.Dimension) else d for d in shape]
    return shape


def reshape(tensor: Any, shape: Any, name: Optional[str] = None) -> Tensor:
    """The same elements in another shape.

    Args:
      tensor: A tensor of any dtype.
      shape: An int32 or int64 vector; one -1 stands for whatever is left.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype.

    Raises:
      ValueError: The numbers of elements are known to differ.

    Example:
      >>> print(tf.Session().run(tf.reshape([1, 2, 3, 4, 5, 6], [2, -1])))
      [[1 2 3]
       [4 5 6]]
    """
    return op("Reshape")(tensor, _shape_tensor(shape), name=name)


def _index_type(dims: Any) -> dtypes.DType:
    """What holds these sizes: older NumPys would cut what int32 cannot hold."""
    return dtypes.int32 if all(d < 2**31 for d in dims) else dtypes.int64


_FILLED = """A tensor of {name}.

Args:
  shape: A list of ints, a `TensorShape`, or an int32 or int64 vector.
  dtype: A dtype of numbers, or bool; zeros also of text, which is empty then.
  name: A name for the operation.

Returns:
  A tensor of this shape and dtype.

Raises:
  TypeError: Ones of text, or a dimension that is None.

Example:
  >>> print(tf.Session().run(tf.{name}([1, 2], tf.int32)))
  {value}
"""


def _filled(value: Any, called: str) -> Filled:
    def function(shape: Any, dtype: Any = dtypes.float32, name: Optional[str] = None) -> Tensor:
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype == dtypes.string and value:
            raise TypeError("Expected string, got 1 of type 'int' instead.")
        if isinstance(shape, (list, tuple)) and any(d is None for d in shape):
            raise TypeError("Expected int32, got None of type 'NoneType' instead.")
        with name_scope(name, called, [shape]) as name:
            if dtype == dtypes.bfloat16:
                # NumPy has none: no constant is made of it.
                return op("Fill")(convert_to_tensor(shape, dtypes.int32), cast(constant(value, dtypes.float32), dtype), name=name)
            one: Any = "" if dtype == dtypes.string and not value else bool(value) if dtype == dtypes.bool else value
            if not isinstance(shape, Tensor):
                try:
                    known = shapes.TensorShape(_shape_tensor(shape) if not isinstance(shape, np.ndarray) else shape.tolist())
                    if known.is_fully_defined() and (known.num_elements() or 0) < 1000:
                        return constant(one if known.num_elements() else np.full(known.as_list(), one, dtype.as_numpy_dtype), dtype, known, name)
                    if known.is_fully_defined():
                        shape = convert_to_tensor(known.as_list(), _index_type(known.as_list()), name="shape_as_tensor")
                except (TypeError, ValueError):
                    shape = convert_to_tensor(shape, dtypes.int32)
            if not isinstance(shape, Tensor):
                shape = convert_to_tensor(shape, dtypes.int32)
            if shape._shape_as_list() == []:
                shape = reshape(shape, [-1])
            return op("Fill")(shape, constant(one, dtype), name=name)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _FILLED.format(name=called, value="[[0 0]]" if called == "zeros" else "[[1 1]]")
    return function


zeros = _filled(0, "zeros")
ones = _filled(1, "ones")


def fill(dims: Any, value: Any, name: Optional[str] = None) -> Tensor:
    """A tensor of equal elements.

    Args:
      dims: An int32 or int64 vector: the shape.
      value: A scalar.
      name: A name for the operation.

    Returns:
      A tensor of the dtype of `value`.

    Example:
      >>> print(tf.Session().run(tf.fill([2, 3], 7)))
      [[7 7 7]
       [7 7 7]]
    """
    return op("Fill")(_shape_tensor(dims), value, name=name)


def zeros_like(tensor: Any, dtype: Any = None, name: Optional[str] = None, optimize: bool = True) -> Tensor:
    """Zeros of the tensor's shape.

    Args:
      tensor: A tensor of any shape.
      dtype: Another dtype than the tensor's.
      name: A name for the operation.
      optimize: Whether a known shape makes it a constant.

    Returns:
      A tensor of that shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.zeros_like([[1.5, 2.5]])))
      [[0. 0.]]
    """
    with name_scope(name, "zeros_like", [tensor]) as name:
        tensor = convert_to_tensor(tensor, name="tensor")
        to = tensor.dtype.base_dtype if dtype is None else dtypes.as_dtype(dtype).base_dtype
        if tensor.shape.is_fully_defined() and tensor.dtype != dtypes.variant:
            return zeros(tensor.shape, to, name)
        if to != tensor.dtype.base_dtype and to != dtypes.variant:
            return zeros(shape(tensor), to, name)
        return op("ZerosLike")(tensor, name=name)


def ones_like(tensor: Any, dtype: Any = None, name: Optional[str] = None, optimize: bool = True) -> Tensor:
    """Ones of the tensor's shape.

    Args:
      tensor: A tensor of any shape.
      dtype: Another dtype than the tensor's.
      name: A name for the operation.
      optimize: Whether a known shape makes it a constant.

    Returns:
      A tensor of that shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.ones_like([[1.5, 2.5]], dtype=tf.int32)))
      [[1 1]]
    """
    with name_scope(name, "ones_like", [tensor]) as name:
        tensor = convert_to_tensor(tensor, name="tensor")
        to = tensor.dtype.base_dtype if dtype is None else dtypes.as_dtype(dtype).base_dtype
        result = ones(shape(tensor), to, name)
        result.set_shape(tensor.shape)
        return result


def squeeze(input: Any, axis: Any = None, name: Optional[str] = None, squeeze_dims: Any = None) -> Tensor:  # noqa: A002
    """Without dimensions of size 1: those named, or all.

    Args:
      input: A tensor of any dtype.
      axis: An int, or a list of them, of axes of size 1; None for all such.
      name: A name for the operation.
      squeeze_dims: What `axis` was called once.

    Returns:
      A tensor of the same elements.

    Raises:
      ValueError: A named dimension is known not to be 1.

    Example:
      >>> x = tf.zeros([1, 2, 1, 3])
      >>> print(tf.squeeze(x).shape, tf.squeeze(x, axis=[0]).shape)
      (2, 3) (2, 1, 3)
    """
    axis = renamed(axis, squeeze_dims, "axis", "squeeze_dims")
    axis = [axis] if np.isscalar(axis) and axis is not None else axis
    return op("Squeeze")(input, [] if axis is None else axis, name=name)


def expand_dims(input: Any, axis: Any = None, name: Optional[str] = None, dim: Any = None) -> Tensor:  # noqa: A002
    """With a dimension of size 1 more.

    Args:
      input: A tensor of any dtype.
      axis: An int: where it stands in the result; -1 at the end.
      name: A name for the operation.
      dim: What `axis` was called once.

    Returns:
      A tensor of the same elements and dtype, with a rank greater by 1.

    Raises:
      ValueError: There is no axis, or it is out of range.

    Example:
      >>> x = tf.zeros([2, 3])
      >>> print(tf.expand_dims(x, 0).shape, tf.expand_dims(x, -1).shape)
      (1, 2, 3) (2, 3, 1)
    """
    axis = renamed(axis, dim, "axis", "dim")
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return op("ExpandDims")(input, axis, name=name)


def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape along a new axis.

    Args:
      values: A list of tensors of one dtype and shape.
      axis: An int: where the new axis stands.
      name: A name for the operation.

    Returns:
      A tensor with a rank greater by 1; of numbers and arrays alone it is a constant.

    Raises:
      ValueError: The axis is out of range, or the shapes are known to differ.

    Example:
      >>> a, b = tf.constant([1, 2]), tf.constant([3, 4])
      >>> print(*tf.Session().run([tf.stack([a, b]), tf.stack([a, b], axis=1)]))
      [[1 2]
       [3 4]] [[1 3]
       [2 4]]
    """
    if axis == 0:
        try:
            # What is no tensor yet becomes a constant, as in TensorFlow.
            value = convert_to_tensor(values, name=name) if not any(isinstance(v, Tensor) or hasattr(v, "_as_tensor") for v in values) else None
            if value is not None:
                return value
        except (TypeError, ValueError):
            pass
    shape = convert_to_tensor(values[0])._shape_as_list() if len(values) else None
    if shape is not None and not -(len(shape) + 1) <= axis < len(shape) + 1:
        raise ValueError("axis = %d not in [%d, %d)" % (axis, -(len(shape) + 1), len(shape) + 1))
    return op("Pack")(list(values), axis=axis, name=name)


def unstack(value: Any, num: Optional[int] = None, axis: int = 0, name: str = "unstack") -> List[Tensor]:
    """The rows along an axis.

    Args:
      value: A tensor of rank 1 or more.
      num: How many rows there are, where that is not known.
      axis: An int.
      name: A name for the operation.

    Returns:
      A list of tensors with a rank less by 1.

    Raises:
      ValueError: The number of rows is unknown, or the axis out of range.

    Example:
      >>> print(*tf.Session().run(tf.unstack([[1, 2], [3, 4], [5, 6]])))
      [1 2] [3 4] [5 6]
    """
    if num is None:
        value = convert_to_tensor(value)
        shape = value._shape_as_list()
        if shape is not None:
            if not -len(shape) <= axis < len(shape):
                raise ValueError("axis = %d not in [%d, %d)" % (axis, -len(shape), len(shape)))
            num = shape[axis]
    if num is None:
        raise ValueError("Cannot infer num from shape %s" % convert_to_tensor(value).shape)
    return op("Unpack")(value, num=num, axis=axis, name=name)


def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """Tensors one after the other along an axis.

    Args:
      values: A list of tensors of one dtype and rank, whose shapes differ along `axis` only.
      axis: An int32 scalar; a negative one counts from the end.
      name: A name for the operation.

    Returns:
      A tensor of that dtype and rank.

    Raises:
      ValueError: The shapes are known not to fit.

    Example:
      >>> a, b = tf.constant([[1, 2]]), tf.constant([[3, 4], [5, 6]])
      >>> print(tf.Session().run(tf.concat([a, b], axis=0)))
      [[1 2]
       [3 4]
       [5 6]]
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name) as scope:
            convert_to_tensor(axis, name="concat_dim", dtype=dtypes.int32).shape.assert_has_rank(0)
            return identity(values[0], name=name)
    return op("ConcatV2")(list(values), axis, name=name)


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str = "split") -> List[Tensor]:
    """The parts along an axis: so many equal ones, or of these sizes.

    Args:
      value: A tensor of any dtype.
      num_or_size_splits: An int, or a vector of sizes, of which one may be -1.
      axis: An int32 scalar.
      num: How many sizes there are, where that is not known.
      name: A name for the operation.

    Returns:
      A list of tensors of the same dtype and rank.

    Raises:
      ValueError: The number of parts is unknown, or the sizes do not fit.

    Example:
      >>> x = tf.constant([1, 2, 3, 4, 5, 6])
      >>> print(*tf.Session().run(tf.split(x, 3)))
      [1 2] [3 4] [5 6]
      >>> print(*tf.Session().run(tf.split(x, [1, -1])))
      [1] [2 3 4 5 6]
    """
    sizes = num_or_size_splits
    if isinstance(sizes, (int, np.integer)) or isinstance(sizes, shapes.Dimension):
        # A constant that nothing takes, as in TensorFlow: the names of those to come count it.
        constant(int(sizes))
        return op("Split")(axis, value, num_split=int(sizes), name=name)
    sizes = convert_to_tensor(sizes)
    if sizes._shape_as_list() == []:
        raise ValueError("Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument provided: %s" % (num_or_size_splits,))
    if num is None:
        num = (sizes._shape_as_list() or [None])[0]
    if num is None:
        raise ValueError("Cannot infer num from shape %s" % num_or_size_splits)
    return op("SplitV")(value, sizes, axis, num_split=num, name=name)


def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Tensor:
    """The axes in another order.

    Args:
      a: A tensor of any dtype.
      perm: A vector: axis `i` of the result is axis `perm[i]` of `a`. Reversed if not given.
      name: A name for the operation.
      conjugate: Whether complex elements are conjugated, too.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> print(tf.Session().run(tf.transpose([[1, 2, 3], [4, 5, 6]])))
      [[1 4]
       [2 5]
       [3 6]]
      >>> print(tf.transpose(tf.zeros([2, 3, 4]), [0, 2, 1]).shape)
      (2, 4, 3)
    """
    with name_scope(name, "transpose", [a]) as name:
        a = convert_to_tensor(a, name="x")
        function = op("ConjugateTranspose") if conjugate and a.dtype.is_complex else op("Transpose")
        if perm is None:
            known = a._shape_as_list()
            if known is None:
                n = op("Rank")(a)
                return function(a, (n - 1) - op("Range")(0, n, 1), name=name)
            perm = np.arange(len(known) - 1, -1, -1, dtype=np.int32)
        return function(a, perm, name=name)


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: Optional[str] = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Tensor:
    """The slices of `params` at `indices`.

    Args:
      params: A tensor or variable of any dtype.
      indices: An int32 or int64 tensor of any shape, each from 0 up to the size of the axis.
      validate_indices: Accepted; they are always looked at.
      name: A name for the operation.
      axis: The axis to take from: an int32 scalar; by default `batch_dims`.
      batch_dims: How many first axes `params` and `indices` have in common.

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
    read = getattr(params, "sparse_read", None)
    if read is not None and isinstance(axis, int) and axis == 0 and not batch_dims:
        return read(indices, name=name)
    return op("GatherV2")(params, indices, axis, batch_dims=batch_dims, name=name) if batch_dims else op("GatherV2")(params, indices, axis, name=name)


def gather_nd(params: Any, indices: Any, name: Optional[str] = None, batch_dims: int = 0) -> Tensor:
    """The slices of `params` at rows of `indices`.

    Args:
      params: A tensor of any dtype.
      indices: An int32 or int64 tensor; each of its rows along the last axis says where in the first axes of
        `params`.
      name: A name for the operation.
      batch_dims: 0.

    Returns:
      A tensor of the dtype of `params`, of shape `indices.shape[:-1] + params.shape[indices.shape[-1]:]`.

    Raises:
      NotImplementedError: `batch_dims` is not 0.
      tf.errors.InvalidArgumentError: When run: an index is out of range.

    Example:
      >>> x = tf.constant([[1, 2], [3, 4]])
      >>> print(*tf.Session().run([tf.gather_nd(x, [[0, 0], [1, 1]]), tf.gather_nd(x, [[1]])]))
      [1 4] [[3 4]]
    """
    if batch_dims:
        raise NotImplementedError("gather_nd with batch_dims is not supported yet")
    return op("GatherNd")(params, indices, name=name)


def where(condition: Any, x: Any = None, y: Any = None, name: Optional[str] = None) -> Tensor:
    """Where `condition` holds; or, with `x` and `y`, `x` there and `y` elsewhere.

    Args:
      condition: A boolean tensor. With `x` and `y`: of their shape, or a vector with an entry for each row.
      x: A tensor.
      y: A tensor of the same dtype and shape.
      name: A name for the operation.

    Returns:
      Without `x` and `y` an int64 matrix: a row of indices for each element that holds. Else a tensor of the shape
        and dtype of `x`.

    Raises:
      ValueError: Just one of `x` and `y` is given.

    Example:
      >>> c = tf.constant([True, False, True])
      >>> print(*tf.Session().run([tf.where(c), tf.where(c, [1, 2, 3], [10, 20, 30])]))
      [[0]
       [2]] [ 1 20  3]
    """
    if x is None and y is None:
        with name_scope(name, "Where", [condition]) as name:
            return op("Where")(convert_to_tensor(condition, name="condition", dtype_hint=dtypes.bool), name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return op("Select")(condition, x, y, name=name)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: Optional[str] = None,
) -> Tensor:
    """Rows with one element that differs.

    Args:
      indices: An integer tensor of any shape: where the element is. One out of range makes a row without it.
      depth: An int32 scalar: how long a row is.
      on_value: That element (1).
      off_value: The others (0).
      axis: Where the new axis stands; the last by default.
      dtype: The dtype; that of the values, float32 without any.
      name: The name scope of what is made.

    Returns:
      A tensor with a rank greater by 1 than that of `indices`.

    Example:
      >>> print(tf.Session().run(tf.one_hot([0, 2, -1], depth=3)))
      [[1. 0. 0.]
       [0. 0. 1.]
       [0. 0. 0.]]
    """
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value, axis]) as name:
        to = None if dtype is None else dtypes.as_dtype(dtype)
        for value in (on_value, off_value):
            if value is not None and to is None:
                to = convert_to_tensor(value).dtype.base_dtype if not isinstance(value, float) else dtypes.float32
        to = to or dtypes.float32
        on = convert_to_tensor(1 if on_value is None and to != dtypes.bool else True if on_value is None else on_value, to, "on_value")
        off = convert_to_tensor(0 if off_value is None and to != dtypes.bool else False if off_value is None else off_value, to, "off_value")
        return op("OneHot")(indices, depth, on, off, axis=-1 if axis is None else axis, name=name)


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", name: Optional[str] = None, constant_values: Any = 0) -> Tensor:
    """The tensor with elements around it.

    Args:
      tensor: A tensor of any dtype.
      paddings: An int32 tensor of shape `[rank, 2]`: how many to put before and after, along each axis.
      mode: `"CONSTANT"`; `"REFLECT"`: mirrored at the first and last element; `"SYMMETRIC"`: mirrored before and
        behind them.
      name: A name for the operation.
      constant_values: What to put around with `"CONSTANT"`: a scalar.

    Returns:
      A tensor of the same dtype and rank.

    Raises:
      ValueError: Another `mode`, or `paddings` of another shape.

    Example:
      >>> x = tf.constant([1, 2, 3])
      >>> print(*tf.Session().run([tf.pad(x, [[1, 2]]), tf.pad(x, [[2, 2]], "REFLECT"), tf.pad(x, [[2, 2]], "SYMMETRIC")]))
      [0 1 2 3 0 0] [3 2 1 2 3 2 1] [2 1 1 2 3 3 2]
    """
    mode = mode.upper()
    if mode == "CONSTANT":
        if not isinstance(constant_values, Tensor) and np.isscalar(constant_values) and constant_values == 0:
            return op("Pad")(tensor, paddings, name=name)
        return op("PadV2")(tensor, paddings, constant_values, name=name)
    if mode in ("REFLECT", "SYMMETRIC"):
        return op("MirrorPad")(tensor, paddings, mode=mode, name=name)
    raise ValueError("Unknown padding mode: %s" % mode)


def slice(input_: Any, begin: Any, size: Any, name: Optional[str] = None) -> Tensor:  # noqa: A001
    """The part from `begin`, of this size. `input_[1:3]` does the same in Python's form.

    Args:
      input_: A tensor of any dtype.
      begin: An int32 or int64 vector: where the part begins along each axis.
      size: As long: how much of it; -1 for what is left.
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
    """The part from `begin` to `end` by `strides`, as Python's slices, which are written `x[a:b:c]`.

    Args:
      input_: A tensor of any dtype.
      begin: An int32 or int64 vector.
      end: As long.
      strides: As long; ones if not given.
      begin_mask: Bit `i` says that entry `i` of `begin` does not count: from the beginning.
      end_mask: Bit `i` says that entry `i` of `end` does not count: to the end.
      ellipsis_mask: Bit `i` says that entry `i` stands for all axes that are not named.
      new_axis_mask: Bit `i` says that entry `i` makes an axis of size 1.
      shrink_axis_mask: Bit `i` says that entry `i` is an index: its axis goes.
      var: The variable to change when the result's `assign` is called.
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
        strides = op("OnesLike")(convert_to_tensor(begin)) if isinstance(begin, Tensor) else [1] * len(begin)
    masks = dict(
        begin_mask=begin_mask, end_mask=end_mask, ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask, shrink_axis_mask=shrink_axis_mask
    )
    return op("StridedSlice")(input_, begin, end, strides, name=name, **masks)


newaxis = None


def _index(value: Any) -> Any:
    if isinstance(value, (int, np.integer, Tensor)) and not isinstance(value, bool):
        if isinstance(value, Tensor) and not (value.dtype.is_integer):
            raise TypeError(
                "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid indices, got %r" % (value,)
            )
        return value
    if isinstance(value, shapes.Dimension):
        return value.value
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iu":
        return int(value)
    if hasattr(value, "_as_tensor"):
        return convert_to_tensor(value)
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid indices, got %r" % (value,)
    )


def _getitem(tensor: Tensor, key: Any, var: Any = None) -> Tensor:
    """`tensor[key]`: one strided slice."""
    if isinstance(key, Tensor) and key.dtype == dtypes.bool or isinstance(key, np.ndarray) and key.dtype == bool:
        return boolean_mask(tensor, key)
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
            if masks["ellipsis_mask"]:
                raise ValueError("Multiple ellipses in slice spec not allowed")
            begin, end, strides = [*begin, 0], [*end, 0], [*strides, 1]
            masks["ellipsis_mask"] |= 1 << i
        elif k is None:
            begin, end, strides = [*begin, 0], [*end, 0], [*strides, 1]
            masks["new_axis_mask"] |= 1 << i
        else:
            k = _index(k)
            begin, end, strides = [*begin, k], [*end, k + 1], [*strides, 1]
            masks["shrink_axis_mask"] |= 1 << i
    with name_scope(None, "strided_slice", [tensor]) as name:
        if not begin:
            begin = end = strides = np.zeros([0], np.int32)  # type: ignore[assignment]
        elif any(isinstance(v, Tensor) for v in begin + end + strides):
            # All of the widest type among them: an index of 64 bits makes the others so.
            wide = any(isinstance(v, Tensor) and v.dtype.base_dtype == dtypes.int64 for v in begin + end + strides)
            kind = dtypes.int64 if wide else dtypes.int32
            begin, end, strides = (_indices(part, kind) for part in (begin, end, strides))  # type: ignore[assignment]
        else:
            begin, end, strides = (_engine.constant(v, dtypes.int32, "stack") for v in (begin, end, strides))  # type: ignore[assignment]
        taken = op("StridedSlice")(tensor, begin, end, strides, name=name, **masks)
        taken.assign = functools.partial(assign_slice, taken.op, var)
        return taken


def sliced(variable: Any, key: Any) -> Tensor:
    """`variable[key]`, to which `assign` can be said."""
    return _getitem(variable.value(), key, variable)


def assign_slice(node: Any, variable: Any, value: Any, name: Optional[str] = None) -> Any:
    """Changes the slice of the variable that the node takes."""
    if variable is None:
        raise ValueError("Sliced assignment is only supported for variables")
    _, begin, end, strides = node.inputs
    masks = {mask: node.get_attr(mask) for mask in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    return variable._assign_slice(begin, end, strides, value, node.name + "/_assign" if name is None else name, masks)


def _indices(part: List[Any], kind: Any) -> Any:
    if not any(isinstance(v, Tensor) for v in part):
        return _engine.constant(part, kind, "stack")
    return stack([_as_index(v, kind) for v in part])


def _as_index(value: Any, kind: Any) -> Any:
    return cast(value, kind) if isinstance(value, Tensor) and value.dtype.base_dtype != kind and value.dtype.is_integer else value


def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: Any = None) -> Tensor:
    """The slices for which `mask` holds.

    Args:
      tensor: A tensor of any dtype.
      mask: A boolean tensor of known rank, 1 or more; its shape is that of `tensor` from `axis` on.
      name: The name scope of what is made.
      axis: The first axis that the mask is for (0).

    Returns:
      A tensor of the dtype of `tensor`: the masked axes are one, of as many as hold.

    Raises:
      ValueError: The mask is a scalar, its rank is unknown, or its shape does not fit.

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
        leading = op("Prod")(shape(tensor)[axis : axis + n], [0])
        sizes = concat([shape(tensor)[:axis], [leading], shape(tensor)[axis + n :]], 0)
        rows = shape_tensor[axis : axis + n].num_elements()
        known = shape_tensor[:axis].concatenate([rows]).concatenate(shape_tensor[axis + n :])
        tensor = reshape(tensor, sizes)
        tensor.set_shape(known)
        return op("GatherV2")(tensor, squeeze(op("Where")(reshape(mask, [-1])), axis=[1]), axis)


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: Optional[str] = None) -> Tensor:
    """For each length a row that holds as long.

    Args:
      lengths: An integer tensor.
      maxlen: An integer scalar: how long a row is; by default as the greatest length.
      dtype: The dtype of the result.
      name: The name scope of what is made.

    Returns:
      A tensor of shape `lengths.shape + [maxlen]`.

    Example:
      >>> print(tf.Session().run(tf.sequence_mask([1, 3], 4, dtype=tf.int32)))
      [[1 0 0 0]
       [1 1 1 0]]
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            axes = np.arange(len(lengths._shape_as_list() or [0]), dtype=np.int32)
            maxlen = op("Maximum")(op("Max")(lengths, axes), convert_to_tensor(0, lengths.dtype))
        else:
            maxlen = convert_to_tensor(maxlen)
        row = op("Range")(convert_to_tensor(0, maxlen.dtype), maxlen, convert_to_tensor(1, maxlen.dtype))
        matrix = cast(op("ExpandDims")(lengths, -1), maxlen.dtype)
        result = op("Less")(row, matrix)
        return result if dtypes.as_dtype(dtype) == dtypes.bool else cast(result, dtype)


def reverse_sequence(
    input: Any,  # noqa: A002
    seq_lengths: Any,
    seq_axis: Any = None,
    batch_axis: Any = None,
    name: Optional[str] = None,
    seq_dim: Any = None,
    batch_dim: Any = None,
) -> Tensor:
    """Each row with its first `seq_lengths[i]` elements reversed.

    Args:
      input: A tensor of any dtype.
      seq_lengths: An int32 or int64 vector: a length for each row along `batch_axis`.
      seq_axis: The axis along which to reverse.
      batch_axis: The axis of the rows (0).
      name: A name for the operation.
      seq_dim: What `seq_axis` was called once.
      batch_dim: What `batch_axis` was called once.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.reverse_sequence([[1, 2, 3, 4], [5, 6, 7, 8]], [2, 3], seq_axis=1)))
      [[2 1 3 4]
       [7 6 5 8]]
    """
    seq_axis = renamed(seq_axis, seq_dim, "seq_axis", "seq_dim")
    batch_axis = renamed(batch_axis, batch_dim, "batch_axis", "batch_dim")
    return op("ReverseSequence")(input, seq_lengths, seq_dim=seq_axis, batch_dim=batch_axis or 0, name=name)


def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = dtypes.float32, name: Optional[str] = None) -> Tensor:
    """The identity matrix.

    Args:
      num_rows: An int, or an int32 scalar.
      num_columns: As many as rows if not given.
      batch_shape: A vector: so many matrices.
      dtype: The dtype.
      name: The name scope of what is made.

    Returns:
      A tensor of shape `batch_shape + [num_rows, num_columns]`.

    Example:
      >>> print(tf.Session().run(tf.eye(2, 3)))
      [[1. 0. 0.]
       [0. 1. 0.]]
    """
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        columns = num_rows if num_columns is None else num_columns
        if isinstance(num_rows, int) and isinstance(columns, int):
            matrix = constant(np.eye(num_rows, columns, dtype=dtypes.as_dtype(dtype).as_numpy_dtype))
        else:
            square = op("Diag")(ones([op("Minimum")(num_rows, columns)], dtype))
            matrix = op("Pad")(square, [[0, num_rows - shape(square)[0]], [0, columns - shape(square)[0]]])
        if batch_shape is None:
            return matrix
        return op("BroadcastTo")(matrix, concat([batch_shape, shape(matrix)], 0))


def meshgrid(*args: Any, **kwargs: Any) -> List[Tensor]:
    """Coordinates of a grid over vectors.

    Args:
      *args: Vectors of one dtype.
      indexing: `"xy"`: the first vector runs along the second axis; `"ij"`: along the first.
      name: The name scope of what is made.

    Returns:
      A list of tensors, as many as vectors, each of a rank as high.

    Raises:
      TypeError: Another keyword argument.
      ValueError: Another `indexing`.

    Example:
      >>> x, y = tf.meshgrid([1, 2, 3], [10, 20])
      >>> print(*tf.Session().run([x, y]))
      [[1 2 3]
       [1 2 3]] [[10 10 10]
       [20 20 20]]
    """
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError("'{}' is an invalid keyword argument for this function".format(next(iter(kwargs))))
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args):
        n = len(args)
        outputs = []
        for i, x in enumerate(args):
            k = 1 - i if indexing == "xy" and n > 1 and i < 2 else i
            outputs.append(reshape(x, [1] * k + [-1] + [1] * (n - k - 1)))
        total = outputs[0]
        for x in outputs[1:]:
            total = total + x
        return [op("BroadcastTo")(x, op("Shape")(total)) for x in outputs]


def unique(x: Any, out_idx: Any = dtypes.int32, name: Optional[str] = None) -> Any:
    """The elements without repetition, and where each is.

    Args:
      x: A vector of any dtype.
      out_idx: `tf.int32` or `tf.int64`: the dtype of `idx`.
      name: A name for the operation.

    Returns:
      A pair `(y, idx)`: the elements in the order in which they first come, and for each of `x` its place in `y`.

    Example:
      >>> print(*tf.Session().run(tf.unique([5, 3, 5, 5, 3])))
      [5 3] [0 1 0 0 1]
    """
    return op("Unique")(x, out_idx=out_idx, name=name)


def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: Optional[str] = None) -> Any:
    """The elements without repetition, where each is, and how often.

    Args:
      x: A vector of any dtype.
      out_idx: `tf.int32` or `tf.int64`: the dtype of `idx` and `count`.
      name: A name for the operation.

    Returns:
      A triple `(y, idx, count)`.

    Example:
      >>> print(*tf.Session().run(tf.unique_with_counts([5, 3, 5, 5, 3])))
      [5 3] [0 1 0 0 1] [3 2]
    """
    return op("UniqueWithCounts")(x, out_idx=out_idx, name=name)


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """The two innermost axes exchanged.

    Args:
      a: A tensor of rank 2 or more.
      name: A name for the operation.
      conjugate: Whether complex elements are conjugated, too.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> print(tf.linalg.transpose(tf.zeros([5, 2, 3])).shape)
      (5, 3, 2)
    """
    a = convert_to_tensor(a, name="a")
    n = len(a._shape_as_list() or [])
    return transpose(a, [*builtins.range(n - 2), n - 1, n - 2], name, conjugate)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> shapes.TensorShape:
    """The shape that both broadcast to, as far as it is known while the graph is built.

    Args:
      shape_x: A `TensorShape`, or what becomes one.
      shape_y: Another.

    Returns:
      A `TensorShape`.

    Raises:
      ValueError: They do not fit.

    Example:
      >>> tf.broadcast_static_shape([3, 1], [None, 3, 4])
      TensorShape([Dimension(None), Dimension(3), Dimension(4)])
    """
    x, y = shapes.TensorShape(shape_x), shapes.TensorShape(shape_y)
    if x.ndims is None or y.ndims is None:
        return shapes.TensorShape(None)
    a: List[Any] = x.as_list()
    b: List[Any] = y.as_list()
    n = max(len(a), len(b))
    a, b = [1] * (n - len(a)) + a, [1] * (n - len(b)) + b
    out = []
    for p, q in zip(a, b):
        if p == q or q == 1:
            out.append(p)
        elif p == 1:
            out.append(q)
        elif p is None or q is None:
            out.append(p or q)
        else:
            raise ValueError("Incompatible shapes for broadcasting: %s and %s" % (x, y))
    return shapes.TensorShape(out)


