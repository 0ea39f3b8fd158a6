"""Internal names of `python.framework`: conversion, devices, shapes, collections, settings: `NAMES`."""

from __future__ import annotations

import importlib
import itertools
from typing import Any, Callable, Dict, List, Optional

from millstream import _engine
from millstream._engine import Tensor
from millstream.framework import (
    Graph,
    IndexedSlices,
    SparseTensor,
    convert_to_tensor,
    convert_to_tensor_or_indexed_slices,
    get_default_graph,
    name_scope,
    proto_functions,
    protos,
)
from millstream.framework.contexts import CondContext, ControlFlowContext, WhileContext
from millstream.framework.devices import DeviceSpec
from millstream.framework.graph_keys import GraphKeys
from millstream.ops import control_flow, random_ops
from millstream.programs.internals import _DENSE, smart_constant_value
from millstream.train import flops
from millstream.train.meta_graph import KINDS
from millstream.train.queue_runner import QueueRunner
from millstream.train.saver import Saver
from millstream.variables.defined_functions import _DefinedFunction
from millstream.variables.variable import Variable

# Conversion -------------------------------------------------------------------------------------------------


def convert_to_tensor_or_composite(value: Any, dtype: Any = None, name: Optional[str] = None) -> Any:
    """Converts a value to a tensor; an `IndexedSlices` or `SparseTensor` stays as it is.

    Raises:
      ValueError: It has another dtype.
    """
    return internal_convert_to_tensor_or_composite(value, dtype, name)


def internal_convert_to_tensor_or_composite(value: Any, dtype: Any = None, name: Optional[str] = None, as_ref: bool = False) -> Any:
    """Converts a value to a tensor; an `IndexedSlices` or `SparseTensor` stays as it is."""
    if not isinstance(value, (IndexedSlices, SparseTensor)):
        return convert_to_tensor(value, dtype, name)
    if dtype is not None and not value.dtype.is_compatible_with(dtype):
        raise ValueError("Tensor conversion dtype mismatch. Requested %s, but %s has %s" % (dtype, value, value.dtype))
    return value


def _each(values: Any, dtype: Any, name: Optional[str], convert: Callable[..., Any]) -> List[Any]:
    if not isinstance(values, (list, tuple)):
        raise TypeError("values must be a sequence.")
    return [convert(value, dtype, None if name is None else "%s_%d" % (name, i)) for i, value in enumerate(values)]


def internal_convert_n_to_tensor(values: Any, dtype: Any = None, name: Optional[str] = None, as_ref: bool = False, preferred_dtype: Any = None, ctx: Any = None) -> List[Any]:
    """Converts each of several values to a tensor."""
    return _each(values, dtype, name, lambda value, dtype, name: convert_to_tensor(value, dtype, name, preferred_dtype))


def convert_n_to_tensor_or_composite(values: Any, dtype: Any = None, name: Optional[str] = None) -> List[Any]:
    """Converts each of several values as `convert_to_tensor_or_composite` does; None stays None."""
    return _each(values, dtype, name, lambda value, dtype, name: None if value is None else convert_to_tensor_or_composite(value, dtype, name))


def internal_convert_n_to_tensor_or_composite(values: Any, dtype: Any = None, name: Optional[str] = None, as_ref: bool = False) -> List[Any]:
    """Converts each of several values as `convert_to_tensor_or_composite` does; None stays None."""
    return convert_n_to_tensor_or_composite(values, dtype, name)


def internal_convert_to_tensor_or_indexed_slices(value: Any, dtype: Any = None, name: Optional[str] = None, as_ref: bool = False) -> Any:
    """Converts a value to a tensor; an `IndexedSlices` stays as it is."""
    return convert_to_tensor_or_indexed_slices(value, dtype, name)


def convert_n_to_tensor_or_indexed_slices(values: Any, dtype: Any = None, name: Optional[str] = None) -> List[Any]:
    """Converts each of several values to a tensor or `IndexedSlices`; None stays None."""
    return _each(values, dtype, name, lambda value, dtype, name: None if value is None else convert_to_tensor_or_indexed_slices(value, dtype, name))


def internal_convert_n_to_tensor_or_indexed_slices(values: Any, dtype: Any = None, name: Optional[str] = None, as_ref: bool = False) -> List[Any]:
    """Converts each of several values to a tensor or `IndexedSlices`; None stays None."""
    return convert_n_to_tensor_or_indexed_slices(values, dtype, name)


def register_dense_tensor_like_type(tensor_type: Any) -> None:
    """Makes objects of a class ones that `is_dense_tensor_like` is true for.

    Raises:
      TypeError: The class lacks one of the properties `name` and `dtype`.
    """
    for word in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, word, None), property):
            raise TypeError("Type %s does not define a `%s` property" % (tensor_type.__name__, word))
    _DENSE.append(tensor_type)


class _KindOf(type):
    """The class of a class that is asked `isinstance` alone."""

    _kinds: Any

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls._kinds) or type.__instancecheck__(cls, value)


class CompositeTensor(metaclass=_KindOf):
    """The class of values that are made of several tensors, for `isinstance`."""

    _kinds = (IndexedSlices, SparseTensor)


class _TensorLike(metaclass=_KindOf):
    """The class of tensors and of what is made of them, for `isinstance`."""

    _kinds = (Tensor, IndexedSlices, SparseTensor, Variable)


# Scopes and graphs ------------------------------------------------------------------------------------------


class NullContextmanager:
    """A context manager that does nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *why: Any) -> None:
        pass


class name_scope_v2:  # noqa: N801
    """A context manager of a name scope: a name alone."""

    def __init__(self, name: Any) -> None:
        if name is None or not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name, self._open = name, []  # type: ignore[var-annotated]

    @property
    def name(self) -> str:
        """The name that it was made with."""
        return self._name

    def __enter__(self) -> Any:
        self._open.append(name_scope(self._name))
        return self._open[-1].__enter__()

    def __exit__(self, *why: Any) -> Any:
        return self._open.pop().__exit__(*why)


def device_v2(device_name: Any) -> Any:
    """Returns a context manager of a device.

    Raises:
      RuntimeError: The device is a function.
    """
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions.")
    return get_default_graph().device(device_name)


def _default_session(session: Any) -> Any:
    """Returns a context manager that makes a session the default one."""
    return session.as_default()


class RegisterShape:
    """A decorator that returns the function: shapes are known of all ops."""

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")

    def __call__(self, f: Any) -> Any:
        return f


class OpStats:
    """A statistic of an operation: its kind and its value."""

    def __init__(self, statistic_type: str, value: Any = None) -> None:
        self.statistic_type, self.value = statistic_type, value

    @property
    def statistic_type(self) -> str:
        """The kind, such as `"flops"`."""
        return self._statistic_type

    @statistic_type.setter
    def statistic_type(self, statistic_type: str) -> None:
        self._statistic_type = statistic_type

    @property
    def value(self) -> Any:
        """The value, or None."""
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self._value = value

    def __iadd__(self, other: "OpStats") -> "OpStats":
        if other.statistic_type != self.statistic_type:
            raise ValueError("Can't add an OpStat of type %s to one of %s." % (self.statistic_type, other.statistic_type))
        if self.value is None:
            self.value = other.value
        elif other.value is not None:
            self.value += other.value
        return self


_statistics: Dict[str, Callable[..., Any]] = {}


class RegisterStatistics:
    """A decorator of the function that returns a statistic of operations of a type, given graph and node."""

    def __init__(self, op_type: str, statistic_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        if not isinstance(statistic_type, str):
            raise TypeError("statistic_type must be a string.")
        if "," in statistic_type:
            raise TypeError("statistic_type must not contain a comma.")
        self._key = op_type + "," + statistic_type

    def __call__(self, f: Any) -> Any:
        if self._key in _statistics:
            raise KeyError("Registering two statistics with name '%s'! The type has a function already." % self._key)
        _statistics[self._key] = f
        return f


def get_stats_for_node_def(graph: Any, node: Any, statistic_type: str) -> OpStats:
    """Returns a statistic of an operation; without a value if nothing is known about its type."""
    found = _statistics.get(node.op + "," + statistic_type)
    if found is not None:
        return found(graph, node)
    if statistic_type == "flops":
        return OpStats(statistic_type, flops.of_operation(graph.get_operation_by_name(node.name)))
    return OpStats(statistic_type)


def _built_in_functions() -> Dict[str, proto_functions.Functions]:
    """Returns what a meta graph writes and reads without a function that a program registered."""
    kinds = {"VariableDef": Variable, "QueueRunnerDef": QueueRunner, "SaverDef": Saver}
    made = {}
    for key, name in KINDS.items():
        kind: Any = kinds[name]
        made[key] = proto_functions.Functions(getattr(protos, name), lambda v, export_scope=None: v.to_proto(export_scope=export_scope), kind.from_proto)
    for key, context in ((GraphKeys.COND_CONTEXT, CondContext), (GraphKeys.WHILE_CONTEXT, WhileContext)):
        made[key] = proto_functions.Functions(getattr(protos, context._MESSAGE[0]), context.to_proto, context.from_proto)
    return made


_BUILT_IN = _built_in_functions()


def from_control_flow_context_def(context_def: Any, import_scope: Optional[str] = None) -> ControlFlowContext:
    """Returns the loop or branch of the default graph that a `ControlFlowContextDef` describes.

    Raises:
      NotImplementedError: The message holds none.
    """
    kind = context_def.WhichOneof("ctxt")
    if kind == "while_ctxt":
        return WhileContext.from_proto(context_def.while_ctxt, import_scope)
    if kind == "cond_ctxt":
        return CondContext.from_proto(context_def.cond_ctxt, import_scope)
    raise NotImplementedError("Unknown ControlFlowContextDef field: %s" % kind)


def _proto_part(part: str) -> Callable[[str], Any]:
    def function(collection_name: str) -> Any:
        registered = proto_functions.REGISTERED.get(collection_name) or _BUILT_IN.get(collection_name)
        return getattr(registered, part, None)

    return function


def _is_constant(tensor_or_op: Any) -> bool:
    """Returns whether a tensor is the result of a `Const` operation."""
    return (tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op).type == "Const"


def smart_case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, name: str = "smart_case") -> Any:
    """Returns the result of the first branch whose predicate holds; a `tf.case` unless all are known."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    known = [smart_constant_value(pred) for pred, _ in pairs]
    if None in known:
        return control_flow.case([(convert_to_tensor(pred), fn) for pred, fn in pairs], default, exclusive, name=name)
    taken = [fn for on, (_, fn) in zip(known, pairs) if on]
    if exclusive and 1 < len(taken):
        raise ValueError("smart_case: %d of the predicates hold, and `exclusive` is true" % len(taken))
    if not taken and default is None:
        raise ValueError("smart_case: no predicate holds, and there is no default")
    return (taken[0] if taken else default)()


# Devices ----------------------------------------------------------------------------------------------------


def canonical_name(device: Any) -> str:
    """Returns the name of a device in full."""
    if device is None:
        return ""
    return (device if is_device_spec(device) else DeviceSpec.from_string(device)).to_string()


def is_device_spec(obj: Any) -> bool:
    """Returns whether an object is a `DeviceSpec`."""
    return isinstance(obj, DeviceSpec)


def check_valid(spec: str) -> None:
    """Checks the name of a device.

    Raises:
      ValueError: It is none.
    """
    DeviceSpec.from_string(spec)


class MergeDevice:
    """A function of an operation that merges a device into its own."""

    def __init__(self, spec: Any) -> None:
        self._spec = spec if isinstance(spec, DeviceSpec) else DeviceSpec.from_string(spec or "")

    def __call__(self, node_def: Any) -> Any:
        merged = DeviceSpec.from_string(self._spec.to_string())
        merged.merge_from(DeviceSpec.from_string(node_def.device or ""))
        return merged


# Shapes -----------------------------------------------------------------------------------------------------


def shape_equals(tensor_proto: Any, shape: Any) -> bool:
    """Returns whether a `TensorProto` has a shape, given as a list or `TensorShapeProto`.

    Raises:
      TypeError: The first argument is not a `TensorProto`.
    """
    if not hasattr(tensor_proto, "tensor_shape"):
        raise TypeError("tensor_proto is not a tensor_pb2.TensorProto object")
    if hasattr(shape, "dim"):
        shape = [dim.size for dim in shape.dim]
    elif not isinstance(shape, (list, tuple)):
        raise TypeError("shape is not a list or tuple")
    return list(shape) == [dim.size for dim in tensor_proto.tensor_shape.dim]


def _unchanged(check: str) -> Callable[[int], Any]:
    def outer(rank: int) -> Any:
        return lambda op: [getattr(op.inputs[0].get_shape(), check)(rank)]

    return outer


def _is_broadcast_compatible(shape_x: Any, shape_y: Any) -> bool:
    """Returns whether two shapes may be those of operands of one operation."""
    if shape_x.ndims is None or shape_y.ndims is None:
        return False
    pairs = itertools.zip_longest(reversed(shape_x.as_list()), reversed(shape_y.as_list()), fillvalue=1)
    return all(a is None or b is None or a == b or 1 in (a, b) for a, b in pairs)


# Functions --------------------------------------------------------------------------------------------------


def _settings() -> Dict[str, Any]:
    """Returns the functions of `tf.config` by the names that `python.framework.config` has."""
    config = importlib.import_module("millstream.config")
    found = {name: getattr(config, name) for name in ("get_soft_device_placement", "set_soft_device_placement")}
    for part in (config.experimental, config.threading):
        found.update({name: value for name, value in vars(part).items() if name.startswith(("get_", "set_", "list_"))})
    for name in ("get_experimental_options", "get_jit", "set_experimental_options", "set_jit"):
        found[name.replace("_", "_optimizer_", 1)] = getattr(config.optimizer, name)
    return found


NAMES: Dict[str, Dict[str, Any]] = {
    "python.framework.common_shapes": {
        "is_broadcast_compatible": _is_broadcast_compatible,
        "no_outputs": lambda unused_op: [],
        "unchanged_shape_with_rank": _unchanged("with_rank"),
        "unchanged_shape_with_rank_at_least": _unchanged("with_rank_at_least"),
        "unchanged_shape_with_rank_at_most": _unchanged("with_rank_at_most"),
    },
    "python.framework.composite_tensor": {"CompositeTensor": CompositeTensor},
    "python.framework.composite_tensor_utils": {
        "is_composite_or_composite_value": lambda tensor: isinstance(tensor, CompositeTensor) or type(tensor).__name__ in ("SparseTensorValue", "IndexedSlicesValue"),
    },
    "python.framework.config": _settings(),
    "python.framework.constant_op": {"is_constant": _is_constant},
    "python.framework.device": {
        "MergeDevice": MergeDevice,
        "canonical_name": canonical_name,
        "check_valid": check_valid,
        "is_device_spec": is_device_spec,
        "merge_device": MergeDevice,
    },
    "python.framework.device_spec": {"DeviceSpecV1": DeviceSpec},
    "python.framework.function": {"_DefinedFunction": _DefinedFunction},
    "python.framework.indexed_slices": {
        "convert_n_to_tensor_or_indexed_slices": convert_n_to_tensor_or_indexed_slices,
        "internal_convert_n_to_tensor_or_indexed_slices": internal_convert_n_to_tensor_or_indexed_slices,
        "internal_convert_to_tensor_or_indexed_slices": internal_convert_to_tensor_or_indexed_slices,
    },
    "python.framework.ops": {
        "NullContextmanager": NullContextmanager,
        "OpStats": OpStats,
        "RegisterShape": RegisterShape,
        "RegisterStatistics": RegisterStatistics,
        "convert_n_to_tensor_or_composite": convert_n_to_tensor_or_composite,
        "convert_to_tensor_or_composite": convert_to_tensor_or_composite,
        "convert_n_to_tensor_or_indexed_slices": convert_n_to_tensor_or_indexed_slices,
        "default_session": _default_session,
        "device_v2": device_v2,
        # A graph is freed as soon as nothing refers to it.
        "dismantle_graph": lambda graph: None,
        "executing_eagerly_outside_functions": lambda: False,
        "get_all_collection_keys": lambda: get_default_graph().get_all_collection_keys(),
        "get_collection_proto_type": _proto_part("proto_type"),
        "get_from_proto_function": _proto_part("from_proto"),
        "get_name_scope": lambda: get_default_graph().get_name_scope(),
        "get_stats_for_node_def": get_stats_for_node_def,
        "get_to_proto_function": _proto_part("to_proto"),
        "has_default_graph": lambda: 0 < _engine.graph_stack_depth(),
        "inside_function": lambda: False,
        "internal_convert_n_to_tensor": internal_convert_n_to_tensor,
        "internal_convert_n_to_tensor_or_indexed_slices": internal_convert_n_to_tensor_or_indexed_slices,
        "internal_convert_n_to_tensor_or_composite": internal_convert_n_to_tensor_or_composite,
        "internal_convert_to_tensor_or_composite": internal_convert_to_tensor_or_composite,
        "name_scope_v2": name_scope_v2,
        "register_dense_tensor_like_type": register_dense_tensor_like_type,
        "set_shape_and_handle_data_for_outputs": lambda _: None,
        "tensor_id": lambda tensor: tensor._id,
    },
    "python.framework.random_seed": {"set_seed": random_ops.set_random_seed},
    "python.framework.smart_cond": {"smart_case": smart_case},
    "python.framework.sparse_tensor": {"is_sparse": lambda x: isinstance(x, SparseTensor) or type(x).__name__ == "SparseTensorValue"},
    "python.framework.tensor_like": {"_TensorLike": _TensorLike},
    "python.framework.tensor_util": {
        "ShapeEquals": shape_equals,
        "TensorShapeProtoToList": lambda shape: [dim.size for dim in shape.dim],
        "is_tensor": lambda x: isinstance(x, _TensorLike) or any(isinstance(x, kind) for kind in _DENSE),
        # TensorFlow does so in the bodies of functions alone.
        "maybe_set_static_shape": lambda tensor, shape: None,
    },
    "python.ops.control_flow_ops": {
        "CondContext": CondContext,
        "ControlFlowContext": ControlFlowContext,
        "WhileContext": WhileContext,
        "from_control_flow_context_def": from_control_flow_context_def,
    },
}
