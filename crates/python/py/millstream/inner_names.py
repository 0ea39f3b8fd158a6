"""Names that TensorFlow does not promise and that programs use all the same, tests and tools above all: `op._control_outputs`,
`graph._nodes_by_name`, `session._make_callable_from_options`. They tell what the engine knows; none of them changes a graph.
"""

from __future__ import annotations

import enum
from typing import Any, Callable, Dict, List

from millstream import framework, variables
from millstream._engine import Operation, Tensor
from millstream.session import BaseSession

__all__ = ["VariableAggregation", "VariableSynchronization"]


class VariableSynchronization(enum.Enum):
    """When the copies of a variable are brought together: there is one copy, whatever is said.

    Example:
      >>> tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ).synchronization.name
      'AUTO'
    """

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How the copies of a variable are brought together: there is one copy, whatever is said.

    Example:
      >>> tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN).aggregation.name
      'NONE'
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3


class _Reference:
    """A tensor or variable as a key: equal to other references to it."""

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def deref(self) -> Any:
        """What is referred to."""
        return self._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, _Reference) and self._wrapped is other._wrapped

    def __repr__(self) -> str:
        return "<_Reference wrapping %r>" % (self._wrapped,)


def experimental_ref(self: Any) -> _Reference:
    """A key for sets and dictionaries: equal to all other references to this, and to nothing else.

    Returns:
      An object whose `deref()` gives this back.

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
    """A function of the values of `feed` that runs `target` and gives the values of `fetch`, as `CallableOptions` name them."""
    graph = session.graph
    fetches = [graph.as_graph_element(name) for name in callable_options.fetch]
    targets = [graph.as_graph_element(name) for name in callable_options.target]
    call = session.make_callable([fetches, targets], list(callable_options.feed), accept_options=True)
    run_options = callable_options.run_options if callable_options.HasField("run_options") else None

    def function(*values: Any, **kwargs: Any) -> List[Any]:
        return call(*values, options=run_options, run_metadata=kwargs.get("run_metadata"))[0]

    return function


_SYNCHRONIZATION = """When its copies are brought together: there is one copy.

Example:
  >>> tf.Variable(1.0).synchronization.name
  'AUTO'
"""
_AGGREGATION = """How its copies are brought together: there is one copy.

Example:
  >>> tf.Variable(1.0).aggregation.name
  'NONE'
"""


def _same(getter: Callable[[Any], Any], doc: str) -> property:
    return property(getter, doc=doc)


def install() -> None:
    """Gives the classes these names."""
    operation: Any = Operation
    operation._control_outputs = _same(_control_outputs, "What runs after it because of control edges.")
    operation._control_inputs = _same(lambda op: op.control_inputs, "What runs before it because of control edges.")
    operation._outputs = _same(lambda op: op.outputs, "Its values.")
    operation._id_value = _same(lambda op: op._id, "Its number in the graph.")
    operation._graph = _same(lambda op: op.graph, "Its graph.")
    operation._op_def = _same(lambda op: op.op_def, "What its op takes and gives.")
    operation._is_stateful = _same(lambda op: op.op_def.is_stateful, "Whether its op keeps something between runs.")
    operation._input_types = _same(lambda op: [t.dtype for t in op.inputs], "The dtypes of what it takes.")
    operation._output_types = _same(lambda op: [t.dtype.as_datatype_enum for t in op.outputs], "The dtypes of what it gives, as numbers.")
    tensor: Any = Tensor
    tensor._id = _same(hash, "A number that no other tensor of this graph has.")
    tensor._shape = _same(lambda t: t.shape, "What is known of its shape.")
    tensor._shape_tuple = lambda t: None if t.shape.ndims is None else tuple(t.shape.as_list())
    tensor._dtype = _same(lambda t: t.dtype, "Its dtype.")
    tensor._value_index = _same(lambda t: t.value_index, "Which of its operation's values it is.")
    graph: Any = framework.Graph
    graph._nodes_by_name = _same(_nodes_by_name, "Its operations by name.")
    graph._nodes_by_id = _same(_nodes_by_id, "Its operations by number.")
    graph._last_id = _same(lambda g: g.version, "How many operations there are.")
    graph._control_flow_context = _same(lambda g: g._get_control_flow_context(), "The loop or branch that is open.")
    session: Any = BaseSession
    session._make_callable_from_options = _make_callable_from_options
    session._graph = _same(lambda s: s.graph, "Its graph.")
    session._extend_graph = lambda s: None
    variable: Any = variables.Variable
    variable.synchronization = _same(lambda v: VariableSynchronization.AUTO, _SYNCHRONIZATION)
    variable.aggregation = _same(lambda v: VariableAggregation.NONE, _AGGREGATION)
    variable._initializer_op = _same(lambda v: v.initializer, "What gives it its first value.")
    sparse: Any = framework.SparseTensor
    sparse.consumers = consumers
    for kind in (tensor, variable):
        kind.experimental_ref = experimental_ref


def consumers(self: Any) -> List[Operation]:
    """The operations that take a part of it.

    Returns:
      A list of operations, none of them twice.

    Example:
      >>> s = tf.SparseTensor([[0]], [1.0], [2])
      >>> [op.name for op in s.consumers()], tf.identity(s.values, name="same") is None, [op.name for op in s.consumers()]
      ([], False, ['same'])
    """
    found: List[Operation] = []
    for part in (self.values, self.indices, self.dense_shape):
        found.extend(op for op in part.consumers() if op not in found)
    return found
