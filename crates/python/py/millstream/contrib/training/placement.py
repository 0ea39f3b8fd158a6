"""Strategies for the tasks on which `tf.train.replica_device_setter` places variables."""

from __future__ import annotations

import hashlib
from typing import Any, Callable

import numpy as np

from millstream.framework.shapes import TensorShape


class RandomStrategy:
    """A strategy that places an operation on a task that a hash of its name determines.

    The same names are on the same tasks in every process. Variables of a kind, which are often made in a
    regular order, are spread over all tasks.

    Args:
      num_ps_tasks: The number of tasks.
      seed: An int: another one places the operations otherwise.

    Example:
      >>> place = tf.contrib.training.RandomStrategy(4)
      >>> [place(tf.no_op(name=name)) for name in ("weights", "bias", "scale")]
      [0, 1, 3]
    """

    def __init__(self, num_ps_tasks: int, seed: int = 0) -> None:
        self._num_tasks, self._seed = num_ps_tasks, seed

    def __call__(self, op: Any) -> int:
        digest = hashlib.md5(("%s_%d" % (op.name, self._seed)).encode()).digest()
        return int.from_bytes(digest, "big") % self._num_tasks


class GreedyLoadBalancingStrategy:
    """A strategy that places an operation on the task with the least load.

    Args:
      num_tasks: The number of tasks.
      load_fn: A function of an operation that returns its load, such as `byte_size_load_fn`.

    Example:
      >>> by_size = tf.contrib.training.byte_size_load_fn
      >>> place = tf.contrib.training.GreedyLoadBalancingStrategy(2, by_size)
      >>> [int(place(tf.Variable(tf.zeros([n])).op)) for n in (8, 2, 2)]
      [0, 1, 1]
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[Any], float]) -> None:
        self._load_fn, self._loads = load_fn, np.zeros(num_tasks)

    def __call__(self, op: Any) -> Any:
        task = np.argmin(self._loads)
        self._loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: Any) -> int:
    """Returns the size of a variable in bytes: the load of its operation.

    Args:
      op: An operation with an attribute `dtype` and a single output of known shape.

    Returns:
      An int.

    Raises:
      ValueError: The shape is not known.

    Example:
      >>> tf.contrib.training.byte_size_load_fn(tf.Variable(tf.zeros([3, 2])).op)
      24
    """
    shape = TensorShape(op.get_attr("shape") if "shape" in op._attr_names() else op.outputs[0].shape)
    if not shape.is_fully_defined():
        raise ValueError("the size of `%s` is not known: its shape is %s" % (op.name, shape))
    dtype = op.get_attr("dtype") if "dtype" in op._attr_names() else op.outputs[0].dtype
    return dtype.base_dtype.size * (shape.num_elements() or 0)
