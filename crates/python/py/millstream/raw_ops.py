"""Every op of the engine as a function of keyword arguments: `tf.raw_ops.AddV2(x=1, y=2)`."""

import typing as _typing

from millstream import _engine
from millstream.framework.op_functions import raw as _raw

# Any other name here would hide the op with that name (such as `Any`).


if _typing.TYPE_CHECKING:
    from millstream._generated.raw_ops import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        if name.startswith("__"):
            raise AttributeError("module 'millstream.raw_ops' has no attribute %r" % name)
        try:
            return _raw(name)
        except AttributeError:
            raise AttributeError("module 'millstream.raw_ops' has no attribute %r" % name) from None


def __dir__() -> list:
    return _engine.op_names()
