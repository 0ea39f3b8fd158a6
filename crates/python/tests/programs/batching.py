"""`train.batch` and its seven variants, the input producers, `limit_epochs`."""

import numpy as np

from programs.tools import caught, initialize, nodes, rows, run, static


def _pump(tf, fetches, times=100):
    """Returns the values of the fetches until the input ends, with queue runners started."""
    out = []
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        initialize(tf, sess)
        threads = tf.train.start_queue_runners(sess, coord)
        try:
            for _ in range(times):
                out.append(sess.run(fetches))
        except tf.errors.OutOfRangeError:
            pass
        coord.request_stop()
        coord.join(threads)
    return out


def _numbers(tf, n=5, **kwargs):
    return tf.train.range_input_producer(n, num_epochs=1, shuffle=False, **kwargs).dequeue()


def batch(tf):
    b = tf.train.batch([_numbers(tf)], 2)
    return static(b), _pump(tf, b)


def batch_with_a_smaller_final(tf):
    b = tf.train.batch([_numbers(tf)], 2, allow_smaller_final_batch=True)
    return static(b), _pump(tf, b)


def batch_of_several(tf):
    n = _numbers(tf)
    b = tf.train.batch([n, tf.cast(n, tf.float32) * 2.0, tf.as_string(n)], 5)
    return type(b).__name__, static(*b), [x.tolist() for x in _pump(tf, b)[0]]


def batch_of_a_dict(tf):
    n = _numbers(tf)
    b = tf.train.batch({"n": n, "m": -n}, 5)
    return sorted(b), _pump(tf, b)


def batch_of_single(tf):
    return type(tf.train.batch([tf.constant(1)], 2)).__name__, type(tf.train.batch([tf.constant(1)] * 2, 2)).__name__


def batch_enqueue_many(tf):
    b = tf.train.batch([tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue_many(3)], 2, enqueue_many=True)
    return static(b), _pump(tf, b)


def batch_with_padding(tf):
    n = _numbers(tf, 4)
    b = tf.train.batch([tf.range(n)], 4, dynamic_pad=True)
    return static(b), _pump(tf, b)


def batch_needs_shapes(tf):
    x = tf.placeholder(tf.float32)
    return caught(lambda: tf.train.batch([x], 2)), caught(lambda: tf.train.batch([tf.placeholder(tf.float32, [None])], 2), "All shapes must be fully defined")


def batch_with_given_shapes(tf):
    x = tf.placeholder(tf.float32)
    return static(tf.train.batch([x], 2, shapes=[[3]])), caught(lambda: tf.train.batch([x], 2, shapes=[[3], [2]]))


def batch_refusals(tf):
    return caught(lambda: tf.train.batch([], 2)), caught(lambda: tf.train.batch({}, 2))


def batch_of_sparse_tensors(tf):
    n = _numbers(tf, 4)
    sp = tf.SparseTensor(tf.expand_dims(tf.expand_dims(tf.cast(n, tf.int64), 0), 0), [n], [5])
    b = tf.train.batch([sp, n], 4)
    (s, m), = _pump(tf, b)
    return type(b[0]).__name__, s, m


def batch_names(tf):
    tf.train.batch([tf.constant(1)], 2, name="mine")
    return nodes(tf)


def batch_collections(tf):
    tf.train.batch([tf.constant(1)], 2, num_threads=3)
    (qr,) = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
    return qr.name, len(qr.enqueue_ops), len(tf.get_collection(tf.GraphKeys.SUMMARIES))


def maybe_batch(tf):
    n = _numbers(tf, 10)
    b = tf.train.maybe_batch([n], tf.equal(n % 2, 0), 5)
    return static(b), _pump(tf, b)


def maybe_batch_enqueue_many(tf):
    n = tf.train.range_input_producer(10, num_epochs=1, shuffle=False).dequeue_many(5)
    b = tf.train.maybe_batch([n], tf.equal(n % 2, 0), 5, enqueue_many=True)
    return _pump(tf, b)


def batch_join(tf):
    a, b = _numbers(tf, 4, name="a"), _numbers(tf, 4, name="b") + 10
    j = tf.train.batch_join([[a], [b]], 8)
    return static(j), sorted(_pump(tf, j)[0].tolist())


def batch_join_with_padding(tf):
    a, b = tf.range(_numbers(tf, 3)), tf.range(_numbers(tf, 3) + 2)
    j = tf.train.batch_join([[a], [b]], 6, dynamic_pad=True)
    return static(j), rows(_pump(tf, j)[0])


def batch_join_refusals(tf):
    return caught(lambda: tf.train.batch_join([], 2)), caught(lambda: tf.train.batch_join([[tf.constant(1)], [tf.constant(1.0)]], 2))


def maybe_batch_join(tf):
    a, b = _numbers(tf, 8, name="a"), _numbers(tf, 8, name="b") + 10
    j = tf.train.maybe_batch_join([[a], [b]], tf.constant(True), 16)
    return sorted(_pump(tf, j)[0].tolist())


def shuffle_batch(tf):
    b = tf.train.shuffle_batch([_numbers(tf, 20)], 10, capacity=30, min_after_dequeue=5, seed=1)
    got = _pump(tf, b)
    flat = [int(v) for x in got for v in x]
    return static(b), sorted(flat) == list(range(20)), flat != list(range(20))


def shuffle_batch_smaller_final(tf):
    b = tf.train.shuffle_batch([_numbers(tf, 7)], 5, capacity=30, min_after_dequeue=2, allow_smaller_final_batch=True)
    got = _pump(tf, b)
    return static(b), sorted(int(v) for x in got for v in x), [len(x) for x in got]


def maybe_shuffle_batch(tf):
    n = _numbers(tf, 20)
    b = tf.train.maybe_shuffle_batch([n], 10, 30, 5, tf.equal(n % 2, 0))
    return sorted(int(v) for x in _pump(tf, b) for v in x)


def shuffle_batch_join(tf):
    a, b = _numbers(tf, 5, name="a"), _numbers(tf, 5, name="b") + 10
    j = tf.train.shuffle_batch_join([[a], [b]], 10, 20, 3)
    return static(j), sorted(int(v) for x in _pump(tf, j) for v in x)


def maybe_shuffle_batch_join(tf):
    a, b = _numbers(tf, 5, name="a"), _numbers(tf, 5, name="b") + 10
    j = tf.train.maybe_shuffle_batch_join([[a], [b]], 10, 20, 3, tf.constant(True))
    return sorted(int(v) for x in _pump(tf, j) for v in x)


def range_producer(tf):
    q = tf.train.range_input_producer(3, num_epochs=2, shuffle=False)
    return q.name, _pump(tf, q.dequeue())


def range_producer_shuffled(tf):
    q = tf.train.range_input_producer(5, num_epochs=2, seed=3)
    values = [int(v) for v in _pump(tf, q.dequeue())]
    return sorted(values[:5]), sorted(values[5:])


def range_producer_without_end(tf):
    q = tf.train.range_input_producer(3, shuffle=False)
    return _pump(tf, q.dequeue(), times=8)


def string_producer(tf):
    q = tf.train.string_input_producer(["a", "b", "c"], num_epochs=2, shuffle=False)
    return _pump(tf, q.dequeue())


def string_producer_refusals(tf):
    return (
        caught(lambda: tf.train.string_input_producer([])),
        caught(lambda: tf.train.string_input_producer(["a"], num_epochs=0)),
    )


def input_producer(tf):
    q = tf.train.input_producer([[1, 2], [3, 4]], num_epochs=1, shuffle=False)
    return [d.name for d in q.dtypes], [str(s) for s in q.shapes], _pump(tf, q.dequeue())


def input_producer_refusals(tf):
    return caught(lambda: tf.train.input_producer(tf.constant(1))), caught(lambda: tf.train.input_producer(tf.placeholder(tf.float32)))


def input_producer_names(tf):
    tf.train.input_producer([1, 2, 3], num_epochs=2, shuffle=False, name="mine")
    return nodes(tf)


def slice_producer(tf):
    parts = tf.train.slice_input_producer([[1, 2, 3], ["a", "b", "c"]], num_epochs=1, shuffle=False)
    return static(*parts), [[int(a), b.decode()] for a, b in _pump(tf, parts)]


def slice_producer_refusals(tf):
    return caught(lambda: tf.train.slice_input_producer([]))


def limit_epochs(tf):
    x = tf.train.limit_epochs(tf.constant(7), num_epochs=2)
    with tf.Session() as sess:
        initialize(tf, sess)
        return [sess.run(x), sess.run(x)], caught(lambda: sess.run(x), "Reached limit of 2"), [v.name for v in tf.local_variables()]


def limit_epochs_refusals(tf):
    x = tf.constant(1)
    return tf.train.limit_epochs(x) is x, caught(lambda: tf.train.limit_epochs(x, num_epochs=0), "num_epochs must be > 0 not 0")


def two_stages(tf):
    n = _numbers(tf, 12)
    first = tf.train.batch([n], 3)
    second = tf.train.batch([first * 10], 2)
    return static(second), _pump(tf, second)


def match_filenames(tf):
    import os
    import tempfile

    folder = tempfile.mkdtemp()
    for name in ("b.txt", "a.txt", "c.dat"):
        open(os.path.join(folder, name), "w").close()
    names = tf.train.match_filenames_once(os.path.join(folder, "*.txt"))
    with tf.Session() as sess:
        initialize(tf, sess)
        return sorted(os.path.basename(n.decode()) for n in sess.run(names))


def reader_pipeline(tf):
    import os
    import tempfile

    path = os.path.join(tempfile.mkdtemp(), "lines.csv")
    with open(path, "w") as f:
        f.write("1,2.5\n3,4.5\n5,6.5\n")
    files = tf.train.string_input_producer([path], num_epochs=1, shuffle=False)
    _, line = tf.TextLineReader().read(files)
    a, b = tf.decode_csv(line, [[0], [0.0]])
    return _pump(tf, tf.train.batch([a, b], 2, allow_smaller_final_batch=True))
