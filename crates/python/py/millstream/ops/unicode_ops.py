"""Strings as code points and characters: `tf.strings.unicode_decode` and its relatives."""

from __future__ import annotations

from typing import Any, Optional

from millstream.framework import convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops
from millstream.ops.ragged_tensors import RaggedTensor

__all__ = [
    "unicode_decode",
    "unicode_decode_with_offsets",
    "unicode_encode",
    "unicode_split",
    "unicode_split_with_offsets",
]


def unicode_decode(
    input: Any,  # noqa: A002
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: Optional[str] = None,
) -> Any:
    """Returns the code points of strings.

    Args:
      input: A tensor or `RaggedTensor` of strings.
      input_encoding: How the strings are encoded: "UTF-8", "UTF-16-BE", "UTF-32-BE", "US-ASCII", "ISO-8859-1"
        and some others.
      errors: What becomes of bytes that are no text: "replace", "ignore" or "strict", which is an error.
      replacement_char: The code point in their place.
      replace_control_characters: Whether the characters 0 to 31 are replaced, too.
      name: A name for the operations.

    Returns:
      A `RaggedTensor` of int32 with one more dimension; of a scalar, a vector.

    Raises:
      ValueError: The rank of `input` is unknown.
      tf.errors.InvalidArgumentError: When run: `errors` is "strict", and a string is no text in the encoding.

    Example:
      >>> print(tf.Session().run(tf.strings.unicode_decode(["hé", "", "世"], "UTF-8")))
      <tf.RaggedTensorValue [[104, 233], [], [19990]]>
    """
    with name_scope(name, "UnicodeDecode", [input]):
        return _decoded(input, input_encoding, errors, replacement_char, replace_control_characters, offsets=False)[0]


def unicode_decode_with_offsets(
    input: Any,  # noqa: A002
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: Optional[str] = None,
) -> Any:
    """Returns the code points of strings, and where their bytes begin.

    Args:
      input: A tensor or `RaggedTensor` of strings.
      input_encoding: As in `unicode_decode`.
      errors: As in `unicode_decode`.
      replacement_char: As in `unicode_decode`.
      replace_control_characters: As in `unicode_decode`.
      name: A name for the operations.

    Returns:
      The result of `unicode_decode`, and an int64 tensor of the same rows with the place of each character's
      first byte in its string.

    Raises:
      ValueError: The rank of `input` is unknown.

    Example:
      >>> points, starts = tf.strings.unicode_decode_with_offsets("hé世a", "UTF-8")
      >>> print(*tf.Session().run([points, starts]))
      [  104   233 19990    97] [0 1 3 6]
    """
    with name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        return _decoded(input, input_encoding, errors, replacement_char, replace_control_characters, offsets=True)


def unicode_split(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533, name: Optional[str] = None  # noqa: A002
) -> Any:
    """Returns the characters of strings, as strings.

    Args:
      input: A tensor or `RaggedTensor` of strings.
      input_encoding: The encoding of the strings and of the characters: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: As in `unicode_decode`.
      replacement_char: As in `unicode_decode`.
      name: A name for the operations.

    Returns:
      A `RaggedTensor` of strings with one more dimension; of a scalar, a vector.

    Raises:
      ValueError: The rank of `input` is unknown.

    Example:
      >>> print(tf.Session().run(tf.strings.unicode_split("to be", "UTF-8")))
      [b't' b'o' b' ' b'b' b'e']
    """
    with name_scope(name, "UnicodeSplit", [input]):
        points = _decoded(input, input_encoding, errors, replacement_char, False, offsets=False)[0]
        return _characters(points, input_encoding, errors, replacement_char)


def unicode_split_with_offsets(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533, name: Optional[str] = None  # noqa: A002
) -> Any:
    """Returns the characters of strings, as strings, and where their bytes begin.

    Args:
      input: A tensor or `RaggedTensor` of strings.
      input_encoding: As in `unicode_split`.
      errors: As in `unicode_decode`.
      replacement_char: As in `unicode_decode`.
      name: A name for the operations.

    Returns:
      The result of `unicode_split`, and an int64 tensor of the same rows with the place of each character's
      first byte in its string.

    Raises:
      ValueError: The rank of `input` is unknown.

    Example:
      >>> print(*tf.Session().run(tf.strings.unicode_split_with_offsets("to", "UTF-8")))
      [b't' b'o'] [0 1]
    """
    with name_scope(name, "UnicodeSplitWithOffsets", [input]):
        points, starts = _decoded(input, input_encoding, errors, replacement_char, False, offsets=True)
        return _characters(points, input_encoding, errors, replacement_char), starts


def unicode_encode(
    input: Any, output_encoding: str, errors: str = "replace", replacement_char: int = 65533, name: Optional[str] = None  # noqa: A002
) -> Any:
    """Returns strings of code points.

    Args:
      input: A tensor or `RaggedTensor` of int32, whose last dimension has the code points of a string.
      output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: What becomes of numbers that are no code points: "replace", "ignore" or "strict", which is an
        error.
      replacement_char: The code point in their place.
      name: A name for the operations.

    Returns:
      A tensor or `RaggedTensor` of strings with one dimension less.

    Raises:
      ValueError: The rank of `input` is unknown, or 0.
      tf.errors.InvalidArgumentError: When run: `errors` is "strict", and a number is no code point.

    Example:
      >>> print(tf.Session().run(tf.strings.unicode_encode(tf.ragged.constant([[104, 105], [], [33]]), "UTF-8")))
      [b'hi' b'' b'!']
    """
    with name_scope(name, "UnicodeEncode", [input]):
        return _encoded(_text(input), output_encoding, errors, replacement_char)


def _text(value: Any) -> Any:
    return value if isinstance(value, RaggedTensor) else convert_to_tensor(value)


def _ragged(value: Any, rank: int) -> Any:
    return RaggedTensor.from_tensor(value, ragged_rank=rank)


def _decoded(value: Any, encoding: str, errors: str, char: int, controls: bool, offsets: bool) -> Any:
    """Returns the code points of strings, and where they begin if `offsets`."""
    value = _text(value)
    rank = value.shape.ndims
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank > 1 and not isinstance(value, RaggedTensor):
        value = _ragged(value, rank - 1)
    if isinstance(value, RaggedTensor):
        inner = value.flat_values
        depth = inner.shape.ndims or 1
        if depth > 1:
            inner = _ragged(inner, depth - 1)
        return tuple(value.with_flat_values(part) for part in _decoded(inner, encoding, errors, char, controls, offsets))
    attrs = {"errors": errors, "replacement_char": char, "replace_control_characters": controls}
    if rank == 0:
        value = array_ops.stack([value])
    splits, *parts = op("UnicodeDecodeWithOffsets" if offsets else "UnicodeDecode")(value, encoding, **attrs)
    if rank == 0:
        return tuple(parts)
    return tuple(RaggedTensor.from_row_splits(part, splits, validate=False) for part in parts)


def _characters(points: Any, encoding: str, errors: str, char: int) -> Any:
    """Returns each code point as a string of its own."""
    if isinstance(points, RaggedTensor):
        return points.with_flat_values(_characters(points.flat_values, encoding, errors, char))
    ends = op("Range")(0, array_ops.size(points) + 1, 1)
    return op("UnicodeEncode")(points, ends, encoding, errors=errors, replacement_char=char)


def _encoded(value: Any, encoding: str, errors: str, char: int) -> Any:
    rank = value.shape.ndims
    if rank is None:
        raise ValueError("Rank of input_tensor must be statically known.")
    if isinstance(value, RaggedTensor):
        depth = value.flat_values.shape.ndims or 1
        if depth > 1:
            value = value.with_flat_values(_ragged(value.flat_values, depth - 1))
        if value.ragged_rank > 1:
            return value.with_values(_encoded(value.values, encoding, errors, char))
        return op("UnicodeEncode")(value.values, value.row_splits, encoding, errors=errors, replacement_char=char)
    if rank == 0:
        raise ValueError("input_tensor's rank must be at least 1.")
    if rank == 1:
        ends = array_ops.stack([0, array_ops.size(value, out_type=dtypes.int32)])
        made = op("UnicodeEncode")(value, ends, encoding, errors=errors, replacement_char=char)
        return array_ops.reshape(made, [])
    if rank == 2:
        return _encoded(_ragged(value, 1), encoding, errors, char)
    size = array_ops.shape(value)
    rows = _encoded(array_ops.reshape(value, array_ops.stack([-1, size[-1]])), encoding, errors, char)
    made = array_ops.reshape(rows, size[:-1])
    made.set_shape(value.shape[:-1])
    return made
