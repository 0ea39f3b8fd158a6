"""`tf.py_func`, beyond the programs in `sessions`: arguments, results, errors."""

import numpy as np

from programs.tools import caught, run, static


def _kinds(*values):
    return str([(type(v).__name__, str(getattr(v, "dtype", ""))) for v in values])


def arguments(tf):
    inputs = [1.0, tf.constant(2), [1.5, 2.5], np.ones([2, 2], np.uint8), "text", ["a", "b"]]
    return run(tf, tf.py_func(_kinds, inputs, tf.string))


def arguments_are_converted(tf):
    v = tf.Variable(1.0)
    y = tf.py_func(lambda *a: a[0], [v, [1, 2], 3.5, "a", np.float64(2)], tf.float32)
    return static(*y.op.inputs), run(tf, y)


def signature(tf):
    first = tf.py_func(lambda: 1, [], tf.int64)
    several = tf.py_func(lambda: (1, 2), [], (tf.int64, "int64"))
    listed = tf.py_func(lambda: 1, [], [tf.int64])
    return static(first, *several), type(several).__name__, type(listed).__name__, run(tf, [first, several, listed])


def attributes(tf):
    y = tf.py_func(lambda a: a, [1.0], tf.float32, name="called")
    z = tf.py_func(lambda a: a, [1.0], tf.float32, stateful=False)
    token = y.op.get_attr("token").decode()
    return y.name, y.op.type, z.name, z.op.type, token.split("_")[0], y.op.get_attr("Tin"), y.op.get_attr("Tout")


def numpy_function(tf):
    y = tf.numpy_function(lambda a: np.sort(a), [tf.constant([3.0, 1.0, 2.0])], tf.float32)
    return y.op.type, run(tf, y)


def python_numbers(tf):
    returned = [(1, tf.int64), (1.5, tf.float64), (True, tf.bool), (1 + 2j, tf.complex128), ("t", tf.string), (b"b", tf.string)]
    return [run(tf, tf.py_func(lambda value=value: value, [], dtype)) for value, dtype in returned]


def arrays_of_any_layout(tf):
    base = np.arange(12).reshape(3, 4)
    returned = [base.T, base[::-1, ::2], np.asfortranarray(base), np.array(["a", "bc"]), np.array([b"a", "d"], dtype=object), np.zeros([0, 2], np.int64)]
    return [run(tf, tf.py_func(lambda value=value: value, [], tf.string if value.dtype.kind in "UO" else tf.int64)) for value in returned]


def other_dtypes(tf):
    def one(value, dtype, says):
        return caught(lambda: run(tf, tf.py_func(lambda: value, [], dtype)), "0-th value returned by pyfunc_", says)

    return (
        one(1, tf.int32, " is int64, but expects int32"),
        one(1.5, tf.float32, " is double, but expects float"),
        one(np.float32(1), tf.float16, " is float, but expects half"),
        one(2, tf.bool, " is int64, but expects bool"),
        one("a", tf.int32, " is string, but expects int32"),
        one(1j, tf.complex64, " is complex128, but expects complex64"),
    )


def other_numbers_of_values(tf):
    def one(value, dtypes, says):
        return caught(lambda: run(tf, tf.py_func(lambda: value, [], dtypes)), "pyfunc_", says)

    return (
        one([1, 2], tf.int64, " returns 2 values, but expects to see 1 values."),
        one((1, 2, 3), [tf.int64, tf.int64], " returns 3 values, but expects to see 2 values."),
        one(None, [tf.int64], " returns 0 values, but expects to see 1 values."),
        one(5, [], " returns 1 values, but expects to see 0 values."),
        one(["a", "b"], tf.string, " returns 2 values, but expects to see 1 values."),
    )


def what_is_no_array(tf):
    return [caught(lambda value=value: run(tf, tf.py_func(lambda: value, [], tf.int64)), "Unsupported object type") for value in (object(), {}, lambda: 1)]


def exceptions(tf):
    class Mine(Exception):
        pass

    def one(error):
        def fail():
            raise error

        return caught(lambda: run(tf, tf.py_func(fail, [], tf.int64)), type(error).__name__ + ": ")

    errors = [KeyError("k"), IndexError("i"), ZeroDivisionError("z"), OSError(2, "x"), Mine("m"), AttributeError("a"), OverflowError("o"), AssertionError("a")]
    return [one(e) for e in errors] + [one(UnicodeDecodeError("utf8", b"a", 0, 1, "w")), one(tf.errors.OutOfRangeError(None, None, "inner"))]


def wrong_number_of_arguments(tf):
    return caught(lambda: run(tf, tf.py_func(lambda x, y: x, [1], tf.int32)), "TypeError: ", "missing 1 required positional argument: 'y'")


def misuse(tf):
    return (
        caught(lambda: tf.py_func(5, [], tf.int32), "Expected func to be callable, got func of type <class 'int'>"),
        caught(lambda: tf.py_func(lambda x: x, 1.0, tf.int32), "Expected list for 'input' argument to 'PyFunc' Op, not 1.0."),
        caught(lambda: tf.py_func(lambda x: x, None, tf.int32), "Expected list for 'input' argument to 'PyFunc' Op, not None."),
        caught(lambda: tf.py_func(lambda: 1, [], 5.5), "Expected DataType for argument 'Tout' not 5.5."),
    )


def unknown_token(tf):
    tf.py_func(lambda: 1, [], tf.int64, name="p")
    message = tf.get_default_graph().as_graph_def()
    message.node[0].attr["token"].s = b"nobody"
    with tf.Graph().as_default():
        (z,) = tf.import_graph_def(message, return_elements=["p:0"], name="")
        return caught(lambda: run(tf, z), "callback nobody is not found")


def imported_while_its_graph_lives(tf):
    tf.py_func(lambda: 7, [], tf.int64, name="p")
    message = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        (z,) = tf.import_graph_def(message, return_elements=["p:0"], name="")
        return run(tf, z)


def in_control_dependencies(tf):
    seen = []
    first = tf.py_func(lambda: seen.append("first"), [], [])
    with tf.control_dependencies([first]):
        second = tf.py_func(lambda: seen.append("second"), [], [])
    with tf.Session() as sess:
        sess.run(second)
    return seen


def in_a_branch(tf):
    x = tf.placeholder(tf.bool, [])
    seen = []
    y = tf.cond(x, lambda: tf.py_func(lambda: (seen.append(1), 1)[1], [], tf.int64), lambda: tf.constant(0, tf.int64))
    with tf.Session() as sess:
        return sess.run(y, {x: False}), list(seen), sess.run(y, {x: True}), list(seen)


def in_a_loop_with_a_state(tf):
    seen = []
    r = tf.while_loop(
        lambda i, s: i < 4,
        lambda i, s: (i + 1, tf.py_func(lambda i, s: (seen.append(int(i)), np.int32(s * 2 + i))[1], [i, s], tf.int32)),
        [0, 1],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)],
        parallel_iterations=1,
    )
    return run(tf, r[1]), seen


def in_map_fn(tf):
    y = tf.map_fn(lambda x: tf.py_func(lambda v: v * v, [x], tf.int32), tf.constant([1, 2, 3]))
    return run(tf, y)


def shape_declared(tf):
    y = tf.py_func(lambda: np.ones([2, 3]), [], tf.float64)
    y.set_shape([2, None])
    return static(y), run(tf, tf.matmul(y, tf.ones([3, 1], tf.float64)))


def argument_changed(tf):
    def change(a):
        a[:] = 7
        return a

    c = tf.constant([1.0, 2.0])
    with tf.Session() as sess:
        return sess.run(tf.py_func(change, [c], tf.float32)), sess.run(c)


def a_producer_through_a_queue(tf):
    count = [0]

    def item():
        count[0] += 1
        if count[0] == 4:
            raise StopIteration("at the end")
        return np.float32(count[0])

    queue = tf.FIFOQueue(10, [tf.float32], [[]])
    x = tf.py_func(item, [], tf.float32)
    x.set_shape([])
    enqueue = queue.enqueue(x)
    with tf.Session() as sess:
        for _ in range(3):
            sess.run(enqueue)
        ended = caught(lambda: sess.run(enqueue), "at the end")
        return ended, sess.run(queue.dequeue_many(3))
