"""`tf.contrib.util`: tensors as messages, and the ops of a graph."""

from __future__ import annotations

from typing import Any, List

from millstream import _engine
from millstream.framework import constant_value, namespaces, protos
from millstream.framework.tensor_util import make_ndarray, make_tensor_proto

__all__ = ["constant_value", "make_ndarray", "make_tensor_proto", "ops_used_by_graph_def", "stripped_op_list_for_graph"]


def ops_used_by_graph_def(graph_def: Any) -> List[str]:
    """Returns the names of the op types in a graph and its functions.

    Args:
      graph_def: A `GraphDef`.

    Returns:
      A sorted list of names.

    Example:
      >>> _ = tf.constant(1) + 2
      >>> tf.contrib.util.ops_used_by_graph_def(tf.get_default_graph().as_graph_def())
      ['AddV2', 'Const']
    """
    message = protos.as_message("GraphDef", graph_def)
    functions = {f.signature.name: f for f in message.library.function}
    found = {node.op for node in message.node}
    waiting = [name for name in found if name in functions]
    while waiting:
        inside = {node.op for node in functions[waiting.pop()].node_def}
        waiting.extend(name for name in inside - found if name in functions)
        found |= inside
    return sorted(found - set(functions))


def stripped_op_list_for_graph(graph_def: Any) -> Any:
    """Returns the definitions of the op types in a graph.

    Args:
      graph_def: A `GraphDef`.

    Returns:
      An `OpList`, sorted by name.

    Raises:
      ValueError: The engine has no such op.

    Example:
      >>> _ = tf.constant(1) + 2
      >>> [op.name for op in tf.contrib.util.stripped_op_list_for_graph(tf.get_default_graph().as_graph_def()).op]
      ['AddV2', 'Const']
    """
    names = ops_used_by_graph_def(graph_def)
    encoded = {name: _engine.op_def(name) for name in names}
    missing = [name for name, data in encoded.items() if data is None]
    if missing:
        raise ValueError("Op %s is used by the graph, but is not registered" % ", ".join(missing))
    return protos.OpList(op=[protos.OpDef.FromString(encoded[name] or b"") for name in names])


__dir__ = namespaces.dir_of(globals())
