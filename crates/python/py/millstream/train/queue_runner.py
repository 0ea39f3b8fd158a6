"""`QueueRunner`: threads that keep a queue filled, and close it at the end of input.

The module also has the functions that keep runners in a collection of the graph, and start all of them.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any, List, Optional, Sequence, Tuple, Type

from millstream import _engine
from millstream.framework import errors, get_default_graph, logging, protos
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.scopes import prepend_name_scope, strip_name_scope
from millstream.framework.session import get_default_session
from millstream.train.coordinator import Coordinator

class _Gate:
    """Holds threads until all of them are started. If one cannot be, none runs."""

    def __init__(self) -> None:
        self._decided, self._open = threading.Event(), False

    def decide(self, may_pass: bool) -> None:
        self._open = may_pass
        self._decided.set()

    def passes(self) -> bool:
        self._decided.wait()
        return self._open


ClosedTypes = Tuple[Type[errors.OpError], ...]


class QueueRunner:
    """A queue and its enqueue operations, each of which is run by a thread of its own.

    Args:
      queue: The queue.
      enqueue_ops: A list of operations; a thread for each runs it repeatedly.
      close_op: The operation that closes the queue when the last thread reaches the end of its input; created
        by default.
      cancel_op: The operation that closes the queue and cancels pending enqueues when the coordinator stops;
        created by default.
      queue_closed_exception_types: A tuple of the error classes that mean the end of input; by default
        `OutOfRangeError`.
      queue_runner_def: A `QueueRunnerDef` written by `to_proto`, instead of all of these.
      import_scope: The name scope that the graph of `queue_runner_def` was imported into.

    Raises:
      ValueError: Both or neither of `queue_runner_def` and a queue are given, or `enqueue_ops` is empty.
      TypeError: `queue_closed_exception_types` is not a tuple of error classes.

    Example:
      >>> q = tf.FIFOQueue(10, tf.float32, shapes=[[]], name="q")
      >>> runner = tf.train.QueueRunner(q, [q.enqueue(tf.constant(1.5))] * 2)
      >>> runner.name, runner.queue is q, len(runner.enqueue_ops), runner.close_op.type, runner.cancel_op.type
      ('q', True, 2, 'QueueCloseV2', 'QueueCloseV2')
      >>> runner.queue_closed_exception_types, runner.exceptions_raised
      ((<class 'millstream.errors.OutOfRangeError'>,), [])
      >>> tf.train.QueueRunner.from_proto(runner.to_proto()).name
      'q'
      >>> get = q.dequeue()
      >>> coord = tf.train.Coordinator()
      >>> with tf.Session() as sess:
      ...     threads = runner.create_threads(sess, coord, daemon=True, start=True)
      ...     print(len(threads), sess.run(get))
      ...     coord.request_stop()
      ...     coord.join(threads)
      3 1.5
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Optional[Sequence[Any]] = None,
        close_op: Any = None,
        cancel_op: Any = None,
        queue_closed_exception_types: Optional[ClosedTypes] = None,
        queue_runner_def: Any = None,
        import_scope: Optional[str] = None,
    ) -> None:
        if queue_runner_def:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._init_from_proto(queue_runner_def, import_scope)
        else:
            self._init_from_args(queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types)
        # Guards the two fields below: the number of active threads of each session, and the errors they
        # raised.
        self._lock = threading.Lock()
        self._runs_per_session: Any = weakref.WeakKeyDictionary()
        self._exceptions_raised: List[BaseException] = []

    def _init_from_args(
        self, queue: Any, enqueue_ops: Any, close_op: Any, cancel_op: Any, closed_types: Optional[ClosedTypes]
    ) -> None:
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        if closed_types is not None:
            are_types = isinstance(closed_types, tuple) and bool(closed_types)
            if not are_types or not all(isinstance(t, type) and issubclass(t, errors.OpError) for t in closed_types):
                shown = closed_types[0] if isinstance(closed_types, tuple) and len(closed_types) == 1 else closed_types
                raise TypeError(
                    f"queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: {shown}"
                )
        self._queue = queue
        self._enqueue_ops = enqueue_ops
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self._queue_closed_exception_types: ClosedTypes = closed_types or (errors.OutOfRangeError,)

    def _init_from_proto(self, queue_runner_def: Any, import_scope: Optional[str]) -> None:
        message = protos.as_message("QueueRunnerDef", queue_runner_def)
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(prepend_name_scope(name, import_scope))

        self._queue = element(message.queue_name)
        self._enqueue_ops = [element(name) for name in message.enqueue_op_name]
        self._close_op = element(message.close_op_name)
        self._cancel_op = element(message.cancel_op_name)
        codes = message.queue_closed_exception_types
        # Files written before TensorFlow had this field lack it.
        self._queue_closed_exception_types = tuple(errors.exception_type_from_error_code(c) for c in codes) or (
            errors.OutOfRangeError,
        )

    @property
    def queue(self) -> Any:
        """The queue."""
        return self._queue

    @property
    def enqueue_ops(self) -> Sequence[Any]:
        """The enqueue operations, one for each thread."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        """The operation that closes the queue; pending enqueues complete."""
        return self._close_op

    @property
    def cancel_op(self) -> Any:
        """The operation that closes the queue and cancels pending enqueues."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> ClosedTypes:
        """The error classes that mean the end of input."""
        return self._queue_closed_exception_types

    @property
    def exceptions_raised(self) -> List[BaseException]:
        """The exceptions of threads that ran without a coordinator, which otherwise gets them."""
        return self._exceptions_raised

    @property
    def name(self) -> str:
        """The name of the queue."""
        return self._queue.name

    def _added_to_collection(self, graph: Any, collection: str) -> None:
        """Tells the engine of the runner. A run that waits for the queue of a forgotten runner names it."""
        which = "" if collection == GraphKeys.QUEUE_RUNNERS else f", collection={collection!r}"
        call = f"`tf.train.start_queue_runners(sess, coord{which})`, before the run"
        names = [op.name for op in self._enqueue_ops]
        graph._announce_runner(self.name, names, self._close_op.name, self._cancel_op.name, call)

    def _run(self, sess: Any, enqueue_op: Any, coord: Optional[Coordinator] = None, gate: Optional[_Gate] = None) -> None:
        """The body of a thread: enqueues until the input ends, the coordinator stops, or an error occurs."""
        if gate is not None and not gate.passes():
            return
        ended: Optional[BaseException] = None
        _tell(sess, "_runner_started", self.name)
        try:
            try:
                _repeat(self._enqueuing(sess, enqueue_op), coord)
            except self._queue_closed_exception_types as error:
                was_last = self._one_less(sess)
                ended = error if was_last else None
            else:
                self._one_less(sess)
            if ended is not None:
                self._close(sess, self._close_op, f"the input of its runner came to its end: {_first_line(ended)}")
        except Exception as error:
            self._one_less(sess)
            if coord is not None:
                coord.request_stop(error)
                return
            _tell(sess, "_runner_failed", self.name, _first_line(error))
            logging.error("Exception in QueueRunner: %s", str(error))
            with self._lock:
                self._exceptions_raised.append(error)
            raise

    def _enqueuing(self, sess: Any, enqueue_op: Any) -> Any:
        """Returns the function that runs an enqueue operation once."""
        return sess.make_callable(enqueue_op)

    def _one_less(self, sess: Any) -> bool:
        """Counts a thread as finished. Returns whether it was the last."""
        with self._lock:
            self._runs_per_session[sess] -= 1
            return self._runs_per_session[sess] == 0

    @staticmethod
    def _close(sess: Any, op: Any, why: str) -> None:
        """Runs an operation that closes the queue, which tells the reason to those who wait for it."""
        # Errors are ignored: the session or the queue may be closed already.
        try:
            if hasattr(sess, "_close_queue"):
                sess._close_queue(op, why)
            else:
                sess.run(op)
        except Exception as error:
            logging.vlog(1, "Ignored exception: %s", str(error))

    def _close_on_stop(self, sess: Any, cancel_op: Any, coord: Coordinator, gate: Optional[_Gate] = None) -> None:
        """The body of the thread that closes the queue when the coordinator stops."""
        if gate is not None and not gate.passes():
            return
        # It can do nothing for the others, which the engine has to know if all of them wait.
        _engine.asleep(coord.wait_for_stop)
        error = coord._first_error()
        why = "the coordinator was asked to stop" if error is None else f"the coordinator stopped: {_first_line(error)}"
        self._close(sess, cancel_op, f"{why} (runner of `{self.name}`)")

    def create_threads(
        self, sess: Any, coord: Optional[Coordinator] = None, daemon: bool = False, start: bool = False
    ) -> List[threading.Thread]:
        """Creates a thread for each enqueue operation. With a coordinator, one more closes the queue on stop.

        Args:
          sess: The session.
          coord: A `Coordinator` to register the threads with.
          daemon: If true, they are daemon threads: they end with the process.
          start: If true, they are started.

        Returns:
          A list of threads; empty while threads created earlier for this session are still active.

        Raises:
          RuntimeError: A thread cannot be started; those started before it end without running anything.
        """
        with self._lock:
            if 0 < self._runs_per_session.get(sess, 0):
                return []
            self._runs_per_session[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []

        name = f"QueueRunnerThread-{self.name}-"
        gate = _Gate() if start else None
        threads = [
            threading.Thread(target=self._run, args=(sess, op, coord, gate), name=name + op.name)
            for op in self._enqueue_ops
        ]
        if coord is not None:
            args = (sess, self._cancel_op, coord, gate)
            threads.append(threading.Thread(target=self._close_on_stop, args=args, name=name + "close_on_stop"))
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            if daemon:
                thread.daemon = True
        if gate is not None:
            try:
                for thread in threads:
                    thread.start()
            except BaseException:
                with self._lock:
                    self._runs_per_session[sess] = 0
                gate.decide(False)
                raise
            gate.decide(True)
        return threads

    def to_proto(self, export_scope: Optional[str] = None) -> Any:
        """Returns the runner as a `QueueRunnerDef`; None if the queue is outside of `export_scope`."""
        if export_scope is not None and not self.queue.name.startswith(export_scope):
            return None
        closed_types = self._queue_closed_exception_types
        return protos.QueueRunnerDef(
            queue_name=strip_name_scope(self.queue.name, export_scope),
            enqueue_op_name=[strip_name_scope(op.name, export_scope) for op in self.enqueue_ops],
            close_op_name=strip_name_scope(self.close_op.name, export_scope),
            cancel_op_name=strip_name_scope(self.cancel_op.name, export_scope),
            queue_closed_exception_types=[errors.error_code_from_exception_type(t) for t in closed_types],
        )

    @staticmethod
    def from_proto(queue_runner_def: Any, import_scope: Optional[str] = None) -> "QueueRunner":
        """Returns the runner in the default graph that a `QueueRunnerDef` describes.

        Args:
          queue_runner_def: A `QueueRunnerDef`.
          import_scope: The name scope that its graph was imported into.

        Returns:
          A `QueueRunner`.
        """
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


def _tell(sess: Any, method: str, *args: str) -> None:
    """Calls a method of the engine's session; other objects that run graphs lack it."""
    if hasattr(sess, method):
        getattr(sess, method)(*args)


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def _repeat(run: Any, coord: Optional[Coordinator]) -> None:
    """Calls `run` until it raises or the coordinator stops.

    The engine's callables have a loop of their own, `_repeat(stop)`, which does not compete for the
    interpreter's lock. It calls `stop()` from time to time, unless that is None, and ends when it returns
    true.
    """
    engine_loop = getattr(run, "_repeat", None)
    if engine_loop is not None:
        engine_loop(None if coord is None else coord.should_stop)
        return
    while coord is None or not coord.should_stop():
        run()


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Adds a runner to a collection of the default graph, where `start_queue_runners` finds it.

    Args:
      qr: The `QueueRunner`.
      collection: The collection's name.

    Example:
      >>> q = tf.FIFOQueue(10, tf.float32)
      >>> tf.train.add_queue_runner(tf.train.QueueRunner(q, [q.enqueue(1.0)]))
      >>> len(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS))
      1
    """
    get_default_graph().add_to_collection(collection, qr)


def start_queue_runners(
    sess: Any = None,
    coord: Optional[Coordinator] = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> List[threading.Thread]:
    """Starts the threads of all queue runners of a collection.

    Args:
      sess: The session; by default the default session.
      coord: A `Coordinator` for the threads.
      daemon: If true, they are daemon threads: they end with the process.
      start: If true, the threads are started; otherwise only created.
      collection: The collection's name.

    Returns:
      A list of the threads.

    Raises:
      ValueError: `sess` is None and there is no default session.
      TypeError: `sess` is not a session.

    Example:
      >>> rows = tf.train.batch([tf.train.range_input_producer(3, shuffle=False).dequeue()], 3)
      >>> with tf.Session() as sess:
      ...     coord = tf.train.Coordinator()
      ...     threads = tf.train.start_queue_runners(sess, coord)
      ...     print(sess.run(rows))
      ...     coord.request_stop()
      ...     coord.join(threads)
      [0 1 2]
    """
    if sess is None:
        sess = get_default_session()
        if not sess:
            raise ValueError(
                "Cannot start queue runners: No default session is registered. Use `with sess.as_default()` "
                "or pass an explicit session to tf.start_queue_runners(sess=sess)"
            )
    if type(sess).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
        return []
    if not all(hasattr(sess, word) for word in ("run", "graph")):
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    runners = get_default_graph().get_collection(collection)
    if not runners:
        logging.warning(
            "`tf.train.start_queue_runners()` was called when no queue runners were defined. "
            "You can safely remove the call to this deprecated function."
        )
    with sess.graph.as_default():
        threads = []
        for runner in get_default_graph().get_collection(collection):
            threads += runner.create_threads(sess, coord=coord, daemon=daemon, start=start)
    return threads
