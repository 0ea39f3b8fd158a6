"""`tf.contrib.predictor`: exported models and estimators as functions."""

import os
import tempfile

import numpy as np

from programs.raised import WHOLE, caught


def _exported(tf):
    folder = os.path.join(tempfile.mkdtemp(), "model")
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        k = tf.placeholder_with_default(3.0, [], name="k")
        w = tf.get_variable("w", initializer=[1.0, 2.0])
        y = tf.reduce_sum(x * w, 1, name="y") * k
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, folder, {"x": x, "k": k}, {"y": y, "w": tf.identity(w)})
    return folder


def of_an_exported_model(tf):
    folder = _exported(tf)
    predict = tf.contrib.predictor.from_saved_model(folder)
    x = np.ones([2, 2], np.float32)
    kept = predict.graph is tf.get_default_graph(), sorted(predict.feed_tensors), sorted(predict.fetch_tensors), predict.session.graph is predict.graph
    named = tf.contrib.predictor.from_saved_model(folder, input_names={"in": "x:0"}, output_names={"out": "y:0"})
    return predict({"x": x}), predict({"x": x, "k": 2.0}), predict({"x": x, "k": None}), kept, named({"in": x}), type(named).__name__


def mistakes_with_an_exported_model(tf):
    folder = _exported(tf)
    make = tf.contrib.predictor.from_saved_model
    predict = make(folder)
    return [
        caught(lambda: predict({"z": 1.0}), "Got unexpected keys in input_dict: "),
        caught(lambda: make(folder, input_names={}), WHOLE),
        caught(lambda: make(folder, "a", input_names={}, output_names={}), WHOLE),
        caught(lambda: predict({}), "You must feed a value for placeholder tensor"),
    ]


def of_an_estimator(tf):
    def model_fn(features, labels, mode):
        w = tf.get_variable("w", initializer=0.5)
        y = features["x"] * w
        outputs = {"serving_default": tf.estimator.export.PredictOutput({"y": y}), "twice": tf.estimator.export.PredictOutput({"y": 2.0 * y})}
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y}, export_outputs=outputs)
        loss = tf.reduce_mean(tf.square(y - labels))
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step()))

    def receive():
        x = tf.placeholder(tf.float32, [None], name="x")
        return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
    data = tf.estimator.inputs.numpy_input_fn({"x": np.array([1.0, 2.0], np.float32)}, np.array([2.0, 4.0], np.float32), 2, None, shuffle=False)
    estimator.train(data, steps=3)
    make = tf.contrib.predictor.from_estimator
    x = {"x": np.array([1.0, 3.0], np.float32)}
    return make(estimator, receive)(x), make(estimator, receive, "twice")(x), type(make(estimator, receive)).__name__, caught(lambda: make(estimator, receive, "z"), "output_key must be one of")
