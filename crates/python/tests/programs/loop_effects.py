"""Side effects in loops: assignments, queues, assertions, control edges, devices, scopes; nesting."""

from programs.tools import WHOLE, caught, initialize, run


def assign_in_the_body(tf):
    v = tf.Variable(0, name="v")

    def body(i):
        with tf.control_dependencies([tf.assign(v, i * 10)]):
            return i + 1

    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(tf.while_loop(lambda i: i < 4, body, [0])), sess.run(v)


def assign_add_of_a_resource_in_the_body(tf):
    v = tf.get_variable("v", initializer=1.5, use_resource=True)

    def body(i):
        with tf.control_dependencies([v.assign_add(2.0)]):
            return tf.identity(i) + 1

    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(tf.while_loop(lambda i: i < 4, body, [0], parallel_iterations=1)), sess.run(v)


def scatter_in_the_body(tf):
    v = tf.Variable([0, 0, 0, 0])

    def body(i):
        with tf.control_dependencies([tf.scatter_update(v, [i], [i * i])]):
            return i + 1

    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(tf.while_loop(lambda i: i < 4, body, [0]))
        return sess.run(v)


def count_up_to_in_the_body(tf):
    v = tf.Variable(0)
    r = tf.while_loop(lambda i: i < 3, lambda i: tf.count_up_to(v, 10) + 1, [0])
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r), sess.run(v)


def count_up_to_past_its_limit(tf):
    v = tf.Variable(0)
    r = tf.while_loop(lambda i: i < 100, lambda i: tf.count_up_to(v, 5), [0])
    with tf.Session() as sess:
        initialize(tf, sess)
        return caught(lambda: sess.run(r), WHOLE), sess.run(v)


def enqueue_in_the_body(tf):
    q = tf.FIFOQueue(10, tf.int32, [])

    def body(i):
        with tf.control_dependencies([q.enqueue(i * i)]):
            return i + 1

    with tf.Session() as sess:
        sess.run(tf.while_loop(lambda i: i < 4, body, [0], parallel_iterations=1))
        return sess.run(q.size()), sess.run(q.dequeue_many(4))


def dequeue_in_the_body(tf):
    q = tf.FIFOQueue(10, tf.int32, [])
    r = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * 10 + q.dequeue()), (0, 0), parallel_iterations=1)
    with tf.Session() as sess:
        sess.run(q.enqueue_many([[1, 2, 3, 4]]))
        return sess.run(r), sess.run(q.size())


def dequeue_until_negative(tf):
    q = tf.FIFOQueue(10, tf.int32, [])
    r = tf.while_loop(lambda x, n: x >= 0, lambda x, n: (q.dequeue(), n + 1), (0, 0))
    with tf.Session() as sess:
        sess.run(q.enqueue_many([[1, 2, -1, 4]]))
        return sess.run(r), sess.run(q.size())


def dequeue_in_the_condition(tf):
    q = tf.FIFOQueue(10, tf.bool, [])
    r = tf.while_loop(lambda n: q.dequeue(), lambda n: n + 1, [0])
    with tf.Session() as sess:
        sess.run(q.enqueue_many([[True, True, False]]))
        return sess.run(r), sess.run(q.size())


def queue_runs_dry_in_the_body(tf):
    q = tf.FIFOQueue(10, tf.int32, [], name="q")
    r = tf.while_loop(lambda i: i < 9, lambda i: i + q.dequeue(), [0])
    with tf.Session() as sess:
        sess.run(q.enqueue_many([[1, 2]]))
        sess.run(q.close())
        return caught(lambda: sess.run(r))


def assertion_in_the_body(tf):
    def body(i):
        with tf.control_dependencies([tf.Assert(i < 3, [i])]):
            return i + 1

    r = tf.while_loop(lambda i, : i < 5, body, [0])
    return caught(lambda: run(tf, r), WHOLE)


def assertion_that_holds(tf):
    def body(i):
        with tf.control_dependencies([tf.assert_less(i, 10)]):
            return i + 1

    return run(tf, tf.while_loop(lambda i: i < 5, body, [0]))


def check_numerics_in_the_body(tf):
    r = tf.while_loop(lambda x: x < 5.0, lambda x: tf.check_numerics(x / 0.0, "bad"), [1.0])
    return caught(lambda: run(tf, r), WHOLE)


def read_after_assignment_each_time(tf):
    v = tf.Variable(1.0)

    def body(i, x):
        with tf.control_dependencies([v.assign(v.read_value() * 2.0)]):
            return i + 1, x + v.read_value()

    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(tf.while_loop(lambda i, x: i < 3, body, (0, 0.0), parallel_iterations=1)), sess.run(v)


def variable_used_after_assignment_each_time(tf):
    v = tf.Variable(1.0)

    def body(i, x):
        with tf.control_dependencies([v.assign(v * 2.0)]):
            return i + 1, x + v.read_value()

    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(tf.while_loop(lambda i, x: i < 3, body, (0, 0.0), parallel_iterations=1)), sess.run(v)


def outer_control_dependency_runs_once(tf):
    v = tf.Variable(0)
    add = tf.assign_add(v, 1)
    with tf.control_dependencies([add]):
        r = tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0])
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r), sess.run(v)


def control_dependency_on_an_inner_operation_from_outside(tf):
    kept = []

    def body(i):
        kept.append(tf.add(i, 1))
        return kept[0]

    tf.while_loop(lambda i: i < 5, body, [0])

    def outside():
        with tf.control_dependencies([kept[0]]):
            return run(tf, tf.constant(1))

    return caught(outside)[0] != "nothing was raised" or outside()


def control_dependency_on_the_loop(tf):
    v = tf.Variable(0)

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, 1)]):
            return i + 1

    r = tf.while_loop(lambda i: i < 5, body, [0], parallel_iterations=1)
    with tf.control_dependencies([r]):
        x = v.read_value()
    return run(tf, x)


def control_inputs_of_constants_in_the_body(tf):
    def body(i):
        c = tf.constant(1, name="one")
        return i + c

    tf.while_loop(lambda i: i < 5, body, [0])
    op = tf.get_default_graph().get_operation_by_name("while/one")
    return [c.name for c in op.control_inputs]


def group_in_the_body(tf):
    v, w = tf.Variable(0), tf.Variable(0)

    def body(i):
        with tf.control_dependencies([tf.group(tf.assign_add(v, 1), tf.assign_add(w, 2))]):
            return i + 1

    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(tf.while_loop(lambda i: i < 5, body, [0], parallel_iterations=1)), sess.run([v, w])


def device_in_the_body(tf):
    def body(i):
        with tf.device("/cpu:0"):
            return tf.add(i, 1, name="next")

    r = tf.while_loop(lambda i: i < 5, body, [0])
    return tf.get_default_graph().get_operation_by_name("while/next").device, run(tf, r)


def device_around_the_loop(tf):
    with tf.device("/device:CPU:0"):
        r = tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0])
    return r.device, run(tf, r)


def scopes_in_the_body(tf):
    names = []

    def body(i):
        with tf.name_scope("deep"):
            n = tf.add(i, 1, name="next")
        names.append(n.name)
        return n

    def more(i):
        with tf.name_scope("deep"):
            m = tf.less(i, 5, name="more")
        names.append(m.name)
        return m

    tf.while_loop(more, body, [0], name="w")
    return names


def absolute_scope_in_the_body(tf):
    names = []

    def body(i):
        with tf.name_scope("abs/"):
            n = tf.add(i, 1, name="next")
        names.append(n.name)
        return n

    return run(tf, tf.while_loop(lambda i: i < 5, body, [0])), names


def variable_made_in_the_body(tf):
    def body(i):
        v = tf.get_variable("v", initializer=tf.constant_initializer(3), shape=[], dtype=tf.int32)
        return i + v

    r = tf.while_loop(lambda i: i < 5, body, [0])
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r), [v.name for v in tf.global_variables()]


def resource_variable_made_in_the_body(tf):
    def body(i):
        v = tf.get_variable("v", initializer=tf.constant_initializer(3), shape=[], dtype=tf.int32, use_resource=True)
        return i + v

    r = tf.while_loop(lambda i: i < 5, body, [0])
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r), [v.name for v in tf.global_variables()]


def variable_with_a_tensor_made_in_the_body(tf):
    def body(i):
        v = tf.Variable(tf.zeros([], tf.int32) + i)
        return i + v

    return caught(lambda: tf.while_loop(lambda i: i < 5, body, [0]))


def placeholder_made_in_the_body(tf):
    kept = []

    def body(i):
        kept.append(tf.placeholder(tf.int32, []))
        return i + kept[0]

    r = tf.while_loop(lambda i: i < 5, body, [0])
    return caught(lambda: run(tf, r, {kept[0]: 2}))[0] != "nothing was raised" or run(tf, r, {kept[0]: 2})


def random_numbers_differ_each_time(tf):
    tf.set_random_seed(1)
    r = tf.while_loop(lambda i, a, b: i < 2, lambda i, a, b: (i + 1, b, tf.random_uniform([])), (0, 0.0, 0.0), parallel_iterations=1)
    _, a, b = run(tf, r)
    return bool(a != b)


def cond_with_an_assignment_in_the_body(tf):
    v = tf.Variable(0)

    def body(i):
        changed = tf.cond(tf.equal(i % 2, 0), lambda: tf.assign_add(v, 1), lambda: tf.identity(v))
        with tf.control_dependencies([changed]):
            return i + 1

    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(tf.while_loop(lambda i: i < 5, body, [0], parallel_iterations=1)), sess.run(v)
