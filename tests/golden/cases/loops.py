"""Loops: nesting, bounds, captures, invariants, parallel iterations, fetches of some exits."""
import collections

import numpy as np
import tensorflow.compat.v1 as tf

from golden import case

Pair = collections.namedtuple('Pair', 'j, k')


@case('loop_count_up', 'loops', 'The smallest loop: counts from a constant zero to ten.')
def loop_count_up(c):
    c.fetch(tf.while_loop(lambda i: tf.less(i, 10), lambda i: tf.add(i, 1), [tf.constant(0)]))


@case('loop_zero_trips', 'loops', 'The condition is false at once: the exits are the initial values.')
def loop_zero_trips(c):
    n = c.feed('n', np.int32(0))
    x = c.feed('x', np.array([1.5, -2.0], np.float32))
    c.fetch(tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v * 2), [0, x]), exact=True)


@case('loop_zero_trips_negative_limit', 'loops', 'A fed limit below the start; the body would divide by zero if it ran.')
def loop_zero_trips_negative(c):
    n = c.feed('n', np.int32(-5))
    c.fetch(tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v // i), [0, tf.constant(7)]))


@case('loop_nested_pair', 'loops', 'Loop variables (int, namedtuple): sums and differences of the pair.')
def loop_nested_pair(c):
    c.fetch(tf.nest.flatten(tf.while_loop(
        lambda i, p: i < 10, lambda i, p: (i + 1, Pair(p.j + p.k, p.j - p.k)),
        (tf.constant(0), Pair(tf.constant(1), tf.constant(2))))))


@case('loop_dict_and_list', 'loops', 'Loop variables in a dict that holds a list; flattened in key order.')
def loop_dict_and_list(c):
    start = {'b': [tf.constant(1.0), tf.constant([2.0, 3.0])], 'a': tf.constant(0)}
    result = tf.while_loop(lambda s: s['a'] < 4,
                           lambda s: [{'a': s['a'] + 1, 'b': [s['b'][0] * 2, s['b'][1] + s['b'][0]]}],
                           [start], return_same_structure=True)
    c.fetch(tf.nest.flatten(result), exact=True)


@case('loop_same_structure_one', 'loops', 'One variable with return_same_structure.')
def loop_same_structure_one(c):
    c.fetch(tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [tf.constant(0)], return_same_structure=True))


@case('loop_nested_two', 'loops', 'A triangular double loop; the inner bound is the outer counter.')
def loop_nested_two(c):
    n = c.feed('n', np.int32(7))

    def outer(i, total):
        _, total = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + i * j), [0, total])
        return i + 1, total
    c.fetch(tf.while_loop(lambda i, t: i < n, outer, [0, 0]))


@case('loop_nested_three', 'loops', 'Three loops deep; each level captures from all levels above it.')
def loop_nested_three(c):
    n = c.feed('n', np.int32(4))
    a = c.feed('a', np.int64(10))

    def outer(i, s):
        def middle(j, s):
            def inner(k, s):
                return k + 1, s + a * tf.cast(i, tf.int64) + tf.cast(j * k, tf.int64)
            return j + 1, tf.while_loop(lambda k, s: k < n, inner, [j, s])[1]
        return i + 1, tf.while_loop(lambda j, s: j < n, middle, [i, s])[1]
    c.fetch(tf.while_loop(lambda i, s: i < n, outer, [0, tf.constant(0, tf.int64)]))


@case('loop_nested_four', 'loops', 'Four loops deep, each of three trips: eighty-one inner iterations.')
def loop_nested_four(c):
    def level(depth, s):
        if depth == 0:
            return s * 3 + 1
        return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, level(depth - 1, s + i)), [0, s])[1]
    c.fetch(level(4, tf.constant(1)))


@case('loop_nested_zero_inner', 'loops', 'The inner loop makes no trip in some iterations of the outer one.')
def loop_nested_zero_inner(c):
    bounds = c.feed('bounds', np.array([3, 0, 2, 0, 0, 5], np.int32))

    def outer(i, s):
        _, s = tf.while_loop(lambda j, s: j < bounds[i], lambda j, s: (j + 1, s * 2 + j), [0, s])
        return i + 1, s
    c.fetch(tf.while_loop(lambda i, s: i < 6, outer, [0, tf.constant(1)]))


@case('loop_two_in_sequence', 'loops', 'The exit of one loop is the start of the next.')
def loop_two_in_sequence(c):
    a = tf.while_loop(lambda i: i < 10, lambda i: i + 3, [0])
    c.fetch(a, tf.while_loop(lambda i: i < 50, lambda i: i * 2, [a]))


@case('loop_two_in_body', 'loops', 'Two inner loops side by side in one body.')
def loop_two_in_body(c):
    def body(i, s):
        a = tf.while_loop(lambda j: j * j < i, lambda j: j + 1, [0])
        b = tf.while_loop(lambda j: j < 3 * i, lambda j: j + 2, [i])
        return i + 1, s + a * 100 + b
    c.fetch(tf.while_loop(lambda i, s: i < 6, body, [0, 0]))


@case('loop_inner_in_cond', 'loops', 'The condition itself holds a loop.')
def loop_inner_in_cond(c):
    def condition(i, s):
        return tf.while_loop(lambda j: j < i, lambda j: j + 4, [0]) < 20
    c.fetch(tf.while_loop(condition, lambda i, s: (i + 1, s + i), [0, 0]))


@case('loop_shape_invariant_double', 'loops', 'A matrix doubles its rows in each iteration; the second axis is fixed.')
def loop_shape_invariant_double(c):
    m = c.feed('m', np.array([[1, 2]], np.float32))
    c.fetch(tf.while_loop(lambda i, m: i < 4, lambda i, m: (i + 1, tf.concat([m, m + 1], 0)), [tf.constant(0), m],
                          shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])]), exact=True)


@case('loop_shape_invariant_unknown_rank', 'loops', 'A variable of unknown rank gains an axis in each iteration.')
def loop_shape_invariant_unknown_rank(c):
    x = tf.constant([1, 2], tf.int32)
    c.fetch(tf.while_loop(lambda i, m: i < 3, lambda i, m: (i + 1, tf.stack([m, -m])), [tf.constant(0), x],
                          shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)]))


@case('loop_shape_empty_grows', 'loops', 'Starts with an empty vector and appends the counter.')
def loop_shape_empty_grows(c):
    start = tf.zeros([0], tf.int32)
    c.fetch(tf.while_loop(lambda i, v: i < 7, lambda i, v: (i + 1, tf.concat([v, [i * i]], 0)), [tf.constant(0), start],
                          shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])]))


@case('loop_shape_shrinks', 'loops', 'Drops the first element until nothing is left.')
def loop_shape_shrinks(c):
    x = c.feed('x', np.array([5, 3, 9, 1], np.int64), shape=[None])
    c.fetch(tf.while_loop(lambda v, s: tf.size(v) > 0, lambda v, s: (v[1:], s * 10 + v[0]), [x, tf.constant(0, tf.int64)],
                          shape_invariants=[tf.TensorShape([None]), tf.TensorShape([])]))


@case('loop_max_int', 'loops', 'maximum_iterations as an int smaller than the trips.')
def loop_max_int(c):
    c.fetch(tf.while_loop(lambda i: i < 100, lambda i: i + 1, [tf.constant(0)], maximum_iterations=7))


@case('loop_max_tensor', 'loops', 'maximum_iterations as a fed scalar smaller than the trips.')
def loop_max_tensor(c):
    limit = c.feed('limit', np.int32(5))
    c.fetch(tf.while_loop(lambda i, x: i < 100, lambda i, x: (i + 1, x * 2), (tf.constant(0), tf.constant(1.0)),
                          maximum_iterations=limit), exact=True)


@case('loop_max_larger', 'loops', 'maximum_iterations larger than the trips changes nothing.')
def loop_max_larger(c):
    c.fetch(tf.while_loop(lambda i: i < 6, lambda i: i + 1, [tf.constant(0)], maximum_iterations=1000))


@case('loop_max_zero', 'loops', 'maximum_iterations zero: no trip.')
def loop_max_zero(c):
    c.fetch(tf.while_loop(lambda i: i < 6, lambda i: i + 1, [tf.constant(3)], maximum_iterations=0))


@case('loop_max_equal', 'loops', 'maximum_iterations equal to the trips.')
def loop_max_equal(c):
    c.fetch(tf.while_loop(lambda i: i < 6, lambda i: i + 1, [tf.constant(0)], maximum_iterations=6))


@case('loop_max_endless', 'loops', 'A condition that is always true, bounded by maximum_iterations.')
def loop_max_endless(c):
    c.fetch(tf.while_loop(lambda i: tf.constant(True), lambda i: i + 2, [tf.constant(0)], maximum_iterations=9))


@case('loop_max_nested', 'loops', 'Bounds at both levels of a nest; the inner bound depends on the outer counter.')
def loop_max_nested(c):
    def body(i, s):
        return i + 1, tf.while_loop(lambda j, s: j < 100, lambda j, s: (j + 1, s + j), (0, s), maximum_iterations=i)[1]
    c.fetch(tf.while_loop(lambda i, s: i < 100, body, (0, 0), maximum_iterations=6))


def parallel(number):
    """A loop with a fast counter and a slower chain of matrix products."""
    @case('loop_parallel_%d' % number, 'loops', 'A counter beside a chain of products, parallel_iterations=%d.' % number)
    def build(c):
        x = c.feed('x', (np.arange(9).reshape(3, 3) % 4).astype(np.float32))
        w = tf.constant([[0, 1, 0], [0, 0, 1], [1, 0, 0]], tf.float32)
        c.fetch(tf.while_loop(lambda i, v, s: i < 50,
                              lambda i, v, s: (i + 1, tf.matmul(v, w), s + tf.reduce_sum(v * tf.cast(i, tf.float32))),
                              [0, x, 0.0], parallel_iterations=number), exact=True)


for _number in (1, 2, 10, 32):
    parallel(_number)


@case('loop_parallel_mixed_nest', 'loops', 'Outer loop with parallel_iterations 4, inner loops with 1 and 32.')
def loop_parallel_mixed(c):
    def body(i, s):
        a = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + j), [0, i], parallel_iterations=1)[1]
        b = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t * 2 % 1001), [0, s + 1], parallel_iterations=32)[1]
        return i + 1, s + a + b
    c.fetch(tf.while_loop(lambda i, s: i < 20, body, [0, 0], parallel_iterations=4))


@case('loop_long', 'loops', 'Twenty thousand iterations of an integer recurrence.')
def loop_long(c):
    c.fetch(tf.while_loop(lambda i, x: i < 20000, lambda i, x: (i + 1, (x * 1103515 + 12345) % 65521), [0, 1]))


@case('loop_captures', 'loops', 'Captured placeholders, constants and results of other ops, some used twice.')
def loop_captures(c):
    a = c.feed('a', np.array([1, 2, 3], np.float32))
    b = c.feed('b', np.float32(0.5))
    d = tf.reduce_sum(a) * b
    c.fetch(tf.while_loop(lambda i, x: tf.reduce_sum(x) < 100 * b, lambda i, x: (i + 1, x + a * d + a), [0, a]), exact=True)


@case('loop_invariant_seed', 'loops', 'A variable that the body passes on untouched, and uses of both exits.')
def loop_invariant_seed(c):
    i = tf.get_variable('i', dtype=tf.int32, shape=[], initializer=tf.ones_initializer(), use_resource=False)
    n = tf.constant(10)
    ii, nn = tf.while_loop(lambda a, n: a < n, lambda a, n: (a + 2, n), [i, n])
    c.init()
    c.fetch(tf.add(ii, 3, name='v1'), tf.add(nn, 4, name='v2'))


@case('loop_untouched_fetched_alone', 'loops', 'Only the exit of the untouched variable is fetched.')
def loop_untouched_fetched_alone(c):
    n = c.feed('n', np.int32(12))
    _, nn = tf.while_loop(lambda a, n: a < n, lambda a, n: (a + 5, n), [0, n])
    c.fetch(nn)


@case('loop_exit_alone', 'loops', 'Only the counter is fetched: the other variable, which would fail, never runs.')
def loop_exit_alone(c):
    x = c.feed('x', np.array([1, 2, 3], np.int32))
    i, _ = tf.while_loop(lambda i, v: i < 8, lambda i, v: (i + 1, v // 0 + tf.gather(v, i)), [0, x])
    c.fetch(i)


@case('loop_exits_some', 'loops', 'Four variables, two of them fetched, in another order than declared.')
def loop_exits_some(c):
    a, b, d, e = tf.while_loop(lambda a, b, d, e: a < 10, lambda a, b, d, e: (a + 1, b + d, d * 2, e - b), [0, 1, 1, 100])
    del b
    c.fetch(e, a, d)


@case('loop_swap_variables', 'loops', 'Three variables rotate their values.')
def loop_swap_variables(c):
    c.fetch(tf.while_loop(lambda i, x, y, z: i < 7, lambda i, x, y, z: (i + 1, y, z, x), [0, 10, 20, 30]))


@case('loop_body_constant', 'loops', 'The body returns a constant and a captured tensor instead of its arguments.')
def loop_body_constant(c):
    x = c.feed('x', np.float32(2.5))
    c.fetch(tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, tf.constant(9), x * 1), [0, 1, 0.0]), exact=True)


@case('loop_condition_value', 'loops', 'Ends on the size of a value, not on a counter.')
def loop_condition_value(c):
    x = c.feed('x', np.float64(1000.0))
    c.fetch(tf.while_loop(lambda v, k: v > 1.0, lambda v, k: (v / 3, k + 1), [x, 0]))


@case('loop_non_strict', 'loops', 'The counter does not depend on x; n is 200, parallel_iterations 10.')
def loop_non_strict(c):
    n = 200
    x = tf.constant(list(range(n)))
    out = tf.while_loop(lambda i, x: i < n, lambda i, x: (tf.identity(i + 1), tf.identity(x + i)),
                        (tf.constant(0), x), parallel_iterations=10)
    c.fetch(out)


@case('loop_non_strict_counter', 'loops', 'The same loop with only the counter fetched.')
def loop_non_strict_counter(c):
    n = 200
    x = tf.constant(list(range(n)))
    i, _ = tf.while_loop(lambda i, x: i < n, lambda i, x: (tf.identity(i + 1), tf.identity(x + i)),
                         (tf.constant(0), x), parallel_iterations=10)
    c.fetch(i)


@case('loop_control_inside', 'loops', 'control_dependencies in a body between ops of the same iteration.')
def loop_control_inside(c):
    def body(i, x):
        first = tf.identity(x * 2, name='first')
        with tf.control_dependencies([first]):
            step = tf.constant(1)
            return i + step, tf.identity(first - 1)
    c.fetch(tf.while_loop(lambda i, x: i < 5, body, [0, 3]))


@case('loop_control_outside', 'loops', 'The whole loop stands under control_dependencies of outer ops.')
def loop_control_outside(c):
    x = c.feed('x', np.float32(4))
    check = tf.Assert(x > 0, ['x must be positive', x])
    with tf.control_dependencies([check, tf.no_op()]):
        c.fetch(tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.sqrt(v) * 2), [0, x]))


@case('loop_control_on_exit', 'loops', 'An op outside that runs only after an exit.')
def loop_control_on_exit(c):
    i = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    with tf.control_dependencies([i]):
        c.fetch(tf.constant(5) * 2)


@case('loop_control_outer_op', 'loops', 'A body op with a control edge from an op outside the loop.')
def loop_control_outer_op(c):
    x = c.feed('x', np.int32(4))
    outside = tf.square(x)

    def body(i):
        with tf.control_dependencies([outside]):
            return i + 1
    c.fetch(tf.while_loop(lambda i: i < x, body, [0]))


@case('loop_assert_passes', 'loops', 'An Assert in the body that holds in every iteration.')
def loop_assert_passes(c):
    x = c.feed('x', np.array([3, 1, 2], np.int32))

    def body(i, s):
        with tf.control_dependencies([tf.Assert(x[i] > 0, [i, x])]):
            return i + 1, s + x[i]
    c.fetch(tf.while_loop(lambda i, s: i < 3, body, [0, 0]))


@case('loop_check_numerics', 'loops', 'CheckNumerics in a body whose values stay finite.')
def loop_check_numerics(c):
    x = c.feed('x', np.array([1e30, -1e-30], np.float32))
    c.fetch(tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, tf.check_numerics(v * 8.0, 'v')), [0, x]), exact=True)


@case('loop_feed_intermediate', 'loops', 'Feeds of tensors inside the graph: an op before the loop, and an exit.')
def loop_feed_intermediate(c):
    x = c.feed('x', np.int32(3))
    start = tf.multiply(x, 100, name='start')
    i = tf.while_loop(lambda i: i < 1000, lambda i: i * 3, [start])
    j = tf.while_loop(lambda j: j < 10, lambda j: j + 1, [0], name='second')
    c.feed_at(start, np.int32(7))
    c.feed_at(j, np.int32(-4))
    c.fetch(i, j + i, x)


@case('loop_feed_const', 'loops', 'The initial constant of a loop is fed.')
def loop_feed_const(c):
    start = tf.constant([0, 1], name='begin')
    c.feed_at(start, np.array([5, -5], np.int32))
    c.fetch(tf.while_loop(lambda v: tf.reduce_max(v) < 20, lambda v: v * 2, [start]))


@case('loop_back_prop_false', 'loops', 'back_prop=False and swap_memory=True change no value.')
def loop_back_prop_false(c):
    c.fetch(tf.while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 1.5), [0, 1.0], back_prop=False, swap_memory=True),
            exact=True)


@case('loop_name_scopes', 'loops', 'A named loop under a name scope, twice; names are made unique.')
def loop_name_scopes(c):
    for _ in range(2):
        with tf.name_scope('model'):
            c.fetch(tf.while_loop(lambda i: i < 4, lambda i: i + 1, [0], name='steps'))


@case('loop_placeholder_default', 'loops', 'The limit is a PlaceholderWithDefault that is not fed.')
def loop_placeholder_default(c):
    n = tf.placeholder_with_default(np.int32(6), [], name='n')
    c.fetch(tf.while_loop(lambda i, f: i < n, lambda i, f: (i + 1, f * (i + 1)), [0, 1]))


@case('loop_placeholder_default_fed', 'loops', 'The limit is a PlaceholderWithDefault that is fed.')
def loop_placeholder_default_fed(c):
    n = tf.placeholder_with_default(np.int32(6), [], name='n')
    c.feed_at(n, np.int32(3))
    c.fetch(tf.while_loop(lambda i, f: i < n, lambda i, f: (i + 1, f * (i + 1)), [0, 1]))


@case('loop_random_fixed_seed', 'loops', 'Random numbers in a body: one stream of the kernel through all iterations.')
def loop_random_fixed_seed(c):
    c.fetch(tf.while_loop(lambda i, s: i < 5,
                          lambda i, s: (i + 1, s + tf.random_uniform([2], seed=5)), [0, tf.zeros([2])],
                          parallel_iterations=1))


@case('loop_print', 'loops', 'Print and PrintV2 in a body pass their input on.')
def loop_print(c):
    def body(i, x):
        with tf.control_dependencies([tf.print('i is', i, output_stream=tf.logging.info)]):
            return i + 1, tf.Print(x, [i, x], 'x: ')
    c.fetch(tf.while_loop(lambda i, x: i < 2, body, [0, 1.0]), exact=True)


@case('loop_gradient_invariant_free', 'loops', 'Gradient of a loop that needs no stack: x + c in each iteration.')
def loop_gradient_no_stack(c):
    x = c.feed('x', np.array([1, 2], np.float32))
    _, y = tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, v + 1.0), [0, x])
    c.fetch(y, tf.gradients(y, x), exact=True)


@case('loop_gradient_captured', 'loops', 'Gradient for a captured tensor that is only added: accumulates in the backward loop.')
def loop_gradient_captured(c):
    x = c.feed('x', np.array([1, 2], np.float32))
    w = c.feed('w', np.array([0.5, 3], np.float32))
    _, y = tf.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, v - w), [0, x])
    c.fetch(tf.gradients(y, [x, w]), exact=True)
