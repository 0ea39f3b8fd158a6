"""Activations, losses and related functions of `tf.nn` that are more than one op each."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from millstream._engine import Tensor
from millstream.framework import constant_value, convert_to_tensor, dtypes, errors, name_scope, node_counts, shapes
from millstream.framework.deprecation import renamed as _renamed
from millstream.framework.op_functions import op
from millstream.ops import array_ops, math_ops, random_ops, reduction_ops

sigmoid = math_ops.sigmoid
tanh = math_ops.tanh


_ROWS = """Returns {what} along an axis, by default the last.

Args:
  logits: A tensor of floats.
  axis: An int.
  name: A name for the operation.
  dim: The former name of `axis`.

Returns:
  A tensor of the same shape and dtype.

Raises:
  ValueError: The axis is not the last and the rank is unknown.
  tf.errors.InvalidArgumentError: The axis is out of range.

Example:
  >>> print(tf.Session().run(tf.nn.{name}([[1.0, 1.0]])).round(4))
  {value}
"""


def _rows(name: str, called: str) -> Any:
    def function(logits: Any, axis: Any = None, name: Optional[str] = None, dim: Any = None) -> Tensor:
        axis = _renamed(axis, dim, "axis", "dim")
        logits = convert_to_tensor(logits)
        shape = logits._shape_as_list()
        last = None if shape is None else len(shape) - 1
        if axis is None or axis == -1 or axis == last:
            return op(op_name)(logits, name=name)
        if last is None:
            raise ValueError("the rank of logits must be known if the axis is not the last")
        axis = _axis_of(axis, last + 1)
        if axis == last:
            return op(op_name)(logits, name=name)
        order = list(range(last + 1))
        order[axis], order[last] = last, order[axis]
        node_counts.also(26)  # TensorFlow makes the permutations in the graph.
        return array_ops.transpose(op(op_name)(array_ops.transpose(logits, order)), order, name or "transpose")

    op_name = name
    function.__name__ = function.__qualname__ = called
    function.__doc__ = _ROWS.format(name=called, what="`exp(logits) / sum(exp(logits))`" if called == "softmax" else "`logits - log(sum(exp(logits)))`", value="[[0.5 0.5]]" if called == "softmax" else "[[-0.6931 -0.6931]]")
    return function


softmax = _rows("Softmax", "softmax")
log_softmax = _rows("LogSoftmax", "log_softmax")


def relu6(features: Any, name: Optional[str] = None) -> Tensor:
    """Returns `min(max(x, 0), 6)`.

    Args:
      features: A tensor of numbers.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.nn.relu6([-1.0, 3.0, 9.0])))
      [0. 3. 6.]
    """
    with name_scope(name, "Relu6", [features]) as name:
        return op("Relu6")(convert_to_tensor(features, name="features"), name=name)


def leaky_relu(features: Any, alpha: float = 0.2, name: Optional[str] = None) -> Tensor:
    """Returns `max(x, alpha * x)`.

    Args:
      features: A tensor of numbers.
      alpha: The slope below zero.
      name: A name for the operation.

    Returns:
      A tensor of the same shape; integers give `float32`.

    Example:
      >>> print(tf.Session().run(tf.nn.leaky_relu([-5.0, 3.0])))
      [-1.  3.]
    """
    with name_scope(name, "LeakyRelu", [features, alpha]) as name:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = math_ops.cast(features, dtypes.float32)
        return op("LeakyRelu")(features, alpha=alpha, name=name)


def bias_add(value: Any, bias: Any, data_format: Optional[str] = None, name: Optional[str] = None) -> Tensor:
    """Adds a bias to the last dimension (to the second for NCHW).

    Args:
      value: A tensor of numbers.
      bias: A vector of the same dtype.
      data_format: `"NHWC"` or `"NCHW"`.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype as `value`.

    Raises:
      ValueError: The sizes are known to differ.

    Example:
      >>> print(tf.Session().run(tf.nn.bias_add([[1, 2], [3, 4]], [10, 100])))
      [[ 11 102]
       [ 13 104]]
    """
    with name_scope(name, "BiasAdd", [value, bias]) as name:
        form = "NHWC"
        if data_format is not None:
            if not data_format.startswith("N") or not (data_format.startswith("NC") or data_format.endswith("C")):
                raise ValueError("data_format must be of the form `N...C` or `NC...`")
            form = "NCHW" if data_format.startswith("NC") else "NHWC"
        value = convert_to_tensor(value, name="input")
        return op("BiasAdd")(value, convert_to_tensor(bias, value.dtype.base_dtype, "bias"), data_format=form, name=name)


def _only_named(function: str, given: Any, labels: Any, logits: Any) -> None:
    if given is not None:
        raise ValueError("Only call `%s` with named arguments (labels=..., logits=..., ...)" % function)
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


def sparse_softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None, name: Optional[str] = None) -> Tensor:
    """Returns the softmax cross entropy of each row, for labels that are class indices.

    Args:
      labels: An `int32` or `int64` tensor: a class index for each row.
      logits: A tensor of floats with one more axis.
      name: The name scope of the new operations.

    Returns:
      A tensor of the shape of `labels` and the dtype of `logits`.

    Raises:
      ValueError: The shapes do not match, or arguments are not given by name.

    Example:
      >>> print(tf.Session().run(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1],
      ...     logits=[[0.0, 0.0]])).round(4))
      [0.6931]
    """
    _only_named("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
        shape_of_labels = array_ops.shape(labels)
        known = labels._shape_as_list(), logits._shape_as_list()
        if known[1] == []:
            raise ValueError("Logits cannot be scalars - received shape %s." % logits.shape)
        if None not in known and len(known[0]) != len(known[1]) - 1:
            raise ValueError(
                "Rank mismatch: Rank of labels (received %s) should equal rank of logits minus 1 (received %s).\n  help: labels are numbers of classes here; "
                "`tf.nn.softmax_cross_entropy_with_logits_v2` takes a probability for each class" % (len(known[0]), len(known[1]))
            )
        if not labels.shape.is_compatible_with(logits.shape[:-1]):
            raise ValueError(
                "Shape mismatch: The shape of labels (received %s) should equal the shape of logits except for the last dimension (received %s)."
                % (labels.shape, logits.shape)
            )
        if known[1] is not None and len(known[1]) == 2:
            return op("SparseSoftmaxCrossEntropyWithLogits")(logits, labels, name=name)[0]
        classes = op("StridedSlice")(op("Shape")(logits), [-1], [0], [1], end_mask=1, shrink_axis_mask=1)
        node_counts.also(5)  # TensorFlow computes the rank in the graph.
        cost = op("SparseSoftmaxCrossEntropyWithLogits")(array_ops.reshape(logits, [-1, classes]), array_ops.reshape(labels, [-1]))[0]
        cost = array_ops.reshape(cost, shape_of_labels)
        cost.set_shape(labels.shape)
        return cost


def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: Any = None, name: Optional[str] = None, dim: Any = None
) -> Tensor:
    """Returns the softmax cross entropy of each row, for labels that are distributions.

    Gradients flow into both labels and logits.

    Args:
      labels: A tensor of numbers: a distribution in each row.
      logits: A tensor of floats of the same shape; its dtype is that of the result.
      axis: The axis of the classes; by default the last.
      name: The name scope of the new operations.
      dim: The former name of `axis`.

    Returns:
      A tensor of the same dtype, without this axis.

    Raises:
      ValueError: `labels` or `logits` is None.
      ValueError: The axis is not the last and the rank is unknown.
      tf.errors.InvalidArgumentError: The axis is out of range.

    Example:
      >>> print(tf.Session().run(tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[0.5, 0.5]],
      ...     logits=[[1.0, 1.0]])).round(4))
      [0.6931]
    """
    _only_named("softmax_cross_entropy_with_logits", None, labels, logits)
    axis = _renamed(axis, dim, "axis", "dim")
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = array_ops.cast(convert_to_tensor(labels, name="labels"), logits.dtype.base_dtype)
        rank = logits._rank()
        # TensorFlow flattens and restores the shapes in the graph whatever the ranks, each for itself.
        node_counts.also(28 if rank == 2 and labels._rank() == 2 else 14)
        if axis is not None and axis != -1 and (rank is None or axis != rank - 1):
            if rank is None:
                raise ValueError("the rank of logits must be known if the axis is not the last")
            axis = _axis_of(axis, rank)
            order = [i for i in range(rank) if i != axis] + [axis]
            logits, labels = op("Transpose")(logits, order), op("Transpose")(labels, order)
        if rank == 2 and labels._rank() == 2:
            cost = op("SoftmaxCrossEntropyWithLogits")(logits, labels, name=name)[0]
            # Programs find the result by TensorFlow's name of it.
            return array_ops.reshape(cost, [-1], name="Reshape_2")
        shape = op("Shape")(logits)
        columns = shape[-1]
        own = labels.shape.as_list()[-1:] if labels._rank() else []
        unlike = own not in ([], [None], [logits.shape.as_list()[-1] if rank else None])
        rows = array_ops.reshape(logits, [-1, columns]), array_ops.reshape(labels, [-1, own[0] if unlike else columns])
        return array_ops.reshape(op("SoftmaxCrossEntropyWithLogits")(*rows, name=name)[0], shape[:-1])


def _axis_of(axis: int, rank: int) -> int:
    """Returns the axis counted from the front; raises if it is out of range."""
    if not -rank <= axis < rank:
        raise errors.InvalidArgumentError(
            None, None, "Dimension (%d) must be in the range [%d, %d) where %d is the number of dimensions in the input." % (axis, -rank, rank, rank)
        )
    return axis % rank


def softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None, dim: Any = -1, name: Optional[str] = None, axis: Any = None) -> Tensor:
    """Returns the softmax cross entropy of each row; gradients do not flow into the labels.

    Args:
      labels: A tensor of numbers: a distribution in each row.
      logits: A tensor of floats of the same shape; its dtype is that of the result.
      dim: The axis of the classes.
      name: The name scope of the new operations.
      axis: The later name of `dim`.

    Returns:
      A tensor of the same dtype, without this axis.

    Raises:
      ValueError: Arguments are not given by name.

    Example:
      >>> print(tf.Session().run(tf.nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]],
      ...     logits=[[0.0, 0.0]])).round(4))
      [0.6931]
    """
    _only_named("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as name:
        labels = op("StopGradient")(labels, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, axis=dim if axis is None else axis, name=name)


def sigmoid_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None, name: Optional[str] = None) -> Tensor:
    """Returns the cross entropy of independent binary labels.

    Args:
      labels: A tensor of floats between 0 and 1.
      logits: A tensor of the same shape and dtype.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same shape and dtype: `-labels * log(sigmoid(logits)) - (1 - labels) * log(1 -
        sigmoid(logits))`.

    Raises:
      ValueError: The shapes differ, or arguments are not given by name.

    Example:
      >>> print(tf.Session().run(tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0],
      ...     logits=[0.0, 0.0])).round(4))
      [0.6931 0.6931]
    """
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


def _noise_shape(x: Tensor, noise_shape: Any) -> Any:
    """Returns the shape of a dropout mask, with unknown dimensions replaced by those of `x`."""
    if noise_shape is None:
        return array_ops.shape(x)
    try:
        given = shapes.TensorShape(noise_shape)
    except (TypeError, ValueError):
        return noise_shape  # A tensor.
    if x.shape.ndims is None or x.shape.ndims != given.ndims:
        return noise_shape
    return shapes.TensorShape([mine if own is None else own for own, mine in zip(given.as_list(), x.shape.as_list())])


def dropout(
    x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: Optional[int] = None, name: Optional[str] = None, rate: Any = None
) -> Tensor:
    """Sets elements to zero with probability `rate`, and scales the others up by `1 / (1 - rate)`.

    Args:
      x: A tensor of floats.
      keep_prob: The former form of `rate`: `1 - rate`.
      noise_shape: A vector that broadcasts to the shape of `x`: the shape of the random mask. A dimension
        that is None is that of `x`.
      seed: A seed; see `tf.set_random_seed`.
      name: The name scope of the new operations.
      rate: The probability that an element is set to zero: a float or a scalar tensor.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ValueError: Both or neither of `rate` and `keep_prob` are given, `rate` is not in [0, 1), or `x` is not
        of floats.

    Example:
      >>> y = tf.Session().run(tf.nn.dropout(tf.ones([1000]), rate=0.5, seed=1))
      >>> print(sorted(set(y.tolist())))
      [0.0, 2.0]
    """
    if keep_prob is not None and rate is not None:
        raise ValueError("Cannot specify both 'keep_prob' and 'rate'")
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
        rate.get_shape().assert_has_rank(0)
        known = constant_value(rate)
        if known is not None and known == 0:
            return x
        kept = random_ops.random_uniform(_noise_shape(x, noise_shape), seed=seed, dtype=x.dtype) >= rate
        result = x * (1 / (1 - rate)) * math_ops.cast(kept, x.dtype)
        result.set_shape(x.shape)
        return result


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: Optional[str] = None, dim: Any = None) -> Tensor:
    """Divides `x` by its L2 norm along an axis.

    Args:
      x: A tensor of floats.
      axis: The axis, or a list of axes, to reduce; by default all.
      epsilon: A lower bound of the squared norm.
      name: The name scope of the new operations.
      dim: The former name of `axis`.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.nn.l2_normalize([[3.0, 4.0], [0.0, 2.0]], axis=1)))
      [[0.6 0.8]
       [0.  1. ]]
    """
    axis = _renamed(axis, dim, "axis", "dim")
    with name_scope(name, "l2_normalize", [x]) as name:
        x = convert_to_tensor(x, name="x")
        squares = reduction_ops.reduce_sum(op("Square")(x), axis, keepdims=True)
        return op("Mul")(x, op("Rsqrt")(op("Maximum")(squares, epsilon)), name=name)


def top_k(input: Any, k: Any = 1, sorted: bool = True, name: Optional[str] = None) -> Any:  # noqa: A002
    """Returns the `k` largest elements of each row, and their indices.

    Args:
      input: A tensor of numbers, of rank 1 or more.
      k: An `int32` scalar.
      sorted: If true, elements are in descending order.
      name: A name for the operation.

    Returns:
      A pair `(values, indices)` of tensors whose last axis has `k` elements; indices are `int32`.

    Example:
      >>> print(*tf.Session().run(tf.nn.top_k([5, 9, 7], k=2)))
      [9 7] [1 2]
    """
    return op("TopKV2")(input, k, sorted=sorted, name=name)


def in_top_k(predictions: Any, targets: Any, k: Any, name: Optional[str] = None) -> Tensor:
    """Returns whether each target is among the `k` largest predictions.

    Args:
      predictions: A float32 matrix of shape `[batch, classes]`.
      targets: An `int32` or `int64` vector: a class index for each row.
      k: An int.
      name: A name for the operation.

    Returns:
      A boolean vector.

    Example:
      >>> print(tf.Session().run(tf.nn.in_top_k([[0.1, 0.7, 0.2], [0.5, 0.4, 0.1]], [2, 2], k=2)))
      [ True False]
    """
    with name_scope(name, "in_top_k"):
        return op("InTopKV2")(predictions, targets, k, name=name)


def zero_fraction(value: Any, name: Optional[str] = None) -> Tensor:
    """Returns the fraction of elements that are zero.

    Args:
      value: A tensor of numbers.
      name: The name scope of the new operations.

    Returns:
      A float32 scalar.

    Example:
      >>> print(tf.Session().run(tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0])))
      0.5
    """
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        zero = np.zeros([], value.dtype.as_numpy_dtype)
        node_counts.also(21)  # It counts in one of two dtypes.
        return reduction_ops.reduce_mean(math_ops.cast(math_ops.equal(value, zero), dtypes.float32), name="fraction")


def moments(x: Any, axes: Any, shift: Any = None, name: Optional[str] = None, keep_dims: Any = None, keepdims: Any = None) -> Any:
    """Returns the mean and the variance over axes.

    Args:
      x: A tensor of floats.
      axes: A list of axes.
      shift: Ignored.
      name: The name scope of the new operations.
      keep_dims: The former name of `keepdims`.
      keepdims: If true, reduced axes stay, with length 1.

    Returns:
      A pair of tensors of the same dtype.

    Example:
      >>> print(*tf.Session().run(tf.nn.moments([[1.0, 3.0], [5.0, 9.0]], axes=[1])))
      [2. 7.] [1. 4.]
    """
    keep = bool(_renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
    with name_scope(name, "moments", [x, axes]):
        x = convert_to_tensor(x)
        mean = reduction_ops.reduce_mean(x, axes, keepdims=True, name="mean")
        variance = reduction_ops.reduce_mean(op("SquaredDifference")(x, op("StopGradient")(mean)), axes, keepdims=True, name="variance")
        return (mean, variance) if keep else (array_ops.squeeze(mean, axes), array_ops.squeeze(variance, axes))
