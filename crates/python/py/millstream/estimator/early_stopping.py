"""Hooks that end the training of an `Estimator` early, by its evaluations: `tf.estimator.experimental`."""

from __future__ import annotations

import collections
import glob
import operator
import os
from typing import Any, Callable, Dict, Optional

from millstream.estimator.estimator import Estimator
from millstream.framework import logging
from millstream.framework.graph_keys import GraphKeys
from millstream.io.summaries import summary_iterator
from millstream.train import training_util
from millstream.train.basic_session_run_hooks import SecondOrStepTimer
from millstream.train.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from millstream.variables.initializers import Constant
from millstream.variables.scopes import AUTO_REUSE, get_variable, variable_scope


def make_early_stopping_hook(
    estimator: Estimator,
    should_stop_fn: Callable[[], bool],
    run_every_secs: Optional[float] = 60,
    run_every_steps: Optional[int] = None,
) -> SessionRunHook:
    """Returns a hook that ends training once a function returns True.

    The hook adds a variable to the graph, `signal_early_stopping/STOP`, which it sets. Checkpoints hold it.

    Args:
      estimator: The estimator that is trained with the hook.
      should_stop_fn: A function without arguments.
      run_every_secs: The seconds between two calls of the function; None to count steps.
      run_every_steps: The steps between two calls; None to count seconds.

    Raises:
      TypeError: `estimator` is not an `Estimator`.
      ValueError: Seconds and steps are both given.

    Example:
      >>> import tempfile
      >>> def model_fn(features, labels, mode):
      ...     step = tf.train.get_or_create_global_step().assign_add(1)
      ...     return tf.estimator.EstimatorSpec(mode, loss=tf.constant(0.0), train_op=step)
      >>> model = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
      >>> hook = tf.estimator.experimental.make_early_stopping_hook(
      ...     model, lambda: True, run_every_secs=None, run_every_steps=1)
      >>> _ = model.train(lambda: tf.data.Dataset.from_tensors((1, 2)).repeat(), hooks=[hook])
      >>> int(model.get_variable_value("global_step"))
      1
    """
    _check_estimator(estimator)
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if estimator.config.is_chief:
        return _StopOnPredicateHook(should_stop_fn, run_every_secs, run_every_steps)
    return _CheckForStoppingHook()


def stop_if_higher_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: Optional[str] = None,
    min_steps: int = 0,
    run_every_secs: Optional[float] = 60,
    run_every_steps: Optional[int] = None,
) -> SessionRunHook:
    """Returns a hook that ends training once a metric of an evaluation exceeds a threshold.

    Args:
      estimator: The estimator that is trained with the hook.
      metric_name: The name of the metric.
      threshold: The threshold.
      eval_dir: The directory of the evaluations' event files; by default `estimator.eval_dir()`.
      min_steps: Evaluations at smaller global steps do not count.
      run_every_secs: The seconds between two looks at the evaluations; None to count steps.
      run_every_steps: The steps between two looks; None to count seconds.

    Example:
      >>> import tempfile
      >>> model = tf.estimator.Estimator(lambda features: None, tempfile.mkdtemp())
      >>> hook = tf.estimator.experimental.stop_if_higher_hook(model, "accuracy", 0.9)
      >>> isinstance(hook, tf.train.SessionRunHook)
      True
    """
    return _threshold_hook(estimator, metric_name, threshold, operator.gt, eval_dir, min_steps, run_every_secs, run_every_steps)


def stop_if_lower_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: Optional[str] = None,
    min_steps: int = 0,
    run_every_secs: Optional[float] = 60,
    run_every_steps: Optional[int] = None,
) -> SessionRunHook:
    """Returns a hook that ends training once a metric of an evaluation falls below a threshold.

    Args:
      estimator: The estimator that is trained with the hook.
      metric_name: The name of the metric.
      threshold: The threshold.
      eval_dir: The directory of the evaluations' event files; by default `estimator.eval_dir()`.
      min_steps: Evaluations at smaller global steps do not count.
      run_every_secs: The seconds between two looks at the evaluations; None to count steps.
      run_every_steps: The steps between two looks; None to count seconds.

    Example:
      >>> import tempfile
      >>> model = tf.estimator.Estimator(lambda features: None, tempfile.mkdtemp())
      >>> hook = tf.estimator.experimental.stop_if_lower_hook(model, "loss", 0.1)
      >>> isinstance(hook, tf.train.SessionRunHook)
      True
    """
    return _threshold_hook(estimator, metric_name, threshold, operator.lt, eval_dir, min_steps, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: Optional[str] = None,
    min_steps: int = 0,
    run_every_secs: Optional[float] = 60,
    run_every_steps: Optional[int] = None,
) -> SessionRunHook:
    """Returns a hook that ends training once a metric of the evaluations has stopped to increase.

    Args:
      estimator: The estimator that is trained with the hook.
      metric_name: The name of the metric.
      max_steps_without_increase: The number of steps since the best evaluation after which training ends.
      eval_dir: The directory of the evaluations' event files; by default `estimator.eval_dir()`.
      min_steps: Evaluations at smaller global steps do not count.
      run_every_secs: The seconds between two looks at the evaluations; None to count steps.
      run_every_steps: The steps between two looks; None to count seconds.

    Example:
      >>> import tempfile
      >>> model = tf.estimator.Estimator(lambda features: None, tempfile.mkdtemp())
      >>> hook = tf.estimator.experimental.stop_if_no_increase_hook(model, "f1", 500, min_steps=8000)
      >>> isinstance(hook, tf.train.SessionRunHook)
      True
    """
    return _no_better_hook(
        estimator, metric_name, max_steps_without_increase, operator.gt, eval_dir, min_steps, run_every_secs, run_every_steps
    )


def stop_if_no_decrease_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: Optional[str] = None,
    min_steps: int = 0,
    run_every_secs: Optional[float] = 60,
    run_every_steps: Optional[int] = None,
) -> SessionRunHook:
    """Returns a hook that ends training once a metric of the evaluations has stopped to decrease.

    Args:
      estimator: The estimator that is trained with the hook.
      metric_name: The name of the metric.
      max_steps_without_decrease: The number of steps since the best evaluation after which training ends.
      eval_dir: The directory of the evaluations' event files; by default `estimator.eval_dir()`.
      min_steps: Evaluations at smaller global steps do not count.
      run_every_secs: The seconds between two looks at the evaluations; None to count steps.
      run_every_steps: The steps between two looks; None to count seconds.

    Example:
      >>> import tempfile
      >>> model = tf.estimator.Estimator(lambda features: None, tempfile.mkdtemp())
      >>> hook = tf.estimator.experimental.stop_if_no_decrease_hook(model, "loss", 500)
      >>> isinstance(hook, tf.train.SessionRunHook)
      True
    """
    return _no_better_hook(
        estimator, metric_name, max_steps_without_decrease, operator.lt, eval_dir, min_steps, run_every_secs, run_every_steps
    )


def read_eval_metrics(eval_dir: str) -> "collections.OrderedDict[int, Dict[str, float]]":
    """Returns the metrics of a directory's evaluations: for each global step, in order, a dict by name."""
    by_step: Dict[int, Dict[str, float]] = collections.defaultdict(dict)
    for path in sorted(glob.glob(os.path.join(glob.escape(eval_dir), "*"))):
        if ".tfevents" not in os.path.basename(path):
            continue
        for event in summary_iterator(path):
            for value in event.summary.value if event.HasField("summary") else ():
                if value.HasField("simple_value"):
                    by_step[event.step][value.tag] = value.simple_value
    return collections.OrderedDict(sorted(by_step.items()))


def _check_estimator(estimator: Any) -> None:
    if not isinstance(estimator, Estimator):
        raise TypeError("`estimator` must have type `tf.estimator.Estimator`. Got: %s" % type(estimator))


def _threshold_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    crosses: Callable[[float, float], bool],
    eval_dir: Optional[str],
    min_steps: int,
    run_every_secs: Optional[float],
    run_every_steps: Optional[int],
) -> SessionRunHook:
    """A hook that ends training once `crosses(metric, threshold)` holds of an evaluation."""
    _check_estimator(estimator)
    folder = eval_dir or estimator.eval_dir()

    def stop() -> bool:
        for step, metrics in read_eval_metrics(folder).items():
            if step >= min_steps and crosses(metrics[metric_name], threshold):
                words = "At step %d, metric `%s` has value %s, beyond the threshold %s: training ends"
                logging.info(words, step, metric_name, metrics[metric_name], threshold)
                return True
        return False

    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def _no_better_hook(
    estimator: Estimator,
    metric_name: str,
    most_steps: int,
    better: Callable[[float, float], bool],
    eval_dir: Optional[str],
    min_steps: int,
    run_every_secs: Optional[float],
    run_every_steps: Optional[int],
) -> SessionRunHook:
    """A hook that ends training once an evaluation is `most_steps` after the best one before it."""
    _check_estimator(estimator)
    folder = eval_dir or estimator.eval_dir()

    def stop() -> bool:
        best: Optional[float] = None
        best_step = 0
        for step, metrics in read_eval_metrics(folder).items():
            if step < min_steps:
                continue
            value = metrics[metric_name]
            if best is None or better(value, best):
                best, best_step = value, step
            if step - best_step >= most_steps:
                words = "Metric `%s` has not been better than %s, of step %d, for %d steps: training ends"
                logging.info(words, metric_name, best, best_step, step - best_step)
                return True
        return False

    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def _stop_variable() -> Any:
    """The variable of the default graph that says whether training ends."""
    with variable_scope("signal_early_stopping", values=[], reuse=AUTO_REUSE):
        return get_variable(
            "STOP", shape=[], dtype="bool", initializer=Constant(False), collections=[GraphKeys.GLOBAL_VARIABLES], trainable=False
        )


class _StopOnPredicateHook(SessionRunHook):
    """Calls a function every so often; when it returns True, sets the variable and ends training."""

    def __init__(self, should_stop_fn: Callable[[], bool], run_every_secs: Optional[float], run_every_steps: Optional[int]) -> None:
        if not callable(should_stop_fn):
            raise TypeError("`should_stop_fn` must be callable.")
        self._should_stop_fn = should_stop_fn
        self._timer = SecondOrStepTimer(every_secs=run_every_secs, every_steps=run_every_steps)

    def begin(self) -> None:
        """Adds the variable to the graph."""
        self._global_step = training_util.get_global_step()
        self._stop_op = _stop_variable().assign(True)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetches the global step."""
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Calls the function if it is time."""
        step = run_values.results
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._should_stop_fn():
                logging.info("Requesting early stopping at global step %d", step)
                run_context.session.run(self._stop_op)
                run_context.request_stop()


class _CheckForStoppingHook(SessionRunHook):
    """Ends training when the variable is set, which the chief does."""

    def begin(self) -> None:
        """Adds the variable to the graph."""
        self._stop = _stop_variable()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetches the variable."""
        return SessionRunArgs(self._stop)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Stops if the variable is set."""
        if run_values.results:
            logging.info("Early stopping requested, suspending run.")
            run_context.request_stop()
