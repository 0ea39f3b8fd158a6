"""Loops in whole programs: reference variables, updates, tracebacks, colocation, groups and tuples."""

import numpy as np

from programs.tools import WHOLE, caught, initialize, names, run, static


def reference_stays_a_reference(tf):
    v = tf.Variable(0)
    seen = []

    def body(i, x):
        seen.append(x.dtype.name)
        return i + 1, tf.raw_ops.RefIdentity(input=x)

    r = tf.while_loop(lambda i, x: i < 5, body, (0, v._ref()), parallel_iterations=5)
    with tf.Session() as sess:
        initialize(tf, sess)
        return seen, [t.dtype.name for t in r], sess.run(r)


def reference_written_in_each_iteration(tf):
    v = tf.Variable(0)
    r = tf.while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, tf.assign_add(x, i)), (0, v._ref()), parallel_iterations=1)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r), sess.run(v)


def reference_through_a_branch(tf):
    v, w = tf.Variable(1), tf.Variable(2)
    p = tf.placeholder(tf.bool, [])
    r = tf.cond(p, lambda: tf.assign_add(v, 10), lambda: tf.assign_add(w, 10))
    with tf.Session() as sess:
        initialize(tf, sess)
        return r.dtype.name, sess.run(r, {p: True}), sess.run(r, {p: False}), sess.run([v, w])


def update_then_read_in_the_condition(tf):
    v = tf.Variable(0)

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, 2)]):
            return i + 1

    r = tf.while_loop(lambda i: tf.logical_and(i < 100, v.read_value() < 6), body, [0], parallel_iterations=1)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(v) if sess.run(r) > 0 else None


def update_from_a_placeholder(tf):
    v, p = tf.Variable(0.0), tf.placeholder(tf.float32, [])
    step = tf.assign_add(v, p)

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, p)]):
            return i + 1

    r = tf.while_loop(lambda i: i < 3, body, [0])
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run(r, {p: 2.0})
        return sess.run(v), sess.run(step, {p: 1.0})


def two_variables_updated_in_order(tf):
    v, w = tf.Variable(0), tf.Variable(0)

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, 1)]):
            second = tf.assign(w, v.read_value() * 10)
        with tf.control_dependencies([second]):
            return i + 1

    r = tf.while_loop(lambda i: i < 4, body, [0], parallel_iterations=1)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r), sess.run([v, w])


def update_in_a_nested_loop(tf):
    v = tf.Variable(0)

    def inner(j):
        with tf.control_dependencies([tf.assign_add(v, 1)]):
            return j + 1

    body = lambda i: (i + 1) * tf.minimum(tf.while_loop(lambda j: j < 3, inner, [0], parallel_iterations=1), 1)  # noqa: E731
    r = tf.while_loop(lambda i: i < 4, body, [0], parallel_iterations=1)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r), sess.run(v)


def update_by_a_resource_in_a_cond_in_a_loop(tf):
    v = tf.Variable(0, use_resource=True)

    def body(i):
        done = tf.cond(tf.equal(i % 2, 0), lambda: tf.group(v.assign_add(1)), lambda: tf.group(v.assign_add(100)))
        with tf.control_dependencies([done]):
            return i + 1

    r = tf.while_loop(lambda i: i < 5, body, [0], parallel_iterations=1)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r), sess.run(v)


def traced(tf):
    r = tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0])
    data = tf.RunMetadata()
    with tf.Session() as sess:
        value = sess.run(r, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=data)
    return value, len(data.step_stats.dev_stats) > 0


def without_optimizations(tf):
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.opt_level = -1
    r = tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + i * 2), (0, 0))
    with tf.Session(config=config) as sess:
        return sess.run(r)


def on_one_thread(tf):
    config = tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)
    r = tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, tf.matmul(s, s)), (0, tf.ones([2, 2]) * 0.5))
    with tf.Session(config=config) as sess:
        return sess.run(r)


def colocated_gradients(tf):
    with tf.device("/device:CPU:0"):
        x = tf.constant(2.0)
        r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x))[1]
    return run(tf, tf.gradients(r, x, colocate_gradients_with_ops=True))


def groups_of_loops(tf):
    a = tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0])
    b = tf.while_loop(lambda i: i < 6, lambda i: i + 1, [0])
    g = tf.group(a, b)
    with tf.Session() as sess:
        return g.type, sess.run(g), sess.run([a, b])


def groups_misused(tf):
    return caught(lambda: tf.group(3), WHOLE), caught(lambda: tf.group(None), WHOLE), caught(lambda: tf.group(tf.no_op(), nonsense=1), WHOLE), tf.group().type


def groups_on_devices(tf):
    with tf.device("/cpu:0"):
        a = tf.constant(1, name="a")
    b = tf.constant(1, name="b")
    g = tf.group(a, b, name="both")
    return g.name, sorted(c.name for c in g.control_inputs)


def groups_of_structures(tf):
    a, b = tf.constant(1), tf.constant(2)
    return len(tf.group([a, (b, a)]).control_inputs)


def tuples_of_tensors(tf):
    v = tf.Variable(0.0)
    x, y = tf.tuple([tf.assign_add(v, 1.0), tf.constant(5.0)], name="t")
    with tf.Session() as sess:
        initialize(tf, sess)
        return [x.name, y.name, x.dtype.name], sess.run(y), sess.run(v)


def tuples_of_slices(tf):
    s = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2]), tf.constant([3, 1]))
    x, y, z = tf.tuple([s, None, tf.constant(1.0)])
    return type(x).__name__, y, run(tf, [x, z])


def tuples_after_something(tf):
    v = tf.Variable(0)
    x, = tf.tuple([tf.constant(5)], control_inputs=[tf.assign_add(v, 3)])
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(x), sess.run(v)


def tuples_misused(tf):
    return caught(lambda: tf.tuple([]), WHOLE), caught(lambda: tf.tuple([None]), WHOLE), caught(lambda: tf.tuple([tf.constant(1)], control_inputs=[3]))


def dependencies_on_slices_and_names(tf):
    s = tf.IndexedSlices(tf.constant([[1.0]], name="v"), tf.constant([2]))
    tf.no_op(name="n")
    with tf.control_dependencies([s, "n"]):
        x = tf.constant(1)
    return sorted(op.name for op in x.op.control_inputs)


def dependencies_cleared_inside(tf):
    with tf.control_dependencies([tf.no_op(name="n")]):
        with tf.control_dependencies(None):
            x = tf.constant(1)
        y = tf.constant(1)
    return x.op.control_inputs, [op.name for op in y.op.control_inputs]


def dependencies_of_what_depends(tf):
    n = tf.no_op(name="n")
    with tf.control_dependencies([n]):
        m = tf.no_op(name="m")
        with tf.control_dependencies([m]):
            x, y = tf.constant(1), tf.identity(tf.constant(2))
    return [[c.name for c in op.control_inputs] for op in (m, x.op, y.op)]


def dependencies_misused(tf):
    return caught(lambda: tf.control_dependencies([3]).__enter__()), caught(lambda: tf.control_dependencies(["nothing"]).__enter__()), caught(lambda: tf.control_dependencies(5).__enter__())


def assertion_in_a_branch(tf):
    p = tf.placeholder(tf.bool, [])

    def yes():
        with tf.control_dependencies([tf.Assert(p, ["fine"])]):
            return tf.constant(1)

    r = tf.cond(p, yes, lambda: tf.constant(2))
    with tf.Session() as sess:
        return sess.run(r, {p: True}), sess.run(r, {p: False})


def assertion_messages(tf):
    x = tf.placeholder(tf.int32, [None], name="x")
    with tf.Session() as sess:
        return (
            caught(lambda: sess.run(tf.Assert(tf.reduce_all(x > 0), [x], summarize=10), {x: [1, -1]}), WHOLE),
            sess.run(tf.Assert(tf.reduce_all(x > 0), [x]), {x: [1]}),
            tf.Assert(True, [1]) is not None,
        )


def factorial_of_each_row(tf):
    n = tf.constant([3, 0, 5])
    r = tf.map_fn(lambda k: tf.while_loop(lambda i, p: i <= k, lambda i, p: (i + 1, p * i), (1, 1))[1], n)
    return run(tf, r)


def loop_in_a_scan(tf):
    r = tf.scan(lambda a, k: tf.while_loop(lambda i, s: i < k, lambda i, s: (i + 1, s + i), (0, a))[1], tf.constant([1, 2, 3]))
    return run(tf, r)


def scan_in_a_loop(tf):
    r = tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, tf.scan(lambda a, b: a + b, x)), (0, tf.constant([1, 2, 3])))
    return run(tf, r)


def map_in_a_branch(tf):
    p, x = tf.placeholder(tf.bool, []), tf.constant([1, 2, 3])
    r = tf.cond(p, lambda: tf.map_fn(lambda n: n * n, x), lambda: x)
    with tf.Session() as sess:
        return sess.run(r, {p: True}), sess.run(r, {p: False})


def beam_of_the_best(tf):
    scores = tf.constant([[0.1, 0.5, 0.4], [0.6, 0.3, 0.1], [0.2, 0.2, 0.6]])

    def body(i, total, paths):
        best = tf.nn.top_k(tf.reshape(tf.expand_dims(total, 1) + tf.expand_dims(tf.log(scores[i]), 0), [-1]), 2)
        came, token = best.indices // 3, best.indices % 3
        return i + 1, best.values, tf.concat([tf.gather(paths, came), tf.expand_dims(token, 1)], 1)

    start = (0, tf.constant([0.0, -1e9]), tf.zeros([2, 0], tf.int32))
    _, total, paths = tf.while_loop(lambda i, *_: i < 3, body, start, shape_invariants=(tf.TensorShape([]), tf.TensorShape([2]), tf.TensorShape([2, None])))
    return run(tf, [total, paths])


def levenshtein(tf):
    a, b = tf.constant([1, 2, 3, 4]), tf.constant([2, 3, 5, 4, 6])

    def row(i, previous):
        def cell(j, line):
            cost = tf.cast(tf.not_equal(a[i], b[j]), tf.int32)
            value = tf.minimum(tf.minimum(line[-1] + 1, previous[j + 1] + 1), previous[j] + cost)
            return j + 1, tf.concat([line, [value]], 0)

        _, line = tf.while_loop(lambda j, _: j < 5, cell, (0, tf.expand_dims(i + 1, 0)), shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))
        return i + 1, tf.reshape(line, [6])

    _, last = tf.while_loop(lambda i, _: i < 4, row, (0, tf.range(6)))
    return run(tf, last[-1])


def conjugate_gradients(tf):
    a, b = tf.constant([[4.0, 1.0], [1.0, 3.0]]), tf.constant([1.0, 2.0])
    dot = lambda x, y: tf.reduce_sum(x * y)  # noqa: E731
    times = lambda x: tf.squeeze(tf.matmul(a, tf.expand_dims(x, 1)), 1)  # noqa: E731

    def body(i, x, r, p):
        step = dot(r, r) / dot(p, times(p))
        r2 = r - step * times(p)
        return i + 1, x + step * p, r2, r2 + dot(r2, r2) / dot(r, r) * p

    return run(tf, tf.while_loop(lambda i, x, r, p: i < 2, body, (0, tf.zeros([2]), b, b))[1])


def game_of_life(tf):
    board = tf.constant([[0, 1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]])

    def body(i, cells):
        framed = tf.pad(cells, [[1, 1], [1, 1]])
        near = tf.add_n([framed[r:r + 4, c:c + 4] for r in range(3) for c in range(3) if (r, c) != (1, 1)])
        return i + 1, tf.cast(tf.logical_or(tf.equal(near, 3), tf.logical_and(tf.equal(cells, 1), tf.equal(near, 2))), tf.int32)

    return run(tf, tf.while_loop(lambda i, _: i < 3, body, (0, board))[1])


def sampling_with_a_seed_repeats(tf):
    def sample():
        with tf.Graph().as_default():
            tf.set_random_seed(3)
            draw = lambda i, a: (i + 1, a.write(i, tf.random_uniform([], seed=5)))  # noqa: E731
            r = tf.while_loop(lambda i, a: i < 4, draw, (0, tf.TensorArray(tf.float32, 4)), parallel_iterations=1)[1].stack()
            with tf.Session() as sess:
                return sess.run(r)

    return bool(np.all(sample() == sample()))


def names_of_what_a_loop_captures(tf):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w", use_resource=True)
    tf.while_loop(lambda x: x < v, lambda x: x + w, [tf.constant(0.0, name="x")])
    return [n for n in names(tf) if n.startswith("while")]


def names_of_what_a_branch_captures(tf):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w", use_resource=True)
    tf.cond(tf.constant(True, name="p"), lambda: v + 1.0, lambda: w + 2.0)
    return [n for n in names(tf) if n.startswith("cond")]


def names_of_a_case(tf):
    x = tf.placeholder(tf.int32, [], name="x")
    tf.case([(tf.less(x, 1, name="a"), lambda: tf.constant(1)), (tf.less(x, 2, name="b"), lambda: tf.constant(2))], default=lambda: tf.constant(3))
    return names(tf)


def names_of_a_case_that_is_exclusive(tf):
    x = tf.placeholder(tf.int32, [], name="x")
    tf.case([(tf.less(x, 1, name="a"), lambda: tf.constant(1)), (tf.less(x, 2, name="b"), lambda: tf.constant(2))], default=lambda: tf.constant(3), exclusive=True)
    return names(tf)


def names_of_a_tuple_and_a_group(tf):
    a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
    tf.tuple([a, b])
    tf.group(a, b)
    return names(tf)


def names_of_an_assertion(tf):
    x = tf.constant(1, name="x")
    tf.Assert(tf.less(x, 2, name="less"), [x])
    return names(tf)


def static_shapes_of_branches_of_structures(tf):
    p = tf.placeholder(tf.bool, [])
    a, b = tf.cond(p, lambda: (tf.ones([2]), tf.ones([3, 4])), lambda: (tf.ones([3]), tf.ones([3, 4])))
    return static(a, b)
