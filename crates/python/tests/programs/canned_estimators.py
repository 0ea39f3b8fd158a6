"""Estimators with a model of their own, whose variables begin with a checkpoint's values."""

import os
import tempfile

import numpy as np

from programs.raised import WHOLE, caught

_X = np.array([[0.0], [1.0], [2.0], [3.0], [-1.0], [0.5]], np.float32)
_KIND = np.array(["a", "b", "a", "c", "b", "z"])


def _data(tf, labels, num_epochs=None, more=()):
    features = dict({"x": _X, "kind": _KIND}, **dict(more))
    return tf.estimator.inputs.numpy_input_fn(features, labels, batch_size=3, num_epochs=num_epochs, shuffle=False)


def _columns(tf):
    c = tf.feature_column
    kind = c.categorical_column_with_vocabulary_list("kind", ["a", "b", "c"])
    return c.numeric_column("x"), kind, c.embedding_column(kind, 2), c.indicator_column(kind)


def _checkpoint(tf, **shapes):
    """Writes a checkpoint with variables of these shapes; `__` stands for `/`."""
    folder = tempfile.mkdtemp()
    with tf.Graph().as_default(), tf.Session() as sess:
        for i, (name, shape) in enumerate(sorted(shapes.items())):
            n = int(np.prod(shape))
            value = np.sin(np.arange(n) + i).reshape(shape).astype(np.float32)
            tf.get_variable(name.replace("__", "/"), initializer=value)
        sess.run(tf.global_variables_initializer())
        return tf.train.Saver().save(sess, os.path.join(folder, "model"))


def _answers(tf, estimator, labels, steps=5):
    once = _data(tf, labels, 1)
    estimator.train(_data(tf, labels), steps=steps)
    results = estimator.evaluate(once)
    predictions = [{k: p[k] for k in sorted(p)} for p in estimator.predict(_data(tf, None, 1))]
    names = [n for n in estimator.get_variable_names()]
    values = [estimator.get_variable_value(n) for n in names]
    return sorted(results.items()), predictions, names, values


_DNN = {
    "dnn__input_from_feature_columns__input_layer__kind_embedding__embedding_weights": (3, 2),
    "dnn__hiddenlayer_0__kernel": (3, 4),
    "dnn__hiddenlayer_0__bias": (4,),
    "dnn__hiddenlayer_1__kernel": (4, 3),
    "dnn__hiddenlayer_1__bias": (3,),
}


def _path(tf, units):
    return _checkpoint(tf, dnn__logits__kernel=(3, units), dnn__logits__bias=(units,), **_DNN)


def a_network_of_two_classes(tf):
    x, _, embedded, _ = _columns(tf)
    start = _path(tf, 1)
    model = tf.estimator.DNNClassifier([4, 3], [x, embedded], tempfile.mkdtemp(), warm_start_from=start)
    return _answers(tf, model, np.array([0, 1, 1, 0, 1, 0]))


def a_network_of_three_classes(tf):
    x, _, embedded, _ = _columns(tf)
    start = tf.estimator.WarmStartSettings(_path(tf, 3), ".*")
    model = tf.estimator.DNNClassifier([4, 3], [x, embedded], tempfile.mkdtemp(), n_classes=3, label_vocabulary=["u", "v", "w"], optimizer=tf.train.GradientDescentOptimizer(0.1), activation_fn=tf.nn.tanh, warm_start_from=start)
    return _answers(tf, model, np.array(["u", "v", "v", "w", "v", "u"]))


def a_network_of_numbers(tf):
    x, _, embedded, _ = _columns(tf)
    start = tf.estimator.WarmStartSettings(_path(tf, 2), ["dnn.*"])
    model = tf.estimator.DNNRegressor([4, 3], [x, embedded], tempfile.mkdtemp(), label_dimension=2, optimizer="SGD", warm_start_from=start, loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE)
    labels = np.stack([_X[:, 0] * 2, 1 - _X[:, 0]], 1)
    return _answers(tf, model, labels)


def linear_classes(tf):
    x, kind, _, _ = _columns(tf)
    two = tf.estimator.LinearClassifier([x, kind], tempfile.mkdtemp())
    three = tf.estimator.LinearClassifier([x, kind], tempfile.mkdtemp(), n_classes=3, optimizer="Adam", sparse_combiner="mean")
    return _answers(tf, two, np.array([0, 1, 1, 0, 1, 0])), _answers(tf, three, np.array([0, 1, 2, 2, 1, 0]))


def linear_numbers(tf):
    x, kind, _, _ = _columns(tf)
    model = tf.estimator.LinearRegressor([x, kind], tempfile.mkdtemp())
    return _answers(tf, model, 2 * _X[:, 0] + 1)


def weights_of_examples(tf):
    x, _, _, _ = _columns(tf)
    more = {"w": np.array([1.0, 2.0, 0.5, 1.0, 0.0, 3.0], np.float32)}
    found = []
    for model, labels in (
        (tf.estimator.LinearClassifier([x], tempfile.mkdtemp(), weight_column="w"), np.array([0, 1, 1, 0, 1, 0])),
        (tf.estimator.LinearRegressor([x], tempfile.mkdtemp(), weight_column="w"), 2 * _X[:, 0] + 1),
    ):
        model.train(_data(tf, labels, None, more), steps=4)
        found.append((sorted(model.evaluate(_data(tf, labels, 1, more)).items()), model.get_variable_value("linear/linear_model/x/weights")))
    return found


def wide_and_deep(tf):
    x, kind, embedded, _ = _columns(tf)
    start = _path(tf, 1)
    settings = tf.estimator.WarmStartSettings(start, "dnn.*")
    model = tf.estimator.DNNLinearCombinedClassifier(tempfile.mkdtemp(), [kind], "Ftrl", [x, embedded], "Adagrad", [4, 3], warm_start_from=settings)
    numbers = tf.estimator.DNNLinearCombinedRegressor(tempfile.mkdtemp(), linear_feature_columns=[x, kind], linear_optimizer=tf.train.GradientDescentOptimizer(0.01))
    return _answers(tf, model, np.array([0, 1, 1, 0, 1, 0])), _answers(tf, numbers, 2 * _X[:, 0] + 1)


def renamed_variables(tf):
    x = tf.feature_column.numeric_column("x")
    path = _checkpoint(tf, first=(1,), old=(1, 1))
    settings = tf.estimator.WarmStartSettings(path, "linear/linear_model/x/weights", None, {"linear/linear_model/x/weights": "old"})
    model = tf.estimator.LinearRegressor([x], tempfile.mkdtemp(), optimizer=tf.train.GradientDescentOptimizer(0.0), warm_start_from=settings)
    model.train(_data(tf, 2 * _X[:, 0]), steps=1)
    return model.get_variable_value("linear/linear_model/x/weights"), model.get_variable_value("linear/linear_model/bias_weights")


def their_mistakes(tf):
    x = tf.feature_column.numeric_column("x")
    estimator = tf.estimator
    short = _data(tf, np.array([[0, 1]] * 6), 1)
    return [
        caught(lambda: estimator.DNNClassifier([2], [x], n_classes=1), WHOLE),
        caught(lambda: estimator.DNNRegressor([2], [x], label_dimension=0), WHOLE),
        caught(lambda: estimator.DNNLinearCombinedClassifier(), WHOLE),
        caught(lambda: estimator.LinearClassifier([x], optimizer="odd").train(_data(tf, np.array([0] * 6)), steps=1), WHOLE),
        caught(lambda: estimator.LinearClassifier([x]).train(short), "Mismatched label shape"),
        caught(lambda: estimator.LinearClassifier([x], n_classes=3).train(_data(tf, np.array([0.5] * 6)), steps=1), WHOLE),
        caught(lambda: estimator.LinearClassifier([x]).train(_data(tf, np.array([2] * 6)), steps=1), "n_classes"),
        caught(lambda: estimator.LinearRegressor([x], loss_reduction="none"), WHOLE),
        caught(lambda: estimator.WarmStartSettings(""), WHOLE),
    ]


def equal_seeds(tf):
    """Variables drawn with the seed of the run's configuration."""
    x, _, embedded, one_hot = _columns(tf)
    config = tf.estimator.RunConfig(tf_random_seed=4)
    labels = np.array([0, 1, 2, 2, 1, 0])
    classes = tf.estimator.DNNClassifier([4, 3], [x, embedded], tempfile.mkdtemp(), n_classes=3, dropout=0.3, config=config)
    normalized = tf.estimator.DNNRegressor([3], [x, one_hot], tempfile.mkdtemp(), batch_norm=True, config=config)
    return _answers(tf, classes, labels, 3), _answers(tf, normalized, labels.astype(np.float32), 3)
