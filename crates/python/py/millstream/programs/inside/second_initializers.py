"""`python.ops.init_ops_v2`: initializers without a dtype of their own.

With a seed, each call draws the same numbers, whatever the graph holds: they are those of the stateless ops.
"""

from __future__ import annotations

import math
from typing import Any, Dict, Optional

import numpy as np

from millstream._engine import Tensor
from millstream.framework import constant, dtypes, shapes
from millstream.ops import array_ops, random_ops
from millstream.variables import initializers as first


class Initializer:
    """The base class of these initializers: functions of a shape and a dtype."""

    def __call__(self, shape: Any, dtype: Any = None) -> Tensor:
        raise NotImplementedError

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of the initializer: a dict for `from_config`."""
        return {}

    @classmethod
    def from_config(cls, config: Dict[str, Any]) -> "Initializer":
        """Returns an initializer with these arguments; a dtype is left out."""
        return cls(**{name: value for name, value in config.items() if name != "dtype"})


def _floating(dtype: Any) -> dtypes.DType:
    found = dtypes.as_dtype(dtype)
    if not found.is_floating:
        raise ValueError("Expected floating point type, got %s." % (dtype,))
    return found


class Zeros(Initializer):
    """An initializer of zeros."""

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Tensor:
        return array_ops.zeros(shape, dtypes.as_dtype(dtype))


class Ones(Initializer):
    """An initializer of ones."""

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Tensor:
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_numpy_compatible or dtype == dtypes.string:
            raise ValueError("Expected numeric or boolean dtype, got %s." % (dtype,))
        return array_ops.ones(shape, dtype)


class Constant(Initializer):
    """An initializer of a value, or of values, one for each element."""

    def __init__(self, value: Any = 0) -> None:
        if not (isinstance(value, (list, tuple)) or hasattr(value, "shape") or isinstance(value, (bool, int, float, complex, str, bytes))):
            words = "Invalid type for initial value: %s (expected Python scalar, list or tuple of values, or numpy.ndarray)."
            raise TypeError(words % type(value))
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None) -> Tensor:
        fits = np.size(self.value) in (1, math.prod(shapes.TensorShape(shape)._known_dims()))
        return constant(self.value, None if dtype is None else dtypes.as_dtype(dtype), shape=shape, verify_shape=not fits)

    def get_config(self) -> Dict[str, Any]:
        """Returns the value."""
        return {"value": self.value}


class _Drawn(Initializer):
    """The base class of initializers of random numbers."""

    seed: Optional[int]

    def _draw(self, kind: str, shape: Any, low: Any, high: Any, dtype: Any) -> Tensor:
        if self.seed is None:
            return getattr(random_ops, kind)(shape, low, high, dtype)
        stateless = {"random_normal": "stateless_normal", "truncated_normal": "stateless_truncated_normal"}
        return getattr(random_ops, stateless.get(kind, "stateless_uniform"))(shape, [self.seed, 0], low, high, dtype)


class RandomUniform(_Drawn):
    """An initializer of uniform random numbers, floats or integers."""

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: Optional[int] = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Tensor:
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError("Expected float or integer dtype, got %s." % (dtype,))
        return self._draw("random_uniform", shape, self.minval, self.maxval, dtype)

    def get_config(self) -> Dict[str, Any]:
        """Returns the range and the seed."""
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


class RandomNormal(_Drawn):
    """An initializer of random numbers of a normal distribution."""

    _kind = "random_normal"

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: Optional[int] = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Tensor:
        return self._draw(self._kind, shape, self.mean, self.stddev, _floating(dtype))

    def get_config(self) -> Dict[str, Any]:
        """Returns the mean, the deviation and the seed."""
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


class TruncatedNormal(RandomNormal):
    """An initializer of random numbers of a normal distribution, at most two deviations from the mean."""

    _kind = "truncated_normal"


class VarianceScaling(_Drawn):
    """An initializer of random numbers scaled by the number of inputs or outputs of a unit."""

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal", seed: Optional[int] = None) -> None:
        checked = first.VarianceScaling(scale, mode, distribution, seed)
        given = checked.distribution
        self.scale, self.mode, self.distribution, self.seed = scale, mode, "truncated_normal" if given == "normal" else given, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Tensor:
        dtype = _floating(dtype)
        fan_in, fan_out = first._fans(shapes.TensorShape(shape)._known_dims())
        n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        scale = self.scale / max(1.0, n)
        if self.distribution == "truncated_normal":
            # The divisor corrects the variance for the truncation.
            return self._draw("truncated_normal", shape, 0.0, math.sqrt(scale) / 0.87962566103423978, dtype)
        if self.distribution == "untruncated_normal":
            return self._draw("random_normal", shape, 0.0, math.sqrt(scale), dtype)
        limit = math.sqrt(3.0 * scale)
        return self._draw("random_uniform", shape, -limit, limit, dtype)

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments."""
        return {"scale": self.scale, "mode": self.mode, "distribution": self.distribution, "seed": self.seed}


class GlorotUniform(VarianceScaling):
    """The Glorot uniform initializer."""

    def __init__(self, seed: Optional[int] = None) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed)

    def get_config(self) -> Dict[str, Any]:
        """Returns the seed."""
        return {"seed": self.seed}


class GlorotNormal(VarianceScaling):
    """The Glorot normal initializer."""

    def __init__(self, seed: Optional[int] = None) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)

    def get_config(self) -> Dict[str, Any]:
        """Returns the seed."""
        return {"seed": self.seed}


class Orthogonal(_Drawn):
    """An initializer of random matrices with orthonormal rows or columns."""

    def __init__(self, gain: float = 1.0, seed: Optional[int] = None) -> None:
        self.gain, self.seed = gain, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Tensor:
        dtype = _floating(dtype)
        return first.Orthogonal(self.gain, self.seed)._of(shape, lambda size: self._draw("random_normal", size, 0.0, 1.0, dtype))

    def get_config(self) -> Dict[str, Any]:
        """Returns the factor and the seed."""
        return {"gain": self.gain, "seed": self.seed}


class Identity(Initializer):
    """An initializer of identity matrices, multiplied by `gain`."""

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Tensor:
        return first.Identity(self.gain)(shape, _floating(dtype))

    def get_config(self) -> Dict[str, Any]:
        """Returns the factor."""
        return {"gain": self.gain}


def _scaled(scale: float, distribution: str) -> Any:
    def make(seed: Optional[int] = None) -> VarianceScaling:
        return VarianceScaling(scale, "fan_in", distribution, seed)

    return make


_CLASSES: Dict[str, Any] = {
    "Constant": Constant,
    "GlorotNormal": GlorotNormal,
    "GlorotUniform": GlorotUniform,
    "Identity": Identity,
    "Initializer": Initializer,
    "Ones": Ones,
    "Orthogonal": Orthogonal,
    "RandomNormal": RandomNormal,
    "RandomUniform": RandomUniform,
    "TruncatedNormal": TruncatedNormal,
    "VarianceScaling": VarianceScaling,
    "Zeros": Zeros,
}

# Other names of the classes, in small letters.
_ALSO = {
    "Constant": "constant constant_initializer",
    "GlorotNormal": "glorot_normal glorot_normal_initializer",
    "GlorotUniform": "glorot_uniform glorot_uniform_initializer",
    "Identity": "identity identity_initializer",
    "Ones": "one ones ones_initializer",
    "Orthogonal": "orthogonal orthogonal_initializer",
    "RandomNormal": "normal random_normal random_normal_initializer",
    "RandomUniform": "random_uniform random_uniform_initializer uniform",
    "TruncatedNormal": "truncated_normal truncated_normal_initializer",
    "VarianceScaling": "variance_scaling_initializer",
    "Zeros": "zero zeros zeros_initializer",
}

NAMES: Dict[str, Dict[str, Any]] = {
    "python.ops.init_ops_v2": {
        **_CLASSES,
        **{other: _CLASSES[name] for name, others in _ALSO.items() for other in others.split()},
        "he_normal": _scaled(2.0, "truncated_normal"),
        "he_uniform": _scaled(2.0, "uniform"),
        "lecun_normal": _scaled(1.0, "truncated_normal"),
        "lecun_uniform": _scaled(1.0, "uniform"),
    },
}
