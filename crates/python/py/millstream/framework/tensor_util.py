"""Values as `TensorProto` messages: `make_tensor_proto`, `make_ndarray`."""

from __future__ import annotations

from typing import Any

import numpy as np

from millstream import _engine
from millstream.framework import Graph, constant, dtypes, protos


def make_tensor_proto(values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False, allow_broadcast: bool = False) -> Any:
    """Converts values to a `TensorProto`.

    Args:
      values: Numbers, strings, lists or arrays of them.
      dtype: The dtype.
      shape: The shape. With `allow_broadcast`, missing values repeat the last one.
      verify_shape: If true, the values must have this shape.
      allow_broadcast: If true, there may be fewer values than elements.

    Returns:
      A `TensorProto`.

    Raises:
      TypeError: The values do not convert to this dtype.
      ValueError: The values do not match the shape.

    Example:
      >>> proto = tf.make_tensor_proto([[1, 2]])
      >>> proto.dtype == tf.int32.as_datatype_enum, [d.size for d in proto.tensor_shape.dim]
      (True, [1, 2])
    """
    if type(values).__name__ == "TensorProto":
        return values
    graph = Graph()
    with graph.as_default():
        made = constant(values, dtype, shape, verify_shape=verify_shape)
    proto = protos.NodeDef.FromString(made.op._node_def()).attr["value"].tensor
    if shape is not None and np.size(values) == 1 and (made.shape.num_elements() or 0) > 1:
        # As in TensorFlow, a value for all elements is written once.
        whole, proto = proto, make_tensor_proto(values, dtype)
        proto.tensor_shape.CopyFrom(whole.tensor_shape)
    return proto


def make_ndarray(tensor: Any) -> np.ndarray:
    """Returns the array that a `TensorProto` holds; strings are `bytes`.

    Args:
      tensor: A `TensorProto`.

    Returns:
      An array.

    Raises:
      TypeError: Its dtype has no arrays.

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
