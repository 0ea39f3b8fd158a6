"""`QueueBase.from_list`, shared names, queue handles, raw ops, containers."""

import numpy as np

from programs.tools import WHOLE, caught, nodes, rows, run, static


def select(tf):
    a = tf.FIFOQueue(10, [tf.float32], name="a")
    b = tf.FIFOQueue(15, [tf.float32], name="b")
    puts = [a.enqueue(10.0), b.enqueue(20.0)]
    i = tf.placeholder(tf.int32, [])
    q = tf.QueueBase.from_list(i, [a, b])
    get = q.dequeue()
    with tf.Session() as sess:
        sess.run(puts)
        return sess.run(get, {i: 1}), sess.run(get, {i: 0}), sess.run(q.size(), {i: 0})


def select_names(tf):
    a = tf.FIFOQueue(10, [tf.float32], name="a")
    b = tf.RandomShuffleQueue(15, 0, [tf.float32], name="b")
    q = tf.QueueBase.from_list(tf.constant(1), [a, b])
    q.enqueue(1.0)
    q.dequeue()
    return q.name, type(q).__name__, nodes(tf)


def select_shapes(tf):
    def q(*shapes):
        return tf.FIFOQueue(10, [tf.int32] * len(shapes), shapes=list(shapes) or None) if shapes else tf.FIFOQueue(10, [tf.int32])

    def of(*queues):
        return [str(s) for s in tf.QueueBase.from_list(0, list(queues)).shapes]

    return of(q([2]), q([2])), of(q([2]), q([3])), of(q([2]), q([2, 2])), of(q([2], []), q([3], [])), of(q(), q([2]))


def select_static(tf):
    a = tf.FIFOQueue(10, [tf.int32], shapes=[[2, 3]])
    b = tf.FIFOQueue(10, [tf.int32], shapes=[[2, 4]])
    q = tf.QueueBase.from_list(0, [a, b])
    return static(q.dequeue(), q.dequeue_many(5), q.dequeue_up_to(5))


def select_with_names(tf):
    a = tf.FIFOQueue(10, [tf.float32, tf.int32], names=["f", "i"])
    b = tf.FIFOQueue(10, [tf.float32, tf.int32], names=["f", "i"])
    q = tf.QueueBase.from_list(1, [a, b])
    put, get = q.enqueue({"f": 1.0, "i": 2}), b.dequeue()
    with tf.Session() as sess:
        sess.run(put)
        return q.names, sess.run(get)


def select_refusals(tf):
    a, b = tf.FIFOQueue(10, [tf.float32]), tf.FIFOQueue(10, [tf.int32])
    c, d = tf.FIFOQueue(10, [tf.float32], names=["x"]), tf.FIFOQueue(10, [tf.float32], names=["y"])
    e = tf.FIFOQueue(10, [tf.float32, tf.float32])
    return (
        caught(lambda: tf.QueueBase.from_list(0, [a, b]), WHOLE),
        caught(lambda: tf.QueueBase.from_list(0, [a, e]), WHOLE),
        caught(lambda: tf.QueueBase.from_list(0, [c, d]), WHOLE),
        caught(lambda: tf.QueueBase.from_list(0, []), WHOLE),
        caught(lambda: tf.QueueBase.from_list(0, (a, a)), WHOLE),
        caught(lambda: tf.QueueBase.from_list(0, [a, "b"]), WHOLE),
        caught(lambda: tf.QueueBase.from_list(0, None), WHOLE),
    )


def select_outside(tf):
    a = tf.FIFOQueue(10, [tf.float32])
    i = tf.placeholder(tf.int32, [])
    q = tf.QueueBase.from_list(i, [a])
    size = q.size()
    with tf.Session() as sess:
        return caught(lambda: sess.run(size, {i: 3}))


def _pair(tf, *makes):
    """Returns the session's error for a second queue with the shared name of an existing one."""
    qs = [make() for make in makes]
    sizes = [q.size() for q in qs]
    with tf.Session() as sess:
        sess.run(sizes[0])
        return [caught(lambda: sess.run(size), WHOLE) for size in sizes[1:]]


def shared_fifo_mismatch(tf):
    return _pair(
        tf,
        lambda: tf.FIFOQueue(10, [tf.float32], shared_name="a", name="n0"),
        lambda: tf.FIFOQueue(15, [tf.float32], shared_name="a", name="n1"),
        lambda: tf.FIFOQueue(10, [tf.int32], shared_name="a", name="n2"),
        lambda: tf.FIFOQueue(10, [tf.float32, tf.float32], shared_name="a", name="n3"),
        lambda: tf.FIFOQueue(10, [tf.float32], shapes=[[]], shared_name="a", name="n4"),
    )


def shared_fifo_shapes_mismatch(tf):
    return _pair(
        tf,
        lambda: tf.FIFOQueue(10, [tf.float32], shapes=[[1, 1, 2, 3]], shared_name="b", name="n0"),
        lambda: tf.FIFOQueue(10, [tf.float32], shared_name="b", name="n1"),
        lambda: tf.FIFOQueue(10, [tf.float32], shapes=[[1, 1, 2, 4]], shared_name="b", name="n2"),
    )


def shared_kinds_mismatch(tf):
    return _pair(
        tf,
        lambda: tf.FIFOQueue(10, [tf.float32], shapes=[[]], shared_name="c", name="n0"),
        lambda: tf.RandomShuffleQueue(10, 5, [tf.float32], shapes=[[]], shared_name="c", name="n1"),
        lambda: tf.PaddingFIFOQueue(10, [tf.float32], shapes=[[]], shared_name="c", name="n2"),
        lambda: tf.PriorityQueue(10, [tf.float32], shapes=[[]], shared_name="c", name="n3"),
    )


def shared_shuffle_mismatch(tf):
    return _pair(
        tf,
        lambda: tf.RandomShuffleQueue(10, 5, [tf.float32], shared_name="d", seed=1, name="n0"),
        lambda: tf.RandomShuffleQueue(15, 5, [tf.float32], shared_name="d", seed=1, name="n1"),
        lambda: tf.RandomShuffleQueue(10, 3, [tf.float32], shared_name="d", seed=1, name="n2"),
        lambda: tf.RandomShuffleQueue(10, 5, [tf.int32], shared_name="d", seed=1, name="n3"),
        lambda: tf.RandomShuffleQueue(10, 5, [tf.float32], shapes=[[2]], shared_name="d", seed=1, name="n4"),
        lambda: tf.RandomShuffleQueue(10, 5, [tf.float32], shared_name="d", seed=2, name="n5"),
    )


def shared_padding_mismatch(tf):
    return _pair(
        tf,
        lambda: tf.PaddingFIFOQueue(10, [tf.float32], ((None,),), shared_name="e", name="n0"),
        lambda: tf.PaddingFIFOQueue(15, [tf.float32], ((None,),), shared_name="e", name="n1"),
        lambda: tf.PaddingFIFOQueue(10, [tf.int32], ((None,),), shared_name="e", name="n2"),
        lambda: tf.PaddingFIFOQueue(10, [tf.float32], ((2,),), shared_name="e", name="n3"),
        lambda: tf.PaddingFIFOQueue(10, [tf.float32], ((None, 2),), shared_name="e", name="n4"),
    )


def shared_priority_mismatch(tf):
    return _pair(
        tf,
        lambda: tf.PriorityQueue(10, [tf.float32], ((),), shared_name="f", name="n0"),
        lambda: tf.PriorityQueue(15, [tf.float32], ((),), shared_name="f", name="n1"),
        lambda: tf.PriorityQueue(10, [tf.int32], ((),), shared_name="f", name="n2"),
    )


def shared_among_kinds_of_elements(tf):
    a = tf.FIFOQueue(1, [tf.float32], shared_name="shared", name="a")
    b = tf.FIFOQueue(1, [tf.float32], shared_name="shared", name="b")
    put, get, sizes = a.enqueue(1.0), b.dequeue(), [a.size(), b.size()]
    with tf.Session() as sess:
        before = sess.run(sizes)
        sess.run(put)
        between = sess.run(sizes)
        return before, between, sess.run(get), sess.run(sizes)


def shared_random_seed_from_name(tf):
    tf.set_random_seed(5)
    a = tf.RandomShuffleQueue(3, 0, [tf.int32], shared_name="abc", name="a")
    b = tf.RandomShuffleQueue(3, 0, [tf.int32], shared_name="abc", name="b")
    same = [a.queue_ref.op.get_attr(k) == b.queue_ref.op.get_attr(k) for k in ("seed", "seed2")]
    c = tf.RandomShuffleQueue(3, 0, [tf.int32], shared_name="abc", seed=3, name="c")
    return same, [(q.queue_ref.op.get_attr("seed"), q.queue_ref.op.get_attr("seed2")) for q in (a, b, c)]


def same_name_in_two_sessions(tf):
    q = tf.FIFOQueue(3, [tf.int32], shared_name="own")
    put, size = q.enqueue(1), q.size()
    with tf.Session() as a, tf.Session() as b:
        a.run(put)
        a.run(put)
        b.run(put)
        return a.run(size), b.run(size)


def reset_forgets(tf):
    q = tf.FIFOQueue(3, [tf.int32])
    put, size = q.enqueue(1), q.size()
    with tf.Session() as sess:
        sess.run(put)
    with tf.Session() as sess:
        return sess.run(size)


def containers(tf):
    with tf.Graph().as_default() as g:
        with g.container("test"):
            q = tf.FIFOQueue(10, [tf.float32])
        p = tf.RandomShuffleQueue(10, 0, [tf.float32])
        return q.queue_ref.op.get_attr("container"), p.queue_ref.op.get_attr("container")


def raw_queue(tf):
    handle = tf.raw_ops.FIFOQueueV2(component_types=[tf.int32, tf.string], shapes=[[], []], capacity=4, container="", shared_name="", name="q")
    put = tf.raw_ops.QueueEnqueueV2(handle=handle, components=[tf.constant(1), tf.constant("a")], timeout_ms=-1)
    many = tf.raw_ops.QueueEnqueueManyV2(handle=handle, components=[tf.constant([2, 3]), tf.constant(["b", "c"])])
    one = tf.raw_ops.QueueDequeueV2(handle=handle, component_types=[tf.int32, tf.string])
    two = tf.raw_ops.QueueDequeueManyV2(handle=handle, n=2, component_types=[tf.int32, tf.string])
    with tf.Session() as sess:
        sess.run(put)
        sess.run(many)
        return handle.dtype.name, static(*one), static(*two), sess.run(one), sess.run(two), sess.run(tf.raw_ops.QueueSizeV2(handle=handle))


def raw_timeout(tf):
    handle = tf.raw_ops.FIFOQueueV2(component_types=[tf.int32], name="q")
    get = tf.raw_ops.QueueDequeueV2(handle=handle, component_types=[tf.int32], timeout_ms=10)
    with tf.Session() as sess:
        return caught(lambda: sess.run(get), WHOLE)


def raw_dequeue_of_other_types(tf):
    handle = tf.raw_ops.FIFOQueueV2(component_types=[tf.int32], name="q")
    put = tf.raw_ops.QueueEnqueueV2(handle=handle, components=[tf.constant(1.0)])
    get = tf.raw_ops.QueueDequeueV2(handle=handle, component_types=[tf.float32])
    two = tf.raw_ops.QueueDequeueV2(handle=handle, component_types=[tf.int32, tf.int32])
    with tf.Session() as sess:
        return caught(lambda: sess.run(put), WHOLE), caught(lambda: sess.run(get), WHOLE), caught(lambda: sess.run(two), WHOLE)


def graph_round_trip(tf):
    with tf.Graph().as_default() as g:
        q = tf.PaddingFIFOQueue(3, [tf.int32], [[None]], name="q")
        q.enqueue([[1, 2]], name="put")
        q.dequeue_many(2, name="get")
        d = g.as_graph_def()
    tf.import_graph_def(d, name="in")
    g = tf.get_default_graph()
    put, get = g.get_operation_by_name("in/put"), g.get_tensor_by_name("in/get:0")
    with tf.Session() as sess:
        sess.run(put)
        sess.run(put)
        return static(get), sess.run(get)
