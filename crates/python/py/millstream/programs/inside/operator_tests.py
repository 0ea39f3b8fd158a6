"""The classes of tests of `tf.linalg.LinearOperator`s, and the random matrices that they take: `NAMES`.

A subclass returns an operator and the matrix that it is equal to; `add_tests` gives it a test for each
method,
shape, dtype and option.
"""

from __future__ import annotations

import itertools
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

import numpy as np

from millstream.framework import Graph, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.framework.session import Session
from millstream.framework.shapes import TensorShape
from millstream.ops import array_ops, linalg_ops, math_ops, random_ops
from millstream.ops.gradients import gradients
from millstream.programs.inside import operators
from millstream.test.case import TestCase

# Random matrices --------------------------------------------------------------------------------------------


def _sizes(shape: Any) -> List[int]:
    return TensorShape(shape).as_list()  # type: ignore[no-any-return]


def _complex(part: Callable[[Any, Any], Any], dtype: Any, seed: Any) -> Any:
    """Returns a tensor of a dtype; if that is complex, of two parts that are drawn one after the other."""
    if not dtype.is_complex:
        return part(dtype, seed)
    both = part(dtype.real_dtype, seed), part(dtype.real_dtype, None if seed is None else seed + 1234)
    return op("Complex")(*both, Tout=dtype)


def random_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = dtypes.float32, seed: Any = None) -> Any:
    """Returns normally distributed numbers; in a complex dtype, so are both parts."""
    dtype = dtypes.as_dtype(dtype)
    with name_scope("random_normal"):
        return _complex(lambda kind, s: random_ops.random_normal(shape, mean=mean, stddev=stddev, dtype=kind, seed=s), dtype, seed)


def random_uniform(shape: Any, minval: Any = None, maxval: Any = None, dtype: Any = dtypes.float32, seed: Any = None) -> Any:
    """Returns uniformly distributed numbers; in a complex dtype, so are both parts."""
    dtype = dtypes.as_dtype(dtype)
    least = 0 if minval is None else minval
    with name_scope("random_uniform"):
        return _complex(lambda kind, s: random_ops.random_uniform(shape, minval=least, maxval=maxval, dtype=kind, seed=s), dtype, seed)


def random_sign_uniform(shape: Any, minval: Any = None, maxval: Any = None, dtype: Any = dtypes.float32, seed: Any = None) -> Any:
    """Returns numbers whose sizes are uniformly distributed from `minval` to `maxval`, with random signs."""
    dtype = dtypes.as_dtype(dtype)
    with name_scope("random_sign_uniform"):
        sizes = random_uniform(shape, minval, maxval, dtype, seed)
        draws = random_ops.random_uniform(shape, minval=-1.0, maxval=1.0, seed=None if seed is None else seed + 12)
        return sizes * math_ops.cast(op("Sign")(draws), dtype)


def random_tril_matrix(shape: Any, dtype: Any, force_well_conditioned: bool = False, remove_upper: bool = True) -> Any:
    """Returns random lower triangular matrices.

    Args:
      shape: The shape, known.
      dtype: The dtype.
      force_well_conditioned: Whether the diagonal has sizes of 1 to 2, and the rest is small.
      remove_upper: Whether the elements above the diagonal are zeros; else they are random.
    """
    with name_scope("random_tril_matrix"):
        if not force_well_conditioned:
            matrix = random_normal(shape, dtype=dtype)
        else:
            sizes = _sizes(shape)
            diagonal = random_sign_uniform(sizes[:-1], dtype=dtype, minval=1.0, maxval=2.0)
            spread = float(np.sqrt(max(sizes[-1], 1)))
            matrix = linalg_ops.matrix_set_diag(random_normal(sizes, stddev=0.2 / spread, dtype=dtype), diagonal)
        return op("MatrixBandPart")(matrix, -1, 0) if remove_upper else matrix


def random_positive_definite_matrix(shape: Any, dtype: Any, force_well_conditioned: bool = False) -> Any:
    """Returns random matrices that are their own adjoints and positive definite.

    Args:
      shape: The shape, known.
      dtype: The dtype.
      force_well_conditioned: Whether the eigenvalues are far from zero.
    """
    dtype = dtypes.as_dtype(dtype)
    with name_scope("random_positive_definite_matrix"):
        root = random_tril_matrix(shape, dtype, force_well_conditioned=force_well_conditioned)
        return op("BatchMatMulV2")(root, root, adj_y=True)


def random_normal_correlated_columns(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = dtypes.float32, eps: float = 1e-4, seed: Any = None) -> Any:
    """Returns normally distributed matrices, nearly of low rank: the last columns repeat the first ones.

    Raises:
      ValueError: A matrix has more columns than rows.
    """
    dtype = dtypes.as_dtype(dtype)
    sizes = _sizes(shape)
    rows, columns = sizes[-2:]
    if rows < columns:
        raise ValueError("random_normal_correlated_columns: expected at least as many rows as columns, found %d and %d" % (rows, columns))
    first = columns // 2
    with name_scope("random_normal_correlated_columns"):
        left = random_normal([*sizes[:-1], first], mean, stddev, dtype, seed)
        if columns == 2 * first:
            base = left
        else:
            base = array_ops.concat([left, random_normal([*sizes[:-1], 1], mean, stddev, dtype, None if seed is None else seed + 7)], -1)
        noise = random_normal([*sizes[:-1], columns - first], mean, eps * stddev, dtype, None if seed is None else seed + 1)
        return array_ops.concat([left, base + noise], -1)


# Tests ------------------------------------------------------------------------------------------------------


class OperatorShapesInfo:
    """The shape of an operator to test, and what else a test needs to make it.

    Args:
      shape: The shape.
      **kwargs: More attributes.
    """

    def __init__(self, shape: Sequence[int], **kwargs: Any) -> None:
        self.shape = shape
        self.__dict__.update(kwargs)


class CheckTapeSafeSkipOptions:
    """The methods that `check_tape_safe` may leave out."""

    DETERMINANT = "determinant"
    DIAG_PART = "diag_part"
    LOG_ABS_DETERMINANT = "log_abs_determinant"
    TRACE = "trace"


class LinearOperatorDerivedClassTest(TestCase):
    """A test of a class of operators. Subclasses define `operator_and_matrix` and the shapes."""

    _atol = {dtypes.float16: 1e-3, dtypes.float32: 1e-6, dtypes.float64: 1e-12, dtypes.complex64: 1e-6, dtypes.complex128: 1e-12}
    _rtol = {dtypes.float16: 1e-3, dtypes.float32: 1e-6, dtypes.float64: 1e-12, dtypes.complex64: 1e-6, dtypes.complex128: 1e-12}

    def assertAC(self, x: Any, y: Any) -> None:  # noqa: N802
        """Asserts that arrays are close, as their dtype allows."""
        kind = dtypes.as_dtype(x.dtype)
        self.assertAllClose(x, y, atol=self._atol[kind], rtol=self._rtol[kind])

    @staticmethod
    def adjoint_options() -> List[bool]:
        """Returns whether products are tested with the operator and with its adjoint."""
        return [False, True]

    @staticmethod
    def adjoint_arg_options() -> List[bool]:
        """Returns whether products are tested with the argument and with its adjoint."""
        return [False, True]

    @staticmethod
    def dtypes_to_test() -> List[Any]:
        """Returns the dtypes."""
        return [dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128]

    @staticmethod
    def use_placeholder_options() -> List[bool]:
        """Returns whether operators are made of tensors of unknown shape."""
        return [False, True]

    @staticmethod
    def operator_shapes_infos() -> Any:
        """Returns the shapes, as `OperatorShapesInfo`s."""
        raise NotImplementedError("operator_shapes_infos has not been implemented.")

    def operator_and_matrix(self, build_info: Any, dtype: Any, use_placeholder: bool, ensure_self_adjoint_and_pd: bool = False) -> Any:
        """Returns an operator and the matrix that it is equal to.

        Args:
          build_info: An `OperatorShapesInfo`.
          dtype: The dtype.
          use_placeholder: Whether the operator is made of tensors of unknown shape.
          ensure_self_adjoint_and_pd: Whether it must be its own adjoint and positive definite.
        """
        raise NotImplementedError("Not implemented yet.")

    def make_rhs(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        """Returns a right side for `solve`."""
        raise NotImplementedError("make_rhs is not defined.")

    def make_x(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        """Returns a matrix for `matmul`."""
        raise NotImplementedError("make_x is not defined.")

    @staticmethod
    def skip_these_tests() -> List[str]:
        """Returns the names of tests to leave out, such as `"cholesky"`."""
        return []

    def assertRaisesError(self, msg: str) -> Any:  # noqa: N802
        """Returns a context that asserts that a run fails with this message."""
        return self.assertRaisesOpError(msg)

    def check_tape_safe(self, operator: Any, skip_options: Any = None) -> None:
        """Asserts that the variables that an operator is made of have gradients in all that it computes.

        Args:
          operator: The operator.
          skip_options: Names of `CheckTapeSafeSkipOptions`.
        """
        skipped = skip_options or []
        variables = list(operator.trainable_variables)
        self.assertTrue(variables)
        left = math_ops.cast(random_ops.random_uniform([operator.range_dimension_tensor(), 2], dtype=operator.dtype.real_dtype), operator.dtype)
        right = math_ops.cast(random_ops.random_uniform([operator.domain_dimension_tensor(), 2], dtype=operator.dtype.real_dtype), operator.dtype)
        computed = {"to_dense": operator.to_dense, "adjoint": lambda: operator.adjoint().to_dense(), "matmul": lambda: operator.matmul(right)}
        if operator.is_square:
            for name in ("determinant", "log_abs_determinant", "trace"):
                computed[name] = getattr(operator, name)
            if operator.is_non_singular:
                computed["inverse"], computed["solve"] = lambda: operator.inverse().to_dense(), lambda: operator.solve(left)
            if operator.is_self_adjoint and operator.is_positive_definite:
                computed["cholesky"] = lambda: operator.cholesky().to_dense()
        computed["diag_part"] = operator.diag_part
        for name, compute in computed.items():
            if name not in skipped:
                for found in gradients(compute(), variables):
                    self.assertIsNotNone(found, name)


def _both(self: Any, shapes_info: Any, dtype: Any, use_placeholder: bool, **options: Any) -> Any:
    operator, matrix = self.operator_and_matrix(shapes_info, dtype, use_placeholder=use_placeholder, **options)
    return operator, matrix


def _check(self: Any, sess: Any, found: Any, wanted: Any, use_placeholder: bool) -> None:
    if not use_placeholder:
        self.assertAllEqual(found.get_shape().as_list(), wanted.get_shape().as_list())
    self.assertAC(*sess.run([found, wanted]))


def _test_to_dense(self: Any, sess: Any, operator: Any, matrix: Any, use_placeholder: bool) -> None:
    _check(self, sess, operator.to_dense(), matrix, use_placeholder)


def _test_det(self: Any, sess: Any, operator: Any, matrix: Any, use_placeholder: bool) -> None:
    _check(self, sess, operator.determinant(), op("MatrixDeterminant")(matrix), use_placeholder)


def _test_log_abs_det(self: Any, sess: Any, operator: Any, matrix: Any, use_placeholder: bool) -> None:
    _check(self, sess, operator.log_abs_determinant(), op("LogMatrixDeterminant")(matrix)[1], use_placeholder)


def _test_add_to_tensor(self: Any, sess: Any, operator: Any, matrix: Any, use_placeholder: bool) -> None:
    _check(self, sess, operator.add_to_tensor(2 * matrix), 3 * matrix, use_placeholder)


def _test_diag_part(self: Any, sess: Any, operator: Any, matrix: Any, use_placeholder: bool) -> None:
    _check(self, sess, operator.diag_part(), linalg_ops.matrix_diag_part(matrix), use_placeholder)


def _test_trace(self: Any, sess: Any, operator: Any, matrix: Any, use_placeholder: bool) -> None:
    _check(self, sess, operator.trace(), linalg_ops.trace(matrix), use_placeholder)


def _test_adjoint(self: Any, sess: Any, operator: Any, matrix: Any, use_placeholder: bool) -> None:
    wanted = linalg_ops.adjoint(matrix)
    _check(self, sess, operator.adjoint().to_dense(), wanted, use_placeholder)
    _check(self, sess, operator.H.to_dense(), wanted, use_placeholder)


def _test_inverse(self: Any, sess: Any, operator: Any, matrix: Any, use_placeholder: bool) -> None:
    _check(self, sess, operator.inverse().to_dense(), op("MatrixInverse")(matrix), use_placeholder)


def _test_cholesky(self: Any, sess: Any, operator: Any, matrix: Any, use_placeholder: bool) -> None:
    # A factor is known but for the signs of its columns.
    found = operator.cholesky().to_dense()
    _check(self, sess, op("BatchMatMulV2")(found, found, adj_y=True), matrix, use_placeholder)


def _test_product(self: Any, sess: Any, operator: Any, matrix: Any, use_placeholder: bool, adjoint: bool, adjoint_arg: bool, with_batch: bool) -> None:
    if not (with_batch or use_placeholder) and len(operator.shape) <= 2:
        return
    x = self.make_x(operator, adjoint=adjoint, with_batch=with_batch)
    found = operator.matmul(linalg_ops.adjoint(x), adjoint=adjoint, adjoint_arg=True) if adjoint_arg else operator.matmul(x, adjoint=adjoint)
    _check(self, sess, found, op("BatchMatMulV2")(matrix, x, adj_x=adjoint), use_placeholder)


def _test_solution(self: Any, sess: Any, operator: Any, matrix: Any, use_placeholder: bool, adjoint: bool, adjoint_arg: bool, with_batch: bool) -> None:
    if not (with_batch or use_placeholder) and len(operator.shape) <= 2:
        return
    rhs = self.make_rhs(operator, adjoint=adjoint, with_batch=with_batch)
    found = operator.solve(linalg_ops.adjoint(rhs), adjoint=adjoint, adjoint_arg=True) if adjoint_arg else operator.solve(rhs, adjoint=adjoint)
    wanted = operators.matrix_solve_with_broadcast(matrix, rhs, adjoint=adjoint)
    _check(self, sess, found, wanted, use_placeholder)


# By the name that `skip_these_tests` returns: the check, what else `operator_and_matrix` is given, and
# whether
# the test is repeated with the adjoint of the operator and of its argument.
_PLAIN: Dict[str, Tuple[Callable[..., None], Dict[str, bool]]] = {
    "add_to_tensor": (_test_add_to_tensor, {}),
    "cholesky": (_test_cholesky, {"ensure_self_adjoint_and_pd": True}),
    "inverse": (_test_inverse, {}),
    "to_dense": (_test_to_dense, {}),
    "det": (_test_det, {}),
    "log_abs_det": (_test_log_abs_det, {}),
    "trace": (_test_trace, {}),
    "diag_part": (_test_diag_part, {}),
    "adjoint": (_test_adjoint, {}),
}
_OF_ARGUMENTS: Dict[str, Tuple[Callable[..., None], bool]] = {
    "matmul": (_test_product, True),
    "matmul_with_broadcast": (_test_product, False),
    "solve": (_test_solution, True),
    "solve_with_broadcast": (_test_solution, False),
}


def _with_graph(check: Callable[..., None], shapes_info: Any, dtype: Any, use_placeholder: bool, options: Dict[str, bool], more: Dict[str, bool]) -> Any:
    def test(self: Any) -> None:
        graph = Graph()
        graph.seed = 87654321
        with graph.as_default(), Session(graph=graph) as sess:
            operator, matrix = _both(self, shapes_info, dtype, use_placeholder, **options)
            check(self, sess, operator, matrix, use_placeholder, **more)

    return test


def _cases(cls: Any) -> Iterator[Tuple[str, Any]]:
    shapes_infos = list(cls.operator_shapes_infos())
    skipped = set(cls.skip_these_tests())
    for (i, info), dtype, use_placeholder in itertools.product(enumerate(shapes_infos), cls.dtypes_to_test(), cls.use_placeholder_options()):
        end = "%s_%s_%s" % (i, dtype.name, use_placeholder)
        for name, (check, options) in _PLAIN.items():
            if name not in skipped:
                yield "%s_%s" % (name, end), _with_graph(check, info, dtype, use_placeholder, options, {})
        for name, (check, with_batch) in _OF_ARGUMENTS.items():
            if name in skipped:
                continue
            for adjoint, adjoint_arg in itertools.product(cls.adjoint_options(), cls.adjoint_arg_options()):
                more = {"adjoint": adjoint, "adjoint_arg": adjoint_arg, "with_batch": with_batch}
                yield "%s_%s_%s_%s" % (name, end, adjoint, adjoint_arg), _with_graph(check, info, dtype, use_placeholder, {}, more)


def add_tests(test_cls: Any) -> None:
    """Adds a test to a class for each method, shape, dtype and option.

    Raises:
      RuntimeError: The class has a test of such a name.
    """
    for name, test in _cases(test_cls):
        name = "test_" + name
        if hasattr(test_cls, name):
            raise RuntimeError("Test %s defined more than once" % name)
        setattr(test_cls, name, test)


def _drawn(operator: Any, rows: int, with_batch: bool) -> Any:
    """Returns a matrix of two columns: `rows` is the axis of the operator that they are as long as, from
    the end.
    """
    known = operator.shape
    if known.is_fully_defined():
        batch = known[:-2].as_list() if with_batch else []
        return random_normal([*batch, known[rows].value, 2], dtype=operator.dtype)
    shape = operator.shape_tensor()
    sizes = [shape[-1:] if rows == -1 else shape[-2:-1], [2]]
    return random_normal(array_ops.concat([shape[:-2], *sizes] if with_batch else sizes, 0), dtype=operator.dtype)


class SquareLinearOperatorDerivedClassTest(LinearOperatorDerivedClassTest):
    """A test of operators with as many rows as columns."""

    @staticmethod
    def operator_shapes_infos() -> List[OperatorShapesInfo]:
        """Returns shapes of square matrices and of batches of them, among them empty ones."""
        return [OperatorShapesInfo(shape) for shape in [(0, 0), (1, 1), (1, 3, 3), (3, 4, 4), (2, 1, 4, 4)]]

    def make_rhs(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        """Returns a right side for `solve`."""
        return self.make_x(operator, adjoint=not adjoint, with_batch=with_batch)

    def make_x(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        """Returns a matrix for `matmul`."""
        return _drawn(operator, -1, with_batch)


class NonSquareLinearOperatorDerivedClassTest(LinearOperatorDerivedClassTest):
    """A test of operators with more rows than columns, or fewer."""

    @staticmethod
    def operator_shapes_infos() -> List[OperatorShapesInfo]:
        """Returns shapes of matrices that are not square, and of batches of them."""
        return [OperatorShapesInfo(shape) for shape in [(2, 1), (1, 2), (1, 3, 2), (3, 3, 4), (2, 1, 2, 4)]]

    @staticmethod
    def skip_these_tests() -> List[str]:
        """Returns the tests that need square operators."""
        return ["cholesky", "inverse", "solve", "solve_with_broadcast", "det", "log_abs_det", "trace"]

    def make_rhs(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        """Raises an error: such operators have no inverse.

        Raises:
          NotImplementedError: Always.
        """
        raise NotImplementedError("make_rhs not implemented because we don't test solve")

    def make_x(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        """Returns a matrix for `matmul`."""
        return _drawn(operator, -2 if adjoint else -1, with_batch)


NAMES: Dict[str, Dict[str, Any]] = {
    "python.ops.linalg.linear_operator_test_util": {
        thing.__name__: thing
        for thing in (
            CheckTapeSafeSkipOptions,
            LinearOperatorDerivedClassTest,
            NonSquareLinearOperatorDerivedClassTest,
            OperatorShapesInfo,
            SquareLinearOperatorDerivedClassTest,
            add_tests,
            random_normal,
            random_normal_correlated_columns,
            random_positive_definite_matrix,
            random_sign_uniform,
            random_tril_matrix,
            random_uniform,
        )
    },
}
