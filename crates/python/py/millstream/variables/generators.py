"""`tf.random.experimental`: generators of random numbers whose state is a variable."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Union

import numpy as np

from millstream._engine import Operation, Tensor
from millstream.framework import convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.ops import array_ops
from millstream.variables.variable import Variable

__all__ = ["Generator", "create_rng_state", "get_global_generator", "set_global_generator"]

_PHILOX = 1
# The number of integers in the state of each algorithm.
_SIZES = {_PHILOX: 3, 2: 2}


def _size(alg: Any) -> int:
    if alg not in _SIZES:
        raise ValueError("Unsupported algorithm id: %s" % alg)
    return _SIZES[alg]


def _signed(value: Any) -> Any:
    """Returns the `int64` with the bits of an unsigned integer."""
    return value - 2**64 if value >= 2**63 else value


def create_rng_state(seed: Union[int, Sequence[int]], algorithm: int) -> np.ndarray:
    """Returns the state of a generator for a seed.

    Args:
      seed: An int, or a list of them. Integers that are missing are zeros in front.
      algorithm: The algorithm: 1 for Philox.

    Returns:
      A vector of `int64`: the two halves of the counter, and the key.

    Raises:
      ValueError: The algorithm does not exist, or the seed has another rank than 1.

    Example:
      >>> print(tf.random.experimental.create_rng_state([7], 1), tf.random.experimental.create_rng_state(7, 1))
      [0 0 7] [7 0 0]
    """
    size = _size(algorithm)
    if isinstance(seed, int):
        seed = [seed >> 64 * i & 2**64 - 1 for i in range(size)]
    state = np.asarray([_signed(v) for v in seed], dtype=np.int64)
    if state.ndim != 1:
        raise ValueError("seed should only have one dimension; got shape: %s" % (state.shape,))
    state = state[:size]
    return np.pad(state, [(size - len(state), 0)], mode="constant")


def _state(value: Any) -> Tensor:
    return convert_to_tensor([_signed(v) for v in value] if isinstance(value, list) else value, dtypes.int64)


def _shape(shape: Any) -> Tensor:
    empty = isinstance(shape, (tuple, list)) and not shape
    return convert_to_tensor(shape, dtypes.int64 if empty else None, name="shape")


class Generator:
    """A generator of random numbers whose state is a variable, which each draw moves on.

    Generators are made by `from_seed`, `from_state`, `from_key_counter` and `from_non_deterministic_state`.
    The variable must be initialized as others are.

    Example:
      >>> g = tf.random.experimental.Generator.from_seed(5)
      >>> x = g.uniform([2])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(x), sess.run(g.state))
      [0.567016  0.2077086] [517   0   0]
    """

    def __init__(self, copy_from: Optional["Generator"] = None, state: Any = None, alg: Optional[int] = None) -> None:
        """Makes a generator with the state and the algorithm of another one, or with given ones.

        Args:
          copy_from: A generator to copy.
          state: A vector of `int64`.
          alg: The algorithm: 1 for Philox.
        """
        if copy_from is not None:
            assert state is None and alg is None
            self._state_var: Any = Variable(copy_from.state, dtype=dtypes.int64, trainable=False, use_resource=True)
            self._alg_var: Any = copy_from.algorithm
            return
        assert alg is not None and state is not None
        state = _state(state)
        state.get_shape().assert_is_compatible_with([_size(alg)])
        self._state_var = Variable(state, dtype=dtypes.int64, trainable=False, use_resource=True)
        self._alg_var = alg

    @classmethod
    def from_state(cls, state: Any, alg: int) -> "Generator":
        """Returns a generator with a state, a vector of `int64`."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Optional[int] = None) -> "Generator":
        """Returns the generator for a seed, as `create_rng_state` takes it; by default of Philox."""
        alg = _PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Optional[int] = None) -> "Generator":
        """Returns a generator that begins at a random state."""
        alg = _PHILOX if alg is None else alg
        return cls(state=op("NonDeterministicInts")(shape=[_size(alg)], dtype=dtypes.int64), alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: int) -> "Generator":
        """Returns a generator with a key, an integer, and a counter, a list of two for Philox."""
        return cls(state=_keyed(key, counter, alg), alg=alg)

    def reset(self, state: Any) -> None:
        """Adds a node that sets the state. It runs where something depends on it."""
        state = _state(state)
        state.get_shape().assert_is_compatible_with([_size(self.algorithm)])
        self._state_var.assign(state)

    def reset_from_seed(self, seed: Any) -> None:
        """Adds a node that sets the state to that for a seed."""
        self._state_var.assign(create_rng_state(seed, self.algorithm))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Adds a node that sets the key and the counter."""
        self._state_var.assign(_keyed(key, counter, self.algorithm))

    @property
    def state(self) -> Any:
        """The variable: the counter, lower half first, and the key."""
        return self._state_var

    @property
    def algorithm(self) -> Any:
        """The number of the algorithm."""
        return self._alg_var

    @property
    def key(self) -> Tensor:
        """The key, the last entry of the state."""
        _size(self.algorithm)
        return self._state_var[-1]

    def skip(self, delta: Any) -> Operation:
        """Moves the generator on, as if `delta` numbers were drawn.

        TensorFlow 1.15 returns nothing, so that a graph cannot run the node by it.
        """
        return op("RngSkip")(self._state_var.handle, self.algorithm, delta)

    def _draw(self, kind: str, shape: Tensor, dtype: Any, name: Optional[str] = None) -> Tensor:
        return op(kind)(self._state_var.handle, self.algorithm, shape, dtype=dtype, name=name)

    def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: Optional[str] = None) -> Tensor:
        """Returns normally distributed floats with this mean and standard deviation."""
        with name_scope(name, "stateful_normal", [shape, mean, stddev]) as name:
            shape = _shape(shape)
            mean = convert_to_tensor(mean, dtype, name="mean")
            stddev = convert_to_tensor(stddev, dtype, name="stddev")
            return op("Add")(self._draw("StatefulStandardNormalV2", shape, dtype) * stddev, mean, name=name)

    def truncated_normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: Optional[str] = None) -> Tensor:
        """Returns normally distributed floats within two standard deviations of the mean."""
        with name_scope(name, "truncated_normal", [shape, mean, stddev]) as name:
            shape = _shape(shape)
            mean = convert_to_tensor(mean, dtype, name="mean")
            stddev = convert_to_tensor(stddev, dtype, name="stddev")
            return op("Add")(self._draw("StatefulTruncatedNormal", shape, dtype) * stddev, mean, name=name)

    def uniform(self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, name: Optional[str] = None) -> Tensor:
        """Returns numbers from `minval` (inclusive) to `maxval` (exclusive; by default 1 for floats).

        Raises:
          ValueError: The dtype is one of integers, and there is no `maxval`.
        """
        dtype = dtypes.as_dtype(dtype)
        if maxval is None:
            if dtype.is_integer:
                raise ValueError("Must specify maxval for integer dtype %r" % dtype)
            maxval = 1
        with name_scope(name, "stateful_uniform", [shape, minval, maxval]) as name:
            shape = _shape(shape)
            minval = convert_to_tensor(minval, dtype, name="min")
            maxval = convert_to_tensor(maxval, dtype, name="max")
            if dtype.is_integer:
                return op("StatefulUniformInt")(self._state_var.handle, self.algorithm, shape, minval, maxval, name=name)
            return op("Add")(self._draw("StatefulUniform", shape, dtype) * (maxval - minval), minval, name=name)

    def uniform_full_int(self, shape: Any, dtype: Any = dtypes.uint64, name: Optional[str] = None) -> Tensor:
        """Returns integers that are uniform over all values of `dtype`."""
        dtype = dtypes.as_dtype(dtype)
        with name_scope(name, "stateful_uniform_full_int", [shape]) as name:
            return self._draw("StatefulUniformFullInt", _shape(shape), dtype, name)

    def make_seeds(self, count: int = 1) -> Tensor:
        """Returns seeds for stateless random functions: a tensor `[2, count]` of `int64`."""
        _size(self.algorithm)
        keys = self.uniform_full_int([count], dtypes.int64)
        return array_ops.stack([keys, array_ops.zeros_like(keys)])

    def split(self, count: int = 1) -> List["Generator"]:
        """Raises an error, as in a graph of TensorFlow: the keys of new generators are known in a run only.

        Raises:
          RuntimeError: Always.
        """
        raise RuntimeError("a graph cannot make generators from drawn keys: call `make_seeds`, or `Generator.from_seed` with seeds of your own")


def _keyed(key: Any, counter: Any, alg: Any) -> Tensor:
    counter, key = _state(counter), _state(key)
    counter.get_shape().assert_is_compatible_with([_size(alg) - 1])
    key.get_shape().assert_is_compatible_with([])
    return array_ops.concat([counter, array_ops.reshape(key, [1])], 0)


_global: Optional[Generator] = None


def get_global_generator() -> Generator:
    """Returns the generator that the program has set, or one that begins at a random state.

    Example:
      >>> tf.random.experimental.set_global_generator(tf.random.experimental.Generator.from_seed(3))
      >>> x = tf.random.experimental.get_global_generator().normal([2])
      >>> x.shape.as_list()
      [2]
    """
    global _global
    if _global is None:
        _global = Generator.from_non_deterministic_state()
    return _global


def set_global_generator(generator: Generator) -> None:
    """Sets the generator that `get_global_generator` returns.

    Args:
      generator: A generator.

    Example:
      >>> tf.random.experimental.set_global_generator(tf.random.experimental.Generator.from_seed(3))
    """
    global _global
    _global = generator
