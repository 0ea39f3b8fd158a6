"""`tf.contrib.tensorboard`: what TensorBoard's plugins read."""

from millstream.contrib.tensorboard import plugins as plugins

__all__ = ["plugins"]


def __dir__() -> list:
    return list(__all__)
