"""Arguments of datasets as tensors, and the types of what they make."""

from __future__ import annotations

from typing import Any

from millstream.data import structure
from millstream.framework import constant, convert_to_tensor, dtypes, node_counts, shapes
from millstream.ops.random_ops import get_seed

AUTOTUNE = -1


def int64(value: Any, name: str) -> Any:
    """Returns a number as an int64 tensor.

    Raises:
      ValueError: It has an axis.
    """
    number = convert_to_tensor(value, dtype=dtypes.int64, name=name)
    if number.shape.ndims not in (None, 0):
        raise ValueError("Shape must be rank 0 but is rank %d: `%s` is a number" % (number.shape.ndims, name))
    return number


def seeds(seed: Any) -> Any:
    """Returns the two seeds of a dataset as tensors, from a seed of its own and that of the graph."""
    first, second = get_seed(seed)
    if first is None:
        return constant(0, dtypes.int64, name="seed"), constant(0, dtypes.int64, name="seed2")
    node_counts.also(7)  # TensorFlow chooses the second seed in the graph.
    return constant(first, dtypes.int64, name="seed"), constant(second, dtypes.int64, name="seed2")


def batched(spec: Any, size: Any) -> Any:
    """Returns the type of a batch of components."""
    return type(spec)(shapes.TensorShape([None if size is None else int(size)]).concatenate(spec.shape), spec.dtype)


def must_be_dataset(value: Any) -> Any:
    """Returns the value; raises unless it is a dataset."""
    if not isinstance(value, structure.dataset_class()):
        found = structure.transform(structure.spec_of, structure.transform(convert_to_tensor, value))
        raise TypeError("`map_func` must return a `Dataset` object. Got %s" % (type(found),))
    return value
