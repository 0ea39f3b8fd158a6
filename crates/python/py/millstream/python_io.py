"""`tf.python_io`: files of records (TFRecord), written and read from Python, plain or compressed."""

from __future__ import annotations

import gzip
import io as _io
import os
import zlib
from typing import Any, Iterator, Optional

from millstream import _namespaces, errors, records

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]


class TFRecordCompressionType:
    """How a file is compressed: `NONE`, `ZLIB` or `GZIP`.

    Example:
      >>> tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP).compression_type
      2
    """

    NONE = 0
    ZLIB = 1
    GZIP = 2


_NAMES = {TFRecordCompressionType.NONE: "", TFRecordCompressionType.ZLIB: "ZLIB", TFRecordCompressionType.GZIP: "GZIP"}


class TFRecordOptions:
    """How a file is compressed, and how hard.

    Args:
      compression_type: `"GZIP"`, `"ZLIB"`, `""`, or a `TFRecordCompressionType`.
      flush_mode: zlib's word.
      input_buffer_size: Accepted.
      output_buffer_size: Accepted.
      window_bits: zlib's word.
      compression_level: From 0 to 9.
      compression_method: zlib's word.
      mem_level: zlib's word.
      compression_strategy: zlib's word.

    Example:
      >>> tf.python_io.TFRecordOptions("GZIP", compression_level=9).compression_type
      'GZIP'
    """

    compression_type_map = _NAMES

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: Optional[int] = None,
        input_buffer_size: Optional[int] = None,
        output_buffer_size: Optional[int] = None,
        window_bits: Optional[int] = None,
        compression_level: Optional[int] = None,
        compression_method: Optional[int] = None,
        mem_level: Optional[int] = None,
        compression_strategy: Optional[int] = None,
    ) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode, self.input_buffer_size, self.output_buffer_size = flush_mode, input_buffer_size, output_buffer_size
        self.window_bits, self.compression_level, self.compression_method = window_bits, compression_level, compression_method
        self.mem_level, self.compression_strategy = mem_level, compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """`""`, `"ZLIB"` or `"GZIP"`, of options, or of what stands for a compression.

        Raises:
          ValueError: It stands for none.

        Example:
          >>> tf.python_io.TFRecordOptions.get_compression_type_string(tf.python_io.TFRecordOptions("GZIP"))
          'GZIP'
        """
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if options in _NAMES:
            return _NAMES[options]
        if options in _NAMES.values():
            return str(options)
        raise ValueError('Not a valid compression_type: "{}"'.format(options))


class TFRecordWriter:
    """Writes records to a new file; a context that closes it.

    Args:
      path: The file.
      options: A `TFRecordOptions`, or a compression.

    Raises:
      tf.errors.NotFoundError: There is no such folder.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "records")
      >>> with tf.python_io.TFRecordWriter(path) as writer:
      ...     writer.write(b"one")
      ...     writer.write(b"two")
      >>> list(tf.python_io.tf_record_iterator(path))
      [b'one', b'two']
      >>> writer = tf.python_io.TFRecordWriter(path)
      >>> writer.flush()
      >>> writer.close()
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        if options is not None and not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(options)
        kind = TFRecordOptions.get_compression_type_string(options)
        level = getattr(options, "compression_level", None)
        level = -1 if level is None else level
        try:
            out: Any = open(os.fspath(path), "wb")
        except OSError as e:
            raise errors.NotFoundError(None, None, "%s; %s" % (path, e.strerror)) from e
        self._out = _Deflated(out, level) if kind == "ZLIB" else out
        if kind == "GZIP":
            self._raw, self._out = out, gzip.GzipFile(fileobj=out, mode="wb", compresslevel=9 if level < 0 else level, filename="", mtime=0)
        self._closed = False

    def write(self, record: Any) -> None:
        """Writes one record.

        Args:
          record: Bytes.

        Raises:
          tf.errors.FailedPreconditionError: The file is closed.
          TypeError: It is not of bytes.
        """
        if self._closed:
            raise errors.FailedPreconditionError(None, None, "Writer not initialized or previously closed")
        if not isinstance(record, (bytes, bytearray)):
            raise TypeError("expected bytes, got %s" % type(record).__name__)
        records.write_record(self._out, bytes(record))

    def flush(self) -> None:
        """What was written is in the file."""
        self._out.flush()

    def close(self) -> None:
        """Closes the file."""
        if not self._closed:
            self._closed = True
            self._out.close()
            getattr(self, "_raw", self._out).close()

    def __enter__(self) -> "TFRecordWriter":
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()


class _Deflated:
    """A file that is written compressed by zlib."""

    def __init__(self, out: Any, level: int) -> None:
        self._out, self._zlib = out, zlib.compressobj(level)

    def write(self, data: bytes) -> None:
        self._out.write(self._zlib.compress(data))

    def flush(self) -> None:
        self._out.write(self._zlib.flush(zlib.Z_SYNC_FLUSH))
        self._out.flush()

    def close(self) -> None:
        if not self._out.closed:
            self._out.write(self._zlib.flush())
            self._out.close()


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """The records of a file, in order.

    Args:
      path: The file.
      options: A `TFRecordOptions`, or a compression.

    Returns:
      An iterator of bytes.

    Raises:
      tf.errors.NotFoundError: There is no such file.
      tf.errors.DataLossError: A record is damaged, or cut short.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "records")
      >>> with tf.python_io.TFRecordWriter(path) as writer:
      ...     writer.write(b"one")
      ...     writer.write(b"two")
      >>> list(tf.python_io.tf_record_iterator(path))
      [b'one', b'two']
    """
    kind = TFRecordOptions.get_compression_type_string(options)
    path = os.fspath(path)
    try:
        source = open(path, "rb")
    except OSError as e:
        raise errors.NotFoundError(None, None, "%s; %s" % (path, e.strerror)) from e
    with source:
        plain: Any = source
        if kind == "GZIP":
            plain = gzip.GzipFile(fileobj=source)
        elif kind == "ZLIB":
            plain = _io.BytesIO(_inflated(source.read(), path))
        try:
            yield from records.records_of(plain, path)
        except (OSError, EOFError) as e:
            raise errors.DataLossError(None, None, "%s is damaged: %s" % (path, e)) from e


def _inflated(data: bytes, path: str) -> bytes:
    try:
        return zlib.decompress(data) if data else b""
    except zlib.error as e:
        raise errors.DataLossError(None, None, "%s is damaged: %s" % (path, e)) from e


__dir__ = _namespaces.dir_of(globals())
