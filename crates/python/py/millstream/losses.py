"""`tf.losses`: losses with weights, reduced to a number and kept in a collection until `get_total_loss` adds them up."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from millstream import array_ops, dtypes, math_ops, nn, reduction_ops
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
    """How weighted losses become one number."""

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
        """`ValueError` if this is no way."""
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
    """Losses times weights, reduced, and added to the collection."""
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
    """Adds a loss to the collection."""
    if loss_collection:
        add_to_collection(loss_collection, loss)


def get_losses(scope: Optional[str] = None, loss_collection: str = GraphKeys.LOSSES) -> List[Any]:
    """The losses of the collection."""
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: Optional[str] = None) -> List[Any]:
    """The losses that regularizers of variables made."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: Optional[str] = None, name: str = "total_regularization_loss") -> Tensor:
    """Their sum; 0 if there are none."""
    found = get_regularization_losses(scope)
    return math_ops.add_n(found, name=name) if found else constant(0.0)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss", scope: Optional[str] = None) -> Tensor:
    """The sum of all losses."""
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
    """`|predictions - labels|`."""
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
    """1 minus the product along an axis: of vectors of norm 1."""
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
    """`max(0, 1 - logits)` for labels of 1, `max(0, 1 + logits)` for those of 0."""
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
    """Half the square of errors up to `delta`, and beyond a line."""
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
    """The negative log likelihood of labels of 0 and 1 under probabilities."""
    _both(labels, predictions)
    with name_scope(scope, "log_loss", (predictions, labels, weights)) as scope:
        labels, predictions = _floats(labels, predictions)
        positive = op("Mul")(labels, op("Log")(predictions + epsilon))
        losses = -positive - op("Mul")(1 - labels, op("Log")(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_squared_error(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: Optional[str] = None, loss_collection: Optional[str] = GraphKeys.LOSSES, reduction: str = _BY_NONZERO
) -> Tensor:
    """The squares of errors."""
    _both(labels, predictions)
    with name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
        labels, predictions = _floats(labels, predictions)
        return compute_weighted_loss(op("SquaredDifference")(predictions, labels), weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: Optional[str] = None, loss_collection: Optional[str] = GraphKeys.LOSSES
) -> Tensor:
    """The mean over pairs of elements of the squared difference of their errors, added up over the batch."""
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
    """`tf.nn.sigmoid_cross_entropy_with_logits`, with labels drawn towards a half by `label_smoothing`."""
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
    """`tf.nn.softmax_cross_entropy_with_logits_v2`, with labels drawn towards the uniform distribution by `label_smoothing`."""
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
    """`tf.nn.sparse_softmax_cross_entropy_with_logits`."""
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
