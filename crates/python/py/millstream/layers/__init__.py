"""`tf.layers`: functions of tensors that create variables at the first call, and then share them."""

from millstream.framework import namespaces
from millstream.layers.core import (
    BatchNormalization,
    Dense,
    Dropout,
    Flatten,
    Layer,
    batch_normalization,
    dense,
    dropout,
    flatten,
    words,
)

__all__ = [
    "BatchNormalization",
    "Dense",
    "Dropout",
    "Flatten",
    "Layer",
    "batch_normalization",
    "dense",
    "dropout",
    "flatten",
]

__dir__ = namespaces.dir_of(globals())
