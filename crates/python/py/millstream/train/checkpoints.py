"""Checkpoints as files: those in a directory, the latest one, the contents of one."""

from __future__ import annotations

import glob
import os
import struct
from typing import Any, Dict, Iterator, List, Optional, Tuple

from millstream import _engine
from millstream.framework import Graph, dtypes, errors, protos
from millstream.framework.op_functions import raw
from millstream.framework.session import Session
from millstream.framework.shapes import TensorShape

# Checkpoints of a directory.


def _state_path(folder: str, latest_filename: Optional[str]) -> str:
    return os.path.join(folder, latest_filename or "checkpoint")


def generate_checkpoint_state_proto(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Optional[List[str]] = None,
    all_model_checkpoint_timestamps: Optional[List[float]] = None,
    last_preserved_timestamp: Optional[float] = None,
) -> Any:
    """Returns a `CheckpointState` that lists the latest checkpoint and all others.

    Paths are relative to `save_dir` if that is relative.

    Args:
      save_dir: The directory.
      model_checkpoint_path: The latest checkpoint.
      all_model_checkpoint_paths: A list of all checkpoints, oldest first.
      all_model_checkpoint_timestamps: A list of the times they were written at.
      last_preserved_timestamp: The time of the last checkpoint that is kept for good.

    Returns:
      A `CheckpointState`.

    Raises:
      ValueError: The lists differ in length.

    Example:
      >>> tf.train.generate_checkpoint_state_proto("/tmp", "/tmp/model-2",
      ...     ["/tmp/model-1"]).all_model_checkpoint_paths
      ['/tmp/model-1', '/tmp/model-2']
    """
    paths = list(all_model_checkpoint_paths or [])
    if model_checkpoint_path not in paths:
        paths.append(model_checkpoint_path)
    if all_model_checkpoint_timestamps and len(all_model_checkpoint_timestamps) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (given paths "
            f"{paths} and timestamps {all_model_checkpoint_timestamps})"
        )
    if not os.path.isabs(save_dir):
        paths = [p if os.path.isabs(p) else os.path.relpath(p, save_dir) for p in paths]
        if not os.path.isabs(model_checkpoint_path):
            model_checkpoint_path = os.path.relpath(model_checkpoint_path, save_dir)
    return protos.CheckpointState(
        model_checkpoint_path=model_checkpoint_path,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=all_model_checkpoint_timestamps,
        last_preserved_timestamp=last_preserved_timestamp or 0.0,
    )


def update_checkpoint_state(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Optional[List[str]] = None,
    latest_filename: Optional[str] = None,
    all_model_checkpoint_timestamps: Optional[List[float]] = None,
    last_preserved_timestamp: Optional[float] = None,
) -> None:
    """Writes the file that lists the checkpoints of a directory.

    Args:
      save_dir: The directory.
      model_checkpoint_path: The latest checkpoint.
      all_model_checkpoint_paths: A list of all checkpoints, oldest first.
      latest_filename: The file; by default `checkpoint`.
      all_model_checkpoint_timestamps: A list of the times they were written at.
      last_preserved_timestamp: The time of the last checkpoint that is kept for good.

    Raises:
      RuntimeError: The checkpoint's name is that of the file.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> v = tf.Variable([1.0, 2.0], name="v")
      >>> saver = tf.train.Saver()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = saver.save(sess, os.path.join(folder, "model"), global_step=3)
      >>> tf.train.update_checkpoint_state(folder, path)
      >>> tf.train.latest_checkpoint(folder) == path
      True
    """
    from google.protobuf import text_format

    path = _state_path(save_dir, latest_filename)
    if path == model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state.  "
            "Please use a different save path."
        )
    state = generate_checkpoint_state_proto(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )
    _engine.write_whole(path, text_format.MessageToString(state).encode())


def get_checkpoint_state(checkpoint_dir: str, latest_filename: Optional[str] = None) -> Any:
    """Returns the `CheckpointState` of a directory, with full paths.

    Args:
      checkpoint_dir: The directory.
      latest_filename: The file that lists checkpoints; by default `checkpoint`.

    Returns:
      A `CheckpointState`; None if there is none.

    Raises:
      ValueError: The file names no checkpoint.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> v = tf.Variable([1.0, 2.0], name="v")
      >>> saver = tf.train.Saver()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = saver.save(sess, os.path.join(folder, "model"), global_step=3)
      >>> tf.train.get_checkpoint_state(folder).model_checkpoint_path == path
      True
    """
    from google.protobuf import text_format

    try:
        with open(_state_path(checkpoint_dir, latest_filename)) as source:
            state = text_format.Parse(source.read(), protos.CheckpointState())
    except (OSError, text_format.ParseError):
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {checkpoint_dir}")
    state.model_checkpoint_path = os.path.join(checkpoint_dir, state.model_checkpoint_path)
    paths = [os.path.join(checkpoint_dir, p) for p in state.all_model_checkpoint_paths]
    del state.all_model_checkpoint_paths[:]
    state.all_model_checkpoint_paths.extend(paths)
    return state


def latest_checkpoint(checkpoint_dir: str, latest_filename: Optional[str] = None) -> Optional[str]:
    """Returns the latest checkpoint of a directory.

    Args:
      checkpoint_dir: The directory.
      latest_filename: The file that lists checkpoints; by default `checkpoint`.

    Returns:
      The path of the checkpoint; None if there is none.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> v = tf.Variable([1.0, 2.0], name="v")
      >>> saver = tf.train.Saver()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = saver.save(sess, os.path.join(folder, "model"), global_step=3)
      >>> tf.train.latest_checkpoint(folder) == path
      True
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is not None and os.path.isdir(os.path.dirname(state.model_checkpoint_path) or ".") and checkpoint_exists(state.model_checkpoint_path):
        return str(state.model_checkpoint_path)
    return None


def checkpoint_exists(checkpoint_prefix: str) -> bool:
    """Returns whether a checkpoint exists.

    Args:
      checkpoint_prefix: A checkpoint, as returned by `Saver.save`.

    Raises:
      tf.errors.NotFoundError: The directory does not exist.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> v = tf.Variable([1.0, 2.0], name="v")
      >>> saver = tf.train.Saver()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = saver.save(sess, os.path.join(folder, "model"), global_step=3)
      >>> tf.train.checkpoint_exists(path), tf.train.checkpoint_exists(path + "0")
      (True, False)
    """
    folder = os.path.dirname(checkpoint_prefix)
    if folder and not os.path.isdir(folder):
        raise errors.NotFoundError(None, None, f"{folder}; No such file or directory")
    return bool(glob.glob(glob.escape(checkpoint_prefix) + ".index")) or os.path.isfile(checkpoint_prefix)


def get_checkpoint_mtimes(checkpoint_prefixes: List[str]) -> List[float]:
    """Returns the times that checkpoints were written at, omitting those that do not exist.

    Args:
      checkpoint_prefixes: A list of checkpoints.

    Returns:
      A list of times, in seconds since the epoch.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> v = tf.Variable([1.0, 2.0], name="v")
      >>> saver = tf.train.Saver()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = saver.save(sess, os.path.join(folder, "model"), global_step=3)
      >>> len(tf.train.get_checkpoint_mtimes([path, path + "0"]))
      1
    """
    # A checkpoint of the first format has no index: the prefix is its file, or the pattern of its shards.
    files = [[p + ".index"] if os.path.exists(p + ".index") else sorted(glob.glob(p)) for p in checkpoint_prefixes]
    return [os.path.getmtime(found[0]) for found in files if found]


def remove_checkpoint(
    checkpoint_prefix: str, checkpoint_format_version: int = 2, meta_graph_suffix: str = "meta"
) -> None:
    """Deletes the files of a checkpoint.

    Args:
      checkpoint_prefix: The checkpoint.
      checkpoint_format_version: Ignored.
      meta_graph_suffix: The suffix of the graph's file.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> v = tf.Variable([1.0, 2.0], name="v")
      >>> saver = tf.train.Saver()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = saver.save(sess, os.path.join(folder, "model"), global_step=3)
      >>> tf.train.remove_checkpoint(path)
      >>> os.listdir(folder)
      ['checkpoint']
    """
    escaped = glob.escape(checkpoint_prefix)
    if _is_old(checkpoint_prefix):
        os.remove(checkpoint_prefix)
    for pattern in (".index", ".data-?????-of-?????", "." + meta_graph_suffix):
        for path in glob.glob(escaped + pattern):
            os.remove(path)


# The contents of a checkpoint.


def _is_old(prefix: str) -> bool:
    """Returns whether a checkpoint has TensorFlow's first format, which is one file."""
    return os.path.isfile(prefix) and not os.path.exists(prefix + ".index")


def _varint(data: bytes, at: int) -> Tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _unpacked(packed: bytes) -> bytes:
    """Returns the bytes of a block that is compressed by Snappy: literals, and copies of what came before."""
    length, at = _varint(packed, 0)
    out = bytearray()
    while at < len(packed):
        tag = packed[at]
        at += 1
        if tag & 3 == 0:
            count = tag >> 2
            if count >= 60:
                more = count - 59
                count = int.from_bytes(packed[at : at + more], "little")
                at += more
            out += packed[at : at + count + 1]
            at += count + 1
            continue
        if tag & 3 == 1:
            count, back = (tag >> 2 & 7) + 4, tag >> 5 << 8 | packed[at]
            at += 1
        else:
            width = 2 if tag & 3 == 2 else 4
            count, back = (tag >> 2) + 1, int.from_bytes(packed[at : at + width], "little")
            at += width
        if not 0 < back <= len(out):
            raise IndexError
        for _ in range(count):
            out.append(out[-back])
    if len(out) != length:
        raise IndexError
    return bytes(out)


def _fields(data: bytes) -> Iterator[Tuple[int, Any]]:
    """Yields the numbers and values of a message's fields."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        value, at = _varint(data, at)
        if tag & 7 == 2:
            yield tag >> 3, data[at : at + value]
            at += value
        elif tag & 7 == 0:
            yield tag >> 3, value
        else:
            raise IndexError


def _old_tensors(path: str) -> Dict[str, Any]:
    """Returns the descriptions of the tensors in a file of the first format: its first entry holds them."""
    out: Dict[str, Any] = {}
    damaged = errors.DataLossError(None, None, f"{path} is no checkpoint")
    key, header = next(_entries(path), (b"none", b""))
    if key:
        raise damaged
    try:
        metas = [meta for field, meta in _fields(header) if field == 1]
        for tensor in [dict(_fields(t)) for meta in metas for field, t in _fields(meta) if field == 1]:
            shape = protos.TensorShapeProto.FromString(tensor.get(2, b""))
            out[tensor[1].decode()] = protos.BundleEntryProto(dtype=tensor.get(3, 0), shape=shape)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError):
        raise damaged from None
    return out


def _block(data: bytes, offset: int, size: int) -> Iterator[Tuple[bytes, bytes]]:
    """Yields the entries of a block; each key is stored as a suffix to a prefix of the key before."""
    block = data[offset : offset + size]
    if data[offset + size] != 0:
        block = _unpacked(block)
    (n_restarts,) = struct.unpack("<I", block[-4:])
    end, at, key = len(block) - 4 * (n_restarts + 1), 0, b""
    while at < end:
        shared, at = _varint(block, at)
        own, at = _varint(block, at)
        length, at = _varint(block, at)
        key = key[:shared] + block[at : at + own]
        at += own
        yield key, block[at : at + length]
        at += length


def _entries(path: str) -> Iterator[Tuple[bytes, bytes]]:
    """Yields the keys and values of a checkpoint's index, a table whose footer locates its own index."""
    with open(path, "rb") as source:
        data = source.read()
    damaged = errors.DataLossError(None, None, f"{path} is no index of a checkpoint")
    if len(data) < 48 or data[-8:] != struct.pack("<Q", 0xDB4775248B80FB57):
        raise damaged
    try:
        footer = data[-48:]
        _, at = _varint(footer, 0)
        _, at = _varint(footer, at)
        offset, at = _varint(footer, at)
        size, _ = _varint(footer, at)
        for _, place in _block(data, offset, size):
            offset, at = _varint(place, 0)
            size, _ = _varint(place, at)
            yield from _block(data, offset, size)
    except (IndexError, struct.error):
        raise damaged from None


class CheckpointReader:
    """Reads a checkpoint without a graph."""

    def __init__(self, filepattern: str) -> None:
        self._prefix = os.fsdecode(filepattern)
        path = self._prefix + ".index"
        if _is_old(self._prefix):
            self._tensors: Dict[str, Any] = _old_tensors(self._prefix)
            return
        if not os.path.exists(path):
            raise errors.NotFoundError(
                None, None, f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {filepattern}"
            )
        self._tensors = {}
        for key, value in _entries(path):
            # The entry with an empty key describes the file. Keys that begin with 0 are parts of a whole,
            # which has its own entry.
            if key and not key.startswith(b"\0"):
                self._tensors[key.decode()] = protos.BundleEntryProto.FromString(value)

    def get_variable_to_shape_map(self) -> Dict[str, List[int]]:
        """Returns a dict from names to shapes."""
        return {name: [d.size for d in e.shape.dim] for name, e in self._tensors.items()}

    def get_variable_to_dtype_map(self) -> Dict[str, Any]:
        """Returns a dict from names to dtypes."""
        return {name: dtypes.as_dtype(e.dtype) for name, e in self._tensors.items()}

    def has_tensor(self, tensor_str: str) -> bool:
        """Returns whether the checkpoint holds a tensor."""
        return tensor_str in self._tensors

    def get_tensor(self, tensor_str: str) -> Any:
        """Returns the value of a tensor."""
        if tensor_str not in self._tensors:
            raise errors.NotFoundError(None, None, f"Key {tensor_str} not found in checkpoint")
        dtype = dtypes.as_dtype(self._tensors[tensor_str].dtype)
        with Graph().as_default():
            (value,) = _restore(self._prefix, [tensor_str], [dtype])
            with Session() as sess:
                return sess.run(value)

    def debug_string(self) -> bytes:
        """Returns a text with a line for each tensor."""
        lines = [
            f"{name} ({protos.DataType.Name(e.dtype)}) [{','.join(map(str, TensorShape(e.shape).as_list()))}]"
            for name, e in sorted(self._tensors.items())
        ]
        return ("\n".join(lines) + "\n").encode()


def _restore(prefix: Any, names: List[str], types: List[Any]) -> List[Any]:
    out = raw("RestoreV2")(prefix=prefix, tensor_names=names, shape_and_slices=[""] * len(names), dtypes=types)
    return list(out) if isinstance(out, (list, tuple)) else [out]


def NewCheckpointReader(filepattern: str) -> CheckpointReader:  # noqa: N802
    """Returns a `CheckpointReader`.

    Args:
      filepattern: A checkpoint.

    Returns:
      A `CheckpointReader`.

    Raises:
      tf.errors.NotFoundError: The checkpoint does not exist.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> v = tf.Variable([1.0, 2.0], name="v")
      >>> saver = tf.train.Saver()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = saver.save(sess, os.path.join(folder, "model"), global_step=3)
      >>> reader = tf.train.NewCheckpointReader(path)
      >>> print(reader.has_tensor("v"), reader.get_tensor("v"))
      True [1. 2.]
    """
    return CheckpointReader(filepattern)


def load_checkpoint(ckpt_dir_or_file: str) -> CheckpointReader:
    """Returns a reader of a checkpoint, or of the latest one in a directory.

    Args:
      ckpt_dir_or_file: A checkpoint or a directory.

    Returns:
      A `CheckpointReader`.

    Raises:
      ValueError: The directory holds no checkpoint.
      tf.errors.NotFoundError: The checkpoint does not exist.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> v = tf.Variable([1.0, 2.0], name="v")
      >>> saver = tf.train.Saver()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = saver.save(sess, os.path.join(folder, "model"), global_step=3)
      >>> tf.train.load_checkpoint(folder).get_variable_to_shape_map()
      {'v': [2]}
    """
    path = latest_checkpoint(ckpt_dir_or_file) if os.path.isdir(ckpt_dir_or_file) else ckpt_dir_or_file
    if path is None:
        raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {ckpt_dir_or_file}")
    return CheckpointReader(path)


def list_variables(ckpt_dir_or_file: str) -> List[Tuple[str, List[int]]]:
    """Returns the names and shapes of a checkpoint's variables, sorted by name.

    Args:
      ckpt_dir_or_file: A checkpoint, or a directory with at least one, whose latest is read.

    Returns:
      A list of pairs of a name and a list of ints.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> v = tf.Variable([1.0, 2.0], name="v")
      >>> saver = tf.train.Saver()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = saver.save(sess, os.path.join(folder, "model"), global_step=3)
      >>> tf.train.list_variables(folder)
      [('v', [2])]
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: str, name: str) -> Any:
    """Returns the value of a variable in a checkpoint.

    Args:
      ckpt_dir_or_file: A checkpoint, or a directory with at least one, whose latest is read.
      name: The variable's name.

    Returns:
      An array.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> v = tf.Variable([1.0, 2.0], name="v")
      >>> saver = tf.train.Saver()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = saver.save(sess, os.path.join(folder, "model"), global_step=3)
      >>> print(tf.train.load_variable(folder, "v"))
      [1. 2.]
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name[:-2] if name.endswith(":0") else name)
