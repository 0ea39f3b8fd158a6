"""What variables hold first."""

from __future__ import annotations

import math
from typing import Any, Dict, Optional, Tuple

from millstream import array_ops, dtypes, random_ops, shapes
from millstream._engine import Tensor
from millstream._ops import op
from millstream.framework import constant


class Initializer:
    """Makes the first value of a variable of this shape and dtype."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        raise NotImplementedError

    def get_config(self) -> Dict[str, Any]:
        """The arguments it was made with."""
        return {k: v.name if isinstance(v, dtypes.DType) else v for k, v in self.__dict__.items()}

    @classmethod
    def from_config(cls, config: Dict[str, Any]) -> "Initializer":
        """An initializer of these arguments."""
        return cls(**config)


class Zeros(Initializer):
    """Zeros."""

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return array_ops.zeros(shape, dtype or self.dtype)


class Ones(Initializer):
    """Ones."""

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return array_ops.ones(shape, dtype or self.dtype)


class Constant(Initializer):
    """These values."""

    def __init__(self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False) -> None:
        self.value, self.dtype, self._verify_shape = value, dtypes.as_dtype(dtype), verify_shape

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None, verify_shape: Optional[bool] = None) -> Tensor:
        verify = self._verify_shape if verify_shape is None else verify_shape
        return constant(self.value, dtype or self.dtype, shape, verify_shape=verify)


class RandomUniform(Initializer):
    """Uniformly distributed numbers."""

    def __init__(self, minval: Any = 0, maxval: Any = None, seed: Optional[int] = None, dtype: Any = dtypes.float32) -> None:
        self.minval, self.maxval, self.seed, self.dtype = minval, maxval, seed, dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random_ops.random_uniform(shape, self.minval, self.maxval, dtype or self.dtype, self.seed)


class RandomNormal(Initializer):
    """Normally distributed numbers."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 1.0, seed: Optional[int] = None, dtype: Any = dtypes.float32) -> None:
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random_ops.random_normal(shape, self.mean, self.stddev, dtype or self.dtype, self.seed)


class TruncatedNormal(RandomNormal):
    """Normally distributed numbers within two standard deviations."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random_ops.truncated_normal(shape, self.mean, self.stddev, dtype or self.dtype, self.seed)


def _fans(shape: Any) -> Tuple[float, float]:
    if len(shape) < 1:
        return 1.0, 1.0
    if len(shape) == 1:
        return shape[0], shape[0]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


class VarianceScaling(Initializer):
    """Random numbers scaled by how many values flow in and out."""

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
        self.scale, self.mode, self.distribution, self.seed, self.dtype = scale, mode, distribution, seed, dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dims = shapes.TensorShape(shape)._known_dims()
        fan_in, fan_out = _fans(dims)
        n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        scale, dtype = self.scale / max(1.0, n), dtype or self.dtype
        if self.distribution in ("normal", "truncated_normal"):
            # So that the variance is right after what lies outside is cut off.
            return random_ops.truncated_normal(shape, 0.0, math.sqrt(scale) / 0.87962566103423978, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return random_ops.random_normal(shape, 0.0, math.sqrt(scale), dtype, self.seed)
        limit = math.sqrt(3.0 * scale)
        return random_ops.random_uniform(shape, -limit, limit, dtype, self.seed)


class GlorotUniform(VarianceScaling):
    """Uniform numbers by Glorot and Bengio."""

    def __init__(self, seed: Optional[int] = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)


class GlorotNormal(VarianceScaling):
    """Normal numbers by Glorot and Bengio."""

    def __init__(self, seed: Optional[int] = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)


class UniformUnitScaling(Initializer):
    """Uniform numbers that keep the scale of what flows in, by Sussillo and Abbott."""

    def __init__(self, factor: float = 1.0, seed: Optional[int] = None, dtype: Any = dtypes.float32) -> None:
        self.factor, self.seed, self.dtype = factor, seed, dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dims = [int(d) for d in shapes.TensorShape(shape if partition_info is None else partition_info.full_shape).as_list()]
        limit = math.sqrt(3 / max(math.prod(dims[:-1]), 1.0)) * self.factor
        return random_ops.random_uniform(shape, -limit, limit, dtype or self.dtype, seed=self.seed)


class Orthogonal(Initializer):
    """A random matrix with orthonormal rows or columns, times `gain`; all dimensions but the last count as rows."""

    def __init__(self, gain: float = 1.0, seed: Optional[int] = None, dtype: Any = dtypes.float32) -> None:
        self.gain, self.seed, self.dtype = gain, seed, dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dims = [int(d) for d in shapes.TensorShape(shape).as_list()]
        if len(dims) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = math.prod(dims[:-1]), dims[-1]
        drawn = random_ops.random_normal([max(rows, columns), min(rows, columns)], dtype=dtype or self.dtype, seed=self.seed)
        q, r = op("Qr")(drawn, full_matrices=False)
        # The signs make the distribution uniform over all orthogonal matrices.
        q = q * op("Sign")(op("DiagPart")(r))
        if rows < columns:
            q = array_ops.matrix_transpose(q)
        return self.gain * array_ops.reshape(q, dims)


class Identity(Initializer):
    """The identity matrix, times `gain`."""

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32) -> None:
        self.gain, self.dtype = gain, dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dims = shapes.TensorShape(shape if partition_info is None else partition_info.full_shape).as_list()
        if len(dims) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        rows, columns = (int(d) for d in dims)
        whole = array_ops.eye(rows, columns, dtype=dtype or self.dtype)
        if partition_info is not None:
            whole = array_ops.slice(whole, partition_info.var_offset, shape)
        return self.gain * whole


def lecun_normal(seed: Optional[int] = None) -> Initializer:
    """Normal numbers by how many values flow in, by LeCun."""
    return VarianceScaling(scale=1.0, mode="fan_in", distribution="truncated_normal", seed=seed)


def lecun_uniform(seed: Optional[int] = None) -> Initializer:
    """Uniform numbers by how many values flow in, by LeCun."""
    return VarianceScaling(scale=1.0, mode="fan_in", distribution="uniform", seed=seed)


def he_normal(seed: Optional[int] = None) -> Initializer:
    """Normal numbers for rectified units, by He et al."""
    return VarianceScaling(scale=2.0, mode="fan_in", distribution="truncated_normal", seed=seed)


def he_uniform(seed: Optional[int] = None) -> Initializer:
    """Uniform numbers for rectified units, by He et al."""
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
