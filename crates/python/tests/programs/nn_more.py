"""`tf.nn`: normalization, moments, losses."""

import numpy as np

from programs.tools import caught, run, static


def batch_normalized(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    bn = tf.nn.batch_normalization
    return run(tf, [bn(x, tf.constant([1.5, 2.0]), tf.constant([0.25, 1.0]), 0.1, 2.0, 0.001), bn(x, 1.5, 0.25, None, None, 0.001), bn(x, 1.5, 0.25, None, 3.0, 0.001)])


def doubled_rectifier(tf):
    x = tf.constant([[1.0, -2.0]])
    return run(tf, [tf.nn.crelu(x), tf.nn.crelu(x, axis=0), tf.nn.swish(x)])


def layers_by_hand(tf):
    args = [[1.0, 2.0]], [[1.0, 3.0], [-2.0, 1.0]], [0.5, 0.25]
    return run(tf, [tf.nn.xw_plus_b(*args), tf.nn.relu_layer(*args)])


def poisson_loss(tf):
    loss = tf.nn.log_poisson_loss
    return (
        run(tf, [loss([1.0, 2.0], [0.5, 0.6]), loss([1.0, 3.0, 0.0], [0.5, 0.6, 0.7], compute_full_loss=True)]),
        caught(lambda: loss([1.0], [0.5, 0.6]), "log_input and targets must have the same shape ((2,) vs (1,))"),
    )


def weighted_cross_entropy(tf):
    loss = tf.nn.weighted_cross_entropy_with_logits
    return (
        run(tf, [loss(labels=[1.0, 0.0], logits=[0.5, -0.3], pos_weight=2.0), loss(targets=[1.0], logits=[-100.0], pos_weight=0.5)]),
        caught(lambda: loss(labels=[1.0], logits=[0.5, 0.6], pos_weight=1.0), "logits and labels must have the same shape ((2,) vs (1,))"),
    )


def moments(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    nn = tf.nn
    return (
        run(tf, [nn.sufficient_statistics(x, [0])[:3], nn.sufficient_statistics(x, [0], shift=1.0, keep_dims=True)]),
        run(tf, [nn.normalize_moments(2.0, [4.0, 7.0], [10.0, 29.0], None), nn.normalize_moments(2.0, [2.0, 5.0], [4.0, 17.0], 1.0)]),
        run(tf, [nn.weighted_moments(x, [0], [[1.0], [3.0]]), nn.weighted_moments(x, [0], 2.0, keep_dims=True), nn.weighted_moments(x, [0, 1], [[1.0, 2.0], [3.0, 4.0]])]),
    )


def initializers_in_use(tf):
    i = tf.initializers
    made = [
        tf.get_variable("a", [3, 3], initializer=i.identity(gain=2)),
        tf.get_variable("b", [2, 3], initializer=i.orthogonal(seed=1)),
        tf.get_variable("c", [4, 2], initializer=tf.orthogonal_initializer(gain=0.5, seed=2)),
        tf.get_variable("d", [2, 3], initializer=i.lecun_normal(seed=1)),
        tf.get_variable("e", [2, 3], initializer=i.he_uniform(seed=1)),
        tf.get_variable("f", [2, 3], initializer=i.lecun_uniform(seed=1)),
        tf.get_variable("g", [2, 3], initializer=i.he_normal(seed=1)),
        tf.get_variable("h", [2, 3], initializer=tf.uniform_unit_scaling_initializer(seed=1)),
    ]
    return (
        run(tf, made),
        caught(lambda: i.identity()([2]), "Identity matrix initializer can only be used for 2D matrices."),
        caught(lambda: i.orthogonal()([2]), "The tensor to initialize must be at least two-dimensional"),
        sorted(i.identity(gain=3).get_config().items()),
    )


def local_responses(tf):
    x = tf.constant(np.sin(np.arange(2 * 2 * 3 * 7)).reshape(2, 2, 3, 7).astype(np.float32))
    made = [tf.nn.lrn(x), tf.nn.lrn(x, 2, bias=2.0, alpha=0.3, beta=0.75, name="b"), tf.nn.local_response_normalization(x, depth_radius=1, beta=1.0)]
    gradients = [tf.gradients(y * y, x)[0] for y in made]
    half = tf.nn.lrn(tf.cast(x, tf.float16), 3)
    return run(tf, made + gradients), static(half), [y.name for y in made], caught(lambda: tf.nn.lrn(tf.ones([2, 3])), "Shape must be rank 4 but is rank 2")
