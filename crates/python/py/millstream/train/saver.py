"""`Saver`: saves variables to checkpoints, restores them, and exports graphs with them."""

from __future__ import annotations

import os
import time
import uuid
from typing import Any, Dict, List, Optional, Tuple

from millstream import framework
from millstream.framework import constant, control_dependencies, errors, get_default_graph, logging, name_scope, protos
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op, raw
from millstream.framework.scopes import prepend_name_scope, strip_name_scope
from millstream.io.saveables import SaveableObject, SaveSpec
from millstream.ops import array_ops, control_flow
from millstream.train import checkpoints, meta_graph, training_util
from millstream.train.saver_builders import BulkSaverBuilder
from millstream.variables import state_ops
from millstream.variables.variable import Variable


def _by_name(var_list: Any) -> Dict[str, Any]:
    """Returns the variables by the names to save them under."""
    if isinstance(var_list, dict):
        return _checked(var_list)
    if isinstance(var_list, Variable) or (not isinstance(var_list, (list, tuple, set)) and not hasattr(var_list, "__iter__")):
        raise TypeError(f"Variables to save should be passed in a dict or a list: {var_list}")
    out: Dict[str, Any] = {}
    for variable in _parts_of(var_list):
        if isinstance(variable, SaveableObject):
            if variable.name in out:
                logging.warning(
                    "Two objects to save have the name `%s`: only the later one is saved. Give each a `name`.", variable.name
                )
            out[variable.name] = variable
            continue
        if not hasattr(variable, "op") or not hasattr(variable, "initializer"):
            raise TypeError(f"Variable to save is not a Variable: {variable}")
        name = _key(variable)
        if name in out:
            raise ValueError(f"At least two variables have the same name: {name}")
        out[name] = variable
    return dict(sorted(out.items()))


def _parts_of(variables: Any) -> List[Any]:
    """Returns the variables, with partitioned ones replaced by their parts."""
    return [part for v in variables for part in (v._get_variable_list() if hasattr(v, "_get_variable_list") else [v])]


def slice_of(variable: Any) -> str:
    """Returns the slice of the whole that a part holds, in the notation of `SaveV2`."""
    info = getattr(variable, "_save_slice_info", None)
    return "" if info is None else info.spec


def _key(variable: Any) -> str:
    """Returns the name to save a variable under; for a part, the name of the whole and the slice."""
    info = getattr(variable, "_save_slice_info", None)
    return variable.op.name if info is None else info.full_name + " " + info.spec


class _Saved(SaveableObject):
    """A variable to save under a name, which for a part of a variable ends in its slice."""

    def __init__(self, variable: Any, name: str) -> None:
        part = slice_of(variable)
        if not name.endswith(" " + part):
            part = ""  # The program named this part, which is saved as a variable of its own.
        key = name[: -len(part) - 1] if part else name
        # The tensor is made where it is saved.
        spec = SaveSpec(lambda: _to_save(variable), part, key, variable.dtype, variable.device or "")
        super().__init__(variable, [spec], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Returns an operation that assigns the saved value."""
        return assign_saved(self.op, restored_tensors[0], restored_shapes is not None)


def _saveables(variables: Dict[str, Any]) -> List[Any]:
    """Returns the objects to save."""
    return [v if isinstance(v, SaveableObject) else _Saved(v, name) for name, v in variables.items()]


def _slices(value: Any) -> List[Any]:
    """Returns the parts of a partitioned variable, which may be given as the list of them."""
    parts = _parts_of([value]) if hasattr(value, "_get_variable_list") else list(value)
    whole = None
    for part in parts:
        info = getattr(part, "_save_slice_info", None)
        if not hasattr(part, "initializer"):
            raise ValueError("Slices must all be Variables: %s" % part)
        if info is None:
            raise ValueError("Slices must all be slices: %s" % part)
        if whole is not None and info.full_name != whole:
            raise ValueError("Slices must all be from the same tensor: %s != %s" % (whole, info.full_name))
        whole = info.full_name
    return parts


def _checked(named: Dict[str, Any]) -> Dict[str, Any]:
    """Checks variables that a program named."""
    seen: List[Any] = []
    for name in named:
        if not isinstance(name, str):
            raise TypeError(f"names_to_saveables must be a dict mapping string names to trackable operations. Name is not a string: {name}")
    named = {
        name + (" " + slice_of(part) if part is not value else ""): part
        for name, value in named.items()
        for part in (_slices(value) if isinstance(value, (list, tuple)) or hasattr(value, "_get_variable_list") else [value])
    }
    for name, variable in sorted(named.items()):
        if not hasattr(variable, "initializer") and not isinstance(variable, SaveableObject):
            raise TypeError(
                f"names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a variable: {variable}"
            )
        if any(variable is other for other in seen):
            raise ValueError(f"The same saveable will be restored with two names: {name}")
        seen.append(variable)
    return dict(sorted(named.items()))


class Saver:
    """Saves variables to checkpoints and restores them.

    The constructor adds operations to the graph; with `defer_build`, the first use does.

    Args:
      var_list: A list of variables, or a dict from names to variables; by default all variables, and the
        tables with `checkpoint=True`.
      reshape: If true, a value may be restored to a variable of another shape with the same number of
        elements.
      sharded: If true, the variables of each device are saved to a file of their own.
      max_to_keep: The number of checkpoints to keep; all of them if 0 or None.
      keep_checkpoint_every_n_hours: The interval at which a checkpoint is kept for good.
      name: The name scope of the operations.
      restore_sequentially: If true, variables are restored one after the other.
      saver_def: A `SaverDef` whose operations are in the graph.
      builder: An object that makes the nodes that write and read: of a subclass of `BaseSaverBuilder`, which
        `tensorflow.python.training.saver` has.
      defer_build: If true, the operations are added at first use.
      allow_empty: If true, there may be no variables.
      write_version: TensorFlow's format of checkpoints: `tf.train.SaverDef.V2`, or V1, which is one file.
        With `sharded` it is the second. Restoring reads both.
      pad_step_number: If true, step numbers are padded to eight digits.
      save_relative_paths: If true, the file `checkpoint` holds paths relative to its directory.
      filename: The default of the placeholder for the checkpoint's name; by default `model`.

    Raises:
      ValueError: There are no variables, or `var_list` is given with `defer_build`.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> v = tf.Variable([1.0, 2.0], name="v")
      >>> saver = tf.train.Saver()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = saver.save(sess, os.path.join(folder, "model"), global_step=3)
      >>> os.path.basename(path), sorted(os.listdir(folder))
      ('model-3', ['checkpoint', 'model-3.data-00000-of-00001', 'model-3.index', 'model-3.meta'])
      >>> with tf.Session() as sess:
      ...     saver.restore(sess, path)
      ...     print(sess.run(v))
      [1. 2.]
      >>> (saver.last_checkpoints == [path], saver.as_saver_def().max_to_keep,
      ...  tf.train.Saver.from_proto(saver.to_proto()).last_checkpoints)
      (True, 5, [])
      >>> saver.set_last_checkpoints_with_time([(path, 0.0)])
      >>> saver.set_last_checkpoints([path])
      >>> saver.recover_last_checkpoints([path])
      >>> len(saver.export_meta_graph().graph_def.node) > 1
      True
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: Optional[int] = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: Optional[str] = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = 2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: Optional[str] = None,
    ) -> None:
        if defer_build and var_list:
            raise ValueError("If `var_list` is provided then build cannot be deferred. Either set defer_build=False or var_list=None.")
        self._var_list = var_list
        self._reshape = reshape
        self._sharded = sharded
        self._max_to_keep = max_to_keep or 0
        self._keep_hours = keep_checkpoint_every_n_hours
        self._name = name
        self._restore_sequentially = restore_sequentially
        self._allow_empty = allow_empty
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        self._filename = filename
        self._builder = builder
        self._is_empty = False
        self._version = protos.SaverDef.V1 if write_version == protos.SaverDef.V1 and not sharded else protos.SaverDef.V2
        # Paths and times of the checkpoints that are kept, oldest first.
        self._last_checkpoints: List[Tuple[str, float]] = []
        self._next_checkpoint_time = time.time() + self._keep_hours * 3600
        self.saver_def: Any = None
        if saver_def is not None:
            self.saver_def = protos.as_message("SaverDef", saver_def)
            for field in ("save_tensor_name", "restore_op_name"):
                if not getattr(self.saver_def, field):
                    raise ValueError(f"saver_def must specify the {field}: {self.saver_def}")
            self._max_to_keep = self.saver_def.max_to_keep
            self._keep_hours = self.saver_def.keep_checkpoint_every_n_hours or 10000.0
        elif not defer_build:
            self.build()

    def __repr__(self) -> str:
        n = "%d variables" % len(self._var_list) if hasattr(self._var_list, "__len__") else "all saveable variables"
        return "<tf.train.Saver of %s, max_to_keep=%s>" % (n, self._max_to_keep)

    def build(self) -> None:
        """Adds the operations, unless they exist.

        Raises:
          ValueError: There are no variables.

        Example:
          >>> saver = tf.train.Saver(defer_build=True)
          >>> v = tf.Variable(1.0)
          >>> saver.build()
        """
        if self.saver_def is not None or self._is_empty:
            return
        var_list = self._var_list
        if var_list is None:
            graph = get_default_graph()
            var_list = graph.get_collection(GraphKeys.GLOBAL_VARIABLES) + graph.get_collection(GraphKeys.SAVEABLE_OBJECTS)
        if not var_list:
            if not self._allow_empty:
                raise ValueError("No variables to save")
            self._is_empty = True
            return
        self._add_ops(_saveables(_by_name(var_list)))

    def _add_ops(self, variables: List[Any]) -> None:
        with name_scope(self._name, "save", [s.op.op if isinstance(s, _Saved) else s.specs[0].tensor for s in variables]):
            filename = array_ops.placeholder_with_default(self._filename or "model", shape=(), name="filename")
            # Old graphs feed the checkpoint's name under the name `Const`.
            prefix = array_ops.placeholder_with_default(filename, shape=(), name="Const")
            if self._sharded:
                shards = _by_device(variables)
                saved = _save_shards(prefix, shards, self._builder)
                restore = self._restore_shards(prefix, shards)
            else:
                saved = _save(prefix, variables, self._version, self._builder)
                restore = self._restore_ops(prefix, variables, "restore_all")
        self.saver_def = protos.SaverDef(
            filename_tensor_name=prefix.name,
            save_tensor_name=saved.name,
            restore_op_name=restore.name,
            max_to_keep=self._max_to_keep,
            sharded=self._sharded,
            keep_checkpoint_every_n_hours=self._keep_hours,
            version=self._version,
        )

    def _restore_shards(self, prefix: Any, shards: List[Tuple[str, List[Any]]]) -> Any:
        parts = []
        for device, variables in shards:
            with framework.device(device):
                parts.append(self._restore_ops(prefix, variables, "restore_shard"))
        return control_flow.group(*parts, name="restore_all")

    def _restore_ops(self, prefix: Any, variables: List[Any], name: str) -> Any:
        """Returns an operation that assigns the checkpoint's values to the variables."""
        builder = self._builder or BulkSaverBuilder()
        restored = list(builder.bulk_restore(prefix, variables, -1, self._restore_sequentially))
        assigns: List[Any] = []
        for saveable in variables:
            values, restored = restored[: len(saveable.specs)], restored[len(saveable.specs) :]
            after = assigns[-1:] if self._restore_sequentially else []
            with control_dependencies(after):
                assigns.append(saveable.restore(values, _shapes(saveable) if self._reshape else None))
        return control_flow.group(*assigns, name=name)

    def as_saver_def(self) -> Any:
        """Returns the saver as a `SaverDef`."""
        return self.saver_def

    def to_proto(self, export_scope: Optional[str] = None) -> Any:
        """Returns the saver as a `SaverDef` with names relative to a scope, or None if it is outside."""
        if export_scope is None:
            return self.saver_def
        if not self.saver_def.filename_tensor_name.startswith(export_scope):
            return None
        out = protos.SaverDef()
        out.CopyFrom(self.saver_def)
        for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
            setattr(out, field, strip_name_scope(getattr(out, field), export_scope))
        return out

    @staticmethod
    def from_proto(saver_def: Any, import_scope: Optional[str] = None) -> "Saver":
        """Returns the saver that a `SaverDef` describes; its operations are in the graph.

        Args:
          saver_def: A `SaverDef`.
          import_scope: The name scope that its graph was imported into.

        Returns:
          A `Saver`.
        """
        out = protos.SaverDef()
        out.CopyFrom(protos.as_message("SaverDef", saver_def))
        for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
            setattr(out, field, prepend_name_scope(getattr(out, field), import_scope))
        return Saver(saver_def=out, name=import_scope)

    @property
    def last_checkpoints(self) -> List[str]:
        """The checkpoints that are kept, oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: List[str]) -> None:
        """Sets the list of kept checkpoints, as if this saver had written them now."""
        self._last_checkpoints = [(path, time.time()) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: List[Tuple[str, float]]) -> None:
        """Sets the list of kept checkpoints and the times they were written at."""
        self._last_checkpoints = list(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths: List[str]) -> None:
        """Adopts those checkpoints of an earlier run that still exist."""
        there = [p for p in checkpoint_paths if checkpoints.checkpoint_exists(p)]
        self.set_last_checkpoints_with_time(list(zip(there, checkpoints.get_checkpoint_mtimes(there))))

    def save(
        self,
        sess: Any,
        save_path: str,
        global_step: Any = None,
        latest_filename: Optional[str] = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Optional[str]:
        """Saves the variables of a session.

        Args:
          sess: The session.
          save_path: The path and the prefix of the file names. The directory is made, but not those above it.
          global_step: A number appended to the prefix, or a variable that holds it.
          latest_filename: The file that lists checkpoints; by default `checkpoint`.
          meta_graph_suffix: The suffix of the graph's file.
          write_meta_graph: If true, the graph is written as well.
          write_state: If true, the list of checkpoints is updated.
          strip_default_attrs: Ignored.
          save_debug_info: Ignored.

        Raises:
          ValueError: The directory above that of the files does not exist, or names collide.
          TypeError: `sess` is not a session.

        Example:
          >>> import os, tempfile
          >>> folder = tempfile.mkdtemp()
          >>> v = tf.Variable([1.0, 2.0], name="v")
          >>> saver = tf.train.Saver()
          >>> with tf.Session() as sess:
          ...     sess.run(v.initializer)
          ...     path = saver.save(sess, os.path.join(folder, "model"), global_step=3)
          >>> path == os.path.join(folder, "model-3")
          True
        """
        if self.saver_def is None and not self._is_empty:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        save_path = os.fspath(save_path)
        latest_filename = latest_filename or "checkpoint"
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        if not callable(getattr(sess, "run", None)):
            raise TypeError("'sess' must be a Session; %s" % (sess,))
        folder = os.path.dirname(save_path)
        if global_step is not None:
            if not isinstance(global_step, int):
                if isinstance(global_step, float):
                    raise TypeError(
                        f"Fetch argument {global_step!r} has invalid type {type(global_step)}, must be a string or Tensor. "
                        "(Can not convert a float into a Tensor or Operation.) A step is an integer."
                    )
                global_step = training_util.global_step(sess, global_step) if hasattr(global_step, "op") else int(global_step)
            number = f"{global_step:08d}" if self._pad_step_number else str(global_step)
            prefix = f"{save_path}-{number}"
        else:
            prefix = save_path
            if os.path.basename(prefix) == latest_filename:
                raise ValueError(f"'latest_filename' collides with 'save_path': '{latest_filename}' and '{save_path}'")
        if not prefix:
            raise ValueError("no path specified")
        if not os.path.isdir(folder or "."):
            # As in TensorFlow: the folder is made, but not those above it.
            if self._is_empty or not os.path.isdir(os.path.dirname(folder) or "."):
                raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.")
            os.mkdir(folder)
        if self._is_empty:
            self._write_meta_graph(sess, prefix, meta_graph_suffix, write_meta_graph)
            return None
        said = sess.run(self.saver_def.save_tensor_name, {self.saver_def.filename_tensor_name: prefix})
        path = said.decode() if isinstance(said, bytes) else str(said)
        if write_state:
            outdated = self._note(path)
            checkpoints.update_checkpoint_state(
                folder or ".",
                self._listed(path, folder),
                [self._listed(p, folder) for p in self.last_checkpoints],
                latest_filename,
            )
            # Only now: a list that names a checkpoint which is gone leaves a restarted program with none.
            _remove(outdated, meta_graph_suffix)
        self._write_meta_graph(sess, prefix, meta_graph_suffix, write_meta_graph)
        return path

    def _listed(self, path: str, folder: str) -> str:
        """Returns the path for the list of checkpoints, which makes relative ones relative to the folder."""
        return os.path.relpath(path, folder) if self._save_relative_paths and os.path.isabs(path) else path

    def _write_meta_graph(self, sess: Any, prefix: str, suffix: str, wanted: bool) -> None:
        if wanted:
            with sess.graph.as_default():
                self.export_meta_graph(f"{prefix}.{suffix}")

    def _note(self, path: str) -> List[str]:
        """Adds a checkpoint to the list, and returns the oldest ones, which are too many."""
        outdated: List[str] = []
        if not self._max_to_keep:
            return outdated
        self._last_checkpoints = [entry for entry in self._last_checkpoints if entry[0] != path]
        self._last_checkpoints.append((path, time.time()))
        while self._max_to_keep < len(self._last_checkpoints):
            oldest, made = self._last_checkpoints.pop(0)
            if self._next_checkpoint_time < made:
                # Kept for good; the next one to keep is due `keep_checkpoint_every_n_hours` later.
                self._next_checkpoint_time += self._keep_hours * 3600
                continue
            outdated.append(oldest)
        return outdated

    def export_meta_graph(
        self,
        filename: Optional[str] = None,
        collection_list: Optional[List[str]] = None,
        as_text: bool = False,
        export_scope: Optional[str] = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Any:
        """Returns the graph as a `MetaGraphDef` that refers to this saver.

        Arguments are those of `tf.train.export_meta_graph`.

        Returns:
          A `MetaGraphDef`.
        """
        return meta_graph.export_meta_graph(
            filename=filename,
            saver_def=self.saver_def,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
        )

    def restore(self, sess: Any, save_path: Optional[str]) -> None:
        """Restores the variables of a session from a checkpoint; they need not be initialized.

        Args:
          sess: The session.
          save_path: A checkpoint, as returned by `save`.

        Raises:
          ValueError: The checkpoint does not exist.
          tf.errors.NotFoundError: The checkpoint lacks a variable.
          tf.errors.InvalidArgumentError: A variable has another shape.

        Example:
          >>> import os, tempfile
          >>> folder = tempfile.mkdtemp()
          >>> v = tf.Variable([1.0, 2.0], name="v")
          >>> saver = tf.train.Saver()
          >>> with tf.Session() as sess:
          ...     sess.run(v.initializer)
          ...     path = saver.save(sess, os.path.join(folder, "model"), global_step=3)
          >>> with tf.Session() as sess:
          ...     saver.restore(sess, path)
          ...     print(sess.run(v))
          [1. 2.]
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.\n  help: `tf.train.latest_checkpoint` returns None for a folder without a checkpoint")
        save_path = os.fsdecode(save_path)
        if not checkpoints.checkpoint_exists(save_path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {save_path}")
        try:
            sess.run(self.saver_def.restore_op_name, {self.saver_def.filename_tensor_name: save_path})
        except (errors.NotFoundError, errors.InvalidArgumentError) as error:
            what = "a Variable name or other graph key that is missing" if isinstance(error, errors.NotFoundError) else "a mismatch between the current graph and the graph"
            raise type(error)(
                error.node_def,
                error.op,
                f"Restoring from checkpoint failed. This is most likely due to {what} from the checkpoint. Please ensure that you have not altered "
                f"the graph expected based on the checkpoint. Original error:\n\n{error.message}",
            ) from error


def _remove(outdated: List[str], meta_graph_suffix: str) -> None:
    """Deletes checkpoints. One that cannot be deleted is a warning: the new one is saved all the same."""
    for path in outdated:
        try:
            checkpoints.remove_checkpoint(path, meta_graph_suffix=meta_graph_suffix)
        except OSError as e:
            logging.warning("The outdated checkpoint %s was not deleted: %s", path, e)


def _by_device(variables: List[Any]) -> List[Tuple[str, List[Any]]]:
    """Groups variables by device, in the order of the devices' names."""
    out: Dict[str, List[Any]] = {}
    for saveable in variables:
        out.setdefault(saveable.device, []).append(saveable)
    return sorted(out.items())


def _shapes(saveable: Any) -> List[Any]:
    """Returns the shapes of an object's tensors, as tensors where they are not fully known."""
    tensors = [spec.tensor for spec in saveable.specs]
    return [t.get_shape() if t.get_shape().is_fully_defined() else array_ops.shape(t) for t in tensors]


def _save(prefix: Any, variables: List[Any], version: int = 2, builder: Any = None) -> Any:
    """Returns the prefix, available after the variables are saved under it."""
    save = (builder or BulkSaverBuilder(version)).save_op(prefix, variables)
    with control_dependencies([save]):
        return array_ops.identity(prefix, name="control_dependency")


def _save_shards(prefix: Any, shards: List[Tuple[str, List[Any]]], builder: Any = None) -> Any:
    """Returns the prefix, available after the shards of all devices are saved and merged."""
    # A temporary directory with a unique name: other processes may save at the same time.
    temporary = op("StringJoin")([prefix, f"_temp_{uuid.uuid4().hex}/part"])
    count = constant(len(shards), name="num_shards")
    files, done = [], []
    for i, (device, variables) in enumerate(shards):
        with framework.device(device):
            files.append(raw("ShardedFilename")(basename=temporary, shard=i, num_shards=count))
            done.append(_save(files[-1], variables, builder=builder))
    with control_dependencies([d.op for d in done]):
        merge = raw("MergeV2Checkpoints")(
            checkpoint_prefixes=array_ops.stack(files, name="MergeV2Checkpoints/checkpoint_prefixes"), destination_prefix=prefix
        )
    with control_dependencies([merge, *[d.op for d in done]]):
        return array_ops.identity(prefix)


def _to_save(variable: Any) -> Any:
    """Returns the tensor to save: the reference, or the read that was made with the variable."""
    if variable.dtype._is_ref_dtype:
        return variable._ref()
    return variable._as_graph_element()


def assign_saved(variable: Any, value: Any, reshape: bool) -> Any:
    """Assigns a value to a variable. Its shape must be the saved one, unless `reshape`."""
    shape = variable.get_shape()
    if reshape:
        value = array_ops.reshape(value, shape.as_list() if shape.is_fully_defined() else array_ops.shape(variable))
    if variable.dtype._is_ref_dtype:
        return state_ops.assign(variable, value, validate_shape=not reshape and shape.is_fully_defined()).op
    return raw("AssignVariableOp")(resource=variable.handle, value=array_ops.identity(_shaped(value, shape)))


def _shaped(value: Any, shape: Any) -> Any:
    value.set_shape(shape)
    return value
