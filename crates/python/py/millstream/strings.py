"""`tf.strings`: functions that are more than one op. Other names are looked up at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from millstream._engine import Tensor
from millstream.framework import SparseTensor, convert_to_tensor, name_scope, namespaces
from millstream.framework.dtypes import string
from millstream.framework.op_functions import op
from millstream.ops import array_ops, math_ops, ragged_dispatch, reduction_ops
from millstream.ops.ragged_tensors import RaggedTensor
from millstream.ops.string_ops import substr as substr
from millstream.ops.unicode_ops import (
    unicode_decode as unicode_decode,
    unicode_decode_with_offsets as unicode_decode_with_offsets,
    unicode_encode as unicode_encode,
    unicode_split as unicode_split,
    unicode_split_with_offsets as unicode_split_with_offsets,
)


def length(input: Any, name: Optional[str] = None, unit: str = "BYTE") -> Tensor:  # noqa: A002
    """Returns the lengths of strings, in bytes or, with `UTF8_CHAR`, in characters.

    Args:
      input: A tensor of strings.
      name: A name for the operation.
      unit: `"BYTE"` or `"UTF8_CHAR"`.

    Returns:
      An `int32` tensor of the same shape.

    Example:
      >>> print(tf.Session().run(tf.strings.length(["", "abc"])))
      [0 3]
    """
    return op("StringLength")(input, unit=unit, name=name)


def regex_full_match(input: Any, pattern: Any, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """Returns whether a regular expression matches the whole of each string.

    Args:
      input: A tensor of strings.
      pattern: A regular expression, in RE2's syntax.
      name: A name for the operation.

    Returns:
      A boolean tensor of the same shape.

    Example:
      >>> print(tf.Session().run(tf.strings.regex_full_match(["abc", "abcd"], "[a-c]+")))
      [ True False]
    """
    if isinstance(pattern, (str, bytes)):
        return op("StaticRegexFullMatch")(input, pattern=pattern, name=name)
    return op("RegexFullMatch")(input, pattern, name=name)


def split(
    input: Any = None, sep: Optional[str] = None, maxsplit: int = -1, result_type: str = "SparseTensor", source: Any = None, name: Optional[str] = None  # noqa: A002
) -> Any:
    """Splits strings at separators.

    Args:
      input: A tensor of strings.
      sep: The separator; by default any white space.
      maxsplit: The largest number of splits of a string; -1 for any number.
      result_type: `"SparseTensor"` or `"RaggedTensor"`.
      source: The former name of `input`.
      name: The name scope of the new operations.

    Returns:
      A `SparseTensor` of strings with one more axis, or a `RaggedTensor`.

    Raises:
      ValueError: `input` is missing or given twice, or `result_type` is neither.

    Example:
      >>> print(tf.Session().run(tf.strings.split(["a,b,c"], sep=",", maxsplit=1)).values)
      [b'a' b'b,c']
    """
    if input is not None and source is not None:
        raise ValueError("Cannot specify both 'source' and 'input'")
    input = source if input is None else input  # noqa: A001
    if input is None:
        raise ValueError("Must specify either `input` or `source`.")
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    with name_scope(name, "StringSplit", [input]):
        input = convert_to_tensor(input, "string", "input")  # noqa: A001
        rank = input.get_shape().ndims
        flat = input if rank in (None, 1) else array_ops.reshape(input, [-1])
        indices, values, shape = op("StringSplitV2")(flat, convert_to_tensor("" if sep is None else sep, "string"), maxsplit=maxsplit)
        if result_type == "RaggedTensor":
            return values if rank == 0 else _rows_of(input, RaggedTensor.from_value_rowids(values, indices[:, 0], shape[0]))
        indices.set_shape([None, 2])
        values.set_shape([None])
        shape.set_shape([2])
        if rank not in (None, 1):
            outer = array_ops.shape(input, out_type="int64")
            places = array_ops.transpose(op("UnravelIndex")(indices[:, 0], outer))
            indices, shape = array_ops.concat([places, indices[:, 1:]], 1), array_ops.concat([outer, shape[1:]], 0)
        return SparseTensor(indices, values, shape)


def _rows_of(input: Any, rows: Any) -> Any:  # noqa: A002
    """Returns the words of the strings of a tensor, whose rows are those of all strings in order."""
    sizes = array_ops.shape(input, out_type="int64")
    for axis in range((input.get_shape().ndims or 1) - 1, 0, -1):
        rows = RaggedTensor.from_row_splits(rows, math_ops.range(reduction_ops.reduce_prod(sizes[:axis]) + 1) * sizes[axis])
    return rows


def bytes_split(input: Any, name: Optional[str] = None) -> Any:  # noqa: A002
    """Splits strings into their bytes.

    Args:
      input: A tensor of strings, or a `RaggedTensor` of strings.
      name: The name scope of the new operations.

    Returns:
      A vector of strings for one string, else a `RaggedTensor` with one ragged dimension more.

    Raises:
      NotImplementedError: The rank of `input` is not known.

    Example:
      >>> tf.Session().run(tf.strings.bytes_split(["ab", "", "c"]))
      <tf.RaggedTensorValue [[b'a', b'b'], [], [b'c']]>
    """
    with name_scope(name, "StringsByteSplit", [] if isinstance(input, RaggedTensor) else [input]):
        if isinstance(input, RaggedTensor):
            return input.with_flat_values(bytes_split(input.flat_values))
        input = convert_to_tensor(input, "string", "input")  # noqa: A001
        if input.shape.ndims == 0:
            return bytes_split(array_ops.reshape(input, [1])).values
        if input.shape.ndims is None:
            raise NotImplementedError("tf.strings.bytes_split: expected a tensor of known rank, found shape %s" % input.shape)
        if input.shape.ndims > 1:
            rows = RaggedTensor.from_tensor(input, ragged_rank=input.shape.ndims - 1)
            return rows.with_flat_values(bytes_split(rows.flat_values))
        indices, values, shape = op("StringSplit")(input, "", skip_empty=False)
        return RaggedTensor.from_value_rowids(values, indices[:, 0], shape[0])


def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: Optional[str] = None) -> Tensor:  # noqa: A001
    """Returns `template` with its placeholders replaced by values of tensors.

    Args:
      template: A Python string.
      inputs: A tensor, or a list of them.
      placeholder: The placeholder of a tensor in the template.
      summarize: The number of elements to show at each end of a dimension; -1 for all.
      name: A name for the operation.

    Returns:
      A string scalar.

    Raises:
      ValueError: The numbers of placeholders and tensors differ.

    Example:
      >>> tf.Session().run(tf.strings.format("x = {}, y = {}", [tf.constant(1), tf.constant([2, 3])]))
      b'x = 1, y = [2 3]'
    """
    inputs = [convert_to_tensor(i) for i in (inputs if isinstance(inputs, (list, tuple)) else [inputs])]
    n = template.count(placeholder)
    if n != len(inputs):
        raise ValueError("%s placeholder(s) in template does not match %s tensor(s) provided as input" % (n, len(inputs)))
    return op("StringFormat")(inputs, template=template, placeholder=placeholder, summarize=summarize, name=name)


def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: Optional[int] = None,
    preserve_short_sequences: bool = False,
    name: Optional[str] = None,
) -> Any:
    """Returns the runs of neighbouring strings of each row, joined.

    Args:
      data: A tensor or `RaggedTensor` of strings; the runs are along its last dimension.
      ngram_width: The number of strings of a run, or several such numbers.
      separator: The text between joined strings.
      pad_values: A string, or a pair of strings, that rows are padded with on the left and on the right.
      padding_width: The number of paddings on each side; by default one less than the width of the runs.
      preserve_short_sequences: Whether a row that is too short for any run is one run as a whole.
      name: The name scope of the operations.

    Returns:
      A `RaggedTensor` of strings; of a tensor without ragged dimensions, a tensor.

    Raises:
      ValueError: The rank of `data` is not known or 0, or an argument is out of range.
      TypeError: `pad_values` is no string or pair of strings, or `ngram_width` no integer or tuple of
        integers.

    Example:
      >>> print(tf.Session().run(tf.strings.ngrams(["a", "b", "c"], 2)))
      [b'a b' b'b c']
    """
    with name_scope(name, "StringNGrams"):
        left: Any
        right: Any
        if pad_values is None:
            left = right = ""
        elif isinstance(pad_values, (list, tuple)):
            if not isinstance(pad_values[0], (bytes, str)) or not isinstance(pad_values[1], (bytes, str)):
                raise TypeError("pad_values must be a string, tuple of strings, or None.")
            left, right = pad_values[0], pad_values[1]
        else:
            if not isinstance(pad_values, (bytes, str)):
                raise TypeError("pad_values must be a string, tuple of strings, or None.")
            left = right = pad_values
        if padding_width is not None and padding_width < 1:
            raise ValueError("padding_width must be greater than 0.")
        if padding_width is not None and pad_values is None:
            raise ValueError("pad_values must be provided if padding_width is set.")
        rows: Any = data if isinstance(data, RaggedTensor) else convert_to_tensor(data, string, name="data")
        rank = rows.shape.ndims
        if rank is None or rank == 0:
            raise ValueError("Rank of data must be known and at least 1." if rank is None else "Data must have rank>0")
        widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
        if not all(isinstance(width, int) for width in widths):
            raise TypeError("ngram_width must be an integer or tuple of integers.")
        if any(width < 1 for width in widths):
            raise ValueError("All ngram_widths must be greater than 0. Got %s" % (ngram_width,))
        plain = not isinstance(rows, RaggedTensor)
        if plain:
            rows = RaggedTensor.from_tensor(array_ops.expand_dims(rows, 0) if rank == 1 else rows, ragged_rank=max(rank - 1, 1))
        if rows.flat_values.shape.ndims != 1:
            rows = rows.with_flat_values(RaggedTensor.from_tensor(rows.flat_values, ragged_rank=rows.flat_values.shape.ndims - 1))
        inner, outer = rows, []
        while isinstance(inner.values, RaggedTensor):
            outer.append(inner.row_splits)
            inner = inner.values
        made, splits = op("StringNGrams")(
            inner.values,
            inner.row_splits,
            separator=separator,
            ngram_widths=widths,
            left_pad=left,
            right_pad=right,
            pad_width=0 if pad_values is None else -1 if padding_width is None else padding_width,
            preserve_short_sequences=preserve_short_sequences,
        )
        found = RaggedTensor(made, splits, internal=True)
        for one in reversed(outer):
            found = RaggedTensor(found, one, internal=True)
        if not plain:
            return found
        # Rows of one length have runs of one number.
        return array_ops.squeeze(found.to_tensor(), [0]) if rank == 1 else found.to_tensor()


# `tf.strings.length` and its like take rows, too.
ragged_dispatch.install(globals(), "strings.")

if TYPE_CHECKING:
    from millstream._generated.endpoints_strings import *  # noqa: F403
else:
    __getattr__ = namespaces.getattr_of(__name__)


__dir__ = namespaces.dir_of(globals())
