"""Learning rates that change with the step."""

from __future__ import annotations

import functools
import math
from typing import Any, Optional, Sequence

import millstream as tf


def _step(global_step: Any, like: Any) -> Any:
    if global_step is None:
        raise ValueError("global_step is required for this decay.")
    return tf.cast(global_step, like.dtype)


def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: Optional[str] = None,
) -> Any:
    """`learning_rate * decay_rate ** (step / decay_steps)`.

    Args:
      learning_rate: The first rate: a float, or a scalar tensor.
      global_step: How many steps were made: a scalar.
      decay_steps: How many steps each factor takes.
      decay_rate: The factor.
      staircase: Whether `step / decay_steps` is cut to a whole number.
      name: The name scope of what is made.

    Returns:
      A scalar tensor of the dtype of `learning_rate`.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.exponential_decay(0.1, step, decay_steps=10, decay_rate=0.5)
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}).round(4) for n in (0, 5, 10)])
      0.1 0.0707 0.05
    """
    with tf.name_scope(name, "ExponentialDecay", [learning_rate, global_step, decay_steps, decay_rate]) as name:
        rate = tf.convert_to_tensor(learning_rate, name="learning_rate")
        p = _step(global_step, rate) / tf.cast(decay_steps, rate.dtype)
        return tf.multiply(rate, tf.pow(tf.cast(decay_rate, rate.dtype), tf.floor(p) if staircase else p), name=name)


def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: Optional[str] = None,
) -> Any:
    """`learning_rate * exp(-decay_rate * step / decay_steps)`.

    Args:
      learning_rate: The first rate: a float, or a scalar tensor.
      global_step: How many steps were made: a scalar.
      decay_steps: How many steps one decay takes.
      decay_rate: How fast it falls.
      staircase: Whether `step / decay_steps` is cut to a whole number.
      name: The name scope of what is made.

    Returns:
      A scalar tensor of the dtype of `learning_rate`.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.natural_exp_decay(0.1, step, decay_steps=10, decay_rate=0.5)
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}).round(4) for n in (0, 5, 10)])
      0.1 0.0779 0.0607
    """
    rate = tf.exp(tf.negative(tf.convert_to_tensor(decay_rate)))
    return exponential_decay(learning_rate, global_step, decay_steps, rate, staircase, name or "natural_exp_decay")


def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: Optional[str] = None,
) -> Any:
    """`learning_rate / (1 + decay_rate * step / decay_steps)`.

    Args:
      learning_rate: The first rate: a float, or a scalar tensor.
      global_step: How many steps were made: a scalar.
      decay_steps: How many steps one decay takes.
      decay_rate: How fast it falls.
      staircase: Whether `step / decay_steps` is cut to a whole number.
      name: The name scope of what is made.

    Returns:
      A scalar tensor of the dtype of `learning_rate`.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.inverse_time_decay(0.1, step, decay_steps=10, decay_rate=1.0)
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}).round(4) for n in (0, 5, 10)])
      0.1 0.0667 0.05
    """
    with tf.name_scope(name, "InverseTimeDecay", [learning_rate, global_step, decay_rate]) as name:
        rate = tf.convert_to_tensor(learning_rate, name="learning_rate")
        p = _step(global_step, rate) / tf.cast(decay_steps, rate.dtype)
        return tf.divide(rate, 1 + tf.cast(decay_rate, rate.dtype) * (tf.floor(p) if staircase else p), name=name)


def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: Optional[str] = None,
) -> Any:
    """From `learning_rate` down to `end_learning_rate` in `decay_steps`.

    Args:
      learning_rate: The first rate: a float, or a scalar tensor.
      global_step: How many steps were made: a scalar.
      decay_steps: How many steps it takes.
      end_learning_rate: The last rate.
      power: The power of what is left of the steps; 1 is a line.
      cycle: Whether it goes up again after that, each time for longer.
      name: The name scope of what is made.

    Returns:
      A scalar tensor of the dtype of `learning_rate`.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.polynomial_decay(0.1, step, decay_steps=10, end_learning_rate=0.0)
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}).round(4) for n in (0, 5, 10)])
      0.1 0.05 0.0
    """
    with tf.name_scope(name, "PolynomialDecay", [learning_rate, global_step, decay_steps]) as name:
        rate = tf.convert_to_tensor(learning_rate, name="learning_rate")
        end = tf.cast(end_learning_rate, rate.dtype)
        step, steps = _step(global_step, rate), tf.cast(decay_steps, rate.dtype)
        if cycle:
            turns = tf.cond(tf.equal(step, 0), lambda: tf.ones([], rate.dtype), lambda: tf.ceil(step / steps))
            steps = steps * turns
        else:
            step = tf.minimum(step, steps)
        return tf.add((rate - end) * tf.pow(1 - step / steps, tf.cast(power, rate.dtype)), end, name=name)


def piecewise_constant(x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: Optional[str] = None) -> Any:
    """`values[i]` where `x` is above `boundaries[i - 1]` and at most `boundaries[i]`.

    Args:
      x: A scalar, such as the global step.
      boundaries: A list of numbers that grow.
      values: A list with one more, of one dtype.
      name: The name scope of what is made.

    Returns:
      A scalar tensor.

    Raises:
      ValueError: The lists do not fit, or the values differ in dtype.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.piecewise_constant(step, [100, 200], [1.0, 0.5, 0.25])
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}) for n in (100, 101, 500)])
      1.0 0.5 0.25
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    with tf.name_scope(name, "PiecewiseConstant", [x, boundaries, values]):
        x = tf.convert_to_tensor(x)
        limits = [_limit(b, x) for b in boundaries]
        kinds = [tf.convert_to_tensor(v) for v in values]
        if any(v.dtype != kinds[0].dtype for v in kinds):
            raise ValueError("Values must have elements all with the same dtype")
        pairs = [(x <= limits[0], lambda: kinds[0]), (x > limits[-1], lambda: kinds[-1])]
        for low, high, value in zip(limits[:-1], limits[1:], kinds[1:-1]):
            pairs.append(((x > low) & (x <= high), functools.partial(_same, value)))
        return tf.case(pairs, lambda: kinds[0], exclusive=True)


def _same(value: Any) -> Any:
    return value


def _limit(boundary: Any, x: Any) -> Any:
    boundary = tf.convert_to_tensor(boundary)
    if boundary.dtype.base_dtype == x.dtype.base_dtype:
        return boundary
    if boundary.dtype == tf.int32 and x.dtype.base_dtype == tf.int64:
        return tf.cast(boundary, tf.int64)
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
    """Half a cosine again and again, each `t_mul` times as long and `m_mul` times as high as the one before.

    Args:
      learning_rate: The first rate: a float, or a scalar tensor.
      global_step: How many steps were made: a scalar.
      first_decay_steps: How many steps the first takes.
      t_mul: How much longer the next is.
      m_mul: How high it begins.
      alpha: How much is left at each end.
      name: The name scope of what is made.

    Returns:
      A scalar tensor of the dtype of `learning_rate`.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.cosine_decay_restarts(0.1, step, first_decay_steps=10, m_mul=0.5)
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}).round(4) for n in (0, 5, 10)])
      0.1 0.05 0.05
    """
    with tf.name_scope(name, "SGDRDecay", [learning_rate, global_step]) as name:
        rate = tf.convert_to_tensor(learning_rate, name="initial_learning_rate")
        first = tf.cast(first_decay_steps, rate.dtype)
        longer, higher, alpha = (tf.cast(v, rate.dtype) for v in (t_mul, m_mul, alpha))
        done = _step(global_step, rate) / first

        def restarts(geometric: bool) -> Any:
            if not geometric:
                n = tf.floor(done)
                return n, done - n
            n = tf.floor(tf.log(1.0 - done * (1.0 - longer)) / tf.log(longer))
            before = (1.0 - longer**n) / (1.0 - longer)
            return n, (done - before) / longer**n

        n, fraction = tf.cond(tf.equal(longer, 1.0), lambda: restarts(False), lambda: restarts(True))
        falling = 0.5 * higher**n * (1.0 + tf.cos(tf.constant(math.pi, rate.dtype) * fraction))
        return tf.multiply(rate, (1 - alpha) * falling + alpha, name=name)


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
    """`linear_cosine_decay` with noise on the line, whose variance falls with the steps.

    Args:
      learning_rate: The first rate: a float, or a scalar tensor.
      global_step: How many steps were made: a scalar.
      decay_steps: How many steps it takes.
      initial_variance: The variance at first.
      variance_decay: How fast it falls.
      num_periods: How many periods the cosine has.
      alpha: What is added to the line.
      beta: What is added to all.
      name: The name scope of what is made.

    Returns:
      A scalar tensor of the dtype of `learning_rate`.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.noisy_linear_cosine_decay(0.1, step, decay_steps=10, initial_variance=1e-12)
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}).round(4) for n in (0, 5, 10)])
      0.1001 0.0251 1e-04
    """
    with tf.name_scope(name, "NoisyLinearCosineDecay", [learning_rate, global_step]) as name:
        rate = tf.convert_to_tensor(learning_rate, name="learning_rate")
        steps = tf.cast(decay_steps, rate.dtype)
        step = tf.minimum(_step(global_step, rate), steps)
        line = (steps - step) / steps
        variance = initial_variance / tf.pow(1.0 + step, tf.cast(variance_decay, rate.dtype))
        noisy = line + tf.random_normal(line.shape, stddev=tf.sqrt(variance))
        cosine = 0.5 * (1.0 + tf.cos(tf.constant(2.0 * num_periods * math.pi, rate.dtype) * (step / steps)))
        return tf.multiply(rate, (alpha + noisy) * cosine + beta, name=name)


def cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, alpha: Any = 0.0, name: Optional[str] = None
) -> Any:
    """Half a cosine from `learning_rate` down to `alpha * learning_rate`.

    Args:
      learning_rate: The first rate: a float, or a scalar tensor.
      global_step: How many steps were made: a scalar.
      decay_steps: How many steps it takes.
      alpha: How much is left in the end.
      name: The name scope of what is made.

    Returns:
      A scalar tensor of the dtype of `learning_rate`.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.cosine_decay(0.1, step, decay_steps=10)
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}).round(4) for n in (0, 5, 10)])
      0.1 0.05 0.0
    """
    with tf.name_scope(name, "CosineDecay", [learning_rate, global_step]):
        rate = tf.convert_to_tensor(learning_rate, name="learning_rate")
        steps = tf.cast(decay_steps, rate.dtype)
        done = tf.minimum(_step(global_step, rate), steps) / steps
        falling = 0.5 * (1.0 + tf.cos(tf.constant(math.pi, rate.dtype) * done))
        return tf.multiply(rate, (1 - alpha) * falling + alpha)


def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: Optional[str] = None,
) -> Any:
    """A line down to zero times a cosine.

    Args:
      learning_rate: The first rate: a float, or a scalar tensor.
      global_step: How many steps were made: a scalar.
      decay_steps: How many steps it takes.
      num_periods: How many periods the cosine has.
      alpha: What is added to the line.
      beta: What is added to all.
      name: The name scope of what is made.

    Returns:
      A scalar tensor of the dtype of `learning_rate`.

    Example:
      >>> step = tf.placeholder(tf.int32, [])
      >>> rate = tf.train.linear_cosine_decay(0.1, step, decay_steps=10)
      >>> sess = tf.Session()
      >>> print(*[sess.run(rate, {step: n}).round(4) for n in (0, 5, 10)])
      0.1001 0.0251 1e-04
    """
    with tf.name_scope(name, "LinearCosineDecay", [learning_rate, global_step]) as name:
        rate = tf.convert_to_tensor(learning_rate, name="learning_rate")
        steps = tf.cast(decay_steps, rate.dtype)
        step = tf.minimum(_step(global_step, rate), steps)
        fraction = tf.constant(2.0 * num_periods * math.pi, rate.dtype) * (step / steps)
        falling = (alpha + (steps - step) / steps) * (0.5 * (1.0 + tf.cos(fraction))) + beta
        return tf.multiply(rate, falling, name=name)
