"""Internal names of TensorFlow's modules of random operations: `NAMES`, by module."""

from __future__ import annotations

from typing import Any, Dict

from millstream.framework import convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.ops import random_ops

_MOST = 2**31 - 1


def multinomial_categorical_impl(logits: Any, num_samples: Any, dtype: Any, seed: Any) -> Any:
    """Returns samples of categorical distributions."""
    logits = convert_to_tensor(logits, name="logits")
    return op("Multinomial")(logits, num_samples, output_dtype=dtypes.as_dtype(dtype or dtypes.int64), **random_ops._seeds(seed))


def stateless_multinomial_categorical_impl(logits: Any, num_samples: Any, dtype: Any, seed: Any) -> Any:
    """Returns samples of categorical distributions that are determined by `seed`."""
    logits = convert_to_tensor(logits, name="logits")
    return op("StatelessMultinomial")(logits, num_samples, seed, output_dtype=dtype)


def parameterized_truncated_normal(
    shape: Any, means: Any = 0.0, stddevs: Any = 1.0, minvals: Any = -2.0, maxvals: Any = 2.0, dtype: Any = dtypes.float32, seed: Any = None, name: Any = None
) -> Any:
    """Returns random numbers of normal distributions between bounds of their own."""
    with name_scope(name, "parameterized_truncated_normal", [shape, means, stddevs, minvals, maxvals]):
        shape = random_ops._shape(shape)
        given = (("means", means), ("stddevs", stddevs), ("minvals", minvals), ("maxvals", maxvals))
        return op("ParameterizedTruncatedNormal")(shape, *(convert_to_tensor(value, dtype, called) for called, value in given), **random_ops._seeds(seed))


def random_poisson_v2(shape: Any, lam: Any, dtype: Any = dtypes.float32, seed: Any = None, name: Any = None) -> Any:
    """Returns random numbers of Poisson distributions: `tf.random_poisson` in another order."""
    return random_ops.random_poisson(lam, shape, dtype, seed, name)


NAMES: Dict[str, Dict[str, Any]] = {
    "python.framework.random_seed": {"DEFAULT_GRAPH_SEED": random_ops._DEFAULT_GRAPH_SEED, "_MAXINT32": _MOST, "_truncate_seed": lambda seed: seed % _MOST},
    "python.ops.random_ops": {
        "multinomial_categorical_impl": multinomial_categorical_impl,
        "parameterized_truncated_normal": parameterized_truncated_normal,
        "random_poisson_v2": random_poisson_v2,
    },
    "python.ops.stateless_random_ops": {
        "stateless_multinomial_categorical_impl": stateless_multinomial_categorical_impl,
        "stateless_random_normal": random_ops.stateless_normal,
        "stateless_random_uniform": random_ops.stateless_uniform,
    },
}
