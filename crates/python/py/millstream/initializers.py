"""`tf.initializers`: names that the top does not have. Other names are looked up at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millstream.framework import namespaces
from millstream.variables.initializers import (
    Identity as identity,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
)

__all__ = ["he_normal", "he_uniform", "identity", "lecun_normal", "lecun_uniform"]


if TYPE_CHECKING:
    from millstream._generated.endpoints_initializers import *  # noqa: F403
else:
    __getattr__ = namespaces.getattr_of(__name__)


__dir__ = namespaces.dir_of(globals())
