"""Reductions along axes (sums, means, extrema and their indices) and cumulative sums and products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from millstream._engine import Tensor
from millstream.framework import constant, convert_to_tensor, dtypes, name_scope, node_counts
from millstream.framework.deprecation import renamed
from millstream.framework.op_functions import op
from millstream.ops import math_ops

if TYPE_CHECKING:
    from millstream.framework.types import Place, Reduction

__all__ = [
    "argmax",
    "argmin",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "lbeta",
    "reduce_all",
    "reduce_any",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
]


def _axes(x: Tensor, axis: Any) -> Any:
    shape = x._shape_as_list()
    if axis is not None:
        return _each_once(axis, shape)
    if shape is not None:
        return constant(np.arange(len(shape), dtype=np.int32))
    return math_ops.range(0, op("Rank")(x))


def _each_once(axis: Any, shape: Any) -> Any:
    """Drops the axes of a list that it names a second time, which the ops do not accept."""
    if shape is None or not isinstance(axis, (list, tuple)) or not all(isinstance(a, (int, np.integer)) for a in axis):
        return axis
    return list({a % len(shape) if -len(shape) <= a < len(shape) else a: a for a in reversed(axis)}.values())[::-1]


_REDUCTION = """{doc} over `axis`.

Args:
  input_tensor: A tensor of {of}.
  axis: The axis, or a list of axes, to reduce; by default all.
  keepdims: If true, reduced axes stay, with length 1.
  name: A name for the operation.
  reduction_indices: The former name of `axis`.
  keep_dims: The former name of `keepdims`.

Returns:
  A tensor of the same dtype, without the reduced axes.

Raises:
  ValueError: Both names of an argument are used, or an axis is out of range.

Example:
  >>> x = tf.constant({x})
  >>> print(*tf.Session().run([tf.{called}(x), tf.{called}(x, axis=1), tf.{called}(x, axis=0, keepdims=True)]))
  {y}
"""


def _reduction(name: str, called: str, doc: str, y: str) -> Reduction:
    def function(
        input_tensor: Any,
        axis: Any = None,
        keepdims: Any = None,
        name: Optional[str] = None,
        reduction_indices: Any = None,
        keep_dims: Any = None,
    ) -> Tensor:
        axis = renamed(axis, reduction_indices, "axis", "reduction_indices")
        keepdims = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
        if axis is None and not isinstance(input_tensor, Tensor):
            node_counts.also(3)  # TensorFlow asks a variable for its rank in the graph.
        x = convert_to_tensor(input_tensor, name="input_tensor")
        result = op(op_name)(x, _axes(x, axis), keepdims, name=name)
        if axis is None and not keepdims:
            result.set_shape(())
        return result

    op_name = name
    function.__name__ = function.__qualname__ = called
    of, x = ("bools", "[[True, True], [True, False]]") if name in ("All", "Any") else ("numbers", "[[1.0, 2.0], [3.0, 4.0]]")
    function.__doc__ = _REDUCTION.format(doc=doc, of=of, called=called, x=x, y=y)
    return function


reduce_sum = _reduction("Sum", "reduce_sum", "Returns the sum", "10.0 [3. 7.] [[4. 6.]]")
reduce_mean = _reduction("Mean", "reduce_mean", "Returns the mean", "2.5 [1.5 3.5] [[2. 3.]]")
reduce_prod = _reduction("Prod", "reduce_prod", "Returns the product", "24.0 [ 2. 12.] [[3. 8.]]")
reduce_max = _reduction("Max", "reduce_max", "Returns the maximum", "4.0 [2. 4.] [[3. 4.]]")
reduce_min = _reduction("Min", "reduce_min", "Returns the minimum", "1.0 [1. 3.] [[1. 2.]]")
reduce_all = _reduction("All", "reduce_all", "Returns the logical and", "False [ True False] [[ True False]]")
reduce_any = _reduction("Any", "reduce_any", "Returns the logical or", "True [ True  True] [[ True  True]]")


def reduce_logsumexp(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: Optional[str] = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Tensor:
    """Returns `log(sum(exp(x)))` over `axis`, without overflow.

    Args:
      input_tensor: A tensor of floats.
      axis: The axis, or a list of axes, to reduce; by default all.
      keepdims: If true, reduced axes stay, with length 1.
      name: The name scope of the new operations.
      reduction_indices: The former name of `axis`.
      keep_dims: The former name of `keepdims`.

    Returns:
      A tensor of the same dtype, without the reduced axes.

    Example:
      >>> print(tf.Session().run(tf.reduce_logsumexp([1000.0, 1000.0])).round(2))
      1000.69
    """
    axis = renamed(axis, reduction_indices, "axis", "reduction_indices")
    keepdims = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
    with name_scope(name, "ReduceLogSumExp", [input_tensor]):
        x = convert_to_tensor(input_tensor)
        most = reduce_max(x, axis, True)
        most = op("StopGradient")(op("Select")(op("IsFinite")(most), most, op("ZerosLike")(most)))
        result = op("Log")(reduce_sum(op("Exp")(x - most), axis, keepdims))
        if not keepdims:
            most = op("Reshape")(most, op("Shape")(result))
        return result + most


def count_nonzero(
    input_tensor: Any = None,
    axis: Any = None,
    keepdims: Any = None,
    dtype: Any = dtypes.int64,
    name: Optional[str] = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
    input: Any = None,  # noqa: A002
) -> Tensor:
    """Returns the number of nonzero elements.

    Args:
      input_tensor: A tensor of numbers, bools or strings (the empty string counts as zero).
      axis: The axis, or a list of axes, to reduce; by default all.
      keepdims: If true, reduced axes stay, with length 1.
      dtype: The dtype of the result.
      name: The name scope of the new operations.
      reduction_indices: The former name of `axis`.
      keep_dims: The former name of `keepdims`.
      input: The later name of `input_tensor`.

    Returns:
      A tensor of `dtype`.

    Example:
      >>> print(tf.Session().run(tf.count_nonzero([[0, 1, 2], [0, 0, 3]], axis=1)))
      [2 1]
    """
    x = renamed(input_tensor, input, "input", "input_tensor")
    axis = renamed(axis, reduction_indices, "axis", "reduction_indices")
    keepdims = renamed(keepdims, keep_dims, "keepdims", "keep_dims")
    with name_scope(name, "count_nonzero", [x]):
        x = convert_to_tensor(x, name="input")
        zero = "" if x.dtype == dtypes.string else np.zeros([], x.dtype.as_numpy_dtype)
        return math_ops.cast(reduce_sum(math_ops.cast(math_ops.not_equal(x, zero), dtypes.int64), axis, keepdims), dtype)


_ARG = """Returns the index of the {which} element along `axis`; the first, if there are several.

Args:
  input: A tensor of numbers.
  axis: An `int32` scalar; by default 0.
  name: A name for the operation.
  dimension: The former name of `axis`.
  output_type: `tf.int64` or `tf.int32`.

Returns:
  A tensor of `output_type`, without this axis.

Example:
  >>> print(tf.Session().run(tf.{name}([[1, 2, 3], [4, 6, 5]], axis=1)))
  {value}
"""


def _arg(op_name: str, called: str) -> Place:
    def function(
        input: Any,  # noqa: A002
        axis: Any = None,
        name: Optional[str] = None,
        dimension: Any = None,
        output_type: Any = dtypes.int64,
    ) -> Tensor:
        axis = renamed(axis, dimension, "axis", "dimension")
        return op(op_name)(input, 0 if axis is None else axis, output_type=output_type, name=name)

    function.__name__ = function.__qualname__ = called
    function.__doc__ = _ARG.format(which="largest" if called == "argmax" else "smallest", name=called,
    value="[2 1]" if called == "argmax" else "[0 0]")
    return function


argmax = _arg("ArgMax", "argmax")
argmin = _arg("ArgMin", "argmin")


def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: Optional[str] = None) -> Tensor:
    """Returns cumulative sums along `axis`.

    Args:
      x: A tensor of numbers.
      axis: An int32 scalar.
      exclusive: If true, an element is not part of its own sum.
      reverse: If true, sums accumulate from the end.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(*tf.Session().run([tf.cumsum([1, 2, 3]), tf.cumsum([1, 2, 3], reverse=True)]))
      [1 3 6] [6 5 3]
    """
    with name_scope(name, "Cumsum", [x]) as name:
        return op("Cumsum")(convert_to_tensor(x, name="x"), axis, exclusive, reverse, name=name)


def cumprod(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: Optional[str] = None) -> Tensor:
    """Returns cumulative products along `axis`.

    Args:
      x: A tensor of numbers.
      axis: An int32 scalar.
      exclusive: If true, an element is not part of its own product.
      reverse: If true, products accumulate from the end.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(*tf.Session().run([tf.cumprod([2, 3, 4]), tf.cumprod([2, 3, 4], exclusive=True)]))
      [ 2  6 24] [1 2 6]
    """
    with name_scope(name, "Cumprod", [x]) as name:
        return op("Cumprod")(convert_to_tensor(x, name="x"), axis, exclusive, reverse, name=name)


def lbeta(x: Any, name: Optional[str] = None) -> Tensor:
    """Returns the logarithm of the beta function of each row.

    Args:
      x: A tensor of floats, of rank 1 or more.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same dtype, without the last axis.

    Example:
      >>> print(tf.Session().run(tf.exp(tf.lbeta([2.0, 3.0]))).round(4))  # 1 / 12
      0.0833
    """
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        return op("Sub")(reduce_sum(op("Lgamma")(x), [-1]), op("Lgamma")(reduce_sum(x, [-1])))
