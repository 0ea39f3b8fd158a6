"""`recompute_grad`: layers whose values are computed again for the gradient instead of being kept."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, List, Optional

from millstream._engine import Tensor
from millstream.contrib.framework.arg_scopes import arg_scope, current_arg_scope
from millstream.ops import gradients
from millstream.variables.scopes import get_variable_scope, variable_scope
from millstream.variables.variable import Variable

__all__ = ["recompute_grad"]


def recompute_grad(fn: Optional[Callable[..., Any]] = None, use_data_dep: Optional[bool] = None, tupleize_grads: bool = False) -> Callable[..., Any]:
    """Makes the gradient of `fn` recompute its values instead of saving them: a decorator.

    `fn` may create variables, in a variable scope with `use_resource=True`. It is called again for the
    gradient, in the same scopes, and gets the same variables.

    Args:
      fn: A function of tensors that returns one tensor or several. If it has an argument `is_recomputing`,
        that is false in the first call and true in the second.
      use_data_dep: Ignored: it changes the order of operations, not their results.
      tupleize_grads: Ignored, for the same reason.

    Returns:
      A function with the same arguments that returns the results of `fn`; without `fn`, a decorator.

    Raises:
      ValueError: `fn` reads a tensor or a variable of the function around it, which would get no gradient.

    Example:
      >>> @tf.contrib.layers.recompute_grad
      ... def layer(x):
      ...     return tf.square(x * tf.get_variable("w", [2], initializer=tf.ones_initializer()))
      >>> x = tf.constant([1.0, 2.0])
      >>> with tf.variable_scope("s", use_resource=True):
      ...     y = layer(x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(*sess.run([y, tf.gradients(y, x)[0]]))
      [1. 4.] [2. 4.]
    """
    if fn is None:
        return recompute_grad
    code = getattr(fn, "__code__", None)
    cells = zip(code.co_freevars, fn.__closure__ or ()) if code else ()  # type: ignore[attr-defined]
    for name, cell in cells:
        if isinstance(cell.cell_contents, (Tensor, Variable)):
            raise ValueError(
                "fn decorated with @recompute_grad closes over Tensor %s (local variable name: %s). The decorated fn must not close over "
                "Tensors or Variables because gradients will NOT be computed for them through fn. To ensure correct gradients, make the "
                "Tensor an input to fn." % (cell.cell_contents.name, name)
            )
    is_told = "is_recomputing" in inspect.signature(fn).parameters

    @functools.wraps(fn)
    def call(*args: Any) -> Any:
        scope, arguments = get_variable_scope(), current_arg_scope()
        called: List[bool] = []

        def run(*inputs: Any) -> Any:
            again = bool(called)
            called.append(True)
            told = {"is_recomputing": again} if is_told else {}
            if not again:
                return fn(*inputs, **told)
            with variable_scope(scope, reuse=True, auxiliary_name_scope=False), arg_scope(arguments):
                return fn(*inputs, **told)

        return gradients.recompute_grad(run)(*args)

    return call
