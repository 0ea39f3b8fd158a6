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
from millstream.contrib.distributions.flowing import (
    ExpRelaxedOneHotCategorical,
    InverseGammaWithSoftplusConcentrationRate,
    MixtureSameFamily,
    MultivariateNormalDiagWithSoftplusScale,
    RelaxedBernoulli,
    TransformedDistribution,
)
from millstream.contrib.distributions.more import (
    Autoregressive,
    BatchReshape,
    ConditionalDistribution,
    ConditionalTransformedDistribution,
    Kumaraswamy,
    MultivariateNormalDiagPlusLowRank,
    QuantizedDistribution,
    SinhArcsinh,
    VectorDeterministic,
    VectorExponentialDiag,
    VectorLaplaceDiag,
    VectorSinhArcsinhDiag,
)
from millstream.contrib.distributions.statistics import (
    SeedStream,
    assign_log_moving_mean_exp,
    assign_moving_mean_variance,
    auto_correlation,
    moving_mean_variance,
    normal_conjugates_known_scale_posterior,
    normal_conjugates_known_scale_predictive,
    percentile,
)
from millstream.contrib.distributions.wishart import (
    WishartCholesky,
    WishartFull,
)
from millstream.contrib.distributions import bijectors as bijectors
from millstream.distributions.values import (
    fill_triangular,
    fill_triangular_inverse,
    matrix_diag_transform,
    reduce_weighted_logsumexp,
    softplus_inverse,
    tridiag,
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
from millstream.distributions.mixed_counts import DirichletMultinomial
from millstream.framework import namespaces

__all__ = [
    "Autoregressive",
    "BatchReshape",
    "Bernoulli",
    "Beta",
    "BetaWithSoftplusConcentration",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "Chi2WithAbsDf",
    "ConditionalDistribution",
    "ConditionalTransformedDistribution",
    "Deterministic",
    "Dirichlet",
    "DirichletMultinomial",
    "Distribution",
    "ExpRelaxedOneHotCategorical",
    "Exponential",
    "ExponentialWithSoftplusRate",
    "FULLY_REPARAMETERIZED",
    "Gamma",
    "GammaWithSoftplusConcentrationRate",
    "Geometric",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "InverseGammaWithSoftplusConcentrationRate",
    "Kumaraswamy",
    "Laplace",
    "LaplaceWithSoftplusScale",
    "Logistic",
    "Mixture",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormalDiag",
    "MultivariateNormalDiagPlusLowRank",
    "MultivariateNormalDiagWithSoftplusScale",
    "MultivariateNormalFullCovariance",
    "MultivariateNormalTriL",
    "NOT_REPARAMETERIZED",
    "NegativeBinomial",
    "Normal",
    "NormalWithSoftplusScale",
    "OneHotCategorical",
    "Poisson",
    "QuantizedDistribution",
    "RegisterKL",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReparameterizationType",
    "SeedStream",
    "SinhArcsinh",
    "StudentT",
    "StudentTWithAbsDfSoftplusScale",
    "TransformedDistribution",
    "Uniform",
    "VectorDeterministic",
    "VectorExponentialDiag",
    "VectorLaplaceDiag",
    "VectorSinhArcsinhDiag",
    "WishartCholesky",
    "WishartFull",
    "assign_log_moving_mean_exp",
    "assign_moving_mean_variance",
    "auto_correlation",
    "bijectors",
    "fill_triangular",
    "fill_triangular_inverse",
    "kl_divergence",
    "matrix_diag_transform",
    "moving_mean_variance",
    "normal_conjugates_known_scale_posterior",
    "normal_conjugates_known_scale_predictive",
    "percentile",
    "reduce_weighted_logsumexp",
    "softplus_inverse",
    "tridiag",
]

__dir__ = namespaces.dir_of(globals())
