"""Runtime errors of TensorArrays, queues, scatter updates and session handles."""

import threading
import time

from programs.raised import WHOLE, caught
from programs.tools import run


def elements_of_another_dtype(tf):
    ta = tf.TensorArray(tf.float32, 3)
    # No error is raised during graph construction.
    made = [ta.write(0, "wrong").flow, ta.write(0, tf.constant(3)).flow, ta.unstack(tf.constant([1, 2, 3])).flow, ta.scatter([0], tf.constant([1])).flow]
    read = tf.raw_ops.TensorArrayReadV3(handle=ta.handle, index=0, flow_in=ta.flow, dtype=tf.int32)
    with tf.Session() as sess:
        return [caught(lambda y=y: sess.run(y), WHOLE) for y in made + [read]]


def arrays_of_nothing(tf):
    empty = tf.TensorArray(tf.float32, 0)
    known = tf.TensorArray(tf.float32, 0, element_shape=[2, 3])
    with tf.Session() as sess:
        return caught(lambda: sess.run(empty.stack()), WHOLE), caught(lambda: sess.run(empty.concat()), WHOLE), sess.run([known.stack(), known.concat()])


def elements_of_different_shapes(tf):
    rows = tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, [[1.0, 2.0]]).write(1, [[1.0, 2.0, 3.0]])
    with tf.Session() as sess:
        return caught(lambda: sess.run(rows.stack()), WHOLE), caught(lambda: sess.run(rows.gather([1, 0])), WHOLE)


def negative_indices(tf):
    with tf.Session() as sess:
        return [caught(lambda g=g: sess.run(tf.TensorArray(tf.float32, 3, dynamic_size=g, name="ta").write(-1, 3.0).flow), "Tried to write to index -1 but array is not resizeable and size is: 3") for g in (False, True)]


def batches_less_than_nothing(tf):
    q = tf.FIFOQueue(1, tf.int32, [[]])
    return (
        caught(lambda: q.dequeue_many(-1), "Input 'n' must be >= 0, but is -1 for 'fifo_queue_DequeueMany"),
        caught(lambda: q.dequeue_many(tf.constant(-2)), "Input 'n' must be >= 0, but is -2 for 'fifo_queue_DequeueMany"),
        caught(lambda: run(tf, q.dequeue_up_to(-1)), WHOLE),
        caught(lambda: run(tf, tf.RandomShuffleQueue(3, -5, tf.float32).size()), WHOLE),
    )


def batch_that_was_begun(tf):
    q = tf.FIFOQueue(10, tf.float32, [[]])
    many, out = q.dequeue_many(4), []
    with tf.Session() as sess:
        sess.run(q.enqueue_many([[10.0, 20.0]]))
        waits = threading.Thread(target=lambda: out.append(caught(lambda: sess.run(many), "is closed and has insufficient elements (requested 2, current size 0)")))
        waits.start()
        time.sleep(0.2)
        sess.run(q.close())
        waits.join()
        return out, sess.run(q.size()), caught(lambda: sess.run(many), "is closed and has insufficient elements (requested 4, current size 2)")


def rows_that_do_not_fit(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    return caught(lambda: tf.scatter_update(v, [0], [1.0, 1.0, 1.0]), "Shapes must be equal rank, but are 1 and 2 for"), caught(lambda: tf.scatter_update(v, [0, 1], [[1.0, 1.0]]), "Dimension 0 in both shapes must be equal, but are 1 and 2. Shapes are [1,2] and [2,2].")


def numbers_of_kept_rows(tf):
    def kept(indices, values, shape):
        return tf.raw_ops.AddManySparseToTensorsMap(sparse_indices=tf.constant(indices, tf.int64, [len(indices), 2]), sparse_values=tf.constant(values, tf.int32), sparse_shape=shape)

    with tf.Session() as sess:
        return sess.run([kept([[0, 1], [2, 0]], [5, 6], [4, 3]), kept([[1, 1], [3, 0]], [5, 6], [4, 3]), kept([], [], [3, 2])])
