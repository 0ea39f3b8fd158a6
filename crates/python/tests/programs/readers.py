"""Readers and record files: keys, values, ends of files, headers, states, corrupted data."""

import os
import tempfile

import numpy as np

from programs.tools import WHOLE, caught, initialize, nodes, run, static


def _file(contents, name="f"):
    path = os.path.join(tempfile.mkdtemp(), name)
    with open(path, "wb") as f:
        f.write(contents)
    return path


def _all(tf, reader, paths, more=()):
    """Returns all records of files, with keys without directories, and finally the values of `more`."""
    queue = tf.FIFOQueue(20, [tf.string], [[]])
    put, close = queue.enqueue_many([paths]), queue.close()
    key, value = reader.read(queue)
    found = []
    with tf.Session() as sess:
        sess.run(put)
        sess.run(close)
        while True:
            try:
                k, v = sess.run([key, value])
            except tf.errors.OutOfRangeError:
                break
            for p in paths:
                k = k.replace(p.encode(), os.path.basename(p).encode())
            found.append((k, v))
        return found, [sess.run(m) for m in more]


def lines(tf):
    return _all(tf, tf.TextLineReader(), [_file(b"a\nb\n\nc"), _file(b"d\r\ne\n", "g")])


def lines_of_empty_files(tf):
    return _all(tf, tf.TextLineReader(), [_file(b""), _file(b"\n", "g"), _file(b"x", "h")])


def lines_after_headers(tf):
    return _all(tf, tf.TextLineReader(skip_header_lines=2), [_file(b"h\nh\na\nb\n"), _file(b"h\n", "g"), _file(b"h\nh\nc", "i")])


def whole_files(tf):
    return _all(tf, tf.WholeFileReader(), [_file(b"one"), _file(b"", "g"), _file(b"\x00\xff", "h")])


def records_of_a_length(tf):
    return _all(tf, tf.FixedLengthRecordReader(2), [_file(b"aabbcc"), _file(b"dd", "g")])


def records_with_headers_and_footers(tf):
    return _all(tf, tf.FixedLengthRecordReader(record_bytes=2, header_bytes=3, footer_bytes=1), [_file(b"hhhaabbf"), _file(b"hhhf", "g")])


def records_with_hops(tf):
    return _all(tf, tf.FixedLengthRecordReader(record_bytes=3, header_bytes=1, hop_bytes=1), [_file(b"habcde")])


def records_of_a_length_refused(tf):
    return (
        caught(lambda: tf.FixedLengthRecordReader(0), WHOLE),
        caught(lambda: tf.FixedLengthRecordReader(-1), WHOLE),
        caught(lambda: tf.FixedLengthRecordReader(3, header_bytes=-1), WHOLE),
        caught(lambda: tf.FixedLengthRecordReader("a"), WHOLE),
    )


def identity(tf):
    return _all(tf, tf.IdentityReader(), ["a", "b", "c"])


def counts(tf):
    reader = tf.TextLineReader()
    found, more = _all(tf, reader, [_file(b"a\nb\n"), _file(b"c\n", "g")], [reader.num_records_produced(), reader.num_work_units_completed()])
    return len(found), more


def missing_file(tf):
    queue = tf.FIFOQueue(2, [tf.string], [[]])
    put = queue.enqueue("/no/such/file")
    key, value = tf.WholeFileReader().read(queue)
    with tf.Session() as sess:
        sess.run(put)
        return caught(lambda: sess.run([key, value]), "/no/such/file; No such file or directory")


def state_saved_and_restored(tf):
    reader, queue = tf.IdentityReader(), tf.FIFOQueue(10, [tf.string], [[]])
    put, (key, _) = queue.enqueue_many([["a", "b", "c"]]), None or reader.read(queue)
    state = reader.serialize_state()
    with tf.Session() as sess:
        sess.run(put)
        sess.run(key)
        saved = sess.run(state)
        sess.run(key)
        restored = reader.restore_state(saved)
        sess.run(restored)
        return sess.run(reader.num_records_produced()), sess.run(key)


def state_not_understood(tf):
    reader = tf.IdentityReader()
    bad = reader.restore_state("BOGUS")
    with tf.Session() as sess:
        return caught(lambda: sess.run(bad))


def state_of_one_that_has_none(tf):
    reader = tf.TextLineReader()
    with tf.Session() as sess:
        return reader.supports_serialize, caught(lambda: sess.run(reader.serialize_state()))


def reset(tf):
    reader, queue = tf.IdentityReader(), tf.FIFOQueue(10, [tf.string], [[]])
    put, (key, _) = queue.enqueue_many([["a", "b", "c"]]), reader.read(queue)
    with tf.Session() as sess:
        sess.run(put)
        sess.run(key)
        before = sess.run(reader.num_records_produced())
        sess.run(reader.reset())
        return before, sess.run(reader.num_records_produced()), sess.run(key)


def names_of_nodes(tf):
    q = tf.FIFOQueue(1, [tf.string], [[]])
    reader = tf.WholeFileReader("mine")
    reader.read(q)
    reader.read_up_to(q, 3, name="many")
    reader.num_records_produced()
    reader.num_work_units_completed(name="units")
    tf.TextLineReader(skip_header_lines=1)
    tf.FixedLengthRecordReader(3)
    tf.IdentityReader(name="id")
    return nodes(tf), reader.reader_ref.name, reader.reader_ref.dtype.name


def what_reads_return(tf):
    q = tf.FIFOQueue(1, [tf.string], [[]])
    read, many = tf.TextLineReader().read(q), tf.TextLineReader().read_up_to(q, 3)
    return type(read).__name__, read._fields, type(many).__name__, static(*read), static(*many)


def many_at_once(tf):
    reader, queue = tf.TextLineReader(), tf.FIFOQueue(10, [tf.string], [[]])
    put, close = queue.enqueue_many([[_file(b"a\nb\nc\n"), _file(b"d\n", "g")]]), queue.close()
    _, values = reader.read_up_to(queue, 2)
    with tf.Session() as sess:
        sess.run(put)
        sess.run(close)
        out = [sess.run(values) for _ in range(3)]
        return out, caught(lambda: sess.run(values), "is closed and has insufficient elements")


def queue_of_another_dtype(tf):
    queue = tf.FIFOQueue(2, [tf.int32], [[]])
    put = queue.enqueue(1)
    key, _ = tf.IdentityReader().read(queue)
    with tf.Session() as sess:
        sess.run(put)
        return caught(lambda: sess.run(key))


def waits_for_a_name(tf):
    import threading

    queue = tf.FIFOQueue(2, [tf.string], [[]])
    put, (key, _) = queue.enqueue("late"), tf.IdentityReader().read(queue)
    out = []
    with tf.Session() as sess:
        thread = threading.Thread(target=lambda: out.append(sess.run(key)))
        thread.start()
        thread.join(0.1)
        waited = thread.is_alive()
        sess.run(put)
        thread.join(10)
        return waited, out


def compressed_lines_are_not_for_it(tf):
    import gzip

    path = os.path.join(tempfile.mkdtemp(), "f.gz")
    with gzip.open(path, "wb") as f:
        f.write(b"a\nb\n")
    found, _ = _all(tf, tf.WholeFileReader(), [path])
    return found[0][1][:2]
