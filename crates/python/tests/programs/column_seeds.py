"""Initial values of tables of columns, and what is drawn after them: both depend on the nodes before."""

import numpy as np


def _features(tf):
    words = tf.SparseTensor([[i, 0] for i in range(6)], ["w%d" % (i % 5) for i in range(6)], [6, 1])
    weights = tf.SparseTensor([[i, 0] for i in range(6)], [0.5] * 6, [6, 1])
    return {
        "word": words,
        "kind": words,
        "w": weights,
        "x": tf.zeros([6, 1]),
        "pair": tf.zeros([6, 2]),
        "n": tf.zeros([6], tf.int64),
        "dense": tf.constant(["a"] * 6),
    }


def _values(tf, build):
    """Returns the initial values of the variables of columns, and a number that is drawn after them."""
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(3)
        build(_features(tf))
        after = tf.random_uniform([])
        sess.run(tf.global_variables_initializer())
        tables = [v for v in tf.global_variables() if 0 < np.abs(sess.run(v)).max()]
        return [np.round(sess.run(v).ravel()[:3], 4) for v in tables], np.round(sess.run(after), 4)


def _each(tf, layer, columns):
    return [_values(tf, lambda features: layer(features, some)) for some in columns]


def embeddings(tf):
    c = tf.feature_column
    word, kind = c.categorical_column_with_hash_bucket("word", 7), c.categorical_column_with_vocabulary_list("kind", ["p", "q"])
    buckets = c.bucketized_column(c.numeric_column("x"), [0.0, 1.0])
    several = [word, kind, c.categorical_column_with_identity("n", 3), c.categorical_column_with_identity("n", 3, 1), buckets]
    several += [c.weighted_categorical_column(word, "w"), c.categorical_column_with_hash_bucket("dense", 3)]
    columns = [[c.embedding_column(one, 2)] for one in several]
    columns += [[c.embedding_column(word, 2), c.embedding_column(kind, 3), c.indicator_column(kind)]]
    columns += [c.shared_embedding_columns([word, c.categorical_column_with_hash_bucket("kind", 7)], 2)]
    columns += [[c.indicator_column(c.weighted_categorical_column(word, "w"))], [buckets], [c.numeric_column("x")]]
    return _each(tf, c.input_layer, columns)


def linear_models(tf):
    c = tf.feature_column
    word, number = c.categorical_column_with_hash_bucket("word", 7), c.numeric_column("x")
    columns = [[word], [c.weighted_categorical_column(word, "w")], [number], [c.bucketized_column(number, [0.0, 1.0])]]
    return _each(tf, c.linear_model, columns + [[c.categorical_column_with_identity("n", 3), number, word]])


def embeddings_of_contrib(tf):
    c = tf.contrib.layers
    word, kind = c.sparse_column_with_hash_bucket("word", 7), c.sparse_column_with_keys("kind", ["p", "q"])
    weighted = c.weighted_sparse_column(word, "w")
    columns = [[c.embedding_column(one, 2)] for one in (word, kind, weighted)]
    columns += [[c.one_hot_column(one)] for one in (kind, weighted)]
    columns += [[c.embedding_column(word, 2), c.embedding_column(kind, 3), c.real_valued_column("x")]]
    columns += [c.shared_embedding_columns([word, c.sparse_column_with_hash_bucket("kind", 7)], 2)]
    return _each(tf, c.input_from_feature_columns, columns)


def sums_of_contrib(tf):
    c = tf.contrib.layers
    word, kind = c.sparse_column_with_hash_bucket("word", 7), c.sparse_column_with_keys("kind", ["p", "q"])
    one = c.bucketized_column(c.real_valued_column("x"), [0.0, 1.0])
    two = c.bucketized_column(c.real_valued_column("pair", dimension=2), [0.0, 1.0])
    columns = [[word], [c.weighted_sparse_column(word, "w")], [one], [two], [word, kind, one]]
    sums = _each(tf, lambda features, some: c.weighted_sum_from_feature_columns(features, some, 1), columns)
    return sums + _each(tf, lambda features, some: c.joint_weighted_sum_from_feature_columns(features, some, 1), [[word], [word, kind]])


def lookups(tf):
    def looked_up(combiner, default_id, weights):
        def build(features):
            table = tf.get_variable("table", [7, 2])
            ids = tf.SparseTensor(features["word"].indices, tf.zeros([6], tf.int64), features["word"].dense_shape)
            tf.nn.safe_embedding_lookup_sparse(table, ids, features["w"] if weights else None, combiner=combiner, default_id=default_id)

        return _values(tf, build)

    return [looked_up(combiner, default, weights) for combiner in ("sum", "mean", "sqrtn") for default in (None, 0) for weights in (False, True)]


def tables_of_unknown_batches(tf):
    c = tf.feature_column
    word = c.categorical_column_with_hash_bucket("dense", 7)

    def build(features):
        features["dense"] = tf.placeholder_with_default(features["dense"], [None])
        c.input_layer(features, [c.embedding_column(word, 2)])

    def parts(max_norm, n):
        def build(features):
            tables = [tf.get_variable("table%d" % i, [3, 2]) for i in range(n)]
            tf.nn.embedding_lookup(tables, [0, 2], max_norm=max_norm)

        return _values(tf, build)

    def gathered(shape, ids):
        return _values(tf, lambda _: tf.batch_gather(tf.zeros(shape), tf.zeros(ids, tf.int32)))

    rows = [gathered([4], [3]), gathered([4, 2], [4, 1]), gathered([4, 2, 3], [4, 2, 5])]
    return _values(tf, build), [parts(norm, n) for norm in (None, 1.0) for n in (1, 2)], rows
