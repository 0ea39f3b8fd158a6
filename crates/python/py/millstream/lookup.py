"""`tf.lookup`: tables of keys and values."""

from millstream import _namespaces
from millstream.lookup_ops import KeyValueTensorInitializer, StaticHashTable, StaticVocabularyTable, TextFileIndex, TextFileInitializer

__all__ = ["KeyValueTensorInitializer", "StaticHashTable", "StaticVocabularyTable", "TextFileIndex", "TextFileInitializer"]


__dir__ = _namespaces.dir_of(globals())
