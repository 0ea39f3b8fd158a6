"""Functions of complex numbers and arrays (those that are one op, such as `real`, are in `math_ops`)."""

from __future__ import annotations

from typing import Any, Optional

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops

__all__ = ["angle"]


def angle(input: Any, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """Returns the argument (phase) of each complex number.

    Args:
      input: A tensor of numbers.
      name: A name for the operation.

    Returns:
      A tensor of floats of the same shape; for a real tensor, zeros of its dtype.

    Example:
      >>> print(tf.Session().run(tf.angle(tf.constant([1j, -1.0]))).round(4))
      [1.5708 3.1416]
    """
    with name_scope(name, "Angle", [input]) as name:
        x = convert_to_tensor(input, name="input")
        if x.dtype.is_complex:
            return op("Angle")(x, Tout=x.dtype.real_dtype, name=name)
        return array_ops.zeros_like(x)  # Even of a negative number, as in TensorFlow 1.
