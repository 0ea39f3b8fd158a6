"""`Optimizer`, the base class of optimizers, and `ByOp`, the base class of those whose update is one op.

A class declares the slots that it keeps for each variable and the op that applies a gradient. The op's four
forms (for reference and resource variables, dense and sparse gradients) are found by name.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

from millstream import framework
from millstream._engine import Tensor
from millstream.framework import (
    IndexedSlices,
    constant,
    control_dependencies,
    convert_to_tensor,
    dtypes,
    get_collection,
    get_default_graph,
    nest,
    op_functions,
)
from millstream.framework.described import described
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import raw
from millstream.ops import array_ops, control_flow, gradients, math_ops
from millstream.variables import state_ops
from millstream.variables.collections import trainable_variables
from millstream.variables.slots import create_slot
from millstream.variables.variable import Variable

GradAndVar = Tuple[Any, Any]


def is_reference(variable: Any) -> bool:
    return bool(variable.dtype._is_ref_dtype)


def target(variable: Any) -> Any:
    """Returns the argument by which an op updates the variable: its reference or its handle."""
    return variable._ref() if is_reference(variable) else variable.handle


class Optimizer:
    """The base class of optimizers.

    Subclasses override `_apply_dense` and its relatives, `_create_slots` and `_prepare`.

    Args:
      use_locking: If true, updates hold a lock on the variable.
      name: The name scope of its operations, also used for its slots.

    Raises:
      ValueError: `name` is empty.

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
      >>> (optimizer.get_name(), optimizer.get_slot_names(), optimizer.get_slot(x, "momentum").name,
      ...  len(optimizer.variables()))
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
        # From the slot's name and the identity of a variable to the slot's variable.
        self._slots: Dict[str, Dict[int, Any]] = {}
        # Variables that belong to the optimizer rather than to a variable, for each graph.
        self._non_slot_dict: Dict[Tuple[str, int], Any] = {}
        self._kept: List[Any] = []

    def __repr__(self) -> str:
        return described(self, getattr(self, "_name", None))

    def get_name(self) -> str:
        """Returns the optimizer's name."""
        return self._name

    # Training steps.

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
        """Returns an operation that makes one step to decrease `loss`, and increments `global_step`.

        Args:
          loss: A tensor, or a function without arguments that returns one; its sum is minimized.
          global_step: A variable that counts steps.
          var_list: A list of variables to update; by default all trainable ones.
          gate_gradients: `GATE_NONE`, `GATE_OP` or `GATE_GRAPH`: the gradients that must be computed before
            updates start.
          aggregation_method: As in `tf.gradients`.
          colocate_gradients_with_ops: As in `tf.gradients`.
          name: A name for the operation.
          grad_loss: The gradient of the loss; by default ones.

        Returns:
          An `Operation`.

        Raises:
          ValueError: The loss does not depend on any of the variables.

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
        """Computes the gradients of `loss`; None for variables it does not depend on.

        Arguments are those of `minimize`.

        Returns:
          A list of pairs of a gradient and a variable, for `apply_gradients`.

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
        if callable(loss):
            return self._gradients_of_call(loss, var_list, grad_loss)
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH.  "
                f"Not {gate_gradients}"
            )
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        if var_list is None:
            var_list = trainable_variables() + get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES)
        else:
            var_list = nest.flatten(var_list)
        for var in var_list:
            if not hasattr(var, "op"):
                raise AttributeError(f"'{type(var).__name__}' object has no attribute 'op': `var_list` has to hold variables, and {var!r} is none")
        if not var_list:
            raise ValueError("No variables to optimize.\n  help: `tf.get_variable` makes one; `var_list` names those to train")
        grads = gradients.gradients(
            loss,
            list(var_list),
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == self.GATE_GRAPH:
            grads = control_flow.tuple(grads)
        self._assert_valid_dtypes([v for g, v in zip(grads, var_list) if g is not None and v.dtype != dtypes.resource])
        return list(zip(grads, var_list))

    @staticmethod
    def _gradients_of_call(loss: Any, var_list: Any, grad_loss: Any) -> List[GradAndVar]:
        """Returns the pairs of a loss that is a function, by default for the variables that it depends on."""
        value = convert_to_tensor(loss())
        variables = trainable_variables() if var_list is None else nest.flatten(var_list)
        with control_dependencies([value]):
            found = gradients.gradients(value, variables, grad_ys=grad_loss)
        return [(g, v) for g, v in zip(found, variables) if g is not None or var_list is not None]

    def apply_gradients(
        self, grads_and_vars: Sequence[GradAndVar], global_step: Any = None, name: Optional[str] = None
    ) -> Any:
        """Returns an operation that applies gradients to their variables, then increments `global_step`.

        Args:
          grads_and_vars: A list of pairs, as returned by `compute_gradients`.
          global_step: A variable that counts steps.
          name: A name for the operation.

        Returns:
          An `Operation`.

        Raises:
          ValueError: `grads_and_vars` is empty, or all gradients are None.

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
        with control_dependencies(None):
            self._create_slots([v for _, v in used])
        with framework.name_scope(name, self._name) as scope:
            self._prepare()
            updates = []
            for grad, variable in used:
                with framework.name_scope("update_" + variable.op.name), framework.colocate_with(variable.op):
                    updates.append(self._update(grad, variable))
            if global_step is None:
                train = self._finish(updates, scope)
            else:
                with control_dependencies([self._finish(updates, "update")]):
                    train = state_ops.assign_add(global_step, 1, name=scope)
            train = getattr(train, "op", train)
        collection = get_default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
        if train not in collection:
            collection.append(train)
        return train

    def _update(self, grad: Any, variable: Any) -> Any:
        """Returns an operation that applies a gradient, and then the variable's constraint."""
        if isinstance(variable, Tensor):
            raise NotImplementedError("Trying to update a Tensor ", variable)
        # Not every object with a gradient is a `Variable`.
        constraint = getattr(variable, "constraint", None)
        if constraint is None:
            return self._update_only(grad, variable)
        if isinstance(grad, IndexedSlices):
            raise RuntimeError(
                f"Cannot use a constraint function on a sparse variable. The gradient of `{variable.op.name}` is "
                "IndexedSlices: `tf.convert_to_tensor(gradient)` makes it dense."
            )
        with control_dependencies([self._update_only(grad, variable)]):
            return variable.assign(constraint(variable))

    def _update_only(self, grad: Any, variable: Any) -> Any:
        reference = is_reference(variable)
        if isinstance(grad, IndexedSlices):
            if reference:
                return self._apply_sparse_duplicate_indices(grad, variable)
            return self._resource_apply_sparse_duplicate_indices(grad.values, variable, grad.indices)
        return self._apply_dense(grad, variable) if reference else self._resource_apply_dense(grad, variable)

    def _assert_valid_dtypes(self, tensors: Sequence[Any]) -> None:
        valid = self._valid_dtypes()
        for t in tensors:
            dtype = t.dtype.base_dtype
            if dtype not in valid:
                raise ValueError(f"Invalid type {dtype!r} for {t.name}, expected: [{', '.join(map(repr, _ordered(valid)))}].")

    # Methods for subclasses to override.

    def _valid_dtypes(self) -> Any:
        """Returns the set of the dtypes of losses, variables and gradients."""
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _call_if_callable(self, param: Any) -> Any:
        """Returns the result of a hyperparameter that is a function; others as they are."""
        return param() if callable(param) else param

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Creates the slots."""

    def _prepare(self) -> None:
        """Converts the hyperparameters to tensors."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        """Returns an operation that applies a gradient to a reference variable."""
        raise NotImplementedError()

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        """Returns an operation that applies a gradient to a resource variable."""
        raise NotImplementedError()

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        """Returns an operation that applies `IndexedSlices` of unique indices to a reference variable."""
        raise NotImplementedError()

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        """Returns an operation that applies slices with unique indices to a resource variable."""
        raise NotImplementedError()

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        values, indices = _summed(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var)

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        values, indices = _summed(grad, indices)
        return self._resource_apply_sparse(values, handle, indices)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        """Returns the operation that completes all updates."""
        return control_flow.group(*update_ops, name=name_scope)

    # Slots.

    def get_slot(self, var: Any, name: str) -> Any:
        """Returns the variable of a slot, or None."""
        return self._slots.get(name, {}).get(id(var))

    def get_slot_names(self) -> List[str]:
        """Returns the names of all slots."""
        return sorted(self._slots)

    def variables(self) -> List[Any]:
        """Returns the optimizer's own variables in the current graph, slots included."""
        graph = get_default_graph()
        own = [v for v in self._non_slot_dict.values() if v.op.graph is graph]
        own += [v for slots in self._slots.values() for v in slots.values() if v.op.graph is graph]
        return sorted(own, key=lambda v: v.name)

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        """Returns a slot, created with the initial value `val`: a tensor, or a function that returns one."""
        slots = self._slots.setdefault(slot_name, {})
        if id(var) not in slots:
            # Keeps the variable alive: the table knows it by its identity.
            self._kept.append(var)
            known = var.get_shape().is_fully_defined()
            slots[id(var)] = create_slot(var, val, op_name, var.dtype.base_dtype, known, not is_reference(var))
        return slots[id(var)]

    def _get_or_make_slot_with_initializer(self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str, op_name: str) -> Any:
        """Returns a slot, created with an initializer, a shape and a dtype of its own."""
        slots = self._slots.setdefault(slot_name, {})
        if id(var) not in slots:
            self._kept.append(var)
            slots[id(var)] = create_slot(var, initializer, op_name, dtypes.as_dtype(dtype).base_dtype, shape.is_fully_defined(), not is_reference(var), shape)
        return slots[id(var)]

    def _slot_dict(self, slot_name: str) -> Dict[int, Any]:
        """Returns the variables of a slot, by the identities of the variables they belong to."""
        return self._slots.setdefault(slot_name, {})

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        return self._filled_slot(var, slot_name, op_name, 0.0)

    def _filled_slot(self, var: Any, slot_name: str, op_name: str, value: float) -> Any:
        dtype, shape = var.dtype.base_dtype, var.get_shape()

        def initial() -> Any:
            if not shape.is_fully_defined():
                return array_ops.fill(array_ops.shape(var.initialized_value()), math_ops.cast(value, dtype))
            if value == 0.0:
                return array_ops.zeros(shape.as_list(), dtype)
            return constant(value, dtype, shape.as_list())

        return self._get_or_make_slot(var, initial, slot_name, op_name)

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """Returns a variable that belongs to the optimizer, one for each graph."""
        key = (name, id(colocate_with.op.graph))
        if key not in self._non_slot_dict:
            self._kept.append(colocate_with.op.graph)
            with framework.colocate_with(colocate_with.op):
                self._non_slot_dict[key] = Variable(
                    initial_value, name=name, trainable=False, use_resource=not is_reference(colocate_with)
                )
        return self._non_slot_dict[key]

    def _non_slot_variables(self) -> Any:
        """Returns the variables that belong to the optimizer rather than to a variable."""
        return self._non_slot_dict.values()

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        return self._non_slot_dict.get((name, id(graph)))


def _ordered(valid: Any) -> List[Any]:
    """Returns dtypes in the order in which messages name them."""
    usual = [dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16]
    return [d for d in usual if d in valid] + sorted((d for d in valid if d not in usual), key=lambda d: d.name)


def _converted(grad: Any) -> Any:
    if isinstance(grad, IndexedSlices):
        return grad
    try:
        return convert_to_tensor(grad)
    except TypeError:
        raise TypeError(f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {grad}") from None


def _summed(values: Any, indices: Any) -> Tuple[Any, Any]:
    """Sums slices with equal indices."""
    unique, position = array_ops.unique(indices)
    return op_functions.op("UnsortedSegmentSum")(values, position, array_ops.shape(unique)[0]), unique


class ByOp(Optimizer):
    """The base class of optimizers whose update is one op: `Apply<WORD>` in one of its forms."""

    WORD = ""
    # For each slot: its key, the op's argument for it, and the name of its variable.
    SLOTS: Tuple[Tuple[str, str, str], ...] = ()

    def _arguments(self, var: Any) -> Dict[str, Any]:
        """The op's arguments other than the variable, the slots and the gradient."""
        raise NotImplementedError()

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            for slot, _, called in self.SLOTS:
                self._zeros_slot(var, slot, called)

    def _hyper(self, **values: Any) -> None:
        """Converts hyperparameters, or the results of functions, to tensors."""
        self._tensors = {name: convert_to_tensor(self._call_if_callable(value), name=name) for name, value in values.items()}
        for name, tensor in self._tensors.items():
            setattr(self, self.TENSORS.get(name, f"_{name}_tensor"), tensor)

    def _as(self, name: str, var: Any) -> Any:
        return math_ops.cast(self._tensors[name], var.dtype.base_dtype)

    def _apply(self, var: Any, grad: Any, indices: Any = None) -> Any:
        kind = "" if is_reference(var) else "Resource"
        name = f"{kind}{'' if indices is None else 'Sparse'}Apply{self._word()}"
        try:
            op = raw(name)
        except AttributeError:
            raise NotImplementedError(f"{type(self).__name__} needs the op {name}, which the engine lacks") from None
        arguments = {argument: target(self.get_slot(var, slot)) for slot, argument, _ in self.SLOTS}
        arguments.update(self._arguments(var), var=target(var), use_locking=self._use_locking)
        arguments[self.GRADIENT] = grad
        if indices is not None:
            arguments["indices"] = indices
        out = op(**arguments)
        return getattr(out, "op", out)

    GRADIENT = "grad"
    # The attributes that hold hyperparameters as tensors: by default `_learning_rate_tensor` and so on.
    TENSORS: Dict[str, str] = {}

    def __getattr__(self, name: str) -> Any:
        # Before `_prepare`, tensors are None.
        if name.endswith(("_t", "_tensor")) and not name.startswith("__"):
            own = name[1 : -len("_tensor")] if name.endswith("_tensor") else None
            if name in self.TENSORS.values() or (own is not None and "_" + own in self.__dict__):
                return None
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

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
