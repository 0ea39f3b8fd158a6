"""Learning rates that decay with the step."""

from __future__ import annotations

import functools
import math
from typing import Any, Optional, Sequence

from millstream.framework import constant, convert_to_tensor, dtypes, name_scope, node_counts
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, math_ops, random_ops



def _step(global_step: Any, like: Any) -> Any:
    if global_step is None:
        raise ValueError("None values not supported. global_step is required for this decay.")
    return math_ops.cast(global_step, like.dtype)


def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: Optional[str] = None,
) -> Any:
    """Applies exponential decay: `learning_rate * decay_rate ** (step / decay_steps)`.

    Args:
      learning_rate: The initial learning rate: a float or a scalar tensor.
      global_step: A scalar: the number of steps made so far.
      decay_steps: The number of steps for each factor of `decay_rate`.
      decay_rate: The factor.
      staircase: If true, `step / decay_steps` is rounded down.
      name: The name scope of the new operations.

    Returns:
      A scalar tensor of the dtype of `learning_rate`.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.exponential_decay(0.1, step, decay_steps=10, decay_rate=0.5)
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}).round(4) for n in (0, 5, 10)])
      0.1 0.0707 0.05
    """
    with name_scope(name, "ExponentialDecay", [learning_rate, global_step, decay_steps, decay_rate]) as name:
        rate = convert_to_tensor(learning_rate, name="learning_rate")
        p = _step(global_step, rate) / math_ops.cast(decay_steps, rate.dtype)
        return math_ops.multiply(rate, math_ops.pow(math_ops.cast(decay_rate, rate.dtype), op("Floor")(p) if staircase else p), name=name)


def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: Optional[str] = None,
) -> Any:
    """Applies exponential decay with base e: `learning_rate * exp(-decay_rate * step / decay_steps)`.

    Args:
      learning_rate: The initial learning rate: a float or a scalar tensor.
      global_step: A scalar: the number of steps made so far.
      decay_steps: The number of steps that `decay_rate` refers to.
      decay_rate: The decay rate.
      staircase: If true, `step / decay_steps` is rounded down.
      name: The name scope of the new operations.

    Returns:
      A scalar tensor of the dtype of `learning_rate`.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.natural_exp_decay(0.1, step, decay_steps=10, decay_rate=0.5)
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}).round(4) for n in (0, 5, 10)])
      0.1 0.0779 0.0607
    """
    rate = op("Exp")(math_ops.negative(convert_to_tensor(decay_rate)))
    return exponential_decay(learning_rate, global_step, decay_steps, rate, staircase, name)


def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: Optional[str] = None,
) -> Any:
    """Applies inverse time decay: `learning_rate / (1 + decay_rate * step / decay_steps)`.

    Args:
      learning_rate: The initial learning rate: a float or a scalar tensor.
      global_step: A scalar: the number of steps made so far.
      decay_steps: The number of steps that `decay_rate` refers to.
      decay_rate: The decay rate.
      staircase: If true, `step / decay_steps` is rounded down.
      name: The name scope of the new operations.

    Returns:
      A scalar tensor of the dtype of `learning_rate`.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.inverse_time_decay(0.1, step, decay_steps=10, decay_rate=1.0)
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}).round(4) for n in (0, 5, 10)])
      0.1 0.0667 0.05
    """
    with name_scope(name, "InverseTimeDecay", [learning_rate, global_step, decay_rate]) as name:
        rate = convert_to_tensor(learning_rate, name="learning_rate")
        p = _step(global_step, rate) / math_ops.cast(decay_steps, rate.dtype)
        node_counts.also(1)  # Its one is an int, which is cast.
        return math_ops.divide(rate, 1 + math_ops.cast(decay_rate, rate.dtype) * (op("Floor")(p) if staircase else p), name=name)


def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: Optional[str] = None,
) -> Any:
    """Decays from `learning_rate` to `end_learning_rate` in `decay_steps`.

    Args:
      learning_rate: The initial learning rate: a float or a scalar tensor.
      global_step: A scalar: the number of steps made so far.
      decay_steps: The number of steps of the decay.
      end_learning_rate: The final learning rate.
      power: The exponent of the remaining fraction of steps; 1 is linear.
      cycle: If true, the decay restarts after its end, each time over more steps.
      name: The name scope of the new operations.

    Returns:
      A scalar tensor of the dtype of `learning_rate`.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.polynomial_decay(0.1, step, decay_steps=10, end_learning_rate=0.0)
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}).round(4) for n in (0, 5, 10)])
      0.1 0.05 0.0
    """
    with name_scope(name, "PolynomialDecay", [learning_rate, global_step, decay_steps]) as name:
        rate = convert_to_tensor(learning_rate, name="learning_rate")
        end = math_ops.cast(end_learning_rate, rate.dtype)
        step, steps = _step(global_step, rate), math_ops.cast(decay_steps, rate.dtype)
        if cycle:
            turns = control_flow.cond(math_ops.equal(step, 0), lambda: array_ops.ones([], rate.dtype), lambda: op("Ceil")(step / steps))
            steps = steps * turns
        else:
            step = op("Minimum")(step, steps)
        node_counts.also(0 if cycle else 1)
        return op("Add")((rate - end) * math_ops.pow(1 - step / steps, math_ops.cast(power, rate.dtype)), end, name=name)


def piecewise_constant(x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: Optional[str] = None) -> Any:
    """Returns `values[i]` for `x` above `boundaries[i - 1]` and at most `boundaries[i]`.

    Args:
      x: A scalar, such as the global step.
      boundaries: A list of increasing numbers.
      values: A list of the same dtype, longer by one.
      name: The name scope of the new operations.

    Returns:
      A scalar tensor.

    Raises:
      ValueError: The lengths do not match, or dtypes differ.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.piecewise_constant(step, [100, 200], [1.0, 0.5, 0.25])
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}) for n in (100, 101, 500)])
      1.0 0.5 0.25
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    with name_scope(name, "PiecewiseConstant", [x, boundaries, values]):
        x = convert_to_tensor(x)
        limits = [_limit(b, x) for b in boundaries]
        kinds = [convert_to_tensor(v) for v in values]
        other = next((v.dtype for v in kinds if v.dtype != kinds[0].dtype), None)
        if other is not None:
            raise ValueError(f"Values must have elements all with the same dtype ({kinds[0].dtype} vs {other}).")
        pairs = [(x <= limits[0], lambda: kinds[0]), (x > limits[-1], lambda: kinds[-1])]
        for low, high, value in zip(limits[:-1], limits[1:], kinds[1:-1]):
            pairs.append(((x > low) & (x <= high), functools.partial(_same, value)))
        return control_flow.case(pairs, lambda: kinds[0], exclusive=True)


def _same(value: Any) -> Any:
    return value


def _limit(boundary: Any, x: Any) -> Any:
    boundary = convert_to_tensor(boundary)
    if boundary.dtype.base_dtype == x.dtype.base_dtype:
        return boundary
    if boundary.dtype == dtypes.int32 and x.dtype.base_dtype == dtypes.int64:
        return math_ops.cast(boundary, dtypes.int64)
    raise ValueError(f"Boundaries ({boundary.dtype}) must have the same dtype as x ({x.dtype}).")


piecewise_constant_decay = piecewise_constant


def cosine_decay_restarts(
    learning_rate: Any,
    global_step: Any,
    first_decay_steps: Any,
    t_mul: Any = 2.0,
    m_mul: Any = 1.0,
    alpha: Any = 0.0,
    name: Optional[str] = None,
) -> Any:
    """Applies cosine decay with restarts.

    Each period is `t_mul` times as long and `m_mul` times as high as the one before.

    Args:
      learning_rate: The initial learning rate: a float or a scalar tensor.
      global_step: A scalar: the number of steps made so far.
      first_decay_steps: The number of steps of the first period.
      t_mul: The ratio of the lengths of successive periods.
      m_mul: The ratio of the initial rates of successive periods.
      alpha: The final rate, as a fraction of `learning_rate`.
      name: The name scope of the new operations.

    Returns:
      A scalar tensor of the dtype of `learning_rate`.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.cosine_decay_restarts(0.1, step, first_decay_steps=10, m_mul=0.5)
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}).round(4) for n in (0, 5, 10)])
      0.1 0.05 0.05
    """
    with name_scope(name, "SGDRDecay", [learning_rate, global_step]) as name:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        first = math_ops.cast(first_decay_steps, rate.dtype)
        longer, higher, alpha = (math_ops.cast(v, rate.dtype) for v in (t_mul, m_mul, alpha))
        done = _step(global_step, rate) / first

        def restarts(geometric: bool) -> Any:
            if not geometric:
                n = op("Floor")(done)
                return n, done - n
            n = op("Floor")(op("Log")(1.0 - done * (1.0 - longer)) / op("Log")(longer))
            before = (1.0 - longer**n) / (1.0 - longer)
            return n, (done - before) / longer**n

        n, fraction = control_flow.cond(math_ops.equal(longer, 1.0), lambda: restarts(False), lambda: restarts(True))
        falling = 0.5 * higher**n * (1.0 + op("Cos")(constant(math.pi, rate.dtype) * fraction))
        return math_ops.multiply(rate, (1 - alpha) * falling + alpha, name=name)


def noisy_linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    initial_variance: Any = 1.0,
    variance_decay: Any = 0.55,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: Optional[str] = None,
) -> Any:
    """As `linear_cosine_decay`, with noise on the linear part, whose variance decays with the step.

    Args:
      learning_rate: The initial learning rate: a float or a scalar tensor.
      global_step: A scalar: the number of steps made so far.
      decay_steps: The number of steps of the decay.
      initial_variance: The initial variance of the noise.
      variance_decay: The exponent by which the variance decays.
      num_periods: The number of periods of the cosine.
      alpha: A constant added to the linear part.
      beta: A constant added to the product.
      name: The name scope of the new operations.

    Returns:
      A scalar tensor of the dtype of `learning_rate`.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.noisy_linear_cosine_decay(0.1, step, decay_steps=10, initial_variance=1e-12)
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}).round(4) for n in (0, 5, 10)])
      0.1001 0.0251 1e-04
    """
    with name_scope(name, "NoisyLinearCosineDecay", [learning_rate, global_step]) as name:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps = math_ops.cast(decay_steps, rate.dtype)
        # All numbers are nodes before the first draw, whose seed counts nodes.
        variance, decay, periods, alpha, beta = (
            math_ops.cast(x, rate.dtype) for x in (initial_variance, variance_decay, num_periods, alpha, beta)
        )
        step = op("Minimum")(_step(global_step, rate), steps)
        line = (steps - step) / steps
        variance = variance / math_ops.pow(1.0 + step, decay)
        noisy = line + random_ops.random_normal(line.shape, stddev=op("Sqrt")(variance))
        done = step / steps
        cosine = 0.5 * (1.0 + op("Cos")(constant(math.pi, rate.dtype) * (2.0 * periods * done)))
        return math_ops.multiply(rate, (alpha + noisy) * cosine + beta, name=name)



def cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, alpha: Any = 0.0, name: Optional[str] = None
) -> Any:
    """Applies cosine decay from `learning_rate` to `alpha * learning_rate`.

    Args:
      learning_rate: The initial learning rate: a float or a scalar tensor.
      global_step: A scalar: the number of steps made so far.
      decay_steps: The number of steps of the decay.
      alpha: The final rate, as a fraction of `learning_rate`.
      name: The name scope of the new operations.

    Returns:
      A scalar tensor of the dtype of `learning_rate`.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.cosine_decay(0.1, step, decay_steps=10)
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}).round(4) for n in (0, 5, 10)])
      0.1 0.05 0.0
    """
    with name_scope(name, "CosineDecay", [learning_rate, global_step]):
        rate = convert_to_tensor(learning_rate, name="learning_rate")
        steps = math_ops.cast(decay_steps, rate.dtype)
        done = op("Minimum")(_step(global_step, rate), steps) / steps
        falling = 0.5 * (1.0 + op("Cos")(constant(math.pi, rate.dtype) * done))
        return math_ops.multiply(rate, (1 - alpha) * falling + alpha)


def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: Optional[str] = None,
) -> Any:
    """Applies linear decay to zero, multiplied by a cosine.

    Args:
      learning_rate: The initial learning rate: a float or a scalar tensor.
      global_step: A scalar: the number of steps made so far.
      decay_steps: The number of steps of the decay.
      num_periods: The number of periods of the cosine.
      alpha: A constant added to the linear part.
      beta: A constant added to the product.
      name: The name scope of the new operations.

    Returns:
      A scalar tensor of the dtype of `learning_rate`.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.linear_cosine_decay(0.1, step, decay_steps=10)
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}).round(4) for n in (0, 5, 10)])
      0.1001 0.0251 1e-04
    """
    with name_scope(name, "LinearCosineDecay", [learning_rate, global_step]) as name:
        rate = convert_to_tensor(learning_rate, name="learning_rate")
        steps = math_ops.cast(decay_steps, rate.dtype)
        step = op("Minimum")(_step(global_step, rate), steps)
        fraction = constant(2.0 * num_periods * math.pi, rate.dtype) * (step / steps)
        falling = (alpha + (steps - step) / steps) * (0.5 * (1.0 + op("Cos")(fraction))) + beta
        node_counts.also(4)  # Its numbers are cast.
        return math_ops.multiply(rate, falling, name=name)
