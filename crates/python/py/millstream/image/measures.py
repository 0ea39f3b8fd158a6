"""Measures of images: variation, edges, and how much two images are alike."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy as np

from millstream._engine import Tensor
from millstream.framework import constant, control_dependencies, convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.image.colours import convert_image_dtype
from millstream.nn import depthwise, functions, pools
from millstream.ops import array_ops, math_ops, reduction_ops
from millstream.ops.control_flow import assert_, cond

__all__ = ["image_gradients", "psnr", "sobel_edges", "ssim", "ssim_multiscale", "total_variation"]


def total_variation(images: Any, name: Optional[str] = None) -> Tensor:
    """Returns the sum of the absolute differences of neighbouring pixels.

    Args:
      images: A tensor `[height, width, channels]`, or `[batch, height, width, channels]`.
      name: The name scope of the new operations.

    Returns:
      A scalar, or a vector with one entry for each image of a batch.

    Raises:
      ValueError: The rank is not 3 or 4.

    Example:
      >>> print(tf.Session().run(tf.image.total_variation(tf.constant([[[1.0], [3.0]], [[2.0], [2.0]]]))))
      4.0
    """
    with name_scope(name, "total_variation"):
        ndims = images.get_shape().ndims
        if ndims == 3:
            down, across, axes = images[1:, :, :] - images[:-1, :, :], images[:, 1:, :] - images[:, :-1, :], None
        elif ndims == 4:
            down, across, axes = images[:, 1:, :, :] - images[:, :-1, :, :], images[:, :, 1:, :] - images[:, :, :-1, :], [1, 2, 3]
        else:
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        return reduction_ops.reduce_sum(math_ops.abs(down), axis=axes) + reduction_ops.reduce_sum(math_ops.abs(across), axis=axes)


def image_gradients(image: Tensor) -> Tuple[Tensor, Tensor]:
    """Returns the differences of each pixel and the next, down and across. The last ones are zeros.

    Args:
      image: A tensor `[batch, height, width, channels]`.

    Returns:
      A pair `(dy, dx)` of tensors of the same dtype and shape.

    Raises:
      ValueError: The rank is not 4.

    Example:
      >>> dy, dx = tf.image.image_gradients(tf.reshape([1, 2, 4, 8], [1, 2, 2, 1]))
      >>> print(*(v.ravel() for v in tf.Session().run([dy, dx])))
      [3 6 0 0] [1 0 4 0]
    """
    if image.get_shape().ndims != 4:
        raise ValueError("image_gradients expects a 4D tensor [batch_size, h, w, d], not %s.", image.get_shape())
    shape = array_ops.shape(image)
    batch, height, width, depth = array_ops.unstack(shape)
    dy = image[:, 1:, :, :] - image[:, :-1, :, :]
    dx = image[:, :, 1:, :] - image[:, :, :-1, :]
    last = array_ops.zeros(array_ops.stack([batch, 1, width, depth]), image.dtype)
    dy = array_ops.reshape(array_ops.concat([dy, last], 1), shape)
    last = array_ops.zeros(array_ops.stack([batch, height, 1, depth]), image.dtype)
    return dy, array_ops.reshape(array_ops.concat([dx, last], 2), shape)


def sobel_edges(image: Tensor) -> Tensor:
    """Returns the slopes of images by Sobel's filters, down and across.

    Args:
      image: A tensor of floats, `[batch, height, width, channels]`.

    Returns:
      A tensor `[batch, height, width, channels, 2]` of the same dtype.

    Example:
      >>> y = tf.image.sobel_edges(tf.reshape(tf.range(9.0), [1, 3, 3, 1]))
      >>> print(tf.Session().run(y)[0, 1, 1, 0])
      [24.  8.]
    """
    static, shape = image.get_shape(), array_ops.shape(image)
    down = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    filters = constant(np.stack([down, down.T], -1)[:, :, None, :], dtype=image.dtype)
    filters = op("Tile")(filters, [1, 1, shape[-1], 1], name="sobel_filters")
    padded = array_ops.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = depthwise.depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID")
    edges = array_ops.reshape(edges, array_ops.concat([shape, [2]], 0))
    edges.set_shape(static.concatenate([2]))
    return edges


def _checks(first: Tensor, second: Tensor) -> Tuple[Tensor, Tensor, List[Any]]:
    """Returns the shapes of two images, and the assertions that they can be compared."""
    known, others = first.get_shape().with_rank_at_least(3), second.get_shape().with_rank_at_least(3)
    known[-3:].assert_is_compatible_with(others[-3:])
    if known.ndims is not None and others.ndims is not None:
        for a, b in zip(reversed(list(known)[:-3]), reversed(list(others)[:-3])):
            if not (a == 1 or b == 1 or a.is_compatible_with(b)):
                raise ValueError("Two images are not compatible: %s and %s" % (known, others))
    one, other = array_ops.shape_n([first, second])
    checks = [assert_(op("GreaterEqual")(array_ops.size(one), 3), [one, other], summarize=10)]
    checks.append(assert_(reduction_ops.reduce_all(math_ops.equal(one[-3:], other[-3:])), [one, other], summarize=10))
    return one, other, checks


def psnr(a: Tensor, b: Tensor, max_val: Any, name: Optional[str] = None) -> Tensor:
    """Returns the ratio of the largest signal to the noise between two images, in decibels.

    Args:
      a: A tensor `[.., height, width, channels]`.
      b: A tensor of the same dtype whose shape is compatible.
      max_val: The range of the values: 255 for bytes.
      name: The name scope of the new operations.

    Returns:
      A tensor of `float32` with one entry for each pair of images.

    Raises:
      ValueError: Shapes do not fit.

    Example:
      >>> x = tf.zeros([2, 2, 1])
      >>> print(round(float(tf.Session().run(tf.image.psnr(x, x + 0.1, 1.0))), 3))
      20.0
    """
    with name_scope(name, "PSNR", [a, b]):
        largest = convert_image_dtype(math_ops.cast(max_val, a.dtype), dtypes.float32)
        a, b = convert_image_dtype(a, dtypes.float32), convert_image_dtype(b, dtypes.float32)
        error = reduction_ops.reduce_mean(op("SquaredDifference")(a, b), [-3, -2, -1])
        log = op("Log")
        ratio = math_ops.subtract(20 * log(largest) / log(10.0), np.float32(10 / np.log(10)) * log(error), name="psnr")
        with control_dependencies(_checks(a, b)[2]):
            return array_ops.identity(ratio)


def _bell(size: Tensor, sigma: Tensor) -> Tensor:
    """Returns a filter with the weights of a Gaussian bell."""
    size, sigma = convert_to_tensor(size, dtypes.int32), convert_to_tensor(sigma)
    places = math_ops.cast(math_ops.range(size), sigma.dtype) - math_ops.cast(size - 1, sigma.dtype) / 2.0
    weights = op("Square")(places) * (-0.5 / op("Square")(sigma))
    weights = array_ops.reshape(weights, shape=[1, -1]) + array_ops.reshape(weights, shape=[-1, 1])
    weights = functions.softmax(array_ops.reshape(weights, shape=[1, -1]))
    return array_ops.reshape(weights, shape=[size, size, 1, 1])


def _factors(
    x: Any, y: Any, reducer: Callable[[Tensor], Tensor], max_val: Any, compensation: float = 1.0, k1: float = 0.01, k2: float = 0.03
) -> Tuple[Tensor, Tensor]:
    """Returns the factors of similarity, luminance and structure, of the averages that `reducer` takes."""
    square = op("Square")
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    mean, other = reducer(x), reducer(y)
    product, squares = mean * other * 2.0, square(mean) + square(other)
    luminance = (product + c1) / (squares + c1)
    mixed, sums = reducer(x * y) * 2.0, reducer(square(x) + square(y))
    c2 *= compensation
    return luminance, (mixed - product + c2) / (sums - squares + c2)


def _alike(first: Tensor, second: Tensor, max_val: Any, filter_size: Any, filter_sigma: Any, k1: float, k2: float) -> Tuple[Tensor, Tensor]:
    """Returns the structural similarity of each channel, and its factor of contrast and structure."""
    filter_size = constant(filter_size, dtype=dtypes.int32)
    filter_sigma = constant(filter_sigma, dtype=first.dtype)
    shapes = array_ops.shape_n([first, second])
    checks = [assert_(reduction_ops.reduce_all(op("GreaterEqual")(s[-3:-1], filter_size)), [s, filter_size], summarize=8) for s in shapes]
    with control_dependencies(checks):
        first = array_ops.identity(first)
    kernel = op("Tile")(_bell(filter_size, filter_sigma), multiples=[1, 1, shapes[0][-1], 1])

    def smoothed(x: Tensor) -> Tensor:
        shape = array_ops.shape(x)
        flat = array_ops.reshape(x, shape=array_ops.concat([[-1], shape[-3:]], 0))
        y = depthwise.depthwise_conv2d(flat, kernel, strides=[1, 1, 1, 1], padding="VALID")
        return array_ops.reshape(y, array_ops.concat([shape[:-3], array_ops.shape(y)[1:]], 0))

    luminance, structure = _factors(first, second, smoothed, max_val, 1.0, k1, k2)
    axes = constant([-3, -2], dtype=dtypes.int32)
    return reduction_ops.reduce_mean(luminance * structure, axes), reduction_ops.reduce_mean(structure, axes)


def ssim(img1: Tensor, img2: Tensor, max_val: Any, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03) -> Tensor:
    """Returns the structural similarity of two images, 1 for equal ones.

    Args:
      img1: A tensor `[.., height, width, channels]`.
      img2: A tensor of the same dtype whose shape is compatible.
      max_val: The range of the values: 255 for bytes.
      filter_size: The size of the windows that are compared.
      filter_sigma: The width of the bell that weights their pixels.
      k1: The constant that keeps the comparison of brightness stable.
      k2: The constant that keeps the comparison of contrast stable.

    Returns:
      A tensor of `float32` with one entry for each pair of images.

    Raises:
      ValueError: Shapes do not fit.

    Example:
      >>> x = tf.reshape(tf.range(144.0), [12, 12, 1])
      >>> print(round(float(tf.Session().run(tf.image.ssim(x, x, 255.0))), 4))
      1.0
    """
    _, _, checks = _checks(img1, img2)
    with control_dependencies(checks):
        img1 = array_ops.identity(img1)
    largest = convert_image_dtype(math_ops.cast(max_val, img1.dtype), dtypes.float32)
    first, second = convert_image_dtype(img1, dtypes.float32), convert_image_dtype(img2, dtypes.float32)
    each, _ = _alike(first, second, largest, filter_size, filter_sigma, k1, k2)
    return reduction_ops.reduce_mean(each, [-1])


_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _halved(images: List[Tensor], tails: List[Tensor]) -> List[Tensor]:
    """Returns images of half the height and width, in one batch each."""
    flat = [array_ops.reshape(x, array_ops.concat([[-1], t], 0)) for x, t in zip(images, tails)]
    rest = op("FloorMod")(tails[0], constant([2, 2, 1], dtype=dtypes.int32))

    def padded() -> List[Tensor]:
        paddings = array_ops.pad(array_ops.expand_dims(rest, -1), [[1, 0], [1, 0]])
        return [array_ops.pad(x, paddings, mode="SYMMETRIC") for x in flat]

    is_odd = reduction_ops.reduce_any(math_ops.not_equal(rest, 0))
    even = cond(is_odd, padded, lambda: flat)
    return [pools.avg_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID") for x in even]


def ssim_multiscale(
    img1: Any, img2: Any, max_val: Any, power_factors: Sequence[float] = _WEIGHTS, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03
) -> Tensor:
    """Returns the structural similarity of two images, as a product over several scales.

    Args:
      img1: A tensor `[.., height, width, channels]`.
      img2: A tensor of the same dtype whose shape is compatible.
      max_val: The range of the values: 255 for bytes.
      power_factors: The weight of each scale, of which each has half the size of the one before.
      filter_size: The size of the windows that are compared.
      filter_sigma: The width of the bell that weights their pixels.
      k1: The constant that keeps the comparison of brightness stable.
      k2: The constant that keeps the comparison of contrast stable.

    Returns:
      A tensor of `float32` with one entry for each pair of images.

    Raises:
      ValueError: Shapes do not fit.

    Example:
      >>> x = tf.reshape(tf.range(576.0), [24, 24, 1])
      >>> y = tf.image.ssim_multiscale(x, x, 255.0, power_factors=(0.5, 0.5))
      >>> print(round(float(tf.Session().run(y)), 4))
      1.0
    """
    with name_scope(None, "MS-SSIM", [img1, img2]):
        img1, img2 = convert_to_tensor(img1, name="img1"), convert_to_tensor(img2, name="img2")
        one, other, checks = _checks(img1, img2)
        with control_dependencies(checks):
            img1 = array_ops.identity(img1)
        largest = convert_image_dtype(math_ops.cast(max_val, img1.dtype), dtypes.float32)
        images = [convert_image_dtype(img1, dtypes.float32), convert_image_dtype(img2, dtypes.float32)]
        heads, tails = [s[:-3] for s in (one, other)], [s[-3:] for s in (one, other)]
        factors, last = [], None
        for k in range(len(power_factors)):
            with name_scope(None, "Scale%d" % k, images):
                if k > 0:
                    small = _halved(images, tails)
                    tails = [x[1:] for x in array_ops.shape_n(small)]
                    images = [array_ops.reshape(x, array_ops.concat([h, t], 0)) for x, h, t in zip(small, heads, tails)]
                last, structure = _alike(images[0], images[1], largest, filter_size, filter_sigma, k1, k2)
                factors.append(op("Relu")(structure))
        scales = array_ops.stack([*factors[:-1], op("Relu")(last)], axis=-1)
        product = reduction_ops.reduce_prod(math_ops.pow(scales, power_factors), [-1])
        return reduction_ops.reduce_mean(product, [-1])
