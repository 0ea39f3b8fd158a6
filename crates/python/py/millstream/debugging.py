"""`tf.debugging`: assertions that stand nowhere else. The others are found when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

from millstream import _namespaces
from millstream.check_ops import assert_shapes
from millstream.check_ops import verify_tensor_all_finite as assert_all_finite

__all__ = ["assert_all_finite", "assert_shapes"]


if TYPE_CHECKING:
    from millstream._endpoints_debugging import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        return _namespaces.find(__name__, "debugging", name)


def __dir__() -> List[str]:
    return _namespaces.shown(globals(), "debugging")
