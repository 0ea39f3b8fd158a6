"""`TensorArray`: contents, order of writes and reads, use in loops and gradients."""

import numpy as np

from programs.tools import caught, run, static


def write_and_read(tf):
    ta = tf.TensorArray(tf.float32, 3)
    ta = ta.write(0, 1.0).write(1, 2.0).write(2, 3.0)
    return run(tf, [ta.read(2), ta.read(0), ta.size()])


def attributes(tf):
    ta = tf.TensorArray(tf.float32, 3, element_shape=[2])
    return ta.dtype.name, ta.handle.dtype.name, ta.flow.dtype.name, ta.flow.op.type, str(ta.element_shape)


def stack_and_unstack(tf):
    ta = tf.TensorArray(tf.int32, 3).unstack([[1, 2], [3, 4], [5, 6]])
    s = ta.stack()
    return static(s), run(tf, s)


def from_placeholder(tf):
    x = tf.placeholder(tf.float32, [None, 2])
    ta = tf.TensorArray(tf.float32, tf.shape(x)[0]).unstack(x)
    r = ta.stack()
    return static(r), run(tf, r, {x: np.ones([3, 2])})


def gather_and_scatter(tf):
    ta = tf.TensorArray(tf.float32, 4, clear_after_read=False).scatter([3, 1, 0, 2], [30.0, 10.0, 0.0, 20.0])
    return run(tf, [ta.gather([1, 3]), ta.gather([0])])


def concat_and_split(tf):
    ta = tf.TensorArray(tf.float32, 3, infer_shape=False).split([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1, 2, 3])
    return run(tf, ta.concat())


def split_parts(tf):
    ta = tf.TensorArray(tf.float32, 3, infer_shape=False).split([1.0, 2.0, 3.0], [1, 0, 2])
    return run(tf, [ta.read(0), ta.read(1), ta.read(2)])


def dynamic_size(tf):
    ta = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    ta = ta.write(0, 1).write(3, 4)
    return run(tf, [ta.size(), ta.stack()])


def write_out_of_range(tf):
    ta = tf.TensorArray(tf.int32, 2).write(2, 1)
    return caught(lambda: run(tf, ta.flow), "Tried to write to index 2 but array is not resizeable and size is: 2")


def write_at_a_negative_index(tf):
    ta = tf.TensorArray(tf.int32, 2).write(-1, 1)
    return caught(lambda: run(tf, ta.flow), "Tried to write to index -1")


def write_twice(tf):
    ta = tf.TensorArray(tf.int32, 2).write(0, 1).write(0, 2)
    return caught(lambda: run(tf, ta.flow), "Could not write to TensorArray index 0 because it has already been written to.")


def read_out_of_range(tf):
    ta = tf.TensorArray(tf.int32, 2).write(0, 1)
    return caught(lambda: run(tf, ta.read(5)), "Tried to read from index 5 but array size is: 2")


def read_before_it_is_written(tf):
    ta = tf.TensorArray(tf.int32, 2, infer_shape=False).write(0, 1)
    return caught(lambda: run(tf, ta.read(1)), "Could not read from TensorArray index 1")


def read_twice(tf):
    ta = tf.TensorArray(tf.int32, 2).write(0, 1)
    first = ta.read(0)
    with tf.control_dependencies([first]):
        second = ta.read(0)
    return caught(lambda: run(tf, [first, second]), "Could not read index 0 twice because it was cleared after a previous read")


def read_twice_when_kept(tf):
    ta = tf.TensorArray(tf.int32, 2, clear_after_read=False).write(0, 1)
    first = ta.read(0)
    with tf.control_dependencies([first]):
        second = ta.read(0)
    return run(tf, [first, second])


def write_of_another_shape(tf):
    ta = tf.TensorArray(tf.float32, 2).write(0, [1.0, 2.0])
    return caught(lambda: ta.write(1, [1.0]), "Inconsistent shapes")


def write_of_another_shape_when_not_inferred(tf):
    ta = tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, [1.0, 2.0]).write(1, [3.0])
    return run(tf, [ta.read(0), ta.read(1)])


def element_shape_given(tf):
    ta = tf.TensorArray(tf.float32, 2, element_shape=[None, 2])
    r = ta.write(0, [[1.0, 2.0]]).read(0)
    return static(r), run(tf, r), caught(lambda: ta.write(1, [1.0]), "Inconsistent shapes")


def stack_of_different_shapes(tf):
    ta = tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, [1.0, 2.0]).write(1, [3.0])
    return caught(lambda: run(tf, ta.stack()), "TensorArray has inconsistent shapes")


def unwritten_elements_are_zero(tf):
    ta = tf.TensorArray(tf.float32, 3, element_shape=[2]).write(1, [1.0, 2.0])
    return run(tf, ta.stack())


def close(tf):
    ta = tf.TensorArray(tf.float32, 3)
    closed = ta.close()
    with tf.control_dependencies([closed]):
        w = ta.write(0, 1.0)
    return closed.type, caught(lambda: run(tf, w.flow), "has already been closed.")


def in_a_loop(tf):
    ta = tf.TensorArray(tf.int32, 5)
    _, ta = tf.while_loop(lambda i, ta: i < 5, lambda i, ta: (i + 1, ta.write(i, i * i)), [0, ta])
    r = ta.stack()
    return type(ta).__name__, static(r), run(tf, r)


def two_in_a_loop(tf):
    source = tf.TensorArray(tf.float32, 4).unstack([1.0, 2.0, 3.0, 4.0])
    target = tf.TensorArray(tf.float32, 4)
    body = lambda i, s, t: (i + 1, s, t.write(3 - i, s.read(i) * 10.0))
    _, _, target = tf.while_loop(lambda i, s, t: i < 4, body, [0, source, target])
    return run(tf, target.stack())


def captured_in_a_loop(tf):
    source = tf.TensorArray(tf.float32, 4).unstack([1.0, 2.0, 3.0, 4.0])
    r = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s + source.read(i)), [0, 0.0])
    return run(tf, r)


def dynamic_in_a_loop(tf):
    ta = tf.TensorArray(tf.int64, 0, dynamic_size=True)
    step = lambda n, i, ta: (tf.where(tf.equal(n % 2, 0), n // 2, 3 * n + 1), i + 1, ta.write(i, n))
    _, _, ta = tf.while_loop(lambda n, i, ta: n > 1, step, [tf.constant(6, tf.int64), 0, ta])
    return run(tf, ta.stack())


def in_a_cond(tf):
    p = tf.placeholder(tf.bool, [])
    ta = tf.TensorArray(tf.int32, 1)
    r = tf.cond(p, lambda: ta.write(0, 1).flow, lambda: ta.write(0, 2).flow)
    out = tf.TensorArray(tf.int32, handle=ta.handle, flow=r).read(0)
    with tf.Session() as sess:
        return sess.run(out, {p: True}), sess.run(out, {p: False})


def of_strings(tf):
    ta = tf.TensorArray(tf.string, 2).write(0, "a").write(1, "bc")
    return run(tf, ta.stack()).tolist()


def of_each_dtype(tf):
    kinds = [tf.float64, tf.int64, tf.complex64, tf.complex128, tf.bool, tf.uint8]
    arrays = [tf.TensorArray(k, 2).write(0, tf.cast(1, k)).write(1, tf.cast(0, k)) for k in kinds]
    return run(tf, [a.stack() for a in arrays])


def identity(tf):
    ta = tf.TensorArray(tf.float32, 1).write(0, 5.0)
    with tf.control_dependencies([tf.constant(1)]):
        copy = ta.identity()
    return run(tf, copy.read(0))


def gradient_of_a_write_and_read(tf):
    x = tf.constant([1.0, 2.0])
    y = tf.TensorArray(tf.float32, 2).write(0, x).write(1, x * 3.0)
    return run(tf, tf.gradients(y.read(0) + y.read(1), x))


def gradient_of_stack(tf):
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    s = tf.TensorArray(tf.float32, 2).write(0, x).write(1, y).stack()
    return run(tf, tf.gradients(s * [[1.0, 2.0], [3.0, 4.0]], [x, y]))


def gradient_of_unstack(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    ta = tf.TensorArray(tf.float32, 2).unstack(x)
    return run(tf, tf.gradients(ta.read(0) * 2.0 + ta.read(1) * 3.0, x))


def gradient_of_concat_and_split(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    c = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, 2]).concat()
    return run(tf, tf.gradients(c * [1.0, 10.0, 100.0], x))


def gradient_through_a_loop(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    source = tf.TensorArray(tf.float32, 3).unstack(x)
    target = tf.TensorArray(tf.float32, 3)
    body = lambda i, t: (i + 1, t.write(i, source.read(i) ** 2))
    _, target = tf.while_loop(lambda i, t: i < 3, body, [0, target])
    return run(tf, tf.gradients(target.stack(), x))


def gradient_of_a_running_product(tf):
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    source = tf.TensorArray(tf.float32, 4).unstack(x)
    target = tf.TensorArray(tf.float32, 4)

    def body(i, p, t):
        p = p * source.read(i)
        return i + 1, p, t.write(i, p)

    _, _, target = tf.while_loop(lambda i, p, t: i < 4, body, [0, 1.0, target])
    out = target.stack()
    return run(tf, [out, tf.gradients(out, x)[0]])


def handle_from_elsewhere(tf):
    ta = tf.TensorArray(tf.float32, 2).write(0, 1.0).write(1, 2.0)
    other = tf.TensorArray(tf.float32, handle=ta.handle, flow=ta.flow)
    return run(tf, other.stack())


def refusals(tf):
    return (
        caught(lambda: tf.TensorArray(tf.float32)),
        caught(lambda: tf.TensorArray(tf.float32, 3, handle=tf.TensorArray(tf.float32, 1).handle)),
        caught(lambda: tf.TensorArray(tf.float32, handle=tf.TensorArray(tf.float32, 1).handle, dynamic_size=True)),
    )
