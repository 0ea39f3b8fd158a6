"""Writes `docs/tools/tensorflow_names.txt`: every public name of TensorFlow 1.15, without `tf.`.

Run with a Python that has TensorFlow 1.15: `python crates/python/tools/tf_names.py >
docs/tools/tensorflow_names.txt`. The file contains only names. A module that is reachable by several names is
listed with its contents under the shortest; `compat.v1` repeats everything and is left out.
"""

import types

import tensorflow as tf
from tensorflow.python.util import lazy_loader

# Not of the public interface: what programs see only because Python makes imported modules attributes.
INTERNAL = {"python", "core", "tools", "examples", "compiler", "compat.v1", "compat.v2", "contrib.ops"}


def _public(module):
    """Returns whether a module of TensorFlow is part of its interface."""
    name = module.__name__
    return name.startswith("tensorflow") and (".python." not in name or ".api._v1" in name) or isinstance(module, lazy_loader.LazyLoader)


def _generated(value):
    return ".gen_" in str(getattr(value, "__module__", ""))


def main():
    """Prints the names, sorted."""
    found, seen, waiting = set(), {id(tf)}, [(tf, "")]
    while waiting:
        module, prefix = waiting.pop(0)
        for name in sorted(n for n in dir(module) if not n.startswith("_")):
            path = prefix + name
            try:
                value = getattr(module, name)
            except (AttributeError, ImportError):
                continue
            if path in INTERNAL or name == "python":
                continue
            if not isinstance(value, types.ModuleType):
                # Some parts of `contrib` import everything that their files use.
                borrowed = path.startswith("contrib.") and (getattr(tf, name, None) is value or _generated(value))
                if not borrowed:
                    found.add(path)
            elif _public(value) and id(value) not in seen:
                dir(value)  # Loads a module that is loaded when it is first used.
                seen.add(id(value))
                waiting.append((value, path + "."))
    print("\n".join(sorted(found)))


if __name__ == "__main__":
    main()
