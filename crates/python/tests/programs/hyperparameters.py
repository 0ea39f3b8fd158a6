"""What subclasses of optimizers use: hyperparameters as tensors, slots, and methods to override."""

from programs.tools import WHOLE, caught


def _trained(tf, optimizer):
    v = tf.get_variable("v", [2])
    optimizer.minimize(tf.reduce_sum(v * v))
    return v


def tensors_of_adam(tf):
    o = tf.train.AdamOptimizer(0.1)
    before = o._lr_t, o._beta1_t, o._beta2_t, o._epsilon_t
    _trained(tf, o)
    return before, [t.op.name for t in (o._lr_t, o._beta1_t, o._beta2_t, o._epsilon_t)], o._lr


def tensors_of_others(tf):
    t, found = tf.train, []
    for o, names in (
        (t.GradientDescentOptimizer(0.1), "learning_rate"),
        (t.MomentumOptimizer(0.1, 0.9), "learning_rate momentum"),
        (t.RMSPropOptimizer(0.1), "learning_rate decay momentum epsilon"),
        (t.AdagradOptimizer(0.1), "learning_rate"),
        (t.FtrlOptimizer(0.1), "learning_rate l1_regularization_strength l2_regularization_strength"),
    ):
        with tf.variable_scope(o.get_name()):
            _trained(tf, o)
        found.append([getattr(o, "_%s_tensor" % name).op.name for name in names.split()])
    return found


def tensors_of_adadelta(tf):
    o = tf.train.AdadeltaOptimizer(0.1)
    _trained(tf, o)
    return [t.op.name for t in (o._lr_t, o._rho_t, o._epsilon_t)]


def settings(tf):
    t = tf.train
    ftrl = t.FtrlOptimizer(0.1, l1_regularization_strength=0.25, l2_regularization_strength=0.5)
    return (
        t.AdagradOptimizer(0.1)._initial_accumulator_value,
        ftrl._initial_accumulator_value,
        ftrl._l1_regularization_strength,
        ftrl._l2_regularization_strength,
        ftrl._learning_rate_power,
        ftrl._l2_shrinkage_regularization_strength,
        t.ProximalAdagradOptimizer(0.1)._initial_accumulator_value,
    )


def a_subclass_of_adam(tf):
    class Decayed(tf.train.AdamOptimizer):
        """Adam that also shrinks weights."""

        def _apply_dense(self, grad, var):
            lr = tf.cast(self._lr_t, var.dtype.base_dtype)
            with tf.control_dependencies([super()._apply_dense(grad, var)]):
                return var.assign_sub(lr * 0.5 * var, use_locking=self._use_locking).op

    v = tf.get_variable("v", initializer=[1.0, 2.0])
    step = Decayed(0.1).minimize(tf.reduce_sum(v * v))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run([step])
        return sess.run(v)


def dtypes_of_a_subclass(tf):
    class Integers(tf.train.Optimizer):
        """An optimizer of integers."""

        def __init__(self):
            super().__init__(False, "Integers")

        def _valid_dtypes(self):
            return {tf.int32}

    v = tf.get_variable("v", [2])
    return (
        sorted(d.name for d in tf.train.AdamOptimizer()._valid_dtypes()),
        caught(lambda: Integers().compute_gradients(tf.reduce_sum(v)), "Invalid type tf.float32 for Sum:0, expected: [tf.int32]"),
    )


def calls(tf):
    o = tf.train.GradientDescentOptimizer(lambda: 0.5)
    v = _trained(tf, o)
    return o._call_if_callable(lambda: 3), o._call_if_callable(4), o._learning_rate_tensor.op.name, v.name


def slots_of_ones_own(tf):
    v = tf.get_variable("v", [2])
    o = tf.train.AdamOptimizer(name="own")
    o.minimize(tf.reduce_sum(v))
    made = o._get_or_make_slot_with_initializer(v, tf.ones_initializer(), tf.TensorShape([3]), tf.float64, "r", "own_r")
    return made.name, made.shape, made.dtype, len(o._slot_dict("r")), sorted(x.name for x in o._non_slot_variables()), o.get_slot_names()


def variables_that_are_none(tf):
    v = tf.get_variable("v", [2])
    return caught(lambda: tf.train.AdamOptimizer().compute_gradients(tf.reduce_sum(v), [v, 3]), WHOLE)


def norms_of_nothing(tf):
    with tf.Session() as sess:
        return sess.run([tf.global_norm([]), tf.global_norm([None]), tf.clip_by_global_norm([], 1.0)[1]])


def norms_of_no_list(tf):
    return [caught(lambda: f(), WHOLE) for f in (lambda: tf.global_norm(3), lambda: tf.global_norm("a"), lambda: tf.clip_by_global_norm(tf.ones([2]), 1.0))]


def decays_without_a_step(tf):
    t = tf.train
    return [caught(lambda: f(0.1, None, 2, 0.5), WHOLE) for f in (t.exponential_decay, t.polynomial_decay, t.natural_exp_decay, t.inverse_time_decay)]


def pieces_of_two_dtypes(tf):
    return caught(lambda: tf.train.piecewise_constant(tf.constant(1), [2], [1.0, 2]), WHOLE)
