"""`tf.contrib.opt`: more optimizers, and wrappers of optimizers."""

from millstream.contrib.opt.averages import MovingAverageOptimizer
from millstream.contrib.opt.external import ExternalOptimizerInterface, ScipyOptimizerInterface
from millstream.contrib.opt.matrices import GGTOptimizer, ShampooOptimizer
from millstream.contrib.opt.optimizers import (
    AdamWOptimizer,
    DecoupledWeightDecayExtension,
    LazyAdamOptimizer,
    MomentumWOptimizer,
    NadamOptimizer,
    extend_with_decoupled_weight_decay,
)
from millstream.contrib.opt.signs import AdaMaxOptimizer, AddSignOptimizer, PowerSignOptimizer
from millstream.contrib.opt.workers import (
    AGNCustomGetter,
    AGNOptimizer,
    ElasticAverageCustomGetter,
    ElasticAverageOptimizer,
    ModelAverageCustomGetter,
    ModelAverageOptimizer,
)
from millstream.contrib.opt.wrappers import (
    AdamGSOptimizer,
    DropStaleGradientOptimizer,
    LARSOptimizer,
    LazyAdamGSOptimizer,
    MultitaskOptimizerWrapper,
    RegAdagradOptimizer,
    VariableClippingOptimizer,
    clip_gradients_by_global_norm,
)
from millstream.framework import namespaces

__all__ = [
    "AGNCustomGetter",
    "AGNOptimizer",
    "AdaMaxOptimizer",
    "AdamGSOptimizer",
    "AdamWOptimizer",
    "AddSignOptimizer",
    "DecoupledWeightDecayExtension",
    "DropStaleGradientOptimizer",
    "ElasticAverageCustomGetter",
    "ElasticAverageOptimizer",
    "ExternalOptimizerInterface",
    "GGTOptimizer",
    "LARSOptimizer",
    "LazyAdamGSOptimizer",
    "LazyAdamOptimizer",
    "ModelAverageCustomGetter",
    "ModelAverageOptimizer",
    "MomentumWOptimizer",
    "MovingAverageOptimizer",
    "MultitaskOptimizerWrapper",
    "NadamOptimizer",
    "PowerSignOptimizer",
    "RegAdagradOptimizer",
    "ScipyOptimizerInterface",
    "ShampooOptimizer",
    "VariableClippingOptimizer",
    "clip_gradients_by_global_norm",
    "extend_with_decoupled_weight_decay",
]

__getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> list:
    return list(__all__)
