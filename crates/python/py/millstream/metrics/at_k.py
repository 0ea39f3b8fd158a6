"""Precision and recall of the best k predictions of each example."""

from __future__ import annotations

from typing import Any, Callable, Optional

from millstream.framework import SparseTensor, control_dependencies, convert_to_tensor, convert_to_tensor_or_sparse_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.metrics.basic import Pair, collected, metric_variable
from millstream.nn import functions
from millstream.ops import array_ops, control_flow, math_ops, reduction_ops, set_ops, sparse_ops
from millstream.ops import weights as broadcasting
from millstream.variables import state_ops

__all__ = [
    "average_precision_at_k",
    "precision_at_k",
    "precision_at_top_k",
    "recall_at_k",
    "recall_at_top_k",
    "sparse_average_precision_at_k",
    "sparse_precision_at_k",
]


def _name(called: str, k: Optional[int] = None, class_id: Optional[int] = None) -> str:
    called = "%s_at_%s" % (called, "k" if k is None else "%d" % k)
    return called if class_id is None else "%s_class%d" % (called, class_id)


def _expanded(labels: Any, predictions: Any) -> Any:
    """Returns labels of the rank of the predictions: one label for each example becomes a set of one."""
    with name_scope(None, "expand_labels", (labels, predictions)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        rank = predictions.get_shape().ndims
        own = labels.get_shape().ndims
        if own is None or rank is None:
            if isinstance(labels, SparseTensor):
                raise ValueError("The ranks of sparse labels and of predictions must be known: set their shapes")
            wider = math_ops.equal(array_ops.rank(predictions), array_ops.rank(labels) + 1)
            narrow = labels
            return control_flow.cond(wider, lambda: array_ops.expand_dims(narrow, -1, name=scope), lambda: narrow)
        if rank == own:
            return labels
        if isinstance(labels, SparseTensor):
            shape = array_ops.concat([labels.dense_shape, math_ops.cast([1], dtypes.int64)], 0)
            return sparse_ops.sparse_reshape(labels, shape, name=scope) if rank == own + 1 else labels
        if rank == own + 1:
            return array_ops.expand_dims(labels, -1, name=scope)
        raise ValueError("Unexpected labels shape %s for predictions shape %s." % (labels.get_shape(), predictions.get_shape()))


def _of_class(ids: Any, class_id: Optional[int]) -> Any:
    """Returns the sets with only one class, or as they are."""
    if class_id is None:
        return ids
    ids = convert_to_tensor_or_sparse_tensor(ids)
    if isinstance(ids, SparseTensor):
        return sparse_ops.sparse_retain(ids, math_ops.equal(ids.values, math_ops.cast(class_id, ids.values.dtype)))
    shape = array_ops.shape(ids, out_type=dtypes.int64)
    wanted = op("Fill")(array_ops.concat([shape[:-1], math_ops.cast([1], dtypes.int64)], 0), math_ops.cast(class_id, dtypes.int64))
    found = set_ops.set_intersection(wanted, ids)
    return SparseTensor(found.indices, found.values, shape)


def _weighted(counts: Any, weights: Any) -> Any:
    counts = math_ops.cast(counts, dtypes.float64)
    if weights is None:
        return counts
    with control_dependencies([broadcasting.assert_broadcastable(weights, counts)]):
        return math_ops.multiply(counts, math_ops.cast(weights, dtypes.float64))


def _hits(labels: Any, predictions: Any, class_id: Optional[int], weights: Any, kind: str) -> Any:
    """Returns for each example how many predictions are right, wrong, or missing."""
    with name_scope(None, kind + "s", (predictions, labels, weights)):
        labels, predictions = _of_class(labels, class_id), _of_class(predictions, class_id)
        if kind == "true_positive":
            found = set_ops.set_intersection(predictions, labels)
        else:
            found = set_ops.set_difference(predictions, labels, aminusb=kind == "false_positive")
        return _weighted(set_ops.set_size(found), weights)


def _streamed(labels: Any, predictions: Any, k: Optional[int], class_id: Optional[int], weights: Any, kind: str) -> Pair:
    """Returns a variable that counts hits of all runs, and its update."""
    with name_scope(None, _name(kind, k, class_id), (predictions, labels, weights)) as scope:
        batch = reduction_ops.reduce_sum(_hits(labels, predictions, class_id, weights, kind))
        count = metric_variable([], dtypes.float64, scope)
        return count, state_ops.assign_add(count, batch, name="update")


def _shared(called: str, other: str) -> Callable[..., Pair]:
    """Returns a metric: the share of right predictions in them and the `other` ones."""

    def function(
        labels: Any,
        predictions_idx: Any,
        k: Optional[int] = None,
        class_id: Optional[int] = None,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: Optional[str] = None,
    ) -> Pair:
        with name_scope(name, _name(called, k, class_id), (predictions_idx, labels, weights)) as scope:
            predictions_idx = math_ops.cast(convert_to_tensor(predictions_idx), dtypes.int64)
            labels = _expanded(labels, predictions_idx)
            right, more_right = _streamed(labels, predictions_idx, k, class_id, weights, "true_positive")
            wrong, more_wrong = _streamed(labels, predictions_idx, k, class_id, weights, other)
            value = math_ops.div(right, op("Add")(right, wrong), name=scope)
            update = math_ops.div(more_right, op("Add")(more_right, more_wrong), name="update")
            return collected(value, update, metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = called + "_at_top_k"
    function.__doc__ = _TOP.format(called=called, value=_EXAMPLE_VALUES[called])
    return function


def _best(called: str, top: Callable[..., Pair]) -> Callable[..., Pair]:
    """Returns a metric that first finds the best k predictions."""

    def function(
        labels: Any,
        predictions: Any,
        k: int,
        class_id: Optional[int] = None,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: Optional[str] = None,
    ) -> Pair:
        with name_scope(name, _name(called, k, class_id), (predictions, labels, weights)) as scope:
            _, best = functions.top_k(predictions, k)
            return top(labels, best, k, class_id, weights, metrics_collections, updates_collections, scope)

    function.__name__ = function.__qualname__ = called + "_at_k"
    function.__doc__ = _BEST.format(called=called, value=_EXAMPLE_VALUES[called])
    return function


_EXAMPLE_VALUES = {"precision": 0.5, "recall": 1.0}

_TOP = """Computes the {called} of the best k predictions of each example; NaN before there are any.

Args:
  labels: The classes of each example: an `int64` tensor of shape `[.., n]`, or a `SparseTensor`. One class
    for each example may lack the last dimension.
  predictions_idx: The best predictions of each example: a tensor of shape `[.., k]`.
  k: The number k; only part of names.
  class_id: The only class that counts; by default all classes do.

The other arguments and the results are those of `mean`.

Example:
  >>> value, update = tf.metrics.{called}_at_top_k(tf.constant([[2], [0]], tf.int64), [[2, 1], [1, 0]])
  >>> with tf.Session() as sess:
  ...     sess.run(tf.local_variables_initializer())
  ...     print(sess.run(update), sess.run(value))
  {value} {value}
"""

_BEST = """Computes the {called} of the best k predictions of each example; NaN before there are any.

Args:
  labels: The classes of each example: an `int64` tensor of shape `[.., n]`, or a `SparseTensor`. One class
    for each example may lack the last dimension.
  predictions: The scores of all classes: a tensor of shape `[.., classes]`.
  k: The number of predictions of each example.
  class_id: The only class that counts; by default all classes do.

The other arguments and the results are those of `mean`.

Example:
  >>> value, update = tf.metrics.{called}_at_k(tf.constant([[2], [0]], tf.int64), [[0.1, 0.2, 0.7],
  ...     [0.4, 0.5, 0.1]], 2)
  >>> with tf.Session() as sess:
  ...     sess.run(tf.local_variables_initializer())
  ...     print(sess.run(update), sess.run(value))
  {value} {value}
"""

precision_at_top_k = _shared("precision", "false_positive")
recall_at_top_k = _shared("recall", "false_negative")
precision_at_k = _best("precision", precision_at_top_k)
recall_at_k = _best("recall", recall_at_top_k)
sparse_precision_at_k = precision_at_k


def average_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
) -> Pair:
    """Computes the average precision of the best 1, 2, .. k predictions of each example.

    Args:
      labels: The classes of each example: an `int64` tensor of shape `[.., n]`, or a `SparseTensor`.
      predictions: The scores of all classes: a tensor of shape `[.., classes]`.
      k: The largest number of predictions.
      weights: A scalar, or a weight for each example.

    The other arguments and the results are those of `mean`.

    Raises:
      ValueError: `k` is not positive.

    Example:
      >>> value, update = tf.metrics.average_precision_at_k(tf.constant([[2], [0]], tf.int64),
      ...     [[0.1, 0.2, 0.7], [0.4, 0.5, 0.1]], 2)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(value))
      0.75 0.75
    """
    if k < 1:
        raise ValueError("Invalid k=%s." % k)
    with name_scope(name, _name("average_precision", k), (predictions, labels, weights)) as scope:
        predictions = convert_to_tensor(predictions)
        _, best = functions.top_k(predictions, k)
        classes = math_ops.cast(array_ops.shape(predictions)[-1], dtypes.int64)
        return average_precision(_in_range(labels, classes), best, weights, metrics_collections, updates_collections, scope)


sparse_average_precision_at_k = average_precision_at_k


def _in_range(labels: Any, classes: Any) -> Any:
    """Returns labels with -1 for classes that are not predicted."""
    labels = convert_to_tensor_or_sparse_tensor(labels)

    def cleaned(values: Any) -> Any:
        return array_ops.where(op("GreaterEqual")(math_ops.cast(values, dtypes.int64), classes), -array_ops.ones_like(values), values)

    values = labels.values if isinstance(labels, SparseTensor) else labels
    # The name of this node makes that of the variable `max` what it is in TensorFlow: `max_1`.
    outside = op("GreaterEqual")(math_ops.cast(reduction_ops.reduce_max(values), dtypes.int64), classes)
    values = control_flow.cond(outside, lambda: cleaned(values), lambda: values)
    return SparseTensor(labels.indices, values, labels.dense_shape) if isinstance(labels, SparseTensor) else values


def average_precision(
    labels: Any, predictions_idx: Any, weights: Any, metrics_collections: Any, updates_collections: Any, name: Optional[str]
) -> Pair:
    """Computes the average precision of ranked predictions; see `average_precision_at_k`."""
    with name_scope(name, "average_precision_at_top_k", (predictions_idx, labels, weights)) as scope:
        precision = _average_precision(labels, predictions_idx)
        if weights is not None:
            weights = broadcasting.broadcast_weights(math_ops.cast(weights, dtypes.float64), precision)
            precision = math_ops.multiply(precision, weights)
        with name_scope(None, "max", (precision,)) as inner:
            most = metric_variable([], dtypes.float64, inner)
            n = math_ops.cast(array_ops.size(precision), dtypes.float64) if weights is None else reduction_ops.reduce_sum(weights)
            more_most = state_ops.assign_add(most, n, name="update")
        with name_scope(None, "total", (precision,)) as inner:
            total = metric_variable([], dtypes.float64, inner)
            more_total = state_ops.assign_add(total, reduction_ops.reduce_sum(precision, name="batch_total"), name="update")
        value = math_ops.div_no_nan(total, most, name="mean")
        return collected(value, math_ops.div_no_nan(more_total, more_most, name=scope), metrics_collections, updates_collections)


def _average_precision(labels: Any, predictions_idx: Any) -> Any:
    """Returns the average precision of each example."""
    with name_scope(None, "average_precision", (predictions_idx, labels)) as scope:
        predictions_idx = math_ops.cast(convert_to_tensor(predictions_idx), dtypes.int64)
        if predictions_idx.get_shape().ndims == 0:
            raise ValueError("The rank of predictions_idx must be at least 1.")
        k = predictions_idx.get_shape().as_list()[-1]
        if k is None:
            raise ValueError("The last dimension of predictions_idx must be set.")
        labels = _expanded(labels, predictions_idx)
        if isinstance(labels, SparseTensor):
            relevant = op("Minimum")(set_ops.set_size(labels), k)
            # -1 is no class: it fills rows that are shorter than the longest.
            labels = sparse_ops.sparse_to_dense(labels.indices, labels.dense_shape, labels.values, default_value=-1, validate_indices=False)
        else:
            present = op("GreaterEqual")(labels, math_ops.cast(0, labels.dtype))
            relevant = op("Minimum")(reduction_ops.reduce_sum(math_ops.cast(present, dtypes.int32), axis=-1), k)
        same = math_ops.equal(array_ops.expand_dims(predictions_idx, -1), array_ops.expand_dims(math_ops.cast(labels, dtypes.int64), -2))
        right = math_ops.cast(reduction_ops.reduce_any(same, axis=-1), dtypes.float64)
        precisions = math_ops.div(op("Cumsum")(right, -1), op("Cumsum")(array_ops.ones_like(right), -1))
        total = reduction_ops.reduce_sum(precisions * right, axis=(-1,), name="precision_sum")
        return math_ops.div(total, math_ops.cast(relevant, dtypes.float64), name=scope)
