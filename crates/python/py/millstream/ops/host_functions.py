"""`py_func`: Python functions that a graph calls while it runs."""

from __future__ import annotations

from typing import Any, Callable, List

from millstream import _engine
from millstream.framework import dtypes
from millstream.framework.op_functions import op

__all__ = ["numpy_function", "py_func"]

_EXTRA = "host_functions"


class _Holder:
    """A function that the graph owns, and that the engine refers to weakly."""

    __slots__ = ("call", "__weakref__")

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call = call


def _once(func: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that calls `func` once and then returns that result.

    TensorFlow folds such operations into constants, once for each set of fetches.
    """
    results: List[Any] = []

    def call() -> Any:
        if not results:
            results.append(func())
        return results[0]

    return call


def py_func(func: Callable[..., Any], inp: List[Any], Tout: Any, stateful: bool = True, name: Any = None) -> Any:
    """Calls a Python function with the values of `inp` whenever the operation runs, and returns its results.

    The function runs in this process, on a thread of the run, holding the interpreter's lock. It may do
    anything that Python may: run a session (such a run uses no other thread), wait, write files. The graph
    owns the function, and operations of other graphs cannot call it. A `GraphDef` holds the operation without
    the function: running the operation in a graph that it was imported into is an `InvalidArgumentError`.

    No gradient flows through, unless `Graph.gradient_override_map({"PyFunc": name})` gives one.

    Args:
      func: A function with an argument for each element of `inp`. Arguments are numpy arrays of its own,
        numpy scalars for scalars, and `bytes` for string scalars. It returns arrays, numbers, strings or
        lists of them: one value if `Tout` is a dtype, a list or tuple for several, None for none. Results
        must have exactly the dtypes `Tout` (a Python float is float64, an int is int64). The function may
        keep a returned array and change it later: arrays are copied unless nothing else refers to them.
      inp: A list of tensors, or of values that convert to tensors.
      Tout: A dtype, or a list of dtypes, empty for a function that returns nothing.
      stateful: False promises that equal inputs give equal results, without side effects: the op is
        `PyFuncStateless`. A function without inputs is then a constant: it is called once, and later runs of
        the graph have the result of that call.
      name: A name for the operation.

    Returns:
        A tensor, a list of tensors if `Tout` is a list, or the operation if that is empty (an empty list if
          also `stateful` is false). Static shapes are unknown; `set_shape` sets them.

      Raises:
        ValueError: `func` is not callable.
        TypeError: `inp` is not a list.
        tf.errors.InvalidArgumentError: When run: the function raised a `ValueError` or `TypeError`, or its
          results do not match `Tout`.
        tf.errors.OutOfRangeError, ResourceExhaustedError, UnimplementedError, UnknownError: When run: it
          raised `StopIteration`, a `MemoryError`, a `NotImplementedError`, or another exception, which is the
          `__cause__`. `KeyboardInterrupt` and `SystemExit` are passed on unchanged.

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
    holder = _Holder(func if stateful or inp else _once(func))
    kept = _engine.HostFunction(holder)
    made = op("PyFunc" if stateful else "PyFuncStateless")(inp, kept.token, list(Tout) if several else [Tout], name=name)
    graph = (made[0] if isinstance(made, list) else made).graph
    kept.join(graph)
    graph._extras.setdefault(_EXTRA, []).append((holder, kept))
    if several and not Tout and not stateful:
        return []  # As in TensorFlow: nothing to fetch, so the function is never called.
    return made if several else made[0]


def numpy_function(func: Callable[..., Any], inp: List[Any], Tout: Any, name: Any = None) -> Any:
    """As `py_func`, for a stateful function: TensorFlow's later name for it.

    Arguments, results and errors are those of `py_func`.

    Example:
      >>> x = tf.constant([3.0, 1.0, 2.0])
      >>> print(tf.Session().run(tf.numpy_function(lambda a: np.sort(a), [x], tf.float32)))
      [1. 2. 3.]
    """
    return py_func(func, inp, Tout, stateful=True, name=name)
