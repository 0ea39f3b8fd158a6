"""`Graph`: its operations by name, its `with` blocks and collections, and what the default graph lends."""

from __future__ import annotations

import contextlib
import functools
import re
import threading
from typing import Any, Dict, List, Optional

from millstream import _engine
from millstream._engine import Operation, Tensor
from millstream._ops import op
from millstream.contexts import context_of
from millstream.dressing import Dressing, device_block, mapping_block, original_block

_VALID_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\-/]*$")
_VALID_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\-/]*$")


class Graph(_engine.Graph):
    """A graph of operations."""

    def __init__(self) -> None:
        self._collections: Dict[Any, List[Any]] = {}
        self._finalized = False
        self._dressing = Dressing(self)
        self._context_objects: List[Any] = []
        self._roots = threading.local()
        self._extras: Dict[str, Any] = {}

    def as_default(self) -> Any:
        """Makes this the default graph within a `with` block."""
        return _AsDefault(self)

    def finalize(self) -> None:
        """From here on adding an operation is an error."""
        self._finalized = True
        super().finalize()

    def _unsafe_unfinalize(self) -> None:
        """Takes `finalize` back."""
        self._finalized = False
        self._unfinalize()

    @property
    def finalized(self) -> bool:
        """Whether the graph can no longer be changed."""
        return self._finalized

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    @property
    def seed(self) -> Optional[int]:
        """The graph-level seed of random operations."""
        return self._seed

    @seed.setter
    def seed(self, seed: int) -> None:
        self._set_seed(seed)

    @property
    def building_function(self) -> bool:
        """False: functions are no graphs here."""
        return False

    # For people.

    def to_svg(self, limit: Optional[int] = 120, scope: Optional[str] = None) -> str:
        """The graph as a picture in SVG, with a box around each loop and each branch of a cond.

        Args:
          limit: how many boxes may be seen; in larger graphs name scopes are folded into one box each. None for all there is.
          scope: draw only what has names in this scope.

        Returns:
          The text of an SVG document. It needs no other program, has no scripts and fetches nothing.

        Example: `open("graph.svg", "w").write(tf.get_default_graph().to_svg())`
        """
        return self._svg(2**31 if limit is None else limit, scope)

    def _repr_svg_(self) -> str:
        return self._svg()

    def _repr_html_(self) -> str:
        return '<div style="overflow:auto;max-height:80vh">%s</div>' % self._svg()

    def __repr__(self) -> str:
        n = len(self)
        return "<tf.Graph with %d operation%s at 0x%x>" % (n, "" if n == 1 else "s", id(self))

    def switch_to_thread_local(self) -> None:
        """From here on the blocks (devices, control dependencies, ..) that a thread enters hold for what that thread makes."""
        self._dressing.switch_to_thread_local()
        self._switch_to_thread_local()

    def _dress(self) -> None:
        self._dressing.finish()

    @property
    def graph_def_versions(self) -> Any:
        """The versions of the graph's message."""
        from millstream import protos

        return protos.GraphDef.FromString(_engine.Graph()._graph_def(False)).versions

    def __reduce__(self) -> Any:
        raise TypeError("can't pickle Graph objects: send `graph.as_graph_def().SerializeToString()` and import it with `tf.import_graph_def`")

    # Loops and branches.

    def _context_object(self, number: Optional[int]) -> Any:
        """The object for the context of this number; None for none."""
        if number is None:
            return None
        known = len(self._context_objects)
        if known <= number:
            facts = self._contexts(known)
            self._context_objects += [context_of(self, known + i, f) for i, f in enumerate(facts)]
        return self._context_objects[number]

    def _get_control_flow_context(self) -> Any:
        """The loop or branch that operations are made in; None if none."""
        return self._context_object(self._context)

    def _set_control_flow_context(self, ctx: Any) -> None:
        """Makes operations in this loop or branch from now on; in none if None."""
        self._set_context(None if ctx is None else ctx._number)

    # Operations and tensors.

    def get_operations(self) -> List[Operation]:
        """All operations, in the order they were made."""
        return self._operations()

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation with this name."""
        if not isinstance(name, str):
            raise TypeError("Operation names are strings (or similar), not %s." % type(name).__name__)
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor with this name, `operation:0`."""
        if not isinstance(name, str):
            raise TypeError("Tensor names are strings (or similar), not %s." % type(name).__name__)
        return self.as_graph_element(name, allow_tensor=True, allow_operation=False)

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The tensor or operation that `obj` is, names, or converts to."""
        if not (allow_tensor or allow_operation):
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        types = "Tensor or Operation" if allow_tensor and allow_operation else "Tensor" if allow_tensor else "Operation"
        convert = getattr(obj, "_as_graph_element", None)
        if convert is not None:
            obj = convert()
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            if ":" in obj:
                if not allow_tensor:
                    raise ValueError("Name %s appears to refer to a Tensor, not a %s." % (repr(obj), types))
                return self._tensor_named(obj)
            return self._operation(obj) if allow_operation else self._refuse_operation_name(obj, types)
        if isinstance(obj, Tensor) and allow_tensor or isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError("%s %s is not an element of this graph." % (type(obj).__name__, obj))
            return obj
        raise TypeError("Can not convert a %s into a %s." % (type(obj).__name__, types))

    def _tensor_named(self, name: str) -> Tensor:
        parts = name.split(":")
        if len(parts) != 2 or not _is_int(parts[1]):
            raise ValueError(
                "The name %s looks a like a Tensor name, but is not a valid one. Tensor names must be of the form "
                '"<op_name>:<output_index>".' % repr(name)
            )
        return self._tensor(name)

    def _refuse_operation_name(self, name: str, types: str) -> Any:
        try:
            self._operation(name)
        except KeyError:
            what = "looks like an (invalid) Operation name, not a %s." % types
        else:
            what = "refers to an Operation, not a %s." % types
        raise ValueError('The name %s %s Tensor names must be of the form "<op_name>:<output_index>".' % (repr(name), what))

    def as_graph_def(self, from_version: Optional[int] = None, add_shapes: bool = False) -> Any:
        """The graph as a `GraphDef`."""
        from millstream import protos

        # As in TensorFlow 1.15, `from_version` leaves no nodes out.
        return protos.GraphDef.FromString(self._graph_def(add_shapes))

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """A name in the current scope that nobody else gets."""
        if mark_as_used:
            return self._unique_name(name)
        taken = {o.name.lower() for o in self._operations()}
        full, i = self._scope + name, 1
        while full.lower() in taken:
            full, i = "%s%s_%d" % (self._scope, name, i), i + 1
        return full

    def get_name_scope(self) -> Optional[str]:
        """The current name scope, without its closing slash; None right within a block of None."""
        return self._scope.rstrip("/") or (None if getattr(self._roots, "depth", 0) else "")

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether the tensor may be fed."""
        return not isinstance(tensor, Tensor) or self._may_feed(tensor)

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Whether it may be fetched."""
        return not isinstance(tensor_or_op, (Tensor, Operation)) or self._may_fetch(tensor_or_op)

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Marks the tensor as one that is not to be fed."""
        self._bar_feed(self.as_graph_element(tensor, allow_operation=False))

    def prevent_fetching(self, op: Operation) -> None:
        """Marks the operation as one that is not to be fetched."""
        self._bar_fetch(self.as_graph_element(op, allow_tensor=False))

    # Blocks.

    @contextlib.contextmanager
    def name_scope(self, name: Optional[str]) -> Any:
        """Names within the block are prefixed by `name/`; None and "" go back to the root, a name that ends in "/" is entered again."""
        if isinstance(name, bytes):
            name = name.decode()
        if name:
            if not isinstance(name, str):
                raise TypeError("expected string or bytes-like object as the name of a name scope, not %r" % (name,))
            self._check_scope_name(name)
            with self._name_scope(name) as scope:
                yield scope
            return
        self._roots.depth = getattr(self._roots, "depth", 0) + 1
        try:
            with self._exact_scope(""):
                yield ""
        finally:
            self._roots.depth -= 1

    def _check_scope_name(self, name: str) -> None:
        valid = _VALID_SCOPE_NAME if self._scope else _VALID_OP_NAME
        if not valid.match(name):
            raise ValueError("'%s' is not a valid scope name" % name)

    def control_dependencies(self, control_inputs: Any) -> Any:
        """Operations made within the block run after these; None drops what the blocks around say."""
        if control_inputs is None:
            return self._without_control()
        return self._control_dependencies([self._control_input(item) for item in control_inputs])

    def _control_input(self, item: Any) -> Any:
        if isinstance(item, (Tensor, Operation)):
            return item
        from millstream.framework.composites import IndexedSlices

        if isinstance(item, IndexedSlices):
            return item.op
        if isinstance(getattr(item, "handle", None), Tensor):
            return item.op  # Of a change of a variable, the change.
        return self.as_graph_element(item)

    def device(self, device_name_or_function: Any) -> Any:
        """Operations made within the block ask for this device: a name, a `DeviceSpec`, or a function of the operation that gives one."""
        return device_block(self, self._dressing, device_name_or_function)

    @contextlib.contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Any:
        """Operations made within the block belong where `op` is."""
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        op = _op_to_colocate_with(op, self)
        # What devices were asked for outside does not count inside.
        with self.device(None), self._dressing.beside(), self._colocation(op, ignore_existing):
            yield

    def _attr_scope(self, attr_map: Any) -> Any:
        """Operations made within the block have these attributes: `AttrValue`s, functions of the `NodeDef`, or None for none."""
        wanted = "attr_map must be a dictionary mapping strings to AttrValue protocol buffers"
        if not isinstance(attr_map, dict):
            raise TypeError(wanted)
        for name, value in attr_map.items():
            if not isinstance(name, str) or not (value is None or callable(value) or type(value).__name__ == "AttrValue"):
                raise TypeError(wanted + " or callables that emit AttrValue protocol buffers")
        return mapping_block(self._dressing, "attributes", attr_map)

    def _kernel_label_map(self, op_to_kernel_label_map: Any) -> Any:
        """Operations of these types made within the block ask for the kernels of these labels."""
        wanted = "op_to_kernel_label_map must be a dictionary mapping strings to strings"
        if not isinstance(op_to_kernel_label_map, dict):
            raise TypeError(wanted)
        if not all(isinstance(k, str) and isinstance(v, str) for k, v in op_to_kernel_label_map.items()):
            raise TypeError(wanted)
        return mapping_block(self._dressing, "labels", op_to_kernel_label_map)

    def _original_op(self, op: Any) -> Any:
        """Operations made within the block stand for `op`: a gradient's for what it is the gradient of."""
        return original_block(self._dressing, op)

    def gradient_override_map(self, op_type_map: Dict[str, str]) -> Any:
        """Operations of these types made within the block are differentiated by the gradients of these names."""
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        for key, value in op_type_map.items():
            if not (isinstance(key, str) and isinstance(value, str)):
                raise TypeError("op_type_map must be a dictionary mapping strings to strings, not %r: %r" % (key, value))
        return self._gradient_override(list(op_type_map.items()))

    @contextlib.contextmanager
    def container(self, container_name: str) -> Any:
        """Variables, queues and other resources of operations made within the block are kept in this container."""
        with self._container(container_name):
            yield container_name

    # Collections.

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Adds a value to the collection."""
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Adds a value to several collections."""
        names = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
        for name in names:
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> List[Any]:
        """The collection itself: changes to the list change it."""
        self._collect_contexts()
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: Optional[str] = None) -> List[Any]:
        """The values of a collection; with `scope` only those whose name it matches at the beginning."""
        self._collect_contexts()
        values = self._collections.get(name, [])
        if scope is None:
            return list(values)
        regex = re.compile(scope)
        return [v for v in values if hasattr(v, "name") and regex.match(v.name)]

    def _collect_contexts(self) -> None:
        """The engine keeps the loops and branches: the outermost ones of its own making are collections."""
        known = len(self._context_objects)
        if known < self._n_contexts:
            self._context_object(self._n_contexts - 1)
            for context in self._context_objects[known:]:
                if not context._facts["imported"] and context._facts["parent"] is None:
                    self._collections.setdefault(type(context)._MESSAGE[1], []).append(context)

    def _adopt_contexts(self, start: int) -> None:
        """Loops and branches of an imported graph, from number `start` on, that are to be in the collections as our own are."""
        self._collect_contexts()
        for context in self._context_objects[start:]:
            if context._facts["parent"] is None:
                self._collections.setdefault(type(context)._MESSAGE[1], []).append(context)

    def get_all_collection_keys(self) -> List[Any]:
        """The names of all collections."""
        self._collect_contexts()
        return [k for k in self._collections if isinstance(k, str)]

    @property
    def collections(self) -> List[Any]:
        """The names of all collections."""
        self._collect_contexts()
        return list(self._collections)

    def clear_collection(self, name: Any) -> None:
        """Empties a collection."""
        self._check_not_finalized()
        self._collections.pop(name, None)

    def create_op(
        self,
        op_type: str,
        inputs: Any,
        dtypes: Any = None,
        input_types: Any = None,
        name: Optional[str] = None,
        attrs: Optional[Dict[str, Any]] = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Makes an operation of this type with flat inputs."""
        self._check_not_finalized()
        for index, item in enumerate(inputs):
            if not isinstance(item, Tensor):
                raise TypeError("Input #%d is not a tensor: %s" % (index, item))
        if op_type not in _op_types():
            from millstream import errors

            raise errors.NotFoundError(None, None, "Op type not registered '%s' in binary: there is no such op" % op_type)
        with self.as_default():
            return op(op_type)._flat(list(inputs), attrs or {}, name)


class _AsDefault:
    """A graph as the default, entered and left."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __enter__(self) -> Graph:
        _engine.push_graph(self._graph)
        return self._graph

    def __exit__(self, *why: Any) -> None:
        _engine.pop_graph(self._graph)


@functools.lru_cache(maxsize=None)
def _op_types() -> frozenset:
    return frozenset(_engine.op_names())


def _is_int(text: str) -> bool:
    try:
        int(text)
    except ValueError:
        return False
    return True


def _op_to_colocate_with(value: Any, graph: Graph) -> Optional[Operation]:
    from millstream.framework.conversion import convert_to_tensor

    if value is None or isinstance(value, Operation):
        return value
    if isinstance(value, Tensor):
        return value.op
    handle = getattr(value, "handle", None)
    if isinstance(handle, Tensor):
        return handle.op
    element = graph.as_graph_element(value) if isinstance(value, str) else convert_to_tensor(value, as_ref=True)
    return element.op if isinstance(element, Tensor) else element


def get_default_graph() -> Graph:
    """The graph that new operations go to."""
    return _engine.default_graph()


def reset_default_graph() -> None:
    """Gives the thread a new default graph."""
    if _engine.graph_stack_depth():
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the nesting and create a new graph.")
    _engine.reset_default_graph()


def device(device_name_or_function: Any) -> Any:
    """`Graph.device` of the default graph."""
    return get_default_graph().device(device_name_or_function)


def control_dependencies(control_inputs: Any) -> Any:
    """`Graph.control_dependencies` of the default graph."""
    return get_default_graph().control_dependencies(control_inputs)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """`Graph.colocate_with` of the default graph."""
    return get_default_graph().colocate_with(op, ignore_existing)


def container(container_name: str) -> Any:
    """`Graph.container` of the default graph."""
    return get_default_graph().container(container_name)


def add_to_collection(name: Any, value: Any) -> None:
    """`Graph.add_to_collection` of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """`Graph.add_to_collections` of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: Optional[str] = None) -> List[Any]:
    """`Graph.get_collection` of the default graph."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> List[Any]:
    """`Graph.get_collection_ref` of the default graph."""
    return get_default_graph().get_collection_ref(key)
