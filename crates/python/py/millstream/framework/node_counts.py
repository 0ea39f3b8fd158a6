"""The number of nodes that TensorFlow would have made, from which an op without a seed derives one.

With `tf.set_random_seed` alone, TensorFlow seeds each random op by the number of nodes that were made before
it. Some functions make other numbers of nodes here; `counted_as` records the difference, so that later ops
get the seeds they have there.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Set

from millstream.framework.graph import get_default_graph


def count(graph: Any) -> int:
    """Returns the number of nodes that TensorFlow would have made."""
    for promised in graph.__dict__.pop("_nodes_promised", ()):
        count_more(graph, promised(graph))
    return len(graph) + getattr(graph, "_nodes_apart", 0)


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
