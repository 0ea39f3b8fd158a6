"""Graphs in files: `write_graph`, and reading and writing of messages."""

from __future__ import annotations

import os
from typing import Any

from millstream import _engine
from millstream.framework import protos


def write_message(message: Any, path: str, as_text: bool) -> None:
    """Writes a message in text or binary form."""
    from google.protobuf import text_format

    data = text_format.MessageToString(message).encode() if as_text else message.SerializeToString()
    _engine.write_whole(os.fspath(path), data)


def write_graph(graph_or_graph_def: Any, logdir: str, name: str, as_text: bool = True) -> str:
    r"""Writes a graph to a file in a directory, which is created if missing.

    Args:
      graph_or_graph_def: A `Graph` or a `GraphDef`.
      logdir: The directory.
      name: The file's name.
      as_text: If true, the file is written as text.

    Returns:
      The file's path.

    Example:
      >>> import tempfile
      >>> c = tf.constant(1, name="c")
      >>> path = tf.train.write_graph(tf.get_default_graph(), tempfile.mkdtemp(), "graph.pbtxt")
      >>> open(path).read(14)
      'node {\n  name:'
    """
    given = graph_or_graph_def
    graph_def = given.as_graph_def() if hasattr(given, "as_graph_def") else protos.as_message("GraphDef", given)
    os.makedirs(logdir, exist_ok=True)
    path = os.path.join(logdir, name)
    write_message(graph_def, path, as_text)
    return path


def read_meta_graph_file(filename: str) -> Any:
    """Reads a `MetaGraphDef` from a file, in binary or text form."""
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    if not os.path.exists(filename):
        raise OSError(f"File {filename} does not exist.")
    with open(filename, "rb") as source:
        data = source.read()
    try:
        return protos.MetaGraphDef.FromString(data)
    except DecodeError:
        pass
    try:
        return protos.from_text(data, protos.MetaGraphDef())
    except (UnicodeDecodeError, text_format.ParseError) as error:
        raise OSError(f"Cannot parse file {filename}: {error}.") from None
