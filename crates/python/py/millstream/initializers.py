"""`tf.initializers`: what stands under no name at the top. The rest is found when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

from millstream import _namespaces
from millstream.init_ops import Identity as identity
from millstream.init_ops import he_normal, he_uniform, lecun_normal, lecun_uniform

__all__ = ["he_normal", "he_uniform", "identity", "lecun_normal", "lecun_uniform"]


if TYPE_CHECKING:
    from millstream._endpoints_initializers import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        return _namespaces.find(__name__, "initializers", name)


def __dir__() -> List[str]:
    return _namespaces.shown(globals(), "initializers")
