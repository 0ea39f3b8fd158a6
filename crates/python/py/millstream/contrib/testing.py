"""`tf.contrib.testing`: checks of summaries, for tests."""

from __future__ import annotations

import glob
import os
from typing import Any, Dict, Iterable, List, Optional

import numpy as np

from millstream.framework import namespaces, protos
from millstream.io import summaries
from millstream.train import summary_iterator

__all__ = ["FakeSummaryWriter", "assert_summary", "latest_event_file", "latest_events", "latest_summaries", "simple_values_from_events", "to_summary_proto"]

__dir__ = namespaces.dir_of(globals())


def assert_summary(expected_tags: Iterable[str], expected_simple_values: Dict[str, float], summary_proto: Any) -> None:
    """Checks the tags of a summary, and values to two decimals.

    Args:
      expected_tags: All tags.
      expected_simple_values: Numbers by tag.
      summary_proto: A `Summary`.

    Raises:
      ValueError: The tags differ.
      AssertionError: A value differs.

    Example:
      >>> summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)])
      >>> tf.contrib.testing.assert_summary(["loss"], {"loss": 0.5}, summary)
    """
    for value in summary_proto.value:
        if value.tag in expected_simple_values:
            np.testing.assert_almost_equal(value.simple_value, expected_simple_values[value.tag], decimal=2, err_msg=value.tag)
    actual = {value.tag for value in summary_proto.value}
    if set(expected_tags) != actual:
        raise ValueError("Expected tags %s, got %s." % (set(expected_tags), actual))


def to_summary_proto(summary_str: bytes) -> Any:
    """Returns a serialized summary as a `Summary`.

    Args:
      summary_str: The bytes.

    Example:
      >>> tf.contrib.testing.to_summary_proto(tf.Session().run(tf.summary.scalar("loss", 0.5))).value[0].tag
      'loss'
    """
    return protos.Summary.FromString(summary_str)


def latest_event_file(base_dir: str) -> Optional[str]:
    """Returns the last event file of a directory, or None.

    Args:
      base_dir: The directory.

    Example:
      >>> import tempfile
      >>> tf.contrib.testing.latest_event_file(tempfile.mkdtemp()) is None
      True
    """
    paths = glob.glob(os.path.join(base_dir, "events.*"))
    return max(paths) if paths else None


def latest_events(base_dir: str) -> Any:
    """Returns an iterator over the events of the last event file of a directory.

    Args:
      base_dir: The directory.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> with tf.summary.FileWriter(folder) as writer:
      ...     writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 1)
      >>> [event.file_version for event in tf.contrib.testing.latest_events(folder)]
      ['brain.Event:2', '']
    """
    path = latest_event_file(base_dir)
    return summary_iterator(path) if path else []


def latest_summaries(base_dir: str) -> List[Any]:
    """Returns the events with a summary of the last event file of a directory.

    Args:
      base_dir: The directory.

    Example:
      >>> import tempfile
      >>> tf.contrib.testing.latest_summaries(tempfile.mkdtemp())
      []
    """
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


def simple_values_from_events(events: Iterable[Any], tags: Iterable[str]) -> Dict[str, float]:
    """Returns the numbers of the last steps by tag.

    Args:
      events: `Event`s.
      tags: The tags.

    Raises:
      ValueError: A value is not a number.

    Example:
      >>> event = tf.Event(step=1, summary=tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]))
      >>> tf.contrib.testing.simple_values_from_events([event], ["loss"])
      {'loss': 0.5}
    """
    steps: Dict[str, int] = {}
    values: Dict[str, float] = {}
    for event in events:
        for value in event.summary.value:
            if value.tag not in tags:
                continue
            if not value.HasField("simple_value"):
                raise ValueError("Summary for %s is not a simple_value." % value.tag)
            if value.tag not in steps or steps[value.tag] < event.step:
                steps[value.tag], values[value.tag] = event.step, value.simple_value
    return values


class FakeSummaryWriter:
    """A `FileWriter` that keeps what it is given, and writes nothing.

    Args:
      logdir: The directory.
      graph: A graph, or None.

    Example:
      >>> writer = tf.contrib.testing.FakeSummaryWriter("logs")
      >>> writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]), 1)
      >>> writer.add_graph(tf.get_default_graph())
      >>> writer.add_meta_graph(tf.MetaGraphDef())
      >>> writer.add_session_log(tf.SessionLog())
      >>> writer.add_run_metadata(tf.RunMetadata(), "run")
      >>> writer.flush(), writer.reopen(), writer.close()
      (None, None, None)
      >>> list(writer.summaries)
      [1]
      >>> writer.assert_summaries(tf.test.TestCase(), expected_logdir="logs", expected_summaries={1: {"loss": 0.5}})
      >>> tf.contrib.testing.FakeSummaryWriter.install()
      >>> type(tf.summary.FileWriterCache.get("nowhere")).__name__
      'FakeSummaryWriter'
      >>> tf.contrib.testing.FakeSummaryWriter.uninstall()
      >>> tf.summary.FileWriterCache.clear()
    """

    _replaced_summary_writer: Any = None

    @classmethod
    def install(cls) -> None:
        """Makes `tf.summary.FileWriterCache` return writers of this class.

        Raises:
          ValueError: It does already.
        """
        if cls._replaced_summary_writer:
            raise ValueError("FakeSummaryWriter already installed.")
        cls._replaced_summary_writer = summaries.FileWriterCache._make
        summaries.FileWriterCache._make = FakeSummaryWriter

    @classmethod
    def uninstall(cls) -> None:
        """Undoes `install`.

        Raises:
          ValueError: It was not called.
        """
        if not cls._replaced_summary_writer:
            raise ValueError("FakeSummaryWriter not installed.")
        summaries.FileWriterCache._make = cls._replaced_summary_writer
        cls._replaced_summary_writer = None

    def __init__(self, logdir: Any, graph: Any = None) -> None:
        self._logdir, self._graph = logdir, graph
        self._summaries: Dict[Any, List[Any]] = {}
        self._added_graphs: List[Any] = []
        self._added_meta_graphs: List[Any] = []
        self._added_session_logs: List[Any] = []
        self._added_run_metadata: Dict[str, Any] = {}

    @property
    def summaries(self) -> Dict[Any, List[Any]]:
        """The summaries by step."""
        return self._summaries

    def assert_summaries(
        self,
        test_case: Any,
        expected_logdir: Any = None,
        expected_graph: Any = None,
        expected_summaries: Any = None,
        expected_added_graphs: Any = None,
        expected_added_meta_graphs: Any = None,
        expected_session_logs: Any = None,
    ) -> None:
        """Checks what the writer was given; what is None is not checked.

        Args:
          test_case: A test case, whose methods are called.
          expected_logdir: The directory.
          expected_graph: The graph of the constructor.
          expected_summaries: Numbers by tag, by step.
          expected_added_graphs: The graphs.
          expected_added_meta_graphs: The `MetaGraphDef`s.
          expected_session_logs: The `SessionLog`s.
        """
        if expected_logdir is not None:
            test_case.assertEqual(expected_logdir, self._logdir)
        if expected_graph is not None:
            test_case.assertTrue(expected_graph is self._graph)
        for step, expected in (expected_summaries or {}).items():
            test_case.assertTrue(step in self._summaries, msg="Missing step %s from %s." % (step, self._summaries.keys()))
            values = [value for summary in self._summaries[step] for value in summary.value]
            test_case.assertEqual(expected, {value.tag: value.simple_value for value in values if value.tag != "global_step/sec"})
        if expected_added_graphs is not None:
            test_case.assertEqual(expected_added_graphs, self._added_graphs)
        if expected_added_meta_graphs is not None:
            test_case.assertEqual(list(expected_added_meta_graphs), self._added_meta_graphs)
        if expected_session_logs is not None:
            test_case.assertEqual(expected_session_logs, self._added_session_logs)

    def add_summary(self, summ: Any, current_global_step: Any) -> None:
        """Keeps a `Summary`, which may be serialized.

        Args:
          summ: The summary.
          current_global_step: The step.
        """
        self._summaries.setdefault(current_global_step, []).append(protos.Summary.FromString(summ) if isinstance(summ, bytes) else summ)

    @staticmethod
    def _check_step(step: Any) -> None:
        if step is not None and step < 0:
            raise ValueError("Invalid global_step %s." % step)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Keeps a graph.

        Args:
          graph: The graph.
          global_step: The step.
          graph_def: None.

        Raises:
          ValueError: `graph_def` is given, or the step is negative.
        """
        self._check_step(global_step)
        if graph_def is not None:
            raise ValueError("Unexpected graph_def %s." % graph_def)
        self._added_graphs.append(graph)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Keeps a `MetaGraphDef`.

        Args:
          meta_graph_def: The message.
          global_step: The step.
        """
        self._check_step(global_step)
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Keeps a `SessionLog`.

        Args:
          session_log: The message.
          global_step: The step.
        """
        self._added_session_logs.append(session_log)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Keeps a `RunMetadata`.

        Args:
          run_metadata: The message.
          tag: Its tag.
          global_step: The step.
        """
        self._check_step(global_step)
        self._added_run_metadata[tag] = run_metadata

    def flush(self) -> None:
        """Does nothing."""

    def reopen(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""
