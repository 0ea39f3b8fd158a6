"""`tf.contrib.solvers.linear_equations`: the method of conjugate gradients."""

from __future__ import annotations

import collections
from typing import Any, Optional

from millstream.contrib.solvers import util
from millstream.framework import constant, convert_to_tensor, name_scope, namespaces
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, math_ops

__all__ = ["conjugate_gradient"]

__dir__ = namespaces.dir_of(globals())

_State = collections.namedtuple("_State", ["i", "x", "r", "p", "gamma"])


def conjugate_gradient(
    operator: Any,
    rhs: Any,
    preconditioner: Any = None,
    x: Any = None,
    tol: float = 1e-4,
    max_iter: int = 20,
    name: Optional[str] = "conjugate_gradient",
) -> Any:
    """Solves `A x = rhs` of a symmetric positive definite matrix by the method of conjugate gradients.

    Args:
      operator: The matrix `A` as an operator; see `tf.contrib.solvers.util.create_operator`.
      rhs: A vector of shape `[n]`.
      preconditioner: An operator near the inverse of `A`.
      x: A vector to begin with; zeros if it is None.
      tol: The loop ends when the norm of the residual is `tol` times that of `rhs`.
      max_iter: The loop ends after this number of steps.
      name: A name for the operations.

    Returns:
      A tuple with the fields `i`, the number of steps, `x`, the solution, and `r`, the residual; besides
      `p` and `gamma`, its direction and its squared norm.

    Example:
      >>> a = tf.contrib.solvers.util.create_operator(tf.constant([[4.0, 1.0], [1.0, 3.0]]))
      >>> found = tf.contrib.solvers.linear_equations.conjugate_gradient(a, tf.constant([1.0, 2.0]))
      >>> print(*tf.Session().run([found.i, tf.round(found.x * 11)]))
      2 [1. 7.]
    """
    with name_scope(name):
        n = operator.shape[1:]
        rhs = array_ops.expand_dims(convert_to_tensor(rhs), -1)
        if x is None:
            x = array_ops.expand_dims(array_ops.zeros(n, dtype=rhs.dtype.base_dtype), -1)
            r0 = rhs
        else:
            x = array_ops.expand_dims(convert_to_tensor(x), -1)
            r0 = rhs - operator.apply(x)
        enough = tol * math_ops.sqrt(2 * op("L2Loss")(r0))
        p0 = r0 if preconditioner is None else preconditioner.apply(r0)
        gamma0 = util.dot(r0, p0)

        def cond(i: Any, state: Any) -> Any:
            return op("LogicalAnd")(i < max_iter, math_ops.sqrt(2 * op("L2Loss")(state.r)) > enough)

        def body(i: Any, state: Any) -> Any:
            z = operator.apply(state.p)
            alpha = state.gamma / util.dot(state.p, z)
            x = state.x + alpha * state.p
            r = state.r - alpha * z
            q = r if preconditioner is None else preconditioner.apply(r)
            gamma = util.dot(r, q)
            p = q + gamma / state.gamma * state.p
            return i + 1, _State(i + 1, x, r, p, gamma)

        i = constant(0, dtype="int32")
        _, state = control_flow.while_loop(cond, body, [i, _State(i=i, x=x, r=r0, p=p0, gamma=gamma0)])
        return _State(state.i, x=array_ops.squeeze(state.x), r=array_ops.squeeze(state.r), p=array_ops.squeeze(state.p), gamma=state.gamma)
