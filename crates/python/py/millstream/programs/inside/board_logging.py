"""`python.training.tensorboard_logging`: messages to the log and to files of summaries. `NAMES`."""

from __future__ import annotations

import time
from typing import Any, Dict

from millstream.framework import logging, protos

DEBUG, INFO, WARN, ERROR, FATAL = "DEBUG", "INFO", "WARN", "ERROR", "FATAL"

# The names of levels, the least first, and the levels of the log.
_LEVELS = {
    DEBUG: logging.DEBUG,
    INFO: logging.INFO,
    WARN: logging.WARN,
    ERROR: logging.ERROR,
    FATAL: logging.FATAL,
}
_state: Dict[str, Any] = {"verbosity": WARN, "writer": None}


def _checked(level: Any) -> str:
    if level not in _LEVELS:
        raise ValueError("Level %s is not a valid tensorboard_logging level: use one of %s" % (level, ", ".join(_LEVELS)))
    return str(level)


def set_verbosity(verbosity: str) -> None:
    """Sets the least level of messages that become events.

    Raises:
      ValueError: It is not a level.
    """
    _state["verbosity"] = _checked(verbosity)


def get_verbosity() -> str:
    """Returns the least level of messages that become events."""
    return str(_state["verbosity"])


def set_summary_writer(summary_writer: Any) -> None:
    """Sets the writer of events, which the functions below need."""
    _state["writer"] = summary_writer


def _clear_summary_writer() -> None:
    _state["writer"] = None


def log(level: str, message: Any, *args: Any) -> None:
    """Logs a message, with `args` for its `%`, and writes it as an event.

    Raises:
      RuntimeError: There is no writer.
      ValueError: `level` is not a level.
    """
    if _state["writer"] is None:
        raise RuntimeError("Must call set_summary_writer before doing any logging from tensorboard_logging")
    _checked(level)
    order = list(_LEVELS)
    if order.index(_state["verbosity"]) <= order.index(level):
        text = message % args
        told = protos.LogMessage(level=getattr(protos.LogMessage, level), message=text)
        _state["writer"].add_event(protos.Event(wall_time=time.time(), log_message=told))
    logging.log(_LEVELS[level], message, *args)


def debug(message: Any, *args: Any) -> None:
    """Logs a message of the level DEBUG; see `log`."""
    log(DEBUG, message, *args)


def info(message: Any, *args: Any) -> None:
    """Logs a message of the level INFO; see `log`."""
    log(INFO, message, *args)


def warn(message: Any, *args: Any) -> None:
    """Logs a message of the level WARN; see `log`."""
    log(WARN, message, *args)


def error(message: Any, *args: Any) -> None:
    """Logs a message of the level ERROR; see `log`."""
    log(ERROR, message, *args)


def fatal(message: Any, *args: Any) -> None:
    """Logs a message of the level FATAL; see `log`."""
    log(FATAL, message, *args)


NAMES: Dict[str, Dict[str, Any]] = {
    "python.training.tensorboard_logging": {
        "DEBUG": DEBUG,
        "INFO": INFO,
        "WARN": WARN,
        "ERROR": ERROR,
        "FATAL": FATAL,
        "_clear_summary_writer": _clear_summary_writer,
        "debug": debug,
        "error": error,
        "fatal": fatal,
        "get_verbosity": get_verbosity,
        "info": info,
        "log": log,
        "set_summary_writer": set_summary_writer,
        "set_verbosity": set_verbosity,
        "warn": warn,
    },
}
