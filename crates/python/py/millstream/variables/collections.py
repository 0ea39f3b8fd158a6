"""The variables of a graph by collection, and their initializers."""

from __future__ import annotations

from typing import Any, List, Optional

from millstream._engine import Operation, Tensor
from millstream.framework import constant, dtypes, get_collection, get_default_graph, name_scope
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.ops.array_ops import stack
from millstream.ops.control_flow import group
from millstream.ops.indexing_ops import boolean_mask
from millstream.variables.variable import is_variable_initialized

__all__ = [
    "all_variables",
    "assert_variables_initialized",
    "global_variables",
    "global_variables_initializer",
    "initialize_all_variables",
    "initialize_local_variables",
    "initialize_variables",
    "local_variables",
    "local_variables_initializer",
    "model_variables",
    "moving_average_variables",
    "report_uninitialized_variables",
    "trainable_variables",
    "variables_initializer",
]


_COLLECTED = """Returns the variables of the collection `{key}`.

Args:
  scope: A regular expression: selects variables whose names it matches at the beginning.

Returns:
  A list of variables, in the order of their creation.

Example:
  >>> v = tf.Variable(1, name="v", collections=["{key}"])
  >>> w = tf.Variable(2, name="w", collections=["{key}"])
  >>> [v.name for v in tf.{name}()], [v.name for v in tf.{name}("w")]
  (['v:0', 'w:0'], ['w:0'])
"""


def _of(key: str, called: str) -> Any:
    def function(scope: Optional[str] = None) -> List[Any]:
        return get_collection(key, scope)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _COLLECTED.format(key=key, name=called)
    return function


global_variables = _of(GraphKeys.GLOBAL_VARIABLES, "global_variables")
local_variables = _of(GraphKeys.LOCAL_VARIABLES, "local_variables")
trainable_variables = _of(GraphKeys.TRAINABLE_VARIABLES, "trainable_variables")
model_variables = _of(GraphKeys.MODEL_VARIABLES, "model_variables")
moving_average_variables = _of(GraphKeys.MOVING_AVERAGE_VARIABLES, "moving_average_variables")


def all_variables() -> List[Any]:
    """The former name of `global_variables`.

    Example:
      >>> v = tf.Variable(1, name="v")
      >>> [v.name for v in tf.all_variables()]
      ['v:0']
    """
    return global_variables()


def variables_initializer(var_list: Any, name: str = "init") -> Operation:
    """Returns an operation that initializes these variables.

    Args:
      var_list: A list of variables.
      name: A name for the operation.

    Returns:
      An `Operation`.

    Example:
      >>> v, w = tf.Variable(1), tf.Variable(2)
      >>> init = tf.variables_initializer([v])
      >>> with tf.Session() as sess:
      ...     sess.run(init)
      ...     print(*sess.run([tf.is_variable_initialized(v), tf.is_variable_initialized(w)]))
      True False
    """
    return group(*[v.initializer for v in var_list], name=name)


initialize_variables = variables_initializer


def global_variables_initializer() -> Operation:
    """Returns an operation that initializes all global variables that exist now.

    Returns:
      An `Operation`.

    Example:
      >>> v = tf.Variable(3)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(v))
      3
    """
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation:
    """Returns an operation that initializes all local variables that exist now.

    Returns:
      An `Operation`.

    Example:
      >>> n = tf.get_local_variable("n", initializer=3)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     print(sess.run(n))
      3
    """
    return variables_initializer(local_variables())


initialize_all_variables = global_variables_initializer
initialize_local_variables = local_variables_initializer


def report_uninitialized_variables(var_list: Any = None, name: str = "report_uninitialized_variables") -> Tensor:
    """Returns the names of the variables that are not initialized.

    Args:
      var_list: A list of variables; by default all global and local ones.
      name: The name scope of the new operations.

    Returns:
      A vector of strings.

    Example:
      >>> v, w = tf.Variable(1, name="v"), tf.Variable(2, name="w")
      >>> missing = tf.report_uninitialized_variables()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     print(sess.run(missing))
      [b'w']
    """
    if var_list is None:
        var_list = global_variables() + local_variables()
    with name_scope(name):
        if not var_list:
            return constant([], dtypes.string)
        missing = op("LogicalNot")(stack([is_variable_initialized(v) for v in var_list]))
        return boolean_mask(constant([v.name.rpartition(":")[0] for v in var_list], dtypes.string), missing)


def assert_variables_initialized(var_list: Any = None) -> Any:
    """Asserts that all variables are initialized.

    Args:
      var_list: A list of variables; by default all global and local ones.

    Returns:
      A tensor to run; None if there are no variables.

    Raises:
      tf.errors.FailedPreconditionError: When run: a variable is not initialized.

    Example:
      >>> v = tf.Variable(1, name="v")
      >>> check = tf.assert_variables_initialized()
      >>> tf.Session().run(check)
      Traceback (most recent call last):
        ...
      millstream.errors.FailedPreconditionError: Attempting to use uninitialized value v
      ...
    """
    if var_list is None:
        var_list = global_variables() + local_variables()
    if not var_list:
        return None
    ranks = []
    for v in var_list:
        with get_default_graph().colocate_with(v.op):
            ranks.append(op("Rank")(v.value()))
    return ranks[0] if len(ranks) == 1 else op("Pack")(ranks)
