"""Resizing of images by kernels: the methods of TensorFlow 2's `tf.image.resize`, and antialiasing.

A resized image is `rows @ image @ columns`: a matrix holds the weights of the old pixels in the new ones.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Optional, Tuple

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.image import resizing
from millstream.image.checks import dimensions
from millstream.ops import array_ops, linalg_ops, math_ops, reduction_ops, shape_ops

_Kernel = Callable[[Tensor], Tensor]


def _lanczos(radius: float) -> _Kernel:
    def kernel(x: Tensor) -> Tensor:
        # The quotient has no value at 0, where the kernel is 1.
        safe = op("Maximum")(x, 1e-3)
        sin = op("Sin")
        value = radius * sin(math.pi * safe) * sin(math.pi * safe / radius) / (math.pi * math.pi * safe * safe)
        return shape_ops.where_v2(x <= 1e-3, 1.0, value)

    return kernel


def _gaussian(x: Tensor) -> Tensor:
    # The radius, 1.5, is three deviations, and lies outside.
    return shape_ops.where_v2(x < 1.5, op("Exp")(x * x * -2.0), 0.0)


def _triangle(x: Tensor) -> Tensor:
    return 1.0 - x


def _keys(x: Tensor) -> Tensor:
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return shape_ops.where_v2(x < 1.0, (1.5 * x - 2.5) * x * x + 1.0, far)


def _mitchell(x: Tensor) -> Tensor:
    far = ((-7.0 / 18.0 * x + 2.0) * x - 10.0 / 3.0) * x + 16.0 / 9.0
    return shape_ops.where_v2(x < 1.0, (7.0 / 6.0 * x - 2.0) * x * x + 8.0 / 9.0, far)


def _box(x: Tensor) -> Tensor:
    return shape_ops.where_v2(x < 0.5, 1.0, 0.5 * array_ops.ones_like(x))


# The radius of each kernel, and its value at a distance within it.
_KERNELS: Dict[str, Tuple[float, _Kernel]] = {
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, _gaussian),
    "box": (0.5, _box),
    "triangle": (1.0, _triangle),
    "keyscubic": (2.0, _keys),
    "mitchellcubic": (2.0, _mitchell),
}


def _weights(n_old: Any, n_new: Any, scale: Tensor, offset: Tensor, kernel_type: str, antialias: bool) -> Tensor:
    """Returns the matrix of weights `[new, old]` along an axis."""
    radius, kernel = _KERNELS[kernel_type]
    inverse = 1.0 / scale
    width = op("Maximum")(inverse, 1.0) if antialias else 1.0
    old = math_ops.cast(math_ops.range(n_old), dtypes.float32) + 0.5
    places = (math_ops.cast(math_ops.range(n_new), dtypes.float32) + 0.5) * inverse - inverse * offset
    distances = abs(array_ops.expand_dims(old, 0) - array_ops.expand_dims(places, 1)) / width
    weights = shape_ops.where_v2(distances <= radius, kernel(op("Minimum")(distances, radius)), 0.0)
    # A place outside of the image is black.
    inside = op("LogicalAnd")(places >= 0.0, places <= math_ops.cast(n_old, dtypes.float32))
    sums = reduction_ops.reduce_sum(weights, 1)
    is_kept = op("LogicalAnd")(inside, abs(sums) >= 1000.0 * 1.17549435e-38)
    factors = shape_ops.where_v2(is_kept, 1.0 / shape_ops.where_v2(is_kept, sums, 1.0), 0.0)
    return weights * array_ops.expand_dims(factors, 1)


def scale_and_translate(images: Any, size: Any, scale: Any, translation: Any, kernel_type: str = "lanczos3", antialias: bool = True, name: Optional[str] = None) -> Tensor:
    """Returns images that are scaled and moved: those of TensorFlow's op of this name.

    Args:
      images: A tensor of numbers, `[batch, height, width, channels]`.
      size: An `int32` vector: the new height and width.
      scale: A `float32` vector: the factors of the height and the width.
      translation: A `float32` vector: how far the images are moved.
      kernel_type: The name of the kernel: `lanczos3`, `gaussian`, `triangle` and so on.
      antialias: Whether the kernel is widened if images shrink.
      name: The name scope of the new operations.

    Returns:
      A tensor of `float32`.

    Raises:
      ValueError: There is no such kernel, or shapes do not fit.

    Example:
      >>> from millstream.image import kernels
      >>> y = kernels.scale_and_translate([[[[0.0], [4.0]]]], [1, 4], [1.0, 2.0], [0.0, 0.0], "triangle")
      >>> print(tf.Session().run(y).ravel())
      [0. 1. 3. 4.]
    """
    if kernel_type not in _KERNELS:
        raise ValueError("Unrecognized kernel type: %s" % kernel_type)
    with name_scope(name, "ScaleAndTranslate", [images, size, scale, translation]):
        images = math_ops.cast(convert_to_tensor(images), dtypes.float32)
        size = convert_to_tensor(size, dtypes.int32)
        scale, translation = convert_to_tensor(scale, dtypes.float32), convert_to_tensor(translation, dtypes.float32)
        _, n_rows, n_columns, _ = dimensions(images, 4)
        rows = _weights(n_rows, size[0], scale[0], translation[0], kernel_type, antialias)
        columns = _weights(n_columns, size[1], scale[1], translation[1], kernel_type, antialias)
        by_rows = linalg_ops.tensordot(images, rows, [[1], [1]])
        return array_ops.transpose(linalg_ops.tensordot(by_rows, columns, [[1], [1]]), [0, 2, 3, 1])


# The ops of methods that need no antialiasing, and the kernels of the others.
_OPS = {"bilinear": "ResizeBilinear", "nearest": "ResizeNearestNeighbor", "bicubic": "ResizeBicubic", "area": "ResizeArea"}
_BY_KERNEL = {"bilinear": "triangle", "bicubic": "keyscubic"}


class ResizeMethod:
    """The methods of `resize_images_v2`, by name."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def _resizer(method: Any, antialias: bool) -> Callable[[Tensor, Tensor], Tensor]:
    def by_kernel(images: Tensor, size: Tensor, kernel: str) -> Tensor:
        old = array_ops.shape(images)[1:3]
        scale = math_ops.cast(size, dtypes.float32) / math_ops.cast(old, dtypes.float32)
        return scale_and_translate(images, size, scale, array_ops.zeros([2]), kernel, antialias)

    def resize(images: Tensor, size: Tensor) -> Tensor:
        if method in ("lanczos3", "lanczos5", "gaussian", "mitchellcubic") or antialias and method in _BY_KERNEL:
            return by_kernel(images, size, _BY_KERNEL.get(method, method))
        if method not in _OPS:
            raise ValueError("Resize method is not implemented.")
        half = {} if method == "area" else {"half_pixel_centers": True}
        return op(_OPS[method])(images, size, **half)

    return resize


def resize_images_v2(images: Any, size: Any, method: Any = "bilinear", preserve_aspect_ratio: bool = False, antialias: bool = False, name: Optional[str] = None) -> Tensor:
    """Resizes images as TensorFlow 2 does: the centers of pixels are their places.

    Args:
      images: A tensor of numbers, `[height, width, channels]` or `[batch, height, width, channels]`.
      size: An `int32` vector: the new height and width.
      method: A member of `ResizeMethod`.
      preserve_aspect_ratio: Whether the ratio of the sides is kept.
      antialias: Whether pixels are averaged if images shrink.
      name: The name scope of the new operations.

    Returns:
      A tensor of `float32`, or of the same dtype if the method is that of the nearest neighbor.

    Raises:
      ValueError: Shapes do not fit, or there is no such method.

    Example:
      >>> from millstream.image import kernels
      >>> print(tf.Session().run(kernels.resize_images_v2([[[0.0], [4.0]]], [1, 4])).ravel())
      [0. 1. 3. 4.]
    """
    return resizing.resized(images, size, _resizer(method, antialias), preserve_aspect_ratio, name, False)


def resize_image_with_pad_v2(image: Any, target_height: Any, target_width: Any, method: Any = "bilinear", antialias: bool = False) -> Tensor:
    """Resizes images as `resize_images_v2` and keeps the ratio of their sides; zeros fill the rest.

    Args:
      image: A tensor of numbers, `[height, width, channels]` or `[batch, height, width, channels]`.
      target_height: The height of the result.
      target_width: The width of the result.
      method: A member of `ResizeMethod`.
      antialias: Whether pixels are averaged if images shrink.

    Returns:
      A tensor of the same rank.

    Raises:
      ValueError: A size is not positive, or the rank is not 3 or 4.

    Example:
      >>> from millstream.image import kernels
      >>> y = kernels.resize_image_with_pad_v2([[[1.0], [2.0]]], 3, 2)
      >>> print(tf.Session().run(y).ravel())
      [0. 0. 1. 2. 0. 0.]
    """
    return resizing.resized_with_pad(image, target_height, target_width, _resizer(method, antialias))
