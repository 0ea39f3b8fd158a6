"""`while_loop`: loop variables of all types, captures, results, order of execution."""

import collections

import numpy as np

from programs.tools import caught, initialize, names, nodes, run, static

Pair = collections.namedtuple("Pair", "j, k")


def counter(tf):
    i = tf.constant(0)
    r = tf.while_loop(lambda i: tf.less(i, 10), lambda i: tf.add(i, 1), [i])
    return r.name, run(tf, r), nodes(tf)


def counter_body_returns_a_tuple(tf):
    i = tf.constant(0)
    r = tf.while_loop(lambda i: tf.less(i, 10), lambda i: (tf.add(i, 1),), [i])
    return r.name, run(tf, r)


def counter_body_returns_a_list(tf):
    i = tf.constant(0)
    r = tf.while_loop(lambda i: tf.less(i, 10), lambda i: [tf.add(i, 1)], [i])
    return r.name, run(tf, r)


def counter_from_a_number(tf):
    r = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0])
    return static(r), run(tf, r)


def single_variable_not_in_a_list(tf):
    i = tf.constant(0)
    r = tf.while_loop(lambda i: i < 3, lambda i: i + 1, (i,))
    return r.name, run(tf, r)


def return_same_structure(tf):
    i = tf.constant(0)
    r = tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [i], return_same_structure=True)
    return type(r).__name__, len(r), run(tf, r)


def zero_iterations(tf):
    r = tf.while_loop(lambda i: i < 0, lambda i: i + 1, [5])
    return run(tf, r)


def two_variables(tf):
    r = tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + i), [0, 0])
    return [t.name for t in r], run(tf, r), nodes(tf)


def fibonacci(tf):
    r = tf.while_loop(lambda i, a, b: i < 20, lambda i, a, b: [i + 1, b, a + b], [0, 0, 1])
    return run(tf, r)


def collatz(tf):
    n = tf.placeholder(tf.int64, [])
    step = lambda n, k: (tf.cond(tf.equal(n % 2, 0), lambda: n // 2, lambda: 3 * n + 1), k + 1)
    _, steps = tf.while_loop(lambda n, k: n > 1, step, [n, 0])
    with tf.Session() as sess:
        return [sess.run(steps, {n: start}) for start in (1, 6, 27, 97)]


def namedtuple_nest(tf):
    start = (tf.constant(0), Pair(tf.constant(1), tf.constant(2)))
    r = tf.while_loop(lambda i, p: i < 10, lambda i, p: (i + 1, Pair(p.j + p.k, p.j - p.k)), start)
    return type(r).__name__, type(r[1]).__name__, r[1].k.name, run(tf, r)


def dict_variable(tf):
    start = [0, {"b": 1.0, "a": tf.zeros([2])}]
    body = lambda i, d: [i + 1, {"a": d["a"] + d["b"], "b": d["b"] * 2.0}]
    r = tf.while_loop(lambda i, d: i < 3, body, start)
    return sorted(r[1]), run(tf, r)


def list_in_a_tuple(tf):
    r = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, [x[0] + 1, x[1] * 2]), (0, [1, 1]))
    return type(r[1]).__name__, run(tf, r)


def body_returns_a_list_for_a_tuple(tf):
    r = tf.while_loop(lambda i, x: i < 3, lambda i, x: [i + 1, x + 1.0], (0, 1.0))
    return type(r).__name__, run(tf, r)


def nested_loops(tf):
    def outer(i, total):
        _, total = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + j), [0, total])
        return i + 1, total

    r = tf.while_loop(lambda i, t: i < 5, outer, [0, 0])
    return run(tf, r), [n.name for n in tf.get_default_graph().get_operations() if n.type == "Enter"]


def three_deep(tf):
    def body(depth, s):
        if depth == 0:
            return s + 1
        return tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, body(depth - 1, s)), [0, s])[1]

    return run(tf, body(3, tf.constant(0)))


def captured_tensors(tf):
    limit, step = tf.constant(10, name="limit"), tf.constant(3, name="step")
    r = tf.while_loop(lambda i: i < limit, lambda i: i + step, [0])
    enters = [(op.name, op.get_attr("is_constant")) for op in tf.get_default_graph().get_operations() if op.type == "Enter"]
    return run(tf, r), enters


def captured_placeholder(tf):
    n = tf.placeholder(tf.int32, [])
    r = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + n), [0, 0])
    with tf.Session() as sess:
        return [sess.run(r, {n: k}) for k in (0, 1, 5)]


def captured_through_two_loops(tf):
    x = tf.constant(2.0, name="x")
    inner = lambda s: tf.while_loop(lambda j, s: j < 2, lambda j, s: (j + 1, s * x), [0, s])[1]
    r = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, inner(s)), [0, 1.0])
    return run(tf, r)


def constants_made_inside(tf):
    def body(i, s):
        c = tf.constant([1.0, 2.0])
        return i + 1, s + c

    r = tf.while_loop(lambda i, s: i < 3, body, [0, tf.zeros([2])])
    return run(tf, r)


def same_tensor_as_two_variables(tf):
    x = tf.constant(1)
    r = tf.while_loop(lambda a, b: a < 5, lambda a, b: (a + 1, b * 2), [x, x])
    return run(tf, r)


def swapped_variables(tf):
    r = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, b, a), [0, 1, 2])
    return run(tf, r)


def variable_passed_through(tf):
    x = tf.constant([1.0, 2.0])
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y), [0, x])
    return run(tf, r)


def body_returns_an_outer_tensor(tf):
    x = tf.constant(7)
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, x), [0, 0])
    return run(tf, r)


def body_returns_a_python_number(tf):
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, 5), [0, 0])
    return run(tf, r)


def condition_of_an_outer_tensor(tf):
    go = tf.placeholder(tf.bool, [])
    r = tf.while_loop(lambda i: tf.logical_and(go, i < 3), lambda i: i + 1, [0])
    with tf.Session() as sess:
        return sess.run(r, {go: True}), sess.run(r, {go: False})


def maximum_iterations(tf):
    r = tf.while_loop(lambda i: i < 100, lambda i: i + 1, [0], maximum_iterations=7)
    n = tf.placeholder(tf.int32, [])
    q = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], maximum_iterations=n)
    with tf.Session() as sess:
        return sess.run(r), [sess.run(q, {n: k}) for k in (0, 2, 5)]


def maximum_iterations_names(tf):
    r = tf.while_loop(lambda i: i < 100, lambda i: i + 1, [0], maximum_iterations=7)
    return r.name, names(tf)


def maximum_iterations_must_be_scalar(tf):
    return caught(lambda: tf.while_loop(lambda i: i < 1, lambda i: i + 1, [0], maximum_iterations=[1]), "maximum_iterations must be a scalar")


def parallel_iterations_any(tf):
    def loop(n):
        return tf.while_loop(lambda i, s: i < 50, lambda i, s: (i + 1, s + i), [0, 0], parallel_iterations=n)[1]

    return run(tf, [loop(n) for n in (1, 2, 10, 100)])


def parallel_iterations_zero(tf):
    return caught(lambda: tf.while_loop(lambda i: i < 1, lambda i: i + 1, [0], parallel_iterations=0))


def parallel_iterations_as_attribute(tf):
    tf.while_loop(lambda i: i < 1, lambda i: i + 1, [0], parallel_iterations=3)
    enter = tf.get_default_graph().get_operation_by_name("while/Enter")
    return enter.get_attr("parallel_iterations"), enter.get_attr("frame_name"), enter.get_attr("is_constant")


def named(tf):
    r = tf.while_loop(lambda i: i < 1, lambda i: i + 1, [0], name="count")
    s = tf.while_loop(lambda i: i < 1, lambda i: i + 1, [0], name="count")
    return r.name, s.name, [op.get_attr("frame_name") for op in tf.get_default_graph().get_operations() if op.type == "Enter"]


def in_a_name_scope(tf):
    with tf.name_scope("outer"):
        r = tf.while_loop(lambda i: i < 1, lambda i: i + 1, [0])
    return r.name, nodes(tf)


def scopes_inside_the_body(tf):
    def body(i):
        with tf.name_scope("step"):
            return tf.add(i, 1, name="next")

    tf.while_loop(lambda i: i < 1, body, [0])
    return [n for n in nodes(tf) if "step" in n]


def condition_not_callable(tf):
    return caught(lambda: tf.while_loop(1, lambda i: i, [0]), "cond must be callable.")


def body_not_callable(tf):
    return caught(lambda: tf.while_loop(lambda i: True, 1, [0]), "body must be callable.")


def no_variables(tf):
    return caught(lambda: tf.while_loop(lambda: True, lambda: (), []), "No loop variables provided")


def body_returns_too_few(tf):
    return caught(lambda: tf.while_loop(lambda i, j: i < 1, lambda i, j: i, [0, 0]))


def body_returns_another_structure(tf):
    return caught(
        lambda: tf.while_loop(lambda i, p: i < 1, lambda i, p: (i, (p[0], p[1], p[1])), [0, (1, 2)]),
        "The two structures don't have the same nested structure",
    )


def body_takes_too_many(tf):
    return caught(lambda: tf.while_loop(lambda i: i < 1, lambda i, j: i, [0]))


def condition_is_no_bool(tf):
    return caught(lambda: tf.while_loop(lambda i: i, lambda i: i + 1, [0]))


def condition_is_no_scalar(tf):
    return caught(lambda: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.zeros([2])]))


def error_in_the_body_is_not_wrapped(tf):
    def body(i):
        raise KeyError("my own")

    return caught(lambda: tf.while_loop(lambda i: i < 3, body, [0]), "my own")


def error_at_run_time(tf):
    x = tf.constant([1, 2, 3])
    i = tf.placeholder(tf.int32, [])
    r = tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + tf.gather(x, i)), [i, 0])
    return caught(lambda: run(tf, r, {i: 0}), "is not in [0, 3)")


def body_is_called_once(tf):
    calls = []

    def body(i):
        calls.append("body")
        return i + 1

    def condition(i):
        calls.append("cond")
        return i < 5

    r = tf.while_loop(condition, body, [0])
    value = run(tf, r)
    return value, calls


def inside_cannot_be_fetched(tf):
    inner = []

    def body(i):
        inner.append(i + 1)
        return inner[0]

    tf.while_loop(lambda i: i < 3, body, [0])
    return caught(lambda: run(tf, inner[0])), tf.get_default_graph().is_fetchable(inner[0])


def inside_cannot_be_fed(tf):
    inner = []

    def body(i):
        inner.append(i + 1)
        return inner[0]

    r = tf.while_loop(lambda i: i < 3, body, [0])
    return caught(lambda: run(tf, r, {inner[0]: 1})), tf.get_default_graph().is_feedable(inner[0])


def an_inner_tensor_used_outside(tf):
    inner = []

    def body(i):
        inner.append(i + 1)
        return inner[0]

    tf.while_loop(lambda i: i < 3, body, [0])
    return caught(lambda: inner[0] * 2, "is in a while loop")


def fetching_one_variable_only(tf):
    i, x = tf.while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, x * 2.0), [0, 1.0])
    with tf.Session() as sess:
        return sess.run(i), sess.run(x), sess.run([x, i])


def float_condition_variable(tf):
    half = tf.while_loop(lambda x: x > 0.01, lambda x: x / 2.0, [1.0])
    return run(tf, half)


def newton_iteration(tf):
    a = tf.placeholder(tf.float64, [])
    root = tf.while_loop(lambda x, d: tf.abs(d) > 1e-12, lambda x, d: ((x + a / x) / 2.0, (a / x - x) / 2.0), [a, a])[0]
    with tf.Session() as sess:
        return [sess.run(root, {a: v}) for v in (2.0, 9.0, 1e6)]


def matrix_power(tf):
    m = tf.constant([[1.0, 1.0], [1.0, 0.0]])
    r = tf.while_loop(lambda i, p: i < 10, lambda i, p: (i + 1, tf.matmul(p, m)), [0, tf.eye(2)])
    return run(tf, r[1])


def string_variable(tf):
    r = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.string_join([s, "x"])), [0, "a"])
    return run(tf, r)


def bool_variable(tf):
    r = tf.while_loop(lambda i, b: i < 3, lambda i, b: (i + 1, tf.logical_not(b)), [0, True])
    return run(tf, r)


def variable_read_in_the_body(tf):
    v = tf.Variable(3.0, use_resource=True)
    r = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s + v), [0, 0.0])
    return run(tf, r)


def variable_assigned_in_the_body(tf):
    v = tf.Variable(0, use_resource=True)

    def body(i):
        with tf.control_dependencies([v.assign_add(i)]):
            return i + 1

    r = tf.while_loop(lambda i: i < 5, body, [0])
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r), sess.run(v)


def reference_variable_in_the_body(tf):
    v = tf.Variable(10.0)

    def body(i, s):
        with tf.control_dependencies([tf.assign_add(v, 1.0)]):
            return i + 1, s + 1.0

    r = tf.while_loop(lambda i, s: i < 5, body, [0, 0.0], parallel_iterations=1)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r), sess.run(v)


def control_dependencies_in_the_body(tf):
    log = tf.Variable(tf.zeros([3]), use_resource=True)

    def body(i):
        with tf.control_dependencies([tf.scatter_update(log, i, 1.0)]):
            return tf.identity(i) + 1

    r = tf.while_loop(lambda i: i < 3, body, [0])
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r), sess.run(log)


def outer_control_dependency(tf):
    v = tf.Variable(0, use_resource=True)
    with tf.control_dependencies([v.assign(5)]):
        r = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r), sess.run(v)


def print_program(tf):
    n = 100
    x = tf.constant(list(range(n)))
    i, out = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x + 1), (0, x))
    with tf.Session() as sess:
        return sess.run(i), sess.run(out).shape, sess.run(out)[:3]


def cond_in_a_loop(tf):
    body = lambda i, s: (i + 1, tf.cond(i % 2 > 0, lambda: s + i, lambda: s - i))
    r = tf.while_loop(lambda i, s: i < 7, body, [0, 0])
    return run(tf, r)


def loop_in_a_cond(tf):
    p = tf.placeholder(tf.bool, [])
    up = lambda: tf.while_loop(lambda i: i < 10, lambda i: i + 3, [0])
    r = tf.cond(p, up, lambda: tf.constant(-1))
    with tf.Session() as sess:
        return sess.run(r, {p: True}), sess.run(r, {p: False})


def while_context_collection(tf):
    tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    contexts = tf.get_default_graph().get_collection(tf.GraphKeys.WHILE_CONTEXT)
    return len(contexts), contexts[0].name


def hand_made(tf):
    """Primitive ops, with the back edge set afterwards."""
    zero, ten, one = tf.constant(0), tf.constant(10), tf.constant(1)
    raw = tf.raw_ops
    enter = raw.Enter(data=zero, frame_name="mine", is_constant=False, parallel_iterations=10)
    limit = raw.Enter(data=ten, frame_name="mine", is_constant=True, parallel_iterations=10)
    step = raw.Enter(data=one, frame_name="mine", is_constant=True, parallel_iterations=10)
    merge = raw.Merge(inputs=[enter, enter])
    go = raw.LoopCond(input=raw.Less(x=merge.output, y=limit))
    switch = raw.Switch(data=merge.output, pred=go)
    following = raw.NextIteration(data=raw.Add(x=switch.output_true, y=step))
    out = raw.Exit(data=switch.output_false)
    merge.output.op._update_input(1, following)
    return run(tf, out)


def many_iterations(tf):
    return run(tf, tf.while_loop(lambda i: i < 20000, lambda i: i + 1, [0]))


def numpy_variables(tf):
    r = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), [np.int32(0), np.ones([2], np.float32)])
    return static(*r), run(tf, r)


def loop_variable_from_a_variable(tf):
    v = tf.Variable([1.0, 2.0])
    r = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + 1.0), [0, v])
    return r[1].dtype.name, run(tf, r)


def sums_over_rows(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    r = tf.while_loop(lambda i, s: i < tf.shape(x)[0], lambda i, s: (i + 1, s + x[i]), [0, tf.zeros([2])])
    return run(tf, r)


def while_loop_with_back_prop_off(tf):
    x = tf.constant(2.0)
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x], back_prop=False)
    return run(tf, r[1]), tf.gradients(r[1], x)


def swap_memory(tf):
    x = tf.constant(2.0)
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x], swap_memory=True)
    return run(tf, [r[1], tf.gradients(r[1], x)[0]])
