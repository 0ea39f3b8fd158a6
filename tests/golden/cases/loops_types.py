"""Loop variables of every dtype, and composite ones: SparseTensor, IndexedSlices."""
import numpy as np
import tensorflow.compat.v1 as tf

from golden import case


def numeric(name, start, step):
    """A loop over one dtype: multiply by captured step, add a constant."""
    dtype = tf.as_dtype(name)

    @case('loop_dtype_' + name, 'dtypes', 'A loop variable and a captured tensor of dtype %s.' % name)
    def build(c):
        x = c.feed('x', np.array(start, dtype.as_numpy_dtype))
        w = c.feed('w', np.array(step, dtype.as_numpy_dtype))
        c.fetch(tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, tf.multiply(v, w) + tf.ones_like(v)), [0, x]),
                exact=dtype.is_integer)


numeric('int8', [1, -3, 100], [2, 3, -7])
numeric('uint8', [1, 30, 200], [2, 3, 7])
numeric('int16', [1, -300, 30000], [2, 33, -7])
numeric('int32', [1, -3, 2000000000], [2, 3, -7])
numeric('int64', [1, -3, 9000000000000000000], [2, 3, -7])
numeric('float16', [1, -3, 0.1], [2, 1.5, -0.7])
numeric('float64', [1, -3, 0.1], [2, 1.5, -0.7])
numeric('complex64', [1 + 2j, -3j, 0.1], [2, 1.5j, -0.7 + 0.25j])
numeric('complex128', [1 + 2j, -3j, 0.1], [2, 1.5j, -0.7 + 0.25j])


@case('loop_dtype_bool', 'dtypes', 'A bool vector walks through a three-input rule; the loop ends when none is set.')
def loop_dtype_bool(c):
    x = c.feed('x', np.array([True, False, True, True, False, True]))
    c.fetch(tf.while_loop(lambda b, k: tf.logical_and(tf.reduce_any(b), k < 10),
                          lambda b, k: (tf.logical_and(tf.concat([b[1:], b[:1]], 0), tf.logical_or(b, tf.equal(k, 0))), k + 1),
                          [x, 0]))


@case('loop_dtype_string', 'dtypes', 'A string vector; joins its own reverse in each iteration.')
def loop_dtype_string(c):
    s = c.feed('s', np.array([b'a', b'bc', b'']))
    c.fetch(tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.string_join([s, tf.reverse(s, [0])], '-')), [0, s]))


@case('loop_string_until_long', 'dtypes', 'A string scalar grows until its length passes a limit.')
def loop_string_until_long(c):
    s = c.feed('s', np.array(b'ab'))
    c.fetch(tf.while_loop(lambda s, n: tf.strings.length(s) < 20, lambda s, n: (tf.string_join([s, tf.as_string(n), s]), n + 1),
                          [s, 0]))


@case('loop_string_digits', 'dtypes', 'Numbers to strings and back: the sum of the digits of each element.')
def loop_string_digits(c):
    x = c.feed('x', np.array([90817, 5, 777], np.int32))

    def body(i, s, text):
        digit = tf.string_to_number(tf.string_join([tf.constant('0'), tf.strings.substr(text, i, 1)]), tf.int32)
        return i + 1, s + digit, text
    text = tf.as_string(x, width=5, fill='0')
    c.fetch(tf.while_loop(lambda i, s, t: i < 5, body, [0, tf.zeros_like(x), text]))


@case('loop_many_variables', 'dtypes', 'Twelve loop variables of nine dtypes in one loop.')
def loop_many_variables(c):
    start = [tf.constant(1, t) for t in (tf.int8, tf.uint8, tf.int16, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64)]
    start += [tf.constant(True), tf.constant('s'), tf.constant([1, 2]), tf.zeros([0, 3])]

    def body(*v):
        out = [x + x for x in v[:8]]
        return out + [tf.logical_not(v[8]), v[9] + 'x', v[10] * v[3], tf.concat([v[11], tf.ones([1, 3])], 0)]
    invariants = [t.shape for t in start[:11]] + [tf.TensorShape([None, 3])]
    c.fetch(tf.while_loop(lambda *v: v[3] < 30, body, start, shape_invariants=invariants), exact=True)


@case('loop_sparse', 'dtypes', 'A SparseTensor as loop variable: values double, shape stays.')
def loop_sparse(c):
    s = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.5], [3, 4])
    _, out = tf.while_loop(lambda i, s: i < 3,
                           lambda i, s: (i + 1, tf.SparseTensor(s.indices, s.values * 2, s.dense_shape)), [0, s])
    c.fetch(out, tf.sparse_tensor_to_dense(out), exact=True)


@case('loop_sparse_grows', 'dtypes', 'A SparseTensor gains an entry per iteration under the invariant [None].')
def loop_sparse_grows(c):
    s = tf.SparseTensor([[0, 0]], [10], [6, 2])

    def body(i, s):
        row = tf.cast(tf.stack([[i + 1, 1]]), tf.int64)
        return i + 1, tf.SparseTensor(tf.concat([s.indices, row], 0), tf.concat([s.values, [i]], 0), s.dense_shape)
    _, out = tf.while_loop(lambda i, s: i < 4, body, [tf.constant(0), s],
                           shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
    c.fetch(out)


@case('loop_indexed_slices', 'dtypes', 'IndexedSlices as loop variable: values and indices change.')
def loop_indexed_slices(c):
    s = tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([0, 3]), tf.constant([8, 2]))
    _, out = tf.while_loop(lambda i, s: i < 3,
                           lambda i, s: (i + 1, tf.IndexedSlices(s.values * 2, s.indices + 1, s.dense_shape)), [0, s])
    c.fetch(out, tf.unsorted_segment_sum(out.values, out.indices, 8), exact=True)


@case('loop_indexed_slices_grow', 'dtypes', 'IndexedSlices that gain a row per iteration under an invariant.')
def loop_indexed_slices_grow(c):
    s = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([0]))

    def body(i, s):
        return i + 1, tf.IndexedSlices(tf.concat([s.values, s.values[-1:] + 1], 0), tf.concat([s.indices, [i * 2]], 0))
    _, out = tf.while_loop(lambda i, s: i < 3, body, [tf.constant(0), s],
                           shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])])
    c.fetch(out, exact=True)


@case('loop_rank_four', 'dtypes', 'A tensor of rank four: transposed, sliced and padded in each iteration.')
def loop_rank_four(c):
    x = c.feed('x', np.arange(24, dtype=np.float32).reshape(2, 2, 3, 2))

    def body(i, v):
        v = tf.transpose(v, [1, 0, 2, 3])
        return i + 1, tf.pad(v[:, :, 1:, :], [[0, 0], [0, 0], [0, 1], [0, 0]], constant_values=0.5)
    c.fetch(tf.while_loop(lambda i, v: i < 2, body, [0, x]), exact=True)
