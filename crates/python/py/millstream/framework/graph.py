"""`Graph`: its operations by name, its `with` blocks and collections, and the default graph's functions."""

from __future__ import annotations

import contextlib
import functools
import re
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple

from millstream import _engine
from millstream._engine import Operation, Tensor
from millstream.framework import errors, protos
from millstream.framework.contexts import context_of
from millstream.framework.dressing import Dressing, device_block, mapping_block, original_block
from millstream.framework.op_functions import op

_VALID_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\-/]*$")
_VALID_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\-/]*$")

# Registered by modules above: classes of values with several tensors and an `op`, and the conversion of other
# values.
_composites: Tuple[Any, ...] = ()
_convert_to_tensor: Callable[[Any], Any] = lambda value: value


def register_composite(kind: type) -> None:
    """Registers a class of values that `Graph.control_dependencies` accepts, by their `op`."""
    global _composites
    _composites += (kind,)


def register_conversion(convert: Callable[[Any], Any]) -> None:
    """Registers the conversion of other values for `Graph.colocate_with`."""
    global _convert_to_tensor
    _convert_to_tensor = convert


class Graph(_engine.Graph):
    """A graph of operations; any number of sessions may run it.

    Functions such as `tf.add` add operations to the default graph: that of the innermost `as_default` block
    of the thread, or else the thread's own. Operations are never removed.

    Example:
      >>> with tf.Graph().as_default() as g:
      ...     x = tf.placeholder(tf.float32, [], name="x")
      ...     with tf.name_scope("double"):
      ...         y = tf.multiply(x, 2.0, name="y")
      ...         print(g.get_name_scope())
      double
      >>> [op.name for op in g.get_operations()], g.unique_name("x")
      (['x', 'double/y/y', 'double/y'], 'x_1')
      >>> (g.get_tensor_by_name("double/y:0") is y, g.get_operation_by_name("x").type,
      ...  g.as_graph_element("x:0") is x)
      (True, 'Placeholder', True)
      >>> len(g.as_graph_def().node), g.graph_def_versions.producer > 0, g.seed, g.building_function
      (3, True, None, False)
      >>> g.is_feedable(x), g.is_fetchable(y)
      (True, True)
      >>> g.prevent_feeding(y)
      >>> g.prevent_fetching(x.op)
      >>> g.is_feedable(y), g.is_fetchable(x)
      (False, False)
      >>> g.add_to_collection("outputs", y)
      >>> g.add_to_collections(["outputs", "all"], x)
      >>> ([t.name for t in g.get_collection("outputs")], g.get_collection_ref("all") == [x],
      ...  sorted(g.collections) == sorted(g.get_all_collection_keys()))
      (['double/y:0', 'x:0'], True, True)
      >>> g.clear_collection("outputs")
      >>> g.finalize()
      >>> print(g.finalized, tf.Session(graph=g).run(y, {x: 3.0}))
      True 6.0
    """

    def __init__(self) -> None:
        self._collections: Dict[Any, List[Any]] = {}
        self._finalized = False
        self._unseeded = False
        self._dressing = Dressing(self)
        self._context_objects: List[Any] = []
        self._roots = threading.local()
        self._extras: Dict[str, Any] = {}

    def as_default(self) -> Any:
        """Makes this the default graph within a `with` block.

        Returns:
          A context manager that yields the graph.

        Example:
          >>> g = tf.Graph()
          >>> with g.as_default():
          ...     c = tf.constant(1)
          >>> c.graph is g, tf.get_default_graph() is g
          (True, False)
        """
        return _AsDefault(self)

    def finalize(self) -> None:
        """Makes the graph read-only: adding an operation is an error from here on.

        Example:
          >>> g = tf.Graph()
          >>> g.finalize()
          >>> with g.as_default():
          ...     tf.constant(1)
          Traceback (most recent call last):
            ...
          RuntimeError: Graph is finalized and cannot be modified...
        """
        self._finalized = True
        super().finalize()

    def _unsafe_unfinalize(self) -> None:
        """Undoes `finalize`."""
        self._finalized = False
        self._unfinalize()

    @property
    def finalized(self) -> bool:
        """Whether the graph is read-only."""
        return self._finalized

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    @property
    def seed(self) -> Optional[int]:
        """The graph-level random seed; None for no seed."""
        return None if self._unseeded else self._seed

    @seed.setter
    def seed(self, seed: Optional[int]) -> None:
        # The engine keeps the seed that was removed: random operations ask this attribute for theirs.
        self._unseeded = seed is None
        if seed is not None:
            self._set_seed(seed)

    @property
    def building_function(self) -> bool:
        """False: functions are not built as graphs here."""
        return False

    # Display.

    def to_svg(self, limit: Optional[int] = 120, scope: Optional[str] = None) -> str:
        """The graph as a picture in SVG, with a box around each loop and each branch of a cond.

        Args:
          limit: The largest number of boxes; in larger graphs each name scope is folded into one box. None
            draws all.
          scope: Draws only nodes in this name scope.

        Returns:
          The text of an SVG document without scripts or external references.

        Example:
          >>> y = tf.constant(1) + 2
          >>> tf.get_default_graph().to_svg()[:4]
          '<svg'
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
        """Makes the stacks of blocks (devices, control dependencies, ..) thread-local from here on.

        Example:
          >>> g = tf.Graph()
          >>> g.switch_to_thread_local()
          >>> with g.as_default(), g.device("/cpu:0"):
          ...     tf.constant(1).device
          '/device:CPU:0'
        """
        self._dressing.switch_to_thread_local()
        self._switch_to_thread_local()

    def _dress(self) -> None:
        self._dressing.finish()

    @property
    def graph_def_versions(self) -> Any:
        """The versions field of the graph's `GraphDef`."""
        return protos.GraphDef.FromString(_engine.Graph()._graph_def(False)).versions

    def __reduce__(self) -> Any:
        raise TypeError("can't pickle Graph objects: send `graph.as_graph_def().SerializeToString()` and import it with `tf.import_graph_def`")

    # Control-flow contexts.

    def _context_object(self, number: Optional[int]) -> Any:
        """The object for the context of this number; None for None."""
        if number is None:
            return None
        known = len(self._context_objects)
        if known <= number:
            facts = self._contexts(known)
            self._context_objects += [context_of(self, known + i, f) for i, f in enumerate(facts)]
        return self._context_objects[number]

    def _get_control_flow_context(self) -> Any:
        """The loop or branch that new operations are added to, or None."""
        return self._context_object(self._context)

    def _set_control_flow_context(self, ctx: Any) -> None:
        """Sets the loop or branch that new operations are added to; None for none."""
        self._set_context(None if ctx is None else ctx._number)

    # Operations and tensors.

    def get_operations(self) -> List[Operation]:
        """Returns all operations, in the order of their creation."""
        return self._operations()

    def get_operation_by_name(self, name: str) -> Operation:
        """Returns the operation with this name.

        Args:
          name: The operation's name.

        Returns:
          An `Operation`.

        Raises:
          KeyError: No operation has this name.
          TypeError: `name` is not a string.
          ValueError: `name` is a tensor's name.

        Example:
          >>> c = tf.constant(1, name="c")
          >>> tf.get_default_graph().get_operation_by_name("c").type
          'Const'
          >>> tf.get_default_graph().get_operation_by_name("d")
          Traceback (most recent call last):
            ...
          KeyError: "The name 'd' refers to an Operation not in the graph.\\n  help: did you mean `c`?"
        """
        if not isinstance(name, str):
            raise TypeError("Operation names are strings (or similar), not %s." % type(name).__name__)
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)

    def get_tensor_by_name(self, name: str) -> Tensor:
        """Returns the tensor with this name, of the form `operation:0`.

        Args:
          name: The tensor's name.

        Returns:
          A `Tensor`.

        Raises:
          KeyError: No tensor has this name.
          TypeError: `name` is not a string.
          ValueError: `name` is an operation's name.

        Example:
          >>> c = tf.constant(1, name="c")
          >>> tf.get_default_graph().get_tensor_by_name("c:0") is c
          True
        """
        if not isinstance(name, str):
            raise TypeError("Tensor names are strings (or similar), not %s." % type(name).__name__)
        return self.as_graph_element(name, allow_tensor=True, allow_operation=False)

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """Returns the tensor or operation that `obj` is, names, or converts to.

        Args:
          obj: A tensor, an operation, a name, or an object with `_as_graph_element`, such as a variable.
          allow_tensor: If true, the result may be a tensor.
          allow_operation: If true, the result may be an operation.

        Returns:
          A `Tensor` or an `Operation`.

        Raises:
          TypeError: `obj` is none of these, or of a kind that is not allowed.
          ValueError: `obj` belongs to another graph, or is a malformed name.
          KeyError: The graph has nothing with this name.

        Example:
          >>> c = tf.constant(1, name="c")
          >>> (tf.get_default_graph().as_graph_element("c").type,
          ...  tf.get_default_graph().as_graph_element("c:0") is c)
          ('Const', True)
        """
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
        """Returns the graph as a `GraphDef`.

        Args:
          from_version: Ignored, as in TensorFlow 1.15.
          add_shapes: If true, nodes list the static shapes of their outputs in the attribute
            `_output_shapes`.

        Returns:
          A `GraphDef`.

        Example:
          >>> c = tf.constant(1, name="c") + 2
          >>> [n.op for n in tf.get_default_graph().as_graph_def().node]
          ['Const', 'Const', 'AddV2']
        """
        # As in TensorFlow 1.15, `from_version` omits no nodes.
        return protos.GraphDef.FromString(self._graph_def(add_shapes))

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Returns a name in the current scope that no operation has.

        Args:
          name: The desired name.
          mark_as_used: If true, the name is taken from then on.

        Returns:
          The full name, with a numeric suffix if the desired one is taken.

        Example:
          >>> g = tf.Graph()
          >>> g.unique_name("x"), g.unique_name("x")
          ('x', 'x_1')
        """
        return self._unique_name(name, mark_as_used)

    def get_name_scope(self) -> Optional[str]:
        """The current name scope without its final slash; None directly within a `name_scope(None)` block."""
        return self._scope.rstrip("/") or (None if getattr(self._roots, "depth", 0) else "")

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether the tensor may be fed."""
        return not isinstance(tensor, Tensor) or self._may_feed(tensor)

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Whether the tensor or operation may be fetched."""
        return not isinstance(tensor_or_op, (Tensor, Operation)) or self._may_fetch(tensor_or_op)

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Forbids feeding the tensor."""
        self._bar_feed(self.as_graph_element(tensor, allow_operation=False))

    def prevent_fetching(self, op: Operation) -> None:
        """Forbids fetching the operation."""
        self._bar_fetch(self.as_graph_element(op, allow_tensor=False))

    # Blocks.

    @contextlib.contextmanager
    def name_scope(self, name: Optional[str]) -> Any:
        """Prefixes the names of operations made within the block with `name/`.

        Args:
          name: The scope's name, made unique. A name that ends in "/" enters that scope again; None or ""
            enters the root.

        Returns:
          A context manager that yields the prefix.

        Raises:
          TypeError: `name` is not a string.
          ValueError: `name` is not a valid name.

        Example:
          >>> g = tf.Graph()
          >>> with g.as_default(), g.name_scope("a") as scope:
          ...     print(scope, tf.constant(1, name="c").name)
          a/ a/c:0
          >>> with g.as_default(), g.name_scope("a"):
          ...     print(tf.constant(1, name="c").name)
          a_1/c:0
        """
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
        """Makes operations added within the block run after the given ones.

        Args:
          control_inputs: A list of operations, tensors and variables; None clears the dependencies of
            enclosing blocks.

        Returns:
          A context manager.

        Raises:
          TypeError: An element is not part of a graph.

        Example:
          >>> g = tf.get_default_graph()
          >>> first = tf.no_op(name="first")
          >>> with g.control_dependencies([first]):
          ...     then = tf.no_op(name="then")
          ...     with g.control_dependencies(None):
          ...         free = tf.no_op()
          >>> [op.name for op in then.control_inputs], free.control_inputs
          (['first'], [])
        """
        if control_inputs is None:
            return _Controls(self, self._without_control(), False)
        ops = [self._control_input(item) for item in control_inputs]
        block = self._control_dependencies(ops)
        return _Controls(self, block, True) if ops else block

    def _control_input(self, item: Any) -> Any:
        if isinstance(item, (Tensor, Operation)):
            return item
        if isinstance(item, _composites):
            return item.op
        if isinstance(getattr(item, "handle", None), Tensor):
            return item.op  # For an update of a variable: the update's operation.
        return self.as_graph_element(item)

    def device(self, device_name_or_function: Any) -> Any:
        """Requests a device for operations added within the block.

        Args:
          device_name_or_function: A device name, a `DeviceSpec`, or a function from an operation to one; None
            clears the requests of enclosing blocks.

        Returns:
          A context manager.

        Example:
          >>> with tf.get_default_graph().device("/cpu:0"):
          ...     tf.constant(1).device
          '/device:CPU:0'
        """
        return device_block(self, self._dressing, device_name_or_function)

    @contextlib.contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Any:
        """Colocates operations added within the block with `op`.

        Args:
          op: An operation, tensor or variable; None clears the colocation of enclosing blocks.
          ignore_existing: If true, the colocation of enclosing blocks does not apply.

        Returns:
          A context manager.

        Raises:
          ValueError: `op` is None, but `ignore_existing` is not True.

        Example:
          >>> a = tf.constant(1, name="a")
          >>> with tf.get_default_graph().colocate_with(a):
          ...     tf.constant(2).op.colocation_groups()
          [b'loc:@a']
        """
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        op = _op_to_colocate_with(op, self)
        # Device requests of enclosing blocks do not apply inside.
        with self.device(None), self._dressing.beside(), self._colocation(op, ignore_existing):
            yield

    def _attr_scope(self, attr_map: Any) -> Any:
        """Sets attributes of operations added within the block.

        Values are `AttrValue`s, functions of the `NodeDef`, or None to unset the attribute.
        """
        wanted = "attr_map must be a dictionary mapping strings to AttrValue protocol buffers"
        if not isinstance(attr_map, dict):
            raise TypeError(wanted)
        for name, value in attr_map.items():
            if not isinstance(name, str) or not (value is None or callable(value) or type(value).__name__ == "AttrValue"):
                raise TypeError(wanted + " or callables that emit AttrValue protocol buffers")
        return mapping_block(self._dressing, "attributes", attr_map)

    def _kernel_label_map(self, op_to_kernel_label_map: Any) -> Any:
        """Sets the kernel labels of operations of these types added within the block."""
        wanted = "op_to_kernel_label_map must be a dictionary mapping strings to strings"
        if not isinstance(op_to_kernel_label_map, dict):
            raise TypeError(wanted)
        if not all(isinstance(k, str) and isinstance(v, str) for k, v in op_to_kernel_label_map.items()):
            raise TypeError(wanted)
        return mapping_block(self._dressing, "labels", op_to_kernel_label_map)

    def _original_op(self, op: Any) -> Any:
        """Sets the original operation of those added within the block.

        The original of a gradient is the operation that it differentiates.
        """
        return original_block(self._dressing, op)

    def gradient_override_map(self, op_type_map: Dict[str, str]) -> Any:
        """Replaces the gradients of operation types within the block.

        Args:
          op_type_map: A dict from operation types to names registered with `RegisterGradient`.

        Returns:
          A context manager.

        Raises:
          TypeError: `op_type_map` is not a dict from strings to strings.

        Example:
          >>> @tf.RegisterGradient("ExampleDoubled")
          ... def _doubled(op, grad):
          ...     return 2 * grad
          >>> x = tf.constant(1.0)
          >>> with tf.get_default_graph().gradient_override_map({"Identity": "ExampleDoubled"}):
          ...     y = tf.identity(x)
          >>> print(tf.Session().run(tf.gradients(y, x)[0]))
          2.0
        """
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        for key, value in op_type_map.items():
            if not (isinstance(key, str) and isinstance(value, str)):
                raise TypeError("op_type_map must be a dictionary mapping strings to strings, not %r: %r" % (key, value))
        return self._gradient_override(list(op_type_map.items()))

    @contextlib.contextmanager
    def container(self, container_name: str) -> Any:
        """Keeps resources (variables, queues, ..) of operations added within the block in a named container.

        Args:
          container_name: The container's name.

        Returns:
          A context manager.

        Example:
          >>> with tf.get_default_graph().container("mine"):
          ...     tf.FIFOQueue(1, tf.int32).queue_ref.op.get_attr("container")
          b'mine'
        """
        with self._container(container_name):
            yield container_name

    # Collections.

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Adds a value to the collection.

        Args:
          name: The collection's name.
          value: Any object.
        """
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)
        # Queue runners: a run that waits for a queue names the runner that was not started.
        added = getattr(value, "_added_to_collection", None)
        if added is not None:
            added(self, name)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Adds a value to several collections, once each.

        Args:
          names: A collection's name, or a list of names.
          value: Any object.
        """
        names = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
        for name in names:
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> List[Any]:
        """Returns the collection itself: changes to the list change the collection."""
        self._collect_contexts()
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: Optional[str] = None) -> List[Any]:
        """Returns the values of a collection.

        Args:
          name: The collection's name.
          scope: A regular expression: selects items whose names it matches at the beginning.

        Returns:
          A new list.

        Example:
          >>> g = tf.get_default_graph()
          >>> g.add_to_collection("kept", tf.constant(1, name="a"))
          >>> g.add_to_collection("kept", tf.constant(2, name="b"))
          >>> [t.name for t in g.get_collection("kept", scope="b")]
          ['b:0']
        """
        self._collect_contexts()
        values = self._collections.get(name, [])
        if scope is None:
            return list(values)
        regex = re.compile(scope)
        return [v for v in values if hasattr(v, "name") and regex.match(v.name)]

    def _collect_contexts(self) -> None:
        """Adds the engine's outermost loops and branches to their collections."""
        known = len(self._context_objects)
        if known < self._n_contexts:
            self._context_object(self._n_contexts - 1)
            for context in self._context_objects[known:]:
                if not context._facts["imported"] and context._facts["parent"] is None:
                    self._collections.setdefault(type(context)._MESSAGE[1], []).append(context)

    def _adopt_contexts(self, start: int) -> None:
        """Adds an imported graph's outermost contexts, from number `start` on, to their collections."""
        self._collect_contexts()
        for context in self._context_objects[start:]:
            if context._facts["parent"] is None:
                self._collections.setdefault(type(context)._MESSAGE[1], []).append(context)

    def get_all_collection_keys(self) -> List[Any]:
        """Returns the names of all collections that are strings."""
        self._collect_contexts()
        return [k for k in self._collections if isinstance(k, str)]

    @property
    def collections(self) -> List[Any]:
        """The names of all collections."""
        self._collect_contexts()
        return list(self._collections)

    def clear_collection(self, name: Any) -> None:
        """Removes all values from a collection."""
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
        """Adds an operation of the given type with flat inputs.

        Args:
          op_type: The name of the operation type.
          inputs: A flat list of tensors.
          dtypes: Ignored: the engine infers dtypes.
          input_types: Ignored.
          name: A name for the operation.
          attrs: A dict from attribute names to `AttrValue`s.
          op_def: Ignored.
          compute_shapes: Ignored.
          compute_device: Ignored.

        Returns:
          An `Operation`.

        Raises:
          tf.errors.NotFoundError: No operation type has this name.
          TypeError: An input is not a tensor.
          ValueError: The inputs or attributes do not match the type's declaration.

        Example:
          >>> x = tf.constant([1.0, 2.0])
          >>> print(tf.Session().run(tf.get_default_graph().create_op("Neg", [x], name="minus").outputs[0]))
          [-1. -2.]
        """
        self._check_not_finalized()
        for index, item in enumerate(inputs):
            if not isinstance(item, Tensor):
                raise TypeError("Input #%d is not a tensor: %s" % (index, item))
        whole = name and name.rstrip("/") if not name or name.endswith("/") or not self._scope else "%s/%s" % (self._scope.rstrip("/"), name)
        if whole and not _VALID_OP_NAME.match(whole):
            raise ValueError("'%s' is not a valid node name" % whole)
        if op_type not in _op_types():
            raise errors.NotFoundError(None, None, "Op type not registered '%s' in binary: there is no such op" % op_type)
        with self.as_default():
            return op(op_type)._flat(list(inputs), attrs or {}, name)


class _Controls:
    """A block of control dependencies, which the graph remembers: gradients wait for them, too."""

    def __init__(self, graph: Graph, block: Any, waits: bool) -> None:
        self._graph, self._block, self._waits = graph, block, waits

    def __enter__(self) -> Any:
        self._before = getattr(self._graph, "_waits", False)
        entered = self._block.__enter__()
        self._graph._waits = self._waits  # type: ignore[attr-defined]
        return entered

    def __exit__(self, *error: Any) -> Any:
        self._graph._waits = self._before  # type: ignore[attr-defined]
        return self._block.__exit__(*error)


class _Emptied(threading.local):
    """The number of times that this thread's stack of graphs was emptied."""

    count = 0


_emptied = _Emptied()


def _empty_stack() -> None:
    """Leaves all graphs that this thread has entered. Tests do so when they begin."""
    if _engine.graph_stack_depth():
        _emptied.count += 1
    while _engine.graph_stack_depth():
        _engine.pop_graph(get_default_graph())


class _AsDefault:
    """The context manager that makes a graph the default."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __enter__(self) -> Graph:
        self._emptied = _emptied.count
        _engine.push_graph(self._graph)
        return self._graph

    def __exit__(self, *why: Any) -> None:
        # As in TensorFlow: a test that started within the block may have emptied the stack.
        if _emptied.count == self._emptied or _engine.graph_stack_depth():
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
    if value is None or isinstance(value, Operation):
        return value
    if isinstance(value, Tensor):
        return value.op
    handle = getattr(value, "handle", None)
    if isinstance(handle, Tensor):
        return handle.op
    element = graph.as_graph_element(value) if isinstance(value, str) else _convert_to_tensor(value)
    return element.op if isinstance(element, Tensor) else element


def get_default_graph() -> Graph:
    """Returns the graph that new operations are added to.

    Returns:
      The `Graph` of the innermost `as_default` block of this thread, or else the thread's own.

    Example:
      >>> c = tf.constant(1)
      >>> c.graph is tf.get_default_graph()
      True
    """
    return _engine.default_graph()


def reset_default_graph() -> None:
    """Gives the thread a new default graph; the old one keeps its operations.

    Raises:
      AssertionError: The thread is within an `as_default` block.

    Example:
      >>> old = tf.get_default_graph()
      >>> tf.reset_default_graph()
      >>> tf.get_default_graph() is old
      False
    """
    if _engine.graph_stack_depth():
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the nesting and create a new graph.")
    _engine.reset_default_graph()


def device(device_name_or_function: Any) -> Any:
    """Requests a device for operations added within the block: `Graph.device` of the default graph.

    Args:
      device_name_or_function: A device name, a `DeviceSpec`, a function from an operation to one, or None.

    Returns:
      A context manager.

    Example:
      >>> with tf.device("/cpu:0"):
      ...     tf.constant(1).device
      '/device:CPU:0'
    """
    return get_default_graph().device(device_name_or_function)


def control_dependencies(control_inputs: Any) -> Any:
    """Makes operations added within the block run after the given ones, in the default graph.

    Args:
      control_inputs: A list of operations, tensors and variables; None clears the dependencies of enclosing
        blocks.

    Returns:
      A context manager.

    Raises:
      TypeError: An element is not part of a graph.

    Example:
      >>> v = tf.Variable(1)
      >>> with tf.control_dependencies([v.assign_add(1)]):
      ...     after = v.read_value()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     print(sess.run(after))
      2
    """
    return get_default_graph().control_dependencies(control_inputs)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """Colocates operations added within the block with `op`: `Graph.colocate_with` of the default graph.

    Args:
      op: An operation, tensor or variable; None clears the colocation of enclosing blocks.
      ignore_existing: If true, the colocation of enclosing blocks does not apply.

    Returns:
      A context manager.

    Example:
      >>> a = tf.constant(1, name="a")
      >>> with tf.colocate_with(a):
      ...     tf.constant(2).op.colocation_groups()
      [b'loc:@a']
    """
    return get_default_graph().colocate_with(op, ignore_existing)


def container(container_name: str) -> Any:
    """Keeps resources made within the block in a named container: `Graph.container` of the default graph.

    Example:
      >>> with tf.container("mine"):
      ...     tf.FIFOQueue(1, tf.int32).queue_ref.op.get_attr("container")
      b'mine'
    """
    return get_default_graph().container(container_name)


def add_to_collection(name: Any, value: Any) -> None:
    """Adds a value to a collection of the default graph.

    Args:
      name: The collection's name.
      value: Any object.

    Example:
      >>> tf.add_to_collection("sizes", 3)
      >>> tf.get_collection("sizes")
      [3]
    """
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Adds a value to several collections of the default graph, once each.

    Args:
      names: A collection's name, or a list of names.
      value: Any object.

    Example:
      >>> tf.add_to_collections(["a", "b"], 3)
      >>> tf.get_collection("a"), tf.get_collection("b")
      ([3], [3])
    """
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: Optional[str] = None) -> List[Any]:
    """Returns the values of a collection of the default graph.

    Args:
      key: The collection's name.
      scope: A regular expression: selects items whose names it matches at the beginning.

    Returns:
      A new list.

    Example:
      >>> v = tf.Variable(1.0, name="v")
      >>> [v.name for v in tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)]
      ['v:0']
    """
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> List[Any]:
    """Returns a collection of the default graph itself: changes to the list change the collection.

    Example:
      >>> tf.get_collection_ref("sizes").append(3)
      >>> tf.get_collection("sizes")
      [3]
    """
    return get_default_graph().get_collection_ref(key)
