"""Parts of variables changed, by indices of more than one dimension."""

from __future__ import annotations

from typing import Any, Optional

from millstream import array_ops, math_ops
from millstream._ops import op
from millstream.framework import control_dependencies, convert_to_tensor, name_scope
from millstream.variables import ResourceVariable, Variable, scatter_update

__all__ = ["batch_scatter_update", "scatter_nd_add", "scatter_nd_sub", "scatter_nd_update"]


def _nd(what: str, locks: bool, said: str) -> Any:
    def function(ref: Any, indices: Any, updates: Any, use_locking: bool = locks, name: Optional[str] = None) -> Any:
        if isinstance(ref, ResourceVariable):
            updates = convert_to_tensor(updates, ref.dtype)
            done = op("ResourceScatterNd" + what)(ref.handle, indices, updates, use_locking=use_locking, name=name)
            with control_dependencies([done]):
                return ref.read_value()
        return op("ScatterNd" + what)(ref._ref() if isinstance(ref, Variable) else ref, indices, updates, use_locking=use_locking, name=name)

    function.__name__ = function.__qualname__ = "scatter_nd_" + what.lower()
    function.__doc__ = said + " The last dimension of `indices` says where, in the first dimensions of the variable."
    return function


scatter_nd_add = _nd("Add", False, "Adds to parts of a variable.")
scatter_nd_sub = _nd("Sub", False, "Subtracts from parts of a variable.")
scatter_nd_update = _nd("Update", True, "Puts new values into parts of a variable.")


def batch_scatter_update(ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: Optional[str] = None) -> Any:
    """For each row of indices, puts updates into the same row of the variable: `ref[i, indices[i, j]] = updates[i, j]`.

    Args:
      ref: A variable.
      indices: An int32 or int64 tensor of shape `[batch, k]`.
      updates: A tensor of shape `[batch, k, ..]`.
      use_locking: Whether others wait meanwhile.
      name: The name scope of what is made.

    Returns:
      The variable after that.

    Raises:
      ValueError: The rank of `indices` is unknown.

    Example:
      >>> v = tf.Variable([[1, 2], [3, 4]])
      >>> changed = tf.batch_scatter_update(v, [[0], [1]], [[10], [40]])
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     print(sess.run(changed))
      [[10  2]
       [ 3 40]]
    """
    with name_scope(name):
        indices = convert_to_tensor(indices, name="indices")
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("batch_scatter_update: the rank of the indices must be known")
        if rank == 1:
            return scatter_update(ref, indices, updates, use_locking=use_locking)
        dims = array_ops.unstack(array_ops.shape(indices))
        # The indices with the places of their rows in front.
        parts = []
        for i in range(rank - 1):
            place = math_ops.cast(math_ops.range(dims[i]), indices.dtype)
            shape = [1] * rank
            shape[i] = dims[i]  # type: ignore[call-overload]
            wide = array_ops.reshape(place, array_ops.stack([convert_to_tensor(d) for d in shape]))
            parts.append(wide + array_ops.zeros_like(indices))
        return scatter_nd_update(ref, array_ops.stack(parts + [indices], axis=-1), updates, use_locking)
