"""Views that are connected, detached and bypassed."""

from __future__ import annotations

from typing import Any, List, Tuple

from millstream._engine import Tensor
from millstream.contrib.graph_editor import reroute, select, subgraph, util
from millstream.framework.conversion import placeholder


def detach_control_inputs(sgv: Any) -> None:
    """Removes the control inputs of a view's operations that are outside of the view.

    Args:
      sgv: A view, or what `sgv` takes.

    Example:
      >>> a = tf.no_op()
      >>> with tf.control_dependencies([a]):
      ...     b = tf.no_op()
      >>> tf.contrib.graph_editor.detach_control_inputs(b)
      >>> b.control_inputs
      []
    """
    sgv = subgraph.make_view(sgv)
    for op in sgv.ops:
        reroute.remove_control_inputs(op, [before for before in op.control_inputs if before not in sgv.ops])


def detach_control_outputs(sgv: Any, control_outputs: util.ControlOutputs) -> None:
    """Removes the control edges from a view's operations to operations outside.

    Args:
      sgv: A view, or what `sgv` takes.
      control_outputs: The control outputs of the graph.

    Raises:
      TypeError: `control_outputs` is not a `ControlOutputs`.

    Example:
      >>> a = tf.no_op()
      >>> with tf.control_dependencies([a]):
      ...     b = tf.no_op()
      >>> tf.contrib.graph_editor.detach_control_outputs(a, tf.contrib.graph_editor.ControlOutputs(a.graph))
      >>> b.control_inputs
      []
    """
    if not isinstance(control_outputs, util.ControlOutputs):
        raise TypeError("Expected a util.ControlOutputs, got: {}".format(type(control_outputs)))
    control_outputs.update()
    sgv = subgraph.make_view(sgv)
    for op in sgv.ops:
        for after in control_outputs.get(op):
            if after not in sgv.ops:
                reroute.remove_control_inputs(after, op)


def detach_inputs(sgv: Any, control_inputs: bool = False) -> Tuple[Any, List[Tensor]]:
    """Replaces the inputs of a view by placeholders, and returns the view and the placeholders.

    Args:
      sgv: A view, or what `sgv` takes.
      control_inputs: Whether control inputs from outside are removed, too.

    Example:
      >>> y = tf.negative(tf.constant(1, name="x"))
      >>> view, placeholders = tf.contrib.graph_editor.detach_inputs(y.op)
      >>> print(placeholders[0].name, tf.Session().run(y, {placeholders[0]: 5}))
      geph__x_0:0 -5
    """
    sgv = subgraph.make_view(sgv)
    with sgv.graph.as_default():
        placeholders = [placeholder(dtype=t.dtype, name=util.placeholder_name(t)) for t in sgv.inputs]
    reroute.swap_inputs(sgv, placeholders)
    if control_inputs:
        detach_control_inputs(sgv)
    return sgv, placeholders


def detach_outputs(sgv: Any, control_outputs: Any = None) -> Tuple[Any, List[Tensor]]:
    """Gives the consumers of a view's outputs placeholders instead, and returns the view and the
    placeholders.

    Args:
      sgv: A view, or what `sgv` takes.
      control_outputs: The control outputs of the graph, if those to operations outside are removed, too.

    Example:
      >>> x = tf.constant(1, name="x")
      >>> y = tf.negative(x)
      >>> view, placeholders = tf.contrib.graph_editor.detach_outputs(x.op)
      >>> print(tf.Session().run(y, {placeholders[0]: 5}))
      -5
    """
    sgv = subgraph.make_view(sgv)
    used = sgv.remap_outputs([i for i, t in enumerate(sgv.outputs) if t.consumers()])
    after = subgraph.SubGraphView(used.consumers())
    after = after.remap_inputs([i for i, t in enumerate(after.inputs) if t in used.outputs])
    with used.graph.as_default():
        placeholders = [util.make_placeholder_from_tensor(t) for t in after.inputs]
    reroute.swap_outputs(used, placeholders)
    if control_outputs is not None:
        detach_control_outputs(used, control_outputs)
    return used, placeholders


def detach(sgv: Any, control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None) -> Tuple[Any, List[Tensor], List[Tensor]]:
    """Replaces the inputs and outputs of a view by placeholders.

    Args:
      sgv: A view, or what `sgv` takes.
      control_inputs: Whether control inputs from outside are removed, too.
      control_outputs: The control outputs of the graph, if those to operations outside are removed, too.
      control_ios: A `ControlOutputs` instead, if both are removed.

    Returns:
      The view, and the placeholders of its inputs and outputs.

    Example:
      >>> y = tf.negative(tf.constant(1, name="x"), name="y")
      >>> z = tf.abs(y)
      >>> _, before, after = tf.contrib.graph_editor.detach(y.op)
      >>> before[0].name, after[0].name
      ('geph__x_0:0', 'geph__y_0:0')
    """
    control_inputs, control_outputs = select.check_cios(control_inputs, control_outputs, control_ios)
    _, before = detach_inputs(sgv, control_inputs)
    _, after = detach_outputs(sgv, control_outputs)
    return sgv, before, after


def connect(sgv0: Any, sgv1: Any, disconnect_first: bool = False) -> Tuple[Any, Any]:
    """Gives the second view the outputs of the first as inputs, and returns the views.

    Args:
      sgv0: A view, or what `sgv` takes.
      sgv1: Another, with as many inputs as the first has outputs.
      disconnect_first: Whether the consumers of the first view's outputs get placeholders instead.

    Example:
      >>> x = tf.constant(1)
      >>> y = tf.negative(tf.placeholder(tf.int32, []))
      >>> views = tf.contrib.graph_editor.connect(x.op, y.op)
      >>> print(tf.Session().run(y))
      -1
    """
    sgv0, sgv1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    util.check_graphs(sgv0, sgv1)
    if disconnect_first:
        detach_outputs(sgv0)
    reroute.reroute_inputs(subgraph.SubGraphView(passthrough_ts=sgv0.outputs), sgv1)
    return sgv0, sgv1


def bypass(sgv: Any) -> Tuple[Any, List[Tensor]]:
    """Connects the consumers of a view's outputs to its inputs, and returns the view and its new inputs.

    Args:
      sgv: A view, or what `sgv` takes, with as many inputs as outputs.

    Example:
      >>> y = tf.negative(tf.constant(1))
      >>> z = tf.identity(y)
      >>> view, placeholders = tf.contrib.graph_editor.bypass(y.op)
      >>> print(tf.Session().run(z))
      1
    """
    sgv = subgraph.make_view(sgv)
    inputs = list(sgv.inputs)
    sgv, placeholders = detach_inputs(sgv)
    reroute.reroute_ts(inputs, sgv.outputs)
    return sgv, placeholders
