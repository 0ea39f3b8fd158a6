"""Decoding in a loop: `Decoder`, `dynamic_decode`, and `BasicDecoder`, which samples from the outputs of a
cell."""

from __future__ import annotations

import abc
from typing import Any, Callable, NamedTuple, Optional, Tuple

from millstream.contrib.seq2seq.helpers import Helper
from millstream.framework import constant, convert_to_tensor, dtypes, get_static_value, name_scope, nest
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape
from millstream.layers.core import Layer
from millstream.ops import array_ops, control_flow, reduction_ops
from millstream.ops.tensor_array import TensorArray
from millstream.rnn.cells import assert_like_rnncell, zero_state_of_size
from millstream.rnn.networks import transpose_batch_time
from millstream.variables.scopes import variable_scope

__all__ = ["BasicDecoder", "BasicDecoderOutput", "Decoder", "dynamic_decode"]


class Decoder(metaclass=abc.ABCMeta):
    """The base class of decoders: one step of the loop that `dynamic_decode` runs.

    A subclass defines `batch_size`, `output_size` and `output_dtype`, and the methods `initialize` and
    `step`.

    Example:
      >>> class Doubles(tf.contrib.seq2seq.Decoder):
      ...     batch_size, output_size, output_dtype = 2, tf.TensorShape([]), tf.int32
      ...     def initialize(self, name=None):
      ...         return tf.constant([False, False]), tf.constant([1, 3]), ()
      ...     def step(self, time, inputs, state, name=None):
      ...         return inputs, state, inputs * 2, inputs > 8
      ...     def finalize(self, outputs, final_state, sequence_lengths):
      ...         return -outputs, final_state
      >>> decoder = Doubles()
      >>> outputs, _, lengths = tf.contrib.seq2seq.dynamic_decode(decoder, impute_finished=True)
      >>> print(*tf.Session().run([outputs, lengths]), decoder.tracks_own_finished)
      [[ -1  -2  -4  -8 -16]
       [ -3  -6 -12   0   0]] [5 3] False
      >>> decoder.batch_size, decoder.output_size, decoder.output_dtype
      (2, TensorShape([]), tf.int32)
    """

    @property
    def batch_size(self) -> Any:
        """The number of sequences.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """The shape of the output of one sequence at one step: a structure of `TensorShape`s or ints.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """The dtype of the output: a structure of dtypes.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError

    @abc.abstractmethod
    def initialize(self, name: Optional[str] = None) -> Tuple[Any, Any, Any]:
        """Returns the values at the start: `(finished, first_inputs, initial_state)`.

        Args:
          name: The name scope of the new operations.

        Returns:
          A boolean vector, which says what sequences have ended, a structure of inputs, and a structure of
            states.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError

    @abc.abstractmethod
    def step(self, time: Any, inputs: Any, state: Any, name: Optional[str] = None) -> Tuple[Any, Any, Any, Any]:
        """Computes one step: `(outputs, next_state, next_inputs, finished)`.

        Args:
          time: An `int32` scalar: the number of the step.
          inputs: The inputs of this step.
          state: The state before this step.
          name: The name scope of the new operations.

        Returns:
          A structure as `output_size`, the structures of state and inputs for the next step, and a boolean
            vector of sequences that have ended.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Tuple[Any, Any]:
        """Changes the result of the loop. By default `dynamic_decode` keeps it.

        Args:
          outputs: The outputs of all steps, of shape `[time, batch, ..]`.
          final_state: The state after the last step.
          sequence_lengths: An `int32` vector.

        Returns:
          A pair: outputs and state.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether `step` returns all sequences that have ended, also earlier. By default `dynamic_decode`
        remembers them."""
        return False


def dynamic_decode(
    decoder: Decoder,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
    **kwargs: Any,
) -> Tuple[Any, Any, Any]:
    """Runs a decoder in a loop until all sequences have ended.

    Args:
      decoder: A `Decoder`.
      output_time_major: If true, outputs have shape `[time, batch, ..]`, otherwise `[batch, time, ..]`.
      impute_finished: If true, the state of a sequence that has ended stays, and its outputs are zeros.
      maximum_iterations: An `int32` scalar: the largest number of steps.
      parallel_iterations: An int: the largest number of steps that run at the same time.
      swap_memory: Accepted, but values saved for the gradient stay in memory.
      scope: The variable scope, or its name; by default `decoder`.
      **kwargs: Accepted for decoders that take more, and ignored.

    Returns:
      A triple: the outputs, the final state, and an `int32` vector of the lengths of sequences.

    Raises:
      TypeError: `decoder` is not a `Decoder`.
      ValueError: `maximum_iterations` is not a scalar.

    Example:
      >>> seq2seq, cell = tf.contrib.seq2seq, tf.nn.rnn_cell.GRUCell(4)
      >>> helper = seq2seq.TrainingHelper(tf.ones([2, 5, 3]), sequence_length=[5, 2])
      >>> decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32), tf.layers.Dense(7))
      >>> outputs, state, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=4)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     outputs, lengths = sess.run([outputs, lengths])
      ...     print(outputs.rnn_output.shape, outputs.sample_id.shape, lengths)
      (2, 4, 7) (2, 4) [4 2]
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with variable_scope(scope, "decoder"):
        if maximum_iterations is not None:
            maximum_iterations = convert_to_tensor(maximum_iterations, dtypes.int32, "maximum_iterations")
            if maximum_iterations.get_shape().ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
        finished, inputs, state = decoder.initialize()
        zeros = nest.map_structure(
            lambda size, dtype: zero_state_of_size(size, decoder.batch_size, dtype), decoder.output_size, decoder.output_dtype
        )
        if maximum_iterations is not None:
            finished = op("LogicalOr")(finished, 0 >= maximum_iterations)
        lengths = array_ops.zeros_like(finished, dtypes.int32)
        time = constant(0, dtypes.int32)
        arrays = nest.map_structure(lambda size, dtype: _array(decoder, size, dtype), decoder.output_size, decoder.output_dtype)
        _, arrays, state, _, _, lengths = control_flow.while_loop(
            lambda time, arrays, state, inputs, finished, lengths: op("LogicalNot")(reduction_ops.reduce_all(finished)),
            _body(decoder, zeros, impute_finished),
            (time, arrays, state, inputs, finished, lengths),
            parallel_iterations=parallel_iterations,
            maximum_iterations=maximum_iterations,
            swap_memory=swap_memory,
        )
        outputs = nest.map_structure(lambda array: array.stack(), arrays)
        try:
            outputs, state = decoder.finalize(outputs, state, lengths)
        except NotImplementedError:
            pass
        if not output_time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
    return outputs, state, lengths


def _array(decoder: Decoder, size: Any, dtype: Any) -> TensorArray:
    """Returns an array for the outputs of all steps; the shape of an element is known if `size` is a
    shape."""
    shape = None
    if isinstance(size, TensorShape) and size.ndims != 0:
        batch_size = get_static_value(convert_to_tensor(decoder.batch_size, name="batch_size"))
        shape = TensorShape([None if batch_size is None else int(batch_size)]).concatenate(size)
    return TensorArray(dtype, size=0, dynamic_size=True, element_shape=shape)


def _body(decoder: Decoder, zeros: Any, impute_finished: bool) -> Callable[..., Any]:
    def body(time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any) -> Any:
        outputs, next_state, next_inputs, ended = decoder.step(time, inputs, state)
        next_finished = ended if decoder.tracks_own_finished else op("LogicalOr")(ended, finished)
        going = op("LogicalNot")(finished)
        lengths = array_ops.where(going, array_ops.fill(array_ops.shape(lengths), time + 1), lengths)
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(arrays, outputs)
        nest.assert_same_structure(inputs, next_inputs)
        if impute_finished:
            emitted = nest.map_structure(lambda out, zero: array_ops.where(finished, zero, out), outputs, zeros)
            next_state = nest.map_structure(lambda new, old: _imputed(finished, new, old), next_state, state)
        else:
            emitted = outputs
        arrays = nest.map_structure(lambda array, out: array.write(time, out), arrays, emitted)
        return time + 1, arrays, next_state, next_inputs, next_finished, lengths

    return body


def _imputed(finished: Any, new: Any, old: Any) -> Any:
    """Returns the state with the rows of finished sequences kept; values that are not batches are updated."""
    if isinstance(old, TensorArray):
        return new
    new.set_shape(old.get_shape())
    return new if new.get_shape().ndims == 0 else array_ops.where(finished, old, new)


class BasicDecoderOutput(NamedTuple):
    """The output of `BasicDecoder`: that of the cell or of the layer on top, and what was sampled from it.

    Example:
      >>> tf.contrib.seq2seq.BasicDecoderOutput(rnn_output=1.0, sample_id=2).sample_id
      2
    """

    rnn_output: Any
    sample_id: Any


class BasicDecoder(Decoder):
    """A decoder that runs a cell, and samples from its outputs with a helper.

    Args:
      cell: An `RNNCell`.
      helper: A `Helper`, which samples and chooses the next inputs.
      initial_state: The initial state of the cell.
      output_layer: A `tf.layers.Layer`, applied to the outputs of the cell; None for none.

    Raises:
      TypeError: An argument has another type.

    Example:
      >>> seq2seq, cell = tf.contrib.seq2seq, tf.nn.rnn_cell.GRUCell(4)
      >>> helper = seq2seq.GreedyEmbeddingHelper(tf.ones([7, 3]), start_tokens=[0, 0], end_token=1)
      >>> decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32), tf.layers.Dense(7))
      >>> decoder.output_size.rnn_output, decoder.output_dtype.sample_id, decoder.batch_size.shape
      (TensorShape([Dimension(7)]), tf.int32, TensorShape([]))
      >>> finished, inputs, state = decoder.initialize()
      >>> outputs, state, inputs, finished = decoder.step(0, inputs, state)
      >>> outputs.sample_id.shape
      TensorShape([Dimension(2)])
    """

    def __init__(self, cell: Any, helper: Helper, initial_state: Any, output_layer: Any = None) -> None:
        assert_like_rnncell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell, self._helper, self._initial_state, self._output_layer = cell, helper, initial_state, output_layer

    @property
    def batch_size(self) -> Any:
        """The number of sequences: that of the helper."""
        return self._helper.batch_size

    def _rnn_output_size(self) -> Any:
        return output_size_of(self._cell.output_size, self._output_layer)

    @property
    def output_size(self) -> BasicDecoderOutput:
        """The shapes of an output."""
        return BasicDecoderOutput(rnn_output=self._rnn_output_size(), sample_id=self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        """The dtypes of an output: of the state, and of the helper's samples."""
        dtype = nest.flatten(self._initial_state)[0].dtype
        rnn_output = nest.map_structure(lambda _: dtype, self._rnn_output_size())
        return BasicDecoderOutput(rnn_output=rnn_output, sample_id=self._helper.sample_ids_dtype)

    def initialize(self, name: Optional[str] = None) -> Tuple[Any, Any, Any]:
        """Returns the values at the start."""
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: Optional[str] = None) -> Tuple[Any, Any, Any, Any]:
        """Computes one step."""
        with name_scope(name, "BasicDecoderStep", (time, inputs, state)):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sample_ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, inputs, state = self._helper.next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )
        return BasicDecoderOutput(outputs, sample_ids), state, inputs, finished


def output_size_of(size: Any, layer: Any) -> Any:
    """Returns the shape of the output of a cell with a layer on top, for one sequence."""
    if layer is None:
        return size
    with_batch = nest.map_structure(lambda s: TensorShape([None]).concatenate(TensorShape(s)), size)
    return nest.map_structure(lambda s: s[1:], layer.compute_output_shape(with_batch))
