"""Scales of losses in `tf.train.experimental`."""

import numpy as np

from programs.raised import WHOLE, caught


def arguments_of_scales(tf):
    of = tf.train.experimental
    scales = [of.FixedLossScale(3.0), of.DynamicLossScale(8.0, 2, 4.0), of.DynamicLossScale()]
    told = [(str(scale), scale.get_config(), type(scale).from_config(scale.get_config()).get_config()) for scale in scales]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        now = sess.run([scale() for scale in scales])
    wrong = [
        caught(lambda: of.FixedLossScale(0.5), WHOLE),
        caught(lambda: of.FixedLossScale("x"), WHOLE),
        caught(lambda: of.MixedPrecisionLossScaleOptimizer(3, 2.0), WHOLE),
        caught(lambda: of.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(0.5), "x"), WHOLE),
    ]
    found = scales[1].initial_loss_scale, scales[1].increment_period, scales[1].multiplier, isinstance(scales[0], of.LossScale)
    return told, now, found, wrong, [v.name for v in tf.global_variables()], len(tf.trainable_variables())


def updates_of_a_scale(tf):
    scale = tf.train.experimental.DynamicLossScale(4.0, 2, 4.0)
    x = tf.placeholder(tf.float32, [2])
    rows = tf.IndexedSlices(x, tf.constant([0, 1]), tf.constant([3]))
    update, applies = scale.update([x, None, rows])
    fixed = tf.train.experimental.FixedLossScale(2.0).update([x])[1]
    found = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for value in (1.0, 2.0, 3.0, np.inf, np.nan, np.inf, 1.0, 1.0):
            said = sess.run([applies, update], {x: [1.0, value]})[0]
            found.append((bool(said), sess.run([scale(), tf.global_variables()[1]])))
    return found, fixed


def _trained(tf, scale, resource, make=None):
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=resource)
    opt = tf.train.experimental.MixedPrecisionLossScaleOptimizer(make or tf.train.MomentumOptimizer(0.5, 0.9), scale)
    by = tf.placeholder(tf.float32, [2])
    step = tf.train.get_or_create_global_step()
    pairs = opt.compute_gradients(v * by)
    train = opt.apply_gradients(pairs, step)
    found = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for values in ([2.0, 1.0], [np.inf, 1.0], [1.0, 0.5], [1.0, 1.0], [3.0, 1.0]):
            sess.run(train, {by: values})
            found.append(sess.run(tf.global_variables()))
        grads = sess.run(pairs[0][0], {by: [1.0, 2.0]})
    return found, grads, opt.get_name(), train.name, [v.name for v in tf.global_variables()]


def fixed_scale(tf):
    return _trained(tf, 8.0, False)


def dynamic_scale(tf):
    return _trained(tf, tf.train.experimental.DynamicLossScale(8.0, 2, 4.0), False)


def dynamic_scale_of_resources(tf):
    return _trained(tf, "dynamic", True, tf.train.GradientDescentOptimizer(0.25))


def scales_of_rows_and_functions(tf):
    table = tf.get_variable("table", initializer=np.ones([3, 2], np.float32), use_resource=True)
    opt = tf.train.experimental.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), "dynamic")
    pairs = opt.compute_gradients(lambda: tf.reduce_sum(tf.gather(table, [0, 0, 2]) * 3.0))
    train = opt.minimize(tf.reduce_sum(tf.gather(table, [1, 1])))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        return isinstance(pairs[0][0], tf.IndexedSlices), sess.run([pairs[0][0].values, table])
