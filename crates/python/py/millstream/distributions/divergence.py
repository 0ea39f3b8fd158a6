"""`kl_divergence`, and `RegisterKL`, which registers the functions that compute it."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, Optional, Tuple

from millstream._engine import Tensor
from millstream.framework import control_dependencies, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, reduction_ops

_functions: Dict[Tuple[type, type], Callable[..., Any]] = {}


def _registered(a: type, b: type) -> Optional[Callable[..., Any]]:
    """Returns the function for two classes, or for the nearest of their bases."""
    above = [(i + k, (x, y)) for i, x in enumerate(inspect.getmro(a)) for k, y in enumerate(inspect.getmro(b))]
    found = [(distance, pair) for distance, pair in above if pair in _functions]
    return _functions[min(found, key=lambda item: item[0])[1]] if found else None


def kl_divergence(distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True, name: Optional[str] = None) -> Tensor:
    """Returns the Kullback-Leibler divergence `E_a[log a(x) - log b(x)]` of two distributions, in nats.

    Args:
      distribution_a: A distribution.
      distribution_b: A distribution of a class for which `RegisterKL` has a function.
      allow_nan_stats: If false, a result that is NaN is an error when the graph is run.
      name: The name scope of the operations.

    Returns:
      A tensor of the shape of the batches, broadcast against each other.

    Raises:
      NotImplementedError: No function is registered for the two classes.

    Example:
      >>> a, b = tf.distributions.Normal(0.0, 1.0), tf.distributions.Normal(1.0, 1.0)
      >>> print(tf.Session().run(tf.distributions.kl_divergence(a, b)))
      0.5
    """
    function = _registered(type(distribution_a), type(distribution_b))
    if function is None:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a type %s and distribution_b type %s: "
            "register a function with `tf.distributions.RegisterKL`"
            % (type(distribution_a).__name__, type(distribution_b).__name__)
        )
    with name_scope("KullbackLeibler"):
        result = function(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return result
        result = array_ops.identity(result, name="kl")
        is_number = op("LogicalNot")(reduction_ops.reduce_any(op("IsNan")(result)))
        text = "KL calculation between %s and %s returned NaN values (and was called with allow_nan_stats=False). Values:"
        words = text % (distribution_a.name, distribution_b.name)
        with control_dependencies([control_flow.assert_(is_number, [words, result])]):
            return array_ops.identity(result, name="checked_kl")


def cross_entropy(ref: Any, other: Any, allow_nan_stats: bool = True, name: Optional[str] = None) -> Tensor:
    """Returns the cross entropy of two distributions: the entropy of the first, and their divergence."""
    with name_scope(name, "cross_entropy"):
        return ref.entropy() + kl_divergence(ref, other, allow_nan_stats=allow_nan_stats)


class RegisterKL:
    """A decorator that registers a function as the `kl_divergence` of two classes.

    Args:
      dist_cls_a: The class of the first distribution.
      dist_cls_b: The class of the second.

    Raises:
      TypeError: What is decorated cannot be called.
      ValueError: The two classes have a function already.

    Example:
      >>> class Mine(tf.distributions.Normal):
      ...     pass
      >>> @tf.distributions.RegisterKL(Mine, Mine)
      ... def divergence(a, b, name=None):
      ...     return tf.constant(7.0)
      >>> print(tf.Session().run(tf.distributions.kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0))))
      7.0
    """

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(kl_fn):
            raise TypeError("kl_fn must be callable, received: %s" % kl_fn)
        if self._key in _functions:
            names = (self._key[0].__name__, self._key[1].__name__, _functions[self._key])
            raise ValueError("KL(%s || %s) has already been registered to: %s" % names)
        _functions[self._key] = kl_fn
        return kl_fn
