"""Heads: from logits to predictions, losses, metrics and exports, for the estimators of `canned`."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

from millstream import losses, metrics
from millstream.estimator import export
from millstream.estimator.model_fn import EstimatorSpec, ModeKeys
from millstream.feature_column.columns import Features, NumericColumn, numeric_column
from millstream.framework import SparseTensor, control_dependencies, convert_to_tensor_or_sparse_tensor, dtypes, get_collection, name_scope
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.io import summaries
from millstream.io.vocabularies import index_table_from_tensor, index_to_string_table_from_tensor
from millstream.nn import functions
from millstream.ops import array_ops, check_ops, control_flow, math_ops, reduction_ops
from millstream.ops.weights import broadcast_weights
from millstream.train import training_util

_NONE = losses.Reduction.NONE


def _float(x: Any) -> Any:
    return math_ops.cast(x, dtypes.float32)


def wide_labels(labels: Any, logits: Any, width: int) -> Any:
    """Returns labels with the rank of the logits and `width` columns."""
    if labels is None:
        raise ValueError(
            "You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check that your data contain your label feature. "
            "Check that your input_fn properly parses and returns labels."
        )
    with name_scope(None, "labels", [labels, logits]) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            raise ValueError("SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1, ..., DN, %s], e.g. [batch_size, %s]. " % (width, width))
        if labels.shape.ndims is not None and logits.shape.ndims is not None and labels.shape.ndims == logits.shape.ndims - 1:
            labels = array_ops.expand_dims(labels, -1)
        words = "labels shape must be [D0, D1, ... DN, %d]. Suggested Fix: check your n_classes argument to the estimator and/or the shape of your label." % width
        with control_dependencies([check_ops.assert_rank_at_least(labels, 2, message=words)]):
            if labels.shape.ndims is not None and labels.shape[-1].value not in (None, width):
                raise ValueError(
                    "Mismatched label shape. Expected labels dimension=%s.  Received %s. Suggested Fix:If your classifier expects one-hot encoding "
                    "label,check your n_classes argument to the estimator and/or the shape of your label. Otherwise, check the shape of your label."
                    % (width, labels.shape[-1])
                )
            wanted = array_ops.concat([array_ops.shape(logits)[:-1], [width]], 0)
            fits = check_ops.assert_equal(wanted, array_ops.shape(labels), message=words)
            with control_dependencies([fits]):
                return array_ops.identity(labels, name=scope)


def _weights(features: Dict[str, Any], column: Any, logits: Any) -> Any:
    """Returns the weights of examples, a column of numbers, or 1."""
    if column is None:
        return 1.0
    with name_scope(None, "weights", [*features.values(), logits]):
        column = numeric_column(column, shape=(1,)) if isinstance(column, str) else column
        if not isinstance(column, NumericColumn):
            raise TypeError("Weight column must be either a string or _NumericColumn. Given type: %s." % type(column))
        weights = column.dense(Features(features), None, False)
        words = "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1]"
        wanted = array_ops.concat([array_ops.shape(logits)[:-1], [1]], 0)
        with control_dependencies([check_ops.assert_equal(wanted, array_ops.shape(weights), message=words)]):
            return _float(weights)


def within(labels: Any, n_classes: int, words: Optional[str] = None) -> Any:
    """Returns labels that are checked to be classes."""
    with name_scope(None, "assert_range", [labels]):
        last = n_classes - 1
        less = check_ops.assert_less_equal(labels, math_ops.cast(last, labels.dtype), message=words or "Labels must <= n_classes - 1")
        more = check_ops.assert_non_negative(labels, message=words or "Labels must >= 0")
        with control_dependencies([less, more]):
            return array_ops.identity(labels)


def mean_of(values: Any, weights: Any, name: str, scope: str) -> Any:
    """Returns the metric of a weighted mean."""
    with name_scope(name, scope, [values]) as inner:
        values = _float(values)
        return metrics.mean(values, weights=broadcast_weights(weights, values), name=inner)


class LossSpec(NamedTuple):
    """The loss of a batch, and what it was made from."""

    training_loss: Any
    unreduced_loss: Any
    weights: Any
    processed_labels: Any


def checked_logits(logits: Any, width: int) -> Any:
    """Returns logits as floats that have at least two axes, the last of `width`."""
    words = "logits shape must be [D0, D1, ... DN, logits_dimension]"
    with name_scope(None, "logits", [logits]):
        logits = _float(logits)
        known = None if logits.shape.ndims is None else logits.shape[-1].value
        if known not in (None, width):
            raise ValueError(words + ", got %s." % (logits.shape,))
        checks = [check_ops.assert_rank_at_least(logits, 2, message=words)]
        if known is None:
            checks.append(check_ops.assert_equal(width, array_ops.shape(logits)[-1], message=words))
        with control_dependencies(checks):
            return array_ops.identity(logits)


def called_loss(loss_fn: Callable[..., Any], labels: Any, logits: Any, features: Any, width: int) -> Any:
    """Returns the losses of examples by a function of the user."""
    given = {"features": features} if "features" in inspect.signature(loss_fn).parameters else {}
    with name_scope(None, "call_loss_fn", [labels, logits]):
        loss = loss_fn(labels=labels, logits=logits, **given)
        found, wanted = array_ops.shape(loss), array_ops.concat([array_ops.shape(logits)[:-1], [width]], 0)
        same = reduction_ops.reduce_all(op("Equal")(found, wanted))
        words = "loss_fn must return Tensor of shape [D0, D1, ... DN, %d]. " % width
        fits = control_flow.assert_(same, [words, "logits_shape: ", array_ops.shape(logits), "loss_shape: ", found])
        with control_dependencies([fits]):
            return array_ops.identity(loss)


class Head:
    """What the heads share: the loss, and the `EstimatorSpec` of each mode."""

    logits_dimension: int
    name: Optional[str] = None
    loss_fn: Optional[Callable[..., Any]] = None

    def __init__(self, weight_column: Any, loss_reduction: str) -> None:
        if loss_reduction not in losses.Reduction.all() or loss_reduction == _NONE:
            raise ValueError("Invalid loss_reduction: %s" % loss_reduction)
        self._weight_column, self._reduction = weight_column, loss_reduction

    def key(self, name: str) -> str:
        """Returns the name of a metric or a summary of this head."""
        return "%s/%s" % (name, self.name) if self.name else name

    def _predictions(self, logits: Any) -> Dict[str, Any]:
        raise NotImplementedError

    def _exports(self, predictions: Dict[str, Any]) -> Dict[str, Any]:
        raise NotImplementedError

    def _loss(self, logits: Any, labels: Any) -> Any:
        """Returns the labels as numbers, and the loss of each example."""
        raise NotImplementedError

    def _metrics(self, predictions: Dict[str, Any], labels: Any, weights: Any, loss: Any) -> Dict[str, Any]:
        raise NotImplementedError

    def _shaped(self, labels: Any, logits: Any) -> Any:
        """Returns labels of the rank of the logits."""
        return wide_labels(labels, logits, self.labels_dimension)

    def create_loss(self, features: Dict[str, Any], mode: str, logits: Any, labels: Any) -> LossSpec:
        """Returns the loss of a batch, and what it was made from."""
        labels, each = self._loss(logits, self._shaped(labels, logits))
        if self.loss_fn is not None:
            each = called_loss(self.loss_fn, labels, logits, features, self.loss_dimension)
        weights = _weights(features, self._weight_column, logits)
        return LossSpec(losses.compute_weighted_loss(each, weights=weights, reduction=self._reduction), each, weights, labels)

    def create_estimator_spec(
        self,
        features: Dict[str, Any],
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Optional[Callable[[Any], Any]] = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        """Returns the parts of the graph for a mode.

        Args:
          features: The dict of features.
          mode: One of `tf.estimator.ModeKeys`.
          logits: A tensor of shape `[..., logits_dimension]`.
          labels: The labels, to train and to evaluate.
          optimizer: An optimizer of the loss, to train.
          train_op_fn: A function from the loss to the operation of a step, in its place.
          regularization_losses: A list of scalars that are added to the loss.

        Raises:
          ValueError: Both or none of `optimizer` and `train_op_fn` are given.
        """

        def train(loss: Any) -> Any:
            return trained(loss, optimizer, train_op_fn)

        return self.spec(features, mode, logits, labels, train, regularization_losses, True)

    def spec(
        self, features: Dict[str, Any], mode: str, logits: Any, labels: Any, train: Callable[[Any], Any], penalties: Any = None, checks: bool = False
    ) -> EstimatorSpec:
        """Returns the parts of the graph for a mode; `train` returns the operation that reduces a loss."""
        with name_scope(self.name or "head"):
            if checks:
                logits = checked_logits(logits, self.logits_dimension)
            with name_scope(None, "predictions", [logits]):
                predictions = self._predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions=predictions, export_outputs=self._exports(predictions))
            made, each, weights, labels = self.create_loss(features, mode, logits, labels)
            penalty = math_ops.add_n(list(penalties)) if penalties else None
            loss = made if penalty is None else math_ops.add_n([made, penalty])
            if mode == ModeKeys.EVAL:
                with name_scope(None, "metrics", [labels, each]):
                    found = self._metrics(predictions, labels, weights, each)
                    if penalty is not None:
                        found["regularization_loss"] = metrics.mean(values=penalty, name="regularization_loss")
                    found = {self.key(name): pair for name, pair in found.items()}
                return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=found)
            step = train(loss)
            updates = get_collection(GraphKeys.UPDATE_OPS)
            step = control_flow.group(step, *updates) if updates else step
            mean = None
            if self._reduction == losses.Reduction.SUM:
                mean = made / reduction_ops.reduce_sum(weights * array_ops.ones_like(each))
        with name_scope(""):
            summaries.scalar(self.key("loss"), loss)
            if mean is not None:
                summaries.scalar(self.key("average_loss"), mean)
            if penalty is not None:
                summaries.scalar(self.key("regularization_loss"), penalty)
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=step)

    labels_dimension = 1
    loss_dimension = 1


class _Classes(Head):
    """What the heads of classifiers share."""

    def __init__(self, n_classes: int, weight_column: Any, label_vocabulary: Optional[Sequence[str]], loss_reduction: str) -> None:
        super().__init__(weight_column, loss_reduction)
        if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
            raise ValueError("label_vocabulary should be a list or a tuple. Given type: %s" % type(label_vocabulary))
        self._n_classes, self._vocabulary = n_classes, label_vocabulary

    def _of_logits(self, logits: Any, of_each: Any) -> Dict[str, Any]:
        """Returns the predictions that all classifiers make; `of_each` are the logits of all classes."""
        class_ids = array_ops.expand_dims(op("ArgMax")(of_each, -1, name="class_ids"), -1)
        if self._vocabulary:
            classes = index_to_string_table_from_tensor(list(self._vocabulary), name="class_string_lookup").lookup(class_ids)
        else:
            classes = op("AsString")(class_ids, name="str_classes")
        return {
            "logits": logits,
            "probabilities": functions.softmax(of_each, name="probabilities"),
            "class_ids": class_ids,
            "classes": classes,
            "all_class_ids": self._tiled(math_ops.range(self._n_classes), logits),
            "all_classes": self._tiled(self._names(), logits),
        }

    def _names(self) -> Any:
        return list(self._vocabulary) if self._vocabulary else op("AsString")(math_ops.range(self._n_classes))

    def _tiled(self, row: Any, logits: Any) -> Any:
        return op("Tile")(array_ops.expand_dims(row, 0), array_ops.stack([array_ops.shape(logits)[0], 1]))

    def _exports(self, predictions: Dict[str, Any]) -> Dict[str, Any]:
        scores = predictions["probabilities"]
        classified = export.ClassificationOutput(scores=scores, classes=self._tiled(self._names(), scores))
        return {"serving_default": classified, "classification": classified, "predict": export.PredictOutput(predictions)}

    def _ids(self, labels: Any) -> Any:
        return index_table_from_tensor(tuple(self._vocabulary or ()), name="class_id_lookup").lookup(labels)


class MultiClassHead(_Classes):
    """More than two classes, with the softmax cross entropy."""

    def __init__(self, n_classes: int, *options: Any) -> None:
        super().__init__(n_classes, *options)
        self.logits_dimension = n_classes

    def _predictions(self, logits: Any) -> Dict[str, Any]:
        return self._of_logits(logits, logits)

    def _loss(self, logits: Any, labels: Any) -> Any:
        if self._vocabulary is None:
            if not labels.dtype.is_integer:
                raise ValueError("Labels dtype should be integer. Instead got %s." % labels.dtype)
        elif labels.dtype != dtypes.string:
            raise ValueError("Labels dtype should be string if there is a vocabulary. Instead got %s" % labels.dtype)
        else:
            labels = self._ids(labels)
        labels = within(labels, self._n_classes)
        loss = losses.sparse_softmax_cross_entropy(labels=labels, logits=logits, reduction=_NONE)
        return labels, array_ops.expand_dims(loss, -1)

    def _metrics(self, predictions: Dict[str, Any], labels: Any, weights: Any, loss: Any) -> Dict[str, Any]:
        return {
            "average_loss": metrics.mean(values=loss, weights=weights, name="average_loss"),
            "accuracy": metrics.accuracy(labels=labels, predictions=predictions["class_ids"], weights=weights, name="accuracy"),
        }


class BinaryHead(_Classes):
    """Two classes, with the sigmoid cross entropy of one logit."""

    logits_dimension = 1
    thresholds: Sequence[float] = ()

    def _predictions(self, logits: Any) -> Dict[str, Any]:
        logistic = op("Sigmoid")(logits, name="logistic")
        both = array_ops.concat([array_ops.zeros_like(logits), logits], -1, name="two_class_logits")
        return {**self._of_logits(logits, both), "logistic": logistic}

    def _exports(self, predictions: Dict[str, Any]) -> Dict[str, Any]:
        return {**super()._exports(predictions), "regression": export.RegressionOutput(value=predictions["logistic"])}

    def _loss(self, logits: Any, labels: Any) -> Any:
        labels = labels if self._vocabulary is None else self._ids(labels)
        labels = within(_float(labels), 2)
        return labels, functions.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _metrics(self, predictions: Dict[str, Any], labels: Any, weights: Any, loss: Any) -> Dict[str, Any]:
        given = {"labels": labels, "predictions": predictions["class_ids"], "weights": weights}
        logistic = _float(predictions["logistic"])
        label_mean = mean_of(labels, weights, "label/mean", "labels_mean")
        with name_scope(None, "accuracy_baseline", list(label_mean)):
            baseline = tuple(op("Maximum")(v, 1.0 - v, name=n) for v, n in zip(label_mean, ("value", "update_op")))
        of_all = {"labels": labels, "predictions": logistic, "weights": broadcast_weights(weights, logistic)}
        return {
            "average_loss": metrics.mean(values=loss, weights=weights, name="average_loss"),
            "accuracy": metrics.accuracy(name="accuracy", **given),
            "precision": metrics.precision(name="precision", **given),
            "recall": metrics.recall(name="recall", **given),
            "prediction/mean": mean_of(logistic, weights, "prediction/mean", "predictions_mean"),
            "label/mean": label_mean,
            "accuracy_baseline": baseline,
            "auc": metrics.auc(name="auc", **of_all),
            "auc_precision_recall": metrics.auc(curve="PR", name="auc_precision_recall", **of_all),
            **at_thresholds(labels, logistic, weights, self.thresholds),
        }


class RegressionHead(Head):
    """Numbers, with the squared error."""

    def __init__(self, label_dimension: int, weight_column: Any, loss_reduction: str) -> None:
        super().__init__(weight_column, loss_reduction)
        if label_dimension < 1:
            raise ValueError("Invalid label_dimension %s." % label_dimension)
        self.logits_dimension = self.labels_dimension = self.loss_dimension = label_dimension

    inverse_link_fn: Optional[Callable[[Any], Any]] = None

    def _predictions(self, logits: Any) -> Dict[str, Any]:
        if self.inverse_link_fn is None:
            return {"predictions": logits}
        return {"predictions": self.inverse_link_fn(logits), "logits": logits}

    def _exports(self, predictions: Dict[str, Any]) -> Dict[str, Any]:
        value = export.RegressionOutput(value=predictions["predictions"])
        return {"serving_default": value, "regression": value, "predict": export.PredictOutput(predictions)}

    def _loss(self, logits: Any, labels: Any) -> Any:
        labels = _float(labels)
        return labels, losses.mean_squared_error(labels=labels, predictions=logits, reduction=_NONE)

    def _metrics(self, predictions: Dict[str, Any], labels: Any, weights: Any, loss: Any) -> Dict[str, Any]:
        return {
            "average_loss": metrics.mean(values=loss, weights=weights),
            "prediction/mean": mean_of(predictions["predictions"], weights, "prediction/mean", "predictions_mean"),
            "label/mean": metrics.mean(values=labels, weights=weights),
        }


def classifier_head(n_classes: int, weight_column: Any, label_vocabulary: Any, loss_reduction: str) -> Head:
    """Returns the head of a classifier of two or more classes."""
    if not isinstance(n_classes, int) or n_classes < 2:
        raise ValueError("n_classes must be > 2: %s." % (n_classes,))
    kind: Any = BinaryHead if n_classes == 2 else MultiClassHead
    return kind(n_classes, weight_column, label_vocabulary, loss_reduction)  # type: ignore[no-any-return]


def minimized(optimizer: Any) -> Callable[[Any], Any]:
    """Returns the function that reduces a loss with one optimizer, and counts the step."""
    return lambda loss: optimizer.minimize(loss, global_step=training_util.get_global_step())


def trained(loss: Any, optimizer: Any, train_op_fn: Optional[Callable[[Any], Any]]) -> Any:
    """Returns the operation of a step, by one of the two ways to give it."""
    if optimizer is not None and train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set.")
    if optimizer is not None:
        return minimized(optimizer)(loss)
    if train_op_fn is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    return train_op_fn(loss)


def at_thresholds(labels: Any, predictions: Any, weights: Any, thresholds: Sequence[float]) -> Dict[str, Any]:
    """Returns the accuracy, precision and recall of predictions that are positive from a threshold on."""
    found: Dict[str, Any] = {}
    for threshold in thresholds:
        key = "accuracy/positive_threshold_%g" % threshold
        positive = _float(op("GreaterEqual")(predictions, threshold))
        found[key] = metrics.accuracy(labels=labels, predictions=positive, weights=weights, name=key)
        for kind, rates in (("precision", metrics.precision_at_thresholds), ("recall", metrics.recall_at_thresholds)):
            key = "%s/positive_threshold_%g" % (kind, threshold)
            pair = rates(labels=labels, predictions=predictions, thresholds=(threshold,), weights=weights, name=key)
            found[key] = tuple(array_ops.squeeze(x) for x in pair)
    return found


def all_variables(scope: str) -> List[Any]:
    """Returns the trainable variables below a scope."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)
