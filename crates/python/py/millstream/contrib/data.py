"""`tf.contrib.data`: transformations of datasets, under their names before `tf.data.experimental`."""

from millstream.framework import namespaces
from millstream.data.experimental import (
    AUTOTUNE,
    Counter,
    RandomDataset,
    batch_and_drop_remainder,
    bucket_by_sequence_length,
    enumerate_dataset,
    get_single_element,
    group_by_window,
    ignore_errors,
    map_and_batch,
    padded_batch_and_drop_remainder,
    parallel_interleave,
    scan,
    shuffle_and_repeat,
    sloppy_interleave,
    unbatch,
)

__all__ = [
    "AUTOTUNE",
    "Counter",
    "RandomDataset",
    "batch_and_drop_remainder",
    "bucket_by_sequence_length",
    "enumerate_dataset",
    "get_single_element",
    "group_by_window",
    "ignore_errors",
    "map_and_batch",
    "padded_batch_and_drop_remainder",
    "parallel_interleave",
    "scan",
    "shuffle_and_repeat",
    "sloppy_interleave",
    "unbatch",
]

__dir__ = namespaces.dir_of(globals())
