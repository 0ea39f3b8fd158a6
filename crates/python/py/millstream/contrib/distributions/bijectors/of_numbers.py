"""Bijectors of single numbers: `Exp`, `Sigmoid`, `AffineScalar` and others."""

from __future__ import annotations

from typing import Any, List

from millstream.contrib.distributions.bijectors.base import Bijector
from millstream.distributions.values import softplus_inverse
from millstream.distributions.base import checked
from millstream.framework import constant, convert_to_tensor, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops, check_ops, math_ops


class Identity(Bijector):
    """The function `y = x`.

    Args:
      validate_args: Ignored.
      name: The name scope of the operations.

    Example:
      >>> same = tf.contrib.distributions.bijectors.Identity()
      >>> print(*tf.Session().run([same.forward(2.0), same.inverse_log_det_jacobian(2.0, 0)]))
      2.0 0.0
    """

    def __init__(self, validate_args: bool = False, name: str = "identity") -> None:
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return x

    def _inverse(self, y: Any) -> Any:
        return y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return constant(0.0, dtype=x.dtype)


class PowerTransform(Bijector):
    """The function `y = (1 + power * x) ** (1 / power)`, of which `exp` is the limit at 0.

    Args:
      power: A number that is not negative.
      validate_args: If true, it is an error of the run if `1 + power * x` or `y` is not positive.
      name: The name scope of the operations.

    Raises:
      ValueError: `power` is negative, or not known while the graph is built.

    Example:
      >>> root = tf.contrib.distributions.bijectors.PowerTransform(2.0)
      >>> print(*tf.Session().run([root.forward(4.0), root.inverse(3.0), root.power]))
      3.0 4.0 2.0
    """

    def __init__(self, power: Any = 0.0, validate_args: bool = False, name: str = "power_transform") -> None:
        with name_scope(name):
            self._power = convert_to_tensor(power, name="power")
        if not isinstance(power, (int, float)) or power < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        self._exponent = float(power)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def power(self) -> Any:
        """The power, as a tensor."""
        return self._power

    def _forward(self, x: Any) -> Any:
        if self.validate_args and self._exponent:
            x = checked([check_ops.assert_positive(1.0 + self._exponent * x)], x)
        if not self._exponent:
            return op("Exp")(x)
        return op("Exp")(op("Log1p")(x * self._exponent) / self._exponent)

    def _positive(self, y: Any) -> Any:
        return checked([check_ops.assert_positive(y)], y) if self.validate_args else y

    def _inverse(self, y: Any) -> Any:
        y = self._positive(y)
        return op("Log")(y) if not self._exponent else op("Expm1")(op("Log")(y) * self._exponent) / self._exponent

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return (self._exponent - 1.0) * op("Log")(self._positive(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if not self._exponent:
            return x
        return (1.0 / self._exponent - 1.0) * op("Log1p")(x * self._exponent)


class Exp(PowerTransform):
    """The function `y = exp(x)`.

    Args:
      validate_args: If true, it is an error of the run if `y` is not positive.
      name: The name scope of the operations.

    Example:
      >>> tfd = tf.contrib.distributions
      >>> log_normal = tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), tfd.bijectors.Exp())
      >>> print(tf.Session().run(log_normal.cdf(1.0)))
      0.5
    """

    def __init__(self, validate_args: bool = False, name: str = "exp") -> None:
        super().__init__(validate_args=validate_args, name=name)


class AffineScalar(Bijector):
    """The function `y = shift + scale * x`.

    Args:
      shift: A tensor of floats; None is 0.
      scale: A tensor of floats; None is 1.
      validate_args: If true, it is an error of the run if `scale` is 0.
      name: The name scope of the operations.

    Example:
      >>> line = tf.contrib.distributions.bijectors.AffineScalar(shift=1.0, scale=2.0)
      >>> print(*tf.Session().run([line.forward(3.0), line.inverse(7.0), line.shift, line.scale]))
      7.0 3.0 1.0 2.0
    """

    def __init__(self, shift: Any = None, scale: Any = None, validate_args: bool = False, name: str = "affine_scalar") -> None:
        with name_scope(name, values=[scale, shift]):
            self._shift = None if shift is None else convert_to_tensor(shift, name="shift")
            self._scale = None if scale is None else convert_to_tensor(scale, name="scale")
            if self._scale is not None and validate_args:
                zero = array_ops.zeros([], self._scale.dtype)
                self._scale = checked([check_ops.assert_none_equal(self._scale, zero)], self._scale)
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    @property
    def shift(self) -> Any:
        """The shift, or None."""
        return self._shift

    @property
    def scale(self) -> Any:
        """The scale, or None."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        y = array_ops.identity(x)
        y = y if self.scale is None else y * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = array_ops.identity(y)
        x = x if self.shift is None else x - self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return constant(0.0, dtype=x.dtype.base_dtype) if self.scale is None else op("Log")(math_ops.abs(self.scale))


class Softplus(Bijector):
    """The function `y = c * log(1 + exp(x / c))`, with `c = hinge_softness`, which is 1 by default.

    Args:
      hinge_softness: A tensor of floats that are not 0, or None.
      validate_args: If true, it is an error of the run if `hinge_softness` is 0.
      name: The name scope of the operations.

    Example:
      >>> soft = tf.contrib.distributions.bijectors.Softplus(hinge_softness=0.5)
      >>> print(*np.round(tf.Session().run([soft.forward(0.0), soft.inverse(0.5), soft.hinge_softness]), 4))
      0.3466 0.2707 0.5
    """

    def __init__(self, hinge_softness: Any = None, validate_args: bool = False, name: str = "softplus") -> None:
        with name_scope(name, values=[hinge_softness]):
            self._hinge_softness = None if hinge_softness is None else convert_to_tensor(hinge_softness, name="hinge_softness")
            if validate_args and self._hinge_softness is not None:
                words = "hinge_softness must be non-zero"
                zero = array_ops.zeros([], self._hinge_softness.dtype)
                self._hinge_softness = checked([check_ops.assert_none_equal(zero, self._hinge_softness, message=words)], self._hinge_softness)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def hinge_softness(self) -> Any:
        """The softness, or None."""
        return self._hinge_softness

    def _inner(self, x: Any) -> Any:
        return x if self.hinge_softness is None else x / math_ops.cast(self.hinge_softness, x.dtype)

    def _outer(self, y: Any) -> Any:
        return y if self.hinge_softness is None else math_ops.cast(self.hinge_softness, y.dtype) * y

    def _forward(self, x: Any) -> Any:
        return self._outer(op("Softplus")(self._inner(x)))

    def _inverse(self, y: Any) -> Any:
        return self._outer(softplus_inverse(self._inner(y)))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -op("Log")(-op("Expm1")(-self._inner(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -op("Softplus")(-self._inner(x))


class Sigmoid(Bijector):
    """The function `y = 1 / (1 + exp(-x))`.

    Args:
      validate_args: Ignored.
      name: The name scope of the operations.

    Example:
      >>> sigmoid = tf.contrib.distributions.bijectors.Sigmoid()
      >>> print(*tf.Session().run([sigmoid.forward(0.0), sigmoid.inverse(0.5)]))
      0.5 0.0
    """

    def __init__(self, validate_args: bool = False, name: str = "sigmoid") -> None:
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return math_ops.sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return op("Log")(y) - op("Log1p")(-y)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -op("Log1p")(-y) - op("Log")(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -op("Softplus")(-x) - op("Softplus")(x)


class Softsign(Bijector):
    """The function `y = x / (1 + abs(x))`.

    Args:
      validate_args: If true, it is an error of the run if `y` is not between -1 and 1.
      name: The name scope of the operations.

    Example:
      >>> softsign = tf.contrib.distributions.bijectors.Softsign()
      >>> print(*tf.Session().run([softsign.forward(1.0), softsign.inverse(-0.5)]))
      0.5 -1.0
    """

    def __init__(self, validate_args: bool = False, name: str = "softsign") -> None:
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _inside(self, y: Any) -> Any:
        if not self.validate_args:
            return y
        one = array_ops.ones([], y.dtype)
        words = "Inverse transformation input must be %s."
        return checked(
            [
                check_ops.assert_greater(y, -one, message=words % "greater than -1"),
                check_ops.assert_less(y, one, message=words % "less than 1"),
            ],
            y,
        )

    def _forward(self, x: Any) -> Any:
        return x / (1.0 + math_ops.abs(x))

    def _inverse(self, y: Any) -> Any:
        y = self._inside(y)
        return y / (1.0 - math_ops.abs(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -2.0 * op("Log1p")(math_ops.abs(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -2.0 * op("Log1p")(-math_ops.abs(self._inside(y)))


class Square(Bijector):
    """The function `y = x ** 2` of numbers that are not negative.

    Args:
      validate_args: If true, a negative number is an error of the run.
      name: The name scope of the operations.

    Example:
      >>> square = tf.contrib.distributions.bijectors.Square()
      >>> print(*tf.Session().run([square.forward(3.0), square.inverse(4.0)]))
      9.0 2.0
    """

    def __init__(self, validate_args: bool = False, name: str = "square") -> None:
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _valid(self, t: Any) -> Any:
        if not self.validate_args:
            return t
        return checked([check_ops.assert_non_negative(t, message="All elements must be non-negative.")], t)

    def _forward(self, x: Any) -> Any:
        return op("Square")(self._valid(x))

    def _inverse(self, y: Any) -> Any:
        return op("Sqrt")(self._valid(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._valid(x)
        return constant(0.6931471805599453, x.dtype) + op("Log")(x)


class AbsoluteValue(Bijector):
    """The function `y = abs(x)`, whose inverse is the pair of `-y` and `y`.

    Args:
      validate_args: If true, it is an error of the run if `y` is negative.
      name: The name scope of the operations.

    Example:
      >>> absolute = tf.contrib.distributions.bijectors.AbsoluteValue()
      >>> print(*tf.Session().run(absolute.inverse(2.0)))
      -2.0 2.0
    """

    _is_injective = False

    def __init__(self, validate_args: bool = False, name: str = "absolute_value") -> None:
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    def _valid(self, y: Any) -> Any:
        return checked([check_ops.assert_non_negative(y, message="Argument y was negative")], y) if self.validate_args else y

    def _forward(self, x: Any) -> Any:
        return math_ops.abs(x)

    def _inverse(self, y: Any) -> Any:
        y = self._valid(y)
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        zero = constant(0.0, dtype=self._valid(y).dtype)
        return zero, zero


class Gumbel(Bijector):
    """The distribution function of the Gumbel distribution: `y = exp(-exp(-(x - loc) / scale))`.

    Args:
      loc: A tensor of floats.
      scale: A tensor of positive floats of the same dtype.
      validate_args: If true, it is an error of the run if `scale` is not positive, or `y` outside of [0, 1].
      name: The name scope of the operations.

    Example:
      >>> gumbel = tf.contrib.distributions.bijectors.Gumbel(loc=1.0, scale=2.0)
      >>> print(*np.round(tf.Session().run([gumbel.forward(1.0), gumbel.loc, gumbel.scale]), 4))
      0.3679 1.0 2.0
    """

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool = False, name: str = "gumbel") -> None:
        parents: List[Any] = [loc, scale]
        with name_scope(name, values=parents):
            self._loc = convert_to_tensor(loc, name="loc")
            self._scale = convert_to_tensor(scale, name="scale")
            check_ops.assert_same_float_dtype([self._loc, self._scale])
            if validate_args:
                self._scale = checked([check_ops.assert_positive(self._scale, message="Argument scale was not positive")], self._scale)
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def loc(self) -> Any:
        """The place of the density's maximum."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The scale."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        return op("Exp")(-op("Exp")(-(x - self.loc) / self.scale))

    def _valid(self, y: Any) -> Any:
        if not self.validate_args:
            return y
        below = check_ops.assert_less_equal(y, constant(1.0, y.dtype), message="Argument y was greater than 1")
        return checked([check_ops.assert_non_negative(y, message="Argument y was negative"), below], y)

    def _inverse(self, y: Any) -> Any:
        return self.loc - self.scale * op("Log")(-op("Log")(self._valid(y)))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = self._valid(y)
        return op("Log")(self.scale / (-op("Log")(y) * y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        z = (x - self.loc) / self.scale
        return -z - op("Exp")(-z) - op("Log")(self.scale)
