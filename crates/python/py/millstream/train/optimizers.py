"""The optimizers: each declares its slots and the op that applies a gradient.

See `optimizer.py` for the base classes.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple

from millstream.framework import control_dependencies, dtypes, get_default_graph
from millstream.framework.op_functions import op, raw
from millstream.ops import control_flow, math_ops
from millstream.train.optimizer import ByOp, is_reference, target
from millstream.variables import state_ops


class GradientDescentOptimizer(ByOp):
    """Gradient descent: `var -= learning_rate * gradient`.

    Args:
      learning_rate: The step size: a float or a scalar tensor.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations, also used for its slots.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.train.GradientDescentOptimizer(0.1).minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(round(float(sess.run(x)), 3))
      0.8
    """

    WORD, GRADIENT = "GradientDescent", "delta"

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _prepare(self) -> None:
        self._hyper(learning_rate=self._learning_rate)

    def _arguments(self, var: Any) -> Dict[str, Any]:
        return {"alpha": self._as("learning_rate", var)}

    # The scatter ops sum repeated indices themselves.

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        step = grad.values * self._as("learning_rate", var)
        return raw("ScatterSub")(
            ref=target(var), indices=grad.indices, updates=step, use_locking=self._use_locking
        ).op

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        step = -grad * self._as("learning_rate", handle)
        return raw("ResourceScatterAdd")(resource=handle.handle, indices=indices, updates=step)


class MomentumOptimizer(ByOp):
    """Momentum: `accumulation = momentum * accumulation + gradient; var -= learning_rate * accumulation`.

    Args:
      learning_rate: The step size: a float or a scalar tensor.
      momentum: The fraction of the accumulation that is kept: a float or a scalar tensor.
      use_nesterov: If true, uses Nesterov momentum: the gradient is applied as if the next step had been made
        already.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations, also used for its slots.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.train.MomentumOptimizer(0.1, momentum=0.9).minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(round(float(sess.run(x)), 3))
      0.8
    """

    WORD = "Momentum"
    SLOTS = (("momentum", "accum", ""),)

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum, self._use_nesterov = learning_rate, momentum, use_nesterov

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._hyper(learning_rate=self._learning_rate, momentum=self._momentum)

    def _arguments(self, var: Any) -> Dict[str, Any]:
        return {
            "lr": self._as("learning_rate", var),
            "momentum": self._as("momentum", var),
            "use_nesterov": self._use_nesterov,
        }


class AdamOptimizer(ByOp):
    """Adam: steps scaled by moving averages of the gradient and of its square.

    Args:
      learning_rate: The step size: a float or a scalar tensor.
      beta1: The decay rate of the average of gradients.
      beta2: The decay rate of the average of squared gradients.
      epsilon: A constant added to the root of the second average.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations, also used for its slots.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.train.AdamOptimizer(0.1).minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(round(float(sess.run(x)), 3))
      0.9
    """

    WORD = "Adam"
    SLOTS = (("m", "m", ""), ("v", "v", ""))
    TENSORS = {"learning_rate": "_lr_t", "beta1": "_beta1_t", "beta2": "_beta2_t", "epsilon": "_epsilon_t"}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _get_beta_accumulators(self) -> Tuple[Any, Any]:
        return self._powers()

    def _powers(self) -> Tuple[Any, Any]:
        graph = get_default_graph()
        first, second = (self._get_non_slot_variable(n, graph) for n in ("beta1_power", "beta2_power"))
        return first, second

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        first = min(var_list, key=lambda x: x.name)
        for name, beta in (("beta1_power", self._beta1), ("beta2_power", self._beta2)):
            self._create_non_slot_variable(beta() if callable(beta) else beta, name, first)
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        self._hyper(learning_rate=self._lr, beta1=self._beta1, beta2=self._beta2, epsilon=self._epsilon)

    def _arguments(self, var: Any) -> Dict[str, Any]:
        power1, power2 = self._powers()
        return {
            "beta1_power": math_ops.cast(power1, var.dtype.base_dtype),
            "beta2_power": math_ops.cast(power2, var.dtype.base_dtype),
            "lr": self._as("learning_rate", var),
            "beta1": self._as("beta1", var),
            "beta2": self._as("beta2", var),
            "epsilon": self._as("epsilon", var),
            "use_nesterov": False,
        }

    # No op takes slices: the averages of all rows decay, those of the given rows also grow, and every row is
    # updated.

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._slices(var, grad.values, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._slices(handle, grad, indices)

    def _slices(self, var: Any, values: Any, indices: Any) -> Any:
        given = self._arguments(var)
        lr = given["lr"] * op("Sqrt")(1 - given["beta2_power"]) / (1 - given["beta1_power"])
        averages = []
        for slot, beta, square in (("m", given["beta1"], False), ("v", given["beta2"], True)):
            average = self.get_slot(var, slot)
            shrunk = state_ops.assign(average, average * beta, use_locking=self._use_locking)
            with control_dependencies([shrunk]):
                added = (values * values if square else values) * (1 - beta)
                averages.append(_scatter_add(average, indices, added, self._use_locking))
        m, v = averages
        step = state_ops.assign_sub(var, lr * m / (op("Sqrt")(v) + given["epsilon"]), use_locking=self._use_locking)
        return control_flow.group(step, m, v)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        with control_dependencies(update_ops):
            updates = [
                state_ops.assign(power, power * self._tensors[beta], use_locking=self._use_locking)
                for power, beta in zip(self._powers(), ("beta1", "beta2"))
            ]
        return control_flow.group(*update_ops, *updates, name=name_scope)


def _scatter_add(var: Any, indices: Any, updates: Any, use_locking: bool) -> Any:
    """Returns the variable's value after adding slices to it."""
    if is_reference(var):
        return state_ops.scatter_add(var, indices, updates, use_locking=use_locking)
    with control_dependencies([raw("ResourceScatterAdd")(resource=var.handle, indices=indices, updates=updates)]):
        return var.read_value()


class AdagradOptimizer(ByOp):
    """Adagrad: `accumulator += gradient**2; var -= learning_rate * gradient / sqrt(accumulator)`.

    Args:
      learning_rate: The step size: a float or a scalar tensor.
      initial_accumulator_value: The initial value of the accumulator.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations, also used for its slots.

    Raises:
      ValueError: `initial_accumulator_value` is not positive.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.train.AdagradOptimizer(0.1).minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(round(float(sess.run(x)), 3))
      0.901
    """

    WORD = "Adagrad"
    SLOTS = (("accumulator", "accum", ""),)

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._initial_accumulator_value = learning_rate, initial_accumulator_value

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._filled_slot(var, "accumulator", self._name, self._initial_accumulator_value)

    def _prepare(self) -> None:
        self._hyper(learning_rate=self._learning_rate)

    def _arguments(self, var: Any) -> Dict[str, Any]:
        return {"lr": self._as("learning_rate", var)}


class AdadeltaOptimizer(ByOp):
    """Adadelta: steps in the variable's units, from moving averages of squared gradients and squared steps.

    Args:
      learning_rate: The step size: a float or a scalar tensor.
      rho: The decay rate of the averages.
      epsilon: A constant added to the averages.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations, also used for its slots.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.train.AdadeltaOptimizer(1.0, epsilon=0.01).minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(round(float(sess.run(x)), 3))
      0.564
    """

    WORD = "Adadelta"
    SLOTS = (("accum", "accum", ""), ("accum_update", "accum_update", ""))
    TENSORS = {"lr": "_lr_t", "rho": "_rho_t", "epsilon": "_epsilon_t"}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "accum", self._name)
            self._zeros_slot(var, "accum_update", self._name)

    def _prepare(self) -> None:
        self._hyper(lr=self._lr, rho=self._rho, epsilon=self._epsilon)

    def _arguments(self, var: Any) -> Dict[str, Any]:
        return {name: self._as(name, var) for name in ("lr", "rho", "epsilon")}


class RMSPropOptimizer(ByOp):
    """RMSProp: divides the gradient by the root of a moving average of its square.

    Args:
      learning_rate: The step size: a float or a scalar tensor.
      decay: The decay rate of the average.
      momentum: The fraction of the last step that is kept.
      epsilon: A constant added to the average.
      centered: If true, the average is of the variance of the gradient instead of its square.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations, also used for its slots.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.train.RMSPropOptimizer(0.1).minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(round(float(sess.run(x)), 3))
      0.825
    """

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._decay, self._momentum, self._epsilon = learning_rate, decay, momentum, epsilon
        self._centered = centered
        slots = [("rms", "ms", ""), ("momentum", "mom", "")]
        self.SLOTS = tuple([("mg", "mg", "")] + slots if centered else slots)

    def _word(self) -> str:
        return "CenteredRMSProp" if self._centered else "RMSProp"

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._filled_slot(var, "rms", self._name, 1.0)
            if self._centered:
                self._zeros_slot(var, "mg", self._name)
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._hyper(
            learning_rate=self._learning_rate, decay=self._decay, momentum=self._momentum, epsilon=self._epsilon
        )

    def _arguments(self, var: Any) -> Dict[str, Any]:
        return {
            "lr": self._as("learning_rate", var),
            "rho": self._as("decay", var),
            "momentum": self._as("momentum", var),
            "epsilon": self._as("epsilon", var),
        }


class FtrlOptimizer(ByOp):
    """FTRL ("follow the regularized leader"): sparse models by L1 and L2 regularization.

    Args:
      learning_rate: The step size: a float or a scalar tensor.
      learning_rate_power: Zero or a negative float: the exponent of the accumulator by which steps shrink.
      initial_accumulator_value: The initial value of the accumulator of squares.
      l1_regularization_strength: The strength of L1 regularization.
      l2_regularization_strength: The strength of L2 regularization.
      accum_name: The name of the slot of squares.
      linear_name: The name of the linear slot.
      l2_shrinkage_regularization_strength: The strength of the L2 penalty that acts on the gradient.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations, also used for its slots.

    Raises:
      ValueError: `learning_rate_power` is positive, or another value is negative.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.train.FtrlOptimizer(0.1).minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(round(float(sess.run(x)), 3))
      0.745
    """

    SLOTS = (("accum", "accum", ""), ("linear", "linear", ""))

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: Optional[str] = None,
        linear_name: Optional[str] = None,
        l2_shrinkage_regularization_strength: float = 0.0,
    ) -> None:
        super().__init__(use_locking, name)
        for word, value in (
            ("initial_accumulator_value", initial_accumulator_value),
            ("l1_regularization_strength", l1_regularization_strength),
            ("l2_regularization_strength", l2_regularization_strength),
            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength),
        ):
            if value < 0.0:
                raise ValueError(f"{word} {value:f} needs to be positive or zero")
        if 0.0 < learning_rate_power:
            raise ValueError(f"learning_rate_power {learning_rate_power:f} needs to be negative or zero")
        self._learning_rate, self._learning_rate_power, self._initial_accumulator_value = learning_rate, learning_rate_power, initial_accumulator_value
        self._l1_regularization_strength, self._l2_regularization_strength = l1_regularization_strength, l2_regularization_strength
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self._accum_name, self._linear_name = accum_name, linear_name

    def _word(self) -> str:
        return "FtrlV2" if 0.0 < self._l2_shrinkage_regularization_strength else "Ftrl"

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._filled_slot(var, "accum", self._accum_name or self._name, self._initial_accumulator_value)
            self._zeros_slot(var, "linear", self._linear_name or self._name)

    def _prepare(self) -> None:
        self._hyper(
            learning_rate=self._learning_rate,
            l1_regularization_strength=self._l1_regularization_strength,
            l2_regularization_strength=self._l2_regularization_strength,
            learning_rate_power=self._learning_rate_power,
            l2_shrinkage_regularization_strength=self._l2_shrinkage_regularization_strength,
        )

    def _arguments(self, var: Any) -> Dict[str, Any]:
        out = {
            "lr": self._as("learning_rate", var),
            "l1": self._as("l1_regularization_strength", var),
            "l2": self._as("l2_regularization_strength", var),
            "lr_power": self._as("learning_rate_power", var),
        }
        if 0.0 < self._l2_shrinkage_regularization_strength:
            out["l2_shrinkage"] = self._as("l2_shrinkage_regularization_strength", var)
        return out


class ProximalGradientDescentOptimizer(ByOp):
    """Gradient descent with L1 and L2 regularization.

    Args:
      learning_rate: The step size: a float or a scalar tensor.
      l1_regularization_strength: The strength of L1 regularization.
      l2_regularization_strength: The strength of L2 regularization.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations, also used for its slots.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.train.ProximalGradientDescentOptimizer(0.1,
      ...     l1_regularization_strength=0.5).minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(round(float(sess.run(x)), 3))
      0.75
    """

    WORD, GRADIENT = "ProximalGradientDescent", "delta"

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1_regularization_strength, self._l2_regularization_strength = l1_regularization_strength, l2_regularization_strength

    def _prepare(self) -> None:
        self._hyper(
            learning_rate=self._learning_rate,
            l1_regularization_strength=self._l1_regularization_strength,
            l2_regularization_strength=self._l2_regularization_strength,
        )

    def _arguments(self, var: Any) -> Dict[str, Any]:
        return {
            "alpha": self._as("learning_rate", var),
            "l1": self._as("l1_regularization_strength", var),
            "l2": self._as("l2_regularization_strength", var),
        }

    def _apply(self, var: Any, grad: Any, indices: Any = None) -> Any:
        # The sparse op has a different name for the gradient.
        self.GRADIENT = "delta" if indices is None else "grad"
        return super()._apply(var, grad, indices)


class ProximalAdagradOptimizer(AdagradOptimizer):
    """Adagrad with L1 and L2 regularization.

    Args:
      learning_rate: The step size: a float or a scalar tensor.
      initial_accumulator_value: The initial value of the accumulator.
      l1_regularization_strength: The strength of L1 regularization.
      l2_regularization_strength: The strength of L2 regularization.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations, also used for its slots.

    Raises:
      ValueError: `initial_accumulator_value` is not positive.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.train.ProximalAdagradOptimizer(0.1).minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(round(float(sess.run(x)), 3))
      0.901
    """

    WORD = "ProximalAdagrad"

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._l1_regularization_strength, self._l2_regularization_strength = l1_regularization_strength, l2_regularization_strength

    def _prepare(self) -> None:
        self._hyper(
            learning_rate=self._learning_rate,
            l1_regularization_strength=self._l1_regularization_strength,
            l2_regularization_strength=self._l2_regularization_strength,
        )

    def _arguments(self, var: Any) -> Dict[str, Any]:
        return {
            "lr": self._as("learning_rate", var),
            "l1": self._as("l1_regularization_strength", var),
            "l2": self._as("l2_regularization_strength", var),
        }


class AdagradDAOptimizer(ByOp):
    """Adagrad with dual averaging: variables are computed from sums of gradients and of squared gradients.

    With L1 regularization, variables stay at zero unless their gradients are large.

    Args:
      learning_rate: The step size: a float or a scalar tensor.
      global_step: The variable that counts steps.
      initial_gradient_squared_accumulator_value: The initial value of the sum of squares.
      l1_regularization_strength: The strength of L1 regularization.
      l2_regularization_strength: The strength of L2 regularization.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations, also used for its slots.

    Raises:
      ValueError: `initial_gradient_squared_accumulator_value` is not positive.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step()).minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(round(float(sess.run(x)), 3))
      -0.099
    """

    WORD = "AdagradDA"
    SLOTS = (
        ("gradient_accumulator", "gradient_accumulator", ""),
        ("gradient_squared_accumulator", "gradient_squared_accumulator", ""),
    )

    def __init__(
        self,
        learning_rate: Any,
        global_step: Any,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_gradient_squared_accumulator_value must be positive: {initial_gradient_squared_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate, self._global_step = learning_rate, global_step
        self._initial_gradient_squared_accumulator_value = initial_gradient_squared_accumulator_value
        self._l1_regularization_strength, self._l2_regularization_strength = l1_regularization_strength, l2_regularization_strength

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "gradient_accumulator", self._name)
            self._filled_slot(var, "gradient_squared_accumulator", self._name, self._initial_gradient_squared_accumulator_value)

    def _prepare(self) -> None:
        self._hyper(
            learning_rate=self._learning_rate,
            l1_regularization_strength=self._l1_regularization_strength,
            l2_regularization_strength=self._l2_regularization_strength,
        )

    def _arguments(self, var: Any) -> Dict[str, Any]:
        # The op counts steps from 1.
        return {
            "lr": self._as("learning_rate", var),
            "l1": self._as("l1_regularization_strength", var),
            "l2": self._as("l2_regularization_strength", var),
            "global_step": math_ops.cast(self._global_step, dtypes.int64) + 1,
        }
