"""Structures of arguments, results and loop variables: those of `framework.nest`; `None` is an empty one."""

from __future__ import annotations

from typing import Any, List, Sequence

from millstream.framework import nest


def flatten(structure: Any) -> List[Any]:
    """Returns the leaves in order, without `None`."""
    return [leaf for leaf in nest.flatten(structure) if leaf is not None]


def pack(structure: Any, leaves: Sequence[Any]) -> Any:
    """Returns `structure` with other leaves."""
    rest = iter(leaves)
    flat = [None if leaf is None else next(rest) for leaf in nest.flatten(structure)]
    return nest.pack_sequence_as(structure, flat) if nest.is_sequence(structure) else flat[0]


def paths(structure: Any, root: str) -> List[str]:
    """Returns a Python expression for each leaf: `root['w'][0]`."""
    found: List[str] = []
    _walk(structure, root, found)
    return found


def _walk(structure: Any, path: str, found: List[str]) -> None:
    if structure is None:
        return
    if not nest.is_sequence(structure):
        found.append(path)
    elif isinstance(structure, dict):
        for key in sorted(structure):
            _walk(structure[key], "%s[%r]" % (path, key), found)
    elif hasattr(structure, "_fields"):
        for name in structure._fields:
            _walk(getattr(structure, name), "%s.%s" % (path, name), found)
    elif hasattr(type(structure), "__attrs_attrs__"):
        for field in type(structure).__attrs_attrs__:
            _walk(getattr(structure, field.name), "%s.%s" % (path, field.name), found)
    else:
        for i, item in enumerate(structure):
            _walk(item, "%s[%d]" % (path, i), found)


def form(structure: Any) -> Any:
    """Returns the structure with `*` for each leaf, to show it in an error."""
    return pack(structure, [_Star()] * len(flatten(structure)))


def alike(a: Any, b: Any) -> bool:
    """Whether two structures are the same."""
    if (a is None) != (b is None):
        return False
    try:
        nest.assert_same_structure(a, b)
    except (TypeError, ValueError):
        return False
    return [x is None for x in nest.flatten(a)] == [x is None for x in nest.flatten(b)]


class _Star:
    """A leaf of a structure that is shown."""

    def __repr__(self) -> str:
        return "*"
