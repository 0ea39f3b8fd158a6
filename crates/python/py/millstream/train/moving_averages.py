"""`ExponentialMovingAverage`: averages that follow variables."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple

from millstream.framework import (
    add_to_collection,
    colocate_with,
    control_dependencies,
    convert_to_tensor,
    dtypes,
    get_collection,
    get_default_graph,
    name_scope,
)
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, math_ops
from millstream.train.optimizer import is_reference
from millstream.variables import state_ops
from millstream.variables.collections import global_variables, trainable_variables
from millstream.variables.initializers import zeros_initializer
from millstream.variables.scopes import get_variable, get_variable_scope, variable_scope
from millstream.variables.slots import create_slot
from millstream.variables.variable import Variable


class ExponentialMovingAverage:
    """Maintains moving averages of variables, with exponential decay.

    An update is `average -= (1 - decay) * (average - value)`.

    Args:
      decay: The decay rate: a float or a scalar tensor.
      num_updates: A count of updates n, such as the global step. Early averages change faster: the decay rate
        is `min(decay, (1 + n) / (10 + n))`.
      zero_debias: If true, averages of tensors, which start at zero, are corrected for that bias.
      name: The name scope of the operations, and the suffix of averages' names.

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
        # For debiased averages of tensors: the biased average and the number of updates, by the tensor's
        # identity.
        self._biased: Dict[int, Tuple[Any, Any]] = {}

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    def apply(self, var_list: Optional[Sequence[Any]] = None) -> Any:
        """Returns an operation that updates the averages of variables, which it creates.

        Args:
          var_list: A list of variables and tensors; by default all trainable variables.

        Returns:
          An `Operation`.

        Raises:
          TypeError: The values are not floats.
        """
        var_list = trainable_variables() if var_list is None else var_list
        for var in var_list:
            if var.dtype.base_dtype not in (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64):
                raise TypeError("The variables must be half, float, or double: %s" % var.name)
            if id(var) in self._averages:
                continue
            with control_dependencies(None):
                self._averages[id(var)] = var, self._created(var)
        with name_scope(self._name) as scope:
            decay = convert_to_tensor(self._decay, name="decay")
            if self._num_updates is not None:
                n = math_ops.cast(self._num_updates, dtypes.float32, name="num_updates")
                decay = op("Minimum")(decay, (1.0 + n) / (10.0 + n))
            updates = []
            for var in var_list:
                average = self._averages[id(var)][1]
                with name_scope("AssignMovingAvg"):
                    rest = math_ops.cast(1.0 - decay, average.dtype.base_dtype)
                    if id(var) in self._biased:
                        updates.append(state_ops.assign(average, self._unbiased(var, rest)))
                    else:
                        updates.append(state_ops.assign_sub(average, (average - var) * rest))
            return control_flow.group(*updates, name=scope)

    def _created(self, var: Any) -> Any:
        """Returns a new average: of a variable, its value; of a tensor, zeros."""
        dtype, known = var.dtype.base_dtype, var.get_shape().is_fully_defined()
        if isinstance(var, Variable):
            average = create_slot(var, var.initialized_value(), self._name, dtype, known, not is_reference(var))
            add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, var)
            return average
        average = create_slot(var, lambda: array_ops.zeros(_dims(var), dtype), self._name, dtype, known, False)
        if self._zero_debias:
            with variable_scope(average.op.name):
                self._biased[id(var)] = tuple(
                    get_variable(what, shape, dtype, zeros_initializer(), trainable=False)
                    for what, shape in (("biased", average.get_shape()), ("local_step", []))
                )  # type: ignore[assignment]
        return average

    def _unbiased(self, var: Any, rest: Any) -> Any:
        """Returns the average that started at zero, divided by the total weight of its values."""
        biased, steps = self._biased[id(var)]
        new = state_ops.assign_sub(biased, (biased - var) * rest)
        count = state_ops.assign_add(steps, 1.0)
        return new / (1.0 - math_ops.pow(1.0 - rest, count))

    def average(self, var: Any) -> Any:
        """Returns the variable that holds the average, or None."""
        entry = self._averages.get(id(var))
        return None if entry is None else entry[1]

    def average_name(self, var: Any) -> str:
        """Returns the name of the average."""
        entry = self._averages.get(id(var))
        if entry is not None:
            return entry[1].op.name
        return get_default_graph().unique_name(f"{var.op.name}/{self._name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Optional[Sequence[Any]] = None) -> Dict[str, Any]:
        """Returns a dict from names in a checkpoint to variables; the names of averages where they exist."""
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES)
        out = {self.average_name(v): v for v in moving_avg_variables}
        averaged = {v.name for v in moving_avg_variables}
        out.update((v.op.name, v) for v in global_variables() if v.name not in averaged and v.op.name not in out)
        return out


def _dims(x: Any) -> Any:
    """Returns the shape as a list, or as a tensor if it is not fully known."""
    return x.get_shape().as_list() if x.get_shape().is_fully_defined() else array_ops.shape(x)


def assign_moving_average(variable: Any, value: Any, decay: Any, zero_debias: bool = True, name: Optional[str] = None) -> Any:
    """Moves a variable towards a value: `variable -= (1 - decay) * (variable - value)`.

    With `zero_debias` the variable is the average divided by the weight of the values so far. Two more
    variables hold the average and the number of updates.
    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        with colocate_with(variable):
            rest = math_ops.cast(convert_to_tensor(1.0 - decay, name="decay"), variable.dtype.base_dtype)
            if not zero_debias:
                return state_ops.assign_sub(variable, (variable - value) * rest, name=scope)
            with variable_scope(variable.op.name, values=[variable, value, rest]):
                biased, steps = (_own(what, variable, shape) for what, shape in (("biased", variable.shape), ("local_step", [])))
            new = state_ops.assign_sub(biased, (biased - value) * rest)
            count = state_ops.assign_add(steps, 1.0)
            return state_ops.assign(variable, new / (1.0 - math_ops.pow(1.0 - rest, count)), name=scope)


def weighted_moving_average(value: Any, decay: Any, weight: Any, truediv: bool = True, collections: Any = None, name: Optional[str] = None) -> Any:
    """Returns the moving average of values, each of which counts by its weight.

    Two variables hold the averages of `value * weight` and of `weight`; the result is their quotient.
    """
    kept = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    with variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:

        def variable(called: str, like: Any) -> Any:
            return get_variable(called, like.get_shape(), like.dtype, zeros_initializer(), trainable=False, collections=kept)

        product, total = variable("value_x_weight", value), variable("weight", weight)
        above = assign_moving_average(product, value * weight, decay, zero_debias=False)
        below = assign_moving_average(total, weight, decay, zero_debias=False)
        return (math_ops.truediv if truediv else math_ops.div)(above, below, name=scope.name)


def _own(name: str, variable: Any, shape: Any) -> Any:
    scope = get_variable_scope()
    taken = {v.op.name for v in scope.global_variables()}
    unused, i = name, 0
    while not scope.reuse and scope.name + "/" + unused in taken:
        i += 1
        unused = "%s_%d" % (name, i)
    return get_variable(unused, shape, variable.dtype.base_dtype, zeros_initializer(), trainable=False)
