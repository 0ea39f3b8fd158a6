"""`tf.contrib.metrics`: the predecessors of `tf.metrics`, with predictions before labels, and a few more."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from millstream import metrics as later
from millstream.contrib.areas import auc_using_histogram, auc_with_confidence_intervals, streaming_dynamic_auc
from millstream.contrib.concats import streaming_concat
from millstream.framework import control_dependencies, convert_to_tensor, dtypes, name_scope, namespaces
from millstream.framework.op_functions import op
from millstream.metrics import at_k, thresholds as levels
from millstream.metrics.basic import Pair, collected, metric_variable, same_shape, wide
from millstream.nn import functions
from millstream.ops import array_ops, check_ops, control_flow, counting_ops, math_ops, reduction_ops
from millstream.ops import weights as broadcasting
from millstream.ops.set_ops import set_difference, set_intersection, set_size, set_union
from millstream.variables import state_ops
from millstream.variables.scopes import variable_scope

__all__ = [
    "accuracy",
    "aggregate_metric_map",
    "aggregate_metrics",
    "auc_using_histogram",
    "auc_with_confidence_intervals",
    "cohen_kappa",
    "confusion_matrix",
    "count",
    "f1_score",
    "precision_at_recall",
    "precision_recall_at_equal_thresholds",
    "recall_at_precision",
    "set_difference",
    "set_intersection",
    "set_size",
    "set_union",
    "sparse_recall_at_top_k",
    "streaming_accuracy",
    "streaming_auc",
    "streaming_concat",
    "streaming_covariance",
    "streaming_curve_points",
    "streaming_dynamic_auc",
    "streaming_false_negative_rate",
    "streaming_false_negative_rate_at_thresholds",
    "streaming_false_negatives",
    "streaming_false_negatives_at_thresholds",
    "streaming_false_positive_rate",
    "streaming_false_positive_rate_at_thresholds",
    "streaming_false_positives",
    "streaming_false_positives_at_thresholds",
    "streaming_mean",
    "streaming_mean_absolute_error",
    "streaming_mean_cosine_distance",
    "streaming_mean_iou",
    "streaming_mean_relative_error",
    "streaming_mean_squared_error",
    "streaming_mean_tensor",
    "streaming_pearson_correlation",
    "streaming_percentage_less",
    "streaming_precision",
    "streaming_precision_at_thresholds",
    "streaming_recall",
    "streaming_recall_at_k",
    "streaming_recall_at_thresholds",
    "streaming_root_mean_squared_error",
    "streaming_sensitivity_at_specificity",
    "streaming_sparse_average_precision_at_k",
    "streaming_sparse_average_precision_at_top_k",
    "streaming_sparse_precision_at_k",
    "streaming_sparse_precision_at_top_k",
    "streaming_sparse_recall_at_k",
    "streaming_specificity_at_sensitivity",
    "streaming_true_negatives",
    "streaming_true_negatives_at_thresholds",
    "streaming_true_positives",
    "streaming_true_positives_at_thresholds",
]

_TINY = 1e-7


# Metrics of `tf.metrics` under other names.

_STREAMING = """As `tf.metrics.{name}`{how}. The arguments are {listed}.

Returns:
  A pair of tensors: the value so far, and an update.

Example:
  >>> value, update = tf.contrib.metrics.{called}({call})
  >>> with tf.Session() as sess:
  ...     sess.run(tf.local_variables_initializer())
  ...     x = sess.run(update)
"""


def _renamed(name: str, arguments: str, call: str, called: Optional[str] = None, defaults: Optional[Dict[str, Any]] = None) -> Any:
    """Returns a metric of `tf.metrics` that takes its arguments in another order, all of them by name."""
    order = arguments.split()
    target: Callable[..., Pair] = getattr(later, name)

    def function(*args: Any, **kwargs: Any) -> Pair:
        if len(args) > len(order):
            raise TypeError("%s() takes %d positional arguments but %d were given" % (called, len(order), len(args)))
        given = dict(zip(order, args))
        for key, value in kwargs.items():
            if key in given or key not in order:
                raise TypeError("%s() got %s argument %r" % (called, "a second" if key in given else "an unexpected", key))
            given[key] = value
        return target(**{**(defaults or {}), **given})

    called = called or "streaming_" + name
    function.__name__ = function.__qualname__ = called
    function.__doc__ = _STREAMING.format(
        name=name, called=called, call=call, listed="`" + "`, `".join(order) + "`", how=", with predictions before labels" if "labels" in order else ""
    )
    return function


_ENDS = "weights metrics_collections updates_collections name"
_PAIR = "tf.constant([1.0, 0.0]), tf.constant([1.0, 1.0])"
_SCORES = "tf.constant([0.9, 0.2]), tf.constant([True, False])"
_RANKS = "tf.constant([[0.1, 0.9]]), tf.constant([[1]], tf.int64), 1"

streaming_mean = _renamed("mean", "values " + _ENDS, "[1.0, 2.0]")
streaming_mean_tensor = _renamed("mean_tensor", "values " + _ENDS, "[1.0, 2.0]")
streaming_percentage_less = _renamed("percentage_below", "values threshold " + _ENDS, "[1.0, 2.0], 1.5", "streaming_percentage_less")
streaming_accuracy = _renamed("accuracy", "predictions labels " + _ENDS, _PAIR)
streaming_precision = _renamed("precision", "predictions labels " + _ENDS, _PAIR)
streaming_recall = _renamed("recall", "predictions labels " + _ENDS, _PAIR)
streaming_true_positives = _renamed("true_positives", "predictions labels " + _ENDS, _PAIR)
streaming_true_negatives = _renamed("true_negatives", "predictions labels " + _ENDS, _PAIR)
streaming_false_positives = _renamed("false_positives", "predictions labels " + _ENDS, _PAIR)
streaming_false_negatives = _renamed("false_negatives", "predictions labels " + _ENDS, _PAIR)
streaming_mean_absolute_error = _renamed("mean_absolute_error", "predictions labels " + _ENDS, _PAIR)
streaming_mean_squared_error = _renamed("mean_squared_error", "predictions labels " + _ENDS, _PAIR)
streaming_root_mean_squared_error = _renamed("root_mean_squared_error", "predictions labels " + _ENDS, _PAIR)
streaming_mean_relative_error = _renamed("mean_relative_error", "predictions labels normalizer " + _ENDS, _PAIR + ", tf.constant([1.0, 2.0])")
streaming_mean_cosine_distance = _renamed("mean_cosine_distance", "predictions labels dim " + _ENDS, _PAIR + ", 0")
streaming_mean_iou = _renamed("mean_iou", "predictions labels num_classes " + _ENDS, "tf.constant([1, 0]), tf.constant([1, 1]), 2")
streaming_auc = _renamed("auc", "predictions labels weights num_thresholds metrics_collections updates_collections curve name", _SCORES)
streaming_precision_at_thresholds = _renamed("precision_at_thresholds", "predictions labels thresholds " + _ENDS, _SCORES + ", [0.5]")
streaming_recall_at_thresholds = _renamed("recall_at_thresholds", "predictions labels thresholds " + _ENDS, _SCORES + ", [0.5]")
_AT = "weights num_thresholds metrics_collections updates_collections name"
streaming_sensitivity_at_specificity = _renamed("sensitivity_at_specificity", "predictions labels specificity " + _AT, _SCORES + ", 0.5")
streaming_specificity_at_sensitivity = _renamed("specificity_at_sensitivity", "predictions labels sensitivity " + _AT, _SCORES + ", 0.5")
_K = "predictions labels k class_id " + _ENDS
streaming_sparse_precision_at_k = _renamed("precision_at_k", _K, _RANKS, "streaming_sparse_precision_at_k")
streaming_sparse_recall_at_k = _renamed("recall_at_k", _K, _RANKS, "streaming_sparse_recall_at_k")
streaming_sparse_average_precision_at_k = _renamed(
    "average_precision_at_k", "predictions labels k " + _ENDS, _RANKS, "streaming_sparse_average_precision_at_k"
)


def streaming_recall_at_k(
    predictions: Any, labels: Any, k: int, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """Computes the fraction of labels that are among the best k predictions.

    Args:
      predictions: The scores of all classes: a matrix.
      labels: A vector of class numbers.
      k: The number of predictions.
      weights: The weights.

    The other arguments and the results are those of `tf.metrics.mean`.

    Example:
      >>> value, update = tf.contrib.metrics.streaming_recall_at_k([[0.1, 0.9, 0.0]], [0], 2)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update))
      1.0
    """
    found = math_ops.cast(functions.in_top_k(predictions, labels, k), dtypes.float32)
    return later.mean(found, weights, metrics_collections, updates_collections, name or at_k._name("recall", k))


_TOP = """Computes the {what} of ranked predictions; see `tf.metrics.{what}_at_top_k`.

Args:
  top_k_predictions: The best predictions of each example: a tensor of shape `[.., k]`.
  labels: The classes of each example: an `int64` tensor of shape `[.., n]`, or a `SparseTensor`.
  class_id: The only class that counts; by default all classes do.

The other arguments and the results are those of `tf.metrics.mean`.

Example:
  >>> value, update = tf.contrib.metrics.{called}({call})
  >>> with tf.Session() as sess:
  ...     sess.run(tf.local_variables_initializer())
  ...     print(sess.run(update))
  1.0
"""


def streaming_sparse_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    class_id: Optional[int] = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
) -> Pair:
    with name_scope(name, at_k._name("precision", class_id=class_id), (top_k_predictions, labels, weights)) as scope:
        return at_k.precision_at_top_k(labels, top_k_predictions, None, class_id, weights, metrics_collections, updates_collections, scope)


def sparse_recall_at_top_k(
    labels: Any,
    top_k_predictions: Any,
    class_id: Optional[int] = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
) -> Pair:
    with name_scope(name, at_k._name("recall", class_id=class_id), (top_k_predictions, labels, weights)) as scope:
        return at_k.recall_at_top_k(labels, top_k_predictions, None, class_id, weights, metrics_collections, updates_collections, scope)


def streaming_sparse_average_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
) -> Pair:
    return at_k.average_precision(labels, top_k_predictions, weights, metrics_collections, updates_collections, name)


_ONE = "[[1]], tf.constant([[1]], tf.int64)"
streaming_sparse_precision_at_top_k.__doc__ = _TOP.format(what="precision", called="streaming_sparse_precision_at_top_k", call=_ONE)
sparse_recall_at_top_k.__doc__ = _TOP.format(what="recall", called="sparse_recall_at_top_k", call="tf.constant([[1]], tf.int64), [[1]]")
streaming_sparse_average_precision_at_top_k.__doc__ = (
    _TOP.format(what="precision", called="streaming_sparse_average_precision_at_top_k", call=_ONE)
    .replace("  class_id: The only class that counts; by default all classes do.\n", "")
    .replace("Computes the precision", "Computes the average precision")
)


# Rates at thresholds.


def _counts(kind: str) -> Any:
    called = "streaming_%s_at_thresholds" % levels._KINDS[kind][2]

    def function(predictions: Any, labels: Any, thresholds: Sequence[float], weights: Any = None) -> Pair:
        values, updates = levels.counts_at_thresholds(labels, predictions, thresholds, weights, (kind,))
        return values[kind], updates[kind]

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _STREAMING.format(
        name=called[len("streaming_") :], called=called, call=_SCORES + ", [0.5]", how=", with the variable itself as value",
        listed="`predictions`, `labels`, `thresholds`, `weights`",
    )  # fmt: skip
    return function


streaming_true_positives_at_thresholds = _counts("tp")
streaming_true_negatives_at_thresholds = _counts("tn")
streaming_false_positives_at_thresholds = _counts("fp")
streaming_false_negatives_at_thresholds = _counts("fn")

_RATE = """Computes the fraction of {said}.

Args:
  predictions: {predictions}
  labels: A tensor of bools, or a value that converts to one.{more}
  weights: The weights.

The other arguments and the results are those of `tf.metrics.mean`.

Example:
  >>> value, update = tf.contrib.metrics.{called}({call})
  >>> with tf.Session() as sess:
  ...     sess.run(tf.local_variables_initializer())
  ...     x = sess.run(update)
"""


def _rate(wrong: str, right: str, short: str, said: str) -> Tuple[Any, Any]:
    """Returns two metrics, the share of wrong predictions in both kinds: of bools, and at thresholds."""
    called = "%s_rate" % levels._KINDS[wrong][2][:-1]

    def of_bools(
        predictions: Any, labels: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
    ) -> Pair:
        with variable_scope(name, called, (predictions, labels, weights)):
            counts = [getattr(later, levels._KINDS[kind][2])(labels, predictions, weights) for kind in (wrong, right)]

            def share(i: int, name: str) -> Any:
                a, b = counts[0][i] + 0.0, counts[1][i] + 0.0
                return array_ops.where(op("Greater")(a + b, 0.0), math_ops.div(a, a + b), array_ops.zeros_like(a), name)

            return collected(share(0, "value"), share(1, "update_op"), metrics_collections, updates_collections)

    def made(counts: Dict[str, Any], name: str) -> Any:
        return math_ops.div(counts[wrong], _TINY + counts[wrong] + counts[right], name="%s_%s" % (short, name))

    def at_thresholds(
        predictions: Any,
        labels: Any,
        thresholds: Sequence[float],
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: Optional[str] = None,
    ) -> Pair:
        with variable_scope(name, called + "_at_thresholds", (predictions, labels, weights)):
            values, updates = levels.counts_at_thresholds(labels, predictions, thresholds, weights, (wrong, right))
            return collected(made(values, "value"), made(updates, "update_op"), metrics_collections, updates_collections)

    of_bools.__name__ = of_bools.__qualname__ = "streaming_" + called
    of_bools.__doc__ = _RATE.format(
        said=said, called=of_bools.__name__, call=_PAIR, more="", predictions="A tensor of bools, of the shape of the labels."
    )
    at_thresholds.__name__ = at_thresholds.__qualname__ = "streaming_%s_at_thresholds" % called
    at_thresholds.__doc__ = _RATE.format(
        said=said,
        called=at_thresholds.__name__,
        call=_SCORES + ", [0.5]",
        more="\n  thresholds: A list of floats.",
        predictions="A tensor of floats in [0, 1], of the shape of the labels.",
    )
    return of_bools, at_thresholds


streaming_false_positive_rate, streaming_false_positive_rate_at_thresholds = _rate(
    "fp", "tn", "fpr", "negative labels that are predicted to be positive"
)
streaming_false_negative_rate, streaming_false_negative_rate_at_thresholds = _rate(
    "fn", "tp", "fnr", "positive labels that are predicted to be negative"
)


def streaming_curve_points(
    labels: Any = None,
    predictions: Any = None,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: Optional[str] = None,
) -> Pair:
    """Computes points of a curve: a matrix of two columns, with a row for each threshold.

    Args:
      labels: A tensor of bools, or a value that converts to one.
      predictions: A tensor of floats in [0, 1], of the same shape.
      weights: The weights.
      num_thresholds: The number of thresholds.
      curve: `"ROC"`: true positives over false positives; or `"PR"`: precision over recall.

    The other arguments and the results are those of `tf.metrics.mean`.

    Raises:
      ValueError: `curve` is neither.

    Example:
      >>> points, update = tf.contrib.metrics.streaming_curve_points([True, False], tf.constant([0.9, 0.2]),
      ...     num_thresholds=3)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     sess.run(update)
      ...     print(sess.run(points).round(2).tolist())
      [[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]
    """
    with variable_scope(name, "curve_points", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError("curve must be either ROC or PR, %s unknown" % (curve))
        values, updates = levels.counts_at_thresholds(labels, predictions, levels._even(num_thresholds), weights)
        tp, fn, tn, fp = (values[kind] + 0.0 for kind in ("tp", "fn", "tn", "fp"))
        epsilon = 1.0e-6
        recall = math_ops.div(tp + epsilon, tp + fn + epsilon)
        if curve == "ROC":
            x, y = math_ops.div(fp, fp + tn + epsilon), recall
        else:
            x, y = recall, math_ops.div(tp + epsilon, tp + fp + epsilon)
        return collected(array_ops.stack([x, y], axis=1), control_flow.group(*updates.values()), metrics_collections, updates_collections)


def recall_at_precision(
    labels: Any,
    predictions: Any,
    precision: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
    strict_mode: bool = False,
) -> Pair:
    """Computes the recall at the threshold whose precision is nearest to a given one.

    Args:
      labels: A tensor of bools, or a value that converts to one.
      predictions: A tensor of floats in [0, 1], of the same shape.
      precision: A float in [0, 1].
      weights: The weights.
      num_thresholds: The number of thresholds.
      strict_mode: If true, the precision is at least the given one, and the result 0 if there is none.

    The other arguments and the results are those of `tf.metrics.mean`.

    Raises:
      ValueError: `precision` is not in [0, 1].

    Example:
      >>> value, update = tf.contrib.metrics.recall_at_precision([True, False], tf.constant([0.9, 0.2]), 1.0)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update).round(3))
      1.0
    """
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")

    def made(counts: Dict[str, Any], called: str) -> Any:
        tp, fp, fn = (counts[kind] + 0.0 for kind in ("tp", "fp", "fn"))
        found = math_ops.div(tp, tp + fp + _TINY)
        if strict_mode:
            at = math_ops.cast(op("ArgMax")(math_ops.div(1.0, found - precision + _TINY), 0), dtypes.int32)
        else:
            at = math_ops.cast(op("ArgMin")(math_ops.abs(found - precision), 0), dtypes.int32)
        recall = math_ops.div(tp[at], tp[at] + fn[at] + _TINY, called)
        return array_ops.where(op("GreaterEqual")(found[at], precision), recall, array_ops.zeros_like(recall)) if strict_mode else recall

    with variable_scope(name, "recall_at_precision", (predictions, labels, weights)):
        values, updates = levels.counts_at_thresholds(labels, predictions, levels._even(num_thresholds), weights)
        return collected(made(values, "value"), made(updates, "update_op"), metrics_collections, updates_collections)


def precision_at_recall(
    labels: Any,
    predictions: Any,
    target_recall: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
) -> Pair:
    """Computes the precision at the highest threshold whose recall is at least a given one.

    Args:
      labels: A tensor of bools, or a value that converts to one.
      predictions: A tensor of floats in [0, 1], of the same shape.
      target_recall: A float in [0, 1].
      weights: The weights.
      num_thresholds: The number of thresholds.

    The other arguments and the results are those of `tf.metrics.mean`.

    Raises:
      ValueError: `target_recall` is not in [0, 1].

    Example:
      >>> value, update = tf.contrib.metrics.precision_at_recall([True, False], tf.constant([0.9, 0.2]), 0.9)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update).round(3))
      1.0
    """
    if target_recall < 0 or target_recall > 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")

    def made(counts: Dict[str, Any], called: str) -> Any:
        tp, fp, fn = (counts[kind] + 0.0 for kind in ("tp", "fp", "fn"))
        enough = op("GreaterEqual")(math_ops.div(tp, tp + fn + _TINY), target_recall)
        # Before the first update no threshold is enough; TensorFlow then reads its last element, by index -1.
        at = reduction_ops.reduce_sum(math_ops.cast(enough, dtypes.int32)) - 1
        return math_ops.div(tp[at] + _TINY, tp[at] + fp[at] + _TINY, called)

    with variable_scope(name, "precision_at_recall", (predictions, labels, weights)):
        values, updates = levels.counts_at_thresholds(labels, predictions, levels._even(num_thresholds), weights)
        return collected(made(values, "value"), made(updates, "update_op"), metrics_collections, updates_collections)


# Metrics that `tf.metrics` lacks.


def accuracy(predictions: Any, labels: Any, weights: Any = None, name: Optional[str] = None) -> Any:
    """Returns the fraction of predictions of this run that equal their labels.

    Args:
      predictions: A tensor of integers, bools or strings.
      labels: A tensor of the same shape and dtype.
      weights: A tensor of the same shape, or None.
      name: The name scope.

    Returns:
      A scalar tensor.

    Raises:
      ValueError: The dtypes differ, or are others.

    Example:
      >>> print(tf.Session().run(tf.contrib.metrics.accuracy(tf.constant([1, 2]), tf.constant([1, 3]))))
      0.5
    """
    if not (labels.dtype.is_integer or labels.dtype in (dtypes.bool, dtypes.string)):
        raise ValueError("Labels should have bool, integer, or string dtype, not %r" % labels.dtype)
    if not labels.dtype.is_compatible_with(predictions.dtype):
        raise ValueError("Dtypes of predictions and labels should match. Given: predictions (%r) and labels (%r)" % (predictions.dtype, labels.dtype))
    with name_scope(name, "accuracy", values=[predictions, labels]):
        right = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
        if weights is None:
            return reduction_ops.reduce_mean(right)
        right = math_ops.multiply(right, weights)
        counted = math_ops.multiply(weights, array_ops.ones_like(right))
        return math_ops.div(reduction_ops.reduce_sum(right), reduction_ops.reduce_sum(counted))


def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any = None, dtype: Any = dtypes.int32, name: Optional[str] = None, weights: Any = None
) -> Any:
    """As `tf.confusion_matrix`.

    Args:
      labels: An integer vector.
      predictions: An integer vector of the same length.
      num_classes: The number of classes.
      dtype: The dtype of the result.
      name: The name scope.
      weights: A vector.

    Returns:
      A matrix.

    Example:
      >>> print(tf.Session().run(tf.contrib.metrics.confusion_matrix([0, 1], [0, 1])).tolist())
      [[1, 0], [0, 1]]
    """
    return counting_ops.confusion_matrix(labels, predictions, num_classes=num_classes, dtype=dtype, name=name, weights=weights)


def aggregate_metrics(*value_update_tuples: Pair) -> Tuple[List[Any], List[Any]]:
    """Returns the values of several metrics, and their updates.

    Args:
      *value_update_tuples: Pairs of a value and an update.

    Returns:
      A pair of lists.

    Raises:
      ValueError: There are none.

    Example:
      >>> values, updates = tf.contrib.metrics.aggregate_metrics(tf.metrics.mean([1.0]), tf.metrics.mean([2.0]))
      >>> len(values), len(updates)
      (2, 2)
    """
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    return [value for value, _ in value_update_tuples], [update for _, update in value_update_tuples]


def aggregate_metric_map(names_to_tuples: Dict[str, Pair]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Returns the values of several metrics by name, and their updates.

    Args:
      names_to_tuples: A dict from names to pairs of a value and an update.

    Returns:
      A pair of dicts.

    Example:
      >>> values, updates = tf.contrib.metrics.aggregate_metric_map({"mean": tf.metrics.mean([1.0])})
      >>> list(values), list(updates)
      (['mean'], ['mean'])
    """
    return {k: value for k, (value, _) in names_to_tuples.items()}, {k: update for k, (_, update) in names_to_tuples.items()}


def count(values: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None) -> Pair:
    """Counts values, or sums their weights.

    Args:
      values: A tensor.
      weights: The weights.

    The other arguments and the results are those of `tf.metrics.mean`.

    Example:
      >>> value, update = tf.contrib.metrics.count(tf.constant([1.0, 2.0]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update), sess.run(update))
      2.0 4.0
    """
    with variable_scope(name, "count", (values, weights)):
        total = metric_variable([], dtypes.float32, "count")
        values = convert_to_tensor(values)
        if weights is None:
            n = math_ops.cast(array_ops.size(values), dtypes.float32)
        else:
            values = math_ops.cast(values, dtypes.float32)
            n = reduction_ops.reduce_sum(wide(weights, values))
        with control_dependencies([values]):
            update = state_ops.assign_add(total, n)
        return collected(array_ops.identity(total), update, metrics_collections, updates_collections)


def cohen_kappa(
    labels: Any,
    predictions_idx: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
) -> Pair:
    """Computes Cohen's kappa: the agreement of labels and predictions beyond chance.

    Args:
      labels: A vector of class numbers, or a matrix with one column.
      predictions_idx: A tensor of class numbers, of the same shape.
      num_classes: The number of classes.
      weights: The weights.

    The other arguments and the results are those of `tf.metrics.mean`.

    Raises:
      ValueError: There are less than two classes.

    Example:
      >>> value, update = tf.contrib.metrics.cohen_kappa(tf.constant([0, 1, 1]), tf.constant([0, 1, 0]), 2)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update).round(3))
      0.4
    """
    if num_classes < 2:
        raise ValueError("`num_classes` must be >= 2.Found: {}".format(num_classes))
    with variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        labels.get_shape().with_rank_at_most(2)
        if labels.get_shape().ndims == 2:
            labels = array_ops.squeeze(labels, axis=[-1])
        predictions_idx, labels = same_shape(predictions_idx, labels)
        if weights is not None:
            weights = broadcasting.fit_rank(convert_to_tensor(weights), predictions_idx)
        dtype = dtypes.int64 if weights is None or weights.dtype.is_integer else dtypes.float32
        kinds = [metric_variable((num_classes,), dtype, called) for called in ("po", "pe_row", "pe_col")]
        table = counting_ops.confusion_matrix(labels, predictions_idx, num_classes=num_classes, weights=weights, dtype=dtype, name="counts_in_table")
        batch = [op("DiagPart")(table), reduction_ops.reduce_sum(table, 0), reduction_ops.reduce_sum(table, 1)]
        updates = [state_ops.assign_add(v, b) for v, b in zip(kinds, batch)]

        def kappa(agreed: Any, rows: Any, columns: Any, called: str) -> Any:
            total = math_ops.cast(reduction_ops.reduce_sum(rows), dtypes.float64)
            chance = reduction_ops.reduce_sum(math_ops.div_no_nan(math_ops.cast(rows * columns, dtypes.float64), total))
            observed = math_ops.cast(reduction_ops.reduce_sum(agreed), dtypes.float64)
            return math_ops.div_no_nan(observed - chance, total - chance, name=called)

        value = kappa(kinds[0] + 0, kinds[1] + 0, kinds[2] + 0, "value")
        return collected(value, kappa(updates[0], updates[1], updates[2], "update_op"), metrics_collections, updates_collections)


def f1_score(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
) -> Pair:
    """Computes the best F1 score, the harmonic mean of precision and recall, over thresholds.

    Args:
      labels: A tensor of bools, or a value that converts to one.
      predictions: A tensor of floats in [0, 1], of the same shape.
      weights: The weights.
      num_thresholds: The number of thresholds.

    The other arguments and the results are those of `tf.metrics.mean`.

    Example:
      >>> value, update = tf.contrib.metrics.f1_score([True, False], tf.constant([0.9, 0.2]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update).round(3))
      1.0
    """

    def made(counts: Dict[str, Any], called: str) -> Any:
        tp, fp, fn = (counts[kind] + 0.0 for kind in ("tp", "fp", "fn"))
        precision = math_ops.div(tp, _TINY + tp + fp, name="precision_" + called)
        recall = math_ops.div(tp, _TINY + tp + fn, name="recall_" + called)
        return reduction_ops.reduce_max(2.0 * precision * recall / (precision + recall + _TINY))

    with variable_scope(name, "f1", (labels, predictions, weights)):
        values, updates = levels.counts_at_thresholds(labels, predictions, levels._even(num_thresholds), weights, ("tp", "fp", "fn"))
        return collected(made(values, "value"), made(updates, "update"), metrics_collections, updates_collections)


def streaming_covariance(
    predictions: Any, labels: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """Computes the unbiased covariance of predictions and labels; 0 before there are two.

    Args:
      predictions: A tensor of floats.
      labels: A tensor of the same shape.
      weights: The weights, as frequencies.

    The other arguments and the results are those of `tf.metrics.mean`.

    Example:
      >>> covariance = tf.contrib.metrics.streaming_covariance
      >>> value, update = covariance(tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 3.0, 5.0]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update))
      2.0
    """
    with variable_scope(name, "covariance", (predictions, labels, weights)):
        predictions, labels = same_shape(predictions, labels)
        names = "count", "mean_prediction", "mean_label", "comoment"
        n, mean_p, mean_l, comoment = (metric_variable([], dtypes.float32, called) for called in names)
        if weights is None:
            added, weights = math_ops.cast(array_ops.size(labels), dtypes.float32), 1.0
        else:
            weights = wide(weights, labels)
            added = reduction_ops.reduce_sum(weights)
        old = [array_ops.identity(v + 0.0) for v in (n, mean_p, mean_l)]
        batch_p, batch_l = (math_ops.div_no_nan(reduction_ops.reduce_sum(x * weights), added) for x in (predictions, labels))
        within = reduction_ops.reduce_sum((predictions - batch_p) * (labels - batch_l) * weights)
        all_n = old[0] + added
        delta_p = math_ops.div_no_nan((batch_p - old[1]) * added, all_n, name="delta_mean_prediction")
        delta_l = math_ops.div_no_nan((batch_l - old[2]) * added, all_n, name="delta_mean_label")
        # Chan's update: both moments, and that of the means.
        between = (batch_p - old[1]) * (batch_l - old[2]) * math_ops.div_no_nan(old[0] * added, all_n)
        with control_dependencies([delta_p, delta_l, within, between]):
            updated = [state_ops.assign_add(v, d) for v, d in ((n, added), (mean_p, delta_p), (mean_l, delta_l), (comoment, within + between))]

        def value(count: Any, moment: Any, called: str) -> Any:
            rest = count - 1.0
            share = math_ops.truediv(moment, rest)
            return array_ops.where(op("LessEqual")(count, 1.0), array_ops.zeros_like(share) + float("nan"), share, name=called)

        with control_dependencies(updated):
            update = value(updated[0] + 0.0, updated[3] + 0.0, "update_op")
        return collected(value(n + 0.0, comoment + 0.0, "covariance"), update, metrics_collections, updates_collections)


def streaming_pearson_correlation(
    predictions: Any, labels: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None, name: Optional[str] = None
) -> Pair:
    """Computes Pearson's correlation of predictions and labels.

    Args:
      predictions: A tensor of floats.
      labels: A tensor of the same shape.
      weights: The weights, as frequencies.

    The other arguments and the results are those of `tf.metrics.mean`.

    Example:
      >>> correlation = tf.contrib.metrics.streaming_pearson_correlation
      >>> value, update = correlation(tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 3.0, 5.0]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update).round(3))
      1.0
    """
    with variable_scope(name, "pearson_r", (predictions, labels, weights)):
        predictions, labels = same_shape(predictions, labels)
        pairs = [
            streaming_covariance(predictions, labels, weights, name="covariance"),
            streaming_covariance(predictions, predictions, weights, name="variance_predictions"),
            streaming_covariance(labels, labels, weights, name="variance_labels"),
        ]

        def value(i: int, called: str) -> Any:
            return math_ops.truediv(pairs[0][i], math_ops.multiply(op("Sqrt")(pairs[1][i]), op("Sqrt")(pairs[2][i])), name=called)

        return collected(value(0, "pearson_r"), value(1, "update_op"), metrics_collections, updates_collections)


class PrecisionRecallData(NamedTuple):
    """The counts and the rates at thresholds."""

    tp: Any
    fp: Any
    tn: Any
    fn: Any
    precision: Any
    recall: Any
    thresholds: Any


def precision_recall_at_equal_thresholds(
    labels: Any, predictions: Any, weights: Any = None, num_thresholds: Optional[int] = None, use_locking: Optional[bool] = None, name: Optional[str] = None
) -> Tuple[Any, Any]:
    """Computes counts, precision and recall at thresholds of equal distance from 0 to 1.

    Time and memory are the sum of the counts of thresholds and predictions, not their product.

    Args:
      labels: A tensor of bools.
      predictions: A tensor of floats in [0, 1], of the same shape.
      weights: The weights.
      num_thresholds: The number of thresholds; by default 201.
      use_locking: If false, updates may be lost when runs are concurrent.
      name: The name of the variable scope.

    Returns:
      A named tuple of `tp`, `fp`, `tn`, `fn`, `precision`, `recall` and `thresholds`; and the operation
      that counts.

    Raises:
      TypeError: `labels` are not bools.

    Example:
      >>> labels, predictions = tf.constant([True, False]), tf.constant([0.75, 0.25])
      >>> found, update = tf.contrib.metrics.precision_recall_at_equal_thresholds(labels, predictions, num_thresholds=3)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     sess.run(update)
      ...     print(sess.run(found.precision))
      [0.5 1.  0. ]
    """
    count = 201 if num_thresholds is None else num_thresholds
    check_ops.assert_type(labels, dtypes.bool)
    with variable_scope(name, "precision_recall_at_equal_thresholds", (labels, predictions, weights)):
        words, bounds = "predictions must be in [0, 1]", [math_ops.cast(x, predictions.dtype) for x in (0.0, 1.0)]
        checks = [check_ops.assert_greater_equal(predictions, bounds[0], message=words), check_ops.assert_less_equal(predictions, bounds[1], message=words)]
        with control_dependencies(checks):
            predictions, labels = same_shape(array_ops.identity(predictions), labels)
        weights = 1.0 if weights is None else broadcasting.fit_rank(convert_to_tensor(weights), predictions)
        weights, true = math_ops.cast(weights, dtypes.float64), math_ops.cast(labels, dtypes.float64)
        buckets = math_ops.cast(op("Floor")(array_ops.reshape(predictions, [-1]) * (count - 1)), dtypes.int32)
        with name_scope("variables"):
            kinds = [metric_variable([count], dtypes.float64, called) for called in ("tp_buckets", "fp_buckets")]
        with name_scope("update_op"):
            parts = [array_ops.reshape(x * weights, [-1]) for x in (true, 1.0 - true)]
            updates = [state_ops.scatter_add(v, buckets, x, use_locking=use_locking is not False) for v, x in zip(kinds, parts)]
        tp, fp = (reduction_ops.cumsum(v + 0.0, reverse=True, name=called) for v, called in zip(kinds, ("tp", "fp")))
        tn, fn = fp[0] - fp, tp[0] - tp
        rates = [tp / op("Maximum")(math_ops.cast(_TINY, dtypes.float64), tp + others) for others in (fp, fn)]
        levels_ = op("LinSpace")(0.0, 1.0, count)
        found = PrecisionRecallData(*(math_ops.cast(x, predictions.dtype) for x in (tp, fp, tn, fn, *rates, levels_)))
        return found, control_flow.group(*updates)


__getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> List[str]:
    return sorted(__all__)
