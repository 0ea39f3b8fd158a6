"""Vocabularies: tables between words and ids, from files or tensors."""

from __future__ import annotations

from typing import Any, Optional

from millstream.framework import convert_to_tensor, dtypes, name_scope
from millstream.io.lookup_ops import (
    FastHashSpec,
    HashTable,
    IdTableWithHashBuckets,
    KeyValueTensorInitializer,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileStringTableInitializer,
)
from millstream.ops import array_ops, math_ops


def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: Optional[int] = None,
    default_value: Any = -1,
    hasher_spec: Any = FastHashSpec,
    key_dtype: Any = dtypes.string,
    name: Optional[str] = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE,
    value_column_index: int = TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> Any:
    r"""Returns a table from words to ids, with one word per line of a file.

    Args:
      vocabulary_file: The file.
      num_oov_buckets: The number of additional ids for other words, chosen by their hash.
      vocab_size: The number of lines in the file, if known.
      default_value: The id of other words, if there are no buckets.
      hasher_spec: `FastHashSpec`, or a `StrongHashSpec`.
      key_dtype: The dtype of words.
      name: A name for the operation.
      key_column_index: The part of a line that is the word.
      value_column_index: The part of a line that is the id.
      delimiter: The delimiter between columns.

    Returns:
      A table.

    Raises:
      ValueError: No file is given, or a number is out of range.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "words.txt")
      >>> with open(path, "w") as f:
      ...     _ = f.write("to\nbe\n")
      >>> out = tf.contrib.lookup.index_table_from_file(path,
      ...     num_oov_buckets=1).lookup(tf.constant(["be", "or"]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(out))
      [1 2]
    """
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if num_oov_buckets < 0:
        raise ValueError("num_oov_buckets must be greater or equal than 0, got %d." % num_oov_buckets)
    if vocab_size is not None and vocab_size < 1:
        raise ValueError("vocab_size must be greater than 0, got %d. vocabulary_file: %s" % (vocab_size, vocabulary_file))
    _check_key_dtype(key_dtype)
    with name_scope(name, "string_to_index"):
        with name_scope(None, "hash_table"):
            wide = dtypes.int64 if dtypes.as_dtype(key_dtype).is_integer else key_dtype
            initializer = TextFileIdTableInitializer(vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter, "table_init", wide)
            table = HashTable(initializer, default_value)
        return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, None, key_dtype) if num_oov_buckets else table


def index_table_from_tensor(
    mapping: Any = None,
    num_oov_buckets: int = 0,
    default_value: Any = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: Any = dtypes.string,
    name: Optional[str] = None,
) -> Any:
    """Returns a table from words to ids: the index of each word in `mapping`.

    Args:
      mapping: A vector of words.
      num_oov_buckets: The number of additional ids for other words, chosen by their hash.
      default_value: The id of other words, if there are no buckets.
      hasher_spec: `FastHashSpec`, or a `StrongHashSpec`.
      dtype: The dtype of words.
      name: A name for the operation.

    Returns:
      A table.

    Raises:
      ValueError: `mapping` is None, a number is negative, or the dtype does not match.

    Example:
      >>> out = tf.contrib.lookup.index_table_from_tensor(["to", "be"]).lookup(tf.constant(["be", "or"]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(out))
      [ 1 -1]
    """
    if mapping is None:
        raise ValueError("mapping must be specified.")
    if num_oov_buckets < 0:
        raise ValueError("num_oov_buckets must be greater or equal than 0, got %d." % num_oov_buckets)
    _check_key_dtype(dtype)
    dtype = dtypes.as_dtype(dtype)
    with name_scope(name, "string_to_index"):
        keys = convert_to_tensor(mapping)
        if dtype.is_integer != keys.dtype.is_integer:
            raise ValueError("Expected %s, got %s." % ("integer" if dtype.is_integer else "non-integer", keys.dtype))
        if not dtype.is_integer and keys.dtype != dtype:
            raise ValueError("Expected %s, got %s." % (dtype, keys.dtype))
        values = math_ops.cast(math_ops.range(array_ops.size(keys)), dtypes.int64)
        with name_scope(None, "hash_table"):
            keys = math_ops.cast(keys, dtypes.int64) if keys.dtype.is_integer else keys
            table = HashTable(KeyValueTensorInitializer(keys, values, keys.dtype, dtypes.int64, "table_init"), default_value)
        return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, None, dtype) if num_oov_buckets else table


def _check_key_dtype(dtype: Any) -> None:
    dtype = dtypes.as_dtype(dtype)
    if dtype != dtypes.string and not dtype.is_integer:
        raise TypeError("Only integer and string keys are supported.")


def index_to_string_table_from_file(
    vocabulary_file: Any,
    vocab_size: Optional[int] = None,
    default_value: Any = "UNK",
    name: Optional[str] = None,
    key_column_index: int = TextFileIndex.LINE_NUMBER,
    value_column_index: int = TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> HashTable:
    r"""Returns a table from ids to words, with one word per line of a file.

    Args:
      vocabulary_file: The file.
      vocab_size: The number of lines in the file, if known.
      default_value: The word of other ids.
      name: A name for the operation.
      key_column_index: The part of a line that is the id.
      value_column_index: The part of a line that is the word.
      delimiter: The delimiter between columns.

    Returns:
      A table.

    Raises:
      ValueError: No file is given, or a number is out of range.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "words.txt")
      >>> with open(path, "w") as f:
      ...     _ = f.write("to\nbe\n")
      >>> out = tf.contrib.lookup.index_to_string_table_from_file(path).lookup(tf.constant([1, 7], tf.int64))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(out))
      [b'be' b'UNK']
    """
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError("vocab_size must be greater than 0, got %d." % vocab_size)
    with name_scope(name, "index_to_string"):
        initializer = TextFileStringTableInitializer(vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter, "table_init")
        return HashTable(initializer, default_value)


def index_to_string_table_from_tensor(mapping: Any, default_value: Any = "UNK", name: Optional[str] = None) -> HashTable:
    """Returns a table from ids to words: the word at each index of `mapping`.

    Args:
      mapping: A vector of words.
      default_value: The word of other ids.
      name: A name for the operation.

    Returns:
      A table.

    Raises:
      ValueError: `mapping` is None.

    Example:
      >>> out = tf.contrib.lookup.index_to_string_table_from_tensor(["to", "be"]).lookup(
      ...     tf.constant([1, 7], tf.int64))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(out))
      [b'be' b'UNK']
    """
    if mapping is None:
        raise ValueError("mapping must be specified.")
    with name_scope(name, "index_to_string"):
        values = convert_to_tensor(mapping, dtypes.string)
        keys = math_ops.cast(math_ops.range(array_ops.size(values)), dtypes.int64)
        return HashTable(KeyValueTensorInitializer(keys, values, dtypes.int64, dtypes.string, "table_init"), default_value)


def string_to_index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: Optional[int] = None,
    default_value: Any = -1,
    hasher_spec: Any = FastHashSpec,
    name: Optional[str] = None,
) -> Any:
    r"""The former name of `index_table_from_file`, with its arguments.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "words.txt")
      >>> with open(path, "w") as f:
      ...     _ = f.write("to\nbe\n")
      >>> out = tf.contrib.lookup.string_to_index_table_from_file(path).lookup(tf.constant(["be", "or"]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(out))
      [ 1 -1]
    """
    return index_table_from_file(vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, dtypes.string, name)


def string_to_index_table_from_tensor(
    mapping: Any, num_oov_buckets: int = 0, default_value: Any = -1, hasher_spec: Any = FastHashSpec, name: Optional[str] = None
) -> Any:
    """The former name of `index_table_from_tensor`, with its arguments.

    Example:
      >>> out = tf.contrib.lookup.string_to_index_table_from_tensor(["to", "be"]).lookup(
      ...     tf.constant(["be", "or"]))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(out))
      [ 1 -1]
    """
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, dtypes.string, name)


def string_to_index(tensor: Any, mapping: Any, default_value: Any = -1, name: Optional[str] = None) -> Any:
    """Returns the index of each word in `mapping`.

    Args:
      tensor: A tensor of strings.
      mapping: A vector of words.
      default_value: The index of other words.
      name: A name for the operation.

    Returns:
      A tensor of `int64` of the same shape.

    Example:
      >>> out = tf.contrib.lookup.string_to_index(tf.constant(["be", "or"]), ["to", "be"])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(out))
      [ 1 -1]
    """
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


def index_to_string(tensor: Any, mapping: Any, default_value: Any = "UNK", name: Optional[str] = None) -> Any:
    """Returns the word at each index of `mapping`.

    Args:
      tensor: A tensor of `int64`.
      mapping: A vector of words.
      default_value: The word of other indices.
      name: A name for the operation.

    Returns:
      A tensor of strings of the same shape.

    Example:
      >>> out = tf.contrib.lookup.index_to_string(tf.constant([1, 7], tf.int64), ["to", "be"])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(out))
      [b'be' b'UNK']
    """
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)
