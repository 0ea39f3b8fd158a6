"""`tf.contrib.compiler`: `jit.experimental_jit_scope`. The engine compiles without being asked."""

from __future__ import annotations

from millstream.contrib.compiler import jit as jit
from millstream.framework import namespaces

__all__ = ["jit"]

__getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> list:
    return list(__all__)
