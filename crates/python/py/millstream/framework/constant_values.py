"""Values of tensors that are known without running a graph."""

from __future__ import annotations

from typing import Any, Callable, Dict

import numpy as np

from millstream._engine import Tensor
from millstream.framework import shapes


def constant_value(tensor: Any, partial: bool = False) -> Any:
    """Returns the value of a tensor as an array, if it is known without running a graph.

    Args:
      tensor: A tensor.
      partial: If true, a `Pack` of which some parts are known is an array of objects, with None for the
        other parts.

    Returns:
      An array, or None.

    Example:
      >>> x = tf.zeros([2, 3])
      >>> print(tf.get_static_value(tf.shape(x)))
      [2 3]
    """
    if not isinstance(tensor, Tensor):
        return None
    value = tensor.graph._known_value(tensor)
    if isinstance(value, bytes):
        value = np.array(value, object)
    if value is None and tensor.op.type in _FOLDED:
        parts = [constant_value(t) for t in tensor.op.inputs]
        if all(p is not None for p in parts):
            value = _FOLDED[tensor.op.type](tensor.dtype.as_numpy_dtype, *parts)
    if value is None and partial and tensor.op.type == "Pack" and tensor.op.get_attr("axis") == 0:
        value = _rows([constant_value(t, True) for t in tensor.op.inputs])
    return value


def _rows(rows: Any) -> np.ndarray:
    """Returns rows as an array of objects: of elements, if all rows are known and of one shape."""
    if all(r is not None and r.shape == rows[0].shape for r in rows):
        return np.array([r.astype(object) for r in rows], object)
    made = np.empty(len(rows), object)
    made[:] = [r.item() if r is not None and not r.shape else r for r in rows]
    return made


# Ops that TensorFlow also evaluates, beyond those that the engine's shape rules evaluate.
_FOLDED: Dict[str, Callable[..., Any]] = {
    "Cast": lambda dtype, x: np.asarray(x).astype(dtype),
    "Equal": lambda dtype, x, y: np.equal(x, y),
    "NotEqual": lambda dtype, x, y: np.not_equal(x, y),
}


# Ops whose values TensorFlow 1.15 knows while the graph is built, and the inputs that must be known for them.
_ALWAYS_KNOWN = frozenset(["Const", "Shape", "ShapeN", "Size", "Rank"])
_KNOWN_BY_INPUTS = frozenset(["Range", "Cast", "Concat", "ConcatV2", "Pack", "Fill", "Equal", "NotEqual"])


def value_to_check(tensor: Any) -> Any:
    """Returns the value of a tensor if TensorFlow also knows it while the graph is built, or None.

    Checks that fail in TensorFlow's run fail in the run here, where programs expect them.
    """
    return constant_value(tensor) if _known_to_all(tensor) else None


def _known_to_all(tensor: Any) -> bool:
    if not isinstance(tensor, Tensor):
        return False
    kind = tensor.op.type
    return kind in _ALWAYS_KNOWN or (kind in _KNOWN_BY_INPUTS and all(map(_known_to_all, tensor.op.inputs)))


def constant_value_as_shape(tensor: Tensor) -> shapes.TensorShape:
    """Returns the static shape that an integer vector holds."""
    value = constant_value(tensor)
    if value is not None:
        if np.ndim(value) == 0:
            if value == -1:
                return shapes.TensorShape(None)
            raise ValueError("Received a scalar value '%s' as shape; require a statically known scalar with value '-1' to describe an unknown shape." % value)
        return shapes.TensorShape([None if d < 0 else int(d) for d in value])
    if tensor.shape.ndims == 0:
        raise ValueError("Received a scalar with unknown value as shape; require a statically known scalar with value '-1' to describe an unknown shape.")
    n = shapes.dimension_value(tensor.shape.with_rank(1)[0])
    rule = _PARTS_OF_SHAPES.get(tensor.op.type)
    found = rule(tensor.op) if rule else None
    return shapes.TensorShape(None if n is None else [None] * n) if found is None else found


def _packed_shape(op: Any) -> Any:
    values = [constant_value(t) for t in op.inputs]
    if any(t.shape.ndims != 0 for t in op.inputs):
        return None
    return shapes.TensorShape([None if v is None or v == -1 else int(v) for v in values])


def _joined_shape(op: Any) -> Any:
    joined = shapes.TensorShape([])
    for part in op.inputs[1:] if op.type == "Concat" else op.inputs[:-1]:
        joined = joined.concatenate(constant_value_as_shape(part))
    return joined


def _sliced_shape(op: Any) -> Any:
    bounds = [constant_value(t) for t in op.inputs[1:]]
    masks = {name: op.get_attr(name) for name in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    whole = constant_value_as_shape(op.inputs[0])
    if any(b is None or len(b) != 1 for b in bounds) or any(masks.pop(m) for m in list(masks)[2:]) or whole.dims is None:
        return None
    begin, end, step = (int(b[0]) for b in bounds)
    return shapes.TensorShape(whole.dims[slice(None if masks["begin_mask"] else begin, None if masks["end_mask"] else end, step)])


# The ops through which TensorFlow follows a shape of which only parts are known.
_PARTS_OF_SHAPES: Dict[str, Callable[[Any], Any]] = {
    "Shape": lambda op: op.inputs[0].shape,
    "Pack": _packed_shape,
    "Concat": _joined_shape,
    "ConcatV2": _joined_shape,
    "StridedSlice": _sliced_shape,
}


def constant_value_of_tensor_util(tensor: Any, partial: bool = False) -> Any:
    """Returns what TensorFlow's `tensor_util.constant_value` returns: the value of few ops, as an array.

    The engine knows more values: `tf.constant(1) + 1`, for example. Programs branch on the difference.
    """
    if not isinstance(tensor, Tensor):
        return constant_value(tensor) if hasattr(tensor, "_as_tensor") else tensor
    partly = partial and tensor.op.type == "Pack"
    value = constant_value(tensor, partial) if partly else value_to_check(tensor)
    if isinstance(value, np.generic) and not isinstance(value, (np.bytes_, np.bool_)):
        value = np.array(value)
    return value


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """Returns the value of a tensor as an array, if it is known without running a graph.

    Values that are not tensors are returned unchanged.

    Args:
      tensor: A tensor.
      partial: If true, a `Pack` of which some parts are known is an array of objects, with None for the
        other parts.

    Returns:
      An array, or None.

    Example:
      >>> tf.get_static_value(tf.constant([1, 2]) + 1), tf.get_static_value(tf.placeholder(tf.int32)) is None
      (array([2, 3], dtype=int32), True)
    """
    return constant_value(tensor, partial) if isinstance(tensor, Tensor) or hasattr(tensor, "_as_tensor") else tensor
