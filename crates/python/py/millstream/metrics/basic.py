"""Means and counts: pairs of a value and an operation that adds the next batch.

Accumulators are local variables, also in the collection of metric variables;
`tf.local_variables_initializer()` resets them.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

from millstream.framework import (
    add_to_collections,
    control_dependencies,
    convert_to_tensor,
    dtypes,
    node_counts,
)
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.ops import array_ops, math_ops, reduction_ops
from millstream.ops import weights as broadcasting
from millstream.variables import state_ops
from millstream.variables.scopes import variable_scope
from millstream.variables.variable import Variable

__all__ = [
    "accuracy",
    "false_negatives",
    "false_positives",
    "mean",
    "mean_absolute_error",
    "mean_cosine_distance",
    "mean_relative_error",
    "mean_squared_error",
    "mean_tensor",
    "percentage_below",
    "precision",
    "recall",
    "root_mean_squared_error",
    "true_negatives",
    "true_positives",
]

Pair = Tuple[Any, Any]


def metric_variable(shape: Any, dtype: Any, name: str, validate_shape: bool = True) -> Any:
    """Returns a local variable of zeros."""
    return Variable(
        lambda: array_ops.zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        name=name,
    )


def collected(value: Any, update: Any, values_to: Any, updates_to: Any) -> Pair:
    """Adds a value and its update to collections, and returns both."""
    for keys, tensor in ((values_to, value), (updates_to, update)):
        if keys:
            add_to_collections(keys, tensor)
    return value, update


def wide(weights: Any, values: Any) -> Any:
    """Broadcasts weights to the values' shape; raises `ValueError` if they do not fit."""
    return broadcasting.broadcast_weights(math_ops.cast(broadcasting.fit_rank(weights, values), dtypes.float32), values)


def mean(
    values: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """Computes the weighted mean of all values; 0 if there are none.

    Args:
      values: A tensor of numbers.
      weights: A scalar, or a tensor of the rank of `values` whose dimensions are 1 or those of `values`; a
        last dimension of 1 is added or dropped. By default ones.
      metrics_collections: A list of collections to add the value to.
      updates_collections: A list of collections to add the update to.
      name: The variable scope of the accumulators.

    Returns:
      A pair of tensors: the mean so far, and an update that adds the current values and returns the new mean.
        They accumulate in local variables.

    Example:
      >>> x = tf.placeholder(tf.float32, [None])
      >>> value, update = tf.metrics.mean(x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update, {x: [1.0, 2.0]}), sess.run(update, {x: [6.0]}), sess.run(value))
      1.5 3.0 3.0
    """
    with variable_scope(name, "mean", (values, weights)):
        values = math_ops.cast(values, dtypes.float32)
        total, count = metric_variable([], dtypes.float32, "total"), metric_variable([], dtypes.float32, "count")
        if weights is None:
            n = math_ops.cast(array_ops.size(values), dtypes.float32)
        else:
            weights = wide(weights, values)
            values, n = values * weights, reduction_ops.reduce_sum(weights)
        more = state_ops.assign_add(total, reduction_ops.reduce_sum(values))
        with control_dependencies([values]):
            counted = state_ops.assign_add(count, n)
        node_counts.also(4)  # It takes the maxima of the counts and 0.
        return collected(
            math_ops.div_no_nan(total, count, name="value"), math_ops.div_no_nan(more, counted, name="update_op"), metrics_collections, updates_collections
        )


def same_shape(predictions: Any, labels: Any) -> Tuple[Any, Any]:
    """Returns tensors of equal rank: drops a last dimension of 1 that only one has."""
    labels, predictions = broadcasting.squeeze_pair(labels, predictions)
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return predictions, labels


def accuracy(
    labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """Computes the fraction of predictions that equal their labels.

    Args:
      labels: A tensor.
      predictions: A tensor of the same shape.


    The other arguments and the results are those of `mean`.

    Example:
      >>> value, update = tf.metrics.accuracy([1, 2, 3, 4], [1, 2, 0, 4])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      0.75 0.75
    """
    predictions, labels = same_shape(predictions, labels)
    if labels.dtype != predictions.dtype:
        predictions = math_ops.cast(predictions, labels.dtype)
    right = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
    return mean(right, weights, metrics_collections, updates_collections, name or "accuracy")


def mean_absolute_error(
    labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """Computes the mean absolute error: the mean of `|predictions - labels|`.

    Args:
      labels: A tensor.
      predictions: A tensor of the same shape.


    The other arguments and the results are those of `mean`.

    Example:
      >>> value, update = tf.metrics.mean_absolute_error([1.0, 2.0], [1.5, 4.5])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      1.5 1.5
    """
    predictions, labels = same_shape(predictions, labels)
    return mean(math_ops.abs(predictions - labels), weights, metrics_collections, updates_collections, name or "mean_absolute_error")


def mean_squared_error(
    labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """Computes the mean squared error.

    Args:
      labels: A tensor.
      predictions: A tensor of the same shape.


    The other arguments and the results are those of `mean`.

    Example:
      >>> value, update = tf.metrics.mean_squared_error([1.0, 2.0], [1.0, 4.0])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      2.0 2.0
    """
    predictions, labels = same_shape(predictions, labels)
    return mean(op("SquaredDifference")(labels, predictions), weights, metrics_collections, updates_collections, name or "mean_squared_error")


def root_mean_squared_error(
    labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """Computes the square root of the mean squared error.

    Args:
      labels: A tensor.
      predictions: A tensor of the same shape.


    The other arguments and the results are those of `mean`.

    Example:
      >>> value, update = tf.metrics.root_mean_squared_error([0.0, 0.0], [2.0, -2.0])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      2.0 2.0
    """
    value, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    return collected(op("Sqrt")(value), op("Sqrt")(update), metrics_collections, updates_collections)


def mean_relative_error(
    labels: Any,
    predictions: Any,
    normalizer: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
) -> Pair:
    """Computes the mean of absolute errors divided by `normalizer`; 0 where that is 0.

    Args:
      labels: A tensor.
      predictions: A tensor of the same shape.
      normalizer: A tensor of the same shape.


    The other arguments and the results are those of `mean`.

    Example:
      >>> value, update = tf.metrics.mean_relative_error([1.0, 2.0], [1.5, 4.0], [1.0, 2.0])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      0.75 0.75
    """
    predictions, labels = same_shape(predictions, labels)
    predictions, normalizer = same_shape(predictions, normalizer)
    errors = array_ops.where(math_ops.equal(normalizer, 0.0), array_ops.zeros_like(labels), math_ops.divide(math_ops.abs(labels - predictions), normalizer))
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_relative_error")


def mean_cosine_distance(
    labels: Any,
    predictions: Any,
    dim: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
) -> Pair:
    """Computes the mean cosine distance of unit vectors: 1 minus the mean of dot products along a dimension.

    Args:
      labels: A tensor.
      predictions: A tensor of the same shape.
      dim: The dimension of the vectors.


    The other arguments and the results are those of `mean`.

    Example:
      >>> value, update = tf.metrics.mean_cosine_distance([[1.0, 0.0]], [[0.5, 0.5]], dim=1)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      0.5 0.5
    """
    predictions, labels = same_shape(predictions, labels)
    products = reduction_ops.reduce_sum(predictions * labels, axis=[dim], keepdims=True)
    value, update = mean(products, weights, None, None, name or "mean_cosine_distance")
    return collected(math_ops.subtract(1.0, value), math_ops.subtract(1.0, update), metrics_collections, updates_collections)


def percentage_below(
    values: Any, threshold: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """Computes the fraction of values below a threshold.

    Args:
      values: A tensor of numbers.
      threshold: A scalar.


    The other arguments and the results are those of `mean`.

    Example:
      >>> value, update = tf.metrics.percentage_below([1.0, 2.0, 3.0, 4.0], 2.5)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      0.5 0.5
    """
    below = math_ops.cast(op("Less")(values, threshold), dtypes.float32)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")


def mean_tensor(
    values: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """Computes the element-wise mean over runs.


    The other arguments and the results are those of `mean`.

    Example:
      >>> value, update = tf.metrics.mean_tensor([1.0, 2.0])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      [1. 2.] [1. 2.]
    """
    with variable_scope(name, "mean", (values, weights)):
        values = math_ops.cast(values, dtypes.float32)
        total = metric_variable(values.get_shape(), dtypes.float32, "total_tensor")
        count = metric_variable(values.get_shape(), dtypes.float32, "count_tensor")
        n = array_ops.ones_like(values)
        if weights is not None:
            weights = wide(weights, values)
            values, n = values * weights, n * weights
        more = state_ops.assign_add(total, values)
        with control_dependencies([values]):
            counted = state_ops.assign_add(count, n)
        return collected(
            math_ops.div_no_nan(total, count, name="value"), math_ops.div_no_nan(more, counted, name="update_op"), metrics_collections, updates_collections
        )


# Counts of right and wrong predictions of boolean labels.


_OF_BOOLS = """{said}

Args:
  labels: A tensor of bools, or a value that converts to one.
  predictions: A tensor of the same shape.

The other arguments and the results are those of `mean`.

Example:
  >>> labels, predictions = [True, True, True, True, False, False], [True, True, False, False, True, False]
  >>> value, update = tf.metrics.{name}(labels, predictions)
  >>> with tf.Session() as sess:
  ...     sess.run(tf.local_variables_initializer())
  ...     print(sess.run(update), sess.run(value))
  {value} {value}
"""


def _counted(called: str, label: bool, prediction: bool) -> Any:
    def function(
        labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
    ) -> Pair:
        with variable_scope(name, called, (predictions, labels, weights)):
            predictions, labels = same_shape(math_ops.cast(predictions, dtypes.bool), math_ops.cast(labels, dtypes.bool))
            holds = math_ops.cast(op("LogicalAnd")(math_ops.equal(labels, label), math_ops.equal(predictions, prediction)), dtypes.float32)
            if weights is not None:
                # As in TensorFlow, nothing but the product checks the shape.
                holds = math_ops.multiply(holds, math_ops.cast(broadcasting.fit_rank(weights, holds), dtypes.float32))
            count = metric_variable([], dtypes.float32, "count")
            node_counts.also(1)  # The dtype is asserted.
            return collected(array_ops.identity(count), state_ops.assign_add(count, reduction_ops.reduce_sum(holds)), metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = called
    said = "The number of predictions of %s where the label is %s." % (prediction, label)
    function.__doc__ = _OF_BOOLS.format(said=said, name=called, value={"true_positives": 2.0, "false_negatives": 2.0}.get(called, 1.0))
    return function


true_positives = _counted("true_positives", True, True)
true_negatives = _counted("true_negatives", False, False)
false_positives = _counted("false_positives", False, True)
false_negatives = _counted("false_negatives", True, False)


def _share(called: str, other: Any, said: str) -> Any:
    def function(
        labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
    ) -> Pair:
        with variable_scope(name, called, (predictions, labels, weights)):
            right, more_right = true_positives(labels, predictions, weights)
            wrong, more_wrong = other(labels, predictions, weights)

            def share(a: Any, b: Any, called: str) -> Any:
                return array_ops.where(op("Greater")(a + b, 0), math_ops.divide(a, a + b), array_ops.zeros_like(a), name=called)

            return collected(share(right, wrong, "value"), share(more_right, more_wrong, "update_op"), metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _OF_BOOLS.format(said=said, name=called, value=0.6666667 if called == "precision" else 0.5)
    return function


precision = _share(
    "precision", false_positives, "The fraction of positive predictions that are right; 0 if there are none."
)
recall = _share("recall", false_negatives, "The fraction of positive labels that are predicted; 0 if there are none.")
