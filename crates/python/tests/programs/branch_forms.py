"""`cond`: arguments, results of branches, nesting, constant predicates, misuse."""

import collections

import numpy as np

from programs.tools import WHOLE, caught, initialize, names, run, static

Pair = collections.namedtuple("Pair", "a, b")


def _both(tf, make):
    p = tf.placeholder(tf.bool, [])
    r = make(p)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r, {p: True}), sess.run(r, {p: False})


def numbers(tf):
    return _both(tf, lambda p: tf.cond(p, lambda: 1, lambda: 2))


def arrays_of_numpy(tf):
    return _both(tf, lambda p: tf.cond(p, lambda: np.float32([1, 2]), lambda: np.float32([3])))


def strings(tf):
    return _both(tf, lambda p: tf.cond(p, lambda: "yes", lambda: "no"))


def each_dtype(tf):
    kinds = [tf.bool, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.float16, tf.float32, tf.float64, tf.complex64, tf.complex128]
    return _both(tf, lambda p: [tf.cond(p, lambda: tf.zeros([2], k), lambda: tf.ones([1], k)) for k in kinds])


def tuple_of_one(tf):
    p = tf.constant(True)
    one = tf.cond(p, lambda: (tf.constant(1),), lambda: (tf.constant(2),))
    kept = tf.cond(p, lambda: (tf.constant(1),), lambda: (tf.constant(2),), strict=True)
    return type(one).__name__, type(kept).__name__, run(tf, [one, kept])


def list_of_one_strict(tf):
    kept = tf.cond(tf.constant(True), lambda: [1], lambda: [2], strict=True)
    return type(kept).__name__, run(tf, kept)


def namedtuples(tf):
    return _both(tf, lambda p: tf.cond(p, lambda: Pair(1, 2.0), lambda: Pair(3, 4.0)))


def dicts(tf):
    return _both(tf, lambda p: tf.cond(p, lambda: {"a": 1, "b": [2.0]}, lambda: {"a": 5, "b": [6.0]}))


def nested_lists(tf):
    return _both(tf, lambda p: tf.cond(p, lambda: [1, (2, [3])], lambda: [4, (5, [6])]))


def list_against_a_tuple(tf):
    p = tf.constant(True)
    return caught(lambda: tf.cond(p, lambda: [1, 2], lambda: (1, 2)), WHOLE)


def other_lengths(tf):
    return caught(lambda: tf.cond(tf.constant(True), lambda: [1, 2], lambda: [1, 2, 3]), WHOLE)


def other_keys(tf):
    return caught(lambda: tf.cond(tf.constant(True), lambda: {"a": 1}, lambda: {"b": 1}), WHOLE)


def other_dtypes(tf):
    return caught(lambda: tf.cond(tf.constant(True), lambda: 1, lambda: 1.0), WHOLE)


def value_against_an_operation(tf):
    return caught(lambda: tf.cond(tf.constant(True), lambda: tf.constant(1), tf.no_op))


def nothing_returned(tf):
    return caught(lambda: tf.cond(tf.constant(True), lambda: None, lambda: None), WHOLE), caught(lambda: tf.cond(tf.constant(True), lambda: 1, lambda: None), WHOLE)


def empty_lists(tf):
    return caught(lambda: tf.cond(tf.constant(True), lambda: [], lambda: []))


def predicate_of_an_int(tf):
    return caught(lambda: tf.cond(tf.constant(1), lambda: 1, lambda: 2))


def predicate_of_a_python_bool(tf):
    return caught(lambda: tf.cond(True, lambda: 1, lambda: 2), WHOLE)


def predicate_of_numpy(tf):
    return run(tf, tf.cond(np.bool_(True), lambda: 1, lambda: 2))


def predicate_none(tf):
    return caught(lambda: tf.cond(None, lambda: 1, lambda: 2))


def predicate_of_rank_one(tf):
    return caught(lambda: run(tf, tf.cond(tf.constant([True]), lambda: 1, lambda: 2)))


def predicate_of_unknown_shape(tf):
    p = tf.placeholder(tf.bool)
    r = tf.cond(p, lambda: 1, lambda: 2)
    with tf.Session() as sess:
        return sess.run(r, {p: True}), caught(lambda: sess.run(r, {p: [True]}))


def predicate_is_a_variable(tf):
    v = tf.Variable(True)
    return run(tf, tf.cond(v, lambda: 1, lambda: 2))


def predicate_is_a_resource_variable(tf):
    v = tf.Variable(False, use_resource=True)
    return run(tf, tf.cond(v, lambda: 1, lambda: 2))


def branches_not_callable(tf):
    p = tf.constant(True)
    return caught(lambda: tf.cond(p, 1, lambda: 1), WHOLE), caught(lambda: tf.cond(p, lambda: 1, 1), WHOLE), caught(lambda: tf.cond(p, lambda: 1), WHOLE), caught(lambda: tf.cond(p), WHOLE)


def branches_by_older_words(tf):
    p = tf.constant(True)
    return (
        run(tf, tf.cond(p, fn1=lambda: 1, fn2=lambda: 2)),
        caught(lambda: tf.cond(p, lambda: 1, lambda: 2, fn1=lambda: 3), WHOLE),
        caught(lambda: tf.cond(p, lambda: 1, lambda: 2, fn2=lambda: 3), WHOLE),
    )


def branch_with_an_argument(tf):
    return caught(lambda: tf.cond(tf.constant(True), lambda x: x, lambda: 1))


def branch_raises(tf):
    def bad():
        raise LookupError("mine")

    return caught(lambda: tf.cond(tf.constant(True), bad, lambda: 1), WHOLE)


def branches_return_what_is_outside(tf):
    x, y = tf.constant(3), tf.constant(4)
    return _both(tf, lambda p: tf.cond(p, lambda: x, lambda: y))


def branches_return_the_same(tf):
    x = tf.constant(3)
    return _both(tf, lambda p: tf.cond(p, lambda: x, lambda: x))


def static_shape_of_equals(tf):
    p = tf.placeholder(tf.bool, [])
    a = tf.cond(p, lambda: tf.ones([2, 3]), lambda: tf.zeros([2, 3]))
    b = tf.cond(p, lambda: tf.ones([2, 3]), lambda: tf.zeros([4, 3]))
    c = tf.cond(p, lambda: tf.ones([2, 3]), lambda: tf.zeros([3]))
    return static(a, b, c)


def sparse_results(tf):
    a = tf.SparseTensor([[0]], [1.0], [3])
    b = tf.SparseTensor([[1], [2]], [2.0, 3.0], [3])
    return _both(tf, lambda p: tf.cond(p, lambda: a, lambda: b))


def slices_results(tf):
    a = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([3, 1]))
    b = tf.IndexedSlices(tf.constant([[2.0]]), tf.constant([1]), tf.constant([3, 1]))
    return _both(tf, lambda p: tf.cond(p, lambda: a, lambda: b))


def operations(tf):
    v = tf.Variable(0)
    p = tf.placeholder(tf.bool, [])
    r = tf.cond(p, lambda: tf.assign_add(v, 1).op, tf.no_op)
    with tf.Session() as sess:
        initialize(tf, sess)
        return type(r).__name__, [sess.run([r, v], {p: x})[0] for x in (True, False)], sess.run(v)


def operations_in_lists(tf):
    v = tf.Variable(0)
    p = tf.placeholder(tf.bool, [])
    r = tf.cond(p, lambda: [tf.assign_add(v, 1).op, tf.constant(1)], lambda: [tf.no_op(), tf.constant(2)])
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r[1], {p: True}), sess.run(r[1], {p: False})


def reference_returned(tf):
    v = tf.Variable([1.0])
    r = tf.cond(tf.constant(True), lambda: v._ref(), lambda: tf.zeros([1]))
    return r.dtype.name, run(tf, r)


def references_returned_by_both(tf):
    v, w = tf.Variable([1.0]), tf.Variable([2.0])
    r = tf.cond(tf.constant(True), lambda: v, lambda: w)
    return r.dtype.name, type(r).__name__, run(tf, r)


def assign_in_one_branch(tf):
    v = tf.Variable(1)
    p = tf.placeholder(tf.bool, [])
    r = tf.cond(p, lambda: tf.assign(v, 10), lambda: v.read_value())
    with tf.Session() as sess:
        initialize(tf, sess)
        return r.dtype.name, sess.run(r, {p: False}), sess.run(r, {p: True}), sess.run(r, {p: False})


def assign_of_a_resource_in_one_branch(tf):
    v = tf.Variable(1, use_resource=True)
    p = tf.placeholder(tf.bool, [])
    r = tf.cond(p, lambda: v.assign(10), lambda: v)
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r, {p: False}), sess.run(r, {p: True}), sess.run(r, {p: False})


def control_dependencies_within(tf):
    v = tf.Variable(0)

    def yes():
        with tf.control_dependencies([tf.assign_add(v, 1)]):
            return tf.constant(1)

    p = tf.placeholder(tf.bool, [])
    r = tf.cond(p, yes, lambda: tf.constant(2))
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r, {p: True}), sess.run(r, {p: False}), sess.run(v)


def control_dependencies_around(tf):
    v = tf.Variable(0)
    p = tf.placeholder(tf.bool, [])
    with tf.control_dependencies([tf.assign_add(v, 1)]):
        r = tf.cond(p, lambda: tf.constant(1), lambda: tf.constant(2))
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(r, {p: True}), sess.run(r, {p: False}), sess.run(v)


def three_deep(tf):
    x = tf.placeholder(tf.int32, [])
    r = tf.cond(
        x < 4,
        lambda: tf.cond(x < 2, lambda: tf.cond(x < 1, lambda: 0, lambda: 1), lambda: tf.cond(x < 3, lambda: 2, lambda: 3)),
        lambda: tf.cond(x < 6, lambda: tf.cond(x < 5, lambda: 4, lambda: 5), lambda: 6),
    )
    with tf.Session() as sess:
        return [sess.run(r, {x: k}) for k in range(8)]


def names_of_results(tf):
    p = tf.placeholder(tf.bool, [], name="p")
    a = tf.cond(p, lambda: 1, lambda: 2)
    b = tf.cond(p, lambda: [1, 2.0], lambda: [2, 3.0], name="mine")
    with tf.name_scope("s"):
        c = tf.cond(p, lambda: 1, lambda: 2)
    return [a.name, b[0].name, b[1].name, c.name]


def names_of_all(tf):
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.constant(1.0, name="x")
    tf.cond(p, lambda: x + 1.0, lambda: x)
    return names(tf)


def names_of_nested(tf):
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.constant(1.0, name="x")
    tf.cond(p, lambda: tf.cond(p, lambda: x * 2.0, lambda: x * 3.0), lambda: x)
    return names(tf)


def names_of_operations(tf):
    p = tf.placeholder(tf.bool, [], name="p")
    tf.cond(p, tf.no_op, tf.no_op)
    return names(tf)


def constant_predicate_keeps_both(tf):
    r = tf.cond(tf.constant(True), lambda: tf.constant(1, name="one"), lambda: tf.constant(2, name="two"))
    return [op.name for op in tf.get_default_graph().get_operations() if op.name.endswith(("one", "two"))], run(tf, r)


def feeding_the_predicate(tf):
    p = tf.constant(True)
    r = tf.cond(p, lambda: 1, lambda: 2)
    return run(tf, r, {p: False})


def the_other_side_may_fail(tf):
    p = tf.placeholder(tf.bool, [])
    x = tf.constant([1.0, 2.0])
    r = tf.cond(p, lambda: tf.check_numerics(x / 0.0, "infinite"), lambda: x)
    with tf.Session() as sess:
        return sess.run(r, {p: False}), caught(lambda: sess.run(r, {p: True}), WHOLE)
