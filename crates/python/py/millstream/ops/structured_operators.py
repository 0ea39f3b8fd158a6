"""`tf.linalg.LinearOperatorKronecker` and its like: operators made of others, or of few numbers."""

from __future__ import annotations

import functools
import operator as python_operator
from typing import Any, Dict, List, Optional, Sequence

from millstream.framework import convert_to_tensor, dtypes, errors, get_static_value, name_scope
from millstream.framework.op_functions import op
from millstream.framework.shapes import Dimension, TensorShape
from millstream.ops import array_ops, check_ops, control_flow, linalg_ops, math_ops, reduction_ops, shape_ops
from millstream.ops.linear_operators import LinearOperator, LinearOperatorDiag, LinearOperatorIdentity, _adjoint, _all_real, _no_zeros, _rows, broadcast_matrix_batch_dims

__all__ = [
    "LinearOperatorBlockDiag",
    "LinearOperatorCirculant",
    "LinearOperatorCirculant2D",
    "LinearOperatorCirculant3D",
    "LinearOperatorComposition",
    "LinearOperatorHouseholder",
    "LinearOperatorKronecker",
    "LinearOperatorLowRankUpdate",
    "LinearOperatorToeplitz",
    "LinearOperatorZeros",
]

def _product(values: Sequence[Any]) -> Any:
    return functools.reduce(python_operator.mul, values)


def _join_batches(one: Any, *others: Any) -> TensorShape:
    """Returns the static shape of batches that are broadcast."""
    return functools.reduce(array_ops.broadcast_static_shape, others, one)  # type: ignore[no-any-return]


class _OfSeveral(LinearOperator):
    """An operator made of a list of others."""

    _between, _empty = "", "Expected a non-empty list of operators. Found: %s"

    def __init__(self, operators: Any, hints: Dict[str, Optional[bool]], name: Optional[str]) -> None:
        if not isinstance(operators, (list, tuple)):
            raise TypeError('Expected argument "values" to be iterable.  Found: %s' % type(operators))
        if not operators:
            raise ValueError(self._empty % operators)
        self._operators = list(operators)
        dtype = self._operators[0].dtype
        if any(one.dtype != dtype for one in self._operators):
            raise TypeError("Expected all operators to have the same dtype.  Found %s" % "   ".join(str((o.name, o.dtype)) for o in self._operators))
        parents = [tensor for one in self._operators for tensor in one.graph_parents]
        super().__init__(dtype, parents, name=name or self._between.join(one.name for one in self._operators), **hints)

    @property
    def operators(self) -> List[LinearOperator]:
        """The operators that it is made of."""
        return self._operators

    def _batch(self) -> TensorShape:
        return _join_batches(*[one.batch_shape for one in self._operators])

    def _batch_tensor(self) -> Any:
        return functools.reduce(shape_ops.broadcast_dynamic_shape, [one.batch_shape_tensor() for one in self._operators])

    def _with_batch(self, rows: Any, columns: Any) -> Any:
        return array_ops.concat([self._batch_tensor(), array_ops.stack([rows, columns])], 0)


def _all(operators: Any, hint: str) -> bool:
    return isinstance(operators, (list, tuple)) and bool(operators) and all(getattr(one, hint) for one in operators)


def _hint(operators: Any, hint: str, given: Optional[bool], words: str) -> Optional[bool]:
    """Returns a hint that holds if it holds for all operators."""
    if not _all(operators, hint):
        return given
    if given is False:
        raise ValueError(words)
    return True


class LinearOperatorBlockDiag(_OfSeveral):
    """An operator whose matrix has those of other square operators on its diagonal, and zeros elsewhere.

    Args:
      operators: A list of square operators of one dtype.
      is_non_singular: As in `tf.linalg.LinearOperator`, like the arguments after it. Hints that are not given
        follow from those of the operators.
      name: The name; by default the operators' names, with `_ds_` between them.

    Raises:
      ValueError: There is no operator, one is not square, or a hint contradicts theirs.
      TypeError: The dtypes differ.

    Example:
      >>> full = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
      >>> operator = tf.linalg.LinearOperatorBlockDiag([full, tf.linalg.LinearOperatorDiag([5.0])])
      >>> print(tf.Session().run(operator.to_dense()))
      [[1. 2. 0.]
       [3. 4. 0.]
       [0. 0. 5.]]
      >>> len(operator.operators), operator.name
      (2, 'LinearOperatorFullMatrix_ds_LinearOperatorDiag')
    """

    _between = "_ds_"

    def __init__(
        self,
        operators: Any,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = True,
        name: Optional[str] = None,
    ) -> None:
        if isinstance(operators, (list, tuple)) and (not is_square or any(one.is_square is False for one in operators)):
            raise ValueError("Can only represent a block diagonal of square matrices.")
        hints = {
            "is_non_singular": _hint(operators, "is_non_singular", is_non_singular, "The direct sum of non-singular operators is always non-singular."),
            "is_self_adjoint": _hint(operators, "is_self_adjoint", is_self_adjoint, "The direct sum of self-adjoint operators is always self-adjoint."),
            "is_positive_definite": _hint(
                operators, "is_positive_definite", is_positive_definite, "The direct sum of positive definite operators is always positive definite."
            ),
            "is_square": True,
        }
        super().__init__(operators, hints, name)

    def _shape(self) -> TensorShape:
        rows = sum((one.range_dimension for one in self._operators), Dimension(0))
        return self._batch().concatenate([rows, rows])  # type: ignore[no-any-return]

    def _shape_tensor(self) -> Any:
        rows = sum(one.range_dimension_tensor() for one in self._operators)
        return self._with_batch(rows, rows)

    def _apply(self, x: Any, adjoint_arg: bool, compute: Any) -> Any:
        x = _adjoint(x) if adjoint_arg else x
        sizes = array_ops.stack([one.domain_dimension_tensor() for one in self._operators])
        known = [one.domain_dimension.value for one in self._operators]
        parts = array_ops.split(x, known if None not in known else sizes, axis=-2, num=len(known))
        done = [compute(one, part) for one, part in zip(self._operators, parts)]
        batch = functools.reduce(shape_ops.broadcast_dynamic_shape, [array_ops.shape(part)[:-2] for part in done])
        if any(part.shape[:-2] != done[0].shape[:-2] or not part.shape.is_fully_defined() for part in done):
            done = [op("BroadcastTo")(part, array_ops.concat([batch, array_ops.shape(part)[-2:]], 0)) for part in done]
        return array_ops.concat(done, -2)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return self._apply(x, adjoint_arg, lambda one, part: one.matmul(part, adjoint=adjoint))

    def _solve(self, rhs: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return self._apply(rhs, adjoint_arg, lambda one, part: one.solve(part, adjoint=adjoint))

    def _determinant(self) -> Any:
        return _product([one.determinant() for one in self._operators])

    def _log_abs_determinant(self) -> Any:
        return sum(one.log_abs_determinant() for one in self._operators)

    def _diag_part(self) -> Any:
        parts = [one.diag_part() for one in self._operators]
        batch = self._batch_tensor()
        return array_ops.concat([op("BroadcastTo")(part, array_ops.concat([batch, array_ops.shape(part)[-1:]], 0)) for part in parts], -1)

    def _trace(self) -> Any:
        return sum(one.trace() for one in self._operators)

    def _assert_non_singular(self) -> Any:
        return control_flow.group(*[one.assert_non_singular() for one in self._operators])

    def _assert_self_adjoint(self) -> Any:
        return control_flow.group(*[one.assert_self_adjoint() for one in self._operators])

    def _assert_positive_definite(self) -> Any:
        return control_flow.group(*[one.assert_positive_definite() for one in self._operators])

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorBlockDiag([one.adjoint() for one in self._operators], **self._hints())

    def _inverse(self) -> LinearOperator:
        return LinearOperatorBlockDiag([one.inverse() for one in self._operators], **{**self._hints(), "is_non_singular": True})

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorBlockDiag([one.cholesky() for one in self._operators], is_non_singular=True, is_self_adjoint=None, is_square=True)


class LinearOperatorComposition(_OfSeveral):
    """The product of other operators: the last one is applied first.

    Args:
      operators: A list of operators of one dtype.
      is_non_singular: As in `tf.linalg.LinearOperator`, like the arguments after it. It follows from the
        operators' if it is not given.
      name: The name; by default the operators' names, with `_o_` between them.

    Raises:
      ValueError: There is no operator, the dimensions do not fit, or a hint contradicts theirs.
      TypeError: The dtypes differ.

    Example:
      >>> full = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
      >>> diagonal = tf.linalg.LinearOperatorDiag([1.0, 10.0])
      >>> operator = tf.linalg.LinearOperatorComposition([full, diagonal])
      >>> print(tf.Session().run(operator.to_dense()))
      [[ 1. 20.]
       [ 3. 40.]]
      >>> operator.operators[0] is full
      True
    """

    _between = "_o_"

    def __init__(
        self,
        operators: Any,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: Optional[str] = None,
    ) -> None:
        hints = {
            "is_non_singular": _hint(operators, "is_non_singular", is_non_singular, "The composition of non-singular operators is always non-singular."),
            "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite,
            "is_square": is_square,
        }
        super().__init__(operators, hints, name)

    def _shape(self) -> TensorShape:
        for one, other in zip(self._operators, self._operators[1:]):
            one.domain_dimension.assert_is_compatible_with(other.range_dimension)
        return self._batch().concatenate([self._operators[0].range_dimension, self._operators[-1].domain_dimension])  # type: ignore[no-any-return]

    def _shape_tensor(self) -> Any:
        return self._with_batch(self._operators[0].range_dimension_tensor(), self._operators[-1].domain_dimension_tensor())

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        x = _adjoint(x) if adjoint_arg else x
        for one in self._operators if adjoint else reversed(self._operators):
            x = one.matmul(x, adjoint=adjoint)
        return x

    def _solve(self, rhs: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        rhs = _adjoint(rhs) if adjoint_arg else rhs
        for one in reversed(self._operators) if adjoint else self._operators:
            rhs = one.solve(rhs, adjoint=adjoint)
        return rhs

    def _determinant(self) -> Any:
        return _product([one.determinant() for one in self._operators])

    def _log_abs_determinant(self) -> Any:
        return sum(one.log_abs_determinant() for one in self._operators)


class LinearOperatorKronecker(_OfSeveral):
    """The Kronecker product of other operators.

    Args:
      operators: A list of operators of one dtype.
      is_non_singular: As in `tf.linalg.LinearOperator`, like the arguments after it. Hints that are not given
        follow from those of the operators.
      name: The name; by default the operators' names, with `_x_` between them.

    Raises:
      ValueError: There is no operator, or a hint contradicts theirs.
      TypeError: The dtypes differ.

    Example:
      >>> full = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
      >>> diagonal = tf.linalg.LinearOperatorDiag([1.0, 10.0])
      >>> operator = tf.linalg.LinearOperatorKronecker([full, diagonal])
      >>> print(tf.Session().run(operator.to_dense()))
      [[ 1.  0.  2.  0.]
       [ 0. 10.  0. 20.]
       [ 3.  0.  4.  0.]
       [ 0. 30.  0. 40.]]
      >>> print(tf.Session().run(operator.matvec([1.0, 1.0, 1.0, 1.0])), len(operator.operators))
      [ 3. 30.  7. 70.] 2
    """

    _between, _empty = "_x_", "Expected a list of >=1 operators. Found: %s"

    def __init__(
        self,
        operators: Any,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: Optional[str] = None,
    ) -> None:
        words = "The Kronecker product of %s operators is always %s."
        hints = {
            "is_non_singular": _hint(operators, "is_non_singular", is_non_singular, words % (("non-singular",) * 2)),
            "is_self_adjoint": _hint(operators, "is_self_adjoint", is_self_adjoint, words % (("self-adjoint",) * 2)),
            "is_positive_definite": _hint(operators, "is_positive_definite", is_positive_definite, words % (("positive-definite",) * 2)),
            "is_square": is_square,
        }
        if _all(operators, "is_square") and is_square is None:
            hints["is_square"] = True
        super().__init__(operators, hints, name)

    def _shape(self) -> TensorShape:
        rows = _product([one.range_dimension for one in self._operators])
        columns = _product([one.domain_dimension for one in self._operators])
        return self._batch().concatenate([rows, columns])  # type: ignore[no-any-return]

    def _shape_tensor(self) -> Any:
        rows = _product([one.range_dimension_tensor() for one in self._operators])
        return self._with_batch(rows, _product([one.domain_dimension_tensor() for one in self._operators]))

    def _apply(self, x: Any, adjoint_arg: bool, transposed: bool, compute: Any) -> Any:
        # Each operator is applied to the first axis, which then becomes the last: in the end the columns are
        # first, and the axes of the operators after them in their order.
        x = _adjoint(x) if adjoint_arg else x
        columns, batch, static = array_ops.shape(x)[-1], array_ops.shape(x)[:-2], x.shape
        for one in self._operators:
            size = one.range_dimension_tensor() if transposed else one.domain_dimension_tensor()
            x = array_ops.reshape(x, array_ops.concat([batch, array_ops.stack([size, -1])], 0))
            x = array_ops.matrix_transpose(compute(one, x))
            batch = array_ops.shape(x)[:-2]
        x = array_ops.reshape(x, array_ops.concat([batch, array_ops.stack([columns, -1])], 0))
        x = array_ops.matrix_transpose(x)
        if static.ndims is not None:
            rows = self.domain_dimension if transposed else self.range_dimension
            x.set_shape(_join_batches(static[:-2], self.batch_shape).concatenate([rows, static[-1]]))
        return x

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return self._apply(x, adjoint_arg, adjoint, lambda one, part: one.matmul(part, adjoint=adjoint))

    def _solve(self, rhs: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return self._apply(rhs, adjoint_arg, not adjoint, lambda one, part: one.solve(part, adjoint=adjoint))

    def _powers(self) -> List[Any]:
        whole = self.domain_dimension_tensor()
        return [math_ops.cast(whole // one.domain_dimension_tensor(), self.dtype) for one in self._operators]

    def _determinant(self) -> Any:
        return _product([op("Pow")(one.determinant(), power) for one, power in zip(self._operators, self._powers())])

    def _log_abs_determinant(self) -> Any:
        return sum(one.log_abs_determinant() * power for one, power in zip(self._operators, self._powers()))

    def _trace(self) -> Any:
        return _product([one.trace() for one in self._operators])

    def _diag_part(self) -> Any:
        def pair(a: Any, b: Any) -> Any:
            both = array_ops.expand_dims(a, -1) * array_ops.expand_dims(b, -2)
            return array_ops.reshape(both, array_ops.concat([array_ops.shape(both)[:-2], [-1]], 0))

        found = functools.reduce(pair, [one.diag_part() for one in self._operators])
        found.set_shape(self.batch_shape.concatenate(self.range_dimension if self.is_square else None))
        return found

    def _to_dense(self) -> Any:
        def pair(a: Any, b: Any) -> Any:
            a = array_ops.expand_dims(array_ops.expand_dims(a, -2), -1)  # [.., m, 1, n, 1]
            b = array_ops.expand_dims(array_ops.expand_dims(b, -2), -4)  # [.., 1, p, 1, q]
            both = a * b
            size = array_ops.shape(both)
            return array_ops.reshape(both, array_ops.concat([size[:-4], array_ops.stack([size[-4] * size[-3], size[-2] * size[-1]])], 0))

        found = functools.reduce(pair, [one.to_dense() for one in self._operators])
        found.set_shape(self.shape)
        return found

    def _assert_non_singular(self) -> Any:
        if all(one.is_square for one in self._operators):
            return control_flow.group(*[one.assert_non_singular() for one in self._operators])
        raise errors.InvalidArgumentError(None, None, "All Kronecker factors must be square for the product to be invertible.")

    def _assert_self_adjoint(self) -> Any:
        if all(one.is_square for one in self._operators):
            return control_flow.group(*[one.assert_self_adjoint() for one in self._operators])
        raise errors.InvalidArgumentError(None, None, "All Kronecker factors must be square for the product to be self adjoint.")

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorKronecker([one.adjoint() for one in self._operators], **self._hints())

    def _inverse(self) -> LinearOperator:
        return LinearOperatorKronecker([one.inverse() for one in self._operators], **{**self._hints(), "is_non_singular": True})

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorKronecker([one.cholesky() for one in self._operators], is_non_singular=True, is_square=True)


class _Circulant(LinearOperator):
    """The operators of circulant matrices, nested `_depth` times."""

    _depth = 1
    _transforms = ("FFT", "IFFT")

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = dtypes.complex64,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = True,
        name: Optional[str] = None,
    ) -> None:
        name = name or type(self).__name__
        with name_scope(name, values=[spectrum]):
            self._spectrum = convert_to_tensor(spectrum, name="spectrum")
            ndims = self._spectrum.get_shape().ndims
            if ndims is not None and ndims < self._depth:
                raise ValueError("Argument spectrum must have at least %d dimensions.  Found: %s" % (self._depth, self._spectrum))
            if not self._spectrum.dtype.is_complex:
                if is_self_adjoint is False:
                    raise ValueError("A real spectrum always corresponds to a self-adjoint operator.")
                is_self_adjoint = True
            if is_square is False:
                raise ValueError("A [[nested] block] circulant operator is always square.")
        super().__init__(input_output_dtype, [self._spectrum], is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    @property
    def block_depth(self) -> int:
        """How often blocks are nested: 1 for `LinearOperatorCirculant`."""
        return self._depth

    @property
    def spectrum(self) -> Any:
        """The eigenvalues."""
        return self._spectrum

    @property
    def block_shape(self) -> TensorShape:
        """The static shape of the spectrum without the batch."""
        return self._spectrum.shape[-self._depth :]  # type: ignore[no-any-return]

    def block_shape_tensor(self) -> Any:
        """Returns the shape of the spectrum without the batch."""
        return array_ops.shape(self._spectrum)[-self._depth :]

    def _complex(self, x: Any) -> Any:
        kind = x.dtype if x.dtype.is_complex else dtypes.complex128 if x.dtype.base_dtype == dtypes.float64 else dtypes.complex64
        return math_ops.cast(x, kind)

    def convolution_kernel(self, name: str = "convolution_kernel") -> Any:
        """Returns the first column of each matrix: the inverse transform of the spectrum."""
        return self._scoped(name, lambda: math_ops.cast(op(self._transforms[1])(self._complex(self._spectrum)), self.dtype))

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Any:
        """Returns an operation that fails if the matrix is not real: its first column has imaginary parts."""

        def check() -> Any:
            kernel = op(self._transforms[1])(self._complex(self._spectrum))
            error = reduction_ops.reduce_max(math_ops.abs(math_ops.imag(kernel)))
            limit = math_ops.cast(1e3 * float(kernel.dtype.real_dtype.as_numpy_dtype(2.0**-23)), error.dtype)
            return check_ops.assert_less(error, limit, message="Real parts of spectrum were not even, or imaginary parts not odd.")

        return self._scoped(name, check)

    def _size(self) -> Any:
        return reduction_ops.reduce_prod(self.block_shape_tensor())

    def _axes(self) -> List[int]:
        return list(range(-self._depth, 0))

    def _shape(self) -> TensorShape:
        known = self._spectrum.shape
        if known.ndims is None:
            return TensorShape(None)
        size = _product(list(known[-self._depth :]))
        return known[: -self._depth].concatenate([size, size])  # type: ignore[no-any-return]

    def _shape_tensor(self) -> Any:
        size = self._size()
        return array_ops.concat([array_ops.shape(self._spectrum)[: -self._depth], array_ops.stack([size, size])], 0)

    def _apply(self, x: Any, adjoint_arg: bool, compute: Any) -> Any:
        x = self._complex(_adjoint(x) if adjoint_arg else x)
        static, columns = x.shape, array_ops.shape(x)[-1]
        x = array_ops.matrix_transpose(x)
        x = array_ops.reshape(x, array_ops.concat([array_ops.shape(x)[:-1], self.block_shape_tensor()], 0))
        spectrum = array_ops.expand_dims(self._complex(self._spectrum), -self._depth - 1)
        done = op(self._transforms[1])(compute(op(self._transforms[0])(x), spectrum))
        done = array_ops.reshape(done, array_ops.concat([array_ops.shape(done)[: -self._depth - 1], array_ops.stack([columns, self._size()])], 0))
        done = math_ops.cast(array_ops.matrix_transpose(done), self.dtype)
        if static.ndims is not None and self.shape.ndims is not None:
            done.set_shape(_join_batches(static[:-2], self.batch_shape).concatenate([self.range_dimension, static[-1]]))
        return done

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return self._apply(x, adjoint_arg, lambda x, s: x * (math_ops.conj(s) if adjoint else s))

    def _solve(self, rhs: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return self._apply(rhs, adjoint_arg, lambda x, s: x / (math_ops.conj(s) if adjoint else s))

    def _determinant(self) -> Any:
        return math_ops.cast(reduction_ops.reduce_prod(self._spectrum, self._axes()), self.dtype)

    def _log_abs_determinant(self) -> Any:
        found = reduction_ops.reduce_sum(op("Log")(math_ops.abs(self._spectrum)), self._axes())
        return math_ops.cast(found, self.dtype)

    def _trace(self) -> Any:
        return math_ops.cast(reduction_ops.reduce_sum(self._spectrum, self._axes()), self.dtype)

    def _diag_part(self) -> Any:
        size = self._size()
        mean = self._trace() / math_ops.cast(size, self.dtype)
        found = array_ops.expand_dims(mean, -1) * array_ops.ones(array_ops.expand_dims(size, 0), self.dtype)
        found.set_shape(self.batch_shape.concatenate(self.range_dimension))
        return found

    def _assert_non_singular(self) -> Any:
        return _no_zeros(self._spectrum, "Singular operator:  Spectrum contained zero values.")

    def _assert_positive_definite(self) -> Any:
        return check_ops.assert_positive(math_ops.real(self._spectrum), message="Not positive definite:  Real part of spectrum was not all positive.")

    def _assert_self_adjoint(self) -> Any:
        return _all_real(self._spectrum, "Not self-adjoint:  The spectrum contained non-zero imaginary part.")


class LinearOperatorCirculant(_Circulant):
    """An operator over circulant matrices, each row of which is the one before it, shifted to the right.

    Args:
      spectrum: A tensor of at least one axis: the Fourier transform of the first columns.
      input_output_dtype: The dtype of what the operator takes and returns.
      is_non_singular: As in `tf.linalg.LinearOperator`, like the arguments after it. A real spectrum makes a
        self-adjoint operator.
      name: The name.

    Raises:
      ValueError: The rank is too low, or a hint contradicts what the operator is.

    Example:
      >>> operator = tf.linalg.LinearOperatorCirculant([6.0, 0.0, 0.0], input_output_dtype=tf.float32)
      >>> print(tf.Session().run(operator.matvec([1.0, 2.0, 3.0])))
      [12. 12. 12.]
      >>> operator.block_depth, operator.block_shape, operator.spectrum.shape
      (1, TensorShape([Dimension(3)]), TensorShape([Dimension(3)]))
      >>> print(*tf.Session().run([operator.convolution_kernel(), operator.block_shape_tensor()]))
      [2. 2. 2.] [3]
      >>> check = operator.assert_hermitian_spectrum()
    """

    def _again(self, spectrum: Any, **hints: Any) -> LinearOperator:
        return LinearOperatorCirculant(spectrum, self.dtype, **{**self._hints(), **hints})

    def _adjoint(self) -> LinearOperator:
        return self._again(math_ops.conj(self._spectrum))

    def _inverse(self) -> LinearOperator:
        return self._again(1.0 / self._spectrum, is_non_singular=True)


class LinearOperatorCirculant2D(_Circulant):
    """An operator over block circulant matrices of circulant blocks: convolutions of periodic images.

    Args:
      spectrum: A tensor of at least two axes: the two-dimensional Fourier transform of kernels.
      input_output_dtype: The dtype of what the operator takes and returns.
      is_non_singular: As in `tf.linalg.LinearOperator`, like the arguments after it. A real spectrum makes a
        self-adjoint operator.
      name: The name.

    Raises:
      ValueError: The rank is too low, or a hint contradicts what the operator is.

    Example:
      >>> operator = tf.linalg.LinearOperatorCirculant2D(tf.ones([2, 3]), input_output_dtype=tf.float32)
      >>> operator.shape.as_list(), operator.block_depth
      ([6, 6], 2)
    """

    _depth, _transforms = 2, ("FFT2D", "IFFT2D")


class LinearOperatorCirculant3D(_Circulant):
    """An operator over block circulant matrices, nested twice: convolutions of periodic volumes.

    Args:
      spectrum: A tensor of at least three axes: the three-dimensional Fourier transform of kernels.
      input_output_dtype: The dtype of what the operator takes and returns.
      is_non_singular: As in `tf.linalg.LinearOperator`, like the arguments after it. A real spectrum makes a
        self-adjoint operator.
      name: The name.

    Raises:
      ValueError: The rank is too low, or a hint contradicts what the operator is.

    Example:
      >>> operator = tf.linalg.LinearOperatorCirculant3D(tf.ones([2, 2, 2]), input_output_dtype=tf.float32)
      >>> operator.shape.as_list(), operator.block_depth
      ([8, 8], 3)
    """

    _depth, _transforms = 3, ("FFT3D", "IFFT3D")


class LinearOperatorHouseholder(LinearOperator):
    """A reflection: it changes the sign of one direction.

    Args:
      reflection_axis: A tensor of at least one axis: the directions, of any length.
      is_non_singular: As in `tf.linalg.LinearOperator`, like the arguments after it.
      name: The name.

    Raises:
      ValueError: The rank is too low, or a hint contradicts what the operator is.

    Example:
      >>> operator = tf.linalg.LinearOperatorHouseholder([0.0, 5.0])
      >>> print(tf.Session().run(operator.matvec([1.0, 2.0])), operator.reflection_axis.shape)
      [ 1. -2.] (2,)
    """

    def __init__(
        self,
        reflection_axis: Any,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        with name_scope(name, values=[reflection_axis]):
            self._reflection_axis = convert_to_tensor(reflection_axis, name="reflection_axis")
            if self._reflection_axis.shape.ndims == 0:
                raise ValueError("Argument reflection_axis must have at least 1 dimension.  Found: %s" % self._reflection_axis)
            if is_self_adjoint is False:
                raise ValueError("A Householder operator is always self adjoint.")
            if is_positive_definite is True:
                raise ValueError("A Householder operator is always non-positive definite.")
            if is_square is False:
                raise ValueError("A Householder operator is always square.")
        super().__init__(self._reflection_axis.dtype, [self._reflection_axis], is_non_singular, True, False, True, name)

    @property
    def reflection_axis(self) -> Any:
        """The directions."""
        return self._reflection_axis

    def _shape(self) -> TensorShape:
        known = self._reflection_axis.shape
        return known.concatenate(known[-1:])  # type: ignore[no-any-return]

    def _shape_tensor(self) -> Any:
        size = array_ops.shape(self._reflection_axis)
        return array_ops.concat([size, size[-1:]], 0)

    def _unit(self) -> Any:
        axis = self._reflection_axis
        square = reduction_ops.reduce_sum(axis * math_ops.conj(axis), -1, keepdims=True)
        return axis / math_ops.sqrt(square)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        x = _adjoint(x) if adjoint_arg else x
        unit = array_ops.expand_dims(self._unit(), -1)
        return x - 2 * unit * math_ops.matmul(unit, x, adjoint_a=True)

    def _solve(self, rhs: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _to_dense(self) -> Any:
        unit = array_ops.expand_dims(self._unit(), -1)
        matrix = -2 * math_ops.matmul(unit, unit, adjoint_b=True)
        return linalg_ops.matrix_set_diag(matrix, 1.0 + linalg_ops.matrix_diag_part(matrix))

    def _diag_part(self) -> Any:
        unit = self._unit()
        return 1.0 - 2 * unit * math_ops.conj(unit)

    def _trace(self) -> Any:
        size = math_ops.cast(self.domain_dimension_tensor(), self.dtype)
        return (size - 2) * array_ops.ones(self.batch_shape_tensor(), self.dtype)

    def _determinant(self) -> Any:
        return -array_ops.ones(self.batch_shape_tensor(), self.dtype)

    def _log_abs_determinant(self) -> Any:
        return array_ops.zeros(self.batch_shape_tensor(), self.dtype)

    def _assert_non_singular(self) -> Any:
        return control_flow.no_op()

    def _assert_self_adjoint(self) -> Any:
        return control_flow.no_op()

    def _assert_positive_definite(self) -> Any:
        raise errors.InvalidArgumentError(None, None, "Householder operators are always non-positive definite.")

    def _adjoint(self) -> LinearOperator:
        return self

    def _inverse(self) -> LinearOperator:
        return self


class LinearOperatorLowRankUpdate(LinearOperator):
    """The sum of another operator L and a product of low rank: `L + U D V^H`.

    Args:
      base_operator: The operator L.
      u: A tensor of at least two axes, U.
      diag_update: A tensor of at least one axis, the diagonal of D; ones by default.
      v: A tensor, V; U by default.
      is_diag_update_positive: Whether all of `diag_update` is known to be positive.
      is_non_singular: As in `tf.linalg.LinearOperator`, like the arguments after it. Hints that are not given
        follow from those of the other operator if `v` is not given.
      name: The name.

    Raises:
      ValueError: The shapes do not fit, or a hint contradicts what the operator is.

    Example:
      >>> base = tf.linalg.LinearOperatorDiag([1.0, 2.0], is_positive_definite=True)
      >>> operator = tf.linalg.LinearOperatorLowRankUpdate(base, [[1.0], [1.0]])
      >>> print(*tf.Session().run([operator.to_dense(), operator.determinant()]))
      [[2. 1.]
       [1. 3.]] 5.0
      >>> operator.base_operator is base, operator.u is operator.v, operator.is_diag_update_positive
      (True, True, True)
      >>> operator.diag_update, operator.diag_operator.shape.as_list()
      (None, [1, 1])
    """

    def __init__(
        self,
        base_operator: LinearOperator,
        u: Any,
        diag_update: Any = None,
        v: Any = None,
        is_diag_update_positive: Optional[bool] = None,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError("Default diagonal is the identity, which is positive.  However, user set 'is_diag_update_positive' to False.")
            is_diag_update_positive = True
        definite = bool(base_operator.is_self_adjoint and base_operator.is_positive_definite and is_diag_update_positive and v is None)
        real = base_operator.is_self_adjoint and v is None and not base_operator.dtype.is_complex
        if definite:
            for given, words in (
                (is_non_singular, "Arguments imply this is self-adjoint positive-definite operator."),
                (is_self_adjoint, "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is self-adjoint, this must be a self-adjoint operator."),
                (is_positive_definite, "Arguments imply this is self-adjoint positive-definite operator."),
            ):
                if given is False:
                    raise ValueError(words)
            is_non_singular = is_self_adjoint = is_positive_definite = True
        elif real:
            if is_self_adjoint is False:
                raise ValueError(
                    "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is self-adjoint, this must be a self-adjoint operator."
                )
            is_self_adjoint = True
        with name_scope(name, values=[u, diag_update, v]):
            self._u = convert_to_tensor(u, name="u")
            self._v = self._u if v is None else convert_to_tensor(v, name="v")
            self._diag_update = None if diag_update is None else convert_to_tensor(diag_update, name="diag_update")
            self._base, self._definite, self._positive = base_operator, definite, is_diag_update_positive
            array_ops.broadcast_static_shape(self._u.shape[:-2], base_operator.batch_shape)
            base_operator.domain_dimension.assert_is_compatible_with(self._u.shape[-2])
            array_ops.broadcast_static_shape(self._u.shape, self._v.shape)
            if self._diag_update is not None:
                self._u.shape[-1].assert_is_compatible_with(self._diag_update.shape[-1])
                self._diag: LinearOperator = LinearOperatorDiag(self._diag_update, is_positive_definite=is_diag_update_positive)
            else:
                rank = self._u.shape[-1].value
                self._diag = LinearOperatorIdentity(array_ops.shape(self._u)[-1] if rank is None else rank, dtype=base_operator.dtype)
        parents = [*base_operator.graph_parents, self._u, *([] if v is None else [self._v]), *([] if diag_update is None else [self._diag_update])]
        super().__init__(base_operator.dtype, parents, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)
        self._shape()

    @property
    def base_operator(self) -> LinearOperator:
        """The operator L."""
        return self._base

    @property
    def u(self) -> Any:
        """The matrices U."""
        return self._u

    @property
    def v(self) -> Any:
        """The matrices V."""
        return self._v

    @property
    def diag_update(self) -> Any:
        """The diagonal of D, or None."""
        return self._diag_update

    @property
    def diag_operator(self) -> LinearOperator:
        """The operator D."""
        return self._diag

    @property
    def is_diag_update_positive(self) -> Optional[bool]:
        """Whether all of `diag_update` is known to be positive."""
        return self._positive

    def _shape(self) -> TensorShape:
        batch = _join_batches(self._base.batch_shape, self._diag.batch_shape, self._u.shape[:-2], self._v.shape[:-2])
        return batch.concatenate(self._base.shape[-2:])  # type: ignore[no-any-return]

    def _shape_tensor(self) -> Any:
        parts = [self._base.batch_shape_tensor(), self._diag.batch_shape_tensor(), array_ops.shape(self._u)[:-2], array_ops.shape(self._v)[:-2]]
        batch = functools.reduce(shape_ops.broadcast_dynamic_shape, parts)
        return array_ops.concat([batch, self._base.shape_tensor()[-2:]], 0)

    def _sides(self, adjoint: bool) -> Any:
        return (self._v, self._u) if adjoint else (self._u, self._v)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        u, v = self._sides(adjoint)
        inner = self._diag.matmul(math_ops.matmul(v, x, adjoint_a=True, adjoint_b=adjoint_arg), adjoint=adjoint)
        return self._base.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg) + math_ops.matmul(u, inner)

    def _capacitance(self) -> Any:
        # D^-1 + V^H L^-1 U, of the rank of the update.
        return self._diag.inverse().add_to_tensor(math_ops.matmul(self._v, self._base.solve(self._u), adjoint_a=True))

    def _solve(self, rhs: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        # The identity of Woodbury: the matrix to solve has the rank of the update.
        u, v = self._sides(adjoint)
        rhs = _adjoint(rhs) if adjoint_arg else rhs
        first = self._base.solve(rhs, adjoint=adjoint)
        inner = math_ops.matmul(v, first, adjoint_a=True)
        capacitance = self._capacitance()
        capacitance, inner = broadcast_matrix_batch_dims([capacitance, inner])
        solved = op("MatrixSolve")(capacitance, inner, adjoint=adjoint)
        return first - self._base.solve(math_ops.matmul(u, solved), adjoint=adjoint)

    def _determinant(self) -> Any:
        return op("MatrixDeterminant")(self._capacitance()) * self._diag.determinant() * self._base.determinant()

    def _log_abs_determinant(self) -> Any:
        log = op("LogMatrixDeterminant")(self._capacitance())[1]
        return log + self._diag.log_abs_determinant() + self._base.log_abs_determinant()


class LinearOperatorToeplitz(LinearOperator):
    """An operator over Toeplitz matrices, whose diagonals are constant.

    Args:
      col: A tensor of at least one axis: the first columns.
      row: A tensor of the same last dimension: the first rows, whose first elements are ignored.
      is_non_singular: As in `tf.linalg.LinearOperator`, like the arguments after it.
      name: The name.

    Raises:
      ValueError: A rank is too low, the sizes differ, or `is_square` is false.

    Example:
      >>> operator = tf.linalg.LinearOperatorToeplitz([1.0, 2.0, 3.0], [1.0, -4.0, -9.0])
      >>> print(tf.Session().run(tf.round(operator.to_dense())))
      [[ 1. -4. -9.]
       [ 2.  1. -4.]
       [ 3.  2.  1.]]
      >>> operator.col.shape, operator.row.shape
      (TensorShape([Dimension(3)]), TensorShape([Dimension(3)]))
    """

    def __init__(
        self,
        col: Any,
        row: Any,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        with name_scope(name, values=[row, col]):
            self._row, self._col = convert_to_tensor(row, name="row"), convert_to_tensor(col, name="col")
            for tensor, word in ((self._row, "row"), (self._col, "col")):
                if tensor.shape.ndims == 0:
                    raise ValueError("Argument %s must have at least 1 dimension.  Found: %s" % (word, tensor))
            a, b = (x.shape[-1].value if x.shape.ndims is not None else None for x in (self._row, self._col))
            if None not in (a, b) and a != b:
                raise ValueError("Expected square matrix, got row and col with mismatched dimensions.")
            if is_square is False:
                raise ValueError("Only square Toeplitz operators currently supported.")
        super().__init__(self._row.dtype, [self._row, self._col], is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    @property
    def col(self) -> Any:
        """The first columns."""
        return self._col

    @property
    def row(self) -> Any:
        """The first rows."""
        return self._row

    def _shape(self) -> TensorShape:
        known = array_ops.broadcast_static_shape(self._row.shape, self._col.shape)
        return known.concatenate(known[-1:])  # type: ignore[no-any-return]

    def _shape_tensor(self) -> Any:
        size = shape_ops.broadcast_dynamic_shape(array_ops.shape(self._row), array_ops.shape(self._col))
        return array_ops.concat([size, size[-1:]], 0)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        # A Toeplitz matrix of n rows is a corner of a circulant one of 2 n - 1.
        x = _adjoint(x) if adjoint_arg else x
        col, row = (math_ops.conj(self._row), math_ops.conj(self._col)) if adjoint else (self._col, self._row)
        # The corner of the matrix is that of the column.
        first = math_ops.conj(self._col)[..., :1] if adjoint else col[..., :1]
        batch = shape_ops.broadcast_dynamic_shape(array_ops.shape(col), array_ops.shape(row))
        col = op("BroadcastTo")(array_ops.concat([first, col[..., 1:]], -1), batch)
        row = op("BroadcastTo")(row, batch)
        circle = array_ops.concat([col, op("ReverseV2")(row[..., 1:], [-1])], -1)
        kind = dtypes.complex128 if self.dtype in (dtypes.float64, dtypes.complex128) else dtypes.complex64
        n = array_ops.shape(col)[-1]
        size = array_ops.shape(x)
        x = array_ops.concat([x, array_ops.zeros(array_ops.concat([size[:-2], array_ops.stack([n - 1, size[-1]])], 0), x.dtype)], -2)
        spectrum = array_ops.expand_dims(op("FFT")(math_ops.cast(circle, kind)), -2)
        moved = op("FFT")(array_ops.matrix_transpose(math_ops.cast(x, kind)))
        found = math_ops.cast(array_ops.matrix_transpose(op("IFFT")(moved * spectrum)), self.dtype)
        return found[..., : self.shape[-1].value if self.shape[-1].value is not None else n, :]

    def _trace(self) -> Any:
        ones = array_ops.ones(self.batch_shape_tensor(), self.dtype)
        return math_ops.cast(self.domain_dimension_tensor(), self.dtype) * self._col[..., 0] * ones

    def _diag_part(self) -> Any:
        return array_ops.ones(self._shape_tensor()[:-1], self.dtype) * self._col[..., :1]

    def _assert_self_adjoint(self) -> Any:
        return check_ops.assert_equal(self._row, self._col, message="row and col are not the same, and so this operator is not self-adjoint.")


class LinearOperatorZeros(LinearOperator):
    """An operator whose matrix is zero.

    Args:
      num_rows: The number of rows.
      num_columns: The number of columns; that of rows by default.
      batch_shape: The shape of a batch; none by default.
      dtype: The dtype; `float32` by default.
      is_non_singular: As in `tf.linalg.LinearOperator`, like the arguments after it.
      assert_proper_shapes: Ignored: shapes are always checked.
      name: The name.

    Raises:
      ValueError: A size is negative, or a hint contradicts what the operator is.
      TypeError: A size is no integer.

    Example:
      >>> operator = tf.linalg.LinearOperatorZeros(2)
      >>> print(*tf.Session().run([operator.matvec([1.0, 2.0]), operator.trace()]))
      [0. 0.] 0.0
    """

    def __init__(
        self,
        num_rows: Any,
        num_columns: Any = None,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: Optional[bool] = False,
        is_self_adjoint: Optional[bool] = True,
        is_positive_definite: Optional[bool] = False,
        is_square: Optional[bool] = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        with name_scope(name):
            self._num_rows, rows = _rows(num_rows)
            self._num_columns, columns = (self._num_rows, rows) if num_columns is None else _rows(num_columns, "num_columns")
            self._batch = None if batch_shape is None else convert_to_tensor(batch_shape, dtype=dtypes.int32, name="batch_shape")
            if self._batch is not None and self._batch.shape.ndims not in (None, 1):
                raise ValueError("Argument batch_shape must be a 1-D Tensor.  Found: %s" % batch_shape)
            known = TensorShape([]) if self._batch is None else None if get_static_value(self._batch) is None else TensorShape(get_static_value(self._batch))
            self._known = TensorShape(None) if known is None else known.concatenate([rows, columns])
            if is_non_singular is True:
                raise ValueError("A zero operator is always singular.")
            if is_positive_definite is True:
                raise ValueError("A zero operator is always not positive-definite.")
            if is_square and rows != columns:
                raise ValueError("LinearOperatorZeros initialized as is_square=True, but got num_rows(%s) != num_columns(%s)" % (rows, columns))
            if is_square and not is_self_adjoint:
                raise ValueError("A zero operator is always self adjoint.")
        super().__init__(dtype or dtypes.float32, [], is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    def _shape(self) -> TensorShape:
        return self._known

    def _shape_tensor(self) -> Any:
        batch = convert_to_tensor([], dtype=dtypes.int32) if self._batch is None else self._batch
        return array_ops.concat([batch, array_ops.stack([self._num_rows, self._num_columns])], 0)

    def _zeros(self, *ends: Any) -> Any:
        return array_ops.zeros(array_ops.concat([self._shape_tensor()[:-2], array_ops.stack(list(ends)) if ends else []], 0), self.dtype)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        size = array_ops.shape(x)
        rows = self._num_columns if adjoint else self._num_rows
        batch = shape_ops.broadcast_dynamic_shape(self._shape_tensor()[:-2], size[:-2])
        return array_ops.zeros(array_ops.concat([batch, array_ops.stack([rows, size[-2 if adjoint_arg else -1]])], 0), self.dtype)

    def _to_dense(self) -> Any:
        return array_ops.zeros(self._shape_tensor(), self.dtype)

    def _determinant(self) -> Any:
        return array_ops.zeros(self._shape_tensor()[:-2], self.dtype)

    def _trace(self) -> Any:
        return array_ops.zeros(self._shape_tensor()[:-2], self.dtype)

    def _diag_part(self) -> Any:
        return self._zeros(op("Minimum")(self._num_rows, self._num_columns))

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Any:
        """Returns the sum with matrices: they themselves, of the batch."""
        return super().add_to_tensor(mat, name)

    def _assert_non_singular(self) -> Any:
        raise errors.InvalidArgumentError(None, None, "Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Any:
        raise errors.InvalidArgumentError(None, None, "Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return control_flow.no_op()
