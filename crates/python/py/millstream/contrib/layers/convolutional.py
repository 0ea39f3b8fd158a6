"""The layers of `tf.contrib.layers` that are convolutions and pools: those of `tf.layers` in other scopes."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple

from millstream.contrib.framework.arg_scopes import add_arg_scope
from millstream.contrib.layers.initializers import xavier_initializer
from millstream.contrib.layers.layers import Activation, add_weight, as_layer, collect_variable, finish, model_variables
from millstream.contrib.framework.variables import model_variable
from millstream.contrib.layers.utils import channel_dimension, collect_named_outputs, get_variable_collections, two_element_tuple
from millstream.framework import convert_to_tensor, name_scope
from millstream.framework.op_functions import op
from millstream.layers import convolutional
from millstream.nn import depthwise, functions
from millstream.variables.initializers import zeros_initializer
from millstream.variables.scopes import variable_scope

__all__ = [
    "avg_pool2d",
    "avg_pool3d",
    "conv1d",
    "conv2d",
    "conv2d_in_plane",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "convolution",
    "convolution1d",
    "convolution2d",
    "convolution2d_in_plane",
    "convolution2d_transpose",
    "convolution3d",
    "convolution3d_transpose",
    "max_pool2d",
    "max_pool3d",
    "separable_conv2d",
    "separable_convolution2d",
]


def _order(data_format: Optional[str]) -> str:
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"


def _check_format(data_format: str, spatial: int = 2) -> None:
    axes = "DHW"[3 - spatial :]
    if data_format not in ("NC" + axes, "N" + axes + "C"):
        raise ValueError("data_format has to be either NC%s or N%sC." % (axes, axes))


class _Options:
    """The arguments of a convolution that are not those of its windows."""

    def __init__(
        self,
        activation_fn: Activation,
        normalizer: Tuple[Optional[Callable[..., Any]], Optional[Dict[str, Any]]],
        weights: Tuple[Any, Any],
        biases: Tuple[Any, Any],
        variables_collections: Any,
        outputs_collections: Any,
        trainable: bool,
    ) -> None:
        self.activation_fn, self.normalizer, self.weights, self.biases = activation_fn, normalizer, weights, biases
        self.variables_collections, self.outputs_collections, self.trainable = variables_collections, outputs_collections, trainable

    def apply(self, layer_class: Any, inputs: Any, scope: Any, **windows: Any) -> Any:
        """Builds a layer of `tf.layers` in the scope, and applies the normalizer and the activation."""
        normalize, params = self.normalizer
        if "depthwise_initializer" not in windows:
            windows["kernel_initializer"] = self.weights[0]
        layer = layer_class(
            use_bias=not normalize and bool(self.biases[0]),
            bias_initializer=self.biases[0],
            trainable=self.trainable,
            name=scope.name,
            dtype=inputs.dtype.base_dtype,
            **windows,
        )
        # Regularization losses get TensorFlow's names, and the scope's getter no regularizer.
        layer.add_weight = lambda name, shape, initializer=None, **_: add_weight(
            name, shape, inputs.dtype.base_dtype, initializer, self.biases[1] if name == "bias" else self.weights[1], self.trainable
        )
        with as_layer(scope):
            layer.build(inputs.get_shape())
            outputs = layer.call(inputs)
        for kernel in ("kernel", "depthwise_kernel", "pointwise_kernel"):
            if getattr(layer, kernel, None) is not None:
                collect_variable(getattr(layer, kernel), self.variables_collections, "weights")
        if layer.bias is not None:
            collect_variable(layer.bias, self.variables_collections, "biases")
        if normalize is not None:
            outputs = normalize(outputs, **(params or {}))
        return finish(outputs, self.activation_fn, self.outputs_collections, scope.name)

    def depthwise(self, inputs: Any, scope: Any, kernel_size: Any, multiplier: int, stride: Any, padding: str, rate: Any, data_format: str) -> Any:
        """Convolves each channel alone, and applies the normalizer or adds biases, and the activation."""
        dtype, channels = inputs.dtype.base_dtype, channel_dimension(inputs.get_shape(), _order(data_format), min_rank=4)

        def variable(name: str, kind: str, shape: Any, options: Tuple[Any, Any]) -> Any:
            collections = get_variable_collections(self.variables_collections, kind)
            return model_variable(name, shape, dtype, options[0], options[1], self.trainable, collections)

        weights = variable("depthwise_weights", "weights", [*two_element_tuple(kernel_size), channels, multiplier], self.weights)
        down, across = two_element_tuple(stride)
        strides = [1, 1, down, across] if data_format == "NCHW" else [1, down, across, 1]
        outputs = depthwise.depthwise_conv2d(inputs, weights, strides, padding, two_element_tuple(rate), data_format=data_format)
        normalize, params = self.normalizer
        if normalize is not None:
            outputs = normalize(outputs, **(params or {}))
        elif self.biases[0] is not None:
            outputs = functions.bias_add(outputs, variable("biases", "biases", [channels * multiplier], self.biases), data_format=data_format)
        return finish(outputs, self.activation_fn, self.outputs_collections, scope.name)


def _scope(scope: Any, default: str, inputs: Any, reuse: Any) -> Any:
    kernels = {prefix + "kernel": prefix + "weights" for prefix in ("", "depthwise_", "pointwise_")}
    getter = model_variables({"bias": "biases", **kernels})
    return variable_scope(scope, default, [inputs], reuse=reuse, custom_getter=getter)


@add_arg_scope
def convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: Optional[str] = None,
    rate: Any = 1,
    activation_fn: Activation = op("Relu"),
    normalizer_fn: Optional[Callable[..., Any]] = None,
    normalizer_params: Optional[Dict[str, Any]] = None,
    weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None,
    biases_initializer: Any = zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    conv_dims: Optional[int] = None,
) -> Any:
    """A convolution of sequences, images or volumes: `activation_fn(convolution(inputs, weights) + biases)`.

    The other arguments are those of `fully_connected`. `arg_scope` blocks can set all arguments.

    Args:
      inputs: A tensor of floats, of rank 3 to 5, whose number of channels is known.
      num_outputs: The number of channels of the output.
      kernel_size: The size of the kernel: an int, or one for each spatial axis.
      stride: The distance of windows: an int, or one for each spatial axis.
      padding: `"SAME"` or `"VALID"`.
      data_format: `"NHWC"`, the default, or `"NCHW"`; without H for sequences, with D and H for volumes.
      rate: The distance of the kernel's cells: an int, or one for each spatial axis.
      conv_dims: The number of spatial axes; by default that of the inputs.

    Returns:
      A tensor of the same rank.

    Raises:
      ValueError: The rank is another, the number of channels unknown, or an argument invalid.

    Example:
      >>> y = tf.contrib.layers.conv2d(tf.ones([1, 4, 4, 3]), 2, [3, 3], stride=2, scope="conv")
      >>> y.shape.as_list(), [v.name for v in tf.model_variables()]
      ([1, 2, 2, 2], ['conv/weights:0', 'conv/biases:0'])
    """
    if data_format not in (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW"):
        raise ValueError("Invalid data_format: %r" % (data_format,))
    options = _Options(
        activation_fn,
        (normalizer_fn, normalizer_params),
        (weights_initializer, weights_regularizer),
        (biases_initializer, biases_regularizer),
        variables_collections,
        outputs_collections,
        trainable,
    )
    with _scope(scope, "Conv", inputs, reuse) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError("Convolution expects input with rank %d, got %s" % (conv_dims + 2, rank))
        if rank not in (3, 4, 5):
            raise ValueError("Convolution not supported for input with rank", rank)
        return options.apply(
            {3: convolutional.Conv1D, 4: convolutional.Conv2D, 5: convolutional.Conv3D}[rank],
            inputs,
            sc,
            filters=num_outputs,
            kernel_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=_order(data_format),
            dilation_rate=rate,
        )


def _of_dims(dims: int, called: str) -> Any:
    """Returns `convolution` with a fixed number of spatial axes."""

    def function(
        inputs: Any,
        num_outputs: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: str = "SAME",
        data_format: Optional[str] = None,
        rate: Any = 1,
        activation_fn: Activation = op("Relu"),
        normalizer_fn: Optional[Callable[..., Any]] = None,
        normalizer_params: Optional[Dict[str, Any]] = None,
        weights_initializer: Any = xavier_initializer(),
        weights_regularizer: Any = None,
        biases_initializer: Any = zeros_initializer(),
        biases_regularizer: Any = None,
        reuse: Any = None,
        variables_collections: Any = None,
        outputs_collections: Any = None,
        trainable: bool = True,
        scope: Any = None,
    ) -> Any:
        given = dict(locals())
        given.pop("dims", None)
        return convolution(**given, conv_dims=dims)

    function.__name__ = function.__qualname__ = called
    # `convolution` without `conv_dims`.
    function.__doc__ = "\n".join(line for line in (convolution.__doc__ or "").split("\n") if "conv_dims" not in line)
    return add_arg_scope(function)


convolution1d = _of_dims(1, "convolution1d")
convolution2d = _of_dims(2, "convolution2d")
convolution3d = _of_dims(3, "convolution3d")


@add_arg_scope
def convolution2d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    activation_fn: Activation = op("Relu"),
    normalizer_fn: Optional[Callable[..., Any]] = None,
    normalizer_params: Optional[Dict[str, Any]] = None,
    weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None,
    biases_initializer: Any = zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A transposed convolution, which enlarges images.

    The other arguments are those of `convolution`.

    Args:
      inputs: A tensor of floats, of rank 4, whose number of channels is known.
      num_outputs: The number of channels of the output.
      kernel_size: The size of the kernel: an int, or one for each spatial axis.
      stride: The factor of the size: an int, or one for each spatial axis.

    Returns:
      A tensor of rank 4.

    Raises:
      ValueError: The rank is another, the number of channels unknown, or an argument invalid.

    Example:
      >>> y = tf.contrib.layers.conv2d_transpose(tf.ones([1, 4, 4, 3]), 2, [3, 3], stride=2, scope="up")
      >>> y.shape.as_list(), [v.name for v in tf.model_variables()]
      ([1, 8, 8, 2], ['up/weights:0', 'up/biases:0'])
    """
    options = _Options(
        activation_fn,
        (normalizer_fn, normalizer_params),
        (weights_initializer, weights_regularizer),
        (biases_initializer, biases_regularizer),
        variables_collections,
        outputs_collections,
        trainable,
    )
    with _scope(scope, "Conv2d_transpose", inputs, reuse) as sc:
        _check_format(data_format)
        return options.apply(
            convolutional.Conv2DTranspose,
            convert_to_tensor(inputs),
            sc,
            filters=num_outputs,
            kernel_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=_order(data_format),
        )


@add_arg_scope
def convolution3d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NDHWC",
    activation_fn: Activation = op("Relu"),
    normalizer_fn: Optional[Callable[..., Any]] = None,
    normalizer_params: Optional[Dict[str, Any]] = None,
    weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None,
    biases_initializer: Any = zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A transposed convolution, which enlarges volumes.

    The other arguments are those of `convolution`.

    Args:
      inputs: A tensor of floats, of rank 5, whose number of channels is known.
      num_outputs: The number of channels of the output.
      kernel_size: The size of the kernel: an int, or one for each spatial axis.
      stride: The factor of the size: an int, or one for each spatial axis.

    Returns:
      A tensor of rank 5.

    Raises:
      ValueError: The rank is another, the number of channels unknown, or an argument invalid.

    Example:
      >>> y = tf.contrib.layers.conv3d_transpose(tf.ones([1, 2, 4, 4, 3]), 2, [3, 3, 3], stride=2, scope="up")
      >>> y.shape.as_list(), [v.name for v in tf.model_variables()]
      ([1, 4, 8, 8, 2], ['up/weights:0', 'up/biases:0'])
    """
    options = _Options(
        activation_fn,
        (normalizer_fn, normalizer_params),
        (weights_initializer, weights_regularizer),
        (biases_initializer, biases_regularizer),
        variables_collections,
        outputs_collections,
        trainable,
    )
    with _scope(scope, "Conv3d_transpose", inputs, reuse) as sc:
        _check_format(data_format, 3)
        return options.apply(
            convolutional.Conv3DTranspose,
            convert_to_tensor(inputs),
            sc,
            filters=num_outputs,
            kernel_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=_order(data_format),
        )


@add_arg_scope
def separable_convolution2d(
    inputs: Any,
    num_outputs: Optional[int],
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Any = 1,
    activation_fn: Activation = op("Relu"),
    normalizer_fn: Optional[Callable[..., Any]] = None,
    normalizer_params: Optional[Dict[str, Any]] = None,
    weights_initializer: Any = xavier_initializer(),
    pointwise_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A convolution of each channel of images alone, and then one of all channels of each pixel.

    The other arguments are those of `convolution`. `arg_scope` blocks can set all arguments.

    Args:
      inputs: A tensor of floats, of rank 4, whose number of channels is known.
      num_outputs: The number of channels of the output; None for no second convolution.
      kernel_size: The size of the kernel: an int, or one for each spatial axis.
      depth_multiplier: The number of filters of each channel.
      stride: The distance of windows: an int, or one for each spatial axis, which are equal.
      rate: The distance of the kernel's cells: an int, or one for each spatial axis.
      weights_initializer: The initializer of the first kernel.
      pointwise_initializer: The initializer of the second kernel; by default that of the first.

    Returns:
      A tensor of rank 4.

    Raises:
      ValueError: The rank is another, the number of channels unknown, or an argument invalid.

    Example:
      >>> y = tf.contrib.layers.separable_conv2d(tf.ones([1, 4, 4, 3]), 2, [3, 3], scope="sep")
      >>> y.shape.as_list(), [v.name for v in tf.model_variables()]
      ([1, 4, 4, 2], ['sep/depthwise_weights:0', 'sep/pointwise_weights:0', 'sep/biases:0'])
    """
    _check_format(data_format)
    options = _Options(
        activation_fn,
        (normalizer_fn, normalizer_params),
        (weights_initializer, weights_regularizer),
        (biases_initializer, biases_regularizer),
        variables_collections,
        outputs_collections,
        trainable,
    )
    with _scope(scope, "SeparableConv2d", inputs, reuse) as sc:
        inputs = convert_to_tensor(inputs)
        if num_outputs is None:
            return options.depthwise(inputs, sc, kernel_size, depth_multiplier, stride, padding, rate, data_format)
        return options.apply(
            convolutional.SeparableConv2D,
            inputs,
            sc,
            filters=num_outputs,
            kernel_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=_order(data_format),
            dilation_rate=two_element_tuple(rate),
            depth_multiplier=depth_multiplier,
            depthwise_initializer=weights_initializer,
            pointwise_initializer=weights_initializer if pointwise_initializer is None else pointwise_initializer,
        )


@add_arg_scope
def convolution2d_in_plane(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    activation_fn: Activation = op("Relu"),
    normalizer_fn: Optional[Callable[..., Any]] = None,
    normalizer_params: Optional[Dict[str, Any]] = None,
    weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None,
    biases_initializer: Any = zeros_initializer(),
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A convolution of each channel of images alone, with one kernel for all channels.

    The other arguments are those of `convolution`. `arg_scope` blocks can set all arguments.

    Args:
      inputs: A tensor of floats, of rank 4, whose last axis, that of channels, is known.
      kernel_size: The size of the kernel: an int, or one for each spatial axis.
      stride: The distance of windows: an int, or one for each spatial axis.

    Returns:
      A tensor of rank 4.

    Raises:
      ValueError: The rank is less than 4, or the number of channels unknown.

    Example:
      >>> y = tf.contrib.layers.conv2d_in_plane(tf.ones([1, 4, 4, 3]), [1, 2], scope="smooth")
      >>> y.shape.as_list(), [v.shape.as_list() for v in tf.model_variables()]
      ([1, 4, 4, 3], [[1, 2, 1, 1], [3]])
    """
    with variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as sc:
        dtype, channels = inputs.dtype.base_dtype, channel_dimension(inputs.get_shape(), "channels_last", min_rank=4)

        def variable(name: str, shape: Any, initializer: Any, regularizer: Any) -> Any:
            collections = get_variable_collections(variables_collections, name)
            return model_variable(name, shape, dtype, initializer, regularizer, trainable, collections)

        kernel = variable("weights", [*two_element_tuple(kernel_size), 1, 1], weights_initializer, weights_regularizer)
        each = op("Tile")(kernel, [1, 1, channels, 1])
        outputs = depthwise.depthwise_conv2d(inputs, each, [1, *two_element_tuple(stride), 1], padding)
        if normalizer_fn is not None:
            outputs = normalizer_fn(outputs, **(normalizer_params or {}))
        elif biases_initializer is not None:
            outputs = functions.bias_add(outputs, variable("biases", [channels], biases_initializer, biases_regularizer))
        return finish(outputs, activation_fn, outputs_collections, sc.name)


conv1d, conv2d, conv2d_transpose = convolution1d, convolution2d, convolution2d_transpose
conv2d_in_plane = convolution2d_in_plane
conv3d, conv3d_transpose = convolution3d, convolution3d_transpose
separable_conv2d = separable_convolution2d


_POOL = """{said} of windows of {what}.

Args:
  inputs: A tensor of rank {rank}.
  kernel_size: The size of a window: an int, or one for each spatial axis.
  stride: The distance of windows: an int, or one for each spatial axis.
  padding: `"VALID"` or `"SAME"`.
  data_format: `"{last}"` if channels are the last axis, or `"{first}"`.
  outputs_collections: A collection, or a list of them, for the output.
  scope: The name scope.

Returns:
  A tensor of rank {rank}.

Raises:
  ValueError: The rank is another, or an argument invalid.

Example:
  >>> y = tf.contrib.layers.{called}({example})
  >>> print(tf.Session().run(y).ravel())
  {value}
"""


def _pool(layer_class: Any, called: str, default: str, said: str, value: str) -> Any:
    spatial: int = layer_class.spatial
    axes = "DHW"[3 - spatial :]

    def function(
        inputs: Any,
        kernel_size: Any,
        stride: Any = 2,
        padding: str = "VALID",
        data_format: str = "N" + axes + "C",
        outputs_collections: Any = None,
        scope: Any = None,
    ) -> Any:
        _check_format(data_format, spatial)
        with name_scope(scope, default, [inputs]) as sc:
            inputs = convert_to_tensor(inputs)
            layer = layer_class(kernel_size, stride, padding, _order(data_format), name=sc.rstrip("/"))
            layer.build(inputs.get_shape())
            return collect_named_outputs(outputs_collections, sc, layer.call(inputs))

    function.__name__ = function.__qualname__ = called
    image, what = "[[[[1.0], [2.0]], [[3.0], [6.0]]]]", {2: "images", 3: "volumes"}[spatial]
    example = image + ", [2, 2]" if spatial == 2 else f"[{image}], [1, 2, 2]"
    formats = {"last": f"N{axes}C", "first": f"NC{axes}"}
    function.__doc__ = _POOL.format(said=said, called=called, value=value, what=what, rank=spatial + 2, example=example, **formats)
    return add_arg_scope(function)


max_pool2d = _pool(convolutional.MaxPooling2D, "max_pool2d", "MaxPool2D", "Returns the maxima", "[6.]")
max_pool3d = _pool(convolutional.MaxPooling3D, "max_pool3d", "MaxPool3D", "Returns the maxima", "[6.]")
avg_pool2d = _pool(convolutional.AveragePooling2D, "avg_pool2d", "AvgPool2D", "Returns the means", "[3.]")
avg_pool3d = _pool(convolutional.AveragePooling3D, "avg_pool3d", "AvgPool3D", "Returns the means", "[3.]")
