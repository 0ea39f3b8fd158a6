"""Refusals of kernels and imports whose messages a program may look for, and gradients that are None."""

import os
import tempfile

import numpy as np

from programs.tools import mistakes


def _written(name, data):
    path = os.path.join(tempfile.mkdtemp(), name)
    with open(path, "wb") as f:
        f.write(data)
    return path


def _first(tf, dataset):
    it = tf.data.make_initializable_iterator(dataset)
    with tf.Session() as sess:
        sess.run(it.initializer)
        return sess.run(it.get_next())


def _all(tf, dataset):
    it = tf.data.make_initializable_iterator(dataset)
    x, found = it.get_next(), []
    with tf.Session() as sess:
        sess.run(it.initializer)
        try:
            while True:
                found.append(sess.run(x))
        except tf.errors.OutOfRangeError:
            return found


def no_gradients_by_parameters(tf):
    a = tf.constant(0.5)
    x = tf.zeros([1, 2, 2, 3])
    return [
        tf.gradients(tf.math.betainc(a, 2.0, 0.3), a) == [None],
        tf.gradients(tf.math.zeta(a + 2, 2.0), a) == [None],
        tf.gradients(tf.image.hsv_to_rgb(x), x) == [None],
        tf.gradients(tf.image.draw_bounding_boxes(x, tf.zeros([1, 1, 4])), x) == [None],
        tf.gradients(tf.math.betainc(1.5, 2.0, a), a)[0] is not None,
    ]


def no_gradient_on_purpose(tf):
    def prevented():
        x = tf.constant(1.0)
        return tf.gradients(tf.raw_ops.PreventGradient(input=x, message="no no"), x)

    return mistakes(tf, prevented=prevented)


def vocabularies(tf):
    def table(text, key=tf.lookup.TextFileIndex.WHOLE_LINE, value=tf.lookup.TextFileIndex.LINE_NUMBER, dtype=tf.int64, **given):
        init = tf.lookup.TextFileInitializer(_written("v", text), tf.string, key, dtype, value, **given)
        t = tf.lookup.StaticHashTable(init, tf.constant(0, dtype))
        with tf.Session() as sess:
            sess.run(tf.tables_initializer())
            return sess.run(t.size())

    return mistakes(
        tf,
        empty=lambda: table(b""),
        no_number=lambda: table(b"a x 1\n", 0, 1, delimiter=" "),
        no_float=lambda: table(b"a 1\nb x\n", 0, 1, tf.float32, delimiter=" "),
    )


def dense_tables(tf):
    def made(empty=0, deleted=-1, **given):
        keys = [tf.constant(k, tf.int64) for k in (empty, deleted)]
        return tf.raw_ops.MutableDenseHashTableV2(empty_key=keys[0], deleted_key=keys[1], value_dtype=tf.int64, **given)

    return mistakes(
        tf,
        equal=lambda: made(0, 0),
        shapes=lambda: made(0, [1]),
        three=lambda: made(initial_num_buckets=3),
        two=lambda: made(initial_num_buckets=2),
        load=lambda: made(max_load_factor=1.5),
    )


def files_of_records(tf):
    data = tf.data
    path = os.path.join(tempfile.mkdtemp(), "r")
    with tf.python_io.TFRecordWriter(path) as w:
        w.write(b"abc")
    with open(path, "rb") as f:
        whole = f.read()
    found = [
        _all(tf, data.TFRecordDataset(_written("r", whole + whole[:5]))),
        _all(tf, data.TFRecordDataset(_written("r", b"123"))),
        _all(tf, data.TFRecordDataset(path, "nope")),
    ]
    told = mistakes(
        tf,
        truncated=lambda: _all(tf, data.TFRecordDataset(_written("r", whole + whole[:13]))),
        corrupted=lambda: _first(tf, data.TFRecordDataset(_written("r", b"x" * 30))),
        uneven=lambda: _first(tf, data.FixedLengthRecordDataset(_written("f", b"123456789"), 4, 2, 1)),
        compression=lambda: _first(tf, data.TextLineDataset(_written("t", b"a"), "nope")),
    )
    return found, told


def parsing(tf):
    one = tf.train.SequenceExample().SerializeToString()
    return mistakes(
        tf,
        other_dtype=lambda: tf.io.parse_tensor(tf.io.serialize_tensor(1.5), tf.int32),
        context=lambda: tf.io.parse_single_sequence_example(one, {"z": tf.FixedLenFeature([], tf.int64)})[0]["z"],
        steps=lambda: tf.io.parse_single_sequence_example(one, {}, {"z": tf.FixedLenSequenceFeature([], tf.int64)})[1]["z"],
        junk=lambda: tf.io.parse_single_sequence_example(b"junk", {"z": tf.FixedLenFeature([], tf.int64)})[0]["z"],
        delimiter=lambda: tf.io.decode_csv(["1ab2"], [[1], [2]], field_delim="ab"),
    )


def summaries(tf):
    raw = tf.raw_ops
    return mistakes(
        tf,
        pixels=lambda: raw.ImageSummary(tag="a", tensor=tf.zeros([1, 0, 2, 1])),
        tags=lambda: raw.ImageSummary(tag=["a"], tensor=tf.zeros([1, 1, 2, 1])),
        rank=lambda: raw.ImageSummary(tag="a", tensor=tf.zeros([1, 1, 2])),
        sound=lambda: raw.AudioSummaryV2(tag=["a", "b"], tensor=[[1.0]], sample_rate=1.0),
        histogram=lambda: raw.HistogramSummary(tag=["a", "b"], values=1.0),
    )


def variables(tf):
    raw = tf.raw_ops

    def handle():
        v = tf.get_variable("v", initializer=1, use_resource=True)
        return v.handle

    def uninitialized():
        v, w = (tf.get_variable(n, initializer=1, use_resource=True) for n in "vw")
        with tf.Session() as sess:
            sess.run(v.initializer)
            sess.run(w.assign_add(1))

    def restored():
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        with tf.Session() as sess:
            sess.run(v.initializer)
            prefix = tf.train.Saver().save(sess, os.path.join(tempfile.mkdtemp(), "c"))
            sess.run(raw.RestoreV2(prefix=prefix, tensor_names=["v"], shape_and_slices=[""], dtypes=[tf.int32]))

    return mistakes(
        tf,
        read=lambda: raw.ReadVariableOp(resource=handle(), dtype=tf.float32),
        assign=lambda: raw.AssignVariableOp(resource=handle(), value=1.5),
        uninitialized=uninitialized,
        restored=restored,
    )


def imports(tf):
    from google.protobuf import text_format

    def get(text, **given):
        return lambda: tf.import_graph_def(text_format.Parse(text, tf.GraphDef()), name="pre", **given)

    const = (
        'node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } '
        'attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 } } } } '
    )
    identity = 'node { name: "%s" op: "Identity" input: "%s" attr { key: "T" value { type: DT_INT32 } } } '
    return mistakes(
        tf,
        newer=get("versions { producer: 200 min_consumer: 150 }"),
        excluded=get("versions { producer: 134 bad_consumers: 134 }"),
        negative=get("versions { producer: -1 }"),
        name=get('node { name: "A b" op: "NoOp" }'),
        control=get('node { name: "A" op: "NoOp" input: "^B" }'),
        order=get(const + 'node { name: "A" op: "NoOp" input: "^c" input: "c" }'),
        cycle=get(identity % ("A", "B") + identity % ("B", "A")),
        output=get(const + identity % ("A", "c:1")),
        attribute=get(const + 'node { name: "A" op: "Identity" input: "c" }'),
        nothing=get('node { name: "A" op: "IdentityN" attr { key: "T" value { list { } } } }'),
    )


def lists_of_nothing(tf):
    raw = tf.raw_ops
    return mistakes(
        tf,
        identity=lambda: raw.IdentityN(input=[]),
        queue=lambda: raw.FIFOQueueV2(component_types=[]),
        dataset=lambda: raw.TensorDataset(components=[], output_shapes=[]),
        merge=lambda: raw.Merge(inputs=[]),
        references=lambda: raw.RefMerge(inputs=[]),
        add=lambda: raw.AddN(inputs=[]),
    )


def bounds_of_loops(tf):
    def loop(bound):
        return tf.while_loop(lambda i: i < 9, lambda i: i + 1, [0], maximum_iterations=bound)

    values = [loop(1.5), loop(np.float32(3.0)), loop(tf.constant(2.5, tf.float64)), loop(tf.constant(2, tf.int16))]
    raw = tf.raw_ops
    a = raw.Enter(data=1, frame_name="f", parallel_iterations=1)
    b = raw.Enter(data=2, frame_name="f", parallel_iterations=2)
    with tf.Session() as sess:
        return sess.run(values), sess.run(raw.Exit(data=a + b))


def cached_in_a_file(tf):
    path = os.path.join(tempfile.mkdtemp(), "kept")
    data = tf.data.Dataset
    pairs = data.from_tensor_slices(([1, 2], ["a", "bb"]))
    found = [_first(tf, pairs.cache(path)), sorted(os.listdir(os.path.dirname(path)))]
    found += [_all(tf, pairs.cache(path)), sorted(os.listdir(os.path.dirname(path)))]
    found += [_all(tf, data.from_tensor_slices(([7], ["x"])).cache(path).repeat(2))]
    kept = tf.train.load_checkpoint(path)
    found += [sorted(kept.get_variable_to_shape_map().items()), kept.get_tensor("      1_1")]

    def two():
        cached = data.range(2).cache(path + "2")
        first, second = (tf.data.make_initializable_iterator(cached) for _ in range(2))
        with tf.Session() as sess:
            sess.run([first.initializer, second.initializer])
            sess.run(first.get_next())
            sess.run(second.get_next())

    return found, mistakes(tf, two=two, no_folder=lambda: _first(tf, data.range(2).cache(path + "/no/c")))
