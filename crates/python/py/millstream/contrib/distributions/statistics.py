"""Statistics of samples, moving moments, and posteriors: functions of `tf.contrib.distributions`."""

from __future__ import annotations

import hashlib
from typing import Any, Optional, Tuple

import numpy as np

from millstream.distributions.continuous import Normal
from millstream.framework import colocate_with, convert_to_tensor, dtypes, get_static_value, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops, math_ops, reduction_ops
from millstream.variables import state_ops
from millstream.variables.initializers import zeros_initializer
from millstream.variables.scopes import get_variable, variable_scope

__all__ = [
    "SeedStream",
    "assign_log_moving_mean_exp",
    "assign_moving_mean_variance",
    "auto_correlation",
    "moving_mean_variance",
    "normal_conjugates_known_scale_posterior",
    "normal_conjugates_known_scale_predictive",
    "percentile",
]


class SeedStream:
    """A stream of seeds that are made of one seed and a word.

    Args:
      seed: An int, None, or another stream, whose first seed is taken.
      salt: The word: streams of one seed and other words differ.

    Example:
      >>> stream = tf.contrib.distributions.SeedStream(seed=42, salt="here")
      >>> first, second = stream(), stream()
      >>> first == second, stream.original_seed, stream.salt, tf.contrib.distributions.SeedStream(None, "here")()
      (False, 42, 'here', None)
    """

    def __init__(self, seed: Any, salt: str) -> None:
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt, self._counter = salt, 0

    original_seed = property(lambda self: self._seed, doc="The seed.")
    salt = property(lambda self: self._salt, doc="The word.")

    def __call__(self) -> Optional[int]:
        """Returns the next seed; None if the stream's is None."""
        self._counter += 1
        if self._seed is None:
            return None
        text = str((self._seed, self._counter, self._salt)).encode()
        # All of it, as in TensorFlow: ops take the seed's last bits.
        return int(hashlib.sha512(text).hexdigest(), 16)


def percentile(
    x: Any, q: Any, axis: Any = None, interpolation: Optional[str] = None, keep_dims: bool = False, validate_args: bool = False, name: Optional[str] = None
) -> Any:
    """Returns the element of `x` of which `q` percent of the others are below.

    Args:
      x: A tensor of numbers.
      q: A number from 0 to 100, as a scalar.
      axis: An axis or a list of axes to reduce; None for all.
      interpolation: `"nearest"` (the default), `"lower"` or `"higher"`: what is taken between two elements.
      keep_dims: If true, the reduced axes have size 1.
      validate_args: Ignored.
      name: The name scope of the operations.

    Raises:
      ValueError: There is no such interpolation.

    Example:
      >>> print(*tf.Session().run([tf.contrib.distributions.percentile([1.0, 5.0, 2.0, 4.0], q) for q in (30.0, 100.0)]))
      2.0 5.0
    """
    interpolation = "nearest" if interpolation is None else interpolation
    allowed = {"lower", "higher", "nearest"}
    if interpolation not in allowed:
        raise ValueError("Argument 'interpolation' must be in %s.  Found %s" % (allowed, interpolation))
    with name_scope(name, "percentile", [x, q]):
        x = convert_to_tensor(x, name="x")
        q = convert_to_tensor(q, dtypes.float64, "q")
        if q.get_shape().ndims:
            raise ValueError("Expected argument 'x' to have ndims 0.  Found tensor %s" % q)
        rank = x.get_shape().ndims
        if axis is None or rank is None:
            y, axes = array_ops.reshape(x, [-1]), list(range(rank or 0))
        else:
            known = np.ravel(get_static_value(convert_to_tensor(axis, dtypes.int32)))
            axes = sorted({int(i) % rank for i in known})
            rest = [i for i in range(rank) if i not in axes]
            y = array_ops.transpose(x, rest + axes)
            y = array_ops.reshape(y, array_ops.concat([array_ops.shape(y)[: len(rest)], [-1]], 0))
        count = array_ops.shape(y)[-1]
        ordered = op("TopKV2")(y, count)[0]
        place = (1.0 - q / 100.0) * math_ops.cast(count - 1, dtypes.float64)
        rounded = {"lower": "Ceil", "higher": "Floor", "nearest": "Round"}[interpolation]
        index = op("ClipByValue")(math_ops.cast(op(rounded)(place), dtypes.int32), 0, count - 1)
        result = array_ops.squeeze(op("GatherV2")(ordered, array_ops.reshape(index, [1]), -1), -1)
        if keep_dims:
            for i in axes:
                result = array_ops.expand_dims(result, i)
        return result


def auto_correlation(x: Any, axis: int = -1, max_lags: Any = None, center: bool = True, normalize: bool = True, name: str = "auto_correlation") -> Any:
    """Returns the correlation of a series with itself, later by 0, 1, .. steps.

    Args:
      x: A tensor of floats.
      axis: The axis of time.
      max_lags: The largest number of steps; by default the longest that there is.
      center: If true, the mean is subtracted first.
      normalize: If true, values are divided by the first one, which is the variance.
      name: The name scope of the operations.

    Returns:
      A tensor like `x`, with a value for each number of steps along `axis`.

    Example:
      >>> print(tf.Session().run(tf.contrib.distributions.auto_correlation([1.0, 2.0, 1.0, 2.0])).round(2))
      [ 1. -1.  1. -1.]
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        rank = x.get_shape().ndims
        axis %= rank
        order = [i for i in range(rank) if i != axis] + [axis]
        x = array_ops.transpose(x, order)
        count = array_ops.shape(x)[-1]
        if center:
            x = x - reduction_ops.reduce_mean(x, axis=-1, keepdims=True)
        # Twice the length: the transform takes the series for a ring.
        length = 2 * count
        padded = array_ops.concat([math_ops.cast(x, dtypes.float32), array_ops.zeros(array_ops.shape(x), dtypes.float32)], -1)
        spectrum = op("RFFT")(padded, array_ops.reshape(length, [1]))
        power = math_ops.cast(op("Square")(op("ComplexAbs")(spectrum)), dtypes.complex64)
        sums = math_ops.cast(op("IRFFT")(power, array_ops.reshape(length, [1])), x.dtype)
        lags = count - 1 if max_lags is None else op("Minimum")(convert_to_tensor(max_lags), count - 1)
        sums = sums[..., : lags + 1]
        result = sums / math_ops.cast(count - math_ops.range(lags + 1), x.dtype)
        if normalize:
            result = result / result[..., :1]
        if max_lags is None:
            result.set_shape(x.get_shape())
        return array_ops.transpose(result, list(np.argsort(order)))


def assign_moving_mean_variance(mean_var: Any, variance_var: Any, value: Any, decay: Any, name: Optional[str] = None) -> Tuple[Any, Any]:
    """Updates a mean and a variance that forget exponentially.

    Args:
      mean_var: The variable of the mean.
      variance_var: The variable of the variance.
      value: The next value.
      decay: The factor of the former ones, near to 1.
      name: The name scope of the operations.

    Returns:
      The updated mean and variance.

    Raises:
      TypeError: The variable of the mean is not of floats.

    Example:
      >>> mean, variance = tf.Variable(0.0), tf.Variable(1.0)
      >>> update = tf.contrib.distributions.assign_moving_mean_variance(mean, variance, 3.0, 0.5)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(*sess.run(update))
      1.5 2.75
    """
    with name_scope(name, "assign_moving_mean_variance", [mean_var, variance_var, value, decay]):
        dtype = mean_var.dtype.base_dtype
        if not dtype.is_floating:
            raise TypeError("mean_var.base_dtype({}) does not have float type `dtype`.".format(dtype.name))
        value = convert_to_tensor(value, dtype, "value")
        decay = convert_to_tensor(decay, dtype, "decay")
        delta = value - mean_var
        # Both are computed before either variable changes.
        with colocate_with(mean_var.op if hasattr(mean_var, "op") else mean_var):
            mean = state_ops.assign_add(mean_var, (1.0 - decay) * delta)
        with colocate_with(variance_var.op if hasattr(variance_var, "op") else variance_var):
            variance = state_ops.assign_sub(variance_var, (1.0 - decay) * (variance_var - decay * op("Square")(delta)))
        return mean, variance


def assign_log_moving_mean_exp(log_mean_exp_var: Any, log_value: Any, decay: Any, name: Optional[str] = None) -> Any:
    """Updates the logarithm of a mean of exponentials that forgets exponentially.

    Args:
      log_mean_exp_var: The variable.
      log_value: The logarithm of the next value.
      decay: The factor of the former ones, near to 1.
      name: The name scope of the operations.

    Returns:
      The updated logarithm.

    Raises:
      TypeError: The variable is not of floats.

    Example:
      >>> log_mean = tf.Variable(0.0)
      >>> update = tf.contrib.distributions.assign_log_moving_mean_exp(log_mean, np.log(3.0), 0.5)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(update).round(4))
      0.6931
    """
    with name_scope(name, "assign_log_moving_mean_exp", [log_mean_exp_var, log_value, decay]):
        dtype = log_mean_exp_var.dtype.base_dtype
        if not dtype.is_floating:
            raise TypeError("log_mean_exp_var.base_dtype({}) does not have float type `dtype`.".format(dtype.name))
        log_value = convert_to_tensor(log_value, dtype, "log_value")
        decay = convert_to_tensor(decay, dtype, "decay")
        delta = (log_value - log_mean_exp_var)[..., None]
        x = array_ops.concat([op("Log")(decay) * array_ops.ones_like(delta), delta + op("Log1p")(-decay)], -1)
        return state_ops.assign_add(log_mean_exp_var, reduction_ops.reduce_logsumexp(x, axis=-1))


def moving_mean_variance(value: Any, decay: Any, collections: Any = None, name: Optional[str] = None) -> Tuple[Any, Any]:
    """Makes variables of the mean and the variance of values that forget exponentially, and updates them.

    Args:
      value: The next value, of known shape.
      decay: The factor of the former ones, near to 1.
      collections: The collections of the variables.
      name: The variable scope.

    Returns:
      The updated mean and variance.

    Raises:
      TypeError: The value is not of floats.

    Example:
      >>> update = tf.contrib.distributions.moving_mean_variance(tf.constant(3.0), 0.5)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(update[0]))
      1.5
    """
    with variable_scope(name, "moving_mean_variance", [value, decay]):
        value = convert_to_tensor(value, name="value")
        dtype = value.dtype.base_dtype
        if not dtype.is_floating:
            raise TypeError("value.base_dtype({}) does not have float type `dtype`.".format(dtype.name))
        variance, mean = (
            get_variable(word, value.get_shape(), dtype, zeros_initializer(), trainable=False, collections=collections)
            for word in ("moving_variance", "moving_mean")
        )
        return assign_moving_mean_variance(mean, variance, value, decay)


def _posterior(prior: Any, scale: Any, s: Any, n: Any) -> Tuple[Any, Any]:
    if not isinstance(prior, Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    if s.dtype != prior.dtype:
        raise TypeError("Observation sum s.dtype does not match prior dtype: %s vs. %s" % (s.dtype, prior.dtype))
    n = math_ops.cast(n, prior.dtype)
    before, each = op("Square")(prior.scale), op("Square")(scale)
    variance = 1.0 / (1 / before + n / each)
    return (prior.loc / before + s / each) * variance, variance


def normal_conjugates_known_scale_posterior(prior: Any, scale: Any, s: Any, n: Any) -> Normal:
    """Returns the posterior of the mean of normal values of known scale.

    Args:
      prior: The prior of the mean, a `Normal`.
      scale: The standard deviation of the values, a tensor.
      s: The sum of the values, a tensor.
      n: The number of values.

    Raises:
      TypeError: The prior is no `Normal`, or has another dtype.

    Example:
      >>> tfd = tf.contrib.distributions
      >>> d = tfd.normal_conjugates_known_scale_posterior(tfd.Normal(0.0, 1.0), tf.constant(1.0), tf.constant(3.0), 2)
      >>> print(*tf.Session().run([d.mean(), d.variance()]))
      1.0 0.3333333
    """
    loc, variance = _posterior(prior, scale, s, n)
    return Normal(loc=loc, scale=op("Sqrt")(variance))


def normal_conjugates_known_scale_predictive(prior: Any, scale: Any, s: Any, n: Any) -> Normal:
    """Returns the distribution of the next normal value of known scale.

    Args:
      prior: The prior of the mean, a `Normal`.
      scale: The standard deviation of the values, a tensor.
      s: The sum of the values, a tensor.
      n: The number of values.

    Raises:
      TypeError: The prior is no `Normal`, or has another dtype.

    Example:
      >>> tfd = tf.contrib.distributions
      >>> d = tfd.normal_conjugates_known_scale_predictive(tfd.Normal(0.0, 1.0), tf.constant(1.0), tf.constant(3.0), 2)
      >>> print(*tf.Session().run([d.mean(), d.variance()]))
      1.0 1.3333333
    """
    loc, variance = _posterior(prior, scale, s, n)
    return Normal(loc=loc, scale=op("Sqrt")(variance + op("Square")(scale)))
