"""Runs that must fail with TensorFlow's status code, most of them inside loops or branches."""
import numpy as np
import tensorflow.compat.v1 as tf

from golden import case

INVALID = 'INVALID_ARGUMENT'


def fails(name, about, code=INVALID):
    """Registers a case that must end with `code`. The builder's result is fetched."""
    def add(build):
        def one(c):
            result = build(c)
            c.fetch(result)
            c.fails(code)
        case('error_' + name, 'errors', about)(one)
        return build
    return add


@fails('gather_out_of_range', 'gather with a fed index past the end.')
def gather_range(c):
    return tf.gather(c.feed('x', np.array([1, 2, 3], np.float32)), c.feed('i', np.array([0, 3], np.int32)))


@fails('gather_negative', 'gather with a negative index.')
def gather_negative(c):
    return tf.gather(c.feed('x', np.array([1, 2, 3], np.float32)), c.feed('i', np.array([-1], np.int32)))


@fails('gather_nd_out_of_range', 'gather_nd with an index past the end of the second axis.')
def gather_nd(c):
    return tf.gather_nd(c.feed('x', np.ones((2, 3), np.float32)), c.feed('i', np.array([[1, 3]], np.int32)))


@fails('gather_in_loop', 'An index runs past the end in the fourth iteration.')
def gather_in_loop(c):
    x = c.feed('x', np.array([1, 2, 3], np.float32))
    return tf.while_loop(lambda i, s: i < 6, lambda i, s: (i + 1, s + tf.gather(x, i)), [0, 0.0])


@fails('index_out_of_range', 'A strided slice takes element 5 of 3.')
def index_range(c):
    return c.feed('x', np.array([1, 2, 3], np.int32), shape=[None])[c.feed('i', np.int32(5))]


@fails('divide_by_zero', 'Integer division by a fed zero.')
def divide(c):
    return c.feed('x', np.array([1, 2], np.int32)) // c.feed('y', np.array([1, 0], np.int32))


@fails('modulo_by_zero', 'Integer modulo by zero in a loop body.')
def modulo(c):
    y = c.feed('y', np.int32(3))
    return tf.while_loop(lambda i, s: i < 6, lambda i, s: (i + 1, s + i % (y - i)), [0, 0])


@fails('truncate_divide_by_zero', 'tf.truncatediv by zero, int64.', 'INTERNAL')
def truncate_divide(c):
    return tf.truncatediv(c.feed('x', np.array([7], np.int64)), c.feed('y', np.array([0], np.int64)))


@fails('add_shapes', 'Operands whose fed shapes do not broadcast.')
def add_shapes(c):
    return c.feed('x', np.ones(3, np.float32), shape=None) + c.feed('y', np.ones(4, np.float32), shape=None)


@fails('matmul_shapes', 'A matrix product whose inner sizes differ at run time.')
def matmul_shapes(c):
    return tf.matmul(c.feed('x', np.ones((2, 3), np.float32), shape=[None, None]),
                     c.feed('y', np.ones((2, 3), np.float32), shape=[None, None]))


@fails('matmul_rank', 'A matrix product of a vector.')
def matmul_rank(c):
    return tf.raw_ops.MatMul(a=c.feed('x', np.ones(3, np.float32), shape=None), b=c.feed('y', np.ones((3, 1), np.float32)))


@fails('reshape_size', 'A fed shape that has another number of elements.')
def reshape_size(c):
    return tf.reshape(c.feed('x', np.ones(6, np.float32)), c.feed('s', np.array([4, 2], np.int32)))


@fails('reshape_two_unknown', 'A fed shape with two entries of -1.')
def reshape_unknown(c):
    return tf.reshape(c.feed('x', np.ones(6, np.float32)), c.feed('s', np.array([-1, -1], np.int32)))


@fails('reshape_not_divisible', 'A fed shape with -1 that does not divide.')
def reshape_divisible(c):
    return tf.reshape(c.feed('x', np.ones(6, np.float32)), c.feed('s', np.array([4, -1], np.int32)))


@fails('concat_shapes', 'concat of matrices with different row lengths.')
def concat_shapes(c):
    return tf.concat([c.feed('x', np.ones((1, 2), np.float32), shape=None), c.feed('y', np.ones((1, 3), np.float32), shape=None)],
                     c.feed('axis', np.int32(0)))


@fails('concat_axis', 'concat along an axis that does not exist.')
def concat_axis(c):
    return tf.concat([c.feed('x', np.ones((1, 2), np.float32), shape=None), tf.ones([1, 2])], c.feed('axis', np.int32(2)))


@fails('stack_shapes', 'stack of tensors with different shapes.')
def stack_shapes(c):
    return tf.stack([c.feed('x', np.ones(2, np.float32), shape=None), c.feed('y', np.ones(3, np.float32), shape=None)])


@fails('missing_feed', 'A placeholder that is needed is not fed.')
def missing_feed(c):
    return tf.placeholder(tf.float32, [2], name='x') * 2.0


@fails('missing_feed_in_loop', 'A placeholder that only a body needs is not fed.')
def missing_feed_in_loop(c):
    x = tf.placeholder(tf.int32, [], name='x')
    return tf.while_loop(lambda i: i < 5, lambda i: i + x, [0])


@fails('assert_false', 'An Assert that fails, with two values in its message.')
def assert_false(c):
    x = c.feed('x', np.array([1, -2], np.float32))
    with tf.control_dependencies([tf.Assert(tf.reduce_all(x > 0), ['not positive', x, tf.shape(x)])]):
        return tf.identity(x)


@fails('assert_in_cond', 'An Assert in the branch taken.')
def assert_in_cond(c):
    x = c.feed('x', np.int32(-5))

    def branch():
        with tf.control_dependencies([tf.Assert(x > -3, ['too small', x])]):
            return tf.identity(x)
    return tf.cond(x < 0, branch, lambda: x)


@fails('assert_in_inner_loop', 'An Assert fails in an inner loop, in the third outer iteration.')
def assert_in_inner_loop(c):
    def outer(i, s):
        def inner(j, s):
            with tf.control_dependencies([tf.Assert(i * j < 6, [i, j])]):
                return j + 1, s + i * j
        return i + 1, tf.while_loop(lambda j, s: j < 4, inner, [0, s])[1]
    return tf.while_loop(lambda i, s: i < 5, outer, [0, 0])


@fails('check_numerics_nan', 'CheckNumerics meets a NaN.')
def check_nan(c):
    return tf.check_numerics(c.feed('x', np.array([1, np.nan], np.float32)), 'look here')


@fails('check_numerics_inf_in_loop', 'CheckNumerics meets an infinity after some iterations.')
def check_inf(c):
    x = c.feed('x', np.float32(1e30))
    return tf.while_loop(lambda i, v: i < 9, lambda i, v: (i + 1, tf.check_numerics(v * 100.0, 'grew')), [0, x])


@fails('case_none_true', 'case without default and no true predicate.')
def case_none(c):
    x = c.feed('x', np.int32(20))
    return tf.case([(x < 1, lambda: tf.constant(10)), (x < 3, lambda: x * 7)])


@fails('case_two_true', 'case with exclusive=True and two true predicates.')
def case_two(c):
    x = c.feed('x', np.int32(0))
    return tf.case([(x < 1, lambda: tf.constant(10)), (x < 3, lambda: x * 7)], default=lambda: x, exclusive=True)


@fails('switch_pred_vector', 'A Switch whose fed predicate is a vector.')
def switch_vector(c):
    p = c.feed('p', np.array([True, False]), shape=None)
    off, on = tf.raw_ops.Switch(data=c.feed('x', np.int32(1)), pred=p)
    return tf.raw_ops.Merge(inputs=[off, on])[0]


@fails('loop_condition_vector', 'A loop whose condition yields a vector at run time.')
def loop_condition_vector(c):
    x = c.feed('x', np.array([1, 2], np.int32), shape=None)
    return tf.while_loop(lambda i: tf.reshape(i < 10, tf.shape(i)), lambda i: i + 1, [x], shape_invariants=[tf.TensorShape(None)])


@fails('dead_fetch', 'Fetching a value of the branch not taken.')
def dead_fetch(c):
    off, _ = tf.raw_ops.Switch(data=c.feed('x', np.int32(1)), pred=c.feed('p', np.bool_(True)))
    return off + 1


@fails('dead_exit', 'Fetching the exit of a loop that was entered dead.')
def dead_exit(c):
    off, _ = tf.raw_ops.Switch(data=c.feed('x', np.int32(1)), pred=c.feed('p', np.bool_(True)))
    return tf.while_loop(lambda i: i < 3, lambda i: i + 1, [off])


@fails('slice_out_of_range', 'slice past the end.')
def slice_range(c):
    return tf.slice(c.feed('x', np.ones(4, np.float32)), c.feed('b', np.array([2], np.int32)), [3])


@fails('split_uneven', 'split of seven elements into parts whose fed sizes sum to eight.')
def split_uneven(c):
    return tf.split(c.feed('x', np.ones(7, np.float32)), c.feed('sizes', np.array([4, 4], np.int32)), num=2)[0]


@fails('tile_negative', 'tile with a negative multiple.')
def tile_negative(c):
    return tf.tile(c.feed('x', np.ones(2, np.float32)), c.feed('m', np.array([-1], np.int32)))


@fails('pad_negative', 'pad with a negative amount.')
def pad_negative(c):
    return tf.pad(c.feed('x', np.ones(2, np.float32)), c.feed('p', np.array([[0, -1]], np.int32)))


@fails('transpose_permutation', 'transpose with a permutation that repeats an axis.')
def transpose_bad(c):
    return tf.transpose(c.feed('x', np.ones((2, 3), np.float32)), c.feed('p', np.array([0, 0], np.int32)))


@fails('reduce_axis', 'A sum over an axis that does not exist.')
def reduce_axis(c):
    return tf.reduce_sum(c.feed('x', np.ones((2, 3), np.float32)), c.feed('a', np.array([2], np.int32)))


@fails('reverse_axis_twice', 'reverse with one axis named twice.')
def reverse_twice(c):
    return tf.reverse(c.feed('x', np.ones((2, 3), np.float32)), c.feed('a', np.array([0, -2], np.int32)))


@fails('expand_dims_axis', 'expand_dims with an axis out of range.')
def expand_axis(c):
    return tf.expand_dims(c.feed('x', np.ones((2, 3), np.float32)), c.feed('a', np.int32(4)))


@fails('squeeze_not_one', 'squeeze of an axis whose fed size is two.')
def squeeze_two(c):
    return tf.squeeze(c.feed('x', np.ones((2, 3), np.float32), shape=None), [0])


@fails('fill_negative', 'fill with a negative size.')
def fill_negative(c):
    return tf.fill(c.feed('s', np.array([2, -1], np.int32)), 1.0)


@fails('range_zero_delta', 'range with delta zero.')
def range_zero(c):
    return tf.range(0, 5, c.feed('d', np.int32(0)))


@fails('range_wrong_way', 'range whose start is above its limit with a positive delta.')
def range_wrong(c):
    return tf.range(c.feed('a', np.int32(5)), 0, 1)


@fails('top_k_too_many', 'top_k of more elements than there are.')
def top_k_many(c):
    return tf.nn.top_k(c.feed('x', np.ones(3, np.float32)), c.feed('k', np.int32(4)))[0]


@fails('segment_ids_unsorted', 'segment_sum with ids that go down.')
def segment_unsorted(c):
    return tf.segment_sum(c.feed('x', np.ones(3, np.float32)), c.feed('ids', np.array([0, 1, 0], np.int32)))


@fails('unsorted_segment_id', 'unsorted_segment_sum with an id past the end.')
def unsorted_segment(c):
    return tf.unsorted_segment_sum(c.feed('x', np.ones(2, np.float32)), c.feed('ids', np.array([0, 5], np.int32)), 3)


@fails('dynamic_partition_id', 'dynamic_partition with an id that is not below the number of parts.')
def partition_id(c):
    return tf.dynamic_partition(c.feed('x', np.ones(2, np.float32)), c.feed('p', np.array([0, 2], np.int32)), 2)[0]


@fails('scatter_nd_index', 'scatter_nd outside its shape.')
def scatter_nd_index(c):
    return tf.scatter_nd(c.feed('i', np.array([[4]], np.int32)), [1.0], [4])


@fails('string_to_number', 'string_to_number of a word.')
def string_number(c):
    return tf.string_to_number(c.feed('s', np.array([b'1.5', b'x7'])))


@fails('substr_position', 'substr from a position past the end.')
def substr_position(c):
    return tf.strings.substr(c.feed('s', np.array(b'abc')), c.feed('p', np.int32(5)), 1)


@fails('string_join_shapes', 'string_join of vectors with different sizes.')
def string_join_shapes(c):
    return tf.string_join([c.feed('a', np.array([b'x', b'y']), shape=None), c.feed('b', np.array([b'x', b'y', b'z']), shape=None)])


@fails('cross_entropy_label', 'sparse cross entropy with a label that is no class.')
def cross_entropy_label(c):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=c.feed('l', np.array([3], np.int32)),
                                                          logits=c.feed('x', np.ones((1, 3), np.float32)))


@fails('bias_add_size', 'bias_add whose bias does not fit the last axis.')
def bias_size(c):
    return tf.nn.bias_add(c.feed('x', np.ones((2, 3), np.float32), shape=[None, None]), c.feed('b', np.ones(2, np.float32), shape=[None]))


@fails('pow_negative_exponent', 'An int32 power with a negative exponent.')
def pow_negative(c):
    return tf.pow(c.feed('x', np.array([2], np.int32)), c.feed('y', np.array([-1], np.int32)))


@fails('random_int_empty_range', 'Random int with minval not below maxval.')
def random_int(c):
    return tf.random_uniform([2], c.feed('a', np.int32(5)), c.feed('b', np.int32(5)), tf.int32, seed=1)


@fails('one_hot_depth', 'one_hot with a negative depth.')
def one_hot_depth(c):
    return tf.one_hot([0, 1], c.feed('d', np.int32(-1)))


@fails('reverse_sequence_length', 'reverse_sequence with a length past the end.')
def reverse_sequence(c):
    return tf.reverse_sequence(c.feed('x', np.ones((2, 3), np.float32)), c.feed('n', np.array([1, 4], np.int32)), seq_axis=1)


@fails('ensure_shape', 'EnsureShape of a fed tensor with another shape.')
def ensure_shape(c):
    return tf.ensure_shape(c.feed('x', np.ones((2, 3), np.float32), shape=None), [2, 2])
