"""`Checkpoint` and `CheckpointManager`: checkpoints whose keys are the names by which objects hold variables.

The keys and the description of the objects (`_CHECKPOINTABLE_OBJECT_GRAPH`) are those of TensorFlow, so that
either reads the other's files. Objects are variables, optimizers, layers, other `Checkpoint`s, and lists and
dicts of them.
"""

from __future__ import annotations

import collections
import glob
import os
import time
from typing import Any, Dict, Iterator, List, Optional, Tuple

from millstream.framework import constant, device, dtypes, get_default_graph, logging, protos
from millstream.framework.session import get_default_session
from millstream.io.saveables import SaveableObject, SaveSpec
from millstream.layers.core import Layer
from millstream.train import checkpoints, trackable, training_util
from millstream.train.optimizer import Optimizer
from millstream.train.saver import Saver
from millstream.variables.variable import Variable

__all__ = ["Checkpoint", "CheckpointManager"]

_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"


def _is_trackable(value: Any) -> bool:
    return isinstance(value, Checkpoint) or trackable.is_trackable(value)


def _children(value: Any) -> Iterator[Tuple[str, Any]]:
    """Yields the objects that an object holds, with their names."""
    held = trackable.children(value)
    if held is not None:
        yield from held
    elif isinstance(value, Checkpoint):
        yield from value._held()
    elif isinstance(value, Optimizer):
        graph = get_default_graph()
        own = {name: v for (name, _), v in value._non_slot_dict.items() if v.op.graph is graph}
        yield from sorted(own.items())
    elif isinstance(value, Layer):
        yield from _held_by_layer(value)
    elif isinstance(value, dict):
        yield from ((str(key), v) for key, v in value.items() if _is_trackable(v))
    elif isinstance(value, (list, tuple)):
        yield from ((str(i), v) for i, v in enumerate(value) if _is_trackable(v))


def _held_by_layer(layer: Layer) -> Iterator[Tuple[str, Any]]:
    scope = layer._scope.name + "/" if layer._scope is not None and layer._scope.name else ""
    for variable in layer._variables:
        name = variable.op.name
        yield name[len(scope) :] if name.startswith(scope) else name, variable
    for name, value in vars(layer).items():
        known = any(value is v for v in layer._variables)
        if isinstance(value, (Variable, Layer)) and not name.startswith("_") and not known:
            yield name, value


def _escaped(name: str) -> str:
    return name.replace(".", "..").replace("/", ".S")


class _Objects:
    """The objects that can be reached from one, in the order in which they are found, level by level."""

    def __init__(self, root: Any) -> None:
        self.objects: List[Any] = [root]
        self.paths: List[str] = [""]
        self.children: List[List[Tuple[str, int]]] = []
        self._numbers = {id(root): 0}
        at = 0
        while at < len(self.objects):
            found = []
            for name, child in _children(self.objects[at]):
                if id(child) not in self._numbers:
                    self._numbers[id(child)] = len(self.objects)
                    self.objects.append(child)
                    path = self.paths[at]
                    self.paths.append((path + "/" if path else "") + _escaped(name))
                found.append((name, self._numbers[id(child)]))
            self.children.append(found)
            at += 1
        self._add_slots()

    def _add_slots(self) -> None:
        """Adds the slots of optimizers for variables that are among the objects."""
        # The slots of each optimizer: the numbers of the variable and of the slot, and the slot's name.
        self.slots: Dict[int, List[Tuple[int, str, int]]] = {}
        reached = list(enumerate(self.objects))
        for number, optimizer in reached:
            if not isinstance(optimizer, Optimizer):
                continue
            for slot_name in optimizer.get_slot_names():
                for original, variable in reached:
                    slot = optimizer.get_slot(variable, slot_name) if isinstance(variable, Variable) else None
                    if slot is None:
                        continue
                    self.slots.setdefault(number, []).append((original, slot_name, len(self.objects)))
                    self.objects.append(slot)
                    self.paths.append("%s/.OPTIMIZER_SLOT/%s/%s" % (self.paths[original], self.paths[number], _escaped(slot_name)))
                    self.children.append([])

    def variables(self) -> Dict[str, Any]:
        """Returns the variables by their keys."""
        return {path + _VALUE: v for path, v in zip(self.paths, self.objects) if isinstance(v, Variable)}

    def saveables(self, number: int) -> Dict[str, Any]:
        """Returns the `SaveableObject`s of an object's own values by their keys."""
        found = {}
        for attribute, saveable in trackable.saveables_of(self.objects[number]).items():
            key = "%s/.ATTRIBUTES/%s" % (self.paths[number], _escaped(attribute))
            found[key] = saveable(name=key) if callable(saveable) else saveable
        return found

    def saved(self) -> Dict[str, Any]:
        """Returns the variables and the `SaveableObject`s by their keys."""
        found = self.variables()
        for number in range(len(self.objects)):
            found.update(self.saveables(number))
        return found

    def message(self) -> Any:
        """Returns the description of the objects: a `TrackableObjectGraph`."""
        graph = protos.TrackableObjectGraph()
        for number, (value, path, children) in enumerate(zip(self.objects, self.paths, self.children)):
            node = graph.nodes.add()
            for name, child in children:
                node.children.add(node_id=child, local_name=name)
            if isinstance(value, Variable):
                node.attributes.add(name="VARIABLE_VALUE", full_name=value.op.name, checkpoint_key=path + _VALUE)
            for key in self.saveables(number):
                node.attributes.add(name=key.rpartition("/")[2], checkpoint_key=key)
            for original, name, slot in self.slots.get(number, []):
                node.slot_variables.add(original_variable_node_id=original, slot_name=name, slot_variable_node_id=slot)
        return graph


class _Description(SaveableObject):
    """The description of the objects, a string that is saved with them."""

    def __init__(self, message: Any) -> None:
        text = constant(message.SerializeToString(), dtypes.string, name="object_graph")
        super().__init__(text, [SaveSpec(text, "", _GRAPH)], _GRAPH)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Returns the saved description."""
        return restored_tensors[0]


def _session(session: Any) -> Any:
    session = session or get_default_session()
    if session is None:
        raise ValueError("a session is needed: pass `session`, or enter one with `with tf.Session():`")
    return session


class Checkpoint:
    """Objects whose variables are saved together, by the names of the arguments.

    Each is an attribute of the checkpoint; further ones may be set as attributes. The key of a variable is
    the path of names to it, such as `model/kernel/.ATTRIBUTES/VARIABLE_VALUE`.

    Args:
      **kwargs: The objects: variables, optimizers, layers, `Checkpoint`s, lists and dicts.

    Raises:
      ValueError: An argument is another object.

    Example:
      >>> import tempfile
      >>> v = tf.get_variable("v", initializer=1.0)
      >>> checkpoint = tf.train.Checkpoint(weight=v)
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = checkpoint.save(tempfile.mkdtemp() + "/ckpt")
      ...     _ = sess.run(v.assign(5.0))
      ...     status = checkpoint.restore(path).assert_consumed()
      ...     status.initialize_or_restore()
      ...     print(sess.run(v), sess.run(checkpoint.save_counter))
      1.0 1
      >>> [name for name, _ in tf.train.list_variables(path)][1:]
      ['save_counter/.ATTRIBUTES/VARIABLE_VALUE', 'weight/.ATTRIBUTES/VARIABLE_VALUE']
    """

    def __init__(self, **kwargs: Any) -> None:
        for name, value in sorted(kwargs.items()):
            if not _is_trackable(value):
                raise ValueError(
                    "`Checkpoint` was expecting a trackable object (an object derived from `TrackableBase`), got %s. If you believe this object "
                    "should be trackable (i.e. it is part of the TensorFlow Python API and manages state), please open an issue." % (value,)
                )
            setattr(self, name, value)
        self._save_counter: Any = None
        self._save_assign_op: Any = None
        # The savers, by the keys of what they save and restore.
        self._savers: Dict[Any, Saver] = {}

    def _held(self) -> Iterator[Tuple[str, Any]]:
        yield from ((n, v) for n, v in vars(self).items() if not n.startswith("_") and _is_trackable(v))
        if self._save_counter is not None:
            yield "save_counter", self._save_counter

    @property
    def save_counter(self) -> Any:
        """A variable that counts the calls of `save`."""
        if self._save_counter is None:
            with device("/cpu:0"):
                self._save_counter = Variable(0, name="save_counter", dtype=dtypes.int64, trainable=False)
        return self._save_counter

    def _saver(self, variables: Dict[str, Any], message: Any = None) -> Saver:
        key = (tuple(sorted((k, id(v)) for k, v in variables.items())), message and message.SerializeToString())
        if key not in self._savers:
            saved = dict(variables)
            if message is not None:
                saved[_GRAPH] = _Description(message)
            self._savers[key] = Saver(saved, max_to_keep=None)
        return self._savers[key]

    def write(self, file_prefix: str, session: Any = None) -> str:
        """Writes the variables to a checkpoint, without numbering it.

        Args:
          file_prefix: The path of the checkpoint.
          session: The session; by default the one that is entered.

        Returns:
          The path.

        Example:
          >>> import tempfile
          >>> v = tf.get_variable("v", initializer=1.0)
          >>> folder = tempfile.mkdtemp()
          >>> with tf.Session() as sess:
          ...     sess.run(v.initializer)
          ...     path = tf.train.Checkpoint(v=v).write(folder + "/last")
          >>> path == folder + "/last", tf.train.latest_checkpoint(folder)
          (True, None)
        """
        session = _session(session)
        with session.graph.as_default():
            objects = _Objects(self)
            saver = self._saver(objects.saved(), objects.message())
        return str(saver.save(session, file_prefix, write_meta_graph=False, write_state=False))

    def save(self, file_prefix: str, session: Any = None) -> str:
        """Writes the variables to the next checkpoint, and notes it as the latest one of its folder.

        Args:
          file_prefix: The path of the checkpoint, to which `-1`, `-2` and so on are appended.
          session: The session; by default the one that is entered.

        Returns:
          The path.
        """
        session = _session(session)
        with session.graph.as_default():
            if self._save_counter is None:
                session.run(self.save_counter.initializer)
            if self._save_assign_op is None:
                self._save_assign_op = self.save_counter.assign_add(1)
        path = self.write("%s-%d" % (file_prefix, session.run(self._save_assign_op)), session)
        _note(os.path.dirname(file_prefix), path, [path])
        return path

    def restore(self, save_path: Optional[str]) -> "_Status":
        """Finds the values of a checkpoint for the variables. The result restores them.

        Args:
          save_path: The path of the checkpoint, also of one by a `tf.train.Saver`, whose variables are found
            by name. With None, the result initializes the variables.

        Returns:
          An object with `initialize_or_restore` and `run_restore_ops`, which take a session;
          `assert_consumed`, `assert_existing_objects_matched` and `assert_nontrivial_match`, which return it
          or raise an `AssertionError`; and `expect_partial`, which returns it.
        """
        status = _status_of(self, save_path)
        self.save_counter  # noqa: B018  It is initialized with the other variables.
        return status


def _note(folder: str, latest: str, paths: List[str], times: Any = None, preserved: Any = None) -> None:
    """Writes the file that lists the checkpoints of a folder, with paths relative to it."""
    folder = folder or "."

    def relative(path: str) -> str:
        return os.path.relpath(path, folder) if os.path.isabs(folder) else path

    checkpoints.update_checkpoint_state(folder, relative(latest), [relative(path) for path in paths], None, times, preserved)


class _Status:
    """What `Checkpoint.restore` returns if there is no checkpoint: it initializes the variables."""

    _NOTHING = "No checkpoint specified (save_path=None); nothing is being restored."

    def __init__(self, root: Checkpoint) -> None:
        self._root = root

    def assert_consumed(self) -> "_Status":
        """Raises an error unless all objects have values, and all values objects."""
        raise AssertionError(self._NOTHING)

    def assert_existing_objects_matched(self) -> "_Status":
        """Raises an error unless all objects have values."""
        raise AssertionError(self._NOTHING)

    def assert_nontrivial_match(self) -> "_Status":
        """Raises an error if no object has a value."""
        raise AssertionError(self._NOTHING)

    def expect_partial(self) -> "_Status":
        """Returns the status: nothing is told of values that are not used."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Restores the variables that have values."""
        raise AssertionError("No checkpoint specified, so no restore ops are available (save_path=None to Saver.restore).")

    def initialize_or_restore(self, session: Any = None) -> None:
        """Restores the variables that have values, and initializes the others."""
        session = _session(session)
        with session.graph.as_default():
            session.run([v.initializer for v in _Objects(self._root).variables().values()])


def _check_found(without: List[Any]) -> None:
    if without:
        words = "Some Python objects were not bound to checkpointed values, likely due to changes in the Python program: %s"
        raise AssertionError(words % without)


class _ByPath(_Status):
    """The status for a checkpoint with a description of its objects."""

    def __init__(self, root: Checkpoint, path: str, message: Any) -> None:
        super().__init__(root)
        self._path, self._message = path, message

    def _matched(self) -> Tuple[_Objects, Dict[int, int]]:
        """Returns the objects, and the number in the checkpoint of each that has one."""
        objects = _Objects(self._root)
        numbers, waiting = {0: 0}, [0]
        while waiting:
            here = waiting.pop(0)
            theirs = {child.local_name: child.node_id for child in self._message.nodes[numbers[here]].children}
            for name, child in objects.children[here]:
                if name in theirs and child not in numbers:
                    numbers[child] = theirs[name]
                    waiting.append(child)
        for optimizer, slots in objects.slots.items():
            theirs = {}
            if optimizer in numbers:
                listed = self._message.nodes[numbers[optimizer]].slot_variables
                theirs = {(s.original_variable_node_id, s.slot_name): s.slot_variable_node_id for s in listed}
            for original, name, slot in slots:
                found = theirs.get((numbers.get(original), name))
                if found is not None:
                    numbers[slot] = found
        return objects, numbers

    def assert_consumed(self) -> "_Status":
        self.assert_existing_objects_matched()
        _, numbers = self._matched()
        for number, node in enumerate(self._message.nodes):
            if number not in numbers.values():
                raise AssertionError("Unresolved object in checkpoint: %s" % (node,))
        return self

    def assert_existing_objects_matched(self) -> "_Status":
        objects, numbers = self._matched()
        found = [v for i, v in enumerate(objects.objects) if i not in numbers and isinstance(v, Variable)]
        _check_found([v for v in found if v is not self._root._save_counter])
        return self

    def assert_nontrivial_match(self) -> "_Status":
        objects, numbers = self._matched()
        if set(numbers) <= {0}:
            raise AssertionError("Nothing except the root object matched a checkpointed value. Typically this means that the checkpoint does not match the Python program. The following objects have no matching checkpointed value: %s" % objects.objects[1:])
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        session = _session(session)
        with session.graph.as_default():
            self._restore(session, *self._matched())

    def _restore(self, session: Any, objects: _Objects, numbers: Dict[int, int]) -> List[Any]:
        """Restores variables, and returns those without values."""
        keys, others = {}, []
        for number, value in enumerate(objects.objects):
            for key, saveable in objects.saveables(number).items() if number in numbers else ():
                name = key.rpartition("/")[2]
                keys.update({a.checkpoint_key: saveable for a in self._message.nodes[numbers[number]].attributes if a.name == name})
            if not isinstance(value, Variable):
                continue
            saved = self._message.nodes[numbers[number]].attributes if number in numbers else []
            if saved:
                keys[saved[0].checkpoint_key] = value
            else:
                others.append(value)
        if keys:
            self._root._saver(keys).restore(session, self._path)
        return others

    def initialize_or_restore(self, session: Any = None) -> None:
        session = _session(session)
        with session.graph.as_default():
            others = self._restore(session, *self._matched())
            session.run([v.initializer for v in others])


class _ByName(_Status):
    """The status for a checkpoint of a `tf.train.Saver`."""

    def __init__(self, root: Checkpoint, path: str) -> None:
        super().__init__(root)
        self._path = path

    def assert_consumed(self) -> "_Status":
        self.assert_existing_objects_matched()
        ours = {v.op.name for v in _Objects(self._root).variables().values()}
        unused = sorted(set(checkpoints.NewCheckpointReader(self._path).get_variable_to_shape_map()) - ours)
        if unused:
            raise AssertionError("Some checkpoint values were not used: %s" % unused)
        return self

    def assert_existing_objects_matched(self) -> "_Status":
        reader = checkpoints.NewCheckpointReader(self._path)
        variables = _Objects(self._root).variables().values()
        _check_found([v for v in variables if v is not self._root._save_counter and not reader.has_tensor(v.op.name)])
        return self

    def assert_nontrivial_match(self) -> "_Status":
        reader = checkpoints.NewCheckpointReader(self._path)
        if not any(reader.has_tensor(v.op.name) for v in _Objects(self._root).variables().values()):
            raise AssertionError("Nothing except the root object matched a checkpointed value.")
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        self.initialize_or_restore(session)

    def initialize_or_restore(self, session: Any = None) -> None:
        session = _session(session)
        reader = checkpoints.NewCheckpointReader(self._path)
        with session.graph.as_default():
            variables = _Objects(self._root).variables().values()
            named = {v.op.name: v for v in variables if reader.has_tensor(v.op.name)}
            if named:
                self._root._saver(named).restore(session, self._path)
            session.run([v.initializer for v in variables if v.op.name not in named])


def _status_of(root: Checkpoint, path: Optional[str]) -> _Status:
    if path is None:
        return _Status(root)
    reader = checkpoints.NewCheckpointReader(path)
    if not reader.has_tensor(_GRAPH):
        logging.warning("Restoring a name-based tf.train.Saver checkpoint using the object-based restore API. Variables are found by name.")
        return _ByName(root, path)
    message = protos.TrackableObjectGraph.FromString(bytes(reader.get_tensor(_GRAPH)))
    return _ByPath(root, path, message)


class CheckpointManager:
    """Numbered checkpoints of a `Checkpoint` in a folder, of which old ones are deleted.

    A new manager of the same folder continues the list of an earlier one.

    Args:
      checkpoint: The `tf.train.Checkpoint`.
      directory: The folder.
      max_to_keep: The number of checkpoints to keep; None for all.
      keep_checkpoint_every_n_hours: The interval at which a checkpoint is kept for good.
      checkpoint_name: The name of the files.

    Raises:
      ValueError: `max_to_keep` is not positive.

    Example:
      >>> import os, tempfile
      >>> v = tf.get_variable("v", initializer=1.0)
      >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), tempfile.mkdtemp(), max_to_keep=2)
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     paths = [manager.save() for _ in range(3)]
      >>> [os.path.basename(path) for path in manager.checkpoints], manager.latest_checkpoint == paths[-1]
      (['ckpt-2', 'ckpt-3'], True)
    """

    def __init__(
        self, checkpoint: Checkpoint, directory: str, max_to_keep: Optional[int], keep_checkpoint_every_n_hours: Optional[float] = None, checkpoint_name: str = "ckpt"
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError("Expected a positive integer or `None` for `max_to_max_to_keep`, got %d." % max_to_keep)
        self._checkpoint, self._directory = checkpoint, directory
        self._max_to_keep, self._keep_hours = max_to_keep, keep_checkpoint_every_n_hours
        self._checkpoint_prefix = os.path.join(directory, checkpoint_name)
        self._save_counter_assign: Any = None
        # The times of the checkpoints that may be deleted, oldest first.
        self._maybe_delete: Dict[str, float] = collections.OrderedDict()
        self._latest_checkpoint: Optional[str] = None
        now = time.time()
        self._last_preserved_timestamp = now - 1.0
        state = checkpoints.get_checkpoint_state(directory)
        if state is not None:
            self._latest_checkpoint = state.model_checkpoint_path
            self._last_preserved_timestamp = min(state.last_preserved_timestamp, now)
            paths = list(state.all_model_checkpoint_paths)
            times = list(state.all_model_checkpoint_timestamps) or [self._last_preserved_timestamp] * len(paths)
            for path, then in zip(paths, times):
                if self._last_preserved_timestamp < min(then, now):
                    self._maybe_delete[path] = min(then, now)

    @property
    def latest_checkpoint(self) -> Optional[str]:
        """The path of the latest checkpoint, or None."""
        return self._latest_checkpoint

    @property
    def checkpoints(self) -> List[str]:
        """The paths of the checkpoints that are kept, oldest first, without those that are kept for good."""
        return list(self._maybe_delete)

    def save(self, checkpoint_number: Any = None) -> str:
        """Writes the next checkpoint, and deletes the oldest ones.

        Args:
          checkpoint_number: The number: an integer or a variable; by default that of `save_counter`.

        Returns:
          The path.
        """
        session = _session(None)
        with session.graph.as_default():
            if self._checkpoint._save_counter is None:
                session.run(self._checkpoint.save_counter.initializer)
            counter = self._checkpoint.save_counter
            if self._save_counter_assign is None:
                self._save_counter_assign = counter.assign_add(1)
            session.run(self._save_counter_assign)
        number = counter if checkpoint_number is None else checkpoint_number
        if not isinstance(number, int):
            number = training_util.global_step(session, number)
        path = self._checkpoint.write("%s-%d" % (self._checkpoint_prefix, number), session)
        self._maybe_delete.pop(path, None)
        self._maybe_delete[path] = time.time()
        self._latest_checkpoint = path
        self._record()
        self._sweep()
        self._record()
        return path

    def _sweep(self) -> None:
        while self._max_to_keep and self._max_to_keep < len(self._maybe_delete):
            path = next(iter(self._maybe_delete))
            then = self._maybe_delete.pop(path)
            if self._keep_hours and self._last_preserved_timestamp <= then - self._keep_hours * 3600:
                self._last_preserved_timestamp = then
                continue
            for file in glob.glob(glob.escape(path) + ".index") + glob.glob(glob.escape(path) + ".data-?????-of-?????"):
                os.remove(file)

    def _record(self) -> None:
        paths, times = list(self._maybe_delete), list(self._maybe_delete.values())
        _note(self._directory, str(self._latest_checkpoint), paths, times, self._last_preserved_timestamp)
