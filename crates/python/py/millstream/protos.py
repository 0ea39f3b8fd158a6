"""TensorFlow's messages as protobuf classes: `millstream.protos.GraphDef`. Most are top-level names, too."""

from typing import TYPE_CHECKING, Any, List

from millstream.framework import protos as _protos
from millstream.framework.protos import as_message, names

if TYPE_CHECKING:
    from millstream._generated.protos import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        return getattr(_protos, name)


def __dir__() -> List[str]:
    return _protos.__dir__()
