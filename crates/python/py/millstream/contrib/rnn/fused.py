"""Recurrent networks over whole sequences behind one call: adaptors of cells, and reversal in time."""

from __future__ import annotations

from typing import Any, Tuple

from millstream.framework.op_functions import op
from millstream.ops import array_ops
from millstream.rnn.networks import dynamic_rnn, static_rnn

__all__ = ["FusedRNNCell", "FusedRNNCellAdaptor", "TimeReversedFusedRNN"]


class FusedRNNCell:
    """The base class of networks that run over a whole sequence in one call.

    Example:
      >>> issubclass(tf.contrib.rnn.TimeReversedFusedRNN, tf.contrib.rnn.FusedRNNCell)
      True
    """

    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
    ) -> Tuple[Any, Any]:
        """Runs the network.

        Args:
          inputs: A tensor of shape `[time, batch, inputs]`, or a list of tensors of shape `[batch, inputs]`.
          initial_state: The initial state; by default zeros.
          dtype: The dtype of the state, if it is not given.
          sequence_length: An integer vector: the length of each sequence.
          scope: The variable scope, or its name.

        Returns:
          A pair: the outputs, in the form of the inputs, and the final state.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError


class FusedRNNCellAdaptor(FusedRNNCell):
    """Runs a cell over a whole sequence.

    Args:
      cell: An `RNNCell`.
      use_dynamic_rnn: If true, it runs in a loop; otherwise each step has its own nodes.

    Example:
      >>> run = tf.contrib.rnn.FusedRNNCellAdaptor(tf.nn.rnn_cell.GRUCell(4), use_dynamic_rnn=True)
      >>> outputs, state = run(tf.ones([5, 2, 3]), dtype=tf.float32)
      >>> outputs.shape, state.shape
      (TensorShape([Dimension(5), Dimension(2), Dimension(4)]), TensorShape([Dimension(2), Dimension(4)]))
    """

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        self._cell, self._use_dynamic_rnn = cell, use_dynamic_rnn

    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
    ) -> Tuple[Any, Any]:
        common = dict(sequence_length=sequence_length, initial_state=initial_state, dtype=dtype, scope=scope)
        is_list = isinstance(inputs, list)
        if self._use_dynamic_rnn:
            whole = array_ops.stack(inputs) if is_list else inputs
            outputs, state = dynamic_rnn(self._cell, whole, time_major=True, **common)
            return (array_ops.unstack(outputs) if is_list else outputs), state
        steps = inputs if is_list else array_ops.unstack(inputs)
        out, state = static_rnn(self._cell, steps, **common)
        return (out if is_list else array_ops.stack(out)), state


class TimeReversedFusedRNN(FusedRNNCell):
    """Runs a network from the end of each sequence to its start.

    Args:
      cell: A `FusedRNNCell`.

    Example:
      >>> forwards = tf.contrib.rnn.FusedRNNCellAdaptor(tf.nn.rnn_cell.GRUCell(4))
      >>> outputs, state = tf.contrib.rnn.TimeReversedFusedRNN(forwards)([tf.ones([2, 3])] * 5, dtype=tf.float32)
      >>> len(outputs), state.shape
      (5, TensorShape([Dimension(2), Dimension(4)]))
    """

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
    ) -> Tuple[Any, Any]:
        outputs, state = self._cell(
            _reversed(inputs, sequence_length),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return _reversed(outputs, sequence_length), state


def _reversed(x: Any, lengths: Any) -> Any:
    if isinstance(x, list):
        return list(reversed(x))
    if lengths is None:
        return op("ReverseV2")(x, axis=[0])
    return array_ops.reverse_sequence(x, lengths, seq_axis=0, batch_axis=1)
