"""`tf.io`: what stands under no name at the top. The rest is found when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

from millstream import _namespaces
from millstream.parsing_ops import parse_sequence_example

__all__ = ["parse_sequence_example"]

_ELSEWHERE = {"TFRecordOptions": "python_io", "TFRecordCompressionType": "python_io", "TFRecordWriter": "python_io", "tf_record_iterator": "python_io"}


if TYPE_CHECKING:
    from millstream._endpoints_io import *  # noqa: F403
    from millstream import file_io as gfile
    from millstream.python_io import (
        TFRecordCompressionType as TFRecordCompressionType,
        TFRecordOptions as TFRecordOptions,
        TFRecordWriter as TFRecordWriter,
        tf_record_iterator as tf_record_iterator,
    )
    from millstream.train import match_filenames_once as match_filenames_once, write_graph as write_graph
else:

    def __getattr__(name: str) -> Any:
        if name in _ELSEWHERE:
            from millstream import python_io

            return getattr(python_io, name)
        if name in ("match_filenames_once", "write_graph"):
            from millstream import train

            return getattr(train, name)
        if name == "gfile":
            from millstream import file_io

            return file_io
        return _namespaces.find(__name__, "io", name)


def __dir__() -> List[str]:
    return _namespaces.shown(globals(), "io", _ELSEWHERE, ("gfile", "match_filenames_once", "write_graph"))
