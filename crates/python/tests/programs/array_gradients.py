"""Gradients of `TensorArray`s; arrays in branches and loops; their ops by name."""

import numpy as np

from programs.tools import run, static


def _full(tf):
    return tf.TensorArray(tf.float32, 3).unstack([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def gradient_array(tf):
    a = _full(tf)
    g = a.grad("grad")
    h = g.write(0, [10.0, 20.0])
    return g.dtype, static(g.read(0)), run(tf, [g.size(), h.read(0)])


def gradient_array_adds_up(tf):
    a = _full(tf)
    g = a.grad("grad")
    g = g.write(0, [10.0, 20.0])
    g = g.write(0, [1.0, 2.0])
    return run(tf, g.read(0))


def gradient_arrays_by_source(tf):
    a = _full(tf)
    g, h, k = a.grad("one"), a.grad("two"), a.grad("one")
    with tf.control_dependencies([g.write(0, [1.0, 1.0]).flow, h.write(0, [5.0, 5.0]).flow]):
        x, y = k.identity().read(0), h.identity().read(0)
    return run(tf, [x, y])


def gradient_of_scatter(tf):
    x = tf.constant([[1.0], [2.0]])
    a = tf.TensorArray(tf.float32, 3).scatter([2, 0], x)
    return run(tf, tf.gradients(a.read(0) * 3.0 + a.read(2) * 5.0, x))


def gradient_of_gather(tf):
    x = tf.constant([[1.0], [2.0], [3.0]])
    a = tf.TensorArray(tf.float32, 3).unstack(x)
    return run(tf, tf.gradients(a.gather([2, 0]) * [[3.0], [5.0]], x))


def gradient_of_split(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    a = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, 2])
    return run(tf, tf.gradients(tf.reduce_sum(a.read(1) ** 2) + a.read(0) * 7.0, x))


def gradient_of_concat(tf):
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0])
    a = tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, x).write(1, y)
    return run(tf, tf.gradients(a.concat() ** 2, [x, y]))


def gradient_of_a_part_not_read(tf):
    x, y = tf.constant(1.0), tf.constant(3.0)
    a = tf.TensorArray(tf.float32, 2).write(0, x).write(1, y)
    return run(tf, tf.gradients(a.read(0) * 2.0, x))


def gradient_twice(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    a = tf.TensorArray(tf.float32, 3).unstack(x)
    y = a.stack() ** 3
    g, = tf.gradients(y, x)
    return run(tf, g)


def sum_of_gradients_of_two_readers(tf):
    x = tf.constant([1.0, 2.0])
    a = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(x)
    return run(tf, tf.gradients([a.read(0) * 2.0, a.stack() * 3.0], x))


def in_a_branch(tf):
    p = tf.placeholder(tf.bool, [])
    a = tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0])
    r = tf.cond(p, lambda: a.read(0), lambda: a.read(1))
    with tf.Session() as sess:
        return sess.run(r, {p: True}), sess.run(r, {p: False})


def written_in_an_inner_loop(tf):
    a = tf.TensorArray(tf.int32, 6)

    def outer(i, a):
        return i + 1, tf.while_loop(lambda j, a: j < 2, lambda j, a: (j + 1, a.write(i * 2 + j, i * 10 + j)), (0, a))[1]

    return run(tf, tf.while_loop(lambda i, a: i < 3, outer, (0, a))[1].stack())


def made_in_a_loop(tf):
    def body(i, s):
        a = tf.TensorArray(tf.int32, 2).write(0, i).write(1, s)
        return i + 1, tf.reduce_sum(a.stack())

    return run(tf, tf.while_loop(lambda i, s: i < 5, body, (0, 0)))


def static_shape_after_a_loop(tf):
    a = tf.TensorArray(tf.float32, 3)
    r = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, tf.zeros([2, 2]))), (0, a))[1]
    return static(r.read(0), r.stack(), r.concat())


def element_shape_property(tf):
    a = tf.TensorArray(tf.float32, 3, element_shape=[2])
    return str(a.element_shape), str(tf.TensorArray(tf.float32, 3).element_shape), str(_full(tf).element_shape)


def of_resources_of_two_sessions(tf):
    r = _full(tf).stack()
    with tf.Session() as one, tf.Session() as two:
        return one.run(r), two.run(r), one.run(r)


def colocated_with_what_is_written(tf):
    with tf.device("/cpu:0"):
        a = tf.TensorArray(tf.float32, 1, colocate_with_first_write_call=False)
        b = tf.TensorArray(tf.float32, 1)
        return run(tf, [a.write(0, 1.0).read(0), b.write(0, 2.0).read(0)])


def raw_ops_of_arrays(tf):
    raw = tf.raw_ops
    made = raw.TensorArrayV3(size=2, dtype=tf.float32, clear_after_read=False)
    w = raw.TensorArrayWriteV3(handle=made.handle, index=0, value=[1.0], flow_in=made.flow)
    w = raw.TensorArrayWriteV3(handle=made.handle, index=1, value=[2.0], flow_in=w)
    return made._fields, run(tf, [raw.TensorArrayReadV3(handle=made.handle, index=1, flow_in=w, dtype=tf.float32), raw.TensorArraySizeV3(handle=made.handle, flow_in=w),
                                  raw.TensorArrayGatherV3(handle=made.handle, indices=[1, 0], flow_in=w, dtype=tf.float32)])


def numpy_rows(tf):
    a = tf.TensorArray(tf.float64, 2).unstack(np.arange(6).reshape(2, 3).astype(np.float64))
    return run(tf, a.stack())
