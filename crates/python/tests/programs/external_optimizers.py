"""`tf.contrib.opt.ExternalOptimizerInterface`: optimizers that run outside the graph."""

import numpy as np

from programs.raised import WHOLE, caught


def _descent(tf, seen):
    class Descent(tf.contrib.opt.ExternalOptimizerInterface):
        def _minimize(self, initial_val, loss_grad_func, equality_funcs, equality_grad_funcs, inequality_funcs, inequality_grad_funcs, packed_bounds, step_callback, optimizer_kwargs):
            seen.append((initial_val, packed_bounds and np.array(packed_bounds), sorted(optimizer_kwargs)))
            x = initial_val
            for _ in range(optimizer_kwargs["steps"]):
                loss, gradient = loss_grad_func(x)
                seen.append((loss, gradient))
                x = x - np.float32(0.25) * gradient
                step_callback(x)
            seen.append([f(x) for f in equality_funcs + equality_grad_funcs + inequality_funcs + inequality_grad_funcs])
            return x

    return Descent


def descending(tf):
    seen, told = [], []
    v, w = tf.get_variable("v", initializer=[[1.0, 2.0]]), tf.get_variable("w", initializer=3.0)
    u = tf.get_variable("u", initializer=[5.0, 6.0])
    k = tf.placeholder(tf.float32, [])
    loss = tf.reduce_sum(v * v) + k * w * w
    made = _descent(tf, seen)(loss, equalities=[w - 1.0], inequalities=[tf.reduce_sum(v)], var_to_bounds={v: (0, [3, 4]), w: (-np.inf, np.inf)}, steps=2)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        made.minimize(sess, {k: 0.5}, [w * 2.0], lambda x: told.append(x), lambda value: told.append(value))
        values = sess.run([v, w, u])
        made.minimize(feed_dict={k: 0.5})
        return values, sess.run([v, w, u]), seen, told


def some_variables(tf):
    seen = []
    v, w = tf.get_variable("v", initializer=[1.0, 2.0]), tf.get_variable("w", initializer=3.0)
    made = _descent(tf, seen)(tf.reduce_sum(v) * w, var_list=[w], steps=1)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        made.minimize(sess)
        plain = tf.contrib.opt.ExternalOptimizerInterface(w * w, [w])
        return sess.run([v, w]), seen, caught(lambda: plain.minimize(sess), WHOLE)


def arguments_of_scipy(tf):
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    loss = tf.reduce_sum(v * v)
    scipy = tf.contrib.opt.ScipyOptimizerInterface
    with tf.Session() as sess:
        sess.run(v.initializer)
        return [caught(lambda n=name: scipy(loss, **{n: 1}).minimize(sess), WHOLE) for name in ("bounds", "jac", "callback", "constraints")]
