"""`MovingAverageOptimizer`: keeps moving averages of the variables that another optimizer updates."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from millstream.framework import control_dependencies
from millstream.ops import control_flow
from millstream.train.moving_averages import ExponentialMovingAverage
from millstream.train.optimizer import Optimizer
from millstream.train.saver import Saver
from millstream.variables.collections import global_variables

__all__ = ["MovingAverageOptimizer"]


class MovingAverageOptimizer(Optimizer):
    """Applies gradients with an optimizer, and then updates moving averages of the variables.

    `swapping_saver` saves the averages under the names of the variables, so that a program that evaluates the
    model reads them with a plain `Saver`.

    Args:
      opt: The optimizer.
      average_decay: The decay of the averages.
      num_updates: The number of updates so far; see `tf.train.ExponentialMovingAverage`.
      sequential_update: If false, averages are updated at the same time as the variables.

    Example:
      >>> v = tf.Variable(1.0, name="v")
      >>> optimizer = tf.contrib.opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.5), 0.5)
      >>> step = optimizer.minimize(v)
      >>> saver = optimizer.swapping_saver()
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     sess.run(step)
      ...     print(*sess.run([x.name for x in tf.global_variables()]))
      0.5 0.75
    """

    def __init__(self, opt: Any, average_decay: float = 0.9999, num_updates: Any = None, sequential_update: bool = True) -> None:
        super().__init__(False, "MovingAverage")
        self._optimizer, self._sequential = opt, sequential_update
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        # The name of the average of each variable, and of the variable of each average.
        self._swapped: Optional[Dict[str, str]] = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """Returns the gradients that the optimizer computes."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None) -> Any:
        """Returns an operation that applies the gradients and updates the averages."""
        pairs = list(grads_and_vars)
        step = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        variables = [v for grad, v in pairs if grad is not None]
        with control_dependencies([step] if self._sequential else []):
            averages = self._ema.apply(variables)
        self._swapped = {}
        for v in variables:
            average = self._ema.average(v)
            self._swapped[v.op.name], self._swapped[average.op.name] = average.op.name, v.op.name
        return control_flow.group(step, averages, name="train_with_avg")

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> Any:
        """Returns a `Saver` that saves averages under the names of their variables, and the other way round.

        Args:
          var_list: The variables to save, as a list or a dict; by default all.
          name: The name of the saver.
          **kwargs: More arguments of `Saver`.

        Raises:
          RuntimeError: No gradients have been applied yet.
          ValueError: A variable is to be saved without its average.
        """
        if self._swapped is None:
            raise RuntimeError("Must call apply_gradients or minimize before creating the swapping_saver")
        chosen: Any = global_variables() if var_list is None else var_list
        if not isinstance(chosen, dict):
            chosen = _by_name(chosen)
        whole = {v.op.name: v for value in chosen.values() for v in (value if isinstance(value, list) else [value])}

        def other(name: str, variable: Any) -> Any:
            wanted = (self._swapped or {}).get(name)
            if wanted is None:
                return variable
            if wanted not in whole:
                raise ValueError("Variable to swap %s is not part of variables to save. This breaks MovingAverageOptimizer." % wanted)
            return whole[wanted]

        swapped = {k: [other(v.op.name, v) for v in value] if isinstance(value, list) else other(k, value) for k, value in chosen.items()}
        return Saver(swapped, name=name, **kwargs)


def _by_name(variables: List[Any]) -> Dict[str, Any]:
    """Returns variables by name; the parts of a variable are a list."""
    found: Dict[str, Any] = {}
    for v in variables:
        info = getattr(v, "_save_slice_info", None)
        if info is not None:
            found.setdefault(info.full_name, []).append(v)
        else:
            found[v.op.name] = v
    return found
