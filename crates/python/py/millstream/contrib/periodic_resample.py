"""`tf.contrib.periodic_resample`: elements of one axis moved to others, made of smaller ops."""

from __future__ import annotations

from typing import Any, List, Optional

from millstream._engine import Tensor
from millstream.framework import control_dependencies, convert_to_tensor, dtypes, name_scope, namespaces, shapes
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, indexing_ops, math_ops

__all__ = ["periodic_resample"]

__dir__ = namespaces.dir_of(globals())


def periodic_resample(values: Any, shape: Any, name: Optional[str] = None) -> Tensor:
    """Returns a tensor whose axes are longer than those of `values`, but for one that is shorter.

    It is a sub-pixel convolution's rearrangement, for factors that need not be integers.

    Args:
      values: A tensor.
      shape: The sizes of the result: None for the axis that gets shorter, and for others at least the size
        that `values` has there.
      name: A name for the operations.

    Returns:
      A tensor of the rank and dtype of `values`.

    Raises:
      InvalidArgumentError: In a run, a size is less than that of `values`, or nothing is left of the axis
        that gets shorter; or `shape` has another length than the shape of `values`, or not one None.

    Example:
      >>> print(tf.Session().run(tf.contrib.periodic_resample.periodic_resample([[0, 1, 2, 3], [4, 5, 6, 7]], [4, None])))
      [[0 1]
       [2 3]
       [4 5]
       [6 7]]
    """
    with name_scope(name, "PeriodicResample", [values]):
        values = convert_to_tensor(values, name="values")
        sizes = shapes.as_shape(shape).as_list()
        rank = values.shape.ndims
        at = [i for i, n in enumerate(sizes) if n is None]
        wrong = _wrong(rank, len(sizes), len(at))
        if wrong:
            return _refused(values, sizes, wrong)
        q = at[0]
        own = array_ops.unstack(array_ops.shape(values), num=len(sizes))
        checks = [
            control_flow.assert_(
                own[i] <= n,
                _too_small(i, values.shape, n) or ["periodic_resample expects the size of non-adjustable dimensions be at least as large as size of input tensor. Axis, both sizes:", i, own[i], n],
            )
            for i, n in enumerate(sizes)
            if n is not None
        ]
        others = 1
        for n in sizes:
            others *= 1 if n is None else n
        adjusted = op("FloorDiv")(array_ops.size(values), max(others, 1))
        nothing = "periodic_resample found that the adjustable dimension, %d, isn't greater than zero, 0. Make the others smaller." % q
        checks.append(control_flow.assert_(adjusted > 0, [nothing]))
        with control_dependencies(checks):
            found = indexing_ops.gather(array_ops.reshape(values, [-1]), _places(own, sizes, q, array_ops.identity(adjusted)))
        known = values.shape.num_elements()
        found.set_shape([(None if known is None else known // max(others, 1)) if n is None else n for n in sizes])
        return found


def _too_small(i: int, shape: shapes.TensorShape, n: int) -> Optional[List[str]]:
    """Returns the message of an axis that gets shorter, if the size of `values` is known."""
    known = None if shape.ndims is None else shape.as_list()[i]
    if known is None:
        return None
    told = "periodic_resample expects the size of non-adjustable dimensions be at least as large as size of input tensor. "
    return [told + "Dimension %d input tensor has size %d, desired shape has size %d." % (i, known, n)]


def _wrong(rank: Optional[int], length: int, adjustable: int) -> str:
    """Returns what is wrong about a shape, or nothing."""
    if rank is not None and rank != length:
        return "periodic_resample expects the rank of the input tensor, %d, to be the same as the length of the desired shape, %d." % (rank, length)
    if adjustable == 0:
        return "periodic_resample expects at least one index to be marked as adjustable. Make one size of `shape` None."
    if adjustable > 1:
        return "periodic_resample expects only one index to be marked as adjustable. %d sizes of `shape` are None." % adjustable
    return ""


def _refused(values: Tensor, sizes: List[Optional[int]], wrong: str) -> Tensor:
    """Returns a tensor whose evaluation fails: TensorFlow's op says what is wrong when it runs."""
    with control_dependencies([control_flow.assert_(False, [wrong])]):
        made = array_ops.placeholder_with_default(array_ops.reshape(values, [-1]), None)
    made.set_shape(sizes)
    return made


def _places(own: List[Tensor], sizes: List[Optional[int]], q: int, adjusted: Tensor) -> Tensor:
    """Returns the places of the result's elements in the flattened `values`."""
    lengths = [adjusted if n is None else n for n in sizes]
    # Along the axis `q`, elements begin after those that went to other axes.
    along: Any = math_ops.range(adjusted)
    along = array_ops.reshape(along, [-1 if i == q else 1 for i in range(len(sizes))])
    spread: Any = 1
    indices: List[Any] = [None] * len(sizes)
    for i, n in enumerate(sizes):
        if n is None:
            continue
        factor = op("FloorDiv")(n + own[i] - 1, own[i])
        s = array_ops.reshape(math_ops.range(n), [-1 if j == i else 1 for j in range(len(sizes))])
        indices[i] = op("FloorDiv")(s, factor)
        along = along + adjusted * spread * op("FloorMod")(s, factor)
        spread = spread * factor
    indices[q] = along
    flat: Any = 0
    for i, index in enumerate(indices):
        flat = flat * own[i] + index
    return math_ops.cast(op("BroadcastTo")(flat, array_ops.stack(lengths)), dtypes.int32)
