"""Optimizers whose steps are products with roots of matrices of gradients: `GGT` and `Shampoo`."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence

from millstream.framework import IndexedSlices, constant, control_dependencies, convert_to_tensor, dtypes, get_default_graph
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, linalg_ops, math_ops, reduction_ops
from millstream.train.optimizer import Optimizer
from millstream.variables import state_ops

__all__ = ["GGTOptimizer", "ShampooOptimizer"]


class GGTOptimizer(Optimizer):
    """AdaGrad with the whole matrix of the last averages of gradients (Agarwal and others, 2018).

    Args:
      learning_rate: The learning rate.
      beta1: The decay rate of the average of gradients.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations.
      window: The number of averages that are kept.
      eps: The root of an eigenvalue below which the part outside of the averages is dropped.
      svd_eps: What is added to the diagonal before it is decomposed.
      sigma_eps: What is added to roots of eigenvalues.

    Example:
      >>> x = tf.Variable([1.0, 2.0])
      >>> step = tf.contrib.opt.GGTOptimizer(0.1, window=2).minimize(tf.reduce_sum(x * x))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x).round(2))
      [0.96 1.92]
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        use_locking: bool = False,
        name: str = "GGT",
        window: int = 10,
        eps: float = 1e-4,
        svd_eps: float = 1e-6,
        sigma_eps: float = 1e-2,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._beta1, self._window = learning_rate, beta1, window
        self._eps, self._svd_eps, self._sigma_eps = eps, svd_eps, sigma_eps
        # The variables of a step, with their gradients.
        self._pairs: List[Any] = []

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        first = min(var_list, key=lambda x: x.name)
        dtype = first.dtype.base_dtype
        total = sum(v.get_shape().num_elements() for v in var_list)
        for name, shape in (("global_step", []), ("grad_buffer", [self._window, total]), ("moment1", [total]), ("flat_grad", [total])):
            self._create_non_slot_variable(array_ops.zeros(shape, dtype), name, first)

    def _prepare(self) -> None:
        self._pairs = []

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        self._pairs.append((grad, var))
        return grad.op

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._apply_dense(grad, handle)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        raise NotImplementedError("GGTOptimizer: gradients that are IndexedSlices are not supported; see `tf.convert_to_tensor`")

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._apply_sparse(grad, handle)

    def _finish(self, update_ops: Any, name_scope: Any) -> Any:
        graph = get_default_graph()
        made = {name: self._get_non_slot_variable(name, graph) for name in ("global_step", "grad_buffer", "moment1", "flat_grad")}
        dtype = made["moment1"].dtype.base_dtype

        def number(value: Any) -> Any:
            return math_ops.cast(convert_to_tensor(value() if callable(value) else value), dtype)

        with control_dependencies(update_ops):
            flat = array_ops.concat([array_ops.reshape(grad, [-1]) for grad, _ in self._pairs], 0)
            flat = state_ops.assign(made["flat_grad"], flat)
            beta1 = number(self._beta1)
            moment = state_ops.assign(made["moment1"], beta1 * made["moment1"] + (1.0 - beta1) * flat)
            step = state_ops.assign_add(made["global_step"], constant(1.0, dtype))
            row = math_ops.cast(op("FloorMod")(step - 1.0, number(self._window)), dtypes.int32)
            buffer = state_ops.scatter_update(made["grad_buffer"], [row], array_ops.expand_dims(moment, 0))
        filled = op("Minimum")(step, number(self._window))
        m = array_ops.transpose(buffer) / op("Sqrt")(filled)
        products = math_ops.matmul(m, m, transpose_a=True)
        sigma, u, _ = linalg_ops.svd(products + self._svd_eps * array_ops.eye(self._window, dtype=dtype))
        roots = op("Sqrt")(sigma)
        least = reduction_ops.reduce_min(roots)
        column = array_ops.expand_dims(moment, -1)
        inner = math_ops.matmul(u, math_ops.matmul(m, column, transpose_a=True), transpose_a=True)

        def along(weights: Any) -> Any:
            return math_ops.matmul(m, math_ops.matmul(u, array_ops.expand_dims(weights, -1) * inner))

        head = along((roots + self._sigma_eps) ** -3.0)
        new = control_flow.cond(least > self._eps, lambda: head + (column - along(1.0 / sigma)) / least, lambda: array_ops.identity(head))
        change, at, done = array_ops.reshape(number(self._learning_rate) * new, [-1]), 0, []
        for _, var in self._pairs:
            size = var.get_shape().num_elements()
            part = array_ops.reshape(change[at : at + size], var.get_shape())
            done.append(state_ops.assign_sub(var, math_ops.cast(part, var.dtype.base_dtype), self._use_locking))
            at += size
        return control_flow.group(*update_ops, *done, name=name_scope)


class ShampooOptimizer(Optimizer):
    """AdaGrad with a matrix for each axis of a variable (Gupta and others, 2018).

    A step is `gbar` times a root of a matrix along each axis. `gbar` and the matrices are weighted sums of
    gradients, and of their products with themselves.

    Args:
      global_step: The step: a variable, a tensor or an int.
      max_matrix_size: The largest size of an axis that has a matrix; others have a diagonal.
      gbar_decay: The factor of the former `gbar`.
      gbar_weight: The factor of the gradient in `gbar`.
      mat_gbar_decay: The factor of the former matrices.
      mat_gbar_weight: The factor of the products in the matrices.
      learning_rate: The learning rate. It and the four above may be functions of the step.
      svd_interval: The number of steps after which roots are computed again.
      precond_update_interval: The number of steps after which matrices are updated.
      epsilon: What is added to the diagonals of matrices before their roots are taken.
      alpha: The power of all roots together.
      use_iterative_root: Ignored: roots are made of eigenvalues.
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations, also used for its slots.

    Example:
      >>> x = tf.Variable([[1.0, 2.0]])
      >>> step = tf.contrib.opt.ShampooOptimizer(learning_rate=0.1).minimize(tf.reduce_sum(x * x))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(sess.run(x).round(2))
      [[0.95 1.89]]
    """

    def __init__(
        self,
        global_step: Any = 0,
        max_matrix_size: int = 768,
        gbar_decay: Any = 0.0,
        gbar_weight: Any = 1.0,
        mat_gbar_decay: Any = 1.0,
        mat_gbar_weight: Any = 1.0,
        learning_rate: Any = 1.0,
        svd_interval: Any = 1,
        precond_update_interval: Any = 1,
        epsilon: float = 1e-4,
        alpha: float = 0.5,
        use_iterative_root: bool = False,
        use_locking: bool = False,
        name: str = "Shampoo",
    ) -> None:
        super().__init__(use_locking, name)
        self._global_step, self._max_matrix_size = global_step, max_matrix_size
        self._options: Dict[str, Any] = dict(
            gbar_decay=gbar_decay,
            gbar_weight=gbar_weight,
            mat_gbar_decay=mat_gbar_decay,
            mat_gbar_weight=mat_gbar_weight,
            learning_rate=learning_rate,
        )
        self._svd_interval, self._update_interval = svd_interval, precond_update_interval
        self._epsilon, self._alpha = epsilon, alpha

    def _keeps_roots(self) -> bool:
        return callable(self._svd_interval) or self._svd_interval > 1

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "gbar", self._name)
            dtype = var.dtype.base_dtype
            for i, n in enumerate(var.get_shape().as_list()):
                whole = n <= self._max_matrix_size
                one = array_ops.eye(n, dtype=dtype) if whole else array_ops.ones([n], dtype)
                if self._keeps_roots():
                    self._get_or_make_slot(var, one, "H_%d" % i, self._name)
                self._get_or_make_slot(var, array_ops.zeros_like(one), "Gbar_%d" % i, self._name)

    def _now(self, name: str, dtype: Any) -> Any:
        value = self._options[name]
        if callable(value):
            value = value(math_ops.cast(convert_to_tensor(self._global_step), dtypes.float32) + 1.0)
        return math_ops.cast(convert_to_tensor(value), dtype)

    def _interval(self, interval: Any, dtype: Any) -> Any:
        if callable(interval):
            interval = interval(math_ops.cast(convert_to_tensor(self._global_step), dtypes.float32) + 1.0)
        return math_ops.cast(convert_to_tensor(interval), dtype)

    def _due(self, interval: Any) -> Any:
        """Returns whether a thing that is done each `interval` steps is done now."""
        step = math_ops.cast(convert_to_tensor(self._global_step), dtypes.int32)
        return math_ops.equal(op("FloorMod")(step + 1, self._interval(interval, dtypes.int32)), 0)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._stepped(grad, var, False)

    def _stepped(self, grad: Any, var: Any, is_sparse: bool) -> Any:
        dtype, rank = var.dtype.base_dtype, var.get_shape().ndims
        old = self.get_slot(var, "gbar")
        gbar = state_ops.assign(old, self._now("gbar_decay", dtype) * old + self._now("gbar_weight", dtype) * grad, use_locking=self._use_locking)
        step = array_ops.identity(gbar)
        for i in range(rank):
            root = self._root(grad, var, i, rank, dtype, is_sparse and i == 0)
            if root.get_shape().ndims == 1:
                step = step * array_ops.reshape(root, [-1 if j == i else 1 for j in range(rank)])
            else:
                order = [i] + [j for j in range(rank) if j != i]
                moved = linalg_ops.tensordot(root, step, [[1], [i]])
                step = array_ops.transpose(moved, [order.index(j) for j in range(rank)])
        return state_ops.assign_sub(var, self._now("learning_rate", dtype) * step, self._use_locking)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._apply_dense(grad, handle)

    def _root(self, grad: Any, var: Any, i: int, rank: int, dtype: Any, is_sparse: bool) -> Any:
        """Returns the root of the updated matrix of an axis."""
        kept = self.get_slot(var, "Gbar_%d" % i)
        others = [j for j in range(rank) if j != i]
        whole = kept.get_shape().ndims == 2

        def grown() -> Any:
            product = linalg_ops.tensordot(grad, grad, [others, others]) if whole else reduction_ops.reduce_sum(op("Square")(grad), axis=others)
            # TensorFlow does not divide the sums of squares of sparse gradients.
            size = 1.0 if is_sparse and not whole else float(kept.get_shape().as_list()[0])
            return self._now("mat_gbar_decay", dtype) * kept + self._now("mat_gbar_weight", dtype) * product * (often / size)

        # A product counts for the steps without one.
        often: Any = 1.0
        if callable(self._update_interval) or self._update_interval != 1:
            often = self._interval(self._update_interval, dtype)
        if isinstance(often, float):
            matrix = grown()
        else:
            matrix = control_flow.cond(self._due(self._update_interval), grown, lambda: kept + array_ops.zeros([], dtype))
        matrix = array_ops.identity(state_ops.assign(kept, matrix, use_locking=self._use_locking))
        power = -self._alpha / rank

        def root() -> Any:
            if not whole:
                return array_ops.where(matrix > 0.0, matrix**power, array_ops.zeros_like(matrix))
            size = matrix.get_shape().as_list()[0]
            values, vectors = linalg_ops.self_adjoint_eig(matrix + self._epsilon * array_ops.eye(size, dtype=dtype))
            return math_ops.matmul(vectors * op("Maximum")(values, self._epsilon) ** power, vectors, transpose_b=True)

        if not self._keeps_roots():
            return root()
        former = self.get_slot(var, "H_%d" % i)
        now = control_flow.cond(self._due(self._svd_interval), root, lambda: former + array_ops.zeros([], dtype))
        return array_ops.identity(state_ops.assign(former, now, use_locking=self._use_locking))

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._stepped(convert_to_tensor(grad), var, True)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._stepped(convert_to_tensor(IndexedSlices(grad, indices, array_ops.shape(handle))), handle, True)
