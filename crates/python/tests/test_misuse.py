"""Misuse raises exceptions, without crashes or hangs. `misuse/sweep.py` passes invalid arguments to all."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import millstream as tf

SWEEP = pathlib.Path(__file__).parent / "misuse" / "sweep.py"


@pytest.mark.parametrize("part", ["functions", "ops", "methods"])
def test_everything_called_with_nonsense(part):
    done = subprocess.run([sys.executable, str(SWEEP), part], capture_output=True, timeout=280)
    lines = done.stdout.decode(errors="replace").splitlines()
    assert done.returncode == 0, "ended with %s after %s\n%s" % (done.returncode, lines[-1:], done.stderr.decode(errors="replace")[-3000:])
    assert 10000 < len(lines) and lines[-1] == "DONE []", lines[-1]
    assert not [line for line in lines if line.startswith("FAILED")]


def script(text, timeout=60):
    """Runs a program in a new process; returns its status and output."""
    done = subprocess.run([sys.executable, "-c", "import millstream as tf, numpy as np\n" + text], capture_output=True, text=True, timeout=timeout)
    assert done.returncode >= 0, "ended by signal %d\n%s" % (-done.returncode, done.stderr)
    return done


# NumPy arrays of every kind.


def arrays():
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    unaligned = np.frombuffer(b"\0" + base.tobytes(), dtype=np.uint8)[1:].view(np.float32).reshape(4, 6)
    read_only = base.copy()
    read_only.flags.writeable = False

    class Sub(np.ndarray):
        pass

    return {
        "fortran": np.asfortranarray(base), "negative": base[::-1, ::-2], "strided": base[::3, 1::2], "transposed": base.T, "swapped": base.astype(">f4"),
        "unaligned": unaligned, "read only": read_only, "subclass": base.view(Sub), "0-d": np.array(2.0, np.float32), "empty": base[:0], "empty inside": base[:, :0],
        "broadcast": np.broadcast_to(np.float32(3), (2, 3)), "masked": np.ma.array(base), "matrix": base[None, :1], "bool": base > 3, "int8": base.astype(np.int8),
        "field": np.zeros(5, [("a", "i1"), ("b", "f4")])["b"], "packed field": np.ones(5, [("a", "i8"), ("b", "f4")])["b"], "half": base.astype(np.float16), "complex": base * 1j, "swapped ints": base.astype(">i8"), "long double to float": base.astype(np.float64),
    }


@pytest.mark.parametrize("name", sorted(arrays()))
def test_arrays_of_any_layout(name):
    array = arrays()[name]
    plain = np.array(array).astype(array.dtype.newbyteorder("="))
    x = tf.placeholder(tf.as_dtype(plain.dtype), None)
    with tf.Session() as sess:
        fed, held = sess.run([tf.identity(x), tf.constant(array)], {x: array})
        called = sess.make_callable(x, [x])(array)
    for got in (fed, held, called):
        assert got.dtype == plain.dtype and got.shape == plain.shape
        np.testing.assert_array_equal(got, plain)


@pytest.mark.parametrize(
    "array",
    [np.array([object(), None], object), np.zeros(3, [("a", "i4")]), np.array(["2020"], "datetime64[Y]"), np.array([1], "timedelta64[s]"), np.zeros(2, "V3")],
    ids=["objects", "structured", "dates", "times", "void"],
)
def test_arrays_that_no_tensor_is(array):
    for make in (lambda: tf.constant(array), lambda: tf.add(array, 1), lambda: tf.convert_to_tensor(array), lambda: tf.Session().run(x, {x: array})):
        x = tf.placeholder(tf.float32)
        with pytest.raises((TypeError, ValueError)):
            make()


def test_what_is_fetched_is_ones_own():
    with tf.Session() as sess:
        c = tf.constant(np.zeros(100_000, np.float32))
        first = sess.run(c)
        try:
            first[:] = 7  # Only if it is writable.
        except ValueError:
            pass
        assert sess.run(c)[0] == 0
        # The array outlives the session and the graph.
        kept = sess.run(tf.ones([200, 200]))
    tf.reset_default_graph()
    assert kept.sum() == 40000


def test_a_fed_array_may_change_afterwards():
    x = tf.placeholder(tf.float32, [50_000])
    v = tf.Variable(tf.zeros([50_000]), use_resource=True)
    array = np.ones(50_000, np.float32)
    with tf.Session() as sess:
        sess.run(v.assign(x), {x: array})
        array[:] = 5
        assert sess.run(v).max() == 1


# Strings.


@pytest.mark.parametrize("text", [b"", b"\0", b"a\0b", b"\xff\xfe", "\0", "ä", "\U0001f600", "x" * 1_000_000], ids=lambda t: repr(t[:5]))
def test_text_of_any_bytes(text):
    wanted = text.encode() if isinstance(text, str) else text
    x = tf.placeholder(tf.string)
    with tf.Session() as sess:
        assert sess.run(tf.constant(text)) == wanted
        assert sess.run(tf.identity(x), {x: text}) == wanted
        assert sess.run(tf.identity(x), {x: np.array([text], object)})[0] == wanted


@pytest.mark.parametrize("make", [tf.constant, tf.convert_to_tensor, lambda s: tf.string_join([s, s]), lambda s: tf.no_op(name=s), lambda s: tf.Session().run(s), lambda s: tf.device(s).__enter__(), lambda s: tf.get_variable(s, [1])])
def test_text_that_is_no_text(make):
    tf.constant(1)
    with pytest.raises((ValueError, TypeError, UnicodeEncodeError)):
        make("\ud800")


def test_names_that_are_long():
    name = "n" * 1_000_000
    assert tf.constant(1, name=name).op.name == name
    assert tf.constant(1, name=name).op.name == name + "_1"
    assert tf.get_default_graph().get_operation_by_name(name).name == name
    with tf.Session() as sess:
        assert sess.run(name + ":0") == 1


# Deep nesting.


def test_chains_and_loops_that_are_deep():
    done = script(
        """
x = tf.constant(0)
for _ in range(100000):
    x = x + 1
with tf.Session() as sess:
    print(sess.run(x))
y = tf.constant(0)
def nest(n):
    return (lambda i: i + 1) if n == 0 else (lambda i: tf.while_loop(lambda j: j < i + 1, nest(n - 1), [i]))
try:
    print(tf.Session().run(tf.while_loop(lambda i: i < 1, nest(40), [y])))
except Exception as e:
    print(type(e).__name__)
""",
        120,
    )
    assert done.returncode == 0 and done.stdout.startswith("100000\n"), done.stdout + done.stderr[-2000:]


@pytest.mark.parametrize("kind", ["list", "tuple", "dict"])
def test_structures_that_are_deep(kind):
    wrap = {"list": "[s]", "tuple": "(s,)", "dict": "{'a': s}"}[kind]
    done = script(
        """
import sys
s = tf.constant(1)
for _ in range(100000):
    s = %s
holder = [1]
holder.append(holder)
for f in (tf.constant, tf.convert_to_tensor, tf.nest.flatten, tf.Session().run, lambda v: tf.Session().make_callable(v), lambda v: tf.add(v, v),
          lambda v: tf.while_loop(lambda i: i < 1, lambda i: i, [v]), lambda v: tf.stack(v), lambda v: tf.Session().run(tf.constant(1), {tf.constant(1): v})):
    for value in (s, holder):
        try:
            f(value)
        except Exception as e:
            print(type(e).__name__)
        else:
            print("no exception", f)
# A structure as deep as these goes by itself: what held it has to be taken apart without recursion.
sys.stdout.flush()
"""
        % wrap
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 18 and "no exception" not in done.stdout, done.stdout + done.stderr[-2000:]


def test_fetches_may_be_nested():
    s = tf.constant(1)
    for _ in range(100):
        s = [s]
    with tf.Session() as sess:
        got = sess.run(s)
    for _ in range(100):
        (got,) = got
    assert got == 1


# Sizes and numbers.


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.zeros([2**40]), lambda: tf.zeros([2**31, 2**31]), lambda: tf.fill(tf.constant([2**62], tf.int64), 1.0), lambda: tf.range(2**50), lambda: tf.tile([1.0], tf.constant([2**45], tf.int64)),
        lambda: tf.one_hot([1] * 64, 2**31 - 1), lambda: tf.random_uniform([2**21, 2**21]), lambda: tf.eye(2**20), lambda: tf.ones([2**63]), lambda: tf.zeros([-1]),
        lambda: tf.pad([1.0], tf.constant([[2**40, 0]], tf.int64)), lambda: tf.constant(1.0, shape=[2**50]),
    ],
)
def test_sizes_that_no_memory_has(make):
    with pytest.raises((tf.errors.OpError, ValueError, OverflowError, MemoryError, TypeError)):
        with tf.Session() as sess:
            sess.run(make(), options=tf.RunOptions(timeout_in_ms=20_000))


@pytest.mark.parametrize("timeout", [float("nan"), float("inf"), -1, 2**70, "soon", None, object()])
def test_timeouts_that_are_none(timeout):
    x = tf.constant(1)
    for run in (lambda: tf.RunOptions(timeout_in_ms=timeout), lambda: tf.ConfigProto(operation_timeout_in_ms=timeout), lambda: tf.train.Coordinator().wait_for_stop(timeout)):
        if run.__code__.co_names[-1] == "wait_for_stop" and (timeout is None or timeout == float("inf")):
            continue  # Waits forever, as requested.
        try:
            made = run()
        except (TypeError, ValueError, OverflowError):
            continue
        if isinstance(made, tf.RunOptions):
            assert tf.Session().run(x, options=made) == 1
        elif isinstance(made, tf.ConfigProto):
            assert tf.Session(config=made).run(x) == 1


# Sessions and graphs in the wrong place or state.


def test_a_closed_session():
    x = tf.placeholder(tf.float32)
    sess = tf.Session()
    f = sess.make_callable(x + 1, [x])
    sess.close()
    sess.close()
    for use in (lambda: sess.run(x, {x: 1}), lambda: f(1), lambda: sess.make_callable(x), lambda: sess.partial_run_setup([x], [x]), lambda: x.eval({x: 1}, sess)):
        with pytest.raises((RuntimeError, tf.errors.OpError)):
            use()


def test_things_of_another_graph():
    x = tf.constant(1.0)
    with tf.Graph().as_default() as other:
        y = tf.placeholder(tf.float32)
        sess = tf.Session(graph=other)
        for i, use in enumerate((
            lambda: x + y, lambda: tf.add(x, y), lambda: sess.run(x), lambda: sess.run(y, {x: 1}), lambda: sess.run([y, x], {y: 1}), lambda: sess.make_callable(y, [x]),
            lambda: tf.gradients(y, x), lambda: tf.while_loop(lambda i: i < 1, lambda i: i + x, [y]), lambda: tf.control_dependencies([x]).__enter__(),
            lambda: other.get_operation_by_name(x.op), lambda: y.op._update_input(0, x), lambda: tf.train.Saver([x]),
        )):
            try:
                use()
            except (ValueError, TypeError, RuntimeError, KeyError, IndexError, tf.errors.OpError):
                continue
            pytest.fail("number %d was taken" % i)


def test_many_threads_misuse_one_session():
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(x * 2)
    sess, wrong = tf.Session(), []

    def work(k):
        for i in range(60):
            try:
                if (i + k) % 3:
                    assert sess.run(y, {x: np.full(i % 7, 1.0, np.float32)}) == 2 * (i % 7)
                else:
                    sess.run(y, {x: [[1.0]]})
                    wrong.append("a feed of rank two was taken")
            except (ValueError, RuntimeError, tf.errors.OpError):
                if (i + k) % 3 and not sess._closed:
                    raise
            except Exception as e:
                wrong.append(repr(e))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    time.sleep(0.02)
    sess.close()
    for t in threads:
        t.join(30)
    assert not wrong and not any(t.is_alive() for t in threads)


def test_threads_build_one_graph():
    graph, made = tf.Graph(), []

    def work():
        with graph.as_default():
            for _ in range(200):
                made.append(tf.add(1, 2, name="sum").name)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert len(set(made)) == 800


def test_blocks_left_on_another_thread_or_twice():
    block = tf.get_default_graph().as_default()
    block.__enter__()
    seen = []

    def leave():
        try:
            block.__exit__(None, None, None)
        except Exception as e:
            seen.append(type(e))

    t = threading.Thread(target=leave)
    t.start()
    t.join()
    assert seen
    block.__exit__(None, None, None)
    with pytest.raises((RuntimeError, AssertionError)):
        block.__exit__(None, None, None)


# Process exit, forks and signals.


def test_the_interpreter_may_end_while_threads_run():
    done = script(
        """
import threading
q = tf.FIFOQueue(1, [tf.float32])
sess = tf.Session()
loop = tf.while_loop(lambda i: True, lambda i: i + 1, [tf.constant(0)])
for what in (q.dequeue(), loop):
    threading.Thread(target=lambda w=what: sess.run(w), daemon=True).start()
import time
time.sleep(0.3)
print("over")
"""
    )
    assert done.returncode == 0 and done.stdout == "over\n", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_goes_on():
    done = script(
        """
import os, signal
x = tf.constant([1.0, 2.0])
sess = tf.Session()
assert sess.run(tf.reduce_sum(x)) == 3
pid = os.fork()
if pid == 0:
    signal.alarm(20)
    try:
        assert sess.run(tf.reduce_sum(x)) == 3
        with tf.Graph().as_default(), tf.Session() as own:
            assert own.run(tf.while_loop(lambda i: i < 5, lambda i: i + 1, [tf.constant(0)])) == 5
    except Exception as e:
        print("refused", e, flush=True)
    os._exit(0)
_, status = os.waitpid(pid, 0)
assert sess.run(tf.reduce_sum(x)) == 3
print(os.WIFEXITED(status) and os.WEXITSTATUS(status))
"""
    )
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "0", done.stdout + done.stderr


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="there are no alarms here")
def test_a_signal_during_a_run_of_another_thread():
    done = script(
        """
import signal, threading, time
hits = []
signal.signal(signal.SIGALRM, lambda *a: hits.append(time.monotonic()))
sess = tf.Session()
x = tf.placeholder(tf.int32)
loop = tf.while_loop(lambda i: i < x, lambda i: i + 1, [tf.constant(0)])
began = time.monotonic()
def work():
    while not hits and time.monotonic() - began < 5:
        sess.run(loop, {x: 3000000})
t = threading.Thread(target=work)
t.start()
signal.setitimer(signal.ITIMER_REAL, 0.1)
t.join()
print(len(hits), 0 < hits[0] - began < 2)
def stop(*a):
    raise KeyError("stopped by a signal")
signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.2)
began = time.monotonic()
try:
    sess.run(loop, {x: 2**31 - 1})
except KeyError as e:
    print(e, time.monotonic() - began < 1)
"""
    )
    assert done.stdout == "1 True\n'stopped by a signal' True\n", done.stdout + done.stderr
