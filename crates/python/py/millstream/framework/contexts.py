"""Loops and branches as TensorFlow's control flow contexts.

`Graph._get_control_flow_context()` and the collections `while_context` and `cond_context` hold these objects.
They are views: the engine builds and keeps the contexts.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

from millstream import _engine
from millstream.framework import protos
from millstream.framework.scopes import prepend_name_scope, strip_name_scope


class ControlFlowContext:
    """A loop or branch of a graph."""

    _MESSAGE: Any  # The message type, and the collection that contexts of this kind belong to.

    def __init__(self, graph: Any, number: int, facts: Dict[str, Any]) -> None:
        self._graph, self._number, self._facts = graph, number, facts

    @property
    def graph(self) -> Any:
        """The graph."""
        return self._graph

    @property
    def name(self) -> str:
        """The name; for a loop, that of its frame."""
        return self._facts["name"]

    @property
    def outer_context(self) -> Optional["ControlFlowContext"]:
        """The enclosing loop or branch, or None."""
        return self._graph._context_object(self._facts["parent"])

    def _now(self, key: str) -> Any:
        # Read again each time: some facts of a loop become known while it is built.
        return self._graph._contexts(self._number)[0][key]

    @property
    def pivot(self) -> Any:
        """The tensor that decides whether the context runs."""
        return self._now("pivot")

    def GetWhileContext(self) -> Optional["WhileContext"]:  # noqa: N802
        """Returns the innermost loop that this is or lies in, or None."""
        context: Optional[ControlFlowContext] = self
        while context is not None and not isinstance(context, WhileContext):
            context = context.outer_context
        return context

    def IsWhileContext(self) -> bool:  # noqa: N802
        """Returns whether this is a loop."""
        return isinstance(self, WhileContext)

    def IsCondContext(self) -> bool:  # noqa: N802
        """Returns whether this is a branch."""
        return isinstance(self, CondContext)

    def Enter(self) -> None:  # noqa: N802
        """Adds new operations to this context from here on."""
        self._before = self._graph._context
        self._graph._set_context(self._number)

    def Exit(self) -> None:  # noqa: N802
        """Ends the effect of `Enter`."""
        self._graph._set_context(getattr(self, "_before", None))

    def __enter__(self) -> "ControlFlowContext":
        self.Enter()
        return self

    def __exit__(self, *why: Any) -> None:
        self.Exit()

    def __repr__(self) -> str:
        return "<%s '%s'>" % (type(self).__name__, self.name)

    def to_proto(self, export_scope: Optional[str] = None) -> Any:
        """Returns the context as the message that a `MetaGraphDef` holds.

        Args:
          export_scope: A scope to leave out of names; None is returned for a context outside of it.
        """
        if export_scope and not self.name.startswith(export_scope):
            return None
        message = messages_of([self])[0]
        if export_scope and message is not None:
            _strip(message, export_scope)
        return message

    def to_control_flow_context_def(self, context_def: Any, export_scope: Optional[str] = None) -> None:
        """Writes the context to a `ControlFlowContextDef`."""
        kind = "while_ctxt" if self.IsWhileContext() else "cond_ctxt"
        getattr(context_def, kind).MergeFromString(self.to_proto(export_scope).SerializeToString())

    @classmethod
    def from_proto(cls, context_def: Any, import_scope: Optional[str] = None) -> "ControlFlowContext":
        """Returns the loop or branch of the default graph that a message describes.

        Raises:
          ValueError: The graph has none of the message's name.
        """
        graph: Any = _engine.default_graph()
        name = prepend_name_scope(context_def.context_name, import_scope)
        for number in range(graph._n_contexts):
            context = graph._context_object(number)
            if context.name == name and isinstance(context, cls):
                return context
        raise ValueError("The graph has no %s '%s'" % (cls.__name__, name))


class WhileContext(ControlFlowContext):
    """A loop."""

    _MESSAGE = ("WhileContextDef", "while_context")

    parallel_iterations = property(lambda self: self._facts["parallel_iterations"], doc="The largest number of iterations alive at a time.")
    back_prop = property(lambda self: self._facts["back_prop"], doc="Whether gradients may flow through.")
    swap_memory = property(lambda self: self._facts["swap_memory"], doc="The argument of this name, which has no effect.")
    maximum_iterations = property(lambda self: self._facts["maximum_iterations"], doc="The bound on the number of iterations, or None.")
    grad_state = property(lambda self: None, doc="None: the state of gradients lies in the engine.")
    loop_enters = property(lambda self: self._now("loop_enters"), doc="The `Enter` outputs of the loop variables.")
    loop_exits = property(lambda self: self._now("loop_exits"), doc="The `Exit` outputs of the loop variables.")


class CondContext(ControlFlowContext):
    """A branch of a `cond`."""

    _MESSAGE = ("CondContextDef", "cond_context")

    pred = property(lambda self: self._facts["pred"], doc="The predicate.")
    branch = property(lambda self: self._facts["branch"], doc="1 for the branch taken if the predicate is true, 0 for the other.")


def _strip(message: Any, scope: str) -> None:
    """Removes a scope from all names in a message."""
    for field, value in message.ListFields():
        if field.name == "external_values":
            pairs = [(strip_name_scope(name, scope), strip_name_scope(inside, scope)) for name, inside in value.items()]
            value.clear()
            value.update(pairs)
        elif field.type == field.TYPE_MESSAGE:
            for one in [value] if hasattr(value, "ListFields") else value:
                _strip(one, scope)
        elif isinstance(value, str):
            setattr(message, field.name, strip_name_scope(value, scope))
        elif field.type == field.TYPE_STRING:
            value[:] = [strip_name_scope(name, scope) for name in value]


def context_of(graph: Any, number: int, facts: Dict[str, Any]) -> ControlFlowContext:
    """Returns the object for the engine's description of a context."""
    return (CondContext if "pred" in facts else WhileContext)(graph, number, facts)


def messages_of(contexts: Sequence[Any]) -> List[Any]:
    """Returns the messages of contexts, None for those without one. Each graph is written only once."""
    written: Dict[Any, Dict[str, Any]] = {}
    found = []
    for context in contexts:
        kind, collection = type(context)._MESSAGE
        key = id(context._graph), kind
        if key not in written:
            meta = protos.MetaGraphDef.FromString(context._graph._meta_graph_def())
            messages = [getattr(protos, kind).FromString(data) for data in meta.collection_def[collection].bytes_list.value]
            written[key] = {message.context_name: message for message in reversed(messages)}
        found.append(written[key].get(context.name))
    return found
