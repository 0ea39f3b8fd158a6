"""Internal names of images, tables, parsing, sparse tensors, random numbers, files and summaries."""

import os
import tempfile

import numpy as np

from programs.tools import WHOLE, caught, inside, mistakes, run, static

METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")


def _image(*shape):
    return (np.random.RandomState(3).randint(0, 256, shape) / 255.0).astype(np.float32)


def resizing_by_name(tf):
    ops = inside("python.ops.image_ops")
    x, out = _image(2, 5, 4, 3), []
    for method in METHODS:
        for size in ([3, 7], [10, 8], [5, 4]):
            for antialias in (False, True):
                y = ops.resize_images_v2(x, size, method, antialias=antialias)
                out.append([static(y), np.round(run(tf, y).astype(np.float64), 3)])
    return out


def resizing_by_name_in_other_ways(tf):
    ops = inside("python.ops.image_ops")
    x = _image(5, 4, 3)
    late = tf.placeholder_with_default(tf.constant(x), [None, None, 3])
    results = [
        ops.resize_images_v2((x * 255).astype(np.uint8), [3, 7], ops.ResizeMethod.LANCZOS3),
        ops.resize_images_v2(late, [3, 7], ops.ResizeMethod.GAUSSIAN, preserve_aspect_ratio=True),
        ops.resize_image_with_pad_v2(x, 9, 7, "mitchellcubic", True),
        ops.resize_image_with_pad_v2(x[None], 3, 7),
        ops.resize_image_with_pad_v1(x, 3, 7),
        ops.resize_images(x, [3, 7], ops.ResizeMethodV1.AREA),
        tf.gradients(ops.resize_images_v2(late, [3, 7], "lanczos3", antialias=True), late)[0],
    ]
    wrong = mistakes(
        tf,
        method=lambda: ops.resize_images_v2(x, [3, 7], "nope"),
        rank=lambda: ops.resize_images_v2(x[0], [3, 7]),
        width=lambda: ops.resize_image_with_pad_v2(x, 3, 0),
    )
    return static(*results), [np.round(v.astype(np.float64), 2) for v in run(tf, results)], wrong


def checks_of_images(tf):
    ops = inside("python.ops.image_ops_impl")
    x = tf.constant(_image(5, 4, 3))
    some, any_rank = tf.placeholder(tf.float32, [None, 2, 3]), tf.placeholder(tf.float32)
    wrong = mistakes(
        tf,
        rank=lambda: ops._Check3DImage(tf.zeros([4, 3])),
        static=lambda: ops._Check3DImage(tf.placeholder(tf.float32)),
        empty=lambda: ops._Check3DImage(tf.placeholder(tf.float32, [0, 2, 3])),
        least=lambda: ops._CheckAtLeast3DImage(tf.zeros([4, 3])),
        some=lambda: ops._CheckAtLeast3DImage(tf.placeholder(tf.float32, [None, 2, 3])),
        grays=lambda: ops._CheckGrayscaleImage(tf.placeholder(tf.float32, [None, 2, 1])),
        gray=lambda: ops._CheckGrayscaleImage(tf.zeros([4, 3, 2])),
        pair=lambda: ops._verify_compatible_image_shapes(tf.zeros([5, 4, 3]), tf.zeros([2, 4, 3])),
        value=lambda: ops._assert(False, ValueError, "words"),
    )
    counts = [len(ops._Check3DImage(x)), len(ops._Check3DImage(some, False)), len(ops._CheckAtLeast3DImage(any_rank, False))]
    sizes = [ops._ImageDimensions(x, 3), ops._ImageDimensions(some, 3)[1:]]
    values = [
        ops._fspecial_gauss(3, 1.5),
        *ops._ssim_helper(x, x * 0.5, lambda v: v * 0.3, 1.0, 2.0, 0.02, 0.04),
        ops._rot90_3D(x, 3, "turned"),
        ops._flip(x, 1, "flipped"),
        ops.fix_image_flip_shape(x, tf.identity(x)),
    ]
    return wrong, counts, sizes, static(*values), [np.round(v.astype(np.float64), 5) for v in run(tf, values)]


def dense_tables(tf):
    ops = inside("python.ops.lookup_ops")
    table = ops.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-1, initial_num_buckets=4)
    keys = tf.constant([11, 12, 13, 15], tf.int64)
    with tf.Session() as sess:
        sess.run(table.insert(keys[:3], tf.constant([1, 2, 3], tf.int64)))
        first = sess.run([table.size(), table.lookup(keys)])
        sess.run(table.erase(keys[:1]))
        return table.name, first, sess.run([table.size(), table.lookup(keys)])


def names_of_tables(tf):
    ops = inside("python.ops.lookup_ops")
    table = ops.index_table_from_tensor(vocabulary_list=["a", "b"], num_oov_buckets=1, name="outer/inner")
    back = ops.index_to_string_table_from_tensor(vocabulary_list=["a", "b"], name="other")
    static_table = ops.StaticHashTableV1(ops.KeyValueTensorInitializer(["a"], [1]), -1, name="mine")
    buckets = ops.IdTableWithHashBuckets(None, 2)
    words = tf.constant(["b", "c"])
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        found = sess.run([table.lookup(words), back.lookup(tf.constant([1, 5], tf.int64)), static_table.lookup(words), buckets.size()])
    return [t.name for t in (table, back, static_table, buckets)], found, isinstance(static_table, ops.StaticHashTable)


def refused_tables(tf):
    ops = inside("python.ops.lookup_ops")
    entries = lambda: ops.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))  # noqa: E731
    return mistakes(
        tf,
        spec=lambda: ops.IdTableWithHashBuckets(ops.HashTable(entries(), -1), 2, hasher_spec="a"),
        hasher=lambda: ops.index_table_from_tensor(["a"], 1, hasher_spec=ops.HasherSpec("my-awesome-hash", None)).lookup(tf.constant(["q"])),
        key_dtype=lambda: ops.IdTableWithHashBuckets(None, 2, key_dtype=tf.float32),
        words=lambda: ops.index_table_from_tensor(None),
        back=lambda: ops.index_to_string_table_from_tensor(None),
        checked=lambda: ops._check_table_dtypes(ops.HashTable(entries(), -1), tf.string, tf.int32),
    )


def _example(tf, **features):
    kinds = {int: ("int64_list", tf.train.Int64List), float: ("float_list", tf.train.FloatList), bytes: ("bytes_list", tf.train.BytesList)}
    made = {}
    for key, values in features.items():
        word, kind = kinds[type(values[0])]
        made[key] = tf.train.Feature(**{word: kind(value=values)})
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def raw_parsing(tf):
    ops = inside("python.ops.parsing_ops")
    one = _example(tf, a=[1.0, 2.0], s=[b"x", b"y"], n=[3])
    batch = ops._parse_example_raw([one], None, ["s"], [tf.string], ["a"], [tf.float32], {}, [[2]], "named")
    single = ops._parse_single_example_raw(one, "mine", ["s"], [tf.string], ["a"], [tf.float32], {}, [[2]])
    features = {"a": tf.FixedLenFeature([2], tf.float32), "n": tf.VarLenFeature(tf.int64), "q": tf.FixedLenSequenceFeature([2], tf.int64, True)}
    raw = ops._features_to_raw_params(features, [tf.FixedLenFeature, tf.VarLenFeature, tf.FixedLenSequenceFeature])
    sequence = ops._prepend_none_dimension(features)["q"].shape
    values = run(tf, [batch["a"], batch["s"].values, single["a"], single["s"].indices])
    names = [batch["a"].name, batch["s"].values.name, single["a"].name, single["s"].indices.name]
    wrong = mistakes(
        tf,
        nothing=lambda: ops._parse_example_raw([one]),
        types=lambda: ops._parse_example_raw([one], sparse_keys=["s"]),
        dense=lambda: ops._parse_example_raw([one], dense_keys=["a"], dense_types=[tf.float32, tf.int64]),
        sequences=lambda: ops._parse_single_sequence_example_raw(one),
        default=lambda: ops._parse_single_sequence_example_raw(
            one, feature_list_dense_keys=["z"], feature_list_dense_types=[tf.int64], feature_list_dense_shapes=[[]], feature_list_dense_defaults={"z": 1}
        ),
    )
    return values, names, raw, sequence, wrong


def refused_features(tf):
    one = _example(tf, a=[1.0, 2.0])
    named = tf.parse_example([one], {"a": tf.FixedLenFeature([2], tf.float32)}, name="pp")["a"].name
    return named, mistakes(
        tf,
        dense=lambda: tf.parse_example([one], {"a": tf.FixedLenFeature([2], tf.float64)}),
        sparse=lambda: tf.parse_example([one], {"a": tf.VarLenFeature(tf.int32)}),
        index=lambda: tf.parse_example([one], {"x": tf.SparseFeature(None, "v", tf.int64, 3)}),
        value=lambda: tf.parse_example([one], {"x": tf.SparseFeature("i", None, tf.int64, 3)}),
        serialized=lambda: tf.parse_example(tf.constant([1]), {"a": tf.FixedLenFeature([2], tf.float32)}),
    )


def inner_sparse_functions(tf):
    ops = inside("python.ops.sparse_ops")
    words = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [2, 2])
    numbers = tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [3, 4])
    held = ops._add_sparse_to_tensors_map(numbers)
    taken = ops._take_many_sparse_from_tensors_map(held.op, tf.expand_dims(held, 0), rank=3)
    back = ops.deserialize_sparse(tf.serialize_sparse(numbers), tf.float32, 2)
    values = [
        ops._sparse_cross([words, words]).values,
        ops._sparse_cross_hashed([words, words], 10).values,
        ops.sparse_expand_dims(numbers, 0).dense_shape,
        tf.sparse_tensor_to_dense(ops.sparse_eye(2, 3)),
        ops.sparse_reduce_sum_v2(numbers, 1),
        ops.sparse_reduce_max_v2(numbers, 0, output_is_sparse=True).values,
        taken.indices,
        back.values,
        ops._make_int64_tensor(3, "n"),
    ]
    wrong = mistakes(
        tf,
        one=lambda: ops._convert_to_sparse_tensor(3),
        many=lambda: ops._convert_to_sparse_tensors(3),
        number=lambda: ops._make_int64_tensor("a", "n"),
        crossed=lambda: ops._sparse_cross(words),
    )
    return run(tf, values), static(*values[:5], *values[6:]), wrong


def sparse_entries_of_unknown_shape(tf):
    parts = (tf.constant([[0, 0], [1, 2]], tf.int64), tf.constant([1.0, 2.0]), tf.constant([3, 4], tf.int64))
    unknown = tf.SparseTensor(*(tf.placeholder_with_default(part, None) for part in parts))
    kept = tf.sparse_retain(unknown, tf.placeholder_with_default(tf.constant([True, False]), None))
    return run(tf, kept)


def inner_random_functions(tf):
    random_ops = inside("python.ops.random_ops")
    stateless = inside("python.ops.stateless_random_ops")
    seeds = inside("python.framework.random_seed")
    values = [
        random_ops.parameterized_truncated_normal([5], seed=1),
        random_ops.parameterized_truncated_normal([2, 3], [0.0, 10.0], [1.0, 2.0], [-1.0, 8.0], [1.0, 12.0], seed=1),
        random_ops.random_poisson_v2([3], [2.0], seed=1),
        random_ops.multinomial_categorical_impl([[1.0, 2.0]], 3, tf.int32, 1),
        stateless.stateless_random_uniform([3], seed=[1, 2]),
        stateless.stateless_random_normal([3], seed=[1, 2]),
    ]
    return [np.round(v, 5) for v in run(tf, values)], [v.op.type for v in values], seeds.DEFAULT_GRAPH_SEED, seeds._truncate_seed(2**40 + 5)


def strings_of_any_rank(tf):
    words = tf.constant([["a b", "c"], ["", "d e f"]])
    split = tf.strings.split(words)
    rows = tf.strings.split(words, result_type="RaggedTensor")
    single = tf.strings.split("a b", result_type="RaggedTensor")
    return run(tf, [split, single]), static(split.indices, single), run(tf, rows.flat_values), caught(lambda: tf.strings.split(input=["a"], source=["a"]), "Cannot specify both 'source' and 'input'")


def positions_in_files(tf):
    path = os.path.join(tempfile.mkdtemp(), "a")
    with tf.gfile.GFile(path, "w") as out:
        out.write("12345678")
        out.write(b"")
        told = [out.tell(), caught(lambda: out.read(), WHOLE), caught(lambda: out.seek(0), WHOLE), caught(lambda: out.write(3), WHOLE)]
    f = tf.gfile.GFile(path)
    f.seek(-2, 2)
    last = f.read()
    f.seek(1)
    f.seek(2, 1)
    here = f.tell()
    wrong = [
        caught(lambda: f.seek(-1), "Seeking to a negative position"),
        caught(lambda: f.seek(100), "reached end of file"),
        caught(lambda: f.seek(1, 5), WHOLE),
        caught(lambda: f.seek(offset=1, position=2), WHOLE),
        caught(lambda: f.seek(), WHOLE),
        caught(lambda: f.write("a"), WHOLE),
    ]
    both = tf.gfile.GFile(path, "w+")
    both.write("zz\r\n\u00e9")
    both.flush()
    return told, last, here, wrong, both.read(), both.read(), tf.gfile.Stat(path).length, tf.gfile.GFile(path).readlines()


def refused_files(tf):
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "f")
    open(path, "w").close()
    closed = tf.python_io.TFRecordWriter(os.path.join(folder, "r"))
    closed.close()
    kinds = [
        caught(lambda: tf.gfile.DeleteRecursively(path))[0],
        caught(lambda: tf.gfile.DeleteRecursively(os.path.join(folder, "none")))[0],
        caught(lambda: tf.gfile.ListDirectory(path), "Could not find directory "),
        caught(lambda: tf.gfile.Exists(None), WHOLE),
        caught(lambda: tf.python_io.TFRecordWriter(folder), "Is a directory"),
        caught(lambda: list(tf.python_io.tf_record_iterator(folder)), "Is a directory"),
        caught(lambda: tf.python_io.TFRecordWriter(3), WHOLE),
        caught(lambda: closed.flush(), WHOLE),
        caught(lambda: tf.python_io.TFRecordWriter(os.path.join(folder, "s")).write("abc"), WHOLE),
    ]
    tf.gfile.MakeDirs(path)
    return kinds, os.path.exists(path), type(tf.gfile.Stat(path)).__name__


def names_of_summaries(tf):
    util, ops, logging_ops = (inside("python.ops." + name) for name in ("summary_op_util", "summary_ops_v2", "logging_ops"))
    tags = [util.clean_tag(tag) for tag in ("a b(c)", "a/b", "/a", None)]
    none = logging_ops.get_summary_op()
    tf.summary.scalar("x", 1.0)
    made = logging_ops.get_summary_op()
    with tf.name_scope("outer"), ops.summary_scope("in(ner)") as inner:
        scopes = inner
    with ops.summary_scope("") as other:
        scopes += other
    ops.set_step(7)
    step = ops.get_step()
    ops.set_step(None)
    return tags, none, made is logging_ops.get_summary_op(), made.op.type, scopes, step, ops.get_step()


def files_of_plugins(tf):
    assets = inside("python.summary.plugin_asset")

    class Notes(assets.PluginAsset):
        plugin_name = "notes"

        def assets(self):
            return {"notes.txt": "a note"}

    class Others(Notes):
        pass

    class Nameless(Notes):
        plugin_name = None

    held = assets.get_plugin_asset(Notes)
    with tf.Graph().as_default() as graph:
        apart = assets.get_plugin_asset(Others)
        wrong = [caught(lambda: assets.get_plugin_asset(Nameless), WHOLE)]
    wrong.append(caught(lambda: assets.get_plugin_asset(Others), WHOLE))
    folder = tempfile.mkdtemp()
    tf.summary.FileWriter(folder, tf.get_default_graph()).close()
    with open(os.path.join(folder, "plugins", "notes", "notes.txt")) as f:
        text = f.read()
    same = [held is assets.get_plugin_asset(Notes), apart in assets.get_all_plugin_assets(graph), len(assets.get_all_plugin_assets())]
    return wrong, text, same


def files_of_events(tf):
    writers = inside("python.summary.writer.event_file_writer")
    folder = tempfile.mkdtemp()
    writer = writers.EventFileWriter(folder, filename_suffix=".mine")
    before = len(os.listdir(folder))
    writer.add_event(tf.Event(step=3))
    writer.flush()
    found = [name[-5:] for name in os.listdir(folder)]
    path = os.path.join(folder, os.listdir(folder)[0])
    writer.close()
    steps = [[event.step, event.file_version] for event in tf.train.summary_iterator(path)]
    empty = tempfile.mkdtemp()
    tf.summary.FileWriter(empty).close()
    graph = tempfile.mkdtemp()
    tf.summary.FileWriter(graph, graph_def=tf.GraphDef()).close()
    kinds = [event.WhichOneof("what") for event in tf.train.summary_iterator(os.path.join(graph, os.listdir(graph)[0]))]
    wrong = [
        caught(lambda: list(tf.train.summary_iterator(3)), WHOLE),
        caught(lambda: list(tf.train.summary_iterator(os.path.join(folder, "none"))))[0],
        caught(lambda: tf.summary.FileWriter("/proc/none/x"))[0],
    ]
    return before, found, steps, os.listdir(empty), kinds, wrong


def written_summaries_by_public_names(tf):
    writer = tf.contrib.summary.create_file_writer(tempfile.mkdtemp())
    tf.train.create_global_step()
    with writer.as_default(), tf.contrib.summary.always_record_summaries():
        made = tf.contrib.summary.scalar("x", 1.0)
        found = tf.summary.all_v2_summary_ops()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            tf.summary.initialize(graph=tf.get_default_graph(), session=sess)
            values = sess.run(found)
    with tf.Graph().as_default():
        return values, found == [made], caught(lambda: tf.summary.initialize(), WHOLE)
