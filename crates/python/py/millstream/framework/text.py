"""Conversion between text and bytes, for `tf.compat`."""

from __future__ import annotations

from typing import Any, Union


def as_bytes(bytes_or_text: Union[str, bytes, bytearray], encoding: str = "utf-8") -> bytes:
    """Converts a string to bytes; bytes are returned unchanged.

    Args:
      bytes_or_text: A string or bytes.
      encoding: The encoding of the string.

    Returns:
      Bytes.

    Raises:
      TypeError: The argument is neither.

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
    """Converts bytes to a string; strings are returned unchanged. `as_str` is the same function.

    Args:
      bytes_or_text: A string or bytes.
      encoding: The encoding of the bytes.

    Returns:
      A string.

    Raises:
      TypeError: The argument is neither.

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
    """Converts any value to a string: bytes are decoded, others converted by `str`.

    Example:
      >>> tf.compat.as_str_any(b"text"), tf.compat.as_str_any(3)
      ('text', '3')
    """
    return as_str(value) if isinstance(value, bytes) else str(value)
