"""`tf.contrib.summary`: summaries that operations of the graph write to event files.

A step that runs `all_summary_ops()` writes the summaries; none needs to be fetched and passed to a writer.
Operations call a writer of this process, so that a graph that is saved cannot write them elsewhere.
"""

from __future__ import annotations

import abc
import atexit
import contextlib
import os
import threading
from typing import Any, Callable, Dict, Iterator, List, Optional

import numpy as np

from millstream._engine import Tensor
from millstream.framework import (
    add_to_collection,
    constant,
    control_dependencies,
    convert_to_tensor,
    device,
    dtypes,
    errors,
    get_collection,
    get_default_graph,
    logging,
    name_scope,
    namespaces,
    protos,
)
from millstream.framework.constant_values import constant_value
from millstream.framework.conversion import placeholder
from millstream.framework.graph import Graph
from millstream.framework.op_functions import raw
from millstream.framework.session import get_default_session
from millstream.io import summaries
from millstream.ops import array_ops, control_flow, host_functions, math_ops
from millstream.train import training_util

__all__ = [
    "SummaryWriter", "all_summary_ops", "always_record_summaries", "audio", "create_db_writer", "create_file_writer",
    "create_summary_file_writer", "eval_dir", "flush", "generic", "graph", "histogram", "image", "import_event", "initialize",
    "never_record_summaries", "record_summaries_every_n_global_steps", "scalar", "should_record_summaries",
    "summary_writer_initializer_op",
]  # fmt: skip

_INITIALIZERS, _SUMMARIES = "_SUMMARY_WRITER_V2", "_SUMMARY_V2"


class _Settings(threading.local):
    """The writer and the condition of a thread."""

    writer: Any = None
    condition: Any = None


_settings = _Settings()


class _File:
    """An event file, which an operation opens. Writers of one name share it."""

    def __init__(self, name: str) -> None:
        self.name = name
        # Guards the writer: steps run on several threads.
        self._lock = threading.Lock()
        self._writer: Optional[summaries.FileWriter] = None

    def open(self, logdir: bytes, max_queue: Any, flush_millis: Any, suffix: bytes) -> None:
        """Opens a new file, unless one is open."""
        with self._lock:
            if self._writer is None:
                self._writer = summaries.FileWriter(
                    os.fsdecode(logdir), max_queue=int(max_queue), flush_secs=int(flush_millis) / 1000, filename_suffix=os.fsdecode(suffix)
                )

    def add(self, event: Any) -> None:
        """Writes an event."""
        self._opened().add_event(event)

    def flush(self) -> None:
        """Writes what is in memory."""
        self._opened().flush()

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _opened(self) -> summaries.FileWriter:
        with self._lock:
            if self._writer is None:
                raise errors.NotFoundError(
                    None, None, "Resource %s does not exist: the summary writer is not initialized; run `tf.contrib.summary.initialize()` first" % self.name
                )
            return self._writer


_files: Dict[str, _File] = {}
_files_lock = threading.Lock()


@atexit.register
def _close_all() -> None:
    """Writes what is in memory at the end of the process, as TensorFlow does at the end of the session."""
    for file in list(_files.values()):
        file.close()


def _file(name: str) -> _File:
    with _files_lock:
        return _files.setdefault(name, _File(name))


def _call(function: Callable[..., None], inputs: List[Any], name: Optional[str]) -> Any:
    """Adds an operation that calls a function."""
    return host_functions.py_func(function, inputs, [], name=name)


class SummaryWriter(abc.ABC):
    """A writer of summaries: `create_file_writer` returns one.

    Within `as_default()`, and after `set_as_default()`, functions such as `scalar` write with it.

    Example:
      >>> import tempfile
      >>> writer = tf.contrib.summary.create_file_writer(tempfile.mkdtemp())
      >>> isinstance(writer, tf.contrib.summary.SummaryWriter)
      True
      >>> with writer.as_default():
      ...     tf.contrib.summary.flush().type
      'PyFunc'
      >>> with tf.Session() as sess:
      ...     sess.run(writer.init())
      ...     sess.run(writer.flush())
      ...     sess.run(writer.close())
      >>> tf.contrib.summary.create_file_writer(None).set_as_default()
    """

    @abc.abstractmethod
    def set_as_default(self) -> None:
        """Makes this the writer of the thread."""

    @abc.abstractmethod
    def as_default(self) -> Any:
        """Returns a context manager in which this is the writer of the thread."""

    @abc.abstractmethod
    def init(self) -> Any:
        """Returns an operation that opens the file."""

    @abc.abstractmethod
    def flush(self) -> Any:
        """Returns an operation that writes what is in memory to the file."""

    @abc.abstractmethod
    def close(self) -> Any:
        """Returns an operation that closes the file."""


class ResourceSummaryWriter(SummaryWriter):
    """A writer to an event file."""

    def __init__(self, shared_name: str, arguments: List[Any]) -> None:
        self._resource = _file(shared_name)
        self._arguments = arguments
        self._init_op = self.init()
        add_to_collection(_INITIALIZERS, self._init_op)

    def set_as_default(self) -> None:
        _settings.writer = self

    @contextlib.contextmanager
    def as_default(self) -> Iterator[ResourceSummaryWriter]:
        before = _settings.writer
        try:
            _settings.writer = self
            yield self
            # As in TensorFlow, which adds an operation here.
            self.flush()
        finally:
            _settings.writer = before

    def init(self) -> Any:
        return _call(self._resource.open, self._arguments, "CreateSummaryFileWriter")

    def flush(self) -> Any:
        return flush(self)

    def close(self) -> Any:
        with control_dependencies([self.flush()]), device("cpu:0"):
            return _call(self._resource.close, [], "CloseSummaryWriter")


class NoopSummaryWriter(SummaryWriter):
    """A writer that writes nothing."""

    def set_as_default(self) -> None:
        pass

    @contextlib.contextmanager
    def as_default(self) -> Iterator[None]:
        yield

    def init(self) -> None:
        pass

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def create_file_writer(
    logdir: Any, max_queue: Any = None, flush_millis: Any = None, filename_suffix: Any = None, name: Optional[str] = None
) -> SummaryWriter:
    """Returns a writer to a new event file. `initialize` opens the file.

    Args:
      logdir: The directory of the file, or None for a writer that writes nothing.
      max_queue: The largest number of events in memory; by default 10.
      flush_millis: The longest time that events are in memory, in milliseconds; by default 120000.
      filename_suffix: The end of the file's name; by default `.v2`.
      name: A name: writers of one name share the file. By default it is made of `logdir`.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> step = tf.train.create_global_step()
      >>> with tf.contrib.summary.create_file_writer(folder).as_default(), tf.contrib.summary.always_record_summaries():
      ...     loss = tf.contrib.summary.scalar("loss", tf.constant(0.5))
      ...     with tf.Session() as sess:
      ...         sess.run(tf.global_variables_initializer())
      ...         tf.contrib.summary.initialize()
      ...         written = sess.run(tf.contrib.summary.all_summary_ops())
      ...         sess.run(tf.contrib.summary.flush())
      >>> events = [e for e in tf.train.summary_iterator(tf.gfile.Glob(folder + "/*.v2")[0])]
      >>> events[1].summary.value[0].tag, events[1].summary.value[0].simple_value
      ('loss', 0.5)
    """
    if logdir is None:
        return NoopSummaryWriter()
    logdir = str(logdir)
    with device("cpu:0"):
        arguments = [
            logdir,
            constant(10) if max_queue is None else max_queue,
            constant(2 * 60 * 1000) if flush_millis is None else flush_millis,
            constant(".v2") if filename_suffix is None else filename_suffix,
        ]
        return ResourceSummaryWriter("logdir:" + logdir if name is None else name, arguments)


def create_summary_file_writer(*args: Any, **kwargs: Any) -> SummaryWriter:
    """Returns `create_file_writer(*args, **kwargs)`: an earlier name.

    Args:
      *args: The arguments of `create_file_writer`.
      **kwargs: Named ones.

    Example:
      >>> type(tf.contrib.summary.create_summary_file_writer(None)).__name__
      'NoopSummaryWriter'
    """
    logging.warning("Deprecation Warning: create_summary_file_writer was renamed to create_file_writer")
    return create_file_writer(*args, **kwargs)


def create_db_writer(
    db_uri: str, experiment_name: Optional[str] = None, run_name: Optional[str] = None, user_name: Optional[str] = None, name: Optional[str] = None
) -> SummaryWriter:
    """Raises an error: there is no writer to databases.

    Args:
      db_uri: The database.
      experiment_name: The name of an experiment.
      run_name: The name of a run.
      user_name: The name of a user.
      name: A name of the writer.

    Raises:
      NotImplementedError: Always.

    Example:
      >>> tf.contrib.summary.create_db_writer("file:summaries.db")
      Traceback (most recent call last):
        ...
      NotImplementedError: ... use `tf.contrib.summary.create_file_writer`
    """
    raise NotImplementedError("summaries are not written to databases: use `tf.contrib.summary.create_file_writer`")


# When summaries are written -----------------------------------------------------------------------------


def should_record_summaries() -> Any:
    """Returns whether summaries are written: a bool tensor, false unless a function such as
    `always_record_summaries` says otherwise.

    Example:
      >>> with tf.contrib.summary.always_record_summaries():
      ...     print(tf.Session().run(tf.contrib.summary.should_record_summaries()))
      True
    """
    return _should_record(_condition())


def _condition() -> Any:
    condition = _settings.condition() if callable(_settings.condition) else _settings.condition
    return False if condition is None else condition


def _should_record(condition: Any) -> Any:
    return raw("LogicalAnd")(x=True, y=condition)


@contextlib.contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Returns a context manager in which summaries are written if a condition is true.

    Args:
      condition: A bool, a bool tensor, or a function that returns one.
    """
    before = _settings.condition
    try:
        _settings.condition = condition
        yield
    finally:
        _settings.condition = before


def record_summaries_every_n_global_steps(n: Any, global_step: Any = None) -> Any:
    """Returns a context manager in which summaries are written in every n-th step.

    Args:
      n: The number of steps.
      global_step: The step; by default the global step, which is created if there is none.

    Example:
      >>> step = tf.placeholder(tf.int64, [])
      >>> with tf.contrib.summary.record_summaries_every_n_global_steps(2, step):
      ...     should = tf.contrib.summary.should_record_summaries()
      >>> [bool(tf.Session().run(should, {step: i})) for i in (0, 1, 2)]
      [True, False, True]
    """
    if global_step is None:
        global_step = training_util.get_or_create_global_step()
    with device("cpu:0"):
        should = math_ops.equal(global_step % n, 0)
    return record_if(should)


def always_record_summaries() -> Any:
    """Returns a context manager in which summaries are written in every step.

    Example:
      >>> with tf.contrib.summary.always_record_summaries():
      ...     print(tf.Session().run(tf.contrib.summary.should_record_summaries()))
      True
    """
    return record_if(True)


def never_record_summaries() -> Any:
    """Returns a context manager in which no summaries are written.

    Example:
      >>> with tf.contrib.summary.never_record_summaries():
      ...     print(tf.Session().run(tf.contrib.summary.should_record_summaries()))
      False
    """
    return record_if(False)


# Writers ------------------------------------------------------------------------------------------------


def initialize(graph: Any = None, session: Any = None) -> None:
    """Opens the files of all writers of the default graph.

    Args:
      graph: A graph to write, or None.
      session: The session that runs the operations; by default the default session.

    Raises:
      RuntimeError: There is no default writer.
      ValueError: There is no session.

    Example:
      >>> import tempfile
      >>> with tf.contrib.summary.create_file_writer(tempfile.mkdtemp()).as_default(), tf.Session():
      ...     step = tf.train.create_global_step()
      ...     tf.contrib.summary.initialize(graph=tf.get_default_graph())
    """
    if _settings.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    if session is None:
        session = get_default_session()
        if session is None:
            raise ValueError("session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        x = placeholder(dtypes.string)
        session.run(_write_graph(x, 0), feed_dict={x: _serialized(graph)})


def summary_writer_initializer_op() -> List[Any]:
    """Returns the operations that open the files of all writers of the default graph.

    Example:
      >>> tf.contrib.summary.summary_writer_initializer_op()
      []
    """
    return get_collection(_INITIALIZERS)


def all_summary_ops() -> List[Any]:
    """Returns the operations of the default graph that write summaries.

    Example:
      >>> tf.contrib.summary.all_summary_ops()
      []
    """
    return get_collection(_SUMMARIES)


def flush(writer: Any = None, name: Optional[str] = None) -> Any:
    """Returns an operation that writes what is in memory to the file.

    Args:
      writer: The writer; by default the default one. Without any, the operation does nothing.
      name: A name for the operation.

    Example:
      >>> tf.contrib.summary.flush().type
      'NoOp'
    """
    writer = _settings.writer if writer is None else writer
    if writer is None:
        return control_flow.no_op()
    file = writer._resource if isinstance(writer, ResourceSummaryWriter) else writer
    with device("cpu:0"):
        return _call(file.flush, [], name or "FlushSummaryWriter")


def eval_dir(model_dir: str, name: Optional[str] = None) -> str:
    """Returns the directory of the summaries of an evaluation.

    Args:
      model_dir: The directory of the model.
      name: The name of the evaluation, or None.

    Example:
      >>> tf.contrib.summary.eval_dir("/model", "test")
      '/model/eval_test'
    """
    return os.path.join(model_dir, "eval" if not name else "eval_" + name)


# Summaries ----------------------------------------------------------------------------------------------


def _step(step: Any) -> Any:
    if step is None:
        return training_util.get_or_create_global_step()
    return step if isinstance(step, Tensor) else convert_to_tensor(step, dtypes.int64)


def _written(name: str, tensor: Any, family: Optional[str], step: Any, summary: Callable[[str, Any], Any], kind: str) -> Any:
    """Returns whether a summary is written, as a tensor that writes it; an operation without a writer."""
    writer = _settings.writer
    around = get_default_graph().get_name_scope()

    def add(step: Any, message: bytes) -> None:
        event = summaries.FileWriter._event(step=int(step))
        event.summary.ParseFromString(message)
        writer._resource.add(event)

    def record() -> Tensor:
        with name_scope(around + "/" if around else ""), summaries._scope(name, family, kind, [tensor]) as (tag, scope):
            at = _step(step)
            made = _call(add, [at, summary(tag, array_ops.identity(tensor))], scope)
            with control_dependencies([made]):
                return constant(True)

    if writer is None:
        return control_flow.no_op()
    with device("cpu:0"):
        condition = _condition()
        should = _should_record(condition)
        known = constant_value(condition) if isinstance(condition, Tensor) else bool(condition)
        if known is None:
            made = control_flow.cond(should, record, lambda: constant(False))
        else:
            made = record() if known else constant(False)
        add_to_collection(_SUMMARIES, made)
    return made


def scalar(name: str, tensor: Any, family: Optional[str] = None, step: Any = None) -> Any:
    """Writes a number.

    Args:
      name: The tag.
      tensor: A scalar.
      family: A prefix of the tag.
      step: The step; by default the global step.

    Returns:
      An operation or tensor to run: one of `all_summary_ops()`.

    Example:
      >>> tf.contrib.summary.scalar("loss", 0.5).type  # There is no writer.
      'NoOp'
    """
    return _written(name, tensor, family, step, lambda tag, x: raw("ScalarSummary")(tags=tag, values=x), "ScalarSummary")


def histogram(name: str, tensor: Any, family: Optional[str] = None, step: Any = None) -> Any:
    """Writes a histogram of values.

    Args:
      name: The tag.
      tensor: A tensor of numbers.
      family: A prefix of the tag.
      step: The step; by default the global step.

    Returns:
      An operation or tensor to run: one of `all_summary_ops()`.

    Example:
      >>> tf.contrib.summary.histogram("weights", [0.5]).type  # There is no writer.
      'NoOp'
    """
    return _written(name, tensor, family, step, lambda tag, x: raw("HistogramSummary")(tag=tag, values=x), "HistogramSummary")


def image(name: str, tensor: Any, bad_color: Any = None, max_images: int = 3, family: Optional[str] = None, step: Any = None) -> Any:
    """Writes images.

    Args:
      name: The tag.
      tensor: A tensor of `uint8` or floats, of shape `[batch, height, width, channels]` with 1, 3 or 4
        channels.
      bad_color: The colour of pixels that are not finite: an array of four `uint8`, by default red.
      max_images: The largest number of images.
      family: A prefix of the tag.
      step: The step; by default the global step.

    Returns:
      An operation or tensor to run: one of `all_summary_ops()`.

    Raises:
      NotImplementedError: `bad_color` is a tensor.

    Example:
      >>> tf.contrib.summary.image("picture", tf.zeros([1, 2, 2, 3])).type  # There is no writer.
      'NoOp'
    """
    if isinstance(bad_color, Tensor):
        raise NotImplementedError("`bad_color` must be an array: an image summary has a constant colour for pixels that are not finite")
    color = {} if bad_color is None else {"bad_color": np.asarray(bad_color, np.uint8)}
    return _written(name, tensor, family, step, lambda tag, x: raw("ImageSummary")(tag=tag, tensor=x, max_images=max_images, **color), "ImageSummary")


def audio(name: str, tensor: Any, sample_rate: Any, max_outputs: int, family: Optional[str] = None, step: Any = None) -> Any:
    """Writes audio clips.

    Args:
      name: The tag.
      tensor: A `float32` tensor with values from -1 to 1, of shape `[batch, frames]` or `[batch, frames,
        channels]`.
      sample_rate: The sample rate in hertz.
      max_outputs: The largest number of clips.
      family: A prefix of the tag.
      step: The step; by default the global step.

    Returns:
      An operation or tensor to run: one of `all_summary_ops()`.

    Example:
      >>> tf.contrib.summary.audio("sound", tf.zeros([1, 9]), 8000.0, 1).type  # There is no writer.
      'NoOp'
    """

    def made(tag: str, x: Any) -> Any:
        rate = convert_to_tensor(sample_rate, dtypes.float32)
        return raw("AudioSummaryV2")(tag=tag, tensor=x, sample_rate=rate, max_outputs=max_outputs)

    return _written(name, tensor, family, step, made, "AudioSummaryV2")


def generic(name: str, tensor: Any, metadata: Any = None, family: Optional[str] = None, step: Any = None) -> Any:
    """Writes a tensor of any dtype and shape.

    Args:
      name: The tag.
      tensor: A tensor.
      metadata: A `SummaryMetadata`, serialized or not; or a string tensor.
      family: A prefix of the tag.
      step: The step; by default the global step.

    Returns:
      An operation or tensor to run: one of `all_summary_ops()`.

    Example:
      >>> tf.contrib.summary.generic("values", [1, 2]).type  # There is no writer.
      'NoOp'
    """

    def made(tag: str, x: Any) -> Any:
        message = b"" if metadata is None else metadata.SerializeToString() if hasattr(metadata, "SerializeToString") else metadata
        return raw("TensorSummaryV2")(tensor=x, tag=tag, serialized_summary_metadata=message)

    return _written(name, tensor, family, step, made, "TensorSummaryV2")


def _serialized(graph: Any) -> bytes:
    message = graph.as_graph_def(add_shapes=True) if isinstance(graph, Graph) else graph
    return message.SerializeToString()  # type: ignore[no-any-return]


def graph(param: Any, step: Any = None, name: Optional[str] = None) -> Any:
    """Writes a graph.

    Args:
      param: A string tensor: a serialized `GraphDef`, such as a placeholder for one.
      step: The step; by default the global step.
      name: A name for the operation.

    Returns:
      An operation to run.

    Raises:
      TypeError: `param` is not a tensor.

    Example:
      >>> tf.contrib.summary.graph(tf.placeholder(tf.string)).type  # There is no writer.
      'NoOp'
    """
    if not isinstance(param, Tensor):
        raise TypeError("graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode, but was: %s" % type(param))
    return _write_graph(param, step, name)


def _write_graph(param: Tensor, step: Any = None, name: Optional[str] = None) -> Any:
    writer = _settings.writer
    if writer is None:
        return control_flow.no_op()

    def add(step: Any, message: bytes) -> None:
        writer._resource.add(summaries.FileWriter._event(step=int(step), graph_def=message))

    with device("cpu:0"):
        serialized = array_ops.identity(param)
        return _call(add, [_step(step), serialized], name or "WriteGraphSummary")


def import_event(tensor: Any, name: Optional[str] = None) -> Any:
    """Writes an event.

    Args:
      tensor: A string scalar: a serialized `Event`.
      name: A name for the operation.

    Returns:
      An operation to run.

    Raises:
      RuntimeError: There is no default writer.

    Example:
      >>> import tempfile
      >>> with tf.contrib.summary.create_file_writer(tempfile.mkdtemp()).as_default():
      ...     tf.contrib.summary.import_event(tf.Event(step=3).SerializeToString()).type
      'PyFunc'
    """
    writer = _settings.writer
    if writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    return _call(lambda message: writer._resource.add(protos.Event.FromString(message)), [tensor], name or "ImportEvent")


__dir__ = namespaces.dir_of(globals())
