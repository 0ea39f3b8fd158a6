"""Private names of TensorFlow that programs use all the same, tests and tools above all.

Examples are `op._control_outputs`, `graph._nodes_by_name` and `session._make_callable_from_options`. They
report the engine's state; none of them changes a graph.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List

from millstream import framework
from millstream._engine import Operation, Tensor
from millstream.framework.session import BaseSession

class _Reference:
    """A tensor or variable as a key: equal to other references to it."""

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def deref(self) -> Any:
        """Returns the tensor or variable."""
        return self._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, _Reference) and self._wrapped is other._wrapped

    def __repr__(self) -> str:
        return "<_Reference wrapping %r>" % (self._wrapped,)


def experimental_ref(self: Any) -> _Reference:
    """Returns a key for sets and dicts, equal only to other references to this tensor or variable.

    Returns:
      An object whose `deref()` returns the tensor or variable.

    Example:
      >>> x = tf.constant(1)
      >>> {x.experimental_ref(): "one"}[x.experimental_ref()]
      'one'
    """
    return _Reference(self)


def _control_outputs(op: Any) -> List[Operation]:
    return [o for o in op.graph.get_operations() if op in o.control_inputs]


def _nodes_by_name(graph: Any) -> Dict[str, Operation]:
    return {o.name: o for o in graph.get_operations()}


def _nodes_by_id(graph: Any) -> Dict[int, Operation]:
    return {o._id: o for o in graph.get_operations()}


def _make_callable_from_options(session: Any, callable_options: Any) -> Callable[..., List[Any]]:
    """Returns a function from the values of `feed` to those of `fetch` that runs `target`, as in
    `CallableOptions`.
    """
    graph = session.graph
    fetches = [graph.as_graph_element(name) for name in callable_options.fetch]
    targets = [graph.as_graph_element(name) for name in callable_options.target]
    call = session.make_callable([fetches, targets], list(callable_options.feed), accept_options=True)
    run_options = callable_options.run_options if callable_options.HasField("run_options") else None

    def function(*values: Any, **kwargs: Any) -> List[Any]:
        return call(*values, options=run_options, run_metadata=kwargs.get("run_metadata"))[0]

    return function


def same(getter: Callable[[Any], Any], doc: str) -> property:
    """Returns a property for a name that the class lacks."""
    return property(getter, doc=doc)


def install() -> None:
    """Adds these names to the classes."""
    operation: Any = Operation
    operation._control_outputs = same(_control_outputs, "What runs after it because of control edges.")
    operation._control_inputs = same(lambda op: op.control_inputs, "What runs before it because of control edges.")
    operation._outputs = same(lambda op: op.outputs, "Its values.")
    operation._id_value = same(lambda op: op._id, "Its number in the graph.")
    operation._graph = same(lambda op: op.graph, "Its graph.")
    operation._op_def = same(lambda op: op.op_def, "What its op takes and gives.")
    operation._is_stateful = same(lambda op: op.op_def.is_stateful, "Whether its op keeps something between runs.")
    operation._input_types = same(lambda op: [t.dtype for t in op.inputs], "The dtypes of what it takes.")
    operation._output_types = same(lambda op: [t.dtype.as_datatype_enum for t in op.outputs], "The dtypes of what it gives, as numbers.")
    tensor: Any = Tensor
    tensor._id = same(hash, "A number that no other tensor of this graph has.")
    tensor._shape = same(lambda t: t.shape, "What is known of its shape.")
    tensor._shape_tuple = lambda t: None if t.shape.ndims is None else tuple(t.shape.as_list())
    tensor._dtype = same(lambda t: t.dtype, "Its dtype.")
    tensor._value_index = same(lambda t: t.value_index, "Which of its operation's values it is.")
    graph: Any = framework.Graph
    graph._nodes_by_name = same(_nodes_by_name, "Its operations by name.")
    graph._nodes_by_id = same(_nodes_by_id, "Its operations by number.")
    graph._last_id = same(lambda g: g.version, "How many operations there are.")
    graph._control_flow_context = same(lambda g: g._get_control_flow_context(), "The loop or branch that is open.")
    session: Any = BaseSession
    session._make_callable_from_options = _make_callable_from_options
    session._graph = same(lambda s: s.graph, "Its graph.")
    session._extend_graph = lambda s: None
    sparse: Any = framework.SparseTensor
    sparse.consumers = consumers
    tensor.experimental_ref = experimental_ref


def consumers(self: Any) -> List[Operation]:
    """Returns the operations that take one of its parts as input.

    Returns:
      A list of distinct operations.

    Example:
      >>> s = tf.SparseTensor([[0]], [1.0], [2])
      >>> ([op.name for op in s.consumers()], tf.identity(s.values, name="same") is None,
      ...  [op.name for op in s.consumers()])
      ([], False, ['same'])
    """
    found: List[Operation] = []
    for part in (self.values, self.indices, self.dense_shape):
        found.extend(op for op in part.consumers() if op not in found)
    return found
