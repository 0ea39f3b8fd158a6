"""Feature columns by the names of TensorFlow's two versions: methods, columns of a program's own, and
layers.
"""

import importlib

from programs.tools import WHOLE, caught


def _module(tf, name):
    """Returns a module of `python.feature_column`, or what has its names here."""
    path = "python.feature_column." + name
    if tf.__name__ == "tensorflow":
        return importlib.import_module("tensorflow." + path)
    return importlib.import_module("millstream.programs.hook")._Module("tensorflow." + path)


def _run(tf, made):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(made)


def _embedding(tf):
    c = tf.feature_column
    return c.embedding_column(c.categorical_column_with_identity("a", 3), 2, initializer=tf.ones_initializer())


def layers_of_columns(tf):
    columns = [_embedding(tf), tf.feature_column.numeric_column("p")]
    layer = _module(tf, "dense_features").DenseFeatures(columns)
    features = {"a": [[0], [2]], "p": [[1.0], [2.0]]}
    found, outputs = {}, [layer(features), layer(features)]
    layer(features, cols_to_output_tensors=found)
    own = _module(tf, "feature_column").InputLayer(columns)
    more = [own(features), own(features)]
    return (
        _run(tf, outputs + more),
        [v.name for v in tf.global_variables()],
        [t.name for t in outputs + more],
        [v.name for v in layer.trainable_variables],
        [v.name for v in own.trainable_variables],
        sorted(c.name for c in found),
        caught(lambda: layer([1.0]), "We expected a dictionary here"),
        caught(lambda: _module(tf, "dense_features").DenseFeatures([tf.feature_column.categorical_column_with_identity("a", 3)]), "You can wrap a categorical column"),
    )


def columns_of_ones_own(tf):
    fc = _module(tf, "feature_column")

    class Doubled(fc._DenseColumn):
        name = "doubled"
        _parse_example_spec = property(lambda self: {"x": tf.FixedLenFeature([2], tf.float32)})
        _variable_shape = property(lambda self: tf.TensorShape([2]))

        def _transform_feature(self, inputs):
            return inputs.get("x") * 2.0

        def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
            return inputs.get(self)

    class One(fc._CategoricalColumn):
        name = "one"
        _parse_example_spec = property(lambda self: {})
        _num_buckets = property(lambda self: 3)

        def _transform_feature(self, inputs):
            return tf.SparseTensor([[0, 0]], tf.constant([1], tf.int64), [1, 1])

        def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
            return fc._CategoricalColumn.IdWeightPair(inputs.get(self), None)

    c = tf.feature_column
    made = [
        c.input_layer({"x": [[1.0, 2.0]]}, [Doubled()]),
        c.linear_model({"x": [[1.0, 2.0]]}, [One(), Doubled()]),
        c.input_layer({"x": [[1.0]]}, [c.indicator_column(One())]),
    ]
    return _run(tf, made), [v.name for v in tf.global_variables()], repr(c.make_parse_example_spec([Doubled()]))


def methods_of_columns(tf):
    fc, new = _module(tf, "feature_column"), _module(tf, "feature_column_v2")
    c = tf.feature_column
    p, b = c.numeric_column("p", shape=2), c.bucketized_column(c.numeric_column("q"), [1.0, 3.0])
    features = {"p": [[1.0, 2.0]], "q": [[2.0]]}
    lazy, cache = fc._LazyBuilder(features), new.FeatureTransformationCache(features)
    made = [
        p._transform_feature(lazy),
        p._get_dense_tensor(lazy),
        p.get_dense_tensor(cache, None),
        p.transform_feature(cache, None),
        b.get_dense_tensor(cache, None),
    ]
    ids = [b.get_sparse_tensors(cache, None).id_tensor.indices, b._get_sparse_tensors(lazy).id_tensor.indices]
    fields = new.CategoricalColumn.IdWeightPair._fields, new.SequenceDenseColumn.TensorSequenceLengthPair._fields
    return _run(tf, made + ids), p.parents, [x.name for x in b.parents], p._var_scope_name, p._is_v2_column, fields


def state_of_columns(tf):
    new = _module(tf, "feature_column_v2")
    column = _embedding(tf)
    manager = new._StateManagerImpl(_module(tf, "dense_features").DenseFeatures([column]), True)
    missing = caught(lambda: manager.get_variable(column, "embedding_weights"), WHOLE)
    column.create_state(manager)
    again = caught(lambda: column.create_state(manager), WHOLE)
    cache = new.FeatureTransformationCache({"a": [[0], [2]]})
    return _run(tf, column.get_dense_tensor(cache, manager)), missing, again
