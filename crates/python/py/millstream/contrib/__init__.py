"""`tf.contrib`: the parts that concern loops and input."""

from typing import TYPE_CHECKING, Any, List

from millstream.framework import namespaces

_PARTS = ("framework", "lookup", "rnn", "seq2seq", "training")


if TYPE_CHECKING:
    from millstream.contrib import framework as framework, rnn as rnn, seq2seq as seq2seq, training as training
else:

    def __getattr__(name: str) -> Any:
        if name in _PARTS:
            return namespaces.find(__name__, "contrib", name)
        why = namespaces.why_not("contrib." + name) or f": it has {', '.join(_PARTS)}"
        raise AttributeError(f"module 'millstream.contrib' has no attribute {name!r}{why}")


def __dir__() -> List[str]:
    return sorted(_PARTS)
