"""Construction of queues: node attributes, properties, errors."""

import numpy as np

from programs.tools import WHOLE, caught, nodes, run, static


def _def(q):
    """Returns the node of a queue."""
    d = q.queue_ref.op.node_def
    return d.name, d.op, list(d.input), sorted((k, str(v)) for k, v in d.attr.items())


def fifo_node(tf):
    return _def(tf.FIFOQueue(10, tf.float32, name="Q"))


def fifo_node_of_several(tf):
    return _def(tf.FIFOQueue(5, (tf.int32, tf.float32), shared_name="foo", name="Q"))


def fifo_node_with_shapes(tf):
    shapes = (tf.TensorShape([1, 1, 2, 3]), tf.TensorShape([5, 8]))
    return _def(tf.FIFOQueue(5, (tf.int32, tf.float32), shapes=shapes, shared_name="foo", name="Q"))


def fifo_node_with_scalar_shapes(tf):
    return _def(tf.FIFOQueue(5, [tf.string, tf.bool], shapes=[[], ()], name="Q"))


def padding_node(tf):
    return _def(tf.PaddingFIFOQueue(10, tf.float32, ((None,),), name="Q"))


def padding_node_of_several(tf):
    return _def(tf.PaddingFIFOQueue(5, (tf.int32, tf.float32), ((), (2, None)), shared_name="foo", name="Q"))


def shuffle_node(tf):
    return _def(tf.RandomShuffleQueue(10, 5, tf.float32, seed=3, name="Q"))


def shuffle_node_without_seed(tf):
    q = tf.RandomShuffleQueue(10, 5, [tf.float32, tf.int32], shapes=[[], [1]], name="Q")
    return _def(q)


def shuffle_node_with_graph_seed(tf):
    tf.set_random_seed(9)
    a = tf.RandomShuffleQueue(10, 5, tf.float32, name="a")
    b = tf.RandomShuffleQueue(10, 5, tf.float32, seed=4, name="b")
    return [(q.queue_ref.op.get_attr("seed"), q.queue_ref.op.get_attr("seed2")) for q in (a, b)]


def priority_node(tf):
    return _def(tf.PriorityQueue(10, (tf.float32, tf.string), ((), ()), name="Q"))


def priority_node_without_shapes(tf):
    return caught(lambda: tf.PriorityQueue(10, tf.float32, name="Q"), WHOLE), _def(tf.PriorityQueue(10, tf.float32, shapes=(), name="P"))


def _says(q):
    shapes = q.shapes
    return [d.name for d in q.dtypes], None if shapes is None else [str(s) for s in shapes], q.names, q.name, type(q.queue_ref).__name__


def fifo_says(tf):
    return [
        _says(tf.FIFOQueue(1, tf.int32)),
        _says(tf.FIFOQueue(1, [tf.int32])),
        _says(tf.FIFOQueue(1, tf.float32, shapes=[])),
        _says(tf.FIFOQueue(1, [tf.int32, tf.float64], shapes=[[2], (3, 4)], names=["a", "b"])),
        _says(tf.FIFOQueue(1, (tf.int64, tf.bool), [(), ()], ["x", "y"])),
    ]


def padding_says(tf):
    return [
        _says(tf.PaddingFIFOQueue(1, tf.int32, [[None]])),
        _says(tf.PaddingFIFOQueue(1, [tf.int32, tf.string], [(), (None, 2)], names=["a", "b"], name="p")),
    ]


def shuffle_says(tf):
    return [
        _says(tf.RandomShuffleQueue(2, 1, tf.int32)),
        _says(tf.RandomShuffleQueue(2, 0, [tf.int32, tf.int32], [[], [1]], names=["a", "b"], name="r")),
    ]


def priority_says(tf):
    q = tf.PriorityQueue(2, [tf.int32], [[]])
    p = tf.PriorityQueue(2, tf.int32, ())
    return [d.name for d in q.dtypes], [str(s) for s in q.shapes], q.names, q.name, [d.name for d in p.dtypes], p.shapes is None or [str(s) for s in p.shapes]


def names_in_scopes(tf):
    with tf.name_scope("outer"):
        a = tf.FIFOQueue(1, [tf.int32])
        b = tf.FIFOQueue(1, [tf.int32])
        ops = [a.enqueue(1), b.enqueue(1), b.enqueue(1, name="mine"), b.dequeue().op, b.size().op, b.close(), b.is_closed().op]
    return a.name, b.name, [o.name for o in ops]


def names_of_operations_given(tf):
    q = tf.FIFOQueue(3, [tf.int32], [[]], name="q")
    made = [q.enqueue(1, name="a"), q.enqueue_many([[1]], name="b"), q.dequeue(name="c").op, q.dequeue_many(1, name="d").op, q.dequeue_up_to(1, name="e").op]
    made += [q.size(name="f").op, q.close(name="g"), q.is_closed(name="h").op]
    return [o.name for o in made], nodes(tf)


def names_of_all_kinds(tf):
    kinds = [
        tf.FIFOQueue(1, tf.int32),
        tf.PaddingFIFOQueue(1, tf.int32, [[]]),
        tf.RandomShuffleQueue(1, 0, tf.int32),
        tf.PriorityQueue(1, tf.int32, ()),
    ]
    return [q.name for q in kinds], [q.enqueue([0] * len(q.dtypes)).name for q in kinds], [o.op.name if hasattr(o, "op") else o[0].op.name for o in (q.dequeue() for q in kinds)]


def enqueue_returns_an_operation(tf):
    q = tf.FIFOQueue(3, [tf.int32], [[]])
    return [type(v).__name__ for v in (q.enqueue(1), q.enqueue_many([[1]]), q.close(), q.size(), q.is_closed(), q.dequeue())]


def what_dequeue_returns(tf):
    one = tf.FIFOQueue(3, [tf.int32], [[]])
    two = tf.FIFOQueue(3, [tf.int32, tf.int32], [[], []])
    named = tf.FIFOQueue(3, [tf.int32], [[]], names=["a"])
    return [type(v).__name__ for q in (one, two, named) for v in (q.dequeue(), q.dequeue_many(1), q.dequeue_up_to(1))]


def size_and_closed_are(tf):
    q = tf.FIFOQueue(3, [tf.int32])
    return static(q.size(), q.is_closed())


def control_dependencies_and_devices(tf):
    c = tf.constant(1, name="c")
    with tf.control_dependencies([c]):
        q = tf.FIFOQueue(3, [tf.int32])
        p = tf.PaddingFIFOQueue(3, [tf.int32], [[]])
        put = q.enqueue(2)
    return [o.name for o in q.queue_ref.op.control_inputs], [o.name for o in p.queue_ref.op.control_inputs], [o.name for o in put.control_inputs]


def queue_made_in_a_while_loop(tf):
    made = []

    def body(i):
        made.append(tf.FIFOQueue(3, [tf.int32], name="inner"))
        return i + 1

    tf.while_loop(lambda i: i < 2, body, [0])
    op = made[0].queue_ref.op
    return op.name, [o.name for o in op.control_inputs]


def wrong_capacity(tf):
    return caught(lambda: tf.FIFOQueue("a", tf.int32), WHOLE), caught(lambda: tf.FIFOQueue(1.5, tf.int32), WHOLE), caught(lambda: tf.FIFOQueue(None, tf.int32), WHOLE)


def wrong_dtypes(tf):
    return caught(lambda: tf.FIFOQueue(1, [int]), WHOLE), caught(lambda: tf.FIFOQueue(1, "nothing"), WHOLE), caught(lambda: tf.FIFOQueue(1, []), WHOLE)


def wrong_shapes(tf):
    return (
        caught(lambda: tf.FIFOQueue(1, [tf.int32], shapes=[[None]]), WHOLE),
        caught(lambda: tf.FIFOQueue(1, [tf.int32, tf.int32], shapes=[[]]), WHOLE),
        caught(lambda: tf.FIFOQueue(1, [tf.int32], shapes=[[], []]), WHOLE),
        caught(lambda: tf.FIFOQueue(1, [tf.int32], shapes=[tf.TensorShape(None)]), WHOLE),
    )


def wrong_names(tf):
    return (
        caught(lambda: tf.FIFOQueue(1, [tf.int32], names=["a", "b"]), WHOLE),
        caught(lambda: tf.FIFOQueue(1, [tf.int32, tf.int32], names=["a"]), WHOLE),
        caught(lambda: tf.FIFOQueue(1, [tf.int32, tf.int32], names=["a", "a"]), WHOLE),
        caught(lambda: tf.FIFOQueue(1, [tf.int32, tf.int32], names="a"), WHOLE),
    )


def wrong_shapes_for_padding(tf):
    return (
        caught(lambda: tf.PaddingFIFOQueue(1, [tf.int32, tf.int32], [[]]), WHOLE),
        caught(lambda: tf.PaddingFIFOQueue(1, [tf.int32], None), WHOLE),
        caught(lambda: tf.PaddingFIFOQueue(1, [tf.int32], []), WHOLE),
        caught(lambda: tf.PaddingFIFOQueue(1, [tf.int32]), WHOLE),
    )


def no_common_constructor(tf):
    return caught(lambda: tf.PriorityQueue(1), WHOLE), caught(lambda: tf.RandomShuffleQueue(1, 0), WHOLE)


def enqueue_refusals(tf):
    q = tf.FIFOQueue(1, [tf.int32, tf.float32], name="q")
    return (
        caught(lambda: q.enqueue((1,)), WHOLE),
        caught(lambda: q.enqueue((1, 2.0, 3)), WHOLE),
        caught(lambda: q.enqueue(("a", 2.0)), WHOLE),
        caught(lambda: q.enqueue((1, "b")), WHOLE),
        caught(lambda: q.enqueue((None, 1.0)), WHOLE),
        caught(lambda: q.enqueue(()), WHOLE),
    )


def enqueue_refusals_with_names(tf):
    q = tf.FIFOQueue(5, [tf.float32, tf.int32], names=["f", "i"], shapes=[[], []], name="q")
    return (
        caught(lambda: q.enqueue((10.0, 12)), WHOLE),
        caught(lambda: q.enqueue({"x": 12}), WHOLE),
        caught(lambda: q.enqueue({"f": 10.0, "i": 12, "s": "aa"}), WHOLE),
        caught(lambda: q.enqueue({"f": 10.0}), WHOLE),
        caught(lambda: q.enqueue_many([[10.0], [12]]), WHOLE),
        caught(lambda: q.enqueue_many({"f": [10.0]}), WHOLE),
        caught(lambda: tf.FIFOQueue(5, [tf.float32]).enqueue({"f": 1.0}), WHOLE),
        caught(lambda: tf.FIFOQueue(5, [tf.float32]).enqueue_many({"f": [1.0]}), WHOLE),
    )


def enqueue_of_another_shape(tf):
    q = tf.FIFOQueue(5, [tf.int32, tf.int32], shapes=[[2], []], name="q")
    return (
        caught(lambda: q.enqueue(([1, 2, 3], 1)), WHOLE),
        caught(lambda: q.enqueue(([[1, 2]], 1)), WHOLE),
        caught(lambda: q.enqueue(([1, 2], [1])), WHOLE),
        caught(lambda: q.enqueue_many(([[1, 2, 3]], [1])), WHOLE),
        caught(lambda: q.enqueue_many(([1, 2], [1])), WHOLE),
        caught(lambda: q.enqueue_many(([[1, 2]], 1)), WHOLE),
        caught(lambda: q.enqueue_many(([[1, 2]], [1, 2])), WHOLE),
    )


def enqueue_of_another_shape_padded(tf):
    q = tf.PaddingFIFOQueue(5, [tf.int32], shapes=[[None, 2]], name="q")
    return caught(lambda: q.enqueue([[[1, 2, 3]]]), WHOLE), caught(lambda: q.enqueue([[1, 2]]), WHOLE), caught(lambda: q.enqueue_many([[[1, 2]]]), WHOLE)


def enqueue_kinds_of_values(tf):
    q = tf.FIFOQueue(9, [tf.int32], [[2]])
    puts = [q.enqueue([[1, 2]]), q.enqueue(([3, 4],)), q.enqueue([np.array([5, 6])]), q.enqueue(tf.constant([7, 8])), q.enqueue([tf.constant([9, 10])])]
    get = q.dequeue_many(5)
    with tf.Session() as sess:
        for put in puts:
            sess.run(put)
        return sess.run(get)


def enqueue_of_a_variable(tf):
    v, r = tf.Variable(5), tf.Variable(6, use_resource=True)
    q = tf.FIFOQueue(9, [tf.int32], [[]])
    put, other, get = q.enqueue(v), q.enqueue([r]), q.dequeue_many(2)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(put)
        sess.run(other)
        return sess.run(get)
