"""Gradients defined by Python functions: cases that TensorFlow lacks or gets wrong, and object lifetimes.

Other cases are in `programs/custom_gradients.py`.
"""

import gc
import itertools
import weakref

import numpy as np
import pytest

import millstream as tf
from millstream import _engine

_numbers = itertools.count()


def run(fetches):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches)


def overridden(op_type, function, build):
    name = "TestsOwn%d" % next(_numbers)
    tf.RegisterGradient(name)(function)
    with tf.get_default_graph().gradient_override_map({op_type: name}):
        return build()


def test_the_second_derivative_in_a_loop_by_what_the_closure_holds():
    @tf.custom_gradient
    def cube(x):
        return x * x * x, lambda dy: dy * 3.0 * x * x

    def powers(function):
        x = tf.constant(1.2)
        r = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, function(a)), [0, x])[1]
        (first,) = tf.gradients(r, x)
        return run([r, first, tf.gradients(first, x)[0]])

    np.testing.assert_allclose(powers(cube), powers(lambda a: a * a * a), rtol=1e-5)
    np.testing.assert_allclose(powers(cube), [1.2**9, 9 * 1.2**8, 72 * 1.2**7], rtol=1e-5)


def test_in_loops_inside_loops():
    @tf.custom_gradient
    def times(a, b):
        return a * b, lambda dy: (dy * b, dy * a)

    def both(times):
        x = tf.constant(1.3)
        inner = lambda a: tf.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, times(b, a)), [0, a])[1]  # noqa: E731
        r = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, inner(a)), [0, x])[1]
        return run([r, tf.gradients(r, x)[0]])

    np.testing.assert_allclose(both(times), both(lambda a, b: a * b), rtol=1e-5)


def test_what_is_computed_again_in_a_loop():
    # TensorFlow 1.15 returns 0 and 0.1486 here.
    with tf.variable_scope("s", use_resource=True):
        w = tf.get_variable("w", [], initializer=tf.constant_initializer(3.0))

        def derivatives(block):
            x = tf.constant(1.5)
            r = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, block(a)), [0, x])[1]
            return run([r] + tf.gradients(r, [x, w]))

        block = lambda a: tf.sin(a) * w  # noqa: E731
        np.testing.assert_allclose(derivatives(tf.recompute_grad(block)), derivatives(block), rtol=1e-5)


def test_a_loop_inside_of_a_gradient():
    def backward(op, g):
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * op.inputs[0]), [0, g])[1]

    x = tf.constant(2.0)
    assert run(tf.gradients(overridden("Identity", backward, lambda: tf.identity(x)), x)) == [8.0]
    r = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, overridden("Square", backward, lambda: tf.square(a))), [0, x])[1]
    # 2 -> 4 -> 16: 4^3 * 2^3.
    assert run([r, tf.gradients(r, x)[0]]) == [16.0, 512.0]


def test_a_branch_inside_of_a_gradient_in_a_loop():
    def backward(op, g):
        return tf.cond(op.inputs[0] < 3.0, lambda: g * op.inputs[0], lambda: g * 10.0)

    x = tf.constant(2.0)
    r = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, overridden("Square", backward, lambda: tf.square(a))), [0, x])[1]
    assert run([r, tf.gradients(r, x)[0]]) == [16.0, 20.0]


def test_a_forward_value_that_is_the_gradient():
    x = tf.constant(2.0)
    r = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, overridden("Square", lambda op, g: op.inputs[0], lambda: tf.square(a))), [0, x])[1]
    assert run(tf.gradients(r, x)) == [2.0]


@pytest.mark.parametrize(
    "given, kind, text",
    [
        (5.0, TypeError, "it must return a Tensor, IndexedSlices or None: `tf.constant(5.0)`"),
        (np.float32(1), TypeError, "it must return a Tensor"),
    ],
)
def test_what_is_no_gradient(given, kind, text):
    x = tf.constant(3.0)
    y = overridden("Square", lambda op, g: given, lambda: tf.square(x))
    with pytest.raises(kind) as caught:
        tf.gradients(y, x)
    assert text in str(caught.value)


def test_a_gradient_of_another_dtype():
    x = tf.constant(3.0)
    y = overridden("Square", lambda op, g: tf.constant(1.0, tf.float64), lambda: tf.square(x))
    with pytest.raises(ValueError, match="Gradient type float64 generated for op name: \"Square\" does not match input type float32"):
        tf.gradients(y, x)


def test_after_an_error_the_graph_can_be_built_on():
    x = tf.constant(1.5)

    def fails(op, g):
        return [g][op.inputs[0] is None or 1]

    r = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, overridden("Square", fails, lambda: tf.square(a))), [0, x])[1]
    for _ in range(2):
        with pytest.raises(IndexError):
            tf.gradients(r, x)
    assert not tf.get_default_graph()._in_context
    assert run(tf.gradients(x * x, x)) == [3.0]


def test_the_graph_lets_go_of_its_gradients():
    def build():
        with tf.Graph().as_default() as graph:
            x = tf.constant(2.0)

            @tf.custom_gradient
            def cube(a):
                return a * a * a, lambda dy: dy * x

            tf.gradients(cube(x), x)
        return weakref.ref(graph)

    graphs = [build() for _ in range(5)]
    gc.collect()
    assert [g() for g in graphs] == [None] * 5
