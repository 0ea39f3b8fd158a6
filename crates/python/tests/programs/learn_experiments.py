"""`tf.contrib.learn.Experiment` around an estimator of `tf.contrib.learn`."""

import tempfile

import numpy as np

from programs.tools import caught

X = np.linspace(-1.0, 1.0, 24).reshape(8, 3).astype(np.float32)
Y = X.sum(1).astype(np.float32)


def _experiment(tf, folder=None, **given):
    learn = tf.contrib.learn
    tf.logging.set_verbosity(tf.logging.FATAL)

    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
        y = tf.squeeze(tf.matmul(features, w), 1)
        loss = tf.losses.mean_squared_error(labels, y)
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return learn.ModelFnOps(mode, y, loss, step)

    def inputs():
        return tf.constant(X), tf.constant(Y)

    config = learn.RunConfig(tf_random_seed=1, model_dir=folder or tempfile.mkdtemp())
    return learn.Experiment(learn.Estimator(model_fn, config=config), inputs, inputs, **given)


def _plain(results):
    return sorted((key, round(float(value), 4)) for key, value in results.items())


def trained_then_evaluated(tf):
    spec = tf.contrib.learn.MetricSpec(tf.contrib.metrics.streaming_mean_absolute_error)
    experiment = _experiment(tf, eval_metrics={"off": spec}, train_steps=4, eval_steps=2, eval_delay_secs=0)
    same = experiment.train() is experiment.estimator
    first = _plain(experiment.evaluate())
    experiment.train()
    return same, first, _plain(experiment.evaluate(name="again")), experiment.train_steps, experiment.eval_steps


def both(tf):
    experiment = _experiment(tf, train_steps=3, eval_steps=1)
    results, exports = experiment.train_and_evaluate()
    return _plain(results), exports


def in_turn(tf):
    experiment = _experiment(tf, train_steps=6, eval_steps=1, train_steps_per_iteration=2)
    results, exports = experiment.continuous_train_and_eval()
    return _plain(results), exports


def tried(tf):
    experiment = _experiment(tf, train_steps=6, eval_steps=1)
    return _plain(experiment.test())


def run_by_a_runner(tf):
    made = []

    def experiment_fn(output_dir):
        made.append(output_dir)
        return _experiment(tf, output_dir, train_steps=2, eval_steps=1)

    folder = tempfile.mkdtemp()
    results, exports = tf.contrib.learn.learn_runner.run(experiment_fn, folder, schedule="train_and_evaluate")
    return _plain(results), exports, made == [folder]


def mistaken(tf):
    listeners = [tf.train.CheckpointSaverListener()]
    return [
        caught(lambda: tf.contrib.learn.Experiment(object(), None, None), "`estimator` must implement `tf.contrib.learn.Evaluable`"),
        caught(lambda: _experiment(tf, saving_listeners=listeners), "`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`"),
    ]
