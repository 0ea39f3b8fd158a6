"""`variable_scope` and `get_variable`: variables by name, created or reused as their scope demands."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Dict, List, Optional

from millstream.framework import add_to_collection, convert_to_tensor, dtypes, get_default_graph, shapes
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.name_scopes import graph_of
from millstream.framework.tensor_util import make_tensor_proto
from millstream.ops import custom_gradients
from millstream.variables import initializers, partitions
from millstream.variables.aggregation import VariableSynchronization, checked
from millstream.variables.variable import (
    ResourceVariable,
    Variable,
    register_scope,
    resource_variables_enabled,
)

_EXTRA = "variable_scopes"


class _AutoReuse:
    def __repr__(self) -> str:
        return "<_ReuseMode.AUTO_REUSE: 1>"


AUTO_REUSE = _AutoReuse()


class _Store(threading.local):
    """The variables of a graph by name, and what each thread has of its own: the scope it is in, and the
    number of times that it opened each scope.
    """

    def __init__(self, variables: Dict[str, Any], partitioned: Dict[str, Any]) -> None:
        # Called in each thread that uses the store, with the tables of variables and of partitioned ones.
        self.variables = variables
        self.partitioned = partitioned
        self.opened: Dict[str, int] = {}
        self.current = VariableScope(False)


def _store() -> _Store:
    extras = get_default_graph()._extras
    if _EXTRA not in extras:
        extras.setdefault(_EXTRA, _Store({}, {}))  # Another thread may have been faster.
    return extras[_EXTRA]


def variables_by_name() -> Dict[str, Any]:
    """Returns the variables that `get_variable` made in the default graph, by name."""
    return dict(_store().variables)


class VariableScope:
    """The defaults of `get_variable` within a scope. `variable_scope` creates and yields it.

    Example:
      >>> with tf.variable_scope("layer", initializer=tf.ones_initializer(), use_resource=True) as scope:
      ...     v = tf.get_variable("v", [2])
      >>> scope.name, scope.original_name_scope, scope.reuse, scope.dtype, scope.use_resource
      ('layer', 'layer/', False, tf.float32, True)
      >>> scope.regularizer, scope.caching_device, scope.partitioner, scope.custom_getter, scope.constraint
      (None, None, None, None, None)
      >>> scope.initializer.get_config()
      {'dtype': 'float32'}
      >>> ([v.name for v in scope.global_variables()], len(scope.trainable_variables()),
      ...  scope.local_variables())
      (['layer/v:0'], 1, [])
      >>> [v.name for v in scope.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)]
      ['layer/v:0']
      >>> with tf.variable_scope(scope) as again:
      ...     again.reuse_variables()
      ...     tf.get_variable("v", [2]) is v
      True
      >>> with tf.variable_scope("other") as other:
      ...     other.set_initializer(tf.zeros_initializer())
      ...     other.set_dtype(tf.float64)
      ...     other.set_use_resource(False)
      ...     other.set_regularizer(None)
      ...     other.set_partitioner(None)
      ...     other.set_custom_getter(None)
      ...     other.set_caching_device(None)
      ...     tf.get_variable("w", [2]).dtype
      tf.float64_ref
    """

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        name_scope: str = "",
        dtype: Any = dtypes.float32,
        use_resource: Optional[bool] = None,
        constraint: Any = None,
    ) -> None:
        self._name, self._reuse, self._initializer, self._regularizer = name, reuse, initializer, regularizer
        self._caching_device, self._partitioner, self._custom_getter = caching_device, partitioner, custom_getter
        self._name_scope, self._dtype, self._use_resource, self._constraint = name_scope, dtype, use_resource, constraint

    name = property(lambda self: self._name, doc="The full name of the scope.")
    original_name_scope = property(
        lambda self: self._name_scope, doc="The name scope of the first block that opened it."
    )
    reuse = property(
        lambda self: self._reuse, doc="True if variables are reused, False if created, `AUTO_REUSE` for either."
    )
    initializer = property(lambda self: self._initializer, doc="The default initializer.")
    regularizer = property(lambda self: self._regularizer, doc="The default regularizer.")
    caching_device = property(lambda self: self._caching_device, doc="The device that copies of variables are read on.")
    partitioner = property(lambda self: self._partitioner, doc="The default partitioner.")
    custom_getter = property(
        lambda self: self._custom_getter, doc="The function that makes variables instead."
    )
    dtype = property(lambda self: self._dtype, doc="The default dtype.")
    use_resource = property(lambda self: self._use_resource, doc="Whether variables use resource handles.")
    constraint = property(lambda self: self._constraint, doc="The default constraint.")

    def reuse_variables(self) -> None:
        """Makes `get_variable` reuse variables from here on."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Sets the default initializer."""
        self._initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """Sets the default regularizer."""
        self._regularizer = regularizer

    def set_dtype(self, dtype: Any) -> None:
        """Sets the default dtype."""
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool) -> None:
        """Sets whether variables use resource handles."""
        self._use_resource = use_resource

    def set_partitioner(self, partitioner: Any) -> None:
        """Sets the default partitioner."""
        self._partitioner = partitioner

    def set_caching_device(self, caching_device: Any) -> None:
        """Sets the device that copies of variables are read on."""
        self._caching_device = caching_device

    def set_custom_getter(self, custom_getter: Any) -> None:
        """Sets the function that makes variables instead."""
        self._custom_getter = custom_getter

    def get_collection(self, name: str) -> List[Any]:
        """Returns the values of a collection whose names begin with the scope's."""
        return get_default_graph().get_collection(name, self._name + "/" if self._name else "")

    def trainable_variables(self) -> List[Any]:
        """Returns the scope's trainable variables."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> List[Any]:
        """Returns the scope's global variables."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> List[Any]:
        """Returns the scope's local variables."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(self, var_store: Any, name: str, *args: Any, reuse: Any = None, **kwargs: Any) -> Any:
        """Returns the variable with this name in the scope, as `tf.get_variable` does in the current scope.

        Args:
          var_store: The graph's variables by name.
          name: The name within the scope.
          reuse: Whether to reuse; by default as the scope says.

        The other arguments are those of `tf.get_variable`.

        Returns:
          A variable.

        Example:
          >>> with tf.variable_scope("s", reuse=tf.AUTO_REUSE) as scope:
          ...     v = tf.get_variable("v", [2])
          >>> scope.get_variable(None, "v", [2]) is v
          True
        """
        scope = self if reuse is None else self._copy(reuse=reuse)
        return _get(scope, scope.name + "/" + name if scope.name else name, *args, **kwargs)

    def _copy(self, **changes: Any) -> "VariableScope":
        scope = VariableScope.__new__(VariableScope)
        scope.__dict__.update(self.__dict__)
        scope.__dict__.update({"_" + k: v for k, v in changes.items() if v is not None})
        return scope


def get_variable_scope() -> VariableScope:
    """Returns the current variable scope.

    Returns:
      A `VariableScope`.

    Example:
      >>> with tf.variable_scope("outer"), tf.variable_scope("inner"):
      ...     tf.get_variable_scope().name
      'outer/inner'
    """
    return _store().current


class variable_scope:
    """A scope for `get_variable`: a name prefix for variables and operations, and defaults for new variables.

    Args:
      name_or_scope: A name within the current scope, or a `VariableScope` to open again.
      default_name: A name to make unique, used if `name_or_scope` is None.
      values: Tensors that the scope's operations will use: the scope belongs to their graph.
      initializer: The default initializer.
      regularizer: The default regularizer: a function from a variable to a term of the loss.
      caching_device: The device of the copy that is read: a name or a function of the operation.
      partitioner: The default partitioner: a function that returns the number of parts along each axis.
      custom_getter: A function that makes variables instead; see `get_variable`.
      reuse: True to reuse variables, `tf.AUTO_REUSE` to reuse or create them, None to inherit from the
        enclosing scope.
      dtype: The default dtype.
      use_resource: If true, variables use resource handles.
      constraint: The default constraint: a function that optimizers apply to a variable after updates.
      auxiliary_name_scope: If true, operations get the name as well.

    Returns:
      A context manager that yields the `VariableScope`.

    Raises:
      TypeError: `name_or_scope` and `default_name` are both None, or an argument has the wrong type.
      ValueError: `reuse` is none of the above.

    Example:
      >>> def layer(x):
      ...     with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
      ...         w = tf.get_variable("w", [3, 2])
      ...         return tf.matmul(x, w, name="product")
      >>> (layer(tf.zeros([1, 3])).name, layer(tf.ones([1, 3])).name,
      ...  [v.name for v in tf.trainable_variables()])
      ('layer/product:0', 'layer_1/product:0', ['layer/w:0'])
    """

    def __init__(
        self,
        name_or_scope: Any,
        default_name: Optional[str] = None,
        values: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        reuse: Any = None,
        dtype: Any = None,
        use_resource: Optional[bool] = None,
        constraint: Any = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if reuse is False:
            reuse = None  # As in TensorFlow: False does not undo the reuse of enclosing scopes.
        if not (reuse is True or reuse is None or reuse is AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError("The auxiliary_name_scope must be `True` or `False`, while get {}".format(auxiliary_name_scope))
        if not isinstance(name_or_scope, (VariableScope, str, type(None))):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        self._values = [] if values is None else list(values)
        self._given, self._default, self._reuse, self._own_names = name_or_scope, default_name, reuse, auxiliary_name_scope
        self._changes = dict(
            initializer=initializer,
            regularizer=regularizer,
            caching_device=caching_device,
            partitioner=partitioner,
            custom_getter=custom_getter,
            dtype=dtype,
            use_resource=use_resource,
            constraint=constraint,
        )
        self._stack: List[Any] = []

    def __enter__(self) -> VariableScope:
        outside = contextlib.ExitStack()
        graph = None if get_default_graph()._is_body else graph_of(self._values)
        if graph is not None and graph is not get_default_graph():
            outside.enter_context(graph.as_default())
        store, graph = _store(), get_default_graph()
        old = store.current
        block, opened = None, None
        given = self._given
        if isinstance(given, VariableScope):
            names = given.name.rpartition("/")[2]
        else:
            names = given if given is not None else self._default
        if self._own_names and names:
            block = graph.name_scope(names)
            here = block.__enter__()
        else:
            here = graph._scope
        reuse = self._reuse
        if isinstance(given, VariableScope):
            opened = dict(store.opened)
            scope = given._copy(reuse=reuse if reuse is not None else given.reuse, **self._changes)
        else:
            name = given
            if name is None:
                if reuse:
                    raise ValueError("reuse=True cannot be used without a name_or_scope")
                name = self._unused(store, old.name, self._default or "")
            full = old.name + "/" + name if old.name else name
            scope = old._copy(reuse=reuse or old.reuse, **self._changes)
            scope._name, scope._name_scope = full, here
            store.opened[full] = store.opened.get(full, 0) + 1
        if scope._custom_getter is not None and old.custom_getter is not None and self._changes["custom_getter"] is not None:
            outer, inner = old.custom_getter, self._changes["custom_getter"]
            scope._custom_getter = lambda getter, *a, **k: inner(lambda *b, **l: outer(getter, *b, **l), *a, **k)
        store.current = scope
        self._stack.append((store, old, block, opened, scope, outside))
        return scope

    def __exit__(self, *why: Any) -> None:
        store, old, block, opened, scope, outside = self._stack[-1]
        if store.current is not scope:
            raise RuntimeError("Improper nesting of variable_scope.")
        self._stack.pop()
        store.current = old
        if opened is not None:
            store.opened = opened
        else:
            inside = scope.name + "/"
            store.opened = {k: n for k, n in store.opened.items() if not k.startswith(inside)}
        if block is not None:
            block.__exit__(*why)
        outside.close()

    @staticmethod
    def _unused(store: _Store, outer: str, name: str) -> str:
        full = lambda n: outer + "/" + n if outer else n  # noqa: E731
        if not store.opened.get(full(name)):
            return name
        i = 1
        while store.opened.get(full("%s_%d" % (name, i))):
            i += 1
        return "%s_%d" % (name, i)


def _pure_variable_scope(
    name_or_scope: Any,
    reuse: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    old_name_scope: Optional[str] = None,
    dtype: Any = dtypes.float32,
    use_resource: Optional[bool] = None,
    constraint: Any = None,
) -> variable_scope:
    """Returns a scope that names variables, but not operations."""
    changes = (initializer, regularizer, caching_device, partitioner, custom_getter)
    return variable_scope(name_or_scope, None, None, *changes, reuse, dtype, use_resource, constraint, auxiliary_name_scope=False)


def variable_op_scope(
    values: Any,
    name_or_scope: Any,
    default_name: Optional[str] = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: Optional[bool] = None,
    constraint: Any = None,
) -> variable_scope:
    """`variable_scope` with its arguments in another order.

    Args:
      values: Ignored.
      name_or_scope: As in `variable_scope`.
      default_name: As in `variable_scope`.

    The other arguments are those of `variable_scope`.

    Returns:
      A context manager.

    Example:
      >>> with tf.variable_op_scope([], None, "layer"):
      ...     tf.get_variable("v", [2]).name
      'layer/v:0'
    """
    return variable_scope(
        name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner, custom_getter, reuse, dtype, use_resource, constraint
    )


def no_regularizer(_: Any) -> None:
    """A regularizer that adds no term to the loss, for variables in scopes that have a regularizer.

    Returns:
      None.

    Example:
      >>> with tf.variable_scope("s", regularizer=tf.reduce_sum):
      ...     v = tf.get_variable("v", [2], regularizer=tf.no_regularizer)
      >>> tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
      []
    """
    return None


def _make(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    reuse: Any = None,
    trainable: Optional[bool] = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: Optional[bool] = None,
    constraint: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
    partition_info: Any = None,
) -> Any:
    store = _store()
    dtype = dtypes.as_dtype(dtype).base_dtype
    if partitioner is not None and _is_cut(shape, initializer):
        part = dict(locals())
        arguments = {k: part[k] for k in _PART}
        if name in store.variables:
            raise ValueError(
                "A partitioner was provided, but an unpartitioned version of the variable was found: %s.  "
                "Perhaps a variable of the same name was already created without partitioning?" % name
            )
        found = store.partitioned.get(name)
        if found is not None and not reuse:
            raise ValueError("Partitioned variable with name %s already exists. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?" % name)
        whole = partitions.make(_make, name, arguments, found)
        return store.partitioned.setdefault(name, whole)
    if partition_info is None and reuse and name in store.partitioned:
        return store.partitioned[name]
    if partition_info is None and name + "/part_0" in store.variables:
        raise ValueError(
            "No partitioner was provided, but a partitioned version of the variable was found: %s/part_0. "
            "Perhaps a variable of the same name was already created with partitioning?" % name
        )
    shape = shapes.TensorShape(shape)
    if initializer is not None and not callable(initializer) and shape.ndims is not None:
        raise ValueError("If initializer is a constant, do not specify shape.")
    found = store.variables.get(name)
    if found is not None:
        if not reuse:
            made = "".join('  File "%s", line %d, in %s\n' % frame[:3] for frame in found.op.traceback)
            raise ValueError(
                "Variable %s already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope? Originally defined at:\n\n%s" % (name, made)
            )
        if not shape.is_compatible_with(found.get_shape()):
            raise ValueError("Trying to share variable %s, but specified shape %s and found shape %s." % (name, shape, found.get_shape()))
        if not dtype.is_compatible_with(found.dtype):
            raise ValueError("Trying to share variable %s, but specified dtype %s and found dtype %s." % (name, dtype.name, dtypes.as_dtype(found.dtype).name))
        return found
    if reuse is True:
        raise ValueError("Variable %s does not exist, or was not created with tf.get_variable(). Did you mean to set reuse=tf.AUTO_REUSE in VarScope?" % name)
    if not name:
        raise ValueError("'' is not a valid node name")
    if initializer is None:
        initializer = _default_initializer(name, dtype)
    if isinstance(initializer, type):
        initializer = initializer()
    if callable(initializer):
        if not shape.is_fully_defined() and not _takes_nothing(initializer):
            raise ValueError(
                "The initializer passed is not valid. It should be a callable with no arguments and the shape should not be provided or an instance of "
                "`tf.keras.initializers.*' and `shape` should be fully defined. The shape of the new variable `%s` is %s.\n  help: give `shape`, or a value as "
                "`initializer`" % (name, shape)
            )
        as_list, function, given = shape.as_list() if shape.is_fully_defined() else None, initializer, dtype
        first: Any = lambda: _call_initializer(function, as_list, given, partition_info)  # noqa: E731
        if as_list is None:
            dtype = None  # A function without arguments returns a value of its own dtype.
    else:
        first = initializer
        known = getattr(first, "dtype", None)
        if dtype is not None and known is not None and dtypes.as_dtype(known).base_dtype != dtypes.as_dtype(dtype).base_dtype:
            raise ValueError("Initializer type '%s' and explicit dtype '%s' don't match." % (dtypes.as_dtype(known).base_dtype, dtypes.as_dtype(dtype)))
        if shape.ndims is not None and len(shape) and hasattr(first, "shape") and not shape.is_compatible_with(first.shape):
            raise ValueError("The initializer passed is not valid: shape %s is not %s" % (first.shape, shape))
    variable = Variable(
        initial_value=first,
        name=name,
        trainable=trainable,
        collections=collections,
        dtype=dtype,
        validate_shape=validate_shape,
        caching_device=caching_device,
        constraint=constraint,
        use_resource=bool(use_resource) if use_resource is not None else resource_variables_enabled(),
        synchronization=synchronization,
        aggregation=aggregation,
    )
    store.variables[name] = variable
    if regularizer:  # An empty value is none: programs pass `{}`.
        graph = get_default_graph()
        with graph.colocate_with(variable.op), graph.name_scope(name + "/Regularizer/"):
            with graph._without_control():
                loss = regularizer(variable)
        if loss is not None:
            add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


# The arguments of the whole variable that its parts receive.
_PART = (
    "shape dtype initializer regularizer reuse trainable collections caching_device partitioner validate_shape use_resource constraint synchronization "
    "aggregation"
).split()


def _is_cut(shape: Any, initializer: Any) -> bool:
    """Whether to call the partitioner: not for scalars."""
    shape = shapes.TensorShape(shape)
    if initializer is not None and not callable(initializer):
        return getattr(initializer, "shape", shape) != ()
    return shape.ndims is None or bool(shape.ndims)


def _takes_nothing(function: Any) -> bool:
    import inspect

    try:
        return not inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _call_initializer(function: Any, shape: Any, dtype: Any, partition_info: Any = None) -> Any:
    import inspect

    try:
        takes = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return function(shape, dtype=dtype)
    if not takes and shape is None:
        return function()
    if "partition_info" in takes:
        return function(shape, dtype=dtype, partition_info=partition_info)
    return function(shape, dtype=dtype)  # As in TensorFlow: the TypeError of another function says what it has to take.


def _default_initializer(name: str, dtype: Any) -> Any:
    if dtype.is_floating:
        return initializers.glorot_uniform_initializer()
    if dtype.is_integer or dtype.is_unsigned or dtype.is_bool or dtype == dtypes.string:
        return initializers.zeros_initializer()
    raise ValueError("An initializer for variable %s of %s is required" % (name, dtype))


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: Optional[bool] = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: Optional[bool] = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
) -> Any:
    """Returns the variable with this name in the current scope: a new one, or an existing one to reuse.

    Args:
      name: The name within the scope.
      shape: The shape, unless `initializer` is a value.
      dtype: The dtype; by default the scope's, which is `float32` unless set.
      initializer: A value, an initializer, or a function that returns a value; by default the scope's, which
        is `glorot_uniform_initializer` unless set (zeros for integers, bools and strings).
      regularizer: A function from the variable to a term of the loss, which is added to the collection
        `regularization_losses`.
      trainable: If true (the default), the variable is added to the collection `trainable_variables`.
      collections: A list of the collections to add the variable to; by default `global_variables`.
      caching_device: The device of the copy that is read: a name or a function of the operation.
      partitioner: A function of shape and dtype that returns the number of parts along each axis.
      validate_shape: If true, the shape must be known.
      use_resource: If true, the variable uses a resource handle.
      custom_getter: A function that makes the variable instead, usually by calling its first argument,
        `getter`.
      constraint: A function of the value that optimizers apply after each update.
      synchronization: With `tf.VariableSynchronization.ON_READ` the variable is not trainable.
      aggregation: Ignored.

    Returns:
      A `Variable`, or a `PartitionedVariable`.

    Raises:
      ValueError: The variable exists and the scope does not reuse, or the reverse; the shape or dtype differs
        from that of the existing variable; `initializer` is a value and `shape` is given; or a variable
        with `ON_READ` is to be trainable.

    Example:
      >>> with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
      ...     w = tf.get_variable("w", [2, 3])
      ...     again = tf.get_variable("w", [2, 3])
      >>> w.name, again is w
      ('layer/w:0', True)
    """
    scope = get_variable_scope()
    full = scope.name + "/" + name if scope.name else name
    return _get(
        scope,
        full,
        shape,
        dtype,
        initializer,
        regularizer,
        trainable,
        collections,
        caching_device,
        partitioner,
        validate_shape,
        use_resource,
        custom_getter,
        constraint,
        synchronization,
        aggregation,
    )


def get_variable_named(full: str, **arguments: Any) -> Any:
    """Returns the variable with this full name, with the defaults of the current scope.

    The arguments are those of `get_variable`.
    """
    return _get(get_variable_scope(), full, **arguments)


def _get(
    scope: VariableScope,
    full: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: Optional[bool] = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: Optional[bool] = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
) -> Any:
    """Returns the variable with a full name, with the defaults of a scope."""
    getter = custom_getter if custom_getter is not None else scope.custom_getter
    if getter is not None and not callable(getter):
        raise ValueError("Passed a custom_getter which is not callable: %s" % getter)
    if dtype is None and initializer is not None and not callable(initializer):
        # A value has its own dtype, whatever the scope's.
        dtype = _dtype_of(initializer)
    elif dtype is not None and initializer is not None and not callable(initializer):
        # TensorFlow makes this node for the dtype, and seeds depend on the number of nodes.
        with get_default_graph()._exact_scope(""):
            known = convert_to_tensor(initializer).dtype.base_dtype
        if known != dtypes.as_dtype(dtype).base_dtype:
            raise ValueError("Initializer type '%s' and explicit dtype '%s' don't match." % (known, dtypes.as_dtype(dtype)))
    arguments = dict(
        shape=shape,
        dtype=scope.dtype if dtype is None else dtype,
        initializer=scope.initializer if initializer is None else initializer,
        regularizer=scope.regularizer if regularizer is None else regularizer,
        reuse=scope.reuse,
        trainable=trainable,
        collections=collections,
        caching_device=scope.caching_device if caching_device is None else caching_device,
        partitioner=scope.partitioner if partitioner is None else partitioner,
        validate_shape=validate_shape,
        use_resource=scope.use_resource if use_resource is None else use_resource,
        constraint=scope.constraint if constraint is None else constraint,
    )
    arguments["synchronization"], arguments["aggregation"] = checked(synchronization, aggregation, full)
    on_read = arguments["synchronization"] == VariableSynchronization.ON_READ
    if on_read and trainable:
        raise ValueError(
            "Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variables. "
            "You have specified trainable=True and synchronization=VariableSynchronization.ON_READ."
        )
    if trainable is None:
        arguments["trainable"] = not on_read
    graph = get_default_graph()
    # Names of variables follow variable scopes, not the enclosing name scopes.
    with graph._exact_scope(""):
        return _make(full, **arguments) if getter is None else getter(_make, full, **arguments)


def _dtype_of(value: Any) -> Any:
    """Returns the dtype of a value, which is converted only if it holds tensors."""
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        try:
            dtype = make_tensor_proto(value).dtype
        except (TypeError, ValueError):
            dtype = convert_to_tensor(value).dtype
    return dtypes.as_dtype(dtype).base_dtype


def get_local_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: Optional[bool] = False,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: Optional[bool] = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
) -> Any:
    """As `get_variable`, for a local variable, which is neither saved nor trained.

    The variable is added to the collection `local_variables`.

    Args:
      name: The name within the scope.
      trainable: Ignored.

    The other arguments are those of `get_variable`.

    Returns:
      A `Variable`.

    Example:
      >>> n = tf.get_local_variable("n", initializer=3)
      >>> n.trainable, [v.name for v in tf.local_variables()]
      (False, ['n:0'])
    """
    return get_variable(
        name,
        shape,
        dtype,
        initializer,
        regularizer,
        False,
        [*(collections or []), GraphKeys.LOCAL_VARIABLES],
        caching_device,
        partitioner,
        validate_shape,
        use_resource,
        custom_getter,
        constraint,
        synchronization,
        aggregation,
    )


# Functions that modules below need.
register_scope(lambda: get_variable_scope().use_resource)
custom_gradients.register_variables(lambda: bool(get_variable_scope().use_resource), lambda v: isinstance(v, ResourceVariable))
