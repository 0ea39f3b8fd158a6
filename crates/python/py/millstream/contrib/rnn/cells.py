"""Cells with one matrix of gates or a few: `UGRNNCell`, `NASCell`, `SRUCell`, independent recurrences."""

from __future__ import annotations

from typing import Any, Optional, Tuple

from millstream.framework import constant, dtypes
from millstream.framework.op_functions import op
from millstream.framework.shapes import dimension_value
from millstream.nn import functions
from millstream.ops import array_ops, math_ops
from millstream.rnn.cells import LSTMStateTuple, LayerRNNCell, RNNCell
from millstream.rnn.linear import linear
from millstream.variables.initializers import constant_initializer, random_uniform_initializer, zeros_initializer
from millstream.variables.scopes import get_variable_scope, variable_scope

__all__ = [
    "IndRNNCell",
    "IndyGRUCell",
    "IndyLSTMCell",
    "IntersectionRNNCell",
    "NASCell",
    "SRUCell",
    "UGRNNCell",
]

_UNKNOWN = "Could not infer input size from inputs.get_shape()[-1]"


def width(inputs: Any) -> int:
    """Returns the number of columns of a matrix."""
    size = dimension_value(inputs.get_shape().with_rank(2)[1])
    if size is None:
        raise ValueError(_UNKNOWN)
    return size


def _depth(inputs: Any) -> int:
    size = dimension_value(inputs.get_shape()[1])
    if size is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs.get_shape()}")
    return size


class _Same:
    """The sizes of a cell whose output and state are equal in size."""

    _num_units: int

    @property
    def state_size(self) -> int:
        """The number of units."""
        return self._num_units

    output_size = state_size


class UGRNNCell(_Same, RNNCell):
    """An update gate RNN (Collins and others, 2017): between a GRU and a plain RNN.

    Args:
      num_units: The size of the state and the output.
      initializer: The initializer of the kernel.
      forget_bias: A value added to the gate's bias.
      activation: The activation, a function of a tensor.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.

    Raises:
      ValueError: When called: the input's size is unknown.

    Example:
      >>> cell = tf.contrib.rnn.UGRNNCell(4)
      >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.state_size, cell.output_size, [v.name for v in cell.variables]
      (TensorShape([Dimension(2), Dimension(4)]), 4, 4, ['ugrnn_cell/kernel:0', 'ugrnn_cell/bias:0'])
      >>> same, _ = cell.call(tf.ones([2, 3]), state)
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        forget_bias: float = 1.0,
        activation: Any = math_ops.tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(reuse=reuse)
        self._num_units, self._initializer = num_units, initializer
        self._forget_bias, self._activation = forget_bias, activation

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        width(inputs)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            gates = linear(array_ops.concat([inputs, state], 1), 2 * self._num_units)
            gate, candidate = array_ops.split(axis=1, num_or_size_splits=2, value=gates)
            c = self._activation(candidate)
            g = math_ops.sigmoid(gate + self._forget_bias)
            new = g * state + (1.0 - g) * c
        return new, new


class IntersectionRNNCell(_Same, RNNCell):
    """An intersection RNN (Collins and others, 2017): gates over time and over depth.

    Args:
      num_units: The size of the state and the output.
      num_in_proj: `num_units`, to project inputs of another size; None if inputs have that size.
      initializer: The initializer of the kernels.
      forget_bias: A value added to the gates' biases.
      y_activation: The activation of the output's candidate.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.

    Raises:
      ValueError: When called: the input's size is unknown, or is not `num_units` without `num_in_proj`.

    Example:
      >>> cell = tf.contrib.rnn.IntersectionRNNCell(4)
      >>> output, state = cell(tf.ones([2, 4]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.state_size, cell.output_size
      (TensorShape([Dimension(2), Dimension(4)]), 4, 4)
      >>> same, _ = cell.call(tf.ones([2, 4]), state)
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: Optional[int] = None,
        initializer: Any = None,
        forget_bias: float = 1.0,
        y_activation: Any = op("Relu"),
        reuse: Any = None,
    ) -> None:
        super().__init__(reuse=reuse)
        self._num_units, self._num_in_proj, self._initializer = num_units, num_in_proj, initializer
        self._forget_bias, self._y_activation = forget_bias, y_activation

    def _projected(self, inputs: Any) -> Any:
        if width(inputs) == self._num_units:
            return inputs
        if not self._num_in_proj:
            raise ValueError(
                "Must have input size == output size for Intersection RNN. "
                "To fix, num_in_proj should be set to num_units at cell init."
            )
        with variable_scope("in_projection"):
            return linear(inputs, self._num_units)

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        n = self._num_units
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            inputs = self._projected(inputs)
            gates = linear(array_ops.concat([inputs, state], 1), 4 * n)
            h_gate, h, y_gate, y = (gates[:, i * n : (i + 1) * n] for i in range(4))
            h, y = math_ops.tanh(h), self._y_activation(y)
            h_gate = math_ops.sigmoid(h_gate + self._forget_bias)
            y_gate = math_ops.sigmoid(y_gate + self._forget_bias)
            new = h_gate * state + (1.0 - h_gate) * h
            return y_gate * inputs + (1.0 - y_gate) * y, new


class NASCell(LayerRNNCell):
    """The cell that a search over architectures found (Zoph and Le, 2017).

    Args:
      num_units: The size of the memory.
      num_proj: The size of the projected output; None for no projection.
      use_bias: If true, the cell has a bias.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.
      **kwargs: `name`, `dtype` and `trainable`.

    Raises:
      ValueError: When called: the input's size is unknown.

    Example:
      >>> cell = tf.contrib.rnn.NASCell(4, num_proj=2)
      >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, state.c.shape, cell.state_size, cell.output_size
      (TensorShape([Dimension(2), Dimension(2)]), TensorShape([Dimension(2), Dimension(4)]), LSTMStateTuple(c=4, h=2), 2)
      >>> same, _ = cell.call(tf.ones([2, 3]), state)
    """

    def __init__(
        self, num_units: int, num_proj: Optional[int] = None, use_bias: bool = False, reuse: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(reuse=reuse, **kwargs)
        self._num_units, self._num_proj, self._use_bias = num_units, num_proj, use_bias

    @property
    def output_size(self) -> int:
        """The size of the projection, or the number of units without one."""
        return self._num_units if self._num_proj is None else self._num_proj

    @property
    def state_size(self) -> LSTMStateTuple:
        """The sizes of `c` and `h`."""
        return LSTMStateTuple(self._num_units, self.output_size)

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        n, (c, h) = self._num_units, state
        recurrent = self.add_weight("recurrent_kernel", [self.output_size, 8 * n], inputs.dtype)
        kernel = self.add_weight("kernel", [width(inputs), 8 * n], inputs.dtype)
        bias = self.add_weight("bias", [8 * n], inputs.dtype, zeros_initializer) if self._use_bias else None
        projection = None
        if self._num_proj is not None:
            projection = self.add_weight("projection_weights", [n, self._num_proj], inputs.dtype)
        from_h, from_inputs = math_ops.matmul(h, recurrent), math_ops.matmul(inputs, kernel)
        if bias is not None:
            from_h = functions.bias_add(from_h, bias)
        c, h = _nas_tree(array_ops.split(from_h, 8, 1), array_ops.split(from_inputs, 8, 1), c)
        if projection is not None:
            h = math_ops.matmul(h, projection)
        return h, LSTMStateTuple(c, h)


def _nas_tree(m: Any, x: Any, c: Any) -> Tuple[Any, Any]:
    """Returns the new memory and output from eight parts of the last output and of the input."""
    sigmoid, tanh, relu = math_ops.sigmoid, math_ops.tanh, op("Relu")
    kinds = sigmoid, relu, sigmoid, relu, tanh, sigmoid, tanh, sigmoid
    leaf = [kind(a * b if i == 3 else a + b) for i, (kind, a, b) in enumerate(zip(kinds, x, m))]
    first = tanh(leaf[0] * leaf[1])
    second = tanh(leaf[2] + leaf[3])
    third = tanh(leaf[4] * leaf[5])
    fourth = sigmoid(leaf[6] + leaf[7])
    new_c = tanh(first + c) * second
    return new_c, tanh(new_c * tanh(third + fourth))


class SRUCell(_Same, LayerRNNCell):
    """A simple recurrent unit (Lei and Zhang, 2017), whose products do not depend on the state.

    Args:
      num_units: The size of the state and the output.
      activation: The activation, a function of a tensor; by default `tf.tanh`.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.
      name: As in `tf.nn.rnn_cell.RNNCell`.
      **kwargs: `dtype` and `trainable`.

    Example:
      >>> cell = tf.contrib.rnn.SRUCell(4)
      >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.state_size, cell.output_size
      (TensorShape([Dimension(2), Dimension(4)]), 4, 4)
      >>> same, _ = cell.call(tf.ones([2, 3]), state)
    """

    def __init__(
        self, num_units: int, activation: Any = None, reuse: Any = None, name: Optional[str] = None, **kwargs: Any
    ) -> None:
        super().__init__(reuse=reuse, name=name, **kwargs)
        self._num_units, self._activation = num_units, activation or math_ops.tanh

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        n, dtype = self._num_units, inputs.dtype
        kernel = self.add_weight("kernel", [_depth(inputs), 4 * n], dtype)
        bias = self.add_weight("bias", [2 * n], dtype, zeros_initializer)
        x, f, r, passed = array_ops.split(value=math_ops.matmul(inputs, kernel), num_or_size_splits=4, axis=1)
        gates = math_ops.sigmoid(functions.bias_add(array_ops.concat([f, r], 1), bias))
        f, r = array_ops.split(value=gates, num_or_size_splits=2, axis=1)
        c = f * state + (1.0 - f) * x
        return r * self._activation(c) + (1.0 - r) * passed, c


class IndRNNCell(_Same, LayerRNNCell):
    """An independent RNN (Li and others, 2018): each unit sees only its own last output.

    Args:
      num_units: The size of the state and the output.
      activation: The activation, a function of a tensor; by default `tf.tanh`.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.
      name: As in `tf.nn.rnn_cell.RNNCell`.
      dtype: As in `tf.nn.rnn_cell.RNNCell`.

    Example:
      >>> cell = tf.contrib.rnn.IndRNNCell(4)
      >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, [v.name for v in cell.variables][:2]
      (TensorShape([Dimension(2), Dimension(4)]), ['ind_rnn_cell/kernel_w:0', 'ind_rnn_cell/kernel_u:0'])
      >>> same, _ = cell.call(tf.ones([2, 3]), state)
    """

    def __init__(
        self, num_units: int, activation: Any = None, reuse: Any = None, name: Optional[str] = None, dtype: Any = None
    ) -> None:
        super().__init__(reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._activation = num_units, activation or math_ops.tanh

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        n, dtype = self._num_units, inputs.dtype
        w = self.add_weight("kernel_w", [_depth(inputs), n], dtype)
        u = self.add_weight("kernel_u", [1, n], dtype, _between_ones(dtype))
        bias = self.add_weight("bias", [n], dtype, zeros_initializer(dtype=dtype))
        gates = math_ops.matmul(inputs, w) + (state * u)
        output = self._activation(functions.bias_add(gates, bias))
        return output, output


def _between_ones(dtype: Any) -> Any:
    return random_uniform_initializer(minval=-1, maxval=1, dtype=dtype)


class IndyGRUCell(_Same, LayerRNNCell):
    """A GRU whose units see only their own last output (Gonnet and Deselaers, 2019).

    Args:
      num_units: The size of the state and the output.
      activation: The activation, a function of a tensor; by default `tf.tanh`.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.
      kernel_initializer: The initializer of the kernels of the input.
      bias_initializer: The initializer of the biases; by default ones for the gates, zeros for the candidate.
      name: As in `tf.nn.rnn_cell.RNNCell`.
      dtype: As in `tf.nn.rnn_cell.RNNCell`.

    Example:
      >>> cell = tf.contrib.rnn.IndyGRUCell(4)
      >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, len(cell.variables)
      (TensorShape([Dimension(2), Dimension(4)]), 6)
      >>> same, _ = cell.call(tf.ones([2, 3]), state)
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: Optional[str] = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._activation = num_units, activation or math_ops.tanh
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    def _weights(self, scope: str, w: str, shape: Any, bias_initializer: Any, dtype: Any) -> Any:
        rows, n = shape
        return (
            self.add_weight(f"{scope}/{w}", [rows, n], dtype, self._kernel_initializer),
            self.add_weight(f"{scope}/kernel_u", [1, n], dtype, _between_ones(dtype)),
            self.add_weight(f"{scope}/bias", [n], dtype, self._bias_initializer or bias_initializer),
        )

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        n, rows, dtype = self._num_units, _depth(inputs), inputs.dtype
        open_at_first, zeros = constant_initializer(1.0, dtype=dtype), zeros_initializer(dtype=dtype)
        w, u, b = self._weights("gates", "kernel_w", [rows, 2 * n], open_at_first, dtype)
        # TensorFlow calls it `kernel`, unlike that of the gates.
        candidate_w, candidate_u, candidate_b = self._weights("candidate", "kernel", [rows, n], zeros, dtype)
        gates = functions.bias_add(math_ops.matmul(inputs, w) + (op("Tile")(state, [1, 2]) * u), b)
        reset, update = array_ops.split(value=math_ops.sigmoid(gates), num_or_size_splits=2, axis=1)
        kept = reset * state
        candidate = math_ops.matmul(inputs, candidate_w) + (kept * candidate_u)
        c = self._activation(functions.bias_add(candidate, candidate_b))
        new = update * state + (1 - update) * c
        return new, new


class IndyLSTMCell(LayerRNNCell):
    """An LSTM whose units see only their own last output (Gonnet and Deselaers, 2019).

    Args:
      num_units: The size of the state and the output.
      forget_bias: A value added to the forget gate's bias.
      activation: The activation, a function of a tensor; by default `tf.tanh`.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.
      kernel_initializer: The initializer of the kernel of the input.
      bias_initializer: The initializer of the bias.
      name: As in `tf.nn.rnn_cell.RNNCell`.
      dtype: As in `tf.nn.rnn_cell.RNNCell`.

    Example:
      >>> cell = tf.contrib.rnn.IndyLSTMCell(4)
      >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.state_size, cell.output_size
      (TensorShape([Dimension(2), Dimension(4)]), LSTMStateTuple(c=4, h=4), 4)
      >>> same, _ = cell.call(tf.ones([2, 3]), state)
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: Optional[str] = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._forget_bias, self._activation = num_units, forget_bias, activation or math_ops.tanh
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    @property
    def state_size(self) -> LSTMStateTuple:
        """The sizes of `c` and `h`."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        """The number of units."""
        return self._num_units

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        n, dtype, sigmoid = self._num_units, inputs.dtype, math_ops.sigmoid
        w = self.add_weight("kernel_w", [_depth(inputs), 4 * n], dtype, self._kernel_initializer)
        u = self.add_weight("kernel_u", [1, 4 * n], dtype, _between_ones(dtype))
        bias = self.add_weight("bias", [4 * n], dtype, self._bias_initializer or zeros_initializer(dtype=dtype))
        axis = constant(1, dtype=dtypes.int32)
        c, h = state
        gates = functions.bias_add(math_ops.matmul(inputs, w) + op("Tile")(h, [1, 4]) * u, bias)
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=axis)
        forget = constant(self._forget_bias, dtype=f.dtype)
        new_c = math_ops.multiply(c, sigmoid(f + forget)) + math_ops.multiply(sigmoid(i), self._activation(j))
        new_h = math_ops.multiply(self._activation(new_c), sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h)
