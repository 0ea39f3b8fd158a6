"""The modules of `python.saved_model` that write and read the parts of a SavedModel: `NAMES`."""

from __future__ import annotations

import collections.abc
import filecmp
import itertools
import os
import shutil
from typing import Any, Dict, Iterator, List, Optional, Tuple

from millstream._engine import Operation, Tensor
from millstream.estimator import export
from millstream.estimator.estimator import _new_folder
from millstream.framework import constant, dtypes, errors, get_default_graph, protos, shapes
from millstream.framework.scopes import prepend_name_scope
from millstream.io import files
from millstream.saved_model import constants, loader, signature_constants, signature_def_utils, utils
from millstream.saved_model.builder import SavedModelBuilder
from millstream.train.checkpoints import checkpoint_exists
from millstream.train.meta_graph_import import import_meta_graph

# Folders ----------------------------------------------------------------------------------------------------


def get_assets_dir(export_dir: str) -> str:
    """Returns the folder of a SavedModel's assets."""
    return os.path.join(os.fsdecode(export_dir), constants.ASSETS_DIRECTORY)


def get_variables_dir(export_dir: str) -> str:
    """Returns the folder of a SavedModel's variables."""
    return os.path.join(os.fsdecode(export_dir), constants.VARIABLES_DIRECTORY)


def get_variables_path(export_dir: str) -> str:
    """Returns the path of the checkpoint in a SavedModel."""
    return os.path.join(get_variables_dir(export_dir), constants.VARIABLES_FILENAME)


def _made(folder: str) -> str:
    if not files.Exists(folder):
        files.MakeDirs(folder)
    return folder


def get_or_create_assets_dir(export_dir: str) -> str:
    """Returns the folder of a SavedModel's assets, which is made if there is none."""
    return _made(get_assets_dir(export_dir))


def get_or_create_variables_dir(export_dir: str) -> str:
    """Returns the folder of a SavedModel's variables, which is made if there is none."""
    return _made(get_variables_dir(export_dir))


def get_asset_filename_to_add(asset_filepath: Any, asset_filename_map: Dict[str, str]) -> str:
    """Returns the name for a copy of a file, with a number behind it if another file has that name."""
    plain = os.path.basename(asset_filepath)
    other = asset_filename_map.get(plain, asset_filepath)
    if other == asset_filepath or filecmp.cmp(asset_filepath, other, shallow=False):
        return plain
    names = ("%s_%d" % (plain, number) for number in itertools.count(1))
    return next(name for name in names if name not in asset_filename_map)


def copy_assets_to_destination_dir(asset_filename_map: Dict[str, str], destination_dir: str) -> None:
    """Copies files into the folder of a SavedModel's assets, under the names that are the keys."""
    folder = get_or_create_assets_dir(destination_dir)
    for name, path in asset_filename_map.items():
        target = os.path.join(folder, name)
        if not os.path.exists(target):
            shutil.copyfile(path, target)


def get_temp_export_dir(timestamped_export_dir: Any) -> Any:
    """Returns the path of the folder that holds a SavedModel until it is whole."""
    folder, name = os.path.split(os.fsdecode(timestamped_export_dir))
    return os.path.join(folder, "temp-" + name).encode()


def get_timestamped_export_dir(export_dir_base: Any) -> Any:
    """Returns the path of a new folder, whose name is the time."""
    return _new_folder(os.fsdecode(export_dir_base)).encode()


# Signatures -------------------------------------------------------------------------------------------------

_TRAINING, _EVALUATION = "tensorflow/supervised/training", "tensorflow/supervised/eval"


def build_tensor_info_from_op(op: Any) -> Any:
    """Returns the `TensorInfo` of an operation, which has no dtype."""
    return protos.TensorInfo(tensor_shape=shapes.TensorShape(None).as_proto(), name=op.name)


def get_element_from_tensor_info(tensor_info: Any, graph: Any = None, import_scope: Optional[str] = None) -> Any:
    """Returns the tensor or operation of a graph that a `TensorInfo` names."""
    return (graph or get_default_graph()).as_graph_element(prepend_name_scope(tensor_info.name, import_scope))


def op_signature_def(op: Any, key: str) -> Any:
    """Returns a signature with an operation as its only output."""
    return signature_def_utils.build_signature_def(outputs={key: build_tensor_info_from_op(op)})


def load_op_from_signature_def(signature_def: Any, key: str, import_scope: Optional[str] = None) -> Any:
    """Returns the operation that is an output of a signature.

    Raises:
      NotFoundError: The graph has no such operation.
    """
    try:
        return get_element_from_tensor_info(signature_def.outputs[key], import_scope=import_scope)
    except KeyError:
        raise errors.NotFoundError(
            None,
            None,
            "The %s could not be found in the graph. Please make sure the SavedModel was created by the internal _SavedModelBuilder. "
            "If you are using the public API, please make sure the SignatureDef in the SavedModel does not contain the key '%s'." % (key, key),
        ) from None


def _supervised(method: str, inputs: Any, *outputs: Any) -> Any:
    if not inputs:
        raise ValueError("{} inputs cannot be None or empty.".format(method))

    def infos(tensors: Any) -> Dict[str, Any]:
        return {key: utils.build_tensor_info(tensor) for key, tensor in (tensors or {}).items()}

    found: Dict[str, Any] = {}
    for some in outputs:
        found.update(infos(some))
    return signature_def_utils.build_signature_def(infos(inputs), found, method)


def supervised_train_signature_def(inputs: Any, loss: Any, predictions: Any = None, metrics: Any = None) -> Any:
    """Returns the signature of a training step: dicts of inputs and of outputs.

    Raises:
      ValueError: There are no inputs.
    """
    return _supervised(_TRAINING, inputs, loss, predictions, metrics)


def supervised_eval_signature_def(inputs: Any, loss: Any, predictions: Any = None, metrics: Any = None) -> Any:
    """Returns the signature of an evaluation: dicts of inputs and of outputs.

    Raises:
      ValueError: There are no inputs.
    """
    return _supervised(_EVALUATION, inputs, loss, predictions, metrics)


# Outputs of models ------------------------------------------------------------------------------------------


def _named(outputs: Any, default: str) -> Dict[str, Any]:
    """Returns tensors as a dict, after checks of their names and types."""
    found = {}
    for key, value in (outputs if isinstance(outputs, dict) else {default: outputs}).items():
        if not isinstance(value, Tensor):
            raise ValueError("{} output value must be a Tensor; got {}.".format(default, value))
        found[_key(key, default)] = value
    return found


def _key(key: Any, what: str) -> str:
    key = "/".join(key) if isinstance(key, tuple) else key
    if not isinstance(key, str):
        raise ValueError("{} output key must be a string; got {}.".format(what, key))
    return key


def _under(prefix: str, outputs: Dict[str, Any]) -> Dict[str, Any]:
    """Returns outputs with a prefix to the names that lack it."""
    return {key if prefix in key else prefix + "/" + key: value for key, value in outputs.items()}


def _measured(metrics: Any) -> Dict[str, Any]:
    """Returns the value and the update of each metric, under names of their own."""
    found = {}
    for key, value in (metrics if isinstance(metrics, dict) else {"metrics": metrics}).items():
        if not isinstance(value, tuple):
            raise ValueError("{} output value must be a tuple or a Keras Metric; got {}.".format("metrics", value))
        result, update = value
        (name,) = _under("metrics", {_key(key, "metrics"): None})
        if not isinstance(result, Tensor):
            raise ValueError("{} output value must be a Tensor; got {}.".format(name, result))
        if not isinstance(update, (Tensor, Operation)):
            raise ValueError("{} update_op must be a Tensor or Operation; got {}.".format(name, update))
        if isinstance(update, Operation):
            with get_default_graph().control_dependencies([update]):
                update = constant([], dtypes.float32, name="metric_op_wrapper")
        found[name + "/value"], found[name + "/update_op"] = result, update
    return found


class SupervisedOutput(export.ExportOutput):
    """The output of a model that is trained or evaluated: the loss, predictions and metrics.

    Args:
      loss: A tensor, or a dict of tensors.
      predictions: The same.
      metrics: A dict of pairs: the value and the operation or tensor that updates it.

    Raises:
      ValueError: A name is not a text, or a value is not a tensor.
    """

    _signature: Any = None

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None) -> None:
        self._loss = None if loss is None else _under("loss", _named(loss, "loss"))
        self._predictions = None if predictions is None else _under("predictions", _named(predictions, "predictions"))
        self._metrics = None if metrics is None else _measured(metrics)

    @property
    def loss(self) -> Any:
        """The loss, as a dict."""
        return self._loss

    @property
    def predictions(self) -> Any:
        """The predictions, as a dict."""
        return self._predictions

    @property
    def metrics(self) -> Any:
        """The values and updates of the metrics, as a dict."""
        return self._metrics

    def as_signature_def(self, receiver_tensors: Dict[str, Any]) -> Any:
        """Returns the signature for a dict of inputs."""
        return type(self)._signature(receiver_tensors, self.loss, self.predictions, self.metrics)


class TrainOutput(SupervisedOutput):
    """The output of a training step."""

    _signature = staticmethod(supervised_train_signature_def)


class EvalOutput(SupervisedOutput):
    """The output of an evaluation."""

    _signature = staticmethod(supervised_eval_signature_def)


class KerasModeKeys:
    """The names of the modes of Keras."""

    TRAIN, TEST, PREDICT = "train", "test", "predict"


class EstimatorModeKeys:
    """The names of the modes of estimators."""

    TRAIN, EVAL, PREDICT = "train", "eval", "infer"


def is_predict(mode: str) -> bool:
    """Returns whether a mode is that of predictions."""
    return mode in (KerasModeKeys.PREDICT, EstimatorModeKeys.PREDICT)


def is_eval(mode: str) -> bool:
    """Returns whether a mode is that of evaluations."""
    return mode in (KerasModeKeys.TEST, EstimatorModeKeys.EVAL)


def is_train(mode: str) -> bool:
    """Returns whether a mode is that of training."""
    return mode == KerasModeKeys.TRAIN


def _plain(mode: str) -> str:
    for test, key in ((is_train, KerasModeKeys.TRAIN), (is_eval, KerasModeKeys.TEST), (is_predict, KerasModeKeys.PREDICT)):
        if test(mode):
            return key
    raise ValueError("Invalid mode key: {}.".format(mode))


class ModeKeyMap(collections.abc.Mapping):
    """A dict whose keys are modes, those of Keras or those of estimators.

    Args:
      **kwargs: The values by mode.

    Raises:
      ValueError: A key is not a mode, or two are the same mode.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._values: Dict[str, Any] = {}
        self._keys = list(kwargs)
        for key, value in kwargs.items():
            if _plain(key) in self._values:
                raise ValueError("Error creating ModeKeyMap. Multiple keys/values found for {} mode.".format(_plain(key)))
            self._values[_plain(key)] = value

    def __getitem__(self, key: str) -> Any:
        return self._values[_plain(key)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._values)


_SERVING = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
_TAGS = ModeKeyMap(train=["train"], eval=["eval"], predict=["serve"])
_KEYS = ModeKeyMap(train="train", eval="eval", predict=_SERVING)
_OUTPUTS = ModeKeyMap(train=TrainOutput, eval=EvalOutput, predict=export.PredictOutput)


def export_outputs_for_mode(mode: str, serving_export_outputs: Any = None, predictions: Any = None, loss: Any = None, metrics: Any = None) -> Dict[str, Any]:
    """Returns the outputs of a model by the names of their signatures.

    Raises:
      ValueError: The mode is unknown.
    """
    if mode not in (*vars(KerasModeKeys).values(), *vars(EstimatorModeKeys).values()):
        raise ValueError("Export output type not found for mode: {}. Expected one of: {}.".format(mode, list(_KEYS)))
    if is_predict(mode):
        return get_export_outputs(serving_export_outputs, predictions)
    return {_KEYS[mode]: _OUTPUTS[mode](loss=loss, predictions=predictions, metrics=metrics)}


def get_export_outputs(export_outputs: Any, predictions: Any) -> Dict[str, Any]:
    """Returns the outputs of a model that answers requests, with one that is the default.

    Raises:
      TypeError: The outputs are not a dict of `ExportOutput`s.
      ValueError: Several are given, and none is the default.
    """
    return export.export_outputs_of(export_outputs, predictions)


class _Request:
    def __init__(self, tensors: Any, alternatives: Any) -> None:
        self.receiver_tensors, self.receiver_tensors_alternatives = tensors, alternatives


def build_all_signature_defs(
    receiver_tensors: Any, export_outputs: Any, receiver_tensors_alternatives: Any = None, serving_only: bool = True
) -> Dict[str, Any]:
    """Returns the signatures of outputs, by name.

    Args:
      receiver_tensors: The inputs: a dict of tensors, or a tensor.
      export_outputs: A dict of `ExportOutput`s.
      receiver_tensors_alternatives: Other inputs: a dict of dicts.
      serving_only: Whether signatures that are no requests to a server are left out.

    Raises:
      ValueError: The outputs are not a dict.
    """
    if not isinstance(receiver_tensors, dict):
        receiver_tensors = {"input": receiver_tensors}
    if export_outputs is None or not isinstance(export_outputs, dict):
        raise ValueError("export_outputs must be a dict and not{}".format(type(export_outputs)))
    if receiver_tensors_alternatives is not None and not isinstance(receiver_tensors_alternatives, dict):
        raise ValueError("receiver_tensors_alternatives must be a dict.")
    found = export.signatures(_Request(receiver_tensors, receiver_tensors_alternatives), export_outputs)
    if serving_only:
        return found
    for key, output in export_outputs.items():
        if isinstance(output, SupervisedOutput):
            found[key] = output.as_signature_def(receiver_tensors)
    return found


# Reading ----------------------------------------------------------------------------------------------------


def parse_saved_model(export_dir: Any) -> Any:
    """Returns the `SavedModel` message of a folder.

    Raises:
      OSError: There is none.
    """
    return loader._read(os.fsdecode(export_dir))


def get_asset_tensors(export_dir: Any, meta_graph_def_to_load: Any, import_scope: Optional[str] = None) -> Dict[str, str]:
    """Returns the paths of a SavedModel's files, by the names of the tensors that hold them."""
    return loader._assets(meta_graph_def_to_load, os.fsdecode(export_dir), import_scope)


def get_init_op(meta_graph_def: Any, import_scope: Optional[str] = None) -> Any:
    """Returns the operation to run after a model is loaded, or None."""
    return loader._first_op(get_default_graph(), meta_graph_def, import_scope)


def get_train_op(meta_graph_def: Any, import_scope: Optional[str] = None) -> Any:
    """Returns the operation that trains a model, or None."""
    key = "__saved_model_train_op"
    if key in meta_graph_def.signature_def:
        return load_op_from_signature_def(meta_graph_def.signature_def[key], key, import_scope)
    if "saved_model_train_op" in meta_graph_def.collection_def:
        names = meta_graph_def.collection_def["saved_model_train_op"].node_list.value
        return get_default_graph().as_graph_element(prepend_name_scope(names[0], import_scope))
    return None


class SavedModelLoader:
    """Loads a SavedModel, in one step or in several.

    Args:
      export_dir: The folder.

    Raises:
      OSError: The folder holds no SavedModel.
    """

    def __init__(self, export_dir: Any) -> None:
        self._export_dir = os.fsdecode(export_dir)
        self._saved_model = parse_saved_model(export_dir)

    @property
    def export_dir(self) -> str:
        """The folder."""
        return self._export_dir

    @property
    def variables_path(self) -> str:
        """The path of the checkpoint."""
        return get_variables_path(self._export_dir)

    @property
    def saved_model(self) -> Any:
        """The `SavedModel` message."""
        return self._saved_model

    def get_meta_graph_def_from_tags(self, tags: Any) -> Any:
        """Returns the `MetaGraphDef` with exactly these tags.

        Raises:
          RuntimeError: There is none.
        """
        return loader._of_tags(self._saved_model, tags)

    def load_graph(self, graph: Any, tags: Any, import_scope: Optional[str] = None, **saver_kwargs: Any) -> Tuple[Any, List[Any]]:
        """Adds a graph of the SavedModel to a graph; returns its saver and the elements to be returned."""
        meta = self.get_meta_graph_def_from_tags(tags)
        elements = saver_kwargs.pop("return_elements", None)
        with graph.as_default():
            saver = import_meta_graph(meta, import_scope=import_scope, **saver_kwargs)
            names = [prepend_name_scope(name, import_scope) for name in elements or []]
            return saver, [graph.as_graph_element(name) for name in names]

    def restore_variables(self, sess: Any, saver: Any, import_scope: Optional[str] = None) -> None:
        """Restores the variables with the saver that `load_graph` returned."""
        if saver is not None and checkpoint_exists(self.variables_path):
            saver.restore(sess, self.variables_path)

    def run_init_ops(self, sess: Any, tags: Any, import_scope: Optional[str] = None) -> None:
        """Runs the operation that the model asks for after it is loaded."""
        meta = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default():
            first = loader._first_op(sess.graph, meta, import_scope)
            if first is not None:
                sess.run(first, loader._assets(meta, self._export_dir, import_scope))

    def load(self, sess: Any, tags: Any, import_scope: Optional[str] = None, **saver_kwargs: Any) -> Any:
        """Does all of this, and returns the `MetaGraphDef`."""
        with sess.graph.as_default():
            saver, _ = self.load_graph(sess.graph, tags, import_scope, **saver_kwargs)
            self.restore_variables(sess, saver, import_scope)
            self.run_init_ops(sess, tags, import_scope)
        return self.get_meta_graph_def_from_tags(tags)


NAMES: Dict[str, Dict[str, Any]] = {
    "python.saved_model.builder_impl": {
        "SavedModelBuilder": SavedModelBuilder,
        "_SavedModelBuilder": SavedModelBuilder,
        "copy_assets_to_destination_dir": copy_assets_to_destination_dir,
        "get_asset_filename_to_add": get_asset_filename_to_add,
    },
    "python.saved_model.loader_impl": {
        "SavedModelLoader": SavedModelLoader,
        "_parse_saved_model": parse_saved_model,
        "get_asset_tensors": get_asset_tensors,
        "get_init_op": get_init_op,
        "get_train_op": get_train_op,
        "parse_saved_model": parse_saved_model,
    },
    "python.saved_model.model_utils.export_output": {"EvalOutput": EvalOutput, "TrainOutput": TrainOutput, "_SupervisedOutput": SupervisedOutput},
    "python.saved_model.model_utils.export_utils": {
        "EXPORT_TAG_MAP": _TAGS,
        "SIGNATURE_KEY_MAP": _KEYS,
        "build_all_signature_defs": build_all_signature_defs,
        "export_outputs_for_mode": export_outputs_for_mode,
        "get_export_outputs": get_export_outputs,
        "get_temp_export_dir": get_temp_export_dir,
        "get_timestamped_export_dir": get_timestamped_export_dir,
    },
    "python.saved_model.model_utils.mode_keys": {
        "EstimatorModeKeys": EstimatorModeKeys,
        "KerasModeKeys": KerasModeKeys,
        "ModeKeyMap": ModeKeyMap,
        "is_eval": is_eval,
        "is_predict": is_predict,
        "is_train": is_train,
    },
    "python.saved_model.signature_def_utils_impl": {
        "load_op_from_signature_def": load_op_from_signature_def,
        "op_signature_def": op_signature_def,
        "supervised_eval_signature_def": supervised_eval_signature_def,
        "supervised_train_signature_def": supervised_train_signature_def,
    },
    "python.saved_model.utils_impl": {
        "build_tensor_info_from_op": build_tensor_info_from_op,
        "build_tensor_info_internal": utils.build_tensor_info,
        "get_assets_dir": get_assets_dir,
        "get_element_from_tensor_info": get_element_from_tensor_info,
        "get_or_create_assets_dir": get_or_create_assets_dir,
        "get_or_create_variables_dir": get_or_create_variables_dir,
        "get_variables_dir": get_variables_dir,
        "get_variables_path": get_variables_path,
    },
}
