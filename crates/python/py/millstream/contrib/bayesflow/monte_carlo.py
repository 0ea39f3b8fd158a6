"""`tf.contrib.bayesflow.monte_carlo`: expectations of functions of random values, as means over samples."""

from __future__ import annotations

from typing import Any, Callable, Optional

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, name_scope, namespaces
from millstream.framework.op_functions import op
from millstream.ops import reduction_ops

__all__ = ["expectation", "expectation_importance_sampler", "expectation_importance_sampler_logspace"]

__dir__ = namespaces.dir_of(globals())

_Function = Callable[[Any], Any]


def _samples(distribution: Any, z: Any, n: Any, seed: Optional[int]) -> Tensor:
    if (n is None) == (z is None):
        raise ValueError(
            'Must specify exactly one of arguments "n" and "z".  Found: n = %s, z = %s: pass samples as `z`, or their number as `n`' % (n, z)
        )
    return distribution.sample(n, seed=seed) if n is not None else convert_to_tensor(z, name="z")


def expectation_importance_sampler(
    f: _Function,
    log_p: _Function,
    sampling_dist_q: Any,
    z: Any = None,
    n: Any = None,
    seed: Optional[int] = None,
    name: Optional[str] = "expectation_importance_sampler",
) -> Tensor:
    """Returns the mean of `f(z) p(z) / q(z)` over samples of `q`: about the expectation of `f` under `p`.

    Args:
      f: A function of samples.
      log_p: A function that returns the logarithm of the density of samples under `p`.
      sampling_dist_q: The distribution `q`.
      z: Samples of `q`; or
      n: how many to draw.
      seed: A seed for drawing them.
      name: A name for the operations.

    Raises:
      ValueError: Both `z` and `n` are given, or neither.

    Example:
      >>> q = tf.distributions.Normal(0.0, 1.0)
      >>> of = tf.contrib.bayesflow.monte_carlo.expectation_importance_sampler
      >>> print(tf.Session().run(of(tf.square, q.log_prob, q, z=[1.0, 3.0])))
      5.0
    """
    with name_scope(name, values=[z, n]):
        z = _samples(sampling_dist_q, z, n, seed)
        log_ratio = log_p(z) - sampling_dist_q.log_prob(z)
        # The ratios are taken relative to the largest, which may be beyond the range of floats.
        largest = op("StopGradient")(reduction_ops.reduce_max(log_ratio, axis=[0]))
        return reduction_ops.reduce_mean(f(z) * op("Exp")(log_ratio - largest), axis=[0]) * op("Exp")(largest)


def expectation_importance_sampler_logspace(
    log_f: _Function,
    log_p: _Function,
    sampling_dist_q: Any,
    z: Any = None,
    n: Any = None,
    seed: Optional[int] = None,
    name: Optional[str] = "expectation_importance_sampler_logspace",
) -> Tensor:
    """Returns the logarithm of the mean of `f(z) p(z) / q(z)` over samples of `q`, for a positive `f`.

    Args:
      log_f: A function that returns the logarithm of `f`.
      log_p: A function that returns the logarithm of the density of samples under `p`.
      sampling_dist_q: The distribution `q`.
      z: Samples of `q`; or
      n: how many to draw.
      seed: A seed for drawing them.
      name: A name for the operations.

    Raises:
      ValueError: Both `z` and `n` are given, or neither.

    Example:
      >>> q = tf.distributions.Normal(0.0, 1.0)
      >>> of = tf.contrib.bayesflow.monte_carlo.expectation_importance_sampler_logspace
      >>> print(tf.Session().run(of(tf.zeros_like, q.log_prob, q, z=[1.0, 3.0])))
      0.0
    """
    with name_scope(name, values=[z, n]):
        z = _samples(sampling_dist_q, z, n, seed)
        log_values = log_f(z) + log_p(z) - sampling_dist_q.log_prob(z)
        largest = op("StopGradient")(reduction_ops.reduce_max(log_values, axis=[0]))
        return op("Log")(reduction_ops.reduce_mean(op("Exp")(log_values - largest), axis=[0])) + largest


def expectation(
    f: _Function,
    samples: Any,
    log_prob: Optional[_Function] = None,
    use_reparametrization: bool = True,
    axis: Any = 0,
    keep_dims: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """Returns the mean of `f` over samples, whose gradient is an estimate of that of the expectation.

    Args:
      f: A function of samples.
      samples: Samples of a distribution.
      log_prob: A function that returns the logarithm of the density of samples; without
        `use_reparametrization`, for the gradient.
      use_reparametrization: Whether the samples are a differentiable function of the distribution's
        parameters. If not, the gradient uses that of `log_prob`.
      axis: The axes of samples, over which the mean is taken.
      keep_dims: Whether to keep these axes, with size 1.
      name: A name for the operations.

    Raises:
      ValueError: `f` is not callable; or `log_prob` is not, and `use_reparametrization` is false.

    Example:
      >>> print(tf.Session().run(tf.contrib.bayesflow.monte_carlo.expectation(tf.square, tf.constant([1.0, 3.0]))))
      5.0
    """
    with name_scope(name, "expectation", [samples]):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        if use_reparametrization:
            return reduction_ops.reduce_mean(f(samples), axis=axis, keepdims=keep_dims)
        if not callable(log_prob):
            raise ValueError("`log_prob` must be a callable function.")
        fixed = op("StopGradient")(samples)
        density = log_prob(fixed)
        # The factor is one, and its gradient that of the logarithm of the density.
        values = f(fixed) * op("Exp")(density - op("StopGradient")(density))
        return reduction_ops.reduce_mean(values, axis=axis, keepdims=keep_dims)
