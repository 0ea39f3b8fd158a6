"""Colours of images: value ranges, brightness, contrast, hue, saturation, and other ways to write colours."""

from __future__ import annotations

from typing import Any, Callable, Optional

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.image.checks import checked, ensured, gray_assertions
from millstream.ops import array_ops, linalg_ops, math_ops, reduction_ops
from millstream.ops.control_flow import with_dependencies
from millstream.ops.random_ops import random_uniform

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "convert_image_dtype",
    "grayscale_to_rgb",
    "per_image_standardization",
    "random_brightness",
    "random_contrast",
    "random_hue",
    "random_saturation",
    "rgb_to_grayscale",
    "rgb_to_yiq",
    "rgb_to_yuv",
    "yiq_to_rgb",
    "yuv_to_rgb",
]


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: Optional[str] = None) -> Tensor:
    """Converts images to another dtype, and scales their values to its range.

    Floats have the range from 0 to 1, integers that from 0 to their largest value.

    Args:
      image: A tensor of floats or integers.
      dtype: A dtype of floats or integers.
      saturate: Whether values beyond the range become the nearest within it. Otherwise they wrap around.
      name: A name for the operation.

    Returns:
      A tensor of this dtype.

    Raises:
      AttributeError: The dtype is neither one of floats nor one of integers.

    Example:
      >>> print(tf.Session().run(tf.image.convert_image_dtype([0.0, 0.5, 1.0], tf.uint8)))
      [  0 127 255]
    """
    image, dtype = convert_to_tensor(image, name="image"), dtypes.as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if dtype == image.dtype:
        return array_ops.identity(image, name=name)
    convert: Callable[..., Tensor] = math_ops.saturate_cast if saturate else math_ops.cast
    with name_scope(name, "convert_image", [image]) as name:
        if image.dtype.is_floating and dtype.is_floating:
            return math_ops.cast(image, dtype, name=name)
        if image.dtype.is_floating:
            # The half makes up for the cast, which rounds towards zero.
            return convert(math_ops.multiply(image, dtype.max + 0.5), dtype, name=name)
        if dtype.is_floating:
            return math_ops.multiply(math_ops.cast(image, dtype), 1.0 / image.dtype.max, name=name)
        largest, wanted = image.dtype.max, dtype.max
        if largest > wanted:
            return convert(math_ops.div(image, (largest + 1) // (wanted + 1)), dtype, name=name)
        return math_ops.multiply(convert(image, dtype), (wanted + 1) // (largest + 1), name=name)


def _as_floats(image: Tensor) -> Tensor:
    """Returns an image of float16 or float32 as it is, another as float32."""
    return image if image.dtype in (dtypes.float16, dtypes.float32) else convert_image_dtype(image, dtypes.float32)


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """Adds `delta` to images of floats, or its share of the range to images of integers.

    Args:
      image: A tensor.
      delta: A number, usually between -1 and 1.

    Returns:
      A tensor of the same dtype and shape.

    Example:
      >>> print(tf.Session().run(tf.image.adjust_brightness(tf.constant([0, 100, 200], tf.uint8), 0.5)))
      [127 227 255]
    """
    with name_scope(None, "adjust_brightness", [image, delta]) as name:
        image = convert_to_tensor(image, name="image")
        floats = _as_floats(image)
        adjusted = op("Add")(floats, math_ops.cast(delta, floats.dtype), name=name)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Scales the distance of each channel of an image from its mean.

    Args:
      images: A tensor whose last three axes are height, width and channels.
      contrast_factor: A float.

    Returns:
      A tensor of the same dtype and shape.

    Example:
      >>> print(tf.Session().run(tf.image.adjust_contrast([[[1.0], [3.0]]], 2.0)).ravel())
      [0. 4.]
    """
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as name:
        images = convert_to_tensor(images, name="images")
        adjusted = op("AdjustContrastv2")(_as_floats(images), contrast_factor, name=name)
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """Computes `gain * image ** gamma`, for values from 0 to 1.

    Args:
      image: A tensor.
      gamma: A number, at least 0.
      gain: A number.

    Returns:
      A tensor of the same dtype and shape.

    Raises:
      ValueError: `gamma` is negative.

    Example:
      >>> print(tf.Session().run(tf.image.adjust_gamma(tf.constant([0.5, 1.0]), 2)))
      [0.25 1.  ]
    """
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert_to_tensor(image, name="image")
        floats = _as_floats(image)
        checks = ensured(gamma >= 0, ValueError, "Gamma should be a non-negative real number.")
        if checks:
            gamma = with_dependencies(checks, gamma)
        return convert_image_dtype(gain * floats**gamma, image.dtype, saturate=True)


_ADJUST = """{first}

Args:
  image: A tensor whose last axis is red, green and blue.
  {factor}: A float{meaning}.
  name: The name scope of the new operations.

Returns:
  A tensor of the same dtype and shape.

Example:
  >>> print(tf.Session().run(tf.image.{called}([[[0.0, 0.5, 1.0]]], {value})).ravel())
  [{result}]
"""


def _colour_adjusted(op_name: str, called: str, image: Any, factor: Any, name: Optional[str]) -> Tensor:
    with name_scope(name, called, [image]) as name:
        image = convert_to_tensor(image, name="image")
        return convert_image_dtype(op(op_name)(_as_floats(image), factor), image.dtype)


def adjust_hue(image: Any, delta: Any, name: Optional[str] = None) -> Tensor:
    """See below."""
    return _colour_adjusted("AdjustHue", "adjust_hue", image, delta, name)


def adjust_saturation(image: Any, saturation_factor: Any, name: Optional[str] = None) -> Tensor:
    """See below."""
    return _colour_adjusted("AdjustSaturation", "adjust_saturation", image, saturation_factor, name)


adjust_hue.__doc__ = _ADJUST.format(
    first="Turns the hue of images.", factor="delta", meaning=": a part of a whole turn", called="adjust_hue", value=0.5, result="1.  0.5 0. "
)
adjust_saturation.__doc__ = _ADJUST.format(
    first="Multiplies the saturation of images by a factor, up to 1.",
    factor="saturation_factor",
    meaning="",
    called="adjust_saturation",
    value=0.0,
    result="1. 1. 1.",
)


_RANDOM = """{first} by a random amount.

Args:
  image: A tensor{pixels}.
{arguments}
  seed: A seed; see `tf.set_random_seed`.

Returns:
  A tensor of the same dtype and shape.

Raises:
  ValueError: {raises}.

Example:
  >>> tf.image.{called}(tf.zeros([4, 5, 3]), {values}, seed=1).shape.as_list()
  [4, 5, 3]
"""


def _by_delta(called: str, adjust: Callable[[Any, Any], Tensor], first: str, most: Optional[float]) -> Any:
    def function(image: Any, max_delta: float, seed: Optional[int] = None) -> Tensor:
        if most is not None and max_delta > most:
            raise ValueError("max_delta must be <= %s." % most)
        if max_delta < 0:
            raise ValueError("max_delta must be non-negative.")
        return adjust(image, random_uniform([], -max_delta, max_delta, seed=seed))

    limit = "" if most is None else f" and at most {most}"
    function.__name__ = function.__qualname__ = called
    function.__doc__ = _RANDOM.format(
        first=first,
        pixels="" if most is None else " whose last axis is red, green and blue",
        arguments=f"  max_delta: The largest amount, at least 0{limit}. The least is its negative.",
        raises="`max_delta` is out of range",
        called=called,
        values=0.25,
    )
    return function


def _by_factor(called: str, adjust: Callable[[Any, Any], Tensor], first: str) -> Any:
    def function(image: Any, lower: float, upper: float, seed: Optional[int] = None) -> Tensor:
        if upper <= lower:
            raise ValueError("upper must be > lower.")
        if lower < 0:
            raise ValueError("lower must be non-negative.")
        return adjust(image, random_uniform([], lower, upper, seed=seed))

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _RANDOM.format(
        first=first,
        pixels="",
        arguments="  lower: The least factor, at least 0.\n  upper: The largest factor.",
        raises="`lower` is negative, or `upper` is not above it",
        called=called,
        values="0.5, 2.0",
    )
    return function


random_brightness = _by_delta("random_brightness", adjust_brightness, "Changes the brightness of images", None)
random_hue = _by_delta("random_hue", adjust_hue, "Turns the hue of images", 0.5)
random_contrast = _by_factor("random_contrast", adjust_contrast, "Changes the contrast of images")
random_saturation = _by_factor("random_saturation", adjust_saturation, "Changes the saturation of images")


def _deviation(image: Tensor) -> Tensor:
    """Returns the standard deviation of the last three axes."""
    axes = [-1, -2, -3]
    with name_scope("reduce_std"):
        with name_scope("reduce_variance"):
            mean = reduction_ops.reduce_mean(image, axis=axes, keepdims=True)
            variance = reduction_ops.reduce_mean(op("Square")(image - mean), axis=axes, keepdims=True)
        return op("Sqrt")(variance)


def per_image_standardization(image: Any) -> Tensor:
    """Scales each image to a mean of 0 and a standard deviation of 1.

    The deviation counts as at least `1 / sqrt(n)`, for `n` values in an image.

    Args:
      image: A tensor whose last three axes are height, width and channels.

    Returns:
      A tensor of the same dtype and shape.

    Raises:
      ValueError: The rank is below 3.

    Example:
      >>> print(tf.Session().run(tf.image.per_image_standardization([[[1.0], [3.0]]])).ravel())
      [-1.  1.]
    """
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = checked(image)
        dtype = image.dtype
        image = _as_floats(image)
        count = reduction_ops.reduce_prod(array_ops.shape(image)[-3:])
        mean = reduction_ops.reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = _deviation(image)
        least = op("Rsqrt")(math_ops.cast(count, image.dtype))
        deviation = op("Maximum")(deviation, least)
        return convert_image_dtype(math_ops.div(image - mean, deviation, name=scope), dtype, saturate=True)


def rgb_to_grayscale(images: Any, name: Optional[str] = None) -> Tensor:
    """Returns the luminance of colours.

    Args:
      images: A tensor whose last axis is red, green and blue.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype whose last axis has 1 channel.

    Example:
      >>> print(tf.Session().run(tf.image.rgb_to_grayscale(tf.constant([[255, 255, 0]], tf.uint8))))
      [[226]]
    """
    with name_scope(name, "rgb_to_grayscale", [images]) as name:
        images = convert_to_tensor(images, name="images")
        floats = convert_image_dtype(images, dtypes.float32)
        gray = linalg_ops.tensordot(floats, [0.2989, 0.5870, 0.1140], [-1, -1])
        return convert_image_dtype(array_ops.expand_dims(gray, -1), images.dtype, name=name)


def grayscale_to_rgb(images: Any, name: Optional[str] = None) -> Tensor:
    """Repeats the one channel of images three times.

    Args:
      images: A tensor whose last axis has 1 channel.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype whose last axis has 3 channels.

    Raises:
      ValueError: The last axis does not have 1 channel.

    Example:
      >>> print(tf.Session().run(tf.image.grayscale_to_rgb([[7]])))
      [[7 7 7]]
    """
    with name_scope(name, "grayscale_to_rgb", [images]) as name:
        images = convert_to_tensor(images, name="images")
        images = with_dependencies(gray_assertions(images), images)
        outer = array_ops.expand_dims(array_ops.rank(images) - 1, 0)
        multiples = array_ops.concat([array_ops.ones(outer, dtype=dtypes.int32), array_ops.expand_dims(3, 0)], 0)
        rgb = op("Tile")(images, multiples, name=name)
        rgb.set_shape(images.get_shape()[:-1].concatenate([3]))
        return rgb


_TURN = """Converts colours from {of} to {to}.

Args:
  images: A tensor of floats whose last axis is {of}.

Returns:
  A tensor of the same dtype and shape.

Example:
  >>> y = tf.image.{called}([[{pixel}]])
  >>> print(tf.Session().run(y).round(3))
  [[{result}]]
"""


def _turn(of: str, to: str, weights: Any, pixel: str, result: str) -> Any:
    called = "%s_to_%s" % (of.lower(), to.lower())

    def function(images: Any) -> Tensor:
        images = convert_to_tensor(images, name="images")
        kernel = convert_to_tensor(weights, dtype=images.dtype, name="kernel")
        return linalg_ops.tensordot(images, kernel, axes=[[images.get_shape().ndims - 1], [0]])

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _TURN.format(of=of, to=to, called=called, pixel=pixel, result=result)
    return function


# The weights of each channel in the others.
rgb_to_yiq = _turn("RGB", "YIQ", [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]], "1.0, 0.0, 0.0", "0.299 0.596 0.212")
yiq_to_rgb = _turn("YIQ", "RGB", [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]], "1.0, 0.0, 0.0", "1. 1. 1.")
rgb_to_yuv = _turn("RGB", "YUV", [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]], "1.0, 0.0, 0.0", " 0.299 -0.147  0.615")
yuv_to_rgb = _turn("YUV", "RGB", [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]], "1.0, 0.0, 0.0", "1. 1. 1.")
