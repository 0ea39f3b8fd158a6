"""`tf.contrib.mixed_precision`: losses that are scaled, so that gradients of `float16` do not become zero."""

from __future__ import annotations

import abc
from typing import Any, List, Optional, Sequence, Tuple

from millstream.framework import convert_to_tensor, dtypes, namespaces
from millstream.framework.op_functions import op
from millstream.ops import control_flow, math_ops
from millstream.train.optimizer import Optimizer
from millstream.variables import state_ops
from millstream.variables.variable import Variable

__all__ = ["ExponentialUpdateLossScaleManager", "FixedLossScaleManager", "LossScaleManager", "LossScaleOptimizer"]

__dir__ = namespaces.dir_of(globals())


class LossScaleManager(abc.ABC):
    """The base class of what decides about a scale.

    Example:
      >>> issubclass(tf.contrib.mixed_precision.FixedLossScaleManager, tf.contrib.mixed_precision.LossScaleManager)
      True
      >>> scales = tf.contrib.mixed_precision.FixedLossScaleManager(8.0)
      >>> print(tf.Session().run(scales.get_loss_scale()), scales.update_loss_scale(True).type)
      8.0 NoOp
    """

    @abc.abstractmethod
    def get_loss_scale(self) -> Any:
        """Returns the scale: a `float32` scalar."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: Any) -> Any:
        """Returns an operation that changes the scale after a step.

        Args:
          finite_grads: A bool scalar: whether all gradients of the step were finite.
        """


class FixedLossScaleManager(LossScaleManager):
    """A scale that stays.

    Args:
      loss_scale: The scale, at least 1.

    Raises:
      ValueError: The scale is less than 1.

    Example:
      >>> scales = tf.contrib.mixed_precision.FixedLossScaleManager(8.0)
      >>> print(tf.Session().run(scales.get_loss_scale()))
      8.0
    """

    def __init__(self, loss_scale: float) -> None:
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = convert_to_tensor(loss_scale, dtype=dtypes.float32)

    def get_loss_scale(self) -> Any:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        return control_flow.no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A scale that grows after steps with finite gradients, and shrinks after others.

    Args:
      init_loss_scale: The scale at the beginning.
      incr_every_n_steps: The number of finite steps in a row after which the scale grows.
      decr_every_n_nan_or_inf: The number of other steps after which it shrinks.
      incr_ratio: The factor by which it grows.
      decr_ratio: The factor by which it shrinks, to 1 at the least.

    Example:
      >>> scales = tf.contrib.mixed_precision.ExponentialUpdateLossScaleManager(8.0, incr_every_n_steps=1)
      >>> update = scales.update_loss_scale(tf.constant(True))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     _ = sess.run(update)
      ...     print(sess.run(scales.get_loss_scale()))
      16.0
    """

    def __init__(self, init_loss_scale: float, incr_every_n_steps: int, decr_every_n_nan_or_inf: int = 2, incr_ratio: float = 2, decr_ratio: float = 0.8) -> None:
        self._incr_every_n_steps, self._decr_every_n_nan_or_inf = incr_every_n_steps, decr_every_n_nan_or_inf
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        start = convert_to_tensor(init_loss_scale, dtypes.float32)
        self._loss_scale = Variable(start, name="loss_scale", dtype=dtypes.float32, trainable=False)
        self._num_good_steps = Variable(0, name="good_steps", dtype=dtypes.int32, trainable=False)
        self._num_bad_steps = Variable(0, name="bad_steps", dtype=dtypes.int32, trainable=False)

    def get_loss_scale(self) -> Any:
        return self._loss_scale

    def _set(self, scale: Any) -> Any:
        """Returns an operation that sets the scale and begins to count again."""
        return control_flow.group(self._loss_scale.assign(scale), self._num_good_steps.assign(0), self._num_bad_steps.assign(0))

    def update_loss_scale(self, finite_grads: Any) -> Any:
        def grow() -> Any:
            larger = self._loss_scale * self._incr_ratio
            return self._set(control_flow.cond(op("IsFinite")(larger), lambda: larger, lambda: self._loss_scale.read_value()))

        def shrink() -> Any:
            return self._set(op("Maximum")(1.0, self._loss_scale * self._decr_ratio))

        def after_finite() -> Any:
            return control_flow.cond(
                self._num_good_steps + 1 >= self._incr_every_n_steps, grow, lambda: control_flow.group(state_ops.assign_add(self._num_good_steps, 1))
            )

        def after_others() -> Any:
            counted = lambda: control_flow.group(state_ops.assign_add(self._num_bad_steps, 1), self._num_good_steps.assign(0))  # noqa: E731
            return control_flow.cond(self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf, shrink, counted)

        return control_flow.cond(finite_grads, after_finite, after_others)


class LossScaleOptimizer(Optimizer):
    """An optimizer of a scaled loss. A step whose gradients are not all finite changes no variable.

    Args:
      opt: The optimizer that applies the gradients, which are scaled back.
      loss_scale_manager: What decides about the scale.

    Example:
      >>> x = tf.Variable(1.0)
      >>> scales = tf.contrib.mixed_precision.FixedLossScaleManager(8.0)
      >>> optimizer = tf.contrib.mixed_precision.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.25), scales)
      >>> step = optimizer.minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x))
      0.5
    """

    def __init__(self, opt: Optimizer, loss_scale_manager: LossScaleManager) -> None:
        super().__init__(False, "LossScaleOptimizer")
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager

    def compute_gradients(
        self,
        loss: Any,
        var_list: Optional[Sequence[Any]] = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> List[Tuple[Any, Any]]:
        scale = self._loss_scale_manager.get_loss_scale()
        loss = loss() if callable(loss) else loss
        pairs = self._opt.compute_gradients(
            loss * math_ops.cast(scale, loss.dtype.base_dtype),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        back = op("Reciprocal")(scale)
        return [(None if g is None else g * math_ops.cast(back, g.dtype.base_dtype), v) for g, v in pairs]

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None) -> Any:
        pairs = list(grads_and_vars)
        finite = [op("All")(op("IsFinite")(g), list(range(g.shape.ndims))) for g, _ in pairs if g is not None]
        all_finite = op("All")(finite, [0])
        update = control_flow.cond(all_finite, lambda: self._opt.apply_gradients(pairs, global_step, name), control_flow.no_op)
        return control_flow.group(update, self._loss_scale_manager.update_loss_scale(all_finite))
