"""The session API: callables, partial runs, options, metadata, configurations, blocks, closing."""

import collections
import threading

import numpy as np

from programs.tools import WHOLE, caught, initialize, run

AB = collections.namedtuple("AB", "a, b")


# Callables.


def callable_of_structures(tf):
    x, y = tf.placeholder(tf.int32, [], name="x"), tf.placeholder(tf.int32, [2], name="y")
    z = y * x
    with tf.Session() as sess:
        f = sess.make_callable({"z": z, "both": (x, [y])}, [x, y])
        g = sess.make_callable(AB(x, z.op), ["x:0", y])
        h = sess.make_callable([], [x])
        return f(2, [3, 4]), g(1, [1, 2]), h(1)


def callable_of_nothing_to_feed(tf):
    v = tf.Variable(1, use_resource=True)
    with tf.Session() as sess:
        initialize(tf, sess)
        read, add = sess.make_callable(v.read_value()), sess.make_callable(v.assign_add(2).op)
        return read(), add(), read(), sess.make_callable(v)(), sess.make_callable([v, [v]])()


def callable_of_names(tf):
    tf.placeholder(tf.float32, [], name="x") * 2.0
    with tf.Session() as sess:
        return sess.make_callable("mul:0", ["x:0"])(4.0), sess.make_callable("mul", ["x:0"])(4.0)


def callable_called_wrongly(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.Session() as sess:
        f = sess.make_callable(x * 2.0, [x])
        return [caught(lambda a=a: f(*a)) for a in ((), ("a",), ([1, 2, 3],))]


def callable_with_keywords(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.Session() as sess:
        f, g = sess.make_callable(x, [x]), sess.make_callable(x * 2.0, [x], accept_options=True)
        return caught(lambda: f(x=1.0)), g(2.0, options=tf.RunOptions()), g(2.0)


def callable_made_wrongly(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.Graph().as_default():
        other = tf.constant(1)
    with tf.Session() as sess:
        return [caught(lambda a=a: sess.make_callable(*a)) for a in ((3,), (None,), (x, x), ("nope",), (other,), (x, {x: 1.0}))]


def callable_after_closing(tf):
    x = tf.constant(1)
    sess = tf.Session()
    f = sess.make_callable(x)
    sess.close()
    return caught(lambda: f())[0]


def callable_of_a_sparse_tensor(tf):
    s = tf.SparseTensor([[0]], [5.0], [2])
    with tf.Session() as sess:
        return sess.make_callable(s)(), sess.make_callable([s, s.values])()


def callable_and_new_nodes(tf):
    x = tf.placeholder(tf.float32, [])
    with tf.Session() as sess:
        f = sess.make_callable(x + 1.0, [x])
        a = f(1.0)
        y = x * 5.0
        return a, f(2.0), sess.make_callable(y, [x])(2.0), f(3.0)


def callable_without_its_feed(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.Session() as sess:
        f = sess.make_callable(x * 1.0)
        return caught(lambda: f(), WHOLE)


# Partial runs.


def parts(tf):
    a, b, c = [tf.placeholder(tf.float32, [], name=n) for n in "abc"]
    r1, r2 = a + b, None
    r2 = r1 * c
    with tf.Session() as sess:
        h = sess.partial_run_setup([r1, r2], [a, b, c])
        one = sess.partial_run(h, r1, {a: 1, b: 2})
        return one, sess.partial_run(h, r2, {c: one * 17})


def parts_with_structures(tf):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    x, y = a + 1.0, a * b
    with tf.Session() as sess:
        h = sess.partial_run_setup([x, y], [a, b])
        return sess.partial_run(h, {"x": [x]}, {a: 3.0}), sess.partial_run(h, AB(y, [y]), {b: 4.0})


def parts_without_feeds(tf):
    x, y = tf.constant(1) + 1, tf.constant(2) + 2
    with tf.Session() as sess:
        h = sess.partial_run_setup([x, y])
        return sess.partial_run(h, x), sess.partial_run(h, y)


def parts_of_several_runs(tf):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    x, y = a + 1.0, a * b
    with tf.Session() as sess:
        h, k = sess.partial_run_setup([x, y], [a, b]), sess.partial_run_setup([x, y], [a, b])
        out = [sess.partial_run(h, x, {a: 1.0}), sess.partial_run(k, x, {a: 10.0})]
        return out + [sess.partial_run(h, y, {b: 5.0}), sess.partial_run(k, y, {b: 5.0})]


def parts_with_an_operation(tf):
    v = tf.Variable(0.0, use_resource=False)
    a = tf.placeholder(tf.float32, [])
    add = v.assign_add(a)
    with tf.Session() as sess:
        initialize(tf, sess)
        h = sess.partial_run_setup([add.op], [a])
        return caught(lambda: sess.partial_run(h, add.op, {a: 3.0}), WHOLE)


def parts_asked_for_wrongly(tf):
    a, b = tf.placeholder(tf.float32, [], name="a"), tf.placeholder(tf.float32, [], name="b")
    x, y = a + 1.0, a * b
    out = []
    with tf.Session() as sess:
        h = sess.partial_run_setup([x], [a])
        out.append(caught(lambda: sess.partial_run(h, y, {a: 1.0})))
        h = sess.partial_run_setup([x], [a])
        out.append(caught(lambda: sess.partial_run(h, x, {b: 1.0})))
        h = sess.partial_run_setup([x, y], [a, b])
        sess.partial_run(h, x, {a: 1.0})
        out.append(caught(lambda: sess.partial_run(h, x)))
        h = sess.partial_run_setup([x, y], [a, b])
        sess.partial_run(h, x, {a: 1.0})
        out.append(caught(lambda: sess.partial_run(h, y, {a: 2.0, b: 1.0})))
    return out


def parts_done_and_gone_on_with(tf):
    a = tf.placeholder(tf.float32, [], name="a")
    x = a + 1.0
    with tf.Session() as sess:
        h = sess.partial_run_setup([x], [a])
        sess.partial_run(h, x, {a: 1.0})
        return caught(lambda: sess.partial_run(h, x, {a: 1.0}))


def parts_of_an_empty_set(tf):
    a = tf.placeholder(tf.float32, [], name="a")
    with tf.Session() as sess:
        return caught(lambda: sess.partial_run_setup([], [])), caught(lambda: sess.partial_run_setup([3], [a]))


def parts_with_an_error(tf):
    a, b = tf.placeholder(tf.int32, [], name="a"), tf.placeholder(tf.int32, [], name="b")
    x, y = a + 1, tf.gather([1, 2], b)
    with tf.Session() as sess:
        h = sess.partial_run_setup([x, y], [a, b])
        one = sess.partial_run(h, x, {a: 1})
        return one, caught(lambda: sess.partial_run(h, y, {b: 7}))


# Options and metadata.


def trace_levels(tf):
    x = tf.constant([1.0], name="x") + 1.0
    out = []
    with tf.Session() as sess:
        for level in (tf.RunOptions.NO_TRACE, tf.RunOptions.SOFTWARE_TRACE, tf.RunOptions.FULL_TRACE):
            metadata = tf.RunMetadata()
            sess.run(x, options=tf.RunOptions(trace_level=level), run_metadata=metadata)
            out.append((level, metadata.HasField("step_stats")))
    return out


def trace_of_a_run(tf):
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    y = tf.matmul(x, x, name="product")
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(y, {x: np.eye(2)}, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    (stats,) = [d for d in metadata.step_stats.dev_stats if any(n.node_name == "product" for n in d.node_stats)]
    (node,) = [n for n in stats.node_stats if n.node_name == "product"]
    return (
        stats.device,
        node.all_start_micros > 0,
        node.op_end_rel_micros >= node.op_start_rel_micros >= 0,
        node.all_end_rel_micros >= node.op_end_rel_micros,
        node.timeline_label.split("(")[0],
        [d.size for d in node.output[0].tensor_description.shape.dim],
        node.output[0].tensor_description.dtype,
    )


def trace_of_a_loop(tf):
    r = tf.while_loop(lambda i: i < 5, lambda i: tf.add(i, 1, name="step"), [0])
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(r, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    names = [n.node_name for d in metadata.step_stats.dev_stats for n in d.node_stats]
    return names.count("while/step")


def metadata_is_filled_anew(tf):
    metadata = tf.RunMetadata()
    x = tf.constant(1) + 2
    full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session() as sess:
        sess.run(x, options=full, run_metadata=metadata)
        first = len(metadata.step_stats.dev_stats)
        sess.run(x, options=full, run_metadata=metadata)
        second = len(metadata.step_stats.dev_stats)
        sess.run(x, run_metadata=metadata)
        return first == second, metadata.HasField("step_stats")


def metadata_that_nobody_takes(tf):
    x = tf.constant(1) + 2
    with tf.Session() as sess:
        return sess.run(x, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)), sess.run(x, options=tf.RunOptions()), sess.run(x, options=None, run_metadata=None)


def partition_graphs_of_a_run(tf):
    a, b = tf.constant(1, name="a"), tf.placeholder(tf.int32, [], name="b")
    y = tf.add(a, b, name="y")
    tf.constant(3, name="unused")
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(y, {b: 2}, options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata)
    names = [n.name for g in metadata.partition_graphs for n in g.node]
    return len(metadata.partition_graphs), "y" in names, "unused" in names, metadata.HasField("step_stats")


def options_of_other_types(tf):
    x = tf.constant(1)
    with tf.Session() as sess:
        return caught(lambda: sess.run(x, options="a")), caught(lambda: sess.run(x, run_metadata="a")), caught(lambda: sess.run(x, options=tf.ConfigProto()))[0] != "", caught(lambda: sess.run(x, nope=1))


def timeout_of_a_run(tf):
    q = tf.FIFOQueue(1, [tf.int32])
    x = q.dequeue()
    with tf.Session() as sess:
        return caught(lambda: sess.run(x, options=tf.RunOptions(timeout_in_ms=100)))


def timeout_that_is_long_enough(tf):
    with tf.Session() as sess:
        return sess.run(tf.constant(1), options=tf.RunOptions(timeout_in_ms=60000))


def timeout_of_all_runs(tf):
    q = tf.FIFOQueue(1, [tf.int32])
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=100)) as sess:
        return caught(lambda: sess.run(q.dequeue())), sess.run(tf.constant(1))


def after_a_timeout(tf):
    q = tf.FIFOQueue(1, [tf.int32])
    x, put = q.dequeue(), q.enqueue(5)
    with tf.Session() as sess:
        first = caught(lambda: sess.run(x, options=tf.RunOptions(timeout_in_ms=50)))
        sess.run(put)
        return first, sess.run(x)


def options_as_messages(tf):
    o = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=5, inter_op_thread_pool=-1, output_partition_graphs=True)
    return o.trace_level, o.timeout_in_ms, o.inter_op_thread_pool, tf.RunOptions.TraceLevel.Name(3), tf.RunOptions.HARDWARE_TRACE, tf.RunOptions().trace_level


# Configurations.


def configurations_of_all_kinds(tf):
    x = tf.constant(1.0) + 1.0
    out = []
    for config in (
        tf.ConfigProto(),
        tf.ConfigProto(device_count={"CPU": 2, "GPU": 0}),
        tf.ConfigProto(intra_op_parallelism_threads=1),
        tf.ConfigProto(inter_op_parallelism_threads=3, intra_op_parallelism_threads=2),
        tf.ConfigProto(use_per_session_threads=True),
        tf.ConfigProto(allow_soft_placement=True, log_device_placement=False),
        tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True, per_process_gpu_memory_fraction=0.5)),
        tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=tf.OptimizerOptions.L0, do_constant_folding=False))),
        tf.ConfigProto(graph_options=tf.GraphOptions(infer_shapes=True, build_cost_model=0)),
        tf.ConfigProto(inter_op_parallelism_threads=-1),
        tf.ConfigProto(isolate_session_state=True),
        tf.ConfigProto(placement_period=1),
    ):
        with tf.Session(config=config) as sess:
            out.append(sess.run(x))
    return out


def configuration_that_is_none(tf):
    return caught(lambda: tf.Session(config=3)), caught(lambda: tf.Session(config={})), caught(lambda: tf.Session(config=tf.RunOptions())), caught(lambda: tf.InteractiveSession(config=1))


def configuration_is_not_kept(tf):
    config = tf.ConfigProto()
    with tf.Session(config=config) as sess:
        config.operation_timeout_in_ms = 1
        return sess.run(tf.constant(1)), config.device_count == {}


def pools_of_threads(tf):
    config = tf.ConfigProto()
    config.session_inter_op_thread_pool.add().num_threads = 2
    config.session_inter_op_thread_pool.add().num_threads = 1
    x = tf.constant(1) + 1
    with tf.Session(config=config) as sess:
        return sess.run(x, options=tf.RunOptions(inter_op_thread_pool=1)), sess.run(x), sess.run(x, options=tf.RunOptions(inter_op_thread_pool=0))


def pool_of_threads_that_is_not_there(tf):
    x = tf.constant(1) + 1
    with tf.Session() as sess:
        return caught(lambda: sess.run(x, options=tf.RunOptions(inter_op_thread_pool=7))), sess.run(x, options=tf.RunOptions(inter_op_thread_pool=-1))


def targets(tf):
    tf.constant(1)
    return caught(lambda: tf.Session(3), WHOLE), tf.Session("").sess_str, caught(lambda: tf.Session("nowhere"))


def graphs_given(tf):
    return caught(lambda: tf.Session(graph=3), WHOLE), caught(lambda: tf.Session(graph="g"), WHOLE)


def devices_of_a_session(tf):
    with tf.Session() as sess:
        (cpu,) = [d for d in sess.list_devices() if d.name.endswith("device:CPU:0")]
        return cpu.name, cpu.device_type, cpu.memory_limit_bytes > 0, isinstance(cpu.incarnation, int)


def device_that_is_not_there(tf):
    with tf.device("/device:GPU:7"):
        x = tf.constant(1) + 1
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        return sess.run(x)


# Blocks.


def session_entered_twice(tf):
    sess = tf.Session()
    with sess:
        return caught(lambda: sess.__enter__(), WHOLE)


def session_default_nested(tf):
    a, b = tf.Session(), tf.Session()
    out = [tf.get_default_session() is None]
    with a.as_default():
        with b.as_default():
            out.append(tf.get_default_session() is b)
            with a.as_default():
                out.append(tf.get_default_session() is a)
        out.append(tf.get_default_session() is a)
    return out + [tf.get_default_session() is None]


def session_default_gives_itself(tf):
    sess = tf.Session()
    with sess.as_default() as s:
        one = s is sess
    with sess as s:
        return one, s is sess


def session_after_its_block(tf):
    x = tf.constant(1)
    with tf.Session() as sess:
        pass
    return caught(lambda: sess.run(x), WHOLE), tf.get_default_session()


def session_default_does_not_close(tf):
    x = tf.constant(1)
    sess = tf.Session()
    with sess.as_default():
        pass
    return sess.run(x), caught(lambda: x.eval(), WHOLE)


def session_left_by_an_error(tf):
    x = tf.constant(1)
    sess = tf.Session()
    try:
        with sess:
            raise KeyError("mine")
    except KeyError as error:
        return str(error), caught(lambda: sess.run(x), WHOLE), tf.get_default_session()


def session_blocks_in_the_wrong_order(tf):
    a, b = tf.Session().as_default(), tf.Session().as_default()
    a.__enter__()
    b.__enter__()
    return caught(lambda: a.__exit__(None, None, None))


def session_of_a_thread(tf):
    out = []
    with tf.Session() as sess:
        thread = threading.Thread(target=lambda: out.append(tf.get_default_session() is None))
        thread.start()
        thread.join()
        return out


def interactive_session(tf):
    sess = tf.InteractiveSession()
    x = tf.constant(3)
    out = [x.eval(), tf.get_default_session() is sess]
    sess.close()
    return out, tf.get_default_session()


def interactive_session_with_a_graph(tf):
    g = tf.Graph()
    with g.as_default():
        x = tf.constant(4)
    before = tf.get_default_graph()
    sess = tf.InteractiveSession(graph=g)
    out = x.eval(), tf.get_default_graph() is g
    sess.close()
    return out, tf.get_default_graph() is before


def interactive_session_closed_twice(tf):
    tf.constant(1)
    sess = tf.InteractiveSession()
    sess.close()
    sess.close()
    return caught(lambda: sess.run("Const:0"), WHOLE)


# Lifetime.


def closed_session(tf):
    x = tf.constant(1)
    sess = tf.Session()
    sess.close()
    return (
        caught(lambda: sess.run(x), WHOLE),
        caught(lambda: sess.run([]), WHOLE),
        caught(lambda: sess.partial_run_setup([x]), WHOLE),
        caught(lambda: sess.make_callable(x), WHOLE),
        sess.close(),
        caught(lambda: x.eval(session=sess), WHOLE),
    )


def session_of_an_empty_graph(tf):
    sess = tf.Session()
    return caught(lambda: sess.run([]), WHOLE), caught(lambda: sess.run(None), WHOLE), caught(lambda: sess.run("x"), WHOLE)


def session_of_a_growing_graph(tf):
    out = []
    with tf.Session() as sess:
        for k in range(5):
            x = tf.constant(k, name="x%d" % k)
            out.append(sess.run(x * 2))
            out.append(sess.run("x0:0"))
    return out


def sessions_keep_their_variables_apart(tf):
    v = tf.Variable(0, use_resource=True)
    add = v.assign_add(1)
    a, b = tf.Session(), tf.Session()
    for sess in (a, b):
        sess.run(v.initializer)
    a.run(add.op)
    a.run(add.op)
    b.run(add.op)
    return a.run(v), b.run(v), caught(lambda: tf.Session().run(v))[0]


def session_knows_its_graph(tf):
    x = tf.constant(1, name="x")
    sess = tf.Session()
    before = len(sess.graph_def.node)
    tf.constant(2)
    return sess.graph is tf.get_default_graph(), before, [n.name for n in sess.graph_def.node], sess.sess_str


def session_takes_the_default_graph(tf):
    g = tf.Graph()
    with g.as_default():
        sess = tf.Session()
    return sess.graph is g, tf.Session(graph=g).graph is g


def session_reset(tf):
    return hasattr(tf.Session, "reset")


def session_dropped_without_closing(tf):
    x = tf.constant(1)
    sess = tf.Session()
    sess.run(x)
    del sess
    return run(tf, x)


def many_sessions(tf):
    x = tf.constant(1) + 1
    return [int(tf.Session().run(x)) for _ in range(20)]


def threads_of_one_session(tf):
    v = tf.Variable(0, use_resource=True)
    add = v.assign_add(1, read_value=False)
    with tf.Session() as sess:
        initialize(tf, sess)
        threads = [threading.Thread(target=lambda: [sess.run(add) for _ in range(20)]) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sess.run(v)


def closing_ends_what_waits(tf):
    q = tf.FIFOQueue(1, [tf.int32])
    x = q.dequeue()
    sess = tf.Session()
    sess.run(tf.no_op())
    out = []
    thread = threading.Thread(target=lambda: out.append(caught(lambda: sess.run(x))[0]))
    thread.start()
    thread.join(0.3)
    sess.close()
    thread.join(10)
    return out, thread.is_alive()


def error_that_a_run_ends_with(tf):
    x = tf.placeholder(tf.int32, [None], name="x")
    y = tf.gather([1, 2, 3], x, name="picked")
    with tf.Session() as sess:
        try:
            sess.run(y, {x: [7]})
        except tf.errors.InvalidArgumentError as error:
            first = error.op is y.op, error.node_def.name, error.error_code, type(error).__name__
        return first, sess.run(y, {x: [1]})


def session_goes_on_after_errors(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.Session() as sess:
        out = [caught(lambda: sess.run(x))[0], caught(lambda: sess.run("nope"))[0], caught(lambda: sess.run(x, {x: "a"}))[0]]
        return out, sess.run(x * 2.0, {x: 4.0})


def a_big_graph(tf):
    x = tf.constant(0)
    for _ in range(2000):
        x = x + 1
    return run(tf, x)


def a_wide_graph(tf):
    return run(tf, tf.add_n([tf.constant(i) for i in range(1000)]))


def graph_changed_between_runs(tf):
    a, b = tf.constant(1, name="a"), tf.constant(10, name="b")
    y = tf.identity(a, name="y")
    with tf.Session() as sess:
        first = sess.run(y)
    y.op._update_input(0, b)
    with tf.Session() as sess:
        return first, sess.run(y)
