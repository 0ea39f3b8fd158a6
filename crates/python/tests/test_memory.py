"""Memory: unreferenced graphs are freed, repeated operations do not leak (`soak.py` runs longer)."""

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest

import millstream as tf
from soak_cases import SOAK


def loop_in_a_session():
    with tf.Session() as sess:
        sess.run(tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)]))


def variables():
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    r = tf.Variable(1.0, use_resource=True)
    train = tf.train.AdamOptimizer().minimize(tf.reduce_sum(v) * r)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
    return saver


def callables():
    x = tf.placeholder(tf.float32)
    sess = tf.Session()
    f = sess.make_callable({"a": x + 1}, [x])
    f(1.0)
    sess.close()
    # A reference cycle through the session's attributes.
    sess.ring = f


def queues():
    tf.train.batch([tf.train.string_input_producer(["a", "b"]).dequeue()], 2)
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        sess.run(tf.global_variables_initializer())
        threads = tf.train.start_queue_runners(sess, coord)
        coord.request_stop()
        coord.join(threads, ignore_live_threads=False)


def mistakes():
    for wrong in (lambda: tf.add(tf.ones([2]), tf.ones([3])), lambda: tf.Session().run("nope"), lambda: tf.Session().run(tf.placeholder(tf.int32))):
        try:
            wrong()
        except Exception:
            pass


def gradients():
    x = tf.constant(1.0)
    tf.gradients(tf.while_loop(lambda y: y < 9, lambda y: y * 2, [x]), x)
    tf.cond(x > 0, lambda: x, lambda: -x)
    tf.scan(lambda a, b: a + b, tf.constant([1.0, 2.0]))


def rings():
    t = tf.constant(1.0)
    tf.add_to_collection("things", [t, t.op, tf.get_default_graph()])
    tf.get_default_graph().mine = t


def python_functions():
    x = tf.constant(1.0)
    y = tf.py_func(lambda v: np.float32(v + (0 if x is None else 1)), [x], tf.float32)

    @tf.custom_gradient
    def twice(v):
        return v * 2, lambda dy: dy * 2 + (0 if x is None else 0)

    tf.gradients(twice(x), x)
    with tf.Session() as sess:
        sess.run(y)


@pytest.mark.parametrize("build", [python_functions, loop_in_a_session, variables, callables, queues, mistakes, gradients, rings], ids=lambda f: f.__name__)
def test_a_graph_goes_when_nobody_has_it(build):
    graph = tf.Graph()
    with graph.as_default():
        build()
    gone = weakref.ref(graph)
    del graph
    gc.collect()
    assert gone() is None


def test_a_default_graph_goes_when_it_is_reset():
    tf.Variable(1.0)
    gone = weakref.ref(tf.get_default_graph())
    tf.reset_default_graph()
    gc.collect()
    assert gone() is None


def test_arguments_are_not_held():
    value, name = object(), "some name that nobody else has %d" % 1
    before = sys.getrefcount(value), sys.getrefcount(name)
    for _ in range(50):
        for wrong in (lambda: tf.add(value, 1), lambda: tf.constant(value), lambda: tf.Session().run(value), lambda: tf.raw_ops.AddV2(x=1, y=value), lambda: tf.add(1, 2, name=name)):
            try:
                wrong()
            except Exception:
                pass
    tf.reset_default_graph()
    gc.collect()
    assert (sys.getrefcount(value), sys.getrefcount(name)) == before


@pytest.mark.parametrize("case", sorted(SOAK))
def test_no_memory_is_lost(case):
    done = subprocess.run([sys.executable, __file__.replace("test_memory.py", "soak.py"), case, "--short"], capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
