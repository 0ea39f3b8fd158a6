"""Boxes in images: random parts, crops, outlines, and suppression of similar ones."""

from __future__ import annotations

from typing import Any, Optional, Tuple

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes, name_scope
from millstream.framework.deprecation import renamed
from millstream.framework.op_functions import op

__all__ = [
    "combined_non_max_suppression",
    "crop_and_resize",
    "draw_bounding_boxes",
    "extract_glimpse",
    "extract_image_patches",
    "extract_patches",
    "non_max_suppression",
    "non_max_suppression_overlaps",
    "non_max_suppression_padded",
    "non_max_suppression_with_scores",
    "sample_distorted_bounding_box",
]


def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Optional[int] = None,
    seed2: Optional[int] = None,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: Optional[int] = None,
    use_image_if_no_bounding_boxes: Optional[bool] = None,
    name: Optional[str] = None,
) -> Any:
    """Returns a random part of an image that covers some of an object.

    Args:
      image_size: An integer vector: height, width and number of channels.
      bounding_boxes: A tensor of `float32`, `[batch, n, 4]`: top, left, bottom and right of the objects, as
        parts of the height and the width.
      seed: A seed; with `seed2` zero or None for both, a random one.
      seed2: A second seed.
      min_object_covered: The least share of an object that must be covered.
      aspect_ratio_range: A list of two floats: the least and the largest ratio of width to height.
      area_range: A list of two floats: the least and the largest part of the image.
      max_attempts: The number of attempts, after which the whole image is returned.
      use_image_if_no_bounding_boxes: Whether no boxes count as one around the whole image.
      name: The name scope of the new operation.

    Returns:
      `(begin, size, bboxes)`: two vectors of three for `tf.slice`, and the part as a tensor `[1, 1, 4]`.

    Raises:
      ValueError: Shapes do not fit.
      tf.errors.InvalidArgumentError: When run: there is no box, or a range is not valid.

    Example:
      >>> begin, size, _ = tf.image.sample_distorted_bounding_box([50, 60, 3], [[[0.1, 0.2, 0.8, 0.9]]], 1, 2)
      >>> print(*tf.Session().run([begin, size]))
      [6 1 0] [26 26 -1]
    """
    with name_scope(name, "sample_distorted_bounding_box"):
        return op("SampleDistortedBoundingBoxV2")(
            image_size,
            bounding_boxes,
            min_object_covered,
            seed=seed,
            seed2=seed2,
            aspect_ratio_range=aspect_ratio_range,
            area_range=area_range,
            max_attempts=max_attempts,
            use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes,
            name=name,
        )


def draw_bounding_boxes(images: Any, boxes: Any, name: Optional[str] = None, colors: Any = None) -> Tensor:
    """Draws the outlines of boxes on images.

    Args:
      images: A tensor of `float32` or `float16`, `[batch, height, width, channels]`, with 1, 3 or 4 channels.
      boxes: A tensor of `float32`, `[batch, n, 4]`: top, left, bottom and right, as parts of the height and
        width.
      name: A name for the operation.
      colors: A tensor of `float32`, `[m, channels]`: the colours in turn. By default, ten.

    Returns:
      A tensor of the same dtype and shape.

    Raises:
      ValueError: Shapes do not fit.

    Example:
      >>> y = tf.image.draw_bounding_boxes(tf.zeros([1, 3, 3, 1]), [[[0.0, 0.0, 1.0, 1.0]]])
      >>> print(tf.Session().run(y)[0, :, :, 0])
      [[1. 1. 1.]
       [1. 0. 1.]
       [1. 1. 1.]]
    """
    if colors is None:
        return op("DrawBoundingBoxes")(images, boxes, name=name)
    return op("DrawBoundingBoxesV2")(images, boxes, colors, name=name)


def crop_and_resize(
    image: Any,
    boxes: Any,
    box_ind: Any = None,
    crop_size: Any = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: Optional[str] = None,
    box_indices: Any = None,
) -> Tensor:
    """Returns parts of images, resized to one size.

    Args:
      image: A tensor of numbers, `[batch, height, width, channels]`.
      boxes: A tensor of `float32`, `[n, 4]`: top, left, bottom and right, as parts of the height and width.
      box_ind: An `int32` vector: the number of the image of each box.
      crop_size: An `int32` vector: height and width of the results.
      method: `"bilinear"` or `"nearest"`.
      extrapolation_value: The value of pixels beyond the image.
      name: A name for the operation.
      box_indices: The later name of `box_ind`.

    Returns:
      A tensor of `float32`, `[n, crop_height, crop_width, channels]`.

    Raises:
      ValueError: Shapes do not fit.

    Example:
      >>> x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
      >>> print(tf.Session().run(tf.image.crop_and_resize(x, [[0.0, 0.5, 0.5, 1.0]], [0], [2, 2])).ravel())
      [1. 2. 4. 5.]
    """
    box_ind = renamed(box_indices, box_ind, "box_indices", "box_ind")
    return op("CropAndResize")(image, boxes, box_ind, crop_size, method, extrapolation_value, name=name)


_SUPPRESS = """Returns boxes in the order of their scores, without those that are similar to one before.

Args:
  boxes: A tensor of `float32`, `[n, 4]`: two corners of each box.
  scores: A tensor of `float32`, `[n]`.
  max_output_size: An integer scalar: the most boxes.
  iou_threshold: The quotient of intersection and union from which on boxes are similar.
  score_threshold: The score that a box must exceed.{more}
  name: The name scope of the new operation.

Returns:
  {returns}

Raises:
  ValueError: Shapes do not fit.

Example:
  >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.1], [2.0, 2.0, 3.0, 3.0]]
  >>> {example}
"""


def non_max_suppression(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5, score_threshold: Any = float("-inf"), name: Optional[str] = None) -> Tensor:
    """See below."""
    with name_scope(name, "non_max_suppression"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        return op("NonMaxSuppressionV3")(boxes, scores, max_output_size, iou_threshold, score_threshold)


def non_max_suppression_with_scores(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5, score_threshold: Any = float("-inf"), soft_nms_sigma: Any = 0.0, name: Optional[str] = None
) -> Tuple[Tensor, Tensor]:
    """See below."""
    with name_scope(name, "non_max_suppression_with_scores"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        soft_nms_sigma = convert_to_tensor(soft_nms_sigma, name="soft_nms_sigma")
        found = op("NonMaxSuppressionV5")(boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma, pad_to_max_output_size=False)
        return found[0], found[1]


def non_max_suppression_padded(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5, score_threshold: Any = float("-inf"), pad_to_max_output_size: bool = False, name: Optional[str] = None
) -> Any:
    """See below."""
    with name_scope(name, "non_max_suppression_padded"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        return op("NonMaxSuppressionV4")(boxes, scores, max_output_size, iou_threshold, score_threshold, pad_to_max_output_size)


non_max_suppression.__doc__ = _SUPPRESS.format(
    more="", returns="An `int32` vector: the indices of the selected boxes.", example="print(tf.Session().run(tf.image.non_max_suppression(boxes, [0.5, 0.9, 0.3], 3)))\n  [1 2]"
)
non_max_suppression_with_scores.__doc__ = _SUPPRESS.format(
    more="\n  soft_nms_sigma: The width of a curve that lowers the scores of similar boxes instead; 0 for none.",
    returns="The indices of the selected boxes, and their scores.",
    example="print(*tf.Session().run(tf.image.non_max_suppression_with_scores(boxes, [0.5, 0.9, 0.25], 3)))\n  [1 2] [0.9  0.25]",
)
non_max_suppression_padded.__doc__ = _SUPPRESS.format(
    more="\n  pad_to_max_output_size: Whether the result is filled up with zeros.",
    returns="The indices of the selected boxes, and their number.",
    example="print(*tf.Session().run(tf.image.non_max_suppression_padded(boxes, [0.5, 0.9, 0.3], 3, pad_to_max_output_size=True)))\n  [1 2 0] 2",
)


def non_max_suppression_overlaps(
    overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: Any = 0.5, score_threshold: Any = float("-inf"), name: Optional[str] = None
) -> Tensor:
    """Returns boxes in the order of their scores, without those that overlap one before too much.

    Args:
      overlaps: A tensor of `float32`, `[n, n]`: the overlap of each two boxes.
      scores: A tensor of `float32`, `[n]`.
      max_output_size: An integer scalar: the most boxes.
      overlap_threshold: The overlap that is too much.
      score_threshold: The score that a box must exceed.
      name: The name scope of the new operation.

    Returns:
      An `int32` vector: the indices of the selected boxes.

    Raises:
      ValueError: Shapes do not fit.

    Example:
      >>> y = tf.image.non_max_suppression_overlaps([[1.0, 0.6], [0.6, 1.0]], [0.5, 0.7], 3)
      >>> print(tf.Session().run(y))
      [1]
    """
    with name_scope(name, "non_max_suppression_overlaps"):
        overlap_threshold = convert_to_tensor(overlap_threshold, name="overlap_threshold")
        return op("NonMaxSuppressionWithOverlaps")(overlaps, scores, max_output_size, overlap_threshold, score_threshold)


def extract_image_patches(
    images: Any, ksizes: Any = None, strides: Any = None, rates: Any = None, padding: Optional[str] = None, name: Optional[str] = None, sizes: Any = None
) -> Tensor:
    """Returns the windows of images, with the pixels of each along the channels.

    Args:
      images: A tensor of numbers, `[batch, height, width, channels]`.
      ksizes: A list `[1, height, width, 1]`: the size of a window.
      strides: A list of four ints: the distance of windows.
      rates: A list of four ints: the distance of the pixels of a window.
      padding: `"SAME"` or `"VALID"`.
      name: A name for the operation.
      sizes: The later name of `ksizes`.

    Returns:
      A tensor of the same dtype and rank.

    Raises:
      ValueError: Shapes or attributes do not fit.

    Example:
      >>> x = tf.reshape(tf.range(4), [1, 1, 4, 1])
      >>> y = tf.extract_image_patches(x, [1, 1, 2, 1], [1, 1, 2, 1], [1, 1, 1, 1], "VALID")
      >>> print(tf.Session().run(y))
      [[[[0 1]
         [2 3]]]]
    """
    ksizes = renamed(sizes, ksizes, "sizes", "ksizes")
    return op("ExtractImagePatches")(images, ksizes=ksizes, strides=strides, rates=rates, padding=padding, name=name)


def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: Optional[str] = None) -> Tensor:
    """The later name of `extract_image_patches`, which has the meaning of the arguments.

    Args:
      images: A tensor of numbers, `[batch, height, width, channels]`.
      sizes: A list `[1, height, width, 1]`: the size of a window.
      strides: A list of four ints: the distance of windows.
      rates: A list of four ints: the distance of the pixels of a window.
      padding: `"SAME"` or `"VALID"`.
      name: A name for the operation.

    Returns:
      A tensor of the same dtype and rank.

    Example:
      >>> tf.image.extract_patches(tf.zeros([1, 4, 4, 3]), [1, 2, 2, 1], [1, 2, 2, 1], [1] * 4, "VALID").shape.as_list()
      [1, 2, 2, 12]
    """
    return op("ExtractImagePatches")(images, ksizes=sizes, strides=strides, rates=rates, padding=padding, name=name)


def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: Optional[str] = None,
) -> Any:
    """Returns the boxes of each image with high scores, without those that are like one of their class.

    Args:
      boxes: A tensor of `float32`, `[batch, n, q, 4]`: two opposite corners of each box. All classes have
        the same boxes if `q` is 1; otherwise each has its own.
      scores: A tensor of `float32`, `[batch, n, classes]`.
      max_output_size_per_class: An integer scalar: the most boxes of a class.
      max_total_size: An integer scalar: the most boxes of an image.
      iou_threshold: A float: two boxes are too similar if the quotient of their intersection and their union
        is greater.
      score_threshold: A float: the score that a box must exceed.
      pad_per_class: Whether there are no more rows than all classes can fill. By default there are
        `max_total_size`.
      clip_boxes: Whether corners are moved into `[0, 1]`.
      name: The name scope of the new operation.

    Returns:
      A named tuple: `nmsed_boxes`, `[batch, rows, 4]`, `nmsed_scores` and `nmsed_classes`, `[batch, rows]`,
      filled up
        with zeros, and `valid_detections`, `[batch]`, the number of boxes of each image.

    Raises:
      ValueError: Shapes do not fit.
      tf.errors.InvalidArgumentError: When run: a number is out of its range.

    Example:
      >>> boxes = [[[[0.0, 0.0, 1.0, 1.0]], [[0.0, 0.0, 1.0, 0.9]], [[0.5, 0.5, 0.6, 0.6]]]]
      >>> y = tf.image.combined_non_max_suppression(boxes, [[[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]], 1, 2)
      >>> y = tf.Session().run(y)
      >>> print(y.nmsed_scores, y.nmsed_classes, y.valid_detections)
      [[0.9 0.7]] [[0. 1.]] [2]
    """
    with name_scope(name, "combined_non_max_suppression"):
        iou_threshold = convert_to_tensor(iou_threshold, dtypes.float32, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, dtypes.float32, name="score_threshold")
        return op("CombinedNonMaxSuppression")(
            boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, score_threshold, pad_per_class, clip_boxes
        )


def extract_glimpse(
    input: Any,  # noqa: A002
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: Optional[str] = None,
) -> Tensor:
    """Returns one window of each image. Where a window leaves its image it holds noise, new in each run.

    Args:
      input: A tensor of `float32`, `[batch, height, width, channels]`.
      size: An integer vector: the height and the width of a window.
      offsets: A tensor of `float32`, `[batch, 2]`: the row and the column of the center of each window.
      centered: Whether places are measured from the center of the image. With `normalized` its sides are -1
        and 1.
      normalized: Whether places are parts of the height and the width, and not numbers of pixels.
      uniform_noise: As in TensorFlow 1.15, it changes nothing here: noise lies between the least and the
        greatest value of the image. The op, `tf.raw_ops.ExtractGlimpse`, has other kinds of `noise`.
      name: A name for the operation.

    Returns:
      A tensor of `float32`, `[batch, height of a window, width of a window, channels]`.

    Raises:
      ValueError: Shapes do not fit.

    Example:
      >>> x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
      >>> y = tf.image.extract_glimpse(x, [2, 2], [[1.0, 1.0]], centered=False, normalized=False)
      >>> print(tf.Session().run(y).ravel())
      [0. 1. 3. 4.]
    """
    return op("ExtractGlimpse")(input, size, offsets, centered=centered, normalized=normalized, uniform_noise=uniform_noise, name=name)
