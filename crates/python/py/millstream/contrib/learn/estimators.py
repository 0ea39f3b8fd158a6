"""`tf.contrib.learn.Estimator`: an estimator that takes arrays as well as functions of inputs.

Arrays are fed in batches, in a random order in training, which is that of TensorFlow.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from millstream.contrib.layers.feature_columns import real_valued_column
from millstream.contrib.learn.monitors import replace_monitors_with_hooks
from millstream.estimator import estimator as _core
from millstream.estimator.model_fn import EstimatorSpec
from millstream.estimator.model_fn import ModeKeys as _Modes
from millstream.framework import Graph, SparseTensor, dtypes, errors, placeholder
from millstream.metrics import mean
from millstream.train.session_run_hook import SessionRunArgs, SessionRunHook

__all__ = [
    "Estimator",
    "MetricSpec",
    "ModelFnOps",
    "NotFittedError",
    "PredictionKey",
    "ProblemType",
    "SKCompat",
    "infer_real_valued_columns_from_input",
    "infer_real_valued_columns_from_input_fn",
]


class NotFittedError(ValueError, AttributeError):
    """An estimator is asked for predictions before it is trained.

    Example:
      >>> issubclass(tf.contrib.learn.NotFittedError, ValueError)
      True
    """


class PredictionKey:
    """Keys of the predictions of estimators.

    Example:
      >>> tf.contrib.learn.PredictionKey.CLASSES, tf.contrib.learn.PredictionKey.SCORES
      ('classes', 'scores')
    """

    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LOGISTIC = "logistic"
    SCORES = "scores"
    TOP_K = "top_k"
    GENERIC = "output"


class ProblemType:
    """Kinds of problems.

    Example:
      >>> tf.contrib.learn.ProblemType.CLASSIFICATION
      1
    """

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


class ModelFnOps(NamedTuple):
    """What the function of a model returns.

    Args:
      mode: One of `tf.contrib.learn.ModeKeys`.
      predictions: A tensor, or a dict of tensors.
      loss: A scalar; needed but for `INFER`.
      train_op: The operation of a step; needed for `TRAIN`.
      eval_metric_ops: A dict from names to pairs of a metric's value and its update.
      output_alternatives: Ignored.
      training_chief_hooks: Hooks of the training.
      training_hooks: Hooks of the training.
      scaffold: A `tf.train.Scaffold`.

    Example:
      >>> ops = tf.contrib.learn.ModelFnOps(tf.contrib.learn.ModeKeys.INFER, {"y": tf.zeros([2])})
      >>> ops.mode, ops.loss
      ('infer', None)
    """

    mode: str
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metric_ops: Any = None
    output_alternatives: Any = None
    training_chief_hooks: Any = None
    training_hooks: Any = None
    scaffold: Any = None


# Metrics -------------------------------------------------------------------------------------------------


def _accepts(function: Callable[..., Any]) -> Tuple[List[str], bool]:
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters], any(p.kind is p.VAR_KEYWORD for p in parameters)


class MetricSpec:
    """A metric of predictions and labels, for `evaluate`.

    Args:
      metric_fn: A function of `predictions`, and of `labels` and `weights` if it takes them.
      prediction_key: The key of the predictions, if they are a dict of several.
      label_key: The key of the labels, if they are a dict of several.
      weight_key: The key of the weights among the features; None for none.

    Example:
      >>> spec = tf.contrib.learn.MetricSpec(tf.contrib.metrics.streaming_accuracy, prediction_key="classes")
      >>> spec.prediction_key, spec.label_key, spec.weight_key
      ('classes', None, None)
    """

    def __init__(self, metric_fn: Any, prediction_key: Optional[str] = None, label_key: Optional[str] = None, weight_key: Optional[str] = None) -> None:
        self._metric_fn = metric_fn
        self._prediction_key, self._label_key, self._weight_key = prediction_key, label_key, weight_key

    @property
    def metric_fn(self) -> Any:
        """The function of the metric."""
        return self._metric_fn

    @property
    def prediction_key(self) -> Optional[str]:
        """The key of the predictions."""
        return self._prediction_key

    @property
    def label_key(self) -> Optional[str]:
        """The key of the labels."""
        return self._label_key

    @property
    def weight_key(self) -> Optional[str]:
        """The key of the weights."""
        return self._weight_key

    def __str__(self) -> str:
        name = getattr(self._metric_fn, "__name__", repr(self._metric_fn)) if self._metric_fn is not None else None
        return "MetricSpec(metric_fn=%s, prediction_key=%s, label_key=%s, weight_key=%s)" % (name, self._prediction_key, self._label_key, self._weight_key)

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """Returns the value of the metric and its update.

        Args:
          inputs: The features: a tensor, or a dict.
          labels: The labels: a tensor, or a dict.
          predictions: The predictions: a tensor, or a dict.

        Raises:
          ValueError: A key is missing among several tensors, or is given for one tensor.
        """
        given = {
            "predictions": self._one(predictions, self._prediction_key, "prediction"),
            "labels": self._one(labels, self._label_key, "label"),
        }
        if self._weight_key is not None:
            given["weights"] = self._one(inputs, self._weight_key, "weight")
        taken, takes_all = _accepts(self._metric_fn)
        if not takes_all:
            given = {("targets" if name == "labels" and "labels" not in taken and "targets" in taken else name): v for name, v in given.items()}
            given = {name: value for name, value in given.items() if name in taken}
        return self._metric_fn(**given)

    def _one(self, values: Any, key: Optional[str], what: str) -> Any:
        if not isinstance(values, dict):
            if key is None:
                return values
            raise ValueError("MetricSpec with %s_key specified requires a %ss dict, got a tensor (%s)" % (what, what, values))
        if key is not None:
            if key not in values:
                raise KeyError("%s_key `%s` not found in %ss: there are %s" % (what, key, what, ", ".join(sorted(values))))
            return values[key]
        if len(values) != 1:
            raise ValueError("MetricSpec without specified %s_key requires %ss tensor or single element dictionary, got %s" % (what, what, values))
        return next(iter(values.values()))


# Arrays --------------------------------------------------------------------------------------------------


def _arrays(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: np.asarray(part) for key, part in value.items()}
    if value is None or not hasattr(value, "__iter__"):
        return value
    return np.asarray(value if isinstance(value, np.ndarray) or hasattr(value, "__array__") else list(value))


class _Batches(SessionRunHook):
    """Makes placeholders for arrays, and feeds them: in a random order for ever, or once in order."""

    def __init__(self, x: Any, y: Any, batch_size: Optional[int], shuffles: bool) -> None:
        self._x, self._y, self._shuffles = _arrays(x), _arrays(y), shuffles
        self._random = np.random.RandomState(42)
        self._n = self._examples()
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, not {batch_size}")
        self._size = batch_size or self._n
        self._order, self._at = self._new_order(), 0

    def _examples(self) -> int:
        """Returns the number of examples, after a check that all arrays have as many."""
        parts = [part for value in (self._x, self._y) if value is not None for part in (value.values() if isinstance(value, dict) else [value])]
        if not parts or not all(np.ndim(part) for part in parts):
            raise ValueError("x and y must be arrays, or dicts of arrays, whose first axis is that of the examples")
        lengths = sorted({len(part) for part in parts})
        if 1 < len(lengths):
            raise ValueError(f"x and y must have the same number of examples, but there are arrays of {lengths[0]} and of {lengths[-1]}")
        if lengths[0] == 0:
            raise ValueError("x has no examples")
        return lengths[0]

    def _new_order(self) -> Any:
        return self._random.permutation(self._n) if self._shuffles else np.arange(self._n)

    @staticmethod
    def _placeholders(value: Any, name: str) -> Any:
        if value is None:
            return None
        if isinstance(value, dict):
            return {key: _Batches._placeholders(part, "%s_%s" % (name, key)) for key, part in value.items()}
        dtype = dtypes.string if value.dtype.kind in "OSU" else dtypes.as_dtype(value.dtype)
        # As in TensorFlow, features are columns, and columns of labels are vectors.
        shape = list(value.shape[1:])
        if name.startswith("input"):
            shape = shape or [1]
        elif shape == [1]:
            shape = []
        return placeholder(dtype, [None, *shape], name=name)

    def inputs(self) -> Any:
        """Returns the placeholders of the features and of the labels."""
        self._features, self._labels = self._placeholders(self._x, "input"), self._placeholders(self._y, "output")
        return (self._features, self._labels) if self._y is not None else self._features

    def _fed(self, tensors: Any, values: Any, rows: Any) -> Dict[Any, Any]:
        if values is None:
            return {}
        if isinstance(values, dict):
            return {tensors[key]: self._rows(tensors[key], values[key], rows) for key in values}
        return {tensors: self._rows(tensors, values, rows)}

    @staticmethod
    def _rows(tensor: Any, values: Any, rows: Any) -> Any:
        return values[rows] if len(tensor.shape) == values.ndim else values[rows].reshape([len(rows), *tensor.shape.as_list()[1:]])

    def before_run(self, run_context: Any) -> Any:
        """Feeds the next batch."""
        if self._n <= self._at:
            if not self._shuffles:
                raise errors.OutOfRangeError(None, None, "the arrays are at their end")
            self._order, self._at = self._new_order(), 0
        rows = self._order[self._at : self._at + self._size]
        self._at += self._size
        return SessionRunArgs(None, feed_dict={**self._fed(self._features, self._x, rows), **self._fed(self._labels, self._y, rows)})


# Estimators ----------------------------------------------------------------------------------------------


class _Core(_core.Estimator):
    """`tf.estimator.Estimator`, told what the input is and which metrics there are by `Estimator`."""

    metrics: Optional[Dict[str, Any]] = None
    label_signature: Any = None

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        return self._model_fn(features, labels, mode, self)  # type: ignore[no-any-return]


def _named(function: Any) -> str:
    return getattr(function, "__name__", repr(function))


class Estimator:
    """A model that is trained and evaluated, and predicts, from arrays or functions of inputs.

    The function of the model is called with features and labels, and with those of `mode`, `params` and
    `config` that it takes. It returns predictions, loss and operation of a step, or `ModelFnOps`.

    Args:
      model_fn: The function of the model.
      model_dir: The folder of checkpoints and summaries; by default that of `config`, or a temporary one.
      config: A `tf.contrib.learn.RunConfig`.
      params: What the function gets as `params`.
      feature_engineering_fn: A function of features and labels that returns both; called before the model's.

    Raises:
      ValueError: There are `params`, which the function does not take.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
      ...     y = tf.squeeze(tf.matmul(features, w), 1)
      ...     if mode == tf.contrib.learn.ModeKeys.INFER:
      ...         return y, None, None
      ...     loss = tf.losses.mean_squared_error(labels, y)
      ...     step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
      ...     return y, loss, step
      >>> x = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
      >>> y = np.array([3.0, 5.0], np.float32)
      >>> model = tf.contrib.learn.Estimator(model_fn)
      >>> model.fit(x, y, steps=100) is model
      True
      >>> [round(float(v), 2) for v in model.predict(x)]
      [3.0, 5.0]
      >>> sorted(model.evaluate(x, y, steps=1)), model.get_variable_names(), model.get_variable_value("w").shape
      (['global_step', 'loss'], ['global_step', 'w'], (2, 1))
      >>> model.partial_fit(x, y).params, model.config.tf_random_seed, len(model.model_dir) > 0
      (None, None, True)
    """

    def __init__(self, model_fn: Any = None, model_dir: Any = None, config: Any = None, params: Any = None, feature_engineering_fn: Any = None) -> None:
        if model_fn is not None and params is not None and "params" not in _accepts(model_fn)[0]:
            raise ValueError(
                "Estimator's model_fn (%s) does not have a params argument, but params (%s) were passed to the Estimator's constructor." % (model_fn, params)
            )
        self._function, self._params, self._engineer = model_fn, params, feature_engineering_fn
        self._core = _Core(self._build, model_dir, config)

    def __repr__(self) -> str:
        return "%s(params=%s)" % (type(self).__name__, self._params)

    @property
    def model_dir(self) -> str:
        """The folder of checkpoints and summaries."""
        return self._core.model_dir

    @property
    def config(self) -> Any:
        """A copy of the configuration."""
        return self._core.config

    @property
    def params(self) -> Any:
        """What the function of the model gets as `params`."""
        return self._params

    @property
    def model_fn(self) -> Any:
        """The function of the model."""
        return self._function

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """Returns the arguments of the constructor that the estimator keeps."""
        return {"params": self._params}

    def get_variable_names(self) -> List[str]:
        """Returns the names of the variables in the latest checkpoint.

        Raises:
          ValueError: There is no checkpoint.
        """
        return self._core.get_variable_names()

    def get_variable_value(self, name: str) -> np.ndarray:
        """Returns the value of a variable in the latest checkpoint.

        Raises:
          ValueError: There is no checkpoint.
          tf.errors.NotFoundError: It has no such variable.
        """
        return self._core.get_variable_value(name)

    # The model.

    def _build(self, features: Any = None, labels: Any = None, mode: Any = None, config: Any = None) -> EstimatorSpec:
        """Calls the function of the model, and makes an `EstimatorSpec` of what it returns."""
        mine = {_Modes.PREDICT: "infer"}.get(mode, mode)
        if self._function is None:
            raise ValueError("Estimator: there is no `model_fn`: pass a function of features, labels and mode")
        core = self._core
        if labels is None and mine == "infer" and core.label_signature is not None:
            labels = core.label_signature()
        if self._engineer is not None:
            features, labels = self._engineer(features, labels)
        given = {"mode": mine, "params": self._params, "config": core.config, "model_dir": core.model_dir}
        names = _accepts(self._function)[0]
        found = self._function(features, labels, **{name: value for name, value in given.items() if name in names})
        if not isinstance(found, ModelFnOps):
            if not isinstance(found, tuple) or len(found) != 3:
                raise ValueError("Unrecognized value returned by model_fn, please return ModelFnOps.")
            found = ModelFnOps(mine, *found)
        predictions = found.predictions
        hooks = {"training_hooks": found.training_hooks or (), "training_chief_hooks": found.training_chief_hooks or ()}
        if mode == _Modes.PREDICT:
            whole = predictions if isinstance(predictions, dict) else {"": predictions}
            return EstimatorSpec(mode, predictions=whole, scaffold=found.scaffold)
        if found.loss is None:
            raise ValueError("Missing loss: the model's function returned None as its loss for %s" % mine)
        if mode == _Modes.TRAIN and found.train_op is None:
            raise ValueError("Missing training_op.")
        metrics = dict(found.eval_metric_ops or {})
        if mode == _Modes.EVAL:
            for name, spec in (core.metrics or {}).items():
                metrics[name] = _made(name, spec, features, labels, predictions)
            metrics.pop("loss", None)
        parts = predictions if isinstance(predictions, dict) or predictions is None else {"": predictions}
        return EstimatorSpec(
            mode, predictions=parts, loss=found.loss, train_op=found.train_op, eval_metric_ops=metrics, scaffold=found.scaffold, **hooks
        )

    # Its use.

    def fit(
        self, x: Any = None, y: Any = None, input_fn: Any = None, steps: Optional[int] = None, batch_size: Optional[int] = None, monitors: Any = None, max_steps: Optional[int] = None
    ) -> "Estimator":
        """Trains the model, from the latest checkpoint on.

        Args:
          x: An array of features, or a dict of arrays; fed for ever in a random order.
          y: An array of labels.
          input_fn: A function that returns features and labels as tensors; instead of `x` and `y`.
          steps: The number of steps to make; None for as long as there is input.
          batch_size: The number of examples of a step; by default all of `x`.
          monitors: A list of `SessionRunHook`s and `tf.contrib.learn.monitors`.
          max_steps: The global step to stop at.

        Returns:
          The estimator.

        Raises:
          ValueError: Neither or both of `x` and `input_fn` are given, or both of `steps` and `max_steps`.

        Example:
          >>> x = np.array([[0.0], [1.0], [2.0], [3.0]], np.float32)
          >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input(x)
          >>> model = tf.contrib.learn.LinearRegressor(columns, optimizer=tf.train.GradientDescentOptimizer(0.1))
          >>> [round(float(v)) for v in model.fit(x, 2 * x[:, 0], steps=200).predict(x)]
          [0, 2, 4, 6]
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        source, hooks = self._source(x, y, input_fn, batch_size, True)
        if y is None and input_fn is None:
            raise ValueError("labels must not be None: pass `y`")
        hooks += replace_monitors_with_hooks(monitors, self)
        self._core.train(self._seen(source), hooks=hooks, steps=steps, max_steps=max_steps)
        return self

    def partial_fit(self, x: Any = None, y: Any = None, input_fn: Any = None, steps: int = 1, batch_size: Optional[int] = None, monitors: Any = None) -> "Estimator":
        """Trains the model for some more steps; see `fit`."""
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def _seen(self, source: Any) -> Any:
        """Remembers what the labels are: in inference the model's function gets a placeholder."""

        def seen() -> Any:
            found = source()
            labels = found[1] if isinstance(found, tuple) and len(found) == 2 else None
            if labels is not None and not isinstance(labels, (dict, SparseTensor)):
                dtype, shape = labels.dtype, labels.shape
                self._core.label_signature = lambda: placeholder(dtype, shape)
            return found

        return seen

    @staticmethod
    def _source(x: Any, y: Any, input_fn: Any, batch_size: Any, shuffles: bool) -> Tuple[Any, List[Any]]:
        if input_fn is not None:
            if x is not None or y is not None:
                raise ValueError("Can not provide both input_fn and x or y.")
            return input_fn, []
        if x is None:
            raise ValueError("Either x or input_fn must be provided.")
        batches = _Batches(x, y, batch_size, shuffles)
        return batches.inputs, [batches]

    def _trained(self, checkpoint_path: Optional[str] = None) -> None:
        if checkpoint_path is None and self._core.latest_checkpoint() is None:
            raise NotFittedError("Couldn't find trained model at %s." % self.model_dir)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        feed_fn: Any = None,
        batch_size: Optional[int] = None,
        steps: Optional[int] = None,
        metrics: Optional[Dict[Any, Any]] = None,
        name: Optional[str] = None,
        checkpoint_path: Optional[str] = None,
        hooks: Any = None,
        log_progress: bool = True,
    ) -> Dict[str, Any]:
        """Evaluates the latest checkpoint, and returns the values of the metrics.

        Args:
          x: An array of features, or a dict of arrays; fed once in order.
          y: An array of labels.
          input_fn: A function that returns features and labels as tensors; instead of `x` and `y`.
          feed_fn: None: `input_fn` makes what it needs.
          batch_size: The number of examples of a step; by default all of `x`.
          steps: The number of steps; None for as long as there is input.
          metrics: A dict from names to `MetricSpec`s; beside those of the model's function.
          name: A name for the folder of summaries.
          checkpoint_path: A checkpoint; by default the latest.
          hooks: A list of `SessionRunHook`s.
          log_progress: Ignored.

        Returns:
          A dict of the metrics, of `loss`, their mean, and of `global_step`.

        Raises:
          ValueError: The model is not trained, or neither or both of `x` and `input_fn` are given.
        """
        if feed_fn is not None:
            raise ValueError("evaluate(feed_fn) is not part of Millstream: return tensors from `input_fn`, or pass `x` and `y`")
        source, made = self._source(x, y, input_fn, batch_size, False)
        if y is None and input_fn is None:
            raise ValueError("labels must not be None: pass `y`")
        self._trained(checkpoint_path)
        self._core.metrics = metrics
        try:
            return self._core.evaluate(source, steps=steps or None, hooks=made + list(hooks or []), checkpoint_path=checkpoint_path, name=name)
        finally:
            self._core.metrics = None

    def predict(
        self, x: Any = None, input_fn: Any = None, batch_size: Optional[int] = None, outputs: Any = None, as_iterable: bool = True, iterate_batches: bool = False
    ) -> Any:
        """Returns the predictions of the latest checkpoint.

        Args:
          x: An array of features, or a dict of arrays; fed once in order.
          input_fn: A function that returns features as tensors, and ends; instead of `x`.
          batch_size: The number of examples of a step; by default all of `x`.
          outputs: A list of keys of predictions; None for all.
          as_iterable: If false, the predictions are returned as arrays.
          iterate_batches: If true, the items are batches.

        Returns:
          An iterator over the predictions of examples; dicts if there are several predictions.

        Raises:
          ValueError: The model is not trained, or neither or both of `x` and `input_fn` are given.
        """
        source, hooks = self._source(x, None, input_fn, batch_size, False)
        self._trained()
        batches = self._core.predict(source, predict_keys=None if outputs is None else list(outputs), hooks=hooks, yield_single_examples=False)
        parts = (batch[""] if set(batch) == {""} else batch for batch in batches)
        if as_iterable:
            return parts if iterate_batches else _each(parts)
        if input_fn is not None:
            return next(parts)
        whole = list(parts)
        if isinstance(whole[0], dict):
            return {key: np.concatenate([part[key] for part in whole]) for key in whole[0]}
        return np.concatenate(whole)

    def export_savedmodel(
        self, export_dir_base: str, serving_input_fn: Any, default_output_alternative_key: Any = None, assets_extra: Any = None, as_text: bool = False, checkpoint_path: Optional[str] = None
    ) -> bytes:
        """Not part of Millstream: always raises.

        Raises:
          UnimplementedError: Always. `tf.estimator.Estimator` exports models.
        """
        raise errors.UnimplementedError(None, None, "tf.contrib.learn.Estimator.export_savedmodel is not part of Millstream: use `tf.estimator.Estimator.export_savedmodel`")


def _each(parts: Iterator[Any]) -> Iterator[Any]:
    for part in parts:
        if isinstance(part, dict):
            for i in range(len(next(iter(part.values())))):
                yield {key: value[i] for key, value in part.items()}
        else:
            yield from part


def _made(name: Any, spec: Any, features: Any, labels: Any, predictions: Any) -> Any:
    """Returns the pair of a metric, which is a `MetricSpec` or a function of predictions and labels."""
    if isinstance(spec, MetricSpec):
        found = spec.create_metric_ops(features, labels, predictions)
    else:
        if isinstance(name, tuple):
            name, key = name
            predictions = predictions[key]
        found = spec(predictions, labels)
    return found if isinstance(found, tuple) else mean(found)


class SKCompat:
    """An estimator with the methods of scikit-learn: `fit`, `predict` and `score` of arrays.

    Args:
      estimator: A `tf.contrib.learn.Estimator`.

    Example:
      >>> x = np.array([[0.0], [1.0]], np.float32)
      >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input(x)
      >>> model = tf.contrib.learn.SKCompat(tf.contrib.learn.LinearClassifier(columns))
      >>> _ = model.fit(x, np.array([0, 1]), steps=100)
      >>> model.predict(x)["classes"]
      array([0, 1])
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(self, x: Any, y: Any, batch_size: int = 128, steps: Optional[int] = None, max_steps: Optional[int] = None, monitors: Any = None) -> "SKCompat":
        """Trains the model; see `Estimator.fit`."""
        self._estimator.fit(x, y, batch_size=min(batch_size, len(x)), steps=steps, max_steps=max_steps, monitors=monitors)
        return self

    def predict(self, x: Any, batch_size: int = 128, outputs: Any = None) -> Any:
        """Returns the predictions, as an array or a dict of arrays."""
        return Estimator.predict(self._estimator, x, batch_size=batch_size, outputs=outputs, as_iterable=False)

    def score(self, x: Any, y: Any, batch_size: int = 128, steps: Optional[int] = None, metrics: Any = None, name: Optional[str] = None) -> Dict[str, Any]:
        """Returns the metrics; see `Estimator.evaluate`."""
        return self._estimator.evaluate(x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name)  # type: ignore[no-any-return]


# Columns -------------------------------------------------------------------------------------------------


def infer_real_valued_columns_from_input_fn(input_fn: Any) -> List[Any]:
    """Returns a column of numbers for each feature of an input function.

    Args:
      input_fn: A function that returns features and labels.

    Returns:
      A list of `tf.contrib.layers.real_valued_column`s.

    Raises:
      ValueError: A feature holds neither integers nor floats, or is sparse.

    Example:
      >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input_fn(lambda: ({"x": tf.ones([4, 2])}, None))
      >>> columns[0].name, columns[0].dimension
      ('x', 2)
    """
    with Graph().as_default():
        found = input_fn()
        features = found[0] if isinstance(found, tuple) else found
        named = features if isinstance(features, dict) else {"": features}
        return [_column(name, tensor) for name, tensor in named.items()]


def _column(name: str, tensor: Any) -> Any:
    if isinstance(tensor, SparseTensor):
        raise ValueError("SparseTensor is not supported for auto detection. Please define corresponding FeatureColumn for tensor {} {}.", name, tensor)
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError("Non integer or non floating types are not supported for auto detection. Please define corresponding FeatureColumn for tensor {} {}.", name, tensor)
    sizes = tensor.shape.as_list()[1:]
    return real_valued_column(name, dimension=int(np.prod(sizes)) if sizes else 1, dtype=tensor.dtype)


def infer_real_valued_columns_from_input(x: Any) -> List[Any]:
    """Returns a column of numbers for an array of features, or for each of a dict of arrays.

    Args:
      x: An array, or a dict of arrays, with an example in each row.

    Returns:
      A list of `tf.contrib.layers.real_valued_column`s.

    Raises:
      ValueError: A feature holds neither integers nor floats.

    Example:
      >>> tf.contrib.learn.infer_real_valued_columns_from_input(np.ones([5, 3], np.float32))[0].dimension
      3
    """
    return infer_real_valued_columns_from_input_fn(_Batches(x, None, None, False).inputs)
