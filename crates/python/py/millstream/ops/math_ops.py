"""Arithmetic, casts, comparisons, complex numbers and `matmul`: functions that do more than add one op."""

from __future__ import annotations

import sys
from typing import Any, Optional

import numpy as np

from millstream._engine import Tensor
from millstream.framework import (
    IndexedSlices,
    SparseTensor,
    constant,
    constant_value,
    convert_to_tensor,
    dtypes,
    name_scope,
    shapes,
    traced,
)
from millstream.framework.op_functions import op

__all__ = [
    "abs",
    "accumulate_n",
    "add_n",
    "cast",
    "complex",
    "conj",
    "div",
    "div_no_nan",
    "divide",
    "equal",
    "erf",
    "floordiv",
    "imag",
    "log_sigmoid",
    "logical_xor",
    "matmul",
    "multiply",
    "negative",
    "not_equal",
    "pow",
    "range",
    "real",
    "round",
    "saturate_cast",
    "scalar_mul",
    "sigmoid",
    "sign",
    "sqrt",
    "square",
    "subtract",
    "tanh",
    "to_bfloat16",
    "to_complex128",
    "to_complex64",
    "to_double",
    "to_float",
    "to_int32",
    "to_int64",
    "truediv",
]

_TRUEDIV = {
    dtypes.uint8: dtypes.float32,
    dtypes.int8: dtypes.float32,
    dtypes.uint16: dtypes.float32,
    dtypes.int16: dtypes.float32,
    dtypes.int32: dtypes.float64,
    dtypes.int64: dtypes.float64,
}


def cast(x: Any, dtype: Any, name: Optional[str] = None) -> Any:
    """Casts `x` to another dtype.

    Args:
      x: A tensor, `SparseTensor` or `IndexedSlices` of numbers or bools.
      dtype: A numeric dtype or bool. Floats are rounded towards zero.
      name: A name for the operation.

    Returns:
      An object of the type of `x` and of this dtype; `x` itself if it has this dtype already.

    Example:
      >>> print(*tf.Session().run([tf.cast([1.8, -1.8], tf.int32), tf.cast([0, 2], tf.bool)]))
      [ 1 -1] [False  True]
    """
    base = dtypes.as_dtype(dtype).base_dtype
    if isinstance(x, (Tensor,)) and base == x.dtype:
        return x
    with name_scope(name, "Cast", [x]) as name:
        if isinstance(x, SparseTensor):
            return SparseTensor(x.indices, cast(x.values, base, name), x.dense_shape)
        if isinstance(x, IndexedSlices):
            return IndexedSlices(cast(x.values, base, name), x.indices, x.dense_shape)
        x = convert_to_tensor(x, name="x")
        return x if x.dtype.base_dtype == base else op("Cast")(x, base, name=name)


_TO = """Casts `x` to {dtype}, as `cast(x, tf.{dtype})`.

Args:
  x: A tensor, `SparseTensor` or `IndexedSlices` of numbers or bools.
  name: A name for the operation.

Returns:
  An object of the type of `x` and of this dtype.

Example:
  >>> tf.{name}([1, 0])
  <tf.Tensor '...' shape=(2,) dtype={dtype}>
"""


def _to(dtype: Any, called: str) -> Any:
    def function(x: Any, name: str = called) -> Any:
        return cast(x, dtype, name=name)

    function.__name__ = function.__qualname__ = called[:2].lower() + "_" + called[2:].lower()
    function.__doc__ = _TO.format(dtype=dtypes.as_dtype(dtype).name, name=function.__name__)
    return function


to_float = _to(dtypes.float32, "ToFloat")
to_double = _to(dtypes.float64, "ToDouble")
to_int32 = _to(dtypes.int32, "ToInt32")
to_int64 = _to(dtypes.int64, "ToInt64")
to_bfloat16 = _to(dtypes.bfloat16, "ToBFloat16")
to_complex64 = _to(dtypes.complex64, "ToComplex64")
to_complex128 = _to(dtypes.complex128, "ToComplex128")


def saturate_cast(value: Any, dtype: Any, name: Optional[str] = None) -> Tensor:
    """Casts to `dtype`, with values clipped to the range of `dtype`.

    Args:
      value: A tensor of numbers.
      dtype: A numeric dtype.
      name: The name scope of the new operations.

    Returns:
      A tensor of `dtype`.

    Example:
      >>> print(tf.Session().run(tf.saturate_cast([-5, 100, 300], tf.uint8)))
      [  0 100 255]
    """
    with name_scope(name, "saturate_cast", [value]) as name:
        value = convert_to_tensor(value, name="value")
        dtype = dtypes.as_dtype(dtype).base_dtype
        if value.dtype.min < dtype.min:
            value = op("Maximum")(value, convert_to_tensor(dtype.min, value.dtype, "min"))
        if value.dtype.max > dtype.max:
            value = op("Minimum")(value, convert_to_tensor(dtype.max, value.dtype, "max"))
        return cast(value, dtype, name=name)


def _truediv(x: Any, y: Any, name: Optional[str] = None) -> Tensor:
    with name_scope(name, "truediv", [x, y]) as name:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype_hint=x.dtype.base_dtype)
        if x.dtype.base_dtype != y.dtype.base_dtype:
            raise TypeError("x and y must have the same dtype, got %r != %r" % (x.dtype.base_dtype, y.dtype.base_dtype))
        base = x.dtype.base_dtype
        to = _TRUEDIV.get(base)
        if to is None and not (base.is_floating or base.is_complex):
            raise TypeError("Invalid dtype %r in __truediv__" % base)
        if to is not None:
            x, y = cast(x, to), cast(y, to)
        return op("RealDiv")(x, y, name=name)


def truediv(x: Any, y: Any, name: Optional[str] = None) -> Tensor:
    """Returns `x / y`, with integers converted to floats first.

    Args:
      x: A tensor of numbers.
      y: A tensor of the same dtype, whose shape broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of floats: `float32` for integers of 8 and 16 bits, `float64` for wider ones.

    Raises:
      TypeError: The dtypes differ.

    Example:
      >>> print(tf.Session().run(tf.truediv([7, 8], 2)))
      [3.5 4. ]
    """
    return _truediv(x, y, name)


def divide(x: Any, y: Any, name: Optional[str] = None) -> Tensor:
    """Returns `x / y` as in Python 3.

    Args:
      x: A tensor of numbers, or a number.
      y: A tensor or number of the same dtype.
      name: A name for the result.

    Returns:
      A tensor; integers give floats, as in `truediv`.

    Example:
      >>> print(tf.Session().run(tf.divide([7, 8], 2)))
      [3.5 4. ]
    """
    if name is not None:
        return _truediv(x, y, name)
    # A number or an array takes the dtype of the tensor that it is divided by.
    return x / y if hasattr(y, "_as_graph_element") or isinstance(y, Tensor) else convert_to_tensor(x) / y


def div(x: Any, y: Any, name: Optional[str] = None) -> Tensor:
    """Returns `x / y` as in Python 2: integers give integers, rounded down.

    Args:
      x: A tensor of numbers.
      y: A tensor of the same dtype, whose shape broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> print(*tf.Session().run([tf.div([7, -7], 2), tf.div([7.0], 2.0)]))
      [ 3 -4] [3.5]
    """
    with name_scope(name, "div", [x, y]) as name:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, x.dtype.base_dtype, "y")
        floats = x.dtype.is_floating or x.dtype.is_complex
        return op("RealDiv" if floats else "FloorDiv")(x, y, name=name)


def div_no_nan(x: Any, y: Any, name: Optional[str] = None) -> Tensor:
    """Returns `x / y`, or zero where `y` is zero.

    Args:
      x: A tensor of floats.
      y: A tensor of the same dtype, whose shape broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> print(tf.Session().run(tf.div_no_nan([1.0, 2.0], [0.0, 4.0])))
      [0.  0.5]
    """
    with name_scope(name, "div_no_nan", [x, y]) as name:
        x = convert_to_tensor(x, name="x")
        return op("DivNoNan")(x, convert_to_tensor(y, x.dtype.base_dtype, "y"), name=name)


def floordiv(x: Any, y: Any, name: Optional[str] = None) -> Tensor:
    """Returns `x // y`, rounded towards negative infinity.

    Args:
      x: A tensor of numbers.
      y: A tensor of the same dtype, whose shape broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> print(tf.Session().run(tf.floordiv([7, -7], 2)))
      [ 3 -4]
    """
    with name_scope(name, "floordiv", [x, y]) as name:
        return op("FloorDiv")(x, y, name=name)


def _operate(what: str, x: Any, y: Any, reverse: bool) -> Any:
    """Implements the operators that take more than one op."""
    if what == "abs":
        return abs(x)
    if getattr(y, "__millstream_operand__", False):
        return NotImplemented
    for handler in traced.operators:
        made = handler(what, x, y, reverse, sys._getframe(1))
        if made is not NotImplemented:
            return made
    with name_scope(None, what, [x]) as scope:
        if not isinstance(y, Tensor):
            y = convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="x" if reverse else "y")
        if reverse:
            x, y = y, x
        function: Any = {"truediv": _truediv, "matmul": _matmul, "xor": logical_xor}[what]
        return function(x, y, name=scope)


def _matmul(x: Any, y: Any, name: str) -> Any:
    return matmul(x, y, name=name)


def abs(x: Any, name: Optional[str] = None) -> Any:  # noqa: A001
    """Returns the absolute value of each element.

    Args:
      x: A tensor of numbers, or a `SparseTensor`.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype; for complex numbers, the magnitudes.

    Example:
      >>> print(*tf.Session().run([tf.abs([-1.5, 2.0]), tf.abs(tf.constant([3 + 4j]))]))
      [1.5 2. ] [5.]
    """
    with name_scope(name, "Abs", [x]) as name:
        if isinstance(x, SparseTensor):
            return SparseTensor(x.indices, abs(x.values, name), x.dense_shape)
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            return op("ComplexAbs")(x, Tout=x.dtype.real_dtype, name=name)
        return op("Abs")(x, name=name)


def _of_values(kind: str, x: Any, name: Optional[str]) -> Any:
    """Applies a unary op; to the values of a `SparseTensor`, whose zeros it keeps."""
    if isinstance(x, SparseTensor):
        with name_scope(name, kind, [x]) as name:
            return SparseTensor(x.indices, op(kind)(x.values, name=name), x.dense_shape)
    return op(kind)(x, name=name)


def square(x: Any, name: Optional[str] = None) -> Any:
    """Returns the square of each element.

    Args:
      x: A tensor of numbers, or a `SparseTensor`.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.square([2.0, -3.0])))
      [4. 9.]
    """
    return _of_values("Square", x, name)


def sqrt(x: Any, name: Optional[str] = None) -> Any:
    """Returns the square root of each element.

    Args:
      x: A tensor of floats or complex numbers, or a `SparseTensor`.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.sqrt([4.0, 9.0])))
      [2. 3.]
    """
    return _of_values("Sqrt", x, name)


def sign(x: Any, name: Optional[str] = None) -> Any:
    """Returns the sign of each element: -1, 0 or 1; `x / |x|` for complex numbers.

    Args:
      x: A tensor of numbers, or a `SparseTensor`.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.sign([-2.0, 0.0, 5.0])))
      [-1.  0.  1.]
    """
    return _of_values("Sign", x, name)


def erf(x: Any, name: Optional[str] = None) -> Any:
    """Returns the error function of each element.

    Args:
      x: A tensor of floats, or a `SparseTensor`.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.erf([0.0, 0.5])).round(4))
      [0.     0.5205]
    """
    return _of_values("Erf", x, name)


def negative(x: Any, name: Optional[str] = None) -> Tensor:
    """Returns `-x`, element by element.

    Args:
      x: A tensor of numbers, or a `SparseTensor`.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.negative([1, -2])))
      [-1  2]
    """
    return _of_values("Neg", x, name)


def pow(x: Any, y: Any, name: Optional[str] = None) -> Tensor:  # noqa: A001
    """Returns `x` to the power `y`, element by element.

    Args:
      x: A tensor of numbers.
      y: A tensor of the same dtype, whose shape broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> print(tf.Session().run(tf.pow([2, 3], [10, 2])))
      [1024    9]
    """
    with name_scope(name, "Pow", [x]) as name:
        return op("Pow")(x, y, name=name)


def multiply(x: Any, y: Any, name: Optional[str] = None) -> Tensor:
    """Returns `x * y`, element by element.

    Args:
      x: A tensor of numbers.
      y: A tensor of the same dtype, whose shape broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> print(tf.Session().run(tf.multiply([[1, 2], [3, 4]], [10, 100])))
      [[ 10 200]
       [ 30 400]]
    """
    return op("Mul")(x, y, name=name)


def subtract(x: Any, y: Any, name: Optional[str] = None) -> Tensor:
    """Returns `x - y`, element by element.

    Args:
      x: A tensor of numbers.
      y: A tensor of the same dtype, whose shape broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> print(tf.Session().run(tf.subtract([5, 6], 1)))
      [4 5]
    """
    return op("Sub")(x, y, name=name)


def equal(x: Any, y: Any, name: Optional[str] = None) -> Tensor:
    """Returns `x == y`, element by element.

    Args:
      x: A tensor.
      y: A tensor of the same dtype, whose shape broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A boolean tensor.

    Example:
      >>> print(tf.Session().run(tf.equal([1, 2, 3], [1, 5, 3])))
      [ True False  True]
    """
    return op("Equal")(x, y, name=name)


def not_equal(x: Any, y: Any, name: Optional[str] = None) -> Tensor:
    """Returns `x != y`, element by element.

    Args:
      x: A tensor.
      y: A tensor of the same dtype, whose shape broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A boolean tensor.

    Example:
      >>> print(tf.Session().run(tf.not_equal([1, 2, 3], [1, 5, 3])))
      [False  True False]
    """
    return op("NotEqual")(x, y, name=name)


def logical_xor(x: Any, y: Any, name: str = "LogicalXor") -> Tensor:
    """Returns the exclusive or of `x` and `y`, element by element.

    Args:
      x: A boolean tensor.
      y: A boolean tensor whose shape broadcasts with that of `x`.
      name: The name scope of the new operations.

    Returns:
      A boolean tensor.

    Example:
      >>> print(tf.Session().run(tf.logical_xor([True, True], [True, False])))
      [False  True]
    """
    with name_scope(name) as scope:
        return op("LogicalAnd")(op("LogicalOr")(x, y), op("LogicalNot")(op("LogicalAnd")(x, y)), name=scope)


def sigmoid(x: Any, name: Optional[str] = None) -> Tensor:
    """Returns the sigmoid `1 / (1 + exp(-x))`.

    Args:
      x: A tensor of floats or complex numbers.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.sigmoid([0.0, 100.0])))
      [0.5 1. ]
    """
    with name_scope(name, "Sigmoid", [x]) as name:
        return op("Sigmoid")(convert_to_tensor(x, name="x"), name=name)


def log_sigmoid(x: Any, name: Optional[str] = None) -> Tensor:
    """Returns the logarithm of the sigmoid, without overflow.

    Args:
      x: A tensor of floats.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.log_sigmoid([0.0, -100.0])).round(4))
      [  -0.6931 -100.    ]
    """
    with name_scope(name, "LogSigmoid", [x]) as name:
        return op("Neg")(op("Softplus")(-convert_to_tensor(x, name="x")), name=name)


def tanh(x: Any, name: Optional[str] = None) -> Tensor:
    """Returns the hyperbolic tangent of each element.

    Args:
      x: A tensor of floats or complex numbers, or a `SparseTensor`.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.tanh([0.0, 100.0])))
      [0. 1.]
    """
    return _of_values("Tanh", x, name)


def round(x: Any, name: Optional[str] = None) -> Tensor:  # noqa: A001
    """Rounds to the nearest integer, halves to even.

    Args:
      x: A tensor of numbers.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.round([0.5, 1.5, -2.7])))
      [ 0.  2. -3.]
    """
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else op("Round")(x, name=name)


def add_n(inputs: Any, name: Optional[str] = None) -> Tensor:
    """Returns the sum of a list of tensors.

    Args:
      inputs: A list of tensors or `IndexedSlices` of the same shape and dtype.
      name: A name for the operation.

    Returns:
      A tensor of that shape and dtype.

    Raises:
      TypeError: `inputs` is not iterable.
      ValueError: `inputs` is no list or is empty, or static shapes differ.

    Example:
      >>> print(tf.Session().run(tf.add_n([[1, 2], [10, 20], [100, 200]])))
      [111 222]
    """
    if not hasattr(inputs, "__iter__") and not hasattr(inputs, "__array__"):
        raise TypeError("'%s' object is not iterable: inputs must be a list of tensors" % type(inputs).__name__)
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError("inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape")
    inputs = [convert_to_tensor(i) for i in inputs]
    if len(inputs) == 1:
        return op("Identity")(inputs[0], name=name) if name else inputs[0]
    return op("AddN")(inputs, name=name)


def accumulate_n(inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: Optional[str] = None) -> Tensor:
    """Returns the sum of a list of tensors.

    Args:
      inputs: A list of tensors of the same shape and dtype.
      shape: A shape that the static shapes of the inputs must be compatible with.
      tensor_dtype: The dtype that the inputs must have.
      name: A name for the operation.

    Returns:
      A tensor of that shape and dtype.

    Raises:
      ValueError: There is no input, or dtypes or shapes differ.
      TypeError: The inputs have another dtype than `tensor_dtype`.

    Example:
      >>> print(tf.Session().run(tf.accumulate_n([[1, 2], [10, 20]])))
      [11 22]
    """
    few = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError(few)
    inputs = [convert_to_tensor(value) for value in inputs]
    if any(value.dtype.base_dtype != inputs[0].dtype.base_dtype for value in inputs):
        raise ValueError(few)
    shape = shapes.TensorShape(shape)
    for value in inputs:
        shape = shape.merge_with(value.shape)
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) != inputs[0].dtype.base_dtype:
        raise TypeError("tensor_dtype is %s, but input is of type %s" % (tensor_dtype, inputs[0].dtype))
    return add_n(inputs, name)


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """Returns the matrix product, over the two innermost dimensions of tensors of higher rank.

    Args:
      a: A tensor of numbers, of rank 2 or more.
      b: A tensor of the same dtype; the dimensions before the last two are broadcast with those of `a`.
      transpose_a: If true, `a` is transposed before multiplication.
      transpose_b: If true, `b` is transposed before multiplication.
      adjoint_a: If true, `a` is transposed and conjugated before multiplication.
      adjoint_b: If true, `b` is transposed and conjugated before multiplication.
      a_is_sparse: A hint that `a` holds many zeros. Products of `float32` and `bfloat16` matrices with a
        hint are made by the op `SparseMatMul`.
      b_is_sparse: A hint that `b` holds many zeros.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype, of shape `[.., rows of a, columns of b]`.

    Raises:
      ValueError: A transpose and an adjoint of the same argument are requested, or static shapes do not
        match.

    Example:
      >>> a, b = tf.constant([[1, 2], [3, 4]]), tf.constant([[1, 0], [0, 10]])
      >>> print(*tf.Session().run([tf.matmul(a, b), tf.matmul(a, b, transpose_a=True)]))
      [[ 1 20]
       [ 3 40]] [[ 1 30]
       [ 2 40]]
    """
    with name_scope(name, "MatMul", [a, b]) as name:
        if transpose_a and adjoint_a:
            raise ValueError("Only one of transpose_a and adjoint_a can be True.")
        if transpose_b and adjoint_b:
            raise ValueError("Only one of transpose_b and adjoint_b can be True.")
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        ranks = a._shape_as_list(), b._shape_as_list()
        if not (a_is_sparse or b_is_sparse) and any(r is None or len(r) > 2 for r in ranks):
            conj = op("Conj")
            if transpose_a:
                a, adjoint_a = (conj(a) if a.dtype.is_complex else a), True
            if transpose_b:
                b, adjoint_b = (conj(b) if b.dtype.is_complex else b), True
            return op("BatchMatMulV2")(a, b, adj_x=adjoint_a, adj_y=adjoint_b, name=name)
        if adjoint_a:
            a, transpose_a = (op("Conj")(a) if a.dtype.is_complex else a), True
        if adjoint_b:
            b, transpose_b = (op("Conj")(b) if b.dtype.is_complex else b), True
        halves = [x.dtype.base_dtype == dtypes.bfloat16 for x in (a, b)]
        hinted = (a_is_sparse or b_is_sparse) and all(x.dtype.base_dtype in (dtypes.bfloat16, dtypes.float32) for x in (a, b))
        if not hinted and halves[0] == halves[1]:
            return op("MatMul")(a, b, transpose_a=transpose_a, transpose_b=transpose_b, name=name)
        product = op("SparseMatMul")(a, b, transpose_a=transpose_a, transpose_b=transpose_b, a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse, name=name)
        return cast(product, dtypes.bfloat16) if all(halves) else product


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Tensor:  # noqa: A001
    """Returns the numbers from `start` (inclusive) to `limit` (exclusive), by steps of `delta`.

    Args:
      start: A scalar; a single argument is `limit`, and `start` is 0.
      limit: A scalar.
      delta: A scalar: the step.
      dtype: The dtype; by default the widest dtype of the arguments.
      name: A name for the operation.

    Returns:
      A vector.

    Example:
      >>> print(*tf.Session().run([tf.range(4), tf.range(10, 4, -2), tf.range(0.0, 1.0, 0.25)]))
      [0 1 2 3] [10  8  6] [0.   0.25 0.5  0.75]
    """
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as name:
        start = convert_to_tensor(start, dtype, "start")
        limit = convert_to_tensor(limit, dtype, "limit")
        delta = convert_to_tensor(delta, dtype, "delta")
        if dtype is None:
            order = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
            # As in TensorFlow, an assertion without words.
            assert all(a.dtype.base_dtype in order for a in (start, limit, delta))  # noqa: S101
            inferred = order[max(order.index(a.dtype.base_dtype) for a in (start, limit, delta))]
            start, limit, delta = cast(start, inferred), cast(limit, inferred), cast(delta, inferred)
        result = op("Range")(start, limit, delta, name=name)
        if result._shape_as_list() == [None]:
            parts = [constant_value(t) for t in (start, limit, delta)]
            if all(p is not None for p in parts):
                result.set_shape([len(np.arange(*parts))])
        return result


def scalar_mul(scalar: Any, x: Any, name: Optional[str] = None) -> Any:
    """Multiplies a tensor or `IndexedSlices` by a scalar.

    Args:
      scalar: A number, or a scalar tensor.
      x: A tensor or `IndexedSlices`.
      name: The name scope of the new operations.

    Returns:
      An object of the type of `x`.

    Raises:
      ValueError: `scalar` is not a scalar.

    Example:
      >>> print(tf.Session().run(tf.scalar_mul(3, tf.constant([1, 2]))))
      [3 6]
    """
    scalar = convert_to_tensor(scalar, x.dtype.base_dtype, "scalar")
    if scalar.shape.ndims != 0:
        raise ValueError("Only scalar multiply works, got shape %s" % scalar.shape)
    if isinstance(x, IndexedSlices):
        return IndexedSlices(op("Mul")(scalar, x.values, name=name), x.indices, x.dense_shape)
    return op("Mul")(scalar, x, name=name)


def conj(x: Any, name: Optional[str] = None) -> Tensor:
    """Returns the complex conjugate of each element; real tensors are returned unchanged.

    Args:
      x: A tensor of numbers.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      TypeError: `x` holds strings or bools.

    Example:
      >>> print(tf.Session().run(tf.conj(tf.constant([1 + 2j]))))
      [1.-2.j]
    """
    x = convert_to_tensor(x, name="x")
    if x.dtype.base_dtype in (dtypes.string, dtypes.bool):
        raise TypeError("Expected numeric or variant tensor, got dtype %r" % x.dtype)
    return op("Conj")(x, name=name) if x.dtype.is_complex else x


def real(input: Any, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """Returns the real part of each element.

    Args:
      input: A tensor of numbers.
      name: A name for the operation.

    Returns:
      A tensor of floats; a real tensor is returned unchanged.

    Example:
      >>> print(tf.Session().run(tf.real(tf.constant([1 + 2j]))))
      [1.]
    """
    x = convert_to_tensor(input, name="input")
    return op("Real")(x, Tout=x.dtype.real_dtype, name=name) if x.dtype.is_complex else x


def imag(input: Any, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """Returns the imaginary part of each element.

    Args:
      input: A tensor of numbers.
      name: A name for the operation.

    Returns:
      A tensor of floats; for a real tensor, zeros of its dtype.

    Example:
      >>> print(tf.Session().run(tf.imag(tf.constant([1 + 2j]))))
      [2.]
    """
    with name_scope(name, "Imag", [input]) as name:
        x = convert_to_tensor(input, name="input")
        if x.dtype.is_complex:
            return op("Imag")(x, Tout=x.dtype.real_dtype, name=name)
        if x.shape.is_fully_defined() and x.dtype.base_dtype not in (dtypes.bfloat16, dtypes.string):
            return constant(x.dtype.base_dtype.as_numpy_dtype(), x.dtype.base_dtype, x.shape, "zeros_like")
        return op("ZerosLike")(x, name="zeros_like")


_COMPLEX = {(dtypes.float32, dtypes.float32): dtypes.complex64, (dtypes.float64, dtypes.float64): dtypes.complex128}


def complex(real: Any, imag: Any, name: Optional[str] = None) -> Tensor:  # noqa: A001
    """Returns the complex tensor with these real and imaginary parts.

    Args:
      real: A tensor of `float32` or `float64`.
      imag: A tensor of the same dtype.
      name: A name for the operation.

    Returns:
      A tensor of `complex64` or `complex128`.

    Raises:
      TypeError: The dtypes are not both `float32` or both `float64`.

    Example:
      >>> print(tf.Session().run(tf.complex([1.0, 2.0], [0.5, -0.5])))
      [1.+0.5j 2.-0.5j]
    """
    real = convert_to_tensor(real, name="real")
    imag = convert_to_tensor(imag, name="imag")
    to = _COMPLEX.get((real.dtype.base_dtype, imag.dtype.base_dtype))
    if to is None:
        raise TypeError("real and imag have incorrect types: %s %s" % (real.dtype.name, imag.dtype.name))
    return op("Complex")(real, imag, Tout=to, name=name)
