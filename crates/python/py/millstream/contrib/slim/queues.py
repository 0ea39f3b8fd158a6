"""`slim.queues`: a block in which the queue runners of a session run."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Iterator, List

from millstream.framework import get_collection
from millstream.framework.graph_keys import GraphKeys
from millstream.train.coordinator import Coordinator

__all__ = ["NestedQueueRunnerError", "QueueRunners"]

_lock = threading.Lock()


class NestedQueueRunnerError(Exception):
    """A block of `QueueRunners` was opened in another."""


@contextlib.contextmanager
def QueueRunners(session: Any) -> Iterator[None]:  # noqa: N802
    """Returns a context manager that starts the queue runners of the graph, and stops them at its end.

    Args:
      session: A session.

    Raises:
      NestedQueueRunnerError: Another such block is open.
    """
    if not _lock.acquire(False):
        raise NestedQueueRunnerError("QueueRunners cannot be nested")
    try:
        coord = Coordinator()
        threads: List[Any] = []
        try:
            for runner in get_collection(GraphKeys.QUEUE_RUNNERS):
                threads.extend(runner.create_threads(session, coord=coord, daemon=True, start=True))
            yield
        finally:
            coord.request_stop()
            try:
                coord.join(threads, stop_grace_period_secs=120)
            except RuntimeError:
                session.close()
    finally:
        _lock.release()
