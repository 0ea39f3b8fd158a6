"""Random tensors. Seeds are derived from the graph's as TensorFlow derives them."""

from __future__ import annotations

from typing import Any, Optional, Tuple

from millstream import dtypes
from millstream._engine import Tensor
from millstream._ops import op
from millstream.framework import convert_to_tensor, get_default_graph, name_scope

_DEFAULT_GRAPH_SEED = 87654321


def get_seed(op_seed: Optional[int]) -> Tuple[Optional[int], Optional[int]]:
    """The two seeds of an operation: of the graph's and its own."""
    graph = get_default_graph()
    seed = graph.seed
    if seed is not None:
        if op_seed is None:
            op_seed = len(graph)
        seeds: Tuple[Optional[int], Optional[int]] = seed, op_seed
    elif op_seed is not None:
        seeds = _DEFAULT_GRAPH_SEED, op_seed
    else:
        return None, None
    first, second = (int(s) % 2147483647 for s in seeds)  # type: ignore[arg-type]
    return (0, 2147483647) if (first, second) == (0, 0) else (first, second)


def set_random_seed(seed: int) -> None:
    """The graph-level seed of the default graph."""
    get_default_graph().seed = seed


def _seeds(seed: Optional[int]) -> Any:
    first, second = get_seed(seed)
    return dict(seed=first or 0, seed2=second or 0)


def _shape(shape: Any) -> Tensor:
    from millstream import shapes

    if isinstance(shape, (list, tuple)) and not shape:
        return convert_to_tensor(shape, dtypes.int32, "shape")
    return convert_to_tensor(shape.as_list() if isinstance(shape, shapes.TensorShape) else shape, name="shape", dtype_hint=dtypes.int32)


def random_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: Optional[int] = None, name: Optional[str] = None) -> Tensor:
    """Normally distributed numbers."""
    with name_scope(name, "random_normal", [shape, mean, stddev]) as name:
        shape = _shape(shape)
        mean = convert_to_tensor(mean, dtype, "mean")
        stddev = convert_to_tensor(stddev, dtype, "stddev")
        return op("Add")(op("RandomStandardNormal")(shape, dtype, **_seeds(seed)) * stddev, mean, name=name)


def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: Optional[int] = None, name: Optional[str] = None) -> Tensor:
    """Normally distributed numbers within two standard deviations."""
    with name_scope(name, "truncated_normal", [shape, mean, stddev]) as name:
        shape = _shape(shape)
        mean = convert_to_tensor(mean, dtype, "mean")
        stddev = convert_to_tensor(stddev, dtype, "stddev")
        return op("Add")(op("TruncatedNormal")(shape, dtype, **_seeds(seed)) * stddev, mean, name=name)


def random_uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, seed: Optional[int] = None, name: Optional[str] = None) -> Tensor:
    """Uniformly distributed numbers from `minval` to `maxval`, without it."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64):
        raise ValueError("Invalid dtype %r" % dtype)
    if maxval is None:
        if dtype.is_integer:
            raise ValueError("Must specify maxval for integer dtype %r" % dtype)
        maxval = 1
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as name:
        shape = _shape(shape)
        minval = convert_to_tensor(minval, dtype, "min")
        maxval = convert_to_tensor(maxval, dtype, "max")
        if dtype.is_integer:
            return op("RandomUniformInt")(shape, minval, maxval, name=name, **_seeds(seed))
        return op("Add")(op("RandomUniform")(shape, dtype, **_seeds(seed)) * (maxval - minval), minval, name=name)


def random_shuffle(value: Any, seed: Optional[int] = None, name: Optional[str] = None) -> Tensor:
    """The rows in random order."""
    return op("RandomShuffle")(value, name=name, **_seeds(seed))


def multinomial(logits: Any, num_samples: Any, seed: Optional[int] = None, name: Optional[str] = None, output_dtype: Any = None) -> Tensor:
    """Draws from distributions given as logits."""
    with name_scope(name, "multinomial", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        return op("Multinomial")(logits, num_samples, output_dtype=output_dtype or dtypes.int64, **_seeds(seed))


def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: Optional[int] = None, name: Optional[str] = None) -> Tensor:
    """Draws from distributions given as logits."""
    with name_scope(name, "categorical", [logits]):
        return op("Multinomial")(convert_to_tensor(logits, name="logits"), num_samples, output_dtype=dtype or dtypes.int64, **_seeds(seed))


def random_gamma(
    shape: Any, alpha: Any, beta: Any = None, dtype: Any = dtypes.float32, seed: Optional[int] = None, name: Optional[str] = None
) -> Tensor:
    """Numbers distributed by Gamma with shape `alpha` and rate `beta`, `shape` of them for each pair."""
    import numpy as np

    from millstream import array_ops

    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, dtypes.int32, "shape")
        alpha = convert_to_tensor(alpha, dtype, "alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype, "beta")
        alpha = alpha + array_ops.zeros_like(beta)
        drawn = op("RandomGamma")(shape, alpha, **_seeds(seed)) / beta
        # Never 0, whose logarithm or inverse many a program takes.
        return op("Maximum")(np.finfo(alpha.dtype.as_numpy_dtype).tiny, drawn)


def random_poisson(lam: Any, shape: Any, dtype: Any = dtypes.float32, seed: Optional[int] = None, name: Optional[str] = None) -> Tensor:
    """Numbers distributed by Poisson with mean `lam`, `shape` of them for each mean."""
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert_to_tensor(shape, dtypes.int32, "shape")
        return op("RandomPoissonV2")(shape, lam, dtype=dtype, **_seeds(seed))


# By seeds given as tensors: the same numbers each time.


def stateless_uniform(shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, name: Optional[str] = None) -> Tensor:
    """Uniformly distributed numbers from `minval` to `maxval`, without it, that follow from the two numbers of `seed`."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64):
        raise ValueError("Invalid dtype %r" % dtype)
    if maxval is None:
        if dtype.is_integer:
            raise ValueError("Must specify maxval for integer dtype %r" % dtype)
        maxval = 1
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as name:
        shape = _shape(shape)
        minval = convert_to_tensor(minval, dtype, "min")
        maxval = convert_to_tensor(maxval, dtype, "max")
        if dtype.is_integer:
            return op("StatelessRandomUniformInt")(shape, seed, minval, maxval, name=name)
        return op("AddV2")(op("StatelessRandomUniform")(shape, seed, dtype=dtype) * (maxval - minval), minval, name=name)


def stateless_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: Optional[str] = None) -> Tensor:
    """Normally distributed numbers that follow from the two numbers of `seed`."""
    return _stateless("stateless_random_normal", "StatelessRandomNormal", shape, seed, mean, stddev, dtype, name)


def stateless_truncated_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: Optional[str] = None
) -> Tensor:
    """Normally distributed numbers within two standard deviations that follow from the two numbers of `seed`."""
    return _stateless("stateless_truncated_normal", "StatelessTruncatedNormal", shape, seed, mean, stddev, dtype, name)


def _stateless(called: str, op_name: str, shape: Any, seed: Any, mean: Any, stddev: Any, dtype: Any, name: Optional[str]) -> Tensor:
    with name_scope(name, called, [shape, seed, mean, stddev]) as name:
        shape = _shape(shape)
        mean = convert_to_tensor(mean, dtype, "mean")
        stddev = convert_to_tensor(stddev, dtype, "stddev")
        return op("AddV2")(op(op_name)(shape, seed, dtype=dtype) * stddev, mean, name=name)


def stateless_multinomial(logits: Any, num_samples: Any, seed: Any, output_dtype: Any = dtypes.int64, name: Optional[str] = None) -> Tensor:
    """Draws from distributions given as logits that follow from the two numbers of `seed`."""
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return op("StatelessMultinomial")(convert_to_tensor(logits, name="logits"), num_samples, seed, output_dtype=output_dtype)


def stateless_categorical(logits: Any, num_samples: Any, seed: Any, dtype: Any = dtypes.int64, name: Optional[str] = None) -> Tensor:
    """Draws from distributions given as logits that follow from the two numbers of `seed`."""
    with name_scope(name, "stateless_categorical", [logits, seed]):
        return op("StatelessMultinomial")(convert_to_tensor(logits, name="logits"), num_samples, seed, output_dtype=dtype)
