"""`SparseTensorSpec`: the type of a `SparseTensor`, as `TensorSpec` is that of a tensor."""

from __future__ import annotations

from typing import Any

from millstream.framework import dtypes, shapes
from millstream.framework.composites import SparseTensor, SparseTensorValue

__all__ = ["SparseTensorSpec"]


class SparseTensorSpec(shapes.TypeSpec):
    """The type of a sparse tensor: its shape and the dtype of its values.

    Args:
      shape: The dense shape, or None for any.
      dtype: The dtype of the values.

    Example:
      >>> spec = tf.SparseTensorSpec([None, 3], tf.int32)
      >>> spec, spec.shape, spec.dtype, spec.value_type is tf.SparseTensor
      (SparseTensorSpec(TensorShape([Dimension(None), Dimension(3)]), tf.int32), TensorShape([Dimension(None), Dimension(3)]), tf.int32, True)
      >>> spec.is_compatible_with(tf.SparseTensor([[0, 1]], [5], [2, 3]))
      True
      >>> spec.most_specific_compatible_type(tf.SparseTensorSpec([2, 4], tf.int32)).shape
      TensorShape([Dimension(None), Dimension(None)])
    """

    __slots__ = ("_shape", "_dtype")

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32) -> None:
        self._shape, self._dtype = shapes.as_shape(shape), dtypes.as_dtype(dtype)

    @property
    def value_type(self) -> Any:
        """The class of values that meet the specification."""
        return SparseTensor

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the values."""
        return self._dtype

    @property
    def shape(self) -> shapes.TensorShape:
        """The dense shape."""
        return self._shape

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Returns whether a sparse tensor, or one of another specification, could meet this specification."""
        if not isinstance(spec_or_value, (SparseTensorSpec, SparseTensor, SparseTensorValue)):
            return False
        value = SparseTensor.from_value(spec_or_value) if isinstance(spec_or_value, SparseTensorValue) else spec_or_value
        return self._dtype.is_compatible_with(value.dtype) and self._shape.is_compatible_with(value.shape)

    def most_specific_compatible_type(self, other: Any) -> SparseTensorSpec:
        """Returns the most specific specification that both are compatible with.

        Raises:
          ValueError: The dtypes or the classes differ.
        """
        if not isinstance(other, SparseTensorSpec) or self._dtype != other._dtype:
            raise ValueError("No TypeSpec is compatible with both %s and %s" % (self, other))
        return SparseTensorSpec(self._shape.most_specific_compatible_shape(other._shape), self._dtype)

    def _key(self) -> Any:
        return self._shape._dims, self._dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SparseTensorSpec) and self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return "SparseTensorSpec(%r, %r)" % (self._shape, self._dtype)

    def __reduce__(self) -> Any:
        return SparseTensorSpec, (self._shape, self._dtype)
