"""Switches between TensorFlow's versions, used by programs that run under both.

All but `enable_control_flow_v2` leave the behaviour as it is: TensorFlow 1's.
"""

from __future__ import annotations

import os
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


# `tensorflow.python.ops.control_flow_util` has it under this name, where programs set it.
ENABLE_CONTROL_FLOW_V2 = os.getenv("TF_ENABLE_CONTROL_FLOW_V2", "0") != "0"


def control_flow_v2_enabled() -> bool:
    """Returns whether loops and branches behave like functions: see `enable_control_flow_v2`.

    Example:
      >>> tf.control_flow_v2_enabled()
      False
    """
    return bool(ENABLE_CONTROL_FLOW_V2)


def enable_control_flow_v2() -> None:
    """Makes loops and branches that are built from here on behave like functions.

    `tf.cond`, `tf.case`, `tf.switch_case`, `tf.while_loop` and what is built on them follow the rules of
    TensorFlow's `If`, `Case` and `While`: results are named `cond/Identity` and `while/Identity_2`, a list of
    one tensor that a branch returns stays a list, a loop returns the structure of its variables, `back_prop`
    has no effect, branches of different structures are a `TypeError`, and a body changes only variables that
    are resources. Elements of a `tf.TensorArray` may be read many times. Operations that draw random numbers
    are numbered within each body. Graphs hold the `Switch`, `Merge` and related nodes that TensorFlow
    replaces an `If` or `While` by when it runs the graph, so gradients of any order, and exported graphs, are
    those of other loops.

    The environment variable `TF_ENABLE_CONTROL_FLOW_V2=1` has the same effect.

    Example:
      >>> tf.enable_control_flow_v2()
      >>> x = tf.constant(3.0)
      >>> y = tf.cond(x > 2.0, lambda: [x * x], lambda: [x])
      >>> y
      [<tf.Tensor 'cond/Identity:0' shape=() dtype=float32>]
      >>> print(*tf.Session().run(tf.gradients(y, x)))
      6.0
      >>> tf.disable_control_flow_v2()
    """
    _set_control_flow_v2(True)


def disable_control_flow_v2() -> None:
    """Ends the effect of `enable_control_flow_v2` for loops and branches that are built from here on.

    Example:
      >>> tf.disable_control_flow_v2()
    """
    _set_control_flow_v2(False)


def _set_control_flow_v2(on: bool) -> None:
    global ENABLE_CONTROL_FLOW_V2
    ENABLE_CONTROL_FLOW_V2 = on


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
disable_tensor_equality = _nothing("disable_tensor_equality", "tensors are equal to themselves alone")
disable_v2_tensorshape = _nothing("disable_v2_tensorshape", "a shape's elements are of type `Dimension`")

_GRAPHS = "operations are run by sessions, from graphs"
enable_eager_execution = _refused("enable_eager_execution", _GRAPHS)
enable_v2_behavior = _refused("enable_v2_behavior", _GRAPHS)
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
