"""Variables of `tf.contrib.framework`: made in collections, found by scope and name, set from checkpoints."""

from __future__ import annotations

import functools
import re
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from millstream._engine import Operation, Tensor
from millstream.contrib.framework.arg_scopes import add_arg_scope
from millstream.framework import add_to_collection, control_dependencies, device as on_device, dtypes, get_collection, logging, name_scope, placeholder
from millstream.framework.devices import DeviceSpec
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow
from millstream.train.checkpoints import NewCheckpointReader
from millstream.train.saver import Saver
from millstream.variables import state_ops
from millstream.variables.aggregation import VariableAggregation, VariableSynchronization
from millstream.variables.scopes import get_variable, get_variable_scope
from millstream.variables.variable import Variable, is_variable_initialized

__all__ = [
    "VariableDeviceChooser",
    "add_model_variable",
    "assign_from_checkpoint",
    "assign_from_checkpoint_fn",
    "assign_from_values",
    "assign_from_values_fn",
    "filter_variables",
    "get_local_variables",
    "get_model_variables",
    "get_trainable_variables",
    "get_unique_variable",
    "get_variable_full_name",
    "get_variables",
    "get_variables_by_name",
    "get_variables_by_suffix",
    "get_variables_to_restore",
    "global_variable",
    "local_variable",
    "model_variable",
    "variable",
    "zero_initializer",
]

# Making variables.


@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: Optional[bool] = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: Optional[bool] = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """As `tf.get_variable`, with the option of other collections and of a device.

    The other arguments are those of `tf.get_variable`. `arg_scope` blocks can set all of them.

    Args:
      name: The name within the scope.
      shape: The shape.
      dtype: The dtype.
      initializer: The initializer.
      collections: A list of collections; by default `global_variables`.
      device: The device: a name, or a function of the operation.

    Returns:
      A variable.

    Example:
      >>> w = tf.contrib.framework.variable("w", [2], collections=["mine"])
      >>> tf.get_collection("mine") == [w], tf.global_variables() == [w]
      (True, False)
    """
    keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    getter: Any = get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=get_variable_scope().reuse)
    with on_device(device or ""):
        return getter(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=list(dict.fromkeys(keys)),
            caching_device=caching_device,
            partitioner=partitioner,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )


@add_arg_scope
def model_variable(
    name: str,
    shape: Any = None,
    dtype: Any = dtypes.float32,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: Optional[bool] = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: Optional[bool] = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """As `variable`, for variables of the model: in the collection `model_variables` as well.

    The other arguments are those of `variable`. `arg_scope` blocks can set all of them.

    Args:
      name: The name within the scope.
      shape: The shape.
      dtype: The dtype.
      initializer: The initializer.
      collections: A list of further collections.

    Returns:
      A variable.

    Example:
      >>> w = tf.contrib.framework.model_variable("w", [2])
      >>> tf.model_variables() == [w]
      True
    """
    return variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=[*(collections or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES],
        caching_device=caching_device,
        device=device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def local_variable(initial_value: Any, validate_shape: bool = True, name: Optional[str] = None, use_resource: Optional[bool] = None) -> Any:
    """Returns a local variable: neither saved nor trained, in the collection `local_variables`.

    Args:
      initial_value: The initial value.
      validate_shape: If true, the shape must be known.
      name: The name.
      use_resource: If true, the variable uses a resource handle.

    Returns:
      A variable.

    Example:
      >>> n = tf.contrib.framework.local_variable(0, name="n")
      >>> tf.local_variables() == [n]
      True
    """
    return _untrained(GraphKeys.LOCAL_VARIABLES, initial_value, validate_shape, name, use_resource)


def global_variable(initial_value: Any, validate_shape: bool = True, name: Optional[str] = None, use_resource: Optional[bool] = None) -> Any:
    """Returns a variable that is saved but not trained, in the collection `global_variables`.

    Args:
      initial_value: The initial value.
      validate_shape: If true, the shape must be known.
      name: The name.
      use_resource: If true, the variable uses a resource handle.

    Returns:
      A variable.

    Example:
      >>> n = tf.contrib.framework.global_variable(0, name="n")
      >>> tf.global_variables() == [n], tf.trainable_variables()
      (True, [])
    """
    return _untrained(GraphKeys.GLOBAL_VARIABLES, initial_value, validate_shape, name, use_resource)


def _untrained(key: str, initial_value: Any, validate_shape: bool, name: Optional[str], use_resource: Optional[bool]) -> Any:
    return Variable(initial_value, trainable=False, collections=[key], validate_shape=validate_shape, name=name, use_resource=use_resource)


def add_model_variable(var: Any) -> None:
    """Adds a variable to the collection `model_variables`, unless it is there.

    Args:
      var: A variable.

    Example:
      >>> v = tf.Variable(1.0)
      >>> tf.contrib.framework.add_model_variable(v)
      >>> tf.model_variables() == [v]
      True
    """
    if not any(v is var for v in get_collection(GraphKeys.MODEL_VARIABLES)):
        add_to_collection(GraphKeys.MODEL_VARIABLES, var)


# Variables by scope and name.


def get_variables(scope: Any = None, suffix: Optional[str] = None, collection: str = GraphKeys.GLOBAL_VARIABLES) -> List[Any]:
    """Returns the variables of a collection in a scope whose names end with `suffix`.

    Args:
      scope: A name, or a `VariableScope`: selects variables in it.
      suffix: The end of the variables' names.
      collection: The collection.

    Returns:
      A list of variables.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> [v.name for v in tf.contrib.framework.get_variables("layer", suffix="bias")]
      ['layer/bias:0']
    """
    name = getattr(scope, "name", scope)
    if suffix is not None:
        suffix = suffix if ":" in suffix else suffix + ":0"
        name = (name or "") + ".*" + suffix
    return get_collection(collection, name)


def get_model_variables(scope: Any = None, suffix: Optional[str] = None) -> List[Any]:
    """Returns the variables of the model.

    Args:
      scope: A name, or a `VariableScope`: selects variables in it.
      suffix: The end of the variables' names.

    Returns:
      A list of variables.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> tf.contrib.framework.get_model_variables()
      []
    """
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: Optional[str] = None) -> List[Any]:
    """Returns the local variables.

    Args:
      scope: A name, or a `VariableScope`: selects variables in it.
      suffix: The end of the variables' names.

    Returns:
      A list of variables.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> tf.contrib.framework.get_local_variables()
      []
    """
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: Optional[str] = None) -> List[Any]:
    """Returns the trainable variables.

    Args:
      scope: A name, or a `VariableScope`: selects variables in it.
      suffix: The end of the variables' names.

    Returns:
      A list of variables.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> len(tf.contrib.framework.get_trainable_variables("layer"))
      2
    """
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> List[Any]:
    """Returns the variables whose names end with `suffix`.

    Args:
      suffix: The end of the variables' names.
      scope: A name, or a `VariableScope`: selects variables in it.

    Returns:
      A list of variables.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> tf.contrib.framework.get_variables_by_suffix("ts") == [w]
      True
    """
    return get_variables(scope, suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> List[Any]:
    """Returns the variables with the given name in any scope.

    Args:
      given_name: The last part of the name.
      scope: A name, or a `VariableScope`: selects variables in it.

    Returns:
      A list of variables.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> tf.contrib.framework.get_variables_by_name("bias") == [b]
      True
    """
    return get_variables(scope, "/" + given_name + ":|^" + given_name + ":")


def get_variables_to_restore(include: Any = None, exclude: Any = None) -> List[Any]:
    """Returns the variables to restore: those of some scopes, without those of others.

    Args:
      include: A list of scopes; by default all variables are included.
      exclude: A list of scopes.

    Returns:
      A list of variables.

    Raises:
      TypeError: An argument is neither None nor a list.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> tf.contrib.framework.get_variables_to_restore(exclude=["layer/bias"]) == [w]
      True
    """
    for given, called in ((include, "include"), (exclude, "exclude")):
        if given is not None and not isinstance(given, (list, tuple)):
            raise TypeError("%s is provided but is not a list or a tuple." % called)
    taken = get_variables() if include is None else [v for scope in include for v in get_variables(scope)]
    left = {id(v) for scope in exclude or () for v in get_variables(scope)}
    return [v for v in taken if id(v) not in left]


def get_unique_variable(var_op_name: str) -> Any:
    """Returns the only variable with this name.

    Args:
      var_op_name: The name of its operation.

    Returns:
      A variable.

    Raises:
      ValueError: No variable has this name.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> tf.contrib.framework.get_unique_variable("layer/bias") is b
      True
    """
    begun = get_variables(var_op_name)
    if not begun:
        raise ValueError("Couldn't find variable %s" % var_op_name)
    for found in begun:
        if found.op.name == var_op_name:
            return found
    raise ValueError("Variable %s does not uniquely identify a variable" % var_op_name)


def get_variable_full_name(var: Any) -> str:
    """Returns the variable's name in checkpoints; that of the whole for a part of a partitioned variable.

    Args:
      var: A variable.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> tf.contrib.framework.get_variable_full_name(b)
      'layer/bias'
    """
    info = var._save_slice_info
    return str(info.full_name if info else var.op.name)


def filter_variables(var_list: Sequence[Any], include_patterns: Any = None, exclude_patterns: Any = None, reg_search: bool = True) -> List[Any]:
    """Returns the variables whose names match one of some patterns, and none of others.

    Args:
      var_list: A list of variables.
      include_patterns: A list of regular expressions; by default all variables are included.
      exclude_patterns: A list of regular expressions.
      reg_search: If true, a pattern may match any part of the name, otherwise its beginning.

    Returns:
      A list of variables.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> tf.contrib.framework.filter_variables([w, b], exclude_patterns=["bias"]) == [w]
      True
    """
    matches = re.search if reg_search else re.match

    def one_of(patterns: Any, var: Any) -> bool:
        return any(matches(p, var.name) for p in patterns)

    taken = [v for v in var_list if include_patterns is None or one_of(include_patterns, v)]
    return [v for v in taken if exclude_patterns is None or not one_of(exclude_patterns, v)]


# Values from outside: `Assign` nodes fed by placeholders, which keep large values out of the graph.


def _placeholder(var: Any) -> Any:
    return placeholder(var.dtype.base_dtype, var.get_shape(), name="placeholder/" + var.op.name)


def assign_from_values(var_names_to_values: Dict[str, Any]) -> Tuple[Operation, Dict[Any, Any]]:
    """Returns an operation that assigns values to variables, and the feeds that it needs.

    Args:
      var_names_to_values: A dict from names of variables to arrays.

    Returns:
      A pair of an operation and a dict for `Session.run`.

    Raises:
      ValueError: No variable has such a name.

    Example:
      >>> import numpy as np
      >>> v = tf.get_variable("v", [2])
      >>> assign, feeds = tf.contrib.framework.assign_from_values({"v": np.array([1.0, 2.0])})
      >>> with tf.Session() as sess:
      ...     sess.run(assign, feeds)
      ...     print(sess.run(v))
      [1. 2.]
    """
    feeds, assigns = {}, []
    for name, value in var_names_to_values.items():
        found = get_collection(GraphKeys.GLOBAL_VARIABLES, name)
        if not found:
            raise ValueError("Variable %s wasn't found" % name)
        exact = found if len(found) == 1 else [v for v in found if v.op.name == name]
        if not exact:
            raise ValueError("Variable %s doesn't uniquely identify a variable" % name)
        fed = _placeholder(exact[0])
        assigns.append(exact[0].assign(fed))
        feeds[fed] = value.reshape(exact[0].get_shape().as_list())
    return control_flow.group(*assigns), feeds


def assign_from_values_fn(var_names_to_values: Dict[str, Any]) -> Callable[[Any], Any]:
    """As `assign_from_values`, but returns a function of a session.

    Args:
      var_names_to_values: A dict from names of variables to arrays.

    Returns:
      A function that assigns the values in a session.

    Raises:
      ValueError: No variable has such a name.

    Example:
      >>> import numpy as np
      >>> v = tf.get_variable("v", [2])
      >>> assign = tf.contrib.framework.assign_from_values_fn({"v": np.array([1.0, 2.0])})
      >>> with tf.Session() as sess:
      ...     assign(sess)
      ...     print(sess.run(v))
      [1. 2.]
    """
    assign, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(assign, feeds)


def assign_from_checkpoint(model_path: str, var_list: Any, ignore_missing_vars: bool = False) -> Tuple[Operation, Dict[Any, Any]]:
    """Returns an operation that assigns the values of a checkpoint to variables, and the feeds that it needs.

    The checkpoint is read at once.

    Args:
      model_path: A checkpoint.
      var_list: A list of variables, or a dict from names in the checkpoint to a variable or a list of them.
      ignore_missing_vars: If true, a variable that the checkpoint lacks is left out, with a warning.

    Returns:
      A pair of an operation and a dict for `Session.run`.

    Raises:
      ValueError: The checkpoint lacks a variable, or holds another shape.

    Example:
      >>> import os, tempfile
      >>> v = tf.get_variable("v", initializer=[1.0, 2.0])
      >>> saver = tf.train.Saver()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = saver.save(sess, os.path.join(tempfile.mkdtemp(), "model"))
      >>> assign, feeds = tf.contrib.framework.assign_from_checkpoint(path, [v])
      >>> with tf.Session() as sess:
      ...     sess.run(assign, feeds)
      ...     print(sess.run(v))
      [1. 2.]
    """
    wanted: Dict[str, List[Any]] = {}
    if isinstance(var_list, (tuple, list)):
        for var in var_list:
            wanted.setdefault(get_variable_full_name(var), []).append(var)
    else:
        wanted = {name: list(v) if isinstance(v, (tuple, list)) else [v] for name, v in var_list.items()}
    reader = NewCheckpointReader(model_path)
    feeds, assigns = {}, []
    for name, targets in wanted.items():
        if not reader.has_tensor(name):
            if not ignore_missing_vars:
                raise ValueError("Checkpoint is missing variable [%s]" % name)
            logging.warning("Checkpoint is missing variable [%s]", name)
            continue
        value = reader.get_tensor(name)
        for var in targets:
            fed = _placeholder(var)
            assigns.append(var.assign(fed))
            feeds[fed] = _part(name, var, value)
    return control_flow.group(*assigns), feeds


def _part(name: str, var: Any, value: Any) -> Any:
    """Returns the part of a saved value that belongs to a variable: all of it, unless it is partitioned."""
    info = var._save_slice_info
    if info:
        cut = tuple(slice(start, start + size) for start, size in zip(info.var_offset, info.var_shape))
        return value[cut].reshape(info.var_shape)
    if var.get_shape() != value.shape:
        raise ValueError(
            "Total size of new array must be unchanged for %s lh_shape: [%s], rh_shape: [%s]" % (name, value.shape, var.get_shape())
        )
    return value


def assign_from_checkpoint_fn(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False, reshape_variables: bool = False
) -> Optional[Callable[[Any], Any]]:
    """Returns a function that restores variables from a checkpoint in a session.

    Args:
      model_path: A checkpoint.
      var_list: A list of variables, or a dict from names in the checkpoint to variables.
      ignore_missing_vars: If true, variables that the checkpoint lacks are left out, with warnings.
      reshape_variables: If true, a value may have another shape of the same number of elements.

    Returns:
      A function of a session; None if the checkpoint has none of the variables.

    Raises:
      ValueError: `var_list` is empty.

    Example:
      >>> import os, tempfile
      >>> v = tf.get_variable("v", initializer=[1.0, 2.0])
      >>> saver = tf.train.Saver()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = saver.save(sess, os.path.join(tempfile.mkdtemp(), "model"))
      >>> restore = tf.contrib.framework.assign_from_checkpoint_fn(path, {"v": v})
      >>> with tf.Session() as sess:
      ...     restore(sess)
      ...     print(sess.run(v))
      [1. 2.]
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        reader = NewCheckpointReader(model_path)
        wanted = var_list if isinstance(var_list, dict) else {v.op.name: v for v in var_list}
        for name in wanted:
            if not reader.has_tensor(name):
                logging.warning("Variable %s missing in checkpoint %s", name, model_path)
        var_list = {name: v for name, v in wanted.items() if reader.has_tensor(name)}
    if not var_list:
        logging.warning("No Variables to restore")
        return None
    saver = Saver(var_list, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)


class VariableDeviceChooser:
    """A device function for variables: one after the other on the tasks of a job.

    Args:
      num_tasks: The number of tasks; 0 leaves the job out.
      job_name: The name of the job.
      device_type: The type of the device.
      device_index: Its index.
      replica: The replica.

    Example:
      >>> choose = tf.contrib.framework.VariableDeviceChooser(num_tasks=2)
      >>> [choose(None) for _ in range(3)]
      ['/job:ps/task:0/device:CPU:0', '/job:ps/task:1/device:CPU:0', '/job:ps/task:0/device:CPU:0']
    """

    def __init__(
        self, num_tasks: int = 0, job_name: str = "ps", device_type: str = "CPU", device_index: int = 0, replica: Optional[int] = None
    ) -> None:
        self._num_tasks, self._next = num_tasks, 0
        self._place = dict(replica=replica, device_type=device_type, device_index=device_index)
        self._job_name = job_name

    def __call__(self, op: Any) -> str:
        place: Dict[str, Any] = dict(self._place)
        if 0 < self._num_tasks:
            place.update(job=self._job_name, task=self._next)
            self._next = (self._next + 1) % self._num_tasks
        return DeviceSpec(**place).to_string()


def zero_initializer(ref: Any, use_locking: bool = True, name: Optional[str] = "zero_initializer") -> Tensor:
    """Sets a variable that has no value to zeros, without a tensor of zeros in the graph.

    Args:
      ref: A variable.
      use_locking: Whether the assignment holds the variable's lock.
      name: A name for the operations.

    Returns:
      The variable as a tensor, which is set before it is read; of a resource variable, its handle.

    Raises:
      InvalidArgumentError: In a run, the variable has a value already.

    Example:
      >>> v = tf.get_variable("v", [2])
      >>> zeroed = tf.contrib.framework.zero_initializer(v)
      >>> print(tf.Session().run(zeroed))
      [0. 0.]
    """
    with name_scope(name):
        unset = op("LogicalNot")(is_variable_initialized(ref))
        check = control_flow.assert_(unset, ["input is already initialized: %s has a value" % ref.op.name])
        with control_dependencies([check]):
            zeros = array_ops.zeros(ref.get_shape(), ref.dtype.base_dtype)
        if ref.dtype == dtypes.resource or getattr(ref, "handle", None) is not None:
            with control_dependencies([ref.assign(zeros).op]):
                return array_ops.identity(ref.handle)
        return state_ops.assign(ref, zeros, use_locking=use_locking)
