"""`tf.data`: sequences of elements that a graph reads one by one.

- `structure`: structures of tensors, and the types of their leaves; `functions`: functions of elements;
- `datasets`: `Dataset` and the datasets of files; `iterators`: `Iterator`; `options`: `Options`;
- `arguments`: arguments as tensors; `padding`, `states`, `generators`, `interleaving`: methods of `Dataset`;
  `experimental`: transformations for `apply`.
"""

from millstream.framework import namespaces
from millstream.data import experimental as experimental
from millstream.data.datasets import (
    Dataset as Dataset,
    FixedLengthRecordDataset as FixedLengthRecordDataset,
    TextLineDataset as TextLineDataset,
    TFRecordDataset as TFRecordDataset,
    make_initializable_iterator as make_initializable_iterator,
    make_one_shot_iterator as make_one_shot_iterator,
)
from millstream.data.iterators import (
    Iterator as Iterator,
    get_output_classes as get_output_classes,
    get_output_shapes as get_output_shapes,
    get_output_types as get_output_types,
)
from millstream.data.options import Options as Options
from millstream.data.structure import DatasetSpec as DatasetSpec

__all__ = [
    "Dataset",
    "DatasetSpec",
    "FixedLengthRecordDataset",
    "Iterator",
    "Options",
    "TFRecordDataset",
    "TextLineDataset",
    "experimental",
    "get_output_classes",
    "get_output_shapes",
    "get_output_types",
    "make_initializable_iterator",
    "make_one_shot_iterator",
]

__dir__ = namespaces.dir_of(globals())
