"""Structures of arguments, results and loop variables; `None` is an empty one.

They are those of `framework.nest` and dataclasses. All fields of a dataclass are parts of the structure, but
those with `metadata={"static": True}`: they stay as they are, must be hashable, and belong to its type.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
from typing import Any, Iterator, List, Sequence, Tuple

from millstream.framework import nest


@functools.lru_cache(maxsize=256)
def _fields(kind: Any) -> Tuple[Tuple[str, ...], Tuple[str, ...]]:
    """Returns the names of a dataclass's fields that are parts, and of those that are static."""
    fields = dataclasses.fields(kind)
    return tuple(f.name for f in fields if not f.metadata.get("static")), tuple(f.name for f in fields if f.metadata.get("static"))


def _names(value: Any) -> Tuple[Tuple[str, ...], Tuple[str, ...]]:
    kind: Any = type(value)
    return _fields(kind)


def _is_dataclass(value: Any) -> bool:
    return hasattr(type(value), "__dataclass_fields__")


def is_structure(value: Any) -> bool:
    """Returns whether a value is a structure and not a leaf. `None` is neither."""
    return nest.is_sequence(value) or _is_dataclass(value)


def parts(structure: Any) -> List[Any]:
    """Returns the parts of a structure, in order."""
    if not nest.is_sequence(structure) and _is_dataclass(structure):
        return [getattr(structure, name) for name in _names(structure)[0]]
    return list(nest._yield_value(structure))


def static(structure: Any) -> Tuple[Any, ...]:
    """Returns the static fields of a dataclass; other structures have none."""
    if nest.is_sequence(structure) or not _is_dataclass(structure):
        return ()
    found = []
    for name in _names(structure)[1]:
        value = getattr(structure, name)
        try:
            hash(value)
        except TypeError:
            raise TypeError("the static field `%s` of %s is %.60r, which has no hash because it can change" % (name, type(structure).__name__, value)) from None
        found.append((type(value), value))
    return tuple(found)


def _like(structure: Any, new: List[Any]) -> Any:
    """Returns a structure like another with other parts."""
    if nest.is_sequence(structure):
        return nest._sequence_like(structure, new)
    # Not by the constructor, which may check or convert what it gets.
    kind = type(structure)
    made = object.__new__(kind)
    names, rest = _names(structure)
    for name, value in [*zip(names, new), *((name, getattr(structure, name)) for name in rest)]:
        object.__setattr__(made, name, value)
    return made


def flatten(structure: Any) -> List[Any]:
    """Returns the leaves in order, without `None`."""
    out: List[Any] = []
    _flatten(structure, out)
    return out


def _flatten(structure: Any, out: List[Any]) -> None:
    if structure is None:
        return
    kind = type(structure)
    if kind is list or kind is tuple:
        for part in structure:
            _flatten(part, out)
    elif is_structure(structure):
        for part in parts(structure):
            _flatten(part, out)
    else:
        out.append(structure)


def pack(structure: Any, leaves: Sequence[Any]) -> Any:
    """Returns `structure` with other leaves, which may be structures themselves."""
    return _packed(structure, iter(leaves))


def _packed(structure: Any, rest: Iterator[Any]) -> Any:
    if structure is None:
        return None
    kind = type(structure)
    if kind is list:
        return [_packed(part, rest) for part in structure]
    if kind is tuple:
        return tuple([_packed(part, rest) for part in structure])
    if is_structure(structure):
        return _like(structure, [_packed(part, rest) for part in parts(structure)])
    return next(rest)


def paths(structure: Any, root: str) -> List[str]:
    """Returns a Python expression for each leaf: `root['w'][0]`."""
    found: List[str] = []
    _walk(structure, root, found)
    return found


def _walk(structure: Any, path: str, found: List[str]) -> None:
    if structure is None:
        return
    if not is_structure(structure):
        found.append(path)
    elif isinstance(structure, collections.abc.Mapping):
        for key in sorted(structure):
            _walk(structure[key], "%s[%r]" % (path, key), found)
    elif hasattr(structure, "_fields"):
        for name in structure._fields:
            _walk(getattr(structure, name), "%s.%s" % (path, name), found)
    elif hasattr(type(structure), "__attrs_attrs__"):
        for field in type(structure).__attrs_attrs__:
            _walk(getattr(structure, field.name), "%s.%s" % (path, field.name), found)
    elif _is_dataclass(structure) and not nest.is_sequence(structure):
        for name in _names(structure)[0]:
            _walk(getattr(structure, name), "%s.%s" % (path, name), found)
    else:
        for i, item in enumerate(structure):
            _walk(item, "%s[%d]" % (path, i), found)


def form(structure: Any) -> Any:
    """Returns the structure with `value` for each leaf, to show it in an error."""
    return pack(structure, [_Value()] * len(flatten(structure)))


def alike(a: Any, b: Any) -> bool:
    """Returns whether two structures are the same."""
    if a is None or b is None:
        return a is b
    if not is_structure(a) or not is_structure(b):
        return not is_structure(a) and not is_structure(b)
    if isinstance(a, collections.abc.Mapping) and isinstance(b, collections.abc.Mapping):
        if set(a) != set(b):
            return False
    elif nest._is_namedtuple(a) and nest._is_namedtuple(b):
        if not nest._same_namedtuples(a, b):
            return False
    elif type(a) is not type(b) or static(a) != static(b):
        return False
    xs, ys = parts(a), parts(b)
    return len(xs) == len(ys) and all(alike(x, y) for x, y in zip(xs, ys))


class _Value:
    """A leaf of a structure that is shown."""

    def __repr__(self) -> str:
        return "value"
