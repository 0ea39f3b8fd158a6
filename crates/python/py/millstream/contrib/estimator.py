"""`tf.contrib.estimator`: heads, estimators with more metrics and predictions, and optimizers that clip."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Optional

from millstream._engine import Tensor
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
from millstream.framework import SparseTensor, convert_to_tensor_or_sparse_tensor, namespaces
from millstream.ops import clip_ops, sparse_ops
from millstream.train.optimizer import Optimizer

__all__ = [
    "add_metrics",
    "binary_classification_head",
    "clip_gradients_by_norm",
    "forward_features",
    "logistic_regression_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "regression_head",
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
