"""`tf.summary`: values for TensorBoard: ops that compute summaries, and event files."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import threading
import time
from typing import Any, Dict, Iterator, Optional, Sequence, Set, Tuple

from millstream.framework import (
    add_to_collection,
    convert_to_tensor,
    dtypes,
    get_collection,
    get_default_graph,
    logging,
    name_scope,
    protos,
)
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import raw
from millstream.io import files, plugin_assets, records

# Ops.


def _clean(name: Optional[str]) -> Optional[str]:
    """Returns the name with characters replaced that an operation's name cannot have."""
    if name is None:
        return None
    cleaned = re.sub(r"[^-/\w\.]", "_", name).lstrip("/")
    if cleaned != name:
        logging.info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


@contextlib.contextmanager
def _scope(name: str, family: Optional[str], default: str, values: Sequence[Any]) -> Iterator[Tuple[str, str]]:
    """Yields the tag of a summary and the name of its operation."""
    name, family = _clean(name) or default, _clean(family)
    base = name if family is None else f"{family}/{name}"
    with name_scope(base, default, values) as scope:
        tag = scope.rstrip("/")
        yield tag if family is None else f"{family}/{tag}", scope


def _collect(value: Any, collections: Optional[Sequence[str]]) -> Any:
    for key in [GraphKeys.SUMMARIES] if collections is None else collections:
        add_to_collection(key, value)
    return value


def scalar(name: str, tensor: Any, collections: Optional[Sequence[str]] = None, family: Optional[str] = None) -> Any:
    """Returns a scalar as a serialized `Summary`.

    Args:
      name: A name for the operation, also used as the tag.
      tensor: A numeric scalar.
      collections: The collections to add the summary to; by default `summaries`.
      family: A prefix of the tag.

    Returns:
      A string scalar: a serialized `Summary`, which `FileWriter.add_summary` writes to an event file.

    Example:
      >>> message = tf.Session().run(tf.summary.scalar("loss", 0.5))
      >>> tf.Summary.FromString(message).value[0].tag
      'loss'
    """
    with _scope(name, family, "ScalarSummary", [tensor]) as (tag, scope):
        return _collect(raw("ScalarSummary")(tags=tag, values=tensor, name=scope), collections)


def histogram(name: str, values: Any, collections: Optional[Sequence[str]] = None, family: Optional[str] = None) -> Any:
    """Returns a histogram of values as a serialized `Summary`.

    Args:
      name: A name for the operation, also used as the tag.
      values: A tensor of numbers.
      collections: The collections to add the summary to; by default `summaries`.
      family: A prefix of the tag.

    Returns:
      A string scalar: a serialized `Summary`, which `FileWriter.add_summary` writes to an event file.

    Example:
      >>> message = tf.Session().run(tf.summary.histogram("weights", [0.5, 1.5]))
      >>> tf.Summary.FromString(message).value[0].tag
      'weights'
    """
    with _scope(name, family, "HistogramSummary", [values]) as (tag, scope):
        return _collect(raw("HistogramSummary")(tag=tag, values=values, name=scope), collections)


def image(
    name: str, tensor: Any, max_outputs: int = 3, collections: Optional[Sequence[str]] = None, family: Optional[str] = None
) -> Any:
    """Returns images as PNGs in a serialized `Summary`.

    Args:
      name: A name for the operation, also used as the tag.
      tensor: A tensor of `uint8` or floats, of shape `[batch, height, width, channels]` with 1, 3 or 4
        channels.
      max_outputs: The largest number of images to write.
      collections: The collections to add the summary to; by default `summaries`.
      family: A prefix of the tag.

    Returns:
      A string scalar: a serialized `Summary`, which `FileWriter.add_summary` writes to an event file.

    Example:
      >>> message = tf.Session().run(tf.summary.image("picture", tf.zeros([1, 4, 4, 3])))
      >>> tf.Summary.FromString(message).value[0].tag
      'picture/image/0'
    """
    with _scope(name, family, "ImageSummary", [tensor]) as (tag, scope):
        return _collect(raw("ImageSummary")(tag=tag, tensor=tensor, max_images=max_outputs, name=scope), collections)


def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Optional[Sequence[str]] = None,
    family: Optional[str] = None,
) -> Any:
    """Returns audio clips in a serialized `Summary`.

    Args:
      name: A name for the operation, also used as the tag.
      tensor: A `float32` tensor with values from -1 to 1, of shape `[batch, frames]` or `[batch, frames,
        channels]`.
      sample_rate: A scalar: the sample rate in hertz.
      max_outputs: The largest number of clips to write.
      collections: The collections to add the summary to; by default `summaries`.
      family: A prefix of the tag.

    Returns:
      A string scalar: a serialized `Summary`, which `FileWriter.add_summary` writes to an event file.

    Example:
      >>> message = tf.Session().run(tf.summary.audio("sound", tf.zeros([1, 100]), 8000.0))
      >>> tf.Summary.FromString(message).value[0].tag
      'sound/audio/0'
    """
    with _scope(name, family, "AudioSummary", [tensor]) as (tag, scope):
        rate = convert_to_tensor(sample_rate, dtypes.float32, "sample_rate")
        value = raw("AudioSummaryV2")(tag=tag, tensor=tensor, sample_rate=rate, max_outputs=max_outputs, name=scope)
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
    """Returns a tensor of any dtype and shape as a serialized `Summary`.

    Args:
      name: A name for the operation, also used as the tag.
      tensor: A tensor.
      summary_description: A description of the summary.
      summary_metadata: A `SummaryMetadata`.
      display_name: The name to display.
      collections: The collections to add the summary to; by default `summaries`.
      family: A prefix of the tag.

    Returns:
      A string scalar: a serialized `Summary`, which `FileWriter.add_summary` writes to an event file.

    Example:
      >>> message = tf.Session().run(tf.summary.tensor_summary("values", [1, 2]))
      >>> tf.Summary.FromString(message).value[0].tag
      'values'
    """
    metadata = protos.SummaryMetadata()
    if summary_metadata is not None:
        metadata.CopyFrom(protos.as_message("SummaryMetadata", summary_metadata))
    if display_name is not None:
        metadata.display_name = display_name
    if summary_description is not None:
        metadata.summary_description = summary_description
    with _scope(name, family, "TensorSummary", [tensor]) as (tag, scope):
        value = raw("TensorSummaryV2")(
            tensor=tensor, tag=tag, serialized_summary_metadata=metadata.SerializeToString(), name=scope
        )
        return _collect(value, collections)


def text(name: str, tensor: Any, collections: Optional[Sequence[str]] = None) -> Any:
    """Returns strings as a serialized `Summary`; TensorBoard shows them as Markdown.

    Args:
      name: A name for the operation, also used as the tag.
      tensor: A tensor of strings.
      collections: The collections to add the summary to; by default `summaries`.

    Returns:
      A string scalar: a serialized `Summary`, which `FileWriter.add_summary` writes to an event file.

    Raises:
      ValueError: `tensor` is not of strings.

    Example:
      >>> message = tf.Session().run(tf.summary.text("note", "hello"))
      >>> tf.Summary.FromString(message).value[0].tag
      'note'
    """
    tensor = convert_to_tensor(tensor)
    if tensor.dtype != dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    plugin = protos.SummaryMetadata.PluginData(plugin_name="text")
    metadata = protos.SummaryMetadata(plugin_data=plugin)
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


def merge(inputs: Sequence[Any], collections: Optional[Sequence[str]] = None, name: Optional[str] = None) -> Any:
    """Merges several summaries into one.

    Args:
      inputs: A list of summaries.
      collections: The collections to add the merged summary to; by default none.
      name: A name for the operation.

    Returns:
      A string scalar.

    Raises:
      ValueError: `inputs` is empty.

    Example:
      >>> both = tf.summary.merge([tf.summary.scalar("a", 1.0), tf.summary.scalar("b", 2.0)])
      >>> [v.tag for v in tf.Summary.FromString(tf.Session().run(both)).value]
      ['a', 'b']
    """
    if not inputs:
        raise ValueError("List argument 'inputs' to 'MergeSummary' Op with length 0 shorter than minimum length 1.")
    name = _clean(name)
    with name_scope(name, "Merge", inputs):
        value = raw("MergeSummary")(inputs=inputs, name=name)
    return _collect(value, [] if collections is None else collections)


def merge_all(key: str = GraphKeys.SUMMARIES, scope: Optional[str] = None, name: Optional[str] = None) -> Any:
    """Merges all summaries of a collection into one.

    Args:
      key: The collection.
      scope: A regular expression: selects summaries whose names it matches at the beginning.
      name: A name for the operation.

    Returns:
      A string scalar; None if there are no summaries.

    Example:
      >>> tf.summary.merge_all() is None
      True
      >>> loss = tf.summary.scalar("loss", 0.5)
      >>> tf.summary.merge_all().dtype
      tf.string
    """
    summaries = get_collection(key, scope=scope)
    return merge(summaries, name=name) if summaries else None


# Event files.


class FileWriter:
    """Writes events to a new file in `logdir`.

    Events are written to the file on `flush` and `close`, after `flush_secs`, or when `max_queue` events are
    buffered.

    Args:
      logdir: The directory, created if missing.
      graph: A `Graph` to add.
      max_queue: The largest number of buffered events.
      flush_secs: The longest time that events are buffered, in seconds; checked when an event is added.
      graph_def: A `GraphDef` to add.
      filename_suffix: A suffix of the file's name.
      session: Ignored.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> x = tf.summary.scalar("x", tf.constant(1.5))
      >>> writer = tf.summary.FileWriter(folder)
      >>> writer.get_logdir() == folder
      True
      >>> metadata = tf.RunMetadata()
      >>> writer.add_summary(tf.Session().run(x, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE),
      ...     run_metadata=metadata), global_step=1)
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
        self._logdir = os.fsdecode(logdir)
        self._suffix = filename_suffix or ""
        self._max_queue, self._flush_secs = max_queue, flush_secs
        # Guards the fields below: threads may share a writer.
        self._lock = threading.RLock()
        self._seen_tags: Set[str] = set()
        self._seen_runs: Set[str] = set()
        # The file is made by the first event, or here if it has a suffix, as TensorFlow's is.
        self._out: Any = None
        self._is_open = True
        files.MakeDirs(self._logdir)
        if self._suffix:
            self._open()
        given = graph if graph is not None else graph_def
        if given is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            # As in TensorFlow, the meta graph is added too: readers take op definitions from it.
            self.add_meta_graph(protos.MetaGraphDef(graph_def=given.as_graph_def(add_shapes=True) if hasattr(given, "as_graph_def") else given))

    def _open(self) -> None:
        files.MakeDirs(self._logdir)
        now = time.time()
        # A number keeps apart the files of two writers opened in the same second.
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
        fields.setdefault("wall_time", time.time())
        return protos.Event(**fields)

    def _write(self, event: Any) -> None:
        with self._lock:
            if not self._is_open:
                logging.warning("Attempting to use a closed FileWriter. The operation will be a noop unless reopened.")
                return
            if self._out is None:
                self._open()
            records.write_record(self._out, event.SerializeToString())
            self._n_waiting += 1
            if self._max_queue <= self._n_waiting or self._flush_secs < time.time() - self._flushed_at:
                self._flush()

    def get_logdir(self) -> str:
        """Returns the directory of the file."""
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
        """Adds a `Summary`, which may be serialized, as fetched from a summary op.

        Args:
          summary: A `Summary`, or bytes.
          global_step: The step.
        """
        message = protos.Summary()
        if isinstance(summary, bytes):
            message.ParseFromString(summary)
        else:
            message.CopyFrom(protos.as_message("Summary", summary))
        for value in message.value:
            if value.HasField("metadata"):
                # Metadata does not change, and is written once for each tag.
                if value.tag in self._seen_tags:
                    value.ClearField("metadata")
                self._seen_tags.add(value.tag)
        self._add(global_step, summary=message)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Adds a `SessionLog`: that a session started or saved a checkpoint.

        Args:
          session_log: A `SessionLog`.
          global_step: The step.
        """
        self._add(global_step, session_log=protos.as_message("SessionLog", session_log))

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Adds a graph.

        Args:
          graph: A `Graph`.
          global_step: The step.
          graph_def: A `GraphDef`, instead of `graph`.

        Raises:
          ValueError: Both are given.
          TypeError: Neither is a graph.
        """
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph if graph is not None else graph_def
        if hasattr(given, "as_graph_def"):
            plugin_assets.write(given, self._logdir)
            given = given.as_graph_def(add_shapes=True)
        if not hasattr(given, "SerializeToString"):
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")
        self._add(global_step, graph_def=given.SerializeToString())

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Adds a `MetaGraphDef`.

        Args:
          meta_graph_def: A `MetaGraphDef`.
          global_step: The step.

        Raises:
          TypeError: `meta_graph_def` is not a message.
        """
        if not hasattr(meta_graph_def, "SerializeToString"):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add(global_step, meta_graph_def=meta_graph_def.SerializeToString())

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Adds the metadata of a run.

        Args:
          run_metadata: A `RunMetadata`.
          tag: A tag, unique in this file.
          global_step: The step.

        Raises:
          ValueError: The tag was used before.
        """
        if tag in self._seen_runs:
            raise ValueError("The provided tag was already used for this event type")
        self._seen_runs.add(tag)
        self._add(global_step, tagged_run_metadata={"tag": tag, "run_metadata": run_metadata.SerializeToString()})

    def flush(self) -> None:
        """Writes buffered events to the file. They survive a power cut afterwards."""
        with self._lock:
            if self._out is not None:
                self._flush()
                os.fsync(self._out.fileno())

    def _flush(self) -> None:
        with self._lock:
            if self._out is not None:
                self._out.flush()
                self._n_waiting, self._flushed_at = 0, time.time()

    def close(self) -> None:
        """Writes buffered events and closes the file."""
        with self._lock:
            if self._out is not None:
                self.flush()
                self._out.close()
                self._out = None
            self._is_open = False

    def reopen(self) -> None:
        """Starts a new file if the writer is closed."""
        with self._lock:
            self._is_open = True

    def __enter__(self) -> "FileWriter":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_out", None) is not None:
            self.close()


class FileWriterCache:
    """A cache with one writer for each directory.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> tf.summary.FileWriterCache.get(folder) is tf.summary.FileWriterCache.get(folder)
      True
      >>> tf.summary.FileWriterCache.clear()
    """

    _lock = threading.Lock()
    _writers: Dict[str, FileWriter] = {}
    # What makes a writer; `tf.contrib.testing` replaces it.
    _make: Any = FileWriter

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """Returns the writer of a directory."""
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._writers:
                FileWriterCache._writers[logdir] = FileWriterCache._make(logdir, graph=get_default_graph())
            return FileWriterCache._writers[logdir]

    @staticmethod
    def clear() -> None:
        """Closes and drops all writers."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._writers.values():
                writer.close()
            FileWriterCache._writers = {}


def summary_iterator(path: str) -> Iterator[Any]:
    """Returns the events of a file.

    Args:
      path: The file.

    Returns:
      An iterator of `Event`s.

    Raises:
      tf.errors.NotFoundError: The file does not exist.
      tf.errors.DataLossError: A record is corrupted or truncated.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> import glob
      >>> with tf.summary.FileWriter(folder) as writer:
      ...     writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]),
      ...         global_step=3)
      >>> file, = glob.glob(folder + "/*")
      >>> [(event.step, event.summary.value[0].tag)
      ...     for event in tf.train.summary_iterator(file) if event.summary.value]
      [(3, 'loss')]
    """
    path = files._path(path)
    with files._Errors():
        source = open(path, "rb")
    with source:
        for data in records.records_of(source, path):
            yield protos.Event.FromString(data)
