"""`tf.contrib.distributions`: those of `tf.distributions`, multivariate normal distributions, and others."""

from millstream.contrib.distributions.counts import Binomial, NegativeBinomial
from millstream.contrib.distributions.multivariate import (
    MultivariateNormalDiag,
    MultivariateNormalFullCovariance,
    MultivariateNormalTriL,
)
from millstream.contrib.distributions.others import (
    Cauchy,
    Independent,
    Mixture,
    OneHotCategorical,
    Poisson,
    RelaxedOneHotCategorical,
)
from millstream.contrib.distributions.transformed import (
    BetaWithSoftplusConcentration,
    Chi2WithAbsDf,
    ExponentialWithSoftplusRate,
    GammaWithSoftplusConcentrationRate,
    LaplaceWithSoftplusScale,
    NormalWithSoftplusScale,
    StudentTWithAbsDfSoftplusScale,
)
from millstream.contrib.distributions.univariate import Chi2, Deterministic, Geometric, HalfNormal, InverseGamma, Logistic
from millstream.distributions.base import (
    Distribution,
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    ReparameterizationType,
)
from millstream.distributions.continuous import Beta, Exponential, Gamma, Laplace, Normal, StudentT, Uniform
from millstream.distributions.discrete import Bernoulli, Categorical, Dirichlet, Multinomial
from millstream.distributions.divergence import RegisterKL, kl_divergence
from millstream.framework import namespaces

__all__ = [
    "Bernoulli",
    "Beta",
    "BetaWithSoftplusConcentration",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "Chi2WithAbsDf",
    "Deterministic",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialWithSoftplusRate",
    "FULLY_REPARAMETERIZED",
    "Gamma",
    "GammaWithSoftplusConcentrationRate",
    "Geometric",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "Laplace",
    "LaplaceWithSoftplusScale",
    "Logistic",
    "Mixture",
    "Multinomial",
    "MultivariateNormalDiag",
    "MultivariateNormalFullCovariance",
    "MultivariateNormalTriL",
    "NOT_REPARAMETERIZED",
    "NegativeBinomial",
    "Normal",
    "NormalWithSoftplusScale",
    "OneHotCategorical",
    "Poisson",
    "RegisterKL",
    "RelaxedOneHotCategorical",
    "ReparameterizationType",
    "StudentT",
    "StudentTWithAbsDfSoftplusScale",
    "Uniform",
    "kl_divergence",
]

__dir__ = namespaces.dir_of(globals())
