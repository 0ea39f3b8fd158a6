"""Optimizers of `tf.contrib.opt` for several workers, with one worker."""

import os
import tempfile

from programs.raised import caught


def _steps(tf, getter, optimizer, loss_of, n, hook=False):
    """Returns the names of variables, and their values after each step."""
    step = tf.train.get_or_create_global_step()
    with tf.variable_scope("s", custom_getter=getter):
        v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0])
        w = tf.get_variable("w", initializer=3.0)
    made = optimizer(getter)
    train = made.minimize(loss_of(v, w), global_step=step)
    variables = tf.global_variables() + tf.local_variables()
    names = [[x.name for x in group] for group in (tf.global_variables(), tf.local_variables(), tf.trainable_variables())]
    out = []
    if hook:
        with tf.train.MonitoredSession(hooks=[hook(made)]) as session:
            for _ in range(n):
                session.run(train)
                out.append(session.run(variables))
    else:
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(tf.local_variables_initializer())
            if isinstance(made, tf.contrib.opt.AGNOptimizer):
                # Without it, TensorFlow's sums of gradients begin at the values of the variables.
                session.run(made.get_init_op(0))
            for _ in range(n):
                session.run(train)
                out.append(session.run(variables))
    return names, out


def _squares(v, w):
    return v[0] * v[0] + 2 * v[1] * v[1] + 2 * w


def accumulated_gradients(tf):
    opt = tf.contrib.opt
    first = _steps(tf, opt.AGNCustomGetter(""), lambda g: opt.AGNOptimizer(tf.train.GradientDescentOptimizer(0.1), 1, g, 2), _squares, 5, lambda o: o.make_session_run_hook(True, 0))
    with tf.Graph().as_default():

        def rows(v, w):
            found = tf.gather(v, [0, 0, 2])
            return tf.reduce_sum(found * found) + w * w

        second = _steps(tf, opt.AGNCustomGetter(""), lambda g: opt.AGNOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), 2, g, 3), rows, 4)
    return first, second


def model_averages(tf):
    opt = tf.contrib.opt
    first = _steps(tf, opt.ModelAverageCustomGetter(""), lambda g: opt.ModelAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 1, True, g, 2), _squares, 5, lambda o: o.make_session_run_hook())
    with tf.Graph().as_default():
        second = _steps(tf, opt.ModelAverageCustomGetter(""), lambda g: opt.ModelAverageOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), 1, True, g, 3), _squares, 4)
    return first, second


def elastic_averages(tf):
    opt = tf.contrib.opt
    first = _steps(
        tf, opt.ElasticAverageCustomGetter(""), lambda g: opt.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 2, g, 2, moving_rate=0.25),
        _squares, 5, lambda o: o.make_session_run_hook(True, 0),
    )  # fmt: skip
    with tf.Graph().as_default():
        second = _steps(tf, opt.ElasticAverageCustomGetter(""), lambda g: opt.ElasticAverageOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), 1, g, 2, rho=0.1, synchronous=True), _squares, 4)
    return first, second


def saved_under_the_names_of_the_worker(tf):
    opt = tf.contrib.opt
    getter = opt.ElasticAverageCustomGetter("")
    with tf.variable_scope("s", custom_getter=getter):
        v = tf.get_variable("v", initializer=[1.0, 2.0])
    optimizer = opt.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 1, getter, communication_period=2)
    step = optimizer.minimize(tf.reduce_sum(v * v))
    saver = optimizer.swapping_saver()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(optimizer.get_init_op(0))
        for _ in range(3):
            session.run(step)
        path = saver.save(session, os.path.join(tempfile.mkdtemp(), "m"))
        values = session.run([v] + tf.global_variables())
    reader = tf.train.NewCheckpointReader(path)
    return sorted(reader.get_variable_to_shape_map().items()), reader.get_tensor("s/v"), values


def workers_refused(tf):
    opt, sgd = tf.contrib.opt, tf.train.GradientDescentOptimizer(0.1)
    out = []
    for make in (
        lambda: opt.ElasticAverageOptimizer(sgd, 1, opt.ElasticAverageCustomGetter("")).apply_gradients([]),
        lambda: opt.ModelAverageOptimizer(sgd, 1, True, opt.ModelAverageCustomGetter("")).apply_gradients([]),
    ):
        with tf.Graph().as_default():
            out.append(caught(make, "provided" if not out else "Must supply at least one variable"))
    with tf.Graph().as_default():
        empty = opt.ElasticAverageOptimizer(sgd, 1, opt.ElasticAverageCustomGetter(""))
        out.append(caught(lambda: empty.swapping_saver(), "global_center_variable is empty"))
        out.append(caught(lambda: opt.ElasticAverageOptimizer(sgd, 1, opt.ElasticAverageCustomGetter("")), "Variable local_step already exists"))
    return out
