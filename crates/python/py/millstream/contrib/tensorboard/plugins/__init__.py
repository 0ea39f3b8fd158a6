"""`tf.contrib.tensorboard.plugins`: the embedding projector."""

from millstream.contrib.tensorboard.plugins import projector as projector

__all__ = ["projector"]


def __dir__() -> list:
    return list(__all__)
