"""Internal names of TensorFlow's modules of summaries: `NAMES`, by module."""

from __future__ import annotations

import contextlib
import re
from typing import Any, Dict, Iterator, Optional, Tuple

from millstream.contrib import summary
from millstream.framework import get_collection, get_default_graph, name_scope
from millstream.framework.graph_keys import GraphKeys
from millstream.io import plugin_assets, summaries


def merge_all_summaries(key: str = GraphKeys.SUMMARIES) -> Any:
    """Returns an operation that merges the summaries of a collection, or None if there are none."""
    found = get_collection(key)
    return summaries.merge(found) if found else None


def get_summary_op() -> Any:
    """Returns the operation of all summaries: that of the graph, or a new one, which the graph then holds."""
    held = get_collection(GraphKeys.SUMMARY_OP)
    if held and held[0] is not None:
        return held[0]
    made = merge_all_summaries()
    if made is not None:
        get_default_graph().add_to_collection(GraphKeys.SUMMARY_OP, made)
    return made


class EventFileWriter(summaries.FileWriter):
    """A writer of events alone.

    Args:
      logdir: The directory.
      max_queue: The largest number of buffered events.
      flush_secs: The longest time that events are buffered, in seconds.
      filename_suffix: A suffix of the file's name.
    """

    def __init__(self, logdir: str, max_queue: int = 10, flush_secs: float = 120, filename_suffix: Optional[str] = None) -> None:
        super().__init__(logdir, max_queue=max_queue, flush_secs=flush_secs, filename_suffix=filename_suffix)


_steps: Dict[str, Any] = {}


def set_step(step: Any) -> None:
    """Sets the step of later summaries."""
    _steps["step"] = step


def get_step() -> Any:
    """Returns the step that `set_step` set, or None."""
    return _steps.get("step")


@contextlib.contextmanager
def summary_scope(name: str, default_name: Optional[str] = "summary", values: Any = None) -> Iterator[Tuple[str, str]]:
    """A name scope for a summary: yields its tag and its scope."""
    name = name or default_name or "summary"
    around = get_default_graph().get_name_scope()
    cleaned = re.sub(r"[^-_/.A-Za-z0-9]", "", name).lstrip("/") or None
    with name_scope(cleaned, default_name, values) as scope:
        yield "%s/%s" % (around, name) if around else name, scope


NAMES: Dict[str, Dict[str, Any]] = {
    "python.ops.logging_ops": {"get_summary_op": get_summary_op, "merge_all_summaries": merge_all_summaries},
    "python.ops.summary_op_util": {"clean_tag": summaries._clean},
    "python.ops.summary_ops_v2": {
        "create_noop_writer": summary.NoopSummaryWriter,
        "get_step": get_step,
        "set_step": set_step,
        "summary_scope": summary_scope,
    },
    "python.summary.writer.event_file_writer": {"EventFileWriter": EventFileWriter},
    "python.summary.writer.writer": {"EventFileWriter": EventFileWriter},
    "python.summary.plugin_asset": {
        "PluginAsset": plugin_assets.PluginAsset,
        "get_all_plugin_assets": plugin_assets.get_all_plugin_assets,
        "get_plugin_asset": plugin_assets.get_plugin_asset,
    },
}
