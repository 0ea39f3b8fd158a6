"""The public names that are one op each (`tf.add`, `tf.math.add`), and the modules that hold them (`tf.math`, `tf.strings`).

Nothing is made before it is asked for. A module that is a file of the package takes what it lacks from here (`find`).
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
import types
from typing import Any, Callable, Dict, Iterable, List

_tables: Dict[str, Dict[str, str]] = {}


def _table() -> Dict[str, Dict[str, str]]:
    """For each namespace, its names and their ops."""
    global _tables
    if not _tables:
        from millstream import _engine
        from millstream._api import ALIASES, ENDPOINTS

        have = set(_engine.op_names())
        made: Dict[str, Dict[str, str]] = {}
        for public, top in ALIASES.items():
            space, _, name = public.rpartition(".")
            made.setdefault(space, {})[name] = "=" + top
        for public, op in ENDPOINTS.items():
            space, _, name = public.rpartition(".")
            if op in have:
                made.setdefault(space, {})[name] = op
        _tables = made  # Whole: other threads may ask meanwhile.
    return _tables


def names(space: str) -> List[str]:
    """The names in a namespace."""
    package = sys.modules["millstream"]
    return [n for n, word in _table().get(space, {}).items() if not word.startswith("=") or hasattr(package, word[1:])]


def shown(own: Dict[str, Any], space: str, *more: Iterable[str]) -> List[str]:
    """What `dir` says of a namespace that is a file with these names: not what the file imports for itself."""
    listed = own.get("__all__")
    mine = [n for n, value in list(own.items()) if not n.startswith("_") and not _is_tool(value)] if listed is None else listed
    return sorted({*mine, *names(space)}.union(*more))


def _is_tool(value: Any) -> bool:
    """Whether a file of the package has this to be written with: annotations, other libraries, the package itself."""
    if isinstance(value, types.ModuleType):
        return not value.__name__.startswith("millstream.")
    if type(value).__module__ == "__future__" or getattr(value, "__module__", None) == "typing":
        return True
    return getattr(value, "__module__", None) == "millstream._ops"


def dir_of(own: Dict[str, Any]) -> Callable[[], List[str]]:
    """The `__dir__` of a file with these names, which says `shown`."""
    public = own["__name__"].partition(".")[2]
    return lambda: shown(own, public)


def spaces() -> List[str]:
    """The namespaces that have a name or hold one that has."""
    return _spaces()


def home(op: str, name: str, space: str) -> str:
    """The namespace that a function of one op is shown to be of: the top, if it stands there under this name, too."""
    return "" if _table().get("", {}).get(name) == op else space


def find(module: str, space: str, name: str) -> Any:
    """What `name` is in a namespace; kept in the module from then on."""
    public = space + "." + name if space else name
    if name.startswith("__"):
        raise AttributeError("module %r has no attribute %r" % (module, name))
    word = _table().get(space, {}).get(name)
    if word is not None and word.startswith("="):
        value = getattr(sys.modules["millstream"], word[1:])
    elif word is not None:
        from millstream._ops import op

        top = space and home(word, name, space) == ""
        value = getattr(sys.modules["millstream"], name) if top else op(word, public)
    elif public in _spaces() or _is_file(public):
        value = _space(public)
    elif not space and name[0].isupper() and _message(name) is not None:
        value = _message(name)
    else:
        raise AttributeError("module %r has no attribute %r%s" % (module, name, _why_not(public)))
    setattr(sys.modules[module], name, value)
    return value


# What TensorFlow 1 has and Millstream leaves to others, and what is here instead.
_ELSEWHERE = {
    "data": "input pipelines are queues here: `tf.train.batch`, `tf.contrib.training.bucket`, `tf.train.string_input_producer`",
    "distribute": "a session runs in one process",
    "enable_eager_execution": "a graph is built first, and run by a `tf.Session`",
    "estimator": "`tf.train.MonitoredSession` runs a training loop",
    "keras": "`tf.layers.dense` and the cells of `tf.nn.rnn_cell` make and share variables",
    "lite": "a graph runs as it is: `millstream run graph.pb`",
    "tpu": "graphs run on the CPU",
}


def _why_not(public: str) -> str:
    """Why there is no such name, if that can be said."""
    from millstream._api import ALIASES, ENDPOINTS

    what = _ELSEWHERE.get(public.partition(".")[0])
    if what is not None:
        return ": TensorFlow's `tf.%s` is not part of Millstream; %s" % (public, what)
    op = ENDPOINTS.get(ALIASES.get(public, public))
    return ": Millstream has no op %s" % op if op else ""


def _is_file(public: str) -> bool:
    try:
        return not public.rpartition(".")[2].startswith("_") and importlib.util.find_spec("millstream." + public) is not None
    except ModuleNotFoundError:
        return False  # What is above it is no package.


def _message(name: str) -> Any:
    """A message that TensorFlow has at the top: `GraphDef`, `ConfigProto`."""
    from millstream import protos

    return getattr(protos, name, None)


def _spaces() -> List[str]:
    return sorted({".".join(s.split(".")[: i + 1]) for s in _table() for i in range(len(s.split(".")))} - {""})


class _Space(types.ModuleType):
    """A module whose names are found when they are asked for."""

    def __getattr__(self, name: str) -> Any:
        return find(self.__name__, self.__name__.partition(".")[2], name)

    def __dir__(self) -> List[str]:
        return sorted(set(self.__dict__) | set(names(self.__name__.partition(".")[2])))


def _space(public: str) -> Any:
    # Also one that is loaded already: another thread may be in the middle of it, and this waits for that.
    full = "millstream." + public
    try:
        return importlib.import_module(full)
    except ModuleNotFoundError as e:
        if e.name != full:
            raise
    return sys.modules.setdefault(full, _Space(full, "TensorFlow's `tf.%s`." % public))


class _Finder:
    """Finds `import millstream.math`: modules of the package that no file holds."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        """The module's description, if it is such a module."""
        head, _, public = name.partition(".")
        if head != "millstream" or public == "raw_ops" or public not in _spaces():
            return None
        return importlib.machinery.ModuleSpec(name, _Loader(), is_package=True)  # type: ignore[arg-type]


class _Loader:
    @staticmethod
    def create_module(spec: Any) -> Any:
        """An empty one."""
        return _Space(spec.name, "TensorFlow's `tf.%s`." % spec.name.partition(".")[2])

    @staticmethod
    def exec_module(module: Any) -> None:
        """Nothing to run."""


def install(package: str) -> None:
    """Makes `import millstream.math` work."""
    if not any(isinstance(f, type) and f is _Finder for f in sys.meta_path):
        sys.meta_path.append(_Finder)
