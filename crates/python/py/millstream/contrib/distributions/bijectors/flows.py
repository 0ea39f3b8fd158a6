"""Bijectors with networks: `RealNVP` and `MaskedAutoregressiveFlow`."""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

import numpy as np

from millstream.contrib.distributions.bijectors.base import Bijector
from millstream.framework import constant, name_scope, shapes
from millstream.framework.op_functions import op
from millstream.layers.core import Dense, dense
from millstream.ops import array_ops, clip_ops, control_flow, reduction_ops
from millstream.variables.initializers import glorot_normal_initializer
from millstream.variables.scopes import get_variable_scope, variable_scope
from millstream.variables.templates import make_template

_relu = op("Relu")


class RealNVP(Bijector):
    """A bijector of rows whose first elements stay, and shift and scale the others (Dinh and others, 2016).

    Args:
      num_masked: The number of elements that stay.
      shift_and_log_scale_fn: A function of the elements that stay and of the number of others, which returns
        the shift and the logarithm of the scale of those; either may be None.
      is_constant_jacobian: Whether the scale does not depend on the elements.
      validate_args: Ignored.
      name: The name scope of the operations.

    Raises:
      ValueError: `num_masked` is not positive, or not less than the number of elements.

    Example:
      >>> flow = tf.contrib.distributions.bijectors.RealNVP(1, lambda x, n: (tf.tile(x, [1, n]), None))
      >>> print(tf.Session().run(flow.forward([[1.0, 2.0, 3.0]])))
      [[1. 3. 4.]]
    """

    def __init__(
        self,
        num_masked: int,
        shift_and_log_scale_fn: Callable[..., Any],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        name: Optional[str] = None,
    ) -> None:
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked, self._function = num_masked, shift_and_log_scale_fn
        super().__init__(forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian, validate_args=validate_args, name=name or "real_nvp")

    def _parts(self, x: Any) -> Any:
        """Returns both parts of rows, and the shift and the logarithm of the scale of the second one."""
        depth = shapes.dimension_value(x.shape.with_rank_at_least(1)[-1])
        if depth is None:
            raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
        if self._num_masked >= depth:
            raise ValueError("Number of masked units must be smaller than the event size.")
        first, second = x[:, : self._num_masked], x[:, self._num_masked :]
        return (first, second, *self._function(first, depth - self._num_masked))

    def _forward(self, x: Any) -> Any:
        first, second, shift, log_scale = self._parts(x)
        second = second if log_scale is None else second * op("Exp")(log_scale)
        return array_ops.concat([first, second if shift is None else second + shift], -1)

    def _inverse(self, y: Any) -> Any:
        first, second, shift, log_scale = self._parts(y)
        second = second if shift is None else second - shift
        return array_ops.concat([first, second if log_scale is None else second * op("Exp")(-log_scale)], -1)

    def _log(self, x: Any) -> Any:
        log_scale = self._parts(x)[3]
        return constant(0.0, dtype=x.dtype) if log_scale is None else reduction_ops.reduce_sum(log_scale, -1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -self._log(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._log(x)


def real_nvp_default_template(
    hidden_layers: Sequence[int], shift_only: bool = False, activation: Any = _relu, name: Optional[str] = None, *args: Any, **kwargs: Any
) -> Any:
    """Returns a network for `RealNVP`, which has its variables once.

    Args:
      hidden_layers: The numbers of units of the layers.
      shift_only: Whether there is no scale.
      activation: The activation of the layers but the last.
      name: The name scope of the operations.
      *args: Other arguments of `tf.layers.dense`.
      **kwargs: Other arguments of `tf.layers.dense`.

    Returns:
      A function of a tensor and the number of outputs.

    Example:
      >>> network = tf.contrib.distributions.bijectors.real_nvp_default_template([8])
      >>> shift, log_scale = network(tf.ones([4, 1]), 2)
      >>> shift.shape, len(network.trainable_variables)
      (TensorShape([Dimension(4), Dimension(2)]), 4)
    """
    with name_scope(name, "real_nvp_default_template"):

        def network(x: Any, output_units: int) -> Any:
            for units in hidden_layers:
                x = dense(x, units, *args, activation=activation, **kwargs)  # type: ignore[misc]
            x = dense(x, (1 if shift_only else 2) * output_units, *args, activation=None, **kwargs)  # type: ignore[misc]
            return (x, None) if shift_only else tuple(array_ops.split(x, 2, axis=-1))

        return make_template("real_nvp_default_template", network)


class MaskedAutoregressiveFlow(Bijector):
    """A bijector of rows, of which each element is shifted and scaled by those before it.

    `inverse` computes the network once, `forward` once for each element (Papamakarios and others, 2017).

    Args:
      shift_and_log_scale_fn: A function of rows that returns shifts and logarithms of scales, each of the
        elements before it only; either may be None. See `masked_autoregressive_default_template`.
      is_constant_jacobian: Whether the scale does not depend on the elements.
      validate_args: Ignored.
      unroll_loop: Whether `forward` has a copy of the network for each element, instead of a loop.
      name: The name scope of the operations.

    Raises:
      ValueError: When called with `unroll_loop`: the number of elements is not known.

    Example:
      >>> tfb = tf.contrib.distributions.bijectors
      >>> flow = tfb.MaskedAutoregressiveFlow(tfb.masked_autoregressive_default_template([16]))
      >>> y = flow.forward(tf.ones([2, 3]))
      >>> y.shape, flow.inverse_log_det_jacobian(y, 1).shape
      (TensorShape([Dimension(2), Dimension(3)]), TensorShape([Dimension(2)]))
    """

    def __init__(
        self,
        shift_and_log_scale_fn: Callable[..., Any],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        unroll_loop: bool = False,
        name: Optional[str] = None,
    ) -> None:
        self._function, self._unroll_loop = shift_and_log_scale_fn, unroll_loop
        super().__init__(
            forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian, validate_args=validate_args, name=name or "masked_autoregressive_flow"
        )

    def _step(self, x: Any, known: Any) -> Any:
        shift, log_scale = self._function(known)
        y = x if log_scale is None else x * op("Exp")(log_scale)
        return y if shift is None else y + shift

    def _forward(self, x: Any) -> Any:
        size = shapes.dimension_value(x.shape.with_rank_at_least(1)[-1])
        if self._unroll_loop:
            if size is None:
                raise ValueError("The final dimension of `x` must be known at graph construction time if `unroll_loop=True`. `x.shape: %r`" % x.shape)
            y = array_ops.zeros_like(x, name="y0")
            for _ in range(size):
                y = self._step(x, y)
            return y
        n = array_ops.shape(x)[-1]
        start = array_ops.zeros_like(x, name="y0")
        self._function(start)  # The variables are made outside of the loop.

        def body(i: Any, y: Any) -> Any:
            with variable_scope(get_variable_scope()):
                return i + 1, self._step(x, y)

        return control_flow.while_loop(lambda i, _: i < n, body, [constant(0), start], maximum_iterations=size)[1]

    def _inverse(self, y: Any) -> Any:
        shift, log_scale = self._function(y)
        x = y if shift is None else y - shift
        return x if log_scale is None else x * op("Exp")(-log_scale)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        _, log_scale = self._function(y)
        return constant(0.0, dtype=y.dtype, name="ildj") if log_scale is None else -reduction_ops.reduce_sum(log_scale, -1)


def _mask(num_blocks: int, n_in: int, n_out: int, exclusive: bool, dtype: Any) -> Any:
    """Returns the mask of a kernel whose blocks of outputs see the blocks of inputs before them."""
    mask = np.zeros([n_in, n_out], dtype.as_numpy_dtype)
    wide, high = n_in // num_blocks, n_out // num_blocks
    for i in range(num_blocks):
        mask[i * wide : (i + 1) * wide, (i + exclusive) * high :] = 1
    return mask


def masked_dense(
    inputs: Any,
    units: int,
    num_blocks: Optional[int] = None,
    exclusive: bool = False,
    kernel_initializer: Any = None,
    reuse: Any = None,
    name: Optional[str] = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Returns a dense layer whose outputs depend on the inputs in their blocks and in those before.

    Args:
      inputs: A tensor whose last dimension is known.
      units: The number of outputs.
      num_blocks: The number of blocks of inputs and of outputs.
      exclusive: Whether outputs do not depend on the inputs in their own blocks.
      kernel_initializer: The initializer of the kernel, of which a part is then masked.
      reuse: As in `tf.variable_scope`.
      name: The layer's name.
      *args: Other arguments of `tf.layers.Dense`.
      **kwargs: Other arguments of `tf.layers.Dense`.

    Returns:
      A tensor.

    Raises:
      NotImplementedError: The last dimension is not known.

    Example:
      >>> y = tf.contrib.distributions.bijectors.masked_dense(
      ...     [[1.0, 10.0]], 2, num_blocks=2, kernel_initializer=tf.ones_initializer())
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y))
      [[ 1. 11.]]
    """
    depth = shapes.dimension_value(array_ops.identity(inputs).shape.with_rank_at_least(1)[-1])
    if depth is None:
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
    inputs = array_ops.identity(inputs)
    mask = _mask(num_blocks or 1, depth, units, exclusive, inputs.dtype.base_dtype)
    first = glorot_normal_initializer() if kernel_initializer is None else kernel_initializer

    def masked(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return mask * first(shape, dtype, partition_info)

    with name_scope(name, "masked_dense", [inputs, units, num_blocks]):
        layer = Dense(  # type: ignore[misc]
            units, *args, kernel_initializer=masked, kernel_constraint=lambda x: mask * x, name=name, dtype=inputs.dtype.base_dtype, _scope=name, _reuse=reuse, **kwargs
        )
        return layer(inputs)


def masked_autoregressive_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Any = _relu,
    log_scale_min_clip: Any = -5.0,
    log_scale_max_clip: Any = 3.0,
    log_scale_clip_gradient: bool = False,
    name: Optional[str] = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Returns a network for `MaskedAutoregressiveFlow`, which has its variables once.

    Args:
      hidden_layers: The numbers of units of the layers, each not less than the number of elements.
      shift_only: Whether there is no scale.
      activation: The activation of the layers but the last.
      log_scale_min_clip: The least logarithm of a scale.
      log_scale_max_clip: The greatest logarithm of a scale.
      log_scale_clip_gradient: Whether no gradient flows where the logarithm is clipped.
      name: The name scope of the operations.
      *args: Other arguments of `masked_dense`.
      **kwargs: Other arguments of `masked_dense`.

    Returns:
      A function of a tensor.

    Raises:
      NotImplementedError: When called: the number of elements is not known.

    Example:
      >>> network = tf.contrib.distributions.bijectors.masked_autoregressive_default_template([8], shift_only=True)
      >>> shift, log_scale = network(tf.ones([4, 2]))
      >>> shift.shape, log_scale
      (TensorShape([Dimension(4), Dimension(2)]), None)
    """
    name = name or "masked_autoregressive_default_template"
    with name_scope(name, values=[log_scale_min_clip, log_scale_max_clip]):

        def network(x: Any) -> Any:
            depth = shapes.dimension_value(x.shape.with_rank_at_least(1)[-1])
            if depth is None:
                raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
            shape = np.array(x.shape.as_list(), np.int32) if x.shape.is_fully_defined() else array_ops.shape(x)
            for i, units in enumerate(hidden_layers):
                x = masked_dense(x, units, depth, i == 0, *args, activation=activation, **kwargs)
            x = masked_dense(x, (1 if shift_only else 2) * depth, depth, *args, activation=None, **kwargs)
            if shift_only:
                return array_ops.reshape(x, shape), None
            x = array_ops.reshape(x, array_ops.concat([shape, [2]], 0))
            shift, log_scale = array_ops.unstack(x, num=2, axis=-1)
            clipped = clip_ops.clip_by_value(log_scale, log_scale_min_clip, log_scale_max_clip)
            if not log_scale_clip_gradient:
                clipped = log_scale + op("StopGradient")(clipped - log_scale)
            return shift, clipped

        return make_template(name, network)
