"""`Pair`: a function with its gradient as a run in two parts, for programs that differentiate on their own.

`forward` computes values, and keeps what the gradient needs of them; `backward` computes the gradient for
given cotangents, any number of times, without computing the values again. The gradient is itself a function
of the arguments and the cotangents (`derivative`), so it has a `Pair`, too: that is how PyTorch and JAX get
derivatives of higher order.
"""

from __future__ import annotations

import collections
import functools
import itertools
import threading
from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy as np

from millstream import _engine
from millstream._engine import Tensor
from millstream.framework import Graph, placeholder
from millstream.framework.session import Session
from millstream.func import nests, tracing
from millstream.func.calls import TracedRun
from millstream.func.derivatives import gradients_of, numeric_vjp, symbolic_vjp
from millstream.func.functions import Function, Lowered


class Pair(Function):
    """A function of leaves (arrays and numbers, by position), and its gradient.

    Args:
      f: A function of tensors that returns a structure of tensors.
      has_aux: If true, `f` returns a pair, and only the first of it is differentiated.
      fixed_sizes: As in `func.function`.

    Example:
      >>> from millstream.func.pairs import Pair
      >>> pair = Pair(lambda x: tf.exp(x) * x)
      >>> values, residuals = pair.forward([np.float64(0.0)])
      >>> print(values[0], residuals.backward([np.float64(10.0)])[0], residuals.backward([np.float64(1.0)])[0])
      0.0 10.0 1.0
    """

    def __init__(self, f: Callable[..., Any], has_aux: bool = False, fixed_sizes: bool = False) -> None:
        super().__init__(f, [], [], fixed_sizes)
        self._has_aux = has_aux
        self._derivative: Optional[Pair] = None

    def __reduce__(self) -> Any:
        return Pair, (self._f, self._has_aux, self._fixed_sizes)

    def forward(self, leaves: Sequence[Any]) -> Tuple[List[Any], Any]:
        """Returns the values as a list of arrays, and residuals.

        Their `backward` takes a list of cotangents of the values of floating point, and returns those of the
        leaves of floating point.
        """
        split = self.of(leaves).split
        return split.forward(self._arguments(tuple(leaves), {}).leaves)

    def of(self, leaves: Sequence[Any]) -> "Differentiated":
        """Returns the graph for such leaves."""
        return self._run_of(tuple(leaves), {}).trace

    def derivative(self, n: int) -> "Pair":
        """Returns the gradient as a function of `n` leaves and of cotangents, by position."""
        with self._lock:
            if self._derivative is None:
                self._derivative = Pair(_Derivative(self, n), fixed_sizes=self._fixed_sizes)
            return self._derivative

    def _traced(self, args: Tuple[Any, ...], kwargs: Any, kinds: List[Any]) -> TracedRun:
        graph = Graph()
        with graph.as_default(), tracing.active(tracing.Kinds([dtype for dtype, _ in kinds])):
            inputs = [placeholder(dtype, dims, name="arg%d" % i) for i, (dtype, dims) in enumerate(kinds)]
            result = self._f(*inputs)
            outputs = tracing.tensors(result, "the result of %s" % tracing.called(self._f))
            targets = tracing.effects(graph)
            ys = outputs[: len(nests.flatten(result[0]))] if self._has_aux else outputs
            late = [y for y in ys if y.dtype.is_floating or y.dtype.is_complex]
            xs = [x for x in inputs if x.dtype.is_floating or x.dtype.is_complex]
            cotangents = [placeholder(y.dtype.base_dtype, y.shape, name="cotangent%d" % i) for i, y in enumerate(late)]
            grads = gradients_of(late, xs, cotangents)
        graph.finalize()
        session = Session(graph=graph)
        split = _engine.SplitRun(session, inputs, outputs, targets, cotangents, grads)
        lowered = Differentiated(self, graph, session, inputs, outputs, result)
        lowered.split, lowered.cotangents, lowered.gradients = split, cotangents, grads
        lowered.differentiable = [i for i, x in enumerate(inputs) if x in xs]
        lowered.with_cotangents = [i for i, y in enumerate(outputs) if any(y is z for z in late)]
        return TracedRun(session, inputs, outputs, targets, nests.pack(result, range(len(outputs))), lowered)


class Differentiated(Lowered):
    """A function lowered to a graph that computes its gradient, too."""

    split: Any
    cotangents: List[Tensor]
    gradients: List[Tensor]
    # The places of the inputs and outputs that take part.
    differentiable: List[int]
    with_cotangents: List[int]

    @property
    def structure(self) -> Any:
        """The structure of the results."""
        return self._structure


class _Derivative:
    """The gradient of a pair as a function."""

    def __init__(self, of: Pair, n: int) -> None:
        self._of, self._n = of, n
        self.__wrapped__ = of._f

    def __call__(self, *given: Tensor) -> Tuple[Tensor, ...]:
        leaves, cotangents = list(given[: self._n]), list(given[self._n :])
        places = [i for i, x in enumerate(leaves) if x.dtype.is_floating or x.dtype.is_complex]

        def of_floats(*xs: Tensor) -> Any:
            for place, x in zip(places, xs):
                leaves[place] = x
            result = self._of._f(*leaves)
            flat = tracing.tensors(result[0] if self._of._has_aux else result, "the result")
            return [y for y in flat if y.dtype.is_floating or y.dtype.is_complex]

        _, back = symbolic_vjp(of_floats, [leaves[i] for i in places], False)
        return tuple(back(cotangents))


@functools.lru_cache(maxsize=64)
def _pair_of(f: Any, has_aux: bool, pack: Any) -> Pair:
    def of(*leaves: Tensor) -> Any:
        return f(*pack.args(leaves))

    of.__wrapped__ = f  # type: ignore[attr-defined]
    return Pair(of, has_aux)


class _Packing:
    """How leaves are packed to arguments; equal packings have equal structures."""

    def __init__(self, args: Any) -> None:
        self._args = nests.pack(args, [0] * len(nests.flatten(args)))
        self._hash = hash(repr(nests.form(args)))

    def args(self, leaves: Sequence[Any]) -> Any:
        """Returns the arguments."""
        return nests.pack(self._args, leaves)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, _Packing) and nests.alike(self._args, other._args)


def _numeric_vjp(f: Any, primals: Sequence[Any], has_aux: bool) -> Any:
    leaves = nests.flatten(list(primals))
    pair = _pair_of(f, has_aux, _Packing(list(primals)))
    of = pair.of(leaves)
    paths = [path for i, primal in enumerate(primals) for path in nests.paths(primal, "argument %d" % i)]
    for i, (x, path) in enumerate(zip(of.inputs, paths)):
        if i not in of.differentiable:
            raise TypeError("vjp of %s: %s is %s, which has no derivative. Pass a floating-point value (3.0 instead of 3)" % (tracing.called(f), path, tracing.shown(x)))
    result = of.structure[0] if has_aux else of.structure
    n = len(nests.flatten(result))
    for y, path in zip(of.outputs[:n], nests.paths(result, "the result of %s" % tracing.called(f))):
        if not (y.dtype.is_floating or y.dtype.is_complex):
            raise TypeError("vjp: %s is %s, which has no derivative. Return it beside the values, with `has_aux=True`" % (path, tracing.shown(y)))
    values, residuals = pair.forward(leaves)
    whole = nests.pack(of.structure, [v[()] for v in values])

    def back(cotangents: Any) -> Any:
        if not nests.alike(cotangents, result):
            raise ValueError(
                "the cotangents have the structure %r, but %s returned %r: give one for each value" % (nests.form(cotangents), tracing.called(f), nests.form(result))
            )
        given = nests.flatten(cotangents)
        for c, value, path in zip(given, values, nests.paths(result, "the cotangent")):
            if np.shape(c) != np.shape(value):
                raise ValueError("%s has the shape %s, but the value that %s returned has %s: they must be the same" % (path, np.shape(c), tracing.called(f), np.shape(value)))
        found = residuals.backward(given)
        return nests.pack(tuple(primals), [g[()] for g in found])

    return (whole[0], back, whole[1]) if has_aux else (whole, back)


numeric_vjp.append(_numeric_vjp)


class Store:
    """Residuals by number, for programs that can only hand on arrays.

    A number is given back once; the oldest residuals make room for new ones. Who finds none computes the
    gradient from the arguments.
    """

    def __init__(self, most: int = 64) -> None:
        self._most, self._kept, self._numbers = most, collections.OrderedDict(), itertools.count(1)  # type: ignore[var-annotated]
        self._lock = threading.Lock()

    def put(self, residuals: Any) -> int:
        """Keeps residuals, and returns their number."""
        with self._lock:
            number = next(self._numbers)
            self._kept[number] = residuals
            dropped = self._kept.popitem(last=False) if self._most < len(self._kept) else None
        del dropped
        return number

    def take(self, number: int) -> Optional[Any]:
        """Returns the residuals of a number, and forgets them; None if they are not there any more."""
        with self._lock:
            return self._kept.pop(number, None)
