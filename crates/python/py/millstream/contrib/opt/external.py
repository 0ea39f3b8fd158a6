"""`ExternalOptimizerInterface`, `ScipyOptimizerInterface`: optimizers of Python that call a session."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

import numpy as np

from millstream.framework import logging, placeholder
from millstream.framework.session import get_default_session
from millstream.ops import array_ops
from millstream.ops.gradients import gradients
from millstream.variables.collections import trainable_variables

__all__ = ["ExternalOptimizerInterface", "ScipyOptimizerInterface"]


def _gradients(loss: Any, variables: List[Any]) -> List[Any]:
    found = zip(variables, gradients(loss, variables))
    return [array_ops.zeros_like(v) if grad is None else grad for v, grad in found]


def _packed(tensors: List[Any]) -> Any:
    """Returns the elements of all tensors as a vector."""
    flat = [array_ops.reshape(tensor, [-1]) for tensor in tensors]
    if not flat:
        return None
    return flat[0] if len(flat) == 1 else array_ops.concat(flat, 0)


class ExternalOptimizerInterface:
    """The base class of optimizers that run outside the graph. Subclasses define `_minimize`.

    Args:
      loss: A scalar tensor to minimize.
      var_list: The variables to change; by default all trainable ones.
      equalities: A list of scalars that should be zero.
      inequalities: A list of scalars that should not be negative.
      var_to_bounds: A dict from variables to pairs of their least and greatest values.
      **optimizer_kwargs: What `_minimize` gets as `optimizer_kwargs`.

    Example:
      >>> class Descent(tf.contrib.opt.ExternalOptimizerInterface):
      ...     def _minimize(self, initial_val, loss_grad_func, optimizer_kwargs, **others):
      ...         x = initial_val
      ...         for _ in range(optimizer_kwargs["steps"]):
      ...             _, gradient = loss_grad_func(x)
      ...             x = x - 0.25 * gradient
      ...         return x
      >>> v = tf.Variable([7.0, 3.0])
      >>> optimizer = Descent(tf.reduce_sum(tf.square(v)), steps=2)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     optimizer.minimize(sess)
      ...     print(sess.run(v))
      [1.75 0.75]
    """

    def __init__(
        self, loss: Any, var_list: Any = None, equalities: Any = None, inequalities: Any = None, var_to_bounds: Any = None, **optimizer_kwargs: Any
    ) -> None:
        self._loss = loss
        self._equalities, self._inequalities = equalities or [], inequalities or []
        self._vars = trainable_variables() if var_list is None else list(var_list)
        self._packed_bounds = None if var_to_bounds is None else self._bounds(var_to_bounds)
        self._update_placeholders = [placeholder(v.dtype.base_dtype) for v in self._vars]
        pairs = zip(self._vars, self._update_placeholders)
        self._var_updates = [v.assign(array_ops.reshape(value, v.get_shape().as_list())) for v, value in pairs]
        loss_gradients = _gradients(loss, self._vars)
        of_equalities = [_gradients(term, self._vars) for term in self._equalities]
        of_inequalities = [_gradients(term, self._vars) for term in self._inequalities]
        self.optimizer_kwargs = optimizer_kwargs
        self._packed_var = _packed(self._vars)
        self._packed_loss_grad = _packed(loss_gradients)
        self._packed_equality_grads = [_packed(grads) for grads in of_equalities]
        self._packed_inequality_grads = [_packed(grads) for grads in of_inequalities]
        ends = np.cumsum([0] + [int(np.prod(v.get_shape().as_list())) for v in self._vars]).tolist()
        self._packing_slices = [slice(start, end) for start, end in zip(ends[:-1], ends[1:])]

    def _bounds(self, var_to_bounds: Dict[Any, Any]) -> List[Any]:
        sides: List[List[Any]] = [[], []]
        for variable in self._vars:
            bounds = next((b for v, b in var_to_bounds.items() if v is variable), (-np.inf, np.inf))
            for side, bound in zip(sides, bounds):
                side.extend(np.broadcast_to(bound, variable.get_shape().as_list()).flat)
        return list(zip(*sides))

    def minimize(
        self,
        session: Any = None,
        feed_dict: Any = None,
        fetches: Any = None,
        step_callback: Optional[Callable[..., Any]] = None,
        loss_callback: Optional[Callable[..., Any]] = None,
        **run_kwargs: Any,
    ) -> None:
        """Minimizes the loss, and assigns the result to the variables.

        Args:
          session: The session; by default the one that is entered.
          feed_dict: Feeds of each run.
          fetches: A list of tensors that `loss_callback` gets.
          step_callback: A function of the elements of the variables, called after each step.
          loss_callback: A function of the fetches, called after each run of the loss.
          **run_kwargs: Arguments of the run that assigns the result.
        """
        session = session or get_default_session()
        feeds, fetches = feed_dict or {}, list(fetches or [])

        def evaluated(tensors: List[Any], callback: Optional[Callable[..., Any]] = None) -> Callable[[Any], List[Any]]:
            def call(x: Any) -> List[Any]:
                pairs = zip(self._vars, self._packing_slices)
                given = {v: x[part].reshape(v.get_shape().as_list()) for v, part in pairs}
                given.update(feeds)
                values = session.run(tensors + fetches, given)
                if callback is not None:
                    callback(*values[len(tensors) :])
                return values[: len(tensors)]  # type: ignore[no-any-return]

            return call

        def each(tensors: List[Any]) -> List[Any]:
            return [evaluated([tensor]) for tensor in tensors]

        result = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=evaluated([self._loss, self._packed_loss_grad], loss_callback),
            equality_funcs=each(self._equalities),
            equality_grad_funcs=each(self._packed_equality_grads),
            inequality_funcs=each(self._inequalities),
            inequality_grad_funcs=each(self._packed_inequality_grads),
            packed_bounds=self._packed_bounds,
            step_callback=step_callback or (lambda x: None),
            optimizer_kwargs=self.optimizer_kwargs,
        )
        values = [result[part] for part in self._packing_slices]
        session.run(self._var_updates, dict(zip(self._update_placeholders, values)), **run_kwargs)

    def _minimize(self, **kwargs: Any) -> Any:
        raise NotImplementedError("To use ExternalOptimizerInterface, subclass from it and implement the _minimize() method.")


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """`scipy.optimize.minimize` over variables of a graph. It needs the package `scipy`.

    Args:
      loss: A scalar tensor; the other arguments are those of `ExternalOptimizerInterface`.
      **optimizer_kwargs: `method` (by default `"L-BFGS-B"`), `options` and others, of SciPy's function.

    Raises:
      ImportError: When it minimizes: there is no SciPy.
      ValueError: When it minimizes: an argument is one that the class sets.

    Example:
      >>> v = tf.Variable([7.0, 7.0])
      >>> optimizer = tf.contrib.opt.ScipyOptimizerInterface(tf.reduce_sum(v * v), options={"maxiter": 100})
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(  # type: ignore[override]
        self,
        initial_val: Any,
        loss_grad_func: Any,
        equality_funcs: Any,
        equality_grad_funcs: Any,
        inequality_funcs: Any,
        inequality_grad_funcs: Any,
        packed_bounds: Any,
        step_callback: Any,
        optimizer_kwargs: Any,
    ) -> Any:
        def wide(x: Any) -> Any:
            loss, gradient = loss_grad_func(x)
            return float(loss), gradient.astype("float64")

        kwargs = dict(optimizer_kwargs)
        method = kwargs.pop("method", self._DEFAULT_METHOD)

        def as_doubles(function: Any) -> Any:
            # Recent versions of SLSQP take nothing else.
            return lambda x: np.asarray(function(x), np.float64)

        pairs = [("eq", *both) for both in zip(equality_funcs, equality_grad_funcs)]
        pairs += [("ineq", *both) for both in zip(inequality_funcs, inequality_grad_funcs)]
        constraints = [{"type": kind, "fun": as_doubles(f), "jac": as_doubles(g)} for kind, f, g in pairs]
        own = {"jac": True, "callback": step_callback, "method": method, "constraints": constraints, "bounds": packed_bounds}
        for name in own:
            if name in kwargs:
                if name == "bounds":
                    raise ValueError("Bounds must be set using the var_to_bounds argument")
                raise ValueError("Optimizer keyword arg '%s' is set automatically and cannot be injected manually" % name)
        try:
            import scipy.optimize  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ImportError:
            raise ImportError("ScipyOptimizerInterface needs the package `scipy`: pip install scipy") from None
        result = scipy.optimize.minimize(wide, np.asarray(initial_val, np.float64), **own, **kwargs)
        lines = "Optimization terminated with:\n  Message: %s\n  Objective function value: %f"
        logging.info(lines, result.message, result.fun)
        return result["x"]
