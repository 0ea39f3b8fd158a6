"""Optimizers that scale, clip, drop or skip what others do, and Adam by a step of the program."""

from __future__ import annotations

import contextlib
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from millstream._engine import Tensor
from millstream.contrib.opt.optimizers import LazyAdamOptimizer
from millstream.framework import IndexedSlices, colocate_with, control_dependencies, convert_to_tensor, dtypes, logging, name_scope
from millstream.framework.op_functions import op
from millstream.io import summaries
from millstream.ops import array_ops, clip_ops, control_flow, indexing_ops, linalg_ops, math_ops, reduction_ops
from millstream.train import training_util
from millstream.train.optimizer import ByOp, Optimizer
from millstream.train.optimizers import AdagradOptimizer, AdamOptimizer
from millstream.variables.initializers import zeros_initializer
from millstream.variables.scopes import get_variable

__all__ = [
    "AdamGSOptimizer",
    "DropStaleGradientOptimizer",
    "LARSOptimizer",
    "LazyAdamGSOptimizer",
    "MultitaskOptimizerWrapper",
    "RegAdagradOptimizer",
    "VariableClippingOptimizer",
    "clip_gradients_by_global_norm",
]


class LARSOptimizer(ByOp):
    """Momentum whose learning rate is scaled for each variable by the norms of the variable and its gradient.

    Args:
      learning_rate: The learning rate.
      momentum: The momentum.
      weight_decay: The factor of the variable that is added to its gradient.
      eeta: The factor of the scale.
      epsilon: A number that is added to the scale's divisor.
      name: The name scope of its operations, also used for its slots.
      skip_list: Parts of names of variables that are not scaled, or None.
      use_nesterov: Whether the momentum is Nesterov's.

    Raises:
      ValueError: `momentum` or `weight_decay` is negative.

    Example:
      >>> x = tf.Variable([1.0])
      >>> optimizer = tf.contrib.opt.LARSOptimizer(1.0, eeta=0.5)
      >>> step = optimizer.minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x).round(3), type(optimizer.compute_lr(tf.constant([2.0]), x)).__name__)
      [0.5] tuple
    """

    WORD = "Momentum"
    SLOTS = (("momentum", "accum", ""),)

    def __init__(
        self,
        learning_rate: Any,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Optional[Sequence[str]] = None,
        use_nesterov: bool = False,
    ) -> None:
        if momentum < 0.0:
            raise ValueError("momentum should be positive: %s" % momentum)
        if weight_decay < 0.0:
            raise ValueError("weight_decay should be positive: %s" % weight_decay)
        super().__init__(False, name)
        self._learning_rate, self._momentum = learning_rate, momentum
        self._weight_decay, self._eeta, self._epsilon = weight_decay, eeta, epsilon
        self._skip_list, self._use_nesterov = skip_list, use_nesterov
        self._rate: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._hyper(learning_rate=self._learning_rate, momentum=self._momentum)

    def compute_lr(self, grad: Any, var: Any) -> Tuple[Any, Any]:
        """Returns the learning rate of a variable, and its gradient with the decay.

        Args:
          grad: The gradient.
          var: The variable.
        """
        if self._skip_list is not None and any(part in var.name for part in self._skip_list):
            return self._learning_rate, grad
        w, g = linalg_ops.norm(var, ord=2), linalg_ops.norm(grad, ord=2)
        ratio = self._eeta * w / (g + self._weight_decay * w + self._epsilon)
        trust = array_ops.where(w > 0, array_ops.where(g > 0, ratio, 1.0), 1.0)
        return self._learning_rate * trust, grad + self._weight_decay * var

    def _arguments(self, var: Any) -> Dict[str, Any]:
        rate = self._as("learning_rate", var) if self._rate is None else self._rate
        return {"lr": rate, "momentum": self._as("momentum", var), "use_nesterov": self._use_nesterov}

    def _dense(self, grad: Any, var: Any) -> Any:
        rate, grad = self.compute_lr(grad, var)
        self._rate = math_ops.cast(1.0, var.dtype.base_dtype)
        try:
            return self._apply(var, grad * rate)
        finally:
            self._rate = None

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._dense(grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._dense(grad, handle)


class RegAdagradOptimizer(AdagradOptimizer):
    """Adagrad whose accumulators can be left as they are, for gradients of regularizers.

    Args:
      learning_rate: The learning rate.
      initial_accumulator_value: The initial value of the accumulators.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations, also used for its slots.

    Example:
      >>> x = tf.Variable(1.0)
      >>> optimizer = tf.contrib.opt.RegAdagradOptimizer(0.1)
      >>> with optimizer.avoid_updating_slots():
      ...     step = optimizer.minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x).round(3), sess.run(optimizer.get_slot(x, "accumulator")))
      0.368 0.1
    """

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False, name: str = "RegAdagrad") -> None:
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._should_update_slots = True

    @contextlib.contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """Returns a context manager in which gradients leave the accumulators as they are."""
        before, self._should_update_slots = self._should_update_slots, False
        try:
            yield
        finally:
            self._should_update_slots = before

    def _arguments(self, var: Any) -> Dict[str, Any]:
        return {**super()._arguments(var), "update_slots": self._should_update_slots}


class AdamGSOptimizer(AdamOptimizer):
    """Adam whose decay rates have the powers of a given step, instead of variables of its own.

    Args:
      global_step: The step: a variable, a tensor or an int.
      learning_rate: The learning rate. The others are as in `tf.train.AdamOptimizer`.
      beta1: The decay rate of the average of gradients.
      beta2: The decay rate of the average of squares.
      epsilon: A number that is added to the divisor.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations, also used for its slots.

    Example:
      >>> x, step = tf.Variable(1.0), tf.train.create_global_step()
      >>> update = tf.contrib.opt.AdamGSOptimizer(step, 0.1).minimize(x * x, global_step=step)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(update)
      ...     print(sess.run(x).round(3), [v.name for v in tf.global_variables()[2:]])
      0.9 ['Variable/Adam:0', 'Variable/Adam_1:0']
    """

    def __init__(
        self,
        global_step: Any = 0,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._global_step = global_step
        self._step_now: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        self._step_now = math_ops.cast(array_ops.identity(self._global_step) + 1, dtypes.float32)

    def _powers(self) -> Tuple[Any, Any]:
        return math_ops.pow(self._tensors["beta1"], self._step_now), math_ops.pow(self._tensors["beta2"], self._step_now)

    def _finish(self, update_ops: Any, name_scope: Any) -> Any:
        return Optimizer._finish(self, update_ops, name_scope)


class LazyAdamGSOptimizer(AdamGSOptimizer, LazyAdamOptimizer):
    """`AdamGSOptimizer` that changes only the rows of a variable that have gradients, and their averages.

    Example:
      >>> table, step = tf.Variable(tf.ones([3, 1])), tf.train.create_global_step()
      >>> loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1]))
      >>> update = tf.contrib.opt.LazyAdamGSOptimizer(step, 0.1).minimize(loss, global_step=step)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(update)
      ...     print(sess.run(table).round(2).ravel())
      [1.  0.9 1. ]
    """


class VariableClippingOptimizer(Optimizer):
    """An optimizer that limits norms of variables after each step of another.

    Args:
      opt: The optimizer.
      vars_to_clip_dims: A dict from variables to the axes of which norms are taken.
      max_norm: The largest norm.
      use_locking: If true, updates hold a lock on the variable.
      colocate_clip_ops_with_vars: Whether operations are placed with the variables.
      name: The name scope of its operations.

    Example:
      >>> x = tf.Variable([3.0, 4.0])
      >>> inner = tf.train.GradientDescentOptimizer(0.0)
      >>> step = tf.contrib.opt.VariableClippingOptimizer(inner, {x: [0]}, 1.0).minimize(tf.reduce_sum(x))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x).round(3))
      [0.6 0.8]
    """

    def __init__(
        self,
        opt: Optimizer,
        vars_to_clip_dims: Dict[Any, List[int]],
        max_norm: Any,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt = opt
        self._vars_to_clip_dims = [(var, list(dims)) for var, dims in vars_to_clip_dims.items()]
        self._max_norm = max_norm
        self._colocate_clip_ops_with_vars = colocate_clip_ops_with_vars

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None) -> Any:
        pairs = list(grads_and_vars)
        with name_scope(name, self._name) as scope:
            update = self._opt.apply_gradients(pairs, global_step=global_step)
            clipped = []
            with control_dependencies([update]):
                for grad, var in pairs:
                    dims = next((dims for other, dims in self._vars_to_clip_dims if other is var), None)
                    if grad is not None and dims is not None:
                        with name_scope("clip_" + var.op.name):
                            clipped.append(self._clip(grad, var, dims))
            return control_flow.group(update, *clipped, name=scope)

    def _clip(self, grad: Any, var: Any, dims: List[int]) -> Any:
        is_sparse = isinstance(grad, IndexedSlices)
        if is_sparse and 0 in dims:
            logging.warning("Clipping norm across dims %s for %s is inefficient when including sparse dimension 0.", dims, var.op.name)
        place = colocate_with(var.op) if self._colocate_clip_ops_with_vars else contextlib.nullcontext()
        if is_sparse and 0 not in dims:
            rows = indexing_ops.gather(var, grad.indices)
            with place:
                change = rows - clip_ops.clip_by_norm(rows, self._max_norm, dims)
            return var.scatter_sub(IndexedSlices(change, grad.indices, grad.dense_shape), use_locking=self._use_locking)
        with place:
            value = var.read_value()
            change = value - clip_ops.clip_by_norm(value, self._max_norm, dims)
        return var.assign_sub(change, use_locking=self._use_locking)


class DropStaleGradientOptimizer(Optimizer):
    """An optimizer that drops gradients of another if the global step has moved on too far meanwhile.

    Args:
      opt: The optimizer.
      staleness: The largest number of steps.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations.

    Example:
      >>> x, step = tf.Variable(1.0), tf.train.create_global_step()
      >>> optimizer = tf.contrib.opt.DropStaleGradientOptimizer(tf.train.GradientDescentOptimizer(0.5), 0)
      >>> update = optimizer.minimize(x, global_step=step)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     _ = sess.run(update)
      ...     print(sess.run(x))
      0.5
    """

    def __init__(self, opt: Optimizer, staleness: int, use_locking: bool = False, name: str = "DropStaleGradient") -> None:
        super().__init__(use_locking, name)
        self._opt, self._staleness = opt, staleness
        self._local_step: Any = None

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        with colocate_with(loss):
            self._local_step = training_util.get_global_step() + 0
        with control_dependencies([self._local_step]):
            return self._opt.compute_gradients(array_ops.identity(loss), *args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None) -> Any:
        pairs = list(grads_and_vars)
        with colocate_with(global_step.op):
            dropped = get_variable("stale_counter", [], initializer=zeros_initializer(), trainable=False)

        def accept() -> Tensor:
            with control_dependencies([self._opt.apply_gradients(pairs, global_step=global_step, name=name)]):
                return array_ops.identity(0.0)

        computed = [grad if isinstance(grad, Tensor) else grad.op for grad, _ in pairs if grad is not None]
        with control_dependencies(computed), colocate_with(global_step.op):
            staleness = array_ops.reshape(global_step - self._local_step, [])
        count = dropped.assign_add(control_flow.cond(staleness <= self._staleness, accept, lambda: array_ops.identity(1.0)))
        summaries.scalar("Gradient staleness percentage", dropped / math_ops.cast(global_step + 1, dtypes.float32))
        return count


def _all_zeros(grad: Any) -> Any:
    return math_ops.equal(reduction_ops.count_nonzero(grad), 0)


class MultitaskOptimizerWrapper:
    """An optimizer whose variables and slots do not change in steps with gradients of zeros.

    Args:
      opt: The optimizer, which is changed.

    Raises:
      TypeError: `opt` is not an optimizer.

    Example:
      >>> x = tf.Variable([1.0])
      >>> optimizer = tf.contrib.opt.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(0.5, 0.9))
      >>> step = optimizer.minimize(x * x)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x))
      [0.]
    """

    def __init__(self, opt: Optimizer) -> None:
        if not isinstance(opt, Optimizer):
            raise TypeError("Supplied optimizer must be an instance of tf.train.Optimizer")
        self._opt = opt
        for name in ("_apply_dense", "_resource_apply_dense", "_apply_sparse", "_resource_apply_sparse"):
            setattr(opt, name, self._unless_zeros(getattr(opt, name)))

    @staticmethod
    def _unless_zeros(apply: Any) -> Any:
        def wrapped(grad: Any, *args: Any, **kwargs: Any) -> Any:
            def update() -> Any:
                with control_dependencies([apply(grad, *args, **kwargs)]):
                    return control_flow.no_op()

            return control_flow.cond(_all_zeros(grad), control_flow.no_op, update)

        return wrapped

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)


def clip_gradients_by_global_norm(gradients_variables: Any, clip_norm: Any = 20.0) -> Tuple[List[Tuple[Any, Any]], Any]:
    """Returns pairs of clipped gradients and variables, and the norm of the gradients.

    Gradients of zeros do not count, whatever their shape is.

    Args:
      gradients_variables: Pairs of gradients and variables.
      clip_norm: The largest norm.

    Example:
      >>> x = tf.Variable([3.0, 4.0])
      >>> pairs, norm = tf.contrib.opt.clip_gradients_by_global_norm([(tf.constant([3.0, 4.0]), x)], 1.0)
      >>> print(tf.Session().run(pairs[0][0]).round(3), tf.Session().run(norm))
      [0.6 0.8] 5.0
    """
    gradients, variables = zip(*gradients_variables)

    def counted(grad: Any) -> Any:
        zero = convert_to_tensor(0, dtype=grad.dtype)
        return control_flow.cond(_all_zeros(grad), lambda: array_ops.identity(zero), lambda: grad)

    norm = clip_ops.global_norm([None if grad is None else counted(grad) for grad in gradients])
    clipped, _ = clip_ops.clip_by_global_norm(list(gradients), clip_norm, use_norm=norm)
    return list(zip(clipped, variables)), norm
