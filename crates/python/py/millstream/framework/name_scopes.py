"""`name_scope`: a block that prefixes names."""

from __future__ import annotations

import contextlib
from typing import Any, List, Optional

from millstream.framework.graph import Graph, get_default_graph


class name_scope:
    """Prefixes the names of operations within the block.

    Args:
      name: The scope's name, made unique; a name that ends in "/" enters that scope again.
      default_name: The name to use if `name` is None.
      values: A list of tensors, whose graph the scope belongs to.

    Returns:
      A context manager that yields the prefix.

    Raises:
      ValueError: Neither name is given, or `values` belong to different graphs.

    Example:
      >>> def layer(x, name=None):
      ...     with tf.name_scope(name, "layer", [x]):
      ...         return tf.negative(x, name="minus")
      >>> layer(1.0).name, layer(1.0).name, layer(1.0, "mine").name, tf.name_scope("a").name
      ('layer/minus:0', 'layer_1/minus:0', 'mine/minus:0', 'a')
    """

    def __init__(self, name: Optional[str], default_name: Optional[str] = None, values: Any = None) -> None:
        self._name = default_name if name is None else name
        if name is None and default_name is None and values is not None:
            raise ValueError("At least one of name (%s) and default_name (%s) must be provided." % (name, default_name))
        self._values = values or ()
        self._stack: List[Any] = []

    @property
    def name(self) -> Optional[str]:
        """The requested name."""
        return self._name

    def __enter__(self) -> str:
        graph = None if get_default_graph()._is_body else graph_of(self._values)
        stack = contextlib.ExitStack()
        if graph is not None and graph is not get_default_graph():
            stack.enter_context(graph.as_default())
        scope = stack.enter_context((graph or get_default_graph()).name_scope(self._name))
        self._stack.append(stack)
        return scope

    def __exit__(self, *why: Any) -> None:
        self._stack.pop().close()


def graph_of(values: Any) -> Optional[Graph]:
    """Returns the graph that values belong to; None if none of them belongs to one.

    Raises:
      ValueError: They belong to different graphs.
    """
    found = None
    for value in values:
        graph = getattr(value, "graph", None)
        if isinstance(graph, Graph):
            if found is None:
                found, first = graph, value
            elif graph is not found:
                raise ValueError("%s must be from the same graph as %s." % (value, first))
    return found


def check_scope_name(name: Optional[str]) -> None:
    """Raises unless a name scope may have this name here; None is allowed."""
    if name:
        get_default_graph()._check_scope_name(name)
