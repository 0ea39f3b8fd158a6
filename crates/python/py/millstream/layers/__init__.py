"""`tf.layers`: functions of tensors that create variables at the first call, and then share them."""

from millstream.framework import namespaces
from millstream.layers.convolutional import (
    AveragePooling1D,
    AveragePooling2D,
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    MaxPooling1D,
    MaxPooling2D,
    SeparableConv2D,
    average_pooling1d,
    average_pooling2d,
    conv1d,
    conv2d,
    conv2d_transpose,
    max_pooling1d,
    max_pooling2d,
    separable_conv2d,
)
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

from millstream.layers.input_spec import InputSpec

__all__ = [
    "AveragePooling1D",
    "AveragePooling2D",
    "BatchNormalization",
    "Conv1D",
    "Conv2D",
    "Conv2DTranspose",
    "Dense",
    "Dropout",
    "Flatten",
    "InputSpec",
    "Layer",
    "MaxPooling1D",
    "MaxPooling2D",
    "SeparableConv2D",
    "average_pooling1d",
    "average_pooling2d",
    "batch_normalization",
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "dense",
    "dropout",
    "flatten",
    "max_pooling1d",
    "max_pooling2d",
    "separable_conv2d",
]

__dir__ = namespaces.dir_of(globals())
