"""Concurrent threads: with the GIL they switch every few instructions, otherwise they run in parallel."""

import gc
import subprocess
import sys
import sysconfig
import threading
import time

import numpy as np
import pytest

import millstream as tf

N = 8


@pytest.fixture(autouse=True)
def short_turns():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work, n=N, seconds=120):
    """Returns the results of `work(i)` on `n` threads that start simultaneously; raises their exceptions."""
    begin, results, problems = threading.Barrier(n), [None] * n, []

    def body(i):
        try:
            begin.wait()
            results[i] = work(i)
        except BaseException as e:
            problems.append(e)

    threads = [threading.Thread(target=body, args=(i,), daemon=True) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(seconds)
    if problems:
        raise problems[0]
    assert not any(t.is_alive() for t in threads), "stuck"
    return results


def program(i):
    """Runs a graph with a variable, a loop, a branch, a Python function and a gradient."""
    x = tf.placeholder(tf.float32, [])
    v = tf.Variable(float(i), use_resource=True)
    n, total = tf.while_loop(lambda n, t: n < 10, lambda n, t: [n + 1, t + x * tf.cast(n, tf.float32)], [tf.constant(0), v.read_value()])
    y = tf.cond(x > 0, lambda: total, lambda: -total)
    y = y + tf.py_func(lambda a: np.float32(a * 2), [x], tf.float32)
    (slope,) = tf.gradients(total, x)
    return x, v, n, y, slope


def test_each_thread_has_graphs_and_sessions_of_its_own():
    def work(i):
        for again in range(4):
            with tf.Graph().as_default() as graph:
                x, v, n, y, slope = program(i)
                assert tf.get_default_graph() is graph
                with tf.Session() as sess:
                    assert tf.get_default_session() is sess
                    sess.run(v.initializer)
                    for value in (1.0, 2.0):
                        assert sess.run([n, y, slope], {x: value}) == [10, i + 45 * value + 2 * value, 45]
                    assert y.eval({x: -1.0}) == -(i - 45) - 2
            assert tf.get_default_session() is None

    together(work)


def test_default_graphs_are_those_of_the_threads():
    graphs = together(lambda i: (tf.constant(i), tf.get_default_graph())[1])
    assert len({id(g) for g in graphs}) == N and all(len(g) == 1 for g in graphs)


def test_one_session_runs_for_all():
    x, v, n, y, slope = program(3)
    count = tf.Variable(0, use_resource=True)
    step = count.assign_add(1, use_locking=True)
    queue = tf.FIFOQueue(10 * N, [tf.int32], [[]])
    element = tf.placeholder(tf.int32, [])
    put, take = queue.enqueue(element), queue.dequeue()
    big, vector = np.arange(20000.0), tf.placeholder(tf.float64, [None])
    doubled = vector * 2.0
    with tf.Session() as sess:
        sess.run([v.initializer, count.initializer])
        call = sess.make_callable([n, y], [x])

        def work(i):
            for k in range(10):
                value = float(i * 10 + k + 1)
                assert sess.run({"n": n, "y": (y, slope)}, {x: value}) == {"n": 10, "y": (3 + 47 * value, 45)}
                assert call(value) == [10, 3 + 47 * value]
                got = sess.run(doubled, {vector: big})
                got += 1
                assert got[5] == 11 and got[-1] == 2 * 19999 + 1
                sess.run(step.op if hasattr(step, "op") else step)
                sess.run(put, {element: i * 10 + k})
            return [int(sess.run(take)) for _ in range(10)]

        taken = sum(together(work), [])
        assert sorted(taken) == list(range(10 * N)) and sess.run(count.read_value()) == 10 * N


def test_nodes_and_tensors_are_one_object_for_all():
    with tf.Graph().as_default() as graph:
        tf.split(tf.range(6, name="r"), 3, name="s")
    names = [op.name for op in graph.get_operations()]

    def work(i):
        with tf.Graph().as_default() as other:
            tf.import_graph_def(graph.as_graph_def(), name="")
            del other
        found = [graph.get_operation_by_name(n) for n in names] + [graph.get_tensor_by_name("s:%d" % k) for k in range(3)]
        found[-1].mark = i
        assert found[-1].mark in range(N) and [id(t) for t in found[0].graph.get_operations()] == [id(o) for o in found[: len(names)]]
        return [id(f) for f in found]

    assert len({tuple(ids) for ids in together(work)}) == 1


def test_sessions_come_and_go():
    x = tf.constant(2.0) * 3.0
    graph = tf.get_default_graph()
    graph.finalize()

    def work(i):
        for _ in range(15):
            sess = tf.Session(graph=graph)
            assert sess.run(x) == 6.0
            if i % 2:
                sess.close()
                with pytest.raises(RuntimeError, match="closed Session"):
                    sess.run(x)

    together(work)


def test_a_session_is_closed_under_those_who_run():
    n = tf.placeholder(tf.int32, [])
    last = tf.while_loop(lambda i: i < n, lambda i: i + 1, [tf.constant(0)])
    for _ in range(5):
        sess = tf.Session()

        def work(i):
            if i == 0:
                return sess.close()
            end = time.monotonic() + 60  # A thousand compiled runs may be over before the thread that closes begins.
            while time.monotonic() < end:
                try:
                    assert sess.run(last, {n: 1000}) == 1000
                except tf.errors.CancelledError as e:
                    assert "closed" in str(e) or "cancelled" in str(e).lower()
                    return
                except RuntimeError as e:
                    assert "closed Session" in str(e)
                    return
            raise AssertionError("the session was not closed")

        together(work)


def test_errors_tell_each_thread_of_its_own():
    def work(i):
        for k in range(10):
            with tf.Graph().as_default(), tf.Session() as sess:
                bad = tf.check_numerics(tf.constant(0.0) / 0.0, "thread %d" % i, name="bad%d" % i)
                with pytest.raises(tf.errors.InvalidArgumentError, match="thread %d : Tensor had NaN" % i) as caught:
                    sess.run(bad)
                assert caught.value.op is bad.op and "test_threads.py" in str(caught.value)

    together(work)


def test_functions_called_back_may_build_and_run():
    def inner(a):
        with tf.Graph().as_default(), tf.Session() as sess:
            return sess.run(tf.constant(a) * 2)

    y = tf.py_func(inner, [tf.placeholder_with_default(np.float64(4), [])], tf.float64)
    with tf.Session() as sess:
        together(lambda i: [sess.run(y) for _ in range(10)])
        assert sess.run(y) == 8


def test_what_is_registered_is_registered_once():
    class Meters:
        def __init__(self, value):
            self.value = value

    class Fetched:
        def __init__(self, tensor):
            self.tensor = tensor

    def work(i):
        tf.RegisterGradient("ThreadsOwn%d" % i)(lambda op, g: g * float(i))
        tf.register_tensor_conversion_function(type("Own%d" % i, (), {}), lambda value, dtype=None, name=None, as_ref=False: NotImplemented, i)
        won = 0
        try:
            tf.RegisterGradient("ThreadsAll")(lambda op, g: g)
            won += 1
        except KeyError:
            pass
        try:
            from millstream.framework import session

            session.register_session_run_conversion_functions(Fetched, lambda f: ([f.tensor], lambda values: values[0]))
            won += 10
        except ValueError:
            pass
        with tf.Graph().as_default() as graph, tf.Session() as sess:
            x = tf.constant(1.0)
            with graph.gradient_override_map({"Identity": "ThreadsOwn%d" % i}):
                y = tf.identity(x)
            assert sess.run(tf.gradients(y, x)) == [i]

            @tf.custom_gradient
            def scaled(a):
                return a * 1.0, lambda g: g * float(100 + i)

            assert sess.run(tf.gradients(scaled(x), x)) == [100 + i]
        return won

    tf.register_tensor_conversion_function(Meters, lambda m, dtype=None, name=None, as_ref=False: tf.constant(m.value, dtype, name=name))
    assert sum(together(work)) == 11
    with tf.Session() as sess:
        assert sess.run(Fetched(tf.convert_to_tensor(Meters(3)))) == 3


def test_the_collector_runs_beside_all_of_it():
    done = threading.Event()

    def collect():
        while not done.is_set():
            gc.collect()

    # With what a thousand tests left, a collection takes seconds, in which nothing else runs.
    gc.collect()
    gc.freeze()
    collector = threading.Thread(target=collect, daemon=True)
    collector.start()

    def work(i):
        for _ in range(10):
            with tf.Graph().as_default():
                x, v, n, y, slope = program(i)
                x.graph.me, y.mark, y.op.mark = x.graph, [x], y
                with tf.Session() as sess:
                    sess.run(v.initializer)
                    assert sess.run(y, {x: 1.0}) == i + 47

    try:
        together(work)
    finally:
        done.set()
        collector.join(60)
        gc.unfreeze()
    assert not collector.is_alive()


FIRST = """
import sys, threading
sys.setswitchinterval(1e-6)
import millstream as tf
begin, seen, problems = threading.Barrier(%d), [], []
def work():
    try:
        begin.wait()
        seen.append(tuple(id(f()) for f in (
            lambda: tf.math, lambda: tf.math.erf, lambda: tf.strings.join, lambda: tf.raw_ops.AddV2, lambda: tf.nn.relu, lambda: tf.bitwise.bitwise_and,
            lambda: tf.GraphDef, lambda: tf.NodeDef, lambda: tf.AttrValue, lambda: tf.ConfigProto, lambda: type(tf.GraphDef().node.add()), lambda: tf.add)))
        tf.Graph().create_op if hasattr(tf.Graph, "create_op") else None
        assert type(tf.GraphDef().node.add()) is tf.NodeDef
        with tf.Session() as sess:
            assert sess.run(tf.math.erf(0.0) + tf.constant(1.0)) == 1.0
            tf.get_default_graph().as_graph_def()
    except BaseException as e:
        problems.append(repr(e))
threads = [threading.Thread(target=work) for _ in range(%d)]
for t in threads: t.start()
for t in threads: t.join()
print(len(set(seen)), problems)
""" % (N, N)


@pytest.mark.parametrize("again", range(3))
def test_what_is_made_when_first_asked_for_is_made_once(again):
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, timeout=120)
    assert done.stdout == "1 []\n" and done.returncode == 0, done.stdout + done.stderr[-2000:]


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has the lock for good")
def test_the_import_leaves_the_lock_off():
    program = "import sys, numpy; before = sys._is_gil_enabled(); import millstream as tf; tf.Session().close(); print(before, sys._is_gil_enabled())"
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "False False\n", done.stdout + done.stderr
