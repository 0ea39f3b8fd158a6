"""`tf.contrib.solvers.lanczos`: the bidiagonalization of Golub, Kahan and Lanczos."""

from __future__ import annotations

import collections
from typing import Any, Optional

from millstream._engine import Tensor
from millstream.contrib.solvers import util
from millstream.framework import constant, convert_to_tensor, dtypes, name_scope, namespaces, shapes
from millstream.ops import array_ops, control_flow, math_ops, random_ops

__all__ = ["bidiag_matmul", "lanczos_bidiag"]

__dir__ = namespaces.dir_of(globals())

_Bidiagonal = collections.namedtuple("_Bidiagonal", ["u", "v", "alpha", "beta"])


def lanczos_bidiag(operator: Any, k: Any, orthogonalize: bool = True, starting_vector: Any = None, name: Optional[str] = "lanczos_bidiag") -> Any:
    """Finds `U`, `V` and a lower bidiagonal `B` with `A V = U B` and `A' U[:, :-1] = V B[:-1, :]'`.

    Args:
      operator: The matrix `A` of shape `[m, n]` as an operator; see
        `tf.contrib.solvers.util.create_operator`.
      k: The number of steps, an int or a scalar tensor.
      orthogonalize: Whether every new column is made orthogonal to all before it.
      starting_vector: A vector of shape `[m]`; random if it is None.
      name: A name for the operations.

    Returns:
      A tuple with the fields `u` of shape `[m, k + 1]`, `v` of shape `[n, k]`, and `alpha` and `beta`, the
      diagonal of `B` and the one below it.

    Example:
      >>> a = tf.contrib.solvers.util.create_operator(tf.constant([[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
      >>> found = tf.contrib.solvers.lanczos.lanczos_bidiag(a, 1, starting_vector=tf.constant([1.0, 1.0, 0.0]))
      >>> print(tf.Session().run(tf.round(found.alpha ** 2 * 2)))
      [5.]
    """

    def orthogonal(before: Tensor, column: Tensor) -> Tensor:
        return column - math_ops.matmul(before, math_ops.matmul(before, column, adjoint_a=True)) if orthogonalize else column

    def rows(axis: int) -> Any:
        return operator.shape[axis] if isinstance(operator.shape, (list, tuple)) else None

    with name_scope(name):
        dtype = dtypes.as_dtype(operator.dtype)
        if starting_vector is None:
            starting_vector = random_ops.random_uniform(operator.shape[:1], -1, 1, dtype=dtype)
        u, _ = util.l2normalize(array_ops.expand_dims(convert_to_tensor(starting_vector, dtype=dtype), -1))
        n = operator.shape[1]

        def step(i: Any, u: Any, v: Any, alpha: Any, beta: Any) -> Any:
            # The first step has no column of `v` before it: zeros take its place.
            last_v = control_flow.cond(i > 0, lambda: v[:, -1:], lambda: array_ops.zeros([n, 1], dtype))
            last_beta = control_flow.cond(i > 0, lambda: beta[-1], lambda: constant(0, dtype))
            r = orthogonal(v, operator.apply_adjoint(u[:, -1:]) - last_beta * last_v)
            next_v, next_alpha = util.l2normalize(r)
            p = orthogonal(u, operator.apply(next_v) - next_alpha * u[:, -1:])
            next_u, next_beta = util.l2normalize(p)
            columns = [array_ops.concat([old, new], 1) for old, new in ((u, next_u), (v, next_v))]
            numbers = [array_ops.concat([old, array_ops.reshape(new, [1])], 0) for old, new in ((alpha, next_alpha), (beta, next_beta))]
            return [i + 1, *columns, *numbers]

        none = array_ops.zeros([0], dtype)
        invariants = [[], [rows(0), None], [rows(1), None], [None], [None]]
        found = control_flow.while_loop(
            lambda i, *_: i < k,
            step,
            [constant(0), u, array_ops.zeros([n, 0], dtype), none, none],
            shape_invariants=[shapes.TensorShape(s) for s in invariants],
        )
        return _Bidiagonal(*found[1:])


def bidiag_matmul(matrix: Any, alpha: Any, beta: Any, adjoint_b: bool = False, name: Optional[str] = "bidiag_matmul") -> Tensor:
    """Returns the product of a matrix and a lower bidiagonal one.

    Args:
      matrix: A tensor of rank 2.
      alpha: A vector, the diagonal of `B` of shape `[k + 1, k]`.
      beta: A vector, the diagonal below it.
      adjoint_b: Whether to multiply by the adjoint of `B` without its last row.
      name: A name for the operations.

    Returns:
      A tensor of rank 2.

    Example:
      >>> print(tf.Session().run(tf.contrib.solvers.lanczos.bidiag_matmul([[1.0, 2.0, 3.0]], [1.0, 2.0], [3.0, 4.0])))
      [[ 7. 16.]]
    """
    with name_scope(name):
        alpha = array_ops.expand_dims(convert_to_tensor(alpha), 0)
        matrix, beta = convert_to_tensor(matrix), convert_to_tensor(beta)
        if not adjoint_b:
            return matrix[:, :-1] * alpha + matrix[:, 1:] * array_ops.expand_dims(beta, 0)
        zeros = array_ops.zeros([array_ops.shape(matrix)[0], 1], dtype=matrix.dtype)
        return matrix * alpha + array_ops.concat([zeros, matrix[:, :-1] * array_ops.expand_dims(beta[:-1], 0)], 1)
