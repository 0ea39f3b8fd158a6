"""`slim`'s data providers: files of examples, read in parallel, decoded, and prefetched."""

import os
import tempfile

import numpy as np

from programs.tools import caught, mistakes


def _example(tf, i):
    features = tf.train.Features(
        feature={
            "x": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i + 0.5, -i, 0.25])),
            "rows": tf.train.Feature(int64_list=tf.train.Int64List(value=[2])),
            "columns": tf.train.Feature(int64_list=tf.train.Int64List(value=[2])),
            "word": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"b" if i % 2 else b"a"])),
            "indices": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 3])),
            "values": tf.train.Feature(float_list=tf.train.FloatList(value=[i, 2 * i])),
            "box/ymin": tf.train.Feature(float_list=tf.train.FloatList(value=[0.1, 0.2])),
            "box/xmin": tf.train.Feature(float_list=tf.train.FloatList(value=[0.3, 0.4])),
            "box/ymax": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, 0.6])),
            "box/xmax": tf.train.Feature(float_list=tf.train.FloatList(value=[0.7, 0.8])),
        }
    )
    return tf.train.Example(features=features).SerializeToString()


def _files(tf, n_files=2, n_each=3):
    folder = tempfile.mkdtemp()
    for k in range(n_files):
        with tf.python_io.TFRecordWriter(os.path.join(folder, "part-%d" % k)) as writer:
            for i in range(n_each):
                writer.write(_example(tf, k * n_each + i))
    return folder


def _decoder(tf):
    decoding = tf.contrib.slim.tfexample_decoder
    features = {
        "x": tf.VarLenFeature(tf.float32),
        "rows": tf.FixedLenFeature([1], tf.int64),
        "columns": tf.FixedLenFeature([1], tf.int64),
        "word": tf.FixedLenFeature((), tf.string, default_value=""),
        "indices": tf.VarLenFeature(tf.int64),
        "values": tf.VarLenFeature(tf.float32),
        "missing": tf.VarLenFeature(tf.float32),
    }
    features.update({"box/" + side: tf.VarLenFeature(tf.float32) for side in ("ymin", "xmin", "ymax", "xmax")})
    items = {
        "x": decoding.Tensor("x", shape_keys=["rows", "columns"]),
        "flat": decoding.Tensor("x", shape=[4]),
        "word": decoding.Tensor("word"),
        "sparse": decoding.SparseTensor(shape=[5], densify=True),
        "box": decoding.BoundingBox(None, "box/"),
        "sum": decoding.ItemHandlerCallback(["rows", "columns"], lambda found: found["rows"] + found["columns"]),
        "backup": decoding.BackupHandler(decoding.Tensor("missing"), decoding.Tensor("x")),
    }
    return decoding.TFExampleDecoder(features, items)


def decoding(tf):
    decoder = _decoder(tf)
    items = sorted(decoder.list_items())
    example = tf.placeholder(tf.string, [])
    tensors = decoder.decode(example, items)
    with tf.Session() as sess:
        return items, sess.run(tensors, {example: _example(tf, 3)}), [t.shape for t in tensors]


def decoding_all(tf):
    decoder = _decoder(tf)
    found = dict(zip(decoder.list_items(), decoder.decode(tf.constant(_example(tf, 1)))))
    with tf.Session() as sess:
        return sess.run(found)


def looking_up(tf):
    slim = tf.contrib.slim
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"])
    handler = slim.tfexample_decoder.LookupTensor("word", table, shape=[1])
    decoder = slim.tfexample_decoder.TFExampleDecoder({"word": tf.FixedLenFeature((1,), tf.string)}, {"id": handler})
    [ids] = decoder.decode(tf.constant(_example(tf, 1)), ["id"])
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        return sess.run(ids), handler.keys


def _dataset(tf, **kwargs):
    sources = os.path.join(_files(tf), "part-*")
    return tf.contrib.slim.dataset.Dataset(sources, tf.TFRecordReader, _decoder(tf), 6, {"x": "a matrix"}, **kwargs)


def providing(tf):
    slim = tf.contrib.slim
    dataset = _dataset(tf, num_classes=2)
    provider = slim.dataset_data_provider.DatasetDataProvider(dataset, shuffle=False, num_epochs=1)
    x, word, key = provider.get(["x", "word", "record_key"])
    found = []
    with tf.train.MonitoredSession() as sess:
        while not sess.should_stop():
            values = sess.run([x, word, key])
            found.append((values[0], values[1], os.path.basename(values[2].decode())))
    return found, list(provider.list_items()), provider.num_samples(), dataset.num_classes, [q.name for q in tf.get_collection("queue_runners")]


def providing_shuffled(tf):
    tf.set_random_seed(3)
    slim = tf.contrib.slim
    provider = slim.dataset_data_provider.DatasetDataProvider(_dataset(tf), num_readers=1, common_queue_capacity=12, common_queue_min=2, seed=7)
    [x] = provider.get(["word"])
    batch = tf.train.batch([x], batch_size=3, num_threads=1, capacity=9)
    queue = slim.prefetch_queue.prefetch_queue([batch], capacity=2)
    values = queue.dequeue()
    with tf.train.MonitoredSession() as sess:
        shapes = [sess.run(values).shape for _ in range(4)]
    return shapes, values.shape, [s.op.name for s in tf.get_collection("summaries")], [r.name for r in tf.get_collection("queue_runners")]


def prefetching_names(tf):
    queue = tf.contrib.slim.prefetch_queue.prefetch_queue({"b": tf.constant([1, 2]), "a": tf.constant("x")}, capacity=3, num_threads=2, name="ahead")
    got = queue.dequeue()
    with tf.train.MonitoredSession() as sess:
        return sess.run(got), queue.name, queue.names, {k: v.name for k, v in got.items()}


def prefetching_unknown_shapes(tf):
    x = tf.placeholder_with_default(np.zeros([2, 3], np.float32), [None, 3])
    queue = tf.contrib.slim.prefetch_queue.prefetch_queue([x], dynamic_pad=True)
    got = queue.dequeue()
    with tf.train.MonitoredSession() as sess:
        return sess.run(got), got.shape


def reading_once(tf):
    slim = tf.contrib.slim
    folder = _files(tf)
    _, data = slim.parallel_reader.single_pass_read([os.path.join(folder, "part-1"), os.path.join(folder, "part-0")], tf.TFRecordReader)
    word = tf.parse_single_example(data, {"x": tf.FixedLenFeature([4], tf.float32)})["x"][0]
    found = []
    with tf.train.MonitoredSession() as sess:
        while not sess.should_stop():
            found.append(sess.run(word))
    return found


def reading_by_several(tf):
    reading = tf.contrib.slim.parallel_reader
    folder = _files(tf)
    names = tf.train.string_input_producer(reading.get_data_files(os.path.join(folder, "*")), num_epochs=1)
    queue = tf.FIFOQueue(20, [tf.string, tf.string], shapes=[[], []])
    reader = reading.ParallelReader(tf.TFRecordReader, queue, num_readers=2)
    _, values = reader.read_up_to(names, 4)
    first = tf.parse_example(values, {"x": tf.FixedLenFeature([4], tf.float32)})["x"][:, 0]
    counts = reader.num_records_produced(), reader.num_work_units_completed()
    found = []
    with tf.train.MonitoredSession() as sess:
        while not sess.should_stop():
            found.extend(sess.run(first).tolist())
    return sorted(found), [c.dtype for c in counts], reader.common_queue is queue


def wrong(tf):
    slim = tf.contrib.slim
    decoding = slim.tfexample_decoder
    return mistakes(
        tf,
        sources=lambda: slim.parallel_reader.get_data_files("/nowhere/at/all-*"),
        none=lambda: slim.parallel_reader.get_data_files([]),
        sides=lambda: decoding.BoundingBox(["a", "b"]),
        shapes=lambda: decoding.Tensor("x", shape_keys="n", shape=[2]),
        backup=lambda: decoding.BackupHandler(decoding.Tensor("x"), 1),
        handler=lambda: decoding.BackupHandler(1, decoding.Tensor("x")),
        queue=lambda: slim.parallel_reader.ParallelReader(tf.TFRecordReader, tf.FIFOQueue(3, [tf.string])),
        dtypes=lambda: slim.parallel_reader.ParallelReader(tf.TFRecordReader, tf.FIFOQueue(3, [tf.string, tf.int32])),
    )


def wrong_items(tf):
    provider = tf.contrib.slim.dataset_data_provider.DatasetDataProvider(_dataset(tf))
    key = caught(lambda: tf.contrib.slim.dataset_data_provider.DatasetDataProvider(_dataset(tf), record_key="x"), "`record_key` cannot also be used")
    return caught(lambda: provider.get(["y"]), "Item [y] is invalid"), key


def reshaping_sparse(tf):
    a = tf.SparseTensor([[0], [3]], [1.0, 2.0], [4])
    fed = tf.sparse_placeholder(tf.float32)
    made = [
        tf.sparse_reshape(a, [2, 2]),
        tf.sparse_reshape(a, [2, -1]),
        tf.sparse_reshape(a, tf.constant([-1, 2])),
        tf.sparse_reshape(fed, [1, 4]),
    ]
    with tf.Session() as sess:
        values = sess.run(made, {fed: ([[0], [3]], [1.0, 2.0], [4])})
    return values, [r.get_shape() for r in made], caught(lambda: tf.sparse_reshape(a, [3, 2]), "Cannot reshape a tensor with 4 elements")


def globbing(tf):
    folder = tempfile.mkdtemp()
    os.mkdir(os.path.join(folder, "s"))
    open(os.path.join(folder, "s", "b"), "w").close()
    found = [tf.gfile.Glob(os.path.join(folder, p)) for p in ("*/b", "?/b", "no", "no*/b", "s/*")]
    return [[os.path.relpath(name, folder) for name in names] for names in found], caught(lambda: tf.gfile.Glob(folder + "/x/*"), "No such file or directory")
