"""Decorators of `tensorflow.python.util.deprecation`: notices in docstrings, and warnings of calls."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import sys
from typing import Any, Callable, Dict, Iterator, Optional, Tuple

from millstream.framework import logging
from millstream.programs.inside.utilities import make_decorator

# Whether calls are warned of, and what has been warned of: a function, or a function and an argument.
_state = {"warns": True}
_warned: Dict[Any, bool] = {}


def _checked(date: Optional[str], instructions: Optional[str]) -> None:
    if date is not None and not re.match(r"20\d\d-[01]\d-[0123]\d", date):
        raise ValueError("Date must be YYYY-MM-DD.")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")


def _until(date: Optional[str]) -> str:
    return "in a future version" if date is None else "after %s" % date


def _documented(doc: Optional[str], instructions: str, without: str, suffix: str, notice: str) -> str:
    """Returns a docstring with a notice after its first line, or a new one."""
    if doc:
        lines = inspect.cleandoc(doc).splitlines()
        lines[0] += " " + suffix
    else:
        lines = [without]
    said = ["", notice, "Instructions for updating:", instructions]
    if len(lines) > 1 and lines[1].strip():
        said.append("")
    return "\n".join([lines[0], *said, *lines[1:]])


def _place(frame: Any) -> str:
    """Returns the file and line of a call."""
    return "%s:%d" % (frame.f_code.co_filename, frame.f_lineno)


def _warn(text: str, *parts: Any) -> None:
    # A program's own module, so that a function which it puts there is called.
    module = sys.modules.get("tensorflow.python.platform.tf_logging", logging)
    module.warning(text, *parts)


def _once(key: Any, warn_once: bool) -> bool:
    """Returns whether to warn of `key`."""
    if not _state["warns"] or key in _warned:
        return False
    if warn_once:
        _warned[key] = True
    return True


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", None) or getattr(function, "__name__", function))


def deprecated(date: Optional[str], instructions: str, warn_once: bool = True) -> Callable[[Any], Any]:
    """Returns a decorator that says in a function's docstring, and when it is called, that it is deprecated.

    Raises:
      ValueError: The date is not `YYYY-MM-DD`, or there are no instructions.
    """
    _checked(date, instructions)

    def decorator(function: Any) -> Any:
        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            if _once(function, warn_once):
                text = "From %s: %s (from %s) is deprecated and will be removed %s.\nInstructions for updating:\n%s"
                _warn(text, _place(sys._getframe(1)), _name(function), function.__module__, _until(date), instructions)
            return function(*args, **kwargs)

        notice = "Warning: THIS FUNCTION IS DEPRECATED. It will be removed %s." % _until(date)
        doc = _documented(function.__doc__, instructions, "DEPRECATED FUNCTION", "(deprecated)", notice)
        return make_decorator(function, called, "deprecated", doc)

    return decorator


def _of_arguments(
    date: Optional[str],
    instructions: str,
    named: str,
    words: Tuple[str, str],
    notice: str,
    is_deprecated: Callable[[Any, Any], Dict[str, str]],
    warn_once: bool,
) -> Callable[[Any], Any]:
    """Returns a decorator that warns of the arguments that `is_deprecated` finds in a call."""

    def decorator(function: Any) -> Any:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            if _state["warns"]:
                try:
                    given = signature.bind(*args, **kwargs).arguments
                except TypeError:
                    given = {}
                found = {n: said for n, said in is_deprecated(signature, given).items() if _once((function, n), warn_once)}
                for said in found.values():
                    text = "From %s: calling %s (from %s) with %s is deprecated and will be removed %s.\nInstructions for updating:\n%s"
                    _warn(text, _place(sys._getframe(1)), _name(function), function.__module__, said, _until(date), instructions)
            return function(*args, **kwargs)

        doc = _documented(function.__doc__, instructions, words[0], words[1], notice)
        return make_decorator(function, called, named, doc)

    return decorator


def deprecated_args(date: Optional[str], instructions: str, *names: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """Returns a decorator that says that arguments are deprecated.

    Each is a name, or a pair of a name and a value that is not warned of.
    `warn_once` is given by its name.

    Raises:
      ValueError: No argument is named, or the function does not have it.
    """
    _checked(date, instructions)
    if not names:
        raise ValueError("Specify which argument is deprecated.")
    allowed: Dict[str, Any] = {}
    for n in names:
        allowed.update([tuple(n) if isinstance(n, (tuple, list)) else (n, inspect.Parameter.empty)])

    def found(signature: Any, given: Any) -> Dict[str, str]:
        return {
            n: n
            for n, ok in allowed.items()
            if n in given and (ok is inspect.Parameter.empty or not (given[n] is ok or given[n] == ok))
        }

    notice = "Warning: SOME ARGUMENTS ARE DEPRECATED: `(%s)`. They will be removed %s." % (", ".join(sorted(allowed)), _until(date))
    words = "DEPRECATED FUNCTION ARGUMENTS", "(deprecated arguments)"
    inner = _of_arguments(date, instructions, "deprecated_args", words, notice, found, kwargs.get("warn_once", True))

    def decorator(function: Any) -> Any:
        spec = inspect.getfullargspec(function)
        missing = [n for n in allowed if n not in spec.args + [spec.varargs, spec.varkw]]
        if missing:
            have = spec.args + [spec.varargs, spec.varkw]
            raise ValueError(
                "The following deprecated arguments are not present in the function signature: %s. "
                "Found next arguments: %s." % (missing, have)
            )
        return inner(function)

    return decorator


def deprecated_arg_values(date: Optional[str], instructions: str, warn_once: bool = True, **values: Any) -> Callable[[Any], Any]:
    """Returns a decorator that says that values of arguments are deprecated.

    Raises:
      ValueError: No value is given.
    """
    _checked(date, instructions)
    if not values:
        raise ValueError("Specify which argument values are deprecated.")

    def found(signature: Any, given: Any) -> Dict[str, str]:
        return {n: "%s=%s" % (n, v) for n, v in sorted(values.items()) if n in given and given[n] == v}

    all_values = ", ".join("%s=%r" % item for item in sorted(values.items()))
    notice = "Warning: SOME ARGUMENT VALUES ARE DEPRECATED: `(%s)`. They will be removed %s." % (all_values, _until(date))
    words = "DEPRECATED FUNCTION ARGUMENT VALUES", "(deprecated argument values)"
    return _of_arguments(date, instructions, "deprecated", words, notice, found, warn_once)


def deprecated_alias(deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True) -> Any:
    """Returns a function or class under its old name, which warns when it is called."""
    text = "From %s: The name %s is deprecated. Please use %s instead.\n"
    use = "Please use %s instead." % name
    if inspect.isclass(func_or_class):
        notice = "Warning: THIS CLASS IS DEPRECATED. It will be removed in a future version. "
        lines = _documented(func_or_class.__doc__, use, "DEPRECATED CLASS", "(deprecated)", notice).splitlines()

        def begin(self: Any, *args: Any, **kwargs: Any) -> None:
            if _once(alias.__init__, warn_once):
                _warn(text, _place(sys._getframe(1)), deprecated_name, name)
            func_or_class.__init__(self, *args, **kwargs)

        doc = "\n".join(line for line in lines if line != "Instructions for updating:")
        inside = {"__doc__": doc, "__name__": func_or_class.__name__, "__module__": _place(sys._getframe(1)), "__init__": begin}
        alias: Any = type(func_or_class.__name__, (func_or_class,), inside)
        return alias

    @functools.wraps(func_or_class)
    def called(*args: Any, **kwargs: Any) -> Any:
        if _once(called, warn_once):
            _warn(text, _place(sys._getframe(1)), deprecated_name, name)
        return func_or_class(*args, **kwargs)

    notice = "Warning: THIS FUNCTION IS DEPRECATED. It will be removed in a future version."
    doc = _documented(func_or_class.__doc__, use, "DEPRECATED FUNCTION", "(deprecated)", notice)
    return make_decorator(func_or_class, called, "deprecated", doc)


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """A context in which no call is warned of."""
    before, _state["warns"] = _state["warns"], False
    try:
        yield
    finally:
        _state["warns"] = before


NAMES = {
    "python.util.deprecation": {
        "_PRINTED_WARNING": _warned,
        "deprecated": deprecated,
        "deprecated_alias": deprecated_alias,
        "deprecated_arg_values": deprecated_arg_values,
        "deprecated_args": deprecated_args,
        "silence": silence,
    },
}
