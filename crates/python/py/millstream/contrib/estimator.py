"""`tf.contrib.estimator`: heads, towers, estimators with more metrics, and optimizers that clip."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Optional

from millstream._engine import Tensor
from millstream.estimator import canned
from millstream.estimator.estimator import Estimator
from millstream.estimator.export import PredictOutput
from millstream.estimator.model_fn import ModeKeys
from millstream.estimator.more_heads import (
    binary_classification_head,
    logistic_regression_head,
    multi_class_head,
    multi_head,
    multi_label_head,
    poisson_regression_head,
    regression_head,
)
from millstream.framework import SparseTensor, device, convert_to_tensor_or_sparse_tensor, namespaces
from millstream.losses import Reduction
from millstream.ops import clip_ops, sparse_ops
from millstream.train.optimizer import Optimizer

__all__ = [
    "TowerOptimizer",
    "add_metrics",
    "binary_classification_head",
    "call_logit_fn",
    "clip_gradients_by_norm",
    "dnn_logit_fn_builder",
    "forward_features",
    "linear_logit_fn_builder",
    "logistic_regression_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "regression_head",
    "replicate_model_fn",
]

__getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> List[str]:
    return list(__all__)


def add_metrics(estimator: Estimator, metric_fn: Callable[..., Dict[str, Any]]) -> Estimator:
    """Returns an estimator like another that computes more metrics.

    Args:
      estimator: The other.
      metric_fn: A function that returns a dict of metrics. It takes some of `features`, `labels`,
        `predictions` and `config`.

    Raises:
      ValueError: `metric_fn` has another argument.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     step = tf.assign_add(tf.train.get_global_step(), 1)
      ...     return tf.estimator.EstimatorSpec(mode, predictions=features["x"], loss=tf.constant(0.0), train_op=step)
      >>> def mean(predictions):
      ...     return {"mean": tf.metrics.mean(predictions)}
      >>> estimator = tf.contrib.estimator.add_metrics(tf.estimator.Estimator(model_fn), mean)
      >>> def data():
      ...     return {"x": tf.constant([1.0, 3.0])}, tf.constant([0.0, 0.0])
      >>> estimator = estimator.train(data, steps=1)
      >>> print(estimator.evaluate(data, steps=1)["mean"])
      2.0
    """
    names = set(inspect.signature(metric_fn).parameters)
    others = names - {"features", "labels", "predictions", "config"}
    if others:
        raise ValueError("metric_fn (%s) has following not expected args: %s" % (metric_fn, sorted(others)))

    def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        given = {"features": features, "labels": labels, "predictions": spec.predictions, "config": config}
        more = metric_fn(**{name: given[name] for name in names})
        return spec._replace(eval_metric_ops={**(spec.eval_metric_ops or {}), **more})

    return Estimator(model_fn, estimator.model_dir, estimator.config)


class _Changed(Optimizer):
    """An optimizer that applies gradients of another after a function has changed them."""

    def __init__(self, optimizer: Optimizer, change: Callable[[Any], Any], name: str) -> None:
        super().__init__(False, name)
        self._optimizer, self._change = optimizer, change

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None) -> Any:
        return self._optimizer.apply_gradients(self._change(grads_and_vars), global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot_names(*args, **kwargs)


def clip_gradients_by_norm(optimizer: Optimizer, clip_norm: Any) -> Optimizer:
    """Returns an optimizer like another that clips the global norm of its gradients.

    Args:
      optimizer: The other.
      clip_norm: The largest norm.

    Example:
      >>> x = tf.Variable([3.0, 4.0])
      >>> optimizer = tf.contrib.estimator.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(1.0), 1.0)
      >>> step = optimizer.minimize(tf.reduce_sum(x * x) / 2.0)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x).round(3), optimizer.get_name())
      [2.4 3.2] ClipByNormGradientDescent
    """

    def clip(pairs: Any) -> Any:
        gradients, variables = zip(*pairs)
        return list(zip(clip_ops.clip_by_global_norm(list(gradients), clip_norm)[0], variables))

    return _Changed(optimizer, clip, "ClipByNorm" + optimizer.get_name())


def forward_features(estimator: Estimator, keys: Any = None, sparse_default_values: Optional[Dict[str, Any]] = None) -> Estimator:
    """Returns an estimator like another whose predictions hold features, such as keys of examples.

    Args:
      estimator: The other.
      keys: The key of a feature, or a list of keys; by default all.
      sparse_default_values: For sparse features, by key, the value of elements that are not given.

    Raises:
      TypeError: `keys` is neither a string nor a list of strings.
      ValueError: There is no such feature, a prediction has its key, or it is sparse and has no default.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     return tf.estimator.EstimatorSpec(mode, predictions={"y": features["x"] * 2.0}, loss=tf.constant(0.0),
      ...                                       train_op=tf.assign_add(tf.train.get_global_step(), 1))
      >>> estimator = tf.contrib.estimator.forward_features(tf.estimator.Estimator(model_fn), "id")
      >>> def data():
      ...     return {"x": tf.constant([1.0]), "id": tf.constant([7])}, tf.constant([0.0])
      >>> estimator = estimator.train(data, steps=1)
      >>> predicted = next(estimator.predict(data))
      >>> print(predicted["y"], predicted["id"])
      2.0 7
    """
    if isinstance(keys, str):
        keys = [keys]
    elif keys is not None and not isinstance(keys, (list, tuple)):
        raise TypeError("keys should be either a string or a list of strings. Given: {}".format(type(keys)))
    for key in keys or ():
        if not isinstance(key, str):
            raise TypeError("All items in the given keys list should be a string. There exist an item with type: {}".format(type(key)))
    defaults = sparse_default_values or {}

    def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        if spec.predictions is None:
            return spec
        if not isinstance(spec.predictions, dict):
            raise ValueError("Predictions should be a dict to be able to forward features. Given: {}".format(type(spec.predictions)))
        predictions = dict(spec.predictions)
        chosen = list(features) if keys is None else list(keys)
        for key in chosen:
            predictions[key] = _forwarded(features, spec.predictions, key, defaults)
        for output in (spec.export_outputs or {}).get("predict"), (spec.export_outputs or {}).get("serving_default"):
            if isinstance(output, PredictOutput):
                output.outputs.update({key: predictions[key] for key in chosen})
        return spec._replace(predictions=predictions)

    return Estimator(model_fn, estimator.model_dir, estimator.config)


def _forwarded(features: Any, predictions: Any, key: str, defaults: Dict[str, Any]) -> Tensor:
    """Returns a feature as a tensor."""
    check = "Please check arguments of forward_features."
    if key not in features:
        text = 'keys should be exist in features. Key "{}" is not in features dict. features dict has following keys: {}. '
        raise ValueError(text.format(key, features.keys()) + check)
    if key in predictions:
        text = "Cannot forward feature key ({}). Since it does exist in predictions. Existing prediction keys: {}. "
        raise ValueError(text.format(key, predictions.keys()) + check)
    feature = convert_to_tensor_or_sparse_tensor(features[key])
    if key in defaults:
        if not isinstance(feature, SparseTensor):
            raise ValueError("Feature ({}) is expected to be a `SparseTensor`.".format(key))
        return sparse_ops.sparse_tensor_to_dense(feature, default_value=defaults[key])  # type: ignore[no-any-return]
    if not isinstance(feature, Tensor):
        raise ValueError("Feature ({}) should be a Tensor: leave it out of `keys`, or give it a value in `sparse_default_values`".format(key))
    return feature


def linear_logit_fn_builder(units: int, feature_columns: Any, sparse_combiner: str = "sum") -> Callable[[Dict[str, Any]], Tensor]:
    """Returns the function from features to logits of a linear model.

    Args:
      units: The number of logits.
      feature_columns: A list of columns of `tf.feature_column`.
      sparse_combiner: How the values of a sparse column are combined: `"sum"`, `"mean"` or `"sqrtn"`.

    Example:
      >>> fn = tf.contrib.estimator.linear_logit_fn_builder(2, [tf.feature_column.numeric_column("x")])
      >>> print(fn({"x": tf.constant([[1.0]])}).shape)
      (1, 2)
    """

    def logit_fn(features: Dict[str, Any]) -> Tensor:
        return canned.linear_logits(features, units, feature_columns, sparse_combiner)  # type: ignore[no-any-return]

    return logit_fn


def dnn_logit_fn_builder(
    units: int, hidden_units: Any, feature_columns: Any, activation_fn: Any, dropout: Optional[float], input_layer_partitioner: Any, batch_norm: bool
) -> Callable[[Dict[str, Any], str], Tensor]:
    """Returns the function from features and a mode to logits of a dense network.

    Args:
      units: The number of logits.
      hidden_units: A list of the sizes of the hidden layers.
      feature_columns: A list of dense columns of `tf.feature_column`.
      activation_fn: The activation of the hidden layers.
      dropout: The share of the outputs that is dropped in training, or None.
      input_layer_partitioner: A partitioner of the variables of the columns, or None.
      batch_norm: If true, the hidden layers are normalized.

    Raises:
      ValueError: `units` is not an integer.

    Example:
      >>> columns = [tf.feature_column.numeric_column("x")]
      >>> fn = tf.contrib.estimator.dnn_logit_fn_builder(2, [4], columns, tf.nn.relu, None, None, False)
      >>> print(fn({"x": tf.constant([[1.0]])}, tf.estimator.ModeKeys.EVAL).shape)
      (1, 2)
    """
    if not isinstance(units, int):
        raise ValueError("units must be an int.  Given type: {}".format(type(units)))

    def logit_fn(features: Dict[str, Any], mode: str) -> Tensor:
        return canned.dnn_logits(  # type: ignore[no-any-return]
            features, mode, units, hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm
        )

    return logit_fn


def call_logit_fn(logit_fn: Callable[..., Any], features: Any, mode: Any, params: Any, config: Any) -> Any:
    """Calls a function from features to logits, with those of the other arguments that it takes.

    Args:
      logit_fn: The function.
      features: The dict of features.
      mode: One of `tf.estimator.ModeKeys`.
      params: The dict of parameters.
      config: The `tf.estimator.RunConfig`.

    Raises:
      ValueError: The result is neither a tensor nor a dict of tensors by strings.

    Example:
      >>> fn = lambda features, params: features["x"] * params["factor"]
      >>> logits = tf.contrib.estimator.call_logit_fn(fn, {"x": tf.constant([2.0])}, "eval", {"factor": 3.0}, None)
      >>> print(tf.Session().run(logits))
      [6.]
    """
    taken = inspect.signature(logit_fn).parameters
    given = {"mode": mode, "params": params, "config": config}
    found = logit_fn(features=features, **{name: value for name, value in given.items() if name in taken})
    of_tensors = isinstance(found, dict) and all(isinstance(k, str) and isinstance(v, Tensor) for k, v in found.items())
    if not of_tensors and not isinstance(found, Tensor):
        raise ValueError("logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  logit_fn returned: %s" % (found,))
    return found


def replicate_model_fn(model_fn: Callable[..., Any], loss_reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS, devices: Any = None) -> Callable[..., Any]:
    """Returns a function that builds a model on a device, for an estimator.

    TensorFlow divides batches among several devices. Millstream has one, and the function only names it.

    Args:
      model_fn: The function that builds the model.
      loss_reduction: How losses of several devices would be reduced.
      devices: A list of the device, or None.

    Raises:
      ValueError: `loss_reduction` is `Reduction.NONE`.
      NotImplementedError: There are several devices.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     w = tf.get_variable("w", initializer=1.0)
      ...     optimizer = tf.contrib.estimator.TowerOptimizer(tf.train.GradientDescentOptimizer(0.5))
      ...     step = optimizer.minimize(w, global_step=tf.train.get_global_step())
      ...     return tf.estimator.EstimatorSpec(mode, loss=tf.identity(w), train_op=step)
      >>> estimator = tf.estimator.Estimator(tf.contrib.estimator.replicate_model_fn(model_fn))
      >>> estimator = estimator.train(lambda: ({"x": tf.constant([1.0])}, None), steps=1)
      >>> print(estimator.get_variable_value("w"))
      0.5
    """
    if loss_reduction == Reduction.NONE:
        raise ValueError("Tower losses need to be reduced in some way, yet %s reduction is specified." % loss_reduction)
    places = list(devices or ["/device:CPU:0"])
    if 1 < len(places):
        raise NotImplementedError("replicate_model_fn got %d devices, %s: graphs run on one; leave `devices` out" % (len(places), places))
    taken = inspect.signature(model_fn).parameters

    def replicated(features: Any, labels: Any, mode: Any, params: Any = None, config: Any = None) -> Any:
        given = {"labels": labels, "mode": mode, "params": params, "config": config}
        with device(places[0]):
            return model_fn(features=features, **{name: value for name, value in given.items() if name in taken})

    return replicated


class TowerOptimizer(Optimizer):
    """An optimizer of a model of `replicate_model_fn`: on one device, the optimizer that it is given.

    Args:
      optimizer_or_optimizer_fn: The optimizer, or a function without arguments that returns it.

    Example:
      >>> x = tf.Variable(3.0)
      >>> step = tf.contrib.estimator.TowerOptimizer(lambda: tf.train.GradientDescentOptimizer(0.5)).minimize(x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x))
      2.5
    """

    def __init__(self, optimizer_or_optimizer_fn: Any) -> None:
        self._given = optimizer_or_optimizer_fn

    def _own(self) -> Any:
        if callable(self._given):
            self._given = self._given()
        return self._given

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._own().compute_gradients(*args, **kwargs)

    def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._own().apply_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._own().get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._own().get_slot_names(*args, **kwargs)

    def get_name(self) -> Any:
        return self._own().get_name()

    def variables(self) -> Any:
        return self._own().variables()
