"""Layers of feature columns, and columns as dictionaries."""

from programs.tools import WHOLE, caught, inside


def _fc():
    return inside("python.feature_column.feature_column_v2")


def _sequences():
    return inside("python.feature_column.sequence_feature_column")


def _columns(fc):
    return [fc.numeric_column("price"), fc.categorical_column_with_identity("kind", 3)]


_FEATURES = {"price": [[1.0], [5.0]], "kind": [[0], [2]]}


def linear_model_of_columns(tf):
    """A `LinearModel`, called twice: names, variables, collections, values after a step."""
    fc = _fc()

    model = fc.LinearModel(_columns(fc), units=2, name="mine")
    first, second = model(_FEATURES), model(_FEATURES)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(first * [1.0, 2.0]))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        values = sess.run(second)
    return first.name, second.name, model.name, [v.name for v in model.variables], model.bias.name, [v.name for v in tf.trainable_variables()], values


def linear_models_without_names(tf):
    """Two `LinearModel`s."""
    fc = _fc()

    models = [fc.LinearModel(_columns(fc), sparse_combiner="mean", trainable=False) for _ in range(2)]
    outs = [model(_FEATURES).name for model in models]
    return outs, [m.name for m in models], [(v.name, v.trainable) for m in models for v in m.variables], len(tf.trainable_variables())


def linear_model_of_an_embedding(tf):
    """A column with a table of its own."""
    fc = _fc()

    kind = fc.categorical_column_with_identity("kind", 3)
    model = fc.LinearModel([fc.embedding_column(kind, 2, initializer=tf.ones_initializer()), fc.bucketized_column(fc.numeric_column("price"), [2, 4])])
    out = model(_FEATURES)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [v.name for v in model.variables], [v.shape for v in model.variables], sess.run(out)


def old_linear_model(tf):
    """`_LinearModel` of the first version of columns."""
    fc = inside("python.feature_column.feature_column")

    model = fc._LinearModel(_columns(tf.feature_column), weight_collections=["kept"], name="mine")
    first, second = model(_FEATURES), model(_FEATURES)
    found = {getattr(key, "name", key): [v.name for v in variables] for key, variables in model.cols_to_vars().items()}
    return first.name, second.name, found, [v.name for v in tf.get_collection("kept")], [v.name for v in tf.global_variables()]


def mistakes_of_linear_models(tf):
    """Columns that a model does not take."""
    fc = _fc()

    price = fc.numeric_column("a")
    makes = {
        "none": lambda: fc.LinearModel([]),
        "a word": lambda: fc.LinearModel("NotSupported"),
        "a dict": lambda: fc.LinearModel({"a": price}),
        "twice": lambda: fc.LinearModel([price, price]),
        "no config": lambda: fc.LinearModel([price]).get_config(),
    }
    return {name: caught(make, WHOLE) if name != "no config" else caught(make) for name, make in makes.items()}


def sequence_features(tf):
    """A `SequenceFeatures` layer: names, shapes, values."""
    fc, sequences = _fc(), _sequences()

    kind = sequences.sequence_categorical_column_with_identity("kind", 3)
    layer = sequences.SequenceFeatures([sequences.sequence_numeric_column("a"), fc.embedding_column(kind, 2, initializer=tf.ones_initializer())])
    places = [[0, 0], [1, 0], [1, 1]]
    features = {"a": tf.SparseTensor(places, [1.0, 2.0, 3.0], [2, 2]), "kind": tf.SparseTensor(places, [1, 2, 0], [2, 2])}
    out, lengths = layer(features)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return out.shape, out.name, lengths.name, layer.name, [v.name for v in layer.variables], sess.run([out, lengths])


def sequence_features_again(tf):
    """The layer's arguments as plain values, and a column of no sequences."""
    sequences = _sequences()

    config = sequences.SequenceFeatures([sequences.sequence_numeric_column("a", shape=2)]).get_config()
    config["feature_columns"] = [dict(c, config=dict(c["config"], shape=list(c["config"]["shape"]))) for c in config["feature_columns"]]
    again = sequences.SequenceFeatures.from_config(config)
    refused = caught(lambda: sequences.SequenceFeatures([tf.feature_column.numeric_column("a")]), "You can wrap a categorical column with an embedding_column or indicator_column.")
    return str(config), again.name, [c.name for c in again._feature_columns], refused


def columns_as_dictionaries(tf):
    """Every class of columns as a dictionary, and back."""
    fc, sequences, serialization = _fc(), _sequences(), inside("python.feature_column.serialization")

    price, kind = fc.numeric_column("price", shape=[2], default_value=(1, 2)), fc.categorical_column_with_identity("kind", 3)
    parts = fc.bucketized_column(fc.numeric_column("price"), [0, 1])
    columns = [
        price,
        parts,
        kind,
        fc.categorical_column_with_hash_bucket("word", 4),
        fc.categorical_column_with_vocabulary_list("colour", ["red", "blue"], num_oov_buckets=1),
        fc.crossed_column([parts, "word"], 5),
        fc.weighted_categorical_column(kind, "weight"),
        fc.embedding_column(kind, 2, initializer=tf.zeros_initializer()),
        fc.indicator_column(kind),
        sequences.sequence_categorical_column_with_identity("steps", 3),
        sequences.sequence_numeric_column("numbers"),
    ]
    made = [serialization.serialize_feature_column(column) for column in columns]
    agree = []
    for column, config in zip(columns, made):
        shared = {}
        again = serialization.deserialize_feature_column(config, columns_by_name=shared)
        agree.append((again.name, type(again).__name__, sorted(shared), again == column or "initializer" in config["config"]))
    return [str(m) for m in made], agree


def mistakes_of_dictionaries(tf):
    """Dictionaries of no column, and functions of the program."""
    fc, serialization = _fc(), inside("python.feature_column.serialization")

    def half(x):
        return x / 2

    column = fc.numeric_column("a", normalizer_fn=half)
    again = fc.NumericColumn._from_config(column._get_config(), custom_objects={"half": half})
    makes = {
        "no class": lambda: serialization.deserialize_feature_column({"class_name": "NotReal", "config": {}}),
        "no column": lambda: serialization.serialize_feature_column(3),
        "other fields": lambda: fc.NumericColumn._from_config({"a": 1}),
    }
    return str(column._get_config()), again.normalizer_fn is half, {name: caught(make, WHOLE) for name, make in makes.items()}
