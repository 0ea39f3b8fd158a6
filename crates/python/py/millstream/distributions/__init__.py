"""`tf.distributions`: probability distributions, to sample from and to compute densities of.

- `base`: `Distribution`; `divergence`: `kl_divergence` and how to register one for own classes;
- `continuous`, `discrete`: the distributions; `special`: functions that they share.
"""

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
    "Bernoulli",
    "Beta",
    "Categorical",
    "Dirichlet",
    "DirichletMultinomial",
    "Distribution",
    "Exponential",
    "FULLY_REPARAMETERIZED",
    "Gamma",
    "Laplace",
    "Multinomial",
    "NOT_REPARAMETERIZED",
    "Normal",
    "RegisterKL",
    "ReparameterizationType",
    "StudentT",
    "Uniform",
    "kl_divergence",
]

__dir__ = namespaces.dir_of(globals())
