"""`tf.debugging`: assertions without a name elsewhere. Other names are looked up at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millstream.framework import namespaces
from millstream.ops.check_ops import assert_shapes, verify_tensor_all_finite as assert_all_finite

__all__ = ["assert_all_finite", "assert_shapes"]


if TYPE_CHECKING:
    from millstream._generated.endpoints_debugging import *  # noqa: F403
else:
    __getattr__ = namespaces.getattr_of(__name__)


__dir__ = namespaces.dir_of(globals())
