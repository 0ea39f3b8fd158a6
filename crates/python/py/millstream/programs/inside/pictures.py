"""Internal names of `tensorflow.python.ops.image_ops` and `image_ops_impl`: `NAMES`, by module."""

from __future__ import annotations

from typing import Any, Dict, List

from millstream.framework import convert_to_tensor
from millstream.image import boxes, checks, codecs, geometry, kernels, measures, resizing
from millstream.ops import array_ops, check_ops, random_ops
from millstream.ops.control_flow import with_dependencies


def _check_3d(image: Any, require_static: bool = True) -> List[Any]:
    """Returns the assertions that an image has rank 3 and is not empty, as far as its shape is unknown."""
    try:
        shape = image.get_shape().with_rank(3)
    except ValueError:
        raise ValueError("'image' (shape %s) must be three-dimensional." % image.get_shape()) from None
    if require_static and not shape.is_fully_defined():
        raise ValueError("'image' (shape %s) must be fully defined." % shape)
    if any(size == 0 for size in shape):
        raise ValueError("all dims of 'image.shape' must be > 0: %s" % shape)
    if shape.is_fully_defined():
        return []
    return [check_ops.assert_positive(array_ops.shape(image), ["all dims of 'image.shape' must be > 0."])]


def _static(assertions: Any) -> Any:
    """Returns the function of an image's assertions with the argument that the shape must be known."""

    def checked(image: Any, require_static: bool = True) -> List[Any]:
        found = assertions(image)
        if require_static and not image.get_shape().is_fully_defined():
            raise ValueError("'image' must be fully defined.")
        return list(found)

    return checked


def _turn(first: int) -> Any:
    def turned(image: Any, k: Any, name_scope: str) -> Any:
        return geometry._turned(image, convert_to_tensor(k), first, name_scope)

    return turned


def _ssim_per_channel(
    img1: Any, img2: Any, max_val: Any = 1.0, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03
) -> Any:
    """Returns the similarity of each channel of two images, and its factor of contrast and structure."""
    return measures._alike(img1, img2, max_val, filter_size, filter_sigma, k1, k2)


def sample_distorted_bounding_box_v2(
    image_size: Any,
    bounding_boxes: Any,
    seed: int = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: Any = None,
    use_image_if_no_bounding_boxes: Any = None,
    name: Any = None,
) -> Any:
    """Returns `tf.image.sample_distorted_bounding_box` of one seed."""
    first, second = random_ops.get_seed(seed) if seed else (0, 0)
    return boxes.sample_distorted_bounding_box(
        image_size, bounding_boxes, first, second, min_object_covered, aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes, name
    )


_NAMES: Dict[str, Any] = {
    "ResizeMethod": kernels.ResizeMethod,
    "ResizeMethodV1": resizing.ResizeMethod,
    "fix_image_flip_shape": geometry._shaped,
    "non_max_suppression_with_overlaps": boxes.non_max_suppression_overlaps,
    "resize_image_with_pad_v1": resizing.resize_image_with_pad,
    "resize_image_with_pad_v2": kernels.resize_image_with_pad_v2,
    "resize_images_v2": kernels.resize_images_v2,
    "sample_distorted_bounding_box_v2": sample_distorted_bounding_box_v2,
    "_Check3DImage": _check_3d,
    "_ImageDimensions": checks.dimensions,
}

_IMPL: Dict[str, Any] = {
    "_Assert3DImage": lambda image: with_dependencies(_check_3d(image, False), image),
    "_AssertAtLeast3DImage": lambda image: with_dependencies(checks.assertions(image), image),
    "_AssertGrayscaleImage": lambda image: with_dependencies(checks.gray_assertions(image), image),
    "_CheckAtLeast3DImage": _static(checks.assertions),
    "_CheckGrayscaleImage": _static(checks.gray_assertions),
    "_assert": checks.ensured,
    "_flip": geometry._flip,
    "_fspecial_gauss": measures._bell,
    "_is_png": codecs._is_png,
    "_is_tensor": checks.is_tensor,
    "_random_flip": geometry._random_flip,
    "_rot90_3D": _turn(0),
    "_rot90_4D": _turn(1),
    "_ssim_helper": measures._factors,
    "_ssim_per_channel": _ssim_per_channel,
    "_verify_compatible_image_shapes": measures._checks,
}

NAMES: Dict[str, Dict[str, Any]] = {
    "python.ops.gen_image_ops": {"scale_and_translate": kernels.scale_and_translate},
    "python.ops.image_ops": {**_NAMES, "scale_and_translate": kernels.scale_and_translate},
    "python.ops.image_ops_impl": {**_NAMES, **_IMPL},
}
