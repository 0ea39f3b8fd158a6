"""Random tensors. Seeds are derived from the graph's seed as in TensorFlow."""

from __future__ import annotations

from typing import Any, Optional, Tuple

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes, get_default_graph, name_scope, node_counts, shapes
from millstream.framework.op_functions import op
from millstream.ops import array_ops

_DEFAULT_GRAPH_SEED = 87654321


def get_seed(op_seed: Optional[int]) -> Tuple[Optional[int], Optional[int]]:
    """Returns the two seeds of a random operation: one from the graph and one of its own.

    Args:
      op_seed: The seed of the operation, or None.

    Returns:
      A pair of ints, or of Nones if neither the graph nor the operation has a seed.

    Example:
      >>> tf.get_seed(5), tf.get_seed(None)
      ((87654321, 5), (None, None))
    """
    graph = get_default_graph()
    seed = graph.seed
    if seed is not None:
        if op_seed is None:
            op_seed = node_counts.count(graph)
        seeds: Tuple[Optional[int], Optional[int]] = seed, op_seed
    elif op_seed is not None:
        seeds = _DEFAULT_GRAPH_SEED, op_seed
    else:
        return None, None
    first, second = (int(s) % 2147483647 for s in seeds)  # type: ignore[arg-type]
    return (0, 2147483647) if (first, second) == (0, 0) else (first, second)


def set_random_seed(seed: Optional[int]) -> None:
    """Sets the seed of the default graph.

    A random operation draws the same numbers in each session if the graph or the operation has a seed. Set it
    before operations are added.

    Args:
      seed: An int; None for no seed.

    Example:
      >>> tf.set_random_seed(1)
      >>> x = tf.random_uniform([2])
      >>> print((tf.Session().run(x) == tf.Session().run(x)).all())
      True
    """
    get_default_graph().seed = seed


def _seeds(seed: Optional[int]) -> Any:
    first, second = get_seed(seed)
    return dict(seed=first or 0, seed2=second or 0)


def _shape(shape: Any) -> Tensor:
    if isinstance(shape, (list, tuple)) and not shape:
        return convert_to_tensor(shape, dtypes.int32, "shape")
    return convert_to_tensor(shape.as_list() if isinstance(shape, shapes.TensorShape) else shape, name="shape", dtype_hint=dtypes.int32)


def random_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: Optional[int] = None, name: Optional[str] = None) -> Tensor:
    """Returns normally distributed random numbers.

    Args:
      shape: An integer vector.
      mean: A tensor that broadcasts: the mean.
      stddev: A tensor that broadcasts: the standard deviation.
      dtype: A dtype of floats.
      seed: A seed; see `tf.set_random_seed`.
      name: The name scope of the new operations.

    Returns:
      A tensor of this shape and dtype, with new values in each run.

    Example:
      >>> x = tf.Session().run(tf.random_normal([1000], mean=5.0, stddev=0.1, seed=1))
      >>> print(x.shape, x.mean().round(1))
      (1000,) 5.0
    """
    with name_scope(name, "random_normal", [shape, mean, stddev]) as name:
        shape = _shape(shape)
        mean = convert_to_tensor(mean, dtype, "mean")
        stddev = convert_to_tensor(stddev, dtype, "stddev")
        return op("Add")(op("RandomStandardNormal")(shape, dtype, **_seeds(seed)) * stddev, mean, name=name)


def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: Optional[int] = None, name: Optional[str] = None) -> Tensor:
    """Returns normally distributed random numbers within two standard deviations.

    Arguments are as in `random_normal`.

    Returns:
      A tensor of this shape and dtype, with new values in each run.

    Example:
      >>> x = tf.Session().run(tf.truncated_normal([1000], seed=1))
      >>> print(abs(x).max() <= 2.0)
      True
    """
    with name_scope(name, "truncated_normal", [shape, mean, stddev]) as name:
        shape = _shape(shape)
        mean = convert_to_tensor(mean, dtype, "mean")
        stddev = convert_to_tensor(stddev, dtype, "stddev")
        return op("Add")(op("TruncatedNormal")(shape, dtype, **_seeds(seed)) * stddev, mean, name=name)


def random_uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, seed: Optional[int] = None, name: Optional[str] = None) -> Tensor:
    """Returns uniformly distributed random numbers from `minval` (inclusive) to `maxval` (exclusive).

    Args:
      shape: An integer vector.
      minval: The lower bound (inclusive).
      maxval: The upper bound (exclusive); by default 1 for floats.
      dtype: A dtype of floats, int32 or int64.
      seed: A seed; see `tf.set_random_seed`.
      name: The name scope of the new operations.

    Returns:
      A tensor of this shape and dtype, with new values in each run.

    Raises:
      ValueError: The dtype is not supported, or is an integer and `maxval` is missing.

    Example:
      >>> x = tf.Session().run(tf.random_uniform([1000], 2, 5, dtype=tf.int32, seed=1))
      >>> print(x.min(), x.max())
      2 4
    """
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
    """Shuffles the rows of a tensor.

    Args:
      value: A tensor of rank 1 or more.
      seed: A seed; see `tf.set_random_seed`.
      name: A name for the operation.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(sorted(tf.Session().run(tf.random_shuffle([1, 2, 3])).tolist()))
      [1, 2, 3]
    """
    return op("RandomShuffle")(value, name=name, **_seeds(seed))


def multinomial(logits: Any, num_samples: Any, seed: Optional[int] = None, name: Optional[str] = None, output_dtype: Any = None) -> Tensor:
    """Draws samples from categorical distributions given as logits.

    Args:
      logits: A matrix of floats of shape `[batch, classes]`.
      num_samples: An `int32` scalar: the number of samples per row.
      seed: A seed; see `tf.set_random_seed`.
      name: A name for the operation.
      output_dtype: `tf.int64` or `tf.int32`.

    Returns:
      A matrix of class indices, of shape `[batch, num_samples]`.

    Example:
      >>> print(tf.Session().run(tf.multinomial([[0.0, -1e9]], 5)))
      [[0 0 0 0 0]]
    """
    with name_scope(name, "multinomial", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        return op("Multinomial")(logits, num_samples, output_dtype=output_dtype or dtypes.int64, **_seeds(seed))


def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: Optional[int] = None, name: Optional[str] = None) -> Tensor:
    """Draws samples from categorical distributions given as logits.

    Args:
      logits: A matrix of floats of shape `[batch, classes]`.
      num_samples: An `int32` scalar: the number of samples per row.
      dtype: `tf.int64` or `tf.int32`.
      seed: A seed; see `tf.set_random_seed`.
      name: A name for the operation.

    Returns:
      A matrix of class indices, of shape `[batch, num_samples]`.

    Example:
      >>> print(tf.Session().run(tf.random.categorical([[0.0, -1e9]], 5)))
      [[0 0 0 0 0]]
    """
    with name_scope(name, "categorical", [logits]):
        return op("Multinomial")(convert_to_tensor(logits, name="logits"), num_samples, output_dtype=dtype or dtypes.int64, **_seeds(seed))


def random_gamma(
    shape: Any, alpha: Any, beta: Any = None, dtype: Any = dtypes.float32, seed: Optional[int] = None, name: Optional[str] = None
) -> Tensor:
    """Returns random numbers of gamma distributions, `shape` of them for each pair of `alpha` and `beta`.

    Args:
      shape: An integer vector.
      alpha: A tensor of floats: the shape parameters.
      beta: A tensor that broadcasts with `alpha`: the rate parameters; by default 1.
      dtype: The dtype.
      seed: A seed; see `tf.set_random_seed`.
      name: The name scope of the new operations.

    Returns:
      A tensor of shape `shape + (alpha + beta).shape`.

    Example:
      >>> x = tf.Session().run(tf.random_gamma([1000], alpha=[1.0, 5.0], seed=1))
      >>> print(x.shape, (x >= 0).all())
      (1000, 2) True
    """
    import numpy as np

    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, dtypes.int32, "shape")
        alpha = convert_to_tensor(alpha, dtype, "alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype, "beta")
        alpha = alpha + array_ops.zeros_like(beta)
        drawn = op("RandomGamma")(shape, alpha, **_seeds(seed)) / beta
        # Never 0: programs take its logarithm or inverse.
        return op("Maximum")(np.finfo(alpha.dtype.as_numpy_dtype).tiny, drawn)


def random_poisson(lam: Any, shape: Any, dtype: Any = dtypes.float32, seed: Optional[int] = None, name: Optional[str] = None) -> Tensor:
    """Returns random numbers of Poisson distributions, `shape` of them for each mean.

    Args:
      lam: A tensor of floats: the means.
      shape: An integer vector.
      dtype: The dtype.
      seed: A seed; see `tf.set_random_seed`.
      name: The name scope of the new operations.

    Returns:
      A tensor of shape `shape + lam.shape`.

    Example:
      >>> x = tf.Session().run(tf.random_poisson([3.0], [1000], seed=1))
      >>> print(x.shape, (x >= 0).all())
      (1000, 1) True
    """
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert_to_tensor(shape, dtypes.int32, "shape")
        return op("RandomPoissonV2")(shape, lam, dtype=dtype, **_seeds(seed))


# Functions of seeds given as tensors: the same seed gives the same numbers.


def stateless_uniform(shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, name: Optional[str] = None) -> Tensor:
    """Returns uniformly distributed numbers that are determined by `seed`: the same ones in each run.

    Args:
      shape: An integer vector.
      seed: A vector of two ints.
      minval: The lower bound (inclusive).
      maxval: The upper bound (exclusive); by default 1 for floats.
      dtype: A dtype of floats, int32 or int64.
      name: A name for the operation.

    Returns:
      A tensor of this shape and dtype.

    Raises:
      ValueError: The dtype is not supported, or is an integer and `maxval` is missing.

    Example:
      >>> x = tf.random.stateless_uniform([1000], seed=[1, 2], minval=0, maxval=10, dtype=tf.int32)
      >>> print((tf.Session().run(x) == tf.Session().run(x)).all())
      True
    """
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
        return op("Add")(op("StatelessRandomUniform")(shape, seed, dtype=dtype) * (maxval - minval), minval, name=name)


def stateless_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: Optional[str] = None) -> Tensor:
    """Returns normally distributed numbers that are determined by `seed`: the same ones in each run.

    Args:
      shape: An integer vector.
      seed: A vector of two ints.
      mean: The mean.
      stddev: The standard deviation.
      dtype: A dtype of floats.
      name: A name for the operation.

    Returns:
      A tensor of this shape and dtype.

    Example:
      >>> x = tf.random.stateless_normal([1000], seed=[1, 2])
      >>> print((tf.Session().run(x) == tf.Session().run(x)).all())
      True
    """
    return _stateless("stateless_random_normal", "StatelessRandomNormal", shape, seed, mean, stddev, dtype, name)


def stateless_truncated_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: Optional[str] = None
) -> Tensor:
    """Returns normally distributed numbers within two standard deviations that are determined by `seed`.

    Arguments are those of `stateless_normal`.

    Returns:
      A tensor of this shape and dtype.

    Example:
      >>> print(abs(tf.Session().run(tf.random.stateless_truncated_normal([1000], seed=[1, 2]))).max() <= 2.0)
      True
    """
    return _stateless("stateless_truncated_normal", "StatelessTruncatedNormal", shape, seed, mean, stddev, dtype, name)


def _stateless(called: str, op_name: str, shape: Any, seed: Any, mean: Any, stddev: Any, dtype: Any, name: Optional[str]) -> Tensor:
    with name_scope(name, called, [shape, seed, mean, stddev]) as name:
        shape = _shape(shape)
        mean = convert_to_tensor(mean, dtype, "mean")
        stddev = convert_to_tensor(stddev, dtype, "stddev")
        return op("Add")(op(op_name)(shape, seed, dtype=dtype) * stddev, mean, name=name)


def stateless_multinomial(logits: Any, num_samples: Any, seed: Any, output_dtype: Any = dtypes.int64, name: Optional[str] = None) -> Tensor:
    """The former name of `stateless_categorical`, with the same arguments; `dtype` is called `output_dtype`.

    Example:
      >>> print(tf.Session().run(tf.random.stateless_multinomial([[0.0, -1e9]], 5, seed=[1, 2])))
      [[0 0 0 0 0]]
    """
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return op("StatelessMultinomial")(convert_to_tensor(logits, name="logits"), num_samples, seed, output_dtype=output_dtype)


def stateless_categorical(logits: Any, num_samples: Any, seed: Any, dtype: Any = dtypes.int64, name: Optional[str] = None) -> Tensor:
    """Draws samples from categorical distributions that are determined by `seed`: the same ones in each run.

    Args:
      logits: A matrix of floats of shape `[batch, classes]`.
      num_samples: An `int32` scalar: the number of samples per row.
      seed: A vector of two ints.
      dtype: `tf.int64` or `tf.int32`.
      name: A name for the operation.

    Returns:
      A matrix of class indices, of shape `[batch, num_samples]`.

    Example:
      >>> print(tf.Session().run(tf.random.stateless_categorical([[0.0, -1e9]], 5, seed=[1, 2])))
      [[0 0 0 0 0]]
    """
    with name_scope(name, "stateless_categorical", [logits, seed]):
        return op("StatelessMultinomial")(convert_to_tensor(logits, name="logits"), num_samples, seed, output_dtype=dtype)
