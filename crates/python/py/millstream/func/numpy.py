"""NumPy's names over tensors: `func.numpy`.

The functions take tensors, arrays and numbers and return tensors of the graph that is built, so they are for
use within functions. Arguments and defaults are those of NumPy and of the Python array API standard. Python
numbers take the dtype of the tensor beside them. Two tensors of one kind are computed in the wider dtype;
tensors of different kinds (integers and floats) do not mix, as the standard has it: cast one by `astype`.

`table()` lists the functions of the array API standard (2024.12) with those that are there.
"""

from __future__ import annotations


import builtins
import math as _math
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as _np

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes
from millstream.framework.op_functions import op
from millstream.func import advice, tracing
from millstream.ops import array_ops, counting_ops, indexing_ops, linalg_ops, math_ops, reduction_ops, shape_ops

Unary = Callable[[Any], Tensor]
Binary = Callable[[Any, Any], Tensor]
Axis = Union[None, int, Sequence[int]]

pi, e, inf, nan, newaxis = _math.pi, _math.e, _math.inf, _math.nan, None
bool_, int8, int16, int32, int64 = dtypes.bool, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64
uint8, uint16, uint32, uint64 = dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64
float32, float64, complex64, complex128 = dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128

_FLOATS = (dtypes.float16, dtypes.float32, dtypes.float64)


def _tensor(x: Any) -> Tensor:
    return tracing.tensor(x, "an argument", "pass")


def _both(x: Any, y: Any, name: str) -> Tuple[Tensor, Tensor]:
    """Converts two arguments to tensors of one dtype."""
    if isinstance(x, Tensor) and not isinstance(y, Tensor):
        return x, _beside(y, x, name)
    if isinstance(y, Tensor) and not isinstance(x, Tensor):
        return _beside(x, y, name), y
    return _common([_tensor(x), _tensor(y)], name)  # type: ignore[return-value]


def _beside(value: Any, tensor: Tensor, name: str) -> Tensor:
    """Converts what is beside a tensor."""
    dtype = tensor.dtype.base_dtype
    if isinstance(value, (_np.ndarray, _np.generic)):
        return _common([tensor, _tensor(value)], name)[1]
    if isinstance(value, float) and not (dtype.is_floating or dtype.is_complex):
        raise TypeError("func.numpy.%s: %r does not fit beside %s: cast the tensor (`astype(x, func.numpy.float32)`)" % (name, value, tracing.shown(tensor)))
    return convert_to_tensor(value, dtype)


def _common(values: List[Tensor], name: str) -> List[Tensor]:
    """Casts tensors of one kind to their widest dtype."""
    kinds = {("b" if t.dtype.is_bool else "f" if t.dtype.is_floating or t.dtype.is_complex else "i") for t in values}
    if 1 < len(kinds):
        shown = " and ".join(tracing.shown(t) for t in values)
        raise TypeError("func.numpy.%s: %s do not mix: cast one (`astype(x, func.numpy.float32)`)" % (name, shown))
    wide = dtypes.as_dtype(_np.result_type(*[t.dtype.base_dtype.as_numpy_dtype for t in values]))
    return [astype(t, wide) for t in values]


def _float(x: Any) -> Tensor:
    """Converts an argument of a function of real numbers; integers and bools become floats."""
    x = _tensor(x)
    return x if x.dtype.is_floating or x.dtype.is_complex else astype(x, tracing.kinds().float)


def _unary(name: str, kind: str, doc: str, convert: Callable[[Any], Tensor] = _tensor) -> Unary:
    def f(x: Any) -> Tensor:
        return op(kind)(convert(x))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = "Returns %s, elementwise." % doc
    return f


def _binary(name: str, kind: str, doc: str) -> Binary:
    def f(x1: Any, x2: Any) -> Tensor:
        return op(kind)(*_both(x1, x2, name))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = "Returns %s, elementwise, with broadcasting." % doc
    return f


def _extreme(name: str, kind: str, doc: str) -> Binary:
    def f(x1: Any, x2: Any) -> Tensor:
        a, b = _both(x1, x2, name)
        found = op(kind)(a, b)
        # The op is TensorFlow's, and passes over a NaN in its second input.
        return where(isnan(b), b, found) if b.dtype.is_floating else found

    f.__name__ = f.__qualname__ = name
    f.__doc__ = "Returns %s, elementwise, with broadcasting; NaN where either is." % doc
    return f


# Elementwise functions.

exp = _unary("exp", "Exp", "e to the power of `x`", _float)
expm1 = _unary("expm1", "Expm1", "`exp(x) - 1`, exact near 0", _float)
log = _unary("log", "Log", "the natural logarithm", _float)
log1p = _unary("log1p", "Log1p", "`log(1 + x)`, exact near 0", _float)
sqrt = _unary("sqrt", "Sqrt", "the square root", _float)
sin = _unary("sin", "Sin", "the sine", _float)
cos = _unary("cos", "Cos", "the cosine", _float)
tan = _unary("tan", "Tan", "the tangent", _float)
asin = arcsin = _unary("asin", "Asin", "the inverse sine", _float)
acos = arccos = _unary("acos", "Acos", "the inverse cosine", _float)
atan = arctan = _unary("atan", "Atan", "the inverse tangent", _float)
sinh = _unary("sinh", "Sinh", "the hyperbolic sine", _float)
cosh = _unary("cosh", "Cosh", "the hyperbolic cosine", _float)
tanh = _unary("tanh", "Tanh", "the hyperbolic tangent", _float)
asinh = arcsinh = _unary("asinh", "Asinh", "the inverse hyperbolic sine", _float)
acosh = arccosh = _unary("acosh", "Acosh", "the inverse hyperbolic cosine", _float)
atanh = arctanh = _unary("atanh", "Atanh", "the inverse hyperbolic tangent", _float)
negative = _unary("negative", "Neg", "`-x`")
square = _unary("square", "Square", "`x * x`")
reciprocal = _unary("reciprocal", "Reciprocal", "`1 / x`", _float)
sign = _unary("sign", "Sign", "-1, 0 or 1, the sign of `x`")
isfinite = _unary("isfinite", "IsFinite", "whether `x` is neither infinite nor NaN", _float)
isinf = _unary("isinf", "IsInf", "whether `x` is infinite", _float)
isnan = _unary("isnan", "IsNan", "whether `x` is NaN", _float)
logical_not = _unary("logical_not", "LogicalNot", "whether `x` is false")
bitwise_invert = invert = _unary("bitwise_invert", "Invert", "the bits of `x` inverted")

add = _binary("add", "AddV2", "`x1 + x2`")
subtract = _binary("subtract", "Sub", "`x1 - x2`")
multiply = _binary("multiply", "Mul", "`x1 * x2`")
floor_divide = _binary("floor_divide", "FloorDiv", "`x1 // x2`")
remainder = mod = _binary("remainder", "FloorMod", "`x1 % x2`, with the sign of `x2`")
maximum = _extreme("maximum", "Maximum", "the larger of both")
minimum = _extreme("minimum", "Minimum", "the smaller of both")
pow = power = _binary("pow", "Pow", "`x1` to the power of `x2`")  # noqa: A001
equal = _binary("equal", "Equal", "whether both are equal")
not_equal = _binary("not_equal", "NotEqual", "whether they differ")
less = _binary("less", "Less", "whether `x1 < x2`")
less_equal = _binary("less_equal", "LessEqual", "whether `x1 <= x2`")
greater = _binary("greater", "Greater", "whether `x1 > x2`")
greater_equal = _binary("greater_equal", "GreaterEqual", "whether `x1 >= x2`")
logical_and = _binary("logical_and", "LogicalAnd", "whether both are true")
logical_or = _binary("logical_or", "LogicalOr", "whether one is true")
atan2 = arctan2 = _binary("atan2", "Atan2", "the angle of the point `(x2, x1)`")
bitwise_and = _binary("bitwise_and", "BitwiseAnd", "the bits that both have")
bitwise_or = _binary("bitwise_or", "BitwiseOr", "the bits that one has")
bitwise_xor = _binary("bitwise_xor", "BitwiseXor", "the bits that only one has")
bitwise_left_shift = left_shift = _binary("bitwise_left_shift", "LeftShift", "`x1` shifted left by `x2` bits")
bitwise_right_shift = right_shift = _binary("bitwise_right_shift", "RightShift", "`x1` shifted right by `x2` bits")
nextafter = _binary("nextafter", "NextAfter", "the next number after `x1` in the direction of `x2`")


def abs(x: Any) -> Tensor:  # noqa: A001
    """Returns the absolute value, elementwise."""
    return math_ops.abs(_tensor(x))


def positive(x: Any) -> Tensor:
    """Returns `x`."""
    return _tensor(x)


def divide(x1: Any, x2: Any) -> Tensor:
    """Returns `x1 / x2`, elementwise; integers give floats."""
    a, b = _both(x1, x2, "divide")
    return op("RealDiv")(_float(a), _float(b))


true_divide = divide


def log2(x: Any) -> Tensor:
    """Returns the logarithm to the base 2, elementwise."""
    return log(x) / _math.log(2.0)


def log10(x: Any) -> Tensor:
    """Returns the logarithm to the base 10, elementwise."""
    return log(x) / _math.log(10.0)


def logaddexp(x1: Any, x2: Any) -> Tensor:
    """Returns `log(exp(x1) + exp(x2))`, elementwise, without overflow."""
    a, b = (_float(t) for t in _both(x1, x2, "logaddexp"))
    return maximum(a, b) + log1p(exp(-abs(a - b)))


def hypot(x1: Any, x2: Any) -> Tensor:
    """Returns `sqrt(x1**2 + x2**2)`, elementwise."""
    a, b = (_float(t) for t in _both(x1, x2, "hypot"))
    return sqrt(a * a + b * b)


def copysign(x1: Any, x2: Any) -> Tensor:
    """Returns the magnitude of `x1` with the sign of `x2`, elementwise."""
    a, b = _both(x1, x2, "copysign")
    return where(signbit(b), -abs(a), abs(a))


def signbit(x: Any) -> Tensor:
    """Returns whether `x` is negative, elementwise, -0.0 included."""
    x = _float(x)
    return logical_or(x < 0, logical_and(equal(x, 0), 1 / x < 0))


def logical_xor(x1: Any, x2: Any) -> Tensor:
    """Returns whether exactly one is true, elementwise."""
    return not_equal(x1, x2)


def ceil(x: Any) -> Tensor:
    """Returns the smallest integer that is not less, elementwise."""
    x = _tensor(x)
    return op("Ceil")(x) if x.dtype.is_floating else x


def floor(x: Any) -> Tensor:
    """Returns the largest integer that is not greater, elementwise."""
    x = _tensor(x)
    return op("Floor")(x) if x.dtype.is_floating else x


def round(x: Any) -> Tensor:  # noqa: A001
    """Returns the nearest integer, halves to even, elementwise."""
    x = _tensor(x)
    return op("Round")(x) if x.dtype.is_floating else x


def trunc(x: Any) -> Tensor:
    """Returns the integer part, elementwise."""
    x = _tensor(x)
    return where(x < 0, op("Ceil")(x), op("Floor")(x)) if x.dtype.is_floating else x


def clip(x: Any, min: Any = None, max: Any = None) -> Tensor:  # noqa: A002
    """Returns `x` limited to the range from `min` to `max`, elementwise."""
    x = _tensor(x)
    x = x if min is None else maximum(x, min)
    return x if max is None else minimum(x, max)


def real(x: Any) -> Tensor:
    """Returns the real part, elementwise."""
    return math_ops.real(_tensor(x)) if _tensor(x).dtype.is_complex else _tensor(x)


def imag(x: Any) -> Tensor:
    """Returns the imaginary part, elementwise."""
    return math_ops.imag(_tensor(x)) if _tensor(x).dtype.is_complex else zeros_like(x)


def conj(x: Any) -> Tensor:
    """Returns the complex conjugate, elementwise."""
    x = _tensor(x)
    return op("Conj")(x) if x.dtype.is_complex else x


# Creation.


def _dtype(dtype: Any) -> Any:
    return tracing.kinds().float if dtype is None else dtypes.as_dtype(dtype)


def asarray(obj: Any, dtype: Any = None) -> Tensor:
    """Returns a value as a tensor."""
    if isinstance(obj, (list, tuple)):
        parts = [asarray(item) for item in obj]
        made = stack(parts) if parts else convert_to_tensor([], tracing.kinds().float)
    else:
        made = _tensor(obj)
    return made if dtype is None else astype(made, dtype)


array = asarray


def zeros(shape: Any, dtype: Any = None) -> Tensor:
    """Returns zeros of this shape."""
    return array_ops.zeros(shape, _dtype(dtype))


def ones(shape: Any, dtype: Any = None) -> Tensor:
    """Returns ones of this shape."""
    return array_ops.ones(shape, _dtype(dtype))


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """Returns an array of this shape that holds one value."""
    value = _tensor(fill_value)
    return op("Fill")(convert_to_tensor(shape, dtypes.int32), value if dtype is None else astype(value, dtype))


empty = zeros


def zeros_like(x: Any, dtype: Any = None) -> Tensor:
    """Returns zeros of the shape of `x`."""
    return array_ops.zeros_like(_tensor(x), None if dtype is None else dtypes.as_dtype(dtype))


def ones_like(x: Any, dtype: Any = None) -> Tensor:
    """Returns ones of the shape of `x`."""
    return array_ops.ones_like(_tensor(x), None if dtype is None else dtypes.as_dtype(dtype))


empty_like = zeros_like


def full_like(x: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """Returns an array of the shape of `x` that holds one value."""
    x = _tensor(x)
    return op("Fill")(array_ops.shape(x), convert_to_tensor(fill_value, x.dtype.base_dtype if dtype is None else dtypes.as_dtype(dtype)))


def from_dlpack(x: Any) -> Tensor:
    """Returns an object that has DLPack, such as a tensor of another library, as a constant."""
    return _tensor(x)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """Returns the numbers from `start` up to, without, `stop`."""
    start, stop = (0, start) if stop is None else (start, stop)
    values = [_tensor(v) for v in (start, stop, step)]
    if dtype is None:
        dtype = next((v.dtype for v in values if v.dtype.is_floating), values[1].dtype).base_dtype
    return op("Range")(*[astype(v, dtype) for v in values])


def linspace(start: Any, stop: Any, num: Any) -> Tensor:
    """Returns `num` numbers from `start` to `stop`, at equal distances."""
    a, b = (_float(t) for t in _both(start, stop, "linspace"))
    return op("LinSpace")(a, b, convert_to_tensor(num, dtypes.int32))


def eye(n_rows: Any, n_cols: Any = None, dtype: Any = None) -> Tensor:
    """Returns a matrix with ones on its diagonal."""
    return array_ops.eye(n_rows, n_cols, dtype=_dtype(dtype))


identity = eye


def tril(x: Any, k: int = 0) -> Tensor:
    """Returns the lower triangles of matrices, up to diagonal `k`."""
    x = _tensor(x)
    if 0 <= k:
        return op("MatrixBandPart")(x, convert_to_tensor(-1, dtypes.int64), convert_to_tensor(k, dtypes.int64))
    return x - triu(x, k + 1)


def triu(x: Any, k: int = 0) -> Tensor:
    """Returns the upper triangles of matrices, from diagonal `k`."""
    x = _tensor(x)
    if k <= 0:
        return op("MatrixBandPart")(x, convert_to_tensor(-k, dtypes.int64), convert_to_tensor(-1, dtypes.int64))
    return x - tril(x, k - 1)


def meshgrid(*arrays: Any, indexing: str = "xy") -> List[Tensor]:
    """Returns the coordinates of a grid."""
    return array_ops.meshgrid(*[_tensor(a) for a in arrays], indexing=indexing)


# Dtypes and shapes.


def finfo(dtype: Any) -> Any:
    """Returns the limits of a dtype of floats."""
    return _np.finfo(dtypes.as_dtype(getattr(dtype, "dtype", dtype)).base_dtype.as_numpy_dtype)


def iinfo(dtype: Any) -> Any:
    """Returns the limits of a dtype of integers."""
    return _np.iinfo(dtypes.as_dtype(getattr(dtype, "dtype", dtype)).base_dtype.as_numpy_dtype)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Returns the dtype in which arrays, numbers and dtypes are computed together, by NumPy's rules."""
    given = [a for a in arrays_and_dtypes if not isinstance(a, (bool, int, float, complex))]
    found = [dtypes.as_dtype(getattr(a, "dtype", a)).base_dtype.as_numpy_dtype for a in given]
    weak = [tracing.kinds().of(a) if not isinstance(a, bool) else dtypes.bool for a in arrays_and_dtypes if isinstance(a, (bool, int, float, complex))]
    if not found:
        return dtypes.as_dtype(_np.result_type(*[w.as_numpy_dtype for w in weak]))
    dtype = _np.result_type(*found)
    order = "biufc"
    for w in weak:
        kind = _np.dtype(w.as_numpy_dtype).kind
        if order.index(dtype.kind if dtype.kind != "u" else "i") < order.index(kind):
            dtype = _np.result_type(dtype, w.as_numpy_dtype) if kind == "c" else _np.dtype(w.as_numpy_dtype)
    return dtypes.as_dtype(dtype)


def can_cast(from_: Any, to: Any) -> bool:
    """Returns whether a cast from one dtype to another loses nothing, by NumPy's rules."""
    one, other = (_np.dtype(dtypes.as_dtype(getattr(a, "dtype", a)).base_dtype.as_numpy_dtype) for a in (from_, to))
    return _np.can_cast(one, other)


_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


def isdtype(dtype: Any, kind: Any) -> bool:
    """Returns whether a dtype is of a kind, such as "integral" or "real floating", or equal to another."""
    mine = dtypes.as_dtype(dtype).base_dtype
    if isinstance(kind, tuple):
        return builtins.any(isdtype(mine, k) for k in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return _np.dtype(mine.as_numpy_dtype).kind in _KINDS[kind]
    return mine == dtypes.as_dtype(kind).base_dtype


def broadcast_arrays(*arrays: Any) -> List[Tensor]:
    """Returns arrays repeated to their common shape."""
    values = [_tensor(a) for a in arrays]
    common = array_ops.shape(values[0])
    for value in values[1:]:
        common = op("BroadcastArgs")(common, array_ops.shape(value))
    return [op("BroadcastTo")(value, common) for value in values]


def astype(x: Any, dtype: Any) -> Tensor:
    """Returns `x` cast to a dtype."""
    x, wanted = _tensor(x), dtypes.as_dtype(dtype)
    return x if x.dtype.base_dtype == wanted else op("Cast")(x, DstT=wanted)


def shape(x: Any) -> Tensor:
    """Returns the sizes as a tensor."""
    return array_ops.shape(_tensor(x))


def broadcast_to(x: Any, shape: Any) -> Tensor:
    """Returns `x` repeated along new and unit axes."""
    return op("BroadcastTo")(_tensor(x), convert_to_tensor(shape, None if isinstance(shape, Tensor) else dtypes.int32))


def reshape(x: Any, shape: Any) -> Tensor:
    """Returns the elements of `x` in another shape."""
    return array_ops.reshape(_tensor(x), shape)


def ravel(x: Any) -> Tensor:
    """Returns the elements of `x` as a vector."""
    return reshape(x, [-1])


def expand_dims(x: Any, axis: int) -> Tensor:
    """Returns `x` with a new axis of size 1."""
    return op("ExpandDims")(_tensor(x), convert_to_tensor(axis, dtypes.int32))


def squeeze(x: Any, axis: Axis = None) -> Tensor:
    """Returns `x` without axes of size 1."""
    axes = [] if axis is None else [axis] if isinstance(axis, int) else list(axis)
    return op("Squeeze")(_tensor(x), axis=axes)


def permute_dims(x: Any, axes: Any = None) -> Tensor:
    """Returns `x` with its axes in another order, reversed by default."""
    return array_ops.transpose(_tensor(x), axes)


transpose = permute_dims


def matrix_transpose(x: Any) -> Tensor:
    """Returns matrices with their last two axes swapped."""
    return array_ops.matrix_transpose(_tensor(x))


def swapaxes(x: Any, axis1: int, axis2: int) -> Tensor:
    """Returns `x` with two axes swapped."""
    axes = list(range(_rank(_tensor(x), "swapaxes")))
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return permute_dims(x, axes)


def moveaxis(x: Any, source: Any, destination: Any) -> Tensor:
    """Returns `x` with axes moved to other places."""
    rank = _rank(_tensor(x), "moveaxis")
    froms, tos = ([a % rank for a in ([v] if isinstance(v, int) else v)] for v in (source, destination))
    order = [i for i in range(rank) if i not in froms]
    for to, axis in sorted(zip(tos, froms)):
        order.insert(to, axis)
    return permute_dims(x, order)


def _rank(x: Tensor, name: str) -> int:
    if x.shape.ndims is None:
        raise ValueError("func.numpy.%s: the rank of %s must be known" % (name, x.name))
    return x.shape.ndims


def concat(arrays: Sequence[Any], axis: Optional[int] = 0) -> Tensor:
    """Returns arrays joined along an axis; flattened first if it is None."""
    values = _common([_tensor(a) for a in arrays], "concat")
    return array_ops.concat([ravel(v) for v in values], 0) if axis is None else array_ops.concat(values, axis)


concatenate = concat


def stack(arrays: Sequence[Any], axis: int = 0) -> Tensor:
    """Returns arrays joined along a new axis."""
    return array_ops.stack(_common([_tensor(a) for a in arrays], "stack"), axis)


def unstack(x: Any, axis: int = 0) -> List[Tensor]:
    """Returns the slices along an axis, whose size must be known."""
    return array_ops.unstack(_tensor(x), axis=axis)


def flip(x: Any, axis: Axis = None) -> Tensor:
    """Returns `x` reversed along axes, by default all."""
    x = _tensor(x)
    axes = list(range(_rank(x, "flip"))) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    return op("ReverseV2")(x, convert_to_tensor(axes, dtypes.int32))


def roll(x: Any, shift: Any, axis: Axis = None) -> Tensor:
    """Returns `x` with its elements moved around along axes."""
    x = _tensor(x)
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), shape(x))
    return op("Roll")(x, convert_to_tensor(shift, dtypes.int32), convert_to_tensor(axis, dtypes.int32))


def tile(x: Any, repetitions: Sequence[int]) -> Tensor:
    """Returns `x` repeated along its axes."""
    x, times = _tensor(x), list(repetitions)
    rank = _rank(x, "tile")
    times = [1] * (rank - len(times)) + times
    while rank < len(times):
        x, rank = expand_dims(x, 0), rank + 1
    return op("Tile")(x, convert_to_tensor(times, dtypes.int32))


def repeat(x: Any, repeats: Any, axis: Optional[int] = None) -> Tensor:
    """Returns `x` with each element repeated."""
    return shape_ops.repeat(_tensor(x), repeats, axis)


# Indexing, searching and sorting.


def take(x: Any, indices: Any, axis: int = 0) -> Tensor:
    """Returns slices of `x` at the indices along an axis."""
    return indexing_ops.gather(_tensor(x), asarray(indices), axis=axis)


def where(condition: Any, x1: Any, x2: Any) -> Tensor:
    """Returns `x1` where the condition is true, else `x2`, elementwise, with broadcasting."""
    a, b = _both(x1, x2, "where")
    return op("SelectV2")(_tensor(condition), a, b)


def take_along_axis(x: Any, indices: Any, axis: int = -1) -> Tensor:
    """Returns the elements of `x` at indices along an axis, one for each place."""
    x, at = _tensor(x), asarray(indices)
    rank = _rank(x, "take_along_axis")
    sizes = array_ops.shape(at)
    places = [reshape(astype(arange(sizes[i]), at.dtype), [-1 if j == i else 1 for j in range(rank)]) for i in range(rank)]
    places[axis] = at
    return op("GatherNd")(x, stack(broadcast_arrays(*places), -1))


def nonzero(x: Any) -> Tuple[Tensor, ...]:
    """Returns the indices of elements that are not zero, one vector for each axis."""
    x = _tensor(x)
    found = op("Where")(x if x.dtype.is_bool else not_equal(x, 0))
    return tuple(found[:, i] for i in range(_rank(x, "nonzero")))


def argmax(x: Any, axis: Optional[int] = None) -> Tensor:
    """Returns the index of the first maximum along an axis, of the flattened array by default."""
    return op("ArgMax")(ravel(x) if axis is None else _tensor(x), convert_to_tensor(axis or 0, dtypes.int32))


def argmin(x: Any, axis: Optional[int] = None) -> Tensor:
    """Returns the index of the first minimum along an axis, of the flattened array by default."""
    return op("ArgMin")(ravel(x) if axis is None else _tensor(x), convert_to_tensor(axis or 0, dtypes.int32))


def count_nonzero(x: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Returns the number of elements that are not zero."""
    x = _tensor(x)
    return sum(astype(x if x.dtype.is_bool else not_equal(x, 0), dtypes.int64), axis, keepdims)


def searchsorted(x1: Any, x2: Any, side: str = "left") -> Tensor:
    """Returns the places in the sorted vector `x1` before which the elements of `x2` belong."""
    a, b = _both(x1, x2, "searchsorted")
    return reshape(op("LowerBound" if side == "left" else "UpperBound")(expand_dims(a, 0), reshape(b, [1, -1])), shape(b))


def sort(x: Any, axis: int = -1, descending: bool = False) -> Tensor:
    """Returns `x` sorted along an axis."""
    return counting_ops.sort(_tensor(x), axis, "DESCENDING" if descending else "ASCENDING")


def argsort(x: Any, axis: int = -1, descending: bool = False) -> Tensor:
    """Returns the indices that sort `x` along an axis."""
    return counting_ops.argsort(_tensor(x), axis, "DESCENDING" if descending else "ASCENDING")


def unique_values(x: Any) -> Tensor:
    """Returns the different elements, in the order of their first places."""
    return op("Unique")(ravel(x))[0]


def unique_all(x: Any) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    """Returns the different elements, the first index of each, the inverse and the counts."""
    flat = ravel(x)
    values, index, counts = op("UniqueWithCounts")(flat)
    first = op("UnsortedSegmentMin")(op("Range")(*[convert_to_tensor(v, dtypes.int32) for v in (0, array_ops.size(flat), 1)]), index, array_ops.size(values))
    return values, first, reshape(index, shape(x)), counts


def unique_inverse(x: Any) -> Tuple[Tensor, Tensor]:
    """Returns the different elements, and for each element of `x` its index among them."""
    values, index = op("Unique")(ravel(x))
    return values, reshape(index, shape(x))


def unique_counts(x: Any) -> Tuple[Tensor, Tensor]:
    """Returns the different elements, and how often each is in `x`."""
    values, _, counts = op("UniqueWithCounts")(ravel(x))
    return values, counts


# Linear algebra.


def matmul(x1: Any, x2: Any) -> Tensor:
    """Returns the matrix product; a vector is a row on the left and a column on the right."""
    a, b = _both(x1, x2, "matmul")
    if _rank(a, "matmul") == 1 and _rank(b, "matmul") == 1:
        return sum(a * b)
    if a.shape.ndims == 1:
        return squeeze(math_ops.matmul(expand_dims(a, 0), b), -2)
    return squeeze(math_ops.matmul(a, expand_dims(b, -1)), -1) if b.shape.ndims == 1 else math_ops.matmul(a, b)


def dot(x1: Any, x2: Any) -> Tensor:
    """Returns the product of vectors, matrices or scalars."""
    a, b = _both(x1, x2, "dot")
    return a * b if 0 in (a.shape.ndims, b.shape.ndims) else matmul(a, b)


def outer(x1: Any, x2: Any) -> Tensor:
    """Returns the products of all elements of one vector with all of another."""
    a, b = _both(x1, x2, "outer")
    return expand_dims(ravel(a), 1) * ravel(b)


def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Tensor:
    """Returns the sums of products over axes."""
    return linalg_ops.tensordot(*_both(x1, x2, "tensordot"), axes)


def vecdot(x1: Any, x2: Any, axis: int = -1) -> Tensor:
    """Returns the products of vectors along an axis."""
    a, b = _both(x1, x2, "vecdot")
    return sum(conj(a) * b, axis)


def trace(x: Any) -> Tensor:
    """Returns the sums of the diagonals of matrices."""
    return linalg_ops.trace(_tensor(x))


# Reductions.


def _integral(x: Tensor) -> Tensor:
    """Returns bools as integers, which can be summed."""
    return astype(x, tracing.kinds().int) if x.dtype.is_bool else x


def sum(x: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """Returns the sum of elements over axes, by default all."""
    return reduction_ops.reduce_sum(_integral(_tensor(x)), axis, keepdims)


def prod(x: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Returns the product of elements over axes, by default all."""
    return reduction_ops.reduce_prod(_integral(_tensor(x)), axis, keepdims)


def max(x: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """Returns the maximum over axes, by default all."""
    return reduction_ops.reduce_max(_tensor(x), axis, keepdims)


def min(x: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """Returns the minimum over axes, by default all."""
    return reduction_ops.reduce_min(_tensor(x), axis, keepdims)


def mean(x: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Returns the mean over axes, by default all."""
    return reduction_ops.reduce_mean(_float(x), axis, keepdims)


def var(x: Any, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Returns the variance over axes, by default all; the divisor is the count minus `correction`."""
    x = _float(x)
    centred = x - mean(x, axis, True)
    total = sum(centred * centred, axis, keepdims)
    count = sum(ones_like(x), axis, keepdims)
    return total / (count - correction)


def std(x: Any, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Returns the standard deviation over axes, by default all."""
    return sqrt(var(x, axis, correction, keepdims))


def all(x: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """Returns whether all elements over axes are true."""
    return reduction_ops.reduce_all(_tensor(x), axis, keepdims)


def any(x: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """Returns whether one element over axes is true."""
    return reduction_ops.reduce_any(_tensor(x), axis, keepdims)


def cumulative_sum(x: Any, axis: int = 0) -> Tensor:
    """Returns the sums of the elements up to each along an axis."""
    return op("Cumsum")(_tensor(x), convert_to_tensor(axis, dtypes.int32))


def cumulative_prod(x: Any, axis: int = 0) -> Tensor:
    """Returns the products of the elements up to each along an axis."""
    return op("Cumprod")(_tensor(x), convert_to_tensor(axis, dtypes.int32))


cumsum, cumprod = cumulative_sum, cumulative_prod


def diff(x: Any) -> Tensor:
    """Returns the differences of neighbours along the last axis."""
    x = _tensor(x)
    return x[..., 1:] - x[..., :-1]


# Beyond the standard.


def einsum(subscripts: str, *arrays: Any) -> Tensor:
    """Returns the sums of products that the subscripts tell, as `"ij,jk->ik"`."""
    return linalg_ops.einsum(subscripts, *_common([_tensor(a) for a in arrays], "einsum"))


def diag(x: Any) -> Tensor:
    """Returns the diagonal of a matrix, or a matrix with a vector on its diagonal."""
    x = _tensor(x)
    return op("MatrixDiagPart")(x) if 1 < _rank(x, "diag") else op("MatrixDiag")(x)


def diagonal(x: Any) -> Tensor:
    """Returns the diagonals of matrices."""
    return op("MatrixDiagPart")(_tensor(x))


def inner(x1: Any, x2: Any) -> Tensor:
    """Returns the products of vectors along the last axes."""
    a, b = _both(x1, x2, "inner")
    return a * b if 0 in (a.shape.ndims, b.shape.ndims) else tensordot(a, b, ([-1 % _rank(a, "inner")], [-1 % _rank(b, "inner")]))


def cross(x1: Any, x2: Any) -> Tensor:
    """Returns the cross products of vectors of three numbers along the last axis."""
    a, b = broadcast_arrays(*_both(x1, x2, "cross"))
    return op("Cross")(a, b)


def vstack(arrays: Sequence[Any]) -> Tensor:
    """Returns arrays joined as rows."""
    values = [_tensor(a) for a in arrays]
    return concat([expand_dims(v, 0) if v.shape.ndims == 1 else reshape(v, [1, 1]) if v.shape.ndims == 0 else v for v in values], 0)


def hstack(arrays: Sequence[Any]) -> Tensor:
    """Returns arrays joined side by side."""
    values = [ravel(a) if _tensor(a).shape.ndims == 0 else _tensor(a) for a in arrays]
    return concat(values, 0 if values[0].shape.ndims == 1 else 1)


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> List[Tensor]:
    """Returns parts of `x` along an axis: this many equal ones, or those between indices."""
    x = _tensor(x)
    if isinstance(indices_or_sections, int):
        return array_ops.split(x, indices_or_sections, axis)
    rank = _rank(x, "split")
    edges, found = [None, *indices_or_sections, None], []
    for start, stop in zip(edges[:-1], edges[1:]):
        found.append(x[tuple(slice(start, stop) if i == axis % rank else slice(None) for i in range(rank))])
    return found


def pad(x: Any, pad_width: Any, constant_values: Any = 0) -> Tensor:
    """Returns `x` with a value before and after its elements along each axis."""
    x = _tensor(x)
    widths = convert_to_tensor(_np.broadcast_to(_np.asarray(pad_width, _np.int32), (_rank(x, "pad"), 2)).copy())
    return op("PadV2")(x, widths, convert_to_tensor(constant_values, x.dtype.base_dtype))


def isclose(x1: Any, x2: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Tensor:
    """Returns whether `abs(x1 - x2) <= atol + rtol * abs(x2)`, elementwise."""
    a, b = (_float(t) for t in _both(x1, x2, "isclose"))
    return logical_or(equal(a, b), logical_and(isfinite(b), abs(a - b) <= atol + rtol * abs(b)))


def allclose(x1: Any, x2: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Tensor:
    """Returns whether `isclose` holds for all elements."""
    return all(isclose(x1, x2, rtol, atol))


def array_equal(x1: Any, x2: Any) -> Tensor:
    """Returns whether all elements are equal. Shapes that are known to differ give false."""
    a, b = _both(x1, x2, "array_equal")
    return all(equal(a, b)) if a.shape.is_compatible_with(b.shape) else convert_to_tensor(False)


def nan_to_num(x: Any, nan: float = 0.0, posinf: Optional[float] = None, neginf: Optional[float] = None) -> Tensor:
    """Returns `x` with numbers for NaN and infinities, the largest ones of the dtype by default."""
    x = _float(x)
    limits = finfo(x.dtype)
    x = where(isnan(x), nan, x)
    x = where(equal(x, inf), float(limits.max) if posinf is None else posinf, x)
    return where(equal(x, -inf), float(limits.min) if neginf is None else neginf, x)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Tensor:
    """Returns the first choice whose condition is true, elementwise."""
    found = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        found = where(condition, choice, found)
    return _tensor(found)


def polyval(p: Any, x: Any) -> Tensor:
    """Returns the values of a polynomial whose coefficients are given, the highest power first."""
    coefficients = unstack(p) if isinstance(p, Tensor) else list(p)
    x = _tensor(x)
    value = zeros_like(x)
    for c in coefficients:
        value = value * x + c
    return value


def deg2rad(x: Any) -> Tensor:
    """Returns degrees as radians."""
    return _float(x) * (pi / 180.0)


def rad2deg(x: Any) -> Tensor:
    """Returns radians as degrees."""
    return _float(x) * (180.0 / pi)


# The standard.

_STANDARD: Dict[str, str] = {
    "creation": "arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu zeros zeros_like",
    "data types": "astype can_cast finfo iinfo isdtype result_type",
    "elementwise": "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or bitwise_right_shift "
    "bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide greater greater_equal hypot imag isfinite isinf "
    "isnan less less_equal log log1p log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply negative "
    "nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh square sqrt subtract tan tanh trunc",
    "indexing": "take take_along_axis",
    "linear algebra": "matmul matrix_transpose tensordot vecdot",
    "manipulation": "broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll squeeze stack tile unstack",
    "searching": "argmax argmin count_nonzero nonzero searchsorted where",
    "sets": "unique_all unique_counts unique_inverse unique_values",
    "sorting": "argsort sort",
    "statistics": "cumulative_prod cumulative_sum max mean min prod std sum var",
    "utility": "all any diff",
}


def table() -> str:
    """Returns a table of the functions of the array API standard (2024.12), those that are there first.

    Example:
      >>> from millstream import func
      >>> print(func.numpy.table().splitlines()[-1])
      in all: 133 of 133
    """
    lines, have, of = [], 0, 0
    for group, names in _STANDARD.items():
        there = [n for n in names.split() if n in globals()]
        missing = [n for n in names.split() if n not in globals()]
        have, of = have + len(there), of + len(names.split())
        lines.append("%s: %s%s" % (group, " ".join(there), "; not there: " + " ".join(missing) if missing else ""))
    return "\n".join([*lines, "in all: %d of %d" % (have, of)])


_ELSEWHERE = {
    "fft": "`tf.signal`",
    "interp": "`func.numpy.searchsorted`",
    "linalg": "`tf.linalg`",
    "median": "`func.numpy.sort`",
    "percentile": "`func.numpy.sort`",
    "quantile": "`func.numpy.sort`",
    "random": "`tf.random_uniform` and its relatives",
    "vectorize": "`func.map`",
}


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError("module 'millstream.func.numpy' has no attribute %r" % name)
    instead = _ELSEWHERE.get(name, "what `tf.*` has; `func.numpy.table()` lists the functions of the array API standard")
    raise AttributeError("module 'millstream.func.numpy' has no attribute %r: use %s" % (name, instead))


advice.of_numpy.update(name for name, value in list(globals().items()) if callable(value) and not name.startswith("_") and name.islower())
