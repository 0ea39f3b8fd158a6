"""Initializers of variables."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Optional, Tuple

import numpy as np

from millstream._engine import Tensor
from millstream.framework import constant, dtypes, shapes
from millstream.framework.op_functions import op
from millstream.ops import array_ops, indexing_ops, random_ops


class Initializer:
    """The base class of initializers: functions that return the initial value of a variable."""

    # Attributes that are not in the config.
    _not_given: Tuple[str, ...] = ("_verify_shape",)

    def __repr__(self) -> str:
        given = [(name, value) for name, value in self.__dict__.items() if value is not None and not name.startswith("_")]
        shown = ", ".join("%s=%.60s" % (name, getattr(value, "name", value)) for name, value in given)
        return "<%s: %s>" % (type(self).__name__, shown) if shown else "<%s>" % type(self).__name__

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        raise NotImplementedError

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of the initializer: a dict for `from_config`.

        Example:
          >>> tf.constant_initializer(3).get_config()
          {'value': 3, 'dtype': 'float32'}
        """
        given = {k: v for k, v in self.__dict__.items() if k not in self._not_given}
        return {k: v.name if isinstance(v, dtypes.DType) else v for k, v in given.items()}

    @classmethod
    def from_config(cls, config: Dict[str, Any]) -> "Initializer":
        """Returns an initializer with these arguments.

        Args:
          config: A dict, as returned by `get_config`.

        Example:
          >>> init = tf.zeros_initializer.from_config({"dtype": "int32"})
          >>> print(tf.Session().run(init([2])))
          [0 0]
        """
        return cls(**config)


class Zeros(Initializer):
    """An initializer of zeros.

    Args:
      dtype: The dtype of results, unless the call names another.

    Example:
      >>> print(tf.Session().run(tf.zeros_initializer()([2])))
      [0. 0.]
    """

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return array_ops.zeros(shape, dtype or self.dtype)


class Ones(Initializer):
    """An initializer of ones.

    Args:
      dtype: The dtype of results, unless the call names another.

    Example:
      >>> print(tf.Session().run(tf.ones_initializer()([2])))
      [1. 1.]
    """

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return array_ops.ones(shape, dtype or self.dtype)


class Constant(Initializer):
    """An initializer of given values.

    Args:
      value: A number, a list or an array. If it has fewer elements than the variable, the last is repeated.
      dtype: The dtype of results, unless the call names another.
      verify_shape: If true, the shape must be that of the values.

    Raises:
      TypeError: `value` is not a number, text, list or array.

    Example:
      >>> v = tf.get_variable("v", [2, 2], initializer=tf.constant_initializer([1, 2, 3, 4]))
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     print(sess.run(v))
      [[1. 2.]
       [3. 4.]]
    """

    def __init__(self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                "Invalid type for initial value: %s (expected Python scalar, list or tuple of values, or numpy.ndarray)." % type(value)
            )
        self.value, self.dtype, self._verify_shape = value, dtypes.as_dtype(dtype), verify_shape

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None, verify_shape: Optional[bool] = None) -> Tensor:
        verify = self._verify_shape if verify_shape is None else verify_shape
        return constant(self.value, dtype or self.dtype, shape, verify_shape=verify)


class RandomUniform(Initializer):
    """An initializer of uniformly distributed numbers.

    Args:
      minval: The lower bound (inclusive).
      maxval: The upper bound (exclusive); by default 1 for floats.
      seed: A seed; see `tf.set_random_seed`.
      dtype: The dtype of results, unless the call names another.

    Example:
      >>> x = tf.Session().run(tf.random_uniform_initializer(2, 5, seed=1, dtype=tf.int32)([1000]))
      >>> print(x.min(), x.max())
      2 4
    """

    def __init__(self, minval: Any = 0, maxval: Any = None, seed: Optional[int] = None, dtype: Any = dtypes.float32) -> None:
        self.minval, self.maxval, self.seed, self.dtype = minval, maxval, seed, dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random_ops.random_uniform(shape, self.minval, self.maxval, dtype or self.dtype, self.seed)


class RandomNormal(Initializer):
    """An initializer of normally distributed numbers.

    Args:
      mean: The mean.
      stddev: The standard deviation.
      seed: A seed; see `tf.set_random_seed`.
      dtype: The dtype of results, unless the call names another.

    Example:
      >>> x = tf.Session().run(tf.random_normal_initializer(mean=5.0, stddev=0.1, seed=1)([1000]))
      >>> print(x.shape, x.mean().round(1))
      (1000,) 5.0
    """

    def __init__(self, mean: Any = 0.0, stddev: Any = 1.0, seed: Optional[int] = None, dtype: Any = dtypes.float32) -> None:
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, assert_float_dtype(dtypes.as_dtype(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random_ops.random_normal(shape, self.mean, self.stddev, dtype or self.dtype, self.seed)


class TruncatedNormal(RandomNormal):
    """An initializer of normally distributed numbers within two standard deviations.

    Arguments are those of `random_normal_initializer`.

    Example:
      >>> x = tf.Session().run(tf.truncated_normal_initializer(stddev=0.5, seed=1)([1000]))
      >>> print(abs(x).max() <= 1.0)
      True
    """

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random_ops.truncated_normal(shape, self.mean, self.stddev, dtype or self.dtype, self.seed)


def assert_float_dtype(dtype: Any) -> Any:
    """Returns a dtype, which must be one of floats.

    Raises:
      ValueError: It is another one.
    """
    if not dtype.is_floating:
        raise ValueError("Expected floating point type, got %s." % dtype)
    return dtype


def _fans(shape: Any) -> Tuple[float, float]:
    if len(shape) < 1:
        return 1.0, 1.0
    if len(shape) == 1:
        return shape[0], shape[0]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


class VarianceScaling(Initializer):
    """An initializer of random numbers scaled by the number of inputs or outputs of a unit.

    Args:
      scale: A positive float: the factor of the variance.
      mode: The divisor of the variance: the number of inputs (`"fan_in"`), of outputs (`"fan_out"`), or the
        mean of both (`"fan_avg"`).
      distribution: `"truncated_normal"` (also `"normal"`), `"untruncated_normal"` or `"uniform"`.
      seed: A seed; see `tf.set_random_seed`.
      dtype: The dtype of results, unless the call names another.

    Raises:
      ValueError: An argument is none of these.

    Example:
      >>> x = tf.Session().run(tf.variance_scaling_initializer(mode="fan_in", distribution="uniform",
      ...     seed=1)([3, 100]))
      >>> print(abs(x).max() <= 1.0)  # sqrt(3 * scale / 3)
      True
    """

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal", seed: Optional[int] = None, dtype: Any = dtypes.float32
    ) -> None:
        if scale <= 0.0:
            raise ValueError("`scale` must be positive float.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError("Invalid `mode` argument:", mode)
        distribution = distribution.lower()
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError("Invalid `distribution` argument:", distribution)
        self.scale, self.mode, self.distribution, self.seed, self.dtype = scale, mode, distribution, seed, assert_float_dtype(dtypes.as_dtype(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dims = shapes.TensorShape(shape)._known_dims()
        fan_in, fan_out = _fans(dims)
        n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        scale, dtype = self.scale / max(1.0, n), dtype or self.dtype
        if self.distribution in ("normal", "truncated_normal"):
            # The divisor corrects the variance for the truncation.
            return random_ops.truncated_normal(shape, 0.0, math.sqrt(scale) / 0.87962566103423978, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return random_ops.random_normal(shape, 0.0, math.sqrt(scale), dtype, self.seed)
        limit = math.sqrt(3.0 * scale)
        return random_ops.random_uniform(shape, -limit, limit, dtype, self.seed)


class GlorotUniform(VarianceScaling):
    """The Glorot uniform initializer: `variance_scaling_initializer(1.0, "fan_avg", "uniform")`.

    It is the default of `get_variable`.

    Args:
      seed: A seed; see `tf.set_random_seed`.
      dtype: Ignored, as TensorFlow 1.15 does: results are float32, unless the call names another dtype.

    Example:
      >>> x = tf.Session().run(tf.glorot_uniform_initializer(seed=1)([3, 3]))
      >>> print(abs(x).max() <= 1.0)  # sqrt(6 / (3 + 3))
      True
    """

    _not_given = ("scale", "mode", "distribution")

    def __init__(self, seed: Optional[int] = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed)


class GlorotNormal(VarianceScaling):
    """The Glorot normal initializer: `variance_scaling_initializer(1.0, "fan_avg")`.

    Args:
      seed: A seed; see `tf.set_random_seed`.
      dtype: Ignored, as TensorFlow 1.15 does: results are float32, unless the call names another dtype.

    Example:
      >>> x = tf.Session().run(tf.glorot_normal_initializer(seed=1)([100, 100]))
      >>> print(x.std().round(2))  # sqrt(2 / (100 + 100))
      0.1
    """

    _not_given = ("scale", "mode", "distribution")

    def __init__(self, seed: Optional[int] = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)


class UniformUnitScaling(Initializer):
    """An initializer of uniform numbers that preserve the scale of inputs (Sussillo and Abbott).

    Args:
      factor: A factor for the numbers.
      seed: A seed; see `tf.set_random_seed`.
      dtype: The dtype of results, unless the call names another.

    Example:
      >>> x = tf.Session().run(tf.uniform_unit_scaling_initializer(seed=1)([300, 10]))
      >>> print(abs(x).max() <= 0.1)
      True
    """

    def __init__(self, factor: float = 1.0, seed: Optional[int] = None, dtype: Any = dtypes.float32) -> None:
        self.factor, self.seed, self.dtype = factor, seed, assert_float_dtype(dtypes.as_dtype(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dims = [int(d) for d in shapes.TensorShape(shape if partition_info is None else partition_info.full_shape).as_list()]
        limit = math.sqrt(3 / max(math.prod(dims[:-1]), 1.0)) * self.factor
        return random_ops.random_uniform(shape, -limit, limit, dtype or self.dtype, seed=self.seed)


class Orthogonal(Initializer):
    """An initializer of random matrices with orthonormal rows or columns, multiplied by `gain`.

    All dimensions but the last count as rows.

    Args:
      gain: A factor for the matrices.
      seed: A seed; see `tf.set_random_seed`.
      dtype: The dtype of results, unless the call names another.

    Example:
      >>> q = tf.orthogonal_initializer(seed=1)([3, 3])
      >>> print(tf.Session().run(tf.round(tf.matmul(q, q, transpose_b=True) + 0.1)))
      [[1. 0. 0.]
       [0. 1. 0.]
       [0. 0. 1.]]
    """

    def __init__(self, gain: float = 1.0, seed: Optional[int] = None, dtype: Any = dtypes.float32) -> None:
        self.gain, self.seed, self.dtype = gain, seed, assert_float_dtype(dtypes.as_dtype(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        kind = dtype or self.dtype
        return self._of(shape, lambda size: random_ops.random_normal(size, dtype=kind, seed=self.seed))

    def _of(self, shape: Any, draw: Callable[[Any], Tensor]) -> Tensor:
        """Returns the matrices that normal numbers of the function `draw` give."""
        dims = [int(d) for d in shapes.TensorShape(shape).as_list()]
        if len(dims) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = math.prod(dims[:-1]), dims[-1]
        q, r = op("Qr")(draw([max(rows, columns), min(rows, columns)]), full_matrices=False)
        # The signs make the distribution uniform over all orthogonal matrices.
        q = q * op("Sign")(op("DiagPart")(r))
        if rows < columns:
            q = array_ops.matrix_transpose(q)
        return self.gain * array_ops.reshape(q, dims)


class Identity(Initializer):
    """An initializer of identity matrices, multiplied by `gain`.

    Args:
      gain: The value of the diagonal.
      dtype: The dtype of results, unless the call names another.

    Example:
      >>> print(tf.Session().run(tf.initializers.identity(2.0)([2, 2])))
      [[2. 0.]
       [0. 2.]]
    """

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32) -> None:
        self.gain, self.dtype = gain, assert_float_dtype(dtypes.as_dtype(dtype))

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dims = shapes.TensorShape(shape if partition_info is None else partition_info.full_shape).as_list()
        if len(dims) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        rows, columns = (int(d) for d in dims)
        whole = array_ops.eye(rows, columns, dtype=dtype or self.dtype)
        if partition_info is not None:
            whole = indexing_ops.slice(whole, partition_info.var_offset, shape)
        return self.gain * whole


def lecun_normal(seed: Optional[int] = None) -> Initializer:
    """The LeCun normal initializer: `variance_scaling_initializer(1.0, "fan_in")`.

    Args:
      seed: A seed; see `tf.set_random_seed`.

    Example:
      >>> tf.initializers.lecun_normal().get_config()["mode"]
      'fan_in'
    """
    return VarianceScaling(scale=1.0, mode="fan_in", distribution="truncated_normal", seed=seed)


def lecun_uniform(seed: Optional[int] = None) -> Initializer:
    """The LeCun uniform initializer: `variance_scaling_initializer(1.0, "fan_in", "uniform")`.

    Args:
      seed: A seed; see `tf.set_random_seed`.

    Example:
      >>> tf.initializers.lecun_uniform().get_config()["mode"]
      'fan_in'
    """
    return VarianceScaling(scale=1.0, mode="fan_in", distribution="uniform", seed=seed)


def he_normal(seed: Optional[int] = None) -> Initializer:
    """The He normal initializer, for rectified units: `variance_scaling_initializer(2.0, "fan_in")`.

    Args:
      seed: A seed; see `tf.set_random_seed`.

    Example:
      >>> tf.initializers.he_normal().get_config()["scale"]
      2.0
    """
    return VarianceScaling(scale=2.0, mode="fan_in", distribution="truncated_normal", seed=seed)


def he_uniform(seed: Optional[int] = None) -> Initializer:
    """The He uniform initializer, for rectified units: `variance_scaling_initializer(2.0, "fan_in",
    "uniform")`.

    Args:
      seed: A seed; see `tf.set_random_seed`.

    Example:
      >>> tf.initializers.he_uniform().get_config()["distribution"]
      'uniform'
    """
    return VarianceScaling(scale=2.0, mode="fan_in", distribution="uniform", seed=seed)


zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_uniform_initializer = RandomUniform
random_normal_initializer = RandomNormal
truncated_normal_initializer = TruncatedNormal
variance_scaling_initializer = VarianceScaling
glorot_uniform_initializer = GlorotUniform
glorot_normal_initializer = GlorotNormal
orthogonal_initializer = Orthogonal
uniform_unit_scaling_initializer = UniformUnitScaling
