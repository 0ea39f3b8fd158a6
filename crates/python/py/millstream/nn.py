"""`tf.nn`: activations, losses and what goes with them, beyond the functions that are one op each."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from millstream import _namespaces, array_ops, dtypes, math_ops, random_ops
from millstream._engine import Tensor
from millstream._ops import op
from millstream.framework import constant_value, convert_to_tensor, name_scope


_RECURRENT = ("bidirectional_dynamic_rnn", "dynamic_rnn", "raw_rnn", "static_bidirectional_rnn", "static_rnn")


if TYPE_CHECKING:
    from millstream import rnn_cell as rnn_cell
    from millstream._endpoints_nn import *  # noqa: F403
    from millstream.embedding_ops import *  # noqa: F403
    from millstream.nn_ops import *  # noqa: F403
    from millstream.rnn import bidirectional_dynamic_rnn, dynamic_rnn, raw_rnn, static_bidirectional_rnn, static_rnn
else:

    def __getattr__(name: str) -> Any:
        if name == "rnn_cell":
            return importlib.import_module("millstream.rnn_cell")
        if name in _RECURRENT:
            return getattr(importlib.import_module("millstream.rnn"), name)
        for module in ("embedding_ops", "nn_ops"):
            found = importlib.import_module("millstream." + module)
            if name in found.__all__:
                return getattr(found, name)
        return _namespaces.find(__name__, "nn", name)


sigmoid = math_ops.sigmoid
tanh = math_ops.tanh


def _rows(name: str, called: str) -> Any:
    def function(logits: Any, axis: Any = None, name: Optional[str] = None, dim: Any = None) -> Tensor:
        axis = math_ops.deprecated(axis, dim, "axis", "dim")
        logits = convert_to_tensor(logits)
        shape = logits._shape_as_list()
        last = None if shape is None else len(shape) - 1
        if axis is None or axis == -1 or axis == last:
            return op(op_name)(logits, name=name)
        if last is None:
            raise ValueError("the rank of the logits has to be known for an axis other than the last")
        order = list(range(last + 1))
        order[axis], order[last] = last, order[axis]
        with name_scope(name, called, [logits]):
            return array_ops.transpose(op(op_name)(array_ops.transpose(logits, order)), order)

    op_name = name
    function.__name__ = function.__qualname__ = called
    function.__doc__ = "The %s along an axis, by default the last." % called
    return function


softmax = _rows("Softmax", "softmax")
log_softmax = _rows("LogSoftmax", "log_softmax")


def relu6(features: Any, name: Optional[str] = None) -> Tensor:
    """`min(max(x, 0), 6)`."""
    with name_scope(name, "Relu6", [features]) as name:
        return op("Relu6")(convert_to_tensor(features, name="features"), name=name)


def leaky_relu(features: Any, alpha: float = 0.2, name: Optional[str] = None) -> Tensor:
    """`max(x, alpha * x)`."""
    with name_scope(name, "LeakyRelu", [features, alpha]) as name:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = math_ops.cast(features, dtypes.float32)
        return op("LeakyRelu")(features, alpha=alpha, name=name)


def bias_add(value: Any, bias: Any, data_format: Optional[str] = None, name: Optional[str] = None) -> Tensor:
    """`bias` added to the last dimension (or to the second, for NCHW)."""
    with name_scope(name, "BiasAdd", [value, bias]) as name:
        form = "NCHW" if data_format is not None and data_format.startswith("NC") else "NHWC"
        value = convert_to_tensor(value, name="input")
        return op("BiasAdd")(value, convert_to_tensor(bias, value.dtype.base_dtype, "bias"), data_format=form, name=name)


def _only_named(function: str, given: Any, labels: Any, logits: Any) -> None:
    if given is not None:
        raise ValueError("Only call `%s` with named arguments (labels=..., logits=..., ...)" % function)
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


def sparse_softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None, name: Optional[str] = None) -> Tensor:
    """The cross entropy of each row, labels being class numbers."""
    _only_named("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
        known = labels._shape_as_list(), logits._shape_as_list()
        if None not in known and len(known[0]) != len(known[1]) - 1:
            raise ValueError("Rank mismatch: Rank of labels (received %s) should equal rank of logits minus 1 (received %s)." % (len(known[0]), len(known[1])))
        if not labels.shape.is_compatible_with(logits.shape[:-1]):
            raise ValueError(
                "Shape mismatch: The shape of labels (received %s) should equal the shape of logits except for the last dimension (received %s)."
                % (labels.shape, logits.shape)
            )
        if known[1] is not None and len(known[1]) == 2:
            return op("SparseSoftmaxCrossEntropyWithLogits")(logits, labels, name=name)[0]
        classes = op("StridedSlice")(op("Shape")(logits), [-1], [0], [1], end_mask=1, shrink_axis_mask=1)
        cost = op("SparseSoftmaxCrossEntropyWithLogits")(array_ops.reshape(logits, [-1, classes]), array_ops.reshape(labels, [-1]))[0]
        cost = array_ops.reshape(cost, op("Shape")(labels))
        cost.set_shape(labels.shape)
        return cost


def softmax_cross_entropy_with_logits_v2(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, dim: Any = None, name: Optional[str] = None, axis: Any = None
) -> Tensor:
    """The cross entropy of each row, labels being distributions."""
    _only_named("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    axis = math_ops.deprecated(axis, dim, "axis", "dim")
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]):
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, logits.dtype.base_dtype, "labels")
        rank = len(logits._shape_as_list() or [0, 0])
        if axis not in (None, -1, rank - 1):
            raise NotImplementedError("an axis other than the last is not supported yet")
        if rank == 2:
            return op("SoftmaxCrossEntropyWithLogits")(logits, labels)[0]
        shape = op("Shape")(logits)
        columns = shape[-1]
        cost = op("SoftmaxCrossEntropyWithLogits")(array_ops.reshape(logits, [-1, columns]), array_ops.reshape(labels, [-1, columns]))[0]
        return array_ops.reshape(cost, shape[:-1])


def softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None, dim: Any = -1, name: Optional[str] = None, axis: Any = None) -> Tensor:
    """The cross entropy of each row; gradients do not flow into the labels."""
    _only_named("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    return softmax_cross_entropy_with_logits_v2(labels=op("StopGradient")(labels), logits=logits, axis=dim if axis is None else axis, name=name)


def sigmoid_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None, name: Optional[str] = None) -> Tensor:
    """The cross entropy of independent yes-or-no labels."""
    _only_named("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits, labels = convert_to_tensor(logits, name="logits"), convert_to_tensor(labels, name="labels")
        if not logits.shape.is_compatible_with(labels.shape):
            raise ValueError("logits and labels must have the same shape (%s vs %s)" % (logits.shape, labels.shape))
        zeros = array_ops.zeros_like(logits)
        positive = logits >= zeros
        relu = op("Select")(positive, logits, zeros)
        minus = op("Select")(positive, -logits, logits)
        return op("Add")(relu - logits * labels, op("Log1p")(op("Exp")(minus)), name=name)


def dropout(
    x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: Optional[int] = None, name: Optional[str] = None, rate: Any = None
) -> Tensor:
    """Elements set to zero with probability `rate`, the others scaled up."""
    if keep_prob is not None and rate is not None:
        raise ValueError("You must provide either 'keep_prob' or 'rate', not both")
    if keep_prob is None and rate is None:
        raise ValueError("You must provide a rate to dropout.")
    rate = 1 - keep_prob if rate is None else rate
    with name_scope(name, "dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError("x has to be a floating point tensor since it's going to be scaled. Got a %s tensor instead." % x.dtype)
        if isinstance(rate, (int, float)) and not 0 <= rate < 1:
            raise ValueError("rate must be a scalar tensor or a float in the range [0, 1), got %g" % rate)
        if not isinstance(rate, Tensor) and rate == 0:
            return x
        rate = convert_to_tensor(rate, x.dtype, "rate")
        known = constant_value(rate)
        if known is not None and known == 0:
            return x
        kept = random_ops.random_uniform(array_ops.shape(x) if noise_shape is None else noise_shape, seed=seed, dtype=x.dtype) >= rate
        result = x * (1 / (1 - rate)) * math_ops.cast(kept, x.dtype)
        result.set_shape(x.shape)
        return result


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: Optional[str] = None, dim: Any = None) -> Tensor:
    """`x` divided by its norm along an axis."""
    axis = math_ops.deprecated(axis, dim, "axis", "dim")
    with name_scope(name, "l2_normalize", [x]) as name:
        x = convert_to_tensor(x, name="x")
        squares = math_ops.reduce_sum(op("Square")(x), axis, keepdims=True)
        return op("Mul")(x, op("Rsqrt")(op("Maximum")(squares, epsilon)), name=name)


def top_k(input: Any, k: Any = 1, sorted: bool = True, name: Optional[str] = None) -> Any:  # noqa: A002
    """The largest elements of each row, and where they are."""
    return op("TopKV2")(input, k, sorted=sorted, name=name)


def in_top_k(predictions: Any, targets: Any, k: Any, name: Optional[str] = None) -> Tensor:
    """Whether each target is among the largest predictions."""
    with name_scope(name, "in_top_k"):
        return op("InTopKV2")(predictions, targets, k, name=name)


def zero_fraction(value: Any, name: Optional[str] = None) -> Tensor:
    """How much of `value` is zero."""
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        zero = np.zeros([], value.dtype.as_numpy_dtype)
        return math_ops.reduce_mean(math_ops.cast(math_ops.equal(value, zero), dtypes.float32), name="fraction")


def moments(x: Any, axes: Any, shift: Any = None, name: Optional[str] = None, keep_dims: Any = None, keepdims: Any = None) -> Any:
    """Mean and variance over axes."""
    keep = bool(math_ops.deprecated(keepdims, keep_dims, "keepdims", "keep_dims"))
    with name_scope(name, "moments", [x, axes]):
        x = convert_to_tensor(x)
        mean = math_ops.reduce_mean(x, axes, keepdims=True, name="mean")
        variance = math_ops.reduce_mean(op("SquaredDifference")(x, op("StopGradient")(mean)), axes, keepdims=True, name="variance")
        return (mean, variance) if keep else (array_ops.squeeze(mean, axes), array_ops.squeeze(variance, axes))
