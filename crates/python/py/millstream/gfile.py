"""`tf.gfile`: files and folders of this machine, with TensorFlow's names and errors."""

from __future__ import annotations

import glob as _glob
import os
import shutil
from typing import Any, Iterator, List, Optional, Tuple

from millstream import errors

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
    """A file: read as text, or with `b` in the mode as bytes. Opened when it is first used."""

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
        """Writes at the end."""
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
        """Goes to a place."""
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
    """What is known of a file."""
    with _Errors():
        return _Stat(_path(filename))


def Exists(filename: Any) -> bool:  # noqa: N802
    """Whether there is such a file or folder."""
    return os.path.exists(_path(filename))


def IsDirectory(dirname: Any) -> bool:  # noqa: N802
    """Whether this is a folder."""
    return os.path.isdir(_path(dirname))


def ListDirectory(dirname: Any) -> List[str]:  # noqa: N802
    """What is in a folder."""
    if not IsDirectory(dirname):
        raise errors.NotFoundError(None, None, "Could not find directory: %s" % dirname)
    return sorted(os.listdir(_path(dirname)))


def Glob(filename: Any) -> List[str]:  # noqa: N802
    """The files that patterns match."""
    names = filename if isinstance(filename, (list, tuple)) else [filename]
    return [path for name in names for path in sorted(_glob.glob(_path(name)))]


def MkDir(dirname: Any) -> None:  # noqa: N802
    """Makes a folder; nothing if it is there."""
    with _Errors():
        if not os.path.isdir(_path(dirname)):
            os.mkdir(_path(dirname))


def MakeDirs(dirname: Any) -> None:  # noqa: N802
    """Makes a folder and those it is in; nothing if it is there."""
    with _Errors():
        os.makedirs(_path(dirname), exist_ok=True)


def Remove(filename: Any) -> None:  # noqa: N802
    """Removes a file."""
    with _Errors():
        os.remove(_path(filename))


def DeleteRecursively(dirname: Any) -> None:  # noqa: N802
    """Removes a folder with all that is in it."""
    with _Errors():
        if os.path.isdir(_path(dirname)):
            shutil.rmtree(_path(dirname))
        else:
            os.remove(_path(dirname))


def _may_write(path: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        raise errors.AlreadyExistsError(None, None, "file already exists: %s" % path)


def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:  # noqa: N802
    """Copies a file."""
    _may_write(_path(newpath), overwrite)
    with _Errors():
        shutil.copyfile(_path(oldpath), _path(newpath))


def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:  # noqa: N802
    """Gives a file or folder another name."""
    _may_write(_path(newname), overwrite)
    with _Errors():
        os.replace(_path(oldname), _path(newname))


def Walk(top: Any, in_order: bool = True) -> Iterator[Tuple[str, List[str], List[str]]]:  # noqa: N802
    """Each folder under `top` with its folders and files, the upper first, or last."""
    for where, folders, files in os.walk(_path(top), topdown=in_order):
        folders.sort()
        yield where, folders, sorted(files)
