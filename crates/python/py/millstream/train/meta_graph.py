"""Graphs in files: `export_meta_graph` and `import_meta_graph` (with collections and a saver), `write_graph`."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, List, Optional, Tuple

import millstream as tf
from millstream import _engine, protos
from millstream.graph_keys import GraphKeys
from millstream.scopes import prepend_name_scope, strip_name_scope


def _variable_from_proto(data: Any, import_scope: Optional[str]) -> Any:
    return tf.Variable.from_proto(data, import_scope=import_scope)


def _runner_from_proto(data: Any, import_scope: Optional[str]) -> Any:
    from millstream.train.queue_runner import QueueRunner

    return QueueRunner.from_proto(data, import_scope=import_scope)


def _saver_from_proto(data: Any, import_scope: Optional[str]) -> Any:
    from millstream.train.saver import Saver

    return Saver.from_proto(data, import_scope=import_scope)


# Collections whose elements are messages: which, and how they become objects again.
_KINDS: Dict[str, Tuple[str, Callable[[Any, Optional[str]], Any]]] = {
    key: ("VariableDef", _variable_from_proto)
    for key in (
        GraphKeys.GLOBAL_VARIABLES,
        GraphKeys.LOCAL_VARIABLES,
        GraphKeys.METRIC_VARIABLES,
        GraphKeys.MODEL_VARIABLES,
        GraphKeys.TRAINABLE_VARIABLES,
        GraphKeys.MOVING_AVERAGE_VARIABLES,
        GraphKeys.GLOBAL_STEP,
    )
}
_KINDS[GraphKeys.QUEUE_RUNNERS] = ("QueueRunnerDef", _runner_from_proto)
_KINDS[GraphKeys.SAVERS] = ("SaverDef", _saver_from_proto)


# Those of loops and branches: written from what the engine says; an import finds them by their nodes.
_CONTEXTS = (GraphKeys.WHILE_CONTEXT, GraphKeys.COND_CONTEXT)


def _add_collection(meta: Any, key: str, values: List[Any], export_scope: Optional[str]) -> None:
    """Adds a collection, unless something in it cannot be written."""
    out, kind = protos.CollectionDef(), None
    for value in values:
        if key in _CONTEXTS and hasattr(value, "to_proto"):
            message = value.to_proto()
            if message is not None:
                out.bytes_list.value.append(message.SerializeToString())
        elif key in _KINDS and hasattr(value, "to_proto"):
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
            # What has no form in the file, such as a Python object of the program's own, stays here.
            return
        if kind not in (None, out.WhichOneof("kind")):
            return  # Values of several kinds have no form either.
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
    """A graph with its collections as a `MetaGraphDef`, also written to a file if one is named.

    Args:
      filename: The file.
      meta_info_def: A `MetaInfoDef` to put in.
      graph_def: A `GraphDef` to put in, in place of the graph's.
      saver_def: A `SaverDef` to put in.
      collection_list: A list of the collections to put in; all by default.
      as_text: Whether the file is written as text.
      graph: The graph; the default graph by default.
      export_scope: A name scope: only what is in it.
      clear_devices: Whether devices are left out.
      clear_extraneous_savers: Whether other savers are.
      strip_default_attrs: Whether attributes of default values are.
      save_debug_info: Accepted.

    Returns:
      The message.

    Example:
      >>> v = tf.Variable(1.0, name="v")
      >>> meta = tf.train.export_meta_graph()
      >>> sorted(meta.collection_def)
      ['trainable_variables', 'variables']
    """
    graph = graph or tf.get_default_graph()
    meta = protos.MetaGraphDef()
    if meta_info_def is not None:
        meta.meta_info_def.CopyFrom(protos.as_message("MetaGraphDef", meta_info_def).meta_info_def)
    meta.meta_info_def.tensorflow_version = tf.version.VERSION
    source = graph.as_graph_def(add_shapes=True) if graph_def is None else protos.as_message("GraphDef", graph_def)
    meta.graph_def.CopyFrom(source)
    if export_scope is not None:
        _keep_scope(meta.graph_def, export_scope)
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
        _add_collection(meta, key, graph.get_collection(key), export_scope)
    if filename:
        write_message(meta, filename, as_text)
    return meta


def _definitions(graph_def: Any) -> Dict[str, Any]:
    """The definitions of the op types in a graph, by name, for readers that do not know them."""
    encoded = {node.op: _engine.op_def(node.op) for node in graph_def.node}
    return {name: protos.OpDef.FromString(data) for name, data in encoded.items() if data is not None}


def _strip_defaults(graph_def: Any, definitions: Dict[str, Any]) -> None:
    """Takes off attributes that say what is so anyway: readers that do not know them yet can read the graph."""
    for node in graph_def.node:
        for attr in definitions[node.op].attr if node.op in definitions else ():
            if attr.HasField("default_value") and attr.name in node.attr and node.attr[attr.name] == attr.default_value:
                del node.attr[attr.name]


def _keep_scope(graph_def: Any, scope: str) -> None:
    """Leaves only the nodes of a scope, by their names in it."""
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
            if not name.lstrip("^").startswith(inside):
                raise ValueError(f"node `{node.name}` takes `{name}`, which is outside `{scope}`")
            new.input.append(strip_name_scope(name, scope))
        if "_class" in new.attr:
            names = [strip_name_scope(s, scope).encode() for s in new.attr["_class"].list.s]
            new.attr["_class"].list.s[:] = names
    graph_def.CopyFrom(out)


def read_meta_graph_file(filename: str) -> Any:
    """The `MetaGraphDef` of a file, in binary or text."""
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    if not os.path.exists(filename):
        raise OSError(f"File {filename} does not exist.")
    with open(filename, "rb") as source:
        data = source.read()
    try:
        return protos.MetaGraphDef.FromString(data)
    except DecodeError:
        pass
    try:
        return text_format.Parse(data.decode(), protos.MetaGraphDef())
    except (UnicodeDecodeError, text_format.ParseError) as error:
        raise OSError(f"Cannot parse file {filename}: {error}.") from None


def import_meta_graph(
    meta_graph_or_file: Any, clear_devices: bool = False, import_scope: Optional[str] = None, **kwargs: Any
) -> Any:
    """Adds a graph with its collections to the default one.

    Args:
      meta_graph_or_file: A `MetaGraphDef`, or a file of one.
      clear_devices: Whether devices are left out.
      import_scope: The name scope of the nodes.
      **kwargs: As for `import_graph_def`.

    Returns:
      A `Saver` if the message has one, or there are variables; else None.

    Raises:
      OSError: There is no such file.

    Example:
      >>> v = tf.Variable(1.0, name="v")
      >>> meta = tf.train.export_meta_graph()
      >>> with tf.Graph().as_default():
      ...     saver = tf.train.import_meta_graph(meta)
      ...     print([v.name for v in tf.global_variables()])
      ['v:0']
    """
    from millstream.train.saver import Saver

    if isinstance(meta_graph_or_file, (str, os.PathLike)):
        meta = read_meta_graph_file(os.fspath(meta_graph_or_file))
    else:
        meta = protos.as_message("MetaGraphDef", meta_graph_or_file)
    graph_def = protos.GraphDef()
    graph_def.CopyFrom(meta.graph_def)
    for node in graph_def.node:
        # Said by the export for readers; importing infers them anew.
        node.attr.pop("_output_shapes", None)
        if clear_devices:
            node.device = ""
    n_contexts = tf.get_default_graph()._n_contexts
    tf.import_graph_def(graph_def, name=import_scope or "", **kwargs)
    graph = tf.get_default_graph()
    graph._adopt_contexts(n_contexts)
    for key, collection in sorted(meta.collection_def.items()):
        _import_collection(graph, key, collection, import_scope)
    if meta.HasField("saver_def"):
        scope = import_scope
        return Saver.from_proto(meta.saver_def, import_scope=scope)
    if graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
        return Saver()
    return None


def _import_collection(graph: Any, key: str, collection: Any, import_scope: Optional[str]) -> None:
    kind = collection.WhichOneof("kind")
    if kind is None:
        return
    values = getattr(collection, kind).value
    if kind == "bytes_list" and key in _KINDS:
        message, from_proto = _KINDS[key]
        known: Dict[str, Any] = {}
        if message == "VariableDef":
            # A variable of several collections is one object.
            for other in _KINDS:
                for variable in graph.get_collection(other):
                    known[getattr(variable, "name", "")] = variable
        for data in values:
            parsed = getattr(protos, message).FromString(data)
            name = prepend_name_scope(getattr(parsed, "variable_name", ""), import_scope)
            graph.add_to_collection(key, known.get(name) or from_proto(parsed, import_scope))
    elif kind == "bytes_list" and key in _CONTEXTS:
        return
    elif kind == "node_list":
        for name in values:
            graph.add_to_collection(key, graph.as_graph_element(prepend_name_scope(name, import_scope)))
    else:
        for value in values:
            graph.add_to_collection(key, value)


def write_message(message: Any, path: str, as_text: bool) -> None:
    """Writes a message, in text or binary."""
    from google.protobuf import text_format

    data = text_format.MessageToString(message).encode() if as_text else message.SerializeToString()
    with open(path, "wb") as out:
        out.write(data)


def write_graph(graph_or_graph_def: Any, logdir: str, name: str, as_text: bool = True) -> str:
    r"""Writes a graph to a file of a folder, which is made if it is not there.

    Args:
      graph_or_graph_def: A `Graph` or a `GraphDef`.
      logdir: The folder.
      name: The file's name.
      as_text: Whether it is written as text.

    Returns:
      The file's path.

    Example:
      >>> import tempfile
      >>> c = tf.constant(1, name="c")
      >>> path = tf.train.write_graph(tf.get_default_graph(), tempfile.mkdtemp(), "graph.pbtxt")
      >>> open(path).read(14)
      'node {\n  name:'
    """
    given = graph_or_graph_def
    graph_def = given.as_graph_def() if hasattr(given, "as_graph_def") else protos.as_message("GraphDef", given)
    os.makedirs(logdir, exist_ok=True)
    path = os.path.join(logdir, name)
    write_message(graph_def, path, as_text)
    return path
