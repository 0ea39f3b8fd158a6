"""`tensorflow.python.tools.strip_unused_lib`: the part of a graph between new placeholders and outputs."""

from __future__ import annotations

from typing import Any, Dict, List

from millstream.framework import graph_util, protos
from millstream.io.files import GFile
from millstream.programs.freezing import read_message


def strip_unused(input_graph_def: Any, input_node_names: List[str], output_node_names: List[str], placeholder_type_enum: Any) -> Any:
    """Returns the `GraphDef` of what outputs depend on, with placeholders in place of some nodes.

    Args:
      input_graph_def: A `GraphDef`.
      input_node_names: The nodes that become placeholders.
      output_node_names: The nodes to keep, with all that they need.
      placeholder_type_enum: The number of a dtype, such as `tf.float32.as_datatype_enum`, or one for each
        input, in their order.

    Raises:
      KeyError: The graph has no node of an input's name.
      ValueError: An input is the name of a tensor, or there are fewer dtypes than inputs.
    """
    for name in input_node_names:
        if ":" in name:
            raise ValueError("Name '%s' appears to refer to a Tensor, not a Operation: give the part before the colon." % name)
    absent = set(input_node_names) - {node.name for node in input_graph_def.node}
    if absent:
        raise KeyError("The following input nodes were not found: %s" % sorted(absent))
    kinds = list(placeholder_type_enum) if isinstance(placeholder_type_enum, (list, tuple)) else [placeholder_type_enum] * len(input_node_names)
    if len(kinds) < len(input_node_names):
        raise ValueError("%d inputs, but dtypes for %d of them: give each a dtype" % (len(input_node_names), len(kinds)))
    dtypes: Dict[str, Any] = dict(zip(input_node_names, kinds))
    made = protos.as_message("GraphDef", b"")
    for node in input_graph_def.node:
        if node.name not in dtypes:
            made.node.add().CopyFrom(node)
            continue
        placeholder = made.node.add(name=node.name, op="Placeholder")
        placeholder.attr["dtype"].type = dtypes[node.name]
        for name in ("_output_shapes", "shape"):
            if name in node.attr:
                placeholder.attr[name].CopyFrom(node.attr[name])
    return graph_util.extract_sub_graph(made, output_node_names)


def strip_unused_from_files(
    input_graph: str,
    input_binary: bool,
    output_graph: str,
    output_binary: bool,
    input_node_names: str,
    output_node_names: str,
    placeholder_type_enum: Any,
) -> None:
    """As `strip_unused`, from one file to another; the names are separated by commas."""
    if not input_node_names or not output_node_names:
        raise ValueError("give at least one name each as input_node_names and output_node_names, separated by commas")
    graph_def = read_message("GraphDef", input_graph, input_binary)
    stripped = strip_unused(graph_def, input_node_names.split(","), output_node_names.split(","), placeholder_type_enum)
    with GFile(output_graph, "wb" if output_binary else "w") as out:
        out.write(stripped.SerializeToString() if output_binary else str(stripped))


NAMES = {"python.tools.strip_unused_lib": {"strip_unused": strip_unused, "strip_unused_from_files": strip_unused_from_files}}
