"""Names and graphs of operations, placeholders, and sums of tensors: small parts of
`tf.contrib.framework`."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from millstream._engine import Operation, Tensor
from millstream.framework import convert_to_tensor, get_default_graph, name_scope
from millstream.framework.graph import Graph
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, math_ops
from millstream.train import training_util

__all__ = ["assert_or_get_global_step", "get_graph_from_inputs", "get_placeholders", "reduce_sum_n", "remove_squeezable_dimensions"]


def get_graph_from_inputs(op_input_list: Any, graph: Optional[Graph] = None) -> Graph:
    """Returns the graph of tensors and operations; without any, the default graph.

    Args:
      op_input_list: Tensors, operations and values.
      graph: A graph that all of them must be of, or None.

    Raises:
      ValueError: Two of them are of different graphs, or one is not of `graph`.
      TypeError: `graph` is not a graph.

    Example:
      >>> x = tf.constant(1)
      >>> tf.contrib.framework.get_graph_from_inputs([x, 2.0]) is x.graph
      True
    """
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError("Input graph needs to be a Graph: %s" % graph)
    found, first = graph, None
    for item in op_input_list:
        element = item if isinstance(item, (Tensor, Operation)) else getattr(item, "op", None)
        if element is None:
            continue
        if found is None:
            found, first = element.graph, element
        elif element.graph is not found:
            if first is not None:
                raise ValueError("%s must be from the same graph as %s." % (element, first))
            raise ValueError("%s is not from the passed-in graph." % (element,))
    return found or get_default_graph()


def get_placeholders(graph: Graph) -> List[Tensor]:
    """Returns the placeholders of a graph.

    Args:
      graph: The graph.

    Raises:
      TypeError: `graph` is not a graph.

    Example:
      >>> x = tf.placeholder(tf.float32)
      >>> tf.contrib.framework.get_placeholders(tf.get_default_graph()) == [x]
      True
    """
    if not isinstance(graph, Graph):
        raise TypeError("Input graph needs to be a Graph: %s" % graph)
    return [made.outputs[0] for made in graph.get_operations() if made.type == "Placeholder"]


def reduce_sum_n(tensors: List[Any], name: Optional[str] = None) -> Tensor:
    """Returns the sum of all elements of several tensors.

    Args:
      tensors: The tensors, of one dtype.
      name: A name for the operations.

    Raises:
      ValueError: There are none.

    Example:
      >>> print(tf.Session().run(tf.contrib.framework.reduce_sum_n([tf.constant([1, 2]), tf.constant(3)])))
      6
    """
    if not tensors:
        raise ValueError("No tensors provided.")
    with name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [op("Sum")(t, math_ops.range(array_ops.rank(t)), name="%s/sum" % t.op.name) for t in tensors]
        return sums[0] if len(sums) == 1 else math_ops.add_n(sums, name=scope)


def remove_squeezable_dimensions(predictions: Any, labels: Any, name: Optional[str] = None) -> Tuple[Tensor, Tensor]:
    """Returns predictions and labels of one rank: a last axis of size 1 that only one of them has is removed.

    Args:
      predictions: A tensor.
      labels: A tensor.
      name: A name for the operations.

    Example:
      >>> x, y = tf.contrib.framework.remove_squeezable_dimensions(tf.ones([3, 1]), tf.ones([3]))
      >>> x.shape.as_list(), y.shape.as_list()
      ([3], [3])
    """
    with name_scope(name, "remove_squeezable_dimensions", [predictions, labels]):
        x, y = convert_to_tensor(predictions), convert_to_tensor(labels)
        n, m = x.get_shape().ndims, y.get_shape().ndims
        if n is not None and m is not None:
            return (array_ops.squeeze(x, [-1]) if n == m + 1 else x), (array_ops.squeeze(y, [-1]) if m == n + 1 else y)
        more = array_ops.rank(x) - array_ops.rank(y)

        def squeezed(t: Any, rank: Any, by: int) -> Any:
            if rank is not None and not t.get_shape().dims[-1].is_compatible_with(1):
                return t
            return control_flow.cond(math_ops.equal(by, more), lambda: array_ops.squeeze(t, [-1]), lambda: t)

        return squeezed(x, n, 1), squeezed(y, m, -1)


def assert_or_get_global_step(graph: Optional[Graph] = None, global_step_tensor: Any = None) -> Any:
    """Returns a global step after a check of its dtype and shape; by default that of the graph.

    Args:
      graph: The graph; by default the default graph.
      global_step_tensor: The step, or None.

    Example:
      >>> step = tf.train.create_global_step()
      >>> tf.contrib.framework.assert_or_get_global_step() is step
      True
    """
    if global_step_tensor is None:
        return training_util.get_global_step(graph)
    training_util.assert_global_step(global_step_tensor)
    return global_step_tensor
