"""`case` and `switch_case`: pairs, dicts, defaults, names, misuse."""

from programs.tools import WHOLE, caught, run


def case_first_of_several(tf):
    x = tf.placeholder(tf.int32, [])
    r = tf.case([(x < 1, lambda: 1), (x < 5, lambda: 2), (x < 3, lambda: 3)], default=lambda: 4)
    with tf.Session() as sess:
        return [sess.run(r, {x: k}) for k in range(7)]


def case_exclusive_and_two_hold(tf):
    x = tf.placeholder(tf.int32, [])
    r = tf.case([(x < 3, lambda: 1), (x > 1, lambda: 2)], default=lambda: 3, exclusive=True)
    with tf.Session() as sess:
        return sess.run(r, {x: 0}), sess.run(r, {x: 5}), caught(lambda: sess.run(r, {x: 2}), WHOLE)


def case_of_a_dict(tf):
    x = tf.placeholder(tf.int32, [])
    r = tf.case({x < 0: lambda: -1, x > 0: lambda: 1}, default=lambda: 0, exclusive=True)
    with tf.Session() as sess:
        return [sess.run(r, {x: k}) for k in (-5, 0, 5)]


def case_strict(tf):
    r = tf.case([(tf.constant(True), lambda: [1])], default=lambda: [2], strict=True)
    s = tf.case([(tf.constant(True), lambda: [1])], default=lambda: [2])
    return type(r).__name__, type(s).__name__, run(tf, [r, s])


def case_of_structures(tf):
    x = tf.placeholder(tf.int32, [])
    r = tf.case([(x < 1, lambda: (1, 2.0)), (x < 2, lambda: (3, 4.0))], default=lambda: (5, 6.0))
    with tf.Session() as sess:
        return [sess.run(r, {x: k}) for k in range(3)]


def case_names(tf):
    x = tf.placeholder(tf.int32, [], name="x")
    r = tf.case([(x < 1, lambda: 1), (x < 2, lambda: 2)], default=lambda: 3)
    s = tf.case([(x < 1, lambda: 1)], default=lambda: 3, name="mine")
    return r.name, s.name


def case_misused(tf):
    p = tf.constant(True)
    return [
        caught(lambda: tf.case(p), WHOLE),
        caught(lambda: tf.case([p]), WHOLE),
        caught(lambda: tf.case([(p, 1)]), WHOLE),
        caught(lambda: tf.case([(True, lambda: 1)]), WHOLE),
        caught(lambda: tf.case([(tf.constant(1), lambda: 1)]), WHOLE),
        caught(lambda: tf.case([(p, lambda: 1)], default=1), WHOLE),
    ]


def case_of_nothing(tf):
    return caught(lambda: tf.case([])), caught(lambda: tf.case([], default=lambda: tf.constant(1)))


def switch_in_and_out_of_range(tf):
    i = tf.placeholder(tf.int32, [])
    r = tf.switch_case(i, [lambda: 10, lambda: 20, lambda: 30])
    with tf.Session() as sess:
        return [sess.run(r, {i: k}) for k in (0, 1, 2, 3, 100, -1)]


def switch_with_a_default(tf):
    i = tf.placeholder(tf.int32, [])
    r = tf.switch_case(i, {1: lambda: 20, 0: lambda: 10}, default=lambda: 99)
    with tf.Session() as sess:
        return [sess.run(r, {i: k}) for k in (0, 1, 5, -1)]


def switch_of_one(tf):
    return run(tf, tf.switch_case(tf.constant(3), [lambda: 10]))


def switch_of_a_number(tf):
    return caught(lambda: run(tf, tf.switch_case(1, [lambda: 10, lambda: 20])))


def switch_of_int64(tf):
    return caught(lambda: tf.switch_case(tf.constant(1, tf.int64), [lambda: 10, lambda: 20]), WHOLE)


def switch_misused(tf):
    i = tf.constant(0)
    return [
        caught(lambda: tf.switch_case(i, 5), WHOLE),
        caught(lambda: tf.switch_case(i, [lambda: 1, 2]), WHOLE),
        caught(lambda: tf.switch_case(i, [(0, lambda: 1), (0, lambda: 2)]), WHOLE),
        caught(lambda: tf.switch_case(i, [(0, lambda: 1), (2, lambda: 2)]), WHOLE),
        caught(lambda: tf.switch_case(i, [(0, 1), (1, 2)]), WHOLE),
        caught(lambda: tf.switch_case(i, {"a": lambda: 1}), WHOLE),
        caught(lambda: tf.switch_case(i, [lambda: 1], default=3)),
        caught(lambda: tf.switch_case(1.0, [lambda: 1]), WHOLE),
        caught(lambda: tf.switch_case(i, []), WHOLE),
    ]


def switch_names(tf):
    i = tf.constant(0, name="i")
    return tf.switch_case(i, [lambda: 1, lambda: 2]).name, tf.switch_case(i, [lambda: 1, lambda: 2], name="mine").name
