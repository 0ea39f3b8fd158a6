"""The modules of `python.ops.ragged`: `NAMES`. Their functions are those of `tf.ragged` and of `tf`'s
forms for rows.
"""

from __future__ import annotations

import importlib
from typing import Any, Dict, Optional

from millstream.framework import convert_to_tensor, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, math_ops, ragged_dispatch, ragged_math, ragged_rows, ragged_tensors, string_ops, unicode_ops
from millstream.ops.ragged_tensors import RaggedTensor

# Helpers ----------------------------------------------------------------------------------------------------


def assert_splits_match(nested_splits_lists: Any) -> Any:
    """Returns operations that fail if lists of splits differ.

    Raises:
      ValueError: They have different lengths.
    """
    words = "Inputs must have identical ragged splits"
    for splits in nested_splits_lists:
        if len(splits) != len(nested_splits_lists[0]):
            raise ValueError(words)
    return [check_ops.assert_equal(a, b, message=words) for splits in nested_splits_lists[1:] for a, b in zip(nested_splits_lists[0], splits)]


def lengths_to_splits(lengths: Any) -> Any:
    """Returns the places where rows of some lengths begin and end."""
    return array_ops.concat([array_ops.zeros([1], lengths.dtype), op("Cumsum")(lengths, 0)], 0)


def repeat_ranges(params: Any, splits: Any, repeats: Any) -> Any:
    """Returns the ranges of `params` between consecutive `splits`, each repeated `repeats` times."""
    splits, repeats = convert_to_tensor(splits), convert_to_tensor(repeats)
    n = array_ops.shape(splits)[0] - 1
    times = op("BroadcastTo")(op("Reshape")(math_ops.cast(repeats, splits.dtype), [-1]), [n])
    numbers = ragged_tensors.row_splits_to_segment_ids(lengths_to_splits(times))
    return ragged_tensors.from_value_ranges(op("GatherV2")(splits[:-1], numbers, 0), op("GatherV2")(splits[1:], numbers, 0), convert_to_tensor(params)).values


def convert_to_tensor_or_ragged_tensor(value: Any, dtype: Any = None, preferred_dtype: Any = None, name: Optional[str] = None) -> Any:
    """Returns a `RaggedTensor` as it is, a `RaggedTensorValue` as rows of constants, and other values as
    tensors.

    Raises:
      ValueError: The values have another dtype.
    """
    if isinstance(value, ragged_tensors.RaggedTensorValue):
        with name_scope(name, "ConvertToTensorOrRaggedTensor", []):
            made: Any = convert_to_tensor(value.flat_values, dtype, preferred_dtype=preferred_dtype)
            for splits in reversed(value.nested_row_splits):
                made = RaggedTensor(made, convert_to_tensor(splits), internal=True)
            return made
    if isinstance(value, RaggedTensor):
        return ragged_rows.converted(value, dtype)
    return convert_to_tensor(value, dtype, name, preferred_dtype=preferred_dtype)


def is_ragged(value: Any) -> bool:
    """Returns whether a value is a `RaggedTensor` or a `RaggedTensorValue`."""
    return isinstance(value, (RaggedTensor, ragged_tensors.RaggedTensorValue))


def _with_flat_values(value: Any, nested_splits_lists: Any) -> Any:
    """Returns the structure with the innermost values of its ragged tensors; their splits are added to a
    list.
    """
    if isinstance(value, RaggedTensor):
        nested_splits_lists.append(value.nested_row_splits)
        return value.flat_values
    if isinstance(value, (list, tuple)):
        return [_with_flat_values(one, nested_splits_lists) for one in value]
    if isinstance(value, dict):
        return {key: _with_flat_values(one, nested_splits_lists) for key, one in value.items()}
    return value


# Conversions ------------------------------------------------------------------------------------------------


def from_tensor(tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1, row_splits_dtype: Any = "int64", name: Optional[str] = None) -> Any:
    """Returns the rows of a tensor; a `RaggedTensor` as it is."""
    if is_ragged(tensor):
        return tensor
    return RaggedTensor.from_tensor(tensor, lengths, padding, ragged_rank, name, row_splits_dtype)


def to_tensor(rt_input: Any, default_value: Any = None, name: Optional[str] = None) -> Any:
    """Returns rows as a tensor, filled up with a default."""
    return rt_input.to_tensor(default_value, name) if is_ragged(rt_input) else rt_input


def to_sparse(rt_input: Any, name: Optional[str] = None) -> Any:
    """Returns rows as a sparse tensor.

    Raises:
      TypeError: The value has no rows.
    """
    if not is_ragged(rt_input):
        raise TypeError("Expected RaggedTensor, got %s" % type(rt_input).__name__)
    return rt_input.to_sparse(name)


def from_sparse(st_input: Any, name: Optional[str] = None) -> Any:
    """Returns the rows of a sparse matrix."""
    return RaggedTensor.from_sparse(st_input, name)


# Strings ----------------------------------------------------------------------------------------------------


def reduce_join(inputs: Any, axis: Any = None, keepdims: Any = None, separator: str = "", name: Optional[str] = None) -> Any:
    """Returns the strings along axes, joined; see `tf.reduce_join`.

    Without an axis, all strings are joined.
    """
    def joined(value: Any, axis: Any, name: Optional[str] = None) -> Any:
        return string_ops.reduce_join(value, axis=axis, separator=separator, name=name)

    def segments(data: Any, segment_ids: Any, num_segments: Any, name: Optional[str] = None) -> Any:
        return ragged_math._aggregated(lambda *args, name=None: op("UnsortedSegmentJoin")(*args, separator=separator), data, segment_ids, num_segments)

    return ragged_math._reduced(joined, segments, inputs, axis, keepdims, name)


def _of_strings(name: str) -> Any:
    """Returns a function of `tf.strings`, which is above this module."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(importlib.import_module("millstream.strings"), name)(*args, **kwargs)

    call.__name__ = name
    return call


_ROWS = ragged_rows

NAMES: Dict[str, Dict[str, Any]] = {
    "python.ops.ragged.ragged_array_ops": {
        "boolean_mask": _ROWS.boolean_mask,
        "expand_dims": _ROWS.expand_dims,
        "ragged_one_hot": _ROWS.one_hot,
        "rank": _ROWS.rank,
        "size": _ROWS.size,
        "stack_dynamic_partitions": _ROWS.stack_dynamic_partitions,
        "tile": _ROWS.tile,
    },
    "python.ops.ragged.ragged_batch_gather_ops": {"batch_gather": _ROWS.batch_gather},
    "python.ops.ragged.ragged_batch_gather_with_default_op": {"batch_gather_with_default": _ROWS.batch_gather_with_default},
    "python.ops.ragged.ragged_concat_ops": {"concat": _ROWS.concat, "stack": _ROWS.stack},
    "python.ops.ragged.ragged_config": {"auto_cast_partition_dtype": lambda: False},
    "python.ops.ragged.ragged_conversion_ops": {"from_sparse": from_sparse, "from_tensor": from_tensor, "to_sparse": to_sparse, "to_tensor": to_tensor},
    "python.ops.ragged.ragged_dispatch": {"ragged_op_list": lambda tf_version=1: "\n".join("* `tf.%s`" % name for name in sorted(ragged_dispatch.FORMS))},
    "python.ops.ragged.ragged_factory_ops": {"constant_value": ragged_tensors.constant_value, "placeholder": ragged_tensors.placeholder},
    "python.ops.ragged.ragged_functional_ops": {"_replace_ragged_with_flat_values": _with_flat_values},
    "python.ops.ragged.ragged_gather_ops": {"gather": _ROWS.gather, "gather_nd": _ROWS.gather_nd},
    "python.ops.ragged.ragged_getitem": {"ragged_tensor_getitem": RaggedTensor.__getitem__},
    "python.ops.ragged.ragged_map_ops": {"map_fn": _ROWS.map_fn},
    "python.ops.ragged.ragged_math_ops": {
        name: getattr(ragged_math, name)
        for name in (
            "range reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum "
            "segment_max segment_mean segment_min segment_prod segment_sqrt_n segment_sum"
        ).split()
    },
    "python.ops.ragged.ragged_operators": {"_dummy_bool": ragged_dispatch._no_bool, "_right": ragged_dispatch._right},
    "python.ops.ragged.ragged_squeeze_op": {"squeeze": _ROWS.squeeze},
    "python.ops.ragged.ragged_string_ops": {
        "ngrams": _of_strings("ngrams"),
        "reduce_join": reduce_join,
        "string_bytes_split": _of_strings("bytes_split"),
        "string_split": string_ops.string_split,
        "string_split_v2": _of_strings("split"),
        "strings_split_v1": _of_strings("split"),
        **{name: getattr(unicode_ops, name) for name in ("unicode_decode", "unicode_decode_with_offsets", "unicode_encode", "unicode_split", "unicode_split_with_offsets")},
    },
    "python.ops.ragged.ragged_tensor": {
        "RaggedTensorSpec": ragged_tensors.RaggedTensorSpec,
        "RaggedTensorType": _ROWS.RaggedTensorType,
        "convert_to_tensor_or_ragged_tensor": convert_to_tensor_or_ragged_tensor,
        "is_ragged": is_ragged,
        "match_row_splits_dtypes": ragged_tensors.match_row_splits_dtypes,
    },
    "python.ops.ragged.ragged_util": {"assert_splits_match": assert_splits_match, "lengths_to_splits": lengths_to_splits, "repeat_ranges": repeat_ranges},
    "python.ops.ragged.ragged_where_op": {"where": _ROWS.where},
}
