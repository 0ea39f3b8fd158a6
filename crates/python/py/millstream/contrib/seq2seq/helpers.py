"""Helpers of decoders: what is sampled from an output, what the next input is, and which sequences have
ended."""

from __future__ import annotations

import abc
from typing import Any, Callable, Optional, Tuple

from millstream._engine import Tensor
from millstream.framework import control_dependencies, convert_to_tensor, dtypes, name_scope, nest
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape
from millstream.nn.embedding import embedding_lookup
from millstream.ops import array_ops, control_flow, indexing_ops, math_ops, random_ops, reduction_ops
from millstream.ops.tensor_array import TensorArray
from millstream.rnn.networks import transpose_batch_time

__all__ = [
    "CustomHelper",
    "GreedyEmbeddingHelper",
    "Helper",
    "InferenceHelper",
    "SampleEmbeddingHelper",
    "ScheduledEmbeddingTrainingHelper",
    "ScheduledOutputTrainingHelper",
    "TrainingHelper",
]


def _samples(draw: Callable[[Any], Any], sample_shape: Any) -> Any:
    """Returns `draw(n)`, of shape `[n, ..]`, with the first dimension in the given shape of `n` elements."""
    with name_scope("call_sampler"):
        sample_shape = convert_to_tensor(sample_shape, dtypes.int32, "sample_shape")
        # A scalar becomes a vector.
        is_scalar = math_ops.cast(math_ops.equal(array_ops.rank(sample_shape), 0), dtypes.int32)
        vector_shape = array_ops.pad(array_ops.shape(sample_shape), [[is_scalar, 0]], constant_values=1)
        vector = array_ops.reshape(sample_shape, vector_shape)
        drawn = draw(reduction_ops.reduce_prod(vector))
        rest = array_ops.shape(drawn)[1:]
        return array_ops.reshape(drawn, array_ops.concat([vector, rest], 0))


def _bernoulli(probs: Any, dtype: Any, sample_shape: Any, seed: Optional[int]) -> Any:
    """Returns samples that are true, or 1, with probability `probs`."""
    batch_shape = array_ops.shape(probs)

    def draw(n: Any) -> Any:
        uniform = random_ops.random_uniform(array_ops.concat([[n], batch_shape], 0), seed=seed, dtype=probs.dtype)
        return math_ops.cast(op("Less")(uniform, probs), dtype)

    return _samples(draw, sample_shape)


def _categorical(logits: Any, seed: Optional[int]) -> Any:
    """Returns a sample of each row of logits: `int32` numbers of classes."""
    batch_shape, classes = array_ops.shape(logits)[:-1], array_ops.shape(logits)[-1]

    def draw(n: Any) -> Any:
        rows = logits if logits.get_shape().ndims == 2 else array_ops.reshape(logits, [-1, classes])
        drawn = array_ops.transpose(random_ops.multinomial(rows, n, seed=seed, output_dtype=dtypes.int32))
        return array_ops.reshape(drawn, array_ops.concat([[n], batch_shape], 0))

    return _samples(draw, ())


def _unstacked(x: Any) -> TensorArray:
    return TensorArray(x.dtype, size=array_ops.shape(x)[0], element_shape=x.get_shape()[1:]).unstack(x)


def _single(outputs: Any) -> Any:
    if not isinstance(outputs, Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
    return outputs


def _as_lookup(embedding: Any) -> Callable[[Any], Any]:
    return embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)


def _probability(value: Any) -> Any:
    value = convert_to_tensor(value, name="sampling_probability")
    if value.get_shape().ndims not in (0, 1):
        raise ValueError(f"sampling_probability must be either a scalar or a vector. saw shape: {value.get_shape()}")
    return value


class Helper(metaclass=abc.ABCMeta):
    """The base class of helpers, which `BasicDecoder` asks at each step.

    Example:
      >>> class Zeros(tf.contrib.seq2seq.Helper):
      ...     batch_size, sample_ids_shape, sample_ids_dtype = 2, tf.TensorShape([]), tf.int32
      ...     def initialize(self, name=None):
      ...         return tf.constant([False, False]), tf.zeros([2, 3])
      ...     def sample(self, time, outputs, state, name=None):
      ...         return tf.argmax(outputs, axis=1, output_type=tf.int32)
      ...     def next_inputs(self, time, outputs, state, sample_ids, name=None):
      ...         return tf.fill([2], time >= 2), tf.zeros([2, 3]), state
      >>> cell = tf.nn.rnn_cell.GRUCell(4)
      >>> decoder = tf.contrib.seq2seq.BasicDecoder(cell, Zeros(), cell.zero_state(2, tf.float32))
      >>> _, _, lengths = tf.contrib.seq2seq.dynamic_decode(decoder)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(lengths))
      [3 3]
      >>> helper = Zeros()
      >>> helper.batch_size, helper.sample_ids_shape, helper.sample_ids_dtype
      (2, TensorShape([]), tf.int32)
    """

    @property
    @abc.abstractmethod
    def batch_size(self) -> Any:
        """The number of sequences: an `int32` scalar tensor.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError("batch_size has not been implemented")

    @property
    @abc.abstractmethod
    def sample_ids_shape(self) -> Any:
        """The shape of the sample of one sequence: a `TensorShape`.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError("sample_ids_shape has not been implemented")

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError("sample_ids_dtype has not been implemented")

    @abc.abstractmethod
    def initialize(self, name: Optional[str] = None) -> Tuple[Any, Any]:
        """Returns the values at the start: `(finished, first_inputs)`."""

    @abc.abstractmethod
    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        """Returns samples of the outputs: one for each sequence."""

    @abc.abstractmethod
    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> Tuple[Any, Any, Any]:
        """Returns the values for the next step: `(finished, next_inputs, next_state)`."""


class CustomHelper(Helper):
    """A helper made of three functions.

    Args:
      initialize_fn: A function without arguments that returns `(finished, first_inputs)`.
      sample_fn: A function of `time`, `outputs` and `state`, given by name, that returns samples.
      next_inputs_fn: A function of `time`, `outputs`, `state` and `sample_ids`, given by name, that returns
        `(finished, next_inputs, next_state)`.
      sample_ids_shape: The shape of the sample of one sequence; by default `[]`.
      sample_ids_dtype: The dtype of samples; by default `tf.int32`.

    Example:
      >>> helper = tf.contrib.seq2seq.CustomHelper(
      ...     initialize_fn=lambda: (tf.constant([False, False]), tf.zeros([2, 3])),
      ...     sample_fn=lambda time, outputs, state: tf.argmax(outputs, axis=1, output_type=tf.int32),
      ...     next_inputs_fn=lambda time, outputs, state, sample_ids: (tf.fill([2], time >= 2), outputs, state))
      >>> finished, inputs = helper.initialize()
      >>> ids = helper.sample(0, tf.constant([[1.0, 2.0, 0.0], [4.0, 1.0, 2.0]]), ())
      >>> print(*tf.Session().run([ids, helper.batch_size]), helper.sample_ids_shape)
      [1 0] 2 ()
      >>> finished, inputs, state = helper.next_inputs(0, tf.zeros([2, 3]), (), ids)
      >>> helper.sample_ids_dtype
      tf.int32
    """

    def __init__(
        self,
        initialize_fn: Callable[[], Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._initialize_fn, self._sample_fn, self._next_inputs_fn = initialize_fn, sample_fn, next_inputs_fn
        self._batch_size: Any = None
        self._sample_ids_shape = TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or dtypes.int32

    @property
    def batch_size(self) -> Any:
        """The number of sequences: that of `finished`, which `initialize` returned.

        Raises:
          ValueError: `initialize` has not been called.
        """
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of the sample of one sequence."""
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self._sample_ids_dtype

    def initialize(self, name: Optional[str] = None) -> Tuple[Any, Any]:
        """Returns `initialize_fn()`."""
        with name_scope(name, f"{type(self).__name__}Initialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = array_ops.size(finished)
        return finished, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        """Returns `sample_fn(..)`."""
        with name_scope(name, f"{type(self).__name__}Sample", (time, outputs, state)):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> Tuple[Any, Any, Any]:
        """Returns `next_inputs_fn(..)`."""
        with name_scope(name, f"{type(self).__name__}NextInputs", (time, outputs, sample_ids, state)):
            return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class _OneClass(Helper):
    """A helper whose samples are numbers of classes."""

    _batch_size: Any = None

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of the sample of one sequence: a scalar."""
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples: `tf.int32`."""
        return dtypes.int32


class TrainingHelper(_OneClass):
    """A helper for training: the inputs are given, and the samples are the most probable classes.

    Args:
      inputs: A tensor of shape `[batch, time, ..]`, or a structure of such tensors.
      sequence_length: An `int32` vector: the lengths of the sequences.
      time_major: If true, inputs have shape `[time, batch, ..]`.
      name: The name scope of the new operations.

    Raises:
      ValueError: `sequence_length` is not a vector.

    Example:
      >>> helper = tf.contrib.seq2seq.TrainingHelper(tf.ones([2, 5, 3]), sequence_length=[5, 1])
      >>> finished, inputs = helper.initialize()
      >>> ids = helper.sample(0, tf.constant([[1.0, 2.0], [4.0, 1.0]]), ())
      >>> finished, inputs, state = helper.next_inputs(0, None, (), ids)
      >>> print(*tf.Session().run([ids, finished]))
      [1 0] [False  True]
      >>> helper.batch_size.dtype, helper.sample_ids_shape, helper.sample_ids_dtype
      (tf.int32, TensorShape([]), tf.int32)
      >>> helper.inputs.shape, helper.sequence_length.shape
      (TensorShape([Dimension(2), Dimension(5), Dimension(3)]), TensorShape([Dimension(2)]))
    """

    def __init__(self, inputs: Any, sequence_length: Any, time_major: bool = False, name: Optional[str] = None) -> None:
        with name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            inputs = convert_to_tensor(inputs, name="inputs") if not nest.is_sequence(inputs) else inputs
            self._inputs = inputs
            if not time_major:
                inputs = nest.map_structure(transpose_batch_time, inputs)
            self._input_tas = nest.map_structure(_unstacked, inputs)
            self._sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.get_shape().ndims != 1:
                raise ValueError(
                    f"Expected sequence_length to be a vector, but received shape: {self._sequence_length.get_shape()}"
                )
            self._zero_inputs = nest.map_structure(lambda x: array_ops.zeros_like(x[0, :]), inputs)
            self._batch_size = array_ops.size(sequence_length)

    @property
    def inputs(self) -> Any:
        """The inputs, as given."""
        return self._inputs

    @property
    def sequence_length(self) -> Any:
        """The lengths of the sequences."""
        return self._sequence_length

    def initialize(self, name: Optional[str] = None) -> Tuple[Any, Any]:
        """Returns the values at the start: the first inputs."""
        with name_scope(name, "TrainingHelperInitialize"):
            finished = math_ops.equal(0, self._sequence_length)
            return finished, self._read(reduction_ops.reduce_all(finished), 0)

    def _read(self, all_finished: Any, time: Any) -> Any:
        """Returns the inputs of a step, and zeros if there are none."""
        return control_flow.cond(
            all_finished,
            lambda: self._zero_inputs,
            lambda: nest.map_structure(lambda array: array.read(time), self._input_tas),
        )

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        """Returns the most probable classes."""
        with name_scope(name, "TrainingHelperSample", [time, outputs]):
            return math_ops.cast(reduction_ops.argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> Tuple[Any, Any, Any]:
        """Returns the values for the next step: the next inputs."""
        with name_scope(name, "TrainingHelperNextInputs", [time, outputs, state]):
            following = time + 1
            finished = following >= self._sequence_length
            return finished, self._read(reduction_ops.reduce_all(finished), following), state


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """A `TrainingHelper` that replaces inputs at random by embeddings of samples: scheduled sampling.

    Samples are -1 where the given input is kept.

    Args:
      inputs: A tensor of shape `[batch, time, ..]`.
      sequence_length: An `int32` vector: the lengths of the sequences.
      embedding: A function of ids, or a tensor of embeddings.
      sampling_probability: A scalar, or a vector with an element for each sequence: the probability that the
        next input is a sample.
      time_major: If true, inputs have shape `[time, batch, ..]`.
      seed: The seed of the samples; see `tf.set_random_seed`.
      scheduling_seed: The seed of the choice between samples and inputs.
      name: The name scope of the new operations.

    Raises:
      ValueError: `sampling_probability` is neither a scalar nor a vector.

    Example:
      >>> helper = tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper(tf.ones([2, 5, 3]), [5, 1],
      ...     embedding=tf.ones([7, 3]), sampling_probability=0.0)
      >>> ids = helper.sample(0, tf.ones([2, 7]), ())
      >>> print(tf.Session().run(ids))
      [-1 -1]
      >>> finished, inputs = helper.initialize()
      >>> finished, inputs, state = helper.next_inputs(0, tf.ones([2, 7]), (), ids)
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: Optional[int] = None,
        scheduling_seed: Optional[int] = None,
        name: Optional[str] = None,
    ) -> None:
        with name_scope(name, "ScheduledEmbeddingSamplingWrapper", [embedding, sampling_probability]):
            self._embedding_fn = _as_lookup(embedding)
            self._sampling_probability = _probability(sampling_probability)
            self._seed, self._scheduling_seed = seed, scheduling_seed
            super().__init__(inputs=inputs, sequence_length=sequence_length, time_major=time_major, name=name)

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        """Returns samples, and -1 where the given input is kept."""
        with name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs, state]):
            # After the outputs: draws of parallel iterations would come in any order.
            with control_dependencies(nest.flatten(outputs)):
                chosen = _bernoulli(self._sampling_probability, dtypes.bool, self.batch_size, self._scheduling_seed)
            drawn = _categorical(outputs, self._seed)
            return array_ops.where(chosen, drawn, array_ops.fill([self.batch_size], -1))

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> Tuple[Any, Any, Any]:
        """Returns the values for the next step: embeddings of samples, and the next inputs elsewhere."""
        with name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, given, state = super().next_inputs(time=time, outputs=outputs, state=state, sample_ids=sample_ids)

            def mixed() -> Any:
                sampled = math_ops.cast(array_ops.where(sample_ids > -1), dtypes.int32)
                kept = math_ops.cast(array_ops.where(sample_ids <= -1), dtypes.int32)
                ids = indexing_ops.gather_nd(sample_ids, sampled)
                rows = indexing_ops.gather_nd(given, kept)
                return _scattered(sampled, self._embedding_fn(ids), kept, rows, given)

            inputs = control_flow.cond(reduction_ops.reduce_all(finished), lambda: given, mixed)
            return finished, inputs, state


def _scattered(sampled: Any, new: Any, kept: Any, old: Any, like: Any) -> Any:
    """Returns a tensor as `like`, with the rows `new` at the indices `sampled` and `old` at `kept`."""
    shape = array_ops.shape(like)
    scatter = op("ScatterNd")
    return scatter(indices=sampled, updates=new, shape=shape) + scatter(indices=kept, updates=old, shape=shape)


class ScheduledOutputTrainingHelper(TrainingHelper):
    """A `TrainingHelper` that replaces inputs at random by outputs: scheduled sampling of continuous values.

    Samples are 1 where the next input is the output, otherwise 0.

    Args:
      inputs: A tensor of shape `[batch, time, ..]`, or a structure of such tensors.
      sequence_length: An `int32` vector: the lengths of the sequences.
      sampling_probability: A scalar, or a vector with an element for each sequence: the probability that the
        next input is the output.
      time_major: If true, inputs have shape `[time, batch, ..]`.
      seed: A seed; see `tf.set_random_seed`.
      next_inputs_fn: A function that is applied to outputs before they become inputs.
      auxiliary_inputs: A tensor as `inputs`, or a structure of them: what is appended to inputs.
      name: The name scope of the new operations.

    Raises:
      ValueError: `sampling_probability` is neither a scalar nor a vector.

    Example:
      >>> helper = tf.contrib.seq2seq.ScheduledOutputTrainingHelper(tf.ones([2, 5, 3]), [5, 1],
      ...     sampling_probability=0.0)
      >>> ids = helper.sample(0, tf.ones([2, 3]), ())
      >>> print(tf.Session().run(ids))
      [0 0]
      >>> finished, inputs = helper.initialize()
      >>> finished, inputs, state = helper.next_inputs(0, tf.ones([2, 3]), (), ids)
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: Optional[int] = None,
        next_inputs_fn: Optional[Callable[[Any], Any]] = None,
        auxiliary_inputs: Any = None,
        name: Optional[str] = None,
    ) -> None:
        with name_scope(name, "ScheduledOutputTrainingHelper", [inputs, auxiliary_inputs, sampling_probability]):
            self._sampling_probability = _probability(sampling_probability)
            self._auxiliary_input_tas: Any = None
            if auxiliary_inputs is not None:
                inputs = nest.map_structure(lambda x, more: array_ops.concat((x, more), -1), inputs, auxiliary_inputs)
                if not time_major:
                    auxiliary_inputs = nest.map_structure(transpose_batch_time, auxiliary_inputs)
                self._auxiliary_input_tas = nest.map_structure(_unstacked, auxiliary_inputs)
            self._seed, self._next_inputs_fn = seed, next_inputs_fn
            super().__init__(inputs=inputs, sequence_length=sequence_length, time_major=time_major, name=name)

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        """Returns 1 where the next input is the output, otherwise 0."""
        with name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs, state]):
            with control_dependencies(nest.flatten(outputs)):
                return _bernoulli(self._sampling_probability, dtypes.int32, self.batch_size, self._seed)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> Tuple[Any, Any, Any]:
        """Returns the values for the next step: outputs where they were chosen, and the next inputs
        elsewhere."""
        with name_scope(name, "ScheduledOutputTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, given, state = super().next_inputs(time=time, outputs=outputs, state=state, sample_ids=sample_ids)
            chosen = math_ops.cast(sample_ids, dtypes.bool)

            def mixed() -> Any:
                if self._next_inputs_fn is None:
                    return array_ops.where(chosen, self._with_auxiliary(outputs, time), given)
                sampled = math_ops.cast(array_ops.where(chosen), dtypes.int32)
                kept = math_ops.cast(array_ops.where(op("LogicalNot")(chosen)), dtypes.int32)
                out = indexing_ops.gather_nd(outputs, sampled)
                rows = indexing_ops.gather_nd(given, kept)
                new = self._with_auxiliary(self._next_inputs_fn(out), time, sampled)
                return _scattered(sampled, new, kept, rows, given)

            all_finished = reduction_ops.reduce_all(finished)
            none_chosen = op("LogicalNot")(reduction_ops.reduce_any(chosen))
            inputs = control_flow.cond(op("LogicalOr")(all_finished, none_chosen), lambda: given, mixed)
            return finished, inputs, state

    def _with_auxiliary(self, outputs: Any, time: Any, rows: Any = None) -> Any:
        if self._auxiliary_input_tas is None:
            return outputs
        following = time + 1
        more = nest.map_structure(lambda array: array.read(following), self._auxiliary_input_tas)
        if rows is not None:
            more = indexing_ops.gather_nd(more, rows)
        return nest.map_structure(lambda x, y: array_ops.concat((x, y), -1), outputs, more)


class GreedyEmbeddingHelper(_OneClass):
    """A helper for inference: the next input is the embedding of the most probable class.

    Args:
      embedding: A function of ids, or a tensor of embeddings.
      start_tokens: An `int32` vector: the first ids.
      end_token: An `int32` scalar: the id that ends a sequence.

    Raises:
      ValueError: `start_tokens` is not a vector, or `end_token` is not a scalar.

    Example:
      >>> helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(tf.ones([3, 4]), start_tokens=[0, 0], end_token=1)
      >>> finished, inputs = helper.initialize()
      >>> ids = helper.sample(0, tf.constant([[0.0, 5.0, 1.0], [2.0, 0.0, 1.0]]), ())
      >>> finished, inputs, state = helper.next_inputs(0, None, (), ids)
      >>> print(*tf.Session().run([ids, finished]))
      [1 0] [ True False]
      >>> helper.batch_size.dtype, helper.sample_ids_shape, helper.sample_ids_dtype
      (tf.int32, TensorShape([]), tf.int32)
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        self._embedding_fn = _as_lookup(embedding)
        self._start_tokens = convert_to_tensor(start_tokens, dtypes.int32, "start_tokens")
        self._end_token = convert_to_tensor(end_token, dtypes.int32, "end_token")
        if self._start_tokens.get_shape().ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._batch_size = array_ops.size(self._start_tokens)
        if self._end_token.get_shape().ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name: Optional[str] = None) -> Tuple[Any, Any]:
        """Returns the values at the start: the embeddings of the first ids."""
        return op("Tile")([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        """Returns the most probable classes.

        Raises:
          TypeError: `outputs` is not a tensor.
        """
        return reduction_ops.argmax(_single(outputs), axis=-1, output_type=dtypes.int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> Tuple[Any, Any, Any]:
        """Returns the values for the next step: the embeddings of the samples."""
        finished = math_ops.equal(sample_ids, self._end_token)
        all_finished = reduction_ops.reduce_all(finished)
        inputs = control_flow.cond(all_finished, lambda: self._start_inputs, lambda: self._embedding_fn(sample_ids))
        return finished, inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """A `GreedyEmbeddingHelper` that draws classes from the distribution of which the outputs are the logits.

    Args:
      embedding: A function of ids, or a tensor of embeddings.
      start_tokens: An `int32` vector: the first ids.
      end_token: An `int32` scalar: the id that ends a sequence.
      softmax_temperature: A float, by which logits are divided. Values below 1 make probable classes more
        probable.
      seed: A seed; see `tf.set_random_seed`.

    Example:
      >>> helper = tf.contrib.seq2seq.SampleEmbeddingHelper(tf.ones([3, 4]), start_tokens=[0, 0], end_token=1)
      >>> print(tf.Session().run(helper.sample(0, tf.constant([[-99.0, 0.0, -99.0], [0.0, -99.0, -99.0]]), ())))
      [1 0]
    """

    def __init__(
        self,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        softmax_temperature: Any = None,
        seed: Optional[int] = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature, self._seed = softmax_temperature, seed

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        """Returns classes drawn at random.

        Raises:
          TypeError: `outputs` is not a tensor.
        """
        logits = _single(outputs)
        if self._softmax_temperature is not None:
            logits = logits / self._softmax_temperature
        return _categorical(logits, self._seed)


class InferenceHelper(Helper):
    """A helper for inference with functions that sample, end, and make inputs of samples.

    Args:
      sample_fn: A function of the outputs that returns samples.
      sample_shape: The shape of the sample of one sequence.
      sample_dtype: The dtype of samples.
      start_inputs: The first inputs, of shape `[batch, ..]`.
      end_fn: A function of samples that returns a boolean vector: which sequences have ended.
      next_inputs_fn: A function from samples to inputs; by default inputs are samples.

    Example:
      >>> helper = tf.contrib.seq2seq.InferenceHelper(sample_fn=lambda outputs: outputs * 2.0, sample_shape=[3],
      ...     sample_dtype=tf.float32, start_inputs=tf.ones([2, 3]), end_fn=lambda ids: ids[:, 0] > 1.0)
      >>> finished, inputs = helper.initialize()
      >>> ids = helper.sample(0, tf.ones([2, 3]), ())
      >>> finished, inputs, state = helper.next_inputs(0, None, (), ids)
      >>> print(*tf.Session().run([inputs, finished, helper.batch_size]))
      [[2. 2. 2.]
       [2. 2. 2.]] [ True  True] 2
      >>> helper.sample_ids_shape, helper.sample_ids_dtype
      (TensorShape([Dimension(3)]), tf.float32)
    """

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Optional[Callable[[Any], Any]] = None,
    ) -> None:
        self._sample_fn, self._end_fn, self._next_inputs_fn = sample_fn, end_fn, next_inputs_fn
        self._sample_shape, self._sample_dtype = TensorShape(sample_shape), sample_dtype
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")
        self._batch_size = array_ops.shape(self._start_inputs)[0]

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of the sample of one sequence."""
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self._sample_dtype

    def initialize(self, name: Optional[str] = None) -> Tuple[Any, Any]:
        """Returns the values at the start."""
        return op("Tile")([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: Optional[str] = None) -> Any:
        """Returns `sample_fn(outputs)`."""
        return self._sample_fn(outputs)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: Optional[str] = None
    ) -> Tuple[Any, Any, Any]:
        """Returns the values for the next step."""
        inputs = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), inputs, state
