"""`ModeKeys` and `EstimatorSpec`: what a model function is told, and what it returns."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Tuple

from millstream._engine import Operation, Tensor
from millstream.estimator.export import export_outputs_of
from millstream.framework import get_default_graph, nest, shapes
from millstream.ops import array_ops
from millstream.train.monitored_session import Scaffold
from millstream.train.session_run_hook import SessionRunHook
from millstream.variables.variable import Variable


class ModeKeys:
    """The modes that a model function is called for.

    Example:
      >>> tf.estimator.ModeKeys.TRAIN, tf.estimator.ModeKeys.EVAL, tf.estimator.ModeKeys.PREDICT
      ('train', 'eval', 'infer')
    """

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Dict[str, Any]
    export_outputs: Any
    training_chief_hooks: Tuple[Any, ...]
    training_hooks: Tuple[Any, ...]
    scaffold: Any
    evaluation_hooks: Tuple[Any, ...]
    prediction_hooks: Tuple[Any, ...]


class EstimatorSpec(_Fields):
    """What a model function returns: the parts of its graph.

    Args:
      mode: A `ModeKeys`.
      predictions: A tensor, or a dict of tensors; needed to predict.
      loss: A scalar tensor; needed to train and to evaluate.
      train_op: The operation of a step of training; needed to train.
      eval_metric_ops: A dict from names to the pairs that `tf.metrics` returns.
      export_outputs: A dict from names to `tf.estimator.export.ExportOutput`s; by default the predictions.
      training_chief_hooks: A list of hooks for training.
      training_hooks: A list of hooks for training.
      scaffold: A `tf.train.Scaffold`.
      evaluation_hooks: A list of hooks for evaluation.
      prediction_hooks: A list of hooks for prediction.

    Raises:
      ValueError: A part that the mode needs is missing, or is not in the default graph.
      TypeError: A part is of another type.

    Example:
      >>> spec = tf.estimator.EstimatorSpec("infer", predictions={"x": tf.constant([1.0])})
      >>> sorted(spec.predictions), spec.loss, sorted(spec.export_outputs)
      (['x'], None, ['serving_default'])
    """

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Optional[Dict[str, Any]] = None,
        export_outputs: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
        evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
    ) -> "EstimatorSpec":
        train_op, loss, predictions = _train_op(train_op, mode), _loss(loss, mode), _predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = export_outputs_of(export_outputs, predictions)
        before, during, evaluating, predicting = map(
            _hooks, (training_chief_hooks, training_hooks, evaluation_hooks, prediction_hooks)
        )
        scaffold = scaffold or Scaffold()
        if not isinstance(scaffold, Scaffold):
            raise TypeError("scaffold must be tf.train.Scaffold. Given: %s" % scaffold)
        metrics = _metrics(eval_metric_ops)
        return super().__new__(
            cls, mode, predictions, loss, train_op, metrics, export_outputs, before, during, scaffold, evaluating, predicting
        )

    def _replace(self, **kwargs: Any) -> "EstimatorSpec":
        if kwargs.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(**dict(zip(self._fields, self), **kwargs))


def _of_this_graph(what: str, name: str, graph: Any) -> None:
    if graph is not get_default_graph():
        raise ValueError(
            '%s with "%s" must be from the default graph. Possible causes of this error include: \n\n'
            "1) %s was created outside the context of the default graph.\n\n"
            "2) The object passed through to EstimatorSpec was not created in the most recent call to "
            '"model_fn".' % (what, name, what)
        )


def _tensor(x: Any, what: str, kinds: Any = (Tensor, Variable)) -> Any:
    if not isinstance(x, kinds):
        raise TypeError("%s must be %sTensor, given: %s" % (what, "Operation or " if Operation in kinds else "", x))
    return x


def _train_op(train_op: Any, mode: str) -> Any:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    _tensor(train_op, "train_op", (Tensor, Variable, Operation))
    train_op = train_op.op if isinstance(train_op, Variable) else train_op
    _of_this_graph("train_op", train_op.name, train_op.graph)
    return train_op


def _loss(loss: Any, mode: str) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    shape = _tensor(loss, "loss").get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError("Loss must be scalar, given: %s" % loss)
    if not shape.is_compatible_with(shapes.TensorShape([])):
        loss = array_ops.reshape(loss, [])
    _of_this_graph("loss", loss.name, loss.graph)
    return loss


def _predictions(predictions: Any, mode: str) -> Any:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    if isinstance(predictions, dict):
        for key, value in predictions.items():
            _tensor(value, "predictions[%s]" % (key,))
            _of_this_graph("prediction values", "%s: %s" % (key, value.name), value.graph)
        return dict(predictions)
    _tensor(predictions, "predictions")
    _of_this_graph("prediction values", predictions.name, predictions.graph)
    return predictions


def _hooks(hooks: Any) -> Tuple[Any, ...]:
    hooks = tuple(hooks or [])
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError("All hooks must be SessionRunHook instances, given: %s" % hook)
    return hooks


def _metrics(metrics: Any) -> Dict[str, Any]:
    if metrics is None:
        return {}
    if not isinstance(metrics, dict):
        raise TypeError("eval_metric_ops must be a dict, given: %s" % metrics)
    for key, value in metrics.items():
        if not isinstance(value, tuple) or len(value) != 2:
            words = "Values of eval_metric_ops must be (metric_value, update_op) tuples, given: %s for key: %s"
            raise TypeError(words % (value, key))
        for part in nest.flatten(value):
            _of_this_graph("eval_metric_ops", "%s: %s" % (key, part.name), part.graph)
    return metrics
