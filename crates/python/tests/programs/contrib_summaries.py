"""`tf.contrib.summary`: event files that operations write, read back."""

import glob
import os
import re
import tempfile

from programs.tools import mistakes, names


def _events(tf, folder):
    """Returns what the event files of a folder hold, without times."""
    out = []
    for path in sorted(glob.glob(os.path.join(folder, "*"))):
        for event in tf.train.summary_iterator(path):
            values = []
            for v in event.summary.value:
                kind = v.WhichOneof("value")
                value = getattr(v, kind)
                if kind == "simple_value":
                    shown = value
                elif kind == "histo":
                    shown = [value.min, value.max, value.num, value.sum, value.sum_squares]
                elif kind == "image":
                    shown = [value.height, value.width, value.colorspace]
                elif kind == "audio":
                    shown = [value.sample_rate, value.num_channels, value.length_frames, value.content_type]
                else:
                    shown = [tf.make_ndarray(value).tolist(), v.metadata.plugin_data.plugin_name]
                values.append([v.tag, kind, shown])
            out.append([event.step, event.file_version != '', values, bool(event.graph_def)])
    return sorted(out)


def _trained(tf, build, steps=4, graph=None):
    """Returns the events of a few steps."""
    folder = tempfile.mkdtemp()
    step = tf.train.create_global_step()
    more = tf.assign_add(step, 1)
    summary = tf.contrib.summary
    with summary.create_file_writer(folder).as_default():
        made = build(step)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            summary.initialize(graph=graph, session=sess)
            values = []
            for _ in range(steps):
                values.append(sess.run(summary.all_summary_ops()))
                sess.run(more)
            sess.run(summary.flush())
    return [re.sub("(_[0-9]+)?:0", "", m.name) for m in made if "Merge" not in m.name], values, _events(tf, folder)


def every_kind(tf):
    summary = tf.contrib.summary
    x = tf.constant([[1.0, -2.0], [0.5, 4.0]])

    def build(step):
        with summary.always_record_summaries():
            data = tf.SummaryMetadata(plugin_data=tf.SummaryMetadata.PluginData(plugin_name="mine"))
            return [
                summary.scalar("loss", tf.cast(step, tf.float32) * 2.0),
                summary.histogram("weights", x, family="net"),
                summary.image("picture", tf.zeros([2, 3, 5, 3]), max_images=2),
                summary.audio("sound", tf.zeros([1, 10, 2]), 8000.0, 1),
                summary.generic("values", tf.constant([1, 2, 3]), metadata=data),
                summary.generic("words", tf.constant(["a"]), step=7),
            ]

    return _trained(tf, build, 2)


def every_n_steps(tf):
    summary = tf.contrib.summary

    def build(step):
        with summary.record_summaries_every_n_global_steps(2):
            a = summary.scalar("even", step)
            with summary.never_record_summaries():
                b = summary.scalar("none", step)
        return [a, b, summary.scalar("unasked", step)]

    return _trained(tf, build, 5)


def scopes(tf):
    summary = tf.contrib.summary

    def build(step):
        with summary.always_record_summaries(), tf.name_scope("outer"):
            made = [summary.scalar("loss", 1.0), summary.scalar("loss", 2.0, family="f")]
            with tf.name_scope("inner"):
                return made + [summary.scalar("a b", 3.0)]

    return _trained(tf, build, 1)


def in_a_loop(tf):
    summary = tf.contrib.summary

    def build(step):
        with summary.always_record_summaries():

            def body(i):
                written = summary.scalar("i", i, step=tf.cast(i, tf.int64))
                with tf.control_dependencies([written]):
                    return i + 1

            last = tf.while_loop(lambda i: i < 3, body, [0], parallel_iterations=1)
        del tf.get_collection_ref("_SUMMARY_V2")[:]
        tf.add_to_collection("_SUMMARY_V2", last)
        return [last]

    return _trained(tf, build, 1)


def with_a_graph(tf):
    return _trained(tf, lambda step: [], 0, tf.get_default_graph())


def graphs_and_events(tf):
    summary = tf.contrib.summary
    event = tf.Event(step=9, summary=tf.Summary(value=[tf.Summary.Value(tag="given", simple_value=2.5)])).SerializeToString()

    def build(step):
        made = [summary.graph(tf.constant(tf.GraphDef().SerializeToString()), step=3), summary.import_event(tf.constant(event))]
        for m in made:
            tf.add_to_collection("_SUMMARY_V2", m)
        return made

    return _trained(tf, build, 1)[2]


def without_a_writer(tf):
    summary = tf.contrib.summary
    with summary.always_record_summaries():
        made = [summary.scalar("loss", 1.0), summary.flush(), summary.graph(tf.placeholder(tf.string))]
    with summary.create_file_writer(None).as_default():
        made.append(summary.scalar("loss", 1.0))
    with tf.Session() as sess:
        return [m.type for m in made], sess.run(made[0]), summary.all_summary_ops(), summary.summary_writer_initializer_op()


def recording(tf):
    summary = tf.contrib.summary
    made = [summary.should_record_summaries()]
    with summary.always_record_summaries():
        made.append(summary.should_record_summaries())
        with summary.record_summaries_every_n_global_steps(3, tf.constant(6)):
            made.append(summary.should_record_summaries())
    made.append(summary.should_record_summaries())
    with tf.Session() as sess:
        return sess.run(made), summary.eval_dir("m"), summary.eval_dir("m", "x"), names(tf)


def closing(tf):
    folder = tempfile.mkdtemp()
    summary = tf.contrib.summary
    writer = summary.create_file_writer(folder, max_queue=1, flush_millis=1, filename_suffix=".mine", name="closing")
    tf.train.create_global_step()
    with writer.as_default(), summary.always_record_summaries():
        loss = summary.scalar("loss", 3.0, step=2)
    with tf.Session() as sess:
        sess.run(writer.init())
        sess.run(loss)
        sess.run(writer.init())
        sess.run(loss)
        sess.run(writer.close())
    return [os.path.basename(p).rpartition(".")[2] for p in glob.glob(folder + "/*")], _events(tf, folder)


def mistaken(tf):
    summary = tf.contrib.summary

    def too_early():
        with summary.create_file_writer(tempfile.mkdtemp()).as_default(), summary.always_record_summaries():
            return summary.scalar("loss", 1.0, step=1)

    def without_a_session():
        with summary.create_file_writer(tempfile.mkdtemp()).as_default():
            summary.initialize()

    def of_words():
        with summary.create_file_writer(tempfile.mkdtemp()).as_default(), summary.always_record_summaries():
            return summary.scalar("loss", "a", step=1)

    return mistakes(tf, initialize=lambda: summary.initialize(), graph=lambda: summary.graph(tf.get_default_graph()), session=without_a_session)
