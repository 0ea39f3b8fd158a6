"""Pseudo-inverses, ranks and tridiagonal systems."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from millstream._engine import Tensor
from millstream.framework import control_dependencies, convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.framework.shapes import dimension_value
from millstream.ops import array_ops, check_ops, linalg_ops, math_ops, reduction_ops, shape_ops

__all__ = ["matrix_rank", "pinv", "tridiagonal_matmul", "tridiagonal_solve"]


def _matrices(a: Tensor, validate_args: bool) -> Tensor:
    """Returns `a` after checks that it holds matrices of floats.

    Raises:
      TypeError: The dtype is not a floating-point one.
      ValueError: The static rank is less than 2.
    """
    if not a.dtype.is_floating:
        raise TypeError("Input `a` must have `float`-like `dtype` (saw %s)." % a.dtype.name)
    rank = a.shape.ndims
    if rank is not None and rank < 2:
        raise ValueError("Input `a` must have at least 2 dimensions (saw: %d)." % rank)
    if rank is None and validate_args:
        with control_dependencies([check_ops.assert_rank_at_least(a, 2, message="Input `a` must have at least 2 dimensions.")]):
            return array_ops.identity(a)
    return a


def _sides(a: Tensor) -> List[Any]:
    """Returns the numbers of rows and columns; None for one that is not known."""
    return [None, None] if a.shape.ndims is None else [dimension_value(n) for n in a.shape[-2:]]


def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: Optional[str] = None) -> Tensor:
    """Returns the ranks of matrices: the number of singular values above a threshold.

    Args:
      a: A tensor of floats of shape `[.., M, N]`.
      tol: The threshold. The default is the largest singular value of the matrix, times `max(M, N)`, times
        the distance from 1 to the next float of the dtype.
      validate_args: If true, a rank of `a` that is not known statically is checked at run time.
      name: The name scope of the new operations.

    Returns:
      A tensor of int32 of shape `[..]`.

    Raises:
      TypeError: `a` has no floating-point dtype.
      ValueError: The static rank of `a` is less than 2.

    Example:
      >>> print(tf.Session().run(tf.linalg.matrix_rank([[[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]])))
      [1 2]
    """
    with name_scope(name or "matrix_rank"):
        a = _matrices(convert_to_tensor(a, name="a", preferred_dtype=dtypes.float32), validate_args)
        s = linalg_ops.svd(a, compute_uv=False)
        if tol is None:
            step = np.finfo(a.dtype.as_numpy_dtype).eps
            sides = _sides(a)
            larger = reduction_ops.reduce_max(array_ops.shape(a)[-2:]) if None in sides else np.max(sides)
            tol = step * math_ops.cast(larger, a.dtype) * reduction_ops.reduce_max(s, axis=-1, keepdims=True)
        return reduction_ops.reduce_sum(math_ops.cast(s > tol, dtypes.int32), axis=-1)


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: Optional[str] = None) -> Tensor:
    """Returns the Moore-Penrose pseudo-inverses of matrices, computed from their singular values.

    Args:
      a: A tensor of floats of shape `[.., M, N]`.
      rcond: Singular values that are not larger than the largest one times `rcond` count as 0. A tensor that
        broadcasts to shape `[..]`. The default is `10 * max(M, N)` times the distance from 1 to the next
        float of the dtype.
      validate_args: If true, a rank of `a` that is not known statically is checked at run time.
      name: The name scope of the new operations.

    Returns:
      A tensor of shape `[.., N, M]`.

    Raises:
      TypeError: `a` has no floating-point dtype.
      ValueError: The static rank of `a` is less than 2.

    Example:
      >>> print(tf.Session().run(tf.linalg.pinv([[2.0, 0.0], [0.0, 0.0], [0.0, 4.0]])).round(2) + 0.0)
      [[0.5  0.   0.  ]
       [0.   0.   0.25]]
    """
    with name_scope(name or "pinv"):
        a = _matrices(convert_to_tensor(a, name="a"), validate_args)
        dtype = a.dtype.as_numpy_dtype
        if rcond is None:
            rows, columns = (array_ops.shape(a)[i] if n is None else n for i, n in zip((-2, -1), _sides(a)))
            if isinstance(rows, int) and isinstance(columns, int):
                larger = float(max(rows, columns))
            else:
                larger = math_ops.cast(op("Maximum")(rows, columns), a.dtype)
            rcond = 10.0 * larger * np.finfo(dtype).eps
        rcond = convert_to_tensor(rcond, dtype=a.dtype, name="rcond")
        s, u, v = linalg_ops.svd(a, full_matrices=False)
        # The reciprocal of infinity is 0, and so is the gradient.
        kept = s > array_ops.expand_dims(rcond * reduction_ops.reduce_max(s, axis=-1), -1)
        s = shape_ops.where_v2(kept, s, np.array(np.inf, dtype))
        result = math_ops.matmul(v / array_ops.expand_dims(s, -2), u, adjoint_b=True)
        if a.shape.ndims is not None:
            sides = a.shape.as_list()
            result.set_shape([*sides[:-2], sides[-1], sides[-2]])
        return result


def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: Optional[str] = None,
    partial_pivoting: bool = True,
) -> Tensor:
    """Solves tridiagonal systems of equations by Gaussian elimination.

    Time and memory are in proportion to `M`.

    Args:
      diagonals: The superdiagonal, the main diagonal and the subdiagonal. The last element of the
        superdiagonal and the first of the subdiagonal are ignored.
      rhs: A tensor of shape `[.., M]` or `[.., M, K]`.
      diagonals_format: `"compact"`: one tensor of shape `[.., 3, M]`. `"sequence"`: a list of three tensors
        of shape `[.., M]`; the first and the last may have a length of `M - 1`. `"matrix"`: a tensor of shape
        `[.., M, M]`, of which other elements are ignored.
      transpose_rhs: If true, a `rhs` of matrices and the result have shape `[.., K, M]`.
      conjugate_rhs: If true, the conjugate of `rhs` is used.
      name: A name for the operation.
      partial_pivoting: If true, rows are exchanged so that the elimination is stable.

    Returns:
      A tensor of the shape of `rhs`. A singular matrix is an error of the run.

    Raises:
      ValueError: `diagonals_format` is invalid, or a shape does not fit.

    Example:
      >>> x = tf.linalg.tridiagonal_solve([[1.0, 0.0], [2.0, 2.0], [0.0, 3.0]], [12.0, 23.0])
      >>> print(tf.Session().run(x).round(2))
      [ 1. 10.]
    """
    if diagonals_format == "compact":
        compact = convert_to_tensor(diagonals)
    elif diagonals_format == "sequence":
        compact = _stacked(diagonals)
    elif diagonals_format == "matrix":
        compact = _of_matrices(convert_to_tensor(diagonals))
    else:
        raise ValueError("Unrecognized diagonals_format: %s" % diagonals_format)
    rhs = convert_to_tensor(rhs, dtype=compact.dtype)
    if conjugate_rhs:
        rhs = math_ops.conj(rhs)
    rank, of_rhs = len(compact.shape), len(rhs.shape)
    if rank < 2:
        raise ValueError("Expected diagonals to have rank at least 2, got %d" % rank)
    if of_rhs not in (rank - 1, rank):
        raise ValueError("Expected the rank of rhs to be %d or %d, got %d" % (rank - 1, rank, of_rhs))
    count = dimension_value(compact.shape[-2])
    if count not in (None, 3):
        raise ValueError("Expected 3 diagonals got %d" % count)
    if not compact.shape[:-2].is_compatible_with(rhs.shape[: rank - 2]):
        raise ValueError("Batch shapes %s and %s are incompatible" % (compact.shape[:-2], rhs.shape[: rank - 2]))
    vectors = of_rhs == rank - 1
    columns = array_ops.expand_dims(rhs, -1) if vectors else array_ops.matrix_transpose(rhs) if transpose_rhs else rhs
    n, rows = dimension_value(compact.shape[-1]), dimension_value(columns.shape[-2])
    if n is not None and rows is not None and n != rows:
        raise ValueError("Expected number of left-hand sided and right-hand sides to be equal, got %d and %d" % (n, rows))
    result = op("TridiagonalSolve")(compact, columns, partial_pivoting=partial_pivoting, name=name)
    if vectors:
        return array_ops.squeeze(result, [-1])
    return array_ops.matrix_transpose(result) if transpose_rhs else result


def tridiagonal_matmul(diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: Optional[str] = None) -> Tensor:
    """Returns the product of a tridiagonal matrix and `rhs`.

    Args:
      diagonals: The superdiagonal, the main diagonal and the subdiagonal.
      rhs: A tensor of shape `[.., M, K]`.
      diagonals_format: `"compact"`: one tensor of shape `[.., 3, M]`. `"sequence"`: a list of three tensors
        of shape `[.., M]`. The last element of the superdiagonal and the first of the subdiagonal are
        ignored. `"matrix"`: a tensor of shape `[.., M, M]`, of which other elements are ignored.
      name: A name for the operation.

    Returns:
      A tensor of the shape of `rhs`.

    Raises:
      ValueError: `diagonals_format` is invalid.

    Example:
      >>> print(tf.Session().run(tf.linalg.tridiagonal_matmul([[1.0, 0.0], [2.0, 2.0], [0.0, 3.0]],
      ...     [[1.0], [10.0]])))
      [[12.]
       [23.]]
    """
    if diagonals_format == "compact":
        compact = convert_to_tensor(diagonals)
        over, main, under = (compact[..., i, :] for i in range(3))
    elif diagonals_format == "sequence":
        over, main, under = (convert_to_tensor(d) for d in diagonals)
    elif diagonals_format == "matrix":
        compact = _of_matrices(convert_to_tensor(diagonals))
        over, main, under = (compact[..., i, :] for i in range(3))
    else:
        raise ValueError("diagonals_format must be one of {compact, matrix, sequence}, got: %s" % diagonals_format)
    return op("TridiagonalMatMul")(*(array_ops.expand_dims(d, -2) for d in (over, main, under)), rhs, name=name)


def _stacked(diagonals: Any) -> Tensor:
    """Stacks three diagonals, and fills short ones up."""
    if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    over, main, under = (convert_to_tensor(d) for d in diagonals)
    if not all(d.shape[:-1].is_compatible_with(main.shape[:-1]) for d in (under, over)):
        raise ValueError(
            "Tensors representing the three diagonals must have the same shape,except for the last dimension, "
            "got %s, %s, %s" % (under.shape, main.shape, over.shape)
        )
    n = dimension_value(main.shape[-1])

    def filled(d: Tensor, name: str, padding: List[int]) -> Tensor:
        length = dimension_value(d.shape[-1])
        if not length or n is None or length == n:
            return d
        if length == n - 1:
            return op("Pad")(d, [[0, 0]] * (len(d.shape) - 1) + [padding])  # type: ignore[no-any-return]
        raise ValueError("Expected %s to be have length %d or %d, got %d." % (name, n, n - 1, length))

    under, over = filled(under, "subdiagonal", [1, 0]), filled(over, "superdiagonal", [0, 1])
    return array_ops.stack((over, main, under), axis=-2)


def _of_matrices(a: Tensor) -> Tensor:
    """Returns the three diagonals of matrices."""
    rows, columns = dimension_value(a.shape[-2]), dimension_value(a.shape[-1])
    if rows and columns and rows != columns:
        raise ValueError("Expected last two dimensions of diagonals to be same, got %d and %d" % (columns, rows))
    if not (rows or columns):
        raise ValueError('The size of the matrix needs to be known for diagonals_format="matrix"')
    zero = array_ops.zeros_like(a[..., :1, 0])
    over, under = op("MatrixDiagPart")(a[..., :-1, 1:]), op("MatrixDiagPart")(a[..., 1:, :-1])
    return array_ops.stack((array_ops.concat([over, zero], -1), op("MatrixDiagPart")(a), array_ops.concat([zero, under], -1)), axis=-2)
