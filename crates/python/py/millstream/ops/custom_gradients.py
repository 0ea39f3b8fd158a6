"""Gradients that are Python functions: registered by name, or custom gradients of functions.

The engine calls `_find` for the gradient with a name, and calls that with the operation and the gradients of
its outputs.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple

from millstream import _engine
from millstream._engine import Operation, Tensor
from millstream.framework import (
    Graph,
    IndexedSlices,
    convert_to_tensor,
    get_collection,
    get_default_graph,
    nest,
)
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op

__all__ = ["NoGradient", "NotDifferentiable", "RegisterGradient", "custom_gradient", "grad_pass_through", "no_gradient"]

_EXTRA = "gradients"

# The functions registered in this process. None means that no gradient flows back.
_registered: Dict[str, Optional[Callable[..., Any]]] = {}
# The places of registration, for error messages.
_places: Dict[str, str] = {}

# Held during registration and numbering.
_lock = threading.Lock()
_numbers = itertools.count()

# Whether the current variable scope creates resource variables, and whether a variable is one; registered by
# `variables.scopes`.
_scope_uses_resource: Callable[[], bool] = lambda: False
_is_resource: Callable[[Any], bool] = lambda variable: False


def register_variables(scope_uses_resource: Callable[[], bool], is_resource: Callable[[Any], bool]) -> None:
    """Registers functions of `variables` that custom gradients need."""
    global _scope_uses_resource, _is_resource
    _scope_uses_resource, _is_resource = scope_uses_resource, is_resource


class RegisterGradient:
    """A decorator that registers a function as the gradient of an op type, or of a name.

    The op type has no gradient of its own; a name is used with `Graph.gradient_override_map`. The function
    receives the operation and the gradients of its outputs (zeros where there are none), and returns those of
    its inputs: tensors, `IndexedSlices` or None, in a list or tuple if there are several.

    Args:
      op_type: The name of the op type, or another name.

    Raises:
      TypeError: `op_type` is not a string.
      KeyError: The op type has a gradient, or the name is registered already.

    Example:
      >>> @tf.RegisterGradient("ExampleClipped")
      ... def _clipped(op, grad):
      ...     return tf.clip_by_value(grad, -1.0, 1.0)
      >>> x = tf.constant(3.0)
      >>> with tf.get_default_graph().gradient_override_map({"Identity": "ExampleClipped"}):
      ...     y = tf.identity(x) * 5.0
      >>> print(tf.Session().run(tf.gradients(y, x)[0]))
      1.0
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        _register(self._op_type, f)
        return f


def NotDifferentiable(op_type: str) -> None:
    """Declares that no gradient flows through operations of this type, which has no gradient of its own.

    Args:
      op_type: The name of the op type.

    Raises:
      TypeError: `op_type` is not a string.
      KeyError: The op type has a gradient, or the name is registered already.

    Example:
      >>> tf.NotDifferentiable("NothingFlowsBack")
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _register(op_type, None)


NoGradient = NotDifferentiable
no_gradient = NotDifferentiable


def _register(name: str, function: Optional[Callable[..., Any]]) -> None:
    caller = inspect.stack(0)[2]
    with _lock:
        place = _places.get(name)
        if place is None and _engine.has_gradient(name):
            place = "the op library"
        if place is not None:
            raise KeyError("Registering two gradient with name '%s'! (Previous registration was in %s)" % (name, place))
        _places[name] = "%s %s:%s" % (caller.function, caller.filename, caller.lineno)
        _registered[name] = function


def _op_types() -> List[str]:
    """Returns the op types whose gradients are registered here."""
    return [name for name in list(_registered) if _engine.has_gradient(name) is False]


def _find(graph: Graph, name: str, node: Operation) -> Tuple[Callable[..., Any], Optional[int]]:
    """Returns the gradient with this name, and the number of output gradients that it takes (None: all)."""
    own = graph._extras.get(_EXTRA, {})
    if name in own:
        function, n = own[name]
        return functools.partial(_apply, function), n
    if name not in _registered:
        raise LookupError(
            "No gradient defined for operation '%s' (op type: %s): it asks for the gradient '%s', which is not registered; help: "
            "`@tf.RegisterGradient(\"%s\")` before `tf.gradients`" % (node.name, node.type, name, name)
        )
    return functools.partial(_apply, _registered[name]), None


def _apply(function: Optional[Callable[..., Any]], node: Operation, grads: List[Any]) -> List[Any]:
    """Returns the gradients of the inputs: each is None, a tensor, or the parts of slices."""
    inputs = node.inputs
    if function is None:
        return [None] * len(inputs)
    given = function(node, *grads)
    given = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(given) != len(inputs):
        raise ValueError("Num gradients %d generated for op name: \"%s\" (op: \"%s\") do not match num inputs %d" % (len(given), node.name, node.type, len(inputs)))
    return [_checked(node, i, x, grad) for i, (x, grad) in enumerate(zip(inputs, given))]


def _checked(node: Operation, i: int, x: Tensor, grad: Any) -> Any:
    if grad is None:
        return None
    if isinstance(grad, IndexedSlices):
        return grad.values, grad.indices, grad.dense_shape
    if not isinstance(grad, Tensor):
        if not hasattr(grad, "_as_tensor"):
            raise TypeError(
                "the gradient function of '%s' returned %r for input %d; it must return a Tensor, IndexedSlices or None: `tf.constant(%r)`" % (node.name, grad, i, grad)
            )
        grad = convert_to_tensor(grad)
    if grad.dtype.base_dtype != x.dtype.base_dtype and x.dtype.name != "resource":
        raise ValueError(
            "Gradient type %s generated for op name: \"%s\" does not match input type %s of input %d; help: `tf.cast` it"
            % (grad.dtype.name, node.name, x.dtype.base_dtype.name, i)
        )
    if x.dtype.name != "resource" and not grad.shape.is_compatible_with(x.shape):
        raise ValueError(
            "Incompatible shapes between op input and calculated input gradient.  Forward operation: %s.  Input index: %d. Original input shape: %s.  "
            "Calculated input gradient shape: %s" % (node.name, i, x.shape, grad.shape)
        )
    return grad


# Functions with custom gradients.


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for functions with a custom gradient, used instead of those of the nodes they add.

    `f` takes tensors (or values that convert to them), and returns its results and a function from their
    gradients to those of the arguments. That function may use values of `f` by closure; they are saved if `f`
    is called in a loop. The gradient's own nodes can be differentiated, too.

    If `f` uses variables (which need `use_resource=True`), the gradient function takes `variables=`, a list
    of them, and returns a pair: the gradients of the arguments and a list of those of the variables.

    Args:
      f: The function.

    Returns:
      A function with the same arguments that returns the results of `f`.

    Raises:
      TypeError: The gradient function lacks `variables` though `f` uses some; or has it though there are
        none and the variable scope lacks `use_resource=True`; or a variable is not a resource variable.
      ValueError: Keyword arguments are given; or, on differentiation, the number of gradients is not that
        of arguments or of variables.

    Example:
      >>> @tf.custom_gradient
      ... def log1pexp(x):
      ...     e = tf.exp(x)
      ...     return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))
      >>> x = tf.constant(100.0)  # Without it, the gradient would be inf / inf here.
      >>> print(tf.Session().run(tf.gradients(log1pexp(x), x)[0]))
      1.0
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments only when eager execution is enabled.\n"
                "  help: these are TensorFlow's words; there is no eager execution here: pass them by position, or with functools.partial"
            )
        return _with_gradient(f, [convert_to_tensor(x) for x in args])

    return decorated


def _with_gradient(f: Callable[..., Any], args: List[Tensor]) -> Any:
    graph = get_default_graph()
    before, by_reference = len(graph), len(_held_by_reference())
    result, grad_fn = f(*args)
    flat = [convert_to_tensor(r) for r in nest.flatten(result)]
    if by_reference < len(_held_by_reference()):
        raise TypeError(
            "All variables used by a function wrapped with @custom_gradient must be `ResourceVariable`s. Ensure that no `variable_scope` is created with "
            "`use_resource=False`."
        )
    variables = _variables_used(graph, before)
    _check_signature(grad_fn, variables)
    outputs = with_gradient_of_results(flat, args + variables, _gradient_of(grad_fn, len(flat), len(args), variables))
    return nest.pack_sequence_as(result, outputs)


def with_gradient_of_results(
    results: List[Any], inputs: List[Any], gradient: Callable[..., List[Any]], name: Optional[str] = None
) -> List[Any]:
    """Returns results whose gradient is a function, by an `IdentityN` of the results and the inputs.

    Args:
      results: Tensors.
      inputs: The tensors to which gradients flow.
      gradient: A function of this `IdentityN` and the gradients of the results. It returns gradients of the
        results, which are None, and of the inputs.
      name: The name of the `IdentityN`.

    Returns:
      A list of tensors.
    """
    with _lock:
        registered = "CustomGradient-%d" % next(_numbers)
    graph = get_default_graph()
    graph._extras.setdefault(_EXTRA, {})[registered] = (gradient, len(results))
    with graph.gradient_override_map({"IdentityN": registered}):
        return op("IdentityN")([*results, *inputs], name=name)[: len(results)]


def _gradient_of(grad_fn: Callable[..., Any], n_results: int, n_args: int, variables: List[Any]) -> Callable[..., Any]:
    """Returns the gradient of the `IdentityN` of results, arguments and variables."""

    def gradient(node: Operation, *grads: Any) -> List[Any]:
        of_variables: List[Any] = []
        if variables:
            of_args, of_variables = grad_fn(*grads, variables=list(variables))
            of_variables = list(of_variables)
            if len(of_variables) != len(variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            of_args = grad_fn(*grads)
        of_args = nest.flatten(of_args)
        if len(of_args) != n_args:
            raise ValueError(
                "Num gradients %d generated for op name: \"%s\" do not match num inputs %d: the gradient of a function of %d arguments must give as many"
                % (n_results + len(of_args) + len(of_variables), node.name, len(node.inputs), n_args)
            )
        return [None] * n_results + of_args + of_variables

    return gradient


def _check_signature(grad_fn: Callable[..., Any], variables: List[Any]) -> None:
    spec = inspect.getfullargspec(grad_fn)
    takes = "variables" in spec.args or "variables" in spec.kwonlyargs or spec.varkw is not None
    if variables and not takes:
        raise TypeError("If using @custom_gradient with a function that uses variables, then grad_fn must accept a keyword argument 'variables'.")
    if takes and not variables:
        if not _scope_uses_resource():
            raise TypeError("If using @custom_gradient with a function that uses variables, the enclosing variable scope must have use_resource=True.")


def _held_by_reference() -> List[Any]:
    return [v for v in get_collection(GraphKeys.GLOBAL_VARIABLES) if not _is_resource(v)]


def _variables_used(graph: Graph, before: int) -> List[Any]:
    """Returns the trainable variables used by nodes added after the first `before`, in order of creation."""
    used = {handle.name for handle in graph._variables_used(before)}
    found: Dict[str, Any] = {}
    for key in (GraphKeys.TRAINABLE_VARIABLES, GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for v in graph.get_collection(key):
            if getattr(v, "trainable", False) and v.name in used:
                found.setdefault(v.name, v)
    return list(found.values())


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """Makes gradients pass through `f` as if it were the identity, to its single argument.

    Use it within a variable scope with `use_resource=True`.

    Args:
      f: A function of a tensor.

    Returns:
      A function with the same argument that returns the results of `f`.

    Example:
      >>> x = tf.constant([1.5, 2.7])
      >>> with tf.variable_scope("s", use_resource=True):
      ...     y = tf.grad_pass_through(tf.floor)(x)
      >>> print(*tf.Session().run([y, tf.gradients(y, x)[0]]))
      [1. 2.] [1. 1.]
    """

    @custom_gradient
    def through(*args: Any) -> Any:
        def grad(*grads: Any, **kwargs: Any) -> Any:
            variables = kwargs.get("variables")
            return (grads, [None] * len(variables)) if variables is not None else grads

        return f(*args), grad

    return functools.wraps(f)(through)
