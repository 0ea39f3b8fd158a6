"""`python.framework.op_def_library`: operations by the names of their types. `NAMES`."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

from millstream import _engine
from millstream.framework import get_default_graph, op_functions, protos
from millstream.framework.op_functions import raw


class OpDefLibrary:
    """The definitions of ops, from which `apply_op` adds operations.

    The ops of the engine are there already. Definitions may be added to those, but not other ops: the engine
    runs the ops that it has.
    """

    def __init__(self) -> None:
        self._ops: Dict[str, Any] = {}

    def add_op(self, op_def: Any) -> None:
        """Adds the definition of an op of the engine.

        Raises:
          TypeError: The argument is not an `OpDef`.
          ValueError: The definition has no name, or the engine has no such op.
          RuntimeError: The definition differs from the one that was added before.
        """
        if not isinstance(op_def, protos.OpDef):
            raise TypeError("%s is %s, not an op_def_pb2.OpDef" % (op_def, type(op_def)))
        if not op_def.name:
            raise ValueError("%s missing name." % op_def)
        if op_def.name in self._ops:
            if self._ops[op_def.name] != op_def:
                raise RuntimeError("Op name already exists: %s" % op_def.name)
            return
        if op_def.name not in _engine.op_names():
            raise ValueError("Millstream has no op %s: the ops of a program are those of the engine" % op_def.name)
        self._ops[op_def.name] = op_def

    def add_op_list(self, op_list: Any) -> None:
        """Adds the definitions in an `OpList`.

        Raises:
          TypeError: The argument is not an `OpList`.
        """
        if not isinstance(op_list, protos.OpList):
            raise TypeError("%s is %s, not an op_def_pb2.OpList" % (op_list, type(op_list)))
        for op_def in op_list.op:
            self.add_op(op_def)

    def apply_op(self, op_type_name: str, name: Any = None, **keywords: Any) -> Any:
        """Adds an operation; returns its output, the list of them, or the operation if it has none.

        Args:
          op_type_name: The name of the op, such as `"MatMul"`.
          name: The name of the operation.
          **keywords: The inputs and attributes by name.

        Raises:
          RuntimeError: There is no such op.
          TypeError: An input or attribute is missing, is unknown, or has a wrong type.
        """
        return _added(op_type_name, name, keywords)[0]

    def _apply_op_helper(self, op_type_name: str, name: Any = None, **keywords: Any) -> Tuple[Any, bool, Any]:
        """Adds an operation, and returns its outputs, whether the op is stateful, and the operation."""
        result, operation = _added(op_type_name, name, keywords)
        return result, bool(_definition(op_type_name).is_stateful), operation


def _definition(kind: str) -> Any:
    return protos.OpDef.FromString(_engine.op_def(kind))


def _added(kind: str, name: Any, keywords: Dict[str, Any]) -> Tuple[Any, Any]:
    """Adds an operation; returns its results and the operation itself."""
    if kind not in _engine.op_names():
        raise RuntimeError("Unrecognized Op name " + kind)
    definition = _definition(kind)
    known = {arg.name for arg in definition.input_arg} | {attr.name for attr in definition.attr}
    inferred = {a for arg in definition.input_arg for a in (arg.type_attr, arg.number_attr, arg.type_list_attr) if a}
    arguments: Dict[str, Any] = {}
    for key, value in keywords.items():
        # An input whose name is a word of Python has an underscore behind it.
        plain = key[:-1] if key.endswith("_") and key not in known else key
        if plain not in known:
            raise TypeError("apply_op() got unexpected keyword arguments: " + ", ".join(sorted(keywords)))
        if plain not in inferred:
            arguments[plain] = value
    for arg in definition.input_arg:
        if arg.name not in arguments:
            raise TypeError("No argument for input " + arg.name)
    # Functions of ops have TensorFlow's public names for some arguments: `axis`, not `split_dim`.
    public = {inner: outer for outer, inner, _ in op_functions._parameters(kind) or ()}
    result = raw(kind)(name=name, **{public.get(key, key): value for key, value in arguments.items()})
    if hasattr(result, "outputs") and hasattr(result, "node_def"):
        return result, result
    values: List[Any] = list(result) if isinstance(result, (list, tuple)) else [result]
    if not values:
        return [], get_default_graph().get_operations()[-1]
    first = values[0][0] if isinstance(values[0], list) and values[0] else values[0]
    return (list(result) if isinstance(result, tuple) else result), first.op


NAMES: Dict[str, Dict[str, Any]] = {
    "python.framework.op_def_library": {"OpDefLibrary": OpDefLibrary},
}
