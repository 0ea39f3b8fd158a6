"""Special functions of distributions: of the normal and the Laplace distribution, and seeds."""

from __future__ import annotations

import hashlib
import math
from typing import Any, Optional

import numpy as np

from millstream.framework import constant, convert_to_tensor, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops, math_ops
from millstream.ops.shape_ops import where_v2

# Where the logarithm of the normal's distribution function is computed in another way: below the first
# number by an asymptotic series, above the second by `log(1 - y) = -y`.
_SEGMENTS = {"float32": (-10.0, 5.0), "float64": (-20.0, 8.0)}


def salted(seed: Optional[int], salt: str) -> Optional[int]:
    """Returns a seed made of another and a text, as TensorFlow does it, so that samples are equal."""
    if seed is None:
        return None
    return int(hashlib.md5((str(seed) + salt).encode()).hexdigest()[:8], 16) & 0x7FFFFFFF


def _floating(x: Any, name: str) -> Any:
    x = convert_to_tensor(x, name=name)
    if x.dtype.base_dtype.name not in _SEGMENTS:
        raise TypeError("%s.dtype=%s is not handled: it must be float32 or float64" % (name, x.dtype))
    return x


def ndtr(x: Any, name: str = "ndtr") -> Any:
    """Returns the distribution function of the standard normal distribution."""
    with name_scope(name, values=[x]):
        return _ndtr(_floating(x, "x"))


def _ndtr(x: Any) -> Any:
    # `erf` is exact around zero and `erfc` in the tails, where `1 + erf` would lose all digits.
    half_sqrt_2 = constant(0.5 * np.sqrt(2.0), x.dtype, name="half_sqrt_2")
    w = x * half_sqrt_2
    z = math_ops.abs(w)
    tails = where_v2(w > 0.0, 2.0 - op("Erfc")(z), op("Erfc")(z))
    return 0.5 * where_v2(z < half_sqrt_2, 1.0 + op("Erf")(w), tails)


def ndtri(p: Any, name: str = "ndtri") -> Any:
    """Returns the inverse of `ndtr`."""
    with name_scope(name, values=[p]):
        p = _floating(p, "p")
        # `Ndtri` is NaN outside of the range, where TensorFlow has the infinities at its ends.
        return op("Ndtri")(op("Maximum")(op("Minimum")(p, 1.0), 0.0))


def log_ndtr(x: Any, name: str = "log_ndtr") -> Any:
    """Returns the logarithm of `ndtr`, with all digits also where `ndtr` is 0 or 1."""
    with name_scope(name, values=[x]):
        x = _floating(x, "x")
        lower, upper = (np.array(v, x.dtype.as_numpy_dtype) for v in _SEGMENTS[x.dtype.base_dtype.name])
        middle = op("Log")(_ndtr(op("Maximum")(x, lower)))
        below = _log_ndtr_below(op("Minimum")(x, lower))
        return where_v2(x > upper, -_ndtr(-x), where_v2(x > lower, middle, below))


def _log_ndtr_below(x: Any) -> Any:
    # ndtr(x) = exp(-x^2 / 2) / (-x sqrt(2 pi)) * (1 - 1/x^2 + 3/x^4 - 15/x^6 + ..)
    square = op("Square")(x)
    series = 1.0 - 1.0 / square + 3.0 / op("Square")(square) - 15.0 / (square * op("Square")(square))
    return -0.5 * square - op("Log")(-x) - 0.5 * math.log(2.0 * math.pi) + op("Log")(series)



def log_cdf_laplace(x: Any, name: str = "log_cdf_laplace") -> Any:
    """Returns the logarithm of the distribution function of the standard Laplace distribution."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        # The exponent is never positive, so that neither branch overflows.
        above = op("Log1p")(-0.5 * op("Exp")(-math_ops.abs(x)))
        return where_v2(x < 0.0, x - math.log(2.0), above)


def nan_unless(condition: Any, value: Any, shape: Any) -> Any:
    """Returns a statistic where it exists, and NaN elsewhere."""
    nan = array_ops.fill(shape, np.array(np.nan, value.dtype.as_numpy_dtype), name="nan")
    return where_v2(condition, value, nan)
