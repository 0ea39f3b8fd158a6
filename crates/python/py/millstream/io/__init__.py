"""`tf.io`: names that the top does not have. Other names are looked up at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, List

from millstream.framework import namespaces
from millstream.io.parsing_ops import parse_sequence_example

__all__ = ["parse_sequence_example"]

_PLACES = {
    "TFRecordCompressionType": "millstream.io.tf_records:TFRecordCompressionType",
    "TFRecordOptions": "millstream.io.tf_records:TFRecordOptions",
    "TFRecordWriter": "millstream.io.tf_records:TFRecordWriter",
    "decode_image": "millstream.image.codecs:decode_image",
    "gfile": "millstream.io.gfile",
    "is_jpeg": "millstream.image.codecs:is_jpeg",
    "match_filenames_once": "millstream.io.file_names:match_filenames_once",
    "tf_record_iterator": "millstream.io.tf_records:tf_record_iterator",
    "write_graph": "millstream.io.graph_files:write_graph",
}
namespaces.place("io", _PLACES)

if TYPE_CHECKING:
    from millstream._generated.endpoints_io import *  # noqa: F403
    from millstream.image.codecs import decode_image as decode_image, is_jpeg as is_jpeg
    from millstream.io import gfile
    from millstream.io.file_names import match_filenames_once as match_filenames_once
    from millstream.io.graph_files import write_graph as write_graph
    from millstream.io.tf_records import (
        TFRecordCompressionType as TFRecordCompressionType,
        TFRecordOptions as TFRecordOptions,
        TFRecordWriter as TFRecordWriter,
        tf_record_iterator as tf_record_iterator,
    )
else:
    __getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> List[str]:
    return namespaces.shown(globals(), "io", _PLACES)
