"""`tf.contrib.learn.monitors`: what watches the steps of a training, before there were hooks.

A monitor is told of each step by its number. `fit` takes monitors and `SessionRunHook`s in one list.
"""

from __future__ import annotations

import time
from typing import Any, Dict, List, Optional

import numpy as np

from millstream.framework import get_default_graph, logging
from millstream.train import training_util
from millstream.train.basic_session_run_hooks import NanLossDuringTrainingError
from millstream.train.checkpoints import latest_checkpoint
from millstream.train.session_run_hook import SessionRunArgs, SessionRunHook

__all__ = [
    "BaseMonitor",
    "CaptureVariable",
    "EveryN",
    "NanLoss",
    "PrintTensor",
    "RunHookAdapterForMonitors",
    "StopAtStep",
    "ValidationMonitor",
    "replace_monitors_with_hooks",
]


class BaseMonitor:
    """The base of monitors: methods that `fit` calls.

    Example:
      >>> class Steps(tf.contrib.learn.monitors.BaseMonitor):
      ...     def step_end(self, step, output):
      ...         print("step", step)
      ...         return 2 <= step
      >>> x = np.array([[0.0], [1.0]], np.float32)
      >>> model = tf.contrib.learn.LinearRegressor(tf.contrib.learn.infer_real_valued_columns_from_input(x))
      >>> _ = model.fit(x, x[:, 0], steps=5, monitors=[Steps()])
      step 1
      step 2
    """

    _estimator: Any = None

    @property
    def run_on_all_workers(self) -> bool:
        """Whether each process of several has the monitor."""
        return False

    def set_estimator(self, estimator: Any) -> None:
        """Tells the monitor its estimator; called by `fit`.

        Raises:
          ValueError: `estimator` is None.
        """
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps: Optional[int] = None) -> None:
        """Called once, when the graph is built."""

    def end(self, session: Any = None) -> None:
        """Called once, after the last step."""

    def epoch_begin(self, epoch: int) -> None:
        """Never called: there are no epochs."""

    def epoch_end(self, epoch: int) -> None:
        """Never called: there are no epochs."""

    def step_begin(self, step: int) -> List[Any]:
        """Called before a step; returns a list of tensors, or names of such, to compute with it."""
        return []

    def step_end(self, step: int, output: Dict[str, Any]) -> bool:
        """Called after a step with the values by name; returns whether to stop."""
        return False

    def post_step(self, step: int, session: Any) -> None:
        """Called after a step and the `step_end` of all monitors."""


def _value(outputs: Dict[str, Any], request: Any) -> Any:
    name = request if isinstance(request, str) else request.name
    return outputs[name] if name in outputs else outputs[name + ":0"]


class EveryN(BaseMonitor):
    """The base of monitors that are called every `every_n_steps` steps, at the first steps, and at the last.

    Args:
      every_n_steps: The interval in steps.
      first_n_steps: The number of the first steps, at each of which it is called.

    Example:
      >>> class Steps(tf.contrib.learn.monitors.EveryN):
      ...     def every_n_step_end(self, step, outputs):
      ...         print("step", step)
      >>> x = np.array([[0.0], [1.0]], np.float32)
      >>> model = tf.contrib.learn.LinearRegressor(tf.contrib.learn.infer_real_valued_columns_from_input(x))
      >>> _ = model.fit(x, x[:, 0], steps=6, monitors=[Steps(3, 1)])
      step 1
      step 4
    """

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1) -> None:
        self._every_n_steps, self._first_n_steps = every_n_steps, first_n_steps
        self._active: Optional[int] = None
        self._last_active = 0
        self._last_done: Optional[int] = None
        self._max_steps: Optional[int] = None

    def begin(self, max_steps: Optional[int] = None) -> None:
        """Called once, when the graph is built."""
        self._max_steps = max_steps

    def every_n_step_begin(self, step: int) -> List[Any]:
        """Called before such a step; returns a list of tensors, or names of such, to compute with it."""
        return []

    def every_n_step_end(self, step: int, outputs: Dict[str, Any]) -> bool:
        """Called after such a step with the values by name; returns whether to stop."""
        return False

    def every_n_post_step(self, step: int, session: Any) -> None:
        """Called after such a step and the `step_end` of all monitors."""

    def step_begin(self, step: int) -> List[Any]:
        """Calls `every_n_step_begin` if the step is one of those."""
        if step <= self._first_n_steps or self._every_n_steps + self._last_active <= step or step == self._max_steps:
            self._active = step
            return self.every_n_step_begin(step) or []
        return []

    def step_end(self, step: int, output: Dict[str, Any]) -> bool:
        """Calls `every_n_step_end` if the step is one of those."""
        stops = bool(self.every_n_step_end(step, output)) if self._active == step else False
        if self._active == step:
            self._last_active = step
        self._last_done = step
        return stops

    def post_step(self, step: int, session: Any) -> None:
        """Calls `every_n_post_step` if the step is one of those."""
        if self._active == step:
            self.every_n_post_step(step, session)


class CaptureVariable(EveryN):
    """Keeps the values of a variable.

    Args:
      var_name: The name of the variable or tensor.
      every_n: The interval in steps.
      first_n: The number of the first steps, at each of which the value is kept.

    Example:
      >>> x = np.array([[1.0], [2.0]], np.float32)
      >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input(x)
      >>> model = tf.contrib.learn.LinearRegressor(columns, optimizer=tf.train.GradientDescentOptimizer(0.1))
      >>> steps = tf.contrib.learn.monitors.CaptureVariable("global_step:0", every_n=2)
      >>> _ = model.fit(x, x[:, 0], steps=4, monitors=[steps])
      >>> sorted(int(step) for step in steps.values)
      [1, 3]
    """

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._name = var_name
        self._values: Dict[int, Any] = {}

    @property
    def values(self) -> Dict[int, Any]:
        """The values by step."""
        return self._values

    def every_n_step_begin(self, step: int) -> List[Any]:
        """Asks for the variable."""
        return [self._name]

    def every_n_step_end(self, step: int, outputs: Dict[str, Any]) -> bool:
        """Keeps the value."""
        self._values[step] = _value(outputs, self._name)
        return False


class PrintTensor(EveryN):
    """Logs the values of tensors.

    Args:
      tensor_names: A list of names of tensors, or a dict from what to call them to these.
      every_n: The interval in steps.
      first_n: The number of the first steps, at each of which they are logged.

    Example:
      >>> monitor = tf.contrib.learn.monitors.PrintTensor(["global_step:0"], every_n=10)
      >>> monitor.every_n_step_begin(1)
      ['global_step:0']
    """

    def __init__(self, tensor_names: Any, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._names = tensor_names if isinstance(tensor_names, dict) else {name: name for name in tensor_names}

    def every_n_step_begin(self, step: int) -> List[Any]:
        """Asks for the tensors."""
        return list(self._names.values())

    def every_n_step_end(self, step: int, outputs: Dict[str, Any]) -> bool:
        """Logs the values."""
        shown = ["%s = %s" % (word, _value(outputs, name)) for word, name in self._names.items()]
        logging.info("Step %d: %s", step, ", ".join(shown))
        return False


class NanLoss(EveryN):
    """Stops when a loss becomes NaN.

    Args:
      loss_tensor: The loss.
      every_n_steps: The interval in steps.
      fail_on_nan_loss: If true, it raises; otherwise training ends.

    Raises:
      NanLossDuringTrainingError: In a step: the loss is NaN.

    Example:
      >>> loss = tf.constant(1.0)
      >>> monitor = tf.contrib.learn.monitors.NanLoss(loss, every_n_steps=10)
      >>> monitor.every_n_step_end(1, {loss.name: float("nan")})
      Traceback (most recent call last):
        ...
      millstream.train.basic_session_run_hooks.NanLossDuringTrainingError: NaN loss during training.
    """

    def __init__(self, loss_tensor: Any, every_n_steps: int = 100, fail_on_nan_loss: bool = True) -> None:
        super().__init__(every_n_steps, 1)
        self._loss, self._fails = loss_tensor, fail_on_nan_loss

    def every_n_step_begin(self, step: int) -> List[Any]:
        """Asks for the loss."""
        return [self._loss]

    def every_n_step_end(self, step: int, outputs: Dict[str, Any]) -> bool:
        """Returns whether the loss is NaN."""
        if not np.isnan(_value(outputs, self._loss)):
            return False
        if self._fails:
            raise NanLossDuringTrainingError
        logging.warning("The loss is NaN in step %d: training ends", step)
        return True


class StopAtStep(BaseMonitor):
    """Ends the training.

    Args:
      num_steps: The number of steps to make.
      last_step: The number of the last step.

    Raises:
      ValueError: Not exactly one of them is given.

    Example:
      >>> x = np.array([[0.0], [1.0]], np.float32)
      >>> model = tf.contrib.learn.LinearRegressor(tf.contrib.learn.infer_real_valued_columns_from_input(x))
      >>> _ = model.fit(x, x[:, 0], monitors=[tf.contrib.learn.monitors.StopAtStep(num_steps=3)])
      >>> int(model.get_variable_value("global_step"))
      3
    """

    def __init__(self, num_steps: Optional[int] = None, last_step: Optional[int] = None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._n, self._last = num_steps, last_step

    def step_begin(self, step: int) -> List[Any]:
        """Counts from the first step on."""
        if self._last is None:
            self._last = step + (self._n or 0) - 1
        return []

    def step_end(self, step: int, output: Dict[str, Any]) -> bool:
        """Returns whether this is the last step."""
        return self._last is not None and self._last <= step


class ValidationMonitor(EveryN):
    """Evaluates the latest checkpoint during a training, and ends it when a metric no longer improves.

    Args:
      x: As in `Estimator.evaluate`, like the four arguments after it.
      y: The labels.
      input_fn: A function of inputs.
      batch_size: The number of examples of a step.
      eval_steps: The number of steps of an evaluation.
      every_n_steps: The interval in steps.
      metrics: The metrics.
      hooks: The hooks of an evaluation.
      early_stopping_rounds: The number of steps without an improvement after which training ends.
      early_stopping_metric: The name of the metric.
      early_stopping_metric_minimize: Whether less is better.
      name: A name for the folder of summaries.
      check_interval_secs: The least time between two evaluations, in seconds.

    Raises:
      ValueError: Neither `x` nor `input_fn` is given; in a step: the metric is missing.

    Example:
      >>> x = np.array([[1.0], [2.0]], np.float32)
      >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input(x)
      >>> model = tf.contrib.learn.LinearRegressor(columns, optimizer=tf.train.GradientDescentOptimizer(0.1),
      ...     config=tf.contrib.learn.RunConfig(save_checkpoints_steps=5))
      >>> watch = tf.contrib.learn.monitors.ValidationMonitor(x, x[:, 0], every_n_steps=10, check_interval_secs=0,
      ...     early_stopping_rounds=100)
      >>> _ = model.fit(x, x[:, 0], steps=30, monitors=[watch])
      >>> int(watch.best_step), bool(watch.best_value < 1.0), watch.early_stopped, sorted(watch.best_metrics)
      (30, True, False, ['global_step', 'loss'])
    """

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        batch_size: Optional[int] = None,
        eval_steps: Optional[int] = None,
        every_n_steps: int = 100,
        metrics: Any = None,
        hooks: Any = None,
        early_stopping_rounds: Optional[int] = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: Optional[str] = None,
        check_interval_secs: Optional[int] = 5,
    ) -> None:
        super().__init__(every_n_steps, -1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self._given: Dict[str, Any] = dict(x=x, y=y, input_fn=input_fn, batch_size=batch_size, steps=eval_steps, metrics=metrics, hooks=hooks, name=name)
        self._rounds, self._metric, self._less = early_stopping_rounds, early_stopping_metric, early_stopping_metric_minimize
        self._interval = check_interval_secs
        self._checked: Optional[float] = None
        self._path: Optional[str] = None
        self._best: Dict[str, Any] = {}
        self._best_step: Optional[int] = None
        self._best_value: Any = None
        self._early_stopped = False

    @property
    def early_stopped(self) -> bool:
        """Whether it ended the training."""
        return self._early_stopped

    @property
    def best_step(self) -> Optional[int]:
        """The global step of the best checkpoint; None without `early_stopping_rounds`."""
        return self._best_step

    @property
    def best_value(self) -> Any:
        """The best value of the metric."""
        return self._best_value

    @property
    def best_metrics(self) -> Any:
        """All metrics of the best checkpoint."""
        return self._best or None

    def every_n_step_end(self, step: int, outputs: Dict[str, Any]) -> bool:
        """Evaluates, if there is another checkpoint; returns whether to stop."""
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        now = time.time()
        if self._interval is not None and self._checked is not None and now - self._checked < self._interval:
            return False
        self._checked = now
        path = latest_checkpoint(self._estimator.model_dir)
        if path is None or path == self._path:
            return False
        self._path = path
        found = self._estimator.evaluate(**self._given)
        logging.info("Validation (step %d): %s", step, ", ".join("%s = %s" % pair for pair in sorted(found.items())))
        if self._metric not in found:
            raise ValueError("Metric %s missing from outputs %s." % (self._metric, set(found)))
        value = found[self._metric]
        if self._rounds is None:
            return False
        at = found["global_step"]
        if self._best_value is None or (value < self._best_value if self._less else self._best_value < value):
            self._best_value, self._best, self._best_step = value, dict(found), at
        if self._best_step is not None and self._rounds <= at - self._best_step:
            logging.info("Stopping. Best step: %s with %s = %s.", self._best_step, self._metric, self._best_value)
            self._early_stopped = True
            return True
        return False


class RunHookAdapterForMonitors(SessionRunHook):
    """A hook that calls monitors.

    Args:
      monitors: A list of monitors.

    Example:
      >>> hook = tf.contrib.learn.monitors.RunHookAdapterForMonitors([tf.contrib.learn.monitors.StopAtStep(3)])
      >>> isinstance(hook, tf.train.SessionRunHook)
      True
    """

    def __init__(self, monitors: Any) -> None:
        self._monitors = list(monitors)
        self._step: Any = None  # As the session returns it, like TensorFlow.

    def begin(self) -> None:
        """Calls `begin` of all monitors."""
        self._step = None
        self._global_step = training_util.get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: Any) -> Any:
        """Calls `step_begin`, and asks for what it returns."""
        if self._step is None:
            self._step = run_context.session.run(self._global_step) + 1
        graph, asked = get_default_graph(), {}
        for monitor in self._monitors:
            for fetch in monitor.step_begin(self._step) or []:
                # A name without an output is that of a variable.
                given = fetch + ":0" if isinstance(fetch, str) and ":" not in fetch else fetch
                asked[fetch if isinstance(fetch, str) else fetch.name] = graph.as_graph_element(given)
        return SessionRunArgs(asked) if asked else None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Calls `step_end` and `post_step`."""
        step = self._step
        values = run_values.results or {}
        for monitor in self._monitors:
            if monitor.step_end(step, values):
                run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(step, run_context.session)
        self._step = run_context.session.run(self._global_step) + 1

    def end(self, session: Any) -> None:
        """Calls `end` of all monitors."""
        self._step = None
        for monitor in self._monitors:
            monitor.end(session=session)


def replace_monitors_with_hooks(monitors_or_hooks: Any, estimator: Any) -> List[Any]:
    """Returns the hooks of a list, and one hook for its monitors.

    Args:
      monitors_or_hooks: A list of both, or None.
      estimator: The estimator that monitors are told.

    Example:
      >>> hooks = tf.contrib.learn.monitors.replace_monitors_with_hooks(
      ...     [tf.train.StopAtStepHook(3), tf.contrib.learn.monitors.EveryN()], tf.contrib.learn.Estimator())
      >>> [type(hook).__name__ for hook in hooks]
      ['StopAtStepHook', 'RunHookAdapterForMonitors']
    """
    given = list(monitors_or_hooks or [])
    hooks = [one for one in given if isinstance(one, SessionRunHook)]
    rest = [one for one in given if not isinstance(one, SessionRunHook)]
    for monitor in rest:
        monitor.set_estimator(estimator)
    return hooks + ([RunHookAdapterForMonitors(rest)] if rest else [])
