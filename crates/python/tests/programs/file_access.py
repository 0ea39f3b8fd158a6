"""`tf.gfile` and `tf.python_io`: files, directories, and record files."""

import os
import tempfile

from programs.tools import caught, run


def texts(tf):
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "a.txt")
    with tf.gfile.GFile(path, "w") as f:
        f.write("one\n")
        f.write("two\nthree")
    with tf.gfile.Open(path, "a") as f:
        f.write("!")
    with tf.gfile.FastGFile(path) as f:
        lines = [f.readline(), list(f)]
        size = f.size()
    with tf.gfile.GFile(path, "rb") as f:
        whole = f.read()
        f.seek(2)
        part = f.read(4), f.tell()
    return lines, size, whole, part


def folders(tf):
    g, top = tf.gfile, tempfile.mkdtemp()
    join = os.path.join
    g.MakeDirs(join(top, "a", "b"))
    g.MkDir(join(top, "c"))
    g.MkDir(join(top, "c"))
    with g.GFile(join(top, "a", "x.txt"), "w") as f:
        f.write("x")
    g.Copy(join(top, "a", "x.txt"), join(top, "c", "y.txt"))
    g.Rename(join(top, "a", "x.txt"), join(top, "c", "z.txt"))
    out = [
        sorted(g.ListDirectory(top)),
        sorted(os.path.basename(p) for p in g.Glob(join(top, "c", "*.txt"))),
        [g.Exists(join(top, p)) for p in ("a", "c/z.txt", "q")],
        [g.IsDirectory(join(top, p)) for p in ("a", "c/z.txt", "q")],
        g.Stat(join(top, "c", "z.txt")).length,
        sorted((os.path.relpath(w, top), sorted(d), sorted(f)) for w, d, f in g.Walk(top)),
        caught(lambda: g.Copy(join(top, "c", "y.txt"), join(top, "c", "z.txt")), "file already exists"),
        caught(lambda: g.ListDirectory(join(top, "none")), "Could not find directory"),
        caught(lambda: g.Remove(join(top, "none")), "No such file or directory"),
        caught(lambda: g.GFile(join(top, "none")).read(), "No such file or directory"),
    ]
    g.Remove(join(top, "c", "y.txt"))
    g.DeleteRecursively(join(top, "a"))
    return [str(o).replace(top, "TOP") if not isinstance(o, list) else o for o in out], sorted(g.ListDirectory(top))


def records_of_every_compression(tf):
    io = tf.python_io
    path = os.path.join(tempfile.mkdtemp(), "r")
    out = []
    for kind in (io.TFRecordCompressionType.NONE, io.TFRecordCompressionType.ZLIB, io.TFRecordCompressionType.GZIP):
        options = io.TFRecordOptions(kind)
        with io.TFRecordWriter(path, options) as writer:
            for record in (b"one", b"", b"three" * 100):
                writer.write(record)
        out.append([len(r) for r in io.tf_record_iterator(path, options)])
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        writer.write(b"last")
    out.append(list(tf.io.tf_record_iterator(path, tf.io.TFRecordOptions("GZIP"))))
    return out, caught(lambda: io.TFRecordOptions("LZ"), "Not a valid compression_type"), caught(lambda: list(io.tf_record_iterator("/nowhere/r")))


def records_through_a_reader(tf):
    path = os.path.join(tempfile.mkdtemp(), "r")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(3):
            feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[i, i * i]))
            writer.write(tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString())
    queue = tf.train.string_input_producer([path], num_epochs=1, shuffle=False)
    _, record = tf.TFRecordReader().read(queue)
    x = tf.parse_single_example(record, {"x": tf.FixedLenFeature([2], tf.int64)})["x"]
    batch = tf.train.batch([x], 2, allow_smaller_final_batch=True)
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        out = [sess.run(batch), sess.run(batch), caught(lambda: sess.run(batch))]
        coordinator.request_stop()
        coordinator.join(threads)
        return out


def image_and_audio_summaries(tf):
    images = tf.constant([[[[0.0], [0.5]], [[1.0], [0.25]]]])
    pictures = tf.constant([[[[0, 10, 255]]]], tf.uint8)
    made = [
        tf.summary.image("pictures", images),
        tf.summary.image("one picture", pictures, max_outputs=1, family="kin"),
        tf.summary.audio("sound", [[0.0, 0.5, -0.5]], 8000.0, max_outputs=1),
        tf.summary.merge_all(),
    ]
    out = []
    for text in run(tf, made):
        summary = tf.Summary.FromString(text)
        for value in summary.value:
            if value.HasField("image"):
                out.append([value.tag, value.image.height, value.image.width, value.image.colorspace, value.image.encoded_image_string[:4]])
            else:
                out.append([value.tag, value.audio.sample_rate, value.audio.num_channels, value.audio.length_frames, value.audio.content_type])
    return [t.name for t in made[:3]], out


def newer_names(tf):
    g, top = tf.io.gfile, tempfile.mkdtemp()
    join = os.path.join
    g.makedirs(join(top, "a", "b"))
    g.mkdir(join(top, "c"))
    with g.GFile(join(top, "a", "x.txt"), "w") as f:
        f.write("text")
    g.copy(join(top, "a", "x.txt"), join(top, "c", "y.txt"))
    twice = caught(lambda: g.copy(join(top, "a", "x.txt"), join(top, "c", "y.txt")))
    g.copy(join(top, "a", "x.txt"), join(top, "c", "y.txt"), overwrite=True)
    g.rename(join(top, "a", "x.txt"), join(top, "c", "z.txt"))
    short = lambda path: os.path.relpath(path, top)
    out = [
        sorted(g.listdir(top)),
        sorted(short(p) for p in g.glob(join(top, "c", "*.txt"))),
        sorted(short(p) for p in g.glob([join(top, "c", "y*"), join(top, "a")])),
        [g.exists(join(top, p)) for p in ("a", "c/z.txt", "q")],
        [g.isdir(join(top, p)) for p in ("a", "c/z.txt", "q")],
        g.stat(join(top, "c", "z.txt")).length,
        sorted((short(at), sorted(folders), sorted(files)) for at, folders, files in g.walk(top)),
        [short(at) for at, _, _ in g.walk(top, topdown=False)][-1],
    ]
    g.remove(join(top, "c", "z.txt"))
    g.rmtree(join(top, "c"))
    return out, twice, g.listdir(top), caught(lambda: g.remove(join(top, "q"))), caught(lambda: g.listdir(join(top, "q")))
