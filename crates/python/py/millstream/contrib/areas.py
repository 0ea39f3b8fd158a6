"""Areas under curves whose thresholds are all predictions, or bins: part of `tf.contrib.metrics`."""

from __future__ import annotations

import statistics
from typing import Any, List, NamedTuple, Optional, Tuple

from millstream.contrib.concats import streaming_concat
from millstream.framework import control_dependencies, convert_to_tensor, dtypes
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.metrics.basic import Pair, collected
from millstream.ops import array_ops, check_ops, control_flow, counting_ops, indexing_ops, math_ops, reduction_ops
from millstream.ops import weights as broadcasting
from millstream.variables import state_ops
from millstream.variables.initializers import zeros_initializer
from millstream.variables.scopes import get_variable, variable_scope

__all__ = ["auc_using_histogram", "auc_with_confidence_intervals", "streaming_dynamic_auc"]


def _zeros_and_ones(labels: Any) -> List[Any]:
    return [
        check_ops.assert_greater_equal(labels, array_ops.zeros_like(labels), message="labels must be 0 or 1, at least one is <0"),
        check_ops.assert_less_equal(labels, array_ops.ones_like(labels), message="labels must be 0 or 1, at least one is >1"),
    ]


def _flat(values: Any) -> Any:
    return array_ops.reshape(values, [-1])


def _sorted_down(scores: Any, *others: Any) -> List[Any]:
    """Returns scores in falling order, and other vectors in the same order."""
    scores, order = op("TopKV2")(scores, array_ops.size(scores))
    return [scores] + [indexing_ops.gather(other, order) for other in others]


def _area(labels: Any, scores: Any, weights: Any, curve: str) -> Any:
    """Returns the area under a curve with a point for each score, by trapezoids."""
    is_positive = math_ops.equal(labels, 1)
    zeros = array_ops.zeros_like(weights)
    positive, negative = array_ops.where(is_positive, weights, zeros), array_ops.where(is_positive, zeros, weights)
    positives, negatives = reduction_ops.reduce_sum(positive), reduction_ops.reduce_sum(negative)

    def area() -> Any:
        ordered, tp, fp = _sorted_down(scores, positive, negative)
        # Equal scores are one threshold: only the counts after the last of them are a point of the curve.
        is_last = array_ops.concat([op("NotEqual")(ordered[1:], ordered[:-1]), [True]], 0)
        tp = indexing_ops.boolean_mask(reduction_ops.cumsum(tp), is_last)
        fp = indexing_ops.boolean_mask(reduction_ops.cumsum(fp), is_last)
        if curve == "ROC":
            x, y, start = fp / negatives, tp / positives, 0.0
        else:
            # The precision of no prediction is 1.
            found = tp + fp
            y = array_ops.where(found > 0, math_ops.div_no_nan(tp, found), array_ops.ones_like(tp))
            x, start = tp / positives, 1.0
        x = array_ops.concat([[0.0], x], 0)
        y = array_ops.concat([[start], y], 0)
        return reduction_ops.reduce_sum((y[1:] + y[:-1]) / 2.0 * (x[1:] - x[:-1]))

    enough = positives > 0 if curve == "PR" else op("LogicalAnd")(positives > 0, negatives > 0)
    return control_flow.cond(enough, area, lambda: math_ops.cast(0.0, dtypes.float64))


def streaming_dynamic_auc(
    labels: Any,
    predictions: Any,
    curve: str = "ROC",
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: Optional[str] = None,
    weights: Any = None,
) -> Pair:
    """Computes the area under a curve whose thresholds are all predictions so far, which are kept in memory.

    Args:
      labels: A tensor of zeros and ones.
      predictions: A tensor of numbers, of the same shape.
      curve: `"ROC"`, or `"PR"` for precision and recall.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update to.
      name: The variable scope.
      weights: A tensor of as many weights, which are not negative; by default ones.

    Returns:
      A pair: the area, an f64, which is 0 while a class of labels is missing, and an operation that adds the
        labels and predictions.

    Raises:
      ValueError: There is no such curve, or the shapes differ.

    Example:
      >>> value, update = tf.contrib.metrics.streaming_dynamic_auc(tf.constant([1, 0, 1]), tf.constant([0.9, 0.5, 0.1]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     sess.run(update)
      ...     print(sess.run(value))
      0.5
    """
    if curve not in ("PR", "ROC"):
        raise ValueError("curve must be either ROC or PR, %s unknown" % curve)
    with variable_scope(name, "dynamic_auc"):
        labels.get_shape().assert_is_compatible_with(predictions.get_shape())
        predictions = _flat(math_ops.cast(predictions, dtypes.float64))
        labels = _flat(math_ops.cast(labels, dtypes.int64))
        with control_dependencies(_zeros_and_ones(labels)):
            scores, update_scores = streaming_concat(predictions, name="concat_preds")
            all_labels, update_labels = streaming_concat(labels, name="concat_labels")
        updates = [update_scores, update_labels]
        if weights is None:
            all_weights = array_ops.ones_like(scores)
        else:
            weights = _flat(math_ops.cast(weights, dtypes.float64))
            check = check_ops.assert_greater_equal(weights, array_ops.zeros_like(weights), message="weights must be non-negative")
            with control_dependencies([check]):
                all_weights, update_weights = streaming_concat(weights, name="concat_weights")
            updates.append(update_weights)
        area = _area(all_labels, scores, all_weights, curve)
        return collected(area, control_flow.group(*updates), metrics_collections, updates_collections)


class AucData(NamedTuple):
    """An area under a curve, and the ends of its confidence interval."""

    auc: Any
    lower: Any
    upper: Any


def _placements(ordered: Any, scores: Any, weights: Any, total: Any) -> Any:
    """Returns for each score the part of the weight of other scores below it; equal ones count by half.

    `ordered` are the other scores in rising order.
    """
    below = array_ops.concat([[0.0], reduction_ops.cumsum(weights)], 0)
    left, right = (counting_ops.searchsorted(ordered, scores, side) for side in ("left", "right"))
    return (indexing_ops.gather(below, left) + indexing_ops.gather(below, right)) / (2.0 * total)


def _variance(placements: Any, weights: Any, mean: Any, total: Any) -> Any:
    """Returns the variance of the mean of placements."""
    squares = reduction_ops.reduce_sum(weights * math_ops.square(placements - mean))
    return math_ops.div_no_nan(squares, (total - 1.0) * total)


def _interval(labels: Any, scores: Any, weights: Any, alpha: float, is_logit: bool) -> Tuple[Any, Any, Any]:
    """Returns the area under the ROC and its confidence interval, by placements (DeLong and others, 1988)."""
    chosen = [math_ops.equal(labels, k) for k in (0, 1)]
    totals = [reduction_ops.reduce_sum(indexing_ops.boolean_mask(weights, mask)) for mask in chosen]

    def rising(mask: Any) -> List[Any]:
        parts = _sorted_down(-indexing_ops.boolean_mask(scores, mask), indexing_ops.boolean_mask(weights, mask))
        return [-parts[0], parts[1]]

    def interval() -> List[Any]:
        (low, low_weights), (high, high_weights) = rising(chosen[0]), rising(chosen[1])
        of_high = _placements(low, high, low_weights, totals[0])
        of_low = 1.0 - _placements(high, low, high_weights, totals[1])
        area = reduction_ops.reduce_sum(of_high * high_weights) / totals[1]
        variance = _variance(of_high, high_weights, area, totals[1]) + _variance(of_low, low_weights, area, totals[0])
        error = op("Sqrt")(variance) * statistics.NormalDist().inv_cdf((1.0 + alpha) / 2.0)
        if not is_logit:
            return [area, area - error, area + error]
        # The logit of 0 and 1 is not finite: the interval is one number there.
        is_inside = op("LogicalAnd")(area > 0.0, area < 1.0)
        inner = array_ops.where(is_inside, area, 0.5)
        logit, error = op("Log")(inner / (1.0 - inner)), error / (inner * (1.0 - inner))
        return [area] + [array_ops.where(is_inside, math_ops.sigmoid(end), area) for end in (logit - error, logit + error)]

    enough = op("LogicalAnd")(totals[0] > 0.0, totals[1] > 0.0)
    zero = math_ops.cast(0.0, dtypes.float32)
    return tuple(control_flow.cond(enough, interval, lambda: [zero, zero + 0.0, zero + 0.0]))  # type: ignore[return-value]


def auc_with_confidence_intervals(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    alpha: float = 0.95,
    logit_transformation: bool = True,
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: Optional[str] = None,
) -> Tuple[Any, Any]:
    """Computes the area under the ROC of all predictions so far, and its confidence interval.

    Args:
      labels: A tensor of zeros and ones.
      predictions: A tensor of numbers, of the same shape.
      weights: A tensor of that shape, or a scalar; by default ones.
      alpha: The level of confidence, between 0 and 1.
      logit_transformation: If true, the interval is that of the logit, and so lies between 0 and 1.
      metrics_collections: Collections to add the value to.
      updates_collections: Collections to add the update to.
      name: The variable scope.

    Returns:
      A pair: a named tuple of the area and both ends, `auc`, `lower` and `upper`, and a tensor that adds the
        labels and predictions when it is run.

    Raises:
      ValueError: `alpha` is not between 0 and 1, or the shapes differ.

    Example:
      >>> labels, scores = tf.constant([1, 0, 1, 0]), tf.constant([0.9, 0.5, 0.4, 0.1])
      >>> value, update = tf.contrib.metrics.auc_with_confidence_intervals(labels, scores)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     done = sess.run(update)
      ...     print(*[x.round(3) for x in sess.run(value)])
      0.75 0.069 0.992
    """
    if not 0 < alpha < 1:
        raise ValueError("alpha must be between 0 and 1; currently %.02f" % alpha)
    weights = array_ops.ones_like(predictions) if weights is None else weights
    with variable_scope(name, "auc_with_confidence_intervals", (labels, predictions, weights)):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        weights = broadcasting.fit_rank(convert_to_tensor(weights, dtypes.float32), predictions)
        with control_dependencies(_zeros_and_ones(labels)):
            scores, update_scores = streaming_concat(_flat(math_ops.cast(predictions, dtypes.float32)), name="concat_preds")
            all_labels, update_labels = streaming_concat(_flat(math_ops.cast(labels, dtypes.int64)), name="concat_labels")
            all_weights, update_weights = streaming_concat(_flat(math_ops.cast(weights, dtypes.float32)), name="concat_weights")
        value = AucData(*_interval(all_labels, scores, all_weights, alpha, logit_transformation))
        with control_dependencies([update_scores, update_labels, update_weights]):
            update = convert_to_tensor(True)
        collected(value, update, metrics_collections, updates_collections)
        return value, update


def auc_using_histogram(
    boolean_labels: Any,
    scores: Any,
    score_range: Any,
    nbins: int = 100,
    collections: Any = None,
    check_shape: bool = True,
    name: Optional[str] = None,
) -> Pair:
    """Computes the area under the ROC from histograms of the scores of both classes.

    Args:
      boolean_labels: A vector of bools.
      scores: A vector of as many numbers.
      score_range: The smallest and the largest score; others are clipped.
      nbins: The number of bins.
      collections: Collections of the histograms; by default that of local variables.
      check_shape: If true, the shapes are compared when the update runs.
      name: The variable scope.

    Returns:
      A pair: the area so far, and an operation that adds the scores.

    Example:
      >>> value, update = tf.contrib.metrics.auc_using_histogram(
      ...     tf.constant([True, False]), tf.constant([0.9, 0.3]), [0.0, 1.0])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     sess.run(update)
      ...     print(sess.run(value))
      1.0
    """
    collections = [GraphKeys.LOCAL_VARIABLES] if collections is None else collections
    with variable_scope(name, "auc_using_histogram", [boolean_labels, scores, score_range]):
        scores, boolean_labels = convert_to_tensor(scores), convert_to_tensor(boolean_labels)
        score_range = convert_to_tensor(score_range, scores.dtype)
        if boolean_labels.dtype != dtypes.bool:
            raise ValueError("Argument boolean_labels should have dtype bool.  Found: %s", boolean_labels.dtype)
        checks = []
        if check_shape:
            scores.get_shape().assert_is_compatible_with(boolean_labels.get_shape())
            shapes = [array_ops.shape(boolean_labels), array_ops.shape(scores)]
            checks = [check_ops.assert_equal(*shapes, message="boolean_labels and scores have different shapes")]
        with control_dependencies(checks):
            masks = [boolean_labels, op("LogicalNot")(boolean_labels)]
            rows = [indexing_ops.boolean_mask(scores, mask) for mask in masks]
        kept, updates = [], []
        with variable_scope("hist_accumulate"):
            for row, word in zip(rows, ("hist_true", "hist_false")):
                counts = counting_ops.histogram_fixed_width(row, score_range, nbins=nbins, dtype=dtypes.int64, name=word)
                variable = get_variable(word + "_acc", [nbins], dtypes.int64, zeros_initializer(), trainable=False, collections=collections)
                updates.append(state_ops.assign_add(variable, counts))
                kept.append(math_ops.cast(variable.value(), dtypes.float32))
        parts = [counts / reduction_ops.reduce_sum(counts) for counts in kept]
        return _histogram_area(*parts), control_flow.group(*updates)


def _histogram_area(true: Any, false: Any) -> Any:
    """Returns the area from the shares of the bins: a bin's scores are taken to be spread evenly."""
    above = 1.0 - reduction_ops.cumsum(true) + true / 2.0
    return reduction_ops.reduce_sum(above * false, name="auc")
