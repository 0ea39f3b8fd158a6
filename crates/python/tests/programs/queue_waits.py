"""Blocked queue operations: wakeups, closing, cancellation, timeouts, sessions closed meanwhile."""

import threading
import time

import numpy as np

from programs.raised import Raised
from programs.tools import WHOLE, caught, nodes, rows, run, static


class _Thread(threading.Thread):
    """A thread that calls a function and keeps its result or exception."""

    def __init__(self, function):
        super().__init__(daemon=True)
        self.function, self.value = function, "still waiting"
        self.start()

    def run(self):
        try:
            self.value = self.function()
        except Exception as error:
            self.value = Raised(type(error).__name__, getattr(error, "error_code", None), "")

    def result(self):
        self.join(20)
        return self.value


def _kind(value):
    """Returns class and code of an exception."""
    return [value.kind, value.code] if isinstance(value, Raised) else value


def _wait(thread):
    """Waits long enough for a thread to block."""
    thread.join(0.1)
    return thread.is_alive()


def dequeue_waits_for_enqueue(tf):
    q = tf.FIFOQueue(10, [tf.float32], [[]])
    put, get = q.enqueue_many([[10.0, 20.0, 30.0]]), q.dequeue()
    with tf.Session() as sess:
        threads = [_Thread(lambda: sess.run(get)) for _ in range(3)]
        waits = _wait(threads[0])
        sess.run(put)
        return waits, sorted(float(t.result()) for t in threads)


def dequeue_many_waits_for_all(tf):
    q = tf.FIFOQueue(10, [tf.float32], [[]])
    put, get, size = q.enqueue_many([[1.0, 2.0]]), q.dequeue_many(4), q.size()
    with tf.Session() as sess:
        sess.run(put)
        thread = _Thread(lambda: sess.run(get))
        waits = _wait(thread)
        sess.run(put)
        return waits, thread.result(), sess.run(size)


def enqueue_waits_for_room(tf):
    q = tf.FIFOQueue(2, [tf.int32], [[]])
    put, get, size = q.enqueue(7), q.dequeue(), q.size()
    with tf.Session() as sess:
        sess.run(put)
        sess.run(put)
        thread = _Thread(lambda: sess.run(put))
        waits = _wait(thread)
        sess.run(get)
        return waits, thread.result(), sess.run(size)


def enqueue_many_puts_in_what_fits(tf):
    q = tf.FIFOQueue(4, [tf.int32], [[]])
    put, get, size = q.enqueue_many([[1, 2, 3, 4, 5, 6]]), q.dequeue(), q.size()
    with tf.Session() as sess:
        thread = _Thread(lambda: sess.run(put))
        waits = _wait(thread)
        full = sess.run(size)
        values = [int(sess.run(get)) for _ in range(6)]
        return waits, full, values, thread.result()


def first_come_first_served(tf):
    q = tf.FIFOQueue(10, [tf.int32], [[]])
    put, two, one = q.enqueue_many([[1, 2, 3]]), q.dequeue_many(2), q.dequeue()
    with tf.Session() as sess:
        a = _Thread(lambda: sess.run(two))
        _wait(a)
        b = _Thread(lambda: sess.run(one))
        _wait(b)
        sess.run(put)
        return a.result(), b.result()


def dequeue_many_is_served_before_one(tf):
    """An operation waits for four elements; a later one gets none before it is served."""
    q = tf.FIFOQueue(10, [tf.int32], [[]])
    put, many, one = q.enqueue_many([[1, 2]]), q.dequeue_many(4), q.dequeue()
    with tf.Session() as sess:
        a = _Thread(lambda: sess.run(many))
        _wait(a)
        b = _Thread(lambda: sess.run(one))
        sess.run(put)
        still = _wait(b)
        sess.run(put)
        sess.run(put)
        return still, a.result(), b.result()


def close_ends_a_waiting_dequeue(tf):
    q = tf.FIFOQueue(10, [tf.float32], [[]])
    get, close = q.dequeue(), q.close()
    with tf.Session() as sess:
        thread = _Thread(lambda: sess.run(get))
        _wait(thread)
        sess.run(close)
        return _kind(thread.result())


def close_ends_a_waiting_dequeue_many(tf):
    q = tf.FIFOQueue(10, [tf.float32], [[]])
    put, many, one, close = q.enqueue_many([[1.0, 2.0, 3.0]]), q.dequeue_many(4), q.dequeue(), q.close()
    with tf.Session() as sess:
        sess.run(put)
        thread = _Thread(lambda: sess.run(many))
        _wait(thread)
        sess.run(close)
        ended = _kind(thread.result())
        return ended, sorted(float(sess.run(one)) for _ in range(3))


def close_serves_a_waiting_dequeue_up_to(tf):
    q = tf.FIFOQueue(10, [tf.float32], [[]])
    put, upto, close = q.enqueue_many([[1.0, 2.0, 3.0]]), q.dequeue_up_to(4), q.close()
    with tf.Session() as sess:
        sess.run(put)
        thread = _Thread(lambda: sess.run(upto))
        waits = _wait(thread)
        sess.run(close)
        return waits, thread.result()


def close_lets_a_waiting_enqueue_in(tf):
    q = tf.FIFOQueue(2, [tf.int32], [[]])
    put, get, close, closed = q.enqueue(5), q.dequeue(), q.close(), q.is_closed()
    with tf.Session() as sess:
        sess.run(put)
        sess.run(put)
        thread = _Thread(lambda: sess.run(put))
        _wait(thread)
        closer = _Thread(lambda: sess.run(close))
        waits = _wait(closer)
        values = [int(sess.run(get)) for _ in range(3)]
        return waits, values, thread.result(), closer.result(), sess.run(closed)


def close_cancelling_ends_a_waiting_enqueue(tf):
    q = tf.FIFOQueue(2, [tf.int32], [[]])
    put, close, size = q.enqueue(5), q.close(cancel_pending_enqueues=True), q.size()
    with tf.Session() as sess:
        sess.run(put)
        sess.run(put)
        thread = _Thread(lambda: sess.run(put))
        _wait(thread)
        sess.run(close)
        return _kind(thread.result()), sess.run(size)


def close_cancelling_ends_a_waiting_enqueue_many(tf):
    q = tf.FIFOQueue(3, [tf.int32], [[]])
    put, close, size, get = q.enqueue_many([[1, 2, 3, 4, 5]]), q.close(cancel_pending_enqueues=True), q.size(), q.dequeue()
    with tf.Session() as sess:
        thread = _Thread(lambda: sess.run(put))
        _wait(thread)
        sess.run(close)
        ended = _kind(thread.result())
        return ended, sess.run(size), [int(sess.run(get)) for _ in range(3)]


def close_twice(tf):
    q = tf.FIFOQueue(3, [tf.int32], [[]])
    close, cancel = q.close(), q.close(cancel_pending_enqueues=True)
    with tf.Session() as sess:
        sess.run(close)
        return _kind(_Thread(lambda: sess.run(close)).result()), _kind(_Thread(lambda: sess.run(cancel)).result()), _kind(_Thread(lambda: sess.run(close)).result())


def enqueue_many_after_closing(tf):
    q = tf.FIFOQueue(3, [tf.int32], [[]])
    close, put, none = q.close(), q.enqueue_many([[1]]), q.enqueue_many([tf.zeros([0], tf.int32)])
    with tf.Session() as sess:
        sess.run(close)
        return caught(lambda: sess.run(put), "is closed"), _kind(_Thread(lambda: sess.run(none)).result())


def dequeue_none_from_a_closed_one(tf):
    q = tf.FIFOQueue(3, [tf.int32], [[]])
    close, none, upto = q.close(), q.dequeue_many(0), q.dequeue_up_to(0)
    with tf.Session() as sess:
        sess.run(close)
        return sess.run(none), sess.run(upto)


def shuffled_minimum_while_open(tf):
    q = tf.RandomShuffleQueue(10, 5, [tf.int32], [[]])
    put, get, size = q.enqueue_many([[1, 2, 3, 4, 5]]), q.dequeue(), q.size()
    more = q.enqueue(6)
    with tf.Session() as sess:
        sess.run(put)
        thread = _Thread(lambda: sess.run(get))
        waits = _wait(thread)
        sess.run(more)
        thread.result()
        return waits, sess.run(size)


def shuffled_minimum_is_given_up_when_closed(tf):
    q = tf.RandomShuffleQueue(10, 5, [tf.int32], [[]])
    put, get, close = q.enqueue_many([[1, 2, 3]]), q.dequeue_many(3), q.close()
    with tf.Session() as sess:
        sess.run(put)
        thread = _Thread(lambda: sess.run(get))
        waits = _wait(thread)
        sess.run(close)
        return waits, sorted(thread.result().tolist())


def shuffled_up_to_keeps_the_minimum(tf):
    q = tf.RandomShuffleQueue(10, 2, [tf.int32], [[]])
    put, upto, size, close = q.enqueue_many([[1, 2, 3, 4]]), q.dequeue_up_to(3), q.size(), q.close()
    with tf.Session() as sess:
        sess.run(put)
        thread = _Thread(lambda: sess.run(upto))
        waits = _wait(thread)
        sess.run(close)
        first = thread.result()
        return waits, len(first), len(sess.run(upto)), sess.run(size)


def shuffled_closed_and_empty(tf):
    q = tf.RandomShuffleQueue(10, 0, [tf.int32], [[]])
    put, get, many, close = q.enqueue(1), q.dequeue(), q.dequeue_many(2), q.close()
    with tf.Session() as sess:
        sess.run(put)
        sess.run(close)
        return caught(lambda: sess.run(many), "RandomShuffleQueue", "is closed and has insufficient elements (requested 2, current size 1)"), sess.run(get), caught(lambda: sess.run(get), "(requested 1, current size 0)")


def priority_waits(tf):
    q = tf.PriorityQueue(2, [tf.string], [[]])
    put, other, get = q.enqueue([5, "b"]), q.enqueue([1, "a"]), q.dequeue()
    with tf.Session() as sess:
        sess.run(put)
        sess.run(put)
        thread = _Thread(lambda: sess.run(other))
        waits = _wait(thread)
        first = sess.run(get)
        thread.result()
        return waits, first, sess.run(get)


def priority_close(tf):
    q = tf.PriorityQueue(2, [tf.string], [[]])
    put, get, close = q.enqueue([5, "b"]), q.dequeue(), q.close()
    with tf.Session() as sess:
        sess.run(put)
        sess.run(close)
        return sess.run(get), caught(lambda: sess.run(get), "PriorityQueue", "is closed and has insufficient elements (requested 1, current size 0)"), _kind(_Thread(lambda: sess.run(put)).result())


def time_limits(tf):
    q = tf.FIFOQueue(1, [tf.int32], [[]])
    put, get, many, upto = q.enqueue(1), q.dequeue(), q.dequeue_many(3), q.dequeue_up_to(3)
    limit = tf.RunOptions(timeout_in_ms=40)
    with tf.Session() as sess:
        ends = [caught(lambda: sess.run(op, options=limit), WHOLE) for op in (get, many, upto)]
        sess.run(put)
        return ends, caught(lambda: sess.run(put, options=limit), WHOLE), sess.run(q.size())


def time_limit_that_is_not_reached(tf):
    q = tf.FIFOQueue(1, [tf.int32], [[]])
    put, get = q.enqueue(1), q.dequeue()
    limit = tf.RunOptions(timeout_in_ms=20000)
    with tf.Session() as sess:
        thread = _Thread(lambda: sess.run(get, options=limit))
        _wait(thread)
        sess.run(put, options=limit)
        return thread.result()


def time_limit_in_the_config(tf):
    q = tf.FIFOQueue(1, [tf.int32], [[]])
    get = q.dequeue()
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=40)) as sess:
        return caught(lambda: sess.run(get), WHOLE), caught(lambda: sess.run(get, options=tf.RunOptions(timeout_in_ms=20)), WHOLE)


def after_a_time_limit_all_is_well(tf):
    q = tf.FIFOQueue(1, [tf.int32], [[]])
    put, get = q.enqueue(4), q.dequeue()
    with tf.Session() as sess:
        _kind(_Thread(lambda: sess.run(get, options=tf.RunOptions(timeout_in_ms=40))).result())
        sess.run(put)
        return sess.run(get)


def session_closed_meanwhile(tf):
    q = tf.FIFOQueue(1, [tf.int32], [[]])
    put, get = q.enqueue(1), q.dequeue()
    p = tf.FIFOQueue(1, [tf.int32], [[]])
    fill, more = p.enqueue(1), p.enqueue_many([[1, 2]])
    out = []
    for op in (get, more):
        sess = tf.Session()
        thread = _Thread(lambda: sess.run(op))
        _wait(thread)
        sess.close()
        out.append(_kind(thread.result()))
    return out


def used_after_the_session_is_closed(tf):
    q = tf.FIFOQueue(1, [tf.int32], [[]])
    size = q.size()
    sess = tf.Session()
    sess.run(size)
    sess.close()
    return caught(lambda: sess.run(size), WHOLE)


def many_at_once(tf):
    q = tf.FIFOQueue(5, [tf.int32], [[]])
    x = tf.placeholder(tf.int32, [])
    put, get = q.enqueue(x), q.dequeue()
    with tf.Session() as sess:
        putters = [_Thread(lambda k=k: [sess.run(put, {x: 100 * k + i}) for i in range(20)]) for k in range(5)]
        getters = [_Thread(lambda: [int(sess.run(get)) for _ in range(25)]) for _ in range(4)]
        got = sorted(v for t in getters for v in t.result())
        return [t.result() == [None] * 20 for t in putters], got == sorted(100 * k + i for k in range(5) for i in range(20))


def dequeue_in_a_step_with_another(tf):
    """A step that both enqueues and dequeues waits for itself."""
    q = tf.FIFOQueue(1, [tf.int32], [[]])
    put, get = q.enqueue(3), q.dequeue()
    with tf.Session() as sess:
        return sess.run([get, put])[0]


def big_dequeue_many_through_a_small_queue(tf):
    q = tf.FIFOQueue(5, [tf.int32], [[]])
    put, get = q.enqueue_many([list(range(100))]), q.dequeue_many(100)
    with tf.Session() as sess:
        thread = _Thread(lambda: sess.run(put))
        values = sess.run(get)
        thread.result()
        return values.tolist() == list(range(100))


def run_in_eval(tf):
    q = tf.FIFOQueue(3, [tf.int32], [[]])
    with tf.Session():
        q.enqueue(1).run()
        q.enqueue_many([[2, 3]]).run()
        return q.dequeue().eval(), q.size().eval(), q.close().run(), q.is_closed().eval()
