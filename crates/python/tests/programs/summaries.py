"""Summaries as messages, merging, and event files."""

import os
import tempfile

import numpy as np

from programs.tools import caught, initialize, nodes, run


def _parsed(tf, value):
    message = tf.Summary()
    message.ParseFromString(value)
    return message


def scalar(tf):
    s = tf.summary.scalar("loss", tf.constant(1.5))
    message = _parsed(tf, run(tf, s))
    return s.op.type, s.dtype.name, message.value[0].tag, message.value[0].simple_value


def scalar_in_a_scope(tf):
    with tf.name_scope("a"):
        s = tf.summary.scalar("loss", 1.0)
        t = tf.summary.scalar("loss", 2.0)
    return [_parsed(tf, v).value[0].tag for v in run(tf, [s, t])], s.name


def histogram(tf):
    s = tf.summary.histogram("h", tf.constant([1.0, 2.0, 2.0, 3.0]))
    h = _parsed(tf, run(tf, s)).value[0].histo
    return h.min, h.max, h.num, h.sum, h.sum_squares, sum(h.bucket)


def text(tf):
    s = tf.summary.text("t", tf.constant("hello"))
    v = _parsed(tf, run(tf, s)).value[0]
    return v.tag, v.metadata.plugin_data.plugin_name, v.tensor.string_val[0]


def merged(tf):
    a, b = tf.summary.scalar("a", 1.0), tf.summary.scalar("b", 2.0)
    m = tf.summary.merge([a, b])
    return m.op.type, [v.tag for v in _parsed(tf, run(tf, m)).value]


def merge_all(tf):
    nothing = tf.summary.merge_all()
    tf.summary.scalar("a", 1.0)
    tf.summary.scalar("b", 2.0, collections=["mine"])
    tags = lambda m: [v.tag for v in _parsed(tf, run(tf, m)).value]
    return nothing, tags(tf.summary.merge_all()), tags(tf.summary.merge_all("mine"))


def not_a_scalar(tf):
    x = tf.placeholder(tf.float32)
    s = tf.summary.scalar("a", x)
    return caught(lambda: run(tf, s, {x: [1.0, 2.0]}))


def inside_a_loop(tf):
    def body(i):
        tf.summary.scalar("i", tf.cast(i, tf.float32))
        return i + 1

    r = tf.while_loop(lambda i: i < 3, body, [0])
    return run(tf, r), len(tf.get_collection(tf.GraphKeys.SUMMARIES))


def file_writer(tf):
    folder = tempfile.mkdtemp()
    s = tf.summary.scalar("loss", tf.constant(1.5))
    with tf.summary.FileWriter(folder) as writer:
        with tf.Session() as sess:
            for step in range(3):
                writer.add_summary(sess.run(s), step)
    (name,) = os.listdir(folder)
    events = list(tf.train.summary_iterator(os.path.join(folder, name)))
    return name.startswith("events.out.tfevents."), events[0].file_version, [(e.step, e.summary.value[0].simple_value) for e in events[1:]]


def file_writer_with_a_graph(tf):
    folder = tempfile.mkdtemp()
    tf.constant(1, name="c")
    writer = tf.summary.FileWriter(folder, tf.get_default_graph())
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="mine", simple_value=4.0)]), 7)
    writer.close()
    (name,) = os.listdir(folder)
    events = list(tf.train.summary_iterator(os.path.join(folder, name)))
    graphs = [tf.GraphDef.FromString(e.graph_def) for e in events if e.HasField("graph_def")]
    return [n.name for n in graphs[0].node], [(e.step, v.tag) for e in events for v in e.summary.value], writer.get_logdir() == folder


def writer_cache(tf):
    folder = tempfile.mkdtemp()
    cache = tf.summary.FileWriterCache
    same = cache.get(folder) is cache.get(folder)
    cache.clear()
    return same


def names(tf):
    tf.summary.scalar("a b", 1.0)
    tf.summary.scalar("c", 1.0, family="f")
    return nodes(tf)
