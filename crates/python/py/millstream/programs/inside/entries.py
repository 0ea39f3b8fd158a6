"""Internal names of `tensorflow.python.ops.sparse_ops`: `NAMES`, by module."""

from __future__ import annotations

from typing import Any, Dict, List

from millstream.framework import SparseTensor, convert_to_tensor, dtypes
from millstream.framework.op_functions import op, raw
from millstream.ops import math_ops, sparse_ops


def _convert_to_sparse_tensors(sp_inputs: Any) -> List[SparseTensor]:
    """Returns the `SparseTensor`s of a list of them or of their values."""
    if not isinstance(sp_inputs, (list, tuple)):
        raise TypeError("Inputs must be a list or tuple.")
    return [sparse_ops._sparse(one) for one in sp_inputs]


def _make_int64_tensor(value: Any, name: str) -> Any:
    """Returns an integer, or a tensor of integers, as a tensor of `int64`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return convert_to_tensor(value, dtypes.int64, name)
    if not hasattr(value, "op"):
        raise TypeError("%s must be an integer value" % name)
    return value if value.dtype == dtypes.int64 else math_ops.cast(value, dtypes.int64)


def _reduction(dense: Any, sparse: Any) -> Any:
    def reduced(sp_input: Any, axis: Any = None, keepdims: Any = None, output_is_sparse: bool = False, name: Any = None) -> Any:
        return (sparse if output_is_sparse else dense)(sp_input, axis=axis, keepdims=keepdims)

    return reduced


def sparse_merge_impl(sp_ids: Any, sp_values: Any, vocab_size: Any, name: Any = None, already_sorted: bool = False) -> SparseTensor:
    """Returns `tf.sparse_merge` of these arguments."""
    return sparse_ops.sparse_merge(sp_ids, sp_values, vocab_size, name, already_sorted)


def _adder(kind: str) -> Any:
    def add(sp_input: Any, container: Any = None, shared_name: Any = None, name: Any = None) -> Any:
        sp = sparse_ops._sparse(sp_input)
        return raw(kind)(
            sparse_indices=sp.indices,
            sparse_values=sp.values,
            sparse_shape=sp.dense_shape,
            container=container or "",
            shared_name=shared_name or "",
            name=name,
        )

    return add


def _take_many_sparse_from_tensors_map(sparse_map_op: Any, sparse_handles: Any, rank: Any = None, name: Any = None) -> SparseTensor:
    """Returns the sparse tensors that an operation put into a map, as one."""
    if not hasattr(sparse_map_op, "get_attr"):
        raise TypeError("sparse_map_op be an Operation")
    if sparse_map_op.type not in ("AddSparseToTensorsMap", "AddManySparseToTensorsMap"):
        raise TypeError("sparse_map_op must be one of AddSparseToTensorsMap or AddSparseToTensorsMap. Instead, found `%s`." % sparse_map_op.type)
    indices, values, shape = raw("TakeManySparseFromTensorsMap")(
        sparse_handles=sparse_handles,
        dtype=sparse_map_op.get_attr("T"),
        container=sparse_map_op.get_attr("container").decode(),
        shared_name=sparse_map_op.get_attr("shared_name").decode() or sparse_map_op.name,
        name=name,
    )
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


def deserialize_sparse(serialized_sparse: Any, dtype: Any, rank: Any = None, name: Any = None) -> SparseTensor:
    """Returns the sparse tensor of a vector of `tf.serialize_sparse`; stacked vectors get a new axis."""
    indices, values, shape = op("DeserializeSparse")(serialized_sparse, dtype, name=name)
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


class KeywordRequired:
    """The value of an argument after which all are keyword-only."""

    def __repr__(self) -> str:
        return "KeywordRequired()"

    __str__ = __repr__


NAMES: Dict[str, Dict[str, Any]] = {
    "python.ops.sparse_ops": {
        "KeywordRequired": KeywordRequired,
        "_add_many_sparse_to_tensors_map": _adder("AddManySparseToTensorsMap"),
        "_add_sparse_to_tensors_map": _adder("AddSparseToTensorsMap"),
        "_convert_to_sparse_tensor": sparse_ops._sparse,
        "_convert_to_sparse_tensors": _convert_to_sparse_tensors,
        "_make_int64_tensor": _make_int64_tensor,
        "_sparse_cross": sparse_ops.cross,
        "_sparse_cross_hashed": sparse_ops.cross_hashed,
        "_sparse_cross_internal": lambda inputs, hashed_output=False, num_buckets=0, hash_key=None, name=None: sparse_ops._crossed(
            inputs, hashed_output, num_buckets, hash_key, name
        ),
        "_take_many_sparse_from_tensors_map": _take_many_sparse_from_tensors_map,
        "deserialize_sparse": deserialize_sparse,
        "sparse_cross": sparse_ops.cross,
        "sparse_cross_hashed": sparse_ops.cross_hashed,
        "sparse_expand_dims": sparse_ops.expand_dims,
        "sparse_eye": sparse_ops.eye,
        "sparse_merge_impl": sparse_merge_impl,
        "sparse_reduce_max_v2": _reduction(sparse_ops.sparse_reduce_max, sparse_ops.sparse_reduce_max_sparse),
        "sparse_reduce_sum_v2": _reduction(sparse_ops.sparse_reduce_sum, sparse_ops.sparse_reduce_sum_sparse),
    },
}
