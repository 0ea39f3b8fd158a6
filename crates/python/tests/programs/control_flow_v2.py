"""Loops and branches that are built after `tf.enable_control_flow_v2`."""

import collections
import contextlib
import functools

import numpy as np

from programs.tools import caught, initialize, run, static

Point = collections.namedtuple("Point", "a, b")


@contextlib.contextmanager
def _on(tf):
    tf.enable_control_flow_v2()
    try:
        yield
    finally:
        tf.disable_control_flow_v2()


def _functional(program):
    """A decorator of programs that run with the switch on."""

    @functools.wraps(program)
    def wrapped(tf):
        with _on(tf):
            return program(tf)

    return wrapped


def _late(tf, value):
    return tf.placeholder_with_default(value, [])


def the_switch(tf):
    before = tf.control_flow_v2_enabled()
    with _on(tf):
        within = tf.control_flow_v2_enabled(), tf.enable_control_flow_v2()
    return before, within, tf.control_flow_v2_enabled(), tf.disable_control_flow_v2()


@_functional
def results_of_cond(tf):
    p, x = _late(tf, True), tf.constant(3.0)
    y = tf.cond(p, lambda: x * 2.0, lambda: x + 1.0)
    z = tf.cond(p, lambda: {"a": x * 2.0, "b": [x]}, lambda: {"a": x * 3.0, "b": [x]}, name="pair")
    return y.name, z["a"].name, z["b"][0].name, static(y, z["a"]), run(tf, [y, z]), run(tf, [y, z], {p: False})


@_functional
def lists_of_one_stay(tf):
    p = _late(tf, True)
    one = tf.cond(p, lambda: [tf.constant(1)], lambda: [tf.constant(2)])
    pair = tf.cond(p, lambda: (tf.constant(1), tf.constant(2)), lambda: (tf.constant(2), tf.constant(3)))
    point = tf.cond(p, lambda: Point(1, 2), lambda: Point(3, 4))
    return type(one).__name__, type(pair).__name__, run(tf, [one, pair, point])


@_functional
def operations_of_branches(tf):
    v, p = tf.Variable(1.0, use_resource=True), tf.placeholder(tf.bool, [])
    done = tf.cond(p, lambda: v.assign_add(1.0).op, tf.no_op)
    with tf.Session() as sess:
        initialize(tf, sess)
        first = sess.run(done, {p: True}), sess.run(v)
        return done.name, done.dtype, first, sess.run(done, {p: False}), sess.run(v)


@_functional
def shapes_of_cond(tf):
    p = _late(tf, True)
    return static(
        tf.cond(p, lambda: tf.zeros([2, 3]), lambda: tf.zeros([2, 4])),
        tf.cond(p, lambda: tf.zeros([2]), lambda: tf.zeros([2, 4])),
        tf.cond(p, lambda: tf.placeholder_with_default([1], [None]), lambda: tf.zeros([2], tf.int32)),
    )


@_functional
def an_array_as_a_predicate(tf):
    return run(tf, [tf.cond(tf.constant([v]), lambda: 1, lambda: 2) for v in (True, False)])


@_functional
def composites_of_cond(tf):
    p = _late(tf, False)
    a, b = tf.SparseTensor([[0]], [1.0], [2]), tf.SparseTensor([[1]], [3.0], [2])
    s = tf.cond(p, lambda: a, lambda: b)
    slices = tf.cond(p, lambda: tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])), lambda: tf.IndexedSlices(tf.constant([2.0]), tf.constant([1])))
    made = run(tf, [s.indices, s.values, slices.values, slices.indices])
    return s.indices.name, s.values.name, slices.values.name, made


@_functional
def structures_of_branches(tf):
    p = _late(tf, True)
    return (
        caught(lambda: tf.cond(p, lambda: 1, lambda: 2.0), "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of return values."),
        caught(lambda: tf.cond(p, lambda: (1, 2), lambda: [1, 2]), "the same number, type, and overall structure"),
        caught(lambda: tf.cond(p, lambda: {"a": 1}, lambda: {"b": 1}), "the same number, type, and overall structure"),
        caught(lambda: tf.cond(p, lambda: 1, lambda: [1]), "the same number, type, and overall structure"),
        caught(lambda: tf.cond(p, tf.no_op, lambda: 1), "the same number, type, and overall structure"),
        caught(lambda: tf.cond(p, lambda: 1, lambda: None)),
        caught(lambda: tf.cond(p, 1, lambda: 2), "callable"),
        caught(lambda: tf.cond(True, lambda: 1, lambda: 2), "pred must not be a Python bool"),
    )


@_functional
def gradients_of_cond(tf):
    p, x, w = tf.placeholder(tf.bool, []), tf.constant(3.0), tf.constant(2.0)
    y = tf.cond(p, lambda: x * x * w, lambda: x + 1.0)
    grads = tf.gradients(y, [x, w])
    return run(tf, [y, grads], {p: True}), run(tf, [y, grads], {p: False})


@_functional
def no_gradient_of_cond(tf):
    p, x = _late(tf, True), tf.constant(3.0)
    return tf.gradients(tf.cond(p, lambda: tf.constant(4.0), lambda: tf.constant(1.0)), x)


@_functional
def cond_in_cond(tf):
    p, q, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, []), tf.constant(2.0)
    y = tf.cond(p, lambda: tf.cond(q, lambda: x * x, lambda: x * 3.0), lambda: tf.cond(q, lambda: x + 5.0, lambda: -x))
    g = tf.gradients(y, x)[0]
    return y.name, [run(tf, [y, g], {p: a, q: b}) for a in (True, False) for b in (True, False)]


@_functional
def results_of_loops(tf):
    i, s = tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s * 2.0), [0, 1.0])
    one = tf.while_loop(lambda i: i < 5, lambda i: [i + 1], [0])
    same = tf.while_loop(lambda i: i < 5, lambda i: [i + 1], [0], return_same_structure=True, maximum_iterations=3, name="few")
    return i.name, s.name, one.name, [t.name for t in same], static(i, s, one), run(tf, [i, s, one, same])


@_functional
def structures_of_loops(tf):
    listed = tf.while_loop(lambda i, p: i < 3, lambda i, p: [i + 1, Point(p.a + 1.0, p.b)], (0, Point(1.0, 2.0)))
    paired = tf.while_loop(lambda i, j: i < 3, lambda i, j: (i + 1, [j[0], j[1] + 1]), [0, [1, 2]])
    single = tf.while_loop(lambda d: d["i"] < 3, lambda d: [{"i": d["i"] + 1}], [{"i": 0}])
    return type(listed).__name__, type(listed[1]).__name__, type(paired).__name__, run(tf, [listed, paired, single])


@_functional
def bounds_of_loops(tf):
    bounds = [0, 3, tf.constant(4), -1, tf.placeholder_with_default(2, [])]
    loops = [tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0], maximum_iterations=m) for m in bounds]
    return run(tf, loops), caught(lambda: tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0], maximum_iterations=2.5)), caught(
        lambda: tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0], maximum_iterations=tf.constant(2, tf.int64))
    )


@_functional
def conditions_of_loops(tf):
    loops = [tf.while_loop(c, lambda i: i + 1, [0]) for c in (lambda i: [i < 5], lambda i: tf.reshape(i < 3, [1]))]
    return run(tf, loops + [tf.while_loop(lambda i: tf.constant(True), lambda i: i + 1, [0], maximum_iterations=9)])


@_functional
def invariants_of_loops(tf):
    x = tf.constant([1])
    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    r = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.concat([x, x], 0)), [0, x], shape_invariants=shapes, name="grows")
    return r[1].name, static(*r), run(tf, r)


@_functional
def mistakes_of_loops(tf):
    c = lambda i: i < 5  # noqa: E731
    return (
        caught(lambda: tf.while_loop(c, lambda i: (i, i), [0]), "The two structures don't have the same nested structure."),
        caught(lambda: tf.while_loop(c, lambda i: tf.cast(i, tf.float32), [0]), "but has type <dtype: 'float32'> after 1 iteration."),
        caught(lambda: tf.while_loop(c, lambda i: i + 1.0, [0])),
        caught(lambda: tf.while_loop(lambda i: tf.size(i) < 5, lambda i: tf.concat([i, i], 0), [tf.constant([1])]), "enters the loop with shape (1,), but has shape (2,) after one iteration."),
        caught(lambda: tf.while_loop(1, lambda i: i, [0]), "cond must be callable."),
        caught(lambda: tf.while_loop(c, 1, [0]), "body must be callable."),
        caught(lambda: tf.while_loop(c, lambda i: i, [0], parallel_iterations=0), "parallel_iterations must be a positive integer."),
        caught(lambda: tf.while_loop(lambda i, p: i < 3, lambda i, p: (i + 1, (p.a, p.b)), (0, Point(1.0, 2.0)))),
    )


@_functional
def gradients_of_loops(tf):
    x = tf.constant(2.0)
    y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, 1.0])[1]
    g = tf.gradients(y, x)[0]
    h = tf.gradients(g, x)[0]
    return run(tf, [y, g, h])


@_functional
def gradients_without_back_prop(tf):
    x = tf.constant(2.0)
    y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, 1.0], back_prop=False)[1]
    return run(tf, [y, tf.gradients(y, x)[0]])


@_functional
def loops_in_loops(tf):
    x = tf.constant(0.5)

    def outer(i, s):
        return i + 1, tf.while_loop(lambda j, s: j < i, lambda j, s: (j + 1, s + x * tf.cast(i * j, tf.float32)), [0, s])[1]

    y = tf.while_loop(lambda i, s: i < 5, outer, [0, 0.0])[1]
    return y.name, run(tf, [y, tf.gradients(y, x)[0]])


@_functional
def branches_in_loops(tf):
    x = tf.constant(1.5)
    y = tf.while_loop(lambda i, v: i < 6, lambda i, v: (i + 1, tf.cond(tf.equal(i % 2, 0), lambda: v * x, lambda: v - x)), [0, 2.0])[1]
    return run(tf, [y, tf.gradients(y, x)[0]])


@_functional
def loops_in_branches(tf):
    p, x = tf.placeholder(tf.bool, []), tf.constant(2.0)
    y = tf.cond(p, lambda: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, 1.0])[1], lambda: x)
    g = tf.gradients(y, x)[0]
    return run(tf, [y, g], {p: True}), run(tf, [y, g], {p: False})


@_functional
def cases(tf):
    i = tf.placeholder(tf.int32, [])
    switched = tf.switch_case(i, [lambda: tf.constant(1), lambda: tf.constant(2)], default=lambda: tf.constant(9))
    first = tf.case([(i < 1, lambda: tf.constant(1)), (i < 2, lambda: tf.constant(2))], default=lambda: tf.constant(9))
    return switched.name, first.name, [run(tf, [switched, first], {i: n}) for n in (-1, 0, 1, 7)]


@_functional
def cases_without_a_default(tf):
    i = tf.placeholder(tf.int32, [])
    y = tf.case([(i < 1, lambda: tf.constant(1)), (i < 2, lambda: tf.constant(2))])
    switched = tf.switch_case(i, {1: lambda: i * 10, 0: lambda: i})
    return [run(tf, y, {i: n}) for n in (0, 1)], [run(tf, switched, {i: n}) for n in (0, 1, 5)], caught(lambda: run(tf, y, {i: 5}), "None of conditions evaluated as True")


@_functional
def mistakes_of_switch_case(tf):
    i, message = tf.placeholder(tf.int32, []), "arguments to tf.switch_case must have the same number, type, and overall structure of return values."
    return (
        caught(lambda: tf.switch_case(i, [lambda: 1, lambda: 2.0]), message),
        caught(lambda: tf.switch_case(i, [lambda: 1, lambda: [2]]), message),
        caught(lambda: tf.switch_case(tf.constant(True), [lambda: 1]), "branch_index must an integer Tensor, got <dtype: 'bool'>"),
    )


@_functional
def mapped(tf):
    x, w = tf.constant([1.0, 2.0, 3.0]), tf.constant(2.0)
    m = tf.map_fn(lambda v: v * v * w, x)
    s = tf.scan(lambda a, v: a * w + v, x)
    f = tf.foldl(lambda a, v: a * v * w, x)
    r = tf.foldr(lambda a, v: a + v * w, x)
    return static(m, s, f, r), run(tf, [m, s, f, r, tf.gradients([m, s, f, r], [x, w])])


@_functional
def arrays(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    given = tf.TensorArray(tf.float32, 3).unstack(x)
    made = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t.write(i, given.read(i) * 2.0 + given.read(2 - i))), [0, tf.TensorArray(tf.float32, 3)])[1]
    again = made.read(0), made.read(0)
    return run(tf, [made.stack(), made.size(), again, tf.gradients(made.stack(), x)[0]])


@_functional
def recurrent(tf):
    tf.set_random_seed(3)
    x = tf.constant(np.arange(12).reshape(2, 3, 2) / 10.0, tf.float32)
    outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(2), x, dtype=tf.float32, sequence_length=[2, 3])
    return outputs.name, state.name, static(outputs, state), run(tf, [outputs, state, tf.gradients(tf.reduce_sum(outputs), x)[0]])


@_functional
def random_numbers(tf):
    tf.set_random_seed(1)
    p, x = _late(tf, True), tf.constant(0.0)
    y = tf.cond(p, lambda: tf.random_uniform([2]) + x, lambda: tf.random_uniform([2]))
    z = tf.while_loop(lambda i, a: i < 1, lambda i, a: (i + 1, a + tf.random_uniform([])), [0, 0.0])[1]
    m = tf.map_fn(lambda v: v + x, tf.constant([1.0, 2.0]))
    s = tf.switch_case(_late(tf, 1), [lambda: tf.constant(1), lambda: tf.constant(2)])
    w = tf.random_uniform([2])
    return run(tf, [y, z, m, s, w])


@_functional
def values_of_variables(tf):
    v, r = tf.Variable(2.0), tf.Variable(3.0, use_resource=True)
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: v * v * r, lambda: r * r)
    grads = tf.gradients(y, [v, r])
    return run(tf, [y, grads], {p: True}), run(tf, [y, grads], {p: False})


@_functional
def variables_of_branches(tf):
    def made():
        return tf.get_variable("v", [2], initializer=tf.ones_initializer(), use_resource=True) * 2.0

    y = tf.cond(_late(tf, True), made, lambda: tf.zeros([2]))
    return [v.name for v in tf.global_variables()], run(tf, y)


@_functional
def changes_in_bodies(tf):
    v, p = tf.Variable(0.0, use_resource=True), tf.placeholder(tf.bool, [])

    def body(i):
        with tf.control_dependencies([v.assign_add(1.0)]):
            return i + 1

    def branch():
        with tf.control_dependencies([v.assign_add(10.0)]):
            return v.read_value() * 1.0

    loop = tf.while_loop(lambda i: i < 5, body, [0])
    with tf.control_dependencies([v.assign(100.0)]):
        y = tf.cond(p, branch, v.read_value)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(loop), sess.run(v), sess.run(y, {p: True}), sess.run(v), sess.run(y, {p: False})


@_functional
def what_nothing_reads(tf):
    v, p = tf.Variable(1.0, use_resource=True), _late(tf, True)

    def branch():
        v.assign_add(1.0)
        return tf.constant(3.0)

    y = tf.cond(p, branch, lambda: tf.constant(1.0))
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(y), sess.run(v)


@_functional
def references_in_bodies(tf):
    v, p = tf.Variable(1.0), _late(tf, True)

    def body(i):
        with tf.control_dependencies([v.assign_add(1.0)]):
            return i + 1

    return (
        caught(lambda: tf.cond(p, lambda: v.assign_add(1.0), lambda: tf.identity(v)), "In op 'AssignAdd', input types"),
        caught(lambda: tf.while_loop(lambda i: i < 3, body, [0]), "In op 'AssignAdd', input types"),
    )


@_functional
def assertions_in_branches(tf):
    x = tf.placeholder(tf.float32, [])

    def checked():
        with tf.control_dependencies([tf.Assert(x > 0.0, ["not positive", x])]):
            return tf.sqrt(x)

    y = tf.cond(x < 10.0, checked, lambda: x)
    assertion = tf.Assert(x > 0.0, ["it is", x])
    told = caught(lambda: run(tf, y, {x: -4.0}), "assertion failed: [not positive] [-4]"), caught(lambda: run(tf, assertion, {x: -1.0}), "assertion failed: [it is] [-1]")
    return assertion.name, run(tf, [y, assertion], {x: 4.0}), run(tf, y, {x: 20.0}), told


@_functional
def feeding_results(tf):
    p = _late(tf, True)
    y = tf.cond(p, lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    i = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0])
    return run(tf, [y, y * 2.0], {y: 7.0}), run(tf, i + 1, {i: 5})


@_functional
def training_through_loops(tf):
    w = tf.get_variable("w", [], initializer=tf.constant_initializer(0.5), use_resource=True)
    y = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * w + 1.0), [0, 1.0])[1]
    loss = tf.cond(y > 3.0, lambda: (y - 3.0) ** 2, lambda: tf.abs(y - 3.0))
    step = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
    with tf.Session() as sess:
        initialize(tf, sess)
        return [sess.run([loss, step])[0] for _ in range(5)], sess.run(w)


def exported_graphs(tf):
    with _on(tf):
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.cond(a > 4.0, lambda: a + x, lambda: a * x)), [0, 1.0])[1]
        tf.identity(y, name="y")
    graph_def = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        a, b = tf.import_graph_def(graph_def, return_elements=["x:0", "y:0"])
        return [run(tf, b, {a: v}) for v in (2.0, 3.0)]
