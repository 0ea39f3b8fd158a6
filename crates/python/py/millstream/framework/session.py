"""Sessions: `Session` and `InteractiveSession`, and fetches and feeds that are not plain tensors.

The engine runs the graph; this module holds the Python classes around it.
"""

from __future__ import annotations

import atexit
import collections.abc
import itertools
import os
import threading
import weakref
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple

from millstream import _engine
from millstream._engine import Operation, Tensor
from millstream.framework import (
    Graph,
    IndexedSlices,
    IndexedSlicesValue,
    SparseTensor,
    SparseTensorValue,
    errors,
    get_default_graph,
    logging,
    nest,
    targets,
)
from millstream.framework.traces import TraceBlock
from millstream.framework.watching import WatchBlock

atexit.register(_engine.ending)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_engine.forked)

# The number of tensors with dropped handles that a session keeps, as in TensorFlow.
_DEAD = 10
_sessions: Any = weakref.WeakSet()

_RESULT = "\n  help: `run` returns values: keep them under names other than those of the tensors (`value = sess.run(x)`, not `x = sess.run(x)`)"
_UNFED = "You must feed a value for placeholder"

_CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


class _DeviceAttributes:
    """A device that a session runs on."""

    def __init__(self, name: str, device_type: str, memory_limit_bytes: int, incarnation: int) -> None:
        self._name, self._device_type = name, device_type
        self._memory_limit_bytes, self._incarnation = memory_limit_bytes, incarnation

    name = property(lambda self: self._name, doc="The full name of the device.")
    device_type = property(lambda self: self._device_type, doc='`"CPU"`.')
    memory_limit_bytes = property(
        lambda self: self._memory_limit_bytes, doc="The memory of the device, in bytes."
    )
    incarnation = property(lambda self: self._incarnation, doc="A number that differs between processes.")

    def __repr__(self) -> str:
        return "_DeviceAttributes(%s, %s, %d, %d)" % (self.name, self.device_type, self.memory_limit_bytes, self.incarnation)


def _memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 1 << 28  # What TensorFlow reports where the size is unknown.


# What the address of a server begins with in which queues may live.
_STORES = ("valkey://", "valkeys://", "redis://", "rediss://")


def _check_target(target: Any) -> bytes:
    if target is None:
        target = ""
    if not isinstance(target, (str, bytes)):
        raise TypeError("target must be a string, but got %s" % type(target))
    name = target.decode() if isinstance(target, bytes) else target
    if targets.is_known(name) or name.startswith(_STORES):
        return name.encode()
    if name.startswith("grpc://"):
        raise errors.UnimplementedError(
            None,
            None,
            "the target '%s' is a server of another process: sessions run in this process only; leave `target` empty" % name,
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
    """The base class of both kinds of session."""

    _config: Any
    _target: bytes
    _dead: List[str]
    _cpus: int
    _parts: Dict[str, "_PartialRun"]
    _n_parts: Iterator[int]

    def __new__(cls, target: str = "", graph: Optional[Graph] = None, config: Any = None, files: Optional[Sequence[Any]] = None) -> "BaseSession":
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError("graph must be a tf.Graph, but got %s" % type(graph))
        target_bytes = _check_target(target)
        if config is not None and type(config).__name__ != "ConfigProto":
            raise TypeError("config must be a tf.ConfigProto, but got %s" % type(config))
        threads, one, limits, container, pools, devices = None, False, (0, 0, 0), "", 1, (1, False, issubclass(cls, InteractiveSession))
        compiles, passes = True, ""
        if files is None and config is not None:
            # A `ConfigProto` of TensorFlow itself lacks Millstream's own fields.
            allowed = getattr(config, "allow_files", ())
            files = allowed if allowed or getattr(config, "no_files", False) else None
        if config is not None:
            inter, intra = config.inter_op_parallelism_threads, config.intra_op_parallelism_threads
            threads = (max(inter, intra) or None) if inter >= 0 else 1
            one = intra == 1
            pools = max(1, len(config.session_inter_op_thread_pool))
            cpus = config.device_count["CPU"] if "CPU" in config.device_count else 1
            devices = (max(1, cpus), config.allow_soft_placement, config.graph_options.place_pruned_graph)
            # A `ConfigProto` of TensorFlow itself lacks Millstream's own fields.
            grace, memory = (getattr(config, name, 0) for name in ("stall_grace_in_ms", "memory_limit_in_bytes"))
            limits = (max(config.operation_timeout_in_ms, 0), grace, memory)
            passes = getattr(config, "passes", "")
            compiles = config.graph_options.optimizer_options.global_jit_level >= 0
        allowed_files = files if files is None else [os.fspath(f) for f in files]
        store = target_bytes.decode() if target_bytes.startswith(tuple(s.encode() for s in _STORES)) else None
        session: Any = super().__new__(cls, graph or get_default_graph(), threads, one, limits, container, pools, devices, files=allowed_files, compiles=compiles, passes=passes, store=store)
        if target_bytes and store is None:
            targets.take(target_bytes.decode(), session)
        session._cpus = devices[0]
        session._config = config
        _sessions.add(session)
        session._target = target_bytes
        session._dead = []
        session._parts, session._n_parts = {}, itertools.count()
        return session

    @property
    def graph_def(self) -> Any:
        """The graph as a `GraphDef`.

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
        """Makes this the default session within a `with` block, which does not close it.

        Returns:
          A context manager that yields the session.

        Example:
          >>> sess = tf.Session()
          >>> with sess.as_default():
          ...     print(tf.constant(2).eval())
          2
          >>> print(sess.run(tf.constant(3)))
          3
        """
        return _AsDefault(self)

    def explain(self, fetches: Any = None, feed_dict: Any = None, *, machine_code: bool = False) -> Any:
        """Describes what a run would do; without fetches, what the session holds. Runs nothing.

        Args:
          fetches: The fetches, as in `run`.
          feed_dict: The feeds: a dictionary as in `run` (values are not looked at), or a list of tensors.
            Placeholders that are needed but not listed are named in the report.
          machine_code: Whether to compile the loops and show their machine code as text.

        Returns:
          A report that prints, and shows itself in a notebook, as a table. With fetches: for the code outside
            of loops and for each loop, the number of nodes and their fates, the number of iterations that may
            be alive at a time, and the largest number of iterations where constants determine it; below, the
            kernels that run and the values computed in advance. Without: variables, queues with their
            contents and waiters, memory. `rows`, `notes` and `nodes` hold the same as lists. `code` lists
            what runs as code: the loop, the instructions, the bytes of registers and buffers, and the
            nanoseconds of an iteration once this session ran these fetches with these feeds. `machine_code`
            is text.

        Example:
          >>> x = tf.placeholder(tf.float32, [2], name="x")
          >>> report = tf.Session().explain(tf.exp(x) + 1, [x])
          >>> len(report.nodes) > 1
          True
          >>> i = tf.while_loop(lambda i: i < 1000, lambda i: i + 1, [0])
          >>> len(tf.Session().explain(i).code)
          1
        """
        return self._explain(fetches, None if feed_dict is None else list(feed_dict), machine_code)

    def progress(self, file: Any = None) -> Any:
        """A block in which this thread's runs show their progress if they exceed half a second.

        The display names the loop, the number of finished iterations (and the total where constants, feeds or
        `maximum_iterations` determine it), iterations per second, and the time. It is one changing line on a
        terminal, a line every ten seconds on other files, and the cell's output in a notebook.

        Args:
          file: The file to write to; by default the standard error.

        Returns:
          A context manager.

        Example:
          >>> i = tf.while_loop(lambda i: i < 1000, lambda i: i + 1, [0])
          >>> sess = tf.Session()
          >>> with sess.progress():
          ...     print(sess.run(i))
          1000
        """
        from millstream.framework.progress import ProgressBlock

        return ProgressBlock(self, file)

    def trace(self, path: Any) -> Any:
        """A block whose runs write the times of all nodes to a file, for Perfetto (`ui.perfetto.dev`).

        The file is in the format of Chrome's trace viewer: a process for each run, a row for each thread,
        and for each execution of a node its op, its name and, in loops, its iteration. Runs of this session
        on all threads are traced, but not prepared calls (`make_callable`). A traced run takes longer: its
        loops do not run as compiled code.

        Args:
          path: The file to write, which is replaced. It is complete at the end of the block.

        Returns:
          A block for `with`.

        Raises:
          OSError: The file cannot be written.
          RuntimeError: The session is in such a block already.

        Example:
          >>> import json, os, tempfile
          >>> i = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
          >>> path = os.path.join(tempfile.mkdtemp(), "trace.json")
          >>> with tf.Session() as sess, sess.trace(path):
          ...     print(sess.run(i))
          3
          >>> with open(path) as file:
          ...     events = json.load(file)["traceEvents"]
          >>> [event["args"]["at"] for event in events if event["name"] == "AddV2"][-1]
          'iteration 2 of loop `while/while_context`'
        """
        return TraceBlock(self, path)

    def watch(self, tensor: Optional[Tensor] = None, condition: Any = "not finite") -> Any:
        """A block in which runs that this thread starts stop at the first value that meets a condition.

        "First" is by the order of the program, one whole iteration before the next, however much of the run
        is executed in parallel. A watch computes nothing: it sees only tensors that the run computes anyway.
        Later nodes may have run in part, and their assignments stay.

        Args:
          tensor: The tensor to watch, in all iterations of all loops around it; by default every float and
            complex number that is computed or fed.
          condition: "nan", "infinite" or "not finite" (also "not-finite", as on the command line); or a
            predicate of the value (an array) and its iterations (a tuple, the outermost loop first), called
            in any order and from any thread.

        Returns:
          A block for `with`.

        Raises:
          InvalidArgumentError: By the run, when the condition is met: the node, the iteration of each loop,
            the value and the node's inputs; or when the run does not compute the tensor.
          ValueError: The condition is none of these, or the tensor belongs to another graph.

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
        return WatchBlock(self, tensor, condition)

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return "<tf.%s over %r, %s>" % (type(self).__name__, self.graph, state)

    def make_callable(self, fetches: Any, feed_list: Optional[Sequence[Any]] = None, accept_options: bool = False) -> Callable[..., Any]:  # type: ignore[override]
        """Prepares a run: returns a function from the values of `feed_list` to the values of `fetches`.

        The function is faster than `run`. As in `run`, arrays must not be modified during a call.

        Args:
          fetches: Same as in `run`.
          feed_list: A list of tensors to feed. If a tensor is listed twice, its last value is used.
          accept_options: If true, the function also takes the keyword arguments `options` and `run_metadata`.

        Returns:
          A function.

        Example:
          >>> x = tf.placeholder(tf.float32, [])
          >>> square = tf.Session().make_callable(x * x, [x])
          >>> print(square(3.0), square(4.0))
          9.0 16.0
        """
        made = super().make_callable
        if not isinstance(feed_list, (list, tuple)) or len(feed_list) < 2:
            return made(fetches, feed_list, accept_options)
        try:
            places = [tuple(_names_in(self.graph, [feed], _parts_to_feed)) for feed in feed_list]
        except Exception:
            return made(fetches, feed_list, accept_options)  # It says what is wrong.
        first = dict(zip(reversed(places), reversed(feed_list)))
        if len(first) == len(places):
            return made(fetches, feed_list, accept_options)
        call = made(fetches, list(first.values()), accept_options)

        def called(*values: Any, **options: Any) -> Any:
            last = dict(zip(places, values))
            return call(*(last[place] for place in first if place in last), **options)

        return called

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:  # type: ignore[override]
        """Begins a run in several parts.

        Args:
          fetches: All that the parts will fetch: a structure of tensors, as in `run`.
          feeds: A list of all tensors that the parts will feed; a single tensor needs no list.

        Returns:
          A handle for `partial_run`, a string. It ends once all fetches are fetched and all feeds are fed.

        Raises:
          tf.errors.InvalidArgumentError: `fetches` is empty.

        Example:
          >>> a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
          >>> total, product = a + 1.0, (a + 1.0) * b
          >>> sess = tf.Session()
          >>> handle = sess.partial_run_setup([total, product], [a, b])
          >>> first = sess.partial_run(handle, total, {a: 1.0})
          >>> print(first, sess.partial_run(handle, product, {b: first * 10.0}))
          2.0 40.0
        """
        if feeds is not None and not isinstance(feeds, (list, tuple)):
            feeds = [feeds]
        try:
            run, late = super().partial_run_setup(fetches, feeds), None
        except errors.InvalidArgumentError as error:
            if not str(error).startswith(_UNFED):
                raise
            # The parts report it, as in TensorFlow.
            run, late = None, error
        fetched = set(_names_in(self.graph, [fetches], lambda item: expand(item)[0]))
        fed = set(_names_in(self.graph, feeds or [], _parts_to_feed))
        outputs, targets = (sorted(n for n in fetched if (":" in n) == is_tensor) for is_tensor in (True, False))
        handle = "%s->%s/%s/1/;%d" % (",".join(sorted(fed)), ",".join(outputs), ",".join(targets), next(self._n_parts))
        self._parts[handle] = _PartialRun(run, late, fed, fetched)
        return handle

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Optional[Mapping[Any, Any]] = None) -> Any:
        """Continues a run in several parts; values computed by earlier parts are not computed again.

        Args:
          handle: A handle returned by `partial_run_setup`.
          fetches: Some of the declared fetches, not fetched before.
          feed_dict: A dict from some of the declared feeds to values.

        Returns:
          Values in the structure of `fetches`, as in `run`.

        Raises:
          TypeError: `handle` is not a string.
          tf.errors.InvalidArgumentError: The handle is unknown or its run is over, a fetch or feed was not
            declared, or is repeated.
          RuntimeError: An operation is fetched.

        Example:
          >>> x = tf.placeholder(tf.float32, [])
          >>> doubled, squared = x * 2.0, x * x
          >>> sess = tf.Session()
          >>> handle = sess.partial_run_setup([doubled, squared], [x])
          >>> print(sess.partial_run(handle, doubled, {x: 3.0}), sess.partial_run(handle, squared))
          6.0 9.0
        """
        if not isinstance(handle, (str, bytes)):
            raise TypeError("handle must be a string that partial_run_setup returned, but got %s" % type(handle))
        handle = handle.decode() if isinstance(handle, bytes) else handle
        parts = self._parts.get(handle)
        if parts is None:
            # The engine refuses the text, unless the session is closed.
            return super().partial_run(handle, fetches, feed_dict)  # type: ignore[arg-type]
        values = None if parts.late is not None else super().partial_run(parts.run, fetches, feed_dict)
        fetched = set(_names_in(self.graph, [fetches], lambda item: expand(item)[0]))
        fed = set(_names_in(self.graph, feed_dict or (), _parts_to_feed))
        if parts.late is not None:
            parts.refuse(fetched, fed)
        parts.fetches -= fetched
        parts.feeds -= fed
        if not parts.fetches and not parts.feeds:
            self._parts.pop(handle, None)
        return values

    def list_devices(self) -> List[Any]:
        """Lists the devices: one CPU, or as many as `ConfigProto.device_count` asks for.

        One set of threads does all work, whichever device a node asks for.

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
        """Takes the handle of a tensor that nobody owns.

        The last few tensors stay: a program may hold on to the string.
        """
        self._dead.append(handle)
        if len(self._dead) > _DEAD:
            dead, self._dead = self._dead, []
            for one in dead:
                self._forget(one)

    def __reduce__(self) -> Any:
        raise TypeError("can't pickle %s objects: create a session for the graph where it is needed" % type(self).__name__)


class _PartialRun:
    """A run in parts: the names of the tensors that it still expects and owes."""

    def __init__(self, run: Any, late: Optional[Exception], feeds: Set[str], fetches: Set[str]) -> None:
        self.run, self.late, self.feeds, self.fetches = run, late, feeds, fetches

    def refuse(self, fetched: Set[str], fed: Set[str]) -> None:
        """Raises the error of a run that cannot succeed, or that of the part."""
        for name in sorted(fed - self.feeds):
            raise errors.InvalidArgumentError(None, None, "The feed %s was not specified in partial_run_setup." % name)
        if any(":" not in name for name in fetched):
            raise RuntimeError("partial_run() requires empty target_list. (Fetch tensors; operations cannot be asked for in parts)")
        assert self.late is not None
        raise self.late


class _AsDefault:
    """The context manager that makes a session the default."""

    def __init__(self, session: BaseSession) -> None:
        self._session = session

    def __enter__(self) -> BaseSession:
        _engine.push_session(self._session)
        return self._session

    def __exit__(self, *why: Any) -> None:
        _engine.pop_session(self._session)


class Session(BaseSession):
    """A session runs a graph.

    It holds the state that outlives a run: the values of variables, queues, tables. As a context manager it
    makes itself the default session and its graph the default graph, and closes itself at the end.

    Args:
      target: Empty, or the address of a Valkey or Redis server:
        `"valkey://[user][:password]@host[:port]/namespace"`. Sessions run in this process, and with a server
        their queues with a `shared_name` live there: processes whose targets are equal share them. Options
        follow the address, as in `"?lease_ms=10000&reconnect_ms=30000&max_element_bytes=67108864"`: the time
        after which a process that is silent counts as gone, so that the items it did not get to use return
        to their queue; the time for which an operation waits for a server that does not answer; the size of
        the largest element. `valkeys://` is for TLS, with the options `ca`, `cert` and `key`, which name
        files in PEM form, in a package that was built with the feature `store-tls`.
      graph: The graph to run; by default the default graph.
      config: A `tf.ConfigProto`. The fields `inter_op_parallelism_threads`, `intra_op_parallelism_threads`,
        `operation_timeout_in_ms`, `device_count["CPU"]`, `allow_soft_placement`,
        `graph_options.place_pruned_graph` and the number of `session_inter_op_thread_pool` take effect, and
        `graph_options.optimizer_options.global_jit_level`: with `tf.OptimizerOptions.OFF` no loop runs as
        compiled code. The others of TensorFlow's are ignored. Five fields are Millstream's own:
        `memory_limit_in_bytes` bounds the tensors that are alive at a time, and a run that waits for a
        queue fails once nothing else has run for `stall_grace_in_ms` (by default ten minutes). A run that
        no other Python thread can wake fails at once, unless that number is negative: then it waits as long
        as the process has any other thread. `allow_files` and `no_files` are another way to give `files`.
        `passes` names what plans leave out of what makes them fast, to trace a fault to it: some of
        `"-fold,-forward,-absorb,-accumulate,-narrow,-fuse,-order,-bypass,-straight"`.
      files: A list of folders, the only ones in which the graph's nodes may read and write files; an empty
        list for none. By default every file may be opened. Restrict graphs that come from elsewhere.

    Raises:
      TypeError: An argument has the wrong type.
      tf.errors.UnimplementedError, tf.errors.NotFoundError: `target` is something else.
      tf.errors.UnavailableError: The server of `target` does not answer.
      ValueError: `config.passes` names something else.

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
    _default: Any = None

    def __enter__(self) -> "Session":
        if self._entered:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use `Session.as_default()` if you want to enter a session multiple times."
            )
        self._default = self.graph.as_default()
        self._default.__enter__()
        _engine.push_session(self)
        self._entered = True
        return self

    def __exit__(self, exec_type: Any = None, exec_value: Any = None, exec_tb: Any = None) -> None:
        # As in TensorFlow, subclasses are not logged: Python shows them, or the caller catches them. The end
        # of input is one of them.
        if exec_type is errors.OpError:
            logging.error("Session closing due to error %s", exec_value)
        self._entered = False
        try:
            _engine.pop_session(self)
            self._default.__exit__()
        finally:
            self.close()

    @staticmethod
    def reset(target: str, containers: Any = None, config: Any = None) -> None:
        """Ends all sessions of this process and frees what they hold; later runs in them fail.

        There is no server with containers to clear one by one: as in TensorFlow, every session ends, whatever
        `containers` names.

        Args:
          target: Empty.
          containers: Ignored.
          config: Ignored.

        Raises:
          tf.errors.NotFoundError: `target` is not empty.

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

    For terminals and notebooks, where `with` blocks are a burden. Arguments are those of `Session`.

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
            # As TensorFlow does. An object without this field raises `AttributeError` here.
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
        """Ends the session and restores the previous default session.

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
                    pass  # Closed out of order: the stack belongs to the thread.
        self._explicit = None


def get_default_session() -> Optional[BaseSession]:
    """Returns the session that `eval` and `run` use.

    Returns:
      The session of the innermost `with` or `as_default` block that this thread is in, or the
        `InteractiveSession`, or None.

    Example:
      >>> tf.get_default_session() is None
      True
      >>> with tf.Session() as sess:
      ...     print(tf.get_default_session() is sess)
      True
    """
    return _engine.default_session()


# Fetches and feeds of registered classes.

_Conversion = Tuple[type, Callable[..., Any], Optional[Callable[..., Any]], Optional[Callable[..., Any]]]
_conversions: List[_Conversion] = []
_registering = threading.Lock()


def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Optional[Callable[..., Any]] = None,
    feed_function: Optional[Callable[..., Any]] = None,
    feed_function_for_partial_run: Optional[Callable[..., Any]] = None,
) -> None:
    """Registers a class whose objects may be fetched and fed.

    `fetch_function(value)` returns a list of tensors and a function that assembles the result from their
    values; `feed_function(value, fed)` returns a list of pairs of a tensor and its feed;
    `feed_function_for_partial_run(value)` returns a list of tensors.
    """
    with _registering:
        # The newest entry that fits an object counts: a base class would hide the classes before it.
        for known in (*(own[0] for own in _conversions), SparseTensor, IndexedSlices, object):
            if issubclass(known, tensor_type):
                raise ValueError("%s has already been registered so ignore it." % tensor_type)
        _conversions.insert(0, (tensor_type, fetch_function, feed_function, feed_function_for_partial_run))  # type: ignore[arg-type]


def _conversion_of(item: Any) -> Optional[_Conversion]:
    """The entry registered for an object's class, or None."""
    for conversion in _conversions:
        if isinstance(item, conversion[0]):
            return conversion
    return None


def expand(item: Any, value: Any = None, partial: bool = False) -> Any:
    """Expands fetches and feeds that the engine does not know.

    Returns the tensors to run and a function that assembles the result, or, given `value`, the pairs to feed.
    With `partial`, returns the list of tensors to feed.
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
        if value is not None and len(value) == 2 and item.dense_shape.op.type == "Const":
            parts.pop()  # The shape is known.
        return (_pairs(parts, list(value)), None) if value is not None else (parts, lambda v: SparseTensorValue(*v))
    if isinstance(item, IndexedSlices):
        parts = [item.values, item.indices] + ([] if item.dense_shape is None else [item.dense_shape])
        if value is not None:
            return _pairs(parts, [v for v in value if v is not None]), None
        return parts, lambda v: IndexedSlicesValue(*(v if len(v) == 3 else v + [None]))
    if isinstance(item, tuple) and value is not None:
        return _flat_pairs(item, value), None
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
        "Fetch argument %r has invalid type %r, must be a string or Tensor. (Can not convert a %s into a Tensor or Operation.)%s"
        % (item, type(item), type(item).__name__, _RESULT if isinstance(item, (int, float)) or type(item).__module__ == "numpy" else "")
    )


def _names_in(graph: Graph, structure: Any, parts: Callable[[Any], Any]) -> Iterator[str]:
    """The names of the tensors and operations in a structure; `parts` returns those of other objects."""
    items = structure.values() if isinstance(structure, collections.abc.Mapping) and parts is not _parts_to_feed else structure
    for item in items:
        if isinstance(item, (str, bytes)):
            item = graph.as_graph_element(item.decode() if isinstance(item, bytes) else item)
        if isinstance(item, (Tensor, Operation)):
            yield item.name
        elif isinstance(item, _engine.Every):
            yield repr(item)
        elif isinstance(item, (list, tuple, collections.abc.Mapping)):
            yield from _names_in(graph, item, parts)
        else:
            yield from _names_in(graph, parts(item), parts)


def _pairs(keys: Any, values: Any) -> List[Tuple[Any, Any]]:
    """Pairs the parts of a structure with the values fed to it."""
    try:
        n = len(values)
    except TypeError:
        n = -1
    if n != len(keys):
        raise ValueError("a feed of %d components needs as many values, not %r" % (len(keys), values))
    return list(zip(keys, values))


def _flat_pairs(keys: Any, values: Any) -> List[Tuple[Any, Any]]:
    """Pairs the tensors of a tuple with the values of a structure like it, lists included."""
    flat_keys, flat_values = nest.flatten(keys), nest.flatten(values)
    if len(flat_keys) != len(flat_values):
        raise ValueError(
            "Could not flatten dictionary. Key had %d elements, but value had %d elements. Key: %s, value: %s. Feed arrays: lists are flattened."
            % (len(flat_keys), len(flat_values), flat_keys, flat_values)
        )
    return list(zip(flat_keys, flat_values))


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
    """Adds the nodes that a run needs to a `RunMetadata`, as its only partition."""
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
