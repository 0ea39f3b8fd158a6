"""The types of `SparseTensor`s and `IndexedSlices`, as `TensorSpec` is that of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from millstream.framework import dtypes, shapes
from millstream.framework.composites import IndexedSlices, IndexedSlicesValue, SparseTensor, SparseTensorValue
from millstream.framework.op_functions import op

__all__ = ["IndexedSlicesSpec", "SparseTensorSpec"]


class SparseTensorSpec(shapes.BatchableTypeSpec):
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
        if isinstance(other, SparseTensorSpec) and self._dtype != other._dtype:
            raise ValueError("Types are not compatible: %r vs %r" % (self._dtype, other._dtype))
        if not isinstance(other, SparseTensorSpec):
            raise ValueError("No TypeSpec is compatible with both %s and %s" % (self, other))
        return SparseTensorSpec(self._shape.most_specific_compatible_shape(other._shape), self._dtype)

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """Returns the type of a sparse tensor.

        Example:
          >>> tf.SparseTensorSpec.from_value(tf.SparseTensor([[0, 1]], [5], [2, 3]))
          SparseTensorSpec(TensorShape([Dimension(2), Dimension(3)]), tf.int32)
        """
        return cls(value.shape, value.dtype)

    def _serialize(self) -> Any:
        return self._shape, self._dtype

    @property
    def _component_specs(self) -> Any:
        rank = self._shape.ndims
        return [shapes.TensorSpec([None, rank], dtypes.int64), shapes.TensorSpec([None], self._dtype), shapes.TensorSpec([rank], dtypes.int64)]

    def _to_components(self, value: Any) -> Any:
        value = SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Any) -> Any:
        if all(isinstance(part, np.ndarray) for part in components):
            return SparseTensorValue(*components)
        return SparseTensor(*components)

    # In a list of tensors, a sparse tensor is one of its three parts.

    @property
    def _flat_tensor_specs(self) -> Any:
        return [shapes.TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value: Any) -> Any:
        return [op("SerializeSparse")(*self._to_components(value), out_type=dtypes.variant)]

    def _to_batched_tensor_list(self, value: Any) -> Any:
        value = SparseTensor.from_value(value)
        if value.shape.merge_with(self._shape).ndims == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        return [op("SerializeManySparse")(*self._to_components(value), out_type=dtypes.variant)]

    def _from_compatible_tensor_list(self, tensor_list: Any) -> Any:
        made = SparseTensor(*op("DeserializeSparse")(tensor_list[0], dtype=self._dtype))
        made.indices.set_shape([None, self._shape.ndims])
        made.dense_shape.set_shape([self._shape.ndims])
        return made

    def _batch(self, batch_size: Any) -> SparseTensorSpec:
        return SparseTensorSpec(shapes.TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> SparseTensorSpec:
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return SparseTensorSpec(self._shape[1:], self._dtype)

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


class IndexedSlicesSpec(shapes.TypeSpec):
    """The type of `IndexedSlices`.

    Args:
      shape: The shape of the whole tensor, or None for any.
      dtype: The dtype of the values.
      indices_dtype: The dtype of the indices.
      dense_shape_dtype: The dtype of `dense_shape`; None if the slices have none.
      indices_shape: The shape of the indices, a vector.

    Example:
      >>> spec = tf.IndexedSlicesSpec([None, 2], tf.float32)
      >>> spec.is_compatible_with(tf.IndexedSlices(tf.zeros([1, 2]), tf.constant([0], tf.int64)))
      True
      >>> spec.value_type is tf.IndexedSlices
      True
    """

    __slots__ = ("_shape", "_values_dtype", "_indices_dtype", "_dense_shape_dtype", "_indices_shape")

    def __init__(
        self, shape: Any = None, dtype: Any = dtypes.float32, indices_dtype: Any = dtypes.int64, dense_shape_dtype: Any = None, indices_shape: Any = None
    ) -> None:
        self._shape, self._values_dtype, self._indices_dtype = shapes.as_shape(shape), dtypes.as_dtype(dtype), dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = shapes.as_shape(indices_shape).with_rank(1)

    @property
    def value_type(self) -> Any:
        """The class of values of this type."""
        return IndexedSlices

    def _serialize(self) -> Any:
        return self._shape, self._values_dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape

    @property
    def _component_specs(self) -> Any:
        values = self._indices_shape.concatenate(self._shape[1:])
        specs = [shapes.TensorSpec(values, self._values_dtype), shapes.TensorSpec(self._indices_shape, self._indices_dtype)]
        if self._dense_shape_dtype is not None:
            specs.append(shapes.TensorSpec([self._shape.ndims], self._dense_shape_dtype))
        return tuple(specs)

    def _to_components(self, value: Any) -> Any:
        return (value.values, value.indices) if value.dense_shape is None else (value.values, value.indices, value.dense_shape)

    def _from_components(self, components: Any) -> Any:
        parts = list(components)
        if all(isinstance(part, np.ndarray) for part in parts):
            return IndexedSlicesValue(*parts, *[None] * (3 - len(parts)))
        return IndexedSlices(*parts)


def _spec_of(value: Any) -> Any:
    """Returns the type of a value that is a tensor or consists of tensors; None of others."""
    if isinstance(value, (SparseTensor, SparseTensorValue)):
        return SparseTensorSpec.from_value(SparseTensor.from_value(value) if isinstance(value, SparseTensorValue) else value)
    if isinstance(value, IndexedSlices):
        shape = value.values.shape[1:]
        n = shapes.TensorShape([None]).concatenate(shape) if value.dense_shape is None else shapes.TensorShape([None] * (shape.ndims + 1) if shape.ndims is not None else None)
        kind = None if value.dense_shape is None else value.dense_shape.dtype
        return IndexedSlicesSpec(n, value.values.dtype, value.indices.dtype, kind, value.indices.shape)
    if isinstance(value, np.ndarray):
        return shapes.TensorSpec(value.shape, value.dtype)
    if hasattr(value, "dtype") and hasattr(value, "get_shape"):
        return shapes.TensorSpec(value.get_shape(), value.dtype.base_dtype)
    return None


shapes.spec_makers.append(_spec_of)
