"""`tf.contrib.distributions`: counts in trials, inverse gamma, and a number that is always the same."""

import numpy as np

from programs.tools import caught, run

_OF_VALUES = "prob log_prob cdf log_cdf survival_function".split()


def _quantities(tf, d, x, names):
    with tf.Session() as sess:
        return [np.round(np.asarray(sess.run(getattr(d, n)(x) if n in _OF_VALUES else getattr(d, n)()), np.float64), 4) for n in names]


STATISTICS = "mean variance stddev mode".split()


def inverse_gamma(tf):
    d = tf.contrib.distributions.InverseGamma([0.5, 1.5, 3.0], [[1.0], [2.0]])
    found = _quantities(tf, d, 0.75, STATISTICS + ["entropy"] + _OF_VALUES)
    samples = d.sample([2], seed=4)
    return found, run(tf, samples), str(d), sorted(d.parameters), d.reparameterization_type == tf.distributions.FULLY_REPARAMETERIZED


def inverse_gamma_without_moments(tf):
    d = tf.contrib.distributions.InverseGamma([0.5], [1.0], allow_nan_stats=False, validate_args=True)
    return [caught(lambda: run(tf, d.mean()), "mean undefined when any concentration <= 1"), caught(lambda: run(tf, d.variance()), "variance undefined")]


def deterministic(tf):
    d = tf.contrib.distributions.Deterministic([1.0, -2.0])
    x = np.array([[1.0, -2.5], [0.5, -2.0]], np.float32)
    found = _quantities(tf, d, x, STATISTICS + ["entropy"] + ["prob", "log_prob", "cdf"])
    near = tf.contrib.distributions.Deterministic([1.0, -2.0], atol=0.25, rtol=0.2)
    found += _quantities(tf, near, x, ["prob", "cdf"])
    return found, run(tf, d.sample([2])), str(d), d.reparameterization_type == tf.distributions.FULLY_REPARAMETERIZED, sorted(set(d.parameters) - {"is_vector"})


def binomial(tf):
    d = tf.contrib.distributions.Binomial(total_count=[4.0, 7.0], probs=[[0.25], [0.5]])
    found = _quantities(tf, d, [1.0, 3.0], STATISTICS + ["prob", "log_prob", "cdf"])
    other = tf.contrib.distributions.Binomial(total_count=5.0, logits=[-0.5, 0.0])
    return found, _quantities(tf, other, 5.0, ["prob", "cdf", "mean"]), str(d), sorted(d.parameters), run(tf, [d.probs, d.logits, d.total_count])


def binomial_checked(tf):
    d = tf.contrib.distributions.Binomial(total_count=4.0, probs=0.25, validate_args=True)
    k = tf.placeholder(tf.float32, [])
    with tf.Session() as sess:
        fails = [caught(lambda v=v: sess.run(d.prob(k), {k: v}), "")[:1] for v in (-1.0, 1.5, 5.0)]
    return fails, caught(lambda: d.sample(seed=1), "sample_n is not implemented")


def negative_binomial(tf):
    d = tf.contrib.distributions.NegativeBinomial(total_count=[4.0, 0.5], probs=[0.25, 0.5])
    found = _quantities(tf, d, [1.0, 3.0], STATISTICS + ["prob", "log_prob", "cdf"])
    other = tf.contrib.distributions.NegativeBinomial(total_count=5.0, logits=[-0.5, 0.0])
    return found, _quantities(tf, other, 2.0, ["prob", "mean"]), run(tf, other.sample([3], seed=7)), str(d), sorted(d.parameters)
