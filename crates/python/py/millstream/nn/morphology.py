"""Dilation and erosion of grayscale images."""

from __future__ import annotations

from typing import Any, Optional

from millstream._engine import Tensor
from millstream.framework import name_scope
from millstream.framework.deprecation import renamed
from millstream.framework.op_functions import op

__all__ = ["dilation2d", "erosion2d"]


def dilation2d(
    input: Any,  # noqa: A002
    filter: Any = None,  # noqa: A002
    strides: Any = None,
    rates: Any = None,
    padding: Any = None,
    name: Optional[str] = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Returns the largest sum of a pixel and the filter's entry there, for each window and channel of images.

    Args:
      input: Images, `[batch, rows, columns, channels]`.
      filter: A tensor `[rows, columns, channels]` of the same dtype.
      strides: The distances of windows along each axis; the first and last are 1.
      rates: The distances of a window's pixels along each axis; the first and last are 1.
      padding: "VALID" or "SAME".
      name: A name for the operation.
      filters: The later name of `filter`.
      dilations: The later name of `rates`.

    Returns:
      A tensor `[batch, rows, columns, channels]`.

    Raises:
      ValueError: An argument is given by both names.

    Example:
      >>> x = tf.reshape(tf.constant([1.0, 5.0, 2.0]), [1, 1, 3, 1])
      >>> y = tf.nn.dilation2d(x, [[[0.5], [1.0]]], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
      >>> print(tf.Session().run(y).ravel())
      [6.  5.5]
    """
    return op("Dilation2D")(input, renamed(filters, filter, "filters", "filter"), strides, renamed(dilations, rates, "dilations", "rates"), padding, name=name)


def erosion2d(value: Any, kernel: Any, strides: Any, rates: Any, padding: str, name: Optional[str] = None) -> Tensor:
    """Returns the least difference of a pixel and the kernel's entry there, for each window and channel.

    Args:
      value: Images, `[batch, rows, columns, channels]`.
      kernel: A tensor `[rows, columns, channels]` of the same dtype.
      strides: The distances of windows along each axis; the first and last are 1.
      rates: The distances of a window's pixels along each axis; the first and last are 1.
      padding: "VALID" or "SAME".
      name: A name for the operation.

    Returns:
      A tensor `[batch, rows, columns, channels]`.

    Example:
      >>> x = tf.reshape(tf.constant([1.0, 5.0, 2.0]), [1, 1, 3, 1])
      >>> y = tf.nn.erosion2d(x, [[[0.0], [0.0]]], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
      >>> print(tf.Session().run(y).ravel())
      [1. 2.]
    """
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        mirrored = op("ReverseV2")(kernel, [0, 1])
        return op("Neg")(op("Dilation2D")(op("Neg")(value), mirrored, strides, rates, padding), name=scope)
