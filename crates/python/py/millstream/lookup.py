"""`tf.lookup`: lookup tables."""

from millstream.framework import namespaces
from millstream.io.lookup_ops import (
    KeyValueTensorInitializer,
    StaticHashTable,
    StaticVocabularyTable,
    TextFileIndex,
    TextFileInitializer,
)

__all__ = ["KeyValueTensorInitializer", "StaticHashTable", "StaticVocabularyTable", "TextFileIndex", "TextFileInitializer"]


__dir__ = namespaces.dir_of(globals())
