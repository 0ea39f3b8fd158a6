"""Input pipelines: files to batches, buckets with loops, several stages, both kinds of variables."""

import os
import tempfile

import numpy as np

from programs.batching import _numbers, _pump
from programs.tools import caught, initialize, nodes, rows, run, static


def _files(contents):
    folder = tempfile.mkdtemp()
    paths = []
    for i, text in enumerate(contents):
        paths.append(os.path.join(folder, "f%d" % i))
        with open(paths[-1], "w") as f:
            f.write(text)
    return paths


def lines_to_batches(tf):
    files = tf.train.string_input_producer(_files(["1,a\n2,b\n", "3,c\n"]), num_epochs=2, shuffle=False)
    _, line = tf.TextLineReader().read(files)
    n, s = tf.decode_csv(line, [[0], [""]])
    got = _pump(tf, tf.train.batch([n, s], 4, allow_smaller_final_batch=True))
    return [[a.tolist(), b.tolist()] for a, b in got]


def readers_joined(tf):
    files = tf.train.string_input_producer(_files(["1\n2\n", "3\n4\n5\n"]), num_epochs=1, shuffle=False)
    sets = [[tf.string_to_number(tf.TextLineReader().read(files)[1], tf.int32)] for _ in range(2)]
    got = _pump(tf, tf.train.batch_join(sets, 5))
    return sorted(int(v) for b in got for v in b)


def words_bucketed_by_length(tf):
    files = tf.train.string_input_producer(_files(["a bb\nccc\nd e f g\nh\ni j\n"]), num_epochs=1, shuffle=False)
    _, line = tf.TextLineReader().read(files)
    words = tf.string_split([line]).values
    n = tf.size(words)
    length, (b,) = tf.contrib.training.bucket_by_sequence_length(n, [words], 2, [2, 4], dynamic_pad=True, allow_smaller_final_batch=True)
    return sorted([l.tolist(), v.tolist()] for l, v in _pump(tf, [length, b]))


def batches_into_a_loop(tf):
    n = _numbers(tf, 6)
    b = tf.train.batch([n], 3)
    total = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + b[i] * b[i]), [0, 0])[1]
    return [int(v) for v in _pump(tf, total)]


def trained_from_a_queue(tf):
    x = tf.cast(_numbers(tf, 8), tf.float32)
    b = tf.train.batch([x, 3.0 * x], 2)
    w = tf.Variable(0.0)
    loss = tf.reduce_mean(tf.square(w * b[0] - b[1]))
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    with tf.control_dependencies([train]):
        after = w.read_value()
    return [float(v) for v in _pump(tf, after)]


def three_stages(tf):
    n = _numbers(tf, 24)
    a = tf.train.batch([n], 4)
    b = tf.train.batch([a], 2, enqueue_many=True)
    c = tf.train.batch([b], 3)
    return static(a, b, c), _pump(tf, c)


def shuffled_then_bucketed(tf):
    n = _numbers(tf, 30)
    s = tf.train.shuffle_batch([n], 1, 20, 5, seed=3)
    w, b = tf.contrib.training.bucket([s[0]], s[0] % 3, 5, 3)
    got = _pump(tf, [w, b])
    return sorted(int(k) for k, _ in got), all(int(x) % 3 == int(k) for k, v in got for x in v)


def kept_by_a_counter(tf):
    v = tf.Variable(0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    n = _numbers(tf, 10)
    with tf.control_dependencies([n]):
        count = tf.assign_add(v, 1)
    b = tf.train.maybe_batch([n, count], count % 2 > 0, 5)
    return [[a.tolist(), c.tolist()] for a, c in _pump(tf, b)]


def in_a_monitored_session(tf):
    b = tf.train.batch([_numbers(tf, 7)], 3, allow_smaller_final_batch=True)
    got = []
    with tf.train.MonitoredSession() as sess:
        while not sess.should_stop():
            got.append(sess.run(b).tolist())
    return got


def in_a_monitored_session_of_one(tf):
    b = tf.train.batch([_numbers(tf, 5)], 2)
    got = []
    with tf.train.SingularMonitoredSession() as sess:
        while not sess.should_stop():
            got.append(sess.run(b).tolist())
    return got


def fed_by_a_thread(tf):
    import threading

    x = tf.placeholder(tf.float32, [None])
    q = tf.PaddingFIFOQueue(4, [tf.float32], [[None]])
    put, get, close = q.enqueue(x), q.dequeue_up_to(3), q.close()
    out = []
    with tf.Session() as sess:

        def work():
            for n in range(7):
                sess.run(put, {x: np.arange(n)})
            sess.run(close)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            while True:
                out.append(sess.run(get))
        except tf.errors.OutOfRangeError:
            pass
        thread.join()
    return sum(len(b) for b in out), [b.shape[1] for b in out][-1], float(sum(b.sum() for b in out))


def a_queue_of_gradients(tf):
    """Gradients computed in one step and applied in another."""
    w = tf.Variable([1.0, 2.0])
    (g,) = tf.gradients(tf.reduce_sum(w * w), w)
    q = tf.FIFOQueue(5, [tf.float32], [[2]])
    put, apply = q.enqueue(g), tf.assign_sub(w, 0.5 * q.dequeue())
    with tf.Session() as sess:
        initialize(tf, sess)
        sess.run([put])
        sess.run([put])
        sess.run(apply)
        return sess.run(apply)


def priorities_by_length(tf):
    q = tf.PriorityQueue(10, [tf.string], [[]])
    words = tf.placeholder(tf.string, [None])
    put = q.enqueue_many([tf.cast(tf.strings.length(words), tf.int64), words])
    get = q.dequeue_many(4)
    with tf.Session() as sess:
        sess.run(put, {words: ["ccc", "a", "dddd", "bb"]})
        return sess.run(get)


def epochs_told_apart(tf):
    q = tf.train.string_input_producer(["a", "b", "c"], num_epochs=3, shuffle=True, seed=1)
    got = [v.decode() for v in _pump(tf, q.dequeue())]
    return [sorted(got[i : i + 3]) for i in (0, 3, 6)], len(got)


def sparse_to_dense(tf):
    n = _numbers(tf, 6)
    sp = tf.SparseTensor(tf.cast(tf.reshape(n, [1, 1]), tf.int64), [n], [6])
    b = tf.train.batch([sp], 3)
    return _pump(tf, tf.sparse_tensor_to_dense(b))
