"""Loops that evaluate a checkpoint, or each new one."""

from __future__ import annotations

import time
from typing import Any, Callable, List, Optional, Sequence

from millstream.framework import dtypes, get_collection, logging
from millstream.framework.graph_keys import GraphKeys
from millstream.io import summaries
from millstream.train.basic_session_run_hooks import FinalOpsHook
from millstream.train.checkpoints import latest_checkpoint
from millstream.train.monitored_session import ChiefSessionCreator, MonitoredSession
from millstream.train.session_run_hook import SessionRunArgs, SessionRunHook
from millstream.train.supervisor import checkpoints_iterator
from millstream.train.training_util import get_or_create_global_step, global_step
from millstream.variables import state_ops
from millstream.variables.initializers import zeros_initializer
from millstream.variables.scopes import get_variable


def get_or_create_eval_step() -> Any:
    """Returns the local variable that counts evaluation steps, created if there is none.

    Returns:
      A variable.

    Raises:
      ValueError: The collection `EVAL_STEP` has several elements.

    Example:
      >>> print(tf.contrib.training.get_or_create_eval_step().name)
      eval_step:0
    """
    found = get_collection(GraphKeys.EVAL_STEP)
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    return get_variable(
        GraphKeys.EVAL_STEP,
        shape=[],
        dtype=dtypes.int64,
        initializer=zeros_initializer(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )


class StopAfterNEvalsHook(SessionRunHook):
    """Stops an evaluation after a number of runs.

    Args:
      num_evals: The number of runs; None for no limit.
      log_progress: If true, progress is logged.

    Example:
      >>> n = tf.get_variable("n", initializer=0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
      >>> hook = tf.contrib.training.StopAfterNEvalsHook(3)
      >>> print(tf.contrib.training.evaluate_once(None, eval_ops=tf.assign_add(n, 1), final_ops=n,
      ...     hooks=[hook]))
      3
    """

    def __init__(self, num_evals: Optional[int], log_progress: bool = True) -> None:
        self._num_evals, self._log_progress = num_evals, log_progress
        self._evals_completed: Any = None
        self._every = 1 if num_evals is None or num_evals < 20 else round(num_evals / 10)

    def _set_evals_completed_tensor(self, tensor: Any) -> None:
        self._evals_completed = tensor

    def before_run(self, run_context: Any) -> Any:
        """Fetches the count."""
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Stops when the count is reached, and logs progress."""
        n = run_values.results["evals_completed"]
        if self._log_progress:
            if self._num_evals is None:
                logging.info("Evaluation [%d]", n)
            elif n % self._every == 0 or n == self._num_evals:
                logging.info("Evaluation [%d/%d]", n, self._num_evals)
        if self._num_evals is not None and n >= self._num_evals:
            run_context.request_stop()


class SummaryAtEndHook(SessionRunHook):
    """Writes summaries once, at the end of a session.

    Args:
      log_dir: The directory of event files, unless a writer is given.
      summary_writer: A `FileWriter`.
      summary_op: The summaries; by default all, merged.
      feed_dict: The feeds.

    Raises:
      ValueError: Neither a directory nor a writer is given.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> _ = tf.summary.scalar("a", 1.0)
      >>> hook = tf.contrib.training.SummaryAtEndHook(folder)
      >>> tf.contrib.training.evaluate_once(None, hooks=[hook])
      >>> print(len(os.listdir(folder)))
      1
    """

    def __init__(self, log_dir: Optional[str] = None, summary_writer: Any = None, summary_op: Any = None, feed_dict: Any = None) -> None:
        self._summary_op, self._feed_dict = summary_op, feed_dict
        self._summary_writer, self._log_dir = summary_writer, log_dir
        self._is_made_here = summary_writer is None
        if self._is_made_here and log_dir is None:
            raise ValueError("either summary_writer or log_dir must be given")
        self._global_step: Any = None

    def begin(self) -> None:
        """Looks up the summaries and the global step."""
        if self._summary_op is None:
            self._summary_op = summaries.merge_all()
        self._global_step = get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Opens the writer."""
        if self._is_made_here:
            self._summary_writer = summaries.FileWriterCache.get(self._log_dir or "")

    def end(self, session: Any) -> None:
        """Writes the summaries."""
        step = global_step(session, self._global_step)
        self._summary_writer.add_summary(session.run(self._summary_op, self._feed_dict), step)
        self._summary_writer.flush()


def evaluate_once(
    checkpoint_path: Optional[str],
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    hooks: Optional[Sequence[Any]] = None,
    config: Any = None,
) -> Any:
    """Restores a checkpoint, runs `eval_ops` until a hook or the end of input stops it, and evaluates
    `final_ops`.

    Args:
      checkpoint_path: The checkpoint; None to initialize variables instead.
      master: Empty.
      scaffold: A `Scaffold`.
      eval_ops: The operations to run repeatedly: an operation, or a structure of tensors.
      feed_dict: The feeds of `eval_ops`.
      final_ops: The tensors to evaluate at the end.
      final_ops_feed_dict: The feeds of `final_ops`.
      hooks: A list of hooks; for instance a `StopAfterNEvalsHook`, which ends the evaluation.
      config: A `ConfigProto`.

    Returns:
      The values of `final_ops`.

    Example:
      >>> mean, update = tf.metrics.mean([1.0, 2.0])
      >>> hooks = [tf.contrib.training.StopAfterNEvalsHook(4)]
      >>> print(tf.contrib.training.evaluate_once(None, eval_ops=update, final_ops=mean, hooks=hooks))
      1.5
    """
    counted = get_or_create_eval_step()
    all_hooks: List[Any] = list(hooks or [])
    if eval_ops is not None:
        update = state_ops.assign_add(counted, 1)
        for hook in all_hooks:
            if isinstance(hook, StopAfterNEvalsHook):
                hook._set_evals_completed_tensor(update)
        if isinstance(eval_ops, dict):
            eval_ops = dict(eval_ops, update_eval_step=update)
        elif isinstance(eval_ops, (tuple, list)):
            eval_ops = list(eval_ops) + [update]
        else:
            eval_ops = [eval_ops, update]
    logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    creator = ChiefSessionCreator(scaffold=scaffold, checkpoint_filename_with_path=checkpoint_path, master=master, config=config)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    all_hooks.append(final)
    with MonitoredSession(session_creator=creator, hooks=all_hooks) as session:
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)
    logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
    return final.final_ops_values


def wait_for_new_checkpoint(
    checkpoint_dir: str, last_checkpoint: Optional[str] = None, seconds_to_sleep: float = 1, timeout: Optional[float] = None
) -> Optional[str]:
    """Waits for a checkpoint other than `last_checkpoint`.

    Args:
      checkpoint_dir: The directory.
      last_checkpoint: The last known checkpoint.
      seconds_to_sleep: The interval at which the directory is checked, in seconds.
      timeout: The time to wait, in seconds; None for no limit.

    Returns:
      The checkpoint's path, or None.

    Example:
      >>> import tempfile
      >>> print(tf.contrib.training.wait_for_new_checkpoint(tempfile.mkdtemp(), seconds_to_sleep=0.01,
      ...     timeout=0.05))
      None
    """
    logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    stop = None if timeout is None else time.time() + timeout
    while True:
        path = latest_checkpoint(checkpoint_dir)
        if path is not None and path != last_checkpoint:
            logging.info("Found new checkpoint at %s", path)
            return path
        if stop is not None and time.time() + seconds_to_sleep > stop:
            return None
        time.sleep(seconds_to_sleep)


def evaluate_repeatedly(
    checkpoint_dir: str,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    eval_interval_secs: float = 60,
    hooks: Optional[Sequence[Any]] = None,
    config: Any = None,
    max_number_of_evaluations: Optional[int] = None,
    timeout: Optional[float] = None,
    timeout_fn: Optional[Callable[[], bool]] = None,
) -> Any:
    """Evaluates each new checkpoint with `evaluate_once`.

    Args:
      checkpoint_dir: The directory.
      master: As in `evaluate_once`, like all arguments not explained here.
      scaffold: A `Scaffold`.
      eval_ops: The operations to run repeatedly.
      feed_dict: The feeds of `eval_ops`.
      final_ops: The tensors to evaluate at the end of each evaluation.
      final_ops_feed_dict: The feeds of `final_ops`.
      eval_interval_secs: The shortest time between evaluations, in seconds.
      hooks: A list of hooks.
      config: A `ConfigProto`.
      max_number_of_evaluations: The number of evaluations; None for no limit.
      timeout: The time to wait for a checkpoint, in seconds; None for no limit.
      timeout_fn: A function called on timeout; the loop ends if it returns true.

    Returns:
      The last values of `final_ops`, or None.

    Example:
      >>> import tempfile
      >>> print(tf.contrib.training.evaluate_repeatedly(tempfile.mkdtemp(), final_ops=tf.constant(1),
      ...     timeout=0.1))
      None

    It ends after `max_number_of_evaluations`, or if no new checkpoint appears for `timeout` seconds (and
    `timeout_fn`, if given, returns true).
    """
    values, n = None, 0
    for path in checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn):
        values = evaluate_once(path, master, scaffold, eval_ops, feed_dict, final_ops, final_ops_feed_dict, hooks, config)
        n += 1
        if max_number_of_evaluations is not None and n >= max_number_of_evaluations:
            break
    return values
