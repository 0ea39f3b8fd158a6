"""`SessionRunHook`: callbacks around the runs of a monitored session, with their arguments and results."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional


class SessionRunHook:
    """Callbacks around the runs of a monitored session, in the order of the methods below.

    Override those needed.

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
        """Runs once, before the session is created; the graph may still be extended."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs after a session was created, also when it replaces a lost one. The graph is finalized.

        Args:
          session: The underlying session.
          coord: The `Coordinator` of the threads.
        """

    def before_run(self, run_context: "SessionRunContext") -> Optional["SessionRunArgs"]:
        """Runs before each run. The fetches, feeds and options it returns are added to the run.

        Args:
          run_context: The `SessionRunContext`.

        Returns:
          A `SessionRunArgs`, or None.
        """
        return None

    def after_run(self, run_context: "SessionRunContext", run_values: "SessionRunValues") -> None:
        """Runs after each run that succeeded, with the values of this hook's fetches.

        Args:
          run_context: The `SessionRunContext`.
          run_values: The `SessionRunValues`.
        """

    def end(self, session: Any) -> None:
        """Runs once at the end, unless an error other than the end of input ends the session.

        The end of input is `OutOfRangeError` or `StopIteration`.
        """


class SessionRunArgs(NamedTuple):
    """The additions of a hook to a run: `fetches` in any structure, a dict `feed_dict`, and `RunOptions`.

    Example:
      >>> tf.train.SessionRunArgs(["loss:0"]).fetches
      ['loss:0']
    """

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """The results of a run: the values of the hook's fetches, and the run's `options` and `run_metadata`.

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
    """The run that a hook is called for: its arguments, its session, and the means to stop.

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
        """The fetches and feeds of the program itself."""
        return self._original_args

    @property
    def session(self) -> Any:
        """The underlying session."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook requested a stop."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Makes `should_stop()` of the monitored session true after this run."""
        self._stop_requested = True
