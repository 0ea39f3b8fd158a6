"""`arg_scope`: default arguments for functions within a block."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from typing import Any, Dict, Iterator, List, Tuple

__all__ = ["add_arg_scope", "arg_scope", "arg_scope_func_key", "arg_scoped_arguments", "current_arg_scope", "has_arg_scope"]

_ARGUMENTS: Dict[str, Tuple[str, ...]] = {}
_local = threading.local()


def _stack() -> List[Dict[str, Dict[str, Any]]]:
    if not hasattr(_local, "stack"):
        _local.stack = [{}]
    return _local.stack  # type: ignore[no-any-return]


def arg_scope_func_key(op: Any) -> str:
    """Returns the key of a function in `current_arg_scope()`.

    Args:
      op: A function.

    Returns:
      A string.

    Example:
      >>> slim = tf.contrib.slim
      >>> with slim.arg_scope([slim.dropout], keep_prob=0.5) as scope:
      ...     print(scope[slim.arg_scope_func_key(slim.dropout)])
      {'keep_prob': 0.5}
    """
    return getattr(op, "_key_op", str(op))


def current_arg_scope() -> Dict[str, Dict[str, Any]]:
    """Returns the arguments set by enclosing blocks, for each function.

    Returns:
      A dict of dicts.

    Example:
      >>> framework = tf.contrib.framework
      >>> @framework.add_arg_scope
      ... def layer(x, scale=1, shift=0):
      ...     return x * scale + shift
      >>> with framework.arg_scope([layer], scale=10):
      ...     list(framework.current_arg_scope().values())
      [{'scale': 10}]
    """
    return _stack()[-1]


def add_arg_scope(func: Any) -> Any:
    """A decorator for functions whose missing arguments are taken from `arg_scope` blocks.

    Args:
      func: A function.

    Returns:
      A function with the same arguments.

    Example:
      >>> framework = tf.contrib.framework
      >>> @framework.add_arg_scope
      ... def layer(x, scale=1, shift=0):
      ...     return x * scale + shift
      >>> with framework.arg_scope([layer], scale=10):
      ...     print(layer(3), layer(3, scale=2))
      30 6
    """

    @functools.wraps(func)
    def with_scope(*args: Any, **kwargs: Any) -> Any:
        scoped = current_arg_scope().get(arg_scope_func_key(func), {})
        # Arguments of the call, positional or by keyword, take precedence.
        given = set(list(inspect.signature(func).parameters)[: len(args)]) | set(kwargs)
        return func(*args, **{k: v for k, v in scoped.items() if k not in given}, **kwargs)

    parameters = inspect.signature(func).parameters.values()
    _ARGUMENTS[arg_scope_func_key(func)] = tuple(p.name for p in parameters if p.default is not p.empty)
    with_scope._key_op = arg_scope_func_key(func)  # type: ignore[attr-defined]
    return with_scope


def has_arg_scope(func: Any) -> bool:
    """Returns whether the function is decorated with `add_arg_scope`.

    Example:
      >>> framework = tf.contrib.framework
      >>> @framework.add_arg_scope
      ... def layer(x, scale=1, shift=0):
      ...     return x * scale + shift
      >>> framework.has_arg_scope(layer), framework.has_arg_scope(len)
      (True, False)
    """
    return arg_scope_func_key(func) in _ARGUMENTS


def arg_scoped_arguments(func: Any) -> Tuple[str, ...]:
    """Returns the arguments that blocks can set.

    Args:
      func: A function decorated with `add_arg_scope`.

    Returns:
      A tuple of names.

    Raises:
      AssertionError: The function is not decorated.

    Example:
      >>> framework = tf.contrib.framework
      >>> @framework.add_arg_scope
      ... def layer(x, scale=1, shift=0):
      ...     return x * scale + shift
      >>> framework.arg_scoped_arguments(layer)
      ('scale', 'shift')
    """
    if not has_arg_scope(func):
        raise AssertionError("%s is not decorated with @add_arg_scope" % (func,))
    return _ARGUMENTS[arg_scope_func_key(func)]


@contextlib.contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[Dict[str, Dict[str, Any]]]:
    """Sets default arguments for functions within the block, or enters a scope that another block yielded.

    Args:
      list_ops_or_scope: A list of functions decorated with `add_arg_scope`, or a scope.
      **kwargs: The arguments.

    Returns:
      A context manager that yields the scope.

    Raises:
      ValueError: A function is not decorated, or arguments are given with a scope.
      TypeError: `list_ops_or_scope` is neither a list nor a scope.

    Example:
      >>> framework = tf.contrib.framework
      >>> @framework.add_arg_scope
      ... def layer(x, scale=1, shift=0):
      ...     return x * scale + shift
      >>> with framework.arg_scope([layer], scale=10) as scope:
      ...     with framework.arg_scope([layer], shift=1):
      ...         print(layer(3))
      31
      >>> with framework.arg_scope(scope):
      ...     print(layer(3))
      30
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError("When attempting to re-use a scope by suppling a dictionary, kwargs must be empty.")
        new = {k: dict(v) for k, v in list_ops_or_scope.items()}
    else:
        if not isinstance(list_ops_or_scope, (list, tuple)):
            raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
        new = {k: dict(v) for k, v in current_arg_scope().items()}
        for function in list_ops_or_scope:
            if not has_arg_scope(function):
                raise ValueError("%s is not decorated with @add_arg_scope" % (arg_scope_func_key(function),))
            new.setdefault(arg_scope_func_key(function), {}).update(kwargs)
    _stack().append(new)
    try:
        yield new
    finally:
        _stack().pop()
