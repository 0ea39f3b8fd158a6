"""`tf.distributions` and `tf.contrib.distributions`: values, shapes, samples and errors."""

import numpy as np

from programs.tools import WHOLE, caught, late, mistakes, run, static


def _quantities(tf, d, x, names):
    with tf.Session() as sess:
        found = {}
        for name in names:
            method = getattr(d, name)
            tensor = method(x) if name in ("prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival_function", "quantile") else method()
            found[name] = np.round(np.asarray(sess.run(tensor), np.float64), 4)
    return found


ALL = "mean stddev variance mode entropy prob log_prob cdf log_cdf survival_function log_survival_function".split()


def normal(tf):
    d = tf.distributions.Normal([0.0, 1.0], [[1.0], [2.0]])
    return _quantities(tf, d, 0.3, ALL + ["quantile", "batch_shape_tensor", "event_shape_tensor"]), str(d), repr(d), d.name, sorted(d.parameters), static(d.loc, d.scale)


def normal_in_the_tails(tf):
    d = tf.distributions.Normal(tf.constant(0.0, tf.float64), tf.constant(1.0, tf.float64))
    x = np.array([-40.0, -21.0, -8.0, 0.0, 7.0, 9.0, 30.0])
    return run(tf, [d.log_cdf(x), d.log_survival_function(x)])


def normal_in_the_tails_of_float32(tf):
    d = tf.distributions.Normal(0.0, 1.0)
    x = np.array([-40.0, -11.0, -8.0, 0.0, 4.0, 6.0, 30.0], np.float32)
    return run(tf, [d.log_cdf(x), d.cdf(x)])


def gradients_of_normal(tf):
    loc, scale = tf.constant([0.5, 1.0]), tf.constant([1.0, 2.0])
    d = tf.distributions.Normal(loc, scale)
    sample = d.sample([2], seed=3)
    return run(tf, tf.gradients(d.log_prob(0.25), [loc, scale]) + tf.gradients(sample, [loc, scale]) + tf.gradients(d.log_cdf([-30.0, 3.0]), [loc]))


def uniform(tf):
    d = tf.distributions.Uniform([0.0, 1.0], 4.0)
    return _quantities(tf, d, 2.0, [n for n in ALL if n != "mode"] + ["range"]), run(tf, [d.prob([-1.0, 9.0]), d.cdf([-1.0, 9.0]), d.prob(np.nan)]), caught(d.mode, WHOLE)


def laplace(tf):
    return _quantities(tf, tf.distributions.Laplace([0.0, -1.0], 2.0), 0.5, ALL)


def student_t(tf):
    return _quantities(tf, tf.distributions.StudentT([1.0, 1.5, 3.0], 0.5, 2.0), 0.75, ALL)


def gamma(tf):
    return _quantities(tf, tf.distributions.Gamma([0.5, 3.0], [[1.0], [2.0]]), 0.75, ALL)


def exponential(tf):
    d = tf.distributions.Exponential([0.5, 2.0])
    return _quantities(tf, d, 0.75, [n for n in ALL if n != "mode"]), sorted(d.param_shapes([2]))


def beta(tf):
    d = tf.distributions.Beta([0.5, 3.0], [2.0, 2.0])
    return _quantities(tf, d, [0.25, 0.5], ALL), run(tf, d.total_concentration)


def bernoulli(tf):
    of_probs, of_logits = tf.distributions.Bernoulli(probs=[0.1, 0.5, 0.9]), tf.distributions.Bernoulli(logits=[[-1.0, 2.0]], dtype=tf.float32)
    names = [n for n in ALL if "cdf" not in n and "survival" not in n]
    return _quantities(tf, of_probs, 1, names), _quantities(tf, of_logits, [[0.0], [1.0]], names), static(of_probs.sample(2), of_logits.sample([2, 3])), run(tf, [of_probs.logits, of_logits.probs])


def categorical(tf):
    d = tf.distributions.Categorical(logits=[[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    return _quantities(tf, d, [0, 2], ["prob", "log_prob", "cdf", "entropy", "mode"]), run(tf, [d.event_size, d.probs, d.prob([[0], [1]])]), static(d.sample(), d.sample(4), d.sample([2, 5])), str(d)


def categorical_of_probabilities(tf):
    d = tf.distributions.Categorical(probs=[0.2, 0.3, 0.5], dtype=tf.int64)
    return _quantities(tf, d, [0, 2, 1], ["prob", "log_prob", "entropy", "mode"]), run(tf, [d.logits]), static(d.sample(3)), run(tf, d.log_prob(1.0))


def categorical_of_unknown_shape(tf):
    d = tf.distributions.Categorical(logits=late(tf, [[0.0, 1.0], [3.0, 1.0]], tf.float32))
    return static(d.sample(3), d.mode()), run(tf, [d.log_prob([1, 0]), d.entropy(), d.mode(), tf.shape(d.sample(3)), d.batch_shape_tensor()]), str(d.batch_shape)


def multinomial(tf):
    d = tf.distributions.Multinomial([4.0, 5.0], probs=[[0.2, 0.3, 0.5], [0.5, 0.25, 0.25]])
    return _quantities(tf, d, [[1.0, 1.0, 2.0], [3.0, 1.0, 1.0]], ["prob", "log_prob", "mean", "variance", "covariance"]), run(tf, tf.reduce_sum(d.sample(3, seed=1), -1)), str(d)


def dirichlet(tf):
    d = tf.distributions.Dirichlet([1.5, 2.0, 3.0])
    return _quantities(tf, d, [0.25, 0.25, 0.5], ["prob", "log_prob", "mean", "variance", "stddev", "covariance", "entropy", "mode"]), run(tf, d.total_concentration), str(d)


def dirichlet_without_a_mode(tf):
    return run(tf, tf.distributions.Dirichlet([0.5, 2.0]).mode())


def samples_of_seeds(tf):
    space = tf.distributions
    found = [
        space.Normal([0.0, 1.0], 2.0).sample([2], seed=7),
        space.Uniform(1.0, [2.0, 3.0]).sample(3, seed=7),
        space.Laplace(0.0, 2.0).sample(3, seed=7),
        space.Exponential([0.5, 2.0]).sample(2, seed=7),
        space.Gamma([0.5, 3.0], 2.0).sample(2, seed=7),
        space.Beta([0.5, 3.0], 2.0).sample(2, seed=7),
        space.StudentT(3.0, 0.0, [1.0, 2.0]).sample(2, seed=7),
        space.Bernoulli(probs=[0.25, 0.5]).sample(6, seed=7),
        space.Categorical(probs=[[0.25, 0.75], [0.5, 0.5]]).sample(6, seed=7),
        space.Dirichlet([1.5, 2.0]).sample(3, seed=7),
        space.Multinomial(5.0, probs=[0.25, 0.75]).sample(3, seed=7),
    ]
    return run(tf, found)


def samples_of_contributed_ones(tf):
    space = tf.contrib.distributions
    mixture = space.Mixture(space.Categorical(probs=[0.25, 0.75]), [space.Normal(0.0, 1.0), space.Normal(9.0, 1.0)])
    static_mixture = space.Mixture(space.Categorical(probs=[0.25, 0.75]), [space.Normal(0.0, 1.0), space.Normal(9.0, 1.0)], use_static_graph=True)
    found = [
        space.MultivariateNormalDiag([0.0, 1.0], [1.0, 2.0]).sample(2, seed=7),
        space.MultivariateNormalDiag([[0.0, 1.0]], scale_identity_multiplier=2.0).sample([2, 2], seed=7),
        space.MultivariateNormalTriL([0.0, 1.0], [[1.0, 0.0], [3.0, 2.0]]).sample(2, seed=7),
        space.MultivariateNormalFullCovariance([0.0, 1.0], [[4.0, 1.0], [1.0, 2.0]]).sample(2, seed=7),
        space.Cauchy([0.0, 1.0], 2.0).sample(2, seed=7),
        space.OneHotCategorical(probs=[0.25, 0.75]).sample(4, seed=7),
        space.RelaxedOneHotCategorical(0.5, probs=[[0.25, 0.75], [0.5, 0.5]]).sample(2, seed=7),
        space.Poisson([1.0, 3.0]).sample(4, seed=7),
        space.Independent(space.Normal([0.0, 1.0], 2.0)).sample(2, seed=7),
        mixture.sample(8, seed=7),
        static_mixture.sample(8, seed=7),
    ]
    return run(tf, found)


def samples_of_batches_of_mixtures(tf):
    space = tf.contrib.distributions
    components = [space.MultivariateNormalDiag(tf.constant([[k, k + 1.0]] * 3), tf.ones([3, 2])) for k in (0.0, 50.0)]
    d = space.Mixture(space.Categorical(probs=[[0.5, 0.5], [0.1, 0.9], [0.9, 0.1]]), components)
    return run(tf, [d.sample(4, seed=5), d.mean(), d.stddev(), d.log_prob([1.0, 2.0])]), static(d.sample(4))


def multivariate_normal(tf):
    names = ["mean", "stddev", "variance", "covariance", "mode", "entropy", "log_prob", "prob"]
    space = tf.contrib.distributions
    found = [
        space.MultivariateNormalDiag([1.0, 2.0], [1.0, -2.0]),
        space.MultivariateNormalDiag([[1.0, 2.0], [3.0, 4.0]], [1.0, 2.0], scale_identity_multiplier=0.5),
        space.MultivariateNormalDiag(scale_diag=[[1.0, 2.0]]),
        space.MultivariateNormalTriL([1.0, 2.0], [[1.0, 7.0], [3.0, 2.0]]),
        space.MultivariateNormalFullCovariance([1.0, 2.0], [[4.0, 1.0], [1.0, 2.0]]),
    ]
    return [_quantities(tf, d, [[0.5, 0.25]] if d.batch_shape.ndims else [0.5, 0.25], names if i != 3 else names[-2:]) for i, d in enumerate(found)], [str(d) for d in found]


def divergences(tf):
    space = tf.contrib.distributions
    kl = space.kl_divergence
    pairs = [
        (space.Normal([0.0, 1.0], 2.0), space.Normal(0.5, 1.0)),
        (space.Bernoulli(probs=[0.25, 0.5]), space.Bernoulli(logits=0.5)),
        (space.Categorical(probs=[0.25, 0.75]), space.Categorical(logits=[0.0, 3.0])),
        (space.Gamma(2.0, 3.0), space.Gamma(1.0, [0.5, 3.0])),
        (space.Beta(2.0, 3.0), space.Beta(1.0, [0.5, 3.0])),
        (space.Dirichlet([2.0, 3.0]), space.Dirichlet([1.0, 0.5])),
        (space.MultivariateNormalDiag([0.0, 1.0], [1.0, 2.0]), space.MultivariateNormalDiag([[1.0, 1.0], [2.0, 2.0]], [2.0, 3.0])),
        (space.MultivariateNormalTriL([0.0, 1.0], [[1.0, 0.0], [1.0, 2.0]]), space.MultivariateNormalDiag([1.0, 1.0], [2.0, 3.0])),
        (space.OneHotCategorical(probs=[0.25, 0.75]), space.OneHotCategorical(logits=[0.0, 3.0])),
        (space.Independent(space.Normal([[0.0, 1.0]], 2.0)), space.Independent(space.Normal([[0.5, 1.0]], 1.0))),
    ]
    first = pairs[0][0]
    return run(tf, [kl(a, b) for a, b in pairs]), run(tf, [first.cross_entropy(pairs[0][1]), first.kl_divergence(first)])


def other_contributed_ones(tf):
    space = tf.contrib.distributions
    return [
        _quantities(tf, space.Cauchy([0.0, 1.0], 2.0), 0.5, ["prob", "log_prob", "cdf", "log_cdf", "entropy", "mode", "mean", "stddev", "quantile"]),
        _quantities(tf, space.Poisson([1.0, 2.5]), 2.0, ["prob", "log_prob", "cdf", "mean", "variance", "stddev", "mode"]),
        _quantities(tf, space.OneHotCategorical(logits=[[0.0, 1.0, 2.0]]), [[0.0, 1.0, 0.0]], ["prob", "log_prob", "entropy", "mode", "variance"]),
        _quantities(tf, space.RelaxedOneHotCategorical(0.75, logits=[0.0, 1.0]), [[0.25, 0.75], [0.5, 0.5]], ["prob", "log_prob"]),
        _quantities(tf, space.Independent(space.Normal([[0.0, 1.0]], 2.0), 2), 0.5, ["log_prob", "prob", "entropy", "mean", "stddev", "variance", "mode"]),
    ]


def mixture(tf):
    space = tf.contrib.distributions
    d = space.Mixture(space.Categorical(logits=[0.0, 1.0, 0.5]), [space.Normal(float(k), 1.0 + k) for k in range(3)])
    return _quantities(tf, d, 0.5, ["mean", "stddev", "variance", "prob", "log_prob", "cdf", "log_cdf", "entropy_lower_bound"]), d.num_components


def copies(tf):
    d = tf.distributions.Normal(loc=[0.0, 1.0], scale=2.0, name="first")
    other = d.copy(scale=4.0)
    return d.name, other.name, run(tf, [other.scale, other.mean()]), d.dtype, d.validate_args, d.allow_nan_stats, str(d.reparameterization_type)


def shapes_of_parameters(tf):
    d = tf.distributions.Normal
    return sorted(d.param_shapes([2, 3])), d.param_static_shapes([2, 3])["loc"], tf.distributions.Bernoulli.param_static_shapes(tf.TensorShape([4]))["logits"]


def names_of_scopes(tf):
    d, e = tf.distributions.Normal(0.0, 1.0), tf.distributions.Normal(0.0, 1.0)
    with tf.name_scope("outer"):
        f = tf.distributions.Categorical([0.0, 1.0], name="cat")
    return [d.name, e.name, f.name, d.loc.name, f.logits.name, d.mean().name.split("/")[:2], d.sample().name.split("/")[:2], d.log_prob(0.0, name="p").name.split("/")[:2]]


def checks_of_arguments(tf):
    space = tf.distributions
    with tf.Session() as sess:

        def of(make):
            return caught(lambda: sess.run(make()))

        return [
            of(lambda: space.Normal(0.0, late(tf, -1.0, tf.float32), validate_args=True).mean()),
            of(lambda: space.Uniform(late(tf, 2.0, tf.float32), 1.0, validate_args=True).mean()),
            of(lambda: space.Gamma(late(tf, -2.0, tf.float32), 1.0, validate_args=True).mean()),
            of(lambda: space.Beta(late(tf, -2.0, tf.float32), 1.0, validate_args=True).mean()),
            of(lambda: space.Beta(2.0, 1.0, validate_args=True).prob(late(tf, 3.0, tf.float32))),
            of(lambda: space.Dirichlet(late(tf, [-2.0, 1.0], tf.float32), validate_args=True).mean()),
            of(lambda: space.Categorical(probs=late(tf, [0.5, 0.1], tf.float32), validate_args=True).entropy()),
            of(lambda: space.Bernoulli(probs=late(tf, [1.5], tf.float32), validate_args=True).mean()),
            of(lambda: space.Gamma(late(tf, 0.5, tf.float32), 1.0, allow_nan_stats=False).mode()),
            of(lambda: space.StudentT(late(tf, 0.5, tf.float32), 1.0, 1.0, allow_nan_stats=False).mean()),
        ]


def mistakes_in_distributions(tf):
    space = tf.contrib.distributions

    class Empty(tf.distributions.Distribution):
        def __init__(self):
            super(Empty, self).__init__(tf.float32, space.NOT_REPARAMETERIZED, False, True, name="Empty")

    return mistakes(
        tf,
        both=lambda: tf.distributions.Categorical(logits=[0.0], probs=[1.0]),
        neither=lambda: tf.distributions.Bernoulli(),
        integers=lambda: tf.distributions.Categorical(logits=[1, 2]),
        probs_of_integers=lambda: tf.distributions.Bernoulli(probs=1),
        one_class=lambda: tf.distributions.Categorical(logits=[1.0], validate_args=True),
        dtypes=lambda: tf.distributions.Normal(tf.constant(0.0, tf.float64), tf.constant(1.0)),
        values=lambda: tf.distributions.Categorical(logits=[1.0, 2.0]).log_prob(tf.constant(True)),
        matrix=lambda: tf.distributions.Normal(0.0, 1.0).sample([[1, 2]]),
        no_kl=lambda: tf.distributions.kl_divergence(tf.distributions.Normal(0.0, 1.0), tf.distributions.Uniform()),
        no_sample=lambda: Empty().sample(),
        no_prob=lambda: Empty().prob(1.0),
        no_log_prob=lambda: Empty().log_prob(1.0),
        no_mean=lambda: Empty().mean(),
        no_variance=lambda: Empty().variance(),
        no_stddev=lambda: Empty().stddev(),
        no_cdf=lambda: Empty().cdf(1.0),
        no_quantile=lambda: Empty().quantile(0.5),
        no_shape=lambda: Empty().batch_shape_tensor(),
        no_event_shape=lambda: Empty().event_shape_tensor(),
        no_mode=lambda: Empty().mode(),
        no_covariance=lambda: Empty().covariance(),
        no_entropy=lambda: Empty().entropy(),
        no_survival=lambda: Empty().survival_function(1.0),
        static_shape=lambda: tf.distributions.Normal.param_static_shapes(tf.TensorShape([None])),
        registered=lambda: tf.distributions.RegisterKL(tf.distributions.Normal, Empty)(7),
        of_mixture=lambda: space.Mixture(7, []),
        no_components=lambda: space.Mixture(space.Categorical([0.0, 1.0]), []),
        few_components=lambda: space.Mixture(space.Categorical([0.0, 1.0]), [space.Normal(0.0, 1.0)]),
        neither_of_normal=lambda: space.MultivariateNormalTriL(),
        neither_of_diagonal=lambda: space.MultivariateNormalDiag(),
        both_of_poisson=lambda: space.Poisson(1.0, 1.0),
        too_many_dimensions=lambda: space.Independent(space.Normal([0.0], 1.0), 2),
        no_mean_of_cauchy=lambda: space.Cauchy(0.0, 1.0, allow_nan_stats=False).mean(),
    )


def a_distribution_of_ones_own(tf):
    class Coin(tf.distributions.Distribution):
        def __init__(self, p, name="Coin"):
            parameters = {"p": p, "name": name}
            with tf.name_scope(name) as name:
                self._p = tf.convert_to_tensor(p, name="p")
            super(Coin, self).__init__(self._p.dtype, tf.distributions.NOT_REPARAMETERIZED, False, True, parameters=parameters, graph_parents=[self._p], name=name)

        def _batch_shape(self):
            return self._p.shape

        def _event_shape(self):
            return tf.TensorShape([])

        def _batch_shape_tensor(self):
            return tf.shape(self._p)

        def _prob(self, x):
            return x * self._p + (1.0 - x) * (1.0 - self._p)

        def _mean(self):
            return self._p

        def _variance(self):
            return self._p * (1.0 - self._p)

        def _sample_n(self, n, seed=None):
            return tf.fill(tf.concat([[n], self.batch_shape_tensor()], 0), 1.0)

    @tf.distributions.RegisterKL(Coin, tf.distributions.Normal)
    def _kl(a, b, name=None):
        return a.mean() - b.mean()

    d = Coin([0.25, 0.5])
    normal = tf.distributions.Normal(1.0, 1.0)
    values = run(tf, [d.log_prob(1.0), d.stddev(), d.sample([2, 2]), d.kl_divergence(normal), d.copy(p=[0.75]).mean(), d.is_scalar_batch(), d.is_scalar_event()])
    return values, str(d), static(d.sample([2, 2])), caught(lambda: tf.distributions.RegisterKL(tf.distributions.Normal, tf.distributions.Normal)(_kl))


def a_policy_gradient(tf):
    """A policy for a bandit with three arms, trained with samples of fixed seeds."""
    logits = tf.get_variable("logits", initializer=[0.0, 0.0, 0.0])
    policy = tf.distributions.Categorical(logits=logits)
    action = tf.placeholder(tf.int32, [None])
    reward = tf.gather([0.0, 1.0, 0.25], action)
    loss = -tf.reduce_mean(policy.log_prob(action) * reward) - 0.01 * policy.entropy()
    step = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, step], {action: [0, 1, 2, i % 3]})[0] for i in range(5)]
        return losses, sess.run([logits, policy.mode(), policy.probs])


def a_variational_autoencoder(tf):
    tfd = tf.contrib.distributions
    x = tf.constant([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    w = tf.get_variable("w", initializer=[[0.5, -0.5], [0.25, 1.0]])
    hidden = tf.matmul(x, w)
    posterior = tfd.MultivariateNormalDiag(hidden, tf.nn.softplus(hidden) + 0.1)
    prior = tfd.MultivariateNormalDiag(tf.zeros([2]), tf.ones([2]))
    code = posterior.sample(seed=2)
    decoded = tfd.Independent(tfd.Bernoulli(logits=tf.matmul(code, w, transpose_b=True)), 1)
    bound = tf.reduce_mean(decoded.log_prob(x) - tfd.kl_divergence(posterior, prior))
    step = tf.train.AdamOptimizer(0.1).minimize(-bound)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run([bound, step])[0] for _ in range(4)], sess.run(w)
