"""`slim.model_analyzer`: the sizes of variables and of operations' outputs."""

from __future__ import annotations

import builtins
from typing import Any, Sequence, Tuple

__all__ = ["analyze_ops", "analyze_vars", "tensor_description"]


def tensor_description(var: Any) -> str:
    """Returns the dtype and the shape of a tensor: `(float32 8x1024)`."""
    return "(%s %s)" % (var.dtype.name, "x".join(str(n) for n in var.get_shape()))


def _title(text: str) -> None:
    builtins.print("---------\n%s\n---------" % text)


def analyze_ops(graph: Any, print_info: bool = False) -> int:
    """Returns the number of elements of all outputs whose shape is known.

    Args:
      graph: A graph.
      print_info: If true, the outputs of each operation are printed.
    """
    if print_info:
        _title("Operations: name -> (type shapes) [size]")
    total = 0
    for operation in graph.get_operations():
        size = sum(t.get_shape().num_elements() or 0 for t in operation.outputs)
        if print_info:
            known = ", ".join(tensor_description(t) for t in operation.outputs if t.get_shape())
            builtins.print(operation.name, "\t->", known, "[%d]" % size)
        total += size
    return total


def analyze_vars(variables: Sequence[Any], print_info: bool = False) -> Tuple[int, int]:
    """Returns the number of elements of variables, and that of their bytes.

    Args:
      variables: A list of variables.
      print_info: If true, each variable is printed.
    """
    if print_info:
        _title("Variables: name (type shape) [size]")
    elements, total_bytes = 0, 0
    for var in variables:
        size = var.get_shape().num_elements() or 0
        elements, total_bytes = elements + size, total_bytes + size * var.dtype.size
        if print_info:
            builtins.print(var.name, tensor_description(var), "[%d, bytes: %d]" % (size, size * var.dtype.size))
    if print_info:
        builtins.print("Total size of variables: %d" % elements)
        builtins.print("Total bytes of variables: %d" % total_bytes)
    return elements, total_bytes
