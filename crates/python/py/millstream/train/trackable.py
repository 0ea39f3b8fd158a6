"""`Trackable` and `AutoTrackable`: objects that name the objects they hold, for `tf.train.Checkpoint`.

`List` and `Mapping` are containers of such objects.
"""

from __future__ import annotations

import collections
import collections.abc
import functools
from typing import Any, Callable, Dict, Iterator, List as ListOf, Optional

from millstream.framework import nest
from millstream.framework.module import Module
from millstream.layers.core import Layer
from millstream.train.optimizer import Optimizer
from millstream.variables.variable import Variable

# An object that another one holds, and its name there.
TrackableReference = collections.namedtuple("TrackableReference", ["name", "ref"])


class Trackable:
    """The base of classes whose objects hold others by name, and may save values of their own.

    A class that saves values of its own overrides `_gather_saveables_for_checkpoint`.
    """

    def _maybe_initialize_trackable(self) -> None:
        """Makes the lists of what the object holds."""
        if "_held_by_name" not in vars(self):
            object.__setattr__(self, "_held_by_name", {})

    @property
    def _checkpoint_dependencies(self) -> ListOf[Any]:
        """The objects that this one holds, with their names."""
        self._maybe_initialize_trackable()
        return [TrackableReference(name, ref) for name, ref in vars(self)["_held_by_name"].items()]

    @property
    def _unconditional_checkpoint_dependencies(self) -> ListOf[Any]:
        return self._checkpoint_dependencies

    @property
    def _unconditional_dependency_names(self) -> Dict[str, Any]:
        self._maybe_initialize_trackable()
        return dict(vars(self)["_held_by_name"])

    def _lookup_dependency(self, name: str) -> Any:
        """Returns the object that is held under a name, or None."""
        return self._unconditional_dependency_names.get(name)

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Holds an object under a name, and returns it.

        Raises:
          TypeError: The object is not one that a checkpoint can hold.
          ValueError: Another object has that name.
        """
        self._maybe_initialize_trackable()
        if not is_trackable(trackable):
            raise TypeError("Trackable._track_trackable() passed type %s, not a Trackable." % (type(trackable),))
        held = vars(self)["_held_by_name"]
        if name in held and held[name] is not trackable and not overwrite:
            raise ValueError(
                "Called Trackable._track_trackable() with name='%s', but a Trackable with this name is already declared as a dependency. "
                "Names must be unique (or overwrite=True)." % (name,)
            )
        held[name] = trackable
        return trackable

    def _gather_saveables_for_checkpoint(self) -> Dict[str, Any]:
        """Returns the object's own `SaveableObject`s, or functions of a name that return one."""
        return {}


class NoDependency:
    """A value for an attribute, which the object then does not hold for checkpoints.

    Args:
      value: The value.
    """

    def __init__(self, value: Any) -> None:
        self.value = value


class AutoTrackable(Trackable):
    """A `Trackable` that holds the objects which its attributes name."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets an attribute, and holds its value if a checkpoint can."""
        plain = isinstance(value, NoDependency) or not getattr(self, "_setattr_tracking", True)
        value = value.value if isinstance(value, NoDependency) else value
        if plain or not is_trackable(value):
            self._forget(name)
        else:
            self._track_trackable(value, name, overwrite=True)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        """Deletes an attribute, whose value is then no longer held."""
        self._forget(name)
        object.__delattr__(self, name)

    def _forget(self, name: str) -> None:
        self._maybe_initialize_trackable()
        vars(self)["_held_by_name"].pop(name, None)


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a method of an `AutoTrackable`: what it sets is not held for checkpoints."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = getattr(self, "_setattr_tracking", True)
        object.__setattr__(self, "_setattr_tracking", False)
        try:
            return method(self, *args, **kwargs)
        finally:
            object.__setattr__(self, "_setattr_tracking", before)

    return call


class _UntrackableError(ValueError):
    """An object is not one that a container can hold."""


class _Container(Trackable):
    """The variables and layers of a container."""

    def _values(self) -> ListOf[Any]:
        raise NotImplementedError

    @property
    def layers(self) -> ListOf[Any]:
        """The layers among the values, and in the containers among them."""
        found: ListOf[Any] = []
        for value in self._values():
            found += value.layers if isinstance(value, _Container) else [value] if isinstance(value, Layer) else []
        return found

    def _all(self, of: str, own: Callable[[Any], bool]) -> ListOf[Any]:
        found: ListOf[Any] = []
        for value in self._values():
            if isinstance(value, Variable):
                found += [value] if own(value) else []
            elif hasattr(value, of):
                found += getattr(value, of)
        return found

    @property
    def variables(self) -> ListOf[Any]:
        """The variables among the values, and of the objects among them."""
        return self._all("variables", lambda v: True)

    weights = variables

    @property
    def trainable_variables(self) -> ListOf[Any]:
        """The variables that are trained."""
        return self._all("trainable_variables", lambda v: bool(v.trainable))

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self) -> ListOf[Any]:
        """The variables that are not trained."""
        trained = self.trainable_variables
        return [v for v in self.variables if not any(v is t for t in trained)]

    non_trainable_weights = non_trainable_variables


def _held(value: Any) -> Any:
    """Returns a value as a container holds it: lists and dictionaries become containers.

    Raises:
      ValueError: A checkpoint cannot hold it.
    """
    if isinstance(value, NoDependency):
        return value.value
    if type(value) is list:
        return List(value)
    if type(value) is dict:
        return Mapping(value)
    if not is_trackable(value):
        raise _UntrackableError(
            "Only trackable objects (such as Layers or Optimizers) may be stored in a List object. Got %s, which does not inherit from Trackable."
            % (value,)
        )
    return value


class List(_Container, collections.abc.Sequence):
    """A list to which objects are only appended.

    Args:
      *args: The first objects, as `list` takes them.
    """

    def __init__(self, *args: Any) -> None:
        self._storage: ListOf[Any] = []
        self.extend(list(*args))

    def append(self, value: Any) -> None:
        """Appends an object."""
        value = _held(value)
        if is_trackable(value):
            self._track_trackable(value, "%d" % len(self._storage))
        self._storage.append(value)

    def extend(self, values: Any) -> None:
        """Appends several objects."""
        for value in values:
            self.append(value)

    def __iadd__(self, values: Any) -> "List":
        self.extend(values)
        return self

    def __add__(self, other: Any) -> "List":
        return type(self)([*self._storage, *(other._storage if isinstance(other, List) else other)])

    def __radd__(self, other: Any) -> "List":
        return type(self)([*other, *self._storage])

    def __getitem__(self, key: Any) -> Any:
        return self._storage[key]

    def __len__(self) -> int:
        return len(self._storage)

    def __repr__(self) -> str:
        return "List(%s)" % repr(self._storage)

    def _values(self) -> ListOf[Any]:
        return self._storage


class Mapping(_Container, collections.abc.Mapping):
    """A dictionary with texts as keys, each of which is set once.

    Args:
      *args, **kwargs: The first objects, as `dict` takes them.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._storage: Dict[str, Any] = {}
        self.update(*args, **kwargs)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Adds an object.

        Raises:
          TypeError: The key is not a text.
          ValueError: The key has been set to another object.
        """
        if not isinstance(key, str):
            raise TypeError("Mapping accepts only string keys, but got a key %s." % repr(key))
        value = _held(value)
        if key in self._storage and self._storage[key] is not value:
            raise ValueError("Mappings are an append-only data structure. Tried to overwrite the key '%s' with value %s" % (key, value))
        if is_trackable(value):
            self._track_trackable(value, key)
        self._storage[key] = value

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Adds several objects."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __getitem__(self, key: str) -> Any:
        return self._storage[key]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[str]:
        return iter(self._storage)

    def __repr__(self) -> str:
        return "Mapping(%s)" % repr(self._storage)

    def _values(self) -> ListOf[Any]:
        return [self._storage[key] for key in sorted(self._storage)]


_CLASSES = (Variable, Optimizer, Layer, Trackable, Module, list, tuple, dict)


def is_trackable(value: Any) -> bool:
    """Returns whether a checkpoint can hold an object by name."""
    return isinstance(value, _CLASSES)


def children(value: Any) -> Optional[ListOf[Any]]:
    """Returns the names and the objects that a `Trackable` or a `Module` holds; None for other objects."""
    if isinstance(value, Trackable):
        return [(name, ref) for name, ref in value._checkpoint_dependencies]
    if isinstance(value, Module):
        return [(name, v) for name, v in vars(value).items() if _reaches(v)]
    return None


def _reaches(value: Any) -> bool:
    """Returns whether an attribute of a module is an object to hold, or contains one."""
    if not isinstance(value, (list, tuple, dict)):
        return is_trackable(value)
    try:
        return any(is_trackable(leaf) for leaf in nest.flatten(value))
    except (TypeError, ValueError):
        return False


def saveables_of(value: Any) -> Dict[str, Any]:
    """Returns the `SaveableObject`s of a `Trackable`'s own values, by attribute."""
    return value._gather_saveables_for_checkpoint() if isinstance(value, Trackable) else {}
