"""`train_and_evaluate`: training with an evaluation, and exports, after checkpoints."""

from __future__ import annotations

import os
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from millstream.estimator.estimator import Estimator
from millstream.estimator.exporter import Exporter
from millstream.framework import logging
from millstream.framework.graph_keys import GraphKeys
from millstream.train.basic_session_run_hooks import CheckpointSaverListener, SecondOrStepTimer
from millstream.train.session_run_hook import SessionRunHook


class _TrainFields(NamedTuple):
    input_fn: Any
    max_steps: Optional[int]
    hooks: Tuple[Any, ...]


class TrainSpec(_TrainFields):
    """What `train_and_evaluate` trains with.

    Args:
      input_fn: A function that returns a pair of features and labels.
      max_steps: The global step to stop at; None for the end of the input.
      hooks: A list of `SessionRunHook`s.

    Raises:
      ValueError: `max_steps` is not positive.
      TypeError: An argument is of another type.

    Example:
      >>> tf.estimator.TrainSpec(lambda: None, max_steps=10).max_steps
      10
    """

    def __new__(cls, input_fn: Any, max_steps: Optional[int] = None, hooks: Any = None) -> "TrainSpec":
        _check_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError("Must specify max_steps > 0, given: %s" % max_steps)
        return super().__new__(cls, input_fn, max_steps, _hooks(hooks))


class _EvalFields(NamedTuple):
    input_fn: Any
    steps: Optional[int]
    name: Optional[str]
    hooks: Tuple[Any, ...]
    exporters: Tuple[Any, ...]
    start_delay_secs: float
    throttle_secs: float


class EvalSpec(_EvalFields):
    """What `train_and_evaluate` evaluates with.

    Args:
      input_fn: A function that returns a pair of features and labels.
      steps: The number of steps of an evaluation; None for the whole input.
      name: The name of the evaluation, for the directory of its summaries.
      hooks: A list of `SessionRunHook`s.
      exporters: An `Exporter`, or a list of exporters of different names.
      start_delay_secs: Ignored: an evaluation comes after a checkpoint.
      throttle_secs: The shortest time between evaluations, in seconds.

    Raises:
      ValueError: A number is out of its range, or two exporters have one name.
      TypeError: An argument is of another type.

    Example:
      >>> spec = tf.estimator.EvalSpec(lambda: None, exporters=tf.estimator.LatestExporter("a", lambda: None))
      >>> spec.steps, len(spec.exporters), spec.throttle_secs
      (100, 1, 600)
    """

    def __new__(
        cls,
        input_fn: Any,
        steps: Optional[int] = 100,
        name: Optional[str] = None,
        hooks: Any = None,
        exporters: Any = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> "EvalSpec":
        _check_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError("Must specify steps > 0, given: %s" % steps)
        if name is not None and not isinstance(name, str):
            raise TypeError("`name` must be string, given: %s" % name)
        for what, value in (("start_delay_secs", start_delay_secs), ("throttle_secs", throttle_secs)):
            if value < 0:
                raise ValueError("Must specify %s >= 0, given: %s" % (what, value))
        return super().__new__(cls, input_fn, steps, name, _hooks(hooks), _exporters(exporters), start_delay_secs, throttle_secs)


def _check_input_fn(input_fn: Any) -> None:
    if not callable(input_fn):
        raise TypeError("`input_fn` must be callable, given: %s" % input_fn)


def _hooks(hooks: Any) -> Tuple[Any, ...]:
    hooks = tuple(hooks or [])
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError("All hooks must be `SessionRunHook` instances, given: %s" % hook)
    return hooks


def _exporters(exporters: Any) -> Tuple[Any, ...]:
    if exporters is None:
        return ()
    given = [exporters] if isinstance(exporters, Exporter) else exporters
    if not isinstance(given, (list, tuple, set)) or not all(isinstance(e, Exporter) for e in given):
        raise TypeError("`exporters` must be an Exporter, an iterable of Exporter, or `None`, found %s." % exporters)
    names = [e.name for e in given]
    if not all(names):
        words = "An Exporter cannot have a name that is `None` or empty. All exporter names: %s"
        raise ValueError(words % names)
    for name in names:
        if not isinstance(name, str):
            raise ValueError("An Exporter must have a string name. Given: %s" % type(name))
    if len(set(names)) < len(names):
        words = "`exporters` must have unique names. Such a name cannot be `None`. All exporter names: %s"
        raise ValueError(words % names)
    return tuple(given)


class _Evaluation(CheckpointSaverListener):
    """Evaluates and exports after checkpoints; not after the first, which holds initial values."""

    def __init__(self, estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
        self._estimator, self._max_steps, self._spec = estimator, train_spec.max_steps, eval_spec
        self.metrics: Optional[Dict[str, Any]] = None
        self.exports: Optional[List[Any]] = None

    def begin(self) -> None:
        self._timer = SecondOrStepTimer(every_secs=self._spec.throttle_secs)
        self._is_first = True

    def after_save(self, session: Any, global_step_value: int) -> Any:
        if self._is_first:
            self._is_first = False
        elif self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
        else:
            logging.info("Skip the current checkpoint eval due to throttle secs (%s secs).", self._spec.throttle_secs)

    def end(self, session: Any, global_step_value: int) -> None:
        if global_step_value != self._timer.last_triggered_step():
            self._evaluate(global_step_value)

    def _evaluate(self, step: int) -> None:
        self._timer.update_last_triggered_step(step)
        spec, estimator = self._spec, self._estimator
        path = estimator.latest_checkpoint()
        if path is None:
            raise RuntimeError("There was no new checkpoint after the training. Eval status: missing checkpoint")
        self.metrics = estimator.evaluate(spec.input_fn, spec.steps, spec.hooks, path, spec.name)
        is_last = bool(self._max_steps) and self.metrics[GraphKeys.GLOBAL_STEP] >= self._max_steps
        self.exports = []
        for exporter in spec.exporters:
            folder = os.path.join(estimator.model_dir, "export", exporter.name)
            self.exports.append(exporter.export(estimator, folder, path, self.metrics, is_last))


def train_and_evaluate(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> Any:
    """Trains an estimator, and evaluates it after checkpoints and at the end.

    Args:
      estimator: An `Estimator`.
      train_spec: A `TrainSpec`.
      eval_spec: An `EvalSpec`.

    Returns:
      A pair: the results of the last evaluation, a dict, and a list of what its exporters returned. Both are
        None if there was no evaluation.

    Raises:
      TypeError: An argument is of another type.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     loss = tf.square(tf.get_variable("w", initializer=3.0) - tf.reduce_mean(features))
      ...     step = tf.train.GradientDescentOptimizer(0.5).minimize(loss, tf.train.get_global_step())
      ...     return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step, predictions=features)
      >>> input_fn = lambda: tf.constant([1.0])
      >>> results, exports = tf.estimator.train_and_evaluate(tf.estimator.Estimator(model_fn),
      ...     tf.estimator.TrainSpec(input_fn, max_steps=2), tf.estimator.EvalSpec(input_fn, steps=1))
      >>> print(results["loss"], results["global_step"], exports)
      0.0 2 []
    """
    for what, value, kind in (("eval_spec", eval_spec, EvalSpec), ("estimator", estimator, Estimator), ("train_spec", train_spec, TrainSpec)):
        if not isinstance(value, kind):
            raise TypeError("`%s` must have type `tf.estimator.%s`. Got: %s" % (what, kind.__name__, type(value)))
    listener = _Evaluation(estimator, train_spec, eval_spec)
    estimator.train(train_spec.input_fn, list(train_spec.hooks), max_steps=train_spec.max_steps, saving_listeners=[listener])
    return listener.metrics, listener.exports
