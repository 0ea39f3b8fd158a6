"""All kinds of queues: order, batches, closing, cancellation, sharing, names."""

import threading

import numpy as np

from programs.tools import caught, initialize, nodes, rows, run, static


def fifo(tf):
    q = tf.FIFOQueue(3, [tf.int32])
    put = [q.enqueue((v,)) for v in (10, 20, 30)]
    get = q.dequeue()
    with tf.Session() as sess:
        for op in put:
            sess.run(op)
        return sess.run(q.size()), [sess.run(get) for _ in range(3)], sess.run(q.size())


def attributes(tf):
    q = tf.FIFOQueue(3, [tf.int32, tf.float32], shapes=[[], [2]], names=["a", "b"], shared_name="s", name="mine")
    return q.name, [d.name for d in q.dtypes], [str(s) for s in q.shapes], q.names, q.queue_ref.name, q.queue_ref.dtype.name, q.queue_ref.op.type


def node_names(tf):
    q = tf.FIFOQueue(3, [tf.int32], shapes=[[]])
    q.enqueue(1)
    q.enqueue_many([[1, 2]])
    q.dequeue()
    q.dequeue_many(2)
    q.dequeue_up_to(2)
    q.size()
    q.close()
    q.is_closed()
    return nodes(tf)


def several_components(tf):
    q = tf.FIFOQueue(3, [tf.int32, tf.string])
    put, get = q.enqueue([1, "a"]), q.dequeue()
    with tf.Session() as sess:
        sess.run(put)
        return [t.name for t in get], sess.run(get)


def dict_components(tf):
    q = tf.FIFOQueue(3, [tf.int32, tf.float32], shapes=[[], []], names=["i", "f"])
    put, many, get = q.enqueue({"i": 1, "f": 2.0}), q.enqueue_many({"i": [2, 3], "f": [4.0, 5.0]}), q.dequeue_many(3)
    with tf.Session() as sess:
        sess.run(put)
        sess.run(many)
        return sorted(get), sess.run(get)


def dict_with_other_keys(tf):
    q = tf.FIFOQueue(3, [tf.int32], names=["i"])
    return caught(lambda: q.enqueue({"j": 1})), caught(lambda: q.enqueue(1)), caught(lambda: tf.FIFOQueue(3, [tf.int32]).enqueue({"i": 1}))


def enqueue_many_and_dequeue_many(tf):
    q = tf.FIFOQueue(10, [tf.float32, tf.int32], shapes=[[], [2]])
    put = q.enqueue_many([[1.0, 2.0, 3.0], [[1, 2], [3, 4], [5, 6]]])
    get = q.dequeue_many(2)
    with tf.Session() as sess:
        sess.run(put)
        return static(*get), sess.run(get), sess.run(q.size())


def dequeue_many_more_than_the_capacity(tf):
    q = tf.FIFOQueue(2, [tf.int32], shapes=[[]])
    put, get = q.enqueue_many([list(range(10))]), q.dequeue_many(10)
    with tf.Session() as sess:
        thread = threading.Thread(target=lambda: sess.run(put))
        thread.start()
        value = sess.run(get)
        thread.join()
        return value


def dequeue_many_needs_shapes(tf):
    q = tf.FIFOQueue(2, [tf.int32])
    put, get = q.enqueue(1), q.dequeue_many(1)
    with tf.Session() as sess:
        sess.run(put)
        return caught(lambda: sess.run(get), "require the components to have specified shapes")


def dequeue_none(tf):
    q = tf.FIFOQueue(2, [tf.int32], shapes=[[3]])
    return run(tf, [q.dequeue_many(0), q.dequeue_up_to(0)])


def dequeue_up_to(tf):
    q = tf.FIFOQueue(10, [tf.int32], shapes=[[]])
    put, close, get = q.enqueue_many([[1, 2, 3, 4, 5]]), q.close(), q.dequeue_up_to(3)
    with tf.Session() as sess:
        sess.run(put)
        sess.run(close)
        return static(get), sess.run(get), sess.run(get), caught(lambda: sess.run(get), "is closed and has insufficient elements (requested 3, current size 0)")


def static_shapes(tf):
    q = tf.FIFOQueue(10, [tf.int32, tf.float32], shapes=[[], [2, 3]])
    n = tf.placeholder(tf.int32, [])
    return static(*(q.dequeue() + q.dequeue_many(4) + q.dequeue_many(n) + q.dequeue_up_to(4)))


def closed_and_empty(tf):
    q = tf.FIFOQueue(3, [tf.int32], name="line")
    close, get = q.close(), q.dequeue()
    with tf.Session() as sess:
        sess.run(close)
        return caught(lambda: sess.run(get), "FIFOQueue '", "line", "is closed and has insufficient elements (requested 1, current size 0)")


def closed_with_too_few(tf):
    q = tf.FIFOQueue(5, [tf.int32], shapes=[[]])
    put, close, many, one = q.enqueue_many([[1, 2]]), q.close(), q.dequeue_many(3), q.dequeue()
    with tf.Session() as sess:
        sess.run(put)
        sess.run(close)
        error = caught(lambda: sess.run(many), "(requested 3, current size 2)")
        return error, sess.run(one), sess.run(one)


def enqueue_after_closing(tf):
    q = tf.FIFOQueue(3, [tf.int32])
    close, put = q.close(), q.enqueue(1)
    with tf.Session() as sess:
        sess.run(close)
        return caught(lambda: sess.run(put), "is closed.")


def is_closed(tf):
    q = tf.FIFOQueue(3, [tf.int32])
    close, closed = q.close(), q.is_closed()
    with tf.Session() as sess:
        before = sess.run(closed)
        sess.run(close)
        return before, sess.run(closed)


def waiting_dequeue_is_served(tf):
    q = tf.FIFOQueue(3, [tf.int32])
    put, get = q.enqueue(7), q.dequeue()
    with tf.Session() as sess:
        values = []
        thread = threading.Thread(target=lambda: values.append(sess.run(get)))
        thread.start()
        sess.run(put)
        thread.join()
        return values


def waiting_dequeue_ends_when_closed(tf):
    q = tf.FIFOQueue(3, [tf.int32])
    close, get = q.close(), q.dequeue()
    with tf.Session() as sess:
        errors = []
        thread = threading.Thread(target=lambda: errors.append(caught(lambda: sess.run(get), "is closed and has insufficient elements")))
        thread.start()
        sess.run(close)
        thread.join()
        return errors


def waiting_enqueue_is_cancelled(tf):
    q = tf.FIFOQueue(1, [tf.int32])
    put, cancel = q.enqueue(7), q.close(cancel_pending_enqueues=True)
    with tf.Session() as sess:
        sess.run(put)
        errors = []
        thread = threading.Thread(target=lambda: errors.append(caught(lambda: sess.run(put))))
        thread.start()
        while thread.is_alive():
            sess.run(cancel)
            thread.join(0.05)
        return errors


def time_limit(tf):
    q = tf.FIFOQueue(1, [tf.int32])
    get = q.dequeue()
    with tf.Session() as sess:
        return caught(lambda: sess.run(get, options=tf.RunOptions(timeout_in_ms=50)))


def time_limit_of_a_session(tf):
    q = tf.FIFOQueue(1, [tf.int32])
    get = q.dequeue()
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=50)) as sess:
        return caught(lambda: sess.run(get))


def enqueue_wrong_dtype(tf):
    q = tf.FIFOQueue(1, [tf.int32])
    return caught(lambda: q.enqueue(1.5)), caught(lambda: q.enqueue(tf.constant(1.0)))


def enqueue_wrong_shape(tf):
    q = tf.FIFOQueue(1, [tf.int32], shapes=[[2]])
    x = tf.placeholder(tf.int32)
    put = q.enqueue(x)
    with tf.Session() as sess:
        return caught(lambda: q.enqueue([[1, 2, 3]])), caught(lambda: sess.run(put, {x: [1, 2, 3]}), "Shape mismatch in tuple component 0. Expected [2], got [3]")


def enqueue_many_of_different_lengths(tf):
    q = tf.FIFOQueue(9, [tf.int32, tf.int32], shapes=[[], []])
    a, b = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
    put = q.enqueue_many([a, b])
    with tf.Session() as sess:
        return caught(lambda: q.enqueue_many([[1, 2], [1]])), caught(lambda: sess.run(put, {a: [1, 2], b: [1]}))


def enqueue_many_of_none(tf):
    q = tf.FIFOQueue(9, [tf.int32], shapes=[[]])
    put = q.enqueue_many([tf.zeros([0], tf.int32)])
    with tf.Session() as sess:
        sess.run(put)
        return sess.run(q.size())


def shapes_of_another_length(tf):
    return caught(lambda: tf.FIFOQueue(1, [tf.int32], shapes=[[], []])), caught(lambda: tf.FIFOQueue(1, [tf.int32], names=["a", "b"]))


def shared_by_name(tf):
    a = tf.FIFOQueue(3, [tf.int32], shared_name="common", name="a")
    b = tf.FIFOQueue(3, [tf.int32], shared_name="common", name="b")
    put, get = a.enqueue(5), b.dequeue()
    with tf.Session() as sess:
        sess.run(put)
        return sess.run(get)


def shared_by_name_with_another_spec(tf):
    a = tf.FIFOQueue(3, [tf.int32], shared_name="other", name="a")
    b = tf.FIFOQueue(4, [tf.int32], shared_name="other", name="b")
    with tf.Session() as sess:
        sess.run(a.size())
        return caught(lambda: sess.run(b.size()), "capacity")


def from_list(tf):
    a = tf.FIFOQueue(3, [tf.int32])
    b = tf.FIFOQueue(3, [tf.int32])
    i = tf.placeholder(tf.int32, [])
    q = tf.QueueBase.from_list(i, [a, b])
    puts, get = [a.enqueue(1), b.enqueue(2)], q.dequeue()
    with tf.Session() as sess:
        sess.run(puts)
        return sess.run(get, {i: 1}), sess.run(get, {i: 0})


def from_list_of_different_dtypes(tf):
    a, b = tf.FIFOQueue(3, [tf.int32]), tf.FIFOQueue(3, [tf.float32])
    return caught(lambda: tf.QueueBase.from_list(0, [a, b])), caught(lambda: tf.QueueBase.from_list(0, [a, 3]))


def padding(tf):
    q = tf.PaddingFIFOQueue(10, [tf.int32, tf.string], shapes=[[None], [None, 2]])
    a, s = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.string, [None, 2])
    put, get = q.enqueue([a, s]), q.dequeue_many(3)
    with tf.Session() as sess:
        for n in (1, 3, 2):
            sess.run(put, {a: np.arange(n) + 1, s: [["x", "y"]] * n})
        x, y = sess.run(get)
        return static(*get), x, y.tolist()


def padding_needs_shapes(tf):
    return caught(lambda: tf.PaddingFIFOQueue(10, [tf.int32], shapes=None)), caught(lambda: tf.PaddingFIFOQueue(10, [tf.int32], [tf.TensorShape(None)]))


def padding_up_to(tf):
    q = tf.PaddingFIFOQueue(10, [tf.float32], shapes=[[None]])
    a = tf.placeholder(tf.float32, [None])
    put, close, get = q.enqueue(a), q.close(), q.dequeue_up_to(4)
    with tf.Session() as sess:
        sess.run(put, {a: [1.0]})
        sess.run(put, {a: [2.0, 3.0]})
        sess.run(close)
        return static(get), sess.run(get)


def padding_single(tf):
    q = tf.PaddingFIFOQueue(10, [tf.float32], shapes=[[None]])
    put, get = q.enqueue([[1.0, 2.0]]), q.dequeue()
    with tf.Session() as sess:
        sess.run(put)
        return static(get), sess.run(get)


def random_shuffle(tf):
    q = tf.RandomShuffleQueue(100, 0, [tf.int32], shapes=[[]], seed=7)
    put, close, get = q.enqueue_many([list(range(50))]), q.close(), q.dequeue_many(50)
    with tf.Session() as sess:
        sess.run(put)
        sess.run(close)
        values = sess.run(get)
        return sorted(values.tolist()) == list(range(50)), values.tolist() != list(range(50))


def random_shuffle_keeps_a_minimum(tf):
    q = tf.RandomShuffleQueue(10, 3, [tf.int32], shapes=[[]])
    put, close, get = q.enqueue_many([[1, 2, 3, 4]]), q.close(), q.dequeue()
    with tf.Session() as sess:
        sess.run(put)
        first = sess.run(get)
        left = sess.run(q.size())
        error = caught(lambda: sess.run(get, options=tf.RunOptions(timeout_in_ms=50)))
        sess.run(close)
        rest = [sess.run(get) for _ in range(3)]
        return sorted([int(first)] + [int(v) for v in rest]), left, error


def priority(tf):
    q = tf.PriorityQueue(10, [tf.string], shapes=[[]])
    put, get = q.enqueue_many([[3, 1, 2], ["c", "a", "b"]]), q.dequeue_many(3)
    with tf.Session() as sess:
        sess.run(put)
        keys, values = sess.run(get)
        return [d.name for d in q.dtypes], keys, values.tolist()


def priority_of_equals(tf):
    q = tf.PriorityQueue(10, [tf.int32], shapes=[[]])
    put, get = q.enqueue_many([[5, 5, 4], [0, 1, 2]]), q.dequeue()
    with tf.Session() as sess:
        sess.run(put)
        return [sess.run(get)[0] for _ in range(3)]


def in_a_loop(tf):
    q = tf.FIFOQueue(100, [tf.int32], shapes=[[]])
    put = q.enqueue_many([list(range(10))])
    r = tf.while_loop(lambda i, s: i < 10, lambda i, s: (i + 1, s + q.dequeue()), [0, 0])
    with tf.Session() as sess:
        sess.run(put)
        return sess.run(r)


def enqueue_in_a_loop(tf):
    q = tf.FIFOQueue(100, [tf.int32], shapes=[[]])

    def body(i):
        with tf.control_dependencies([q.enqueue(i * i)]):
            return i + 1

    r = tf.while_loop(lambda i: i < 5, body, [0])
    get = q.dequeue_many(5)
    with tf.Session() as sess:
        sess.run(r)
        return rows(sess.run(get))


def in_a_cond(tf):
    q = tf.FIFOQueue(10, [tf.int32], shapes=[[]])
    p = tf.placeholder(tf.bool, [])
    put = q.enqueue_many([[1, 2, 3]])
    r = tf.cond(p, lambda: q.dequeue(), lambda: tf.constant(-1))
    with tf.Session() as sess:
        sess.run(put)
        return [sess.run(r, {p: b}).tolist() for b in (True, False, True)], sess.run(q.size())


def sessions_have_their_own(tf):
    q = tf.FIFOQueue(3, [tf.int32])
    put, size = q.enqueue(1), q.size()
    with tf.Session() as a, tf.Session() as b:
        a.run(put)
        return a.run(size), b.run(size)


def session_closed_while_waiting(tf):
    q = tf.FIFOQueue(3, [tf.int32])
    get = q.dequeue()
    sess = tf.Session()
    errors = []
    started = threading.Event()

    def wait():
        started.set()
        errors.append(caught(lambda: sess.run(get)))

    thread = threading.Thread(target=wait)
    thread.start()
    started.wait()
    import time

    time.sleep(0.2)
    sess.close()
    thread.join(10)
    return errors


def unbounded(tf):
    q = tf.FIFOQueue(-1, [tf.int32], shapes=[[]])
    put = q.enqueue_many([list(range(1000))])
    with tf.Session() as sess:
        sess.run(put)
        sess.run(put)
        return sess.run(q.size())


def dtypes_of_all_kinds(tf):
    kinds = [tf.float64, tf.float16, tf.int64, tf.uint8, tf.bool, tf.complex64, tf.uint32, tf.uint64]
    q = tf.FIFOQueue(3, kinds)
    put, get = q.enqueue([tf.cast(1, k) for k in kinds]), q.dequeue()
    with tf.Session() as sess:
        sess.run(put)
        return sess.run(get)


def the_kinds_are_queues(tf):
    q = tf.FIFOQueue(1, [tf.int32])
    return isinstance(q, tf.QueueBase), [c.__name__ for c in (tf.FIFOQueue, tf.PaddingFIFOQueue, tf.RandomShuffleQueue, tf.PriorityQueue)]
