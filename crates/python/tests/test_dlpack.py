"""DLPack: feeding arrays of other libraries, and exporting what a session returns."""

import sys

import numpy as np
import pytest

import millstream as tf


class Shown:
    """An array that supports DLPack only."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


TAKEN = pytest.mark.skipif(not hasattr(np, "from_dlpack"), reason="NumPy takes DLPack from 1.23 on")

ARRAYS = [np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(6).reshape(2, 3).T, np.arange(12.0)[::2], np.ones([200, 300], np.uint8), np.array(3.0)]


@TAKEN
@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: "%s%s" % (a.dtype, list(a.shape)))
def test_what_shows_itself_by_dlpack_goes_in(array):
    x = tf.placeholder(array.dtype, array.shape)
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(tf.identity(x), {x: Shown(array)}), array)
        np.testing.assert_array_equal(sess.make_callable(tf.identity(x), [x])(Shown(array)), array)
        np.testing.assert_array_equal(sess.run(tf.convert_to_tensor(Shown(array))), array)
        np.testing.assert_array_equal(sess.run(tf.py_func(lambda: Shown(array), [], array.dtype)), array)


@TAKEN
def test_a_feed_of_another_shape_is_refused():
    x = tf.placeholder(tf.float32, [2])
    with tf.Session() as sess, pytest.raises(ValueError, match="Cannot feed value of shape"):
        sess.run(x, {x: Shown(np.zeros(3, np.float32))})


@TAKEN
@pytest.mark.parametrize("n", [3, 100000])
def test_what_a_session_returns_goes_out_without_a_copy(n):
    with tf.Session() as sess:
        got = sess.run(tf.ones([n]) * 2.0)
        other = np.from_dlpack(got)
        assert got.flags.writeable and np.shares_memory(got, other)
        np.testing.assert_array_equal(other, np.full(n, 2.0))


@pytest.mark.skipif(hasattr(np, "from_dlpack"), reason="this NumPy takes DLPack")
def test_an_old_numpy_is_named():
    x = tf.placeholder(tf.float32)
    for make in (lambda: tf.convert_to_tensor(Shown(3.0)), lambda: tf.Session().run(x, {x: Shown(3.0)}), lambda: tf.stack([Shown(3.0)])):
        with pytest.raises(TypeError, match="Shown offers its elements through DLPack only, which NumPy supports from 1.23 on; this is NumPy .*"):
            make()


@pytest.mark.parametrize("n", [3, 100000])
def test_fed_and_fetched_arrays_are_nobody_elses(n):
    v = tf.Variable(np.zeros(n, np.float32), use_resource=True)
    queue = tf.FIFOQueue(10, [tf.float32], [[n]])
    x = tf.placeholder(tf.float32, [n])
    fed = np.ones(n, np.float32)
    with tf.Session() as sess:
        sess.run([v.assign(x).op, queue.enqueue(x)], {x: fed})
        fed[:] = 5
        first = sess.run(v.read_value())
        first[:] = 7
        assert (sess.run(v.read_value()) == 1).all() and (sess.run(queue.dequeue()) == 1).all()
        same = sess.run(x, {x: fed})
        same[:] = 9
        assert (fed == 5).all()


class Counted(Shown):
    """A `Shown` that counts the requests for its array and the consumers that still hold it."""

    def __init__(self, array):
        super().__init__(array)
        self.asked = 0

    def __dlpack__(self, **options):
        self.asked += 1
        return self._array.__dlpack__(**options)

    @property
    def held(self):
        return sys.getrefcount(self._array)


def test_a_large_tensor_is_read_where_it_is_and_given_back():
    n = 1 << 16
    x = tf.placeholder(tf.float32, [n])
    shown = Counted(np.ones(n, np.float32))
    before = shown.held
    now = tf.py_func(lambda: np.int64(shown.held), [], tf.int64)
    with tf.control_dependencies([now]):
        total = tf.reduce_sum(x)
    v = tf.Variable(np.zeros(n, np.float32), use_resource=True)
    with tf.Session() as sess:
        for call in (lambda: sess.run([now, total], {x: shown}), lambda: sess.make_callable([now, total], [x])(shown)):
            held, got = call()
            assert got == n and held == before + 1
            assert shown.held == before
        sess.run(v.assign(x).op, {x: shown})
        assert shown.held == before and shown.asked == 3
        shown._array[:] = 5
        assert (sess.run(v) == 1).all()


def test_pytorch_both_ways():
    torch = pytest.importorskip("torch")
    n = 1 << 16
    x = tf.placeholder(tf.float32, [None])
    y = x + 1.0
    with tf.Session() as sess:
        fed = torch.arange(n, dtype=torch.float32)
        got = sess.run(y, {x: fed})
        assert torch.equal(torch.from_dlpack(got), fed + 1)
        assert torch.from_dlpack(got).data_ptr() == got.__array_interface__["data"][0]
        same = sess.run(x * 1.0, {x: Shown(fed)})
        fed[:] = -1
        np.testing.assert_array_equal(same, np.arange(n))
        kept = sess.run(tf.identity(x), {x: fed})
        fed[:] = -2
        assert (kept == -1).all()
        assert sess.run(y, {x: torch.ones(n, dtype=torch.float64)[::2]}).sum() == n


def test_jax_both_ways():
    jnp = pytest.importorskip("jax.numpy")
    n = 1 << 16
    x = tf.placeholder(tf.float32, [None])
    with tf.Session() as sess:
        fed = jnp.arange(n, dtype=jnp.float32)
        got = sess.run(x + 1.0, {x: fed})
        np.testing.assert_array_equal(jnp.from_dlpack(got), fed + 1)
        np.testing.assert_array_equal(sess.run(tf.identity(x), {x: Shown(fed)}), fed)
