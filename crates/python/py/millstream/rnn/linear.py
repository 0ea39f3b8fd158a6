"""Affine maps of several tensors together, with variables in the current scope: `kernel` and `bias`."""

from __future__ import annotations

from typing import Any

from millstream.framework import constant, dtypes, nest
from millstream.framework.shapes import dimension_value
from millstream.nn import functions
from millstream.ops import array_ops, math_ops
from millstream.variables.initializers import constant_initializer
from millstream.variables.scopes import get_variable, get_variable_scope, variable_scope


def linear(args: Any, size: int, bias: bool = True) -> Any:
    """Returns `concat(args, 1) * kernel + bias`.

    Args:
      args: A matrix, or a list of matrices whose rows are joined.
      size: The number of columns of the result.
      bias: If true, a bias is added, which starts with zeros.

    Returns:
      A matrix with `size` columns.

    Raises:
      ValueError: `args` is empty, or a tensor is not a matrix of known width.
    """
    if args is None or (nest.is_sequence(args) and not args):
        raise ValueError("`args` must be specified")
    parts = list(args) if nest.is_sequence(args) else [args]
    width = _width(parts)
    dtype = parts[0].dtype
    with variable_scope(get_variable_scope()) as outer:
        kernel = get_variable("kernel", [width, size], dtype=dtype)
        biases = None
        if bias:
            with variable_scope(outer) as inner:
                inner.set_partitioner(None)
                biases = get_variable("bias", [size], dtype=dtype, initializer=constant_initializer(0.0, dtype=dtype))
    joined = parts[0] if len(parts) == 1 else array_ops.concat(parts, constant(1, dtype=dtypes.int32))
    product = math_ops.matmul(joined, kernel)
    return product if biases is None else functions.bias_add(product, biases)


def _width(parts: Any) -> int:
    """Returns the number of columns of matrices together."""
    shapes = [p.get_shape() for p in parts]
    width = 0
    for shape in shapes:
        if shape.ndims != 2:
            raise ValueError(f"linear is expecting 2D arguments: {shapes}")
        columns = dimension_value(shape[1])
        if columns is None:
            raise ValueError(f"linear expects shape[1] to be provided for shape {shape}, but saw {shape[1]}")
        width += columns
    return width
