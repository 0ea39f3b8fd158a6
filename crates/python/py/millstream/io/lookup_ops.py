"""Lookup tables: those filled once (`HashTable`, with initializers) and mutable ones (`MutableHashTable`).

`tf.lookup` and `tf.contrib.lookup` have their public names. A table that is filled once is ready after
`tf.tables_initializer()` has run.
"""

from __future__ import annotations

import collections
import os
from typing import Any, Optional

from millstream._engine import Operation, Tensor
from millstream.framework import (
    SparseTensor,
    add_to_collection,
    control_dependencies,
    convert_to_tensor,
    dtypes,
    get_collection,
    name_scope,
    shapes,
)
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.io.saveables import SaveableObject, SaveSpec
from millstream.ops import math_ops
from millstream.ops.control_flow import group, no_op

HasherSpec = collections.namedtuple("HasherSpec", ["hasher", "key"])
HasherSpec.__doc__ = """A hash function for words: the name of the `hasher`, and its `key`, if any.

`FastHashSpec` and `StrongHashSpec` are instances.

Example:
  >>> tf.contrib.lookup.FastHashSpec
  HasherSpec(hasher='fasthash', key=None)
"""
FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """A keyed hash function, unpredictable without the key.

    Args:
      key: A list of two ints.

    Example:
      >>> table = tf.contrib.lookup.IdTableWithHashBuckets(None, 10, tf.contrib.lookup.StrongHashSpec([1, 2]))
      >>> a, b = tf.Session().run(table.lookup(tf.constant(["word", "word"])))
      >>> print(a == b, 0 <= a < 10)
      True True
    """

    def __new__(cls, key: Any) -> "StrongHashSpec":
        if len(key) != 2:
            raise ValueError("key must have size 2, got %s." % len(key))
        if not all(isinstance(k, int) for k in key):
            raise TypeError("Invalid key %s. Must be unsigned integer values." % key)
        return super().__new__(cls, "stronghash", key)


class TextFileIndex:
    r"""A part of a line: the index of a column, or `WHOLE_LINE` or `LINE_NUMBER`.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "words.txt")
      >>> with open(path, "w") as f:
      ...     _ = f.write("to\nbe\n")
      >>> index = tf.contrib.lookup.TextFileIndex
      >>> init = tf.contrib.lookup.TextFileInitializer(path, tf.string, index.WHOLE_LINE, tf.int64,
      ...     index.LINE_NUMBER)
      >>> out = tf.contrib.lookup.HashTable(init, -1).lookup(tf.constant(["be"]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(out))
      [1]
    """

    WHOLE_LINE = -2
    LINE_NUMBER = -1


# Tables that are filled once.


class LookupInterface:
    """The base class of tables.

    Args:
      key_dtype: The dtype of keys.
      value_dtype: The dtype of values.

    Example:
      >>> table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
      >>> isinstance(table, tf.contrib.lookup.LookupInterface), table.key_dtype, table.value_dtype, table.name
      (True, tf.string, tf.int64, 'MutableHashTable')
    """

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype, self._value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> Any:
        """The dtype of keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> Any:
        """The dtype of values."""
        return self._value_dtype

    @property
    def name(self) -> Any:
        """The name of the table.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError

    def size(self, name: Optional[str] = None) -> Tensor:
        """Returns the number of keys.

        Raises:
          NotImplementedError: The class does not implement it.

        Example:
          >>> table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
          >>> print(tf.Session().run(table.size()))
          0
        """
        raise NotImplementedError

    def lookup(self, keys: Any, name: Optional[str] = None) -> Any:
        """Returns the values of keys.

        Raises:
          NotImplementedError: The class does not implement it.

        Example:
          >>> table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
          >>> print(tf.Session().run(table.lookup(tf.constant(["a"]))))
          [-1]
        """
        raise NotImplementedError

    def _check_keys(self, dtype: Any) -> None:
        if dtype != self._key_dtype:
            raise TypeError("Signature mismatch. Keys must be dtype %s, got %s." % (self._key_dtype, dtype))


class _Table(LookupInterface):
    """A table that is a single resource."""

    resource_handle: Tensor
    _default_value: Any

    @property
    def name(self) -> str:
        """The last part of the name of the table's operation."""
        return self.resource_handle.op.name.split("/")[-1]

    @property
    def default_value(self) -> Any:
        """The value of missing keys."""
        return self._default_value

    def size(self, name: Optional[str] = None) -> Tensor:
        """Returns the number of keys."""
        with name_scope(name, "%s_Size" % self.name, [self.resource_handle]):
            return op("LookupTableSizeV2")(self.resource_handle)


class InitializableLookupTableBase(_Table):
    """A table that `initializer` fills once: the base class of `HashTable`.

    Args:
      default_value: A scalar: the value of missing keys.
      initializer: The initializer.

    Example:
      >>> table = tf.contrib.lookup.HashTable(tf.contrib.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
      >>> isinstance(table, tf.contrib.lookup.InitializableLookupTableBase), table.init is table.initializer
      (True, True)
    """

    def __init__(self, default_value: Any, initializer: Any) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._initializer = initializer
        self._default_value = convert_to_tensor(default_value, self._value_dtype)
        self._default_value.shape.merge_with(shapes.TensorShape([]))
        # Outside of enclosing loops and branches, as variables are: the table exists once and is filled once.
        with control_dependencies(None):
            self.resource_handle = self._create_resource()
            self._init = initializer.initialize(self)

    def _create_resource(self) -> Tensor:
        """Returns the handle of the table."""
        raise NotImplementedError

    @property
    def init(self) -> Operation:
        """The operation that fills the table."""
        return self._init

    @property
    def initializer(self) -> Operation:
        """The operation that fills the table."""
        return self._init

    def lookup(self, keys: Any, name: Optional[str] = None) -> Any:
        """Returns the values of keys, which are a tensor or a `SparseTensor`."""
        found = keys.values if isinstance(keys, SparseTensor) else convert_to_tensor(keys)
        self._check_keys(found.dtype)
        with name_scope(name, "%s_Lookup" % self.name, [self.resource_handle, found, self._default_value]):
            values = op("LookupTableFindV2")(self.resource_handle, found, self._default_value)
        values.set_shape(found.shape)
        return SparseTensor(keys.indices, values, keys.dense_shape) if isinstance(keys, SparseTensor) else values


class HashTable(InitializableLookupTableBase):
    """A table that `initializer` fills once. Missing keys have the value `default_value`.

    Args:
      initializer: The initializer.
      default_value: A scalar: the value of missing keys.
      shared_name: The name under which sessions share the table.
      name: A name for the operation.

    Example:
      >>> table = tf.contrib.lookup.HashTable(
      ...     tf.contrib.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
      >>> out = [table.lookup(tf.constant(["b", "c"])), table.size(), table.default_value]
      >>> table.key_dtype, table.value_dtype, table.name, table.init.type, table.initializer is table.init
      (tf.string, tf.int32, 'hash_table', 'LookupTableImportV2', True)
      >>> [t.shape.as_list() for t in table.export()]
      [[None], [None]]
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(*sess.run(out))
      [ 2 -1] 2 -1
    """

    def __init__(self, initializer: Any, default_value: Any, shared_name: Optional[str] = None, name: Optional[str] = None) -> None:
        self._shared_name, self._asked_name = shared_name or "", name or "hash_table"
        super().__init__(default_value, initializer)

    def _create_resource(self) -> Tensor:
        return op("HashTableV2")(
            key_dtype=self._key_dtype, value_dtype=self._value_dtype, shared_name=self._shared_name, name=self._asked_name
        )

    def export(self, name: Optional[str] = None) -> Any:
        """Returns all keys and values, in any order.

        Args:
          name: The name of the operations.
        """
        with name_scope(name, "%s_Export" % self.name, [self.resource_handle]) as scope:
            # TensorFlow's `contrib` class gives the operation the scope's name, the other one not.
            name = None if isinstance(self, StaticHashTable) else scope
            keys, values = op("LookupTableExportV2")(self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype, name=name)
            keys.set_shape([None])
            values.set_shape([None])
            return keys, values


class StaticHashTable(HashTable):
    """`HashTable` with the arguments of `tf.lookup`.

    Args:
      initializer: The initializer.
      default_value: A scalar: the value of missing keys.
      name: A name for the operation.

    Example:
      >>> table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
      >>> out = table.lookup(tf.constant(["b", "c"]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(out))
      [ 2 -1]
    """

    def __init__(self, initializer: Any, default_value: Any, name: Optional[str] = None) -> None:
        super().__init__(initializer, default_value, None, name)


class TableInitializerBase:
    """The base class of initializers. A subclass defines `initialize`.

    Args:
      key_dtype: The dtype of keys.
      value_dtype: The dtype of values.

    Example:
      >>> init = tf.contrib.lookup.KeyValueTensorInitializer(["a"], [1])
      >>> isinstance(init, tf.contrib.lookup.TableInitializerBase), init.key_dtype, init.value_dtype
      (True, tf.string, tf.int32)
    """

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype, self._value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> Any:
        """The dtype of keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> Any:
        """The dtype of values."""
        return self._value_dtype

    def initialize(self, table: Any) -> Operation:
        """Returns the operation that fills a table.

        Args:
          table: The table.

        Returns:
          An `Operation`.

        Raises:
          NotImplementedError: The class does not implement it.

        Example:
          >>> init = tf.contrib.lookup.KeyValueTensorInitializer(["a"], [1])
          >>> table = tf.contrib.lookup.HashTable(init, -1)
          >>> init.initialize(table).type
          'LookupTableImportV2'
        """
        raise NotImplementedError

    def _check(self, table: Any) -> None:
        for what in ("key", "value"):
            own, wanted = getattr(self, what + "_dtype"), getattr(table, what + "_dtype")
            if own != wanted:
                raise TypeError("Invalid %s dtype, expected %s but got %s." % (what, wanted, own))


class KeyValueTensorInitializer(TableInitializerBase):
    """An initializer with keys and values given as tensors.

    Args:
      keys: A vector.
      values: A vector of the same length.
      key_dtype: The dtype of keys.
      value_dtype: The dtype of values.
      name: A name for the operation.

    Example:
      >>> init = tf.contrib.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
      >>> init.key_dtype, init.value_dtype
      (tf.string, tf.int32)
      >>> table = tf.contrib.lookup.HashTable(init, -1)  # It calls `init.initialize(table)`.
      >>> out = table.lookup(tf.constant(["a"]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(out))
      [1]
    """

    def __init__(self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: Optional[str] = None) -> None:
        with control_dependencies(None):
            self._keys = convert_to_tensor(keys, key_dtype, "keys")
            self._values = convert_to_tensor(values, value_dtype, "values")
        self._name = name if name is not None else "key_value_init"
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: Any) -> Operation:
        """Returns the operation that fills a table."""
        self._check(table)
        with name_scope(self._name, None, [table.resource_handle, self._keys, self._values]):
            fill = op("LookupTableImportV2")(table.resource_handle, self._keys, self._values)
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, fill)
        return fill


class TextFileInitializer(TableInitializerBase):
    r"""An initializer with keys and values from the lines of a file.

    Args:
      filename: The file.
      key_dtype: The dtype of keys.
      key_index: The part of a line that is the key: the index of a column, or a value of `TextFileIndex`.
      value_dtype: The dtype of values.
      value_index: The part of a line that is the value.
      vocab_size: The number of lines in the file, if known.
      delimiter: The delimiter between columns.
      name: A name for the operation.

    Raises:
      ValueError: No file is given, or an index or a dtype is invalid.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "words.txt")
      >>> with open(path, "w") as f:
      ...     _ = f.write("to\nbe\n")
      >>> index = tf.contrib.lookup.TextFileIndex
      >>> init = tf.contrib.lookup.TextFileInitializer(path, tf.string, index.WHOLE_LINE, tf.int64,
      ...     index.LINE_NUMBER)
      >>> out = tf.contrib.lookup.HashTable(init,
      ...     -1).lookup(tf.constant(["be", "or"]))  # It calls `init.initialize(table)`.
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(out))
      [ 1 -1]
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: Optional[int] = None,
        delimiter: str = "\t",
        name: Optional[str] = None,
    ) -> None:
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError("Filename required for %s." % name)
        if not isinstance(filename, (Tensor, str, bytes, os.PathLike)):
            raise TypeError("Expected string, got %r of type '%s' instead." % (filename, type(filename).__name__))
        key_dtype, value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        for what, index, dtype in (("key", key_index, key_dtype), ("value", value_index, value_dtype)):
            if index < -2:
                raise ValueError("Invalid %s index %s." % (what, index))
            if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
                raise ValueError("Signature mismatch. %ss must be dtype %s, got %s." % (what.capitalize(), dtypes.int64, dtype))
            if index == TextFileIndex.WHOLE_LINE and dtype != dtypes.string and not (what == "key" and dtype.is_integer):
                raise ValueError("Signature mismatch. %ss must be dtype %s, got %s." % (what.capitalize(), dtypes.string, dtype))
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError("Invalid vocab_size %s." % vocab_size)
        self._filename, self._key_index, self._value_index = filename, key_index, value_index
        self._vocab_size, self._delimiter, self._name = vocab_size, delimiter, name if name is not None else "text_file_init"
        super().__init__(key_dtype, value_dtype)

    def initialize(self, table: Any) -> Operation:
        """Returns the operation that fills a table."""
        self._check(table)
        with name_scope(self._name, None, [table.resource_handle]):
            filename = convert_to_tensor(os.fspath(self._filename) if not isinstance(self._filename, Tensor) else self._filename, dtypes.string, "asset_filepath")
            fill = op("InitializeTableFromTextFileV2")(
                table.resource_handle,
                filename,
                self._key_index,
                self._value_index,
                -1 if self._vocab_size is None else self._vocab_size,
                self._delimiter,
            )
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, fill)
        if filename.op.type in ("Const", "PlaceholderWithDefault"):
            add_to_collection(GraphKeys.ASSET_FILEPATHS, filename)
        return fill


class TextFileStringTableInitializer(TextFileInitializer):
    r"""An initializer from integers to strings: by default, from line numbers to lines.

    Args:
      filename: The file.
      key_column_index: The part of a line that is the integer.
      value_column_index: The part of a line that is the string.
      vocab_size: The number of lines in the file, if known.
      delimiter: The delimiter between columns.
      name: A name for the operation.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "words.txt")
      >>> with open(path, "w") as f:
      ...     _ = f.write("to\nbe\n")
      >>> init = tf.contrib.lookup.TextFileStringTableInitializer(path)
      >>> out = tf.contrib.lookup.HashTable(init, "?").lookup(tf.constant([1, 2], tf.int64))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(out))
      [b'be' b'?']
    """

    def __init__(
        self,
        filename: Any,
        key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE,
        vocab_size: Optional[int] = None,
        delimiter: str = "\t",
        name: str = "text_file_string_table_init",
    ) -> None:
        super().__init__(filename, dtypes.int64, key_column_index, dtypes.string, value_column_index, vocab_size, delimiter, name)


class TextFileIdTableInitializer(TextFileInitializer):
    r"""An initializer from strings or integers to ids: by default, from lines to line numbers.

    Args:
      filename: The file.
      key_column_index: The part of a line that is the key.
      value_column_index: The part of a line that is the id.
      vocab_size: The number of lines in the file, if known.
      delimiter: The delimiter between columns.
      name: A name for the operation.
      key_dtype: The dtype of keys.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "words.txt")
      >>> with open(path, "w") as f:
      ...     _ = f.write("to\nbe\n")
      >>> out = tf.contrib.lookup.HashTable(tf.contrib.lookup.TextFileIdTableInitializer(path),
      ...     -1).lookup(tf.constant(["be", "or"]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(out))
      [ 1 -1]
    """

    def __init__(
        self,
        filename: Any,
        key_column_index: int = TextFileIndex.WHOLE_LINE,
        value_column_index: int = TextFileIndex.LINE_NUMBER,
        vocab_size: Optional[int] = None,
        delimiter: str = "\t",
        name: str = "text_file_id_table_init",
        key_dtype: Any = dtypes.string,
    ) -> None:
        super().__init__(filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size, delimiter, name)


# Ids of words missing from a table: a bucket chosen by the word's hash.


class IdTableWithHashBuckets(LookupInterface):
    """A table of ids with buckets for other words: one of `num_oov_buckets` more ids, chosen by the word's
    hash.

    Args:
      table: A table of ids, or None.
      num_oov_buckets: The number of buckets.
      hasher_spec: `FastHashSpec`, or a `StrongHashSpec`.
      name: A name for the operation.
      key_dtype: The dtype of words: string or integer.

    Raises:
      TypeError: A dtype is invalid.
      ValueError: There is neither a table nor a bucket.

    Example:
      >>> words = tf.contrib.lookup.HashTable(
      ...     tf.contrib.lookup.KeyValueTensorInitializer(["a", "b"], np.array([0, 1])), -1)
      >>> table = tf.contrib.lookup.IdTableWithHashBuckets(words, num_oov_buckets=1)
      >>> out = [table.lookup(tf.constant(["b", "c"])), table.size()]
      >>> table.init.type, table.initializer.type, table.name == words.name
      ('LookupTableImportV2', 'LookupTableImportV2', True)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(*sess.run(out))
      [1 2] 3
    """

    def __init__(self, table: Any, num_oov_buckets: int, hasher_spec: Any = FastHashSpec, name: Optional[str] = None, key_dtype: Any = None) -> None:
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError("hasher_spec must be of type HasherSpec, got %s" % (hasher_spec,))
        self._name = name.split("/")[-1] if name else None
        if table is not None:
            key_dtype = key_dtype or table.key_dtype
            if table.value_dtype != dtypes.int64:
                raise TypeError("Invalid value dtype, expected %s but got %s." % (dtypes.int64, table.value_dtype))
            if dtypes.as_dtype(key_dtype).is_integer != table.key_dtype.is_integer:
                kind = "integer" if dtypes.as_dtype(key_dtype).is_integer else "non-integer"
                raise TypeError("Invalid key dtype, expected %s but got %s." % (kind, table.key_dtype))
        else:
            if num_oov_buckets <= 0:
                raise ValueError("oov_buckets must be > 0 if no table is supplied.")
            key_dtype = dtypes.string if key_dtype is None else key_dtype
        self._table, self._num_oov_buckets, self._hasher = table, num_oov_buckets, hasher_spec
        super().__init__(key_dtype, dtypes.int64)
        if self._key_dtype not in (dtypes.string, dtypes.int64, dtypes.int32):
            raise TypeError("Invalid key_dtype, expected integer or string, got %s." % self._key_dtype)

    @property
    def initializer(self) -> Any:
        """The operation that fills the table."""
        if self._table is not None:
            return self._table.initializer
        with name_scope(None, "init"):
            return no_op()

    @property
    def init(self) -> Any:
        """The operation that fills the table."""
        return self.initializer

    @property
    def name(self) -> Any:
        """The name of the table."""
        return self._name or ("hash_bucket" if self._table is None else self._table.name)

    def size(self, name: Optional[str] = None) -> Tensor:
        """Returns the number of ids, buckets included."""
        with name_scope(name, "%s_Size" % self.name):
            own = self._table.size() if self._table is not None else convert_to_tensor(0, dtypes.int64)
            return own + self._num_oov_buckets

    def lookup(self, keys: Any, name: Optional[str] = None) -> Any:
        """Returns the ids of words, which are a tensor or a `SparseTensor`.

        Raises:
          TypeError: The words have another dtype than the table.
          ValueError: The hasher is unknown.
        """
        found = keys.values if isinstance(keys, SparseTensor) else convert_to_tensor(keys)
        self._check_keys(found.dtype)
        if self._table is not None and self._table.key_dtype == dtypes.int64:
            found = math_ops.cast(found, dtypes.int64)
        if self._num_oov_buckets == 0:
            ids = self._table.lookup(found, name=name)
        else:
            with name_scope(name, "%s_Lookup" % self.name):
                words = op("AsString")(found) if found.dtype.is_integer else found
                if self._hasher.hasher == "stronghash":
                    buckets = op("StringToHashBucketStrong")(words, num_buckets=self._num_oov_buckets, key=self._hasher.key, name="hash_bucket")
                elif self._hasher.hasher != "fasthash":
                    raise ValueError("Unknown hasher %s" % self._hasher.hasher)
                else:
                    buckets = op("StringToHashBucketFast")(words, num_buckets=self._num_oov_buckets, name="hash_bucket")
                ids = buckets
                if self._table is not None:
                    known = self._table.lookup(found)
                    more = op("Add")(buckets, self._table.size())
                    ids = op("SelectV2")(op("NotEqual")(known, self._table.default_value), known, more)
        return SparseTensor(keys.indices, ids, keys.dense_shape) if isinstance(keys, SparseTensor) else ids


class StaticVocabularyTable(IdTableWithHashBuckets):
    """A table of ids filled by `initializer`, with buckets for other words, chosen by the word's hash.

    Args:
      initializer: The initializer, from words to `int64` ids.
      num_oov_buckets: The number of buckets.
      lookup_key_dtype: The dtype of words.
      name: A name for the operation.

    Raises:
      ValueError: `num_oov_buckets` is not positive.
      TypeError: Ids are not `int64`.

    Example:
      >>> table = tf.lookup.StaticVocabularyTable(
      ...     tf.lookup.KeyValueTensorInitializer(["a", "b"], np.array([0, 1])), 1)
      >>> out = table.lookup(tf.constant(["b", "c"]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(out))
      [1 2]
    """

    def __init__(self, initializer: Any, num_oov_buckets: int, lookup_key_dtype: Any = None, name: Optional[str] = None) -> None:
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        if initializer is not None and initializer.value_dtype != dtypes.int64:
            raise TypeError("Invalid value dtype, expected %s but got %s." % (dtypes.int64, initializer.value_dtype))
        table = None if initializer is None else HashTable(initializer, -1)
        super().__init__(table, num_oov_buckets, FastHashSpec, name, lookup_key_dtype)


# Mutable tables.


class _Mutable(_Table):
    """The base class of mutable tables. Insertions and lookups are ordered by control dependencies only."""

    def lookup(self, keys: Any, name: Optional[str] = None) -> Tensor:
        """Returns the values of keys."""
        with name_scope(name, "%s_lookup_table_find" % self.name, [self.resource_handle, keys]):
            keys = convert_to_tensor(keys, self._key_dtype, "keys")
            found = op("LookupTableFindV2")(self.resource_handle, keys, self._default_value)
            if self._key_shape is not None and keys.shape.ndims is not None:
                found.set_shape(keys.shape[: keys.shape.ndims - self._key_shape.ndims].concatenate(self._value_shape))
            return found

    def insert(self, keys: Any, values: Any, name: Optional[str] = None) -> Operation:
        """Returns an operation that sets the values of keys.

        Args:
          keys: A tensor of keys.
          values: A tensor of values, one for each key.
          name: A name for the operation.

        Returns:
          The `Operation`.
        """
        with name_scope(name, "%s_lookup_table_insert" % self.name, [self.resource_handle, keys, values]):
            keys = convert_to_tensor(keys, self._key_dtype, "keys")
            values = convert_to_tensor(values, self._value_dtype, "values")
            return op("LookupTableInsertV2")(self.resource_handle, keys, values)

    def remove(self, keys: Any, name: Optional[str] = None) -> Operation:
        """Returns an operation that removes keys; missing keys are ignored."""
        keys = convert_to_tensor(keys)
        self._check_keys(keys.dtype)
        with name_scope(name, "%s_lookup_table_remove" % self.name, [self.resource_handle, keys]):
            return op("LookupTableRemoveV2")(self.resource_handle, keys)

    def export(self, name: Optional[str] = None) -> Any:
        """Returns all keys and their values, in unspecified order."""
        with name_scope(name, "%s_lookup_table_export_values" % self.name, [self.resource_handle]):
            keys, values = op("LookupTableExportV2")(self.resource_handle, self._key_dtype, self._value_dtype)
            rows = keys.shape if self._key_shape is None else shapes.TensorShape([None]).concatenate(self._key_shape)
            keys.set_shape(rows)
            values.set_shape(None if rows.ndims is None else rows[:1].concatenate(self._value_shape))
            return keys, values

    # The shape of a key, if the table knows it beside the engine.
    _key_shape: Any = None
    _value_shape = shapes.TensorShape([])


class _SavedTable(SaveableObject):
    """The keys and values of a table, as a `Saver` saves them."""

    def __init__(self, table: Any, name: str) -> None:
        parts = zip(table.export(), ("keys", "values"))
        super().__init__(table, [SaveSpec(tensor, "", f"{name}-{word}") for tensor, word in parts], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        """Returns an operation that replaces the contents of the table."""
        with name_scope("%s_table_restore" % self.op.name):
            return op("LookupTableImportV2")(self.op.resource_handle, *restored_tensors)


class MutableHashTable(_Mutable):
    """A mutable table. Values may be tensors of one shape, that of `default_value`.

    Args:
      key_dtype: The dtype of keys.
      value_dtype: The dtype of values.
      default_value: The value of missing keys.
      name: A name for the operation.
      checkpoint: If true, savers save the table, under `name`, and it is shared under the name of its
        operation.

    Example:
      >>> table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, default_value=-1)
      >>> fill = table.insert(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64))
      >>> take, out = table.remove(tf.constant(["a"])), table.lookup(tf.constant(["a", "b"]))
      >>> with tf.Session() as sess:
      ...     sess.run(fill)
      ...     print(sess.run(out), sess.run(take), sess.run(out), sess.run(table.size()),
      ...         *sess.run(table.export()))
      [1 2] None [-1  2] 1 [b'b'] [2]
    """

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str = "MutableHashTable", checkpoint: bool = True
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert_to_tensor(default_value, self._value_dtype)
        self._key_shape = shapes.TensorShape([])
        self._value_shape = self._default_value.shape
        # A table in a checkpoint needs a name that stays the same.
        extra = dict(use_node_name_sharing=checkpoint, name=name)
        if self._value_shape.ndims == 0:
            self.resource_handle = op("MutableHashTableV2")(key_dtype=self._key_dtype, value_dtype=self._value_dtype, **extra)
        else:
            self.resource_handle = op("MutableHashTableOfTensorsV2")(
                key_dtype=self._key_dtype, value_dtype=self._value_dtype, value_shape=self._value_shape, **extra
            )
        if checkpoint:
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _SavedTable(self, name))


class MutableDenseHashTable(_Mutable):
    """A mutable table in one block of memory.

    Args:
      key_dtype: The dtype of keys.
      value_dtype: The dtype of values.
      default_value: The value of missing keys.
      empty_key: A key that may not be used. `export` gives it for every free bucket.
      deleted_key: Another key that may not be used.
      initial_num_buckets: The initial number of buckets, a power of two. It doubles before more than 0.8 of
        them are used.
      name: A name for the operation.
      checkpoint: If true, savers save the table, under `name`, and it is shared under the name of its
        operation.

    Example:
      >>> table = tf.contrib.lookup.MutableDenseHashTable(tf.string, tf.int64, default_value=-1, empty_key="",
      ...     deleted_key="-")
      >>> fill = table.insert(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64))
      >>> take, out = table.remove(tf.constant(["a"])), table.lookup(tf.constant(["a", "b"]))
      >>> with tf.Session() as sess:
      ...     sess.run(fill)
      ...     print(sess.run(out), sess.run(take), sess.run(out), sess.run(table.size()))
      [1 2] None [-1  2] 1
      >>> keys, values = table.export()
      >>> keys.dtype, values.dtype
      (tf.string, tf.int64)
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: Optional[int] = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert_to_tensor(default_value, self._value_dtype, "default_value")
        self._value_shape = self._default_value.shape
        extra = {} if initial_num_buckets is None else {"initial_num_buckets": initial_num_buckets}
        self.resource_handle = op("MutableDenseHashTableV2")(
            convert_to_tensor(empty_key, self._key_dtype, "empty_key"),
            convert_to_tensor(deleted_key, self._key_dtype, "deleted_key"),
            value_dtype=self._value_dtype,
            value_shape=self._value_shape,
            use_node_name_sharing=checkpoint,
            name=name,
            **extra,
        )
        self._key_shape = convert_to_tensor(empty_key, self._key_dtype).shape
        if checkpoint:
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _SavedTable(self, name))


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """Returns an operation that fills all tables of the graph.

    Args:
      name: A name for the operation.

    Returns:
      An `Operation`.

    Example:
      >>> table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]),
      ...     default_value=-1)
      >>> value = table.lookup(tf.constant(["b", "c"]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(value))
      [ 2 -1]
    """
    initializers = get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*initializers, name=name) if initializers else no_op(name=name)


initialize_all_tables = tables_initializer
