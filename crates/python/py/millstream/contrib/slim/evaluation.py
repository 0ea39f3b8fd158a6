"""`slim.evaluation`: a checkpoint, or each new one, is restored, evaluated and summarized."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence

from millstream.contrib.training.evaluation import (
    StopAfterNEvalsHook,
    SummaryAtEndHook,
    evaluate_once as _evaluate_once,
    evaluate_repeatedly,
    wait_for_new_checkpoint,
)
from millstream.io import summaries
from millstream.train.monitored_session import Scaffold
from millstream.train.saver import Saver
from millstream.train.supervisor import checkpoints_iterator

__all__ = ["checkpoints_iterator", "evaluate_once", "evaluation_loop", "wait_for_new_checkpoint"]

# Means the summaries of the graph; None means none.
_USE_DEFAULT = 0


def _hooks(logdir: str, num_evals: int, summary_op: Any, feed_dict: Any, hooks: Optional[Sequence[Any]]) -> List[Any]:
    if isinstance(summary_op, int):
        summary_op = summaries.merge_all()
    made: List[Any] = [StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        made.append(SummaryAtEndHook(log_dir=logdir, summary_op=summary_op, feed_dict=feed_dict))
    return made + list(hooks or [])


def evaluate_once(
    master: str,
    checkpoint_path: str,
    logdir: str,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = _USE_DEFAULT,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Any = None,
    session_config: Any = None,
    hooks: Optional[Sequence[Any]] = None,
) -> Any:
    """Restores a checkpoint, runs `eval_op` several times, and evaluates `final_op`.

    Args:
      master: Empty.
      checkpoint_path: The checkpoint.
      logdir: The directory of the summaries.
      num_evals: The number of times to run `eval_op`.
      initial_op: The operation that initializes what is not restored.
      initial_op_feed_dict: Its feeds.
      eval_op: The operation to run repeatedly.
      eval_op_feed_dict: Its feeds.
      final_op: The tensors to evaluate at the end.
      final_op_feed_dict: Their feeds.
      summary_op: The summary to write at the end; by default all of the graph's, None for none.
      summary_op_feed_dict: Its feeds.
      variables_to_restore: The variables to restore; by default all.
      session_config: A `ConfigProto`.
      hooks: A list of hooks.

    Returns:
      The values of `final_op`.

    Example:
      >>> import os, tempfile
      >>> v = tf.get_variable("v", initializer=2.0)
      >>> saver = tf.train.Saver()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = saver.save(sess, os.path.join(tempfile.mkdtemp(), "model"))
      >>> mean, update = tf.metrics.mean(v)
      >>> print(tf.contrib.slim.evaluation.evaluate_once("", path, os.path.dirname(path), num_evals=3,
      ...     eval_op=update, final_op=mean, variables_to_restore=[v]))
      2.0
    """
    made = _hooks(logdir, num_evals, summary_op, summary_op_feed_dict, hooks)
    saver = None if variables_to_restore is None else Saver(variables_to_restore)
    scaffold = Scaffold(init_op=initial_op, init_feed_dict=initial_op_feed_dict, saver=saver)
    return _evaluate_once(
        checkpoint_path,
        master=master,
        scaffold=scaffold,
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        hooks=made,
        config=session_config,
    )


def evaluation_loop(
    master: str,
    checkpoint_dir: str,
    logdir: str,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    init_fn: Optional[Callable[..., None]] = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = _USE_DEFAULT,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Any = None,
    eval_interval_secs: float = 60,
    max_number_of_evaluations: Optional[int] = None,
    session_config: Any = None,
    timeout: Optional[float] = None,
    timeout_fn: Optional[Callable[[], bool]] = None,
    hooks: Optional[Sequence[Any]] = None,
) -> Any:
    """Evaluates each new checkpoint of a directory as `evaluate_once` does.

    The other arguments are those of `evaluate_once`.

    Args:
      checkpoint_dir: The directory of the checkpoints.
      init_fn: A function of the scaffold and the session, called after `initial_op`.
      eval_interval_secs: The shortest time between evaluations, in seconds.
      max_number_of_evaluations: The number of evaluations; None for no limit.
      timeout: The time to wait for a checkpoint, in seconds; None for no limit.
      timeout_fn: A function called on timeout; the loop ends if it returns true.

    Returns:
      The last values of `final_op`, or None.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> v = tf.get_variable("v", initializer=2.0)
      >>> print(tf.contrib.slim.evaluation.evaluation_loop("", folder, folder, final_op=v, timeout=0.1))
      None
    """
    made = _hooks(logdir, num_evals, summary_op, summary_op_feed_dict, hooks)
    saver = None if variables_to_restore is None else Saver(variables_to_restore)
    scaffold = Scaffold(init_op=initial_op, init_feed_dict=initial_op_feed_dict, init_fn=init_fn, saver=saver)
    return evaluate_repeatedly(
        checkpoint_dir,
        master=master,
        scaffold=scaffold,
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs,
        hooks=made,
        config=session_config,
        max_number_of_evaluations=max_number_of_evaluations,
        timeout=timeout,
        timeout_fn=timeout_fn,
    )
