"""Files of images whose kind the run finds out, and the loss of JPEG files."""

from __future__ import annotations

from typing import Any, Callable, Optional

from millstream._engine import Tensor
from millstream.framework import control_dependencies, convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.image.checks import is_tensor
from millstream.image.colours import convert_image_dtype
from millstream.ops import indexing_ops, math_ops
from millstream.ops.control_flow import assert_, cond
from millstream.ops.random_ops import random_uniform
from millstream.ops.string_ops import substr

__all__ = ["adjust_jpeg_quality", "decode_image", "is_jpeg", "random_jpeg_quality"]


def is_jpeg(contents: Any, name: Optional[str] = None) -> Tensor:
    """Returns whether files are JPEG files, by their first bytes.

    Args:
      contents: A string scalar.
      name: The name scope of the new operations.

    Returns:
      A boolean scalar.

    Example:
      >>> file = tf.image.encode_jpeg(tf.zeros([2, 2, 3], tf.uint8))
      >>> print(*tf.Session().run([tf.image.is_jpeg(file), tf.image.is_jpeg("GIF89a")]))
      True False
    """
    with name_scope(name, "is_jpeg"):
        return math_ops.equal(substr(contents, 0, 3), b"\xff\xd8\xff", name=name)


def _is_png(contents: Any) -> Tensor:
    with name_scope(None, "is_png"):
        return math_ops.equal(substr(contents, 0, 3), b"\211PN")


def decode_image(contents: Any, channels: Optional[int] = None, dtype: Any = dtypes.uint8, name: Optional[str] = None, expand_animations: bool = True) -> Tensor:
    """Decodes a BMP, GIF, JPEG or PNG file.

    Args:
      contents: A string scalar.
      channels: The number of channels: 0 or None for that of the file, 1, 3 or 4.
      dtype: The dtype of the result; values are scaled to its range.
      name: The name scope of the new operations.
      expand_animations: Whether a GIF file gives a batch of all its frames. Otherwise it gives the first.

    Returns:
      A tensor of this dtype, `[height, width, channels]`, or `[frames, height, width, 3]` for a GIF file. The
        static shape is unknown.

    Raises:
      ValueError: There is no such number of channels.
      tf.errors.InvalidArgumentError: When run: the file is of no such kind, or has no such channels.

    Example:
      >>> file = tf.image.encode_png(tf.constant([[[1], [2]]], tf.uint8))
      >>> print(tf.Session().run(tf.image.decode_image(file, channels=3)))
      [[[1 1 1]
        [2 2 2]]]
    """
    with name_scope(name, "decode_image"):
        if channels not in (None, 0, 1, 3, 4):
            raise ValueError("channels must be in (None, 0, 1, 3, 4)")
        start = substr(contents, 0, 3)

        def refused(words: str, *others: int) -> Any:
            fits = [math_ops.not_equal(0 if channels is None else channels, n, name="check_channels") for n in others]
            both = fits[0] if len(fits) == 1 else op("LogicalAnd")(*fits)
            return assert_(both, [words])

        def bmp() -> Tensor:
            is_bmp = math_ops.equal(substr(contents, 0, 2), "BM", name="is_bmp")
            checks = [assert_(is_bmp, ["Unable to decode bytes as JPEG, PNG, GIF, or BMP"])]
            checks.append(refused("Channels must be in (None, 0, 3) when decoding BMP images", 1))
            with control_dependencies(checks):
                return convert_image_dtype(op("DecodeBmp")(contents), dtype)

        def gif() -> Tensor:
            with control_dependencies([refused("Channels must be in (None, 0, 3) when decoding GIF images", 1, 4)]):
                frames = convert_image_dtype(op("DecodeGif")(contents), dtype)
            return frames if expand_animations else indexing_ops.gather(frames, 0)

        def png() -> Tensor:
            wide = dtypes.uint8 if dtype == dtypes.uint8 else dtypes.uint16
            return convert_image_dtype(op("DecodePng")(contents, channels, dtype=wide), dtype)

        def jpeg() -> Tensor:
            with control_dependencies([refused("Channels must be in (None, 0, 1, 3) when decoding JPEG images", 4)]):
                return convert_image_dtype(op("DecodeJpeg")(contents, channels), dtype)

        def not_png() -> Tensor:
            return cond(math_ops.equal(start, b"\x47\x49\x46", name="is_gif"), gif, bmp, name="cond_gif")

        def not_jpeg() -> Tensor:
            return cond(_is_png(contents), png, not_png, name="cond_png")

        kinds: Callable[[], Tensor] = not_jpeg
        return cond(is_jpeg(contents), jpeg, kinds, name="cond_jpeg")


def adjust_jpeg_quality(image: Any, jpeg_quality: Any, name: Optional[str] = None) -> Tensor:
    """Returns an image as a JPEG file of this quality would have it.

    Args:
      image: A tensor `[height, width, channels]` with 1 or 3 channels.
      jpeg_quality: An int from 0 to 100, or an integer scalar.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same dtype and shape.

    Example:
      >>> y = tf.image.adjust_jpeg_quality(tf.fill([8, 8, 1], 0.5), 95)
      >>> print(np.unique(tf.Session().run(y).round(2)))
      [0.5]
    """
    with name_scope(name, "adjust_jpeg_quality", [image]) as name:
        image = convert_to_tensor(image, name="image")
        pixels = convert_image_dtype(image, dtypes.uint8)
        if not is_tensor(jpeg_quality):
            jpeg_quality = convert_to_tensor(jpeg_quality, dtype=dtypes.int32)
        file = op("EncodeJpegVariableQuality")(pixels, jpeg_quality)
        return convert_image_dtype(op("DecodeJpeg")(file), image.dtype)


def random_jpeg_quality(image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Optional[int] = None) -> Tensor:
    """Returns an image as a JPEG file of a random quality would have it.

    Args:
      image: A tensor `[height, width, channels]` with 1 or 3 channels.
      min_jpeg_quality: The least quality, from 0 to 100.
      max_jpeg_quality: A quality that is above all others, from 0 to 100.
      seed: A seed; see `tf.set_random_seed`.

    Returns:
      A tensor of the same dtype and shape.

    Raises:
      ValueError: A quality is out of range, or the first is not below the second.

    Example:
      >>> tf.image.random_jpeg_quality(tf.zeros([4, 5, 3]), 50, 95, seed=1).dtype
      tf.float32
    """
    if min_jpeg_quality < 0 or max_jpeg_quality < 0 or min_jpeg_quality > 100 or max_jpeg_quality > 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    return adjust_jpeg_quality(image, random_uniform([], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=dtypes.int32))
