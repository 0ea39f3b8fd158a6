"""`tf.gfile`: files and folders of this machine, with TensorFlow's names and errors."""

from __future__ import annotations

import glob as _glob
import os
import shutil
from typing import Any, Iterator, List, Optional, Tuple

from millstream import _namespaces, errors

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
    """Turns the system's errors into TensorFlow's."""

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
    return os.fsdecode(os.fspath(name))


class GFile:
    r"""A file: read as text, or with `b` in the mode as bytes. Opened when it is first used.

    Args:
      name: The path.
      mode: `"r"`, `"w"`, `"a"`, with `"+"` for both and `"b"` for bytes.

    Raises:
      tf.errors.InvalidArgumentError: Another mode.
      tf.errors.NotFoundError: When used: there is no such file.

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
        self._name, self._mode = _path(name), mode
        self._file: Any = None

    @property
    def name(self) -> str:
        """The path."""
        return self._name

    @property
    def mode(self) -> str:
        """How it was opened."""
        return self._mode

    def _opened(self) -> Any:
        if self._file is None:
            with _Errors():
                self._file = open(self._name, self._mode) if "b" in self._mode else open(self._name, self._mode, encoding="utf-8")
        return self._file

    def _readable(self) -> Any:
        if "r" not in self._mode and "+" not in self._mode:
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
        return self._opened()

    def write(self, file_content: Any) -> None:
        """Writes at the end.

        Args:
          file_content: Text or bytes.

        Raises:
          tf.errors.PermissionDeniedError: It is not open for writing.
        """
        if self._mode.startswith("r") and "+" not in self._mode:
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
        if "b" in self._mode and isinstance(file_content, str):
            file_content = file_content.encode()
        elif "b" not in self._mode and isinstance(file_content, bytes):
            file_content = file_content.decode()
        self._opened().write(file_content)

    def read(self, n: int = -1) -> Any:
        """The next `n` characters or bytes; all that is left, without a number."""
        return self._readable().read(n)

    def readline(self) -> Any:
        """The next line, with its end; nothing at the end of the file."""
        return self._readable().readline()

    def readlines(self) -> List[Any]:
        """All lines that are left."""
        return self._readable().readlines()

    def seek(self, offset: Optional[int] = None, whence: int = 0, position: Optional[int] = None) -> None:
        """Goes to a place.

        Args:
          offset: How far.
          whence: 0: from the beginning; 1: from here; 2: from the end.
          position: What `offset` was called once.

        Raises:
          TypeError: There is no offset.
        """
        place = position if offset is None else offset
        if place is None:
            raise TypeError("seek(): offset argument required")
        self._opened().seek(place, whence)

    def tell(self) -> int:
        """Where it is."""
        return self._opened().tell()

    def size(self) -> int:
        """How long the file is, in bytes."""
        return Stat(self._name).length

    def flush(self) -> None:
        """What was written is in the file."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> "GFile":
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        """The next line, with its end.

        Raises:
          StopIteration: At the end of the file.
        """
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__


FastGFile = Open = GFile


class _Stat:
    """How long a file is, when it was changed, and whether it is a folder."""

    def __init__(self, path: str) -> None:
        found = os.stat(path)
        self.length, self.mtime_nsec, self.is_directory = found.st_size, found.st_mtime_ns, os.path.isdir(path)


def Stat(filename: Any) -> Any:  # noqa: N802
    r"""What is known of a file.

    Args:
      filename: The file.

    Returns:
      An object with `length`, `mtime_nsec` and `is_directory`.

    Raises:
      tf.errors.NotFoundError: There is none.

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
        return _Stat(_path(filename))


def Exists(filename: Any) -> bool:  # noqa: N802
    r"""Whether there is such a file or folder.

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
    r"""Whether this is a folder.

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
    r"""What is in a folder.

    Args:
      dirname: The folder.

    Returns:
      A list of names, in no order.

    Raises:
      tf.errors.NotFoundError: There is no such folder.

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
        raise errors.NotFoundError(None, None, "Could not find directory: %s" % dirname)
    return sorted(os.listdir(_path(dirname)))


def Glob(filename: Any) -> List[str]:  # noqa: N802
    r"""The files that patterns match.

    Args:
      filename: A pattern as the shell's, or a list of them.

    Returns:
      A list of paths.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> path = os.path.join(folder, "a.txt")
      >>> with tf.gfile.GFile(path, "w") as f:
      ...     f.write("one\ntwo\n")
      >>> tf.gfile.Glob(os.path.join(folder, "*.txt")) == [path]
      True
    """
    names = filename if isinstance(filename, (list, tuple)) else [filename]
    return [path for name in names for path in sorted(_glob.glob(_path(name)))]


def MkDir(dirname: Any) -> None:  # noqa: N802
    r"""Makes a folder; nothing if it is there.

    Args:
      dirname: The folder.

    Raises:
      tf.errors.NotFoundError: The folder that it is in is not there.

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
    r"""Makes a folder and those it is in; nothing if it is there.

    Args:
      dirname: The folder.

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
        os.makedirs(_path(dirname), exist_ok=True)


def Remove(filename: Any) -> None:  # noqa: N802
    r"""Removes a file.

    Args:
      filename: The file.

    Raises:
      tf.errors.NotFoundError: There is none.

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
    r"""Removes a folder with all that is in it.

    Args:
      dirname: The folder.

    Raises:
      tf.errors.NotFoundError: There is none.

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
        if os.path.isdir(_path(dirname)):
            shutil.rmtree(_path(dirname))
        else:
            os.remove(_path(dirname))


def _may_write(path: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        raise errors.AlreadyExistsError(None, None, "file already exists: %s" % path)


def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:  # noqa: N802
    r"""Copies a file.

    Args:
      oldpath: The file.
      newpath: The copy.
      overwrite: Whether a file that is there may be replaced.

    Raises:
      tf.errors.NotFoundError, tf.errors.AlreadyExistsError: There is no such file; or there is a copy.

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
    r"""Gives a file or folder another name.

    Args:
      oldname: The name it has.
      newname: The name it gets.
      overwrite: Whether a file that is there may be replaced.

    Raises:
      tf.errors.NotFoundError, tf.errors.AlreadyExistsError: There is no such file; or there is another of that name.

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
    r"""Each folder under `top` with its folders and files.

    Args:
      top: The folder to begin with.
      in_order: Whether a folder comes before those in it.

    Returns:
      An iterator of triples: the path, the names of folders, the names of files.

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


__dir__ = _namespaces.dir_of(globals())
