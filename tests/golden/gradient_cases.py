"""The cases of `make_gradients.py`: each builds a forward graph and names the ys and xs of its gradients."""
import collections

import numpy as np
import tensorflow.compat.v1 as tf

CASES = collections.OrderedDict()  # name -> (about, function)


def case(about):
    """Registers the decorated function as the builder of a case."""
    def add(build):
        CASES[build.__name__] = (about, build)
        return build
    return add


class Case(object):
    """The declarations of a case, besides the graph itself."""

    def __init__(self, name):
        self.feeds = collections.OrderedDict()
        self.rng = np.random.RandomState(sum(map(ord, name)))
        self.plain = True        # has the same meaning without contexts
        self.may_vanish = False  # gradients may be zero

    def feed(self, name, value, dtype=tf.float64, shape='same'):
        """Adds a placeholder, and the value to feed."""
        value = np.asarray(value, dtype.as_numpy_dtype)
        tensor = tf.placeholder(dtype, value.shape if shape == 'same' else shape, name=name)
        self.feeds[tensor.name] = value
        return tensor

    def some(self, name, *shape, **options):
        """Adds a placeholder that is fed numbers between -1 and 1."""
        return self.feed(name, self.uniform(*shape), **options)

    def uniform(self, *shape):
        return self.rng.uniform(-1, 1, shape)

    def n(self, value=5):
        """Adds a fed number of iterations."""
        return self.feed('n', value, tf.int32)

    def weight(self, name, *shape):
        """Adds a variable with fixed values."""
        return tf.get_variable(name, initializer=tf.constant(self.uniform(*shape)))

    def initializer(self):
        """An initializer for the variables that cells make."""
        def make(shape, dtype=None, partition_info=None):
            return tf.constant(self.uniform(*tf.TensorShape(shape).as_list()), dtype)
        return make


def ask(ys, xs, **more):
    return dict(ys=ys if isinstance(ys, list) else [ys], xs=xs, **more)


def counted(n, body, init, **options):
    """The results of applying `body(i, *values)` to `init` `n` times, without the counter."""
    init = init if isinstance(init, list) else [init]

    def step(i, *values):
        result = body(i, *values)
        return [i + 1] + (list(result) if isinstance(result, (list, tuple)) else [result])
    results = tf.while_loop(lambda i, *_: i < n, step, [tf.constant(0)] + init, **options)[1:]
    return results if len(results) > 1 else results[0]


def mix(c, y):
    """A weighted sum of all elements, with a different weight for each."""
    size = tf.size(y)
    return tf.reduce_sum(tf.reshape(y, [-1]) * tf.cast(1 + tf.range(size), y.dtype) * 0.37)


# Single loops.

@case('x to the power of a fed n')
def loop_power(c):
    x, n = c.feed('x', 1.3), c.n()
    return ask(counted(n, lambda i, a: a * x, tf.constant(1.0, tf.float64)), [x])


@case('the same in f32')
def loop_power_f32(c):
    x, n = c.feed('x', 1.3, tf.float32), c.n(7)
    return ask(counted(n, lambda i, a: a * x, tf.constant(1.0)), [x])


@case('complex numbers')
def loop_complex(c):
    x, n = c.feed('x', [0.5, -0.25]), c.n(3)
    z = tf.complex(x, x * 2.0)
    y = counted(n, lambda i, a: a * z + tf.conj(a), z)
    return ask(mix(c, tf.real(y) - 2.0 * tf.imag(y)), [x])


@case('elementwise functions of a vector')
def loop_vector(c):
    x, w, n = c.some('x', 4), c.some('w', 4), c.n()
    return ask(mix(c, counted(n, lambda i, a: tf.tanh(a * w) + 0.1 * tf.exp(-a), x)), [x, w])


@case('two variables that feed each other')
def loop_two_variables(c):
    x, y, n = c.some('x', 3), c.some('y', 3), c.n()
    a, b = counted(n, lambda i, a, b: (b * 1.1 + tf.sin(a), a * b), [x, y])
    return ask([mix(c, a), mix(c, b * b)], [x, y])


@case('only one of two results is used')
def loop_one_result(c):
    x, y, n = c.some('x', 3), c.some('y', 3), c.n()
    a, _ = counted(n, lambda i, a, b: (a * b, tf.cos(b)), [x, y])
    return ask(mix(c, a), [x, y])


@case('two variables change places')
def loop_swap_places(c):
    x, y, n = c.some('x', 2), c.some('y', 2), c.n(3)
    a, b = counted(n, lambda i, a, b: (b, a * a), [x, y])
    return ask(mix(c, a) + 2.0 * mix(c, b), [x, y])


@case('matrix products with the state')
def loop_matmul(c):
    x, w, n = c.some('x', 2, 3), c.some('w', 3, 3), c.n(4)
    return ask(mix(c, counted(n, lambda i, a: tf.tanh(tf.matmul(a, w)), x)), [x, w])


@case('transposed matrix products, a bias, a reduction')
def loop_matmul_transposed(c):
    x, w, b, n = c.some('x', 2, 3), c.some('w', 3, 3), c.some('b', 3), c.n(4)

    def body(i, a):
        return tf.sigmoid(tf.matmul(a, w, transpose_b=True) + b) - tf.reduce_mean(a, 1, keepdims=True)
    return ask(mix(c, counted(n, body, x)), [x, w, b])


@case('how often it runs depends on the data')
def loop_data_dependent(c):
    x = c.feed('x', 1.1)
    y = tf.while_loop(lambda a: a < 50.0, lambda a: a * x + tf.sqrt(a), [x])
    return ask(y, [x])


@case('Newton: to where nothing changes')
def loop_newton(c):
    x = c.feed('x', 2.0)
    _, y = tf.while_loop(lambda d, a: tf.abs(d) > 1e-9, lambda d, a: ((a * a - x) / (2.0 * a), a - (a * a - x) / (2.0 * a)),
                         [tf.constant(1.0, tf.float64), x])
    return ask(y, [x])


@case('no iteration: the gradient goes past the loop')
def loop_zero_trips(c):
    x, w, n = c.some('x', 3), c.some('w', 3), c.n(0)
    c.may_vanish = True
    return ask(mix(c, counted(n, lambda i, a: a * w, x)), [x, w])


@case('integer and boolean variables beside')
def loop_integers(c):
    x, n = c.feed('x', 1.2), c.n()

    def body(i, k, flag, a):
        return k + 2 * i, tf.logical_not(flag), a * x + tf.cast(k, tf.float64) * 0.01
    _, _, y = counted(n, body, [tf.constant(1), tf.constant(True), x])
    return ask(y, [x])


@case('variables nobody uses, and one that stays as it is')
def loop_unused(c):
    x, y, z, n = c.feed('x', 1.2), c.feed('y', 0.5), c.feed('z', 0.7), c.n()
    _, still, r = counted(n, lambda i, u, s, a: (u * 2.0 + a, s, a * s), [y, z, x])
    return ask(r + 3.0 * still, [x, y, z])


@case('captured values of several shapes, broadcast')
def loop_captured(c):
    x, row, one, n = c.some('x', 2, 3), c.some('row', 3), c.feed('one', 0.8), c.n(4)
    return ask(mix(c, counted(n, lambda i, a: tf.sin(a * row) + one * a - row / 3.0, x)), [x, row, one])


@case('something computed outside and captured')
def loop_captured_deep(c):
    x, n = c.feed('x', 0.6), c.n()
    w = tf.exp(x) - 1.0
    return ask(counted(n, lambda i, a: a * w + x * a, tf.constant(1.0, tf.float64)), [x])


@case('the x is the first value and is captured too')
def loop_captured_initial(c):
    x, n = c.some('x', 3), c.n()
    return ask(mix(c, counted(n, lambda i, a: a * x * 0.9 + x, x)), [x])


@case('the counter takes part')
def loop_counter_used(c):
    x, n = c.feed('x', 0.9), c.n(6)
    return ask(counted(n, lambda i, a: a * x + tf.pow(x, tf.cast(i, tf.float64)), x), [x])


@case('rows of a captured table, one in each iteration')
def loop_gathered(c):
    table, x, n = c.some('table', 6, 3), c.some('x', 3), c.n()
    return ask(mix(c, counted(n, lambda i, a: tf.tanh(a + tf.gather(table, i)), x)), [table, x])


@case('several rows at once, some of them twice')
def loop_gathered_twice(c):
    table, x, n = c.some('table', 4, 2), c.some('x', 3, 2), c.n(3)
    return ask(mix(c, counted(n, lambda i, a: a * tf.gather(table, [i, 1, i]) + 0.5, x)), [table, x])


@case('a table used as a whole and row by row')
def loop_gathered_and_whole(c):
    table, x, n = c.some('table', 4, 4), c.some('x', 1, 4), c.n(3)
    return ask(mix(c, counted(n, lambda i, a: tf.matmul(a, table) + tf.gather(table, [i]), x)), [table, x])


@case('embedding lookups of fed ids')
def loop_embedding(c):
    table, n = c.some('table', 5, 2), c.n(4)
    ids = c.feed('ids', [[0, 1], [4, 1], [1, 1], [2, 0]], tf.int32)
    y = counted(n, lambda i, a: tf.sin(a) + tf.nn.embedding_lookup(table, ids[i]), tf.zeros([2, 2], tf.float64))
    return ask(mix(c, y), [table])


@case('the state grows')
def loop_growing(c):
    x, n = c.some('x', 2), c.n(3)
    y = counted(n, lambda i, a: tf.concat([a, a[:1] * a], 0), x,
                shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
    return ask(mix(c, y), [x])


@case('the state shrinks')
def loop_shrinking(c):
    x, n = c.some('x', 7), c.n(3)
    y = counted(n, lambda i, a: a[1:] * a[:-1] + 0.5, x, shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
    return ask(mix(c, y), [x])


@case('shapes that are not known before the run')
def loop_unknown_shapes(c):
    x, w, n = c.some('x', 2, 3, shape=[None, None]), c.some('w', 3, shape=[None]), c.n(3)
    return ask(mix(c, counted(n, lambda i, a: tf.reshape(a * w + tf.reduce_sum(a), tf.shape(a)), x)), [x, w])


@case('swap_memory and one iteration at a time')
def loop_swap_memory(c):
    x, w, n = c.some('x', 4), c.some('w', 4), c.n()
    return ask(mix(c, counted(n, lambda i, a: tf.tanh(a * w), x, swap_memory=True, parallel_iterations=1)), [x, w])


@case('one of two loops lets no gradient through')
def loop_no_back_prop(c):
    x, n = c.feed('x', 1.1), c.n(3)
    c.plain = False
    open_loop = counted(n, lambda i, a: a * x, x)
    closed = counted(n, lambda i, a: a * x, x, back_prop=False)
    return ask(open_loop * closed, [x])


@case('no way back at all: None')
def loop_no_way(c):
    x, y, n = c.feed('x', 1.1), c.feed('y', 2.0), c.n(3)
    return ask(counted(n, lambda i, a: a * x, x), [x, y])


@case('maximum_iterations ends it')
def loop_maximum(c):
    x = c.feed('x', 1.1)
    y = tf.while_loop(lambda a: a < 1e9, lambda a: a * a + x, [x], maximum_iterations=4)
    return ask(y, [x])


@case('grad_ys of two ys')
def loop_grad_ys(c):
    x, n = c.some('x', 3), c.n(3)
    seed = c.some('seed', 3)
    a, b = counted(n, lambda i, a, b: (a * x, b + a), [x, x])
    return ask([a, b], [x], grad_ys=[seed, 2.0 * seed])


@case('stop_gradients at a value in between')
def loop_stop_gradients(c):
    x, n = c.some('x', 3), c.n(3)
    w = tf.sin(x)
    return ask(mix(c, counted(n, lambda i, a: a * w + x, x)), [x, w], stop=[w])


@case('the op StopGradient in the body')
def loop_stop_gradient(c):
    x, n = c.some('x', 3), c.n(3)
    return ask(mix(c, counted(n, lambda i, a: a * tf.stop_gradient(a) + x, x)), [x])


@case('two loops, one behind the other')
def loop_after_loop(c):
    x, w, n = c.some('x', 3), c.some('w', 3), c.n(3)
    y = counted(n, lambda i, a: tf.sin(a * w), x)
    return ask(mix(c, counted(n + 1, lambda i, a: a * y + w, x * y)), [x, w])


@case('variables read in the loop')
def loop_variables(c):
    x, n = c.some('x', 2, 3), c.n(3)
    w, b = c.weight('w', 3, 3), c.weight('b', 3)
    return ask(mix(c, counted(n, lambda i, a: tf.tanh(tf.matmul(a, w) + b), x)), [x, w, b])


@case('many kinds of ops')
def loop_many_ops(c):
    x, n = c.some('x', 3, 4), c.n(3)

    def body(i, a):
        top, bottom = tf.split(a, [1, 2], 0)
        b = tf.concat([tf.nn.softmax(bottom), tf.maximum(top, 0.1)], 0)
        b = tf.transpose(tf.reshape(b, [4, 3])) + tf.pad(a[:, 1:3], [[0, 0], [1, 1]])
        return tf.where(b > 0.2, b * 0.9, tf.nn.elu(b)) + tf.cumsum(b, 1) * 0.1
    return ask(mix(c, counted(n, body, x)), [x])


@case('sums, products, means, extremes')
def loop_reductions(c):
    x, n = c.feed('x', [[1.0, 1.2], [0.7, 1.5]]), c.n(3)

    def body(i, a):
        return a * 0.5 + tf.reduce_prod(a, 0) * 0.3 + tf.reduce_max(a, 1, keepdims=True) * 0.2 - tf.reduce_logsumexp(a) * 0.1 + tf.norm(a)
    return ask(mix(c, counted(n, body, x)), [x])


@case('a step down the gradient in the body')
def loop_gradient_inside(c):
    w, x, n = c.feed('w', 1.0), c.feed('x', 1.0), c.n(3)
    return ask(counted(n, lambda i, a: a - 0.1 * tf.gradients(a * a * w, a)[0], x), [w, x])


@case('a gradient in the body, by a captured value')
def loop_gradient_inside_captured(c):
    w, x, n = c.some('w', 3), c.some('x', 3), c.n(3)

    def body(i, a):
        return a - 0.2 * tf.gradients(tf.reduce_sum(tf.sin(a * w) * a), w)[0]
    return ask(mix(c, counted(n, body, x)), [w, x])


# Nested loops.

@case('w to the power of n times n')
def nested_power(c):
    w, n = c.feed('w', 1.1), c.n(3)
    return ask(counted(n, lambda i, a: counted(n, lambda j, b: b * w, a), tf.constant(1.0, tf.float64)), [w])


@case('three deep')
def nested_triple(c):
    w, n = c.feed('w', 1.05), c.n(2)

    def loop(depth, a):
        return a * w + 0.1 if depth == 0 else counted(n, lambda i, b: loop(depth - 1, b), a)
    return ask(loop(3, tf.constant(1.0, tf.float64)), [w])


@case('the inner loop runs as often as the outer one has')
def nested_triangle(c):
    x, w, n = c.some('x', 3), c.some('w', 3), c.n(4)
    return ask(mix(c, counted(n, lambda i, a: counted(i, lambda j, b: tf.tanh(b * w) + 0.2, a), x)), [x, w])


@case('the inner loop captures values of the outer body')
def nested_captured(c):
    x, w, n = c.some('x', 3), c.some('w', 3), c.n(3)

    def body(i, a):
        u = tf.sin(a) + w
        return counted(n - 1, lambda j, b: b * u + a * w, a)
    return ask(mix(c, counted(n, body, x)), [x, w])


@case('two loops side by side in the body')
def nested_two(c):
    x, w, n = c.some('x', 3), c.some('w', 3), c.n(3)

    def body(i, a):
        return counted(2, lambda j, b: tf.sin(b * w), a) + counted(i, lambda j, b: b * 0.9 + a, w)
    return ask(mix(c, counted(n, body, x)), [x, w])


@case('rows of a table, in an inner loop')
def nested_gathered(c):
    table, x, n = c.some('table', 5, 2), c.some('x', 2), c.n(3)
    return ask(mix(c, counted(n, lambda i, a: counted(2, lambda j, b: tf.tanh(b + tf.gather(table, i + j)), a), x)), [table, x])


@case('an inner loop that stops when the data says so')
def nested_data_dependent(c):
    x, n = c.feed('x', 1.2), c.n(3)
    return ask(counted(n, lambda i, a: 0.3 * tf.while_loop(lambda b: b < 5.0, lambda b: b * x + 0.5, [a]), x), [x])


# Branches.

@case('both branches use x')
def cond_simple(c):
    x, y, flag = c.feed('x', 1.2), c.feed('y', 0.4), c.feed('flag', True, tf.bool)
    return ask(tf.cond(flag, lambda: x * y, lambda: tf.sin(x)), [x, y])


@case('the other side')
def cond_simple_false(c):
    x, y, flag = c.feed('x', 1.2), c.feed('y', 0.4), c.feed('flag', False, tf.bool)
    c.may_vanish = True
    return ask(tf.cond(flag, lambda: x * y, lambda: tf.sin(x)), [x, y])


@case('rows gathered in a branch')
def cond_gathered(c):
    table, flag = c.some('table', 4, 2), c.feed('flag', True, tf.bool)
    y = tf.cond(flag, lambda: tf.gather(table, [1, 1, 3]) * 2.0, lambda: tf.gather(table, [0, 2, 2]))
    return ask(mix(c, y), [table])


@case('rows gathered in a branch, all outside')
def cond_gathered_and_whole(c):
    table, flag = c.some('table', 4, 2), c.feed('flag', False, tf.bool)
    y = tf.cond(flag, lambda: tf.gather(table, [1, 1, 3]) * 2.0, lambda: tf.gather(table, [0, 2, 2]))
    return ask(mix(c, y) + tf.reduce_sum(tf.sin(table)), [table])


@case('branches in branches')
def cond_nested(c):
    x, y = c.feed('x', 1.2), c.feed('y', 0.4)

    def inner():
        return tf.cond(y > 1.0, lambda: x - y, lambda: x * x * y)
    return ask(tf.cond(x > 1.0, lambda: inner() * x, lambda: y), [x, y])


@case('case')
def cond_case(c):
    x, k = c.some('x', 3), c.feed('k', 1, tf.int32)
    y = tf.case([(tf.equal(k, 0), lambda: x), (tf.equal(k, 1), lambda: tf.exp(x) * x)], default=lambda: -x)
    return ask(mix(c, y), [x])


# Both.

@case('a branch in each iteration')
def cond_in_loop(c):
    w, n = c.feed('w', 2.0), c.n(4)
    return ask(counted(n, lambda i, a: tf.cond(tf.equal(i % 2, 0), lambda: a * w, lambda: a + w), tf.constant(1.0, tf.float64)), [w])


@case('branches that capture, and look at the data')
def cond_in_loop_data(c):
    x, w, n = c.some('x', 3), c.some('w', 3), c.n(6)

    def body(i, a):
        return tf.cond(tf.reduce_sum(a) > 0.1, lambda: tf.sin(a) * w - 0.8, lambda: tf.exp(a) + x * w)
    return ask(mix(c, counted(n, body, x)), [x, w])


@case('a branch with two results, one of them as it was')
def cond_in_loop_two(c):
    x, y, n = c.feed('x', 1.1), c.feed('y', 0.6), c.n(5)
    a, b = counted(n, lambda i, a, b: tf.cond(tf.equal(i % 3, 0), lambda: [a * b, b], lambda: [a, tf.tanh(a + b)]), [x, y])
    return ask(a * 2.0 + b, [x, y])


@case('rows gathered in branches of a loop')
def cond_in_loop_gathered(c):
    table, x, n = c.some('table', 6, 2), c.some('x', 2), c.n(5)

    def body(i, a):
        return tf.cond(tf.equal(i % 2, 0), lambda: a * tf.gather(table, i), lambda: tf.tanh(a) + 0.3)
    return ask(mix(c, counted(n, body, x)), [table, x])


@case('branches in branches in a loop')
def cond_in_cond_in_loop(c):
    x, w, n = c.feed('x', 0.7), c.feed('w', 1.1), c.n(6)

    def body(i, a):
        def inner():
            return tf.cond(a > 1.0, lambda: a / (w + 1.0), lambda: a * a + w)
        return tf.cond(i < 4, inner, lambda: tf.sin(a * w))
    return ask(counted(n, body, x), [x, w])


@case('a loop in a branch')
def loop_in_cond(c):
    x, w, n, flag = c.feed('x', 0.7), c.feed('w', 1.1), c.n(3), c.feed('flag', True, tf.bool)
    y = tf.cond(flag, lambda: counted(n, lambda i, a: a * w + 0.1, x), lambda: x * 5.0)
    return ask(y, [x, w])


@case('a loop in the branch that is not taken')
def loop_in_cond_not_taken(c):
    x, w, n, flag = c.feed('x', 0.7), c.feed('w', 1.1), c.n(3), c.feed('flag', False, tf.bool)
    c.may_vanish = True
    y = tf.cond(flag, lambda: counted(n, lambda i, a: a * w + 0.1, x), lambda: x * 5.0)
    return ask(y, [x, w])


@case('loops in both branches')
def loop_in_both(c):
    x, w, n = c.some('x', 2), c.some('w', 2), c.n(3)
    y = tf.cond(tf.reduce_sum(x) > 9.0, lambda: counted(n, lambda i, a: a * w + 0.1, x), lambda: counted(n, lambda i, a: tf.sin(a) - w, x))
    return ask(mix(c, y), [x, w])


@case('a loop in a branch in a loop')
def loop_in_cond_in_loop(c):
    x, w, n = c.feed('x', 0.7), c.feed('w', 1.1), c.n(4)

    def body(i, a):
        return tf.cond(tf.equal(i % 2, 1), lambda: counted(i, lambda j, b: tf.sin(b * w), a), lambda: a * w + x)
    return ask(counted(n, body, x), [x, w])


@case('case in a loop')
def case_in_loop(c):
    x, n = c.feed('x', 0.9), c.n(6)

    def body(i, a):
        return tf.case([(tf.equal(i % 3, 0), lambda: a * x), (tf.equal(i % 3, 1), lambda: tf.sin(a) + x)], default=lambda: a - x * x)
    return ask(counted(n, body, x), [x])


# TensorArrays.

@case('written in a loop, stacked behind it')
def ta_write_stack(c):
    x, n = c.some('x', 3), c.n(4)
    a, ta = counted(n, lambda i, a, ta: (tf.sin(a) * 1.1, ta.write(i, a * a)), [x, tf.TensorArray(tf.float64, n)])
    return ask(mix(c, ta.stack()) + tf.reduce_sum(a), [x])


@case('unstacked before the loop, read in it')
def ta_unstack_read(c):
    x, w = c.some('x', 4, 3), c.some('w', 3)
    ta = tf.TensorArray(tf.float64, 4).unstack(x)
    return ask(mix(c, counted(4, lambda i, a: tf.tanh(a * ta.read(i)) + w, w)), [x, w])


@case('read and written in one loop')
def ta_read_write(c):
    x, w, n = c.some('x', 4, 2), c.some('w', 2), c.n(4)
    source = tf.TensorArray(tf.float64, n).unstack(x)
    a, ta = counted(n, lambda i, a, ta: (a * w + source.read(i), ta.write(n - 1 - i, tf.tanh(a))), [w, tf.TensorArray(tf.float64, n)])
    return ask(mix(c, ta.stack()) + mix(c, a), [x, w])


@case('without any loop')
def ta_straight(c):
    x, y = c.some('x', 3), c.some('y', 3)
    ta = tf.TensorArray(tf.float64, 3, clear_after_read=False).write(0, x).write(1, y).write(2, x * y)
    return ask(mix(c, ta.read(0) * ta.read(2)) + mix(c, tf.sin(ta.stack())), [x, y])


@case('one element is read in every iteration')
def ta_read_again(c):
    x, n = c.some('x', 2, 3), c.n(4)
    ta = tf.TensorArray(tf.float64, 2, clear_after_read=False).unstack(x)
    return ask(mix(c, counted(n, lambda i, a: a * ta.read(i % 2) + ta.read(0), x[1])), [x])


@case('some elements gathered')
def ta_gather(c):
    x = c.some('x', 4, 2)
    ta = tf.TensorArray(tf.float64, 4).unstack(tf.sin(x))
    return ask(mix(c, ta.gather([2, 0])), [x])


@case('elements scattered, and read one by one')
def ta_scatter(c):
    x = c.some('x', 3, 2)
    ta = tf.TensorArray(tf.float64, 5, element_shape=[2]).scatter([4, 0, 2], x * x)
    return ask(mix(c, ta.read(4)) + 2.0 * mix(c, ta.read(0)), [x])


@case('elements of different lengths, one behind the other')
def ta_concat(c):
    x, n = c.some('x', 3, 2), c.n(3)
    ta = counted(n, lambda i, ta: ta.write(i, x[:i + 1] * tf.cast(i + 1, tf.float64)), tf.TensorArray(tf.float64, n, infer_shape=False))
    return ask(mix(c, tf.sin(ta.concat())), [x])


@case('split into elements of different lengths')
def ta_split(c):
    x = c.some('x', 6, 2)
    ta = tf.TensorArray(tf.float64, 3, infer_shape=False).split(x, [1, 3, 2])
    return ask(mix(c, ta.read(1)) + tf.reduce_sum(tf.exp(ta.read(2))), [x])


@case('split, changed in a loop, put together again')
def ta_split_concat(c):
    x = c.some('x', 6, 2)
    source = tf.TensorArray(tf.float64, 3, infer_shape=False).split(x, [1, 3, 2])
    ta = counted(3, lambda i, ta: ta.write(i, tf.sin(source.read(i))), tf.TensorArray(tf.float64, 3, infer_shape=False))
    return ask(mix(c, ta.concat()), [x])


@case('it grows while the loop runs')
def ta_dynamic(c):
    x, n = c.some('x', 2), c.n(5)
    ta0 = tf.TensorArray(tf.float64, 0, dynamic_size=True)
    a, ta = counted(n, lambda i, a, ta: (tf.sin(a) + x, ta.write(i, a * x)), [x, ta0])
    return ask(mix(c, ta.stack()) + mix(c, a), [x])


@case('it grows, and not every element is used')
def ta_dynamic_read(c):
    x, n = c.some('x', 2), c.n(5)
    ta0 = tf.TensorArray(tf.float64, 1, dynamic_size=True, clear_after_read=False, element_shape=[2])
    a, ta = counted(n, lambda i, a, ta: (tf.sin(a) + x, ta.write(i, a * x)), [x, ta0])
    return ask(mix(c, ta.read(1)) + mix(c, ta.read(3) * ta.read(1)) + mix(c, a), [x])


@case('written only in some iterations')
def ta_write_in_cond(c):
    x, n = c.some('x', 2), c.n(4)

    def body(i, a, flow):
        array = tf.TensorArray(tf.float64, handle=ta.handle, flow=flow)
        flow = tf.cond(tf.equal(i % 2, 0), lambda: array.write(i, a * 2.0).flow, lambda: flow)
        return tf.sin(a) + x, flow
    ta = tf.TensorArray(tf.float64, 4, element_shape=[2])
    a, flow = counted(n, body, [x, ta.flow])
    return ask(mix(c, tf.TensorArray(tf.float64, handle=ta.handle, flow=flow).read(2)) + mix(c, a), [x])


@case('read in a branch')
def ta_read_in_cond(c):
    x, n = c.some('x', 4, 2), c.n(4)
    ta = tf.TensorArray(tf.float64, 4).unstack(x)

    def body(i, a):
        return tf.cond(tf.equal(i % 2, 1), lambda: a * ta.read(i), lambda: tf.sin(a) + 0.3)
    return ask(mix(c, counted(n, body, x[0])), [x])


@case('carried through nested loops')
def ta_nested(c):
    x, n = c.some('x', 2), c.n(3)

    def body(i, a, ta):
        return counted(2, lambda j, b, t: (tf.sin(b) + x, t.write(2 * i + j, b * x)), [a, ta])
    a, ta = counted(n, body, [x, tf.TensorArray(tf.float64, 2 * n)])
    return ask(mix(c, ta.stack()) + mix(c, a), [x])


@case('an array of its own in each iteration')
def ta_made_in_body(c):
    x, n = c.some('x', 2), c.n(3)

    def body(i, a):
        ta = counted(3, lambda j, t: t.write(j, a * tf.cast(j + 1, tf.float64) + x), tf.TensorArray(tf.float64, 3))
        return tf.reduce_sum(tf.sin(ta.stack()), 0)
    return ask(mix(c, counted(n, body, x)), [x])


@case('no element is written')
def ta_zero_trips(c):
    x, n = c.some('x', 2), c.n(0)
    c.may_vanish = True
    a, ta = counted(n, lambda i, a, ta: (tf.sin(a), ta.write(i, a)), [x, tf.TensorArray(tf.float64, n, element_shape=[2])])
    return ask(mix(c, ta.stack()) + mix(c, a), [x])


# Functions over rows.

@case('map_fn')
def map_simple(c):
    x, w = c.some('x', 4, 3), c.some('w', 3)
    return ask(mix(c, tf.map_fn(lambda r: tf.sin(r * w) * r[0], x)), [x, w])


@case('map_fn over a pair, with two results')
def map_pair(c):
    x, y = c.some('x', 4, 3), c.some('y', 4)
    a, b = tf.map_fn(lambda e: (e[0] * e[1], tf.reduce_sum(e[0])), (x, y), dtype=(tf.float64, tf.float64))
    return ask(mix(c, a) + mix(c, b * b), [x, y])


@case('map_fn in map_fn')
def map_nested(c):
    x, w = c.some('x', 3, 2), c.feed('w', 0.7)
    return ask(mix(c, tf.map_fn(lambda r: tf.map_fn(lambda e: tf.exp(e * w), r), x)), [x, w])


@case('foldl')
def fold_left(c):
    x = c.some('x', 5, 2)
    return ask(mix(c, tf.foldl(lambda a, e: a * e + tf.sin(a), x)), [x])


@case('foldr with a first value')
def fold_right(c):
    x, z = c.some('x', 5, 2), c.some('z', 2)
    return ask(mix(c, tf.foldr(lambda a, e: a * 0.5 + e * tf.cos(a), x, z)), [x, z])


@case('scan')
def scan_simple(c):
    x = c.some('x', 5, 2)
    return ask(mix(c, tf.scan(lambda a, e: a * e + tf.sin(a), x)), [x])


@case('scan backwards, with first values of a pair')
def scan_reverse(c):
    x, u, v = c.some('x', 4, 2), c.some('u', 2), c.some('v', 2)
    a, b = tf.scan(lambda s, e: (s[0] * e + s[1], tf.tanh(s[0])), x, (u, v), reverse=True)
    return ask(mix(c, a) + mix(c, b), [x, u, v])


# Recurrent nets.

def rnn(c, make, lengths=None, **options):
    x = c.some('x', 3, 5, 2, dtype=tf.float32)
    seq = None if lengths is None else c.feed('lengths', lengths, tf.int32)
    with tf.variable_scope('net', initializer=c.initializer()):
        outputs, state = tf.nn.dynamic_rnn(make(), x, sequence_length=seq, dtype=tf.float32, **options)
        weights = tf.trainable_variables()
    loss = mix(c, outputs) + sum(tf.reduce_sum(tf.sin(s)) for s in tf.nest.flatten(state))
    return ask(loss, [x] + list(weights))


@case('dynamic_rnn, basic cell')
def rnn_basic(c):
    return rnn(c, lambda: tf.nn.rnn_cell.BasicRNNCell(4))


@case('dynamic_rnn, basic cell, lengths')
def rnn_basic_lengths(c):
    return rnn(c, lambda: tf.nn.rnn_cell.BasicRNNCell(4), [5, 2, 0])


@case('dynamic_rnn, LSTM')
def rnn_lstm(c):
    return rnn(c, lambda: tf.nn.rnn_cell.BasicLSTMCell(4))


@case('dynamic_rnn, LSTM with peepholes and projection, lengths, swap_memory')
def rnn_lstm_lengths(c):
    return rnn(c, lambda: tf.nn.rnn_cell.LSTMCell(4, use_peepholes=True, num_proj=3), [3, 5, 1], swap_memory=True)


@case('dynamic_rnn, GRU')
def rnn_gru(c):
    return rnn(c, lambda: tf.nn.rnn_cell.GRUCell(4))


@case('dynamic_rnn, GRU, lengths, one iteration at a time')
def rnn_gru_lengths(c):
    return rnn(c, lambda: tf.nn.rnn_cell.GRUCell(4), [1, 4, 4], parallel_iterations=1)


@case('dynamic_rnn, two layers')
def rnn_layers(c):
    return rnn(c, lambda: tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(3), tf.nn.rnn_cell.GRUCell(2)]), [5, 3, 4])


@case('bidirectional_dynamic_rnn, lengths')
def rnn_bidirectional(c):
    x, seq = c.some('x', 3, 5, 2, dtype=tf.float32), c.feed('lengths', [5, 2, 3], tf.int32)
    with tf.variable_scope('net', initializer=c.initializer()):
        outputs, _ = tf.nn.bidirectional_dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(3), tf.nn.rnn_cell.GRUCell(2), x, seq, dtype=tf.float32)
        weights = tf.trainable_variables()
    return ask(mix(c, tf.concat(outputs, 2)), [x] + list(weights))


@case('raw_rnn')
def rnn_raw(c):
    x = c.some('x', 4, 3, 2, dtype=tf.float32)
    inputs = tf.TensorArray(tf.float32, 4).unstack(x)
    with tf.variable_scope('net', initializer=c.initializer()):
        cell = tf.nn.rnn_cell.BasicRNNCell(3)

        def loop_fn(time, output, state, _):
            state = cell.zero_state(3, tf.float32) if output is None else state
            done = tf.fill([3], time >= 4)
            following = tf.cond(time >= 4, lambda: tf.zeros([3, 2]), lambda: inputs.read(time))
            return done, following, state, output, None
        emitted, state, _ = tf.nn.raw_rnn(cell, loop_fn)
        weights = tf.trainable_variables()
    return ask(mix(c, emitted.stack()) + mix(c, state), [x] + list(weights))


@case('attention: a loop over time that looks at all of a memory')
def rnn_attention(c):
    memory, w, n = c.some('memory', 5, 3), c.some('w', 3, 3), c.n(4)

    def body(i, q, ta):
        weights = tf.nn.softmax(tf.matmul(memory, tf.expand_dims(tf.tanh(q), 1))[:, 0])
        q = tf.linalg.matvec(w, tf.reduce_sum(memory * tf.expand_dims(weights, 1), 0)) + 0.5 * q
        return q, ta.write(i, weights)
    q, ta = counted(n, body, [memory[0], tf.TensorArray(tf.float64, n)])
    return ask(mix(c, q) + mix(c, ta.stack()), [memory, w])
