"""Arguments that TensorFlow has under two names, the older of which is deprecated."""

from __future__ import annotations

from typing import Any


def renamed(new: Any, old: Any, new_name: str, old_name: str) -> Any:
    """The value of an argument that has two names."""
    if old is not None:
        if new is not None:
            raise ValueError("Cannot specify both '%s' and '%s'" % (old_name, new_name))
        return old
    return new
