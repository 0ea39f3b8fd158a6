"""`tf.losses`: losses with weights, reduced to a number and kept in a collection until `get_total_loss` adds them up."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from millstream import _namespaces, array_ops, dtypes, math_ops, nn, reduction_ops
from millstream._engine import Tensor
from millstream._ops import op
from millstream.deprecation import renamed as _renamed
from millstream.framework import add_to_collection, constant, convert_to_tensor, get_collection, name_scope
from millstream.graph_keys import GraphKeys

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
    """How weighted losses become one number: `NONE` (not at all), `SUM`, `MEAN` (over the sum of weights),
    `SUM_OVER_BATCH_SIZE`, `SUM_OVER_NONZERO_WEIGHTS`, `SUM_BY_NONZERO_WEIGHTS` (over how many weights are not zero).

    Example:
      >>> tf.losses.Reduction.SUM, tf.losses.Reduction.SUM in tf.losses.Reduction.all()
      ('weighted_sum', True)
      >>> print(tf.Session().run(tf.losses.absolute_difference([1.0, 2.0], [2.0, 4.0], reduction=tf.losses.Reduction.SUM)))
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
        """Every way."""
        return cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS, cls.SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def validate(cls, key: Any) -> None:
        """Raises unless this is a way.

        Raises:
          ValueError: It is none.

        Example:
          >>> tf.losses.Reduction.validate("none")
        """
        if key not in cls.all():
            raise ValueError("Invalid Reduction Key %s." % key)


_BY_NONZERO = Reduction.SUM_BY_NONZERO_WEIGHTS


def _mean(total: Any, n: Any) -> Tensor:
    """The mean, 0 of nothing."""
    total = convert_to_tensor(total)
    return op("DivNoNan")(total, math_ops.cast(n, total.dtype), name="value")


def _check_weights(weights: Tensor, losses: Tensor) -> None:
    """Weights are a scalar, or of the rank of the losses with each size the same or 1."""
    w, v = weights.shape, losses.shape
    if w.ndims is None or v.ndims is None or w.ndims == 0:
        return
    fits = w.ndims == v.ndims and all(a in (None, 1, b) or b is None for a, b in zip(w.as_list(), v.as_list()))
    if not fits:
        raise ValueError(
            "weights can not be broadcast to values. values.rank=%s. weights.rank=%s. values.shape=%s. weights.shape=%s." % (v.ndims, w.ndims, v, w)
        )


def _present(losses: Tensor, weights: Tensor, per_batch: bool = False) -> Tensor:
    """How many elements have weights that are not 0: of all, or of each entry of the batch, with as many dimensions as the losses."""
    present = array_ops.where(op("Equal")(weights, convert_to_tensor(0.0, weights.dtype)), array_ops.zeros_like(weights), array_ops.ones_like(weights))
    wide = op("Mul")(present, array_ops.ones_like(losses, dtype=weights.dtype))
    if not per_batch:
        return reduction_ops.reduce_sum(wide, name="num_present")
    return reduction_ops.reduce_sum(wide, math_ops.range(1, array_ops.rank(wide)), keepdims=True, name="num_present")


def compute_weighted_loss(
    losses: Any, weights: Any = 1.0, scope: Optional[str] = None, loss_collection: Optional[str] = GraphKeys.LOSSES, reduction: str = _BY_NONZERO
) -> Tensor:
    """Losses times weights, reduced, and added to the collection.

    Args:
      losses: A tensor of floats.
      weights: A number for all, or a tensor of the same rank, whose dimensions are 1 or those of `losses`. What has
        the weight 0 does not count.
      scope: The name scope of what is made.
      loss_collection: The collection that the loss is put into; None for none.
      reduction: A value of `tf.losses.Reduction`: how they become one number; by default their sum over how many
        weights are not 0.

    Returns:
      A scalar of the dtype of `losses`; with `NONE` a tensor of its shape.

    Raises:
      ValueError: The weights do not fit, or there is no such way.

    Example:
      >>> print(tf.Session().run(tf.losses.compute_weighted_loss([1.0, 2.0, 6.0], weights=[1.0, 1.0, 0.0])))
      1.5
    """
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert_to_tensor(losses)
        given = losses.dtype
        losses = math_ops.cast(losses, dtypes.float32)
        weights = math_ops.cast(convert_to_tensor(weights), dtypes.float32)
        _check_weights(weights, losses)
        loss = op("Mul")(losses, weights)
        if reduction != Reduction.NONE:
            loss = reduction_ops.reduce_sum(loss)
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
    """Adds a loss to the collection.

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
    """The losses of the collection.

    Args:
      scope: A regular expression; only those whose names begin so.
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
    """The losses that regularizers of variables made.

    Args:
      scope: A regular expression; only those whose names begin so.

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
    """The sum of the losses that regularizers of variables made; 0 if there are none.

    Args:
      scope: A regular expression; only those whose names begin so.
      name: A name for the sum.

    Returns:
      A scalar of float32.

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
    """The sum of all losses.

    Args:
      add_regularization_losses: Whether those of regularizers count, too.
      name: A name for the sum.
      scope: A regular expression; only those whose names begin so.

    Returns:
      A scalar of float32.

    Raises:
      ValueError: There are none.

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
    """`|predictions - labels|`.

    The other arguments, and what becomes of the losses, are those of `compute_weighted_loss`.

    Args:
      labels: A tensor of numbers.
      predictions: A tensor of the same shape.

    Returns:
      A scalar of float32, or as `reduction` says.

    Raises:
      ValueError: The shapes do not fit.

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
    """1 minus the product along an axis: of vectors of norm 1.

    The other arguments, and what becomes of the losses, are those of `compute_weighted_loss`.

    Args:
      labels: A tensor of numbers.
      predictions: A tensor of the same shape.
      axis: The axis of the vectors.
      dim: What `axis` was called once.

    Returns:
      A scalar of float32, or as `reduction` says.

    Raises:
      ValueError: The shapes do not fit, or there is no axis.

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
    """`max(0, 1 - logits)` for labels of 1, `max(0, 1 + logits)` for those of 0.

    The other arguments, and what becomes of the losses, are those of `compute_weighted_loss`.

    Args:
      labels: A tensor of numbers.
      logits: A tensor of the same shape.

    Returns:
      A scalar of float32, or as `reduction` says.

    Raises:
      ValueError: The shapes do not fit.

    Example:
      >>> print(tf.Session().run(tf.losses.hinge_loss([1.0, 0.0], [0.5, 0.5])).round(4))
      1.0
    """
    _both(labels, logits, ("labels", "logits"))
    with name_scope(scope, "hinge_loss", [logits, labels, weights]) as scope:
        labels, logits = _floats(labels, logits)
        signs = op("Sub")(2 * labels, array_ops.ones_like(labels))
        losses = op("Relu")(op("Sub")(array_ops.ones_like(labels), op("Mul")(signs, logits)))
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
    """Half the square of errors up to `delta`, and beyond a line.

    The other arguments, and what becomes of the losses, are those of `compute_weighted_loss`.

    Args:
      labels: A tensor of numbers.
      predictions: A tensor of the same shape.
      delta: Where the line begins.

    Returns:
      A scalar of float32, or as `reduction` says.

    Raises:
      ValueError: The shapes do not fit.

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
    """The negative log likelihood of labels of 0 and 1 under probabilities.

    The other arguments, and what becomes of the losses, are those of `compute_weighted_loss`.

    Args:
      labels: A tensor of numbers.
      predictions: A tensor of the same shape.
      epsilon: What is added to probabilities.

    Returns:
      A scalar of float32, or as `reduction` says.

    Raises:
      ValueError: The shapes do not fit.

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
    """The squares of errors.

    The other arguments, and what becomes of the losses, are those of `compute_weighted_loss`.

    Args:
      labels: A tensor of numbers.
      predictions: A tensor of the same shape.

    Returns:
      A scalar of float32, or as `reduction` says.

    Raises:
      ValueError: The shapes do not fit.

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
    """The mean over pairs of elements of the squared difference of their errors, added up over the batch.

    Args:
      labels: A tensor of numbers.
      predictions: A tensor of the same shape.
      weights: A number for all, or one for each row.
      scope: The name scope of what is made.
      loss_collection: The collection that the loss is put into.

    Returns:
      A scalar of float32.

    Example:
      >>> print(tf.Session().run(tf.losses.mean_pairwise_squared_error([[0.0, 0.0]], [[1.0, 3.0]])))
      4.0
    """
    _both(labels, predictions)
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        weights = math_ops.cast(convert_to_tensor(weights), dtypes.float32)
        labels, predictions = _floats(labels, predictions)
        _check_weights(weights, labels)
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
    """`tf.nn.sigmoid_cross_entropy_with_logits`, with labels drawn towards a half by `label_smoothing`.

    The other arguments, and what becomes of the losses, are those of `compute_weighted_loss`.

    Args:
      multi_class_labels: A tensor of numbers between 0 and 1.
      logits: A tensor of the same shape.
      label_smoothing: How much.

    Returns:
      A scalar of float32, or as `reduction` says.

    Raises:
      ValueError: The shapes do not fit.

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
    """`tf.nn.softmax_cross_entropy_with_logits_v2`, with labels drawn towards the uniform distribution by
    `label_smoothing`.

    The other arguments, and what becomes of the losses, are those of `compute_weighted_loss`.

    Args:
      onehot_labels: A tensor of distributions in rows.
      logits: A tensor of the same shape.
      label_smoothing: How much.

    Returns:
      A scalar of float32, or as `reduction` says.

    Raises:
      ValueError: The shapes do not fit.

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
    """The cross entropy of class numbers, weighted: `tf.nn.sparse_softmax_cross_entropy_with_logits`.

    The other arguments, and what becomes of the losses, are those of `compute_weighted_loss`.

    Args:
      labels: A tensor of class numbers.
      logits: A tensor of floats with an axis more.

    Returns:
      A scalar of float32, or as `reduction` says.

    Raises:
      ValueError: The shapes do not fit.

    Example:
      >>> print(tf.Session().run(tf.losses.sparse_softmax_cross_entropy([1], [[0.0, 0.0]])).round(4))
      0.6931
    """
    _both(labels, logits, ("labels", "logits"))
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as scope:
        labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
        weights = convert_to_tensor(weights)
        # A column of labels, or of weights, is a vector.
        if None not in (labels.shape.ndims, logits.shape.ndims) and labels.shape.ndims == logits.shape.ndims and labels.shape.as_list()[-1] == 1:
            labels = array_ops.squeeze(labels, [-1])
        if None not in (weights.shape.ndims, labels.shape.ndims) and weights.shape.ndims == labels.shape.ndims + 1 and weights.shape.as_list()[-1] == 1:
            weights = array_ops.squeeze(weights, [-1])
        losses = nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


__dir__ = _namespaces.dir_of(globals())
