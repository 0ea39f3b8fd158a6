"""LSTM cells over sequences and images, with convolutions instead of products."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from millstream.framework.shapes import TensorShape
from millstream.nn import convolutions
from millstream.ops import array_ops, math_ops
from millstream.rnn.cells import LSTMStateTuple, RNNCell
from millstream.variables.initializers import constant_initializer
from millstream.variables.scopes import get_variable

__all__ = ["Conv1DLSTMCell", "Conv2DLSTMCell", "ConvLSTMCell"]


class ConvLSTMCell(RNNCell):
    """An LSTM whose kernel is a convolution (Shi and others, 2015).

    Args:
      conv_ndims: The number of axes of the convolution: 1 or 2.
      input_shape: A list: the shape of an input without the batch, its channels last.
      output_channels: The number of channels of the output.
      kernel_shape: A list: the shape of the kernel, with `conv_ndims` entries.
      use_bias: If true, the cell has a bias.
      skip_connection: If true, the channels of the input follow those of the output.
      forget_bias: A value added to the forget gate's bias.
      initializers: Ignored, as in TensorFlow: variables use the initializer of the variable scope.
      name: As in `tf.nn.rnn_cell.RNNCell`.

    Raises:
      ValueError: `input_shape` has not `conv_ndims + 1` entries. When called: a tensor has another rank.
      NotImplementedError: `conv_ndims` is 3.

    Example:
      >>> cell = tf.contrib.rnn.ConvLSTMCell(2, input_shape=[4, 5, 3], output_channels=2, kernel_shape=[3, 3])
      >>> output, state = cell(tf.ones([1, 4, 5, 3]), cell.zero_state(1, tf.float32))
      >>> output.shape, cell.output_size, cell.state_size.c
      (TensorShape([Dimension(1), Dimension(4), Dimension(5), Dimension(2)]), TensorShape([Dimension(4), Dimension(5), Dimension(2)]), TensorShape([Dimension(4), Dimension(5), Dimension(2)]))
      >>> same, _ = cell.call(tf.ones([1, 4, 5, 3]), state)
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: List[int],
        output_channels: int,
        kernel_shape: Any,
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: Optional[str] = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        if conv_ndims == 3:
            raise NotImplementedError("conv_ndims=3: there are no convolutions over three axes yet, of one and two there are")
        self._conv_ndims, self._channels, self._kernel_shape = conv_ndims, output_channels, list(kernel_shape)
        self._use_bias, self._forget_bias, self._skips = use_bias, forget_bias, skip_connection
        self._shape = TensorShape(list(input_shape[:-1]) + [output_channels])
        total = output_channels + (input_shape[-1] if skip_connection else 0)
        self._output_size = TensorShape(list(input_shape[:-1]) + [total])

    @property
    def output_size(self) -> TensorShape:
        """The shape of an output without the batch."""
        return self._output_size

    @property
    def state_size(self) -> LSTMStateTuple:
        """The shapes of `c` and `h` without the batch."""
        return LSTMStateTuple(self._shape, self._shape)

    def call(self, inputs: Any, state: Any, scope: Any = None) -> Tuple[Any, Any]:
        """Computes one step."""
        c, h = state
        gates = self._convolved([inputs, h])
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=self._conv_ndims + 1)
        new_c = math_ops.sigmoid(f + self._forget_bias) * c
        new_c += math_ops.sigmoid(i) * math_ops.tanh(j)
        output = math_ops.tanh(new_c) * math_ops.sigmoid(o)
        if self._skips:
            output = array_ops.concat([output, inputs], -1)
        return output, LSTMStateTuple(new_c, output)

    def _convolved(self, args: List[Any]) -> Any:
        """Returns the convolution of tensors whose channels are joined."""
        shapes = [a.get_shape().as_list() for a in args]
        for shape in shapes:
            if len(shape) not in (3, 4, 5):
                raise ValueError(f"Conv Linear expects 3D, 4D or 5D arguments: {shapes}")
            if len(shape) != len(shapes[0]):
                raise ValueError(f"Conv Linear expects all args to be of same Dimension: {shapes}")
        n_out, dtype = 4 * self._channels, args[0].dtype
        kernel_shape = self._kernel_shape + [sum(shape[-1] for shape in shapes), n_out]
        kernel = get_variable("kernel", kernel_shape, dtype=dtype)
        joined = array_ops.concat(args, len(shapes[0]) - 1)
        if len(shapes[0]) == 3:
            out = convolutions.conv1d(joined, kernel, 1, padding="SAME")
        else:
            out = convolutions.conv2d(joined, kernel, [1, 1, 1, 1], padding="SAME")
        if not self._use_bias:
            return out
        return out + get_variable("biases", [n_out], dtype=dtype, initializer=constant_initializer(0.0, dtype=dtype))


class Conv1DLSTMCell(ConvLSTMCell):
    """A `ConvLSTMCell` over one axis. The other arguments are those of `ConvLSTMCell`.

    Args:
      name: As in `tf.nn.rnn_cell.RNNCell`.
      **kwargs: The arguments of `ConvLSTMCell` without `conv_ndims`.

    Example:
      >>> cell = tf.contrib.rnn.Conv1DLSTMCell(input_shape=[5, 3], output_channels=2, kernel_shape=[3])
      >>> output, state = cell(tf.ones([1, 5, 3]), cell.zero_state(1, tf.float32))
      >>> output.shape
      TensorShape([Dimension(1), Dimension(5), Dimension(2)])
    """

    def __init__(self, name: Optional[str] = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """A `ConvLSTMCell` over two axes. The other arguments are those of `ConvLSTMCell`.

    Args:
      name: As in `tf.nn.rnn_cell.RNNCell`.
      **kwargs: The arguments of `ConvLSTMCell` without `conv_ndims`.

    Example:
      >>> cell = tf.contrib.rnn.Conv2DLSTMCell(input_shape=[4, 5, 3], output_channels=2, kernel_shape=[3, 3])
      >>> output, state = cell(tf.ones([1, 4, 5, 3]), cell.zero_state(1, tf.float32))
      >>> output.shape
      TensorShape([Dimension(1), Dimension(4), Dimension(5), Dimension(2)])
    """

    def __init__(self, name: Optional[str] = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)
