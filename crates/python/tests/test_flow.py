"""Loops, branches, gradients, arrays, variables and queues from Python."""

import collections
import threading

import numpy as np
import pytest

import millstream as tf


def value(fetches, feeds=None):
    with tf.Session() as sess:
        return sess.run(fetches, feeds)


Pair = collections.namedtuple("Pair", "j k")


def test_structures_come_back_as_they_went_in():
    start = {"b": (tf.constant(1), [tf.constant(2.0)]), "a": Pair(0, np.array([1, 2], np.int32))}
    end = tf.while_loop(lambda s: s["b"][0] < 4, lambda s: [{"b": (s["b"][0] + 1, [s["b"][1][0] * 2]), "a": Pair(s["a"].k[0], s["a"].k)}], [start])
    (got,) = value(end)
    assert got["b"] == (4, [16.0]) and type(got["a"]) is Pair and got["a"].j == 1


def test_a_single_variable_and_a_list_of_one():
    assert value(tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [0])) == 3
    assert value(tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], return_same_structure=True)) == [3]
    assert value(tf.while_loop(lambda i: i < 100, lambda i: i + 1, [0], maximum_iterations=7)) == 7


def test_composite_loop_variables():
    sparse = tf.SparseTensor([[0, 1]], [1.0], [2, 3])
    _, out = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.SparseTensor(s.indices, s.values * 2, s.dense_shape)), [0, sparse])
    assert value(out).values.tolist() == [8.0]
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    _, out = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, tf.IndexedSlices(s.values + 1, s.indices)), [0, slices])
    assert value(out).values.tolist() == [3.0]


class Mine(Exception):
    pass


@pytest.mark.parametrize("where", ["cond", "body", "branch", "map"])
def test_what_a_body_raises_comes_out_as_it_is(where):
    mine = Mine("here")

    def fails(*_):
        raise mine

    with pytest.raises(Mine) as caught:
        if where == "cond":
            tf.while_loop(fails, lambda i: i, [0])
        elif where == "body":
            tf.while_loop(lambda i: i < 1, fails, [0])
        elif where == "branch":
            tf.cond(tf.constant(True), lambda: 1, fails)
        else:
            tf.map_fn(fails, tf.constant([1]))
    assert caught.value is mine
    assert tf.constant(1).graph._scope == "" and not tf.get_default_graph()._in_context


@pytest.mark.parametrize(
    "make, kind, text",
    [
        (lambda: tf.while_loop(1, lambda i: i, [0]), TypeError, "cond must be callable."),
        (lambda: tf.while_loop(lambda i: i < 1, 1, [0]), TypeError, "body must be callable."),
        (lambda: tf.while_loop(lambda: True, lambda: [], []), ValueError, "No loop variables provided"),
        (lambda: tf.while_loop(lambda i: i < 1, lambda i: i, [0], parallel_iterations=0), TypeError, "parallel_iterations must be a positive integer."),
        (lambda: tf.while_loop(lambda i: i < 1, lambda i: (i, i), [0]), ValueError, "The two structures don't have the same"),
        (lambda: tf.while_loop(lambda i: i < 1, lambda i: tf.ones([2]), [tf.ones([1])]), ValueError, ""),
        (lambda: tf.while_loop(lambda i: i, lambda i: i, [0]), TypeError, "bool"),
        (lambda: tf.cond(True, lambda: 1, lambda: 2), TypeError, "pred must not be a Python bool"),
        (lambda: tf.cond(tf.constant(True), lambda: None, lambda: 2), ValueError, "must have a return value"),
        (lambda: tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2.0)), ValueError, "must have the same type"),
        (lambda: tf.cond(tf.constant(True), lambda: (1, 2), lambda: (1,)), ValueError, "Incompatible return types of true_fn and false_fn"),
        (lambda: tf.cond(tf.constant(True), 1, lambda: 2), TypeError, "true_fn must be callable."),
        (lambda: tf.case([(tf.constant(1), lambda: 1)]), TypeError, "pred must be Tensor of type bool"),
    ],
)
def test_mistakes(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert text in str(caught.value)
    assert value(tf.while_loop(lambda i: i < 2, lambda i: i + 1, [0])) == 2


def test_branches():
    x = tf.placeholder(tf.int32, [])
    y = tf.cond(x < 0, lambda: -x, lambda: x)
    z = tf.case([(x < 0, lambda: tf.constant("minus")), (x > 9, lambda: tf.constant("big"))], default=lambda: tf.constant("small"))
    s = tf.switch_case(x, [lambda: tf.constant(10), lambda: tf.constant(11)], default=lambda: tf.constant(-1))
    with tf.Session() as sess:
        assert [sess.run(y, {x: v}) for v in (-3, 4)] == [3, 4]
        assert [sess.run(z, {x: v}) for v in (-3, 4, 10)] == [b"minus", b"small", b"big"]
        assert [sess.run(s, {x: v}) for v in (0, 1, 2)] == [10, 11, -1]


def test_only_the_branch_that_is_taken_runs():
    v = tf.Variable(0)
    x = tf.placeholder(tf.bool, [])
    done = tf.cond(x, lambda: v.assign_add(1).op, tf.no_op)
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(done, {x: False})
        sess.run(done, {x: True})
        assert sess.run(v) == 1


def test_gradients():
    x = tf.constant(3.0)
    _, y = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x), [0, tf.constant(1.0)])
    (dx,) = tf.gradients(y, [x])
    (ddx,) = tf.gradients(dx, x)
    assert value([y, dx, ddx]) == [81.0, 108.0, 108.0]
    assert tf.gradients(tf.constant(1.0), [x]) == [None]
    v, w = tf.Variable([1.0, 2.0, 3.0]), tf.Variable([2.0], use_resource=True)
    rows = tf.gradients(tf.gather(v, [1]) * w, [v, w])
    assert isinstance(rows[0], tf.IndexedSlices)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        slices, dw = sess.run(rows)
        assert slices.values.tolist() == [2.0] and slices.indices.tolist() == [1] and dw.tolist() == [2.0]
    h = tf.hessians(tf.reduce_sum(x**3), x)
    assert value(h) == [18.0]


def test_tensor_arrays_and_functions_over_rows():
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)
    _, array = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a.write(i, tf.cast(i, tf.float32))), [0, array])
    assert value(array.stack()).tolist() == [0, 1, 2, 3] and value(array.size()) == 4 and value(array.read(2)) == 2
    rows = tf.constant([[1, 2], [3, 4], [5, 6]])
    assert value(tf.map_fn(lambda r: tf.reduce_sum(r), rows)).tolist() == [3, 7, 11]
    assert value(tf.map_fn(lambda r: (r, 2.0), rows, dtype=(tf.int32, tf.float32)))[1].tolist() == [2, 2, 2]
    assert value(tf.foldl(lambda a, r: a - r, rows)).tolist() == [-7, -8]
    assert value(tf.foldr(lambda a, r: a - r, rows)).tolist() == [1, 0]
    assert value(tf.scan(lambda a, r: a + r, rows)).tolist() == [[1, 2], [4, 6], [9, 12]]
    assert value(tf.scan(lambda a, r: a + tf.reduce_sum(r), rows, initializer=100, reverse=True)).tolist() == [121, 118, 111]


@pytest.mark.parametrize("resource", [False, True])
def test_variables(resource):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=resource)
    assert v.name == "v:0" and isinstance(v, tf.Variable) and v.dtype == (tf.float32 if resource else tf.float32_ref)
    assert tf.global_variables() == [v] and tf.trainable_variables() == [v]
    w = v + 1
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(w)
        assert sess.run(tf.report_uninitialized_variables()).tolist() == [b"v"]
        sess.run(tf.global_variables_initializer())
        assert sess.run(w).tolist() == [2, 3]
        assert sess.run(v.assign_add([1.0, 1.0])).tolist() == [2, 3]
        assert sess.run(tf.assign(v, [5.0, 6.0])).tolist() == [5, 6]
        sess.run(tf.scatter_update(v, [1], [9.0]))
        assert v.eval().tolist() == [5, 9]
        v.load([0.0, 0.0])
        assert sess.run(v[1]) == 0
    counter = tf.Variable(0, use_resource=resource)
    up = counter.count_up_to(2)
    with tf.Session() as sess:
        sess.run(counter.initializer)
        assert [sess.run(up), sess.run(up)] == [0, 1]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(up)


def test_variable_scopes():
    with tf.variable_scope("a", initializer=tf.constant_initializer(3.0)):
        x = tf.get_variable("x", [2])
        with tf.variable_scope("b"):
            y = tf.get_variable("y", [])
    assert [x.name, y.name] == ["a/x:0", "a/b/y:0"]
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("x", [2]) is x
        with pytest.raises(ValueError, match="Variable a/z does not exist"):
            tf.get_variable("z", [])
    with pytest.raises(ValueError, match="Variable a/x already exists, disallowed."):
        with tf.variable_scope("a"):
            tf.get_variable("x", [2])
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE) as scope:
        assert tf.get_variable("x", [2]) is x and tf.get_variable("w", []).name == "a/w:0"
        scope.reuse_variables()
        with pytest.raises(ValueError, match="but specified shape"):
            tf.get_variable("x", [3])
    with tf.variable_scope(None, default_name="u"), tf.variable_scope(None, default_name="u"):
        pass
    with tf.variable_scope(None, default_name="u"):
        assert tf.get_variable("v", []).name == "u_1/v:0"
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(x).tolist() == [3, 3]


def test_queues():
    q = tf.FIFOQueue(10, [tf.int32, tf.string], shapes=[[], []], names=["n", "s"], name="q")
    put = q.enqueue_many({"n": [1, 2, 3], "s": ["a", "b", "c"]})
    one, two = q.dequeue(), q.dequeue_many(2)
    assert one["n"].shape == [] and two["s"].shape == [2]
    with tf.Session() as sess:
        sess.run(put)
        assert sess.run(one) == {"n": 1, "s": b"a"} and sess.run(two)["n"].tolist() == [2, 3] and sess.run(q.size()) == 0
        sess.run(q.close())
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(one)
    p = tf.PaddingFIFOQueue(10, tf.int32, [[None]])
    x = tf.placeholder(tf.int32, [None])
    put = p.enqueue(x)
    with tf.Session() as sess:
        sess.run(put, {x: [1]})
        sess.run(put, {x: [1, 2]})
        assert sess.run(p.dequeue_many(2)).tolist() == [[1, 0], [1, 2]]
    r = tf.RandomShuffleQueue(10, 0, tf.int32, seed=1)
    h = tf.PriorityQueue(10, [tf.string], [[]])
    with tf.Session() as sess:
        for i in range(5):
            sess.run(r.enqueue(i))
        assert sorted(sess.run(r.dequeue()) for _ in range(5)) == list(range(5))
        for i in (3, 1, 2):
            sess.run(h.enqueue((np.int64(i), str(i))))
        assert [sess.run(h.dequeue())[1] for _ in range(3)] == [b"1", b"2", b"3"]


def test_runners_fill_queues_until_the_input_ends():
    counter = tf.Variable(0, trainable=False)
    q = tf.FIFOQueue(4, [tf.int32], shapes=[[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(q, [q.enqueue(counter.count_up_to(20))]))
    item = q.dequeue()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        got = []
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                got.append(int(sess.run(item)))
        coordinator.request_stop()
        coordinator.join(threads)
    assert got == list(range(20)) and not [t for t in threads if t.is_alive()]


def test_waiting_in_one_thread_is_ended_by_another():
    q = tf.FIFOQueue(1, tf.int32)
    item, put = q.dequeue(), q.enqueue(7)
    with tf.Session() as sess:
        got = []
        thread = threading.Thread(target=lambda: got.append(sess.run(item)))
        thread.start()
        sess.run(put)
        thread.join(20)
    assert got == [7]


def test_closing_a_session_ends_what_waits_in_it():
    q = tf.FIFOQueue(1, tf.int32)
    item = q.dequeue()
    sess = tf.Session()
    raised = []

    def work():
        try:
            sess.run(item)
        except tf.errors.OpError as e:
            raised.append(type(e))

    thread = threading.Thread(target=work)
    thread.start()
    import time

    time.sleep(0.2)
    sess.close()
    thread.join(20)
    assert raised == [tf.errors.CancelledError]
