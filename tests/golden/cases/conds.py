"""Branches: cond, nested conds, case, switch_case, loops and conds in one another."""
import numpy as np
import tensorflow.compat.v1 as tf

from golden import case


def taken(name, value):
    """The same cond with the predicate fed true and false."""
    @case('cond_' + name, 'conds', 'cond with the predicate fed %s; the branches return two tensors.' % name)
    def build(c):
        p = c.feed('p', np.bool_(value))
        x = c.feed('x', np.array([1, 2], np.float32))
        c.fetch(tf.cond(p, lambda: (x + 1, tf.reduce_sum(x)), lambda: (x * 10, tf.constant(7.0))), exact=True)


taken('true', True)
taken('false', False)


def nested(a, b):
    """Cond in cond, all four ways."""
    @case('cond_nested_%d%d' % (a, b), 'conds', 'A cond in each branch of a cond; predicates %d and %d.' % (a, b))
    def build(c):
        p, q = c.feed('p', np.bool_(a)), c.feed('q', np.bool_(b))
        x = c.feed('x', np.int32(5))
        c.fetch(tf.cond(p, lambda: tf.cond(q, lambda: x + 1, lambda: x + 2), lambda: tf.cond(q, lambda: x * 3, lambda: x * 4)))


for _a in (0, 1):
    for _b in (0, 1):
        nested(_a, _b)


@case('cond_deep', 'conds', 'Conds nested three deep; captures an outer tensor at the innermost level.')
def cond_deep(c):
    x = c.feed('x', np.int32(37))

    def level(k):
        if k == 3:
            return x * 1000
        return tf.cond(tf.equal(x // (2 ** k) % 2, 1), lambda: level(k + 1) + k, lambda: level(k + 1) * 2)
    c.fetch(level(0))


@case('cond_outside_runs', 'conds', 'Ops made outside the branches run whatever the predicate is.')
def cond_outside(c):
    p = c.feed('p', np.bool_(False))
    v = tf.get_variable('v', initializer=np.float32(1), use_resource=True)
    with tf.control_dependencies([v.assign_add(5.0)]):
        outside = tf.constant(2.0)
    r = tf.cond(p, lambda: outside * 3, lambda: tf.constant(-1.0))
    c.init()
    c.target(r.op)
    c.fetch(v.read_value(), exact=True)


@case('cond_side_effect', 'conds', 'Each branch changes another variable; only the branch taken does.')
def cond_side_effect(c):
    p = c.feed('p', np.bool_(True))
    a = tf.get_variable('a', initializer=np.float32(1), use_resource=True)
    b = tf.get_variable('b', initializer=np.float32(1), use_resource=True)
    r = tf.cond(p, lambda: a.assign_add(2.0).op, lambda: b.assign_add(3.0).op)
    c.init()
    c.target(r.op if hasattr(r, 'op') else r, r.op if hasattr(r, 'op') else r)
    c.fetch(a.read_value(), b.read_value(), exact=True)


@case('cond_pred_twice', 'conds', 'One predicate used by two conds, and fetched.')
def cond_pred_twice(c):
    x = c.feed('x', np.float32(-3))
    p = tf.less(x, 0, name='negative')
    c.fetch(tf.cond(p, lambda: -x, lambda: x), tf.cond(p, lambda: x * 2, lambda: x * 3), p, exact=True)


@case('cond_untaken_error', 'conds', 'The branch not taken would fail.')
def cond_untaken_error(c):
    x = c.feed('x', np.array([1, 2, 3], np.int32))
    i = c.feed('i', np.int32(9))
    c.fetch(tf.cond(i < 3, lambda: tf.gather(x, i), lambda: tf.constant(-1)))


@case('cond_same_tensor', 'conds', 'Both branches return an outer tensor as it is.')
def cond_same_tensor(c):
    x = c.feed('x', np.array([1, 2], np.int64))
    y = c.feed('y', np.array([3, 4], np.int64))
    p = c.feed('p', np.bool_(True))
    c.fetch(tf.cond(p, lambda: x, lambda: y))


@case('cond_shapes_differ', 'conds', 'The branches return tensors of different shapes.')
def cond_shapes_differ(c):
    x = c.feed('x', np.arange(6, dtype=np.float32).reshape(2, 3))
    p = c.feed('p', np.bool_(False))
    c.fetch(tf.cond(p, lambda: x, lambda: x[:, :1]), exact=True)


@case('cond_chain', 'conds', 'The result of one cond decides the next, ten times.')
def cond_chain(c):
    x = c.feed('x', np.int32(27))
    for _ in range(10):
        x = tf.cond(tf.equal(x % 2, 0), lambda x=x: x // 2, lambda x=x: 3 * x + 1)
    c.fetch(x)


@case('cond_constants_only', 'conds', 'Branches that capture nothing: constants under the pivot.')
def cond_constants(c):
    p = c.feed('p', np.bool_(True))
    c.fetch(tf.cond(p, lambda: tf.constant([1, 2]), lambda: tf.constant([3, 4])))


@case('cond_strings_bools', 'conds', 'Branches return a string, a bool, a float64 and a float16.')
def cond_strings(c):
    p = c.feed('p', np.bool_(False))
    s = c.feed('s', np.array([b'left', b'right']))
    c.fetch(tf.cond(p, lambda: (s[0], p, tf.constant(1.5, tf.float64), tf.constant(1, tf.float16)),
                    lambda: (s[1], tf.logical_not(p), tf.constant(2.5, tf.float64), tf.constant(2, tf.float16))), exact=True)


@case('cond_gradient', 'conds', 'The gradient of a cond: zeros for what only the other branch uses.')
def cond_gradient(c):
    p = c.feed('p', np.bool_(False))
    x = c.feed('x', np.array([1, 2, 3], np.float32))
    y = c.feed('y', np.array([4, 5, 6], np.float32))
    r = tf.cond(p, lambda: x * x * y, lambda: tf.sin(y))
    c.fetch(r, tf.gradients(r, [x, y]))


@case('cond_gradient_nested', 'conds', 'The gradient through nested conds.')
def cond_gradient_nested(c):
    p, q = c.feed('p', np.bool_(True)), c.feed('q', np.bool_(False))
    x = c.feed('x', np.array([0.5, -1.5], np.float32))
    r = tf.cond(p, lambda: tf.cond(q, lambda: x * 2, lambda: tf.exp(x) * x), lambda: x)
    c.fetch(r, tf.gradients(r, x))


@case('cond_control_dependency', 'conds', 'A branch op under control_dependencies of an op of the same branch.')
def cond_control(c):
    p = c.feed('p', np.bool_(True))
    x = c.feed('x', np.int32(8))

    def branch():
        with tf.control_dependencies([tf.Assert(x > 0, ['x', x])]):
            return tf.identity(x * 2)
    c.fetch(tf.cond(p, branch, lambda: x))


@case('cond_in_loop_alternates', 'conds', 'A cond in a body whose predicate alternates.')
def cond_in_loop_alternates(c):
    n = c.feed('n', np.int32(9))
    x = c.feed('x', np.float32(1))
    c.fetch(tf.while_loop(lambda i, v: i < n,
                          lambda i, v: (i + 1, tf.cond(tf.equal(i % 2, 0), lambda: v * 3, lambda: v - x)), [0, x]), exact=True)


@case('cond_in_nested_loop', 'conds', 'A cond in the inner of two loops; its predicate uses both counters.')
def cond_in_nested_loop(c):
    def outer(i, s):
        def inner(j, s):
            return j + 1, tf.cond(tf.greater(i, j), lambda: s + i * j, lambda: s - j)
        return i + 1, tf.while_loop(lambda j, s: j < 5, inner, [0, s])[1]
    c.fetch(tf.while_loop(lambda i, s: i < 5, outer, [0, 0]))


@case('cond_in_loop_condition', 'conds', 'The loop condition itself is a cond.')
def cond_in_loop_condition(c):
    n = c.feed('n', np.int32(20))
    c.fetch(tf.while_loop(lambda i: tf.cond(i < 5, lambda: tf.constant(True), lambda: i * i < n * 5), lambda i: i + 1, [0]))


@case('cond_break_flag', 'conds', 'A flag set by a cond ends the loop early.')
def cond_break_flag(c):
    x = c.feed('x', np.array([3, 8, 1, -2, 5, 9], np.int32))

    def body(i, s, go):
        s, go = tf.cond(x[i] < 0, lambda: (s, tf.constant(False)), lambda: (s + x[i], tf.constant(True)))
        return i + 1, s, go
    c.fetch(tf.while_loop(lambda i, s, go: tf.logical_and(go, i < 6), body, [0, 0, True]))


def loop_in(name, value):
    """A loop in one branch of a cond."""
    @case('loop_in_cond_' + name, 'conds', 'A loop in the true branch, %s.' % name)
    def build(c):
        p = c.feed('p', np.bool_(value))
        n = c.feed('n', np.int32(6))
        x = c.feed('x', np.float32(1.5))
        c.fetch(tf.cond(p, lambda: tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v + x), (0, x)),
                        lambda: (n * 2, -x)), exact=True)


loop_in('taken', True)
loop_in('untaken', False)


def loops_both(value):
    """Loops in both branches."""
    @case('loop_in_both_branches_%d' % value, 'conds', 'Loops in both branches, predicate %d; the untaken one is dead.' % value)
    def build(c):
        p = c.feed('p', np.bool_(value))
        c.fetch(tf.cond(p, lambda: tf.while_loop(lambda i: i < 10, lambda i: i + 3, [0]),
                        lambda: tf.while_loop(lambda i: i > -10, lambda i: i - 4, [0])))


loops_both(0)
loops_both(1)


@case('loop_in_cond_in_loop', 'conds', 'A loop in a cond in a loop: runs in some outer iterations, dead in the others.')
def loop_in_cond_in_loop(c):
    n = c.feed('n', np.int32(8))

    def body(i, s):
        return i + 1, tf.cond(tf.equal(i % 3, 1),
                              lambda: tf.while_loop(lambda j, s: j < i, lambda j, s: (j + 1, s + n), [0, s])[1],
                              lambda: s * 2 + 1)
    c.fetch(tf.while_loop(lambda i, s: i < n, body, [0, 0]))


@case('nested_loop_in_untaken', 'conds', 'A double loop in a branch that is not taken, inside a running loop.')
def nested_loop_in_untaken(c):
    def double(i):
        def outer(j, s):
            return j + 1, tf.while_loop(lambda k, s: k < j, lambda k, s: (k + 1, s + k), [0, s])[1]
        return tf.while_loop(lambda j, s: j < 4, outer, [i, i])[1]
    c.fetch(tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s + tf.cond(i > 2, lambda: double(i), lambda: i)), [0, 0]))


def case_of(name, value, about):
    """tf.case on a fed number."""
    @case('case_' + name, 'conds', 'case with three predicates and a default: %s.' % about)
    def build(c):
        x = c.feed('x', np.int32(value))
        c.fetch(tf.case([(x < 0, lambda: x * -1), (x < 10, lambda: x + 100), (x < 20, lambda: x + 200)],
                        default=lambda: tf.constant(-7)))


case_of('first', -4, 'the first is true, and so are the later ones')
case_of('second', 4, 'the second is true')
case_of('default', 40, 'none is true')


@case('case_exclusive', 'conds', 'case with exclusive=True and one true predicate.')
def case_exclusive(c):
    x = c.feed('x', np.int32(2))
    c.fetch(tf.case([(tf.equal(x, 1), lambda: tf.constant(10)), (tf.equal(x, 2), lambda: tf.constant(20))],
                    default=lambda: tf.constant(0), exclusive=True))


@case('case_no_default', 'conds', 'case without default; the last predicate is true.')
def case_no_default(c):
    x = c.feed('x', np.int32(2))
    c.fetch(tf.case([(x < 1, lambda: tf.constant(10)), (x < 3, lambda: x * 7)]))


def switch_of(index, with_default):
    """switch_case with a fed index."""
    suffix = str(index).replace('-', 'minus_') + ('' if with_default else '_no_default')

    @case('switch_case_' + suffix, 'conds',
          'switch_case of three branches with index %d, %s default.' % (index, 'with' if with_default else 'without'))
    def build(c):
        i = c.feed('i', np.int32(index))
        x = c.feed('x', np.float32(3))
        default = (lambda: -x) if with_default else None
        c.fetch(tf.switch_case(i, [lambda: x + 1, lambda: x * x, lambda: x / 2], default), exact=True)


for _i in (0, 2, 5, -1):
    switch_of(_i, True)
for _i in (1, 7, -3):
    switch_of(_i, False)


@case('switch_case_in_loop', 'conds', 'A small virtual machine: switch_case on an instruction in a loop.')
def switch_case_in_loop(c):
    code = c.feed('code', np.array([0, 1, 2, 0, 3, 1, 2, 2], np.int32))

    def body(pc, acc):
        return pc + 1, tf.switch_case(code[pc], [lambda: acc + 5, lambda: acc * 2, lambda: acc - 3, lambda: acc * acc])
    c.fetch(tf.while_loop(lambda pc, acc: pc < 8, body, [0, 1]))
