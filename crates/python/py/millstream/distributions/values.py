"""Functions of tensors that distributions are made with: triangular matrices, `softplus_inverse`."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from millstream.framework import constant, convert_to_tensor, name_scope, shapes
from millstream.framework.op_functions import op
from millstream.ops import array_ops, linalg_ops, math_ops, reduction_ops
from millstream.ops.shape_ops import where_v2


def softplus_inverse(x: Any, name: Optional[str] = None) -> Any:
    """Returns the number whose `tf.nn.softplus` is `x`.

    Args:
      x: A tensor of positive floats.
      name: The name scope of the operations.

    Example:
      >>> x = tf.contrib.distributions.softplus_inverse(tf.nn.softplus([-1.0, 2.0]))
      >>> print(tf.Session().run(x).round(4))
      [-1.  2.]
    """
    with name_scope(name, "softplus_inverse", values=[x]):
        x = convert_to_tensor(x, name="x")
        # Beyond these numbers, y = log(exp(x) - 1) is log(x) and x to all digits.
        threshold = np.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.0
        small, large = x < constant(np.exp(threshold), x.dtype), x > constant(-threshold, x.dtype)
        x_small = op("Log")(x)
        middle = where_v2(op("LogicalOr")(small, large), array_ops.ones_like(x), x)
        y = middle + op("Log")(-op("Expm1")(-middle))
        return where_v2(small, x_small, where_v2(large, x, y))


def fill_triangular(x: Any, upper: bool = False, name: Optional[str] = None) -> Any:
    """Returns triangular matrices with the elements of vectors, in the order of a spiral.

    Args:
      x: A tensor whose last dimension has `n * (n + 1) / 2` elements, a known number.
      upper: Whether the matrices are upper triangular.
      name: The name scope of the operations.

    Returns:
      A tensor with `[n, n]` in place of the last dimension.

    Raises:
      ValueError: There is no such `n`, or the size of the last dimension is not known.

    Example:
      >>> print(tf.Session().run(tf.contrib.distributions.fill_triangular([1, 2, 3, 4, 5, 6])))
      [[4 0 0]
       [6 5 0]
       [3 2 1]]
    """
    with name_scope(name, "fill_triangular", values=[x]):
        x = convert_to_tensor(x, name="x")
        m = shapes.dimension_value(x.shape.with_rank_at_least(1)[-1])
        if m is None:
            raise ValueError("fill_triangular: the last dimension must be known, found shape %s" % x.shape)
        n = int(np.sqrt(0.25 + 2.0 * m) - 0.5)
        if n * (n + 1) // 2 != m:
            raise ValueError("Input right-most shape ({}) does not correspond to a triangular matrix.".format(m))
        last = x.shape.ndims - 1
        parts = [x, op("ReverseV2")(x[..., n:], [last])] if upper else [x[..., n:], op("ReverseV2")(x, [last])]
        shape = array_ops.concat([array_ops.shape(x)[:-1], [n, n]], 0)
        square = array_ops.reshape(array_ops.concat(parts, -1), shape)
        found = op("MatrixBandPart")(square, 0 if upper else -1, -1 if upper else 0)
        found.set_shape(x.shape[:-1].concatenate([n, n]))
        return found


def fill_triangular_inverse(x: Any, upper: bool = False, name: Optional[str] = None) -> Any:
    """Returns the vectors that `fill_triangular` makes matrices of.

    Args:
      x: A tensor of triangular matrices of a known size.
      upper: Whether the matrices are upper triangular.
      name: The name scope of the operations.

    Raises:
      ValueError: The size of the matrices is not known.

    Example:
      >>> back = tf.contrib.distributions.fill_triangular_inverse([[4, 0, 0], [6, 5, 0], [3, 2, 1]])
      >>> print(tf.Session().run(back))
      [1 2 3 4 5 6]
    """
    with name_scope(name, "fill_triangular_inverse", values=[x]):
        x = convert_to_tensor(x, name="x")
        n = shapes.dimension_value(x.shape.with_rank_at_least(2)[-1])
        if n is None:
            raise ValueError("fill_triangular_inverse: the size of the matrices must be known, found shape %s" % x.shape)
        m, last = n * (n + 1) // 2, x.shape.ndims - 1
        first = x[..., 0, :] if upper else op("ReverseV2")(x[..., -1, :], [last - 1])
        rest = x[..., 1:, :] if upper else x[..., :-1, :]
        both = rest + op("ReverseV2")(op("ReverseV2")(rest, [last]), [last - 1])
        flat = array_ops.reshape(both, array_ops.concat([array_ops.shape(x)[:-2], [n * (n - 1)]], 0))
        found = array_ops.concat([first, flat[..., : m - n]], -1)
        found.set_shape(x.shape[:-2].concatenate([m]))
        return found


def matrix_diag_transform(matrix: Any, transform: Any = None, name: Optional[str] = None) -> Any:
    """Returns matrices with their diagonals replaced by a function of them.

    Args:
      matrix: A tensor of square matrices.
      transform: A function of a tensor of vectors, or None to leave the matrices.
      name: The name scope of the operations.

    Example:
      >>> print(tf.Session().run(tf.contrib.distributions.matrix_diag_transform([[1.0, 2.0], [3.0, 4.0]], tf.square)))
      [[ 1.  2.]
       [ 3. 16.]]
    """
    with name_scope(name, "matrix_diag_transform", values=[matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        if transform is None:
            return matrix
        return linalg_ops.matrix_set_diag(matrix, transform(linalg_ops.matrix_diag_part(matrix)))


def reduce_weighted_logsumexp(
    logx: Any, w: Any = None, axis: Any = None, keep_dims: bool = False, return_sign: bool = False, name: Optional[str] = None
) -> Any:
    """Returns the logarithm of the absolute value of the sum of `w * exp(logx)`.

    Args:
      logx: A tensor of floats.
      w: A tensor of weights, which may be negative; None is 1.
      axis: The axes to sum over; None is all.
      keep_dims: Whether the axes stay, of size 1.
      return_sign: Whether the sign of the sum is returned, too.
      name: The name scope of the operations.

    Returns:
      A tensor, or a pair of tensors.

    Example:
      >>> x = tf.contrib.distributions.reduce_weighted_logsumexp([0.0, 0.0], w=[3.0, -2.0])
      >>> print(tf.Session().run(x).round(4))
      0.0
    """
    with name_scope(name, "reduce_weighted_logsumexp", values=[logx, w]):
        logx = convert_to_tensor(logx, name="logx")
        if w is None:
            found = reduction_ops.reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
            return (found, array_ops.ones_like(found)) if return_sign else found
        w = convert_to_tensor(w, dtype=logx.dtype, name="w")
        log = logx + op("Log")(math_ops.abs(w))
        largest = reduction_ops.reduce_max(log, axis=axis, keepdims=True)
        largest = where_v2(op("IsInf")(largest), array_ops.zeros_like(largest), largest)
        largest = op("StopGradient")(largest)
        total = reduction_ops.reduce_sum(op("Sign")(w) * op("Exp")(log - largest), axis=axis, keepdims=keep_dims)
        if not keep_dims:
            largest = array_ops.squeeze(largest, axis)
        found = largest + op("Log")(math_ops.abs(total))
        return (found, op("Sign")(total)) if return_sign else found


def tridiag(below: Any = None, diag: Any = None, above: Any = None, name: Optional[str] = None) -> Any:
    """Returns matrices with values on the diagonal, below it and above it.

    Args:
      below: A tensor of vectors with one element less than the matrices have rows, or None for zeros.
      diag: A tensor of vectors, or None for zeros.
      above: A tensor of vectors like `below`, or None for zeros.
      name: The name scope of the operations.

    Raises:
      ValueError: All are None.

    Example:
      >>> print(tf.Session().run(tf.contrib.distributions.tridiag([1.0, 2.0], [4.0, 5.0, 6.0], [8.0, 9.0])))
      [[4. 8. 0.]
       [1. 5. 9.]
       [0. 2. 6.]]
    """

    def moved(x: Any, sign: int) -> Any:
        zeros = array_ops.zeros(array_ops.concat([array_ops.shape(x)[:-1], [1]], 0), x.dtype)
        wide = linalg_ops.matrix_diag(array_ops.concat([zeros, x, zeros], -1))
        return wide[..., :-1, 1:] if sign < 0 else wide[..., 1:, :-1]

    with name_scope(name, "tridiag", values=[below, diag, above]):
        if below is None and diag is None and above is None:
            raise ValueError("Must specify at least one of `below`, `diag`, `above`.")
        parts = []
        if below is not None:
            parts.append(moved(convert_to_tensor(below, name="below"), -1))
        if diag is not None:
            parts.append(linalg_ops.matrix_diag(convert_to_tensor(diag, name="diag")))
        if above is not None:
            parts.append(moved(convert_to_tensor(above, name="above"), 1))
        return sum(parts[1:], parts[0])
