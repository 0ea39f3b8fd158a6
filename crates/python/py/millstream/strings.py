"""`tf.strings`: what is not one op each. The rest is found when it is asked for."""

from __future__ import annotations

from typing import Any, Optional

from millstream import _namespaces
from millstream._engine import Tensor
from millstream._ops import op


def length(input: Any, name: Optional[str] = None, unit: str = "BYTE") -> Tensor:  # noqa: A002
    """How long strings are, in bytes or, with `UTF8_CHAR`, in characters."""
    return op("StringLength")(input, unit=unit, name=name)


def __getattr__(name: str) -> Any:
    return _namespaces.find(__name__, "strings", name)
