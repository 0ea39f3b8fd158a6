"""Columns of `tf.contrib.layers`: inputs, linear models, sequences, and records that hold their features."""

import os
import tempfile

import numpy as np

from programs.raised import WHOLE, caught


def _run(tf, *fetches):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return sess.run(list(fetches))


def _features(tf):
    return {
        "price": tf.constant([[1.0], [5.0], [-2.0]]),
        "size": tf.constant([[1.0, 2.0], [0.5, 9.0], [3.0, 3.0]]),
        "word": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["red", "blue", "odd"], [3, 2]),
        "count": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [0.5, 2.0, 3.0], [3, 2]),
        "kind": tf.constant([[1], [2], [7]], tf.int64),
        "tags": tf.constant([["a", "b"], ["", "c"], ["a", "a"]]),
        "line": tf.SparseTensor([[0, 0], [1, 0], [2, 0]], ["y", "x", "z"], [3, 1]),
    }


def _columns(tf):
    path = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(path, "w") as f:
        f.write("x\ny\n")
    c = tf.contrib.layers
    price = c.real_valued_column("price")
    size = c.real_valued_column("size", 2, normalizer=lambda x: x - 1.0)
    word = c.sparse_column_with_keys("word", ["red", "blue", "green"])
    kind = c.sparse_column_with_integerized_feature("kind", 5)
    tags = c.sparse_column_with_hash_bucket("tags", 6)
    line = c.sparse_column_with_vocabulary_file("line", path, num_oov_buckets=1, vocab_size=2)
    return price, c.bucketized_column(price, [0.0, 3.0, 3.0]), c.bucketized_column(size, [0.0, 2.0]), size, word, kind, tags, line


def inputs(tf):
    c = tf.contrib.layers
    price, buckets, pairs, size, word, kind, tags, line = _columns(tf)
    columns = [price, buckets, pairs, size] + [c.one_hot_column(x) for x in (word, kind, tags, line)]
    columns.append(c.one_hot_column(c.weighted_sparse_column(word, "count")))
    outs = {}
    layer = c.input_from_feature_columns(_features(tf), columns, cols_to_outs=outs)
    return layer.name, layer.dtype, _run(tf, layer), sorted(column.name for column in outs)


def names_and_keys(tf):
    c = tf.contrib.layers
    price, buckets, pairs, size, word, kind, tags, line = _columns(tf)
    every = [price, buckets, pairs, size, word, kind, tags, c.one_hot_column(word), c.embedding_column(kind, 2)]
    every.append(c.weighted_sparse_column(word, "count"))
    spec = c.create_feature_spec_for_parsing(every)
    kept = {key: (type(v).__name__, v.dtype, getattr(v, "shape", None)) for key, v in spec.items()}
    return [x.name for x in every], [x.key for x in every if x is not pairs], [x.length for x in every[1:3] + every[4:]], kept


def embeddings(tf):
    c = tf.contrib.layers
    price, buckets, pairs, size, word, kind, tags, line = _columns(tf)
    start = tf.constant_initializer(np.arange(12.0).reshape(6, 2)[:5], dtype=tf.float32)
    columns = [
        c.embedding_column(kind, 2, initializer=start),
        c.embedding_column(tags, 2, combiner="sum", initializer=tf.constant_initializer(np.arange(12.0).reshape(6, 2), dtype=tf.float32), trainable=False),
        c.embedding_column(c.weighted_sparse_column(word, "count"), 2, combiner="sqrtn", initializer=tf.ones_initializer(), max_norm=0.5),
    ]
    layer = c.input_from_feature_columns(_features(tf), columns)
    names = [(v.name, v.shape) for v in tf.model_variables()], [v.name for v in tf.trainable_variables()]
    first, second, third, fourth = (c.sparse_column_with_hash_bucket(key, 4) for key in ("b", "a", "c", "d"))
    two = c.shared_embedding_columns([first, second], 2, initializer=tf.constant_initializer(np.arange(8.0).reshape(4, 2), dtype=tf.float32))
    features = {"a": tf.constant([["u"], ["v"]]), "b": tf.constant([["v"], ["w"]])}
    shared = c.input_from_feature_columns(features, two)
    named = [x.shared_embedding_name for x in two + c.shared_embedding_columns([first, second, third, fourth], 2)]
    return names, _run(tf, layer, shared), named, [v.name for v in tf.global_variables()][3:], type(two).__name__


def weighted_sums(tf):
    c = tf.contrib.layers
    price, buckets, pairs, size, word, kind, tags, line = _columns(tf)
    columns = [price, size, buckets, pairs, word, kind, tags, line, c.weighted_sparse_column(word, "count")]
    out, variables, bias = c.weighted_sum_from_feature_columns(_features(tf), columns, 2)
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for i, v in enumerate(tf.global_variables()):
            sess.run(v.assign(np.arange(float(np.prod(v.shape.as_list()))).reshape(v.shape.as_list()) + i))
        values = sess.run(out)
    return out.shape, values, bias.name, [(v.name, v.shape) for v in tf.global_variables()], sorted((k.name, len(v)) for k, v in variables.items())


def joint_sums(tf):
    c = tf.contrib.layers
    price, buckets, pairs, size, word, kind, tags, line = _columns(tf)
    out, variables, bias = c.joint_weighted_sum_from_feature_columns(_features(tf), [kind, tags, line], 2)
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        sess.run(variables[0].assign(np.arange(28.0).reshape(14, 2)))
        return sess.run(out), [v.name for v in variables], bias.name


def sequences(tf):
    c = tf.contrib.layers
    kind = c.sparse_column_with_integerized_feature("kind", 3)
    features = {
        "size": tf.constant(np.arange(12.0).reshape(2, 3, 2), tf.float32),
        "kind": tf.SparseTensor([[0, 0], [0, 1], [1, 2]], tf.constant([1, 2, 0], tf.int64), [2, 3]),
    }
    columns = [c.real_valued_column("size", 2), c.one_hot_column(kind), c.embedding_column(kind, 2, initializer=tf.ones_initializer())]
    layer = c.sequence_input_from_feature_columns(features, columns)
    return layer.name, _run(tf, layer), [v.name for v in tf.global_variables()]


def records(tf):
    c = tf.contrib.layers
    price, buckets, pairs, size, word, kind, tags, line = _columns(tf)
    feature = tf.train.Feature
    example = tf.train.Example(
        features=tf.train.Features(
            feature={
                "price": feature(float_list=tf.train.FloatList(value=[5.0])),
                "word": feature(bytes_list=tf.train.BytesList(value=[b"blue", b"odd"])),
                "kind": feature(int64_list=tf.train.Int64List(value=[7])),
            }
        )
    ).SerializeToString()
    made = c.parse_feature_columns_from_examples([example], [price, buckets, word, c.one_hot_column(kind)])
    kept = _run(tf, made[price], made[buckets], made["price"], made[word].values, made[c.one_hot_column(kind)].values)
    changed = c.transform_features(_features(tf), [size, kind])
    holders = c.make_place_holder_tensors_for_base_features([size, word])
    inferred = c.infer_real_valued_columns({"x": tf.zeros([4, 2, 3])}) + c.infer_real_valued_columns(tf.zeros([4, 2], tf.int32))
    return (
        kept,
        sorted(k if isinstance(k, str) else k.name for k in made),
        _run(tf, changed[size], changed[kind].values) + [len(changed)],
        (holders["size"].name, holders["size"].shape, holders["word"].dtype),
        [x.key for x in inferred],
    )


def with_core_functions(tf):
    c = tf.contrib.layers
    price, buckets, pairs, size, word, kind, tags, line = _columns(tf)
    layer = tf.feature_column.input_layer(_features(tf), [price, pairs, c.one_hot_column(kind), c.embedding_column(word, 2, initializer=tf.ones_initializer())])
    linear = tf.feature_column.linear_model(_features(tf), [size, kind, tags])
    return _run(tf, layer, linear), [v.name for v in tf.global_variables()]


def hashed_twice(tf):
    c = tf.contrib.layers
    column = c.sparse_column_with_hash_bucket("tags", 6, hash_keys=[[1, 2], [3, 4]])
    numbers = c.sparse_column_with_hash_bucket("kind", 9, dtype=tf.int64)
    layer = c.input_from_feature_columns(_features(tf), [c.one_hot_column(column), c.one_hot_column(numbers)])
    return _run(tf, layer), column.length


def wrong(tf):
    c = tf.contrib.layers
    price, buckets, pairs, size, word, kind, tags, line = _columns(tf)
    features = _features(tf)
    return [
        caught(lambda: c.sparse_column_with_hash_bucket("x", 0), WHOLE),
        caught(lambda: c.sparse_column_with_hash_bucket("x", 3, dtype=tf.float32), WHOLE),
        caught(lambda: c.sparse_column_with_hash_bucket("x", 3, hash_keys=[1]), WHOLE),
        caught(lambda: c.sparse_column_with_integerized_feature("x", None), WHOLE),
        caught(lambda: c.sparse_column_with_integerized_feature("x", 3, dtype=tf.string), WHOLE),
        caught(lambda: c.sparse_column_with_vocabulary_file("x", "y"), WHOLE),
        caught(lambda: c.weighted_sparse_column(word, "count", tf.string), WHOLE),
        caught(lambda: c.bucketized_column(word, [1.0]), "source_column must be an instance of _RealValuedColumn"),
        caught(lambda: c.bucketized_column(price, []), WHOLE),
        caught(lambda: c.bucketized_column(price, [2.0, 1.0]), WHOLE),
        caught(lambda: c.embedding_column(word, 2, initializer=1), WHOLE),
        caught(lambda: c.shared_embedding_columns([], 2), WHOLE),
        caught(lambda: c.shared_embedding_columns([word, kind], 2), WHOLE),
        caught(lambda: c.shared_embedding_columns([price, kind], 2), "Elements of sparse_id_columns must be"),
        caught(lambda: c.check_feature_columns([price, price]), "Duplicate feature column key found for column: price"),
        caught(lambda: c.check_feature_columns({"a": price}), WHOLE),
        caught(lambda: c.input_from_feature_columns(features, [word]), "Error creating input layer for column: word"),
        caught(lambda: c.weighted_sum_from_feature_columns(features, [c.embedding_column(word, 2)], 1), "Error creating weighted sum for column"),
        caught(lambda: c.joint_weighted_sum_from_feature_columns(features, [price], 1), WHOLE),
        caught(lambda: c.joint_weighted_sum_from_feature_columns(features, [c.weighted_sparse_column(word, "count")], 1), WHOLE),
        caught(lambda: c.sequence_input_from_feature_columns(features, [buckets]), WHOLE),
    ]


def estimators_of_columns(tf):
    c, learn = tf.contrib.layers, tf.contrib.learn
    kind = c.sparse_column_with_integerized_feature("kind", 3)
    start = tf.constant_initializer(np.arange(6.0).reshape(3, 2), dtype=tf.float32)
    columns = [c.real_valued_column("x"), c.embedding_column(kind, 2, initializer=start)]
    model = learn.DNNRegressor([2], columns, model_dir=tempfile.mkdtemp())
    model.fit(input_fn=lambda: ({"x": tf.constant([[1.0], [2.0]]), "kind": tf.constant([[0], [2]], tf.int64)}, tf.constant([[1.0], [3.0]])), steps=2)
    return [(name, model.get_variable_value(name).shape) for name in model.get_variable_names() if "Adagrad" not in name and name.startswith("dnn/input")]
