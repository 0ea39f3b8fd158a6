"""Initializers of the kernels of convolutions that keep norms."""

from __future__ import annotations

import itertools
from typing import Any, Dict, List, Optional, Tuple

from millstream._engine import Tensor
from millstream.framework import dtypes, shapes
from millstream.framework.op_functions import op
from millstream.ops import array_ops, math_ops, random_ops
from millstream.variables.initializers import Initializer

__all__ = [
    "convolutional_delta_orthogonal",
    "convolutional_orthogonal_1d",
    "convolutional_orthogonal_2d",
    "convolutional_orthogonal_3d",
]

# A kernel, by place.
_Kernel = Dict[Tuple[int, ...], Any]


class _Kernels(Initializer):
    """What the initializers share: the arguments, and random orthogonal matrices."""

    def __init__(self, gain: float = 1.0, seed: Optional[int] = None, dtype: Any = dtypes.float32) -> None:
        self.gain, self.seed, self.dtype = gain, seed, dtypes.as_dtype(dtype)
        if not self.dtype.is_floating:
            raise ValueError("Expected floating point type, got %s." % self.dtype)

    def _matrix(self, n: int, dtype: Any) -> Any:
        q, r = op("Qr")(random_ops.random_normal([n, n], dtype=dtype, seed=self.seed), full_matrices=False)
        # The signs make the distribution uniform over all orthogonal matrices.
        return q * op("Sign")(op("DiagPart")(r))


class convolutional_delta_orthogonal(_Kernels):  # noqa: N801
    """An initializer of kernels that are orthogonal matrices at the center, and zeros elsewhere.

    Args:
      gain: A factor for the kernels.
      seed: A seed; see `tf.set_random_seed`.
      dtype: The dtype of results, unless the call names another.

    Raises:
      ValueError: The shape has not 3 to 5 axes, or there are more channels of inputs than of outputs.

    Example:
      >>> kernel = tf.contrib.framework.convolutional_delta_orthogonal(seed=1)([3, 1, 1])
      >>> print(abs(tf.Session().run(kernel)).ravel())
      [0. 1. 0.]
    """

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dims = [int(d) for d in shapes.TensorShape(shape).as_list()]
        if not 3 <= len(dims) <= 5:
            raise ValueError("The tensor to initialize must be at least three-dimensional and at most five-dimensional")
        if dims[-1] < dims[-2]:
            raise ValueError("In_filters cannot be greater than out_filters.")
        dtype = dtype or self.dtype
        center = self._matrix(dims[-1], dtype)[: dims[-2]] * math_ops.cast(self.gain, dtype)
        # The matrix is scaled and placed at (k - 1) // 2 of each axis.
        pads = [[(k - 1) // 2, k - 1 - (k - 1) // 2] for k in dims[:-2]]
        return array_ops.pad(array_ops.reshape(center, [1] * len(pads) + dims[-2:]), [*pads, [0, 0], [0, 0]])  # type: ignore[no-any-return]


class _Orthogonal(_Kernels):
    """Kernels that are products of small ones, made of projections (Xiao et al.)."""

    _axes = 1
    _word = "three"

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dims = [int(d) for d in shapes.TensorShape(shape).as_list()]
        if len(dims) != self._axes + 2:
            raise ValueError("The tensor to initialize must be %s-dimensional" % self._word)
        if dims[-1] < dims[-2]:
            raise ValueError("In_filters cannot be greater than out_filters.")
        if len(set(dims[:-2])) != 1:
            raise ValueError("Kernel sizes must be equal.")
        # Each draw has a seed of its own, and each call the same ones.
        given, dtype = self.seed, dtype or self.dtype
        try:
            return self._kernel(dims, dtype)
        finally:
            self.seed = given

    def _kernel(self, dims: List[int], dtype: Any) -> Tensor:
        size, n = dims[0], dims[-1]
        first = self._drawn(n, dtype)[: dims[-2]]
        kernel: _Kernel = {(0,) * self._axes: None}
        for _ in range(size - 1):
            kernel = _convolved(kernel, self._block(n, dtype))
        places = itertools.product(range(size), repeat=self._axes)
        rows = [first if kernel[p] is None else math_ops.matmul(first, kernel[p]) for p in places]
        return math_ops.cast(self.gain, dtype) * array_ops.reshape(array_ops.stack(rows), dims)  # type: ignore[no-any-return]

    def _drawn(self, n: int, dtype: Any) -> Any:
        matrix = self._matrix(n, dtype)
        self._advance()
        return matrix

    def _advance(self) -> None:
        self.seed = self.seed + 1 if self.seed else self.seed

    def _block(self, n: int, dtype: Any) -> _Kernel:
        """Returns a kernel of two elements along each axis: a projection, and its complement."""
        pairs = []
        for _ in range(self._axes):
            q = self._drawn(n, dtype)
            chosen = op("Greater")(random_ops.random_normal([n], seed=self.seed), 0.0)
            self._advance()
            columns = q * math_ops.cast(chosen, dtype)
            projection = math_ops.matmul(columns, columns, transpose_b=True)
            pairs.append((projection, array_ops.eye(n, dtype=dtype) - projection))
        block: _Kernel = {}
        for place in itertools.product((0, 1), repeat=self._axes):
            factor = pairs[0][self._side(place[0])]
            for pair, i in zip(pairs[1:], place[1:]):
                factor = math_ops.matmul(factor, pair[self._side(i)])
            block[place] = factor
        return block

    def _side(self, i: int) -> int:
        return i


def _convolved(a: _Kernel, b: _Kernel) -> _Kernel:
    """Returns the convolution of kernels of matrices; None is the identity."""
    found: _Kernel = {}
    for p, x in a.items():
        for q, y in b.items():
            place = tuple(i + j for i, j in zip(p, q))
            product = y if x is None else math_ops.matmul(x, y)
            found[place] = found[place] + product if place in found else product
    return found


class convolutional_orthogonal_1d(_Orthogonal):  # noqa: N801
    """An initializer of kernels of convolutions over one axis that keep norms.

    Args:
      gain: A factor for the kernels.
      seed: A seed; see `tf.set_random_seed`.
      dtype: The dtype of results, unless the call names another.

    Raises:
      ValueError: The shape has not 3 axes, or there are more channels of inputs than of outputs.

    Example:
      >>> kernel = tf.contrib.framework.convolutional_orthogonal_1d(seed=1)([3, 2, 4])
      >>> print(tf.Session().run(tf.reduce_sum(tf.square(kernel))).round(3))
      2.0
    """


class convolutional_orthogonal_2d(_Orthogonal):  # noqa: N801
    """An initializer of kernels of convolutions over two axes that keep norms.

    Args:
      gain: A factor for the kernels.
      seed: A seed; see `tf.set_random_seed`.
      dtype: The dtype of results, unless the call names another.

    Raises:
      ValueError: The shape has not 4 axes, the sizes differ, or there are more channels of inputs than of
        outputs.

    Example:
      >>> kernel = tf.contrib.framework.convolutional_orthogonal_2d(seed=1)([3, 3, 2, 4])
      >>> print(tf.Session().run(tf.reduce_sum(tf.square(kernel))).round(3))
      2.0
    """

    _axes, _word = 2, "four"


class convolutional_orthogonal_3d(_Orthogonal):  # noqa: N801
    """An initializer of kernels of convolutions over three axes that keep norms.

    Args:
      gain: A factor for the kernels.
      seed: A seed; see `tf.set_random_seed`.
      dtype: The dtype of results, unless the call names another.

    Raises:
      ValueError: The shape has not 5 axes, the sizes differ, or there are more channels of inputs than of
        outputs.

    Example:
      >>> kernel = tf.contrib.framework.convolutional_orthogonal_3d(seed=1)([2, 2, 2, 2, 4])
      >>> print(tf.Session().run(tf.reduce_sum(tf.square(kernel))).round(3))
      2.0
    """

    _axes, _word = 3, "five"

    def _side(self, i: int) -> int:
        # TensorFlow's kernels over three axes have the complement first.
        return 1 - i
