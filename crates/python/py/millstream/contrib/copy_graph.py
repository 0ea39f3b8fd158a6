"""`tf.contrib.copy_graph`: copies of variables and operations in another graph."""

from __future__ import annotations

from typing import Any, Sequence

from millstream._engine import Operation, Tensor
from millstream.framework import namespaces
from millstream.framework.graph import Graph
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.session import Session
from millstream.variables.variable import Variable

__all__ = ["copy_op_to_graph", "copy_variable_to_graph", "get_copied_op"]

__dir__ = namespaces.dir_of(globals())


def _name(name: str, scope: str) -> str:
    return scope + "/" + name if scope else name


def _collections(item: Any, scope: str) -> Any:
    """Yields the collections of an item, and their names in a scope."""
    for key in item.graph.get_all_collection_keys():
        if any(other is item for other in item.graph.get_collection(key)):
            yield key, _name(key, scope)


def copy_variable_to_graph(org_instance: Any, to_graph: Graph, scope: str = "") -> Variable:
    """Returns a copy of a variable in another graph. Its initial value is the one that the original gets.

    Args:
      org_instance: The variable.
      to_graph: The other graph.
      scope: The scope of the copy.

    Raises:
      TypeError: `org_instance` is not a variable.

    Example:
      >>> other = tf.Graph()
      >>> v = tf.contrib.copy_graph.copy_variable_to_graph(tf.Variable(3, name="v"), other, "copy")
      >>> v.name, v.graph is other
      ('copy/v:0', True)
    """
    if not isinstance(org_instance, Variable):
        raise TypeError(str(org_instance) + " is not a Variable")
    kept = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES)
    collections = [key if key in kept else renamed for key, renamed in _collections(org_instance, scope)]
    with org_instance.graph.as_default(), Session() as session:
        value = session.run(org_instance.initialized_value())
    with to_graph.as_default():
        return Variable(
            value, GraphKeys.TRAINABLE_VARIABLES in collections, name=_name(org_instance.name.partition(":")[0], scope), collections=collections, validate_shape=False
        )


def copy_op_to_graph(org_instance: Any, to_graph: Graph, variables: Sequence[Any], scope: str = "") -> Any:
    """Returns a copy of a tensor or an operation, and of all that it depends on, in another graph.

    What the other graph has already is not copied again.

    Args:
      org_instance: The tensor or operation.
      to_graph: The other graph.
      variables: The copies of variables: `copy_variable_to_graph` makes them first.
      scope: The scope of the copies.

    Raises:
      TypeError: `org_instance` is neither a tensor nor an operation.

    Example:
      >>> v = tf.Variable(3, name="v")
      >>> other = tf.Graph()
      >>> copied = tf.contrib.copy_graph.copy_variable_to_graph(v, other)
      >>> y = tf.contrib.copy_graph.copy_op_to_graph(tf.square(v), other, [copied])
      >>> with tf.Session(graph=other) as sess:
      ...     sess.run(copied.initializer)
      ...     print(sess.run(y))
      9
    """
    name = _name(org_instance.name, scope)
    if name in {variable.name for variable in variables}:
        return to_graph.get_tensor_by_name(name)
    try:
        return to_graph.as_graph_element(name, allow_tensor=True, allow_operation=True)
    except (KeyError, ValueError, TypeError):
        pass  # It is not there yet.
    if isinstance(org_instance, Tensor):
        tensor = copy_op_to_graph(org_instance.op, to_graph, variables, scope).outputs[org_instance.value_index]
        for _, renamed in _collections(org_instance, scope):
            to_graph.add_to_collection(renamed, tensor)
        return tensor
    if not isinstance(org_instance, Operation):
        raise TypeError("Could not copy instance: " + str(org_instance))
    controls = [copy_op_to_graph(before, to_graph, variables, scope) for before in org_instance.control_inputs]
    inputs = [copy_op_to_graph(t, to_graph, variables, scope) for t in org_instance.inputs]
    node = org_instance.node_def
    # The slash says that the name is whole.
    with to_graph.as_default(), to_graph.control_dependencies(None), to_graph.control_dependencies(controls):
        made = to_graph.create_op(node.op, inputs, name=name + "/", attrs=dict(node.attr))
    if node.device:
        made._set_device(node.device)
    return made


def get_copied_op(org_instance: Any, graph: Graph, scope: str = "") -> Any:
    """Returns the copy of a tensor, a variable or an operation that was made before.

    Args:
      org_instance: The original.
      graph: The graph of the copy.
      scope: The scope of the copy.

    Example:
      >>> x = tf.constant(3, name="x")
      >>> other = tf.Graph()
      >>> y = tf.contrib.copy_graph.copy_op_to_graph(x, other, [], "copy")
      >>> tf.contrib.copy_graph.get_copied_op(x, other, "copy").name
      'copy/x:0'
    """
    return graph.as_graph_element(_name(org_instance.name, scope), allow_tensor=True, allow_operation=True)
