"""`tensorflow.python.client.timeline`: the times of a run, in the format of Chrome's trace viewer."""

from __future__ import annotations

import json
from typing import Any, Dict, List

from millstream.framework import get_default_graph


class Timeline:
    """The times of a run.

    Args:
      step_stats: The `step_stats` of the `RunMetadata` of a run with `trace_level=FULL_TRACE`.
      graph: The graph of the run, which tells the inputs of nodes; by default the default graph.

    Example:
      >>> tf.as_tensorflow()
      >>> from tensorflow.python.client import timeline
      >>> metadata, options = tf.RunMetadata(), tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
      >>> _ = tf.Session().run(tf.placeholder_with_default(1.0, []) + 2.0, options=options, run_metadata=metadata)
      >>> trace = timeline.Timeline(metadata.step_stats).generate_chrome_trace_format()
      >>> import json
      >>> "add" in [event["args"].get("name") for event in json.loads(trace)["traceEvents"]]
      True
    """

    def __init__(self, step_stats: Any, graph: Any = None) -> None:
        self._stats = step_stats
        self._graph = get_default_graph() if graph is None else graph

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False) -> str:
        """Returns the trace as JSON: a process for each device, and in it a row for each thread.

        Args:
          show_dataflow: If true, an arrow leads from each node to those that use its result.
          show_memory: Ignored.
        """
        events: List[Dict[str, Any]] = []
        ended: Dict[str, Any] = {}
        for pid, device in enumerate(self._stats.dev_stats):
            name = {"name": device.device + " Compute"}
            events.append({"name": "process_name", "ph": "M", "pid": pid, "args": name})
            for node in sorted(device.node_stats, key=lambda n: n.all_start_micros):
                event = self._event(node, pid)
                events.append(event)
                ended[node.node_name] = event
        if show_dataflow:
            events += _arrows([e for e in events if e["ph"] == "X"], ended)
        return json.dumps({"traceEvents": events}, indent=4, separators=(",", ": "))

    def _event(self, node: Any, pid: int) -> Dict[str, Any]:
        """Returns the event of a node. Its label is `name = Type(input, ..)`; ours leave out the inputs."""
        name, _, call = node.timeline_label.partition(" = ")
        kind, _, rest = call.partition("(")
        inputs = [text for text in rest.rstrip(")").split(", ") if text]
        if not inputs and name:
            try:
                inputs = [t.name for t in self._graph.get_operation_by_name(name).inputs]
            except (KeyError, ValueError):
                pass  # The run added the node, or the graph is another one.
        arguments = {"name": name or node.node_name, "op": kind or node.node_name}
        arguments.update({"input%d" % i: text for i, text in enumerate(inputs)})
        return {
            "ph": "X",
            "cat": "Op",
            "name": arguments["op"],
            "pid": pid,
            "tid": node.thread_id,
            "ts": node.all_start_micros,
            "dur": max(1, node.all_end_rel_micros),
            "args": arguments,
        }


def _arrows(events: List[Dict[str, Any]], ended: Dict[str, Any]) -> List[Dict[str, Any]]:
    """Returns the events of the arrows, two for each input that was traced."""
    found: List[Dict[str, Any]] = []
    for event in events:
        for key, text in event["args"].items():
            source = ended.get(text.lstrip("^").partition(":")[0]) if key.startswith("input") else None
            if source is not None:
                common = {"cat": "DataFlow", "name": text, "id": len(found)}
                at = source["ts"] + source["dur"]
                found.append({**common, "ph": "s", "pid": source["pid"], "tid": source["tid"], "ts": at, "args": {}})
                found.append({**common, "ph": "t", "pid": event["pid"], "tid": event["tid"], "ts": event["ts"], "args": {}})
    return found
