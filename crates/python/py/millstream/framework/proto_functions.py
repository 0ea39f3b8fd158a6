"""Collections of the program's own kinds: how a `MetaGraphDef` holds their values as messages."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional


class Functions(NamedTuple):
    """The kind of message of a collection, and the functions to and from it."""

    proto_type: Any
    to_proto: Optional[Callable[..., Any]]
    from_proto: Optional[Callable[..., Any]]


REGISTERED: Dict[str, Functions] = {}


def register_proto_function(collection_name: str, proto_type: Any = None, to_proto: Any = None, from_proto: Any = None) -> None:
    """Says how the values of a collection are written to a `MetaGraphDef` and read from it.

    Args:
      collection_name: The collection's key.
      proto_type: The class of the messages.
      to_proto: A function of a value and `export_scope` that returns a message.
      from_proto: A function of a message and `import_scope` that returns a value.

    Raises:
      TypeError: One of the functions cannot be called.
      KeyError: The collection has functions already.

    Example:
      >>> from millstream.framework.proto_functions import register_proto_function
      >>> register_proto_function("names", tf.SaverDef, lambda name, export_scope=None: tf.SaverDef(filename_tensor_name=name),
      ...     lambda message, import_scope=None: message.filename_tensor_name)
      >>> tf.add_to_collection("names", "x")
      >>> graph = tf.train.export_meta_graph()
      >>> with tf.Graph().as_default():
      ...     _ = tf.train.import_meta_graph(graph)
      ...     print(tf.get_collection("names"))
      ['x']
    """
    for name, function in (("to_proto", to_proto), ("from_proto", from_proto)):
        if function and not callable(function):
            raise TypeError("%s must be callable." % name)
    if collection_name in REGISTERED:
        raise KeyError("Registering two proto functions with name '%s'! The collection has functions already." % collection_name)
    REGISTERED[collection_name] = Functions(proto_type, to_proto, from_proto)


def messages(key: str, values: Any, export_scope: Optional[str]) -> Optional[List[bytes]]:
    """Returns the values of a collection as bytes, or None if nothing was said about it."""
    functions = REGISTERED.get(key)
    if functions is None or functions.to_proto is None:
        return None
    found = [functions.to_proto(value, export_scope=export_scope) for value in values]
    for message in found:
        if message is not None and functions.proto_type is not None and not isinstance(message, functions.proto_type):
            raise TypeError("to_proto of the collection %r returned a %s, not a %s" % (key, type(message).__name__, functions.proto_type.__name__))
    return [message.SerializeToString() for message in found if message is not None]


def values(key: str, data: Any, import_scope: Optional[str]) -> Optional[List[Any]]:
    """Returns the values of a collection that is written as bytes, or None if nothing was said about it."""
    functions = REGISTERED.get(key)
    if functions is None or functions.from_proto is None:
        return None
    return [functions.from_proto(functions.proto_type.FromString(one), import_scope=import_scope) for one in data]
