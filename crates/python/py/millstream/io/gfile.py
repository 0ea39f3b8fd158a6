"""`tf.io.gfile`: files and directories of this machine, by TensorFlow's later names for `tf.gfile`."""

from __future__ import annotations

import os
from typing import Any, Iterator, List, Tuple

from millstream.io import files as _files
from millstream.io.files import GFile

__all__ = ["GFile", "copy", "exists", "glob", "isdir", "listdir", "makedirs", "mkdir", "remove", "rename", "rmtree", "stat", "walk"]


def copy(src: str, dst: str, overwrite: bool = False) -> None:
    """Copies a file; fails if the target exists, unless `overwrite`."""
    _files.Copy(src, dst, overwrite)


def exists(path: str) -> bool:
    """Returns whether a file or directory exists."""
    return _files.Exists(path)


def glob(pattern: Any) -> List[str]:
    """Returns the files that match a pattern, or any of several patterns."""
    return _files.Glob(pattern)


def isdir(path: str) -> bool:
    """Returns whether the path is a directory."""
    return _files.IsDirectory(path)


def listdir(path: str) -> List[str]:
    """Returns the names in a directory."""
    return _files.ListDirectory(path)


def makedirs(path: str) -> None:
    """Creates a directory and its missing parents."""
    _files.MakeDirs(path)


def mkdir(path: str) -> None:
    """Creates a directory, whose parent must exist."""
    _files.MkDir(path)


def remove(path: str) -> None:
    """Removes a file."""
    _files.Remove(path)


def rename(src: str, dst: str, overwrite: bool = False) -> None:
    """Renames a file or directory; fails if the target exists, unless `overwrite`."""
    _files.Rename(src, dst, overwrite)


def rmtree(path: str) -> None:
    """Removes a directory with its contents."""
    _files.DeleteRecursively(path)


def stat(path: str) -> Any:
    """Returns the length and the modification time of a file."""
    return _files.Stat(path)


def walk(top: str, topdown: bool = True, onerror: Any = None) -> Iterator[Tuple[str, List[str], List[str]]]:
    """Yields the directories below `top`, itself included, each with its subdirectories and files.

    A directory comes before its subdirectories if `topdown` is true, otherwise after them.
    """
    for where, folders, files in os.walk(os.fspath(top), topdown=topdown, onerror=onerror):
        folders.sort()
        yield where, folders, sorted(files)
