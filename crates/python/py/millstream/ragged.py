"""`tf.ragged`: rows of different lengths; see `tf.RaggedTensor`."""

from millstream.framework import namespaces
from millstream.ops.ragged_math import range as range  # noqa: A004
from millstream.ops.ragged_rows import (
    boolean_mask as boolean_mask,
    stack as stack,
    stack_dynamic_partitions as stack_dynamic_partitions,
)
from millstream.ops.ragged_tensors import (
    RaggedTensorValue as RaggedTensorValue,
    constant as constant,
    constant_value as constant_value,
    map_flat_values as map_flat_values,
    placeholder as placeholder,
    row_splits_to_segment_ids as row_splits_to_segment_ids,
    segment_ids_to_row_splits as segment_ids_to_row_splits,
)

__all__ = [
    "RaggedTensorValue",
    "boolean_mask",
    "constant",
    "constant_value",
    "map_flat_values",
    "placeholder",
    "range",
    "row_splits_to_segment_ids",
    "segment_ids_to_row_splits",
    "stack",
    "stack_dynamic_partitions",
]

__dir__ = namespaces.dir_of(globals())
