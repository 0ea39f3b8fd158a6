"""Readers, which take filenames from a queue and return the records of the files; `decode_csv`."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence

from millstream._engine import Operation, Tensor
from millstream.framework.op_functions import op

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
    r"""A reader of files. Each record has a key, which identifies its position, and a value.

    Filenames are dequeued from a queue; the position is kept between runs.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "lines.txt")
      >>> with open(path, "w") as f:
      ...     _ = f.write("one\ntwo\n")
      >>> names = tf.train.string_input_producer([path], num_epochs=1)
      >>> reader = tf.TextLineReader()
      >>> key, value = reader.read(names)
      >>> count, files = reader.num_records_produced(), reader.num_work_units_completed()
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.run(value), sess.run(count), sess.run(files))
      b'one' 1 0
      >>> reader.supports_serialize, reader.reader_ref.dtype
      (False, tf.resource)
    """

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False) -> None:
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    def __repr__(self) -> str:
        return "<tf.%s '%s'>" % (type(self).__name__, self._reader_ref.op.name)

    @property
    def reader_ref(self) -> Tensor:
        """The handle of the reader."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether the reader supports `serialize_state`."""
        return self._supports_serialize

    def read(self, queue: Any, name: Optional[str] = None) -> Any:
        """Reads the key and value of the next record. At the end of a file the next filename is dequeued.

        Args:
          queue: A queue of filenames.
          name: A name for the operation.

        Returns:
          A pair of string scalars.

        Raises:
          tf.errors.OutOfRangeError: When run: the queue is closed and empty.
        """
        return op("ReaderReadV2")(self._reader_ref, _handle(queue), name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: Optional[str] = None) -> Any:
        r"""Reads the keys and values of up to `num_records` records of one file, at least one.

        Args:
          queue: A queue of filenames.
          num_records: An `int64` scalar: the maximum number of records.
          name: A name for the operation.

        Returns:
          A pair of string vectors.

        Raises:
          tf.errors.OutOfRangeError: When run: the queue is closed and empty.

        Example:
          >>> import os, tempfile
          >>> path = os.path.join(tempfile.mkdtemp(), "lines.txt")
          >>> with open(path, "w") as f:
          ...     _ = f.write("one\ntwo\n")
          >>> _, lines = tf.TextLineReader().read_up_to(tf.train.string_input_producer([path]), 10)
          >>> with tf.train.MonitoredSession() as sess:
          ...     print(sess.run(lines))
          [b'one' b'two']
        """
        return op("ReaderReadUpToV2")(self._reader_ref, _handle(queue), num_records, name=name)

    def num_records_produced(self, name: Optional[str] = None) -> Tensor:
        """Returns the number of records produced."""
        return op("ReaderNumRecordsProducedV2")(self._reader_ref, name=name)

    def num_work_units_completed(self, name: Optional[str] = None) -> Tensor:
        """Returns the number of files read completely."""
        return op("ReaderNumWorkUnitsCompletedV2")(self._reader_ref, name=name)

    def serialize_state(self, name: Optional[str] = None) -> Tensor:
        """Serializes the position to a string.

        Returns:
          A string scalar.

        Raises:
          tf.errors.UnimplementedError: When run: the kind of reader does not support it.

        Example:
          >>> reader = tf.IdentityReader()
          >>> state = reader.serialize_state()
        """
        return op("ReaderSerializeStateV2")(self._reader_ref, name=name)

    def restore_state(self, state: Any, name: Optional[str] = None) -> Operation:
        """Restores the position from a string of `serialize_state`.

        Returns:
          The `Operation`.

        Raises:
          tf.errors.UnimplementedError: When run: the kind of reader does not support it.

        Example:
          >>> reader = tf.IdentityReader()
          >>> back = reader.restore_state(reader.serialize_state())
        """
        return op("ReaderRestoreStateV2")(self._reader_ref, state, name=name)

    def reset(self, name: Optional[str] = None) -> Operation:
        """Resets the reader to its initial state.

        Returns:
          The `Operation`.

        Raises:
          tf.errors.UnimplementedError: When run: the kind of reader does not support it.

        Example:
          >>> reader = tf.IdentityReader()
          >>> back = reader.reset()
        """
        return op("ReaderResetV2")(self._reader_ref, name=name)


def _handle(queue: Any) -> Any:
    return getattr(queue, "queue_ref", queue)


class WholeFileReader(ReaderBase):
    r"""A reader whose records are whole files: the key is the filename, the value the contents.

    Args:
      name: A name for the operation.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "lines.txt")
      >>> with open(path, "w") as f:
      ...     _ = f.write("one\ntwo\n")
      >>> key, text = tf.WholeFileReader().read(tf.train.string_input_producer([path]))
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.run(text))
      b'one\ntwo\n'
    """

    def __init__(self, name: Optional[str] = None) -> None:
        super().__init__(op("WholeFileReaderV2")(name=name), True)


class TextLineReader(ReaderBase):
    r"""A reader whose records are lines, without newlines.

    Args:
      skip_header_lines: An int: the number of lines to skip at the beginning of each file.
      name: A name for the operation.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "lines.txt")
      >>> with open(path, "w") as f:
      ...     _ = f.write("one\ntwo\n")
      >>> key, line = tf.TextLineReader(skip_header_lines=1).read(tf.train.string_input_producer([path]))
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.run(line))
      b'two'
    """

    def __init__(self, skip_header_lines: Optional[int] = None, name: Optional[str] = None) -> None:
        super().__init__(op("TextLineReaderV2")(skip_header_lines=skip_header_lines or 0, name=name))


class FixedLengthRecordReader(ReaderBase):
    r"""A reader whose records have a fixed number of bytes.

    Args:
      record_bytes: An int: the size of a record in bytes.
      header_bytes: An int: the number of bytes to skip at the beginning of each file.
      footer_bytes: An int: the number of bytes to skip at the end of each file.
      hop_bytes: An int: the distance between the starts of records. Defaults to `record_bytes`.
      name: A name for the operation.
      encoding: The compression of the files: `""`, `"ZLIB"` or `"GZIP"`.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "lines.txt")
      >>> with open(path, "w") as f:
      ...     _ = f.write("one\ntwo\n")
      >>> key, value = tf.FixedLengthRecordReader(record_bytes=2).read(tf.train.string_input_producer([path]))
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.run(value), sess.run(value))
      b'on' b'e\n'
    """

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
    """A reader of the records of TFRecord files.

    Args:
      name: A name for the operation.
      options: A `TFRecordOptions` or a `TFRecordCompressionType`.

    Raises:
      ValueError: The compression is unknown.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "records")
      >>> with tf.python_io.TFRecordWriter(path) as writer:
      ...     writer.write(b"one")
      ...     writer.write(b"two")
      >>> key, value = tf.TFRecordReader().read(tf.train.string_input_producer([path]))
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.run(value), sess.run(value))
      b'one' b'two'
    """

    def __init__(self, name: Optional[str] = None, options: Any = None) -> None:
        kind = getattr(options, "compression_type", options)
        names = {None: "", 0: "", 1: "ZLIB", 2: "GZIP"}
        if kind not in names and kind not in names.values():
            raise ValueError("the compression in `options` must be none, ZLIB or GZIP, not %r" % (kind,))
        super().__init__(op("TFRecordReaderV2")(compression_type=names.get(kind, kind), name=name))


class IdentityReader(ReaderBase):
    """A reader whose records are the filenames, as key and as value.

    Args:
      name: A name for the operation.

    Example:
      >>> key, value = tf.IdentityReader().read(tf.train.string_input_producer(["a"]))
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.run([key, value]))
      [b'a', b'a']
    """

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
    """Parses lines of comma-separated values into one tensor per column.

    Args:
      records: A `string` tensor of lines.
      record_defaults: A list of tensors with one element or none, one per column: the dtype of the column and
        the value of empty fields. If a tensor has no element, the column must not be empty.
      field_delim: The separator of fields.
      use_quote_delim: If true, fields can be enclosed in double quotes.
      name: A name for the operation.
      na_value: A string: another spelling of an empty field.
      select_cols: A sorted list of ints: the columns to return.

    Returns:
      A list of tensors of the shape of `records`.

    Raises:
      ValueError: `select_cols` is not sorted, or differs in length from `record_defaults`.
      tf.errors.InvalidArgumentError: When run: a field is missing or not a valid number.

    Example:
      >>> number, word = tf.decode_csv(["1,a", "2,"], [[0], ["none"]])
      >>> print(*tf.Session().run([number, word]))
      [1 2] [b'a' b'none']
    """
    if select_cols is not None and any(c < 0 for c in select_cols):
        raise ValueError("select_cols contains negative values.\n  select_cols is %s" % list(select_cols))
    if select_cols is not None and any(b <= a for a, b in zip(select_cols, list(select_cols)[1:])):
        raise ValueError("select_cols is not strictly increasing.\n  select_cols is %s" % list(select_cols))
    if select_cols is not None and len(select_cols) != len(record_defaults):
        raise ValueError("Length of select_cols and record_defaults do not match.\n  They are %d and %d" % (len(select_cols), len(record_defaults)))
    return list(
        op("DecodeCSV")(
            records, list(record_defaults), field_delim=field_delim, use_quote_delim=use_quote_delim, na_value=na_value, select_cols=list(select_cols or []), name=name
        )
    )
