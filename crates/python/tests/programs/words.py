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
