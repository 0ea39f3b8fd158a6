"""`tf.contrib.tensorboard.plugins.projector`: which variables TensorBoard's projector shows as points."""

from __future__ import annotations

import os
import threading
from typing import Any, Dict, List

from millstream.io.files import GFile


__all__ = ["EmbeddingInfo", "ProjectorConfig", "SpriteMetadata", "visualize_embeddings"]  # noqa: F822 (made on first use)

_CONFIG_FILE = "projector_config.pbtxt"

# The fields of the messages: name, kind, and whether there are several; the position is the number.
_MESSAGES = {
    "SpriteMetadata": (("image_path", "STRING", False), ("single_image_dim", "UINT32", True)),
    "EmbeddingInfo": (
        ("tensor_name", "STRING", False),
        ("metadata_path", "STRING", False),
        ("bookmarks_path", "STRING", False),
        ("tensor_shape", "UINT32", True),
        ("sprite", "SpriteMetadata", False),
        ("tensor_path", "STRING", False),
    ),
    "ProjectorConfig": (("model_checkpoint_path", "STRING", False), ("embeddings", "EmbeddingInfo", True), ("model_checkpoint_dir", "STRING", False)),
}

_lock = threading.Lock()
_classes: Dict[str, Any] = {}


def _made() -> Dict[str, Any]:
    """Returns the message classes, in a descriptor pool of their own."""
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError:
        raise ImportError("the projector's messages need the package `protobuf`: pip install protobuf") from None
    fields = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="projector_config.proto", package="tensorflow", syntax="proto3")
    for name, parts in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, (field, kind, several) in enumerate(parts, 1):
            label = fields.LABEL_REPEATED if several else fields.LABEL_OPTIONAL
            if kind in _MESSAGES:
                message.field.add(name=field, number=number, label=label, type=fields.TYPE_MESSAGE, type_name=".tensorflow." + kind)
            else:
                message.field.add(name=field, number=number, label=label, type=getattr(fields, "TYPE_" + kind))
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    found = {}
    for name in _MESSAGES:
        descriptor = pool.FindMessageTypeByName("tensorflow." + name)
        if hasattr(message_factory, "GetMessageClass"):  # Since protobuf 4.22.
            found[name] = message_factory.GetMessageClass(descriptor)
        else:
            found[name] = message_factory.MessageFactory(pool).GetPrototype(descriptor)
    return found


def __getattr__(name: str) -> Any:
    if name not in _MESSAGES:
        raise AttributeError("module 'millstream.contrib.tensorboard.plugins.projector' has no attribute %r" % name)
    with _lock:
        if not _classes:
            _classes.update(_made())
    return _classes[name]


def __dir__() -> List[str]:
    return sorted(__all__)


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Writes the configuration of the projector to the folder of event files.

    Args:
      summary_writer: A `tf.summary.FileWriter`.
      config: A `ProjectorConfig`.

    Raises:
      ValueError: The writer has no folder.

    Example:
      >>> import os, tempfile
      >>> folder = tempfile.mkdtemp()
      >>> projector = tf.contrib.tensorboard.plugins.projector
      >>> config = projector.ProjectorConfig()
      >>> embedding = config.embeddings.add()
      >>> embedding.tensor_name, embedding.metadata_path = "embeddings:0", "words.tsv"
      >>> projector.visualize_embeddings(tf.summary.FileWriter(folder), config)
      >>> print(open(os.path.join(folder, "projector_config.pbtxt")).read())
      embeddings {
        tensor_name: "embeddings:0"
        metadata_path: "words.tsv"
      }
      <BLANKLINE>
    """
    from google.protobuf import text_format

    folder = summary_writer.get_logdir()
    # Writers of older programs have bytes.
    folder = folder.decode() if isinstance(folder, bytes) else folder
    if folder is None:
        raise ValueError("Summary writer must have a logdir")
    with GFile(os.path.join(folder, _CONFIG_FILE), "w") as out:
        out.write(text_format.MessageToString(config))
