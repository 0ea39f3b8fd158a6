"""Accumulators of gradients: `ConditionalAccumulator`, `SparseConditionalAccumulator`."""

import threading

import numpy as np

from programs.tools import caught


def dense(tf):
    out = []
    for kind in ("MEAN", "SUM"):
        a = tf.ConditionalAccumulator(tf.float32, shape=[2], name="acc", reduction_type=kind)
        x = tf.placeholder(tf.float32, [2])
        add, count, take = a.apply_grad(x), a.num_accumulated(), a.take_grad(2)
        late, step = a.apply_grad(x, local_step=5), a.set_global_step(7)
        with tf.Session() as sess:
            for value in ([1, 2], [3, 5]):
                sess.run(add, {x: value})
            out.append([sess.run(count), sess.run(take), sess.run(count)])
            sess.run(add, {x: [1, 1]})  # Dropped: its step is over.
            out.append(sess.run(count))
            for _ in range(3):
                sess.run(late, {x: [2, 4]})
            out.append([sess.run(count), sess.run(take)])
            sess.run(step)
            sess.run(late, {x: [2, 4]})
            out.append(sess.run(count))
        out.append([a.name, a.dtype.name, take.name, str(take.shape), a.accumulator_ref.dtype.name])
    return out


def sparse(tf):
    out = []
    for kind in ("MEAN", "SUM"):
        a = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 2], reduction_type=kind)
        first = a.apply_grad([0, 2], [[1.0, 1.0], [2.0, 2.0]], [4, 2])
        second = a.apply_grad([2, 3], [[3.0, 3.0], [4.0, 4.0]], [4, 2])
        slices = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1], tf.int64))
        third, take, rows = a.apply_indexed_slices_grad(slices, local_step=1), a.take_grad(2), a.take_indexed_slices_grad(1)
        with tf.Session() as sess:
            for op in (first, second):
                sess.run(op)
            out.append([sess.run(a.num_accumulated()), list(sess.run(take))])
            sess.run(third)
            found = sess.run(rows)
            out.append([found.indices, found.values])
    return out, a.name, a.accumulator_ref.dtype.name


def names(tf):
    a, b = tf.ConditionalAccumulator(tf.float32, name="a"), tf.SparseConditionalAccumulator(tf.float32, name="b")
    a.num_accumulated(), a.set_global_step(3), a.apply_grad([1.0]), a.take_grad(1)
    b.num_accumulated(), b.set_global_step(3), b.apply_grad([1], [[1.0]]), b.take_grad(1)
    return [(op.name, op.type) for op in tf.get_default_graph().get_operations()]


def shared(tf):
    a, b = (tf.ConditionalAccumulator(tf.float32, shape=[1], shared_name="s") for _ in range(2))
    with tf.Session() as sess:
        sess.run(a.apply_grad([3.0]))
        return sess.run(b.num_accumulated()), sess.run(b.take_grad(1))


def waits(tf):
    a = tf.ConditionalAccumulator(tf.float64, shape=[])
    x = tf.placeholder(tf.float64, [])
    add, take = a.apply_grad(x), a.take_grad(4)
    found = []
    with tf.Session() as sess:
        thread = threading.Thread(target=lambda: found.append(sess.run(take)))
        thread.start()
        for value in (1.0, 2.0, 3.0, 6.0):
            sess.run(add, {x: value})
        thread.join()
    return found


def trained(tf):
    """Two workers' gradients are averaged before each update."""
    w = tf.Variable(tf.constant([[1.0], [2.0], [3.0]]))
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 1])
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
    optimizer = tf.train.GradientDescentOptimizer(0.05)
    [(gradient, _)] = optimizer.compute_gradients(loss, [w])
    step = tf.train.get_or_create_global_step()
    a = tf.ConditionalAccumulator(tf.float32, shape=w.shape)
    put, update = a.apply_grad(gradient, step), optimizer.apply_gradients([(a.take_grad(2), w)], step)
    losses = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(6):
            for worker in range(2):
                data = np.sin(np.arange(12.0) + i + 5 * worker).reshape(4, 3)
                losses.append(sess.run([loss, put], {x: data, y: data[:, :1] * 2})[0])
            sess.run(update)
        return losses, sess.run([w, step])


def mistakes(tf):
    a, b = tf.ConditionalAccumulator(tf.float32, shape=[2]), tf.SparseConditionalAccumulator(tf.float32, shape=[4, 2])
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        return [
            caught(lambda: a.apply_grad([1.0, 2.0, 3.0]), "Shapes (3,) and (2,) are incompatible"),
            caught(lambda: sess.run(a.apply_grad(x), {x: [1.0, 2.0, 3.0]}), "Shape mismatch: expected [2], got [3]"),
            caught(lambda: sess.run(a.take_grad(0)), "Argument num_required must be positive, but was 0"),
            caught(lambda: sess.run(b.take_grad(0)), "Argument num_required must be positive, but was 0"),
            caught(lambda: sess.run(b.apply_grad([7], [[1.0, 2.0]]))),
            caught(lambda: tf.ConditionalAccumulator(tf.float32, reduction_type="MAX"), "reduction_type"),
        ]
