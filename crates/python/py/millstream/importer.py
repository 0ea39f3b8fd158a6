"""`import_graph_def`: the nodes of a `GraphDef` in a graph."""

from __future__ import annotations

from typing import Any, List, Optional

from millstream import _engine
from millstream.framework import convert_to_tensor, get_default_graph


def import_graph_def(
    graph_def: Any,
    input_map: Any = None,
    return_elements: Any = None,
    name: Optional[str] = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> Optional[List[Any]]:
    """Adds the nodes of `graph_def` to the default graph, under the name scope `name` (`import` if None, no scope if "").

    Gives the tensors (`"x:0"`) and operations (`"x"`) that `return_elements` names; None if it is None.
    """
    if not hasattr(graph_def, "SerializeToString"):
        raise TypeError("graph_def must be a GraphDef proto.")
    if input_map is not None and not isinstance(input_map, dict):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    if return_elements is not None and not all(isinstance(e, (str, bytes)) for e in return_elements):
        raise TypeError("return_elements must be a list of strings.")
    mapped = {_text(k): convert_to_tensor(v) for k, v in (input_map or {}).items()}
    names = [_text(e) for e in return_elements or []]
    if mapped or names:
        _check_names(graph_def, mapped, names)
    prefix = "import" if name is None else name
    found = _engine.import_graph_def(get_default_graph(), graph_def.SerializeToString(), prefix, mapped, names)
    return None if return_elements is None else found


def _check_names(graph_def: Any, mapped: Any, names: List[str]) -> None:
    """`ValueError` for names that the graph does not have."""
    nodes = {node.name for node in graph_def.node}
    for name in names:
        if name.partition(":")[0] not in nodes:
            raise ValueError(f"Requested return node '{name}' not found in graph def")
    if mapped:
        used = {_output(i) for node in graph_def.node for i in node.input}
        unused = sorted(_output(name) for name in mapped if _output(name) not in used)
        if unused:
            raise ValueError(f"Attempted to map inputs that were not found in graph_def: [{', '.join(unused)}]")


def _output(name: str) -> str:
    """An input as the output that it is: `x` is `x:0`."""
    return name if name.startswith("^") or ":" in name else name + ":0"


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value
