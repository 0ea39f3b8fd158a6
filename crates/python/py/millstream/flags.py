"""Command-line flags (`tf.flags`, `tf.app.flags`): those of the package `absl-py`, as TensorFlow has them.

    FLAGS = tf.flags.FLAGS
    tf.flags.DEFINE_integer("steps", 100, "How long to train.")
"""

from typing import Any

try:
    from absl import flags as _flags
except ImportError as e:
    raise ImportError("`tf.flags` and `tf.app` are those of the package absl-py: pip install absl-py") from e


def __getattr__(name: str) -> Any:
    return getattr(_flags, name)


def __dir__() -> list:
    return dir(_flags)
