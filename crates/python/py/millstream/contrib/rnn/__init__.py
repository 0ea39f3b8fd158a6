"""`tf.contrib.rnn`: the cells of `tf.nn.rnn_cell` and many more, and the functions over whole sequences."""

from typing import Any, List, Optional, Sequence, Tuple

from millstream.contrib.rnn.blocks import (
    GRUBlockCell,
    GRUBlockCellV2,
    LSTMBlockCell,
    LSTMBlockFusedCell,
    LSTMBlockWrapper,
)
from millstream.contrib.rnn.cells import (
    IndRNNCell,
    IndyGRUCell,
    IndyLSTMCell,
    IntersectionRNNCell,
    NASCell,
    SRUCell,
    UGRNNCell,
)
from millstream.contrib.rnn.convolutional import Conv1DLSTMCell, Conv2DLSTMCell, ConvLSTMCell
from millstream.contrib.rnn.fused import FusedRNNCell, FusedRNNCellAdaptor, TimeReversedFusedRNN
from millstream.contrib.rnn.grids import BidirectionalGridLSTMCell, GridLSTMCell, TimeFreqLSTMCell
from millstream.contrib.rnn.lstms import (
    CoupledInputForgetGateLSTMCell,
    GLSTMCell,
    LayerNormBasicLSTMCell,
    PhasedLSTMCell,
)
from millstream.contrib.rnn.wrappers import (
    AttentionCellWrapper,
    CompiledWrapper,
    EmbeddingWrapper,
    HighwayWrapper,
    InputProjectionWrapper,
    OutputProjectionWrapper,
)
from millstream.framework import namespaces
from millstream.ops import array_ops
from millstream.rnn.cells import (
    BasicLSTMCell,
    BasicRNNCell,
    DeviceWrapper,
    DropoutWrapper,
    GRUCell,
    LSTMCell,
    LSTMStateTuple,
    LayerRNNCell,
    MultiRNNCell,
    RNNCell,
    ResidualWrapper,
)
from millstream.rnn.networks import (
    bidirectional_dynamic_rnn,
    raw_rnn,
    static_bidirectional_rnn,
    static_rnn,
    static_state_saving_rnn,
    transpose_batch_time,
)
from millstream.variables.scopes import variable_scope

__all__ = [
    "AttentionCellWrapper",
    "BasicLSTMCell",
    "BasicRNNCell",
    "BidirectionalGridLSTMCell",
    "CompiledWrapper",
    "Conv1DLSTMCell",
    "Conv2DLSTMCell",
    "ConvLSTMCell",
    "CoupledInputForgetGateLSTMCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "EmbeddingWrapper",
    "FusedRNNCell",
    "FusedRNNCellAdaptor",
    "GLSTMCell",
    "GRUBlockCell",
    "GRUBlockCellV2",
    "GRUCell",
    "GridLSTMCell",
    "HighwayWrapper",
    "IndRNNCell",
    "IndyGRUCell",
    "IndyLSTMCell",
    "InputProjectionWrapper",
    "IntersectionRNNCell",
    "LSTMBlockCell",
    "LSTMBlockFusedCell",
    "LSTMBlockWrapper",
    "LSTMCell",
    "LSTMStateTuple",
    "LayerNormBasicLSTMCell",
    "LayerRNNCell",
    "MultiRNNCell",
    "NASCell",
    "OutputProjectionWrapper",
    "PhasedLSTMCell",
    "RNNCell",
    "ResidualWrapper",
    "SRUCell",
    "TimeFreqLSTMCell",
    "TimeReversedFusedRNN",
    "UGRNNCell",
    "best_effort_input_batch_size",
    "bidirectional_dynamic_rnn",
    "raw_rnn",
    "stack_bidirectional_dynamic_rnn",
    "stack_bidirectional_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
    "static_state_saving_rnn",
    "transpose_batch_time",
]


def best_effort_input_batch_size(flat_input: Sequence[Any]) -> Any:
    """Returns the batch size, the second dimension: an int if it is known of any input, else a tensor.

    Args:
      flat_input: A list of tensors of shape `[time, batch, ..]`.

    Returns:
      An int, or an `int32` scalar tensor.

    Raises:
      ValueError: An input is known to have a rank less than 2.

    Example:
      >>> tf.contrib.rnn.best_effort_input_batch_size([tf.zeros([5, 2, 3])])
      2
    """
    for item in flat_input:
        shape = item.get_shape()
        if shape.ndims is None:
            continue
        if shape.ndims < 2:
            raise ValueError(f"Expected input tensor {item.name} to have rank at least 2")
        if shape[1].value is not None:
            return shape[1].value
    return array_ops.shape(flat_input[0])[1]


def _stacked(cells_fw: Any, cells_bw: Any, fw: Any, bw: Any) -> Tuple[List[Any], List[Any]]:
    for cells, word in ((cells_fw, "fw"), (cells_bw, "bw")):
        if not cells:
            raise ValueError(f"Must specify at least one {word} cell for BidirectionalRNN.")
    for cells, which in ((cells_fw, "cells_fw"), (cells_bw, "cells_bw")):
        if not isinstance(cells, list):
            raise ValueError(f"{which} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for states, which in ((fw, "initial_states_fw"), (bw, "initial_states_bw")):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError(f"{which} must be a list of state tensors (one per layer).")
    none = [None] * len(cells_fw)
    return fw or none, bw or none


def stack_bidirectional_dynamic_rnn(
    cells_fw: List[Any],
    cells_bw: List[Any],
    inputs: Any,
    initial_states_fw: Optional[List[Any]] = None,
    initial_states_bw: Optional[List[Any]] = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: Optional[int] = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> Tuple[Any, Tuple[Any, ...], Tuple[Any, ...]]:
    """Runs layers of bidirectional networks, each over the concatenated outputs of the one below.

    Args:
      cells_fw: A list of forward cells, one for each layer.
      cells_bw: A list of backward cells of the same length.
      inputs: A tensor of shape `[batch, time, inputs]`.
      initial_states_fw: A list of initial states of the forward cells; by default zeros.
      initial_states_bw: A list of initial states of the backward cells; by default zeros.
      dtype: The dtype of the states, if they are not given.
      sequence_length: An integer vector: the length of each sequence.
      parallel_iterations: An int: the largest number of steps that run at the same time.
      time_major: If true, `inputs` has shape `[time, batch, inputs]`.
      scope: The variable scope, or its name.
      swap_memory: Accepted, but values saved for the gradient stay in memory.

    Returns:
      A triple: the concatenated outputs of the last layer, of shape `[batch, time, outputs]`, and for each
        direction a tuple of the final states.

    Example:
      >>> cells = lambda: [tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(5)]
      >>> outputs, forwards, backwards = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(cells(), cells(),
      ...     tf.zeros([2, 6, 3]), dtype=tf.float32)
      >>> outputs.shape, len(forwards)
      (TensorShape([Dimension(2), Dimension(6), Dimension(10)]), 2)
    """
    starts_fw, starts_bw = _stacked(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw, layer = [], [], inputs
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw) in enumerate(zip(cells_fw, cells_bw)):
            with variable_scope(f"cell_{i}"):
                outputs, (state_fw, state_bw) = bidirectional_dynamic_rnn(
                    fw,
                    bw,
                    layer,
                    initial_state_fw=starts_fw[i],
                    initial_state_bw=starts_bw[i],
                    sequence_length=sequence_length,
                    parallel_iterations=parallel_iterations,
                    dtype=dtype,
                    swap_memory=swap_memory,
                    time_major=time_major,
                )
                layer = array_ops.concat(outputs, 2)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return layer, tuple(states_fw), tuple(states_bw)


def stack_bidirectional_rnn(
    cells_fw: List[Any],
    cells_bw: List[Any],
    inputs: Sequence[Any],
    initial_states_fw: Optional[List[Any]] = None,
    initial_states_bw: Optional[List[Any]] = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> Tuple[Any, Tuple[Any, ...], Tuple[Any, ...]]:
    """As `stack_bidirectional_dynamic_rnn`, over a list of steps, each with its own nodes.

    The other arguments are the same.

    Args:
      inputs: A list of tensors of shape `[batch, inputs]`.

    Returns:
      A triple: a list of outputs, and for each direction a tuple of the final states.

    Example:
      >>> cells = lambda: [tf.nn.rnn_cell.GRUCell(4)]
      >>> outputs, _, _ = tf.contrib.rnn.stack_bidirectional_rnn(cells(), cells(), [tf.zeros([2, 3])] * 5,
      ...     dtype=tf.float32)
      >>> len(outputs), outputs[0].shape
      (5, TensorShape([Dimension(2), Dimension(8)]))
    """
    starts_fw, starts_bw = _stacked(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw, layer = [], [], inputs
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw) in enumerate(zip(cells_fw, cells_bw)):
            with variable_scope(f"cell_{i}") as cell_scope:
                layer, state_fw, state_bw = static_bidirectional_rnn(
                    fw,
                    bw,
                    layer,
                    initial_state_fw=starts_fw[i],
                    initial_state_bw=starts_bw[i],
                    sequence_length=sequence_length,
                    dtype=dtype,
                    scope=cell_scope,
                )
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return layer, tuple(states_fw), tuple(states_bw)


__getattr__ = namespaces.getattr_of(__name__)
__dir__ = namespaces.dir_of(globals())
