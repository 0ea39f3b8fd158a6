"""Calls of traced functions: `Traced` finds the graph for the arguments of a call, `TracedRun` runs it.

The *key* of a call is what a graph is made for: the structure of the arguments, dtypes and ranks, and the
values of static arguments.
"""

from __future__ import annotations

import collections
import collections.abc
import os
import threading
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from millstream._engine import Operation, Tensor, asarray
from millstream.framework import dtypes, logging
from millstream.func import advice, nests, tracing

_WIDE_FLOATS = (np.dtype(np.float64), np.dtype(np.complex128))
_WIDE_INT = np.dtype(np.int64)
_generic = np.generic


class Arguments:
    """The key of a call's arguments, and their leaves."""

    __slots__ = ("key", "leaves", "symbolic", "wide_float", "wide_int")

    def __init__(self) -> None:
        self.key: List[Any] = []
        self.leaves: List[Any] = []
        self.symbolic = self.wide_float = self.wide_int = False

    def add(self, value: Any) -> None:
        """Adds an argument or a part of one."""
        kind = type(value)
        if kind is np.ndarray:
            self.array(value)
        elif kind is float or kind is bool or kind is complex:
            self.key.append(kind)
            self.leaves.append(value)
        elif kind is int:
            self.integer(value)
        elif kind is tuple or kind is list:
            self.key.append((kind, len(value)))
            for item in value:
                self.add(item)
        elif kind is dict:
            self.mapping(value)
        elif value is None:
            self.key.append(None)
        elif isinstance(value, Tensor):
            self.symbolic = True
            self.key.append(Tensor)
        else:
            self.unusual(value)

    def array(self, value: Any) -> None:
        """Adds an array. Sizes are added to the key by the caller that wants them."""
        dtype = value.dtype
        self.key.append((dtype.num, dtype.byteorder, value.ndim))
        if dtype in _WIDE_FLOATS:
            self.wide_float = True
        elif dtype == _WIDE_INT:
            self.wide_int = True
        self.leaves.append(value)

    def integer(self, value: int) -> None:
        """Adds a Python int."""
        if not -(2**31) <= value < 2**31:
            if not -(2**63) <= value < 2**63:
                raise OverflowError("an argument is %d, which has more than 64 bits: pass a float" % value)
            self.wide_int = True
            self.key.append("long")
        else:
            self.key.append(int)
        self.leaves.append(value)

    def mapping(self, value: Any) -> None:
        """Adds a dict."""
        try:
            keys = sorted(value)
        except TypeError:
            raise TypeError("an argument is a dict whose keys cannot be sorted: %r. Use keys of one type, such as str" % (list(value),)) from None
        self.key.append((type(value), *keys))
        for key in keys:
            self.add(value[key])

    def unusual(self, value: Any) -> None:
        """Adds a value of another type than the common ones."""
        if isinstance(value, _generic):
            self.array(np.asarray(value))
        elif nests.is_structure(value):
            if isinstance(value, collections.abc.Mapping):
                self.mapping(value)
                return
            parts = nests.parts(value)
            self.key.append((type(value), len(parts), *nests.static(value)))
            for part in parts:
                self.add(part)
        elif isinstance(value, float):
            self.key.append(float)
            self.leaves.append(float(value))
        elif isinstance(value, int):
            self.integer(int(value))
        elif not isinstance(value, type) and any(hasattr(value, name) for name in ("__dlpack__", "__array__", "__array_interface__")):
            self.array(asarray(value))
        else:
            raise NoArray(value)


class NoArray(TypeError):
    """An argument that is neither a number nor an array."""

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.value = value

    def told(self, args: Any, kwargs: Any, may_be_static: bool = True) -> TypeError:
        """Returns the error that names the argument."""
        place = "an argument"
        for i, arg in enumerate(args):
            place = next((p for leaf, p in zip(nests.flatten(arg), nests.paths(arg, "argument %d" % i)) if leaf is self.value), place)
        for name, arg in kwargs.items():
            place = next((p for leaf, p in zip(nests.flatten(arg), nests.paths(arg, "argument `%s`" % name)) if leaf is self.value), place)
        advice = "Pass arrays, numbers, or dicts, lists and tuples of them"
        if may_be_static:
            advice += "; other values can be static arguments (`static_argnums`, `static_argnames`)"
        shown = "%.60r (of type %s)" % (self.value, type(self.value).__name__)
        return TypeError("%s is %s, which is neither a number, an array, nor a structure of them. %s" % (place, shown, advice))


def _unknown_dtype(leaves: Sequence[Any]) -> str:
    """Returns the name of the first dtype that tensors do not have."""
    for leaf in leaves:
        try:
            dtypes.as_dtype(getattr(leaf, "dtype", np.int32))
        except TypeError:
            return str(leaf.dtype)
    return "another dtype"


def hashable(value: Any, place: str) -> None:
    """Raises an error if a static argument has no hash."""
    try:
        hash(value)
    except TypeError:
        raise TypeError(
            "%s is static but got %.60r (of type %s), which has no hash because it can change. Give a value such as a tuple, a str or a frozen dataclass"
            % (place, value, type(value).__name__)
        ) from None


def static_key(args: Sequence[Any], kwargs: Dict[str, Any], positions: Any, names: Any) -> Tuple[Any, ...]:
    """Returns what the static arguments of a call are known by."""
    found = [(i, type(args[i]), args[i], "argument %d" % i) for i in sorted(positions) if i < len(args)]
    found += [(k, type(kwargs[k]), kwargs[k], "argument `%s`" % k) for k in sorted(names & set(kwargs))]  # type: ignore[misc]
    for *_, value, place in found:
        hashable(value, place)
    return tuple(found)


class Traced:
    """A Python function as a graph for each key. The base class of `Function`."""

    _trace: Callable[..., Any]
    _inline: Callable[..., Any]

    def __init__(self, positions: Sequence[int], names: Sequence[str], fixed_sizes: bool, most: int) -> None:
        self._positions, self._names = frozenset(positions), frozenset(names)
        self._fixed_sizes, self._most = fixed_sizes, max(1, most)
        self._runs: "collections.OrderedDict[Any, TracedRun]" = collections.OrderedDict()
        self._changing = threading.Lock()
        self._was_full = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if tracing.is_active():
                return self._inline(args, kwargs)
            given = self._arguments(args, kwargs)
            if given.symbolic:
                return self._inline(args, kwargs)
            run = self._find(given, args, kwargs)
        except Exception as error:
            advice.shorten(error)
            raise
        return run.call(given.leaves)

    def _arguments(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Arguments:
        given = Arguments()
        try:
            if not self._positions and not kwargs:
                for arg in args:
                    given.add(arg)
                given.key.append(len(args))
            else:
                for i, arg in enumerate(args):
                    self._static(given, arg, "argument %d" % i) if i in self._positions else given.add(arg)
                given.key.append(len(args))
                for name in sorted(kwargs):
                    given.key.append(name)
                    self._static(given, kwargs[name], "argument `%s`" % name) if name in self._names else given.add(kwargs[name])
        except NoArray as error:
            raise error.told(args, kwargs) from None
        if self._fixed_sizes:
            given.key.extend(np.shape(leaf) for leaf in given.leaves)
        return given

    @staticmethod
    def _static(given: Arguments, value: Any, place: str) -> None:
        if isinstance(value, Tensor):
            raise TypeError("%s is static but got %s, whose value is not known while the function is traced. Give a Python value, or do not declare it static" % (place, value))
        hashable(value, place)
        # Values of different types may be equal: 1 and True.
        given.key.append((type(value), value))

    def _find(self, given: Arguments, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> "TracedRun":
        key = (*given.key, os.getpid())
        run = self._runs.get(key)
        if run is None:
            return self._trace(key, args, kwargs, self._kinds(given))
        if len(self._runs) > self._most // 2:
            with self._changing:
                if key in self._runs:
                    self._runs.move_to_end(key)
        return run

    def _run_of(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> "TracedRun":
        try:
            return self._find(self._arguments(args, kwargs), args, kwargs)
        except Exception as error:
            advice.shorten(error)
            raise

    def _kinds(self, given: Arguments) -> List[Tuple[Any, List[Optional[int]]]]:
        """Returns the dtype and the sizes of each leaf."""
        try:
            arrays = [dtypes.as_dtype(leaf.dtype) for leaf in given.leaves if isinstance(leaf, np.ndarray)]
        except TypeError:
            raise TypeError("an argument is an array of %s, which tensors cannot hold: convert it, as by `x.astype(np.float64)`" % _unknown_dtype(given.leaves)) from None
        long = [dtypes.int64] if given.wide_int else []
        numbers = tracing.Kinds([*arrays, *long])
        found = []
        for leaf in given.leaves:
            if isinstance(leaf, np.ndarray):
                found.append((dtypes.as_dtype(leaf.dtype), list(leaf.shape) if self._fixed_sizes else [None] * leaf.ndim))
            else:
                found.append((dtypes.bool if isinstance(leaf, bool) else numbers.of(leaf), []))
        return found

    def _get(self, key: Any) -> Optional["TracedRun"]:
        return self._runs.get(key)

    def _put(self, key: Any, run: "TracedRun") -> None:
        with self._changing:
            full = len(self._runs) >= self._most
            while len(self._runs) >= self._most:
                self._runs.popitem(last=False)
            self._runs[key] = run
        if full and not self._was_full:
            self._was_full = True
            logging.warning(
                "%r is traced again and again, and keeps the latest %d graphs. Each structure, dtype and rank of the arguments has a graph, each value of a "
                "static argument, and each size with `fixed_sizes=True`. Do not declare static what changes in every call, or raise `cache_size`.",
                self,
                self._most,
            )

    def _forget(self) -> None:
        with self._changing:
            self._runs.clear()

    @property
    def _n_runs(self) -> int:
        return len(self._runs)


class TracedRun:
    """A prepared run of a traced function."""

    def __init__(
        self, session: Any, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation], structure: Any, trace: Any
    ) -> None:
        self.trace = trace
        self._structure, self._n = structure, len(fetches)
        self._one = type(structure) is int and not targets
        self._run = session.make_callable(fetches[0] if self._one else [*fetches, *targets], list(feeds))

    def call(self, leaves: Sequence[Any]) -> Any:
        """Runs the graph, and returns the results in their structure."""
        values = self._run(*leaves)
        return values if self._one else nests.pack(self._structure, values[: self._n])

    def flat(self, leaves: Sequence[Any]) -> List[Any]:
        """Runs the graph, and returns the results as a list."""
        values = self._run(*leaves)
        return [values] if self._one else values[: self._n]
