"""Attributes of nodes: those of `python.eager.execute`, shapes of ops, bits of small floats. `NAMES`."""

from __future__ import annotations

import functools
import json
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from millstream.framework import bounded_specs, dtypes, function_bodies, protos, shapes
from millstream.io import summaries
from millstream.ops import array_ops

# Attributes of eager operations ----------------------------------------------------------------------------


def make_float(v: Any, arg_name: str) -> float:
    """Returns the value of an attribute that is a float.

    Raises:
      TypeError: It is not a number.
    """
    if not _is_number(v):
        raise TypeError("Expected float for argument '%s' not %s." % (arg_name, repr(v)))
    return float(v)


def _is_number(v: Any) -> bool:
    return hasattr(v, "__float__") or hasattr(v, "__int__")


def make_int(v: Any, arg_name: str) -> int:
    """Returns the value of an attribute that is an int.

    Raises:
      TypeError: It is not a number.
    """
    if isinstance(v, (str, bytes)):
        raise TypeError("Expected int for argument '%s' not %s." % (arg_name, repr(v)))
    try:
        return int(v)
    except (ValueError, TypeError):
        raise TypeError("Expected int for argument '%s' not %s." % (arg_name, repr(v))) from None


def make_str(v: Any, arg_name: str) -> bytes:
    """Returns the value of an attribute that is a string.

    Raises:
      TypeError: It is no string.
    """
    if not isinstance(v, (str, bytes)):
        raise TypeError("Expected string for argument '%s' not %s." % (arg_name, repr(v)))
    return v.encode() if isinstance(v, str) else v


def make_bool(v: Any, arg_name: str) -> bool:
    """Returns the value of an attribute that is a bool.

    Raises:
      TypeError: It is no bool.
    """
    if not isinstance(v, bool):
        raise TypeError("Expected bool for argument '%s' not %s." % (arg_name, repr(v)))
    return v


def make_type(v: Any, arg_name: str) -> int:
    """Returns the number of a dtype.

    Raises:
      TypeError: It is no dtype.
    """
    try:
        return int(dtypes.as_dtype(v).base_dtype.as_datatype_enum)
    except TypeError:
        raise TypeError("Expected DataType for argument '%s' not %s." % (arg_name, repr(v))) from None


def make_shape(v: Any, arg_name: str) -> Optional[List[Optional[int]]]:
    """Returns the sizes of a shape; None if the rank is unknown.

    Raises:
      TypeError: It converts to no shape.
      ValueError: The same, for its elements.
    """
    try:
        shape = shapes.as_shape(v)
    except TypeError as e:
        raise TypeError("Error converting %s to a TensorShape: %s." % (arg_name, e)) from None
    except ValueError as e:
        raise ValueError("Error converting %s to a TensorShape: %s." % (arg_name, e)) from None
    return None if shape.ndims is None else shape.as_list()


def make_tensor(v: Any, arg_name: str) -> Any:
    """Returns a `TensorProto`, of the message or of its text form.

    Raises:
      TypeError: It is neither.
    """
    if isinstance(v, protos.TensorProto):
        return v
    if isinstance(v, str):
        return protos.from_text(v.encode(), protos.TensorProto())
    raise TypeError("Don't know how to convert %s to a TensorProto for argument '%s'." % (repr(v), arg_name))


# Shapes of operations --------------------------------------------------------------------------------------


def _of_outputs(name: str, kinds: Tuple[str, ...]) -> Any:
    def function(operation: Any) -> List[Any]:
        if operation.type not in kinds:
            raise ValueError("%s: %s is a %s: pass an operation of type %s" % (name, operation.name, operation.type, " or ".join(kinds)))
        return [tensor.get_shape() for tensor in operation.outputs]

    function.__name__ = name
    function.__doc__ = "Returns the shapes of the outputs of an operation of type %s, as the engine infers them." % " or ".join(kinds)
    return function


_SHAPES = {
    "avg_pool_shape": ("AvgPool",),
    "conv2d_shape": ("Conv2D",),
    "depthwise_conv2d_native_shape": ("DepthwiseConv2dNative",),
    "matmul_shape": ("MatMul",),
    "max_pool_shape": ("MaxPool",),
}


def get_conv_output_size(input_size: Any, filter_size: Any, strides: Any, padding_type: Any) -> Tuple[Optional[int], ...]:
    """Returns the sizes of the result of a convolution or pool.

    Args:
      input_size: The sizes of the input; None for those that are not known.
      filter_size: The sizes of the window.
      strides: The distances of windows.
      padding_type: `b"VALID"` or `b"SAME"`.

    Raises:
      ValueError: The window is larger than the input, or the padding is neither.
    """
    sizes, windows, steps = tuple(input_size), tuple(filter_size), tuple(strides)
    if any(w is not None and n is not None and n < w for n, w in zip(sizes, windows)):
        raise ValueError("Filter must not be larger than the input: Filter: %r Input: %r" % (windows, sizes))
    if padding_type not in (b"VALID", b"SAME"):
        raise ValueError("Invalid padding: %r" % padding_type)
    found: List[Optional[int]] = []
    for n, w, step in zip(sizes, windows, steps):
        if n is None or padding_type == b"VALID" and w is None:
            found.append(None)
        else:
            found.append((n - w + step) // step if padding_type == b"VALID" else (n + step - 1) // step)
    return tuple(found)


def get2d_conv_output_size(input_height: Any, input_width: Any, filter_height: Any, filter_width: Any, row_stride: Any, col_stride: Any, padding_type: Any) -> Any:
    """Returns the numbers of rows and columns of the result of a convolution or pool."""
    return get_conv_output_size((input_height, input_width), (filter_height, filter_width), (row_stride, col_stride), padding_type)


# Gradients of tensors without one ---------------------------------------------------------------------------


def _of_handle(t: Any) -> Tuple[Any, Any]:
    attributes = t.op
    return shapes.TensorShape(attributes.get_attr("shape")), dtypes.as_dtype(attributes.get_attr("dtype"))


def get_zeros_dtype(t: Any) -> Any:
    """Returns the dtype of the zeros that stand for a missing gradient of a tensor."""
    if t.dtype == dtypes.resource:
        return _of_handle(t)[1].as_datatype_enum
    return t.dtype


def shape_and_dtype(t: Any) -> Tuple[Any, Any]:
    """Returns the shape and dtype of a tensor; of a handle, those of its variable."""
    return _of_handle(t) if t.dtype == dtypes.resource else (t.shape, t.dtype)


def zeros_like(t: Any) -> Any:
    """Returns zeros of the shape and dtype of a tensor; of a handle, those of its variable."""
    if t.dtype == dtypes.resource:
        return array_ops.zeros(*_of_handle(t))
    return array_ops.zeros_like(t)


# Messages of tensors ----------------------------------------------------------------------------------------


def ExtractBitsFromFloat16(x: Any) -> int:  # noqa: N802
    """Returns the bits of a number as a float16."""
    return int(np.asarray(x, dtype=np.float16).view(np.uint16).item())


def ExtractBitsFromBFloat16(x: Any) -> int:  # noqa: N802
    """Returns the bits of a number as a bfloat16, rounded to the nearest."""
    bits = int(np.asarray(x, dtype=np.float32).view(np.uint32).item())
    if bits & 0x7FFFFFFF > 0x7F800000:
        return bits >> 16 | 0x40  # It stays no number.
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def SlowAppendFloat16ArrayToTensorProto(tensor_proto: Any, proto_values: Any) -> None:  # noqa: N802
    """Adds numbers to a `TensorProto`, as float16."""
    tensor_proto.half_val.extend([ExtractBitsFromFloat16(x) for x in proto_values])


def SlowAppendBFloat16ArrayToTensorProto(tensor_proto: Any, proto_values: Any) -> None:  # noqa: N802
    """Adds numbers to a `TensorProto`, as bfloat16."""
    tensor_proto.half_val.extend([ExtractBitsFromBFloat16(x) for x in proto_values])


def GetFromNumpyDTypeDict(dtype_dict: Any, dtype: Any) -> Any:  # noqa: N802
    """Returns the value of a dict whose key equals a NumPy dtype, or None."""
    return next((value for key, value in dtype_dict.items() if key == dtype), None)


# Summaries --------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def _summary_description() -> Any:
    """Returns the class of messages `SummaryDescription`."""
    from google.protobuf import descriptor_pb2

    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="summary_description.proto", package="tensorflow", syntax="proto3")
    file.message_type.add(name="SummaryDescription").field.add(name="type_hint", number=1, type=field.TYPE_STRING, label=field.LABEL_OPTIONAL)
    return protos.defined(file, "SummaryDescription")


def get_summary_description(node_def: Any) -> Any:
    """Returns the `SummaryDescription` of a node of type `TensorSummary`.

    Raises:
      ValueError: The node is of another type.
    """
    if node_def.op != "TensorSummary":
        raise ValueError("Can't get_summary_description on %s" % node_def.op)
    made = _summary_description()()
    made.type_hint = json.loads(node_def.attr["description"].s.decode() or "{}").get("typeHint", "")
    return made


class SummaryToEventTransformer(summaries.FileWriter):
    """A writer of summaries, graphs and logs that gives events to a writer of events.

    Args:
      event_writer: An object with `add_event`.
      graph: A `Graph` to add.
      graph_def: A `GraphDef` to add.
    """

    def __init__(self, event_writer: Any, graph: Any = None, graph_def: Any = None) -> None:
        self.event_writer = event_writer
        self._seen_tags, self._seen_runs = set(), set()
        given = graph if graph is not None else graph_def
        if given is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            whole = given.as_graph_def(add_shapes=True) if hasattr(given, "as_graph_def") else given
            self.add_meta_graph(protos.MetaGraphDef(graph_def=whole))

    @property
    def _logdir(self) -> str:  # type: ignore[override]
        return str(self.event_writer.get_logdir())

    def _write(self, event: Any) -> None:
        self.event_writer.add_event(event)

    def get_logdir(self) -> str:
        """Returns the folder of the writer of events."""
        return self._logdir

    def flush(self) -> None:
        """Writes the events that wait."""
        self.event_writer.flush()

    def close(self) -> None:
        """Closes the writer of events."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Opens the writer of events again."""
        self.event_writer.reopen()


NAMES: Dict[str, Dict[str, Any]] = {
    "python.eager.execute": {f.__name__: f for f in (make_bool, make_float, make_int, make_shape, make_str, make_tensor, make_type)},
    "python.framework.common_shapes": {
        **{name: _of_outputs(name, kinds) for name, kinds in _SHAPES.items()},
        "get2d_conv_output_size": get2d_conv_output_size,
        "get_conv_output_size": get_conv_output_size,
    },
    "python.framework.func_graph": {"FuncGraph": function_bodies.FuncGraph},
    "python.framework.function_def_to_graph": {name: getattr(function_bodies, name) for name in ("function_def_to_graph", "function_def_to_graph_def", "is_function")},
    "python.framework.graph_to_function_def": {"graph_to_function_def": function_bodies.graph_to_function_def},
    "python.framework.tensor_spec": {"BoundedTensorSpec": bounded_specs.BoundedTensorSpec},
    "python.framework.tensor_util": {
        "ExtractBitsFromBFloat16": ExtractBitsFromBFloat16,
        "ExtractBitsFromFloat16": ExtractBitsFromFloat16,
        "GetFromNumpyDTypeDict": GetFromNumpyDTypeDict,
        "SlowAppendBFloat16ArrayToTensorProto": SlowAppendBFloat16ArrayToTensorProto,
        "SlowAppendFloat16ArrayToTensorProto": SlowAppendFloat16ArrayToTensorProto,
    },
    "python.ops.default_gradient": {"get_zeros_dtype": get_zeros_dtype, "shape_and_dtype": shape_and_dtype, "zeros_like": zeros_like},
    "python.summary.summary": {"get_summary_description": get_summary_description},
    "python.summary.writer.writer": {"SummaryToEventTransformer": SummaryToEventTransformer},
}
