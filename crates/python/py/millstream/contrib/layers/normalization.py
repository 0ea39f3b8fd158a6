"""Normalization layers: over a batch, a layer, an instance or groups of channels."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from millstream.contrib.framework.arg_scopes import add_arg_scope
from millstream.contrib.framework.variables import model_variable
from millstream.contrib.layers.layers import Activation, as_layer, collect_variable, finish, model_variables
from millstream.contrib.layers.utils import constant_value, get_variable_collections, smart_cond
from millstream.framework import add_to_collection, add_to_collections, constant, control_dependencies, convert_to_tensor, dtypes
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape, dimension_value
from millstream.layers import core
from millstream.nn import functions, nn_ops
from millstream.ops import array_ops, math_ops
from millstream.train.moving_averages import assign_moving_average
from millstream.variables.initializers import ones_initializer, zeros_initializer
from millstream.variables.scopes import get_variable_scope, variable_scope

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm"]


class _Parameters:
    """Makes the variables of a normalization in the current scope."""

    def __init__(
        self, shape: Any, dtype: Any, variables_collections: Any, trainable: bool, initializers: Any = None, regularizers: Any = None
    ) -> None:
        self.shape, self.dtype, self.collections, self.trainable = shape, dtype, variables_collections, trainable
        self.initializers: Dict[str, Any] = initializers or {}
        self.regularizers: Dict[str, Any] = regularizers or {}

    def make(self, name: str, first: Callable[[], Any], trainable: bool = True) -> Any:
        return model_variable(
            name,
            shape=self.shape,
            dtype=self.dtype,
            initializer=self.initializers.get(name, first()),
            regularizer=self.regularizers.get(name),
            collections=get_variable_collections(self.collections, name),
            trainable=self.trainable and trainable,
        )

    def beta(self, wanted: bool) -> Any:
        return self.make("beta", zeros_initializer) if wanted else None

    def gamma(self, wanted: bool) -> Any:
        return self.make("gamma", ones_initializer) if wanted else None

    def moving(self) -> Tuple[Any, Any]:
        # Assignments of averages need whole variables.
        with variable_scope(get_variable_scope()) as scope:
            scope.set_partitioner(None)
            return self.make("moving_mean", zeros_initializer, False), self.make("moving_variance", ones_initializer, False)


class _Averages:
    """The moving averages of a batch normalization: when, how and where they are updated."""

    def __init__(self, moving: Tuple[Any, Any], decay: float, zero_debias: bool, is_training: Any, collections: Any) -> None:
        self.moving, self.decay, self.zero_debias = moving, decay, zero_debias
        self.is_training, self.collections = is_training, collections

    def _assigned(self, mean: Any, variance: Any) -> Tuple[Any, Any]:
        return (
            assign_moving_average(self.moving[0], mean, self.decay, zero_debias=self.zero_debias),
            assign_moving_average(self.moving[1], variance, self.decay, zero_debias=False),
        )

    def update(self, mean: Any, variance: Any, results: Tuple[Any, ...], otherwise: Callable[[], Any]) -> Any:
        """Returns `results`, which wait for the updates unless these are collected.

        Outside of training, `otherwise()` is returned instead if updates are not collected.
        """
        if self.collections is None:

            def forced() -> Any:
                with control_dependencies(list(self._assigned(mean, variance))):
                    return tuple(array_ops.identity(r) for r in results)

            return smart_cond(self.is_training, forced, otherwise)
        for updated in smart_cond(self.is_training, lambda: self._assigned(mean, variance), lambda: self.moving):
            add_to_collections(self.collections, updated)
        return results


def _check_format(data_format: str) -> None:
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")


@add_arg_scope
def batch_norm(
    inputs: Any,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Activation = None,
    param_initializers: Optional[Dict[str, Any]] = None,
    param_regularizers: Optional[Dict[str, Any]] = None,
    updates_collections: Any = GraphKeys.UPDATE_OPS,
    is_training: Any = True,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: Optional[bool] = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_decay: float = 0.99,
    adjustment: Any = None,
) -> Any:
    """Normalizes each channel over the batch, and keeps moving averages of means and variances.

    In training the statistics are those of the batch, otherwise the moving averages. As in TensorFlow, the
    moving variance of inputs of rank 2 and 4 follows the unbiased variance (that of `n - 1`), unless `fused`
    is False, batch weights are given, or the rank is another one: then it follows the biased one.
    `arg_scope` blocks can set all arguments.

    Args:
      inputs: A tensor of floats of known rank, at least 2.
      decay: The decay rate of the moving averages.
      center: If true, `beta` is added.
      scale: If true, the result is multiplied by `gamma`.
      epsilon: A constant added to the variance.
      activation_fn: A function of a tensor; None for none.
      param_initializers: A dict of initializers: `beta`, `gamma`, `moving_mean` and `moving_variance`.
      param_regularizers: A dict of functions from a variable to a term of the loss: `beta` and `gamma`.
      updates_collections: The collection of the updates of the moving averages, which the program runs. If
        None, the output waits for them.
      is_training: A bool or a boolean scalar tensor.
      reuse: As in `tf.variable_scope`.
      variables_collections: A list of collections for the variables, or a dict of lists by name.
      outputs_collections: A collection, or a list of them, for the output.
      trainable: If true, `beta` and `gamma` are trainable.
      batch_weights: A vector with a weight for each row of the batch.
      fused: See above.
      data_format: `"NHWC"` if channels are the last axis, or `"NCHW"`.
      zero_debias_moving_mean: If true, the moving mean is corrected for its start at zero.
      scope: The variable scope: a name or a `VariableScope`; by default a new one.
      renorm: If true, the statistics of a batch are corrected, as in `tf.layers.BatchNormalization`.
      renorm_clipping: A dict with bounds of the correction: `rmin`, `rmax` and `dmax`.
      renorm_decay: The decay rate of the averages that the correction uses.
      adjustment: A function from the shape of the inputs to a scale and an offset for training, as in
        `tf.layers.BatchNormalization`. It is ignored with batch weights, with `zero_debias_moving_mean` or
        with another `updates_collections`.

    Returns:
      A tensor of the same shape.

    Raises:
      ValueError: The rank or the number of channels is unknown, or `data_format` is neither.
      ValueError: `renorm` is given with batch weights, `zero_debias_moving_mean` or another
        `updates_collections`.

    Example:
      >>> y = tf.contrib.layers.batch_norm(tf.constant([[1.0], [3.0]]), scope="bn")
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y).round(2).ravel(), [v.name for v in tf.model_variables()])
      [-1.  1.] ['bn/beta:0', 'bn/moving_mean:0', 'bn/moving_variance:0']
      >>> len(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
      2
    """
    inputs = convert_to_tensor(inputs)
    rank = inputs.get_shape().ndims
    special = zero_debias_moving_mean or updates_collections != GraphKeys.UPDATE_OPS
    # `tf.layers` normalizes images by the op as well; only it goes through the getter of its scope.
    more = renorm or adjustment is not None
    as_fused = fused is not False and batch_weights is None and not more and rank in (2, 4) and (special or rank == 2)
    _check_format(data_format)
    getter = None if as_fused else model_variables()
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=getter) as sc:
        if batch_weights is None and not special and not as_fused:
            with as_layer(sc):
                layer = _layer(
                    inputs,
                    decay,
                    param_initializers,
                    param_regularizers,
                    data_format,
                    epsilon=epsilon,
                    center=center,
                    scale=scale,
                    fused=fused,
                    trainable=trainable,
                    renorm=renorm,
                    renorm_clipping=renorm_clipping,
                    renorm_momentum=renorm_decay,
                    adjustment=adjustment,
                    name=sc.name,
                )
                outputs = layer.call(inputs, training=is_training)
            for update in layer.updates:
                add_to_collection(GraphKeys.UPDATE_OPS, update)
            for name in ("moving_mean", "moving_variance", "beta", "gamma"):
                if getattr(layer, name) is not None:
                    collect_variable(getattr(layer, name), variables_collections, name)
            return finish(outputs, activation_fn, outputs_collections, sc.name)
        if renorm:
            raise ValueError("renorm is not supported with batch_weights, updates_collections or zero_debias_moving_mean")
        dtype = dtypes.float32 if as_fused else inputs.dtype.base_dtype
        channels = _channels(inputs, data_format, as_fused)
        # TensorFlow's unfused form ignores regularizers.
        parameters = _Parameters(
            channels, dtype, variables_collections, trainable, param_initializers, param_regularizers if as_fused else None
        )
        beta, gamma = parameters.beta(center), parameters.gamma(scale)
        averages = _Averages(parameters.moving(), decay, zero_debias_moving_mean, is_training, updates_collections)
        if as_fused:
            outputs = _fused(inputs, beta, gamma, averages, epsilon, data_format)
        else:
            outputs = _weighted(inputs, beta, gamma, averages, epsilon, data_format, batch_weights)
        outputs.set_shape(inputs.get_shape())
        return finish(outputs, activation_fn, outputs_collections, sc.name)


def _layer(
    inputs: Any,
    decay: float,
    initializers: Optional[Dict[str, Any]],
    regularizers: Optional[Dict[str, Any]],
    data_format: str,
    **options: Any,
) -> Any:
    """Returns a layer of `tf.layers` whose variables are in the current scope; `options` are its own."""
    first, terms = initializers or {}, regularizers or {}
    layer = core.BatchNormalization(
        axis=1 if data_format == "NCHW" else -1,
        momentum=decay,
        beta_initializer=first.get("beta", zeros_initializer()),
        gamma_initializer=first.get("gamma", ones_initializer()),
        moving_mean_initializer=first.get("moving_mean", zeros_initializer()),
        moving_variance_initializer=first.get("moving_variance", ones_initializer()),
        beta_regularizer=terms.get("beta"),
        gamma_regularizer=terms.get("gamma"),
        dtype=inputs.dtype.base_dtype,
        **options,
    )
    layer._scope = get_variable_scope()
    layer.build(inputs.get_shape())
    return layer


def _channels(inputs: Any, data_format: str, fused: bool) -> TensorShape:
    """Returns the shape of the parameters."""
    shape = inputs.get_shape()
    if shape.ndims is None:
        raise ValueError("Inputs %s has undefined rank%s" % (inputs.name, "" if fused else "."))
    channels = shape[1:2] if data_format == "NCHW" else shape[-1:]
    if not channels.is_fully_defined():
        if fused and shape.ndims == 2:
            raise ValueError("`C` dimension must be known but is None")
        raise ValueError("Inputs %s has undefined %s dimension %s." % (inputs.name, "`C`" if fused else "channels", channels))
    return channels


def _axes(rank: int, data_format: str) -> Tuple[List[int], List[int]]:
    """Returns the axes of the moments, and the shape that makes parameters broadcast."""
    axis = 1 if data_format == "NCHW" else rank - 1
    return [i for i in range(rank) if i != axis], [-1 if i == axis else 1 for i in range(rank)]


def _fused(inputs: Any, beta: Any, gamma: Any, averages: _Averages, epsilon: float, data_format: str) -> Any:
    """Normalizes by the op for batch normalization, with parameters in float32 and unbiased variances.

    A matrix becomes a batch of images of one pixel, which gives the result its name.
    """
    x, shape = inputs, averages.moving[0].get_shape()
    if inputs.get_shape().ndims == 2:
        channels = dimension_value(inputs.get_shape()[-1])
        x = array_ops.reshape(inputs, [-1, channels, 1, 1] if data_format == "NCHW" else [-1, 1, 1, channels])
    beta = constant(0.0, dtypes.float32, shape) if beta is None else beta
    gamma = constant(1.0, dtypes.float32, shape) if gamma is None else gamma

    def training() -> Any:
        return nn_ops.fused_batch_norm(x, gamma, beta, epsilon=epsilon, data_format=data_format)

    def inference() -> Any:
        return nn_ops.fused_batch_norm(x, gamma, beta, *averages.moving, epsilon, data_format, False)

    outputs, mean, variance = smart_cond(averages.is_training, training, inference)
    known = constant_value(averages.is_training)
    if known is None or known:
        (outputs,) = _one(averages.update(mean, variance, (outputs,), lambda: (outputs,)))
    outputs.set_shape(x.get_shape())
    return array_ops.reshape(outputs, array_ops.shape(inputs)) if inputs.get_shape().ndims == 2 else outputs


def _broadcast(parameters: List[Any], wide: List[int], data_format: str) -> List[Any]:
    """Reshapes parameters so that they broadcast, unless channels are the last axis; None stays."""
    return [p if p is None or data_format == "NHWC" else array_ops.reshape(p, wide) for p in parameters]


def _one(values: Any) -> Tuple[Any]:
    """Returns a tuple of one value; `cond` may have unpacked it."""
    return values if isinstance(values, tuple) else tuple(values) if isinstance(values, list) else (values,)


def _weighted(
    inputs: Any, beta: Any, gamma: Any, averages: _Averages, epsilon: float, data_format: str, batch_weights: Any
) -> Any:
    """Computes a batch normalization of biased variances, with weights for the rows of the batch."""
    shape = inputs.get_shape()
    axes, wide = _axes(shape.ndims, data_format)
    known = constant_value(averages.is_training)
    moving = averages.moving
    if known is not None and not known:
        mean, variance = moving
    else:
        if batch_weights is None:
            mean, variance = functions.moments(inputs, axes)
        else:
            weights = convert_to_tensor(batch_weights)
            shape[0:1].assert_is_compatible_with(weights.get_shape())
            weights = array_ops.reshape(weights, [-1] + [1] * (shape.ndims - 1))
            mean, variance = nn_ops.weighted_moments(inputs, axes, weights)
        batch = mean, variance
        mean, variance = averages.update(mean, variance, batch, lambda: moving)
        if averages.collections is not None:
            mean, variance = smart_cond(averages.is_training, lambda: batch, lambda: moving)
    parts = _broadcast([mean, variance, beta, gamma], wide, data_format)
    return nn_ops.batch_normalization(inputs, parts[0], parts[1], parts[2], parts[3], epsilon)


@add_arg_scope
def layer_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    activation_fn: Activation = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> Any:
    """Normalizes each row over its own elements (Ba, Kiros and Hinton, "Layer Normalization", 2016).

    The other arguments are those of `batch_norm`.

    Args:
      inputs: A tensor of floats of known rank.
      center: If true, `beta` is added.
      scale: If true, the result is multiplied by `gamma`.
      begin_norm_axis: The first axis to normalize over.
      begin_params_axis: The first axis of `beta` and `gamma`; all axes from it on must be known.

    Returns:
      A tensor of the same shape.

    Raises:
      ValueError: The rank or a dimension is unknown, or an axis out of range.

    Example:
      >>> y = tf.contrib.layers.layer_norm([[1.0, 3.0]], scope="ln")
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y), [v.name for v in tf.trainable_variables()])
      [[-1.  1.]] ['ln/beta:0', 'ln/gamma:0']
    """
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        shape = inputs.shape
        rank = shape.ndims
        if rank is None:
            raise ValueError("Inputs %s has undefined rank." % inputs.name)
        dtype = inputs.dtype.base_dtype
        if begin_norm_axis < 0:
            begin_norm_axis += rank
        if begin_params_axis >= rank or begin_norm_axis >= rank:
            raise ValueError(
                "begin_params_axis (%d) and begin_norm_axis (%d) must be < rank(inputs) (%d)" % (begin_params_axis, begin_norm_axis, rank)
            )
        own = shape[begin_params_axis:]
        if not own.is_fully_defined():
            raise ValueError("Inputs %s: shape(inputs)[%s:] is not fully defined: %s" % (inputs.name, begin_params_axis, shape))
        parameters = _Parameters(own, dtype, variables_collections, trainable)
        beta, gamma = parameters.beta(center), parameters.gamma(scale)
        mean, variance = functions.moments(inputs, list(range(begin_norm_axis, rank)), keep_dims=True)
        # Half floats have no smaller normal numbers.
        epsilon = 1e-3 if dtype == dtypes.float16 else 1e-12
        outputs = nn_ops.batch_normalization(inputs, mean, variance, offset=beta, scale=gamma, variance_epsilon=epsilon)
        outputs.set_shape(shape)
        return finish(outputs, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def instance_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Activation = None,
    param_initializers: Optional[Dict[str, Any]] = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Normalizes each channel of each row (Ulyanov, Vedaldi and Lempitsky, "Instance Normalization", 2016).

    The other arguments are those of `batch_norm`.

    Args:
      inputs: A tensor of floats of known rank.
      center: If true, `beta` is added.
      scale: If true, the result is multiplied by `gamma`.
      epsilon: A constant added to the variance.

    Returns:
      A tensor of the same shape.

    Raises:
      ValueError: The rank or the number of channels is unknown, or `data_format` is neither.

    Example:
      >>> y = tf.contrib.layers.instance_norm([[[1.0], [3.0]]])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y).ravel())
      [-0.9999995  0.9999995]
    """
    inputs = convert_to_tensor(inputs)
    shape = inputs.shape
    if shape.ndims is None:
        raise ValueError("Inputs %s has undefined rank." % inputs.name)
    _check_format(data_format)
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as sc:
        axes, wide = _axes(shape.ndims, data_format)
        own = shape[1:2] if data_format == "NCHW" else shape[-1:]
        if not own.is_fully_defined():
            raise ValueError("Inputs %s has undefined channels dimension %s." % (inputs.name, own))
        parameters = _Parameters(own, inputs.dtype.base_dtype, variables_collections, trainable, param_initializers)
        beta, gamma = parameters.beta(center), parameters.gamma(scale)
        beta, gamma = _broadcast([beta, gamma], wide, data_format)
        mean, variance = functions.moments(inputs, [a for a in axes if a], keep_dims=True)
        outputs = nn_ops.batch_normalization(inputs, mean, variance, beta, gamma, epsilon, name="instancenorm")
        return finish(outputs, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def group_norm(
    inputs: Any,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Any = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Activation = None,
    param_initializers: Optional[Dict[str, Any]] = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    mean_close_to_zero: bool = False,
) -> Any:
    """Normalizes groups of channels of each row (Wu and He, "Group Normalization", 2018).

    The other arguments are those of `batch_norm`.

    Args:
      inputs: A tensor of floats of known rank.
      groups: The number of groups, which divides the number of channels.
      channels_axis: The axis of the channels.
      reduction_axes: The other axes to normalize over.
      center: If true, `beta` is added.
      scale: If true, the result is multiplied by `gamma`.
      epsilon: A constant added to the variance.
      mean_close_to_zero: If true, the variance is the mean square less the squared mean.

    Returns:
      A tensor of the same shape.

    Raises:
      ValueError: A dimension is unknown, an axis out of range, or `groups` does not divide the channels.

    Example:
      >>> y = tf.contrib.layers.group_norm([[[1.0, 5.0], [3.0, 7.0]]], 2, reduction_axes=[-2])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y).round(3).ravel())
      [-1. -1.  1.  1.]
    """
    inputs = convert_to_tensor(inputs)
    sizes, axis, others = _grouped(inputs, groups, channels_axis, reduction_axes)
    channels = int(inputs.shape[axis])
    before, after = sizes[:axis], sizes[axis + 1 :]
    grouped = array_ops.reshape(inputs, before + [groups, channels // groups] + after)
    axes = [axis + 1] + [a + 1 if a > axis else a for a in others]
    with variable_scope(scope, "GroupNorm", [grouped], reuse=reuse) as sc:
        parameters = _Parameters([channels], inputs.dtype.base_dtype, variables_collections, trainable, param_initializers)
        wide = [1] * len(before) + [groups, channels // groups] + [1] * len(after)
        beta, gamma = parameters.beta(center), parameters.gamma(scale)
        beta, gamma = (None if p is None else array_ops.reshape(p, wide) for p in (beta, gamma))
        if mean_close_to_zero:
            counts, sums, squares, _ = nn_ops.sufficient_statistics(grouped, axes, keep_dims=True)
            mean, variance = nn_ops.normalize_moments(counts, sums, squares, shift=None)
        else:
            mean, variance = functions.moments(grouped, axes, keep_dims=True)
        gain = op("Rsqrt")(variance + epsilon)
        offset = -mean * gain
        if gamma is not None:
            gain, offset = gain * gamma, offset * gamma
        if beta is not None:
            offset = offset + beta
        outputs = array_ops.reshape(grouped * gain + offset, sizes)
        return finish(outputs, activation_fn, outputs_collections, sc.name)


def _grouped(inputs: Any, groups: int, channels_axis: int, reduction_axes: Any) -> Tuple[List[Any], int, List[int]]:
    """Returns the sizes of the axes, that of the channels, and the others to normalize over."""
    shape = inputs.shape
    if shape.ndims is None:
        raise ValueError("Inputs %s has undefined rank." % inputs.name)
    if channels_axis > shape.ndims - 1:
        raise ValueError("Axis is out of bounds.")
    at_run = array_ops.shape(inputs)
    sizes = [at_run[i] if n is None else n for i, n in enumerate(shape.as_list())]
    axis = channels_axis + shape.ndims if channels_axis < 0 else channels_axis
    channels = dimension_value(shape[axis])
    if channels is None:
        raise ValueError("Inputs %s has undefined channel dimension: %d." % (inputs.name, axis))
    others = [a + shape.ndims if a < 0 else a for a in reduction_axes]
    for a in others:
        if a > shape.ndims:
            raise ValueError("Axis is out of bounds.")
        if dimension_value(shape[a]) is None:
            raise ValueError("Inputs %s has undefined dimensions %d." % (inputs.name, a))
        if axis == a:
            raise ValueError("reduction_axis must be mutually exclusive with channels_axis")
    if groups > channels:
        raise ValueError("Invalid groups %d for %d channels." % (groups, channels))
    if channels % groups != 0:
        raise ValueError("%d channels is not commensurate with %d groups." % (channels, groups))
    return sizes, axis, others
