"""The modules of `python.training.tracking` and `python.training.saving`: `NAMES`."""

from __future__ import annotations

import contextlib
import functools
import weakref
from typing import Any, Callable, Dict, Iterator, List, Optional

from millstream.framework import convert_to_tensor, device, dtypes, get_default_graph, protos
from millstream.framework.devices import DeviceSpec
from millstream.framework.op_functions import op
from millstream.framework.session import Session, get_default_session
from millstream.io.saveables import SaveableObject, SaveSpec
from millstream.ops import control_flow
from millstream.train import object_checkpoints, saver, trackable
from millstream.train.saver_builders import BulkSaverBuilder
from millstream.train.checkpoints import NewCheckpointReader
from millstream.train.object_checkpoints import Checkpoint
from millstream.variables.initializers import GlorotUniform, Zeros
from millstream.variables.variable import Variable

# Objects ----------------------------------------------------------------------------------------------------


class NoRestoreSaveable(SaveableObject):
    """An object that is saved and not restored.

    Args:
      tensor: The tensor to save.
      name: The key.
      dtype: The dtype; by default that of the tensor.
      device: The device that saves it.
    """

    def __init__(self, tensor: Any, name: str, dtype: Any = None, device: Optional[str] = None) -> None:
        super().__init__(tensor, [SaveSpec(tensor, "", name, dtype, device)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Returns an operation that does nothing."""
        return control_flow.no_op()


class NotTrackable:
    """The base of classes whose objects have nothing to save, though they lie in attributes."""


class CapturableResource(trackable.Trackable):
    """A resource whose handle is made when it is first asked for.

    Args:
      device: The device of the resource.
    """

    def __init__(self, device: str = "") -> None:
        self._resource_handle: Any = None
        self._resource_device = device

    def _create_resource(self) -> Any:
        """Returns the handle; subclasses override this.

        Raises:
          NotImplementedError: The class does not.
        """
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> None:
        """Gives the resource its first value; subclasses may override this."""

    @property
    def resource_handle(self) -> Any:
        """The handle."""
        if self._resource_handle is None:
            with device(self._resource_device):
                self._resource_handle = self._create_resource()
        return self._resource_handle


class ResourceTracker:
    """The resources that were made in a `resource_tracker_scope`."""

    def __init__(self) -> None:
        self._resources: List[Any] = []

    @property
    def resources(self) -> List[Any]:
        """The resources."""
        return self._resources

    def add_resource(self, resource: Any) -> None:
        """Adds a resource."""
        self._resources.append(resource)


_trackers: List[ResourceTracker] = []


@contextlib.contextmanager
def resource_tracker_scope(resource_tracker: ResourceTracker) -> Iterator[None]:
    """A context in which a tracker notes the resources that are made."""
    _trackers.append(resource_tracker)
    try:
        yield
    finally:
        _trackers.remove(resource_tracker)


class TrackableResource(CapturableResource):
    """A resource that the trackers around it note."""

    def __init__(self, device: str = "") -> None:
        for tracker in _trackers:
            tracker.add_resource(self)
        super().__init__(device)


class TrackableAsset(trackable.Trackable):
    """A file that a `SavedModel` takes with it.

    Args:
      path: The path, a text or a tensor.
    """

    def __init__(self, path: Any) -> None:
        self._path = convert_to_tensor(path, dtypes.string, name="asset_path")

    @property
    def asset_path(self) -> Any:
        """The path, as a tensor."""
        return self._path


def cached_per_instance(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Decorates a method, which is then called once for each object."""
    results: Any = weakref.WeakKeyDictionary()

    @functools.wraps(f)
    def call(item: Any) -> Any:
        if item not in results:
            results[item] = f(item)
        return results[item]

    return call


def delete_tracking(obj: Any, name: str) -> None:
    """Lets an object no longer hold what it holds under a name."""
    obj._maybe_initialize_trackable()
    vars(obj)["_held_by_name"].pop(name, None)


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj: Any) -> Iterator[None]:
    """A context in which an object does not hold what its attributes are set to."""
    before = getattr(obj, "_setattr_tracking", True)
    object.__setattr__(obj, "_setattr_tracking", False)
    try:
        yield
    finally:
        object.__setattr__(obj, "_setattr_tracking", before)


# Layers in containers ---------------------------------------------------------------------------------------


def is_layer(obj: Any) -> bool:
    """Returns whether an object is a layer, by its methods."""
    return hasattr(obj, "call") and hasattr(obj, "build") and hasattr(obj, "variables")


def has_weights(obj: Any) -> bool:
    """Returns whether an object has weights, those that are trained and others."""
    return hasattr(type(obj), "trainable_weights") and hasattr(type(obj), "non_trainable_weights")


def filter_empty_layer_containers(layer_list: Any) -> Any:
    """Yields the layers of a list and of the containers in it, each once."""
    seen: List[int] = []
    waiting = list(layer_list)
    while waiting:
        obj = waiting.pop(0)
        if id(obj) in seen:
            continue
        seen.append(id(obj))
        if is_layer(obj):
            yield obj
        else:
            waiting = list(getattr(obj, "layers", [])) + waiting


def _weights(layers: Any, attribute: str) -> List[Any]:
    return [v for layer in layers for v in getattr(layer, attribute)]


def gather_trainable_weights(trainable: bool, sub_layers: Any, extra_variables: Any) -> List[Any]:
    """Returns the weights to train: those of the layers, and the trainable ones of further variables."""
    if not trainable:
        return []
    return _weights(sub_layers, "trainable_weights") + [v for v in extra_variables if v.trainable]


def gather_non_trainable_weights(trainable: bool, sub_layers: Any, extra_variables: Any) -> List[Any]:
    """Returns the other weights: all of them if nothing is trained."""
    trained, still = [v for v in extra_variables if v.trainable], [v for v in extra_variables if not v.trainable]
    weights = _weights(sub_layers, "non_trainable_weights")
    return weights + still if trainable else _weights(sub_layers, "trainable_weights") + trained + weights + still


# Graphs of objects ------------------------------------------------------------------------------------------


class ObjectGraphView:
    """The objects that can be reached from one, with the names under which they are held.

    Args:
      root: The object.
      saveables_cache: Ignored.
    """

    def __init__(self, root: Any, saveables_cache: Any = None) -> None:
        self._root, self._saveables_cache = root, saveables_cache

    @property
    def root(self) -> Any:
        """The object from which the others are reached."""
        return self._root

    @property
    def saveables_cache(self) -> Any:
        """The argument of that name."""
        return self._saveables_cache

    def list_dependencies(self, obj: Any) -> List[Any]:
        """Returns the objects that an object holds, with their names."""
        return [trackable.TrackableReference(name, child) for name, child in object_checkpoints._children(obj)]

    def list_objects(self) -> List[Any]:
        """Returns the objects, level by level, and the slots of optimizers among them."""
        return list(object_checkpoints._Objects(self._root).objects)

    def serialize_object_graph(self) -> Any:
        """Returns the objects to save, the description of all objects, and what is to be fed."""
        objects = object_checkpoints._Objects(self._root)
        return saver._saveables(objects.saved()), objects.message(), {}

    def frozen_saveable_objects(self, object_map: Any = None, to_graph: Any = None) -> List[Any]:
        """Returns the objects to save, with the description of all objects among them."""
        with (to_graph or get_default_graph()).as_default():
            saveables, message, _ = self.serialize_object_graph()
            return [*saveables, object_checkpoints._Description(message)]


class _Rooted(Checkpoint):
    """A checkpoint of what another object holds."""

    def __init__(self, root: Any) -> None:
        super().__init__()
        self._root_object = root

    def _held(self) -> Iterator[Any]:
        yield from object_checkpoints._children(self._root_object)


class TrackableSaver:
    """Saves and restores the objects of an `ObjectGraphView`.

    Args:
      graph_view: The view.
    """

    def __init__(self, graph_view: ObjectGraphView) -> None:
        self._graph_view, self._checkpoint = graph_view, _Rooted(graph_view.root)

    def save(self, file_prefix: str, checkpoint_number: Optional[int] = None, session: Any = None) -> str:
        """Writes a checkpoint, and returns its path.

        Args:
          file_prefix: The path; a number, if there is one, is appended.
          checkpoint_number: The number.
          session: The session; by default the one that is entered.
        """
        path = file_prefix if checkpoint_number is None else "%s-%d" % (file_prefix, checkpoint_number)
        return self._checkpoint.write(path, session or get_session())

    def restore(self, save_path: Optional[str]) -> Any:
        """Returns the status of a checkpoint, whose methods restore it."""
        return object_checkpoints._status_of(self._checkpoint, save_path)


def get_session() -> Any:
    """Returns the session that is entered, or makes one."""
    return get_default_session() or Session()


def list_objects(root_trackable: Any) -> List[Any]:
    """Returns the objects that can be reached from one."""
    return ObjectGraphView(root_trackable).list_objects()


def gather_initializers(root_trackable: Any) -> List[Any]:
    """Returns the initializers of the variables that can be reached from an object."""
    found = list_objects(root_trackable)
    return [x.initializer for x in found if getattr(x, "initializer", None) is not None and isinstance(x, Variable)]


def object_metadata(save_path: str) -> Any:
    """Returns the description of the objects in a checkpoint: a `TrackableObjectGraph`.

    Raises:
      ValueError: The checkpoint was not saved by a `Checkpoint`.
    """
    reader = NewCheckpointReader(save_path)
    if not reader.has_tensor(object_checkpoints._GRAPH):
        raise ValueError(
            'The specified checkpoint "%s" does not appear to be object-based (saved with TF2) since it is missing the key "%s". '
            "Likely it was created with the TF1 name-based saver and does not contain an object dependency graph." % (save_path, object_checkpoints._GRAPH)
        )
    value = reader.get_tensor(object_checkpoints._GRAPH)
    return protos.TrackableObjectGraph.FromString(value if isinstance(value, bytes) else value.item())


def add_variable(trackable: Any, name: str, shape: Any = None, dtype: Any = dtypes.float32, initializer: Any = None, trainable: bool = True) -> Any:
    """Adds a variable to an object, which holds it under its name."""
    if initializer is None:
        initializer = GlorotUniform() if dtypes.as_dtype(dtype).is_floating else Zeros()
    first = initializer if not callable(initializer) else lambda: initializer(shape, dtype=dtype)
    variable = Variable(first, name=name, dtype=dtype, trainable=trainable, use_resource=True)
    return trackable._track_trackable(variable, name)


def frozen_saver(root_trackable: Any) -> Any:
    """Returns a saver of the objects that can be reached from one now."""
    return MultiDeviceSaver(ObjectGraphView(root_trackable).frozen_saveable_objects())


def saver_with_op_caching(obj: Any) -> TrackableSaver:
    """Returns a saver of the objects that can be reached from one."""
    return TrackableSaver(ObjectGraphView(obj))


def streaming_restore(status: Any, session: Any = None) -> None:
    """Restores what a status has found.

    Raises:
      NotImplementedError: The checkpoint was saved by a `tf.train.Saver`.
    """
    if isinstance(status, object_checkpoints._ByName):
        raise NotImplementedError("Streaming restore not supported from name-based checkpoints when graph building. File a feature request if this limitation bothers you.")
    status.run_restore_ops(session=session or get_session())


# Savers of `SaveableObject`s --------------------------------------------------------------------------------


def op_list_to_dict(op_list: Any, convert_variable_to_tensor: bool = True) -> Dict[str, Any]:
    """Returns variables and `SaveableObject`s by their names in a checkpoint."""
    if not isinstance(op_list, (list, tuple, set)):
        raise TypeError("Variables to save should be passed in a dict or a list: %s" % (op_list,))
    return saver._by_name(list(op_list))


def saveable_objects_for_op(op: Any, name: str) -> Iterator[Any]:
    """Yields the `SaveableObject`s of a variable or an object.

    Raises:
      TypeError: The name is not a text.
    """
    if not isinstance(name, str):
        raise TypeError("names_to_saveables must be a dict mapping string names to trackable operations. Name is not a string: %s" % (name,))
    yield from saver._saveables(saver._checked({name: op}))


def validate_and_slice_inputs(names_to_saveables: Any) -> List[Any]:
    """Returns the `SaveableObject`s of variables and objects, in the order of their names."""
    if not isinstance(names_to_saveables, dict):
        names_to_saveables = op_list_to_dict(names_to_saveables)
    return saver._saveables(saver._checked(dict(sorted(names_to_saveables.items()))))


def set_cpu0(device_string: str) -> str:
    """Returns a device's name, with the first CPU in place of another device of the same task."""
    parsed = DeviceSpec.from_string(device_string)
    return DeviceSpec(job=parsed.job, replica=parsed.replica, task=parsed.task, device_type="CPU", device_index=0).to_string()


def sharded_filename(filename_tensor: Any, shard: Any, num_shards: Any) -> Any:
    """Returns the name of a part of a checkpoint."""
    return op("ShardedFilename")(filename_tensor, shard, num_shards)


class SingleDeviceSaver:
    """Saves and restores `SaveableObject`s in one file.

    Args:
      saveable_objects: The objects.
    """

    def __init__(self, saveable_objects: Any) -> None:
        self._saveables = list(saveable_objects)
        for saveable in self._saveables:
            if not isinstance(saveable, SaveableObject):
                raise ValueError("Expected a list of SaveableObjects, got %s." % (saveable,))

    def save(self, file_prefix: Any) -> Any:
        """Returns an operation that writes a checkpoint."""
        return BulkSaverBuilder().save_op(file_prefix, self._saveables)

    def restore(self, file_prefix: Any) -> Dict[str, Any]:
        """Returns the operations that restore a checkpoint, by the names of the objects."""
        values = BulkSaverBuilder().bulk_restore(file_prefix, self._saveables, -1, False)
        made = {}
        for saveable in self._saveables:
            own, values = values[: len(saveable.specs)], values[len(saveable.specs) :]
            made[saveable.name] = saveable.restore(own, None)
        return made


class MultiDeviceSaver:
    """Saves and restores `SaveableObject`s. Devices are those of one machine, so that there is one file.

    Args:
      saveable_objects: The objects.
    """

    def __init__(self, saveable_objects: Any) -> None:
        self._saver = SingleDeviceSaver(saveable_objects)

    def save(self, file_prefix: Any) -> Any:
        """Returns an operation that writes a checkpoint."""
        return self._saver.save(file_prefix)

    def restore(self, file_prefix: Any) -> Dict[str, Any]:
        """Returns the operations that restore a checkpoint, by the names of the objects."""
        return self._saver.restore(file_prefix)

    def to_proto(self) -> Any:
        """Returns a `SaverDef` of new nodes, which save and restore."""
        name = op("Placeholder")(dtypes.string, [], name="saver_filename")
        with get_default_graph().control_dependencies([self.save(name)]):
            saved = op("Identity")(name)
        restored = control_flow.group(*self.restore(name).values(), name="restore_all")
        return protos.SaverDef(
            filename_tensor_name=name.name, save_tensor_name=saved.name, restore_op_name=restored.name, version=protos.SaverDef.V2
        )


NAMES: Dict[str, Dict[str, Any]] = {
    "python.training.tracking.base": {
        "NoRestoreSaveable": NoRestoreSaveable,
        "OBJECT_GRAPH_PROTO_KEY": object_checkpoints._GRAPH,
        "Trackable": trackable.Trackable,
        "TrackableReference": trackable.TrackableReference,
        "VARIABLE_VALUE_KEY": "VARIABLE_VALUE",
        "no_automatic_dependency_tracking": trackable.no_automatic_dependency_tracking,
        "no_automatic_dependency_tracking_scope": no_automatic_dependency_tracking_scope,
    },
    "python.training.tracking.data_structures": {
        "List": trackable.List,
        "Mapping": trackable.Mapping,
        "NoDependency": trackable.NoDependency,
        "TrackableDataStructure": trackable._Container,
        "_UntrackableError": trackable._UntrackableError,
    },
    "python.training.tracking.graph_view": {"ObjectGraphView": ObjectGraphView, "_escape_local_name": object_checkpoints._escaped},
    "python.training.tracking.layer_utils": {
        "filter_empty_layer_containers": filter_empty_layer_containers,
        "gather_non_trainable_weights": gather_non_trainable_weights,
        "gather_trainable_weights": gather_trainable_weights,
        "has_weights": has_weights,
        "is_layer": is_layer,
    },
    "python.training.tracking.tracking": {
        "AutoTrackable": trackable.AutoTrackable,
        "CapturableResource": CapturableResource,
        "NotTrackable": NotTrackable,
        "ResourceTracker": ResourceTracker,
        "TrackableAsset": TrackableAsset,
        "TrackableResource": TrackableResource,
        "cached_per_instance": cached_per_instance,
        "delete_tracking": delete_tracking,
        "resource_tracker_scope": resource_tracker_scope,
    },
    "python.training.tracking.util": {
        "CheckpointLoadStatus": object_checkpoints._ByPath,
        "CheckpointV1": Checkpoint,
        "InitializationOnlyStatus": object_checkpoints._Status,
        "NameBasedSaverStatus": object_checkpoints._ByName,
        "TrackableSaver": TrackableSaver,
        "_LoadStatus": object_checkpoints._Status,
        "add_variable": add_variable,
        "frozen_saver": frozen_saver,
        "gather_initializers": gather_initializers,
        "get_session": get_session,
        "list_objects": list_objects,
        "object_metadata": object_metadata,
        "saver_with_op_caching": saver_with_op_caching,
        "streaming_restore": streaming_restore,
    },
    "python.training.saving.functional_saver": {
        "MultiDeviceSaver": MultiDeviceSaver,
        "_SingleDeviceSaver": SingleDeviceSaver,
        "sharded_filename": sharded_filename,
    },
    "python.training.saving.saveable_object_util": {
        "ReferenceVariableSaveable": saver._Saved,
        "ResourceVariableSaveable": saver._Saved,
        "op_list_to_dict": op_list_to_dict,
        "saveable_objects_for_op": saveable_objects_for_op,
        "set_cpu0": set_cpu0,
        "validate_and_slice_inputs": validate_and_slice_inputs,
    },
}
