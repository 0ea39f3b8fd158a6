"""Sums of `tf.linalg.LinearOperator`s (`python.ops.linalg.linear_operator_addition`): `NAMES`."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from millstream.framework import name_scope
from millstream.ops import array_ops
from millstream.ops.linear_operators import (
    LinearOperator,
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorIdentity,
    LinearOperatorLowerTriangular,
    LinearOperatorScaledIdentity,
)


class _Hints:
    """What is known about a sum.

    Args:
      is_non_singular: Whether it has an inverse; None if that is not known.
      is_positive_definite: Whether it is positive definite.
      is_self_adjoint: Whether it is its own adjoint.
    """

    def __init__(self, is_non_singular: Optional[bool] = None, is_positive_definite: Optional[bool] = None, is_self_adjoint: Optional[bool] = None) -> None:
        self.is_non_singular, self.is_positive_definite, self.is_self_adjoint = is_non_singular, is_positive_definite, is_self_adjoint

    def _as_arguments(self) -> Dict[str, Any]:
        return dict(vars(self))


def _hints_of(op1: Any, op2: Any, hints: Optional[_Hints]) -> _Hints:
    """Returns the hints of a sum: those given, or what follows from both operators."""
    hints = hints or _Hints()
    self_adjoint, definite = hints.is_self_adjoint, hints.is_positive_definite
    if self_adjoint is None:
        self_adjoint = op1.is_self_adjoint and op2.is_self_adjoint
    if definite is None:
        definite = op1.is_positive_definite and op2.is_positive_definite
    known = hints.is_non_singular
    # A positive definite matrix has an inverse.
    return _Hints(definite if known is None and definite else known, definite, self_adjoint)


class _Adder:
    """A way to add two operators."""

    # The classes of operators that it adds.
    _classes: Tuple[type, ...] = (LinearOperator,)

    @property
    def name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    def can_add(self, op1: Any, op2: Any) -> bool:
        """Returns whether it adds these operators."""
        return isinstance(op1, self._classes) and isinstance(op2, self._classes)

    def add(self, op1: Any, op2: Any, operator_name: Optional[str], hints: Optional[_Hints] = None) -> Any:
        """Returns the sum of two operators.

        Args:
          op1: An operator.
          op2: Another one.
          operator_name: The name of the sum; by default it has the names of both.
          hints: What is known about the sum; by default, what follows from the operators.
        """
        name = operator_name or "Add/%s__%s/" % (op1.name, op2.name)
        with name_scope(self.name.lstrip("_")):
            return self._add(op1, op2, name, _hints_of(op1, op2, hints))

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: _Hints) -> Any:
        raise NotImplementedError("%s has no rule for a sum" % self.name)

    def __repr__(self) -> str:
        return "<%s>" % self.name


def _multiplier(operator: Any) -> Any:
    """Returns what an operator multiplies vectors by; of the identity, ones of the shape of its batch."""
    plain = isinstance(operator, LinearOperatorIdentity)
    return array_ops.ones(operator.batch_shape_tensor(), dtype=operator.dtype) if plain else operator.multiplier


class _AddAndReturnScaledIdentity(_Adder):
    """Adds multiples of the identity."""

    _classes = (LinearOperatorScaledIdentity,)

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: _Hints) -> Any:
        multiplier = _multiplier(op1) + _multiplier(op2)
        return LinearOperatorScaledIdentity(op1.range_dimension_tensor(), multiplier, name=operator_name, **hints._as_arguments())


class _AddAndReturnDiag(_Adder):
    """Adds diagonal operators."""

    _classes = (LinearOperatorScaledIdentity, LinearOperatorDiag)

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: _Hints) -> Any:
        return LinearOperatorDiag(op1.diag_part() + op2.diag_part(), name=operator_name, **hints._as_arguments())


def _dense_sum(op1: Any, op2: Any) -> Any:
    """Returns the matrix of a sum. An operator that is quick to add is added to the matrix of the other."""
    quick = isinstance(op1, (LinearOperatorScaledIdentity, LinearOperatorDiag))
    return op1.add_to_tensor(op2.to_dense()) if quick else op2.add_to_tensor(op1.to_dense())


class _AddAndReturnTriL(_Adder):
    """Adds lower triangular operators."""

    _classes = (LinearOperatorScaledIdentity, LinearOperatorDiag, LinearOperatorLowerTriangular)

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: _Hints) -> Any:
        return LinearOperatorLowerTriangular(_dense_sum(op1, op2), name=operator_name, **hints._as_arguments())


class _AddAndReturnMatrix(_Adder):
    """Adds any operators, as matrices."""

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: _Hints) -> Any:
        return LinearOperatorFullMatrix(_dense_sum(op1, op2), name=operator_name, **hints._as_arguments())


_TIERS = ((_AddAndReturnScaledIdentity(),), (_AddAndReturnDiag(),), (_AddAndReturnTriL(),), (_AddAndReturnMatrix(),))


def add_operators(operators: Any, operator_name: Optional[str] = None, addition_tiers: Any = None, name: Optional[str] = None) -> List[Any]:
    """Returns operators whose sum is that of the given ones: as few as the ways to add allow.

    Args:
      operators: The operators.
      operator_name: The name of a sum.
      addition_tiers: Lists of ways to add, the quickest first; by default multiples of the identity,
        diagonal,
        triangular and full matrices, which leave one operator.
      name: A name scope.

    Raises:
      ValueError: There is no operator, or their shapes do not fit.
    """
    left = list(operators)
    if not left:
        raise ValueError("Argument operators contains no operators: expected one at least")
    _static_check_for_same_dimensions(left)
    _static_check_for_broadcastable_batch_shape(left)
    with name_scope(name or "add_operators"):
        for tier in _TIERS if addition_tiers is None else addition_tiers:
            trying, left = left, []
            while trying:
                first = trying.pop(0)
                match = next(((other, adder) for other in trying for adder in tier if adder.can_add(first, other)), None)
                if match is None:
                    left.append(first)
                else:
                    trying.remove(match[0])
                    trying.insert(0, match[1].add(first, match[0], operator_name))
        return left


def _static_check_for_same_dimensions(operators: Any) -> None:
    """Raises an error if operators are known to have different numbers of rows or columns."""
    for word, axis in (("domain", "domain_dimension"), ("range", "range_dimension")):
        known = [(one.name, getattr(one, axis).value) for one in operators if getattr(one, axis).value is not None]
        if len({size for _, size in known}) > 1:
            raise ValueError("Operators must have the same %s dimension: found %s" % (word, known))


def _static_check_for_broadcastable_batch_shape(operators: Any) -> None:
    """Raises an error if the batches of operators are known not to fit."""
    shape = operators[0].batch_shape
    for one in operators[1:]:
        shape = array_ops.broadcast_static_shape(shape, one.batch_shape)


NAMES: Dict[str, Dict[str, Any]] = {
    "python.ops.linalg.linear_operator_addition": {
        "_AddAndReturnDiag": _AddAndReturnDiag,
        "_AddAndReturnMatrix": _AddAndReturnMatrix,
        "_AddAndReturnScaledIdentity": _AddAndReturnScaledIdentity,
        "_AddAndReturnTriL": _AddAndReturnTriL,
        "_Adder": _Adder,
        "_Hints": _Hints,
        "_static_check_for_broadcastable_batch_shape": _static_check_for_broadcastable_batch_shape,
        "_static_check_for_same_dimensions": _static_check_for_same_dimensions,
        "add_operators": add_operators,
    },
}
