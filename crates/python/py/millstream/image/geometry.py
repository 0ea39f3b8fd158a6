"""Flips, rotations, crops and borders of images."""

from __future__ import annotations

from typing import Any, List, Optional

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.image.checks import assertions, batched, checked, dimensions, ensured, is_tensor, ranked
from millstream.ops import array_ops, indexing_ops, math_ops
from millstream.ops.control_flow import case, cond, with_dependencies
from millstream.ops.random_ops import random_uniform

__all__ = [
    "central_crop",
    "crop_to_bounding_box",
    "flip_left_right",
    "flip_up_down",
    "pad_to_bounding_box",
    "random_flip_left_right",
    "random_flip_up_down",
    "resize_image_with_crop_or_pad",
    "rot90",
    "transpose_image",
]


def _reverse(image: Tensor, axes: List[int]) -> Tensor:
    return op("ReverseV2")(image, axes)


def _shaped(image: Tensor, result: Tensor) -> Tensor:
    result.set_shape([None] * 3 if image.get_shape().ndims is None else image.get_shape())
    return result


def _flip(image: Any, axis: int, scope: str) -> Tensor:
    with name_scope(None, scope, [image]):
        image = checked(image)
        if ranked(image) == 4:
            return _reverse(image, [axis + 1])
        return _shaped(image, _reverse(image, [axis]))


def _random_flip(image: Any, axis: int, seed: Optional[int], scope: str) -> Tensor:
    with name_scope(None, scope, [image]) as scope:
        image = checked(image)
        if ranked(image) == 3:
            chance = op("Less")(random_uniform([], 0, 1.0, seed=seed), 0.5)
            return _shaped(image, cond(chance, lambda: _reverse(image, [axis]), lambda: image, name=scope))
        batch = array_ops.shape(image)[0]
        chances = random_uniform([batch], 0, 1.0, seed=seed)
        flips = math_ops.cast(math_ops.round(array_ops.reshape(chances, [batch, 1, 1, 1])), image.dtype)
        return flips * _reverse(image, [axis + 1]) + (1 - flips) * image


_FLIP = """Flips images {words}{chance}.

Args:
  image: A tensor `[height, width, channels]`, or `[batch, height, width, channels]`.{seed}

Returns:
  A tensor of the same dtype and shape.{each}

Raises:
  ValueError: The rank is not 3 or 4.

Example:
  {example}
"""

_EXAMPLES = {
    0: ">>> print(tf.Session().run(tf.image.flip_up_down([[[1], [2]], [[3], [4]]])).ravel())\n  [3 4 1 2]",
    1: ">>> print(tf.Session().run(tf.image.flip_left_right([[[1], [2]], [[3], [4]]])).ravel())\n  [2 1 4 3]",
}


def _named(function: Any, called: str, axis: int, by_chance: bool) -> Any:
    seed = "\n  seed: A seed; see `tf.set_random_seed`." if by_chance else ""
    example = ">>> y = tf.image.%s(tf.zeros([4, 5, 3]), seed=1)\n  >>> y.shape.as_list()\n  [4, 5, 3]" % called
    function.__name__ = function.__qualname__ = called
    function.__doc__ = _FLIP.format(
        words="upside down" if axis == 0 else "left to right",
        chance=" with a chance of one half" if by_chance else "",
        seed=seed,
        each=" Each image of a batch has a chance of its own." if by_chance else "",
        example=example if by_chance else _EXAMPLES[axis],
    )
    return function


def _flip_of(axis: int, called: str) -> Any:
    def function(image: Any) -> Tensor:
        return _flip(image, axis, called)

    return _named(function, called, axis, False)


def _random_flip_of(axis: int, called: str) -> Any:
    def function(image: Any, seed: Optional[int] = None) -> Tensor:
        return _random_flip(image, axis, seed, called)

    return _named(function, called, axis, True)


flip_left_right = _flip_of(1, "flip_left_right")
flip_up_down = _flip_of(0, "flip_up_down")
random_flip_left_right = _random_flip_of(1, "random_flip_left_right")
random_flip_up_down = _random_flip_of(0, "random_flip_up_down")


def rot90(image: Any, k: Any = 1, name: Optional[str] = None) -> Tensor:
    """Rotates images counter-clockwise by `k` times 90 degrees.

    Args:
      image: A tensor `[height, width, channels]`, or `[batch, height, width, channels]`.
      k: An int, or an integer scalar.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same dtype and rank.

    Raises:
      ValueError: The rank is not 3 or 4.

    Example:
      >>> print(tf.Session().run(tf.image.rot90([[[1], [2]], [[3], [4]]])).ravel())
      [2 4 1 3]
    """
    with name_scope(name, "rot90", [image, k]) as scope:
        image = checked(image)
        k = convert_to_tensor(k, dtype=dtypes.int32, name="k")
        k.get_shape().assert_has_rank(0)
        k = op("FloorMod")(k, 4)
        return _turned(image, k, ranked(image) - 3, scope)


def _turned(image: Tensor, k: Tensor, first: int, scope: str) -> Tensor:
    """Returns images turned by `k` quarters, 0 to 3. Their rows are the axis `first`."""
    swapped = [0, 2, 1, 3] if first else [1, 0, 2]
    turns = [
        (op("Equal")(k, 1), lambda: array_ops.transpose(_reverse(image, [first + 1]), swapped)),
        (op("Equal")(k, 2), lambda: _reverse(image, [first, first + 1])),
        (op("Equal")(k, 3), lambda: _reverse(array_ops.transpose(image, swapped), [first + 1])),
    ]
    result = case(turns, default=lambda: image, exclusive=True, name=scope)
    if first:
        result.set_shape([result.get_shape()[0], None, None, result.get_shape()[3]])
    elif image.get_shape().ndims is not None:
        result.set_shape([None, None, image.get_shape()[2]])
    else:
        result.set_shape([None, None, None])
    return result


def transpose_image(image: Any, name: Optional[str] = None) -> Tensor:
    """Swaps the rows and the columns of images.

    Args:
      image: A tensor `[height, width, channels]`, or `[batch, height, width, channels]`.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same dtype and rank.

    Raises:
      ValueError: The rank is not 3 or 4.

    Example:
      >>> print(tf.Session().run(tf.image.transpose_image([[[1], [2]], [[3], [4]]])).ravel())
      [1 3 2 4]
    """
    with name_scope(name, "transpose", [image]):
        image = checked(image)
        return array_ops.transpose(image, [0, 2, 1, 3] if ranked(image) == 4 else [1, 0, 2], name=name or "transpose")


transpose_image.__name__ = "transpose"


def _central(image: Tensor, axis: int, fraction: float) -> Any:
    """Returns the start and the size of the central part of an axis."""
    size = image.get_shape()[axis].value
    if size is not None:
        start = int((float(size) - float(size) * fraction) / 2)
        return start, size - start * 2, size - start * 2
    size = array_ops.shape(image)[axis]
    wide = math_ops.cast(size, dtypes.float64)
    return math_ops.cast((wide - wide * fraction) / 2, dtypes.int32), size, None


def central_crop(image: Any, central_fraction: float) -> Tensor:
    """Returns the central part of images.

    Args:
      image: A tensor `[height, width, channels]`, or `[batch, height, width, channels]`.
      central_fraction: A float in `(0, 1]`: the part of the height and the width that is kept.

    Returns:
      A tensor of the same dtype and rank.

    Raises:
      ValueError: The fraction is out of range, or the rank is not 3 or 4.

    Example:
      >>> tf.image.central_crop(tf.zeros([8, 6, 3]), 0.5).shape.as_list()
      [4, 4, 3]
    """
    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        if central_fraction <= 0.0 or central_fraction > 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return image
        checked(image)
        rank = image.get_shape().ndims
        if rank not in (3, 4):
            raise ValueError(f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {rank}.")
        (top, height, rows), (left, width, columns) = (_central(image, rank - 3 + i, central_fraction) for i in (0, 1))
        height, width = (size - start * 2 if known is None else size for start, size, known in ((top, height, rows), (left, width, columns)))
        outer = [0] if rank == 4 else []
        begin, size = array_ops.stack([*outer, top, left, 0]), array_ops.stack([*(-1 for _ in outer), height, width, -1])
        shape = image.get_shape()
        image = indexing_ops.slice(image, begin, size)
        image.set_shape([*(shape[0] for _ in outer), rows, columns, shape[rank - 1]])
        return image


def _sides(batch: Any, height: Any, width: Any, depth: Any) -> List[Any]:
    return [None if is_tensor(d) else d for d in (batch, height, width, depth)]


def pad_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any) -> Tensor:
    """Surrounds images with zeros.

    Args:
      image: A tensor `[height, width, channels]`, or `[batch, height, width, channels]`.
      offset_height: The number of rows of zeros on top.
      offset_width: The number of columns of zeros at the left.
      target_height: The height of the result.
      target_width: The width of the result.

    Returns:
      A tensor of the same dtype and rank.

    Raises:
      ValueError: An offset is negative, or the image does not fit.

    Example:
      >>> print(tf.Session().run(tf.image.pad_to_bounding_box([[[1], [2]]], 1, 0, 2, 3)).ravel())
      [0 0 0 1 2 0]
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, is_batch = batched(image)
        checks = assertions(image)
        batch, height, width, depth = dimensions(image, 4)
        right, below = target_width - offset_width - width, target_height - offset_height - height
        checks += ensured(offset_height >= 0, ValueError, "offset_height must be >= 0")
        checks += ensured(offset_width >= 0, ValueError, "offset_width must be >= 0")
        checks += ensured(right >= 0, ValueError, "width must be <= target - offset")
        checks += ensured(below >= 0, ValueError, "height must be <= target - offset")
        image = with_dependencies(checks, image)
        paddings = array_ops.reshape(array_ops.stack([0, 0, offset_height, below, offset_width, right, 0, 0]), [4, 2])
        padded = array_ops.pad(image, paddings)
        padded.set_shape(_sides(batch, target_height, target_width, depth))
        return padded if is_batch else array_ops.squeeze(padded, axis=[0])


def crop_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any) -> Tensor:
    """Returns a rectangular part of images.

    Args:
      image: A tensor `[height, width, channels]`, or `[batch, height, width, channels]`.
      offset_height: The first row of the part.
      offset_width: The first column of the part.
      target_height: The height of the part.
      target_width: The width of the part.

    Returns:
      A tensor of the same dtype and rank.

    Raises:
      ValueError: An offset is negative, or the part is empty or not within the image.

    Example:
      >>> print(tf.Session().run(tf.image.crop_to_bounding_box([[[1], [2], [3]]], 0, 1, 1, 2)).ravel())
      [2 3]
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, is_batch = batched(image)
        checks = assertions(image)
        batch, height, width, depth = dimensions(image, 4)
        checks += ensured(offset_width >= 0, ValueError, "offset_width must be >= 0.")
        checks += ensured(offset_height >= 0, ValueError, "offset_height must be >= 0.")
        checks += ensured(target_width > 0, ValueError, "target_width must be > 0.")
        checks += ensured(target_height > 0, ValueError, "target_height must be > 0.")
        checks += ensured(width >= (target_width + offset_width), ValueError, "width must be >= target + offset.")
        checks += ensured(height >= (target_height + offset_height), ValueError, "height must be >= target + offset.")
        image = with_dependencies(checks, image)
        begin = array_ops.stack([0, offset_height, offset_width, 0])
        cropped = indexing_ops.slice(image, begin, array_ops.stack([-1, target_height, target_width, -1]))
        cropped.set_shape(_sides(batch, target_height, target_width, depth))
        return cropped if is_batch else array_ops.squeeze(cropped, axis=[0])


def _larger(x: Any, y: Any) -> Any:
    return op("Maximum")(x, y) if is_tensor(x) or is_tensor(y) else max(x, y)


def _smaller(x: Any, y: Any) -> Any:
    return op("Minimum")(x, y) if is_tensor(x) or is_tensor(y) else min(x, y)


def _equal(x: Any, y: Any) -> Any:
    return math_ops.equal(x, y) if is_tensor(x) or is_tensor(y) else x == y


def resize_image_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """Returns images of another size: the central part, or the whole with a border of zeros.

    Args:
      image: A tensor `[height, width, channels]`, or `[batch, height, width, channels]`.
      target_height: The height of the result.
      target_width: The width of the result.

    Returns:
      A tensor of the same dtype and rank.

    Raises:
      ValueError: A size is not positive.

    Example:
      >>> print(tf.Session().run(tf.image.resize_image_with_crop_or_pad([[[1], [2], [3]]], 2, 1)).ravel())
      [2 0]
    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, is_batch = batched(image)
        checks = assertions(image)
        checks += ensured(target_width > 0, ValueError, "target_width must be > 0.")
        checks += ensured(target_height > 0, ValueError, "target_height must be > 0.")
        image = with_dependencies(checks, image)
        if is_tensor(target_height):
            target_height = with_dependencies(checks, target_height)
        if is_tensor(target_width):
            target_width = with_dependencies(checks, target_width)
        _, height, width, _ = dimensions(image, 4)
        across = target_width - width
        left, border_left = _larger(-across // 2, 0), _larger(across // 2, 0)
        down = target_height - height
        top, border_top = _larger(-down // 2, 0), _larger(down // 2, 0)
        cropped = crop_to_bounding_box(image, top, left, _smaller(target_height, height), _smaller(target_width, width))
        resized = pad_to_bounding_box(cropped, border_top, border_left, target_height, target_width)
        _, height, width, _ = dimensions(resized, 4)
        checks = ensured(_equal(height, target_height), ValueError, "resized height is not correct.")
        checks += ensured(_equal(width, target_width), ValueError, "resized width is not correct.")
        resized = with_dependencies(checks, resized)
        return resized if is_batch else array_ops.squeeze(resized, axis=[0])
