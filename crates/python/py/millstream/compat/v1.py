"""`tf.compat.v1`: the whole package under TensorFlow's later name for it.

It is a module of its own, so that `import millstream.compat.v1 as tf` works; names are looked up and set in
the package.
"""

import sys
import types
from typing import Any, List

_package = sys.modules["millstream"]


class _Alias(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        # Names that the import system asks for are the module's own.
        if name.startswith("__") and name not in ("__version__", "__millstream_version__"):
            raise AttributeError(name)
        return getattr(_package, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
        else:
            setattr(_package, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_package, name)

    def __dir__(self) -> List[str]:
        return sorted(set(dir(_package)))


sys.modules[__name__].__class__ = _Alias
