"""Cells around a cell: embedding, projection, attention over past outputs, highway connections."""

from __future__ import annotations

import contextlib
import math
from typing import Any, List, Optional, Tuple

from millstream.framework import device, logging, name_scope, nest
from millstream.framework.op_functions import op
from millstream.nn import embedding, functions, nn_ops
from millstream.ops import array_ops, math_ops, reduction_ops
from millstream.rnn.cells import RNNCell, assert_like_rnncell
from millstream.rnn.linear import linear
from millstream.variables.initializers import constant_initializer, random_uniform_initializer
from millstream.variables.scopes import get_variable, get_variable_scope, variable_scope

__all__ = [
    "AttentionCellWrapper",
    "CompiledWrapper",
    "EmbeddingWrapper",
    "HighwayWrapper",
    "InputProjectionWrapper",
    "OutputProjectionWrapper",
]


class _Around(RNNCell):
    """A cell around another, with its state."""

    def __init__(self, cell: Any, reuse: Any = None) -> None:
        super().__init__(reuse=reuse)
        assert_like_rnncell("cell", cell)
        self._cell = cell

    def _inside(self) -> Any:
        # As in TensorFlow, variables are in the caller's scope.
        return contextlib.nullcontext()

    @property
    def state_size(self) -> Any:
        """The state size of the wrapped cell."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """The output size of the wrapped cell."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the zero state of the wrapped cell."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class EmbeddingWrapper(_Around):
    """Looks up the integer input of a cell in an embedding, a variable.

    Args:
      cell: A cell.
      embedding_classes: The number of symbols.
      embedding_size: The size of a symbol's vector.
      initializer: The initializer of the embedding; by default that of the variable scope, or a uniform one
        with variance 1.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.

    Raises:
      TypeError: `cell` is not a cell.
      ValueError: A size is not positive.

    Example:
      >>> cell = tf.contrib.rnn.EmbeddingWrapper(tf.nn.rnn_cell.GRUCell(4), 10, 3)
      >>> output, state = cell(tf.constant([7, 2]), cell.zero_state(2, tf.float32))
      >>> output.shape, [v.name for v in cell.variables][0]
      (TensorShape([Dimension(2), Dimension(4)]), 'embedding_wrapper/embedding:0')
      >>> same, _ = cell.call(tf.constant([7, 2]), state)
    """

    def __init__(
        self, cell: Any, embedding_classes: int, embedding_size: int, initializer: Any = None, reuse: Any = None
    ) -> None:
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                f"Both embedding_classes and embedding_size must be > 0: {embedding_classes}, {embedding_size}."
            )
        self._shape, self._initializer = [embedding_classes, embedding_size], initializer

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        with device("/cpu:0"):
            initializer = self._initializer or get_variable_scope().initializer
            if not initializer:
                initializer = random_uniform_initializer(-math.sqrt(3), math.sqrt(3))
            dtype = (state[0] if isinstance(state, tuple) else state).dtype
            table = get_variable("embedding", self._shape, initializer=initializer, dtype=dtype)
            return self._cell(embedding.embedding_lookup(table, array_ops.reshape(inputs, [-1])), state)


class InputProjectionWrapper(_Around):
    """Projects the input of a cell: `cell(activation(inputs * kernel + bias))`.

    Args:
      cell: A cell.
      num_proj: The size of the projected input.
      activation: A function of a tensor; None for none.
      input_size: Ignored.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.

    Raises:
      TypeError: `cell` is not a cell.

    Example:
      >>> cell = tf.contrib.rnn.InputProjectionWrapper(tf.nn.rnn_cell.GRUCell(4), 5)
      >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.variables[0].shape
      (TensorShape([Dimension(2), Dimension(4)]), TensorShape([Dimension(3), Dimension(5)]))
      >>> same, _ = cell.call(tf.ones([2, 3]), state)
    """

    def __init__(
        self, cell: Any, num_proj: int, activation: Any = None, input_size: Any = None, reuse: Any = None
    ) -> None:
        super().__init__(cell, reuse)
        if input_size is not None:
            logging.warn("%s: The input_size parameter is deprecated.", self)
        self._num_proj, self._activation = num_proj, activation

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        projected = linear(inputs, self._num_proj)
        return self._cell(self._activation(projected) if self._activation else projected, state)


class OutputProjectionWrapper(_Around):
    """Projects the output of a cell: `activation(output * kernel + bias)`.

    For many steps, `tf.layers.dense` on the outputs of all steps is faster.

    Args:
      cell: A cell.
      output_size: The size of the projected output.
      activation: A function of a tensor; None for none.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.

    Raises:
      TypeError: `cell` is not a cell.
      ValueError: `output_size` is not positive.

    Example:
      >>> cell = tf.contrib.rnn.OutputProjectionWrapper(tf.nn.rnn_cell.GRUCell(4), 5)
      >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, state.shape, cell.output_size
      (TensorShape([Dimension(2), Dimension(5)]), TensorShape([Dimension(2), Dimension(4)]), 5)
      >>> same, _ = cell.call(tf.ones([2, 3]), state)
    """

    def __init__(self, cell: Any, output_size: int, activation: Any = None, reuse: Any = None) -> None:
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._output_size, self._activation = output_size, activation

    @property
    def output_size(self) -> int:
        """The size of the projected output."""
        return self._output_size

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        output, state = self._cell(inputs, state)
        projected = linear(output, self._output_size)
        return (self._activation(projected) if self._activation else projected), state


class AttentionCellWrapper(RNNCell):
    """Adds attention over the last outputs to a cell (Bahdanau and others, 2015).

    The state has three parts: that of the cell, the last attention, and the last `attn_length` outputs.

    Args:
      cell: A cell.
      attn_length: The number of outputs that attention sees.
      attn_size: The size of an output; by default that of the cell.
      attn_vec_size: The size of the vectors that are compared; by default `attn_size`.
      input_size: The size of the input with attention; by default that of the input.
      state_is_tuple: If true, the state is a tuple; otherwise one tensor.
      reuse: As in `tf.nn.rnn_cell.RNNCell`.

    Raises:
      TypeError: `cell` is not a cell.
      ValueError: `attn_length` is not positive, or the cell's state is a tuple and `state_is_tuple` is false.

    Example:
      >>> cell = tf.contrib.rnn.AttentionCellWrapper(tf.nn.rnn_cell.GRUCell(4), 3)
      >>> output, state = cell(tf.ones([2, 5]), cell.zero_state(2, tf.float32))
      >>> output.shape, cell.state_size, cell.output_size
      (TensorShape([Dimension(2), Dimension(4)]), (4, 4, 12), 4)
      >>> same, _ = cell.call(tf.ones([2, 5]), state)
    """

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: Optional[int] = None,
        attn_vec_size: Optional[int] = None,
        input_size: Optional[int] = None,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ) -> None:
        super().__init__(reuse=reuse)
        assert_like_rnncell("cell", cell)
        if nest.is_sequence(cell.state_size) and not state_is_tuple:
            raise ValueError(
                f"Cell returns tuple of states, but the flag state_is_tuple is not set. "
                f"State size is: {cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        if not state_is_tuple:
            logging.warn("%s: Using a concatenated state is slower and will soon be deprecated.  Use state_is_tuple=True.", self)
        self._cell, self._state_is_tuple, self._length = cell, state_is_tuple, attn_length
        self._size = cell.output_size if attn_size is None else attn_size
        self._vector = self._size if attn_vec_size is None else attn_vec_size
        self._input_size = input_size

    @property
    def state_size(self) -> Any:
        """The sizes of the cell's state, of the attention, and of the outputs that it sees."""
        sizes = self._cell.state_size, self._size, self._size * self._length
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        """The size of an output."""
        return self._size

    def _parts(self, state: Any) -> Any:
        if self._state_is_tuple:
            return state
        first, size = self._cell.state_size, self._size
        return (
            op("Slice")(state, [0, 0], [-1, first]),
            op("Slice")(state, [0, first], [-1, size]),
            op("Slice")(state, [0, first + size], [-1, size * self._length]),
        )

    def call(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        """Computes one step."""
        state, attention, seen = self._parts(state)
        seen = array_ops.reshape(seen, [-1, self._length, self._size])
        width = inputs.get_shape().as_list()[1] if self._input_size is None else self._input_size
        output, state = self._cell(linear([inputs, attention], width), state)
        query = array_ops.concat(nest.flatten(state), 1) if self._state_is_tuple else state
        attention, seen = self._attention(query, seen)
        with variable_scope("attn_output_projection"):
            output = linear([output, attention], self._size)
        seen = array_ops.concat([seen, array_ops.expand_dims(output, 1)], 1)
        seen = array_ops.reshape(seen, [-1, self._length * self._size])
        new = state, attention, seen
        return output, new if self._state_is_tuple else array_ops.concat(list(new), 1)

    def _attention(self, query: Any, seen: Any) -> Tuple[Any, Any]:
        """Returns the weighted sum of the outputs seen, and those without the oldest."""
        with variable_scope("attention"):
            kernel = get_variable("attn_w", [1, 1, self._size, self._vector])
            v = get_variable("attn_v", [self._vector])
            hidden = array_ops.reshape(seen, [-1, self._length, 1, self._size])
            # A convolution of 1 x 1 is a product.
            features = op("BatchMatMulV2")(hidden, kernel)
            y = array_ops.reshape(linear(query, self._vector), [-1, 1, 1, self._vector])
            score = reduction_ops.reduce_sum(v * math_ops.tanh(features + y), [2, 3])
            weights = array_ops.reshape(functions.softmax(score), [-1, self._length, 1, 1])
            found = reduction_ops.reduce_sum(weights * hidden, [1, 2])
            return array_ops.reshape(found, [-1, self._size]), op("Slice")(seen, [0, 1, 0], [-1, -1, -1])


class HighwayWrapper(_Around):
    """Lets a learnt part of a cell's input pass by the cell (Srivastava and others, 2015).

    Args:
      cell: A cell whose output has the size of its input.
      couple_carry_transform_gates: If true, the part of the output is 1 minus that of the input; otherwise it
        has variables of its own.
      carry_bias_init: The first bias of the gate of the input.

    Raises:
      TypeError: `cell` is not a cell.

    Example:
      >>> cell = tf.contrib.rnn.HighwayWrapper(tf.nn.rnn_cell.GRUCell(3))
      >>> output, _ = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
      >>> output.shape, sorted(v.name for v in tf.global_variables())[:2]
      (TensorShape([Dimension(2), Dimension(3)]), ['carry_b:0', 'carry_w:0'])
    """

    def __init__(self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0) -> None:
        super().__init__(cell)
        self._coupled, self._carry_bias = couple_carry_transform_gates, carry_bias_init

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Tuple[Any, Any]:
        outputs, new = self._cell(inputs, state, scope=scope)
        nest.assert_same_structure(inputs, outputs)
        nest.map_structure(lambda a, b: a.get_shape().assert_is_compatible_with(b.get_shape()), inputs, outputs)
        return nest.map_structure(self._highway, inputs, outputs), new

    @property
    def variables(self) -> List[Any]:
        """The variables of the gates and of the wrapped cell."""
        return self._variables + self._cell.variables

    def _highway(self, x: Any, out: Any) -> Any:
        carry = self._gate("carry", x, self._carry_bias)
        transform = 1 - carry if self._coupled else self._gate("transform", x, -self._carry_bias)
        return x * carry + out * transform

    def _gate(self, name: str, x: Any, bias: float) -> Any:
        size = x.get_shape().with_rank(2).as_list()[1]
        weights = self.add_weight(name + "_w", [size, size])
        biases = self.add_weight(name + "_b", [size], initializer=constant_initializer(bias))
        return math_ops.sigmoid(nn_ops.xw_plus_b(x, weights, biases))


class CompiledWrapper(_Around):
    """Returns what the cell returns: the engine compiles loops without being asked.

    Args:
      cell: A cell.
      compile_stateful: Ignored.

    Example:
      >>> cell = tf.contrib.rnn.CompiledWrapper(tf.nn.rnn_cell.GRUCell(3))
      >>> output, _ = cell(tf.ones([2, 4]), cell.zero_state(2, tf.float32))
      >>> output.shape
      TensorShape([Dimension(2), Dimension(3)])
    """

    def __init__(self, cell: Any, compile_stateful: bool = False) -> None:
        super().__init__(cell)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Tuple[Any, Any]:
        return self._cell(inputs, state, scope=scope)
