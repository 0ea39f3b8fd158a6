"""What operators of tensors do in functions that `tf.func` traces: registered by `func`, used by `ops`.

A handler gets what the operator got and the frame of the caller, and returns `NotImplemented` to leave the
operator as it is in TensorFlow 1's graphs.
"""

from __future__ import annotations

from typing import Any, Callable, List

# At most one: `handler(what, x, y, reverse, frame)`, where `what` is "truediv" or "matmul".
operators: List[Callable[..., Any]] = []

# At most one: `handler(tensor, key, frame)`.
indexing: List[Callable[..., Any]] = []
