"""`tf.compat`: text and bytes, and what differs between the versions of TensorFlow. `compat.v1` is the package itself."""

from __future__ import annotations

import contextlib
import datetime
import numbers
from typing import Any, Iterator, Union

import numpy as np

from millstream.shapes import dimension_at_index, dimension_value

__all__ = [
    "as_bytes",
    "as_str",
    "as_str_any",
    "as_text",
    "bytes_or_text_types",
    "complex_types",
    "dimension_at_index",
    "dimension_value",
    "forward_compatibility_horizon",
    "forward_compatible",
    "integral_types",
    "path_to_str",
    "real_types",
    "v1",
]

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)


def as_bytes(bytes_or_text: Union[str, bytes, bytearray], encoding: str = "utf-8") -> bytes:
    """Text as bytes; bytes as they are.

    Args:
      bytes_or_text: Text or bytes.
      encoding: How it is encoded.

    Returns:
      Bytes.

    Raises:
      TypeError: It is neither.

    Example:
      >>> tf.compat.as_bytes("text")
      b'text'
    """
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Union[str, bytes], encoding: str = "utf-8") -> str:
    """Bytes as text; text as it is. `as_str` is the same.

    Args:
      bytes_or_text: Text or bytes.
      encoding: How bytes are decoded.

    Returns:
      Text.

    Raises:
      TypeError: It is neither.

    Example:
      >>> tf.compat.as_text(b"text")
      'text'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: Any) -> str:
    """Anything as text: bytes decoded, the rest by `str`.

    Example:
      >>> tf.compat.as_str_any(b"text"), tf.compat.as_str_any(3)
      ('text', '3')
    """
    return as_str(value) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """A path object (`os.PathLike`) as text; anything else as it is.

    Example:
      >>> import pathlib
      >>> tf.compat.path_to_str(pathlib.PurePosixPath("a/b"))
      'a/b'
    """
    return as_str_any(path.__fspath__()) if hasattr(path, "__fspath__") else path


# The day up to which TensorFlow 1.15 takes graphs to be readable by older versions.
_horizon = datetime.date(2019, 8, 21)


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether graphs may use what TensorFlow learnt on that date, as TensorFlow 1.15 answers it.

    Args:
      year: The year.
      month: The month.
      day: The day.

    Returns:
      A bool.

    Example:
      >>> tf.compat.forward_compatible(2018, 1, 1)
      True
    """
    return datetime.date(year, month, day) < _horizon


@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """A `with` block in which `forward_compatible` is asked as of another date.

    Args:
      year: The year.
      month: The month.
      day: The day.

    Example:
      >>> with tf.compat.forward_compatibility_horizon(2018, 1, 1):
      ...     print(tf.compat.forward_compatible(2019, 1, 1))
      False
    """
    global _horizon
    before, _horizon = _horizon, datetime.date(year, month, day)
    try:
        yield
    finally:
        _horizon = before


from millstream.compat import v1  # noqa: E402  (at the end: it may look at what is above)
