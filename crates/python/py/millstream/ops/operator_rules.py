"""The operators that come out when a `LinearOperator` multiplies or solves another one."""

from __future__ import annotations

from typing import Any, Dict, Optional

from millstream.ops import array_ops
from millstream.ops.linear_operators import (
    LinearOperator,
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorInversion,
    LinearOperatorLowerTriangular,
    LinearOperatorScaledIdentity,
    products,
    quotients,
)
from millstream.ops.structured_operators import LinearOperatorCirculant, LinearOperatorComposition, LinearOperatorZeros

# Hints of a product -----------------------------------------------------------------------------------------


def combined_commuting_self_adjoint_hint(operator_a: Any, operator_b: Any) -> Optional[bool]:
    """Returns whether the product of operators that commute is self-adjoint, or None."""
    a, b = operator_a.is_self_adjoint, operator_b.is_self_adjoint
    return None if a is None or b is None or not (a or b) else a and b


def is_square(operator_a: Any, operator_b: Any) -> Optional[bool]:
    """Returns whether the product of operators is square, or None."""
    a, b = operator_a.is_square, operator_b.is_square
    return None if a is None or b is None or not (a or b) else a and b


def combined_commuting_positive_definite_hint(operator_a: Any, operator_b: Any) -> Optional[bool]:
    """Returns True if the product of operators that commute is known to be positive definite, else None."""
    known = all(one.is_positive_definite is True and one.is_self_adjoint is True for one in (operator_a, operator_b))
    return True if known else None


def combined_non_singular_hint(operator_a: Any, operator_b: Any) -> Optional[bool]:
    """Returns whether the product of operators is not singular, or None."""
    a, b = operator_a.is_non_singular, operator_b.is_non_singular
    return False if a is False or b is False else True if a and b else None


def _commuting(a: Any, b: Any) -> Dict[str, Any]:
    return {
        "is_non_singular": combined_non_singular_hint(a, b),
        "is_self_adjoint": combined_commuting_self_adjoint_hint(a, b),
        "is_positive_definite": combined_commuting_positive_definite_hint(a, b),
        "is_square": True,
    }


def _plain(a: Any, b: Any) -> Dict[str, Any]:
    return {"is_non_singular": combined_non_singular_hint(a, b), "is_square": is_square(a, b)}


def _triangular(a: Any, b: Any) -> Dict[str, Any]:
    return {"is_non_singular": combined_non_singular_hint(a, b), "is_self_adjoint": None, "is_positive_definite": None, "is_square": True}


# Products ---------------------------------------------------------------------------------------------------


@products.add(LinearOperator, LinearOperator)
def _compose(a: Any, b: Any) -> Any:
    return LinearOperatorComposition([a, b], **_plain(a, b))


@products.add(LinearOperatorIdentity, LinearOperator)
def _keep_right(a: Any, b: Any) -> Any:
    return b


@products.add(LinearOperator, LinearOperatorIdentity)
def _keep_left(a: Any, b: Any) -> Any:
    return a


@products.add(LinearOperatorIdentity, LinearOperatorIdentity)
def _keep_identity(a: Any, b: Any) -> Any:
    return a


@products.add(LinearOperatorDiag, LinearOperatorDiag)
def _multiply_diagonals(a: Any, b: Any) -> Any:
    return LinearOperatorDiag(a.diag * b.diag, **_commuting(a, b))


@products.add(LinearOperatorDiag, LinearOperatorScaledIdentity)
def _scale_diagonal(a: Any, b: Any) -> Any:
    return LinearOperatorDiag(a.diag * array_ops.expand_dims(b.multiplier, -1), **_commuting(a, b))


@products.add(LinearOperatorScaledIdentity, LinearOperatorDiag)
def _scale_right_diagonal(a: Any, b: Any) -> Any:
    return _scale_diagonal(b, a)


@products.add(LinearOperatorDiag, LinearOperatorLowerTriangular)
def _scale_rows(a: Any, b: Any) -> Any:
    return LinearOperatorLowerTriangular(array_ops.expand_dims(a.diag, -1) * b.to_dense(), **_triangular(a, b))


@products.add(LinearOperatorLowerTriangular, LinearOperatorDiag)
def _scale_columns(a: Any, b: Any) -> Any:
    return LinearOperatorLowerTriangular(a.to_dense() * array_ops.expand_dims(b.diag, -2), **_triangular(a, b))


@products.add(LinearOperatorCirculant, LinearOperatorCirculant)
def _multiply_spectra(a: Any, b: Any) -> Any:
    return LinearOperatorCirculant(a.spectrum * b.spectrum, a.dtype, **_commuting(a, b))


@products.add(LinearOperatorZeros, LinearOperator)
def _zeros_on_the_left(a: Any, b: Any) -> Any:
    return _zeros(a, b, a)


@products.add(LinearOperator, LinearOperatorZeros)
def _zeros_on_the_right(a: Any, b: Any) -> Any:
    return _zeros(a, b, b)


@products.add(LinearOperatorZeros, LinearOperatorIdentity)
def _zeros_and_identity(a: Any, b: Any) -> Any:
    return a


@products.add(LinearOperatorIdentity, LinearOperatorZeros)
def _identity_and_zeros(a: Any, b: Any) -> Any:
    return b


@products.add(LinearOperatorZeros, LinearOperatorZeros)
def _two_zeros(a: Any, b: Any) -> Any:
    return _zeros(a, b, a)


def _zeros(a: Any, b: Any, zeros: Any) -> Any:
    if a.is_square and b.is_square:
        return zeros
    rows, columns = a.range_dimension_tensor(), b.domain_dimension_tensor()
    square = is_square(a, b)
    return LinearOperatorZeros(rows, columns, dtype=a.dtype, is_square=square, is_self_adjoint=bool(square))


# Quotients --------------------------------------------------------------------------------------------------


@quotients.add(LinearOperator, LinearOperator)
def _invert_and_compose(a: Any, b: Any) -> Any:
    return LinearOperatorComposition([LinearOperatorInversion(a), b], **_plain(a, b))


@quotients.add(LinearOperatorInversion, LinearOperator)
def _multiply_the_inverted(a: Any, b: Any) -> Any:
    return a.operator.matmul(b)


@quotients.add(LinearOperatorIdentity, LinearOperator)
def _solve_identity(a: Any, b: Any) -> Any:
    return b


@quotients.add(LinearOperatorDiag, LinearOperatorDiag)
def _divide_diagonals(a: Any, b: Any) -> Any:
    return LinearOperatorDiag(b.diag / a.diag, **_commuting(a, b))


@quotients.add(LinearOperatorDiag, LinearOperatorScaledIdentity)
def _divide_scale(a: Any, b: Any) -> Any:
    return LinearOperatorDiag(array_ops.expand_dims(b.multiplier, -1) / a.diag, **_commuting(a, b))


@quotients.add(LinearOperatorDiag, LinearOperatorIdentity)
def _divide_identity(a: Any, b: Any) -> Any:
    return _invert_and_compose(a, b)


@quotients.add(LinearOperatorScaledIdentity, LinearOperatorDiag)
def _divide_by_scale(a: Any, b: Any) -> Any:
    return LinearOperatorDiag(b.diag / array_ops.expand_dims(a.multiplier, -1), **_commuting(a, b))


@quotients.add(LinearOperatorDiag, LinearOperatorLowerTriangular)
def _divide_rows(a: Any, b: Any) -> Any:
    return LinearOperatorLowerTriangular(b.to_dense() / array_ops.expand_dims(a.diag, -1), **_triangular(a, b))


@quotients.add(LinearOperatorCirculant, LinearOperatorCirculant)
def _divide_spectra(a: Any, b: Any) -> Any:
    return LinearOperatorCirculant(b.spectrum / a.spectrum, a.dtype, **_commuting(a, b))
