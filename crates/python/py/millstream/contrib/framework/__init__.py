"""`tf.contrib.framework`: `nest`."""

from millstream import nest

__all__ = ["nest"]
