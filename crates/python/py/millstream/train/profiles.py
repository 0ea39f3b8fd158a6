"""`tf.profiler`: parameters, float operations and times of a graph, in a tree by the names of operations."""

from __future__ import annotations

import os
import re
import sys
from typing import Any, Dict, Iterable, List, Optional

from millstream.framework import get_default_graph
from millstream.framework.graph_keys import GraphKeys
from millstream.train import flops

__all__ = ["GraphNodeProto", "MultiGraphNodeProto", "ProfileOptionBuilder", "Profiler", "profile"]

_OPTIONS: Dict[str, Any] = {
    "max_depth": 100,
    "min_bytes": 0,
    "min_micros": 0,
    "min_params": 0,
    "min_float_ops": 0,
    "min_occurrence": 0,
    "order_by": "name",
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "trim_name_regexes": [],
    "show_name_regexes": [".*"],
    "hide_name_regexes": [],
    "account_displayed_op_only": False,
    "select": ["micros"],
    "step": -1,
    "output": "stdout",
}


class ProfileOptionBuilder:
    """A builder of the options of `profile`, a dict.

    Args:
      options: A dict to start from; by default options under which everything is shown.

    Example:
      >>> builder = tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.float_operation())
      >>> options = builder.with_max_depth(3).order_by("name").with_empty_output().build()
      >>> options["max_depth"], options["order_by"], options["select"], options["output"]
      (3, 'name', ['float_ops'], 'none')
      >>> sorted(tf.profiler.ProfileOptionBuilder.time_and_memory(min_micros=5)["select"])
      ['bytes', 'micros']
      >>> tf.profiler.ProfileOptionBuilder.trainable_variables_parameter()["account_type_regexes"]
      ['_trainable_variables']
      >>> more = builder.with_accounted_types(["MatMul"]).with_node_names(hide_name_regexes=["save/.*"])
      >>> more = more.with_min_float_operations(1).with_min_parameters(0).with_min_occurrence(0).select(["float_ops"])
      >>> more = more.with_min_execution_time(1).with_min_memory(0).with_step(-1).account_displayed_op_only(True)
      >>> more.with_file_output("report.txt").with_stdout_output().build()["min_micros"]
      1
    """

    def __init__(self, options: Optional[Dict[str, Any]] = None) -> None:
        self._options: Dict[str, Any] = dict(_OPTIONS if options is None else options)

    @staticmethod
    def trainable_variables_parameter() -> Dict[str, Any]:
        """Returns options for the numbers of parameters of trainable variables."""
        more = {"account_type_regexes": ["_trainable_variables"], "account_displayed_op_only": True, "select": ["params"]}
        return {**_OPTIONS, "max_depth": 10000, **more}

    @staticmethod
    def float_operation() -> Dict[str, Any]:
        """Returns options for the numbers of float operations."""
        return {**_OPTIONS, "max_depth": 10000, "min_float_ops": 1, "order_by": "float_ops", "account_displayed_op_only": True, "select": ["float_ops"]}

    @staticmethod
    def time_and_memory(
        min_micros: int = 1,
        min_bytes: int = 1,
        min_accelerator_micros: int = 0,
        min_cpu_micros: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> Dict[str, Any]:
        """Returns options for times and memory; the arguments are the least that is shown."""
        least = {name: value for name, value in locals().items() if name.startswith("min_")}
        more = {"max_depth": 10000, "order_by": "micros", "account_displayed_op_only": True, "select": ["micros", "bytes"]}
        return {**_OPTIONS, **least, **more}

    def _with(self, **options: Any) -> "ProfileOptionBuilder":
        self._options.update(options)
        return self

    def with_max_depth(self, max_depth: int) -> "ProfileOptionBuilder":
        """Sets the depth of the tree."""
        return self._with(max_depth=max_depth)

    def with_min_memory(self, min_bytes: int = 0, min_peak_bytes: int = 0, min_residual_bytes: int = 0, min_output_bytes: int = 0) -> "ProfileOptionBuilder":
        """Shows only nodes with this memory."""
        return self._with(min_bytes=min_bytes, min_peak_bytes=min_peak_bytes, min_residual_bytes=min_residual_bytes, min_output_bytes=min_output_bytes)

    def with_min_execution_time(self, min_micros: int = 0, min_accelerator_micros: int = 0, min_cpu_micros: int = 0) -> "ProfileOptionBuilder":
        """Shows only nodes with this time."""
        return self._with(min_micros=min_micros, min_accelerator_micros=min_accelerator_micros, min_cpu_micros=min_cpu_micros)

    def with_min_parameters(self, min_params: int) -> "ProfileOptionBuilder":
        """Shows only nodes with this number of parameters."""
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> "ProfileOptionBuilder":
        """Shows only kinds of operations that occur as often."""
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> "ProfileOptionBuilder":
        """Shows only nodes with this number of float operations."""
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: List[str]) -> "ProfileOptionBuilder":
        """Counts only operations whose kind matches; that of variables is `_trainable_variables`, too."""
        return self._with(account_type_regexes=list(account_type_regexes))

    def with_node_names(self, start_name_regexes: Any = None, show_name_regexes: Any = None, hide_name_regexes: Any = None, trim_name_regexes: Any = None) -> "ProfileOptionBuilder":
        """Shows only nodes whose names match, or do not."""
        given = {name: list(value) for name, value in locals().items() if name.endswith("_regexes") and value is not None}
        return self._with(**given)

    def account_displayed_op_only(self, is_true: bool) -> "ProfileOptionBuilder":
        """Leaves what is not shown out of totals."""
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self) -> "ProfileOptionBuilder":
        """Prints nothing."""
        return self._with(output="none")

    def with_stdout_output(self) -> "ProfileOptionBuilder":
        """Prints the report."""
        return self._with(output="stdout")

    def with_file_output(self, outfile: str) -> "ProfileOptionBuilder":
        """Writes the report to a file."""
        return self._with(output="file:outfile=%s" % outfile)

    def with_timeline_output(self, timeline_file: str) -> "ProfileOptionBuilder":
        """Refuses.

        Raises:
          NotImplementedError: Always; `Timeline` writes such files.
        """
        raise NotImplementedError("the profiler writes no timelines: use `tensorflow.python.client.timeline.Timeline`")

    def with_pprof_output(self, pprof_file: str) -> "ProfileOptionBuilder":
        """Refuses.

        Raises:
          NotImplementedError: Always.
        """
        raise NotImplementedError("the profiler writes no files for pprof: use `with_file_output`")

    def with_step(self, step: int) -> "ProfileOptionBuilder":
        """Shows the times of one step of a `Profiler`; -1 for the mean."""
        return self._with(step=step)

    def order_by(self, attribute: str) -> "ProfileOptionBuilder":
        """Sets the order of the nodes: `name`, or a number such as `params`, `float_ops` or `micros`."""
        return self._with(order_by=attribute)

    def select(self, attributes: List[str]) -> "ProfileOptionBuilder":
        """Sets what is shown: `params`, `float_ops`, `micros`, `bytes`, `occurrence`."""
        return self._with(select=list(attributes))

    def build(self) -> Dict[str, Any]:
        """Returns the options."""
        return dict(self._options)


class GraphNodeProto:
    """A node of a profile: an operation or a name scope, with its own numbers and those of all it contains.

    Args:
      name: The name.

    Example:
      >>> node = tf.profiler.GraphNodeProto("layer")
      >>> node.name, node.children, node.total_parameters, node.total_float_ops
      ('layer', [], 0, 0)
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.children: List[Any] = []
        self.parameters = self.float_ops = self.exec_micros = self.requested_bytes = 0
        self.total_parameters = self.total_float_ops = self.total_exec_micros = self.total_requested_bytes = 0
        self.total_definition_count = 0

    def __repr__(self) -> str:
        return "<GraphNodeProto %r: %d parameters, %d float operations, %d us>" % (
            self.name,
            self.total_parameters,
            self.total_float_ops,
            self.total_exec_micros,
        )

    def _add(self, other: "GraphNodeProto", totals: bool) -> None:
        for name in _NUMBERS:
            value = getattr(other, "total_" + name if totals else name)
            setattr(self, "total_" + name, getattr(self, "total_" + name) + value)


class MultiGraphNodeProto(GraphNodeProto):
    """A node of a profile by kinds of operations, with the operations of the kind in `graph_nodes`.

    Args:
      name: The kind.

    Example:
      >>> tf.profiler.MultiGraphNodeProto("MatMul").graph_nodes
      []
    """

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.graph_nodes: List[GraphNodeProto] = []


_NUMBERS = ("parameters", "float_ops", "exec_micros", "requested_bytes")
# What the options call these numbers, and how a report heads their columns.
_SELECTED = {
    "params": ("parameters", "# parameters"),
    "float_ops": ("float_ops", "# float_ops"),
    "micros": ("exec_micros", "total execution time"),
    "bytes": ("requested_bytes", "requested bytes"),
}
_LEAST = {"min_params": "parameters", "min_float_ops": "float_ops", "min_micros": "exec_micros", "min_bytes": "requested_bytes"}


class Profiler:
    """Collects the times of steps, and reports on them and on the graph.

    Args:
      graph: The graph; by default the default one.
      op_log: None.

    Raises:
      ValueError: An `op_log` is given.

    Example:
      >>> y = tf.matmul(tf.ones([2, 3]), tf.ones([3, 4]), name="y")
      >>> profiler, metadata = tf.profiler.Profiler(), tf.RunMetadata()
      >>> with tf.Session() as sess:
      ...     _ = sess.run(y, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
      >>> profiler.add_step(0, metadata)
      >>> options = tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.float_operation())
      >>> options = options.with_empty_output().build()
      >>> profiler.profile_name_scope(options).total_float_ops
      48
      >>> [node.name for node in profiler.profile_operations(options).children]
      ['MatMul']
      >>> profiler.profile_graph(options).total_float_ops
      48
    """

    def __init__(self, graph: Any = None, op_log: Any = None) -> None:
        if op_log is not None:
            raise ValueError("Profiler: there are no `OpLogProto`s: leave `op_log` out")
        self._graph = get_default_graph() if graph is None else graph
        self._steps: Dict[int, Any] = {}

    def add_step(self, step: int, run_meta: Any) -> None:
        """Adds the `RunMetadata` of a step."""
        self._steps[step] = run_meta

    def _profile(self, cmd: str, options: Any) -> Any:
        step = (options or {}).get("step", -1)
        steps = list(self._steps.values()) if step == -1 else [self._steps[step]] if step in self._steps else []
        return _profiled(self._graph, steps, cmd, options)

    def profile_name_scope(self, options: Any) -> GraphNodeProto:
        """Returns the profile by name scopes."""
        return self._profile("scope", options)  # type: ignore[no-any-return]

    def profile_operations(self, options: Any) -> MultiGraphNodeProto:
        """Returns the profile by kinds of operations."""
        return self._profile("op", options)  # type: ignore[no-any-return]

    def profile_graph(self, options: Any) -> GraphNodeProto:
        """Returns the profile of the operations, without their scopes."""
        return self._profile("graph", options)  # type: ignore[no-any-return]


def profile(graph: Any = None, run_meta: Any = None, op_log: Any = None, cmd: str = "scope", options: Any = None) -> Any:
    """Returns and prints numbers of parameters and of float operations, times and memory of a graph.

    Args:
      graph: The graph; by default the default one.
      run_meta: A `RunMetadata` with the times of a run, or None.
      op_log: None.
      cmd: `"scope"` for a tree by name scopes, `"graph"` for operations alone, `"op"` for their kinds.
      options: Options; see `ProfileOptionBuilder`.

    Returns:
      A `GraphNodeProto`, or a `MultiGraphNodeProto` for `"op"`.

    Raises:
      ValueError: `cmd` is none of these, or an `op_log` is given.

    Example:
      >>> w = tf.get_variable("layer/w", [2, 3])
      >>> report = tf.profiler.profile(
      ...     options=tf.profiler.ProfileOptionBuilder.trainable_variables_parameter())
      node name | # parameters
      _TFProfRoot (--/6 params)
        layer (--/6 params)
          layer/w (2x3, 6/6 params)
      >>> report.total_parameters
      6
    """
    if op_log is not None:
        raise ValueError("profile: there are no `OpLogProto`s: leave `op_log` out")
    return _profiled(get_default_graph() if graph is None else graph, [] if run_meta is None else [run_meta], cmd, options)


def _profiled(graph: Any, steps: List[Any], cmd: str, options: Any) -> Any:
    if cmd not in ("scope", "graph", "op"):
        raise ValueError("profile: cmd %r is not part of Millstream: use 'scope', 'graph' or 'op'" % (cmd,))
    options = {**_OPTIONS, **(options or {})}
    nodes, shapes = _own_numbers(graph, steps, options)
    root = _by_kind(graph, nodes, options) if cmd == "op" else _by_scope(nodes, options, cmd == "scope")
    _print(root, shapes, options)
    return root


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def _times(steps: List[Any]) -> Dict[str, List[int]]:
    """Returns the microseconds and bytes of operations, the means over steps."""
    found: Dict[str, List[int]] = {}
    for step in steps:
        for device in step.step_stats.dev_stats:
            for stats in device.node_stats:
                entry = found.setdefault(stats.node_name.partition(":")[0], [0, 0])
                entry[0] += stats.op_end_rel_micros - stats.op_start_rel_micros
                entry[1] += sum(o.tensor_description.allocation_description.requested_bytes for o in stats.output)
    return {name: [value // len(steps) for value in entry] for name, entry in found.items()}


def _own_numbers(graph: Any, steps: List[Any], options: Any) -> Any:
    """Returns the nodes of all operations that count, and the shapes of variables by name."""
    trainable = {v.op.name: v for v in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
    times, nodes, shapes = _times(steps), {}, {}
    for op in graph.get_operations():
        kinds = [op.type, op.device] + (["_trainable_variables"] if op.name in trainable else [])
        if not any(_matches(kind, options["account_type_regexes"]) for kind in kinds if kind):
            continue
        node = nodes[op.name] = GraphNodeProto(op.name)
        if op.type in ("Variable", "VariableV2", "VarHandleOp"):
            shape = trainable[op.name].get_shape() if op.name in trainable else op.outputs[0].get_shape()
            node.parameters = shape.num_elements() or 0
            shapes[op.name] = "x".join(str(d) for d in shape.as_list()) if shape.ndims is not None else "?"
        node.float_ops = flops.of_operation(op) or 0 if "float_ops" in options["select"] else 0
        node.exec_micros, node.requested_bytes = times.get(op.name, (0, 0))
    return nodes, shapes


def _order(children: List[Any], options: Any) -> List[Any]:
    number = _SELECTED.get(options["order_by"], ("", ""))[0]
    by_name = sorted(children, key=lambda node: node.name)
    return sorted(by_name, key=lambda node: -getattr(node, "total_" + number)) if number else by_name


def _is_shown(node: Any, depth: int, options: Any) -> bool:
    if options["max_depth"] < depth or any(getattr(node, number) < options.get(least, 0) for least, number in _LEAST.items()):
        return False
    return _matches(node.name, options["show_name_regexes"]) and not _matches(node.name, options["hide_name_regexes"])


def _by_scope(nodes: Dict[str, Any], options: Any, with_scopes: bool) -> GraphNodeProto:
    """Returns a tree: operations in name scopes, or without."""
    inner: Dict[str, List[str]] = {}
    seen = set()
    for name in nodes:
        parts = name.split("/") if with_scopes else [name]
        for i in range(len(parts)):
            path = "/".join(parts[: i + 1])
            if path not in seen:
                seen.add(path)
                inner.setdefault("/".join(parts[:i]), []).append(path)

    def visit(path: str, depth: int) -> List[Any]:
        """Returns the node of a path, or the nodes within if it is not shown."""
        if _matches(path, options["trim_name_regexes"]):
            return []
        node = nodes.get(path) or GraphNodeProto(path)
        children = [child for name in inner.get(path, []) for child in visit(name, depth + 1)]
        if not _is_shown(node, depth, options):
            return children
        _total(node, children, options)
        return [node]

    root = GraphNodeProto("_TFProfRoot")
    starts = [child for name in inner.get("", []) for child in visit(name, 2)]
    started = [node for node in starts if any(re.match(p, node.name) for p in options["start_name_regexes"])]
    _total(root, started, options)
    return root


def _total(node: Any, children: List[Any], options: Any) -> None:
    node._add(node, False)
    node.total_definition_count = 1
    for child in children:
        node._add(child, True)
        node.total_definition_count += child.total_definition_count
    node.children = _order(children, options)


def _by_kind(graph: Any, nodes: Dict[str, Any], options: Any) -> MultiGraphNodeProto:
    """Returns a chain: each kind of operation holds those that come after it, as TensorFlow's does."""
    kinds: Dict[str, MultiGraphNodeProto] = {}
    for name, own in nodes.items():
        kind = graph.get_operation_by_name(name).type
        of_kind = kinds.setdefault(kind, MultiGraphNodeProto(kind))
        own._add(own, False)
        of_kind.graph_nodes.append(own)
        for number in _NUMBERS:
            setattr(of_kind, number, getattr(of_kind, number) + getattr(own, number))
    shown = [k for k in kinds.values() if _is_shown(k, 1, options) and options["min_occurrence"] <= len(k.graph_nodes)]
    number = _SELECTED.get(options["order_by"], ("", ""))[0]
    ordered = sorted(shown, key=lambda k: (-getattr(k, number), k.name) if number else k.name)
    root = last = MultiGraphNodeProto("_TFProfRoot")
    for kind_node in ordered:
        last.children = [kind_node]
        last = kind_node
    for kind_node in [*reversed(ordered), root]:
        kind_node._add(kind_node, False)
        for child in kind_node.children:
            kind_node._add(child, True)
    return root


def _number(n: int) -> str:
    for least, unit in ((10**9, "b"), (10**6, "m"), (10**3, "k")):
        if least <= n:
            return "%.2f%s" % (n / least, unit)
    return str(n)


_UNITS = {"parameters": " params", "float_ops": " flops", "exec_micros": "us", "requested_bytes": "B"}


def _print(root: Any, shapes: Dict[str, str], options: Any) -> None:
    """Prints the report, or writes it to a file."""
    output = options["output"]
    if output == "none":
        return
    selected = [_SELECTED[name] for name in options["select"] if name in _SELECTED]
    lines = [" | ".join(["node name", *(head for _, head in selected)])]

    def line(node: Any, depth: int) -> None:
        parts = []
        for number, _ in selected:
            own, total = getattr(node, number), getattr(node, "total_" + number)
            shape = shapes[node.name] + ", " if number == "parameters" and shapes.get(node.name) else ""
            parts.append("%s%s/%s%s" % (shape, _number(own) if own else "--", _number(total), _UNITS[number]))
        lines.append("  " * depth + "%s (%s)" % (node.name, ", ".join(parts)))
        for child in node.children:
            line(child, depth + (not isinstance(node, MultiGraphNodeProto)))

    line(root, 0)
    text = "\n".join(lines) + "\n"
    if output.startswith("file:outfile="):
        with open(os.fspath(output.partition("=")[2]), "w", encoding="utf-8") as out:
            out.write(text)
    else:
        sys.stdout.write(text)
        sys.stdout.flush()
