"""More bijectors: of ordered vectors, triangular matrices, linear operators and batches, and others."""

from __future__ import annotations

from typing import Any

from millstream.contrib.distributions.bijectors.base import Bijector
from millstream.contrib.distributions.bijectors.of_events import Chain, FillTriangular, TransformDiagonal
from millstream.contrib.distributions.bijectors.of_numbers import AffineScalar, Softplus
from millstream.distributions.base import checked
from millstream.framework import constant, convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.layers.core import BatchNormalization as _Layer
from millstream.ops import array_ops, check_ops, linalg_ops, math_ops, reduction_ops
from millstream.ops.linear_operators import LinearOperator


class Kumaraswamy(Bijector):
    """The function `y = (1 - (1 - x) ** (1 / concentration0)) ** (1 / concentration1)`.

    Its inverse is the cumulative distribution function of the Kumaraswamy distribution.

    Args:
      concentration1: A positive tensor of floats.
      concentration0: A positive tensor of floats.
      validate_args: If true, it is an error of the run if a concentration is not positive, or a value not
        between 0 and 1.
      name: The name scope of the operations.

    Example:
      >>> b = tf.contrib.distributions.bijectors.Kumaraswamy(2.0, 1.0)
      >>> print(*np.round(tf.Session().run([b.forward(0.25), b.inverse(0.5), b.concentration1, b.concentration0]), 4))
      0.5 0.25 2.0 1.0
    """

    def __init__(self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False, name: str = "kumaraswamy") -> None:
        with name_scope(name, values=[concentration1, concentration0]):
            self._concentration1 = self._positive(concentration1, "concentration1", validate_args)
            self._concentration0 = self._positive(concentration0, "concentration0", validate_args)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @staticmethod
    def _positive(value: Any, word: str, validate_args: bool) -> Any:
        value = convert_to_tensor(value, name=word)
        if not validate_args:
            return value
        return checked([check_ops.assert_positive(value, message="Concentration parameter must be positive.")], value)

    @property
    def concentration1(self) -> Any:
        """The first concentration."""
        return self._concentration1

    @property
    def concentration0(self) -> Any:
        """The second concentration."""
        return self._concentration0

    def _inner(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        checks = [check_ops.assert_positive(x, message="sample must be positive"), check_ops.assert_less(x, array_ops.ones([], x.dtype), message="sample must be less than `1`.")]
        return checked(checks, x)

    def _forward(self, x: Any) -> Any:
        x = self._inner(x)
        return op("Exp")(op("Log1p")(-op("Exp")(op("Log1p")(-x) / self.concentration0)) / self.concentration1)

    def _inverse(self, y: Any) -> Any:
        y = self._inner(y)
        return -op("Expm1")(self.concentration0 * op("Log1p")(-(y**self.concentration1)))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = self._inner(y)
        a, b = self.concentration1, self.concentration0
        return op("Log")(a) + op("Log")(b) + (a - 1.0) * op("Log")(y) + (b - 1.0) * op("Log1p")(-(y**a))


def _log_cosh(x: Any) -> Any:
    return math_ops.abs(x) + op("Softplus")(-2.0 * math_ops.abs(x)) - 0.6931471805599453


class SinhArcsinh(Bijector):
    """The function `y = sinh((arcsinh(x) + skewness) * tailweight)`.

    Args:
      skewness: A tensor of floats; by default 0.
      tailweight: A positive tensor of floats; by default 1.
      validate_args: If true, it is an error of the run if `tailweight` is not positive.
      name: The name scope of the operations.

    Example:
      >>> b = tf.contrib.distributions.bijectors.SinhArcsinh(tailweight=2.0)
      >>> print(*np.round(tf.Session().run([b.forward(1.0), b.inverse(b.forward(1.0)), b.skewness, b.tailweight]), 4))
      2.8284 1.0 0.0 2.0
    """

    def __init__(self, skewness: Any = None, tailweight: Any = None, validate_args: bool = False, name: str = "SinhArcsinh") -> None:
        with name_scope(name, values=[skewness, tailweight]):
            self._tailweight = convert_to_tensor(1.0 if tailweight is None else tailweight, name="tailweight")
            self._skewness = convert_to_tensor(0.0 if skewness is None else skewness, self._tailweight.dtype, "skewness")
            check_ops.assert_same_float_dtype([self._skewness, self._tailweight])
            if validate_args:
                words = "Argument tailweight was not positive"
                self._tailweight = checked([check_ops.assert_positive(self._tailweight, message=words)], self._tailweight)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def skewness(self) -> Any:
        """What is added to the inverse hyperbolic sine."""
        return self._skewness

    @property
    def tailweight(self) -> Any:
        """The factor of the inverse hyperbolic sine."""
        return self._tailweight

    def _forward(self, x: Any) -> Any:
        return op("Sinh")((op("Asinh")(x) + self.skewness) * self.tailweight)

    def _inverse(self, y: Any) -> Any:
        return op("Sinh")(op("Asinh")(y) / self.tailweight - self.skewness)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        inner = op("Asinh")(y) / self.tailweight - self.skewness
        return _log_cosh(inner) - op("Log")(self.tailweight) - _log_cosh(op("Asinh")(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        inner = (op("Asinh")(x) + self.skewness) * self.tailweight
        return _log_cosh(inner) + op("Log")(self.tailweight) - _log_cosh(op("Asinh")(x))


class Ordered(Bijector):
    """The function from vectors in rising order to their first element and the logarithms of their steps.

    Args:
      validate_args: If true, it is an error of the run if a vector is not in rising order.
      name: The name scope of the operations.

    Example:
      >>> b = tf.contrib.distributions.bijectors.Ordered()
      >>> print(*tf.Session().run([b.forward([2.0, 3.0, 4.0]), b.inverse([2.0, 0.0, 0.0])]))
      [2. 0. 0.] [2. 3. 4.]
    """

    def __init__(self, validate_args: bool = False, name: str = "ordered") -> None:
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return input_shape

    def _rising(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        words = "Forward transformation input must be strictly increasing."
        return checked([check_ops.assert_positive(x[..., 1:] - x[..., :-1], message=words)], x)

    def _forward(self, x: Any) -> Any:
        x = self._rising(x)
        return array_ops.concat([x[..., :1], op("Log")(x[..., 1:] - x[..., :-1])], -1)

    def _inverse(self, y: Any) -> Any:
        return reduction_ops.cumsum(array_ops.concat([y[..., :1], op("Exp")(y[..., 1:])], -1), axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return reduction_ops.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._rising(x)
        return -reduction_ops.reduce_sum(op("Log")(x[..., 1:] - x[..., :-1]), axis=-1)


class MatrixInverseTriL(Bijector):
    """The inverse of lower triangular matrices.

    Args:
      validate_args: If true, it is an error of the run if a matrix is not triangular or has a 0 on its
        diagonal.
      name: The name scope of the operations.

    Example:
      >>> b = tf.contrib.distributions.bijectors.MatrixInverseTriL()
      >>> print(tf.Session().run(b.forward([[2.0, 0.0], [1.0, 1.0]])).ravel())
      [ 0.5  0.  -0.5  1. ]
    """

    def __init__(self, validate_args: bool = False, name: str = "matrix_inverse_tril") -> None:
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _triangular(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        zeros = array_ops.zeros([], x.dtype)
        upper = op("MatrixBandPart")(x, 0, -1)
        upper = linalg_ops.matrix_set_diag(upper, array_ops.zeros_like(linalg_ops.matrix_diag_part(x)))
        checks = [
            check_ops.assert_equal(upper, zeros, message="Input must be lower triangular."),
            check_ops.assert_none_equal(linalg_ops.matrix_diag_part(x), zeros, message="Input must have all diagonal entries nonzero."),
        ]
        return checked(checks, x)

    def _forward(self, x: Any) -> Any:
        x = self._triangular(x)
        ones = array_ops.ones(array_ops.shape(x)[:-1], x.dtype)
        return op("MatrixTriangularSolve")(x, linalg_ops.matrix_diag(ones))

    def _inverse(self, y: Any) -> Any:
        return self._forward(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._triangular(x)
        # TensorFlow's factor, that of matrices which are not triangular.
        n = math_ops.cast(array_ops.shape(x)[-1], x.dtype)
        return -2.0 * n * reduction_ops.reduce_sum(op("Log")(math_ops.abs(linalg_ops.matrix_diag_part(x))), axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._forward_log_det_jacobian(y)


class ScaleTriL(Chain):
    """The function from vectors to lower triangular matrices with a positive diagonal.

    Args:
      diag_bijector: The bijector of the diagonal; by default `Softplus`.
      diag_shift: A number that is added to the diagonal; None is 0.
      validate_args: If true, values are checked when the graph is run.
      name: The name scope of the operations.

    Example:
      >>> tfb = tf.contrib.distributions.bijectors
      >>> b = tfb.ScaleTriL(diag_bijector=tfb.Exp(), diag_shift=None)
      >>> print(tf.Session().run(b.forward([0.0, 0.0, 5.0])).ravel())
      [148.41316   0.        0.        1.     ]
    """

    def __init__(self, diag_bijector: Any = None, diag_shift: Any = 1e-5, validate_args: bool = False, name: str = "scale_tril") -> None:
        diag_bijector = Softplus(validate_args=validate_args) if diag_bijector is None else diag_bijector
        if diag_shift is not None:
            diag_bijector = Chain([AffineScalar(shift=diag_shift), diag_bijector])
        parts = [TransformDiagonal(diag_bijector=diag_bijector), FillTriangular()]
        super().__init__(parts, validate_args=validate_args, name=name)


class AffineLinearOperator(Bijector):
    """The function `y = scale @ x + shift` of vectors, by a linear operator.

    Args:
      shift: A tensor of vectors; None is 0.
      scale: A `LinearOperator`; None is the identity.
      validate_args: If true, it is an error of the run if the operator is singular.
      name: The name scope of the operations.

    Raises:
      TypeError: `scale` is no `LinearOperator`, or another dtype than `shift`.
      ValueError: `scale` is singular.

    Example:
      >>> diagonal = tf.linalg.LinearOperatorDiag([2.0, 4.0], is_non_singular=True)
      >>> b = tf.contrib.distributions.bijectors.AffineLinearOperator([1.0, 1.0], diagonal)
      >>> print(*tf.Session().run([b.forward([1.0, 1.0]), b.inverse([3.0, 5.0]), b.shift]), b.scale is diagonal)
      [3. 5.] [1. 1.] [1. 1.] True
    """

    def __init__(self, shift: Any = None, scale: Any = None, validate_args: bool = False, name: str = "affine_linear_operator") -> None:
        parents = []
        with name_scope(name, values=[shift]):
            dtype: Any = dtypes.float32
            if shift is not None:
                shift = convert_to_tensor(shift, name="shift")
                parents, dtype = [shift], shift.dtype.base_dtype
            if scale is not None:
                if not isinstance(scale, LinearOperator):
                    raise TypeError("scale is not an instance of tf.LinearOperator")
                if shift is not None and shift.dtype.base_dtype != scale.dtype.base_dtype:
                    raise TypeError("shift.dtype({}) is incompatible with scale.dtype({}).".format(shift.dtype, scale.dtype))
                if validate_args and not scale.is_non_singular:
                    raise ValueError("Scale matrix must be non-singular.")
                parents, dtype = parents + list(scale.graph_parents), scale.dtype.base_dtype
        self._shift, self._scale = shift, scale
        super().__init__(
            graph_parents=parents, forward_min_event_ndims=1, is_constant_jacobian=True, dtype=dtype, validate_args=validate_args, name=name
        )

    @property
    def shift(self) -> Any:
        """What is added, or None."""
        return self._shift

    @property
    def scale(self) -> Any:
        """The linear operator, or None."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        y = x if self.scale is None else self.scale.matvec(x)
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = y if self.shift is None else y - self.shift
        return x if self.scale is None else self.scale.solvevec(x)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self.scale is None:
            return constant(0.0, dtype=x.dtype.base_dtype)
        with name_scope("log_abs_determinant"):
            return self.scale.log_abs_determinant()

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -self._forward_log_det_jacobian(y)


class BatchNormalization(Bijector):
    """The function whose inverse normalizes batches, by a layer.

    Args:
      batchnorm_layer: A `tf.layers.BatchNormalization` without renormalization and virtual batches; by
        default a new one with a positive `gamma`.
      training: If true, the inverse uses the mean and the variance of the batch, and updates moving averages.
      validate_args: Ignored.
      name: The name scope of the operations.

    Raises:
      ValueError: The layer is another one, or has renormalization or virtual batches.

    Example:
      >>> b = tf.contrib.distributions.bijectors.BatchNormalization()
      >>> x = b.inverse([[1.0], [3.0]])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(x).round(2).ravel())
      [-1.  1.]
    """

    def __init__(self, batchnorm_layer: Any = None, training: bool = True, validate_args: bool = False, name: str = "batch_normalization") -> None:
        self.batchnorm = batchnorm_layer or _Layer(gamma_constraint=lambda gamma: op("Relu")(gamma) + 1e-6)
        if not isinstance(self.batchnorm, _Layer):
            raise ValueError("batchnorm_layer must be an instance of BatchNormalization layer.")
        if self.batchnorm.renorm:
            raise ValueError("BatchNorm Bijector does not support renormalization.")
        if self.batchnorm.virtual_batch_size:
            raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
        self._training = training
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _build(self, x: Any) -> None:
        if not self.batchnorm.built:
            self.batchnorm.build(x.get_shape())

    def _forward(self, y: Any) -> Any:
        self._build(y)
        layer = self.batchnorm
        factor = op("Sqrt")(layer.moving_variance + layer.epsilon)
        if layer.gamma is not None:
            factor = factor / layer.gamma
        return (y if layer.beta is None else y - layer.beta) * factor + layer.moving_mean

    def _inverse(self, y: Any) -> Any:
        return self.batchnorm(y, training=self._training)

    def _of_variance(self, variance: Any) -> Any:
        layer = self.batchnorm
        logs = -0.5 * op("Log")(variance + layer.epsilon)
        if layer.gamma is not None:
            logs = logs + op("Log")(layer.gamma + 0.0)
        return reduction_ops.reduce_sum(logs)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        self._build(y)
        if not self._training:
            return self._of_variance(self.batchnorm.moving_variance)
        rank = y.get_shape().ndims
        kept = {axis % rank for axis in ([self.batchnorm.axis] if isinstance(self.batchnorm.axis, int) else self.batchnorm.axis)}
        axes = [axis for axis in range(rank) if axis not in kept]
        mean = reduction_ops.reduce_mean(y, axis=axes, keepdims=True)
        return self._of_variance(reduction_ops.reduce_mean(op("SquaredDifference")(y, mean), axis=axes))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        self._build(x)
        return -self._of_variance(self.batchnorm.moving_variance)


class ConditionalBijector(Bijector):
    """A base class of bijectors whose methods take named arguments, which they hand on to the subclass.

    Example:
      >>> class Scaled(tf.contrib.distributions.bijectors.ConditionalBijector):
      ...     def __init__(self):
      ...         super().__init__(forward_min_event_ndims=0)
      ...     def _forward(self, x, factor):
      ...         return x * factor
      >>> print(tf.Session().run(Scaled().forward(2.0, factor=3.0)))
      6.0
    """

    def forward(self, x: Any, name: str = "forward", **condition_kwargs: Any) -> Any:
        """Returns the value of the function at `x`, given named arguments."""
        return self._call_forward(x, name, **condition_kwargs)

    def inverse(self, y: Any, name: str = "inverse", **condition_kwargs: Any) -> Any:
        """Returns the point whose value is `y`, given named arguments."""
        return self._call_inverse(y, name, **condition_kwargs)

    def forward_log_det_jacobian(self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian", **condition_kwargs: Any) -> Any:
        """Returns the logarithm of the absolute value of the derivative's determinant at `x`."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name, **condition_kwargs)

    def inverse_log_det_jacobian(self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian", **condition_kwargs: Any) -> Any:
        """Returns the logarithm of the absolute value of the inverse's determinant at `y`."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name, **condition_kwargs)
