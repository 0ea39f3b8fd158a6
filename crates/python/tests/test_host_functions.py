"""`py_func`: arguments and results, errors, threads, Ctrl-C, nested sessions, object lifetimes."""

import gc
import os
import signal
import threading
import time
import weakref

import numpy as np
import pytest

import millstream as tf


def run(fetches, feeds=None, **config):
    with tf.Session(config=tf.ConfigProto(**config) if config else None) as sess:
        return sess.run(fetches, feeds)


@pytest.mark.parametrize("dtype", "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 bool complex64 complex128".split())
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (70, 80)])
def test_arrays_go_in_and_out(dtype, shape):
    array = (np.arange(np.prod(shape, dtype=int)) % 2).astype(dtype).reshape(shape)
    x = tf.placeholder(dtype)
    seen = []
    y = tf.py_func(lambda a: (seen.append(a), a)[1], [x], dtype)
    got = run(y, {x: array})
    np.testing.assert_array_equal(got, array)
    assert got.dtype == array.dtype and seen[0].dtype == array.dtype and np.shape(seen[0]) == shape
    assert isinstance(seen[0], np.ndarray if shape else np.generic)


def test_text_goes_in_and_out():
    seen = []
    y, z = tf.py_func(lambda a, b: (seen.extend([a, b]), (a + b"!", np.array(["x", "\u00e4"])))[1], ["one", ["p", "q"]], [tf.string, tf.string])
    got = run([y, z])
    assert got[0] == b"one!" and list(got[1]) == [b"x", "\u00e4".encode()]
    assert seen[0] == b"one" and list(seen[1]) == [b"p", b"q"]


@pytest.mark.parametrize(
    "array",
    [np.arange(6).reshape(2, 3).T, np.arange(6)[::-2], np.arange(3).astype(">i8"), np.asfortranarray(np.ones((40, 50), np.int64))],
    ids=["transposed", "steps", "big-endian", "column-major"],
)
def test_results_of_any_layout(array):
    np.testing.assert_array_equal(run(tf.py_func(lambda: array, [], tf.int64)), array)


def test_a_function_may_change_its_arguments_and_keep_its_results():
    kept = []

    def change(a):
        a[:] = 7
        kept.append(a)
        return a

    c = tf.constant(np.zeros(5000, np.float32))
    v = tf.Variable(np.zeros(5000, np.float32), use_resource=True)
    p = tf.placeholder(tf.float32)
    fed = np.zeros(5000, np.float32)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for source in (c, v, p, tf.identity(c)):
            got = sess.run(tf.py_func(change, [source], tf.float32), {p: fed})
            kept[-1][:] = 3
            assert (got == 7).all()
        assert not fed.any() and not sess.run(c).any() and not sess.run(v).any()


class Mine(Exception):
    pass


@pytest.mark.parametrize(
    "error, kind",
    [
        (ValueError("mine"), tf.errors.InvalidArgumentError),
        (TypeError("mine"), tf.errors.InvalidArgumentError),
        (UnicodeDecodeError("utf8", b"a", 0, 1, "mine"), tf.errors.InvalidArgumentError),
        (StopIteration("mine"), tf.errors.OutOfRangeError),
        (MemoryError("mine"), tf.errors.ResourceExhaustedError),
        (NotImplementedError("mine"), tf.errors.UnimplementedError),
        (RuntimeError("mine"), tf.errors.UnknownError),
        (KeyError("mine"), tf.errors.UnknownError),
        (Mine("mine"), tf.errors.UnknownError),
    ],
    ids=lambda x: type(x).__name__ if isinstance(x, BaseException) else "",
)
def test_exceptions(error, kind):
    def fails():
        raise error

    y = tf.py_func(fails, [], tf.float32, name="y")
    with pytest.raises(kind) as caught:
        run(y)
    assert type(caught.value) is kind and caught.value.op == y.op
    assert caught.value.message.startswith(type(error).__name__ + ": ") and "mine" in caught.value.message
    assert "in fails" in caught.value.message and "[[node y (defined at %s" % __file__ in caught.value.message
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit(3)])
def test_what_is_no_error_comes_out_as_it_is(error):
    def fails():
        raise error

    with pytest.raises(error if isinstance(error, type) else type(error)):
        run(tf.py_func(fails, [], tf.float32))


@pytest.mark.parametrize(
    "function, types, kind, text",
    [
        (lambda: 1, tf.int32, tf.errors.InvalidArgumentError, "0-th value returned by %s is int64, but expects int32"),
        (lambda: (1, 1.5), [tf.int64, tf.float32], tf.errors.InvalidArgumentError, "1-th value returned by %s is double, but expects float"),
        (lambda: [1, 2], tf.int64, tf.errors.InvalidArgumentError, "%s returns 2 values, but expects to see 1 values."),
        (lambda: None, tf.int64, tf.errors.InvalidArgumentError, "%s returns 0 values, but expects to see 1 values."),
        (lambda: 5, [], tf.errors.InvalidArgumentError, "%s returns 1 values, but expects to see 0 values."),
        (lambda: object(), tf.int64, tf.errors.InternalError, "Unsupported object type object"),
        (lambda: {}, tf.int64, tf.errors.InternalError, "Unsupported object type dict"),
        (lambda x: x, tf.int64, tf.errors.InvalidArgumentError, "missing 1 required positional argument"),
    ],
)
def test_results_that_are_not_as_said(function, types, kind, text):
    y = tf.py_func(function, [], types)
    op = y if isinstance(y, tf.Operation) else (y[0] if isinstance(y, list) else y).op
    with pytest.raises(kind) as caught:
        run(y)
    text = text % op.get_attr("token").decode() if "%s" in text else text
    assert text in caught.value.message


def test_misuse_while_the_graph_is_built():
    with pytest.raises(ValueError, match="Expected func to be callable, got func of type <class 'int'>"):
        tf.py_func(5, [], tf.int32)
    with pytest.raises(TypeError, match="Expected list for 'input' argument to 'PyFunc' Op, not 1.0."):
        tf.py_func(lambda x: x, 1.0, tf.int32)
    with pytest.raises(TypeError, match="Expected DataType for argument 'Tout' not 5.5."):
        tf.py_func(lambda: 1, [], 5.5)


def test_the_graph_holds_the_function_and_lets_go_of_it():
    class Function:
        def __call__(self, x):
            return x

    def build():
        graph, function = tf.Graph(), Function()
        with graph.as_default():
            y = tf.py_func(function, [tf.constant(2.0)], tf.float32)
            # A function that refers to the graph does not keep it alive.
            function.around = (y, tf.Session(), graph)
            tf.py_func(lambda: y, [], tf.float32)
        return weakref.ref(graph), weakref.ref(function), y

    graph, function, y = build()
    gc.collect()
    with tf.Session(graph=y.graph) as sess:
        assert sess.run(y) == 2.0
    message = y.graph.as_graph_def()
    token = y.op.get_attr("token")
    del y, sess
    gc.collect()
    assert graph() is None and function() is None
    (z,) = tf.import_graph_def(message, return_elements=["PyFunc:0"], name="")
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        run(z)
    assert "callback %s is not found" % token.decode() in caught.value.message


def test_a_node_calls_functions_of_its_own_graph_only():
    called = []
    with tf.Graph().as_default() as graph:
        y = tf.py_func(lambda x: called.append(x) or x, [tf.constant(2.0)], tf.float32, name="y")
        # Copied within the graph.
        (again,) = tf.import_graph_def(graph.as_graph_def(), return_elements=["y:0"], name="again")
        with tf.Session() as sess:
            assert sess.run([y, again]) == [2.0, 2.0] and len(called) == 2
    message = graph.as_graph_def()
    for token in (y.op.get_attr("token"), b"pyfunc_0", b"pyfunc_1"):
        next(n for n in message.node if n.name == "y").attr["token"].s = token
        with tf.Graph().as_default():
            (z,) = tf.import_graph_def(message, return_elements=["y:0"], name="")
            with pytest.raises(tf.errors.InvalidArgumentError, match="callback %s is not found" % token.decode()) as caught:
                run(z)
            assert "can only call a function of its own graph" in caught.value.message
    assert len(called) == 2


def test_tokens_cannot_be_guessed():
    tokens = {tf.py_func(lambda: 1, [], tf.int64).op.get_attr("token").decode() for _ in range(100)}
    assert len(tokens) == 100 and all(len(t) == len("pyfunc_") + 32 for t in tokens)


def test_a_million_tokens_would_not_pile_up():
    from millstream import _engine

    class Holder:
        call = None

    for _ in range(1000):
        holder = Holder()
        kept = _engine.HostFunction(holder)
        kept.join(tf.get_default_graph())
        alive = weakref.ref(holder)
        del holder
        assert alive() is None
        del kept


def test_the_same_session_runs_inside():
    x = tf.constant(20)
    with tf.Session() as sess:
        assert sess.run(tf.py_func(lambda: sess.run(x) + np.int32(1), [], tf.int32)) == 21


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_many_runs_inside_of_many_runs_end(threads):
    # As many functions as threads, each in its own run with products that take long enough to move to other
    # threads.
    a = tf.constant(np.ones((128, 128), np.float32))
    inner = tf.reduce_sum(tf.matmul(a, a)) + tf.reduce_sum(tf.matmul(a, a + 1))
    with tf.Session(config=tf.ConfigProto(inter_op_parallelism_threads=threads)) as sess:
        wanted = sess.run(inner)
        outer = [tf.py_func(lambda: sess.run(inner), [], tf.float32) for _ in range(4)]
        results = []
        runners = [threading.Thread(target=lambda: results.append(sess.run(outer)), daemon=True) for _ in range(4)]
        for r in runners:
            r.start()
        for r in runners:
            r.join(60)
        assert len(results) == 4 and all(v == wanted for r in results for v in r)


def test_functions_that_wait_for_each_other_run_side_by_side():
    both = threading.Barrier(2, timeout=30)
    a, b = [tf.py_func(lambda: both.wait() * 0, [], tf.int64) for _ in range(2)]
    assert run([a, b], inter_op_parallelism_threads=2) == [0, 0]


def test_in_loops_and_branches():
    seen = []
    r = tf.while_loop(
        lambda i, _: i < 5,
        lambda i, s: (i + 1, tf.py_func(lambda i, s: (seen.append(int(i)), s + i)[1], [i, s], tf.int32)),
        [0, 0],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)],
    )[1]
    x = tf.placeholder(tf.bool, [])
    y = tf.cond(x, lambda: tf.py_func(lambda: (seen.append("yes"), 1)[1], [], tf.int64), lambda: tf.constant(0, tf.int64))
    with tf.Session() as sess:
        assert sess.run(r) == 10 and seen == [0, 1, 2, 3, 4]
        assert sess.run(y, {x: False}) == 0 and seen[-1] == 4
        assert sess.run(y, {x: True}) == 1 and seen[-1] == "yes"


def test_control_dependencies_order_functions():
    seen = []
    first = tf.py_func(lambda: seen.append(1), [], [])
    with tf.control_dependencies([first]):
        second = tf.py_func(lambda: seen.append(2), [], [])
    with tf.control_dependencies([second]):
        third = tf.py_func(lambda: seen.append(3), [], [])
    assert isinstance(first, tf.Operation) and run(third) is None and seen == [1, 2, 3]


def test_stateless_ones_have_an_op_of_their_own():
    y = tf.py_func(lambda x: x, [1.0], tf.float32, stateful=False)
    assert y.op.type == "PyFuncStateless" and tf.numpy_function(lambda x: x, [1.0], tf.float32).op.type == "PyFunc"
    assert run(y) == 1.0


def _interrupt_after(seconds):
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_ends_a_function():
    began = time.monotonic()
    _interrupt_after(0.2)
    with pytest.raises(KeyboardInterrupt):
        run(tf.py_func(lambda: time.sleep(20), [], []))
    assert time.monotonic() - began < 5


def test_ctrl_c_ends_functions_on_other_threads():
    ended = []

    def spins():
        try:
            while True:
                time.sleep(0.001)
        finally:
            ended.append(1)

    began = time.monotonic()
    _interrupt_after(0.2)
    with pytest.raises(KeyboardInterrupt):
        run([tf.py_func(spins, [], []) for _ in range(2)], inter_op_parallelism_threads=2)
    assert time.monotonic() - began < 5 and len(ended) == 2


def test_a_gradient_stops_at_it():
    x = tf.constant(1.0)
    assert tf.gradients(tf.py_func(lambda a: a, [x], tf.float32), x) == [None]


@pytest.mark.parametrize("wrap", [False, True], ids=["as it is", "wrapped"])
def test_a_function_that_fetches_itself_ends(wrap):
    calls = []

    def itself():
        calls.append(1)
        try:
            return sess.run(y)
        except tf.errors.OpError as error:
            if wrap:
                raise ValueError("no value") from error
            raise

    y = tf.py_func(itself, [], tf.float32, name="itself")
    with tf.Session() as sess:
        begin = time.monotonic()
        with pytest.raises(tf.errors.OpError) as caught:
            sess.run(y)
        assert time.monotonic() - begin < 20
        assert len(calls) == 32
        text = str(caught.value)
        assert len(text) < 16 << 10
        assert wrap or "is called inside of 32 other calls of host functions" in text[:2000]
        assert "itself" in text
        # The thread is as it was before.
        assert sess.run(tf.py_func(lambda: np.float32(3), [], tf.float32)) == 3


def test_the_text_of_an_exception_is_bounded():
    def deep(n):
        if n == 0:
            raise ValueError("x" * (1 << 20))
        deep_again(n - 1)

    def deep_again(n):
        try:
            deep(n)
        except ValueError as error:
            raise ValueError("y" * (1 << 16)) from error

    begin = time.monotonic()
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        run(tf.py_func(lambda: deep(100), [], tf.float32, name="f"))
    assert time.monotonic() - begin < 10
    assert len(str(caught.value)) < 16 << 10
