"""Graphs made by TensorFlow 2: While, If, Case and calls as ops with functions."""
import numpy as np
import tensorflow.compat.v1 as tf
import tensorflow as tf2

from golden import case


def traced(name, about, feeds, **options):
    """Registers a `tf2_` case: the decorated Python function is traced by tf.function for these feeds."""
    def add(function):
        def build(c):
            tf.enable_control_flow_v2()
            specs = [tf2.TensorSpec(np.shape(v), tf.as_dtype(np.asarray(v).dtype) if np.asarray(v).dtype.kind != 'S' else tf.string, k)
                     for k, v in feeds.items()]
            concrete = tf2.function(function, autograph=options.get('autograph', False)).get_concrete_function(*specs)
            c.graph_def = concrete.graph.as_graph_def()
            for node in list(c.graph_def.node):
                node.attr.pop('_user_specified_name', None)
            for tensor, value in zip(concrete.inputs, feeds.values()):
                c.feeds[tensor.name] = np.asarray(value)
            c.fetch(concrete.outputs, **options.get('compare', {}))
            if options.get('code'):
                c.fails(options['code'])
        case('tf2_' + name, 'tf2', about)(build)
        return function
    return add


F, I = np.float32, np.int32
EXACT = {'exact': True}


@traced('while_counter', 'StatelessWhile with a fed limit.', {'n': I(7)})
def while_counter(n):
    return tf2.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i * i), [0, 0])


@traced('while_zero_trips', 'StatelessWhile that makes no trip.', {'n': I(0), 'x': np.array([1, 2], F)}, compare=EXACT)
def while_zero(n, x):
    return tf2.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s * 2), [0, x])


@traced('while_maximum', 'maximum_iterations as a fed scalar.', {'m': I(4)})
def while_maximum(m):
    return tf2.while_loop(lambda i: i < 100, lambda i: [i + 3], [0], maximum_iterations=m)


@traced('while_growing', 'A growing vector under shape_invariants.', {'n': I(5)})
def while_growing(n):
    return tf2.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, tf2.concat([v, [i * i]], 0)),
                          [tf2.constant(0), tf2.constant([7])], shape_invariants=[tf2.TensorShape([]), tf2.TensorShape([None])])


@traced('while_nested', 'While in While; the inner bound is the outer counter.', {'n': I(6)})
def while_nested(n):
    def outer(i, s):
        return i + 1, tf2.while_loop(lambda j, s: j < i, lambda j, s: (j + 1, s + i * j), [0, s])[1]
    return tf2.while_loop(lambda i, s: i < n, outer, [0, 0])


@traced('while_nested_three', 'While three deep; the innermost body captures from every level.', {'n': I(3), 'x': F(0.5)}, compare=EXACT)
def while_nested_three(n, x):
    def outer(i, s):
        def middle(j, s):
            def inner(k, s):
                return k + 1, s + x * tf2.cast(i + j * k, tf.float32)
            return j + 1, tf2.while_loop(lambda k, s: k < n, inner, [0, s])[1]
        return i + 1, tf2.while_loop(lambda j, s: j < n, middle, [0, s])[1]
    return tf2.while_loop(lambda i, s: i < n, outer, [0, 0.0])


@traced('while_matrix', 'A tanh recurrence in a While, parallel_iterations=1.',
        {'x': np.array([[0.5, -1, 2]], F), 'w': np.array([[0.1, 0.2, -0.3], [1, -1, 0.5], [0.3, 0.3, 0.3]], F)})
def while_matrix(x, w):
    return tf2.while_loop(lambda i, v: i < 6, lambda i, v: (i + 1, tf2.tanh(tf2.matmul(v, w))), [0, x], parallel_iterations=1)


@traced('while_strings', 'A While over strings.', {'s': np.array([b'a', b'bc'])})
def while_strings(s):
    return tf2.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf2.strings.join([s, tf2.as_string(i)])), [0, s])


def if_case(value):
    """If on a fed predicate."""
    @traced('if_%s' % str(bool(value)).lower(), 'StatelessIf with predicate %s.' % bool(value),
            {'p': np.bool_(value), 'x': np.array([1, 2], F)}, compare=EXACT)
    def build(p, x):
        return tf2.cond(p, lambda: (x + 1, tf2.reduce_sum(x)), lambda: (x * 10, tf2.constant(7.0)))


if_case(True)
if_case(False)


@traced('if_untaken_error', 'If (stateful) with an Assert in the branch that is not taken.', {'x': I(3)})
def if_untaken(x):
    def bad():
        with tf.control_dependencies([tf.debugging.Assert(x < 0, [x])]):
            return tf2.identity(x)
    return tf2.cond(x < 0, bad, lambda: x * 5)


@traced('if_assert', 'If (stateful): an Assert fails in the branch taken.', {'x': I(-3)}, code='INVALID_ARGUMENT')
def if_assert(x):
    def bad():
        with tf.control_dependencies([tf.debugging.Assert(x > 0, ['x is', x])]):
            return tf2.identity(x)
    return tf2.cond(x < 0, bad, lambda: x * 5)


@traced('if_nested', 'If in If.', {'p': np.bool_(True), 'q': np.bool_(False), 'x': I(5)})
def if_nested(p, q, x):
    return tf2.cond(p, lambda: tf2.cond(q, lambda: x + 1, lambda: x + 2), lambda: x * 3)


@traced('if_number_pred', 'An If whose predicate is a number: nonzero is true.', {'p': I(2), 'x': I(5)})
def if_number(p, x):
    @tf2.function
    def yes(x):
        return x + 1

    @tf2.function
    def no(x):
        return x - 1
    spec = tf2.TensorSpec([], tf.int32)
    return tf.raw_ops.StatelessIf(cond=p, input=[x], Tout=[tf.int32], then_branch=yes.get_concrete_function(spec),
                                  else_branch=no.get_concrete_function(spec))


@traced('if_string_pred', 'An If whose predicate is a string: not empty is true.', {'p': np.array(b''), 'x': I(5)})
def if_string(p, x):
    @tf2.function
    def yes(x):
        return x + 1

    @tf2.function
    def no(x):
        return x - 1
    spec = tf2.TensorSpec([], tf.int32)
    return tf.raw_ops.StatelessIf(cond=tf2.strings.join([p, '']), input=[x], Tout=[tf.int32],
                                  then_branch=yes.get_concrete_function(spec), else_branch=no.get_concrete_function(spec))


@traced('if_in_while', 'If in the body of a While.', {'n': I(9), 'x': F(1)}, compare=EXACT)
def if_in_while(n, x):
    return tf2.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, tf2.cond(tf2.equal(i % 2, 0), lambda: v * 3, lambda: v - x)), [0, x])


@traced('while_in_if', 'While in the branch of an If, taken.', {'p': np.bool_(True), 'n': I(5)})
def while_in_if(p, n):
    return tf2.cond(p, lambda: tf2.while_loop(lambda i: i < n, lambda i: [i + 2], [0])[0], lambda: n * 2)


@traced('while_in_if_untaken', 'While in the branch of an If, not taken.', {'p': np.bool_(False), 'n': I(5)})
def while_in_if_untaken(p, n):
    return tf2.cond(p, lambda: tf2.while_loop(lambda i: i < n, lambda i: [i + 2], [0])[0], lambda: n * 2)


def case_index(index):
    """Case on a fed index."""
    @traced('case_%s' % str(index).replace('-', 'minus_'), 'Case of three branches with index %d; out of range takes the last.' % index,
            {'i': I(index), 'x': F(3)}, compare=EXACT)
    def build(i, x):
        return tf2.switch_case(i, [lambda: x + 1, lambda: x * x, lambda: x / 2])


for _i in (0, 1, 2, 9, -1):
    case_index(_i)


@traced('call_nested', 'PartitionedCalls nested three deep, one function called twice.', {'x': np.array([1, 2], F)}, compare=EXACT)
def call_nested(x):
    @tf2.function
    def one(v):
        return v * 2 + 1

    @tf2.function
    def two(v):
        return one(v) + one(v + 10)

    @tf2.function
    def three(v):
        return two(v), one(v) - 1
    return three(x)


@traced('call_in_while', 'A PartitionedCall in the body of a While.', {'x': np.array([1, 2], F)}, compare=EXACT)
def call_in_while(x):
    @tf2.function
    def step(v, w):
        return v * 2 - w
    return tf2.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, step(v, x)), [0, x])


@traced('call_with_loop', 'A called function that holds a While and an If.', {'n': I(11)})
def call_with_loop(n):
    @tf2.function
    def collatz(k):
        return tf2.while_loop(lambda k, s: k > 1,
                              lambda k, s: (tf2.cond(tf2.equal(k % 2, 0), lambda: k // 2, lambda: 3 * k + 1), s + 1), [k, 0])
    return collatz(n), collatz(n + 16)


@traced('call_stateful', 'StatefulPartitionedCall of a function with an Assert.', {'x': I(4)})
def call_stateful(x):
    @tf2.function
    def checked(v):
        with tf.control_dependencies([tf.debugging.Assert(v > 0, [v])]):
            return v * 2
    return checked(x)


@traced('call_error', 'An integer division by zero in a called function.', {'x': I(4)}, code='INVALID_ARGUMENT')
def call_error(x):
    @tf2.function
    def divide(v):
        return v // (v - 4)
    return divide(x)


@traced('while_assert', 'A While (stateful) with an Assert that holds.', {'n': I(4)})
def while_assert(n):
    def body(i):
        with tf.control_dependencies([tf.debugging.Assert(i < n, [i])]):
            return [i + 1]
    return tf2.while_loop(lambda i: i < n, body, [0])


@traced('while_assert_fails', 'A While (stateful) with an Assert that fails in the third iteration.', {'n': I(4)}, code='INVALID_ARGUMENT')
def while_assert_fails(n):
    def body(i):
        with tf.control_dependencies([tf.debugging.Assert(i < 2, ['i is', i])]):
            return [i + 1]
    return tf2.while_loop(lambda i: i < n, body, [0])


@traced('gradient_if', 'The gradient of an If: the branch is chosen again backwards.', {'p': np.bool_(True), 'x': np.array([1, -2], F)})
def gradient_if(p, x):
    y = tf2.cond(p, lambda: tf2.reduce_sum(x * x * x), lambda: tf2.reduce_sum(x))
    return y, tf.gradients(y, x)[0]


@traced('autograph', 'A Python loop with break and continue, converted to While and If.', {'n': I(20)}, autograph=True)
def autograph(n):
    total = 0
    for i in tf2.range(n):
        if tf2.equal(i % 3, 0):
            continue
        if total > 60:
            break
        total += i
    return total


@traced('autograph_nested', 'Python while in for with an if, converted.', {'x': np.array([6, 7, 27, 1], I)}, autograph=True)
def autograph_nested(x):
    longest = 0
    for k in tf2.range(4):
        n = x[k]
        steps = 0
        while tf2.not_equal(n, 1):
            if tf2.equal(n % 2, 0):
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        longest = tf2.maximum(longest, steps)
    return longest


def variables_case():
    """A frozen-like graph with variables as resources, initialised by a target."""
    @case('tf2_variable_while', 'tf2', 'A While (stateful) over a captured resource variable, in a version 2 control-flow graph.')
    def build(c):
        tf.enable_control_flow_v2()
        with tf.Graph().as_default() as graph:
            v = tf.Variable([1.0, 2.0], name='v', use_resource=True)
            n = tf.placeholder(tf.int32, [], name='n')
            c.feeds['n:0'] = I(5)

            def body(i):
                with tf.control_dependencies([v.assign_add([1.0, 0.5])]):
                    return i + 1
            i = tf.while_loop(lambda i: i < n, body, [0])
            with tf.control_dependencies([i]):
                after = v.read_value()
            c.init()
            c.fetch(after, i, exact=True)
            c.graph_def = graph.as_graph_def()

    @case('tf2_variable_if', 'tf2', 'An If (stateful) that changes one of two captured resource variables.')
    def build_if(c):
        tf.enable_control_flow_v2()
        with tf.Graph().as_default() as graph:
            a = tf.Variable(1.0, name='a', use_resource=True)
            b = tf.Variable(2.0, name='b', use_resource=True)
            p = tf.placeholder(tf.bool, [], name='p')
            c.feeds['p:0'] = np.bool_(False)
            r = tf.cond(p, lambda: tf.identity(a.assign_add(10.0)), lambda: tf.identity(b.assign_add(20.0)))
            with tf.control_dependencies([r]):
                after = [a.read_value(), b.read_value()]
            c.init()
            c.fetch(after, r, exact=True)
            c.graph_def = graph.as_graph_def()

    @case('tf2_new_attributes', 'tf2', 'A graph with attributes that 1.15 lacks (allowed_devices, validate_shape, grad_a), left in place.')
    def build_new(c):
        c.keep_new_attrs = True
        with tf.Graph().as_default() as graph:
            v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name='v', use_resource=True)
            c.feeds['x:0'] = np.array([[1, -1]], F)
            x = tf.placeholder(tf.float32, [1, 2], name='x')
            y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.matmul(y, v)), [0, x])
            c.init()
            c.fetch(y, exact=True)
            c.graph_def = graph.as_graph_def()


variables_case()


# A value, then its gradients by the fed floats in order. Millstream's gradients of the value are compared
# with them.

@traced('diff_if', 'Gradients through an If in an If.', {'p': np.bool_(True), 'x': np.array([0.5, -2], F), 'w': F(1.5)})
def diff_if(p, x, w):
    def inner():
        return tf2.cond(x[0] < w, lambda: tf2.reduce_sum(x * x * w), lambda: w)
    y = tf2.cond(p, inner, lambda: tf2.reduce_sum(x))
    return [y] + tf.gradients(y, [x, w])


for k in range(5):
    @traced('diff_case_%d' % k, 'Gradients through a Case whose branches use different values.',
            {'k': I(k), 'x': np.array([0.5, -2], F), 'w': F(1.5), 'b': F(0.25)})
    def diff_case(k, x, w, b):
        y = tf2.switch_case(k, [lambda: tf2.reduce_sum(x * x) * w, lambda: tf2.reduce_sum(tf2.tanh(x)) * b,
                                lambda: w * w * b, lambda: tf2.reduce_prod(x)])
        return [y] + tf.gradients(y, [x, w, b], unconnected_gradients='zero')


@traced('diff_while', 'Gradients through a While with a Case in its body and a captured value.',
        {'n': I(7), 'x': F(0.5), 'w': F(0.75)})
def diff_while(n, x, w):
    def body(i, v):
        v = tf2.switch_case(i % 3, [lambda: tf2.tanh(v * w), lambda: v + w * x, lambda: v * v])
        return i + 1, v
    y = tf2.while_loop(lambda i, v: i < n, body, [0, x], maximum_iterations=20)[1]
    return [y] + tf.gradients(y, [x, w])


@traced('diff_while_while', 'Gradients through a While in a While, the inner as long as the data says.', {'x': F(0.3), 'w': F(1.5)})
def diff_while_while(x, w):
    def outer(i, v):
        inner = tf2.while_loop(lambda z: z < 2.0, lambda z: [z * w + x], [v])
        return i + 1, inner[0] * 0.25
    y = tf2.while_loop(lambda i, v: i < 3, outer, [0, x])[1]
    return [y] + tf.gradients(y, [x, w])
