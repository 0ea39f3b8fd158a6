"""The heads of `tf.contrib.estimator`: those of the canned estimators, and of several labels or heads."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from millstream import losses, metrics
from millstream.estimator import export
from millstream.estimator.heads import BinaryHead, Head, LossSpec, MultiClassHead, RegressionHead, at_thresholds, mean_of, trained, within, wide_labels
from millstream.estimator.model_fn import EstimatorSpec, ModeKeys
from millstream.framework import SparseTensor, control_dependencies, convert_to_tensor, convert_to_tensor_or_sparse_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.io import summaries
from millstream.io.vocabularies import index_table_from_tensor
from millstream.nn import functions, nn_ops
from millstream.ops import array_ops, check_ops, control_flow, math_ops, reduction_ops, sparse_ops
from millstream.ops.weights import broadcast_weights

_MEAN = losses.Reduction.SUM_OVER_BATCH_SIZE


def _thresholds(given: Any) -> Tuple[float, ...]:
    thresholds = tuple(given or ())
    for threshold in thresholds:
        if not 0.0 < threshold < 1.0:
            raise ValueError("thresholds not in (0, 1): {}.".format((thresholds,)))
    return thresholds


def _loss_fn(given: Any) -> Any:
    if given is None:
        return None
    names = list(inspect.signature(given).parameters)
    for needed in ("labels", "logits"):
        if needed not in names:
            raise ValueError("loss_fn must contain argument: {}. Given arguments: {}".format(needed, tuple(names)))
    others = sorted(set(names) - {"labels", "logits", "features"})
    if others:
        raise ValueError("loss_fn has unexpected args: {}".format(others))
    return given


class _MultiLabelHead(Head):
    """Any number of classes of each example, with the sigmoid cross entropies."""

    def __init__(self, n_classes: int, weight_column: Any, vocabulary: Any, reduction: str, thresholds: Sequence[float], classes: Sequence[int]) -> None:
        super().__init__(weight_column, reduction)
        self.logits_dimension = self.labels_dimension = n_classes
        self._vocabulary, self._thresholds, self._classes = vocabulary, thresholds, classes

    def _predictions(self, logits: Any) -> Dict[str, Any]:
        return {"logits": logits, "probabilities": op("Sigmoid")(logits, name="probabilities")}

    def _exports(self, predictions: Dict[str, Any]) -> Dict[str, Any]:
        scores = predictions["probabilities"]
        names = list(self._vocabulary) if self._vocabulary else op("AsString")(math_ops.range(self.logits_dimension))
        tiled = op("Tile")(array_ops.expand_dims(names, 0), array_ops.stack([array_ops.shape(scores)[0], 1]))
        classified = export.ClassificationOutput(scores=scores, classes=tiled)
        return {"serving_default": classified, "classification": classified, "predict": export.PredictOutput(predictions)}

    def _shaped(self, labels: Any, logits: Any) -> Any:
        n = self.logits_dimension
        if labels is not None:
            labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            labels = self._indicated(labels, n)
        elif labels is not None:
            labels = within(labels, 2, "labels must be an integer indicator Tensor with values in [0, 1]")
        return wide_labels(labels, logits, n)

    def _indicated(self, labels: SparseTensor, n: int) -> Any:
        """Returns 0 or 1 for each class, from the classes of each example."""
        if labels.dtype == dtypes.string:
            if not self._vocabulary:
                raise ValueError("labels are strings: give the head a `label_vocabulary`, or labels that are integers in [0, %d)" % n)
            ids = index_table_from_tensor(tuple(self._vocabulary), name="class_id_lookup").lookup(labels.values)
            labels = SparseTensor(labels.indices, ids, labels.dense_shape)
            return math_ops.cast(sparse_ops.sparse_to_indicator(labels, n), dtypes.int64)
        words = "labels must be an integer SparseTensor with values in [0, {})".format(n)
        if not labels.dtype.is_integer:
            raise TypeError(words + ": found %s" % labels.dtype.name)
        less = check_ops.assert_less(labels.values, math_ops.cast(n, labels.dtype), message=words)
        more = check_ops.assert_non_negative(labels.values, message=words)
        with control_dependencies([less, more]):
            return math_ops.cast(sparse_ops.sparse_to_indicator(labels, n), dtypes.int64)

    def _loss(self, logits: Any, labels: Any) -> Any:
        each = losses.sigmoid_cross_entropy(multi_class_labels=labels, logits=logits, reduction=losses.Reduction.NONE)
        return labels, reduction_ops.reduce_mean(each, axis=-1, keepdims=True)

    def _metrics(self, predictions: Dict[str, Any], labels: Any, weights: Any, loss: Any) -> Dict[str, Any]:
        shares = predictions["probabilities"]
        found: Dict[str, Any] = {"average_loss": metrics.mean(values=loss, weights=weights, name="average_loss")}
        found.update(_areas(labels, shares, weights, ""))
        found.update(at_thresholds(labels, shares, weights, self._thresholds))
        for i in self._classes:
            of_class, is_class = shares[..., i : i + 1], labels[..., i : i + 1]
            suffix = "/" + (self._vocabulary[i] if self._vocabulary else "class%d" % i)
            found["probability_mean" + suffix] = mean_of(of_class, weights, "probability_mean" + suffix, "predictions_mean")
            found.update(_areas(is_class, of_class, weights, suffix))
        return found


def _areas(labels: Any, shares: Any, weights: Any, suffix: str) -> Dict[str, Any]:
    """Returns the areas under both curves."""
    weights = broadcast_weights(weights, shares)
    roc = metrics.auc(labels=labels, predictions=shares, weights=weights, name="auc" + suffix)
    pr = metrics.auc(labels=labels, predictions=shares, weights=weights, curve="PR", name="auc_precision_recall" + suffix)
    return {"auc" + suffix: roc, "auc_precision_recall" + suffix: pr}


class _MultiHead(Head):
    """Several heads, whose losses are added."""

    def __init__(self, heads: Sequence[Any], weights: Sequence[Any]) -> None:
        self._heads, self._head_weights = tuple(heads), tuple(weights)
        self.logits_dimension = sum(head.logits_dimension for head in heads)
        self.name = "_".join(head.name for head in heads)

    def _split(self, logits: Any) -> Dict[str, Any]:
        if isinstance(logits, dict):
            return logits
        logits = convert_to_tensor(logits)
        sizes = [head.logits_dimension for head in self._heads]
        last = logits.shape.as_list()[-1]
        if last not in (None, sum(sizes)):
            text = "Could not split logits of shape %r among the heads with individual logits dimensions: %r. "
            text += "The last dimension of the logits tensor should equal %d but is %d."
            raise ValueError(text % (logits.shape.as_list(), sizes, sum(sizes), last))
        ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
        return {head.name: logits[..., end - size : end] for head, size, end in zip(self._heads, sizes, ends)}

    def _merged(self, found: Sequence[Any]) -> Any:
        with name_scope("merge_losses"):
            if self._head_weights:
                found = [loss * weight for loss, weight in zip(found, self._head_weights)]
            return math_ops.add_n(list(found))

    def create_loss(self, features: Dict[str, Any], mode: str, logits: Any, labels: Any) -> LossSpec:
        split = self._split(logits)
        made = [head.create_loss(features, mode, split[head.name], labels[head.name]) for head in self._heads]
        scales = self._head_weights or [None] * len(made)
        scaled = lambda field: {
            head.name: getattr(loss, field) if scale is None else getattr(loss, field) * scale for head, loss, scale in zip(self._heads, made, scales)
        }
        merged = self._merged([loss.training_loss for loss in made])
        by_head = {head.name: loss.processed_labels for head, loss in zip(self._heads, made)}
        return LossSpec(merged, scaled("unreduced_loss"), scaled("weights"), by_head)

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
        if regularization_losses:
            raise ValueError("a multi_head takes no `regularization_losses`: add them in `train_op_fn`")
        if labels and not isinstance(labels, dict):
            raise ValueError("labels must be a dict. Given: {}".format(labels))
        split = self._split(logits)
        specs = []
        for head in self._heads:
            own = labels[head.name] if labels else None
            specs.append(head.create_estimator_spec(features, mode, split[head.name], own, train_op_fn=lambda loss: control_flow.no_op()))
        predictions = {(head.name, key): x for head, spec in zip(self._heads, specs) for key, x in spec.predictions.items()}
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions=predictions, export_outputs=self._exported(specs))
        if mode == ModeKeys.TRAIN:
            loss = self._merged([spec.loss for spec in specs])
            step = trained(loss, optimizer, train_op_fn)
            with name_scope(""):
                summaries.scalar("loss", loss)
            return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=step)
        found: Dict[str, Any] = {}
        with name_scope("merge_eval"):
            for head, spec in zip(self._heads, specs):
                key = "loss/" + head.name
                found[key] = metrics.mean(spec.loss, name=key)
                found.update(spec.eval_metric_ops)
            loss = self._merged([spec.loss for spec in specs])
        return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=found)

    def _exported(self, specs: Sequence[EstimatorSpec]) -> Dict[str, Any]:
        of_first = specs[0].export_outputs
        exports: Dict[str, Any] = {"serving_default": of_first["serving_default"] if 1 < len(of_first) else next(iter(of_first.values()))}
        merged: Dict[str, Any] = {}
        for head, spec in zip(self._heads, specs):
            for key, output in spec.export_outputs.items():
                exports[head.name if key == "serving_default" else "%s/%s" % (head.name, key)] = output
                if key == "predict":
                    merged.update({"%s/%s" % (head.name, k): x for k, x in output.outputs.items()})
        exports["predict"] = export.PredictOutput(merged)
        return exports


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    loss_fn: Optional[Callable[..., Any]] = None,
    inverse_link_fn: Optional[Callable[[Any], Any]] = None,
    name: Optional[str] = None,
) -> Head:
    """Returns a head of numbers, with the squared error.

    A head makes the `tf.estimator.EstimatorSpec` of a mode from logits, in `create_estimator_spec`.

    Args:
      weight_column: The key, or the numeric column, of the weights of examples.
      label_dimension: The count of numbers of an example.
      loss_reduction: How the losses of a batch are reduced: one of `tf.losses.Reduction`.
      loss_fn: A function of `labels` and `logits`, and perhaps `features`, that returns the losses of
        examples, a tensor whose last axis has `label_dimension` elements.
      inverse_link_fn: The function from logits to predictions.
      name: The name, a suffix of metrics and summaries.

    Raises:
      ValueError: `label_dimension` is less than 1, or an argument is out of its range.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     head = tf.contrib.estimator.regression_head()
      ...     logits = tf.layers.dense(features["x"], head.logits_dimension, kernel_initializer=tf.zeros_initializer())
      ...     optimizer = tf.train.GradientDescentOptimizer(0.1)
      ...     return head.create_estimator_spec(features, mode, logits, labels, optimizer)
      >>> def data():
      ...     return {"x": tf.constant([[1.0], [2.0]])}, tf.constant([2.0, 4.0])
      >>> estimator = tf.estimator.Estimator(model_fn).train(data, steps=100)
      >>> print(estimator.evaluate(data, steps=1)["label/mean"])
      3.0
    """
    head = RegressionHead(label_dimension, weight_column, loss_reduction)
    head.loss_fn, head.inverse_link_fn, head.name = _loss_fn(loss_fn), inverse_link_fn, name
    return head


def poisson_regression_head(
    weight_column: Any = None, label_dimension: int = 1, loss_reduction: str = _MEAN, compute_full_loss: bool = True, name: Optional[str] = None
) -> Head:
    """Returns a head of counts, with the loss of `tf.nn.log_poisson_loss`.

    Predictions are the exponentials of logits.

    Args:
      weight_column: The key, or the numeric column, of the weights of examples.
      label_dimension: The count of numbers of an example.
      loss_reduction: How the losses of a batch are reduced: one of `tf.losses.Reduction`.
      compute_full_loss: If true, the loss has the term of the labels alone.
      name: The name, a suffix of metrics and summaries.

    Raises:
      ValueError: `label_dimension` is less than 1, or an argument is out of its range.

    Example:
      >>> head = tf.contrib.estimator.poisson_regression_head()
      >>> spec = head.create_estimator_spec({}, tf.estimator.ModeKeys.PREDICT, tf.constant([[0.0]]))
      >>> with tf.Session() as sess:
      ...     print(sess.run(spec.predictions["predictions"]))
      [[1.]]
    """

    def loss(labels: Any, logits: Any) -> Any:
        return nn_ops.log_poisson_loss(labels, logits, compute_full_loss=compute_full_loss)

    return regression_head(weight_column, label_dimension, loss_reduction, loss, op("Exp"), name)


def logistic_regression_head(weight_column: Any = None, loss_reduction: str = _MEAN, name: Optional[str] = None) -> Head:
    """Returns a head of shares in [0, 1], with the sigmoid cross entropy.

    Args:
      weight_column: The key, or the numeric column, of the weights of examples.
      loss_reduction: How the losses of a batch are reduced: one of `tf.losses.Reduction`.
      name: The name, a suffix of metrics and summaries.

    Raises:
      ValueError: `loss_reduction` is not one of the reductions.

    Example:
      >>> head = tf.contrib.estimator.logistic_regression_head()
      >>> spec = head.create_estimator_spec({}, tf.estimator.ModeKeys.PREDICT, tf.constant([[0.0]]))
      >>> with tf.Session() as sess:
      ...     print(sess.run(spec.predictions["predictions"]))
      [[0.5]]
    """

    def loss(labels: Any, logits: Any) -> Any:
        labels = within(labels, 2, "Labels must be in range [0, 1]")
        return functions.sigmoid_cross_entropy_with_logits(labels=math_ops.cast(labels, dtypes.float32), logits=logits)

    return regression_head(weight_column, 1, loss_reduction, loss, op("Sigmoid"), name)


def binary_classification_head(
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _MEAN,
    loss_fn: Optional[Callable[..., Any]] = None,
    name: Optional[str] = None,
) -> Head:
    """Returns a head of two classes, with the sigmoid cross entropy of one logit.

    Args:
      weight_column: The key, or the numeric column, of the weights of examples.
      thresholds: Probabilities, at each of which there are metrics too.
      label_vocabulary: A list of the classes, if labels are strings.
      loss_reduction: How the losses of a batch are reduced: one of `tf.losses.Reduction`.
      loss_fn: A function of `labels` and `logits`, and perhaps `features`, that returns the losses of
        examples, of shape `[..., 1]`.
      name: The name, a suffix of metrics and summaries.

    Raises:
      TypeError: `label_vocabulary` is not a list or a tuple.
      ValueError: A threshold is not between 0 and 1, or an argument is out of its range.

    Example:
      >>> head = tf.contrib.estimator.binary_classification_head(thresholds=[0.5])
      >>> labels = tf.constant([[1], [0]])
      >>> spec = head.create_estimator_spec({}, tf.estimator.ModeKeys.EVAL, tf.constant([[2.0], [1.0]]), labels)
      >>> value, update = spec.eval_metric_ops["accuracy/positive_threshold_0.5"]
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(update))
      0.5
    """
    if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
        raise TypeError("label_vocabulary should be a list or tuple. Given type: {}".format(type(label_vocabulary)))
    head = BinaryHead(2, weight_column, label_vocabulary, loss_reduction)
    head.thresholds, head.loss_fn, head.name = _thresholds(thresholds), _loss_fn(loss_fn), name
    return head


def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _MEAN,
    loss_fn: Optional[Callable[..., Any]] = None,
    name: Optional[str] = None,
) -> Head:
    """Returns a head of more than two classes, with the softmax cross entropy.

    Args:
      n_classes: The number of classes.
      weight_column: The key, or the numeric column, of the weights of examples.
      label_vocabulary: A list of the classes, if labels are strings.
      loss_reduction: How the losses of a batch are reduced: one of `tf.losses.Reduction`.
      loss_fn: A function of `labels` and `logits`, and perhaps `features`, that returns the losses of
        examples, of shape `[..., 1]`.
      name: The name, a suffix of metrics and summaries.

    Raises:
      ValueError: There are less than three classes, or an argument is out of its range.

    Example:
      >>> head = tf.contrib.estimator.multi_class_head(3)
      >>> spec = head.create_estimator_spec({}, tf.estimator.ModeKeys.PREDICT, tf.constant([[0.0, 2.0, 1.0]]))
      >>> with tf.Session() as sess:
      ...     print(sess.run(spec.predictions["class_ids"]))
      [[1]]
    """
    if n_classes <= 2:
        raise ValueError("n_classes must be > 2: %s." % n_classes)
    head = MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)
    head.loss_fn, head.name = _loss_fn(loss_fn), name
    return head


def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _MEAN,
    loss_fn: Optional[Callable[..., Any]] = None,
    classes_for_class_based_metrics: Any = None,
    name: Optional[str] = None,
) -> Head:
    """Returns a head of examples that have any number of classes, with the sigmoid cross entropies.

    Labels are 0 or 1 for each class, or a sparse tensor of the classes of each example.

    Args:
      n_classes: The number of classes.
      weight_column: The key, or the numeric column, of the weights of examples.
      thresholds: Probabilities, at each of which there are metrics too.
      label_vocabulary: A list of the classes, if labels are strings.
      loss_reduction: How the losses of a batch are reduced: one of `tf.losses.Reduction`.
      loss_fn: A function of `labels` and `logits`, and perhaps `features`, that returns the losses of
        examples, of shape `[..., 1]`.
      classes_for_class_based_metrics: A list of the classes, as numbers or strings, that have metrics
        of their own.
      name: The name, a suffix of metrics and summaries.

    Raises:
      ValueError: There are less than two classes, or an argument is out of its range.

    Example:
      >>> head = tf.contrib.estimator.multi_label_head(2)
      >>> logits, labels = tf.constant([[0.0, 0.0]]), tf.constant([[1, 1]])
      >>> loss = head.create_loss({}, tf.estimator.ModeKeys.EVAL, logits, labels).training_loss
      >>> with tf.Session() as sess:
      ...     print(sess.run(loss).round(4))
      0.6931
    """
    if n_classes is None or n_classes < 2:
        raise ValueError("n_classes must be > 1 for multi-class classification. Given: {}".format(n_classes))
    for threshold in thresholds or ():
        if not 0.0 < threshold < 1.0:
            raise ValueError("thresholds must be in (0, 1) range. Given: {}".format(threshold))
    if label_vocabulary is not None:
        if not isinstance(label_vocabulary, (list, tuple)):
            raise ValueError("label_vocabulary must be a list or tuple. Given type: {}".format(type(label_vocabulary)))
        if len(label_vocabulary) != n_classes:
            raise ValueError("Length of label_vocabulary must be n_classes ({}). Given: {}".format(n_classes, len(label_vocabulary)))
    classes: List[int] = []
    for named in classes_for_class_based_metrics or ():
        if isinstance(named, str):
            if named not in (label_vocabulary or ()):
                raise ValueError("class %r is not in `label_vocabulary`: give one of %s" % (named, label_vocabulary))
            named = list(label_vocabulary).index(named)
        elif not 0 <= named < n_classes:
            raise ValueError("All classes_for_class_based_metrics must be in range [0, {}]. Given: {}".format(n_classes - 1, named))
        classes.append(named)
    head = _MultiLabelHead(n_classes, weight_column, label_vocabulary, loss_reduction, tuple(thresholds or ()), classes)
    head.loss_fn, head.name = _loss_fn(loss_fn), name
    return head


def multi_head(heads: Sequence[Any], head_weights: Any = None) -> Head:
    """Returns a head of several named heads, whose losses are added.

    Labels are a dict by the heads' names. Logits are such a dict, or one tensor that is split along its
    last axis.

    Args:
      heads: The heads.
      head_weights: The factors of their losses; by default 1.

    Raises:
      ValueError: There is no head, one has no name, or there are other counts of heads and weights.

    Example:
      >>> one = tf.contrib.estimator.regression_head(name="size")
      >>> other = tf.contrib.estimator.multi_class_head(3, name="kind")
      >>> head = tf.contrib.estimator.multi_head([one, other])
      >>> print(head.name, head.logits_dimension)
      size_kind 4
    """
    if head_weights and len(head_weights) != len(heads):
        text = "heads and head_weights must have the same size. Given len(heads): {}. Given len(head_weights): {}."
        raise ValueError(text.format(len(heads), len(head_weights)))
    if not heads:
        raise ValueError("Must specify heads. Given: {}".format(heads))
    for head in heads:
        if not head.name:
            raise ValueError("All given heads must have name specified. Given: {}".format(head))
    return _MultiHead(heads, tuple(head_weights or ()))
