"""`tf.contrib.opt`: optimizers, dense and by rows, of both kinds of variables; averages that are swapped."""

import os
import tempfile

import numpy as np

from programs.tools import caught, initialize


def _steps(tf, make, steps=4, rows=True, kinds=(False, True)):
    """Trains a dense variable and rows of a table, of both kinds of variables, and returns their values."""
    found = []
    for use_resource in kinds:
        with tf.Graph().as_default():
            with tf.variable_scope("model", use_resource=use_resource):
                w = tf.get_variable("w", initializer=np.array([[1.0, -2.0], [0.5, 3.0]], np.float32))
                table = tf.get_variable("table", initializer=np.linspace(-1, 1, 8).reshape(4, 2).astype(np.float32))
            chosen = tf.nn.embedding_lookup(table if rows else table * 1.0, [1, 3, 1])
            step = tf.train.get_or_create_global_step()
            loss = tf.reduce_sum(tf.square(tf.matmul(chosen, w))) + tf.reduce_sum(w)
            optimizer = make()
            train = optimizer.minimize(loss, global_step=step)
            with tf.Session() as sess:
                initialize(tf, sess)
                losses = []
                for _ in range(steps):
                    sess.run(train)
                    losses.append(sess.run(loss))
                found.append([losses, sess.run([w, table])])
                found.append([optimizer.get_name(), sorted(v.name for v in tf.global_variables())])
    return found


def lazy_adam(tf):
    return _steps(tf, lambda: tf.contrib.opt.LazyAdamOptimizer(0.1))


def adam_with_nesterov(tf):
    return _steps(tf, lambda: tf.contrib.opt.NadamOptimizer(0.1))


def adamax(tf):
    return _steps(tf, lambda: tf.contrib.opt.AdaMaxOptimizer(0.1))


def add_sign(tf):
    return _steps(tf, lambda: tf.contrib.opt.AddSignOptimizer(0.01, alpha=1.5), rows=False)


def power_sign(tf):
    return _steps(tf, lambda: tf.contrib.opt.PowerSignOptimizer(0.01, base=2.0), rows=False)


def power_sign_decayed(tf):
    def decay(step):
        return 1.0 - tf.cast(step, tf.float32) / 10.0

    return _steps(tf, lambda: tf.contrib.opt.PowerSignOptimizer(0.01, sign_decay_fn=decay), rows=False)


def _rows(tf, make):
    """Returns variable and average after each of some gradients of rows, of which one has a row twice."""
    v = tf.get_variable("v", initializer=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    values, rows = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int32, [None])
    optimizer = make()
    step = optimizer.apply_gradients([(tf.IndexedSlices(values, rows, tf.constant([3, 2])), v)])
    given = [([[1.0, -1.0]], [0]), ([[-0.2, -0.3], [2.0, 1.0]], [0, 2]), ([[0.5, 0.5], [0.5, 0.25]], [2, 2]), ([[1.0, 1.0]], [1])]
    found = []
    with tf.Session() as sess:
        initialize(tf, sess)
        for some, where in given:
            sess.run(step, {values: some, rows: where})
            found.append(sess.run([v, optimizer.get_slot(v, "m")]))
    return found


def add_sign_of_rows(tf):
    return _rows(tf, lambda: tf.contrib.opt.AddSignOptimizer(0.1, alpha=1.5, beta=0.5, sign_decay_fn=lambda step: 0.5))


def power_sign_of_rows(tf):
    return _rows(tf, lambda: tf.contrib.opt.PowerSignOptimizer(0.1, base=2.0, beta=0.5))


def adam_with_decay(tf):
    return _steps(tf, lambda: tf.contrib.opt.AdamWOptimizer(0.01, 0.1), kinds=[True])


def momentum_with_decay(tf):
    return _steps(tf, lambda: tf.contrib.opt.MomentumWOptimizer(0.05, 0.01, 0.9, use_nesterov=True), kinds=[True])


def extended(tf):
    kind = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.AdagradOptimizer)
    return _steps(tf, lambda: kind(weight_decay=0.02, learning_rate=0.1), kinds=[True])


def decay_of_some(tf):
    a, b = (tf.get_variable(name, initializer=[1.0, 2.0], use_resource=True) for name in "ab")
    optimizer = tf.contrib.opt.AdamWOptimizer(0.25, learning_rate=0.01)
    train = optimizer.apply_gradients(optimizer.compute_gradients(tf.reduce_sum(a * b)), decay_var_list=[a])
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(train)
        return sess.run([a, b])


def averages(tf):
    found = []
    for sequential in (True, False):
        with tf.Graph().as_default():
            v, w = tf.Variable(1.0, name="v"), tf.Variable(3.0, name="w")
            optimizer = tf.contrib.opt.MovingAverageOptimizer(tf.train.MomentumOptimizer(0.5, 0.5), 0.5, sequential_update=sequential)
            train = optimizer.minimize(v * w)
            saver = optimizer.swapping_saver()
            plain = tf.train.Saver({"v": v, "w": w})
            path = os.path.join(tempfile.mkdtemp(), "model")
            with tf.Session() as sess:
                initialize(tf, sess)
                for _ in range(3):
                    sess.run(train)
                here = sess.run([v, w]) if sequential else []
                saver.save(sess, path)
                if sequential:
                    plain.restore(sess, path)
                    here = here + sess.run([v, w])
                found.append([here, train.name, [x.name for x in tf.global_variables()], [n for n, _ in tf.train.list_variables(path)]])
    return found


def averages_wrong(tf):
    v = tf.Variable(1.0, name="v")
    optimizer = tf.contrib.opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.5))
    early = caught(optimizer.swapping_saver, "Must call apply_gradients or minimize before")
    optimizer.minimize(v * v)
    return early, caught(lambda: optimizer.swapping_saver([v]), "is not part of variables to save")
