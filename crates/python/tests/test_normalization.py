"""Gradients of `FusedBatchNorm` against those of its formula, to the second order.

The op has no double precision, so central differences would be too coarse. As in TensorFlow, the statistics
pass no gradients on.
"""

import millstream as tf
import numpy as np
import pytest

EPSILON = 0.1


def _formula(x, scale, offset, given, axes):
    mean, variance = given
    unbiased = variance
    if mean is None:
        n = int(np.prod([x.shape.as_list()[a] for a in axes]))
        mean = tf.reduce_mean(x, axes)
        variance = tf.reduce_mean(tf.square(x - _along(mean, axes)), axes)
        unbiased = variance * (n / (n - 1.0))
    rate = tf.rsqrt(variance + EPSILON) * scale
    return (x - _along(mean, axes)) * _along(rate, axes) + _along(offset, axes), mean, unbiased


def _along(vector, axes):
    return tf.reshape(vector, [-1, 1, 1]) if 1 not in axes else vector


@pytest.mark.parametrize("form", ["NHWC", "NCHW"])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("known", [True, False])
def test_gradients_are_those_of_the_formula(form, training, known):
    random = np.random.RandomState(3)
    axes = [0, 1, 2] if form == "NHWC" else [0, 2, 3]
    x = tf.constant(random.normal(size=[2, 3, 4, 2] if form == "NHWC" else [2, 2, 3, 4]).astype(np.float32))
    scale, offset, mean, variance = (tf.constant(random.uniform(0.5, 2, size=2).astype(np.float32)) for _ in range(4))
    inputs = [x, scale, offset]
    given = (None, None) if training else (mean, variance)
    seen = x if known else tf.placeholder_with_default(x, [None] * 4)
    fused = tf.nn.fused_batch_norm(seen, scale, offset, *given, EPSILON, form, training)
    plain = _formula(x, scale, offset, given, axes)
    weights = [tf.constant(random.normal(size=v.shape.as_list()).astype(np.float32)) for v in plain]
    results = []
    for outputs in (fused, plain):
        first = tf.gradients(tf.sin(outputs[0]) * weights[0], inputs)
        second = tf.gradients([tf.square(g) for g in first], inputs)
        results.append([*outputs, *first, *second])
    of_statistics = tf.gradients([v * w for v, w in zip(fused[1:], weights[1:])], [x, scale, offset, mean, variance])
    assert of_statistics[3:] == [None, None]
    with tf.Session() as session:
        ours, wanted = session.run(results)
        assert not any(value.any() for value in session.run(of_statistics[:3]))
    for a, b in zip(ours, wanted):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4)
