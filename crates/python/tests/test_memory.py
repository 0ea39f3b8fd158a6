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


# Within 1 GiB of addresses an import may take a quarter. Two bytes of a file are an empty message, which
# takes hundreds.
HEAVY = """
import resource, sys
import numpy
import millstream as tf
from millstream.framework import protos
tf.GraphDef()
resource.setrlimit(resource.RLIMIT_AS, ({limit}, resource.RLIM_INFINITY))
def varint(n):
    return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])
def field(number, data):
    return bytes([number << 3 | 2]) + varint(len(data)) + data
graph = field(1, b"") * 1_000_000
meta = field(2, graph)
folder = {folder!r}
open(folder + "/saved_model.pb", "wb").write(bytes([8, 1]) + field(2, meta))
open(folder + "/meta.pb", "wb").write(meta)
open(folder + "/meta.pbtxt", "w").write("graph_def {{ " + "node {{}} " * 300_000 + "}}")
def status(line):
    return int(open("/proc/self/status").read().split(line + ":")[1].split()[0]) << 10
before = status("VmHWM")
for act in [
    lambda: tf.GraphDef.FromString(graph),
    lambda: tf.GraphDef().ParseFromString(graph),
    lambda: tf.GraphDef().MergeFromString(graph),
    lambda: tf.MetaGraphDef.FromString(meta),
    lambda: tf.saved_model.load(tf.Session(), ["serve"], folder),
    lambda: tf.train.import_meta_graph(folder + "/meta.pb"),
    lambda: tf.train.import_meta_graph(folder + "/meta.pbtxt"),
    lambda: protos.as_message("GraphDef", graph),
]:
    try:
        act()
    except tf.errors.ResourceExhaustedError as error:
        assert "over the limit of" in error.message, error
        print("refused")
print((status("VmHWM") - before) >> 20)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of the address space are Linux's")
def test_messages_are_weighed_before_they_are_decoded(tmp_path):
    now = int(open("/proc/self/status").read().split("VmSize:")[1].split()[0]) << 10
    program = HEAVY.format(folder=str(tmp_path), limit=max(now, 1 << 30))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    *refused, grown = done.stdout.split()
    assert refused == ["refused"] * 8, done.stdout
    assert int(grown) < 64, done.stdout


def test_a_graph_within_the_limit_is_decoded_as_ever():
    with tf.Graph().as_default() as graph:
        tf.constant(1, name="c")
    data = graph.as_graph_def().SerializeToString()
    assert tf.GraphDef.FromString(memoryview(data)) == tf.GraphDef.FromString(data) == graph.as_graph_def()
    again = tf.GraphDef()
    assert again.ParseFromString(data) == len(data) == again.MergeFromString(data)
    assert len(again.node) == 2
