"""`MonitoredSession` and its relatives.

These sessions initialize or restore themselves, call hooks around every run, run the queue runners, and stop
with all of their threads.
"""

from __future__ import annotations

import abc
import inspect
from typing import Any, Callable, Dict, List, Optional, Sequence

from millstream.framework import constant, dtypes, errors, get_default_graph, logging, name_scope, protos
from millstream.framework.graph_keys import GraphKeys
from millstream.io import summaries
from millstream.io.lookup_ops import tables_initializer
from millstream.ops import array_ops, control_flow
from millstream.train import basic_session_run_hooks as basic
from millstream.train.coordinator import Coordinator
from millstream.train.queue_runner import start_queue_runners
from millstream.train.saver import Saver
from millstream.train.session_manager import SessionManager
from millstream.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from millstream.variables.collections import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)

# A session that fails with one of these is created again.
_PREEMPTION_ERRORS = (errors.AbortedError, errors.UnavailableError)

USE_DEFAULT = object()


def _initialize_resources() -> Any:
    """Initializes resources other than variables and tables.

    There are none, but TensorFlow's graphs have this node.
    """
    return control_flow.no_op(name="init")


def _uninitialized(variables: Any) -> Any:
    """Returns the names of variables, and of other resources, that are not initialized."""
    names = report_uninitialized_variables(variables)
    with name_scope("report_uninitialized_resources"):
        resources = constant([], dtypes.string)
    return array_ops.concat([names, resources], 0)



class Scaffold:
    """The parts of a model beside its graph: initialization, readiness checks, saver, summaries.

    Parts that are not given are taken from the graph's collections, or created, when the session is created.

    Args:
      init_op: The operation that initializes the model.
      init_feed_dict: The feeds of `init_op`.
      init_fn: A function `init_fn(scaffold, session)` called after `init_op`, unless a checkpoint was
        restored.
      ready_op: A string tensor: the names of uninitialized variables.
      ready_for_local_init_op: A string tensor: the names of uninitialized variables that `local_init_op`
        needs.
      local_init_op: The operation that initializes state that is not saved.
      summary_op: The merged summaries.
      saver: A `Saver`.
      copy_from_scaffold: A `Scaffold` to take missing parts from.

    Raises:
      TypeError: `copy_from_scaffold` is not a `Scaffold`.

    Example:
      >>> v = tf.Variable(3, name="v")
      >>> scaffold = tf.train.Scaffold(init_fn=lambda scaffold, sess: v.load(5, sess))
      >>> with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold)) as sess:
      ...     print(sess.run(v))
      5
      >>> (scaffold.finalize() is scaffold, scaffold.init_op.type, scaffold.init_feed_dict,
      ...  callable(scaffold.init_fn))
      (True, 'NoOp', None, True)
      >>> (scaffold.ready_op.dtype, scaffold.ready_for_local_init_op.dtype, scaffold.local_init_op.type,
      ...  scaffold.summary_op, type(scaffold.saver).__name__)
      (tf.string, tf.string, 'NoOp', None, 'Saver')
      >>> tf.train.Scaffold.default_local_init_op.__name__
      'default_local_init_op'
    """

    def __init__(
        self,
        init_op: Any = None,
        init_feed_dict: Any = None,
        init_fn: Optional[Callable[["Scaffold", Any], None]] = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        local_init_op: Any = None,
        summary_op: Any = None,
        saver: Any = None,
        copy_from_scaffold: Optional["Scaffold"] = None,
    ) -> None:
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")

        def given(name: str, value: Any) -> Any:
            return getattr(copy_from_scaffold, "_" + name) if value is None and copy_from_scaffold else value

        self._init_op = given("init_op", init_op)
        self._init_feed_dict = given("init_feed_dict", init_feed_dict)
        self._user_init_fn = given("user_init_fn", init_fn)
        self._ready_op = given("ready_op", ready_op)
        self._ready_for_local_init_op = given("ready_for_local_init_op", ready_for_local_init_op)
        self._local_init_op = given("local_init_op", local_init_op)
        self._summary_op = given("summary_op", summary_op)
        self._saver = given("saver", saver)

    def finalize(self) -> "Scaffold":
        """Creates missing parts, and finalizes the graph."""
        self._init_op = self._or(
            "init_op",
            GraphKeys.INIT_OP,
            lambda: control_flow.group(global_variables_initializer(), _initialize_resources()),
        )
        self._ready_op = self._or("ready_op", GraphKeys.READY_OP, lambda: _uninitialized(None))
        self._ready_for_local_init_op = self._or(
            "ready_for_local_init_op",
            GraphKeys.READY_FOR_LOCAL_INIT_OP,
            lambda: _uninitialized(global_variables()),
        )
        self._local_init_op = self._or("local_init_op", GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op)
        self._summary_op = self._or("summary_op", GraphKeys.SUMMARY_OP, summaries.merge_all)
        self._saver = self._or("saver", GraphKeys.SAVERS, lambda: Saver(sharded=True, allow_empty=True))
        if hasattr(self._saver, "build"):
            self._saver.build()
        get_default_graph().finalize()
        logging.info("Graph was finalized.")
        return self

    def _or(self, name: str, collection: str, make: Callable[[], Any]) -> Any:
        mine = getattr(self, "_" + name)
        return Scaffold.get_or_default(name, collection, make) if mine is None else mine

    @staticmethod
    def get_or_default(arg_name: str, collection_key: str, default_constructor: Callable[[], Any]) -> Any:
        """Returns the only element of a collection; if it is empty, adds a new element and returns that.

        Args:
          arg_name: The argument of `Scaffold` to name in the error message.
          collection_key: The collection.
          default_constructor: A function that returns the new element, or None.

        Returns:
          The element.

        Raises:
          RuntimeError: The collection has several elements.

        Example:
          >>> (tf.train.Scaffold.get_or_default("init_op", "my_init", tf.no_op).type,
          ...  len(tf.get_collection("my_init")))
          ('NoOp', 1)
        """
        graph = get_default_graph()
        elements = graph.get_collection(collection_key)
        if 1 < len(elements):
            raise RuntimeError(
                f'More than one item in the collection "{collection_key}". Please indicate which one to use by '
                f"passing it to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to use)"
            )
        if elements:
            return elements[0]
        op = default_constructor()
        if op is not None:
            graph.add_to_collection(collection_key, op)
        return op

    @staticmethod
    def default_local_init_op() -> Any:
        """Returns an operation that initializes local variables and tables."""
        return control_flow.group(local_variables_initializer(), tables_initializer(), _initialize_resources())

    @property
    def init_fn(self) -> Optional[Callable[[Any], None]]:
        """The function called with the session after `init_op`, unless a checkpoint was restored."""
        user = self._user_init_fn
        return None if user is None else lambda sess: user(self, sess)

    @property
    def init_op(self) -> Any:
        """The operation that initializes the model."""
        return self._init_op

    @property
    def init_feed_dict(self) -> Any:
        """The feeds of `init_op`."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        """A string tensor: the names of uninitialized variables."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """A string tensor: the names of uninitialized variables that `local_init_op` needs."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Any:
        """The operation that initializes state that is not saved."""
        return self._local_init_op

    @property
    def summary_op(self) -> Any:
        """The merged summaries."""
        return self._summary_op

    @property
    def saver(self) -> Any:
        """The saver."""
        return self._saver


class SessionCreator(abc.ABC):
    """The base class of objects that create the session within a monitored one.

    Example:
      >>> class Plain(tf.train.SessionCreator):
      ...     def create_session(self):
      ...         return tf.Session()
      >>> x = tf.constant(7)
      >>> with tf.train.MonitoredSession(session_creator=Plain()) as sess:
      ...     print(sess.run(x))
      7
    """

    @abc.abstractmethod
    def create_session(self) -> Any:
        """Returns a session that is ready to use.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError(f"create_session is not implemented for {self}.")


class _ManagedCreator(SessionCreator):
    def __init__(self, scaffold: Optional[Scaffold], master: str, config: Any) -> None:
        self._scaffold = scaffold or Scaffold()
        self._master = master
        self._config = config
        self._session_manager: Optional[SessionManager] = None

    def _get_session_manager(self) -> SessionManager:
        if self._session_manager is None:
            self._session_manager = SessionManager(
                local_init_op=self._scaffold.local_init_op,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=get_default_graph(),
            )
        return self._session_manager


class ChiefSessionCreator(_ManagedCreator):
    """Creates sessions that are restored from the latest checkpoint, or initialized.

    Args:
      scaffold: A `Scaffold`.
      master: Empty.
      config: A `ConfigProto`.
      checkpoint_dir: A directory to restore from.
      checkpoint_filename_with_path: A checkpoint to restore.

    Example:
      >>> v = tf.Variable(3)
      >>> sess = tf.train.ChiefSessionCreator().create_session()
      >>> print(sess.run(v))
      3
    """

    def __init__(
        self,
        scaffold: Optional[Scaffold] = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: Optional[str] = None,
        checkpoint_filename_with_path: Optional[str] = None,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path

    def create_session(self) -> Any:
        """Returns a session, restored or initialized."""
        self._scaffold.finalize()
        return self._get_session_manager().prepare_session(
            self._master,
            saver=self._scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config,
            init_op=self._scaffold.init_op,
            init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn,
        )


class WorkerSessionCreator(_ManagedCreator):
    """Creates sessions for models that another process initializes.

    Args:
      scaffold: A `Scaffold`.
      master: Empty.
      config: A `ConfigProto`.
      max_wait_secs: The time to wait for the model, in seconds.

    Example:
      >>> x = tf.constant(7)
      >>> print(tf.train.WorkerSessionCreator().create_session().run(x))  # Without variables it is ready.
      7
    """

    def __init__(
        self,
        scaffold: Optional[Scaffold] = None,
        master: str = "",
        config: Any = None,
        max_wait_secs: Optional[float] = 30 * 60,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Any:
        """Returns a session after the model is ready."""
        self._scaffold.finalize()
        manager = self._get_session_manager()
        return manager.wait_for_session(self._master, config=self._config, max_wait_secs=self._max_wait_secs)


class _WrappedSession:
    """A session around a session. Each layer adds one feature, and may request a stop."""

    def __init__(self, sess: Any) -> None:
        self._sess = sess
        self._wraps_stoppable = isinstance(sess, _WrappedSession)

    @property
    def graph(self) -> Any:
        return self._sess.graph

    def should_stop(self) -> bool:
        if self._check_stop() or not self._sess:
            return True
        return self._wraps_stoppable and self._sess.should_stop()

    def _check_stop(self) -> bool:
        return False

    def close(self) -> None:
        if self._sess:
            try:
                self._sess.close()
            except _PREEMPTION_ERRORS as error:
                logging.warning("The session was lost while it was closed: %s", error)
            finally:
                self._sess = None

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self._sess.run(*args, **kwargs)

    def run_step_fn(self, step_fn: Callable[[Any], Any], raw_session: Any, run_with_hooks: Any) -> Any:
        return step_fn(_MonitoredSession.StepContext(raw_session, run_with_hooks or self.run))


class _RecoverableSession(_WrappedSession):
    """Creates the session again when it is lost, and repeats the run."""

    def __init__(self, creator: SessionCreator) -> None:
        self._creator = creator
        super().__init__(self._create_session())

    def _create_session(self) -> Any:
        while True:
            try:
                return self._creator.create_session()
            except _PREEMPTION_ERRORS as error:
                logging.info("The session was lost while it was made; making another one: %s", error)

    def _check_stop(self) -> bool:
        if not self._sess:
            return True
        try:
            return self._sess._check_stop()
        except _PREEMPTION_ERRORS as error:
            self._lost(error)
            self._sess = self._create_session()
            return False
        except Exception:
            # A thread of the coordinator failed: the next run raises its error.
            return True

    def _lost(self, error: Exception) -> None:
        logging.info("The session was lost; closing it and making another one: %s", error)
        self.close()
        self._sess = None

    def _again_and_again(self, do: Callable[[Any], Any]) -> Any:
        while True:
            try:
                if not self._sess:
                    self._sess = self._create_session()
                return do(self._sess)
            except _PREEMPTION_ERRORS as error:
                self._lost(error)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self._again_and_again(lambda sess: sess.run(*args, **kwargs))

    def run_step_fn(self, step_fn: Callable[[Any], Any], raw_session: Any, run_with_hooks: Any) -> Any:
        return self._again_and_again(lambda sess: sess.run_step_fn(step_fn, raw_session, sess.run))


class _CoordinatedSession(_WrappedSession):
    """Stops together with the threads of a coordinator."""

    def __init__(self, sess: Any, coord: Coordinator, stop_grace_period_secs: float = 120) -> None:
        super().__init__(sess)
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs

    def _check_stop(self) -> bool:
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self) -> None:
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True)
        finally:
            try:
                super().close()
            except Exception:
                # The error of a thread matters more, and is being raised.
                pass

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._sess.run(*args, **kwargs)
        except _PREEMPTION_ERRORS:
            raise
        except Exception:
            # If a thread lost the session, its error is the cause, from which the session recovers. Other
            # errors of threads say less than this one.
            try:
                self._coord.raise_requested_exception()
            except _PREEMPTION_ERRORS:
                raise
            except Exception:
                pass
            raise


class _HookedSession(_WrappedSession):
    """Calls the hooks around each run."""

    def __init__(self, sess: Any, hooks: Sequence[SessionRunHook]) -> None:
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False

    def _check_stop(self) -> bool:
        return self._should_stop

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(original_args=SessionRunArgs(fetches, feed_dict), session=self._sess)
        options = options or protos.RunOptions()
        run_metadata = run_metadata or protos.RunMetadata()
        all_fetches = {"caller": fetches}
        feeds = self._call_hook_before_run(context, all_fetches, feed_dict, options)
        outputs = self._sess.run(fetches=all_fetches, feed_dict=feeds, options=options, run_metadata=run_metadata)
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(outputs.get(hook), options, run_metadata))
        self._should_stop = self._should_stop or context.stop_requested
        return outputs["caller"]

    def _call_hook_before_run(
        self, context: SessionRunContext, fetches: Dict[Any, Any], user_feeds: Any, options: Any
    ) -> Any:
        """Returns the feeds of hooks and caller, and adds the hooks' fetches and options to the caller's."""
        hook_feeds: Dict[Any, Any] = {}
        for hook in self._hooks:
            request = hook.before_run(context)
            if request is None:
                continue
            if request.fetches is not None:
                fetches[hook] = request.fetches
            if request.feed_dict:
                self._refuse_common(hook_feeds, request.feed_dict, "Same tensor is fed by two hooks.")
                hook_feeds.update(request.feed_dict)
            if request.options:
                self._merge_run_options(options, request.options)
        if not hook_feeds:
            return user_feeds
        if user_feeds:
            self._refuse_common(user_feeds, hook_feeds, "Same tensor is fed by a SessionRunHook and user.")
            hook_feeds.update(user_feeds)
        return hook_feeds

    @staticmethod
    def _refuse_common(a: Any, b: Any, message: str) -> None:
        common = [key for key in a if key in b]
        if common:
            raise RuntimeError(f"{message} Conflict(s): {common}")

    @staticmethod
    def _merge_run_options(options: Any, more: Any) -> None:
        for field in ("trace_level", "timeout_in_ms", "inter_op_thread_pool", "output_partition_graphs"):
            setattr(options, field, max(getattr(options, field), getattr(more, field)))
        options.report_tensor_allocations_upon_oom |= more.report_tensor_allocations_upon_oom


class _CoordinatedSessionCreator(SessionCreator):
    """Creates the session with its hooks and coordinator, and starts the queue runners."""

    def __init__(self, creator: SessionCreator, hooks: Sequence[SessionRunHook], stop_grace_period_secs: float) -> None:
        self._creator = creator
        self._hooks = hooks
        self._stop_grace_period_secs = stop_grace_period_secs
        self.coord: Optional[Coordinator] = None
        self.tf_sess: Any = None

    def create_session(self) -> Any:
        self.tf_sess = self._creator.create_session()
        # The end of input is reported to the caller of `run`.
        self.coord = Coordinator(clean_stop_exception_types=[])
        if get_default_graph().get_collection(GraphKeys.QUEUE_RUNNERS):
            start_queue_runners(sess=self.tf_sess, coord=self.coord)
        for hook in self._hooks:
            hook.after_create_session(self.tf_sess, self.coord)
        hooked = _HookedSession(self.tf_sess, self._hooks)
        return _CoordinatedSession(hooked, self.coord, self._stop_grace_period_secs)


class _MonitoredSession:
    """The base class of `MonitoredSession` and `SingularMonitoredSession`."""

    def __init__(
        self,
        session_creator: Optional[SessionCreator],
        hooks: Optional[Sequence[SessionRunHook]],
        should_recover: bool,
        stop_grace_period_secs: float = 120,
    ) -> None:
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        creator = session_creator or ChiefSessionCreator()
        self._coordinated_creator = _CoordinatedSessionCreator(creator, self._hooks, stop_grace_period_secs)
        self._sess: Any
        if should_recover:
            self._sess = _RecoverableSession(self._coordinated_creator)
        else:
            self._sess = self._coordinated_creator.create_session()

    @property
    def graph(self) -> Any:
        """The graph; None after the session is closed."""
        session = self._tf_sess()
        return None if session is None else session.graph

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Runs the session with its hooks. Arguments are those of `Session.run`."""
        return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Calls `step_fn(step_context)`, which may run the session with and without its hooks.

        Args:
          step_fn: A function of a context with `session`, `run_with_hooks(fetches, feed_dict)` and
            `request_stop()`.

        Returns:
          The result of `step_fn`.

        Raises:
          ValueError: `step_fn` takes other arguments.

        Example:
          >>> x = tf.constant(7)
          >>> with tf.train.MonitoredSession() as sess:
          ...     print(sess.run_step_fn(lambda step_context: step_context.session.run(x)))
          7
        """
        names = tuple(inspect.signature(step_fn).parameters)
        if inspect.ismethod(step_fn):
            names = ("self",) + names
        if names not in (("step_context",), ("self", "step_context")):
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and `step_context` arguments if "
                f"it's an instance method. Got {names} instead."
            )
        return self._sess.run_step_fn(step_fn, self._tf_sess(), run_with_hooks=None)

    class StepContext:
        """The argument of a `step_fn`."""

        def __init__(self, session: Any, run_with_hooks_fn: Callable[..., Any]) -> None:
            self._session = session
            self._run_with_hooks_fn = run_with_hooks_fn

        @property
        def session(self) -> Any:
            """The underlying session."""
            return self._session

        def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
            """Calls `run` of the monitored session."""
            return self._run_with_hooks_fn(*args, **kwargs)

        def request_stop(self) -> None:
            """Ends the `with` block of the session, by `StopIteration`."""
            raise StopIteration("step_fn has requested the iterations to stop.")

    def should_stop(self) -> bool:
        """Returns whether a hook or a thread requested a stop."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        """Ends the hooks and the threads, and closes the session.

        Raises:
          RuntimeError: The session is closed already.
        """
        self._close_internal()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, exception_type: Any, exception_value: Any, traceback: Any) -> bool:
        # The end of input is not an error.
        if exception_type in (errors.OutOfRangeError, StopIteration):
            exception_type = None
        self._close_internal(exception_type)
        return exception_type is None

    def _close_internal(self, exception_type: Any = None) -> None:
        try:
            if not exception_type:
                for hook in self._hooks:
                    hook.end(self._coordinated_creator.tf_sess)
        finally:
            try:
                if self._sess is None:
                    raise RuntimeError("Session is already closed.")
                self._sess.close()
            finally:
                self._sess = None
                self._coordinated_creator.tf_sess = None
                self._coordinated_creator.coord = None
                # Engines whose graphs stay read-only lack this method: then the graph cannot be extended
                # again.
                unfinalize = getattr(get_default_graph(), "_unsafe_unfinalize", None)
                if not self._graph_was_finalized and unfinalize is not None:
                    unfinalize()

    def _is_closed(self) -> bool:
        return self._coordinated_creator.tf_sess is None

    def _tf_sess(self) -> Any:
        return self._coordinated_creator.tf_sess


class MonitoredSession(_MonitoredSession):
    """A session that initializes itself, calls hooks, runs queue runners, and recovers from lost sessions.

    Use it as `with MonitoredSession(hooks=..) as sess: while not sess.should_stop(): sess.run(..)`. The end
    of input ends the block. The graph is read-only while the session is open.

    Args:
      session_creator: A `SessionCreator`; by default a `ChiefSessionCreator`.
      hooks: A list of `SessionRunHook`s.
      stop_grace_period_secs: The time in seconds that threads have to end.

    Example:
      >>> number = tf.train.limit_epochs(tf.constant(7), num_epochs=2)
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.graph is tf.get_default_graph())
      ...     while not sess.should_stop():
      ...         print(sess.run(number))
      True
      7
      7
      >>> sess = tf.train.MonitoredSession()
      >>> sess.close()
    """

    def __init__(
        self,
        session_creator: Optional[SessionCreator] = None,
        hooks: Optional[Sequence[SessionRunHook]] = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        super().__init__(
            session_creator, hooks, should_recover=True, stop_grace_period_secs=stop_grace_period_secs
        )


class SingularMonitoredSession(_MonitoredSession):
    """A monitored session without recovery from lost sessions; `raw_session()` returns the underlying one.

    Args:
      hooks: A list of `SessionRunHook`s.
      scaffold: A `Scaffold`.
      master: Empty.
      config: A `ConfigProto`.
      checkpoint_dir: A directory to restore from.
      stop_grace_period_secs: The time in seconds that threads have to end.
      checkpoint_filename_with_path: A checkpoint to restore.

    Example:
      >>> x = tf.constant(7)
      >>> with tf.train.SingularMonitoredSession() as sess:
      ...     print(sess.run(x), type(sess.raw_session()).__name__)
      7 Session
    """

    def __init__(
        self,
        hooks: Optional[Sequence[SessionRunHook]] = None,
        scaffold: Optional[Scaffold] = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: Optional[str] = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: Optional[str] = None,
    ) -> None:
        creator = ChiefSessionCreator(
            scaffold=scaffold,
            master=master,
            config=config,
            checkpoint_dir=checkpoint_dir,
            checkpoint_filename_with_path=checkpoint_filename_with_path,
        )
        super().__init__(creator, hooks, should_recover=False, stop_grace_period_secs=stop_grace_period_secs)

    def raw_session(self) -> Any:
        """Returns the underlying session."""
        return self._tf_sess()


def MonitoredTrainingSession(
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: Optional[str] = None,
    scaffold: Optional[Scaffold] = None,
    hooks: Optional[Sequence[SessionRunHook]] = None,
    chief_only_hooks: Optional[Sequence[SessionRunHook]] = None,
    save_checkpoint_secs: Any = USE_DEFAULT,
    save_summaries_steps: Any = USE_DEFAULT,
    save_summaries_secs: Any = USE_DEFAULT,
    config: Any = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: Optional[int] = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: Any = USE_DEFAULT,
    summary_dir: Optional[str] = None,
) -> MonitoredSession:
    """Returns a `MonitoredSession` with the hooks for training.

    They save checkpoints and summaries to `checkpoint_dir`, and log the number of steps per second.

    Args:
      master: Empty.
      is_chief: If true, the session initializes and saves the model; otherwise it waits for the process that
        does.
      checkpoint_dir: The directory of checkpoints; None for no checkpoints.
      scaffold: A `Scaffold`.
      hooks: A list of hooks.
      chief_only_hooks: A list of hooks for the chief only.
      save_checkpoint_secs: The interval of checkpoints in seconds; 600 if no interval is given.
      save_summaries_steps: The interval of summaries in steps; 100 if no interval is given.
      save_summaries_secs: The interval of summaries in seconds.
      config: A `ConfigProto`.
      stop_grace_period_secs: The time in seconds that threads have to end.
      log_step_count_steps: The interval in steps at which the speed is logged.
      max_wait_secs: The time to wait for the chief, in seconds.
      save_checkpoint_steps: The interval of checkpoints in steps.
      summary_dir: The directory of summaries; by default that of checkpoints.

    Returns:
      A `MonitoredSession`.

    Example:
      >>> import tempfile
      >>> step = tf.train.get_or_create_global_step()
      >>> more = step.assign_add(1)
      >>> folder = tempfile.mkdtemp()
      >>> with tf.train.MonitoredTrainingSession(checkpoint_dir=folder,
      ...     hooks=[tf.train.StopAtStepHook(last_step=3)]) as sess:
      ...     while not sess.should_stop():
      ...         _ = sess.run(more)
      >>> tf.train.latest_checkpoint(folder)[-12:]
      'model.ckpt-3'
    """
    save_summaries_steps, save_summaries_secs = _steps_or_secs(save_summaries_steps, save_summaries_secs, 100, None)
    save_checkpoint_steps, save_checkpoint_secs = _steps_or_secs(
        save_checkpoint_steps, save_checkpoint_secs, None, 600
    )
    scaffold = scaffold or Scaffold()
    if not is_chief:
        worker = WorkerSessionCreator(scaffold=scaffold, master=master, config=config, max_wait_secs=max_wait_secs)
        return MonitoredSession(worker, hooks or [], stop_grace_period_secs)

    all_hooks: List[SessionRunHook] = list(chief_only_hooks or [])
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        if _positive(log_step_count_steps):
            all_hooks.append(basic.StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps))
        if _positive(save_summaries_steps) or _positive(save_summaries_secs):
            all_hooks.append(
                basic.SummarySaverHook(
                    scaffold=scaffold,
                    save_steps=save_summaries_steps,
                    save_secs=save_summaries_secs,
                    output_dir=summary_dir,
                )
            )
    if checkpoint_dir and (_positive(save_checkpoint_secs) or _positive(save_checkpoint_steps)):
        all_hooks.append(
            basic.CheckpointSaverHook(
                checkpoint_dir, save_steps=save_checkpoint_steps, save_secs=save_checkpoint_secs, scaffold=scaffold
            )
        )
    all_hooks += hooks or []
    chief = ChiefSessionCreator(scaffold=scaffold, checkpoint_dir=checkpoint_dir, master=master, config=config)
    return MonitoredSession(chief, all_hooks, stop_grace_period_secs)


def _positive(number: Any) -> bool:
    return bool(number) and 0 < number


def _steps_or_secs(steps: Any, secs: Any, default_steps: Any, default_secs: Any) -> Any:
    """Returns the given intervals, with None for the missing one, or the defaults if both are missing."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default_steps, default_secs
    return None if steps is USE_DEFAULT else steps, None if secs is USE_DEFAULT else secs
