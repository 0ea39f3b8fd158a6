"""`tf.data.experimental`: grouping, sparse batches, optional elements, files of rows and examples."""

import os
import tempfile

import numpy as np

from programs.tools import caught, mistakes


def _passes(tf, dataset, count=4):
    it = tf.data.make_initializable_iterator(dataset)
    x = it.get_next()
    with tf.Session() as sess:
        sess.run(it.initializer)
        found = []
        for _ in range(count):
            try:
                found.append(sess.run(x))
            except tf.errors.OutOfRangeError:
                found.append("end")
                break
        return found


def grouped(tf):
    e = tf.data.experimental
    total = e.Reducer(lambda key: (np.int64(0), key), lambda s, x: (s[0] + x, s[1]), lambda s, key: (key, s))
    numbers = tf.data.Dataset.from_tensor_slices(np.array([5, -3, 8, 2, 9, -4], np.int64))
    dataset = numbers.apply(e.group_by_reducer(lambda x: x % 3 - 1, total))
    pairs = tf.data.Dataset.from_tensor_slices((np.array([1, 0, 1], np.int64), ["a", "b", "c"]))
    words = pairs.apply(e.group_by_reducer(lambda k, w: k, e.Reducer(lambda k: "", lambda s, x: s + x[1], lambda s: s)))
    return _passes(tf, dataset), _passes(tf, words), dataset.output_types, words.output_shapes


def sparse_batches(tf):
    e = tf.data.experimental
    rows = tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n))
    words = tf.data.Dataset.from_tensor_slices([b"a", b"b"]).map(lambda w: tf.fill([1, 2], w))
    made = [rows.apply(e.dense_to_sparse_batch(2, [4])), rows.apply(e.dense_to_sparse_batch(3, [None])), words.apply(e.dense_to_sparse_batch(2, [2, 2]))]
    pairs = tf.data.Dataset.zip((rows, rows))
    return [_passes(tf, d) for d in made], [repr(d.element_spec) for d in made], caught(lambda: pairs.apply(e.dense_to_sparse_batch(2, [4])))


def optional(tf):
    e = tf.data.experimental
    it = tf.data.Dataset.range(2).make_one_shot_iterator()
    x = e.get_next_as_optional(it)
    some = e.Optional.from_value({"a": 1, "b": tf.SparseTensor([[0]], [2.0], [3])})
    none = e.Optional.none_from_structure(tf.TensorSpec([], tf.int32))
    value, has = x.get_value(), x.has_value()
    with tf.Session() as sess:
        found = [sess.run([value, has]) for _ in range(2)] + [sess.run(has)]
        found += [sess.run([some.has_value(), none.has_value()]), sess.run(some.get_value())]
        missing = caught(lambda: sess.run(none.get_value()))
    return found, missing, repr(x.value_structure), tf.OptionalSpec.from_value(none) == tf.OptionalSpec(tf.TensorSpec([], tf.int32))


def variants(tf):
    e = tf.data.experimental
    numbers = tf.data.Dataset.range(3).map(lambda x: (x, x + 1))
    same = e.from_variant(e.to_variant(numbers), e.get_structure(numbers))
    kinds = e.DatasetStructure is tf.data.DatasetSpec, e.Structure is tf.TypeSpec, e.OptionalStructure is tf.OptionalSpec
    specs = repr(e.TensorStructure(tf.int32, [2])), repr(e.SparseTensorStructure(tf.int32, [2])), e.INFINITE_CARDINALITY, e.UNKNOWN_CARDINALITY
    return _passes(tf, same, 2), kinds, specs, mistakes(tf, other=lambda: e.get_structure(1))


def devices(tf):
    e = tf.data.experimental
    numbers = tf.data.Dataset.range(2)
    return _passes(tf, numbers.apply(e.copy_to_device("/cpu:0")))


def _file(text):
    name = os.path.join(tempfile.mkdtemp(), "rows.csv")
    with open(name, "w") as out:
        out.write(text)
    return name


ROWS = "x,y,word,big\n1,2.5,a,5000000000\n,,,7\n3,4,\"c,d\",NA\n"


def rows_of_csv(tf):
    e = tf.data.experimental
    name = _file(ROWS)
    all_of = e.CsvDataset(name, [tf.constant([7], tf.int32), 0.5, "none", tf.constant([0], tf.int64)], header=True, na_value="NA")
    some = e.CsvDataset([name, name], [tf.constant(["?"]), tf.int64], header=True, select_cols=[2, 3], na_value="NA")
    semicolons = e.CsvDataset(_file("1;\"2\n3;4\n"), [tf.int32, tf.string], field_delim=";", use_quote_delim=False)
    one = e.CsvDataset(_file("1\n2\n"), [tf.float64])
    types = [(d.output_types, d.output_shapes) for d in (all_of, some, semicolons, one)]
    return _passes(tf, all_of), _passes(tf, some, 2), _passes(tf, semicolons), _passes(tf, one), types


def batches_of_csv(tf):
    make = tf.data.experimental.make_csv_dataset
    name, order = _file(ROWS.replace("NA", "")), dict(shuffle=False, num_epochs=1)
    made = [
        make(name, 2, **order),
        make(name, 2, label_name="word", **order),
        make(name, 3, select_columns=["word", 0], **order),
        make(name, 2, column_names=["a", "b", "c", "d"], column_defaults=[0, 0.0, "z", tf.constant(0, tf.int64)], **order),
        make(name, 2, shuffle=False),
        make([name, name], 3, select_columns=[0], column_defaults=[[7]], num_parallel_reads=2, num_epochs=2, shuffle=False),
    ]
    return [([_sorted(x) for x in _passes(tf, d, 5)], _sorted(d.output_types) if isinstance(d.output_types, dict) else len(d.output_types)) for d in made]


def _sorted(x):
    if isinstance(x, tuple):
        return tuple(_sorted(part) for part in x)
    return list(x.items()) if isinstance(x, dict) else x


def shuffled_csv(tf):
    name = _file("x\n" + "\n".join(str(n) for n in range(12)) + "\n")
    make = tf.data.experimental.make_csv_dataset
    return [[x if x == "end" else x["x"] for x in _passes(tf, make(name, 4, shuffle_seed=3, num_epochs=n), 5)] for n in (1, 2, None)]


def csv_that_cannot_be(tf):
    make, name = tf.data.experimental.make_csv_dataset, _file(ROWS)
    return mistakes(
        tf,
        empty=lambda: make([], 1),
        duplicates=lambda: make(name, 1, column_names=["a", "a", "b", "c"]),
        header=lambda: make(name, 1, header=False),
        label=lambda: make(name, 1, label_name="z"),
        column=lambda: make(name, 1, select_columns=["z"]),
        number=lambda: make(name, 1, select_columns=[9]),
        twice=lambda: make(name, 1, select_columns=["x", 0]),
        defaults=lambda: make(name, 1, select_columns=["x"], column_defaults=[1, 2]),
        fields=lambda: make(_file("a,b\n1\n"), 1),
    )


def _examples(tf):
    name = os.path.join(tempfile.mkdtemp(), "examples.tfrecord")
    with tf.python_io.TFRecordWriter(name) as writer:
        for n in range(5):
            feature = {"n": tf.train.Feature(int64_list=tf.train.Int64List(value=[n])), "v": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5] * n))}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    return name, {"n": tf.FixedLenFeature([], tf.int64), "v": tf.VarLenFeature(tf.float32)}


def batches_of_examples(tf):
    make = tf.data.experimental.make_batched_features_dataset
    name, features = _examples(tf)
    plain = make(name, 2, features, shuffle=False, num_epochs=1)
    label = make(name, 3, features, label_key="n", shuffle=False, drop_final_batch=True, num_epochs=1)
    mixed = make(name, 5, features, shuffle_seed=2)
    found = [_passes(tf, plain), _passes(tf, label), [x["n"] for x in _passes(tf, mixed, 3)]]
    return found, plain.output_types, label.output_shapes, mistakes(tf, label=lambda: make(name, 2, features, label_key="z"), reader=lambda: make(name, 2, features, reader=tf.TFRecordReader))


def parsed_batches(tf):
    name, features = _examples(tf)
    parse = tf.data.experimental.parse_example_dataset
    dataset = tf.data.TFRecordDataset(name).batch(2).apply(parse(features))
    return _passes(tf, dataset), mistakes(tf, none=lambda: parse(None), scalars=lambda: tf.data.TFRecordDataset(name).apply(parse(features)))


def options(tf):
    options, e = tf.data.Options(), tf.data.experimental
    names = sorted(n for n in dir(options) if n.startswith("experimental"))
    inner = options.experimental_optimization, options.experimental_threading, options.experimental_stats, options.experimental_distribute
    found = [[n for n in sorted(dir(o)) if not n.startswith("_")] for o in inner]
    options.experimental_deterministic = False
    options.experimental_threading.private_threadpool_size = 3
    options.experimental_optimization.map_vectorization.enabled = True
    kinds = isinstance(inner[0], e.OptimizationOptions), isinstance(inner[0].map_vectorization, e.MapVectorizationOptions), isinstance(inner[2], e.StatsOptions)

    def wrong():
        options.experimental_deterministic = 3

    def unknown():
        options.other = 3

    merged = tf.data.Options().merge(options)
    values = merged.experimental_deterministic, merged.experimental_threading.private_threadpool_size, merged.experimental_optimization.map_vectorization.enabled, inner[2].prefix, inner[2].latency_all_edges
    return names, found, kinds, values, mistakes(tf, wrong=wrong, unknown=unknown), options == tf.data.Options(), merged == options


def inner_names(tf):
    from importlib import import_module

    if hasattr(tf, "as_tensorflow"):
        tf.as_tensorflow()
    ops, readers = import_module("tensorflow.python.data.ops.dataset_ops"), import_module("tensorflow.python.data.ops.readers")
    numbers = ops.DatasetV1.range(3)
    found = ops.get_legacy_output_types(numbers), ops.get_legacy_output_shapes(numbers), ops.get_legacy_output_classes(numbers) is tf.Tensor
    return found, isinstance(numbers, ops.DatasetV2), repr(ops.get_structure(numbers)), issubclass(readers.TFRecordDatasetV1, ops.DatasetV2)
