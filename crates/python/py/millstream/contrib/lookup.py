"""`tf.contrib.lookup`: tables of keys and values, and vocabularies."""

from millstream import _namespaces
from millstream.lookup_ops import (
    FastHashSpec,
    HasherSpec,
    HashTable,
    IdTableWithHashBuckets,
    KeyValueTensorInitializer,
    LookupInterface,
    MutableDenseHashTable,
    MutableHashTable,
    StrongHashSpec,
    TableInitializerBase,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileInitializer,
    TextFileStringTableInitializer,
)
from millstream.vocabularies import (
    index_table_from_file,
    index_table_from_tensor,
    index_to_string,
    index_to_string_table_from_file,
    index_to_string_table_from_tensor,
    string_to_index,
    string_to_index_table_from_file,
    string_to_index_table_from_tensor,
)

# The older name of what has one handle and is filled once.
InitializableLookupTableBase = HashTable

__all__ = [
    "FastHashSpec",
    "HashTable",
    "HasherSpec",
    "IdTableWithHashBuckets",
    "InitializableLookupTableBase",
    "KeyValueTensorInitializer",
    "LookupInterface",
    "MutableDenseHashTable",
    "MutableHashTable",
    "StrongHashSpec",
    "TableInitializerBase",
    "TextFileIdTableInitializer",
    "TextFileIndex",
    "TextFileInitializer",
    "TextFileStringTableInitializer",
    "index_table_from_file",
    "index_table_from_tensor",
    "index_to_string",
    "index_to_string_table_from_file",
    "index_to_string_table_from_tensor",
    "string_to_index",
    "string_to_index_table_from_file",
    "string_to_index_table_from_tensor",
]


__dir__ = _namespaces.dir_of(globals())
