"""Loads SavedModels."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, Optional, Union

from millstream.framework import errors, protos
from millstream.framework.scopes import prepend_name_scope
from millstream.saved_model import constants
from millstream.train.checkpoints import checkpoint_exists
from millstream.train.meta_graph_import import import_meta_graph

# The signature that names the init operation in SavedModels of later versions.
_INIT_SIGNATURE = "__saved_model_init_op"


def maybe_saved_model_directory(export_dir: Union[str, bytes]) -> bool:
    """Returns whether a directory may hold a SavedModel: whether it has a file of that name.

    Args:
      export_dir: The directory, text or bytes.

    Returns:
      A bool.

    Example:
      >>> print(tf.saved_model.maybe_saved_model_directory("/nowhere"))
      False
    """
    files = (constants.SAVED_MODEL_FILENAME_PBTXT, constants.SAVED_MODEL_FILENAME_PB)
    folder = os.fsdecode(export_dir)
    return any(os.path.exists(os.path.join(folder, name)) for name in files)


def load(sess: Any, tags: Iterable[str], export_dir: Union[str, bytes], import_scope: Optional[str] = None, **saver_kwargs: Any) -> Any:
    """Adds a graph of a SavedModel to the session's graph, and restores its variables.

    Args:
      sess: The session.
      tags: The exact tags of the graph.
      export_dir: The directory, text or bytes.
      import_scope: A name scope for the nodes.
      **saver_kwargs: Arguments of `tf.train.import_meta_graph`.

    Returns:
      The graph's `MetaGraphDef`, which has the signatures.

    Raises:
      OSError: The directory holds no SavedModel.
      RuntimeError: No graph has these tags.

    Example:
      >>> import os, tempfile
      >>> folder = os.path.join(tempfile.mkdtemp(), "model")
      >>> x = tf.placeholder(tf.float32, [2], name="x")
      >>> with tf.Session() as sess:
      ...     tf.saved_model.simple_save(sess, folder, {"x": x}, {"y": tf.square(x)})
      >>> with tf.Session(graph=tf.Graph()) as sess:
      ...     signature = tf.saved_model.load(sess, ["serve"], folder).signature_def["serving_default"]
      ...     print(sess.run(signature.outputs["y"].name, {signature.inputs["x"].name: [1.0, 3.0]}))
      [1. 9.]
    """
    export_dir = os.fsdecode(export_dir)  # `Estimator.export_savedmodel` returns bytes.
    model = _read(export_dir)
    meta = _of_tags(model, tags)
    with sess.graph.as_default():
        saver = import_meta_graph(meta, import_scope=import_scope, **saver_kwargs)
        prefix = os.path.join(export_dir, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
        if saver is not None and checkpoint_exists(prefix):
            saver.restore(sess, prefix)
        first = _first_op(sess.graph, meta, import_scope)
        if first is not None:
            sess.run(first, _assets(meta, export_dir, import_scope))
    return meta


def _read(export_dir: str) -> Any:
    from google.protobuf import text_format

    path = os.path.join(export_dir, constants.SAVED_MODEL_FILENAME_PB)
    if os.path.exists(path):
        with open(path, "rb") as source:
            try:
                return protos.SavedModel.FromString(source.read())
            except errors.ResourceExhaustedError:
                raise
            except Exception as error:
                raise OSError("Cannot parse file %s: %s." % (path, error)) from None
    path = os.path.join(export_dir, constants.SAVED_MODEL_FILENAME_PBTXT)
    if os.path.exists(path):
        with open(path, "rb") as source:
            try:
                return protos.from_text(source.read(), protos.SavedModel())
            except text_format.ParseError as error:
                raise OSError("Cannot parse file %s: %s." % (path, error)) from None
    raise OSError(
        "SavedModel file does not exist at: %s/{%s|%s}" % (export_dir, constants.SAVED_MODEL_FILENAME_PBTXT, constants.SAVED_MODEL_FILENAME_PB)
    )


def _of_tags(model: Any, tags: Iterable[str]) -> Any:
    wanted = set(tags)
    available = [set(meta.meta_info_def.tags) for meta in model.meta_graphs]
    for meta, has in zip(model.meta_graphs, available):
        if has == wanted:
            return meta
    raise RuntimeError(
        "MetaGraphDef associated with tags %s could not be found in SavedModel. To inspect available tag-sets in the SavedModel, please use the "
        "SavedModel CLI: `saved_model_cli`\navailable_tags: %s" % (str(tags).strip("[]"), available)
    )


def _first_op(graph: Any, meta: Any, import_scope: Optional[str]) -> Any:
    """Returns the operation to run after the variables are restored, or None."""
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        if key in meta.collection_def:
            names = meta.collection_def[key].node_list.value
            if len(names) != 1:
                raise RuntimeError("Expected exactly one main op in : %s" % meta)
            return graph.as_graph_element(prepend_name_scope(names[0], import_scope))
    if _INIT_SIGNATURE in meta.signature_def:
        name = meta.signature_def[_INIT_SIGNATURE].outputs[_INIT_SIGNATURE].name
        return graph.as_graph_element(prepend_name_scope(name.partition(":")[0], import_scope))
    return None


def _assets(meta: Any, export_dir: str, import_scope: Optional[str]) -> Dict[str, str]:
    """Returns a dict from the tensors that hold asset paths to the current paths."""
    assets = list(meta.asset_file_def)
    if not assets and constants.ASSETS_KEY in meta.collection_def:
        for value in meta.collection_def[constants.ASSETS_KEY].any_list.value:
            assets.append(protos.AssetFileDef())
            value.Unpack(assets[-1])
    folder = os.path.join(export_dir, constants.ASSETS_DIRECTORY)
    return {prepend_name_scope(a.tensor_info.name, import_scope): os.path.join(folder, a.filename) for a in assets}
