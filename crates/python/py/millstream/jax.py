"""`millstream.jax`: functions with data-dependent loops as parts of JAX programs.

    import jax, millstream.jax
    from millstream import func

    def root(a):  # Newton's iteration to convergence; `jax.lax.while_loop` has no reverse mode
        return func.while_loop(lambda x: abs(x * x - a) > 1e-6, lambda x: (x + a / x) / 2.0, a)

    print(jax.grad(jax.jit(millstream.jax.wrap(root)))(2.0))  # 0.35355338

JAX is imported with this module, which nothing else of Millstream needs.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import jax
import numpy as np
from jax import numpy as jnp

from millstream.func import advice, nests, tracing
from millstream.func.calls import static_key
from millstream.func.functions import Argnums, Function, _static
from millstream.func.pairs import Differentiated, Pair, Store

__all__ = ["wrap"]

_DTYPES = "float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()


def wrap(f: Optional[Callable[..., Any]] = None, *, static_argnums: Argnums = (), static_argnames: Union[str, Iterable[str]] = ()) -> Any:
    """Returns a function of JAX's arrays that runs a function over Millstream's tensors.

    `f` is written as for `func.function`. The result works under `jax.jit`, under `jax.grad` and the other
    transformations of reverse mode, nested to any order, and under `jax.vmap`, which calls it for one entry
    of the batch after another. It is a `jax.custom_vjp` over `jax.pure_callback`, so forward mode (`jax.jvp`,
    `jax.jacfwd`) is refused by JAX; `jax.jacrev` works.

    The gradient uses the values that the forward pass kept, unless more than 64 other calls came between
    them; it then computes them again. The sizes of the results must follow from those of the arguments, as
    JAX asks for sizes that are known beforehand.

    Args:
      f: A function over tensors. Without it, a decorator is returned.
      static_argnums: As for `func.function`.
      static_argnames: As for `func.function`.

    Returns:
      A function of arrays on the CPU (float32, float64, integers, bool), numbers, and structures of them.

    Raises:
      TypeError: By the call: an array has another dtype, or the size of a result depends on values.

    Example:
      >>> import jax, millstream.jax
      >>> from millstream import func
      >>> cube = millstream.jax.wrap(lambda x: func.fori_loop(0, 2, lambda i, y: y * x, x))
      >>> print(cube(2.0), jax.grad(cube)(2.0), jax.jit(jax.grad(jax.grad(cube)))(2.0))
      8.0 12.0 12.0
    """
    if f is None:
        return functools.partial(wrap, static_argnums=static_argnums, static_argnames=static_argnames)
    inner = f._f if isinstance(f, (Function, _Wrapped)) else f
    if not callable(inner):
        raise TypeError("millstream.jax.wrap takes a function, but got %r (of type %s)" % (f, type(f).__name__))
    if isinstance(f, (Function, _Wrapped)) and not static_argnums and not static_argnames:
        positions, names = list(f._positions), list(f._names)
    else:
        positions, names = _static(inner, static_argnums, static_argnames)
    return _Wrapped(inner, frozenset(positions), frozenset(names))


class _Wrapped:
    """A function of JAX's arrays."""

    def __init__(self, f: Any, positions: frozenset, names: frozenset) -> None:
        self._f, self._positions, self._names = f, positions, names
        self._programs: Dict[Any, _Program] = {}
        self._lock = threading.Lock()
        self._name = "_jax_%d" % id(self)
        self.__wrapped__ = f
        self.__name__ = getattr(f, "__name__", type(f).__name__)
        self.__doc__ = getattr(f, "__doc__", None)

    def __reduce__(self) -> Any:
        return _Wrapped, (self._f, self._positions, self._names)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        # The graphs belong to the instance: its attributes are part of them.
        held = instance.__dict__.get(self._name)
        if held is None:
            held = _Wrapped(self._f.__get__(instance, owner), frozenset(i - 1 for i in self._positions if 0 < i), self._names)
            instance.__dict__[self._name] = held
        return held

    def __repr__(self) -> str:
        return "<millstream.jax.wrap(%s)>" % tracing.called(self._f)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._called(args, kwargs)
        except Exception as error:
            if isinstance(error, TypeError) and "forward-mode" in str(error) and "\n  help: " not in str(error):
                error.args = (
                    "%s\n  help: millstream.jax.wrap has reverse mode: use `jax.jacrev`, `jax.jacrev(jax.jacrev(f))` for second derivatives, or `func.jvp` "
                    "of the function that is wrapped" % error,
                )
            advice.shorten(error)
            raise

    def _called(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        given = [a for i, a in enumerate(args) if i not in self._positions], {k: v for k, v in kwargs.items() if k not in self._names}
        leaves, spec = jax.tree_util.tree_flatten(given)
        paths = [path for path, _ in jax.tree_util.tree_flatten_with_path(given)[0]]
        arrays = [_array(leaf, path) for leaf, path in zip(leaves, paths)]
        for array, path in zip(arrays, paths):
            if array.dtype.name not in _DTYPES:
                place = _place(path)
                cure = "pass its real and imaginary parts" if getattr(array.dtype, "kind", "") == "c" else "convert it, as by `x.astype('float32')`"
                raise TypeError("%s of %s is %s, which millstream.jax does not take: %s" % (place, tracing.called(self._f), array.dtype.name, cure))
        key = (spec, static_key(args, kwargs, self._positions, self._names))
        with self._lock:
            program = self._programs.get(key)
            if program is None:
                program = self._programs[key] = _Program(self._pair(spec, args, kwargs))
        values = program.compiled(*arrays)
        return nests.pack(program.of(arrays).structure, list(values))

    def _pair(self, spec: Any, args: Any, kwargs: Any) -> Pair:
        static_args = {i: args[i] for i in self._positions if i < len(args)}
        static_kwargs = {k: v for k, v in kwargs.items() if k in self._names}
        n_args, f = len(args), self._f

        def of(*leaves: Any) -> Any:
            some, named = jax.tree_util.tree_unflatten(spec, leaves)
            rest = iter(some)
            return f(*[static_args[i] if i in static_args else next(rest) for i in range(n_args)], **named, **static_kwargs)

        of.__wrapped__ = f  # type: ignore[attr-defined]
        return Pair(of, fixed_sizes=True)


def _place(path: Any) -> str:
    """Returns the name of an argument, or of a part of one."""
    first = getattr(path[1], "idx", None)
    return "argument %s%s" % ("`%s`" % path[1].key if first is None else first, jax.tree_util.keystr(path[2:]))


def _array(leaf: Any, path: Any) -> Any:
    """Returns an argument as JAX's array."""
    try:
        return jnp.asarray(leaf)
    except TypeError as error:
        raise TypeError(
            "%s is %.60r (of type %s), which is neither a number nor an array\n  help: declare it static: `millstream.jax.wrap(f, static_argnums=..)`"
            % (_place(path), leaf, type(leaf).__name__)
        ) from error


_store = Store()


class _Program:
    """A function of arrays, and its gradient, as JAX takes them."""

    def __init__(self, pair: Pair) -> None:
        self._pair, self._lock = pair, threading.Lock()
        self._next: Any = None
        self._of_residuals: Any = None
        # The gradient is a function with a gradient of its own: the derivative of the pair.
        self.call = jax.custom_vjp(self._values)
        self.call.defvjp(self._forward, self._backward)
        self.compiled = jax.jit(self.call)
        # The forward pass is differentiated, too, where a derivative is.
        self._kept = jax.custom_vjp(self._values_and_number)
        self._kept.defvjp(self._kept_forward, lambda kept, cotangents: self._backward(kept, cotangents[:-1]))

    def of(self, arrays: Sequence[Any]) -> Differentiated:
        """Returns the graph for arrays, whose values do not matter."""
        return self._pair.of([np.empty(a.shape, a.dtype) for a in arrays])

    def _gradient(self, n: int) -> "_Gradient":
        with self._lock:
            if self._of_residuals is None:
                self._of_residuals = _Gradient(self, n)
            return self._of_residuals

    def derivative(self, n: int) -> "_Program":
        """Returns the gradient as a program of `n` arrays and cotangents."""
        with self._lock:
            if self._next is None:
                self._next = _Program(self._pair.derivative(n))
            return self._next

    # Callbacks are methods, which compare equal, so that JAX finds what it compiled for them.

    def run(self, *given: Any) -> Any:
        """Computes the values of arrays."""
        arrays = [np.asarray(a) for a in given]
        return tuple(np.asarray(v) for v in self._pair._run_of(tuple(arrays), {}).flat(arrays))

    def run_and_keep(self, *given: Any) -> Any:
        """Computes the values of arrays, and the number of residuals."""
        values, residuals = self._pair.forward([np.asarray(a) for a in given])
        return (*values, np.int32(_store.put(residuals)))

    def _values(self, *arrays: Any) -> Tuple[Any, ...]:
        return _callback(self.run, _results(self.of(arrays), self._pair), arrays)

    def _values_and_number(self, *arrays: Any) -> Tuple[Any, ...]:
        results = _results(self.of(arrays), self._pair)
        return _callback(self.run_and_keep, (*results, jax.ShapeDtypeStruct((), np.int32)), arrays)

    def _kept_forward(self, *arrays: Any) -> Any:
        found = self._kept(*arrays)
        return found, (arrays, found[-1])

    def _forward(self, *arrays: Any) -> Any:
        found = self._kept(*arrays)
        return tuple(found[:-1]), (arrays, found[-1])

    def _backward(self, kept: Any, cotangents: Any) -> Tuple[Any, ...]:
        arrays, number = kept
        of = self.of(arrays)
        given = [cotangents[i] for i in of.with_cotangents]
        found = self._gradient(len(arrays)).call(number, *arrays, *given)
        grads: List[Any] = [np.zeros(a.shape, jax.dtypes.float0) for a in arrays]
        for place, grad in zip(of.differentiable, found):
            grads[place] = grad
        return tuple(grads)


class _Gradient:
    """The gradient of a program: from the residuals if they are still there; differentiated as a program."""

    def __init__(self, of: _Program, n: int) -> None:
        self._of, self._n = of, n
        self.call = jax.custom_vjp(self._values)
        self.call.defvjp(self._forward, self._backward)

    def run(self, number: Any, *given: Any) -> Any:
        """Computes the gradient of arrays for cotangents."""
        residuals = _store.take(int(number))
        arrays = [np.asarray(a) for a in given]
        if residuals is None:
            _, residuals = self._of._pair.forward(arrays[: self._n])
        return tuple(residuals.backward(arrays[self._n :]))

    def _values(self, number: Any, *given: Any) -> Tuple[Any, ...]:
        of = self._of.of(given[: self._n])
        shapes = tuple(jax.ShapeDtypeStruct(given[i].shape, given[i].dtype) for i in of.differentiable)
        return _callback(self.run, shapes, (number, *given))

    def _forward(self, number: Any, *given: Any) -> Any:
        # One order higher, the gradient is a program of its own.
        values, kept = self._of.derivative(self._n)._forward(*given)
        return values, (number, kept)

    def _backward(self, kept: Any, cotangents: Any) -> Any:
        number, kept = kept
        return (np.zeros(number.shape, jax.dtypes.float0), *self._of.derivative(self._n)._backward(kept, cotangents))


def _callback(run: Callable[..., Any], results: Any, arrays: Sequence[Any]) -> Any:
    return tuple(jax.pure_callback(run, tuple(results), *arrays, vmap_method="sequential"))


def _results(of: Differentiated, pair: Pair) -> Tuple[Any, ...]:
    """Returns the sizes and dtypes of the results."""
    found = []
    for y in of.outputs:
        dims = y.shape.as_list() if y.shape.ndims is not None else [None]
        if None in dims:
            raise TypeError(
                "a result of %s is %s: its size depends on values, but JAX asks for sizes that follow from those of the arguments. Pad it to a fixed size, or set its shape (`set_shape`)"
                % (tracing.called(pair._f), tracing.shown(y))
            )
        found.append(jax.ShapeDtypeStruct(tuple(dims), y.dtype.as_numpy_dtype))
    return tuple(found)
