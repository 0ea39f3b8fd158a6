"""Graphs, scopes and conversion: what every other module stands on.

Know `Graph` (with its `with` blocks and collections), `convert_to_tensor`, `name_scope`, and the composite values `IndexedSlices` and
`SparseTensor`. The engine does the work; here are TensorFlow's words for it.
"""

from __future__ import annotations

import collections
import contextlib
import re
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from millstream import _engine, dtypes, shapes
from millstream._engine import Operation, Tensor
from millstream._ops import op
from millstream.contexts import context_of
from millstream.dressing import Dressing, device_block, mapping_block, original_block

_VALID_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\-/]*$")
_VALID_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\-/]*$")


def check_scope_name(name: Optional[str]) -> None:
    """An error unless a name scope may have this name here; None may."""
    valid = _VALID_SCOPE_NAME if get_default_graph()._scope else _VALID_OP_NAME
    if name and not valid.match(name):
        raise ValueError("'%s' is not a valid scope name" % name)


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
            valid = _VALID_SCOPE_NAME if self._scope else _VALID_OP_NAME
            if not valid.match(name):
                raise ValueError("'%s' is not a valid scope name" % name)
            with self._name_scope(name) as scope:
                yield scope
            return
        self._roots.depth = getattr(self._roots, "depth", 0) + 1
        try:
            with self._exact_scope(""):
                yield ""
        finally:
            self._roots.depth -= 1

    def control_dependencies(self, control_inputs: Any) -> Any:
        """Operations made within the block run after these; None drops what the blocks around say."""
        if control_inputs is None:
            return self._without_control()
        return self._control_dependencies([self._control_input(item) for item in control_inputs])

    def _control_input(self, item: Any) -> Any:
        if isinstance(item, (Tensor, Operation)):
            return item
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


def _op_types() -> Any:
    if not _known_ops:
        _known_ops.update(_engine.op_names())
    return _known_ops


_known_ops: set = set()


def _is_int(text: str) -> bool:
    try:
        int(text)
    except ValueError:
        return False
    return True


def _op_to_colocate_with(value: Any, graph: Graph) -> Optional[Operation]:
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


class name_scope:
    """Names within the block are prefixed; `default_name` serves where `name` is None, `values` say the graph."""

    def __init__(self, name: Optional[str], default_name: Optional[str] = None, values: Any = None) -> None:
        self._name = default_name if name is None else name
        if name is None and default_name is None and values is not None:
            raise ValueError("At least one of name (%s) and default_name (%s) must be provided." % (name, default_name))
        self._values = values or ()
        self._stack: List[Any] = []

    @property
    def name(self) -> Optional[str]:
        """The name asked for."""
        return self._name

    def __enter__(self) -> str:
        graph = _graph_of(self._values)
        stack = contextlib.ExitStack()
        if graph is not None and graph is not get_default_graph():
            stack.enter_context(graph.as_default())
        scope = stack.enter_context((graph or get_default_graph()).name_scope(self._name))
        self._stack.append(stack)
        return scope

    def __exit__(self, *why: Any) -> None:
        self._stack.pop().close()


def _graph_of(values: Any) -> Optional[Graph]:
    found = None
    for value in values:
        graph = getattr(value, "graph", None)
        if isinstance(graph, Graph):
            if found is None:
                found, first = graph, value
            elif graph is not found:
                raise ValueError("%s must be from the same graph as %s." % (value, first))
    return found


# Conversion.

_conversions: Dict[int, List[Tuple[Any, Callable[..., Any]]]] = collections.defaultdict(list)


def register_tensor_conversion_function(base_type: Any, conversion_func: Callable[..., Any], priority: int = 100) -> None:
    """Values of these types become tensors by `conversion_func(value, dtype=, name=, as_ref=)`."""
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(t, type) for t in types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if any(issubclass(t, (int, float, complex, np.generic, np.ndarray)) for t in types):
        raise TypeError("Cannot register conversions for Python numeric types and NumPy scalars and arrays.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _conversions[priority].append((base_type, conversion_func))


def _registered(value: Any, dtype: Any, name: Optional[str], as_ref: bool) -> Any:
    for priority in sorted(_conversions):
        for base, function in _conversions[priority]:
            if isinstance(value, base):
                result = function(value, dtype=dtype, name=name, as_ref=as_ref)
                if result is not NotImplemented:
                    return result
    return NotImplemented


def _convert(value: Any, dtype: Any, name: Optional[str], as_ref: bool) -> Tensor:
    """What the engine asks for what is no number, text, array or list of them."""
    result: Any = NotImplemented
    convert = getattr(value, "_as_tensor", None)
    if convert is not None:
        result = convert(dtype=dtype, name=name, as_ref=as_ref)
    if result is NotImplemented and _conversions:
        result = _registered(value, dtype, name, as_ref)
    if result is NotImplemented and isinstance(value, shapes.TensorShape):
        result = _shape_tensor(value, dtype, name)
    if result is NotImplemented and isinstance(value, shapes.Dimension):
        if value.value is None:
            raise ValueError("Cannot convert an unknown Dimension to a Tensor: %s" % value)
        result = _engine.constant(value.value, dtype or dtypes.int32, name)
    if result is NotImplemented and isinstance(value, (list, tuple)):
        result = _packed(value, dtype, name)
    if result is NotImplemented:
        result = _engine.convert(value, dtype, name)
    if result is None and hasattr(value, "__array__"):
        result = _engine.convert(np.asarray(value), dtype, name)
    if result is None and hasattr(value, "__dlpack__"):
        result = _engine.convert(np.from_dlpack(value), dtype, name)
    if result is None:
        if value is None:
            raise ValueError("None values not supported.")
        raise TypeError(
            "Failed to convert object of type %s to Tensor. Contents: %s. Consider casting elements to a supported type." % (type(value), value)
        )
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(result.dtype.base_dtype):
        raise ValueError(
            "Tensor conversion requested dtype %s for Tensor with dtype %s: %r" % (dtypes.as_dtype(dtype).name, result.dtype.name, result)
        )
    return result


def _shape_tensor(shape: shapes.TensorShape, dtype: Any, name: Optional[str]) -> Tensor:
    if not shape.is_fully_defined():
        raise ValueError("Cannot convert a partially known TensorShape to a Tensor: %s" % shape)
    if dtype is not None and dtypes.as_dtype(dtype) not in (dtypes.int32, dtypes.int64):
        raise TypeError("Cannot convert a TensorShape to dtype: %s" % dtype)
    values = np.array(shape.as_list(), np.int64 if dtype == dtypes.int64 else np.int32)
    return _engine.constant(values, None, name or "shape_as_tensor")


def _packed(values: Any, dtype: Any, name: Optional[str]) -> Any:
    """A list with tensors in it: packed, its other elements of their dtype."""
    if dtype is None:
        dtype = _dtype_within(values)
    if dtype is None:
        flat = [v.value if isinstance(v, shapes.Dimension) else v for v in values]
        return _engine.convert(np.array(flat), None, name) if any(isinstance(v, shapes.Dimension) for v in values) else NotImplemented
    for value in _flat(values):
        if isinstance(value, Tensor) and value.dtype.base_dtype != dtype:
            raise TypeError("Cannot convert a list containing a tensor of dtype %r to %r (Tensor is: %r)" % (value.dtype.base_dtype, dtypes.as_dtype(dtype), value))
    with name_scope(name or "packed") as scope:
        elements = [_packed(v, dtype, str(i)) if isinstance(v, (list, tuple)) else convert_to_tensor(v, dtype, str(i)) for i, v in enumerate(values)]
        return op("Pack")(elements, name=scope)


def _flat(values: Any) -> Any:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        else:
            yield value


def _dtype_within(values: Any) -> Any:
    for value in values:
        if isinstance(value, (list, tuple)):
            found = _dtype_within(value)
            if found is not None:
                return found
        elif isinstance(value, Tensor) or hasattr(value, "_as_tensor"):
            return value.dtype.base_dtype
    return None


def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: Optional[str] = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
    as_ref: bool = False,
) -> Tensor:
    """`value` as a tensor: a tensor as it is, numbers, arrays and lists as a constant, a variable as its value."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and not dtype.is_compatible_with(value.dtype):
            raise ValueError("Tensor conversion requested dtype %s for Tensor with dtype %s: %r" % (dtype.name, value.dtype.name, value))
        return value
    hint = preferred_dtype if dtype_hint is None else dtype_hint
    if dtype is None and hint is not None:
        try:
            return convert_to_tensor(value, hint, name, as_ref=as_ref)
        except (TypeError, ValueError):
            pass
    if as_ref:
        return _convert(value, dtype, name, True)
    made = _engine.convert(value, dtype, name)
    return _convert(value, dtype, name, False) if made is None else made


def convert_to_tensor_or_indexed_slices(value: Any, dtype: Any = None, name: Optional[str] = None) -> Any:
    """As `convert_to_tensor`; slices stay what they are."""
    return value if isinstance(value, (IndexedSlices, SparseTensor)) else convert_to_tensor(value, dtype, name)


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: Optional[str] = None) -> Any:
    """As `convert_to_tensor`; sparse tensors and their values become `SparseTensor`s."""
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise RuntimeError("Sparse dtype: requested = %s, actual = %s" % (dtypes.as_dtype(dtype).name, value.dtype.name))
        return value
    return convert_to_tensor(value, dtype, name)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const", verify_shape: bool = False) -> Tensor:
    """A constant. With `shape`, a value of fewer elements is filled up with its last one."""
    if isinstance(value, Tensor):
        raise TypeError("Failed to convert object of type %s to Tensor. Contents: %s. Consider casting elements to a supported type." % (type(value), value))
    if shape is None:
        if isinstance(value, (shapes.TensorShape, shapes.Dimension)):
            return _convert(value, dtype, name, False)
        return _engine.constant(value, dtype, name)
    shape = shapes.TensorShape(shape)._known_dims()
    kind = None if dtype is None else dtypes.as_dtype(dtype).as_numpy_dtype
    array = value if isinstance(value, np.ndarray) else np.array(value)
    if verify_shape and array.shape != tuple(shape):
        raise TypeError("Expected Tensor's shape: %s, got %s." % (tuple(shape), array.shape))
    n = int(np.prod(shape, dtype=np.int64))
    if array.size > n:
        raise ValueError("Too many elements provided. Needed at most %d, but received %d" % (n, array.size))
    if dtype is None and not isinstance(value, np.ndarray):
        array = array.astype(np.float32) if array.dtype == np.float64 else array.astype(np.int32) if array.dtype == np.int64 else array
    elif kind is not None and kind is not np.object_ and kind is not object:
        if array.size and array.dtype.kind == "f" and np.dtype(kind).kind in "iu" and not isinstance(value, np.ndarray):
            return _engine.constant(value, dtype, name)  # Raises, as TensorFlow does.
        array = array.astype(kind)
    flat = array.ravel()
    if not flat.size:
        flat = np.zeros([n], flat.dtype)
    elif flat.size < n:
        flat = np.concatenate([flat, np.repeat(flat[-1:], n - flat.size)])
    return _engine.constant(flat.reshape(shape), dtype, name)


def placeholder(dtype: Any, shape: Any = None, name: Optional[str] = None) -> Tensor:
    """A tensor that is always fed."""
    if not isinstance(shape, shapes.TensorShape):
        try:
            shape = shapes.TensorShape(shape)
        except ValueError as error:
            raise ValueError("Error converting shape to a TensorShape: %s" % error) from None
    try:
        dtype = dtypes.as_dtype(dtype)
    except TypeError:
        raise TypeError("Expected DataType for argument 'dtype' not %r." % (dtype,)) from None
    return op("Placeholder")(dtype=dtype, shape=shapes.TensorShape(shape), name=name)


# Composite values.


class IndexedSlices:
    """Rows of a larger tensor: `values[i]` stands at `indices[i]`."""

    __millstream_operand__ = True

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Optional[Tensor] = None) -> None:
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    values = property(lambda self: self._values, doc="The rows.")
    indices = property(lambda self: self._indices, doc="Where each row stands.")
    dense_shape = property(lambda self: self._dense_shape, doc="The shape of the tensor that the rows are of, or None.")
    name = property(lambda self: self._values.name, doc="The name of the rows.")
    device = property(lambda self: self._values.device, doc="The device of the rows.")
    op = property(lambda self: self._values.op, doc="The operation that gives the rows.")
    dtype = property(lambda self: self._values.dtype, doc="The element type.")
    graph = property(lambda self: self._values.graph, doc="The graph.")

    @property
    def shape(self) -> shapes.TensorShape:
        """The shape of the whole, as far as it is known."""
        if self._dense_shape is None:
            return shapes.TensorShape(None)
        return constant_value_as_shape(self._dense_shape)

    def consumers(self) -> List[Operation]:
        """The operations that take the rows."""
        return self._values.consumers()

    def _as_tensor(self, dtype: Any = None, name: Optional[str] = None, as_ref: bool = False) -> Tensor:
        if self._dense_shape is None:
            raise ValueError("Tensor conversion requested for IndexedSlices without dense_shape: %s" % str(self))
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(self.dtype):
            raise ValueError("Tensor conversion requested dtype %s for IndexedSlices with dtype %s" % (dtypes.as_dtype(dtype).name, self.dtype.name))
        rows = op("StridedSlice")(self._dense_shape, [0], [1], [1], shrink_axis_mask=1)
        return op("UnsortedSegmentSum")(self._values, self._indices, rows, name=name)

    # A composite value, for `nest`.

    def _to_components(self) -> List[Tensor]:
        return [self.values, self.indices] + ([] if self.dense_shape is None else [self.dense_shape])

    def _from_components(self, components: Any) -> "IndexedSlices":
        return IndexedSlices(*components)

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else ", dense_shape=%s" % self._dense_shape
        return "IndexedSlices(indices=%s, values=%s%s)" % (self._indices, self._values, shape)

    def __neg__(self) -> "IndexedSlices":
        return IndexedSlices(-self.values, self.indices, self.dense_shape)


IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])
IndexedSlicesValue.__doc__ = "The value of `IndexedSlices`: arrays of rows and of where they are; `dense_shape` may be None."
_SparseTensorValue = collections.namedtuple("_SparseTensorValue", ["indices", "values", "dense_shape"])


class SparseTensorValue(_SparseTensorValue):
    """The value of a `SparseTensor`: three arrays."""

    __slots__ = ()


class SparseTensor:
    """A tensor given by its entries that are not zero."""

    __millstream_operand__ = True

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, dtypes.int64, "indices")
            self._values = values if isinstance(values, Tensor) else convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, dtypes.int64, "dense_shape")
        indices_shape = self._indices.shape.with_rank(2)
        values_shape = self._values.shape.with_rank(1)
        dense_shape_shape = self._dense_shape.shape.with_rank(1)
        shapes.Dimension(indices_shape[0]).merge_with(values_shape[0])
        shapes.Dimension(indices_shape[1]).merge_with(dense_shape_shape[0])

    indices = property(lambda self: self._indices, doc="Where the entries stand.")
    values = property(lambda self: self._values, doc="The entries.")
    dense_shape = property(lambda self: self._dense_shape, doc="The shape of the whole.")
    op = property(lambda self: self._values.op, doc="The operation that gives the entries.")
    dtype = property(lambda self: self._values.dtype, doc="The element type.")
    graph = property(lambda self: self._values.graph, doc="The graph.")

    @property
    def shape(self) -> shapes.TensorShape:
        """The shape of the whole, as far as it is known."""
        return constant_value_as_shape(self._dense_shape)

    def get_shape(self) -> shapes.TensorShape:
        """The shape of the whole, as far as it is known."""
        return self.shape

    @classmethod
    def from_value(cls, value: Any) -> "SparseTensor":
        """The tensor of a `SparseTensorValue`."""
        if not isinstance(value, (SparseTensorValue, SparseTensor)):
            raise TypeError("Neither a SparseTensor nor SparseTensorValue: %s." % value)
        return cls(value.indices, value.values, value.dense_shape)

    def eval(self, feed_dict: Any = None, session: Any = None) -> SparseTensorValue:
        """Its value, run in this session or the default one."""
        indices, values, shape = (session or _session()).run([self.indices, self.values, self.dense_shape], feed_dict)
        return SparseTensorValue(indices, values, shape)

    def __mul__(self, dense: Any) -> "SparseTensor":
        return self._with(op("SparseDenseCwiseMul")(self.indices, self.values, self.dense_shape, dense, name="mul"))

    __rmul__ = __mul__

    def __truediv__(self, dense: Any) -> "SparseTensor":
        return self._with(op("SparseDenseCwiseDiv")(self.indices, self.values, self.dense_shape, dense, name="truediv"))

    def _with(self, values: Tensor) -> "SparseTensor":
        return SparseTensor(self.indices, values, self.dense_shape)

    # A composite value, for `nest`.

    def _to_components(self) -> List[Tensor]:
        return [self.indices, self.values, self.dense_shape]

    def _from_components(self, components: Any) -> "SparseTensor":
        return SparseTensor(*components)

    def __str__(self) -> str:
        return "SparseTensor(indices=%s, values=%s, dense_shape=%s)" % (self._indices, self._values, self._dense_shape)


def _session() -> Any:
    session = _engine.default_session()
    if session is None:
        raise ValueError("Cannot evaluate tensor using `eval()`: No default session is registered. Use `with sess.as_default()` or pass an explicit session to `eval(session=sess)`")
    return session


def sparse_placeholder(dtype: Any, shape: Any = None, name: Optional[str] = None) -> SparseTensor:
    """A sparse tensor that is always fed."""
    dims = None if shape is None or isinstance(shape, Tensor) else shapes.TensorShape(shape).as_list()
    rank = None if dims is None else len(dims)
    if isinstance(shape, Tensor):
        rank = shapes.dimension_value(shape.shape.with_rank(1)[0])

    def part(kind: Any, size: List[Any], word: str) -> Tensor:
        return placeholder(kind, size, None if name is None else f"{name}/{word}")

    # A shape that is not known wholly is fed, too.
    if shape is None or dims is not None and None in dims:
        shape = part(dtypes.int64, [rank], "shape")
    elif dims is not None:
        shape = constant(dims, dtypes.int64)
    values = part(dtype, [None], "values")
    return SparseTensor(part(dtypes.int64, [None, rank], "indices"), values, shape)


def constant_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as an array, if it is known without running anything."""
    if not isinstance(tensor, Tensor):
        return None
    value = tensor.graph._known_value(tensor)
    if isinstance(value, bytes):
        value = np.array(value, object)
    if value is None and tensor.op.type in _FOLDED:
        parts = [constant_value(t) for t in tensor.op.inputs]
        if all(p is not None for p in parts):
            value = _FOLDED[tensor.op.type](tensor.dtype.as_numpy_dtype, *parts)
    return value


# What TensorFlow also knows, beside what the engine's shape rules ask for.
_FOLDED: Dict[str, Callable[..., Any]] = {
    "Cast": lambda dtype, x: np.asarray(x).astype(dtype),
    "Equal": lambda dtype, x, y: np.equal(x, y),
    "NotEqual": lambda dtype, x, y: np.not_equal(x, y),
}


def constant_value_as_shape(tensor: Tensor) -> shapes.TensorShape:
    """The shape that a tensor of ints says, as far as it is known."""
    value = constant_value(tensor)
    if value is None:
        n = shapes.dimension_value(tensor.shape.with_rank(1)[0])
        return shapes.TensorShape(None if n is None else [None] * n)
    return shapes.TensorShape([None if d == -1 else int(d) for d in np.atleast_1d(value)])


def _expand(item: Any, value: Any = None, partial: bool = False) -> Any:
    """Fetches and feeds of kinds that the engine does not know: what is run (or fed) instead, and how the values are put together.

    With `partial`, the tensors that are to be fed, as a list.
    """
    from millstream.session import conversion_of

    if partial:
        return _parts_to_feed(item)
    own = conversion_of(item)
    if own is not None:
        if value is not None:
            return list(own[2](item, value)), None  # type: ignore[misc]
        return own[1](item)
    if isinstance(item, SparseTensor):
        parts = [item.indices, item.values, item.dense_shape]
        return (_pairs(parts, list(value)), None) if value is not None else (parts, lambda v: SparseTensorValue(*v))
    if isinstance(item, IndexedSlices):
        parts = [item.values, item.indices] + ([] if item.dense_shape is None else [item.dense_shape])
        if value is not None:
            return _pairs(parts, [v for v in value if v is not None]), None
        return parts, lambda v: IndexedSlicesValue(*(v if len(v) == 3 else v + [None]))
    if isinstance(item, tuple) and value is not None:
        return _pairs(item, value), None
    if isinstance(item, bytes):
        return [(item.decode(), value)], None
    if hasattr(item, "_as_graph_element"):
        element = item._as_graph_element()
        if isinstance(element, (Tensor, Operation)):
            return ([(element, value)], None) if value is not None else ([element], lambda v: v[0])
        item = element
    fields = getattr(type(item), "__attrs_attrs__", None)
    if fields is not None and value is None:
        names = [f.name for f in fields]
        return [getattr(item, n) for n in names], lambda v: type(item)(**dict(zip(names, v)))
    if value is not None:
        raise TypeError("Cannot interpret feed_dict key as Tensor: Can not convert a %s into a Tensor." % type(item).__name__)
    raise TypeError(
        "Fetch argument %r has invalid type %r, must be a string or Tensor. (Can not convert a %s into a Tensor or Operation.)"
        % (item, type(item), type(item).__name__)
    )


def _pairs(keys: Any, values: Any) -> List[Tuple[Any, Any]]:
    """A structure that is fed, with as many values."""
    try:
        n = len(values)
    except TypeError:
        n = -1
    if n != len(keys):
        raise ValueError("a feed of %d parts needs as many values, not %r" % (len(keys), values))
    return list(zip(keys, values))


def _parts_to_feed(item: Any) -> List[Any]:
    from millstream.session import conversion_of

    own = conversion_of(item)
    if own is not None:
        return list(own[3](item))  # type: ignore[misc]
    if isinstance(item, (SparseTensor, IndexedSlices)):
        return item._to_components()
    if isinstance(item, (tuple, list)):
        return list(item)
    if isinstance(item, bytes):
        return [item.decode()]
    if hasattr(item, "_as_graph_element"):
        return [item._as_graph_element()]
    raise TypeError("Cannot interpret feed_list key as Tensor: Can not convert a %s into a Tensor." % type(item).__name__)
