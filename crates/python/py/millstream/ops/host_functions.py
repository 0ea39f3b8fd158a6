"""`py_func`, `py_function`: Python functions that a graph calls while it runs."""

from __future__ import annotations

from typing import Any, Callable, List, Optional

import numpy as np

from millstream import _engine
from millstream._engine import Tensor
from millstream.framework import Graph, constant, convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.framework.session import Session
from millstream.ops import array_ops
from millstream.ops.custom_gradients import with_gradient_of_results
from millstream.ops.gradients import gradients

__all__ = ["numpy_function", "py_func", "py_function"]

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


# `py_function` ------------------------------------------------------------------------------------------
#
# Each call builds a graph of its own, in which the arguments are constants and tensors have values.

_VALUES = "values"


def py_function(func: Callable[..., Any], inp: List[Any], Tout: Any, name: Any = None) -> Any:
    """Calls a Python function of tensors whenever the operation runs, and returns its results.

    Within the function, tensors have values: `x.numpy()`, `if x > 0:` and `for row in x:` work, as do all
    operations. They belong to a graph that is made for the call, so variables of other graphs are out of
    reach. Gradients flow through the operations of the function; it is called again to compute them.

    Args:
      func: A function with an argument for each element of `inp`. It returns tensors, or values that convert
        to them: one if `Tout` is a dtype, a list for several, None for none.
      inp: A list of tensors, or of values that convert to tensors.
      Tout: A dtype, or a list of dtypes, empty for a function that returns nothing.
      name: A name for the operation.

    Returns:
      A tensor, a list of tensors if `Tout` is a list, or the operation if that is empty.

    Raises:
      ValueError: `func` is not callable.
      tf.errors.InvalidArgumentError: When run: a result does not have its dtype of `Tout`; see `py_func` for
        the errors of exceptions that the function raises.

    Example:
      >>> def halved_until_small(x):
      ...     while tf.reduce_max(x) > 1.0:
      ...         x = x / 2.0
      ...     return x
      >>> x = tf.constant([3.0, 8.0])
      >>> y = tf.py_function(halved_until_small, [x], tf.float32)
      >>> print(*tf.Session().run([y, tf.gradients(y, x)[0]]))
      [0.375 1.   ] [0.125 0.125]
    """
    if not callable(func):
        raise ValueError("Expected func to be callable, got func of type %s" % type(func))
    kinds = [dtypes.as_dtype(t) for t in (Tout if isinstance(Tout, (list, tuple)) else [Tout])]
    with name_scope(name, "EagerPyFunc", inp) as scope:
        inputs = [convert_to_tensor(x) for x in inp]

        def call(*values: Any) -> List[Any]:
            with _Values() as values_of:
                return values_of(_results(func, [constant(v, t.dtype) for v, t in zip(values, inputs)], kinds))

        made = py_func(call, inputs, kinds)
        if not kinds:
            return made
        made = with_gradient_of_results(made, inputs, _gradient_of(func, inputs, kinds), scope)
    return made if isinstance(Tout, (list, tuple)) else made[0]


class _Values:
    """A `with` block with a graph in which tensors have values. It gives a function that computes them."""

    def __enter__(self) -> Callable[[Any], List[Any]]:
        self._graph = Graph()
        self._session = Session(graph=self._graph)
        self._graph._extras[_VALUES] = self._session.run
        self._block = self._graph.as_default()
        self._block.__enter__()
        return lambda tensors: self._session.run(tensors)

    def __exit__(self, *exception: Any) -> None:
        self._block.__exit__(*exception)
        self._session.close()


def _results(func: Callable[..., Any], args: List[Any], kinds: List[Any]) -> List[Any]:
    """Calls a function and converts its results to tensors of these dtypes."""
    made = func(*args)
    listed = [] if made is None else list(made)[: len(kinds)] if isinstance(made, (list, tuple)) else [made]
    if len(listed) != len(kinds):
        raise ValueError("the function returns %d values, but expects to see %d values." % (len(listed), len(kinds)))
    return [convert_to_tensor(v, kind) for v, kind in zip(listed, kinds)]


def _gradient_of(func: Callable[..., Any], inputs: List[Any], kinds: List[Any]) -> Callable[..., List[Any]]:
    """Returns the gradient of the results of a call, which calls `func` again and differentiates it."""
    at = [i for i, x in enumerate(inputs) if x.dtype.is_floating or x.dtype.is_complex]

    def gradient(node: Any, *grads: Any) -> List[Any]:
        values, n = list(node.inputs)[len(kinds) :], len(inputs)

        def call(*given: Any) -> List[Any]:
            with _Values() as values_of:
                args = [constant(v, t.dtype) for v, t in zip(given, inputs)]
                made = _results(func, args, kinds)
                back = [constant(v, k) for v, k in zip(given[n:], kinds)]
                found = gradients(made, [args[i] for i in at], back)
                return values_of([array_ops.zeros_like(args[i]) if g is None else convert_to_tensor(g) for i, g in zip(at, found)])

        result: List[Any] = [None] * (len(kinds) + n)
        if at:
            for i, g in zip(at, py_func(call, [*values, *grads], [inputs[i].dtype for i in at])):
                g.set_shape(inputs[i].shape)
                result[len(kinds) + i] = g
        return result

    return gradient


def _run_of(tensor: Tensor) -> Optional[Callable[..., Any]]:
    return tensor.graph._extras.get(_VALUES)


def _numpy(self: Tensor) -> Callable[[], Any]:
    """A function that returns the tensor's value, within a function of `tf.py_function`."""
    run = _run_of(self)
    if run is None:
        raise AttributeError("'Tensor' object has no attribute 'numpy'")
    return lambda: run(self)


# What helps where a tensor is used as a value; the engine's errors for the other methods say it themselves.
_VALUE_HELP = {
    "__array__": "a tensor has a value only in a run: `tf.*` has functions of tensors for NumPy's, and `tf.Session().run(x)` returns an array",
    "__len__": "`tf.shape(x)[0]` is the size as a tensor, and `x.shape[0]` what is known of it",
}


def _valued(method: str, of_value: Callable[[Any, Tensor], Any]) -> None:
    """Lets a method of tensors use the value, where tensors have values."""
    otherwise = getattr(Tensor, method)

    def call(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        run = _run_of(self)
        if run is not None:
            return of_value(run(self), self)
        try:
            return otherwise(self, *args, **kwargs)
        except (NotImplementedError, TypeError) as error:
            if method in _VALUE_HELP and "\n  help: " not in str(error):
                error.args = ("%s\n  help: %s" % (error, _VALUE_HELP[method]),)
            raise

    call.__name__ = method
    setattr(Tensor, method, call)


setattr(Tensor, "numpy", property(_numpy))
_valued("__bool__", lambda value, tensor: bool(value))
_valued("__array__", lambda value, tensor: np.asarray(value))
_valued("__len__", lambda value, tensor: len(value))
_valued("__iter__", lambda value, tensor: iter(array_ops.unstack(tensor, len(value))))
