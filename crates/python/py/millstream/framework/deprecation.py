"""Arguments with two names in TensorFlow, the older of which is deprecated."""

from __future__ import annotations

from typing import Any


def renamed(new: Any, old: Any, new_name: str, old_name: str) -> Any:
    """Returns the value of an argument with two names."""
    if old is not None:
        if new is not None:
            raise ValueError("Cannot specify both '%s' and '%s'" % (old_name, new_name))
        return old
    return new
