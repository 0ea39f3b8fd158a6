"""The values of all runs, kept in a variable: a part of `tf.contrib.metrics` that others there use."""

from __future__ import annotations

import math
from typing import Any, Optional

from millstream.framework import control_dependencies, convert_to_tensor, dtypes
from millstream.framework.op_functions import op
from millstream.metrics.basic import Pair, collected, metric_variable
from millstream.ops import array_ops, control_flow, math_ops
from millstream.variables import state_ops
from millstream.variables.scopes import variable_scope

__all__ = ["streaming_concat"]


def streaming_concat(
    values: Any,
    axis: int = 0,
    max_size: Optional[int] = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: Optional[str] = None,
) -> Pair:
    """Concatenates the values of all runs along an axis.

    The result of the update is the size of that axis.

    Args:
      values: A tensor; the sizes of its other axes are known.
      axis: The axis.
      max_size: The largest size; values beyond it are dropped.

    The other arguments and the results are those of `tf.metrics.mean`.

    Raises:
      ValueError: There is no such axis, or the size of another is not known.

    Example:
      >>> value, update = tf.contrib.metrics.streaming_concat(tf.constant([1, 2]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.local_variables_initializer())
      ...     sizes = [int(sess.run(update)) for _ in range(2)]
      ...     print(sizes, sess.run(value))
      [2, 4] [1 2 1 2]
    """
    values = convert_to_tensor(values)
    with variable_scope(name, "streaming_concat", (values,)):
        rank = values.shape.ndims
        if rank is None:
            raise ValueError("`values` must have known statically known rank")
        axis = axis + rank if axis < 0 else axis
        if not 0 <= axis < rank:
            raise ValueError("axis = %r not in [0, %r)" % (axis, rank))
        fixed = [n for i, n in enumerate(values.shape.as_list()) if i != axis]
        if None in fixed:
            raise ValueError("all dimensions of `values` other than the dimension to concatenate along must have statically known size")
        array = metric_variable([max_size or 0, *fixed], values.dtype, "array", validate_shape=False)
        size = metric_variable([], dtypes.int32, "size")
        filled = array[: size + 0]
        filled.set_shape([None, *fixed])
        value = array_ops.transpose(filled, [*range(1, axis + 1), 0, *range(axis + 1, rank)], name="concat")
        old = array_ops.identity(size + 0)
        added = array_ops.shape(values)[axis]
        if max_size is not None:
            added = op("Minimum")(added, max_size - old)
        batch = array_ops.transpose(values, [axis, *(i for i in range(rank) if i != axis)])[:added]
        new = old + added

        def grown() -> Any:
            # The size grows by half, so that all runs together copy a value a bounded number of times.
            exponent = op("Ceil")(op("Log")(math_ops.cast(new, dtypes.float32)) / math.log(1.5))
            larger = math_ops.cast(op("Ceil")(op("Pow")(1.5, exponent)), dtypes.int32)
            rest = array_ops.zeros(array_ops.stack([larger - new, *fixed]), values.dtype)
            whole = array_ops.concat([array.value()[:old], batch, rest], 0)
            return state_ops.assign(array, whole, validate_shape=False).op

        def placed() -> Any:
            return state_ops.scatter_update(array, math_ops.range(old, new), batch).op

        with control_dependencies([control_flow.cond(new > array_ops.shape(array.value())[0], grown, placed)]):
            update = state_ops.assign(size, new)
        return collected(value, update, metrics_collections, updates_collections)
