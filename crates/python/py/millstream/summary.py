"""`tf.summary`: values for TensorBoard: ops that encode them as messages, and event files."""

from typing import TYPE_CHECKING, Any, List

from millstream.contrib.summary import all_summary_ops as all_v2_summary_ops, initialize as initialize
from millstream.framework import namespaces, protos
from millstream.io.summaries import (
    FileWriter,
    FileWriterCache,
    audio,
    histogram,
    image,
    merge,
    merge_all,
    scalar,
    summary_iterator,
    tensor_summary,
    text,
)

_MESSAGES = {"Summary", "Event", "SessionLog", "TaggedRunMetadata"}


if TYPE_CHECKING:
    from millstream._generated.protos import Event as Event, SessionLog as SessionLog, Summary as Summary, TaggedRunMetadata as TaggedRunMetadata
else:

    def __getattr__(name: str) -> Any:
        if name in _MESSAGES:
            return getattr(protos, name)
        if name in ("image", "audio"):
            raise AttributeError(f"module 'millstream.summary' has no attribute {name!r}: the engine has no op for it")
        raise AttributeError(f"module 'millstream.summary' has no attribute {name!r}")


def __dir__() -> List[str]:
    return namespaces.shown(globals(), "summary", _MESSAGES)
