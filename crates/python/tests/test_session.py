"""Sessions: fetches, feeds, errors, callables, threads, Ctrl-C."""

import collections
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import millstream as tf


def run(fetches, feeds=None):
    with tf.Session() as sess:
        return sess.run(fetches, feeds)


def test_fetches_come_back_in_their_structure():
    a, b = tf.constant(1), tf.constant([2.0, 3.0], name="b")
    Pair = collections.namedtuple("Pair", "x y")
    got = run({"t": (a, b), "l": [a, {"deep": b}], "p": Pair(a, "b:0"), "o": tf.no_op(), "e": []})
    assert type(got) is dict and type(got["t"]) is tuple and type(got["l"]) is list and type(got["p"]) is Pair
    assert got["o"] is None and got["e"] == []
    assert got["t"][0] == 1 and isinstance(got["t"][0], np.int32)
    np.testing.assert_array_equal(got["p"].y, [2.0, 3.0])
    np.testing.assert_array_equal(got["l"][1]["deep"], [2.0, 3.0])
    assert type(run(collections.OrderedDict([("z", a), ("a", b)]))) is collections.OrderedDict


def test_composite_fetches_and_feeds():
    sparse = tf.sparse_placeholder(tf.float32, shape=[2, 3])
    value = tf.SparseTensorValue(np.array([[0, 1]], np.int64), np.array([5.0], np.float32), np.array([2, 3], np.int64))
    got = run(sparse, {sparse: value})
    assert isinstance(got, tf.SparseTensorValue)
    np.testing.assert_array_equal(got.values, [5.0])
    slices = run(tf.IndexedSlices(tf.constant([1.0]), tf.constant([4])))
    assert isinstance(slices, tf.IndexedSlicesValue) and slices.dense_shape is None and slices.indices == [4]


@pytest.mark.parametrize(
    "dtype",
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128".split(),
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (40, 50), (200, 300)])
def test_arrays_of_every_dtype_go_in_and_out(dtype, shape):
    kind = np.dtype(dtype)
    array = (np.arange(np.prod(shape, dtype=int)) % 2).astype(kind).reshape(shape)
    x = tf.placeholder(getattr(tf, dtype), shape)
    got = run(tf.identity(x), {x: array})
    assert got.dtype == kind and got.shape == shape
    np.testing.assert_array_equal(got, array)
    # As in TensorFlow, the caller owns the arrays that a session returns.
    if shape:
        assert got.flags.writeable
        transposed = run(tf.identity(tf.placeholder_with_default(array.T, None)))
        np.testing.assert_array_equal(transposed, array.T)


def test_a_fetched_array_does_not_change_with_its_variable():
    v = tf.Variable(np.zeros([100, 100], np.float32))
    with tf.Session() as sess:
        sess.run(v.initializer)
        before = sess.run(v)
        sess.run(v.assign_add(np.ones([100, 100], np.float32)))
        assert before.sum() == 0
        before[:] = 7
        assert sess.run(v).sum() == 10000


def test_loops_run_as_code_unless_told_otherwise():
    start = tf.constant([0.5] * 40)
    i, x = tf.while_loop(lambda i, x: i < 9, lambda i, x: (i + 1, tf.tanh(x) * 1.5), [0, start])
    slope = tf.gradients(x, start)[0]
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.OFF
    with tf.Session() as code, tf.Session(config=config) as tokens:
        assert "runs as compiled code" in str(code.explain(x)), code.explain(x)
        assert "runs as compiled code" not in str(tokens.explain(x))
        for value, same in zip(code.run([i, x, slope]), tokens.run([i, x, slope])):
            np.testing.assert_array_equal(value, same)


def test_strings():
    assert run(tf.constant("héllo")) == "héllo".encode()
    got = run(tf.constant([["a", "b"], [b"\x00c", ""]]))
    assert got.dtype == object and got.tolist() == [[b"a", b"b"], [b"\x00c", b""]]
    x = tf.placeholder(tf.string)
    assert run(tf.identity(x), {x: np.array(["u", "v"])}).tolist() == [b"u", b"v"]


def test_what_cannot_be_fed_or_fetched_says_so():
    x = tf.placeholder(tf.float32, [2, None], name="x")
    y = x + 1
    with pytest.raises(ValueError, match=r"Cannot feed value of shape \(3,\) for Tensor 'x:0', which has shape '\(2, \?\)'"):
        run(y, {x: [1, 2, 3]})
    with pytest.raises(TypeError, match="The value of a feed cannot be a tf.Tensor object"):
        run(y, {x: tf.constant(1.0)})
    with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
        run(y, {object(): 1})
    with pytest.raises(TypeError, match="Fetch argument None has invalid type"):
        run(None)
    with pytest.raises(TypeError, match="must be a string or Tensor"):
        run(3)
    with pytest.raises(ValueError, match="cannot be interpreted as a Tensor"):
        run("nowhere:0")
    with tf.Graph().as_default():
        other = tf.constant(1)
    with pytest.raises(ValueError, match="is not an element of this graph"):
        run(other)
    with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor"):
        run(y)


def test_lists_that_contain_themselves_are_errors():
    x = tf.placeholder(tf.float32)
    endless = []
    endless.append(endless)
    sess = tf.Session()
    for ask in [lambda: sess.run(endless), lambda: sess.make_callable(x, [endless, x]), lambda: sess.make_callable(x, [[[x]], endless])]:
        with pytest.raises((RecursionError, TypeError, ValueError)):
            ask()
    assert sess.make_callable(x * 2.0, [[[x]]])(1.5) == 3.0


def test_a_bool_is_fed_by_0_and_1_only():
    p = tf.placeholder(tf.bool)
    sess = tf.Session()
    assert [bool(sess.run(p, {p: value})) for value in (True, 0, 1, np.bool_(False))] == [True, False, True, False]
    with pytest.raises(TypeError, match="Type of feed value 2 with type <class 'int'>"):
        sess.run(p, {p: 2})


def test_an_error_has_the_operation_and_its_line():
    bad = tf.constant([1, 2]) // tf.constant(0)  # this line
    line = sys._getframe().f_lineno - 1
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        run(bad)
    error = caught.value
    assert error.op is not None and error.op == bad.op and error.error_code == tf.errors.INVALID_ARGUMENT
    assert "%s:%d" % (__file__, line) in error.message
    assert bad.op.traceback[-1][:3] == (__file__, line, "test_an_error_has_the_operation_and_its_line")
    assert error.node_def.op == "FloorDiv"


def test_closed_sessions():
    c = tf.constant(1)
    sess = tf.Session()
    sess.close()
    sess.close()
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        sess.run(c)


def test_default_sessions_and_eval():
    c = tf.constant(5)
    with pytest.raises(ValueError, match="No default session is registered"):
        c.eval()
    with tf.Session() as sess:
        assert c.eval() == 5 and tf.get_default_session() is sess
    sess = tf.InteractiveSession()
    assert c.eval() == 5
    sess.close()
    assert tf.get_default_session() is None


def test_callables_and_partial_runs():
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    a, b = x + 1, x * y
    with tf.Session() as sess:
        call = sess.make_callable([a, b.op, {"b": b}], [x, y])
        assert call(2, 3) == [3.0, None, {"b": 6.0}]
        with pytest.raises(tf.errors.InvalidArgumentError, match="2"):
            call(1)
        handle = sess.partial_run_setup([a, b], [x, y])
        assert sess.partial_run(handle, a, {x: 2}) == 3
        assert sess.partial_run(handle, b, {y: 4}) == 8


def test_many_threads_drive_one_session():
    x = tf.placeholder(tf.int64, [])
    _, total = tf.while_loop(lambda i, s: i < x, lambda i, s: (i + 1, s + i), [tf.constant(0, tf.int64), tf.constant(0, tf.int64)])
    with tf.Session() as sess:
        failures = []

        def work(k):
            for n in range(k, k + 40):
                if sess.run(total, {x: n}) != n * (n - 1) // 2:
                    failures.append(n)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert not failures


def test_other_threads_go_on_while_a_session_runs():
    # Too many elements for compiled code, which would be through at once.
    start = [0, tf.zeros([100], tf.int32)]
    _, last = tf.while_loop(lambda i, s: i < 300000, lambda i, s: (i + 1, s + i), start)
    counted = []
    with tf.Session() as sess:
        runner = threading.Thread(target=lambda: counted.append(sess.run(last)))
        runner.start()
        steps = 0
        while runner.is_alive():
            steps += 1
            time.sleep(0.001)
        assert counted and steps > 3


INTERRUPTED = """
import signal, threading, time, os
import millstream as tf
{build}
with tf.Session() as sess:
    def press():
        time.sleep(0.5)
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    pressed = []
    threading.Thread(target=press, daemon=True).start()
    try:
        sess.run(wait)
    except KeyboardInterrupt as stop:
        print(time.monotonic() - pressed[0])
        print(stop)
"""

BUILDS = {
    "loop": "wait = tf.while_loop(lambda i: i >= 0, lambda i: i * 1, [0])",
    "queue": "wait = tf.FIFOQueue(1, tf.int32).dequeue()",
}
SAYS = {
    "loop": " of loop `while/while_context`",
    "queue": "`fifo_queue_Dequeue` waits for items in queue `fifo_queue`",
}


@pytest.mark.skipif(os.name == "nt", reason="signals are of Unix")
@pytest.mark.parametrize("what", sorted(BUILDS))
def test_ctrl_c_ends_it_soon_and_says_what_it_was_doing(what):
    program = INTERRUPTED.format(build=BUILDS[what])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip(), done.stderr
    took, _, says = done.stdout.partition("\n")
    assert float(took) < 0.2
    assert says.startswith("the run was interrupted\n") and SAYS[what] in says, says


def test_a_timeout_ends_a_run():
    wait = tf.FIFOQueue(1, tf.int32).dequeue()
    options = tf.RunOptions(timeout_in_ms=30)
    with tf.Session() as sess, pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(wait, options=options)


def test_the_interpreter_ends_though_a_thread_still_waits_in_a_session():
    program = textwrap.dedent(
        """
        import threading, time
        import millstream as tf
        q = tf.FIFOQueue(1, tf.int32)
        d = q.dequeue()
        sess = tf.Session()
        threading.Thread(target=lambda: sess.run(d), daemon=True).start()
        time.sleep(0.2)
        print("end")
        """
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == "end\n", done.stderr


def test_nothing_is_left_of_graphs_and_sessions():
    resource = pytest.importorskip("resource")

    def once():
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [100])
            y = tf.reduce_sum(x * 2.0)
            with tf.Session() as sess:
                for _ in range(10):
                    sess.run(y, {x: np.ones(100)})
                with pytest.raises(tf.errors.InvalidArgumentError):
                    sess.run(y)

    for _ in range(20):
        once()
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(200):
        once()
    gc.collect()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20000


def test_metadata_of_a_traced_run():
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(tf.constant(1) + 2, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    names = [s.node_name for d in metadata.step_stats.dev_stats for s in d.node_stats]
    assert "add" in names


DEVICES = {
    "/cpu:1": True,
    "/device:CPU:0": True,
    "/job:localhost/replica:0/task:0/cpu:1": True,
    "/task:0": True,
    "/cpu:2": "soft",
    "/device:GPU:0": "soft",
    "/job:worker": False,
    "/task:1": False,
    "/job:ps/task:0/cpu:0": False,
}


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("device", DEVICES)
def test_devices_that_are_there_and_that_are_not(device, soft):
    with tf.Graph().as_default():
        with tf.device(device):
            x = tf.constant(1) + 1
        config = tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=soft)
        with tf.Session(config=config) as sess:
            if DEVICES[device] is True or DEVICES[device] == "soft" and soft:
                assert sess.run(x) == 2
            else:
                with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device for operation"):
                    sess.run(x)


def test_devices_are_looked_at_again_when_nodes_change():
    with tf.Graph().as_default(), tf.Session() as sess:
        x, y = tf.identity(1), tf.identity(2)
        assert sess.run(x) == 1
        y.op._set_device("/device:GPU:0")
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="GPU"):
                sess.run(x)
        y.op._set_device("")
        assert sess.run(x) == 1


def test_a_session_is_left_after_a_test_emptied_the_stack():
    from millstream.framework.graph import _empty_stack

    with tf.Graph().as_default(), tf.Session():
        _empty_stack()
        tf.reset_default_graph()
    assert tf.get_default_session() is None
