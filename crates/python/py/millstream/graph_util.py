"""`tf.graph_util`: parts of graphs as messages, and variables made constants in them."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Optional, Sequence, Set

from millstream import _namespaces

__all__ = ["convert_variables_to_constants", "extract_sub_graph", "remove_training_nodes", "tensor_shape_from_node_def_name"]

_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")


def _node_of(name: str) -> str:
    """The node that an input names: without a sign and the output's number."""
    return re.sub(r":\d+$", "", name.lstrip("^"))


def extract_sub_graph(graph_def: Any, dest_nodes: Sequence[str]) -> Any:
    """The nodes that these need, with them."""
    from millstream import protos

    if not isinstance(graph_def, protos.GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be a list.")
    nodes = {n.name: n for n in graph_def.node}
    for name in dest_nodes:
        if name not in nodes:
            raise AssertionError("%s is not in graph" % name)
    kept, waiting = set(), list(dest_nodes)
    while waiting:
        name = waiting.pop()
        if name not in kept:
            kept.add(name)
            waiting.extend(_node_of(i) for i in nodes[name].input)
    out = protos.GraphDef()
    out.node.extend(n for n in graph_def.node if n.name in kept)
    out.library.CopyFrom(graph_def.library)
    out.versions.CopyFrom(graph_def.versions)
    return out


def convert_variables_to_constants(
    sess: Any,
    input_graph_def: Any,
    output_node_names: Sequence[str],
    variable_names_whitelist: Optional[Sequence[str]] = None,
    variable_names_blacklist: Optional[Sequence[str]] = None,
) -> Any:
    """The part of a graph that outputs need, with the variables in it constants of the values that they have in the session."""
    from millstream import logging, protos

    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    nodes = {n.name: n for n in graph_def.node}
    wanted: Dict[str, str] = {}
    for node in graph_def.node:
        if node.op in _VARIABLES:
            allowed = variable_names_whitelist is None or node.name in variable_names_whitelist
            if allowed and node.name not in (variable_names_blacklist or ()):
                wanted[node.name] = node.name + (":0" if node.op != "VarHandleOp" else "/Read/ReadVariableOp:0")
    values = _values(sess, wanted, nodes)
    logging.info("Froze %d variables.", len(values))
    out = protos.GraphDef()
    handles = {name for name in values if nodes[name].op == "VarHandleOp"}
    for node in graph_def.node:
        new = out.node.add()
        if node.name in values:
            new.CopyFrom(_constant(node.name, values[node.name], node))
        elif node.op == "ReadVariableOp" and _source(node, nodes) in handles:
            new.op, new.name = "Identity", node.name
            new.input.append(node.input[0])
            new.attr["T"].CopyFrom(node.attr["dtype"])
        elif node.op == "ResourceGather" and _source(node, nodes) in handles:
            new.CopyFrom(node)
            new.op = "GatherV2"
            axis = protos.GraphDef().node.add()
            axis.CopyFrom(_constant(node.name + "/axis", 0, None))
            out.node.add().CopyFrom(axis)
            new.input.append(axis.name)
            for attr in ("dtype", "validate_indices", "batch_dims"):
                if attr in new.attr:
                    del new.attr[attr]
            new.attr["Tparams"].CopyFrom(node.attr["dtype"])
            new.attr["Taxis"].type = 3  # int32
        else:
            new.CopyFrom(node)
            if node.op in ("Identity", "Enter", "Switch") and _source(node, nodes) in handles and "T" in new.attr:
                # A handle that was passed on: a value now.
                new.attr["T"].CopyFrom(nodes[_source(node, nodes)].attr["dtype"])
    out.library.CopyFrom(graph_def.library)
    out.versions.CopyFrom(graph_def.versions)
    return out


def _source(node: Any, nodes: Dict[str, Any]) -> str:
    """The node that a handle comes from, through those that pass it on."""
    name = _node_of(node.input[0])
    while nodes[name].op in ("Identity", "Enter", "Switch") and nodes[name].input:
        name = _node_of(nodes[name].input[0])
    return name


def _values(sess: Any, wanted: Dict[str, str], nodes: Dict[str, Any]) -> Dict[str, Any]:
    graph = sess.graph
    fetches = {}
    with graph.as_default():
        for name, tensor in wanted.items():
            if nodes[name].op != "VarHandleOp":
                fetches[name] = graph.get_tensor_by_name(tensor)
                continue
            readers = [o for o in graph.get_operations() if o.type == "ReadVariableOp" and o.inputs[0].op.name == name]
            if not readers:
                raise ValueError("variable %r is read by no node of the graph: read it once before it is made a constant" % name)
            fetches[name] = readers[0].outputs[0]
    return sess.run(fetches) if fetches else {}


def _constant(name: str, value: Any, variable: Any) -> Any:
    """A `Const` node of this value."""
    import millstream as tf

    with tf.Graph().as_default():
        node = tf.constant(value, name=name.split("/")[-1]).op.node_def
    node.name = name
    return node


def remove_training_nodes(input_graph: Any, protected_nodes: Optional[Sequence[str]] = None) -> Any:
    """The graph without checks of numbers and nodes that pass values on; `protected_nodes` stay."""
    from millstream import protos

    kept: Set[str] = set(protected_nodes or ())
    out = protos.GraphDef()
    out.CopyFrom(input_graph)
    del out.node[:]
    # Removed nodes, and what stands in their place.
    instead: Dict[str, str] = {}
    depends: Set[str] = {_node_of(i) for n in input_graph.node for i in n.input if i.startswith("^")}
    nodes: List[Any] = []
    for node in input_graph.node:
        plain = node.input and not any(i.startswith("^") for i in node.input)
        if node.op in ("CheckNumerics", "Identity") and plain and node.name not in kept | depends:
            instead[node.name] = node.input[0]
        else:
            nodes.append(node)
    for node in nodes:
        new = out.node.add()
        new.CopyFrom(node)
        del new.input[:]
        for name in node.input:
            while name in instead:
                name = instead[name]
            new.input.append(name)
    return out


def tensor_shape_from_node_def_name(graph: Any, input_name: str) -> Any:
    """The shape of a tensor, named as a node's input."""
    name = input_name if ":" in input_name else input_name + ":0"
    return graph.get_tensor_by_name(name.lstrip("^")).get_shape()


def __getattr__(name: str) -> Any:
    return _namespaces.find(__name__, "graph_util", name)
