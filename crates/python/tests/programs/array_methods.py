"""`TensorArray`: every argument and method, static shapes, misuse, gradients."""

from programs.tools import WHOLE, caught, names, run, static


def _full(tf, clear_after_read=None):
    return tf.TensorArray(tf.float32, 3, clear_after_read=clear_after_read).unstack([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def properties(tf):
    a = tf.TensorArray(tf.float32, 3)
    return a.dtype, a.handle.dtype.name, static(a.flow), a.handle.name, a.flow.name, type(a.size()).__name__


def properties_of_arguments(tf):
    a = tf.TensorArray("int32", size=2, dynamic_size=True, clear_after_read=False, tensor_array_name="mine", element_shape=[None, 2], name="named")
    op = a.handle.op
    return a.dtype, op.name, [str(op.get_attr(k)) for k in ("dynamic_size", "clear_after_read", "tensor_array_name", "identical_element_shapes")], static(a.read(0))


def attributes_by_default(tf):
    op = tf.TensorArray(tf.float32, 3).handle.op
    return op.type, [op.get_attr(k) for k in ("dtype", "dynamic_size", "clear_after_read", "identical_element_shapes")], op.get_attr("tensor_array_name") == b""


def names_of_nodes(tf):
    a = tf.TensorArray(tf.float32, 3, name="a", infer_shape=False)
    a = a.write(0, [1.0])
    a.read(0)
    a.size()
    a.unstack([[1.0], [2.0], [3.0]]).stack()
    a.concat()
    a.gather([0])
    a.scatter([0], [[1.0]])
    a.split([1.0, 2.0], [1, 1])
    a.close()
    return names(tf)


def names_given(tf):
    a = tf.TensorArray(tf.float32, 3, name="a", infer_shape=False)
    b = a.write(0, [1.0], name="w")
    return [b.flow.name, b.read(0, name="r").name, b.size(name="n").name, b.stack(name="s").name, b.gather([0], name="g").name, b.concat(name="c").name,
            b.unstack([[1.0]], name="u").flow.name, b.scatter([0], [[1.0]], name="sc").flow.name, b.split([1.0], [1], name="sp").flow.name, b.close(name="x").name]


def write_read_each_dtype(tf):
    out = []
    for k in (tf.bool, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.float16, tf.float32, tf.float64, tf.complex64, tf.complex128, tf.string):
        a = tf.TensorArray(k, 2)
        a = a.write(0, tf.zeros([2], k)).write(1, tf.zeros([2], k))
        out += [a.stack()]
    return static(*out), run(tf, out)


def write_of_numbers(tf):
    a = tf.TensorArray(tf.float64, 2).write(0, 1).write(1, 2.5)
    return run(tf, a.stack())


def write_by_an_index_of_int64(tf):
    a = tf.TensorArray(tf.int32, 2)
    return caught(lambda: a.write(tf.constant(0, tf.int64), 1))


def write_returns_another_object(tf):
    a = tf.TensorArray(tf.float32, 2)
    b = a.write(0, 1.0)
    return a is b, a.handle is b.handle, a.flow is b.flow, type(b).__name__


def static_shape_learned(tf):
    a = tf.TensorArray(tf.float32, 2)
    before = static(a.read(0), a.stack())
    b = a.write(0, [1.0, 2.0])
    return before, static(b.read(0), b.stack(), b.gather([0]), a.read(0))


def static_shape_not_inferred(tf):
    a = tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, [1.0, 2.0])
    return static(a.read(0), a.stack(), a.gather([0]), a.concat())


def static_shape_given(tf):
    a = tf.TensorArray(tf.float32, 2, element_shape=[None, 3])
    return static(a.read(0), a.stack(), a.gather([0, 1]), a.concat())


def static_shape_given_and_learned(tf):
    a = tf.TensorArray(tf.float32, 2, element_shape=[None, 3])
    b = a.write(0, tf.zeros([2, 3]))
    return static(b.read(0), b.stack())


def static_shape_of_a_dynamic_array(tf):
    a = tf.TensorArray(tf.float32, 2, dynamic_size=True).unstack(tf.zeros([2, 5]))
    return static(a.read(0), a.stack())


def static_shape_of_unstack(tf):
    a = tf.TensorArray(tf.float32, 2).unstack(tf.placeholder(tf.float32, [None, 5]))
    b = tf.TensorArray(tf.float32, 2).unstack(tf.placeholder(tf.float32))
    return static(a.read(0), a.stack(), b.read(0), b.stack())


def static_shape_of_split_and_concat(tf):
    a = tf.TensorArray(tf.float32, 2).split(tf.zeros([4, 5]), [2, 2])
    b = tf.TensorArray(tf.float32, 2, infer_shape=False).split(tf.zeros([4, 5]), [1, 3])
    return static(a.read(0), a.concat(), a.stack(), b.read(0), b.concat())


def static_shape_of_scatter(tf):
    a = tf.TensorArray(tf.float32, 3).scatter([0, 2], tf.zeros([2, 4]))
    return static(a.read(0), a.stack())


def shapes_that_differ(tf):
    a = tf.TensorArray(tf.float32, 2).write(0, [1.0, 2.0])
    return caught(lambda: a.write(1, [1.0]), WHOLE)


def shapes_that_differ_from_the_given(tf):
    a = tf.TensorArray(tf.float32, 2, element_shape=[3])
    return caught(lambda: a.write(1, [1.0]), WHOLE), caught(lambda: a.unstack([[1.0], [2.0]]), WHOLE)


def shapes_that_differ_from_the_given_when_not_inferred(tf):
    a = tf.TensorArray(tf.float32, 2, element_shape=[3], infer_shape=False)
    return caught(lambda: run(tf, a.write(1, [1.0]).flow))


def rows(tf):
    a = _full(tf, clear_after_read=False)
    return run(tf, [a.stack(), a.size(), a.read(1)])


def rows_gathered_and_scattered(tf):
    a = tf.TensorArray(tf.int32, 4, dynamic_size=True, clear_after_read=False).scatter([3, 1], [[1, 2], [3, 4]])
    return run(tf, [a.gather([1, 3, 1]), a.size(), a.read(3)])


def rows_beyond_the_size(tf):
    a = tf.TensorArray(tf.int32, 1).unstack([1, 2])
    b = tf.TensorArray(tf.int32, 1, dynamic_size=True).unstack([1, 2])
    return caught(lambda: run(tf, a.stack())), run(tf, b.stack())


def parts_of_different_lengths(tf):
    a = tf.TensorArray(tf.int32, 3, infer_shape=False).split([1, 2, 3, 4, 5, 6], [1, 0, 5])
    return run(tf, [a.read(0), a.read(1), a.read(2)]), run(tf, a.concat())


def parts_that_do_not_add_up(tf):
    a = tf.TensorArray(tf.int32, 2, infer_shape=False).split([1, 2, 3], [1, 1])
    return caught(lambda: run(tf, a.concat()), WHOLE)


def parts_of_other_number(tf):
    a = tf.TensorArray(tf.int32, 3, infer_shape=False).split([1, 2, 3], [1, 2])
    return caught(lambda: run(tf, a.concat()))


def parts_of_int64_lengths(tf):
    a = tf.TensorArray(tf.int32, 2, infer_shape=False).split([1, 2, 3], tf.constant([1, 2], tf.int64))
    return run(tf, a.read(1))


def concat_of_scalars(tf):
    a = tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0])
    return caught(lambda: run(tf, a.concat()))


def concat_of_matrices(tf):
    return run(tf, _full(tf).concat())


def stack_of_an_empty_array(tf):
    a = tf.TensorArray(tf.float32, 0, element_shape=[2])
    b = tf.TensorArray(tf.float32, 0)
    return run(tf, a.stack()), caught(lambda: run(tf, b.stack()))


def stack_with_a_gap(tf):
    a = tf.TensorArray(tf.float32, 3, element_shape=[2]).write(1, [1.0, 2.0])
    b = tf.TensorArray(tf.float32, 3).write(1, [1.0, 2.0])
    return run(tf, a.stack()), run(tf, b.stack())


def gather_of_nothing(tf):
    return run(tf, _full(tf).gather(tf.zeros([0], tf.int32)))


def gather_out_of_range(tf):
    return caught(lambda: run(tf, _full(tf).gather([5])))


def read_by_a_fed_index(tf):
    a = _full(tf, clear_after_read=False)
    i = tf.placeholder(tf.int32, [])
    x = a.read(i)
    with tf.Session() as sess:
        return [sess.run(x, {i: k}) for k in range(3)], caught(lambda: sess.run(x, {i: 3})), caught(lambda: sess.run(x, {i: -1}))


def read_clears(tf):
    a = _full(tf)
    x = a.read(0)
    with tf.control_dependencies([x]):
        y = a.read(0)
    return caught(lambda: run(tf, y))


def read_after_a_read_when_kept(tf):
    a = _full(tf, clear_after_read=False)
    x = a.read(0)
    with tf.control_dependencies([x]):
        y = a.read(0)
    return run(tf, y)


def write_twice(tf):
    a = tf.TensorArray(tf.float32, 2).write(0, 1.0)
    return caught(lambda: run(tf, a.write(0, 2.0).flow))


def write_before_the_start(tf):
    return caught(lambda: run(tf, tf.TensorArray(tf.float32, 2).write(-1, 2.0).flow))


def dynamic_size(tf):
    a = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    b = a.write(2, 1.0)
    return run(tf, b.size())


def size_fed(tf):
    n = tf.placeholder(tf.int32, [])
    a = tf.TensorArray(tf.float32, n)
    r = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, tf.cast(i * i, tf.float32))), (0, a))[1]
    s = r.stack()
    with tf.Session() as sess:
        return [sess.run(s, {n: k}) for k in (1, 3, 5)]


def negative_size(tf):
    return caught(lambda: run(tf, tf.TensorArray(tf.float32, -1).size()))


def size_of_rank_one(tf):
    return caught(lambda: run(tf, tf.TensorArray(tf.float32, [1]).size()))


def close_and_use(tf):
    a = _full(tf)
    with tf.control_dependencies([a.close()]):
        x = a.identity().read(0)
    return caught(lambda: run(tf, x))


def identity_under_a_dependency(tf):
    a = _full(tf)
    with tf.control_dependencies([tf.no_op(name="first")]):
        b = a.identity()
    return b.flow.op.type, [c.name for c in b.flow.op.control_inputs], run(tf, b.read(2))


def from_handle_and_flow(tf):
    a = _full(tf)
    b = tf.TensorArray(tf.float32, handle=a.handle, flow=a.flow)
    c = tf.TensorArray(tf.float32, handle=a.handle, flow=a.flow, infer_shape=False)
    return static(b.read(0), b.stack()), run(tf, [b.stack(), c.size()])


def constructor_misused(tf):
    a = _full(tf)
    return [
        caught(lambda: tf.TensorArray(tf.float32), WHOLE),
        caught(lambda: tf.TensorArray(tf.float32, size=1, handle=a.handle), WHOLE),
        caught(lambda: tf.TensorArray(tf.float32, handle=a.handle, tensor_array_name="n"), WHOLE),
        caught(lambda: tf.TensorArray(tf.float32, handle=3), WHOLE),
        caught(lambda: tf.TensorArray(tf.float32, handle=a.handle, element_shape=[1]), WHOLE),
        caught(lambda: tf.TensorArray(tf.float32, handle=a.handle, dynamic_size=True), WHOLE),
        caught(lambda: tf.TensorArray(tf.float32, handle=a.handle, clear_after_read=True), WHOLE),
    ]
