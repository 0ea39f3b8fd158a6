"""`tf.sparse`: names that the top does not have. Other names are looked up at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millstream.framework import SparseTensor, namespaces
from millstream.ops.sparse_ops import cross, cross_hashed, expand_dims, eye, from_dense

__all__ = ["SparseTensor", "cross", "cross_hashed", "expand_dims", "eye", "from_dense"]


if TYPE_CHECKING:
    from millstream._generated.endpoints_sparse import *  # noqa: F403
else:
    __getattr__ = namespaces.getattr_of(__name__)


__dir__ = namespaces.dir_of(globals())
