"""Linear algebra: diagonals, linear systems, norms, `einsum` and other functions composed of several ops."""

from __future__ import annotations

import re
import string
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from millstream._engine import Tensor
from millstream.framework import constant, convert_to_tensor, dtypes, name_scope, node_counts
from millstream.framework.deprecation import renamed
from millstream.framework.op_functions import op
from millstream.ops import array_ops, indexing_ops, math_ops, reduction_ops
from millstream.ops.control_flow import cond, while_loop

__all__ = [
    "cholesky_solve",
    "einsum",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_set_diag",
    "matrix_solve_ls",
    "norm",
    "self_adjoint_eig",
    "self_adjoint_eigvals",
    "svd",
    "tensordot",
    "trace",
]


def _main_diagonal(k: Any) -> bool:
    return isinstance(k, int) and k == 0


def matrix_diag(diagonal: Any, name: str = "diag", k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0) -> Tensor:
    """Returns matrices with the given diagonals (the `k`-th, or those from `k[0]` to `k[1]`).

    Args:
      diagonal: A tensor whose last axis is a diagonal. With several diagonals the last two axes are their
        matrix, with the highest diagonal in the first row.
      name: A name for the operation.
      k: An int, or a pair of them: 0 is the main diagonal, 1 the one above it.
      num_rows: An int: the number of rows. Defaults to the smallest that fits.
      num_cols: An int: the number of columns. Defaults to the smallest that fits.
      padding_value: A scalar: the value of all other elements.

    Returns:
      A `Tensor` of the same dtype with one more axis.

    Example:
      >>> print(tf.Session().run(tf.matrix_diag([1, 2], k=1)))
      [[0 1 0]
       [0 0 2]
       [0 0 0]]
    """
    if _main_diagonal(k) and num_rows == -1 and num_cols == -1 and padding_value == 0:
        return op("MatrixDiag")(diagonal, name=name)
    diagonal = convert_to_tensor(diagonal)
    return op("MatrixDiagV2")(diagonal, k, num_rows, num_cols, convert_to_tensor(padding_value, diagonal.dtype), name=name)


def matrix_diag_part(input: Any, name: str = "diag_part", k: Any = 0, padding_value: Any = 0) -> Tensor:  # noqa: A002
    """Returns diagonals of matrices: the `k`-th, or those from `k[0]` to `k[1]`.

    Args:
      input: A tensor of rank 2 or more.
      name: A name for the operation.
      k: An int, or a pair of them: 0 is the main diagonal, 1 the one above it.
      padding_value: A scalar: the padding of shorter diagonals.

    Returns:
      A `Tensor` of the same dtype and one rank less; with several diagonals, of the same rank.

    Example:
      >>> print(tf.Session().run(tf.matrix_diag_part([[1, 2, 3], [4, 5, 6]])))
      [1 5]
    """
    if _main_diagonal(k):
        return op("MatrixDiagPart")(input, name=name)
    input = convert_to_tensor(input)  # noqa: A001
    return op("MatrixDiagPartV2")(input, k, convert_to_tensor(padding_value, input.dtype), name=name)


def matrix_set_diag(input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0) -> Tensor:  # noqa: A002
    """Returns matrices with diagonals replaced: the `k`-th, or those from `k[0]` to `k[1]`.

    Args:
      input: A tensor of rank 2 or more.
      diagonal: A tensor: the new diagonals, in the layout of `matrix_diag_part`.
      name: A name for the operation.
      k: An int, or a pair of them: 0 is the main diagonal, 1 the one above it.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.matrix_set_diag([[1, 2], [3, 4]], [10, 20])))
      [[10  2]
       [ 3 20]]
    """
    if _main_diagonal(k):
        return op("MatrixSetDiag")(input, diagonal, name=name)
    return op("MatrixSetDiagV2")(input, diagonal, k, name=name)


def trace(x: Any, name: Optional[str] = None) -> Tensor:
    """Returns the trace of matrices.

    Args:
      x: A tensor of rank 2 or more.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same dtype, without the last two axes.

    Example:
      >>> print(tf.Session().run(tf.trace([[1, 2], [3, 4]])))
      5
    """
    with name_scope(name, "Trace", [x]) as name:
        x = convert_to_tensor(x, name="x")
        return reduction_ops.reduce_sum(matrix_diag_part(x), [-1], name=name)


def cholesky_solve(chol: Any, rhs: Any, name: Optional[str] = None) -> Tensor:
    """Solves `A x = rhs` given the Cholesky factor of `A`.

    Args:
      chol: A tensor of shape `[.., M, M]`, a result of `tf.cholesky`.
      rhs: A tensor of shape `[.., M, K]`.
      name: The name scope of the new operations.

    Returns:
      A tensor of the shape and dtype of `rhs`.

    Example:
      >>> a = tf.constant([[4.0, 0.0], [0.0, 9.0]])
      >>> print(tf.Session().run(tf.cholesky_solve(tf.cholesky(a), [[8.0], [18.0]])))
      [[2.]
       [2.]]
    """
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        y = op("MatrixTriangularSolve")(chol, rhs, adjoint=False, lower=True)
        return op("MatrixTriangularSolve")(chol, y, adjoint=True, lower=True)


def matrix_solve_ls(matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: Optional[str] = None) -> Tensor:
    """Returns the `x` that minimizes `|matrix x - rhs|^2 + l2_regularizer |x|^2`.

    If `matrix` has more columns than rows, `x` is the solution of smallest norm. The normal equations are
    solved unless `fast` is false.

    Args:
      matrix: A tensor of shape `[.., M, N]`, of floats or complex numbers; `M` and `N` are statically known
        if `fast` is true.
      rhs: A tensor of shape `[.., M, K]`.
      l2_regularizer: A float.
      fast: If false, the smallest solution is found for a `matrix` of any rank, `l2_regularizer` is ignored,
        and there is no gradient.
      name: The name scope of the new operations.

    Returns:
      A tensor of shape `[.., N, K]`.

    Example:
      >>> a, y = tf.constant([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), tf.constant([[1.0], [3.0], [5.0]])
      >>> print(tf.Session().run(tf.round(tf.matrix_solve_ls(a, y) * 1000) / 1000))
      [[1.]
       [2.]]
    """
    if not fast:
        return op("MatrixSolveLs")(matrix, rhs, l2_regularizer, fast=False, name=name)
    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        matrix, rhs = convert_to_tensor(matrix, name="matrix"), convert_to_tensor(rhs, name="rhs")

        def solved(is_high: bool, smaller: Any) -> Tensor:
            gramian = math_ops.matmul(matrix, matrix, adjoint_a=is_high, adjoint_b=not is_high)
            if not (isinstance(l2_regularizer, (int, float)) and l2_regularizer == 0):
                weight = math_ops.cast(convert_to_tensor(l2_regularizer), matrix.dtype)
                gramian += weight * array_ops.eye(smaller, dtype=matrix.dtype)
            factor = op("Cholesky")(gramian)
            if is_high:
                return cholesky_solve(factor, math_ops.matmul(matrix, rhs, adjoint_a=True))
            return math_ops.matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)

        rows, columns = (None, None) if matrix.shape.ndims is None else matrix.shape.with_rank_at_least(2).as_list()[-2:]
        if rows is not None and columns is not None:
            return solved(columns <= rows, min(rows, columns))
        shape = array_ops.shape(matrix)
        rows, columns = shape[-2], shape[-1]
        return cond(columns <= rows, lambda: solved(True, columns), lambda: solved(False, rows))


# Contractions.


def tensordot(a: Any, b: Any, axes: Any, name: Optional[str] = None) -> Tensor:
    """Returns the contraction of two tensors over given axes.

    Args:
      a: A tensor of numbers.
      b: A tensor of the same dtype.
      axes: An int: the number of last axes of `a` and first axes of `b` to contract; or a pair of lists of
        axes.
      name: The name scope of the new operations.

    Returns:
      A `Tensor` with the remaining axes of `a`, then those of `b`.

    Raises:
      ValueError: The lists differ in length, or sizes do not match.
      IndexError: An axis is out of range.

    Example:
      >>> a, b = tf.constant([[1, 2], [3, 4]]), tf.constant([[1, 10], [100, 1000]])
      >>> print(*tf.Session().run([tf.tensordot(a, b, 1), tf.tensordot(a, b, 2)]))
      [[ 201 2010]
       [ 403 4030]] 4321
    """
    with name_scope(name, "Tensordot", [a, b, axes]) as name:
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        if not isinstance(axes, (int, np.integer, str, Tensor)) and hasattr(axes, "__len__") and len(axes) != 2:
            raise ValueError("'axes' must be an integer or have length 2.")
        if a.shape.ndims is None or b.shape.ndims is None or isinstance(axes, Tensor):
            return _tensordot_of_unknown_ranks(a, b, axes, name)
        n, m = (len(t._shape_as_list()) for t in (a, b))
        if isinstance(axes, int):
            for t, rank in ((a, n), (b, m)):
                if not 0 <= axes <= rank:
                    wrong = "must be at least 0." if axes < 0 else "must not be larger than the number of dimensions of tensor %s." % t
                    raise ValueError("'axes' " + wrong)
            first, second = list(range(n - axes, n)), list(range(axes))
        else:
            first, second = ([x] if isinstance(x, int) else list(x) for x in axes)
        if any(n <= i for i in first) or any(m <= i for i in second):
            raise IndexError("list index out of range")
        first, second = [i % n for i in first], [i % m for i in second]
        if len(first) != len(second):
            raise ValueError("Different number of contraction axes 'a' and 'b', %s != %s." % (len(first), len(second)))
        x, free_a = _as_matrix(a, first, last=True)
        y, free_b = _as_matrix(b, second, last=False)
        result = math_ops.matmul(x, y)
        if isinstance(free_a, list) and isinstance(free_b, list):
            return array_ops.reshape(result, free_a + free_b, name=name)
        dims = [convert_to_tensor(free, dtypes.int32) for free in (free_a, free_b)]
        result = array_ops.reshape(result, array_ops.concat(dims, 0), name=name)
        known_a, known_b = a.shape.as_list(), b.shape.as_list()
        left = [known_a[i] for i in range(n) if i not in first] + [known_b[i] for i in range(m) if i not in second]
        result.set_shape(left)
        return result


def _tensordot_of_unknown_ranks(a: Tensor, b: Tensor, axes: Any, name: str) -> Tensor:
    """Returns the contraction of tensors whose ranks, or whose axes, are known in the run alone."""
    ranks = [op("Rank")(x) for x in (a, b)]
    if isinstance(axes, int):
        if axes < 0:
            raise ValueError("'axes' must be at least 0.")
        pair = [math_ops.range(ranks[0] - axes, ranks[0]), math_ops.range(axes)]
    else:
        pair = [axes[0], axes[1]]
    turned, sizes = [], []
    for x, rank, own, last in zip((a, b), ranks, pair, (True, False)):
        own = array_ops.reshape(convert_to_tensor(own, dtypes.int32), [-1])
        own = array_ops.where(own < 0, own + rank, own)
        free = op("ListDiff")(math_ops.range(rank), own)[0]
        shape = op("Shape")(x)
        free_sizes = indexing_ops.gather(shape, free)
        counts = [reduction_ops.reduce_prod(s) for s in (free_sizes, indexing_ops.gather(shape, own))]
        order = array_ops.concat([free, own] if last else [own, free], 0)
        turned.append(array_ops.reshape(array_ops.transpose(x, order), array_ops.stack(counts if last else counts[::-1])))
        sizes.append(free_sizes)
    return array_ops.reshape(math_ops.matmul(turned[0], turned[1]), array_ops.concat(sizes, 0), name=name)


def _as_matrix(x: Tensor, axes: List[int], last: bool) -> Any:
    """Returns a tensor as a matrix whose columns, or rows, are the contracted axes, and the sizes of the
    others.

    The sizes are a list if they are known, else a tensor.
    """
    known = x.shape.as_list()
    free = [i for i in range(len(known)) if i not in axes]
    if None not in known:
        counts: Any = [int(np.prod([known[i] for i in which])) for which in ((free, axes) if last else (axes, free))]
        turned = array_ops.transpose(x, free + axes if last else axes + free)
        return array_ops.reshape(turned, counts), [known[i] for i in free]
    # TensorFlow's nodes: seeds depend on their number.
    contracted, others = constant(axes, dtypes.int32, name="axes"), constant(free, dtypes.int32, name="free")
    shape = op("Shape")(x)
    free_sizes, sizes = indexing_ops.gather(shape, others), indexing_ops.gather(shape, contracted)
    free_count, count = reduction_ops.reduce_prod(free_sizes), reduction_ops.reduce_prod(sizes)
    order, counts = ([others, contracted], [free_count, count]) if last else ([contracted, others], [count, free_count])
    turned = array_ops.transpose(x, array_ops.concat(order, 0))
    return array_ops.reshape(turned, array_ops.stack(counts)), free_sizes


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """Returns a contraction of tensors by Einstein summation.

    Inputs are multiplied in pairs from the left. Axes that only one of a pair has, and that the result
    lacks, are summed at the end.

    Args:
      equation: The axis labels of each input, separated by commas, then `->` and the labels of the result.
        `"ij,jk->ik"` is a matrix product.
      *inputs: Tensors of numbers of one dtype, one per term of the equation.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same dtype.

    Raises:
      TypeError: An unknown keyword argument.
      ValueError: An axis of the result is in no input, or the equation does not match the inputs.

    Example:
      >>> a, b = tf.constant([[1, 2], [3, 4]]), tf.constant([10, 100])
      >>> print(*tf.Session().run([tf.einsum("ij,j->i", a, b), tf.einsum("ij->ji", a)]))
      [210 430] [[1 3]
       [2 4]]
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError("invalid keyword arguments for this function: " + ", ".join(sorted(map(str, kwargs))))
    with name_scope(name, "einsum", [equation, inputs]):
        tensors = [convert_to_tensor(x) for x in inputs]
        if len(tensors) == 1 and re.match(r"^([a-zA-Z])\1(->)?$", equation.replace(" ", "")):
            return trace(tensors[0])
        labels, output = _parsed(equation.replace(" ", ""), equation, tensors)
        value, held = tensors[0], labels[0]
        for i, other in enumerate(tensors[1:], 1):
            needed = set(output).union(*labels[i + 1 :])
            value, held = _product(value, held, other, labels[i], needed)
        value, held = _summed(value, held, set(output))
        missing = [c for c in output if c not in held]
        if missing:
            raise ValueError("Invalid equation: %s: the output's %s are not in any input" % (equation, ", ".join(missing)))
        return value if held == output else array_ops.transpose(value, [held.index(c) for c in output])


def _parsed(text: str, equation: str, tensors: Sequence[Tensor]) -> Any:
    """Returns the labels of each input and of the output.

    An ellipsis becomes the last letters that the equation does not use.
    """
    match = re.match("^([a-zA-Z,.]*)(->[a-zA-Z.]*)?$", text)
    if not match or not text:
        raise ValueError("Indices have incorrect format: %s" % equation)
    labels, output = match.group(1).split(","), match.group(2)
    if len(labels) != len(tensors):
        raise ValueError('Got %d arguments for equation "%s", expecting %d' % (len(tensors), equation, len(labels)))
    if "." in text:
        free = [c for c in string.ascii_letters if c not in text]
        counts = [len(t._shape_as_list() or []) - len(s) + 3 for s, t in zip(labels, tensors) if "..." in s]
        most = "".join(free[len(free) - max(counts, default=0) :])
        labels = [
            s.replace("...", most[len(most) - (len(t._shape_as_list() or []) - len(s) + 3) :]) if "..." in s else s for s, t in zip(labels, tensors)
        ]
        output = output.replace("...", most) if output else "->" + most + "".join(sorted(c for c in set("".join(labels)) - set(most) if "".join(labels).count(c) == 1))
    for held, tensor in zip(labels, tensors):
        rank = tensor.shape.ndims
        if rank is not None and rank != len(held):
            raise ValueError("The equation %s has %d axes (%s) for an input of shape %s" % (equation, len(held), held, tensor.shape))
        if len(set(held)) != len(held):
            raise ValueError("Subscript not supported: an axis appears more than once: %s" % held)
    if output is None:
        every = "".join(labels)
        return labels, "".join(sorted(c for c in set(every) if every.count(c) == 1))
    return labels, output[2:]


def _summed(value: Tensor, held: str, needed: Any) -> Any:
    gone = [i for i, c in enumerate(held) if c not in needed]
    if not gone:
        return value, held
    return reduction_ops.reduce_sum(value, gone), "".join(c for c in held if c in needed)


def _product(a: Tensor, la: str, b: Tensor, lb: str, needed: Any) -> Any:
    """Returns the product of two tensors, without shared labels that are no longer needed, and its labels.

    The nodes are TensorFlow's, because seeds depend on their number: the axes of each group are in the
    order of their labels, and a shape is asked for once per side.
    """
    shared = set(la) & set(lb)
    batch, inner = sorted(shared & needed), sorted(shared - needed)
    rows, columns = sorted(set(la) - shared), sorted(set(lb) - shared)
    x, y = _turned(a, la, batch + rows + inner), _turned(b, lb, batch + inner + columns)
    order = "".join(batch + rows + columns)
    if not inner:
        # Elementwise: both have the same axes in the same order, with size 1 where one lacks the label.
        for _ in columns:
            x = array_ops.expand_dims(x, -1)
        for _ in rows:
            y = array_ops.expand_dims(y, len(batch))
        return op("Mul")(x, y), order
    k = len(batch)
    left = _sizes(x)
    count, summed = _times(left[k : k + len(rows)]), _times(left[k + len(rows) :])
    x = _fitted(x, left[:k] + [count, summed])
    right = _sizes(y)
    y = _fitted(y, right[:k] + [summed, _times(right[k + len(inner) :])])
    return _fitted(math_ops.matmul(x, y), left[: k + len(rows)] + right[k + len(inner) :]), order


def _turned(x: Tensor, held: str, order: List[str]) -> Tensor:
    return x if list(held) == order else array_ops.transpose(x, [held.index(c) for c in order])


def _sizes(x: Tensor) -> List[Any]:
    """Returns the size of each axis: a number if it is known, else a scalar tensor."""
    known = x.shape.as_list()
    if None not in known:
        return known
    shape = array_ops.shape(x)
    return [shape[i] if size is None else size for i, size in enumerate(known)]


def _fitted(x: Tensor, sizes: List[Any]) -> Tensor:
    """Returns a tensor of the given sizes; the same one if it is known to have them."""
    return x if x.shape.as_list() == sizes else array_ops.reshape(x, sizes)


def _times(sizes: List[Any]) -> Any:
    product: Any = 1
    for size in sizes:
        product = product * size
    return product


# Functions that exist only in `tf.linalg`.


def adjoint(matrix: Any, name: Optional[str] = None) -> Tensor:
    """Returns the conjugate transpose of matrices.

    Args:
      matrix: A tensor of rank 2 or more.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same dtype.

    Example:
      >>> print(tf.Session().run(tf.linalg.adjoint(tf.constant([[1j, 2.0]]))))
      [[0.-1.j]
       [2.-0.j]]
    """
    with name_scope(name, "adjoint", [matrix]):
        return array_ops.matrix_transpose(convert_to_tensor(matrix, name="matrix"), conjugate=True)


def matvec(
    a: Any, b: Any, transpose_a: bool = False, adjoint_a: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False, name: Optional[str] = None
) -> Tensor:
    """Returns the product of matrices and vectors.

    Args:
      a: A tensor of shape `[.., M, N]`.
      b: A tensor of shape `[.., N]` of the same dtype.
      transpose_a: If true, `a` is transposed first.
      adjoint_a: If true, `a` is transposed and conjugated first.
      a_is_sparse: A hint that `a` has many zeros.
      b_is_sparse: A hint that `b` has many zeros.
      name: The name scope of the new operations.

    Returns:
      A tensor of shape `[.., M]`.

    Example:
      >>> print(tf.Session().run(tf.linalg.matvec([[1, 2], [3, 4]], [1, 10])))
      [21 43]
    """
    with name_scope(name, "MatVec", [a, b]) as name:
        column = array_ops.expand_dims(b, axis=-1)
        product = math_ops.matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a, a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse)
        return array_ops.squeeze(product, axis=-1)


def logdet(matrix: Any, name: Optional[str] = None) -> Tensor:
    """Returns the logarithm of the determinant of hermitian positive definite matrices.

    Args:
      matrix: A tensor of shape `[.., N, N]`.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same dtype, without the last two axes.

    Example:
      >>> print(tf.Session().run(tf.linalg.logdet([[1.0, 0.0], [0.0, 1.0]])))
      0.0
    """
    with name_scope(name, "logdet", [matrix]):
        factor = op("Cholesky")(matrix)
        diagonal = op("Log")(math_ops.real(matrix_diag_part(factor)))
        return 2.0 * reduction_ops.reduce_sum(diagonal, [-1])


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None, name: Optional[str] = None, keep_dims: Any = None) -> Tensor:  # noqa: A002
    """Returns the norm of vectors (over one axis or over all elements) or of matrices (over two axes).

    Args:
      tensor: A tensor of numbers.
      ord: The order of the norm. For vectors `"euclidean"`, a positive number, or `np.inf`; for matrices
        `"fro"` (same as `"euclidean"`), 1 (columns), 2 (the largest singular value) or `np.inf` (rows).
      axis: An int, a pair of ints, or None for all elements.
      keepdims: If true, reduced axes stay, with length 1.
      name: The name scope of the new operations.
      keep_dims: The former name of `keepdims`.

    Returns:
      A tensor of real numbers.

    Raises:
      ValueError: `ord` or `axis` is invalid.

    Example:
      >>> x = tf.constant([[3.0, 4.0], [6.0, 8.0]])
      >>> print(*tf.Session().run([tf.norm(x[0]), tf.norm(x, axis=1), tf.norm(x, 1, axis=[0, 1])]))
      5.0 [ 5. 10.] 12.0
    """
    keep = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
    pair = isinstance(axis, (tuple, list, np.ndarray))
    if pair:
        axis = tuple(int(i) for i in axis)
        if len(axis) != 2 or axis[0] == axis[1]:
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError("'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got %s" % ord)
    elif ord not in ("fro", "euclidean", 1, 2, np.inf) and not (isinstance(ord, (int, float)) and 0 < ord):
        raise ValueError("'ord' must be a supported vector norm, got %s" % ord)
    with name_scope(name, "norm", [tensor]):
        x = convert_to_tensor(tensor)
        if pair and ord == 2:
            return _largest_singular_value(x, axis, keep)
        node_counts.also(0 if keep else 1)  # TensorFlow removes the axes at the end.
        if ord in ("fro", "euclidean", 2):
            return op("Sqrt")(reduction_ops.reduce_sum(x * math_ops.conj(x), axis, keepdims=keep))
        size = math_ops.abs(x)
        if pair:
            # The maximum sum over columns or over rows.
            sums = reduction_ops.reduce_sum(size, axis[0] if ord == 1 else axis[1], keepdims=True)
            largest = reduction_ops.reduce_max(sums, axis[1] if ord == 1 else axis[0], keepdims=True)
            return largest if keep else array_ops.squeeze(largest, axis)
        if ord == 1:
            return reduction_ops.reduce_sum(size, axis, keepdims=keep)
        if ord == np.inf:
            return reduction_ops.reduce_max(size, axis, keepdims=keep)
        return math_ops.pow(reduction_ops.reduce_sum(math_ops.pow(size, ord), axis, keepdims=keep), 1.0 / ord)


def _largest_singular_value(x: Tensor, axis: Any, keep: bool) -> Tensor:
    """The largest singular value of the matrices over two axes."""
    known = x.shape.ndims
    rank: Any = array_ops.rank(x) if known is None else known
    last = [i if i >= 0 else i + rank for i in axis]
    if known is not None:
        if not all(-known <= i < known for i in axis):
            raise ValueError("'axis' must name two of the %d axes of the tensor, got %s" % (known, axis))
        order: Any = [i for i in range(known) if i not in last] + last
        back: Any = np.argsort(order)
    else:
        order = array_ops.concat([op("ListDiff")(math_ops.range(rank), last)[0], last], 0)
        back = op("InvertPermutation")(order)
    largest = reduction_ops.reduce_max(svd(array_ops.transpose(x, order), compute_uv=False), -1)
    return array_ops.transpose(largest[..., None, None], back) if keep else largest


def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None, name: Optional[str] = None) -> Any:  # noqa: A002
    """Normalizes a tensor by its norm.

    Args:
      tensor: A tensor of floats.
      ord: As in `tf.norm`.
      axis: As in `tf.norm`.
      name: The name scope of the new operations.

    Returns:
      A pair of tensors: `tensor` divided by its norm; and the norm, with reduced axes of size 1.

    Example:
      >>> print(*tf.Session().run(tf.linalg.normalize([3.0, 4.0])))
      [0.6 0.8] [5.]
    """
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        size = math_ops.cast(norm(tensor, ord, axis, keepdims=True), tensor.dtype)
        return tensor / size, size


def expm(input: Any, name: Optional[str] = None) -> Tensor:  # noqa: A002
    """Returns the exponential of matrices, by Padé approximation with scaling and squaring (Higham 2005).

    Args:
      input: A tensor of shape `[.., N, N]` of floats or complex numbers.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ValueError: `input` holds integers.

    Example:
      >>> print(tf.Session().run(tf.linalg.expm([[0.0, 2.0], [0.0, 0.0]])))
      [[1. 2.]
       [0. 1.]]
    """
    with name_scope(name, "matrix_exponential", [input]):
        matrix = convert_to_tensor(input, name="input")
        if not (matrix.dtype.is_floating or matrix.dtype.is_complex):
            raise ValueError("tf.linalg.expm does not support matrices of type %s" % matrix.dtype)
        shape = array_ops.shape(matrix)
        if matrix.shape.ndims is not None and matrix.shape[-2:] == [0, 0]:
            return matrix
        n = matrix.shape.as_list()[-1] if matrix.shape.ndims else None
        n = shape[-1] if n is None else n
        # Each matrix is scaled by a power of two so that its 1-norm is under 5.37, where order 13 is exact to
        # double precision.
        size = reduction_ops.reduce_max(reduction_ops.reduce_sum(math_ops.abs(matrix), -2), -1)
        halvings = op("Maximum")(op("Ceil")(op("Log")(op("Maximum")(size, 1e-30) / 5.37) / np.log(2.0)), convert_to_tensor(0, size.dtype))
        scale = math_ops.pow(convert_to_tensor(2.0, size.dtype), halvings)
        scaled = matrix / math_ops.cast(scale, matrix.dtype)[..., None, None]
        result = _pade(scaled, n)
        # The loop runs for the maximum number of squarings; matrices that need fewer are left unchanged.
        most = math_ops.cast(reduction_ops.reduce_max(array_ops.concat([array_ops.reshape(halvings, [-1]), [0.0]], 0)), dtypes.int32)

        def square(i: Any, x: Tensor) -> Any:
            wanted = math_ops.cast(i, halvings.dtype) < halvings
            return i + 1, op("SelectV2")(wanted[..., None, None], math_ops.matmul(x, x), x)

        result = while_loop(lambda i, x: i < most, square, [convert_to_tensor(0), result], shape_invariants=[convert_to_tensor(0).shape, matrix.shape])[1]
        return array_ops.reshape(result, shape if not matrix.shape.is_fully_defined() else matrix.shape)


_PADE = (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1)


def _pade(a: Tensor, n: Any) -> Tensor:
    one = array_ops.eye(n, dtype=a.dtype)
    c = [float(b) / _PADE[0] for b in _PADE]
    a2 = math_ops.matmul(a, a)
    a4 = math_ops.matmul(a2, a2)
    a6 = math_ops.matmul(a4, a2)
    odd = math_ops.matmul(a, math_ops.matmul(a6, a6 * c[13] + a4 * c[11] + a2 * c[9]) + a6 * c[7] + a4 * c[5] + a2 * c[3] + one * c[1])
    even = math_ops.matmul(a6, a6 * c[12] + a4 * c[10] + a2 * c[8]) + a6 * c[6] + a4 * c[4] + a2 * c[2] + one * c[0]
    return op("MatrixSolve")(even - odd, even + odd)


# Spectra --------------------------------------------------------------------------------------------------


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: Optional[str] = None) -> Any:
    """Returns the singular value decomposition of each innermost matrix.

    Args:
      tensor: A tensor of floats or complex numbers of shape `[.., M, N]`.
      full_matrices: If true, `u` and `v` are square.
      compute_uv: If false, only the singular values are computed.
      name: A name for the operation.

    Returns:
      The singular values, in descending order, of shape `[.., P]` with `P = min(M, N)`, and the matrices `u`
      and `v`, of shapes `[.., M, P]` and `[.., N, P]`, whose columns are the singular vectors: the matrix is
      `u * diag(s) * adjoint(v)`. Without `compute_uv`, the singular values alone. The sign of a pair of
      vectors is arbitrary.

    Example:
      >>> s, u, v = tf.svd(tf.constant([[3.0, 0.0], [4.0, 5.0]]))
      >>> again = tf.matmul(u, tf.matmul(tf.diag(s), v, adjoint_b=True))
      >>> print(*tf.Session().run([tf.cast(100.0 * s, tf.int32), tf.cast(tf.round(again), tf.int32)]))
      [670 223] [[3 0]
       [4 5]]
    """
    s, u, v = op("Svd")(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    s = math_ops.real(s)
    return (s, u, v) if compute_uv else s


def self_adjoint_eig(tensor: Any, name: Optional[str] = None) -> Any:
    """Returns the eigenvalues and eigenvectors of each innermost matrix, which must be self-adjoint.

    Args:
      tensor: A tensor of floats or complex numbers of shape `[.., N, N]`. Only lower triangles are read.
      name: A name for the operation.

    Returns:
      A pair: the eigenvalues, in ascending order, of shape `[.., N]`, and the eigenvectors, the columns of
      matrices. The sign of an eigenvector is arbitrary.

    Example:
      >>> e, v = tf.self_adjoint_eig([[2.0, 1.0], [1.0, 2.0]])
      >>> print(*tf.Session().run([tf.round(e), tf.round(tf.matmul(v, v, adjoint_a=True))]))
      [1. 3.] [[1. 0.]
       [0. 1.]]
    """
    e, v = op("SelfAdjointEigV2")(tensor, compute_v=True, name=name)
    return e, v


def self_adjoint_eigvals(tensor: Any, name: Optional[str] = None) -> Tensor:
    """Returns the eigenvalues of each innermost matrix, which must be self-adjoint, in ascending order.

    Args:
      tensor: A tensor of floats or complex numbers of shape `[.., N, N]`. Only lower triangles are read.
      name: A name for the operation.

    Returns:
      A tensor of shape `[.., N]`.

    Example:
      >>> print(tf.Session().run(tf.round(tf.self_adjoint_eigvals([[2.0, 1.0], [1.0, 2.0]]))))
      [1. 3.]
    """
    e, _ = op("SelfAdjointEigV2")(tensor, compute_v=False, name=name)
    return e  # type: ignore[no-any-return]
