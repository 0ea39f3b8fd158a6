"""`ExponentialMovingAverage`: values that follow variables slowly."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple

import millstream as tf
from millstream.graph_keys import GraphKeys
from millstream.train.optimizer import is_reference


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
                    use_resource=is_variable and not is_reference(var),
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
