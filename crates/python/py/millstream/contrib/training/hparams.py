"""`HParams`: named parameters of a program, which can be set from text."""

from __future__ import annotations

import functools
import json
import numbers
import re
from typing import Any, Dict, Optional

from millstream.framework import protos

__all__ = ["HParams", "parse_values"]

_PART = re.compile(r"(?P<name>[a-zA-Z][\w\.]*)(?:\[\s*(?P<index>\d+)\s*\])?\s*=\s*(?:\[(?P<many>[^\]]*)\]|(?P<one>[^,\[]*))\s*(?:,|$)")

# The fields of a message for parameters of a type; a bool is an int, too.
_FIELDS = ((bool, "bool"), (int, "int64"), (float, "float"), (str, "bytes"), (bytes, "bytes"))


@functools.lru_cache(maxsize=None)
def message_class() -> Any:
    """Returns the class of messages `HParamDef`, which hold parameters."""
    from google.protobuf import descriptor_pb2

    field = descriptor_pb2.FieldDescriptorProto
    kinds = {"bytes": field.TYPE_BYTES, "float": field.TYPE_FLOAT, "int64": field.TYPE_INT64, "bool": field.TYPE_BOOL}
    file = descriptor_pb2.FileDescriptorProto(name="tensorflow/contrib/training/python/training/hparam.proto", package="tensorflow", syntax="proto3")
    whole = file.message_type.add(name="HParamDef")
    for word, kind in kinds.items():
        values = whole.nested_type.add(name=word.capitalize() + "List")
        values.field.add(name="value", number=1, type=kind, label=field.LABEL_REPEATED)
    one = whole.nested_type.add(name="HParamType")
    one.oneof_decl.add(name="kind")
    for n, word in ((1, "int64"), (2, "float"), (3, "bytes"), (7, "bool")):
        one.field.add(name=word + "_value", number=n, type=kinds[word], label=field.LABEL_OPTIONAL, oneof_index=0)
    for n, word in ((4, "int64"), (5, "float"), (6, "bytes"), (8, "bool")):
        kind = ".tensorflow.HParamDef." + word.capitalize() + "List"
        one.field.add(name=word + "_list", number=n, type=field.TYPE_MESSAGE, type_name=kind, label=field.LABEL_OPTIONAL, oneof_index=0)
    entry = whole.nested_type.add(name="HparamEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=field.TYPE_STRING, label=field.LABEL_OPTIONAL)
    entry.field.add(name="value", number=2, type=field.TYPE_MESSAGE, type_name=".tensorflow.HParamDef.HParamType", label=field.LABEL_OPTIONAL)
    whole.field.add(name="hparam", number=1, type=field.TYPE_MESSAGE, type_name=".tensorflow.HParamDef.HparamEntry", label=field.LABEL_REPEATED)
    return protos.defined(file, "HParamDef")


def _cast(name: str, kind: type, value: Any) -> Any:
    """Casts a value to a parameter's type; raises `ValueError` if that would lose information."""
    failed = ValueError("Could not cast hparam '%s' of type '%s' from value %r" % (name, kind, value))
    if kind is type(None) or isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    if kind is str:
        if isinstance(value, bytes):
            return value.decode()
        raise failed
    if kind is bool or isinstance(value, (bool, str)):
        raise failed
    if issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral):
        raise failed
    if issubclass(kind, numbers.Number) and not isinstance(value, numbers.Number):
        raise failed
    return kind(value)


def _read(name: str, kind: type, text: str, values: str) -> Any:
    """Parses a value of this type."""
    text = text.strip()
    try:
        if kind is bool:
            if text in ("true", "True", "1"):
                return True
            if text in ("false", "False", "0"):
                return False
            raise ValueError(text)
        return kind(text)
    except ValueError:
        raise ValueError("Could not parse hparam '%s' of type '%s' with value '%s' in %s" % (name, kind.__name__, text, values)) from None


def parse_values(values: str, type_map: Dict[str, type], ignore_unknown: bool = False) -> Dict[str, Any]:
    """Parses comma-separated `name=value` pairs; `name=[a,b]` gives a list, `name[1]=a` a dict from index to
    value.

    Args:
      values: The text.
      type_map: A dict from names to types.
      ignore_unknown: If true, names missing from `type_map` are skipped.

    Returns:
      A dict.

    Raises:
      ValueError: The text is malformed, a name is unknown or repeated, or a value does not have its type.

    Example:
      >>> tf.contrib.training.parse_values("rate=0.5,layers=[4,5]", {"rate": float, "layers": int})
      {'rate': 0.5, 'layers': [4, 5]}
    """
    out: Dict[str, Any] = {}
    place = 0
    while place < len(values):
        match = _PART.match(values, place)
        if not match:
            raise ValueError("Malformed hyperparameter value: %s" % values[place:])
        place = match.end()
        name = match.group("name")
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError("Unknown hyperparameter type for %s" % name)
        kind = type_map[name]
        if match.group("many") is not None:
            if match.group("index") is not None:
                raise ValueError("Assignment of a list to a list index: %s" % match.group(0))
            items = [t for t in match.group("many").split(",") if t.strip()]
            if name in out:
                raise ValueError("Multiple assignments to variable '%s' in %s" % (name, values))
            out[name] = [_read(name, kind, t, values) for t in items]
        elif match.group("index") is not None:
            by_index = out.setdefault(name, {})
            index = int(match.group("index"))
            if not isinstance(by_index, dict) or index in by_index:
                raise ValueError("Multiple assignments to variable '%s[%d]' in %s" % (name, index, values))
            by_index[index] = _read(name, kind, match.group("one"), values)
        else:
            if name in out:
                raise ValueError("Multiple assignments to variable '%s' in %s" % (name, values))
            out[name] = _read(name, kind, match.group("one"), values)
    return out


class HParams:
    """A set of parameters as attributes. Each keeps its initial type; the elements of a list share one type.

    Args:
      hparam_def: The parameters as a message `HParamDef`, as `to_proto` returns it.
      model_structure: Any object, kept with the parameters.
      **kwargs: The parameters: numbers, strings, bools, or lists of them.

    Raises:
      ValueError: Both a message and parameters are given.

    Example:
      >>> hparams = tf.contrib.training.HParams(rate=0.1, layers=[2, 3])
      >>> hparams.parse("rate=0.5,layers=[4,5]").rate
      0.5
      >>> hparams.override_from_dict({"rate": 0.25}).values()
      {'rate': 0.25, 'layers': [4, 5]}
      >>> hparams.add_hparam("name", "a")
      >>> hparams.set_hparam("name", "b")
      >>> hparams.get("name"), "name" in hparams, hparams.get("other", default=3)
      ('b', True, 3)
      >>> hparams.del_hparam("name")
      >>> hparams.to_json(sort_keys=True), hparams.parse_json('{"rate": 1.0}').rate
      ('{"layers": [4, 5], "rate": 0.25}', 1.0)
      >>> hparams.set_model_structure("anything")
      >>> hparams.get_model_structure()
      'anything'
    """

    _HAS_DYNAMIC_ATTRIBUTES = True

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any) -> None:
        self._hparam_types: Dict[str, Any] = {}
        self._model_structure = model_structure
        if hparam_def is not None:
            if kwargs:
                raise ValueError("hparam_def and initialization values are mutually exclusive: pass one of them")
            self._init_from_proto(hparam_def)
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def _init_from_proto(self, hparam_def: Any) -> None:
        assert getattr(getattr(hparam_def, "DESCRIPTOR", None), "full_name", "") == "tensorflow.HParamDef", "`hparam_def` is no HParamDef"
        for name, value in hparam_def.hparam.items():
            kind = value.WhichOneof("kind")
            found = getattr(value, kind)
            if kind.endswith("_list"):
                # Strings of messages are bytes.
                self.add_hparam(name, [v.decode() if isinstance(v, bytes) else v for v in found.value])
            else:
                self.add_hparam(name, found.decode() if isinstance(found, bytes) else found)

    def to_proto(self, export_scope: Optional[str] = None) -> Any:
        """Returns the parameters as a message `HParamDef`.

        Args:
          export_scope: Ignored.

        Raises:
          ValueError: A parameter is neither a number, a string, a bool nor a list of such.

        Example:
          >>> message = tf.contrib.training.HParams(rate=0.5, layers=[2, 3]).to_proto()
          >>> list(message.hparam["layers"].int64_list.value)
          [2, 3]
          >>> tf.contrib.training.HParams(hparam_def=message).rate
          0.5
        """
        message = message_class()()
        for name, (kind, is_list) in self._hparam_types.items():
            value = getattr(self, name)
            field = next((f for base, f in _FIELDS if issubclass(kind, base)), None)
            if field is None:
                raise ValueError("Unsupported parameter type: %s: parameter %s is no number, string or bool" % (kind, name))
            if issubclass(kind, str):
                value = [v.encode() for v in value] if is_list else value.encode()
            if is_list:
                getattr(message.hparam[name], field + "_list").value.extend(value)
            else:
                setattr(message.hparam[name], field + "_value", value)
        return message

    @staticmethod
    def from_proto(hparam_def: Any, import_scope: Optional[str] = None) -> "HParams":
        """Returns the parameters that a message `HParamDef` holds.

        Args:
          hparam_def: The message.
          import_scope: Ignored.

        Example:
          >>> message = tf.contrib.training.HParams(name="a").to_proto()
          >>> tf.contrib.training.HParams.from_proto(message).values()
          {'name': 'a'}
        """
        return HParams(hparam_def=hparam_def)

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds a parameter.

        Args:
          name: The name.
          value: A number, string or bool, or a list of them.

        Raises:
          ValueError: An attribute has this name, or the list is empty.
        """
        if getattr(self, name, None) is not None:
            raise ValueError("Hyperparameter name is reserved: %s" % name)
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError("Multi-valued hyperparameters cannot be empty: %s" % name)
            self._hparam_types[name] = type(value[0]), True
        else:
            self._hparam_types[name] = type(value), False
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Sets a parameter to a value of its type.

        Args:
          name: The name.
          value: The value.

        Raises:
          ValueError: The value has another type, or is a list for a single-valued parameter, or the reverse.
        """
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError("Must not pass a list for single-valued parameter: %s" % name)
            setattr(self, name, [_cast(name, kind, v) for v in value])
        else:
            if is_list:
                raise ValueError("Must pass a list for multi-valued parameter: %s." % name)
            setattr(self, name, _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Removes a parameter."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> "HParams":
        """Sets parameters from text; see `parse_values`."""
        kinds = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, kinds))

    def override_from_dict(self, values_dict: Dict[str, Any]) -> "HParams":
        """Sets parameters from a dict."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map: Dict[str, Any]) -> "HParams":
        """Sets parameters from a dict: the older name of `override_from_dict`.

        Example:
          >>> tf.contrib.training.HParams(rate=0.1).set_from_map({"rate": 0.2}).rate
          0.2
        """
        return self.override_from_dict(values_map)

    def set_model_structure(self, model_structure: Any) -> None:
        """Sets the structure kept with the parameters."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """Returns the structure kept with the parameters."""
        return self._model_structure

    def to_json(self, indent: Optional[int] = None, separators: Any = None, sort_keys: bool = False) -> str:
        """Returns the parameters as JSON, without functions.

        Args:
          indent: As in `json.dumps`.
          separators: As in `json.dumps`.
          sort_keys: As in `json.dumps`.

        Returns:
          A string.
        """
        plain = {k: v for k, v in self.values().items() if not callable(v)}
        return json.dumps(plain, indent=indent, separators=separators, sort_keys=sort_keys)

    def parse_json(self, values_json: str) -> "HParams":
        """Sets parameters from JSON."""
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> Dict[str, Any]:
        """Returns a dict of all parameters."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """Returns a parameter, or a default of the same type.

        Args:
          key: The name.
          default: The default.

        Returns:
          The value.

        Raises:
          ValueError: The default has another type than the parameter.
        """
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, is_list = self._hparam_types[key]
            shown = "list[%s]" % kind if is_list else str(kind)
            if is_list != isinstance(default, list):
                raise ValueError("Hparam '%s' of type '%s' is incompatible with default=%s" % (key, shown, default))
            try:
                for item in default if is_list else [default]:
                    _cast(key, kind, item)
            except ValueError as e:
                raise ValueError("Hparam '%s' of type '%s' is incompatible with default=%s. %s" % (key, shown, default, e)) from None
        return getattr(self, key)

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join("%s=%s" % item for item in self.values().items())

    def __repr__(self) -> str:
        return "%s(%s)" % (type(self).__name__, self.__str__())

