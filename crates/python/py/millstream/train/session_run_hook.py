"""`SessionRunHook`: what a monitored session calls before and after each run, and what it tells and is told."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional


class SessionRunHook:
    """What is called around the runs of a monitored session. Override what is wanted: the calls come in the order they
    stand here.

    Example:
      >>> class Watch(tf.train.SessionRunHook):
      ...     def begin(self):
      ...         self.step = tf.train.get_or_create_global_step()
      ...     def after_create_session(self, session, coord):
      ...         print("ready")
      ...     def before_run(self, run_context):
      ...         return tf.train.SessionRunArgs(self.step)
      ...     def after_run(self, run_context, run_values):
      ...         print("step", run_values.results)
      ...     def end(self, session):
      ...         print("done")
      >>> with tf.train.MonitoredSession(hooks=[Watch()]) as sess:
      ...     _ = sess.run(tf.train.get_global_step())
      ready
      step 0
      done
    """

    def begin(self) -> None:
        """Called once, before the session is made; the graph may still be added to."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called when a session was made, and again when a lost one was made anew. The graph is final.

        Args:
          session: The plain session.
          coord: The `Coordinator` of the threads.
        """

    def before_run(self, run_context: "SessionRunContext") -> Optional["SessionRunArgs"]:
        """Called before each run. What it returns is fetched, fed and set as well.

        Args:
          run_context: The `SessionRunContext`.

        Returns:
          A `SessionRunArgs`, or None.
        """
        return None

    def after_run(self, run_context: "SessionRunContext", run_values: "SessionRunValues") -> None:
        """Called after each run that did not fail, with what was fetched for this hook.

        Args:
          run_context: The `SessionRunContext`.
          run_values: The `SessionRunValues`.
        """

    def end(self, session: Any) -> None:
        """Called once at the end; not if the session ends by an exception other than `OutOfRangeError` or `StopIteration`."""


class SessionRunArgs(NamedTuple):
    """What a hook adds to a run: `fetches` in any structure, `feed_dict`, a dict, and `options`, a `RunOptions`.

    Example:
      >>> tf.train.SessionRunArgs(["loss:0"]).fetches
      ['loss:0']
    """

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """What a run gave: `results`, the hook's own fetches as it asked for them, and the run's `options` and
    `run_metadata`.

    Example:
      >>> class Peek(tf.train.SessionRunHook):
      ...     def before_run(self, run_context):
      ...         return tf.train.SessionRunArgs({"x": "x:0"})
      ...     def after_run(self, run_context, run_values):
      ...         print(int(run_values.results["x"]))
      >>> x = tf.constant(7, name="x")
      >>> y = x + 1
      >>> with tf.train.MonitoredSession(hooks=[Peek()]) as sess:
      ...     print(sess.run(y))
      7
      8
    """

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """The run that a hook is called for.

    Example:
      >>> class Once(tf.train.SessionRunHook):
      ...     def before_run(self, run_context):
      ...         print(run_context.original_args.fetches.name, type(run_context.session).__name__)
      ...     def after_run(self, run_context, run_values):
      ...         run_context.request_stop()
      ...         print(run_context.stop_requested)
      >>> x = tf.constant(1, name="x")
      >>> with tf.train.MonitoredSession(hooks=[Once()]) as sess:
      ...     while not sess.should_stop():
      ...         _ = sess.run(x)
      x:0 Session
      True
    """

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """What the program itself asked for."""
        return self._original_args

    @property
    def session(self) -> Any:
        """The plain session."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook asked to stop."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Makes `should_stop()` of the monitored session true after this run."""
        self._stop_requested = True
