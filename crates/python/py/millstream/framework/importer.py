"""`import_graph_def`: adds the nodes of a `GraphDef` to a graph."""

from __future__ import annotations

import contextlib
import platform
from typing import Any, Dict, List, Optional

from millstream import _engine
from millstream._engine import Tensor
from millstream.framework import Graph, convert_to_tensor, errors, get_default_graph, name_scope
from millstream.framework.dressing import merged


def import_graph_def(
    graph_def: Any,
    input_map: Any = None,
    return_elements: Any = None,
    name: Optional[str] = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> Optional[List[Any]]:
    """Adds the nodes of `graph_def` to the default graph.

    Args:
      graph_def: A `GraphDef`.
      input_map: A dict from names of its tensors (`"x:0"`) to tensors of the default graph that replace them.
      return_elements: A list of names of tensors (`"x:0"`) and operations (`"x"`) to return.
      name: The name scope of the nodes: `import` if None, no scope if "".
      op_dict: Ignored.
      producer_op_list: An `OpList`: the ops as the program that wrote the graph knew them, so that later
        attributes with default values can be dropped.

    Returns:
      A list of tensors and operations for `return_elements`; None if that is None.

    Raises:
      TypeError: An argument has the wrong type.
      ValueError: A node has an unknown op, attribute or input; or a name is not in the graph.

    Example:
      >>> with tf.Graph().as_default() as graph:
      ...     y = tf.multiply(tf.placeholder(tf.int32, [], name="x"), 2, name="y")
      >>> y, = tf.import_graph_def(graph.as_graph_def(), {"x:0": tf.constant(21)}, ["y:0"], name="again")
      >>> print(y.name, tf.Session().run(y))
      again/y:0 42
    """
    if not hasattr(graph_def, "SerializeToString") or not hasattr(graph_def, "node"):
        raise TypeError("graph_def must be a GraphDef proto.")
    if input_map is not None and not (isinstance(input_map, dict) and all(isinstance(k, (str, bytes)) for k in input_map)):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    if return_elements is not None and not all(isinstance(e, (str, bytes)) for e in return_elements):
        raise TypeError("return_elements must be a list of strings.")
    if not isinstance(name, (str, type(None))):
        raise TypeError("name must be a string or None, not %r" % (name,))
    graph = get_default_graph()
    _check_ops(graph_def)
    names = [_text(e) for e in return_elements or []]
    before = len(graph)
    with _scope(graph, name) as prefix:
        mapped = _mapped(graph, input_map or {})
        found = _engine.import_graph_def(graph, graph_def.SerializeToString(), prefix, mapped, names)
    _place(graph, before, any(node.device for node in graph_def.node))
    return None if return_elements is None else found


def _scope(graph: Graph, name: Optional[str]) -> Any:
    """Returns the name scope; for "", the current one."""
    if name == "":
        return contextlib.nullcontext("")
    return graph.name_scope("import" if name is None else name)


def _mapped(graph: Graph, input_map: Dict[Any, Any]) -> Dict[str, Tensor]:
    """Returns the values of the map as tensors; new ones are named as in TensorFlow."""
    out = {_text(k): v for k, v in input_map.items()}
    if all(isinstance(v, Tensor) for v in out.values()):
        return out
    with name_scope("_inputs") if graph._scope else graph._exact_scope("_inputs/"):
        return {k: convert_to_tensor(v) for k, v in out.items()}


def _check_ops(graph_def: Any) -> None:
    known = set(_engine.op_names()) | {f.signature.name for f in graph_def.library.function}
    for node in graph_def.node:
        if node.op and node.op not in known:
            raise errors.NotFoundError(
                None,
                None,
                "Op type not registered '%s' in binary running on %s. Make sure the Op and Kernel are registered in the binary running in this "
                "process. Note that if you are loading a saved graph which used ops from tf.contrib, accessing (e.g.) `tf.contrib.resampler` should be "
                "done before importing the graph, as contrib ops are lazily registered when the module is first accessed. (Node '%s'. There is no "
                "such op here, and ops of tf.contrib or of libraries cannot be added.)" % (node.op, platform.node(), node.name),
            )


def _place(graph: Graph, before: int, placed: bool) -> None:
    """Applies devices of enclosing blocks to nodes without one, and normalizes names (`/cpu:0` to
    `/device:CPU:0`).
    """
    devices = [d for d in graph._dressing.active() if isinstance(d, str)]
    if any(devices) or placed:
        for op in graph._operations(before):
            try:
                op._set_device(merged([*devices, op.device]))
            except ValueError:
                pass  # Not a device name: it stays as the graph has it.


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


def load_op_library(library_filename: str) -> Any:
    """Raises: libraries of ops for TensorFlow use its binary interface, and cannot be loaded.

    Args:
      library_filename: The library's path.

    Raises:
      tf.errors.UnimplementedError: The file exists.
      tf.errors.NotFoundError: The file does not exist.

    Example:
      >>> tf.load_op_library("./nothing.so")
      Traceback (most recent call last):
        ...
      millstream.errors.NotFoundError: ./nothing.so: cannot open shared object file: No such file or directory
    """
    import os

    if not os.path.exists(library_filename):
        raise errors.NotFoundError(None, None, "%s: cannot open shared object file: No such file or directory" % library_filename)
    raise errors.UnimplementedError(
        None, None, "%s is a library of ops for TensorFlow, which this engine cannot run: write the op with tf.py_func, or in Rust" % library_filename
    )


load_library = load_op_library
load_file_system_library = load_op_library
