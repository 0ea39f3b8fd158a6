"""Decoders over lists of inputs, with and without embedding and attention."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Tuple

from millstream.framework import convert_to_tensor, dtypes, nest
from millstream.framework.op_functions import op
from millstream.framework.shapes import dimension_value
from millstream.nn import embedding, functions, nn_ops
from millstream.ops import array_ops, math_ops, reduction_ops
from millstream.rnn.linear import linear
from millstream.variables.scopes import get_variable, get_variable_scope, variable_scope

__all__ = ["attention_decoder", "embedding_attention_decoder", "embedding_rnn_decoder", "rnn_decoder"]


def rnn_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    cell: Any,
    loop_function: Optional[Callable[[Any, int], Any]] = None,
    scope: Any = None,
) -> Tuple[List[Any], Any]:
    """Runs a cell over a list of inputs.

    Args:
      decoder_inputs: A list of tensors of shape `[batch, inputs]`.
      initial_state: The initial state.
      cell: An `RNNCell`.
      loop_function: A function from the last output and the number of the step to the input; of
        `decoder_inputs` then only the first is used. None to use all.
      scope: The variable scope, or its name.

    Returns:
      A pair: a list of outputs, and the final state.

    Example:
      >>> cell = tf.nn.rnn_cell.GRUCell(4)
      >>> outputs, state = tf.contrib.legacy_seq2seq.rnn_decoder([tf.ones([2, 3])] * 5,
      ...     cell.zero_state(2, tf.float32), cell)
      >>> len(outputs), state.shape
      (5, TensorShape([Dimension(2), Dimension(4)]))
    """
    with variable_scope(scope or "rnn_decoder"):
        state = initial_state
        outputs: List[Any] = []
        for i, x in enumerate(decoder_inputs):
            if loop_function is not None and outputs:
                with variable_scope("loop_function", reuse=True):
                    x = loop_function(outputs[-1], i)
            if i > 0:
                get_variable_scope().reuse_variables()
            output, state = cell(x, state)
            outputs.append(output)
    return outputs, state


def fed_back(table: Any, output_projection: Any = None, update_embedding: bool = True) -> Callable[[Any, int], Any]:
    """Returns a loop function: the embedding of the symbol with the largest output.

    Without `update_embedding` no gradient flows through it.
    """

    def loop_function(last: Any, i: int) -> Any:
        if output_projection is not None:
            last = nn_ops.xw_plus_b(last, output_projection[0], output_projection[1])
        found = embedding.embedding_lookup(table, reduction_ops.argmax(last, 1))
        return found if update_embedding else op("StopGradient")(found)

    return loop_function


def check_projection(output_projection: Any, num_symbols: int, dtype: Any, weights_too: bool = True) -> None:
    """Raises `ValueError` unless a pair of weights and biases, or None, projects to `num_symbols`."""
    if output_projection is None:
        return
    if weights_too:
        weights = convert_to_tensor(output_projection[0], dtype=dtype)
        weights.get_shape().assert_is_compatible_with([None, num_symbols])
    biases = convert_to_tensor(output_projection[1], dtype=dtype)
    biases.get_shape().assert_is_compatible_with([num_symbols])


def embedding_rnn_decoder(
    decoder_inputs: List[Any],
    initial_state: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Any = None,
) -> Tuple[List[Any], Any]:
    """Runs a cell over a list of symbols, which it looks up in an embedding.

    Args:
      decoder_inputs: A list of integer vectors of shape `[batch]`.
      initial_state: The initial state.
      cell: An `RNNCell`.
      num_symbols: The number of symbols.
      embedding_size: The size of a symbol's vector.
      output_projection: A pair of weights and biases that project an output to symbols, for
        `feed_previous`; None if outputs have the size `num_symbols`.
      feed_previous: If true, each step gets the symbol with the largest last output; of `decoder_inputs`
        then only the first is used.
      update_embedding_for_previous: If false, no gradient flows through symbols that were fed back.
      scope: The variable scope, or its name.

    Returns:
      A pair: a list of outputs, and the final state.

    Raises:
      ValueError: `output_projection` has other shapes.

    Example:
      >>> cell = tf.nn.rnn_cell.GRUCell(4)
      >>> outputs, _ = tf.contrib.legacy_seq2seq.embedding_rnn_decoder([tf.constant([0, 1])] * 3,
      ...     cell.zero_state(2, tf.float32), cell, 4, 5, feed_previous=True)
      >>> len(outputs), outputs[0].shape
      (3, TensorShape([Dimension(2), Dimension(4)]))
    """
    with variable_scope(scope or "embedding_rnn_decoder") as here:
        check_projection(output_projection, num_symbols, here.dtype)
        table = get_variable("embedding", [num_symbols, embedding_size])
        again = fed_back(table, output_projection, update_embedding_for_previous) if feed_previous else None
        inputs = (embedding.embedding_lookup(table, i) for i in decoder_inputs)
        return rnn_decoder(inputs, initial_state, cell, loop_function=again)


class _Attention:
    """Attention with several heads over states of shape `[batch, length, size]`."""

    def __init__(self, states: Any, num_heads: int, batch_size: Any, dtype: Any) -> None:
        known = dimension_value(states.get_shape()[1])
        self.length: Any = array_ops.shape(states)[1] if known is None else known
        self.size, self.dtype = states.get_shape().as_list()[2], dtype
        self.hidden = array_ops.reshape(states, [-1, self.length, 1, self.size])
        self.features, self.v = [], []
        for head in range(num_heads):
            kernel = get_variable(f"AttnW_{head}", [1, 1, self.size, self.size], dtype=dtype)
            # A convolution of 1 x 1 is a product.
            self.features.append(op("BatchMatMulV2")(self.hidden, kernel))
            self.v.append(get_variable(f"AttnV_{head}", [self.size], dtype=dtype))
        self.batch_size = batch_size

    def zeros(self) -> List[Any]:
        """Returns what is read before the first step."""
        shape = array_ops.stack([self.batch_size, self.size])
        found = [array_ops.zeros(shape, dtype=self.dtype) for _ in self.v]
        for x in found:
            x.set_shape([None, self.size])
        return found

    def __call__(self, query: Any) -> List[Any]:
        """Returns what each head reads for a query, a matrix or a structure of matrices."""
        if nest.is_sequence(query):
            query = array_ops.concat(nest.flatten(query), 1)
        found = []
        for head, (features, v) in enumerate(zip(self.features, self.v)):
            with variable_scope(f"Attention_{head}"):
                y = array_ops.reshape(linear(query, self.size), [-1, 1, 1, self.size])
                y = math_ops.cast(y, self.dtype)
                score = reduction_ops.reduce_sum(v * math_ops.tanh(features + y), [2, 3])
                weights = math_ops.cast(functions.softmax(math_ops.cast(score, dtype=dtypes.float32)), self.dtype)
                weights = array_ops.reshape(weights, [-1, self.length, 1, 1])
                read = reduction_ops.reduce_sum(weights * self.hidden, [1, 2])
                found.append(array_ops.reshape(read, [-1, self.size]))
        return found


def attention_decoder(
    decoder_inputs: List[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    output_size: Optional[int] = None,
    num_heads: int = 1,
    loop_function: Optional[Callable[[Any, int], Any]] = None,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> Tuple[List[Any], Any]:
    """Runs a cell with attention (Vinyals and others, 2015) over a list of inputs.

    Args:
      decoder_inputs: A list of tensors of shape `[batch, inputs]`.
      initial_state: The initial state.
      attention_states: The states that attention sees, of shape `[batch, length, size]`.
      cell: An `RNNCell`.
      output_size: The size of an output; by default that of the cell.
      num_heads: The number of attention heads.
      loop_function: As in `rnn_decoder`.
      dtype: The dtype of the outputs; by default that of the variable scope.
      scope: The variable scope, or its name.
      initial_state_attention: If true, the first step sees attention for the initial state instead of zeros.

    Returns:
      A pair: a list of outputs of shape `[batch, output_size]`, and the final state.

    Raises:
      ValueError: There are no inputs or heads, or a size is unknown.

    Example:
      >>> cell = tf.nn.rnn_cell.GRUCell(4)
      >>> outputs, _ = tf.contrib.legacy_seq2seq.attention_decoder([tf.ones([2, 3])] * 5,
      ...     cell.zero_state(2, tf.float32), tf.ones([2, 7, 6]), cell, output_size=8)
      >>> len(outputs), outputs[0].shape
      (5, TensorShape([Dimension(2), Dimension(8)]))
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if dimension_value(attention_states.get_shape()[2]) is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.get_shape()}")
    size = cell.output_size if output_size is None else output_size
    with variable_scope(scope or "attention_decoder", dtype=dtype) as here:
        batch_size = array_ops.shape(decoder_inputs[0])[0]
        attend = _Attention(attention_states, num_heads, batch_size, here.dtype)
        state = initial_state
        outputs: List[Any] = []
        read = attend.zeros()
        if initial_state_attention:
            read = attend(initial_state)
        for i, x in enumerate(decoder_inputs):
            if i > 0:
                get_variable_scope().reuse_variables()
            if loop_function is not None and outputs:
                with variable_scope("loop_function", reuse=True):
                    x = loop_function(outputs[-1], i)
            width = dimension_value(x.get_shape().with_rank(2)[1])
            if width is None:
                raise ValueError(f"Could not infer input size from input: {x.name}")
            joined = linear([math_ops.cast(e, here.dtype) for e in [x] + read], width)
            output, state = cell(joined, state)
            if i == 0 and initial_state_attention:  # Its variables are there already.
                with variable_scope(get_variable_scope(), reuse=True):
                    read = attend(state)
            else:
                read = attend(state)
            with variable_scope("AttnOutputProjection"):
                outputs.append(linear([math_ops.cast(output, here.dtype)] + read, size))
    return outputs, state


def embedding_attention_decoder(
    decoder_inputs: List[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: Optional[int] = None,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> Tuple[List[Any], Any]:
    """Runs a cell with attention over a list of symbols, which it looks up in an embedding.

    The other arguments are those of `embedding_rnn_decoder` and `attention_decoder`.

    Args:
      decoder_inputs: A list of integer vectors of shape `[batch]`.

    Returns:
      A pair: a list of outputs of shape `[batch, output_size]`, and the final state.

    Example:
      >>> cell = tf.nn.rnn_cell.GRUCell(4)
      >>> outputs, _ = tf.contrib.legacy_seq2seq.embedding_attention_decoder([tf.constant([0, 1])] * 3,
      ...     cell.zero_state(2, tf.float32), tf.ones([2, 7, 6]), cell, 8, 5, output_size=8)
      >>> len(outputs), outputs[0].shape
      (3, TensorShape([Dimension(2), Dimension(8)]))
    """
    check_projection(output_projection, num_symbols, dtype, weights_too=False)
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        table = get_variable("embedding", [num_symbols, embedding_size])
        again = fed_back(table, output_projection, update_embedding_for_previous) if feed_previous else None
        return attention_decoder(
            [embedding.embedding_lookup(table, i) for i in decoder_inputs],
            initial_state,
            attention_states,
            cell,
            output_size=cell.output_size if output_size is None else output_size,
            num_heads=num_heads,
            loop_function=again,
            initial_state_attention=initial_state_attention,
        )
