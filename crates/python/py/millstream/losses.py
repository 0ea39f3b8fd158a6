"""`tf.losses`: weighted losses, reduced to a scalar and collected for `get_total_loss`."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from millstream._engine import Tensor
from millstream.framework import (
    add_to_collection,
    constant,
    control_dependencies,
    convert_to_tensor,
    dtypes,
    get_collection,
    name_scope,
    namespaces,
    node_counts,
)
from millstream.framework.deprecation import renamed as _renamed
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.nn import functions as nn
from millstream.ops import array_ops, math_ops, reduction_ops
from millstream.ops import weights as broadcasting

__all__ = [
    "Reduction",
    "absolute_difference",
    "add_loss",
    "compute_weighted_loss",
    "cosine_distance",
    "get_losses",
    "get_regularization_loss",
    "get_regularization_losses",
    "get_total_loss",
    "hinge_loss",
    "huber_loss",
    "log_loss",
    "mean_pairwise_squared_error",
    "mean_squared_error",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]


class Reduction:
    """The ways to reduce weighted losses to a scalar.

    `NONE` (no reduction), `SUM`, `MEAN` (over the sum of weights), `SUM_OVER_BATCH_SIZE`, and
    `SUM_OVER_NONZERO_WEIGHTS` or `SUM_BY_NONZERO_WEIGHTS` (over the number of nonzero weights).

    Example:
      >>> tf.losses.Reduction.SUM, tf.losses.Reduction.SUM in tf.losses.Reduction.all()
      ('weighted_sum', True)
      >>> print(tf.Session().run(tf.losses.absolute_difference([1.0, 2.0], [2.0, 4.0],
      ...     reduction=tf.losses.Reduction.SUM)))
      3.0
    """

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> Tuple[str, ...]:
        """Returns all reductions."""
        return cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS, cls.SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def validate(cls, key: Any) -> None:
        """Raises unless `key` is a reduction.

        Raises:
          ValueError: `key` is not a reduction.

        Example:
          >>> tf.losses.Reduction.validate("none")
        """
        if key not in cls.all():
            raise ValueError("Invalid Reduction Key %s." % key)


_BY_NONZERO = Reduction.SUM_BY_NONZERO_WEIGHTS


def _mean(total: Any, n: Any) -> Tensor:
    """The mean; 0 if `n` is 0."""
    total = convert_to_tensor(total)
    return op("DivNoNan")(total, math_ops.cast(n, total.dtype), name="value")


def _present(losses: Tensor, weights: Tensor, per_batch: bool = False) -> Tensor:
    """The number of elements with nonzero weights: of all, or per entry of the batch, with the losses' rank.
    """
    present = array_ops.where(op("Equal")(weights, convert_to_tensor(0.0, weights.dtype)), array_ops.zeros_like(weights), array_ops.ones_like(weights))
    wide = broadcasting.broadcast_weights(present, losses)
    if not per_batch:
        return reduction_ops.reduce_sum(wide, name="num_present")
    return reduction_ops.reduce_sum(wide, math_ops.range(1, array_ops.rank(wide)), keepdims=True, name="num_present")


def compute_weighted_loss(
    losses: Any, weights: Any = 1.0, scope: Optional[str] = None, loss_collection: Optional[str] = GraphKeys.LOSSES, reduction: str = _BY_NONZERO
) -> Tensor:
    """Multiplies losses by weights, reduces them, and adds the result to a collection.

    Args:
      losses: A tensor of floats.
      weights: A number, or a tensor of the same rank, whose dimensions are 1 or those of `losses`. Elements
        with weight 0 do not count.
      scope: The name scope of the new operations.
      loss_collection: The collection to add the loss to; None for none.
      reduction: A value of `tf.losses.Reduction`; by default the sum over the number of nonzero weights.

    Returns:
      A scalar of the dtype of `losses`; with `Reduction.NONE`, a tensor of the shape of `losses`.

    Raises:
      ValueError: The weights do not broadcast to the losses, or `reduction` is unknown.

    Example:
      >>> print(tf.Session().run(tf.losses.compute_weighted_loss([1.0, 2.0, 6.0], weights=[1.0, 1.0, 0.0])))
      1.5
    """
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss", [losses, weights]):
        with control_dependencies([broadcasting.assert_broadcastable(weights, losses)]):
            losses = convert_to_tensor(losses)
            given = losses.dtype
            losses = math_ops.cast(losses, dtypes.float32)
            weights = math_ops.cast(convert_to_tensor(weights), dtypes.float32)
            loss = op("Mul")(losses, weights)
        if reduction != Reduction.NONE:
            loss = reduction_ops.reduce_sum(loss)
            node_counts.also(0 if reduction == Reduction.SUM else 2)  # TensorFlow sums the sum before it divides.
            if reduction == Reduction.MEAN:
                loss = _mean(loss, reduction_ops.reduce_sum(array_ops.ones_like(losses) * weights))
            elif reduction == _BY_NONZERO:
                loss = _mean(loss, _present(losses, weights))
            elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                loss = _mean(loss, math_ops.cast(array_ops.size(losses), loss.dtype))
        loss = math_ops.cast(loss, given)
        add_loss(loss, loss_collection)
        return loss


def add_loss(loss: Any, loss_collection: Optional[str] = GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection.

    Args:
      loss: A tensor.
      loss_collection: The collection.

    Example:
      >>> tf.losses.add_loss(tf.constant(2.0))
      >>> print(tf.Session().run(tf.losses.get_total_loss()))
      2.0
    """
    if loss_collection:
        add_to_collection(loss_collection, loss)


def get_losses(scope: Optional[str] = None, loss_collection: str = GraphKeys.LOSSES) -> List[Any]:
    """Returns the losses of a collection.

    Args:
      scope: A regular expression: selects losses whose names it matches at the beginning.
      loss_collection: The collection.

    Returns:
      A list of tensors.

    Example:
      >>> loss = tf.losses.mean_squared_error([1.0], [2.0])
      >>> tf.losses.get_losses() == [loss]
      True
    """
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: Optional[str] = None) -> List[Any]:
    """Returns the losses of variables' regularizers.

    Args:
      scope: A regular expression: selects losses whose names it matches at the beginning.

    Returns:
      A list of tensors.

    Example:
      >>> with tf.variable_scope("s", regularizer=tf.reduce_sum):
      ...     v = tf.get_variable("v", [2])
      >>> len(tf.losses.get_regularization_losses())
      1
    """
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: Optional[str] = None, name: str = "total_regularization_loss") -> Tensor:
    """Returns the sum of the losses of variables' regularizers; 0 if there are none.

    Args:
      scope: A regular expression: selects losses whose names it matches at the beginning.
      name: A name for the operation.

    Returns:
      A `float32` scalar.

    Example:
      >>> with tf.variable_scope("s", regularizer=lambda v: 0.5 * tf.reduce_sum(v)):
      ...     v = tf.get_variable("v", initializer=[1.0, 3.0])
      >>> total = tf.losses.get_regularization_loss()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     print(sess.run(total))
      2.0
    """
    found = get_regularization_losses(scope)
    return math_ops.add_n(found, name=name) if found else constant(0.0)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss", scope: Optional[str] = None) -> Tensor:
    """Returns the sum of all losses.

    Args:
      add_regularization_losses: If true, the losses of regularizers are included.
      name: A name for the operation.
      scope: A regular expression: selects losses whose names it matches at the beginning.

    Returns:
      A `float32` scalar.

    Raises:
      ValueError: There are no losses.

    Example:
      >>> for x in (1.0, 2.0):
      ...     tf.losses.add_loss(tf.constant(x))
      >>> print(tf.Session().run(tf.losses.get_total_loss()))
      3.0
    """
    found = list(get_losses(scope))
    if add_regularization_losses:
        found += get_regularization_losses(scope)
    return math_ops.add_n(found, name=name)


def _both(labels: Any, predictions: Any, names: Tuple[str, str] = ("labels", "predictions")) -> None:
    for value, name in zip((labels, predictions), names):
        if value is None:
            raise ValueError("%s must not be None." % name)


def _floats(labels: Any, predictions: Any) -> Tuple[Tensor, Tensor]:
    predictions = math_ops.cast(convert_to_tensor(predictions), dtypes.float32)
    labels = math_ops.cast(convert_to_tensor(labels), dtypes.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


def absolute_difference(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: Optional[str] = None, loss_collection: Optional[str] = GraphKeys.LOSSES, reduction: str = _BY_NONZERO
) -> Tensor:
    """Computes the absolute difference: `|predictions - labels|`.

    The other arguments, and the reduction of the losses, are those of `compute_weighted_loss`.

    Args:
      labels: A tensor of numbers.
      predictions: A tensor of the same shape.

    Returns:
      A `float32` scalar; with `Reduction.NONE`, a tensor of the shape of the losses.

    Raises:
      ValueError: The shapes do not match.

    Example:
      >>> print(tf.Session().run(tf.losses.absolute_difference([1.0, 2.0], [1.5, 4.0])).round(4))
      1.25
    """
    _both(labels, predictions)
    with name_scope(scope, "absolute_difference", [predictions, labels, weights]) as scope:
        labels, predictions = _floats(labels, predictions)
        return compute_weighted_loss(math_ops.abs(op("Sub")(predictions, labels)), weights, scope, loss_collection, reduction)


def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: Any = None,
    weights: Any = 1.0,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
    reduction: str = _BY_NONZERO,
    dim: Any = None,
) -> Tensor:
    """Computes the cosine distance of unit vectors: 1 minus their dot product along an axis.

    The other arguments, and the reduction of the losses, are those of `compute_weighted_loss`.

    Args:
      labels: A tensor of numbers.
      predictions: A tensor of the same shape.
      axis: The axis of the vectors.
      dim: The former name of `axis`.

    Returns:
      A `float32` scalar; with `Reduction.NONE`, a tensor of the shape of the losses.

    Raises:
      ValueError: The shapes do not match, or no axis is given.

    Example:
      >>> print(tf.Session().run(tf.losses.cosine_distance([[1.0, 0.0]], [[0.6, 0.8]], axis=1)).round(4))
      0.4
    """
    axis = _renamed(axis, dim, "axis", "dim")
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    _both(labels, predictions)
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as scope:
        labels, predictions = _floats(labels, predictions)
        losses = 1 - reduction_ops.reduce_sum(op("Mul")(predictions, labels), axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def hinge_loss(
    labels: Any, logits: Any, weights: Any = 1.0, scope: Optional[str] = None, loss_collection: Optional[str] = GraphKeys.LOSSES, reduction: str = _BY_NONZERO
) -> Tensor:
    """Computes the hinge loss: `max(0, 1 - logits)` for labels of 1, `max(0, 1 + logits)` for labels of 0.

    The other arguments, and the reduction of the losses, are those of `compute_weighted_loss`.

    Args:
      labels: A tensor of numbers.
      logits: A tensor of the same shape.

    Returns:
      A `float32` scalar; with `Reduction.NONE`, a tensor of the shape of the losses.

    Raises:
      ValueError: The shapes do not match.

    Example:
      >>> print(tf.Session().run(tf.losses.hinge_loss([1.0, 0.0], [0.5, 0.5])).round(4))
      1.0
    """
    _both(labels, logits, ("labels", "logits"))
    with name_scope(scope, "hinge_loss", [logits, labels, weights]) as scope:
        labels, logits = _floats(labels, logits)
        ones = array_ops.ones_like(labels)
        losses = op("Relu")(op("Sub")(ones, op("Mul")(op("Sub")(2 * labels, ones), logits)))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: float = 1.0,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
    reduction: str = _BY_NONZERO,
) -> Tensor:
    """Computes the Huber loss: half the squared error up to `delta`, and linear beyond.

    The other arguments, and the reduction of the losses, are those of `compute_weighted_loss`.

    Args:
      labels: A tensor of numbers.
      predictions: A tensor of the same shape.
      delta: The absolute error where the loss becomes linear.

    Returns:
      A `float32` scalar; with `Reduction.NONE`, a tensor of the shape of the losses.

    Raises:
      ValueError: The shapes do not match.

    Example:
      >>> print(tf.Session().run(tf.losses.huber_loss([0.0, 0.0], [0.5, 3.0])).round(4))
      1.3125
    """
    _both(labels, predictions)
    with name_scope(scope, "huber_loss", [predictions, labels, weights]) as scope:
        labels, predictions = _floats(labels, predictions)
        error = math_ops.abs(op("Sub")(predictions, labels))
        limit = convert_to_tensor(delta, error.dtype)
        square = op("Minimum")(error, limit)
        node_counts.also(1)  # The limit becomes a constant twice.
        losses = op("Add")(convert_to_tensor(0.5, error.dtype) * square * square, limit * op("Sub")(error, square))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
    reduction: str = _BY_NONZERO,
) -> Tensor:
    """Computes the negative log likelihood of binary labels under predicted probabilities.

    The other arguments, and the reduction of the losses, are those of `compute_weighted_loss`.

    Args:
      labels: A tensor of numbers.
      predictions: A tensor of the same shape.
      epsilon: A constant added to probabilities within the logarithm.

    Returns:
      A `float32` scalar; with `Reduction.NONE`, a tensor of the shape of the losses.

    Raises:
      ValueError: The shapes do not match.

    Example:
      >>> print(tf.Session().run(tf.losses.log_loss([1.0, 0.0], [0.5, 0.5])).round(4))
      0.6931
    """
    _both(labels, predictions)
    with name_scope(scope, "log_loss", (predictions, labels, weights)) as scope:
        labels, predictions = _floats(labels, predictions)
        positive = op("Mul")(labels, op("Log")(predictions + epsilon))
        losses = -positive - op("Mul")(1 - labels, op("Log")(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_squared_error(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: Optional[str] = None, loss_collection: Optional[str] = GraphKeys.LOSSES, reduction: str = _BY_NONZERO
) -> Tensor:
    """Computes the squared error.

    The other arguments, and the reduction of the losses, are those of `compute_weighted_loss`.

    Args:
      labels: A tensor of numbers.
      predictions: A tensor of the same shape.

    Returns:
      A `float32` scalar; with `Reduction.NONE`, a tensor of the shape of the losses.

    Raises:
      ValueError: The shapes do not match.

    Example:
      >>> print(tf.Session().run(tf.losses.mean_squared_error([1.0, 2.0], [1.5, 4.0])).round(4))
      2.125
    """
    _both(labels, predictions)
    with name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
        labels, predictions = _floats(labels, predictions)
        return compute_weighted_loss(op("SquaredDifference")(predictions, labels), weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: Optional[str] = None, loss_collection: Optional[str] = GraphKeys.LOSSES
) -> Tensor:
    """Computes the mean squared difference of errors over pairs of elements, summed over the batch.

    Args:
      labels: A tensor of numbers.
      predictions: A tensor of the same shape.
      weights: A number, or a tensor with a number for each row.
      scope: The name scope of the new operations.
      loss_collection: The collection to add the loss to.

    Returns:
      A `float32` scalar.

    Example:
      >>> print(tf.Session().run(tf.losses.mean_pairwise_squared_error([[0.0, 0.0]], [[1.0, 3.0]])))
      4.0
    """
    _both(labels, predictions)
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        weights = math_ops.cast(convert_to_tensor(weights), dtypes.float32)
        labels, predictions = _floats(labels, predictions)
        with control_dependencies([broadcasting.assert_broadcastable(weights, labels)]):
            errors = op("Sub")(predictions, labels)
        axes = math_ops.range(1, array_ops.rank(errors))
        squares = reduction_ops.reduce_sum(op("Square")(errors), axes, keepdims=True)
        n = _present(errors, weights, per_batch=True)
        first = 2.0 * _mean(squares, op("Maximum")(n - 1, 0.0))
        total = reduction_ops.reduce_sum(errors, axes, keepdims=True)
        second = 2.0 * _mean(op("Square")(total), op("Maximum")(op("Mul")(n, n - 1), 0.0))
        loss = reduction_ops.reduce_sum(op("Mul")(first - second, weights))
        mean = array_ops.where(reduction_ops.reduce_sum(n) > 0, loss, array_ops.zeros_like(loss), name="value")
        add_loss(mean, loss_collection)
        return mean


def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: Any = 0,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
    reduction: str = _BY_NONZERO,
) -> Tensor:
    """Computes the loss `tf.nn.sigmoid_cross_entropy_with_logits`, with labels smoothed towards 1/2.

    The other arguments, and the reduction of the losses, are those of `compute_weighted_loss`.

    Args:
      multi_class_labels: A tensor of numbers between 0 and 1.
      logits: A tensor of the same shape.
      label_smoothing: The amount of smoothing, from 0 to 1.

    Returns:
      A `float32` scalar; with `Reduction.NONE`, a tensor of the shape of the losses.

    Raises:
      ValueError: The shapes do not match.

    Example:
      >>> print(tf.Session().run(tf.losses.sigmoid_cross_entropy([1.0, 0.0], [0.0, 0.0])).round(4))
      0.6931
    """
    _both(multi_class_labels, logits, ("multi_class_labels", "logits"))
    with name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as scope:
        logits = convert_to_tensor(logits)
        labels = math_ops.cast(convert_to_tensor(multi_class_labels), logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: Any = 0,
    scope: Optional[str] = None,
    loss_collection: Optional[str] = GraphKeys.LOSSES,
    reduction: str = _BY_NONZERO,
) -> Tensor:
    """Computes the loss `tf.nn.softmax_cross_entropy_with_logits_v2`, with smoothed labels.

    The other arguments, and the reduction of the losses, are those of `compute_weighted_loss`.

    Args:
      onehot_labels: A tensor whose rows are distributions.
      logits: A tensor of the same shape.
      label_smoothing: The amount of smoothing towards the uniform distribution, from 0 to 1.

    Returns:
      A `float32` scalar; with `Reduction.NONE`, a tensor of the shape of the losses.

    Raises:
      ValueError: The shapes do not match.

    Example:
      >>> print(tf.Session().run(tf.losses.softmax_cross_entropy([[1.0, 0.0]], [[0.0, 0.0]])).round(4))
      0.6931
    """
    _both(onehot_labels, logits, ("onehot_labels", "logits"))
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as scope:
        logits = convert_to_tensor(logits)
        labels = math_ops.cast(convert_to_tensor(onehot_labels), logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            classes = math_ops.cast(array_ops.shape(labels)[-1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        losses = nn.softmax_cross_entropy_with_logits_v2(labels=op("StopGradient")(labels), logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: Any, logits: Any, weights: Any = 1.0, scope: Optional[str] = None, loss_collection: Optional[str] = GraphKeys.LOSSES, reduction: str = _BY_NONZERO
) -> Tensor:
    """Computes the loss `tf.nn.sparse_softmax_cross_entropy_with_logits`, for labels that are class indices.

    The other arguments, and the reduction of the losses, are those of `compute_weighted_loss`.

    Args:
      labels: A tensor of class indices.
      logits: A tensor of floats with one more axis.

    Returns:
      A `float32` scalar; with `Reduction.NONE`, a tensor of the shape of the losses.

    Raises:
      ValueError: The shapes do not match.

    Example:
      >>> print(tf.Session().run(tf.losses.sparse_softmax_cross_entropy([1], [[0.0, 0.0]])).round(4))
      0.6931
    """
    _both(labels, logits, ("labels", "logits"))
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as scope:
        # A column of labels or weights counts as a vector.
        labels, logits = broadcasting.squeeze_pair(labels, logits, 1)
        weights = broadcasting.fit_rank(weights, labels, expand=False)
        losses = nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


__dir__ = namespaces.dir_of(globals())
