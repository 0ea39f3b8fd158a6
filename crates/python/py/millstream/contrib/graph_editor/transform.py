"""Copies of operations: in another graph or scope, with other inputs, or changed by handlers."""

from __future__ import annotations

import copy as copying
from typing import Any, Callable, Dict, List, Optional, Tuple

from millstream._engine import Operation, Tensor
from millstream.contrib.graph_editor import reroute, select, subgraph, util
from millstream.framework.graph import Graph


def replace_t_with_placeholder_handler(info: Any, t: Tensor) -> Tensor:
    """Returns a placeholder for a tensor, in the graph and scope of the copy.

    Args:
      info: What a `Transformer` gives its handlers.
      t: A tensor of the original graph.

    Example:
      >>> tf.contrib.graph_editor.Transformer().transform_external_input_handler.__name__
      'replace_t_with_placeholder_handler'
    """
    with info.graph_.as_default():
        return util.make_placeholder_from_tensor(t, scope=info.scope_)


def keep_t_if_possible_handler(info: Any, t: Tensor) -> Tensor:
    """Returns the tensor itself if the copy is in its graph; otherwise a placeholder.

    Args:
      info: What a `Transformer` gives its handlers.
      t: A tensor of the original graph.

    Example:
      >>> tf.contrib.graph_editor.Transformer().transform_external_hidden_input_handler.__name__
      'keep_t_if_possible_handler'
    """
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


def assign_renamed_collections_handler(info: Any, elem: Any, elem_: Any) -> None:
    """Adds a copy to the collections of the original. Collections of the program are renamed as operations
    are.

    Args:
      info: What a `Transformer` gives its handlers.
      elem: The original: an operation or a tensor.
      elem_: The copy.

    Example:
      >>> tf.contrib.graph_editor.Transformer().assign_collections_handler.__name__
      'assign_renamed_collections_handler'
    """
    known = util.get_predefined_collection_names()
    for name, collection in info.collections.items():
        if any(item is elem for item in collection):
            info.graph_.add_to_collection(name if name in known else info.new_name(name), elem_)


def transform_op_if_inside_handler(info: Any, op: Operation, keep_if_possible: bool = True) -> Optional[Operation]:
    """Returns the copy of an operation of the view; the operation itself if it is not copied; otherwise None.

    Args:
      info: What a `Transformer` gives its handlers.
      op: An operation of the original graph.
      keep_if_possible: Whether an operation outside of the view stays, if the copy is in its graph.

    Example:
      >>> tf.contrib.graph_editor.Transformer().transform_control_input_handler.__name__
      'transform_op_if_inside_handler'
    """
    if op in info.ops:
        return info.transformed_ops[op]  # type: ignore[no-any-return]
    return op if keep_if_possible and info.graph is info.graph_ else None


def copy_op_handler(info: Any, op: Operation, new_inputs: Any, copy_shape: bool = False, nodedef_fn: Optional[Callable[[Any], Any]] = None) -> Tuple[Operation, List[Tensor]]:
    """Returns a copy of an operation, and its outputs.

    Args:
      info: What a `Transformer` gives its handlers.
      op: An operation of the original graph.
      new_inputs: The inputs of the copy.
      copy_shape: Whether the outputs get the static shapes of the original's.
      nodedef_fn: A function that changes the `NodeDef` of the copy, and returns it.

    Raises:
      TypeError: `new_inputs` is a bool.

    Example:
      >>> transformer = tf.contrib.graph_editor.Transformer()
      >>> def floats(info, op, new_inputs):
      ...     return tf.contrib.graph_editor.copy_op_handler(info, op, new_inputs, copy_shape=True)
      >>> transformer.transform_op_handler = floats
      >>> x = tf.constant(1.0, name="x")
      >>> view, info = transformer(x.op, x.graph, "copy")
      >>> info.transformed(x).name
      'copy/x:0'
    """
    if isinstance(new_inputs, bool):
        raise TypeError("the `new_inputs` argument must be an iterable.")
    node = copying.deepcopy(op.node_def)
    node.name = info.graph_.unique_name(info.new_name(op.name))
    if nodedef_fn is not None:
        node = nodedef_fn(node)
    graph = info.graph_
    if op.type in ("Enter", "RefEnter") and graph is info.graph:
        # Two loops in one frame would be one. The original's frame is named after its loop.
        frame = op.get_attr("frame_name")
        node.attr["frame_name"].s = info.frames.setdefault(frame, graph.unique_name(info.scope_ + frame.decode())).encode()
    # The slash says that the name is whole. The copy has the control inputs and the device of the original
    # alone.
    with graph.as_default(), graph.control_dependencies(None), graph.device(None):
        made = graph.create_op(node.op, list(new_inputs), name=node.name + "/", attrs=dict(node.attr))
    if node.device:
        made._set_device(node.device)
    if op.type in ("Exit", "RefExit"):
        graph._loops_without_gradients = [*getattr(graph, "_loops_without_gradients", ()), made]
    for t, t_ in zip(op.outputs, made.outputs) if copy_shape else ():
        t_.set_shape(t.get_shape())
    original = getattr(op, "_original_op", None)
    if original is not None:
        made._original_op = original  # type: ignore[attr-defined]
    return made, made.outputs


class TransformerInfo:
    """The result of a transformation: which copy belongs to which original.

    Args:
      info: What the `Transformer` gave its handlers.

    Example:
      >>> x = tf.constant(1.0, name="x")
      >>> view, info = tf.contrib.graph_editor.copy(x.op, dst_scope="copy")
      >>> info.transformed([x]) == [view.outputs[0]], info.original(view.outputs[0]) == x
      (True, True)
    """

    def __init__(self, info: Any) -> None:
        self._graph, self._scope = info.graph, info.scope
        self._graph_, self._scope_ = info.graph_, info.scope_
        self._transformed_ops: Dict[Operation, Operation] = info.transformed_ops
        self._transformed_ts: Dict[Tensor, Tensor] = info.transformed_ts

    def _map(self, top: Any) -> Dict[Any, Any]:
        if isinstance(top, Operation):
            return self._transformed_ops
        if isinstance(top, Tensor):
            return self._transformed_ts
        raise TypeError("Expected a tf.Tensor or a tf.Operation, got a {}".format(type(top)))

    def transformed(self, original: Any, missing_fn: Optional[Callable[[Any], Any]] = None) -> Any:
        """Returns the copies of originals.

        Args:
          original: Nested tensors and operations.
          missing_fn: A function of an original that has no copy; None is returned for it by default.
        """

        def copy_of(top: Any) -> Any:
            made = self._map(top).get(top)
            return missing_fn(top) if made is None and missing_fn is not None else made

        return util.transform_tree(original, copy_of)

    def original(self, transformed: Any, missing_fn: Optional[Callable[[Any], Any]] = None) -> Any:
        """Returns the originals of copies.

        Args:
          transformed: Nested tensors and operations.
          missing_fn: A function of a tensor or operation that is no copy; None is returned for it by default.
        """

        def original_of(top: Any) -> Any:
            for original, made in self._map(top).items():
                if made is top or made == top:
                    return original
            return None if missing_fn is None else missing_fn(top)

        return util.transform_tree(transformed, original_of)

    def __str__(self) -> str:
        lines = ["Transform result info:"]
        if self._graph is self._graph_:
            lines.append("  Within graph[{}]{}".format(id(self._graph), "" if self._scope_ else " IN-PLACE"))
        else:
            lines.append("  graph[{}] => graph[{}]".format(id(self._graph), id(self._graph_)))
        if self._scope:
            lines.append("  Relative to source scope: {}".format(self._scope))
        if self._scope_:
            lines.append("  Scope destination: {}".format(self._scope_))
        lines.append("Operations mapping:")
        lines += ["  {} => {}".format(op.name, made.name) for op, made in self._transformed_ops.items()]
        return "\n".join(lines) + "\n"


class _Work:
    """What a transformation has done so far. Names without `_` at their end are of the original."""

    def __init__(self, sgv: subgraph.SubGraphView, dst_graph: Graph, dst_scope: str, src_scope: str) -> None:
        self.sgv = sgv
        self.sgv_inputs_set = frozenset(sgv.inputs)
        self.ops = frozenset(sgv.ops)
        self.control_outputs = util.ControlOutputs(sgv.graph)
        self.graph, self.scope = sgv.graph, src_scope
        self.graph_, self.scope_ = dst_graph, dst_scope
        self.transformed_ops: Dict[Operation, Operation] = {}
        self.transformed_ts: Dict[Tensor, Tensor] = {}
        self.frames: Dict[bytes, str] = {}
        self.collections = {key: self.graph.get_collection(key) for key in self.graph.get_all_collection_keys()}
        # Inputs to connect when all operations are copied: the original tensor, a stand-in, the consumer.
        self.tmp_cyclic_ts: List[Tuple[Tensor, Tensor, Operation]] = []

    def new_name(self, name: str) -> str:
        """Returns the name of a copy."""
        if not name.startswith(self.scope):
            raise ValueError("{} does not belong to source scope: {}.".format(name, self.scope))
        return self.scope_ + name[len(self.scope) :]


class Transformer:
    """Copies a view; its attributes are the functions that decide what a copy is.

    `transform_op_handler(info, op, new_inputs)` returns the copy of an operation and its outputs;
    `transform_control_input_handler(info, op)` that of a control input, or None;
    `assign_collections_handler(info, elem, elem_)` adds a copy to collections;
    `transform_external_input_handler(info, t)` returns the copy of an input of the view, and
    `transform_external_hidden_input_handler(info, t)` of an input that was left out of the view's inputs;
    `transform_original_op_handler(info, op)` that of the operation which an operation is a gradient of.

    Example:
      >>> x = tf.constant(1.0, name="x")
      >>> y = tf.negative(x, name="y")
      >>> transformer = tf.contrib.graph_editor.Transformer()
      >>> transformer.transform_external_input_handler = lambda info, t: tf.constant(5.0)
      >>> view, info = transformer(y.op, y.graph, "copy")
      >>> print(tf.Session().run(info.transformed(y)))
      -5.0
    """

    def __init__(self) -> None:
        self.transform_op_handler: Any = copy_op_handler
        self.transform_control_input_handler: Any = transform_op_if_inside_handler
        self.assign_collections_handler: Any = assign_renamed_collections_handler
        self.transform_external_input_handler: Any = replace_t_with_placeholder_handler
        self.transform_external_hidden_input_handler: Any = keep_t_if_possible_handler
        self.transform_original_op_handler: Any = transform_op_if_inside_handler

    def __call__(self, sgv: Any, dst_graph: Graph, dst_scope: str, src_scope: str = "", reuse_dst_scope: bool = False) -> Tuple[subgraph.SubGraphView, TransformerInfo]:
        """Returns the view of the copies, and a `TransformerInfo`.

        Args:
          sgv: A view, or what `sgv` takes.
          dst_graph: The graph of the copies.
          dst_scope: Their scope.
          src_scope: The scope that is removed from names.
          reuse_dst_scope: Whether the copies go into the scope even if there is one of this name.

        Raises:
          TypeError: `dst_graph` is not a graph.
          ValueError: A handler returned the original operation, or an operation is not in `src_scope`.
        """
        sgv = subgraph.make_view(sgv)
        if not isinstance(dst_graph, Graph):
            raise TypeError("Expected a tf.Graph, got: {}".format(type(dst_graph)))
        src_scope, dst_scope = util.scope_finalize(src_scope), util.scope_finalize(dst_scope)
        if dst_scope and not reuse_dst_scope:
            dst_scope = util.scope_finalize(dst_graph.unique_name(dst_scope[:-1]))
        info = _Work(sgv, dst_graph, dst_scope, src_scope)
        self._copy_ops(info)
        self._close_cycles(info)
        self._connect_control_inputs(info)
        return self._view(info), TransformerInfo(info)

    def _copy_ops(self, info: _Work) -> None:
        for op in sorted(info.sgv.ops, key=lambda op: op._id):
            made, outputs = self.transform_op_handler(info, op, [self._input(info, t, op) for t in op.inputs])
            if made is op:
                raise ValueError("In-place transformation not allowed.")
            info.transformed_ops[op] = made
            self.assign_collections_handler(info, op, made)
            for t, t_ in zip(op.outputs, outputs):
                info.transformed_ts[t] = t_
                self.assign_collections_handler(info, t, t_)

    @staticmethod
    def _close_cycles(info: _Work) -> None:
        for t, stand_in, consumer in info.tmp_cyclic_ts:
            if t not in info.transformed_ts:
                raise ValueError("The tensor {} should be transformed by now.".format(t.name))
            made = info.transformed_ops[consumer]
            index = next(i for i, of in reversed(list(enumerate(consumer.inputs))) if of == t)
            made._update_input(index, info.transformed_ts[t])

    def _connect_control_inputs(self, info: _Work) -> None:
        for op in info.sgv.ops:
            made = info.transformed_ops[op]
            of = getattr(op, "_original_op", None)
            original = None if of is None else self.transform_original_op_handler(info, of)
            if original is not None:
                made._original_op = original  # type: ignore[attr-defined]
            controls = [self.transform_control_input_handler(info, before) for before in op.control_inputs]
            reroute.add_control_inputs(made, [before for before in controls if before is not None])

    @staticmethod
    def _view(info: _Work) -> subgraph.SubGraphView:
        view = subgraph.SubGraphView(list(info.transformed_ops.values()))
        maps = []
        for originals, copies in ((info.sgv.inputs, view._input_ts), (info.sgv.outputs, view._output_ts)):
            made = [info.transformed_ts[t] for t in originals if t in info.transformed_ts]
            maps.append([copies.index(t) for t in made if t in copies])
        return view.remap(*maps)

    def _input(self, info: _Work, t: Tensor, consumer: Operation) -> Tensor:
        """Returns the copy of an input, or a stand-in if it is copied later: the graph has a cycle."""
        if t in info.transformed_ts:
            return info.transformed_ts[t]
        if t in info.sgv_inputs_set:
            return self.transform_external_input_handler(info, t)  # type: ignore[no-any-return]
        if t.op not in info.ops:
            return self.transform_external_hidden_input_handler(info, t)  # type: ignore[no-any-return]
        if consumer.type in ("Merge", "RefMerge"):
            stand_in = self._input(info, consumer.inputs[0], consumer)
        elif t.op.type == "Enter":
            stand_in = self._input(info, t.op.inputs[0], consumer)
        else:
            with info.graph_.as_default():
                stand_in = util.make_placeholder_from_tensor(t, scope=info.scope_, prefix="geph_tmp")
        info.tmp_cyclic_ts.append((t, stand_in, consumer))
        return stand_in


def _destination(sgv: Any, dst_graph: Any) -> Tuple[subgraph.SubGraphView, Graph]:
    sgv = subgraph.make_view(sgv)
    dst_graph = sgv.graph if dst_graph is None else dst_graph
    if not isinstance(dst_graph, Graph):
        raise TypeError("Expected a tf.Graph, got: {}".format(type(dst_graph)))
    return sgv, dst_graph


def copy(sgv: Any, dst_graph: Optional[Graph] = None, dst_scope: str = "", src_scope: str = "", reuse_dst_scope: bool = False) -> Tuple[subgraph.SubGraphView, TransformerInfo]:
    """Copies a view, whose inputs become placeholders; returns the view of the copies, and a
    `TransformerInfo`.

    Args:
      sgv: A view, or what `sgv` takes.
      dst_graph: The graph of the copies; by default the same.
      dst_scope: Their scope.
      src_scope: The scope that is removed from names.
      reuse_dst_scope: Whether the copies go into the scope even if there is one of this name.

    Raises:
      TypeError: `dst_graph` is not a graph.

    Example:
      >>> y = tf.negative(tf.constant(1.0, name="x"), name="y")
      >>> other = tf.Graph()
      >>> view, info = tf.contrib.graph_editor.copy(y.op, other)
      >>> print(view.ops[0].inputs[0].name, tf.Session(graph=other).run("y:0", {"geph__x_0:0": 3.0}))
      geph__x_0:0 -3.0
    """
    sgv, dst_graph = _destination(sgv, dst_graph)
    return Transformer()(sgv, dst_graph, dst_scope, src_scope, reuse_dst_scope=reuse_dst_scope)


def copy_with_input_replacements(
    sgv: Any,
    replacement_ts: Dict[Tensor, Tensor],
    dst_graph: Optional[Graph] = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Tuple[subgraph.SubGraphView, TransformerInfo]:
    """Copies a view with other inputs; returns the view of the copies, and a `TransformerInfo`.

    Args:
      sgv: A view, or what `sgv` takes.
      replacement_ts: A dict from inputs to the tensors that replace them. Others stay, or become placeholders
        in another graph.
      dst_graph: The graph of the copies; by default the same.
      dst_scope: Their scope.
      src_scope: The scope that is removed from names.
      reuse_dst_scope: Whether the copies go into the scope even if there is one of this name.

    Raises:
      TypeError: `dst_graph` is not a graph.

    Example:
      >>> x = tf.constant(1.0)
      >>> y = tf.negative(x, name="y")
      >>> view, info = tf.contrib.graph_editor.copy_with_input_replacements(y.op, {x: tf.constant(3.0)}, dst_scope="c")
      >>> print(view.outputs[0].name, tf.Session().run(view.outputs[0]))
      c/y:0 -3.0
    """
    sgv, dst_graph = _destination(sgv, dst_graph)
    copier = Transformer()
    copier.transform_external_input_handler = lambda info, t: replacement_ts[t] if t in replacement_ts else keep_t_if_possible_handler(info, t)
    return copier(sgv, dst_graph, dst_scope, src_scope, reuse_dst_scope=reuse_dst_scope)


def _add_loops(ops: List[Operation], control_ios: util.ControlOutputs) -> None:
    """Adds the whole of every loop that has an operation among `ops`: a part of a loop is no loop."""
    loops = util.concatenate_unique([], [op._control_flow_context for op in ops if op._control_flow_context is not None])
    for loop in loops:
        if loop.IsWhileContext():
            enters, exits = [t.op for t in loop.loop_enters], [t.op for t in loop.loop_exits]
            util.concatenate_unique(ops, select.get_walks_intersection_ops(enters, exits, control_ios=control_ios))


def graph_replace(target_ts: Any, replacement_ts: Dict[Tensor, Tensor], dst_scope: str = "", src_scope: str = "", reuse_dst_scope: bool = False) -> Any:
    """Returns tensors as they would be if others were replaced: the operations between are copied.

    Args:
      target_ts: Nested tensors to compute.
      replacement_ts: A dict from tensors to those that replace them.
      dst_scope: The scope of the copies.
      src_scope: The scope that is removed from names.
      reuse_dst_scope: Whether the copies go into the scope even if there is one of this name.

    Raises:
      ValueError: No target depends on a tensor that is replaced, or a part of a loop would be copied: its
        constants enter it from outside. `tf.gradients` refuses a loop that was copied.

    Example:
      >>> x = tf.constant(2.0)
      >>> y = tf.square(x) + 1.0
      >>> z = tf.contrib.graph_editor.graph_replace(y, {x: tf.constant(3.0)})
      >>> print(*tf.Session().run([y, z]))
      5.0 10.0
    """
    targets = util.flatten_tree(target_ts)
    control_ios = util.ControlOutputs(util.get_unique_graph(targets, check_types=Tensor))
    ops = select.get_walks_intersection_ops(list(replacement_ts), targets, control_ios=control_ios)
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    _add_loops(ops, control_ios)
    _, info = copy_with_input_replacements(ops, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope)
    return info.transformed(target_ts, lambda t: t)
