"""`tf.summary`: values to be looked at in TensorBoard: ops that make them, and event files to write them to."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import threading
import time
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Set, Tuple

import millstream as tf
from millstream import logging, records
from millstream.graph_keys import GraphKeys

# Ops. --------------------------------------------------------------------------------------------------------------------


def _clean(name: Optional[str]) -> Optional[str]:
    """A name as one that a node can have."""
    if name is None:
        return None
    cleaned = re.sub(r"[^-/\w\.]", "_", name).lstrip("/")
    if cleaned != name:
        logging.info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


@contextlib.contextmanager
def _scope(name: str, family: Optional[str], default: str, values: Sequence[Any]) -> Iterator[Tuple[str, str]]:
    """The tag of a summary and the name of its node."""
    name, family = _clean(name) or default, _clean(family)
    base = name if family is None else f"{family}/{name}"
    with tf.name_scope(base, default, values) as scope:
        tag = scope.rstrip("/")
        yield tag if family is None else f"{family}/{tag}", scope


def _collect(value: Any, collections: Optional[Sequence[str]]) -> Any:
    for key in [GraphKeys.SUMMARIES] if collections is None else collections:
        tf.add_to_collection(key, value)
    return value


def scalar(name: str, tensor: Any, collections: Optional[Sequence[str]] = None, family: Optional[str] = None) -> Any:
    """A number, as a serialized `Summary`.

    Args:
      name: The name of the operation, and the tag.
      tensor: A scalar of numbers.
      collections: A list of the collections it is put into; `summaries` by default.
      family: A name that stands before the tag.

    Returns:
      A string scalar: put into an event file by `FileWriter.add_summary`.

    Example:
      >>> message = tf.Session().run(tf.summary.scalar("loss", 0.5))
      >>> tf.Summary.FromString(message).value[0].tag
      'loss'
    """
    with _scope(name, family, "ScalarSummary", [tensor]) as (tag, scope):
        return _collect(tf.raw_ops.ScalarSummary(tags=tag, values=tensor, name=scope), collections)


def histogram(name: str, values: Any, collections: Optional[Sequence[str]] = None, family: Optional[str] = None) -> Any:
    """How the values are distributed, as a serialized `Summary`.

    Args:
      name: The name of the operation, and the tag.
      values: A tensor of numbers.
      collections: A list of the collections it is put into; `summaries` by default.
      family: A name that stands before the tag.

    Returns:
      A string scalar: put into an event file by `FileWriter.add_summary`.

    Example:
      >>> message = tf.Session().run(tf.summary.histogram("weights", [0.5, 1.5]))
      >>> tf.Summary.FromString(message).value[0].tag
      'weights'
    """
    with _scope(name, family, "HistogramSummary", [values]) as (tag, scope):
        return _collect(tf.raw_ops.HistogramSummary(tag=tag, values=values, name=scope), collections)


def image(
    name: str, tensor: Any, max_outputs: int = 3, collections: Optional[Sequence[str]] = None, family: Optional[str] = None
) -> Any:
    """Images, as PNGs in a serialized `Summary`.

    Args:
      name: The name of the operation, and the tag.
      tensor: A tensor of shape `[batch, height, width, channels]`, of 1, 3 or 4 channels, of bytes or floats.
      max_outputs: How many of the batch are taken.
      collections: A list of the collections it is put into; `summaries` by default.
      family: A name that stands before the tag.

    Returns:
      A string scalar: put into an event file by `FileWriter.add_summary`.

    Example:
      >>> message = tf.Session().run(tf.summary.image("picture", tf.zeros([1, 4, 4, 3])))
      >>> tf.Summary.FromString(message).value[0].tag
      'picture/image/0'
    """
    with _scope(name, family, "ImageSummary", [tensor]) as (tag, scope):
        return _collect(tf.raw_ops.ImageSummary(tag=tag, tensor=tensor, max_images=max_outputs, name=scope), collections)


def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Optional[Sequence[str]] = None,
    family: Optional[str] = None,
) -> Any:
    """Sounds, in a serialized `Summary`.

    Args:
      name: The name of the operation, and the tag.
      tensor: A tensor of float32 from -1 to 1, of shape `[batch, frames]` or `[batch, frames, channels]`.
      sample_rate: How many frames a second has: a scalar.
      max_outputs: How many of the batch are taken.
      collections: A list of the collections it is put into; `summaries` by default.
      family: A name that stands before the tag.

    Returns:
      A string scalar: put into an event file by `FileWriter.add_summary`.

    Example:
      >>> message = tf.Session().run(tf.summary.audio("sound", tf.zeros([1, 100]), 8000.0))
      >>> tf.Summary.FromString(message).value[0].tag
      'sound/audio/0'
    """
    with _scope(name, family, "AudioSummary", [tensor]) as (tag, scope):
        rate = tf.convert_to_tensor(sample_rate, tf.float32, "sample_rate")
        value = tf.raw_ops.AudioSummaryV2(tag=tag, tensor=tensor, sample_rate=rate, max_outputs=max_outputs, name=scope)
        return _collect(value, collections)


def tensor_summary(
    name: str,
    tensor: Any,
    summary_description: Optional[str] = None,
    collections: Optional[Sequence[str]] = None,
    summary_metadata: Any = None,
    family: Optional[str] = None,
    display_name: Optional[str] = None,
) -> Any:
    """A tensor of any kind, as a serialized `Summary`.

    Args:
      name: The name of the operation, and the tag.
      tensor: The tensor.
      summary_description: What it is, in words.
      summary_metadata: A `SummaryMetadata`.
      display_name: The name that is shown.
      collections: A list of the collections it is put into; `summaries` by default.
      family: A name that stands before the tag.

    Returns:
      A string scalar: put into an event file by `FileWriter.add_summary`.

    Example:
      >>> message = tf.Session().run(tf.summary.tensor_summary("values", [1, 2]))
      >>> tf.Summary.FromString(message).value[0].tag
      'values'
    """
    from millstream import protos

    metadata = protos.SummaryMetadata()
    if summary_metadata is not None:
        metadata.CopyFrom(protos.as_message("SummaryMetadata", summary_metadata))
    if display_name is not None:
        metadata.display_name = display_name
    if summary_description is not None:
        metadata.summary_description = summary_description
    with _scope(name, family, "TensorSummary", [tensor]) as (tag, scope):
        value = tf.raw_ops.TensorSummaryV2(
            tensor=tensor, tag=tag, serialized_summary_metadata=metadata.SerializeToString(), name=scope
        )
        return _collect(value, collections)


def text(name: str, tensor: Any, collections: Optional[Sequence[str]] = None) -> Any:
    """Strings, which TensorBoard shows as Markdown.

    Args:
      name: The name of the operation, and the tag.
      tensor: A tensor of strings.
      collections: A list of the collections it is put into; `summaries` by default.

    Returns:
      A string scalar: put into an event file by `FileWriter.add_summary`.

    Raises:
      ValueError: It is not of strings.

    Example:
      >>> message = tf.Session().run(tf.summary.text("note", "hello"))
      >>> tf.Summary.FromString(message).value[0].tag
      'note'
    """
    from millstream import protos

    tensor = tf.convert_to_tensor(tensor)
    if tensor.dtype != tf.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    plugin = protos.SummaryMetadata.PluginData(plugin_name="text")
    metadata = protos.SummaryMetadata(plugin_data=plugin)
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


def merge(inputs: Sequence[Any], collections: Optional[Sequence[str]] = None, name: Optional[str] = None) -> Any:
    """Several summaries as one.

    Args:
      inputs: A list of summaries.
      collections: A list of the collections it is put into; none by default.
      name: A name for the operation.

    Returns:
      A string scalar.

    Raises:
      ValueError: There are none.

    Example:
      >>> both = tf.summary.merge([tf.summary.scalar("a", 1.0), tf.summary.scalar("b", 2.0)])
      >>> [v.tag for v in tf.Summary.FromString(tf.Session().run(both)).value]
      ['a', 'b']
    """
    if not inputs:
        raise ValueError("List argument 'inputs' to 'MergeSummary' Op with length 0 shorter than minimum length 1.")
    name = _clean(name)
    with tf.name_scope(name, "Merge", inputs):
        value = tf.raw_ops.MergeSummary(inputs=inputs, name=name)
    return _collect(value, [] if collections is None else collections)


def merge_all(key: str = GraphKeys.SUMMARIES, scope: Optional[str] = None, name: Optional[str] = None) -> Any:
    """All summaries of a collection as one.

    Args:
      key: The collection.
      scope: A regular expression; only those whose names begin so.
      name: A name for the operation.

    Returns:
      A string scalar; None if there are none.

    Example:
      >>> tf.summary.merge_all() is None
      True
      >>> loss = tf.summary.scalar("loss", 0.5)
      >>> tf.summary.merge_all().dtype
      tf.string
    """
    summaries = tf.get_collection(key, scope=scope)
    return merge(summaries, name=name) if summaries else None


# Event files. --------------------------------------------------------------------------------------------------------------


class FileWriter:
    """Writes events to a new file in `logdir`. What is added is on disk after `flush`, `close`, or `flush_secs`.

    Args:
      logdir: The folder, made if it is not there.
      graph: A graph to add.
      max_queue: How many events are held back at most.
      flush_secs: How long.
      graph_def: A `GraphDef` to add.
      filename_suffix: What stands at the end of the file's name.
      session: Accepted.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> x = tf.summary.scalar("x", tf.constant(1.5))
      >>> writer = tf.summary.FileWriter(folder)
      >>> writer.get_logdir() == folder
      True
      >>> metadata = tf.RunMetadata()
      >>> writer.add_summary(tf.Session().run(x, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata), global_step=1)
      >>> writer.add_graph(tf.get_default_graph())
      >>> writer.add_run_metadata(metadata, "step 1")
      >>> writer.add_meta_graph(tf.train.export_meta_graph())
      >>> writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), global_step=1)
      >>> writer.add_event(tf.Event(step=2))
      >>> writer.flush()
      >>> writer.close()
      >>> writer.reopen()
      >>> writer.close()
    """

    def __init__(
        self,
        logdir: str,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: Optional[str] = None,
        session: Any = None,
    ) -> None:
        self._logdir = os.fspath(logdir)
        self._suffix = filename_suffix or ""
        self._max_queue, self._flush_secs = max_queue, flush_secs
        # Guards what follows: threads may share a writer.
        self._lock = threading.RLock()
        self._seen_tags: Set[str] = set()
        self._seen_runs: Set[str] = set()
        self._out: Any = None
        self._open()
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
        if hasattr(graph, "as_graph_def"):
            # With it, as in TensorFlow: readers take the ops' definitions from here.
            from millstream import protos

            self.add_meta_graph(protos.MetaGraphDef(graph_def=graph.as_graph_def(add_shapes=True)))

    def _open(self) -> None:
        os.makedirs(self._logdir, exist_ok=True)
        now = time.time()
        # Two writers opened in one second have files of their own.
        for n in range(1000000):
            name = f"events.out.tfevents.{int(now):010d}.{socket.gethostname()}{f'.{n}' if n else ''}{self._suffix}"
            try:
                self._out = open(os.path.join(self._logdir, name), "xb")
                break
            except FileExistsError:
                continue
        self._n_waiting, self._flushed_at = 0, now
        self._write(self._event(wall_time=now, file_version="brain.Event:2"))
        self.flush()

    @staticmethod
    def _event(**fields: Any) -> Any:
        from millstream import protos

        fields.setdefault("wall_time", time.time())
        return protos.Event(**fields)

    def _write(self, event: Any) -> None:
        with self._lock:
            if self._out is None:
                logging.warning("Attempting to use a closed FileWriter. The operation will be a noop unless reopened.")
                return
            records.write_record(self._out, event.SerializeToString())
            self._n_waiting += 1
            if self._max_queue <= self._n_waiting or self._flush_secs < time.time() - self._flushed_at:
                self.flush()

    def get_logdir(self) -> str:
        """Where the file is."""
        return self._logdir

    def add_event(self, event: Any) -> None:
        """Adds an `Event`."""
        self._write(event)

    def _add(self, step: Any, **fields: Any) -> None:
        event = self._event(**fields)
        if step is not None:
            event.step = int(step)
        self._write(event)

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Adds a `Summary`, or one serialized, as a run of a summary op gives.

        Args:
          summary: The message.
          global_step: The step.
        """
        from millstream import protos

        message = protos.Summary()
        if isinstance(summary, bytes):
            message.ParseFromString(summary)
        else:
            message.CopyFrom(protos.as_message("Summary", summary))
        for value in message.value:
            if value.HasField("metadata"):
                # What does not change is said once for each tag.
                if value.tag in self._seen_tags:
                    value.ClearField("metadata")
                self._seen_tags.add(value.tag)
        self._add(global_step, summary=message)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Adds a `SessionLog`: that a session began or saved a checkpoint.

        Args:
          session_log: The message.
          global_step: The step.
        """
        from millstream import protos

        self._add(global_step, session_log=protos.as_message("SessionLog", session_log))

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Adds a graph.

        Args:
          graph: A `Graph`.
          global_step: The step.
          graph_def: A `GraphDef` in its place.

        Raises:
          ValueError: Both are given.
          TypeError: It is none.
        """
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph if graph is not None else graph_def
        if hasattr(given, "as_graph_def"):
            given = given.as_graph_def(add_shapes=True)
        if not hasattr(given, "SerializeToString"):
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")
        self._add(global_step, graph_def=given.SerializeToString())

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Adds a `MetaGraphDef`.

        Args:
          meta_graph_def: The message.
          global_step: The step.

        Raises:
          TypeError: It is none.
        """
        if not hasattr(meta_graph_def, "SerializeToString"):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add(global_step, meta_graph_def=meta_graph_def.SerializeToString())

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Adds what a run said of itself.

        Args:
          run_metadata: A `RunMetadata`.
          tag: A tag that was not used before.
          global_step: The step.

        Raises:
          ValueError: It was.
        """
        if tag in self._seen_runs:
            raise ValueError("The provided tag was already used for this event type")
        self._seen_runs.add(tag)
        self._add(global_step, tagged_run_metadata={"tag": tag, "run_metadata": run_metadata.SerializeToString()})

    def flush(self) -> None:
        """Sees to it that all is on disk."""
        with self._lock:
            if self._out is not None:
                self._out.flush()
                self._n_waiting, self._flushed_at = 0, time.time()

    def close(self) -> None:
        """Ends the file."""
        with self._lock:
            if self._out is not None:
                self.flush()
                self._out.close()
                self._out = None

    def reopen(self) -> None:
        """Begins a new file, if closed."""
        with self._lock:
            if self._out is None:
                self._open()

    def __enter__(self) -> "FileWriter":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_out", None) is not None:
            self.close()


class FileWriterCache:
    """One writer for each folder.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> tf.summary.FileWriterCache.get(folder) is tf.summary.FileWriterCache.get(folder)
      True
      >>> tf.summary.FileWriterCache.clear()
    """

    _lock = threading.Lock()
    _writers: Dict[str, FileWriter] = {}

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """The folder's writer."""
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._writers:
                FileWriterCache._writers[logdir] = FileWriter(logdir, graph=tf.get_default_graph())
            return FileWriterCache._writers[logdir]

    @staticmethod
    def clear() -> None:
        """Closes all writers and forgets them."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._writers.values():
                writer.close()
            FileWriterCache._writers = {}


def summary_iterator(path: str) -> Iterator[Any]:
    """The events of a file.

    Args:
      path: The file.

    Returns:
      An iterator of `Event`s.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> import glob
      >>> with tf.summary.FileWriter(folder) as writer:
      ...     writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]), global_step=3)
      >>> file, = glob.glob(folder + "/*")
      >>> [(event.step, event.summary.value[0].tag) for event in tf.train.summary_iterator(file) if event.summary.value]
      [(3, 'loss')]
    """
    from millstream import protos

    for data in records.read_records(path):
        yield protos.Event.FromString(data)


_MESSAGES = {"Summary", "Event", "SessionLog", "TaggedRunMetadata"}


if TYPE_CHECKING:
    from millstream.protos import Event as Event, SessionLog as SessionLog, Summary as Summary, TaggedRunMetadata as TaggedRunMetadata
else:

    def __getattr__(name: str) -> Any:
        if name in _MESSAGES:
            from millstream import protos

            return getattr(protos, name)
        if name in ("image", "audio"):
            raise AttributeError(f"module 'millstream.summary' has no attribute {name!r}: the engine has no op for it")
        raise AttributeError(f"module 'millstream.summary' has no attribute {name!r}")


def __dir__() -> List[str]:
    from millstream import _namespaces

    return _namespaces.shown(globals(), "summary", _MESSAGES)
