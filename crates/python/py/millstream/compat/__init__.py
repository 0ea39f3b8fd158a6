"""`tf.compat`: strings and bytes, and differences between TensorFlow's versions.

`compat.v1` is the package itself.
"""

from __future__ import annotations

import contextlib
import datetime
import numbers
from typing import Any, Iterator, Union

import numpy as np

from millstream.framework.shapes import dimension_at_index, dimension_value
from millstream.framework.text import as_bytes, as_str, as_str_any, as_text

__all__ = [
    "as_bytes",
    "as_str",
    "as_str_any",
    "as_text",
    "bytes_or_text_types",
    "complex_types",
    "dimension_at_index",
    "dimension_value",
    "forward_compatibility_horizon",
    "forward_compatible",
    "integral_types",
    "path_to_str",
    "real_types",
    "v1",
]

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)


def path_to_str(path: Any) -> Any:
    """Converts a path object (`os.PathLike`) to a string; other values are returned unchanged.

    Example:
      >>> import pathlib
      >>> tf.compat.path_to_str(pathlib.PurePosixPath("a/b"))
      'a/b'
    """
    return as_str_any(path.__fspath__()) if hasattr(path, "__fspath__") else path


# The date up to which TensorFlow 1.15 assumes graphs to be readable by older versions.
_horizon = datetime.date(2019, 8, 21)


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Returns whether graphs may use features that TensorFlow gained on a date, as TensorFlow 1.15 answers.

    Args:
      year: The year.
      month: The month.
      day: The day.

    Returns:
      A bool.

    Example:
      >>> tf.compat.forward_compatible(2018, 1, 1)
      True
    """
    return datetime.date(year, month, day) < _horizon


@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """A block in which `forward_compatible` assumes another current date.

    Args:
      year: The year.
      month: The month.
      day: The day.

    Example:
      >>> with tf.compat.forward_compatibility_horizon(2018, 1, 1):
      ...     print(tf.compat.forward_compatible(2019, 1, 1))
      False
    """
    global _horizon
    before, _horizon = _horizon, datetime.date(year, month, day)
    try:
        yield
    finally:
        _horizon = before


from millstream.compat import v1  # noqa: E402  (at the end: it may look at what is above)
