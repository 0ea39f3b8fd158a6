"""`as_tensorflow`: the import hook under which `import tensorflow` and its modules are ours."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import types
from typing import Any, List

from millstream.framework import logging
from millstream.framework.version import VERSION
from millstream.programs import modules

_HEAD = "tensorflow"


class _Module(types.ModuleType):
    """A module of TensorFlow whose names are looked up when they are asked for."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "TensorFlow's module `%s`, of Millstream's names." % name)
        # A module may hold others: what is imported from it is asked of the finder, which gives reasons.
        self.__path__: List[str] = []

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return modules.names(_path(self.__name__))
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        below = _path(self.__name__ + "." + name)
        if modules.is_module(below):
            return importlib.import_module(_HEAD + "." + below)
        try:
            return modules.attribute(_path(self.__name__), name)
        except AttributeError as error:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}: {error}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        holder = modules.SETTINGS.get((_path(self.__dict__.get("__name__", "")), name))
        if holder is None:
            super().__setattr__(name, value)
        else:
            setattr(importlib.import_module(holder), name, value)

    def __dir__(self) -> List[str]:
        return modules.names(_path(self.__name__))


class _Whole(_Module):
    """`tensorflow` itself: the package with TensorFlow's version. What is set on it is set on the package."""

    __version__ = VERSION

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__") or isinstance(value, _Module):
            super().__setattr__(name, value)
        else:
            setattr(importlib.import_module("millstream"), name, value)

    def __delattr__(self, name: str) -> None:
        # `mock.patch` deletes what it set, and puts the original back if the name is then gone.
        if name in self.__dict__:
            super().__delattr__(name)
        else:
            delattr(importlib.import_module("millstream"), name)

    def __dir__(self) -> List[str]:
        return sorted(set(dir(importlib.import_module("millstream"))))


def _path(name: str) -> str:
    """Returns a module's name without `tensorflow.`."""
    return name.partition(".")[2]


class _Finder:
    """The finder of `tensorflow` and what is in it, and of `horovod.tensorflow`."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        """Returns the spec of a module of TensorFlow or Horovod; None for other modules.

        Raises:
          ImportError: The module is not here. The message says why, and what to use.
        """
        if name.partition(".")[0] == "horovod":
            return _horovod(name)
        if name.partition(".")[0] != _HEAD:
            return None
        if not modules.is_module(_path(name)):
            # Without the module's name: `from tensorflow import x` replaces the text of an error with it.
            raise ModuleNotFoundError("No module or name %r: %s" % (name, modules.missing(_path(name))[1]))
        return importlib.machinery.ModuleSpec(name, _Loader(), is_package=True)  # type: ignore[arg-type]


class _Loader:
    @staticmethod
    def create_module(spec: Any) -> types.ModuleType:
        """Returns the module."""
        return _Whole(spec.name) if spec.name in (_HEAD, _HEAD + ".compat.v1") else _Module(spec.name)

    @staticmethod
    def exec_module(module: types.ModuleType) -> None:
        """Replaces a public module by that of the package, so that both names are one module."""
        public = modules.public_module(_path(module.__name__).replace("compat.v1.", "", 1))
        if public is not None and not isinstance(module, _Whole):
            sys.modules[module.__name__] = public
            # As `_Module` has it, so that `tensorflow.contrib.rnn.python.ops` is asked of the finder.
            vars(public).setdefault("__path__", [])


def _horovod(name: str) -> Any:
    """Returns the spec of a module of Horovod; None if another Horovod has been imported."""
    whole = sys.modules.get("horovod")
    if whole is not None and not isinstance(getattr(whole, "__loader__", None), _HorovodLoader):
        return None
    if name not in ("horovod", "horovod.tensorflow"):
        raise ModuleNotFoundError("No module or name %r: of Horovod, Millstream has `horovod.tensorflow`, which is `millstream.horovod`" % name)
    return importlib.machinery.ModuleSpec(name, _HorovodLoader(), is_package=True)  # type: ignore[arg-type]


class _HorovodLoader:
    @staticmethod
    def create_module(spec: Any) -> types.ModuleType:
        """Returns an empty module."""
        return types.ModuleType(spec.name, "Horovod's package, of Millstream's names.")

    @staticmethod
    def exec_module(module: types.ModuleType) -> None:
        """Replaces `horovod.tensorflow` by the module of the package."""
        if module.__name__ == "horovod.tensorflow":
            ours = importlib.import_module("millstream.horovod")
            vars(ours).setdefault("__path__", [])
            sys.modules[module.__name__] = ours


def as_tensorflow() -> None:
    """Makes `import tensorflow` import Millstream, in this process and from here on.

    `tensorflow.compat.v1`, `tensorflow.contrib` and TensorFlow's internal modules, such as
    `tensorflow.python.ops.math_ops`, are found as well. `tf.__version__` is TensorFlow's, 1.15.5. What is
    missing is an `ImportError` or an `AttributeError` that says why, and what to use instead.
    `python -m millstream program.py` does the same for a program that cannot be changed. `horovod.tensorflow`
    is `millstream.horovod`, unless Horovod has been imported before.

    Raises:
      RuntimeError: Another TensorFlow has been imported before.

    Example:
      >>> tf.as_tensorflow()
      >>> import tensorflow
      >>> from tensorflow.python.ops import math_ops
      >>> tensorflow.__version__, tensorflow.add is tf.add, math_ops.reduce_sum is tf.reduce_sum
      ('1.15.5', True, True)
      >>> tensorflow.scalar_summary
      Traceback (most recent call last):
        ...
      AttributeError: ... `tf.scalar_summary` left TensorFlow before 1.15: use `tf.summary.scalar`
    """
    loaded = sys.modules.get(_HEAD)
    if loaded is not None and not isinstance(loaded, _Whole):
        raise RuntimeError("`tensorflow` has been imported already: call `millstream.as_tensorflow()` before")
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)  # type: ignore[arg-type]
    logging._adopt(_HEAD)
