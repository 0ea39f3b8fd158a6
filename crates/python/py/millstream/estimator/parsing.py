"""How examples of estimators are parsed: `classifier_parse_example_spec`, `regressor_parse_example_spec`."""

from __future__ import annotations

from typing import Any, Dict

from millstream import feature_column
from millstream.framework import dtypes
from millstream.io.parsing_ops import FixedLenFeature

__all__ = ["classifier_parse_example_spec", "regressor_parse_example_spec"]


def _with_label(features: Dict[str, Any], key: Any, label: Any, weight_column: Any) -> Dict[str, Any]:
    """Returns a specification with a label, and with weights if there is a column of them."""
    if key in features:
        raise ValueError("label should not be used as feature. label_key: %s, features: %s" % (key, features.keys()))
    features[key] = label
    if weight_column is None:
        return features
    column = feature_column.numeric_column(weight_column) if isinstance(weight_column, str) else weight_column
    if not hasattr(column, "key") or not hasattr(column, "normalizer_fn"):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. Given type: %s value: %s" % (type(column), column)
        )
    if column.key in features:
        raise ValueError("weight_column should not be used as feature. weight_column: %s, features: %s" % (column.key, features.keys()))
    features.update(feature_column.make_parse_example_spec([column]))
    return features


def classifier_parse_example_spec(
    feature_columns: Any, label_key: str, label_dtype: Any = dtypes.int64, label_default: Any = None, weight_column: Any = None
) -> Dict[str, Any]:
    """Returns the specification of `tf.parse_example` for a classifier: features, label and weights.

    Args:
      feature_columns: The feature columns.
      label_key: The key of the label.
      label_dtype: The dtype of the label.
      label_default: The label of examples that have none.
      weight_column: The key of weights, or a numeric column.

    Raises:
      ValueError: A key is used twice, or `weight_column` is no numeric column.

    Example:
      >>> columns = [tf.feature_column.numeric_column("x")]
      >>> sorted(tf.estimator.classifier_parse_example_spec(columns, label_key="y", weight_column="w"))
      ['w', 'x', 'y']
    """
    label = FixedLenFeature((1,), label_dtype, label_default)
    return _with_label(feature_column.make_parse_example_spec(feature_columns), label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns: Any,
    label_key: str,
    label_dtype: Any = dtypes.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> Dict[str, Any]:
    """Returns the specification of `tf.parse_example` for a regressor: features, label and weights.

    Args:
      feature_columns: The feature columns.
      label_key: The key of the label.
      label_dtype: The dtype of the label.
      label_default: The label of examples that have none.
      label_dimension: The number of targets of an example.
      weight_column: The key of weights, or a numeric column.

    Raises:
      ValueError: A key is used twice, or `weight_column` is no numeric column.

    Example:
      >>> columns = [tf.feature_column.numeric_column("x")]
      >>> tf.estimator.regressor_parse_example_spec(columns, label_key="y", label_dimension=3)["y"].shape
      (3,)
    """
    label = FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _with_label(feature_column.make_parse_example_spec(feature_columns), label_key, label, weight_column)
