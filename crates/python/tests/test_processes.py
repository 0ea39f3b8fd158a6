"""Misuse across processes and lifetimes: forks, exits, closing during a run, foreign objects, cycles."""

import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import pytest

import millstream as tf


def program(text, seconds=60):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=seconds)
    return done.returncode, done.stdout, done.stderr


unix = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are of Unix")

FORK = """
import os, warnings
warnings.simplefilter("ignore")
import numpy as np
import millstream as tf
x = tf.constant(np.ones([300, 300], np.float32))
y = tf.reduce_sum(tf.matmul(x, x))
r = tf.while_loop(lambda i: i < 100, lambda i: i + 1, [0])
sess = tf.Session()
sess.run([y, r])
f = sess.make_callable(r)
pid = os.fork()
if pid == 0:
    code = 1
    try:
        {child}
        code = 0
    finally:
        os._exit(code)
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status), sess.run(r), f())
"""


@unix
@pytest.mark.parametrize(
    "child",
    [
        # The parent's session raises an error instead of blocking.
        "exec('try: sess.run(r)\\nexcept RuntimeError as e: assert \"forked\" in str(e)\\nelse: raise SystemError')",
        "exec('try: f()\\nexcept RuntimeError as e: assert \"forked\" in str(e)\\nelse: raise SystemError')",
        "sess.close()",
        "del sess, f",
        # A new session works, for the same graph and for a new one.
        "assert tf.Session().run(r) == 100 and tf.Session().run(y) == 300.0**3",
        "tf.reset_default_graph(); assert tf.Session().run(tf.constant(2) + 3) == 5",
        "tf.add(x, 1.0); assert tf.Session().run(r) == 100",
    ],
)
def test_after_a_fork(child):
    code, out, err = program(FORK.format(child=child))
    assert (code, out) == (0, "0 100 100\n"), err


@unix
def test_a_fork_while_a_thread_runs():
    code, out, err = program(
        """
        import os, threading, time, warnings
        warnings.simplefilter("ignore")
        import millstream as tf
        q = tf.FIFOQueue(1, tf.int32)
        d, put = q.dequeue(), q.enqueue(5)
        c = tf.constant(3) + 4
        sess = tf.Session()
        got = []
        thread = threading.Thread(target=lambda: got.append(int(sess.run(d))))
        thread.start()
        time.sleep(0.2)
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                assert tf.Session().run(c) == 7
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        sess.run(put)
        thread.join()
        print(os.waitstatus_to_exitcode(status), got)
        """
    )
    assert (code, out) == (0, "0 [5]\n"), err


@unix
def test_a_pool_of_forked_processes():
    code, out, err = program(
        """
        import multiprocessing, warnings
        warnings.simplefilter("ignore")
        import millstream as tf
        x = tf.placeholder(tf.int32, [])
        y = tf.while_loop(lambda i, s: i < x, lambda i, s: (i + 1, s + i), [0, 0])[1]
        tf.Session().run(y, {x: 3})

        def work(n):
            with tf.Session() as sess:
                return int(sess.run(y, {x: n}))

        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(2) as pool:
                print(pool.map(work, range(6)))
        """
    )
    assert (code, out) == (0, "[0, 0, 1, 3, 6, 10]\n"), err


@pytest.mark.parametrize("where", ["a queue", "a loop"])
def test_the_interpreter_ends_with_runners_alive(where):
    wait = {"a queue": "tf.FIFOQueue(1, tf.int32).dequeue()", "a loop": "tf.while_loop(lambda i: i >= 0, lambda i: i * 1, [0])"}[where]
    code, out, err = program(
        f"""
        import threading, time
        import millstream as tf
        wait = {wait}
        sess = tf.Session()
        for _ in range(3):
            threading.Thread(target=lambda: sess.run(wait), daemon=True).start()
        time.sleep(0.2)
        print("end")
        """
    )
    assert (code, out) == (0, "end\n"), err


def test_the_interpreter_ends_with_queue_runners_that_nobody_stopped():
    code, out, err = program(
        """
        import millstream as tf
        q = tf.FIFOQueue(3, tf.int32)
        tf.train.add_queue_runner(tf.train.QueueRunner(q, [q.enqueue(1)] * 3))
        d = q.dequeue()
        sess = tf.Session()
        tf.train.start_queue_runners(sess)
        print(sum(sess.run(d) for _ in range(10)))
        """
    )
    assert (code, out) == (0, "10\n"), err


def test_threads_that_are_no_daemons_end_when_the_session_is_closed():
    code, out, err = program(
        """
        import threading, time
        import millstream as tf
        d = tf.FIFOQueue(1, tf.int32).dequeue()
        sess = tf.Session()
        def work():
            try:
                sess.run(d)
            except tf.errors.CancelledError:
                print("cancelled")
        threading.Thread(target=work).start()
        time.sleep(0.2)
        sess.close()
        """
    )
    assert (code, out) == (0, "cancelled\n"), err


def test_a_session_is_closed_while_threads_run_in_it():
    v = tf.Variable(0, use_resource=True)
    add = v.assign_add(1).op
    loop = tf.while_loop(lambda i: i >= 0, lambda i: i * 1, [0])
    for _ in range(5):
        sess = tf.Session()
        sess.run(v.initializer)
        raised = []

        def work(fetch):
            try:
                while True:
                    sess.run(fetch)
            except (tf.errors.CancelledError, RuntimeError) as error:
                raised.append(type(error).__name__)

        threads = [threading.Thread(target=work, args=(f,)) for f in (add, add, loop)]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        sess.close()
        for thread in threads:
            thread.join(20)
        assert len(raised) == 3 and not any(t.is_alive() for t in threads), raised


def test_objects_of_another_graph_are_refused_everywhere():
    x = tf.constant(1)
    with tf.Graph().as_default() as g:
        y = tf.constant(2)
        p = tf.placeholder(tf.int32, [])
        with tf.Session() as sess:
            for misuse in (
                lambda: sess.run(x),
                lambda: sess.run(x.op),
                lambda: sess.run(y, {x: 1}),
                lambda: sess.make_callable(x),
                lambda: sess.make_callable(p, [x]),
                lambda: sess.partial_run_setup([x], [p]),
                lambda: tf.control_dependencies([x]).__enter__(),
                lambda: g.as_graph_element(x),
                lambda: y.op._update_input(0, x),
                lambda: tf.add(x, y),
                lambda: tf.while_loop(lambda i: i < x, lambda i: i + 1, [y]),
                lambda: tf.cond(y > 1, lambda: x, lambda: y),
                lambda: tf.gradients(tf.cast(y, tf.float32), tf.cast(x, tf.float32)),
                lambda: g.prevent_fetching(x.op) or g._may_fetch(x),
                lambda: tf.import_graph_def(g.as_graph_def(), {"Const:0": x}),
            ):
                with pytest.raises((ValueError, TypeError, RuntimeError)):
                    misuse()
            assert sess.run(y) == 2


def test_graphs_with_all_kinds_of_things_in_them_are_collected():
    def build():
        with tf.Graph().as_default() as g:
            v = tf.Variable(1.0)
            x = tf.placeholder(tf.float32, [], name="x")
            x.mine = [g, v]
            x.op.also = g
            tf.add_to_collection("c", x)
            tf.while_loop(lambda i: i < v, lambda i: i + 1.0, [x])
            sess = tf.Session()
            sess.keep = [sess, v]
            sess.run(v.initializer)
            return weakref.ref(g), weakref.ref(x), weakref.ref(v), weakref.ref(sess)

    refs = build()
    gc.collect()
    assert [r() for r in refs] == [None] * 4


def test_one_object_for_each_tensor_and_operation_in_all_threads():
    with tf.Graph().as_default() as g:
        tf.constant([1, 2], name="x")
    seen, gate = [], threading.Barrier(8)

    def look():
        gate.wait()
        op = g.get_operation_by_name("x")
        seen.append((id(op), id(op.outputs[0]), id(g.get_tensor_by_name("x:0").op)))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 1 and seen[0][0] == seen[0][2]


def test_runs_go_on_while_garbage_is_collected():
    x = tf.placeholder(tf.int32, [])
    y = x + 1
    stop = threading.Event()

    def litter():
        while not stop.is_set():
            with tf.Graph().as_default():
                for _ in range(20):
                    tf.constant(1) + 1
            gc.collect()

    thread = threading.Thread(target=litter)
    thread.start()
    try:
        with tf.Session() as sess:
            assert [int(sess.run(y, {x: i})) for i in range(200)] == list(range(1, 201))
    finally:
        stop.set()
        thread.join()
