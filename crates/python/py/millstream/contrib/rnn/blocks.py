"""Cells whose step, or whose sequence, is computed by one op."""

from __future__ import annotations

from typing import Any, Optional, Tuple

from millstream.contrib.rnn.lstms import _Sized
from millstream.framework import convert_to_tensor, dtypes
from millstream.framework.op_functions import op
from millstream.framework.shapes import dimension_value
from millstream.layers.core import Layer
from millstream.ops import array_ops, indexing_ops, math_ops, reduction_ops
from millstream.rnn.cells import LSTMStateTuple, LayerRNNCell
from millstream.variables.initializers import constant_initializer

__all__ = ["GRUBlockCell", "GRUBlockCellV2", "LSTMBlockCell", "LSTMBlockFusedCell", "LSTMBlockWrapper"]


def _lstm_weights(layer: Any, rows: int, dtype: Any, use_peephole: bool) -> Any:
    """Returns kernel, bias, and the diagonals of the peepholes for input, forget and output, or None."""
    n = layer._num_units
    kernel = layer.add_weight("kernel", [rows + n, 4 * n], dtype)
    bias = layer.add_weight("bias", [4 * n], dtype, constant_initializer(0.0))
    return kernel, bias, [layer.add_weight(f"w_{g}_diag", [n], dtype) for g in "ifo"] if use_peephole else None


def _lstm(kind: str, layer: Any, weights: Any, *inputs: Any) -> Any:
    """Returns the outputs of an op on the inputs: gates, memories and outputs."""
    kernel, bias, diagonals = weights
    diagonals = diagonals or _no_diagonals(layer, kernel)
    clip = -1 if layer._cell_clip is None else layer._cell_clip
    options = {"forget_bias": layer._forget_bias, "cell_clip": clip, "use_peephole": layer._use_peephole}
    return op(kind)(*inputs, kernel, *diagonals, bias, **options)


def _no_diagonals(layer: Any, kernel: Any) -> Any:
    """Returns zeros for the peepholes of an op that does not use them."""
    return [array_ops.zeros([layer._num_units], kernel.dtype.base_dtype)] * 3


class LSTMBlockCell(_Sized, LayerRNNCell):
    """An LSTM with the variables of `LSTMCell`, so that checkpoints of both are interchangeable.

    Args:
      num_units: The size of the state and the output.
      forget_bias: A value added to the forget gate's bias.
      cell_clip: If it is positive, the memory is clipped to between `-cell_clip` and `cell_clip`.
      use_peephole: If true, gates see the memory.
      dtype: As in `tf.nn.rnn_cell.RNNCell`.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.
      name: As in `tf.nn.rnn_cell.RNNCell`.

    Raises:
      ValueError: When called: the state has not two parts, or the input's size is unknown.

    Example:
      >>> cell = tf.contrib.rnn.LSTMBlockCell(4)
      >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.state_size, cell.output_size, [v.name for v in cell.variables]
      (TensorShape([Dimension(2), Dimension(4)]), LSTMStateTuple(c=4, h=4), 4, ['lstm_cell/kernel:0', 'lstm_cell/bias:0'])
      >>> same, _ = cell.call(tf.ones([2, 3]), state)
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: Optional[float] = None,
        use_peephole: bool = False,
        dtype: Any = None,
        reuse: Any = None,
        name: Optional[str] = "lstm_cell",
    ) -> None:
        super().__init__(reuse=reuse, dtype=dtype, name=name)
        self._num_units, self._forget_bias = num_units, forget_bias
        self._cell_clip, self._use_peephole = cell_clip, use_peephole

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step.

        Raises:
          ValueError: The state has not two parts, or the input's size is unknown.
        """
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        size = dimension_value(inputs.get_shape()[1])
        if not size:
            raise ValueError(f"Expecting inputs_shape[1] to be set: {inputs.get_shape()}")
        weights = _lstm_weights(self, size, inputs.dtype, self._use_peephole)
        _, c, _, _, _, _, h = _lstm("LSTMBlockCell", self, weights, inputs, *state)
        return h, LSTMStateTuple(c, h)


class GRUBlockCell(LayerRNNCell):
    """A GRU whose variables are named `w_ru`, `b_ru`, `w_c` and `b_c`.

    Args:
      num_units: The size of the state and the output.
      cell_size: The same, by its former name.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.
      name: As in `tf.nn.rnn_cell.RNNCell`.

    Raises:
      ValueError: Not exactly one of `num_units` and `cell_size` is given. When called: the input's size is
        unknown, or the state has another size.

    Example:
      >>> cell = tf.contrib.rnn.GRUBlockCell(4)
      >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.state_size, cell.output_size, [v.name for v in cell.variables][:2]
      (TensorShape([Dimension(2), Dimension(4)]), 4, 4, ['gru_cell/w_ru:0', 'gru_cell/b_ru:0'])
      >>> same, _ = cell.call(tf.ones([2, 3]), state)
    """

    _names = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(
        self,
        num_units: Optional[int] = None,
        cell_size: Optional[int] = None,
        reuse: Any = None,
        name: Optional[str] = "gru_cell",
    ) -> None:
        super().__init__(reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._num_units: Any = num_units if cell_size is None else cell_size

    @property
    def state_size(self) -> int:
        """The number of units."""
        return self._num_units

    output_size = state_size

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step.

        Raises:
          ValueError: The input's size is unknown, or the state has another size.
        """
        n, size, dtype = self._num_units, dimension_value(inputs.get_shape()[1]), inputs.dtype
        if size is None:
            raise ValueError("Expecting input_size to be set.")
        if state.get_shape().with_rank(2)[1] != n:
            raise ValueError(f"Shape of h_prev[1] incorrect: cell_size {n} vs {state.get_shape()[1]}")
        gate_kernel, gate_bias, kernel, bias = (
            self.add_weight(name, shape, dtype, None if start is None else constant_initializer(start))
            for name, shape, start in zip(self._names, ([size + n, 2 * n], [2 * n], [size + n, n], [n]), (None, 1.0, None, 0.0))
        )
        *_, new = op("GRUBlockCell")(inputs, state, gate_kernel, kernel, gate_bias, bias)
        return new, new


class GRUBlockCellV2(GRUBlockCell):
    """A `GRUBlockCell` with the variables of `GRUCell`, so that checkpoints of both are interchangeable.

    Args:
      num_units: The size of the state and the output.
      cell_size: The same, by its former name.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.
      name: As in `tf.nn.rnn_cell.RNNCell`.

    Example:
      >>> cell = tf.contrib.rnn.GRUBlockCellV2(4)
      >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> [v.name for v in cell.variables][:2]
      ['gru_cell/gates/kernel:0', 'gru_cell/gates/bias:0']
    """

    _names = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")


class LSTMBlockWrapper(Layer):
    """The base class of LSTMs that run over a whole sequence in one call.

    A subclass has `num_units` and `_call_cell(inputs, initial_cell_state, initial_output, dtype,
    sequence_length)`, which returns the memories and outputs of all steps.

    Example:
      >>> run = tf.contrib.rnn.LSTMBlockFusedCell(4)
      >>> isinstance(run, tf.contrib.rnn.LSTMBlockWrapper), run.num_units
      (True, 4)
    """

    @property
    def num_units(self) -> int:
        """The number of units.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError

    def _call_cell(self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any, sequence_length: Any) -> Any:
        raise NotImplementedError

    def _make_weights(self, inputs: Any) -> None:
        """Makes the weights for inputs of shape `[time, batch, inputs]`; the base class has none."""

    def __call__(self, inputs: Any, *args: Any, scope: Any = None, **kwargs: Any) -> Any:
        with self.opened(scope) as here:
            self._scope = self._scope or here
            self.built = True
            return self.call(inputs, *args, **kwargs)

    def call(self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None) -> Any:
        """Runs over a sequence.

        Args:
          inputs: A tensor of shape `[time, batch, inputs]`, or a list of tensors of shape `[batch, inputs]`.
          initial_state: A pair of memory and output; by default zeros.
          dtype: The dtype of the state, if it is not given.
          sequence_length: An integer vector: the length of each sequence.

        Returns:
          A pair: the outputs, in the form of the inputs, and the final `LSTMStateTuple`.

        Raises:
          ValueError: The input's size is unknown, neither state nor dtype is given, or the state has not two
            parts.
        """
        is_list = isinstance(inputs, list)
        inputs = array_ops.stack(inputs) if is_list else convert_to_tensor(inputs)
        length, batch, size = inputs.get_shape().with_rank(3).as_list()
        if not size:
            raise ValueError(f"Expecting inputs_shape[2] to be set: {inputs.get_shape()}")
        # The order of nodes is TensorFlow's, here and below: it seeds the initial values of weights.
        self._make_weights(inputs)
        steps = array_ops.shape(inputs)[0] if length is None else length
        batch = array_ops.shape(inputs)[1] if batch is None else batch
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            zeros = array_ops.zeros(array_ops.stack([batch, self.num_units]), dtype=dtype)
            initial_state = zeros, zeros
        elif len(initial_state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        dtype = initial_state[0].dtype if dtype is None else dtype
        if sequence_length is not None:
            sequence_length = convert_to_tensor(sequence_length)
        c, h = initial_state
        memories, outputs = self._call_cell(inputs, c, h, dtype, sequence_length)
        if sequence_length is None:
            last = [memories[-1], outputs[-1]]
        else:
            mask = array_ops.transpose(array_ops.sequence_mask(sequence_length, steps, dtype=dtype), [1, 0])
            outputs *= op("Tile")(array_ops.expand_dims(mask, -1), [1, 1, self.num_units])
            wholes = [array_ops.concat([array_ops.expand_dims(start, 0), later], 0) for start, later in ((c, memories), (h, outputs))]
            last = [indexing_ops.gather_nd(whole, _places(sequence_length, batch)) for whole in wholes]
        return array_ops.unstack(outputs) if is_list else outputs, LSTMStateTuple(*last)


def _places(sequence_length: Any, batch: Any) -> Any:
    """Returns, for each sequence, its length and its row: where the state after its end is."""
    return array_ops.stack([sequence_length, math_ops.range(batch, dtype=sequence_length.dtype)], axis=1)


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """An LSTM over a whole sequence, with the variables of `LSTMCell`.

    Args:
      num_units: The size of the state and the output.
      forget_bias: A value added to the forget gate's bias.
      cell_clip: If it is positive, the memory is clipped to between `-cell_clip` and `cell_clip`.
      use_peephole: If true, gates see the memory.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.
      dtype: As in `tf.nn.rnn_cell.RNNCell`.
      name: As in `tf.nn.rnn_cell.RNNCell`.

    Example:
      >>> run = tf.contrib.rnn.LSTMBlockFusedCell(4)
      >>> outputs, state = run(tf.ones([5, 2, 3]), dtype=tf.float32, sequence_length=[5, 2])
      >>> outputs.shape, state.c.shape, [v.name for v in run.variables]
      (TensorShape([Dimension(5), Dimension(2), Dimension(4)]), TensorShape([Dimension(2), Dimension(4)]), ['lstm_fused_cell/kernel:0', 'lstm_fused_cell/bias:0'])
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: Optional[float] = None,
        use_peephole: bool = False,
        reuse: Any = None,
        dtype: Any = None,
        name: Optional[str] = "lstm_fused_cell",
    ) -> None:
        super().__init__(name=name, dtype=dtype, reuse=reuse)
        self._num_units, self._forget_bias = num_units, forget_bias
        self._cell_clip, self._use_peephole = cell_clip, use_peephole
        self._parameters: Any = None

    @property
    def num_units(self) -> int:
        """The number of units."""
        return self._num_units

    def _call_cell(self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any, sequence_length: Any) -> Any:
        kernel, bias, diagonals = self._parameters
        steps: Any = dimension_value(inputs.get_shape()[0])
        steps = array_ops.shape(inputs)[0] if steps is None else steps
        diagonals = diagonals or _no_diagonals(self, kernel)
        if sequence_length is not None:
            steps = reduction_ops.reduce_max(sequence_length)
        steps = math_ops.cast(steps, dtypes.int64)
        weights = kernel, bias, diagonals
        _, memories, _, _, _, _, outputs = _lstm("BlockLSTM", self, weights, steps, inputs, initial_cell_state, initial_output)
        return memories, outputs

    def _make_weights(self, inputs: Any) -> None:
        if self._parameters is None:
            self._parameters = _lstm_weights(self, inputs.get_shape().as_list()[2], inputs.dtype, self._use_peephole)
