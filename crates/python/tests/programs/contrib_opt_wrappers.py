"""`tf.contrib.opt`: LARS, Adam by the global step, and optimizers that change what others do."""

import numpy as np

from programs.tools import WHOLE, caught


def _trained(tf, make, use_resource=False, sparse=False, steps=3):
    """Returns the variables after some steps, and the names of all."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.get_variable("x", initializer=tf.constant([[3.0, 4.0], [1.0, 2.0], [0.5, -1.0]]), use_resource=use_resource)
        b = tf.get_variable("bias", initializer=tf.constant([0.0, 0.0]), use_resource=use_resource)
        step = tf.train.get_or_create_global_step()
        rows = tf.nn.embedding_lookup(x, [0, 2]) if sparse else x
        loss = tf.reduce_sum(tf.square(rows)) + tf.reduce_sum(tf.square(b - 1.0))
        update = make(x, b, step).minimize(loss, global_step=step)
        sess.run(tf.global_variables_initializer())
        for _ in range(steps):
            sess.run(update)
        return [np.round(v, 4) for v in sess.run([x, b])], sess.run(step), sorted(v.name for v in tf.global_variables())


def _everywhere(tf, make):
    return [_trained(tf, make, use_resource, sparse) for use_resource in (False, True) for sparse in (False, True)]


def lars(tf):
    opt = tf.contrib.opt
    return (
        _everywhere(tf, lambda x, b, step: opt.LARSOptimizer(0.5, eeta=0.1, skip_list=["bias"])),
        _trained(tf, lambda x, b, step: opt.LARSOptimizer(0.5, 0.8, 0.01, 0.1, 0.001, use_nesterov=True)),
        caught(lambda: opt.LARSOptimizer(0.5, momentum=-1.0), WHOLE),
        caught(lambda: opt.LARSOptimizer(0.5, weight_decay=-1.0), WHOLE),
    )


def adam_by_step(tf):
    return _everywhere(tf, lambda x, b, step: tf.contrib.opt.AdamGSOptimizer(step, 0.1))


def lazy_adam_by_step(tf):
    return _everywhere(tf, lambda x, b, step: tf.contrib.opt.LazyAdamGSOptimizer(step, 0.1))


def adagrad_without_slots(tf):
    class Kept(tf.contrib.opt.RegAdagradOptimizer):
        def minimize(self, *args, **kwargs):
            with self.avoid_updating_slots():
                return super(Kept, self).minimize(*args, **kwargs)

    return _everywhere(tf, lambda x, b, step: Kept(0.1)), _everywhere(tf, lambda x, b, step: tf.contrib.opt.RegAdagradOptimizer(0.1))


def clipped_variables(tf):
    def make(dims):
        return lambda x, b, step: tf.contrib.opt.VariableClippingOptimizer(tf.train.GradientDescentOptimizer(0.01), {x: dims}, 0.7)

    return _everywhere(tf, make([1])), _trained(tf, make([0])), _trained(tf, make([0, 1]))


def stale_gradients(tf):
    make = lambda limit: lambda x, b, step: tf.contrib.opt.DropStaleGradientOptimizer(tf.train.MomentumOptimizer(0.1, 0.5), limit)
    return _trained(tf, make(0)), _trained(tf, make(-1))


def several_tasks(tf):
    opt = tf.contrib.opt

    def trained(use_resource):
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.get_variable("x", initializer=tf.constant([1.0, 2.0]), use_resource=use_resource)
            factor = tf.placeholder(tf.float32, [])
            update = opt.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(0.1, 0.9)).minimize(tf.reduce_sum(x * x) * factor)
            sess.run(tf.global_variables_initializer())
            out = []
            for f in (1.0, 0.0, 1.0):
                sess.run(update, {factor: f})
                out.append(np.round(sess.run(x), 4))
            return out

    x = tf.Variable([1.0])
    pairs, norm = opt.clip_gradients_by_global_norm([(tf.constant([3.0]), x), (tf.constant([4.0]), x), (tf.zeros([2]), x), (None, x)], 1.0)
    with tf.Session() as sess:
        clipped = sess.run([g for g, _ in pairs[:2]] + [norm]), pairs[3][0] is None
    return trained(False), trained(True), clipped, caught(lambda: opt.MultitaskOptimizerWrapper(3), WHOLE)
