"""`Supervisor`: training that saves and writes summaries itself, the predecessor of `MonitoredSession`."""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any, Callable, Iterator, List, Optional

from millstream.framework import add_to_collection, errors, get_collection, get_default_graph, logging, protos
from millstream.framework.graph_keys import GraphKeys
from millstream.io import summaries
from millstream.io.graph_files import write_graph
from millstream.io.lookup_ops import tables_initializer
from millstream.ops import control_flow
from millstream.train import training_util
from millstream.train.checkpoints import latest_checkpoint
from millstream.train.coordinator import Coordinator, LooperThread
from millstream.train.saver import Saver
from millstream.train.session_manager import SessionManager
from millstream.train.training_util import get_global_step
from millstream.variables.collections import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)

# The default of arguments that the supervisor creates; None means that it has none.
_USE_DEFAULT = 0


def _is_default(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value == _USE_DEFAULT


class Supervisor:
    """A coordinator, a saver, a summary writer and a session manager for a graph, with their threads.

    Work within its `managed_session`, `while not sv.should_stop()`. Parts that are not given are taken from
    the graph's collections, or created.

    Args:
      graph: The graph; by default the default graph.
      ready_op: A string tensor: the names of uninitialized variables.
      ready_for_local_init_op: A string tensor: the names of uninitialized variables that `local_init_op`
        needs.
      is_chief: If true, this process initializes and saves the model.
      init_op: The operation that initializes the model.
      init_feed_dict: The feeds of `init_op`.
      local_init_op: The operation that initializes state that is not saved.
      logdir: The directory of checkpoints and summaries; None for neither.
      summary_op: The merged summaries; None for none.
      saver: A `Saver`; None for none.
      global_step: The global step.
      save_summaries_secs: The interval of summaries in seconds.
      save_model_secs: The interval of checkpoints in seconds; 0 for none.
      recovery_wait_secs: The interval in seconds at which to check whether the model is ready.
      stop_grace_secs: The time in seconds that threads have to end.
      checkpoint_basename: The base name of checkpoint files.
      session_manager: A `SessionManager`.
      summary_writer: A `FileWriter`; None for none.
      init_fn: A function of the session, called after `init_op`.
      local_init_run_options: `RunOptions` for `local_init_op`.

    Example:
      >>> v = tf.Variable(3)
      >>> sv = tf.train.Supervisor()
      >>> with sv.managed_session() as sess:
      ...     print(sess.run(v), sv.should_stop())
      ...     looper = sv.loop(None, lambda: sv.request_stop(), [])
      ...     sv.wait_for_stop()
      3 False
      >>> (sv.should_stop(), sv.is_chief, type(sv.session_manager).__name__, type(sv.coord).__name__,
      ...  type(sv.saver).__name__)
      (True, True, 'SessionManager', 'Coordinator', 'Saver')
      >>> sv.init_op.type, sv.init_feed_dict, sv.ready_op.dtype, sv.ready_for_local_init_op
      ('NoOp', None, tf.string, None)
      >>> (sv.summary_writer, sv.summary_op, sv.save_summaries_secs, sv.global_step, sv.save_model_secs,
      ...  sv.save_path)
      (None, None, 120, None, 600, None)
      >>> sv = tf.train.Supervisor()
      >>> sess = sv.prepare_or_wait_for_session(start_standard_services=False)
      >>> sv.start_standard_services(sess), sv.start_queue_runners(sess)
      (None, [])
      >>> with sv.stop_on_exception():
      ...     print(sess.run(v))
      3
      >>> sv.stop()
    """

    USE_DEFAULT = _USE_DEFAULT

    def __init__(
        self,
        graph: Any = None,
        ready_op: Any = USE_DEFAULT,
        ready_for_local_init_op: Any = USE_DEFAULT,
        is_chief: bool = True,
        init_op: Any = USE_DEFAULT,
        init_feed_dict: Any = None,
        local_init_op: Any = USE_DEFAULT,
        logdir: Optional[str] = None,
        summary_op: Any = USE_DEFAULT,
        saver: Any = USE_DEFAULT,
        global_step: Any = USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: Any = None,
        summary_writer: Any = USE_DEFAULT,
        init_fn: Optional[Callable[[Any], None]] = None,
        local_init_run_options: Any = None,
    ) -> None:
        self._graph = graph or get_default_graph()
        self._is_chief = is_chief
        self._logdir = logdir or None
        self._save_summaries_secs, self._save_model_secs = save_summaries_secs, save_model_secs
        self._stop_grace_secs = stop_grace_secs
        self._init_feed_dict, self._user_init_fn = init_feed_dict, init_fn
        self._coord = Coordinator()
        self._started_threads: List[Any] = []
        with self._graph.as_default():
            self._ready_op = self._made(ready_op, GraphKeys.READY_OP, report_uninitialized_variables)
            self._ready_for_local_init_op = self._made(
                ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None
            )
            self._init_op = self._made(init_op, GraphKeys.INIT_OP, global_variables_initializer)
            self._local_init_op = self._made(local_init_op, GraphKeys.LOCAL_INIT_OP, _local_init)
            has_variables = bool(global_variables())
            self._saver = self._made(saver, GraphKeys.SAVERS, lambda: Saver() if has_variables else None)
            self._summary_op = self._made(summary_op, GraphKeys.SUMMARY_OP, summaries.merge_all)
            self._global_step = get_global_step() if _is_default(global_step) else global_step
        if not _is_default(summary_writer):
            self._summary_writer = summary_writer
        else:
            self._summary_writer = summaries.FileWriter(self._logdir) if self._logdir and is_chief else None
        self._save_path = os.path.join(self._logdir, checkpoint_basename) if self._logdir else None
        self._session_manager = session_manager or SessionManager(
            local_init_op=self._local_init_op,
            ready_op=self._ready_op,
            # TensorFlow requires both or neither.
            ready_for_local_init_op=None if self._local_init_op is None else self._ready_for_local_init_op,
            graph=self._graph,
            recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
        )
        self._graph_is_written = False
        # Nothing is added from here on: `init_fn` and training steps run what is there.
        self._graph.finalize()

    @staticmethod
    def _made(given: Any, collection: str, make: Callable[[], Any]) -> Any:
        """Returns the given value, or the first of the collection, or a new one, which is added to it."""
        if not _is_default(given):
            return given
        found = get_collection(collection)
        if found:
            return found[0]
        value = make()
        if value is not None:
            add_to_collection(collection, value)
        return value

    is_chief = property(
        lambda self: self._is_chief, doc="Whether this process initializes and saves the model."
    )
    session_manager = property(lambda self: self._session_manager, doc="The session manager.")
    coord = property(lambda self: self._coord, doc="The coordinator of the threads.")
    init_op = property(lambda self: self._init_op, doc="The operation that initializes the model.")
    init_feed_dict = property(lambda self: self._init_feed_dict, doc="The feeds of `init_op`.")
    ready_op = property(
        lambda self: self._ready_op, doc="A string tensor: the names of uninitialized variables."
    )
    ready_for_local_init_op = property(
        lambda self: self._ready_for_local_init_op, doc="The uninitialized variables that `local_init_op` needs."
    )
    summary_writer = property(lambda self: self._summary_writer, doc="The summary writer, or None.")
    summary_op = property(lambda self: self._summary_op, doc="The merged summaries, or None.")
    save_summaries_secs = property(
        lambda self: self._save_summaries_secs, doc="The interval of summaries in seconds."
    )
    global_step = property(lambda self: self._global_step, doc="The global step, or None.")
    saver = property(lambda self: self._saver, doc="The saver, or None.")
    save_model_secs = property(
        lambda self: self._save_model_secs, doc="The interval of checkpoints in seconds."
    )
    save_path = property(lambda self: self._save_path, doc="The path prefix of checkpoints, or None.")

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Any:
        """Returns a session that is ready, with queue runners and, on the chief, standard services started.

        Args:
          master: Empty.
          config: A `ConfigProto`.
          wait_for_checkpoint: If true, waits for a checkpoint.
          max_wait_secs: The time to wait, in seconds.
          start_standard_services: If true, the threads that save checkpoints and summaries are started.

        Returns:
          A `Session`.
        """
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if not self._is_chief:
            sess = self._session_manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        else:
            sess = self._session_manager.prepare_session(
                master,
                init_op=self._init_op,
                saver=self._saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self._init_feed_dict,
                init_fn=self._user_init_fn,
            )
            self._write_graph()
            if start_standard_services:
                self.start_standard_services(sess)
        self.start_queue_runners(sess)
        return sess

    def _write_graph(self) -> None:
        """Writes the graph to the folder, and once to the event file."""
        described = self._graph.as_graph_def(add_shapes=True)
        if self._logdir:
            write_graph(described, self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_is_written:
            self._summary_writer.add_graph(self._graph)
            message = protos.MetaGraphDef(graph_def=described)
            if self._saver:
                message.saver_def.CopyFrom(self._saver.as_saver_def())
            self._summary_writer.add_meta_graph(message)
            self._graph_is_written = True

    def start_standard_services(self, sess: Any) -> Optional[List[Any]]:
        """Starts the threads that save checkpoints and summaries at intervals. Only the chief has them.

        Args:
          sess: The session.

        Returns:
          A list of threads; None without a `logdir`.

        Raises:
          RuntimeError: This process is not the chief.
        """
        if not self._is_chief:
            raise RuntimeError("Only chief supervisor can start standard services. Because only chief supervisors can write events.")
        if not self._logdir:
            logging.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        if self._global_step is not None and self._summary_writer:
            # Readers of the event file drop what an earlier process wrote of later steps.
            self._log_session(protos.SessionLog.START, training_util.global_step(sess, self._global_step))
        threads = []
        if self._save_summaries_secs and self._summary_writer:
            if self._summary_op is not None:
                threads.append(self.loop(self._save_summaries_secs, self._summarize, args=(sess,)))
            if self._global_step is not None:
                # The step and the time when it was last counted.
                self._counted = training_util.global_step(sess, self._global_step), time.time()
                threads.append(self.loop(self._save_summaries_secs, self._count_steps, args=(sess,)))
        if self._saver and self._save_model_secs:
            threads.append(self.loop(self._save_model_secs, self._save_at_times, args=(sess,)))
        return threads

    def _log_session(self, status: Any, step: Any = None, **fields: Any) -> None:
        self._summary_writer.add_session_log(protos.SessionLog(status=status, **fields), step)

    def _summarize(self, sess: Any) -> None:
        if self._global_step is None:
            self.summary_computed(sess, sess.run(self._summary_op))
        else:
            summary, step = sess.run([self._summary_op, self._global_step])
            self.summary_computed(sess, summary, step)

    def _count_steps(self, sess: Any) -> None:
        """Writes the number of steps in a second since the last call."""
        step, now = training_util.global_step(sess, self._global_step), time.time()
        (before, then), self._counted = self._counted, (step, now)
        seconds = now - then
        rate = (step - before) / seconds if seconds else float("inf")
        value = protos.Summary.Value(tag="%s/sec" % self._global_step.op.name, simple_value=rate)
        self._summary_writer.add_summary(protos.Summary(value=[value]), step)
        logging.info("%s/sec: %g", self._global_step.op.name, rate)

    def _save(self, sess: Any) -> None:
        self._saver.save(sess, self._save_path, global_step=self._global_step)

    def _save_at_times(self, sess: Any) -> None:
        self._save(sess)
        if self._summary_writer and self._global_step is not None:
            self._log_session(protos.SessionLog.CHECKPOINT, training_util.global_step(sess, self._global_step), checkpoint_path=self._save_path)

    def start_queue_runners(self, sess: Any, queue_runners: Any = None) -> List[Any]:
        """Starts queue runners, by default those of the graph's collection.

        Args:
          sess: The session.
          queue_runners: A list of `QueueRunner`s.

        Returns:
          A list of the threads.
        """
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        threads = []
        for runner in queue_runners:
            threads += runner.create_threads(sess, coord=self._coord, daemon=True, start=True)
        self._started_threads += threads
        return threads

    def loop(self, timer_interval_secs: Optional[float], target: Any, args: Any = None, kwargs: Any = None) -> LooperThread:
        """Starts a thread that calls `target` until the supervisor stops.

        Args:
          timer_interval_secs: The time between the starts of two calls, in seconds; None for no pause.
          target: The function to call.
          args: A list of positional arguments for it.
          kwargs: A dict of keyword arguments for it.

        Returns:
          The running `LooperThread`.
        """
        looper = LooperThread(self._coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        self._started_threads.append(looper)
        return looper

    def should_stop(self) -> bool:
        """Returns whether a stop was requested."""
        return self._coord.should_stop()

    def stop_on_exception(self) -> Any:
        """A context manager that requests a stop when its block raises an exception."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Waits until a stop is requested."""
        self._coord.wait_for_stop()

    def request_stop(self, ex: Any = None) -> None:
        """Requests a stop."""
        self._coord.request_stop(ex=ex)

    def stop(self, threads: Any = None, close_summary_writer: bool = True, ignore_live_threads: bool = False) -> None:
        """Stops the threads, waits for them, and raises the first error reported.

        Args:
          threads: A list of further threads to wait for.
          close_summary_writer: If true, the summary writer is closed.
          ignore_live_threads: If true, threads that do not end in time are only logged.
        """
        self._coord.request_stop()
        try:
            # The coordinator also waits for threads that others registered.
            self._coord.join(threads, stop_grace_period_secs=self._stop_grace_secs, ignore_live_threads=ignore_live_threads)
        finally:
            if close_summary_writer and self._summary_writer:
                self._log_session(protos.SessionLog.STOP)
                self._summary_writer.close()
                self._graph_is_written = False
            self._started_threads = []

    def summary_computed(self, sess: Any, summary: Any, global_step: Any = None) -> None:
        """Adds a summary to the event file.

        Args:
          sess: The session.
          summary: A `Summary`, or a serialized one.
          global_step: The step; by default the session's global step.

        Raises:
          RuntimeError: There is no summary writer.

        Example:
          >>> import tempfile
          >>> folder = tempfile.mkdtemp()
          >>> sv = tf.train.Supervisor(logdir=folder, summary_op=None)
          >>> with sv.managed_session() as sess:
          ...     sv.summary_computed(sess,
          ...         tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]), global_step=1)
        """
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self._global_step is not None:
            global_step = training_util.global_step(sess, self._global_step)
        self._summary_writer.add_summary(summary, global_step)

    @contextlib.contextmanager
    def managed_session(
        self,
        master: str = "",
        config: Any = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Any]:
        """A context manager for a session that is ready.

        At the end of the block, threads are stopped and the session is closed; errors are raised. As in
        TensorFlow, the model is not saved at the end: `sv.saver.save(sess, sv.save_path)` does that.

        Args:
          master: Empty.
          config: A `ConfigProto`.
          start_standard_services: If true, the threads that save checkpoints and summaries are started.
          close_summary_writer: If true, the summary writer is closed at the end.

        Returns:
          A context manager that yields the session.
        """
        sess: Any = None
        try:
            sess = self.prepare_or_wait_for_session(master=master, config=config, start_standard_services=start_standard_services)
            yield sess
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                # Queue runners may wait for room in a queue that nobody reads any more: they end with the
                # session.
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if sess is not None:
                    with contextlib.suppress(Exception):
                        sess.close()

    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    RequestStop = request_stop
    Stop = stop
    SummaryComputed = summary_computed


def _local_init() -> Any:
    """Returns an operation that initializes local variables and tables."""
    return control_flow.group(local_variables_initializer(), tables_initializer())


def basic_train_loop(supervisor: Supervisor, train_step_fn: Callable[..., Any], args: Any = None, kwargs: Any = None, master: str = "") -> None:
    """Calls `train_step_fn(session, *args, **kwargs)` until the supervisor stops.

    An aborted session is created again.

    Args:
      supervisor: A `Supervisor`.
      train_step_fn: A function.
      args: A list of positional arguments for it.
      kwargs: A dict of keyword arguments for it.
      master: Empty.

    Example:
      >>> n = tf.Variable(0)
      >>> more = n.assign_add(1)
      >>> sv = tf.train.Supervisor()
      >>> def step(sess):
      ...     if sess.run(more) == 3:
      ...         sv.request_stop()
      ...         print("enough")
      >>> tf.train.basic_train_loop(sv, step)
      enough
    """
    args, kwargs = list(args or []), kwargs or {}
    should_retry = True
    while should_retry:
        try:
            should_retry = False
            with supervisor.managed_session(master) as sess:
                while not supervisor.should_stop():
                    train_step_fn(sess, *args, **kwargs)
        except errors.AbortedError:
            should_retry = True


def checkpoints_iterator(
    checkpoint_dir: str, min_interval_secs: float = 0, timeout: Optional[float] = None, timeout_fn: Optional[Callable[[], bool]] = None
) -> Iterator[str]:
    """Yields the checkpoints of a directory as they appear, each once.

    Args:
      checkpoint_dir: The directory.
      min_interval_secs: The shortest time between two checkpoints, in seconds.
      timeout: The time without a new checkpoint after which the iterator ends, in seconds.
      timeout_fn: A function called on timeout; the iterator ends if it returns true.

    Returns:
      An iterator of checkpoint paths.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> v = tf.Variable(1.0)
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = tf.train.Saver().save(sess, folder + "/model")
      >>> [p == path for p in tf.train.checkpoints_iterator(folder, timeout=0)]
      [True]
    """
    last = None
    while True:
        new = _wait_for_new(checkpoint_dir, last, timeout)
        if new is None:
            if not timeout_fn or timeout_fn():
                logging.info("Timed-out waiting for a checkpoint.")
                return
            continue
        start, last = time.monotonic(), new
        yield new
        wait = start + min_interval_secs - time.monotonic()
        if 0 < wait:
            time.sleep(wait)


def _wait_for_new(folder: str, last: Optional[str], timeout: Optional[float]) -> Optional[str]:
    give_up = None if timeout is None else time.monotonic() + timeout
    while True:
        latest = latest_checkpoint(folder)
        if latest is not None and latest != last:
            return latest
        if give_up is not None and give_up < time.monotonic() + 1:
            return None
        time.sleep(1)
