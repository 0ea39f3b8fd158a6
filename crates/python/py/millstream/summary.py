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
    """A number, as a serialized `Summary`."""
    with _scope(name, family, "ScalarSummary", [tensor]) as (tag, scope):
        return _collect(tf.raw_ops.ScalarSummary(tags=tag, values=tensor, name=scope), collections)


def histogram(name: str, values: Any, collections: Optional[Sequence[str]] = None, family: Optional[str] = None) -> Any:
    """How the values are distributed, as a serialized `Summary`."""
    with _scope(name, family, "HistogramSummary", [values]) as (tag, scope):
        return _collect(tf.raw_ops.HistogramSummary(tag=tag, values=values, name=scope), collections)


def image(
    name: str, tensor: Any, max_outputs: int = 3, collections: Optional[Sequence[str]] = None, family: Optional[str] = None
) -> Any:
    """Images (`[batch, height, width, channels]`, 1, 3 or 4 channels, bytes or floats), the first `max_outputs`, as PNGs in a serialized `Summary`."""
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
    """Sounds (`[batch, frames]` or `[batch, frames, channels]`, from -1 to 1), the first `max_outputs`, in a serialized `Summary`."""
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
    """A tensor of any kind, as a serialized `Summary`."""
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
    """Strings, which TensorBoard shows as Markdown."""
    from millstream import protos

    tensor = tf.convert_to_tensor(tensor)
    if tensor.dtype != tf.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    plugin = protos.SummaryMetadata.PluginData(plugin_name="text")
    metadata = protos.SummaryMetadata(plugin_data=plugin)
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


def merge(inputs: Sequence[Any], collections: Optional[Sequence[str]] = None, name: Optional[str] = None) -> Any:
    """Several summaries as one."""
    if not inputs:
        raise ValueError("List argument 'inputs' to 'MergeSummary' Op with length 0 shorter than minimum length 1.")
    name = _clean(name)
    with tf.name_scope(name, "Merge", inputs):
        value = tf.raw_ops.MergeSummary(inputs=inputs, name=name)
    return _collect(value, [] if collections is None else collections)


def merge_all(key: str = GraphKeys.SUMMARIES, scope: Optional[str] = None, name: Optional[str] = None) -> Any:
    """All summaries of a collection as one; None if there are none."""
    summaries = tf.get_collection(key, scope=scope)
    return merge(summaries, name=name) if summaries else None


# Event files. --------------------------------------------------------------------------------------------------------------


class FileWriter:
    """Writes events to a new file in `logdir`. What is added is on disk after `flush`, `close`, or `flush_secs`."""

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
        """Adds a `Summary`, or one serialized, as a run of a summary op gives."""
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
        """Adds a `SessionLog`: that a session began or saved a checkpoint."""
        from millstream import protos

        self._add(global_step, session_log=protos.as_message("SessionLog", session_log))

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Adds a graph."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph if graph is not None else graph_def
        if hasattr(given, "as_graph_def"):
            given = given.as_graph_def(add_shapes=True)
        if not hasattr(given, "SerializeToString"):
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")
        self._add(global_step, graph_def=given.SerializeToString())

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Adds a `MetaGraphDef`."""
        if not hasattr(meta_graph_def, "SerializeToString"):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add(global_step, meta_graph_def=meta_graph_def.SerializeToString())

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Adds what a run said of itself, under a tag that was not used before."""
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
    """One writer for each folder."""

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
    """The events of a file."""
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
    return sorted(name for name in {*globals(), *_MESSAGES} if not name.startswith("_"))
