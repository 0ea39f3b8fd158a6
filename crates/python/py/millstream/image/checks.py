"""Checks of images, at once where shapes are known, otherwise as assertions of the run."""

from __future__ import annotations

from typing import Any, List, Tuple, Type

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor
from millstream.ops import array_ops, check_ops
from millstream.ops.control_flow import assert_, with_dependencies


def is_tensor(x: Any) -> bool:
    """Returns whether a number is known only in the run."""
    return isinstance(x, Tensor) or hasattr(x, "_as_graph_element")


def ensured(cond: Any, error: Type[Exception], words: str) -> List[Any]:
    """Returns a list with the assertion of a tensor, or checks a value at once."""
    if is_tensor(cond):
        return [assert_(cond, [words])]
    if not cond:
        raise error(words)
    return []


def dimensions(image: Tensor, rank: int) -> List[Any]:
    """Returns the dimensions of an image: ints where they are known, otherwise scalar tensors."""
    shape = image.get_shape()
    if shape.is_fully_defined():
        return list(shape.as_list())
    known = shape.with_rank(rank).as_list()
    return [d if s is None else s for s, d in zip(known, array_ops.unstack(array_ops.shape(image), rank))]


def assertions(image: Tensor) -> List[Any]:
    """Returns the assertions that an image has rank 3 or more and is not empty, as far as it is unknown."""
    shape = image.get_shape()
    try:
        shape = shape.with_rank(3) if shape.ndims is None else shape.with_rank_at_least(3)
    except ValueError:
        raise ValueError("'image' must be at least three-dimensional.") from None
    if any(d == 0 for d in shape):
        raise ValueError("all dims of 'image.shape' must be > 0: %s" % shape)
    if shape.is_fully_defined():
        return []
    return [
        check_ops.assert_positive(array_ops.shape(image), ["all dims of 'image.shape' must be > 0."]),
        check_ops.assert_greater_equal(array_ops.rank(image), 3, message="'image' must be at least three-dimensional."),
    ]


def checked(image: Any) -> Tensor:
    """Returns an image that has rank 3 or more and is not empty."""
    image = convert_to_tensor(image, name="image")
    return with_dependencies(assertions(image), image)


def ranked(image: Tensor) -> int:
    """Returns the rank of an image, 3 or 4. One of unknown rank is taken for a single image."""
    ndims = image.get_shape().ndims
    if ndims not in (None, 3, 4):
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    return 4 if ndims == 4 else 3


def batched(image: Any) -> Tuple[Tensor, bool]:
    """Returns an image as a batch, and whether it was one."""
    image = convert_to_tensor(image, name="image")
    unknown = image.get_shape().ndims is None
    if ranked(image) == 4:
        return image, True
    image = array_ops.expand_dims(image, 0)
    if unknown:
        image.set_shape([None] * 4)
    return image, False


def gray_assertions(image: Any) -> List[Any]:
    """Returns the assertions that an image has one channel, as far as its shape is unknown."""
    shape = image.get_shape()
    try:
        shape = shape.with_rank(2) if shape.ndims is None else shape.with_rank_at_least(2)
    except ValueError:
        raise ValueError("A grayscale image must be at least two-dimensional.") from None
    if shape.is_fully_defined():
        if shape[-1] != 1:
            raise ValueError("Last dimension of a grayscale image should be size 1.")
        return []
    return [
        check_ops.assert_equal(array_ops.shape(image)[-1], 1, message="Last dimension of a grayscale image should be size 1."),
        check_ops.assert_greater_equal(array_ops.rank(image), 3, message="A grayscale image must be at least two-dimensional."),
    ]
