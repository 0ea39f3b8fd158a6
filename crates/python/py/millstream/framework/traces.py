"""Files of traces: the times of all nodes of a run, for Perfetto and Chrome's trace viewer."""

from __future__ import annotations

import json
import os
import re
import threading
from typing import Any, Dict, List, Union

from millstream.framework import protos

_ITERATION = re.compile(r" in (iteration .*)$")


def events_of(step_stats: Any, pid: int, title: str) -> List[Dict[str, Any]]:
    """Returns the events of a run, as a process with a row for each thread, named by the ops' types."""
    events: List[Dict[str, Any]] = [{"name": "process_name", "ph": "M", "pid": pid, "args": {"name": title}}]
    for device in step_stats.dev_stats:
        for node in device.node_stats:
            call = node.timeline_label.partition(" = ")[2]
            arguments = {"node": node.node_name}
            where = _ITERATION.search(call)
            if where:
                arguments["at"] = where.group(1)
            events.append(
                {
                    "ph": "X",
                    "cat": "op",
                    "name": call.partition("(")[0] or node.node_name,
                    "pid": pid,
                    "tid": node.thread_id,
                    "ts": node.all_start_nanos / 1e3,
                    "dur": node.all_end_rel_nanos / 1e3,
                    "args": arguments,
                }
            )
    return events


class TraceBlock:
    """The context manager of `Session.trace`."""

    def __init__(self, session: Any, path: Union[str, os.PathLike[str]]) -> None:
        self._session = session
        self._path = os.fspath(path)
        self._events: List[Dict[str, Any]] = []
        self._runs = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Any:
        if "run" in vars(self._session):
            raise RuntimeError("the session is traced already: leave the other block first")
        with open(self._path, "w", encoding="utf-8"):
            pass  # A path that cannot be written is an error before the work.
        self._session.run = self._run
        return self._session

    def __exit__(self, *why: Any) -> None:
        del self._session.run
        # Viewers count from zero: microseconds since 1970 have no room for fractions in their floats.
        start = min((event["ts"] for event in self._events if "ts" in event), default=0.0)
        for event in self._events:
            if "ts" in event:
                event["ts"] = round(event["ts"] - start, 3)
        with open(self._path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": self._events, "displayTimeUnit": "ns"}, file)

    def _run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        asked = protos.RunOptions()
        if options is not None:
            asked.MergeFromString(options.SerializeToString())
        asked.trace_level = protos.RunOptions.FULL_TRACE
        metadata = protos.RunMetadata() if run_metadata is None else run_metadata
        result = type(self._session).run(self._session, fetches, feed_dict, asked, metadata)
        with self._lock:
            self._runs += 1
            self._events += events_of(metadata.step_stats, self._runs, "run %d" % self._runs)
        return result
