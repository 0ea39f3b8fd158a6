"""`cond`, `case`, `switch_case`: execution, results, errors."""

import collections

from programs.tools import caught, initialize, names, nodes, run, static

AB = collections.namedtuple("AB", "a, b")


def both_ways(tf, r, p):
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r, {p: True}), sess.run(r, {p: False})



def simple(tf):
    p = tf.placeholder(tf.bool, [])
    r = tf.cond(p, lambda: tf.constant(1), lambda: tf.constant(2))
    return r.name, static(r), both_ways(tf, r, p)


def node_names(tf):
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.constant(1.0, name="x")
    tf.cond(p, lambda: x + 1.0, lambda: x * 2.0)
    return names(tf)


def python_numbers(tf):
    p = tf.placeholder(tf.bool, [])
    return both_ways(tf, tf.cond(p, lambda: 1, lambda: 2), p)


def captured(tf):
    p, x, y = tf.placeholder(tf.bool, []), tf.constant([1, 2]), tf.constant([3, 4])
    return both_ways(tf, tf.cond(p, lambda: x + y, lambda: x - y), p)


def outer_tensor_returned(tf):
    p, x, y = tf.placeholder(tf.bool, []), tf.constant(1), tf.constant(2)
    r = tf.cond(p, lambda: x, lambda: y)
    return r.op.type, both_ways(tf, r, p)


def several_results(tf):
    p, x = tf.placeholder(tf.bool, []), tf.constant(3)
    r = tf.cond(p, lambda: (x, x + 1), lambda: (x * 2, x * 3))
    return type(r).__name__, both_ways(tf, r, p)


def list_of_one_is_unpacked(tf):
    p = tf.placeholder(tf.bool, [])
    r = tf.cond(p, lambda: [tf.constant(1)], lambda: [tf.constant(2)])
    s = tf.cond(p, lambda: [tf.constant(1)], lambda: [tf.constant(2)], strict=True)
    return type(r).__name__ != "list", type(s).__name__, both_ways(tf, r, p), both_ways(tf, s, p)


def structures(tf):
    p = tf.placeholder(tf.bool, [])
    r = tf.cond(p, lambda: {"a": 1, "b": (2, 3.0)}, lambda: {"a": 4, "b": (5, 6.0)})
    n = tf.cond(p, lambda: AB(1, [2]), lambda: AB(3, [4]))
    return both_ways(tf, r, p), both_ways(tf, n, p)


def different_structures(tf):
    p = tf.placeholder(tf.bool, [])
    return caught(lambda: tf.cond(p, lambda: (1, 2), lambda: 3)), caught(lambda: tf.cond(p, lambda: (1, 2), lambda: (3, (4, 5))))


def different_dtypes(tf):
    p = tf.placeholder(tf.bool, [])
    return caught(
        lambda: tf.cond(p, lambda: tf.constant(1), lambda: tf.constant(1.0)),
        "Outputs of true_fn and false_fn must have the same type",
    )


def different_shapes(tf):
    p = tf.placeholder(tf.bool, [])
    r = tf.cond(p, lambda: tf.zeros([2, 3]), lambda: tf.zeros([2, 4]))
    s = tf.cond(p, lambda: tf.zeros([2]), lambda: tf.zeros([]))
    return static(r, s), [v.shape for v in both_ways(tf, r, p)]


def branch_returns_none(tf):
    p = tf.placeholder(tf.bool, [])
    return caught(lambda: tf.cond(p, lambda: None, lambda: tf.constant(1)))


def not_callable(tf):
    p = tf.constant(True)
    return caught(lambda: tf.cond(p, 1, lambda: 2), "true_fn must be callable."), caught(lambda: tf.cond(p, lambda: 1, 2), "false_fn must be callable.")


def predicate_is_a_python_bool(tf):
    return caught(lambda: tf.cond(True, lambda: 1, lambda: 2), "pred must not be a Python bool")


def predicate_is_no_bool(tf):
    return caught(lambda: tf.cond(tf.constant(1), lambda: 1, lambda: 2))


def predicate_is_no_scalar(tf):
    return caught(lambda: tf.cond(tf.constant([True, False]), lambda: 1, lambda: 2))


def older_words(tf):
    p = tf.placeholder(tf.bool, [])
    return both_ways(tf, tf.cond(p, fn1=lambda: 1, fn2=lambda: 2), p)


def both_are_called_once(tf):
    calls = []
    p = tf.placeholder(tf.bool, [])
    r = tf.cond(p, lambda: calls.append("t") or 1, lambda: calls.append("f") or 2)
    both_ways(tf, r, p)
    return calls


def only_one_side_runs(tf):
    p = tf.placeholder(tf.bool, [])
    v = tf.Variable(0, use_resource=True)
    r = tf.cond(p, lambda: v.assign_add(1), lambda: v.assign_add(10))
    with tf.Session() as sess:
        initialize(tf, sess)
        return [sess.run(r, {p: b}).tolist() for b in (True, False, True)]


def made_outside_runs_always(tf):
    p = tf.placeholder(tf.bool, [])
    v = tf.Variable(0, use_resource=True)
    outside = v.assign_add(100)
    r = tf.cond(p, lambda: tf.identity(outside), lambda: tf.constant(5))
    with tf.Session() as sess:
        initialize(tf, sess)
        first = sess.run(r, {p: False})
        return first, sess.run(v)


def operations_as_results(tf):
    p = tf.placeholder(tf.bool, [])
    v = tf.Variable(0, use_resource=True)
    r = tf.cond(p, lambda: tf.group(v.assign(5)), lambda: tf.no_op())
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(r, {p: False})
        before = sess.run(v)
        sess.run(r, {p: True})
        return before, sess.run(v)


def nested(tf):
    p, q = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    r = tf.cond(p, lambda: tf.cond(q, lambda: 1, lambda: 2), lambda: tf.cond(q, lambda: 3, lambda: 4))
    with tf.Session() as sess:
        return [sess.run(r, {p: a, q: b}) for a in (True, False) for b in (True, False)]


def error_on_the_side_taken(tf):
    p = tf.placeholder(tf.bool, [])
    i = tf.placeholder_with_default(7, [])
    r = tf.cond(p, lambda: tf.gather([1, 2], i), lambda: 0)
    with tf.Session() as sess:
        return sess.run(r, {p: False}), caught(lambda: sess.run(r, {p: True}), "is not in [0, 2)")


def inside_cannot_be_fetched(tf):
    p = tf.placeholder(tf.bool, [])
    inner = []
    tf.cond(p, lambda: inner.append(tf.constant(1) + 0) or inner[0], lambda: tf.constant(2))
    with tf.Session() as sess:
        return caught(lambda: sess.run(inner[0], {p: False}))


def variables_of_both_kinds(tf):
    p = tf.placeholder(tf.bool, [])
    a, b = tf.Variable(1.0), tf.Variable(2.0, use_resource=True)
    return both_ways(tf, tf.cond(p, lambda: a + b, lambda: a - b), p)


def assignment_of_a_reference_variable(tf):
    p = tf.placeholder(tf.bool, [])
    v = tf.Variable(1.0)
    r = tf.cond(p, lambda: tf.assign(v, 5.0), lambda: tf.assign(v, 7.0))
    return both_ways(tf, r, p)


def smart_predicates(tf):
    x = tf.constant(1)
    return run(tf, tf.cond(tf.less(x, 2), lambda: "yes", lambda: "no"))


def case_in_order(tf):
    x = tf.placeholder(tf.int32, [])
    r = tf.case([(x < 1, lambda: tf.constant(1)), (x < 10, lambda: tf.constant(2))], default=lambda: tf.constant(3))
    with tf.Session() as sess:
        return static(r), [sess.run(r, {x: v}) for v in (0, 5, 50)]


def case_names(tf):
    x = tf.placeholder(tf.int32, [], name="x")
    tf.case([(x < 1, lambda: tf.constant(1))], default=lambda: tf.constant(3))
    return nodes(tf)


def case_without_default(tf):
    x = tf.placeholder(tf.int32, [])
    r = tf.case([(x < 1, lambda: tf.constant(1)), (x < 10, lambda: tf.constant(2))])
    with tf.Session() as sess:
        return sess.run(r, {x: 0}), sess.run(r, {x: 5}), caught(lambda: sess.run(r, {x: 50}), "None of conditions evaluated as True")


def case_exclusive(tf):
    x = tf.placeholder(tf.int32, [])
    pairs = [(x < 5, lambda: tf.constant(1)), (x < 10, lambda: tf.constant(2))]
    r = tf.case(pairs, default=lambda: tf.constant(3), exclusive=True)
    with tf.Session() as sess:
        return sess.run(r, {x: 7}), caught(lambda: sess.run(r, {x: 0}), "more than 1 conditions")


def case_of_a_dict(tf):
    x = tf.placeholder(tf.int32, [])
    r = tf.case({x < 5: lambda: tf.constant(1), x > 10: lambda: tf.constant(2)}, default=lambda: tf.constant(3), exclusive=True)
    with tf.Session() as sess:
        return [sess.run(r, {x: v}) for v in (0, 20, 7)]


def case_of_a_dict_not_exclusive(tf):
    x = tf.placeholder(tf.int32, [])
    r = tf.case({x < 5: lambda: tf.constant(1), x > 10: lambda: tf.constant(2)}, default=lambda: tf.constant(3))
    return run(tf, r, {x: 7})


def case_of_structures(tf):
    x = tf.placeholder(tf.int32, [])
    r = tf.case([(x < 5, lambda: (1, 2.0))], default=lambda: (3, 4.0))
    with tf.Session() as sess:
        return [sess.run(r, {x: v}) for v in (0, 20)]


def case_refusals(tf):
    t = tf.constant(True)
    return (
        caught(lambda: tf.case(1)),
        caught(lambda: tf.case([(t, 1)])),
        caught(lambda: tf.case([(1, lambda: 1)])),
        caught(lambda: tf.case([(t, lambda: 1)], default=3)),
        caught(lambda: tf.case([t])),
    )


def case_single_without_default(tf):
    return run(tf, tf.case([(tf.constant(True), lambda: tf.constant(4))]))


def switch_by_index(tf):
    i = tf.placeholder(tf.int32, [])
    r = tf.switch_case(i, {0: lambda: tf.constant(10), 1: lambda: tf.constant(20), 2: lambda: tf.constant(30)})
    with tf.Session() as sess:
        return [sess.run(r, {i: v}) for v in (0, 1, 2, 3, -1)]


def switch_of_a_list(tf):
    i = tf.placeholder(tf.int32, [])
    r = tf.switch_case(i, [lambda: tf.constant(1), lambda: tf.constant(2)], default=lambda: tf.constant(-1))
    with tf.Session() as sess:
        return [sess.run(r, {i: v}) for v in (0, 1, 2, -1)]


def switch_of_pairs(tf):
    i = tf.placeholder(tf.int32, [])
    r = tf.switch_case(i, [(1, lambda: tf.constant(1)), (0, lambda: tf.constant(0))])
    with tf.Session() as sess:
        return [sess.run(r, {i: v}) for v in (0, 1)]


def switch_refusals(tf):
    i = tf.constant(0)
    return (
        caught(lambda: tf.switch_case(i, 3)),
        caught(lambda: tf.switch_case(i, {0: lambda: 1, 2: lambda: 2})),
        caught(lambda: tf.switch_case(tf.constant(0.5), [lambda: 1])),
        caught(lambda: tf.switch_case(i, [1])),
    )


def group_and_tuple(tf):
    v = tf.Variable(1, use_resource=True)
    g = tf.group(v.assign_add(1), v.assign_add(2), name="both")
    a, b = tf.tuple([tf.constant(1), tf.constant(2)], control_inputs=[g])
    with tf.Session() as sess:
        initialize(tf, sess)
        first = sess.run([a, b])
        return g.name, g.type, first, sess.run(v)


def no_op_and_empty_group(tf):
    return tf.no_op().type, tf.group().type, tf.no_op(name="x").name, run(tf, tf.no_op())


def with_dependencies(tf):
    v = tf.Variable(1, use_resource=True)
    with tf.control_dependencies([v.assign(9)]):
        x = tf.identity(v.read_value())
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(x)
