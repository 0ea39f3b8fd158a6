"""Clipping of tensors: by value, by norm, and by global norm."""

from __future__ import annotations

import collections.abc
from typing import Any, List, Optional

from millstream._engine import Tensor
from millstream.framework import IndexedSlices, constant, convert_to_tensor, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops, math_ops, reduction_ops

__all__ = [
    "clip_by_average_norm",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "global_norm",
]


def _values(t: Any) -> Tensor:
    return convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name="t")


def _like(t: Any, values: Tensor) -> Any:
    """Returns new values in the form of `t`: a tensor, or the same rows."""
    return IndexedSlices(values, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else values


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: Optional[str] = None) -> Any:
    """Clips values to the range from `clip_value_min` to `clip_value_max`.

    Args:
      t: A tensor of numbers, or `IndexedSlices`.
      clip_value_min: The lower bound: a scalar, or a tensor that broadcasts to the shape of `t`.
      clip_value_max: The upper bound, likewise.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same shape and dtype; `IndexedSlices` of the same rows for `IndexedSlices`.

    Example:
      >>> print(tf.Session().run(tf.clip_by_value([-2, 0, 5], -1, 1)))
      [-1  0  1]
    """
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as name:
        values = _values(t)
        least = op("Minimum")(values, clip_value_max)
        values.shape.merge_with(least.shape)
        most = op("Maximum")(least, clip_value_min, name=name)
        values.shape.merge_with(most.shape)
        return _like(t, most)


def _check_sequence(t_list: Any) -> None:
    if not isinstance(t_list, collections.abc.Sequence) or isinstance(t_list, str):
        raise TypeError("t_list should be a sequence: a list of tensors, not %r" % (t_list,))


def global_norm(t_list: Any, name: Optional[str] = None) -> Tensor:
    """Returns the global norm: the norm of all tensors together.

    Args:
      t_list: A list of tensors, `IndexedSlices` and None.
      name: The name scope of the new operations.

    Returns:
      A scalar of their dtype; a zero of float32 if there are no tensors.

    Example:
      >>> print(tf.Session().run(tf.global_norm([tf.constant([3.0]), tf.constant([4.0])])))
      5.0
    """
    _check_sequence(t_list)
    with name_scope(name, "global_norm", []) as name:
        values = [t.values if isinstance(t, IndexedSlices) else convert_to_tensor(t) for t in t_list if t is not None]
        # The norm of nothing is a zero of float32.
        halves = op("Pack")([op("L2Loss")(v) for v in values], name="stack") if values else convert_to_tensor([])
        total = reduction_ops.reduce_sum(halves)
        return op("Sqrt")(total * constant(2.0, total.dtype), name="global_norm")


def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None, name: Optional[str] = None) -> Any:
    """Scales tensors so that their global norm is at most `clip_norm`.

    Args:
      t_list: A list of tensors, `IndexedSlices` and None.
      clip_norm: A scalar.
      use_norm: The global norm, if known.
      name: The name scope of the new operations.

    Returns:
      A pair: the list of scaled tensors, and the global norm before, a scalar.

    Example:
      >>> (a, b), norm = tf.clip_by_global_norm([tf.constant([3.0]), tf.constant([4.0])], clip_norm=1.0)
      >>> print(*tf.Session().run([a, b, norm]))
      [0.6] [0.8] 5.0
    """
    _check_sequence(t_list)
    t_list = list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with name_scope(name, "clip_by_global_norm", []) as name:
        inverse = 1.0 / use_norm
        scale = clip_norm * op("Minimum")(inverse, constant(1.0, use_norm.dtype) / clip_norm)
        scale = op("Select")(op("IsFinite")(use_norm), scale, convert_to_tensor(float("nan"), use_norm.dtype))
        values: List[Any] = [None if t is None else (t.values if isinstance(t, IndexedSlices) else t) * scale for t in t_list]
        values = [None if v is None else op("Identity")(v, name="%s_%d" % (name, i)) for i, v in enumerate(values)]
    return [_like(t, v) for v, t in zip(values, t_list)], use_norm


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: Optional[str] = None) -> Any:
    """Scales `t` so that its norm is at most `clip_norm`.

    Args:
      t: A tensor of floats, or `IndexedSlices`.
      clip_norm: A scalar.
      axes: The axes to compute norms over; by default all.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same shape and dtype; `IndexedSlices` of the same rows for `IndexedSlices`.

    Example:
      >>> print(tf.Session().run(tf.clip_by_norm([3.0, 4.0], 1.0)))
      [0.6 0.8]
    """
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as name:
        values = _values(t)
        squares = reduction_ops.reduce_sum(values * values, axes, True)
        positive = squares > 0
        norm = op("Select")(positive, op("Sqrt")(op("Select")(positive, squares, op("ZerosLike")(squares) + 1)), squares)
        clipped = values * clip_norm
        values.shape.merge_with(clipped.shape)
        return _like(t, op("Identity")(clipped / op("Maximum")(norm, clip_norm), name=name))


def clip_by_average_norm(t: Any, clip_norm: Any, name: Optional[str] = None) -> Tensor:
    """Scales `t` so that its norm divided by its number of elements is at most `clip_norm`.

    Args:
      t: A tensor of floats.
      clip_norm: A scalar.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.clip_by_average_norm([3.0, 4.0], 0.5)))
      [0.6 0.8]
    """
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as name:
        t = convert_to_tensor(t, name="t")
        n = math_ops.cast(array_ops.size(t), t.dtype)
        inverse = op("Rsqrt")(reduction_ops.reduce_sum(t * t)) * n
        return op("Mul")(t, clip_norm * op("Minimum")(inverse, convert_to_tensor(1.0, t.dtype) / clip_norm), name=name)
