"""LSTM cells over time and frequency: one step sees the bands of a spectrum, one after the other."""

from __future__ import annotations

import collections
from typing import Any, Dict, List, Optional, Tuple

from millstream.contrib.rnn.lstms import _SLOWER, _clipped, _sharded
from millstream.framework import constant, dtypes, logging
from millstream.framework.op_functions import op
from millstream.framework.shapes import dimension_value
from millstream.nn import functions
from millstream.ops import array_ops, math_ops
from millstream.rnn.cells import RNNCell
from millstream.variables.initializers import zeros_initializer
from millstream.variables.scopes import get_variable, variable_scope

__all__ = ["BidirectionalGridLSTMCell", "GridLSTMCell", "TimeFreqLSTMCell"]


def _columns(inputs: Any) -> int:
    size = dimension_value(inputs.get_shape().with_rank(2)[-1])
    if size is None:
        raise ValueError("Cannot infer input_size from static shape inference.")
    return size


class TimeFreqLSTMCell(RNNCell):
    """An LSTM over bands of frequency (Sainath and Li, 2016). Each band sees the output of the one below.

    The state is one tensor: memory and output of each band.

    Args:
      num_units: The number of units for each band.
      use_peepholes: If true, gates see the memory.
      cell_clip: The memory is clipped to between `-cell_clip` and `cell_clip`.
      initializer: Ignored, as in TensorFlow: variables use the initializer of the variable scope.
      num_unit_shards: The number of variables that the kernel is made of.
      forget_bias: A value added to the forget gate's bias.
      feature_size: The width of a band.
      frequency_skip: The distance of two bands.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.

    Raises:
      ValueError: When called: the input's size is unknown.

    Example:
      >>> cell = tf.contrib.rnn.TimeFreqLSTMCell(2, feature_size=3, frequency_skip=3)
      >>> output, state = cell(tf.ones([2, 6]), tf.zeros([2, 8]))
      >>> output.shape, state.shape, cell.state_size, cell.output_size
      (TensorShape([Dimension(2), Dimension(4)]), TensorShape([Dimension(2), Dimension(8)]), 4, 2)
      >>> same, _ = cell.call(tf.ones([2, 6]), state)
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: Optional[float] = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: Optional[int] = None,
        frequency_skip: int = 1,
        reuse: Any = None,
    ) -> None:
        super().__init__(reuse=reuse)
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._shards, self._forget_bias = num_unit_shards, forget_bias
        self._feature_size, self._frequency_skip = feature_size, frequency_skip

    @property
    def output_size(self) -> int:
        """The number of units for each band."""
        return self._num_units

    @property
    def state_size(self) -> int:
        """The size of memory and output of one band."""
        return 2 * self._num_units

    def _bands(self, inputs: Any) -> List[Any]:
        size: Any = self._feature_size
        count = int((_columns(inputs) - size) / self._frequency_skip) + 1
        return [op("Slice")(inputs, [0, i * self._frequency_skip], [-1, size]) for i in range(count)]

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        n, dtype = self._num_units, inputs.dtype
        bands = self._bands(inputs)
        kernel = _sharded("W", [bands[0].get_shape().as_list()[1] + 2 * n, 4 * n], dtype, self._shards)
        bias = get_variable("B", shape=[4 * n], initializer=zeros_initializer(), dtype=dtype)
        diagonals: Any = None
        if self._use_peepholes:
            diagonals = [get_variable(f"W_{g}_diag", shape=[n], dtype=dtype) for g in "FIO"]
        below = array_ops.zeros([inputs.get_shape()[0], n], dtype)
        states, outputs = None, None
        for i, band in enumerate(bands):
            c = op("Slice")(state, [0, 2 * i * n], [-1, n])
            h = op("Slice")(state, [0, (2 * i + 1) * n], [-1, n])
            joined = array_ops.concat([band, h, below], 1)
            gates = functions.bias_add(math_ops.matmul(joined, kernel), bias)
            c, below = self._step(array_ops.split(value=gates, num_or_size_splits=4, axis=1), c, diagonals)
            states = array_ops.concat([c, below] if states is None else [states, c, below], 1)
            outputs = below if outputs is None else array_ops.concat([outputs, below], 1)
        return outputs, states

    def _step(self, gates: Any, c: Any, diagonals: Any) -> Tuple[Any, Any]:
        (i, j, f, o), sigmoid, tanh = gates, math_ops.sigmoid, math_ops.tanh
        if diagonals is not None:
            w_f, w_i, w_o = diagonals
            new = sigmoid(f + self._forget_bias + w_f * c) * c + sigmoid(i + w_i * c) * tanh(j)
        else:
            new = sigmoid(f + self._forget_bias) * c + sigmoid(i) * tanh(j)
        new = _clipped(new, self._cell_clip)
        return new, sigmoid(o + w_o * new if diagonals is not None else o) * tanh(new)


class GridLSTMCell(RNNCell):
    """An LSTM over a grid of time and frequency (Kalchbrenner and others, 2015).

    Args:
      num_units: The number of units for each band, in both directions.
      use_peepholes: If true, gates see the memories.
      share_time_frequency_weights: If true, both directions have the same weights.
      cell_clip: Memories are clipped to between `-cell_clip` and `cell_clip`.
      initializer: Ignored, as in TensorFlow: variables use the initializer of the variable scope.
      num_unit_shards: The number of variables that each kernel is made of.
      forget_bias: A value added to the forget gates' biases.
      feature_size: The width of a band.
      frequency_skip: The distance of two bands.
      num_frequency_blocks: A list: the number of bands of each block.
      start_freqindex_list: A list: the first column of each block. By default there is one block.
      end_freqindex_list: A list: the column after each block.
      couple_input_forget_gates: If true, a forget gate is 1 minus the input gate.
      state_is_tuple: If true, the state is a tuple; otherwise one tensor.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.

    Raises:
      ValueError: `num_frequency_blocks` is None. When called: the input's size is unknown, or the blocks do
        not fit it.
      TypeError: When called: `feature_size` or `frequency_skip` is None.

    Example:
      >>> cell = tf.contrib.rnn.GridLSTMCell(2, feature_size=3, frequency_skip=3, num_frequency_blocks=[2])
      >>> output, state = cell(tf.ones([2, 6]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.output_size, cell.state_size
      (TensorShape([Dimension(2), Dimension(8)]), 8, GridLSTMStateTuple(state_f00_b00_c=2, state_f00_b00_m=2, state_f01_b00_c=2, state_f01_b00_m=2))
      >>> same, _ = cell.call(tf.ones([2, 6]), state)
      >>> cell.state_tuple_type.__name__
      'GridLSTMStateTuple'
    """

    _directions: Tuple[str, ...] = ("state",)
    _state_name = "GridLSTMStateTuple"

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: Optional[float] = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: Optional[int] = None,
        frequency_skip: Optional[int] = None,
        num_frequency_blocks: Optional[List[int]] = None,
        start_freqindex_list: Optional[List[int]] = None,
        end_freqindex_list: Optional[List[int]] = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ) -> None:
        super().__init__(reuse=reuse)
        if not state_is_tuple:
            logging.warn(_SLOWER, self)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._share, self._couple, self._state_is_tuple = share_time_frequency_weights, couple_input_forget_gates, state_is_tuple
        self._shards, self._forget_bias = num_unit_shards, forget_bias
        self._feature_size, self._frequency_skip = feature_size, frequency_skip
        self._blocks, self._starts, self._ends = num_frequency_blocks, start_freqindex_list, end_freqindex_list
        names = [
            f"{direction}_f{band:02d}_b{block:02d}_{part}"
            for direction in self._directions
            for block, count in enumerate(num_frequency_blocks)
            for band in range(count)
            for part in "cm"
        ]
        self._size = num_units * len(names)
        # A class for each cell, as in TensorFlow: its fields depend on the blocks.
        self._state_tuple_type: Any = collections.namedtuple(self._state_name, names) if state_is_tuple else None  # type: ignore[misc]

    @property
    def output_size(self) -> int:
        """The size of the outputs of all bands in both directions."""
        return self._size

    @property
    def state_size(self) -> Any:
        """The sizes of memory and output of all bands."""
        if self._state_tuple_type is None:
            return self._size
        return self._state_tuple_type(*[self._num_units] * len(self._state_tuple_type._fields))

    @property
    def state_tuple_type(self) -> Any:
        """The class of the state, or None."""
        return self._state_tuple_type

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        rows = _rows(inputs)
        states, outputs = self._all_blocks(self._bands(inputs), state, rows, "state")
        joined = self._state_tuple_type(*states) if self._state_is_tuple else array_ops.concat(states, 1)
        return array_ops.concat(outputs, 1), joined

    def _all_blocks(self, blocks: List[List[Any]], state: Any, rows: Any, prefix: str) -> Tuple[List[Any], List[Any]]:
        states: List[Any] = []
        outputs: List[Any] = []
        for i, bands in enumerate(blocks):
            more_states, more_outputs = self._block(bands, i, state, rows, prefix)
            states += more_states
            outputs += more_outputs
        return states, outputs

    def _bands(self, inputs: Any, offset: int = 0) -> List[List[Any]]:
        """Returns the bands of each block. A positive offset shifts them up, a negative one down."""
        size, width, skip = _columns(inputs), self._feature_size, self._frequency_skip
        if width is None or skip is None:
            raise TypeError(f"GridLSTMCell needs feature_size and frequency_skip, got {width} and {skip}")
        if offset:
            margins = [0, 0, 0, offset] if offset > 0 else [0, 0, -offset, 0]
            inputs = array_ops.pad(inputs, constant(margins, shape=[2, 2], dtype=dtypes.int32), "CONSTANT")
        starts, ends = self._starts or [0], self._ends if self._starts else [size]
        if not self._starts and len(self._blocks) != 1:
            raise ValueError(f"Length of num_frequency_blocks is not 1, but instead is {len(self._blocks)}")
        if ends is None or len(starts) != len(ends):
            raise ValueError("Length of start and end freqindex_list does not match %d %d", len(starts), len(ends or []))
        if len(self._blocks) != len(starts):
            raise ValueError(
                "Length of num_frequency_blocks is not equal to start_freqindex_list %d %d", len(self._blocks), len(starts)
            )
        found = []
        for start, end, wanted in zip(starts, ends, self._blocks):
            count = int((end - start - width) / skip) + 1
            if count != wanted:
                raise ValueError(
                    f"Invalid num_frequency_blocks, requires {wanted} but gets {count}, please check the input size "
                    "and filter config are correct."
                )
            first = start + max(offset, 0)
            found.append([op("Slice")(inputs, [0, first + i * skip], [-1, width]) for i in range(count)])
        return found

    def _weights(self, block: int, width: int, dtype: Any) -> Tuple[Any, Any, Dict[str, Any]]:
        """Returns kernel and bias over frequency, those over time, and the diagonals of peepholes."""
        n = self._num_units
        shape = [width + 2 * n, (3 if self._couple else 4) * n]

        def matrix(which: str) -> Any:
            kernel = _sharded(f"W_{which}_{block}", shape, dtype, self._shards)
            return kernel, get_variable(f"B_{which}_{block}", shape=shape[1:], initializer=zeros_initializer(), dtype=dtype)

        frequency = matrix("f")
        time = None if self._share else matrix("t")
        diagonals = {}
        if self._use_peepholes:
            for direction in ("freq",) if self._share else ("freq", "time"):
                for gate in "IO" if self._couple else "FIO":
                    for seen in "ft":
                        key = f"{gate}_diag_{direction}{seen}"
                        diagonals[key] = get_variable(f"W_{key}_{block}", shape=[n], dtype=dtype)
        return frequency, time, diagonals

    def _block(self, bands: List[Any], block: int, state: Any, rows: Any, prefix: str) -> Tuple[List[Any], List[Any]]:
        """Computes one block: returns its states and its outputs."""
        n, dtype = self._num_units, bands[0].dtype
        frequency, time, diagonals = self._weights(block, bands[0].get_shape().as_list()[1], dtype)
        h_freq, c_freq = array_ops.zeros([rows, n], dtype), array_ops.zeros([rows, n], dtype)
        states, outputs = [], []
        for i, band in enumerate(bands):
            if self._state_is_tuple:
                c_time, h_time = (getattr(state, f"{prefix}_f{i:02d}_b{block:02d}_{part}") for part in "cm")
            else:
                c_time = op("Slice")(state, [0, 2 * i * n], [-1, n])
                h_time = op("Slice")(state, [0, (2 * i + 1) * n], [-1, n])
            joined = array_ops.concat([band, h_time, h_freq], 1)
            gates = self._gates(joined, frequency)
            time_gates = gates if time is None else self._gates(joined, time)
            seen = c_freq, c_time
            c_freq = self._memory(gates, seen[0], seen, diagonals, "freq")
            over_time = "freq" if self._share else "time"
            c_time = self._memory(time_gates, seen[1], seen, diagonals, over_time)
            seen = c_freq, c_time
            h_freq = math_ops.sigmoid(_peeped(gates["o"], "O", seen, diagonals, "freq")) * math_ops.tanh(c_freq)
            h_time = math_ops.sigmoid(_peeped(time_gates["o"], "O", seen, diagonals, over_time)) * math_ops.tanh(c_time)
            states += [c_time, h_time]
            outputs += [h_time, h_freq]
        return states, outputs

    def _gates(self, joined: Any, weights: Any) -> Dict[str, Any]:
        kernel, bias = weights
        names = "ijo" if self._couple else "ijfo"
        product = functions.bias_add(math_ops.matmul(joined, kernel), bias)
        return dict(zip(names, array_ops.split(value=product, num_or_size_splits=len(names), axis=1)))

    def _memory(self, gates: Dict[str, Any], old: Any, seen: Any, diagonals: Dict[str, Any], direction: str) -> Any:
        """Returns the new memory in a direction."""
        i = math_ops.sigmoid(_peeped(gates["i"], "I", seen, diagonals, direction))
        if self._couple:
            f = 1.0 - i
        else:
            f = math_ops.sigmoid(_peeped(gates["f"] + self._forget_bias, "F", seen, diagonals, direction))
        return _clipped(f * old + i * math_ops.tanh(gates["j"]), self._cell_clip)


def _rows(inputs: Any) -> Any:
    known = dimension_value(inputs.get_shape()[0])
    return known or array_ops.shape(inputs)[0]


def _peeped(x: Any, gate: str, seen: Any, diagonals: Dict[str, Any], direction: str) -> Any:
    """Adds what a gate sees of the memories over frequency and over time."""
    if not diagonals:
        return x
    c_freq, c_time = seen
    return x + diagonals[f"{gate}_diag_{direction}f"] * c_freq + diagonals[f"{gate}_diag_{direction}t"] * c_time


class BidirectionalGridLSTMCell(GridLSTMCell):
    """A `GridLSTMCell` that also runs from the highest band to the lowest, with weights of its own.

    The other arguments are those of `GridLSTMCell`.

    Args:
      backward_slice_offset: The shift of the backward bands in columns, upwards if positive.

    Example:
      >>> cell = tf.contrib.rnn.BidirectionalGridLSTMCell(2, feature_size=3, frequency_skip=3,
      ...     num_frequency_blocks=[2])
      >>> output, state = cell(tf.ones([2, 6]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.output_size, len(cell.state_size)
      (TensorShape([Dimension(2), Dimension(16)]), 16, 8)
      >>> same, _ = cell.call(tf.ones([2, 6]), state)
    """

    _directions = ("fwd_state", "bwd_state")
    _state_name = "BidirectionalGridLSTMStateTuple"

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: Optional[float] = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: Optional[int] = None,
        frequency_skip: Optional[int] = None,
        num_frequency_blocks: Optional[List[int]] = None,
        start_freqindex_list: Optional[List[int]] = None,
        end_freqindex_list: Optional[List[int]] = None,
        couple_input_forget_gates: bool = False,
        backward_slice_offset: int = 0,
        reuse: Any = None,
    ) -> None:
        super().__init__(
            num_units,
            use_peepholes,
            share_time_frequency_weights,
            cell_clip,
            initializer,
            num_unit_shards,
            forget_bias,
            feature_size,
            frequency_skip,
            num_frequency_blocks,
            start_freqindex_list,
            end_freqindex_list,
            couple_input_forget_gates,
            True,
            reuse,
        )
        self._offset = int(backward_slice_offset)

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        rows = _rows(inputs)
        forwards = self._bands(inputs)
        backwards = self._bands(inputs, self._offset) if self._offset else forwards
        with variable_scope("fwd"):
            states, outputs = self._all_blocks(forwards, state, rows, "fwd_state")
        with variable_scope("bwd"):
            turned = [bands[::-1] for bands in backwards]
            more_states, more_outputs = self._all_blocks(turned, state, rows, "bwd_state")
        return array_ops.concat(outputs + more_outputs, 1), self._state_tuple_type(*(states + more_states))
