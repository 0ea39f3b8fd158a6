"""`variable_scope` and `get_variable`: variables by name, made or found as the scope says."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from millstream import dtypes, shapes
from millstream.framework import add_to_collection, get_default_graph
from millstream.graph_keys import GraphKeys

_EXTRA = "variable_scopes"


class _AutoReuse:
    def __repr__(self) -> str:
        return "<_ReuseMode.AUTO_REUSE: 1>"


AUTO_REUSE = _AutoReuse()


class _Store:
    """The variables of a graph by name, and how often each scope was opened."""

    def __init__(self) -> None:
        self.variables: Dict[str, Any] = {}
        self.opened: Dict[str, int] = {}
        self.current = VariableScope(False)


def _store() -> _Store:
    extras = get_default_graph()._extras
    if _EXTRA not in extras:
        extras[_EXTRA] = _Store()
    return extras[_EXTRA]


class VariableScope:
    """What `get_variable` takes where it is not told. `variable_scope` makes and gives it.

    Example:
      >>> with tf.variable_scope("layer", initializer=tf.ones_initializer(), use_resource=True) as scope:
      ...     v = tf.get_variable("v", [2])
      >>> scope.name, scope.original_name_scope, scope.reuse, scope.dtype, scope.use_resource
      ('layer', 'layer/', False, tf.float32, True)
      >>> scope.regularizer, scope.caching_device, scope.partitioner, scope.custom_getter, scope.constraint
      (None, None, None, None, None)
      >>> scope.initializer.get_config()
      {'dtype': 'float32'}
      >>> [v.name for v in scope.global_variables()], len(scope.trainable_variables()), scope.local_variables()
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

    name = property(lambda self: self._name, doc="The name.")
    original_name_scope = property(lambda self: self._name_scope, doc="The name scope it was opened in first.")
    reuse = property(lambda self: self._reuse, doc="Whether variables are found rather than made.")
    initializer = property(lambda self: self._initializer, doc="What variables hold first.")
    regularizer = property(lambda self: self._regularizer, doc="What makes a term of the loss of each.")
    caching_device = property(lambda self: self._caching_device, doc="Accepted: there is one device.")
    partitioner = property(lambda self: self._partitioner, doc="What says into how many parts variables are cut.")
    custom_getter = property(lambda self: self._custom_getter, doc="What is asked for variables instead.")
    dtype = property(lambda self: self._dtype, doc="The element type.")
    use_resource = property(lambda self: self._use_resource, doc="Whether variables are behind handles.")
    constraint = property(lambda self: self._constraint, doc="What projects variables after updates.")

    def reuse_variables(self) -> None:
        """From here on variables are found, not made."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """What variables hold first."""
        self._initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """What makes a term of the loss of each."""
        self._regularizer = regularizer

    def set_dtype(self, dtype: Any) -> None:
        """The element type."""
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool) -> None:
        """Whether variables are behind handles."""
        self._use_resource = use_resource

    def set_partitioner(self, partitioner: Any) -> None:
        """What says into how many parts variables are cut."""
        self._partitioner = partitioner

    def set_caching_device(self, caching_device: Any) -> None:
        """Accepted: there is one device."""
        self._caching_device = caching_device

    def set_custom_getter(self, custom_getter: Any) -> None:
        """What is asked for variables instead."""
        self._custom_getter = custom_getter

    def get_collection(self, name: str) -> List[Any]:
        """The values of a collection whose names begin with the scope's."""
        return get_default_graph().get_collection(name, self._name + "/" if self._name else "")

    def trainable_variables(self) -> List[Any]:
        """The scope's variables that are trained."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> List[Any]:
        """The scope's variables."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> List[Any]:
        """The scope's local variables."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def _copy(self, **changes: Any) -> "VariableScope":
        scope = VariableScope.__new__(VariableScope)
        scope.__dict__.update(self.__dict__)
        scope.__dict__.update({"_" + k: v for k, v in changes.items() if v is not None})
        return scope


def get_variable_scope() -> VariableScope:
    """The scope that is open.

    Returns:
      A `VariableScope`.

    Example:
      >>> with tf.variable_scope("outer"), tf.variable_scope("inner"):
      ...     tf.get_variable_scope().name
      'outer/inner'
    """
    return _store().current


class variable_scope:
    """A scope for `get_variable`: a name before those of variables and operations, and what variables are made with.

    Args:
      name_or_scope: A name within the scope that is open, or a `VariableScope` to open again.
      default_name: A name to make unique, if `name_or_scope` is None.
      values: A list of tensors, which must be of one graph.
      initializer: What variables hold first.
      regularizer: A function of each variable that gives a term of the loss.
      caching_device: Accepted.
      partitioner: What says into how many parts variables are cut.
      custom_getter: What is asked for variables instead.
      reuse: True: variables are found, not made. `tf.AUTO_REUSE`: found, or made. None: as the scope around it.
      dtype: The dtype of variables.
      use_resource: Whether variables are behind handles.
      constraint: What optimizers apply to variables after updates.
      auxiliary_name_scope: Whether operations get the name, too.

    Returns:
      What a `with` statement takes; it gives the `VariableScope`.

    Raises:
      TypeError: Neither a name nor a default, or one of another kind.
      ValueError: `reuse` is none of these.

    Example:
      >>> def layer(x):
      ...     with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
      ...         w = tf.get_variable("w", [3, 2])
      ...         return tf.matmul(x, w, name="product")
      >>> layer(tf.zeros([1, 3])).name, layer(tf.ones([1, 3])).name, [v.name for v in tf.trainable_variables()]
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
            reuse = None  # As TensorFlow: it does not undo the reuse of the scopes around.
        if not (reuse is True or reuse is None or reuse is AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError("The auxiliary_name_scope must be `True` or `False`, while get {}".format(auxiliary_name_scope))
        if not isinstance(name_or_scope, (VariableScope, str, type(None))):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
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
        self._stack.append((store, old, block, opened, scope))
        return scope

    def __exit__(self, *why: Any) -> None:
        store, old, block, opened, scope = self._stack.pop()
        store.current = old
        if opened is not None:
            store.opened = opened
        else:
            inside = scope.name + "/"
            store.opened = {k: n for k, n in store.opened.items() if not k.startswith(inside)}
        if block is not None:
            block.__exit__(*why)

    @staticmethod
    def _unused(store: _Store, outer: str, name: str) -> str:
        full = lambda n: outer + "/" + n if outer else n  # noqa: E731
        if not store.opened.get(full(name)):
            return name
        i = 1
        while store.opened.get(full("%s_%d" % (name, i))):
            i += 1
        return "%s_%d" % (name, i)


def variable_op_scope(values: Any, name_or_scope: Any, default_name: Optional[str] = None, **options: Any) -> variable_scope:
    """`variable_scope` with its arguments in another order.

    Args:
      values: A list of tensors.
      name_or_scope: As for `variable_scope`.
      default_name: As for `variable_scope`.
      **options: The other arguments of `variable_scope`.

    Returns:
      What a `with` statement takes.

    Example:
      >>> with tf.variable_op_scope([], None, "layer"):
      ...     tf.get_variable("v", [2]).name
      'layer/v:0'
    """
    return variable_scope(name_or_scope, default_name=default_name, values=values, **options)


def no_regularizer(_: Any) -> None:
    """No term for the loss: for a variable in a scope that has a regularizer.

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
    from millstream import partitions, variables

    store = _store()
    dtype = dtypes.as_dtype(dtype).base_dtype
    if partitioner is not None and _is_cut(shape, initializer):
        part = dict(locals())
        arguments = {k: part[k] for k in _PART}
        return partitions.make(_make, name, arguments)
    shape = shapes.TensorShape(shape)
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
    if initializer is None:
        initializer = _default_initializer(name, dtype)
    if isinstance(initializer, type):
        initializer = initializer()
    if callable(initializer):
        if not shape.is_fully_defined() and not _takes_nothing(initializer):
            raise ValueError(
                "The initializer passed is not valid. It should be a callable with no arguments and the shape should not be provided or an instance of "
                "`tf.keras.initializers.*' and `shape` should be fully defined. The shape of the new variable `%s` is %s." % (name, shape)
            )
        as_list, function = shape.as_list() if shape.is_fully_defined() else None, initializer
        first: Any = lambda: _call_initializer(function, as_list, dtype, partition_info)  # noqa: E731
    else:
        first = initializer
        known = getattr(first, "dtype", None)
        if dtype is not None and known is not None and dtypes.as_dtype(known).base_dtype != dtypes.as_dtype(dtype).base_dtype:
            raise ValueError("Initializer type '%s' and explicit dtype '%s' don't match." % (dtypes.as_dtype(known).base_dtype, dtypes.as_dtype(dtype)))
        if shape.ndims is not None and len(shape) and hasattr(first, "shape") and not shape.is_compatible_with(first.shape):
            raise ValueError("The initializer passed is not valid: shape %s is not %s" % (first.shape, shape))
    variable = variables.Variable(
        initial_value=first,
        name=name,
        trainable=trainable,
        collections=collections,
        dtype=dtype,
        validate_shape=validate_shape,
        constraint=constraint,
        use_resource=bool(use_resource) if use_resource is not None else variables.resource_variables_enabled(),
    )
    store.variables[name] = variable
    if regularizer is not None:
        graph = get_default_graph()
        with graph.colocate_with(variable.op), graph.name_scope(name + "/Regularizer/"):
            with graph._without_control():
                loss = regularizer(variable)
        if loss is not None:
            add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


# What the parts of a variable are given of what was said of the whole.
_PART = (
    "shape dtype initializer regularizer reuse trainable collections caching_device partitioner validate_shape use_resource constraint synchronization "
    "aggregation"
).split()


def _is_cut(shape: Any, initializer: Any) -> bool:
    """Whether a partitioner is asked: not for scalars."""
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
    if not takes:
        return function()
    if "partition_info" in takes:
        return function(shape, dtype=dtype, partition_info=partition_info)
    return function(shape, dtype=dtype) if "dtype" in takes or len(takes) > 1 else function(shape)


def _default_initializer(name: str, dtype: Any) -> Any:
    from millstream import init_ops

    if dtype.is_floating:
        return init_ops.glorot_uniform_initializer()
    if dtype.is_integer or dtype.is_unsigned or dtype.is_bool or dtype == dtypes.string:
        return init_ops.zeros_initializer()
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
    """The variable of this name in the current scope: made, or found if the scope reuses.

    Args:
      name: Its name; the scope's stands before it.
      shape: Its shape, unless `initializer` is a value.
      dtype: Its dtype; the scope's by default, float32.
      initializer: A value, an initializer, or a function that gives it; the scope's by default,
        `glorot_uniform_initializer`.
      regularizer: A function of the variable that gives a term of the loss, put into the collection
        `regularization_losses`.
      trainable: Whether it is put into the collection `trainable_variables`.
      collections: A list of the collections it is put into; `global_variables` by default.
      caching_device: Accepted.
      partitioner: A function of shape and dtype that says into how many parts it is cut along each axis.
      validate_shape: Whether the shape must be known.
      use_resource: Whether it is behind a handle.
      custom_getter: A function that is asked for it instead, with `getter` first.
      constraint: A function of the value that optimizers apply after each update.
      synchronization: Accepted.
      aggregation: Accepted.

    Returns:
      A `Variable`, or a `PartitionedVariable`.

    Raises:
      ValueError: There is one and the scope does not reuse; there is none and it does; shape or dtype differ from
        those of the one that is found; or `initializer` is a value and `shape` is given.

    Example:
      >>> with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
      ...     w = tf.get_variable("w", [2, 3])
      ...     again = tf.get_variable("w", [2, 3])
      >>> w.name, again is w
      ('layer/w:0', True)
    """
    scope = get_variable_scope()
    full = scope.name + "/" + name if scope.name else name
    getter = custom_getter if custom_getter is not None else scope.custom_getter
    if dtype is None and initializer is not None and not callable(initializer):
        from millstream.framework import convert_to_tensor

        if scope.dtype == dtypes.float32:
            dtype = getattr(initializer, "dtype", None) or convert_to_tensor(initializer).dtype
        dtype = dtypes.as_dtype(dtype or scope.dtype).base_dtype
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
        synchronization=synchronization,
        aggregation=aggregation,
    )
    if trainable is None:
        arguments["trainable"] = True
    if initializer is not None and not callable(initializer) and shape is not None and shapes.TensorShape(shape).ndims is not None:
        raise ValueError("If initializer is a constant, do not specify shape.")
    graph = get_default_graph()
    # Names of variables are those of their scopes, not of the name scopes around.
    with graph._exact_scope(""):
        return _make(full, **arguments) if getter is None else getter(_make, full, **arguments)


def get_local_variable(name: str, *args: Any, **kwargs: Any) -> Any:
    """As `get_variable`, for a variable that is not saved and not trained: it is put into the collection
    `local_variables`.

    Args:
      name: Its name; the scope's stands before it.
      *args: The other arguments are those of `get_variable`.
      **kwargs: The same by keyword.

    Returns:
      A `Variable`.

    Example:
      >>> n = tf.get_local_variable("n", initializer=3)
      >>> n.trainable, [v.name for v in tf.local_variables()]
      (False, ['n:0'])
    """
    kwargs["trainable"] = False
    kwargs["collections"] = list(kwargs.get("collections") or []) + [GraphKeys.LOCAL_VARIABLES]
    return get_variable(name, *args, **kwargs)
