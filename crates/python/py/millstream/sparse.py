"""`tf.sparse`: what stands under no name at the top. The rest is found when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

from millstream import _namespaces
from millstream.framework import SparseTensor
from millstream.sparse_ops import expand_dims, eye, from_dense

__all__ = ["SparseTensor", "expand_dims", "eye", "from_dense"]


if TYPE_CHECKING:
    from millstream._endpoints_sparse import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        return _namespaces.find(__name__, "sparse", name)


def __dir__() -> List[str]:
    return _namespaces.shown(globals(), "sparse")
