"""`tf.contrib.tpu` as programs use it where there is no TPU: `use_tpu=False`."""

import tempfile

import numpy as np

from programs.raised import WHOLE, caught
from programs.tools import mistakes


def _model(tf, sees):
    def model_fn(features, labels, mode, params):
        sees.append((mode, sorted(params), params.get("batch_size"), params["use_tpu"]))
        w = tf.get_variable("w", initializer=0.5)
        y = features["x"] * w
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.contrib.tpu.TPUEstimatorSpec(mode, predictions={"y": y})
        loss = tf.reduce_mean(tf.square(y - labels))
        optimizer = tf.train.GradientDescentOptimizer(params["rate"])
        if params["use_tpu"]:
            optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
        step = optimizer.minimize(loss, tf.train.get_global_step())

        def metric_fn(y, labels):
            return {"error": tf.metrics.mean_absolute_error(labels, y)}

        hooks = [tf.train.StopAtStepHook(last_step=100)]
        return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=step, eval_metrics=(metric_fn, {"y": y, "labels": labels}), training_hooks=hooks, scaffold_fn=lambda: tf.train.Scaffold())

    return model_fn


def _input(tf, repeat=True):
    def input_fn(params):
        x = np.arange(1, 7, dtype=np.float32)
        data = tf.data.Dataset.from_tensor_slices(({"x": x}, 2 * x))
        data = data.repeat() if repeat else data
        return data.batch(params["batch_size"], drop_remainder=True)

    return input_fn


def _estimator(tf, sees, **more):
    tpu = tf.contrib.tpu
    config = tpu.RunConfig(
        model_dir=tempfile.mkdtemp(),
        save_checkpoints_steps=5,
        tpu_config=tpu.TPUConfig(iterations_per_loop=5, num_shards=8, per_host_input_for_training=tpu.InputPipelineConfig.PER_HOST_V2),
    )
    return tpu.TPUEstimator(use_tpu=False, model_fn=_model(tf, sees), config=config, params={"rate": 0.01}, train_batch_size=2, eval_batch_size=3, predict_batch_size=1, **more)


def trained_on_the_cpu(tf):
    sees = []
    estimator = _estimator(tf, sees)
    estimator.train(_input(tf), max_steps=7)
    results = estimator.evaluate(_input(tf, False), steps=2)
    predictions = [float(p["y"]) for p in estimator.predict(_input(tf, False))]
    return sees, estimator.get_variable_value("w"), sorted(results.items()), predictions, sorted(estimator.get_variable_names())


def configurations(tf):
    tpu = tf.contrib.tpu
    one = tpu.TPUConfig()
    config = tpu.RunConfig(model_dir="/tmp/m", master="", save_checkpoints_steps=3)
    other = config.replace(save_summary_steps=7, tpu_config=tpu.TPUConfig("60s", per_host_input_for_training=False))
    same = tf.estimator.tpu.TPUConfig is tpu.TPUConfig, tf.estimator.tpu.TPUEstimator is tpu.TPUEstimator, tf.tpu.CrossShardOptimizer is tpu.CrossShardOptimizer
    return tuple(one), tuple(other.tpu_config), other.save_summary_steps, other.save_checkpoints_steps, config.master, config.evaluation_master, config.cluster, type(other).__name__, same


def mistakes_in_configurations(tf):
    tpu = tf.contrib.tpu
    return mistakes(
        tf,
        loop=lambda: tpu.TPUConfig("x"),
        shards=lambda: tpu.TPUConfig(num_shards=0),
        cores=lambda: tpu.TPUConfig(num_cores_per_replica=3),
        partitions=lambda: tpu.TPUConfig(input_partition_dims=[1, 2]),
        sliced=lambda: tpu.TPUConfig(eval_training_input_configuration=3),
        config=lambda: tpu.TPUEstimator(lambda features, params: None, config=tf.estimator.RunConfig(), use_tpu=False),
        reserved=lambda: tpu.TPUEstimator(lambda features, params: None, config=tpu.RunConfig(), params={"batch_size": 1}, use_tpu=False),
    )


def specs(tf):
    spec = tf.contrib.tpu.TPUEstimatorSpec
    x = tf.constant([1.0, 2.0])
    loss = tf.reduce_sum(x)
    made = spec("eval", loss=loss, eval_metrics=(lambda x: {"m": tf.metrics.mean(x)}, [x])).as_estimator_spec()
    wrong = [
        caught(lambda: spec("eval", loss=loss, eval_metrics=3), WHOLE),
        caught(lambda: spec("eval", loss=loss, eval_metrics=(1,)), WHOLE),
        caught(lambda: spec("eval", loss=loss, eval_metrics=(1, [])), WHOLE),
        caught(lambda: spec("eval", loss=loss, host_call=(len, 1)), WHOLE),
        caught(lambda: spec("eval", loss=loss, host_call=(lambda x: x, [1, 2])), WHOLE),
        caught(lambda: spec("eval", loss=loss, training_hooks=[1]), WHOLE),
        caught(lambda: spec("eval").as_estimator_spec(), WHOLE),
    ]
    return type(made).__name__, sorted(made.eval_metric_ops), made.loss.name, wrong


def narrow_variables(tf):
    with tf.contrib.tpu.bfloat16_scope():
        w = tf.get_variable("w", [2], tf.bfloat16, initializer=tf.ones_initializer())
        b = tf.get_variable("b", [2], initializer=tf.ones_initializer())
        with tf.variable_scope("s"):
            v = tf.get_variable("v", [1], tf.bfloat16, initializer=tf.zeros_initializer())
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values = sess.run([tf.cast(w, tf.float32), b, tf.cast(v, tf.float32)])
    return w.dtype.name, b.dtype.name, [(v.name, v.dtype.name) for v in tf.global_variables()], values


def an_optimizer_over_shards(tf):
    x = tf.get_variable("x", initializer=[1.0, 2.0])
    optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.MomentumOptimizer(0.5, 0.9))
    grads = optimizer.compute_gradients(tf.reduce_sum(x * x))
    wrong = caught(lambda: tf.contrib.tpu.CrossShardOptimizer(optimizer, "none"), WHOLE)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values = sess.run([g for g, _ in grads])
    return values, optimizer.get_slot_names(), optimizer.get_name(), wrong
