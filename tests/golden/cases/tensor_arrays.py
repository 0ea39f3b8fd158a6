"""TensorArrays, stacks, and programs built on them: recurrent nets, and TensorFlow 1's gradients of loops."""
import numpy as np
import tensorflow.compat.v1 as tf

from golden import case

F, I = np.float32, np.int32


def some(*shape):
    """Numbers between -1 and 1, the same in every run of one case."""
    return (np.random.RandomState(int(np.prod(shape)) + len(shape)).rand(*shape) * 2 - 1).astype(F)


def with_gradients(c, ys, xs, **options):
    """Fetches values and the gradients of their sum."""
    c.fetch(ys, **options)
    c.fetch([g for g in tf.gradients(ys, xs) if g is not None], **options)


@case('ta_write_read_loop', 'tensor_arrays', 'Elements written in a loop, read in reverse in another.')
def write_read(c):
    n = c.feed('n', I(6))
    x = c.feed('x', F(1.5))
    ta = tf.TensorArray(tf.float32, size=n)
    _, ta, _ = tf.while_loop(lambda i, a, v: i < n, lambda i, a, v: (i + 1, a.write(i, v), v * x), [0, ta, x])
    back = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s * 0.5 + ta.read(n - 1 - i)), [0, 0.0])[1]
    with_gradients(c, [back], [x])


@case('ta_unstack_stack', 'tensor_arrays', 'unstack, a loop, stack; with gradients.')
def unstack_stack(c):
    x = c.feed('x', some(5, 3))
    w = c.feed('w', some(3))
    ins = tf.TensorArray(tf.float32, size=5).unstack(x)
    outs = tf.TensorArray(tf.float32, size=5)
    _, outs = tf.while_loop(lambda i, o: i < 5, lambda i, o: (i + 1, o.write(i, tf.tanh(ins.read(i)) * w)), [0, outs])
    with_gradients(c, [outs.stack()], [x, w])


@case('ta_scatter_gather', 'tensor_arrays', 'scatter to fed indices, gather some of them; with gradients.')
def scatter_gather(c):
    x = c.feed('x', some(3, 2))
    at = c.feed('at', np.array([4, 0, 2], I))
    ta = tf.TensorArray(tf.float32, size=6, element_shape=[2], clear_after_read=False).scatter(at, x)
    with_gradients(c, [ta.gather([2, 4]), ta.gather([0, 1])], [x])


@case('ta_split_concat', 'tensor_arrays', 'split by fed lengths, each part changed in a loop, concat; with gradients.')
def split_concat(c):
    x = c.feed('x', some(6, 2))
    lengths = c.feed('lengths', np.array([1, 3, 0, 2], I))
    parts = tf.TensorArray(tf.float32, size=4, infer_shape=False).split(x, lengths)
    outs = tf.TensorArray(tf.float32, size=4, infer_shape=False)
    _, outs = tf.while_loop(lambda i, o: i < 4, lambda i, o: (i + 1, o.write(i, parts.read(i) * tf.cast(i + 1, tf.float32))),
                            [0, outs])
    value = outs.concat()
    value.set_shape([None, 2])
    with_gradients(c, [value], [x])


@case('ta_dynamic_size', 'tensor_arrays', 'A TensorArray that grows until a condition holds; size and stack.')
def dynamic_size(c):
    x = c.feed('x', F(1.0))
    ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[])
    n, ta, _ = tf.while_loop(lambda i, a, v: v < 100., lambda i, a, v: (i + 1, a.write(i, v), v * 3.0), [0, ta, x])
    c.fetch(n, ta.size())
    with_gradients(c, [ta.stack()], [x])


@case('ta_read_many_times', 'tensor_arrays', 'clear_after_read=False: one element read in every iteration; its gradient is a sum.')
def read_many(c):
    x = c.feed('x', some(3, 2))
    ta = tf.TensorArray(tf.float32, size=3, clear_after_read=False).unstack(x)
    y = tf.while_loop(lambda i, s: i < 7, lambda i, s: (i + 1, s * 0.5 + ta.read(i % 3) * ta.read(1)), [0, tf.zeros([2])])[1]
    with_gradients(c, [y], [x])


@case('ta_strings_bools', 'tensor_arrays', 'TensorArrays of strings and of bools.')
def strings(c):
    s = c.feed('s', np.array(['a', 'bc', '']))
    ins = tf.TensorArray(tf.string, size=3).unstack(s)
    outs, flags = tf.TensorArray(tf.string, size=3), tf.TensorArray(tf.bool, size=3)
    _, outs, flags = tf.while_loop(
        lambda i, o, f: i < 3,
        lambda i, o, f: (i + 1, o.write(i, tf.strings.join([ins.read(i), tf.as_string(i)])), f.write(2 - i, i < 2)),
        [0, outs, flags])
    c.fetch(outs.stack(), flags.stack())


@case('ta_in_nested_loops', 'tensor_arrays', 'An inner loop fills a TensorArray anew in each outer iteration; with gradients.')
def nested(c):
    x = c.feed('x', some(3))

    def outer(i, s):
        ta = tf.TensorArray(tf.float32, size=4)
        _, ta = tf.while_loop(lambda j, a: j < 4, lambda j, a: (j + 1, a.write(j, s * x[0] + tf.cast(i * j, tf.float32))), [0, ta])
        return i + 1, tf.tanh(tf.reduce_sum(ta.stack()) * x[1] + x[2])
    with_gradients(c, [tf.while_loop(lambda i, s: i < 3, outer, [0, x[1]])[1]], [x])


@case('ta_unwritten_zeros', 'tensor_arrays', 'Unwritten elements of a known shape read as zeros.')
def unwritten(c):
    x = c.feed('x', some(2))
    ta = tf.TensorArray(tf.float32, size=4, element_shape=[2]).write(2, x)
    c.fetch(ta.stack())


@case('ta_map_fn', 'tensor_arrays', 'map_fn over a tuple, with gradients.')
def map_fn(c):
    x, y = c.feed('x', some(4, 2)), c.feed('y', some(4))
    out = tf.map_fn(lambda p: tf.sin(p[0]) * p[1], (x, y), dtype=tf.float32)
    with_gradients(c, [out], [x, y])


@case('ta_folds', 'tensor_arrays', 'foldl and foldr, with gradients.')
def folds(c):
    x = c.feed('x', some(5, 2))
    with_gradients(c, [tf.foldl(lambda a, v: a * 0.5 + v * v, x), tf.foldr(lambda a, v: tf.tanh(a + v), x, tf.ones([2]))], [x])


@case('ta_scan', 'tensor_arrays', 'scan forward and in reverse, with gradients.')
def scan(c):
    x = c.feed('x', some(5, 2))
    with_gradients(c, [tf.scan(lambda a, v: a * v + 1.0, x), tf.scan(lambda a, v: a - v * v, x, tf.zeros([2]), reverse=True)], [x])


def rnn_inputs(c, batch=3, time=5, size=2):
    return c.feed('x', some(batch, time, size))


def net(c, build, lengths=None):
    """A recurrent net with gradients by its weights and inputs. The weights are assigned from constants."""
    x = rnn_inputs(c)
    length = c.feed('length', np.array(lengths, I)) if lengths is not None else None
    with tf.variable_scope('net', use_resource=True):
        outputs, state = build(x, length)
    for v in tf.trainable_variables():
        c.target(tf.assign(v, some(*v.shape.as_list()), name=v.op.name.replace('/', '_') + '_set'))
    values = tf.nest.flatten([outputs, state])
    loss = tf.add_n([tf.reduce_sum(v * v) for v in values])
    c.fetch(values, rtol=1e-4)
    c.fetch(tf.gradients(loss, tf.trainable_variables() + [x]), rtol=1e-4, atol=1e-5)


@case('rnn_lstm_gradient', 'tensor_arrays', 'dynamic_rnn of an LSTM without lengths, with gradients.')
def lstm(c):
    net(c, lambda x, n: tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(4), x, dtype=tf.float32))


@case('rnn_gru_lengths_gradient', 'tensor_arrays', 'dynamic_rnn of a GRU with fed lengths, one of them zero, with gradients.')
def gru(c):
    net(c, lambda x, n: tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), x, n, dtype=tf.float32), [5, 0, 3])


@case('rnn_time_major_swap_gradient', 'tensor_arrays', 'dynamic_rnn, time_major, swap_memory, one iteration at a time, with gradients.')
def time_major(c):
    net(c, lambda x, n: tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(3), tf.transpose(x, [1, 0, 2]), dtype=tf.float32, time_major=True,
                                          swap_memory=True, parallel_iterations=1))


@case('rnn_bidirectional_gradient', 'tensor_arrays', 'bidirectional_dynamic_rnn with lengths, with gradients.')
def bidirectional(c):
    net(c, lambda x, n: tf.nn.bidirectional_dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(2), tf.nn.rnn_cell.BasicLSTMCell(2), x, n,
                                                        dtype=tf.float32), [2, 5, 4])


@case('rnn_two_layers_gradient', 'tensor_arrays', 'dynamic_rnn of two layers, with gradients.')
def two_layers(c):
    net(c, lambda x, n: tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.BasicLSTMCell(2)]), x, n, dtype=tf.float32), [4, 5, 1])


@case('grad_while_scalar', 'tensor_arrays', 'Gradient of a loop that multiplies: stacks.')
def grad_scalar(c):
    x, n = c.feed('x', F(1.2)), c.feed('n', I(5))
    with_gradients(c, [tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v * tf.sin(v) + x), [0, x])[1]], [x])


@case('grad_while_swap', 'tensor_arrays', 'Gradient of a loop with swap_memory and large values.')
def grad_swap(c):
    x = c.feed('x', some(40, 40))
    y = tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, tf.tanh(tf.matmul(v, x) * 0.3)), [0, x], swap_memory=True)[1]
    with_gradients(c, [tf.reduce_sum(y * y)], [x], rtol=1e-4, atol=1e-5)


@case('grad_while_zero_trips', 'tensor_arrays', 'Gradient of a loop that makes no trip.')
def grad_zero(c):
    x, n = c.feed('x', F(1.2)), c.feed('n', I(0))
    with_gradients(c, [tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v * v), [0, x])[1]], [x])


@case('grad_while_nested', 'tensor_arrays', 'Gradient of nested loops; the inner trip count changes.')
def grad_nested(c):
    x, w = c.feed('x', F(0.7)), c.feed('w', F(1.1))

    def outer(i, s):
        return i + 1, tf.while_loop(lambda j, t: j < i + 1, lambda j, t: (j + 1, tf.sin(t) * w + x), [0, s])[1]
    with_gradients(c, [tf.while_loop(lambda i, s: i < 4, outer, [0, x])[1]], [x, w])


@case('grad_while_nested_three', 'tensor_arrays', 'Gradient of loops three deep.')
def grad_nested_three(c):
    x = c.feed('x', F(0.7))

    def outer(i, s):
        def middle(j, t):
            return j + 1, tf.while_loop(lambda k, u: k < 2, lambda k, u: (k + 1, tf.sin(u) * x + u), [0, t])[1]
        return i + 1, tf.while_loop(lambda j, t: j < i + 1, middle, [0, s])[1]
    with_gradients(c, [tf.while_loop(lambda i, s: i < 3, outer, [0, x])[1]], [x])


@case('grad_cond_in_loop', 'tensor_arrays', 'Gradient of a cond in a loop: the predicate is on a stack.')
def grad_cond(c):
    x, w = c.feed('x', some(3)), c.feed('w', some(3))

    def body(i, v):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(v) * w, lambda: v * v + x)
    with_gradients(c, [tf.while_loop(lambda i, v: i < 5, body, [0, x])[1]], [x, w])


@case('grad_loop_in_cond', 'tensor_arrays', 'Gradient of a loop in the branch that is taken, and in the one that is not.')
def grad_loop_in_cond(c):
    x, p = c.feed('x', F(0.8)), c.feed('p', np.bool_(True))

    def loop(n):
        return lambda: tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v * tf.cos(v)), [0, x])[1]
    with_gradients(c, [tf.cond(p, loop(3), loop(5))], [x])


@case('grad_cond_in_nested_loops', 'tensor_arrays', 'Gradient of a cond in the inner of two loops.')
def grad_cond_nested(c):
    x = c.feed('x', F(0.8))

    def outer(i, s):
        def inner(j, t):
            return j + 1, tf.cond(t > 0.5, lambda: t * x, lambda: t + tf.sin(x))
        return i + 1, tf.while_loop(lambda j, t: j < 3, inner, [0, s])[1]
    with_gradients(c, [tf.while_loop(lambda i, s: i < 3, outer, [0, x])[1]], [x])


@case('grad_while_growing', 'tensor_arrays', 'Gradient of a loop whose value grows: shapes are on a stack.')
def grad_growing(c):
    x = c.feed('x', some(2))
    y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.concat([v * x[0], tf.sin(v)], 0)), [0, x],
                      shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])[1]
    with_gradients(c, [y], [x])


@case('grad_gather_in_loop', 'tensor_arrays', 'Gradient of gathers of an invariant in a loop: IndexedSlices accumulate.')
def grad_gather(c):
    table, ids = c.feed('table', some(5, 2)), c.feed('ids', np.array([1, 4, 1, 0], I))
    y = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s * 0.5 + tf.gather(table, ids[i])), [0, tf.zeros([2])])[1]
    c.fetch(y, tf.convert_to_tensor(tf.gradients(y, table)[0]))


def stack_ops(c, make, push, pop, close):
    x = c.feed('x', some(3, 2))
    handle = make()
    pushed = tf.while_loop(lambda i: i < 3, lambda i: [i + 1 + 0 * tf.cast(tf.reduce_sum(push(handle, x[i])), tf.int32)], [0],
                           parallel_iterations=1)

    def body(i, s):
        with tf.control_dependencies([s]):
            return i + 1, s * 0.5 + tf.ensure_shape(pop(handle), [2])
    back = tf.while_loop(lambda i, s: i < pushed, body, [0, tf.zeros([2])], parallel_iterations=1)[1]
    with tf.control_dependencies([back]):
        with tf.control_dependencies([close(handle)]):
            c.fetch(tf.identity(back))


@case('stack_v2', 'tensor_arrays', 'StackV2: pushed in one loop, popped in the next, closed.')
def stack_v2(c):
    R = tf.raw_ops
    stack_ops(c, lambda: R.StackV2(max_size=10, elem_type=tf.float32, stack_name='s'),
              lambda h, v: R.StackPushV2(handle=h, elem=v, swap_memory=True),
              lambda h: R.StackPopV2(handle=h, elem_type=tf.float32), lambda h: R.StackCloseV2(handle=h))


@case('error_stack_pop_empty', 'tensor_arrays', 'A pop off an empty stack.')
def pop_empty(c):
    handle = tf.raw_ops.StackV2(max_size=-1, elem_type=tf.float32, stack_name='s')
    c.fetch(tf.raw_ops.StackPopV2(handle=handle, elem_type=tf.float32))
    c.fails('INVALID_ARGUMENT')


def failing(name, about, build, code='INVALID_ARGUMENT'):
    def add(c):
        build(c)
        c.fails(code)
    case('error_ta_' + name, 'tensor_arrays', about)(add)


def array(size=3, **options):
    return tf.TensorArray(tf.float32, size=size, **options)


failing('write_out_of_range', 'A write behind the end.', lambda c: c.fetch(array().write(c.feed('i', I(3)), 1.0).stack()))
failing('write_negative', 'A write before the first element.',
        lambda c: c.fetch(array(dynamic_size=True).write(c.feed('i', I(-1)), 1.0).flow))
failing('write_twice', 'Two writes to one element.', lambda c: c.fetch(array().write(c.feed('i', I(1)), 1.0).write(1, 2.0).flow))
failing('read_twice', 'Two reads of an element that is cleared.',
        lambda c: (lambda a: c.fetch(a.read(0) + 0 * a.read(c.feed('i', I(0)))))(array().write(0, c.feed('v', F(1.0)))))
failing('read_unwritten', 'A read of what was not written, of unknown shape.', lambda c: c.fetch(array(infer_shape=False).read(c.feed('i', I(1)))))
failing('shapes_differ', 'A write of another shape than the first.',
        lambda c: c.fetch(array().write(0, c.feed('a', some(2), shape=None)).write(1, c.feed('b', some(3), shape=None)).flow))
failing('split_lengths', 'Lengths that do not sum to the rows.',
        lambda c: c.fetch(array(2, infer_shape=False).split(c.feed('x', some(4)), c.feed('n', np.array([1, 2], I))).flow))
failing('empty_unknown', 'An empty TensorArray of unknown shape stacked.',
        lambda c: c.fetch(array(c.feed('n', I(0)), infer_shape=False).stack()), 'UNIMPLEMENTED')


@case('error_ta_write_in_loop', 'tensor_arrays', 'A loop that writes one element too many.')
def write_in_loop(c):
    n = c.feed('n', I(4))
    c.fetch(tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, tf.cast(i, tf.float32))), [0, array()])[1].flow)
    c.fails('INVALID_ARGUMENT')
