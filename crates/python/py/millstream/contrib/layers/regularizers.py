"""Regularizers: functions from a variable to a term of the loss."""

from __future__ import annotations

import numbers
from typing import Any, Callable, List, Optional, Sequence

from millstream.framework import add_to_collection, constant, convert_to_tensor, get_collection, logging, name_scope
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.ops import math_ops, reduction_ops

__all__ = ["apply_regularization", "l1_l2_regularizer", "l1_regularizer", "l2_regularizer", "sum_regularizer"]

Regularizer = Callable[[Any], Any]


def _scaled(scale: Any, scope: Optional[str], kind: str, measure: Callable[[Any], Any], end: str = "") -> Regularizer:
    """Returns a function that computes `scale * measure(weights)`, or nothing if the scale is 0."""
    if isinstance(scale, numbers.Integral):
        raise ValueError("scale cannot be an integer: %s" % scale)
    if isinstance(scale, numbers.Real):
        if scale < 0.0:
            raise ValueError("Setting a scale less than 0 on a regularizer: %g%s" % (scale, end))
        if scale == 0.0:
            logging.info("Scale of 0 disables regularizer.")
            return lambda _: None

    def regularizer(weights: Any) -> Any:
        with name_scope(scope, kind, [weights]) as name:
            factor = convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return math_ops.multiply(factor, measure(weights), name=name)

    return regularizer


def l1_regularizer(scale: Any, scope: Optional[str] = None) -> Regularizer:
    """Returns a regularizer: `scale` times the sum of absolute values.

    Args:
      scale: A float or a scalar tensor; 0.0 disables the regularizer.
      scope: The name scope of its operations.

    Returns:
      A function of a variable.

    Raises:
      ValueError: The scale is an integer or negative.

    Example:
      >>> term = tf.contrib.layers.l1_regularizer(0.5)(tf.constant([1.0, -3.0]))
      >>> print(tf.Session().run(term))
      2.0
    """
    return _scaled(scale, scope, "l1_regularizer", lambda weights: reduction_ops.reduce_sum(math_ops.abs(weights)))


def l2_regularizer(scale: Any, scope: Optional[str] = None) -> Regularizer:
    """Returns a regularizer: `scale` times half the sum of squares.

    Args:
      scale: A float or a scalar tensor; 0.0 disables the regularizer.
      scope: The name scope of its operations.

    Returns:
      A function of a variable.

    Raises:
      ValueError: The scale is an integer or negative.

    Example:
      >>> term = tf.contrib.layers.l2_regularizer(0.5)(tf.constant([1.0, -3.0]))
      >>> print(tf.Session().run(term))
      2.5
    """
    return _scaled(scale, scope, "l2_regularizer", lambda weights: op("L2Loss")(convert_to_tensor(weights)), ".")


def l1_l2_regularizer(scale_l1: Any = 1.0, scale_l2: Any = 1.0, scope: Optional[str] = None) -> Optional[Regularizer]:
    """Returns the sum of an `l1_regularizer` and an `l2_regularizer`.

    Args:
      scale_l1: The scale of the first; 0.0 leaves it out.
      scale_l2: The scale of the second; 0.0 leaves it out.
      scope: The name scope of the operations.

    Returns:
      A function of a variable.

    Raises:
      ValueError: A scale is an integer or negative.

    Example:
      >>> term = tf.contrib.layers.l1_l2_regularizer(0.5, 0.5)(tf.constant([1.0, -3.0]))
      >>> print(tf.Session().run(term))
      4.5
    """
    for scale, called in ((scale_l1, "scale_l1"), (scale_l2, "scale_l2")):
        if isinstance(scale, numbers.Integral):
            raise ValueError("%s cannot be an integer: %s" % (called, scale))
    scope = scope or "l1_l2_regularizer"
    if isinstance(scale_l1, numbers.Real) and scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if isinstance(scale_l2, numbers.Real) and scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=scope)


def sum_regularizer(regularizer_list: Sequence[Optional[Regularizer]], scope: Optional[str] = None) -> Optional[Regularizer]:
    """Returns the sum of several regularizers.

    Args:
      regularizer_list: A list of regularizers; None is left out.
      scope: The name scope of the operations.

    Returns:
      A function of a variable; None if there are no regularizers.

    Example:
      >>> both = tf.contrib.layers.sum_regularizer([tf.reduce_sum, tf.reduce_max])
      >>> print(tf.Session().run(both(tf.constant([1.0, 3.0]))))
      7.0
    """
    present = [r for r in regularizer_list if r is not None]
    if not present:
        return None

    def regularizer(weights: Any) -> Any:
        with name_scope(scope, "sum_regularizer", [weights]) as name:
            terms = [t for t in (r(weights) for r in present) if t is not None]
            return math_ops.add_n(terms, name=name) if terms else None

    return regularizer


def apply_regularization(regularizer: Regularizer, weights_list: Optional[List[Any]] = None) -> Any:
    """Returns the sum of a regularizer over variables, and adds it to the collection `regularization_losses`.

    Args:
      regularizer: A function from a variable to a scalar, or to None.
      weights_list: A list of variables; by default the collection `weights`.

    Returns:
      A scalar tensor.

    Raises:
      ValueError: There are no variables, or a result is not a scalar.

    Example:
      >>> w = tf.get_variable("w", initializer=[1.0, 2.0])
      >>> total = tf.contrib.layers.apply_regularization(tf.reduce_sum, [w, w])
      >>> with tf.Session() as sess:
      ...     sess.run(w.initializer)
      ...     print(sess.run(total))
      6.0
    """
    weights_list = weights_list or get_collection(GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with name_scope("get_regularization_penalty", values=weights_list) as scope:
        terms = [regularizer(w) for w in weights_list]
        terms = [constant(0.0) if t is None else t for t in terms]
        for term in terms:
            if term.get_shape().ndims != 0:
                raise ValueError("regularizer must return a scalar Tensor instead of a Tensor with rank %d." % term.get_shape().ndims)
        total = math_ops.add_n(terms, name=scope)
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total
