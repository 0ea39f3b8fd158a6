"""Lists of operations and tensors: by names, by scopes, and by walks along the edges of the graph."""

from __future__ import annotations

import re
from typing import Any, Callable, Iterable, List, Optional, Sequence, Tuple

from millstream._engine import Operation, Tensor
from millstream.contrib.graph_editor import util
from millstream.framework.graph import Graph


def can_be_regex(obj: Any) -> bool:
    """Returns whether a value is a string or a compiled regular expression.

    Args:
      obj: A value.

    Example:
      >>> tf.contrib.graph_editor.can_be_regex("^a"), tf.contrib.graph_editor.can_be_regex(1)
      (True, False)
    """
    return isinstance(obj, (str, re.Pattern))


def make_regex(obj: Any) -> Any:
    """Returns a compiled regular expression.

    Args:
      obj: A string or a compiled regular expression.

    Raises:
      ValueError: `obj` is neither.

    Example:
      >>> tf.contrib.graph_editor.make_regex("^a").pattern
      '^a'
    """
    if not can_be_regex(obj):
        raise ValueError("Expected a string or a regex, got: {}".format(type(obj)))
    return re.compile(obj)


def _input_ts(ops: Any) -> List[Tensor]:
    return util.concatenate_unique([], [t for op in util.make_list_of_op(ops) for t in op.inputs])


def _output_ts(ops: Any) -> List[Tensor]:
    return [t for op in util.make_list_of_op(ops) for t in op.outputs]


def filter_ts(ops: Any, positive_filter: Any) -> List[Tensor]:
    """Returns the inputs and outputs of operations that a filter keeps.

    Args:
      ops: Operations, or a graph.
      positive_filter: A function from a tensor to a bool, or True to keep all.

    Example:
      >>> x = tf.constant(1.0, name="x")
      >>> [t.name for t in tf.contrib.graph_editor.filter_ts(x.graph, lambda t: t.dtype == tf.float32)]
      ['x:0']
    """
    ops = util.make_list_of_op(ops)
    ts = util.concatenate_unique(_input_ts(ops), _output_ts(ops))
    return ts if positive_filter is True else [t for t in ts if positive_filter(t)]


def filter_ts_from_regex(ops: Any, regex: Any) -> List[Tensor]:
    """Returns the inputs and outputs of operations whose names a regular expression finds.

    Args:
      ops: Operations, or a graph.
      regex: A string or a compiled regular expression.

    Example:
      >>> x = tf.constant(1.0, name="x")
      >>> [t.name for t in tf.contrib.graph_editor.filter_ts_from_regex(x.graph, "^x")]
      ['x:0']
    """
    pattern = make_regex(regex)
    return filter_ts(ops, lambda t: pattern.search(t.name))


def filter_ops(ops: Any, positive_filter: Any) -> List[Operation]:
    """Returns the operations that a filter keeps.

    Args:
      ops: Operations, or a graph.
      positive_filter: A function from an operation to a bool, or True to keep all.

    Example:
      >>> x = tf.constant(1.0, name="x")
      >>> [op.name for op in tf.contrib.graph_editor.filter_ops(x.graph, lambda op: op.type == "Const")]
      ['x']
    """
    ops = util.make_list_of_op(ops)
    return ops if positive_filter is True else [op for op in ops if positive_filter(op)]


def filter_ops_from_regex(ops: Any, regex: Any) -> List[Operation]:
    """Returns the operations whose names a regular expression finds.

    Args:
      ops: Operations, or a graph.
      regex: A string or a compiled regular expression.

    Example:
      >>> x = tf.constant(1.0, name="x")
      >>> [op.name for op in tf.contrib.graph_editor.filter_ops_from_regex(x.graph, "^x")]
      ['x']
    """
    pattern = make_regex(regex)
    return filter_ops(ops, lambda op: pattern.search(op.name))


def get_name_scope_ops(ops: Any, scope: str) -> List[Operation]:
    """Returns the operations in a name scope.

    Args:
      ops: Operations, or a graph.
      scope: The scope, with or without the slash at its end.

    Example:
      >>> x = tf.constant(1.0, name="a/x")
      >>> [op.name for op in tf.contrib.graph_editor.get_name_scope_ops(x.graph, "a")]
      ['a/x']
    """
    if scope.endswith("/"):
        scope = scope[:-1]
    return filter_ops_from_regex(ops, "^{}(/.*)?$".format(scope))


def check_cios(control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None) -> Tuple[bool, Any]:
    """Returns whether control inputs count, and the control outputs that do, or None.

    Args:
      control_inputs: Whether control inputs count.
      control_outputs: A `ControlOutputs`, or None.
      control_ios: A `ControlOutputs` instead, if both count.

    Raises:
      TypeError: An argument is not a `ControlOutputs`.
      ValueError: Both `control_outputs` and `control_ios` are given.

    Example:
      >>> tf.contrib.graph_editor.check_cios(True)
      (True, None)
    """
    for given in (control_ios, control_outputs):
        if given is not None and not isinstance(given, util.ControlOutputs):
            raise TypeError("Expected a util.ControlOutputs, got: {}".format(type(given)))
    if control_ios is not None:
        if control_outputs is not None:
            raise ValueError("control_outputs should be None when using control_ios.")
        control_inputs, control_outputs = True, control_ios
    if control_outputs is not None:
        control_outputs.update()
    return control_inputs, control_outputs


def get_ops_ios(ops: Any, control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None) -> List[Operation]:
    """Returns the operations next to others: those that compute their inputs and take their outputs.

    Args:
      ops: Operations, or a graph.
      control_inputs: Whether control inputs count.
      control_outputs: The `ControlOutputs` that count, or None.
      control_ios: A `ControlOutputs` instead, if both count.

    Example:
      >>> x = tf.constant(1.0, name="x")
      >>> y = tf.negative(x, name="y")
      >>> [op.name for op in tf.contrib.graph_editor.get_ops_ios(y.op)]
      ['x']
    """
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    found: List[Operation] = []
    for op in util.make_list_of_op(ops):
        util.concatenate_unique(found, [t.op for t in op.inputs])
        for t in op.outputs:
            util.concatenate_unique(found, t.consumers())
        if control_outputs is not None:
            util.concatenate_unique(found, control_outputs.get(op))
        if control_inputs:
            util.concatenate_unique(found, op.control_inputs)
    return found


def compute_boundary_ts(ops: Any) -> Tuple[List[Tensor], List[Tensor], List[Tensor]]:
    """Returns the inputs, the outputs and the inner tensors of operations.

    An output that is used both inside and outside is an output and an inner tensor.

    Args:
      ops: Operations, or a graph.

    Example:
      >>> x = tf.constant(1.0, name="x")
      >>> y = tf.negative(x, name="y")
      >>> tf.contrib.graph_editor.compute_boundary_ts([y.op]) == ([x], [y], [])
      True
    """
    ops = util.make_list_of_op(ops)
    inputs, outputs = _input_ts(ops), _output_ts(ops)
    made, within = set(outputs), set(ops)
    inside = [t for t in inputs if t in made]
    hidden = {t for t in inside if within.issuperset(t.consumers())}
    return [t for t in inputs if t not in made], [t for t in outputs if t not in hidden], inside


def get_within_boundary_ops(
    ops: Any,
    seed_ops: Any,
    boundary_ops: Any = (),
    inclusive: bool = True,
    control_inputs: bool = False,
    control_outputs: Any = None,
    control_ios: Any = None,
) -> List[Operation]:
    """Returns the operations that are reached from others without crossing a boundary.

    Args:
      ops: The operations to choose from, or a graph.
      seed_ops: The operations to start from.
      boundary_ops: Operations at which the search ends.
      inclusive: Whether operations of the boundary that are reached are part of the result.
      control_inputs: Whether control inputs count.
      control_outputs: The `ControlOutputs` that count, or None.
      control_ios: A `ControlOutputs` instead, if both count.

    Raises:
      ValueError: An operation to start from is in the boundary.

    Example:
      >>> x = tf.constant(1.0, name="x")
      >>> y = tf.negative(x, name="y")
      >>> [op.name for op in tf.contrib.graph_editor.get_within_boundary_ops(x.graph, [y.op])]
      ['x', 'y']
    """
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    ops = util.make_list_of_op(ops)
    reached = set(util.make_list_of_op(seed_ops, allow_graph=False))
    boundary = set(util.make_list_of_op(boundary_ops))
    if boundary & reached:
        raise ValueError("Boundary is intersecting with the seeds.")
    wave = set(reached)
    while wave:
        around = set(get_ops_ios(wave, control_inputs, control_outputs)) - reached
        wave = around - boundary
        reached |= around if inclusive else wave
    return [op for op in ops if op in reached]


def _walk(
    seed_ops: Any,
    of_tensors: Callable[[List[Tensor]], List[Operation]],
    next_of: Callable[[Operation], Iterable[Operation]],
    inclusive: bool,
    within_ops: Any,
    within_ops_fn: Any,
) -> List[Operation]:
    """Returns the operations on a walk that starts at operations or tensors."""
    seeds = list(seed_ops) if util.is_iterable(seed_ops) else [seed_ops]
    if not seeds:
        return []
    if isinstance(seeds[0], Tensor):
        seeds = of_tensors(util.make_list_of_t(seeds, allow_graph=False))
    else:
        seeds = util.make_list_of_op(seeds, allow_graph=False)
    within = frozenset(util.make_list_of_op(within_ops, allow_graph=False)) if within_ops else None
    start = [op for op in util.concatenate_unique([], seeds) if within is None or op in within]
    found, seen, wave = list(start), set(start), start
    while wave:
        wave = util.concatenate_unique([], [op for before in wave for op in next_of(before) if op not in seen])
        wave = [op for op in wave if (within is None or op in within) and (within_ops_fn is None or within_ops_fn(op))]
        found += wave
        seen.update(wave)
    return found if inclusive else found[len(start) :]


def get_forward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Any = None,
    stop_at_ts: Sequence[Tensor] = (),
    control_outputs: Any = None,
) -> List[Operation]:
    """Returns the operations that depend on others.

    Args:
      seed_ops: Operations, or tensors, which give the operations that take them.
      inclusive: Whether the operations to start from are part of the result.
      within_ops: The operations that the walk may pass, or None for all.
      within_ops_fn: A function from an operation to whether the walk may pass it, or None.
      stop_at_ts: Tensors that the walk does not follow.
      control_outputs: The `ControlOutputs` that count, or None.

    Example:
      >>> x = tf.constant(1.0)
      >>> y = tf.exp(tf.negative(x, name="minus"), name="y")
      >>> [op.name for op in tf.contrib.graph_editor.get_forward_walk_ops(x)]
      ['minus', 'y']
    """
    _, control_outputs = check_cios(False, control_outputs)
    stops = frozenset(util.make_list_of_t(stop_at_ts))

    def following(op: Operation) -> List[Operation]:
        found = [after for t in op.outputs if t not in stops for after in t.consumers()]
        return found if control_outputs is None else found + list(control_outputs.get(op))

    return _walk(seed_ops, util.get_consuming_ops, following, inclusive, within_ops, within_ops_fn)


def get_backward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Any = None,
    stop_at_ts: Sequence[Tensor] = (),
    control_inputs: bool = False,
) -> List[Operation]:
    """Returns the operations that others depend on.

    Args:
      seed_ops: Operations, or tensors, which give the operations that compute them.
      inclusive: Whether the operations to start from are part of the result.
      within_ops: The operations that the walk may pass, or None for all.
      within_ops_fn: A function from an operation to whether the walk may pass it, or None.
      stop_at_ts: Tensors that the walk does not follow.
      control_inputs: Whether control inputs count.

    Example:
      >>> x = tf.constant(1.0, name="x")
      >>> y = tf.exp(tf.negative(x, name="minus"), name="y")
      >>> [op.name for op in tf.contrib.graph_editor.get_backward_walk_ops(y)]
      ['y', 'minus', 'x']
    """
    stops = frozenset(util.make_list_of_t(stop_at_ts))

    def before(op: Operation) -> List[Operation]:
        found = [t.op for t in op.inputs if t not in stops]
        return found + list(op.control_inputs) if control_inputs else found

    return _walk(seed_ops, util.get_generating_ops, before, inclusive, within_ops, within_ops_fn)


def _both_walks(
    forward_seed_ops: Any, backward_seed_ops: Any, forward_inclusive: bool, backward_inclusive: bool,
    within_ops: Any, within_ops_fn: Any, control_inputs: bool, control_outputs: Any, control_ios: Any,
) -> Tuple[List[Operation], List[Operation]]:  # fmt: skip
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    forward = get_forward_walk_ops(forward_seed_ops, forward_inclusive, within_ops, within_ops_fn, control_outputs=control_outputs)
    backward = get_backward_walk_ops(backward_seed_ops, backward_inclusive, within_ops, within_ops_fn, control_inputs=control_inputs)
    return forward, backward


def get_walks_intersection_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Any = None,
    control_inputs: bool = False,
    control_outputs: Any = None,
    control_ios: Any = None,
) -> List[Operation]:
    """Returns the operations between others: those on both a forward and a backward walk.

    Args:
      forward_seed_ops: Where the forward walk starts: operations or tensors.
      backward_seed_ops: Where the backward walk starts: operations or tensors.
      forward_inclusive: Whether the forward walk includes its start.
      backward_inclusive: Whether the backward walk includes its start.
      within_ops: The operations that the walks may pass, or None for all.
      within_ops_fn: A function from an operation to whether the walks may pass it, or None.
      control_inputs: Whether control inputs count.
      control_outputs: The `ControlOutputs` that count, or None.
      control_ios: A `ControlOutputs` instead, if both count.

    Example:
      >>> x = tf.constant(1.0)
      >>> y = tf.exp(tf.negative(x, name="minus"), name="y")
      >>> [op.name for op in tf.contrib.graph_editor.get_walks_intersection_ops(x, y)]
      ['minus', 'y']
    """
    forward, backward = _both_walks(
        forward_seed_ops, backward_seed_ops, forward_inclusive, backward_inclusive, within_ops, within_ops_fn,
        control_inputs, control_outputs, control_ios,
    )  # fmt: skip
    met = set(backward)
    return [op for op in forward if op in met]


def get_walks_union_ops(
    forward_seed_ops: Any,
    backward_seed_ops: Any,
    forward_inclusive: bool = True,
    backward_inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Any = None,
    control_inputs: bool = False,
    control_outputs: Any = None,
    control_ios: Any = None,
) -> List[Operation]:
    """Returns the operations on a forward or a backward walk.

    Args:
      forward_seed_ops: Where the forward walk starts: operations or tensors.
      backward_seed_ops: Where the backward walk starts: operations or tensors.
      forward_inclusive: Whether the forward walk includes its start.
      backward_inclusive: Whether the backward walk includes its start.
      within_ops: The operations that the walks may pass, or None for all.
      within_ops_fn: A function from an operation to whether the walks may pass it, or None.
      control_inputs: Whether control inputs count.
      control_outputs: The `ControlOutputs` that count, or None.
      control_ios: A `ControlOutputs` instead, if both count.

    Example:
      >>> x = tf.constant(1.0, name="x")
      >>> y = tf.exp(tf.negative(x, name="minus"), name="y")
      >>> [op.name for op in tf.contrib.graph_editor.get_walks_union_ops(y.op, y.op)]
      ['y', 'minus', 'x']
    """
    forward, backward = _both_walks(
        forward_seed_ops, backward_seed_ops, forward_inclusive, backward_inclusive, within_ops, within_ops_fn,
        control_inputs, control_outputs, control_ios,
    )  # fmt: skip
    return util.concatenate_unique(forward, backward)


def _selected(
    args: Any, kwargs: Any, word: str, other: str, restricted: str, find: Callable[[Any, Any], List[Any]], listed: Callable[[Any], List[Any]], told: str
) -> List[Any]:
    """Returns operations or tensors: regular expressions among `args` are looked up in the graph."""
    for key in kwargs:
        if key not in ("graph", "positive_filter", "restrict_ops_regex", "restrict_ts_regex"):
            raise ValueError("Wrong keywords argument: {}.".format(key))
    graph, keep = kwargs.get("graph"), kwargs.get("positive_filter")
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(told.format(type(graph)))
    found: List[Any] = []
    for arg in args:
        if can_be_regex(arg):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            pattern = make_regex(arg)
            if pattern.pattern.startswith(other) or kwargs.get(restricted) and not pattern.pattern.startswith(word):
                continue
            items = find(graph, pattern)
        else:
            items = listed(arg)
        util.concatenate_unique(found, [item for item in items if keep is None or keep(item)])
    return found


def select_ops(*args: Any, **kwargs: Any) -> List[Operation]:
    """Returns operations, each once.

    Args:
      *args: Operations, lists of operations, graphs, or regular expressions of names. An expression that
        starts with `(?#ts)` is for tensors only. Tensors are left out.
      **kwargs: `graph`, in which expressions are looked up; `positive_filter`, a function that keeps an
        operation; `restrict_ops_regex`, whether only expressions that start with `(?#ops)` count.

    Raises:
      TypeError: `graph` is not a graph, or an argument is neither.
      ValueError: There is an expression without a graph, or another keyword.

    Example:
      >>> x = tf.constant(1.0, name="a/x")
      >>> [op.name for op in tf.contrib.graph_editor.select_ops("^a/", graph=x.graph)]
      ['a/x']
    """
    return _selected(
        args, kwargs, "(?#ops)", "(?#ts)", "restrict_ops_regex", filter_ops_from_regex, lambda arg: util.make_list_of_op(arg, ignore_ts=True), "Expected a tf.Graph, got: {}"
    )


def select_ts(*args: Any, **kwargs: Any) -> List[Tensor]:
    """Returns tensors, each once.

    Args:
      *args: Tensors, lists of tensors, graphs, or regular expressions of names. An expression that starts
        with `(?#ops)` is for operations only. Operations are left out.
      **kwargs: `graph`, in which expressions are looked up; `positive_filter`, a function that keeps a
        tensor; `restrict_ts_regex`, whether only expressions that start with `(?#ts)` count.

    Raises:
      TypeError: `graph` is not a graph, or an argument is neither.
      ValueError: There is an expression without a graph, or another keyword.

    Example:
      >>> x = tf.constant(1.0, name="a/x")
      >>> tf.contrib.graph_editor.select_ts("^a/", graph=x.graph) == [x]
      True
    """
    return _selected(
        args, kwargs, "(?#ts)", "(?#ops)", "restrict_ts_regex", filter_ts_from_regex, lambda arg: util.make_list_of_t(arg, ignore_ops=True), "Expected a tf.Graph, got {}"
    )


def select_ops_and_ts(*args: Any, **kwargs: Any) -> Tuple[List[Operation], List[Tensor]]:
    """Returns `(ops, ts)`: operations and tensors.

    Args:
      *args: Operations, tensors, lists of them, or regular expressions of names: of operations, unless they
        start with `(?#ts)`.
      **kwargs: `graph`, in which expressions are looked up; `positive_filter`, a function that keeps an item.

    Example:
      >>> x = tf.constant(1.0, name="x")
      >>> tf.contrib.graph_editor.select_ops_and_ts(x.op, x) == ([x.op], [x])
      True
    """
    return select_ops(*args, restrict_ops_regex=False, **kwargs), select_ts(*args, restrict_ts_regex=True, **kwargs)
