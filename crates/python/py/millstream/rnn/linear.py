"""Affine maps of several tensors together, with variables in the current scope: `kernel` and `bias`."""

from __future__ import annotations

from typing import Any, List, Tuple

from millstream.framework import constant, dtypes, nest
from millstream.framework.shapes import dimension_value
from millstream.nn import functions
from millstream.ops import array_ops, math_ops
from millstream.variables.initializers import constant_initializer
from millstream.variables.scopes import get_variable, get_variable_scope, variable_scope


class Linear:
    """`concat(args, 1) * kernel + bias`, whose variables are made once, in the current scope.

    Args:
      args: A matrix, or a list of matrices whose rows are joined.
      output_size: The number of columns of the result.
      build_bias: If true, a bias is added.
      bias_initializer: How the bias starts; zeros by default.
      kernel_initializer: How the kernel starts; as the scope says by default.

    Raises:
      ValueError: `args` is empty, or a tensor is not a matrix of known width.
    """

    def __init__(self, args: Any, output_size: int, build_bias: bool, bias_initializer: Any = None, kernel_initializer: Any = None):
        parts, self._several = _parts(args)
        width, dtype = _width(parts), parts[0].dtype
        with variable_scope(get_variable_scope()):
            self._kernel = get_variable("kernel", [width, output_size], dtype=dtype, initializer=kernel_initializer)
            self._bias = _bias(output_size, dtype, bias_initializer) if build_bias else None

    def __call__(self, args: Any) -> Any:
        """Returns the map of a matrix, or of as many matrices as the map was made for."""
        parts = list(args) if self._several else [args]
        joined = parts[0] if len(parts) == 1 else array_ops.concat(parts, constant(1, dtype=dtypes.int32))
        product = math_ops.matmul(joined, self._kernel)
        return product if self._bias is None else functions.bias_add(product, self._bias)


def linear(args: Any, size: int, bias: bool = True) -> Any:
    """Returns the map `Linear` of some matrices, with variables of its own."""
    return Linear(args, size, bias)(args)


def linear_with_late_bias(args: Any, output_size: int, bias: bool, bias_initializer: Any = None, kernel_initializer: Any = None) -> Any:
    """Returns the map `Linear` of some matrices, whose bias is made after the product.

    TensorFlow's function of cells makes its nodes in this order, on which the seeds of initial values depend.
    """
    parts, _ = _parts(args)
    width, dtype = _width(parts), parts[0].dtype
    with variable_scope(get_variable_scope()):
        kernel = get_variable("kernel", [width, output_size], dtype=dtype, initializer=kernel_initializer)
        product = math_ops.matmul(parts[0] if len(parts) == 1 else array_ops.concat(parts, 1), kernel)
        return functions.bias_add(product, _bias(output_size, dtype, bias_initializer)) if bias else product


def _parts(args: Any) -> Tuple[List[Any], bool]:
    """Returns a matrix or matrices as a list, and whether there is a list."""
    several = nest.is_sequence(args)
    if args is None or (several and not args):
        raise ValueError("`args` must be specified")
    return (list(args) if several else [args]), several


def _bias(size: int, dtype: Any, initializer: Any) -> Any:
    """Returns a bias, which no partitioner splits."""
    with variable_scope(get_variable_scope()) as inner:
        inner.set_partitioner(None)
        return get_variable("bias", [size], dtype=dtype, initializer=initializer or constant_initializer(0.0, dtype=dtype))


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
