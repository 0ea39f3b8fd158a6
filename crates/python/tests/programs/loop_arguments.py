"""`while_loop`: all forms of each argument, and errors."""

import numpy as np

from programs.tools import WHOLE, caught, names, run, static


def _count(tf, **arguments):
    return tf.while_loop(lambda i: i < 7, lambda i: i + 1, [tf.constant(0)], **arguments)


def parallel_iterations_1_5_10_20(tf):
    return [run(tf, _count(tf, parallel_iterations=n)) for n in (1, 5, 10, 20)]


def parallel_iterations_negative(tf):
    return caught(lambda: _count(tf, parallel_iterations=-1), WHOLE)


def parallel_iterations_none(tf):
    return caught(lambda: _count(tf, parallel_iterations=None))


def parallel_iterations_on_the_nodes(tf):
    _count(tf, parallel_iterations=3)
    return sorted({op.get_attr("parallel_iterations") for op in tf.get_default_graph().get_operations() if op.type == "Enter"})


def maximum_iterations_as_a_number(tf):
    return [run(tf, _count(tf, maximum_iterations=n)) for n in (0, 1, 3, 7, 100)]


def maximum_iterations_as_a_tensor(tf):
    return run(tf, _count(tf, maximum_iterations=tf.constant(4)))


def maximum_iterations_of_int64(tf):
    return run(tf, _count(tf, maximum_iterations=tf.constant(4, tf.int64)))


def maximum_iterations_as_numpy(tf):
    return run(tf, _count(tf, maximum_iterations=np.int32(2)))


def maximum_iterations_fed(tf):
    n = tf.placeholder(tf.int32, [])
    r = _count(tf, maximum_iterations=n)
    with tf.Session() as sess:
        return [sess.run(r, {n: k}) for k in (0, 2, 50)]


def maximum_iterations_negative(tf):
    return run(tf, _count(tf, maximum_iterations=-3))


def maximum_iterations_of_unknown_shape(tf):
    return caught(lambda: _count(tf, maximum_iterations=tf.placeholder(tf.int32)), WHOLE)


def maximum_iterations_of_rank_one(tf):
    return caught(lambda: _count(tf, maximum_iterations=[1, 2]), WHOLE)


def maximum_iterations_with_several_variables(tf):
    r = tf.while_loop(lambda i, x: i < 100, lambda i, x: (i + 1, x * 2.0), (0, 1.0), maximum_iterations=5)
    return type(r).__name__, run(tf, r)


def maximum_iterations_in_an_inner_loop(tf):
    def body(i, s):
        j, t = tf.while_loop(lambda j, t: True, lambda j, t: (j + 1, t + j), (0, s), maximum_iterations=i)
        return i + 1, t

    return run(tf, tf.while_loop(lambda i, s: i < 5, body, (0, 0)))


def condition_always_true(tf):
    return run(tf, tf.while_loop(lambda i: True, lambda i: i + 1, [0], maximum_iterations=3))


def condition_a_python_false(tf):
    return run(tf, tf.while_loop(lambda i: False, lambda i: i + 1, [5]))


def condition_a_numpy_bool(tf):
    return run(tf, tf.while_loop(lambda i: np.bool_(False), lambda i: i + 1, [5]))


def condition_of_one_element(tf):
    return caught(lambda: run(tf, tf.while_loop(lambda i: tf.reshape(i < 3, [1]), lambda i: i + 1, [0])), WHOLE)


def condition_of_unknown_shape(tf):
    p = tf.placeholder(tf.bool)
    return run(tf, tf.while_loop(lambda i: tf.logical_and(p, i < 3), lambda i: i + 1, [0]), {p: True})


def condition_of_a_captured_placeholder(tf):
    p = tf.placeholder(tf.int32, [])
    r = tf.while_loop(lambda i: i < p, lambda i: i + 2, [0])
    with tf.Session() as sess:
        return sess.run(r, {p: 5}), sess.run(r, {p: 6}), sess.run(r, {p: -1})


def condition_of_an_int(tf):
    return caught(lambda: tf.while_loop(lambda i: i, lambda i: i + 1, [3]), WHOLE)


def condition_returns_none(tf):
    return caught(lambda: tf.while_loop(lambda i: None, lambda i: i + 1, [3]))


def condition_raises(tf):
    def more(i):
        raise KeyError("mine")

    return caught(lambda: tf.while_loop(more, lambda i: i + 1, [3]), WHOLE)


def named(tf):
    return [_count(tf, name=n).name for n in (None, "while", "loop", "loop", "a/b")]


def name_in_scopes(tf):
    with tf.name_scope("x"):
        a = _count(tf)
        with tf.name_scope("y"):
            b = _count(tf, name="z")
    return a.name, b.name


def back_prop_off_says_no_gradient(tf):
    x = tf.constant(2.0)
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x), back_prop=False)
    return run(tf, r), [g is None for g in tf.gradients(r[1], [x])]


def swap_memory_changes_nothing(tf):
    x = tf.constant(2.0)
    r = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x), swap_memory=True)
    return run(tf, [r[1], tf.gradients(r[1], x)[0]])


def return_same_structure_of_one(tf):
    kinds = [[tf.constant(0)], (tf.constant(0),)]
    results = [tf.while_loop(lambda i: i < 3, lambda i: i + 1, k, return_same_structure=True) for k in kinds]
    return [type(r).__name__ for r in results], run(tf, results)


def return_same_structure_of_two(tf):
    r = tf.while_loop(lambda i, j: i < 3, lambda i, j: (i + 1, j), [0, 1], return_same_structure=True)
    return type(r).__name__, run(tf, r)


def return_same_structure_nested(tf):
    r = tf.while_loop(lambda p: p[0] < 3, lambda p: [[p[0] + 1, p[1]]], [[0, 1]], return_same_structure=True)
    return type(r).__name__, run(tf, r)


def not_the_same_structure_nested(tf):
    r = tf.while_loop(lambda p: p[0] < 3, lambda p: [[p[0] + 1, p[1]]], [[0, 1]])
    return type(r).__name__, run(tf, r)


def variables_in_a_tuple_or_list(tf):
    out = []
    for kind in (list, tuple):
        for returned in (list, tuple):
            r = tf.while_loop(lambda i, j: i < 3, lambda i, j: returned((i + 1, j * 2)), kind((0, 1)))
            out.append([type(r).__name__, run(tf, r)])
    return out


def variables_as_keywords(tf):
    r = tf.while_loop(cond=lambda i: i < 3, body=lambda i: i + 1, loop_vars=[tf.constant(0)], shape_invariants=[tf.TensorShape([])], name="k")
    return r.name, run(tf, r)


def no_variables_at_all(tf):
    return caught(lambda: tf.while_loop(lambda: True, lambda: [], []), WHOLE), caught(lambda: tf.while_loop(lambda: True, lambda: [], None), WHOLE)


def body_returns_none(tf):
    return caught(lambda: tf.while_loop(lambda i: i < 3, lambda i: None, [0]))


def body_returns_numpy(tf):
    r = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, np.float32([i.shape.ndims + 1.0, 2.0])), (0, np.float32([0.0, 0.0])))
    return run(tf, r)


def body_returns_a_list_as_a_tensor(tf):
    return caught(lambda: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, [1.0, 2.0]), (0, tf.constant([0.0, 0.0]))))


def body_returns_too_many(tf):
    return caught(lambda: tf.while_loop(lambda i: i < 3, lambda i: (i, i), [0]), WHOLE)


def body_returns_nested_for_flat(tf):
    return caught(lambda: tf.while_loop(lambda i, j: i < 3, lambda i, j: ([i], j), [0, 0]), WHOLE)


def body_raises(tf):
    def body(i):
        raise ZeroDivisionError("mine")

    return caught(lambda: tf.while_loop(lambda i: i < 3, body, [0]), WHOLE)


def body_of_wrong_arity(tf):
    return caught(lambda: tf.while_loop(lambda i, j: i < 3, lambda i: i, [0, 0])), caught(lambda: tf.while_loop(lambda i: i < 3, lambda i, j: i, [0, 0]))


def body_that_takes_any(tf):
    return run(tf, tf.while_loop(lambda *a: a[0] < 3, lambda *a: [a[0] + 1] + list(a[1:]), [0, 1.5, True]))


def body_with_defaults(tf):
    return run(tf, tf.while_loop(lambda i, n=3: i < n, lambda i, step=2: i + step, [0]))


def loop_variable_of_an_object(tf):
    return caught(lambda: tf.while_loop(lambda i: True, lambda i: i, [object()]))


def static_shapes_afterwards(tf):
    x = tf.placeholder(tf.float32, [None, 3])
    r = tf.while_loop(lambda i, x, y: i < 3, lambda i, x, y: (i + 1, x * 2.0, y), (0, x, tf.zeros([2, 2])))
    return static(*r)


def results_are_exits(tf):
    r = tf.while_loop(lambda i, j: i < 3, lambda i, j: (i + 1, j), [0, 1])
    return [(t.op.type, t.name, t.op.inputs[0].name) for t in r]


def nodes_of_a_loop_with_captures(tf):
    n = tf.constant(3, name="n")
    tf.while_loop(lambda i: i < n, lambda i: i + n, [tf.constant(0, name="start")])
    return names(tf)


def nodes_of_nested_loops(tf):
    n = tf.constant(3, name="n")

    def body(i, s):
        _, t = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + n), (0, s))
        return i + 1, t

    tf.while_loop(lambda i, s: i < n, body, (0, 0))
    return names(tf)
