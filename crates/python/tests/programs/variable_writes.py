"""Updates of variables: assign, load, count, scatter, slices; both kinds together."""

from programs.tools import WHOLE, caught, initialize, run

KINDS = (False, True)


def _of_both(tf, initial, do, **arguments):
    """Returns the results of `do(variable)` for each kind of variable, and the values afterwards."""
    out = []
    for resource in KINDS:
        v = tf.Variable(initial, use_resource=resource, **arguments)
        r = do(v)
        with tf.Session() as sess:
            initialize(tf, sess)
            out.append([sess.run(r), sess.run(v)])
    return out


def assign_values(tf):
    return _of_both(tf, [1.0, 2.0], lambda v: v.assign([5.0, 6.0]))


def assign_add_and_sub(tf):
    return _of_both(tf, [1, 2], lambda v: v.assign_add([5, 6])), _of_both(tf, [1, 2], lambda v: v.assign_sub([5, 6]))


def assign_by_functions(tf):
    return [_of_both(tf, [1, 2], lambda v: f(v, [5, 6])) for f in (tf.assign, tf.assign_add, tf.assign_sub)]


def assign_without_reading(tf):
    out = []
    for resource in KINDS:
        v = tf.Variable([1.0, 2.0], use_resource=resource)
        ops = [v.assign([5.0, 6.0], read_value=False), v.assign_add([1.0, 1.0], read_value=False), v.assign_sub([2.0, 2.0], read_value=False)]
        with tf.Session() as sess:
            initialize(tf, sess)
            out.append([[type(op).__name__ for op in ops], [sess.run(op) for op in ops], sess.run(v)])
    return out


def assign_gives(tf):
    v, w = tf.Variable(1.0), tf.Variable(1.0, use_resource=True)
    a, b = v.assign(2.0), w.assign(2.0)
    return a.dtype.name, b.dtype.name, str(a.shape), str(b.shape), run(tf, [a + 1.0, b + 1.0])


def assign_chained(tf):
    out = []
    for resource in KINDS:
        v = tf.Variable(1.0, use_resource=resource)
        r = tf.assign_add(tf.assign(v, 5.0), 2.0)
        with tf.Session() as sess:
            initialize(tf, sess)
            out.append([sess.run(r), sess.run(v)])
    return out


def assign_a_variable(tf):
    return [_of_both(tf, [1, 2], lambda v: v.assign(tf.Variable([7, 8], use_resource=r))) for r in KINDS]


def assign_of_another_shape(tf):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0], use_resource=True)
    return caught(lambda: v.assign([1.0])), caught(lambda: w.assign([1.0]), WHOLE)


def assign_of_another_dtype(tf):
    v, w = tf.Variable(1.0), tf.Variable(1.0, use_resource=True)
    return caught(lambda: v.assign(tf.constant(1))), caught(lambda: w.assign(tf.constant(1))), caught(lambda: v.assign("a")), caught(lambda: w.assign("a"))


def assign_with_names_and_locking(tf):
    v, w = tf.Variable(1.0), tf.Variable(1.0, use_resource=True)
    return v.assign(2.0, use_locking=True, name="a").name, v.assign_add(2.0, name="b").op.name, w.assign(2.0, name="c").op.name, w.assign_add(2.0, use_locking=True, name="d").op.name


def load_and_eval(tf):
    out = []
    for resource in KINDS:
        v = tf.Variable([1.0, 2.0], use_resource=resource)
        with tf.Session() as sess:
            initialize(tf, sess)
            v.load([3.0, 4.0])
            out.append([v.eval(), v.eval(session=sess)])
            v.load([5.0, 6.0], sess)
            out.append(sess.run(v))
        out.append(caught(lambda: v.load([1.0, 1.0]), WHOLE))
        out.append(caught(lambda: v.eval()))
    return out


def count_up(tf):
    out = []
    for resource in KINDS:
        v = tf.Variable(0, use_resource=resource)
        c, d = v.count_up_to(2), tf.count_up_to(v, 4)
        with tf.Session() as sess:
            initialize(tf, sess)
            out.append([sess.run(c), sess.run(c), caught(lambda: sess.run(c)), sess.run(d), sess.run(v)])
    return out


def scatters_by_functions(tf):
    functions = [tf.scatter_add, tf.scatter_sub, tf.scatter_update, tf.scatter_mul, tf.scatter_div, tf.scatter_max, tf.scatter_min]
    return [_of_both(tf, [10.0, 20.0, 30.0], lambda v: f(v, [2, 0], [4.0, 5.0])) for f in functions]


def scatters_by_a_scalar(tf):
    return [_of_both(tf, [[10, 20], [30, 40]], lambda v: f(v, [1, 0], 3)) for f in (tf.scatter_add, tf.scatter_mul)], _of_both(tf, [1, 2, 3], lambda v: tf.scatter_update(v, 1, 7))


def scatters_by_methods(tf):
    out = []
    for what in ("scatter_add", "scatter_sub", "scatter_update"):
        slices = lambda: tf.IndexedSlices(tf.constant([4.0, 5.0]), tf.constant([2, 0]))  # noqa: E731
        out.append(_of_both(tf, [10.0, 20.0, 30.0], lambda v: getattr(v, what)(slices())))
    return out


def scatters_repeat_an_index(tf):
    return _of_both(tf, [10, 20], lambda v: tf.scatter_add(v, [0, 0, 0], [1, 2, 3]))


def scatters_out_of_range(tf):
    return caught(lambda: _of_both(tf, [10, 20], lambda v: tf.scatter_add(v, [5], [1])))


def scatters_of_another_shape(tf):
    return caught(lambda: _of_both(tf, [10, 20], lambda v: tf.scatter_add(v, [0, 1], [1, 2, 3])))


def scatters_of_no_slices(tf):
    v = tf.Variable([1.0])
    return caught(lambda: v.scatter_add(tf.constant([1.0])), WHOLE)


def scatters_of_nd(tf):
    v = tf.Variable([[1, 2], [3, 4]])
    with tf.Session() as sess:
        initialize(tf, sess)
        return [sess.run(f(v, [[0, 1], [1, 0]], [10, 20])) for f in (tf.scatter_nd_update, tf.scatter_nd_add, tf.scatter_nd_sub)]


def scatters_of_nd_by_methods(tf):
    v = tf.Variable([[1, 2], [3, 4]])
    with tf.Session() as sess:
        initialize(tf, sess)
        return [sess.run(f([[0, 1], [1, 0]], [10, 20])) for f in (v.scatter_nd_update, v.scatter_nd_add, v.scatter_nd_sub)]


def assigned_slices(tf):
    v = tf.Variable([1, 2, 3, 4])
    w = tf.Variable([[1, 2], [3, 4]])
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(v[1:3].assign([20, 30])), sess.run(v[::2].assign([0, 0])), sess.run(w[:, 1].assign([8, 9])), sess.run(w[0].assign([5, 5])), sess.run(v)


def assigned_slices_of_a_resource(tf):
    v = tf.Variable([1, 2, 3, 4], use_resource=True)
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(v[1:3].assign([20, 30]))
        return sess.run(v)


def read_when(tf):
    out = []
    for resource in KINDS:
        v = tf.Variable(1, use_resource=resource)
        with tf.control_dependencies([v.assign(5)]):
            later, read = v + 0, v.read_value()
        with tf.Session() as sess:
            initialize(tf, sess)
            out.append([sess.run(read), sess.run(v.value())])
    return out
