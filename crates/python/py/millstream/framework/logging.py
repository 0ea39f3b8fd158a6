"""`tf.logging`: the log of this package, the logger `millstream` of Python's `logging`.

After `as_tensorflow` it is the logger `tensorflow`, to which programs add handlers and set levels by name.
"""

from __future__ import annotations

import collections
import logging as _logging
import sys
import threading
from typing import Any, Counter

DEBUG = _logging.DEBUG
INFO = _logging.INFO
WARN = _logging.WARNING
ERROR = _logging.ERROR
FATAL = _logging.FATAL

_lock = threading.Lock()
_counts: Counter[str] = collections.Counter()
_made = False
_name = "millstream"


def _adopt(name: str) -> None:
    """Gives the log another name. Handlers and level go along, unless the program has set its own."""
    global _name
    with _lock:
        if name == _name:
            return
        old, new = _logging.getLogger(_name), _logging.getLogger(name)
        _name = name
        if _made:
            if new.level == _logging.NOTSET:
                new.setLevel(old.level)
            if not new.handlers:
                for handler in list(old.handlers):
                    new.addHandler(handler)



def _get_logger() -> _logging.Logger:
    """Returns the logger; the first call adds a handler, unless the program has set up logging itself.

    Returns:
      The `logging.Logger` of `tf.logging`.

    Example:
      >>> tf.get_logger().name
      'millstream'
    """
    global _made
    logger = _logging.getLogger(_name)
    if _made:
        return logger
    with _lock:
        if not _made:
            # An interactive session shows informational messages. Elsewhere the level is the program's, or
            # that of the root logger, which is WARN unless the program says otherwise.
            if hasattr(sys, "ps1"):
                logger.setLevel(INFO)
            if not _logging.getLogger().handlers:
                handler = _logging.StreamHandler(sys.stderr)
                handler.setFormatter(_logging.Formatter(_logging.BASIC_FORMAT))
                logger.addHandler(handler)
            _made = True
    return logger


def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at a level.

    Args:
      level: One of `DEBUG`, `INFO`, `WARN`, `ERROR` and `FATAL`.
      msg: The format string.
      *args: Values for the format string.

    Example:
      >>> tf.logging.log(tf.logging.WARN, "step %d", 3)  # WARNING:millstream:step 3
    """
    _get_logger().log(level, msg, *args, **kwargs)


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at level DEBUG.

    Example:
      >>> tf.logging.debug("x is %d", 3)  # Not written: the level is WARN, if none is set.
    """
    _get_logger().debug(msg, *args, **kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at level INFO.

    Example:
      >>> tf.logging.info("step %d", 3)  # INFO:millstream:step 3, after set_verbosity(tf.logging.INFO)
    """
    _get_logger().info(msg, *args, **kwargs)


def warn(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at level WARN.

    Example:
      >>> tf.logging.warn("slow: %d s", 3)  # WARNING:millstream:slow: 3 s
    """
    _get_logger().warning(msg, *args, **kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at level WARN.

    Example:
      >>> tf.logging.warning("slow: %d s", 3)  # WARNING:millstream:slow: 3 s
    """
    _get_logger().warning(msg, *args, **kwargs)


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at level ERROR.

    Example:
      >>> tf.logging.error("lost %s", "x")  # ERROR:millstream:lost x
    """
    _get_logger().error(msg, *args, **kwargs)


def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at level FATAL; the program goes on.

    Example:
      >>> tf.logging.fatal("lost %s", "x")  # CRITICAL:millstream:lost x
    """
    _get_logger().fatal(msg, *args, **kwargs)


def vlog(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at a numeric level, below all named ones.

    Args:
      level: The number.
      msg: The format string.
      *args: Values for the format string.

    Example:
      >>> tf.logging.vlog(2, "a detail")
    """
    _get_logger().log(level, msg, *args, **kwargs)


def log_if(level: int, msg: str, condition: Any, *args: Any) -> None:
    """Logs `msg % args` if the condition is true.

    Args:
      level: The level.
      msg: The format string.
      condition: A Python value.
      *args: Values for the format string.

    Example:
      >>> tf.logging.log_if(tf.logging.WARN, "x is %d", 3 < 2, 3)
    """
    if condition:
        log(level, msg, *args)


def _times() -> int:
    """Returns how often this place in the program has logged before."""
    frame = sys._getframe(2)
    with _lock:
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        count = _counts[place]
        _counts[place] += 1
        return count


def log_every_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Logs every n-th time that the calling line is reached, the first time included.

    Args:
      level: The level.
      msg: The format string.
      n: The period.
      *args: Values for the format string.

    Example:
      >>> for i in range(100):
      ...     tf.logging.log_every_n(tf.logging.WARN, "step %d", 50, i)  # Steps 0 and 50.
    """
    log_if(level, msg, _times() % n == 0, *args)


def log_first_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Logs the first n times that the calling line is reached.

    Args:
      level: The level.
      msg: The format string.
      n: The number of times.
      *args: Values for the format string.

    Example:
      >>> for i in range(100):
      ...     tf.logging.log_first_n(tf.logging.WARN, "step %d", 1, i)  # Step 0.
    """
    log_if(level, msg, _times() < n, *args)


def set_verbosity(v: Any) -> None:
    """Sets the lowest level that is logged.

    Args:
      v: A level, or its name.

    Example:
      >>> before = tf.logging.get_verbosity()
      >>> tf.logging.set_verbosity(tf.logging.ERROR)
      >>> tf.logging.get_verbosity() == tf.logging.ERROR
      True
      >>> tf.logging.set_verbosity(before)
    """
    _get_logger().setLevel(v)


def get_verbosity() -> int:
    """Returns the lowest level that is logged.

    Returns:
      An int.

    Example:
      >>> tf.logging.get_verbosity() in (tf.logging.DEBUG, tf.logging.INFO, tf.logging.WARN, tf.logging.ERROR)
      True
    """
    return _get_logger().getEffectiveLevel()


def flush() -> None:
    """Does nothing: nothing is buffered.

    Example:
      >>> tf.logging.flush()
    """


def TaskLevelStatusMessage(msg: str) -> None:
    """Logs a message at level ERROR.

    Example:
      >>> tf.logging.TaskLevelStatusMessage("the task is done")  # ERROR:millstream:the task is done
    """
    error(msg)
