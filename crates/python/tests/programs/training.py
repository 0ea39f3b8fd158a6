"""Optimizers and related functions: minimize, gradients, slots, the global step, learning rates."""

import numpy as np

from programs.tools import caught, initialize, nodes, run, static


def _steps(tf, optimizer, n=3, use_resource=False, **kwargs):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    loss = tf.reduce_sum(v * v)
    train = optimizer.minimize(loss, **kwargs)
    with tf.Session() as sess:
        initialize(tf, sess)
        out = []
        for _ in range(n):
            sess.run(train)
            out.append(sess.run(v))
        return out


def gradient_descent(tf):
    return _steps(tf, tf.train.GradientDescentOptimizer(0.1)), _steps(tf, tf.train.GradientDescentOptimizer(0.1), use_resource=True)


def momentum(tf):
    make = tf.train.MomentumOptimizer
    return _steps(tf, make(0.1, 0.9)), _steps(tf, make(0.1, 0.9, use_nesterov=True), use_resource=True)


def adam(tf):
    return _steps(tf, tf.train.AdamOptimizer(0.1)), _steps(tf, tf.train.AdamOptimizer(0.1), use_resource=True)


def adagrad(tf):
    return _steps(tf, tf.train.AdagradOptimizer(0.1)), _steps(tf, tf.train.AdagradOptimizer(0.1), use_resource=True)


def adadelta(tf):
    return _steps(tf, tf.train.AdadeltaOptimizer(1.0))


def rmsprop(tf):
    return _steps(tf, tf.train.RMSPropOptimizer(0.1)), _steps(tf, tf.train.RMSPropOptimizer(0.1, momentum=0.5, centered=True))


def ftrl(tf):
    return _steps(tf, tf.train.FtrlOptimizer(0.1))


def proximal(tf):
    return _steps(tf, tf.train.ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=0.01))


def learning_rate_as_tensor(tf):
    rate = tf.placeholder_with_default(0.5, [])
    return _steps(tf, tf.train.GradientDescentOptimizer(rate))


def compute_and_apply(tf):
    v, w = tf.Variable(3.0, name="v"), tf.Variable(4.0, name="w", trainable=False)
    opt = tf.train.GradientDescentOptimizer(0.1)
    pairs = opt.compute_gradients(v * v * w)
    clipped = [(tf.clip_by_value(g, -1.0, 1.0), x) for g, x in pairs]
    train = opt.apply_gradients(clipped)
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(train)
        return [x.name for _, x in pairs], train.name, sess.run(v)


def variables_given(tf):
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(v * w, var_list=[w])
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(train)
        return sess.run([v, w])


def no_gradients(tf):
    v = tf.Variable(3.0)
    return caught(lambda: tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0)), "No gradients provided for any variable")


def no_variables(tf):
    return caught(lambda: tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0)), "No variables to optimize.")


def global_step_counts(tf):
    step = tf.train.get_or_create_global_step()
    v = tf.Variable(3.0)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(v * v, global_step=step)
    with tf.Session() as sess:
        initialize(tf, sess)
        for _ in range(3):
            sess.run(train)
        return step.name, step.dtype.name, tf.train.global_step(sess, step), tf.train.get_global_step() is step


def global_step_functions(tf):
    before = tf.train.get_global_step()
    step = tf.train.create_global_step()
    return (
        before,
        caught(lambda: tf.train.create_global_step(), '"global_step" already exists.'),
        tf.train.get_or_create_global_step() is step,
        tf.get_collection(tf.GraphKeys.GLOBAL_STEP) == [step],
        step.trainable,
        caught(lambda: tf.train.assert_global_step(tf.constant(1.0)), "does not have integer type"),
        caught(lambda: tf.train.assert_global_step(tf.constant([1])), "is not scalar"),
        caught(lambda: tf.train.assert_global_step("x"), "must be a Variable or Tensor"),
    )


def slots(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    opt = tf.train.MomentumOptimizer(0.1, 0.9)
    opt.minimize(tf.reduce_sum(v))
    return opt.get_name(), opt.get_slot_names(), opt.get_slot(v, "momentum").name, sorted(x.name for x in tf.global_variables())


def adam_variables(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    opt = tf.train.AdamOptimizer()
    opt.minimize(tf.reduce_sum(v))
    return sorted(x.name for x in opt.variables()), sorted(opt.get_slot_names())


def sparse_gradients(tf):
    out = []
    for make in (lambda: tf.train.GradientDescentOptimizer(0.1), lambda: tf.train.AdagradOptimizer(0.1), lambda: tf.train.AdamOptimizer(0.1), lambda: tf.train.MomentumOptimizer(0.1, 0.9)):
        for use_resource in (False, True):
            v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], use_resource=use_resource)
            train = make().minimize(tf.reduce_sum(tf.gather(v, [0, 2, 0]) ** 2))
            with tf.Session() as sess:
                initialize(tf, sess)
                sess.run(train)
                out.append(sess.run(v))
    return out


def learning_rates(tf):
    step = tf.placeholder(tf.int64, [])
    t = tf.train
    rates = [
        t.exponential_decay(0.1, step, 10, 0.5),
        t.exponential_decay(0.1, step, 10, 0.5, staircase=True),
        t.piecewise_constant(step, [tf.constant(5, tf.int64), tf.constant(20, tf.int64)], [1.0, 0.5, 0.1]),
        t.polynomial_decay(0.1, step, 20, 0.01),
        t.inverse_time_decay(0.1, step, 10, 0.5),
        t.natural_exp_decay(0.1, step, 10, 0.5),
        t.cosine_decay(0.1, step, 20),
    ]
    with tf.Session() as sess:
        return [sess.run(rates, {step: s}) for s in (0, 7, 15, 30)]


def linear_regression(tf):
    rng = np.random.RandomState(0)
    xs = rng.rand(50, 2).astype(np.float32)
    ys = xs.dot(np.array([[2.0], [-3.0]], np.float32)) + 0.5
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])
    w, b = tf.Variable(tf.zeros([2, 1])), tf.Variable(tf.zeros([1]))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session() as sess:
        initialize(tf, sess)
        for _ in range(100):
            sess.run(train, {x: xs, y: ys})
        return sess.run([w, b, loss], {x: xs, y: ys})


def through_a_loop(tf):
    w = tf.Variable(0.5)
    h = tf.while_loop(lambda i, h: i < 5, lambda i, h: (i + 1, tf.tanh(h * w + 1.0)), [0, 0.0])[1]
    train = tf.train.AdamOptimizer(0.1).minimize((h - 0.3) ** 2)
    with tf.Session() as sess:
        initialize(tf, sess)
        out = []
        for _ in range(3):
            sess.run(train)
            out.append(sess.run(w))
        return out


def node_names(tf):
    v = tf.Variable(1.0, name="v")
    tf.train.GradientDescentOptimizer(0.1).minimize(v * v)
    return nodes(tf)


def a_nan_rate(tf):
    return _steps(tf, tf.train.GradientDescentOptimizer(float("nan")), n=1)
