"""Updates of variables: of whole values (`assign`), or of rows and slices (`scatter_add`, `scatter_nd_add`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from millstream._engine import Tensor
from millstream.framework import IndexedSlices, convert_to_tensor, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops, math_ops
from millstream.variables.variable import RefVariable, ResourceVariable, SCATTERED, Variable

if TYPE_CHECKING:
    from millstream.framework.types import Scatter

__all__ = [
    "assign",
    "assign_add",
    "assign_sub",
    "batch_scatter_update",
    "count_up_to",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd_add",
    "scatter_nd_sub",
    "scatter_nd_update",
    "scatter_sub",
    "scatter_update",
]


_ASSIGNED = """{doc}: `ref.{method}(value)`.

Args:
  ref: A variable, or a reference tensor.
  value: A tensor of its dtype and shape.
{more}  use_locking: If true, the update holds a lock. Ignored for resource variables.
  name: A name for the operation.

Returns:
  The variable after the update: a tensor, or a variable that is read after it.

Example:
  >>> v = tf.Variable(3)
  >>> changed = tf.{method}(v, 5)
  >>> with tf.Session() as sess:
  ...     sess.run(v.initializer)
  ...     print(sess.run(changed))
  {result}
"""


def _assigner(method: str, op_name: str, doc: str, result: int) -> Any:
    def function(ref: Any, value: Any, validate_shape: Any = None, use_locking: Any = None, name: Optional[str] = None) -> Any:
        if not isinstance(ref, (Tensor, RefVariable)):
            return getattr(ref, method)(value, name=name)
        # The op's own defaults are TensorFlow's: an assignment holds a lock, an addition does not.
        given = {"validate_shape": validate_shape, "use_locking": use_locking}
        options = {key: flag for key, flag in given.items() if flag is not None}
        return op(op_name)(ref if isinstance(ref, Tensor) else ref._ref(), value, name=name, **options)

    function.__name__ = function.__qualname__ = method
    more = "  validate_shape: If true, the shape must stay the same.\n" if method == "assign" else ""
    function.__doc__ = _ASSIGNED.format(doc=doc, method=method, result=result, more=more)
    return function


assign = _assigner("assign", "Assign", "Replaces the value of a variable", 5)
_add = _assigner("assign_add", "AssignAdd", "Adds to the value of a variable", 8)
_sub = _assigner("assign_sub", "AssignSub", "Subtracts from the value of a variable", -2)


def assign_add(ref: Any, value: Any, use_locking: Any = None, name: Optional[str] = None) -> Any:
    return _add(ref, value, None, use_locking, name)


assign_add.__doc__ = _add.__doc__


def assign_sub(ref: Any, value: Any, use_locking: Any = None, name: Optional[str] = None) -> Any:
    return _sub(ref, value, None, use_locking, name)


assign_sub.__doc__ = _sub.__doc__


_SCATTER = """{doc} rows of a variable.

Args:
  ref: A variable, or a reference tensor.
  indices: An `int32` or `int64` tensor of any shape: the indices of rows.
  updates: A tensor of the variable's dtype, of shape `indices.shape + ref.shape[1:]`, or a scalar.
  use_locking: If true, the update holds a lock on the variable.
  name: A name for the operation.

Returns:
  The variable after the update: a tensor, or a variable that is read after it.

Raises:
  tf.errors.InvalidArgumentError: When run: an index is out of range.

Example:
  >>> v = tf.Variable([8, 8, 8])
  >>> changed = tf.{name}(v, [0, 2], [2, 2])
  >>> with tf.Session() as sess:
  ...     sess.run(v.initializer)
  ...     print(sess.run(changed))
  {result}
"""


_SCATTER_ND = """{doc} slices of a variable.

Args:
  ref: A variable, or a reference tensor.
  indices: An `int32` or `int64` tensor; each of its rows along the last axis is an index into the first axes of
    the variable.
  updates: A tensor of the variable's dtype, of shape `indices.shape[:-1] + ref.shape[indices.shape[-1]:]`.
  use_locking: If true, the update holds a lock on the variable.
  name: A name for the operation.

Returns:
  The variable after the update: a tensor, or a variable that is read after it.

Raises:
  tf.errors.InvalidArgumentError: When run: an index is out of range.

Example:
  >>> v = tf.Variable([[8, 8], [8, 8]])
  >>> changed = tf.{name}(v, [[0, 1], [1, 0]], [2, 2])
  >>> with tf.Session() as sess:
  ...     sess.run(v.initializer)
  ...     print(sess.run(changed))
  {result}
"""


def _scattered(text: str, what: str, name: str, shown: str) -> str:
    doc, result = SCATTERED[what]
    return text.format(doc=doc, name=name, result=shown % (result, result))


def _scatter_function(what: str) -> Scatter:
    def function(ref: Any, indices: Any, updates: Any, use_locking: bool = what == "Update", name: Optional[str] = None) -> Any:
        if isinstance(ref, ResourceVariable):
            return ref._scatter(what, IndexedSlices(updates, convert_to_tensor(indices)), name)
        return op("Scatter" + what)(ref._ref() if isinstance(ref, Variable) else ref, indices, updates, use_locking=use_locking, name=name)

    function.__name__ = function.__qualname__ = "scatter_" + what.lower()
    function.__doc__ = _scattered(_SCATTER, what, function.__name__, "[%d 8 %d]" if what in ("Update", "Div", "Min", "Sub", "Max") else "[%d  8 %d]")
    return function


def _scatter_nd_function(what: str) -> Any:
    def function(ref: Any, indices: Any, updates: Any, use_locking: bool = what == "Update", name: Optional[str] = None) -> Any:
        if isinstance(ref, ResourceVariable):
            return ref._scatter_nd(what, indices, updates, name)
        return op("ScatterNd" + what)(ref._ref() if isinstance(ref, Variable) else ref, indices, updates, use_locking=use_locking, name=name)

    function.__name__ = function.__qualname__ = "scatter_nd_" + what.lower()
    function.__doc__ = _scattered(_SCATTER_ND, what, function.__name__, "[[8 %d] [%d 8]]" if what != "Add" else "[[ 8 %d] [%d  8]]")
    return function
scatter_nd_add = _scatter_nd_function("Add")
scatter_nd_sub = _scatter_nd_function("Sub")
scatter_nd_update = _scatter_nd_function("Update")
scatter_add = _scatter_function("Add")
scatter_sub = _scatter_function("Sub")
scatter_mul = _scatter_function("Mul")
scatter_div = _scatter_function("Div")
scatter_min = _scatter_function("Min")
scatter_max = _scatter_function("Max")
scatter_update = _scatter_function("Update")


def count_up_to(ref: Any, limit: int, name: Optional[str] = None) -> Tensor:
    """Increments an integer variable and returns the value before.

    Args:
      ref: A variable of `int32` or `int64`, or a reference tensor.
      limit: An int: the largest value.
      name: A name for the operation.

    Returns:
      A scalar tensor of the variable's dtype: the value before.

    Raises:
      tf.errors.OutOfRangeError: When run: the value is `limit`.

    Example:
      >>> n = tf.Variable(0)
      >>> count = tf.count_up_to(n, 2)
      >>> sess = tf.Session()
      >>> sess.run(n.initializer)
      >>> print(sess.run(count), sess.run(count))
      0 1
      >>> sess.run(count)
      Traceback (most recent call last):
        ...
      millstream.errors.OutOfRangeError: Reached limit of 2
      ...
    """
    if isinstance(ref, ResourceVariable):
        return op("ResourceCountUpTo")(ref.handle, limit=limit, T=ref.dtype, name=name)
    return op("CountUpTo")(ref._ref() if isinstance(ref, Variable) else ref, limit=limit, name=name)


def batch_scatter_update(ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: Optional[str] = None) -> Any:
    """Updates elements of each row of a variable: `ref[i, indices[i, j]] = updates[i, j]`.

    Args:
      ref: A variable.
      indices: An int32 or int64 tensor of shape `[batch, k]`.
      updates: A tensor of shape `[batch, k, ..]`.
      use_locking: If true, the update holds a lock on the variable.
      name: The name scope of the new operations.

    Returns:
      The variable after the update.

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
        # The indices, preceded by the indices of their rows.
        parts = []
        for i in range(rank - 1):
            place = math_ops.cast(math_ops.range(dims[i]), indices.dtype)
            shape = [1] * rank
            shape[i] = dims[i]  # type: ignore[call-overload]
            wide = array_ops.reshape(place, array_ops.stack([convert_to_tensor(d) for d in shape]))
            parts.append(wide + array_ops.zeros_like(indices))
        return scatter_nd_update(ref, array_ops.stack(parts + [indices], axis=-1), updates, use_locking)


def _batch_scatter_update(self: Any, sparse_delta: Any, use_locking: bool = False, name: Optional[str] = None) -> Any:
    """Updates elements of each row of the variable, as `tf.batch_scatter_update`.

    Args:
      sparse_delta: An `IndexedSlices` with indices of shape `[batch, k]` and values of shape
        `[batch, k, ..]`.
      use_locking: If true, the update holds a lock on the variable.
      name: The name scope of the new operations.

    Returns:
      The variable after the update.

    Raises:
      TypeError: `sparse_delta` is not an `IndexedSlices`, and the variable is behind a handle.
      AttributeError: `sparse_delta` is not an `IndexedSlices`.

    Example:
      >>> v = tf.Variable([[1, 2], [3, 4]])
      >>> changed = v.batch_scatter_update(tf.IndexedSlices([[10], [40]], tf.constant([[0], [1]])))
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     print(sess.run(changed))
      [[10  2]
       [ 3 40]]
    """
    if isinstance(self, ResourceVariable) and not isinstance(sparse_delta, IndexedSlices):
        raise TypeError("sparse_delta is not IndexedSlices: %s" % (sparse_delta,))
    return batch_scatter_update(self, sparse_delta.indices, sparse_delta.values, use_locking, name)


_batch_scatter_update.__name__, _batch_scatter_update.__qualname__ = "batch_scatter_update", "Variable.batch_scatter_update"
Variable.batch_scatter_update = _batch_scatter_update  # type: ignore[method-assign]
