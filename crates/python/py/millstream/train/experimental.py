"""`tf.train.experimental`: scales of losses, so that small gradients of `float16` do not become zero."""

from __future__ import annotations

import abc
from typing import Any, Callable, Dict, List, Optional, Tuple

from millstream.framework import IndexedSlices, convert_to_tensor, dtypes, namespaces
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, math_ops, reduction_ops
from millstream.train.optimizer import Optimizer
from millstream.variables.variable import Variable

__all__ = ["DynamicLossScale", "FixedLossScale", "LossScale", "MixedPrecisionLossScaleOptimizer"]

__dir__ = namespaces.dir_of(globals())


class LossScale(abc.ABC):
    """The base class of scales of losses. A call returns the scale, a tensor."""

    @abc.abstractmethod
    def __call__(self) -> Any:
        """Returns the scale, a scalar of dtype `float32`."""

    @abc.abstractmethod
    def update(self, grads: Any) -> Tuple[Any, Any]:
        """Returns an operation that updates the scale, and whether the gradients are to be applied.

        Args:
          grads: The gradients, without the scale.
        """

    @abc.abstractmethod
    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of the scale: a dict for `from_config`."""

    @classmethod
    def from_config(cls, config: Dict[str, Any]) -> "LossScale":
        """Returns a scale with these arguments."""
        return cls(**config)


class FixedLossScale(LossScale):
    """A scale that stays as it is. All gradients are applied.

    Args:
      loss_scale_value: The scale, a number of at least 1.

    Raises:
      ValueError: The scale is something else.

    Example:
      >>> tf.train.experimental.FixedLossScale(8.0)
      FixedLossScale(8.0)
    """

    def __init__(self, loss_scale_value: Any) -> None:
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self) -> Any:
        return convert_to_tensor(self._loss_scale_value, dtypes.float32)

    def __repr__(self) -> str:
        return "FixedLossScale(%s)" % self._loss_scale_value

    def update(self, grads: Any) -> Tuple[Any, Any]:
        """Returns an operation without effect, and True."""
        return control_flow.no_op(), True

    def get_config(self) -> Dict[str, Any]:
        """Returns the scale in a dict."""
        return {"loss_scale_value": self._loss_scale_value}


class DynamicLossScale(LossScale):
    """A scale that is divided when gradients are not finite, and multiplied after a number of steps that are.

    Args:
      initial_loss_scale: The scale of the first step.
      increment_period: The number of steps with finite gradients after which the scale is multiplied.
      multiplier: The factor. The scale is at least 1.

    Example:
      >>> scale = tf.train.experimental.DynamicLossScale(8.0, increment_period=1)
      >>> update, finite = scale.update([tf.constant([1.0, 2.0])])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     done = sess.run([update, finite])
      ...     print(sess.run(scale()))
      16.0
    """

    def __init__(self, initial_loss_scale: Any = 2**15, increment_period: Any = 2000, multiplier: Any = 2.0) -> None:
        self._initial_loss_scale = float(initial_loss_scale)
        self._increment_period, self._multiplier = int(increment_period), float(multiplier)
        self._current = Variable(self._initial_loss_scale, False, name="current_loss_scale", dtype=dtypes.float32, use_resource=True)
        self._good_steps = Variable(0, False, name="good_steps", dtype=dtypes.int64, use_resource=True)

    @property
    def initial_loss_scale(self) -> float:
        """The scale of the first step."""
        return self._initial_loss_scale

    @property
    def increment_period(self) -> int:
        """The number of steps after which the scale is multiplied."""
        return self._increment_period

    @property
    def multiplier(self) -> float:
        """The factor."""
        return self._multiplier

    def __call__(self) -> Any:
        return self._current.read_value()

    def __repr__(self) -> str:
        words = "DynamicLossScale(initial_loss_scale=%s, increment_period=%s, multiplier=%s)"
        return words % (self._initial_loss_scale, self._increment_period, self._multiplier)

    def update(self, grads: Any) -> Tuple[Any, Any]:
        """Returns an operation that updates the scale, and whether all gradients are finite."""
        values = [g.values if isinstance(g, IndexedSlices) else g for g in grads if g is not None]
        finite = reduction_ops.reduce_all(array_ops.stack([reduction_ops.reduce_all(op("IsFinite")(v)) for v in values]))
        return control_flow.cond(finite, self._after_finite, self._after_others), finite

    def _after_finite(self) -> Any:
        def grown() -> Any:
            more = self._current.read_value() * self._multiplier
            set_ = control_flow.cond(
                op("IsFinite")(more), lambda: control_flow.group(self._current.assign(more).op), lambda: control_flow.group(control_flow.no_op())
            )
            return control_flow.group(set_, self._good_steps.assign(0).op)

        enough = self._good_steps.read_value() + 1 >= self._increment_period
        return control_flow.cond(enough, grown, lambda: control_flow.group(self._good_steps.assign_add(1).op))

    def _after_others(self) -> Any:
        less = op("Maximum")(self._current.read_value() / self._multiplier, 1.0)
        return control_flow.group(self._current.assign(less).op, self._good_steps.assign(0).op)

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments."""
        return {"initial_loss_scale": self._initial_loss_scale, "increment_period": self._increment_period, "multiplier": self._multiplier}


def _scale_of(given: Any) -> LossScale:
    if isinstance(given, LossScale):
        return given
    if isinstance(given, str):
        if given == "dynamic":
            return DynamicLossScale()
        raise ValueError("Could not interpret loss scale identifier: %s" % given)
    return FixedLossScale(given)


class MixedPrecisionLossScaleOptimizer(Optimizer):
    """An optimizer that takes the gradients of a scaled loss, and applies them without the scale.

    With a dynamic scale, gradients that are not finite are not applied.

    Args:
      opt: The optimizer that applies the gradients.
      loss_scale: A `LossScale`, a number, or `"dynamic"`.

    Raises:
      ValueError: `opt` is no optimizer, or the scale is something else.

    Example:
      >>> v = tf.get_variable("v", initializer=1.0)
      >>> opt = tf.train.experimental.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(0.5), "dynamic")
      >>> step = opt.minimize(v * v)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(v))
      0.0
    """

    def __init__(self, opt: Optimizer, loss_scale: Any) -> None:
        if not isinstance(opt, Optimizer):
            raise ValueError('"opt" must be an instance of Optimizer, but got: %s' % type(opt))
        super().__init__(False, opt.get_name())
        self._optimizer, self._loss_scale = opt, _scale_of(loss_scale)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> List[Any]:
        """Returns the gradients of a loss with their variables, without the scale; see `Optimizer`."""
        pairs = self._optimizer.compute_gradients(
            self._scaled(loss), var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )
        inverse = 1.0 / self._loss_scale()
        return [(_times(grad, inverse), variable) for grad, variable in pairs]

    def _scaled(self, loss: Any) -> Any:
        if callable(loss):
            function: Callable[[], Any] = loss
            return lambda: self._scaled(function())
        loss = convert_to_tensor(loss)
        return loss * math_ops.cast(self._loss_scale(), loss.dtype)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None) -> Any:
        """Returns an operation that applies gradients, if they are to be, and updates the scale."""
        pairs = tuple(grads_and_vars)
        update, applies = self._loss_scale.update([grad for grad, _ in pairs])
        if applies is True:
            return self._optimizer.apply_gradients(pairs, global_step, name)

        def applied() -> Any:
            return control_flow.group(self._optimizer.apply_gradients(pairs, global_step, name))

        done = control_flow.cond(applies, applied, control_flow.no_op)
        return control_flow.group(done, update, name=name or self._name)


def _times(grad: Any, factor: Any) -> Any:
    if grad is None:
        return None
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(_times(grad.values, factor), grad.indices, grad.dense_shape)
    return grad * math_ops.cast(factor, grad.dtype)
