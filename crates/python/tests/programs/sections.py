"""Critical sections: parts of graphs that no two runs are in at a time."""

import threading

from programs.tools import caught, run


def _counter(tf):
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)

    def next_number():
        old = v.read_value()
        with tf.control_dependencies([old]):
            with tf.control_dependencies([v.assign_add(1.0)]):
                return tf.identity(old)

    return v, next_number


def in_one_run(tf):
    v, next_number = _counter(tf)
    section = tf.CriticalSection(name="section")
    numbers = [section.execute(next_number) for _ in range(10)]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sorted(float(n) for n in sess.run(numbers)), sess.run(v), section.name


def in_many_threads(tf):
    v, next_number = _counter(tf)
    section = tf.CriticalSection()
    number = section.execute(next_number)
    found = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())

        def work():
            for _ in range(20):
                found.append(float(sess.run(number)))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sorted(found), sess.run(v)


def one_after_another(tf):
    v, next_number = _counter(tf)
    section = tf.CriticalSection(name="s", shared_name="shared")
    first = section.execute(next_number)
    second = section.execute(lambda: v.assign_add(10.0 * (first + 1.0)))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run([first, second])


def free_after_a_failure(tf):
    v, next_number = _counter(tf)
    section = tf.CriticalSection()
    ok = tf.placeholder(tf.bool, [])

    def may_fail():
        with tf.control_dependencies([tf.Assert(ok, ["no"])]):
            return v.assign_add(1.0)

    made = section.execute(may_fail)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        failed = caught(lambda: sess.run(made, {ok: False}), "assertion failed")
        return failed, sess.run(made, {ok: True})


def results(tf):
    v, _ = _counter(tf)
    section = tf.CriticalSection()
    several = section.execute(lambda: {"a": v.read_value(), "b": (tf.constant(1), 2)})
    nothing = section.execute(lambda: tf.no_op())
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(nothing)
        return sess.run(several), nothing.type


def mistakes(tf):
    v, next_number = _counter(tf)
    section = tf.CriticalSection()
    section.execute(next_number)
    other = tf.CriticalSection()
    tf.CriticalSection().execute(lambda: tf.constant(1), exclusive_resource_access=False)
    return [
        caught(lambda: section.execute(lambda: section.execute(next_number)), "attempts to directly access the CriticalSection"),
        caught(lambda: other.execute(next_number), "This execution would access resources"),
        caught(lambda: section.execute(lambda: None), "None values not supported."),
    ]
