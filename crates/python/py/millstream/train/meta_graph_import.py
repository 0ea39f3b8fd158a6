"""`import_meta_graph`: a graph with its collections and its saver, from a message or a file."""

from __future__ import annotations

import os
from typing import Any, Dict, Optional

from millstream.framework import get_default_graph, proto_functions, protos
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.importer import import_graph_def
from millstream.framework.scopes import prepend_name_scope
from millstream.io.graph_files import read_meta_graph_file
from millstream.train.meta_graph import CONTEXTS, KINDS, UNBOUND
from millstream.train.queue_runner import QueueRunner
from millstream.train.saver import Saver
from millstream.variables.variable import Variable

# The classes of messages in collections.
_CLASSES: Dict[str, Any] = {"VariableDef": Variable, "QueueRunnerDef": QueueRunner, "SaverDef": Saver}


def import_meta_graph(
    meta_graph_or_file: Any, clear_devices: bool = False, import_scope: Optional[str] = None, **kwargs: Any
) -> Any:
    """Adds a graph with its collections to the default graph.

    Args:
      meta_graph_or_file: A `MetaGraphDef`, or the path of a file with one.
      clear_devices: If true, device requests are dropped.
      import_scope: A name scope for the nodes.
      **kwargs: Arguments of `import_graph_def`.

    Returns:
      A `Saver` if the message has one, or if there are variables; otherwise None.

    Raises:
      OSError: The file does not exist or cannot be parsed.

    Example:
      >>> v = tf.Variable(1.0, name="v")
      >>> meta = tf.train.export_meta_graph()
      >>> with tf.Graph().as_default():
      ...     saver = tf.train.import_meta_graph(meta)
      ...     print([v.name for v in tf.global_variables()])
      ['v:0']
    """
    if isinstance(meta_graph_or_file, (str, bytes, os.PathLike)):
        meta = read_meta_graph_file(os.fsdecode(meta_graph_or_file))
    else:
        meta = protos.as_message("MetaGraphDef", meta_graph_or_file)
    import_into(meta, clear_devices, import_scope, **kwargs)
    if meta.HasField("saver_def"):
        return Saver.from_proto(meta.saver_def, import_scope=import_scope)
    if get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES):
        return Saver()
    return None


def import_into(meta: Any, clear_devices: bool, import_scope: Optional[str], **kwargs: Any) -> Any:
    """Adds a graph with its collections to the default graph; returns the elements that were asked for."""
    graph_def = protos.GraphDef()
    graph_def.CopyFrom(meta.graph_def)
    for node in graph_def.node:
        # The export wrote static shapes for other readers; the import infers them.
        node.attr.pop("_output_shapes", None)
        if clear_devices:
            node.device = ""
        # The engine takes no `$` in names.
        node.input[:] = [name.lstrip("$") if name.startswith(UNBOUND) else name for name in node.input]
    if kwargs.get("input_map"):
        kwargs["input_map"] = {
            key[1:] if isinstance(key, str) and key.startswith(UNBOUND) else key: value for key, value in kwargs["input_map"].items()
        }
    n_contexts = get_default_graph()._n_contexts
    elements = import_graph_def(graph_def, name=import_scope or "", **kwargs)
    graph = get_default_graph()
    graph._adopt_contexts(n_contexts)
    for key, collection in sorted(meta.collection_def.items()):
        _import_collection(graph, key, collection, import_scope)
    return elements


def _import_collection(graph: Any, key: str, collection: Any, import_scope: Optional[str]) -> None:
    kind = collection.WhichOneof("kind")
    if kind is None:
        return
    values = getattr(collection, kind).value
    own = proto_functions.values(key, values, import_scope) if kind == "bytes_list" else None
    if own is not None:
        graph.get_collection_ref(key).extend(own)
        return
    if kind == "bytes_list" and key in KINDS:
        message = KINDS[key]
        known: Dict[str, Any] = {}
        if message == "VariableDef":
            # A variable in several collections stays one object.
            for other in KINDS:
                for variable in graph.get_collection(other):
                    known[getattr(variable, "name", "")] = variable
        for data in values:
            parsed = getattr(protos, message).FromString(data)
            name = prepend_name_scope(getattr(parsed, "variable_name", ""), import_scope)
            graph.add_to_collection(key, known.get(name) or _CLASSES[message].from_proto(parsed, import_scope=import_scope))
    elif kind == "bytes_list" and key in CONTEXTS:
        return
    elif kind == "node_list":
        for name in values:
            graph.add_to_collection(key, graph.as_graph_element(prepend_name_scope(name, import_scope)))
    else:
        for value in values:
            graph.add_to_collection(key, value)
