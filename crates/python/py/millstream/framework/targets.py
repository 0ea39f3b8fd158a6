"""The names of servers in this process that sessions may have as their target."""

from __future__ import annotations

import threading
import weakref
from typing import Any, Dict

from millstream.framework import errors

_lock = threading.Lock()

# For each target of a server that has been started, the session that is open, if any.
_open: Dict[str, Any] = {}


def register(target: str) -> None:
    """Makes a target known: sessions may have it."""
    with _lock:
        _open.setdefault(target, None)


def is_known(target: str) -> bool:
    """Returns whether a server of this process has the target."""
    return target in _open


def take(target: str, session: Any) -> None:
    """Notes a server's open session.

    Raises:
      UnimplementedError: Another session of the server is open. In TensorFlow both share their variables;
        here each session has its own, so a second one would compute something else in silence.
    """
    with _lock:
        other = _open[target] and _open[target]()
        if other is not None and not other._closed:
            raise errors.UnimplementedError(
                None,
                None,
                "the server '%s' has an open session: sessions of one server share variables in TensorFlow, but not here; "
                "use one session in all threads, or close it first" % target,
            )
        _open[target] = weakref.ref(session)
