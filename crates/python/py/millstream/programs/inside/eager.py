"""What internal modules of eager execution hold that has a meaning in graphs: `NAMES`, by module."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, Dict, Iterator, Optional

from millstream.framework import device, get_default_graph, left_out, name_scope, placeholder
from millstream.ops import array_ops


@contextlib.contextmanager
def graph_mode() -> Iterator[None]:
    """A context in which operations add nodes to a graph, as they do everywhere."""
    yield


def _late(path: str) -> Callable[..., Any]:
    """Returns a decorator, with or without arguments, of functions that are refused when they are called."""

    def decorator(func: Any = None, *args: Any, **kwargs: Any) -> Any:
        if not callable(func):
            return decorator

        @functools.wraps(func)
        def refused(*inner: Any, **given: Any) -> Any:
            raise NotImplementedError(left_out.reason(path)[1])

        return refused

    return decorator


def _graph_placeholder(dtype: Any, shape: Any, name: Optional[str] = None) -> Any:
    """Returns a placeholder."""
    return placeholder(dtype, shape, name)


def _graph_zeros_like(tensor: Any) -> Any:
    """Returns zeros of the shape and dtype of a tensor."""
    return array_ops.zeros_like(tensor, optimize=False)


def _scope_name() -> str:
    """Returns the name of the open name scope, with a slash unless it is empty."""
    name = get_default_graph().get_name_scope()
    return name + "/" if name else ""


NAMES: Dict[str, Dict[str, Any]] = {
    "python.eager.context": {
        "EAGER_MODE": 1,
        "GRAPH_MODE": 0,
        "device": device,
        "executing_eagerly": lambda: False,
        "graph_mode": graph_mode,
        "in_eager_mode": lambda: False,
        "in_graph_mode": lambda: True,
        "namescope": name_scope,
        "num_gpus": lambda: 0,
        "scope_name": _scope_name,
        "shared_name": lambda name=None: name,
    },
    "python.eager.def_function": {"function": _late("function")},
    "python.eager.function": {"defun": _late("contrib.eager.defun"), "defun_with_attributes": _late("contrib.eager.defun")},
    "python.eager.graph_only_ops": {"graph_placeholder": _graph_placeholder, "graph_zeros_like": _graph_zeros_like},
    "python.eager.tape": {
        "could_possibly_record": lambda: False,
        "should_record": lambda tensors: False,
        "stop_recording": graph_mode,
        "variable_accessed": lambda variable: None,
        "variables_accessed": lambda variables: None,
    },
    "python.eager.memory_tests.memory_test_util": {"memory_profiler_is_available": lambda: False},
}
