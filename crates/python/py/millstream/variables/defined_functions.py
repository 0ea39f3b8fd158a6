"""`Defun`: functions of tensors with a gradient of their own (`tensorflow.python.framework.function`).

TensorFlow adds a node that calls the function. Here a call adds the body's nodes to the graph, within a name
scope: values, gradients and errors are the same, and loops that call the function run as one piece of code.
"""

from __future__ import annotations

import inspect
import itertools
import threading
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

from millstream._engine import Operation, Tensor
from millstream.framework import control_dependencies, convert_to_tensor, dtypes, function_bodies, get_default_graph, name_scope
from millstream.framework.graph import Graph
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow
from millstream.ops.custom_gradients import with_gradient_of_results
from millstream.variables import scopes
from millstream.variables.collections import global_variables

__all__ = ["Defun"]

_numbers = itertools.count()

# What a call accepts besides the arguments. TensorFlow's runtime reads the others.
_KEYWORDS = ("name", "noinline", "compiled", "separate_compiled_gradients", "_implements", "_reference")

# The arguments of `Defun` that it reads itself.
_OPTIONS = (
    "func_name", "grad_func", "python_grad_func", "out_names", "shape_func", "capture_by_value", "capture_resource_var_by_value"
)

# Operations that keep something between runs and change nothing that another run could see.
_HARMLESS = ("Placeholder", "VariableV2", "Variable", "VarHandleOp", "ReadVariableOp", "TemporaryVariable")


class _Builds(threading.local):
    """The bodies that this thread is building: graph, number of nodes and variables before, inputs."""

    def __init__(self) -> None:
        self.open: List[Tuple[Any, int, int, List[Tensor]]] = []


_builds = _Builds()


def _captured() -> Tuple[List[Any], List[Tensor]]:
    """Returns the variables that the body being built reads, and the tensors from outside of it."""
    if not _builds.open:
        return [], []
    graph, before, known, inputs = _builds.open[-1]
    variables = global_variables()
    made = {v.op.name for v in variables[known:]}
    values = {t._id: v for v in variables for t in (v.value(), *v.op.outputs)}
    inside = [o for o in graph._operations(before) if not any(o.name == name or o.name.startswith(name + "/") for name in made)]
    names = {o.name for o in inside} | {t.op.name for t in inputs}
    found: Dict[Any, Tensor] = {}
    for one in inside:
        for tensor in one.inputs:
            if tensor.op.name not in names:
                found.setdefault(tensor._id, tensor)
    return list(dict.fromkeys(values[key] for key in found if key in values)), list(found.values())


def get_extra_vars() -> List[Any]:
    """Returns the variables that the body of the `Defun` being built reads; an empty list outside of one."""
    return _captured()[0]


def get_extra_inputs() -> List[Tensor]:
    """Returns the tensors that the body of the `Defun` being built takes from outside; else an empty list."""
    return _captured()[1]


def get_extra_args() -> List[Tensor]:
    """Returns what the body being built has for the tensors of `get_extra_inputs`: themselves."""
    return _captured()[1]


def _check_keywords(keywords: Iterable[str]) -> None:
    """Raises an error for keywords that no call of a function accepts, with TensorFlow's words."""
    unknown = [key for key in keywords if key not in _KEYWORDS and not key.startswith("experimental_")]
    if unknown:
        raise ValueError("Unknown keyword arguments: %s" % {}.fromkeys(unknown).keys())


class Defun:
    """A decorator that makes a function of tensors, which may have a gradient of its own.

    The body is built when the function is called, and its variables are made by the first call and shared
    by later ones in the same graph. Operations in the body that have effects run whenever a result is needed.

    Args:
      *input_types: The dtypes of the arguments. Without any, arguments of all dtypes are taken.
      **kwargs: `func_name`, the function's name; `grad_func`, a `Defun` of the arguments and the gradients of
        the results that returns the gradients of the arguments; `python_grad_func`, a function of the call
        (with `inputs` and `outputs`) and of the gradients of the results; `out_names`; `shape_func`.
        `noinline`, `compiled`, `separate_compiled_gradients`, `_implements`, `_reference` and names that
        begin with `experimental_` are for TensorFlow's runtime, and change nothing here.

    Raises:
      ValueError: `grad_func` and `python_grad_func` are both given, or the function takes keywords. The first
        call raises it for a keyword argument of another name.

    Example:
      >>> tf.as_tensorflow()
      >>> from tensorflow.python.framework import function
      >>> @function.Defun(tf.float32, python_grad_func=lambda op, dy: dy * tf.sign(op.inputs[0]))
      ... def smooth_abs(x):
      ...     return tf.sqrt(x * x + 0.01)
      >>> x = tf.constant([-2.0, 0.0])
      >>> y = smooth_abs(x)
      >>> print(*tf.Session().run([y, tf.gradients(y, x)[0]]))
      [2.0024984 0.1      ] [-1.  0.]
    """

    def __init__(self, *input_types: Any, **kwargs: Any) -> None:
        self._types = tuple(dtypes.as_dtype(t) for t in input_types)
        self._options = kwargs

    def __call__(self, func: Callable[..., Any]) -> "_DefinedFunction":
        if not callable(func):
            raise ValueError("function %s must be callable" % (func,))
        spec = inspect.getfullargspec(func)
        if spec.varkw or spec.defaults or spec.kwonlyargs:
            raise ValueError(
                "function with argument defaults or keywords arguments are not supported. %s has defaults %s and keywords %s."
                % (func, spec.defaults, spec.varkw)
            )
        args = spec.args[1:] if inspect.ismethod(func) else spec.args
        if self._types and len(self._types) < len(args):
            raise ValueError("The function has fewer arguments than the number of specified input types.")
        if self._types and not spec.varargs and len(args) < len(self._types):
            raise ValueError("The function has more arguments than the number of specified input types.")
        return _DefinedFunction(func, list(args), bool(spec.varargs), self._types, self._options)


class _Call:
    """A call as a Python gradient function sees it."""

    def __init__(self, function: "_DefinedFunction", name: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        self.name, self.type, self.inputs, self.outputs = name, function.name, list(inputs), list(outputs)
        self.graph = get_default_graph()


class _DefinedFunction:
    """A function that `Defun` made.

    Attributes:
      name: Its name.
      declared_input_types: The dtypes of the arguments; empty if any are taken.
      grad_func_name: The name of the gradient, or None.
      python_grad_func: The Python function that is its gradient, or None.
      captured_inputs: The tensors from outside that the body of the last call uses; empty before a call.
      stateful_ops: The operations of the last call's body that keep something between runs, as pairs of a
        name and an op type.
    """

    def __init__(self, func: Callable[..., Any], args: List[str], is_variadic: bool, types: Tuple[Any, ...], options: Dict[str, Any]) -> None:
        self._func, self._args, self._is_variadic, self._types = func, args, is_variadic, types
        self.name = options.get("func_name") or "%s_%d" % (getattr(func, "__name__", "function").strip("<>"), next(_numbers))
        self._grad_func: Optional[_DefinedFunction] = options.get("grad_func")
        self.python_grad_func: Optional[Callable[..., Any]] = options.get("python_grad_func")
        if self._grad_func is not None and self.python_grad_func is not None:
            raise ValueError("Gradient defined twice for function %s" % self.name)
        self._options = options
        self.captured_inputs: List[Tensor] = []
        self.stateful_ops: List[Tuple[str, str]] = []
        self._lock = threading.RLock()

    @property
    def declared_input_types(self) -> Tuple[Any, ...]:
        """The dtypes of the arguments; empty if any are taken."""
        return self._types

    @property
    def grad_func_name(self) -> Optional[str]:
        """The name of the gradient function, or None."""
        return None if self._grad_func is None else self._grad_func.name

    def set_grad_func(self, grad_func: "_DefinedFunction") -> None:
        """Sets the gradient function.

        Raises:
          ValueError: There is another one already.
        """
        if self._grad_func is not None and self._grad_func is not grad_func or self.python_grad_func is not None:
            raise ValueError("Gradient defined twice for function %s" % self.name)
        self._grad_func = grad_func

    def add_to_graph(self, graph: Any) -> None:
        """Does nothing: a call adds the body's nodes."""

    @property
    def definition(self) -> Any:
        """The body as a `FunctionDef`, built in a graph of its own from placeholders.

        Raises:
          ValueError: The function takes any dtypes, or captures tensors or variables from outside.
        """
        if len(self._types) != len(self._args):
            raise ValueError("the definition of function '%s' needs the dtypes of its arguments; help: give them to `Defun`" % self.name)
        kept = self.captured_inputs, self.stateful_ops
        with Graph().as_default() as graph:
            inputs = [op("Placeholder")(dtype=t.base_dtype, name=name) for t, name in zip(self._types, self._args)]
            results, effects = self._build(inputs)
            self.captured_inputs, self.stateful_ops = kept
            body = graph._operations(0)
            inside = {tensor.op for tensor in inputs}
            names = list(self._options.get("out_names") or ()) or None
            made = function_bodies.graph_to_function_def(graph, [o for o in body if o not in inside], inputs, results, names)
        made.signature.name = self.name
        made.signature.is_stateful = bool(effects)
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function: returns its tensor, a tuple of several, or an operation if it returns None."""
        _check_keywords([key for key in self._options if key not in _OPTIONS and key != "name"])
        if len(args) != len(self._types or self._args) and not (self._is_variadic and len(self._args) <= len(args) and not self._types):
            raise ValueError("Expected number of arguments: %d, received: %d" % (len(self._types or self._args), len(args)))
        _check_keywords(kwargs)
        with name_scope(kwargs.get("name"), self.name, list(args)) as scope:
            inputs = [self._input(i, value) for i, value in enumerate(args)]
            results, effects = self._build(inputs)
            with control_dependencies(effects):
                if not results:
                    return control_flow.group(*effects, name="done")
                results = [array_ops.identity(r, name="result") for r in results]
            if self._grad_func is not None or self.python_grad_func is not None:
                results = self._with_gradient(scope, inputs, results)
            else:
                results = op("IdentityN")(results, name=scope)
            self._with_shapes(results)
        return results[0] if len(results) == 1 else tuple(results)

    def _input(self, i: int, value: Any) -> Tensor:
        name = self._args[i] if i < len(self._args) else "arg%d" % i
        tensor = convert_to_tensor(value, name=name)
        if self._types and tensor.dtype.base_dtype != self._types[i].base_dtype:
            raise ValueError(
                "Input '%s' passed %s expected %s while building a call of function '%s'; help: `tf.cast` the argument"
                % (name, tensor.dtype.base_dtype.name, self._types[i].base_dtype.name, self.name)
            )
        return array_ops.identity(tensor, name=name)

    def _build(self, inputs: List[Tensor]) -> Tuple[List[Any], List[Operation]]:
        """Adds the nodes of the body. Returns its results, and its operations that have effects."""
        graph = get_default_graph()
        with self._lock:
            built_in = graph._extras.setdefault("defined_functions", {})
            reuse = scopes.AUTO_REUSE if id(self) in built_in else None
            scope = built_in.setdefault(id(self), (self, scopes.get_variable_scope()))[1]
            before, known = len(graph), len(global_variables())
            _builds.open.append((graph, before, known, inputs))
            try:
                with scopes.variable_scope(scope, reuse=reuse, auxiliary_name_scope=False):
                    made = self._func(*inputs)
                self.captured_inputs = self._captured_inputs()
            finally:
                _builds.open.pop()
        results = [] if made is None else list(made) if isinstance(made, (list, tuple)) else [made]
        if any(r is None for r in results):
            raise ValueError("Function %s can not return None." % self.name)
        self.stateful_ops = [(o.name, o.type) for o in graph._operations(before) if o._is_stateful]
        initial = {v.initializer for v in global_variables()[known:]}
        here = graph._get_control_flow_context()
        effects = [
            o for o in graph._operations(before)
            if o not in initial and o.type not in _HARMLESS and not o.type.startswith("Random") and o._is_stateful
            and o._get_control_flow_context() is here
        ]  # fmt: skip
        return [r if isinstance(r, Operation) else convert_to_tensor(r) for r in results], effects

    def _captured_inputs(self) -> List[Tensor]:
        """Returns the tensors from outside of the body that is being built.

        Raises:
          ValueError: One is a placeholder, and `capture_by_value` is set.
        """
        captured = _captured()[1]
        for tensor in captured if self._options.get("capture_by_value") else []:
            if tensor.op.type == "Placeholder":
                raise ValueError("Cannot capture a placeholder (name:%s, type:%s) by value." % (tensor.op.name, tensor.op.type))
        return captured

    def _with_shapes(self, results: List[Tensor]) -> List[Tensor]:
        """Returns the results of a call with the static shapes that `shape_func` tells."""
        shape_func = self._options.get("shape_func")
        for result, shape in zip(results, shape_func(results[0].op) if shape_func else ()):
            if result.shape.is_compatible_with(shape):
                result.set_shape(shape)
        return results

    def _with_gradient(self, name: str, inputs: List[Tensor], results: List[Tensor]) -> List[Tensor]:
        def gradient(node: Operation, *grads: Any) -> List[Any]:
            n = len(results)
            values, outputs = list(node.inputs)[n:], list(node.outputs)[:n]
            if self.python_grad_func is not None:
                given = self.python_grad_func(_Call(self, name.rstrip("/"), values, outputs), *grads)
            else:
                given = self._grad_func(*values, *grads)  # type: ignore[misc]
            given = list(given) if isinstance(given, (list, tuple)) else [given]
            # Gradients of what TensorFlow captures follow those of the arguments; none flow there.
            return [None] * n + given[: len(values)]

        return with_gradient_of_results(results, inputs, gradient, name)
