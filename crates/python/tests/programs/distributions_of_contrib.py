"""`tf.contrib.distributions`: those of single numbers, and those of transformed parameters."""

import numpy as np

from programs.distributions import ALL, _quantities
from programs.tools import caught, mistakes, names, run, static


def _kept(d):
    return str(d), repr(d), d.name, sorted(k for k in d.parameters if k != "__class__"), d.reparameterization_type is not None


def logistic(tf):
    d = tf.contrib.distributions.Logistic([0.0, 1.0], [[1.0], [2.0]])
    return _quantities(tf, d, 0.3, ALL + ["batch_shape_tensor", "event_shape_tensor"]), _kept(d), static(d.loc, d.scale, d.sample([3]))


def geometric(tf):
    of_probs, of_logits = tf.contrib.distributions.Geometric(probs=[0.25, 0.5]), tf.contrib.distributions.Geometric(logits=[[-1.0], [2.0]])
    return (
        [_quantities(tf, d, [0.0, 2.0], ALL + ["batch_shape_tensor", "event_shape_tensor"]) for d in (of_probs, of_logits)],
        [_kept(d) for d in (of_probs, of_logits)],
        run(tf, [of_probs.logits, of_logits.probs, of_probs.cdf(-1.0), of_probs.prob(1.5)]),
        static(of_probs.sample(), of_logits.sample([2, 3])),
    )


def half_normal(tf):
    d = tf.contrib.distributions.HalfNormal([1.0, 2.5])
    return _quantities(tf, d, 0.75, ALL), run(tf, [d.prob(-1.0), d.cdf(-1.0), d.quantile([0.1, 0.9])]), _kept(d), static(d.scale, d.sample(4)), sorted(d.param_shapes([2]))


def chi2(tf):
    d = tf.contrib.distributions.Chi2([1.0, 5.0])
    return _quantities(tf, d, 0.75, ALL), run(tf, [d.df, d.concentration, d.rate]), _kept(d), static(d.df, d.sample(4)), sorted(d.param_shapes([2]))


def transformed_parameters(tf):
    d = tf.contrib.distributions
    made = [
        (d.BetaWithSoftplusConcentration([0.5, -3.0], 2.0), "concentration1 concentration0"),
        (d.Chi2WithAbsDf([-3.5, 4.2]), "df"),
        (d.ExponentialWithSoftplusRate([-1.0, 2.0]), "rate"),
        (d.GammaWithSoftplusConcentrationRate([-1.0, 2.0], 0.0), "concentration rate"),
        (d.LaplaceWithSoftplusScale([-1.0, 2.0], 0.0), "loc scale"),
        (d.NormalWithSoftplusScale(loc=[-1.0, 2.0], scale=[[-2.0], [3.0]], name="mine"), "loc scale"),
        (d.StudentTWithAbsDfSoftplusScale([-3.5, 2.2], 0.5, 0.0), "df loc scale"),
    ]
    return [(_kept(one), run(tf, [getattr(one, p) for p in parameters.split()] + [one.mean(), one.prob(0.25)])) for one, parameters in made]


def samples(tf):
    d = tf.contrib.distributions
    made = [
        d.Logistic([0.0, 1.0], 2.0),
        d.Geometric(probs=[0.2, 0.7]),
        d.HalfNormal([1.0, 2.0]),
        d.Chi2(tf.constant([3.0, 4.0], tf.float64)),
        d.NormalWithSoftplusScale(0.0, [0.0, 1.0]),
        d.ExponentialWithSoftplusRate([0.0, 1.0]),
    ]
    return run(tf, [one.sample([3], seed=5) for one in made])


def samples_by_the_graph(tf):
    tf.set_random_seed(17)
    d = tf.contrib.distributions
    made = [d.Logistic(0.0, 2.0), d.Geometric(logits=-1.0), d.HalfNormal(1.0), d.Chi2(3.0), d.Geometric(probs=0.5, validate_args=True)]
    drawn = [one.sample(2) for one in made]
    return run(tf, drawn + [tf.random_uniform([2])])


def gradients(tf):
    loc, scale = tf.constant([0.5, 1.0]), tf.constant([1.0, 2.0])
    d = tf.contrib.distributions
    logistic, half, chance = d.Logistic(loc, scale), d.HalfNormal(scale), d.Geometric(logits=loc)
    found = [
        tf.gradients(logistic.log_prob(0.25), [loc, scale]),
        tf.gradients(logistic.sample([2], seed=3), [loc, scale]),
        tf.gradients(half.log_prob(0.25), [scale]),
        tf.gradients(half.sample([2], seed=3), [scale]),
        tf.gradients(chance.log_prob(2.0), [loc]),
    ]
    return run(tf, found), tf.gradients(chance.sample(2, seed=1), [loc])


def refusals(tf):
    d = tf.contrib.distributions
    return mistakes(
        tf,
        both=lambda: d.Geometric(logits=1.0, probs=0.5),
        neither=lambda: d.Geometric(),
        ints=lambda: d.Geometric(probs=1),
        dtypes=lambda: d.Logistic(tf.constant(1.0), tf.constant(1.0, tf.float64)),
        logistic=lambda: d.Logistic(0.0, -1.0, validate_args=True),
        half=lambda: d.HalfNormal(-1.0, validate_args=True),
        chi2=lambda: d.Chi2(-1.0, validate_args=True),
        quantile=lambda: d.Logistic(0.0, 1.0).quantile(0.5),
    )


def late_refusals(tf):
    d = tf.contrib.distributions.Geometric(probs=tf.placeholder_with_default([0.5, 1.0], None), validate_args=True)
    return caught(lambda: run(tf, d.entropy()), "Entropy is undefined when logits = inf or probs = 1.")


def names_of_nodes(tf):
    d = tf.contrib.distributions.Logistic(0.0, 1.0, name="mine")
    d.log_prob(1.0), d.cdf(1.0), d.sample(2, seed=1)
    tf.contrib.distributions.Geometric(probs=0.5).mean()
    tf.contrib.distributions.NormalWithSoftplusScale(0.0, 1.0)
    return names(tf)


def draws_of_a_mixture_of_one_family(tf):
    """The draws are TensorFlow's at equal seeds of the graph, which count nodes."""
    d = tf.contrib.distributions
    tf.set_random_seed(3)
    m = d.MixtureSameFamily(d.Categorical(probs=[0.3, 0.7]), d.Normal(loc=[-1.0, 1.0], scale=[0.1, 0.5]))
    parts = [m.sample(5), m.sample(), m.log_prob([0.1, 0.2])]
    return run(tf, parts + [tf.random_uniform([2])])


def draws_of_a_noisy_learning_rate(tf):
    tf.set_random_seed(3)
    steps = tf.constant(3), tf.constant(5)
    made = [tf.train.noisy_linear_cosine_decay(0.1, steps[0], 10), tf.train.noisy_linear_cosine_decay(0.1, steps[1], 10, initial_variance=0.5)]
    return run(tf, made + [tf.random_uniform([2])])
