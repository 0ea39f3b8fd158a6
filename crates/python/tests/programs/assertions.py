"""Assertions: errors in graph construction, errors in runs, and their nodes."""

import numpy as np

from programs.tools import caught, run, static


def _fails(tf, check, value, *says):
    """Returns the error of an assertion about a placeholder."""
    x = tf.placeholder(tf.float32)
    made = check(x)
    with tf.Session() as sess:
        return caught(lambda: sess.run(made, {x: value}), *says)


def ranks(tf):
    x = tf.constant([1.0])
    return (
        caught(lambda: tf.assert_rank(x, 2), "Tensor Const:0 must have rank 2.  Received rank 1, shape (1,)"),
        caught(lambda: tf.assert_rank_at_least(x, 2, message="mine"), "mine.  Tensor Const:0 must have rank at least 2.  Received rank 1"),
        caught(lambda: tf.assert_rank_in(x, [0, 2]), "must have rank in", "Received rank 1, shape (1,)"),
        caught(lambda: tf.assert_rank(x, [1]), "Rank must be a scalar."),
        caught(lambda: tf.assert_rank(x, 1.5), "must be of type <dtype: 'int32'>"),
        [tf.assert_rank(x, 1).name, tf.assert_rank_at_least(x, 1).type, tf.assert_rank_in(x, (1, 3)).name],
    )


def ranks_at_run_time(tf):
    return (
        _fails(tf, lambda x: tf.assert_rank(x, 2, message="mine"), [1.0], "assertion failed: [mine] [Tensor Placeholder:0 must have rank] [2] [Received shape: ] [1]"),
        _fails(tf, lambda x: tf.assert_rank_at_least(x, 2), [1.0], "must have rank at least] [2] [Received shape: ] [1]"),
        _fails(tf, lambda x: tf.assert_rank_in(x, [2, 3]), [1.0], "must have rank in] [2] [3] [Received shape: ] [1]"),
    )


def ranks_that_fit_at_run_time(tf):
    x = tf.placeholder(tf.float32)
    with tf.control_dependencies([tf.assert_rank(x, 1), tf.assert_rank_at_least(x, 1), tf.assert_rank_in(x, [0, 1])]):
        y = tf.identity(x)
    return run(tf, y, {x: [1.0, 2.0]})


def comparisons_known_to_fail(tf):
    a, b = tf.constant([1, 2]), tf.constant([1, 3])
    return (
        caught(lambda: tf.assert_equal(a, b, message="mine"), "mine\nCondition x == y did not hold element-wise:\nx (Const:0) = \n[1 2]\ny (Const_1:0) = \n[1 3]"),
        caught(lambda: tf.assert_none_equal(a, b), "Condition x != y did not hold element-wise:"),
        caught(lambda: tf.assert_less(a, b), "Condition x < y did not hold element-wise:"),
        caught(lambda: tf.assert_less_equal(b, a), "Condition x <= y did not hold element-wise:"),
        caught(lambda: tf.assert_greater(a, b), "Condition x > y did not hold element-wise:"),
        caught(lambda: tf.assert_greater_equal(a, b), "Condition x >= y did not hold element-wise:"),
        caught(lambda: tf.assert_positive([0, 1], message="mine"), "mine\nCondition x > 0 did not hold element-wise:"),
        caught(lambda: tf.assert_negative([0, 1]), "Condition x < 0 did not hold element-wise:"),
    )


def comparisons_at_run_time(tf):
    v = [1.0, -2.0]
    return (
        _fails(tf, lambda x: tf.assert_equal(x, [1.0, 3.0], message="mine"), v, "assertion failed: [mine] [Condition x == y did not hold element-wise:] [x (Placeholder:0) = ] [1 -2] [y (assert_equal_1/y:0) = ] [1 3]"),
        _fails(tf, lambda x: tf.assert_less(x, [1.0, 3.0]), v, "assertion failed: [Condition x < y did not hold element-wise:]"),
        _fails(tf, lambda x: tf.assert_none_equal(x, [1.0, 3.0]), v, "[Condition x != y did not hold element-wise:]"),
        _fails(tf, tf.assert_positive, v, "[Condition x > 0 did not hold element-wise:] [x (Placeholder_3:0) = ] [1 -2]"),
        _fails(tf, tf.assert_non_negative, v, "Condition x >= 0 did not hold element-wise:"),
        _fails(tf, tf.assert_negative, v, "Condition x < 0 did not hold element-wise:"),
        _fails(tf, tf.assert_non_positive, v, "Condition x <= 0 did not hold element-wise:"),
        _fails(tf, lambda x: tf.assert_less(x, [1.0, 3.0], data=["see", x], summarize=1), v, "assertion failed: [see] [1...]"),
    )


def near(tf):
    x = tf.constant([1.0, 2.0])
    fine = [tf.assert_near(x, [1.0, 2.0]), tf.assert_near(x, [1.1, 2.0], atol=0.2), tf.assert_near(x, [1.1, 2.0], rtol=0.2)]
    with tf.Session() as sess:
        sess.run(fine)
        return caught(lambda: sess.run(tf.assert_near(x, [1.1, 2.0], message="mine")), "assertion failed: [mine] [x and y not equal to tolerance rtol = ")


def types(tf):
    x = tf.constant(1.0)
    return (
        caught(lambda: tf.assert_integer(x), '  Expected "x" to be integer type.  Found: Const:0 of dtype <dtype: \'float32\'>'),
        caught(lambda: tf.assert_type(x, tf.int32, message="mine"), "mine  Const:0 must be of type <dtype: 'int32'>"),
        tf.assert_integer(tf.constant(1)).name,
        tf.assert_type(x, tf.float32).name,
        tf.assert_same_float_dtype([x, tf.constant(2.0)]),
        tf.assert_same_float_dtype(),
        caught(lambda: tf.assert_same_float_dtype([x, tf.constant(1.0, tf.float64)]), "must be of the same type (<dtype: 'float32'>) as Const:0."),
        caught(lambda: tf.assert_same_float_dtype([tf.constant(1)]), "Expected floating point type, got <dtype: 'int32'>."),
        [tf.is_numeric_tensor(t) for t in (x, tf.constant("a"), 3, tf.constant(True))],
    )


def scalars_and_iterables(tf):
    x = tf.constant([1.0])
    return (
        caught(lambda: tf.assert_scalar(x), "Expected scalar shape for Const:0, saw shape: (1,)."),
        run(tf, tf.assert_scalar(tf.constant(3.0))),
        caught(lambda: tf.assert_proper_iterable(x), 'Expected argument "values" to be a "proper" iterable.'),
        caught(lambda: tf.assert_proper_iterable("ab"), 'Expected argument "values" to be a "proper" iterable.'),
        caught(lambda: tf.assert_proper_iterable(3), 'Expected argument "values" to be iterable.'),
        tf.assert_proper_iterable([1]),
    )


def orders(tf):
    return run(
        tf,
        [
            tf.is_non_decreasing([1, 1, 2]),
            tf.is_strictly_increasing([1, 1, 2]),
            tf.is_strictly_increasing([[1.0, 2.0], [3.0, 4.0]]),
            tf.is_strictly_increasing([1]),
            tf.is_non_decreasing(tf.constant([], tf.float32)),
            tf.debugging.is_non_decreasing([2, 1]),
        ],
    )


def finite(tf):
    x = tf.placeholder(tf.float32, [2])
    y = tf.verify_tensor_all_finite(x, "my words")
    z = tf.debugging.assert_all_finite(x, "other words")
    with tf.Session() as sess:
        return (
            static(y, z),
            sess.run([y, z], {x: [1.0, 2.0]}),
            caught(lambda: sess.run(y, {x: [1.0, np.nan]}), "my words : Tensor had NaN values"),
            caught(lambda: sess.run(z, {x: [np.inf, 1.0]}), "other words : Tensor had Inf values"),
        )


def shapes(tf):
    x, y = tf.constant([[1.0], [2.0]]), tf.constant([1.0, 2.0])
    tf.debugging.assert_shapes([(x, ("N", 1)), (y, ("N",)), (tf.constant(3), ())])
    p = tf.placeholder(tf.float32)
    check = tf.debugging.assert_shapes([(y, ("N",)), (p, ("N", "Q"))], message="mine")
    with tf.Session() as sess:
        sess.run(check, {p: [[1.0], [2.0]]})
        return (
            caught(lambda: sess.run(check, {p: [[1.0]]}), "[mine] [Specified by tensor Const_1:0 dimension 0]", "[must have size] [2]"),
            caught(lambda: tf.debugging.assert_shapes([(y, ("N",)), (tf.constant([1.0]), ("N",))]), "Specified by tensor Const_1:0 dimension 0.", "dimension 0 must have size 2.  Received size 1, shape (1,)"),
            caught(lambda: tf.debugging.assert_shapes([(y, (3,))]), "Specified explicitly.  Tensor Const_1:0 dimension 0 must have size 3."),
        )


def check_numerics_of_all(tf):
    x = tf.placeholder(tf.float32, [])
    tf.log(x, name="logged")
    check = tf.add_check_numerics_ops()
    with tf.Session() as sess:
        sess.run(check, {x: 2.0})
        return check.type, caught(lambda: sess.run(check, {x: -1.0}), "logged:0 : Tensor had NaN values")
