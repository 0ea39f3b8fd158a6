"""The global step: the variable that counts training steps."""

from __future__ import annotations

from typing import Any, Optional

from millstream.framework import control_dependencies, dtypes, get_default_graph, logging
from millstream.framework.graph_keys import GraphKeys
from millstream.variables import state_ops
from millstream.variables.initializers import zeros_initializer
from millstream.variables.scopes import get_variable

# The collection of the tensor that hooks read the global step with.
GLOBAL_STEP_READ_KEY = "global_step_read_op_cache"


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """Returns the current value of the global step.

    Args:
      sess: A session.
      global_step_tensor: The global step.

    Returns:
      An int.

    Example:
      >>> step = tf.train.create_global_step()
      >>> with tf.Session() as sess:
      ...     sess.run(step.initializer)
      ...     tf.train.global_step(sess, step)
      0
    """
    return int(sess.run(global_step_tensor))


def get_global_step(graph: Any = None) -> Any:
    """Returns the graph's global step, found by its collection or the name `global_step:0`.

    Args:
      graph: The graph; by default the default graph.

    Returns:
      A variable or tensor; None if there is none.

    Raises:
      TypeError: The global step is not an integer scalar.

    Example:
      >>> tf.train.get_global_step() is None
      True
      >>> tf.train.create_global_step() is tf.train.get_global_step()
      True
    """
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if 1 < len(found):
        logging.error("Multiple tensors in global_step collection.")
        return None
    if found:
        tensor = found[0]
    else:
        try:
            tensor = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(tensor)
    return tensor


def create_global_step(graph: Any = None) -> Any:
    """Creates the global step: an `int64` variable with initial value 0 that counts training steps.

    Args:
      graph: The graph; by default the default graph.

    Returns:
      A variable.

    Raises:
      ValueError: The graph has a global step already.

    Example:
      >>> step = tf.train.create_global_step()
      >>> step.name, step.dtype.base_dtype
      ('global_step:0', tf.int64)
    """
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default() as g, g.name_scope(None):
        return get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=dtypes.int64,
            initializer=zeros_initializer(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


def get_or_create_global_step(graph: Any = None) -> Any:
    """Returns the global step, created if there is none.

    Args:
      graph: The graph; by default the default graph.

    Returns:
      A variable or tensor.

    Example:
      >>> tf.train.get_or_create_global_step() is tf.train.get_or_create_global_step()
      True
    """
    graph = graph or get_default_graph()
    tensor = get_global_step(graph)
    return create_global_step(graph) if tensor is None else tensor


def assert_global_step(global_step_tensor: Any) -> None:
    """Raises unless the argument is an integer scalar tensor or variable.

    Args:
      global_step_tensor: The tensor or variable to check.

    Raises:
      TypeError: It is neither, or not an integer scalar.

    Example:
      >>> tf.train.assert_global_step(tf.train.create_global_step())
    """
    if not all(hasattr(global_step_tensor, word) for word in ("dtype", "get_shape", "op")):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.')
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}')
    shape = global_step_tensor.get_shape()
    if shape.ndims != 0 and shape.is_fully_defined():
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')


def _get_global_step_read(graph: Any = None) -> Any:
    graph = graph or get_default_graph()
    found = graph.get_collection(GLOBAL_STEP_READ_KEY)
    if 1 < len(found):
        raise RuntimeError(
            f"There are multiple items in collection {GLOBAL_STEP_READ_KEY}. There should be only one."
        )
    return found[0] if found else None


def _get_or_create_global_step_read(graph: Any = None) -> Any:
    """Returns a tensor that reads the global step as it was before the run; None if there is no global step.

    It is an addition of 0, and not the variable itself, whose fetch would race with the run's update.
    """
    graph = graph or get_default_graph()
    read = _get_global_step_read(graph)
    if read is not None:
        return read
    step = get_global_step(graph)
    if step is None:
        return None
    with graph.as_default() as g, g.name_scope(None), g.name_scope(step.op.name + "/"):
        value = step.initialized_value() if hasattr(step, "initialized_value") else step
        graph.add_to_collection(GLOBAL_STEP_READ_KEY, value + 0)
    return _get_global_step_read(graph)


def _increment_global_step(increment: Any, graph: Optional[Any] = None) -> Any:
    """Returns an operation that adds to the global step after it was read."""
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    if step is None:
        raise ValueError(
            "Global step tensor should be created by tf.train.get_or_create_global_step before calling increment."
        )
    read = _get_or_create_global_step_read(graph)
    with graph.as_default() as g, g.name_scope(None), g.name_scope(step.op.name + "/"):
        with control_dependencies([read]):
            return state_ops.assign_add(step, increment)
