"""Beam search: `BeamSearchDecoder`, which keeps the best sequences so far, and functions that it needs."""

from __future__ import annotations

import math
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

from millstream.contrib.seq2seq.attention_wrapper import AttentionWrapperState
from millstream.contrib.seq2seq.decoders import Decoder, output_size_of
from millstream._engine import Tensor
from millstream.framework import (
    control_dependencies,
    convert_to_tensor,
    dtypes,
    get_static_value,
    logging,
    name_scope,
    nest,
    node_counts,
)
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape, dimension_value
from millstream.layers.core import Layer
from millstream.nn import embedding as embeddings
from millstream.nn import functions
from millstream.ops import array_ops, control_flow, indexing_ops, math_ops, reduction_ops
from millstream.ops.tensor_array import TensorArray
from millstream.rnn.cells import assert_like_rnncell

__all__ = [
    "BeamSearchDecoder",
    "BeamSearchDecoderOutput",
    "BeamSearchDecoderState",
    "FinalBeamSearchDecoderOutput",
    "gather_tree",
    "tile_batch",
]


class BeamSearchDecoderState(NamedTuple):
    """The state of a `BeamSearchDecoder`: values of all beams, of shape `[batch, beam_width, ..]`.

    Example:
      >>> tf.contrib.seq2seq.BeamSearchDecoderState(1, 2, 3, 4, 5).lengths
      4
    """

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


class BeamSearchDecoderOutput(NamedTuple):
    """The output of a step: the scores of the beams, their last symbols, and the beams that they come from.

    Example:
      >>> tf.contrib.seq2seq.BeamSearchDecoderOutput(scores=1, predicted_ids=2, parent_ids=3).parent_ids
      3
    """

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class FinalBeamSearchDecoderOutput(NamedTuple):
    """The output of beam search: the best sequences, the best one first, and the outputs of all steps.

    Example:
      >>> tf.contrib.seq2seq.FinalBeamSearchDecoderOutput(1, 2).predicted_ids
      1
    """

    predicted_ids: Any
    beam_search_decoder_output: Any


def tile_batch(t: Any, multiplier: int, name: Optional[str] = None) -> Any:
    """Repeats each row, so that the beams of a sequence see the same values.

    Args:
      t: A tensor of shape `[batch, ..]`, or a structure of such tensors.
      multiplier: An int: how often each row is repeated.
      name: A name for the operation.

    Returns:
      Tensors of shape `[batch * multiplier, ..]`, in the structure of `t`.

    Raises:
      ValueError: The rank of a tensor is unknown or 0.

    Example:
      >>> print(tf.Session().run(tf.contrib.seq2seq.tile_batch(tf.constant([[1, 2], [3, 4]]), 2)))
      [[1 2]
       [1 2]
       [3 4]
       [3 4]]
    """
    with name_scope(name, "tile_batch", nest.flatten(t) + [multiplier]):
        return nest.map_structure(lambda x: _tiled(x, multiplier), t)


def _tiled(t: Any, multiplier: int) -> Any:
    t = convert_to_tensor(t, name="t")
    shape, known = array_ops.shape(t), t.get_shape()
    if not known.ndims:
        raise ValueError("t must have statically known rank")
    rows = op("Tile")(array_ops.expand_dims(t, 1), [1, multiplier] + [1] * (known.ndims - 1))
    rows = array_ops.reshape(rows, array_ops.concat(([shape[0] * multiplier], shape[1:]), 0))
    n = dimension_value(known[0])
    rows.set_shape(TensorShape([None if n is None else n * multiplier]).concatenate(known[1:]))
    return rows


def gather_tree(step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any, name: Optional[str] = None) -> Any:
    """Returns the sequences of all beams, from the last step back to the first.

    Args:
      step_ids: The symbols chosen in each step, an `int32` tensor of shape `[time, batch, beam_width]`.
      parent_ids: The beams of the step before that they continue, of the same shape.
      max_sequence_lengths: An `int32` vector: the length of the longest beam of each sequence.
      end_token: The symbol that ends a sequence, an `int32` scalar.
      name: A name for the operation.

    Returns:
      An `int32` tensor of shape `[time, batch, beam_width]`. After its first `end_token` a beam has only
        `end_token`.

    Raises:
      InvalidArgumentError: When run: a parent is not a beam.

    Example:
      >>> steps = tf.constant([[[1, 2]], [[3, 4]]])
      >>> parents = tf.constant([[[0, 0]], [[1, 0]]])
      >>> print(tf.Session().run(tf.contrib.seq2seq.gather_tree(steps, parents, [2], 9))[:, 0])
      [[2 1]
       [3 4]]
    """
    return op("GatherTree")(step_ids, parent_ids, max_sequence_lengths, end_token, name=name)


def _gathered(x: Any, beams: Any, batch_size: Any, n: Any, shape: List[Any]) -> Any:
    """Returns, for each sequence, the entries of `x` at the places `beams` out of `n`.

    `shape` has the entries of all sequences in one row, or in one row each.
    """
    first = array_ops.expand_dims(math_ops.range(batch_size) * n, 1)
    places = array_ops.reshape(beams + first, [-1])
    out = indexing_ops.gather(array_ops.reshape(x, shape), places)
    known = get_static_value(batch_size)
    out = array_ops.reshape(out, array_ops.shape(x)[: 1 + len(shape)])
    out.set_shape(TensorShape([None if known is None else int(known)]).concatenate(x.get_shape()[1 : 1 + len(shape)]))
    return out


def _needs_rank(x: Any) -> None:
    if x.get_shape().ndims is None:
        raise ValueError(f"Expected tensor ({x}) to have known rank, but ndims == None.")


class BeamSearchDecoder(Decoder):
    """A decoder that keeps the `beam_width` best sequences in each step.

    States and memories of attention are those of `batch * beam_width` sequences: see `tile_batch`.

    Args:
      cell: An `RNNCell`.
      embedding: A function from an `int32` tensor of symbols to inputs, or a table for `embedding_lookup`.
      start_tokens: An `int32` vector of shape `[batch]`.
      end_token: The symbol that ends a sequence, an `int32` scalar.
      initial_state: The initial state of the cell, of `batch * beam_width` rows.
      beam_width: An int: how many sequences are kept.
      output_layer: A `tf.layers.Layer`, applied to the outputs of the cell; None for none.
      length_penalty_weight: A float: above 0, longer sequences are preferred (Wu and others, 2016).
      coverage_penalty_weight: A float: above 0, sequences are preferred that attend to the whole memory.
      reorder_tensor_arrays: If true, arrays in the state, such as the alignment history, are ordered by
        the final beams.

    Raises:
      TypeError: `cell` is not a cell, or `output_layer` not a layer.
      ValueError: `start_tokens` is not a vector, or `end_token` not a scalar.

    Example:
      >>> seq2seq, cell = tf.contrib.seq2seq, tf.nn.rnn_cell.GRUCell(4)
      >>> state = seq2seq.tile_batch(cell.zero_state(2, tf.float32), multiplier=3)
      >>> decoder = seq2seq.BeamSearchDecoder(cell, tf.ones([7, 5]), start_tokens=[0, 0], end_token=1,
      ...     initial_state=state, beam_width=3, output_layer=tf.layers.Dense(7))
      >>> outputs, state, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=4)
      >>> outputs.predicted_ids.shape, decoder.tracks_own_finished, decoder.output_size.scores
      (TensorShape([Dimension(2), Dimension(None), Dimension(3)]), True, TensorShape([Dimension(3)]))
      >>> decoder.output_dtype.scores, decoder.batch_size.shape
      (tf.float32, TensorShape([]))
      >>> finished, inputs, state = decoder.initialize()
      >>> outputs, state, inputs, finished = decoder.step(0, inputs, state)
      >>> outputs.predicted_ids.shape
      TensorShape([Dimension(2), Dimension(3)])
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        assert_like_rnncell("cell", cell)
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell, self._output_layer, self._width = cell, output_layer, beam_width
        self._length_weight, self._coverage_weight = length_penalty_weight, coverage_penalty_weight
        self._reorders = reorder_tensor_arrays
        self._embedding_fn: Callable[[Any], Any] = embedding
        if not callable(embedding):
            self._embedding_fn = lambda ids: embeddings.embedding_lookup(embedding, ids)
        tokens = convert_to_tensor(start_tokens, dtype=dtypes.int32, name="start_tokens")
        if tokens.get_shape().ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._end_token.get_shape().ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = array_ops.size(tokens)
        self._initial_cell_state = nest.map_structure(self._split_state, initial_state, cell.state_size)
        self._start_inputs = self._embedding_fn(op("Tile")(array_ops.expand_dims(tokens, 1), [1, beam_width]))
        # The beams of a sequence start alike, so that all but the first are told to have ended.
        self._finished = self._first_beam(False, True, dtypes.bool)

    def _first_beam(self, on: Any, off: Any, dtype: Any) -> Any:
        """Returns a matrix of beams with one value for the first beam and another one for the others."""
        zeros = array_ops.zeros([self._batch_size], dtype=dtypes.int32)
        on, off = convert_to_tensor(on, dtype), convert_to_tensor(off, dtype)
        return op("OneHot")(zeros, self._width, on, off)

    @property
    def batch_size(self) -> Any:
        """The number of sequences, without beams."""
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        """True: beams move, and with them whether they have ended."""
        return True

    @property
    def output_size(self) -> BeamSearchDecoderOutput:
        """The shapes of an output."""
        return BeamSearchDecoderOutput(*[TensorShape([self._width])] * 3)

    def _dtype(self) -> Any:
        return nest.flatten(self._initial_cell_state)[0].dtype

    @property
    def output_dtype(self) -> BeamSearchDecoderOutput:
        """The dtypes of an output."""
        size = output_size_of(self._cell.output_size, self._output_layer)
        scores = nest.map_structure(lambda _: self._dtype(), size)
        return BeamSearchDecoderOutput(scores=scores, predicted_ids=dtypes.int32, parent_ids=dtypes.int32)

    def initialize(self, name: Optional[str] = None) -> Tuple[Any, Any, Any]:
        """Returns the values at the start."""
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=self._first_beam(0.0, -math.inf, self._dtype()),
            finished=self._finished,
            lengths=array_ops.zeros([self._batch_size, self._width], dtype=dtypes.int64),
            accumulated_attention_probs=self._attention(self._initial_cell_state),
        )
        return self._finished, self._start_inputs, state

    def _attention(self, cell_state: Any) -> Any:
        """Returns how much each step of the memory is attended to, or `()` if that is not needed."""
        if isinstance(self._coverage_weight, (int, float)) and self._coverage_weight == 0.0:
            return ()
        states = [cell_state] if isinstance(cell_state, AttentionWrapperState) else cell_state
        found = [s for s in states if isinstance(s, AttentionWrapperState)] if isinstance(states, (list, tuple)) else []
        if not found:
            raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
        return _mean([_mean(list(s.alignments)) if isinstance(s.alignments, tuple) else s.alignments for s in found])

    def _split_state(self, t: Any, size: Any) -> Any:
        if isinstance(t, TensorArray):
            return t
        t = convert_to_tensor(t)
        _needs_rank(t)
        return self._split(t, size) if t.get_shape().ndims >= 1 else t

    def _merge_state(self, t: Any, size: Any) -> Any:
        if isinstance(t, TensorArray):
            return t
        _needs_rank(t)
        return self._merged(t, size) if t.get_shape().ndims >= 2 else t

    def _merged(self, t: Any, size: Any) -> Any:
        """Returns values of shape `[batch * beam_width, ..]`."""
        rows, known = self._batch_size * self._width, get_static_value(self._batch_size)
        out = array_ops.reshape(t, array_ops.concat(([rows], array_ops.shape(t)[2:]), 0))
        n = None if known is None else int(known) * self._width
        out.set_shape(TensorShape([n]).concatenate(_as_shape(size)))
        return out

    def _split(self, t: Any, size: Any) -> Any:
        """Returns values of shape `[batch, beam_width, ..]`."""
        known = get_static_value(self._batch_size)
        out = array_ops.reshape(t, array_ops.concat(([self._batch_size, self._width], array_ops.shape(t)[1:]), 0))
        expected = TensorShape([None if known is None else int(known), self._width]).concatenate(_as_shape(size))
        if not out.get_shape().is_compatible_with(expected):
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and batch size.  The reshaped tensor has shape: "
                f"{out.get_shape()}.  We expected it to have shape (batch_size, beam_width, depth) == {expected}.  "
                "Perhaps you forgot to create a zero_state with batch_size=encoder_batch_size * beam_width?"
            )
        out.set_shape(expected)
        return out

    def step(self, time: Any, inputs: Any, state: Any, name: Optional[str] = None) -> Tuple[Any, Any, Any, Any]:
        """Computes one step."""
        with name_scope(name, "BeamSearchDecoderStep", (time, inputs, state)):
            sizes = self._cell.state_size
            inputs = nest.map_structure(lambda x: self._merged(x, x.get_shape()[2:]), inputs)
            cell_state = nest.map_structure(self._merge_state, state.cell_state, sizes)
            logits, cell_state = self._cell(inputs, cell_state)
            logits = nest.map_structure(lambda x: self._split(x, x.get_shape()[1:]), logits)
            cell_state = nest.map_structure(self._split_state, cell_state, sizes)
            if self._output_layer is not None:
                logits = self._output_layer(logits)
            output, state = self._chosen(logits, cell_state, state)
            inputs = control_flow.cond(
                reduction_ops.reduce_all(state.finished),
                lambda: self._start_inputs,
                lambda: self._embedding_fn(output.predicted_ids),
            )
        return output, state, inputs, state.finished

    def _chosen(self, logits: Any, cell_state: Any, state: Any) -> Tuple[BeamSearchDecoderOutput, BeamSearchDecoderState]:
        """Chooses the best continuations of all beams."""
        n, width = self._batch_size, self._width
        n_symbols = dimension_value(logits.get_shape()[-1]) or array_ops.shape(logits)[-1]
        going = op("LogicalNot")(state.finished)
        totals = array_ops.expand_dims(state.log_probs, 2) + self._masked(functions.log_softmax(logits), state.finished)
        longer = op("OneHot")(
            array_ops.fill([n, width], self._end_token), n_symbols, convert_to_tensor(0, dtypes.int64), convert_to_tensor(1, dtypes.int64)
        )
        longer = longer * array_ops.expand_dims(math_ops.cast(going, dtypes.int64), 2)
        attention = self._attention(cell_state)
        if not isinstance(attention, tuple):
            attention = attention * array_ops.expand_dims(math_ops.cast(going, dtypes.float32), 2)
            attention = state.accumulated_attention_probs + attention
        lengths = longer + array_ops.expand_dims(state.lengths, 2)
        scores = array_ops.reshape(self._scores(totals, lengths, state.finished, attention), [n, -1])
        best, places = functions.top_k(scores, k=width)
        known = get_static_value(n)
        for x in (best, places):
            x.set_shape([None if known is None else int(known), width])
        log_probs = _gathered(totals, places, n, width * n_symbols, [-1])
        symbols = op("FloorMod")(places, convert_to_tensor(n_symbols, dtypes.int32), name="next_beam_word_ids")
        parents = math_ops.floordiv(places, convert_to_tensor(n_symbols, dtypes.int32), name="next_beam_parent_ids")
        before = _gathered(state.finished, parents, n, width, [-1])
        finished = op("LogicalOr")(before, math_ops.equal(symbols, self._end_token), name="next_beam_finished")
        lengths = _gathered(state.lengths, parents, n, width, [-1])
        lengths = lengths + math_ops.cast(op("LogicalNot")(before), dtypes.int64)
        rows = [n * width, -1]
        if not isinstance(attention, tuple):
            attention = _gathered(attention, parents, n, width, rows)

        def moved(x: Any) -> Any:
            if isinstance(x, TensorArray):
                return x
            _needs_rank(x)
            return _gathered(x, parents, n, width, rows) if x.get_shape().ndims >= 2 else x

        cell_state = nest.map_structure(moved, cell_state)
        following = BeamSearchDecoderState(cell_state, log_probs, finished, lengths, attention)
        return BeamSearchDecoderOutput(scores=best, predicted_ids=symbols, parent_ids=parents), following

    def _masked(self, log_probs: Any, finished: Any) -> Any:
        """Returns the logarithms of probabilities. A beam that has ended only repeats its end."""
        n_symbols = array_ops.shape(log_probs)[2]
        on, off = convert_to_tensor(0.0, log_probs.dtype), convert_to_tensor(log_probs.dtype.min, log_probs.dtype)
        row = array_ops.reshape(op("OneHot")(self._end_token, n_symbols, on, off), [1, 1, -1])
        rows = op("Tile")(row, array_ops.concat([array_ops.shape(finished), [1]], 0))
        mask = op("Tile")(array_ops.expand_dims(finished, 2), array_ops.stack([1, 1, n_symbols]))
        return array_ops.where(mask, rows, log_probs)

    def _scores(self, totals: Any, lengths: Any, finished: Any, attention: Any) -> Any:
        """Returns what beams are compared by: log probabilities with the penalties."""
        weight = convert_to_tensor(self._length_weight, name="penalty_factor")
        weight.set_shape([])
        scores = totals
        if get_static_value(weight) != 0:
            penalty = math_ops.div((5.0 + math_ops.cast(lengths, dtypes.float32)) ** weight, (5.0 + 1.0) ** weight)
            scores = totals / math_ops.cast(penalty, totals.dtype)
        coverage = convert_to_tensor(self._coverage_weight, name="coverage_penalty_weight")
        if coverage.get_shape().ndims != 0:
            raise ValueError(f"coverage_penalty_weight should be a scalar, but saw shape: {coverage.get_shape()}")
        if isinstance(attention, tuple):
            return scores
        attention = array_ops.where(math_ops.equal(attention, 0.0), array_ops.ones_like(attention), attention)
        covered = reduction_ops.reduce_sum(op("Log")(op("Minimum")(attention, 1.0)), 2)
        covered = covered * math_ops.cast(finished, dtypes.float32) * coverage
        return scores + array_ops.expand_dims(covered, 2)

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Tuple[Any, Any]:
        """Returns the sequences of the final beams, and the state."""
        longest = math_ops.cast(reduction_ops.reduce_max(final_state.lengths, axis=1), dtypes.int32)
        found = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end_token)
        if self._reorders:
            ordered = nest.map_structure(
                lambda t: self._ordered(t, outputs.parent_ids, final_state.lengths), final_state.cell_state
            )
            final_state = final_state._replace(cell_state=ordered)
        return FinalBeamSearchDecoderOutput(found, outputs), final_state

    def _ordered(self, t: Any, parents: Any, lengths: Any) -> Any:
        """Returns the values of an array in the order of the final beams; other values as they are."""
        if not isinstance(t, TensorArray):
            return t
        shape, known = t.element_shape, get_static_value(self._batch_size)
        if shape.ndims is None or shape.ndims < 1:
            logging.warn("The TensorArray %s in the cell state is not sorted: the shape of its elements is %s", t.handle.name, shape)
            return t
        rows, columns = dimension_value(shape[0]), dimension_value(shape[1]) if shape.ndims >= 2 else None
        if known is not None and rows is not None:
            # As in TensorFlow, elements of shape [batch * beam_width, known] are not sorted.
            apart = columns is not None and (rows != known or columns != self._width)
            if rows != known * self._width or apart:
                logging.warn("The TensorArray %s in the cell state is not sorted: its elements have shape %s", t.handle.name, shape)
                return t
        whole = t.stack()
        with control_dependencies([self._assert_beams(whole)]):
            return _tree_of_values(whole, parents, lengths)

    def _assert_beams(self, t: Any) -> Any:
        shape = array_ops.shape(t)
        fits = math_ops.equal(shape[1], self._batch_size * self._width)
        if t.get_shape().ndims != 2:
            apart = op("LogicalAnd")(math_ops.equal(shape[1], self._batch_size), math_ops.equal(shape[2], self._width))
            fits = op("LogicalOr")(fits, apart)
        message = (
            "TensorArray reordering expects elements to be reshapable to [batch_size, beam_size, -1] which is "
            f"incompatible with the dynamic shape of {t.name} elements. Consider setting reorder_tensor_arrays to False "
            "to disable TensorArray reordering during the beam search."
        )
        return control_flow.assert_(fits, [message])


def _as_shape(size: Any) -> TensorShape:
    """Returns a size, which may be a tensor, as a shape."""
    if isinstance(size, (int, TensorShape, list, tuple)):
        return TensorShape(size)
    known = get_static_value(size)
    return TensorShape([None if known is None else int(known)])


def _mean(values: List[Any]) -> Any:
    if len(values) == 1:
        return values[0]
    return reduction_ops.reduce_mean(array_ops.concat([array_ops.expand_dims(v, -1) for v in values], -1), -1)


def _tree_of_values(t: Any, parents: Any, lengths: Any) -> Any:
    """Returns values of all steps, of shape `[time, batch * beam_width, ..]`, in the order of final beams."""
    shape = array_ops.shape(parents)
    steps, n, width = shape[0], shape[1], shape[2]
    beams = op("Tile")(array_ops.reshape(math_ops.range(width), [1, 1, -1]), array_ops.stack([steps, n, 1]))
    longest = math_ops.cast(reduction_ops.reduce_max(lengths, axis=1), dtypes.int32)
    found = gather_tree(beams, parents, longest, width + 1)
    inside = array_ops.transpose(array_ops.sequence_mask(lengths, maxlen=steps), [2, 0, 1])
    found = array_ops.where(inside, found, beams)
    time = op("Tile")(array_ops.reshape(math_ops.range(steps), [-1, 1, 1]), array_ops.stack([1, n, width]))
    row = op("Tile")(array_ops.reshape(math_ops.range(n), [1, -1, 1]), array_ops.stack([steps, 1, width]))
    places = array_ops.stack([time, row, found], -1)
    values = array_ops.reshape(t, array_ops.stack([steps, n, width, -1]))
    return array_ops.reshape(indexing_ops.gather_nd(values, places), array_ops.shape(t))
