"""Weights of losses and metrics: scalars, or tensors that broadcast to the values without a new dimension.

Each dimension has the size of the values or 1. Shapes that are not known while the graph is built are checked
in the run.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from millstream._engine import Operation, Tensor
from millstream.framework import control_dependencies, convert_to_tensor, name_scope, node_counts
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, math_ops, reduction_ops

_CANNOT = "weights can not be broadcast to values."


def assert_broadcastable(weights: Any, values: Any) -> Operation:
    """Returns an operation that fails unless the weights fit the values.

    Raises:
      ValueError: The static shapes do not fit.
    """
    with name_scope(None, "assert_broadcastable", [weights, values]) as scope:
        with name_scope(None, "weights", [weights]) as weights_scope:
            weights = convert_to_tensor(weights, name=weights_scope)
            weights_shape = array_ops.shape(weights, name="shape")
            weights_rank = array_ops.rank(weights, name="rank")
        with name_scope(None, "values", [values]) as values_scope:
            values = convert_to_tensor(values, name=values_scope)
            values_shape = array_ops.shape(values, name="shape")
            values_rank = array_ops.rank(values, name="rank")
        w, v = weights.shape, values.shape
        if w.ndims == 0:
            return control_flow.no_op(name="static_scalar_check_success")
        if w.ndims is not None and v.ndims is not None:
            if w.ndims != v.ndims:
                raise ValueError(f"{_CANNOT} values.rank={v.ndims}. weights.rank={w.ndims}. values.shape={v}. weights.shape={w}.")
            if w.is_fully_defined() and v.is_fully_defined():
                for i, (a, b) in enumerate(zip(w.as_list(), v.as_list())):
                    if a not in (1, b):
                        shapes = [np.array(shape.as_list()) for shape in (v, w)]
                        raise ValueError(f"{_CANNOT} Mismatch at dim {i}. values.shape={shapes[0]} weights.shape={shapes[1]}.")
                return control_flow.no_op(name="static_dims_check_success")
        node_counts.also(8)  # TensorFlow looks for dimensions that do not fit as a set.
        is_scalar = math_ops.equal(0, weights_rank, name="is_scalar")
        same_rank = math_ops.equal(weights_rank, values_rank)

        def dims_fit() -> Tensor:
            fit = op("LogicalOr")(math_ops.equal(weights_shape, 1), math_ops.equal(weights_shape, values_shape))
            return reduction_ops.reduce_all(fit)

        fits = control_flow.cond(
            is_scalar,
            lambda: is_scalar,
            lambda: control_flow.cond(same_rank, dims_fit, lambda: same_rank, name="has_valid_nonscalar_shape"),
            name="is_valid_shape",
        )
        told = [_CANNOT, "weights.shape=", weights.name, weights_shape, "values.shape=", values.name, values_shape, "is_scalar=", is_scalar]
        return control_flow.assert_(fits, told, name=scope)


def broadcast_weights(weights: Any, values: Any) -> Tensor:
    """Returns the weights in the shape of the values.

    Raises:
      ValueError: The static shapes do not fit.
    """
    with name_scope(None, "broadcast_weights", [weights, values]) as scope:
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, dtype=values.dtype.base_dtype, name="weights")
        if weights.shape.is_fully_defined() and values.shape.is_fully_defined() and weights.shape == values.shape:
            return weights
        with control_dependencies([assert_broadcastable(weights, values)]):
            return math_ops.multiply(weights, array_ops.ones_like(values), name=scope)


def _has_last_of_one(x: Tensor) -> bool:
    """Whether the last dimension may be 1."""
    return x.shape.ndims is None or (0 < x.shape.ndims and x.shape.as_list()[-1] in (1, None))


def _cond(test: Any, then: Callable[[], Tensor], otherwise: Callable[[], Tensor]) -> Tensor:
    return control_flow.cond(test, then, otherwise)


def squeeze_pair(labels: Any, predictions: Any, difference: int = 0) -> Any:
    """Drops a last dimension of 1 from one of both, if that makes the ranks differ as expected.

    Args:
      labels: A tensor.
      predictions: A tensor.
      difference: The expected rank of `predictions` less that of `labels`.

    Returns:
      A pair: `labels` and `predictions`.
    """
    labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
    if labels.shape.ndims is not None and predictions.shape.ndims is not None:
        found = predictions.shape.ndims - labels.shape.ndims
        if found == difference + 1 and _has_last_of_one(predictions):
            predictions = array_ops.squeeze(predictions, [-1])
        elif found == difference - 1 and _has_last_of_one(labels):
            labels = array_ops.squeeze(labels, [-1])
        return labels, predictions
    ranks = array_ops.rank(predictions) - array_ops.rank(labels)
    wide, narrow = predictions, labels
    if _has_last_of_one(wide):
        predictions = _cond(math_ops.equal(difference + 1, ranks), lambda: array_ops.squeeze(wide, [-1]), lambda: wide)
    if _has_last_of_one(narrow):
        labels = _cond(math_ops.equal(difference - 1, ranks), lambda: array_ops.squeeze(narrow, [-1]), lambda: narrow)
    return labels, predictions


def fit_rank(weights: Any, values: Tensor, expand: bool = True) -> Tensor:
    """Adds or drops a last dimension of 1 if the weights then have the rank of the values; scalars stay.

    Args:
      weights: The weights.
      values: The values.
      expand: If false, no dimension is added.

    Returns:
      A tensor.
    """
    weights = convert_to_tensor(weights)
    if weights.shape.ndims == 0:
        return weights
    if weights.shape.ndims is not None and values.shape.ndims is not None:
        more = weights.shape.ndims - values.shape.ndims
        if more == 1 and _has_last_of_one(weights):
            return array_ops.squeeze(weights, [-1])
        return array_ops.expand_dims(weights, [-1]) if more == -1 and expand else weights
    rank = array_ops.rank(weights)
    more = rank - array_ops.rank(values)

    def expanded() -> Tensor:
        if not expand:
            return array_ops.identity(weights)
        return _cond(math_ops.equal(more, -1), lambda: array_ops.expand_dims(weights, [-1]), lambda: weights)

    def squeezed() -> Tensor:
        return array_ops.squeeze(weights, [-1]) if _has_last_of_one(weights) else weights

    return _cond(math_ops.equal(rank, 0), lambda: weights, lambda: _cond(math_ops.equal(more, 1), squeezed, expanded))
