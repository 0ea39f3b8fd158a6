"""Sessions: `Session` and `InteractiveSession`, and what they fetch and feed beside tensors. The running itself is the engine's."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple

from millstream import _engine, errors, logging
from millstream._engine import Operation, Tensor
from millstream.framework import Graph, IndexedSlices, IndexedSlicesValue, SparseTensor, SparseTensorValue, get_default_graph

atexit.register(_engine.ending)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_engine.forked)

# How many tensors whose handles are gone a session still keeps, as in TensorFlow.
_DEAD = 10
_sessions: Any = weakref.WeakSet()

_CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


class _DeviceAttributes:
    """A device that a session runs on."""

    def __init__(self, name: str, device_type: str, memory_limit_bytes: int, incarnation: int) -> None:
        self._name, self._device_type = name, device_type
        self._memory_limit_bytes, self._incarnation = memory_limit_bytes, incarnation

    name = property(lambda self: self._name, doc="Its whole name.")
    device_type = property(lambda self: self._device_type, doc='`"CPU"`.')
    memory_limit_bytes = property(lambda self: self._memory_limit_bytes, doc="How much memory it has.")
    incarnation = property(lambda self: self._incarnation, doc="A number that is another one for each process.")

    def __repr__(self) -> str:
        return "_DeviceAttributes(%s, %s, %d, %d)" % (self.name, self.device_type, self.memory_limit_bytes, self.incarnation)


def _memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 1 << 28  # What TensorFlow says where it does not know.


def _check_target(target: Any) -> bytes:
    if target is None:
        target = ""
    if not isinstance(target, (str, bytes)):
        raise TypeError("target must be a string, but got %s" % type(target))
    name = target.decode() if isinstance(target, bytes) else target
    if name.startswith("grpc://"):
        raise errors.UnimplementedError(
            None, None, "the target '%s' is a server: sessions run in this process only; leave `target` empty" % name
        )
    if name:
        raise errors.NotFoundError(
            None,
            None,
            "No session factory registered for the given session options: {target: \"%s\"} Registered factories are {DIRECT_SESSION}. "
            "Leave `target` empty: sessions run in this process" % name,
        )
    return name.encode()


class BaseSession(_engine.Session):
    """What both kinds of session are."""

    _config: Any
    _target: bytes
    _dead: List[str]
    _cpus: int

    def __new__(cls, target: str = "", graph: Optional[Graph] = None, config: Any = None) -> "BaseSession":
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError("graph must be a tf.Graph, but got %s" % type(graph))
        target_bytes = _check_target(target)
        if config is not None and type(config).__name__ != "ConfigProto":
            raise TypeError("config must be a tf.ConfigProto, but got %s" % type(config))
        threads, one, timeout, container, pools, devices = None, False, None, "", 1, (1, False, issubclass(cls, InteractiveSession))
        if config is not None:
            inter, intra = config.inter_op_parallelism_threads, config.intra_op_parallelism_threads
            threads = (max(inter, intra) or None) if inter >= 0 else 1
            one = intra == 1
            timeout = max(config.operation_timeout_in_ms, 0) or None
            pools = max(1, len(config.session_inter_op_thread_pool))
            cpus = config.device_count["CPU"] if "CPU" in config.device_count else 1
            devices = (max(1, cpus), config.allow_soft_placement, config.graph_options.place_pruned_graph)
        session: Any = super().__new__(cls, graph or get_default_graph(), threads, one, timeout, container, pools, devices)
        session._cpus = devices[0]
        session._config = config
        _sessions.add(session)
        session._target = target_bytes
        session._dead = []
        return session

    @property
    def graph_def(self) -> Any:
        """The graph's message.

        Example:
          >>> c = tf.constant(1, name="c")
          >>> [n.name for n in tf.Session().graph_def.node]
          ['c']
        """
        return self.graph.as_graph_def()

    @property
    def sess_str(self) -> bytes:
        """The session's target.

        Example:
          >>> tf.Session().sess_str
          b''
        """
        return self._target

    def as_default(self) -> Any:
        """Makes this the default session within a `with` block; it is not closed after it.

        Returns:
          What a `with` statement takes; it gives the session.

        Example:
          >>> sess = tf.Session()
          >>> with sess.as_default():
          ...     print(tf.constant(2).eval())
          2
          >>> print(sess.run(tf.constant(3)))
          3
        """
        return _AsDefault(self)

    def explain(self, fetches: Any = None, feed_dict: Any = None) -> Any:
        """Tells what a run would do; without fetches, what the session holds. Nothing is run.

        Args:
          fetches: As those of `run`.
          feed_dict: What would be fed: a dictionary as that of `run` (its values are not looked at), or a list of
            tensors. Placeholders that are needed and not among them are named.

        Returns:
          A report that prints, and shows itself in a notebook, as a table: for all that is outside of loops, and for
            each loop, how many nodes
          there are and what becomes of them, how many iterations may be alive at a time, how often it goes round at
          most where constants say; below it the kernels that run, and what is computed beforehand. Or: variables,
          queues with what is in them and who waits, memory. `rows`, `notes` and `nodes` are the same as lists.

        Example:
          >>> x = tf.placeholder(tf.float32, [2], name="x")
          >>> report = tf.Session().explain(tf.exp(x) + 1, [x])
          >>> len(report.nodes) > 1
          True
        """
        return self._explain(fetches, None if feed_dict is None else list(feed_dict))

    def progress(self, file: Any = None) -> Any:
        """A block in which runs that this thread calls, and that take longer than half a second, show how far they are.

        They tell the loop, how many iterations are over (and of how many, where constants, feeds or
        `maximum_iterations` say), how many there are in a second, and the time: on the standard error or `file` in
        one line that changes (a line every ten seconds where it is no terminal), in notebooks in the cell's output.

        Args:
          file: What to write to; the standard error if it is None.

        Returns:
          What a `with` statement takes.

        Example:
          >>> i = tf.while_loop(lambda i: i < 1000, lambda i: i + 1, [0])
          >>> sess = tf.Session()
          >>> with sess.progress():
          ...     print(sess.run(i))
          1000
        """
        from millstream.progress import ProgressBlock

        return ProgressBlock(self, file)

    def watch(self, tensor: Optional[Tensor] = None, condition: Any = "not finite") -> Any:
        """A block in which runs that this thread calls stop at the first value that is waited for.

        The first in the order of the program, each iteration whole before the next, however much of the run happens at a time. What is watched
        has to be computed by the run anyway: a watch computes nothing. What is later may have run in part; what it assigned stays.

        Args:
          tensor: What is watched, in all iterations of all loops around it; by default every float and complex number that is computed or fed.
          condition: "nan", "infinite" or "not finite"; or a function of the value (an array) and its iterations (a tuple, the outermost loop
            first) that says whether to stop. It is called in any order, from any thread.

        Returns:
          A block for `with`.

        Raises:
          InvalidArgumentError: By the run: which node, in which iteration of which loops, with what value, computed from what; or that
            the run does not compute the tensor.
          ValueError: The condition is none of these, or the tensor of another graph.

        Example:
          >>> x = tf.while_loop(lambda x: x < 3e38, lambda x: x * 1e10, [1.0])
          >>> sess = tf.Session()
          >>> with sess.watch():
          ...     try:
          ...         print(sess.run(x))
          ...     except tf.errors.InvalidArgumentError as error:
          ...         print(error.message.splitlines()[0])
          a watch stopped the run: `while/mul:0` is not finite: f32 inf
        """
        from millstream.watching import WatchBlock

        return WatchBlock(self, tensor, condition)

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return "<tf.%s over %r, %s>" % (type(self).__name__, self.graph, state)

    def list_devices(self) -> List[Any]:
        """The devices: one CPU, or as many as `ConfigProto.device_count` asks for. All work is done by the same threads, whichever
        of them a node asks for.

        Returns:
          A list of objects with `name`, `device_type`, `memory_limit_bytes` and `incarnation`.

        Raises:
          tf.errors.CancelledError: The session is closed.

        Example:
          >>> [d.name for d in tf.Session().list_devices()]
          ['/job:localhost/replica:0/task:0/device:CPU:0']
        """
        if self._closed:
            raise errors.CancelledError(None, None, "Session has been closed.")
        names = [_CPU[:-1] + str(i) for i in range(self._cpus)]
        return [_DeviceAttributes(name, "CPU", _memory(), abs(hash(name)) >> 1) for name in names]

    def _bury(self, handle: str) -> None:
        """The tensor under this handle is nobody's any more. Some are kept: a program may hold on to the string."""
        self._dead.append(handle)
        if len(self._dead) > _DEAD:
            dead, self._dead = self._dead, []
            for one in dead:
                self._forget(one)

    def __reduce__(self) -> Any:
        raise TypeError("can't pickle %s objects: make a session over the same graph where it is needed" % type(self).__name__)


class _AsDefault:
    """A session as the default, entered and left."""

    def __init__(self, session: BaseSession) -> None:
        self._session = session

    def __enter__(self) -> BaseSession:
        _engine.push_session(self._session)
        return self._session

    def __exit__(self, *why: Any) -> None:
        _engine.pop_session(self._session)


class Session(BaseSession):
    """Runs a graph.

    It holds what outlives a run: the variables' values, queues, tables. As a `with` block it is the default session,
    its graph the default graph, and it is closed at the end.

    Args:
      target: Empty: sessions run in this process.
      graph: The graph to run; the default graph if none is given.
      config: A `tf.ConfigProto`. What counts of it is `inter_op_parallelism_threads`, `intra_op_parallelism_threads`,
        `operation_timeout_in_ms` and how many `session_inter_op_thread_pool` has; the rest is accepted.

    Raises:
      TypeError: An argument of another type.
      tf.errors.UnimplementedError, tf.errors.NotFoundError: `target` is not empty.

    Example:
      >>> x = tf.placeholder(tf.float32, [None])
      >>> y = tf.reduce_sum(x * x)
      >>> with tf.Session() as sess:
      ...     print(sess.run(y, {x: [1.0, 2.0, 3.0]}), *sess.run([y, x], {x: [4.0]}))
      ...     print(sess.graph is tf.get_default_graph(), [d.device_type for d in sess.list_devices()])
      14.0 16.0 [4.]
      True ['CPU']
    """

    _entered = False

    def __enter__(self) -> "Session":
        if self._entered:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use `Session.as_default()` if you want to enter a session multiple times."
            )
        _engine.push_graph(self.graph)
        _engine.push_session(self)
        self._entered = True
        return self

    def __exit__(self, exec_type: Any = None, exec_value: Any = None, exec_tb: Any = None) -> None:
        if isinstance(exec_type, type) and issubclass(exec_type, errors.OpError):
            logging.error("Session closing due to error %s", exec_value)
        self._entered = False
        try:
            _engine.pop_session(self)
            _engine.pop_graph(self.graph)
        finally:
            self.close()

    @staticmethod
    def reset(target: str, containers: Any = None, config: Any = None) -> None:
        """Ends all sessions of this process, with what they hold; further runs in them are errors. There is no server whose
        containers could be emptied alone: as in TensorFlow, a session is ended whatever `containers` names.

        Args:
          target: Empty.
          containers: What to empty.
          config: Accepted.

        Raises:
          tf.errors.NotFoundError: `target` names what does not exist.

        Example:
          >>> sess = tf.Session()
          >>> tf.Session.reset("")
          >>> sess.run(tf.constant(1))
          Traceback (most recent call last):
            ...
          millstream.errors.CancelledError: Session has been closed.
          ...
        """
        _check_target(target)
        for session in list(_sessions):
            session._end()


class InteractiveSession(BaseSession):
    """A session that is the default from the start, until it is closed.

    For a terminal or a notebook, where `with` blocks are a burden. Arguments are those of `Session`.

    Example:
      >>> sess = tf.InteractiveSession()
      >>> print(tf.constant(3.0).eval())
      3.0
      >>> sess.close()
    """

    _count_lock = threading.Lock()
    _active_session_count = 0

    def __new__(cls, target: str = "", graph: Optional[Graph] = None, config: Any = None) -> "InteractiveSession":
        if config is not None:
            # What TensorFlow does to it; anything else has no such field, and is told so.
            config.graph_options.place_pruned_graph = True
        session: Any = super().__new__(cls, target, graph, config)
        return session

    def __init__(self, target: str = "", graph: Optional[Graph] = None, config: Any = None) -> None:
        with InteractiveSession._count_lock:
            if InteractiveSession._active_session_count > 0:
                import warnings

                warnings.warn(
                    "An interactive session is already active. This can cause out-of-memory errors in some cases. You must explicitly "
                    "call `InteractiveSession.close()` to release resources held by the other session(s).",
                    stacklevel=2,
                )
            InteractiveSession._active_session_count += 1
        self._counted = True
        _engine.push_session(self)
        self._explicit = graph
        if graph is not None:
            _engine.push_graph(graph)

    def close(self) -> None:
        """Ends the session; what was the default before it is so again.

        Example:
          >>> sess = tf.InteractiveSession()
          >>> tf.get_default_session() is sess
          True
          >>> sess.close()
          >>> tf.get_default_session() is None
          True
        """
        super().close()
        with InteractiveSession._count_lock:
            if self._counted:
                self._counted = False
                InteractiveSession._active_session_count -= 1
        pairs: Any = ((_engine.pop_graph, self._explicit), (_engine.pop_session, self))
        for pop, item in pairs:
            if item is not None:
                try:
                    pop(item)
                except AssertionError:
                    pass  # Closed out of order; the stack is the thread's.
        self._explicit = None


def get_default_session() -> Optional[BaseSession]:
    """The session that `eval` and `run` use.

    Returns:
      The innermost session whose `with` block, or `as_default` block, this thread is in; or the `InteractiveSession`;
      or None.

    Example:
      >>> tf.get_default_session() is None
      True
      >>> with tf.Session() as sess:
      ...     print(tf.get_default_session() is sess)
      True
    """
    return _engine.default_session()


# Fetches and feeds of classes that programs bring.

_Conversion = Tuple[type, Callable[..., Any], Optional[Callable[..., Any]], Optional[Callable[..., Any]]]
_conversions: List[_Conversion] = []
_registering = threading.Lock()


def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Optional[Callable[..., Any]] = None,
    feed_function: Optional[Callable[..., Any]] = None,
    feed_function_for_partial_run: Optional[Callable[..., Any]] = None,
) -> None:
    """Objects of a class may be fetched and fed.

    `fetch_function(value)` gives a list of tensors and a function that puts their values together; `feed_function(value, fed)` a list of
    pairs of a tensor and what it is fed; `feed_function_for_partial_run(value)` a list of tensors.
    """
    with _registering:
        for known, *_ in _conversions:
            if issubclass(tensor_type, known):
                raise ValueError("%s has already been registered so ignore it." % tensor_type)
        _conversions.insert(0, (tensor_type, fetch_function, feed_function, feed_function_for_partial_run))  # type: ignore[arg-type]


def _conversion_of(item: Any) -> Optional[_Conversion]:
    """What was registered for an object's class."""
    for conversion in _conversions:
        if isinstance(item, conversion[0]):
            return conversion
    return None


def expand(item: Any, value: Any = None, partial: bool = False) -> Any:
    """Fetches and feeds of kinds that the engine does not know: what is run (or fed) instead, and how the values are put together.

    With `partial`, the tensors that are to be fed, as a list.
    """
    if partial:
        return _parts_to_feed(item)
    own = _conversion_of(item)
    if own is not None:
        if value is not None:
            return list(own[2](item, value)), None  # type: ignore[misc]
        return own[1](item)
    if isinstance(item, SparseTensor):
        parts = [item.indices, item.values, item.dense_shape]
        return (_pairs(parts, list(value)), None) if value is not None else (parts, lambda v: SparseTensorValue(*v))
    if isinstance(item, IndexedSlices):
        parts = [item.values, item.indices] + ([] if item.dense_shape is None else [item.dense_shape])
        if value is not None:
            return _pairs(parts, [v for v in value if v is not None]), None
        return parts, lambda v: IndexedSlicesValue(*(v if len(v) == 3 else v + [None]))
    if isinstance(item, tuple) and value is not None:
        return _pairs(item, value), None
    if isinstance(item, bytes):
        return [(item.decode(), value)], None
    if hasattr(item, "_as_graph_element"):
        element = item._as_graph_element()
        if isinstance(element, (Tensor, Operation)) and value is not None:
            return [(element, value)], None
        if isinstance(element, (Tensor, Operation)):
            return [element], lambda v: v[0]
        item = element
    fields = getattr(type(item), "__attrs_attrs__", None)
    if fields is not None and value is None:
        names = [f.name for f in fields]
        return [getattr(item, n) for n in names], lambda v: type(item)(**dict(zip(names, v)))
    if value is not None:
        raise TypeError("Cannot interpret feed_dict key as Tensor: Can not convert a %s into a Tensor." % type(item).__name__)
    raise TypeError(
        "Fetch argument %r has invalid type %r, must be a string or Tensor. (Can not convert a %s into a Tensor or Operation.)"
        % (item, type(item), type(item).__name__)
    )


def _pairs(keys: Any, values: Any) -> List[Tuple[Any, Any]]:
    """A structure that is fed, with as many values."""
    try:
        n = len(values)
    except TypeError:
        n = -1
    if n != len(keys):
        raise ValueError("a feed of %d parts needs as many values, not %r" % (len(keys), values))
    return list(zip(keys, values))


def _parts_to_feed(item: Any) -> List[Any]:
    own = _conversion_of(item)
    if own is not None:
        return list(own[3](item))  # type: ignore[misc]
    if isinstance(item, (SparseTensor, IndexedSlices)):
        return item._to_components()
    if isinstance(item, (tuple, list)):
        return list(item)
    if isinstance(item, bytes):
        return [item.decode()]
    if hasattr(item, "_as_graph_element"):
        return [item._as_graph_element()]
    raise TypeError("Cannot interpret feed_list key as Tensor: Can not convert a %s into a Tensor." % type(item).__name__)


def _partition_graph(graph: Graph, names: List[str], metadata: Any) -> None:
    """Adds what a run needs of a graph to a `RunMetadata`: the one partition that there is."""
    whole = graph.as_graph_def()
    by_name: Dict[str, Any] = {n.name: n for n in whole.node}
    needed, queue = set(names), list(names)
    while queue:
        for name in by_name[queue.pop()].input:
            name = name.lstrip("^").split(":")[0]
            if name not in needed:
                needed.add(name)
                queue.append(name)
    out = metadata.partition_graphs.add()
    out.versions.producer = whole.versions.producer
    for node in whole.node:
        if node.name in needed:
            copy = out.node.add()
            copy.MergeFromString(node.SerializeToString())
            copy.device = _CPU
