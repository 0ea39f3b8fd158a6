"""`tf.linalg.LinearOperator`: matrices that are known by what they do: diagonal, triangular and full ones."""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, List, Optional

import numpy as np

from millstream.framework import convert_to_tensor, dtypes, get_static_value, name_scope
from millstream.framework.module import Module
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape
from millstream.ops import array_ops, check_ops, control_flow, linalg_ops, math_ops, reduction_ops, shape_ops

__all__ = [
    "LinearOperator",
    "LinearOperatorAdjoint",
    "LinearOperatorDiag",
    "LinearOperatorFullMatrix",
    "LinearOperatorIdentity",
    "LinearOperatorInversion",
    "LinearOperatorLowerTriangular",
    "LinearOperatorScaledIdentity",
]


def _adjoint(x: Any) -> Any:
    return linalg_ops.adjoint(x)


def assert_is_batch_matrix(tensor: Any) -> None:
    """Raises an error if a tensor is known to have fewer than two axes.

    Raises:
      ValueError: It has.
    """
    known = tensor.get_shape()
    if known.ndims is not None and known.ndims < 2:
        raise ValueError("Expected a [batch] matrix with at least two dimensions.  Found: %s" % tensor)


def broadcast_matrix_batch_dims(batch_matrices: Any, name: Optional[str] = None) -> List[Any]:
    """Returns matrices with the same shape of batch.

    Raises:
      ValueError: The shapes of batches do not fit, or a tensor has fewer than two axes.
    """
    with name_scope(name or "broadcast_matrix_batch_dims", values=batch_matrices):
        found = [convert_to_tensor(one) for one in batch_matrices]
        for one in found:
            assert_is_batch_matrix(one)
        if len(found) < 2:
            return found
        static = functools.reduce(array_ops.broadcast_static_shape, [one.get_shape()[:-2] for one in found])
        if static.is_fully_defined():
            wanted: Any = static.as_list()
            return [one if one.get_shape()[:-2] == static else op("BroadcastTo")(one, wanted + _ends(one)) for one in found]
        batch = functools.reduce(shape_ops.broadcast_dynamic_shape, [array_ops.shape(one)[:-2] for one in found])
        made = []
        for one in found:
            wide = op("BroadcastTo")(one, array_ops.concat([batch, array_ops.shape(one)[-2:]], 0))
            wide.set_shape(static.concatenate(one.get_shape()[-2:]))
            made.append(wide)
        return made


def _ends(one: Any) -> Any:
    known = one.get_shape()[-2:]
    return known.as_list() if known.is_fully_defined() else [array_ops.shape(one)[-2], array_ops.shape(one)[-1]]


class Rules:
    """What to do with operators of given classes: the rule of the nearest base classes holds."""

    def __init__(self) -> None:
        self._rules: Dict[Any, Callable[..., Any]] = {}

    def add(self, *classes: Any) -> Callable[[Any], Any]:
        """A decorator of a function of operators of these classes.

        Raises:
          TypeError: It is no function.
          ValueError: The classes have a rule.
        """

        def decorate(function: Any) -> Any:
            if not callable(function):
                raise TypeError("a rule must be a function, not %r" % (function,))
            if classes in self._rules:
                raise ValueError("%s has already been registered to: %s" % (", ".join(c.__name__ for c in classes), self._rules[classes]))
            self._rules[classes] = function
            return function

        return decorate

    def find(self, *operators: Any) -> Callable[..., Any]:
        """Returns the rule for operators.

        Raises:
          NotImplementedError: There is none.
        """
        best: Any = None
        for classes, function in self._rules.items():
            if all(isinstance(one, kind) for one, kind in zip(operators, classes)):
                far = sum(type(one).__mro__.index(kind) for one, kind in zip(operators, classes))
                if best is None or far < best[0]:
                    best = far, function
        if best is None:
            raise NotImplementedError("no rule for %s" % ", ".join(type(one).__name__ for one in operators))
        return best[1]  # type: ignore[no-any-return]


# The operators that others multiply or solve, and those that `adjoint`, `inverse` and `cholesky` return.
products, quotients, adjoints, inverses, factors = Rules(), Rules(), Rules(), Rules(), Rules()


class LinearOperator(Module):
    """The base class of matrices, or batches of them, that are known by what they do.

    Subclasses define `_shape`, `_shape_tensor`, `_matmul` and what they compute faster than with the matrix.

    Args:
      dtype: The dtype of the elements.
      graph_parents: The tensors that define the operator.
      is_non_singular: Whether it has an inverse; None if that is not known.
      is_self_adjoint: Whether it is its own adjoint.
      is_positive_definite: Whether it is positive definite.
      is_square: Whether it has as many rows as columns.
      name: The name scope of its operations.

    Raises:
      ValueError: The hints contradict each other.

    Example:
      >>> operator = tf.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [1.0, 4.0]])
      >>> with tf.Session() as sess:
      ...     print(sess.run(operator.matvec([1.0, 1.0])), sess.run(operator.determinant()))
      [2. 5.] 8.0
      >>> operator.shape, operator.batch_shape, operator.domain_dimension, operator.dtype
      (TensorShape([Dimension(2), Dimension(2)]), TensorShape([]), Dimension(2), tf.float32)
      >>> operator.name, len(operator.graph_parents), operator.tensor_rank, operator.range_dimension
      ('LinearOperatorFullMatrix', 1, 2, Dimension(2))
      >>> operator.is_square, operator.is_non_singular, operator.is_self_adjoint, operator.is_positive_definite
      (True, None, None, None)
      >>> x = [[1.0], [1.0]]
      >>> made = [operator.matmul(x), operator.solve(x), operator.add_to_tensor(operator.to_dense())]
      >>> [tensor.shape.as_list() for tensor in made]
      [[2, 1], [2, 1], [2, 2]]
      >>> numbers = [operator.trace(), operator.log_abs_determinant(), operator.domain_dimension_tensor(),
      ...            operator.range_dimension_tensor(), operator.tensor_rank_tensor()]
      >>> print(*tf.Session().run(numbers))
      6.0 2.0794415 2 2 2
      >>> vectors = [operator.shape_tensor(), operator.batch_shape_tensor(), operator.diag_part(),
      ...            operator.solvevec([2.0, 5.0])]
      >>> print(*tf.Session().run(vectors))
      [2 2] [] [2. 4.] [1. 1.]
      >>> tf.Session().run(tf.linalg.LinearOperatorDiag([1.0]).assert_non_singular())
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> LinearOperator:
        """Makes an operator that keeps what it is given: variables are found there, while it computes with
        tensors.
        """
        made = super().__new__(cls)
        made._given = (args, tuple(kwargs.values()))
        return made

    _given: Any

    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: Optional[str] = None,
    ) -> None:
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular matrix is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("A self-adjoint matrix is always square.")
            is_square = True
        self._is_square_set_or_implied_by_hints = is_square
        self._dtype = dtypes.as_dtype(dtype).base_dtype if dtype else dtype
        self._graph_parents = list(graph_parents or [])
        self._is_non_singular, self._is_self_adjoint = is_non_singular, is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._name = name or type(self).__name__
        self._scope_name = self._name.rstrip("/") + "/"

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self._dtype

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def graph_parents(self) -> List[Any]:
        """The tensors that define the operator."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> Optional[bool]:
        """Whether it has an inverse, or None."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> Optional[bool]:
        """Whether it is its own adjoint, or None."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> Optional[bool]:
        """Whether it is positive definite, or None."""
        return self._is_positive_definite

    @property
    def is_square(self) -> Optional[bool]:
        """Whether it has as many rows as columns, or None.

        Raises:
          ValueError: The hints say that it is square, and the shape that it is not.
        """
        rows, columns = self.domain_dimension.value, self.range_dimension.value
        known = None if None in (rows, columns) else rows == columns
        hinted = self._is_square_set_or_implied_by_hints
        if known is not None and hinted is not None and known != hinted:
            raise ValueError("self.is_square=%s, but the shape is %s" % (hinted, self.shape))
        return hinted if known is None else known

    # What subclasses define.

    def _shape(self) -> TensorShape:
        raise NotImplementedError("_shape is not implemented.")

    def _shape_tensor(self) -> Any:
        raise NotImplementedError("_shape_tensor is not implemented.")

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        raise NotImplementedError("_matmul is not implemented.")

    def _to_dense(self) -> Any:
        n = self.domain_dimension.value
        n = self._shape_tensor()[-1] if n is None else n
        batch = self.batch_shape if self.batch_shape.is_fully_defined() else self._shape_tensor()[:-2]
        return self._matmul(array_ops.eye(n, batch_shape=batch, dtype=self.dtype), False, False)

    def _solve(self, rhs: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        rhs = _adjoint(rhs) if adjoint_arg else rhs
        matrix, rhs = broadcast_matrix_batch_dims([self._to_dense(), rhs])
        return op("MatrixSolve")(matrix, rhs, adjoint=adjoint)

    def _determinant(self) -> Any:
        return op("MatrixDeterminant")(self._to_dense())

    def _log_abs_determinant(self) -> Any:
        return op("LogMatrixDeterminant")(self._to_dense())[1]

    def _diag_part(self) -> Any:
        return linalg_ops.matrix_diag_part(self._to_dense())

    def _trace(self) -> Any:
        return reduction_ops.reduce_sum(self._diag_part(), -1)

    def _assert_non_singular(self) -> Any:
        values = op("Svd")(self._to_dense(), compute_uv=False)[0]
        least, largest = reduction_ops.reduce_min(values, -1), reduction_ops.reduce_max(values, -1)
        # TensorFlow's limit: the precision of the dtype times the size.
        limit = math_ops.cast(np.finfo(self.dtype.as_numpy_dtype).eps, largest.dtype) * math_ops.cast(self._shape_tensor()[-1], largest.dtype)
        return check_ops.assert_less(limit * largest, least, message="Singular matrix up to precision epsilon.")

    def _assert_positive_definite(self) -> Any:
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        diagonal = linalg_ops.matrix_diag_part(op("Cholesky")(self._to_dense()))
        return check_ops.assert_positive(diagonal, message="Matrix was not positive definite.")

    def _assert_self_adjoint(self) -> Any:
        dense = self._to_dense()
        return check_ops.assert_equal(dense, _adjoint(dense), message="Matrix was not equal to its adjoint.")

    # Shapes.

    @property
    def shape(self) -> TensorShape:
        """The static shape: that of the batch, the rows and the columns."""
        return self._shape()

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape of the batch."""
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> Optional[int]:
        """The rank, or None."""
        return self.shape.ndims

    @property
    def domain_dimension(self) -> Any:
        """The number of columns, a `Dimension`."""
        return self.shape[-1]

    @property
    def range_dimension(self) -> Any:
        """The number of rows, a `Dimension`."""
        return self.shape[-2]

    def _scoped(self, name: str, compute: Callable[[], Any], *values: Any) -> Any:
        with name_scope(self.name + "/" + name, values=[*self._graph_parents, *values]):
            return compute()

    def shape_tensor(self, name: str = "shape_tensor") -> Any:
        """Returns the shape as a tensor."""
        return self._scoped(name, self._shape_tensor)

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """Returns the shape of the batch as a tensor."""
        return self._scoped(name, lambda: self._shape_tensor()[:-2])

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Any:
        """Returns the rank as a tensor."""
        return self._scoped(name, lambda: array_ops.size(self._shape_tensor()))

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Any:
        """Returns the number of columns as a tensor."""
        return self._scoped(name, lambda: self._shape_tensor()[-1])

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Any:
        """Returns the number of rows as a tensor."""
        return self._scoped(name, lambda: self._shape_tensor()[-2])

    # What an operator does.

    def _checked(self, x: Any, what: str) -> Any:
        x = convert_to_tensor(x, name=what)
        if x.dtype.base_dtype != self.dtype:
            raise TypeError("Expected argument to have dtype %s.  Found: %s in tensor %s" % (self.dtype, x.dtype, x))
        return x

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """Returns the product with a matrix, or with an operator.

        Args:
          x: A tensor of at least two axes.
          adjoint: If true, the adjoint of the operator is multiplied.
          adjoint_arg: If true, the adjoint of `x` is.
          name: A name for the operations.

        Returns:
          A tensor; an operator if `x` is one.

        Raises:
          TypeError: `x` has another dtype.
          ValueError: The shapes do not fit.
        """
        if isinstance(x, LinearOperator):
            return self._with_operator(x, adjoint, adjoint_arg, name, "x", products)
        with name_scope(self.name + "/" + name, values=[x]):
            x = self._checked(x, "x")
            mine = self.range_dimension if adjoint else self.domain_dimension
            mine.assert_is_compatible_with(x.get_shape()[-1 if adjoint_arg else -2])
            return self._matmul(x, adjoint, adjoint_arg)

    def _with_operator(self, other: LinearOperator, adjoint: bool, adjoint_arg: bool, name: str, word: str, rules: Any) -> LinearOperator:
        left, right = self.adjoint() if adjoint else self, other.adjoint() if adjoint_arg else other
        wanted, found = left.domain_dimension.value, right.range_dimension.value
        if None not in (wanted, found) and wanted != found:
            raise ValueError("Operators are incompatible. Expected `%s` to have dimension %s but got %s." % (word, wanted, found))
        return self._scoped(name, lambda: rules.find(left, right)(left, right))  # type: ignore[no-any-return]

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """Returns the product with a vector; the other arguments are those of `matmul`."""
        return self._of_vector(lambda x: self.matmul(x, adjoint), x, name)

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """Returns the matrix whose product with the operator is `rhs`.

        Args:
          rhs: A tensor of at least two axes.
          adjoint: If true, the adjoint of the operator is solved.
          adjoint_arg: If true, for the adjoint of `rhs`.
          name: A name for the operations.

        Raises:
          NotImplementedError: The operator is singular or not square.
          TypeError: `rhs` has another dtype.
        """
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to not be square.")
        if isinstance(rhs, LinearOperator):
            return self._with_operator(rhs, adjoint, adjoint_arg, name, "rhs", quotients)
        with name_scope(self.name + "/" + name, values=[rhs]):
            return self._solve(self._checked(rhs, "rhs"), adjoint, adjoint_arg)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """Returns the vector whose product with the operator is `rhs`; see `solve`."""
        return self._of_vector(lambda x: self.solve(x, adjoint), rhs, name)

    def _of_vector(self, compute: Callable[[Any], Any], x: Any, name: str) -> Any:
        with name_scope(self.name + "/" + name, values=[x]):
            return array_ops.squeeze(compute(array_ops.expand_dims(self._checked(x, "x"), -1)), [-1])

    def determinant(self, name: str = "det") -> Any:
        """Returns the determinant of each matrix.

        Raises:
          NotImplementedError: The operator is not square.
        """
        self._needs_square("Determinant")
        return self._scoped(name, self._determinant)

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """Returns the logarithm of the absolute value of the determinant of each matrix.

        Raises:
          NotImplementedError: The operator is not square.
        """
        self._needs_square("Determinant")
        return self._scoped(name, self._log_abs_determinant)

    def _needs_square(self, what: str) -> None:
        if self.is_square is False:
            raise NotImplementedError("%s not implemented for an operator that is expected to not be square." % what)

    def to_dense(self, name: str = "to_dense") -> Any:
        """Returns the matrices."""
        return self._scoped(name, self._to_dense)

    def diag_part(self, name: str = "diag_part") -> Any:
        """Returns the diagonals."""
        return self._scoped(name, self._diag_part)

    def trace(self, name: str = "trace") -> Any:
        """Returns the sums of the diagonals."""
        return self._scoped(name, self._trace)

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Any:
        """Returns the sum with matrices."""
        return self._scoped(name, lambda: self._to_dense() + self._checked(x, "x"), x)

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """Returns an operation that fails if the operator is singular."""
        return self._scoped(name, self._assert_non_singular)

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """Returns an operation that fails if the operator, which is self-adjoint, is not positive definite.

        Raises:
          NotImplementedError: This kind of operator has no such check.

        Example:
          >>> tf.Session().run(tf.linalg.LinearOperatorDiag([1.0, 2.0]).assert_positive_definite())
        """
        return self._scoped(name, self._assert_positive_definite)

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Any:
        """Returns an operation that fails if the operator is not its own adjoint.

        Example:
          >>> tf.Session().run(tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [2.0, 1.0]]).assert_self_adjoint())
        """
        return self._scoped(name, self._assert_self_adjoint)

    # Other operators.

    def _hints(self) -> Dict[str, Any]:
        """Returns the hints, which the adjoint and the inverse share."""
        return {
            "is_non_singular": self.is_non_singular,
            "is_self_adjoint": self.is_self_adjoint,
            "is_positive_definite": self.is_positive_definite,
            "is_square": self.is_square,
        }

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorAdjoint(self, **self._hints())

    def _inverse(self) -> LinearOperator:
        return LinearOperatorInversion(self, **self._hints())

    def _cholesky(self) -> LinearOperator:
        factor = op("Cholesky")(self._to_dense())
        return LinearOperatorLowerTriangular(factor, is_non_singular=True, is_self_adjoint=False, is_square=True)

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """Returns the adjoint operator; the operator itself if it is known to be self-adjoint.

        Example:
          >>> operator = tf.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [1.0, 4.0]])
          >>> print(tf.Session().run(operator.adjoint().to_dense()))
          [[2. 1.]
           [0. 4.]]
        """
        return self if self.is_self_adjoint else self._scoped(name, lambda: adjoints.find(self)(self))  # type: ignore[no-any-return]

    @property
    def H(self) -> LinearOperator:
        """The adjoint operator, as `adjoint()` returns it.

        Example:
          >>> operator = tf.linalg.LinearOperatorDiag([1.0 + 2.0j])
          >>> print(tf.Session().run(operator.H.to_dense()))
          [[1.-2.j]]
        """
        return self.adjoint()

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """Returns the inverse operator, which solves where this one multiplies.

        Raises:
          ValueError: The operator is known to be singular, or not to be square.

        Example:
          >>> operator = tf.linalg.LinearOperatorDiag([2.0, 4.0])
          >>> print(tf.Session().run(operator.inverse().matvec([1.0, 1.0])))
          [0.5  0.25]
        """
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        return self._scoped(name, lambda: inverses.find(self)(self))  # type: ignore[no-any-return]

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """Returns the Cholesky factor of a positive definite, self-adjoint operator.

        Raises:
          ValueError: The operator has no hints that say that it is both.

        Example:
          >>> operator = tf.linalg.LinearOperatorFullMatrix([[4.0, 2.0], [2.0, 10.0]],
          ...     is_positive_definite=True, is_self_adjoint=True)
          >>> print(tf.Session().run(operator.cholesky().to_dense()))
          [[2. 0.]
           [1. 3.]]
        """
        if not (self.is_positive_definite and self.is_self_adjoint):
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        return self._scoped(name, lambda: factors.find(self)(self))  # type: ignore[no-any-return]


adjoints.add(LinearOperator)(lambda one: one._adjoint())
inverses.add(LinearOperator)(lambda one: one._inverse())
factors.add(LinearOperator)(lambda one: one._cholesky())


class _OfAnother(LinearOperator):
    """An operator made of another one, with the same number of rows and columns, or exchanged ones."""

    _ending, _what = "", ""

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: Optional[str] = None,
    ) -> None:
        self._operator = operator
        given = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        hints: Dict[str, Any] = {}
        for (hint, known), value in zip(operator._hints().items(), given):
            if known is not None and value is not None and known != value:
                word = hint[3:].replace("_", "-")
                raise ValueError(f"An operator is {word} if and only if its {self._what} is {word}.")
            hints[hint] = known if value is None else value
        super().__init__(operator.dtype, operator.graph_parents, name=name or operator.name + self._ending, **hints)

    @property
    def operator(self) -> LinearOperator:
        """The other operator."""
        return self._operator

    def _assert_non_singular(self) -> Any:
        return self._operator.assert_non_singular()


class LinearOperatorAdjoint(_OfAnother):
    """The adjoint of another operator.

    Args:
      operator: The other operator.
      is_non_singular: As in `tf.linalg.LinearOperator`, like the arguments after it. Hints that are not given
        are those of `operator`.
      name: The name; that of `operator` with `_adjoint` by default.

    Raises:
      ValueError: A hint contradicts that of `operator`.

    Example:
      >>> operator = tf.linalg.LinearOperatorLowerTriangular([[2.0, 0.0], [1.0, 4.0]])
      >>> adjoint = tf.linalg.LinearOperatorAdjoint(operator)
      >>> print(tf.Session().run(adjoint.matvec([1.0, 1.0])), adjoint.name)
      [3. 4.] LinearOperatorLowerTriangular_adjoint
      >>> adjoint.operator is operator, adjoint.adjoint() is operator
      (True, True)
    """

    _ending, _what = "_adjoint", "adjoint"

    def _adjoint(self) -> LinearOperator:
        return self._operator

    def _shape(self) -> TensorShape:
        rows, columns = self._operator.shape[-2:]
        return self._operator.batch_shape.concatenate([columns, rows])  # type: ignore[no-any-return]

    def _shape_tensor(self) -> Any:
        shape = self._operator.shape_tensor()
        return array_ops.concat([shape[:-2], shape[-1:], shape[-2:-1]], 0)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _to_dense(self) -> Any:
        return _adjoint(self._operator.to_dense())

    def _determinant(self) -> Any:
        value = self._operator.determinant()
        return math_ops.conj(value) if self.is_self_adjoint is not True else value

    def _log_abs_determinant(self) -> Any:
        return self._operator.log_abs_determinant()

    def _diag_part(self) -> Any:
        return math_ops.conj(self._operator.diag_part())


class LinearOperatorInversion(_OfAnother):
    """The inverse of another operator: it multiplies by solving, and solves by multiplying.

    Args:
      operator: The other operator, which is square.
      is_non_singular: As in `tf.linalg.LinearOperator`, like the arguments after it. Hints that are not given
        are those of `operator`.
      name: The name; that of `operator` with `_inv` by default.

    Raises:
      ValueError: A hint contradicts that of `operator`, or says that there is no inverse.

    Example:
      >>> operator = tf.linalg.LinearOperatorLowerTriangular([[2.0, 0.0], [1.0, 4.0]])
      >>> inverse = tf.linalg.LinearOperatorInversion(operator)
      >>> print(tf.Session().run(inverse.matvec([2.0, 5.0])), inverse.name)
      [1. 1.] LinearOperatorLowerTriangular_inv
      >>> inverse.operator is operator, inverse.inverse() is operator
      (True, True)
    """

    _ending, _what = "_inv", "inverse"

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: Optional[str] = None,
    ) -> None:
        for hint, known, given in (
            ("is_non_singular", operator.is_non_singular, is_non_singular),
            ("is_square", operator.is_square, is_square),
        ):
            if known is False or given is False:
                raise ValueError(
                    f"operator and supplied hints must have `{hint}` equal to `True` or `None`.  Found {known}, {given}"
                )
        super().__init__(operator, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    def _inverse(self) -> LinearOperator:
        return self._operator

    def _shape(self) -> TensorShape:
        return self._operator.shape

    def _shape_tensor(self) -> Any:
        return self._operator.shape_tensor()

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Any:
        return 1.0 / self._operator.determinant()

    def _log_abs_determinant(self) -> Any:
        return -self._operator.log_abs_determinant()


class LinearOperatorFullMatrix(LinearOperator):
    """An operator over dense matrices.

    Args:
      matrix: A tensor of at least two axes. The other arguments are those of `tf.linalg.LinearOperator`.

    Raises:
      ValueError: The rank is too low, or the hints contradict what the operator is.

    Example:
      >>> operator = tf.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [1.0, 4.0]])
      >>> print(tf.Session().run(operator.solvevec([2.0, 5.0])))
      [1. 1.]
    """

    def __init__(
        self,
        matrix: Any,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        with name_scope(name, values=[matrix]):
            self._matrix = convert_to_tensor(matrix, name="matrix")
            ndims = self._matrix.get_shape().ndims
            if ndims is not None and ndims < 2:
                raise ValueError("Argument matrix must have at least 2 dimensions.  Found: %s" % self._matrix)
        super().__init__(self._matrix.dtype, [self._matrix], is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    def _shape(self) -> TensorShape:
        return self._matrix.get_shape()  # type: ignore[no-any-return]

    def _shape_tensor(self) -> Any:
        return array_ops.shape(self._matrix)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return math_ops.matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self) -> Any:
        return self._matrix


class LinearOperatorLowerTriangular(LinearOperator):
    """An operator over lower triangular matrices.

    Args:
      tril: A tensor of at least two axes, whose elements above the diagonal are ignored. The other arguments
        are those of `tf.linalg.LinearOperator`.

    Raises:
      ValueError: The rank is too low, or the hints contradict what the operator is.

    Example:
      >>> operator = tf.linalg.LinearOperatorLowerTriangular([[2.0, 9.0], [1.0, 4.0]])
      >>> print(tf.Session().run(operator.solvevec([2.0, 5.0])))
      [1. 1.]
    """

    def __init__(
        self,
        tril: Any,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        with name_scope(name, values=[tril]):
            self._given = convert_to_tensor(tril, name="tril")
            ndims = self._given.get_shape().ndims
            if ndims is not None and ndims < 2:
                raise ValueError("Argument tril must have at least 2 dimensions.  Found: %s" % self._given)
            self._tril = op("MatrixBandPart")(self._given, -1, 0)
            self._diag = linalg_ops.matrix_diag_part(self._tril)
        super().__init__(self._given.dtype, [self._given], is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    def _shape(self) -> TensorShape:
        return self._tril.get_shape()  # type: ignore[no-any-return]

    def _shape_tensor(self) -> Any:
        return array_ops.shape(self._tril)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return math_ops.matmul(self._tril, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self) -> Any:
        return self._tril

    def _solve(self, rhs: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        rhs = _adjoint(rhs) if adjoint_arg else rhs
        tril, rhs = broadcast_matrix_batch_dims([self._tril, rhs])
        return op("MatrixTriangularSolve")(tril, rhs, lower=True, adjoint=adjoint)

    def _determinant(self) -> Any:
        return reduction_ops.reduce_prod(self._diag, -1)

    def _log_abs_determinant(self) -> Any:
        return reduction_ops.reduce_sum(op("Log")(math_ops.abs(self._diag)), -1)

    def _diag_part(self) -> Any:
        return self._diag

    def _assert_non_singular(self) -> Any:
        return _no_zeros(self._diag, "Singular operator:  Diagonal contained zero values.")


def _no_zeros(x: Any, words: str) -> Any:
    size = math_ops.abs(x)
    return check_ops.assert_less(array_ops.zeros([], size.dtype), size, message=words)


def _all_real(x: Any, words: str) -> Any:
    if not x.dtype.is_complex:
        return control_flow.no_op()
    part = math_ops.imag(x)
    return check_ops.assert_equal(array_ops.zeros([], part.dtype), part, message=words)


class LinearOperatorDiag(LinearOperator):
    """An operator over diagonal matrices.

    Args:
      diag: A tensor of at least one axis: the diagonals. The other arguments are those of
        `tf.linalg.LinearOperator`.

    Raises:
      ValueError: The rank is too low, or the hints contradict what the operator is.

    Example:
      >>> operator = tf.linalg.LinearOperatorDiag([1.0, -2.0])
      >>> print(*tf.Session().run([operator.to_dense(), operator.matvec([3.0, 4.0])]))
      [[ 1.  0.]
       [ 0. -2.]] [ 3. -8.]
      >>> operator.diag.shape
      TensorShape([Dimension(2)])
    """

    def __init__(
        self,
        diag: Any,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        with name_scope(name, values=[diag]):
            self._diag = convert_to_tensor(diag, name="diag")
            if self._diag.get_shape().ndims == 0:
                raise ValueError("Argument diag must have at least 1 dimension.  Found: %s" % self._diag)
            if not self._diag.dtype.is_complex:
                if is_self_adjoint is False:
                    raise ValueError("A real diagonal operator is always self adjoint.")
                is_self_adjoint = True
            if is_square is False:
                raise ValueError("Only square diagonal operators currently supported.")
        super().__init__(self._diag.dtype, [self._diag], is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    @property
    def diag(self) -> Any:
        """The diagonals."""
        return self._diag

    def _shape(self) -> TensorShape:
        shape = self._diag.get_shape()
        return shape.concatenate(shape[-1:])  # type: ignore[no-any-return]

    def _shape_tensor(self) -> Any:
        shape = array_ops.shape(self._diag)
        return array_ops.concat([shape, [shape[-1]]], 0)

    def _scale(self, adjoint: bool) -> Any:
        diag = math_ops.conj(self._diag) if adjoint else self._diag
        return array_ops.expand_dims(diag, -1)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return self._scale(adjoint) * (_adjoint(x) if adjoint_arg else x)

    def _solve(self, rhs: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return (_adjoint(rhs) if adjoint_arg else rhs) / self._scale(adjoint)

    def _to_dense(self) -> Any:
        return linalg_ops.matrix_diag(self._diag)

    def _determinant(self) -> Any:
        return reduction_ops.reduce_prod(self._diag, -1)

    def _log_abs_determinant(self) -> Any:
        found = reduction_ops.reduce_sum(op("Log")(math_ops.abs(self._diag)), -1)
        return math_ops.cast(found, self.dtype) if self.dtype.is_complex else found

    def _diag_part(self) -> Any:
        return self._diag

    def _assert_non_singular(self) -> Any:
        return _no_zeros(self._diag, "Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self) -> Any:
        words = "Real diagonal operator had non-positive diagonal entries, thus was not positive definite."
        if self.dtype.is_complex:
            words = "Diagonal operator had diagonal entries with non-positive real part, thus was not positive definite."
        return check_ops.assert_positive(math_ops.real(self._diag), message=words)

    def _assert_self_adjoint(self) -> Any:
        return _all_real(self._diag, "This diagonal operator contained non-zero imaginary values.   Thus it was not self-adjoint.")

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorDiag(math_ops.conj(self._diag), **self._hints())

    def _inverse(self) -> LinearOperator:
        return LinearOperatorDiag(1.0 / self._diag, **self._hints())

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorDiag(math_ops.sqrt(self._diag), True, True, True, True)


class LinearOperatorScaledIdentity(LinearOperator):
    """A multiple of the identity.

    Args:
      num_rows: The number of rows.
      multiplier: The factor, one for each matrix of the batch. The other arguments are those of
        `tf.linalg.LinearOperator`.
      assert_proper_shapes: Ignored: shapes are always checked.

    Raises:
      ValueError: The rank is too low, or the hints contradict what the operator is.

    Example:
      >>> operator = tf.linalg.LinearOperatorScaledIdentity(2, 3.0)
      >>> print(*tf.Session().run([operator.matvec([1.0, 2.0]), operator.determinant()]))
      [3. 6.] 9.0
      >>> operator.multiplier.shape
      TensorShape([])
    """

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        with name_scope(name, values=[multiplier, num_rows]):
            self._multiplier = convert_to_tensor(multiplier, name="multiplier")
            self._num_rows, self._static_rows = _rows(num_rows)
            if not self._multiplier.dtype.is_complex:
                if is_self_adjoint is False:
                    raise ValueError("A real ScaledIdentity operator is always self adjoint.")
                is_self_adjoint = True
        super().__init__(self._multiplier.dtype, [], is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    @property
    def multiplier(self) -> Any:
        """The factor."""
        return self._multiplier

    def _shape(self) -> TensorShape:
        return self._multiplier.get_shape().concatenate([self._static_rows, self._static_rows])  # type: ignore[no-any-return]

    def _shape_tensor(self) -> Any:
        return array_ops.concat([array_ops.shape(self._multiplier), [self._num_rows, self._num_rows]], 0)

    def _scale(self, adjoint: bool) -> Any:
        factor = math_ops.conj(self._multiplier) if adjoint else self._multiplier
        return array_ops.expand_dims(array_ops.expand_dims(factor, -1), -1)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return (_adjoint(x) if adjoint_arg else x) * self._scale(adjoint)

    def _solve(self, rhs: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return (_adjoint(rhs) if adjoint_arg else rhs) / self._scale(adjoint)

    def _determinant(self) -> Any:
        return op("Pow")(self._multiplier, math_ops.cast(self._num_rows, self.dtype))

    def _log_abs_determinant(self) -> Any:
        rows = math_ops.cast(self._num_rows, self.dtype.real_dtype)
        return rows * op("Log")(math_ops.abs(self._multiplier))

    def _diag_part(self) -> Any:
        ones = array_ops.ones(array_ops.expand_dims(self._num_rows, 0), self.dtype)
        return array_ops.expand_dims(self._multiplier, -1) * ones

    def _to_dense(self) -> Any:
        return linalg_ops.matrix_diag(self._diag_part())

    def _assert_non_singular(self) -> Any:
        return _no_zeros(self._multiplier, "LinearOperator was singular")

    def _assert_positive_definite(self) -> Any:
        return check_ops.assert_positive(math_ops.real(self._multiplier), message="LinearOperator was not positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return _all_real(self._multiplier, "LinearOperator was not self-adjoint")

    def _of(self, multiplier: Any, **hints: Any) -> LinearOperator:
        hints = {**self._hints(), **hints}
        return LinearOperatorScaledIdentity(self._num_rows, multiplier, **hints)

    def _adjoint(self) -> LinearOperator:
        return self._of(math_ops.conj(self._multiplier))

    def _inverse(self) -> LinearOperator:
        return self._of(1.0 / self._multiplier, is_self_adjoint=True)

    def _cholesky(self) -> LinearOperator:
        return self._of(math_ops.sqrt(self._multiplier), is_non_singular=True)

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Any:
        """Returns the sum with matrices."""
        return super().add_to_tensor(mat, name)


def _rows(num_rows: Any, word: str = "num_rows") -> Any:
    rows = convert_to_tensor(num_rows, name=word)
    if not rows.dtype.is_integer:
        raise TypeError("Argument %s must be integer type.  Found: %s" % (word, rows))
    value = get_static_value(rows)
    if value is not None and value.ndim != 0:
        raise ValueError("Argument %s must be a 0-D Tensor.  Found: %s" % (word, num_rows))
    if value is not None and value < 0:
        raise ValueError("Argument %s must be non-negative.  Found: %s" % (word, num_rows))
    return rows, None if value is None else int(value)


class LinearOperatorIdentity(LinearOperatorScaledIdentity):
    """The identity.

    Args:
      num_rows: The number of rows.
      batch_shape: The shape of a batch of identities; none by default.
      dtype: The dtype; `float32` by default. The other arguments are those of `tf.linalg.LinearOperator`.
      assert_proper_shapes: Ignored: shapes are always checked.

    Raises:
      ValueError: The rank is too low, or the hints contradict what the operator is.

    Example:
      >>> operator = tf.linalg.LinearOperatorIdentity(2)
      >>> print(*tf.Session().run([operator.to_dense(), operator.trace()]))
      [[1. 0.]
       [0. 1.]] 2.0
    """

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: Optional[bool] = True,
        is_self_adjoint: Optional[bool] = True,
        is_positive_definite: Optional[bool] = True,
        is_square: Optional[bool] = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        for hint, word in ((is_self_adjoint, "self adjoint"), (is_square, "square"), (is_non_singular, "non-singular"), (is_positive_definite, "positive-definite")):
            if not hint:
                raise ValueError("An identity operator is always %s." % word)
        ones = array_ops.ones([] if batch_shape is None else batch_shape, dtype or dtypes.float32)
        super().__init__(num_rows, ones, True, True, True, True, assert_proper_shapes, name)

    def _inverse(self) -> LinearOperator:
        return self

    def _cholesky(self) -> LinearOperator:
        return self
