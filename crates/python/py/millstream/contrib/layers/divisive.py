"""Generalized divisive normalization: channels divided by a root of a sum of their squares."""

from __future__ import annotations

from typing import Any, List, Optional

from millstream.framework import convert_to_tensor
from millstream.framework.op_functions import op
from millstream.layers.core import Layer
from millstream.ops import array_ops, linalg_ops, math_ops
from millstream.ops.custom_gradients import custom_gradient

__all__ = ["GDN", "gdn"]


def _at_least(x: Any, bound: float) -> Any:
    """Returns the maximum of `x` and a bound; gradients pass unless they lower a value that is too low."""

    def limited(x: Any) -> Any:
        def grad(g: Any) -> Any:
            passes = op("LogicalOr")(op("GreaterEqual")(x, math_ops.cast(bound, x.dtype)), op("Less")(g, math_ops.cast(0.0, g.dtype)))
            return math_ops.cast(passes, g.dtype) * g

        return op("Maximum")(x, math_ops.cast(bound, x.dtype)), grad

    return custom_gradient(limited)(convert_to_tensor(x))


class GDN(Layer):
    """A layer that divides each channel by `sqrt(beta[i] + sum(gamma[i, j] * x[j] ** 2))` (Balle et al.).

    Args:
      inverse: If true, it multiplies.
      beta_min: The smallest `beta`.
      gamma_init: The diagonal of `gamma` at first.
      reparam_offset: An offset of the variables, whose squares are the parameters.
      data_format: `"channels_last"` or `"channels_first"`.
      activity_regularizer: The regularizer of the outputs.
      trainable: If true, the variables are trained.
      name: The name of the layer.

    Raises:
      ValueError: `data_format` is another.

    Example:
      >>> layer = tf.contrib.layers.GDN(gamma_init=1.0)
      >>> y = layer(tf.constant([[[3.0, 0.0]]]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y).round(3).ravel())
      [0.949 0.   ]
    """

    def __init__(
        self,
        inverse: bool = False,
        beta_min: float = 1e-6,
        gamma_init: float = 0.1,
        reparam_offset: float = 2.0**-18,
        data_format: str = "channels_last",
        activity_regularizer: Any = None,
        trainable: bool = True,
        name: Optional[str] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        if data_format not in ("channels_first", "channels_last"):
            raise ValueError("Unsupported `data_format` for GDN layer: {}.".format(data_format))
        self.inverse, self.data_format = inverse, data_format
        self._beta_min, self._gamma_init, self._offset = beta_min, gamma_init, reparam_offset

    def build(self, input_shape: Any) -> None:
        """Creates the variables.

        Raises:
          ValueError: The rank is not 3 to 5, or the size of the channels is not known.
        """
        dims: List[Any] = input_shape.as_list()
        if not 3 <= len(dims) <= 5:
            raise ValueError("GDN normalizes inputs of rank 3 to 5: found rank %d" % len(dims))
        channels = dims[1 if self.data_format == "channels_first" else -1]
        if channels is None:
            raise ValueError("The channel dimension of the inputs to `GDN` must be defined.")
        pedestal = self._offset**2

        def beta(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            return op("Sqrt")(array_ops.ones(shape, dtype=dtype) + pedestal)

        def gamma(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            return op("Sqrt")(self._gamma_init * array_ops.eye(channels, dtype=dtype) + pedestal)

        low = _at_least(self.add_variable("reparam_beta", [channels], initializer=beta), (self._beta_min + pedestal) ** 0.5)
        self.beta = op("Square")(low) - pedestal
        low = _at_least(self.add_variable("reparam_gamma", [channels, channels], initializer=gamma), self._offset)
        self.gamma = op("Square")(low) - pedestal
        super().build(input_shape)

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """Returns the normalized inputs."""
        inputs = convert_to_tensor(inputs)
        first = self.data_format == "channels_first"
        rank = inputs.shape.ndims
        ahead = [0, *range(2, rank), 1]
        x = array_ops.transpose(inputs, ahead) if first else inputs
        pool = op("Sqrt")(linalg_ops.tensordot(op("Square")(x), self.gamma, 1) + self.beta)
        if first:
            pool = array_ops.transpose(pool, [0, rank - 1, *range(1, rank - 1)])
        outputs = inputs * pool if self.inverse else inputs / pool
        outputs.set_shape(inputs.get_shape())
        return outputs


def gdn(
    inputs: Any,
    inverse: bool = False,
    beta_min: float = 1e-6,
    gamma_init: float = 0.1,
    reparam_offset: float = 2.0**-18,
    data_format: str = "channels_last",
    activity_regularizer: Any = None,
    trainable: bool = True,
    name: Optional[str] = None,
    reuse: Optional[bool] = None,
) -> Any:
    """Returns inputs that are normalized by a `GDN` layer.

    Args:
      inputs: A tensor of rank 3 to 5.
      inverse: If true, it multiplies instead of dividing.
      beta_min: The smallest `beta`.
      gamma_init: The diagonal of `gamma` at first.
      reparam_offset: An offset of the variables, whose squares are the parameters.
      data_format: `"channels_last"` or `"channels_first"`.
      activity_regularizer: The regularizer of the outputs.
      trainable: If true, the variables are trained.
      name: The name of the layer.
      reuse: If true, the variables of the layer of that name are used.

    Example:
      >>> y = tf.contrib.layers.gdn(tf.ones([1, 2, 2, 1]), gamma_init=3.0)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y).round(3).ravel())
      [0.5 0.5 0.5 0.5]
    """
    layer = GDN(inverse, beta_min, gamma_init, reparam_offset, data_format, activity_regularizer, trainable, name, _scope=name, _reuse=reuse)
    return layer.apply(inputs)
