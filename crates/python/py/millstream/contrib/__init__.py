"""`tf.contrib`: the parts of it that belong to loops and input: `framework`, `lookup`, `training`, `rnn`."""

import importlib
from typing import TYPE_CHECKING, Any, List

_PARTS = ("framework", "lookup", "rnn", "training")


if TYPE_CHECKING:
    from millstream.contrib import framework as framework, rnn as rnn, training as training
else:

    def __getattr__(name: str) -> Any:
        if name in _PARTS:
            return importlib.import_module("millstream.contrib." + name)
        raise AttributeError(f"module 'millstream.contrib' has no attribute {name!r}: it has {', '.join(_PARTS)}")


def __dir__() -> List[str]:
    return sorted(_PARTS)
