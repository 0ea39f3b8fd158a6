"""`Coordinator`: threads that stop together. `LooperThread`: a thread that repeats a call until they do."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import Any, Callable, Iterable, Iterator, Optional, Sequence, Set, Tuple, Type

from millstream import _engine
from millstream.framework import errors, logging
from millstream.framework.text import as_str_any


class Coordinator:
    """Stops a set of threads together, and reports the first error.

    Threads work `while not coord.should_stop()` and call `coord.request_stop(error)` on failure;
    `coord.join(threads)` waits for all of them and raises the first error reported.

    Args:
      clean_stop_exception_types: Classes of exceptions that stop the threads but are not errors; by default
        `OutOfRangeError`, the end of input.

    Example:
      >>> import threading
      >>> coord, seen = tf.train.Coordinator(), []
      >>> def work():
      ...     with coord.stop_on_exception():
      ...         while not coord.should_stop():
      ...             seen.append(len(seen))
      ...             if len(seen) == 3:
      ...                 coord.request_stop()
      >>> thread = threading.Thread(target=work)
      >>> coord.register_thread(thread)
      >>> thread.start()
      >>> coord.join([thread])
      >>> seen, coord.joined, coord.should_stop()
      ([0, 1, 2], True, True)
      >>> coord.clear_stop()
      >>> coord.should_stop()
      False
    """

    def __init__(self, clean_stop_exception_types: Optional[Sequence[Type[BaseException]]] = None) -> None:
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (errors.OutOfRangeError,)
        self._clean_stop_exception_types = tuple(clean_stop_exception_types)
        # Guards the three fields below. Reentrant: a signal handler may request a stop while this thread
        # holds it.
        self._lock = threading.RLock()
        self._exc_info_to_raise: Any = None
        self._joined = False
        self._registered_threads: Set[threading.Thread] = set()
        self._stop_event = threading.Event()

    def __repr__(self) -> str:
        state = "joined" if self.joined else "stopping" if self.should_stop() else "running"
        return "<tf.train.Coordinator of %d threads, %s>" % (len(self._registered_threads), state)

    def _is_clean(self, ex: Any) -> bool:
        error = ex[1] if isinstance(ex, tuple) else ex
        return isinstance(error, self._clean_stop_exception_types)

    def request_stop(self, ex: Any = None) -> None:
        """Requests that the threads stop: `should_stop()` is true from here on.

        Args:
          ex: The exception being handled, or the tuple of `sys.exc_info()`. `join` raises the first one
            reported.

        Raises:
          ValueError: `ex` is not the exception being handled.
          BaseException: `ex` itself, if `join` has returned and cannot raise it any more.

        Example:
          >>> coord = tf.train.Coordinator()
          >>> try:
          ...     {}["lost"]
          ... except KeyError as error:
          ...     coord.request_stop(error)
          >>> coord.should_stop()
          True
          >>> coord.join()
          Traceback (most recent call last):
            ...
          KeyError: 'lost'
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
        """The exception info that `join` raises for `ex`."""
        if isinstance(ex, tuple):
            shown = as_str_any(ex[1]) if 1 < len(ex) else ex
            logging.info("Error reported to Coordinator: %s", shown, exc_info=ex if len(ex) == 3 else None)
            info: Any = ex
        else:
            logging.info("Error reported to Coordinator: %s, %s", type(ex), as_str_any(ex))
            info = sys.exc_info()
        if len(info) == 3 and info[0] and info[1]:
            return info
        problem = ValueError(f"ex must be a tuple or sys.exc_info must return the current exception: {info}")
        return ValueError, problem, None

    def clear_stop(self) -> None:
        """Resets the coordinator: `should_stop()` is false again, and a recorded error is dropped."""
        with self._lock:
            self._joined = False
            self._exc_info_to_raise = None
            self._stop_event.clear()

    def should_stop(self) -> bool:
        """Returns whether a stop was requested."""
        return self._stop_event.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """A context manager that passes exceptions of its block to `request_stop` instead of raising them.

        Example:
          >>> coord = tf.train.Coordinator()
          >>> with coord.stop_on_exception():
          ...     raise KeyError("lost")
          >>> coord.raise_requested_exception()
          Traceback (most recent call last):
            ...
          KeyError: 'lost'
        """
        try:
            yield
        except BaseException:
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: Optional[float] = None) -> bool:
        """Waits until a stop is requested.

        Args:
          timeout: The time to wait at most, in seconds; None to wait without limit.

        Returns:
          True if a stop was requested, False on timeout.

        Example:
          >>> tf.train.Coordinator().wait_for_stop(0.01)
          False
        """
        return self._stop_event.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Registers a thread for `join` to wait for."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(
        self,
        threads: Optional[Iterable[threading.Thread]] = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits for the registered threads and `threads` to end, then raises the first error reported.

        Args:
          threads: Threads to wait for in addition to the registered ones.
          stop_grace_period_secs: The time in seconds that threads have to end after a stop was requested.
          ignore_live_threads: If true, threads still alive after that are only logged.

        Raises:
          RuntimeError: Threads are still alive after the grace period; the message names them.
          BaseException: The error passed to `request_stop`.

        Example:
          >>> coord = tf.train.Coordinator()
          >>> loop = tf.train.LooperThread.loop(coord, 0.001, lambda: coord.request_stop(), [])
          >>> coord.join([loop])
          >>> loop.is_alive()
          False
        """
        with self._lock:
            waited_for = list(self._registered_threads.union(threads or ()))

        def until_stop() -> None:
            # Short waits let Ctrl-C through; a request to stop wakes the wait at once.
            while any(t.is_alive() for t in waited_for) and not self.wait_for_stop(0.1):
                pass

        def until_ended() -> None:
            deadline = time.monotonic() + stop_grace_period_secs
            for thread in waited_for:
                while thread.is_alive() and time.monotonic() < deadline:
                    thread.join(max(0.0, min(0.1, deadline - time.monotonic())))

        # This thread can do nothing for the others, which the engine has to know if all of them wait.
        _engine.asleep(until_stop)
        _engine.asleep(until_ended)
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

    def _first_error(self) -> Optional[BaseException]:
        """The error that `join` raises, if any."""
        with self._lock:
            info = self._exc_info_to_raise
        return info[1] if info and isinstance(info[1], BaseException) else None

    @property
    def joined(self) -> bool:
        """Whether `join` has returned."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises the error passed to `request_stop`, if any.

        Raises:
          BaseException: That error.

        Example:
          >>> tf.train.Coordinator().raise_requested_exception()
        """
        with self._lock:
            if self._exc_info_to_raise:
                _reraise(self._exc_info_to_raise)


def _reraise(info: Tuple[Any, Any, Any]) -> None:
    kind, error, trace = info
    if not isinstance(error, BaseException):
        error = kind(error) if error is not None else kind()
    raise error.with_traceback(trace)


class LooperThread(threading.Thread):
    """A thread that calls `target(*args, **kwargs)`, or its own `run_loop()`, until its coordinator stops.

    An exception is reported to the coordinator and ends the thread. `start_loop` is called once before the
    first call, `stop_loop` once after the last.

    Args:
      coord: The `Coordinator`.
      timer_interval_secs: The time between the starts of two calls, in seconds; None for no pause.
      target: The function to call.
      args: A list of positional arguments for it.
      kwargs: A dict of keyword arguments for it.

    Raises:
      ValueError: `coord` is not a `Coordinator`, or arguments are given without `target`.

    Example:
      >>> class Counting(tf.train.LooperThread):
      ...     def start_loop(self):
      ...         self.n = 0
      ...     def run_loop(self):
      ...         self.n += 1
      ...         if self.n == 3:
      ...             self._coord.request_stop()
      ...     def stop_loop(self):
      ...         self.n = -self.n
      >>> coord = tf.train.Coordinator()
      >>> thread = Counting(coord, None)
      >>> thread.start()  # It calls `thread.run()`.
      >>> coord.join([thread])
      >>> thread.n
      -3
    """

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
        """Creates such a thread and starts it. Arguments are those of the class.

        Returns:
          The `LooperThread`.

        Example:
          >>> coord, seen = tf.train.Coordinator(), []
          >>> thread = tf.train.LooperThread.loop(coord, None,
          ...     lambda x: seen.append(x) or coord.request_stop(), ["once"])
          >>> coord.join([thread])
          >>> seen
          ['once']
        """
        looper = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """The body of the thread."""
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._timer_interval_secs is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                # Due times are computed from the start, so that the duration of calls does not add up.
                due = time.time()
                while not self._coord.wait_for_stop(due - time.time()):
                    due += self._timer_interval_secs
                    self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Runs once, before the first call."""

    def stop_loop(self) -> None:
        """Runs once, after the last call; not after an exception."""

    def run_loop(self) -> None:
        """Runs one iteration."""
        if self._task is not None:
            target, args, kwargs = self._task
            target(*args, **kwargs)
