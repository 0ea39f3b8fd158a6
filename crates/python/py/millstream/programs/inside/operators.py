"""The modules of `tf.linalg.LinearOperator`: rules for operators, and helpers of subclasses: `NAMES`."""

from __future__ import annotations

from typing import Any, Dict, Optional

from millstream.framework import convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, control_flow, linear_operators, math_ops, operator_rules, structured_operators
from millstream.ops.linear_operators import assert_is_batch_matrix, broadcast_matrix_batch_dims
from millstream.variables.variable import Variable

# The rules --------------------------------------------------------------------------------------------------


def _applied(rules: Any) -> Any:
    def apply(lin_op_a: Any, lin_op_b: Any = None, name: Optional[str] = None) -> Any:
        given = [one for one in (lin_op_a, lin_op_b) if one is not None]
        with name_scope(name or "LinearOperator"):
            return rules.find(*given)(*given)

    return apply


def _applied_to_one(rules: Any) -> Any:
    def apply(lin_op_a: Any, name: Optional[str] = None) -> Any:
        with name_scope(name or "LinearOperator"):
            return rules.find(lin_op_a)(lin_op_a)

    return apply


_RULES = {
    "RegisterAdjoint": linear_operators.adjoints.add,
    "RegisterCholesky": linear_operators.factors.add,
    "RegisterInverse": linear_operators.inverses.add,
    "RegisterMatmul": linear_operators.products.add,
    "RegisterSolve": linear_operators.quotients.add,
    "adjoint": _applied_to_one(linear_operators.adjoints),
    "cholesky": _applied_to_one(linear_operators.factors),
    "inverse": _applied_to_one(linear_operators.inverses),
    "matmul": _applied(linear_operators.products),
    "solve": _applied(linear_operators.quotients),
}

# Helpers of subclasses --------------------------------------------------------------------------------------


def convert_nonref_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: Optional[str] = None) -> Any:
    """Converts a value to a tensor; a variable stays as it is, and is read when it is used.

    Raises:
      TypeError: The variable has another dtype.
    """
    if value is None:
        return None
    if is_ref(value):
        if dtype is not None and dtypes.as_dtype(dtype).base_dtype != value.dtype.base_dtype:
            raise TypeError('Mutable type must be of dtype "%s" but is "%s".' % (dtypes.as_dtype(dtype).name, value.dtype.base_dtype.name))
        return value
    return convert_to_tensor(value, dtype, name, preferred_dtype=dtype_hint)


def base_dtype(dtype: Any) -> Any:
    """Returns the dtype that is no reference."""
    return dtypes.as_dtype(dtype).base_dtype


def dtype_name(dtype: Any) -> str:
    """Returns the name of a dtype."""
    return str(dtypes.as_dtype(dtype).name)


def is_ref(x: Any) -> bool:
    """Returns whether a value is a variable, which may change."""
    return isinstance(x, Variable)


def assert_not_ref_type(x: Any, arg_name: str) -> None:
    """Raises an error if a value is a variable.

    Raises:
      TypeError: It is one.
    """
    if is_ref(x):
        raise TypeError("Argument %s cannot be reference type. Found: %s." % (arg_name, type(x)))


def assert_no_entries_with_modulus_zero(x: Any, message: Optional[str] = None, name: str = "assert_no_entries_with_modulus_zero") -> Any:
    """Returns an operation that fails if an element is zero."""
    with name_scope(name, values=[x]):
        size = math_ops.abs(convert_to_tensor(x, name="x"))
        return check_ops.assert_less(array_ops.zeros([], size.dtype), size, message=message)


def assert_zero_imag_part(x: Any, message: Optional[str] = None, name: str = "assert_zero_imag_part") -> Any:
    """Returns an operation that fails if an element is not real."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_complex:
            return control_flow.no_op()
        part = math_ops.imag(x)
        return check_ops.assert_equal(array_ops.zeros([], part.dtype), part, message=message)


def assert_compatible_matrix_dimensions(operator: Any, x: Any) -> Any:
    """Returns an operation that fails if an operator cannot multiply a matrix."""
    words = "Incompatible matrix dimensions.  shape[-2] of argument to be the same as this operator"
    return check_ops.assert_equal(array_ops.shape(x)[-2], operator.domain_dimension_tensor(), message=words)


def shape_tensor(shape: Any, name: Optional[str] = None) -> Any:
    """Returns a shape as a tensor of int32."""
    if isinstance(shape, (tuple, list)) and not shape:
        return convert_to_tensor(shape, dtypes.int32, name)
    return convert_to_tensor(shape, name=name)


def cholesky_solve_with_broadcast(chol: Any, rhs: Any, name: Optional[str] = None) -> Any:
    """Returns the solutions for matrices of which the Cholesky factors are given; batches are broadcast."""
    with name_scope(name or "CholeskySolveWithBroadcast", values=[chol, rhs]):
        chol, rhs = broadcast_matrix_batch_dims([chol, rhs])
        return op("MatrixTriangularSolve")(chol, op("MatrixTriangularSolve")(chol, rhs, lower=True), lower=True, adjoint=True)


def matrix_solve_with_broadcast(matrix: Any, rhs: Any, adjoint: bool = False, name: Optional[str] = None) -> Any:
    """Returns the solutions for matrices; batches are broadcast."""
    with name_scope(name or "MatrixSolveWithBroadcast", values=[matrix, rhs]):
        matrix, rhs = broadcast_matrix_batch_dims([matrix, rhs])
        return op("MatrixSolve")(matrix, rhs, adjoint=adjoint)


def matrix_triangular_solve_with_broadcast(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: Optional[str] = None) -> Any:
    """Returns the solutions for triangular matrices; batches are broadcast."""
    with name_scope(name or "MatrixTriangularSolveWithBroadcast", values=[matrix, rhs]):
        matrix, rhs = broadcast_matrix_batch_dims([matrix, rhs])
        return op("MatrixTriangularSolve")(matrix, rhs, lower=lower, adjoint=adjoint)


def use_operator_or_provided_hint_unless_contradicting(operator: Any, hint_attr_name: str, provided_hint_value: Optional[bool], message: str) -> Optional[bool]:
    """Returns the hint of an operator, or a given one if it has none.

    Raises:
      ValueError: They contradict each other.
    """
    known = getattr(operator, hint_attr_name)
    if known is not None and provided_hint_value is not None and known != provided_hint_value:
        raise ValueError(message)
    return provided_hint_value if known is None else known


_HELPERS = {
    function.__name__: function
    for function in (
        convert_nonref_to_tensor,
        base_dtype,
        dtype_name,
        is_ref,
        assert_not_ref_type,
        assert_no_entries_with_modulus_zero,
        assert_zero_imag_part,
        assert_compatible_matrix_dimensions,
        assert_is_batch_matrix,
        shape_tensor,
        broadcast_matrix_batch_dims,
        cholesky_solve_with_broadcast,
        matrix_solve_with_broadcast,
        matrix_triangular_solve_with_broadcast,
        use_operator_or_provided_hint_unless_contradicting,
    )
}

_HINTS = {
    function.__name__: function
    for function in (
        operator_rules.combined_commuting_positive_definite_hint,
        operator_rules.combined_commuting_self_adjoint_hint,
        operator_rules.combined_non_singular_hint,
        operator_rules.is_square,
    )
}

NAMES: Dict[str, Dict[str, Any]] = {
    **{"python.ops.linalg.%s_registrations" % kind: {"_%s_linear_operator" % kind: _RULES[kind]} for kind in ("adjoint", "cholesky", "inverse", "matmul", "solve")},
    "python.ops.linalg.linear_operator_algebra": _RULES,
    "python.ops.linalg.linear_operator_circulant": {"_BaseLinearOperatorCirculant": structured_operators._Circulant},
    "python.ops.linalg.linear_operator_identity": {"BaseLinearOperatorIdentity": linear_operators.LinearOperatorScaledIdentity},
    "python.ops.linalg.linear_operator_util": _HELPERS,
    "python.ops.linalg.registrations_util": _HINTS,
}
