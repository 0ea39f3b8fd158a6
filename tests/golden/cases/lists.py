"""TensorLists in graphs of TensorFlow 2: TensorArrays in functional loops, gradients of those, Keras's
loops."""
import numpy as np
import tensorflow as tf2

from .functional import traced

F, I = np.float32, np.int32


def some(*shape):
    """Numbers between -1 and 1, the same in every run."""
    return (np.random.RandomState(int(np.prod(shape)) + len(shape)).rand(*shape) * 2 - 1).astype(F)


X = some(5, 3)


def grads(ys, xs):
    return [g for g in tf2.gradients(ys, xs) if g is not None]


@traced('list_stack', 'A TensorArray written in a While and stacked.', {'n': I(6), 'x': F(1.5)})
def list_stack(n, x):
    ta = tf2.TensorArray(tf2.float32, size=n)
    return tf2.while_loop(lambda i, a, v: i < n, lambda i, a, v: (i + 1, a.write(i, v), v * x), [0, ta, x])[1].stack()


@traced('list_dynamic', 'A TensorArray that grows in a While.', {'x': F(1.5)})
def list_dynamic(x):
    ta = tf2.TensorArray(tf2.float32, size=0, dynamic_size=True, element_shape=[])
    i, ta, _ = tf2.while_loop(lambda i, a, v: v < 100., lambda i, a, v: (i + 1, a.write(i, v), v * 3.0), [0, ta, x])
    return i, ta.size(), ta.stack()


@traced('list_unstack_gradient', 'unstack, a While over the rows, stack, and the gradient of all that.', {'x': X, 'w': some(3)})
def list_unstack(x, w):
    ins = tf2.TensorArray(tf2.float32, size=5).unstack(x)
    outs = tf2.TensorArray(tf2.float32, size=5)
    y = tf2.while_loop(lambda i, o: i < 5, lambda i, o: (i + 1, o.write(i, tf2.tanh(ins.read(i)) * w)), [0, outs])[1].stack()
    return [y] + grads([y], [x, w])


@traced('list_split_concat_gradient', 'split, a While over the parts, concat, and the gradient.',
        {'x': some(6, 2), 'n': np.array([1, 3, 0, 2], I)})
def list_split(x, n):
    parts = tf2.TensorArray(tf2.float32, size=4, infer_shape=False, element_shape=[None, 2]).split(x, n)
    outs = tf2.TensorArray(tf2.float32, size=4, infer_shape=False, element_shape=[None, 2])
    body = lambda i, o: (i + 1, o.write(i, tf2.sin(parts.read(i)) * tf2.cast(i + 1, tf2.float32)))  # noqa: E731
    y = tf2.while_loop(lambda i, o: i < 4, body, [0, outs])[1].concat()
    return [y] + grads([y], [x])


@traced('list_scatter_gather_gradient', 'scatter and gather, and the gradient.', {'x': some(3, 2), 'at': np.array([4, 0, 2], I)})
def list_scatter(x, at):
    ta = tf2.TensorArray(tf2.float32, size=6, element_shape=[2], clear_after_read=False).scatter(at, x)
    y, z = ta.gather([2, 4]), ta.gather([0, 1])
    return [y, z] + grads([y * y, z], [x])


@traced('while_gradient_scalar', 'The gradient of a While: accumulators are lists.', {'n': I(5), 'x': F(1.2)})
def while_gradient(n, x):
    y = tf2.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v * tf2.sin(v) + x), [0, x])[1]
    return [y] + grads([y], [x])


@traced('while_gradient_zero_trips', 'The gradient of a While that makes no trip.', {'n': I(0), 'x': some(2)})
def while_gradient_zero(n, x):
    y = tf2.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v * v), [0, x])[1]
    return [y] + grads([y], [x])


@traced('while_gradient_second', 'The second derivative of a While.', {'x': F(0.7)})
def while_gradient_second(x):
    y = tf2.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, v * v * x), [0, x])[1]
    first = tf2.gradients(y, x)[0]
    return [y, first] + grads([first], [x])


@traced('while_gradient_nested', 'The gradient of nested Whiles: lists of lists.', {'x': F(0.7), 'w': F(1.1)})
def while_gradient_nested(x, w):
    def outer(i, s):
        return i + 1, tf2.while_loop(lambda j, t: j < i + 1, lambda j, t: (j + 1, tf2.sin(t) * w + x), [0, s])[1]
    y = tf2.while_loop(lambda i, s: i < 4, outer, [0, x])[1]
    return [y] + grads([y], [x, w])


@traced('while_gradient_maximum', 'The gradient of a While with maximum_iterations: the lists are reserved.', {'x': F(0.7)})
def while_gradient_maximum(x):
    y = tf2.while_loop(lambda i, v: v < 50., lambda i, v: (i + 1, v * (1.5 + x)), [0, x], maximum_iterations=20)[1]
    return [y] + grads([y], [x])


@traced('lstm_by_hand_gradient', "A loop as Keras writes it for an LSTM: TensorArrays in and out, masks, and the gradient.",
        {'x': some(5, 2, 3), 'w': some(7, 16), 'n': np.array([5, 2], I)})
def lstm_by_hand(x, w, n):
    ins = tf2.TensorArray(tf2.float32, size=5).unstack(x)
    outs = tf2.TensorArray(tf2.float32, size=5)
    mask = tf2.transpose(tf2.sequence_mask(n, 5))
    masks = tf2.TensorArray(tf2.bool, size=5).unstack(mask)

    def step(t, o, h, c):
        i, j, f, g = tf2.split(tf2.matmul(tf2.concat([ins.read(t), h], 1), w), 4, 1)
        new_c = c * tf2.sigmoid(f) + tf2.sigmoid(i) * tf2.tanh(j)
        new_h = tf2.tanh(new_c) * tf2.sigmoid(g)
        keep = tf2.expand_dims(masks.read(t), 1)
        return t + 1, o.write(t, tf2.where(keep, new_h, tf2.zeros_like(h))), tf2.where(keep, new_h, h), tf2.where(keep, new_c, c)
    zero = tf2.zeros([2, 4])
    _, outs, h, c = tf2.while_loop(lambda t, *_: t < 5, step, [0, outs, zero, zero], maximum_iterations=5)
    y = outs.stack()
    return [y, h, c] + grads([y * y, h], [x, w])
