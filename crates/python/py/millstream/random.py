"""`tf.random`: names that the top does not have. Other names are looked up at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millstream.framework import namespaces
from millstream.ops.random_ops import (
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
    from millstream._generated.endpoints_random import *  # noqa: F403
else:
    __getattr__ = namespaces.getattr_of(__name__)


__dir__ = namespaces.dir_of(globals())
