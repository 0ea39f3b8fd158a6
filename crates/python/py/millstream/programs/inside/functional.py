"""`If`, `While`, `For`, `Gradient` and `partitioned_call` of `Defun`s (`python.ops.functional_ops`).

TensorFlow adds one node that calls the functions, and replaces it by `Switch`, `Merge` and their like, and by
the bodies, when it runs the graph. Here the graph holds those from the start, within a name scope of the
node's name; an `IdentityN` of that name has the results, as the node that TensorFlow puts in its place. So
gradients of all orders exist, and operations with effects run in the branch that is taken, whether or not
their results are needed.
"""

from __future__ import annotations

import functools
from typing import Any, Dict, List, Optional

from millstream.framework import Graph, constant, convert_to_tensor, dtypes, errors, get_default_graph, name_scope, placeholder, shapes
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, gradients, math_ops


def _inputs(values: Any, word: str, node: str) -> List[Any]:
    """Converts the inputs of a node.

    Raises:
      TypeError: They are not a list.
    """
    if not isinstance(values, (list, tuple)):
        raise TypeError("Expected list for '%s' argument to '%s' Op, not %s." % (word, node, values))
    return [convert_to_tensor(value, name="input_%d" % i) for i, value in enumerate(values)]


def _call(function: Any, values: List[Any]) -> List[Any]:
    """Calls a function; returns its results as a list.

    Raises:
      InvalidArgumentError: The function takes other arguments.
    """
    types = function.declared_input_types
    if types and len(types) != len(values):
        raise errors.InvalidArgumentError(None, None, "Expects %d arguments, but %d is provided" % (len(types), len(values)))
    for i, (wanted, value) in enumerate(zip(types, values)):
        if wanted.base_dtype != value.dtype.base_dtype:
            names = dtypes_of(wanted), dtypes_of(value.dtype)
            raise errors.InvalidArgumentError(None, None, "Expects arg[%d] to be %s but %s is provided" % (i, *names))
    made = function(*values)
    if isinstance(made, tuple):
        return list(made)
    return [made] if hasattr(made, "dtype") else [made] if made is not None else []


def dtypes_of(dtype: Any) -> str:
    """Returns the name that TensorFlow's runtime has for a dtype."""
    return {"float32": "float", "float64": "double"}.get(dtype.base_dtype.name, dtype.base_dtype.name)


def _tensors(results: List[Any]) -> List[Any]:
    return [r for r in results if hasattr(r, "dtype")]


def _named(results: List[Any], scope: str) -> Any:
    """Returns the results as those of one node; the node itself if there are none."""
    values = _tensors(results)
    if not values:
        return control_flow.group(*results, name=scope)
    return list(op("IdentityN")(values, name=scope))


def _truth(value: Any) -> Any:
    """Returns whether a value counts as true: a number other than 0, a text or array that is not empty."""
    if value.dtype.base_dtype == dtypes.bool and value.shape.ndims == 0:
        return value
    if value.shape.ndims == 0:
        zero = constant("" if value.dtype.base_dtype == dtypes.string else 0, value.dtype.base_dtype)
        return op("NotEqual")(value, zero)
    if value.shape.ndims is not None:
        return op("Greater")(array_ops.size(value), 0)
    # Of a scalar of unknown rank the element counts, of an array its size.
    is_scalar = op("Equal")(array_ops.rank(value), 0)
    return control_flow.cond(is_scalar, lambda: _truth(array_ops.reshape(value, [])), lambda: op("Greater")(array_ops.size(value), 0))


def If(cond: Any, inputs: Any, then_branch: Any, else_branch: Any, name: Optional[str] = None) -> Any:
    """Returns the results of one of two functions of the inputs, as a list; an operation if there are none.

    Args:
      cond: A scalar, or an array, which is true if it is not empty.
      inputs: A list of tensors.
      then_branch: The `Defun` that is called if `cond` is true.
      else_branch: The `Defun` that is called if it is not.
      name: The name of the node that has the results.
    """
    with name_scope(name, "If", []) as scope:
        cond = convert_to_tensor(cond, name="cond")
        values = _inputs(inputs, "input", "If")
        number: List[int] = []

        def branch(function: Any) -> Any:
            made = _call(function, values)
            number.append(len(_tensors(made)))
            if number[0]:
                return _tensors(made)[: number[0]]
            # The operation becomes a tensor in a `cond`.
            return control_flow.group(*made)

        results = control_flow.cond(_truth(cond), functools.partial(branch, then_branch), functools.partial(branch, else_branch), strict=True)
        made = list(results) if isinstance(results, (list, tuple)) else [results]
        return _named(made, scope) if number[0] else control_flow.group(*made, name=scope)


def _invariants(values: List[Any], body: Any) -> Optional[List[Any]]:
    """Returns what the shapes of a loop's variables have in common in all iterations; None if unknown.

    TensorFlow's node has no shapes that it checks.
    """
    now = [value.shape for value in values]
    try:
        while True:
            with Graph().as_default():
                made = _tensors(_call(body, [placeholder(v.dtype.base_dtype, shape) for v, shape in zip(values, now)]))
                after = [_common(a, b.shape) for a, b in zip(now, made)]
            if [str(a) for a in after] == [str(a) for a in now]:
                return now
            now = after
    except Exception:
        # The body takes tensors of the graph around. If something is wrong with it, the loop itself raises.
        return None


def _common(a: Any, b: Any) -> Any:
    if a.ndims is None or a.ndims != b.ndims:
        return shapes.TensorShape(None)
    return shapes.TensorShape([m if m == n else None for m, n in zip(a.as_list(), b.as_list())])


def While(input_: Any, cond: Any, body: Any, name: Optional[str] = None, hostmem: Any = None) -> Any:
    """Returns the inputs after `body` has replaced them by its results while `cond` holds, as a list.

    Args:
      input_: A list of tensors.
      cond: A `Defun` of the inputs that returns a scalar, or an array, which is true if it is not empty.
      body: A `Defun` of the inputs that returns their next values.
      name: The name of the node that has the results.
      hostmem: Ignored: it is for GPUs.

    Raises:
      ValueError: The functions take arguments of different dtypes.
    """
    if cond.declared_input_types != body.declared_input_types:
        types = cond.declared_input_types, body.declared_input_types
        raise ValueError("While op 'cond' and 'body' signatures do not match. %r vs %r" % types)
    with name_scope(name, "While", []) as scope:
        values = _inputs(input_, "input", "While")
        return _named(_loop(values, lambda *now: _truth(_call(cond, list(now))[0]), functools.partial(_call, body)), scope)


def _loop(values: List[Any], cond: Any, body: Any) -> Any:
    step = lambda *now: body(list(now))  # noqa: E731
    invariants = _invariants(values, _Plain(body))
    return control_flow.while_loop(cond, step, values, shape_invariants=invariants, return_same_structure=True)


class _Plain:
    """A function of a list of tensors in the place of a `Defun`."""

    declared_input_types: Any = ()

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, *values: Any) -> Any:
        return tuple(self._function(list(values)))


def For(
    start: Any, limit: Any, delta: Any, inputs: Any, body: Any, name: Optional[str] = None, hostmem: Any = None, rewrite_with_while: Optional[bool] = None
) -> Any:
    """Returns the inputs after `body` has replaced them by its results once for each number of a range.

    Args:
      start: The first number, an int32.
      limit: The number to end before.
      delta: The difference of two numbers; it is an error of the run if it does not lead to `limit`.
      inputs: A list of tensors.
      body: A `Defun` of the number and the inputs that returns their next values.
      name: The name of the node that has the results.
      hostmem: Ignored: it is for GPUs.
      rewrite_with_while: If true, the node's name is that of a `While`, and a `delta` that does not lead to
        `limit` is no error.
    """
    with name_scope(name, "While" if rewrite_with_while else "For", []) as scope:
        given: Dict[str, Any] = {"start": start, "limit": limit, "delta": delta}
        first, end, step = [convert_to_tensor(value, dtypes.int32, name=word) for word, value in given.items()]
        values = _inputs(inputs, "input", "For")
        if rewrite_with_while:
            number = math_ops.cast(op("Ceil")(math_ops.truediv(op("Abs")(end - first), op("Abs")(step))), dtypes.int32)
        else:
            leads = op("LogicalOr")(op("Equal")(first, end), op("Greater")(op("Sign")(step) * op("Sign")(end - first), 0))
            words = control_flow.assert_(leads, ["Invalid start/limit/delta: ", first, end, step])
            with get_default_graph().control_dependencies([words]):
                size = op("Maximum")(op("Abs")(step), 1)
                number = math_ops.cast(op("Ceil")(math_ops.truediv(op("Abs")(end - first), size)), dtypes.int32)
        count = convert_to_tensor(0)
        results = _loop(
            [count, *values],
            lambda n, *now: op("Less")(n, number),
            lambda now: [now[0] + 1, *_call(body, [first + now[0] * step, *now[1:]])],
        )
        return _named(list(results)[1:], scope)


def Gradient(inputs: Any, f: Any, name: Optional[str] = None) -> Any:
    """Returns the gradients of a function's results with respect to its arguments.

    Args:
      inputs: A list: the arguments of the function, then the gradients of its results.
      f: A `Defun`.
      name: The name of the node that has the results.

    Raises:
      ValueError: There are fewer inputs than arguments and results.
    """
    with name_scope(name, "SymbolicGradient", []) as scope:
        values = _inputs(inputs, "input", "SymbolicGradient")
        n = len(f.declared_input_types)
        if len(values) < n:
            raise ValueError("len(inputs) < len(outputs) for 'SymbolicGradient' (op: 'SymbolicGradient')")
        arguments = [array_ops.identity(value) for value in values[:n]]
        results = _tensors(_call(f, arguments))
        found = gradients.gradients(results, arguments, values[n:], unconnected_gradients=gradients.UnconnectedGradients.ZERO)
        return _named(found, scope)


def partitioned_call(args: Any, f: Any, tout: Any = None, executing_eagerly: Any = None, config: Any = None, executor_type: Any = None) -> Any:
    """Returns the results of a function, as a list; an operation if there are none.

    Args:
      args: A list of tensors.
      f: A `Defun`.
      tout: The dtypes of the results, or None.
      executing_eagerly: Ignored: a graph is built.
      config: Ignored: the session has one.
      executor_type: Ignored.
    """
    graph = get_default_graph()
    if not isinstance(args, (list, tuple)):
        raise TypeError("Expected list for 'args' argument to 'PartitionedCall' Op, not %s." % (args,))
    values = [convert_to_tensor(value) for value in args]
    before = len(graph)
    results = _call(f, values)
    if not _tensors(results):
        return control_flow.group(*results, name="PartitionedFunctionCall")
    is_stateful = any(one._is_stateful and one.type != "Placeholder" for one in graph._operations(before))
    return list(op("IdentityN")(_tensors(results), name="StatefulPartitionedCall" if is_stateful else "PartitionedCall"))


NAMES: Dict[str, Dict[str, Any]] = {
    "python.ops.functional_ops": {"For": For, "Gradient": Gradient, "If": If, "While": While, "partitioned_call": partitioned_call},
}
