"""Public names that are one op each (`tf.add`, `tf.math.add`), and their modules (`tf.math`, `tf.strings`).

Functions are made at first use. A module that is a file of the package looks up missing names here (`find`).
"""

from __future__ import annotations

import difflib
import importlib
import importlib.machinery
import importlib.util
import sys
import types
from typing import Any, Callable, Dict, Iterable, List

from millstream import _engine
from millstream.framework import left_out, protos
from millstream.framework.op_functions import op

_tables: Dict[str, Dict[str, str]] = {}

# For each namespace, the names that it imports when they are first requested, and where they are defined:
# "module" or "module:name".
_places: Dict[str, Dict[str, str]] = {}


def _table() -> Dict[str, Dict[str, str]]:
    """Returns, for each namespace, its names and their ops."""
    global _tables
    if not _tables:
        from millstream._generated.api import ALIASES, ENDPOINTS

        have = set(_engine.op_names())
        made: Dict[str, Dict[str, str]] = {}
        for public, top in ALIASES.items():
            space, _, name = public.rpartition(".")
            made.setdefault(space, {})[name] = "=" + top
        for public, kind in ENDPOINTS.items():
            space, _, name = public.rpartition(".")
            if kind in have:
                made.setdefault(space, {})[name] = kind
        _tables = made  # Assigned as a whole: other threads may read it.
    return _tables


def names(space: str) -> List[str]:
    """Returns the names in a namespace."""
    package = sys.modules["millstream"]
    return [n for n, word in _table().get(space, {}).items() if not word.startswith("=") or hasattr(package, word[1:])]


def shown(own: Dict[str, Any], space: str, *more: Iterable[str]) -> List[str]:
    """Returns the `dir` of a namespace that is a file with the names `own`, without its imports."""
    listed = own.get("__all__")
    mine = [n for n, value in list(own.items()) if not n.startswith("_") and n != "TYPE_CHECKING" and not _is_tool(value)] if listed is None else listed
    return sorted({*mine, *names(space)}.union(*more))


def _is_tool(value: Any) -> bool:
    """Returns whether a value is a tool of the file: a typing name, a library, the package."""
    if isinstance(value, types.ModuleType):
        return True
    if type(value).__module__ == "__future__" or getattr(value, "__module__", None) == "typing":
        return True
    return getattr(value, "__module__", None) == "millstream.framework.op_functions"


def dir_of(own: Dict[str, Any]) -> Callable[[], List[str]]:
    """Returns the `__dir__` function of a file with the names `own`; see `shown`."""
    public = own["__name__"].partition(".")[2]
    return lambda: shown(own, public)


def spaces() -> List[str]:
    """Returns the namespaces that have a name or contain one that has."""
    return _spaces()


def home(op: str, name: str, space: str) -> str:
    """Returns the namespace that a function of one op reports: the top, if it has this name there, too."""
    return "" if _table().get("", {}).get(name) == op else space


def find(module: str, space: str, name: str) -> Any:
    """Returns the value of `name` in a namespace, and stores it in the module."""
    public = space + "." + name if space else name
    if name.startswith("__"):
        raise AttributeError("module %r has no attribute %r" % (module, name))
    placed = _places.get(space, {}).get(name)
    word = _table().get(space, {}).get(name)
    if placed is not None:
        where, _, inner = placed.partition(":")
        value = importlib.import_module(where)
        value = getattr(value, inner) if inner else value
    elif word is not None and word.startswith("="):
        value = getattr(sys.modules["millstream"], word[1:])
    elif word is not None:
        top = space and home(word, name, space) == ""
        value = getattr(sys.modules["millstream"], name) if top else op(word, public)
    elif public in _spaces() or _is_file(public):
        value = _space(public)
    elif not space and name[0].isupper() and _message(name) is not None:
        value = _message(name)
    else:
        raise missing(sys.modules[module], name, why_not(public))
    setattr(sys.modules[module], name, value)
    return value


def missing(module: types.ModuleType, name: str, why: str) -> AttributeError:
    """Returns the error for a name that a module does not have, with the name most like it.

    Python 3.10 and newer add that name where the error is shown; for older ones, the text has it.
    """
    text = "module %r has no attribute %r%s" % (module.__name__, name, why)
    if sys.version_info >= (3, 10):
        return AttributeError(text, name=name, obj=module)
    near = difflib.get_close_matches(name, [n for n in dir(module) if not n.startswith("_")], 1)
    return AttributeError(text + (". Did you mean: %r?" % near[0] if near and not why else ""))


def why_not(public: str) -> str:
    """Returns the reason why a name does not exist, or an empty string."""
    from millstream._generated.api import ALIASES, ENDPOINTS

    kind, text = left_out.reason(public)
    op = ENDPOINTS.get(ALIASES.get(public, public))
    if op and kind != "renamed":
        return ": Millstream has no op %s" % op
    return "" if kind == "unknown" else ": " + text


def _is_file(public: str) -> bool:
    try:
        return not public.rpartition(".")[2].startswith("_") and importlib.util.find_spec("millstream." + public) is not None
    except ModuleNotFoundError:
        return False  # The parent is not a package.


def _message(name: str) -> Any:
    """Returns a message that TensorFlow exports at the top, such as `GraphDef`."""
    return getattr(protos, name, None)


def _spaces() -> List[str]:
    return sorted({".".join(s.split(".")[: i + 1]) for s in _table() for i in range(len(s.split(".")))} - {""})


class _Space(types.ModuleType):
    """A module whose names are looked up at first use."""

    def __getattr__(self, name: str) -> Any:
        return find(self.__name__, self.__name__.partition(".")[2], name)

    def __dir__(self) -> List[str]:
        return sorted(set(self.__dict__) | set(names(self.__name__.partition(".")[2])))


def _space(public: str) -> Any:
    # Imported even if loaded already: another thread may be importing it, and this waits until that is done.
    full = "millstream." + public
    try:
        return importlib.import_module(full)
    except ModuleNotFoundError as e:
        if e.name != full:
            raise
    return sys.modules.setdefault(full, _Space(full, "TensorFlow's `tf.%s`." % public))


class _Finder:
    """The finder of modules that are not files, for `import millstream.math`."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        """Returns the module's spec, or None if it is not such a module.

        Raises `ImportError` for a part of TensorFlow that is left out, with the reason.
        """
        head, _, public = name.partition(".")
        if head != "millstream" or public == "raw_ops":
            return None
        if public not in _spaces():
            why = why_not(public)
            if why:
                # Without the name: `from millstream import x` replaces the text of an error that has it.
                raise ModuleNotFoundError("No module or name %r%s" % (name, why))
            return None
        return importlib.machinery.ModuleSpec(name, _Loader(), is_package=True)  # type: ignore[arg-type]


class _Loader:
    @staticmethod
    def create_module(spec: Any) -> Any:
        """Returns an empty module."""
        return _Space(spec.name, "TensorFlow's `tf.%s`." % spec.name.partition(".")[2])

    @staticmethod
    def exec_module(module: Any) -> None:
        """Does nothing."""


def place(space: str, places: Dict[str, str]) -> None:
    """Registers names that a namespace imports when they are first requested: "module" or "module:name"."""
    _places.setdefault(space, {}).update(places)


def getattr_of(module: str) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a namespace's module."""
    space = module.partition(".")[2]
    return lambda name: find(module, space, name)


def install() -> None:
    """Installs the finder, which makes `import millstream.math` work."""
    if not any(isinstance(f, type) and f is _Finder for f in sys.meta_path):
        sys.meta_path.append(_Finder)
