"""Shapes, constants shaped like other tensors, joining, splitting and reordering."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, List, Optional

import numpy as np

from millstream._engine import Tensor
from millstream.framework import SparseTensor, constant, constant_value, convert_to_tensor, dtypes, name_scope, node_counts, shapes
from millstream.framework.deprecation import renamed
from millstream.framework.op_functions import op
from millstream.ops.math_ops import cast
from millstream.ops.math_ops import range as numbers_between

if TYPE_CHECKING:
    from millstream.framework.types import Filled

__all__ = [
    "broadcast_static_shape",
    "concat",
    "expand_dims",
    "eye",
    "fill",
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
    "split",
    "squeeze",
    "stack",
    "transpose",
    "unique",
    "unique_with_counts",
    "unstack",
    "where",
    "zeros",
    "zeros_like",
]

def identity(input: Any, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """Returns a tensor with the value of `input`.

    Args:
      input: A tensor of any dtype, or a value that converts to one.
      name: A name for the operation.

    Returns:
      A tensor of the same value, shape and dtype, computed after the current control dependencies and on the
        current device.

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
    """A placeholder with a default: the tensor equals `input` unless it is fed.

    Args:
      input: A tensor, or a value that converts to one.
      shape: A `TensorShape` compatible with `input`: the shape of feeds; None for any shape.
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
    """Returns the shape of a tensor as a tensor.

    Args:
      input: A tensor of any dtype, or a `SparseTensor`.
      name: A name for the operation.
      out_type: `tf.int32` or `tf.int64`.

    Returns:
      A vector of that dtype; a constant, if the static shape is fully known. (`input.shape` is the static
        shape.)

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
    """Returns the shapes of several tensors.

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
    """Returns the number of elements as a tensor.

    Args:
      input: A tensor of any dtype, or a `SparseTensor`.
      name: A name for the operation.
      out_type: `tf.int32` or `tf.int64`.

    Returns:
      A scalar of that dtype; a constant, if the static shape is fully known.

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
    """Returns the rank, the number of dimensions, as a tensor.

    Args:
      input: A tensor of any dtype, or a `SparseTensor`.
      name: A name for the operation.

    Returns:
      An `int32` scalar; a constant, if the rank is known.

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
    """Returns the elements of a tensor in another shape.

    Args:
      tensor: A tensor of any dtype.
      shape: An `int32` or `int64` vector; one dimension may be -1 and is inferred.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype.

    Raises:
      ValueError: The number of elements is known to differ.

    Example:
      >>> print(tf.Session().run(tf.reshape([1, 2, 3, 4, 5, 6], [2, -1])))
      [[1 2 3]
       [4 5 6]]
    """
    try:
        return op("Reshape")(tensor, _shape_tensor(shape), name=name)
    except TypeError as error:
        if isinstance(shape, (list, tuple)) and any(d is None for d in shape):
            error.args = ("%s\n  help: a size that follows from the others is -1; any other open size is a tensor, such as `tf.shape(x)[0]`" % error,)
        raise


def _index_type(dims: Any) -> dtypes.DType:
    """The dtype for dimensions of these sizes: older NumPys would truncate sizes over the range of int32."""
    return dtypes.int32 if all(d < 2**31 for d in dims) else dtypes.int64


_FILLED = """Returns a tensor of {name}.

Args:
  shape: A list of ints, a `TensorShape`, or an `int32` or `int64` vector.
  dtype: A numeric dtype or bool; for zeros also string, which gives empty strings.
  name: A name for the operation.

Returns:
  A tensor of this shape and dtype.

Raises:
  TypeError: Ones of strings are requested, or a dimension is None.

Example:
  >>> print(tf.Session().run(tf.{name}([1, 2], tf.int32)))
  {value}
"""


def _nodes_of_size(shape: Any) -> int:
    """Returns how many nodes TensorFlow makes to ask whether a shape, a list with tensors, is small.

    It multiplies the dimensions, constants among them, and compares the product with a constant.
    """
    dims = list(shape) if isinstance(shape, (list, tuple)) else []
    if not any(isinstance(d, Tensor) for d in dims):
        return 0
    nodes, is_tensor = 2, isinstance(dims[0], Tensor)
    for d in dims[1:]:
        if is_tensor or isinstance(d, Tensor):
            nodes += 1 if is_tensor and isinstance(d, Tensor) else 2
            is_tensor = True
    return nodes


def _filled(value: Any, called: str) -> Filled:
    def function(shape: Any, dtype: Any = dtypes.float32, name: Optional[str] = None) -> Tensor:
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype == dtypes.string and value:
            raise TypeError("Expected string, got 1 of type 'int' instead.")
        if isinstance(shape, (list, tuple)) and any(d is None for d in shape):
            raise TypeError("Expected int32, got None of type 'NoneType' instead.")
        with name_scope(name, called, [shape]) as name:
            if dtype == dtypes.bfloat16:
                # NumPy has no bfloat16, so the tensor cannot be a constant.
                return op("Fill")(convert_to_tensor(shape, dtypes.int32), cast(constant(value, dtypes.float32), dtype), name=name)
            node_counts.also(_nodes_of_size(shape))
            one: Any = "" if dtype == dtypes.string and not value else bool(value) if dtype == dtypes.bool else value
            if not isinstance(shape, Tensor):
                try:
                    known = shapes.TensorShape(_shape_tensor(shape) if not isinstance(shape, np.ndarray) else shape.tolist())
                    # For an int TensorFlow fills, although it makes constants for short lists.
                    if known.is_fully_defined() and (known.num_elements() or 0) < 1000 and not isinstance(shape, int):
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
    """Returns a tensor filled with one value.

    Args:
      dims: An `int32` or `int64` vector: the shape.
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
    """Returns zeros of the shape of a tensor.

    Args:
      tensor: A tensor of any shape.
      dtype: The dtype; by default the tensor's.
      name: A name for the operation.
      optimize: Ignored.

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
    """Returns ones of the shape of a tensor.

    Args:
      tensor: A tensor of any shape.
      dtype: The dtype; by default the tensor's.
      name: A name for the operation.
      optimize: Ignored.

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
    """Removes dimensions of size 1: the given ones, or all.

    Args:
      input: A tensor of any dtype.
      axis: An int, or a list of ints: axes of size 1; None for all of them.
      name: A name for the operation.
      squeeze_dims: The former name of `axis`.

    Returns:
      A tensor of the same elements.

    Raises:
      ValueError: A given dimension is known not to be 1.

    Example:
      >>> x = tf.zeros([1, 2, 1, 3])
      >>> print(tf.squeeze(x).shape, tf.squeeze(x, axis=[0]).shape)
      (2, 3) (2, 1, 3)
    """
    axis = renamed(axis, squeeze_dims, "axis", "squeeze_dims")
    axis = [axis] if np.isscalar(axis) and axis is not None else axis
    return op("Squeeze")(input, [] if axis is None else axis, name=name)


def expand_dims(input: Any, axis: Any = None, name: Optional[str] = None, dim: Any = None) -> Tensor:  # noqa: A002
    """Inserts a dimension of size 1.

    Args:
      input: A tensor of any dtype.
      axis: An int: the position of the new axis in the result; -1 for the end.
      name: A name for the operation.
      dim: The former name of `axis`.

    Returns:
      A tensor of the same elements and dtype, with a rank greater by 1.

    Raises:
      ValueError: No axis is given, or it is out of range.

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
    """Stacks tensors of one shape along a new axis.

    Args:
      values: A list of tensors of the same dtype and shape.
      axis: An int: the position of the new axis.
      name: A name for the operation.

    Returns:
      A tensor with a rank greater by 1; a constant, if all values are numbers and arrays.

    Raises:
      ValueError: The axis is out of range, or static shapes differ.

    Example:
      >>> a, b = tf.constant([1, 2]), tf.constant([3, 4])
      >>> print(*tf.Session().run([tf.stack([a, b]), tf.stack([a, b], axis=1)]))
      [[1 2]
       [3 4]] [[1 3]
       [2 4]]
    """
    if axis == 0:
        if isinstance(values, Tensor):
            return values
        try:
            # As in TensorFlow, values that are not tensors become one constant, and numbers among tensors
            # are named as in a list that is converted.
            if not len(values) or not all(isinstance(v, Tensor) or hasattr(v, "_as_tensor") for v in values):
                return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass
    # TensorFlow looks at the first value for any axis but 0: an empty list is an `IndexError`.
    shape = convert_to_tensor(values[0])._shape_as_list() if axis != 0 or len(values) else None
    if shape is not None and not -(len(shape) + 1) <= axis < len(shape) + 1:
        raise ValueError("axis = %d not in [%d, %d)" % (axis, -(len(shape) + 1), len(shape) + 1))
    return op("Pack")(list(values), axis=axis, name=name)


def unstack(value: Any, num: Optional[int] = None, axis: int = 0, name: str = "unstack") -> List[Tensor]:
    """Splits a tensor into its slices along an axis.

    Args:
      value: A tensor of rank 1 or more.
      num: The number of slices, if not known statically.
      axis: An int.
      name: A name for the operation.

    Returns:
      A list of tensors with a rank less by 1.

    Raises:
      ValueError: The number of slices is unknown, or the axis is out of range.

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
    pieces = op("Unpack")(value, num=num, axis=axis, name=name)
    return pieces if num else []


def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """Concatenates tensors along an axis.

    Args:
      values: A list of tensors of the same dtype and rank, with shapes that differ along `axis` only.
      axis: An `int32` scalar; a negative axis counts from the end.
      name: A name for the operation.

    Returns:
      A tensor of that dtype and rank.

    Raises:
      ValueError: Static shapes do not match.

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
    """Splits a tensor along an axis into equal parts, or into parts of given sizes.

    Args:
      value: A tensor of any dtype.
      num_or_size_splits: An int, the number of equal parts; or a vector of sizes, one of which may be -1.
      axis: An `int32` scalar.
      num: The number of sizes, if not known statically.
      name: A name for the operation.

    Returns:
      A list of tensors of the same dtype and rank.

    Raises:
      ValueError: The number of parts is unknown, or the sizes do not match.

    Example:
      >>> x = tf.constant([1, 2, 3, 4, 5, 6])
      >>> print(*tf.Session().run(tf.split(x, 3)))
      [1 2] [3 4] [5 6]
      >>> print(*tf.Session().run(tf.split(x, [1, -1])))
      [1] [2 3 4 5 6]
    """
    sizes = num_or_size_splits
    if isinstance(sizes, (int, np.integer)) or isinstance(sizes, shapes.Dimension):
        # An unused constant, as in TensorFlow: the names of later constants count it.
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
    """Permutes the axes.

    Args:
      a: A tensor of any dtype.
      perm: A vector: axis `i` of the result is axis `perm[i]` of `a`; by default the axes are reversed.
      name: A name for the operation.
      conjugate: If true, complex elements are conjugated as well.

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


def where(condition: Any, x: Any = None, y: Any = None, name: Optional[str] = None) -> Tensor:
    """Returns the indices where `condition` is true, or picks elements from `x` where it is, else from `y`.

    Args:
      condition: A boolean tensor. With `x` and `y`: of their shape, or a vector with an entry for each row.
      x: A tensor.
      y: A tensor of the same dtype and shape.
      name: A name for the operation.

    Returns:
      Without `x` and `y`, an `int64` matrix with a row of indices for each true element; otherwise a tensor
        of the shape and dtype of `x`.

    Raises:
      ValueError: Only one of `x` and `y` is given.

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


def _own_dtype(value: Any) -> Any:
    """Returns the dtype that a value alone has as a tensor, or None if only a conversion tells."""
    if hasattr(value, "dtype"):
        return dtypes.as_dtype(value.dtype).base_dtype
    for kind, own in ((bool, dtypes.bool), (int, dtypes.int32 if isinstance(value, int) and -(2**31) <= value < 2**31 else dtypes.int64), (float, dtypes.float32), (complex, dtypes.complex128), ((str, bytes), dtypes.string)):
        if isinstance(value, kind):  # type: ignore[arg-type]
            return own
    return None


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: Optional[str] = None,
) -> Tensor:
    """Returns one-hot rows: one element of each is `on_value`, the others are `off_value`.

    Args:
      indices: An integer tensor of any shape: the position of `on_value`. Rows of indices out of range lack
        it.
      depth: An `int32` scalar: the length of a row.
      on_value: A scalar; by default 1.
      off_value: A scalar; by default 0.
      axis: The position of the new axis; by default the last.
      dtype: The dtype; by default that of the values, or `float32`.
      name: The name scope of the new operations.

    Returns:
      A tensor with a rank greater by 1 than that of `indices`.

    Raises:
      TypeError: The dtypes of `on_value` and `off_value` differ.

    Example:
      >>> print(tf.Session().run(tf.one_hot([0, 2, -1], depth=3)))
      [[1. 0. 0.]
       [0. 0. 1.]
       [0. 0. 0.]]
    """
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value, axis]) as name:
        to = None if dtype is None else dtypes.as_dtype(dtype)
        for value, which in ((on_value, "on_value"), (off_value, "off_value")):
            own = None if value is None or to is None else _own_dtype(value)
            if own is not None and own != to:
                raise TypeError("dtype %s of %s does not match dtype parameter %s" % (own, which, to))
        node_counts.also(sum(value is not None and not isinstance(value, Tensor) for value in (on_value, off_value)))
        if to is None:
            # A conversion to see the dtype would make nodes that the count above has already.
            given = [_own_dtype(v) or convert_to_tensor(v).dtype.base_dtype for v in (on_value, off_value) if v is not None]
            if len(given) == 2 and given[0] != given[1]:
                raise TypeError("dtype %s of on_value does not match dtype %s of off_value" % (given[0], given[1]))
            to = given[0] if given else dtypes.float32
        on = convert_to_tensor(1 if on_value is None else on_value, to, "on_value")
        off = convert_to_tensor(0 if off_value is None else off_value, to, "off_value")
        return op("OneHot")(indices, depth, on, off, axis=-1 if axis is None else axis, name=name)


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", name: Optional[str] = None, constant_values: Any = 0) -> Tensor:
    """Pads a tensor.

    Args:
      tensor: A tensor of any dtype.
      paddings: An `int32` tensor of shape `[rank, 2]`: the number of elements to add before and after, for
        each axis.
      mode: `"CONSTANT"`; `"REFLECT"`, mirrored without repeating the edge element; or `"SYMMETRIC"`, mirrored
        with it.
      name: A name for the operation.
      constant_values: A scalar: the element added by `"CONSTANT"`.

    Returns:
      A tensor of the same dtype and rank.

    Raises:
      ValueError: `mode` is none of these, or `paddings` has the wrong shape.

    Example:
      >>> x = tf.constant([1, 2, 3])
      >>> print(*tf.Session().run([tf.pad(x, [[1, 2]]), tf.pad(x, [[2, 2]], "REFLECT"),
      ...     tf.pad(x, [[2, 2]], "SYMMETRIC")]))
      [0 1 2 3 0 0] [3 2 1 2 3 2 1] [2 1 1 2 3 3 2]
    """
    mode = mode.upper()
    if mode == "CONSTANT":
        if not isinstance(constant_values, Tensor) and np.isscalar(constant_values) and constant_values == 0:
            result = op("Pad")(tensor, paddings, name=name)
        else:
            result = op("PadV2")(tensor, paddings, constant_values, name=name)
    elif mode in ("REFLECT", "SYMMETRIC"):
        result = op("MirrorPad")(tensor, paddings, mode=mode, name=name)
    else:
        raise ValueError("Unknown padding mode: %s" % mode)
    if not result.shape.is_fully_defined():
        _set_padded_shape(result)
    return result


def _set_padded_shape(result: Tensor) -> None:
    """Sets the dimensions whose paddings are known, which the op's shape rule misses if others are not."""
    dims, known = result.op.inputs[0]._shape_as_list(), constant_value(result.op.inputs[1], partial=True)
    if dims is None or known is None:
        return
    pairs = [[None] if pair is None else list(np.atleast_1d(pair)) for pair in known]
    result.set_shape([None if dim is None or None in pair else dim + int(sum(pair)) for dim, pair in zip(dims, pairs)])


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: Optional[str] = None) -> Tensor:
    """Returns a mask for each length: true for the first `length` elements.

    Args:
      lengths: An integer tensor.
      maxlen: An integer scalar: the length of a mask; by default the greatest of `lengths`.
      dtype: The dtype of the result.
      name: The name scope of the new operations.

    Returns:
      A tensor of shape `lengths.shape + [maxlen]`.

    Raises:
      ValueError: `maxlen` is not a scalar.

    Example:
      >>> print(tf.Session().run(tf.sequence_mask([1, 3], 4, dtype=tf.int32)))
      [[1 0 0 0]
       [1 1 1 0]]
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            if lengths.shape.ndims is None:
                axes = op("Range")(constant(0), op("Rank")(lengths), constant(1))
            else:
                axes = constant(np.arange(len(lengths._shape_as_list()), dtype=np.int32))
            maxlen = op("Maximum")(op("Max")(lengths, axes), convert_to_tensor(0, lengths.dtype))
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen.shape.ndims not in (None, 0):
            raise ValueError("maxlen must be scalar for sequence_mask")
        row = op("Range")(convert_to_tensor(0, maxlen.dtype), maxlen, convert_to_tensor(1, maxlen.dtype))
        # TensorFlow casts in any case, and seeds depend on the number of nodes.
        matrix = op("Cast")(op("ExpandDims")(lengths, -1), maxlen.dtype)
        result = op("Less")(row, matrix)
        return result if dtypes.as_dtype(dtype) == dtypes.bool else op("Cast")(result, dtypes.as_dtype(dtype))


def reverse_sequence(
    input: Any,  # noqa: A002
    seq_lengths: Any,
    seq_axis: Any = None,
    batch_axis: Any = None,
    name: Optional[str] = None,
    seq_dim: Any = None,
    batch_dim: Any = None,
) -> Tensor:
    """Reverses the first `seq_lengths[i]` elements of each row `i`.

    Args:
      input: A tensor of any dtype.
      seq_lengths: An `int32` or `int64` vector: a length for each row along `batch_axis`.
      seq_axis: The axis to reverse along.
      batch_axis: The axis of the rows; by default 0.
      name: A name for the operation.
      seq_dim: The former name of `seq_axis`.
      batch_dim: The former name of `batch_axis`.

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
    """Returns the identity matrix, or a batch of them.

    Args:
      num_rows: An int, or an `int32` scalar.
      num_columns: An int, or an `int32` scalar; by default `num_rows`.
      batch_shape: A vector: the shape of the batch.
      dtype: The dtype.
      name: The name scope of the new operations.

    Returns:
      A tensor of shape `batch_shape + [num_rows, num_columns]`.

    Raises:
      TypeError: A number of rows or columns is not whole.

    Example:
      >>> print(tf.Session().run(tf.eye(2, 3)))
      [[1. 0. 0.]
       [0. 1. 0.]]
    """
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        columns = num_rows if num_columns is None else num_columns
        for size in (num_rows, columns):
            if isinstance(size, (float, np.floating)):
                raise TypeError("num_rows and num_columns must be positive integer values.")
        batch = [] if batch_shape is None else batch_shape
        in_graph = isinstance(num_rows, Tensor) or isinstance(columns, Tensor)
        least = op("Minimum")(num_rows, columns) if in_graph else min(num_rows, columns)
        in_graph = in_graph or isinstance(batch, Tensor)
        if in_graph:
            batch = convert_to_tensor(batch, dtypes.int32, name="shape")
        diagonal = ones(concat([batch, [least]], 0) if in_graph else [*batch, least], dtype)
        if num_columns is None:
            return op("MatrixDiag")(diagonal, name="diag")
        zero = zeros(concat([batch, [num_rows, columns]], 0) if in_graph else [*batch, num_rows, columns], dtype)
        return op("MatrixSetDiag")(zero, diagonal, name="set_diag")


def meshgrid(*args: Any, **kwargs: Any) -> List[Tensor]:
    """Returns coordinates of a grid over vectors.

    Args:
      *args: Vectors of the same dtype.
      indexing: `"xy"`: the first vector runs along the second axis; `"ij"`: along the first.
      name: The name scope of the new operations.

    Returns:
      A list with a tensor for each vector; the rank of each is the number of vectors.

    Raises:
      TypeError: A keyword argument is unknown.
      ValueError: `indexing` is neither `"xy"` nor `"ij"`.

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
    """Returns the distinct elements, and the index of each element among them.

    Args:
      x: A vector of any dtype.
      out_idx: `tf.int32` or `tf.int64`: the dtype of `idx`.
      name: A name for the operation.

    Returns:
      A pair `(y, idx)`: the elements in order of first occurrence, and for each element of `x` its index in
        `y`.

    Example:
      >>> print(*tf.Session().run(tf.unique([5, 3, 5, 5, 3])))
      [5 3] [0 1 0 0 1]
    """
    return op("Unique")(x, out_idx=out_idx, name=name)


def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: Optional[str] = None) -> Any:
    """Returns the distinct elements, the index of each element among them, and the number of occurrences.

    Args:
      x: A vector of any dtype.
      out_idx: `tf.int32` or `tf.int64`: the dtype of `idx` and `count`.
      name: A name for the operation.

    Returns:
      A triple `(y, idx, count)`; see `unique`.

    Example:
      >>> print(*tf.Session().run(tf.unique_with_counts([5, 3, 5, 5, 3])))
      [5 3] [0 1 0 0 1] [3 2]
    """
    return op("UniqueWithCounts")(x, out_idx=out_idx, name=name)


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """Transposes the two innermost axes.

    Args:
      a: A tensor of rank 2 or more.
      name: A name for the operation.
      conjugate: If true, complex elements are conjugated as well.

    Returns:
      A tensor of the same dtype.

    Raises:
      ValueError: `a` is a scalar or a vector.

    Example:
      >>> print(tf.linalg.transpose(tf.zeros([5, 2, 3])).shape)
      (5, 3, 2)
    """
    with name_scope(name, "matrix_transpose", [a]):
        a = convert_to_tensor(a, name="a")
        n = a.shape.ndims
        if n is None:
            last = rank(a)
            return transpose(a, concat([numbers_between(last - 2), [last - 1, last - 2]], 0), conjugate=conjugate)
        if n < 2:
            raise ValueError("Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: %s" % a.shape)
        return transpose(a, [*builtins.range(n - 2), n - 1, n - 2], conjugate=conjugate)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> shapes.TensorShape:
    """Returns the static shape that two shapes broadcast to.

    Args:
      shape_x: A `TensorShape`, or a value that converts to one.
      shape_y: A `TensorShape`, or a value that converts to one.

    Returns:
      A `TensorShape`.

    Raises:
      ValueError: The shapes do not broadcast.

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
