"""Depthwise and separable convolutions of `tf.nn`."""

from __future__ import annotations

from typing import Any, List, Optional

from millstream._engine import Tensor
from millstream.framework import constant, convert_to_tensor, dtypes, name_scope, node_counts
from millstream.framework.deprecation import renamed
from millstream.framework.op_functions import op
from millstream.nn.convolutions import conv2d, per_axis
from millstream.nn.dilated import nodes_of_dilation, with_space_to_batch
from millstream.ops import array_ops

__all__ = ["depthwise_conv2d", "separable_conv2d"]


def _depthwise(input: Tensor, filter: Tensor, strides: Any, padding: str, rate: Any, data_format: Optional[str], name: Any) -> Tensor:  # noqa: A002
    gaps: List[int] = [1, 1] if rate is None else [int(v) for v in rate]
    if len(gaps) != 2:
        raise ValueError(f"rate must have 2 entries but is {rate}")
    steps = [int(v) for v in strides]
    if len(steps) != 4:
        raise ValueError(f"strides must have 4 entries but is {strides}")
    # Unused. TensorFlow has them, and seeds random operations by the number of nodes before them.
    array_ops.shape(filter)
    constant(gaps, dtypes.int32, name="dilation_rate")
    data_format = data_format or "NHWC"
    if max(gaps) > 1 and any(v != 1 for v in steps):
        # TensorFlow's strides count cells of the same residue, not neighbours.
        def strided(moved: Any, _: int, inner: str) -> Any:
            return op("DepthwiseConv2dNative")(moved, filter, strides=steps, padding=inner, data_format=data_format, name=name)

        return with_space_to_batch(input, gaps, padding, strided, filter.get_shape(), data_format=data_format)
    if max(gaps) > 1:
        # TensorFlow moves cells into the batch, and back; it has made the constant of the rates.
        node_counts.also(nodes_of_dilation(input.get_shape(), gaps, "VALID", data_format.startswith("NC")) - 1)
    return op("DepthwiseConv2dNative")(
        input,
        filter,
        strides=steps,
        padding=padding,
        data_format=data_format,
        dilations=per_axis(gaps, 2, 1 if data_format.startswith("NC") else 3, "rate"),
        name=name,
    )


def depthwise_conv2d(
    input: Any,  # noqa: A002
    filter: Any,  # noqa: A002
    strides: Any,
    padding: str,
    rate: Any = None,
    name: Optional[str] = None,
    data_format: Optional[str] = None,
    dilations: Any = None,
) -> Tensor:
    """Convolves each channel of images with filters of its own.

    Args:
      input: A tensor of floats, `[batch, rows, columns, in]`, or `[batch, in, rows, columns]` for NCHW.
      filter: A tensor `[rows, columns, in, multiplier]` of the same dtype.
      strides: A list of four ints.
      padding: `"SAME"` or `"VALID"`.
      rate: The distance of the filter's cells, for rows and columns; None for ones.
      name: A name for the operation.
      data_format: `"NHWC"` or `"NCHW"`.
      dilations: Another name of `rate`.

    Returns:
      A tensor like `input`, with `in * multiplier` channels.

    Raises:
      ValueError: Shapes or attributes do not fit.

    Example:
      >>> y = tf.nn.depthwise_conv2d([[[[1.0, 2.0]]]], [[[[1.0, 10.0], [1.0, 10.0]]]], [1, 1, 1, 1], "VALID")
      >>> print(tf.Session().run(y).ravel())
      [ 1. 10.  2. 20.]
    """
    rate = renamed(dilations, rate, "dilations", "rate")
    with name_scope(name, "depthwise", [input, filter]) as name:
        input = convert_to_tensor(input, name="tensor_in")  # noqa: A001
        filter = convert_to_tensor(filter, name="filter_in")  # noqa: A001
        return _depthwise(input, filter, strides, padding, rate, data_format, name)


def separable_conv2d(
    input: Any,  # noqa: A002
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: str,
    rate: Any = None,
    name: Optional[str] = None,
    data_format: Optional[str] = None,
    dilations: Any = None,
) -> Tensor:
    """Convolves each channel of images with filters of its own, and mixes the channels of each pixel.

    Args:
      input: A tensor of floats, `[batch, rows, columns, in]`, or `[batch, in, rows, columns]` for NCHW.
      depthwise_filter: A tensor `[rows, columns, in, multiplier]` of the same dtype.
      pointwise_filter: A tensor `[1, 1, in * multiplier, out]`.
      strides: A list of four ints.
      padding: `"SAME"` or `"VALID"`.
      rate: The distance of the filter's cells, for rows and columns; None for ones.
      name: A name for the operation.
      data_format: `"NHWC"` or `"NCHW"`.
      dilations: Another name of `rate`.

    Returns:
      A tensor like `input`, with `out` channels.

    Raises:
      ValueError: Shapes or attributes do not fit.

    Example:
      >>> pixel = [[[[1.0, 2.0]]]]
      >>> y = tf.nn.separable_conv2d(pixel, tf.ones([1, 1, 2, 1]), tf.ones([1, 1, 2, 3]), [1, 1, 1, 1], "VALID")
      >>> print(tf.Session().run(y).ravel())
      [3. 3. 3.]
    """
    rate = renamed(dilations, rate, "dilations", "rate")
    with name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as name:
        input = convert_to_tensor(input, name="tensor_in")  # noqa: A001
        depthwise_filter = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        shape = pointwise_filter.get_shape().with_rank(4)
        shape.dims[0].assert_is_compatible_with(1)
        shape.dims[1].assert_is_compatible_with(1)
        between = _depthwise(input, depthwise_filter, strides, padding, rate, data_format, "depthwise")
        return conv2d(between, pointwise_filter, [1, 1, 1, 1], "VALID", data_format=data_format, name=name)
