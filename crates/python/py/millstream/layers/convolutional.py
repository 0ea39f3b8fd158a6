"""Convolutions and pools of `tf.layers`."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from millstream.framework import constant, dtypes, node_counts
from millstream.framework.shapes import TensorShape, dimension_value
from millstream.framework.op_functions import op
from millstream.layers import configs
from millstream.layers.input_spec import InputSpec
from millstream.layers.core import Layer, checked_order
from millstream.nn import convolutions, depthwise, dilated, functions, pools
from millstream.ops import array_ops, indexing_ops
from millstream.variables import initializers
from millstream.variables.initializers import zeros_initializer

__all__ = [
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
    "Conv1D",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
    "SeparableConv1D",
    "SeparableConv2D",
    "average_pooling1d",
    "average_pooling2d",
    "average_pooling3d",
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "max_pooling1d",
    "max_pooling2d",
    "max_pooling3d",
    "separable_conv1d",
    "separable_conv2d",
]


def sizes(value: Any, n: int, name: str) -> Tuple[int, ...]:
    """Returns `n` positive ints for an int or a sequence of ints.

    Raises:
      ValueError: The value is another.
    """
    if isinstance(value, int):
        return (value,) * n
    try:
        given = tuple(value)
    except TypeError:
        given = ()
    if len(given) != n:
        raise ValueError(f"The `{name}` argument must be a tuple of {n} integers. Received: {value}")
    try:
        return tuple(int(v) for v in given)
    except (TypeError, ValueError):
        raise ValueError(f"The `{name}` argument must be a tuple of {n} integers. Received: {value}") from None


def _padding(padding: str, words: str, others: Sequence[str] = ()) -> str:
    word = padding.lower()
    if word not in ("valid", "same", *others):
        raise ValueError(f"{words} Received: {padding}")
    return word.upper()


def _of_rank(layer: Layer, shape: TensorShape, rank: int) -> None:
    if shape.ndims is None:
        raise ValueError(
            f"Input 0 of layer {layer.name} is incompatible with the layer: its rank is undefined, "
            f"but the layer requires a defined rank."
        )
    if shape.ndims != rank:
        raise ValueError(
            f"Input 0 of layer {layer.name} is incompatible with the layer: expected ndim={rank}, "
            f"found ndim={shape.ndims}. Full shape received: {shape.as_list()}"
        )


def _function(layer: Any, called: str, doc: str) -> Any:
    """Returns the function that applies a new layer: its arguments, between `inputs` and `reuse`."""
    own = [p for p in inspect.signature(layer.__init__).parameters.values() if p.name not in ("self", "kwargs")]
    first = inspect.Parameter("inputs", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    last = [inspect.Parameter("reuse", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)] if layer.has_variables else []
    signature = inspect.Signature([first, *own, *last])

    def function(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        inputs, reuse = given.pop("inputs"), given.pop("reuse", None)
        return layer(**given, _scope=given.get("name"), _reuse=reuse)(inputs)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = doc
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


# Convolutions -------------------------------------------------------------------------------------------


def pooled(layer: Any, shape: TensorShape, window: Sequence[int], rates: Sequence[int], channels: Optional[int]) -> TensorShape:
    """Returns the shape of what windows make of inputs of a shape.

    `channels` is None if their number stays.
    """
    dims = shape.as_list()
    first = 2 if layer.data_format == "channels_first" else 1
    for i, (size, rate, step) in enumerate(zip(window, rates, layer.strides)):
        n = dims[first + i]
        if n is not None:
            lost = 0 if layer.padding in ("SAME", "CAUSAL") else (size - 1) * rate
            dims[first + i] = (n - lost + step - 1) // step
    if channels is not None:
        dims[1 if first == 2 else -1] = channels
    return TensorShape(dims)


class Convolution(Layer):
    """A layer with a kernel of `spatial` axes, a bias and an activation; the base of the convolutions.

    Args:
      filters: The number of channels of the output.
      kernel_size: The size of the kernel: an int, or one for each spatial axis.
      strides: The distance of windows: an int, or one for each spatial axis.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      dilation_rate: The distance of the kernel's cells: an int, or one for each spatial axis.
      activation: A function of a tensor, or a name such as `"relu"`; None for none.
      use_bias: If true, the layer has a bias.
      kernel_initializer: The initializer of the kernel, or a name such as `"he_normal"`.
      bias_initializer: The initializer of the bias.
      kernel_regularizer: A function from the kernel to a term of the loss.
      bias_regularizer: A function from the bias to a term of the loss.
      activity_regularizer: A function from the output to a term of the loss.
      kernel_constraint: A function that optimizers apply to the kernel after updates.
      bias_constraint: A function that optimizers apply to the bias after updates.
      trainable: As in `tf.layers.Layer`.
      name: As in `tf.layers.Layer`.

    Raises:
      ValueError: An argument is invalid. When called: the inputs have another rank, or an unknown number of
        channels.
    """

    spatial = 2
    has_variables = True
    # Whether cells may be added in front alone.
    takes_causal = False

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        activation: Optional[Callable[[Any], Any]] = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = zeros_initializer(),
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: Optional[str] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.filters = filters
        self.kernel_size = sizes(kernel_size, self.spatial, "kernel_size")
        self.strides = sizes(strides, self.spatial, "strides")
        words = 'The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for `Conv1D).'
        self.padding = _padding(padding, words, ["causal"])
        if self.padding == "CAUSAL" and not self.takes_causal:
            raise ValueError("Causal padding is only supported for `Conv1D`and ``SeparableConv1D`.")
        self.data_format = checked_order(data_format)
        self.dilation_rate = sizes(dilation_rate, self.spatial, "dilation_rate")
        self.activation = configs.activation_of(activation)
        self.use_bias = use_bias
        self._kernel_options = configs.checked(kernel_initializer, kernel_regularizer, kernel_constraint)
        self._bias_options = configs.checked(bias_initializer, bias_regularizer, bias_constraint)
        self._activity_regularizer = activity_regularizer
        self.input_spec = InputSpec(ndim=self.spatial + 2)

    @property
    def _order(self) -> str:
        """The data format of the op, such as `"NHWC"`."""
        axes = "DHW"[3 - self.spatial :]
        return "NC" + axes if self.data_format == "channels_first" else "N" + axes + "C"

    def _depth(self, input_shape: TensorShape) -> int:
        """Returns the number of channels of inputs of this shape.

        Raises:
          ValueError: The rank is another, or the number is unknown.
        """
        input_shape = TensorShape(input_shape)
        _of_rank(self, input_shape, self.spatial + 2)
        depth = dimension_value(input_shape[1 if self.data_format == "channels_first" else -1])
        if depth is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        return int(depth)

    def build(self, input_shape: TensorShape) -> None:
        """Creates `kernel`, and `bias` of shape `[filters]`.

        Raises:
          ValueError: Strides and dilation rates are both more than 1.
        """
        depth = self._depth(input_shape)
        self.kernel = self._weight("kernel", [*self.kernel_size, depth, self.filters], self._kernel_options)
        self._build_bias()
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
        self.input_spec = InputSpec(ndim=self.spatial + 2, axes={1 if self.data_format == "channels_first" else -1: depth})
        # Unused. TensorFlow has it, and seeds random operations by the number of nodes before them.
        constant(list(self.dilation_rate), dtypes.int32, name="dilation_rate")
        self.built = True

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Returns the shape of the output for inputs of this shape.

        Example:
          >>> tf.layers.Conv1D(2, 3).compute_output_shape([None, 9, 4])
          TensorShape([Dimension(None), Dimension(7), Dimension(2)])
        """
        return pooled(self, TensorShape(input_shape), self.kernel_size, self.dilation_rate, self.filters)

    def _build_bias(self) -> None:
        """Creates `bias`, if the layer has one."""
        self.bias: Any = self._weight("bias", [self.filters], self._bias_options) if self.use_bias else None

    def _weight(self, name: str, shape: Sequence[int], options: Any) -> Any:
        """Creates a variable. `options` are its initializer, regularizer and constraint."""
        initializer, regularizer, constraint = options
        return self.add_weight(name, shape, initializer=initializer, regularizer=regularizer, constraint=constraint)

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """Returns `activation(convolution(inputs, kernel) + bias)`."""
        if any(1 < rate for rate in self.dilation_rate):
            node_counts.also(self._nodes_of_dilation(inputs))  # TensorFlow moves cells into the batch, and back.
        return self._finish(self._convolve(inputs))

    def _nodes_of_dilation(self, inputs: Any) -> int:
        """Returns how many nodes TensorFlow adds for a dilation, besides the constant that `build` makes."""
        return dilated.nodes_of_dilation(inputs.get_shape(), self.dilation_rate, self.padding, self.data_format == "channels_first") - 1

    def _convolve(self, inputs: Any) -> Any:
        """Returns the convolution of the inputs."""
        raise NotImplementedError

    def _padded(self, inputs: Any) -> Tuple[Any, str]:
        """Returns the inputs of the op and its padding: for causal padding, zeros are added in front."""
        if self.padding != "CAUSAL":
            return inputs, self.padding
        front = [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0]
        pairs = [[0, 0], [0, 0], front] if self.data_format == "channels_first" else [[0, 0], front, [0, 0]]
        return op("Pad")(inputs, pairs), "VALID"

    def _finish(self, outputs: Any) -> Any:
        """Adds the bias and applies the activation."""
        if self.bias is not None:
            outputs = functions.bias_add(outputs, self.bias, data_format=self._order)
        if self.activation is not None:
            outputs = self.activation(outputs)
        return outputs

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a layer like this one: initializers as dicts, other functions by name.

        Raises:
          ValueError: A function has no name.

        Example:
          >>> config = tf.layers.Conv2D(8, 3, activation=tf.nn.relu).get_config()
          >>> config["filters"], config["kernel_size"], config["activation"]
          (8, (3, 3), 'relu')
        """
        return {
            **super().get_config(),
            **{name: getattr(self, name) for name in ("filters", "kernel_size", "strides", "data_format", "use_bias")},
            "dilation_rate": self.dilation_rate,
            "padding": self.padding.lower(),
            "activation": configs.shown(self.activation) or "linear",
            "activity_regularizer": configs.shown(self._activity_regularizer),
            **configs.options("kernel", self._kernel_options),
            **configs.options("bias", self._bias_options),
        }


class Conv2D(Convolution):
    """A convolution of images: `activation(conv2d(inputs, kernel) + bias)`.

    Args:
      filters: The number of channels of the output. The other arguments are those of `tf.layers.Conv1D`, with
        two spatial axes.

    Example:
      >>> layer = tf.layers.Conv2D(2, 3, padding="same", kernel_initializer=tf.ones_initializer())
      >>> y = layer(tf.ones([1, 2, 2, 1]))  # It calls `layer.build` and `layer.call`.
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y)[0, :, :, 0])
      [[4. 4.]
       [4. 4.]]
      >>> [v.name for v in layer.variables]
      ['conv2d/kernel:0', 'conv2d/bias:0']
    """

    def _convolve(self, inputs: Any) -> Any:
        """Returns the convolution of the inputs."""
        return convolutions.conv2d(
            inputs, self.kernel, self.strides, self.padding, data_format=self._order, dilations=self.dilation_rate
        )


class Conv1D(Convolution):
    """A convolution of sequences: `activation(conv1d(inputs, kernel) + bias)`.

    Args:
      filters: The number of channels of the output.
      kernel_size: The size of the kernel: an int, or one for each spatial axis.
      strides: The distance of windows: an int, or one for each spatial axis.
      padding: `"valid"`, `"same"`, or `"causal"`: zeros in front alone.
      data_format: `"channels_last"` or `"channels_first"`.
      dilation_rate: The distance of the kernel's cells: an int, or one for each spatial axis.
      activation: A function of a tensor; None for none.
      use_bias: If true, the layer has a bias.
      kernel_initializer: The initializer of the kernel; `bias_initializer` is that of the bias.
      kernel_regularizer: A function from the kernel to a term of the loss; also for the bias and the output
        (`activity_regularizer`).
      kernel_constraint: A function that optimizers apply to the kernel after updates; also for the bias.
      trainable: As in `tf.layers.Layer`.
      name: As in `tf.layers.Layer`.

    Example:
      >>> layer = tf.layers.Conv1D(1, 2, kernel_initializer=tf.ones_initializer())
      >>> y = layer(tf.constant([[[1.0], [2.0], [4.0]]]))  # It calls `layer.build` and `layer.call`.
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y).ravel())
      [3. 6.]
    """

    spatial = 1
    takes_causal = True

    def _convolve(self, inputs: Any) -> Any:
        """Returns the convolution of the inputs."""
        inputs, padding = self._padded(inputs)
        return convolutions.conv1d(
            inputs, self.kernel, self.strides, padding, data_format=self._order, dilations=self.dilation_rate
        )


class Conv3D(Convolution):
    """A convolution of volumes: `activation(conv3d(inputs, kernel) + bias)`.

    Args:
      filters: The number of channels of the output. The other arguments are those of `tf.layers.Conv1D`, with
        three spatial axes.

    Example:
      >>> layer = tf.layers.Conv3D(1, 2, kernel_initializer=tf.ones_initializer())
      >>> y = layer(tf.ones([1, 2, 3, 2, 1]))  # It calls `layer.build` and `layer.call`.
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y).ravel())
      [8. 8.]
    """

    spatial = 3

    def _convolve(self, inputs: Any) -> Any:
        """Returns the convolution of the inputs."""
        channels = 1 if self.data_format == "channels_first" else 4
        steps, gaps = (convolutions.per_axis(v, 3, channels, "strides") for v in (self.strides, self.dilation_rate))
        return convolutions.conv3d(inputs, self.kernel, steps, self.padding, self._order, gaps)


class SeparableConv2D(Convolution):
    """A convolution of each channel by itself, and one that mixes the channels of each pixel.

    Args:
      filters: The number of channels of the output. The arguments up to `dilation_rate`, `activation`,
        `use_bias` and those of the bias are as in `tf.layers.Conv2D`.
      depth_multiplier: The number of filters of each channel.
      depthwise_initializer: The initializer of the kernel `[*kernel_size, in, depth_multiplier]`.
      pointwise_initializer: The initializer of the kernel `[1, 1, in * depth_multiplier, filters]`.
      depthwise_regularizer: A function from that kernel to a term of the loss; also for the pointwise one.
      depthwise_constraint: A function that optimizers apply to that kernel; also for the pointwise one.

    Example:
      >>> ones = tf.ones_initializer()
      >>> layer = tf.layers.SeparableConv2D(3, 2, depthwise_initializer=ones, pointwise_initializer=ones)
      >>> y = layer(tf.ones([1, 2, 2, 2]))  # It calls `layer.build` and `layer.call`.
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y))
      [[[[8. 8. 8.]]]]
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = (1, 1),
        depth_multiplier: int = 1,
        activation: Optional[Callable[[Any], Any]] = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = zeros_initializer(),
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: Optional[str] = None,
        **kwargs: Any,
    ) -> None:
        given = dict(locals())
        options = {n: given[n] for n in _OPTIONS if not n.startswith("kernel_")}
        # In configs, and without a meaning: there is no such kernel.
        for word in ("initializer", "regularizer", "constraint"):
            kwargs.pop("kernel_" + word, None)
        options["kernel_initializer"] = initializers.GlorotUniform()
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, **options, **kwargs)
        self.depth_multiplier = depth_multiplier
        self._depthwise_options = configs.checked(depthwise_initializer, depthwise_regularizer, depthwise_constraint)
        self._pointwise_options = configs.checked(pointwise_initializer, pointwise_regularizer, pointwise_constraint)
        self.depthwise_kernel: Any = None
        self.pointwise_kernel: Any = None

    def build(self, input_shape: TensorShape) -> None:
        """Creates `depthwise_kernel`, `pointwise_kernel`, and `bias` of shape `[filters]`."""
        depth, each = self._depth(input_shape), self.depth_multiplier
        self.depthwise_kernel = self._weight("depthwise_kernel", [*self.kernel_size, depth, each], self._depthwise_options)
        self.pointwise_kernel = self._weight("pointwise_kernel", [*[1] * self.spatial, depth * each, self.filters], self._pointwise_options)
        self._build_bias()
        self.input_spec = InputSpec(ndim=self.spatial + 2, axes={1 if self.data_format == "channels_first" else -1: depth})
        self.built = True

    def _nodes_of_dilation(self, inputs: Any) -> int:
        """Returns 0: `depthwise.separable_conv2d` counts them."""
        return 0

    def _convolve(self, inputs: Any) -> Any:
        """Returns the convolution of the inputs."""
        steps = convolutions.per_axis(self.strides, 2, 1 if self.data_format == "channels_first" else 3, "strides")
        return depthwise.separable_conv2d(
            inputs, self.depthwise_kernel, self.pointwise_kernel, steps, self.padding, self.dilation_rate, data_format=self._order
        )

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a layer like this one: initializers as dicts, other functions by name."""
        return {
            **super().get_config(),
            "depth_multiplier": self.depth_multiplier,
            **configs.options("depthwise", self._depthwise_options),
            **configs.options("pointwise", self._pointwise_options),
        }


class SeparableConv1D(SeparableConv2D):
    """A convolution of each channel of a sequence by itself, and one that mixes the channels of each step.

    Args:
      filters: The number of channels of the output. The other arguments are those of
        `tf.layers.SeparableConv2D`, with one spatial axis.

    Example:
      >>> ones = tf.ones_initializer()
      >>> layer = tf.layers.SeparableConv1D(1, 2, depthwise_initializer=ones, pointwise_initializer=ones)
      >>> y = layer(tf.constant([[[1.0], [2.0], [4.0]]]))  # It calls `layer.build` and `layer.call`.
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y).ravel())
      [3. 6.]
    """

    spatial = 1
    takes_causal = True

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Optional[Callable[[Any], Any]] = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = zeros_initializer(),
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: Optional[str] = None,
        **kwargs: Any,
    ) -> None:
        given = {n: v for n, v in locals().items() if n not in ("self", "kwargs", "__class__")}
        super().__init__(**given, **kwargs)

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """Returns `activation(convolution(inputs, kernels) + bias)`."""
        inputs, padding = self._padded(inputs)
        # As images with one row.
        row = 2 if self.data_format == "channels_first" else 1
        order = "NCHW" if self.data_format == "channels_first" else "NHWC"
        both = self.strides * 2
        steps = (1, 1, *both) if row == 2 else (1, *both, 1)
        images = array_ops.expand_dims(inputs, row)
        each, mixing = (array_ops.expand_dims(kernel, 0) for kernel in (self.depthwise_kernel, self.pointwise_kernel))
        outputs = depthwise.separable_conv2d(images, each, mixing, steps, padding, (1, *self.dilation_rate), data_format=order)
        if self.bias is not None:
            outputs = functions.bias_add(outputs, self.bias, data_format=order)
        outputs = array_ops.squeeze(outputs, [row])
        return outputs if self.activation is None else self.activation(outputs)


class Conv2DTranspose(Convolution):
    """A transposed convolution, which enlarges images: `activation(conv2d_transpose(inputs, kernel) + bias)`.

    Args:
      filters: The number of channels of the output. The other arguments are those of `tf.layers.Conv2D`,
        where `dilation_rate`, like `output_padding`, can only be given by its name.
      **kwargs: As in `Layer`, and `output_padding`: the number of cells that each spatial axis of the result
        has beyond the smallest size that `tf.layers.Conv2D` would take to that of the inputs. By default, all
        cells that the inputs reach are there.

    Raises:
      ValueError: An `output_padding` is not less than its stride.
      NotImplementedError: The dilation rates of the axes differ, or those of volumes are not 1.

    Example:
      >>> layer = tf.layers.Conv2DTranspose(1, 2, 2, kernel_initializer=tf.ones_initializer())
      >>> y = layer(tf.ones([1, 1, 2, 1]))  # It calls `layer.build` and `layer.call`.
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y).shape)
      (1, 2, 4, 1)
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        activation: Optional[Callable[[Any], Any]] = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = zeros_initializer(),
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: Optional[str] = None,
        **kwargs: Any,
    ) -> None:
        given = dict(locals())
        options = {n: given[n] for n in _OPTIONS}
        gap, extra = kwargs.pop("dilation_rate", 1), kwargs.pop("output_padding", None)
        super().__init__(filters, kernel_size, strides, padding, data_format, gap, **options, **kwargs)
        if 1 < max(self.dilation_rate) and (len(set(self.dilation_rate)) > 1 or self.spatial > 2):
            raise NotImplementedError(
                f"{type(self).__name__}: the dilation rates of images must be equal, and those of volumes 1, found {self.dilation_rate}"
            )
        self.output_padding = None if extra is None else sizes(extra, self.spatial, "output_padding")
        if any(step <= more for step, more in zip(self.strides, self.output_padding or ())):
            raise ValueError("Stride " + str(self.strides) + " must be greater than output padding " + str(self.output_padding))

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a layer like this one: initializers as dicts, other functions by name."""
        return {**super().get_config(), "output_padding": self.output_padding}

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Returns the shape of the output for inputs of this shape."""
        shape = TensorShape(input_shape).as_list()
        first = 2 if self.data_format == "channels_first" else 1
        shape[1 if first == 2 else -1] = self.filters
        for i in range(self.spatial):
            shape[first + i] = self._longer(shape[first + i], i)
        return TensorShape(shape)

    def _longer(self, size: Any, i: int) -> Any:
        """Returns the size of an axis of the output, for that of the inputs: a tensor, an int or None."""
        if size is None:
            return None
        window, step = self.kernel_size[i] + (self.kernel_size[i] - 1) * (self.dilation_rate[i] - 1), self.strides[i]
        if self.output_padding is not None:
            around = 2 * (window // 2) if self.padding == "SAME" else 0
            return (size - 1) * step + window - around + self.output_padding[i]
        extra = 0 if self.padding == "SAME" else max(window - step, 0)
        return size * step + extra

    def build(self, input_shape: TensorShape) -> None:
        """Creates `kernel`, of shape `[.., filters, depth]`, and `bias` of shape `[filters]`."""
        depth = self._depth(input_shape)
        self.kernel = self._weight("kernel", [*self.kernel_size, self.filters, depth], self._kernel_options)
        self._build_bias()
        self.input_spec = InputSpec(ndim=self.spatial + 2, axes={1 if self.data_format == "channels_first" else -1: depth})
        self.built = True

    def _convolve(self, inputs: Any) -> Any:
        """Returns the transposed convolution of the inputs."""
        shape, made = inputs.get_shape(), array_ops.shape(inputs)
        first = 2 if self.data_format == "channels_first" else 1

        spatial = [self._longer(made[first + i], i) for i in range(self.spatial)]
        known = [self._longer(dimension_value(shape[first + i]), i) for i in range(self.spatial)]
        if first == 2:
            sizes, static = [made[0], self.filters, *spatial], [dimension_value(shape[0]), self.filters, *known]
        else:
            sizes, static = [made[0], *spatial, self.filters], [dimension_value(shape[0]), *known, self.filters]
        outputs = self._transposed(inputs, array_ops.stack(sizes))
        outputs.set_shape(static)
        return outputs

    def _nodes_of_dilation(self, inputs: Any) -> int:
        """Returns the number of nodes that TensorFlow adds for a dilation."""
        return 10

    def _transposed(self, inputs: Any, output_shape: Any) -> Any:
        """Returns the transposed convolution of the inputs, of this shape."""
        if 1 < self.dilation_rate[0]:
            first = self.data_format == "channels_first"
            if first:
                inputs, output_shape = array_ops.transpose(inputs, [0, 2, 3, 1]), indexing_ops.gather(output_shape, [0, 2, 3, 1])
            outputs = convolutions.atrous_conv2d_transpose(inputs, self.kernel, output_shape, self.dilation_rate[0], self.padding)
            return array_ops.transpose(outputs, [0, 3, 1, 2]) if first else outputs
        node_counts.also(4 if self.padding == "VALID" else 0)  # It asks for the shape of the result once more.
        return convolutions.conv2d_transpose(inputs, self.kernel, output_shape, self.strides, self.padding, self._order)


class Conv3DTranspose(Conv2DTranspose):
    """A transposed convolution of volumes: `activation(conv3d_transpose(inputs, kernel) + bias)`.

    Args:
      filters: The number of channels of the output. The other arguments are those of
        `tf.layers.Conv2DTranspose`, with three spatial axes.

    Example:
      >>> layer = tf.layers.Conv3DTranspose(1, 2, 2, kernel_initializer=tf.ones_initializer())
      >>> y = layer(tf.ones([1, 1, 2, 1, 1]))  # It calls `layer.build` and `layer.call`.
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y).shape)
      (1, 2, 4, 2, 1)
    """

    spatial = 3

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a layer like this one: initializers as dicts, other functions by name."""
        config = super().get_config()
        del config["dilation_rate"]
        return config

    def _transposed(self, inputs: Any, output_shape: Any) -> Any:
        """Returns the transposed convolution of the inputs, of this shape."""
        return convolutions.conv3d_transpose(inputs, self.kernel, output_shape, self.strides, self.padding, self._order)


_OPTIONS = (
    "activation use_bias kernel_initializer bias_initializer kernel_regularizer bias_regularizer "
    "activity_regularizer kernel_constraint bias_constraint trainable name"
).split()

_APPLY = """Applies a new `{layer}` layer to {what}.

The other arguments are those of the class, and `reuse`, which is as in `tf.variable_scope`.

Args:
  inputs: A tensor of floats of rank {rank}, with a known number of channels.
  filters: The number of channels of the output.
  kernel_size: The size of the kernel: an int, or one for each spatial axis.

Returns:
  A tensor of the same rank and dtype.

Raises:
  ValueError: An argument is invalid, or the inputs do not fit.

Example:
  >>> y = tf.layers.{called}({example})
  >>> y.shape
  {shape}
"""

conv1d = _function(Conv1D, "conv1d", _APPLY.format(layer="Conv1D", called="conv1d", what="sequences", rank=3, example="tf.ones([2, 9, 3]), 8, 2", shape="TensorShape([Dimension(2), Dimension(8), Dimension(8)])"))
conv2d = _function(Conv2D, "conv2d", _APPLY.format(layer="Conv2D", called="conv2d", what="images", rank=4, example="tf.ones([2, 9, 9, 3]), 8, 2", shape="TensorShape([Dimension(2), Dimension(8), Dimension(8), Dimension(8)])"))
conv2d_transpose = _function(
    Conv2DTranspose, "conv2d_transpose", _APPLY.format(layer="Conv2DTranspose", called="conv2d_transpose", what="images", rank=4, example="tf.ones([2, 9, 9, 3]), 8, 2, 2", shape="TensorShape([Dimension(2), Dimension(18), Dimension(18), Dimension(8)])")
)

conv3d = _function(Conv3D, "conv3d", _APPLY.format(layer="Conv3D", called="conv3d", what="volumes", rank=5, example="tf.ones([2, 9, 9, 9, 3]), 8, 2", shape="TensorShape([Dimension(2), Dimension(8), Dimension(8), Dimension(8), Dimension(8)])"))
conv3d_transpose = _function(
    Conv3DTranspose,
    "conv3d_transpose",
    _APPLY.format(layer="Conv3DTranspose", called="conv3d_transpose", what="volumes", rank=5, example="tf.ones([2, 3, 9, 9, 3]), 8, 2, 2", shape="TensorShape([Dimension(2), Dimension(6), Dimension(18), Dimension(18), Dimension(8)])"),
)
separable_conv1d = _function(SeparableConv1D, "separable_conv1d", _APPLY.format(layer="SeparableConv1D", called="separable_conv1d", what="sequences", rank=3, example="tf.ones([2, 9, 3]), 8, 2", shape="TensorShape([Dimension(2), Dimension(8), Dimension(8)])"))
separable_conv2d = _function(SeparableConv2D, "separable_conv2d", _APPLY.format(layer="SeparableConv2D", called="separable_conv2d", what="images", rank=4, example="tf.ones([2, 9, 9, 3]), 8, 2", shape="TensorShape([Dimension(2), Dimension(8), Dimension(8), Dimension(8)])"))

# Pools --------------------------------------------------------------------------------------------------


class Pooling(Layer):
    """A layer that pools windows; the base of the pools.

    Args:
      pool_size: The size of a window: an int, or one for each spatial axis.
      strides: The distance of windows: an int, or one for each spatial axis.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: As in `tf.layers.Layer`.

    Raises:
      ValueError: An argument is invalid, or the inputs have another rank.
    """

    spatial = 2
    has_variables = False
    pool = "max_pool"

    def __init__(self, pool_size: Any, strides: Any, padding: str = "valid", data_format: str = "channels_last", name: Optional[str] = None, **kwargs: Any) -> None:
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(name=name, **kwargs)
        self.pool_size = sizes(pool_size, self.spatial, "pool_size")
        self.input_spec = InputSpec(ndim=self.spatial + 2)
        self.strides = sizes(strides, self.spatial, "strides")
        words = 'The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for `Conv1D).'
        self.padding = _padding(padding, words)
        self.data_format = checked_order(data_format)

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """Returns one cell for each window."""
        _of_rank(self, inputs.get_shape(), self.spatial + 2)
        is_first = self.data_format == "channels_first"
        if self.spatial == 3:
            node_counts.also(4 if is_first else 0)  # TensorFlow moves the channels to the last axis, and back.
            return getattr(pools, self.pool + "3d")(inputs, self.pool_size, self.strides, self.padding, "NCDHW" if is_first else "NDHWC")
        added = [] if self.spatial == 2 else [2]
        for axis in added:
            inputs = array_ops.expand_dims(inputs, axis + is_first)
        window, strides = ([*v, *(1 for _ in added)] for v in (self.pool_size, self.strides))
        outputs = getattr(pools, self.pool)(inputs, window, strides, self.padding, data_format="NCHW" if is_first else "NHWC")
        for axis in added:
            outputs = array_ops.squeeze(outputs, [axis + is_first])
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Returns the shape of the output for inputs of this shape.

        Example:
          >>> tf.layers.MaxPooling1D(2, 2).compute_output_shape([None, 9, 4])
          TensorShape([Dimension(None), Dimension(4), Dimension(4)])
        """
        return pooled(self, TensorShape(input_shape), self.pool_size, [1] * self.spatial, None)

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a layer like this one.

        Example:
          >>> config = tf.layers.MaxPooling2D(2, 3).get_config()
          >>> config["pool_size"], config["strides"], config["padding"]
          ((2, 2), (3, 3), 'valid')
        """
        given = {name: getattr(self, name) for name in ("pool_size", "strides", "data_format")}
        return {**super().get_config(), **given, "padding": self.padding.lower()}


_POOLS = """Returns the {what} of each window of {inputs}.

Args:
  {inputs_arg}pool_size: The size of a window: an int, or one for each spatial axis.
  strides: The distance of windows: an int, or one for each spatial axis.
  padding: `"valid"` or `"same"`.
  data_format: `"channels_last"` or `"channels_first"`.
  name: As in `tf.layers.Layer`.

Returns:
  A {result}.

Raises:
  ValueError: An argument is invalid, or the inputs have another rank.

Example:
  >>> y = {example}
  >>> print(tf.Session().run(y).ravel())
  [{value}]
"""


def _pool(class_name: str, called: str, spatial: int, pool: str) -> List[Any]:
    what = "largest cell" if pool == "max_pool" else "mean"
    inputs, data, largest = {
        1: ("sequences", "tf.constant([[[1.0], [5.0]]])", "5."),
        2: ("images", "tf.constant([[[[1.0], [2.0]], [[3.0], [6.0]]]])", "6."),
        3: ("volumes", "tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])", "7."),
    }[spatial]
    value = largest if pool == "max_pool" else "3.5" if spatial == 3 else "3."
    made = type(class_name, (Pooling,), {"spatial": spatial, "pool": pool, "__module__": __name__, "__qualname__": class_name})
    common = {"what": what, "inputs": inputs, "value": value}
    made.__doc__ = _POOLS.format(inputs_arg="", result="layer", example=f"tf.layers.{class_name}(2, 2)({data})", **common)
    doc = _POOLS.format(inputs_arg=f"inputs: A tensor of rank {spatial + 2}.\n  ", result="tensor of the same rank and dtype", example=f"tf.layers.{called}({data}, 2, 2)", **common)
    return [made, _function(made, called, doc)]


MaxPooling1D, max_pooling1d = _pool("MaxPooling1D", "max_pooling1d", 1, "max_pool")
MaxPooling2D, max_pooling2d = _pool("MaxPooling2D", "max_pooling2d", 2, "max_pool")
MaxPooling3D, max_pooling3d = _pool("MaxPooling3D", "max_pooling3d", 3, "max_pool")
AveragePooling1D, average_pooling1d = _pool("AveragePooling1D", "average_pooling1d", 1, "avg_pool")
AveragePooling2D, average_pooling2d = _pool("AveragePooling2D", "average_pooling2d", 2, "avg_pool")
AveragePooling3D, average_pooling3d = _pool("AveragePooling3D", "average_pooling3d", 3, "avg_pool")
