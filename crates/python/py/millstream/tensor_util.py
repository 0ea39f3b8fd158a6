"""Values as messages: `make_tensor_proto`, `make_ndarray`."""

from __future__ import annotations

from typing import Any

import numpy as np

from millstream import _engine, dtypes, protos


def make_tensor_proto(values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False, allow_broadcast: bool = False) -> Any:
    """`values` as a `TensorProto`.

    Args:
      values: Numbers, text, lists or arrays of them.
      dtype: The dtype.
      shape: The shape: with `allow_broadcast`, fewer values are repeated.
      verify_shape: Whether the values must have this shape.
      allow_broadcast: Whether there may be fewer values than elements.

    Returns:
      The message.

    Raises:
      TypeError: The values cannot be of this dtype.
      ValueError: They do not fit the shape.

    Example:
      >>> proto = tf.make_tensor_proto([[1, 2]])
      >>> proto.dtype == tf.int32.as_datatype_enum, [d.size for d in proto.tensor_shape.dim]
      (True, [1, 2])
    """
    from millstream.framework import Graph, constant

    if type(values).__name__ == "TensorProto":
        return values
    graph = Graph()
    with graph.as_default():
        made = constant(values, dtype, shape, verify_shape=verify_shape)
    return protos.NodeDef.FromString(made.op._node_def()).attr["value"].tensor


def make_ndarray(tensor: Any) -> np.ndarray:
    """The array that a `TensorProto` holds; of text, of `bytes`.

    Args:
      tensor: The message.

    Returns:
      An array.

    Raises:
      TypeError: It is of a dtype that has no arrays.

    Example:
      >>> print(tf.make_ndarray(tf.make_tensor_proto([1.5, 2.5])))
      [1.5 2.5]
    """
    graph_def = protos.GraphDef()
    node = graph_def.node.add(name="value", op="Const")
    node.attr["value"].tensor.MergeFromString(tensor.SerializeToString())
    node.attr["dtype"].type = tensor.dtype
    graph = _engine.Graph()
    try:
        _engine.import_graph_def(graph, graph_def.SerializeToString())
    except ValueError as error:
        raise TypeError("Unsupported tensor type: %s" % tensor.dtype) from error
    value = graph._known_value(graph._tensor("value:0"))
    kind = dtypes.as_dtype(tensor.dtype).as_numpy_dtype
    return np.array(value, object if tensor.dtype == protos.DT_STRING else kind)
