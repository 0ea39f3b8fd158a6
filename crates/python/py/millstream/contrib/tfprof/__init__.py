"""`tf.contrib.tfprof`: the predecessor of `tf.profiler`."""

from millstream.contrib.tfprof import model_analyzer as model_analyzer
from millstream.framework import namespaces

__all__ = ["model_analyzer"]

__getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> list:
    return list(__all__)
