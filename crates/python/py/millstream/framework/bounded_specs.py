"""`BoundedTensorSpec`: a specification of a tensor whose elements lie between bounds."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from millstream.framework import shapes

__all__ = ["BoundedTensorSpec"]


class BoundedTensorSpec(shapes.TensorSpec):
    """A specification of a tensor: its shape, its dtype, and the least and largest values of its elements.

    Args:
      shape: A `TensorShape`, or a value that converts to one.
      dtype: A dtype.
      minimum: The least values, a number or an array that is broadcast to the shape.
      maximum: The largest values.
      name: A name.

    Raises:
      TypeError: NumPy has no dtype like `dtype`.
      ValueError: A bound is None, or cannot be broadcast to the shape.

    Example:
      >>> spec = tf.contrib.framework.BoundedTensorSpec([2], tf.int32, 0, [3, 5], name="action")
      >>> spec
      BoundedTensorSpec(shape=(2,), dtype=tf.int32, name='action', minimum=array(0, dtype=int32), maximum=array([3, 5], dtype=int32))
      >>> spec.minimum, spec.maximum
      (array(0, dtype=int32), array([3, 5], dtype=int32))
    """

    __slots__ = ("_minimum", "_maximum")

    def __init__(self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: Optional[str] = None) -> None:
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError("minimum and maximum must be provided; but saw '%s' and '%s'" % (minimum, maximum))
        for word, bound in (("minimum", minimum), ("maximum", maximum)):
            # A shape of unknown rank or size fits any bound as far as is known.
            if _broadcast(shapes.TensorShape(np.shape(bound)), self.shape) is None:
                fault = ValueError("Incompatible shapes for broadcasting: %s and %s" % (np.shape(bound), self.shape))
                raise ValueError("%s is not compatible with shape. Message: %r." % (word, fault))
        self._minimum, self._maximum = (self._bound(bound) for bound in (minimum, maximum))

    def _bound(self, value: Any) -> Any:
        bound = np.array(value, dtype=self.dtype.as_numpy_dtype)
        bound.setflags(write=False)
        return bound

    @classmethod
    def from_spec(cls, spec: Any) -> "BoundedTensorSpec":  # type: ignore[override]
        """Returns a specification like `spec`, with the bounds of its dtype if it has none.

        Args:
          spec: An object with a shape and a dtype, and maybe bounds.

        Example:
          >>> tf.contrib.framework.BoundedTensorSpec.from_spec(tf.TensorSpec([], tf.int8)).minimum
          array(-128, dtype=int8)
        """
        minimum = getattr(spec, "minimum", None)
        maximum = getattr(spec, "maximum", None)
        return cls(
            spec.shape,
            spec.dtype,
            spec.dtype.min if minimum is None else minimum,
            spec.dtype.max if maximum is None else maximum,
            getattr(spec, "name", None),
        )

    @property
    def minimum(self) -> Any:
        """The least values of elements, as an array that cannot be written to."""
        return self._minimum

    @property
    def maximum(self) -> Any:
        """The largest values of elements, as an array that cannot be written to."""
        return self._maximum

    def __repr__(self) -> str:
        words = (self.shape, repr(self.dtype), repr(self.name), repr(self.minimum), repr(self.maximum))
        return "BoundedTensorSpec(shape=%s, dtype=%s, name=%s, minimum=%s, maximum=%s)" % words

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, BoundedTensorSpec):
            return False
        same = self.shape == other.shape if self.shape.ndims is not None else other.shape.ndims is None
        bounds = np.allclose(self.minimum, other.minimum) and np.allclose(self.maximum, other.maximum)
        return bool(same and self.dtype == other.dtype and self.name == other.name and bounds)

    def __ne__(self, other: Any) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return BoundedTensorSpec, (self.shape, self.dtype, self.minimum, self.maximum, self.name)


def _broadcast(bound: shapes.TensorShape, shape: shapes.TensorShape) -> Optional[shapes.TensorShape]:
    """Returns the shape if a bound can be broadcast together with it, else None."""
    if shape.ndims is None:
        return shape
    for a, b in zip(reversed(bound.as_list()), reversed(shape.as_list())):
        if b is not None and a != b and 1 not in (a, b):
            return None
    return shape
