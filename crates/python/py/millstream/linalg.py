"""`tf.linalg`: names that the top does not have. Other names are looked up at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millstream.framework import namespaces
from millstream.nn.functions import l2_normalize
from millstream.ops.decompositions import matrix_rank, pinv, tridiagonal_matmul, tridiagonal_solve
from millstream.ops.linear_operators import (
    LinearOperator,
    LinearOperatorAdjoint,
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorIdentity,
    LinearOperatorInversion,
    LinearOperatorLowerTriangular,
    LinearOperatorScaledIdentity,
)
from millstream.ops import operator_rules as _operator_rules
from millstream.ops.structured_operators import (
    LinearOperatorBlockDiag,
    LinearOperatorCirculant,
    LinearOperatorCirculant2D,
    LinearOperatorCirculant3D,
    LinearOperatorComposition,
    LinearOperatorHouseholder,
    LinearOperatorKronecker,
    LinearOperatorLowRankUpdate,
    LinearOperatorToeplitz,
    LinearOperatorZeros,
)
from millstream.ops.linalg_ops import adjoint, expm, logdet, matvec, normalize

__all__ = [
    "LinearOperator",
    "LinearOperatorAdjoint",
    "LinearOperatorBlockDiag",
    "LinearOperatorCirculant",
    "LinearOperatorCirculant2D",
    "LinearOperatorCirculant3D",
    "LinearOperatorComposition",
    "LinearOperatorDiag",
    "LinearOperatorFullMatrix",
    "LinearOperatorHouseholder",
    "LinearOperatorIdentity",
    "LinearOperatorInversion",
    "LinearOperatorKronecker",
    "LinearOperatorLowRankUpdate",
    "LinearOperatorLowerTriangular",
    "LinearOperatorScaledIdentity",
    "LinearOperatorToeplitz",
    "LinearOperatorZeros",
    "adjoint",
    "expm",
    "l2_normalize",
    "logdet",
    "matrix_rank",
    "matvec",
    "normalize",
    "pinv",
    "tridiagonal_matmul",
    "tridiagonal_solve",
]


if TYPE_CHECKING:
    from millstream._generated.endpoints_linalg import *  # noqa: F403
else:
    __getattr__ = namespaces.getattr_of(__name__)


__dir__ = namespaces.dir_of(globals())
