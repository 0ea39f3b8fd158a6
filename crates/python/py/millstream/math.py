"""`tf.math`: names that the top does not have. Other names are looked up at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, name_scope, namespaces
from millstream.framework.op_functions import op
from millstream.nn.functions import in_top_k, l2_normalize, log_softmax, softmax, top_k, zero_fraction
from millstream.ops import array_ops, math_ops, reduction_ops



def multiply_no_nan(x: Any, y: Any, name: Optional[str] = None) -> Tensor:
    """Returns `x * y`, or 0 where `y` is 0, even if `x` is not finite.

    Args:
      x: A tensor of floats.
      y: A tensor of the same dtype, whose shape broadcasts with that of `x`.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> print(tf.Session().run(tf.math.multiply_no_nan([np.nan, 2.0], [0.0, 3.0])))
      [0. 6.]
    """
    with name_scope(name, "multiply_no_nan", [x, y]) as name:
        x = convert_to_tensor(x, name="x")
        return op("MulNoNan")(x, convert_to_tensor(y, x.dtype.base_dtype, "y"), name=name)


def reciprocal_no_nan(x: Any, name: Optional[str] = None) -> Tensor:
    """Returns `1 / x`, or 0 where `x` is 0.

    Args:
      x: A tensor of floats.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.math.reciprocal_no_nan([0.0, 4.0])))
      [0.   0.25]
    """
    with name_scope(name, "reciprocal_no_nan", [x]) as name:
        x = convert_to_tensor(x, name="x")
        return op("DivNoNan")(convert_to_tensor(1, x.dtype.base_dtype, "one"), x, name=name)


def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Optional[str] = None) -> Tensor:
    """Returns the variance over axes.

    Args:
      input_tensor: A tensor of numbers.
      axis: The axis, or a list of axes, to reduce; by default all.
      keepdims: If true, reduced axes stay, with length 1.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> print(tf.Session().run(tf.math.reduce_variance([1.0, 5.0])))
      4.0
    """
    with name_scope(name, "reduce_variance"):
        x = convert_to_tensor(input_tensor)
        # As in TensorFlow 1, the squares of complex numbers are complex, and means of integers are integers.
        off = x - reduction_ops.reduce_mean(x, axis, keepdims=True)
        return reduction_ops.reduce_mean(op("Square")(off), axis, keepdims=keepdims)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Optional[str] = None) -> Tensor:
    """Returns the standard deviation over axes.

    Args:
      input_tensor: A tensor of floats or complex numbers.
      axis: The axis, or a list of axes, to reduce; by default all.
      keepdims: If true, reduced axes stay, with length 1.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> print(tf.Session().run(tf.math.reduce_std([1.0, 3.0])))
      1.0
    """
    with name_scope(name, "reduce_std"):
        return op("Sqrt")(reduce_variance(input_tensor, axis, keepdims))


def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Optional[str] = None) -> Tensor:
    """Returns the square root of the sum of squares over axes.

    Args:
      input_tensor: A tensor of numbers.
      axis: The axis, or a list of axes, to reduce; by default all.
      keepdims: If true, reduced axes stay, with length 1.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> print(tf.Session().run(tf.math.reduce_euclidean_norm([[3.0, 4.0], [6.0, 8.0]], axis=1)))
      [ 5. 10.]
    """
    x = convert_to_tensor(input_tensor)
    if axis is None:
        axis = list(range(x.shape.ndims)) if x.shape.ndims is not None else math_ops.range(array_ops.rank(x))
        axis = convert_to_tensor(axis, "int32") if not isinstance(axis, Tensor) else axis
    return op("EuclideanNorm")(x, axis, keepdims, name=name)


def cumulative_logsumexp(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: Optional[str] = None) -> Tensor:
    """Returns the logarithms of cumulative sums of exponentials.

    Args:
      x: A tensor of floats.
      axis: An int.
      exclusive: If true, an element is not part of its own sum.
      reverse: If true, sums accumulate from the end.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.exp(tf.math.cumulative_logsumexp([0.0, 0.0, 0.0]))).round(3))
      [1. 2. 3.]
    """
    with name_scope(name, "CumulativeLogsumexp", [x]) as name:
        return op("CumulativeLogsumexp")(convert_to_tensor(x, name="x"), axis, exclusive=exclusive, reverse=reverse, name=name)


def bessel_i0(x: Any, name: Optional[str] = None) -> Tensor:
    """Returns the modified Bessel function of order 0.

    Args:
      x: A tensor of floats.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.math.bessel_i0([0.0])))
      [1.]
    """
    with name_scope(name, "bessel_i0", [x]):
        x = convert_to_tensor(x)
        return op("Exp")(math_ops.abs(x)) * op("BesselI0e")(x)


def bessel_i1(x: Any, name: Optional[str] = None) -> Tensor:
    """Returns the modified Bessel function of order 1.

    Args:
      x: A tensor of floats.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.math.bessel_i1([0.0])))
      [0.]
    """
    with name_scope(name, "bessel_i1", [x]):
        x = convert_to_tensor(x)
        return op("Exp")(math_ops.abs(x)) * op("BesselI1e")(x)


def polyval(coeffs: Any, x: Any, name: Optional[str] = None) -> Tensor:
    """Returns the value at `x` of the polynomial with these coefficients, the highest power first.

    Args:
      coeffs: A list of tensors.
      x: A tensor.
      name: The name scope of the new operations.

    Returns:
      A tensor.

    Example:
      >>> print(tf.Session().run(tf.math.polyval([1.0, 0.0, 5.0], [2.0, 3.0])))  # x ** 2 + 5
      [ 9. 14.]
    """
    with name_scope(name, "polyval", [*coeffs, x]):
        x = convert_to_tensor(x, name="x")
        if not len(coeffs):
            return array_ops.zeros_like(x, name=name)
        terms = [convert_to_tensor(c, name="coeff_%d" % i) for i, c in enumerate(coeffs)]
        value = terms[0]
        for term in terms[1:]:
            value = term + value * x
        return value


if TYPE_CHECKING:
    from millstream._generated.endpoints_math import *  # noqa: F403
else:
    __getattr__ = namespaces.getattr_of(__name__)


__dir__ = namespaces.dir_of(globals())
