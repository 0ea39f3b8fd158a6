"""Command-line flags (`tf.flags`, `tf.app.flags`): those of the package `absl-py`, as TensorFlow has them.

    FLAGS = tf.flags.FLAGS
    tf.flags.DEFINE_integer("steps", 100, "How long to train.")

As in TensorFlow 1, `FLAGS` reads the command line when a flag is first asked for, so programs need not call
`tf.app.run`; and the functions `DEFINE_string` and its like know the former names of their arguments.
"""

import functools
import sys
from typing import Any, Callable

try:
    from absl import flags as _flags
except ImportError as e:
    raise ImportError("`tf.flags` and `tf.app` are those of the package absl-py: pip install absl-py") from e

# Flags belong to the module that calls the functions below, not to this one.
_flags.disclaim_key_flags()

# The former names of arguments of the functions that define flags.
_RENAMED = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _renaming(define: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(define)
    def function(*args: Any, **kwargs: Any) -> Any:
        return define(*args, **{_RENAMED.get(name, name): value for name, value in kwargs.items()})

    return function


DEFINE_string = _renaming(_flags.DEFINE_string)
DEFINE_boolean = _renaming(_flags.DEFINE_boolean)
DEFINE_bool = DEFINE_boolean
DEFINE_float = _renaming(_flags.DEFINE_float)
DEFINE_integer = _renaming(_flags.DEFINE_integer)


class _FlagValues:
    """The values of all flags. All but the reading of a flag is that of absl's `FLAGS`."""

    def __getattribute__(self, name: str) -> Any:
        values = _flags.FLAGS
        if not values.is_parsed() and not name.startswith("__") and not hasattr(type(values), name):
            values(sys.argv)
        return getattr(values, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_flags.FLAGS, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_flags.FLAGS, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _flags.FLAGS(*args, **kwargs)

    def __getitem__(self, name: str) -> Any:
        return _flags.FLAGS[name]

    def __setitem__(self, name: str, flag: Any) -> None:
        _flags.FLAGS[name] = flag

    def __contains__(self, name: str) -> bool:
        return name in _flags.FLAGS

    def __len__(self) -> int:
        return len(_flags.FLAGS)

    def __iter__(self) -> Any:
        return iter(_flags.FLAGS)

    def __dir__(self) -> Any:
        return dir(_flags.FLAGS)

    def __str__(self) -> str:
        return str(_flags.FLAGS)


FLAGS = _FlagValues()


def __getattr__(name: str) -> Any:
    return getattr(_flags, name)


def __dir__() -> list:
    return dir(_flags)
