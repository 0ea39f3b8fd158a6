"""Every op of the engine as a function of keyword arguments: `tf.raw_ops.AddV2(x=1, y=2)`."""

from millstream import _engine
from millstream._ops import raw as _raw

# Whatever else stood here would hide the op of its name (`Any`).


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError("module 'millstream.raw_ops' has no attribute %r" % name)
    try:
        return _raw(name)
    except AttributeError:
        raise AttributeError("module 'millstream.raw_ops' has no attribute %r" % name) from None


def __dir__() -> list:
    return _engine.op_names()
