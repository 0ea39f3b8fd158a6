"""Pools of `tf.nn`: the largest cell, or the mean, of each window of sequences, images or volumes."""

from __future__ import annotations

from typing import Any, List, Optional

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes, name_scope
from millstream.framework.deprecation import renamed
from millstream.framework.op_functions import op
from millstream.nn.convolutions import _images, _listed, _rows, per_axis
from millstream.nn.dilated import with_space_to_batch
from millstream.ops import array_ops

__all__ = [
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "avg_pool_v2",
    "fractional_avg_pool",
    "fractional_max_pool",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool_v2",
    "max_pool_with_argmax",
    "pool",
]

_IMAGES = """Returns the {what} of each window of images.

Args:
  value: A tensor of {numbers}, `[batch, rows, columns, channels]`, or `[batch, channels, rows, columns]` for
    NCHW.
  ksize: The size of a window: an int, or a list of 1, 2 or 4.
  strides: The distance of windows: an int, or a list of 1, 2 or 4.
  padding: `"SAME"` or `"VALID"`.
  data_format: `"NHWC"` or `"NCHW"`.
  name: A name for the operation.
  input: Another name of `value`.

Returns:
  A tensor of the same dtype.

Raises:
  ValueError: Shapes or attributes do not fit.

Example:
  >>> y = tf.nn.{called}([[[[1.0], [2.0]], [[3.0], [6.0]]]], 2, 2, "VALID")
  >>> print(tf.Session().run(y).ravel())
  [{value}]
"""

_ROWS = """Returns the {what} of each window of sequences.

Args:
  input: A tensor of {numbers}, `[batch, time, channels]`, or `[batch, channels, time]` for NCW.
  ksize: The size of a window: an int, or a list of 1 or 3.
  strides: The distance of windows: an int, or a list of 1 or 3.
  padding: `"SAME"` or `"VALID"`.
  data_format: `"NWC"` or `"NCW"`.
  name: A name for the operation.

Returns:
  A tensor of the same dtype.

Raises:
  ValueError: Shapes or attributes do not fit.

Example:
  >>> y = tf.nn.{called}([[[1.0], [3.0], [5.0]]], 2, 1, "VALID")
  >>> print(tf.Session().run(y).ravel())
  [{value}]
"""

_VOLUMES = """Returns the {what} of each window of volumes.

Args:
  input: A tensor of floats, `[batch, planes, rows, columns, channels]`, or with the channels on axis 1 for
    NCDHW.
  ksize: The size of a window: an int, or a list of 1, 3 or 5.
  strides: The distance of windows: an int, or a list of 1, 3 or 5.
  padding: `"SAME"` or `"VALID"`.
  data_format: `"NDHWC"` or `"NCDHW"`.
  name: A name for the operation.

Returns:
  A tensor of the same dtype.

Raises:
  ValueError: Shapes or attributes do not fit.

Example:
  >>> y = tf.nn.{called}([[[[[1.0], [2.0]], [[3.0], [6.0]]]]], [1, 2, 2], 2, "VALID")
  >>> print(tf.Session().run(y).ravel())
  [{value}]
"""

_ANY = """Returns the {what} of each window of sequences, images or volumes, by the rank of the input.

Args:
  input: A tensor of {numbers}, of rank 3 to 5.
  ksize: The size of a window: an int, or a list with one for each axis, or each spatial axis.
  strides: The distance of windows, in the same forms.
  padding: `"SAME"` or `"VALID"`.
  data_format: `"NWC"`, `"NCW"`, `"NHWC"`, `"NCHW"`, `"NDHWC"` or `"NCDHW"`.
  name: A name for the operation.

Returns:
  A tensor of the same dtype.

Raises:
  ValueError: The rank is unknown, or not 3 to 5.

Example:
  >>> y = tf.nn.{called}([[[[1.0], [2.0]], [[3.0], [6.0]]]], 2, 2, "VALID")
  >>> print(tf.Session().run(y).ravel())
  [{value}]
"""


def _pool_of_images(op_name: str, x: Any, ksize: Any, strides: Any, padding: str, data_format: Optional[str], name: Optional[str]) -> Tensor:
    with name_scope(name, op_name, [x]) as name:
        data_format, channels = _images(data_format)
        sizes = per_axis(ksize, 2, channels, "ksize")
        if op_name == "MaxPool" and 0 in sizes:
            raise ValueError("ksize cannot be zero.")
        return op(op_name)(x, ksize=sizes, strides=per_axis(strides, 2, channels, "strides"), padding=padding, data_format=data_format, name=name)


def _of_images(op_name: str, called: str) -> Any:
    def function(
        value: Any = None,
        ksize: Any = None,
        strides: Any = None,
        padding: Any = None,
        data_format: Optional[str] = "NHWC",
        name: Optional[str] = None,
        input: Any = None,  # noqa: A002
    ) -> Tensor:
        value = renamed(input, value, "input", "value")
        return _pool_of_images(op_name, value, ksize, strides, padding, data_format, name)

    return _dressed(function, _IMAGES, op_name, called, "6." if op_name == "MaxPool" else "3.")


def _of_rows(op_name: str, called: str, scope: str) -> Any:
    def function(input: Any, ksize: Any, strides: Any, padding: str, data_format: Optional[str] = "NWC", name: Optional[str] = None) -> Tensor:  # noqa: A002
        with name_scope(name, scope, [input]) as name:
            form, rows, channels = _rows(data_format, 'data_format must be "NWC" or "NCW".')
            result = op(op_name)(
                array_ops.expand_dims(input, rows),
                ksize=[1, *per_axis(ksize, 1, channels, "ksize")],
                strides=[1, *per_axis(strides, 1, channels, "strides")],
                padding=padding,
                data_format=form,
                name=name,
            )
            return array_ops.squeeze(result, [rows])

    return _dressed(function, _ROWS, op_name, called, "3. 5." if op_name == "MaxPool" else "2. 4.")


def _pool_of_volumes(op_name: str, x: Any, ksize: Any, strides: Any, padding: str, data_format: Optional[str], name: Optional[str]) -> Tensor:
    with name_scope(name, op_name, [x]) as name:
        data_format = data_format or "NDHWC"
        channels = 1 if data_format.startswith("NC") else 4
        sizes, steps = per_axis(ksize, 3, channels, "ksize"), per_axis(strides, 3, channels, "strides")
        return op(op_name)(x, ksize=sizes, strides=steps, padding=padding, data_format=data_format, name=name)


def _of_volumes(op_name: str, called: str) -> Any:
    def function(input: Any, ksize: Any, strides: Any, padding: str, data_format: Optional[str] = "NDHWC", name: Optional[str] = None) -> Tensor:  # noqa: A002
        return _pool_of_volumes(op_name, input, ksize, strides, padding, data_format, name)

    return _dressed(function, _VOLUMES, op_name, called, "6." if op_name == "MaxPool3D" else "3.")


def _of_any(op_name: str, called: str, of_rows: Any) -> Any:
    def function(input: Any, ksize: Any, strides: Any, padding: str, data_format: Optional[str] = None, name: Optional[str] = None) -> Tensor:  # noqa: A002
        rank = len(data_format) if data_format is not None else convert_to_tensor(input).get_shape().ndims
        if rank == 3:
            return of_rows(input, ksize, strides, padding, data_format or "NWC", name)
        if rank == 4:
            return _pool_of_images(op_name, input, ksize, strides, padding, data_format, name)
        if rank == 5:
            return _pool_of_volumes(op_name + "3D", input, ksize, strides, padding, data_format, name)
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {rank}.")

    return _dressed(function, _ANY, op_name, called, "6." if op_name == "MaxPool" else "3.")


def _dressed(function: Any, doc: str, op_name: str, called: str, value: str) -> Any:
    is_max = op_name.startswith("MaxPool")
    function.__name__ = function.__qualname__ = called
    function.__doc__ = doc.format(called=called, what="largest cell" if is_max else "mean", numbers="numbers" if is_max else "floats", value=value)
    return function


max_pool = _of_images("MaxPool", "max_pool")
avg_pool = _of_images("AvgPool", "avg_pool")
avg_pool2d = avg_pool
max_pool1d = _of_rows("MaxPool", "max_pool1d", "MaxPool1d")
avg_pool1d = _of_rows("AvgPool", "avg_pool1d", "AvgPool1D")
max_pool3d = _of_volumes("MaxPool3D", "max_pool3d")
avg_pool3d = _of_volumes("AvgPool3D", "avg_pool3d")
max_pool_v2 = _of_any("MaxPool", "max_pool_v2", max_pool1d)
avg_pool_v2 = _of_any("AvgPool", "avg_pool_v2", avg_pool1d)


def max_pool2d(input: Any, ksize: Any, strides: Any, padding: str, data_format: Optional[str] = "NHWC", name: Optional[str] = None) -> Tensor:  # noqa: A002
    """Returns the largest cell of each window of images, as `max_pool` does.

    Args:
      input: A tensor of numbers, `[batch, rows, columns, channels]`.
      ksize: The size of a window: an int, or a list of 1, 2 or 4.
      strides: The distance of windows: an int, or a list of 1, 2 or 4.
      padding: `"SAME"` or `"VALID"`.
      data_format: `"NHWC"` or `"NCHW"`.
      name: A name for the operation.

    Example:
      >>> print(tf.Session().run(tf.nn.max_pool2d([[[[1.0], [2.0]]]], [1, 2], 1, "VALID")).ravel())
      [2.]
    """
    with name_scope(name, "MaxPool2d", [input]) as name:
        return _pool_of_images("MaxPool", input, ksize, strides, padding, data_format, name)


def max_pool_with_argmax(
    input: Any,  # noqa: A002
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    Targmax: Any = None,  # noqa: N803
    name: Optional[str] = None,
    output_dtype: Any = None,
    include_batch_in_index: bool = False,
) -> Any:
    """Returns the largest cell of each window of images, and its index in the image.

    The index of a cell is `(row * columns + column) * channels + channel`.

    Args:
      input: A tensor of numbers, `[batch, rows, columns, channels]`.
      ksize: The size of a window: a list of four ints.
      strides: The distance of windows: a list of four ints.
      padding: `"SAME"` or `"VALID"`.
      data_format: `"NHWC"`.
      Targmax: The dtype of the indices: `tf.int64`, the default, or `tf.int32`.
      name: A name for the operation.
      output_dtype: Another name of `Targmax`.
      include_batch_in_index: If true, indices count over all images.

    Returns:
      A named tuple: `output`, the cells, and `argmax`, their indices.

    Raises:
      ValueError: The data format is not NHWC, or shapes or attributes do not fit.

    Example:
      >>> y, at = tf.nn.max_pool_with_argmax([[[[1.0], [9.0]], [[3.0], [6.0]]]], [1, 2, 1, 1], [1, 2, 1, 1], "VALID")
      >>> print(*tf.Session().run([tf.reshape(y, [-1]), tf.reshape(at, [-1])]))
      [3. 9.] [2 1]
    """
    if data_format != "NHWC":
        raise ValueError("Data formats other than 'NHWC' are not yet supported")
    dtype = renamed(output_dtype, Targmax, "output_dtype", "Targmax")
    return op("MaxPoolWithArgmax")(
        input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        Targmax=dtypes.int64 if dtype is None else dtype,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


def pool(
    input: Any,  # noqa: A002
    window_shape: Any,
    pooling_type: str,
    padding: str,
    dilation_rate: Any = None,
    strides: Any = None,
    name: Optional[str] = None,
    data_format: Optional[str] = None,
    dilations: Any = None,
) -> Tensor:
    """Returns the largest cell, or the mean, of each window of sequences, images or volumes.

    Args:
      input: A tensor of rank 3 to 5.
      window_shape: One int for each spatial axis.
      pooling_type: `"MAX"` or `"AVG"`.
      padding: `"SAME"` or `"VALID"`.
      dilation_rate: The distance of a window's cells: one int for each spatial axis; None for ones. It may be
        more than 1 if strides are 1 and the padding is `"VALID"`.
      strides: One int for each spatial axis; None for ones.
      name: A name for the operation.
      data_format: `"NWC"`, `"NCW"`, `"NHWC"`, `"NCHW"`, `"NDHWC"` or `"NCDHW"`.
      dilations: Another name of `dilation_rate`.

    Returns:
      A tensor of the same dtype.

    Raises:
      ValueError: Shapes or attributes do not fit.

    Example:
      >>> y = tf.nn.pool([[[1.0], [3.0], [5.0]]], [2], "AVG", "VALID")
      >>> print(tf.Session().run(y).ravel())
      [2. 4.]
    """
    rate = dilation_rate if dilations is None else renamed(dilations, dilation_rate, "dilations", "dilation_rate")
    with name_scope(name, "%s_pool" % pooling_type.lower(), [input]) as name:
        window: List[int] = [int(v) for v in window_shape]
        if len(window) not in (1, 2, 3):
            raise ValueError("It is required that 1 <= num_spatial_dims <= 3.")
        input = convert_to_tensor(input)  # noqa: A001
        input.get_shape().with_rank(len(window) + 2)
        if pooling_type not in ("MAX", "AVG"):
            raise ValueError(f"{len(window)}-D {pooling_type} pooling is not supported.")
        steps, gaps = _listed(strides, len(window), "strides"), _listed(rate, len(window), "dilation_rate")
        if max(steps) > 1 and max(gaps) > 1:
            raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
        if padding == "SAME" and max(gaps) > 1:
            raise ValueError("pooling with SAME padding is not implemented for dilation_rate > 1")

        def pooled(moved: Any, _: int, padding: str) -> Tensor:
            if len(window) == 1:
                return (max_pool1d if pooling_type == "MAX" else avg_pool1d)(moved, window, steps, padding, data_format or "NWC", name)
            kind = "MaxPool" if pooling_type == "MAX" else "AvgPool"
            if len(window) == 3:
                return _pool_of_volumes(kind + "3D", moved, window, steps, padding, data_format, name)
            return _pool_of_images(kind, moved, window, steps, padding, data_format, name)

        cells = convert_to_tensor(input, name="input")
        return with_space_to_batch(cells, gaps, padding, pooled, window, data_format=data_format)


_FRACTIONAL = """Returns the {what} of each window of images, whose windows have two sizes.

The number of windows along an axis is its size over the ratio, rounded down. With a ratio of 1.5, windows
have one cell or two. See Graham, "Fractional Max-Pooling" (2014).

Args:
  value: A tensor of `float32`, `float64`, `int32` or `int64`, `[batch, rows, columns, channels]`.
  pooling_ratio: A list of four floats: the ratios along the axes. The first and the last are 1; none is less.
  pseudo_random: Whether the windows have the regular order that begins at a random place, and not a random
    one.
  overlapping: Whether the cell at the border of two windows belongs to both.
  deterministic: Whether all runs have the same windows. Seeds need it.
  seed: A seed; with `seed2` zero for both, a random one.
  seed2: A second seed.
  name: A name for the operation.

Returns:
  A named tuple: `output`, and `row_pooling_sequence` and `col_pooling_sequence`, `int64` vectors that hold
    the borders of the windows.

Raises:
  ValueError: The shape or the ratios do not fit.
  tf.errors.InvalidArgumentError: When run: a ratio is greater than the axis, or there are seeds and not
    `deterministic`.

Example:
  >>> x = tf.reshape(tf.constant([1.0, 5.0, 2.0, 4.0, 3.0]), [1, 1, 5, 1])
  >>> y = tf.nn.{called}(x, [1.0, 1.0, 2.0, 1.0], deterministic=True, seed=1)
  >>> y = tf.Session().run(y)
  >>> print(y.output.ravel(), y.col_pooling_sequence)
  {values}
"""


def _fractional(op_name: str, called: str, what: str, values: str) -> Any:
    def function(
        value: Any,
        pooling_ratio: Any,
        pseudo_random: bool = False,
        overlapping: bool = False,
        deterministic: bool = False,
        seed: int = 0,
        seed2: int = 0,
        name: Optional[str] = None,
    ) -> Any:
        return op(op_name)(value, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2, name=name)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _FRACTIONAL.format(called=called, what=what, values=values)
    return function


fractional_avg_pool = _fractional("FractionalAvgPool", "fractional_avg_pool", "mean", "[3. 3.] [0 2 5]")
fractional_max_pool = _fractional("FractionalMaxPool", "fractional_max_pool", "largest cell", "[5. 4.] [0 2 5]")
