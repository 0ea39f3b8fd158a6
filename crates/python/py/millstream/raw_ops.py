"""Every op of the engine as a function of keyword arguments: `tf.raw_ops.AddV2(x=1, y=2)`."""

from __future__ import annotations

from typing import Any, List

from millstream import _engine
from millstream._ops import raw


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError("module 'millstream.raw_ops' has no attribute %r" % name)
    try:
        return raw(name)
    except AttributeError:
        raise AttributeError("module 'millstream.raw_ops' has no attribute %r" % name) from None


def __dir__() -> List[str]:
    return _engine.op_names()
