"""Changes of the inputs and control inputs of operations that are there."""

from __future__ import annotations

from typing import Any, List, Tuple

from millstream._engine import Operation, Tensor
from millstream.contrib.graph_editor import subgraph, util

# Which consumers change: those of the second tensors take the first, and the other way round.
_SWAP, _A_TO_B = (True, True), (True, False)


def _check_compatible(ts0: List[Tensor], ts1: List[Tensor]) -> None:
    if len(ts0) != len(ts1):
        raise ValueError("ts0 and ts1 have different sizes: {} != {}".format(len(ts0), len(ts1)))
    for t0, t1 in zip(ts0, ts1):
        if not t0.dtype.is_compatible_with(t1.dtype):
            raise ValueError("Dtypes {} and {} are not compatible.".format(t0.dtype, t1.dtype))
        if not t0.get_shape().is_compatible_with(t1.get_shape()):
            raise ValueError("Shapes {} and {} are not compatible.".format(t0.get_shape(), t1.get_shape()))


def _reroute_ts(ts0: Any, ts1: Any, mode: Tuple[bool, bool], can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Connects consumers of tensors to others, and returns the number of inputs that changed."""
    ts0, ts1 = util.make_list_of_t(ts0), util.make_list_of_t(ts1)
    _check_compatible(ts0, ts1)
    allowed = None if can_modify is None else set(util.make_list_of_op(can_modify))
    barred = set(util.make_list_of_op(cannot_modify)) if cannot_modify is not None else set()
    # All inputs to change, before the first changes: a tensor may be in both lists.
    changes: List[Tuple[Operation, int, Tensor]] = []
    for t0, t1 in zip(ts0, ts1):
        for of, to, wanted in ((t1, t0, mode[0]), (t0, t1, mode[1])):
            for op in util.concatenate_unique([], of.consumers()) if wanted and t0 is not t1 else []:
                if op not in barred and (allowed is None or op in allowed):
                    changes += [(op, i, to) for i, t in enumerate(op.inputs) if t is of or t == of]
    for op, i, to in changes:
        op._update_input(i, to)
    return len(changes)


def swap_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Exchanges the consumers of two lists of tensors, and returns the number of inputs that changed.

    Args:
      ts0: Tensors.
      ts1: As many others.
      can_modify: The operations that may change, or None for all.
      cannot_modify: Operations that stay as they are.

    Example:
      >>> a, b = tf.constant(1), tf.constant(2)
      >>> y, z = tf.negative(a), tf.identity(b)
      >>> tf.contrib.graph_editor.swap_ts(a, b)
      2
      >>> print(*tf.Session().run([y, z]))
      -2 1
    """
    return _reroute_ts(ts0, ts1, _SWAP, can_modify, cannot_modify)


def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Connects the consumers of `ts1` to `ts0`, and returns the number of inputs that changed.

    Args:
      ts0: The tensors that they take from now on.
      ts1: The tensors that they have taken.
      can_modify: The operations that may change, or None for all.
      cannot_modify: Operations that stay as they are.

    Raises:
      ValueError: The lists differ in length, or two tensors in dtype or shape.

    Example:
      >>> a, b = tf.constant(1), tf.constant(2)
      >>> y = tf.negative(a)
      >>> tf.contrib.graph_editor.reroute_ts(b, a)
      1
      >>> print(tf.Session().run(y))
      -2
    """
    return _reroute_ts(ts0, ts1, _A_TO_B, can_modify, cannot_modify)


def _remap(sgv0: subgraph.SubGraphView, sgv1: subgraph.SubGraphView, mode: Tuple[bool, bool]) -> None:
    """Gives views the inputs that their operations have after a change."""
    new0, new1 = sgv0.copy(), sgv1.copy()
    if mode[0]:
        new1._input_ts, new1._passthrough_ts = list(sgv0._input_ts), list(sgv0._passthrough_ts)
    if mode[1]:
        new0._input_ts, new0._passthrough_ts = list(sgv1._input_ts), list(sgv1._passthrough_ts)
    for changed, of, other in ((mode[0], new1, new0), (mode[1], new0, new1)):
        for i, t in enumerate(of._output_ts):
            if changed and t in other._passthrough_ts:
                of._output_ts[i] = of._input_ts[other._input_ts.index(t)]
    sgv0._assign_from(new0)
    sgv1._assign_from(new1)


def _reroute_inputs(sgv0: Any, sgv1: Any, mode: Tuple[bool, bool]) -> Tuple[Any, Any]:
    sgv0, sgv1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    util.check_graphs(sgv0, sgv1)
    can_modify = sgv0.ops + sgv1.ops + util.get_consuming_ops(sgv0.passthroughs) + util.get_consuming_ops(sgv1.passthroughs)
    _reroute_ts(sgv0.inputs, sgv1.inputs, mode, can_modify=can_modify)
    _remap(sgv0, sgv1, mode)
    return sgv0, sgv1


def _reroute_outputs(sgv0: Any, sgv1: Any, mode: Tuple[bool, bool]) -> Tuple[Any, Any]:
    sgv0, sgv1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    util.check_graphs(sgv0, sgv1)
    _reroute_ts(sgv0.outputs, sgv1.outputs, mode, cannot_modify=sgv0.ops + sgv1.ops)
    return sgv0, sgv1


def swap_inputs(sgv0: Any, sgv1: Any) -> Tuple[Any, Any]:
    """Exchanges the inputs of two views, and returns the views.

    Args:
      sgv0: A view, or what `sgv` takes.
      sgv1: Another.

    Example:
      >>> a, b = tf.constant(1), tf.constant(2)
      >>> y, z = tf.negative(a), tf.identity(b)
      >>> views = tf.contrib.graph_editor.swap_inputs(y.op, z.op)
      >>> print(*tf.Session().run([y, z]))
      -2 1
    """
    return _reroute_inputs(sgv0, sgv1, _SWAP)


def reroute_inputs(sgv0: Any, sgv1: Any) -> Tuple[Any, Any]:
    """Gives the second view the inputs of the first, and returns the views.

    Args:
      sgv0: A view, or what `sgv` takes.
      sgv1: Another.

    Example:
      >>> a, b = tf.constant(1), tf.constant(2)
      >>> y, z = tf.negative(a), tf.identity(b)
      >>> views = tf.contrib.graph_editor.reroute_inputs(y.op, z.op)
      >>> print(*tf.Session().run([y, z]))
      -1 1
    """
    return _reroute_inputs(sgv0, sgv1, _A_TO_B)


def swap_outputs(sgv0: Any, sgv1: Any) -> Tuple[Any, Any]:
    """Exchanges the consumers of two views' outputs, and returns the views.

    Args:
      sgv0: A view, or what `sgv` takes.
      sgv1: Another.

    Example:
      >>> a, b = tf.constant(1), tf.constant(2)
      >>> y, z = tf.negative(a), tf.identity(b)
      >>> views = tf.contrib.graph_editor.swap_outputs(a.op, b.op)
      >>> print(*tf.Session().run([y, z]))
      -2 1
    """
    return _reroute_outputs(sgv0, sgv1, _SWAP)


def reroute_outputs(sgv0: Any, sgv1: Any) -> Tuple[Any, Any]:
    """Connects the consumers of the second view's outputs to those of the first, and returns the views.

    Args:
      sgv0: A view, or what `sgv` takes.
      sgv1: Another.

    Example:
      >>> a, b = tf.constant(1), tf.constant(2)
      >>> z = tf.identity(b)
      >>> views = tf.contrib.graph_editor.reroute_outputs(a.op, b.op)
      >>> print(tf.Session().run(z))
      1
    """
    return _reroute_outputs(sgv0, sgv1, _A_TO_B)


def swap_ios(sgv0: Any, sgv1: Any) -> Tuple[Any, Any]:
    """Exchanges the inputs of two views, and the consumers of their outputs; returns the views.

    Args:
      sgv0: A view, or what `sgv` takes.
      sgv1: Another.

    Example:
      >>> a, b = tf.constant(1), tf.constant(2)
      >>> y, z = tf.negative(a), tf.abs(b)
      >>> views = tf.contrib.graph_editor.swap_ios(y.op, z.op)
      >>> print(*tf.Session().run([y, z]))
      -2 1
    """
    _reroute_outputs(sgv0, sgv1, _SWAP)
    return _reroute_inputs(sgv0, sgv1, _SWAP)


def reroute_ios(sgv0: Any, sgv1: Any) -> Tuple[Any, Any]:
    """Replaces the second view by the first: gives it the inputs of the first, and the first its consumers.

    Args:
      sgv0: A view, or what `sgv` takes.
      sgv1: Another.

    Example:
      >>> a, b = tf.constant(1), tf.constant(2)
      >>> y = tf.negative(a)
      >>> z = tf.identity(tf.abs(b, name="abs"))
      >>> views = tf.contrib.graph_editor.reroute_ios(y.op, z.op.inputs[0].op)
      >>> print(tf.Session().run(z))
      -1
    """
    _reroute_outputs(sgv0, sgv1, _A_TO_B)
    return _reroute_inputs(sgv0, sgv1, _A_TO_B)


def remove_control_inputs(op: Operation, cops: Any) -> None:
    """Removes control inputs of an operation.

    Args:
      op: The operation.
      cops: The control inputs to remove: an operation or a list of operations.

    Raises:
      TypeError: `op` is not an operation.
      ValueError: An operation is not a control input of `op`.

    Example:
      >>> a = tf.no_op()
      >>> with tf.control_dependencies([a]):
      ...     b = tf.no_op()
      >>> tf.contrib.graph_editor.remove_control_inputs(b, a)
      >>> b.control_inputs
      []
    """
    if not isinstance(op, Operation):
        raise TypeError("Expected a tf.Operation, got: {}".format(type(op)))
    removed, now = util.make_list_of_op(cops, allow_graph=False), list(op.control_inputs)
    for cop in removed:
        if cop not in now:
            raise ValueError("{} is not a control_input of {}".format(op.name, cop.name))
    op._remove_all_control_inputs()
    op._add_control_inputs([cop for cop in now if cop not in removed])


def add_control_inputs(op: Operation, cops: Any) -> None:
    """Adds control inputs to an operation.

    Args:
      op: The operation.
      cops: The operations that it waits for: an operation or a list of operations.

    Raises:
      TypeError: `op` is not an operation.
      ValueError: An operation is a control input of `op` already.

    Example:
      >>> a, b = tf.no_op(name="a"), tf.no_op()
      >>> tf.contrib.graph_editor.add_control_inputs(b, a)
      >>> [op.name for op in b.control_inputs]
      ['a']
    """
    if not isinstance(op, Operation):
        raise TypeError("Expected a tf.Operation, got: {}".format(type(op)))
    cops = util.make_list_of_op(cops, allow_graph=False)
    for cop in cops:
        if cop in op.control_inputs:
            raise ValueError("{} is already a control_input of {}".format(cop.name, op.name))
    op._add_control_inputs(cops)
