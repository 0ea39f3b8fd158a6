"""Reads of reference variables: they take place when the value is used, and see earlier updates."""

from programs.tools import initialize


def _session(tf):
    sess = tf.Session()
    initialize(tf, sess)
    return sess


def _after(tf, update, use, start=(1.0, 2.0), **kwargs):
    """Returns the result of `use` after `update`, ordered only by a control dependency."""
    v = tf.Variable(list(start), **kwargs)
    with tf.control_dependencies([update(v)]):
        result = use(v)
    with _session(tf) as sess:
        return sess.run(result), sess.run(v)


def _plus(tf):
    return lambda v: v.assign_add([5.0, 6.0])


def product_after_assign(tf):
    return _after(tf, lambda v: v.assign([5.0, 6.0]), lambda v: v * 10.0)


def product_after_assign_add(tf):
    return _after(tf, _plus(tf), lambda v: v * 10.0)


def identity_after_assign_add(tf):
    return _after(tf, _plus(tf), tf.identity)


def read_value_after_assign_add(tf):
    return _after(tf, _plus(tf), lambda v: v.read_value() + 0.0)


def product_after_a_training_step(tf):
    def update(v):
        return tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(v * v))

    return _after(tf, update, lambda v: v * 10.0), _after(tf, update, lambda v: v * 10.0, use_resource=True)


def taken_before_used_after(tf):
    v = tf.Variable([1.0, 2.0])
    taken = tf.identity(v)
    early = v * 3.0
    with tf.control_dependencies([early]):
        update = v.assign_add([1.0, 1.0])
    with tf.control_dependencies([update]):
        late = taken * 1.0
    with _session(tf) as sess:
        return sess.run([early, late])


def fetched_beside_an_update(tf):
    v = tf.Variable([1.0, 2.0])
    update = v.assign_add([1.0, 1.0])
    with _session(tf) as sess:
        return sess.run([v, update]), sess.run([v.value(), update]), sess.run([update, v])


def captured_by_a_loop_that_writes(tf):
    v = tf.Variable([1.0, 2.0])
    taken = v.value()

    def body(i, total):
        with tf.control_dependencies([v.assign_add([1.0, 1.0])]):
            return i + 1, total * 10.0 + taken

    # One iteration at a time: in parallel iterations TensorFlow does not order the updates.
    loop = tf.while_loop(lambda i, total: i < 3, body, [0, tf.zeros([2])], parallel_iterations=1)
    with _session(tf) as sess:
        return sess.run(loop), sess.run(v)


def captured_by_a_loop_after_an_update(tf):
    def use(v):
        return tf.while_loop(lambda i, total: i < 3, lambda i, total: (i + 1, total * 10.0 + v), [0, tf.zeros([2])])[1]

    return _after(tf, _plus(tf), use)


def captured_by_a_branch_after_an_update(tf):
    def use(v):
        return tf.cond(tf.placeholder_with_default(True, []), lambda: v * 1.0, lambda: v + 1.0)

    return _after(tf, _plus(tf), use)


def computed_in_a_branch_that_writes(tf):
    v = tf.Variable([1.0, 2.0])

    def update():
        with tf.control_dependencies([v.assign_add([1.0, 1.0])]):
            return v * 2.0

    choice = tf.placeholder(tf.bool, [])
    result = tf.cond(choice, update, lambda: v * 3.0)
    with _session(tf) as sess:
        return sess.run(result, {choice: True}), sess.run(result, {choice: False}), sess.run(v)


def moving_average_after_a_step(tf):
    v = tf.Variable([1.0, 2.0])
    step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(v * v))
    average = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([step]):
        both = average.apply([v])
    with _session(tf) as sess:
        for _ in range(3):
            sess.run(both)
        return sess.run(average.average(v)), sess.run(v)


def gathered_after_a_scatter(tf):
    return _after(tf, lambda v: tf.scatter_update(v, [0], [7.0]), lambda v: tf.gather(v, [0, 1]))


def feeding_the_read(tf):
    v = tf.Variable([1.0, 2.0])
    read = v.value()
    with tf.control_dependencies([v.assign_add([1.0, 1.0])]):
        late = read * 2.0
    with _session(tf) as sess:
        return sess.run(late, {read: [10.0, 20.0]})
