"""Strings, tables and files."""

import os
import tempfile

import numpy as np

from programs.tools import caught, nodes, run, static


def joined_and_split(tf):
    s = tf.string_split(["a b", "c"])
    return run(tf, [tf.string_join(["a", "b"], "-"), tf.as_string([1, 2]), tf.strings.length(["abc", ""])]), run(tf, s)


def cut(tf):
    return run(tf, [tf.substr(["hello", "world"], 1, 3), tf.strings.regex_replace("a1b2", "[0-9]", "#"), tf.reduce_join([["a", "b"], ["c", "d"]], 1)])


def numbers(tf):
    x = tf.placeholder(tf.string, [])
    n = tf.string_to_number(x, tf.int32)
    return run(tf, n, {x: "42"}), caught(lambda: run(tf, n, {x: "forty"}), "StringToNumberOp could not correctly convert string: forty")


def hashed(tf):
    return run(tf, [tf.string_to_hash_bucket_fast(["a", "b"], 100), tf.string_to_hash_bucket(["a", "b"], 100)])


def compared(tf):
    return run(tf, [tf.equal(["a", "b"], ["a", "c"]), tf.not_equal("x", ["x", "y"])])


def encoded(tf):
    return run(tf, [tf.encode_base64("hello"), tf.decode_base64(tf.encode_base64("hello"))]), run(tf, tf.decode_raw(["\x01\x00\x02\x00"], tf.int16))


def table(tf):
    t = tf.contrib.lookup.HashTable(tf.contrib.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64)), -1)
    with tf.Session() as sess:
        before = caught(lambda: sess.run(t.lookup(tf.constant(["a"]))), "Table not initialized.")
        sess.run(tf.tables_initializer())
        return before, sess.run([t.lookup(tf.constant(["b", "z"])), t.size()])


def csv(tf):
    a, b, c = tf.decode_csv(["1,x,2.5", "2,,"], [[0], ["none"], [9.0]])
    return run(tf, [a, b, c])


def files(tf):
    path = os.path.join(tempfile.mkdtemp(), "f.txt")
    with tf.Session() as sess:
        sess.run(tf.write_file(path, "contents"))
        return sess.run(tf.read_file(path)), caught(lambda: sess.run(tf.read_file(path + "x")))


def example_messages(tf):
    e = tf.train.Example(features=tf.train.Features(feature={"a": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2])), "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x"]))}))
    parsed = tf.parse_single_example(e.SerializeToString(), {"a": tf.FixedLenFeature([2], tf.int64), "s": tf.VarLenFeature(tf.string), "d": tf.FixedLenFeature([], tf.float32, 7.0)})
    return run(tf, parsed)


def replaced(tf):
    x = ["a1b2", "", "33"]
    return run(tf, [tf.regex_replace(x, "[0-9]", "#"), tf.strings.regex_replace(x, "[0-9]", "#", replace_global=False), tf.regex_replace(x, tf.constant("([0-9])"), "<\\1>")])


def joined_along_axes(tf):
    x = [["a", "b"], ["c", "d"]]
    ways = [{}, {"axis": 0}, {"axis": [0, 1]}, {"axis": [1, 0], "separator": "-"}, {"axis": -1, "keep_dims": True}]
    return run(tf, [tf.reduce_join(x, **way) for way in ways])


def lengths(tf):
    x = [b"abc", "\u00e9\u20ac".encode("utf-8"), b""]
    return run(tf, [tf.strings.length(x), tf.strings.length(x, unit="UTF8_CHAR")])


def csv_in_other_ways(tf):
    lines = ["1;'x';2.5", "2;NA;"]
    return (
        run(tf, tf.decode_csv(lines, [[0], ["none"], [9.0]], field_delim=";", use_quote_delim=False, na_value="NA")),
        run(tf, tf.decode_csv(["1,2,3", "4,5,6"], [[0], [0]], select_cols=[0, 2])),
        caught(lambda: tf.decode_csv(["1,2"], [[0], [0]], select_cols=[1, 0]), "select_cols is not strictly increasing"),
        caught(lambda: tf.decode_csv(["1,2"], [[0]], select_cols=[0, 1])),
        caught(lambda: run(tf, tf.decode_csv(["1"], [[0], [0]]))),
    )


def _read(tf, reader, contents, n=4):
    """Returns the records of one file by `read`, then the reader's counts."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "f")
    with open(path, "wb") as f:
        f.write(contents)
    queue = tf.FIFOQueue(10, [tf.string])
    put, close = queue.enqueue([path]), queue.close()
    key, value = reader.read(queue)
    counts = [reader.num_records_produced(), reader.num_work_units_completed()]
    with tf.Session() as sess:
        sess.run(put)
        sess.run(close)
        found = []
        for _ in range(n):
            try:
                k, v = sess.run([key, value])
            except tf.errors.OutOfRangeError:
                found.append("end")
                break
            found.append([k.replace(path.encode(), b"F"), v])
        return found, sess.run(counts)


def read_lines(tf):
    return _read(tf, tf.TextLineReader(skip_header_lines=1), b"head\na\nbc")


def read_whole(tf):
    return _read(tf, tf.WholeFileReader(), b"all of it\n")


def read_of_a_length(tf):
    return _read(tf, tf.FixedLengthRecordReader(record_bytes=3, header_bytes=1, footer_bytes=2), b"habcdefgh")


def read_with_hops(tf):
    return _read(tf, tf.FixedLengthRecordReader(record_bytes=3, hop_bytes=2), b"abcdefg")


def read_up_to(tf):
    reader, queue = tf.IdentityReader(), tf.FIFOQueue(10, [tf.string])
    put, close = queue.enqueue_many([["a", "b", "c"]]), queue.close()
    keys, values = reader.read_up_to(queue, 2)
    state = reader.serialize_state()
    with tf.Session() as sess:
        sess.run(put)
        sess.run(close)
        first = sess.run([keys, values])
        where = sess.run(state)
        rest = sess.run([keys, values])
        sess.run(reader.restore_state(where))
        back = sess.run(reader.num_records_produced())
        sess.run(reader.reset())
        return first, rest, back, sess.run(reader.num_records_produced()), reader.supports_serialize
