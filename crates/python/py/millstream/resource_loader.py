"""`tf.resource_loader`: files beside a program."""

from __future__ import annotations

import inspect
import os

from millstream.framework import namespaces

__all__ = ["get_data_files_path", "get_path_to_datafile", "get_root_dir_with_all_resources", "load_resource", "readahead_file_path"]


def _folder(depth: int) -> str:
    """Returns the folder of the file of the caller's caller."""
    return os.path.dirname(os.path.realpath(inspect.stack()[depth].filename))


def get_data_files_path() -> str:
    """Returns the folder of the file that calls it.

    Example:
      >>> import os
      >>> os.path.isabs(tf.resource_loader.get_data_files_path())
      True
    """
    return _folder(2)


def get_path_to_datafile(path: str) -> str:
    """Returns the path of a file, given relative to the folder of the file that calls it.

    Args:
      path: The path.

    Returns:
      A path.

    Example:
      >>> tf.resource_loader.get_path_to_datafile("data.txt").endswith("data.txt")
      True
    """
    return os.path.join(_folder(2), path)


def get_root_dir_with_all_resources() -> str:
    """Returns the folder of the file that calls it, where no build system has moved it.

    Example:
      >>> import os
      >>> os.path.isabs(tf.resource_loader.get_root_dir_with_all_resources())
      True
    """
    return _folder(2)


def load_resource(path: str) -> bytes:
    """Returns the contents of a file, given relative to the package's folder.

    Args:
      path: The path.

    Returns:
      Bytes.

    Raises:
      IOError: There is no such file.

    Example:
      >>> tf.resource_loader.load_resource("py.typed")
      b''
    """
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), path), "rb") as source:
        return source.read()


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """Returns the path itself.

    Args:
      path: A path.
      readahead: Ignored.

    Returns:
      The path.

    Example:
      >>> tf.resource_loader.readahead_file_path("a")
      'a'
    """
    return path


__dir__ = namespaces.dir_of(globals())
