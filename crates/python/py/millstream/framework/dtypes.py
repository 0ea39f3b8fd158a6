"""`DType`: the type of a tensor's elements, with TensorFlow's names (`float32`, `int32`, `string`, ..).

Each dtype is one object, found by `as_dtype` from a name, a NumPy dtype, a Python type, or its number in
graph files. The reference of a variable has a dtype of its own (`float32_ref`), with a number greater by 100.
"""

from __future__ import annotations

import builtins
from typing import Any, Dict, FrozenSet, Optional, Tuple

import numpy as np

__all__ = [
    "DType",
    "QUANTIZED_DTYPES",
    "as_dtype",
    "bfloat16",
    "bfloat16_ref",
    "bool",
    "bool_ref",
    "complex128",
    "complex128_ref",
    "complex64",
    "complex64_ref",
    "double",
    "double_ref",
    "float16",
    "float16_ref",
    "float32",
    "float32_ref",
    "float64",
    "float64_ref",
    "half",
    "half_ref",
    "int16",
    "int16_ref",
    "int32",
    "int32_ref",
    "int64",
    "int64_ref",
    "int8",
    "int8_ref",
    "qint16",
    "qint16_ref",
    "qint32",
    "qint32_ref",
    "qint8",
    "qint8_ref",
    "quint16",
    "quint16_ref",
    "quint8",
    "quint8_ref",
    "resource",
    "resource_ref",
    "string",
    "string_ref",
    "uint16",
    "uint16_ref",
    "uint32",
    "uint32_ref",
    "uint64",
    "uint64_ref",
    "uint8",
    "uint8_ref",
    "variant",
    "variant_ref",
]

_REF = 100

# Name, number in graph files, NumPy type (None if there is none), kind.
_FLOAT, _INT, _UINT, _BOOL, _COMPLEX, _STRING, _QUANTIZED, _HANDLE = "f", "i", "u", "b", "c", "s", "q", "h"
_TABLE: Tuple[Tuple[str, int, Any, str], ...] = (
    ("float32", 1, np.float32, _FLOAT),
    ("float64", 2, np.float64, _FLOAT),
    ("int32", 3, np.int32, _INT),
    ("uint8", 4, np.uint8, _UINT),
    ("int16", 5, np.int16, _INT),
    ("int8", 6, np.int8, _INT),
    ("string", 7, np.object_, _STRING),
    ("complex64", 8, np.complex64, _COMPLEX),
    ("int64", 9, np.int64, _INT),
    ("bool", 10, np.bool_, _BOOL),
    ("qint8", 11, np.dtype([("qint8", np.int8)]), _QUANTIZED),
    ("quint8", 12, np.dtype([("quint8", np.uint8)]), _QUANTIZED),
    ("qint32", 13, np.dtype([("qint32", np.int32)]), _QUANTIZED),
    ("bfloat16", 14, None, _FLOAT),
    ("qint16", 15, np.dtype([("qint16", np.int16)]), _QUANTIZED),
    ("quint16", 16, np.dtype([("quint16", np.uint16)]), _QUANTIZED),
    ("uint16", 17, np.uint16, _UINT),
    ("complex128", 18, np.complex128, _COMPLEX),
    ("float16", 19, np.float16, _FLOAT),
    ("resource", 20, None, _HANDLE),
    ("variant", 21, None, _HANDLE),
    ("uint32", 22, np.uint32, _UINT),
    ("uint64", 23, np.uint64, _UINT),
)

_INFO = {number: (name, numpy_type, kind) for name, number, numpy_type, kind in _TABLE}


class _NoNumpyType(KeyError, TypeError):
    """The error of `as_numpy_dtype`: TensorFlow's KeyError, which is also the TypeError of a wrong value."""



class DType:
    """The type of the elements of a tensor: `tf.float32`, `tf.int64`, `tf.string`, `tf.float32_ref`.

    Args:
      type_enum: The dtype's number in `types.proto`; `as_dtype` accepts more.

    Raises:
      TypeError: No dtype has this number.

    Example:
      >>> t = tf.float32
      >>> t.name, t.size, t.as_datatype_enum, t.base_dtype, tf.complex64.real_dtype, t.is_numpy_compatible
      ('float32', 4, 1, tf.float32, tf.float32, True)
      >>> t.is_floating, t.is_integer, t.is_bool, t.is_complex, t.is_quantized, tf.uint8.is_unsigned
      (True, False, False, False, False, True)
      >>> tf.uint8.min, tf.uint8.max, tf.uint8.limits, t.as_numpy_dtype is np.float32
      (0, 255, (0, 255), True)
      >>> v = tf.Variable(1.0)
      >>> v.dtype, t.is_compatible_with(v.dtype), t.is_compatible_with(tf.float64)
      (tf.float32_ref, True, False)
    """

    __slots__ = ("_number", "_kind", "_name", "_numpy", "_is_ref")

    _number: int
    _kind: str
    _name: str
    _numpy: Any
    _is_ref: builtins.bool

    def __new__(cls, type_enum: Any) -> "DType":
        number = int(type_enum)
        known = _BY_NUMBER.get(number)
        if known is not None:
            return known
        if number not in _INFO and number - _REF not in _INFO:
            raise TypeError(f"type_enum is not a valid types_pb2.DataType: {type_enum}")
        dtype = object.__new__(cls)
        dtype._is_ref = _REF < number
        name, dtype._numpy, dtype._kind = _INFO[number - _REF if dtype._is_ref else number]
        dtype._number = number
        dtype._name = name + "_ref" if dtype._is_ref else name
        _BY_NUMBER[number] = dtype
        return dtype

    @property
    def name(self) -> str:
        """The name, such as `"float32"` or `"int32_ref"`."""
        return self._name

    @property
    def as_datatype_enum(self) -> int:
        """The number in graph files (`types.proto`)."""
        return self._number

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy type of the values. Strings are `object` arrays of `bytes`.

        Raises:
          KeyError: There is no such type, as for resources. The error is also a `TypeError`.
        """
        if self._numpy is not None:
            return self._numpy
        if self._kind == _FLOAT:
            return _numpy_bfloat16()
        raise _NoNumpyType(f"the values of {self._name} tensors have no NumPy dtype")

    @property
    def base_dtype(self) -> "DType":
        """The dtype without `_ref`."""
        return _BY_NUMBER[self._number - _REF] if self._is_ref else self

    @property
    def _as_ref(self) -> "DType":
        return self if self._is_ref else _BY_NUMBER[self._number + _REF]

    @property
    def _is_ref_dtype(self) -> builtins.bool:
        return self._is_ref

    @property
    def real_dtype(self) -> "DType":
        """The dtype of the real and imaginary parts; the dtype itself unless complex."""
        if self._kind != _COMPLEX:
            return self
        return float32 if self.base_dtype is complex64 else float64

    @property
    def is_bool(self) -> builtins.bool:
        """Whether it is `bool`."""
        return self._kind == _BOOL

    @property
    def is_integer(self) -> builtins.bool:
        """Whether it is an integer dtype; quantized dtypes are not."""
        return self._kind in (_INT, _UINT)

    @property
    def is_floating(self) -> builtins.bool:
        """Whether it is a real floating-point dtype."""
        return self._kind == _FLOAT

    @property
    def is_complex(self) -> builtins.bool:
        """Whether it is complex."""
        return self._kind == _COMPLEX

    @property
    def is_quantized(self) -> builtins.bool:
        """Whether it is one of `QUANTIZED_DTYPES`."""
        return self._kind == _QUANTIZED

    @property
    def is_unsigned(self) -> builtins.bool:
        """Whether it is an unsigned integer."""
        return self._kind == _UINT

    @property
    def is_numpy_compatible(self) -> builtins.bool:
        """Whether values can be NumPy arrays."""
        return self._kind != _HANDLE

    @property
    def min(self) -> Any:
        """The smallest value of a real number type."""
        return self._extreme("minimum", "min")

    @property
    def max(self) -> Any:
        """The largest value of a real number type."""
        return self._extreme("maximum", "max")

    def _extreme(self, word: str, which: str) -> Any:
        if self._kind in (_INT, _UINT):
            return int(getattr(np.iinfo(self._numpy), which))
        if self.base_dtype is bfloat16:
            largest = 3.3895313892515355e38
            return _numpy_bfloat16()(largest if which == "max" else -largest)
        if self._kind == _FLOAT:
            return getattr(np.finfo(self._numpy), which)
        raise TypeError(f"Cannot find {word} value of {self}.")

    @property
    def limits(self, clip_negative: builtins.bool = True) -> Tuple[Any, Any]:
        """The range that image functions scale to: 0 to 1 for floats, 0 to the largest value for integers.

        Raises:
          KeyError: It is not a dtype of real numbers.
        """
        if self._kind in (_INT, _UINT):
            return 0, self.max
        if self._kind == _FLOAT:
            return 0, 1
        if self._kind == _BOOL:
            return False, True
        raise KeyError(self._name)

    @property
    def size(self) -> int:
        """The size of an element in bytes; 1 for handles."""
        if self._kind == _HANDLE:
            return 1
        return 2 if self._numpy is None else np.dtype(self._numpy).itemsize

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Returns whether tensors of dtype `other` are accepted: the same dtype, or a reference to it."""
        other = as_dtype(other)
        return self._number in (other._number, other.base_dtype._number)

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if other is None or isinstance(other, DType):
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __ne__(self, other: object) -> builtins.bool:
        return not self == other

    def __hash__(self) -> int:
        return self._number

    def __str__(self) -> str:
        return f"<dtype: {self._name!r}>"

    def __repr__(self) -> str:
        return "tf." + self._name

    def __reduce__(self) -> Any:
        return as_dtype, (self._name,)


_BY_NUMBER: Dict[int, DType] = {}

float32 = DType(1)
float64 = DType(2)
int32 = DType(3)
uint8 = DType(4)
int16 = DType(5)
int8 = DType(6)
string = DType(7)
complex64 = DType(8)
int64 = DType(9)
bool = DType(10)  # noqa: A001
qint8 = DType(11)
quint8 = DType(12)
qint32 = DType(13)
bfloat16 = DType(14)
qint16 = DType(15)
quint16 = DType(16)
uint16 = DType(17)
complex128 = DType(18)
float16 = DType(19)
resource = DType(20)
variant = DType(21)
uint32 = DType(22)
uint64 = DType(23)
half = float16
double = float64

float32_ref = DType(101)
float64_ref = DType(102)
int32_ref = DType(103)
uint8_ref = DType(104)
int16_ref = DType(105)
int8_ref = DType(106)
string_ref = DType(107)
complex64_ref = DType(108)
int64_ref = DType(109)
bool_ref = DType(110)
qint8_ref = DType(111)
quint8_ref = DType(112)
qint32_ref = DType(113)
bfloat16_ref = DType(114)
qint16_ref = DType(115)
quint16_ref = DType(116)
uint16_ref = DType(117)
complex128_ref = DType(118)
float16_ref = DType(119)
resource_ref = DType(120)
variant_ref = DType(121)
uint32_ref = DType(122)
uint64_ref = DType(123)
half_ref = float16_ref
double_ref = float64_ref

QUANTIZED_DTYPES: FrozenSet[DType] = frozenset(d for d in _BY_NUMBER.values() if d.is_quantized)

_BY_NAME: Dict[str, DType] = {d.name: d for d in _BY_NUMBER.values()}
_BY_NAME.update(half=float16, half_ref=float16_ref, double=float64, double_ref=float64_ref, float=float32)

# NumPy's and Python's types. TensorFlow reads `float` as float32, and knows no dtype for `int`.
_BY_TYPE: Dict[Any, DType] = {float: float32, builtins.bool: bool, object: string}
for _name, _number, _numpy, _kind in _TABLE:
    if _numpy is not None:
        _BY_TYPE.setdefault(_numpy, _BY_NUMBER[_number])
        _BY_TYPE[np.dtype(_numpy)] = _BY_NUMBER[_number]
del _name, _number, _numpy, _kind

np_resource = np.dtype([("resource", np.ubyte)])


def as_dtype(type_value: Any) -> DType:
    """Returns the `DType` of a name, a number of `types.proto`, a NumPy type, or `float`, `bool`, `object`.

    Args:
      type_value: One of these, or a `DType`.

    Returns:
      A `DType`.

    Raises:
      TypeError: `type_value` is none of these.

    Example:
      >>> tf.as_dtype("int32"), tf.as_dtype(np.float64), tf.as_dtype(1), tf.as_dtype(bool)
      (tf.int32, tf.float64, tf.float32, tf.bool)
    """
    if type(type_value) is DType:
        return type_value
    found = _look_up(type_value)
    if found is None:
        raise TypeError(f"Cannot convert value {type_value!r} to a TensorFlow DType.")
    return found


def _look_up(value: Any) -> Optional[DType]:
    if isinstance(value, str):
        return _BY_NAME.get(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, builtins.bool):
        return _BY_NUMBER.get(int(value))
    try:
        found = _BY_TYPE.get(value)
    except TypeError:  # Values that cannot be hashed are not dtypes.
        return None
    if found is not None:
        return found
    if isinstance(value, np.dtype):
        return _of_numpy(value)
    dtype = getattr(value, "dtype", None)  # Objects that carry a dtype, such as another library's dtype.
    if isinstance(dtype, np.dtype):
        return _of_numpy(dtype)
    if isinstance(value, type) and issubclass(value, np.generic):
        if value.__name__ == "bfloat16":
            return bfloat16
        # `str_` and `bytes_`, and numbers by their C names, such as `longlong`.
        return _of_numpy(np.dtype(value)) if issubclass(value, (np.str_, np.bytes_, np.number)) else None
    return None


def _of_numpy(dtype: np.dtype) -> Optional[DType]:
    if dtype.kind in "SUO":
        return string
    if dtype.name == "bfloat16":
        return bfloat16
    if dtype == np_resource:
        return resource
    # Types of the same size with several names in NumPy, and the other byte order.
    return _BY_TYPE.get(np.dtype(dtype.newbyteorder("=").str)) if dtype.kind in "fiubc" else None


def _numpy_bfloat16() -> Any:
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError("NumPy has no bfloat16: cast the tensor to float32, or install the package `ml_dtypes`") from None
    return ml_dtypes.bfloat16
