"""`tf.contrib.opt`: more optimizers, and wrappers of optimizers.

Optimizers for several workers (`ElasticAverageOptimizer` and its like) and those that need a singular value
decomposition are not part of it.
"""

from millstream.contrib.opt.averages import MovingAverageOptimizer
from millstream.contrib.opt.external import ExternalOptimizerInterface, ScipyOptimizerInterface
from millstream.contrib.opt.optimizers import (
    AdamWOptimizer,
    DecoupledWeightDecayExtension,
    LazyAdamOptimizer,
    MomentumWOptimizer,
    NadamOptimizer,
    extend_with_decoupled_weight_decay,
)
from millstream.contrib.opt.signs import AdaMaxOptimizer, AddSignOptimizer, PowerSignOptimizer
from millstream.framework import namespaces

__all__ = [
    "AdaMaxOptimizer",
    "AdamWOptimizer",
    "AddSignOptimizer",
    "DecoupledWeightDecayExtension",
    "ExternalOptimizerInterface",
    "LazyAdamOptimizer",
    "MomentumWOptimizer",
    "MovingAverageOptimizer",
    "NadamOptimizer",
    "PowerSignOptimizer",
    "ScipyOptimizerInterface",
    "extend_with_decoupled_weight_decay",
]

__getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> list:
    return list(__all__)
