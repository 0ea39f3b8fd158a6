"""`py_func`: Python functions that a graph calls while it runs."""

from __future__ import annotations

from typing import Any, Callable, List

from millstream import _engine, dtypes
from millstream._ops import op

__all__ = ["numpy_function", "py_func"]

_EXTRA = "host_functions"


class _Holder:
    """A function that the graph keeps, and that the engine refers to weakly."""

    __slots__ = ("call", "__weakref__")

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call = call


def py_func(func: Callable[..., Any], inp: List[Any], Tout: Any, stateful: bool = True, name: Any = None) -> Any:
    """Calls `func` whenever the operation runs, with the values of `inp`, and gives what it returns.

    The function runs in this process, on a thread of the run, and holds the interpreter's lock meanwhile. It may do
    what Python may: run a session (such a run uses no thread but the function's own), wait, write files. The graph
    keeps it, and lets go of it when the graph goes. A `GraphDef` has the operation, but not the function: where the
    graph that it was made in is gone, running it is an `InvalidArgumentError`.

    No gradient flows through; `Graph.gradient_override_map({"PyFunc": name})` gives it one.

    Args:
      func: A function of as many arguments as `inp` has. It is given numpy arrays (its own to change), for scalars
        numpy's scalars, for a scalar of text `bytes`; and returns arrays, numbers, text or lists of them: one where
        `Tout` is one dtype; for several a list or tuple of them; None for none. What it returns must have the dtypes
        `Tout` exactly (a Python float is a float64, an int an int64). It may keep an array that it returns, and change
        it later: an array is copied unless nothing refers to it any more.
      inp: A list of tensors, or of what becomes one.
      Tout: A dtype, or a list of dtypes, empty for a function that returns nothing.
      stateful: False says that equal inputs give equal results, and that nothing else happens: the op is
        `PyFuncStateless` then.
      name: A name for the operation.

    Returns:
      A tensor, a list of them if `Tout` is a list, or the operation if that is empty. Their shapes are unknown until
      they are run: `set_shape` says what you know.

    Raises:
      ValueError: `func` cannot be called.
      TypeError: `inp` is no list.
      tf.errors.InvalidArgumentError: When run: the function raised a `ValueError` or `TypeError`, or returned what
        `Tout` does not say.
      tf.errors.OutOfRangeError, ResourceExhaustedError, UnimplementedError, UnknownError: When run: it raised
        `StopIteration`, a `MemoryError`, a `NotImplementedError`, something else. The exception itself is the
        `__cause__`. `KeyboardInterrupt` and `SystemExit` come out as they are.

    Example:
      >>> x = tf.placeholder(tf.float32, [None])
      >>> y = tf.py_func(np.median, [x], tf.float32)
      >>> print(tf.Session().run(y, {x: [1.0, 9.0, 2.0]}))
      2.0
    """
    if not callable(func):
        raise ValueError("Expected func to be callable, got func of type %s" % type(func))
    several = isinstance(Tout, (list, tuple))
    if not several and not isinstance(Tout, (str, dtypes.DType)):
        try:
            Tout = dtypes.as_dtype(Tout)
        except TypeError:
            raise TypeError("Expected DataType for argument 'Tout' not %r." % (Tout,)) from None
    holder = _Holder(func)
    kept = _engine.HostFunction(holder)
    made = op("PyFunc" if stateful else "PyFuncStateless")(inp, kept.token, list(Tout) if several else [Tout], name=name)
    graph = (made[0] if isinstance(made, list) else made).graph
    graph._extras.setdefault(_EXTRA, []).append((holder, kept))
    return made if several else made[0]


def numpy_function(func: Callable[..., Any], inp: List[Any], Tout: Any, name: Any = None) -> Any:
    """`py_func` of a function that is stateful: TensorFlow's later name for it.

    Arguments, results and what is raised are those of `py_func`.

    Example:
      >>> x = tf.constant([3.0, 1.0, 2.0])
      >>> print(tf.Session().run(tf.numpy_function(lambda a: np.sort(a), [x], tf.float32)))
      [1. 2. 3.]
    """
    return py_func(func, inp, Tout, stateful=True, name=name)
