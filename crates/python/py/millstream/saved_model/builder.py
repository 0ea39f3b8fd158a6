"""Writes SavedModels: graphs with signatures, the values of their variables, and asset files."""

from __future__ import annotations

import os
import shutil
from typing import Any, Dict, Mapping, Optional, Sequence, Union

from millstream._engine import Operation, Tensor
from millstream.framework import constant_value, get_collection, protos
from millstream.framework.graph_keys import GraphKeys
from millstream.io.graph_files import write_message
from millstream.saved_model import constants, signature_constants, tag_constants
from millstream.saved_model.signature_def_utils import predict_signature_def
from millstream.train.saver import Saver


class SavedModelBuilder:
    """Writes a SavedModel to a new or empty directory.

    Args:
      export_dir: The directory.

    Raises:
      AssertionError: The directory is not empty.

    Example:
      >>> import os, tempfile
      >>> folder = os.path.join(tempfile.mkdtemp(), "model")
      >>> x = tf.placeholder(tf.float32, [2], name="x")
      >>> signature = tf.saved_model.predict_signature_def({"x": x}, {"y": tf.square(x)})
      >>> builder = tf.saved_model.Builder(folder)
      >>> with tf.Session() as sess:
      ...     builder.add_meta_graph_and_variables(sess, ["serve"], {"serving_default": signature})
      >>> builder.add_meta_graph(["serve", "mine"], {"serving_default": signature})
      >>> print(os.path.basename(builder.save()))
      b'saved_model.pb'
    """

    def __init__(self, export_dir: Union[str, bytes]) -> None:
        self._export_dir = os.fsdecode(export_dir)
        if os.path.exists(self._export_dir) and os.listdir(self._export_dir):
            raise AssertionError(
                "Export directory already exists, and isn't empty. Please choose a different export directory, or delete all the contents of the "
                "specified directory: %s" % self._export_dir
            )
        os.makedirs(self._export_dir, exist_ok=True)
        self._saved_model = protos.SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
        self._has_saved_variables = False

    def add_meta_graph_and_variables(
        self,
        sess: Any,
        tags: Sequence[str],
        signature_def_map: Optional[Mapping[str, Any]] = None,
        assets_collection: Optional[Sequence[Any]] = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Adds the default graph under the given tags, and saves the values of its variables in the session.

        Args:
          sess: The session that holds the variables.
          tags: A list of tags that identify the graph, such as `["serve"]`.
          signature_def_map: A dict from names to signatures.
          assets_collection: A list of tensors that hold the paths of files to copy.
          legacy_init_op: The former name of `main_op`.
          clear_devices: If true, device requests are dropped.
          main_op: An operation to run whenever the model is loaded.
          strip_default_attrs: If true, attributes with default values are dropped.
          saver: The `Saver` of the variables; by default one for all of them.

        Raises:
          AssertionError: The method was called before, or a signature is incomplete.
          TypeError: `main_op` is not an operation.
        """
        if self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke `add_meta_graph()` instead."
            )
        first = _checked_op(main_op if main_op is not None else legacy_init_op)
        folder = os.path.join(self._export_dir, constants.VARIABLES_DIRECTORY)
        os.makedirs(folder, exist_ok=True)
        saver = saver or _saver()
        saver.save(sess, os.path.join(folder, constants.VARIABLES_FILENAME), write_meta_graph=False, write_state=False)
        self._copy_assets(assets_collection)
        self._add(saver, tags, signature_def_map, assets_collection, first, clear_devices, strip_default_attrs)
        self._has_saved_variables = True

    def add_meta_graph(
        self,
        tags: Sequence[str],
        signature_def_map: Optional[Mapping[str, Any]] = None,
        assets_collection: Optional[Sequence[Any]] = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Adds the default graph under the given tags. Its variables are those saved with the first graph.

        Args:
          tags: A list of tags that identify the graph.
          signature_def_map: A dict from names to signatures.
          assets_collection: A list of tensors that hold the paths of files to copy.
          legacy_init_op: The former name of `main_op`.
          clear_devices: If true, device requests are dropped.
          main_op: An operation to run whenever the model is loaded.
          strip_default_attrs: If true, attributes with default values are dropped.
          saver: The `Saver` that restores the variables; by default one for all of them.

        Raises:
          AssertionError: `add_meta_graph_and_variables` was not called before, or a signature is incomplete.
          TypeError: `main_op` is not an operation.
        """
        if not self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke `add_meta_graph_and_variables()` first."
            )
        first = _checked_op(main_op if main_op is not None else legacy_init_op)
        self._copy_assets(assets_collection)
        self._add(saver or _saver(), tags, signature_def_map, assets_collection, first, clear_devices, strip_default_attrs)

    def save(self, as_text: bool = False) -> bytes:
        """Writes the graphs to a file.

        Args:
          as_text: If true, the file is written as text.

        Returns:
          The path of the file, `saved_model.pb` or `saved_model.pbtxt`, as bytes.
        """
        name = constants.SAVED_MODEL_FILENAME_PBTXT if as_text else constants.SAVED_MODEL_FILENAME_PB
        path = os.path.join(self._export_dir, name)
        write_message(self._saved_model, path, as_text)
        return os.fsencode(path)

    def _add(
        self, saver: Any, tags: Sequence[str], signatures: Any, assets: Any, first: Any, clear_devices: bool, strip_default_attrs: bool
    ) -> None:
        meta = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip_default_attrs)
        meta.meta_info_def.tags.extend(tags)
        for key, signature in (signatures or {}).items():
            for info in [*signature.inputs.values(), *signature.outputs.values()]:
                _check_info(info)
            meta.signature_def[key].CopyFrom(protos.as_message("SignatureDef", signature))
        if first is not None:
            meta.collection_def[constants.MAIN_OP_KEY].node_list.value.append(first.name)
        for tensor in assets or ():
            asset = protos.AssetFileDef(filename=os.path.basename(_path_of(tensor)))
            asset.tensor_info.name = tensor.name
            meta.collection_def[constants.ASSETS_KEY].any_list.value.add().Pack(asset)
        self._saved_model.meta_graphs.add().CopyFrom(meta)

    def _copy_assets(self, assets: Any) -> None:
        folder = os.path.join(self._export_dir, constants.ASSETS_DIRECTORY)
        for path in [_path_of(tensor) for tensor in assets or ()]:
            os.makedirs(folder, exist_ok=True)
            shutil.copyfile(path, os.path.join(folder, os.path.basename(path)))


def simple_save(session: Any, export_dir: Union[str, bytes], inputs: Dict[str, Any], outputs: Dict[str, Any], legacy_init_op: Any = None) -> None:
    """Writes the session's graph and variables as a SavedModel for serving, with one signature.

    Args:
      session: The session that holds the variables.
      export_dir: A new or empty directory.
      inputs: A dict from names to tensors to feed.
      outputs: A dict from names to tensors to fetch.
      legacy_init_op: An operation to run whenever the model is loaded.

    Example:
      >>> import os, tempfile
      >>> folder = os.path.join(tempfile.mkdtemp(), "model")
      >>> x = tf.placeholder(tf.float32, [2], name="x")
      >>> with tf.Session() as sess:
      ...     tf.saved_model.simple_save(sess, folder, {"x": x}, {"y": tf.square(x)})
      >>> print(sorted(os.listdir(folder)))
      ['saved_model.pb', 'variables']
    """
    signature = predict_signature_def(inputs, outputs)
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session,
        [tag_constants.SERVING],
        {signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
        assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()


def _saver() -> Any:
    return Saver(sharded=True, allow_empty=True)


def _checked_op(op: Any) -> Any:
    if op is not None and not isinstance(op, Operation):
        raise TypeError("main_op needs to be an Operation: %r" % op)
    return op


def _check_info(info: Any) -> None:
    if info.WhichOneof("encoding") is None:
        raise AssertionError(
            "All TensorInfo protos used in the SignatureDefs must have one of the 'encoding' fields (e.g., name or coo_sparse) set: %s" % info
        )
    if not info.dtype:
        raise AssertionError("All TensorInfo protos used in the SignatureDefs must have the dtype field set: %s" % info)


def _path_of(tensor: Any) -> str:
    """Returns the path that a constant tensor holds."""
    if not isinstance(tensor, Tensor):
        raise ValueError("Cannot identify asset path, as %s is not a tensor." % (tensor,))
    value: Any = constant_value(tensor)
    if value is None:
        raise ValueError("Asset filepath tensor is not a constant: %s" % tensor.name)
    path = value.item() if hasattr(value, "item") else value
    if not path:
        raise ValueError("Asset filepath tensor is empty: %s" % tensor.name)
    return os.fsdecode(path)
