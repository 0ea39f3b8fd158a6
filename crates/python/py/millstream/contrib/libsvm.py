"""`tf.contrib.libsvm`: records of LIBSVM's format, decoded by smaller ops."""

from __future__ import annotations

from typing import Any, Tuple

from millstream._engine import Tensor
from millstream.framework import SparseTensor, control_dependencies, convert_to_tensor, dtypes, name_scope, namespaces
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, indexing_ops, math_ops, reduction_ops, string_ops

__all__ = ["decode_libsvm"]

__dir__ = namespaces.dir_of(globals())


def decode_libsvm(content: Any, num_features: int, dtype: Any = None, label_dtype: Any = None) -> Tuple[SparseTensor, Tensor]:
    """Returns the features and labels of records such as `"1 3:0.5 7:2.25"`.

    Args:
      content: A tensor of strings: a label, and pairs of a feature's number and its value.
      num_features: The number of features.
      dtype: The dtype of features, float32 by default.
      label_dtype: The dtype of labels, int64 by default.

    Returns:
      A sparse tensor of the shape of `content` and an axis of features, and a tensor of labels.

    Raises:
      InvalidArgumentError: In a run, a record has no label, or a part of it is not a number or not a pair.

    Example:
      >>> features, labels = tf.contrib.libsvm.decode_libsvm(["1 0:3.5 2:0.25", "-2"], num_features=3)
      >>> print(*tf.Session().run([tf.sparse.to_dense(features), labels]))
      [[3.5  0.   0.25]
       [0.   0.   0.  ]] [ 1 -2]
    """
    with name_scope(None, "DecodeLibsvm", [content]):
        content = convert_to_tensor(content, dtype=dtypes.string, name="content")
        dtype, label_dtype = dtypes.as_dtype(dtype or dtypes.float32), dtypes.as_dtype(label_dtype or dtypes.int64)
        flat = array_ops.reshape(content, [-1])
        words = string_ops.string_split(flat, delimiter=" ")
        indices, values = words.indices, words.values
        is_label = math_ops.equal(indices[:, 1], 0)
        labels = indexing_ops.boolean_mask(values, is_label)
        n = array_ops.size(flat)
        whole = control_flow.assert_(math_ops.equal(array_ops.size(labels), n), ["No label found for an input: each string begins with a label. Strings:", flat])
        with control_dependencies([whole]):
            labels = op("StringToNumber")(labels, out_type=label_dtype)
        pairs = indexing_ops.boolean_mask(values, op("LogicalNot")(is_label))
        rows = indexing_ops.boolean_mask(indices[:, 0], op("LogicalNot")(is_label))
        parts = string_ops.string_split(pairs, delimiter=":", skip_empty=False)
        two = control_flow.assert_(
            reduction_ops.reduce_all(math_ops.equal(op("Bincount")(math_ops.cast(parts.indices[:, 0], dtypes.int32), array_ops.size(pairs), array_ops.zeros([0], dtypes.int32)), 2)),
            ["Invalid feature: each is a number, a colon and a value. Features:", pairs],
        )
        with control_dependencies([two]):
            halves = array_ops.reshape(parts.values, [-1, 2])
        columns = op("StringToNumber")(halves[:, 0], out_type=dtypes.int64)
        features = op("StringToNumber")(halves[:, 1], out_type=dtype)
        shape = array_ops.shape(content, out_type=dtypes.int64)
        where = array_ops.transpose(op("UnravelIndex")(rows, shape), [1, 0])
        full = array_ops.concat([where, array_ops.expand_dims(columns, 1)], 1)
        dense_shape = array_ops.concat([shape, [num_features]], 0)
        labels = array_ops.reshape(labels, shape)
        labels.set_shape(content.shape)
        return SparseTensor(full, features, dense_shape), labels
