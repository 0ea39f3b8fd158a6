"""Encoders with decoders: sequence-to-sequence models as one call."""

from __future__ import annotations

import copy
from typing import Any, Callable, Dict, List, Optional, Tuple

from millstream.contrib.legacy_seq2seq.decoders import (
    check_projection,
    embedding_attention_decoder,
    embedding_rnn_decoder,
    fed_back,
    rnn_decoder,
)
from millstream.contrib.rnn.wrappers import EmbeddingWrapper, OutputProjectionWrapper
from millstream.framework import dtypes, nest
from millstream.nn import embedding
from millstream.ops import array_ops, control_flow
from millstream.rnn.cells import RNNCell
from millstream.rnn.networks import static_rnn
from millstream.variables.scopes import get_variable, get_variable_scope, variable_scope

__all__ = [
    "basic_rnn_seq2seq",
    "embedding_attention_seq2seq",
    "embedding_rnn_seq2seq",
    "embedding_tied_rnn_seq2seq",
    "one2many_rnn_seq2seq",
    "tied_rnn_seq2seq",
]


def basic_rnn_seq2seq(
    encoder_inputs: List[Any], decoder_inputs: List[Any], cell: Any, dtype: Any = dtypes.float32, scope: Any = None
) -> Tuple[List[Any], Any]:
    """Runs a copy of a cell over the inputs, and the cell from its state over the decoder's inputs.

    Args:
      encoder_inputs: A list of tensors of shape `[batch, inputs]`.
      decoder_inputs: A list of tensors of shape `[batch, inputs]`.
      cell: An `RNNCell`.
      dtype: The dtype of the state.
      scope: The variable scope, or its name.

    Returns:
      A pair: a list of outputs, and the final state of the decoder.

    Example:
      >>> steps = [tf.ones([2, 3])] * 4
      >>> outputs, _ = tf.contrib.legacy_seq2seq.basic_rnn_seq2seq(steps, steps, tf.nn.rnn_cell.GRUCell(5))
      >>> len(outputs), outputs[0].shape
      (4, TensorShape([Dimension(2), Dimension(5)]))
    """
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs: List[Any],
    decoder_inputs: List[Any],
    cell: Any,
    loop_function: Optional[Callable[[Any, int], Any]] = None,
    dtype: Any = dtypes.float32,
    scope: Any = None,
) -> Tuple[List[Any], Any]:
    """As `basic_rnn_seq2seq`, with one cell, whose variables encoder and decoder share.

    The other arguments are the same.

    Args:
      encoder_inputs: A list of tensors of shape `[batch, inputs]`.
      decoder_inputs: A list of tensors of shape `[batch, inputs]`.
      loop_function: As in `rnn_decoder`.

    Returns:
      A pair: a list of outputs, and the final state of the decoder.

    Example:
      >>> steps = [tf.ones([2, 3])] * 4
      >>> outputs, _ = tf.contrib.legacy_seq2seq.tied_rnn_seq2seq(steps, steps, tf.nn.rnn_cell.GRUCell(5))
      >>> len(outputs), len(tf.global_variables())
      (4, 4)
    """
    with variable_scope("combined_tied_rnn_seq2seq"):
        inner = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=inner)
        get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=inner)


def _fed_or_not(decode: Callable[[bool], Tuple[List[Any], Any]], feed_previous: Any, structure: Any) -> Tuple[List[Any], Any]:
    """Returns outputs and state of a decoder that is fed back or not, by a boolean tensor in each run.

    `structure` is that of the state: a function without arguments, called behind the branches.
    """

    def branch(feeds: bool) -> List[Any]:
        with variable_scope(get_variable_scope(), reuse=None if feeds else True):
            outputs, state = decode(feeds)
            counts.append(len(outputs))
            return outputs + (nest.flatten(state) if nest.is_sequence(state) else [state])

    counts: List[int] = []
    found = control_flow.cond(feed_previous, lambda: branch(True), lambda: branch(False))
    n, like = counts[0], structure()
    return found[:n], nest.pack_sequence_as(like, found[n:]) if nest.is_sequence(like) else found[n]


def embedding_rnn_seq2seq(
    encoder_inputs: List[Any],
    decoder_inputs: List[Any],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> Tuple[List[Any], Any]:
    """Runs an encoder and a decoder over symbols, which they look up in embeddings of their own.

    Args:
      encoder_inputs: A list of integer vectors of shape `[batch]`.
      decoder_inputs: A list of integer vectors of shape `[batch]`.
      cell: An `RNNCell`; the encoder has a copy.
      num_encoder_symbols: The number of symbols of the encoder.
      num_decoder_symbols: The number of symbols of the decoder.
      embedding_size: The size of a symbol's vector.
      output_projection: A pair of weights and biases that project an output to symbols. By default the
        model projects outputs itself.
      feed_previous: If true, each step of the decoder gets the symbol with the largest last output. A
        boolean, or a boolean tensor.
      dtype: The dtype of the state; by default that of the variable scope.
      scope: The variable scope, or its name.

    Returns:
      A pair: a list of outputs of shape `[batch, num_decoder_symbols]`, or of the cell's size if
        `output_projection` is given, and the final state of the decoder.

    Example:
      >>> steps = [tf.constant([0, 1])] * 4
      >>> outputs, _ = tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(steps, steps, tf.nn.rnn_cell.GRUCell(5),
      ...     7, 8, 3)
      >>> len(outputs), outputs[0].shape
      (4, TensorShape([Dimension(2), Dimension(8)]))
    """
    with variable_scope(scope or "embedding_rnn_seq2seq") as here:
        if dtype is not None:
            here.set_dtype(dtype)
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        _, state = static_rnn(encoder, encoder_inputs, dtype=here.dtype)
        decoder = OutputProjectionWrapper(cell, num_decoder_symbols) if output_projection is None else cell

        def decode(feeds: bool, **kwargs: Any) -> Tuple[List[Any], Any]:
            return embedding_rnn_decoder(
                decoder_inputs,
                state,
                decoder,
                num_decoder_symbols,
                embedding_size,
                output_projection=output_projection,
                feed_previous=feeds,
                **kwargs,
            )

        if isinstance(feed_previous, bool):
            return decode(feed_previous)
        return _fed_or_not(lambda feeds: decode(feeds, update_embedding_for_previous=False), feed_previous, lambda: state)


def embedding_tied_rnn_seq2seq(
    encoder_inputs: List[Any],
    decoder_inputs: List[Any],
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: Optional[int] = None,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> Tuple[List[Any], Any]:
    """As `embedding_rnn_seq2seq`, with one embedding and one cell for encoder and decoder.

    The other arguments are the same.

    Args:
      encoder_inputs: A list of integer vectors of shape `[batch]`.
      decoder_inputs: A list of integer vectors of shape `[batch]`.
      num_symbols: The number of symbols of both.
      num_decoder_symbols: The number of symbols of the outputs; by default `num_symbols`.

    Returns:
      A pair: a list of outputs, and the final state of the decoder.

    Example:
      >>> steps = [tf.constant([0, 1])] * 4
      >>> outputs, _ = tf.contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq(steps, steps,
      ...     tf.nn.rnn_cell.GRUCell(5), 7, 3)
      >>> len(outputs), outputs[0].shape
      (4, TensorShape([Dimension(2), Dimension(7)]))
    """
    with variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as here:
        dtype = here.dtype
        check_projection(output_projection, num_symbols, dtype)
        table = get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        encoder_rows = [embedding.embedding_lookup(table, x) for x in encoder_inputs]
        decoder_rows = [embedding.embedding_lookup(table, x) for x in decoder_inputs]
        if output_projection is None:
            n_outputs = num_symbols if num_decoder_symbols is None else num_decoder_symbols
            cell = OutputProjectionWrapper(cell, n_outputs)

        def decode(feeds: bool, update: bool) -> Tuple[List[Any], Any]:
            again = fed_back(table, output_projection, update) if feeds else None
            return tied_rnn_seq2seq(encoder_rows, decoder_rows, cell, loop_function=again, dtype=dtype)

        def zeros() -> Any:
            rows = encoder_inputs[0].get_shape()[0]
            for x in encoder_inputs[1:]:
                rows.merge_with(x.get_shape()[0])
            return cell.zero_state(array_ops.shape(encoder_inputs[0])[0] if rows.value is None else rows.value, dtype)

        if isinstance(feed_previous, bool):
            return decode(feed_previous, True)
        return _fed_or_not(lambda feeds: decode(feeds, False), feed_previous, zeros)


def embedding_attention_seq2seq(
    encoder_inputs: List[Any],
    decoder_inputs: List[Any],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> Tuple[List[Any], Any]:
    """As `embedding_rnn_seq2seq`, with attention over the encoder's outputs.

    The other arguments are the same.

    Args:
      encoder_inputs: A list of integer vectors of shape `[batch]`.
      decoder_inputs: A list of integer vectors of shape `[batch]`.
      num_heads: The number of attention heads.
      initial_state_attention: If true, the first step sees attention for the initial state instead of zeros.

    Returns:
      A pair: a list of outputs, and the final state of the decoder.

    Example:
      >>> steps = [tf.constant([0, 1])] * 4
      >>> outputs, _ = tf.contrib.legacy_seq2seq.embedding_attention_seq2seq(steps, steps,
      ...     tf.nn.rnn_cell.GRUCell(5), 7, 8, 3)
      >>> len(outputs), outputs[0].shape
      (4, TensorShape([Dimension(2), Dimension(8)]))
    """
    with variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as here:
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        outputs, state = static_rnn(encoder, encoder_inputs, dtype=here.dtype)
        seen = array_ops.concat([array_ops.reshape(x, [-1, 1, cell.output_size]) for x in outputs], 1)
        decoder = OutputProjectionWrapper(cell, num_decoder_symbols) if output_projection is None else cell

        def decode(feeds: bool, **kwargs: Any) -> Tuple[List[Any], Any]:
            return embedding_attention_decoder(
                decoder_inputs,
                state,
                seen,
                decoder,
                num_decoder_symbols,
                embedding_size,
                num_heads=num_heads,
                output_size=num_decoder_symbols if output_projection is None else None,
                output_projection=output_projection,
                feed_previous=feeds,
                initial_state_attention=initial_state_attention,
                **kwargs,
            )

        if isinstance(feed_previous, bool):
            return decode(feed_previous)
        return _fed_or_not(lambda feeds: decode(feeds, update_embedding_for_previous=False), feed_previous, lambda: state)


def one2many_rnn_seq2seq(
    encoder_inputs: List[Any],
    decoder_inputs_dict: Dict[Any, List[Any]],
    enc_cell: Any,
    dec_cells_dict: Dict[Any, Any],
    num_encoder_symbols: int,
    num_decoder_symbols_dict: Dict[Any, int],
    embedding_size: int,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> Tuple[Dict[Any, List[Any]], Dict[Any, Any]]:
    """As `embedding_rnn_seq2seq`, with several decoders, one for each key of dictionaries.

    The other arguments are the same.

    Args:
      encoder_inputs: A list of integer vectors of shape `[batch]`.
      decoder_inputs_dict: The inputs of each decoder: a list of integer vectors.
      enc_cell: The cell of the encoder.
      dec_cells_dict: The cell of each decoder.
      num_decoder_symbols_dict: The number of symbols of each decoder.

    Returns:
      A pair of dictionaries: a list of outputs, and the final state, of each decoder.

    Raises:
      TypeError: A cell is not an `RNNCell`.
      ValueError: `decoder_inputs_dict` and `dec_cells_dict` have different keys.

    Example:
      >>> steps = [tf.constant([0, 1])] * 4
      >>> cells = {"a": tf.nn.rnn_cell.GRUCell(5), "b": tf.nn.rnn_cell.GRUCell(5)}
      >>> outputs, _ = tf.contrib.legacy_seq2seq.one2many_rnn_seq2seq(steps, {"a": steps, "b": steps[:3]},
      ...     tf.nn.rnn_cell.GRUCell(5), cells, 7, {"a": 8, "b": 9}, 3)
      >>> len(outputs["a"]), outputs["b"][0].shape
      (4, TensorShape([Dimension(2), Dimension(9)]))
    """
    if not isinstance(enc_cell, RNNCell):
        raise TypeError(f"enc_cell is not an RNNCell: {type(enc_cell)}")
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError(
            "keys of dec_cells_dict != keys of decodre_inputs_dict: the cells have "
            f"{sorted(map(str, dec_cells_dict))}, the inputs {sorted(map(str, decoder_inputs_dict))}"
        )
    for each in dec_cells_dict.values():
        if not isinstance(each, RNNCell):
            raise TypeError(f"dec_cell is not an RNNCell: {type(each)}")
    all_outputs, states = {}, {}
    with variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as here:
        encoder = EmbeddingWrapper(enc_cell, num_encoder_symbols, embedding_size)
        _, state = static_rnn(encoder, encoder_inputs, dtype=here.dtype)
        for key, inputs in decoder_inputs_dict.items():
            n_symbols = num_decoder_symbols_dict[key]
            with variable_scope(f"one2many_decoder_{key}"):
                decoder = OutputProjectionWrapper(dec_cells_dict[key], n_symbols)

                def decode(feeds: bool, inputs: Any = inputs, decoder: Any = decoder, n: int = n_symbols) -> Any:
                    return embedding_rnn_decoder(inputs, state, decoder, n, embedding_size, feed_previous=feeds)

                if isinstance(feed_previous, bool):
                    all_outputs[key], states[key] = decode(feed_previous)
                else:
                    all_outputs[key], states[key] = _fed_or_not(decode, feed_previous, lambda: state)
    return all_outputs, states
