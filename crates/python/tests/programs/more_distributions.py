"""Distributions and bijectors of `tf.contrib.distributions` beyond the usual ones, and statistics."""

import numpy as np

from programs.tools import initialize, mistakes


def _facts(tf, d, values, *names):
    found = [getattr(d, name)(tf.constant(values)) for name in ("prob", "log_prob")]
    found += [getattr(d, name)() for name in names]
    found += [d.sample(seed=3), d.sample([2, 1], seed=4)]
    with tf.Session() as sess:
        return d.name, str(d.batch_shape), str(d.event_shape), sess.run(found)


def kumaraswamy(tf):
    d = tf.contrib.distributions.Kumaraswamy([2.0, 1.0], 3.0)
    return _facts(tf, d, [0.25, 0.5], "mean", "variance", "mode", "entropy")


def sinh_arcsinh(tf):
    d = tf.contrib.distributions.SinhArcsinh([0.0, 1.0], 2.0, skewness=0.5, tailweight=0.8)
    return _facts(tf, d, [0.0, 1.0])


def vectors_by_sinh_arcsinh(tf):
    d = tf.contrib.distributions.VectorSinhArcsinhDiag([[0.0, 1.0], [2.0, 3.0]], [1.0, 2.0], skewness=[0.1, 0.2], tailweight=0.5)
    return _facts(tf, d, [9.0, 9.0])


def vectors_of_laplacian_numbers(tf):
    d = tf.contrib.distributions.VectorLaplaceDiag([0.0, 1.0], scale_identity_multiplier=2.0)
    return _facts(tf, d, [[1.0, 1.0]], "mean", "mode", "variance", "stddev", "covariance", "entropy")[1:]


def vectors_of_exponential_numbers(tf):
    d = tf.contrib.distributions.VectorExponentialDiag([[0.0, 1.0], [2.0, 3.0]], [1.0, 2.0], scale_identity_multiplier=[1.0, 2.0])
    return _facts(tf, d, [9.0, 9.0], "mean", "mode", "variance", "covariance")


def normal_of_low_rank(tf):
    cd = tf.contrib.distributions
    a = cd.MultivariateNormalDiagPlusLowRank([0.0, 1.0], [1.0, 2.0], scale_perturb_factor=[[1.0], [0.5]], scale_perturb_diag=[2.0])
    b = cd.MultivariateNormalDiag([1.0, 1.0], [2.0, 2.0])
    with tf.Session() as sess:
        both = sess.run([cd.kl_divergence(a, b), cd.kl_divergence(b, a)])
    return both, _facts(tf, a, [[0.0, 1.0], [2.0, 0.5]], "mean", "mode", "stddev", "covariance", "entropy")


def one_vector(tf):
    d = tf.contrib.distributions.VectorDeterministic([[1.0, 2.0], [3.0, 4.0]], atol=0.1)
    return _facts(tf, d, [1.0, 2.05], "mean", "mode", "variance", "entropy")


def quantized(tf):
    cd = tf.contrib.distributions
    d = cd.QuantizedDistribution(cd.Normal([0.0, 3.0], 2.0), low=-1.0, high=2.0)
    with tf.Session() as sess:
        tails = sess.run([d.cdf(-2.0), d.cdf(0.5), d.log_survival_function(2.0), d.log_cdf(3.0)])
    return tails, _facts(tf, d, [-1.0, 0.0])


def batches_of_another_shape(tf):
    cd = tf.contrib.distributions
    d = cd.BatchReshape(cd.MultivariateNormalDiag(np.arange(8.0).reshape(4, 2), np.ones((4, 2))), [2, 2])
    return _facts(tf, d, np.zeros((3, 2, 2, 2)), "mean", "covariance", "entropy", "stddev")


def autoregressive(tf):
    cd = tf.contrib.distributions
    d = cd.Autoregressive(lambda x: cd.Independent(cd.Normal(x * 0.5, 1.0), 1), tf.zeros([2]), num_steps=2)
    return _facts(tf, d, [0.25, 0.5])


def wishart(tf):
    d = tf.contrib.distributions.WishartFull(4.0, [[1.0, 0.2], [0.2, 2.0]])
    return _facts(tf, d, [[2.0, 0.5], [0.5, 1.0]], "mean", "mode", "variance", "stddev", "entropy", "mean_log_det", "log_normalization")


def wishart_as_triangles(tf):
    d = tf.contrib.distributions.WishartCholesky(4.0, [[1.0, 0.0], [0.5, 2.0]], cholesky_input_output_matrices=True)
    return _facts(tf, d, [[1.0, 0.0], [0.2, 1.0]], "mean", "mode", "variance", "entropy")


def _bijected(tf, bijector, x, event_ndims, after=None):
    y = bijector.forward(tf.constant(x))
    found = [y, bijector.inverse(y * 1.0), bijector.forward_log_det_jacobian(tf.constant(x), event_ndims), bijector.inverse_log_det_jacobian(y * 1.0, after or event_ndims)]
    with tf.Session() as sess:
        initialize(tf, sess)
        return bijector.name, bijector.is_constant_jacobian, sess.run(found)


def bijectors(tf):
    tfb = tf.contrib.distributions.bijectors
    triangle = [[2.0, 0.0], [0.5, 1.0]]
    operator = tf.linalg.LinearOperatorDiag([2.0, 3.0], is_non_singular=True)
    return [
        _bijected(tf, tfb.Kumaraswamy(2.0, 3.0), [0.25, 0.5], 0),
        _bijected(tf, tfb.SinhArcsinh(skewness=0.5, tailweight=0.8), [[0.25, 0.75]], 1),
        _bijected(tf, tfb.Ordered(), [[0.25, 0.75, 1.0]], 1),
        _bijected(tf, tfb.MatrixInverseTriL(), triangle, 2),
        _bijected(tf, tfb.ScaleTriL(), [[0.25, 0.75, -1.0]], 1, 2),
        _bijected(tf, tfb.ScaleTriL(diag_bijector=tfb.Exp(), diag_shift=0.1), [0.25, 0.75, -1.0], 1, 2),
        _bijected(tf, tfb.AffineLinearOperator(shift=[1.0, 2.0], scale=operator), [[0.25, 0.75]], 1),
        _bijected(tf, tfb.BatchNormalization(training=False), [[0.25, 0.75], [0.5, 0.5]], 1),
    ]


def conditional(tf):
    class Scaled(tf.contrib.distributions.bijectors.ConditionalBijector):
        def __init__(self):
            super(Scaled, self).__init__(forward_min_event_ndims=0, graph_parents=[], is_constant_jacobian=True, validate_args=False, dtype=tf.float32, name="s")

        def _forward(self, x, k):
            return x * k

        def _inverse_log_det_jacobian(self, y, k):
            return -tf.log(k)

    with tf.Session() as sess:
        return sess.run([Scaled().forward(3.0, k=4.0), Scaled().inverse_log_det_jacobian(3.0, 0, k=4.0)])


def percentiles(tf):
    x = tf.constant([[1, 5, 7], [2, 4, 9]])
    wanted = [(50.0, None, None, False), (25.0, 1, "lower", True), (75.0, [0], "higher", False), (0.0, [0, 1], None, True), (100.0, -1, "lower", False)]
    found = [tf.contrib.distributions.percentile(x, q, axis=a, interpolation=i, keep_dims=k) for q, a, i, k in wanted]
    with tf.Session() as sess:
        return sess.run(found)


def correlations_with_itself(tf):
    x = tf.constant([[1.0, 2.0, 0.0], [4.0, 1.0, 7.0]])
    options = [dict(), dict(axis=0), dict(max_lags=1), dict(center=False), dict(normalize=False)]
    with tf.Session() as sess:
        return sess.run([tf.contrib.distributions.auto_correlation(x, **k) for k in options])


def moments_that_move(tf):
    cd = tf.contrib.distributions
    mean, variance = cd.moving_mean_variance(tf.constant([1.0, 2.0]), 0.9)
    log = cd.assign_log_moving_mean_exp(tf.Variable([0.5]), tf.constant([1.0]), 0.75)
    with tf.Session() as sess:
        initialize(tf, sess)
        return [v.name for v in tf.global_variables()], [sess.run(mean), sess.run(variance), sess.run(mean), sess.run(log)]


def posteriors(tf):
    cd = tf.contrib.distributions
    arguments = cd.Normal(0.0, 2.0), tf.constant(1.5), tf.constant(4.0), 3
    made = cd.normal_conjugates_known_scale_posterior(*arguments), cd.normal_conjugates_known_scale_predictive(*arguments)
    with tf.Session() as sess:
        return sess.run([[d.mean(), d.stddev()] for d in made])


def streams_of_seeds(tf):
    stream = tf.contrib.distributions.SeedStream(42, "here")
    other = tf.contrib.distributions.SeedStream(stream, "there")
    return [str(stream()), str(stream()), str(other()), tf.contrib.distributions.SeedStream(None, "here")()]


def covariance_of_classes(tf):
    d = tf.contrib.distributions.OneHotCategorical(probs=[[0.25, 0.75], [0.5, 0.5]])
    with tf.Session() as sess:
        return sess.run(d.covariance())


def refused(tf):
    cd = tf.contrib.distributions
    return mistakes(
        tf,
        few_degrees=lambda: cd.WishartCholesky(1.0, [[1.0, 0.0], [0.5, 2.0]]),
        another_size_of_the_batch=lambda: cd.BatchReshape(cd.Normal([0.0, 1.0], 1.0), [3]),
        too_few_dimensions=lambda: cd.BatchReshape(cd.Normal([0.0, 1.0], 1.0), [2, 1]).prob([1.0, 2.0]),
        percents_of_a_vector=lambda: cd.percentile(tf.constant([1.0]), [50.0]),
        scale_of_an_operator=lambda: cd.bijectors.AffineLinearOperator(scale=3),
        a_layer=lambda: cd.bijectors.BatchNormalization(batchnorm_layer=3),
        a_distribution_function_of_vectors=lambda: cd.MultivariateNormalDiag([0.0, 1.0]).cdf([0.0, 1.0]),
        diagonal_without_a_factor=lambda: cd.bijectors.Affine(scale_perturb_diag=[1.0]),
    )
