"""Derivatives of Python functions: `grad`, `vjp`, `jvp`, `jacobian`, `hessian`, of any order and nested.

Each returns a `Function`, so that it is called with arrays, or within another function with tensors. A
derivative is by the arguments alone: a tensor that the function takes from around it is a constant for it,
even if the same tensor is also an argument.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor
from millstream.framework.op_functions import op
from millstream.func import nests, tracing
from millstream.func.functions import Argnums, Function, _static
from millstream.ops import gradients as ops_gradients


def grad(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, **options: Any) -> Function:
    """Returns a function that computes the gradient of `f`.

    Args:
      f: A function of arrays that returns one floating-point scalar.
      argnums: The position of the argument to differentiate by, or several positions.
      has_aux: If true, `f` returns a pair: the scalar, and values that are returned as they are.
      **options: Those of `func.function`: `static_argnums`, `static_argnames`, `fixed_sizes`, `cache_size`.

    Returns:
      A `Function` of the arguments of `f`. It returns the gradient, in the structure of the argument (a tuple
      for several), zeros where the result does not depend on it; with `has_aux`, a pair with the values.

    Raises:
      TypeError: By the call: `f` returns no scalar, or an argument is not of floating point.

    Example:
      >>> from millstream import func
      >>> slope = func.grad(lambda x: func.while_loop(lambda y: y < 100.0, lambda y: y * y, x))
      >>> print(slope(3.0), func.grad(slope)(3.0))
      17496.0 40824.0
      >>> loss = lambda p, x: tf.reduce_sum((p["w"] * x + p["b"]) ** 2)
      >>> g = func.grad(loss)({"w": np.float64(2.0), "b": np.float64(1.0)}, np.array([1.0, 2.0]))
      >>> print(g["w"], g["b"])
      26.0 16.0
    """
    return _derived(f, _grad(f, argnums, has_aux, "grad"), "grad", options)


def _grad(f: Any, argnums: Argnums, has_aux: bool, name: str) -> Callable[..., Any]:
    """Returns the gradient of `f`; errors call it `name`."""
    both = _value_and_grad(f, argnums, has_aux, name)

    def of(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return of


def value_and_grad(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, **options: Any) -> Function:
    """Returns a function that computes the value of `f` and its gradient, in one run.

    Args:
      f: As for `grad`.
      argnums: As for `grad`.
      has_aux: As for `grad`; the value is then the pair that `f` returns.
      **options: As for `grad`.

    Returns:
      A `Function` that returns a pair: the value and the gradient.

    Example:
      >>> from millstream import func
      >>> value, slope = func.value_and_grad(lambda x, n: x**n, static_argnums=1)(2.0, 3)
      >>> print(value, slope)
      8.0 12.0
    """
    return _derived(f, _value_and_grad(f, argnums, has_aux, "value_and_grad"), "value_and_grad", options)


def _value_and_grad(f: Any, argnums: Argnums, has_aux: bool, name: str) -> Callable[..., Any]:
    def of(*args: Any, **kwargs: Any) -> Any:
        call = _Call(f, args, kwargs, argnums, name)
        result = call.result
        if has_aux:
            result = call.pair(result)[0]
        y = call.scalar(result)
        found = call.unflatten(gradients_of([y], call.xs, None))
        return call.packed(call.result), found

    return of


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Returns the value of `f` and a function that maps cotangents of it to those of the arguments.

    Called with arrays, the value is computed once: what the gradient needs of it is kept by the function that
    is returned, which may be called any number of times. Called with tensors, within another function, it
    returns tensors. The graphs of the last 64 functions are kept; pass the same function, not a new lambda.

    Args:
      f: A function of arrays that returns values of floating point.
      *primals: Its arguments, of floating point.
      has_aux: If true, `f` returns a pair: the values, and others that are returned as they are.

    Returns:
      A pair: the value of `f`, and a function of cotangents in its structure that returns a tuple with the
        cotangent of each argument. With `has_aux`, the other values are third.

    Raises:
      TypeError: A value or argument is not of floating point.
      ValueError: Cotangents have another structure or shape than the value.

    Example:
      >>> from millstream import func
      >>> value, back = func.vjp(lambda x, y: x * y, np.array([1.0, 2.0]), 3.0)
      >>> print(value, *back(np.array([1.0, 10.0])))
      [3. 6.] [ 3. 30.] 21.0
    """
    leaves = nests.flatten(list(primals))
    if tracing.is_active() or any(isinstance(leaf, Tensor) for leaf in leaves):
        return symbolic_vjp(f, primals, has_aux)
    return numeric_vjp[0](f, primals, has_aux)


def symbolic_vjp(f: Any, primals: Sequence[Any], has_aux: bool) -> Any:
    """Returns what `vjp` returns, as tensors of the graph that is built."""
    call = _Call(f, primals, {}, tuple(range(len(primals))), "vjp")
    result = call.pair(call.result)[0] if has_aux else call.result
    ys = call.floats(result)

    def back(cotangents: Any) -> Any:
        if not nests.alike(cotangents, result):
            raise ValueError(
                "the cotangents have the structure %r, but %s returned %r: give one for each value"
                % (nests.form(cotangents), tracing.called(f), nests.form(result))
            )
        given = [_as(c, y) for c, y in zip(nests.flatten(cotangents), ys)]
        return call.unflatten(gradients_of(ys, call.xs, given))

    value = nests.pack(result, ys)
    return (value, back, call.packed(call.result)[1]) if has_aux else (value, back)


def jvp(f: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False, **options: Any) -> Any:
    """Returns the value of `f` and its derivative along tangents.

    Args:
      f: A function of arrays that returns values of floating point.
      primals: A tuple of its arguments.
      tangents: A tuple of their directions, in the structure, dtypes and shapes of `primals`.
      has_aux: If true, `f` returns a pair: the values, and others that are returned as they are.
      **options: Those of `func.function`.

    Returns:
      A pair: the value, and the derivative in its structure. With `has_aux`, the other values are third.

    Raises:
      TypeError: A value or argument is not of floating point, or `primals` is not a tuple.
      ValueError: `primals` and `tangents` have different structures or shapes.

    Example:
      >>> from millstream import func
      >>> print(*func.jvp(lambda x: x**3.0, (2.0,), (10.0,)))
      8.0 120.0
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError("primals and tangents are tuples with an item for each argument of %s: `(x,)` for one" % tracing.called(f))
    if not nests.alike(list(primals), list(tangents)):
        raise ValueError(
            "the tangents have the structure %r, but the primals have %r: give one for each argument" % (nests.form(tuple(tangents)), nests.form(tuple(primals)))
        )

    for x, t, path in zip(nests.flatten(list(primals)), nests.flatten(list(tangents)), nests.paths(tuple(tangents), "tangents")):
        if not isinstance(x, Tensor) and not isinstance(t, Tensor) and _shape(x) != _shape(t):
            raise ValueError("%s has the shape %s, but the argument has %s: they must be the same" % (path, _shape(t), _shape(x)))

    def of(primals: Any, tangents: Any) -> Any:
        call = _Call(f, primals, {}, tuple(range(len(primals))), "jvp")
        result = call.pair(call.result)[0] if has_aux else call.result
        ys = call.floats(result)
        along = [_as(t, x) for t, x in zip(nests.flatten(list(tangents)), call.xs)]
        found = nests.pack(result, ops_gradients.jvp(ys, call.xs, along) if ys else [])
        value = call.packed(call.result)
        return (value[0], found, value[1]) if has_aux else (value, found)

    made = _derived(f, of, "jvp", options)
    return made(tuple(primals), tuple(tangents))


def jacobian(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, **options: Any) -> Function:
    """Returns a function that computes the derivative of each element of the result by each of an argument.

    The graph loops over the elements of the result, and runs the gradient for each.

    Args:
      f: A function of arrays that returns values of floating point.
      argnums: As for `grad`.
      has_aux: If true, `f` returns a pair: the values, and others that are returned as they are.
      **options: As for `grad`.

    Returns:
      A `Function`. Its result has the structure of the result of `f`, with that of the argument in place of
      each array `y`: arrays of shape `y.shape + x.shape`.

    Example:
      >>> from millstream import func
      >>> print(func.jacobian(lambda x: x * x)(np.array([1.0, 3.0])))
      [[2. 0.]
       [0. 6.]]
    """

    def of(*args: Any, **kwargs: Any) -> Any:
        call = _Call(f, args, kwargs, argnums, "jacobian")
        result = call.pair(call.result)[0] if has_aux else call.result
        ys = call.floats(result)
        rows = [call.unflatten([ops_gradients.jacobian(y, x) for x in call.xs]) for y in ys]
        found = nests.pack(result, rows)
        return (found, call.packed(call.result)[1]) if has_aux else found

    return _derived(f, of, "jacobian", options)


def hessian(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, **options: Any) -> Function:
    """Returns a function that computes the second derivatives of `f`.

    Args:
      f: As for `grad`.
      argnums: As for `grad`.
      has_aux: As for `grad`.
      **options: As for `grad`.

    Returns:
      A `Function`: the Jacobian of the gradient. For one array `x` its result has the shape
      `x.shape + x.shape`.

    Example:
      >>> from millstream import func
      >>> print(func.hessian(lambda x: x[0] * x[0] * x[1])(np.array([1.0, 2.0])))
      [[4. 2.]
       [2. 0.]]
    """
    return jacobian(_derived(f, _grad(f, argnums, has_aux, "hessian"), "hessian", {}), argnums, has_aux, **options)


# The function that runs `vjp` on arrays, registered by `pairs`.
numeric_vjp: List[Callable[..., Any]] = []


class _Call:
    """A call of a function with tensors, some of which it is differentiated by."""

    def __init__(self, f: Any, args: Sequence[Any], kwargs: Dict[str, Any], argnums: Argnums, name: str) -> None:
        self.f, self.name = f, name
        self.one = isinstance(argnums, int)
        places: List[int] = [argnums] if isinstance(argnums, int) else list(argnums) if isinstance(argnums, (tuple, list, range)) else [-1 << 60]
        if not all(isinstance(i, int) for i in places) or places == [-1 << 60]:
            raise TypeError("%s of %s: argnums is %r, but must be the position of an argument, or a tuple of positions" % (name, tracing.called(f), argnums))
        for i in places:
            if not -len(args) <= i < len(args):
                raise TypeError(
                    "%s of %s differentiates by argument %d, but the call has %d positional argument%s, counted from 0: pass it by position, or change "
                    "`argnums`" % (name, tracing.called(f), i, len(args), "" if len(args) == 1 else "s")
                )
        places = [i % len(args) for i in places]
        given = list(args)
        self.structures = [given[i] for i in places]
        self.xs: List[Tensor] = []
        for i in places:
            xs = tracing.tensors(given[i], "argument %d of %s" % (i, tracing.called(f)), "pass")
            for x, path in zip(xs, nests.paths(given[i], "argument %d" % i)):
                if not (x.dtype.is_floating or x.dtype.is_complex):
                    raise TypeError(
                        "%s of %s: %s is %s, which has no derivative. Pass a floating-point value (3.0 instead of 3), or differentiate by another argument (`argnums`)"
                        % (name, tracing.called(f), path, tracing.shown(x))
                    )
            xs = tracing.fresh(xs)
            self.xs.extend(xs)
            given[i] = nests.pack(given[i], xs)
        self.result = f(*given, **kwargs)

    def pair(self, result: Any) -> Any:
        """Returns a result of a function with `has_aux`."""
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise TypeError(
                "%s of %s with has_aux=True: the function must return a pair (value, aux), but returned %s. Return a pair, or leave `has_aux` out"
                % (self.name, tracing.called(self.f), _described(result))
            )
        return result

    def scalar(self, result: Any) -> Tensor:
        """Returns the result, which must be one floating-point scalar."""
        leaves = nests.flatten(result)
        advice = "Reduce it (`tf.reduce_sum`), or use `func.jacobian` or `func.vjp`"
        if result is None:
            raise TypeError("%s needs a function that returns one scalar, but %s returned None: does it lack a `return`?" % (self.name, tracing.called(self.f)))
        if nests.is_structure(result) or len(leaves) != 1:
            hint = "; with `has_aux=True` the second of a pair is passed on" if isinstance(result, tuple) and len(result) == 2 else ""
            raise TypeError("%s needs a function that returns one scalar, but %s returned %s%s. %s" % (self.name, tracing.called(self.f), _described(result), hint, advice))
        y = tracing.tensor(result, "the result of %s" % tracing.called(self.f))
        if y.shape.ndims != 0:
            raise TypeError("%s needs a function that returns a scalar, but %s returned %s. %s" % (self.name, tracing.called(self.f), tracing.shown(y), advice))
        if not y.dtype.is_floating:
            raise TypeError(
                "%s needs a function that returns a floating-point scalar, but %s returned %s. Cast what it is computed from (`tf.cast`)"
                % (self.name, tracing.called(self.f), tracing.shown(y))
            )
        return y

    def floats(self, result: Any) -> List[Tensor]:
        """Returns the leaves of the result, which must be of floating point."""
        root = "the result of %s" % tracing.called(self.f)
        ys = tracing.tensors(result, root)
        for y, path in zip(ys, nests.paths(result, root)):
            if not (y.dtype.is_floating or y.dtype.is_complex):
                raise TypeError("%s: %s is %s, which has no derivative. Return it beside the values, with `has_aux=True`" % (self.name, path, tracing.shown(y)))
        return ys

    def packed(self, result: Any) -> Any:
        """Returns the result with tensors for its leaves."""
        return nests.pack(result, tracing.tensors(result, "the result of %s" % tracing.called(self.f)))

    def unflatten(self, found: Sequence[Any]) -> Any:
        """Returns a value for each x in the structure of the arguments."""
        rest = iter(found)
        packed = tuple(nests.pack(s, [next(rest) for _ in nests.flatten(s)]) for s in self.structures)
        return packed[0] if self.one else packed


def _described(result: Any) -> str:
    """Returns a result in words."""
    if isinstance(result, Tensor):
        return tracing.shown(result)
    if nests.is_structure(result):
        return "the structure %r" % (nests.form(result),)
    return "%r (of type %s)" % (result, type(result).__name__)


def _shape(value: Any) -> Any:
    """Returns the shape of an array, or of anything that can become one."""
    found = getattr(value, "shape", None)
    return np.shape(value) if found is None else tuple(found)


def _as(value: Any, like: Tensor) -> Tensor:
    """Returns a cotangent or tangent of the dtype of what it belongs to."""
    given = value if isinstance(value, Tensor) else convert_to_tensor(value, like.dtype.base_dtype)
    if not given.shape.is_compatible_with(like.shape):
        raise ValueError("%s was given for %s: the shapes must be the same" % (tracing.shown(given), tracing.shown(like)))
    if given.dtype.base_dtype != like.dtype.base_dtype:
        raise TypeError("%s was given for %s: the dtypes must be the same" % (tracing.shown(given), tracing.shown(like)))
    return given


def gradients_of(ys: Sequence[Tensor], xs: Sequence[Tensor], cotangents: Optional[Sequence[Tensor]]) -> List[Tensor]:
    """Returns a dense gradient for each x."""
    if not ys:
        return [op("ZerosLike")(x) for x in xs]
    found = ops_gradients.gradients(list(ys), list(xs), cotangents, unconnected_gradients="zero")
    dense = [convert_to_tensor(g) for g in found]
    for g, x in zip(dense, xs):
        if g.shape.ndims is None:
            g.set_shape(x.shape)
    return dense


def _derived(f: Any, of: Callable[..., Any], name: str, options: Dict[str, Any]) -> Function:
    """Returns a derivative as a `Function` with the static arguments of `f`."""
    argnums, argnames = options.pop("static_argnums", ()), options.pop("static_argnames", ())
    if isinstance(f, Function) and argnums == () and argnames == ():
        positions, names = list(f._positions), list(f._names)
    else:
        positions, names = _static(f, argnums, argnames)
    unknown = set(options) - {"fixed_sizes", "cache_size"}
    if unknown:
        raise TypeError("func.%s has no argument `%s`: it takes those of func.function" % (name, sorted(unknown)[0]))
    if isinstance(f, Function):
        options.setdefault("fixed_sizes", f._options[2])
    inner = f._f if isinstance(f, Function) else f
    of.__wrapped__ = inner  # type: ignore[attr-defined]
    made = Function(of, positions, names, **options)
    made.__name__ = "%s(%s)" % (name, getattr(f, "__name__", type(f).__name__))
    return made
