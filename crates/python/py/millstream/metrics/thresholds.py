"""Right and wrong predictions of boolean labels at several thresholds, and areas under their curves."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from millstream.framework import control_dependencies, convert_to_tensor, constant, dtypes, logging
from millstream.framework.op_functions import op
from millstream.metrics.basic import Pair, collected, metric_variable, same_shape, wide
from millstream.ops import array_ops, check_ops, math_ops, reduction_ops
from millstream.variables import state_ops
from millstream.variables.scopes import variable_scope

__all__ = [
    "auc",
    "false_negatives_at_thresholds",
    "false_positives_at_thresholds",
    "precision_at_thresholds",
    "recall_at_thresholds",
    "sensitivity_at_specificity",
    "specificity_at_sensitivity",
    "true_negatives_at_thresholds",
    "true_positives_at_thresholds",
]

_TINY = 1e-7

# Whether label and prediction are positive, and the name of the variable, in the order of creation.
_KINDS = {
    "tp": (True, True, "true_positives"),
    "fn": (True, False, "false_negatives"),
    "tn": (False, False, "true_negatives"),
    "fp": (False, True, "false_positives"),
}

Counts = Dict[str, Any]


def counts_at_thresholds(
    labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any = None, includes: Optional[Sequence[str]] = None
) -> Tuple[Counts, Counts]:
    """Counts right and wrong predictions: a prediction is positive if it is greater than the threshold.

    Args:
      labels: A tensor of bools, or a value that converts to one.
      predictions: A tensor of floats in [0, 1], of the same shape.
      thresholds: A list of floats.
      weights: The weights.
      includes: What to count, of "tp", "fn", "tn" and "fp"; None for all.

    Returns:
      A pair of dicts: vectors of the counts so far, and of the counts after an update.

    Raises:
      ValueError: `includes` has another name.
    """
    includes = tuple(_KINDS) if includes is None else includes
    for kind in includes:
        if kind not in _KINDS:
            raise ValueError("Invalid key: %s." % kind)
    predictions = convert_to_tensor(predictions)
    told = "predictions must be in [0, 1]"
    zero, one = (math_ops.cast(bound, predictions.dtype) for bound in (0.0, 1.0))
    checks = [
        check_ops.assert_greater_equal(predictions, zero, message=told),
        check_ops.assert_less_equal(predictions, one, message=told),
    ]
    with control_dependencies(checks):
        predictions, labels = same_shape(math_ops.cast(predictions, dtypes.float32), math_ops.cast(labels, dtypes.bool))
    weights = None if weights is None else array_ops.reshape(wide(weights, predictions), [1, -1])
    row = op("Greater")(array_ops.reshape(predictions, [1, -1]), array_ops.reshape(constant(thresholds, dtypes.float32), [-1, 1]))
    positive = array_ops.reshape(labels, [1, -1])
    values, updates = {}, {}
    for kind, (label, prediction, called) in _KINDS.items():
        if kind in includes:
            values[kind] = metric_variable([len(thresholds)], dtypes.float32, called)
            holds = op("LogicalAnd")(positive if label else op("LogicalNot")(positive), row if prediction else op("LogicalNot")(row))
            holds = math_ops.cast(holds, dtypes.float32)
            holds = holds if weights is None else holds * weights
            updates[kind] = state_ops.assign_add(values[kind], reduction_ops.reduce_sum(holds, 1))
    return values, updates


_AT = """{said}

A prediction is positive if it is greater than the threshold.

Args:
  labels: A tensor of bools, or a value that converts to one.
  predictions: A tensor of floats in [0, 1], of the same shape.
  thresholds: A list of floats.

The other arguments and the results are those of `mean`: vectors, with an element for each threshold.

Example:
  >>> value, update = tf.metrics.{name}([True, True, False, False], [0.9, 0.4, 0.6, 0.1], [0.5, 0.95])
  >>> with tf.Session() as sess:
  ...     sess.run(tf.local_variables_initializer())
  ...     print(sess.run(update), sess.run(value))
  {value} {value}
"""


def _at_thresholds(called: str, scope: str, includes: Sequence[str], made: Callable[[Counts, str], Any], said: str, value: str) -> Any:
    """Returns a metric: `made` computes its value from the counts."""

    def function(
        labels: Any,
        predictions: Any,
        thresholds: Sequence[float],
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: Optional[str] = None,
    ) -> Pair:
        with variable_scope(name, scope, (predictions, labels, weights)):
            values, updates = counts_at_thresholds(labels, predictions, thresholds, weights, includes)
            return collected(made(values, "value"), made(updates, "update_op"), metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _AT.format(said=said, name=called, value=value)
    return function


def _counting(kind: str, said: str, value: str) -> Any:
    scope = _KINDS[kind][2]

    def made(counts: Counts, called: str) -> Any:
        return array_ops.identity(counts[kind]) if called == "value" else counts[kind]

    return _at_thresholds(scope + "_at_thresholds", scope, (kind,), made, said, value)


def _share(other: str, called: str) -> Callable[[Counts, str], Any]:
    def made(counts: Counts, name: str) -> Any:
        return math_ops.div(counts["tp"], _TINY + counts["tp"] + counts[other], name="%s_%s" % (called, name))

    return made


true_positives_at_thresholds = _counting("tp", "The number of positive labels that are predicted to be positive.", "[1. 0.]")
true_negatives_at_thresholds = _counting("tn", "The number of negative labels that are predicted to be negative.", "[1. 2.]")
false_positives_at_thresholds = _counting("fp", "The number of negative labels that are predicted to be positive.", "[1. 0.]")
false_negatives_at_thresholds = _counting("fn", "The number of positive labels that are predicted to be negative.", "[1. 2.]")
precision_at_thresholds = _at_thresholds(
    "precision_at_thresholds",
    "precision_at_thresholds",
    ("tp", "fp"),
    _share("fp", "precision"),
    "The fraction of positive predictions that are right; 0 if there are none.",
    "[0.5 0. ]",
)
recall_at_thresholds = _at_thresholds(
    "recall_at_thresholds", "recall_at_thresholds", ("tp", "fn"), _share("fn", "recall"), "The fraction of positive labels that are predicted.", "[0.5 0. ]"
)


def _even(number: int, last: float = 1.0 + _TINY) -> List[float]:
    """Returns thresholds at equal distances from 0 to 1; the ends are beyond all predictions."""
    return [0.0 - _TINY] + [(i + 1) * 1.0 / (number - 1) for i in range(number - 2)] + [last]


def auc(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: Optional[str] = None,
    summation_method: str = "trapezoidal",
    thresholds: Optional[Sequence[float]] = None,
) -> Pair:
    """Computes the area under a curve, from counts at thresholds.

    Args:
      labels: A tensor of bools, or a value that converts to one.
      predictions: A tensor of floats in [0, 1], of the same shape.
      num_thresholds: The number of thresholds.
      curve: `"ROC"`: true positives over false positives; or `"PR"`: precision over recall.
      summation_method: `"trapezoidal"`; `"careful_interpolation"`, for precision over recall; `"minoring"`
        or `"majoring"`: the lower or the upper sum.
      thresholds: A list of thresholds, instead of a number.

    The other arguments and the results are those of `mean`.

    Raises:
      ValueError: `curve` or `summation_method` is none of these.

    Example:
      >>> value, update = tf.metrics.auc([True, True, False, False], [0.9, 0.4, 0.6, 0.1])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update).round(3), sess.run(value).round(3))
      0.75 0.75
    """
    with variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError("curve must be either ROC or PR, %s unknown" % (curve))
        levels = _even(num_thresholds) if thresholds is None else [0.0 - _TINY] + sorted(thresholds) + [1.0 + _TINY]
        values, updates = counts_at_thresholds(labels, predictions, levels, weights)
        if curve == "PR" and summation_method == "trapezoidal":
            logging.warning('Trapezoidal rule is known to produce incorrect PR-AUCs; please switch to "careful_interpolation" instead.')
        areas = [area_under(curve, summation_method, counts, called) for counts, called in ((values, "value"), (updates, "update_op"))]
        return collected(areas[0], areas[1], metrics_collections, updates_collections)


def area_under(curve: str, summation_method: str, counts: Counts, name: str) -> Any:
    """Returns the area under a curve given by counts at thresholds.

    Raises:
      ValueError: `summation_method` is unknown.
    """
    tp, fn, tn, fp = (counts[kind] + 0.0 for kind in ("tp", "fn", "tn", "fp"))
    if curve == "PR" and summation_method == "careful_interpolation":
        return _interpolated(tp, fp, fn)
    epsilon = 1.0e-6
    recall = math_ops.div(tp + epsilon, tp + fn + epsilon)
    if curve == "ROC":
        x, y = math_ops.div(fp, fp + tn + epsilon), recall
    else:
        x, y = recall, math_ops.div(tp + epsilon, tp + fp + epsilon)
    widths, before, after = x[:-1] - x[1:], y[:-1], y[1:]
    if summation_method in ("trapezoidal", "careful_interpolation"):
        heights = (before + after) / 2.0
    elif summation_method == "minoring":
        heights = op("Minimum")(before, after)
    elif summation_method == "majoring":
        heights = op("Maximum")(before, after)
    else:
        raise ValueError("Invalid summation_method: %s" % summation_method)
    return reduction_ops.reduce_sum(math_ops.multiply(widths, heights), name=name)


def _interpolated(tp: Any, fp: Any, fn: Any) -> Any:
    """Returns the area under precision over recall, with counts interpolated between thresholds."""
    more = tp[:-1] - tp[1:]
    positive = tp + fp
    slope = math_ops.div_no_nan(more, op("Maximum")(positive[:-1] - positive[1:], 0.0), name="prec_slope")
    intercept = tp[1:] - math_ops.multiply(slope, positive[1:])
    both = op("LogicalAnd")(op("Greater")(positive[:-1], 0.0), op("Greater")(positive[1:], 0.0))
    ratio = math_ops.div_no_nan(positive[:-1], op("Maximum")(positive[1:], 0.0), name="recall_relative_ratio")
    ratio = array_ops.where(both, ratio, array_ops.ones_like(positive[1:]))
    step = slope * (more + intercept * op("Log")(ratio))
    share = math_ops.div_no_nan(step, op("Maximum")(tp[1:] + fn[1:], 0.0), name="pr_auc_increment")
    return reduction_ops.reduce_sum(share, name="interpolate_pr_auc")


def sensitivity_at_specificity(
    labels: Any,
    predictions: Any,
    specificity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
) -> Pair:
    """Computes the fraction of positive labels that are predicted, at the threshold with a given specificity.

    The specificity is the fraction of negative labels that are predicted.

    Args:
      labels: A tensor of bools, or a value that converts to one.
      predictions: A tensor of floats in [0, 1], of the same shape.
      specificity: A float in [0, 1].
      num_thresholds: The number of thresholds.

    The other arguments and the results are those of `mean`.

    Raises:
      ValueError: `specificity` is not in [0, 1].

    Example:
      >>> metric = tf.metrics.sensitivity_at_specificity
      >>> value, update = metric([True, True, False, False], [0.9, 0.4, 0.6, 0.1], 1.0)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update).round(3), sess.run(value).round(3))
      0.5 0.5
    """
    if specificity < 0 or specificity > 1:
        raise ValueError("`specificity` must be in the range [0, 1].")

    def made(counts: Counts, called: str) -> Any:
        tp, tn, fp, fn = (counts[kind] + 0.0 for kind in ("tp", "tn", "fp", "fn"))
        distance = math_ops.abs(math_ops.div(tn, tn + fp + _TINY) - specificity)
        at = math_ops.cast(op("ArgMin")(distance, 0), dtypes.int32)
        return math_ops.div(tp[at], tp[at] + fn[at] + _TINY, called)

    with variable_scope(name, "sensitivity_at_specificity", (predictions, labels, weights)):
        values, updates = counts_at_thresholds(labels, predictions, _even(num_thresholds), weights)
        return collected(made(values, "value"), made(updates, "update_op"), metrics_collections, updates_collections)


def specificity_at_sensitivity(
    labels: Any,
    predictions: Any,
    sensitivity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
) -> Pair:
    """Computes the fraction of negative labels that are predicted, at the threshold with a given sensitivity.

    The sensitivity is the fraction of positive labels that are predicted. Of several such thresholds, the
    highest counts.

    Args:
      labels: A tensor of bools, or a value that converts to one.
      predictions: A tensor of floats in [0, 1], of the same shape.
      sensitivity: A float in [0, 1].
      num_thresholds: The number of thresholds.

    The other arguments and the results are those of `mean`.

    Raises:
      ValueError: `sensitivity` is not in [0, 1].

    Example:
      >>> metric = tf.metrics.specificity_at_sensitivity
      >>> value, update = metric([True, True, False, False], [0.9, 0.4, 0.6, 0.1], 1.0)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update).round(3), sess.run(value).round(3))
      0.5 0.5
    """
    if sensitivity < 0 or sensitivity > 1:
        raise ValueError("`sensitivity` must be in the range [0, 1].")

    def made(counts: Counts, called: str) -> Any:
        tp, tn, fp, fn = (counts[kind] + 0.0 for kind in ("tp", "tn", "fp", "fn"))
        distance = math_ops.abs(math_ops.div(tp, tp + fn + _TINY) - sensitivity)
        best = math_ops.cast(math_ops.equal(distance, reduction_ops.reduce_min(distance)), dtypes.int64)
        at = math_ops.cast(op("ArgMax")(op("Cumsum")(best, 0), 0), dtypes.int32)
        return math_ops.div(tn[at], tn[at] + fp[at] + _TINY, called)

    with variable_scope(name, "specificity_at_sensitivity", (predictions, labels, weights)):
        # TensorFlow's last threshold is less than 1, so that a prediction of 1 is positive at all of them.
        values, updates = counts_at_thresholds(labels, predictions, _even(num_thresholds, 1.0 - _TINY), weights)
        return collected(made(values, "value"), made(updates, "update_op"), metrics_collections, updates_collections)
