"""Arguments in forms that few programs use: what TensorFlow takes, and what it refuses."""

import numpy as np

from programs.tools import caught, inside, late, mistakes, run

REFUSED = "Must run 'setup' before performing partial runs!"


def handles_of_partial_runs(tf):
    a, b = tf.placeholder(tf.float32, [], name="a"), tf.placeholder(tf.float32, [], name="b")
    x = tf.add(a, 1.0, name="x")
    y = tf.multiply(x, b, name="y")
    with tf.Session() as sess:
        return [
            sess.partial_run_setup([x, y], [b, a]),
            sess.partial_run_setup(x, a),
            sess.partial_run_setup({"q": [x]}, ["a:0"]),
            sess.partial_run_setup("x:0", (a,)),
            sess.partial_run_setup([x.op, y], [a, b]),
        ]


def ends_of_partial_runs(tf):
    a, b = tf.placeholder(tf.float32, [], name="a"), tf.placeholder(tf.float32, [], name="b")
    x = tf.add(a, 1.0, name="x")
    y = tf.multiply(x, b, name="y")
    with tf.Session() as sess:
        h = sess.partial_run_setup([x, y], [a, b])
        out = [sess.partial_run(str(h), x, {a: 1.0}), sess.partial_run(h, y, {b: 3.0})]
        return out, caught(lambda: sess.partial_run(h, y, {b: 3.0}), REFUSED), caught(lambda: sess.partial_run("other", x), REFUSED), caught(lambda: sess.partial_run(3, x))


def partial_runs_that_lack_a_feed(tf):
    a, b = tf.placeholder(tf.float32, [], name="a"), tf.placeholder(tf.float32, [], name="b")
    x = tf.add(a, 1.0, name="x")
    y = tf.multiply(x, b, name="y")
    with tf.Session() as sess:
        begin = lambda: sess.partial_run_setup([x, y], [a])
        return (
            caught(lambda: sess.partial_run(begin(), x, {b: 1.0}), "The feed b:0 was not specified in partial_run_setup."),
            caught(lambda: sess.partial_run(begin(), y, {a: 1.0}), "You must feed a value for placeholder tensor 'b' with dtype float"),
            caught(lambda: sess.partial_run(begin(), [x, tf.no_op()], {a: 1.0}), "partial_run() requires empty target_list."),
            type(sess.partial_run_setup([x.op], [])).__name__,
        )


def callables_with_a_tensor_twice(tf):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.Session() as sess:
        twice = sess.make_callable(a + 1.0, [a, a])
        mixed = sess.make_callable([a + 1.0, b], [a, b, a.name])
        return twice(1.0, 2.0), mixed(1.0, 2.0, 3.0)


def feeds_of_tuples(tf):
    a, b, v = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [2])
    with tf.Session() as sess:
        return (
            sess.run([a, v], {(a, v): (1.0, np.array([2.0, 3.0], np.float32))}),
            sess.run([a, b, v], {(a, (b, v)): [1.0, [4.0, np.array([2.0, 3.0], np.float32)]]}),
            caught(lambda: sess.run([a, v], {(a, v): (1.0, [2.0, 3.0])}), "Could not flatten dictionary. Key had 2 elements, but value had 3 elements."),
            caught(lambda: sess.run([a, b], {(a, b): 1.0}), "Could not flatten dictionary. Key had 2 elements, but value had 1 elements."),
        )


def outputs_with_dependencies(tf):
    with_dependencies = inside("python.ops.control_flow_ops").with_dependencies
    slices = with_dependencies([tf.no_op()], tf.SparseTensor([[0]], [1], [2]))
    return (
        type(slices).__name__,
        run(tf, slices),
        with_dependencies((tf.no_op(),), 1).name,
        mistakes(tf, none=lambda: with_dependencies(None, tf.constant(1)), a_number=lambda: with_dependencies(3, tf.constant(1))),
    )


def loops_of_one_bare_variable(tf):
    loop = lambda x: tf.while_loop(lambda i: i < 3, lambda i: i + 1, x)
    return mistakes(tf, zero=lambda: loop(0), a_tensor=lambda: loop(tf.constant(0)), nothing=lambda: loop(None), an_empty_dict=lambda: loop({}), zeros=lambda: loop(np.array([0])))


def arrays_with_flags_that_are_no_flags(tf):
    array = lambda **more: tf.TensorArray(tf.float32, 3, **more)
    return mistakes(
        tf,
        dynamic_size=lambda: array(dynamic_size=3),
        clear_after_read=lambda: array(clear_after_read=3),
        infer_shape=lambda: array(infer_shape=3),
        a_zero=lambda: array(dynamic_size=0).size(),
    )


def classes_registered_for_fetches(tf):
    register = inside("python.client.session").register_session_run_conversion_functions
    one = type("One", (), {})
    more = type("More", (one,), {})
    register(more, lambda q: ([q.t], lambda v: v[0]))
    return caught(lambda: register(one, lambda q: 1), "has already been registered so ignore it."), caught(
        lambda: register(object, lambda q: 1), "has already been registered so ignore it."
    )


def norms_of_matrices(tf):
    x = tf.constant([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
    t = tf.reshape(tf.range(24.0), [2, 3, 4])
    found = [tf.norm(x, 2, axis=[0, 1]), tf.norm(x, 2, axis=(1, 0)), tf.norm(t, 2, axis=[-2, -1]), tf.norm(t, 2, axis=[0, 2], keepdims=True), tf.norm(late(tf, [[3.0, 0.0], [0.0, 4.0]]), 2, axis=[-2, -1])]
    return [np.round(v, 3) for v in run(tf, found)]


def exponentials_too_large(tf):
    return run(tf, tf.linalg.expm(tf.constant([[[30.0, 60.0], [90.0, 150.0]], [[0.0, 0.0], [0.0, 0.0]]])))


def quotients_of_numbers_and_tensors(tf):
    x = tf.constant([2.0, 4.0])
    return run(tf, [tf.divide(2, x), tf.divide(x, 2), tf.divide(np.array([2, 4]), x), tf.divide(3, tf.constant([2, 4])), tf.divide(2.0, x, name="named")])


def parts_of_bools(tf):
    b = tf.constant([True, False])
    return run(tf, tf.math.imag(b)), mistakes(tf, conj=lambda: tf.math.conj(tf.constant([True])))
