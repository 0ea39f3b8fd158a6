"""`tf.image`. Functions that are one op each are created when they are first requested.

- `resizing`; `geometry`: flips, rotations, crops and borders; `colours`; `boxes`; `measures`;
- `codecs`: files whose kind the run finds out; `checks`: what they ask of images.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, List

from millstream.framework import namespaces

_MODULES = {
    "boxes": (
        "combined_non_max_suppression crop_and_resize draw_bounding_boxes extract_glimpse extract_image_patches extract_patches non_max_suppression non_max_suppression_overlaps"
        " non_max_suppression_padded non_max_suppression_with_scores sample_distorted_bounding_box"
    ),
    "codecs": "adjust_jpeg_quality decode_image is_jpeg random_jpeg_quality",
    "colours": (
        "adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation convert_image_dtype grayscale_to_rgb"
        " per_image_standardization random_brightness random_contrast random_hue random_saturation rgb_to_grayscale rgb_to_yiq rgb_to_yuv"
        " yiq_to_rgb yuv_to_rgb"
    ),
    "geometry": (
        "central_crop crop_to_bounding_box flip_left_right flip_up_down pad_to_bounding_box random_flip_left_right random_flip_up_down"
        " resize_image_with_crop_or_pad rot90 transpose_image"
    ),
    "measures": "image_gradients psnr sobel_edges ssim ssim_multiscale total_variation",
    "resizing": "ResizeMethod resize_bicubic resize_bilinear resize_image_with_pad resize_images resize_nearest_neighbor",
}

_PLACES = {name: f"millstream.image.{module}:{name}" for module, names in _MODULES.items() for name in names.split()}
# The later names of some.
_PLACES["resize"] = _PLACES["resize_images"]
_PLACES["resize_with_crop_or_pad"] = _PLACES["resize_image_with_crop_or_pad"]
_PLACES["transpose"] = _PLACES["transpose_image"]
namespaces.place("image", _PLACES)

if TYPE_CHECKING:
    from millstream._generated.endpoints_image import *  # noqa: F403
    from millstream.image.boxes import *  # noqa: F403
    from millstream.image.codecs import *  # noqa: F403
    from millstream.image.colours import *  # noqa: F403
    from millstream.image.geometry import *  # noqa: F403
    from millstream.image.geometry import resize_image_with_crop_or_pad as resize_with_crop_or_pad, transpose_image as transpose
    from millstream.image.measures import *  # noqa: F403
    from millstream.image.resizing import *  # noqa: F403
    from millstream.image.resizing import resize_images as resize
else:
    __getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> List[str]:
    return namespaces.shown(globals(), "image", _PLACES)
