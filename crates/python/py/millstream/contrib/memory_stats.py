"""`tf.contrib.memory_stats`: names whose functions refuse: allocations are not counted by device."""

from typing import NoReturn

from millstream.framework import namespaces

__all__ = ["BytesInUse", "BytesLimit", "MaxBytesInUse"]

__dir__ = namespaces.dir_of(globals())


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        "`tf.contrib.memory_stats.%s`: the engine does not count the memory of a device. `tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)` "
        "and `tf.profiler` tell what each operation allocates" % name
    )


def BytesInUse() -> NoReturn:  # noqa: N802
    """Raises an error: `tf.profiler` tells what operations allocate.

    Raises:
      NotImplementedError: Always.

    Example:
      >>> tf.contrib.memory_stats.BytesInUse()
      Traceback (most recent call last):
        ...
      NotImplementedError: ...
    """
    _refuse("BytesInUse")


def BytesLimit() -> NoReturn:  # noqa: N802
    """Raises an error: `tf.profiler` tells what operations allocate.

    Raises:
      NotImplementedError: Always.

    Example:
      >>> tf.contrib.memory_stats.BytesLimit()
      Traceback (most recent call last):
        ...
      NotImplementedError: ...
    """
    _refuse("BytesLimit")


def MaxBytesInUse() -> NoReturn:  # noqa: N802
    """Raises an error: `tf.profiler` tells what operations allocate.

    Raises:
      NotImplementedError: Always.

    Example:
      >>> tf.contrib.memory_stats.MaxBytesInUse()
      Traceback (most recent call last):
        ...
      NotImplementedError: ...
    """
    _refuse("MaxBytesInUse")
