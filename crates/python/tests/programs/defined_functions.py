"""`Defun` (functions with gradients of their own) and `py_function`."""

import sys

import numpy as np

from programs.raised import WHOLE, caught


def _defun(*args, **kwargs):
    if "millstream" in sys.modules:
        from millstream.variables.defined_functions import Defun
    else:
        from tensorflow.python.framework.function import Defun

    return Defun(*args, **kwargs)


def _run(tf, *fetches):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(list(fetches))


def values_and_gradients(tf):
    @_defun(tf.float32, tf.float32)
    def both(x, y):
        return x * y, x + y

    a, b = tf.constant(3.0), tf.constant([4.0, 5.0])
    product, total = both(a, b)
    named = both(a, b, name="mine")
    grads = tf.gradients([product, total], [a, b])
    return _run(tf, product, total, grads), [t.name for t in named], type(both(a, b)) is tuple, both.declared_input_types


def a_gradient_in_python(tf):
    def gradient(op, grad):
        return grad * tf.where(tf.greater(op.inputs[0], 0.0), op.outputs[0], tf.zeros_like(op.inputs[0]))

    @_defun(tf.float32, python_grad_func=gradient, func_name="Rect")
    def rect(x):
        return tf.nn.relu(x) + 1.0

    x = tf.constant([-1.0, 2.0])
    y = rect(rect(x))
    return y.name, _run(tf, y, tf.gradients(y, x)[0])


def a_gradient_that_is_a_function(tf):
    @_defun(tf.float32, tf.float32)
    def straight(x, grad):
        return grad

    @_defun(tf.float32, grad_func=straight)
    def binarize(x):
        return tf.sign(x)

    x = tf.constant([-0.5, 2.0])
    return _run(tf, binarize(x), tf.gradients(tf.reduce_sum(binarize(x) * [3.0, 4.0]), x)[0]), binarize.grad_func_name is not None


def variables_are_made_once(tf):
    @_defun(tf.float32)
    def scaled(x):
        w = tf.get_variable("w", [], initializer=tf.constant_initializer(3.0))
        return x * w

    with tf.variable_scope("layer"):
        one = scaled(tf.constant(2.0))
    two = scaled(one)
    names = [v.name for v in tf.trainable_variables()]
    return names, _run(tf, one, two, tf.gradients(two, tf.trainable_variables()))


def captured_values(tf):
    w = tf.get_variable("w", initializer=2.0)
    offset = tf.constant(1.0)

    @_defun(tf.float32)
    def line(x):
        return w * x + offset

    y = line(line(tf.constant(5.0)))
    return _run(tf, y, tf.gradients(y, [w, offset]))


def of_any_type(tf):
    @_defun()
    def twice(x):
        return x + x

    return _run(tf, twice(tf.constant(2)), twice(tf.constant(2.5)), twice([1.0, 2.0]))


def of_many_arguments(tf):
    @_defun(*[tf.float32] * 3)
    def total(*args):
        return tf.add_n(args)

    return _run(tf, total(1.0, 2.0, 3.0))


def in_loops(tf):
    @_defun(tf.float32, python_grad_func=lambda op, g: g * 2.0)
    def step(x):
        return x * 3.0

    x = tf.constant(1.0)
    def body(i, a):
        following = step(a)
        following.set_shape([])
        return i + 1, following

    y = tf.while_loop(lambda i, a: i < 3, body, (0, x))[1]
    z = tf.cond(tf.constant(True), lambda: step(x), lambda: x)
    return _run(tf, y, tf.gradients(y, x)[0], z, tf.gradients(z, x)[0])


def loops_inside(tf):
    @_defun(tf.float32, tf.int32)
    def power(x, n):
        x.set_shape([])
        return tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x), (0, 1.0))[1]

    return _run(tf, power(2.0, 5), power(tf.constant(3.0), tf.constant(2)))


def functions_call_functions(tf):
    @_defun(tf.float32)
    def square(x):
        return x * x

    @_defun(tf.float32)
    def fourth(x):
        return square(square(x))

    x = tf.constant(2.0)
    y = fourth(x)
    return _run(tf, y, tf.gradients(y, x)[0])


def a_layer_of_its_own(tf):
    """A squashing layer with a gradient by hand, trained."""

    def gradient(op, grad):
        return grad * (1.0 - tf.square(op.outputs[0]))

    @_defun(tf.float32, python_grad_func=gradient, func_name="Squash")
    def squash(x):
        return tf.tanh(x)

    rng = np.random.RandomState(0)
    x = tf.constant(rng.normal(size=(8, 3)), tf.float32)
    y = tf.constant(rng.normal(size=(8, 1)), tf.float32)
    w = tf.get_variable("w", initializer=tf.constant(rng.normal(size=(3, 4)), tf.float32))
    v = tf.get_variable("v", initializer=tf.constant(rng.normal(size=(4, 1)), tf.float32))
    hidden = squash(tf.matmul(x, w))
    hidden.set_shape([8, 4])
    loss = tf.reduce_mean(tf.square(tf.matmul(hidden, v) - y))
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run([loss, train])[0] for _ in range(10)]


def effects_and_no_results(tf):
    w = tf.get_variable("w", initializer=1.0, use_resource=True)

    @_defun(tf.float32)
    def add(x):
        tf.assert_greater(x, 0.0)
        w.assign_add(x)

    made = add(tf.constant(2.0))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(made), sess.run(w)


def wrong_calls(tf):
    @_defun(tf.float32, tf.float32)
    def both(x, y):
        return x * y

    a = tf.constant(1.0)
    both(a, a)
    return [
        caught(lambda: both(a), WHOLE),
        caught(lambda: both(a, a, a), WHOLE),
        caught(lambda: both(a, a, bad=1), WHOLE),
        caught(lambda: both(tf.constant(1), a), "Input 'x' passed int32 expected float"),
        caught(lambda: _defun(tf.float32)(5), WHOLE),
        caught(lambda: _defun(tf.float32)(lambda x: [x, None])(a), "can not return None"),
    ]


def values_of_tensors(tf):
    seen = []

    def f(x, n):
        seen.append((x.dtype.name, x.shape.as_list(), x.numpy().tolist()))
        while tf.reduce_sum(x) < 100.0:
            x = x * tf.cast(n, tf.float32)
        return x, [row.numpy() for row in x][0]

    x = tf.constant([1.0, 2.0])
    y, first = tf.py_function(f, [x, 3], [tf.float32, tf.float32])
    with tf.Session() as sess:
        return sess.run([y, first]), seen, y.shape, sess.run(tf.py_function(lambda: 2.5, [], tf.float32))


def gradients_through_python(tf):
    def huber(x, m):
        return x ** 2 if tf.abs(x) <= m else m ** 2 * (1 - 2 * tf.math.log(m) + tf.math.log(x ** 2))

    x, m = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    y = tf.py_function(func=huber, inp=[x, m], Tout=tf.float32)
    grads = tf.gradients(y, [x, m])
    with tf.Session() as sess:
        return [sess.run([y] + grads, {x: a, m: b}) for a, b in [(1.0, 2.0), (3.0, 2.0)]]


def py_function_refusals(tf):
    x = tf.constant(1.0)

    def run(f, kind=None):
        return caught(lambda: tf.Session().run(tf.py_function(f, [x], kind or tf.float32)))

    return run(lambda x: "a"), run(lambda x: 1 / 0), caught(lambda: tf.py_function(3, [x], tf.float32), WHOLE), run(lambda x: None)


def py_function_without_results(tf):
    seen = []
    done = tf.py_function(lambda x: seen.append(float(x.numpy())), [tf.constant(2.0)], [])
    with tf.Session() as sess:
        return sess.run(done), seen


def keywords_for_the_runtime(tf):
    def called(**options):
        @_defun(tf.float32, **options)
        def twice(x):
            return 2.0 * x

        with tf.Graph().as_default():
            x = tf.constant(3.0)
            y = twice(x, noinline=True)
            return _run(tf, y, tf.gradients(y, x)[0])

    return {
        "fine": [called(noinline=True), called(_implements="twice")],
        "compiled": [called(compiled=False, separate_compiled_gradients=False)],
        "other": caught(lambda: called(inlined=True), WHOLE),
        "in a call": caught(lambda: _defun(tf.float32)(lambda x: x)(1.0, inlined=True), WHOLE),
        "not called": caught(lambda: _defun(tf.float32, inlined=True)(lambda x: x), WHOLE),
    }
