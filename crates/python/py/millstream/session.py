"""Sessions: `Session` and `InteractiveSession`. The running itself is the engine's."""

from __future__ import annotations

from typing import Any, List, Optional

from millstream import _engine
from millstream.framework import Graph, get_default_graph


class BaseSession(_engine.Session):
    """What both kinds of session are."""

    def __new__(cls, target: str = "", graph: Optional[Graph] = None, config: Any = None) -> "BaseSession":
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError("graph must be a tf.Graph, but got %s" % type(graph))
        if not isinstance(target, (str, bytes)):
            raise TypeError("target must be a string, but got %s" % type(target))
        if config is not None and type(config).__name__ != "ConfigProto":
            raise TypeError("config must be a tf.ConfigProto, but got %s" % type(config))
        threads, one, timeout = None, False, None
        if config is not None:
            inter, intra = config.inter_op_parallelism_threads, config.intra_op_parallelism_threads
            threads = (max(inter, intra) or None) if inter >= 0 else 1
            one = intra == 1
            timeout = config.operation_timeout_in_ms or None
        session = super().__new__(cls, graph or get_default_graph(), threads, one, timeout)
        session._config = config
        session._target = target
        return session

    @property
    def graph_def(self) -> Any:
        """The graph's message."""
        return self.graph.as_graph_def()

    @property
    def sess_str(self) -> str:
        """The session's target."""
        return self._target

    def as_default(self) -> Any:
        """Makes this the default session within a `with` block; it is not closed after it."""
        return _AsDefault(self)

    def explain(self, fetches: Any = None, feed_dict: Any = None) -> Any:
        """Tells what a run would do; without fetches, what the session holds. Nothing is run.

        Args:
          fetches: as those of `run`.
          feed_dict: what would be fed: a dictionary as that of `run` (its values are not looked at), or a list of tensors. Placeholders that are
            needed and not among them are named.

        Returns:
          A report that prints, and shows itself in a notebook, as a table: for all that is outside of loops, and for each loop, how many nodes
          there are and what becomes of them, how many iterations may be alive at a time, how often it goes round at most where constants say;
          below it the kernels that run, and what is computed beforehand. Or: variables, queues with what is in them and who waits, memory.
          `rows`, `notes` and `nodes` are the same as lists.

        Example: `print(sess.explain(loss, [x, y]))`
        """
        return self._explain(fetches, None if feed_dict is None else list(feed_dict))

    def progress(self, file: Any = None) -> Any:
        """A block in which runs that this thread calls, and that take longer than half a second, show how far they are.

        They tell the loop, how many iterations are over (and of how many, where constants, feeds or `maximum_iterations` say), how many there are in a
        second, and the time: on the standard error or `file` in one line that changes (a line every ten seconds where it is no
        terminal), in notebooks in the cell's output.

        Example: `with sess.progress(): sess.run(train_op)`
        """
        from millstream.progress import ProgressBlock

        return ProgressBlock(self, file)

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return "<tf.%s over %r, %s>" % (type(self).__name__, self.graph, state)

    def list_devices(self) -> List[Any]:
        """The devices: one CPU."""
        from millstream.devices import DeviceSpec

        return [DeviceSpec.from_string("/job:localhost/replica:0/task:0/device:CPU:0")]


class _AsDefault:
    """A session as the default, entered and left."""

    def __init__(self, session: BaseSession) -> None:
        self._session = session

    def __enter__(self) -> BaseSession:
        _engine.push_session(self._session)
        return self._session

    def __exit__(self, *why: Any) -> None:
        _engine.pop_session(self._session)


class Session(BaseSession):
    """Runs a graph: `with tf.Session() as sess: sess.run(y, {x: 1})`."""

    def __enter__(self) -> "Session":
        _engine.push_graph(self.graph)
        _engine.push_session(self)
        return self

    def __exit__(self, *why: Any) -> None:
        _engine.pop_session(self)
        _engine.pop_graph(self.graph)
        self.close()


class InteractiveSession(BaseSession):
    """A session that is the default from the start, until it is closed."""

    def __init__(self, target: str = "", graph: Optional[Graph] = None, config: Any = None) -> None:
        _engine.push_session(self)
        self._explicit = graph
        if graph is not None:
            _engine.push_graph(graph)

    def close(self) -> None:
        """Ends the session."""
        super().close()
        for pop, item in ((_engine.pop_graph, self._explicit), (_engine.pop_session, self)):
            if item is not None:
                try:
                    pop(item)
                except RuntimeError:
                    pass  # Closed out of order; the stack is the thread's.


def get_default_session() -> Optional[BaseSession]:
    """The session that `eval` and `run` use."""
    return _engine.default_session()
