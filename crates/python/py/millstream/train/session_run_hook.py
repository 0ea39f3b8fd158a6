"""`SessionRunHook`: what a monitored session calls before and after each run, and what it tells and is told."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional


class SessionRunHook:
    """Override what is wanted: the calls come in the order they stand here."""

    def begin(self) -> None:
        """Called once, before the session is made; the graph may still be added to."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called when a session was made, and again when a lost one was made anew. The graph is final."""

    def before_run(self, run_context: "SessionRunContext") -> Optional["SessionRunArgs"]:
        """Called before each run. What it returns is fetched, fed and set as well."""
        return None

    def after_run(self, run_context: "SessionRunContext", run_values: "SessionRunValues") -> None:
        """Called after each run that did not fail, with what was fetched for this hook."""

    def end(self, session: Any) -> None:
        """Called once at the end; not if the session ends by an exception other than `OutOfRangeError` or `StopIteration`."""


class SessionRunArgs(NamedTuple):
    """What a hook adds to a run: `fetches` in any structure, a dict of feeds, `RunOptions`."""

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """What a run gave: the hook's own fetches as it asked for them, and the run's options and metadata."""

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """The run that a hook is called for."""

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
