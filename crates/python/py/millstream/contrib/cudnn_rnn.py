"""`tf.contrib.cudnn_rnn`: its networks, on the CPU, from cells whose variables are those of its checkpoints.

In TensorFlow such a layer needs a GPU and keeps one opaque variable; a `Saver` writes it as the variables of
the `CudnnCompatible..` cells. Here the layer has these variables, so it loads and saves the same checkpoints.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Tuple

from millstream.contrib.rnn import LSTMBlockCell, stack_bidirectional_dynamic_rnn
from millstream.framework import convert_to_tensor, dtypes, namespaces
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape
from millstream.layers.core import Layer
from millstream.nn import functions
from millstream.ops import array_ops, math_ops
from millstream.rnn import cells, networks
from millstream.variables.initializers import constant_initializer, glorot_uniform_initializer
from millstream.variables.scopes import get_variable_scope, variable_scope

__all__ = [
    "CudnnCompatibleGRUCell",
    "CudnnCompatibleLSTMCell",
    "CudnnGRU",
    "CudnnLSTM",
    "CudnnRNNRelu",
    "CudnnRNNTanh",
]

_DIRECTIONS = ("unidirectional", "bidirectional")


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """The cell of `CudnnLSTM`: an `LSTMBlockCell` without forget bias.

    Args:
      num_units: The size of the state and the output.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.

    Example:
      >>> cell = tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(4)
      >>> _ = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> [v.name for v in cell.variables]
      ['cudnn_compatible_lstm_cell/kernel:0', 'cudnn_compatible_lstm_cell/bias:0']
    """

    def __init__(self, num_units: int, reuse: Any = None) -> None:
        super().__init__(num_units, forget_bias=0, cell_clip=None, use_peephole=False, reuse=reuse, name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(cells.GRUCell):
    """The cell of `CudnnGRU`, whose reset gate is applied after the product with the state.

    Args:
      num_units: The size of the state and the output.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.
      kernel_initializer: The initializer of kernels.

    Example:
      >>> cell = tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(4)
      >>> output, state = cell(tf.ones([2, 3]), tf.zeros([2, 4]))
      >>> output is state, len(cell.variables), [d.value for d in cell.call(tf.ones([2, 3]), state)[0].shape]
      (True, 6, [2, 4])
    """

    def __init__(self, num_units: int, reuse: Any = None, kernel_initializer: Any = None) -> None:
        super().__init__(num_units, reuse=reuse, kernel_initializer=kernel_initializer, name="cudnn_compatible_gru_cell")

    def build(self, inputs_shape: Any) -> None:
        """Creates the kernels and biases of the gates and the candidate for inputs of this shape."""
        n, depth, dtype = self._num_units, cells.depth_of(inputs_shape), self.dtype or dtypes.float32
        zero, one = constant_initializer(0.0, dtype=dtype), constant_initializer(1.0, dtype=dtype)
        self._gate_kernel = self.add_weight("gates/kernel", [depth + n, 2 * n], dtype, self._kernel_initializer)
        self._gate_bias = self.add_weight("gates/bias", [2 * n], dtype, self._bias_initializer or one)
        self._of_input = self.add_weight("candidate/input_projection/kernel", [depth, n], dtype, self._kernel_initializer)
        self._of_state = self.add_weight("candidate/hidden_projection/kernel", [n, n], dtype, self._kernel_initializer)
        self._input_bias = self.add_weight("candidate/input_projection/bias", [n], dtype, self._bias_initializer or zero)
        self._state_bias = self.add_weight("candidate/hidden_projection/bias", [n], dtype, self._bias_initializer or zero)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:  # type: ignore[override]
        """Computes one step."""
        gates = functions.bias_add(math_ops.matmul(array_ops.concat([inputs, state], 1), self._gate_kernel), self._gate_bias)
        reset, update = array_ops.split(value=math_ops.sigmoid(gates), num_or_size_splits=2, axis=1)
        candidate = self._activation(
            functions.bias_add(math_ops.matmul(inputs, self._of_input), self._input_bias)
            + reset * functions.bias_add(math_ops.matmul(state, self._of_state), self._state_bias)
        )
        new = (1 - update) * candidate + update * state
        return new, new


class _CudnnRNN(Layer):
    """Layers of recurrent networks, in one or both directions."""

    # The number of tensors of a state: `h`, or `h` and `c`.
    _n_states = 1

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = "linear_input",
        direction: str = "unidirectional",
        dropout: float = 0.0,
        seed: Optional[int] = None,
        dtype: Any = dtypes.float32,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: Optional[str] = None,
    ) -> None:
        super().__init__(dtype=dtype, name=name)
        if direction not in _DIRECTIONS:
            raise ValueError("Invalid direction: %s, expect %s or %s" % (direction, *_DIRECTIONS))
        if dtypes.as_dtype(dtype) not in (dtypes.float16, dtypes.float32, dtypes.float64):
            raise ValueError("Only support float16, float32, float64, provided %s" % dtype)
        if input_mode not in ("linear_input", "auto_select"):
            raise NotImplementedError("`input_mode=%r` is not part of Millstream yet: use \"linear_input\"" % (input_mode,))
        self.num_layers, self.num_units, self.direction = num_layers, num_units, direction
        self._dropout, self._seed, self._wanted = dropout, seed, dtypes.as_dtype(dtype)
        self._kernel_initializer = kernel_initializer or glorot_uniform_initializer(seed, dtype=self._wanted)
        self._bias_initializer = bias_initializer or constant_initializer(0.0, dtype=self._wanted)
        self._cells: List[Any] = []

    def _cell(self) -> Any:
        raise NotImplementedError("a subclass gives the cell")

    @property
    def num_dirs(self) -> int:
        """The number of directions."""
        return 1 + _DIRECTIONS.index(self.direction)

    @property
    def variables(self) -> List[Any]:  # type: ignore[override]
        """The variables of the cells."""
        return [v for cell in self._cells for v in cell.variables]

    @property
    def trainable_variables(self) -> List[Any]:  # type: ignore[override]
        """The variables of the cells that are trained."""
        return [v for cell in self._cells for v in cell.trainable_variables]

    weights, trainable_weights = variables, trainable_variables

    def state_shape(self, batch_size: int) -> Tuple[List[int], ...]:
        """Returns the shapes of the state's tensors."""
        return ([self.num_layers * self.num_dirs, batch_size, self.num_units],) * self._n_states

    def build(self, input_shape: TensorShape) -> None:
        """Makes the cells. Their variables are made by the first call.

        Raises:
          ValueError: The inputs have not rank 3, or their size is unknown.
        """
        if input_shape.ndims != 3:
            raise ValueError("Expecting input_shape with 3 dims, got %s" % input_shape)
        if input_shape[-1].value is None:
            raise ValueError("The last dimension of the inputs to `%s` should be defined. Found `None`." % type(self).__name__)
        self._cells = [self._cell() for _ in range(self.num_layers * self.num_dirs)]

    def call(  # type: ignore[override]
        self,
        inputs: Any,
        initial_state: Any = None,
        sequence_lengths: Any = None,
        time_major: bool = True,
        training: bool = True,
    ) -> Tuple[Any, Tuple[Any, ...]]:
        """Runs the network.

        Args:
          inputs: Sequences: a tensor of time, batch and features.
          initial_state: A tuple of tensors of layers, batch and units; zeros by default.
          sequence_lengths: The lengths of the sequences.
          time_major: If false, the first dimension of inputs and outputs is the batch.
          training: Whether to drop inputs of the layers after the first.

        Returns:
          The outputs, and a tuple of the last states.
        """
        states = self._split(initial_state)
        of_layers = [self._dropped(cell, i // self.num_dirs, training) for i, cell in enumerate(self._cells)]
        with variable_scope(get_variable_scope(), initializer=self._kernel_initializer, auxiliary_name_scope=False):
            options = dict(dtype=self._wanted, sequence_length=sequence_lengths, time_major=time_major)
            if self.num_dirs == 1:
                stack = cells.MultiRNNCell(of_layers)
                outputs, last = networks.dynamic_rnn(stack, inputs, initial_state=states and tuple(states), **options)
            else:
                outputs, forward, backward = stack_bidirectional_dynamic_rnn(
                    of_layers[::2], of_layers[1::2], inputs, states and states[::2], states and states[1::2], **options
                )
                last = [state for pair in zip(forward, backward) for state in pair]
        return outputs, self._joined(last)

    def _dropped(self, cell: Any, layer: int, training: Any) -> Any:
        if layer == 0 or not self._dropout or training is False:
            return cell
        keep: Any = 1.0 - self._dropout
        if training is not True:
            keep = array_ops.where(convert_to_tensor(training), keep, 1.0)
        return cells.DropoutWrapper(cell, input_keep_prob=keep, seed=self._seed)

    def _split(self, state: Any) -> Optional[List[Any]]:
        """Returns the states of the cells from the tensors of all layers."""
        if state is None:
            return None
        if not isinstance(state, tuple) or len(state) != self._n_states:
            raise ValueError("`initial_state` must be a tuple of %d tensors, not %r" % (self._n_states, state))
        n = self.num_layers * self.num_dirs
        parts = [array_ops.unstack(convert_to_tensor(part), n) for part in state]
        if self._n_states == 1:
            return list(parts[0])
        return [cells.LSTMStateTuple(c=c, h=h) for h, c in zip(*parts)]

    def _joined(self, states: Any) -> Tuple[Any, ...]:
        if self._n_states == 1:
            return (array_ops.stack(list(states)),)
        return array_ops.stack([s.h for s in states]), array_ops.stack([s.c for s in states])


class CudnnLSTM(_CudnnRNN):
    """Layers of LSTMs.

    Args:
      num_layers: The number of layers.
      num_units: The size of a layer's state.
      input_mode: `"linear_input"`.
      direction: `"unidirectional"` or `"bidirectional"`.
      dropout: The part of each layer's inputs that is dropped in training, after the first layer.
      seed: The seed of what is dropped.
      dtype: The dtype of variables, inputs and outputs.
      kernel_initializer: The initializer of kernels.
      bias_initializer: The initializer of biases.
      name: The name of the layer.

    Raises:
      ValueError: `direction` or `dtype` is not one of the above.
      NotImplementedError: `input_mode` is another one.

    Example:
      >>> lstm = tf.contrib.cudnn_rnn.CudnnLSTM(num_layers=2, num_units=4)
      >>> outputs, (h, c) = lstm(tf.ones([5, 2, 3]))
      >>> print(outputs.shape, h.shape, c.shape)
      (5, 2, 4) (2, 2, 4) (2, 2, 4)
      >>> lstm.variables[0].name
      'cudnn_lstm/rnn/multi_rnn_cell/cell_0/cudnn_compatible_lstm_cell/kernel:0'
    """

    _n_states = 2

    def _cell(self) -> Any:
        return CudnnCompatibleLSTMCell(self.num_units)


class CudnnGRU(_CudnnRNN):
    """Layers of GRUs. The arguments and errors are those of `CudnnLSTM`.

    Example:
      >>> gru = tf.contrib.cudnn_rnn.CudnnGRU(1, 4, direction="bidirectional")
      >>> gru.num_dirs, gru.state_shape(batch_size=2)
      (2, ([2, 2, 4],))
      >>> outputs, (h,) = gru(tf.ones([5, 2, 3]))
      >>> print(outputs.shape, h.shape)
      (5, 2, 8) (2, 2, 4)
    """

    def _cell(self) -> Any:
        return CudnnCompatibleGRUCell(self.num_units)


class CudnnRNNTanh(_CudnnRNN):
    """Layers of plain recurrent networks with `tanh`. The arguments and errors are those of `CudnnLSTM`.

    Example:
      >>> outputs, _ = tf.contrib.cudnn_rnn.CudnnRNNTanh(1, 4)(tf.ones([5, 2, 3]))
      >>> print(outputs.shape)
      (5, 2, 4)
    """

    _activation: Callable[[Any], Any] = staticmethod(math_ops.tanh)

    def _cell(self) -> Any:
        return cells.BasicRNNCell(self.num_units, activation=self._activation)


class CudnnRNNRelu(CudnnRNNTanh):
    """Layers of plain recurrent networks with `relu`. The arguments and errors are those of `CudnnLSTM`.

    Example:
      >>> outputs, _ = tf.contrib.cudnn_rnn.CudnnRNNRelu(1, 4)(tf.ones([5, 2, 3]))
      >>> print(outputs.shape)
      (5, 2, 4)
    """

    _activation = staticmethod(lambda x: op("Relu")(x))


__dir__ = namespaces.dir_of(globals())
