"""Decorators for functions that are deprecated, wholly or for some arguments: they log a warning."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Set

from millstream.framework import logging

__all__ = ["deprecated", "deprecated_arg_values", "deprecated_args"]


def _when(date: Any) -> str:
    return "in a future version" if date is None else "after %s" % date


def _check(date: Any, instructions: Any) -> None:
    if date is not None and not (isinstance(date, str) and len(date) == 10 and date[:4].isdigit() and date[4] == date[7] == "-"):
        raise ValueError("Date must be YYYY-MM-DD.")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")


def _warn(func: Any, what: str, date: Any, instructions: str) -> None:
    frame = inspect.stack()[2]
    words = "From %s:%s: %s (from %s) %s will be removed %s.\nInstructions for updating:\n%s"
    logging.warning(words, frame.filename, frame.lineno, func.__name__, func.__module__, what, _when(date), instructions)


def deprecated(date: Any, instructions: str, warn_once: bool = True) -> Callable[[Any], Any]:
    """Returns a decorator of functions that are deprecated: a call logs a warning.

    Args:
      date: When the function will be removed, `"YYYY-MM-DD"`, or None.
      instructions: What to use instead.
      warn_once: If true, only the first call logs.

    Returns:
      A decorator.

    Raises:
      ValueError: `date` is no date, or there are no instructions.

    Example:
      >>> @tf.contrib.framework.deprecated(None, "Use `+`.")
      ... def plus(a, b):
      ...     return a + b
      >>> plus(1, 2)
      3
    """
    _check(date, instructions)

    def decorate(func: Any) -> Any:
        warned: Set[bool] = set()

        @functools.wraps(func)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not (warn_once and warned):
                warned.add(True)
                _warn(func, "is deprecated and", date, instructions)
            return func(*args, **kwargs)

        return call

    return decorate


def deprecated_args(date: Any, instructions: str, *deprecated_arg_names_or_tuples: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """Returns a decorator of functions with deprecated arguments: a call that gives one logs a warning.

    Args:
      date: When the arguments will be removed, `"YYYY-MM-DD"`, or None.
      instructions: What to use instead.
      *deprecated_arg_names_or_tuples: Names, or pairs of a name and a value that needs no warning.
      **kwargs: `warn_once`, true by default.

    Returns:
      A decorator.

    Raises:
      ValueError: `date` is no date, there are no instructions or names, or the function has no such argument.

    Example:
      >>> @tf.contrib.framework.deprecated_args(None, "Use `axis`.", "dim")
      ... def along(x, axis=None, dim=None):
      ...     return axis if dim is None else dim
      >>> along([], axis=3)
      3
    """
    _check(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    pairs = [item if isinstance(item, tuple) else (item, None) for item in deprecated_arg_names_or_tuples]
    return _decorator(date, instructions, kwargs.get("warn_once", True), lambda key, value: any(key == n and value != ok for n, ok in pairs), [n for n, _ in pairs])


def deprecated_arg_values(date: Any, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any) -> Callable[[Any], Any]:
    """Returns a decorator of functions with deprecated values of arguments: a call with one logs a warning.

    Args:
      date: When the values will be refused, `"YYYY-MM-DD"`, or None.
      instructions: What to use instead.
      warn_once: If true, only the first such call logs.
      **deprecated_kwargs: The values by argument.

    Returns:
      A decorator.

    Raises:
      ValueError: `date` is no date, there are no instructions or values, or the function has no such
        argument.

    Example:
      >>> @tf.contrib.framework.deprecated_arg_values(None, "Leave it out.", fast=False)
      ... def run(fast=True):
      ...     return fast
      >>> run()
      True
    """
    _check(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")
    return _decorator(date, instructions, warn_once, lambda key, value: key in deprecated_kwargs and deprecated_kwargs[key] == value, list(deprecated_kwargs))


def _decorator(date: Any, instructions: str, warn_once: bool, is_old: Callable[[str, Any], bool], names: Any) -> Callable[[Any], Any]:
    def decorate(func: Any) -> Any:
        signature, warned = inspect.signature(func), set()
        missing = [n for n in names if n not in signature.parameters and not any(p.kind == p.VAR_KEYWORD for p in signature.parameters.values())]
        if missing:
            raise ValueError("The following deprecated arguments are not present in the function signature: %s." % missing)

        @functools.wraps(func)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = signature.bind_partial(*args, **kwargs).arguments
            for key, value in given.items():
                if is_old(key, value) and not (warn_once and key in warned):
                    warned.add(key)
                    _warn(func, "is called with the argument %s=%r, which is deprecated and" % (key, value), date, instructions)
            return func(*args, **kwargs)

        return call

    return decorate
