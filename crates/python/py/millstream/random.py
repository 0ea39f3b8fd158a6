"""`tf.random`: what stands under no name at the top. The rest is found when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

from millstream import _namespaces
from millstream.random_ops import (
    categorical,
    stateless_categorical,
    stateless_multinomial,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
)

__all__ = [
    "categorical",
    "stateless_categorical",
    "stateless_multinomial",
    "stateless_normal",
    "stateless_truncated_normal",
    "stateless_uniform",
]


if TYPE_CHECKING:
    from millstream._endpoints_random import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        return _namespaces.find(__name__, "random", name)


def __dir__() -> List[str]:
    return _namespaces.shown(globals(), "random")
