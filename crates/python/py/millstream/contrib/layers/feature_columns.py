"""`tf.contrib.layers.real_valued_column`: how `tf.contrib.learn` names numbers among features."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional, Tuple

from millstream.framework import dtypes

__all__ = ["real_valued_column"]


class _RealValuedColumn(NamedTuple):
    column_name: str
    dimension: Optional[int]
    default_value: Optional[Tuple[float, ...]]
    dtype: Any
    normalizer: Optional[Callable[[Any], Any]]

    @property
    def name(self) -> str:
        """The key of the feature."""
        return self.column_name

    @property
    def key(self) -> str:
        """A text that sorts columns."""
        return "%s(%s)" % (type(self).__name__, ", ".join("%s=%s" % pair for pair in zip(self._fields[:4], self[:3] + (str(self.dtype),))))


def real_valued_column(
    column_name: str, dimension: int = 1, default_value: Any = None, dtype: Any = dtypes.float32, normalizer: Optional[Callable[[Any], Any]] = None
) -> Any:
    """Returns a column of numbers for the estimators of `tf.contrib.learn`.

    Args:
      column_name: The key of the feature.
      dimension: The number of numbers of an example.
      default_value: A number, or one for each of them, where examples lack the feature.
      dtype: The dtype of the feature: floats or integers.
      normalizer: A function of the feature's tensor.

    Raises:
      TypeError: `dimension` is no integer, or `normalizer` no function.
      ValueError: `dimension` is not positive, the dtype is another, or there is another number of defaults.

    Example:
      >>> column = tf.contrib.layers.real_valued_column("x", dimension=3, default_value=1.0)
      >>> column.name, column.dimension, column.default_value
      ('x', 3, (1.0, 1.0, 1.0))
    """
    if isinstance(dimension, bool) or not isinstance(dimension, int):
        raise TypeError(f"dimension must be an integer. dimension: {dimension}, column_name: {column_name}")
    if dimension < 1:
        raise ValueError(f"dimension must be greater than 0. dimension: {dimension}, column_name: {column_name}")
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, column_name: {column_name}")
    if normalizer is not None and not callable(normalizer):
        raise TypeError(f"normalizer must be a callable. normalizer: {normalizer}, column_name: {column_name}")
    if default_value is not None:
        given = list(default_value) if isinstance(default_value, (list, tuple)) else [default_value] * dimension
        if len(given) != dimension:
            raise ValueError(f"The length of default_value must be equal to dimension. default_value: {default_value}, dimension: {dimension}, column_name: {column_name}")
        default_value = tuple(float(v) if dtype.is_floating else int(v) for v in given)
    return _RealValuedColumn(column_name, dimension, default_value, dtype, normalizer)
