"""`QueueRunner`: construction, threads, errors, protos."""

import threading
import time

from programs.tools import WHOLE, caught, initialize, nodes, run


def _counting(tf, n, name="counter"):
    """Returns a variable and an op that increments it up to `n`, then raises an error."""
    v = tf.Variable(0, name=name)
    return v, v.count_up_to(n)


def basic(tf):
    v, count = _counting(tf, 3)
    q = tf.FIFOQueue(10, tf.int32)
    qr = tf.train.QueueRunner(q, [count])
    with tf.Session() as sess:
        initialize(tf, sess)
        threads = qr.create_threads(sess)
        names = sorted(t.name for t in threads)
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return names, len(qr.exceptions_raised), sess.run(v)


def two_ops(tf):
    v, a = _counting(tf, 3)
    w, b = _counting(tf, 30, "other")
    q = tf.FIFOQueue(10, tf.int32)
    qr = tf.train.QueueRunner(q, [a, b])
    with tf.Session() as sess:
        initialize(tf, sess)
        threads = qr.create_threads(sess, start=True)
        for t in threads:
            t.join()
        return sorted(t.name for t in threads), len(qr.exceptions_raised), sess.run([v, w])


def closes_the_queue_after_the_last(tf):
    q = tf.FIFOQueue(10, [tf.int32], [[]])
    v, a = _counting(tf, 3)
    w, b = _counting(tf, 5, "other")
    qr = tf.train.QueueRunner(q, [q.enqueue(a), q.enqueue(b)])
    closed, size = q.is_closed(), q.size()
    with tf.Session() as sess:
        initialize(tf, sess)
        for t in qr.create_threads(sess, start=True):
            t.join()
        return sess.run([closed, size])


def error_without_a_coordinator(tf):
    q = tf.FIFOQueue(10, [tf.int32])
    x = tf.placeholder(tf.int32, [], name="x")
    qr = tf.train.QueueRunner(q, [q.enqueue(x)])
    with tf.Session() as sess:
        threads = qr.create_threads(sess)
        for t in threads:
            # Python prints exceptions of threads.
            t._target, target = None, t._target
            try:
                target(*t._args)
            except tf.errors.InvalidArgumentError:
                pass
        errors = qr.exceptions_raised
        return len(errors), type(errors[0]).__name__


def error_with_a_coordinator(tf):
    q = tf.FIFOQueue(10, [tf.int32])
    bad = tf.constant([1, 2])
    with tf.control_dependencies([tf.Assert(False if False else tf.less(bad[0], 0), ["no"])]):
        put = q.enqueue(tf.constant(1))
    qr = tf.train.QueueRunner(q, [put])
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        threads = qr.create_threads(sess, coord, start=True)
        return len(threads), caught(lambda: coord.join(threads), "assertion failed: [no]"), len(qr.exceptions_raised)


def close_op_that_fails_is_ignored(tf):
    q = tf.FIFOQueue(10, [tf.int32], [[]])
    v, count = _counting(tf, 2)
    x = tf.placeholder(tf.int32, [])
    qr = tf.train.QueueRunner(q, [q.enqueue(count)], close_op=tf.group(x), cancel_op=tf.no_op())
    with tf.Session() as sess:
        initialize(tf, sess)
        for t in qr.create_threads(sess, start=True):
            t.join()
        return len(qr.exceptions_raised), sess.run(q.size())


def started_twice(tf):
    q = tf.FIFOQueue(1, [tf.int32], [[]])
    qr = tf.train.QueueRunner(q, [q.enqueue(1)] * 2)
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        first = qr.create_threads(sess, coord, start=True)
        second = qr.create_threads(sess, coord, start=True)
        coord.request_stop()
        coord.join(first)
        third = qr.create_threads(sess, start=True)
        for t in third:
            t.join()
        return len(first), second, len(third)


def two_sessions_at_once(tf):
    q = tf.FIFOQueue(1, [tf.int32], [[]])
    qr = tf.train.QueueRunner(q, [q.enqueue(1)])
    out = []
    with tf.Session() as a, tf.Session() as b:
        for sess in (a, b):
            coord = tf.train.Coordinator()
            threads = qr.create_threads(sess, coord, start=True)
            out.append(len(threads))
            coord.request_stop()
            coord.join(threads)
    return out


def daemons(tf):
    q = tf.FIFOQueue(1, [tf.int32], [[]])
    qr = tf.train.QueueRunner(q, [q.enqueue(1)])
    out = []
    for daemon in (True, False):
        with tf.Session() as sess:
            out.append([t.daemon for t in qr.create_threads(sess, tf.train.Coordinator(), daemon=daemon)])
    return out


def closed_types(tf):
    q = tf.FIFOQueue(1, [tf.int32], [[]])
    put = q.enqueue(1)
    E = tf.errors
    made = [None, (E.OutOfRangeError,), (E.OutOfRangeError, E.CancelledError, E.AbortedError)]
    return [[t.__name__ for t in tf.train.QueueRunner(q, [put], queue_closed_exception_types=m).queue_closed_exception_types] for m in made]


def closed_types_refused(tf):
    q = tf.FIFOQueue(1, [tf.int32], [[]])
    put = q.enqueue(1)
    E = tf.errors
    wrong = [[E.OutOfRangeError], E.OutOfRangeError, (ValueError,), "a", (E.OpError,)]
    return [caught(lambda: tf.train.QueueRunner(q, [put], queue_closed_exception_types=w), WHOLE) for w in wrong]


def an_error_that_closes(tf):
    q = tf.FIFOQueue(10, [tf.int32], [[]])
    x = tf.placeholder(tf.int32, [])
    qr = tf.train.QueueRunner(q, [q.enqueue(x)], queue_closed_exception_types=(tf.errors.InvalidArgumentError,))
    with tf.Session() as sess:
        for t in qr.create_threads(sess, start=True):
            t.join()
        return len(qr.exceptions_raised), sess.run(q.is_closed())


def arguments_refused(tf):
    q = tf.FIFOQueue(1, [tf.int32])
    put = q.enqueue(1)
    proto = tf.train.QueueRunner(q, [put]).to_proto()
    return (
        caught(lambda: tf.train.QueueRunner(), WHOLE),
        caught(lambda: tf.train.QueueRunner(q), WHOLE),
        caught(lambda: tf.train.QueueRunner(q, []), WHOLE),
        caught(lambda: tf.train.QueueRunner(None, [put]), WHOLE),
        caught(lambda: tf.train.QueueRunner(queue=q, enqueue_ops=[put], queue_runner_def=proto), WHOLE),
    )


def proto(tf):
    with tf.name_scope("s"):
        q = tf.FIFOQueue(10, [tf.int32], name="queue")
        qr = tf.train.QueueRunner(q, [q.enqueue(1, name="put")], queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.CancelledError))
    return str(qr.to_proto()), str(qr.to_proto(export_scope="s")), qr.to_proto(export_scope="x")


def proto_and_back(tf):
    q = tf.FIFOQueue(10, [tf.int32], name="queue")
    qr = tf.train.QueueRunner(q, [q.enqueue(1, name="put")])
    back = tf.train.QueueRunner.from_proto(qr.to_proto())
    return str(back.to_proto()) == str(qr.to_proto()), type(back.queue).__name__, back.queue.name, back.name, [o.name for o in back.enqueue_ops], back.close_op.name, back.cancel_op.name


def proto_without_types(tf):
    q = tf.FIFOQueue(10, [tf.int32], name="queue")
    d = tf.train.QueueRunner(q, [q.enqueue(1, name="put")]).to_proto()
    del d.queue_closed_exception_types[:]
    back = tf.train.QueueRunner.from_proto(d)
    return [t.__name__ for t in back.queue_closed_exception_types]


def proto_with_a_scope(tf):
    with tf.name_scope("in"):
        q = tf.FIFOQueue(10, [tf.int32], name="queue")
        qr = tf.train.QueueRunner(q, [q.enqueue(1, name="put")])
    d = qr.to_proto(export_scope="in")
    back = tf.train.QueueRunner.from_proto(d, import_scope="in")
    return d.queue_name, back.name, [o.name for o in back.enqueue_ops]


def proto_of_nodes_not_there(tf):
    q = tf.FIFOQueue(10, [tf.int32], name="queue")
    d = tf.train.QueueRunner(q, [q.enqueue(1, name="put")]).to_proto()
    with tf.Graph().as_default():
        return caught(lambda: tf.train.QueueRunner.from_proto(d), WHOLE)


def proto_runs(tf):
    v, count = _counting(tf, 3)
    q = tf.FIFOQueue(10, [tf.int32], [[]], name="queue")
    d = tf.train.QueueRunner(q, [q.enqueue(count)]).to_proto()
    back = tf.train.QueueRunner.from_proto(d)
    with tf.Session() as sess:
        initialize(tf, sess)
        for t in back.create_threads(sess, start=True):
            t.join()
        return sess.run(q.dequeue_many(3)), sess.run(q.is_closed())


def through_a_meta_graph(tf):
    with tf.Graph().as_default():
        q = tf.train.range_input_producer(3, num_epochs=1, shuffle=False)
        tf.identity(q.dequeue(), name="out")
        meta = tf.train.export_meta_graph()
    tf.train.import_meta_graph(meta)
    (qr,) = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        initialize(tf, sess)
        threads = tf.train.start_queue_runners(sess, coord)
        values = [int(sess.run("out:0")) for _ in range(3)]
        coord.request_stop()
        coord.join(threads)
        return type(qr).__name__, qr.name, values


def start_in_a_collection(tf):
    q = tf.FIFOQueue(1, [tf.int32], [[]])
    qr = tf.train.QueueRunner(q, [q.enqueue(1)])
    tf.train.add_queue_runner(qr, "mine")
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        none = tf.train.start_queue_runners(sess, coord)
        some = tf.train.start_queue_runners(sess, coord, collection="mine", daemon=False, start=False)
        alive = [t.is_alive() for t in some]
        return none, [t.daemon for t in some], alive


def start_by_the_default_session(tf):
    q = tf.FIFOQueue(1, [tf.int32], [[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(q, [q.enqueue(1)]))
    coord = tf.train.Coordinator()
    with tf.Session():
        threads = tf.train.start_queue_runners(coord=coord)
        coord.request_stop()
        coord.join(threads)
        return len(threads)


def start_refused(tf):
    return caught(lambda: tf.train.start_queue_runners(), WHOLE), caught(lambda: tf.train.start_queue_runners(sess="a"), WHOLE), caught(lambda: tf.train.start_queue_runners(sess=tf.train.Coordinator()), WHOLE)


def many_runners_one_coordinator(tf):
    qs = [tf.FIFOQueue(2, [tf.int32], [[]]) for _ in range(4)]
    for i, q in enumerate(qs):
        tf.train.add_queue_runner(tf.train.QueueRunner(q, [q.enqueue(i)] * 2))
    gets = [q.dequeue() for q in qs]
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        threads = tf.train.start_queue_runners(sess, coord)
        values = [sess.run(gets) for _ in range(5)]
        coord.request_stop()
        coord.join(threads)
        return len(threads), [list(map(int, v)) for v in values]


def a_chain_of_queues(tf):
    v, count = _counting(tf, 6)
    a, b = tf.FIFOQueue(3, [tf.int32], [[]]), tf.FIFOQueue(3, [tf.int32], [[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(a, [a.enqueue(count)]))
    tf.train.add_queue_runner(tf.train.QueueRunner(b, [b.enqueue(a.dequeue() * 10)]))
    get = b.dequeue()
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        initialize(tf, sess)
        threads = tf.train.start_queue_runners(sess, coord)
        values = [int(sess.run(get)) for _ in range(6)]
        ends = caught(lambda: sess.run(get), "is closed and has insufficient elements")
        coord.request_stop()
        coord.join(threads)
        return values, ends
