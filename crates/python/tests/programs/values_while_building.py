"""What TensorFlow knows while the graph is built, and how tests compare values."""

import numpy as np

from programs.tools import WHOLE, caught, inside, mistakes


def known_values(tf):
    tensor_util = inside("python.framework.tensor_util")

    c = tf.constant
    given = [
        c(1),
        c([1, 2]),
        tf.range(3),
        tf.shape(c([[1]])),
        tf.size(c([1, 2])),
        tf.rank(c([[1]])),
        tf.cast(c(1), tf.float32),
        tf.concat([[1], [2]], 0),
        tf.stack([1, c(2)]),
        tf.fill([2], 3),
        tf.equal(1, 1),
        tf.not_equal(1, 1),
    ]
    return [np.asarray(tensor_util.constant_value(x)) for x in given], [type(tensor_util.constant_value(x)).__name__ for x in given[:10]]


def unknown_values(tf):
    tensor_util = inside("python.framework.tensor_util")

    c = tf.constant
    given = [tf.identity(c(1)), c(1) + 1, tf.reshape(c([1, 2]), [2, 1]), tf.unstack(c([1, 2]))[0], tf.expand_dims(c(1), 0), tf.placeholder(tf.int32)]
    return [tensor_util.constant_value(x) for x in given], tensor_util.constant_value(3), tensor_util.constant_value("a")


def values_as_shapes(tf):
    tensor_util = inside("python.framework.tensor_util")

    c = tf.constant
    return [caught(lambda: tensor_util.constant_value_as_shape(x), WHOLE) for x in (c(1), c(-1))] + [
        tensor_util.constant_value_as_shape(x) for x in (c(-1), c([-1, 2]), c([-2]), c([], tf.int32))
    ]


def shapes_as_tensors(tf):
    tensor_util = inside("python.framework.tensor_util")

    with tf.Session() as sess:
        return [sess.run(tensor_util.shape_tensor(x)) for x in ([1, 2], [2**40, 1], [tf.Dimension(2), 3], [])]


def numeric_tensors(tf):
    c = tf.constant
    given = [c(1), c("a"), c(True), 1, tf.Variable(1.0), c(1j), c(1j, tf.complex64), c(1, tf.uint16), c(1, tf.uint8), c(1.0, tf.float16), tf.SparseTensor([[0]], [1], [2])]
    return [tf.debugging.is_numeric_tensor(x) for x in given]


def assertions_of_no_list(tf):
    p = tf.placeholder_with_default(False, [])
    return mistakes(
        tf,
        nothing=lambda: tf.Assert(True, None),
        number=lambda: tf.Assert(True, 3),
        tensor=lambda: tf.Assert(True, tf.constant([1, 2])),
        no_condition=lambda: tf.Assert(None, [1]),
        words=lambda: tf.debugging.is_strictly_increasing(["a"]),
    )


def _outcome(function):
    try:
        function()
        return "equal"
    except Exception as error:
        return type(error).__name__


def equal_texts(tf):
    class Test(tf.test.TestCase):
        def runTest(self):  # noqa: N802
            pass

    test = Test()
    pairs = [
        ([b"a"], ["a"]),
        (["a"], [b"a"]),
        (b"a", "a"),
        (["a"], ["a"]),
        (np.array(["a", "b"]), [b"a", b"b"]),
        (np.array([b"a", b"b"], object), ["a", "b"]),
        (np.array([b"a", b"b"], object), [b"a", b"b"]),
        ([b"a", b"b"], np.array([b"a", b"b"], object)),
        ([b"a", b"b"], [b"a", b"bc"]),
        ([[1], [2, 3]], [[1], [2, 3]]),
        ([[1], [2, 3]], [[1], [2, 4]]),
        ([1], ["1"]),
    ]
    return [_outcome(lambda: test.assertAllEqual(a, b)) for a, b in pairs]


def gradients_that_cannot_be_checked(tf):
    x, i = tf.constant([1.0, 2.0]), tf.constant([1, 2])
    with tf.Session():
        check = tf.test.compute_gradient
        return [
            caught(lambda: check(i, [2], i * i, [2]), WHOLE),
            caught(lambda: check(x, [2], tf.argmax(x, 0), []), WHOLE),
            caught(lambda: check(x, [2], tf.stop_gradient(x), [2]), WHOLE),
            caught(lambda: check(x, [2], x * x, [2], x_init_value=np.array([1.0])), WHOLE),
        ]
