"""Feature columns: numbers, buckets, categories, embeddings; models of them; records that hold them."""

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
    }


def _columns(tf):
    c = tf.feature_column
    price = c.numeric_column("price")
    size = c.numeric_column("size", shape=[2], normalizer_fn=lambda x: x - 1.0)
    word = c.categorical_column_with_vocabulary_list("word", ["red", "blue", "green"], num_oov_buckets=2)
    kind = c.categorical_column_with_identity("kind", 5, default_value=0)
    tags = c.categorical_column_with_hash_bucket("tags", 6)
    return price, c.bucketized_column(price, [0.0, 3.0]), size, word, kind, tags, c.weighted_categorical_column(word, "count")


def inputs(tf):
    c = tf.feature_column
    price, buckets, size, word, kind, tags, weighted = _columns(tf)
    columns = [price, buckets, size] + [c.indicator_column(x) for x in (word, kind, tags, weighted)]
    tensors = {}
    layer = c.input_layer(_features(tf), columns, cols_to_output_tensors=tensors)
    return layer.name, layer.shape, _run(tf, layer), sorted((column.name, t.shape) for column, t in tensors.items())


def names_and_specifications(tf):
    c = tf.feature_column
    price, buckets, size, word, kind, tags, weighted = _columns(tf)
    crossed = c.crossed_column([word, "other"], 10)
    embedded = c.embedding_column(word, 3)
    every = [price, buckets, size, word, kind, tags, weighted, crossed, embedded, c.indicator_column(kind)]
    spec = c.make_parse_example_spec(every)
    kept = {key: (type(v).__name__, v.dtype, getattr(v, "shape", None)) for key, v in spec.items()}
    return [x.name for x in every], kept, [repr(x) for x in every[:1] + every[3:6]]


def crossed(tf):
    c = tf.feature_column
    words = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2])
    numbers = tf.constant([[1, 2], [3, 4]])
    sparse = [tf.sparse.cross([words, numbers]), tf.sparse.cross_hashed([words, numbers]), tf.sparse.cross_hashed([numbers, words], 50, 7)]
    price, buckets, size, word, kind, tags, weighted = _columns(tf)
    pair = c.crossed_column([buckets, word], 20)
    triple = c.crossed_column([pair, "other"], 15, hash_key=3)
    features = {"price": [[1.0], [4.0]], "word": [["red"], ["gray"]], "other": [["x"], ["y"]]}
    features = {key: tf.constant(value) for key, value in features.items()}
    layer = c.input_layer(features, [c.indicator_column(pair), c.indicator_column(triple)])
    return _run(tf, [(s.indices, s.values, s.dense_shape) for s in sparse]), _run(tf, layer), pair.name, triple.name


def embeddings(tf):
    c = tf.feature_column
    word, kind, tags, weighted = _columns(tf)[3:]
    start = tf.constant_initializer(np.arange(30.0).reshape(-1, 2)[:5], dtype=tf.float32)
    kept = {}
    columns = [
        c.embedding_column(word, 2, initializer=start),
        c.embedding_column(weighted, 2, combiner="sum", initializer=start, trainable=False),
        c.embedding_column(kind, 2, combiner="sqrtn", initializer=start, max_norm=1.0),
    ]
    layer = c.input_layer(_features(tf), columns, cols_to_vars=kept)
    names = [v.name for v in tf.global_variables()], [v.name for v in tf.trainable_variables()]
    return names, _run(tf, layer), sorted((k.name, [v.name for v in vs]) for k, vs in kept.items())


def shared_embeddings(tf):
    c = tf.feature_column
    two = [c.categorical_column_with_identity(key, 4) for key in ("seen", "bought")]
    start = tf.constant_initializer(np.arange(8.0).reshape(4, 2), dtype=tf.float32)
    columns = c.shared_embedding_columns(two, dimension=2, initializer=start)
    layer = c.input_layer({"seen": [[1], [2]], "bought": [[3, 0], [0, 0]]}, columns)
    return [x.name for x in columns], [v.name for v in tf.global_variables()], _run(tf, layer)


def a_linear_model(tf):
    c = tf.feature_column
    price, buckets, size, word, kind, tags, weighted = _columns(tf)
    features, kept = _features(tf), {}
    out = c.linear_model(features, [price, buckets, size, word, kind, tags, weighted], cols_to_vars=kept)
    target = tf.constant([[1.0], [0.0], [2.0]])
    loss = tf.reduce_mean(tf.square(out - target))
    train = tf.train.GradientDescentOptimizer(0.02).minimize(loss)
    variables = sorted(tf.global_variables(), key=lambda v: v.name)
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        losses = [sess.run([loss, train])[0] for _ in range(8)]
        values = [(v.name, sess.run(v)) for v in variables]
        vars_of = sorted((k if isinstance(k, str) else k.name, [v.name for v in vs]) for k, vs in kept.items())
        return out.shape, losses, values, vars_of


def models_beside_each_other(tf):
    c = tf.feature_column
    price, buckets, size, word, kind, tags, weighted = _columns(tf)
    features = _features(tf)
    one = c.linear_model(features, [price, kind], units=2, sparse_combiner="mean")
    two = c.linear_model(features, [c.indicator_column(kind), c.embedding_column(word, 2, initializer=tf.ones_initializer())])
    three = c.input_layer(features, c.embedding_column(word, 2))
    return [t.shape for t in (one, two, three)], sorted(v.name for v in tf.global_variables())


def features_of_rank_one(tf):
    c = tf.feature_column
    kind = c.indicator_column(c.categorical_column_with_identity("kind", 3))
    layer = c.input_layer({"price": tf.constant([1.0, 2.0]), "kind": tf.constant([0, 2])}, [c.numeric_column("price"), kind])
    fed = tf.placeholder(tf.float32)
    unknown = c.input_layer({"price": fed}, [c.numeric_column("price")])
    with tf.Session() as sess:
        return _run(tf, layer), sess.run(unknown, {fed: [3.0, 4.0]}), sess.run(unknown, {fed: [[3.0], [4.0]]})


def words_of_a_file(tf):
    path = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(path, "w") as f:
        f.write("red\nblue\ngreen\n")
    c = tf.feature_column
    whole = c.categorical_column_with_vocabulary_file("word", path, num_oov_buckets=1)
    two = c.categorical_column_with_vocabulary_file("word", path, vocabulary_size=2, default_value=1)
    layers = [c.input_layer(_features(tf), [c.indicator_column(x)]) for x in (whole, two)]
    return _run(tf, *layers), whole.vocabulary_size, two.vocabulary_size


def integers_in_a_list(tf):
    c = tf.feature_column
    kind = c.categorical_column_with_vocabulary_list("kind", [7, 2, 1], default_value=0)
    return _run(tf, c.input_layer(_features(tf), [c.indicator_column(kind)])), kind.dtype


def records_to_a_model(tf):
    """Written, parsed with the columns' own specification, trained: a wide and deep model."""
    rng = np.random.RandomState(3)
    c = tf.feature_column
    path = os.path.join(tempfile.mkdtemp(), "data.tfrecord")
    words = ["red", "blue", "green", "odd"]
    with tf.python_io.TFRecordWriter(path) as writer:
        for _ in range(24):
            word, price, kind = words[rng.randint(4)], float(rng.normal()), int(rng.randint(4))
            label = price + kind + (word == "red")
            feature = {
                "price": tf.train.Feature(float_list=tf.train.FloatList(value=[price])),
                "word": tf.train.Feature(bytes_list=tf.train.BytesList(value=[word.encode()])),
                "kind": tf.train.Feature(int64_list=tf.train.Int64List(value=[kind])),
                "label": tf.train.Feature(float_list=tf.train.FloatList(value=[label])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    price = c.numeric_column("price")
    word = c.categorical_column_with_vocabulary_list("word", words[:3], num_oov_buckets=1)
    kind = c.categorical_column_with_identity("kind", 4)
    wide = [word, kind, c.bucketized_column(price, [-1.0, 0.0, 1.0])]
    deep = [price, c.indicator_column(kind), c.embedding_column(word, 2, initializer=tf.constant_initializer(0.1))]
    spec = c.make_parse_example_spec(wide + deep)
    spec["label"] = tf.FixedLenFeature([1], tf.float32)
    queue = tf.train.string_input_producer([path], shuffle=False)
    _, text = tf.TFRecordReader().read(queue)
    features = tf.parse_example(tf.train.batch([text], 8), spec)
    labels = features.pop("label")
    hidden = tf.layers.dense(
        c.input_layer(features, deep), 4, tf.nn.tanh, kernel_initializer=tf.constant_initializer(np.linspace(-1, 1, 28).reshape(7, 4))
    )
    out = c.linear_model(features, wide) + tf.layers.dense(hidden, 1, kernel_initializer=tf.constant_initializer(0.3))
    loss = tf.losses.mean_squared_error(labels, out)
    train = tf.train.AdagradOptimizer(0.3).minimize(loss)
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        losses = [sess.run([loss, train])[0] for _ in range(9)]
        coord.request_stop()
        coord.join(threads)
    return losses, sorted(v.name for v in tf.trainable_variables())


def refusals(tf):
    c = tf.feature_column
    price = c.numeric_column("price")
    word = c.categorical_column_with_hash_bucket("word", 3)
    features = {"price": tf.constant([[1.0]]), "word": tf.constant([["a"]])}
    return [
        caught(lambda: c.input_layer(features, [word]), "must be a _DenseColumn"),
        caught(lambda: c.input_layer(features, []), WHOLE),
        caught(lambda: c.input_layer(features, {"a": price}), WHOLE),
        caught(lambda: c.input_layer(features, [price, price]), "Duplicate feature column name found for columns"),
        caught(lambda: c.input_layer(features, [c.numeric_column("other")]), WHOLE),
        caught(lambda: c.numeric_column("a", shape=[0]), WHOLE),
        caught(lambda: c.numeric_column("a", shape=[1.5]), WHOLE),
        caught(lambda: c.numeric_column(3), "key must be a string"),
        caught(lambda: c.numeric_column("a", dtype=tf.string), WHOLE),
        caught(lambda: c.bucketized_column(price, [2, 1]), WHOLE),
        caught(lambda: c.bucketized_column(word, [1]), "source_column must be"),
        caught(lambda: c.categorical_column_with_hash_bucket("a", 0), WHOLE),
        caught(lambda: c.categorical_column_with_identity("a", 0), WHOLE),
        caught(lambda: c.categorical_column_with_identity("a", 3, default_value=3), WHOLE),
        caught(lambda: c.categorical_column_with_vocabulary_list("a", []), WHOLE),
        caught(lambda: c.categorical_column_with_vocabulary_list("a", ["x", "x"]), WHOLE),
        caught(lambda: c.categorical_column_with_vocabulary_list("a", ["x"], dtype=tf.int64), WHOLE),
        caught(lambda: c.categorical_column_with_vocabulary_list("a", ["x"], default_value=1, num_oov_buckets=1), WHOLE),
        caught(lambda: c.categorical_column_with_vocabulary_file("a", ""), WHOLE),
        caught(lambda: c.embedding_column(word, 0), WHOLE),
        caught(lambda: c.embedding_column(word, 1, ckpt_to_load_from="x"), WHOLE),
        caught(lambda: c.crossed_column(["a"], 3), WHOLE),
        caught(lambda: c.crossed_column(["a", word], 3), "categorical_column_with_hash_bucket is not supported for crossing"),
        caught(lambda: c.make_parse_example_spec([price, c.numeric_column("price", shape=[2])]), "contain different parse_spec for key price"),
        caught(lambda: c.input_layer({"price": tf.constant(1.0)}, [price]), "cannot have rank 0"),
        caught(lambda: _run(tf, c.linear_model({"k": [[5]]}, [c.categorical_column_with_identity("k", 3)]))),
    ]


def _sequences(tf):
    return {
        "rating": tf.SparseTensor([[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]], [1.0, 2.0, 3.0, 4.0, 5.0], [4, 3]),
        "pair": tf.SparseTensor([[0, 0], [0, 1], [0, 2], [0, 3], [2, 0], [2, 1], [2, 5]], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [4, 6]),
        "word": tf.SparseTensor([[0, 0], [0, 1], [2, 0], [2, 2]], ["red", "blue", "odd", "red"], [4, 3]),
        "kind": tf.SparseTensor([[0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 0, 0], [2, 2, 1]], tf.constant([1, 2, 0, 2, 1], tf.int64), [4, 3, 2]),
        "tags": tf.SparseTensor([[0, 0], [0, 1], [2, 2]], ["a", "b", "c"], [4, 3]),
        "line": tf.SparseTensor([[0, 0], [0, 1], [2, 2]], ["x", "y", "z"], [4, 3]),
    }


def sequences(tf):
    c, s = tf.feature_column, tf.contrib.feature_column
    path = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(path, "w") as f:
        f.write("x\ny\n")
    start = tf.constant_initializer(np.arange(10.0).reshape(5, 2), dtype=tf.float32)
    columns = [
        s.sequence_numeric_column("rating", default_value=-1.0),
        s.sequence_numeric_column("pair", shape=2, normalizer_fn=lambda x: tf.SparseTensor(x.indices, x.values * 2.0, x.dense_shape)),
        c.embedding_column(s.sequence_categorical_column_with_vocabulary_list("word", ["red", "blue", "green"], num_oov_buckets=2), 2, initializer=start),
        c.indicator_column(s.sequence_categorical_column_with_identity("kind", 3)),
        c.indicator_column(s.sequence_categorical_column_with_hash_bucket("tags", 4)),
        c.indicator_column(s.sequence_categorical_column_with_vocabulary_file("line", path, num_oov_buckets=1)),
    ]
    layer, lengths = s.sequence_input_layer(_sequences(tf), columns)
    names = [(v.name, v.shape) for v in tf.trainable_variables()]
    return layer.name, layer.shape, lengths.dtype, names, _run(tf, layer, lengths), c.make_parse_example_spec(columns[:4])


def sequences_of_embeddings(tf):
    c, s = tf.feature_column, tf.contrib.feature_column
    start = tf.constant_initializer(np.arange(6.0).reshape(3, 2), dtype=tf.float32)
    kind = s.sequence_categorical_column_with_identity("kind", 3)
    kept = []
    for combiner in ("mean", "sum"):
        layer, lengths = s.sequence_input_layer(_sequences(tf), c.embedding_column(kind, 2, combiner=combiner, initializer=start, trainable=False))
        kept.append(_run(tf, layer, lengths) + [layer.name])
    first, second = (s.sequence_categorical_column_with_identity(key, 3) for key in ("first", "second"))
    two = c.shared_embedding_columns([first, second], 2, initializer=start)
    features = {"first": tf.SparseTensor([[0, 0], [1, 0]], [1, 2], [2, 1]), "second": tf.SparseTensor([[0, 0], [1, 0]], [0, 0], [2, 1])}
    layer, lengths = s.sequence_input_layer(features, two)
    return kept, _run(tf, layer, lengths), [v.name for v in tf.global_variables()], len(tf.trainable_variables())


def wrong_sequences(tf):
    c, s = tf.feature_column, tf.contrib.feature_column
    features = _sequences(tf)
    kind = s.sequence_categorical_column_with_identity("kind", 3)
    plain = c.categorical_column_with_identity("kind", 3)
    uneven = dict(features, pair=tf.SparseTensor([[0, 0], [1, 0]], [1.0, 1.0], [4, 3]))
    two = [s.sequence_numeric_column("rating"), s.sequence_numeric_column("pair")]
    other = "categorical_column must not be of type"
    return [
        caught(lambda: c.input_layer(features, c.embedding_column(kind, 2)), "In embedding_column: kind_embedding", other),
        caught(lambda: c.input_layer(features, c.indicator_column(kind)), "In indicator_column: kind_indicator", other),
        caught(lambda: s.sequence_input_layer(features, c.embedding_column(plain, 2)), "In embedding_column: kind_embedding", "must be of type"),
        caught(lambda: s.sequence_input_layer(features, c.numeric_column("rating")), "must be of type _SequenceDenseColumn"),
        caught(lambda: s.sequence_numeric_column("x", shape=0), WHOLE),
        caught(lambda: s.sequence_numeric_column("x", dtype=tf.string), WHOLE),
        caught(lambda: s.sequence_numeric_column("x", normalizer_fn=1), WHOLE),
        caught(lambda: _run(tf, *s.sequence_input_layer(uneven, two))),
    ]


def members_of_columns(tf):
    c = tf.feature_column
    price, buckets, size, word, kind, tags, weighted = _columns(tf)
    dense = [price, buckets, size, c.indicator_column(kind), c.embedding_column(word, 3), c.sequence_numeric_column("steps", shape=(2, 3))]
    ids = [buckets, word, kind, tags, weighted, c.sequence_categorical_column_with_hash_bucket("steps", 7)]
    return [x.variable_shape for x in dense], [x.num_buckets for x in ids], [sorted(x.parse_example_spec) for x in dense + ids]


def inner_names(tf):
    from importlib import import_module

    if hasattr(tf, "as_tensorflow"):
        tf.as_tensorflow()
    old, new, steps, utils = (
        import_module("tensorflow.python.feature_column." + m) for m in ("feature_column", "feature_column_v2", "sequence_feature_column", "utils")
    )
    price, buckets, size, word, kind, tags, weighted = _columns(tf)
    kinds = [new.NumericColumn, new.BucketizedColumn, new.NumericColumn, new.VocabularyListCategoricalColumn, new.IdentityCategoricalColumn]
    kinds += [new.HashedCategoricalColumn, new.WeightedCategoricalColumn]
    found = [isinstance(c, k) for c, k in zip([price, buckets, size, word, kind, tags, weighted], kinds)]
    found += [isinstance(c, new.DenseColumn) for c in (price, buckets, word)] + [isinstance(c, old._CategoricalColumn) for c in (price, buckets, word)]
    made = old._transform_features(_features(tf), [price, kind])
    lengths = utils.sequence_length_from_sparse_tensor(tf.SparseTensor([[0, 0], [0, 3], [2, 1]], [1, 1, 1], [4, 4]), 2)
    more = steps.concatenate_context_input(tf.constant([[5.0]]), tf.constant([[[1.0], [2.0]]]))
    ranks = caught(lambda: steps.concatenate_context_input(tf.constant([5.0]), tf.constant([[[1.0], [2.0]]])), "context_input must have rank 2")
    return found, _run(tf, made[price], made[kind], lengths, more), ranks, old._check_shape(3, "x"), issubclass(steps.SequenceNumericColumn, new.SequenceDenseColumn)


def weights_of_other_words(tf):
    c = tf.feature_column
    word = c.categorical_column_with_vocabulary_list("word", ["red", "blue"])
    return _run(tf, c.input_layer(_features(tf), c.indicator_column(c.weighted_categorical_column(word, "count"))))


def refusals_of_columns(tf):
    c = tf.feature_column
    age, number = c.numeric_column("age"), c.categorical_column_with_identity("n", 3)
    word = c.categorical_column_with_hash_bucket("s", 5)
    late = []
    for value in (5, -2):
        made = c.input_layer({"n": [[value]]}, c.indicator_column(number))
        late.append(caught(lambda: _run(tf, made), WHOLE))
    return late, [
        caught(lambda: c.bucketized_column(age, []), WHOLE),
        caught(lambda: c.numeric_column(3), WHOLE),
        caught(lambda: c.categorical_column_with_hash_bucket("s", 3, tf.float32), WHOLE),
        caught(lambda: c.categorical_column_with_vocabulary_list("s", [1.5]), WHOLE),
        caught(lambda: c.input_layer({"s": [[1.0]]}, c.indicator_column(word)), WHOLE),
        caught(lambda: c.linear_model({"age": [[1.0]]}, [3]), WHOLE),
        caught(lambda: c.shared_embedding_columns([number, c.categorical_column_with_identity("m", 4)], 2), "same number of buckets"),
    ]
