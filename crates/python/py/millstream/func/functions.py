"""`function`: a Python function over tensors, called with arrays. See `millstream.func` for the rules."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import threading
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, Union

from millstream._engine import Tensor
from millstream.framework import Graph, placeholder
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.session import Session
from millstream.func import advice, nests, tracing
from millstream.func.calls import Traced, TracedRun

Argnums = Union[int, Iterable[int]]


_DEVICES = "there are no devices; calls run on the CPU"
_DONATION = "arguments are NumPy's arrays, which belong to the caller, and are read without a copy; leave it out"
# Arguments of `jax.jit`, `torch.compile` and `tf.function` that have no meaning here.
_REFUSED = {
    "backend": _DEVICES,
    "compiler_options": "`fixed_sizes=True` lets more loops run as compiled code",
    "device": _DEVICES,
    "donate_argnames": _DONATION,
    "donate_argnums": _DONATION,
    "dynamic": "sizes are open, unless `fixed_sizes=True`",
    "fullgraph": "a function is always one graph",
    "in_shardings": _DEVICES,
    "inline": "a function that is called in another one always becomes a part of it",
    "input_signature": "a function is traced for each structure, dtypes and ranks",
    "jit_compile": "loops run as compiled code where they can; `lower(..).explain()` tells which",
    "keep_unused": "arguments that are not used cost nothing",
    "mode": "there is one; `lower(..).explain()` tells how it runs",
    "out_shardings": _DEVICES,
}


def function(
    f: Optional[Callable[..., Any]] = None,
    *,
    static_argnums: Argnums = (),
    static_argnames: Union[str, Iterable[str]] = (),
    fixed_sizes: bool = False,
    cache_size: int = 64,
    **options: Any,
) -> Any:
    """Makes a function over tensors callable with arrays and numbers.

    `f` is written with operators, `tf.*`, `func.numpy` and the loops and branches of `tf.func`. It is called
    once for each structure, dtypes and ranks of the arguments, to build a graph; calls run the graph.

    Args:
      f: A function of tensors, or structures of them, that returns tensors or structures of them. Without it,
        a decorator is returned.
      static_argnums: The positions of arguments that are passed to `f` as they are. They must be hashable,
        and each value is traced separately.
      static_argnames: The names of such arguments. Positions and names imply each other.
      fixed_sizes: If true, sizes are part of a trace: the function is traced again for each. Loops over
        arrays then run as compiled code more often, and shapes are known while tracing.
      cache_size: The number of graphs that are kept; the least recently used makes room.
      **options: None. Those of `jax.jit` are refused by name, with what to use instead.

    Returns:
      A `Function`.

    Raises:
      TypeError: `f` is not callable, or has no argument of a static name.

    Example:
      >>> from millstream import func
      >>> @func.function
      ... def collatz(n):
      ...     step = lambda s: (func.cond(s[0] % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, s[0]), s[1] + 1)
      ...     return func.while_loop(lambda s: s[0] > 1, step, (n, 0))[1]
      >>> print(collatz(27), collatz(97))
      111 118
      >>> power = func.function(lambda x, n: x**n, static_argnums=1)
      >>> print(power(np.array([1.0, 2.0]), 3))
      [1. 8.]
    """
    for name in options:
        why = _REFUSED.get(name)
        raise TypeError("func.function has no argument `%s`%s" % (name, ": " + why if why else ": it takes `static_argnums`, `static_argnames`, `fixed_sizes` and `cache_size`"))
    if f is None:
        return functools.partial(
            function, static_argnums=static_argnums, static_argnames=static_argnames, fixed_sizes=fixed_sizes, cache_size=cache_size
        )
    if not callable(f):
        raise TypeError("func.function takes a function, but got %r (of type %s)" % (f, type(f).__name__))
    positions, names = _static(f, static_argnums, static_argnames)
    return Function(f, positions, names, fixed_sizes, cache_size)


def _static(f: Any, argnums: Argnums, argnames: Union[str, Iterable[str]]) -> Tuple[List[int], List[str]]:
    """Returns the positions and the names of static arguments; each implies the other."""
    positions = [argnums] if isinstance(argnums, int) else list(argnums)
    names = [argnames] if isinstance(argnames, str) else list(argnames)
    if not positions and not names:
        return [], []
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return positions, names
    placed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    positions = [i + len(placed) if i < 0 else i for i in positions]
    for name in names:
        if name not in [p.name for p in parameters] and not any(p.kind == p.VAR_KEYWORD for p in parameters):
            raise TypeError("%s has no argument `%s` that could be static: its arguments are %s" % (tracing.called(f), name, ", ".join("`%s`" % p.name for p in parameters)))
    if positions and len(placed) <= max(positions) and not any(p.kind == p.VAR_POSITIONAL for p in parameters):
        raise TypeError("%s has no argument %d that could be static: it takes %d" % (tracing.called(f), max(positions), len(placed)))
    implied = [placed[i].name for i in positions if i < len(placed) and placed[i].kind == inspect.Parameter.POSITIONAL_OR_KEYWORD]
    of_names = [i for i, p in enumerate(placed) if p.name in names]
    return sorted({*positions, *of_names}), sorted({*names, *implied})


class Function(Traced):
    """A Python function over tensors that is called with arrays, made by `func.function` and the derivatives.

    Calls of it in another function that is being traced, or with tensors of a graph, add its operations to
    that graph and return tensors. As an attribute of a class it is a method.

    Example:
      >>> from millstream import func
      >>> double = func.function(lambda x: {"twice": 2 * x})
      >>> print(double(np.float64(1.5)), double(3))
      {'twice': np.float64(3.0)} {'twice': np.int32(6)}
      >>> double.n_traces
      2
      >>> double.clear_cache()
      >>> double.n_traces
      0
    """

    __name__: str

    def __init__(self, f: Any, positions: List[int], names: List[str], fixed_sizes: bool = False, cache_size: int = 64) -> None:
        super().__init__(positions, names, fixed_sizes, cache_size)
        functools.update_wrapper(self, f)
        self._f, self._lock = f, threading.RLock()
        self._options = (positions, names, fixed_sizes, cache_size)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        # The graphs belong to the instance: its attributes are part of them.
        name = "_func_%d" % id(self)
        if not hasattr(instance, "__dict__"):
            raise TypeError(
                "`%s` is a method of %s, whose instances have no `__dict__` to keep its graphs in: add '__dict__' to `__slots__`, or call "
                "func.function on a bound method" % (self.__name__, type(instance).__name__)
            )
        held = instance.__dict__.get(name)
        if held is None:
            positions, names, fixed_sizes, cache_size = self._options
            bound = self._f.__get__(instance, owner)
            held = Function(bound, [i - 1 for i in positions if 0 < i], names, fixed_sizes, cache_size)
            instance.__dict__[name] = held
        return held

    @property
    def n_traces(self) -> int:
        """The number of graphs that are kept."""
        return self._n_runs

    def clear_cache(self) -> None:
        """Forgets all graphs."""
        self._forget()

    def lower(self, *args: Any, **kwargs: Any) -> "Lowered":
        """Returns what a call with such arguments runs. The values of the arguments do not matter.

        Args:
          *args: The positional arguments.
          **kwargs: The keyword arguments.

        Returns:
          A `Lowered`, with the graph, its picture and an account of how it runs.

        Example:
          >>> from millstream import func
          >>> lowered = func.function(lambda x: tf.exp(x) + 1.0).lower(np.float32(0.0))
          >>> [op.type for op in lowered.graph.get_operations()]
          ['Placeholder', 'Exp', 'Const', 'AddV2']
        """
        return self._run_of(args, kwargs).trace

    def __repr__(self) -> str:
        return "<func.Function %s>" % tracing.called(self._f)

    def __reduce__(self) -> Any:
        # A copy traces for itself. A decorated function is found by its name, as other functions are.
        found: Any = sys.modules.get(getattr(self, "__module__", ""))
        for name in getattr(self, "__qualname__", "").split("."):
            found = getattr(found, name, None)
        return self.__qualname__ if found is self else (type(self)._again, (self._f, *self._options))

    @classmethod
    def _again(cls, *given: Any) -> "Function":
        return cls(*given)

    def _inline(self, args: Tuple[Any, ...], kwargs: Optional[Dict[str, Any]]) -> Any:
        """Calls the function as part of the graph that is being built."""
        kwargs = kwargs or {}
        flat = [a.dtype for a in nests.flatten([self._dynamic(args, kwargs)]) if isinstance(a, Tensor)]
        inner = tracing.is_active()
        known = tracing.kinds() if inner else tracing.Kinds(flat)
        with contextlib.nullcontext() if inner else advice.given(tracing.called(self._f)), tracing.active(known):
            positions, names = self._positions, self._names
            new_args = [a if i in positions else _symbolic(a, "argument %d" % i) for i, a in enumerate(args)]
            new_kwargs = {k: v if k in names else _symbolic(v, "argument `%s`" % k) for k, v in kwargs.items()}
            result = self._f(*new_args, **new_kwargs)
            return nests.pack(result, tracing.tensors(result, "the result of %s" % tracing.called(self._f)))

    def _dynamic(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        positions, names = self._positions, self._names
        return [a for i, a in enumerate(args) if i not in positions], {k: v for k, v in kwargs.items() if k not in names}

    def _trace(self, key: Any, args: Tuple[Any, ...], kwargs: Optional[Dict[str, Any]], kinds: List[Any]) -> TracedRun:
        """Returns the run for a key, made by calling the function with placeholders of these kinds."""
        with self._lock:
            known = self._get(key)
            if known is not None:
                return known
            with advice.given(tracing.called(self._f)):
                run = self._traced(args, kwargs or {}, kinds)
            self._put(key, run)
            return run

    def _traced(self, args: Tuple[Any, ...], kwargs: Dict[str, Any], kinds: List[Any]) -> TracedRun:
        graph = Graph()
        numbers = tracing.Kinds([dtype for dtype, _ in kinds])
        with graph.as_default(), tracing.active(numbers):
            inputs = [placeholder(dtype, dims, name="arg%d" % i) for i, (dtype, dims) in enumerate(kinds)]
            new_args, new_kwargs = nests.pack(self._dynamic(args, kwargs), inputs)
            rest = iter(new_args)
            all_args = [a if i in self._positions else next(rest) for i, a in enumerate(args)]
            result = self._f(*all_args, **{k: new_kwargs.get(k, v) for k, v in kwargs.items()})
            outputs = tracing.tensors(result, "the result of %s" % tracing.called(self._f))
            _refuse_state(graph, self._f)
            _refuse_placeholders(graph, inputs, self._f)
            targets = tracing.effects(graph)
        graph.finalize()
        session = Session(graph=graph)
        lowered = Lowered(self, graph, session, inputs, outputs, result)
        return TracedRun(session, inputs, outputs, targets, nests.pack(result, range(len(outputs))), lowered)


def _symbolic(value: Any, root: str) -> Any:
    """Returns a structure with tensors for its leaves."""
    return nests.pack(value, tracing.tensors(value, root, "pass"))


def _refuse_state(graph: Any, f: Any) -> None:
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES) + graph.get_collection(GraphKeys.LOCAL_VARIABLES)
    if variables:
        raise ValueError(
            "%s makes the variable `%s`, but functions have no state: take the value as an argument, and return its next value"
            % (tracing.called(f), variables[0].op.name)
        )


def _refuse_placeholders(graph: Any, inputs: List[Tensor], f: Any) -> None:
    own = {x.op.name for x in inputs}
    for one in graph._operations():
        if one.type == "Placeholder" and one.name not in own:
            raise ValueError("%s makes the placeholder `%s`, which a call could not feed: take the value as an argument" % (tracing.called(f), one.name))


class Lowered:
    """A function lowered to a graph, for one structure, dtypes and ranks of its arguments.

    It prints as the account of `explain`, and shows itself as a picture in a notebook.

    Args:
      of: The function.
      graph: The graph.
      session: The session that runs it.
      inputs: The placeholders of the arguments, in order.
      outputs: The results, in order.
      structure: The structure of the results.

    Example:
      >>> from millstream import func
      >>> f = func.function(lambda x: func.while_loop(lambda y: y < 100.0, lambda y: y * y, x))
      >>> lowered = f.lower(3.0)
      >>> lowered.inputs, len(lowered.outputs)
      ([<tf.Tensor 'arg0:0' shape=() dtype=float32>], 1)
      >>> "while" in str(lowered.explain()) and lowered.svg().startswith("<svg")
      True
    """

    def __init__(self, of: Any, graph: Any, session: Any, inputs: List[Tensor], outputs: List[Tensor], structure: Any) -> None:
        self._of, self._structure = of, structure
        self.graph: Any = graph
        self.session: Any = session
        self.inputs: List[Tensor] = inputs
        self.outputs: List[Tensor] = outputs

    def explain(self) -> Any:
        """Returns an account of how the graph runs: nodes, loops, and which of them are compiled."""
        return self.session.explain(self.outputs, self.inputs)

    def svg(self) -> str:
        """Returns the graph as a picture, with loops and branches as boxes."""
        return self.graph.to_svg()

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        return str(self.explain())

    def __repr__(self) -> str:
        results = ", ".join(tracing.shown(t) for t in self.outputs)
        return "<func.Lowered %s: (%s) -> (%s), %d nodes>" % (
            tracing.called(self._of),
            ", ".join(tracing.shown(t) for t in self.inputs),
            results,
            len(self.graph),
        )
