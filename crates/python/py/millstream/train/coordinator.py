"""`Coordinator`: threads that stop together. `LooperThread`: a thread that does something again and again until they do."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import Any, Callable, Iterable, Iterator, Optional, Sequence, Set, Tuple, Type

from millstream import compat, errors, logging


class Coordinator:
    """Stops a set of threads when any one of them asks to, and hands on why.

    A thread works `while not coord.should_stop()`, and calls `coord.request_stop(error)` when something goes wrong; whoever
    calls `coord.join(threads)` waits for all and gets the first error raised. Errors of `clean_stop_exception_types`, by default
    `OutOfRangeError` (the input has ended), stop the threads but are no errors.
    """

    def __init__(self, clean_stop_exception_types: Optional[Sequence[Type[BaseException]]] = None) -> None:
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (errors.OutOfRangeError,)
        self._clean_stop_exception_types = tuple(clean_stop_exception_types)
        # Guards the three fields below it. Reentrant: a signal handler may ask to stop while this thread holds it.
        self._lock = threading.RLock()
        self._exc_info_to_raise: Any = None
        self._joined = False
        self._registered_threads: Set[threading.Thread] = set()
        self._stop_event = threading.Event()

    def _is_clean(self, ex: Any) -> bool:
        error = ex[1] if isinstance(ex, tuple) else ex
        return isinstance(error, self._clean_stop_exception_types)

    def request_stop(self, ex: Any = None) -> None:
        """Makes `should_stop()` true. `ex`, an exception being handled or `sys.exc_info()`, is raised from `join` if it is the first.

        After `join` nobody would hear of it any more, so it is raised here.
        """
        with self._lock:
            if ex is not None and self._is_clean(ex):
                ex = None
            if self._joined and ex is not None:
                _reraise(ex if isinstance(ex, tuple) else sys.exc_info() if sys.exc_info()[1] else (type(ex), ex, None))
            if self._stop_event.is_set():
                return
            if ex and self._exc_info_to_raise is None:
                self._exc_info_to_raise = self._recorded(ex)
            self._stop_event.set()

    @staticmethod
    def _recorded(ex: Any) -> Any:
        """What `join` will raise for `ex`."""
        if isinstance(ex, tuple):
            shown = compat.as_str_any(ex[1]) if 1 < len(ex) else ex
            logging.info("Error reported to Coordinator: %s", shown, exc_info=ex if len(ex) == 3 else None)
            info: Any = ex
        else:
            logging.info("Error reported to Coordinator: %s, %s", type(ex), compat.as_str_any(ex))
            info = sys.exc_info()
        if len(info) == 3 and info[0] and info[1]:
            return info
        problem = ValueError(f"ex must be a tuple or sys.exc_info must return the current exception: {info}")
        return ValueError, problem, None

    def clear_stop(self) -> None:
        """Makes ready for another round: `should_stop()` is false again, an error recorded is forgotten."""
        with self._lock:
            self._joined = False
            self._exc_info_to_raise = None
            self._stop_event.clear()

    def should_stop(self) -> bool:
        """Whether somebody asked to stop."""
        return self._stop_event.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """A `with` block whose exceptions become `request_stop(exception)`; they do not leave the block."""
        try:
            yield
        except BaseException:
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: Optional[float] = None) -> bool:
        """Waits until somebody asks to stop; False if `timeout` seconds passed first."""
        return self._stop_event.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """`join` waits for this thread, too."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(
        self,
        threads: Optional[Iterable[threading.Thread]] = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits for the registered threads and `threads` to end, then raises the error that one of them reported, if any.

        Once stop was requested they have `stop_grace_period_secs`; if some are alive after that, `RuntimeError` names them
        (with `ignore_live_threads`, the log does).
        """
        with self._lock:
            waited_for = list(self._registered_threads.union(threads or ()))

        # Short waits, so that Ctrl-C is seen; woken at once by the request to stop.
        while any(t.is_alive() for t in waited_for) and not self.wait_for_stop(0.1):
            pass
        deadline = time.monotonic() + stop_grace_period_secs
        for thread in waited_for:
            while thread.is_alive() and time.monotonic() < deadline:
                thread.join(max(0.0, min(0.1, deadline - time.monotonic())))
        stragglers = " ".join(t.name for t in waited_for if t.is_alive())

        with self._lock:
            self._joined = True
            self._registered_threads = set()
            if self._exc_info_to_raise:
                _reraise(self._exc_info_to_raise)
            if stragglers:
                message = f"Coordinator stopped with threads still running: {stragglers}"
                if not ignore_live_threads:
                    raise RuntimeError(message)
                logging.info("%s", message)

    @property
    def joined(self) -> bool:
        """Whether `join` has ended."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises the error given to `request_stop`, if one was."""
        with self._lock:
            if self._exc_info_to_raise:
                _reraise(self._exc_info_to_raise)


def _reraise(info: Tuple[Any, Any, Any]) -> None:
    kind, error, trace = info
    if not isinstance(error, BaseException):
        error = kind(error) if error is not None else kind()
    raise error.with_traceback(trace)


class LooperThread(threading.Thread):
    """Calls `target(*args, **kwargs)`, or its own `run_loop()`, until the coordinator says stop: every `timer_interval_secs`
    seconds, or without pause if that is None. An exception is reported to the coordinator and ends the thread."""

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: Optional[float],
        target: Optional[Callable[..., Any]] = None,
        args: Optional[Sequence[Any]] = None,
        kwargs: Any = None,
    ) -> None:
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__(daemon=True)
        if target is None and (args or kwargs):
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        self._coord = coord
        self._timer_interval_secs = timer_interval_secs
        self._task = None if target is None else (target, args or (), kwargs or {})
        self._coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: Optional[float],
        target: Callable[..., Any],
        args: Optional[Sequence[Any]] = None,
        kwargs: Any = None,
    ) -> "LooperThread":
        """Makes such a thread and starts it."""
        looper = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """What the thread does."""
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._timer_interval_secs is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                # Due times are counted on from the start, so that they do not drift by how long each call takes.
                due = time.time()
                while not self._coord.wait_for_stop(due - time.time()):
                    due += self._timer_interval_secs
                    self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Called once, before the first call."""

    def stop_loop(self) -> None:
        """Called once, after the last call; not after an exception."""

    def run_loop(self) -> None:
        """One turn."""
        if self._task is not None:
            target, args, kwargs = self._task
            target(*args, **kwargs)
