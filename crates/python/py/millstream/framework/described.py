"""The `repr` of objects that are made with arguments: layers, cells, optimizers."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Dict, Optional, Tuple

from millstream._engine import Tensor

# Attributes that hold arguments under another name.
_ELSEWHERE = {"learning_rate": ("_lr", "_learning_rate_tensor"), "num_units": ("_num_units", "_units")}


def described(value: Any, name: Optional[str]) -> str:
    """Returns `<LSTMCell 'lstm_cell_1': num_units=3>`: class, name, and arguments that are not defaults."""
    parts = []
    kind: Any = type(value)
    for parameter, default in _parameters(kind).items():
        places = (parameter, "_" + parameter, *_ELSEWHERE.get(parameter, ()))
        held = next((vars(value)[place] for place in places if place in vars(value)), None)
        if held is not None and not (isinstance(held, type(default)) and held == default):
            parts.append("%s=%s" % (parameter, _short(held)))
    return "<%s%s%s>" % (type(value).__name__, " %r" % name if name else "", ": " + ", ".join(parts) if parts else "")


@functools.lru_cache(maxsize=None)
def _parameters(kind: Any) -> Dict[str, Any]:
    """Returns the arguments of a class with their defaults, without those that are not shown."""
    hidden = ("self", "name", "dtype", "trainable", "reuse")
    parameters = inspect.signature(kind.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.name not in hidden and p.kind is not p.VAR_KEYWORD and p.kind is not p.VAR_POSITIONAL}


def _short(value: Any) -> str:
    if isinstance(value, Tensor):
        return value.name
    if isinstance(value, (list, tuple)):
        shown: Tuple[str, ...] = tuple(_short(v) for v in value[:4])
        return "[%s%s]" % (", ".join(shown), ", .." if len(value) > 4 else "")
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
