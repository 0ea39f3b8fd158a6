"""`optimize_loss`: a step of training from a loss, with decay, noise, clipping and summaries."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from millstream._engine import Tensor
from millstream.framework import IndexedSlices, control_dependencies, convert_to_tensor, dtypes, get_collection
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.io import summaries as summary
from millstream.ops import array_ops, check_ops, clip_ops, control_flow, math_ops, random_ops
from millstream.train import optimizers as known, training_util
from millstream.train.moving_averages import assign_moving_average
from millstream.train.optimizer import Optimizer
from millstream.variables.collections import trainable_variables
from millstream.variables.initializers import constant_initializer, zeros_initializer
from millstream.variables.scopes import get_variable, variable_scope

__all__ = ["OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES", "adaptive_clipping_fn", "optimize_loss"]

OPTIMIZER_CLS_NAMES: Dict[str, Any] = {
    "Adagrad": known.AdagradOptimizer,
    "Adam": known.AdamOptimizer,
    "Ftrl": known.FtrlOptimizer,
    "Momentum": lambda learning_rate: known.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": known.RMSPropOptimizer,
    "SGD": known.GradientDescentOptimizer,
}

OPTIMIZER_SUMMARIES = ["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"]

Gradients = List[Tuple[Any, Any]]


def optimize_loss(
    loss: Any,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: Optional[float] = None,
    gradient_multipliers: Optional[Dict[Any, Any]] = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Optional[Callable[[Any, Any], Any]] = None,
    update_ops: Optional[Sequence[Any]] = None,
    variables: Optional[Sequence[Any]] = None,
    name: Optional[str] = None,
    summaries: Optional[Sequence[str]] = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Any:
    """Returns a tensor that runs a step of training: the loss, after variables are updated.

    Args:
      loss: A scalar.
      global_step: The global step to increment; by default that of the graph, if it has one.
      learning_rate: A float, which becomes a variable, a scalar tensor, or None.
      optimizer: An optimizer, a class, a function of the learning rate, or a name, one of `"SGD"`, `"Adam"`,
        `"Adagrad"`, `"Momentum"`, `"RMSProp"` and `"Ftrl"`.
      gradient_noise_scale: The factor of normal noise that is added to gradients.
      gradient_multipliers: A dict from variables, or names of them, to factors for their gradients.
      clip_gradients: The largest norm of all gradients, or a function of pairs of gradient and variable.
      learning_rate_decay_fn: A function of the learning rate and the global step.
      update_ops: Operations to run before the loss; by default the collection `update_ops`.
      variables: The variables to train; by default all trainable ones.
      name: The variable scope.
      summaries: What to summarize: a list of `OPTIMIZER_SUMMARIES`; by default the loss, the learning rate
        and the norm of all gradients.
      colocate_gradients_with_ops: As in `Optimizer.compute_gradients`.
      increment_global_step: If false, the global step stays.

    Returns:
      A scalar tensor.

    Raises:
      ValueError: An argument is none of the above, or nothing can be trained.

    Example:
      >>> x = tf.get_variable("x", initializer=4.0)
      >>> train = tf.contrib.layers.optimize_loss(x * x, None, learning_rate=0.25, optimizer="SGD")
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(train), sess.run(x))
      16.0 2.0
    """
    loss = check_ops.assert_scalar(convert_to_tensor(loss))
    if global_step is None:
        global_step = training_util.get_global_step()
    else:
        training_util.assert_global_step(global_step)
    with variable_scope(name, "OptimizeLoss", [loss, global_step]):
        update_ops = list(dict.fromkeys(get_collection(GraphKeys.UPDATE_OPS))) if update_ops is None else list(update_ops)
        if update_ops:
            loss = control_flow.with_dependencies(update_ops, loss)
        rate = _learning_rate(learning_rate)
        shown = ["loss", "learning_rate", "global_gradient_norm"] if summaries is None else summaries
        for what in shown:
            if what not in OPTIMIZER_SUMMARIES:
                raise ValueError("Summaries should be one of [%s], you provided %s." % (", ".join(OPTIMIZER_SUMMARIES), what))
        if learning_rate is not None and learning_rate_decay_fn is not None:
            if global_step is None:
                raise ValueError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, global_step)
            if "learning_rate" in shown:
                summary.scalar("learning_rate", rate)
        opt = _optimizer(optimizer, rate, learning_rate)
        variables = trainable_variables() if variables is None else variables
        gradients = opt.compute_gradients(loss, variables, colocate_gradients_with_ops=colocate_gradients_with_ops)
        gradients = _changed(gradients, gradient_noise_scale, gradient_multipliers)
        if "global_gradient_norm" in shown or "gradient_norm" in shown:
            summary.scalar("global_norm/gradient_norm", clip_ops.global_norm([g for g, _ in gradients]))
        gradients = _clipped(gradients, clip_gradients)
        _summarize(shown, loss, gradients, clip_gradients is not None)
        step = global_step if increment_global_step else None
        return control_flow.with_dependencies([opt.apply_gradients(gradients, global_step=step, name="train")], loss)


def _learning_rate(learning_rate: Any) -> Any:
    if learning_rate is None:
        return None
    if isinstance(learning_rate, Tensor) and learning_rate.get_shape().ndims == 0:
        return learning_rate
    if isinstance(learning_rate, float):
        if learning_rate < 0.0:
            raise ValueError("Invalid learning_rate %s.", learning_rate)
        return get_variable("learning_rate", [], trainable=False, initializer=constant_initializer(learning_rate))
    raise ValueError("Learning rate should be 0d Tensor or float. Got %s of type %s" % (learning_rate, type(learning_rate)))


def _optimizer(optimizer: Any, rate: Any, learning_rate: Any) -> Optimizer:
    """Returns the optimizer that a name, a class or a function makes."""
    is_class = isinstance(optimizer, type) and issubclass(optimizer, Optimizer)
    if isinstance(optimizer, str) or is_class:
        if rate is None:
            kind = "class" if is_class else "string"
            raise ValueError("Learning rate is None, but should be specified if optimizer is %s (%s)." % (kind, optimizer))
        if not is_class and optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError("Optimizer name should be one of [%s], you provided %s." % (", ".join(OPTIMIZER_CLS_NAMES), optimizer))
        made = (optimizer if is_class else OPTIMIZER_CLS_NAMES[optimizer])(learning_rate=rate)
        return made  # type: ignore[no-any-return]
    if isinstance(optimizer, Optimizer):
        return optimizer
    if callable(optimizer):
        made = optimizer() if learning_rate is None else optimizer(rate)
        if not isinstance(made, Optimizer):
            raise ValueError("Unrecognized optimizer: function should return subclass of Optimizer. Got %s." % made)
        return made
    raise ValueError(
        "Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of Optimizer or function with one argument. "
        "Got %s." % optimizer
    )


def _mapped(gradient: Any, function: Callable[[Any], Any]) -> Any:
    """Applies a function to the values of a gradient."""
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(function(gradient.values), gradient.indices, gradient.dense_shape)
    return None if gradient is None else function(gradient)


def _changed(gradients: Gradients, noise: Optional[float], multipliers: Optional[Dict[Any, Any]]) -> Gradients:
    """Adds noise to gradients, and multiplies some."""
    if noise is not None:
        gradients = [(None if g is None else g + random_ops.truncated_normal(_shape(g)) * noise, v) for g, v in gradients]
    if multipliers is None:
        return gradients
    changed = []
    for gradient, variable in gradients:
        key = variable if variable in multipliers else variable.name
        if gradient is not None and key in multipliers:
            factor = multipliers[key]
            gradient = _mapped(gradient, lambda values, f=factor: values * math_ops.cast(f, values.dtype))  # type: ignore[misc]
        changed.append((gradient, variable))
    if not changed:
        raise ValueError(
            "Empty list of (gradient, var) pairs encountered. This is most likely to be caused by an improper value of gradient_multipliers."
        )
    return changed


def _shape(gradient: Any) -> Any:
    return gradient.dense_shape if isinstance(gradient, IndexedSlices) else gradient.get_shape()


def _clipped(gradients: Gradients, clip: Any) -> Gradients:
    if isinstance(clip, float):
        values, _ = clip_ops.clip_by_global_norm([g for g, _ in gradients], clip)
        return list(zip(values, (v for _, v in gradients)))
    if callable(clip):
        return list(clip(gradients))
    if clip is not None:
        raise ValueError("Unknown type %s for clip_gradients" % type(clip))
    return gradients


def _summarize(shown: Sequence[str], loss: Any, gradients: Gradients, clipped: bool) -> None:
    if "loss" in shown:
        summary.scalar("loss", loss)
    for gradient, variable in gradients:
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        if values is not None:
            name = variable.name.replace(":", "_")
            if "gradients" in shown:
                summary.histogram("gradients/%s" % name, values)
            if "gradient_norm" in shown:
                summary.scalar("gradient_norm/%s" % name, clip_ops.global_norm([values]))
    if clipped and ("global_gradient_norm" in shown or "gradient_norm" in shown):
        summary.scalar("global_norm/clipped_gradient_norm", clip_ops.global_norm([g for g, _ in gradients]))


def adaptive_clipping_fn(
    std_factor: Any = 2.0,
    decay: float = 0.95,
    static_max_norm: Any = None,
    global_step: Any = None,
    report_summary: bool = False,
    epsilon: float = 1e-8,
    name: Optional[str] = None,
) -> Callable[[Gradients], Gradients]:
    """Returns a function for `optimize_loss(clip_gradients=..)` that clips unusually large gradients.

    It keeps moving averages of the logarithm of the norm. A norm that exceeds the mean by `std_factor`
    standard deviations is reduced to the mean.

    Args:
      std_factor: The number of standard deviations.
      decay: The decay rate of the averages.
      static_max_norm: A bound on the norm.
      global_step: If given, early averages change faster: the decay rate is at most `n / (n + 1)`.
      report_summary: If true, the bound is summarized.
      epsilon: The least variance.
      name: The variable scope.

    Returns:
      A function from pairs of a gradient and a variable to such pairs.

    Example:
      >>> clip = tf.contrib.slim.adaptive_clipping_fn(static_max_norm=1.0)
      >>> w = tf.get_variable("w", [2])
      >>> (gradient, _), = clip([(tf.constant([3.0, 4.0]), w)])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(tf.norm(gradient)) <= 1.0)
      True
    """

    def clip(grads_and_vars: Gradients) -> Gradients:
        gradients = [g for g, _ in grads_and_vars]
        norm = clip_ops.global_norm(gradients)
        bound, mean = _bound(norm, std_factor, decay, global_step, epsilon, name)
        if report_summary:
            summary.scalar("global_norm/adaptive_max_gradient_norm", bound)
        factor = array_ops.where(norm < bound, array_ops.ones_like(norm), op("Exp")(mean) / norm)
        if static_max_norm is not None:
            factor = op("Minimum")(static_max_norm / norm, factor)
        return [(_mapped(g, lambda values: values * factor), v) for g, v in grads_and_vars]

    return clip


def _bound(norm: Any, factor: Any, decay: Any, global_step: Any, epsilon: float, name: Optional[str]) -> Tuple[Any, Any]:
    """Returns the largest usual norm, and the mean of the norms' logarithms."""
    with variable_scope(name, "AdaptiveMaxNorm", [norm]):
        log = op("Log")(norm + epsilon)
        if global_step is not None:
            n = math_ops.cast(global_step, dtypes.float32)
            decay = op("Minimum")(decay, n / (n + 1.0))

        def average(called: str, value: Any) -> Any:
            variable = get_variable(called, value.get_shape(), value.dtype, zeros_initializer(), trainable=False)
            return assign_moving_average(variable, value, decay, zero_debias=False)

        mean, square = average("mean", log), average("sq_mean", op("Square")(log))
        deviation = op("Sqrt")(op("Maximum")(epsilon, square - op("Square")(mean)))
        return op("Exp")(mean + factor * deviation), mean
