"""`tf.ragged`: rows of different lengths; see `tf.RaggedTensor`."""

from millstream.framework import namespaces
from millstream.ops.ragged_tensors import (
    RaggedTensorValue as RaggedTensorValue,
    constant as constant,
    map_flat_values as map_flat_values,
    row_splits_to_segment_ids as row_splits_to_segment_ids,
    segment_ids_to_row_splits as segment_ids_to_row_splits,
)

__all__ = ["RaggedTensorValue", "constant", "map_flat_values", "row_splits_to_segment_ids", "segment_ids_to_row_splits"]

__dir__ = namespaces.dir_of(globals())
