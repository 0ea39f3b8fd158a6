"""Variants of Adam and momentum: lazy, with Nesterov's step, with weight decay."""

from __future__ import annotations

from typing import Any, Dict, List, Type

from millstream.framework import control_dependencies, convert_to_tensor
from millstream.framework.op_functions import op, raw
from millstream.ops import control_flow, indexing_ops, math_ops
from millstream.train.optimizer import is_reference, target
from millstream.train.optimizers import AdamOptimizer, MomentumOptimizer
from millstream.variables import state_ops

__all__ = [
    "AdamWOptimizer",
    "DecoupledWeightDecayExtension",
    "LazyAdamOptimizer",
    "MomentumWOptimizer",
    "NadamOptimizer",
    "extend_with_decoupled_weight_decay",
]


def _scatter(kind: str, var: Any, indices: Any, updates: Any, use_locking: bool) -> Any:
    """Adds the operation that updates rows of a variable."""
    if is_reference(var):
        return raw("Scatter" + kind)(ref=target(var), indices=indices, updates=updates, use_locking=use_locking)
    return raw("ResourceScatter" + kind)(resource=target(var), indices=indices, updates=updates)


class LazyAdamOptimizer(AdamOptimizer):
    """Adam whose averages of rows without a gradient stay as they are.

    It suits embeddings, of which a step uses few rows. Arguments are those of `tf.train.AdamOptimizer`.

    Example:
      >>> table = tf.Variable(tf.ones([3, 1]))
      >>> loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1]))
      >>> step = tf.contrib.opt.LazyAdamOptimizer(0.1).minimize(loss)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(table).round(2).ravel())
      [1.  0.9 1. ]
    """

    def _slices(self, var: Any, values: Any, indices: Any) -> Any:
        given = self._arguments(var)
        lr = given["lr"] * op("Sqrt")(1 - given["beta2_power"]) / (1 - given["beta1_power"])
        updates, averages = [], []
        for slot, beta, added in (("m", given["beta1"], values), ("v", given["beta2"], op("Square")(values))):
            average = self.get_slot(var, slot)
            rows = beta * indexing_ops.gather(average, indices) + (1 - beta) * added
            updates.append(_scatter("Update", average, indices, rows, self._use_locking))
            averages.append(rows)
        step = lr * averages[0] / (op("Sqrt")(averages[1]) + given["epsilon"])
        updates.append(_scatter("Sub", var, indices, step, self._use_locking))
        return control_flow.group(*updates)


class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov's momentum. Arguments are those of `tf.train.AdamOptimizer`.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.contrib.opt.NadamOptimizer(0.1).minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x).round(3))
      0.81
    """

    def _arguments(self, var: Any) -> Dict[str, Any]:
        return {**super()._arguments(var), "use_nesterov": True}

    def _slices(self, var: Any, values: Any, indices: Any) -> Any:
        given = self._arguments(var)
        lr = given["lr"] * op("Sqrt")(1 - given["beta2_power"]) / (1 - given["beta1_power"])
        added = values * (1 - given["beta1"]), values * values * (1 - given["beta2"])
        averages = []
        for slot, beta, more in (("m", given["beta1"], added[0]), ("v", given["beta2"], added[1])):
            average = self.get_slot(var, slot)
            with control_dependencies([state_ops.assign(average, average * beta, use_locking=self._use_locking)]):
                averages.append(self._grown(average, indices, more))
        m, v = averages
        # The step looks ahead: the average as it will be after the next step.
        with control_dependencies([m]):
            ahead = self._grown_copy(m * given["beta1"], indices, added[0])
        step = state_ops.assign_sub(var, lr * ahead / (op("Sqrt")(v) + given["epsilon"]), use_locking=self._use_locking)
        return control_flow.group(step, ahead, v)

    def _grown(self, average: Any, indices: Any, rows: Any) -> Any:
        done = _scatter("Add", average, indices, rows, self._use_locking)
        if is_reference(average):
            return done
        with control_dependencies([done]):
            return average.read_value()

    @staticmethod
    def _grown_copy(value: Any, indices: Any, rows: Any) -> Any:
        return op("TensorScatterAdd")(value, op("ExpandDims")(indices, 1), rows)


class DecoupledWeightDecayExtension:
    """A base class, beside one of optimizers: weights shrink before their gradients are applied.

    Args:
      weight_decay: The factor of a variable that is subtracted from it in each step: a float, a scalar
        tensor, or a function that returns one.
      **kwargs: The arguments of the optimizer.

    Example:
      >>> class Decaying(tf.contrib.opt.DecoupledWeightDecayExtension, tf.train.GradientDescentOptimizer):
      ...     def __init__(self, weight_decay, *args, **kwargs):
      ...         super().__init__(weight_decay, *args, **kwargs)
      >>> x = tf.Variable(1.0)
      >>> step = Decaying(0.5, learning_rate=0.1).minimize(x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x).round(3))
      0.4
    """

    def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
        self._decayed: Any = None
        self._weight_decay = weight_decay
        self._decay: Any = None
        super().__init__(*args, **kwargs)

    def minimize(self, loss: Any, *args: Any, decay_var_list: Any = None, **kwargs: Any) -> Any:
        """As `Optimizer.minimize`.

        Args:
          loss: The loss.
          decay_var_list: The variables that shrink; by default all. TensorFlow ignores it here.
        """
        self._decayed = None if decay_var_list is None else list(decay_var_list)
        return super().minimize(loss, *args, **kwargs)  # type: ignore[misc]

    def apply_gradients(self, grads_and_vars: Any, *args: Any, decay_var_list: Any = None, **kwargs: Any) -> Any:
        """As `Optimizer.apply_gradients`.

        Args:
          grads_and_vars: Pairs of gradients and variables.
          decay_var_list: The variables that shrink; by default all.
        """
        if decay_var_list is not None:
            self._decayed = list(decay_var_list)
        return super().apply_gradients(grads_and_vars, *args, **kwargs)  # type: ignore[misc]

    def _prepare(self) -> None:
        value = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        self._decay = convert_to_tensor(value, name="weight_decay")
        super()._prepare()  # type: ignore[misc]

    def _shrunk(self, var: Any, indices: Any = None) -> List[Any]:
        """Returns the operations that shrink a variable, or only those of its rows that have gradients."""
        if self._decayed is not None and all(v is not var for v in self._decayed):
            return []
        if indices is not None:
            rows = math_ops.cast(self._decay, var.dtype.base_dtype) * indexing_ops.gather(var, indices)
            return [_scatter("Sub", var, indices, rows, self._use_locking)]  # type: ignore[attr-defined]
        return [state_ops.assign_sub(var, math_ops.cast(self._decay, var.dtype.base_dtype) * var, self._use_locking)]  # type: ignore[attr-defined]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        with control_dependencies(self._shrunk(var)):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        with control_dependencies(self._shrunk(handle)):
            return super()._resource_apply_dense(grad, handle)  # type: ignore[misc]

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        with control_dependencies(self._shrunk(var, grad.indices)):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        with control_dependencies(self._shrunk(handle, indices)):
            return super()._resource_apply_sparse(grad, handle, indices)  # type: ignore[misc]


def extend_with_decoupled_weight_decay(base_optimizer: Type[Any]) -> Type[Any]:
    """Returns a class of optimizers with weight decay, whose first argument is `weight_decay`.

    Args:
      base_optimizer: A class of optimizers.

    Returns:
      A class.

    Example:
      >>> Decaying = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)
      >>> x = tf.Variable(1.0)
      >>> step = Decaying(weight_decay=0.5, learning_rate=0.1).minimize(x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x).round(3))
      0.4
    """

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):  # type: ignore[misc]
        """The optimizer with weight decay."""

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum with weight decay.

    Args:
      weight_decay: See `DecoupledWeightDecayExtension`. The others are as in `tf.train.MomentumOptimizer`.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.contrib.opt.MomentumWOptimizer(0.5, 0.1, 0.9).minimize(x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x).round(3))
      0.4
    """

    def __init__(self, weight_decay: Any, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "MomentumW", use_nesterov: bool = False) -> None:
        super().__init__(weight_decay, learning_rate, momentum, use_locking=use_locking, name=name, use_nesterov=use_nesterov)


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """Adam with weight decay.

    Args:
      weight_decay: See `DecoupledWeightDecayExtension`. The others are as in `tf.train.AdamOptimizer`.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.contrib.opt.AdamWOptimizer(0.5, 0.1).minimize(x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x).round(3))
      0.4
    """

    def __init__(
        self, weight_decay: Any, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8, use_locking: bool = False, name: str = "AdamW"
    ) -> None:
        super().__init__(weight_decay, learning_rate, beta1, beta2, epsilon, use_locking=use_locking, name=name)
