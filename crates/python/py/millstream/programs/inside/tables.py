"""Internal names of `tensorflow.python.ops.lookup_ops`: `NAMES`, by module."""

from __future__ import annotations

from typing import Any, Dict, Optional

from millstream.framework import dtypes
from millstream.framework.op_functions import op
from millstream.io import lookup_ops, vocabularies


class HashTable(lookup_ops.StaticHashTable):
    """A table that an initializer fills once."""


class DenseHashTable(lookup_ops.MutableDenseHashTable):
    """A mutable table in one block of memory."""

    def erase(self, keys: Any, name: Optional[str] = None) -> Any:
        """Returns an operation that removes keys."""
        return self.remove(keys, name)


def index_table_from_tensor(
    vocabulary_list: Any,
    num_oov_buckets: int = 0,
    default_value: Any = -1,
    hasher_spec: Any = lookup_ops.FastHashSpec,
    dtype: Any = dtypes.string,
    name: Optional[str] = None,
) -> Any:
    """Returns a table from words to their indices in a list."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    return vocabularies.index_table_from_tensor(vocabulary_list, num_oov_buckets, default_value, hasher_spec, dtype, name)


def index_to_string_table_from_tensor(vocabulary_list: Any, default_value: Any = "UNK", name: Optional[str] = None) -> Any:
    """Returns a table from indices to the words of a list."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    return vocabularies.index_to_string_table_from_tensor(vocabulary_list, default_value, name)


def _check_table_dtypes(table: Any, key_dtype: Any, value_dtype: Any) -> None:
    """Raises if a table has other dtypes."""
    for what, wanted in (("key", key_dtype), ("value", value_dtype)):
        own = getattr(table, what + "_dtype")
        if dtypes.as_dtype(wanted) != own:
            raise TypeError("Invalid %s dtype, expected %s but got %s." % (what, own, wanted))


def _as_string(tensor: Any) -> Any:
    """Returns the words of a tensor of words or numbers."""
    return tensor if tensor.dtype == dtypes.string else op("AsString")(tensor)


NAMES: Dict[str, Dict[str, Any]] = {
    "python.ops.lookup_ops": {
        "DenseHashTable": DenseHashTable,
        "HashTable": HashTable,
        "InitializableLookupTableBaseV1": lookup_ops.InitializableLookupTableBase,
        "StaticHashTableV1": lookup_ops.StaticHashTable,
        "StaticVocabularyTableV1": lookup_ops.StaticVocabularyTable,
        "_as_string": _as_string,
        "_check_table_dtypes": _check_table_dtypes,
        "index_table_from_tensor": index_table_from_tensor,
        "index_to_string_table_from_tensor": index_to_string_table_from_tensor,
    },
}
