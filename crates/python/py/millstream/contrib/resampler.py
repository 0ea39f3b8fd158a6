"""`tf.contrib.resampler`: pixels at given places, made of smaller ops."""

from __future__ import annotations

from typing import Any, Optional

from millstream._engine import Tensor
from millstream.contrib.image import _read
from millstream.framework import convert_to_tensor, dtypes, name_scope, namespaces
from millstream.framework.op_functions import op
from millstream.ops import array_ops, math_ops

__all__ = ["resampler"]

__dir__ = namespaces.dir_of(globals())


def resampler(data: Any, warp: Any, name: Optional[str] = "resampler") -> Tensor:
    """Returns the pixels of images at places between them, by bilinear interpolation; zeros outside.

    Gradients reach the images and the places.

    Args:
      data: A tensor of floats of shape `[batch, height, width, channels]`.
      warp: A tensor of floats of shape `[batch, .., 2]`: the places, as `(x, y)`.
      name: A name for the operations.

    Returns:
      A tensor of shape `[batch, .., channels]`.

    Example:
      >>> image = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
      >>> print(tf.Session().run(tf.contrib.resampler.resampler(image, [[[0.5, 0.0], [0.5, 0.5]]])).ravel())
      [0.5 1.5]
    """
    with name_scope(name, "resampler", [data, warp]):
        data, warp = convert_to_tensor(data, name="data"), convert_to_tensor(warp, name="warp")
        shape = array_ops.shape(data)
        flat = array_ops.reshape(warp, array_ops.stack([shape[0], -1, 1, 2]))
        places = []
        inside: Any = None
        for i, n in ((0, shape[2]), (1, shape[1])):
            z = flat[:, :, :, i]
            within = op("LogicalAnd")(-1 < z, z < math_ops.cast(n, z.dtype))
            inside = within if inside is None else op("LogicalAnd")(inside, within)
            places.append(z)
        # A place far outside is no int.
        x, y = (array_ops.where(inside, z, -2 * array_ops.ones_like(z)) for z in places)
        low_x, low_y = op("Floor")(x), op("Floor")(y)
        dx, dy = (array_ops.expand_dims(z, -1) for z in (x - low_x, y - low_y))
        left, top = math_ops.cast(low_x, dtypes.int32), math_ops.cast(low_y, dtypes.int32)
        rows = [(1 - dx) * _read(data, top + i, left) + dx * _read(data, top + i, left + 1) for i in (0, 1)]
        found = (1 - dy) * rows[0] + dy * rows[1]
        made = array_ops.reshape(found, array_ops.concat([array_ops.shape(warp)[:-1], shape[3:]], 0))
        if warp.shape.ndims is not None:
            made.set_shape(warp.shape[:-1].concatenate(data.shape[3:]))
        return made
