"""All optimizers, with dense and sparse gradients, both kinds of variables, and slots."""

import numpy as np

from programs.tools import caught, initialize


def _ways(tf, make, n=3):
    """Returns the variable and slots after `n` steps, for each kind of variable and gradient."""
    out = []
    for use_resource in (False, True):
        for sparse in (False, True):
            with tf.Graph().as_default():
                v = tf.Variable([[1.0, -2.0], [3.0, 0.5], [-0.1, 0.7]], use_resource=use_resource)
                used = tf.gather(v, [0, 2, 0]) if sparse else v
                optimizer = make()
                train = optimizer.minimize(tf.reduce_sum(used ** 2) + tf.reduce_sum(0.3 * used))
                with tf.Session() as sess:
                    initialize(tf, sess)
                    for _ in range(n):
                        sess.run(train)
                    slots = [optimizer.get_slot(v, name) for name in optimizer.get_slot_names()]
                    out.append(sess.run([v] + slots))
    return out


def adadelta(tf):
    t = tf.train
    return _ways(tf, lambda: t.AdadeltaOptimizer(1.0)), _ways(tf, lambda: t.AdadeltaOptimizer(0.5, rho=0.5, epsilon=0.01))


def ftrl(tf):
    t = tf.train
    return (
        _ways(tf, lambda: t.FtrlOptimizer(0.1)),
        _ways(tf, lambda: t.FtrlOptimizer(0.5, learning_rate_power=-0.25, l1_regularization_strength=0.02, l2_regularization_strength=0.03)),
        _ways(tf, lambda: t.FtrlOptimizer(0.5, l1_regularization_strength=0.02, l2_shrinkage_regularization_strength=0.1)),
        _ways(tf, lambda: t.FtrlOptimizer(0.5, l1_regularization_strength=9.0)),
    )


def proximal_gradient_descent(tf):
    make = tf.train.ProximalGradientDescentOptimizer
    return _ways(tf, lambda: make(0.1)), _ways(tf, lambda: make(0.1, l1_regularization_strength=0.5, l2_regularization_strength=0.3))


def proximal_adagrad(tf):
    make = tf.train.ProximalAdagradOptimizer
    return _ways(tf, lambda: make(0.1)), _ways(tf, lambda: make(0.3, l1_regularization_strength=0.5, l2_regularization_strength=0.3))


def adagrad_da(tf):
    def of(**kwargs):
        return _ways(tf, lambda: tf.train.AdagradDAOptimizer(0.5, tf.constant(3, tf.int64), **kwargs))

    return of(), of(l1_regularization_strength=0.01, l2_regularization_strength=0.1)


def rmsprop(tf):
    make = tf.train.RMSPropOptimizer
    return _ways(tf, lambda: make(0.1)), _ways(tf, lambda: make(0.1, momentum=0.5, decay=0.5)), _ways(tf, lambda: make(0.1, momentum=0.5, centered=True))


def momentum(tf):
    make = tf.train.MomentumOptimizer
    return _ways(tf, lambda: make(0.1, 0.9)), _ways(tf, lambda: make(0.1, 0.9, use_nesterov=True))


def adagrad_and_adam(tf):
    return _ways(tf, lambda: tf.train.AdagradOptimizer(0.1)), _ways(tf, lambda: tf.train.AdamOptimizer(0.1))


def misused(tf):
    t = tf.train
    return (
        caught(lambda: t.FtrlOptimizer(0.1, initial_accumulator_value=-1.0), "initial_accumulator_value -1.000000 needs to be positive or zero"),
        caught(lambda: t.FtrlOptimizer(0.1, learning_rate_power=1.0), "learning_rate_power 1.000000 needs to be negative or zero"),
        caught(lambda: t.FtrlOptimizer(0.1, l1_regularization_strength=-1.0), "needs to be positive or zero"),
        caught(lambda: t.ProximalAdagradOptimizer(0.1, initial_accumulator_value=0.0), "initial_accumulator_value must be positive: 0.0"),
        caught(lambda: t.AdagradDAOptimizer(0.1, tf.constant(1, tf.int64), initial_gradient_squared_accumulator_value=0.0), "initial_gradient_squared_accumulator_value must be positive: 0.0"),
    )


def by_ops(tf):
    """Ops that no optimizer in `tf.train` uses."""
    out = []
    grad = [0.3, -0.2]
    raw = tf.raw_ops
    for make in (
        lambda var, m, v: raw.ApplyAdaMax(var=var, m=m, v=v, beta1_power=0.81, lr=0.5, beta1=0.9, beta2=0.95, epsilon=0.01, grad=grad),
        lambda var, m, v: raw.ApplyAddSign(var=var, m=m, lr=0.5, alpha=1.5, sign_decay=0.7, beta=0.9, grad=grad),
        lambda var, m, v: raw.ApplyPowerSign(var=var, m=m, lr=0.5, logbase=1.5, sign_decay=0.7, beta=0.9, grad=grad),
        lambda var, m, v: raw.ApplyAdagradV2(var=var, accum=v, lr=0.5, epsilon=0.01, grad=grad),
        lambda var, m, v: raw.SparseApplyAdagradV2(var=var, accum=v, lr=0.5, epsilon=0.01, grad=grad, indices=[1, 0]),
        lambda var, m, v: raw.SparseApplyFtrl(var=var, accum=v, linear=m, grad=grad, indices=[0, 0], lr=0.5, l1=0.01, l2=0.2, lr_power=-0.5),
    ):
        kept = [tf.Variable(x) for x in ([1.0, -0.5], [0.1, -0.1], [0.2, 0.1])]
        step = make(*[k._ref() for k in kept])
        with tf.Session() as sess:
            initialize(tf, sess)
            out.append([sess.run(step)] + sess.run(kept))
    return out


def moving_averages(tf):
    v, w = tf.Variable(1.0, name="v"), tf.Variable([2.0, 3.0], name="w", use_resource=True)
    ema = tf.train.ExponentialMovingAverage(0.5)
    apply = ema.apply([v, w])
    with_count = tf.train.ExponentialMovingAverage(0.99, num_updates=3)
    counted = with_count.apply([v])
    change = tf.group(v.assign(5.0), w.assign([0.0, 1.0]))
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(change)
        sess.run([apply, counted])
        sess.run(apply)
        return sess.run([ema.average(v), ema.average(w), with_count.average(v)]), ema.average_name(v), sorted(ema.variables_to_restore())


def zero_debias(tf):
    v = tf.Variable(4.0, name="v")
    t = tf.identity(v) * 2
    ema = tf.train.ExponentialMovingAverage(0.9, zero_debias=True)
    apply = ema.apply([t])
    with tf.Session() as sess:
        initialize(tf, sess)
        out = []
        for _ in range(3):
            sess.run(apply)
            out.append(sess.run(ema.average(t)))
        return out, sorted(v.name for v in tf.global_variables())


def rates(tf):
    step = tf.placeholder(tf.int64, [])
    t = tf.train
    made = [
        t.piecewise_constant_decay(step, [tf.constant(5, tf.int64), tf.constant(20, tf.int64)], [1.0, 0.5, 0.1]),
        t.cosine_decay_restarts(0.1, step, 5),
        t.cosine_decay_restarts(0.1, step, 5, t_mul=1.0, m_mul=0.5, alpha=0.1),
        t.linear_cosine_decay(0.1, step, 20),
        t.polynomial_decay(0.1, step, 10, 0.01, power=2.0, cycle=True),
        t.exponential_decay(0.1, step, 10, 0.5),
    ]
    with tf.Session() as sess:
        return [np.array(sess.run(made, {step: s})) for s in (0, 3, 7, 16, 31)]
