"""Functions' definitions and graphs: `function_def_to_graph`, `graph_to_function_def`, `FuncGraph`."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Optional, Tuple

from millstream import _engine
from millstream.framework import errors, importer, protos, shapes
from millstream.framework.graph import Graph, get_default_graph

_INPUT_SHAPES = "_input_shapes"


def _number_of(argument: Any, node: Any) -> int:
    """Returns the number of tensors of an argument of an op, in a node."""
    if argument.number_attr:
        return int(node.attr[argument.number_attr].i)
    if argument.type_list_attr:
        return len(node.attr[argument.type_list_attr].list.type)
    return 1


def _definition(kind: str, functions: Dict[str, Any]) -> Any:
    """Returns what an op, or a function of the library, takes and gives."""
    if kind in functions:
        return functions[kind].signature
    if kind not in _engine.op_names():
        raise ValueError("Unknown op type %s: Millstream has no such op, and the default graph no such function" % kind)
    return protos.OpDef.FromString(_engine.op_def(kind))


def _library() -> Dict[str, Any]:
    """Returns the definitions of the functions of the default graph."""
    return {f.signature.name: f for f in get_default_graph().as_graph_def().library.function}


def is_function(fname: str) -> bool:
    """Returns whether the default graph has a function of a name."""
    return fname in _library()


def function_def_to_graph_def(fdef: Any, input_shapes: Optional[List[Any]] = None, copy_functions: bool = True) -> Tuple[Any, Dict[str, str]]:
    """Returns the body of a function as a graph, with a placeholder for each argument.

    Args:
      fdef: A `FunctionDef`.
      input_shapes: The shapes of the arguments; by default, those that the definition has.
      copy_functions: Whether the library of the default graph becomes that of the result.

    Returns:
      A `GraphDef`, and the names of tensors in it by their names in the function, such as `"add:z:0"`.

    Raises:
      ValueError: `input_shapes` has another length than the arguments, or an op of the body is unknown.
    """
    arguments = list(fdef.signature.input_arg)
    if input_shapes is not None and len(input_shapes) != len(arguments):
        raise ValueError("Length of input_shapes must match the number of input_args. len(input_shapes): %d len(input_arg): %d" % (len(input_shapes), len(arguments)))
    functions = _library()
    graph = protos.GraphDef()
    graph.versions.CopyFrom(get_default_graph().as_graph_def().versions)
    if copy_functions:
        graph.library.function.extend(functions.values())
    flat: Dict[str, str] = {}
    for i, argument in enumerate(arguments):
        node = graph.node.add(name=argument.name, op="Placeholder")
        node.attr["dtype"].type = argument.type
        shape = None if input_shapes is None else input_shapes[i]
        if shape is not None:
            node.attr["shape"].shape.CopyFrom(shape if hasattr(shape, "unknown_rank") else shapes.as_shape(shape).as_proto())
        elif input_shapes is None and i < len(fdef.arg_attr) and _INPUT_SHAPES in fdef.arg_attr[i].attr:
            known = fdef.arg_attr[i].attr[_INPUT_SHAPES].list.shape
            if known:
                node.attr["shape"].shape.CopyFrom(known[0])
        else:
            node.attr["shape"].shape.unknown_rank = True
        flat[argument.name] = argument.name + ":0"
    for node in fdef.node_def:
        place = 0
        for argument in _definition(node.op, functions).output_arg:
            for k in range(_number_of(argument, node)):
                flat["%s:%s:%d" % (node.name, argument.name, k)] = "%s:%d" % (node.name, place)
                place += 1
        flat["^" + node.name] = "^" + node.name
    for node in fdef.node_def:
        copied = graph.node.add()
        copied.CopyFrom(node)
        del copied.input[:]
        for name in node.input:
            # An output of a whole list of one tensor has no index: `add:z`.
            found = flat.get(name) or flat.get(name + ":0")
            if found is None:
                raise ValueError("node %s of function %s takes %s, which the function does not have" % (node.name, fdef.signature.name, name))
            copied.input.append(found)
    return graph, flat


class FuncGraph(Graph):
    """The graph of a function's body: a graph with a name, the tensors of its arguments, and its results.

    `function_def_to_graph` makes one. A graph of one's own begins empty: `inputs` and `outputs` are lists to
    append to. Tensors of other graphs are not captured: pass them as arguments.
    """

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.name = name
        self.inputs: List[Any] = []
        self.outputs: List[Any] = []
        self.structured_input_signature: Any = None
        self.structured_outputs: Any = None
        self.outer_graph = get_default_graph()


def function_def_to_graph(fdef: Any, input_shapes: Optional[List[Any]] = None, copy_functions: bool = True) -> FuncGraph:
    """Returns the body of a function as a graph that is built, with its `name`, `inputs` and `outputs`.

    Args:
      fdef: A `FunctionDef`.
      input_shapes: The shapes of the arguments; by default, those that the definition has.
      copy_functions: Whether the library of the default graph becomes that of the result.

    Raises:
      ValueError: `input_shapes` has another length than the arguments, or an op of the body is unknown.
    """
    graph = FuncGraph(fdef.signature.name)
    body, flat = function_def_to_graph_def(fdef, input_shapes, copy_functions)
    with graph.as_default():
        importer.import_graph_def(body, name="")
    graph.inputs = [graph.get_tensor_by_name(a.name + ":0") for a in fdef.signature.input_arg]
    returned = [fdef.ret[a.name] for a in fdef.signature.output_arg]
    graph.outputs = [graph.get_tensor_by_name(flat.get(name) or flat[name + ":0"]) for name in returned]
    return graph


def _argument_name(name: str, used: Dict[str, int]) -> str:
    """Returns the name of an argument, which no other has, from that of a tensor."""
    plain = re.sub(":0$", "", name).replace(":", "_o")
    n = used.get(plain, 0)
    used[plain] = n + 1
    return plain if n == 0 else "%s_%d" % (plain, n)


def graph_to_function_def(graph: Any, operations: Any, inputs: Any, outputs: Any, out_names: Optional[List[str]] = None) -> Any:
    """Returns operations of a graph as the definition of a function.

    Args:
      graph: The graph.
      operations: Those of its operations that become the body.
      inputs: The tensors that become arguments.
      outputs: The tensors that are the results.
      out_names: The names of the results.

    Returns:
      A `FunctionDef`.

    Raises:
      InvalidArgumentError: `out_names` has another length than `outputs`.
      ValueError: `out_names` names one twice.
    """
    if out_names is not None:
        if len(out_names) != len(outputs):
            raise errors.InvalidArgumentError(None, None, "output names must be either empty or equal in size to outputs. output names size = %d outputs size = %d" % (len(out_names), len(outputs)))
        if len(set(out_names)) != len(out_names):
            raise ValueError("Must not have duplicates in out_names: %s" % ", ".join(out_names))
    func = protos.FunctionDef()
    func.signature.name = "_"
    used: Dict[str, int] = {}
    names: Dict[str, str] = {}
    for tensor in inputs:
        argument = func.signature.input_arg.add(name=_argument_name(tensor.name, used), type=tensor.dtype.base_dtype.as_datatype_enum)
        names[tensor.name] = argument.name
    used_results: Dict[str, int] = {}
    for i, tensor in enumerate(outputs):
        word = out_names[i] if out_names is not None else _argument_name(tensor.name, used_results)
        func.signature.output_arg.add(name=word, type=tensor.dtype.base_dtype.as_datatype_enum)
    arguments = {tensor.op.name for tensor in inputs}
    functions = {f.signature.name: f for f in graph.as_graph_def().library.function}
    for operation in operations:
        place = 0
        for argument in _definition(operation.type, functions).output_arg:
            for k in range(_number_of(argument, operation.node_def)):
                names.setdefault("%s:%d" % (operation.name, place), "%s:%s:%d" % (operation.name, argument.name, k))
                place += 1
    for operation in operations:
        if operation.name in arguments:
            continue
        node = func.node_def.add()
        node.CopyFrom(operation.node_def)
        del node.input[:]
        node.input.extend(names.get(t.name, t.name) for t in operation.inputs)
        node.input.extend("^" + names.get(o.name, o.name) for o in operation.control_inputs if o.name not in arguments)
    for argument, tensor in zip(func.signature.output_arg, outputs):
        func.ret[argument.name] = names[tensor.name]
    return func
