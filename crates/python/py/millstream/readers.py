"""Readers: what takes names of files out of a queue and gives their records; and the fields of lines."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence

from millstream._engine import Operation, Tensor
from millstream._ops import op

__all__ = [
    "FixedLengthRecordReader",
    "IdentityReader",
    "ReaderBase",
    "TFRecordReader",
    "TextLineReader",
    "WholeFileReader",
    "decode_csv",
]


class ReaderBase:
    """A reader: each record has a key, which says where it was, and a value."""

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False) -> None:
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    def __repr__(self) -> str:
        return "<tf.%s '%s'>" % (type(self).__name__, self._reader_ref.op.name)

    @property
    def reader_ref(self) -> Tensor:
        """The handle."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether `serialize_state` can be."""
        return self._supports_serialize

    def read(self, queue: Any, name: Optional[str] = None) -> Any:
        """The key and value of the next record; where a file ends, the next name comes out of the queue."""
        return op("ReaderReadV2")(self._reader_ref, _handle(queue), name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: Optional[str] = None) -> Any:
        """The keys and values of up to so many records of one file, at least one."""
        return op("ReaderReadUpToV2")(self._reader_ref, _handle(queue), num_records, name=name)

    def num_records_produced(self, name: Optional[str] = None) -> Tensor:
        """How many records it has given."""
        return op("ReaderNumRecordsProducedV2")(self._reader_ref, name=name)

    def num_work_units_completed(self, name: Optional[str] = None) -> Tensor:
        """How many files it is through with."""
        return op("ReaderNumWorkUnitsCompletedV2")(self._reader_ref, name=name)

    def serialize_state(self, name: Optional[str] = None) -> Tensor:
        """Where it is, as a string."""
        return op("ReaderSerializeStateV2")(self._reader_ref, name=name)

    def restore_state(self, state: Any, name: Optional[str] = None) -> Operation:
        """Goes where `serialize_state` said."""
        return op("ReaderRestoreStateV2")(self._reader_ref, state, name=name)

    def reset(self, name: Optional[str] = None) -> Operation:
        """As if it had read nothing."""
        return op("ReaderResetV2")(self._reader_ref, name=name)


def _handle(queue: Any) -> Any:
    return getattr(queue, "queue_ref", queue)


class WholeFileReader(ReaderBase):
    """Its records are whole files: the key is the name, the value what is in it."""

    def __init__(self, name: Optional[str] = None) -> None:
        super().__init__(op("WholeFileReaderV2")(name=name), True)


class TextLineReader(ReaderBase):
    """Its records are lines, without their ends."""

    def __init__(self, skip_header_lines: Optional[int] = None, name: Optional[str] = None) -> None:
        super().__init__(op("TextLineReaderV2")(skip_header_lines=skip_header_lines or 0, name=name))


class FixedLengthRecordReader(ReaderBase):
    """Its records are so many bytes long each."""

    def __init__(
        self,
        record_bytes: int,
        header_bytes: Optional[int] = None,
        footer_bytes: Optional[int] = None,
        hop_bytes: Optional[int] = None,
        name: Optional[str] = None,
        encoding: Optional[str] = None,
    ) -> None:
        ref = op("FixedLengthRecordReaderV2")(
            record_bytes=record_bytes,
            header_bytes=header_bytes or 0,
            footer_bytes=footer_bytes or 0,
            hop_bytes=hop_bytes or 0,
            encoding=encoding or "",
            name=name,
        )
        super().__init__(ref)


class TFRecordReader(ReaderBase):
    """Its records are those of TFRecord files."""

    def __init__(self, name: Optional[str] = None, options: Any = None) -> None:
        kind = getattr(options, "compression_type", options)
        names = {None: "", 0: "", 1: "ZLIB", 2: "GZIP"}
        if kind not in names and kind not in names.values():
            raise ValueError("`options` must say no compression, ZLIB or GZIP, but says %r" % (kind,))
        super().__init__(op("TFRecordReaderV2")(compression_type=names.get(kind, kind), name=name))


class IdentityReader(ReaderBase):
    """Its records are the names themselves, as key and as value."""

    def __init__(self, name: Optional[str] = None) -> None:
        super().__init__(op("IdentityReaderV2")(name=name), True)


def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: Optional[str] = None,
    na_value: str = "",
    select_cols: Optional[Sequence[int]] = None,
) -> List[Tensor]:
    """The fields of lines as columns of tensors. A default says what an empty field is, and the column's dtype; one without elements, that it must not
    be empty.

    Example:
      number, word = tf.decode_csv(["1,a", "2,"], [[0], ["none"]])
    """
    if select_cols is not None and any(c < 0 for c in select_cols):
        raise ValueError("select_cols must not be negative, but is %s" % list(select_cols))
    if select_cols is not None and any(b <= a for a, b in zip(select_cols, list(select_cols)[1:])):
        raise ValueError("select_cols is not strictly increasing: %s" % list(select_cols))
    if select_cols is not None and len(select_cols) != len(record_defaults):
        raise ValueError("Length of select_cols and record_defaults do not match: %d and %d" % (len(select_cols), len(record_defaults)))
    return list(
        op("DecodeCSV")(
            records, list(record_defaults), field_delim=field_delim, use_quote_delim=use_quote_delim, na_value=na_value, select_cols=list(select_cols or []), name=name
        )
    )
