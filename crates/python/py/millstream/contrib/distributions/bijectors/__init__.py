"""`tf.contrib.distributions.bijectors`: functions with inverses, for `TransformedDistribution`."""

from millstream.contrib.distributions.bijectors.base import Bijector
from millstream.contrib.distributions.bijectors.flows import (
    MaskedAutoregressiveFlow,
    RealNVP,
    masked_autoregressive_default_template,
    masked_dense,
    real_nvp_default_template,
)
from millstream.contrib.distributions.bijectors.more import (
    AffineLinearOperator,
    BatchNormalization,
    ConditionalBijector,
    Kumaraswamy,
    MatrixInverseTriL,
    Ordered,
    ScaleTriL,
    SinhArcsinh,
)
from millstream.contrib.distributions.bijectors.of_events import (
    Affine,
    Chain,
    CholeskyOuterProduct,
    FillTriangular,
    Inline,
    Invert,
    Permute,
    Reshape,
    SoftmaxCentered,
    TransformDiagonal,
)
from millstream.contrib.distributions.bijectors.of_numbers import (
    AbsoluteValue,
    AffineScalar,
    Exp,
    Gumbel,
    Identity,
    PowerTransform,
    Sigmoid,
    Softplus,
    Softsign,
    Square,
)
from millstream.framework import namespaces

__all__ = [
    "AbsoluteValue",
    "Affine",
    "AffineLinearOperator",
    "AffineScalar",
    "BatchNormalization",
    "Bijector",
    "Chain",
    "CholeskyOuterProduct",
    "ConditionalBijector",
    "Exp",
    "FillTriangular",
    "Gumbel",
    "Identity",
    "Inline",
    "Invert",
    "Kumaraswamy",
    "MaskedAutoregressiveFlow",
    "MatrixInverseTriL",
    "Ordered",
    "Permute",
    "PowerTransform",
    "RealNVP",
    "Reshape",
    "ScaleTriL",
    "Sigmoid",
    "SinhArcsinh",
    "SoftmaxCentered",
    "Softplus",
    "Softsign",
    "Square",
    "TransformDiagonal",
    "masked_autoregressive_default_template",
    "masked_dense",
    "real_nvp_default_template",
]

__dir__ = namespaces.dir_of(globals())
