"""TensorFlow's messages (`GraphDef`, `NodeDef`, `RunMetadata`, `ConfigProto`, ..) as Python protobuf classes.

They are created at first use from the descriptors in `_generated/messages.bin` (compiled from
`crates/proto/proto` by `cargo xtask gen`), so no generated code ties the package to a version of protobuf.
They are in a separate descriptor pool, so that TensorFlow can be imported in the same process. `as_message`
accepts messages of either.
"""

from __future__ import annotations

import operator
import os
import threading
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from millstream import _engine

_DESCRIPTORS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_generated", "messages.bin")

_PACKAGES = ("tensorflow.", "tensorflow.error.")

# One class for each message, whichever thread asks first.
_lock = threading.RLock()
_pool: Any = None


def _load() -> Any:
    """Returns the pool with all descriptors; `_lock` must be held."""
    global _pool
    if _pool is not None:
        return _pool
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool
    except ImportError:
        raise ImportError("messages such as GraphDef need the package `protobuf`: pip install protobuf") from None
    with open(_DESCRIPTORS, "rb") as source:
        files = descriptor_pb2.FileDescriptorSet.FromString(source.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file) if not hasattr(pool, "AddSerializedFile") else pool.AddSerializedFile(file.SerializeToString())
    _pool = pool
    return pool


def defined(file: Any, name: str) -> Any:
    """Returns the class of a message of another file, which is a `FileDescriptorProto`."""
    with _lock:
        pool = _load()
        pool.Add(file) if not hasattr(pool, "AddSerializedFile") else pool.AddSerializedFile(file.SerializeToString())
        return _get(name)


def _message_class(descriptor: Any) -> Any:
    from google.protobuf import message_factory

    if hasattr(message_factory, "GetMessageClass"):  # Since protobuf 4.22.
        cls = message_factory.GetMessageClass(descriptor)
    else:
        cls = message_factory.MessageFactory(_load()).GetPrototype(descriptor)
    for nested in descriptor.nested_types:  # Protobuf in pure Python leaves them out.
        if not hasattr(cls, nested.name):
            setattr(cls, nested.name, _message_class(nested))
    for field in descriptor.fields:  # Protobuf in C leaves them out: messages find them without the class.
        if not hasattr(cls, field.name):
            setattr(cls, field.name, property(operator.attrgetter(field.name), doc="The field `%s`." % field.full_name))
    return cls


# Messages that files of strangers hold. An empty message takes two bytes of a file and hundreds in memory.
_WEIGHED = ("GraphDef", "MetaGraphDef", "SavedModel")


def _weighed(name: str, cls: Any) -> Any:
    """Makes the class ask the engine, before it decodes bytes, whether an import could afford the messages.

    Like the engine's own import, decoding raises `ResourceExhaustedError` if not.
    """
    made, merge, parse = cls.FromString, cls.MergeFromString, cls.ParseFromString

    def FromString(serialized: Any) -> Any:
        _engine.weigh(name, bytes(serialized))
        return made(serialized)

    def MergeFromString(self: Any, serialized: Any) -> Any:
        _engine.weigh(name, bytes(serialized))
        return merge(self, serialized)

    def ParseFromString(self: Any, serialized: Any) -> Any:
        _engine.weigh(name, bytes(serialized))
        return parse(self, serialized)

    cls.FromString, cls.MergeFromString, cls.ParseFromString = staticmethod(FromString), MergeFromString, ParseFromString
    return cls


def from_text(data: bytes, message: Any) -> Any:
    """Parses the text form of a message of a file into `message`, if an import could afford it."""
    from google.protobuf import text_format

    text = data.decode()
    _engine.weigh_text(text)
    return text_format.Parse(text, message)


def _find(name: str) -> Optional[Any]:
    """Returns a message class, an enum wrapper, or an enum value, by its name without the package."""
    pool = _load()
    for package in _PACKAGES:
        try:
            cls = _message_class(pool.FindMessageTypeByName(package + name))
            return _weighed(name, cls) if name in _WEIGHED else cls
        except KeyError:
            pass
        try:
            enum = pool.FindEnumTypeByName(package + name)
        except KeyError:
            continue
        from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

        return EnumTypeWrapper(enum)
    return _enum_value(name)


def _enum_value(name: str) -> Optional[int]:
    # `DT_FLOAT` and its like are at the level of their enums, as in generated code.
    for enum in ("DataType", "VariableSynchronization", "VariableAggregation"):
        value = _load().FindEnumTypeByName("tensorflow." + enum).values_by_name.get(name)
        if value is not None:
            return int(value.number)
    return None


def _get(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    with _lock:
        found = globals()[name] if name in globals() else _find(name)
        if found is None:
            raise AttributeError(f"there is no message or enum `{name}`")
        globals()[name] = found
    return found


if TYPE_CHECKING:
    from millstream._generated.protos import *  # noqa: F403
else:
    __getattr__ = _get


def __dir__() -> List[str]:
    return sorted(set(globals()) | set(names()))


def _attr_message(node_def: Any, name: str) -> Any:
    """Returns a shape, a tensor or a list of such from a node's attributes as a message, for
    `Operation.get_attr`.
    """
    value = node_def.attr[name]
    kind = value.WhichOneof("value")
    if kind != "list":
        return getattr(value, kind)
    return list(value.list.shape) or list(value.list.tensor)


def names() -> List[str]:
    """Returns the names of all top-level messages."""
    from google.protobuf import descriptor_pb2

    with open(_DESCRIPTORS, "rb") as source:
        files = descriptor_pb2.FileDescriptorSet.FromString(source.read()).file
    return sorted(m.name for f in files if f.package == "tensorflow" for m in f.message_type)


def as_message(name: str, value: Any) -> Any:
    """Converts `value` to our message `name`: from that message, the same type of another library, bytes, or
    a dict.

    Raises `TypeError` for anything else.
    """
    cls = globals().get(name) or _get(name)
    if isinstance(value, cls):
        return value
    if isinstance(value, bytes):
        return cls.FromString(value)
    if isinstance(value, dict):
        fields: Dict[str, Any] = value
        return cls(**fields)
    descriptor = getattr(type(value), "DESCRIPTOR", None)
    if getattr(descriptor, "full_name", None) == cls.DESCRIPTOR.full_name:
        return cls.FromString(value.SerializeToString())
    raise TypeError(f"expected a {name}, got {type(value).__name__}: {value!r}")
