"""`tf.linalg`: what stands under no name at the top. The rest is found when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

from millstream import _namespaces
from millstream.linalg_ops import adjoint, expm, logdet, matvec, normalize, tridiagonal_matmul

__all__ = ["adjoint", "expm", "logdet", "matvec", "normalize", "tridiagonal_matmul"]


if TYPE_CHECKING:
    from millstream._endpoints_linalg import *  # noqa: F403
    from millstream.nn import l2_normalize as l2_normalize
else:

    def __getattr__(name: str) -> Any:
        if name == "l2_normalize":
            from millstream.nn import l2_normalize

            return l2_normalize
        return _namespaces.find(__name__, "linalg", name)


def __dir__() -> List[str]:
    return _namespaces.shown(globals(), "linalg")
