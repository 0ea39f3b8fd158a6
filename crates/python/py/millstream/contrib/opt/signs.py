"""Optimizers by the infinity norm and by the signs of gradients: `AdaMax`, `AddSign`, `PowerSign`."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Optional, Sequence

from millstream.framework import control_dependencies, get_default_graph
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, indexing_ops, math_ops
from millstream.contrib.opt.optimizers import _scatter
from millstream.train.optimizer import ByOp
from millstream.train.optimizers import AdamOptimizer
from millstream.variables import state_ops

__all__ = ["AdaMaxOptimizer", "AddSignOptimizer", "PowerSignOptimizer"]


class AdaMaxOptimizer(AdamOptimizer):
    """Adam with the largest gradient so far, which decays, in place of the average of squares.

    Arguments are those of `tf.train.AdamOptimizer`.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.contrib.opt.AdaMaxOptimizer(0.1).minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x).round(3))
      0.9
    """

    WORD = "AdaMax"

    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8, use_locking: bool = False, name: str = "AdaMax"
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        first = min(var_list, key=lambda x: x.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _power(self) -> Any:
        return self._get_non_slot_variable("beta1_power", get_default_graph())

    def _arguments(self, var: Any) -> Dict[str, Any]:
        names = {"lr": "learning_rate", "beta1": "beta1", "beta2": "beta2", "epsilon": "epsilon"}
        given = {argument: self._as(name, var) for argument, name in names.items()}
        return {"beta1_power": math_ops.cast(self._power(), var.dtype.base_dtype), **given}

    def _slices(self, var: Any, values: Any, indices: Any) -> Any:
        given = self._arguments(var)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        rows_of_m = given["beta1"] * indexing_ops.gather(m, indices) + (1 - given["beta1"]) * values
        rows_of_v = op("Maximum")(given["beta2"] * indexing_ops.gather(v, indices), op("Abs")(values))
        step = -given["lr"] / (1 - given["beta1_power"]) * (rows_of_m / (rows_of_v + given["epsilon"]))
        updates = [_scatter("Update", m, indices, rows_of_m, self._use_locking), _scatter("Update", v, indices, rows_of_v, self._use_locking)]
        return control_flow.group(_scatter("Add", var, indices, step, self._use_locking), *updates)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        with control_dependencies(update_ops):
            power = self._power()
            update = state_ops.assign(power, power * self._tensors["beta1"], use_locking=self._use_locking)
        return control_flow.group(*update_ops, update, name=name_scope)


class _BySign(ByOp):
    """The base class of optimizers that compare the sign of the gradient with that of its average."""

    SLOTS = (("m", "m", ""),)

    def __init__(self, learning_rate: Any, beta: Any, sign_decay_fn: Optional[Callable[[Any], Any]], use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._lr, self._beta, self._sign_decay_fn = learning_rate, beta, sign_decay_fn
        self._sign_decay: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None) -> Any:
        """As `Optimizer.apply_gradients`; the decay of the sign is a function of the step."""
        self._sign_decay = None if self._sign_decay_fn is None else self._sign_decay_fn(global_step)
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._rows(var, grad.values, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._rows(handle, grad, indices)

    # The whole average decays, also in rows without a gradient; the variable changes in rows with one only.
    def _rows(self, var: Any, values: Any, indices: Any) -> Any:
        given = self._arguments(var)
        m, beta = self.get_slot(var, "m"), given["beta"]
        spread = op("UnsortedSegmentSum")(values, indices, array_ops.shape(m)[0])
        average = m * beta + spread * (1 - beta)
        signs = op("Sign")(values) * op("Sign")(indexing_ops.gather(average, indices))
        step = given["lr"] * values * self._scale(given, given["sign_decay"] * signs)
        update = state_ops.assign(m, average, use_locking=self._use_locking)
        return control_flow.group(_scatter("Sub", var, indices, step, self._use_locking), update)

    def _scale(self, given: Dict[str, Any], signs: Any) -> Any:
        """Returns the factor of the gradient where gradient and average agree as `signs` says."""
        raise NotImplementedError()

    def _decay_of(self, var: Any) -> Any:
        return math_ops.cast(1.0 if self._sign_decay is None else self._sign_decay, var.dtype.base_dtype)


class AddSignOptimizer(_BySign):
    """Scales gradients by `alpha + sign`, where the sign says whether gradient and average agree.

    Gradients of rows, such as those of embeddings, change these rows only. The average decays in all rows.

    Args:
      learning_rate: The step size.
      alpha: The scale without a sign.
      beta: The decay of the average.
      sign_decay_fn: A function from the step to the factor of the sign.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations, also used for its slots.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.contrib.opt.AddSignOptimizer(0.1).minimize(x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x).round(3))
      0.8
    """

    WORD = "AddSign"

    def __init__(
        self, learning_rate: Any = 0.1, alpha: Any = 1.0, beta: Any = 0.9, sign_decay_fn: Any = None, use_locking: bool = False, name: str = "AddSignOptimizer"
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha

    def _prepare(self) -> None:
        self._hyper(learning_rate=self._lr, beta=self._beta, alpha=self._alpha)

    def _arguments(self, var: Any) -> Dict[str, Any]:
        given = {"lr": self._as("learning_rate", var), "alpha": self._as("alpha", var), "beta": self._as("beta", var)}
        return {**given, "sign_decay": self._decay_of(var)}

    def _scale(self, given: Dict[str, Any], signs: Any) -> Any:
        return given["alpha"] + signs


class PowerSignOptimizer(_BySign):
    """Scales gradients by `base ** sign`, where the sign says whether gradient and average agree.

    Gradients of rows, such as those of embeddings, change these rows only. The average decays in all rows.

    Args:
      learning_rate: The step size.
      base: The base.
      beta: The decay of the average.
      sign_decay_fn: A function from the step to the factor of the sign.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations, also used for its slots.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.contrib.opt.PowerSignOptimizer(0.1, base=2.0).minimize(x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x).round(3))
      0.8
    """

    WORD = "PowerSign"

    def __init__(
        self, learning_rate: Any = 0.1, base: Any = math.e, beta: Any = 0.9, sign_decay_fn: Any = None, use_locking: bool = False, name: str = "PowerSignOptimizer"
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._base = base

    def _prepare(self) -> None:
        self._hyper(learning_rate=self._lr, beta=self._beta, logbase=math.log(self._base))

    def _arguments(self, var: Any) -> Dict[str, Any]:
        given = {"lr": self._as("learning_rate", var), "logbase": self._as("logbase", var), "beta": self._as("beta", var)}
        return {**given, "sign_decay": self._decay_of(var)}

    def _scale(self, given: Dict[str, Any], signs: Any) -> Any:
        return op("Exp")(given["logbase"] * signs)
