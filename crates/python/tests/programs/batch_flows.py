"""`train.batch` and related functions in runs: order, remainders, threads, padding, sparse tensors."""

import numpy as np

from programs.batching import _numbers, _pump
from programs.tools import caught, initialize, nodes, rows, run, static


def _flat(batches):
    return [int(v) for b in batches for v in np.ravel(b)]


def one_thread_keeps_the_order(tf):
    n = _numbers(tf, 12)
    return [[a.tolist(), b.tolist()] for a, b in _pump(tf, tf.train.batch([n, tf.as_string(n)], 4))]


def many_threads_lose_nothing(tf):
    return sorted(_flat(_pump(tf, tf.train.batch([_numbers(tf, 30)], 6, num_threads=4))))


def a_rest_is_dropped(tf):
    return _pump(tf, tf.train.batch([_numbers(tf, 7)], 3))


def a_rest_is_kept(tf):
    return _pump(tf, tf.train.batch([_numbers(tf, 7)], 3, allow_smaller_final_batch=True))


def batch_size_as_a_tensor(tf):
    size = tf.placeholder_with_default(2, [])
    b = tf.train.batch([_numbers(tf, 6)], size)
    return static(b), _pump(tf, b)


def many_at_once_of_another_size(tf):
    x = tf.train.range_input_producer(12, num_epochs=1, shuffle=False).dequeue_many(4)
    b = tf.train.batch([x, tf.as_string(x)], 3, enqueue_many=True)
    return [[a.tolist(), s.tolist()] for a, s in _pump(tf, b)]


def rows_of_rank_two(tf):
    x = tf.reshape(tf.train.range_input_producer(12, num_epochs=1, shuffle=False).dequeue_many(6), [3, 2])
    b = tf.train.batch([x], 2, enqueue_many=True)
    return static(b), _pump(tf, b)


def keep_by_a_bool(tf):
    return _pump(tf, tf.train.maybe_batch([_numbers(tf, 6)], True, 2)), _pump(tf, tf.train.maybe_batch([tf.constant(1)], False, 2), times=0)


def keep_by_a_tensor(tf):
    n = _numbers(tf, 12)
    return _pump(tf, tf.train.maybe_batch([n], n % 3 > 0, 2))


def keep_by_a_vector(tf):
    n = tf.train.range_input_producer(12, num_epochs=1, shuffle=False).dequeue_many(6)
    b = tf.train.maybe_batch([n, n * 10], n % 3 > 0, 2, enqueue_many=True)
    return [[a.tolist(), c.tolist()] for a, c in _pump(tf, b)]


def keep_all_or_none_of_many(tf):
    n = tf.train.range_input_producer(12, num_epochs=1, shuffle=False).dequeue_many(4)
    b = tf.train.maybe_batch([n], tf.equal(n[0], 4), 2, enqueue_many=True)
    return _pump(tf, b)


def keep_with_padding(tf):
    n = _numbers(tf, 6)
    b = tf.train.maybe_batch([tf.range(n)], n % 2 > 0, 3, dynamic_pad=True)
    return _pump(tf, b)


def keep_sparse(tf):
    n = _numbers(tf, 6)
    sp = tf.SparseTensor(tf.cast(tf.reshape(n, [1, 1]), tf.int64), [n], [6])
    b, m = tf.train.maybe_batch([sp, n], n % 2 > 0, 3)
    return _pump(tf, [b, m])


def keep_sparse_by_a_vector(tf):
    n = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue_many(4)
    i = tf.cast(tf.stack([tf.range(4), n], 1), tf.int64)
    sp = tf.SparseTensor(i, n * 10, [4, 4])
    b = tf.train.maybe_batch([sp], tf.constant([True, False, True, True]), 3, enqueue_many=True)
    return _pump(tf, b)


def sparse_in_a_dict(tf):
    n = _numbers(tf, 4)
    sp = tf.SparseTensor(tf.cast(tf.reshape(n, [1, 1]), tf.int64), [tf.as_string(n)], [4])
    b = tf.train.batch({"s": sp, "n": n}, 2)
    return sorted(b), _pump(tf, b)


def sparse_enqueue_many(tf):
    n = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue_many(2)
    i = tf.cast(tf.stack([tf.range(2), n], 1), tf.int64)
    b = tf.train.batch([tf.SparseTensor(i, n * 10, [2, 4])], 4, enqueue_many=True)
    return _pump(tf, b)


def sparse_with_a_rest(tf):
    n = _numbers(tf, 3)
    sp = tf.SparseTensor([[0]], [n], [1])
    return _pump(tf, tf.train.batch([sp], 2, allow_smaller_final_batch=True))


def sparse_shuffled(tf):
    n = _numbers(tf, 6)
    sp = tf.SparseTensor([[0]], [n], [1])
    got = _pump(tf, tf.train.shuffle_batch([sp, n], 3, 10, 2))
    return [s.values.tolist() == m.tolist() for s, m in got], sorted(v for _, m in got for v in m.tolist())


def sparse_joined(tf):
    a, b = _numbers(tf, 3, name="a"), _numbers(tf, 3, name="b") + 10
    sets = [[tf.SparseTensor([[0]], [n], [1])] for n in (a, b)]
    got = _pump(tf, tf.train.batch_join(sets, 3))
    return sorted(v for s in got for v in s.values.tolist())


def sparse_all_empty(tf):
    n = _numbers(tf, 2)
    sp = tf.SparseTensor(tf.zeros([0, 1], tf.int64), tf.zeros([0], tf.float32), tf.cast([n + 3], tf.int64))
    return _pump(tf, tf.train.batch([sp], 2))


def padded_to_the_longest(tf):
    n = _numbers(tf, 6)
    return _pump(tf, tf.train.batch([tf.range(n), tf.fill([2, n], "x")], 3, dynamic_pad=True))


def padded_enqueue_many(tf):
    n = _numbers(tf, 4) + 1
    x = tf.ones([2, 1], tf.int32) * tf.expand_dims(tf.range(n), 0)
    return _pump(tf, tf.train.batch([x], 4, dynamic_pad=True, enqueue_many=True))


def padded_with_a_rest(tf):
    n = _numbers(tf, 5)
    return _pump(tf, tf.train.batch([tf.range(n)], 2, dynamic_pad=True, allow_smaller_final_batch=True))


def join_by_dicts(tf):
    a, b = _numbers(tf, 4, name="a"), _numbers(tf, 4, name="b") + 10
    j = tf.train.batch_join([{"n": a, "m": -a}, {"m": -b, "n": b}], 8)
    (got,) = _pump(tf, j)
    return sorted(got["n"].tolist()), (got["n"] == -got["m"]).all()


def join_with_a_rest(tf):
    a, b = _numbers(tf, 4, name="a"), _numbers(tf, 3, name="b") + 10
    got = _pump(tf, tf.train.batch_join([[a], [b]], 5, allow_smaller_final_batch=True))
    return [len(g) for g in got], sorted(_flat(got))


def join_of_one(tf):
    return _pump(tf, tf.train.batch_join([[_numbers(tf, 4)]], 2))


def join_enqueue_many(tf):
    a = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue_many(2)
    b = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue_many(2) + 10
    return sorted(_flat(_pump(tf, tf.train.batch_join([[a], [b]], 4, enqueue_many=True))))


def shuffled_differs_from_the_order(tf):
    got = _flat(_pump(tf, tf.train.shuffle_batch([_numbers(tf, 60)], 10, capacity=50, min_after_dequeue=20, seed=1)))
    return sorted(got) == list(range(60)), got != list(range(60))


def shuffled_drops_a_rest(tf):
    got = _pump(tf, tf.train.shuffle_batch([_numbers(tf, 7)], 3, 20, 2))
    return [len(b) for b in got], len(set(_flat(got)))


def shuffled_many_threads(tf):
    return sorted(_flat(_pump(tf, tf.train.shuffle_batch([_numbers(tf, 24)], 4, 20, 5, num_threads=3))))


def shuffled_enqueue_many(tf):
    n = tf.train.range_input_producer(12, num_epochs=1, shuffle=False).dequeue_many(6)
    return sorted(_flat(_pump(tf, tf.train.shuffle_batch([n], 4, 20, 5, enqueue_many=True))))


def maybe_shuffled_by_a_vector(tf):
    n = tf.train.range_input_producer(12, num_epochs=1, shuffle=False).dequeue_many(6)
    return sorted(_flat(_pump(tf, tf.train.maybe_shuffle_batch([n], 2, 20, 5, n % 2 > 0, enqueue_many=True))))


def maybe_joined_by_a_tensor(tf):
    a, b = _numbers(tf, 6, name="a"), _numbers(tf, 6, name="b") + 10
    return sorted(_flat(_pump(tf, tf.train.maybe_batch_join([[a], [b]], a % 2 > 0, 1, allow_smaller_final_batch=True), times=2)))[:0]


def shared_by_name(tf):
    n = _numbers(tf, 8)
    a = tf.train.batch([n], 2, shared_name="one")
    b = tf.train.batch([n], 2, shared_name="one")
    return sorted(_flat(_pump(tf, a, times=2) + _pump(tf, b, times=0)))[:0], a.op.inputs[0].op.get_attr("shared_name"), b.op.inputs[0].op.get_attr("shared_name")


def an_error_in_the_pipeline(tf):
    n = _numbers(tf, 5)
    bad = tf.Assert(n < 3, ["too big", n])
    with tf.control_dependencies([bad]):
        n = tf.identity(n)
    b = tf.train.batch([n], 2)
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        initialize(tf, sess)
        threads = tf.train.start_queue_runners(sess, coord)
        sess.run(b)
        ends = caught(lambda: [sess.run(b) for _ in range(3)], "is closed and has insufficient elements")
        return ends, caught(lambda: coord.join(threads), "assertion failed: [too big] [3]")


def read_to_the_end_in_a_loop(tf):
    """The usual loop with a coordinator."""
    b = tf.train.batch([_numbers(tf, 9)], 4, allow_smaller_final_batch=True)
    coord = tf.train.Coordinator()
    sums = []
    with tf.Session() as sess:
        initialize(tf, sess)
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        try:
            while not coord.should_stop():
                sums.append(int(sess.run(b).sum()))
        except tf.errors.OutOfRangeError:
            sums.append("done")
        finally:
            coord.request_stop()
        coord.join(threads)
    return sums


def stopped_early(tf):
    b = tf.train.batch([tf.train.range_input_producer(3, shuffle=False).dequeue()], 2)
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        values = [sess.run(b) for _ in range(3)]
        coord.request_stop()
        coord.join(threads)
        return values, [t.is_alive() for t in threads]
