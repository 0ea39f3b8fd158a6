"""Variables of both kinds: held by reference (the default, as in TensorFlow 1) and by resource handle."""

from __future__ import annotations

import contextlib
import functools
import threading
from typing import TYPE_CHECKING, Any, Callable, Optional

from millstream._engine import Operation, Tensor, default_session
from millstream.framework import (
    IndexedSlices,
    add_to_collections,
    control_dependencies,
    convert_to_tensor,
    dtypes,
    get_default_graph,
    name_scope,
    protos,
    shapes,
)
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.module import register_variables
from millstream.framework.op_functions import op
from millstream.framework.scopes import prepend_name_scope, strip_name_scope
from millstream.ops.control_flow import cond
from millstream.ops.indexing_ops import sliced
from millstream.variables.aggregation import VariableSynchronization, checked

if TYPE_CHECKING:
    from millstream.framework.types import TensorLike

__all__ = [
    "Variable",
    "VariableV1",
    "disable_resource_variables",
    "enable_resource_variables",
    "is_variable_initialized",
    "resource_variables_enabled",
    "variable_creator_scope",
]

_use_resource_by_default = False


def enable_resource_variables() -> None:
    """Makes variables use resource handles by default.

    Example:
      >>> tf.enable_resource_variables()
      >>> tf.Variable(1).op.type
      'VarHandleOp'
      >>> tf.disable_resource_variables()
    """
    global _use_resource_by_default
    _use_resource_by_default = True


def disable_resource_variables() -> None:
    """Makes variables be held by reference by default.

    Example:
      >>> tf.disable_resource_variables()
      >>> tf.Variable(1).op.type
      'VariableV2'
    """
    global _use_resource_by_default
    _use_resource_by_default = False


def resource_variables_enabled() -> bool:
    """Whether variables use resource handles by default.

    Example:
      >>> tf.resource_variables_enabled()
      False
    """
    return _use_resource_by_default


class _Creating(type):
    """The metaclass of `Variable`: calls the graph's `variable_creator_scope` functions first."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        creators = _creators() if cls is Variable else None
        if not creators:
            return super().__call__(*args, **kwargs)
        kwargs.update(zip(_ARGUMENTS, args))
        make: Any = lambda **given: type.__call__(cls, **given)  # noqa: E731
        for creator in creators:
            make = functools.partial(creator, make)
        return make(**{name: kwargs.get(name, default) for name, default in _ARGUMENTS.items()})


class _Creators(threading.local):
    """The functions of a graph's `variable_creator_scope` blocks that a thread is in, outermost first."""

    functions: Any = ()


def _creators() -> Any:
    return get_default_graph()._extras.setdefault("variable_creators", _Creators()).functions


# The constructor's arguments and defaults, in the order that creators receive them.
_ARGUMENTS: Any = dict(
    initial_value=None,
    trainable=None,
    collections=None,
    validate_shape=True,
    caching_device=None,
    name=None,
    variable_def=None,
    dtype=None,
    expected_shape=None,
    import_scope=None,
    constraint=None,
    use_resource=None,
    synchronization=None,
    aggregation=None,
    shape=None,
)


@contextlib.contextmanager
def variable_creator_scope(variable_creator: Any) -> Any:
    """Calls a function to make each variable that this thread makes within the block.

    Args:
      variable_creator: A function `variable_creator(next_creator, **arguments)` that returns the variable,
        usually by calling `next_creator(**arguments)`. The innermost block's function is called first.

    Returns:
      A context manager.

    Example:
      >>> def on_the_side(next_creator, **arguments):
      ...     arguments["trainable"] = False
      ...     return next_creator(**arguments)
      >>> with tf.variable_creator_scope(on_the_side):
      ...     v = tf.Variable(1.0)
      >>> v.trainable
      False
    """
    before = _creators()
    stack = get_default_graph()._extras["variable_creators"]
    stack.functions = (*before, variable_creator)
    try:
        yield
    finally:
        stack.functions = before


class Variable(metaclass=_Creating):
    """A tensor that a session keeps between runs.

    `tf.Variable(..)` makes a variable by reference (`VariableV2`); with `use_resource=True`, one behind a
    handle (`VarHandleOp`), whose reads and updates are ordered by control dependencies only. Both can be used
    wherever a tensor can. A variable has no value until its `initializer` has run.

    Args:
      initial_value: A tensor, a value that converts to one, or a function without arguments that returns it.
      trainable: If true (the default), the variable is added to the collection `trainable_variables`.
      collections: A list of the collections to add the variable to; by default `global_variables`.
      validate_shape: If true, the initial value must have a known shape, which the variable keeps.
      caching_device: The device of the copy that is read: a name or a function of the operation.
      name: The name; a numeric suffix is added if it is taken.
      variable_def: A `VariableDef`, instead of an initial value.
      dtype: The dtype; by default that of the initial value.
      expected_shape: Ignored.
      import_scope: The name scope that the graph of `variable_def` was imported into.
      constraint: A function of the value that optimizers apply after each update.
      use_resource: If true, the variable uses a resource handle.
      synchronization: With `tf.VariableSynchronization.ON_READ` variables are not trainable by default.
      aggregation: Ignored.
      shape: The static shape, if less specific than the initial value's.

    Raises:
      ValueError: There is no initial value, its shape is unknown, or an argument has the wrong type.

    Example:
      >>> v = tf.Variable([1.0, 2.0], name="v")
      >>> v.name, v.dtype, v.shape, v.get_shape(), v.trainable, v.device, v.constraint
      ('v:0', tf.float32_ref, TensorShape([Dimension(2)]), TensorShape([Dimension(2)]), True, '', None)
      >>> v.op.type, v.initializer.type, v.initial_value.op.type, v.graph is tf.get_default_graph()
      ('VariableV2', 'Assign', 'Const', True)
      >>> v.synchronization.name, v.aggregation.name
      ('AUTO', 'NONE')
      >>> more, fewer = v.assign_add([1.0, 1.0]), v.assign_sub([0.5, 0.5])
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     print(sess.run(v), sess.run(more), sess.run(fewer), v.eval())
      ...     print(*sess.run([v.value(), v.read_value(), v * 2]))
      [1. 2.] [2. 3.] [1.5 2.5] [1.5 2.5]
      [1.5 2.5] [1.5 2.5] [3. 5.]
    """

    __array_priority__ = 100
    _static_shape: shapes.TensorShape

    if TYPE_CHECKING:
        # Methods that each kind implements, and those that are set below.
        SaveSliceInfo: Any

        def batch_scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: Optional[str] = None) -> Any: ...
        def _make(self, initial: Any, name: Optional[str], dtype: Any, validate_shape: bool, shape: Any, caching_device: Any) -> None: ...
        def _ref(self) -> Tensor: ...
        def _scatter(self, what: str, slices: Any, name: Optional[str]) -> Any: ...
        def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: Optional[str] = None) -> Any: ...
        def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: Optional[str] = None) -> Any: ...
        def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: Optional[str] = None) -> Any: ...
        def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: Optional[str] = None) -> Any: ...
        def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: Optional[str] = None) -> Any: ...
        def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: Optional[str] = None) -> Any: ...
        def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: Optional[str] = None) -> Any: ...
        def __add__(self, other: TensorLike) -> Tensor: ...
        def __radd__(self, other: TensorLike) -> Tensor: ...
        def __sub__(self, other: TensorLike) -> Tensor: ...
        def __rsub__(self, other: TensorLike) -> Tensor: ...
        def __mul__(self, other: TensorLike) -> Tensor: ...
        def __rmul__(self, other: TensorLike) -> Tensor: ...
        def __truediv__(self, other: TensorLike) -> Tensor: ...
        def __rtruediv__(self, other: TensorLike) -> Tensor: ...
        def __floordiv__(self, other: TensorLike) -> Tensor: ...
        def __rfloordiv__(self, other: TensorLike) -> Tensor: ...
        def __mod__(self, other: TensorLike) -> Tensor: ...
        def __rmod__(self, other: TensorLike) -> Tensor: ...
        def __pow__(self, other: TensorLike) -> Tensor: ...
        def __rpow__(self, other: TensorLike) -> Tensor: ...
        def __matmul__(self, other: TensorLike) -> Tensor: ...
        def __rmatmul__(self, other: TensorLike) -> Tensor: ...
        def __lt__(self, other: TensorLike) -> Tensor: ...
        def __le__(self, other: TensorLike) -> Tensor: ...
        def __gt__(self, other: TensorLike) -> Tensor: ...
        def __ge__(self, other: TensorLike) -> Tensor: ...
        def __and__(self, other: TensorLike) -> Tensor: ...
        def __rand__(self, other: TensorLike) -> Tensor: ...
        def __or__(self, other: TensorLike) -> Tensor: ...
        def __ror__(self, other: TensorLike) -> Tensor: ...
        def __xor__(self, other: TensorLike) -> Tensor: ...
        def __rxor__(self, other: TensorLike) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...

    def __new__(cls, *args: Any, **kwargs: Any) -> "Variable":
        if cls is Variable:
            resource = kwargs.get("use_resource")
            if resource is None:
                resource = _scope_says()
            variable_def = kwargs.get("variable_def")
            if variable_def is not None:
                resource = variable_def.is_resource
            cls = ResourceVariable if resource else RefVariable
        return object.__new__(cls)

    def __init__(
        self,
        initial_value: Any = None,
        trainable: Optional[bool] = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: Optional[str] = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: Optional[str] = None,
        constraint: Any = None,
        use_resource: Optional[bool] = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        self._constraint = constraint
        self._save_slice_info = None
        self._synchronization, self._aggregation = checked(synchronization, aggregation, name)
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._from_def(variable_def, import_scope)
            return
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        if trainable is None:
            trainable = self._synchronization != VariableSynchronization.ON_READ
        self._trainable = trainable
        keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
        if not isinstance(keys, (list, tuple, set)):
            raise ValueError("collections argument to Variable constructor must be a list, tuple, or set. Got %s of type %s" % (keys, type(keys)))
        if self._trainable and GraphKeys.TRAINABLE_VARIABLES not in keys:
            keys = list(keys) + [GraphKeys.TRAINABLE_VARIABLES]
        self._graph = get_default_graph()
        self._validate_shape = validate_shape
        scope = self._graph._scope
        with self._graph._without_control(), self._graph._exact_scope(scope):
            self._make(initial_value, name, dtype, validate_shape, shapes.TensorShape(shape) if shape is not None else None, caching_device)
        add_to_collections(keys, self)

    # Members that both kinds have.

    name = property(lambda self: self._handle().name, doc="The name, such as `v:0`.")
    op = property(lambda self: self._handle().op, doc="The operation that holds the variable.")
    graph = property(lambda self: self._graph, doc="The graph.")
    device = property(lambda self: self._handle().device, doc="The device.")
    initializer = property(
        lambda self: self._initializer, doc="The operation that assigns the initial value."
    )
    initial_value = property(lambda self: self._initial_value, doc="The initial value.")
    trainable = property(lambda self: self._trainable, doc="Whether optimizers update the variable.")
    constraint = property(
        lambda self: self._constraint, doc="The function that optimizers apply after each update."
    )
    shape = property(lambda self: self._static_shape, doc="The static shape.")
    synchronization = property(
        lambda self: self._synchronization, doc="The time at which copies are synchronized: there is one copy."
    )
    aggregation = property(lambda self: self._aggregation, doc="The way to aggregate copies: there is one copy.")
    _shared_name = property(lambda self: self.name[: self.name.index(":")])

    def get_shape(self) -> shapes.TensorShape:
        """Returns the static shape."""
        return self.shape

    def _set_save_slice_info(self, save_slice_info: Any) -> None:
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> Any:
        return self._save_slice_info

    def _handle(self) -> Tensor:
        raise NotImplementedError

    def value(self) -> Tensor:
        """Returns the value as a tensor.

        Returns:
          A tensor of the variable's dtype and shape.

        Raises:
          NotImplementedError: Neither `RefVariable` nor `ResourceVariable` is a base class.
        """
        raise NotImplementedError

    def _as_graph_element(self) -> Tensor:
        return self._snapshot

    def eval(self, session: Any = None) -> Any:
        """Runs the variable in this session, or the default one, and returns its value."""
        return self._snapshot.eval(session=session)

    def initialized_value(self) -> Tensor:
        """Returns the value, or the initial value if the variable is not initialized.

        Returns:
          A tensor of the variable's dtype and shape.

        Example:
          >>> v = tf.Variable(3)
          >>> w = tf.Variable(v.initialized_value() * 2)  # Whichever of both is initialized first.
          >>> with tf.Session() as sess:
          ...     sess.run(w.initializer)
          ...     print(sess.run(w))
          6
        """
        return cond(is_variable_initialized(self), self.read_value, lambda: self.initial_value)

    def load(self, value: Any, session: Any = None) -> None:
        """Assigns a value in this session or the default one.

        Args:
          value: An array of the variable's shape, or a value that converts to one.
          session: The session.

        Raises:
          ValueError: `session` is None and there is no default session.

        Example:
          >>> v = tf.Variable(3)
          >>> with tf.Session() as sess:
          ...     v.load(7)
          ...     print(sess.run(v))
          7
        """
        session = session or default_session()
        if session is None:
            raise ValueError("Either session argument should be provided or default session should be established")
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def set_shape(self, shape: Any) -> None:
        """Merges a shape into the static shape.

        Args:
          shape: A `TensorShape`, or a value that converts to one.

        Example:
          >>> v = tf.Variable([1, 2], validate_shape=False, shape=tf.TensorShape(None), use_resource=True)
          >>> v.set_shape([2])
          >>> v.shape
          TensorShape([Dimension(2)])
        """
        self._snapshot.set_shape(shape)
        self._static_shape = self._static_shape.merge_with(shape)

    def to_proto(self, export_scope: Optional[str] = None) -> Any:
        """Returns the variable as a `VariableDef`.

        Args:
          export_scope: A name scope to strip from names.

        Returns:
          A `VariableDef`; None if the variable is outside of the scope.

        Example:
          >>> tf.Variable(3, name="v").to_proto().variable_name
          'v:0'
        """
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        message = protos.VariableDef()
        message.variable_name = strip_name_scope(self._handle().name, export_scope)
        message.trainable = bool(self._trainable)
        message.initializer_name = strip_name_scope(self._initializer.name, export_scope)
        message.snapshot_name = strip_name_scope(self._snapshot.name, export_scope)
        message.is_resource = isinstance(self, ResourceVariable)
        if self._initial_value is not None:
            message.initial_value_name = strip_name_scope(self._initial_value.name, export_scope)
        return message

    @staticmethod
    def from_proto(variable_def: Any, import_scope: Optional[str] = None) -> "Variable":
        """Returns the variable of the default graph that a `VariableDef` describes.

        Args:
          variable_def: A `VariableDef`.
          import_scope: The name scope that its graph was imported into.

        Returns:
          A `Variable`.

        Example:
          >>> v = tf.Variable(3, name="v")
          >>> tf.Variable.from_proto(v.to_proto()).name
          'v:0'
        """
        return Variable(variable_def=variable_def, import_scope=import_scope)

    def _from_def(self, message: Any, scope: Optional[str]) -> None:
        graph = self._graph = get_default_graph()
        element = lambda name: graph.as_graph_element(prepend_name_scope(name, scope))  # noqa: E731
        self._variable = element(message.variable_name)
        self._initializer = element(message.initializer_name)
        self._snapshot = element(message.snapshot_name)
        self._initial_value = element(message.initial_value_name) if message.initial_value_name else None
        self._trainable = getattr(message, "trainable", True)
        self._static_shape = self._snapshot.shape
        self._value_dtype = self._snapshot.dtype.base_dtype

    @property
    def dtype(self) -> Any:
        """The dtype of the elements; for a variable by reference, its reference dtype.

        Raises:
          NotImplementedError: The variable is of no kind.
        """
        raise NotImplementedError

    def assign(self, value: TensorLike, use_locking: Any = None, name: Optional[str] = None, read_value: bool = True) -> Any:
        """Replaces the value.

        Args:
          value: The new value.
          use_locking: If true, the update holds a lock on the variable.
          name: The name of the operation.
          read_value: If false, the result is the operation.

        Returns:
          The variable after the update.

        Raises:
          NotImplementedError: The method is that of the class `Variable`, not that of a variable.

        Example:
          >>> v = tf.Variable(1)
          >>> print(tf.Session().run(v.assign(2)))
          2
        """
        raise NotImplementedError

    def assign_add(self, delta: TensorLike, use_locking: Any = None, name: Optional[str] = None, read_value: bool = True) -> Any:
        """Adds to the value.

        Args:
          delta: The value to add.
          use_locking: If true, the update holds a lock on the variable.
          name: The name of the operation.
          read_value: If false, the result is the operation.

        Returns:
          The variable after the update.

        Raises:
          NotImplementedError: The method is that of the class `Variable`, not that of a variable.

        Example:
          >>> v = tf.Variable(1)
          >>> with tf.Session() as sess:
          ...     sess.run(v.initializer)
          ...     print(sess.run(v.assign_add(2)))
          3
        """
        raise NotImplementedError

    def assign_sub(self, delta: TensorLike, use_locking: Any = None, name: Optional[str] = None, read_value: bool = True) -> Any:
        """Subtracts from the value.

        Args:
          delta: The value to subtract.
          use_locking: If true, the update holds a lock on the variable.
          name: The name of the operation.
          read_value: If false, the result is the operation.

        Returns:
          The variable after the update.

        Raises:
          NotImplementedError: The method is that of the class `Variable`, not that of a variable.

        Example:
          >>> v = tf.Variable(3)
          >>> with tf.Session() as sess:
          ...     sess.run(v.initializer)
          ...     print(sess.run(v.assign_sub(2)))
          1
        """
        raise NotImplementedError

    def read_value(self) -> Tensor:
        """Returns the value, read after the current control dependencies.

        Returns:
          A tensor.

        Raises:
          NotImplementedError: The method is that of the class `Variable`, not that of a variable.

        Example:
          >>> v = tf.Variable(1)
          >>> with tf.control_dependencies([v.assign(5)]):
          ...     read = v.read_value()
          >>> print(tf.Session().run(read))
          5
        """
        raise NotImplementedError

    def count_up_to(self, limit: int) -> Tensor:
        """Increments an integer variable, up to a limit.

        Args:
          limit: The value at which the run raises.

        Returns:
          The value before the increment.

        Raises:
          NotImplementedError: The method is that of the class `Variable`, not that of a variable.
          tf.errors.OutOfRangeError: When run: the value is at the limit.

        Example:
          >>> v = tf.Variable(0)
          >>> with tf.Session() as sess:
          ...     sess.run(v.initializer)
          ...     print(sess.run(v.count_up_to(2)), v.eval())
          0 1
        """
        raise NotImplementedError

    def sparse_read(self, indices: Any, name: Optional[str] = None) -> Tensor:
        """Returns rows of a variable behind a handle, without a read of the whole.

        Args:
          indices: The indices of the rows.
          name: The name of the operation.

        Returns:
          A tensor.

        Raises:
          AttributeError: The variable is one by reference: use `tf.gather`.

        Example:
          >>> v = tf.Variable([1, 2, 3], use_resource=True)
          >>> with tf.Session() as sess:
          ...     sess.run(v.initializer)
          ...     print(sess.run(v.sparse_read([2])))
          [3]
        """
        raise AttributeError("a variable by reference has no `sparse_read`: use `tf.gather`")

    def gather_nd(self, indices: Any, name: Optional[str] = None) -> Tensor:
        """Returns slices of a variable behind a handle, without a read of the whole.

        Args:
          indices: The indices of the slices, as for `tf.gather_nd`.
          name: The name of the operation.

        Returns:
          A tensor.

        Raises:
          AttributeError: The variable is one by reference: use `tf.gather_nd`.

        Example:
          >>> v = tf.Variable([1, 2, 3], use_resource=True)
          >>> with tf.Session() as sess:
          ...     sess.run(v.initializer)
          ...     print(sess.run(v.gather_nd([[2]])))
          [3]
        """
        raise AttributeError("a variable by reference has no `gather_nd`: use `tf.gather_nd`")

    def __repr__(self) -> str:
        return "<tf.Variable '%s' shape=%s dtype=%s>" % (self.name, self.shape, self.dtype.name)

    def __hash__(self) -> int:
        return id(self)

    def __iter__(self) -> Any:
        raise TypeError("'Variable' object is not iterable.")

    def __getitem__(self, key: Any) -> Tensor:
        return sliced(self, key)


register_variables(Variable)


def _operator(name: str) -> Any:
    def call(self: Variable, *args: Any) -> Any:
        return getattr(Tensor, name)(self.value(), *args)

    call.__name__ = name
    return call


for _name in (
    "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul rmatmul lt le gt ge and rand or ror xor rxor "
    "neg abs invert"
).split():
    setattr(Variable, "__%s__" % _name, _operator("__%s__" % _name))


# `use_resource` of the current variable scope; registered by `variables.scopes`.
_of_scope: Callable[[], Optional[bool]] = lambda: None


def register_scope(uses_resource: Callable[[], Optional[bool]]) -> None:
    """Registers a function that returns `use_resource` of the current variable scope."""
    global _of_scope
    _of_scope = uses_resource


def _scope_says() -> bool:
    says = _of_scope()
    return _use_resource_by_default if says is None else says


def guarded(value: Tensor, name: str) -> Tensor:
    """Returns an initial value for the variable `name` that can be computed whatever is initialized.

    Where the value depends on variables by reference, they are replaced by `initialized_value()`, in copies
    of the operations in between: all variables can then be initialized in one run, in any order.
    """
    graph = value.graph
    copies: Any = {}
    seen: Any = {}

    def depends(operation: Any) -> bool:
        """Whether the operation is, or depends on, a variable; a cycle leaves the value as it is."""
        stack = [operation]  # A path: each is an input of the one before.
        while stack:
            one = stack[-1]
            if one.type in _READS or one.type in _HOLDERS:
                seen[one.name] = one.type in _HOLDERS
            unknown = [] if one.name in seen else [i.op for i in one.inputs if i.op.name not in seen]
            if unknown:
                if any(unknown[0].name == above.name for above in stack):
                    raise _Cycle
                stack.append(unknown[0])
                continue
            if one.name not in seen:
                seen[one.name] = any(seen[i.op.name] for i in one.inputs)
            stack.pop()
        return bool(seen[operation.name])

    def copied(operation: Any) -> Any:
        """Returns the operation with initialized variables."""
        if operation.name in copies:
            return copies[operation.name]
        found = operation
        if operation.type in _HOLDERS:
            initialized = _initialized(operation)
            found = operation if initialized is None else initialized.op
        elif depends(operation):
            inputs = [copied(i.op).outputs[i.value_index] for i in operation.inputs]
            if any(new.name != old.name for new, old in zip(inputs, operation.inputs)):
                found = graph.create_op(
                    "Switch" if operation.type == "RefSwitch" else operation.type,
                    inputs,
                    [o.dtype.base_dtype for o in operation.outputs],
                    name=("%s_%s/" % (operation.name, name)).replace(":", "_"),  # Absolute.
                    attrs=dict(operation.node_def.attr),
                )
        copies[operation.name] = found
        return found

    try:
        if not depends(value.op):
            return value
    except _Cycle:
        return value
    new = copied(value.op)
    return value if new.name == value.op.name else new.outputs[value.value_index]


def _check_outside(value: Tensor, name: str) -> None:
    if value.op.type in ("Exit", "RefExit") or value.op._get_control_flow_context() is not None:
        raise ValueError(
            "Initializer for variable %s is from inside a control-flow construct, such as a loop or conditional. "
            "When creating a variable inside a loop or conditional, use a lambda as the initializer." % name
        )


class _Cycle(Exception):
    """The initial value depends on a loop."""


# Operations that hold a variable, and those that read one without waiting for a value to be there.
_HOLDERS = ("Variable", "VariableV2", "VarHandleOp")
_READS = ("IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp")


def _initialized(operation: Any) -> Optional[Tensor]:
    """Returns `initialized_value()` of the variable that the operation holds, if the graph knows one."""
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for one in get_default_graph().get_collection(key):
            if one.name in (operation.name, operation.name + ":0"):
                return one.initialized_value()
    return None


class RefVariable(Variable):
    """A variable held by reference: `VariableV2`."""

    def _make(self, initial: Any, name: Optional[str], dtype: Any, validate_shape: bool, shape: Any, caching_device: Any) -> None:
        with name_scope(name, "Variable", []) as scope:
            if callable(initial):
                with name_scope("Initializer"):
                    value = convert_to_tensor(initial(), dtype, "initial_value")
            else:
                value = convert_to_tensor(initial, dtype, "initial_value")
                _check_outside(value, scope)
            self._initial_value = value
            known = shape if shape is not None else value.shape if validate_shape else shapes.TensorShape(None)
            if validate_shape and shape is None and not value.shape.is_fully_defined():
                raise ValueError("initial_value must have a shape specified: %s" % value)
            self._variable = op("VariableV2")(known, value.dtype.base_dtype, name=scope)
            value = guarded(value, self._variable.op.name)
            with self._graph.colocate_with(self._variable.op):
                self._initializer = op("Assign")(self._variable, value, validate_shape=validate_shape).op
            with self._graph.device(caching_device) if caching_device is not None else self._graph.colocate_with(self._variable.op):
                self._snapshot = op("Identity")(self._variable, name="read")
            self._static_shape = self._variable.shape

    dtype = property(lambda self: self._variable.dtype, doc="The reference dtype of the elements.")

    def _handle(self) -> Tensor:
        return self._variable

    def _ref(self) -> Tensor:
        return self._variable

    def value(self) -> Tensor:
        """Returns the value, through the read that was made with the variable."""
        return self._snapshot

    def read_value(self) -> Tensor:
        """Returns the value, read after the current control dependencies."""
        return op("Identity")(self._variable, name="read")

    def _assign_slice(self, begin: Any, end: Any, strides: Any, value: Any, name: str, masks: Any) -> Tensor:
        return op("StridedSliceAssign")(self._variable, begin, end, strides, value, name=name, **masks)

    def _scatter_nd(self, what: str, indices: Any, updates: Any, name: Optional[str]) -> Any:
        return op("ScatterNd" + what)(self._variable, indices, updates, use_locking=True, name=name)

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def _as_tensor(self, dtype: Any = None, name: Optional[str] = None, as_ref: bool = False) -> Any:
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(self._variable.dtype.base_dtype):
            raise ValueError("Incompatible type conversion requested to type '%s' for variable of type '%s'" % (dtypes.as_dtype(dtype).name, self.dtype.name))
        return self._variable if as_ref else self._snapshot

    def assign(self, value: Any, use_locking: bool = False, name: Optional[str] = None, read_value: bool = True) -> Any:
        """Assigns a value; returns the variable after the assignment."""
        done = op("Assign")(self._variable, value, use_locking=use_locking, name=name)
        return done if read_value else done.op

    def assign_add(self, delta: Any, use_locking: bool = False, name: Optional[str] = None, read_value: bool = True) -> Any:
        """Adds to the value; returns the variable after the addition."""
        done = op("AssignAdd")(self._variable, delta, use_locking=use_locking, name=name)
        return done if read_value else done.op

    def assign_sub(self, delta: Any, use_locking: bool = False, name: Optional[str] = None, read_value: bool = True) -> Any:
        """Subtracts from the value; returns the variable after the subtraction."""
        done = op("AssignSub")(self._variable, delta, use_locking=use_locking, name=name)
        return done if read_value else done.op

    def count_up_to(self, limit: int) -> Tensor:
        """Increments the value and returns the one before; raises `OutOfRangeError` in the run at `limit`."""
        return op("CountUpTo")(self._variable, limit=limit)

    def _scatter(self, what: str, slices: Any, name: Optional[str]) -> Tensor:
        if not isinstance(slices, IndexedSlices):
            raise TypeError("sparse_delta is not IndexedSlices: %s" % slices)
        return op("Scatter" + what)(self._variable, slices.indices, slices.values, use_locking=False, name=name)


def _place_together(graph: Any, before: int, name: str) -> None:
    """Colocates operations made since `before` with the variable."""
    beside = protos.AttrValue(list=protos.AttrValue.ListValue(s=[b"loc:@" + name.encode()]))
    for one in graph._operations(before):
        if "_class" not in one._attr_names():
            one._set_attr("_class", beside)


class ResourceVariable(Variable):
    """A variable held by resource handle: `VarHandleOp`."""

    # The copy of the value on the caching device.
    _cached: Optional[Tensor] = None

    def _make(self, initial: Any, name: Optional[str], dtype: Any, validate_shape: bool, shape: Any, caching_device: Any) -> None:
        with name_scope(name, "Variable", []) as scope:
            full = scope.rstrip("/")
            before = len(self._graph)
            with name_scope("Initializer"), self._graph.device(None):
                value = convert_to_tensor(initial() if callable(initial) else initial, dtype, "initial_value")
                if not callable(initial):
                    _check_outside(value, scope)
            self._initial_value = value
            known = shape if shape is not None else value.shape
            self._value_dtype = value.dtype.base_dtype
            self._static_shape = known
            self._variable = op("VarHandleOp")(dtype=self._value_dtype, shape=known, shared_name=full, name=scope)
            _place_together(self._graph, before, full)
            with name_scope("IsInitialized"):
                self._is_initialized = op("VarIsInitializedOp")(self._variable)
            with name_scope("Assign") as n:
                self._initializer = op("AssignVariableOp")(self._variable, guarded(value, full), name=n)
            with name_scope("Read"):
                self._snapshot = op("ReadVariableOp")(self._variable, self._value_dtype)
                if caching_device is not None:
                    with self._graph.colocate_with(None, ignore_existing=True), self._graph.device(caching_device):
                        self._cached = op("Identity")(self._snapshot)

    dtype = property(lambda self: self._value_dtype, doc="The dtype of the elements.")
    handle = property(lambda self: self._variable, doc="The resource handle.")

    def _handle(self) -> Tensor:
        return self._variable

    def value(self) -> Tensor:
        """Returns the value, read here; with a caching device, its copy there, read once in a run."""
        return self._cached if self._cached is not None else op("ReadVariableOp")(self._variable, self._value_dtype)

    @property
    def _graph_element(self) -> Tensor:
        return self._as_graph_element()

    def read_value(self) -> Tensor:
        """Returns the value, read after the current control dependencies."""
        with name_scope("Read"):
            value = op("ReadVariableOp")(self._variable, self._value_dtype)
        return op("Identity")(value)

    def _as_tensor(self, dtype: Any = None, name: Optional[str] = None, as_ref: bool = False) -> Any:
        if dtype is not None and dtypes.as_dtype(dtype) == dtypes.resource:
            return self._variable
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(self._value_dtype):
            raise ValueError("Incompatible type conversion requested to type '%s' for variable of type '%s'" % (dtypes.as_dtype(dtype).name, self.dtype.name))
        return self.value()

    def is_initialized(self, name: Optional[str] = None) -> Tensor:
        """Returns a boolean scalar: whether the variable has a value."""
        return op("VarIsInitializedOp")(self._variable, name=name)

    def _changed(self, done: Operation, read_value: bool) -> Any:
        return _Unread(self, done) if read_value else done

    def assign(self, value: Any, use_locking: Any = None, name: Optional[str] = None, read_value: bool = True) -> Any:
        """Assigns a value; returns the variable after the assignment."""
        value = convert_to_tensor(value, self._value_dtype)
        self._static_shape.assert_is_compatible_with(value.shape)
        return self._changed(op("AssignVariableOp")(self._variable, value, name=name), read_value)

    def assign_add(self, delta: Any, use_locking: Any = None, name: Optional[str] = None, read_value: bool = True) -> Any:
        """Adds to the value; returns the variable after the addition."""
        delta = convert_to_tensor(delta, self._value_dtype)
        return self._changed(op("AssignAddVariableOp")(self._variable, delta, name=name), read_value)

    def assign_sub(self, delta: Any, use_locking: Any = None, name: Optional[str] = None, read_value: bool = True) -> Any:
        """Subtracts from the value; returns the variable after the subtraction."""
        delta = convert_to_tensor(delta, self._value_dtype)
        return self._changed(op("AssignSubVariableOp")(self._variable, delta, name=name), read_value)

    def count_up_to(self, limit: int) -> Tensor:
        """Increments the value and returns the one before; raises `OutOfRangeError` in the run at `limit`."""
        return op("ResourceCountUpTo")(self._variable, limit=limit, T=self._value_dtype)

    def sparse_read(self, indices: Any, name: Optional[str] = None) -> Tensor:
        """Returns the rows at `indices`."""
        with name_scope("Gather" if name is None else name) as name:
            rows = op("ResourceGather")(self._variable, indices, dtype=self._value_dtype, name=name)
        return op("Identity")(rows)

    def gather_nd(self, indices: Any, name: Optional[str] = None) -> Tensor:
        """Returns the slices at `indices`."""
        with name_scope("GatherNd" if name is None else name) as name:
            slices = op("ResourceGatherNd")(self._variable, indices, dtype=self._value_dtype, name=name)
        return op("Identity")(slices)

    def _assign_slice(self, begin: Any, end: Any, strides: Any, value: Any, name: str, masks: Any) -> Any:
        value = convert_to_tensor(value, self._value_dtype)
        return self._changed(op("ResourceStridedSliceAssign")(self._variable, begin, end, strides, value, name=name, **masks), True)

    def _scatter_nd(self, what: str, indices: Any, updates: Any, name: Optional[str]) -> Any:
        updates = convert_to_tensor(updates, self._value_dtype)
        return self._changed(op("ResourceScatterNd" + what)(self._variable, indices, updates, name=name), True)

    def _scatter(self, what: str, slices: Any, name: Optional[str]) -> Any:
        if not isinstance(slices, IndexedSlices):
            raise TypeError("sparse_delta is not IndexedSlices: %s" % slices)
        values = convert_to_tensor(slices.values, self._value_dtype)
        return self._changed(op("ResourceScatter" + what)(self._variable, slices.indices, values, name=name), True)


# For each update of rows or slices: its verb, and the result of applying it to 8 with the operand 2.
SCATTERED = {
    "Add": ("Adds to", 10),
    "Sub": ("Subtracts from", 6),
    "Mul": ("Multiplies", 16),
    "Div": ("Divides", 4),
    "Min": ("Takes the minimum with given values, in", 2),
    "Max": ("Takes the maximum with given values, in", 8),
    "Update": ("Replaces", 2),
}

_METHOD = """{doc} {what} of the variable, as `tf.scatter_add` and its like.

Returns:
  The variable after the update: a tensor, or a variable that is read after it.

Raises:
  TypeError: `sparse_delta` is not an `IndexedSlices`.
  tf.errors.InvalidArgumentError: When run: an index is out of range.

Example:
  >>> v = tf.Variable([8])
  >>> changed = v.{call}
  >>> with tf.Session() as sess:
  ...     sess.run(v.initializer)
  ...     print(sess.run(changed))
  [{result}]
"""


def _scatters() -> None:
    for method, what in dict(sub="Sub", add="Add", update="Update", max="Max", min="Min", mul="Mul", div="Div").items():

        def scatter(self: Any, sparse_delta: Any, use_locking: bool = False, name: Optional[str] = None, _what: str = what) -> Any:
            return self._scatter(_what, sparse_delta, name)

        scatter.__name__, scatter.__qualname__ = "scatter_" + method, "Variable.scatter_" + method
        scatter.__doc__ = _METHOD.format(doc=SCATTERED[what][0], what="rows", result=SCATTERED[what][1], call="%s(tf.IndexedSlices([2], tf.constant([0])))" % scatter.__name__)
        setattr(Variable, "scatter_" + method, scatter)

    for method, what in dict(sub="Sub", add="Add", update="Update").items():

        def scatter_nd(self: Any, indices: Any, updates: Any, name: Optional[str] = None, _what: str = what) -> Any:
            return self._scatter_nd(_what, indices, updates, name)

        scatter_nd.__name__, scatter_nd.__qualname__ = "scatter_nd_" + method, "Variable.scatter_nd_" + method
        scatter_nd.__doc__ = _METHOD.format(doc=SCATTERED[what][0], what="slices", result=SCATTERED[what][1], call="%s([[0]], [2])" % scatter_nd.__name__)
        setattr(Variable, "scatter_nd_" + method, scatter_nd)


_scatters()


class _Unread(ResourceVariable):
    """A variable after an update: reads of it run after the update."""

    def __new__(cls, variable: ResourceVariable, done: Operation) -> "_Unread":
        return object.__new__(cls)

    def __init__(self, variable: ResourceVariable, done: Operation) -> None:
        self.__dict__.update(variable.__dict__)
        self._done, self._cached = done, None
        with self._graph.as_default():
            self._read = self.value()

    name = property(lambda self: self._done.name, doc="The name of the operation that updates it.")
    op = property(lambda self: self._done, doc="The operation that updates it.")

    def value(self) -> Tensor:
        """Returns the value after the update."""
        with control_dependencies([self._done]):
            return super().value()

    def read_value(self) -> Tensor:
        """Returns the value after the update."""
        with control_dependencies([self._done]):
            return super().read_value()

    def _as_graph_element(self) -> Tensor:
        return self._read

    def eval(self, session: Any = None) -> Any:
        """Returns the value after the update."""
        return self._read.eval(session=session)


def is_variable_initialized(variable: Any, name: Optional[str] = None) -> Tensor:
    """Returns whether the variable has a value.

    Args:
      variable: A variable, or a reference tensor.
      name: A name for the operation.

    Returns:
      A boolean scalar tensor.

    Example:
      >>> v = tf.Variable(3)
      >>> ready = tf.is_variable_initialized(v)
      >>> with tf.Session() as sess:
      ...     print(sess.run(ready), sess.run(v.initializer), sess.run(ready))
      False None True
    """
    if isinstance(variable, ResourceVariable):
        return variable.is_initialized(name)
    return op("IsVariableInitialized")(variable._ref() if isinstance(variable, Variable) else variable, name=name)


VariableV1 = Variable
