"""`tensorflow.python.tools.freeze_graph`: a graph whose variables are constants of a checkpoint."""

from __future__ import annotations

from typing import Any, List, Optional

from millstream.framework import Graph, graph_util, protos
from millstream.framework.importer import import_graph_def
from millstream.framework.op_functions import raw
from millstream.framework.session import Session
from millstream.io.files import GFile
from millstream.saved_model import loader
from millstream.train.checkpoints import NewCheckpointReader, checkpoint_exists
from millstream.train.meta_graph_import import import_meta_graph
from millstream.train.saver import Saver


def _words(text: Optional[str]) -> Optional[List[str]]:
    return text.replace(" ", "").split(",") if text else None


def freeze_graph_with_def_protos(
    input_graph_def: Any,
    input_saver_def: Any,
    input_checkpoint: str,
    output_node_names: str,
    restore_op_name: Any,
    filename_tensor_name: Any,
    output_graph: str,
    clear_devices: bool,
    initializer_nodes: str,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph_def: Any = None,
    input_saved_model_dir: Optional[str] = None,
    saved_model_tags: Any = None,
    checkpoint_version: int = 2,
) -> Any:
    """Returns a `GraphDef` in which variables are constants, and writes it to `output_graph` if given.

    Raises:
      ValueError: There is no checkpoint, or no output is named.
    """
    if not input_saved_model_dir and not checkpoint_exists(input_checkpoint):
        raise ValueError("Input checkpoint '" + str(input_checkpoint) + "' doesn't exist!")
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    whole = input_graph_def if input_meta_graph_def is None else input_meta_graph_def.graph_def
    if clear_devices and whole is not None:
        for node in whole.node:
            node.device = ""
    with Graph().as_default() as graph, Session(graph=graph) as sess:
        if input_graph_def is not None:
            import_graph_def(input_graph_def, name="")
        if input_saver_def is not None:
            Saver(saver_def=input_saver_def).restore(sess, input_checkpoint)
        elif input_meta_graph_def is not None:
            import_meta_graph(input_meta_graph_def, clear_devices=True).restore(sess, input_checkpoint)
        elif input_saved_model_dir:
            whole = loader.load(sess, saved_model_tags or [], input_saved_model_dir).graph_def
        else:
            _restore(sess, input_checkpoint)
        if initializer_nodes:
            sess.run(_words(initializer_nodes))
        frozen = graph_util.convert_variables_to_constants(
            sess, whole, _words(output_node_names) or [], _words(variable_names_whitelist), _words(variable_names_blacklist)
        )
    if output_graph:
        with GFile(output_graph, "wb") as out:
            out.write(frozen.SerializeToString())
    return frozen


def _restore(sess: Any, checkpoint: str) -> None:
    """Sets those variables of the graph that the checkpoint has."""
    reader, kinds = NewCheckpointReader(checkpoint), {op.name: op.type for op in sess.graph.get_operations()}
    restored = []
    for key in sorted(reader.get_variable_to_shape_map()):
        if key in kinds:
            variable, value = sess.graph.get_tensor_by_name(key + ":0"), reader.get_tensor(key)
            if kinds[key] == "VarHandleOp":
                restored.append(raw("AssignVariableOp")(resource=variable, value=value))
            else:
                restored.append(raw("Assign")(ref=variable, value=value).op)
    if not restored:
        raise ValueError("No variables were found in this model. It is likely the model was frozen previously. You cannot freeze a graph twice.")
    sess.run(restored)


def freeze_graph(
    input_graph: str,
    input_saver: str,
    input_binary: bool,
    input_checkpoint: str,
    output_node_names: str,
    restore_op_name: Any,
    filename_tensor_name: Any,
    output_graph: str,
    clear_devices: bool,
    initializer_nodes: str,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph: Any = None,
    input_saved_model_dir: Optional[str] = None,
    saved_model_tags: str = "serve",
    checkpoint_version: int = 2,
) -> Any:
    """As `freeze_graph_with_def_protos`, for a graph and a `MetaGraphDef` in files."""
    graph_def = None if not input_graph else read_message("GraphDef", input_graph, input_binary)
    meta_graph = None if not input_meta_graph else read_message("MetaGraphDef", input_meta_graph, True)
    saver_def = None if not input_saver else read_message("SaverDef", input_saver, input_binary)
    return freeze_graph_with_def_protos(
        graph_def,
        saver_def,
        input_checkpoint,
        output_node_names,
        restore_op_name,
        filename_tensor_name,
        output_graph,
        clear_devices,
        initializer_nodes,
        variable_names_whitelist,
        variable_names_blacklist,
        meta_graph,
        input_saved_model_dir,
        saved_model_tags.replace(" ", "").split(","),
        checkpoint_version,
    )


def read_message(kind: str, path: str, is_binary: bool) -> Any:
    """Returns the message that a file holds, in binary or in text form."""
    with GFile(path, "rb") as source:
        data = source.read()
    message = protos.as_message(kind, data if is_binary else b"")
    if not is_binary:
        from google.protobuf import text_format

        text_format.Merge(data.decode(), message)
    return message
