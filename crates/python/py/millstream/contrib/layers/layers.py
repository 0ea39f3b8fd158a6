"""The layers of `tf.contrib.layers` that are no convolutions; what all layers share."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

from millstream.contrib.framework.arg_scopes import add_arg_scope
from millstream.contrib.framework.variables import model_variable
from millstream.contrib.layers.initializers import xavier_initializer
from millstream.contrib.layers.utils import collect_named_outputs, get_variable_collections, last_dimension, smart_cond
from millstream.framework import (
    SparseTensor,
    add_to_collection,
    add_to_collections,
    constant,
    convert_to_tensor,
    dtypes,
    get_collection,
    name_scope,
)
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape, dimension_value
from millstream.layers import core
from millstream.nn import functions
from millstream.ops import array_ops, indexing_ops, linalg_ops, math_ops, reduction_ops
from millstream.ops.custom_gradients import custom_gradient
from millstream.variables.collections import global_variables
from millstream.variables.initializers import constant_initializer, ones_initializer, zeros_initializer
from millstream.variables.partitions import PartitionedVariable
from millstream.variables.scopes import get_variable, variable_scope

__all__ = [
    "bias_add",
    "dense_to_sparse",
    "dropout",
    "elu",
    "flatten",
    "fully_connected",
    "images_to_sequence",
    "legacy_fully_connected",
    "legacy_linear",
    "legacy_relu",
    "linear",
    "maxout",
    "one_hot_encoding",
    "relu",
    "relu6",
    "repeat",
    "scale_gradient",
    "sequence_to_images",
    "softmax",
    "spatial_softmax",
    "stack",
    "unit_norm",
]

Activation = Optional[Callable[[Any], Any]]


# Variables of layers.


def model_variables(rename: Optional[Dict[str, str]] = None) -> Callable[..., Any]:
    """Returns a custom getter that makes model variables, some under another name.

    Args:
      rename: A dict from last parts of names to others.
    """

    def getter(inner: Callable[..., Any], name: str, *args: Any, **options: Any) -> Any:
        scope, slash, short = name.rpartition("/")
        options = {k: v for k, v in options.items() if k in _OPTIONS}
        return model_variable(scope + slash + (rename or {}).get(short, short), *args, custom_getter=inner, **options)

    return getter


# The arguments that the getter passes on, as TensorFlow's does: constraints are not among them.
_OPTIONS = (
    "shape dtype initializer regularizer trainable collections caching_device partitioner use_resource synchronization aggregation"
).split()


def add_weight(name: str, shape: Any, dtype: Any, initializer: Any, regularizer: Any, trainable: bool) -> Any:
    """Returns a variable of the current scope; of a new one, the regularization loss is collected."""
    known = {id(v) for v in global_variables()}
    variable = get_variable(name, shape, dtype, initializer, None, trainable)
    parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
    core.check_regularizer(regularizer)
    if regularizer and not any(id(v) in known for v in parts):
        for part in parts:
            with name_scope(name + "/Regularizer"):
                loss = regularizer(part)
            if loss is not None:
                add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


@contextlib.contextmanager
def as_layer(scope: Any) -> Iterator[None]:
    """Opens the name scope that a layer of `tf.layers` with this variable scope has.

    It is that of the first block that opened the scope. TensorFlow opens the scope twice, which takes a name.
    """
    with variable_scope(scope) as again:
        pass
    with name_scope(again.original_name_scope):
        yield


def collect_variable(variable: Any, variables_collections: Any, name: str) -> None:
    """Adds a variable, or its parts, to the collections given for its name."""
    for key in get_variable_collections(variables_collections, name) or []:
        for part in list(variable) if isinstance(variable, PartitionedVariable) else [variable]:
            if not any(v is part for v in get_collection(key)):
                add_to_collection(key, part)


def finish(outputs: Any, activation_fn: Activation, collections: Any, alias: str) -> Any:
    """Applies the activation, and adds the result to collections."""
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(collections, alias, outputs)


# Layers.


@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: int,
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
    """A dense layer: `activation_fn(inputs * weights + biases)` over the last dimension.

    `arg_scope` blocks can set all arguments.

    Args:
      inputs: A tensor of floats, of rank 2 or more, whose last dimension is known.
      num_outputs: The size of the last dimension of the output.
      activation_fn: A function of a tensor; None for none.
      normalizer_fn: A function, such as `batch_norm`, that is applied instead of adding biases.
      normalizer_params: Keyword arguments for `normalizer_fn`.
      weights_initializer: The initializer of the weights.
      weights_regularizer: A function from the weights to a term of the loss.
      biases_initializer: The initializer of the biases; None for no biases.
      biases_regularizer: A function from the biases to a term of the loss.
      reuse: As in `tf.variable_scope`.
      variables_collections: A list of collections for the variables, or a dict of lists by name: `weights`
        and `biases`.
      outputs_collections: A collection, or a list of them, for the output.
      trainable: If true, the variables are trainable.
      scope: The variable scope: a name or a `VariableScope`; by default a new one.

    Returns:
      A tensor of the shape `inputs.shape[:-1] + [num_outputs]`.

    Raises:
      ValueError: The rank is less than 2, the last dimension is unknown, or `num_outputs` is no integer.

    Example:
      >>> layers = tf.contrib.layers
      >>> y = layers.fully_connected([[1.0, 2.0]], 2, weights_initializer=tf.ones_initializer(), scope="fc")
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y), [v.name for v in tf.model_variables()])
      [[3. 3.]] ['fc/weights:0', 'fc/biases:0']
    """
    if not isinstance(num_outputs, int):
        raise ValueError("num_outputs type should be one of %s, got %s." % ([int], type(num_outputs)))
    getter = model_variables({"bias": "biases", "kernel": "weights"})
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse, custom_getter=getter) as sc:
        inputs = convert_to_tensor(inputs)
        dtype, bias = inputs.dtype.base_dtype, None
        with as_layer(sc):
            depth = _depth(inputs.get_shape(), sc.name)
            kernel = add_weight("kernel", [depth, num_outputs], dtype, weights_initializer, weights_regularizer, trainable)
            if not normalizer_fn and biases_initializer:
                bias = add_weight("bias", [num_outputs], dtype, biases_initializer, biases_regularizer, trainable)
            outputs = _product(inputs, kernel, num_outputs)
            if bias is not None:
                outputs = functions.bias_add(outputs, bias)
        collect_variable(kernel, variables_collections, "weights")
        if bias is not None:
            collect_variable(bias, variables_collections, "biases")
        if normalizer_fn is not None:
            outputs = normalizer_fn(outputs, **(normalizer_params or {}))
        return finish(outputs, activation_fn, outputs_collections, sc.name)


def _depth(shape: TensorShape, layer: str) -> int:
    """Returns the last dimension of a dense layer's inputs."""
    wrong = f"Input 0 of layer {layer} is incompatible with the layer: "
    if shape.ndims is None:
        raise ValueError(f"{wrong}its rank is undefined, but the layer requires a defined rank.")
    if shape.ndims < 2:
        raise ValueError(f"{wrong}: expected min_ndim=2, found ndim={shape.ndims}. Full shape received: {shape.as_list()}")
    depth = dimension_value(shape[-1])
    if depth is None:
        raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
    return int(depth)


def _product(inputs: Any, kernel: Any, units: int) -> Any:
    shape = inputs.get_shape()
    if shape.ndims == 2:
        return math_ops.matmul(inputs, kernel)
    outputs = linalg_ops.tensordot(inputs, kernel, [[shape.ndims - 1], [0]])
    outputs.set_shape(shape.as_list()[:-1] + [units])
    return outputs


@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Activation = None,
    initializer: Any = zeros_initializer(),
    regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Adds biases, a variable, along the axis of the channels.

    The other arguments are those of `fully_connected`.

    Args:
      inputs: A tensor of rank 2 or more.
      initializer: The initializer of the biases.
      regularizer: A function from the biases to a term of the loss.
      data_format: `"NHWC"` if channels are the last axis, or `"NCHW"`.

    Returns:
      A tensor of the same shape.

    Raises:
      ValueError: The number of channels is unknown, or `data_format` is neither, or unfit for the rank.

    Example:
      >>> y = tf.contrib.layers.bias_add([[1.0, 2.0]], initializer=tf.ones_initializer(), scope="b")
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y), tf.model_variables()[0].name)
      [[2. 3.]] b/biases:0
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        shape = inputs.get_shape()
        if shape.ndims is None:
            raise ValueError("Dims of shape must be known but is None")
        if shape.ndims != 4 and data_format == "NCHW":
            raise ValueError("Data format NCHW only supports 4D Tensor")
        channels = dimension_value(shape[1 if data_format == "NCHW" else -1])
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = model_variable(
            "biases",
            shape=[channels],
            dtype=inputs.dtype.base_dtype,
            initializer=initializer,
            regularizer=regularizer,
            collections=get_variable_collections(variables_collections, "biases"),
            trainable=trainable,
        )
        outputs = functions.bias_add(inputs, biases, data_format=data_format)
        return finish(outputs, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: Any = None,
    seed: Optional[int] = None,
) -> Any:
    """Sets elements to zero with probability `1 - keep_prob`, and scales the others up, in training.

    Args:
      inputs: A tensor of floats.
      keep_prob: The probability that an element is kept: a float or a scalar tensor.
      noise_shape: As in `tf.nn.dropout`.
      is_training: A bool or a boolean scalar tensor; if false, the inputs are returned.
      outputs_collections: A collection, or a list of them, for the output.
      scope: The variable scope.
      seed: A seed; see `tf.set_random_seed`.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.contrib.layers.dropout(tf.ones([3]), is_training=False)))
      [1. 1. 1.]
    """
    with variable_scope(scope, "Dropout", [inputs], custom_getter=model_variables()) as sc:
        inputs = convert_to_tensor(inputs)
        with as_layer(sc):
            outputs = smart_cond(
                is_training,
                lambda: functions.dropout(inputs, noise_shape=noise_shape, seed=seed, rate=1 - keep_prob),
                lambda: array_ops.identity(inputs),
            )
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> Any:
    """Flattens a tensor to a matrix; the first dimension stays.

    Args:
      inputs: A tensor of rank 2 or more.
      outputs_collections: A collection, or a list of them, for the output.
      scope: The name scope.

    Returns:
      A tensor of rank 2.

    Raises:
      ValueError: The rank is unknown or too small.

    Example:
      >>> tf.contrib.layers.flatten(tf.zeros([2, 3, 4])).shape
      TensorShape([Dimension(2), Dimension(12)])
    """
    with name_scope(scope, "Flatten", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        return collect_named_outputs(outputs_collections, sc, core.flatten(inputs))


@add_arg_scope
def dense_to_sparse(tensor: Any, eos_token: Any = 0, outputs_collections: Any = None, scope: Any = None) -> Any:
    """Converts a tensor to a sparse one: all elements but those that equal `eos_token`.

    Args:
      tensor: A tensor.
      eos_token: The value that is left out.
      outputs_collections: A collection, or a list of them, for the output.
      scope: The variable scope.

    Returns:
      A `SparseTensor`.

    Example:
      >>> tf.Session().run(tf.contrib.layers.dense_to_sparse([[5, 0], [0, 7]])).values.tolist()
      [5, 7]
    """
    with variable_scope(scope, "dense_to_sparse", [tensor]) as sc:
        tensor = convert_to_tensor(tensor)
        indices = array_ops.where(math_ops.not_equal(tensor, constant(eos_token, tensor.dtype)))
        shape = array_ops.shape(tensor, out_type=dtypes.int64)
        outputs = SparseTensor(indices, indexing_ops.gather_nd(tensor, indices), shape)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def one_hot_encoding(
    labels: Any, num_classes: int, on_value: Any = 1.0, off_value: Any = 0.0, outputs_collections: Any = None, scope: Any = None
) -> Any:
    """Converts class numbers to one-hot vectors.

    Args:
      labels: A tensor of integers.
      num_classes: The number of classes.
      on_value: The value at the class.
      off_value: The value elsewhere.
      outputs_collections: A collection, or a list of them, for the output.
      scope: The name scope.

    Returns:
      A tensor with one more dimension, of length `num_classes`.

    Example:
      >>> print(tf.Session().run(tf.contrib.layers.one_hot_encoding([1, 0], 3)))
      [[0. 1. 0.]
       [1. 0. 0.]]
    """
    with name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        labels = convert_to_tensor(labels)
        if labels.dtype == dtypes.int32:
            labels = math_ops.cast(labels, dtypes.int64, name="ToInt64")
        outputs = array_ops.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, sc, outputs)


def _repeated(inputs: Any, layer: Callable[..., Any], calls: Sequence[Any], kwargs: Dict[str, Any], kind: str, fallback: str) -> Any:
    """Applies a layer for each element of `calls`, its arguments, in scopes with numbers."""
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, kind, [inputs]):
        outputs = convert_to_tensor(inputs)
        if scope is None:
            named = layer if hasattr(layer, "__name__") else getattr(layer, "func", None)
            scope = getattr(named, "__name__", fallback)
        for i, args in enumerate(calls):
            outputs = layer(outputs, *args, **dict(kwargs, scope="%s_%d" % (scope, i + 1)))
        return outputs


def repeat(inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Applies a layer several times with the same arguments.

    The scopes are `scope/scope_1`, `scope/scope_2` etc.; by default `scope` is the name of the function.

    Args:
      inputs: A tensor.
      repetitions: The number of times.
      layer: A function of a tensor with an argument `scope`.
      *args: More arguments for the function.
      **kwargs: The same by keyword.

    Returns:
      The result of the last call.

    Example:
      >>> layers = tf.contrib.layers
      >>> y = layers.repeat(tf.zeros([1, 2]), 2, layers.fully_connected, 3, scope="fc")
      >>> [v.name for v in tf.model_variables() if "weights" in v.name]
      ['fc/fc_1/weights:0', 'fc/fc_2/weights:0']
    """
    return _repeated(inputs, layer, [args] * repetitions, kwargs, "Repeat", "repeat")


def stack(inputs: Any, layer: Callable[..., Any], stack_args: Any, **kwargs: Any) -> Any:
    """Applies a layer several times with different arguments.

    The scopes are `scope/scope_1`, `scope/scope_2` etc.; by default `scope` is the name of the function.

    Args:
      inputs: A tensor.
      layer: A function of a tensor with an argument `scope`.
      stack_args: A list with the arguments of each call: a value, or a list of values.
      **kwargs: Keyword arguments of all calls.

    Returns:
      The result of the last call.

    Raises:
      ValueError: `stack_args` is not a list.

    Example:
      >>> layers = tf.contrib.layers
      >>> layers.stack(tf.zeros([1, 2]), layers.fully_connected, [8, 4], scope="fc").shape
      TensorShape([Dimension(1), Dimension(4)])
    """
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    calls = [args if isinstance(args, (list, tuple)) else [args] for args in stack_args]
    return _repeated(inputs, layer, calls, kwargs, "Stack", "stack")


@add_arg_scope
def images_to_sequence(inputs: Any, data_format: str = "NHWC", outputs_collections: Any = None, scope: Any = None) -> Any:
    """Returns the columns of images, in order: a sequence whose batch holds all rows.

    Args:
      inputs: A tensor of shape `[batch, height, width, channels]`, or `[batch, channels, height, width]`.
        Its width and its channels must be known.
      data_format: `"NHWC"` or `"NCHW"`, the order of the axes.
      outputs_collections: Collections that the result is added to.
      scope: The variable scope.

    Returns:
      A tensor of shape `[width, batch * height, channels]`.

    Raises:
      ValueError: `data_format` is another.

    Example:
      >>> images = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
      >>> print(tf.Session().run(tf.contrib.layers.images_to_sequence(images))[:, :, 0])
      [[0. 2.]
       [1. 3.]]
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with name_scope(scope, "ImagesToSequence", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        if data_format == "NCHW":
            inputs = array_ops.transpose(inputs, [0, 2, 3, 1])
        width, depth = inputs.get_shape().as_list()[2:]
        shape = array_ops.shape(inputs)
        columns = array_ops.transpose(inputs, [2, 0, 1, 3])
        return collect_named_outputs(outputs_collections, sc, array_ops.reshape(columns, [width, shape[0] * shape[1], depth]))


@add_arg_scope
def sequence_to_images(
    inputs: Any, height: int, output_data_format: str = "channels_last", outputs_collections: Any = None, scope: Any = None
) -> Any:
    """Returns images whose columns are the elements of a sequence, as `images_to_sequence` made it.

    Args:
      inputs: A tensor of shape `[width, batch * height, channels]`.
      height: The height of the images.
      output_data_format: `"channels_last"` or `"channels_first"`.
      outputs_collections: Collections that the result is added to.
      scope: The variable scope.

    Returns:
      A tensor of shape `[batch, height, width, channels]`, or `[batch, channels, height, width]`.

    Example:
      >>> sequence = tf.reshape(tf.range(4.0), [2, 2, 1])
      >>> print(tf.Session().run(tf.contrib.layers.sequence_to_images(sequence, 2))[0, :, :, 0])
      [[0. 2.]
       [1. 3.]]
    """
    with name_scope(scope, "SequenceToImages", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        width, rows, depth = inputs.get_shape().as_list()
        reshaped = array_ops.reshape(inputs, [-1 if width is None else width, -1 if rows is None else rows // height, height, depth])
        order = [1, 3, 2, 0] if output_data_format == "channels_first" else [1, 2, 0, 3]
        return collect_named_outputs(outputs_collections, sc, array_ops.transpose(reshaped, order))


def scale_gradient(inputs: Any, gradient_multiplier: Any) -> Any:
    """Returns a tensor like another, whose gradient is multiplied by a factor.

    Args:
      inputs: The other.
      gradient_multiplier: The factor, a tensor that broadcasts to the shape of `inputs`.

    Example:
      >>> x = tf.constant([1.0, 2.0])
      >>> y = tf.contrib.layers.scale_gradient(x, 0.5)
      >>> print(tf.Session().run(tf.gradients(y, x)[0]))
      [0.5 0.5]
    """

    def scaled(inputs: Any, multiplier: Any) -> Any:
        return array_ops.identity(inputs), lambda grad: (grad * multiplier, None)

    inputs = convert_to_tensor(inputs)
    return custom_gradient(scaled)(inputs, convert_to_tensor(gradient_multiplier, dtype=inputs.dtype))


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Any:
    """Computes the softmax over the last dimension.

    Args:
      logits: A tensor of rank 2 or more, whose last dimension is known.
      scope: The variable scope.

    Returns:
      A tensor of the same shape.

    Raises:
      ValueError: The rank is less than 2, or the last dimension is unknown.

    Example:
      >>> print(tf.Session().run(tf.contrib.layers.softmax(tf.zeros([1, 2]))))
      [[0.5 0.5]]
    """
    with variable_scope(scope, "softmax", [logits]):
        classes = last_dimension(logits.get_shape(), min_rank=2)
        flat = functions.softmax(array_ops.reshape(logits, [-1, classes]))
        predictions = array_ops.reshape(flat, array_ops.shape(logits))
        predictions.set_shape(logits.get_shape())
        return predictions


@add_arg_scope
def spatial_softmax(
    features: Any,
    temperature: Optional[float] = None,
    name: Any = None,
    variables_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> Any:
    """Returns the expected position of each channel's maximum: its softmax times the coordinates in [-1, 1].

    Args:
      features: A tensor of rank 4.
      temperature: The divisor of the features; by default a variable that starts at 1.
      name: The variable scope.
      variables_collections: A list of collections for the variable, or a dict with `temperature`.
      trainable: If true, the temperature is trainable.
      data_format: `"NHWC"` if channels are the last axis, or `"NCHW"`.

    Returns:
      A tensor of shape `[batch, 2 * channels]`.

    Raises:
      ValueError: The number of channels is unknown, or `data_format` is neither.

    Example:
      >>> points = tf.contrib.layers.spatial_softmax(tf.zeros([1, 3, 3, 2]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(abs(sess.run(points)).max() < 1e-6)
      True
    """
    with variable_scope(name, "spatial_softmax"):
        shape, static = array_ops.shape(features), features.shape
        if data_format == "NHWC":
            height, width, channels = shape[1], shape[2], dimension_value(static[3])
        elif data_format == "NCHW":
            channels, height, width = dimension_value(static[1]), shape[2], shape[3]
        else:
            raise ValueError("data_format has to be either NCHW or NHWC.")
        if channels is None:
            raise ValueError("The num_channels dimension of the inputs to `spatial_softmax` should be defined. Found `None`.")
        with name_scope("spatial_softmax_op", "spatial_softmax_op", [features]):
            axes = op("LinSpace")(-1.0, 1.0, num=height), op("LinSpace")(-1.0, 1.0, num=width)
            positions = [array_ops.reshape(p, [height * width]) for p in array_ops.meshgrid(*axes, indexing="ij")]
            heat = model_variable(
                "temperature",
                shape=(),
                dtype=dtypes.float32,
                initializer=ones_initializer() if temperature is None else constant_initializer(temperature),
                collections=get_variable_collections(variables_collections, "temperature") if trainable else None,
                trainable=trainable,
            )
            if data_format == "NHWC":
                features = array_ops.transpose(features, [0, 3, 1, 2])
            attention = functions.softmax(array_ops.reshape(features, [-1, height * width]) / heat)
            expected = [reduction_ops.reduce_sum(p * attention, [1], keepdims=True) for p in positions]
            points = array_ops.reshape(array_ops.concat(expected, 1), [-1, channels * 2])
            points.set_shape([None, channels * 2])
    return points


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Any:
    """Scales a tensor to unit length along an axis.

    Args:
      inputs: A tensor of floats of known rank.
      dim: The axis.
      epsilon: A constant added to the squared length.
      scope: The variable scope.

    Returns:
      A tensor of the same shape.

    Raises:
      ValueError: The rank is unknown, or the axis out of range.

    Example:
      >>> print(tf.Session().run(tf.contrib.layers.unit_norm(tf.constant([[3.0, 4.0]]), 1)))
      [[0.6 0.8]]
    """
    with variable_scope(scope, "UnitNorm", [inputs]):
        if not inputs.get_shape():
            raise ValueError("The input rank must be known.")
        rank = len(inputs.get_shape().as_list())
        if dim < 0 or dim >= rank:
            raise ValueError("dim must be positive but smaller than the input rank.")
        lengths = op("Sqrt")(epsilon + reduction_ops.reduce_sum(op("Square")(inputs), dim, True))
        multiples = [array_ops.ones([dim], dtypes.int32)] if 0 < dim else []
        multiples.append(indexing_ops.strided_slice(array_ops.shape(inputs), [dim], [dim + 1]))
        if dim < rank - 1:
            multiples.append(array_ops.ones([rank - 1 - dim], dtypes.int32))
        return math_ops.div(inputs, op("Tile")(lengths, array_ops.concat(multiples, 0)))


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Any:
    """Returns the maxima of groups of features.

    Args:
      inputs: A tensor.
      num_units: The number of groups, which divides the length of the axis.
      axis: The axis.
      scope: The variable scope.

    Returns:
      A tensor whose axis has the length `num_units`.

    Raises:
      ValueError: `num_units` does not divide the length.

    Example:
      >>> print(tf.Session().run(tf.contrib.layers.maxout([[1.0, 5.0, 2.0, 3.0]], 2)))
      [[5. 3.]]
    """
    with variable_scope(scope, "MaxOut", [inputs]):
        inputs = convert_to_tensor(inputs)
        shape: List[Any] = inputs.get_shape().as_list()
        features = shape[axis]
        if features % num_units:
            raise ValueError("number of features({}) is not a multiple of num_units({})".format(features, num_units))
        shape[axis] = num_units
        shape.append(features // num_units)
        shape = [array_ops.shape(inputs)[i] if n is None else n for i, n in enumerate(shape)]
        return reduction_ops.reduce_max(array_ops.reshape(inputs, shape), -1, keepdims=False)


def legacy_fully_connected(
    x: Any,
    num_output_units: int,
    activation_fn: Activation = None,
    weight_init: Any = xavier_initializer(),
    bias_init: Any = zeros_initializer(),
    name: Any = None,
    weight_collections: Any = (GraphKeys.WEIGHTS,),
    bias_collections: Any = (GraphKeys.BIASES,),
    output_collections: Any = (GraphKeys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Any = None,
    bias_regularizer: Any = None,
) -> Any:
    """A dense layer, as `fully_connected`, with the arguments of earlier versions.

    Args:
      x: A tensor of floats, of rank 2 or more, whose last dimension is known.
      num_output_units: The size of the last dimension of the output.
      activation_fn: A function of a tensor; None for none.
      weight_init: The initializer of the weights.
      bias_init: The initializer of the bias; None for no bias.
      name: The variable scope.
      weight_collections: More collections for the weights.
      bias_collections: More collections for the bias.
      output_collections: More collections for the output, which is always one of the `activations`.
      trainable: If true, the variables are trainable.
      weight_regularizer: A function from the weights to a term of the loss.
      bias_regularizer: A function from the bias to a term of the loss.

    Returns:
      A tensor of the shape `x.shape[:-1] + [num_output_units]`.

    Raises:
      ValueError: The rank is less than 2, or the last dimension is unknown.

    Example:
      >>> y = tf.contrib.layers.legacy_fully_connected(tf.zeros([1, 2]), 3, name="fc")
      >>> [v.name for v in tf.global_variables()]
      ['fc/weights:0', 'fc/bias:0']
    """
    with variable_scope(name, "fully_connected", [x]):
        x = convert_to_tensor(x)
        shape = x.get_shape()
        if shape.ndims is None:
            raise ValueError("dims of x must be known but is None")
        if shape.ndims < 2:
            raise ValueError("rank of x must be at least 2 not: %d" % shape.ndims)
        depth = dimension_value(shape[-1])
        if depth is None:
            raise ValueError("last dimension of x must be known but is None")

        def weight(called: str, dims: List[int], initializer: Any, keys: Any, regularizer: Any) -> Any:
            keys = list(dict.fromkeys([*(keys or []), GraphKeys.GLOBAL_VARIABLES]))
            return get_variable(called, dims, x.dtype.base_dtype, initializer, regularizer, trainable, keys)

        w = weight("weights", [depth, num_output_units], weight_init, weight_collections, weight_regularizer)
        y = math_ops.matmul(x if shape.ndims == 2 else array_ops.reshape(x, [-1, depth]), w)
        if bias_init is not None:
            y = functions.bias_add(y, weight("bias", [num_output_units], bias_init, bias_collections, bias_regularizer))
        if 2 < shape.ndims:
            sizes = array_ops.unstack(array_ops.shape(x))
            y = array_ops.reshape(y, array_ops.stack(sizes[:-1] + [num_output_units]))
            y.set_shape(shape.as_list()[:-1] + [num_output_units])
        if activation_fn is not None:
            y = activation_fn(y)
        add_to_collections([*(output_collections or []), GraphKeys.ACTIVATIONS], y)
        return y


elu = functools.partial(fully_connected, activation_fn=op("Elu"))
legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)
legacy_relu = functools.partial(legacy_fully_connected, activation_fn=op("Relu"))
linear = functools.partial(fully_connected, activation_fn=None)
relu = functools.partial(fully_connected, activation_fn=op("Relu"))
relu6 = functools.partial(fully_connected, activation_fn=functions.relu6)
