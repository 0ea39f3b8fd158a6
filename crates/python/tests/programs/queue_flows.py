"""Elements of queues: all dtypes, static and dynamic shapes, counts, padding, order."""

import numpy as np

from programs.tools import WHOLE, caught, nodes, rows, run, static

_KINDS = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128 string"


def _values(kind, shape):
    """Returns a value of this dtype."""
    n = np.arange(int(np.prod(shape))).reshape(shape)
    if kind == "string":
        return np.array([b"s%d" % v for v in n.ravel()], object).reshape(shape)
    return (n % 2 == 0) if kind == "bool" else n.astype(kind)


def _through(tf, q, puts, gets, feeds=None):
    with tf.Session() as sess:
        for put in puts:
            sess.run(put, feeds)
        return [sess.run(get) for get in gets]


def every_dtype(tf):
    out = []
    for kind in _KINDS.split():
        q = tf.FIFOQueue(10, [tf.as_dtype(kind)], name=kind)
        x = tf.placeholder(kind)
        put, get = q.enqueue([x]), q.dequeue()
        out.append(_through(tf, q, [put], [get], {x: _values(kind, (2, 3))}))
    return out


def every_dtype_by_many(tf):
    out = []
    for kind in _KINDS.split():
        q = tf.FIFOQueue(10, [tf.as_dtype(kind)], shapes=[[2]], name=kind)
        x = tf.placeholder(kind, [None, 2])
        put, get = q.enqueue_many([x]), q.dequeue_many(3)
        out.append(_through(tf, q, [put], [get], {x: _values(kind, (3, 2))}))
    return out


def every_dtype_padded(tf):
    out = []
    # TensorFlow cannot pad uint32 and uint64.
    for kind in _KINDS.replace("uint32 uint64 ", "").split():
        q = tf.PaddingFIFOQueue(10, [tf.as_dtype(kind)], shapes=[[None]], name=kind)
        x = tf.placeholder(kind, [None])
        put, get = q.enqueue([x]), q.dequeue_many(2)
        with tf.Session() as sess:
            sess.run(put, {x: _values(kind, (1,))})
            sess.run(put, {x: _values(kind, (3,))})
            out.append(sess.run(get))
    return out


def every_dtype_shuffled(tf):
    out = []
    for kind in _KINDS.split():
        q = tf.RandomShuffleQueue(10, 0, [tf.as_dtype(kind)], shapes=[[]], name=kind)
        x = tf.placeholder(kind, [None])
        put, get = q.enqueue_many([x]), q.dequeue_many(4)
        with tf.Session() as sess:
            sess.run(put, {x: _values(kind, (4,))})
            out.append(sorted(sess.run(get).tolist(), key=str))
    return out


def elements_of_different_shapes(tf):
    q = tf.FIFOQueue(10, [tf.int32])
    x = tf.placeholder(tf.int32)
    put, get = q.enqueue(x), q.dequeue()
    with tf.Session() as sess:
        for v in (3, [1, 2], [[1], [2]], np.zeros([0, 4], np.int32)):
            sess.run(put, {x: v})
        return static(get), [sess.run(get) for _ in range(4)]


def many_of_different_shapes(tf):
    q = tf.FIFOQueue(10, [tf.int32])
    x = tf.placeholder(tf.int32)
    put, get = q.enqueue_many([x]), q.dequeue()
    with tf.Session() as sess:
        sess.run(put, {x: [[1, 2], [3, 4]]})
        sess.run(put, {x: [5, 6]})
        return [sess.run(get) for _ in range(4)]


def zero_sized(tf):
    q = tf.FIFOQueue(10, [tf.float32], shapes=[[0]])
    put, many = q.enqueue([tf.zeros([0])]), q.enqueue_many([tf.zeros([5, 0])])
    get = q.dequeue_many(2)
    with tf.Session() as sess:
        sess.run(put)
        sess.run(many)
        return sess.run(get), sess.run(q.size())


def many_of_nothing(tf):
    q = tf.FIFOQueue(10, [tf.float32], shapes=[[2, 3]])
    put = q.enqueue_many([tf.zeros([0, 2, 3])])
    get = q.dequeue_many(0)
    with tf.Session() as sess:
        sess.run(put)
        return sess.run(get), sess.run(q.size())


def many_of_nothing_without_shapes(tf):
    q = tf.FIFOQueue(10, [tf.float32])
    x = tf.placeholder(tf.float32)
    put, get = q.enqueue_many([x]), q.dequeue_many(0)
    with tf.Session() as sess:
        sess.run(put, {x: np.zeros([0], np.float32)})
        return sess.run(q.size()), caught(lambda: sess.run(get), WHOLE)


def up_to_without_shapes(tf):
    q = tf.FIFOQueue(10, [tf.float32])
    put, get = q.enqueue(1.0), q.dequeue_up_to(1)
    with tf.Session() as sess:
        sess.run(put)
        return caught(lambda: sess.run(get), WHOLE)


def negative_numbers(tf):
    q = tf.FIFOQueue(10, [tf.float32], shapes=[[]])
    n = tf.placeholder(tf.int32, [])
    get, upto = q.dequeue_many(n), q.dequeue_up_to(n)
    with tf.Session() as sess:
        return caught(lambda: sess.run(get, {n: -1}), WHOLE), caught(lambda: sess.run(upto, {n: -3}), WHOLE)


def many_of_a_scalar(tf):
    q = tf.FIFOQueue(10, [tf.float32], shapes=[[]])
    x = tf.placeholder(tf.float32)
    put = q.enqueue_many([x])
    with tf.Session() as sess:
        # TensorFlow's message contains an uninitialized number.
        return caught(lambda: sess.run(put, {x: 1.0}))


def another_shape_when_run(tf):
    q = tf.FIFOQueue(10, [tf.int32, tf.int32], shapes=[[2], [3, 3]], name="q")
    a, b = tf.placeholder(tf.int32), tf.placeholder(tf.int32)
    one, many = q.enqueue([a, b]), q.enqueue_many([a, b])
    with tf.Session() as sess:
        return (
            caught(lambda: sess.run(one, {a: [1, 2], b: np.ones([3, 5], np.int32)}), WHOLE),
            caught(lambda: sess.run(one, {a: 7, b: np.ones([3, 3], np.int32)}), WHOLE),
            caught(lambda: sess.run(many, {a: [[1, 2, 3]], b: np.ones([1, 3, 3], np.int32)}), WHOLE),
            caught(lambda: sess.run(many, {a: [[1, 2]] * 5, b: np.ones([3, 3, 3], np.int32)}), WHOLE),
            caught(lambda: sess.run(many, {a: np.ones([2, 2, 1], np.int32), b: np.ones([2, 3, 3], np.int32)}), WHOLE),
        )


def another_shape_when_run_padded(tf):
    q = tf.PaddingFIFOQueue(10, [tf.int32, tf.int32], shapes=[[None], [3, None]], name="q")
    a, b = tf.placeholder(tf.int32), tf.placeholder(tf.int32)
    one, many = q.enqueue([a, b]), q.enqueue_many([a, b])
    with tf.Session() as sess:
        return (
            caught(lambda: sess.run(one, {a: [1, 2], b: np.ones([2, 5], np.int32)}), WHOLE),
            caught(lambda: sess.run(one, {a: 1, b: np.ones([3, 5], np.int32)}), WHOLE),
            caught(lambda: sess.run(many, {a: [[1, 2]] * 5, b: np.ones([5, 2, 3], np.int32)}), WHOLE),
            caught(lambda: sess.run(many, {a: [[1, 2]] * 4, b: np.ones([5, 3, 3], np.int32)}), WHOLE),
        )


def another_shape_when_run_shuffled(tf):
    q = tf.RandomShuffleQueue(10, 0, [tf.int32], shapes=[[2]], name="q")
    a = tf.placeholder(tf.int32)
    one, many = q.enqueue([a]), q.enqueue_many([a])
    with tf.Session() as sess:
        return caught(lambda: sess.run(one, {a: [1]}), WHOLE), caught(lambda: sess.run(many, {a: [[1]]}), WHOLE)


def static_shapes_of_dequeue_many(tf):
    q = tf.FIFOQueue(10, [tf.int32, tf.float32], shapes=[[], [2]])
    c = tf.constant(3)
    v = tf.Variable(2)
    return static(*[t for n in (0, 5, c, c + 1, v) for t in q.dequeue_many(n)])


def static_shapes_without_shapes(tf):
    q = tf.FIFOQueue(10, [tf.int32])
    return static(q.dequeue(), q.dequeue_many(4), q.dequeue_up_to(4))


def static_shapes_padded(tf):
    q = tf.PaddingFIFOQueue(10, [tf.int32, tf.int32], shapes=[[None, 2], []])
    return static(*(q.dequeue() + q.dequeue_many(4) + q.dequeue_up_to(4)))


def static_shapes_of_a_priority_queue(tf):
    q = tf.PriorityQueue(10, [tf.string, tf.float32], [[], [2]])
    return static(*(q.dequeue() + q.dequeue_many(4) + q.dequeue_up_to(4)))


def padded_in_two_dimensions(tf):
    q = tf.PaddingFIFOQueue(10, [tf.int32], shapes=[[None, None]])
    x = tf.placeholder(tf.int32, [None, None])
    put, get = q.enqueue(x), q.dequeue_many(3)
    with tf.Session() as sess:
        for shape in ((1, 3), (2, 1), (0, 4)):
            sess.run(put, {x: np.ones(shape, np.int32)})
        return sess.run(get)


def padded_strings(tf):
    q = tf.PaddingFIFOQueue(10, [tf.string], shapes=[[None]])
    x = tf.placeholder(tf.string, [None])
    put, get = q.enqueue(x), q.dequeue_many(2)
    with tf.Session() as sess:
        sess.run(put, {x: ["a", "b"]})
        sess.run(put, {x: ["c"]})
        return sess.run(get)


def padded_many_at_once(tf):
    q = tf.PaddingFIFOQueue(10, [tf.int32, tf.int32], shapes=[[None], []])
    put, get = q.enqueue_many([[[1, 2], [3, 4]], [5, 6]]), q.dequeue_many(2)
    return _through(tf, q, [put], [get])


def padded_all_empty(tf):
    q = tf.PaddingFIFOQueue(10, [tf.int32], shapes=[[None]])
    put, get = q.enqueue([tf.zeros([0], tf.int32)]), q.dequeue_many(2)
    return _through(tf, q, [put, put], [get])


def padded_fully_known(tf):
    q = tf.PaddingFIFOQueue(10, [tf.int32], shapes=[[2]])
    put, get = q.enqueue([[1, 2]]), q.dequeue_many(2)
    return static(get), _through(tf, q, [put, put], [get])


def padded_up_to_less(tf):
    q = tf.PaddingFIFOQueue(10, [tf.int32], shapes=[[None]])
    put, close, get = q.enqueue_many([[[1, 2], [3, 4], [5, 6]]]), q.close(), q.dequeue_up_to(2)
    return _through(tf, q, [put, close], [get, get])


def in_order_however_taken(tf):
    q = tf.FIFOQueue(20, [tf.int32], shapes=[[]])
    put, one, two, upto = q.enqueue_many([list(range(10))]), q.dequeue(), q.dequeue_many(2), q.dequeue_up_to(3)
    return _through(tf, q, [put], [one, two, upto, one, two])


def named_through(tf):
    q = tf.FIFOQueue(5, [tf.int32, tf.string], shapes=[[], []], names=["i", "s"])
    put = q.enqueue({"s": "a", "i": 1})
    many = q.enqueue_many({"i": [2, 3], "s": ["b", "c"]})
    return _through(tf, q, [put, many], [q.dequeue(), q.dequeue_up_to(1), q.dequeue_many(1)])


def named_padded(tf):
    q = tf.PaddingFIFOQueue(5, [tf.int32, tf.string], shapes=[[None], []], names=("i", "s"))
    puts = [q.enqueue({"s": "a", "i": [1]}), q.enqueue({"s": "b", "i": [1, 2]})]
    return _through(tf, q, puts, [q.dequeue_many(2)])


def named_shuffled(tf):
    q = tf.RandomShuffleQueue(5, 0, [tf.int32, tf.string], shapes=[[], []], names=["i", "s"])
    put = q.enqueue({"s": "a", "i": 1})
    return _through(tf, q, [put], [q.dequeue()])


def named_priorities(tf):
    q = tf.PriorityQueue(5, [tf.string], [[]], names=["p", "s"])
    puts = [q.enqueue({"p": p, "s": s}) for p, s in ((3, "c"), (1, "a"), (2, "b"))]
    return _through(tf, q, puts, [q.dequeue(), q.dequeue_many(2)])


def scalars_through_large(tf):
    q = tf.FIFOQueue(100000, [tf.int64], shapes=[[]])
    put, get = q.enqueue_many([tf.range(50000, dtype=tf.int64)]), q.dequeue_many(50000)
    with tf.Session() as sess:
        sess.run(put)
        values = sess.run(get)
        return int(values.sum()), values[:3], values[-1]


def big_elements(tf):
    q = tf.FIFOQueue(3, [tf.float32])
    put, get = q.enqueue(tf.ones([300, 1000]) * 2.0), tf.reduce_sum(q.dequeue())
    return _through(tf, q, [put, put], [get, get])


def no_gradient_through(tf):
    q = tf.FIFOQueue(3, [tf.float32], [[]])
    x = tf.constant(2.0)
    put = q.enqueue(x)
    with tf.control_dependencies([put]):
        y = q.dequeue() * 3.0
    return tf.gradients(y, x), run(tf, y)


def gradient_past_a_dequeue(tf):
    q = tf.FIFOQueue(3, [tf.float32], [[]])
    w = tf.Variable(2.0)
    d = q.dequeue()
    y = d * w
    g = tf.gradients(y, [w, d])
    put = q.enqueue(5.0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(put)
        return sess.run(g)


def fetched_twice_in_a_step(tf):
    q = tf.FIFOQueue(3, [tf.int32], [[]])
    put, get = q.enqueue_many([[1, 2, 3]]), q.dequeue()
    with tf.Session() as sess:
        sess.run(put)
        return sess.run([get, get, get + 0, q.size()])[:3]


def size_counts(tf):
    q = tf.FIFOQueue(5, [tf.int32], [[]])
    put, get, size = q.enqueue_many([[1, 2]]), q.dequeue(), q.size()
    with tf.Session() as sess:
        out = [sess.run(size)]
        for op in (put, get, put, get, get):
            sess.run(op)
            out.append(sess.run(size))
        return out
