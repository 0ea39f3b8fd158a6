"""What is being traced: the graph, and the dtypes of Python numbers in it."""

from __future__ import annotations

import contextlib
import inspect
import re
import threading
from typing import Any, Callable, Iterator, List, Sequence

import numpy as np

from millstream import _engine
from millstream._engine import Tensor
from millstream.framework import IndexedSlices, SparseTensor, convert_to_tensor, dtypes
from millstream.framework.op_functions import op
from millstream.func import nests


class Kinds:
    """The dtypes of Python's numbers in a trace."""

    def __init__(self, leaves: Sequence[Any] = ()) -> None:
        names = {dtype.base_dtype.name for dtype in leaves}
        wide = bool(names & {"float64", "complex128"})
        self.float = dtypes.float64 if wide else dtypes.float32
        self.complex = dtypes.complex128 if wide else dtypes.complex64
        self.int = dtypes.int64 if "int64" in names else dtypes.int32

    def of(self, value: Any) -> Any:
        """Returns the dtype of a Python number, or None for other values."""
        if isinstance(value, (bool, np.generic, np.ndarray)):
            return None
        if isinstance(value, float):
            return self.float
        if isinstance(value, int):
            return self.int
        return self.complex if isinstance(value, complex) else None


class _Active(threading.local):
    """The traces of a thread, innermost last."""

    def __init__(self) -> None:
        self.kinds: List[Kinds] = []


_active = _Active()


def kinds() -> Kinds:
    """Returns the dtypes of Python's numbers in the current trace; outside of any, those of 32 bits."""
    return _active.kinds[-1] if _active.kinds else Kinds()


def is_active() -> bool:
    """Whether this thread is tracing a function."""
    return bool(_active.kinds)


@contextlib.contextmanager
def active(new: Kinds) -> Iterator[None]:
    """Marks that this thread is tracing a function."""
    _active.kinds.append(new)
    _engine.tracing(1)
    try:
        yield
    finally:
        _active.kinds.pop()
        _engine.tracing(-1)


def call(f: Callable[..., Any], args: Sequence[Any], refusal: Callable[[str], str]) -> Any:
    """Calls a function that the user gave to a loop or a branch.

    If it does not take this number of arguments, the error is `refusal(parameters)`.
    """
    try:
        return f(*args)
    except TypeError as error:
        try:
            # Not that of the wrapped function: what is called is the wrapper.
            signature = inspect.signature(f, follow_wrapped=False)
        except (TypeError, ValueError):
            raise error from None
        try:
            signature.bind(*args)
        except TypeError:
            raise TypeError(refusal("(%s)" % ", ".join(str(p) for p in signature.parameters.values()))) from None
        raise


def tensor(value: Any, place: str, what: str = "return") -> Tensor:
    """Converts a value in a trace to a tensor. `place` and `what` name it in errors."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, IndexedSlices):
        return convert_to_tensor(value)
    handled = isinstance(value, (bool, int, float, complex, np.generic, np.ndarray)) or hasattr(value, "__dlpack__")
    if not handled and not hasattr(value, "_as_graph_element"):
        kind, cure = "%.60r (of type %s)" % (value, type(value).__name__), ""
        if isinstance(value, SparseTensor):
            kind, cure = "a SparseTensor", ". Take its `indices`, `values` and `dense_shape`"
        elif type(value).__name__ == "TensorArray":
            kind, cure = "a TensorArray", ". Collect values by `func.scan` or `func.map`, or carry it through a `tf.while_loop`"
        raise TypeError("%s is %s, which is not a tensor: %s tensors, arrays, numbers, or structures of them%s" % (place, kind, what, cure))
    if hasattr(value, "__dlpack__") and not isinstance(value, (np.ndarray, np.generic)):
        value = np.asarray(value)
    return convert_to_tensor(value, kinds().of(value))


def tensors(structure: Any, root: str, what: str = "return") -> List[Tensor]:
    """Converts the leaves of a structure."""
    return [tensor(leaf, path, what) for leaf, path in zip(nests.flatten(structure), nests.paths(structure, root))]


def shown(value: Tensor) -> str:
    """Returns a tensor's dtype and shape: `float32[?,3]`."""
    dims = value.shape.as_list() if value.shape.ndims is not None else None
    return "%s%s" % (value.dtype.base_dtype.name, "[..]" if dims is None else "[%s]" % ",".join("?" if d is None else str(d) for d in dims) if dims else "[]")


def called(f: Any) -> str:
    """Returns a function's name and place in words."""
    f = getattr(f, "__wrapped__", f)
    code = getattr(f, "__code__", None)
    name = getattr(f, "__name__", None) or type(f).__name__
    return "`%s`" % name if code is None else "`%s` (%s:%d)" % (name, code.co_filename, code.co_firstlineno)


def fresh(values: Sequence[Tensor]) -> List[Tensor]:
    """Returns copies of tensors, by which a derivative tells uses of an argument from uses of the same tensor
    by closures."""
    return [op("Identity")(value) for value in values]


# An assertion is an operation in a branch that is taken where the condition is false; the Merge runs it.
_GUARD = re.compile(r"(^|/)AssertGuard(_\d+)?/Merge$")


def effects(graph: Any) -> List[Any]:
    """Returns assertions, and operations without outputs, that lie outside of loops and branches."""
    found = []
    for one in graph._operations():
        if one.type == "Merge" and _GUARD.search(one.name) or one.type not in ("NoOp", "ControlTrigger", "Merge") and not one.outputs:
            if graph._may_fetch(one):
                found.append(one)
    return found

