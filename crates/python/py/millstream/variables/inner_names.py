"""Private attributes of variables: `v._initializer_op`, `v.experimental_ref`."""

from __future__ import annotations

from typing import Any

from millstream.framework.inner_names import experimental_ref, same
from millstream.variables.variable import Variable

def install() -> None:
    """Adds these names to the classes of variables."""
    variable: Any = Variable
    variable._initializer_op = same(lambda v: v.initializer, "What gives it its first value.")
    variable.experimental_ref = experimental_ref
