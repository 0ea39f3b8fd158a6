"""`AttentionWrapper`: a cell whose input and output depend on what it attends to, and its state."""

from __future__ import annotations

from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

from millstream._engine import Tensor
from millstream.contrib.framework import with_same_shape
from millstream.contrib.seq2seq.attention import AttentionMechanism
from millstream.framework import control_dependencies, dtypes, name_scope, nest
from millstream.framework.shapes import TensorShape, dimension_value
from millstream.layers.core import Dense
from millstream.ops import array_ops, check_ops, math_ops
from millstream.ops.tensor_array import TensorArray
from millstream.rnn.cells import RNNCell, assert_like_rnncell, zero_state_of_size

__all__ = ["AttentionWrapper", "AttentionWrapperState"]


class _State(NamedTuple):
    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any


class AttentionWrapperState(_State):
    """The state of an `AttentionWrapper`.

    Its parts are `cell_state`, `attention` (the last one), `time` (an `int32` scalar), `alignments`,
    `alignment_history` (a `TensorArray`, or `()`) and `attention_state`; the last three are tuples for
    several mechanisms.

    Example:
      >>> attention = tf.contrib.seq2seq.LuongAttention(3, tf.ones([2, 5, 4]))
      >>> cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), attention)
      >>> state = cell.zero_state(2, tf.float32).clone(cell_state=tf.ones([2, 3]))
      >>> print(tf.Session().run(state.cell_state))
      [[1. 1. 1.]
       [1. 1. 1.]]
    """

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """Returns a state with some parts replaced.

        Args:
          **kwargs: Values of parts, by name.

        Returns:
          An `AttentionWrapperState`.

        Raises:
          ValueError: A tensor has another shape than the one it replaces, or a name is unknown.
        """

        def checked(old: Any, new: Any) -> Any:
            return with_same_shape(old, new) if isinstance(old, Tensor) and isinstance(new, Tensor) else new

        return nest.map_structure(checked, self, self._replace(**kwargs))


def _attend(mechanism: Any, cell_output: Any, attention_state: Any, attention_layer: Any) -> Tuple[Any, Any, Any]:
    """Returns attention, alignments and the next state of a mechanism: the default `attention_fn`."""
    alignments, next_state = mechanism(cell_output, state=attention_state)
    weights = array_ops.expand_dims(alignments, 1)
    context = array_ops.squeeze(math_ops.matmul(weights, mechanism.values), [1])
    if attention_layer is None:
        return context, alignments, next_state
    return attention_layer(array_ops.concat([cell_output, context], 1)), alignments, next_state


def _mechanisms(given: Any) -> Tuple[Any, ...]:
    if isinstance(given, (list, tuple)):
        for mechanism in given:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError(
                    "attention_mechanism must contain only instances of AttentionMechanism, "
                    f"saw type: {type(mechanism).__name__}"
                )
        return tuple(given)
    if not isinstance(given, AttentionMechanism):
        raise TypeError(
            "attention_mechanism must be an AttentionMechanism or list of multiple AttentionMechanism instances, "
            f"saw type: {type(given).__name__}"
        )
    return (given,)


class AttentionWrapper(RNNCell):
    """A cell with attention: its input is joined with the last attention, and its output queries a memory.

    Args:
      cell: An `RNNCell`.
      attention_mechanism: An `AttentionMechanism`, or a list of them.
      attention_layer_size: An int, or a list with an int for each mechanism: the size of a layer over output
        and context, whose result is the attention. By default the context is the attention.
      alignment_history: If true, the state holds the alignments of all steps in a `TensorArray`.
      cell_input_fn: A function of inputs and attention; by default their concatenation.
      output_attention: If true, the output is the attention, otherwise that of the cell.
      initial_cell_state: The state of the cell in `zero_state`; by default its zero state.
      name: The name of the cell.
      attention_layer: A layer, or a list of them, instead of `attention_layer_size`.
      attention_fn: A function of mechanism, output, attention state and layer, which returns attention,
        alignments and the next attention state.
      dtype: The dtype of the layers.

    Raises:
      TypeError: An argument has another type.
      ValueError: Both a layer and a size are given, or not one for each mechanism.

    Example:
      >>> attention = tf.contrib.seq2seq.BahdanauAttention(3, memory=tf.ones([2, 5, 4]))
      >>> cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(6), attention, attention_layer_size=7)
      >>> output, state = cell(tf.ones([2, 8]), cell.zero_state(2, tf.float32))  # It calls `cell.call`.
      >>> output.shape, state.alignments.shape, cell.output_size, cell.state_size.alignments
      (TensorShape([Dimension(2), Dimension(7)]), TensorShape([Dimension(2), Dimension(5)]), 7, 5)
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Optional[Callable[[Any, Any], Any]] = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: Optional[str] = None,
        attention_layer: Any = None,
        attention_fn: Optional[Callable[..., Any]] = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name)
        assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        self._attention_mechanisms = _mechanisms(attention_mechanism)
        if cell_input_fn is None:
            cell_input_fn = _joined
        elif not callable(cell_input_fn):
            raise TypeError(f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}")
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        self._cell, self._cell_input_fn, self._attention_fn = cell, cell_input_fn, attention_fn or _attend
        self._output_attention, self._alignment_history = output_attention, alignment_history
        self._attention_layers, self._attention_layer_size = self._layers(attention_layer_size, attention_layer, dtype)
        with name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = None
            if initial_cell_state is not None:
                last = nest.flatten(initial_cell_state)[-1]
                batch_size = dimension_value(last.get_shape()[0])
                message = (
                    f"When constructing AttentionWrapper {self._base_name}: Non-matching batch sizes between the memory "
                    "(encoder output) and initial_cell_state.  Are you using the BeamSearchDecoder?  You may need to tile "
                    "your initial state via the tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width."
                )
                with control_dependencies(self._checks(array_ops.shape(last)[0] if batch_size is None else batch_size, message)):
                    self._initial_cell_state = nest.map_structure(
                        lambda s: array_ops.identity(s, name="check_initial_cell_state"), initial_cell_state
                    )

    def _layers(self, sizes: Any, layers: Any, dtype: Any) -> Tuple[Optional[Tuple[Any, ...]], Any]:
        """Returns the layers of the mechanisms, or None, and the size of the attention."""
        mechanisms = self._attention_mechanisms
        if sizes is not None:
            sizes = tuple(sizes if isinstance(sizes, (list, tuple)) else (sizes,))
            _one_for_each(sizes, mechanisms, "attention_layer_size must contain exactly one integer")
            made = tuple(Dense(size, name="attention_layer", use_bias=False, dtype=dtype) for size in sizes)
            return made, sum(sizes)
        if layers is not None:
            layers = tuple(layers if isinstance(layers, (list, tuple)) else (layers,))
            _one_for_each(layers, mechanisms, "attention_layer must contain exactly one layer")
            ends = [
                layer.compute_output_shape([None, self._cell.output_size + _depth(mechanism)])[-1]
                for layer, mechanism in zip(layers, mechanisms)
            ]
            return layers, sum(dimension_value(end) for end in ends)
        return None, sum(_depth(mechanism) for mechanism in mechanisms)

    def _checks(self, batch_size: Any, message: str) -> List[Any]:
        return [check_ops.assert_equal(batch_size, m.batch_size, message=message) for m in self._attention_mechanisms]

    def _item_or_tuple(self, items: Sequence[Any]) -> Any:
        """Returns the values for several mechanisms as a tuple, and that for one as itself."""
        return tuple(items) if self._is_multi else tuple(items)[0]

    @property
    def output_size(self) -> Any:
        """The size of the attention, or of the cell's output."""
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        """The sizes of the state."""
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple([m.alignments_size for m in mechanisms]),
            attention_state=self._item_or_tuple([m.state_size for m in mechanisms]),
            alignment_history=self._item_or_tuple([m.alignments_size if self._alignment_history else () for m in mechanisms]),
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        """Returns the state before the first step: that of the cell, and zeros."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.zero_state(batch_size, dtype)
            message = (
                f"When calling zero_state of AttentionWrapper {self._base_name}: Non-matching batch sizes between the "
                "memory (encoder output) and the requested batch size.  Are you using the BeamSearchDecoder?  If so, make "
                "sure your encoder output has been tiled to beam_width via tf.contrib.seq2seq.tile_batch, and the "
                "batch_size= argument passed to zero_state is batch_size * beam_width."
            )
            with control_dependencies(self._checks(batch_size, message)):
                cell_state = nest.map_structure(lambda s: array_ops.identity(s, name="checked_cell_state"), cell_state)
            mechanisms = self._attention_mechanisms
            alignments = [m.initial_alignments(batch_size, dtype) for m in mechanisms]  # type: ignore[attr-defined]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=array_ops.zeros([], dtype=dtypes.int32),
                attention=zero_state_of_size(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(
                    [m.initial_state(batch_size, dtype) for m in mechanisms]  # type: ignore[attr-defined]
                ),
                alignment_history=self._item_or_tuple([self._history(a, dtype) for a in alignments]),
            )

    def _history(self, alignments: Any, dtype: Any) -> Any:
        if not self._alignment_history:
            return ()
        return TensorArray(dtype, size=0, dynamic_size=True, element_shape=alignments.get_shape())

    def call(self, inputs: Any, state: Any) -> Tuple[Any, AttentionWrapperState]:  # type: ignore[override]
        """Computes one step.

        Raises:
          TypeError: `state` is not an `AttentionWrapperState`.
        """
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                f"Expected state to be instance of AttentionWrapperState. Received type {type(state)} instead."
            )
        cell_output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        known = dimension_value(cell_output.get_shape()[0])
        message = (
            f"When applying AttentionWrapper {self.name}: Non-matching batch sizes between the memory (encoder output) and "
            "the query (decoder output).  Are you using the BeamSearchDecoder?  You may need to tile your memory input via "
            "the tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width."
        )
        with control_dependencies(self._checks(array_ops.shape(cell_output)[0] if known is None else known, message)):
            cell_output = array_ops.identity(cell_output, name="checked_cell_output")
        attentions, alignments, states, histories = zip(*self._attended(cell_output, state))
        attention = array_ops.concat(attentions, 1)
        following = AttentionWrapperState(
            time=state.time + 1,
            cell_state=cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(states),
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(histories),
        )
        return (attention if self._output_attention else cell_output), following

    def _attended(self, cell_output: Any, state: AttentionWrapperState) -> List[Tuple[Any, Any, Any, Any]]:
        """Returns attention, alignments, state and history of each mechanism."""
        before, histories = state.attention_state, state.alignment_history
        if not self._is_multi:
            before, histories = (before,), (histories,)
        found = []
        for i, mechanism in enumerate(self._attention_mechanisms):
            layer = self._attention_layers[i] if self._attention_layers else None
            attention, alignments, after = self._attention_fn(mechanism, cell_output, before[i], layer)
            history = histories[i].write(state.time, alignments) if self._alignment_history else ()
            found.append((attention, alignments, after, history))
        return found


def _joined(inputs: Any, attention: Any) -> Any:
    return array_ops.concat([inputs, attention], -1)


def _depth(mechanism: Any) -> Any:
    return dimension_value(mechanism.values.get_shape()[-1])


def _one_for_each(given: Sequence[Any], mechanisms: Sequence[Any], word: str) -> None:
    if len(given) != len(mechanisms):
        raise ValueError(f"If provided, {word} per attention_mechanism, saw: {len(given)} vs {len(mechanisms)}")
