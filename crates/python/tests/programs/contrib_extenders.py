"""`tf.contrib.estimator`'s extenders, `tf.contrib.image`'s transforms, and rows that are changed."""

import importlib
import tempfile

import numpy as np

from programs.tools import WHOLE, caught, mistakes, run


def _inner(tf, name):
    if tf.__name__ == "tensorflow":
        return getattr(importlib.import_module("tensorflow.python.ops.inplace_ops"), name)
    return importlib.import_module("millstream.programs.modules").attribute("python.ops.inplace_ops", name)


def transforms(tf):
    image = tf.contrib.image
    a = image.translations_to_projective_transforms([[1.0, 2.0], [3.0, 4.0]])
    b = image.angles_to_projective_transforms(0.5, 4.0, 6.0)
    made = [image.compose_transforms(a), image.compose_transforms(a, b, a), image.flat_transforms_to_matrices(b[0]), image.matrices_to_flat_transforms(4.0 * tf.eye(3))]
    refused = mistakes(tf, flat=lambda: image.flat_transforms_to_matrices(tf.ones([1, 1, 8])), matrices=lambda: image.matrices_to_flat_transforms(tf.ones([9])))
    return [m.name for m in made], [np.round(v, 4) for v in run(tf, made)], refused


def clipped_steps(tf):
    optimizer = tf.contrib.estimator.clip_gradients_by_norm(tf.train.MomentumOptimizer(0.5, 0.9), 0.5)
    x, y = tf.Variable([3.0, 4.0], name="x"), tf.Variable(1.0, name="y")
    step = tf.train.create_global_step()
    update = optimizer.minimize(tf.reduce_sum(x * x) + y, global_step=step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(2):
            sess.run(update)
        return optimizer.get_name(), optimizer.get_slot_names(), [np.round(v, 4) for v in sess.run([x, y, step])], sorted(v.name for v in tf.global_variables())


def forwarded(tf):
    def data():
        return {"x": tf.constant([1.0, 2.0]), "id": tf.constant([7, 8])}, tf.constant([1.0, 1.0])

    def model(features, labels, mode):
        y = features["x"] * 2.0
        step = tf.assign_add(tf.train.get_global_step(), 1)
        return tf.estimator.EstimatorSpec(mode, predictions={"y": y}, loss=tf.reduce_sum(y), train_op=step)

    def metrics(labels, predictions):
        return {"mean": tf.metrics.mean(predictions["y"]), "label": tf.metrics.mean(labels)}

    folder = tempfile.mkdtemp()
    plain = tf.estimator.Estimator(model, folder)
    estimator = tf.contrib.estimator.add_metrics(tf.contrib.estimator.forward_features(plain, "id"), metrics)
    estimator.train(data, steps=2)
    values = estimator.evaluate(data, steps=1)
    iterator = estimator.predict(data)
    predicted = [next(iterator), next(iterator)]
    return {k: float(v) for k, v in values.items()}, predicted, mistakes(
        tf,
        args=lambda: tf.contrib.estimator.add_metrics(plain, lambda x: {}),
        keys=lambda: tf.contrib.estimator.forward_features(plain, 3),
        key=lambda: tf.contrib.estimator.forward_features(plain, [3]),
        missing=lambda: next(tf.contrib.estimator.forward_features(plain, "z").predict(data)),
    )


def changed_rows(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    made = [
        _inner(tf, "inplace_update")(x, 1, [9.0, 9.0]),
        _inner(tf, "inplace_add")(x, [0, 2], [[1.0, 1.0], [2.0, 2.0]]),
        _inner(tf, "inplace_sub")(x, None, tf.ones([3, 2])),
        _inner(tf, "empty_like")(x, init=True),
        _inner(tf, "inplace_add")(x, tf.constant(2), [1.0, 1.0]),
    ]
    return [str(m.shape) for m in made], run(tf, made + [x])


def towers(tf):
    """A model on one device is the model itself, whether or not its optimizer is wrapped."""

    def model_fn(features, labels, mode, params):
        w = tf.get_variable("w", initializer=params["first"])
        loss = tf.reduce_mean(tf.square(features["x"] * w - labels))
        optimizer = tf.contrib.estimator.TowerOptimizer(lambda: tf.train.MomentumOptimizer(0.1, 0.9))
        step = optimizer.minimize(loss, global_step=tf.train.get_global_step())
        assert optimizer.get_slot_names() == ["momentum"] and optimizer.get_name() == "Momentum"
        seen.append((optimizer.get_slot(w, "momentum").name, loss.name, [v.name for v in optimizer.variables()]))
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step, predictions=w)

    seen = []
    replicated = tf.contrib.estimator.replicate_model_fn(model_fn, tf.losses.Reduction.SUM)
    estimator = tf.estimator.Estimator(replicated, params={"first": 2.0})
    data = lambda: ({"x": tf.constant([1.0, 3.0])}, tf.constant([0.5, 1.0]))
    estimator.train(data, steps=3)
    return (
        seen,
        np.round(estimator.get_variable_value("w"), 4),
        np.round(estimator.evaluate(data, steps=1)["loss"], 4),
        caught(lambda: tf.contrib.estimator.replicate_model_fn(model_fn, tf.losses.Reduction.NONE), WHOLE),
    )
