"""Convolutions of `tf.nn`, and their transposes.

Filters are `[.., in, out]`. A dilated convolution is one op here; TensorFlow wraps it in `SpaceToBatchND` and
`BatchToSpaceND`, with equal values.
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, name_scope, node_counts
from millstream.framework.deprecation import renamed
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape, dimension_value
from millstream.nn import dilated
from millstream.ops import array_ops

__all__ = [
    "atrous_conv2d",
    "atrous_conv2d_transpose",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "conv_transpose",
    "convolution",
]


def per_axis(value: Any, n: int, channels: int, name: str) -> List[int]:
    """Returns one entry for each axis of images with `n` spatial axes and channels on axis `channels`.

    Args:
      value: None for ones, an int, or a sequence of 1, `n` or `n + 2` ints.
      n: The number of spatial axes.
      channels: The axis of the channels.
      name: The name of the argument, for the error.

    Raises:
      ValueError: The sequence has another length.
    """
    if value is None:
        return [1] * (n + 2)
    sizes = [int(v) for v in value] if np.ndim(value) else [int(value)]
    if len(sizes) == n + 2:
        return sizes
    if len(sizes) not in (1, n):
        raise ValueError(f"{name} should be of length 1, {n} or {n + 2} but was {len(sizes)}")
    spatial = sizes * n if len(sizes) == 1 else sizes
    return [1, *spatial, 1] if channels == n + 1 else [1, 1, *spatial]


def explicit(padding: Any) -> Tuple[str, List[int]]:
    """Returns the attributes `padding` and `explicit_paddings` for a word or a list of pairs.

    Raises:
      ValueError: The padding is `"EXPLICIT"`, or not a list of four pairs.
    """
    if isinstance(padding, str):
        if padding == "EXPLICIT":
            raise ValueError(
                '"EXPLICIT" is not a valid value for the padding parameter. To use explicit padding, the padding parameter must be a list.'
            )
        return padding, []
    if not isinstance(padding, (list, tuple)):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}. It may be a list of pairs, too.")
    for i, pair in enumerate(padding):
        if not isinstance(pair, (list, tuple)):
            raise ValueError(f"When padding is a list, each element of padding must be a list/tuple of size 2. Element with index {i} of padding is not a list/tuple")
        if len(pair) != 2:
            raise ValueError(f"When padding is a list, each element of padding must be a list/tuple of size 2. Element with index {i} of padding has size {len(pair)}")
    if len(padding) != 4:
        raise ValueError(f"When padding is a list, it must be of size 4. Got padding of size: {len(padding)}")
    return "EXPLICIT", [int(v) for pair in padding for v in pair]


def _images(data_format: Optional[str]) -> Tuple[str, int]:
    """Returns the data format and the axis of the channels."""
    data_format = data_format or "NHWC"
    return data_format, 1 if data_format.startswith("NC") else 3


def conv2d(
    input: Any,  # noqa: A002
    filter: Any = None,  # noqa: A002
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: Optional[str] = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: Optional[str] = None,
    filters: Any = None,
) -> Tensor:
    """Convolves images with a filter.

    Args:
      input: A tensor of floats, `[batch, rows, columns, in]`, or `[batch, in, rows, columns]` for NCHW.
      filter: A tensor `[rows, columns, in, out]` of the same dtype.
      strides: An int, or a list of 1, 2 or 4.
      padding: `"SAME"`, `"VALID"`, or a list of four pairs: cells before and behind each axis.
      use_cudnn_on_gpu: Ignored.
      data_format: `"NHWC"` or `"NCHW"`.
      dilations: The distance of the filter's cells: an int, or a list of 1, 2 or 4.
      name: A name for the operation.
      filters: Another name of `filter`.

    Returns:
      A tensor like `input`, with `out` channels.

    Raises:
      ValueError: Shapes or attributes do not fit.

    Example:
      >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
      >>> y = tf.nn.conv2d(image, tf.ones([2, 2, 1, 1]), strides=1, padding="VALID")
      >>> print(tf.Session().run(y)[0, :, :, 0])
      [[ 8. 12.]
       [20. 24.]]
    """
    filter = renamed(filters, filter, "filters", "filter")  # noqa: A001
    padding, explicit_paddings = explicit(padding)
    data_format, channels = _images(data_format)
    return op("Conv2D")(
        input,
        filter,
        strides=per_axis(strides, 2, channels, "strides"),
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=per_axis(dilations, 2, channels, "dilations"),
        name=name,
    )


def conv2d_backprop_input(
    input_sizes: Any,
    filter: Any = None,  # noqa: A002
    out_backprop: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: Optional[str] = None,
    filters: Any = None,
) -> Tensor:
    """Returns the gradient of `conv2d` by its input.

    Args:
      input_sizes: The shape of the input, a vector of four ints.
      filter: The filter.
      out_backprop: The gradient of the output.
      strides: As in `conv2d`, and the following.
      padding: As in `conv2d`.
      use_cudnn_on_gpu: Ignored.
      data_format: As in `conv2d`.
      dilations: As in `conv2d`.
      name: A name for the operation.
      filters: Another name of `filter`.

    Example:
      >>> dy = tf.ones([1, 1, 2, 1])
      >>> dx = tf.nn.conv2d_backprop_input([1, 1, 3, 1], [[[[2.0]], [[3.0]]]], dy, [1, 1, 1, 1], "VALID")
      >>> print(tf.Session().run(dx).ravel())
      [2. 5. 3.]
    """
    filter = renamed(filters, filter, "filters", "filter")  # noqa: A001
    padding, explicit_paddings = explicit(padding)
    return op("Conv2DBackpropInput")(
        input_sizes,
        filter,
        out_backprop,
        strides=list(strides),
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


def conv2d_backprop_filter(
    input: Any,  # noqa: A002
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: Optional[str] = None,
) -> Tensor:
    """Returns the gradient of `conv2d` by its filter.

    Args:
      input: The images.
      filter_sizes: The shape of the filter, a vector of four ints.
      out_backprop: The gradient of the output.
      strides: As in `conv2d`, and the following.
      padding: As in `conv2d`.
      use_cudnn_on_gpu: Ignored.
      data_format: As in `conv2d`.
      dilations: As in `conv2d`.
      name: A name for the operation.

    Example:
      >>> dy = tf.ones([1, 1, 2, 1])
      >>> df = tf.nn.conv2d_backprop_filter([[[[1.0], [2.0], [4.0]]]], [1, 2, 1, 1], dy, [1, 1, 1, 1], "VALID")
      >>> print(tf.Session().run(df).ravel())
      [3. 6.]
    """
    padding, explicit_paddings = explicit(padding)
    return op("Conv2DBackpropFilter")(
        input,
        filter_sizes,
        out_backprop,
        strides=list(strides),
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


def conv2d_transpose(
    value: Any = None,
    filter: Any = None,  # noqa: A002
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str = "NHWC",
    name: Optional[str] = None,
    input: Any = None,  # noqa: A002
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Applies the transpose of `conv2d`, its gradient, as a function that enlarges images.

    Args:
      value: A tensor of floats, `[batch, rows, columns, in]`, or `[batch, in, rows, columns]` for NCHW.
      filter: A tensor `[rows, columns, out, in]` of the same dtype.
      output_shape: The shape of the result, a vector of four ints.
      strides: An int, or a list of 1, 2 or 4.
      padding: `"SAME"` or `"VALID"`.
      data_format: `"NHWC"` or `"NCHW"`.
      name: A name for the operation.
      input: Another name of `value`.
      filters: Another name of `filter`.
      dilations: The distance of the filter's cells: an int, or a list of 1, 2 or 4.

    Returns:
      A tensor of shape `output_shape`.

    Raises:
      ValueError: Shapes or attributes do not fit.

    Example:
      >>> y = tf.nn.conv2d_transpose([[[[1.0], [2.0]]]], tf.ones([1, 2, 1, 1]), [1, 1, 4, 1], [1, 1, 2, 1])
      >>> print(tf.Session().run(y).ravel())
      [1. 1. 2. 2.]
    """
    value = renamed(input, value, "input", "value")
    filter = renamed(filters, filter, "filters", "filter")  # noqa: A001
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as name:
        data_format, channels = _images(data_format)
        if data_format not in ("NHWC", "NCHW"):
            raise ValueError("data_format has to be either NCHW or NHWC.")
        return conv2d_backprop_input(
            output_shape,
            filter,
            value,
            per_axis(strides, 2, channels, "strides"),
            padding,
            data_format=data_format,
            dilations=per_axis(dilations, 2, channels, "dilations"),
            name=name,
        )


def conv3d(
    input: Any,  # noqa: A002
    filter: Any = None,  # noqa: A002
    strides: Any = None,
    padding: Any = None,
    data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: Optional[str] = None,
    filters: Any = None,
) -> Tensor:
    """Convolves volumes with a filter.

    Args:
      input: A tensor of floats, `[batch, planes, rows, columns, in]`, or with `in` on axis 1 for NCDHW.
      filter: A tensor `[planes, rows, columns, in, out]` of the same dtype.
      strides: A list of five ints.
      padding: `"SAME"` or `"VALID"`.
      data_format: `"NDHWC"` or `"NCDHW"`.
      dilations: The distance of the filter's cells: a list of five ints.
      name: A name for the operation.
      filters: Another name of `filter`.

    Returns:
      A tensor like `input`, with `out` channels.

    Raises:
      ValueError: Shapes or attributes do not fit.
      TypeError: `strides` is not a list.

    Example:
      >>> volume = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
      >>> y = tf.nn.conv3d(volume, tf.ones([2, 1, 2, 1, 1]), strides=[1, 1, 1, 1, 1], padding="VALID")
      >>> print(tf.Session().run(y).ravel())
      [10. 18.]
    """
    filter = renamed(filters, filter, "filters", "filter")  # noqa: A001
    if not isinstance(strides, (list, tuple)):
        raise TypeError("Expected list for 'strides' argument to 'conv3d' Op, not %s." % (strides,))
    return op("Conv3D")(
        input,
        filter,
        strides=list(strides),
        padding=padding,
        data_format=data_format,
        dilations=list(dilations) if isinstance(dilations, tuple) else dilations,
        name=name,
    )


def conv3d_transpose(
    value: Any,
    filter: Any = None,  # noqa: A002
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str = "NDHWC",
    name: Optional[str] = None,
    input: Any = None,  # noqa: A002
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Applies the transpose of `conv3d`, its gradient, as a function that enlarges volumes.

    Args:
      value: A tensor of floats, `[batch, planes, rows, columns, in]`, or with `in` on axis 1 for NCDHW.
      filter: A tensor `[planes, rows, columns, out, in]` of the same dtype.
      output_shape: The shape of the result, a vector of five ints.
      strides: An int, or a list of 1, 3 or 5.
      padding: `"SAME"` or `"VALID"`.
      data_format: `"NDHWC"` or `"NCDHW"`.
      name: A name for the operation.
      input: Another name of `value`.
      filters: Another name of `filter`.
      dilations: The distance of the filter's cells: an int, or a list of 1, 3 or 5.

    Returns:
      A tensor of shape `output_shape`.

    Raises:
      ValueError: Shapes or attributes do not fit.

    Example:
      >>> y = tf.nn.conv3d_transpose([[[[[1.0], [2.0]]]]], tf.ones([1, 1, 2, 1, 1]), [1, 1, 1, 4, 1], [1, 1, 2])
      >>> print(tf.Session().run(y).ravel())
      [1. 1. 2. 2.]
    """
    value = renamed(input, value, "input", "value")
    filter = renamed(filters, filter, "filters", "filter")  # noqa: A001
    with name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as name:
        data_format = data_format or "NDHWC"
        channels = 1 if data_format.startswith("NC") else 4
        return op("Conv3DBackpropInputV2")(
            output_shape,
            filter,
            value,
            strides=per_axis(strides, 3, channels, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=per_axis(dilations, 3, channels, "dilations"),
            name=name,
        )


def _rows(data_format: Optional[str], words: str) -> Tuple[str, int, int]:
    """Returns the format of images for one of rows, the axis of their rows, and that of the channels."""
    if data_format in (None, "NHWC", "NWC"):
        return "NHWC", 1, 2
    if data_format in ("NCHW", "NCW"):
        return "NCHW", 2, 1
    raise ValueError(words)


def conv1d(
    value: Any = None,
    filters: Any = None,
    stride: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: Any = None,
    data_format: Optional[str] = None,
    name: Optional[str] = None,
    input: Any = None,  # noqa: A002
    dilations: Any = None,
) -> Tensor:
    """Convolves sequences with a filter.

    Args:
      value: A tensor of floats, `[batch, time, in]`, or `[batch, in, time]` for NCW.
      filters: A tensor `[time, in, out]` of the same dtype.
      stride: An int, or a list of 1 or 3.
      padding: `"SAME"` or `"VALID"`.
      use_cudnn_on_gpu: Ignored.
      data_format: `"NWC"` or `"NCW"`.
      name: A name for the operation.
      input: Another name of `value`.
      dilations: The distance of the filter's cells: an int, or a list of 1 or 3.

    Returns:
      A tensor like `value`, with `out` channels.

    Raises:
      ValueError: Shapes or attributes do not fit.

    Example:
      >>> y = tf.nn.conv1d([[[1.0], [2.0], [4.0]]], [[[1.0]], [[10.0]]], 1, "VALID")
      >>> print(tf.Session().run(y).ravel())
      [21. 42.]
    """
    value = renamed(input, value, "input", "value")
    with name_scope(name, "conv1d", [value, filters]) as name:
        form, rows, channels = _rows(data_format, 'data_format must be "NWC" or "NCW".')
        result = op("Conv2D")(
            array_ops.expand_dims(value, rows),
            array_ops.expand_dims(filters, 0),
            strides=[1, *per_axis(stride, 1, channels, "stride")],
            padding=padding,
            use_cudnn_on_gpu=True if use_cudnn_on_gpu is None else use_cudnn_on_gpu,
            data_format=form,
            dilations=[1, *per_axis(dilations, 1, channels, "dilations")],
            name=name,
        )
        return array_ops.squeeze(result, [rows])


def conv1d_transpose(
    input: Any,  # noqa: A002
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str = "NWC",
    dilations: Any = None,
    name: Optional[str] = None,
) -> Tensor:
    """Applies the transpose of `conv1d`, its gradient, as a function that lengthens sequences.

    Args:
      input: A tensor of floats, `[batch, time, in]`, or `[batch, in, time]` for NCW.
      filters: A tensor `[time, out, in]` of the same dtype.
      output_shape: The shape of the result, a vector of three ints.
      strides: An int, or a list of 1 or 3.
      padding: `"SAME"` or `"VALID"`.
      data_format: `"NWC"` or `"NCW"`.
      dilations: The distance of the filter's cells: an int, or a list of 1 or 3.
      name: A name for the operation.

    Returns:
      A tensor of shape `output_shape`.

    Raises:
      ValueError: Shapes or attributes do not fit.

    Example:
      >>> y = tf.nn.conv1d_transpose([[[1.0], [2.0]]], tf.ones([2, 1, 1]), [1, 4, 1], 2)
      >>> print(tf.Session().run(y).ravel())
      [1. 1. 2. 2.]
    """
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as name:
        form, rows, channels = _rows(data_format, 'data_format must be "NWC" or "NCW".')
        shape = convert_to_tensor(output_shape, name="output_shape")
        result = conv2d_backprop_input(
            array_ops.concat([shape[:rows], [1], shape[rows:]], 0),
            array_ops.expand_dims(filters, 0),
            array_ops.expand_dims(input, rows),
            [1, *per_axis(strides, 1, channels, "strides")],
            padding,
            data_format=form,
            dilations=[1, *per_axis(dilations, 1, channels, "dilations")],
            name=name,
        )
        return array_ops.squeeze(result, [rows])


def convolution(
    input: Any,  # noqa: A002
    filter: Any,  # noqa: A002
    padding: Any,
    strides: Any = None,
    dilation_rate: Any = None,
    name: Optional[str] = None,
    data_format: Optional[str] = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Convolves sequences, images or volumes, by the rank of the filter.

    Args:
      input: A tensor of floats, with channels on the last axis, or on axis 1 if `data_format` starts with NC.
      filter: A tensor `[.., in, out]` of the same rank and dtype.
      padding: `"SAME"` or `"VALID"`.
      strides: One int for each spatial axis; None for ones.
      dilation_rate: The distance of the filter's cells: one int for each spatial axis; None for ones.
      name: A name for the operation.
      data_format: `"NWC"`, `"NCW"`, `"NHWC"`, `"NCHW"`, `"NDHWC"` or `"NCDHW"`.
      filters: Another name of `filter`.
      dilations: Another name of `dilation_rate`.

    Returns:
      A tensor like `input`, with `out` channels.

    Raises:
      ValueError: The rank of the filter is unknown or not 3 to 5, the number of channels differs, or both
        strides and dilations are more than 1.

    Example:
      >>> y = tf.nn.convolution([[[1.0], [2.0], [4.0]]], [[[1.0]], [[10.0]]], "VALID", dilation_rate=[2])
      >>> print(tf.Session().run(y).ravel())
      [41.]
    """
    filter = renamed(filters, filter, "filters", "filter") if filters is not None else filter  # noqa: A001
    rate = dilation_rate if dilations is None else renamed(dilations, dilation_rate, "dilations", "dilation_rate")
    with name_scope(name, "convolution", [input, filter]) as name:
        input, filter = convert_to_tensor(input, name="input"), convert_to_tensor(filter, name="filter")  # noqa: A001
        rank = filter.get_shape().ndims
        if rank is None:
            rank = input.get_shape().ndims
        if rank is None:
            raise ValueError("rank of input or filter must be known")
        spatial = rank - 2
        if spatial not in (1, 2, 3) or input.get_shape().ndims not in (None, 3, 4, 5):
            found = input.get_shape().ndims
            raise ValueError("Input tensor must be of rank 3, 4 or 5 but was %s." % (rank if found is None else found))
        steps = _listed(strides, spatial, "strides")
        gaps = _listed(rate, spatial, "dilation_rate")
        if max(steps, default=1) > 1 and max(gaps, default=1) > 1:
            raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
        if any(1 < gap for gap in gaps):
            at = 1 if (data_format or "").startswith("NC") else -1
            depths: Any = [input.get_shape().dims[at] if input.get_shape().ndims else None, filter.get_shape().dims[-2] if filter.get_shape().ndims else None]
            if None not in depths and not depths[0].is_compatible_with(depths[1]):
                raise ValueError("number of input channels does not match corresponding dimension of filter, %s != %s" % tuple(depths))
            node_counts.also(dilated.nodes_of_dilation(input.get_shape(), gaps, padding, at == 1))
        if spatial == 1:
            return conv1d(input, filter, steps, padding, data_format=data_format, dilations=gaps, name=name)
        if spatial == 2:
            return conv2d(input, filter, steps, padding, data_format=data_format, dilations=gaps, name=name)
        axes = slice(2, None) if (data_format or "").startswith("NC") else slice(1, -1)
        by_axis = [1] * 5, [1] * 5
        by_axis[0][axes], by_axis[1][axes] = steps, gaps
        return conv3d(input, filter, by_axis[0], padding, data_format or "NDHWC", by_axis[1], name)


def _listed(values: Any, n: int, name: str) -> List[int]:
    if values is None:
        return [1] * n
    sizes = [int(v) for v in values]
    if len(sizes) != n:
        raise ValueError(f"len({name})={len(sizes)} but should be {n}")
    if any(v < 1 for v in sizes):
        raise ValueError(f"all values of {name} must be positive")
    return sizes


def conv_transpose(
    input: Any,  # noqa: A002
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: Optional[str] = None,
    dilations: Any = None,
    name: Optional[str] = None,
) -> Tensor:
    """Applies `conv1d_transpose`, `conv2d_transpose` or `conv3d_transpose`, by the length of `output_shape`.

    Args:
      input: A tensor of floats.
      filters: A tensor `[.., out, in]` of the same rank and dtype.
      output_shape: The shape of the result, a vector of three to five ints.
      strides: As in those functions, and the following.
      padding: `"SAME"` or `"VALID"`.
      data_format: The order of the axes.
      dilations: The distance of the filter's cells.
      name: A name for the operation.

    Returns:
      A tensor of shape `output_shape`.

    Raises:
      ValueError: `output_shape` has another length.

    Example:
      >>> y = tf.nn.conv_transpose([[[1.0], [2.0]]], tf.ones([2, 1, 1]), [1, 4, 1], 2)
      >>> print(tf.Session().run(y).ravel())
      [1. 1. 2. 2.]
    """
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as name:
        shape = convert_to_tensor(output_shape, name="output_shape").get_shape().as_list()
        if shape == [3]:
            return conv1d_transpose(input, filters, output_shape, strides, padding, data_format or "NWC", dilations, name)
        if shape == [4]:
            return conv2d_transpose(input, filters, output_shape, strides, padding, data_format or "NHWC", name, dilations=dilations)
        if shape == [5]:
            return conv3d_transpose(input, filters, output_shape, strides, padding, data_format or "NDHWC", name, dilations=dilations)
        raise ValueError(f"output_shape must be of length 3, 4 or 5 but was {shape}")


def atrous_conv2d(value: Any, filters: Any, rate: Any, padding: str, name: Optional[str] = None) -> Tensor:
    """Convolves images with a filter whose cells are `rate` cells of the image apart.

    Args:
      value: A tensor of floats, `[batch, rows, columns, in]`.
      filters: A tensor `[rows, columns, in, out]` of the same dtype.
      rate: A positive int.
      padding: `"SAME"` or `"VALID"`.
      name: A name for the operation.

    Returns:
      A tensor like `value`, with `out` channels.

    Example:
      >>> y = tf.nn.atrous_conv2d([[[[1.0], [2.0], [4.0]]]], tf.ones([1, 2, 1, 1]), 2, "VALID")
      >>> print(tf.Session().run(y).ravel())
      [5.]
    """
    return convolution(value, filters, padding, dilation_rate=np.broadcast_to(rate, (2,)), name=name)


def atrous_conv2d_transpose(
    value: Any, filters: Any, output_shape: Any, rate: int, padding: str, name: Optional[str] = None
) -> Tensor:
    """Applies the transpose of `atrous_conv2d`.

    Args:
      value: A tensor of floats, `[batch, rows, columns, in]`.
      filters: A tensor `[rows, columns, out, in]` of the same dtype.
      output_shape: The shape of the result, a vector of four ints.
      rate: A positive int.
      padding: `"SAME"` or `"VALID"`.
      name: A name for the operation.

    Returns:
      A tensor of shape `output_shape`.

    Raises:
      ValueError: The rate is less than 1.

    Example:
      >>> y = tf.nn.atrous_conv2d_transpose([[[[5.0]]]], tf.ones([1, 2, 1, 1]), [1, 1, 3, 1], 2, "VALID")
      >>> print(tf.Session().run(y).ravel())
      [5. 0. 5.]
    """
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]) as name:
        if rate < 1:
            raise ValueError(f"rate {rate} cannot be less than one")
        value = convert_to_tensor(value, name="value")
        filters = convert_to_tensor(filters, name="filters")
        given, wanted = (dimension_value(x.get_shape().with_rank(4)[3]) for x in (value, filters))
        if given is not None and wanted is not None and given != wanted:
            raise ValueError(f"value's input channels does not match filters' input channels, {given} != {wanted}")
        output_shape = convert_to_tensor(output_shape, name="output_shape")
        if not output_shape.get_shape().is_compatible_with(TensorShape([4])):
            raise ValueError(f"output_shape must have shape (4,), got {output_shape.get_shape()}")
        if padding not in ("SAME", "VALID"):
            raise ValueError(f"padding must be either VALID or SAME: {padding}")
        return conv2d_backprop_input(
            output_shape, filters, value, [1, 1, 1, 1], padding, dilations=[1, rate, rate, 1], name=name
        )
