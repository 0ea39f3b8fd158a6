"""`tf.python_io`: reading and writing TFRecord files from Python, plain or compressed."""

from __future__ import annotations

import errno
import gzip
import io as _io
import os
import zlib
from typing import Any, Iterator, Optional

from millstream.framework import errors
from millstream.io import files, records

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]


class TFRecordCompressionType:
    """The compression of a file: `NONE`, `ZLIB` or `GZIP`.

    Example:
      >>> tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP).compression_type
      2
    """

    NONE = 0
    ZLIB = 1
    GZIP = 2


_NAMES = {TFRecordCompressionType.NONE: "", TFRecordCompressionType.ZLIB: "ZLIB", TFRecordCompressionType.GZIP: "GZIP"}


class TFRecordOptions:
    """Compression options of a TFRecord file.

    Args:
      compression_type: `"GZIP"`, `"ZLIB"`, `""`, or a `TFRecordCompressionType`.
      flush_mode: The parameter of zlib.
      input_buffer_size: Ignored.
      output_buffer_size: Ignored.
      window_bits: The parameter of zlib.
      compression_level: An int from 0 to 9.
      compression_method: The parameter of zlib.
      mem_level: The parameter of zlib.
      compression_strategy: The parameter of zlib.

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
        """Returns the name of a compression: `""`, `"ZLIB"` or `"GZIP"`.

        Raises:
          ValueError: The compression is unknown.

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
    """A writer of records to a new file; as a context manager it closes the file.

    What was flushed, or written before the file was closed, is on the disk: a crash does not lose it.

    Args:
      path: The path of the file.
      options: A `TFRecordOptions` or a `TFRecordCompressionType`.

    Raises:
      tf.errors.NotFoundError: The directory does not exist.

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
        with files._Errors():
            out: Any = open(files._path(path), "wb")
        self._file = out
        self._out = _Deflated(out, level) if kind == "ZLIB" else out
        if kind == "GZIP":
            self._out = gzip.GzipFile(fileobj=out, mode="wb", compresslevel=9 if level < 0 else level, filename="", mtime=0)
        self._closed = False

    def write(self, record: Any) -> None:
        """Writes one record.

        Args:
          record: Bytes.

        Raises:
          tf.errors.FailedPreconditionError: The file is closed.
          TypeError: `record` is not bytes.
        """
        if self._closed:
            raise errors.FailedPreconditionError(None, None, "Writer not initialized or previously closed")
        if not isinstance(record, (bytes, bytearray)):
            raise TypeError("expected bytes, %s found" % type(record).__name__)
        records.write_record(self._out, bytes(record))

    def flush(self) -> None:
        """Flushes buffered records to the disk.

        Raises:
          tf.errors.FailedPreconditionError: The file is closed.
        """
        if self._closed:
            raise errors.FailedPreconditionError(None, None, "Writer not initialized or previously closed")
        self._out.flush()
        self._sync()

    def close(self) -> None:
        """Closes the file."""
        if not self._closed:
            self._closed = True
            try:
                if self._out is not self._file:
                    self._out.close()
                self._sync()
            finally:
                self._file.close()

    def _sync(self) -> None:
        self._file.flush()
        try:
            os.fsync(self._file.fileno())
        except OSError as e:
            # A pipe or a device has nothing to sync.
            if e.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise

    def __enter__(self) -> "TFRecordWriter":
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()


class _Deflated:
    """A file object that compresses with zlib. Closing it leaves the file open, as `GzipFile` does."""

    def __init__(self, out: Any, level: int) -> None:
        self._out, self._zlib = out, zlib.compressobj(level)

    def write(self, data: bytes) -> None:
        self._out.write(self._zlib.compress(data))

    def flush(self) -> None:
        self._out.write(self._zlib.flush(zlib.Z_SYNC_FLUSH))
        self._out.flush()

    def close(self) -> None:
        self._out.write(self._zlib.flush())


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """Returns an iterator over the records of a file.

    Args:
      path: The path of the file.
      options: A `TFRecordOptions` or a `TFRecordCompressionType`.

    Returns:
      An iterator of bytes.

    Raises:
      tf.errors.NotFoundError: The file does not exist.
      tf.errors.DataLossError: A record is corrupted or truncated.

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
    path = files._path(path)
    with files._Errors():
        source = open(path, "rb")
    with source:
        plain: Any = source
        if kind == "GZIP":
            plain = gzip.GzipFile(fileobj=source)
        elif kind == "ZLIB":
            plain = _io.BytesIO(_inflated(source.read(), path))
        try:
            yield from records.records_of(plain, path)
        except (OSError, EOFError, zlib.error) as e:
            raise errors.DataLossError(None, None, "%s is damaged: %s" % (path, e)) from e


def _inflated(data: bytes, path: str) -> bytes:
    try:
        return zlib.decompress(data) if data else b""
    except zlib.error as e:
        raise errors.DataLossError(None, None, "%s is damaged: %s" % (path, e)) from e
