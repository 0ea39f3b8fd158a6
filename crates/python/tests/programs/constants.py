"""Constants, placeholders, and conversion to tensors."""

import numpy as np

from programs.tools import caught, nodes, run, static


def scalar_int(tf):
    return run(tf, tf.constant(3))


def scalar_float(tf):
    return run(tf, tf.constant(2.5))


def scalar_bool(tf):
    return run(tf, tf.constant(True))


def scalar_string(tf):
    return run(tf, tf.constant("hello"))


def scalar_complex(tf):
    c = tf.constant(1 + 2j)
    return static(c), run(tf, c)


def python_list(tf):
    c = tf.constant([[1, 2], [3, 4]])
    return static(c), run(tf, c)


def mixed_int_and_float_list(tf):
    return run(tf, tf.constant([1, 2.5]))


def strings_in_a_list(tf):
    c = tf.constant(["a", b"bc", "\u00e9"])
    return static(c), run(tf, c).tolist()


def numpy_keeps_its_dtype(tf):
    arrays = [np.array([1, 2], np.int16), np.array([1.5]), np.array([True]), np.array(7, np.uint8), np.float16(0.5)]
    tensors = [tf.constant(a) for a in arrays]
    return static(*tensors), run(tf, tensors)


def explicit_dtype(tf):
    kinds = [tf.float64, tf.int64, tf.uint8, tf.float16, tf.complex64]
    return run(tf, [tf.constant(3, dtype=k) for k in kinds])


def shape_fills_up(tf):
    return run(tf, [tf.constant(7, shape=[2, 3]), tf.constant([1, 2, 3], shape=[5]), tf.constant([1, 2, 3, 4], shape=[2, 2])])


def shape_too_small(tf):
    return caught(lambda: tf.constant([1, 2, 3], shape=[2]), "Too many elements provided")


def none_is_no_value(tf):
    return caught(lambda: tf.constant(None), "None values not supported")


def large_int(tf):
    c = tf.constant(2 ** 40)
    return static(c), run(tf, c)


def int64_on_request(tf):
    return run(tf, tf.constant(2 ** 40, dtype=tf.int64))


def float_is_no_int(tf):
    return caught(lambda: tf.constant(1.5, dtype=tf.int32), "Expected int32")


def string_is_no_float(tf):
    return caught(lambda: tf.constant("a", dtype=tf.float32), "Expected float32")


def ragged_list(tf):
    return caught(lambda: tf.constant([[1, 2], [3]]))


def empty_list(tf):
    c = tf.constant([])
    return static(c), run(tf, c)


def nested_empty(tf):
    c = tf.constant([[], []], dtype=tf.int32)
    return static(c), run(tf, c)


def names_count_up(tf):
    a, b, c = tf.constant(1), tf.constant(2), tf.constant(3, name="x")
    d = tf.constant(4, name="x")
    return [t.name for t in (a, b, c, d)], nodes(tf)


def zeros_and_ones(tf):
    z, o = tf.zeros([2, 3]), tf.ones([2], tf.int32)
    return static(z, o), run(tf, [z, o])


def zeros_of_strings_and_bools(tf):
    return run(tf, [tf.zeros([2], tf.string), tf.zeros([2], tf.bool), tf.ones([2], tf.bool)])


def zeros_of_dynamic_shape(tf):
    n = tf.placeholder(tf.int32, [])
    z = tf.zeros([n, 2])
    return static(z), run(tf, z, {n: 3})


def zeros_like_and_ones_like(tf):
    x = tf.placeholder(tf.float32, [None, 2])
    z, o = tf.zeros_like(x), tf.ones_like(x, dtype=tf.int64)
    return static(z, o), run(tf, [z, o], {x: [[1, 2], [3, 4], [5, 6]]})


def fill(tf):
    f = tf.fill([2, 2], 9.5)
    return static(f), run(tf, f), nodes(tf)


def fill_with_a_string(tf):
    return run(tf, tf.fill([3], "ab"))


def fill_negative(tf):
    n = tf.placeholder(tf.int32, [1])
    f = tf.fill(n, 1)
    return caught(lambda: run(tf, f, {n: [-1]}))


def range_forms(tf):
    ranges = [tf.range(5), tf.range(2, 8), tf.range(10, 2, -3), tf.range(0.0, 1.0, 0.25), tf.range(3, dtype=tf.int64)]
    return static(*ranges), run(tf, ranges)


def range_zero_step(tf):
    return caught(lambda: tf.range(0, 5, 0))


def linspace(tf):
    return run(tf, tf.linspace(0.0, 1.0, 5))


def eye_and_diag(tf):
    return run(tf, [tf.eye(2), tf.eye(2, 3), tf.diag([1, 2])])


def one_hot(tf):
    h = tf.one_hot([0, 2, -1], 3)
    return static(h), run(tf, h)


def one_hot_values(tf):
    return run(tf, tf.one_hot([[0, 1]], 2, on_value=5, off_value=-1, axis=1))


def placeholder_fed(tf):
    x = tf.placeholder(tf.float32, [2])
    return static(x), run(tf, x * 2, {x: [1, 2]})


def placeholder_not_fed(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    return caught(lambda: run(tf, x * 2), "You must feed a value for placeholder tensor 'x' with dtype float and shape [2]")


def placeholder_of_any_shape(tf):
    x = tf.placeholder(tf.int32)
    y = x + 1
    return static(x, y), run(tf, y, {x: [[1], [2]]}), run(tf, y, {x: 5})


def placeholder_fed_a_wrong_shape(tf):
    x = tf.placeholder(tf.float32, [2, None], name="x")
    return caught(lambda: run(tf, x, {x: [1.0, 2.0]}), "Cannot feed value of shape (2,) for Tensor 'x:0', which has shape '(2, ?)'")


def placeholder_fed_a_wrong_type(tf):
    x = tf.placeholder(tf.int32, [])
    return caught(lambda: run(tf, x, {x: "a"}))


def placeholder_fed_a_float_for_an_int(tf):
    x = tf.placeholder(tf.int32, [])
    return run(tf, x, {x: 1.5})


def placeholder_with_default(tf):
    x = tf.placeholder_with_default([1, 2], [None])
    return static(x), run(tf, x), run(tf, x, {x: [7]}), nodes(tf)


def placeholder_strings(tf):
    x = tf.placeholder(tf.string, [None])
    return run(tf, x, {x: ["a", b"b"]}).tolist()


def convert_a_tensor_is_itself(tf):
    x = tf.constant(1.0)
    return tf.convert_to_tensor(x) is x


def convert_with_another_dtype(tf):
    x = tf.constant(1.0, name="x")
    return caught(lambda: tf.convert_to_tensor(x, dtype=tf.int32), "Tensor conversion requested dtype int32 for Tensor with dtype float32")


def convert_preferred_dtype(tf):
    a = tf.convert_to_tensor(1, preferred_dtype=tf.float64)
    b = tf.convert_to_tensor("s", preferred_dtype=tf.float64)
    return static(a, b)


def convert_a_list_of_tensors(tf):
    x = tf.constant(1)
    y = tf.convert_to_tensor([x, 2, 3])
    return static(y), run(tf, y), nodes(tf)


def convert_a_nested_list_of_tensors(tf):
    x = tf.constant([1.0, 2.0])
    y = tf.convert_to_tensor([[x, x], [x, [3.0, 4.0]]])
    return static(y), run(tf, y)


def convert_an_object(tf):
    return caught(lambda: tf.convert_to_tensor(object()))


def convert_a_dimension(tf):
    x = tf.placeholder(tf.float32, [3, None])
    return run(tf, tf.convert_to_tensor(x.get_shape()[0])), caught(lambda: tf.convert_to_tensor(x.get_shape()[1]))


def convert_a_shape(tf):
    x = tf.zeros([2, 3])
    y = tf.convert_to_tensor(x.get_shape())
    return static(y), run(tf, y), caught(lambda: tf.convert_to_tensor(tf.TensorShape([None])))


def convert_a_variable(tf):
    v = tf.Variable([1.0, 2.0])
    t = tf.convert_to_tensor(v)
    return t.name, t.dtype.name, run(tf, t)


def static_values(tf):
    from_constant = tf.get_static_value(tf.constant([1, 2]))
    of_shape = tf.get_static_value(tf.shape(tf.zeros([2, 3])))
    unknown = tf.get_static_value(tf.placeholder(tf.int32, []))
    return from_constant, of_shape, unknown


def guarantee_of_identity(tf):
    x = tf.constant([1.0])
    y = tf.identity(x)
    z = tf.stop_gradient(y)
    return y is x, y.op.type, z.op.type, run(tf, [y, z])
