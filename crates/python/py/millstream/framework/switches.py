"""Switches between TensorFlow's versions, used by programs that run under both.

The behaviour is always TensorFlow 1's.
"""

from __future__ import annotations

from typing import Any

from millstream.framework import control_dependencies, name_scope

__all__ = [
    "control_flow_v2_enabled",
    "disable_control_flow_v2",
    "disable_eager_execution",
    "disable_tensor_equality",
    "disable_v2_behavior",
    "disable_v2_tensorshape",
    "enable_control_flow_v2",
    "enable_eager_execution",
    "enable_tensor_equality",
    "enable_v2_behavior",
    "enable_v2_tensorshape",
    "executing_eagerly",
    "init_scope",
    "op_scope",
]


def executing_eagerly() -> bool:
    """Returns False: operations add nodes to a graph, which a session runs.

    Example:
      >>> tf.executing_eagerly()
      False
    """
    return False


def control_flow_v2_enabled() -> bool:
    """Returns False: loops and branches are made of `Switch`, `Merge` and related ops.

    Example:
      >>> tf.control_flow_v2_enabled()
      False
    """
    return False


_NOTHING = """Does nothing: %s.

Example:
  >>> tf.%s()
"""

_REFUSED = """Raises: %s.

Raises:
  NotImplementedError: Always.

Example:
  >>> tf.%s()
  Traceback (most recent call last):
    ...
  NotImplementedError: tf.%s is not supported: %s
"""


def _nothing(called: str, what: str) -> Any:
    def function() -> None:
        return None

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _NOTHING % (what, called)
    return function


def _refused(called: str, what: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("tf.%s is not supported: %s" % (called, what))

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _REFUSED % (what, called, called, what)
    return function


disable_v2_behavior = _nothing("disable_v2_behavior", "it never is on")
disable_eager_execution = _nothing("disable_eager_execution", "it never is on")
disable_control_flow_v2 = _nothing("disable_control_flow_v2", "it never is on")
disable_tensor_equality = _nothing("disable_tensor_equality", "tensors are equal to themselves alone")
disable_v2_tensorshape = _nothing("disable_v2_tensorshape", "a shape's elements are of type `Dimension`")

_GRAPHS = "operations are run by sessions, from graphs"
enable_eager_execution = _refused("enable_eager_execution", _GRAPHS)
enable_v2_behavior = _refused("enable_v2_behavior", _GRAPHS)
enable_control_flow_v2 = _refused("enable_control_flow_v2", "loops and branches are made of `Switch`, `Merge` and their kin")
enable_tensor_equality = _refused("enable_tensor_equality", "tensors are equal to themselves alone; see tf.equal")
enable_v2_tensorshape = _refused("enable_v2_tensorshape", "a shape's elements are of type `Dimension`")


def init_scope() -> Any:
    """A block without the enclosing control dependencies and loops, for operations that run once.

    Returns:
      A context manager.

    Example:
      >>> with tf.control_dependencies([tf.no_op()]):
      ...     with tf.init_scope():
      ...         c = tf.constant(1)
      >>> c.op.control_inputs
      []
    """
    return control_dependencies(None)


def op_scope(values: Any, name: Any, default_name: Any = None) -> Any:
    """`name_scope` with its former order of arguments.

    Args:
      values: A list of tensors.
      name: The scope's name, or None.
      default_name: The name to use if `name` is None.

    Returns:
      A context manager.

    Example:
      >>> with tf.op_scope([], None, "layer") as scope:
      ...     print(scope)
      layer/
    """
    return name_scope(name, default_name=default_name, values=values)
