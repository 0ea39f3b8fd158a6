"""`CrossShardOptimizer`, of one shard, and `bfloat16_scope`."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, List, Optional

from millstream.framework import colocate_with, dtypes, logging
from millstream.losses import Reduction
from millstream.ops import array_ops, math_ops
from millstream.train.optimizer import Optimizer
from millstream.variables.scopes import variable_scope

__all__ = ["CrossShardOptimizer", "bfloat16_scope", "cross_replica_sum"]


def cross_replica_sum(x: Any, group_assignment: Any = None, name: Optional[str] = None) -> Any:
    """Returns the sum of a tensor over all replicas, of which there is one: the tensor.

    Args:
      x: A tensor.
      group_assignment: Ignored.
      name: A name for the operation.

    Example:
      >>> tf.Session().run(tf.contrib.tpu.cross_replica_sum([1.0, 2.0])).tolist()
      [1.0, 2.0]
    """
    return array_ops.identity(x, name=name or "CrossReplicaSum")


class CrossShardOptimizer(Optimizer):
    """An optimizer that adds the gradients of all shards. There is one shard: it does what `opt` does.

    Args:
      opt: The `tf.train.Optimizer` that applies the gradients.
      reduction: `tf.losses.Reduction.MEAN` or `SUM`.
      name: The name of the optimizer.
      group_assignment: A list of lists of the shards that work together; None for all.

    Raises:
      ValueError: The reduction is another one, or `group_assignment` does not name the shard.

    Example:
      >>> x = tf.get_variable("x", initializer=1.0)
      >>> optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.25))
      >>> step = optimizer.minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x))
      0.5
    """

    def __init__(self, opt: Optimizer, reduction: str = Reduction.MEAN, name: str = "CrossShardOptimizer", group_assignment: Any = None) -> None:
        if reduction not in (Reduction.SUM, Reduction.MEAN):
            raise ValueError("Unsupported reduction: %s." % reduction)
        super().__init__(False, name)
        self._opt = opt
        self._group_assignment = group_assignment

    def compute_gradients(self, loss: Any, var_list: Any = None, **kwargs: Any) -> List[Any]:  # type: ignore[override]
        """Returns the gradients that `opt` computes."""
        logging.warning("CrossShardOptimizer should be used within a tpu_shard_context, but got unset number_of_shards. Assuming 1.")
        groups = self._group_assignment
        if groups:
            if not (isinstance(groups, list) and all(isinstance(group, list) for group in groups)):
                raise ValueError("group_assignment must be a list of list. Got %s" % groups)
            if {shard for group in groups for shard in group} != {0}:
                raise ValueError("group_assignment must be a permutation of range(1). Got group_assignment=%s" % groups)
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None) -> Any:
        """Applies the gradients with `opt`."""
        summed = []
        for grad, variable in grads_and_vars:
            if grad is not None:
                with colocate_with(grad):
                    grad = cross_replica_sum(grad) if not hasattr(grad, "indices") else grad
            summed.append((grad, variable))
        return self._opt.apply_gradients(summed, global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Returns a slot of `opt`."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the names of the slots of `opt`."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> Any:
        """Returns the variables of `opt`."""
        return self._opt.variables()


@contextlib.contextmanager
def bfloat16_scope() -> Iterator[Any]:
    """A scope in which `tf.get_variable(dtype=tf.bfloat16)` makes a variable of `float32`, and casts it.

    Example:
      >>> with tf.contrib.tpu.bfloat16_scope():
      ...     w = tf.get_variable("w", [2], tf.bfloat16, initializer=tf.ones_initializer())
      >>> w.dtype, tf.global_variables()[0].dtype
      (tf.bfloat16, tf.float32_ref)
    """

    def wide(getter: Any, *args: Any, **kwargs: Any) -> Any:
        narrow = kwargs["dtype"] == dtypes.bfloat16
        if narrow:
            kwargs["dtype"] = dtypes.float32
        variable = getter(*args, **kwargs)
        return math_ops.cast(variable, dtypes.bfloat16) if narrow else variable

    with variable_scope("", custom_getter=wide) as scope:
        yield scope
