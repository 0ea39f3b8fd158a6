"""Writes SavedModels: graphs with signatures, the values of their variables, and the files that they read."""

from __future__ import annotations

import os
import shutil
from typing import Any, Dict, Mapping, Optional, Sequence

import millstream as tf
from millstream import protos
from millstream.framework import constant_value
from millstream.saved_model import constants, signature_constants, tag_constants
from millstream.saved_model.signature_def_utils import predict_signature_def


class SavedModelBuilder:
    """Writes a SavedModel to a folder that is not there yet, or empty.

    Args:
      export_dir: The folder.

    Raises:
      AssertionError: There is something in the folder.

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

    def __init__(self, export_dir: str) -> None:
        self._export_dir = os.fspath(export_dir)
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
        """Adds the default graph, under these tags, and writes what its variables are in the session.

        Args:
          sess: The session that holds the variables.
          tags: What the graph is for: `["serve"]`.
          signature_def_map: Signatures by name.
          assets_collection: Tensors that are the paths of files; the files are copied.
          legacy_init_op: The same as `main_op`.
          clear_devices: Whether devices are left out.
          main_op: An operation that is run whenever the model is loaded.
          strip_default_attrs: Whether attributes that are as their op has them by default are left out.
          saver: What saves the variables; by default one for all of them.

        Raises:
          AssertionError: This was called before, or a signature lacks something.
          TypeError: `main_op` is no operation.
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
        """Adds the default graph, under these tags. The variables are those that were written with the first graph.

        Args:
          tags: What the graph is for.
          signature_def_map: Signatures by name.
          assets_collection: Tensors that are the paths of files; the files are copied.
          legacy_init_op: The same as `main_op`.
          clear_devices: Whether devices are left out.
          main_op: An operation that is run whenever the model is loaded.
          strip_default_attrs: Whether attributes that are as their op has them by default are left out.
          saver: What restores the variables; by default one for all of them.

        Raises:
          AssertionError: `add_meta_graph_and_variables` was not called before, or a signature lacks something.
          TypeError: `main_op` is no operation.
        """
        if not self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke `add_meta_graph_and_variables()` first."
            )
        first = _checked_op(main_op if main_op is not None else legacy_init_op)
        self._copy_assets(assets_collection)
        self._add(saver or _saver(), tags, signature_def_map, assets_collection, first, clear_devices, strip_default_attrs)

    def save(self, as_text: bool = False) -> bytes:
        """Writes the graphs.

        Args:
          as_text: Whether as text.

        Returns:
          The path of the file, `saved_model.pb` or `saved_model.pbtxt`, as bytes.
        """
        from millstream.train.meta_graph import write_message

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


def simple_save(session: Any, export_dir: str, inputs: Dict[str, Any], outputs: Dict[str, Any], legacy_init_op: Any = None) -> None:
    """Writes the session's graph and variables as a SavedModel for serving, with one signature.

    Args:
      session: The session that holds the variables.
      export_dir: A folder that is not there yet, or empty.
      inputs: What is fed: tensors by name.
      outputs: What is fetched: tensors by name.
      legacy_init_op: An operation that is run whenever the model is loaded.

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
        assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()


def _saver() -> Any:
    return tf.train.Saver(sharded=True, allow_empty=True)


def _checked_op(op: Any) -> Any:
    if op is not None and not isinstance(op, tf.Operation):
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
    """The path that a constant is."""
    if not isinstance(tensor, tf.Tensor):
        raise ValueError("Cannot identify asset path, as %s is not a tensor." % (tensor,))
    value: Any = constant_value(tensor)
    if value is None:
        raise ValueError("Asset filepath tensor is not a constant: %s" % tensor.name)
    path = value.item() if hasattr(value, "item") else value
    if not path:
        raise ValueError("Asset filepath tensor is empty: %s" % tensor.name)
    return os.fsdecode(path)
