"""The number of nodes that TensorFlow would have made, from which an op without a seed derives one.

With `tf.set_random_seed` alone, TensorFlow seeds each random op by the number of nodes that were made before
it. Some functions make other numbers of nodes here; `counted_as` records the difference, so that later ops
get the seeds they have there.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, List, Set

from millstream.framework.graph import get_default_graph


def count(graph: Any) -> int:
    """Returns the number of nodes that TensorFlow would have made."""
    for promised in graph.__dict__.pop("_nodes_promised", ()):
        count_more(graph, promised(graph))
    functions: List[_Function] = graph.__dict__.get("_nodes_of_functions", [])
    if functions and not functions[0].has(graph._get_control_flow_context()):
        return functions[0].around + functions[0].n_outside(graph)
    return len(graph) + getattr(graph, "_nodes_apart", 0) - (functions[-1].n_outside(graph) if functions else 0)


def later(graph: Any, promised: Callable[[Any], int]) -> None:
    """Records a function that returns how many nodes more TensorFlow would have made.

    It is called if a seed asks for the count: most graphs never do.
    """
    graph.__dict__.setdefault("_nodes_promised", []).append(promised)


def remembered(graph: Any) -> Set[Any]:
    """Returns the shapes for which TensorFlow has nodes already, and makes no others."""
    known: Set[Any] = graph.__dict__.setdefault("_nodes_remembered", set())
    return known


def count_more(graph: Any, n: int) -> None:
    """Records that TensorFlow would have made `n` nodes more, or less if `n` is negative."""
    graph._nodes_apart = getattr(graph, "_nodes_apart", 0) + n


def also(n: int) -> None:
    """Records that TensorFlow would have made `n` nodes more in the default graph than are made here."""
    count_more(get_default_graph(), n)


@contextlib.contextmanager
def counted_as(n: int) -> Iterator[None]:
    """A block whose nodes count as `n`, the number that TensorFlow makes."""
    graph = get_default_graph()
    before = count(graph)
    yield
    count_more(graph, before + n - count(graph))


class _Function:
    """A body that is a function in TensorFlow. It counts its nodes from `start` on."""

    def __init__(self, graph: Any, around: int) -> None:
        self.around, self._first = around, len(graph)
        self._context = graph._get_control_flow_context()

    def has(self, context: Any) -> bool:
        """Returns whether a loop or branch is this one, or lies in it."""
        while context is not None and context is not self._context:
            context = context.outer_context
        return context is not None

    def n_outside(self, graph: Any) -> int:
        """The number of nodes made since outside of all functions, such as those of variables."""
        ways_in = ("Enter", "RefEnter", "Switch", "RefSwitch")
        return sum(o.type not in ways_in and not self.has(o._get_control_flow_context()) for o in graph._operations(self._first))


@contextlib.contextmanager
def counted_apart(graph: Any, start: int, around: int) -> Iterator[List[int]]:
    """A block in a loop or branch whose nodes are counted from `start` on, as those of their own graph.

    The graph around has `around` nodes. Yields a list. After the block it holds the number of nodes that the
    graph around counts.
    """
    count(graph)
    function = _Function(graph, around)
    functions = graph.__dict__.setdefault("_nodes_of_functions", [])
    apart = getattr(graph, "_nodes_apart", 0)
    graph._nodes_apart = start - len(graph)
    functions.append(function)
    outside: List[int] = []
    try:
        yield outside
        count(graph)
        if len(functions) == 1:
            outside.append(function.n_outside(graph))
    finally:
        functions.pop()
        graph._nodes_apart = apart
