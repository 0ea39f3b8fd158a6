"""`tf.lookup`: tables of keys and values."""

from millstream.lookup_ops import KeyValueTensorInitializer, StaticHashTable, StaticVocabularyTable, TextFileIndex, TextFileInitializer

__all__ = ["KeyValueTensorInitializer", "StaticHashTable", "StaticVocabularyTable", "TextFileIndex", "TextFileInitializer"]
