"""Lookup tables, static and mutable, and vocabularies."""

import os
import tempfile

from programs.tools import caught, rows, run, static


def _run(tf, fetches):
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        return sess.run(fetches)


def _file(text):
    path = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(path, "w") as f:
        f.write(text)
    return path


def _pairs(tf):
    return tf.contrib.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2], tf.string, tf.int64)


def filled_once(tf):
    table = tf.contrib.lookup.HashTable(_pairs(tf), -1)
    sparse = table.lookup(tf.SparseTensor([[0, 0], [1, 1]], ["b", "q"], [2, 2]))
    dense = table.lookup(tf.constant([["a"], ["z"]]))
    return table.name, table.key_dtype, table.value_dtype, len(tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS)), static(dense), _run(tf, [dense, sparse, table.size()])


def by_the_newer_name(tf):
    keys = tf.constant([1, 2], tf.int64)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, tf.constant(["p", "q"])), "no", name="mine")
    return table.name, _run(tf, [table.lookup(tf.constant([2, 5], tf.int64)), table.size()])


def misused(tf):
    table = tf.contrib.lookup.HashTable(_pairs(tf), -1)
    twice = tf.contrib.lookup.HashTable(tf.contrib.lookup.KeyValueTensorInitializer(["a", "a"], tf.constant([1, 2], tf.int64)), -1)
    return (
        caught(lambda: table.lookup(tf.constant([1])), "Signature mismatch. Keys must be dtype <dtype: 'string'>, got <dtype: 'int32'>."),
        caught(lambda: run(tf, table.lookup(tf.constant(["a"]))), "Table not initialized."),
        caught(lambda: run(tf, twice.init), "HashTable has different value for same key. Key a has 1 and trying to add value 2"),
    )


def initialized_twice(tf):
    table = tf.contrib.lookup.HashTable(_pairs(tf), -1)
    with tf.Session() as sess:
        sess.run(table.init)
        sess.run(tf.tables_initializer())
        return sess.run(table.size())


def words_to_ids(tf):
    lookup = tf.contrib.lookup
    words = tf.constant(["b", "zz", "yy", "xx"])
    plain = lookup.index_table_from_tensor(["a", "b", "c"], default_value=7)
    with_buckets = lookup.index_table_from_tensor(["a", "b", "c"], num_oov_buckets=2)
    strong = lookup.index_table_from_tensor(["a", "b", "c"], num_oov_buckets=2, hasher_spec=lookup.StrongHashSpec([3, 4]))
    numbers = lookup.index_table_from_tensor(tf.constant([5, 6], tf.int64), num_oov_buckets=3, dtype=tf.int64)
    sparse = with_buckets.lookup(tf.SparseTensor([[0]], ["zz"], [1]))
    return _run(tf, [plain.lookup(words), with_buckets.lookup(words), strong.lookup(words), numbers.lookup(tf.constant([6, 7, 8], tf.int64)), with_buckets.size(), sparse])


def words_of_a_file(tf):
    lookup = tf.contrib.lookup
    words, pairs = _file("a\nb\nc\n"), _file("x\t10\ny\t20\n")
    return _run(
        tf,
        [
            lookup.index_table_from_file(words).lookup(tf.constant(["c", "zz"])),
            lookup.index_table_from_file(words, num_oov_buckets=2, vocab_size=2).lookup(tf.constant(["b", "c"])),
            lookup.index_table_from_file(pairs, key_column_index=0, value_column_index=1).lookup(tf.constant(["x", "y", "q"])),
            lookup.index_to_string_table_from_file(words).lookup(tf.constant([2, 9], tf.int64)),
            lookup.HashTable(lookup.TextFileInitializer(pairs, tf.string, 0, tf.int64, 1), -1).lookup(tf.constant(["y"])),
            lookup.IdTableWithHashBuckets(lookup.HashTable(lookup.TextFileIdTableInitializer(words), -1), 2).lookup(tf.constant(["a", "zz"])),
            lookup.HashTable(lookup.TextFileStringTableInitializer(words), "U").lookup(tf.constant([0, 7], tf.int64)),
        ],
    )


def ids_to_words(tf):
    lookup = tf.contrib.lookup
    table = lookup.index_to_string_table_from_tensor(["a", "b"], default_value="D")
    return _run(tf, [table.lookup(tf.constant([1, 9], tf.int64)), lookup.string_to_index(tf.constant(["b"]), ["a", "b"]), lookup.index_to_string(tf.constant([1], tf.int64), ["a", "b"])])


def vocabularies_misdescribed(tf):
    lookup, path = tf.contrib.lookup, _file("a\nb\nc\n")
    return (
        caught(lambda: lookup.index_table_from_tensor(None), "mapping must be specified."),
        caught(lambda: lookup.index_table_from_file(None), "vocabulary_file must be specified and must not be empty."),
        caught(lambda: lookup.index_table_from_file(path, vocab_size=0), "vocab_size must be greater than 0, got 0."),
        caught(lambda: lookup.index_table_from_file(path, num_oov_buckets=-1), "num_oov_buckets must be greater or equal than 0, got -1."),
        caught(lambda: lookup.index_table_from_tensor(["a"], dtype=tf.int64), "Expected integer, got <dtype: 'string'>."),
        caught(lambda: lookup.index_table_from_tensor(["a"], dtype=tf.float32), "Only integer and string keys are supported."),
        caught(lambda: lookup.TextFileInitializer(path, tf.string, -1, tf.int64, 1), "Signature mismatch. Keys must be dtype <dtype: 'int64'>, got <dtype: 'string'>."),
        caught(lambda: lookup.TextFileInitializer(path, tf.string, -3, tf.int64, 1), "Invalid key index -3."),
        caught(lambda: tf.lookup.StaticVocabularyTable(None, 0), "oov_buckets must be > 0."),
        caught(lambda: _run(tf, lookup.index_table_from_file(path, vocab_size=9).lookup(tf.constant(["c"]))), "Invalid vocab_size in", "expected 9 but got 3"),
    )


def vocabularies_without_words(tf):
    some = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(tf.constant(["a", "b"]), tf.constant([0, 1], tf.int64)), 3)
    none = tf.lookup.StaticVocabularyTable(None, 3)
    words = tf.constant(["a", "zz"])
    return _run(tf, [some.lookup(words), none.lookup(words), some.size(), none.size()])


def changed_while_running(tf):
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    insert = table.insert(tf.constant(["a", "b", "c"]), tf.constant([1, 2, 3], tf.int64))
    remove = table.remove(tf.constant(["a", "zz"]))
    found, size, export = table.lookup(tf.constant(["a", "c"])), table.size(), table.export()
    with tf.Session() as sess:
        out = [sess.run([found, size])]
        sess.run(insert)
        out.append(sess.run([found, size]))
        sess.run(remove)
        out.append(sess.run([found, size]))
        keys, values = sess.run(export)
        return table.name, out, sorted(zip(keys.tolist(), values.tolist()))


def of_vectors(tf):
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.float32, tf.constant([0.0, 0.5]))
    insert = table.insert(tf.constant([1, 2], tf.int64), tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    with tf.Session() as sess:
        sess.run(insert)
        return sess.run(table.lookup(tf.constant([2, 3], tf.int64))), rows(sess.run(table.export())[1])


def dense_tables(tf):
    table = tf.contrib.lookup.MutableDenseHashTable(tf.int64, tf.int64, default_value=-1, empty_key=0, deleted_key=-1)
    insert = table.insert(tf.constant([1, 2], tf.int64), tf.constant([7, 8], tf.int64))
    with tf.Session() as sess:
        sess.run(insert)
        first = sess.run([table.lookup(tf.constant([2, 3], tf.int64)), table.size()])
        sess.run(table.remove(tf.constant([2], tf.int64)))
        return first, sess.run(table.size()), table.name
