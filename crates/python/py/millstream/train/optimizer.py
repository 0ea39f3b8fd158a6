"""`Optimizer`: what all optimizers have in common, and `ByOp`, one whose update is one op.

A class says which slots it keeps beside a variable and which op applies a gradient; the op's four forms (for variables by
reference and by resource, gradients dense and sparse) are found by name.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import millstream as tf
from millstream.graph_keys import GraphKeys

GradAndVar = Tuple[Any, Any]


def is_reference(variable: Any) -> bool:
    return bool(variable.dtype._is_ref_dtype)


def target(variable: Any) -> Any:
    """What an op that updates the variable is given: a reference, or the handle."""
    return variable._ref() if is_reference(variable) else variable.handle


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
        reference = is_reference(variable)
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
                use_resource=not is_reference(var),
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
                initial_value, name=name, trainable=False, use_resource=not is_reference(colocate_with)
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


class ByOp(Optimizer):
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
        kind = "" if is_reference(var) else "Resource"
        name = f"{kind}{'' if indices is None else 'Sparse'}Apply{self._word()}"
        op = getattr(tf.raw_ops, name, None)
        if op is None:
            raise NotImplementedError(f"{type(self).__name__} needs the op {name}, which the engine lacks")
        arguments = {argument: target(self.get_slot(var, slot)) for slot, argument, _ in self.SLOTS}
        arguments.update(self._arguments(var), var=target(var), use_locking=self._use_locking)
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
