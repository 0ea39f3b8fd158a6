"""Tensors and operations as programs make and copy them: `tf.Operation(node_def, graph)`, `copy.copy(t)`.

The engine has the classes; what is set here is what only programs ask for.
"""

from __future__ import annotations

import re
from typing import Any, Optional

from millstream._engine import Operation, Tensor
from millstream.framework import dtypes
from millstream.framework.graph import Graph


def _new_tensor(cls: Any, op: Any, value_index: int, dtype: Any) -> Tensor:
    """Returns the tensor that is an output of an operation.

    Raises:
      TypeError: `op` is no operation, or `dtype` no dtype.
    """
    if not isinstance(op, Operation):
        raise TypeError("op needs to be an Operation: %s" % (op,))
    dtypes.as_dtype(dtype)
    return op.outputs[value_index]


_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\\-/]*\Z")


def _new_operation(
    cls: Any,
    node_def: Any,
    g: Any,
    inputs: Any = None,
    output_types: Any = None,
    control_inputs: Any = None,
    input_types: Any = None,
    original_op: Any = None,
    op_def: Any = None,
) -> Operation:
    """Adds the node that a `NodeDef` describes to a graph.

    Raises:
      TypeError: An argument has the wrong type.
      ValueError: The name is none.
    """
    if not hasattr(node_def, "DESCRIPTOR") or type(node_def).__name__ != "NodeDef":
        raise TypeError("node_def needs to be a NodeDef: %s" % (node_def,))
    if not _NAME.match(node_def.name):
        raise ValueError("'%s' is not a valid node name" % node_def.name)
    if not isinstance(g, Graph):
        raise TypeError("g needs to be a Graph: %s" % (g,))
    inputs = [] if inputs is None else inputs
    if not isinstance(inputs, list):
        raise TypeError("inputs needs to be a list of Tensors: %s" % (inputs,))
    for one in inputs:
        if not isinstance(one, Tensor):
            raise TypeError("input needs to be a Tensor: %s" % (one,))
    control = [getattr(c, "op", c) for c in control_inputs or []]
    for one in control:
        if not isinstance(one, Operation):
            raise TypeError("Control input must be an Operation, a Tensor, or IndexedSlices: %s" % (one,))
    with g.as_default(), g.control_dependencies(None), g.control_dependencies(control), g.device(node_def.device or None):
        made: Operation = g.create_op(node_def.op, inputs, output_types, name=node_def.name + "/", attrs=dict(node_def.attr))
    return made


def _as_node_def_input(self: Tensor) -> str:
    """Returns the tensor's name as an input of a `NodeDef`: without `:0`."""
    name: str = self.op.name
    return name if self.value_index == 0 else "%s:%d" % (name, self.value_index)


def _copied(self: Any) -> Any:
    """Returns the handle itself: it holds nothing of its own."""
    return self


def _not_copied(self: Any, memo: Optional[Any] = None) -> Any:
    raise TypeError(
        "can't pickle _thread.RLock objects: a %s belongs to its graph, of which `copy.deepcopy` makes no copy; "
        "import `graph.as_graph_def()` into another graph" % type(self).__name__
    )


for _kind in (Tensor, Operation):
    setattr(_kind, "__copy__", _copied)
    setattr(_kind, "__deepcopy__", _not_copied)
setattr(Tensor, "_as_node_def_input", _as_node_def_input)
setattr(Tensor, "__new__", staticmethod(_new_tensor))
setattr(Operation, "__new__", staticmethod(_new_operation))
