"""`tf.contrib.image`: projective transforms of images, and warps by a field of offsets, made of smaller ops.

Gradients reach the images; those of a warp reach its offsets, too.
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from millstream.framework import constant, control_dependencies, convert_to_tensor, dtypes, name_scope, namespaces
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, indexing_ops, math_ops, reduction_ops

__all__ = [
    "angles_to_projective_transforms",
    "compose_transforms",
    "dense_image_warp",
    "flat_transforms_to_matrices",
    "interpolate_spline",
    "matrices_to_flat_transforms",
    "rotate",
    "sparse_image_warp",
    "transform",
    "translate",
    "translations_to_projective_transforms",
]

__dir__ = namespaces.dir_of(globals())

_DTYPES = (dtypes.uint8, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64)


def _batch(images: Any) -> Any:
    """Returns images with four axes.

    Raises:
      TypeError: The dtype or the rank is none of images.
    """
    if images.dtype.base_dtype not in _DTYPES:
        raise TypeError("Invalid dtype %s." % images.dtype)
    ndims = images.get_shape().ndims
    if ndims is None:
        raise TypeError("image_or_images rank must be statically known")
    if ndims not in (2, 3, 4):
        raise TypeError("Images should have rank between 2 and 4.")
    images = array_ops.expand_dims(images, -1) if ndims == 2 else images
    return array_ops.expand_dims(images, 0) if ndims < 4 else images


def _unbatched(images: Any, ndims: Any) -> Any:
    images = array_ops.squeeze(images, [0]) if ndims < 4 else images
    return array_ops.squeeze(images, [-1]) if ndims == 2 else images


def _read(images: Any, y: Any, x: Any) -> Any:
    """Returns the pixels at integers of shape `[batch, height, width]`; zeros outside of the images."""
    shape = array_ops.shape(images)
    batch, height, width, channels = shape[0], shape[1], shape[2], shape[3]
    row = lambda v, n: op("Minimum")(op("Maximum")(v, 0), n - 1)  # noqa: E731
    inside = op("LogicalAnd")(op("LogicalAnd")(0 <= y, y < height), op("LogicalAnd")(0 <= x, x < width))
    first = array_ops.reshape(math_ops.range(batch) * height * width, [-1, 1, 1])
    pixels = indexing_ops.gather(array_ops.reshape(images, [-1, channels]), first + row(y, height) * width + row(x, width))
    return pixels * math_ops.cast(array_ops.expand_dims(inside, -1), images.dtype)


def _between(images: Any, y: Any, x: Any) -> Any:
    """Returns the pixels at floats, from those around them."""
    low_y, low_x = op("Floor")(y), op("Floor")(x)
    whole_y, whole_x = math_ops.cast(low_y, dtypes.int32), math_ops.cast(low_x, dtypes.int32)
    dy, dx = array_ops.expand_dims(y - low_y, -1), array_ops.expand_dims(x - low_x, -1)
    read = lambda i, j: math_ops.cast(_read(images, whole_y + i, whole_x + j), dtypes.float32)  # noqa: E731
    rows = [(1.0 - dx) * read(i, 0) + dx * read(i, 1) for i in (0, 1)]
    return math_ops.cast((1.0 - dy) * rows[0] + dy * rows[1], images.dtype)


def transform(images: Any, transforms: Any, interpolation: str = "NEAREST", output_shape: Any = None, name: Optional[str] = None) -> Any:
    """Returns projective transforms of images. Pixels from outside of an image are zero.

    Args:
      images: A tensor of shape `[batch, height, width, channels]`, or without the batch, or without both.
      transforms: A vector of 8 numbers, or one for each image: `[a0, a1, a2, b0, b1, b2, c0, c1]` takes the
        pixel at `(x, y)` from `((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k)`, with `k = c0 x + c1 y + 1`.
      interpolation: `"NEAREST"` or `"BILINEAR"`.
      output_shape: The height and the width of the result; by default those of the images.
      name: A name for the operations.

    Returns:
      A tensor of the same dtype and rank.

    Raises:
      TypeError: The images have another dtype or rank, or the transforms another rank.
      ValueError: The interpolation is another one.

    Example:
      >>> image = tf.reshape(tf.range(4), [2, 2])
      >>> print(tf.Session().run(tf.contrib.image.transform(image, [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0])))
      [[1 0]
       [3 0]]
    """
    with name_scope(name, "transform"):
        given = convert_to_tensor(images, name="images")
        rows = convert_to_tensor(transforms, dtypes.float32, name="transforms")
        images = _batch(given)
        if rows.get_shape().ndims not in (1, 2):
            raise TypeError("Transforms should have rank 1 or 2.")
        if interpolation not in ("NEAREST", "BILINEAR"):
            raise ValueError("interpolation must be NEAREST or BILINEAR, not %r" % (interpolation,))
        rows = array_ops.expand_dims(rows, 0) if rows.get_shape().ndims == 1 else rows
        size = array_ops.shape(images)[1:3] if output_shape is None else convert_to_tensor(output_shape, dtypes.int32, name="output_shape")
        y = math_ops.cast(array_ops.reshape(math_ops.range(size[0]), [1, -1, 1]), dtypes.float32)
        x = math_ops.cast(array_ops.reshape(math_ops.range(size[1]), [1, 1, -1]), dtypes.float32)
        a: List[Any] = [array_ops.reshape(rows[:, i], [-1, 1, 1]) for i in range(8)]
        k = a[6] * x + a[7] * y + 1.0
        batch = array_ops.ones(array_ops.stack([array_ops.shape(images)[0], 1, 1]))
        from_x, from_y = (a[0] * x + a[1] * y + a[2]) / k * batch, (a[3] * x + a[4] * y + a[5]) / k * batch
        if interpolation == "NEAREST":
            whole = [math_ops.cast(op("Sign")(v) * op("Floor")(math_ops.abs(v) + 0.5), dtypes.int32) for v in (from_y, from_x)]
            out = _read(images, *whole)
        else:
            out = _between(images, from_y, from_x)
        if output_shape is None:
            out.set_shape(images.get_shape())
        return _unbatched(out, given.get_shape().ndims)


def flat_transforms_to_matrices(transforms: Any) -> Any:
    """Returns projective transforms as matrices.

    Args:
      transforms: A vector of 8 numbers, or a matrix of such rows; see `transform`.

    Returns:
      A tensor of shape `[n, 3, 3]`.

    Raises:
      ValueError: The transforms have another rank.

    Example:
      >>> print(tf.Session().run(tf.contrib.image.flat_transforms_to_matrices([1.0, 0.0, 5.0, 0.0, 1.0, 6.0, 0.0, 0.0]))[0])
      [[1. 0. 5.]
       [0. 1. 6.]
       [0. 0. 1.]]
    """
    with name_scope("flat_transforms_to_matrices"):
        flat = convert_to_tensor(transforms, name="transforms")
        if flat.shape.ndims not in (1, 2):
            raise ValueError("Transforms should be 1D or 2D, got: %s" % flat)
        flat = array_ops.reshape(flat, [-1, 8])
        last = array_ops.fill(array_ops.stack([array_ops.shape(flat)[0], 1]), math_ops.cast(1, flat.dtype))
        return array_ops.reshape(array_ops.concat([flat, last], axis=1), [-1, 3, 3])


def matrices_to_flat_transforms(transform_matrices: Any) -> Any:
    """Returns matrices as projective transforms, each divided by its last element.

    Args:
      transform_matrices: A tensor of shape `[3, 3]` or `[n, 3, 3]`.

    Returns:
      A tensor of shape `[n, 8]`.

    Raises:
      ValueError: The matrices have another rank.

    Example:
      >>> print(tf.Session().run(tf.contrib.image.matrices_to_flat_transforms(2.0 * tf.eye(3)))[0])
      [1. 0. 0. 0. 1. 0. 0. 0.]
    """
    with name_scope("matrices_to_flat_transforms"):
        matrices = convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.shape.ndims not in (2, 3):
            raise ValueError("Matrices should be 2D or 3D, got: %s" % matrices)
        flat = array_ops.reshape(matrices, [-1, 9])
        return (flat / flat[:, 8:9])[:, :8]


def compose_transforms(*transforms: Any) -> Any:
    """Returns the transform that is the product of several.

    Args:
      *transforms: Vectors of 8 numbers, or matrices of such rows; see `transform`.

    Returns:
      A tensor of shape `[n, 8]`.

    Example:
      >>> moved = tf.contrib.image.translations_to_projective_transforms([[1.0, 2.0]])
      >>> print(tf.Session().run(tf.contrib.image.compose_transforms(moved, moved))[0])
      [ 1.  0. -2.  0.  1. -4.  0.  0.]
    """
    assert transforms, "transforms cannot be empty"
    with name_scope("compose_transforms"):
        made = flat_transforms_to_matrices(transforms[0])
        for more in transforms[1:]:
            made = math_ops.matmul(made, flat_transforms_to_matrices(more))
        return matrices_to_flat_transforms(made)


def angles_to_projective_transforms(angles: Any, image_height: Any, image_width: Any, name: Optional[str] = None) -> Any:
    """Returns the transforms that turn images counterclockwise around their centers.

    Args:
      angles: An angle in radians, or a vector of angles.
      image_height: The height of the images, a float.
      image_width: Their width.
      name: A name for the operations.

    Returns:
      A matrix with a transform in each row.

    Raises:
      TypeError: The angles have another rank.

    Example:
      >>> print(tf.Session().run(tf.contrib.image.angles_to_projective_transforms(0.0, 4.0, 4.0)))
      [[ 1. -0.  0.  0.  1.  0.  0.  0.]]
    """
    with name_scope(name, "angles_to_projective_transforms"):
        angles = convert_to_tensor(angles, dtypes.float32, name="angles")
        if angles.get_shape().ndims not in (0, 1):
            raise TypeError("Angles should have rank 0 or 1.")
        angles = array_ops.reshape(angles, [-1])
        cos, sin = op("Cos")(angles), op("Sin")(angles)
        x = ((image_width - 1) - (cos * (image_width - 1) - sin * (image_height - 1))) / 2.0
        y = ((image_height - 1) - (sin * (image_width - 1) + cos * (image_height - 1))) / 2.0
        zeros = array_ops.zeros_like(angles)
        return array_ops.stack([cos, -sin, x, sin, cos, y, zeros, zeros], 1)


def translations_to_projective_transforms(translations: Any, name: Optional[str] = None) -> Any:
    """Returns the transforms that move images.

    Args:
      translations: A vector `[dx, dy]`, or a matrix of such rows.
      name: A name for the operations.

    Returns:
      A matrix with a transform in each row.

    Raises:
      TypeError: The translations have another rank.

    Example:
      >>> print(tf.Session().run(tf.contrib.image.translations_to_projective_transforms([1.0, 2.0])))
      [[ 1.  0. -1.  0.  1. -2.  0.  0.]]
    """
    with name_scope(name, "translations_to_projective_transforms"):
        translations = convert_to_tensor(translations, dtypes.float32, name="translations")
        if translations.get_shape().ndims not in (1, 2):
            raise TypeError("Translations should have rank 1 or 2.")
        translations = array_ops.reshape(translations, [-1, 2])
        dx, dy = translations[:, 0], translations[:, 1]
        ones, zeros = array_ops.ones_like(dx), array_ops.zeros_like(dx)
        return array_ops.stack([ones, zeros, -dx, zeros, ones, -dy, zeros, zeros], 1)


def rotate(images: Any, angles: Any, interpolation: str = "NEAREST", name: Optional[str] = None) -> Any:
    """Returns images that are turned counterclockwise around their centers.

    The other arguments are those of `transform`.

    Args:
      images: A tensor of two to four axes.
      angles: An angle in radians, or one for each image.

    Raises:
      TypeError: The images have another dtype or rank.

    Example:
      >>> image = tf.reshape(tf.range(9), [3, 3])
      >>> print(tf.Session().run(tf.contrib.image.rotate(image, np.pi / 2)))
      [[2 5 8]
       [1 4 7]
       [0 3 6]]
    """
    with name_scope(name, "rotate"):
        images = convert_to_tensor(images)
        size = math_ops.cast(array_ops.shape(_batch(images)), dtypes.float32)
        return transform(images, angles_to_projective_transforms(angles, size[1], size[2]), interpolation)


def translate(images: Any, translations: Any, interpolation: str = "NEAREST", name: Optional[str] = None) -> Any:
    """Returns images that are moved. The other arguments are those of `transform`.

    Args:
      images: A tensor of two to four axes.
      translations: A vector `[dx, dy]`, or one for each image.

    Example:
      >>> print(tf.Session().run(tf.contrib.image.translate([[1, 2], [3, 4]], [1.0, 0.0])))
      [[0 1]
       [0 3]]
    """
    with name_scope(name, "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation)


def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> Any:
    """Returns images whose pixels at `(y, x)` are those at `(y - flow[.., 0], x - flow[.., 1])`.

    Pixels between others are interpolated, and those outside of an image are the nearest ones.

    Args:
      image: A tensor of floats of shape `[batch, height, width, channels]`, at least two pixels high and as
        many wide.
      flow: A tensor of floats of shape `[batch, height, width, 2]`.
      name: A name for the operations.

    Returns:
      A tensor like the images.

    Example:
      >>> image = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
      >>> warped = tf.contrib.image.dense_image_warp(image, tf.fill([1, 2, 2, 2], 0.5))
      >>> print(tf.Session().run(warped)[0, :, :, 0])
      [[0.  0.5]
       [1.  1.5]]
    """
    with name_scope(name):
        image, flow = convert_to_tensor(image), convert_to_tensor(flow)
        shape = array_ops.shape(image)
        batch, height, width, channels = shape[0], shape[1], shape[2], shape[3]
        tall = check_ops.assert_greater_equal(height, 2, message="Grid height must be at least 2.")
        wide = check_ops.assert_greater_equal(width, 2, message="Grid width must be at least 2.")
        with control_dependencies([tall, wide]):
            flat = array_ops.reshape(image, array_ops.stack([-1, channels]))
        parts = []
        for axis, size in ((0, height), (1, width)):
            places = math_ops.cast(array_ops.reshape(math_ops.range(size), [1, -1, 1] if axis == 0 else [1, 1, -1]), flow.dtype)
            at = places - flow[:, :, :, axis]
            low = op("Minimum")(op("Maximum")(math_ops.cast(0.0, flow.dtype), op("Floor")(at)), math_ops.cast(size - 2, flow.dtype))
            share = math_ops.cast(at - low, image.dtype)
            share = op("Minimum")(op("Maximum")(math_ops.cast(0.0, image.dtype), share), math_ops.cast(1.0, image.dtype))
            parts.append((math_ops.cast(low, dtypes.int32), array_ops.expand_dims(share, -1)))
        (y, dy), (x, dx) = parts
        first = array_ops.reshape(math_ops.range(batch) * height * width, [-1, 1, 1]) + y * width + x
        rows = []
        for row in (first, first + width):
            left, right = indexing_ops.gather(flat, row), indexing_ops.gather(flat, row + 1)
            rows.append(dx * (right - left) + left)
        out = dy * (rows[1] - rows[0]) + rows[0]
        out.set_shape(image.get_shape())
        return out


def _distances(x: Any, y: Any) -> Any:
    """Returns the squared distances between points of shapes `[batch, m, d]` and `[batch, n, d]`."""
    squares = [reduction_ops.reduce_sum(op("Square")(points), 2) for points in (x, y)]
    products = math_ops.matmul(x, y, adjoint_b=True)
    return array_ops.expand_dims(squares[0], 2) - 2 * products + array_ops.expand_dims(squares[1], 1)


def _radial(squares: Any, order: int) -> Any:
    """Returns the radial function of squared distances: a power, times a logarithm for even orders."""
    # The root and the logarithm have no gradient at zero.
    above = op("Maximum")(squares, math_ops.cast(1e-10, squares.dtype))
    if order == 1:
        return op("Sqrt")(above)
    if order == 2:
        return 0.5 * squares * op("Log")(above)
    if order == 4:
        return 0.5 * op("Square")(squares) * op("Log")(above)
    power = op("Pow")(above, math_ops.cast(0.5 * order, squares.dtype))
    return 0.5 * power * op("Log")(above) if order % 2 == 0 else power


def interpolate_spline(
    train_points: Any, train_values: Any, query_points: Any, order: int, regularization_weight: float = 0.0, name: str = "interpolate_spline"
) -> Any:
    """Returns the values at points of the polyharmonic spline through other points.

    Args:
      train_points: The others, a tensor of floats of shape `[batch, n, d]`.
      train_values: Their values, of shape `[batch, n, k]`.
      query_points: The points, of shape `[batch, m, d]`.
      order: The order of the spline; 2 is a thin plate.
      regularization_weight: A weight of the spline's smoothness; it need not pass through the points then.
      name: A name for the operations.

    Returns:
      A tensor of shape `[batch, m, k]`.

    Raises:
      ValueError: `d` or `k` is not known.

    Example:
      >>> points, values = tf.constant([[[0.0], [1.0], [2.0]]]), tf.constant([[[0.0], [1.0], [4.0]]])
      >>> between = tf.contrib.image.interpolate_spline(points, values, tf.constant([[[1.0], [1.5]]]), 3)
      >>> print(tf.Session().run(between).round(3).ravel())
      [1.    2.312]
    """
    with name_scope(name):
        points, values, asked = (convert_to_tensor(x) for x in (train_points, train_values, query_points))
        d, k = points.shape[-1].value, values.shape[-1].value
        if d is None:
            raise ValueError("The dimensionality of the input points (d) must be statically-inferrable.")
        if k is None:
            raise ValueError("The dimensionality of the output values (k) must be statically-inferrable.")
        with name_scope("solve"):
            shape = array_ops.shape(points)
            batch, n = shape[0], shape[1]
            between = _radial(_distances(points, points), order)
            if 0 < regularization_weight:
                between = between + regularization_weight * array_ops.expand_dims(array_ops.eye(n, dtype=points.dtype), 0)
            plane = array_ops.concat([points, array_ops.ones_like(points[..., :1])], 2)
            above = array_ops.concat([between, plane], 2)
            below = array_ops.concat([array_ops.transpose(plane, [0, 2, 1]), array_ops.zeros([batch, d + 1, d + 1], points.dtype)], 2)
            wanted = array_ops.concat([values, array_ops.zeros([batch, d + 1, k], points.dtype)], 1)
            solved = op("MatrixSolve")(array_ops.concat([above, below], 1), wanted)
        with name_scope("predict"):
            curved = math_ops.matmul(_radial(_distances(asked, points), order), solved[:, :n, :])
            padded = array_ops.concat([asked, array_ops.ones_like(asked[..., :1])], 2)
            return curved + math_ops.matmul(padded, solved[:, n:, :])


def _still(height: int, width: int, between: int) -> Any:
    """Returns the places along the edges of an image that do not move, `between` of them between corners."""
    y, x = np.meshgrid(*(np.linspace(0, size - 1, between + 2) for size in (height, width)), indexing="ij")
    on_edge = (x == 0) | (x == width - 1) | (y == 0) | (y == height - 1)
    return np.stack([y[on_edge], x[on_edge]], -1)


def sparse_image_warp(
    image: Any,
    source_control_point_locations: Any,
    dest_control_point_locations: Any,
    interpolation_order: int = 2,
    regularization_weight: float = 0.0,
    num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> Tuple[Any, Any]:
    """Returns images whose pixels at some places are moved to others, and the flow that moves all pixels.

    Args:
      image: A tensor of floats of shape `[batch, height, width, channels]`, all known but the channels.
      source_control_point_locations: The places `(y, x)`, of shape `[batch, n, 2]`.
      dest_control_point_locations: Where the pixels are moved, of the same shape.
      interpolation_order: The order of the spline between them.
      regularization_weight: A weight of the spline's smoothness.
      num_boundary_points: If positive, the corners and as many points less one of each edge stay.
      name: A name for the operations.

    Raises:
      ValueError: The batch, the height or the width is not known.

    Example:
      >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
      >>> corners = tf.constant([[[0.0, 0.0], [0.0, 2.0], [2.0, 0.0]]])
      >>> warped, flow = tf.contrib.image.sparse_image_warp(image, corners, corners + [1.0, 0.0])
      >>> print(tf.Session().run(warped).round(2)[0, :, :, 0])
      [[0. 1. 2.]
       [0. 1. 2.]
       [3. 4. 5.]]
    """
    image, sources, places = (convert_to_tensor(x) for x in (image, source_control_point_locations, dest_control_point_locations))
    flows = places - sources
    with name_scope(name):
        batch, height, width = image.shape.as_list()[:3]
        if None in (batch, height, width):
            raise ValueError("the batch, the height and the width of `image` must be known: found shape %s; `set_shape` tells them" % (image.shape,))
        grid = np.stack(np.meshgrid(np.arange(height), np.arange(width), indexing="ij"), -1).reshape(1, -1, 2)
        if 0 < num_boundary_points:
            still = np.tile(_still(height, width, num_boundary_points - 1)[None], [batch, 1, 1])
            places = array_ops.concat([places, constant(still, places.dtype)], 1)
            flows = array_ops.concat([flows, constant(np.zeros(still.shape), places.dtype)], 1)
        everywhere = constant(np.tile(grid, [batch, 1, 1]).astype(image.dtype.as_numpy_dtype))
        flow = interpolate_spline(places, flows, everywhere, interpolation_order, regularization_weight)
        flow = array_ops.reshape(flow, [batch, height, width, 2])
        return dense_image_warp(image, flow), flow
