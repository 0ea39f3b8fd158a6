"""Loops and branches as TensorFlow's control flow contexts: what `Graph._get_control_flow_context()` and the collections `while_context` and
`cond_context` hold. They only tell; the engine keeps and builds them.
"""

from __future__ import annotations

from typing import Any, Dict, Optional


class ControlFlowContext:
    """A loop or a branch that a graph has."""

    _MESSAGE: Any  # The message of its kind, and the collection that it belongs to.

    def __init__(self, graph: Any, number: int, facts: Dict[str, Any]) -> None:
        self._graph, self._number, self._facts = graph, number, facts

    @property
    def graph(self) -> Any:
        """The graph."""
        return self._graph

    @property
    def name(self) -> str:
        """Its name: of a loop, that of its frame."""
        return self._facts["name"]

    @property
    def outer_context(self) -> Optional["ControlFlowContext"]:
        """The loop or branch around it."""
        return self._graph._context_object(self._facts["parent"])

    def _now(self, key: str) -> Any:
        # Of a loop that is still being built more is known later.
        return self._graph._contexts(self._number)[0][key]

    @property
    def pivot(self) -> Any:
        """What decides whether it runs (again)."""
        return self._now("pivot")

    def GetWhileContext(self) -> Optional["WhileContext"]:  # noqa: N802
        """The innermost loop that it is or lies in."""
        context: Optional[ControlFlowContext] = self
        while context is not None and not isinstance(context, WhileContext):
            context = context.outer_context
        return context

    def IsWhileContext(self) -> bool:  # noqa: N802
        """Whether it is a loop."""
        return isinstance(self, WhileContext)

    def IsCondContext(self) -> bool:  # noqa: N802
        """Whether it is a branch."""
        return isinstance(self, CondContext)

    def Enter(self) -> None:  # noqa: N802
        """Operations made from now on belong to it."""
        self._before = self._graph._context
        self._graph._set_context(self._number)

    def Exit(self) -> None:  # noqa: N802
        """Ends what `Enter` began."""
        self._graph._set_context(getattr(self, "_before", None))

    def __enter__(self) -> "ControlFlowContext":
        self.Enter()
        return self

    def __exit__(self, *why: Any) -> None:
        self.Exit()

    def __repr__(self) -> str:
        return "<%s '%s'>" % (type(self).__name__, self.name)

    def to_proto(self, export_scope: Optional[str] = None) -> Any:
        """The context as its message, as a `MetaGraphDef` has it."""
        from millstream import protos

        meta = protos.MetaGraphDef.FromString(self._graph._meta_graph_def())
        kind, collection = type(self)._MESSAGE
        for data in meta.collection_def[collection].bytes_list.value:
            message = getattr(protos, kind).FromString(data)
            if message.context_name == self.name:
                return message
        return None


class WhileContext(ControlFlowContext):
    """A loop."""

    _MESSAGE = ("WhileContextDef", "while_context")

    parallel_iterations = property(lambda self: self._facts["parallel_iterations"], doc="How many iterations may be alive at a time.")
    back_prop = property(lambda self: self._facts["back_prop"], doc="Whether gradients may go through.")
    swap_memory = property(lambda self: self._facts["swap_memory"], doc="Whether saved values may leave memory.")
    maximum_iterations = property(lambda self: self._facts["maximum_iterations"], doc="The bound on the number of iterations, or None.")
    loop_enters = property(lambda self: self._now("loop_enters"), doc="Where the loop variables enter.")
    loop_exits = property(lambda self: self._now("loop_exits"), doc="Where the loop variables leave.")


class CondContext(ControlFlowContext):
    """One side of a `cond`."""

    _MESSAGE = ("CondContextDef", "cond_context")

    pred = property(lambda self: self._facts["pred"], doc="What decides.")
    branch = property(lambda self: self._facts["branch"], doc="1 for the side taken if the predicate is true, 0 for the other.")


def context_of(graph: Any, number: int, facts: Dict[str, Any]) -> ControlFlowContext:
    """The object for what the engine says of a context."""
    return (CondContext if "pred" in facts else WhileContext)(graph, number, facts)
