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

    A `scale` or `offset` of None is left out.
    """
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        x = convert_to_tensor(x)
        inverse = op("Rsqrt")(convert_to_tensor(variance, x.dtype) + variance_epsilon)
        if scale is not None:
            inverse = inverse * scale
        shift = -mean * inverse if offset is None else offset - mean * inverse
        return x * math_ops.cast(inverse, x.dtype) + math_ops.cast(shift, x.dtype)


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
    """As `batch_normalization` with offset `beta`, and with scale `gamma` if `scale_after_normalization`."""
    t, m, v = (renamed(a, b, c, d) for a, b, c, d in ((input, t, "input", "t"), (mean, m, "mean", "m"), (variance, v, "variance", "v")))
    return batch_normalization(t, m, v, beta, gamma if scale_after_normalization else None, variance_epsilon, name)


def crelu(features: Any, name: Optional[str] = None, axis: int = -1) -> Tensor:
    """Returns `relu(x)` and `relu(-x)`, concatenated along an axis."""
    with name_scope(name, "CRelu", [features]) as name:
        features = convert_to_tensor(features, name="features")
        return op("Relu")(array_ops.concat([features, -features], axis, name=name))


def swish(features: Any) -> Tensor:
    """Returns `x * sigmoid(x)`."""
    features = convert_to_tensor(features, name="features")
    return features * math_ops.sigmoid(features)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: Optional[str] = None) -> Tensor:
    """Returns `matmul(x, weights) + biases`."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as name:
        return op("BiasAdd")(math_ops.matmul(x, weights), biases, name=name)


def relu_layer(x: Any, weights: Any, biases: Any, name: Optional[str] = None) -> Tensor:
    """Returns `relu(matmul(x, weights) + biases)`."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as name:
        return op("Relu")(op("BiasAdd")(math_ops.matmul(x, weights), biases), name=name)


def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool = False, name: Optional[str] = None) -> Tensor:
    """Returns `exp(log_input) - log_input * targets`, the negative log likelihood of counts.

    The full loss adds Stirling's approximation for counts above 1.
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
    """Returns the sigmoid cross entropy with the positive term multiplied by `pos_weight`."""
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
    """Returns count, sum and sum of squares (both of `x - shift`) over axes, and the shift."""
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
    """Returns mean and variance, computed from the results of `sufficient_statistics`."""
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = op("Reciprocal")(convert_to_tensor(counts), name="divisor")
        shifted = op("Mul")(mean_ss, divisor, name="mean" if shift is None else "shifted_mean")
        mean = shifted if shift is None else op("Add")(shifted, shift, name="mean")
        return mean, op("Sub")(op("Mul")(variance_ss, divisor), op("Square")(shifted), name="variance")


def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, name: Optional[str] = None, keep_dims: Any = None, keepdims: Any = None
) -> Tuple[Tensor, Tensor]:
    """Returns mean and variance over axes, each element weighted by its frequency."""
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
    """Returns the sum of a regularization loss. In one process there is nothing to scale."""
    return reduction_ops.reduce_sum(regularization_loss)
