"""Optimizers with roots of matrices of gradients: `GGT` and `Shampoo` of `tf.contrib.opt`."""

from programs.tools import initialize


def _steps(tf, make, is_sparse=False, dtype=None, use_resource=False, counts=True, steps=3):
    v = tf.get_variable("v", initializer=tf.constant([[1.0, 2.0], [3.0, -4.0], [0.5, 0.1]], dtype), use_resource=use_resource)
    w = tf.get_variable("w", initializer=tf.constant([0.3, -0.2], dtype), use_resource=use_resource)
    x = tf.gather(v, [0, 2, 0]) if is_sparse else v
    optimizer = make()
    step = optimizer.minimize(tf.reduce_sum(tf.square(x * w - 0.7)), global_step=tf.train.get_or_create_global_step() if counts else None)
    with tf.Session() as sess:
        initialize(tf, sess)
        values = [sess.run([v, w]) for _ in range(steps) if sess.run(step) is None]
    return [u.name for u in tf.global_variables()], optimizer.get_slot_names(), optimizer.get_name(), values


def ggt(tf):
    return _steps(tf, lambda: tf.contrib.opt.GGTOptimizer(0.1, beta1=0.5, window=3, eps=1e-3, use_locking=True), counts=False, steps=2)


def ggt_by_default(tf):
    return _steps(tf, lambda: tf.contrib.opt.GGTOptimizer(), dtype=tf.float64)


def shampoo(tf):
    return _steps(tf, lambda: tf.contrib.opt.ShampooOptimizer(learning_rate=0.1, epsilon=0.5))


def shampoo_of_resources(tf):
    return _steps(tf, lambda: tf.contrib.opt.ShampooOptimizer(learning_rate=0.1, epsilon=0.5), use_resource=True)


def shampoo_of_rows(tf):
    return _steps(tf, lambda: tf.contrib.opt.ShampooOptimizer(learning_rate=0.1, epsilon=0.5), is_sparse=True)


def shampoo_with_decay(tf):
    options = dict(gbar_decay=0.5, gbar_weight=0.5, mat_gbar_decay=0.9, mat_gbar_weight=0.5, alpha=0.3)
    return _steps(tf, lambda: tf.contrib.opt.ShampooOptimizer(learning_rate=0.1, epsilon=0.5, **options))


def shampoo_with_diagonals(tf):
    return _steps(tf, lambda: tf.contrib.opt.ShampooOptimizer(learning_rate=0.1, epsilon=0.5, max_matrix_size=2))


def shampoo_with_diagonals_of_rows(tf):
    return _steps(tf, lambda: tf.contrib.opt.ShampooOptimizer(learning_rate=0.1, epsilon=0.5, max_matrix_size=2), is_sparse=True)


def shampoo_now_and_then(tf):
    step = tf.train.get_or_create_global_step()
    make = lambda: tf.contrib.opt.ShampooOptimizer(step, learning_rate=0.1, epsilon=0.5, svd_interval=2, precond_update_interval=2)  # noqa: E731
    return _steps(tf, make)


def shampoo_by_functions_of_the_step(tf):
    step = tf.train.get_or_create_global_step()
    make = lambda: tf.contrib.opt.ShampooOptimizer(step, learning_rate=lambda t: 0.1 / (t + 1.0), gbar_decay=lambda t: t / (t + 1.0), epsilon=0.5)  # noqa: E731
    return _steps(tf, make)
