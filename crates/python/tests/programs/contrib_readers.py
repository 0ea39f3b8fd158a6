"""`tf.contrib.learn`'s batches of files, runs in sessions of their own, old summaries, parts of
`framework`."""

import os
import tempfile

import numpy as np

from programs.tools import WHOLE, caught, mistakes, run


def _lines(n_files=2, n=3):
    folder = tempfile.mkdtemp()
    for i in range(n_files):
        with open(os.path.join(folder, "lines-%d" % i), "w") as f:
            f.write("".join("%d.%d\n" % (i, j) for j in range(n)))
    return os.path.join(folder, "lines-*")


def _records(tf, n=4):
    path = os.path.join(tempfile.mkdtemp(), "records")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(n):
            feature = {"x": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])), "y": tf.train.Feature(float_list=tf.train.FloatList(value=[float(i)] * i))}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    return path


def _until_the_end(tf, fetches):
    out = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        try:
            while True:
                out.append(sess.run(fetches))
        except tf.errors.OutOfRangeError:
            pass
        coord.request_stop()
        coord.join(threads)
    return out


def lines(tf):
    learn = tf.contrib.learn
    pattern = _lines()
    keys, made = learn.read_keyed_batch_examples(pattern, 4, tf.TextLineReader, randomize_input=False, num_epochs=1)
    got = _until_the_end(tf, [keys, made])
    return made.name, str(made.shape), [[os.path.basename(k.decode()) for k in ks] for ks, _ in got], [list(ls) for _, ls in got]


def lines_at_once(tf):
    made = tf.contrib.learn.read_batch_examples(_lines(), 3, tf.TextLineReader, randomize_input=False, num_epochs=1, read_batch_size=3, name="mine")
    return made.name, [list(ls) for ls in _until_the_end(tf, made)]


def shuffled_lines(tf):
    made = tf.contrib.learn.read_batch_examples(_lines(), 2, tf.TextLineReader, num_epochs=2, queue_capacity=20)
    return made.name, sorted(line for ls in _until_the_end(tf, made) for line in ls)


def parsed_lines(tf):
    keys, made = tf.contrib.learn.read_keyed_batch_examples(
        _lines(1), 3, tf.TextLineReader, randomize_input=False, num_epochs=1, parse_fn=lambda line: {"number": tf.string_to_number(line)}
    )
    return sorted(made), [list(values) for values in _until_the_end(tf, made["number"])]


def features(tf):
    path = _records(tf)
    shapes = {"x": tf.FixedLenFeature([], tf.int64), "y": tf.VarLenFeature(tf.float32)}
    keys, batch = tf.contrib.learn.read_keyed_batch_features(path, 2, shapes, tf.TFRecordReader, randomize_input=False, num_epochs=1, num_enqueue_threads=1)
    got = _until_the_end(tf, [batch["x"], batch["y"].values])
    return batch["x"].name, str(batch["x"].shape), got, sorted(s.op.name.rpartition("/")[2] for s in tf.get_collection(tf.GraphKeys.SUMMARIES))


def features_alone(tf):
    shapes = {"x": tf.FixedLenFeature([], tf.int64)}
    made = tf.contrib.learn.read_batch_features(_records(tf), 2, shapes, tf.TFRecordReader, num_epochs=1)
    more = tf.contrib.learn.read_batch_record_features(_records(tf), 2, shapes, num_epochs=1)
    return sorted(np.concatenate(_until_the_end(tf, made["x"])).tolist()), sorted(np.concatenate(_until_the_end(tf, more["x"])).tolist())


def reading_refused(tf):
    learn, pattern = tf.contrib.learn, _lines()
    read = lambda *a, **k: learn.read_batch_examples(*a, reader=tf.TextLineReader, **k)
    return mistakes(
        tf,
        none=lambda: read([], 2),
        capacity=lambda: read(pattern, 2, queue_capacity=0),
        batch=lambda: read(pattern, 10, queue_capacity=10),
        threads=lambda: read(pattern, 2, num_threads=0),
        epochs=lambda: read(pattern, 2, num_epochs=-1),
        at_once=lambda: read(pattern, 2, read_batch_size=0),
    )


def runs(tf):
    learn = tf.contrib.learn
    x = tf.placeholder(tf.float32, [])
    v = tf.Variable(1.0)
    y = v.assign_add(x)
    folder = tempfile.mkdtemp()
    with tf.Session() as sess:
        sess.run(v.assign(10.0))
        path = tf.train.Saver().save(sess, folder + "/model")
    return learn.run_feeds({"y": y}, [{x: 1.0}, {x: 2.0}]), learn.run_n({"y": y}, {x: 3.0}, n=2), learn.infer(path, {"y": y}, {x: 5.0}), caught(lambda: learn.run_n({}), WHOLE)


def old_summaries(tf):
    old = tf.contrib.deprecated
    made = [
        old.scalar_summary(["a b", "c"], [1.0, 2.0]),
        old.scalar_summary("d", 3.0),
        old.histogram_summary("h", [1.0, 2.0], name="mine"),
        old.image_summary("i", tf.zeros([1, 2, 2, 1]), max_images=1),
        old.audio_summary("s", tf.zeros([1, 4]), 8000.0, max_outputs=1),
    ]
    merged = [old.merge_summary(made[:2]), old.merge_all_summaries()]
    tags = [[v.tag for v in tf.Summary.FromString(m).value] for m in run(tf, made + merged)]
    return [m.name for m in made + merged], tags, old.merge_all_summaries("none")


def parts_of_framework(tf):
    framework = tf.contrib.framework
    x, y = tf.placeholder(tf.float32, [None, 1], name="x"), tf.placeholder(tf.float32, name="y")
    a, b = framework.remove_squeezable_dimensions(x, y)
    c, d = framework.remove_squeezable_dimensions(tf.ones([2, 1]), tf.ones([2]))
    total = framework.reduce_sum_n([tf.constant([[1, 2]], name="one"), tf.constant(3, name="two")])
    step = tf.train.create_global_step()
    with tf.Graph().as_default():
        other = tf.constant(1, name="other")
    return [
        [t.name for t in framework.get_placeholders(tf.get_default_graph())],
        [str(t.shape) for t in (a, b, c, d)],
        [v.shape for v in run(tf, [a, b], {x: np.ones([2, 1]), y: np.ones([2])})],
        [total.name, run(tf, total)],
        framework.assert_or_get_global_step() is step,
        framework.prepend_name_scope("a", "s"),
        framework.strip_name_scope("s/a", "s"),
        framework.get_graph_from_inputs([x, 3]) is x.graph,
        mistakes(
            tf,
            graphs=lambda: framework.get_graph_from_inputs([x, other]),
            passed=lambda: framework.get_graph_from_inputs([x], other.graph),
            nothing=lambda: framework.reduce_sum_n([]),
            placeholders=lambda: framework.get_placeholders(3),
        ),
    ]
