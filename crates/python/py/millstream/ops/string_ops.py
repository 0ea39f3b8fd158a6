"""Strings: splitting, joining, substrings, replacement, conversion and hashing. `tf.strings` has more."""

from __future__ import annotations

from typing import Any, Optional

from millstream._engine import Tensor
from millstream.framework import SparseTensor, convert_to_tensor, dtypes, name_scope
from millstream.framework.deprecation import renamed
from millstream.framework.op_functions import op
from millstream.ops.ragged_tensors import RaggedTensor
from millstream.ops import array_ops, math_ops

__all__ = [
    "decode_raw",
    "fingerprint",
    "reduce_join",
    "regex_replace",
    "string_split",
    "string_to_hash_bucket",
    "string_to_number",
    "substr",
]


def string_split(
    source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = None, result_type: str = "SparseTensor", name: Optional[str] = None
) -> Any:
    """Splits strings into words, as a sparse matrix with a row for each string.

    Args:
      source: A vector of strings.
      sep: The separator characters; by default a space.
      skip_empty: If true, empty words are omitted.
      delimiter: The former name of `sep`.
      result_type: "SparseTensor" or "RaggedTensor".
      name: A name for the operation.

    Returns:
      A `SparseTensor` of strings, of rank 2, or a `RaggedTensor`.

    Raises:
      ValueError: `result_type` is neither.

    Example:
      >>> words = tf.string_split(["to be", "or"])
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(words, default_value="")))
      [[b'to' b'be']
       [b'or' b'']]
    """
    sep = renamed(sep, delimiter, "sep", "delimiter")
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    with name_scope(name, "StringSplit", [source]):
        indices, values, shape = op("StringSplit")(source, " " if sep is None else sep, skip_empty=skip_empty)
        if result_type == "RaggedTensor":
            return RaggedTensor.from_value_rowids(values, indices[:, 0], shape[0])
    indices.set_shape([None, 2]), values.set_shape([None]), shape.set_shape([2])
    return SparseTensor(indices, values, shape)


def string_to_number(string_tensor: Any = None, out_type: Any = dtypes.float32, name: Optional[str] = None, input: Any = None) -> Tensor:  # noqa: A002
    """Parses strings as numbers.

    Args:
      string_tensor: A tensor of strings.
      out_type: `tf.float32`, `tf.float64`, `tf.int32` or `tf.int64`.
      name: A name for the operation.
      input: The later name of `string_tensor`.

    Returns:
      A tensor of `out_type` of the same shape.

    Raises:
      tf.errors.InvalidArgumentError: When run: a string is not a number.

    Example:
      >>> print(tf.Session().run(tf.string_to_number(["1.5", "-2e3"])))
      [ 1.5e+00 -2.0e+03]
    """
    return op("StringToNumber")(string_tensor if string_tensor is not None else input, out_type=out_type, name=name)


def string_to_hash_bucket(string_tensor: Any = None, num_buckets: Any = None, name: Optional[str] = None, input: Any = None) -> Tensor:  # noqa: A002
    """Hashes strings to the numbers of buckets.

    Args:
      string_tensor: A tensor of strings.
      num_buckets: An int: the number of buckets.
      name: A name for the operation.
      input: The later name of `string_tensor`.

    Returns:
      An `int64` tensor of the same shape.

    Example:
      >>> a, b = tf.Session().run(tf.string_to_hash_bucket(["x", "x"], 10))
      >>> print(a == b, 0 <= a < 10)
      True True
    """
    return op("StringToHashBucket")(string_tensor if string_tensor is not None else input, num_buckets=num_buckets, name=name)


def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: Optional[str] = None) -> Tensor:  # noqa: A002
    r"""Replaces matches of a regular expression in strings.

    Args:
      input: A tensor of strings.
      pattern: A regular expression, in RE2's syntax.
      rewrite: The replacement; `\\1` is the first group.
      replace_global: If true, all matches are replaced; otherwise only the first.
      name: A name for the operation.

    Returns:
      A tensor of strings of the same shape.

    Example:
      >>> print(tf.Session().run(tf.regex_replace(["banana"], "an", "AN")))
      [b'bANANa']
    """
    if isinstance(pattern, str) and isinstance(rewrite, str):
        return op("StaticRegexReplace")(input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name)
    return op("RegexReplace")(input, pattern, rewrite, replace_global=replace_global, name=name)


def reduce_join(
    inputs: Any, axis: Any = None, keep_dims: Any = None, separator: str = "", name: Optional[str] = None, reduction_indices: Any = None, keepdims: Any = None
) -> Tensor:
    """Joins strings along axes.

    Args:
      inputs: A tensor of strings.
      axis: The axis, or a list of axes, to reduce; by default all.
      keep_dims: The former name of `keepdims`.
      separator: The separator between strings.
      name: A name for the operation.
      reduction_indices: The former name of `axis`.
      keepdims: If true, reduced axes stay, with length 1.

    Returns:
      A tensor of strings, without the reduced axes.

    Example:
      >>> print(tf.Session().run(tf.reduce_join([["a", "b"], ["c", "d"]], axis=1, separator="-")))
      [b'a-b' b'c-d']
    """
    keep = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
    axis = renamed(axis, reduction_indices, "axis", "reduction_indices")
    with name_scope(name, "ReduceJoin", [inputs, axis]):
        return _joined(convert_to_tensor(inputs), axis, keep, separator)


def _joined(inputs: Any, axis: Any, keep: bool, separator: str) -> Tensor:
    if axis is None:
        # All axes, the last first, which keeps the strings in order.
        axis = math_ops.range(array_ops.rank(inputs) - 1, -1, -1) if inputs.shape.ndims is None else list(range(inputs.shape.ndims - 1, -1, -1))
        axis = convert_to_tensor(axis, dtypes.int32)
    return op("ReduceJoin")(inputs, axis, keep_dims=keep, separator=separator)


def substr(input: Any, pos: Any, len: Any, name: Optional[str] = None, unit: str = "BYTE") -> Tensor:  # noqa: A002
    """Returns substrings.

    Args:
      input: A tensor of strings.
      pos: An integer tensor: the start of each substring; a negative number counts from the end.
      len: An integer tensor of the same shape: the length of each substring.
      name: A name for the operation.
      unit: `"BYTE"` or `"UTF8_CHAR"`: the unit of positions and lengths.

    Returns:
      A tensor of strings.

    Raises:
      tf.errors.InvalidArgumentError: When run: a substring starts outside of its string.

    Example:
      >>> print(tf.Session().run(tf.substr(["graph", "session"], 1, 3)))
      [b'rap' b'ess']
    """
    return op("Substr")(input, pos, len, unit=unit, name=name)


def decode_raw(input_bytes: Any = None, out_type: Any = None, little_endian: bool = True, name: Optional[str] = None, bytes: Any = None) -> Tensor:  # noqa: A002
    r"""Converts the bytes of strings to numbers.

    Args:
      input_bytes: A tensor of strings of equal length.
      out_type: The dtype of the numbers.
      little_endian: If true, the lowest byte comes first.
      name: A name for the operation.
      bytes: The former name of `input_bytes`.

    Returns:
      A tensor of `out_type` with an additional last axis.

    Example:
      >>> print(tf.Session().run(tf.decode_raw(b"\x01\x00\x02\x00", tf.int16)))
      [1 2]
    """
    return op("DecodeRaw")(input_bytes if input_bytes is not None else bytes, out_type=out_type, little_endian=little_endian, name=name)


def fingerprint(data: Any, method: str = "farmhash64", name: Optional[str] = None) -> Tensor:
    """Returns a hash of each row along the first axis, in 8 bytes.

    Args:
      data: A tensor of rank 1 or more.
      method: `"farmhash64"`: the FarmHash of the bytes of a row, of its only string, or of the hashes of its
        strings.
      name: A name for the operation.

    Returns:
      A `uint8` tensor of shape `[rows, 8]`.

    Example:
      >>> print(tf.Session().run(tf.fingerprint(["abc"])))
      [[105 243 231 116 160 179 165  36]]
    """
    return op("Fingerprint")(data, method, name=name)
