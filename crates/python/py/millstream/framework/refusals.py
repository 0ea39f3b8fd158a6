"""Stand-ins for what needs hardware or other processes: an error is raised where they are called."""

from __future__ import annotations

from typing import Any

from millstream.framework import errors

__all__ = ["refused"]


def refused(name: str, why: str, use: str) -> Any:
    """Returns a function that raises an error which says why `name` does nothing here, and what to use."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise errors.UnimplementedError(None, None, "`tf.%s` is not part of Millstream, because %s: use %s" % (name, why, use))

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    refuse.__doc__ = "Raises an error, because %s: use %s." % (why, use)
    return refuse
