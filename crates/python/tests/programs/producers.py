"""Input producers: names and nodes, epochs, shuffling, seeds, capacities, errors."""

import numpy as np

from programs.batching import _pump
from programs.tools import WHOLE, caught, initialize, nodes, rows, run, static


def _queue(q):
    """Returns the nodes other than the queue."""
    return q.name, q.queue_ref.op.get_attr("capacity"), [str(s) for s in q.shapes], q.queue_ref.op.get_attr("shared_name")


def input_nodes(tf):
    tf.train.input_producer(tf.constant([1, 2, 3]), shuffle=False)
    return nodes(tf)


def input_nodes_shuffled(tf):
    tf.train.input_producer([1, 2, 3], seed=5, num_epochs=1, name="in")
    return nodes(tf)


def input_nodes_with_a_summary(tf):
    tf.train.input_producer([1, 2, 3], shuffle=False, summary_name="full", capacity=7)
    return nodes(tf), [t.name for t in tf.get_collection(tf.GraphKeys.SUMMARIES)]


def string_nodes(tf):
    tf.train.string_input_producer(["a", "b"], shuffle=False, num_epochs=1)
    return nodes(tf)


def string_nodes_named(tf):
    tf.train.string_input_producer(tf.constant(["a", "b"]), name="files", seed=3)
    return nodes(tf)


def range_nodes(tf):
    tf.train.range_input_producer(3, shuffle=False, name="r")
    return nodes(tf)


def slice_nodes(tf):
    tf.train.slice_input_producer([[1, 2], ["a", "b"]], shuffle=False, num_epochs=2, name="s")
    return nodes(tf)


def limit_nodes(tf):
    tf.train.limit_epochs(tf.constant(1), 3, name="mine")
    tf.train.limit_epochs([1, 2], 3)
    return nodes(tf), [v.name for v in tf.local_variables()], len(tf.global_variables())


def match_nodes(tf):
    v = tf.train.match_filenames_once("*.nothing", name="m")
    return nodes(tf), v.name, [x.name for x in tf.local_variables()], str(v.get_shape()), v.dtype.name


def queues_made(tf):
    return [
        _queue(tf.train.input_producer([[1, 2], [3, 4]], capacity=5)),
        _queue(tf.train.string_input_producer(["a"], capacity=6, shared_name="common")),
        _queue(tf.train.range_input_producer(9, capacity=8, shared_name="other")),
    ]


def runners_made(tf):
    tf.train.input_producer([1, 2], shuffle=False)
    tf.train.string_input_producer(["a"], shuffle=False, name="s")
    tf.train.slice_input_producer([[1]], shuffle=False)
    return [(r.name, [o.name for o in r.enqueue_ops], r.close_op.name, r.cancel_op.name) for r in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)]


def summaries_made(tf):
    tf.train.string_input_producer(["a"], capacity=9)
    tf.train.range_input_producer(3)
    tf.train.slice_input_producer([[1]], capacity=4)
    tf.train.input_producer([1])
    return [t.name for t in tf.get_collection(tf.GraphKeys.SUMMARIES)]


def cancel_op_given(tf):
    op = tf.no_op(name="stop")
    tf.train.string_input_producer(["a"], cancel_op=op)
    tf.train.input_producer([1], cancel_op=op)
    return [r.cancel_op.name for r in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)]


def strings_as_tensors(tf):
    q = tf.train.string_input_producer(tf.constant(["x", "y"]), num_epochs=2, shuffle=False)
    return static(q.dequeue()), _pump(tf, q.dequeue())


def strings_as_an_array(tf):
    q = tf.train.string_input_producer(np.array(["x"]), num_epochs=1, shuffle=False)
    return _pump(tf, q.dequeue())


def strings_none_when_run(tf):
    x = tf.constant([], tf.string)
    tf.train.string_input_producer(x)
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        threads = tf.train.start_queue_runners(sess, coord)
        return caught(lambda: coord.join(threads), WHOLE)


def strings_refusals(tf):
    return (
        caught(lambda: tf.train.string_input_producer([]), WHOLE),
        caught(lambda: tf.train.string_input_producer([1]), WHOLE),
        caught(lambda: tf.train.string_input_producer(["a"], num_epochs=-1), WHOLE),
        caught(lambda: tf.train.string_input_producer(()), WHOLE),
        caught(lambda: tf.train.string_input_producer("abc"), WHOLE),
    )


def epochs_by_number(tf):
    out = []
    for n in (1, 3):
        with tf.Graph().as_default():
            out.append(len(_pump(tf, tf.train.range_input_producer(4, num_epochs=n, shuffle=False).dequeue())))
    return out


def epochs_for_ever(tf):
    return _pump(tf, tf.train.string_input_producer(["a", "b"], shuffle=False).dequeue(), times=5)


def epochs_not_initialized(tf):
    q = tf.train.range_input_producer(3, num_epochs=1)
    get = q.dequeue()
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        threads = tf.train.start_queue_runners(sess, coord)
        return caught(lambda: coord.join(threads), "Attempting to use uninitialized value")


def shuffles_each_epoch(tf):
    q = tf.train.range_input_producer(30, num_epochs=3, seed=4)
    values = [int(v) for v in _pump(tf, q.dequeue(), times=200)]
    parts = [values[i : i + 30] for i in (0, 30, 60)]
    return [sorted(p) == list(range(30)) for p in parts], parts[0] != parts[1], parts[1] != parts[2]


def shuffles_the_same_with_the_same_seed(tf):
    found = []
    for _ in range(2):
        with tf.Graph().as_default():
            tf.set_random_seed(7)
            found.append([int(v) for v in _pump(tf, tf.train.range_input_producer(20, num_epochs=1, seed=11).dequeue())])
    return found[0] == found[1], found[0] != sorted(found[0])


def elements_of_rank_two(tf):
    q = tf.train.input_producer(np.arange(12).reshape(2, 2, 3), num_epochs=1, shuffle=False)
    get = q.dequeue()
    return static(get), _pump(tf, get)


def element_shape_given(tf):
    x = tf.placeholder_with_default([[1, 2], [3, 4]], None)
    q = tf.train.input_producer(x, element_shape=[2], num_epochs=1, shuffle=False)
    return [str(s) for s in q.shapes], _pump(tf, q.dequeue())


def element_shape_refusals(tf):
    x = tf.placeholder(tf.int32)
    return (
        caught(lambda: tf.train.input_producer(x), WHOLE),
        caught(lambda: tf.train.input_producer(x, element_shape=[None]), WHOLE),
        caught(lambda: tf.train.input_producer(tf.placeholder(tf.int32, [None, 3]), element_shape=[4]), WHOLE),
        caught(lambda: tf.train.input_producer(tf.constant(3)), WHOLE),
        caught(lambda: tf.train.input_producer(tf.placeholder(tf.int32, [None, None])), WHOLE),
    )


def slices_of_several(tf):
    parts = tf.train.slice_input_producer([[1, 2, 3], [[1.0], [2.0], [3.0]], ["x", "y", "z"]], num_epochs=1, shuffle=False)
    return type(parts).__name__, static(*parts), [[int(a), b.tolist(), c] for a, b, c in _pump(tf, parts)]


def slices_shuffled(tf):
    parts = tf.train.slice_input_producer([np.arange(10), np.arange(10) * 2], num_epochs=1, seed=2)
    got = _pump(tf, parts)
    return sorted(int(a) for a, _ in got), all(int(b) == 2 * int(a) for a, b in got)


def slices_of_one(tf):
    parts = tf.train.slice_input_producer([tf.constant([5, 6])], shuffle=False)
    return len(parts), _pump(tf, parts[0], times=3)


def slices_refusals(tf):
    return caught(lambda: tf.train.slice_input_producer([]), WHOLE), caught(lambda: tf.train.slice_input_producer(None), WHOLE), caught(lambda: tf.train.slice_input_producer([tf.constant(1)]), WHOLE)


def limit_refusals(tf):
    x = tf.constant(1)
    return caught(lambda: tf.train.limit_epochs(x, 0), WHOLE), caught(lambda: tf.train.limit_epochs(x, -3), WHOLE), caught(lambda: tf.train.limit_epochs(x, "a"), WHOLE)


def limit_of_a_list(tf):
    x = tf.train.limit_epochs([1, 2], 1)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(x), caught(lambda: sess.run(x), "Reached limit of 1")


def limit_in_two_sessions(tf):
    x = tf.train.limit_epochs(tf.constant(7), 2)
    out = []
    for _ in range(2):
        with tf.Session() as sess:
            initialize(tf, sess)
            n = 0
            while True:
                try:
                    sess.run(x)
                    n += 1
                except tf.errors.OutOfRangeError:
                    break
            out.append(n)
    return out


def read_by_two_threads(tf):
    get = tf.train.range_input_producer(40, num_epochs=1, shuffle=False, capacity=3).dequeue()
    pair = tf.train.batch_join([[get + 0], [get + 0]], 5)
    values = [int(v) for b in _pump(tf, pair) for v in b]
    return len(values), min(values) >= 0


def range_of_a_tensor(tf):
    n = tf.placeholder_with_default(4, [])
    q = tf.train.range_input_producer(n, num_epochs=1, shuffle=False)
    return [str(s) for s in q.shapes], q.dtypes[0].name, _pump(tf, q.dequeue())
