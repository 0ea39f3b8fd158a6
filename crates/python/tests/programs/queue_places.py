"""Devices, colocation and scopes of queues and their operations; inputs of the operations."""

import numpy as np

from programs.tools import WHOLE, caught, nodes, run, static


def _groups(op):
    return [g.decode() for g in op.colocation_groups()]


def devices_of_operations(tf):
    with tf.device("/job:ps"):
        q = tf.FIFOQueue(32, [tf.int32], [[]], name="q")
    with tf.device("/job:worker/task:7"):
        ops = [q.enqueue(1), q.enqueue_many([[1]]), q.dequeue().op, q.dequeue_many(1).op, q.dequeue_up_to(1).op, q.size().op, q.close(), q.is_closed().op]
    return q.queue_ref.device, [(o.name, o.device) for o in ops]


def colocation_of_operations(tf):
    q = tf.FIFOQueue(32, [tf.int32], [[]], name="q")
    ops = [q.enqueue(1), q.enqueue_many([[1]]), q.dequeue().op, q.dequeue_many(1).op, q.dequeue_up_to(1).op, q.size().op, q.close(), q.is_closed().op]
    return [(o.type, _groups(o)) for o in ops]


def colocation_with_a_queue(tf):
    q = tf.FIFOQueue(32, [tf.int32], [[]], name="q")
    with tf.colocate_with(q.queue_ref):
        c = tf.constant(1)
    with tf.get_default_graph().colocate_with(q.queue_ref.op):
        d = tf.constant(1)
    return _groups(c.op), _groups(d.op)


def colocation_of_runners(tf):
    q = tf.FIFOQueue(32, [tf.int32], [[]], name="q")
    r = tf.train.QueueRunner(q, [q.enqueue(1)])
    return _groups(r.close_op), _groups(r.cancel_op)


def devices_of_a_pipeline(tf):
    with tf.device("/cpu:0"):
        q = tf.train.range_input_producer(3, shuffle=False)
    b = tf.train.batch([q.dequeue()], 2)
    return q.queue_ref.device, b.device, sorted({o.device for o in tf.get_default_graph().get_operations()})


def inputs_of_an_enqueue(tf):
    q = tf.FIFOQueue(10, [tf.float32, tf.int32], shapes=[[], []])
    put = q.enqueue_many(([], []))
    return [(t.name, t.dtype.name, str(t.shape)) for t in put.inputs][1:]


def inputs_of_a_dequeue(tf):
    q = tf.FIFOQueue(10, [tf.float32], shapes=[[]], name="q")
    n = tf.constant(3, name="n")
    return [t.name for t in q.dequeue_many(n).op.inputs], [t.name for t in q.dequeue_many(3).op.inputs], [t.name for t in q.dequeue().op.inputs]


def attributes_of_operations(tf):
    q = tf.FIFOQueue(10, [tf.float32, tf.int32], shapes=[[], [2]], name="q")
    ops = [q.enqueue([1.0, [1, 2]]), q.enqueue_many([[1.0], [[1, 2]]]), q.dequeue()[0].op, q.dequeue_many(1)[0].op, q.dequeue_up_to(1)[0].op, q.size().op, q.close(), q.close(True), q.is_closed().op]
    return [(o.type, sorted((k, str(v)) for k, v in o.node_def.attr.items() if k != "_class")) for o in ops]


def outputs_of_operations(tf):
    q = tf.FIFOQueue(10, [tf.float32, tf.int32], shapes=[[], [2]], name="q")
    return [len(o.outputs) for o in (q.enqueue([1.0, [1, 2]]), q.dequeue()[0].op, q.size().op, q.close(), q.queue_ref.op)], q.queue_ref.op.outputs[0].dtype.name, str(q.queue_ref.shape)


def queue_of_another_graph(tf):
    q = tf.FIFOQueue(10, [tf.int32], shapes=[[]], name="q")
    with tf.Graph().as_default():
        x = tf.constant(1)
        return caught(lambda: q.enqueue(x), WHOLE), type(q.dequeue().graph is q.queue_ref.graph).__name__


def value_of_another_graph(tf):
    q = tf.FIFOQueue(10, [tf.int32], shapes=[[]], name="q")
    with tf.Graph().as_default():
        x = tf.constant(1, name="other")
    return caught(lambda: q.enqueue(x), WHOLE)


def base_made_by_hand(tf):
    q = tf.FIFOQueue(10, [tf.int32], shapes=[[]], name="q")
    b = tf.QueueBase([tf.int32], [tf.TensorShape([])], None, q.queue_ref)
    put, get = b.enqueue(4), q.dequeue()
    with tf.Session() as sess:
        sess.run(put)
        return b.name, [d.name for d in b.dtypes], sess.run(get)


def is_it_a_tensor(tf):
    q = tf.FIFOQueue(10, [tf.int32], name="q")
    return caught(lambda: tf.convert_to_tensor(q), WHOLE), caught(lambda: tf.Session().run(q), WHOLE)


def in_a_finalized_graph(tf):
    q = tf.FIFOQueue(10, [tf.int32], name="q")
    tf.get_default_graph().finalize()
    return caught(lambda: q.dequeue(), WHOLE), caught(lambda: tf.FIFOQueue(1, [tf.int32]), WHOLE)


def _mock(name):
    class Mock:
        def __init__(self):
            self.name = name

    return Mock()


def runner_of_no_operations(tf):
    q = tf.FIFOQueue(10, tf.float32)
    qr = tf.train.QueueRunner(q, [_mock("i fail"), _mock("so fail")])
    with tf.Session() as sess:
        for t in qr.create_threads(sess):
            try:
                t._target(*t._args)
            except Exception:
                pass
        return len(qr.exceptions_raised), [type(e).__name__ for e in qr.exceptions_raised]


def runner_of_a_tensor(tf):
    v = tf.Variable(tf.constant(0, tf.int64))
    qr = tf.train.QueueRunner(tf.FIFOQueue(10, tf.float32), [v.count_up_to(3)])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        threads = qr.create_threads(sess)
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return sorted(t.name for t in threads), sess.run(v)


def priorities_of_another_kind(tf):
    q = tf.PriorityQueue(2000, tf.string, ())
    return caught(lambda: q.enqueue_many((["a", "b", "c"], ["a", "b", "c"])), WHOLE), caught(lambda: q.enqueue((1.5, "a")), WHOLE)


def priorities_that_are_no_scalars(tf):
    q = tf.PriorityQueue(2000, tf.string, ())
    p, s = tf.placeholder(tf.int64), tf.placeholder(tf.string)
    one, many = q.enqueue((p, s)), q.enqueue_many((p, s))
    with tf.Session() as sess:
        return caught(lambda: sess.run(one, {p: [0, 2], s: ["a", "b"]}), WHOLE), caught(lambda: sess.run(many, {p: [[0, 2], [3, 4]], s: ["a", "b"]}), WHOLE)


def priorities_sorted(tf):
    q = tf.PriorityQueue(2000, (tf.string, tf.string), ((), ()))
    rng = np.random.RandomState(3)
    keys = rng.randint(-5, 5, size=100).astype(np.int64)
    a, b = [str(rng.randint(9)) for _ in keys], [str(rng.randint(9)) for _ in keys]
    put = q.enqueue_many((keys, a, b))
    get = q.dequeue_many(100)
    with tf.Session() as sess:
        sess.run(put)
        k, x, y = sess.run(get)
        return k, sorted(zip(k.tolist(), x.tolist(), y.tolist())) == sorted((i, p.encode(), r.encode()) for i, p, r in zip(keys.tolist(), a, b))


def cancelled_by_closing_the_session(tf):
    import threading

    q = tf.FIFOQueue(1, [tf.int32], [[]])
    fill, put, many, get, upto, both = q.enqueue(1), q.enqueue(2), q.enqueue_many([[1, 2, 3]]), q.dequeue(), q.dequeue_up_to(3), q.dequeue_many(2)
    out = []
    for full, op in ((True, put), (True, many), (False, get), (False, upto), (False, both)):
        sess = tf.Session()
        if full:
            sess.run(fill)
        thread = threading.Thread(target=lambda: out.append(caught(lambda: sess.run(op), WHOLE)))
        thread.start()
        thread.join(0.1)
        sess.close()
        thread.join(10)
    return out


def cancelled_by_a_cancelling_close(tf):
    import threading

    q = tf.FIFOQueue(1, [tf.int32], [[]])
    fill, put, many, cancel = q.enqueue(1), q.enqueue(2), q.enqueue_many([[1, 2, 3]]), q.close(cancel_pending_enqueues=True)
    out = []
    for op in (put, many):
        with tf.Session() as sess:
            sess.run(fill)
            thread = threading.Thread(target=lambda: out.append(caught(lambda: sess.run(op), WHOLE)))
            thread.start()
            thread.join(0.1)
            sess.run(cancel)
            thread.join(10)
    return out


def closed_says(tf):
    q = tf.FIFOQueue(1, [tf.int32], [[]], name="q")
    put, close = q.enqueue(2), q.close()
    with tf.Session() as sess:
        sess.run(close)
        return caught(lambda: sess.run(put), "FIFOQueue '", "q' is closed."), caught(lambda: sess.run(close), "Queue '", "q' is already closed.")


def index_out_of_the_list(tf):
    qs = [tf.FIFOQueue(10, tf.float32), tf.FIFOQueue(15, tf.float32)]
    get = tf.QueueBase.from_list(100, qs).dequeue()
    with tf.Session() as sess:
        return caught(lambda: sess.run(get), "is not in")


def made_and_used_in_a_loop(tf):
    def body(i):
        q = tf.FIFOQueue(10, [tf.int32], [[]])
        with tf.control_dependencies([q.enqueue(i * 2)]):
            return q.dequeue() + 1

    return run(tf, tf.while_loop(lambda i: i < 20, body, [1]))


def made_and_used_in_a_branch(tf):
    def yes():
        q = tf.FIFOQueue(10, [tf.int32], [[]])
        with tf.control_dependencies([q.enqueue_many([[5, 6]])]):
            return q.dequeue()

    p = tf.placeholder(tf.bool, [])
    r = tf.cond(p, yes, lambda: tf.constant(-1))
    return [run(tf, r, {p: b}) for b in (True, False)]


def used_after_a_control_dependency(tf):
    c = tf.constant(1)
    with tf.control_dependencies([c]):
        q = tf.RandomShuffleQueue(10, 0, [tf.int32], [[]])
        put = q.enqueue(3)
    get = q.dequeue()
    with tf.Session() as sess:
        sess.run(put)
        return sess.run(get), [len(o.control_inputs) for o in (q.queue_ref.op, put, get.op)]
