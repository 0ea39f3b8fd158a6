"""Columns as dictionaries of plain values, from which equal columns are made."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

from millstream.framework import dtypes
from millstream.variables import initializers

# The classes of columns by name: `Column` adds those of this package.
CLASSES: Dict[str, Any] = {}

# TensorFlow's names of the classes of initializers.
_INITIALIZERS = (
    "Zeros zeros_initializer|Ones ones_initializer|Constant constant_initializer|RandomUniform random_uniform_initializer|"
    "RandomNormal random_normal_initializer|TruncatedNormal truncated_normal_initializer|UniformUnitScaling uniform_unit_scaling_initializer|"
    "VarianceScaling variance_scaling_initializer|Orthogonal orthogonal_initializer|Identity identity_initializer|"
    "GlorotUniform glorot_uniform_initializer|GlorotNormal glorot_normal_initializer"
)
_BY_NAME = dict(pair.split() for pair in _INITIALIZERS.split("|"))


def serialize_feature_column(fc: Any) -> Any:
    """Returns a column as a dictionary with its `class_name` and `config`; a key of a feature as it is.

    Raises:
      ValueError: It is neither.
    """
    if isinstance(fc, str):
        return fc
    if not hasattr(fc, "_get_config"):
        raise ValueError("Instance: {} is not a FeatureColumn".format(fc))
    return {"class_name": type(fc).__name__, "config": fc._get_config()}


def serialize_feature_columns(feature_columns: Any) -> List[Any]:
    """Returns columns as a list of dictionaries."""
    return [serialize_feature_column(column) for column in feature_columns]


def deserialize_feature_column(config: Any, custom_objects: Optional[Dict[str, Any]] = None, columns_by_name: Optional[Dict[str, Any]] = None) -> Any:
    """Returns the column of a dictionary that `serialize_feature_column` made.

    Args:
      config: The dictionary, or the key of a feature.
      custom_objects: Classes of columns and functions of the program, by name.
      columns_by_name: A dict of the columns that were made already, which are shared; the new one is added.

    Raises:
      ValueError: No column is of that class.
    """
    if isinstance(config, str):
        return config
    if not isinstance(config, dict) or not {"class_name", "config"} <= set(config):
        raise ValueError("Improper config format: " + str(config))
    name = config["class_name"]
    kind = (custom_objects or {}).get(name) or CLASSES.get(name)
    if kind is None:
        raise ValueError("Unknown feature_column_v2: " + name)
    made = kind._from_config(config["config"], custom_objects=custom_objects, columns_by_name=columns_by_name)
    if columns_by_name is None:
        return made
    return columns_by_name.setdefault(_column_name_with_class_name(made), made)


def deserialize_feature_columns(configs: Any, custom_objects: Optional[Dict[str, Any]] = None) -> List[Any]:
    """Returns the columns of a list of dictionaries; those that occur twice are one object."""
    made: Dict[str, Any] = {}
    return [deserialize_feature_column(config, custom_objects, made) for config in configs]


def _column_name_with_class_name(fc: Any) -> str:
    """Returns a column's class and name, by which equal columns of several columns are found."""
    return type(fc).__name__ + ":" + fc.name


def config_of(column: Any) -> Dict[str, Any]:
    """Returns the fields of a column as plain values."""
    return {field: _plain(getattr(column, field)) for field in column._fields}


def _plain(value: Any) -> Any:
    if hasattr(value, "_get_config"):
        return serialize_feature_column(value)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(_plain(v) for v in value)
    if isinstance(value, dtypes.DType):
        return value.name
    if isinstance(value, initializers.Initializer):
        wanted = next((name for name, ours in _BY_NAME.items() if getattr(initializers, ours, None) is type(value)), type(value).__name__)
        return {"class_name": wanted, "config": value.get_config()}
    return getattr(value, "__name__", value) if callable(value) else value


def column_of(kind: Any, config: Dict[str, Any], custom_objects: Optional[Dict[str, Any]], columns_by_name: Optional[Dict[str, Any]]) -> Any:
    """Returns the column of a class from its fields as plain values.

    Raises:
      ValueError: The names of the fields are others, or a function is unknown.
    """
    if set(config) != set(kind._fields):
        raise ValueError("Invalid config: {}, expected keys: {}".format(config, kind._fields))

    def made(value: Any) -> Any:
        if isinstance(value, dict) and value.get("class_name") in _BY_NAME and value["class_name"] not in CLASSES:
            return getattr(initializers, _BY_NAME[value["class_name"]]).from_config(value["config"])
        return deserialize_feature_column(value, custom_objects, columns_by_name) if isinstance(value, dict) else value

    fields: Dict[str, Any] = {key: tuple(made(v) for v in value) if isinstance(value, (tuple, list)) else made(value) for key, value in config.items()}
    if fields.get("dtype") is not None:
        fields["dtype"] = dtypes.as_dtype(fields["dtype"])
    function = config.get("normalizer_fn")
    if isinstance(function, str):
        fields["normalizer_fn"] = _function(function, custom_objects)
    return kind(**fields)


def _function(name: str, custom_objects: Optional[Dict[str, Any]]) -> Callable[..., Any]:
    if name not in (custom_objects or {}):
        raise ValueError("Unknown normalizer_fn: %s. Give the function in `custom_objects`." % name)
    return (custom_objects or {})[name]


__all__ = ["deserialize_feature_column", "deserialize_feature_columns", "serialize_feature_column", "serialize_feature_columns"]
