"""The global step: the variable that counts how often a model was trained."""

from __future__ import annotations

from typing import Any, Optional

import millstream as tf
from millstream import logging
from millstream.graph_keys import GraphKeys

# The collection of the tensor that hooks read the step with.
GLOBAL_STEP_READ_KEY = "global_step_read_op_cache"


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The step's value now.

    Args:
      sess: A session.
      global_step_tensor: The step.

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
    """The graph's global step, from its collection or by the name `global_step:0`.

    Args:
      graph: The graph; the default graph by default.

    Returns:
      A variable or tensor; None if there is none.

    Raises:
      TypeError: It is no scalar of integers.

    Example:
      >>> tf.train.get_global_step() is None
      True
      >>> tf.train.create_global_step() is tf.train.get_global_step()
      True
    """
    graph = graph or tf.get_default_graph()
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
    """Makes the global step: an int64 variable, zero at first, that counts the steps of training.

    Args:
      graph: The graph; the default graph by default.

    Returns:
      A variable.

    Raises:
      ValueError: There is one.

    Example:
      >>> step = tf.train.create_global_step()
      >>> step.name, step.dtype.base_dtype
      ('global_step:0', tf.int64)
    """
    graph = graph or tf.get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default() as g, g.name_scope(None):
        return tf.get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=tf.int64,
            initializer=tf.zeros_initializer(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


def get_or_create_global_step(graph: Any = None) -> Any:
    """The global step, made if there is none.

    Args:
      graph: The graph; the default graph by default.

    Returns:
      A variable or tensor.

    Example:
      >>> tf.train.get_or_create_global_step() is tf.train.get_or_create_global_step()
      True
    """
    graph = graph or tf.get_default_graph()
    tensor = get_global_step(graph)
    return create_global_step(graph) if tensor is None else tensor


def assert_global_step(global_step_tensor: Any) -> None:
    """Raises unless it is a scalar integer tensor or variable.

    Args:
      global_step_tensor: What is looked at.

    Raises:
      TypeError: It is none.

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
    graph = graph or tf.get_default_graph()
    found = graph.get_collection(GLOBAL_STEP_READ_KEY)
    if 1 < len(found):
        raise RuntimeError(
            f"There are multiple items in collection {GLOBAL_STEP_READ_KEY}. There should be only one."
        )
    return found[0] if found else None


def _get_or_create_global_step_read(graph: Any = None) -> Any:
    """A tensor that reads the step as it was before the run; None if there is no step.

    A tensor of its own: fetching the variable itself would say nothing about whether the run's update came first.
    """
    graph = graph or tf.get_default_graph()
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
    """An op that adds to the step, after it was read."""
    graph = graph or tf.get_default_graph()
    step = get_global_step(graph)
    if step is None:
        raise ValueError(
            "Global step tensor should be created by tf.train.get_or_create_global_step before calling increment."
        )
    read = _get_or_create_global_step_read(graph)
    with graph.as_default() as g, g.name_scope(None), g.name_scope(step.op.name + "/"):
        with tf.control_dependencies([read]):
            return tf.assign_add(step, increment)
