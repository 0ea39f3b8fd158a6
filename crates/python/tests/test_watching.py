"""Inspection of runs (`tf.every`, `Session.watch`), and derivatives that TensorFlow 1 lacks."""

import threading

import numpy as np
import pytest

import millstream as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def squares(n):
    """Returns the sum of the squares from 1 to n, by a loop, and the squares, a tensor of its body."""
    inside = []

    def body(i, total):
        inside.append(i * i)
        return i + 1, total + inside[0]

    return tf.while_loop(lambda i, _: i <= n, body, [1, 0])[1], inside[0]


def test_values_of_all_iterations():
    n = tf.placeholder(tf.int32, [])
    end, square = squares(n)
    with tf.Session() as sess:
        values = sess.run(tf.every(square), {n: 4})
        assert values.dtype == np.int32 and values.tolist() == [1, 4, 9, 16]
        got = sess.run({"all": tf.every(square), "at": [tf.every(square, by_iteration=True)], "end": end}, {n: 3})
        assert got["all"].tolist() == [1, 4, 9] and got["at"] == [{(0,): 1, (1,): 4, (2,): 9}] and got["end"] == 14
        assert sess.run(tf.every(square), {n: 0}).shape == (0,)
        assert sess.run(tf.every(square, by_iteration=True), {n: 0}) == {}


def test_values_of_nested_loops_and_of_changing_shapes():
    seen = []

    def inner(x):
        seen.append(tf.ones([x]))
        return x + 1

    tf.while_loop(lambda i: i < 2, lambda i: (tf.while_loop(lambda x: x < i + 2, inner, [0]), i + 1)[1], [0])
    with tf.Session() as sess:
        got = sess.run(tf.every(seen[0], by_iteration=True))
        assert {at: v.shape for at, v in got.items()} == {(0, 0): (0,), (0, 1): (1,), (1, 0): (0,), (1, 1): (1,), (1, 2): (2,)}
        with pytest.raises(ValueError, match="shape"):
            sess.run(tf.every(seen[0]))


def test_what_every_refuses():
    _, square = squares(3)
    outside = tf.constant(1)
    with pytest.raises(TypeError, match="takes a Tensor in a loop"):
        tf.every("while/mul:0")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="outside every loop"):
            sess.run(tf.every(outside))
        with pytest.raises(TypeError, match="for `Session.run`"):
            sess.make_callable(tf.every(square))()
        with pytest.raises((ValueError, tf.errors.OpError)):
            sess.partial_run(sess.partial_run_setup([tf.every(square)]), tf.every(square))
    with tf.Graph().as_default():
        tf.constant(1)
        with tf.Session() as sess, pytest.raises(ValueError, match="not an element of this graph"):
            sess.run(tf.every(square))


def test_a_watch_stops_a_run_where_something_becomes_infinite():
    x = tf.while_loop(lambda x: x < 3e38, lambda x: x * 1e10, [1.0])
    with tf.Session() as sess:
        with sess.watch(), pytest.raises(tf.errors.InvalidArgumentError, match="a watch stopped the run: `while/mul:0` is not finite: f32 inf") as caught:
            sess.run(x)
        assert "iteration 3" in str(caught.value)
        assert sess.run(x) == np.inf
        with sess.watch(condition="nan"):
            assert sess.run(x) == np.inf
        run = sess.make_callable(x)
        with sess.watch(x.op.inputs[0], "infinite"), pytest.raises(tf.errors.InvalidArgumentError, match="a watch stopped"):
            run()


def test_a_watch_waits_for_what_a_function_says():
    end, square = squares(10)
    asked = []

    def large(value, at):
        asked.append((int(value), at))
        return value > 20

    with tf.Session() as sess:
        with sess.watch(square, large), pytest.raises(tf.errors.InvalidArgumentError, match=r"`while/mul(_1)?:0` is what was watched for: i32 25"):
            sess.run(end)
        assert (25, (4,)) in asked
        with sess.watch(square, lambda value, at: False):
            assert sess.run(end) == 385
            # It affects only runs of this thread.
            with sess.watch(square, large):
                thread = threading.Thread(target=lambda: asked.append(sess.run(end)))
                thread.start()
                thread.join()
            assert asked[-1] == 385


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_watch_whose_function_fails_stops_the_run():
    end, square = squares(10)
    with tf.Session() as sess, sess.watch(square, lambda value, at: 1 / 0), pytest.raises(tf.errors.InvalidArgumentError, match="a watch stopped"):
        sess.run(end)


def test_what_a_watch_refuses():
    whole = tf.constant(1)
    with tf.Session() as sess:
        with pytest.raises(ValueError, match="'not finite'"):
            sess.watch(condition="large")
        with sess.watch(whole), pytest.raises(tf.errors.InvalidArgumentError, match="its dtype i32 has no such value"):
            sess.run(whole)
        with sess.watch(tf.constant(1.0)), pytest.raises(tf.errors.InvalidArgumentError, match="this run does not compute it"):
            sess.run(whole)
        with tf.Graph().as_default(), pytest.raises(ValueError, match="not an element of this graph"):
            sess.watch(tf.constant(1.0)).__enter__()
        assert sess.run(whole) == 1


@pytest.mark.parametrize("kind", ["tensor", "reference", "resource"])
def test_jacobians(kind):
    start = np.array([[1.0, 2.0], [3.0, 4.0]])
    x = tf.constant(start) if kind == "tensor" else tf.Variable(start, use_resource=kind == "resource")
    y = tf.matmul(x, x)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        whole = sess.run(tf.jacobian(y, x))
        step = 1e-6
        for i, j in np.ndindex(2, 2):
            moved = start.copy()
            moved[i, j] += step
            np.testing.assert_allclose(whole[:, :, i, j], (moved @ moved - start @ start) / step, atol=1e-4)
        rows = sess.run(tf.batch_jacobian(x * x, x))
        np.testing.assert_array_equal(rows, [np.diag(2 * row) for row in start])
        along, = tf.jvp(y, x, np.ones((2, 2)))
        np.testing.assert_allclose(sess.run(along), whole.sum((2, 3)))


def test_jacobian_through_a_loop_of_unknown_length():
    n, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float64, [None])
    _, y = tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, y * x), [0, x])
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(tf.jacobian(y, x), {n: 3, x: [1.0, 2.0]}), [[4.0, 0.0], [0.0, 32.0]])


def test_what_derivatives_refuse():
    x = tf.constant([1.0])
    with pytest.raises(ValueError, match="1 tangents for 2 xs"):
        tf.jvp(x, [x, x], [x])
    with pytest.raises(ValueError, match="cannot be differentiated"):
        tf.jacobian(tf.constant(1), x)
    with pytest.raises(ValueError, match="it has no batch axis"):
        tf.batch_jacobian(x[0], x)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="same graph"):
        tf.jacobian(tf.constant(1.0), x)


@pytest.mark.parametrize("checkpoint", [1, 7, 1000, "auto"])
def test_gradients_with_checkpoints_have_the_same_bits(checkpoint):
    n, x = tf.placeholder(tf.int32, []), tf.constant([1.0, 2.0])

    def loop(**how):
        return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.sin(y) * 1.01), [0, x], **how)[1]

    with tf.Session() as sess:
        want, got = sess.run([tf.gradients(loop(), x), tf.gradients(loop(checkpoint_every=checkpoint), x)], {n: 100})
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("checkpoint, error", [(0, ValueError), (-1, ValueError), ("often", TypeError), (1.5, TypeError), (2**31, ValueError)])
def test_checkpoints_that_are_none(checkpoint, error):
    with pytest.raises(error):
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], checkpoint_every=checkpoint)
