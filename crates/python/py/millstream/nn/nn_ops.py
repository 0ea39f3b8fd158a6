"""More of `tf.nn`: normalization, moments, and losses made of several ops."""

from __future__ import annotations

import math
from typing import Any, Optional, Tuple

from millstream._engine import Tensor
from millstream.framework import constant, convert_to_tensor, dtypes, name_scope
from millstream.framework.deprecation import renamed
from millstream.framework.op_functions import op
from millstream.ops import array_ops, indexing_ops, math_ops, reduction_ops

__all__ = [
    "batch_norm_with_global_normalization",
    "batch_normalization",
    "crelu",
    "fused_batch_norm",
    "log_poisson_loss",
    "normalize_moments",
    "relu_layer",
    "scale_regularization_loss",
    "sufficient_statistics",
    "swish",
    "weighted_cross_entropy_with_logits",
    "weighted_moments",
    "xw_plus_b",
]


def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any, name: Optional[str] = None) -> Tensor:
    """Returns `scale * (x - mean) / sqrt(variance + variance_epsilon) + offset`.

    Args:
      x: A tensor of floats.
      mean: A tensor that broadcasts to `x`.
      variance: A tensor that broadcasts to `x`.
      offset: A tensor that broadcasts to `x`, or None for none.
      scale: A tensor that broadcasts to `x`, or None for none.
      variance_epsilon: A small number, so that no variance is zero.
      name: The name of the scope.

    Returns:
      A tensor of the shape and dtype of `x`.

    Example:
      >>> print(tf.Session().run(tf.nn.batch_normalization(tf.constant([1.0, 3.0]), 2.0, 1.0, 10.0, None, 0.0)))
      [ 9. 11.]
    """
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        x = convert_to_tensor(x)
        mean, variance, offset, scale = (
            convert_to_tensor(v, x.dtype) if isinstance(v, (list, tuple)) else v for v in (mean, variance, offset, scale)
        )
        # A variance that is a number becomes float32, whatever the dtype of `x`.
        inverse = op("Rsqrt")(variance + variance_epsilon)
        if scale is not None:
            inverse = inverse * scale
        scaled = x * math_ops.cast(inverse, x.dtype)
        shift = -mean * inverse if offset is None else offset - mean * inverse
        return scaled + math_ops.cast(shift, x.dtype)


def fused_batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: Optional[str] = None,
) -> Tuple[Tensor, Tensor, Tensor]:
    """Normalizes each channel of images by the mean and variance of the batch, or by given ones.

    Args:
      x: A tensor of floats, `[batch, rows, columns, channels]`, or `[batch, channels, rows, columns]` for
        NCHW.
      scale: A `float32` vector with a factor for each channel.
      offset: A `float32` vector with a term for each channel.
      mean: The mean of each channel; None if `is_training`.
      variance: The variance of each channel; None if `is_training`.
      epsilon: A constant added to the variance, at least 1.001e-5.
      data_format: `"NHWC"` or `"NCHW"`.
      is_training: If true, the statistics are those of the batch.
      name: A name for the operation.

    Returns:
      The normalized images, the mean, and the variance without bias (that is, divided by the count less one).

    Raises:
      ValueError: `mean` or `variance` is given although `is_training`, or shapes do not fit.

    Example:
      >>> y, mean, variance = tf.nn.fused_batch_norm([[[[1.0], [3.0]]]], [1.0], [0.0])
      >>> print(tf.Session().run(y).round(2).ravel(), tf.Session().run([mean, variance]))
      [-1.  1.] [array([2.], dtype=float32), array([2.], dtype=float32)]
    """
    x = convert_to_tensor(x, name="input")
    scale, offset = convert_to_tensor(scale, name="scale"), convert_to_tensor(offset, name="offset")
    if is_training and (mean is not None or variance is not None):
        raise ValueError("Both 'mean' and 'variance' must be None if is_training is True.")
    mean = constant([], dtypes.float32) if mean is None else mean
    variance = constant([], dtypes.float32) if variance is None else variance
    outputs = op("FusedBatchNormV3")(
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=max(epsilon, 1.001e-5),
        data_format=data_format,
        is_training=is_training,
        name=name,
    )
    return outputs[0], outputs[1], outputs[2]


def batch_norm_with_global_normalization(
    t: Any = None,
    m: Any = None,
    v: Any = None,
    beta: Any = None,
    gamma: Any = None,
    variance_epsilon: Any = None,
    scale_after_normalization: Any = None,
    name: Optional[str] = None,
    input: Any = None,  # noqa: A002
    mean: Any = None,
    variance: Any = None,
) -> Tensor:
    """As `batch_normalization` with offset `beta`, and with scale `gamma` if `scale_after_normalization`.

    Args:
      t: A tensor whose last axis is that of the moments.
      m: The mean.
      v: The variance.
      beta: The offset.
      gamma: The scale.
      variance_epsilon: A small number that is added to the variance.
      scale_after_normalization: Whether `gamma` is used.
      name: The name of the scope.
      input: Another name of `t`.
      mean: Another name of `m`.
      variance: Another name of `v`.

    Returns:
      A tensor of the shape and dtype of `t`.

    Raises:
      ValueError: An argument is given under both of its names.

    Example:
      >>> y = tf.nn.batch_norm_with_global_normalization(tf.constant([[3.0]]), [1.0], [4.0], [0.5], [2.0], 0.0, True)
      >>> print(tf.Session().run(y))
      [[2.5]]
    """
    t, m, v = (renamed(a, b, c, d) for a, b, c, d in ((input, t, "input", "t"), (mean, m, "mean", "m"), (variance, v, "variance", "v")))
    return batch_normalization(t, m, v, beta, gamma if scale_after_normalization else None, variance_epsilon, name)


def crelu(features: Any, name: Optional[str] = None, axis: int = -1) -> Tensor:
    """Returns `relu(x)` and `relu(-x)`, concatenated along an axis.

    Args:
      features: A tensor.
      name: The name of the operation.
      axis: The axis, which becomes twice as long.

    Returns:
      A tensor of the dtype of `features`.

    Example:
      >>> print(tf.Session().run(tf.nn.crelu([1.0, -2.0])))
      [1. 0. 0. 2.]
    """
    with name_scope(name, "CRelu", [features]) as name:
        features = convert_to_tensor(features, name="features")
        return op("Relu")(array_ops.concat([features, -features], axis, name=name))


def swish(features: Any) -> Tensor:
    """Returns `x * sigmoid(x)`.

    Args:
      features: A tensor of floats.

    Example:
      >>> print(tf.Session().run(tf.nn.swish(0.0)))
      0.0
    """
    features = convert_to_tensor(features, name="features")
    return features * math_ops.sigmoid(features)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: Optional[str] = None) -> Tensor:
    """Returns `matmul(x, weights) + biases`.

    Args:
      x: A matrix.
      weights: A matrix of the same dtype.
      biases: A vector, one for each column of `weights`.
      name: The name of the operation.

    Returns:
      A matrix.

    Example:
      >>> print(tf.Session().run(tf.nn.xw_plus_b([[2.0]], [[1.0, 3.0]], [-3.0, 3.0])))
      [[-1.  9.]]
    """
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as name:
        return op("BiasAdd")(math_ops.matmul(x, weights), biases, name=name)


def relu_layer(x: Any, weights: Any, biases: Any, name: Optional[str] = None) -> Tensor:
    """Returns `relu(matmul(x, weights) + biases)`.

    Args:
      x: A matrix.
      weights: A matrix of the same dtype.
      biases: A vector, one for each column of `weights`.
      name: The name of the operation.

    Returns:
      A matrix.

    Example:
      >>> print(tf.Session().run(tf.nn.relu_layer([[2.0]], [[1.0, 3.0]], [-3.0, 3.0])))
      [[0. 9.]]
    """
    with name_scope(name, "relu_layer", [x, weights, biases]) as name:
        return op("Relu")(op("BiasAdd")(math_ops.matmul(x, weights), biases), name=name)


def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool = False, name: Optional[str] = None) -> Tensor:
    """Returns `exp(log_input) - log_input * targets`, the negative log likelihood of counts.

    Args:
      targets: The counts, floats.
      log_input: The logarithms of the expected counts, of the same shape and dtype.
      compute_full_loss: Whether Stirling's approximation is added for counts above 1.
      name: The name of the scope.

    Returns:
      A tensor of the shape and dtype of `log_input`.

    Raises:
      ValueError: The shapes differ.

    Example:
      >>> print(tf.Session().run(tf.nn.log_poisson_loss([2.0], [0.0])))
      [1.]
    """
    with name_scope(name, "log_poisson_loss", [log_input, targets]) as name:
        log_input, targets = convert_to_tensor(log_input, name="log_input"), convert_to_tensor(targets, name="targets")
        try:
            targets.shape.merge_with(log_input.shape)
        except ValueError:
            raise ValueError("log_input and targets must have the same shape (%s vs %s)" % (log_input.shape, targets.shape)) from None
        result = op("Exp")(log_input) - log_input * targets
        if compute_full_loss:
            stirling = targets * op("Log")(targets) - targets + convert_to_tensor(0.5, targets.dtype) * op("Log")(convert_to_tensor(2 * math.pi, targets.dtype) * targets)
            small = op("LogicalAnd")(targets >= convert_to_tensor(0, targets.dtype), targets <= convert_to_tensor(1, targets.dtype))
            result = result + array_ops.where(small, array_ops.zeros_like(targets), stirling)
        return result


def weighted_cross_entropy_with_logits(labels: Any = None, logits: Any = None, pos_weight: Any = None, name: Optional[str] = None, targets: Any = None) -> Tensor:
    """Returns the sigmoid cross entropy with the positive term multiplied by `pos_weight`.

    Args:
      labels: A tensor of floats from 0 to 1.
      logits: A tensor of the same shape and dtype.
      pos_weight: The weight of positive examples.
      name: The name of the operation.
      targets: The older name of `labels`.

    Returns:
      A tensor of the shape of `logits`.

    Raises:
      ValueError: The shapes differ, or `labels` are given under both of their names.

    Example:
      >>> print(tf.Session().run(tf.nn.weighted_cross_entropy_with_logits([1.0, 0.0], [0.0, 0.0], 3.0)).round(2))
      [2.08 0.69]
    """
    labels = renamed(labels, targets, "labels", "targets")
    with name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits, labels = convert_to_tensor(logits, name="logits"), convert_to_tensor(labels, name="labels")
        try:
            labels.shape.merge_with(logits.shape)
        except ValueError:
            raise ValueError("logits and labels must have the same shape (%s vs %s)" % (logits.shape, labels.shape)) from None
        weight = 1 + (pos_weight - 1) * labels
        # log(1 + exp(-logits)) without overflow.
        rest = op("Log1p")(op("Exp")(-math_ops.abs(logits))) + op("Relu")(-logits)
        return op("AddV2")((1 - labels) * logits, weight * rest, name=name)


def sufficient_statistics(x: Any, axes: Any, shift: Any = None, keep_dims: Any = None, name: Optional[str] = None, keepdims: Any = None) -> Tuple[Any, ...]:
    """Returns count, sum and sum of squares (both of `x - shift`) over axes, and the shift.

    Args:
      x: A tensor.
      axes: The axes, a list of ints.
      shift: A number near the mean, for accuracy, or None.
      keep_dims: The older name of `keepdims`.
      name: The name of the scope.
      keepdims: Whether the axes stay, with size 1.

    Returns:
      Three tensors, and `shift` as a tensor or None.

    Raises:
      ValueError: `keepdims` is given under both of its names.

    Example:
      >>> print(*tf.Session().run(tf.nn.sufficient_statistics(tf.constant([1.0, 3.0]), [0])[:3]))
      2.0 4.0 10.0
    """
    keep = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
    axes = list(dict.fromkeys(axes))
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        known = x.shape.as_list() if x.shape.ndims is not None else None
        if known is not None and all(known[d] is not None for d in axes):
            count = convert_to_tensor(float(math.prod(known[d] for d in axes)), x.dtype, "count")
        else:
            count = reduction_ops.reduce_prod(math_ops.cast(indexing_ops.gather(array_ops.shape(x), axes), x.dtype), name="count")
        if shift is None:
            first, second = x, op("Square")(x)
        else:
            shift = convert_to_tensor(shift, x.dtype, "shift")
            first, second = op("Sub")(x, shift), op("SquaredDifference")(x, shift)
        sums = reduction_ops.reduce_sum(first, axes, keepdims=keep, name="mean_ss")
        return count, sums, reduction_ops.reduce_sum(second, axes, keepdims=keep, name="var_ss"), shift


def normalize_moments(counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: Optional[str] = None) -> Tuple[Tensor, Tensor]:
    """Returns mean and variance, computed from the results of `sufficient_statistics`.

    Args:
      counts: The number of values.
      mean_ss: The sum of the shifted values.
      variance_ss: The sum of their squares.
      shift: The shift, or None.
      name: The name of the scope.

    Returns:
      Two tensors of the shape of `mean_ss`.

    Example:
      >>> sums = tf.nn.sufficient_statistics(tf.constant([1.0, 3.0]), [0])
      >>> print(*tf.Session().run(tf.nn.normalize_moments(*sums)))
      2.0 1.0
    """
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = op("Reciprocal")(convert_to_tensor(counts), name="divisor")
        shifted = op("Mul")(mean_ss, divisor, name="mean" if shift is None else "shifted_mean")
        mean = shifted if shift is None else op("Add")(shifted, shift, name="mean")
        return mean, op("Sub")(op("Mul")(variance_ss, divisor), op("Square")(shifted), name="variance")


def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, name: Optional[str] = None, keep_dims: Any = None, keepdims: Any = None
) -> Tuple[Tensor, Tensor]:
    """Returns mean and variance over axes, each element weighted by its frequency.

    Args:
      x: A tensor of floats.
      axes: The axes, a list of ints.
      frequency_weights: A tensor that broadcasts to `x`.
      name: The name of the scope.
      keep_dims: The older name of `keepdims`.
      keepdims: Whether the axes stay, with size 1.

    Returns:
      Two tensors of the dtype of `x`.

    Raises:
      ValueError: `keepdims` is given under both of its names.

    Example:
      >>> print(*tf.Session().run(tf.nn.weighted_moments(tf.constant([1.0, 5.0]), [0], [3.0, 1.0])))
      2.0 3.0
    """
    keep = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, name="frequency_weights")
        half = x.dtype == dtypes.float16
        if half:
            x = math_ops.cast(x, dtypes.float32)
        weights = math_ops.cast(weights, x.dtype)
        total = reduction_ops.reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        # Weights of fewer dimensions are broadcast, and count for each element.
        count = reduction_ops.reduce_sum(weights + array_ops.zeros_like(x), axes, name="sum_of_weights", keepdims=True)
        inverse = op("Reciprocal")(count, name="divisor")
        mean = op("Mul")(total, inverse, name="weighted_mean")
        spread = reduction_ops.reduce_sum(weights * op("SquaredDifference")(x, mean), axes, name="weighted_distsq", keepdims=True)
        variance = op("Mul")(spread, inverse, name="weighted_variance")
        if not keep:
            mean, variance = array_ops.squeeze(mean, axes), array_ops.squeeze(variance, axes)
        if half:
            mean, variance = math_ops.cast(mean, dtypes.float16), math_ops.cast(variance, dtypes.float16)
        return mean, variance


def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """Returns the sum of a regularization loss. In one process there is nothing to scale.

    Args:
      regularization_loss: A tensor.

    Example:
      >>> print(tf.Session().run(tf.nn.scale_regularization_loss([1.0, 2.0])))
      3.0
    """
    return reduction_ops.reduce_sum(regularization_loss)
