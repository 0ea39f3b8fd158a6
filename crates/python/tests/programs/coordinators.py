"""`Coordinator`, `LooperThread`, `QueueRunner` and related functions."""

import sys
import threading
import time

from programs.tools import caught, initialize, run


def stops(tf):
    coord = tf.train.Coordinator()
    before = coord.should_stop(), coord.wait_for_stop(0.01)
    coord.request_stop()
    return before, coord.should_stop(), coord.wait_for_stop(1.0)


def stopped_by_another_thread(tf):
    coord = tf.train.Coordinator()
    thread = threading.Thread(target=lambda: coord.request_stop())
    thread.start()
    return coord.wait_for_stop(10.0), coord.join([thread]), coord.joined


def joins_threads(tf):
    coord = tf.train.Coordinator()
    log = []

    def work(n):
        while not coord.should_stop():
            log.append(n)
            if len(log) > 20:
                coord.request_stop()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    coord.join(threads)
    return [t.is_alive() for t in threads], len(log) > 20


def registered_threads(tf):
    coord = tf.train.Coordinator()
    thread = threading.Thread(target=coord.wait_for_stop)
    coord.register_thread(thread)
    thread.start()
    coord.request_stop()
    coord.join()
    return thread.is_alive()


def reports_an_exception(tf):
    coord = tf.train.Coordinator()

    def fail():
        try:
            raise RuntimeError("from the thread")
        except Exception as error:
            coord.request_stop(error)

    thread = threading.Thread(target=fail)
    thread.start()
    return caught(lambda: coord.join([thread]), "from the thread")


def reports_an_exc_info(tf):
    coord = tf.train.Coordinator()

    def fail():
        try:
            raise KeyError("as info")
        except Exception:
            coord.request_stop(sys.exc_info())

    thread = threading.Thread(target=fail)
    thread.start()
    return caught(lambda: coord.join([thread]), "as info")


def reports_the_first_only(tf):
    coord = tf.train.Coordinator()
    for word in ("first", "second"):
        try:
            raise RuntimeError(word)
        except Exception as error:
            coord.request_stop(error)
    return caught(coord.join, "first")


def stop_on_exception(tf):
    coord = tf.train.Coordinator()

    def fail():
        with coord.stop_on_exception():
            raise ValueError("in the block")

    thread = threading.Thread(target=fail)
    thread.start()
    return caught(lambda: coord.join([thread]), "in the block"), coord.should_stop()


def end_of_input_is_clean(tf):
    coord = tf.train.Coordinator()
    with coord.stop_on_exception():
        raise tf.errors.OutOfRangeError(None, None, "First error")
    return coord.join(), coord.should_stop()


def clean_types_given(tf):
    coord = tf.train.Coordinator(clean_stop_exception_types=(ValueError,))
    with coord.stop_on_exception():
        raise ValueError("clean")
    coord.join()
    other = tf.train.Coordinator(clean_stop_exception_types=(ValueError,))
    with other.stop_on_exception():
        raise tf.errors.OutOfRangeError(None, None, "not clean")
    return coord.should_stop(), caught(other.join, "not clean")


def stop_after_join_raises(tf):
    coord = tf.train.Coordinator()
    coord.request_stop()
    coord.join()

    def late():
        try:
            raise RuntimeError("too late")
        except Exception as error:
            coord.request_stop(error)

    return caught(late, "too late")


def clear_stop(tf):
    coord = tf.train.Coordinator()
    with coord.stop_on_exception():
        raise ValueError("forgotten")
    coord.clear_stop()
    coord.request_stop()
    return coord.join(), coord.should_stop()


def stragglers(tf):
    coord = tf.train.Coordinator()
    go_on = threading.Event()
    thread = threading.Thread(target=go_on.wait, name="the slow one", daemon=True)
    thread.start()
    coord.request_stop()
    error = caught(lambda: coord.join([thread], stop_grace_period_secs=0.02), "Coordinator stopped with threads still running: the slow one")
    quiet = tf.train.Coordinator()
    quiet.request_stop()
    nothing = quiet.join([thread], stop_grace_period_secs=0.02, ignore_live_threads=True)
    go_on.set()
    return error, nothing


def raise_requested_exception(tf):
    coord = tf.train.Coordinator()
    nothing = coord.raise_requested_exception()
    with coord.stop_on_exception():
        raise ValueError("asked for")
    return nothing, caught(coord.raise_requested_exception, "asked for")


def looper_without_pause(tf):
    coord = tf.train.Coordinator()
    log = []

    def turn(a, b=0):
        log.append((a, b))
        if len(log) == 5:
            coord.request_stop()

    looper = tf.train.LooperThread.loop(coord, None, turn, args=(1,), kwargs={"b": 2})
    coord.join()
    return log, looper.is_alive(), looper.daemon


def looper_on_a_timer(tf):
    coord = tf.train.Coordinator()
    log = []

    def turn():
        log.append(time.time())
        if len(log) == 3:
            coord.request_stop()

    tf.train.LooperThread.loop(coord, 0.05, turn)
    coord.join()
    return len(log), 0.08 < log[-1] - log[0] < 5.0


def looper_by_inheritance(tf):
    log = []

    class Mine(tf.train.LooperThread):
        def start_loop(self):
            log.append("start")

        def run_loop(self):
            log.append("run")
            if len(log) == 3:
                coord.request_stop()

        def stop_loop(self):
            log.append("stop")

    coord = tf.train.Coordinator()
    Mine(coord, None).start()
    coord.join()
    return log


def looper_that_fails(tf):
    coord = tf.train.Coordinator()

    def turn():
        raise ValueError("in a turn")

    tf.train.LooperThread.loop(coord, 0.01, turn)
    return caught(coord.join, "in a turn")


def looper_refusals(tf):
    coord = tf.train.Coordinator()
    return (
        caught(lambda: tf.train.LooperThread("no", 1.0), "'coord' argument must be a Coordinator"),
        caught(lambda: tf.train.LooperThread(coord, 1.0, args=(1,)), "also pass 'target'"),
    )


def runner_fills_a_queue(tf):
    v = tf.Variable(0, use_resource=True)
    q = tf.FIFOQueue(100, [tf.int32], shapes=[[]])
    qr = tf.train.QueueRunner(q, [q.enqueue(v.count_up_to(5))])
    get = q.dequeue()
    with tf.Session() as sess:
        initialize(tf, sess)
        threads = qr.create_threads(sess, start=True)
        values = [sess.run(get) for _ in range(5)]
        for thread in threads:
            thread.join()
        return values, len(qr.exceptions_raised), caught(lambda: sess.run(get), "is closed and has insufficient elements")


def runner_attributes(tf):
    q = tf.FIFOQueue(10, [tf.int32], name="q")
    put = q.enqueue(1)
    qr = tf.train.QueueRunner(q, [put])
    return qr.name, qr.queue is q, qr.enqueue_ops == [put], qr.close_op.name, qr.cancel_op.name, qr.close_op.get_attr("cancel_pending_enqueues"), qr.cancel_op.get_attr("cancel_pending_enqueues"), [t.__name__ for t in qr.queue_closed_exception_types]


def runner_with_given_ops(tf):
    q = tf.FIFOQueue(10, [tf.int32], name="q")
    close, cancel = tf.no_op(name="c1"), tf.no_op(name="c2")
    qr = tf.train.QueueRunner(q, [q.enqueue(1)], close, cancel, (tf.errors.OutOfRangeError, tf.errors.CancelledError))
    return qr.close_op.name, qr.cancel_op.name, [t.__name__ for t in qr.queue_closed_exception_types]


def runner_refusals(tf):
    q = tf.FIFOQueue(10, [tf.int32])
    put = q.enqueue(1)
    return (
        caught(lambda: tf.train.QueueRunner(), "Must provide queue and enqueue_ops."),
        caught(lambda: tf.train.QueueRunner(q, []), "Must provide queue and enqueue_ops."),
        caught(lambda: tf.train.QueueRunner(q, [put], queue_closed_exception_types=())),
        caught(lambda: tf.train.QueueRunner(q, [put], queue_closed_exception_types=(ValueError,)), "must be a tuple of tf.error types"),
        caught(lambda: tf.train.QueueRunner(q, [put], queue_closed_exception_types=[tf.errors.OutOfRangeError]), "must be a tuple of tf.error types"),
    )


def runner_threads(tf):
    q = tf.FIFOQueue(2, [tf.int32], name="q")
    qr = tf.train.QueueRunner(q, [q.enqueue(1, name="e1"), q.enqueue(2, name="e2")])
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        threads = qr.create_threads(sess, coord)
        names, daemons = [t.name for t in threads], [t.daemon for t in threads]
        again = qr.create_threads(sess, coord)
        for thread in threads:
            thread.start()
        coord.request_stop()
        coord.join()
        return names, daemons, again


def runner_that_fails(tf):
    x = tf.placeholder(tf.int32, [], name="x")
    q = tf.FIFOQueue(2, [tf.int32])
    qr = tf.train.QueueRunner(q, [q.enqueue(x)])
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        qr.create_threads(sess, coord, start=True)
        return caught(coord.join, "You must feed a value for placeholder tensor 'x'"), len(qr.exceptions_raised)


def runner_with_two_sessions(tf):
    v = tf.Variable(0)
    q = tf.FIFOQueue(100, [tf.int32], shapes=[[]])
    qr = tf.train.QueueRunner(q, [q.enqueue(v.count_up_to(3))])
    size = q.size()
    sizes = []
    for _ in range(2):
        with tf.Session() as sess:
            initialize(tf, sess)
            for thread in qr.create_threads(sess, start=True):
                thread.join()
            sizes.append(int(sess.run(size)))
    return sizes


def runner_stopped_while_full(tf):
    q = tf.FIFOQueue(2, [tf.int32], shapes=[[]])
    qr = tf.train.QueueRunner(q, [q.enqueue(1)] * 3)
    coord = tf.train.Coordinator()
    get = q.dequeue()
    with tf.Session() as sess:
        qr.create_threads(sess, coord, start=True)
        values = [sess.run(get) for _ in range(10)]
        coord.request_stop()
        return sum(int(v) for v in values), coord.join()


def start_queue_runners(tf):
    v = tf.Variable(0)
    q = tf.FIFOQueue(100, [tf.int32], shapes=[[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(q, [q.enqueue(v.count_up_to(4))]))
    get = q.dequeue()
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        initialize(tf, sess)
        threads = tf.train.start_queue_runners(coord=coord)
        values = []
        try:
            while not coord.should_stop():
                values.append(int(sess.run(get)))
        except tf.errors.OutOfRangeError:
            coord.request_stop()
        coord.join(threads)
        return values, len(threads), [t.daemon for t in threads]


def start_without_a_session(tf):
    return caught(lambda: tf.train.start_queue_runners(), "Cannot start queue runners: No default session is registered")


def start_with_something_else(tf):
    return caught(lambda: tf.train.start_queue_runners(sess=object()), "sess must be a `tf.Session` object")


def start_without_runners(tf):
    with tf.Session() as sess:
        return tf.train.start_queue_runners(sess)


def collection_of_runners(tf):
    q = tf.FIFOQueue(10, [tf.int32])
    qr = tf.train.QueueRunner(q, [q.enqueue(1)])
    tf.train.add_queue_runner(qr)
    tf.train.add_queue_runner(qr, collection="mine")
    return tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS) == [qr], tf.get_collection("mine") == [qr]


def to_proto_and_back(tf):
    q = tf.FIFOQueue(10, [tf.int32], name="q")
    put = q.enqueue(1, name="put")
    qr = tf.train.QueueRunner(q, [put], queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.CancelledError))
    d = qr.to_proto()
    back = tf.train.QueueRunner.from_proto(d)
    return d.queue_name, list(d.enqueue_op_name), d.close_op_name, d.cancel_op_name, list(d.queue_closed_exception_types), back.name, [o.name for o in back.enqueue_ops], [t.__name__ for t in back.queue_closed_exception_types]


def to_proto_in_a_scope(tf):
    with tf.name_scope("outer"):
        q = tf.FIFOQueue(10, [tf.int32], name="q")
        qr = tf.train.QueueRunner(q, [q.enqueue(1, name="put")])
    inside = qr.to_proto(export_scope="outer")
    return inside.queue_name, list(inside.enqueue_op_name), inside.close_op_name, qr.to_proto(export_scope="elsewhere")


def no_limit_on_threads(tf):
    q = tf.FIFOQueue(1000, [tf.int32], shapes=[[]])
    v = tf.Variable(0)
    n = v.count_up_to(200)
    qr = tf.train.QueueRunner(q, [q.enqueue(n)] * 8)
    get = q.dequeue_many(200)
    with tf.Session() as sess:
        initialize(tf, sess)
        threads = qr.create_threads(sess, start=True)
        values = sess.run(get)
        for thread in threads:
            thread.join()
        return sorted(values.tolist()) == list(range(200)), len(threads)
