"""`tf.contrib.distributions.bijectors`, and distributions that are made with them."""

import numpy as np

from programs.tools import initialize, mistakes, run


def _parts(tf):
    if not hasattr(tf.contrib, "distributions"):
        import tensorflow.contrib.distributions  # noqa: F401
    return tf.contrib.distributions, tf.contrib.distributions.bijectors


def _all(tf, b, x, n, y=None):
    """Returns what a bijector computes at some points, with and without what it computed before."""
    x = tf.constant(x)
    y = b.forward(x)
    other = tf.identity(y)
    return run(tf, [y, b.inverse(other), b.forward_log_det_jacobian(x, n), b.inverse_log_det_jacobian(other, n), b.forward_log_det_jacobian(tf.identity(x), n + 1)])


def of_numbers(tf):
    _, tfb = _parts(tf)
    x = np.array([[0.25, 0.5], [0.75, 0.125]], np.float32)
    made = [
        tfb.Identity(),
        tfb.Exp(),
        tfb.PowerTransform(power=2.0),
        tfb.PowerTransform(power=0.0),
        tfb.AffineScalar(shift=[1.0, 2.0], scale=-3.0),
        tfb.AffineScalar(),
        tfb.Softplus(),
        tfb.Softplus(hinge_softness=0.5),
        tfb.Sigmoid(),
        tfb.Softsign(),
        tfb.Square(),
        tfb.Gumbel(loc=0.5, scale=2.0),
        tfb.Invert(tfb.Exp()),
        tfb.Chain([tfb.Exp(), tfb.AffineScalar(shift=1.0), tfb.Softplus()]),
    ]
    return [(b.name, _all(tf, b, x, 0)) for b in made], [(b.is_constant_jacobian, b.forward_min_event_ndims) for b in made]


def of_vectors(tf):
    _, tfb = _parts(tf)
    x = np.array([[0.25, 0.5, 1.0], [0.75, 0.125, -2.0]], np.float32)
    tril = [[2.0, 9.0, 9.0], [1.0, 3.0, 9.0], [-1.0, 0.5, 1.0]]
    made = [
        tfb.Affine(shift=[1.0, 2.0, 3.0]),
        tfb.Affine(scale_identity_multiplier=2.0),
        tfb.Affine(scale_diag=[1.0, -2.0, 3.0]),
        tfb.Affine(scale_identity_multiplier=0.5, scale_diag=[1.0, 2.0, 3.0], shift=1.0),
        tfb.Affine(scale_tril=tril),
        tfb.Affine(shift=[0.0, 1.0, 2.0], scale_tril=tril, scale_diag=[1.0, 1.0, 1.0]),
        tfb.Affine(scale_diag=[1.0, 2.0, 3.0], scale_perturb_factor=[[1.0], [0.5], [0.25]]),
        tfb.Affine(scale_identity_multiplier=2.0, scale_perturb_factor=[[1.0], [0.5], [0.25]], scale_perturb_diag=[2.0]),
        tfb.Permute([2, 0, 1]),
        tfb.Chain([tfb.Exp(), tfb.Affine(scale_tril=tril), tfb.Permute([1, 2, 0])]),
        tfb.RealNVP(1, lambda a, n: (tf.tile(a, [1, n]), tf.tile(0.5 * a, [1, n]))),
        tfb.RealNVP(2, lambda a, n: (a[:, :1], None)),
    ]
    return [(b.name, _all(tf, b, x, 1)[:4]) for b in made]


def of_other_shapes(tf):
    _, tfb = _parts(tf)
    x = np.array([[0.25, 0.5, 1.0], [0.75, 0.125, -2.0]], np.float32)
    softmax, reshape = tfb.SoftmaxCentered(), tfb.Reshape([3, 1], [3])
    y, z = softmax.forward(x), reshape.forward(x)
    logs = softmax.forward_log_det_jacobian(x, 1), softmax.inverse_log_det_jacobian(tf.identity(y), 1), reshape.forward_log_det_jacobian(x, 1)
    static = softmax.forward_event_shape([3]), softmax.inverse_event_shape(tf.TensorShape([4])), reshape.forward_event_shape([3]), reshape.inverse_event_shape(tf.TensorShape([3, 1]))
    tensors = [softmax.forward_event_shape_tensor([3]), softmax.inverse_event_shape_tensor([4]), reshape.forward_event_shape_tensor([3])]
    return run(tf, [y, softmax.inverse(tf.identity(y)), z, reshape.inverse(tf.identity(z)), *logs, *tensors]), static, y.shape, z.shape


def of_matrices(tf):
    _, tfb = _parts(tf)
    x = np.array([[[2.0, 0.0], [1.0, 3.0]], [[1.0, 0.0], [-1.0, 0.5]]], np.float32)
    outer, fill = tfb.CholeskyOuterProduct(), tfb.FillTriangular()
    y = outer.forward(x)
    v = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    diagonal = tfb.TransformDiagonal(tfb.Exp())
    z = diagonal.forward(x)
    found = [y, outer.inverse(tf.identity(y)), outer.forward_log_det_jacobian(x, 2), outer.inverse_log_det_jacobian(tf.identity(y), 2)]
    found += [fill.forward(v), fill.inverse(fill.forward(tf.identity(v))), fill.forward_log_det_jacobian(v, 1), z, diagonal.inverse(tf.identity(z)), diagonal.forward_log_det_jacobian(x, 2)]
    return run(tf, found), fill.forward_event_shape([6]), fill.inverse_event_shape(tf.TensorShape([3, 3]))


def of_two_points(tf):
    tfd, tfb = _parts(tf)
    b = tfb.AbsoluteValue()
    half = tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), b)
    y = tf.constant([0.5, 1.5])
    return run(tf, [b.forward([-1.0, 2.0]), *b.inverse(y), *b.inverse_log_det_jacobian(y, 0), half.log_prob(y), half.prob(y)]), mistakes(tf, log=lambda: b.forward_log_det_jacobian([1.0], 0), cdf=lambda: half.cdf(y), invert=lambda: tfb.Invert(b))


def of_functions(tf):
    _, tfb = _parts(tf)
    b = tfb.Inline(
        forward_fn=tf.exp,
        inverse_fn=tf.log,
        inverse_log_det_jacobian_fn=lambda y: -tf.reduce_sum(tf.log(y), -1),
        forward_min_event_ndims=1,
    )
    none = tfb.Inline(forward_fn=tf.exp, forward_min_event_ndims=0)
    return _all(tf, b, np.array([[0.5, 1.0]], np.float32), 1)[:4], b.name, mistakes(tf, inverse=lambda: none.inverse(1.0), log=lambda: none.inverse_log_det_jacobian(1.0, 0))


def of_ones_own(tf):
    tfd, tfb = _parts(tf)

    class LeakyRelu(tfb.Bijector):
        def __init__(self, alpha=0.5, validate_args=False, name="leaky_relu"):
            super(LeakyRelu, self).__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)
            self.alpha = alpha

        def _forward(self, x):
            return tf.where(tf.greater_equal(x, 0), x, self.alpha * x)

        def _inverse(self, y):
            return tf.where(tf.greater_equal(y, 0), y, 1.0 / self.alpha * y)

        def _inverse_log_det_jacobian(self, y):
            ones = tf.ones_like(y)
            return tf.log(tf.abs(tf.where(tf.greater_equal(y, 0), ones, 1.0 / self.alpha * ones)))

    base = tfd.MultivariateNormalDiag(loc=tf.zeros([2]), scale_diag=tf.ones([2]))
    layers = []
    for i in range(3):
        layers += [tfb.Affine(scale_tril=[[1.0 + i, 0.0], [0.5, 2.0]], shift=[0.1 * i, 0.0]), LeakyRelu()]
    flow = tfd.TransformedDistribution(distribution=base, bijector=tfb.Chain(list(reversed(layers[:-1])), name="chain_of_mlp"))
    y = tf.constant([[0.5, 1.0], [-1.0, 2.0]])
    return run(tf, [flow.log_prob(y), flow.prob(y), flow.bijector.forward(y)]), flow.event_shape, flow.batch_shape, flow.name


def that_remember(tf):
    _, tfb = _parts(tf)
    b, x = tfb.Exp(), tf.constant([0.5])
    y = b.forward(x)
    return b.inverse(y) is x, b.forward(x) is y, b.forward(tf.identity(x)) is y


def numbers_of_dimensions(tf):
    _, tfb = _parts(tf)
    chain = tfb.Chain([tfb.SoftmaxCentered(), tfb.Affine(scale_diag=[1.0, 2.0])])
    more = tfb.Chain([tfb.CholeskyOuterProduct(), tfb.TransformDiagonal(tfb.Exp()), tfb.FillTriangular()])
    found = [(b.forward_min_event_ndims, b.inverse_min_event_ndims, b.is_constant_jacobian, b.name) for b in (chain, more, tfb.Invert(more), tfb.Chain())]
    return found, mistakes(tf, few=lambda: chain.forward_log_det_jacobian([1.0, 2.0], 0), kind=lambda: chain.forward_log_det_jacobian([1.0, 2.0], 1.0))


def what_cannot_be(tf):
    _, tfb = _parts(tf)
    return mistakes(
        tf,
        permutation=lambda: tfb.Permute([0, 0]),
        floats=lambda: tfb.Permute([0.0, 1.0]),
        power=lambda: tfb.PowerTransform(-1.0),
        masked=lambda: tfb.RealNVP(0, lambda a, n: (a, None)),
        wide=lambda: tfb.RealNVP(3, lambda a, n: (a, None)).forward([[1.0, 2.0, 3.0]]),
        triangle=lambda: tfb.FillTriangular().forward([1.0, 2.0]),
    )


def transformed(tf):
    tfd, tfb = _parts(tf)
    y = tf.constant([0.5, 2.0])
    log_normal = tfd.TransformedDistribution(tfd.Normal(loc=[0.0, 1.0], scale=2.0), tfb.Exp(), name="LogNormal")
    line = tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), tfb.AffineScalar(shift=1.0, scale=3.0))
    found = [log_normal.log_prob(y), log_normal.prob(y), log_normal.cdf(y), log_normal.log_cdf(y), log_normal.survival_function(y), log_normal.quantile([0.25, 0.5]), line.entropy(), log_normal.sample(3, seed=4)]
    return run(tf, found), log_normal.name, line.name, str(log_normal), mistakes(tf, entropy=lambda: log_normal.entropy())


def transformed_with_other_shapes(tf):
    tfd, tfb = _parts(tf)
    mean, tril = [[-1.0, 0.0], [0.0, 1.0]], [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [2.0, 2.0]]]
    wide = tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), tfb.Affine(shift=mean, scale_tril=tril), batch_shape=[2], event_shape=[2])
    rows = tfd.TransformedDistribution(tfd.Normal([0.0, 1.0, 2.0], 1.0), tfb.Affine(scale_diag=[1.0, 2.0]), event_shape=[2])
    x = tf.constant([[0.5, 1.0], [1.0, -1.0]])
    y = tf.constant([[0.5, 1.0], [1.0, -1.0], [0.0, 0.0]])
    found = [wide.log_prob(x), wide.prob(x), wide.entropy(), wide.sample(2, seed=3), rows.log_prob(y), rows.sample(4, seed=3), wide.batch_shape_tensor(), wide.event_shape_tensor(), rows.event_shape_tensor()]
    shapes = wide.batch_shape, wide.event_shape, rows.batch_shape, rows.event_shape, rows.sample(4).shape
    return run(tf, found), shapes, mistakes(tf, scalar=lambda: tfd.TransformedDistribution(tfd.Normal([0.0, 1.0], 1.0), tfb.Exp(), batch_shape=[3]), negative=lambda: tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), tfb.Exp(), batch_shape=[-1]))


def autoregressive(tf):
    tfd, tfb = _parts(tf)
    x = tf.constant([[0.5, 1.0, -1.0], [1.0, 0.0, 2.0]])
    network = tfb.masked_autoregressive_default_template([6, 6], kernel_initializer=tf.constant_initializer(0.25))
    flow, unrolled = tfb.MaskedAutoregressiveFlow(network), tfb.MaskedAutoregressiveFlow(network, unroll_loop=True)
    made = tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), flow, event_shape=[3])
    shift_only = tfb.MaskedAutoregressiveFlow(tfb.masked_autoregressive_default_template([3], shift_only=True, kernel_initializer=tf.ones_initializer()), is_constant_jacobian=True)
    y = flow.forward(x)
    found = [y, unrolled.forward(x), flow.inverse(tf.identity(y)), flow.inverse_log_det_jacobian(tf.identity(y), 1), made.log_prob(x), shift_only.forward(x), shift_only.inverse_log_det_jacobian(x, 1)]
    names = sorted(v.name for v in tf.trainable_variables())
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run(found), names


def networks(tf):
    _, tfb = _parts(tf)
    network = tfb.real_nvp_default_template([4], kernel_initializer=tf.constant_initializer(0.5))
    flow = tfb.RealNVP(1, network)
    x = tf.constant([[0.5, 1.0, -1.0]])
    y = flow.forward(x)
    dense = tfb.masked_dense(x, 6, num_blocks=3, exclusive=True, kernel_initializer=tf.ones_initializer())
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run([y, flow.inverse(tf.identity(y)), flow.inverse_log_det_jacobian(y, 1), dense]), sorted(v.name for v in tf.trainable_variables())


def relaxed(tf):
    tfd, _ = _parts(tf)
    d, e = tfd.RelaxedBernoulli(0.5, probs=[0.25, 0.5]), tfd.ExpRelaxedOneHotCategorical(0.5, logits=[1.0, 2.0, 0.5])
    y, rows = tf.constant([0.3, 0.9]), tf.nn.log_softmax([[1.0, 0.0, 2.0], [0.5, 0.5, 0.5]])
    found = [d.log_prob(y), d.prob(y), d.cdf(y), d.logits, d.probs, d.temperature, d.sample(2, seed=3), e.log_prob(rows), e.sample(2, seed=3), e.probs]
    return run(tf, found), d.name, e.event_shape, d.sample(3).shape, mistakes(tf, both=lambda: tfd.RelaxedBernoulli(0.5), neither=lambda: tfd.ExpRelaxedOneHotCategorical(0.5, [1.0], [1.0]))


def mixtures_of_a_family(tf):
    tfd, _ = _parts(tf)
    d = tfd.MixtureSameFamily(tfd.Categorical(probs=[0.25, 0.75]), tfd.Normal([0.0, 4.0], [1.0, 2.0]))
    m = tfd.MixtureSameFamily(tfd.Categorical(probs=[0.3, 0.7]), tfd.MultivariateNormalDiag(loc=[[-1.0, 1.0], [1.0, -1.0]], scale_diag=[[1.0, 2.0], [0.5, 1.0]]))
    b = tfd.MixtureSameFamily(tfd.Categorical(logits=[[1.0, 2.0], [0.0, 0.0], [2.0, 1.0]]), tfd.Normal(tf.zeros([3, 2]), [[1.0, 2.0]] * 3))
    x = tf.constant([[0.5, 1.0], [0.0, 0.0]])
    found = [d.mean(), d.variance(), d.log_prob([0.0, 1.0]), d.cdf(1.0), m.mean(), m.variance(), m.covariance(), m.log_prob(x), b.mean(), b.variance(), b.log_prob([0.0, 1.0, 2.0])]
    shapes = d.batch_shape, m.event_shape, b.batch_shape, d.sample(3).shape, m.sample(3).shape, b.sample([4, 2]).shape
    return run(tf, found), shapes, mistakes(
        tf,
        number=lambda: tfd.MixtureSameFamily(tfd.Categorical(probs=[0.25, 0.75]), tfd.Normal([0.0, 4.0, 2.0], 1.0)),
        kind=lambda: tfd.MixtureSameFamily(tfd.Normal(0.0, 1.0), tfd.Normal([0.0, 4.0], 1.0)),
        batch=lambda: tfd.MixtureSameFamily(tfd.Categorical(logits=[[1.0, 2.0]] * 2), tfd.Normal(tf.zeros([3, 2]), 1.0)),
    )


def counts_of_drawn_probabilities(tf):
    d = tf.distributions.DirichletMultinomial(total_count=[4.0, 2.0], concentration=[[1.0, 3.0, 2.0], [0.5, 0.5, 0.5]])
    one = tf.distributions.DirichletMultinomial(3.0, [1.0, 2.0])
    counts = tf.constant([[1.0, 2.0, 1.0], [0.0, 0.0, 2.0]])
    found = [d.log_prob(counts), d.prob(counts), one.mean(), one.variance(), one.covariance(), one.sample(5, seed=3), d.total_concentration]
    return run(tf, found), d.batch_shape, d.event_shape, one.batch_shape, one.sample(2).shape


def others(tf):
    tfd, _ = _parts(tf)
    d = tfd.MultivariateNormalDiagWithSoftplusScale([0.0, 1.0], [0.0, 2.0])
    g = tfd.InverseGammaWithSoftplusConcentrationRate(3.0, 0.0)
    return run(tf, [d.stddev(), d.log_prob([0.5, 0.5]), g.concentration, g.rate, g.log_prob(1.0)]), d.name, g.name


def functions(tf):
    tfd, _ = _parts(tf)
    x = tf.constant([1e-4, 0.5, 3.0, 50.0])
    v, w = tf.constant([1, 2, 3, 4, 5, 6]), tf.constant([[4, 0, 0], [6, 5, 0], [3, 2, 1]])
    found = [tfd.softplus_inverse(x), tfd.fill_triangular(v), tfd.fill_triangular(v, upper=True), tfd.fill_triangular_inverse(w), tfd.fill_triangular_inverse(tf.transpose(w), upper=True)]
    found += [tfd.matrix_diag_transform([[1.0, 2.0], [3.0, 4.0]], tf.square), tfd.tridiag([1.0, 2.0], [4.0, 5.0, 6.0], [8.0, 9.0]), tfd.tridiag(diag=[4.0, 5.0], above=[8.0])]
    logs, weights = tf.constant([[0.0, 0.0, 0.0], [0.0, 1.0, 2.0]]), tf.constant([[-1.0, 1.0, 1.0], [1.0, -2.0, -1.0]])
    found += [tfd.reduce_weighted_logsumexp(logs, w=weights), tfd.reduce_weighted_logsumexp(logs, w=weights, axis=1, keep_dims=True), *tfd.reduce_weighted_logsumexp(logs, w=weights, axis=0, return_sign=True), tfd.reduce_weighted_logsumexp(logs, axis=1)]
    return run(tf, found)
