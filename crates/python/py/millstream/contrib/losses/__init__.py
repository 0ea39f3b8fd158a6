"""`tf.contrib.losses`: losses with predictions before labels, and weights for each row of a batch.

They are the predecessors of `tf.losses`. Weights have the shape of the first dimensions of the losses.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional

from millstream import losses as later
from millstream.contrib.framework.arg_scopes import add_arg_scope
from millstream.contrib.losses import metric_learning as metric_learning
from millstream.framework import add_to_collection, convert_to_tensor, dtypes, name_scope, namespaces
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.nn import functions
from millstream.ops import array_ops, math_ops, reduction_ops

__all__ = [
    "absolute_difference",
    "add_loss",
    "compute_weighted_loss",
    "cosine_distance",
    "get_losses",
    "get_regularization_losses",
    "get_total_loss",
    "hinge_loss",
    "log_loss",
    "mean_pairwise_squared_error",
    "mean_squared_error",
    "metric_learning",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]


def _scaled(losses: Any, weights: Any) -> Any:
    """Returns the weighted sum: a weight counts for all elements of its row."""
    inner = list(range(weights.get_shape().ndims, losses.get_shape().ndims))
    return reduction_ops.reduce_sum(math_ops.multiply(reduction_ops.reduce_sum(losses, axis=inner), weights))


def _present(losses: Any, weights: Any) -> Any:
    """Returns for each row of the batch the number of elements whose weight is not 0."""
    if weights.get_shape().ndims == 0:
        batch = array_ops.shape(losses)[0]
        each = math_ops.div(math_ops.cast(array_ops.size(losses), dtypes.float32), math_ops.cast(batch, dtypes.float32))
        each = array_ops.where(math_ops.equal(weights, 0), array_ops.zeros_like(each), each)
        return math_ops.multiply(array_ops.ones(array_ops.reshape(batch, [1])), each)
    others = list(range(1, weights.get_shape().ndims))
    nonzero = reduction_ops.reduce_sum(math_ops.cast(math_ops.not_equal(weights, 0), dtypes.float32), axis=others)
    return math_ops.multiply(
        nonzero, math_ops.cast(reduction_ops.reduce_prod(array_ops.shape(losses)[weights.get_shape().ndims :]), dtypes.float32)
    )


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: Optional[str] = None) -> Any:
    """Returns the mean of weighted losses over the elements whose weight is not 0, and collects it.

    Args:
      losses: A tensor of floats of known rank.
      weights: A number, or a tensor of the shape of the first dimensions of `losses`. A last dimension of 1
        is dropped.
      scope: The name scope.

    Returns:
      A scalar tensor, which is added to the collection `losses`.

    Raises:
      ValueError: A rank is unknown.

    Example:
      >>> loss = tf.contrib.losses.compute_weighted_loss([[1.0, 3.0], [5.0, 7.0]], [1.0, 0.0])
      >>> print(tf.Session().run(loss))
      2.0
    """
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert_to_tensor(losses)
        given = losses.dtype
        losses = math_ops.cast(losses, dtypes.float32)
        weights = math_ops.cast(convert_to_tensor(weights), dtypes.float32)
        for tensor, called in ((losses, "losses"), (weights, "weights")):
            if tensor.get_shape().ndims is None:
                raise ValueError("%s.get_shape().ndims cannot be None" % called)
        if 1 < weights.get_shape().ndims and weights.get_shape().as_list()[-1] in (1, None):
            weights = array_ops.squeeze(weights, [-1])
        total, present = _scaled(losses, weights), reduction_ops.reduce_sum(_present(losses, weights))
        mean = math_ops.cast(math_ops.div_no_nan(reduction_ops.reduce_sum(total), present, name="value"), given)
        add_loss(mean)
        return mean


@add_arg_scope
def add_loss(loss: Any, loss_collection: Optional[str] = GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection.

    Args:
      loss: A tensor.
      loss_collection: The collection; None for none.

    Example:
      >>> tf.contrib.losses.add_loss(tf.constant(1.0))
      >>> len(tf.contrib.losses.get_losses())
      1
    """
    if loss_collection:
        add_to_collection(loss_collection, loss)


def get_losses(scope: Optional[str] = None, loss_collection: str = GraphKeys.LOSSES) -> List[Any]:
    """Returns the losses of a collection; the arguments are those of `tf.losses.get_losses`.

    Args:
      scope: A regular expression that the names begin with.
      loss_collection: The collection.

    Example:
      >>> tf.contrib.losses.get_losses()
      []
    """
    return later.get_losses(scope, loss_collection)


def get_regularization_losses(scope: Optional[str] = None) -> List[Any]:
    """Returns the regularization losses.

    Args:
      scope: A regular expression that the names begin with.

    Example:
      >>> tf.contrib.losses.get_regularization_losses()
      []
    """
    return later.get_regularization_losses(scope)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> Any:
    """Returns the sum of all losses.

    Args:
      add_regularization_losses: If true, regularization losses are included.
      name: The name of the operation.

    Returns:
      A scalar tensor.

    Example:
      >>> tf.contrib.losses.add_loss(tf.constant(1.5))
      >>> print(tf.Session().run(tf.contrib.losses.get_total_loss()))
      1.5
    """
    return later.get_total_loss(add_regularization_losses, name)


_LOSS = """{said}

Args:
  predictions: A tensor of floats.
  labels: A tensor of the same shape.
  weights: As in `compute_weighted_loss`.
  scope: The name scope.
{more}
Returns:
  A scalar tensor, which is added to the collection `losses`.

Example:
  >>> loss = tf.contrib.losses.{called}(tf.constant([[0.5, 0.25]]), tf.constant([[1.0, 0.0]]))
  >>> print(tf.Session().run(loss).round(3))
  {value}
"""


def _floats(predictions: Any, labels: Any) -> Any:
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return math_ops.cast(predictions, dtypes.float32), math_ops.cast(labels, dtypes.float32)


def _elementwise(called: str, losses: Callable[[Any, Any], Any], said: str, value: str) -> Any:
    def function(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: Optional[str] = None) -> Any:
        with name_scope(scope, called, [predictions, labels, weights]) as inner:
            return compute_weighted_loss(losses(*_floats(predictions, labels)), weights, scope=inner)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _LOSS.format(said=said, called=called, value=value, more="")
    return function


absolute_difference = _elementwise("absolute_difference", lambda p, t: math_ops.abs(math_ops.subtract(p, t)), "Returns the mean absolute error.", "0.375")
mean_squared_error = _elementwise("mean_squared_error", lambda p, t: op("SquaredDifference")(p, t), "Returns the mean squared error.", "0.156")


def log_loss(predictions: Any, labels: Any = None, weights: Any = 1.0, epsilon: float = 1e-7, scope: Optional[str] = None) -> Any:
    """Returns the mean logistic loss of probabilities.

    Args:
      predictions: A tensor of floats in [0, 1].
      labels: A tensor of the same shape.
      weights: As in `compute_weighted_loss`.
      epsilon: A constant added in logarithms.
      scope: The name scope.

    Returns:
      A scalar tensor, which is added to the collection `losses`.

    Example:
      >>> loss = tf.contrib.losses.log_loss(tf.constant([[0.5, 0.5]]), tf.constant([[1.0, 0.0]]))
      >>> print(tf.Session().run(loss).round(3))
      0.693
    """
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as inner:
        predictions, labels = _floats(predictions, labels)
        right, wrong = op("Log")(predictions + epsilon), op("Log")(1 - predictions + epsilon)
        losses = -math_ops.multiply(labels, right) - math_ops.multiply((1 - labels), wrong)
        return compute_weighted_loss(losses, weights, scope=inner)


def cosine_distance(
    predictions: Any, labels: Any = None, axis: Optional[int] = None, weights: Any = 1.0, scope: Optional[str] = None, dim: Optional[int] = None
) -> Any:
    """Returns the mean cosine distance of unit vectors.

    Args:
      predictions: A tensor of floats.
      labels: A tensor of the same shape.
      axis: The axis of the vectors.
      weights: As in `compute_weighted_loss`.
      scope: The name scope.
      dim: The former name of `axis`.

    Returns:
      A scalar tensor, which is added to the collection `losses`.

    Raises:
      ValueError: The axis is missing, or given twice.

    Example:
      >>> loss = tf.contrib.losses.cosine_distance(tf.constant([[0.6, 0.8]]), tf.constant([[1.0, 0.0]]), 1)
      >>> print(tf.Session().run(loss).round(3))
      0.4
    """
    if axis is not None and dim is not None:
        raise ValueError("Cannot specify both 'axis' and 'dim'")
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as inner:
        predictions, labels = _floats(predictions, labels)
        losses = 1 - reduction_ops.reduce_sum(math_ops.multiply(predictions, labels), axis=[axis])
        return compute_weighted_loss(losses, weights, scope=inner)


def hinge_loss(logits: Any, labels: Any = None, scope: Optional[str] = None) -> Any:
    """Returns the hinge loss of each element; it is not collected.

    Args:
      logits: A tensor of floats.
      labels: A tensor of 0 and 1, of the same shape.
      scope: The name scope.

    Returns:
      A tensor of the same shape.

    Example:
      >>> print(tf.Session().run(tf.contrib.losses.hinge_loss(tf.constant([2.0, 0.5]), tf.constant([1.0, 0.0]))))
      [0.  1.5]
    """
    with name_scope(scope, "hinge_loss", [logits, labels]):
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        labels = math_ops.cast(labels, dtypes.float32)
        ones = array_ops.ones_like(labels)
        return op("Relu")(math_ops.subtract(ones, math_ops.multiply(math_ops.subtract(2 * labels, ones), logits)))


def mean_pairwise_squared_error(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: Optional[str] = None) -> Any:
    """Returns the mean squared error of the differences between pairs of elements of a row.

    Args:
      predictions: A tensor of floats.
      labels: A tensor of the same shape.
      weights: As in `compute_weighted_loss`.
      scope: The name scope.

    Returns:
      A scalar tensor, which is added to the collection `losses`.

    Raises:
      ValueError: A rank is unknown.

    Example:
      >>> error = tf.contrib.losses.mean_pairwise_squared_error
      >>> print(tf.Session().run(error(tf.constant([[1.0, 3.0]]), tf.constant([[1.0, 0.0]]))))
      4.5
    """
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        predictions, labels = _floats(predictions, labels)
        weights = math_ops.cast(convert_to_tensor(weights), dtypes.float32)
        diffs = math_ops.subtract(predictions, labels)
        for tensor, called in ((diffs, "diffs"), (weights, "weights")):
            if tensor.get_shape().ndims is None:
                raise ValueError("%s.get_shape().ndims cannot be None" % called)
        inner = list(range(1, len(diffs.get_shape())))
        present = _present(diffs, weights)
        squares = 2.0 * math_ops.div_no_nan(reduction_ops.reduce_sum(op("Square")(diffs), axis=inner), present, name="value")
        sums = reduction_ops.reduce_sum(diffs, axis=inner)
        products = 2.0 * math_ops.div_no_nan(op("Square")(sums), op("Square")(present), name="value")
        loss = _scaled(squares - products, weights)
        mean = array_ops.where(op("Greater")(reduction_ops.reduce_sum(present), 0.0), loss, array_ops.zeros_like(loss), name="value")
        add_loss(mean)
        return mean


def sigmoid_cross_entropy(logits: Any, multi_class_labels: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: Optional[str] = None) -> Any:
    """Returns the mean cross entropy of independent probabilities.

    Args:
      logits: A tensor of floats.
      multi_class_labels: A tensor of the same shape.
      weights: As in `compute_weighted_loss`.
      label_smoothing: The weight of 0.5 in the labels.
      scope: The name scope.

    Returns:
      A scalar tensor, which is added to the collection `losses`.

    Example:
      >>> loss = tf.contrib.losses.sigmoid_cross_entropy(tf.constant([[0.0]]), tf.constant([[1.0]]))
      >>> print(tf.Session().run(loss).round(3))
      0.693
    """
    with name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as inner:
        logits.get_shape().assert_is_compatible_with(multi_class_labels.get_shape())
        labels = math_ops.cast(multi_class_labels, logits.dtype)
        if 0 < label_smoothing:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = functions.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=inner)


def softmax_cross_entropy(logits: Any, onehot_labels: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: Optional[str] = None) -> Any:
    """Returns the mean cross entropy of classes given as one-hot rows.

    Args:
      logits: A matrix of floats.
      onehot_labels: A matrix of the same shape.
      weights: As in `compute_weighted_loss`.
      label_smoothing: The weight of the uniform distribution in the labels.
      scope: The name scope.

    Returns:
      A scalar tensor, which is added to the collection `losses`.

    Example:
      >>> loss = tf.contrib.losses.softmax_cross_entropy(tf.constant([[0.0, 0.0]]), tf.constant([[1.0, 0.0]]))
      >>> print(tf.Session().run(loss).round(3))
      0.693
    """
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as inner:
        logits.get_shape().assert_is_compatible_with(onehot_labels.get_shape())
        labels = math_ops.cast(onehot_labels, logits.dtype)
        if 0 < label_smoothing:
            classes = math_ops.cast(array_ops.shape(labels)[1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        losses = functions.softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=inner)


def sparse_softmax_cross_entropy(logits: Any, labels: Any, weights: Any = 1.0, scope: Optional[str] = None) -> Any:
    """Returns the mean cross entropy of classes given as numbers.

    Args:
      logits: A matrix of floats.
      labels: A vector of integers, or a matrix with one column.
      weights: As in `compute_weighted_loss`.
      scope: The name scope.

    Returns:
      A scalar tensor, which is added to the collection `losses`.

    Example:
      >>> loss = tf.contrib.losses.sparse_softmax_cross_entropy(tf.constant([[0.0, 0.0]]), tf.constant([1]))
      >>> print(tf.Session().run(loss).round(3))
      0.693
    """
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as inner:
        labels = array_ops.reshape(labels, shape=[array_ops.shape(labels)[0]])
        losses = functions.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=inner)


__getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> List[str]:
    return sorted(__all__)
