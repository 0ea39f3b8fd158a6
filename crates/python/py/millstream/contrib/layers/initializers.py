"""Initializers whose variance depends on the number of inputs and outputs of a unit."""

from __future__ import annotations

import math
from typing import Any, Callable, Optional

from millstream.framework import dtypes
from millstream.ops import random_ops

__all__ = ["variance_scaling_initializer", "xavier_initializer", "xavier_initializer_conv2d"]


def xavier_initializer(uniform: bool = True, seed: Optional[int] = None, dtype: Any = dtypes.float32) -> Callable[..., Any]:
    """Returns Glorot's initializer: `variance_scaling_initializer(1.0, "FAN_AVG")`.

    Args:
      uniform: If true, numbers are uniformly distributed, otherwise normally.
      seed: A seed; see `tf.set_random_seed`.
      dtype: The dtype of results, unless the call names another.

    Returns:
      A function of a shape.

    Example:
      >>> x = tf.Session().run(tf.contrib.layers.xavier_initializer(seed=1)([3, 3]))
      >>> print(abs(x).max() <= 1.0)  # sqrt(6 / (3 + 3))
      True
    """
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer


def variance_scaling_initializer(
    factor: float = 2.0, mode: str = "FAN_IN", uniform: bool = False, seed: Optional[int] = None, dtype: Any = dtypes.float32
) -> Callable[..., Any]:
    """Returns an initializer of random numbers with the variance `factor / n`.

    Args:
      factor: The factor of the variance.
      mode: What n is: the number of inputs of a unit (`"FAN_IN"`), that of its outputs (`"FAN_OUT"`), or
        their mean (`"FAN_AVG"`).
      uniform: If true, numbers are uniformly distributed, otherwise normally, within two standard deviations.
      seed: A seed; see `tf.set_random_seed`.
      dtype: The dtype of results, unless the call names another.

    Returns:
      A function of a shape.

    Raises:
      TypeError: The dtype is not floating, or the mode is none of these.

    Example:
      >>> init = tf.contrib.layers.variance_scaling_initializer(uniform=True, seed=1)
      >>> print(abs(tf.Session().run(init([6, 100]))).max() <= 1.0)  # sqrt(3 * factor / 6)
      True
    """
    _check_floating(dtype)
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError("Unknown mode %s [FAN_IN, FAN_OUT, FAN_AVG]", mode)

    def initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Any:
        _check_floating(dtype)
        dims = [float(d) for d in shape] or [1.0]
        field = math.prod(dims[:-2])
        fan_in, fan_out = (dims[-2] if 1 < len(dims) else dims[-1]) * field, dims[-1] * field
        n = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2.0}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return random_ops.random_uniform(shape, -limit, limit, dtype, seed=seed)
        # The factor corrects the variance for the truncation, as TensorFlow's does: roughly.
        return random_ops.truncated_normal(shape, 0.0, math.sqrt(1.3 * factor / n), dtype, seed=seed)

    return initializer


def _check_floating(dtype: Any) -> None:
    if not dtype.is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
