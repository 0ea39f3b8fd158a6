"""The standard hooks: stop at a step, save checkpoints and summaries, log tensors and speed, detect NaN."""

from __future__ import annotations

import os
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from millstream.framework import errors, get_default_graph, logging, protos
from millstream.framework.graph_keys import GraphKeys
from millstream.io import summaries
from millstream.io.graph_files import write_graph
from millstream.train import training_util
from millstream.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)


class SecondOrStepTimer:
    """Tells when an action that repeats every few seconds or steps is due.

    Args:
      every_secs: The interval in seconds.
      every_steps: The interval in steps.

    Raises:
      ValueError: Both or neither are given.

    Example:
      >>> timer = tf.train.SecondOrStepTimer(every_steps=10)
      >>> timer.should_trigger_for_step(1)
      True
      >>> timer.update_last_triggered_step(1)
      (None, None)
      >>> timer.last_triggered_step(), timer.should_trigger_for_step(5), timer.should_trigger_for_step(11)
      (1, False, True)
      >>> timer.reset()
    """

    def __init__(self, every_secs: Optional[float] = None, every_steps: Optional[int] = None) -> None:
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs = every_secs
        self._every_steps = every_steps
        self.reset()

    def reset(self) -> None:
        """Forgets the last action."""
        self._last_step: Optional[int] = None
        self._last_time: Optional[float] = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Returns whether the action is due: the first time always, twice at the same step never."""
        if self._last_step is None or self._last_time is None:
            return True
        if step == self._last_step:
            return False
        if self._every_secs is not None:
            return self._last_time + self._every_secs <= time.time()
        return self._last_step + (self._every_steps or 0) <= step

    def update_last_triggered_step(self, step: int) -> Tuple[Optional[float], Optional[int]]:
        """Records an action; returns the seconds and the steps since the one before, or None for both."""
        now = time.time()
        since: Tuple[Optional[float], Optional[int]] = (None, None)
        if self._last_step is not None and self._last_time is not None:
            since = now - self._last_time, step - self._last_step
        self._last_time, self._last_step = now, step
        return since

    def last_triggered_step(self) -> Optional[int]:
        """Returns the step of the last action, or None."""
        return self._last_step


class NeverTriggerTimer:
    """A timer that is never due."""

    def reset(self) -> None:
        """Does nothing."""

    def should_trigger_for_step(self, step: int) -> bool:
        """Returns False."""
        return False

    def update_last_triggered_step(self, step: int) -> Tuple[None, None]:
        """Does nothing."""
        return None, None

    def last_triggered_step(self) -> None:
        """Returns None."""
        return None


def _global_step_read(hook: str) -> Any:
    tensor = training_util._get_or_create_global_step_read()
    if tensor is None:
        raise RuntimeError(f"Global step should be created to use {hook}.")
    return tensor


def _as_graph_element(obj: Any) -> Any:
    """Returns a tensor or operation of the default graph, given or by name.

    An operation's name means its only output.
    """
    graph = get_default_graph()
    if not isinstance(obj, str):
        if getattr(obj, "graph", None) is not graph:
            raise ValueError(f"Passed {obj} should have graph attribute that is equal to current graph {graph}.")
        return obj
    if ":" in obj:
        return graph.as_graph_element(obj)
    element = graph.as_graph_element(obj + ":0")
    try:
        graph.as_graph_element(obj + ":1")
    except (KeyError, ValueError):
        return element
    raise ValueError(f"Name {obj} is ambiguous, as this `Operation` has multiple outputs (at least 2).")


class LoggingTensorHook(SessionRunHook):
    """Logs the values of tensors at level INFO, at intervals of runs or seconds, or at the end.

    Args:
      tensors: A list of tensors or names, or a dict of them whose keys are logged instead of names.
      every_n_iter: The interval in runs.
      every_n_secs: The interval in seconds.
      at_end: If true, values are logged at the end as well.
      formatter: A function from the dict of values to the line to log.

    Raises:
      ValueError: Both `every_n_iter` and `every_n_secs` are given, or neither is without `at_end`; or
        `every_n_iter` is not positive.

    Example:
      >>> step = tf.train.get_or_create_global_step()
      >>> more = step.assign_add(1)
      >>> hook = tf.train.LoggingTensorHook({"step": step}, every_n_iter=2)
      >>> with tf.train.MonitoredSession(hooks=[hook, tf.train.StopAtStepHook(last_step=3)]) as sess:
      ...     while not sess.should_stop():
      ...         _ = sess.run(more)
    """

    def __init__(
        self,
        tensors: Any,
        every_n_iter: Optional[int] = None,
        every_n_secs: Optional[float] = None,
        at_end: bool = False,
        formatter: Optional[Callable[[Dict[Any, Any]], str]] = None,
    ) -> None:
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        self._tag_order = sorted(tensors) if isinstance(tensors, dict) else tensors
        self._tensors = tensors if isinstance(tensors, dict) else {item: item for item in tensors}
        self._formatter = formatter
        self._timer: Union[NeverTriggerTimer, SecondOrStepTimer] = (
            NeverTriggerTimer() if only_at_end else SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_iter)
        )
        self._log_at_end = at_end

    def begin(self) -> None:
        """Looks up the tensors."""
        self._timer.reset()
        self._iter_count = 0
        self._current_tensors = {tag: _as_graph_element(tensor) for tag, tensor in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> Optional[SessionRunArgs]:
        """Fetches the tensors if they are due."""
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def _log_tensors(self, values: Dict[Any, Any]) -> None:
        elapsed, _ = self._timer.update_last_triggered_step(self._iter_count)
        with np.printoptions(suppress=True):
            if self._formatter:
                logging.info("%s", self._formatter(values))
                return
            shown = ", ".join(f"{tag} = {values[tag]}" for tag in self._tag_order)
        logging.info("%s", shown if elapsed is None else f"{shown} ({elapsed:.3f} sec)")

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Logs the tensors."""
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session: Any) -> None:
        """Logs the tensors a last time if `at_end` is true."""
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))


class StopAtStepHook(SessionRunHook):
    """Requests a stop when the global step reaches `last_step`, or has grown by `num_steps`.

    Args:
      num_steps: The number of steps to run.
      last_step: The step to stop at.

    Raises:
      ValueError: Both or neither are given.

    Example:
      >>> step = tf.train.get_or_create_global_step()
      >>> more = step.assign_add(1)
      >>> with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(num_steps=2)]) as sess:
      ...     while not sess.should_stop():
      ...         print(sess.run(more))
      1
      2
    """

    def __init__(self, num_steps: Optional[int] = None, last_step: Optional[int] = None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    def begin(self) -> None:
        """Looks up the global step."""
        self._global_step_tensor = _global_step_read("StopAtStepHook")

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Counts steps from here on, unless an earlier session was lost."""
        if self._last_step is None:
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetches the global step."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Stops at the last step.

        The fetched step may be older than the run's own update, so it is read again.
        """
        assert self._last_step is not None
        if self._last_step <= run_values.results + 1:
            if self._last_step <= run_context.session.run(self._global_step_tensor):
                run_context.request_stop()


class CheckpointSaverListener:
    """Callbacks around each checkpoint of a `CheckpointSaverHook`.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> class Listener(tf.train.CheckpointSaverListener):
      ...     def begin(self):
      ...         print("begin")
      ...     def before_save(self, session, global_step_value):
      ...         print("before", global_step_value)
      ...     def after_save(self, session, global_step_value):
      ...         print("after", global_step_value)
      ...     def end(self, session, global_step_value):
      ...         print("end", global_step_value)
      >>> step = tf.train.get_or_create_global_step()
      >>> more = step.assign_add(1)
      >>> hook = tf.train.CheckpointSaverHook(folder, save_steps=100, listeners=[Listener()])
      >>> with tf.train.MonitoredSession(hooks=[hook]) as sess:
      ...     _ = sess.run(more)
      begin
      before 0
      after 0
      before 1
      after 1
      end 1
    """

    def begin(self) -> None:
        """Runs once, before the session is created."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Runs before a checkpoint is written.

        Args:
          session: The underlying session.
          global_step_value: The global step.
        """

    def after_save(self, session: Any, global_step_value: int) -> Optional[bool]:
        """Runs after a checkpoint is written.

        Args:
          session: The underlying session.
          global_step_value: The global step.

        Returns:
          True to end training.
        """
        return None

    def end(self, session: Any, global_step_value: int) -> None:
        """Runs once at the end, after the last checkpoint.

        Args:
          session: The underlying session.
          global_step_value: The global step.
        """


class CheckpointSaverHook(SessionRunHook):
    """Saves checkpoints at intervals, at the start and at the end.

    Args:
      checkpoint_dir: The directory of checkpoints.
      save_secs: The interval in seconds.
      save_steps: The interval in steps.
      saver: A `Saver`.
      checkpoint_basename: The base name of checkpoint files.
      scaffold: A `Scaffold` that holds the saver.
      listeners: A list of `CheckpointSaverListener`s.

    Raises:
      ValueError: Both `saver` and `scaffold` are given; or both or neither of `save_secs` and `save_steps`.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> step = tf.train.get_or_create_global_step()
      >>> more = step.assign_add(1)
      >>> hook = tf.train.CheckpointSaverHook(folder, save_steps=2)
      >>> with tf.train.MonitoredSession(hooks=[hook, tf.train.StopAtStepHook(last_step=3)]) as sess:
      ...     while not sess.should_stop():
      ...         _ = sess.run(more)
      >>> tf.train.latest_checkpoint(folder)[-12:]
      'model.ckpt-3'
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: Optional[float] = None,
        save_steps: Optional[int] = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
        listeners: Optional[Sequence[CheckpointSaverListener]] = None,
    ) -> None:
        logging.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver = saver
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = listeners or []

    def begin(self) -> None:
        """Looks up the global step and opens the event file."""
        self._summary_writer = summaries.FileWriterCache.get(self._checkpoint_dir)
        self._global_step_tensor = _global_step_read("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Writes the graph and a first checkpoint."""
        step = session.run(self._global_step_tensor)
        graph = get_default_graph()
        write_graph(graph.as_graph_def(add_shapes=True), self._checkpoint_dir, "graph.pbtxt")
        self._summary_writer.add_graph(graph)
        saver = self._get_saver()
        described = protos.MetaGraphDef(graph_def=graph.as_graph_def(add_shapes=True))
        if saver is not None:
            described.saver_def.CopyFrom(saver.as_saver_def())
        self._summary_writer.add_meta_graph(described)
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetches the global step."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Saves a checkpoint if it is due."""
        if not self._timer.should_trigger_for_step(run_values.results + 1):
            return
        step = run_context.session.run(self._global_step_tensor)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Any) -> None:
        """Saves a last checkpoint, unless this step is saved already."""
        step = session.run(self._global_step_tensor)
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Any, step: int) -> bool:
        """Saves a checkpoint. Returns whether a listener requested a stop."""
        logging.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step)
        log = protos.SessionLog(status=protos.SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(log, step)
        should_stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                logging.info("A CheckpointSaverListener requested that training be stopped. listener: %s", listener)
                should_stop = True
        return should_stop

    def _get_saver(self) -> Any:
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            return self._scaffold.saver
        key = GraphKeys.SAVERS
        savers = get_default_graph().get_collection(key)
        if not savers:
            raise RuntimeError(
                f"No items in collection {key}. Please add a saver to the collection or provide a saver or scaffold."
            )
        if 1 < len(savers):
            raise RuntimeError(
                f"More than one item in collection {key}. "
                "Please indicate which one to use by passing it to the constructor."
            )
        self._saver = savers[0]
        return self._saver


class StepCounterHook(SessionRunHook):
    """Logs the number of steps per second, and writes it as a summary `global_step/sec`.

    Args:
      every_n_steps: The interval in steps.
      every_n_secs: The interval in seconds.
      output_dir: The directory of event files.
      summary_writer: A `FileWriter`, instead of `output_dir`.

    Raises:
      ValueError: Both or neither of `every_n_steps` and `every_n_secs` are given.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> step = tf.train.get_or_create_global_step()
      >>> more = step.assign_add(1)
      >>> hook = tf.train.StepCounterHook(every_n_steps=2, output_dir=folder)
      >>> with tf.train.MonitoredSession(hooks=[hook, tf.train.StopAtStepHook(last_step=3)]) as sess:
      ...     while not sess.should_stop():
      ...         _ = sess.run(more)
    """

    def __init__(
        self,
        every_n_steps: Optional[int] = 100,
        every_n_secs: Optional[float] = None,
        output_dir: Optional[str] = None,
        summary_writer: Any = None,
    ) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._last_global_step: Optional[int] = None

    def begin(self) -> None:
        """Looks up the global step and opens the event file."""
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = summaries.FileWriterCache.get(self._output_dir)
        self._global_step_tensor = _global_step_read("StepCounterHook")
        self._summary_tag = training_util.get_global_step().op.name + "/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetches the global step."""
        return SessionRunArgs(self._global_step_tensor)

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        rate = elapsed_steps / elapsed_time if elapsed_time else float("inf")
        if self._summary_writer is not None:
            value = protos.Summary.Value(tag=self._summary_tag, simple_value=rate)
            self._summary_writer.add_summary(protos.Summary(value=[value]), global_step)
        logging.info("%s: %g", self._summary_tag, rate)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Logs if it is due; warns if the global step does not grow."""
        stale = run_values.results
        if self._timer.should_trigger_for_step(stale + 1):
            step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(step):
                seconds, steps = self._timer.update_last_triggered_step(step)
                if seconds is not None and steps is not None:
                    self._log_and_record(steps, seconds, step)
        if stale == self._last_global_step:
            logging.log_first_n(
                logging.WARN,
                "It seems that global step (tf.train.get_global_step) has not been increased. Current value (could be "
                "stable): %s vs previous value: %s. You could increase the global step by passing "
                "tf.train.get_global_step() to Optimizer.apply_gradients or Optimizer.minimize.",
                5,
                stale,
                self._last_global_step,
            )
        self._last_global_step = stale


class NanLossDuringTrainingError(RuntimeError):
    """The loss became NaN."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Stops training when a tensor becomes NaN.

    Args:
      loss_tensor: The tensor to check.
      fail_on_nan_loss: If true, NaN raises `NanLossDuringTrainingError`; otherwise it requests a stop.

    Example:
      >>> step = tf.train.get_or_create_global_step()
      >>> more = step.assign_add(1)
      >>> hook = tf.train.NanTensorHook(tf.log(2.0 - tf.to_float(step)), fail_on_nan_loss=False)
      >>> with tf.train.MonitoredSession(hooks=[hook, tf.train.StopAtStepHook(last_step=3)]) as sess:
      ...     while not sess.should_stop():
      ...         _ = sess.run(more)
      >>> sess.should_stop()  # `hook.after_run` stopped it, or the other hook.
      True
    """

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetches the tensor."""
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Checks the tensor.

        Raises:
          NanLossDuringTrainingError: The value is NaN, and `fail_on_nan_loss` is true.
        """
        if not np.isnan(run_values.results):
            return
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            logging.error(message)
            raise NanLossDuringTrainingError
        logging.warning(message)
        run_context.request_stop()


class SummarySaverHook(SessionRunHook):
    """Writes summaries at intervals of steps or seconds.

    Args:
      save_steps: The interval in steps.
      save_secs: The interval in seconds.
      output_dir: The directory of event files.
      summary_writer: A `FileWriter`, instead of `output_dir`.
      scaffold: A `Scaffold` that holds the summaries.
      summary_op: The summaries, instead of `scaffold`.

    Raises:
      ValueError: Both or neither of `scaffold` and `summary_op` are given.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> import os
      >>> step = tf.train.get_or_create_global_step()
      >>> more = step.assign_add(1)
      >>> hook = tf.train.SummarySaverHook(save_steps=1, output_dir=folder,
      ...     summary_op=tf.summary.scalar("step", step))
      >>> with tf.train.MonitoredSession(hooks=[hook, tf.train.StopAtStepHook(last_step=3)]) as sess:
      ...     while not sess.should_stop():
      ...         _ = sess.run(more)
      >>> len(os.listdir(folder))
      1
    """

    def __init__(
        self,
        save_steps: Optional[int] = None,
        save_secs: Optional[float] = None,
        output_dir: Optional[str] = None,
        summary_writer: Any = None,
        scaffold: Any = None,
        summary_op: Any = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        """Looks up the global step and opens the event file."""
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = summaries.FileWriterCache.get(self._output_dir)
        self._next_step: Optional[int] = None
        self._global_step_tensor = _global_step_read("SummarySaverHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetches the summaries if they are due."""
        self._request_summary = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        requests = {"global_step": self._global_step_tensor}
        if self._request_summary:
            ops = self._summary_ops()
            if ops is not None:
                requests["summary"] = ops
        return SessionRunArgs(requests)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Writes the summaries."""
        if not self._summary_writer:
            return
        step = run_values.results["global_step"] + 1
        if self._next_step is None or self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
        if self._next_step is None:
            self._summary_writer.add_session_log(protos.SessionLog(status=protos.SessionLog.START), step)
        if self._request_summary:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._summary_writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Any = None) -> None:
        """Flushes the event file."""
        if self._summary_writer:
            self._summary_writer.flush()

    def _summary_ops(self) -> Optional[List[Any]]:
        op = self._summary_op if self._summary_op is not None else self._scaffold.summary_op
        if op is None:
            return None
        return op if isinstance(op, list) else [op]


class GlobalStepWaiterHook(SessionRunHook):
    """Waits before the first run until the global step, advanced by other processes, reaches a value.

    Args:
      wait_until_step: The step to wait for.

    Example:
      >>> step = tf.train.get_or_create_global_step()
      >>> more = step.assign_add(1)
      >>> hook = tf.train.GlobalStepWaiterHook(wait_until_step=0)  # `hook.before_run` waits.
      >>> with tf.train.MonitoredSession(hooks=[hook]) as sess:
      ...     print(sess.run(more))
      1
    """

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        """Looks up the global step."""
        self._worker_is_started = False
        self._global_step_tensor = _global_step_read("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> None:
        """Waits until the step is reached."""
        if self._worker_is_started:
            return
        if 0 < self._wait_until_step:
            logging.info("Waiting for global step %d before starting training.", self._wait_until_step)
            while run_context.session.run(self._global_step_tensor) < self._wait_until_step:
                time.sleep(0.5)
        self._worker_is_started = True


class FinalOpsHook(SessionRunHook):
    """Runs operations at the end, and keeps their values in `final_ops_values`.

    Args:
      final_ops: The fetches, in any structure.
      final_ops_feed_dict: The feeds.

    Example:
      >>> step = tf.train.get_or_create_global_step()
      >>> more = step.assign_add(1)
      >>> hook = tf.train.FinalOpsHook(step)
      >>> with tf.train.MonitoredSession(hooks=[hook]) as sess:
      ...     _ = sess.run(more), sess.run(more)
      >>> print(hook.final_ops_values)
      2
    """

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None) -> None:
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> Any:
        """The values of the final operations, in their structure; None before the end."""
        return self._final_ops_values

    def end(self, session: Any) -> None:
        """Runs the final operations."""
        if self._final_ops is None:
            return
        try:
            self._final_ops_values = session.run(self._final_ops, feed_dict=self._final_ops_feed_dict)
        except (errors.OutOfRangeError, StopIteration):
            logging.warning(
                "The input ended while FinalOpsHook ran its ops: they depend on an input, such as a queue. "
                "At the end of a session there may be none left; let them read variables only."
            )
            raise


class FeedFnHook(SessionRunHook):
    """Adds the feeds that `feed_fn()` returns, called before each run.

    Args:
      feed_fn: A function without arguments that returns a dict.

    Example:
      >>> x = tf.placeholder(tf.float32, [])
      >>> with tf.train.MonitoredSession(hooks=[tf.train.FeedFnHook(lambda: {x: 3.0})]) as sess:
      ...     print(sess.run(x))
      3.0
    """

    def __init__(self, feed_fn: Callable[[], Any]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Feeds the result of `feed_fn`."""
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


class ProfilerHook(SessionRunHook):
    """Writes a trace of a run at intervals, as `timeline-<step>.json` for `chrome://tracing`.

    Args:
      save_steps: The interval in steps.
      save_secs: The interval in seconds.
      output_dir: The directory of traces.
      show_dataflow: Ignored.
      show_memory: Ignored.

    Raises:
      ValueError: Both or neither of `save_steps` and `save_secs` are given.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> more = tf.train.get_or_create_global_step().assign_add(1)
      >>> hook = tf.train.ProfilerHook(save_steps=1, output_dir=folder)
      >>> with tf.train.MonitoredSession(hooks=[hook]) as sess:
      ...     for _ in range(3):
      ...         _ = sess.run(more)
      >>> sorted(name for name in os.listdir(folder) if name.endswith(".json"))
      ['timeline-2.json', 'timeline-3.json']
    """

    def __init__(
        self,
        save_steps: Optional[int] = None,
        save_secs: Optional[float] = None,
        output_dir: str = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        self._output_file = os.path.join(output_dir, "timeline-{}.json")
        self._output_dir = output_dir
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        """Looks up the global step and opens the event file."""
        self._file_writer = summaries.FileWriterCache.get(self._output_dir)
        self._next_step: Optional[int] = None
        self._global_step_tensor = _global_step_read("ProfilerHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Requests a trace if it is due."""
        due = self._next_step is not None and self._timer.should_trigger_for_step(self._next_step)
        self._request_trace = due
        options = protos.RunOptions(trace_level=protos.RunOptions.FULL_TRACE) if due else None
        return SessionRunArgs({"global_step": self._global_step_tensor}, options=options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Writes the trace."""
        stale = run_values.results["global_step"]
        if self._next_step is None:
            self._timer.update_last_triggered_step(stale)
        step = stale + 1
        if self._request_trace:
            step = run_context.session.run(self._global_step_tensor)
            self._timer.update_last_triggered_step(step)
            path = self._output_file.format(step)
            logging.info("Saving timeline for %d into '%s'.", step, path)
            with open(path, "w") as out:
                out.write(chrome_trace(run_values.run_metadata.step_stats))
            self._file_writer.add_run_metadata(run_values.run_metadata, f"step_{step}")
        self._next_step = step + 1


def chrome_trace(step_stats: Any) -> str:
    """Returns the trace of a step as JSON for `chrome://tracing` and Perfetto, a row for each thread."""
    import json

    events: List[Dict[str, Any]] = []
    for pid, device in enumerate(step_stats.dev_stats):
        events.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": device.device}})
        for node in device.node_stats:
            events.append(
                {
                    "ph": "X",
                    "cat": "Op",
                    "name": node.node_name,
                    "pid": pid,
                    "tid": node.thread_id,
                    "ts": node.all_start_micros,
                    "dur": max(1, node.all_end_rel_micros),
                    "args": {"label": node.timeline_label},
                }
            )
    return json.dumps({"traceEvents": events}, indent=1)
