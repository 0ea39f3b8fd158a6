"""Lists of operations and tensors, control outputs, and the placeholders that the graph editor makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional

from millstream._engine import Operation, Tensor
from millstream.framework.conversion import placeholder
from millstream.framework.graph import Graph
from millstream.framework.graph_keys import GraphKeys

_PREFIX = "geph"


class ListView:
    """A read-only view of a list.

    Args:
      list_: The list.

    Raises:
      TypeError: `list_` is not a list.
    """

    def __init__(self, list_: List[Any]) -> None:
        if not isinstance(list_, list):
            raise TypeError("Expected a list, got: {}.".format(type(list_)))
        self._list = list_

    def __iter__(self) -> Iterator[Any]:
        return iter(self._list)

    def __len__(self) -> int:
        return len(self._list)

    def __bool__(self) -> bool:
        return bool(self._list)

    def __getitem__(self, index: Any) -> Any:
        return self._list[index]

    def __add__(self, other: Iterable[Any]) -> List[Any]:
        return [*self._list, *other]


def concatenate_unique(la: List[Any], lb: Iterable[Any]) -> List[Any]:
    """Adds the elements of `lb` that `la` lacks to it, in their order, and returns `la`.

    Args:
      la: A list.
      lb: Other elements.
    """
    seen = set(la)
    for item in lb:
        if item not in seen:
            seen.add(item)
            la.append(item)
    return la


def is_iterable(obj: Any) -> bool:
    """Returns whether a value is iterable and not a tensor.

    Args:
      obj: A value.
    """
    if isinstance(obj, Tensor):
        return False
    try:
        iter(obj)
    except Exception:  # Classes of the program may raise anything.
        return False
    return True


def flatten_tree(tree: Any, leaves: Optional[List[Any]] = None) -> List[Any]:
    """Returns the leaves of nested dictionaries and iterables.

    Args:
      tree: The structure, or a single leaf.
      leaves: A list to append to; by default a new one.
    """
    leaves = [] if leaves is None else leaves
    if isinstance(tree, dict):
        tree = list(tree.values())
    if is_iterable(tree):
        for child in tree:
            flatten_tree(child, leaves)
    else:
        leaves.append(tree)
    return leaves


def transform_tree(tree: Any, fn: Callable[[Any], Any], iterable_type: Any = tuple) -> Any:
    """Returns a structure like `tree`, with `fn` applied to its leaves.

    Args:
      tree: The structure, or a single leaf.
      fn: A function of a leaf.
      iterable_type: The type for iterables that are no sequences.
    """
    if not is_iterable(tree):
        return fn(tree)
    if isinstance(tree, dict):
        return type(tree)((key, transform_tree(child, fn)) for key, child in tree.items())
    children = [transform_tree(child, fn) for child in tree]
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*children)
    return type(tree)(children) if isinstance(tree, Sequence) else iterable_type(children)  # type: ignore[call-arg]


def check_graphs(*args: Any) -> None:
    """Raises an error if views are not of one graph.

    Args:
      *args: Objects with a `graph`, which may be None.

    Raises:
      ValueError: Two graphs differ.
    """
    graph = None
    for index, item in enumerate(args):
        if graph is None:
            graph = item.graph
        elif item.graph is not None and item.graph is not graph:
            raise ValueError("Argument[{}]: Wrong graph!".format(index))


def get_unique_graph(tops: Any, check_types: Any = None, none_if_empty: bool = False) -> Any:
    """Returns the graph of operations and tensors.

    Args:
      tops: Operations and tensors, or a graph.
      check_types: The types that are allowed; by default both.
      none_if_empty: Whether None is returned for an empty list.

    Raises:
      TypeError: `tops` is not iterable, or an item is of another type.
      ValueError: The items are of several graphs, or there are none.
    """
    if isinstance(tops, Graph):
        return tops
    if not is_iterable(tops):
        raise TypeError("{} is not iterable".format(type(tops)))
    types = (Operation, Tensor) if check_types is None else tuple(check_types) if is_iterable(check_types) else (check_types,)
    graph = None
    for top in tops:
        if not isinstance(top, types):
            raise TypeError("Expected a type in ({}), got: {}".format(", ".join(str(t) for t in types), type(top)))
        if graph is None:
            graph = top.graph
        elif graph is not top.graph:
            raise ValueError("Operation {} does not belong to given graph".format(top))
    if graph is None and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return graph


def _listed(items: Any, all_of: Callable[[Graph], List[Any]], kind: Any, check_graph: bool, allow_graph: bool, ignore_others: bool) -> List[Any]:
    if isinstance(items, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return all_of(items)
    items = items if is_iterable(items) else [items]
    if not items:
        return []
    if check_graph:
        get_unique_graph(items, check_types=None if ignore_others else kind)
    return [item for item in items if isinstance(item, kind)]


def make_list_of_op(ops: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False) -> List[Operation]:
    """Returns operations as a new list.

    Args:
      ops: An operation, an iterable of operations, or a graph, which gives all its operations.
      check_graph: Whether to check that the operations are of one graph.
      allow_graph: Whether `ops` may be a graph.
      ignore_ts: Whether to leave out tensors, instead of raising.

    Raises:
      TypeError: An item is not an operation.
      ValueError: The operations are of several graphs.

    Example:
      >>> op = tf.constant(1, name="one").op
      >>> [o.name for o in tf.contrib.graph_editor.make_list_of_op(op)]
      ['one']
    """
    return _listed(ops, lambda graph: graph.get_operations(), Operation, check_graph, allow_graph, ignore_ts)


def get_tensors(graph: Graph) -> List[Tensor]:
    """Returns all tensors of a graph: the outputs of its operations.

    Args:
      graph: The graph.

    Raises:
      TypeError: `graph` is not a graph.

    Example:
      >>> x = tf.constant(1, name="x")
      >>> [t.name for t in tf.contrib.graph_editor.get_tensors(tf.get_default_graph())]
      ['x:0']
    """
    if not isinstance(graph, Graph):
        raise TypeError("Expected a graph, got: {}".format(type(graph)))
    return [t for op in graph.get_operations() for t in op.outputs]


def make_list_of_t(ts: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False) -> List[Tensor]:
    """Returns tensors as a new list.

    Args:
      ts: A tensor, an iterable of tensors, or a graph, which gives all its tensors.
      check_graph: Whether to check that the tensors are of one graph.
      allow_graph: Whether `ts` may be a graph.
      ignore_ops: Whether to leave out operations, instead of raising.

    Raises:
      TypeError: An item is not a tensor.
      ValueError: The tensors are of several graphs.

    Example:
      >>> x = tf.constant(1, name="x")
      >>> tf.contrib.graph_editor.make_list_of_t([x, x.op], ignore_ops=True) == [x]
      True
    """
    return _listed(ts, get_tensors, Tensor, check_graph, allow_graph, ignore_ops)


def get_generating_ops(ts: Any) -> List[Operation]:
    """Returns the operations that compute tensors.

    Args:
      ts: A tensor or a list of tensors.

    Example:
      >>> x = tf.constant(1, name="x")
      >>> [op.name for op in tf.contrib.graph_editor.get_generating_ops([x])]
      ['x']
    """
    return [t.op for t in make_list_of_t(ts, allow_graph=False)]


def get_consuming_ops(ts: Any) -> List[Operation]:
    """Returns the operations that take tensors, each once.

    Args:
      ts: A tensor or a list of tensors.

    Example:
      >>> x = tf.constant(1)
      >>> y = tf.negative(x, name="y")
      >>> [op.name for op in tf.contrib.graph_editor.get_consuming_ops([x])]
      ['y']
    """
    found: List[Operation] = []
    for t in make_list_of_t(ts, allow_graph=False):
        concatenate_unique(found, t.consumers())
    return found


class ControlOutputs:
    """The control outputs of a graph's operations.

    Args:
      graph: The graph.

    Raises:
      TypeError: `graph` is not a graph.

    Example:
      >>> a = tf.no_op(name="a")
      >>> with tf.control_dependencies([a]):
      ...     b = tf.no_op(name="b")
      >>> outputs = tf.contrib.graph_editor.ControlOutputs(tf.get_default_graph())
      >>> [op.name for op in outputs.get(a)], list(outputs.get_all()) == [a], outputs.graph is a.graph
      (['b'], True, True)
      >>> outputs.update() is outputs
      True
    """

    def __init__(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise TypeError("Expected a tf.Graph, got: {}".format(type(graph)))
        self._graph = graph
        self._control_outputs: Dict[Operation, List[Operation]] = {}
        self._version: Optional[int] = None
        self._build()

    def update(self) -> ControlOutputs:
        """Reads the control edges again if the graph has new operations, and returns itself."""
        if self._version != self._graph.version:
            self._build()
        return self

    def _build(self) -> None:
        self._control_outputs.clear()
        for op in self._graph.get_operations():
            for before in op.control_inputs:
                concatenate_unique(self._control_outputs.setdefault(before, []), [op])
        self._version = self._graph.version

    def get_all(self) -> Dict[Operation, List[Operation]]:
        """Returns the control outputs by operation. Operations without any are left out."""
        return self._control_outputs

    def get(self, op: Operation) -> Sequence[Operation]:
        """Returns the operations that wait for `op`.

        Args:
          op: An operation.
        """
        return self._control_outputs.get(op, ())

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph


def scope_finalize(scope: str) -> str:
    """Returns a scope with a slash at its end, unless it is empty.

    Args:
      scope: The name of a scope.
    """
    return scope + "/" if scope and not scope.endswith("/") else scope


def scope_dirname(scope: str) -> str:
    """Returns a name up to its last slash, which is included.

    Args:
      scope: The name.
    """
    return scope[: scope.rfind("/") + 1]


def scope_basename(scope: str) -> str:
    """Returns a name after its last slash.

    Args:
      scope: The name.
    """
    return scope[scope.rfind("/") + 1 :]


def placeholder_name(t: Optional[Tensor] = None, scope: Optional[str] = None, prefix: str = _PREFIX) -> str:
    """Returns the name of a placeholder of the graph editor.

    Args:
      t: The tensor that the placeholder replaces, or None.
      scope: The scope of the placeholder; by default that of `t`.
      prefix: The first part of the name.

    Raises:
      TypeError: `t` is not a tensor.

    Example:
      >>> tf.contrib.graph_editor.placeholder_name(tf.constant(1, name="a/x"))
      'a/geph__x_0'
    """
    if t is None:
        return scope_finalize(scope or "") + prefix
    if not isinstance(t, Tensor):
        raise TypeError("Expected a tf.Tenfor, got: {}".format(type(t)))
    base = scope_basename(t.op.name)
    if not base.startswith(prefix + "__"):
        base = "{}__{}_{}".format(prefix, base, t.value_index)
    return (scope_dirname(t.op.name) if scope is None else scope_finalize(scope)) + base


def make_placeholder_from_tensor(t: Tensor, scope: Optional[str] = None, prefix: str = _PREFIX) -> Tensor:
    """Returns a placeholder of a tensor's dtype and shape.

    Args:
      t: The tensor.
      scope: The scope of the placeholder; by default that of `t`.
      prefix: The first part of its name.

    Example:
      >>> tf.contrib.graph_editor.make_placeholder_from_tensor(tf.constant([1.0], name="x"))
      <tf.Tensor 'geph__x_0:0' shape=(1,) dtype=float32>
    """
    return placeholder(dtype=t.dtype, shape=t.get_shape(), name=placeholder_name(t, scope=scope, prefix=prefix))


def make_placeholder_from_dtype_and_shape(dtype: Any, shape: Any = None, scope: Optional[str] = None, prefix: str = _PREFIX) -> Tensor:
    """Returns a placeholder named `geph`.

    Args:
      dtype: Its dtype.
      shape: Its shape, or None.
      scope: Its scope; by default none.
      prefix: The first part of its name.

    Example:
      >>> tf.contrib.graph_editor.ph(tf.float32, [2])
      <tf.Tensor 'geph:0' shape=(2,) dtype=float32>
    """
    return placeholder(dtype=dtype, shape=shape, name=placeholder_name(scope=scope, prefix=prefix))


def get_predefined_collection_names() -> List[str]:
    """Returns the keys of `tf.GraphKeys`."""
    return [getattr(GraphKeys, key) for key in dir(GraphKeys) if not (key.startswith("__") and key.endswith("__"))]


def find_corresponding_elem(target: Any, dst_graph: Graph, dst_scope: str = "", src_scope: str = "") -> Any:
    """Returns the tensor or operation of another graph with a similar name.

    Args:
      target: A tensor or an operation.
      dst_graph: The other graph.
      dst_scope: The scope to add to the name.
      src_scope: The scope to remove from it.

    Raises:
      ValueError: `target` is not in `src_scope`.
      TypeError: `target` is neither a tensor nor an operation.
    """
    name = target.name
    scope = scope_finalize(src_scope)
    if not name.startswith(scope):
        raise ValueError("{} does not start with {}".format(name, scope))
    name = scope_finalize(dst_scope) + name[len(scope) :]
    if isinstance(target, Tensor):
        return dst_graph.get_tensor_by_name(name)
    if isinstance(target, Operation):
        return dst_graph.get_operation_by_name(name)
    raise TypeError("Expected tf.Tensor or tf.Operation, got: {}".format(type(target)))


def find_corresponding(targets: Any, dst_graph: Graph, dst_scope: str = "", src_scope: str = "") -> Any:
    """Returns the tensors and operations of another graph with similar names.

    Args:
      targets: Nested tensors and operations.
      dst_graph: The other graph.
      dst_scope: The scope to add to the names.
      src_scope: The scope to remove from them.
    """
    return transform_tree(targets, lambda top: find_corresponding_elem(top, dst_graph, dst_scope, src_scope))
