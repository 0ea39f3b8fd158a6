"""Graphs in files: `export_meta_graph` and `import_meta_graph` (with collections), `write_graph`."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Set

from millstream import _engine
from millstream.framework import get_default_graph, proto_functions, protos, version
from millstream.framework.contexts import ControlFlowContext, messages_of
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.scopes import strip_name_scope
from millstream.io.graph_files import write_message


# Collections whose elements are messages, and the kinds of message.
KINDS: Dict[str, str] = {
    GraphKeys.GLOBAL_VARIABLES: "VariableDef",
    GraphKeys.LOCAL_VARIABLES: "VariableDef",
    GraphKeys.METRIC_VARIABLES: "VariableDef",
    GraphKeys.MODEL_VARIABLES: "VariableDef",
    GraphKeys.TRAINABLE_VARIABLES: "VariableDef",
    GraphKeys.MOVING_AVERAGE_VARIABLES: "VariableDef",
    GraphKeys.GLOBAL_STEP: "VariableDef",
    GraphKeys.QUEUE_RUNNERS: "QueueRunnerDef",
    GraphKeys.SAVERS: "SaverDef",
}

# Collections of loops and branches: exported from the engine's contexts; an import finds them by their nodes.
CONTEXTS = (GraphKeys.WHILE_CONTEXT, GraphKeys.COND_CONTEXT)


def _add_collection(meta: Any, key: str, values: List[Any], export_scope: Optional[str]) -> None:
    """Adds a collection to the message, unless one of its values cannot be written."""
    own = proto_functions.messages(key, values, export_scope)
    if own is not None:
        meta.collection_def[key].bytes_list.value.extend(own)
        return
    out, kind = protos.CollectionDef(), None
    contexts = [v for v in values if key in CONTEXTS and isinstance(v, ControlFlowContext)]
    messages = dict(zip(map(id, contexts), messages_of(contexts)))
    for value in values:
        if id(value) in messages:
            message = messages[id(value)]
            if message is not None:
                out.bytes_list.value.append(message.SerializeToString())
        elif key in KINDS and hasattr(value, "to_proto"):
            message = value.to_proto(export_scope=export_scope)
            if message is not None:
                out.bytes_list.value.append(message.SerializeToString())
        elif hasattr(value, "name") and hasattr(value, "graph"):
            if export_scope is None or value.name.startswith(export_scope):
                out.node_list.value.append(strip_name_scope(value.name, export_scope))
        elif isinstance(value, bool):
            return
        elif isinstance(value, int):
            out.int64_list.value.append(value)
        elif isinstance(value, float):
            out.float_list.value.append(value)
        elif isinstance(value, (str, bytes)):
            out.bytes_list.value.append(value.encode() if isinstance(value, str) else value)
        else:
            # Values without a form in the file, such as arbitrary Python objects, are not exported.
            return
        if kind not in (None, out.WhichOneof("kind")):
            return  # Values of different kinds have no form either.
        kind = out.WhichOneof("kind")
    if kind is not None:
        meta.collection_def[key].CopyFrom(out)


def export_meta_graph(
    filename: Optional[str] = None,
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Optional[List[str]] = None,
    as_text: bool = False,
    graph: Any = None,
    export_scope: Optional[str] = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> Any:
    """Returns a graph with its collections as a `MetaGraphDef`, and writes it to a file if one is given.

    Args:
      filename: The file to write.
      meta_info_def: A `MetaInfoDef` to include.
      graph_def: A `GraphDef` to include, instead of the graph's own.
      saver_def: A `SaverDef` to include.
      collection_list: A list of the collections to include; by default all.
      as_text: If true, the file is written as text.
      graph: The graph; by default the default graph.
      export_scope: A name scope: exports only the nodes in it.
      clear_devices: If true, device requests are dropped.
      clear_extraneous_savers: If true, leaves out the operations and messages of all savers other than that
        of `saver_def`.
      strip_default_attrs: If true, attributes with default values are dropped.
      save_debug_info: Ignored.

    Returns:
      A `MetaGraphDef`.

    Raises:
      TypeError: `meta_info_def` is something else.

    Example:
      >>> v = tf.Variable(1.0, name="v")
      >>> meta = tf.train.export_meta_graph()
      >>> sorted(meta.collection_def)
      ['trainable_variables', 'variables']
    """
    graph = graph or get_default_graph()
    meta = protos.MetaGraphDef()
    if meta_info_def is not None:
        meta.meta_info_def.CopyFrom(_info(meta_info_def))
    meta.meta_info_def.tensorflow_version = version.VERSION
    source = graph.as_graph_def(add_shapes=True) if graph_def is None else protos.as_message("GraphDef", graph_def)
    meta.graph_def.CopyFrom(source)
    dropped = _of_other_savers(source, saver_def) if clear_extraneous_savers else set()
    if dropped:
        kept = [n for n in source.node if n.name not in dropped]
        del meta.graph_def.node[:]
        meta.graph_def.node.extend(kept)
    if export_scope is not None:
        unbound = _keep_scope(meta.graph_def, export_scope)
        if unbound:
            meta.collection_def["unbound_inputs"].node_list.value.extend(unbound)
    if clear_devices:
        for node in meta.graph_def.node:
            node.device = ""
    definitions = _definitions(meta.graph_def)
    meta.meta_info_def.ClearField("stripped_op_list")
    meta.meta_info_def.stripped_op_list.op.extend(definitions[name] for name in sorted(definitions))
    if strip_default_attrs:
        _strip_defaults(meta.graph_def, definitions)
        meta.meta_info_def.stripped_default_attrs = True
    if saver_def is not None:
        meta.saver_def.CopyFrom(saver_def)
    for key in graph.get_all_collection_keys() if collection_list is None else collection_list:
        values = graph.get_collection(key)
        if clear_extraneous_savers and key == GraphKeys.SAVERS:
            if saver_def is not None:
                meta.collection_def[key].bytes_list.value.append(saver_def.SerializeToString())
            continue
        values = [v for v in values if str(getattr(v, "name", "")).split(":")[0] not in dropped]
        _add_collection(meta, key, values, export_scope)
    if filename:
        write_message(meta, filename, as_text)
    return meta


def _info(info: Any) -> Any:
    """Returns a `MetaInfoDef`, of this library's messages or of another's."""
    kind = protos.MetaGraphDef.MetaInfoDef
    if isinstance(info, kind):
        return info
    if getattr(getattr(info, "DESCRIPTOR", None), "full_name", None) != kind.DESCRIPTOR.full_name:
        raise TypeError("meta_info_def must be a tf.MetaGraphDef.MetaInfoDef, not %r" % (info,))
    return kind.FromString(info.SerializeToString())


# The prefix of names of inputs from outside of an exported scope.
UNBOUND = "$unbound_inputs_"

_SAVES = frozenset(["SaveV2", "Save", "SaveSlices", "RestoreV2", "Restore", "RestoreSlice"])


def _of_other_savers(graph_def: Any, saver_def: Any) -> Set[str]:
    """Returns the names of nodes in scopes of savers, except for that of `saver_def`."""

    def scope(name: str) -> str:
        return name.split(":")[0].rpartition("/")[0]

    ours = set() if saver_def is None else {scope(saver_def.save_tensor_name), scope(saver_def.restore_op_name)}
    saving = {n.name for n in graph_def.node if n.op in _SAVES}
    # Nodes outside of any scope belong to no saver's.
    others = tuple(s + "/" for s in sorted({scope(name) for name in saving} - ours - saving - {""}))
    return {n.name for n in graph_def.node if n.name.startswith(others)} if others else set()


def _definitions(graph_def: Any) -> Dict[str, Any]:
    """Returns the definitions of the op types in a graph, by name, for readers that do not know them."""
    encoded = {node.op: _engine.op_def(node.op) for node in graph_def.node}
    return {name: protos.OpDef.FromString(data) for name, data in encoded.items() if data is not None}


def _strip_defaults(graph_def: Any, definitions: Dict[str, Any]) -> None:
    """Drops attributes with default values, so that readers that do not know them can read the graph."""
    for node in graph_def.node:
        for attr in definitions[node.op].attr if node.op in definitions else ():
            if attr.HasField("default_value") and attr.name in node.attr and node.attr[attr.name] == attr.default_value:
                del node.attr[attr.name]


def _keep_scope(graph_def: Any, scope: str) -> List[str]:
    """Keeps only the nodes of a scope, with names relative to it; returns the inputs from outside."""
    unbound: List[str] = []
    inside = scope.rstrip("/") + "/"
    kept = [n for n in graph_def.node if n.name.startswith(inside)]
    out = protos.GraphDef()
    out.CopyFrom(graph_def)
    del out.node[:]
    for node in kept:
        new = out.node.add()
        new.CopyFrom(node)
        new.name = strip_name_scope(node.name, scope)
        del new.input[:]
        for name in node.input:
            if name.lstrip("^").startswith(inside):
                new.input.append(strip_name_scope(name, scope))
            elif not name.startswith("^"):
                # An import binds it with `input_map`.
                new.input.append(UNBOUND + name)
                unbound.extend([UNBOUND + name] if UNBOUND + name not in unbound else [])
        if "_class" in new.attr:
            names = [strip_name_scope(s, scope).encode() for s in new.attr["_class"].list.s]
            new.attr["_class"].list.s[:] = names
    graph_def.CopyFrom(out)
    return unbound
