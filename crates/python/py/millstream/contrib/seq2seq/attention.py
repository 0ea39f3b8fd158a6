"""Attention mechanisms: how much each step of a memory matters to a query, and functions that they need."""

from __future__ import annotations

import math
from typing import Any, Callable, Optional, Tuple

import numpy as np

from millstream import nn
from millstream.framework import control_dependencies, convert_to_tensor, dtypes, name_scope, nest
from millstream.framework.op_functions import op
from millstream.framework.shapes import dimension_value
from millstream.layers.core import Dense, Layer
from millstream.ops import array_ops, check_ops, clip_ops, functional, math_ops, random_ops, reduction_ops
from millstream.rnn.cells import zero_state_of_size
from millstream.variables.initializers import constant_initializer, ones_initializer, zeros_initializer
from millstream.variables.scopes import get_variable, variable_scope

__all__ = [
    "AttentionMechanism",
    "BahdanauAttention",
    "BahdanauMonotonicAttention",
    "LuongAttention",
    "LuongMonotonicAttention",
    "hardmax",
    "monotonic_attention",
    "safe_cumprod",
]


class AttentionMechanism:
    """The base class of attention mechanisms.

    A subclass has `values`, `batch_size`, `initial_alignments`, `initial_state`, and a call from a query
    and a state to alignments and a state.

    Example:
      >>> attention = tf.contrib.seq2seq.LuongAttention(3, tf.ones([2, 5, 4]))
      >>> isinstance(attention, tf.contrib.seq2seq.AttentionMechanism)
      True
      >>> attention.alignments_size, attention.state_size
      (5, 5)
    """

    @property
    def alignments_size(self) -> Any:
        """The number of steps of the memory.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """The size of the state.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError


def _dimension(x: Any, axis: int) -> Any:
    """Returns a dimension: an int if it is known, else a tensor."""
    known = dimension_value(x.get_shape()[axis]) if x.get_shape().ndims is not None else None
    return array_ops.shape(x)[axis] if known is None else known


def _masked_memory(memory: Any, lengths: Any, check_inner_dims_defined: bool) -> Any:
    """Returns the memory as tensors, with zeros after the end of each sequence."""
    memory = nest.map_structure(lambda m: convert_to_tensor(m, name="memory"), memory)
    if lengths is not None:
        lengths = convert_to_tensor(lengths, name="memory_sequence_length")
    if check_inner_dims_defined:
        for m in nest.flatten(memory):
            if not m.get_shape()[2:].is_fully_defined():
                raise ValueError(
                    f"Expected memory {m.name} to have fully defined inner dims, but saw shape: {m.get_shape()}"
                )
    if lengths is None:
        return memory
    first = nest.flatten(memory)[0]
    mask = array_ops.sequence_mask(lengths, maxlen=array_ops.shape(first)[1], dtype=first.dtype)

    def masked(m: Any) -> Any:
        rank = m.get_shape().ndims
        more = array_ops.ones((array_ops.rank(m) if rank is None else rank) - 2, dtype=dtypes.int32)
        return m * array_ops.reshape(mask, array_ops.concat((array_ops.shape(mask), more), 0))

    return nest.map_structure(masked, memory)


def _masked_score(score: Any, lengths: Any, mask_value: Any) -> Any:
    """Returns a score with `mask_value` after the end of each sequence."""
    if lengths is None:
        return score
    message = "All values in memory_sequence_length must be greater than zero."
    with control_dependencies([check_ops.assert_positive(lengths, message=message)]):
        mask = array_ops.sequence_mask(lengths, maxlen=array_ops.shape(score)[1])
        return array_ops.where(mask, score, mask_value * array_ops.ones_like(score))


class _Mechanism(AttentionMechanism):
    """A mechanism with layers for the query and the memory.

    Its keys are the memory through `memory_layer`, and its values are the memory.

    Example:
      >>> attention = tf.contrib.seq2seq.LuongAttention(3, tf.ones([2, 5, 4]))
      >>> attention.keys.shape, attention.values.shape, attention.batch_size, attention.alignments_size
      (TensorShape([Dimension(2), Dimension(5), Dimension(3)]), TensorShape([Dimension(2), Dimension(5), Dimension(4)]), 2, 5)
      >>> attention.state_size, attention.memory_layer.name, attention.query_layer
      (5, 'memory_layer', None)
      >>> attention.initial_alignments(2, tf.float32).shape, attention.initial_state(2, tf.float32).shape
      (TensorShape([Dimension(2), Dimension(5)]), TensorShape([Dimension(2), Dimension(5)]))
    """

    def __init__(
        self,
        query_layer: Optional[Layer],
        memory: Any,
        probability_fn: Callable[[Any, Any], Any],
        memory_sequence_length: Any,
        memory_layer: Layer,
        score_mask_value: Any,
        custom_key_value_fn: Optional[Callable[[Any, Any], Any]] = None,
        check_inner_dims_defined: bool = True,
        name: Optional[str] = None,
    ) -> None:
        self._query_layer, self._memory_layer = query_layer, memory_layer
        self.dtype = memory_layer.dtype
        if score_mask_value is None:
            score_mask_value = dtypes.as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        self._probability_fn = lambda score, state: probability_fn(
            _masked_score(score, memory_sequence_length, score_mask_value), state
        )
        with name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self._values = _masked_memory(memory, memory_sequence_length, check_inner_dims_defined)
            self._keys = memory_layer(self._values)
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = _dimension(self._keys, 0)
            self._alignments_size = _dimension(self._keys, 1)

    @property
    def memory_layer(self) -> Any:
        """The layer that makes keys of the memory."""
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        """The layer that is applied to the query, or None."""
        return self._query_layer

    @property
    def values(self) -> Any:
        """The memory, with zeros after the end of each sequence."""
        return self._values

    @property
    def keys(self) -> Any:
        """The memory through the layer: what queries are compared with."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        """The number of sequences: an int if it is known, else a tensor."""
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        """The number of steps of the memory: an int if it is known, else a tensor."""
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        """The size of the state, which are the last alignments."""
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the alignments before the first step: zeros."""
        return zero_state_of_size(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the state before the first step: the initial alignments."""
        return self.initial_alignments(batch_size, dtype)

    def __call__(self, query: Any, state: Any) -> Tuple[Any, Any]:
        raise NotImplementedError


def _layer(units: int, name: str, dtype: Any) -> Dense:
    return Dense(units, name=name, use_bias=False, dtype=dtypes.float32 if dtype is None else dtype)


def _bahdanau_score(query: Any, keys: Any, v: Any, g: Any = None, b: Any = None) -> Any:
    """Returns `v * tanh(keys + query)`, summed; with `g` and `b`, `v` has the norm `g`, and a bias is
    added."""
    query = array_ops.expand_dims(query, 1)
    if g is not None and b is not None:
        v = g * v * op("Rsqrt")(reduction_ops.reduce_sum(op("Square")(v)))
        return reduction_ops.reduce_sum(v * math_ops.tanh(keys + query + b), [2])
    return reduction_ops.reduce_sum(v * math_ops.tanh(keys + query), [2])


def _luong_score(query: Any, keys: Any, g: Any = None) -> Any:
    """Returns the products of query and keys."""
    depth, key_units = query.get_shape()[-1], keys.get_shape()[-1]
    if depth.value is None or depth.value != key_units.value:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and keys.  "
            f"Query ({query}) has units: {depth}.  Keys ({keys}) have units: {key_units}.  "
            f"Perhaps you need to set num_units to the keys' dimension ({key_units})?"
        )
    score = math_ops.matmul(array_ops.expand_dims(query, 1), keys, transpose_b=True)
    score = array_ops.squeeze(score, [1])
    return score if g is None else g * score


class LuongAttention(_Mechanism):
    """Attention by products of query and keys (Luong and others, 2015).

    Args:
      num_units: The size of a key, which is the size of a query.
      memory: A tensor of shape `[batch, time, ..]`: what is attended to.
      memory_sequence_length: An integer vector: the lengths of the sequences in the memory.
      scale: If true, scores are multiplied by a variable.
      probability_fn: A function from scores to alignments; by default `tf.nn.softmax`.
      score_mask_value: The score after the end of a sequence; by default `-inf`.
      dtype: The dtype of the variables; by default `tf.float32`.
      custom_key_value_fn: A function from keys and values to keys and values.
      name: The name scope of the new operations.

    Raises:
      ValueError: The inner dimensions of the memory are unknown. When called: sizes of query and keys differ.

    Example:
      >>> attention = tf.contrib.seq2seq.LuongAttention(3, memory=tf.ones([2, 5, 4]), memory_sequence_length=[5, 1])
      >>> alignments, state = attention(tf.ones([2, 3]), attention.initial_state(2, tf.float32))
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(alignments).round(2))
      [[0.2 0.2 0.2 0.2 0.2]
       [1.  0.  0.  0.  0. ]]
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Optional[Callable[[Any], Any]] = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Optional[Callable[[Any, Any], Any]] = None,
        name: str = "LuongAttention",
    ) -> None:
        probability = probability_fn or nn.softmax
        super().__init__(
            query_layer=None,
            memory_layer=_layer(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=lambda score, _: probability(score),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units, self._scale, self._name = num_units, scale, name

    def __call__(self, query: Any, state: Any) -> Tuple[Any, Any]:
        with variable_scope(None, "luong_attention", [query]):
            g = get_variable("attention_g", dtype=query.dtype, initializer=ones_initializer(), shape=()) if self._scale else None
            score = _luong_score(query, self._keys, g)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class BahdanauAttention(_Mechanism):
    """Attention by a layer over query and keys (Bahdanau and others, 2015).

    Args:
      num_units: The size of a key.
      memory: A tensor of shape `[batch, time, ..]`: what is attended to.
      memory_sequence_length: An integer vector: the lengths of the sequences in the memory.
      normalize: If true, the weights of the energy are normalized (Salimans and Kingma, 2016).
      probability_fn: A function from scores to alignments; by default `tf.nn.softmax`.
      score_mask_value: The score after the end of a sequence; by default `-inf`.
      dtype: The dtype of the variables; by default `tf.float32`.
      custom_key_value_fn: A function from keys and values to keys and values.
      name: The name scope of the new operations.

    Raises:
      ValueError: The inner dimensions of the memory are unknown.

    Example:
      >>> attention = tf.contrib.seq2seq.BahdanauAttention(3, tf.ones([2, 5, 4]), normalize=True)
      >>> alignments, state = attention(tf.ones([2, 7]), attention.initial_state(2, tf.float32))
      >>> alignments.shape, attention.query_layer.name
      (TensorShape([Dimension(2), Dimension(5)]), 'query_layer')
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Optional[Callable[[Any], Any]] = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Optional[Callable[[Any, Any], Any]] = None,
        name: str = "BahdanauAttention",
    ) -> None:
        probability = probability_fn or nn.softmax
        super().__init__(
            query_layer=_layer(num_units, "query_layer", dtype),
            memory_layer=_layer(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=lambda score, _: probability(score),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units, self._normalize, self._name = num_units, normalize, name

    def __call__(self, query: Any, state: Any) -> Tuple[Any, Any]:
        with variable_scope(None, "bahdanau_attention", [query]):
            query = self._query_layer(query) if self._query_layer is not None else query
            score = _bahdanau_with_variables(query, self._keys, self._num_units, self._normalize)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def _bahdanau_with_variables(query: Any, keys: Any, units: int, normalize: bool) -> Any:
    """Returns Bahdanau's score of a query that has passed its layer. Creates or shares the variables."""
    g = b = None
    v = get_variable("attention_v", [units], dtype=query.dtype)
    if normalize:
        start = constant_initializer(math.sqrt(1.0 / units))
        g = get_variable("attention_g", dtype=query.dtype, initializer=start, shape=())
        b = get_variable("attention_b", [units], dtype=query.dtype, initializer=zeros_initializer())
    return _bahdanau_score(query, keys, v, g, b)


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns the cumulative product of numbers between 0 and 1 as the exponential of a sum of logarithms.

    Args:
      x: A tensor of floats.
      *args: The other arguments of `tf.cumsum`.
      **kwargs: The same, by name.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.contrib.seq2seq.safe_cumprod([0.5, 0.5, 1.0])))
      [0.5  0.25 0.25]
    """
    with name_scope(None, "SafeCumprod", [x]):
        x = convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        return op("Exp")(reduction_ops.cumsum(op("Log")(clip_ops.clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Any:
    """Returns the alignments of monotonic attention, which only moves forward (Raffel and others, 2017).

    Args:
      p_choose_i: A tensor of shape `[batch, time]`: the probability to stop at each step of the memory.
      previous_attention: A tensor of the same shape: the alignments of the step before.
      mode: `"recursive"` computes exactly in a loop; `"parallel"` uses cumulative products and is fast, but
        less exact for probabilities near 0 or 1; `"hard"` is for probabilities that are 0 or 1.

    Returns:
      A tensor of shape `[batch, time]`.

    Raises:
      ValueError: `mode` is another text.

    Example:
      >>> print(tf.Session().run(tf.contrib.seq2seq.monotonic_attention([[0.0, 1.0, 1.0]], [[1.0, 0.0, 0.0]],
      ...     "hard")))
      [[0. 1. 0.]]
    """
    p_choose_i = convert_to_tensor(p_choose_i, name="p_choose_i")
    previous_attention = convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        return _recursive(p_choose_i, previous_attention)
    if mode == "parallel":
        passed = safe_cumprod(1 - p_choose_i, axis=1, exclusive=True)
        # TensorFlow's bound, which avoids a division by zero.
        reached = previous_attention / clip_ops.clip_by_value(passed, 1e-10, 1.0)
        return p_choose_i * passed * reduction_ops.cumsum(reached, axis=1)
    if mode == "hard":
        after = p_choose_i * reduction_ops.cumsum(previous_attention, axis=1)
        return after * reduction_ops.cumprod(1 - after, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _recursive(p: Any, previous: Any) -> Any:
    batch = _dimension(p, 0)
    stay = array_ops.concat([array_ops.ones((batch, 1)), 1 - p[:, :-1]], 1)
    reached = functional.scan(
        lambda x, item: array_ops.reshape(item[0] * x + item[1], (batch,)),
        [array_ops.transpose(stay), array_ops.transpose(previous)],
        array_ops.zeros((batch,)),
    )
    return p * array_ops.transpose(reached)


def _monotonic(noise: float, mode: str, seed: Optional[int]) -> Callable[[Any, Any], Any]:
    """Returns the function from scores and previous alignments to monotonic alignments."""

    def probability(score: Any, previous: Any) -> Any:
        if noise > 0:
            score = score + noise * random_ops.random_normal(array_ops.shape(score), dtype=score.dtype, seed=seed)
        chosen = math_ops.cast(score > 0, score.dtype) if mode == "hard" else math_ops.sigmoid(score)
        return monotonic_attention(chosen, previous, mode)

    return probability


class _MonotonicMechanism(_Mechanism):
    """A mechanism whose alignments are at the first step of the memory before the first query."""

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the alignments before the first step: 1 at the first step of the memory."""
        return array_ops.one_hot(array_ops.zeros((batch_size,), dtype=dtypes.int32), self._alignments_size, dtype=dtype)


class BahdanauMonotonicAttention(_MonotonicMechanism):
    """Bahdanau's attention with alignments that only move forward (Raffel and others, 2017).

    Args:
      num_units: The size of a key.
      memory: A tensor of shape `[batch, time, ..]`: what is attended to.
      memory_sequence_length: An integer vector: the lengths of the sequences in the memory.
      normalize: If true, the weights of the energy are normalized.
      score_mask_value: The score after the end of a sequence; by default `-inf`.
      sigmoid_noise: The standard deviation of noise that is added to scores, which teaches to decide.
      sigmoid_noise_seed: The seed of the noise; see `tf.set_random_seed`.
      score_bias_init: The initial value of the bias of scores.
      mode: As in `tf.contrib.seq2seq.monotonic_attention`.
      dtype: The dtype of the variables; by default `tf.float32`.
      name: The name scope of the new operations.

    Raises:
      ValueError: The inner dimensions of the memory are unknown.

    Example:
      >>> attention = tf.contrib.seq2seq.BahdanauMonotonicAttention(3, tf.ones([2, 5, 4]))
      >>> state = attention.initial_state(2, tf.float32)
      >>> alignments, _ = attention(tf.ones([2, 7]), state)
      >>> print(tf.Session().run(state))
      [[1. 0. 0. 0. 0.]
       [1. 0. 0. 0. 0.]]
      >>> attention.initial_alignments(2, tf.float32).shape
      TensorShape([Dimension(2), Dimension(5)])
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: Optional[int] = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=_layer(num_units, "query_layer", dtype),
            memory_layer=_layer(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_monotonic(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._normalize, self._score_bias_init = num_units, normalize, score_bias_init
        self._name = name

    def __call__(self, query: Any, state: Any) -> Tuple[Any, Any]:
        with variable_scope(None, "bahdanau_monotonic_attention", [query]):
            query = self._query_layer(query) if self._query_layer is not None else query
            score = _bahdanau_with_variables(query, self._keys, self._num_units, self._normalize)
            score += get_variable("attention_score_bias", dtype=query.dtype, initializer=self._score_bias_init)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class LuongMonotonicAttention(_MonotonicMechanism):
    """Luong's attention with alignments that only move forward (Raffel and others, 2017).

    Args:
      num_units: The size of a key, which is the size of a query.
      memory: A tensor of shape `[batch, time, ..]`: what is attended to.
      memory_sequence_length: An integer vector: the lengths of the sequences in the memory.
      scale: If true, scores are multiplied by a variable.
      score_mask_value: The score after the end of a sequence; by default `-inf`.
      sigmoid_noise: The standard deviation of noise that is added to scores, which teaches to decide.
      sigmoid_noise_seed: The seed of the noise; see `tf.set_random_seed`.
      score_bias_init: The initial value of the bias of scores.
      mode: As in `tf.contrib.seq2seq.monotonic_attention`.
      dtype: The dtype of the variables; by default `tf.float32`.
      name: The name scope of the new operations.

    Raises:
      ValueError: The inner dimensions of the memory are unknown. When called: sizes of query and keys differ.

    Example:
      >>> attention = tf.contrib.seq2seq.LuongMonotonicAttention(3, tf.ones([2, 5, 4]), mode="hard")
      >>> alignments, _ = attention(tf.ones([2, 3]), attention.initial_state(2, tf.float32))
      >>> alignments.shape, attention.initial_alignments(2, tf.float32).shape
      (TensorShape([Dimension(2), Dimension(5)]), TensorShape([Dimension(2), Dimension(5)]))
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: Optional[int] = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=_layer(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_monotonic(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._scale, self._score_bias_init, self._name = num_units, scale, score_bias_init, name

    def __call__(self, query: Any, state: Any) -> Tuple[Any, Any]:
        with variable_scope(None, "luong_monotonic_attention", [query]):
            dtype, g = query.dtype, None
            if self._scale:
                g = get_variable("attention_g", dtype=dtype, initializer=ones_initializer(), shape=())
            score = _luong_score(query, self._keys, g)
            score += get_variable("attention_score_bias", dtype=dtype, initializer=self._score_bias_init)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def hardmax(logits: Any, name: Optional[str] = None) -> Any:
    """Returns 1 at the largest element of each row, and 0 elsewhere.

    Args:
      logits: A tensor of numbers, of rank 1 or more.
      name: The name scope of the new operations.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.contrib.seq2seq.hardmax([[0.5, 2.0, 0.0]])))
      [[0. 1. 0.]]
    """
    with name_scope(name, "Hardmax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        depth = _dimension(logits, -1)
        return array_ops.one_hot(reduction_ops.argmax(logits, -1), depth, dtype=logits.dtype)
