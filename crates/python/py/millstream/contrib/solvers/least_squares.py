"""`tf.contrib.solvers.least_squares`: conjugate gradients of the normal equations."""

from __future__ import annotations

import collections
from typing import Any, Optional

from millstream.contrib.solvers import util
from millstream.framework import constant, convert_to_tensor, name_scope, namespaces
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow

__all__ = ["cgls"]

__dir__ = namespaces.dir_of(globals())

_State = collections.namedtuple("_State", ["i", "x", "r", "p", "gamma"])


def cgls(operator: Any, rhs: Any, tol: float = 1e-6, max_iter: int = 20, name: Optional[str] = "cgls") -> Any:
    """Minimizes the norm of `A x - rhs` by the method of conjugate gradients.

    Args:
      operator: The matrix `A` as an operator; see `tf.contrib.solvers.util.create_operator`.
      rhs: A vector of shape `[m]`.
      tol: The loop ends when the norm of `A' (rhs - A x)` is `tol` times that of `A' rhs`.
      max_iter: The loop ends after this number of steps.
      name: A name for the operations.

    Returns:
      A tuple with the fields `i`, the number of steps, `x`, the solution, and `r`, the residual; besides
      `p` and `gamma`, its direction and the squared norm of `A' r`.

    Example:
      >>> a = tf.contrib.solvers.util.create_operator(tf.constant([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]))
      >>> found = tf.contrib.solvers.least_squares.cgls(a, tf.constant([1.0, 3.0, 5.0]))
      >>> print(tf.Session().run(tf.round(found.x)))
      [1. 2.]
    """
    with name_scope(name):
        n = operator.shape[1:]
        rhs = array_ops.expand_dims(convert_to_tensor(rhs), -1)
        s0 = operator.apply_adjoint(rhs)
        gamma0 = util.l2norm_squared(s0)
        enough = tol * tol * gamma0

        def cond(i: Any, state: Any) -> Any:
            return op("LogicalAnd")(i < max_iter, array_ops.squeeze(state.gamma > enough))

        def body(i: Any, state: Any) -> Any:
            q = operator.apply(state.p)
            alpha = state.gamma / util.l2norm_squared(q)
            x = state.x + alpha * state.p
            r = state.r - alpha * q
            s = operator.apply_adjoint(r)
            gamma = util.l2norm_squared(s)
            p = s + gamma / state.gamma * state.p
            return i + 1, _State(i + 1, x, r, p, gamma)

        i = constant(0, dtype="int32")
        x = array_ops.expand_dims(array_ops.zeros(n, dtype=rhs.dtype.base_dtype), -1)
        _, state = control_flow.while_loop(cond, body, [i, _State(i=i, x=x, r=rhs, p=s0, gamma=gamma0)])
        return _State(state.i, x=array_ops.squeeze(state.x), r=array_ops.squeeze(state.r), p=array_ops.squeeze(state.p), gamma=state.gamma)
