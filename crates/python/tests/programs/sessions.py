"""Sessions: structures of fetches and feeds, callables, partial runs, options, metadata, misuse."""

import collections
import threading

import numpy as np

from programs.tools import caught, initialize, nodes, run, static

AB = collections.namedtuple("AB", "a, b")


def fetch_structures(tf):
    x, y = tf.constant(1), tf.constant([2.0])
    with tf.Session() as sess:
        return [
            sess.run(x),
            sess.run([x]),
            sess.run((x, y)),
            sess.run({"a": x, "b": [y, (x,)]}),
            sess.run(AB(x, y)),
            sess.run([]),
            sess.run({}),
            sess.run([[x], [], [y, [x]]]),
            sess.run(collections.OrderedDict([("z", x), ("a", y)])),
        ]


def fetch_types(tf):
    x = tf.constant(1)
    with tf.Session() as sess:
        return [type(sess.run(f)).__name__ for f in (x, [x], (x,), {"a": x}, AB(x, x), tf.constant([1]), tf.constant("s"), collections.OrderedDict(a=x))]


def fetch_by_name(tf):
    tf.constant(1, name="x")
    with tf.Session() as sess:
        return sess.run("x:0"), sess.run(["x:0", "x"]), caught(lambda: sess.run("y:0")), caught(lambda: sess.run("x:1"))


def fetch_operations(tf):
    x = tf.constant(1)
    with tf.Session() as sess:
        return sess.run(x.op), sess.run([x.op, x]), sess.run(tf.no_op())


def fetch_the_same_twice(tf):
    x = tf.constant(1)
    return run(tf, [x, x, [x]])


def fetch_what_is_none(tf):
    tf.constant(1)
    with tf.Session() as sess:
        return (
            caught(lambda: sess.run(None), "Fetch argument None has invalid type"),
            caught(lambda: sess.run(3), "Fetch argument 3 has invalid type"),
            caught(lambda: sess.run([None])),
            caught(lambda: sess.run(object())),
        )


def fetch_a_namedtuple_in_a_list(tf):
    x = tf.constant(1)
    return run(tf, [AB(x, [x]), {"k": AB(x, x)}])


def feed_by_name_and_by_tensor(tf):
    x = tf.placeholder(tf.int32, [], name="x")
    with tf.Session() as sess:
        return sess.run(x, {"x:0": 1}), sess.run(x, {x: 2}), caught(lambda: sess.run(x, {"nope:0": 1})), caught(lambda: sess.run(x, {3: 1}))


def feed_an_intermediate_tensor(tf):
    a = tf.constant(1)
    b = a + 1
    c = b * 10
    with tf.Session() as sess:
        return sess.run(c), sess.run(c, {b: 5}), sess.run([a, b, c], {b: 7})


def feed_structures(tf):
    a, b = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    with tf.Session() as sess:
        return sess.run(a + b, {(a, b): (1, 2)})


def feed_what_is_fetched(tf):
    x = tf.placeholder(tf.float32, [2])
    value = np.array([1.0, 2.0], np.float32)
    return run(tf, x, {x: value})


def feed_kinds_of_values(tf):
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        values = [1, 2.5, [1, 2], (3.0, 4.0), np.arange(3), np.float64(2.0), [np.float32(1.0), 2], [[1], [2]], np.array([[1, 2]], order="F")]
        return [sess.run(x, {x: v}) for v in values]


def feed_strided_arrays(tf):
    x = tf.placeholder(tf.int64, [None, None])
    a = np.arange(12).reshape(3, 4)
    with tf.Session() as sess:
        return sess.run(x, {x: a.T}), sess.run(x, {x: a[::2, ::-1]})


def feed_a_tensor(tf):
    x = tf.placeholder(tf.float32, [])
    return caught(lambda: run(tf, x, {x: tf.constant(1.0)}), "The value of a feed cannot be a tf.Tensor object")


def feed_a_ragged_list(tf):
    x = tf.placeholder(tf.float32)
    return caught(lambda: run(tf, x, {x: [[1, 2], [3]]}))


def feed_dict_of_another_type(tf):
    return caught(lambda: run(tf, tf.constant(1), [1]))


def feed_strings(tf):
    x = tf.placeholder(tf.string)
    with tf.Session() as sess:
        return sess.run(x, {x: "a"}), sess.run(x, {x: ["\u00e9", b"\xff"]}).tolist(), sess.run(x, {x: np.array([b"ab", b"c"])}).tolist()


def feed_bools_and_complex(tf):
    b, c = tf.placeholder(tf.bool), tf.placeholder(tf.complex64)
    return run(tf, [b, c], {b: [True, False], c: [1j, 2]})


def empty_arrays(tf):
    x = tf.placeholder(tf.float32, [None, 3])
    return run(tf, x * 2.0, {x: np.zeros([0, 3])})


def result_is_the_callers(tf):
    x = tf.constant([1, 2, 3])
    with tf.Session() as sess:
        a = sess.run(x)
        a[0] = 99
        return sess.run(x)


def make_callable(tf):
    x = tf.placeholder(tf.float32, [])
    y = x * 2.0
    with tf.Session() as sess:
        f = sess.make_callable(y, [x])
        g = sess.make_callable([y, {"a": x}], [x])
        h = sess.make_callable(tf.constant(5))
        return f(3.0), g(4.0), h()


def make_callable_misused(tf):
    x = tf.placeholder(tf.float32, [])
    with tf.Session() as sess:
        f = sess.make_callable(x * 2.0, [x])
        return caught(lambda: f()), caught(lambda: sess.make_callable(3)), caught(lambda: sess.make_callable(x, x))


def make_callable_of_operations(tf):
    v = tf.Variable(0)
    with tf.Session() as sess:
        initialize(tf, sess)
        f = sess.make_callable(tf.assign_add(v, 1).op)
        nothing = f()
        f()
        return nothing, sess.run(v)


def make_callable_with_structures(tf):
    x, y = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    with tf.Session() as sess:
        f = sess.make_callable(AB(x + y, [x]), [x, y])
        return f(1, 2), type(f(1, 2)).__name__


def make_callable_with_metadata(tf):
    x = tf.constant(1) + 2
    with tf.Session() as sess:
        f = sess.make_callable(x, accept_options=True)
        metadata = tf.RunMetadata()
        value = f(options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
        return value, len(metadata.step_stats.dev_stats) > 0


def partial_run(tf):
    a, b, c = [tf.placeholder(tf.float32, []) for _ in range(3)]
    r1 = a + b
    r2 = r1 * c
    with tf.Session() as sess:
        h = sess.partial_run_setup([r1, r2], [a, b, c])
        first = sess.partial_run(h, r1, {a: 1, b: 2})
        return first, sess.partial_run(h, r2, {c: first * 17})


def partial_run_misused(tf):
    a = tf.placeholder(tf.float32, [])
    r = a + 1.0
    with tf.Session() as sess:
        h = sess.partial_run_setup([r], [a])
        unknown = caught(lambda: sess.partial_run(h, r * 2.0, {a: 1.0}))
        return unknown


def partial_run_all_at_once(tf):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    x, y = a + 1.0, b * 2.0
    with tf.Session() as sess:
        h = sess.partial_run_setup([x, y], [a, b])
        return sess.partial_run(h, [x, y], {a: 1.0, b: 5.0})


def default_session(tf):
    before = tf.get_default_session()
    with tf.Session() as sess:
        inside = tf.get_default_session() is sess
        value = tf.constant(3).eval()
    return before, inside, value, tf.get_default_session()


def eval_without_a_session(tf):
    x = tf.constant(1)
    return (
        caught(lambda: x.eval(), "Cannot evaluate tensor using `eval()`: No default session is registered"),
        caught(lambda: x.op.run(), "Cannot execute operation using `run()`: No default session is registered"),
    )


def eval_and_run(tf):
    x = tf.placeholder(tf.int32, [])
    sess = tf.Session()
    with sess.as_default():
        a, b = (x + 1).eval({x: 1}), (x + 1).eval(feed_dict={x: 2}, session=sess)
        (x + 1).op.run({x: 1})
    still_open = sess.run(tf.constant(5))
    sess.close()
    return a, b, still_open


def interactive(tf):
    sess = tf.InteractiveSession()
    value = tf.constant(4).eval()
    sess.close()
    return value


def nested_sessions(tf):
    with tf.Session() as a:
        with tf.Session() as b:
            inner = tf.get_default_session() is b
        return inner, tf.get_default_session() is a


def closed(tf):
    x = tf.constant(1)
    sess = tf.Session()
    sess.close()
    sess.close()
    return caught(lambda: sess.run(x), "Attempted to use a closed Session.")


def empty_graph(tf):
    return caught(lambda: tf.Session().run("x:0"), "The Session graph is empty")


def graph_given(tf):
    g = tf.Graph()
    with g.as_default():
        x = tf.constant(5)
    with tf.Session(graph=g) as sess:
        return sess.run(x), sess.graph is g, tf.get_default_graph() is g, sess.graph_def.node[0].name


def bad_arguments(tf):
    return caught(lambda: tf.Session(3)), caught(lambda: tf.Session(graph=3)), caught(lambda: tf.Session(config=3))


def configurations(tf):
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1, allow_soft_placement=True, device_count={"CPU": 1})
    config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    with tf.Session(config=config) as sess:
        return sess.run(tf.constant(1) + 1)


def nodes_added_later(tf):
    with tf.Session() as sess:
        a = sess.run(tf.constant(1))
        return a, sess.run(tf.constant(2) * 5)


def run_options_and_metadata(tf):
    x = tf.placeholder(tf.float32, [1, 2])
    y = tf.matmul(x, x, transpose_b=True, name="product")
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(y, {x: [[1.0, 2.0]]}, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
        stats = metadata.step_stats.dev_stats
        names = [n.node_name for d in stats for n in d.node_stats]
        times = all(n.all_end_rel_micros >= 0 for d in stats for n in d.node_stats)
        return metadata.HasField("step_stats"), "product" in names, times


def metadata_without_a_trace(tf):
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(tf.constant(1), run_metadata=metadata)
        return metadata.HasField("step_stats")


def partition_graphs(tf):
    x = tf.constant(1, name="x") + tf.constant(2, name="y")
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(x, options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata)
        return len(metadata.partition_graphs) > 0


def options_of_another_type(tf):
    with tf.Session() as sess:
        return caught(lambda: sess.run(tf.constant(1), options=3)), caught(lambda: sess.run(tf.constant(1), run_metadata=3))


def several_threads(tf):
    x = tf.placeholder(tf.int32, [])
    y = tf.while_loop(lambda i: i < x, lambda i: i + 1, [0])
    results = [None] * 8
    with tf.Session() as sess:

        def work(n):
            results[n] = [int(sess.run(y, {x: n * 10 + k})) for k in range(5)]

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return results


def errors_carry_the_operation(tf):
    x = tf.placeholder(tf.int32, [None], name="x")
    y = tf.gather([1, 2, 3], x, name="lookup")
    try:
        run(tf, y, {x: [9]})
    except tf.errors.InvalidArgumentError as error:
        return error.op.name, error.node_def.name, error.error_code == tf.errors.INVALID_ARGUMENT, "lookup" in error.message, isinstance(error, tf.errors.OpError), "sessions.py" in str(error)


def assertion(tf):
    x = tf.placeholder(tf.int32, [], name="x")
    check = tf.Assert(x > 0, ["x must be positive", x])
    with tf.control_dependencies([check]):
        y = tf.identity(x)
    return run(tf, y, {x: 1}), caught(lambda: run(tf, y, {x: -5}), "assertion failed: [x must be positive] [-5]")


def assertions_by_name(tf):
    x = tf.placeholder(tf.int32, [None], name="x")
    checks = [tf.assert_positive(x), tf.assert_less(x, 10), tf.assert_equal(x, x)]
    with tf.control_dependencies(checks):
        y = tf.identity(x)
    return run(tf, y, {x: [1, 2]}), caught(lambda: run(tf, y, {x: [11]}), "assertion failed"), caught(lambda: tf.assert_equal(1, 2)), caught(lambda: tf.assert_rank(tf.zeros([2]), 2))


def printing(tf):
    x = tf.Print(tf.constant([1, 2]), ["values:"], "message ", first_n=2)
    return x.op.type, run(tf, x)


def py_func(tf):
    y = tf.py_func(lambda a, b: a * 2 + b, [tf.constant([1.0, 2.0]), 3.0], tf.float32)
    return static(y), y.op.type, run(tf, y)


def py_func_of_several(tf):
    a, b = tf.py_func(lambda x: (np.int32(x + 1), np.float64(x)), [tf.constant(3)], [tf.int32, tf.float64])
    return run(tf, [a, b])


def py_func_without_results(tf):
    seen = []
    op = tf.py_func(lambda x: seen.append(int(x)), [tf.constant(7)], [])
    run(tf, op)
    return op.type, seen


def py_func_that_raises(tf):
    out = []
    for error in (ValueError("mine"), TypeError("mine"), StopIteration("mine"), MemoryError("mine"), NotImplementedError("mine"), RuntimeError("mine")):

        def fail(x, error=error):
            raise error

        y = tf.py_func(fail, [1], tf.int64)
        out.append(caught(lambda: run(tf, y), "mine"))
    return out


def py_func_of_the_wrong_type(tf):
    y = tf.py_func(lambda x: np.float64(1.0), [1], tf.int32)
    return caught(lambda: run(tf, y))


def py_func_in_a_loop(tf):
    r = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.py_func(lambda x: x * x, [i], tf.int32)), [0, 0], shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)])
    return run(tf, r[1])


def py_func_strings(tf):
    y = tf.py_func(lambda s: s + b"!", [tf.constant("a")], tf.string)
    return run(tf, y)


def run_in_a_py_func(tf):
    with tf.Graph().as_default() as g:
        inner = tf.constant(20) + 1
    y = tf.py_func(lambda: tf.Session(graph=g).run(inner), [], tf.int32)
    return run(tf, y)


def list_devices(tf):
    with tf.Session() as sess:
        return [d.name for d in sess.list_devices() if "CPU:0" in d.name and "XLA" not in d.name]
