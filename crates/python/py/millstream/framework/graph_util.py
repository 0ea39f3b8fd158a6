"""`tf.graph_util`: subgraphs, conversion of variables to constants, removal of training nodes."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from millstream._engine import Operation
from millstream.framework import logging, protos
from millstream.framework.shapes import TensorShape
from millstream.framework.tensor_util import make_tensor_proto

_VARIABLES = {"Variable", "VariableV2", "AutoReloadVariable", "VarHandleOp"}

# Ops that run on the CPU only, regardless of dtypes.
_ON_CPU = {"Print", "PrintV2", "Assert"}


def _check_graph_def(graph_def: Any) -> None:
    if type(graph_def).__name__ != "GraphDef":
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")


def _node_name(name: str) -> str:
    """Returns the node of an input: `^a`, `a:1` and `a` are all of node `a`."""
    return name.lstrip("^").split(":")[0]


def must_run_on_cpu(node: Any, pin_variables_on_cpu: bool = False) -> bool:
    """Returns whether an operation can run on the CPU only: it makes ints or strings, or requests the CPU.

    Args:
      node: An `Operation` or a `NodeDef`.
      pin_variables_on_cpu: If true, variables count as such operations.

    Raises:
      AssertionError: `node` is neither.

    Example:
      >>> (tf.graph_util.must_run_on_cpu(tf.constant("text").op),
      ...  tf.graph_util.must_run_on_cpu(tf.constant(1.0).op))
      (True, False)
    """
    if not isinstance(node, Operation) and type(node).__name__ != "NodeDef":
        raise AssertionError("must_run_on_cpu takes an Operation or a NodeDef, not %s" % type(node).__name__)
    node_def = node.node_def if isinstance(node, Operation) else node
    if pin_variables_on_cpu and node_def.op in _VARIABLES - {"VarHandleOp"}:
        return True
    if node_def.op in _ON_CPU:
        return True
    if node_def.op == "Const":
        return node_def.attr["dtype"].type in (protos.DT_STRING, protos.DT_INT32)
    if node_def.op in ("DynamicStitch", "ParallelDynamicStitch", "Size", "Shape"):
        return node_def.attr["T"].type == protos.DT_INT32 or node_def.attr["out_type"].type == protos.DT_INT32
    return False


def extract_sub_graph(graph_def: Any, dest_nodes: List[str]) -> Any:
    """Returns the subgraph of a `GraphDef` that some nodes depend on.

    Args:
      graph_def: A `GraphDef`.
      dest_nodes: A list of node names.

    Returns:
      A `GraphDef`.

    Raises:
      TypeError: `dest_nodes` is not a list.
      AssertionError: A node is not in the graph.

    Example:
      >>> a = tf.constant(1, name="a")
      >>> b, c = tf.negative(a, name="b"), tf.square(a, name="c")
      >>> [n.name for n in tf.graph_util.extract_sub_graph(tf.get_default_graph().as_graph_def(), ["b"]).node]
      ['a', 'b']
    """
    _check_graph_def(graph_def)
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be a list.")
    by_name = {n.name: n for n in graph_def.node}
    for name in dest_nodes:
        if name not in by_name:
            raise AssertionError("%s is not in graph" % name)
    needed, queue = set(dest_nodes), list(dest_nodes)
    while queue:
        for source in map(_node_name, by_name[queue.pop()].input):
            if source not in needed:
                needed.add(source)
                queue.append(source)
    out = type(graph_def)()
    out.node.extend(n for n in graph_def.node if n.name in needed)
    out.library.CopyFrom(graph_def.library)
    out.versions.CopyFrom(graph_def.versions)
    return out


def tensor_shape_from_node_def_name(graph: Any, input_name: str) -> TensorShape:
    """Returns the static shape of a node's output.

    Args:
      graph: A `Graph`.
      input_name: The name of a node or of one of its outputs.

    Returns:
      A `TensorShape`.

    Example:
      >>> x = tf.zeros([2, 3], name="x")
      >>> tf.graph_util.tensor_shape_from_node_def_name(tf.get_default_graph(), "x")
      TensorShape([Dimension(2), Dimension(3)])
    """
    name = input_name if ":" in input_name else input_name + ":0"
    return graph.get_tensor_by_name(name).get_shape()


def convert_variables_to_constants(
    sess: Any,
    input_graph_def: Any,
    output_node_names: List[str],
    variable_names_whitelist: Optional[List[str]] = None,
    variable_names_blacklist: Optional[List[str]] = None,
) -> Any:
    """Returns the subgraph of the output nodes, with variables replaced by their values in a session.

    Args:
      sess: A session that has the values.
      input_graph_def: The `GraphDef` of its graph.
      output_node_names: A list of node names.
      variable_names_whitelist: A list of the variables to convert; by default all.
      variable_names_blacklist: A list of variables not to convert.

    Returns:
      A `GraphDef`.

    Example:
      >>> v = tf.Variable([1.0, 2.0], name="v")
      >>> y = tf.reduce_sum(v, name="y")
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["y"])
      >>> with tf.Graph().as_default():
      ...     tf.import_graph_def(frozen, name="")
      ...     print(tf.Session().run("y:0"))
      3.0
    """
    inference = extract_sub_graph(input_graph_def, output_node_names)
    by_name = {n.name: n for n in inference.node}
    reads: Dict[str, str] = {}
    for node in inference.node:
        if node.op in ("Variable", "VariableV2"):
            reads[node.name] = node.name + ":0"
        elif node.op == "ReadVariableOp":
            reads[_variable_of(by_name, node)] = node.name + ":0"
    wanted = [
        name
        for name in reads
        if (variable_names_whitelist is None or name in variable_names_whitelist)
        and (variable_names_blacklist is None or name not in variable_names_blacklist)
    ]
    values = dict(zip(wanted, sess.run([reads[name] for name in wanted]))) if wanted else {}
    logging.info("Froze %d variables.", len(values))
    out = protos.GraphDef()
    for node in inference.node:
        _freeze(out.node.add(), node, by_name, values)
    out.library.CopyFrom(inference.library)
    out.versions.CopyFrom(inference.versions)
    logging.info("Converted %d variables to const ops.", len(values))
    return out


def _variable_of(by_name: Dict[str, Any], read: Any) -> str:
    """Returns the variable that a node reads, through the nodes that forward its handle."""
    name = _node_name(read.input[0])
    while by_name[name].op in ("Identity", "Enter", "Switch"):
        name = _node_name(by_name[name].input[0])
    return name


def _freeze(new: Any, node: Any, by_name: Dict[str, Any], values: Dict[str, Any]) -> None:
    new.name = node.name
    if node.name in values:
        value = make_tensor_proto(values[node.name])
        new.op = "Const"
        new.attr["dtype"].type = value.dtype
        new.attr["value"].tensor.CopyFrom(value)
        return
    if node.op == "ReadVariableOp" and _variable_of(by_name, node) in values:
        new.op = "Identity"
        new.input.append(node.input[0])
        new.attr["T"].CopyFrom(node.attr["dtype"])
        if "_class" in node.attr:
            new.attr["_class"].CopyFrom(node.attr["_class"])
        return
    new.CopyFrom(node)
    if node.op in ("Identity", "Enter", "Switch") and node.attr["T"].type == protos.DT_RESOURCE:
        through = _variable_of(by_name, node)
        if through in values:
            new.attr["T"].type = make_tensor_proto(values[through]).dtype


def remove_training_nodes(input_graph: Any, protected_nodes: Optional[List[str]] = None) -> Any:
    """Removes nodes that only training needs: numeric checks, and identities without control edges.

    Args:
      input_graph: A `GraphDef`.
      protected_nodes: A list of the names of nodes to keep.

    Returns:
      A `GraphDef`.

    Example:
      >>> y = tf.negative(tf.identity(tf.constant(1.0, name="x"), name="same"), name="y")
      >>> [(n.name, list(n.input))
      ...     for n in tf.graph_util.remove_training_nodes(tf.get_default_graph().as_graph_def()).node]
      [('x', []), ('y', ['x'])]
    """
    protected = set(protected_nodes or ())
    kept = [n for n in input_graph.node if n.op != "CheckNumerics" or n.name in protected]
    through = {n.name: n.input[0] for n in input_graph.node if n.op == "CheckNumerics" and n.name not in protected}
    controls = {_node_name(i) for n in kept for i in n.input if i.startswith("^")}
    waited_for = {n.name for n in kept if any(i.startswith("^") for i in n.input)} | controls
    for node in kept:
        if node.op == "Identity" and node.name not in waited_for and node.name not in protected:
            through[node.name] = node.input[0]
    out = type(input_graph)()
    for node in kept:
        if node.name in through:
            continue
        new = out.node.add()
        new.CopyFrom(node)
        del new.input[:]
        new.input.extend(_past(i, through) for i in node.input)
    out.versions.CopyFrom(input_graph.versions)
    return out


def _past(name: str, through: Dict[str, str]) -> str:
    mark = "^" if name.startswith("^") else ""
    while _node_name(name) in through:
        name = through[_node_name(name)]
    return mark + name.lstrip("^")
