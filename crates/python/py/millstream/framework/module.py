"""`Module`: an object that names its variables and finds those of the modules in it."""

from __future__ import annotations

import functools
import re
from typing import Any, Callable, Iterator, List, Optional, Tuple

from millstream.framework import name_scope, nest

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z]|_+")


# The classes of variables, which register themselves.
_variable_classes: List[type] = []


def register_variables(cls: type) -> None:
    """Registers a class whose objects are the variables of modules."""
    _variable_classes.append(cls)


class Module:
    """The base of classes whose objects own variables and other modules, in their attributes.

    Args:
      name: The name; by default that of the class, in lower case with underscores.

    Raises:
      ValueError: The name is no identifier of Python.

    Example:
      >>> class Line(tf.Module):
      ...     def __init__(self, name=None):
      ...         super().__init__(name=name)
      ...         self.w = tf.Variable(2.0, name="w")
      ...         self.b = tf.Variable(1.0, name="b", trainable=False)
      ...     @tf.Module.with_name_scope
      ...     def __call__(self, x):
      ...         return self.w * x + self.b
      >>> line = Line()
      >>> line.name, [v.name for v in line.variables], [v.name for v in line.trainable_variables]
      ('line', ['b:0', 'w:0'], ['w:0'])
      >>> line(tf.constant(3.0)).name
      'line/add:0'
      >>> both = Line("both")
      >>> both.inner = [line]
      >>> [m.name for m in both.submodules]
      ['line']
    """

    # Attributes in which no variables and modules are looked for.
    _TF_MODULE_IGNORED_PROPERTIES: frozenset = frozenset()

    def __init__(self, name: Optional[str] = None) -> None:
        if name is None:
            name = "_".join(_WORDS.findall(type(self).__name__)).lower()
        if not name.isidentifier():
            raise ValueError("%r is not a valid module name. Module names must be valid Python identifiers (e.g. a valid class name)." % name)
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    @property
    def name(self) -> str:
        """The name, without those of enclosing scopes."""
        return self._name

    @property
    def name_scope(self) -> Any:
        """The name scope of the module, to be entered again.

        Example:
          >>> line = tf.Module("line")
          >>> with line.name_scope:
          ...     tf.constant(1.0, name="c").name
          'line/c:0'
        """
        return name_scope(self._scope_name)

    @property
    def variables(self) -> Tuple[Any, ...]:
        """The variables of this module, by the names of its attributes, and then those of its modules."""
        return tuple(self._flatten(predicate=_is_variable))

    @property
    def trainable_variables(self) -> Tuple[Any, ...]:
        """The variables that are trained."""
        return tuple(self._flatten(predicate=lambda leaf: _is_variable(leaf) and getattr(leaf, "trainable", False)))

    @property
    def submodules(self) -> Tuple[Module, ...]:
        """The modules in this one, and those in them."""
        return tuple(self._flatten(predicate=lambda leaf: isinstance(leaf, Module)))

    def _flatten(self, recursive: bool = True, predicate: Optional[Callable[[Any], bool]] = None, with_path: bool = False) -> Iterator[Any]:
        for path, leaf in _leaves(self, (), {id(self)}, recursive):
            if predicate is None or predicate(leaf):
                yield (path, leaf) if with_path else leaf

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorates a method, which then runs in the module's name scope."""

        @functools.wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


def _is_variable(leaf: Any) -> bool:
    return isinstance(leaf, tuple(_variable_classes))


def _leaves(module: Module, path: Tuple[Any, ...], seen: Any, recursive: bool) -> Iterator[Any]:
    """Yields what a module's attributes hold, each thing once, and then the same of the modules in it."""
    below = []
    for key, value in sorted(vars(module).items()):
        if key in module._TF_MODULE_IGNORED_PROPERTIES:
            continue
        try:
            found = nest.flatten_with_tuple_paths(value)
        except (TypeError, ValueError):
            found = [((), value)]  # A dictionary whose keys have no order.
        for inner, leaf in found:
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            at = (*path, key, *inner)
            yield at, leaf
            if recursive and isinstance(leaf, Module):
                below.append((at, leaf))
    for at, inner_module in below:
        yield from _leaves(inner_module, at, seen, recursive)
