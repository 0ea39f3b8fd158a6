"""`tf.contrib.solvers.util`: matrices as operators, products and norms of vectors."""

from __future__ import annotations

import collections
from typing import Any

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, namespaces
from millstream.framework.op_functions import op
from millstream.ops import array_ops, math_ops, reduction_ops

__all__ = ["create_operator", "dot", "identity_operator", "l2norm", "l2norm_squared", "l2normalize"]

__dir__ = namespaces.dir_of(globals())

_Operator = collections.namedtuple("_Operator", ["shape", "dtype", "apply", "apply_adjoint"])


def _shape(matrix: Tensor) -> Any:
    return matrix.get_shape().as_list() if matrix.get_shape().is_fully_defined() else array_ops.shape(matrix)


def create_operator(matrix: Any) -> Any:
    """Returns a matrix as an operator: its shape, its dtype, and its products with vectors.

    Args:
      matrix: A tensor of rank 2.

    Returns:
      A tuple with the fields `shape`, `dtype`, `apply` and `apply_adjoint`.

    Example:
      >>> a = tf.contrib.solvers.util.create_operator(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
      >>> with tf.Session() as sess:
      ...     print(*sess.run([a.apply([[1.0], [0.0]]), a.apply_adjoint([[1.0], [0.0]])]), sep="; ")
      [[1.]
       [3.]]; [[1.]
       [2.]]
    """
    matrix = convert_to_tensor(matrix)
    return _Operator(
        shape=_shape(matrix),
        dtype=matrix.dtype,
        apply=lambda v: math_ops.matmul(matrix, v, adjoint_a=False),
        apply_adjoint=lambda v: math_ops.matmul(matrix, v, adjoint_a=True),
    )


def identity_operator(matrix: Any) -> Any:
    """Returns the operator of the unit matrix, of the shape and dtype of `matrix`.

    Args:
      matrix: A tensor of rank 2.

    Returns:
      A tuple with the fields `shape`, `dtype`, `apply` and `apply_adjoint`, which return what they get.

    Example:
      >>> tf.contrib.solvers.util.identity_operator(tf.ones([2, 2])).shape
      [2, 2]
    """
    matrix = convert_to_tensor(matrix)
    return _Operator(shape=_shape(matrix), dtype=matrix.dtype, apply=lambda v: v, apply_adjoint=lambda v: v)


def dot(x: Any, y: Any) -> Tensor:
    """Returns the inner product of two vectors; the elements of `x` are conjugated.

    Example:
      >>> print(tf.Session().run(tf.contrib.solvers.util.dot(tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]))))
      11.0
    """
    return reduction_ops.reduce_sum(math_ops.conj(x) * y)


def l2norm_squared(v: Any) -> Tensor:
    """Returns the square of the Euclidean norm of a vector.

    Example:
      >>> print(tf.Session().run(tf.contrib.solvers.util.l2norm_squared(tf.constant([3.0, 4.0]))))
      25.0
    """
    return 2 * op("L2Loss")(convert_to_tensor(v))


def l2norm(v: Any) -> Tensor:
    """Returns the Euclidean norm of a vector.

    Example:
      >>> print(tf.Session().run(tf.contrib.solvers.util.l2norm(tf.constant([3.0, 4.0]))))
      5.0
    """
    return math_ops.sqrt(l2norm_squared(v))


def l2normalize(v: Any) -> Any:
    """Returns a vector divided by its Euclidean norm, and the norm.

    Example:
      >>> print(*tf.Session().run(tf.contrib.solvers.util.l2normalize(tf.constant([[3.0], [4.0]]))))
      [[0.6]
       [0.8]] 5.0
    """
    norm = l2norm(v)
    return v / norm, norm
