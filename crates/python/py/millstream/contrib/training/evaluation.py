"""Loops that evaluate what is in a checkpoint, or in each new one."""

from __future__ import annotations

import time
from typing import Any, Callable, List, Optional, Sequence

import millstream as tf
from millstream import logging
from millstream.graph_keys import GraphKeys
from millstream.train.session_run_hook import SessionRunArgs, SessionRunHook


def get_or_create_eval_step() -> Any:
    """The local variable that counts how often the evaluation ran, made if there is none.

    Returns:
      The variable.

    Raises:
      ValueError: There are several in the collection `EVAL_STEP`.

    Example:
      >>> print(tf.contrib.training.get_or_create_eval_step().name)
      eval_step:0
    """
    found = tf.get_collection(GraphKeys.EVAL_STEP)
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    return tf.get_variable(
        GraphKeys.EVAL_STEP,
        shape=[],
        dtype=tf.int64,
        initializer=tf.zeros_initializer(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )


class StopAfterNEvalsHook(SessionRunHook):
    """Stops an evaluation after so many runs.

    Args:
      num_evals: How many; None for no end.
      log_progress: Whether it is logged.

    Example:
      >>> n = tf.get_variable("n", initializer=0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
      >>> hook = tf.contrib.training.StopAfterNEvalsHook(3)
      >>> print(tf.contrib.training.evaluate_once(None, eval_ops=tf.assign_add(n, 1), final_ops=n, hooks=[hook]))
      3
    """

    def __init__(self, num_evals: Optional[int], log_progress: bool = True) -> None:
        self._num_evals, self._log_progress = num_evals, log_progress
        self._evals_completed: Any = None
        self._every = 1 if num_evals is None or num_evals < 20 else round(num_evals / 10)

    def _set_evals_completed_tensor(self, tensor: Any) -> None:
        self._evals_completed = tensor

    def before_run(self, run_context: Any) -> Any:
        """Asks for the count."""
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Stops when the count is reached."""
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
      log_dir: The folder, unless there is a writer.
      summary_writer: A writer.
      summary_op: The summaries; by default all.
      feed_dict: What is fed.

    Raises:
      ValueError: There is neither a folder nor a writer.

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
        """Finds what is to be written."""
        if self._summary_op is None:
            self._summary_op = tf.summary.merge_all()
        self._global_step = tf.train.get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Opens the writer."""
        if self._is_made_here:
            self._summary_writer = tf.summary.FileWriterCache.get(self._log_dir or "")

    def end(self, session: Any) -> None:
        """Writes the summaries."""
        step = tf.train.global_step(session, self._global_step)
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
    """Restores a checkpoint, runs `eval_ops` until a hook or the end of the input stops it, and gives the values of `final_ops`.

    Args:
      checkpoint_path: The checkpoint; None for none: variables are initialized.
      master: The session's target: leave it empty.
      scaffold: A `Scaffold`.
      eval_ops: What is run again and again: an operation, or a structure of tensors.
      feed_dict: What it is fed.
      final_ops: What is run at the end.
      final_ops_feed_dict: What that is fed.
      hooks: Hooks; `StopAfterNEvalsHook` is one that ends it.
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
        update = tf.assign_add(counted, 1)
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
    creator = tf.train.ChiefSessionCreator(scaffold=scaffold, checkpoint_filename_with_path=checkpoint_path, master=master, config=config)
    final = tf.train.FinalOpsHook(final_ops, final_ops_feed_dict)
    all_hooks.append(final)
    with tf.train.MonitoredSession(session_creator=creator, hooks=all_hooks) as session:
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)
    logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
    return final.final_ops_values


def wait_for_new_checkpoint(
    checkpoint_dir: str, last_checkpoint: Optional[str] = None, seconds_to_sleep: float = 1, timeout: Optional[float] = None
) -> Optional[str]:
    """Waits for another checkpoint than `last_checkpoint`.

    Args:
      checkpoint_dir: The folder.
      last_checkpoint: The one that is known.
      seconds_to_sleep: How long it waits before it looks again.
      timeout: After how many seconds it gives up; None for never.

    Returns:
      The checkpoint's path, or None.

    Example:
      >>> import tempfile
      >>> print(tf.contrib.training.wait_for_new_checkpoint(tempfile.mkdtemp(), seconds_to_sleep=0.01, timeout=0.05))
      None
    """
    logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    stop = None if timeout is None else time.time() + timeout
    while True:
        path = tf.train.latest_checkpoint(checkpoint_dir)
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
    """Evaluates each new checkpoint as `evaluate_once` does.

    Args:
      checkpoint_dir: The folder.
      master: As `evaluate_once` takes it, like all that is not said here.
      scaffold: A `Scaffold`.
      eval_ops: What is run again and again.
      feed_dict: What it is fed.
      final_ops: What is run at the end of each evaluation.
      final_ops_feed_dict: What that is fed.
      eval_interval_secs: How many seconds there are at least between evaluations.
      hooks: Hooks.
      config: A `ConfigProto`.
      max_number_of_evaluations: After how many it ends; None for no end.
      timeout: For how many seconds it waits for a checkpoint; None for ever.
      timeout_fn: Asked then whether that is the end.

    Returns:
      The last values of `final_ops`, or None.

    Example:
      >>> import tempfile
      >>> print(tf.contrib.training.evaluate_repeatedly(tempfile.mkdtemp(), final_ops=tf.constant(1), timeout=0.1))
      None

    It ends after `max_number_of_evaluations`, or when there was no new checkpoint for `timeout` seconds (and `timeout_fn`, if there is one, says so).
    """
    values, n = None, 0
    for path in tf.train.checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn):
        values = evaluate_once(path, master, scaffold, eval_ops, feed_dict, final_ops, final_ops_feed_dict, hooks, config)
        n += 1
        if max_number_of_evaluations is not None and n >= max_number_of_evaluations:
            break
    return values
