"""Conversion between tensors and `TensorInfo` messages."""

from __future__ import annotations

from typing import Any, Optional

from millstream.framework import SparseTensor, dtypes, get_default_graph, protos
from millstream.framework.scopes import prepend_name_scope


def build_tensor_info(tensor: Any) -> Any:
    """Returns the `TensorInfo` of a tensor: its name, dtype and shape.

    Args:
      tensor: A tensor or `SparseTensor`.

    Returns:
      A `TensorInfo`.

    Example:
      >>> print(tf.saved_model.build_tensor_info(tf.placeholder(tf.float32, [2], name="x")).name)
      x:0
    """
    info = protos.TensorInfo(dtype=dtypes.as_dtype(tensor.dtype).base_dtype.as_datatype_enum, tensor_shape=tensor.shape.as_proto())
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def get_tensor_from_tensor_info(tensor_info: Any, graph: Any = None, import_scope: Optional[str] = None) -> Any:
    """Returns the tensor of a graph that a `TensorInfo` describes.

    Args:
      tensor_info: A `TensorInfo`.
      graph: The graph; by default the default graph.
      import_scope: The name scope that the graph was imported into.

    Returns:
      A tensor or `SparseTensor`.

    Raises:
      ValueError: The message names no tensor.
      KeyError: The graph has no tensor of this name.

    Example:
      >>> info = tf.saved_model.build_tensor_info(tf.placeholder(tf.float32, [2], name="x"))
      >>> print(tf.saved_model.get_tensor_from_tensor_info(info).name)
      x:0
    """
    graph = graph or get_default_graph()

    def named(name: str) -> Any:
        return graph.get_tensor_by_name(prepend_name_scope(name, import_scope))

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return named(tensor_info.name)
    if encoding == "coo_sparse":
        parts = tensor_info.coo_sparse
        return SparseTensor(named(parts.indices_tensor_name), named(parts.values_tensor_name), named(parts.dense_shape_tensor_name))
    raise ValueError("Invalid TensorInfo.encoding: %s" % encoding)
