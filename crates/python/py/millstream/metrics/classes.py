"""Statistics of each class, averaged over classes."""

from __future__ import annotations

from typing import Any, Optional

from millstream.framework import convert_to_tensor, dtypes
from millstream.framework.op_functions import op
from millstream.metrics.basic import Pair, collected, metric_variable
from millstream.ops import array_ops, counting_ops, math_ops, reduction_ops
from millstream.variables import state_ops
from millstream.variables.scopes import variable_scope

__all__ = ["mean_iou", "mean_per_class_accuracy"]


def _flat(values: Any) -> Any:
    return array_ops.reshape(values, [-1]) if 1 < values.get_shape().ndims else values


def mean_per_class_accuracy(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
) -> Pair:
    """Computes the mean over classes of the fraction of a class's labels that are predicted.

    The update is a vector: the fraction of each class.

    Args:
      labels: A tensor of class numbers.
      predictions: A tensor of class numbers, of the same shape.
      num_classes: The number of classes.
      weights: A tensor of the same shape.

    The other arguments and the results are those of `mean`.

    Example:
      >>> labels, predictions = tf.constant([0, 0, 1]), tf.constant([0, 1, 1])
      >>> value, update = tf.metrics.mean_per_class_accuracy(labels, predictions, 2)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      [0.5 1. ] 0.75
    """
    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = _flat(math_ops.cast(labels, dtypes.int64))
        predictions = _flat(convert_to_tensor(predictions))
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        total, count = (metric_variable([num_classes], dtypes.float32, called) for called in ("total", "count"))
        ones = array_ops.ones([array_ops.size(labels)], dtypes.float32)
        right = math_ops.cast(math_ops.equal(math_ops.cast(predictions, labels.dtype), labels), dtypes.float32)
        if weights is not None:
            weights = math_ops.cast(_flat(convert_to_tensor(weights)), dtypes.float32)
            right, ones = right * weights, ones * weights
        more, counted = state_ops.scatter_add(total, labels, ones), state_ops.scatter_add(count, labels, right)
        shares = math_ops.div_no_nan(count, op("Maximum")(total, 0.0))
        update = math_ops.div_no_nan(counted, op("Maximum")(more, 0.0), name="update_op")
        return collected(reduction_ops.reduce_mean(shares, name="mean_accuracy"), update, metrics_collections, updates_collections)


def streaming_confusion_matrix(labels: Any, predictions: Any, num_classes: int, weights: Any = None) -> Pair:
    """Returns a variable that counts pairs of a label and a prediction, and its update.

    Programs make metrics of them. A row is a label and a column a prediction, in float64.

    Args:
      labels: A tensor of class numbers.
      predictions: A tensor of class numbers, with as many elements.
      num_classes: The number of classes.
      weights: A tensor with as many elements, or None.
    """
    matrix = metric_variable([num_classes, num_classes], dtypes.float64, "total_confusion_matrix")
    predictions, labels = math_ops.cast(predictions, dtypes.int64), math_ops.cast(labels, dtypes.int64)
    n = math_ops.cast(num_classes, dtypes.int64)
    predictions, labels = _flat(predictions), _flat(labels)
    weights = None if weights is None else _flat(convert_to_tensor(weights))
    current = counting_ops.confusion_matrix(labels, predictions, n, weights=weights, dtype=dtypes.float64)
    return matrix, state_ops.assign_add(matrix, current)


def mean_iou(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
) -> Pair:
    """Computes the mean over classes of intersection over union of labels and predictions.

    Classes that neither have are left out. The update is the confusion matrix.

    Args:
      labels: A tensor of class numbers.
      predictions: A tensor of class numbers, of the same shape.
      num_classes: The number of classes.
      weights: A tensor of the same shape.

    The other arguments and the results are those of `mean`.

    Example:
      >>> labels, predictions = tf.constant([0, 0, 1]), tf.constant([0, 1, 1])
      >>> value, update = tf.metrics.mean_iou(labels, predictions, 2)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update).tolist(), sess.run(value))
      [[1.0, 1.0], [0.0, 1.0]] 0.5
    """
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        matrix, update = streaming_confusion_matrix(labels, predictions, num_classes, weights)
        sums = [math_ops.cast(reduction_ops.reduce_sum(matrix, axis), dtypes.float32) for axis in (0, 1)]
        both = math_ops.cast(op("DiagPart")(matrix), dtypes.float32)
        union = sums[0] + sums[1] - both
        present = reduction_ops.reduce_sum(math_ops.cast(math_ops.not_equal(union, 0), dtypes.float32))
        union = array_ops.where(op("Greater")(union, 0.0), union, array_ops.ones_like(union))
        shares = math_ops.div(both, union)
        any_present = op("Greater")(present, 0.0)
        value = array_ops.where(any_present, reduction_ops.reduce_sum(shares, name="mean_iou") / present, 0.0)
        return collected(value, update, metrics_collections, updates_collections)
