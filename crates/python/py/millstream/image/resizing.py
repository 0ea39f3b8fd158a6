"""Resizing of images."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from millstream._engine import Tensor
from millstream.framework import constant_value_as_shape, convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.image.checks import assertions, batched, dimensions, ensured, is_tensor
from millstream.image.geometry import _larger, pad_to_bounding_box
from millstream.ops import array_ops, math_ops
from millstream.ops.control_flow import with_dependencies

__all__ = [
    "ResizeMethod",
    "resize_bicubic",
    "resize_bilinear",
    "resize_image_with_pad",
    "resize_images",
    "resize_nearest_neighbor",
]


class ResizeMethod:
    """The methods of `tf.image.resize_images`: how a pixel is made of those around its place.

    Example:
      >>> x = tf.constant([[[0.0], [4.0]]])
      >>> y = tf.image.resize_images(x, [1, 4], tf.image.ResizeMethod.NEAREST_NEIGHBOR)
      >>> print(tf.Session().run(y).ravel())
      [0. 0. 4. 4.]
    """

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


# The numbers and the later names of the methods.
_OPS = {
    0: "ResizeBilinear",
    1: "ResizeNearestNeighbor",
    2: "ResizeBicubic",
    3: "ResizeArea",
    "bilinear": "ResizeBilinear",
    "nearest": "ResizeNearestNeighbor",
    "bicubic": "ResizeBicubic",
    "area": "ResizeArea",
}

_RESIZE = """Resizes images{words}.

Args:
  images: A tensor of numbers, `[batch, height, width, channels]`.
  size: An `int32` vector: the new height and width.
  align_corners: Whether the centers of the pixels in the corners stay where they are.
  name: A name for the operation.
  half_pixel_centers: Whether the center of a pixel, not its corner, is its place.

Returns:
  A tensor of {dtype}.

Raises:
  ValueError: Shapes do not fit.

Example:
  >>> y = tf.image.{called}([[[[0.0], [4.0]]]], [1, 4])
  >>> print(tf.Session().run(y).ravel())
  [{values}]
"""


def _resize(op_name: str, called: str, words: str, dtype: str, values: str) -> Any:
    def function(images: Any, size: Any, align_corners: bool = False, name: Optional[str] = None, half_pixel_centers: bool = False) -> Tensor:
        return op(op_name)(images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _RESIZE.format(words=words, dtype=dtype, called=called, values=values)
    return function


resize_bilinear = _resize("ResizeBilinear", "resize_bilinear", ": each pixel is a mixture of the four around its place", "`float32`", "0. 2. 4. 4.")
resize_nearest_neighbor = _resize("ResizeNearestNeighbor", "resize_nearest_neighbor", ": each pixel is the one nearest to its place", "the same dtype", "0. 0. 4. 4.")
resize_bicubic = _resize("ResizeBicubic", "resize_bicubic", " by cubic curves through the sixteen pixels around each place", "`float32`", "0.    2.    4.    4.375")


def _kept_ratio(images: Tensor, height: Any, width: Any) -> Any:
    """Returns the largest size within the given one that keeps the ratio, and what is known of it."""
    _, rows, columns, _ = dimensions(images, 4)
    real = dtypes.float32
    by_rows = math_ops.cast(height, real) / math_ops.cast(rows, real)
    by_columns = math_ops.cast(width, real) / math_ops.cast(columns, real)
    scale = op("Minimum")(by_rows, by_columns)
    sides = [math_ops.cast(math_ops.round(scale * math_ops.cast(side, real)), dtypes.int32) for side in (rows, columns)]
    size = convert_to_tensor(sides, dtypes.int32, name="size")
    if is_tensor(rows) or is_tensor(columns):
        return size, (None, None)
    least = min(np.float32(height) / np.float32(rows), np.float32(width) / np.float32(columns))
    return size, tuple(int(np.round(least * np.float32(side))) for side in (rows, columns))


def resize_images(images: Any, size: Any, method: Any = 0, align_corners: bool = False, preserve_aspect_ratio: bool = False, name: Optional[str] = None) -> Tensor:
    """Resizes images.

    Args:
      images: A tensor of numbers, `[height, width, channels]` or `[batch, height, width, channels]`.
      size: An `int32` vector: the new height and width.
      method: A member of `tf.image.ResizeMethod`, or its later name: `"bilinear"`, `"nearest"`, `"bicubic"`
        or `"area"`.
      align_corners: Whether the centers of the pixels in the corners stay where they are.
      preserve_aspect_ratio: Whether the ratio of the sides is kept. The result then fits in `size`.
      name: The name scope of the new operations.

    Returns:
      The images, if they are known to have that size already. Otherwise a tensor of `float32`, or of the
        same dtype if the method is that of the nearest neighbor.

    Raises:
      ValueError: Shapes do not fit, or there is no such method.

    Example:
      >>> tf.image.resize_images(tf.zeros([10, 20, 3]), [5, 5], preserve_aspect_ratio=True).shape.as_list()
      [2, 5, 3]
      >>> print(tf.Session().run(tf.image.resize_images([[[0], [4]]], [1, 4])).ravel())
      [0. 2. 4. 4.]
    """
    def resize(images: Tensor, size: Tensor) -> Tensor:
        if method not in _OPS:
            raise ValueError("Resize method is not implemented.")
        return op(_OPS[method])(images, size, align_corners=align_corners)

    return resized(images, size, resize, preserve_aspect_ratio, name, True)


def resized(images: Any, size: Any, resize: Callable[[Tensor, Tensor], Tensor], preserve_aspect_ratio: bool, name: Optional[str], may_skip: bool) -> Tensor:
    """Returns images of a size, made by `resize`, or the images if they have that size and `may_skip`."""
    with name_scope(name, "resize", [images, size]):
        images = convert_to_tensor(images, name="images")
        ndims = images.get_shape().ndims
        if ndims is None:
            raise ValueError("'images' contains no shape.")
        if ndims not in (3, 4):
            raise ValueError("'images' must have either 3 or 4 dimensions.")
        if ndims == 3:
            images = array_ops.expand_dims(images, 0)
        _, rows, columns, _ = images.get_shape().as_list()
        try:
            size = convert_to_tensor(size, dtypes.int32, name="size")
        except (TypeError, ValueError):
            raise ValueError("'size' must be a 1-D int32 Tensor") from None
        if not size.get_shape().is_compatible_with([2]):
            raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
        height, width = constant_value_as_shape(size).as_list()
        known = height, width
        if preserve_aspect_ratio:
            size, known = _kept_ratio(images, height, width)
            height = width = None
        if not may_skip or None in (height, width) or (rows, columns) != (height, width):
            images = resize(images, size)
            images.set_shape([None, *known, None])
        return array_ops.squeeze(images, axis=[0]) if ndims == 3 else images


def resize_image_with_pad(image: Any, target_height: Any, target_width: Any, method: Any = 0, align_corners: bool = False) -> Tensor:
    """Resizes images and keeps the ratio of their sides; a border of zeros fills the rest.

    Args:
      image: A tensor of numbers, `[height, width, channels]` or `[batch, height, width, channels]`.
      target_height: The height of the result.
      target_width: The width of the result.
      method: A member of `tf.image.ResizeMethod`.
      align_corners: Whether the centers of the pixels in the corners stay where they are.

    Returns:
      A tensor of the same rank, of `float32` unless the method is that of the nearest neighbor.

    Raises:
      ValueError: A size is not positive, or the rank is not 3 or 4.

    Example:
      >>> y = tf.image.resize_image_with_pad([[[1.0], [2.0]]], 3, 2)
      >>> print(tf.Session().run(y).ravel())
      [0. 0. 1. 2. 0. 0.]
    """
    def resize(images: Tensor, size: Tensor) -> Tensor:
        if method not in _OPS:
            raise ValueError("Resize method is not implemented.")
        return op(_OPS[method])(images, size, align_corners=align_corners)

    return resized_with_pad(image, target_height, target_width, resize)


def resized_with_pad(image: Any, target_height: Any, target_width: Any, resize: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Returns images of a size, made by `resize` in the ratio of their sides, with a border of zeros."""
    with name_scope(None, "resize_image_with_pad", [image]):
        image, is_batch = batched(image)
        checks = assertions(image)
        checks += ensured(target_width > 0, ValueError, "target_width must be > 0.")
        checks += ensured(target_height > 0, ValueError, "target_height must be > 0.")
        image = with_dependencies(checks, image)
        _, height, width, _ = dimensions(image, 4)
        real = dtypes.float64
        rows, columns = math_ops.cast(height, real), math_ops.cast(width, real)
        target_rows, target_columns = math_ops.cast(target_height, real), math_ops.cast(target_width, real)
        ratio = _larger(columns / target_columns, rows / target_rows)
        new_rows, new_columns = rows / ratio, columns / ratio
        size = [math_ops.cast(op("Floor")(side), dtypes.int32) for side in (new_rows, new_columns)]
        halves = [(target_rows - new_rows) / 2, (target_columns - new_columns) / 2]
        floors = [op("Floor")(half) for half in halves]
        top, left = (_larger(0, math_ops.cast(half, dtypes.int32)) for half in floors)
        # The sizes are tensors to TensorFlow, so that even images of the right size become floats.
        padded = pad_to_bounding_box(resize(image, array_ops.stack(size)), top, left, target_height, target_width)
        dimensions(padded, 4)
        return padded if is_batch else array_ops.squeeze(padded, axis=[0])
