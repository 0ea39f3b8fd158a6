"""`tf.metrics`: numbers gathered over many runs, each a value so far and an op that takes the next batch in.

What is gathered stands in local variables (`tf.local_variables_initializer()` begins anew), which are also in the collection of metric variables.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

import millstream as tf
from millstream import _namespaces
from millstream.graph_keys import GraphKeys

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


def _variable(shape: Any, dtype: Any, name: str) -> Any:
    """A local variable of zeros."""
    return tf.Variable(
        lambda: tf.zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=True,
        name=name,
    )


def _collected(value: Any, update: Any, values_to: Any, updates_to: Any) -> Pair:
    for key in values_to or ():
        tf.add_to_collection(key, value)
    for key in updates_to or ():
        tf.add_to_collection(key, update)
    return value, update


def _wide(weights: Any, values: Any) -> Any:
    """Weights of the values' shape; `ValueError` where they cannot be."""
    weights = tf.cast(weights, tf.float32)
    if weights.get_shape().ndims and values.get_shape().ndims is not None:
        if weights.get_shape().ndims == values.get_shape().ndims + 1 and weights.get_shape().as_list()[-1] == 1:
            weights = tf.squeeze(weights, [-1])
        fits = weights.get_shape().ndims == values.get_shape().ndims and all(
            a in (1, None, b) or b is None for a, b in zip(weights.get_shape().as_list(), values.get_shape().as_list())
        )
        if not fits:
            raise ValueError(
                f"weights can not be broadcast to values. values.rank={values.get_shape().ndims}. weights.rank={weights.get_shape().ndims}."
                f" values.shape={values.get_shape()}. weights.shape={weights.get_shape()}."
            )
    return weights * tf.ones_like(values, dtype=tf.float32)


def mean(
    values: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """The mean of all values, each as often as its weight says; 0 of none.

    Args:
      values: A tensor of numbers.
      weights: A tensor that broadcasts to it; ones by default.
      metrics_collections: A list of collections that the value is put into.
      updates_collections: A list of collections that the update is put into.
      name: The variable scope of what is made.

    Returns:
      A pair of tensors: the value so far, and an update, which takes what there is now in and gives the value after
        that. They count in local variables.

    Example:
      >>> x = tf.placeholder(tf.float32, [None])
      >>> value, update = tf.metrics.mean(x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update, {x: [1.0, 2.0]}), sess.run(update, {x: [6.0]}), sess.run(value))
      1.5 3.0 3.0
    """
    with tf.variable_scope(name, "mean", (values, weights)):
        values = tf.cast(values, tf.float32)
        total, count = _variable([], tf.float32, "total"), _variable([], tf.float32, "count")
        if weights is None:
            n = tf.cast(tf.size(values), tf.float32)
        else:
            weights = _wide(weights, values)
            values, n = values * weights, tf.reduce_sum(weights)
        more = tf.assign_add(total, tf.reduce_sum(values))
        with tf.control_dependencies([values]):
            counted = tf.assign_add(count, n)
        return _collected(
            tf.div_no_nan(total, count, name="value"), tf.div_no_nan(more, counted, name="update_op"), metrics_collections, updates_collections
        )


def _same_shape(predictions: Any, labels: Any, weights: Any) -> Tuple[Any, Any, Any]:
    """Tensors of one rank: a last dimension of 1 that only one has is dropped."""
    predictions = tf.convert_to_tensor(predictions)
    labels = None if labels is None else tf.convert_to_tensor(labels)
    if labels is not None:
        a, b = predictions.get_shape(), labels.get_shape()
        if a.ndims is not None and b.ndims is not None:
            if a.ndims == b.ndims + 1 and a.as_list()[-1] == 1:
                predictions = tf.squeeze(predictions, [-1])
            elif b.ndims == a.ndims + 1 and b.as_list()[-1] == 1:
                labels = tf.squeeze(labels, [-1])
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return predictions, labels, weights


def accuracy(
    labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """How many predictions are the labels, of all.

    Args:
      labels: A tensor.
      predictions: A tensor of the same shape.


    The other arguments, and what is returned, are those of `mean`.

    Example:
      >>> value, update = tf.metrics.accuracy([1, 2, 3, 4], [1, 2, 0, 4])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      0.75 0.75
    """
    predictions, labels, weights = _same_shape(predictions, labels, weights)
    if labels.dtype != predictions.dtype:
        predictions = tf.cast(predictions, labels.dtype)
    right = tf.cast(tf.equal(predictions, labels), tf.float32)
    return mean(right, weights, metrics_collections, updates_collections, name or "accuracy")


def mean_absolute_error(
    labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """The mean of `|predictions - labels|`.

    Args:
      labels: A tensor.
      predictions: A tensor of the same shape.


    The other arguments, and what is returned, are those of `mean`.

    Example:
      >>> value, update = tf.metrics.mean_absolute_error([1.0, 2.0], [1.5, 4.5])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      1.5 1.5
    """
    predictions, labels, weights = _same_shape(tf.cast(predictions, tf.float32), tf.cast(labels, tf.float32), weights)
    return mean(tf.abs(predictions - labels), weights, metrics_collections, updates_collections, name or "mean_absolute_error")


def mean_squared_error(
    labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """The mean of the squares of errors.

    Args:
      labels: A tensor.
      predictions: A tensor of the same shape.


    The other arguments, and what is returned, are those of `mean`.

    Example:
      >>> value, update = tf.metrics.mean_squared_error([1.0, 2.0], [1.0, 4.0])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      2.0 2.0
    """
    predictions, labels, weights = _same_shape(tf.cast(predictions, tf.float32), tf.cast(labels, tf.float32), weights)
    return mean(tf.squared_difference(labels, predictions), weights, metrics_collections, updates_collections, name or "mean_squared_error")


def root_mean_squared_error(
    labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """The root of the mean of the squares of errors.

    Args:
      labels: A tensor.
      predictions: A tensor of the same shape.


    The other arguments, and what is returned, are those of `mean`.

    Example:
      >>> value, update = tf.metrics.root_mean_squared_error([0.0, 0.0], [2.0, -2.0])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      2.0 2.0
    """
    value, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    return _collected(tf.sqrt(value), tf.sqrt(update), metrics_collections, updates_collections)


def mean_relative_error(
    labels: Any,
    predictions: Any,
    normalizer: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
) -> Pair:
    """The mean of errors over `normalizer`; 0 where that is 0.

    Args:
      labels: A tensor.
      predictions: A tensor of the same shape.
      normalizer: A tensor of the same shape.


    The other arguments, and what is returned, are those of `mean`.

    Example:
      >>> value, update = tf.metrics.mean_relative_error([1.0, 2.0], [1.5, 4.0], [1.0, 2.0])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      0.75 0.75
    """
    predictions, labels, weights = _same_shape(tf.cast(predictions, tf.float32), tf.cast(labels, tf.float32), weights)
    normalizer = tf.cast(normalizer, tf.float32)
    errors = tf.where(tf.equal(normalizer, 0.0), tf.zeros_like(labels), tf.divide(tf.abs(labels - predictions), normalizer))
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
    """1 minus the mean product along a dimension: of vectors of norm 1.

    Args:
      labels: A tensor.
      predictions: A tensor of the same shape.
      dim: The dimension.


    The other arguments, and what is returned, are those of `mean`.

    Example:
      >>> value, update = tf.metrics.mean_cosine_distance([[1.0, 0.0]], [[0.5, 0.5]], dim=1)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      0.5 0.5
    """
    predictions, labels, weights = _same_shape(tf.cast(predictions, tf.float32), tf.cast(labels, tf.float32), weights)
    products = tf.reduce_sum(predictions * labels, axis=[dim], keepdims=True)
    value, update = mean(products, weights, None, None, name or "mean_cosine_distance")
    return _collected(tf.subtract(1.0, value), tf.subtract(1.0, update), metrics_collections, updates_collections)


def percentage_below(
    values: Any, threshold: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """How many values are below a threshold, of all.

    Args:
      values: A tensor of numbers.
      threshold: A scalar.


    The other arguments, and what is returned, are those of `mean`.

    Example:
      >>> value, update = tf.metrics.percentage_below([1.0, 2.0, 3.0, 4.0], 2.5)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      0.5 0.5
    """
    below = tf.cast(tf.less(values, threshold), tf.float32)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")


def mean_tensor(
    values: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """The mean of each element over the runs.


    The other arguments, and what is returned, are those of `mean`.

    Example:
      >>> value, update = tf.metrics.mean_tensor([1.0, 2.0])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      [1. 2.] [1. 2.]
    """
    with tf.variable_scope(name, "mean", (values, weights)):
        values = tf.cast(values, tf.float32)
        total = _variable(values.get_shape(), tf.float32, "total_tensor")
        count = _variable(values.get_shape(), tf.float32, "count_tensor")
        n = tf.ones_like(values)
        if weights is not None:
            weights = _wide(weights, values)
            values, n = values * weights, n * weights
        more = tf.assign_add(total, values)
        with tf.control_dependencies([values]):
            counted = tf.assign_add(count, n)
        return _collected(
            tf.div_no_nan(total, count, name="value"), tf.div_no_nan(more, counted, name="update_op"), metrics_collections, updates_collections
        )


# Right and wrong, of labels that hold or do not.


_OF_BOOLS = """{said}

Args:
  labels: A tensor of bools, or what becomes one.
  predictions: A tensor of the same shape.

The other arguments, and what is returned, are those of `mean`.

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
        with tf.variable_scope(name, called, (predictions, labels, weights)):
            predictions, labels, weights = _same_shape(tf.cast(predictions, tf.bool), tf.cast(labels, tf.bool), weights)
            holds = tf.cast(tf.logical_and(tf.equal(labels, label), tf.equal(predictions, prediction)), tf.float32)
            if weights is not None:
                holds = holds * _wide(weights, holds)
            count = _variable([], tf.float32, "count")
            return _collected(tf.identity(count), tf.assign_add(count, tf.reduce_sum(holds)), metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = called
    said = "How many predictions were %s where the label is %s." % (prediction, label)
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
        with tf.variable_scope(name, called, (predictions, labels, weights)):
            right, more_right = true_positives(labels, predictions, weights)
            wrong, more_wrong = other(labels, predictions, weights)

            def share(a: Any, b: Any, called: str) -> Any:
                return tf.where(tf.greater(a + b, 0), tf.divide(a, a + b), tf.zeros_like(a), name=called)

            return _collected(share(right, wrong, "value"), share(more_right, more_wrong, "update_op"), metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _OF_BOOLS.format(said=said, name=called, value=0.6666667 if called == "precision" else 0.5)
    return function


precision = _share("precision", false_positives, "How many of the positive predictions are right; 0 if there are none.")
recall = _share("recall", false_negatives, "How many of the positive labels were predicted; 0 if there are none.")


__dir__ = _namespaces.dir_of(globals())
