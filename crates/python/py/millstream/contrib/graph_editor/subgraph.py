"""`SubGraphView`: a list of operations, and the tensors at their boundary."""

from __future__ import annotations

import copy
from typing import Any, Iterable, List

from millstream._engine import Operation, Tensor
from millstream.contrib.graph_editor import select, util
from millstream.framework.graph import Graph


def _indices(items: Iterable[Any], ts: List[Tensor], repetition: bool) -> List[int]:
    """Returns indices: items that are tensors are looked up."""
    found = [item if isinstance(item, int) else ts.index(item) for item in items]
    for i in found:
        if not 0 <= i < len(ts):
            raise ValueError("Out of [0, {}[ range: {}".format(len(ts), i))
    if not repetition and len(set(found)) != len(found):
        raise ValueError("Found repetition in mapping: {}".format(found))
    return found


class SubGraphView:
    """A view of operations of a graph: its inputs are tensors from outside, its outputs are used outside.

    Both lists can be reordered and cut by the methods `remap..`, which return a new view. A passthrough is a
    tensor that is an input and an output.

    Args:
      inside_ops: The operations, or a graph.
      passthrough_ts: Tensors that pass through; those at the boundary of the operations are left out.

    Example:
      >>> x = tf.constant(1.0, name="x")
      >>> y = tf.exp(tf.negative(x, name="minus"), name="y")
      >>> view = tf.contrib.graph_editor.SubGraphView([y.op, y.op.inputs[0].op])
      >>> list(view.inputs) == [x], list(view.outputs) == [y], view.graph is x.graph, view.ops[0] is view.op(0)
      (True, True, True, True)
      >>> view.find_op_by_name("minus").type, view.input_index(x), view.output_index(y)
      ('Neg', 0, 0)
      >>> view.connected_inputs == [x], view.connected_outputs == [y], list(view.passthroughs)
      (True, True, [])
      >>> view.is_passthrough(x), view.consumers()
      (False, [])
      >>> list(view.remap([], [y, y]).outputs) == [y, y], len(view.remap_inputs([]).inputs)
      (True, 0)
      >>> len(view.remap_outputs([0, 0]).remap_outputs_make_unique().outputs)
      1
      >>> len(view.remap_outputs_to_consumers().outputs), len(view.remove_unused_ops().ops)
      (0, 2)
      >>> len(view.remap_default().copy().outputs)
      1
    """

    def __init__(self, inside_ops: Any = (), passthrough_ts: Any = ()) -> None:
        ops, ts = util.make_list_of_op(inside_ops), util.make_list_of_t(passthrough_ts)
        self._graph = util.get_unique_graph([*ops, *ts], none_if_empty=True)
        inputs, outputs, insides = select.compute_boundary_ts(ops)
        at_boundary = {*inputs, *outputs, *insides}
        self._ops = ops
        self._passthrough_ts = [t for t in ts if t not in at_boundary]
        self._input_ts = inputs + self._passthrough_ts
        self._output_ts = outputs + self._passthrough_ts

    def __copy__(self) -> SubGraphView:
        made = type(self).__new__(type(self))
        made.__dict__.update({key: list(value) if isinstance(value, list) else value for key, value in self.__dict__.items()})
        return made

    def _assign_from(self, other: Any) -> None:
        if not isinstance(other, SubGraphView):
            raise TypeError("Expected SubGraphView, got: {}".format(type(other)))
        self.__dict__.update(copy.copy(other).__dict__)

    def copy(self) -> SubGraphView:
        """Returns a copy of the view."""
        return copy.copy(self)

    def remap_default(self, remove_input_map: bool = True, remove_output_map: bool = True) -> SubGraphView:
        """Returns a view whose inputs and outputs are those of a new one.

        Args:
          remove_input_map: Whether the inputs are.
          remove_output_map: Whether the outputs are.
        """
        made = self.copy()
        inputs, outputs, _ = select.compute_boundary_ts(self._ops)
        if remove_input_map:
            made._input_ts = inputs + self._passthrough_ts
        if remove_output_map:
            made._output_ts = outputs + self._passthrough_ts
        return made

    def remap_outputs_make_unique(self) -> SubGraphView:
        """Returns a view with every output once."""
        made = self.copy()
        made._output_ts = util.concatenate_unique([], self._output_ts)
        return made

    def remap_outputs_to_consumers(self) -> SubGraphView:
        """Returns a view with every output as often as operations take it."""
        made = self.copy()
        made._output_ts = [t for t in util.concatenate_unique([], self._output_ts) for _ in t.consumers()]
        return made

    def remove_unused_ops(self, control_inputs: bool = True) -> SubGraphView:
        """Returns a view without the operations that no input reaches and no output needs.

        Args:
          control_inputs: Whether control inputs count.
        """
        made = self.copy()
        used = set(select.get_walks_union_ops(self.connected_inputs, self.connected_outputs, within_ops=self._ops, control_inputs=control_inputs))
        made._ops = [op for op in self._ops if op in used]
        return made

    def remap_inputs(self, new_input_indices: Iterable[Any]) -> SubGraphView:
        """Returns a view with some of the inputs, in another order.

        Args:
          new_input_indices: Their indices, or the tensors; none twice.
        """
        made = self.copy()
        made._input_ts = [self._input_ts[i] for i in _indices(new_input_indices, self._input_ts, repetition=False)]
        return made

    def remap_outputs(self, new_output_indices: Iterable[Any]) -> SubGraphView:
        """Returns a view with some of the outputs, in another order.

        Args:
          new_output_indices: Their indices, or the tensors.
        """
        made = self.copy()
        made._output_ts = [self._output_ts[i] for i in _indices(new_output_indices, self._output_ts, repetition=True)]
        return made

    def remap(self, new_input_indices: Any = None, new_output_indices: Any = None) -> SubGraphView:
        """Returns a view with some of the inputs and outputs, in another order.

        Args:
          new_input_indices: Indices of inputs, or tensors; None for all.
          new_output_indices: Indices of outputs, or tensors; None for all.
        """
        made = self if new_input_indices is None else self.remap_inputs(new_input_indices)
        return made.copy() if new_output_indices is None else made.remap_outputs(new_output_indices)

    def find_op_by_name(self, op_name: str) -> Operation:
        """Returns the operation of this name.

        Args:
          op_name: The name.

        Raises:
          ValueError: The view has no such operation.
        """
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError("{} not in subgraph.".format(op_name))

    def __str__(self) -> str:
        if not self:
            return "SubGraphView: empty"
        lines = ["SubGraphView (graphid={}):".format(id(self.graph))]
        for title, items in (("ops", self._ops), ("inputs", self._input_ts), ("outputs", self._output_ts)):
            lines.append("** {}[{}]:".format(title, len(items)) if items else "** {}: empty".format(title))
            lines += ["  " + item.name + (" *" if item in self._passthrough_ts else "") for item in items]  # type: ignore[attr-defined]
        return "\n".join(lines) + "\n"

    @property
    def graph(self) -> Any:
        """The graph, or None if the view is empty."""
        return self._graph

    @property
    def ops(self) -> List[Operation]:
        """The operations."""
        return self._ops

    @property
    def inputs(self) -> util.ListView:
        """The inputs."""
        return util.ListView(self._input_ts)

    @property
    def connected_inputs(self) -> List[Tensor]:
        """The inputs that an operation of the view takes."""
        return [t for t in self._input_ts if t not in self._passthrough_ts]

    @property
    def outputs(self) -> util.ListView:
        """The outputs."""
        return util.ListView(self._output_ts)

    @property
    def connected_outputs(self) -> List[Tensor]:
        """The outputs that an operation of the view computes."""
        return [t for t in self._output_ts if t not in self._passthrough_ts]

    @property
    def passthroughs(self) -> util.ListView:
        """The tensors that pass through."""
        return util.ListView(self._passthrough_ts)

    def __bool__(self) -> bool:
        return self._graph is not None

    def op(self, op_id: int) -> Operation:
        """Returns an operation by its index.

        Args:
          op_id: The index.
        """
        return self._ops[op_id]

    def is_passthrough(self, t: Tensor) -> bool:
        """Returns whether a tensor passes through.

        Args:
          t: A tensor.
        """
        return t in self._passthrough_ts

    def __enter__(self) -> SubGraphView:
        return self

    def __exit__(self, *error: Any) -> None:
        pass

    def input_index(self, t: Tensor) -> int:
        """Returns the index of an input.

        Args:
          t: A tensor.

        Raises:
          ValueError: The tensor is not an input.
        """
        if t not in self._input_ts:
            raise ValueError("Can't find {} in inputs of subgraph.".format(t.name))
        return self._input_ts.index(t)

    def output_index(self, t: Tensor) -> int:
        """Returns the index of an output.

        Args:
          t: A tensor.

        Raises:
          ValueError: The tensor is not an output.
        """
        if t not in self._output_ts:
            raise ValueError("Can't find {} in outputs of subgraph.".format(t.name))
        return self._output_ts.index(t)

    def consumers(self) -> List[Operation]:
        """Returns the operations outside that take an output, each once."""
        inside = set(self._ops)
        return util.concatenate_unique([], [op for t in self._output_ts for op in t.consumers() if op not in inside])


def _check_graph(view: SubGraphView, graph: Any) -> SubGraphView:
    if graph is None or not view.graph:
        return view
    if not isinstance(graph, Graph):
        raise TypeError("Expected a tf.Graph, got: {}".format(type(graph)))
    if view.graph is not graph:
        raise ValueError("Graph mismatch.")
    return view


def make_view(*args: Any, **kwargs: Any) -> SubGraphView:
    """Returns a view of operations and tensors.

    Args:
      *args: A view, which is returned; or operations, tensors that pass through, lists of them, and regular
        expressions of names: of operations, unless they start with `(?#ts)`.
      **kwargs: `graph`, in which expressions are looked up, and which others must be of; `positive_filter`, a
        function that keeps an item.

    Raises:
      TypeError: `graph` is not a graph.
      ValueError: An argument is of another graph.

    Example:
      >>> x = tf.constant(1.0, name="a/x")
      >>> tf.contrib.graph_editor.sgv("^a/", graph=x.graph).ops == [x.op]
      True
    """
    graph = kwargs.get("graph")
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return _check_graph(args[0], graph)
    ops, ts = select.select_ops_and_ts(*args, **kwargs)
    return _check_graph(SubGraphView(ops, ts), graph)


def make_view_from_scope(scope: str, graph: Graph) -> SubGraphView:
    """Returns a view of the operations in a name scope.

    Args:
      scope: The scope.
      graph: The graph.

    Example:
      >>> x = tf.constant(1.0, name="a/x")
      >>> tf.contrib.graph_editor.sgv_scope("a", x.graph).ops == [x.op]
      True
    """
    return SubGraphView(select.get_name_scope_ops(graph, scope))
