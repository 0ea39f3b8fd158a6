"""Derivatives of piecewise constant functions, which are zeros and not None, to the third order."""

import numpy as np

from programs.tools import late, run

X = np.array([-1.5, 0.5, 7.0], np.float32)


def _three(tf, function, x):
    found = []
    y = function(x)
    while y is not None and len(found) < 3:
        y = tf.gradients(y, x)[0]
        found.append(y)
    return found


def _functions(tf):
    nn = tf.nn
    return [
        nn.relu, nn.relu6, nn.crelu, nn.elu, nn.leaky_relu, tf.sign, tf.abs, tf.floor, tf.round, tf.square, tf.negative, tf.reduce_max,
        lambda x: tf.sign(x) * x, lambda x: nn.relu(x) * x, lambda x: tf.abs(x) * x, lambda x: nn.leaky_relu(x, 0.5) * x,
        lambda x: tf.maximum(x, 0.0), lambda x: tf.clip_by_value(x, -1.0, 1.0), lambda x: tf.norm(x, 1), lambda x: nn.relu(tf.square(x)),
        lambda x: tf.losses.hinge_loss(tf.ones([3]), x), lambda x: tf.losses.absolute_difference(tf.zeros([3]), x),
    ]  # fmt: skip


def _values(tf, tensors):
    made = iter(run(tf, [t for t in tensors if t is not None]) if any(t is not None for t in tensors) else [])
    return [None if t is None else np.round(next(made).astype(np.float64), 5) + 0.0 for t in tensors]


def to_the_third_order(tf):
    return [_values(tf, _three(tf, function, tf.constant(X))) for function in _functions(tf)]


def of_unknown_shapes(tf):
    return [_values(tf, _three(tf, function, late(tf, X))) for function in (tf.nn.relu, tf.nn.relu6, tf.sign, tf.abs)]


def of_other_dtypes(tf):
    found = []
    for dtype in (tf.float16, tf.float64):
        found.append([_values(tf, _three(tf, function, tf.constant(X, dtype))) for function in (tf.nn.relu, tf.nn.relu6, tf.sign, tf.abs)])
    return found


def of_an_unused_layer(tf):
    """A penalty of gradients trains a network of rectified units."""
    w = tf.get_variable("w", initializer=np.arange(6, dtype=np.float32).reshape(3, 2) - 2)
    v = tf.get_variable("v", initializer=np.ones([2, 1], np.float32))
    x = tf.constant(X[None])
    y = tf.matmul(tf.nn.relu(tf.matmul(x, w)), v)
    penalty = tf.reduce_sum(tf.square(tf.norm(tf.gradients(y, x)[0], axis=1) - 1.0))
    return run(tf, tf.gradients(penalty, [w, v, x]))


def in_a_loop(tf):
    x = tf.constant(X)
    y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v + tf.nn.relu(v) * 0.5 + tf.sign(v)), [0, x])[1]
    first = tf.gradients(y, x)[0]
    signs = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, tf.sign(v)), [0, x])[1]
    return run(tf, [first, tf.gradients(signs, x)[0]])


def of_moments(tf):
    """The moments that `fused_batch_norm` returns pass no gradients on."""
    x = tf.constant(np.random.RandomState(0).randn(2, 3, 3, 2).astype(np.float32))
    scale, offset, mean, variance = (tf.constant(v) for v in ([1.0, 2.0], [0.5, 0.1], [0.1, 0.2], [1.0, 2.0]))
    found = []
    for training in (True, False):
        given = {} if training else {"mean": mean, "variance": variance}
        y, m, v = tf.nn.fused_batch_norm(x, scale, offset, is_training=training, **given)
        for of in (m, v, tf.reduce_sum(y * y) + tf.reduce_sum(m) + tf.reduce_sum(v)):
            found.append([t if t is None else np.round(t, 3) + 0.0 for t in _values(tf, tf.gradients(of, [x, scale, offset, mean, variance]))])
        second = tf.gradients(tf.reduce_sum(tf.square(tf.gradients(tf.square(y), x)[0])), [x, scale, offset])
        found.append([np.round(t.astype(np.float64), 2) + 0.0 for t in run(tf, second)])
    return found
