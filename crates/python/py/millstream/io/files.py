"""`tf.gfile`: files and directories of the local file system, with TensorFlow's names and errors."""

from __future__ import annotations

import glob as _glob
import os
import re
import shutil
from typing import Any, Iterator, List, Optional, Tuple

from millstream.framework import errors

__all__ = [
    "Copy",
    "DeleteRecursively",
    "Exists",
    "FastGFile",
    "GFile",
    "Glob",
    "IsDirectory",
    "ListDirectory",
    "MakeDirs",
    "MkDir",
    "Open",
    "Remove",
    "Rename",
    "Stat",
    "Walk",
]


class _Errors:
    """A context manager that converts OS errors to TensorFlow's."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if not isinstance(error, OSError):
            return
        text = "%s; %s" % (error.filename, error.strerror)
        if isinstance(error, FileNotFoundError):
            raise errors.NotFoundError(None, None, text) from error
        if isinstance(error, FileExistsError):
            raise errors.AlreadyExistsError(None, None, text) from error
        if isinstance(error, PermissionError):
            raise errors.PermissionDeniedError(None, None, text) from error
        raise errors.FailedPreconditionError(None, None, text) from error


def _path(name: Any) -> str:
    try:
        return os.fsdecode(os.fspath(name))
    except TypeError:
        raise TypeError("Expected binary or unicode string, got %r" % (name,)) from None


class GFile:
    r"""A file, opened when first used. It holds text, or bytes if the mode contains `b`.

    Args:
      name: The path.
      mode: A mode of `open`: `"r"`, `"w"` or `"a"`, with `"+"` for both directions and `"b"` for bytes.

    Raises:
      tf.errors.InvalidArgumentError: `mode` is invalid.
      tf.errors.NotFoundError: On first use: the file does not exist.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> path = os.path.join(folder, "a.txt")
      >>> with tf.gfile.GFile(path, "w") as f:
      ...     f.write("one\ntwo\n")
      ...     f.flush()
      >>> f = tf.gfile.GFile(path)
      >>> f.name == path, f.mode, f.size(), f.readline(), f.tell(), f.read(2), f.readlines()
      (True, 'r', 8, 'one\n', 4, 'tw', ['o\n'])
      >>> f.seek(0)
      >>> f.next(), list(f)
      ('one\n', ['two\n'])
      >>> f.close()
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        if mode not in ("r", "w", "a", "r+", "w+", "a+", "rb", "wb", "ab", "r+b", "w+b", "a+b", "rb+", "wb+", "ab+"):
            raise errors.InvalidArgumentError(None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+': it is %r" % mode)
        self._name, self._mode = name, mode
        # Two handles, as TensorFlow has them: what is written is read from the beginning of the file.
        self._reader: Any = None
        self._writer: Any = None

    @property
    def name(self) -> str:
        """The path of the file."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode in which the file is opened."""
        return self._mode

    def _readable(self) -> Any:
        """Returns the handle that reads, in bytes."""
        if "r" not in self._mode and "+" not in self._mode:
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
        if self._reader is None:
            with _Errors():
                self._reader = open(_path(self._name), "rb")
        return self._reader

    def _writable(self) -> Any:
        """Returns the handle that writes, in bytes."""
        if self._mode.startswith("r") and "+" not in self._mode:
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
        if self._writer is None:
            with _Errors():
                self._writer = open(_path(self._name), "ab" if "a" in self._mode else "wb")
        return self._writer

    def _value(self, content: bytes) -> Any:
        return content if "b" in self._mode else content.decode()

    def write(self, file_content: Any) -> None:
        """Writes to the file.

        Args:
          file_content: A str, or bytes.

        Raises:
          tf.errors.PermissionDeniedError: The file is not open for writing.
          TypeError: The content is neither a str nor bytes.
        """
        writer = self._writable()
        if not isinstance(file_content, (str, bytes)):
            raise TypeError("Expected binary or unicode string, got %r" % (file_content,))
        writer.write(file_content.encode() if isinstance(file_content, str) else file_content)

    def read(self, n: int = -1) -> Any:
        """Reads `n` bytes, or the rest of the file if `n` is negative; text that they hold."""
        return self._value(self._readable().read(n))

    def readline(self) -> Any:
        """Reads the next line, including its newline; empty at the end of the file."""
        return self._value(self._readable().readline().replace(b"\r", b""))

    def readlines(self) -> List[Any]:
        """Reads all remaining lines. Carriage returns are left out, as TensorFlow does; `read` keeps them."""
        return [self._value(line.replace(b"\r", b"")) for line in self._readable().readlines()]

    def seek(self, offset: Optional[int] = None, whence: int = 0, position: Optional[int] = None) -> None:
        """Changes the position in the file, in bytes.

        Args:
          offset: An int: the offset.
          whence: What `offset` is relative to. 0: the beginning; 1: the current position; 2: the end.
          position: The former name of `offset`.

        Raises:
          TypeError: `offset` is missing, or given twice.
          tf.errors.InvalidArgumentError: `whence` is invalid, or the position is negative.
          tf.errors.OutOfRangeError: The position is after the end of the file, where the position is now.
        """
        reader = self._readable()
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if offset is not None and position is not None:
            raise TypeError("seek(): offset and position may not be set simultaneously.")
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(None, None, "Invalid whence argument: %s. Valid values are 0, 1, or 2." % whence)
        size = self.size()
        place = (position if offset is None else offset) + (0, reader.tell(), size)[whence]  # type: ignore[operator]
        if place < 0:
            raise errors.InvalidArgumentError(None, None, "Seeking to a negative position: %d" % place)
        reader.seek(min(place, size))
        if size < place:
            raise errors.OutOfRangeError(None, None, "reached end of file")

    def tell(self) -> int:
        """Returns the position in the file, in bytes."""
        return (self._readable() if "r" in self._mode or "+" in self._mode else self._writable()).tell()

    def size(self) -> int:
        """Returns the size of the file in bytes."""
        return Stat(self._name).length

    def flush(self) -> None:
        """Flushes buffered writes to the file."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Closes the file."""
        for handle in (self._reader, self._writer):
            if handle is not None:
                handle.close()
        self._reader = self._writer = None

    def __enter__(self) -> "GFile":
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        """Reads the next line, including its newline.

        Raises:
          StopIteration: At the end of the file.
        """
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__


FastGFile = Open = GFile


class FileStatistics:
    """The size and modification time of a file, and whether it is a directory."""

    def __init__(self, path: str) -> None:
        found = os.stat(path)
        self.length, self.mtime_nsec, self.is_directory = found.st_size, found.st_mtime_ns, os.path.isdir(path)


def Stat(filename: Any) -> Any:  # noqa: N802
    r"""Returns information about a file.

    Args:
      filename: The path of the file.

    Returns:
      An object with `length`, `mtime_nsec` and `is_directory`.

    Raises:
      tf.errors.NotFoundError: The file does not exist.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> path = os.path.join(folder, "a.txt")
      >>> with tf.gfile.GFile(path, "w") as f:
      ...     f.write("one\ntwo\n")
      >>> tf.gfile.Stat(path).length
      8
    """
    with _Errors():
        return FileStatistics(_path(filename))


def Exists(filename: Any) -> bool:  # noqa: N802
    r"""Whether a file or directory exists.

    Args:
      filename: The path.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> path = os.path.join(folder, "a.txt")
      >>> with tf.gfile.GFile(path, "w") as f:
      ...     f.write("one\ntwo\n")
      >>> tf.gfile.Exists(path), tf.gfile.Exists(path + "2")
      (True, False)
    """
    return os.path.exists(_path(filename))


def IsDirectory(dirname: Any) -> bool:  # noqa: N802
    r"""Whether a path is a directory.

    Args:
      dirname: The path.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> path = os.path.join(folder, "a.txt")
      >>> with tf.gfile.GFile(path, "w") as f:
      ...     f.write("one\ntwo\n")
      >>> tf.gfile.IsDirectory(folder), tf.gfile.IsDirectory(path)
      (True, False)
    """
    return os.path.isdir(_path(dirname))


def ListDirectory(dirname: Any) -> List[str]:  # noqa: N802
    r"""Lists the contents of a directory.

    Args:
      dirname: The path of the directory.

    Returns:
      A sorted list of names.

    Raises:
      tf.errors.NotFoundError: The directory does not exist.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> path = os.path.join(folder, "a.txt")
      >>> with tf.gfile.GFile(path, "w") as f:
      ...     f.write("one\ntwo\n")
      >>> tf.gfile.ListDirectory(folder)
      ['a.txt']
    """
    if not IsDirectory(dirname):
        raise errors.NotFoundError(None, None, "Could not find directory %s" % dirname)
    return sorted(os.listdir(_path(dirname)))


def Glob(filename: Any) -> List[str]:  # noqa: N802
    r"""Returns the files that match patterns.

    Args:
      filename: A pattern with shell wildcards, or a list of patterns.

    Returns:
      A list of paths.

    Raises:
      tf.errors.NotFoundError: The folder of a pattern, the part before the first wildcard, does not exist.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> path = os.path.join(folder, "a.txt")
      >>> with tf.gfile.GFile(path, "w") as f:
      ...     f.write("one\ntwo\n")
      >>> tf.gfile.Glob(os.path.join(folder, "*.txt")) == [path]
      True
    """
    found: List[str] = []
    for name in filename if isinstance(filename, (list, tuple)) else [filename]:
        pattern = _path(name)
        with _Errors():
            os.listdir(os.path.dirname(re.split(r"[*?\[\\]", pattern)[0]) or ".")
        found.extend(sorted(_glob.glob(pattern)))
    return found


def MkDir(dirname: Any) -> None:  # noqa: N802
    r"""Creates a directory; does nothing if it exists.

    Args:
      dirname: The path of the directory.

    Raises:
      tf.errors.NotFoundError: The parent directory does not exist.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> path = os.path.join(folder, "a.txt")
      >>> with tf.gfile.GFile(path, "w") as f:
      ...     f.write("one\ntwo\n")
      >>> tf.gfile.MkDir(os.path.join(folder, "b"))
      >>> sorted(tf.gfile.ListDirectory(folder))
      ['a.txt', 'b']
    """
    with _Errors():
        if not os.path.isdir(_path(dirname)):
            os.mkdir(_path(dirname))


def MakeDirs(dirname: Any) -> None:  # noqa: N802
    r"""Creates a directory and its parents; does nothing if it exists.

    Args:
      dirname: The path of the directory.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> path = os.path.join(folder, "a.txt")
      >>> with tf.gfile.GFile(path, "w") as f:
      ...     f.write("one\ntwo\n")
      >>> tf.gfile.MakeDirs(os.path.join(folder, "b", "c"))
      >>> tf.gfile.ListDirectory(os.path.join(folder, "b"))
      ['c']
    """
    with _Errors():
        if not os.path.exists(_path(dirname)):
            os.makedirs(_path(dirname), exist_ok=True)


def Remove(filename: Any) -> None:  # noqa: N802
    r"""Removes a file.

    Args:
      filename: The path of the file.

    Raises:
      tf.errors.NotFoundError: The file does not exist.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> path = os.path.join(folder, "a.txt")
      >>> with tf.gfile.GFile(path, "w") as f:
      ...     f.write("one\ntwo\n")
      >>> tf.gfile.Remove(path)
      >>> tf.gfile.ListDirectory(folder)
      []
    """
    with _Errors():
        os.remove(_path(filename))


def DeleteRecursively(dirname: Any) -> None:  # noqa: N802
    r"""Removes a directory and its contents.

    Args:
      dirname: The path of the directory.

    Raises:
      tf.errors.NotFoundError: The directory does not exist.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> path = os.path.join(folder, "a.txt")
      >>> with tf.gfile.GFile(path, "w") as f:
      ...     f.write("one\ntwo\n")
      >>> tf.gfile.DeleteRecursively(folder)
      >>> tf.gfile.Exists(folder)
      False
    """
    with _Errors():
        if not os.path.exists(_path(dirname)):
            raise errors.NotFoundError(None, None, "%s not found" % (dirname,))
        shutil.rmtree(_path(dirname))


def _may_write(path: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        raise errors.AlreadyExistsError(None, None, "file already exists: %s" % path)


def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:  # noqa: N802
    r"""Copies a file.

    Args:
      oldpath: The path of the file.
      newpath: The path of the copy.
      overwrite: If true, an existing file is replaced.

    Raises:
      tf.errors.NotFoundError, tf.errors.AlreadyExistsError: The file does not exist, or the copy exists.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> path = os.path.join(folder, "a.txt")
      >>> with tf.gfile.GFile(path, "w") as f:
      ...     f.write("one\ntwo\n")
      >>> tf.gfile.Copy(path, path + "2")
      >>> sorted(tf.gfile.ListDirectory(folder))
      ['a.txt', 'a.txt2']
    """
    _may_write(_path(newpath), overwrite)
    with _Errors():
        shutil.copyfile(_path(oldpath), _path(newpath))


def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:  # noqa: N802
    r"""Renames a file or directory.

    Args:
      oldname: The current path.
      newname: The new path.
      overwrite: If true, an existing file is replaced.

    Raises:
      tf.errors.NotFoundError, tf.errors.AlreadyExistsError: The file does not exist, or the new path exists.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> path = os.path.join(folder, "a.txt")
      >>> with tf.gfile.GFile(path, "w") as f:
      ...     f.write("one\ntwo\n")
      >>> tf.gfile.Rename(path, os.path.join(folder, "b.txt"))
      >>> tf.gfile.ListDirectory(folder)
      ['b.txt']
    """
    _may_write(_path(newname), overwrite)
    with _Errors():
        os.replace(_path(oldname), _path(newname))


def Walk(top: Any, in_order: bool = True) -> Iterator[Tuple[str, List[str], List[str]]]:  # noqa: N802
    r"""Walks through a directory tree.

    Args:
      top: The path of the root directory.
      in_order: If true, a directory comes before its subdirectories, otherwise after them.

    Returns:
      An iterator of triples: a path, the names of its subdirectories, the names of its files.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> path = os.path.join(folder, "a.txt")
      >>> with tf.gfile.GFile(path, "w") as f:
      ...     f.write("one\ntwo\n")
      >>> [(folders, files) for _, folders, files in tf.gfile.Walk(folder)]
      [([], ['a.txt'])]
    """
    for where, folders, files in os.walk(_path(top), topdown=in_order):
        folders.sort()
        yield where, folders, sorted(files)
