"""Local response normalization of `tf.nn`."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from millstream._engine import Tensor
from millstream.framework import constant, convert_to_tensor, name_scope, node_counts
from millstream.framework.op_functions import op
from millstream.ops import array_ops, math_ops

__all__ = ["local_response_normalization", "lrn"]


def local_response_normalization(
    input: Any,  # noqa: A002
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: Optional[str] = None,
) -> Tensor:
    """Divides each channel of images by `(bias + alpha * sum) ** beta`, the sum of squares of its neighbours.

    TensorFlow has one op for it. Here it is a product of the squares with a band of ones, and a power.

    Args:
      input: A tensor of floats, `[batch, rows, columns, channels]`.
      depth_radius: The number of channels before and after a channel that are its neighbours.
      bias: A constant added to the sum.
      alpha: The factor of the sum.
      beta: The exponent.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ValueError: The rank is not 4, or the number of channels is unknown.

    Example:
      >>> y = tf.nn.lrn([[[[1.0, 2.0, 2.0]]]], depth_radius=1, bias=0.0, alpha=1.0, beta=0.5)
      >>> print(tf.Session().run(y).round(3).ravel())
      [0.447 0.667 0.707]
    """
    x = convert_to_tensor(input, name="input")
    rank = x.get_shape().ndims
    if rank not in (None, 4):
        raise ValueError("Shape must be rank 4 but is rank %d: `input` of local_response_normalization has shape %s" % (rank, x.get_shape()))
    n = None if rank is None else x.get_shape()[3].value
    if n is None:
        raise ValueError("local_response_normalization needs a known number of channels, but `input` has shape %s: set it with `set_shape`" % x.get_shape())
    with node_counts.counted_as(1), name_scope(name, "LRN") as scope:
        place = np.arange(n)
        band = constant((abs(place[:, None] - place) <= depth_radius).astype(np.float32) * np.float32(alpha), x.dtype)
        squares = array_ops.reshape(op("Square")(x), [-1, n])
        sums = array_ops.reshape(math_ops.matmul(squares, band), array_ops.shape(x)) + bias
        return op("Mul")(x, op("Pow")(sums, constant(-beta, x.dtype)), name=scope)


lrn = local_response_normalization
