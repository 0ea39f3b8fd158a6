"""`tf.io.gfile`: files and folders of this machine, by TensorFlow's newer names for what `tf.gfile` has."""

from __future__ import annotations

import os
from typing import Any, Iterator, List, Tuple

from millstream import gfile
from millstream.gfile import GFile

__all__ = ["GFile", "copy", "exists", "glob", "isdir", "listdir", "makedirs", "mkdir", "remove", "rename", "rmtree", "stat", "walk"]


def copy(src: str, dst: str, overwrite: bool = False) -> None:
    """Copies a file; an error if there is one already, unless `overwrite`."""
    gfile.Copy(src, dst, overwrite)


def exists(path: str) -> bool:
    """Whether there is such a file or folder."""
    return gfile.Exists(path)


def glob(pattern: Any) -> List[str]:
    """The files that match a pattern, or any of several."""
    return gfile.Glob(pattern)


def isdir(path: str) -> bool:
    """Whether it is a folder."""
    return gfile.IsDirectory(path)


def listdir(path: str) -> List[str]:
    """What is in a folder, by name."""
    return gfile.ListDirectory(path)


def makedirs(path: str) -> None:
    """Makes a folder and those above it, as far as they are not there."""
    gfile.MakeDirs(path)


def mkdir(path: str) -> None:
    """Makes a folder in one that is there."""
    gfile.MkDir(path)


def remove(path: str) -> None:
    """Removes a file."""
    gfile.Remove(path)


def rename(src: str, dst: str, overwrite: bool = False) -> None:
    """Gives a file or folder another name; an error if something has that, unless `overwrite`."""
    gfile.Rename(src, dst, overwrite)


def rmtree(path: str) -> None:
    """Removes a folder with all that is in it."""
    gfile.DeleteRecursively(path)


def stat(path: str) -> Any:
    """How long a file is, and when it was changed."""
    return gfile.Stat(path)


def walk(top: str, topdown: bool = True, onerror: Any = None) -> Iterator[Tuple[str, List[str], List[str]]]:
    """All folders below a folder (itself first if `topdown`, last if not), each with the folders and the files in it."""
    for where, folders, files in os.walk(os.fspath(top), topdown=topdown, onerror=onerror):
        folders.sort()
        yield where, folders, sorted(files)
