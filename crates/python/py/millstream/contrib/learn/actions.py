"""Runs of a graph in a session of their own, with queue runners."""

from __future__ import annotations

import itertools
from typing import Any, Dict, Iterable, Iterator, List, Optional

from millstream.contrib.framework.graphs import get_graph_from_inputs
from millstream.framework.session import Session
from millstream.io import lookup_ops
from millstream.train.coordinator import Coordinator
from millstream.train.queue_runner import start_queue_runners
from millstream.train.saver import Saver
from millstream.variables.collections import global_variables_initializer, local_variables_initializer


def run_feeds_iter(output_dict: Dict[str, Any], feed_dicts: Any, restore_checkpoint_path: Optional[str] = None) -> Iterator[Dict[str, Any]]:
    """Yields the values of tensors for each of several feeds.

    Args:
      output_dict: A dict of tensors.
      feed_dicts: The feeds; None for a run without any.
      restore_checkpoint_path: A checkpoint to restore; without it, variables are initialized.

    Raises:
      ValueError: There are no tensors or no feeds.
    """
    if not output_dict:
        raise ValueError("output_dict is invalid: %s." % output_dict)
    if not feed_dicts:
        raise ValueError("feed_dicts is invalid: %s." % feed_dicts)
    graph = get_graph_from_inputs(output_dict.values())
    with graph.as_default(), Session() as session:
        if restore_checkpoint_path:
            Saver().restore(session, restore_checkpoint_path)
        else:
            session.run(global_variables_initializer())
        session.run(local_variables_initializer())
        session.run(lookup_ops.tables_initializer())
        coord = Coordinator()
        threads: List[Any] = []
        try:
            threads = start_queue_runners(session, coord=coord)
            for feed in feed_dicts:
                yield session.run(output_dict, feed)
        finally:
            coord.request_stop()
            if threads:
                coord.join(threads, stop_grace_period_secs=120)


def run_feeds(output_dict: Dict[str, Any], feed_dicts: Iterable[Any], restore_checkpoint_path: Optional[str] = None) -> List[Dict[str, Any]]:
    """Returns the values of tensors for each of several feeds, in a session of its own.

    Args:
      output_dict: A dict of tensors.
      feed_dicts: The feeds; None for a run without any.
      restore_checkpoint_path: A checkpoint to restore; without it, variables are initialized.

    Example:
      >>> x = tf.placeholder(tf.int32, [])
      >>> [int(values["y"]) for values in tf.contrib.learn.run_feeds({"y": x * 2}, [{x: 1}, {x: 4}])]
      [2, 8]
    """
    return list(run_feeds_iter(output_dict, feed_dicts, restore_checkpoint_path))


def run_n(output_dict: Dict[str, Any], feed_dict: Any = None, restore_checkpoint_path: Optional[str] = None, n: int = 1) -> List[Dict[str, Any]]:
    """Returns the values of tensors in each of `n` runs, in a session of its own.

    Args:
      output_dict: A dict of tensors.
      feed_dict: The feed of every run, or None.
      restore_checkpoint_path: A checkpoint to restore; without it, variables are initialized.
      n: The number of runs.

    Example:
      >>> y = tf.assign_add(tf.Variable(0), 2)
      >>> [int(values["y"]) for values in tf.contrib.learn.run_n({"y": y}, n=3)]
      [2, 4, 6]
    """
    return run_feeds(output_dict, itertools.repeat(feed_dict, n), restore_checkpoint_path)


def infer(restore_checkpoint_path: Optional[str], output_dict: Dict[str, Any], feed_dict: Any = None) -> Dict[str, Any]:
    """Returns the values of tensors in a session of its own.

    Args:
      restore_checkpoint_path: A checkpoint to restore; without it, variables are initialized.
      output_dict: A dict of tensors.
      feed_dict: The feed, or None.

    Example:
      >>> x = tf.placeholder(tf.int32, [])
      >>> int(tf.contrib.learn.infer(None, {"y": x * 2}, {x: 3})["y"])
      6
    """
    return run_feeds(output_dict, [feed_dict], restore_checkpoint_path)[0]
