"""Estimators of `tf.contrib.learn` with a model of their own: dense networks, linear models, and both."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Optional

from millstream import metrics
from millstream.contrib.layers.feature_column_ops import (
    input_from_feature_columns,
    joint_weighted_sum_from_feature_columns,
    weighted_sum_from_feature_columns,
)
from millstream.contrib.layers.feature_columns import _FeatureColumn, _RealValuedColumn
from millstream.contrib.layers.layers import dropout as drop_out, fully_connected
from millstream.contrib.layers.optimizers import optimize_loss
from millstream.contrib.learn.estimators import Estimator, ModelFnOps, PredictionKey
from millstream.feature_column.columns import numeric_column
from millstream.feature_column.inputs import input_layer, linear_model
from millstream.framework import control_dependencies, convert_to_tensor, dtypes, get_collection, name_scope, node_counts
from millstream.framework.op_functions import op
from millstream.io import summaries
from millstream.nn import functions
from millstream.ops import array_ops, clip_ops, control_flow, math_ops, reduction_ops
from millstream.train import training_util
from millstream.train.optimizer import Optimizer
from millstream.train.optimizers import AdagradOptimizer, FtrlOptimizer
from millstream.variables.initializers import zeros_initializer
from millstream.variables.partitions import min_max_variable_partitioner
from millstream.variables.scopes import get_variable, get_variable_scope, variable_scope

__all__ = [
    "DNNClassifier",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "LinearClassifier",
    "LinearRegressor",
]

_WHOLE = min_max_variable_partitioner(max_partitions=1)


# Heads ---------------------------------------------------------------------------------------------------


def _checked_classes(n_classes: Any) -> int:
    if not isinstance(n_classes, int) or n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification: %s." % (n_classes,))
    return n_classes


class _Head:
    """From logits to predictions, the loss of each example, and metrics."""

    width = 1
    name = ""
    weights: Optional[str] = None

    def predictions(self, logits: Any) -> Dict[str, Any]:
        raise NotImplementedError

    def losses(self, labels: Any, logits: Any) -> Any:
        raise NotImplementedError

    def metrics(self, predictions: Dict[str, Any], labels: Any, weights: Any) -> Dict[str, Any]:
        return {}

    def _weights(self, features: Dict[str, Any]) -> Any:
        if self.weights is None:
            return None
        if self.weights not in features:
            raise ValueError("weight_column_name %r is no feature: there are %s" % (self.weights, ", ".join(sorted(features))))
        return math_ops.cast(array_ops.reshape(features[self.weights], [-1, 1]), dtypes.float32)

    def ops(self, features: Dict[str, Any], labels: Any, mode: str, logits: Any, train: Callable[[Any], Any]) -> ModelFnOps:
        """Returns the parts of the graph for a mode; `train` returns the operation that reduces a loss."""
        predictions = self.predictions(logits)
        if mode == "infer":
            return ModelFnOps(mode, predictions)
        if labels is None:
            raise ValueError("labels must not be None: the input function returns features and labels")
        labels = convert_to_tensor(labels)
        if labels.shape.ndims == 1:
            labels = array_ops.expand_dims(labels, 1)
        with variable_scope(None, default_name=self.name):
            weights = self._weights(features)
            each = self.losses(labels, logits)
            loss = reduction_ops.reduce_mean(each if weights is None else each * weights)
            average = loss if weights is None else reduction_ops.reduce_sum(each * weights) / reduction_ops.reduce_sum(weights)
            step = None
            if mode == "train":
                with name_scope(None, "train_op", [loss, labels]):
                    step = train(loss)
        found = self.metrics(predictions, labels, weights) if mode == "eval" else {}
        return ModelFnOps(mode, predictions, average if mode == "eval" else loss, step, found)


class _Regression(_Head):
    name = "regression_head"

    def __init__(self, width: int, weights: Optional[str]) -> None:
        self.width, self.weights = width, weights

    def predictions(self, logits: Any) -> Dict[str, Any]:
        return {PredictionKey.SCORES: array_ops.squeeze(logits, [1]) if self.width == 1 else logits}

    def losses(self, labels: Any, logits: Any) -> Any:
        return math_ops.square(logits - math_ops.cast(labels, dtypes.float32))


class _Binary(_Head):
    name = "binary_logistic_head"

    def __init__(self, weights: Optional[str]) -> None:
        self.weights = weights

    def predictions(self, logits: Any) -> Dict[str, Any]:
        both = array_ops.concat([array_ops.zeros_like(logits), logits], 1)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.LOGISTIC: math_ops.sigmoid(logits),
            PredictionKey.PROBABILITIES: functions.softmax(both),
            PredictionKey.CLASSES: op("ArgMax")(both, 1),
        }

    def losses(self, labels: Any, logits: Any) -> Any:
        return functions.sigmoid_cross_entropy_with_logits(labels=math_ops.cast(labels, dtypes.float32), logits=logits)

    def metrics(self, predictions: Dict[str, Any], labels: Any, weights: Any) -> Dict[str, Any]:
        labels = math_ops.cast(labels, dtypes.float32)
        logistic, classes = predictions[PredictionKey.LOGISTIC], array_ops.expand_dims(predictions[PredictionKey.CLASSES], 1)
        above = math_ops.cast(op("GreaterEqual")(logistic, 0.5), dtypes.float32)
        given = {"labels": labels, "weights": weights}
        return {
            "accuracy": metrics.accuracy(predictions=classes, **given),
            "labels/prediction_mean": metrics.mean(logistic, weights),
            "labels/actual_label_mean": metrics.mean(labels, weights),
            "accuracy/baseline_label_mean": metrics.mean(labels, weights),
            "auc": metrics.auc(predictions=logistic, **given),
            "auc_precision_recall": metrics.auc(predictions=logistic, curve="PR", **given),
            "accuracy/threshold_0.500000_mean": metrics.accuracy(predictions=above, **given),
            "precision/positive_threshold_0.500000_mean": metrics.precision(predictions=above, **given),
            "recall/positive_threshold_0.500000_mean": metrics.recall(predictions=above, **given),
        }


class _MultiClass(_Head):
    name = "multi_class_head"

    def __init__(self, n_classes: int, weights: Optional[str]) -> None:
        self.width, self.weights = n_classes, weights

    def predictions(self, logits: Any) -> Dict[str, Any]:
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: functions.softmax(logits),
            PredictionKey.CLASSES: op("ArgMax")(logits, 1),
        }

    def losses(self, labels: Any, logits: Any) -> Any:
        each = functions.sparse_softmax_cross_entropy_with_logits(labels=array_ops.squeeze(labels, [1]), logits=logits)
        return array_ops.expand_dims(each, 1)

    def metrics(self, predictions: Dict[str, Any], labels: Any, weights: Any) -> Dict[str, Any]:
        classes = array_ops.expand_dims(predictions[PredictionKey.CLASSES], 1)
        return {"accuracy": metrics.accuracy(labels=labels, predictions=classes, weights=weights)}


# Models --------------------------------------------------------------------------------------------------


def _named(features: Any) -> Dict[str, Any]:
    return features if isinstance(features, dict) else {"": features}


def _core_columns(columns: Any) -> List[Any]:
    """Returns columns of `tf.feature_column` for those of `tf.contrib.layers`."""
    made = []
    for one in columns:
        if isinstance(one, _RealValuedColumn):
            default = None if one.default_value is None else list(one.default_value)
            one = numeric_column(one.column_name, shape=(one.dimension or 1,), default_value=default, dtype=one.dtype, normalizer_fn=one.normalizer)
        made.append(one)
    return made


def _dense(features: Dict[str, Any], columns: Any, made: Any, collections: Any = None) -> Any:
    """Returns the numbers of all columns side by side. `made` are the columns of `tf.feature_column`."""
    if not all(isinstance(one, _RealValuedColumn) for one in columns):
        if all(isinstance(one, _FeatureColumn) for one in columns):
            return input_from_feature_columns(features, columns, collections, scope=get_variable_scope())
        return input_layer(features, made, weight_collections=collections)
    with name_scope("input_from_feature_columns"):
        parts = []
        for one in sorted(columns, key=lambda column: column.key):
            if one.column_name not in features:
                raise ValueError("Feature %r is missing: there are %s" % (one.column_name, ", ".join(sorted(features))))
            part = convert_to_tensor(features[one.column_name])
            if part.shape.ndims != 2 or part.shape[1].value != one.dimension:
                part = array_ops.reshape(part, [-1, one.dimension])
            part = part if part.dtype == dtypes.float32 else math_ops.cast(part, dtypes.float32)
            parts.append(part if one.normalizer is None else one.normalizer(part))
        if len(parts) == 1:
            node_counts.also(1)  # TensorFlow joins a single column, too.
            return array_ops.identity(parts[0], name="concat")
        return array_ops.concat(parts, 1, name="concat")


def _summarized(layer: Any, tag: str, after: str = "_") -> None:
    summaries.scalar("%s%sfraction_of_zero_values" % (tag, after), functions.zero_fraction(layer))
    summaries.histogram("%s%sactivation" % (tag, after), layer)


def _dnn_logits(
    features: Dict[str, Any], mode: str, width: int, hidden_units: Any, columns: Any, made: Any, activation: Any, dropout: Any, collection: Any = None, after: str = "_"
) -> Any:
    collections = None if collection is None else [collection]
    with variable_scope("input_from_feature_columns", values=list(features.values())):
        net = _dense(features, columns, made, collections)
    for i, units in enumerate(hidden_units):
        with variable_scope("hiddenlayer_%d" % i, values=[net]) as scope:
            net = fully_connected(net, units, activation_fn=activation, variables_collections=collections, scope=scope)
            if dropout is not None and mode == "train":
                net = drop_out(net, keep_prob=1.0 - dropout)
        _summarized(net, scope.name, after)
    with variable_scope("logits", values=[net]) as scope:
        logits = fully_connected(net, width, activation_fn=None, variables_collections=collections, scope=scope)
    _summarized(logits, scope.name, after)
    return logits


class _DNN(Estimator):
    def __init__(self, head: _Head, hidden_units: Any, feature_columns: Any, model_dir: Any, optimizer: Any, activation_fn: Any, dropout: Any, clip: Any, config: Any, engineer: Any) -> None:
        columns = tuple(feature_columns or [])
        if not columns:
            raise ValueError("feature_columns must hold a column: see `tf.contrib.learn.infer_real_valued_columns_from_input`")
        made = _core_columns(columns)

        def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
            features = _named(features)

            def train(loss: Any) -> Any:
                return optimize_loss(
                    loss,
                    training_util.get_global_step(),
                    0.05,
                    AdagradOptimizer(0.05) if optimizer is None else optimizer,
                    clip_gradients=clip,
                    name="dnn",
                    summaries=[],
                )

            with variable_scope("dnn", values=list(features.values()), partitioner=_WHOLE):
                logits = _dnn_logits(features, mode, head.width, hidden_units, columns, made, activation_fn, dropout)
                return head.ops(features, labels, mode, logits, train)

        super().__init__(model_fn, model_dir, config, feature_engineering_fn=engineer)


class _Linear(Estimator):
    def __init__(self, head: _Head, feature_columns: Any, model_dir: Any, optimizer: Any, clip: Any, config: Any, engineer: Any) -> None:
        columns = tuple(feature_columns or [])
        if not columns:
            raise ValueError("feature_columns must hold a column: see `tf.contrib.learn.infer_real_valued_columns_from_input`")
        made = _core_columns(columns)

        def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
            features = _named(features)

            def train(loss: Any) -> Any:
                rate = min(0.2, 1.0 / math.sqrt(len(columns)))
                chosen = FtrlOptimizer(rate) if optimizer is None else optimizer() if callable(optimizer) else optimizer
                if not isinstance(chosen, Optimizer):
                    raise ValueError("LinearClassifier and LinearRegressor: `optimizer` must be a tf.train.Optimizer, but is %r" % (chosen,))
                pairs = chosen.compute_gradients(loss)
                if clip is not None:
                    clipped, _ = clip_ops.clip_by_global_norm([grad for grad, _ in pairs], clip)
                    pairs = [(grad, variable) for grad, (_, variable) in zip(clipped, pairs)]
                return chosen.apply_gradients(pairs, global_step=training_util.get_global_step())

            with variable_scope("linear", values=list(features.values()), partitioner=_WHOLE) as scope:
                logits = _weighted_sum(features, columns, made, head.width, scope)
                return head.ops(features, labels, mode, logits, train)

        super().__init__(model_fn, model_dir, config, feature_engineering_fn=engineer)


def _weighted_sum(features: Dict[str, Any], columns: Any, made: Any, width: int, scope: Any) -> Any:
    """Returns the sum of the columns by their weights, which are named as in `tf.contrib.layers`.

    `made` are the columns of `tf.feature_column`.
    """
    if any(isinstance(one, _FeatureColumn) for one in made):
        return weighted_sum_from_feature_columns(features, columns, width, scope=scope)[0]
    total: Any = None
    for column in made:
        dense = input_layer(features, [column])
        weight = get_variable("%s/weight" % column.name, [dense.shape[1].value, width], initializer=zeros_initializer())
        part = math_ops.matmul(dense, weight)
        total = part if total is None else total + part
    return functions.bias_add(total, get_variable("bias_weight", [width], initializer=zeros_initializer()))


class _Combined(Estimator):
    """A dense network and a linear model whose logits are added."""

    def __init__(
        self, head: _Head, model_dir: Any, linear: Any, linear_optimizer: Any, joint: bool, dense: Any, dnn_optimizer: Any, hidden_units: Any, activation: Any,
        dropout: Any, clip: Any, config: Any, engineer: Any, multipliers: Any, is_one_step: bool,
    ) -> None:  # fmt: skip
        linear, dense = tuple(linear or []), tuple(dense or [])
        if not linear and not dense:
            raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
        made = _core_columns(dense)

        def dnn(features: Dict[str, Any], mode: str) -> Any:
            if not hidden_units:
                raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
            with variable_scope("dnn", values=list(features.values()), partitioner=_WHOLE):
                return _dnn_logits(features, mode, head.width, hidden_units, dense, made, activation or op("Relu"), dropout, "dnn", "/")

        def weighted(features: Dict[str, Any]) -> Any:
            with variable_scope("linear", values=list(features.values()), partitioner=_WHOLE) as scope:
                if all(isinstance(one, _FeatureColumn) for one in linear):
                    add = joint_weighted_sum_from_feature_columns if joint else weighted_sum_from_feature_columns
                    logits = add(features, linear, head.width, ["linear"], scope=scope)[0]
                else:
                    logits = linear_model(features, linear, head.width, weight_collections=["linear"])
                _summarized(logits, scope.name, "/")
                return logits

        def factors() -> Any:
            if not multipliers:
                return None
            found: Dict[Any, Any] = {}
            for column, factor in multipliers.items():
                tables = get_collection("dnn", "dnn/input_from_feature_columns/" + column.name)
                if not tables:
                    raise ValueError("Couldn't find a variable for column {}".format(column))
                found.update((table, factor) for table in tables)
            return found

        def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
            features = _named(features)
            logits = ([dnn(features, mode)] if dense else []) + ([weighted(features)] if linear else [])

            def train(loss: Any) -> Any:
                step, steps = training_util.get_global_step(), []

                def less(name: str, rate: float, optimizer: Any, multiplied: Any = None) -> None:
                    chosen = optimizer() if callable(optimizer) else optimizer
                    trained = get_collection(name)
                    options = {"gradient_multipliers": multiplied, "clip_gradients": clip, "variables": trained, "name": name, "summaries": []}
                    steps.append(optimize_loss(loss, step, rate, chosen, increment_global_step=not is_one_step, **options))

                if dense:
                    less("dnn", 0.05, dnn_optimizer or "Adagrad", factors())
                if linear:
                    less("linear", min(0.2, 1.0 / math.sqrt(len(linear))), linear_optimizer or "Ftrl")
                both = control_flow.group(*steps)
                if not is_one_step:
                    return both
                with control_dependencies([both]):
                    return step.assign_add(1).op

            return head.ops(features, labels, mode, logits[0] if len(logits) == 1 else logits[0] + logits[1], train)

        super().__init__(model_fn, model_dir, config, feature_engineering_fn=engineer)


def _refused(label_keys: Any, enable_centered_bias: bool) -> None:
    if label_keys is not None:
        raise ValueError("label_keys is not part of Millstream: use integers as labels, or `tf.estimator`'s `label_vocabulary`")
    if enable_centered_bias:
        raise ValueError("enable_centered_bias is not part of Millstream: leave it out")


class _Predicts(Estimator):
    """The predictions of classifiers and regressors by kind."""

    _default = PredictionKey.CLASSES

    def predict(
        self, x: Any = None, input_fn: Any = None, batch_size: Optional[int] = None, outputs: Any = None, as_iterable: bool = True, iterate_batches: bool = False
    ) -> Any:
        """Returns classes, or scores; with `outputs`, dicts of the predictions with these keys.

        Args:
          x: As in `tf.contrib.learn.Estimator.predict`, like the other arguments.
          input_fn: A function of inputs.
          batch_size: The number of examples of a step.
          outputs: A list of keys of `tf.contrib.learn.PredictionKey`.
          as_iterable: If false, arrays are returned.
          iterate_batches: If true, the items are batches.
        """
        if outputs:
            return super().predict(x, input_fn, batch_size, outputs, as_iterable, iterate_batches)
        found = self._of(self._default, x, input_fn, batch_size, as_iterable and not iterate_batches)
        return iter([found]) if as_iterable and iterate_batches else found

    def _of(self, key: str, x: Any, input_fn: Any, batch_size: Any, as_iterable: bool) -> Any:
        found = super().predict(x, input_fn, batch_size, [key], as_iterable)
        return (one[key] for one in found) if as_iterable else found[key]


class _Classifies(_Predicts):
    def predict_classes(self, x: Any = None, input_fn: Any = None, batch_size: Optional[int] = None, as_iterable: bool = True) -> Any:
        """Returns the classes of examples; see `predict`."""
        return self._of(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(self, x: Any = None, input_fn: Any = None, batch_size: Optional[int] = None, as_iterable: bool = True) -> Any:
        """Returns the probabilities of the classes of examples; see `predict`."""
        return self._of(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)


class _Scores(_Predicts):
    _default = PredictionKey.SCORES

    def predict_scores(self, x: Any = None, input_fn: Any = None, batch_size: Optional[int] = None, as_iterable: bool = True) -> Any:
        """Returns the scores of examples; see `predict`."""
        return self._of(PredictionKey.SCORES, x, input_fn, batch_size, as_iterable)


class DNNClassifier(_Classifies, _DNN):
    """A dense network that classifies.

    Args:
      hidden_units: A list of the sizes of the hidden layers.
      feature_columns: A list of `tf.contrib.layers.real_valued_column`s, or dense columns of
        `tf.feature_column`.
      model_dir: The folder of checkpoints and summaries.
      n_classes: The number of classes, which are integers from 0 on.
      weight_column_name: The key of the weights of examples among the features.
      optimizer: A `tf.train.Optimizer`, a function that returns one, or a name as in
        `tf.contrib.layers.optimize_loss`; Adagrad by default.
      activation_fn: The activation of the hidden layers.
      dropout: The share of the outputs that is dropped in training.
      gradient_clip_norm: The largest norm of all gradients.
      enable_centered_bias: False.
      config: A `tf.contrib.learn.RunConfig`.
      feature_engineering_fn: As in `tf.contrib.learn.Estimator`.
      embedding_lr_multipliers: Ignored.
      input_layer_min_slice_size: Ignored.
      label_keys: None.

    Raises:
      ValueError: There are no columns, or an argument is out of its range.

    Example:
      >>> x = np.array([[0.0], [1.0], [2.0], [3.0]], np.float32)
      >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input(x)
      >>> model = tf.contrib.learn.DNNClassifier([8], columns, optimizer=tf.train.AdamOptimizer(0.1),
      ...     config=tf.contrib.learn.RunConfig(tf_random_seed=1))
      >>> _ = model.fit(x, np.array([0, 0, 1, 1]), steps=100)
      >>> [int(c) for c in model.predict(x)], [int(c) for c in model.predict_classes(x, as_iterable=False)]
      ([0, 0, 1, 1], [0, 0, 1, 1])
      >>> next(model.predict_proba(x)).shape
      (2,)
    """

    def __init__(
        self,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: Optional[str] = None,
        optimizer: Any = None,
        activation_fn: Any = op("Relu"),
        dropout: Optional[float] = None,
        gradient_clip_norm: Optional[float] = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: Any = None,
        label_keys: Any = None,
    ) -> None:
        _refused(label_keys, enable_centered_bias)
        head: _Head = _Binary(weight_column_name) if _checked_classes(n_classes) == 2 else _MultiClass(n_classes, weight_column_name)
        super().__init__(head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout, gradient_clip_norm, config, feature_engineering_fn)


class DNNRegressor(_Scores, _DNN):
    """A dense network that computes numbers.

    Args:
      hidden_units: A list of the sizes of the hidden layers. The other arguments are those of
        `tf.contrib.learn.DNNClassifier`.
      label_dimension: The number of numbers of an example.

    Raises:
      ValueError: There are no columns, or an argument is out of its range.

    Example:
      >>> x = np.array([[0.0], [1.0]], np.float32)
      >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input(x)
      >>> model = tf.contrib.learn.DNNRegressor([4], columns)
      >>> _ = model.fit(x, x[:, 0], steps=2)
      >>> len(list(model.predict(x))), model.predict_scores(x, as_iterable=False).shape
      (2, (2,))
    """

    def __init__(
        self,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        weight_column_name: Optional[str] = None,
        optimizer: Any = None,
        activation_fn: Any = op("Relu"),
        dropout: Optional[float] = None,
        gradient_clip_norm: Optional[float] = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: Any = None,
    ) -> None:
        _refused(None, enable_centered_bias)
        head = _Regression(label_dimension, weight_column_name)
        super().__init__(head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout, gradient_clip_norm, config, feature_engineering_fn)


class LinearClassifier(_Classifies, _Linear):
    """A linear model that classifies.

    Args:
      feature_columns: A list of `tf.contrib.layers.real_valued_column`s, or dense columns of
        `tf.feature_column`.
      model_dir: The folder of checkpoints and summaries.
      n_classes: The number of classes, which are integers from 0 on.
      weight_column_name: The key of the weights of examples among the features.
      optimizer: A `tf.train.Optimizer`, or a function that returns one; Ftrl by default.
      gradient_clip_norm: The largest norm of all gradients.
      enable_centered_bias: False.
      config: A `tf.contrib.learn.RunConfig`.
      feature_engineering_fn: As in `tf.contrib.learn.Estimator`.
      label_keys: None.

    Raises:
      ValueError: There are no columns, or an argument is out of its range.

    Example:
      >>> x = np.array([[0.0], [1.0], [2.0], [3.0]], np.float32)
      >>> model = tf.contrib.learn.LinearClassifier(tf.contrib.learn.infer_real_valued_columns_from_input(x))
      >>> _ = model.fit(x, np.array([0, 0, 1, 1]), steps=500)
      >>> round(float(model.evaluate(x, np.array([0, 0, 1, 1]), steps=1)["accuracy"]), 2)
      1.0
      >>> model.get_variable_names()[1]
      'linear//weight'
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: Optional[str] = None,
        optimizer: Any = None,
        gradient_clip_norm: Optional[float] = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        label_keys: Any = None,
    ) -> None:
        _refused(label_keys, enable_centered_bias)
        head: _Head = _Binary(weight_column_name) if _checked_classes(n_classes) == 2 else _MultiClass(n_classes, weight_column_name)
        super().__init__(head, feature_columns, model_dir, optimizer, gradient_clip_norm, config, feature_engineering_fn)


class LinearRegressor(_Scores, _Linear):
    """A linear model that computes numbers.

    Args:
      feature_columns: A list of columns. The other arguments are those of
        `tf.contrib.learn.LinearClassifier`.
      label_dimension: The number of numbers of an example.

    Raises:
      ValueError: There are no columns, or an argument is out of its range.

    Example:
      >>> x = np.array([[0.0], [1.0], [2.0], [3.0]], np.float32)
      >>> model = tf.contrib.learn.LinearRegressor(tf.contrib.learn.infer_real_valued_columns_from_input(x))
      >>> _ = model.fit(x, 2 * x[:, 0], steps=10)
      >>> model.get_variable_value("linear//weight").shape
      (1, 1)
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        weight_column_name: Optional[str] = None,
        optimizer: Any = None,
        gradient_clip_norm: Optional[float] = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:
        _refused(None, enable_centered_bias)
        head = _Regression(label_dimension, weight_column_name)
        super().__init__(head, feature_columns, model_dir, optimizer, gradient_clip_norm, config, feature_engineering_fn)


class DNNLinearCombinedClassifier(_Classifies, _Combined):
    """A dense network and a linear model that classify together.

    Args:
      model_dir: The folder of checkpoints and summaries.
      n_classes: The number of classes, which are integers from 0 on.
      weight_column_name: The key of the weights of examples among the features.
      linear_feature_columns: The columns of the linear model.
      linear_optimizer: Its optimizer, as in `tf.contrib.layers.optimize_loss`; Ftrl by default.
      _joint_linear_weights: Whether its columns, all of ids, have one table of weights.
      dnn_feature_columns: The columns of the network.
      dnn_optimizer: Its optimizer; Adagrad by default.
      dnn_hidden_units: A list of the sizes of its hidden layers.
      dnn_activation_fn: The activation of the hidden layers.
      dnn_dropout: The share of the outputs that is dropped in training.
      gradient_clip_norm: The largest norm of the gradients of either model.
      enable_centered_bias: False.
      config: A `tf.contrib.learn.RunConfig`.
      feature_engineering_fn: As in `tf.contrib.learn.Estimator`.
      embedding_lr_multipliers: A dict from embedding columns to factors of their gradients.
      input_layer_min_slice_size: Ignored.
      label_keys: None.
      fix_global_step_increment_bug: If false, the global step counts the updates of both models: two a step.

    Raises:
      ValueError: There are no columns, or an argument is out of its range.

    Example:
      >>> x = np.array([[0.0], [1.0], [2.0], [3.0]], np.float32)
      >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input(x)
      >>> model = tf.contrib.learn.DNNLinearCombinedClassifier(
      ...     linear_feature_columns=columns, dnn_feature_columns=columns, dnn_hidden_units=[4], fix_global_step_increment_bug=True)
      >>> _ = model.fit(x, np.array([0, 0, 1, 1]), steps=2)
      >>> int(model.get_variable_value("global_step")), len(list(model.predict(x)))
      (2, 4)
    """

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: Optional[str] = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = op("Relu"),
        dnn_dropout: Optional[float] = None,
        gradient_clip_norm: Optional[float] = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: Any = None,
        label_keys: Any = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        _refused(label_keys, enable_centered_bias)
        head: _Head = _Binary(weight_column_name) if _checked_classes(n_classes) == 2 else _MultiClass(n_classes, weight_column_name)
        super().__init__(
            head, model_dir, linear_feature_columns, linear_optimizer, _joint_linear_weights, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, gradient_clip_norm, config, feature_engineering_fn, embedding_lr_multipliers, fix_global_step_increment_bug,
        )  # fmt: skip


class DNNLinearCombinedRegressor(_Scores, _Combined):
    """A dense network and a linear model that compute numbers together.

    Args:
      model_dir: The folder of checkpoints and summaries. The other arguments are those of
        `tf.contrib.learn.DNNLinearCombinedClassifier`.
      label_dimension: The number of numbers of an example.

    Raises:
      ValueError: There are no columns.

    Example:
      >>> x = np.array([[0.0], [1.0], [2.0], [3.0]], np.float32)
      >>> model = tf.contrib.learn.DNNLinearCombinedRegressor(
      ...     linear_feature_columns=tf.contrib.learn.infer_real_valued_columns_from_input(x))
      >>> _ = model.fit(x, 2 * x[:, 0], steps=2)
      >>> len(list(model.predict_scores(x)))
      4
    """

    def __init__(
        self,
        model_dir: Any = None,
        weight_column_name: Optional[str] = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = op("Relu"),
        dnn_dropout: Optional[float] = None,
        gradient_clip_norm: Optional[float] = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        config: Any = None,
        feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: Any = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        _refused(None, enable_centered_bias)
        super().__init__(
            _Regression(label_dimension, weight_column_name), model_dir, linear_feature_columns, linear_optimizer, _joint_linear_weights,
            dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout, gradient_clip_norm, config,
            feature_engineering_fn, embedding_lr_multipliers, fix_global_step_increment_bug,
        )  # fmt: skip
