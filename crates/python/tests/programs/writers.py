"""Summary writers: events, order, graphs, errors; names and tags of summary ops."""

import os
import tempfile

import numpy as np

from programs.tools import WHOLE, caught, initialize, nodes, run


def _events(tf, folder):
    """Returns the contents of the only file in a directory, without times."""
    (name,) = os.listdir(folder)
    out = []
    for e in tf.train.summary_iterator(os.path.join(folder, name)):
        kind = e.WhichOneof("what")
        out.append((kind, e.step, [(v.tag, v.simple_value) for v in e.summary.value] if kind == "summary" else None))
    return out


def _summary(tf, tag="t", value=1.0):
    return tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value)])


def events_in_order(tf):
    folder = tempfile.mkdtemp()
    w = tf.summary.FileWriter(folder)
    w.add_summary(_summary(tf), 1)
    w.add_summary(_summary(tf, "u", 2.0).SerializeToString(), 2)
    w.add_summary(_summary(tf, "v", 3.0))
    w.close()
    return _events(tf, folder)


def name_of_the_file(tf):
    folder = os.path.join(tempfile.mkdtemp(), "made", "here")
    tf.summary.FileWriter(folder, filename_suffix=".mine").close()
    (name,) = os.listdir(folder)
    return name.startswith("events.out.tfevents."), name.endswith(".mine")


def graph_in_the_file(tf):
    folder = tempfile.mkdtemp()
    tf.constant(1, name="c")
    w = tf.summary.FileWriter(folder, tf.get_default_graph())
    w.close()
    (name,) = os.listdir(folder)
    for e in tf.train.summary_iterator(os.path.join(folder, name)):
        if e.graph_def:
            g = tf.GraphDef()
            g.ParseFromString(e.graph_def)
            return [n.name for n in g.node], [k for k, _, _ in _events(tf, folder)]
    return None


def graph_refused(tf):
    w = tf.summary.FileWriter(tempfile.mkdtemp())
    g = tf.get_default_graph()
    return caught(lambda: w.add_graph("x"), WHOLE), caught(lambda: w.add_graph(g, graph_def=g.as_graph_def()), WHOLE), caught(lambda: w.add_graph(None), WHOLE)


def session_logs_and_events(tf):
    folder = tempfile.mkdtemp()
    w = tf.summary.FileWriter(folder)
    w.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 4)
    w.add_event(tf.Event(step=9, wall_time=1.0, summary=_summary(tf)))
    w.close()
    return _events(tf, folder)


def run_metadata(tf):
    folder = tempfile.mkdtemp()
    w = tf.summary.FileWriter(folder)
    w.add_run_metadata(tf.RunMetadata(), "one", 1)
    again = caught(lambda: w.add_run_metadata(tf.RunMetadata(), "one", 2), WHOLE)
    w.close()
    return [k for k, _, _ in _events(tf, folder)], again


def after_closing(tf):
    folder = tempfile.mkdtemp()
    w = tf.summary.FileWriter(folder)
    w.add_summary(_summary(tf), 1)
    w.close()
    w.close()
    w.add_summary(_summary(tf), 2)
    return len(_events(tf, folder)), w.get_logdir() == folder


def as_a_block(tf):
    folder = tempfile.mkdtemp()
    with tf.summary.FileWriter(folder) as w:
        w.add_summary(_summary(tf), 1)
    return len(_events(tf, folder))


def flushed(tf):
    folder = tempfile.mkdtemp()
    w = tf.summary.FileWriter(folder)
    w.add_summary(_summary(tf), 1)
    w.flush()
    n = len(_events(tf, folder))
    w.close()
    return n


def steps_as_arrays(tf):
    folder = tempfile.mkdtemp()
    w = tf.summary.FileWriter(folder)
    for step in (np.int64(3), np.array(4), 5):
        w.add_summary(_summary(tf), step)
    w.close()
    return [s for _, s, _ in _events(tf, folder)]


def cached(tf):
    a, b = tempfile.mkdtemp(), tempfile.mkdtemp()
    get = tf.summary.FileWriterCache.get
    first = get(a)
    out = get(a) is first, get(b) is first
    tf.summary.FileWriterCache.clear()
    return out, get(a) is first


def tags_in_scopes(tf):
    with tf.name_scope("outer"):
        a = tf.summary.scalar("a b", tf.constant(1.0))
        b = tf.summary.scalar("x", tf.constant(1.0), family="fam")
    c = tf.summary.scalar("x", tf.constant(1.0))
    d = tf.summary.scalar("x", tf.constant(1.0))
    tags = []
    for t in (a, b, c, d):
        s = tf.Summary()
        s.ParseFromString(run(tf, t))
        tags.append(s.value[0].tag)
    return tags, [t.name for t in (a, b, c, d)]


def histogram_of_values(tf):
    s = tf.Summary()
    s.ParseFromString(run(tf, tf.summary.histogram("h", [1.0, 2.0, 2.0, -3.0])))
    h = s.value[0].histo
    return s.value[0].tag, h.min, h.max, h.num, h.sum, h.sum_squares, len(h.bucket_limit) == len(h.bucket)


def text_of_values(tf):
    s = tf.Summary()
    s.ParseFromString(run(tf, tf.summary.text("t", tf.constant(["a", "b"]))))
    v = s.value[0]
    return v.tag, v.metadata.plugin_data.plugin_name, list(v.tensor.string_val), [d.size for d in v.tensor.tensor_shape.dim]


def tensor_of_values(tf):
    s = tf.Summary()
    s.ParseFromString(run(tf, tf.summary.tensor_summary("t", tf.constant([1.0, 2.0]), summary_description="d", display_name="n")))
    v = s.value[0]
    return v.tag, v.tensor.dtype, v.metadata.display_name, v.metadata.summary_description


def collections(tf):
    tf.summary.scalar("a", tf.constant(1.0))
    tf.summary.scalar("b", tf.constant(1.0), collections=["mine"])
    tf.summary.histogram("c", tf.constant([1.0]), collections=[])
    merged = tf.summary.merge_all()
    return [len(tf.get_collection(k)) for k in (tf.GraphKeys.SUMMARIES, "mine")], merged.op.type, tf.summary.merge_all("none"), tf.summary.merge_all("mine").name


def merged(tf):
    a, b = tf.summary.scalar("a", tf.constant(1.0)), tf.summary.scalar("b", tf.constant(2.0))
    s = tf.Summary()
    s.ParseFromString(run(tf, tf.summary.merge([a, b])))
    return [(v.tag, v.simple_value) for v in s.value], tf.summary.merge([a], name="mine").name, caught(lambda: tf.summary.merge([]), WHOLE)


def merged_twice_the_same(tf):
    a = tf.summary.scalar("a", tf.constant(1.0))
    m = tf.summary.merge([a, a])
    return caught(lambda: run(tf, m), "Duplicate tag a found in summary inputs")


def refused(tf):
    return (
        caught(lambda: run(tf, tf.summary.scalar("a", tf.constant([1.0, 2.0])))),
        caught(lambda: tf.summary.scalar("a", tf.constant("s")), WHOLE),
        caught(lambda: tf.summary.histogram("h", tf.constant("s")), WHOLE),
        caught(lambda: tf.summary.text("t", tf.constant(1)), WHOLE),
        caught(lambda: run(tf, tf.summary.histogram("h", tf.constant([float("nan")])))),
    )
