"""Arrays whose memory the engine borrows: results are the same as with copies."""

import ctypes
import gc
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import millstream as tf

N = 1 << 16


def references(array):
    return sys.getrefcount(array)


def held_during(value, array=None, dtype=None):
    """Returns the number of references to `array` (or the value itself) that a run holds while reading it."""
    array = value if array is None else array
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(dtype or value.dtype, None)
        now = tf.py_func(lambda: np.int64(references(array)), [], tf.int64)
        with tf.control_dependencies([now]):
            size = tf.size(tf.identity(x))
        prepared = sess.make_callable([now, size], [x])
        by_run, by_call = [], []
        for give in (by_run, by_call):
            before = references(array)
            counted, n = sess.run([now, size], {x: value}) if give is by_run else prepared(value)
            assert n == array.size and references(array) == before
            give.append(counted - before)
        return by_run[0], by_call[0]


def held_as_a_copy():
    """Same as `held_during` for an array too small to be borrowed."""
    return held_during(np.zeros(8, np.float32))


NUMBERS = [np.float16, np.float32, np.float64, np.int8, np.uint8, np.uint16, np.uint32, np.uint64, np.complex64, np.complex128]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_a_large_array_is_read_where_it_is(dtype):
    copied = held_as_a_copy()
    assert held_during(np.zeros(N, dtype)) == tuple(n + 1 for n in copied)
    assert held_during(np.zeros([4, N // 2], dtype)[1:3]) == tuple(n + 1 for n in copied)


COPIED = {
    "bools": np.zeros(N, bool),
    "indexes": np.zeros(N, np.int64),
    "reversed": np.zeros(N, np.float32)[::-1],
    "columns": np.zeros([256, 256], np.float32).T,
    "big_endian": np.zeros(N, ">f4"),
    "unaligned": np.frombuffer(bytes(4 * N + 1), np.uint8)[1:].view(np.float32),
    "texts": np.array([b"x"] * N, object),
}


@pytest.mark.parametrize("what", COPIED)
def test_what_does_not_lie_as_it_should_is_copied(what):
    array = COPIED[what]
    assert held_during(array) == held_as_a_copy()


def test_bools_are_one_or_zero_whatever_their_bytes():
    bytes_ = np.arange(6, dtype=np.uint8)
    x = tf.placeholder(tf.bool, [None])
    with tf.Session() as sess:
        got = sess.run([tf.cast(x, tf.int32), tf.equal(x, True)], {x: bytes_.view(bool)})
        assert got[0].tolist() == [0, 1, 1, 1, 1, 1] and got[1].tolist() == [False] + [True] * 5
        assert sess.run(tf.cast(x, tf.int32), {x: bytes_.view(bool)[::2]}).tolist() == [0, 1, 1]


# Ways to keep a value beyond a run: functions that take the value and return an operation that stores it and
# a tensor that reads it later.


def ref_variable(x):
    v = tf.Variable(np.zeros(N, np.float32), use_resource=False)
    return v.assign(x).op, v.read_value


def resource_variable(x):
    v = tf.Variable(np.zeros(N, np.float32), use_resource=True)
    return v.assign(x).op, v.read_value


def initial_value(x):
    v = tf.Variable(x, validate_shape=False, use_resource=False)
    return v.initializer, lambda: v + 0.0


def added(x):
    v = tf.Variable(np.zeros(N, np.float32), use_resource=True)
    return v.assign_add(x).op, v.read_value


def rows_of_a_variable(x):
    v = tf.Variable(np.zeros([2, N // 2], np.float32), use_resource=False)
    return tf.scatter_update(v, [0, 1], tf.reshape(x, [2, -1])).op, v.read_value


def queue(x):
    q = tf.FIFOQueue(10, [tf.float32], [[N]])
    return q.enqueue(x), q.dequeue


def views_in_a_queue(x):
    q = tf.FIFOQueue(10, [tf.float32, tf.float32])
    halves = tf.split(tf.expand_dims(x, 0), 2, 1)
    return q.enqueue([tf.squeeze(h) for h in halves]), lambda: tf.concat(q.dequeue(), 0)


def many_in_a_queue(x):
    q = tf.FIFOQueue(10, [tf.float32], [[N // 2]])
    return q.enqueue_many([tf.reshape(x, [2, N // 2])]), lambda: q.dequeue_many(2)


def padded_and_priority_queues(x):
    p = tf.PaddingFIFOQueue(10, [tf.float32], [[None]])
    q = tf.PriorityQueue(10, [tf.float32], [[N]])
    both = tf.group(p.enqueue(x), q.enqueue([np.int64(1), x]))
    return both, lambda: (p.dequeue_many(1)[0] + q.dequeue()[1]) / 2


def table(x):
    t = tf.contrib.lookup.MutableHashTable(tf.int64, tf.float32, tf.zeros([N]))
    return t.insert(tf.constant([1], tf.int64), tf.expand_dims(x, 0)), lambda: t.lookup(tf.constant([1], tf.int64))


KEEPERS = [ref_variable, resource_variable, initial_value, added, rows_of_a_variable, queue, views_in_a_queue, many_in_a_queue, padded_and_priority_queues, table]


@pytest.mark.parametrize("keeper", KEEPERS, ids=lambda k: k.__name__)
@pytest.mark.parametrize("call", ["run", "callable"])
def test_what_is_kept_is_not_the_array_of_the_feed(keeper, call):
    x = tf.placeholder(tf.float32, [None])
    keep, read = keeper(x)
    value = tf.reshape(read(), [-1])
    fed = np.arange(N, dtype=np.float32)
    before = references(fed)
    with tf.Session() as sess:
        if keeper is not initial_value:
            sess.run(tf.global_variables_initializer())
        if call == "run":
            sess.run(keep, {x: fed})
        else:
            sess.make_callable(keep, [x])(fed)
        # Nothing holds the array any more, and later writes to it have no effect.
        assert references(fed) == before
        fed[:] = -1
        np.testing.assert_array_equal(sess.run(value), np.arange(N, dtype=np.float32))


FETCHES = {
    "itself": lambda x: x,
    "identity": tf.identity,
    "reshaped": lambda x: tf.reshape(x, [2, -1]),
    "rows": lambda x: tf.reshape(x, [4, -1])[1:3],
    "part": lambda x: tf.split(x, 2)[0],
    "stop_gradient": tf.stop_gradient,
    "branch": lambda x: tf.cond(tf.constant(True), lambda: tf.identity(x), lambda: x + 1),
    "loop": lambda x: tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v), [0, x])[1],
    "array": lambda x: tf.TensorArray(tf.float32, 1).write(0, x).read(0),
    "stacked": lambda x: tf.TensorArray(tf.float32, 2).unstack(tf.reshape(x, [2, -1])).stack(),
    "map": lambda x: tf.map_fn(lambda r: r, tf.reshape(x, [2, -1])),
    "py_func": lambda x: tf.py_func(lambda a: a, [x], tf.float32),
}


@pytest.mark.parametrize("how", FETCHES)
@pytest.mark.parametrize("call", ["run", "callable"])
def test_what_is_fetched_is_not_the_array_of_the_feed(how, call):
    x = tf.placeholder(tf.float32, [N])
    y = FETCHES[how](x)
    fed = np.arange(N, dtype=np.float32)
    before = references(fed)
    with tf.Session() as sess:
        got = sess.run(y, {x: fed}) if call == "run" else sess.make_callable(y, [x])(fed)
        assert references(fed) == before and not np.shares_memory(got, fed)
        kept = got.copy()
        fed[:] = -1
        np.testing.assert_array_equal(got, kept)
        got[:] = 7
        assert (fed == -1).all()


def test_arguments_of_a_function_are_its_own():
    kept = []
    x = tf.placeholder(tf.float32, [N])
    y = tf.py_func(lambda a, b: kept.extend([a, b]), [x, tf.reshape(x, [2, -1])], [])
    fed = np.ones(N, np.float32)
    before = references(fed)
    with tf.Session() as sess:
        sess.run(y, {x: fed})
    fed[:] = 2
    assert references(fed) == before and all((a == 1).all() for a in kept)
    for a in kept:
        a[:] = 3
    assert (fed == 2).all()


def test_what_is_not_known_to_keep_values_gets_a_copy_when_the_run_ends():
    # A list is converted to a value of its own, whose holder does not refer to the tensors in it.
    x = tf.placeholder(tf.float32, [N])
    q = tf.FIFOQueue(10, [tf.variant])
    shape = tf.constant([N])
    item = tf.raw_ops.TensorListFromTensor(tensor=tf.expand_dims(x, 0), element_shape=shape)
    back = tf.raw_ops.TensorListGetItem(input_handle=q.dequeue(), index=0, element_shape=shape, element_dtype=tf.float32)
    fed = np.arange(N, dtype=np.float32)
    before = references(fed)
    with tf.Session() as sess:
        sess.run(q.enqueue(item), {x: fed})
        fed[:] = -1
        np.testing.assert_array_equal(sess.run(back), np.arange(N, dtype=np.float32))
    gc.collect()
    assert references(fed) == before


def test_partial_runs_have_copies():
    x, y = tf.placeholder(tf.float32, [N]), tf.placeholder(tf.float32, [])
    first, second = tf.reduce_sum(x) + y, x * y
    z = tf.placeholder(tf.float32, [])
    last = x + z
    fed = np.ones(N, np.float32)
    before = references(fed)
    with tf.Session() as sess:
        handle = sess.partial_run_setup([first, second, last], [x, y, z])
        assert sess.partial_run(handle, first, {x: fed, y: 1.0}) == N + 1
        assert references(fed) == before
        fed[:] = 5
        assert (sess.partial_run(handle, [second, last], {z: 2.0})[1] == 3).all()


def test_a_run_that_fails_lets_go():
    x = tf.placeholder(tf.float32, [N])
    y = tf.gather(x, tf.cast(x[:1], tf.int32) + N)
    fed = np.ones(N, np.float32)
    before = references(fed)
    with tf.Session() as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(y, {x: fed})
            with pytest.raises(ValueError, match="Cannot feed"):
                sess.run(y, {x: np.ones(N + 1, np.float32)})
        assert references(fed) == before


def test_a_run_that_times_out_lets_go_when_its_kernels_do():
    x = tf.placeholder(tf.float32, [N])
    q = tf.FIFOQueue(1, [tf.float32])
    with tf.control_dependencies([q.dequeue()]):
        waits = tf.identity(x)
    fed = np.ones(N, np.float32)
    before = references(fed)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(waits, {x: fed}, tf.RunOptions(timeout_in_ms=50))
        sess.run(tf.constant(1))
    assert references(fed) == before


def test_many_runs_hold_no_memory():
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(tf.nn.relu(x) * 2.0)
    with tf.Session() as sess:
        step = sess.make_callable(y, [x])
        tracemalloc.start()
        try:
            step(np.ones(N, np.float32))
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(50):
                step(np.ones(N, np.float32))
                sess.run(y, {x: np.ones(N, np.float32)})
            assert tracemalloc.get_traced_memory()[0] - before < 4 * N
        finally:
            tracemalloc.stop()


def test_an_array_that_changes_during_runs_harms_nobody():
    x = tf.placeholder(tf.float32, [N])
    flat = tf.cast(tf.abs(x), tf.int32) % N
    ys = [tf.gather(tf.range(N), flat), tf.nn.top_k(x, 100)[0], tf.unique(x)[0], tf.where(x > 0.5), tf.matmul(tf.reshape(x, [256, -1]), tf.reshape(x, [-1, 256]))]
    fed = np.zeros(N, np.float32)
    over = threading.Event()

    def write():
        noise = np.random.RandomState(1).standard_normal(N).astype(np.float32) * 1e9
        while not over.is_set():
            fed[:] = noise
            fed[:] = 0

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with tf.Session() as sess:
            for _ in range(20):
                for y in ys:
                    try:
                        sess.run(y, {x: fed})
                    except tf.errors.OpError:
                        pass
    finally:
        over.set()
        writer.join()


# Results of functions.


def traced(make):
    """Whether a function's result still uses Python memory when another node is computed."""
    x = tf.py_func(make, [], tf.float32)
    x.set_shape([1 << 20])
    with tf.control_dependencies([x]):
        used = tf.py_func(lambda: np.int64(tracemalloc.get_traced_memory()[0]), [], tf.int64)
    with tf.control_dependencies([used]):
        total = tf.reduce_sum(x)
    with tf.Session() as sess:
        tracemalloc.start()
        try:
            got = sess.run([used, total])
        finally:
            tracemalloc.stop()
    assert got[1] == 1 << 20
    return 4 << 20 <= got[0]


@pytest.mark.skipif(bool(__import__("sysconfig").get_config_var("Py_GIL_DISABLED")), reason="references are not counted exactly")
def test_an_array_that_only_the_run_has_is_taken_over():
    assert traced(lambda: np.ones(1 << 20, np.float32))
    assert traced(lambda: [np.ones(1 << 20, np.float32)])
    assert traced(lambda: np.ones((1 << 20) + 1, np.float32)[1:].copy())


def keeps_it(kept):
    kept.append(np.zeros(N, np.float32))
    return kept[-1]


def keeps_the_list(kept):
    kept.append([np.zeros(N, np.float32)])
    return kept[-1]


def keeps_a_view(kept):
    array = np.zeros(N, np.float32)
    kept.append(array[:10])
    return array


def keeps_what_it_is_a_view_of(kept):
    kept.append(np.zeros([2, N], np.float32))
    return kept[-1][1]


def keeps_a_weak_reference(kept):
    array = np.zeros(N, np.float32)
    kept.append(weakref.ref(array))
    return array


def keeps_a_memoryview(kept):
    array = np.zeros(N, np.float32)
    kept.append(memoryview(array))
    return array


def keeps_foreign_memory(kept):
    kept.append((ctypes.c_float * N)())
    return np.ctypeslib.as_array(kept[-1])


RETURNS = [keeps_it, keeps_the_list, keeps_a_view, keeps_what_it_is_a_view_of, keeps_a_weak_reference, keeps_a_memoryview, keeps_foreign_memory]


@pytest.mark.parametrize("function", RETURNS, ids=lambda f: f.__name__)
def test_what_the_function_can_still_reach_is_copied(function):
    kept = []
    v = tf.Variable(np.ones(N, np.float32), use_resource=True)
    x = tf.reshape(tf.py_func(lambda: function(kept), [], tf.float32), [N])

    def spoil():
        for thing in kept:
            thing = thing() if isinstance(thing, weakref.ref) else thing
            if thing is not None:
                np.frombuffer(thing[0] if isinstance(thing, list) else thing, np.float32)[...] = 9

    with tf.control_dependencies([x]):
        spoilt = tf.py_func(spoil, [], [])
    with tf.control_dependencies([spoilt]):
        total = tf.reduce_sum(x)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run([total, v.assign(x)])[0] == 0
        spoil()
        assert (sess.run(v) == 0).all()


def test_what_a_function_returned_may_be_kept_and_changed():
    v = tf.Variable(np.zeros(N, np.float32), use_resource=True)
    keep = v.assign(tf.reshape(tf.py_func(lambda: np.ones(N, np.float32), [], tf.float32), [N])).op
    more = v.assign_add(np.ones(N, np.float32)).op
    with tf.Session() as sess:
        sess.run(keep)
        sess.run(more)
        got = sess.run(v)
        assert got.flags.writeable and (got == 2).all()
        got[:] = 5
        assert (sess.run(v) == 2).all()
