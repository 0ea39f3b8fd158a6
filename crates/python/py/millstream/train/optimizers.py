"""Optimizers: what turns gradients into updates of variables. `minimize` is all that most programs need.

Each class says which slots it keeps beside a variable and which op applies a gradient; the op's four forms (for variables by
reference and by resource, gradients dense and sparse) are found by name.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import millstream as tf
from millstream.graph_keys import GraphKeys

GradAndVar = Tuple[Any, Any]


def _is_reference(variable: Any) -> bool:
    return bool(variable.dtype._is_ref_dtype)


def _target(variable: Any) -> Any:
    """What an op that updates the variable is given: a reference, or the handle."""
    return variable._ref() if _is_reference(variable) else variable.handle


class Optimizer:
    """What all optimizers have in common.

    A class of one's own overrides `_apply_dense` and its like, `_create_slots`, `_prepare`.

    Args:
      use_locking: Whether others wait while it changes variables.
      name: The name of its operations.

    Raises:
      ValueError: There is no name.

    Example:
      >>> x, y = tf.Variable(1.0, name="x"), tf.Variable(2.0, name="y")
      >>> optimizer = tf.train.MomentumOptimizer(0.1, 0.5)
      >>> pairs = optimizer.compute_gradients(x * x + y, [x, y])
      >>> step = optimizer.apply_gradients([(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in pairs])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(*sess.run([x, y]))
      0.9 1.9
      >>> optimizer.get_name(), optimizer.get_slot_names(), optimizer.get_slot(x, "momentum").name, len(optimizer.variables())
      ('Momentum', ['momentum'], 'x/Momentum:0', 2)
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        # Slot's name to variable (by identity) to the slot's variable.
        self._slots: Dict[str, Dict[int, Any]] = {}
        # Variables of the optimizer's own, for each graph.
        self._non_slot: Dict[Tuple[str, int], Any] = {}
        self._kept: List[Any] = []

    def get_name(self) -> str:
        """Its name."""
        return self._name

    # The steps.

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Optional[Sequence[Any]] = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: Optional[str] = None,
        grad_loss: Any = None,
    ) -> Any:
        """An op that makes one step towards less `loss`, and adds 1 to `global_step`.

        Args:
          loss: A tensor; its sum is what becomes less.
          global_step: A variable that counts steps.
          var_list: A list of variables to change; all trainable ones by default.
          gate_gradients: `GATE_NONE`, `GATE_OP` or `GATE_GRAPH`: what has to be computed before anything is changed.
          aggregation_method: As for `tf.gradients`.
          colocate_gradients_with_ops: As for `tf.gradients`.
          name: A name for the operation.
          grad_loss: What flows into the loss.

        Returns:
          An `Operation`.

        Raises:
          ValueError: The loss depends on none of the variables.

        Example:
          >>> x, n = tf.Variable(1.0), tf.train.get_or_create_global_step()
          >>> step = tf.train.GradientDescentOptimizer(0.25).minimize(x * x, global_step=n)
          >>> with tf.Session() as sess:
          ...     sess.run(tf.global_variables_initializer())
          ...     _ = sess.run(step), sess.run(step)
          ...     print(*sess.run([x, n]))
          0.25 2
        """
        pairs = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if all(g is None for g, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {[str(v) for _, v in pairs]} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Optional[Sequence[Any]] = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> List[GradAndVar]:
        """Pairs of gradient (None if the loss does not depend on it) and variable. Arguments are those of `minimize`.

        Returns:
          A list of pairs, which `apply_gradients` takes.

        Raises:
          ValueError: There are no variables, or `gate_gradients` is none of the three.

        Example:
          >>> x = tf.Variable(3.0)
          >>> (gradient, variable), = tf.train.GradientDescentOptimizer(0.1).compute_gradients(x * x)
          >>> with tf.Session() as sess:
          ...     sess.run(x.initializer)
          ...     print(sess.run(gradient), variable is x)
          6.0 True
        """
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH.  "
                f"Not {gate_gradients}"
            )
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        if var_list is None:
            var_list = tf.trainable_variables() + tf.get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES)
        else:
            var_list = tf.nest.flatten(var_list)
        if not var_list:
            raise ValueError("No variables to optimize.")
        grads = tf.gradients(
            loss,
            list(var_list),
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == self.GATE_GRAPH:
            grads = tf.tuple(grads)
        self._assert_valid_dtypes([v for g, v in zip(grads, var_list) if g is not None and v.dtype != tf.resource])
        return list(zip(grads, var_list))

    def apply_gradients(
        self, grads_and_vars: Sequence[GradAndVar], global_step: Any = None, name: Optional[str] = None
    ) -> Any:
        """An op that applies gradients to their variables, and then adds 1 to `global_step`.

        Args:
          grads_and_vars: A list of pairs, as `compute_gradients` gives.
          global_step: A variable that counts steps.
          name: A name for the operation.

        Returns:
          An `Operation`.

        Raises:
          ValueError: There are no pairs, or all gradients are None.

        Example:
          >>> x = tf.Variable(3.0)
          >>> step = tf.train.GradientDescentOptimizer(0.5).apply_gradients([(tf.constant(2.0), x)])
          >>> with tf.Session() as sess:
          ...     sess.run(x.initializer)
          ...     sess.run(step)
          ...     print(sess.run(x))
          2.0
        """
        pairs = [(None if g is None else _converted(g), v) for g, v in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        used = [(g, v) for g, v in pairs if g is not None]
        if not used:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        with tf.name_scope(None), tf.control_dependencies(None):
            self._create_slots([v for _, v in used])
        with tf.name_scope(name, self._name) as scope:
            self._prepare()
            updates = []
            for grad, variable in used:
                with tf.name_scope("update_" + variable.op.name), tf.colocate_with(variable.op):
                    updates.append(self._update(grad, variable))
            if global_step is None:
                train = self._finish(updates, scope)
            else:
                with tf.control_dependencies([self._finish(updates, "update")]):
                    train = tf.assign_add(global_step, 1, name=scope)
            train = getattr(train, "op", train)
        collection = tf.get_default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
        if train not in collection:
            collection.append(train)
        return train

    def _update(self, grad: Any, variable: Any) -> Any:
        reference = _is_reference(variable)
        if isinstance(grad, tf.IndexedSlices):
            if reference:
                return self._apply_sparse_duplicate_indices(grad, variable)
            return self._resource_apply_sparse_duplicate_indices(grad.values, variable, grad.indices)
        return self._apply_dense(grad, variable) if reference else self._resource_apply_dense(grad, variable)

    @staticmethod
    def _assert_valid_dtypes(tensors: Sequence[Any]) -> None:
        for t in tensors:
            dtype = t.dtype.base_dtype
            if not (dtype.is_floating or dtype.is_complex):
                valid = ["float16", "bfloat16", "float32", "float64"]
                raise ValueError(f"Invalid type {dtype!r} for {t.name}, expected: {valid}.")

    # What a class of one's own overrides.

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Makes the slots."""

    def _prepare(self) -> None:
        """Makes the hyperparameters tensors."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        """An op that applies a gradient to a variable by reference."""
        raise NotImplementedError()

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        """The same for a variable by resource."""
        raise NotImplementedError()

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        """An op that applies an `IndexedSlices` without repeated indices."""
        raise NotImplementedError()

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        """The same for a variable by resource."""
        raise NotImplementedError()

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        values, indices = _summed(grad.values, grad.indices)
        return self._apply_sparse(tf.IndexedSlices(values, indices, grad.dense_shape), var)

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        values, indices = _summed(grad, indices)
        return self._resource_apply_sparse(values, handle, indices)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        """The op that has made all updates."""
        return tf.group(*update_ops, name=name_scope)

    # Slots.

    def get_slot(self, var: Any, name: str) -> Any:
        """A slot's variable; None if there is none."""
        return self._slots.get(name, {}).get(id(var))

    def get_slot_names(self) -> List[str]:
        """The names of all slots."""
        return sorted(self._slots)

    def variables(self) -> List[Any]:
        """The optimizer's own variables in the current graph."""
        graph = tf.get_default_graph()
        own = [v for v in self._non_slot.values() if v.op.graph is graph]
        own += [v for slots in self._slots.values() for v in slots.values() if v.op.graph is graph]
        return sorted(own, key=lambda v: v.name)

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        """A slot that begins as `val`: a tensor, or a function that makes one."""
        slots = self._slots.setdefault(slot_name, {})
        if id(var) not in slots:
            # The variable must live as long as the table that knows it by its identity.
            self._kept.append(var)
            slots[id(var)] = tf.Variable(
                val,
                name=f"{var.op.name}/{op_name}",
                trainable=False,
                dtype=None,
                use_resource=not _is_reference(var),
                validate_shape=var.get_shape().is_fully_defined(),
            )
        return slots[id(var)]

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        return self._filled_slot(var, slot_name, op_name, 0.0)

    def _filled_slot(self, var: Any, slot_name: str, op_name: str, value: float) -> Any:
        dtype, shape = var.dtype.base_dtype, var.get_shape()

        def initial() -> Any:
            if not shape.is_fully_defined():
                return tf.fill(tf.shape(var.initialized_value()), tf.cast(value, dtype))
            if value == 0.0:
                return tf.zeros(shape.as_list(), dtype)
            return tf.constant(value, dtype, shape.as_list())

        return self._get_or_make_slot(var, initial, slot_name, op_name)

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """A variable of the optimizer's own, one for each graph."""
        key = (name, id(colocate_with.op.graph))
        if key not in self._non_slot:
            self._kept.append(colocate_with.op.graph)
            self._non_slot[key] = tf.Variable(
                initial_value, name=name, trainable=False, use_resource=not _is_reference(colocate_with)
            )
        return self._non_slot[key]

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        return self._non_slot.get((name, id(graph)))


def _converted(grad: Any) -> Any:
    if isinstance(grad, tf.IndexedSlices):
        return grad
    try:
        return tf.convert_to_tensor(grad)
    except TypeError:
        raise TypeError(f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {grad}") from None


def _summed(values: Any, indices: Any) -> Tuple[Any, Any]:
    """Slices without repeated indices: those of one index added up."""
    unique, position = tf.unique(indices)
    return tf.unsorted_segment_sum(values, position, tf.shape(unique)[0]), unique


class _ByOp(Optimizer):
    """An optimizer whose update is one op: `Apply<WORD>` in one of its forms."""

    WORD = ""
    # Slot's name, the op's argument for it, and what it is called.
    SLOTS: Tuple[Tuple[str, str, str], ...] = ()

    def _arguments(self, var: Any) -> Dict[str, Any]:
        """The op's arguments besides variable, slots and gradient."""
        raise NotImplementedError()

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            for slot, _, called in self.SLOTS:
                self._zeros_slot(var, slot, called)

    def _hyper(self, **values: Any) -> None:
        """Makes numbers tensors; a function is called for one."""
        self._tensors = {
            name: tf.convert_to_tensor(value() if callable(value) else value, name=name) for name, value in values.items()
        }

    def _as(self, name: str, var: Any) -> Any:
        return tf.cast(self._tensors[name], var.dtype.base_dtype)

    def _apply(self, var: Any, grad: Any, indices: Any = None) -> Any:
        kind = "" if _is_reference(var) else "Resource"
        name = f"{kind}{'' if indices is None else 'Sparse'}Apply{self._word()}"
        op = getattr(tf.raw_ops, name, None)
        if op is None:
            raise NotImplementedError(f"{type(self).__name__} needs the op {name}, which the engine lacks")
        arguments = {argument: _target(self.get_slot(var, slot)) for slot, argument, _ in self.SLOTS}
        arguments.update(self._arguments(var), var=_target(var), use_locking=self._use_locking)
        arguments[self.GRADIENT] = grad
        if indices is not None:
            arguments["indices"] = indices
        out = op(**arguments)
        return getattr(out, "op", out)

    GRADIENT = "grad"

    def _word(self) -> str:
        return self.WORD

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._apply(var, grad)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._apply(handle, grad)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._apply(var, grad.values, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._apply(handle, grad, indices)


class GradientDescentOptimizer(_ByOp):
    """`var -= learning_rate * gradient`.

    Args:
      learning_rate: How far a step goes: a float, or a scalar tensor.
      use_locking: Whether others wait while it changes variables.
      name: The name of its operations.

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

    # Repeated indices add up by themselves.

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        step = grad.values * self._as("learning_rate", var)
        return tf.raw_ops.ScatterSub(
            ref=_target(var), indices=grad.indices, updates=step, use_locking=self._use_locking
        ).op

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        step = -grad * self._as("learning_rate", handle)
        return tf.raw_ops.ResourceScatterAdd(resource=handle.handle, indices=indices, updates=step)


class MomentumOptimizer(_ByOp):
    """`accumulation = momentum * accumulation + gradient; var -= learning_rate * accumulation`.

    Args:
      learning_rate: How far a step goes: a float, or a scalar tensor.
      momentum: How much of the last step goes on: a float, or a scalar tensor.
      use_nesterov: Whether the gradient is taken as if that step had been made already.
      use_locking: Whether others wait while it changes variables.
      name: The name of its operations.

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


class AdamOptimizer(_ByOp):
    """Adam: steps scaled by running averages of the gradient and of its square.

    Args:
      learning_rate: How far a step goes: a float, or a scalar tensor.
      beta1: How slowly the first average changes.
      beta2: How slowly the second does.
      epsilon: What is added to the root of the second.
      use_locking: Whether others wait while it changes variables.
      name: The name of its operations.

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

    def _powers(self) -> Tuple[Any, Any]:
        graph = tf.get_default_graph()
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
            "beta1_power": tf.cast(power1, var.dtype.base_dtype),
            "beta2_power": tf.cast(power2, var.dtype.base_dtype),
            "lr": self._as("learning_rate", var),
            "beta1": self._as("beta1", var),
            "beta2": self._as("beta2", var),
            "epsilon": self._as("epsilon", var),
            "use_nesterov": False,
        }

    # There is no op for slices: the averages of all rows shrink, those of the slices' rows also grow, and every row moves.

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._slices(var, grad.values, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._slices(handle, grad, indices)

    def _slices(self, var: Any, values: Any, indices: Any) -> Any:
        given = self._arguments(var)
        lr = given["lr"] * tf.sqrt(1 - given["beta2_power"]) / (1 - given["beta1_power"])
        averages = []
        for slot, beta, square in (("m", given["beta1"], False), ("v", given["beta2"], True)):
            average = self.get_slot(var, slot)
            shrunk = tf.assign(average, average * beta, use_locking=self._use_locking)
            with tf.control_dependencies([shrunk]):
                added = (values * values if square else values) * (1 - beta)
                averages.append(_scatter_add(average, indices, added, self._use_locking))
        m, v = averages
        step = tf.assign_sub(var, lr * m / (tf.sqrt(v) + given["epsilon"]), use_locking=self._use_locking)
        return tf.group(step, m, v)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        with tf.control_dependencies(update_ops):
            updates = [
                tf.assign(power, power * self._tensors[beta], use_locking=self._use_locking)
                for power, beta in zip(self._powers(), ("beta1", "beta2"))
            ]
        return tf.group(*update_ops, *updates, name=name_scope)


def _scatter_add(var: Any, indices: Any, updates: Any, use_locking: bool) -> Any:
    """The variable's value after slices were added to it."""
    if _is_reference(var):
        return tf.scatter_add(var, indices, updates, use_locking=use_locking)
    with tf.control_dependencies([tf.raw_ops.ResourceScatterAdd(resource=var.handle, indices=indices, updates=updates)]):
        return var.read_value()


class AdagradOptimizer(_ByOp):
    """`accumulator += gradient**2; var -= learning_rate * gradient / sqrt(accumulator)`.

    Args:
      learning_rate: How far a step goes: a float, or a scalar tensor.
      initial_accumulator_value: What the accumulator begins with.
      use_locking: Whether others wait while it changes variables.
      name: The name of its operations.

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
        self._learning_rate, self._initial = learning_rate, initial_accumulator_value

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._filled_slot(var, "accumulator", self._name, self._initial)

    def _prepare(self) -> None:
        self._hyper(learning_rate=self._learning_rate)

    def _arguments(self, var: Any) -> Dict[str, Any]:
        return {"lr": self._as("learning_rate", var)}


class AdadeltaOptimizer(_ByOp):
    """Adadelta: steps in the units of the variable, from running averages of squared gradients and squared steps.

    Args:
      learning_rate: How far a step goes: a float, or a scalar tensor.
      rho: How slowly the averages change.
      epsilon: What is added to them.
      use_locking: Whether others wait while it changes variables.
      name: The name of its operations.

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


class RMSPropOptimizer(_ByOp):
    """RMSProp: the gradient over the root of a running average of its square.

    Args:
      learning_rate: How far a step goes: a float, or a scalar tensor.
      decay: How slowly the average changes.
      momentum: How much of the last step goes on.
      epsilon: What is added to the average.
      centered: Whether the average of the gradient is taken off first.
      use_locking: Whether others wait while it changes variables.
      name: The name of its operations.

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


class FtrlOptimizer(_ByOp):
    """Follow the regularized leader: sparse models by l1 and l2 regularization.

    Args:
      learning_rate: How far a step goes: a float, or a scalar tensor.
      learning_rate_power: 0, or negative: how fast steps become smaller.
      initial_accumulator_value: What the sum of squares begins with.
      l1_regularization_strength: How strongly variables are drawn to zero.
      l2_regularization_strength: How strongly they are kept small.
      accum_name: The name of the slot of squares.
      linear_name: The name of the other slot.
      l2_shrinkage_regularization_strength: How strongly they are kept small by the gradient.
      use_locking: Whether others wait while it changes variables.
      name: The name of its operations.

    Raises:
      ValueError: `learning_rate_power` is positive, or another number negative.

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
        self._learning_rate, self._power, self._initial = learning_rate, learning_rate_power, initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._shrinkage = l2_shrinkage_regularization_strength
        self._accum_name, self._linear_name = accum_name, linear_name

    def _word(self) -> str:
        return "FtrlV2" if 0.0 < self._shrinkage else "Ftrl"

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._filled_slot(var, "accum", self._accum_name or self._name, self._initial)
            self._zeros_slot(var, "linear", self._linear_name or self._name)

    def _prepare(self) -> None:
        self._hyper(
            learning_rate=self._learning_rate,
            l1_regularization_strength=self._l1,
            l2_regularization_strength=self._l2,
            learning_rate_power=self._power,
            l2_shrinkage_regularization_strength=self._shrinkage,
        )

    def _arguments(self, var: Any) -> Dict[str, Any]:
        out = {
            "lr": self._as("learning_rate", var),
            "l1": self._as("l1_regularization_strength", var),
            "l2": self._as("l2_regularization_strength", var),
            "lr_power": self._as("learning_rate_power", var),
        }
        if 0.0 < self._shrinkage:
            out["l2_shrinkage"] = self._as("l2_shrinkage_regularization_strength", var)
        return out


class ProximalGradientDescentOptimizer(_ByOp):
    """Gradient descent with l1 and l2 regularization.

    Args:
      learning_rate: How far a step goes: a float, or a scalar tensor.
      l1_regularization_strength: How strongly variables are drawn to zero.
      l2_regularization_strength: How strongly they are kept small.
      use_locking: Whether others wait while it changes variables.
      name: The name of its operations.

    Example:
      >>> x = tf.Variable(1.0)
      >>> step = tf.train.ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=0.5).minimize(x * x)
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
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _prepare(self) -> None:
        self._hyper(
            learning_rate=self._learning_rate,
            l1_regularization_strength=self._l1,
            l2_regularization_strength=self._l2,
        )

    def _arguments(self, var: Any) -> Dict[str, Any]:
        return {
            "alpha": self._as("learning_rate", var),
            "l1": self._as("l1_regularization_strength", var),
            "l2": self._as("l2_regularization_strength", var),
        }

    def _apply(self, var: Any, grad: Any, indices: Any = None) -> Any:
        # The op for slices calls the gradient `grad`.
        self.GRADIENT = "delta" if indices is None else "grad"
        return super()._apply(var, grad, indices)


class ProximalAdagradOptimizer(AdagradOptimizer):
    """Adagrad with l1 and l2 regularization.

    Args:
      learning_rate: How far a step goes: a float, or a scalar tensor.
      initial_accumulator_value: What the accumulator begins with.
      l1_regularization_strength: How strongly variables are drawn to zero.
      l2_regularization_strength: How strongly they are kept small.
      use_locking: Whether others wait while it changes variables.
      name: The name of its operations.

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
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _prepare(self) -> None:
        self._hyper(
            learning_rate=self._learning_rate,
            l1_regularization_strength=self._l1,
            l2_regularization_strength=self._l2,
        )

    def _arguments(self, var: Any) -> Dict[str, Any]:
        return {
            "lr": self._as("learning_rate", var),
            "l1": self._as("l1_regularization_strength", var),
            "l2": self._as("l2_regularization_strength", var),
        }


class AdagradDAOptimizer(_ByOp):
    """Adagrad by dual averaging: variables follow from the sums of their gradients and of those squared, so that `l1`
    keeps them at zero.

    Args:
      learning_rate: How far a step goes: a float, or a scalar tensor.
      global_step: The variable that counts steps.
      initial_gradient_squared_accumulator_value: What the sum of squares begins with.
      l1_regularization_strength: How strongly variables are drawn to zero.
      l2_regularization_strength: How strongly they are kept small.
      use_locking: Whether others wait while it changes variables.
      name: The name of its operations.

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
        self._initial = initial_gradient_squared_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "gradient_accumulator", self._name)
            self._filled_slot(var, "gradient_squared_accumulator", self._name, self._initial)

    def _prepare(self) -> None:
        self._hyper(
            learning_rate=self._learning_rate,
            l1_regularization_strength=self._l1,
            l2_regularization_strength=self._l2,
        )

    def _arguments(self, var: Any) -> Dict[str, Any]:
        # Steps count from 1.
        return {
            "lr": self._as("learning_rate", var),
            "l1": self._as("l1_regularization_strength", var),
            "l2": self._as("l2_regularization_strength", var),
            "global_step": tf.cast(self._global_step, tf.int64) + 1,
        }


class ExponentialMovingAverage:
    """Keeps averages of variables, in which older values count less and less: `average -= (1 - decay) * (average -
    value)`.

    Args:
      decay: How slowly the average changes: a float, or a scalar tensor.
      num_updates: A count, such as the global step: at first averages change faster, by `min(decay, (1 + n) / (10 +
        n))`.
      zero_debias: Whether averages of tensors begin at zero, which is made up for.
      name: The name of what is made.

    Example:
      >>> x = tf.Variable(1.0, name="x")
      >>> ema = tf.train.ExponentialMovingAverage(decay=0.9)
      >>> update = ema.apply([x])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     x.load(2.0)
      ...     sess.run(update)
      ...     print(round(float(sess.run(ema.average(x))), 3))
      1.1
      >>> ema.name, ema.average_name(x), sorted(ema.variables_to_restore())
      ('ExponentialMovingAverage', 'x/ExponentialMovingAverage', ['x/ExponentialMovingAverage'])
    """

    def __init__(
        self, decay: Any, num_updates: Any = None, zero_debias: bool = False, name: str = "ExponentialMovingAverage"
    ) -> None:
        self._decay, self._num_updates, self._zero_debias, self._name = decay, num_updates, zero_debias, name
        self._averages: Dict[int, Tuple[Any, Any]] = {}
        # For tensors' averages that are made up for beginning at zero: what that needs, by the tensor.
        self._biased: Dict[int, Tuple[Any, Any]] = {}

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def apply(self, var_list: Optional[Sequence[Any]] = None) -> Any:
        """An op that takes the variables' values into their averages, which this makes."""
        var_list = tf.trainable_variables() if var_list is None else var_list
        for var in var_list:
            if id(var) in self._averages:
                continue
            with tf.name_scope(None), tf.control_dependencies(None):
                is_variable = hasattr(var, "initialized_value")
                average = tf.Variable(
                    var.initialized_value() if is_variable else tf.zeros(var.get_shape().as_list(), var.dtype),
                    name=self.average_name(var),
                    trainable=False,
                    use_resource=is_variable and not _is_reference(var),
                )
                if is_variable:
                    tf.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, var)
                elif self._zero_debias:
                    self._biased[id(var)] = tuple(
                        tf.Variable(
                            tf.zeros(shape, average.dtype.base_dtype),
                            name=f"{average.op.name}/{what}",
                            trainable=False,
                        )
                        for what, shape in (("biased", average.get_shape()), ("local_step", []))
                    )  # type: ignore[assignment]
            self._averages[id(var)] = var, average
        with tf.name_scope(self._name) as scope:
            decay = tf.convert_to_tensor(self._decay, name="decay")
            if self._num_updates is not None:
                n = tf.cast(self._num_updates, tf.float32, name="num_updates")
                decay = tf.minimum(decay, (1.0 + n) / (10.0 + n))
            updates = []
            for var in var_list:
                average = self._averages[id(var)][1]
                with tf.name_scope("AssignMovingAvg"):
                    rest = tf.cast(1.0 - decay, average.dtype.base_dtype)
                    if id(var) in self._biased:
                        updates.append(tf.assign(average, self._unbiased(var, rest)))
                    else:
                        updates.append(tf.assign_sub(average, (average - var) * rest))
            return tf.group(*updates, name=scope)

    def _unbiased(self, var: Any, rest: Any) -> Any:
        """The average that began at zero, over the share of it that is not that zero."""
        biased, steps = self._biased[id(var)]
        new = tf.assign_sub(biased, (biased - var) * rest)
        count = tf.assign_add(steps, 1.0)
        return new / (1.0 - tf.pow(1.0 - rest, count))

    def average(self, var: Any) -> Any:
        """The variable that holds the average; None if it has none."""
        entry = self._averages.get(id(var))
        return None if entry is None else entry[1]

    def average_name(self, var: Any) -> str:
        """The average's name."""
        entry = self._averages.get(id(var))
        return entry[1].op.name if entry is not None else f"{var.op.name}/{self._name}"

    def variables_to_restore(self, moving_avg_variables: Optional[Sequence[Any]] = None) -> Dict[str, Any]:
        """Names in a checkpoint to variables: those with averages under their averages' names."""
        if moving_avg_variables is None:
            moving_avg_variables = tf.trainable_variables() + tf.get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES)
        out = {self.average_name(v): v for v in moving_avg_variables}
        averaged = {v.name for v in moving_avg_variables}
        out.update((v.op.name, v) for v in tf.global_variables() if v.name not in averaged and v.op.name not in out)
        return out
