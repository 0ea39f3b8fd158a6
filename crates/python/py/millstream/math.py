"""`tf.math`: what stands under no name at the top. The rest is found when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional

from millstream import _namespaces, array_ops, math_ops, reduction_ops
from millstream._engine import Tensor
from millstream._ops import op
from millstream.framework import convert_to_tensor, name_scope

# Functions that `tf.math` shares with `tf.nn`.
_OF_NN = ("in_top_k", "l2_normalize", "log_softmax", "softmax", "top_k", "zero_fraction")


def multiply_no_nan(x: Any, y: Any, name: Optional[str] = None) -> Tensor:
    """`x * y`, and 0 where `y` is 0, whatever `x` is.

    Args:
      x: A tensor of floats.
      y: A tensor of the same dtype, whose shape broadcasts with that of `x`.
      name: The name scope of what is made.

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
    """`1 / x`, and 0 where `x` is 0.

    Args:
      x: A tensor of floats.
      name: The name scope of what is made.

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
    """The variance over axes.

    Args:
      input_tensor: A tensor of floats or complex numbers.
      axis: The axis, or a list of them; all if not given.
      keepdims: Whether these axes stay, with size 1.
      name: The name scope of what is made.

    Returns:
      A tensor of floats.

    Raises:
      TypeError: `input_tensor` is of another dtype.

    Example:
      >>> print(tf.Session().run(tf.math.reduce_variance([1.0, 5.0])))
      4.0
    """
    with name_scope(name, "reduce_variance"):
        x = convert_to_tensor(input_tensor)
        if not (x.dtype.is_floating or x.dtype.is_complex):
            raise TypeError("Input must be either real or complex: reduce_variance of %s" % x.dtype.name)
        off = x - reduction_ops.reduce_mean(x, axis, keepdims=True)
        return reduction_ops.reduce_mean(op("Square")(math_ops.abs(off) if x.dtype.is_complex else off), axis, keepdims=keepdims)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Optional[str] = None) -> Tensor:
    """The standard deviation over axes.

    Args:
      input_tensor: A tensor of floats or complex numbers.
      axis: The axis, or a list of them; all if not given.
      keepdims: Whether these axes stay, with size 1.
      name: The name scope of what is made.

    Returns:
      A tensor of floats.

    Example:
      >>> print(tf.Session().run(tf.math.reduce_std([1.0, 3.0])))
      1.0
    """
    with name_scope(name, "reduce_std"):
        return op("Sqrt")(reduce_variance(input_tensor, axis, keepdims))


def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Optional[str] = None) -> Tensor:
    """The root of the sum of squares over axes.

    Args:
      input_tensor: A tensor of numbers.
      axis: The axis, or a list of them; all if not given.
      keepdims: Whether these axes stay, with size 1.
      name: The name scope of what is made.

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
    """The logarithms of the running sums of exponentials.

    Args:
      x: A tensor of floats.
      axis: An int.
      exclusive: Whether an element itself is left out.
      reverse: Whether to go from the end.
      name: The name scope of what is made.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.exp(tf.math.cumulative_logsumexp([0.0, 0.0, 0.0]))).round(3))
      [1. 2. 3.]
    """
    with name_scope(name, "CumulativeLogsumexp", [x]) as name:
        return op("CumulativeLogsumexp")(convert_to_tensor(x, name="x"), axis, exclusive=exclusive, reverse=reverse, name=name)


def bessel_i0(x: Any, name: Optional[str] = None) -> Tensor:
    """The modified Bessel function of order 0.

    Args:
      x: A tensor of floats.
      name: The name scope of what is made.

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
    """The modified Bessel function of order 1.

    Args:
      x: A tensor of floats.
      name: The name scope of what is made.

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
    """The polynomial with these coefficients, the highest power first, at `x`.

    Args:
      coeffs: A list of tensors.
      x: A tensor.
      name: The name scope of what is made.

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
    from millstream._endpoints_math import *  # noqa: F403
    from millstream.nn import in_top_k as in_top_k, l2_normalize as l2_normalize, log_softmax as log_softmax, softmax as softmax, top_k as top_k, zero_fraction as zero_fraction
else:

    def __getattr__(name: str) -> Any:
        if name in _OF_NN:
            from millstream import nn

            return getattr(nn, name)
        return _namespaces.find(__name__, "math", name)


def __dir__() -> List[str]:
    return _namespaces.shown(globals(), "math", _OF_NN)
